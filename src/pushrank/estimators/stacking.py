"""The best list from several models: a push over the scores that they give to rows held out from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch, Tags, check_random_state
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats
from pushrank._base.user_types import CrossValidation, Estimator, GenericArray, MatrixLike, PerRow, Seed
from pushrank._base.validation import check_choice
from pushrank.estimators import _combination
from pushrank.estimators._base import RankerMixin, progress_bar, set_classes, tags_of_all, warn
from pushrank.estimators._combination import Combination, OutOfFold
from pushrank.estimators._search import Fold, Search, SearchMixin, draw_seed
from pushrank.estimators._target import Target, two_class_target
from pushrank.estimators.boosting import PushBoost
from pushrank.estimators.push import PNormPush
from pushrank.held_out.fits import Fit, fit_params, fit_parts, kept_in
from pushrank.held_out.plan import Rows

CALIBRATIONS = (None, "sigmoid", "isotonic")


@shared_docs
@dataclass(eq=False, repr=False)
class StackingRanker(SearchMixin, TransformerMixin, _BaseComposition):
    r"""One list from several models: their scores are added up with the weights of a push.

    The score of a row is

    .. math:: f(x) = \sum_j w_j \, c_j(x), \qquad w_j \ge 0,

    where the column :math:`c_j` is the score of member j on a scale that all members share. The weights are
    found from out-of-fold columns: a row's are scores by models that were fitted to the other folds.

    A column has the log-odds of a member, by a logistic curve through its scores of the rows that were held
    out, less their mean and over their standard deviation. In experiments/ensemble ranks are no better, with
    few positives or as time passes.

    Every member is fitted once a fold, and once more where it is fitted again. What comes on top takes
    seconds. A saved ranker holds a model for each member of positive weight and fold.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), whose weak rankers the members are; Wolpert, *Stacked
    generalization*, Neural Networks 5 (1992); Caruana, Niculescu-Mizil, Crew and Ksikes, *Ensemble selection
    from libraries of models*, ICML 2004.

    Parameters
    ----------
    estimators : list of (str, estimator), default=None
        The members: classifiers, rankers and pipelines with ``decision_function`` or ``predict_proba``, by
        names. A member set to ``"drop"`` by ``set_params`` is left out. None stands for logistic regression,
        the P-Norm Push and boosted stumps.
    cv : int, splitter or iterable, default=5
        The number of folds, or what splits the rows. With `time` an int is a number of parts in its order.
        No row may be held out twice.
    n_jobs : int or None
        The number of fits at a time, over members and folds, as in joblib. It changes no result.
    verbose : bool
    final_estimator : {"mean"}, linear ranker or None, default=None
        How the weights are found: equal weights, or a linear ranker of this library, such as
        ``PNormPush(4, positive=True)``, that learns from the columns. None takes the P-Norm Push with p = 1
        and, since few positives teach few weights, equal weights of the linear members for the share
        :math:`1 / (1 + (n / 50)^2)` of the sum: .86 with 20 positives, .5 with 50, .2 with 100, and all where
        the push finds no weight. A positive of weight w counts as w positives. The push stays alone where, on
        the parts held out, its average precision exceeds that of the equal weights by more than one standard
        error.
    refit : bool, default=False
        How rows to come are scored: by members fitted to all rows, or by the mean over the models of the
        folds, which costs no fit and is about as good. With `time` members are always fitted again.
    calibration : {"sigmoid", "isotonic"}, default=None
        Whether ``predict_proba`` gives probabilities, by this function of the combined scores.
    cache_dir : str or Path, default=None
        A folder in which every model is kept as soon as it is fitted. A fit that was killed goes on from
        there where the data, the members, `random_state` and the versions of packages are the same; an edit
        of your own transformer is not noticed. Its files are pickles: they have to be your own.
    random_state : int, RandomState or None
        The seed of all members, and of `final_estimator`, that have none of their own; None leaves them as
        they are.

    Attributes
    ----------
    weights_ : dict of str to float
        The weight of each member; their sizes add up to one. Weights below a tenth of the largest, which are
        mostly those of noise, are zero, the smallest first, up to a tenth of the sum.
    final_ : str
        How the weights were found.
    named_estimators_ : Bunch
        The fitted models of each member, whose columns are averaged. Members of weight zero are not kept.
    held_out_scores_ : ndarray of shape (n_samples,)
        The combined scores, less ``threshold_``, of the training rows by models that had not seen them, NaN
        where no fold held the row out. The weights alone were found with these rows.
    %(classes_ threshold_ features_)s

    Warns
    -----
    UserWarning
        When a member scores all rows equally.

    Examples
    --------
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pushrank import PNormPush
    %(breast_cancer)s
    >>> members = [
    ...     ("push", make_pipeline(StandardScaler(), PNormPush(16))),
    ...     ("trees", ExtraTreesClassifier(30)),
    ... ]
    >>> ranker = StackingRanker(members, final_estimator="mean", random_state=0).fit(X, y)
    >>> ranker.weights_, int(y[ranker.rank(X)[:100]].sum())
    ({'push': 0.5, 'trees': 0.5}, 100)
    """

    estimators: Sequence[tuple[str, Estimator]] | None = None
    _: KW_ONLY
    cv: CrossValidation = 5
    n_jobs: int | None = None
    verbose: bool = False
    final_estimator: str | RankerMixin | None = None
    refit: bool = False
    calibration: str | None = None
    cache_dir: str | Path | None = None
    random_state: Seed = None

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name, and with ``deep`` those of the members too."""
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters, members by name, or parameters of members as ``name__parameter``."""
        self._set_params("estimators", **params)
        return self

    def _choose(
        self, X: MatrixLike, y: ArrayLike, sample_weight: PerRow, groups: PerRow, time: PerRow
    ) -> None:
        members, final = self._members(), _combination.check_final(self.final_estimator)
        if self.random_state is not None:
            rng = check_random_state(self.random_state)
            for estimator in (*members.values(), final):
                _seed(estimator, rng)
        check_choice("calibration", self.calibration, CALIBRATIONS)
        X, labels, search = Search.of_unchecked_rows(self, X, y, sample_weight, groups, time)
        check_held_out_once(search.folds, len(labels))
        codes, weights = np.asarray(search.target.codes).astype(np.intp), search.target.weights
        groups = None if groups is None else np.asarray(groups)
        rows = Rows(X, codes, codes.astype(bool), weights, groups, search.times)
        for name, member in members.items():
            with naming(name, "cannot be fitted to these rows"):
                fit_params(member, weights)
        scores = np.full((len(members), len(codes)), np.nan)
        models: dict[str, list[Any]] = {name: [] for name in members}
        parts = [(fold.train, fold.test) for fold in search.folds]
        for fit in self._fits(members, rows, parts, [fold.number for fold in search.folds]):
            models[fit.name].append(fit.model)
            scores[list(members).index(fit.name), parts[fit.number][1]] = fit.scores[0]
        tests = [fold.test for fold in search.folds]
        out_of_fold = OutOfFold(scores, tests, time is not None)
        self._from_held_out(members, models, rows, out_of_fold, search.target, final)

    @classmethod
    def _of_fitted(cls, models: Mapping[str, list[Estimator]], combination: Combination) -> Self:
        """Return the list that fitted models make by a combination, for scores alone."""
        stack = cls([(name, clone(fitted[0])) for name, fitted in models.items()])
        stack.weights_ = dict(zip(models, combination.weights.tolist(), strict=True))
        stack._models = {name: models[name] for name, weight in stack.weights_.items() if weight != 0.0}
        stack._combination, stack.threshold_ = combination.without_zeros(), 0.0
        return stack

    def _from_held_out(
        self,
        members: dict[str, Any],
        models: dict[str, list[Any]],
        rows: Rows,
        out_of_fold: OutOfFold,
        target: Target,
        final: str | RankerMixin | None,
    ) -> None:
        """Find the weights of members from scores of held-out rows, and set what was learned."""
        # `models` are the fitted ones of each member, here or elsewhere. By time, and with `refit`, members
        # of positive weight are fitted again, to all rows.
        check_choice("calibration", self.calibration, CALIBRATIONS)
        validate_data(self, rows.X, skip_check_array=True)
        codes, weights, scores = np.asarray(target.codes).astype(np.intp), target.weights, out_of_fold.scores
        rows = rows._replace(y=codes)
        seen = out_of_fold.rows
        counted = seen if weights is None else seen[weights[seen] > 0.0]
        for name, of_member in zip(members, scores, strict=True):
            if not _combination.check_spread(name, of_member[counted]):
                warn(f"{name} scores all rows equally, and adds nothing to the list.")
        linear = [_combination.is_linear(models[name][0]) for name in members]
        combination = _combination.combine(out_of_fold._replace(linear=linear), target, final)
        self.weights_ = dict(zip(members, combination.weights.tolist(), strict=True))
        self.final_ = combination.final
        kept = {name: models[name] for name, weight in self.weights_.items() if weight != 0.0}
        if not kept:
            warn(f"{self.final_} gives no member any weight, so all rows score equally.")
        if self.refit or out_of_fold.by_time:
            whole = self._fits({name: members[name] for name in kept}, rows, [(None, None)], [])
            kept = {fit.name: [fit.model] for fit in reversed([*whole])}
        self._models, self._combination = _combination.sharing_steps(kept), combination.without_zeros()
        combined = combination(scores[:, seen])
        labels_seen = two_class_target(self, codes[seen], None if weights is None else weights[seen])
        set_classes(self, replace(labels_seen, classes=target.classes), combined)
        self.held_out_scores_ = np.full(len(codes), np.nan)
        self.held_out_scores_[seen] = combined - self.threshold_
        if self.calibration is not None:
            self._calibration = _calibration(
                self.calibration, combined - self.threshold_, codes[seen], labels_seen.weights
            )

    def _fits(
        self, members: dict[str, Any], rows: Rows, parts: Sequence[tuple[Any, Any]], numbers: Sequence[int]
    ) -> Iterator[Fit]:
        """Yield the model of each member for each part, and its scores of the rows held out."""
        options: Any = {"keep": True, "record": False, "guard": partial(_failing, numbers)}
        options["path_of"] = kept_in(self.cache_dir, rows, members, parts)
        rows_of_parts = (
            (rows if train is None else rows.part(train), [] if test is None else [rows.part(test)])
            for train, test in parts
        )
        fits = fit_parts(members, rows_of_parts, n_jobs=self.n_jobs, score=_combination.raw_scores, **options)
        with progress_bar(self, len(members) * len(parts), is_exact=True) as callback:
            for number, fit in enumerate(fits):
                if callback is not None:
                    callback(number + 1)
                yield fit

    def _renumber(self, numbers: NDArray[np.intp], n_rows: int) -> None:
        of_counted, self.held_out_scores_ = self.held_out_scores_, np.full(n_rows, np.nan)
        self.held_out_scores_[numbers] = of_counted

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the combined scores less ``threshold_``, positive where ``predict`` says positive.

        %(array_of_rows)s
            The higher the better.
        """
        columns = self._columns(X)
        scores: Floats = self._combination.total(columns) - self.threshold_
        return scores

    def transform(self, X: MatrixLike) -> Floats:
        """Return the columns of the members of positive weight, whose weighted sum is the score.

        The shape is (n_samples, n_kept), in the order of ``get_feature_names_out``.
        """
        return np.array(self._columns(X)).T

    def set_output(self, *, transform: object = None) -> Self:
        """Set whether ``transform`` returns arrays or frames: ``"default"``, ``"pandas"`` or ``"polars"``."""
        super().set_output(transform=transform)
        return self

    def get_feature_names_out(self, input_features: object = None) -> GenericArray:  # noqa: ARG002
        """Return the names of the columns of ``transform``: the members that have a weight."""
        check_is_fitted(self, "weights_")
        return np.array(list(self._models), dtype=object)

    @property
    def predict_proba(self) -> Callable[[Any], Floats]:
        """A function of rows to probabilities of both classes, an AttributeError without ``calibration``."""
        if self.calibration is None:
            raise AttributeError(
                "StackingRanker has probabilities with calibration='sigmoid' or 'isotonic', and got None."
            )
        return self._probabilities

    def _probabilities(self, X: MatrixLike) -> Floats:
        scores, (first, second) = self.decision_function(X), self._calibration
        if self.calibration == "sigmoid":
            positive = expit(first * scores + second)
        else:
            positive = np.interp(scores, first, second)
        return np.column_stack([1.0 - positive, positive])

    def _columns(self, X: MatrixLike) -> list[Floats]:
        # To raise or not, scikit-learn asks all members for their tags, which takes longer than a row.
        if not hasattr(self, "weights_"):
            check_is_fitted(self, "weights_")
        # Rows without a member of positive weight all score zero.
        columns = [np.zeros(_num_samples(X))] if not self._models else []
        known: dict[tuple[int, ...], Any] = {}
        for models, scale in zip(self._models.values(), self._combination.scales, strict=True):
            # Added up one by one, a row's mean does not depend on the number of rows.
            scores = (
                scale(_combination.raw_scores(*_combination.last_step(model, X, known))) for model in models
            )
            columns.append(sum(scores, start=np.zeros(_num_samples(X))) / len(models))
        return columns

    _score = staticmethod(_combination.raw_scores)

    def _combined(self, scores: Mapping[str, Floats], n_rows: int) -> Floats:
        """Return the scores of the list, by those that ``_score`` has of its members."""
        # Without members of positive weight all rows score equally.
        of_members = [scores[name] for name in self._models]
        combined: Floats = self._combination(of_members) if of_members else np.zeros(n_rows)
        combined -= self.threshold_
        return combined

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted models of each member of other weight than zero, by name, of a fitted ranker."""
        check_is_fitted(self, "weights_")
        return Bunch(**self._models)

    def _members(self) -> dict[str, object]:
        """Return copies of the members by name."""
        named = _named(self.estimators)
        self._validate_names([name for name, _ in named])
        members = {}
        for name, member in named:
            if not isinstance(member, str) or member != "drop":
                with naming(name, "cannot be copied"):
                    members[name] = clone(member)
        if not members:
            raise ValueError("estimators must hold at least one member that is not 'drop'.")
        for name, member in members.items():
            if not hasattr(member, "fit") or not (
                hasattr(member, "decision_function") or hasattr(member, "predict_proba")
            ):
                raise TypeError(
                    f"the member {name!r}, {type(member).__name__}, needs fit, and decision_function or "
                    "predict_proba, to give scores to rank by."
                )
        return members

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: sparse rows and missing values are taken where all members do."""
        members = (member for _, member in _named(self.estimators) if hasattr(member, "__sklearn_tags__"))
        return tags_of_all(super().__sklearn_tags__(), members)


def check_held_out_once(folds: Sequence[Fold], n_rows: int) -> None:
    """Raise unless each row is held out by at most one fold, which does not learn from it."""
    held_out = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=n_rows)
    if held_out.max() > 1:
        raise ValueError(
            f"cv holds a row out {held_out.max()} times, which gives it that many scores; take a splitter "
            "without repetitions, such as StratifiedKFold."
        )
    for fold in folds:
        if len(both := np.intersect1d(fold.train, fold.test)):
            raise ValueError(
                f"fold {fold.number} of cv both learns from row {both[0]} and holds it out; weights need "
                "scores by models that have not seen the row."
            )


def _named(estimators: Any) -> list[tuple[str, Any]]:
    """Return the names and members that a user gives, or those by default."""
    if estimators is None:
        return [
            ("logistic regression", LogisticRegression(max_iter=1000)),
            ("P-Norm Push", PNormPush(16.0)),
            ("boosted stumps", PushBoost(16.0)),
        ]
    if not isinstance(estimators, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in estimators
    ):
        raise ValueError(f"estimators must be a list of pairs, a name and an estimator, got {estimators!r}.")
    return [(name, member) for name, member in estimators]


def _seed(estimator: BaseEstimator, rng: np.random.RandomState) -> None:
    """Set the seeds of an estimator, and of those that it holds, where there are none."""
    for parameter, value in (
        sorted(estimator.get_params().items()) if hasattr(estimator, "get_params") else ()
    ):
        if value is None and parameter.rpartition("__")[2] == "random_state":
            estimator.set_params(**{parameter: draw_seed(rng)})


@contextmanager
def naming(name: str, what: str) -> Iterator[None]:
    """Put a member's name before the message of an error, which stays a TypeError or is a ValueError."""
    try:
        yield
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"the member {name!r} {what}: {error}") from error


def _failing(numbers: Sequence[int], name: str, part: int) -> AbstractContextManager[None]:
    """Return what names a member whose fit failed, and the fold if there is one."""
    return naming(name, f"failed in fold {numbers[part]}" if numbers else "failed")


def _calibration(method: str, scores: Floats, y: NDArray[np.intp], weights: Floats | None) -> tuple[Any, Any]:
    """Return slope and intercept of a sigmoid, or the knots and values of an isotonic function."""
    if method == "sigmoid":
        # A weak penalty keeps the slope finite where the classes are separated.
        sigmoid = LogisticRegression(C=1e4).fit(scores[:, np.newaxis], y, weights)
        return float(sigmoid.coef_[0, 0]), float(sigmoid.intercept_[0])
    isotonic = IsotonicRegression().fit(scores, y, weights)
    return isotonic.X_thresholds_, isotonic.y_thresholds_
