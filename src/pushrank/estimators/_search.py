"""Choice by cross-validation: members are scored on the same folds, and a rule chooses among them.

A member is a ranker with its parameters. A fold is solved for all members at once, since they share work: on
a path of penalties each solution starts from its neighbour's, and the first rounds of a boosting fit are a
fit of fewer rounds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn import get_config
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state, column_or_1d, indexable
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import validate_data

from pushrank._base.bounds import check_number
from pushrank._base.docstrings import shared_docs
from pushrank._base.html import html_table, interval_pictures
from pushrank._base.numeric import Floats
from pushrank._base.user_types import GenericArray, MatrixLike, PerRow
from pushrank._base.validation import check_choice, group_numbers, plain_labels, refuse_masked
from pushrank.budgets import Budget, Periods
from pushrank.estimators._base import RankerMixin, progress_bar
from pushrank.estimators._scoring import HeldOutScorer
from pushrank.estimators._target import Target, two_class_target
from pushrank.held_out.fits import fit_paths, model_scores
from pushrank.held_out.plan import check_parts
from pushrank.held_out.splits import splitter_of, warn_of_random_folds
from pushrank.metrics import average_precision, precision_at_k
from pushrank.metrics._ranking import Ranking, check_depth
from pushrank.times import check_times

Selection = Literal["best", "one_standard_error"]
SELECTIONS = get_args(Selection)
BUDGETS = ("budget", "fraction", "fraction_of_positives")
# Members that cannot win are dropped after this many folds, where they are this many standard errors below.
N_SCREENING, BEYOND_CHANCE = 2, 2.0
# The budget of a search without one, as a share of the number of positives.
DEFAULT_FRACTION = 0.25


@shared_docs
class SearchMixin(RankerMixin):
    """What searches share: the data of ``fit``, scores, metadata routing, and a table in notebooks."""

    # The groups are for the splitter, and times are taken wherever they are passed: there is nothing for
    # ``set_fit_request`` to choose.
    __metadata_request__fit = {"groups": UNUSED, "time": True}  # noqa: RUF012
    # Measures of k rows look at one row at least.
    _weights_are_copies = True

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: PerRow = None,
        *,
        groups: PerRow = None,
        time: PerRow = None,
    ) -> Self:
        """Choose by cross-validation, and learn from all rows with what was chosen.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features as the rankers to choose from take them. All take finite ones; linear rankers use float32
            and float64 arrays, dense, CSR or CSC, without a copy.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights, for training and for scoring. A row of weight zero counts as no row: it is
            in no fold, and its held-out score is NaN.
        groups : array-like of shape (n_samples,), optional
            Labels of rows that belong together, for a ``cv`` such as ``StratifiedGroupKFold`` that keeps
            groups whole. In a pipeline they come by metadata routing.
        time : array-like of shape (n_samples,), optional
            The times of the rows, as numbers or dates. With a number as ``cv`` every part that is held out
            comes after the rows learnt from, by :class:`~pushrank.model_selection.TimeSplit`; a splitter has
            to take them.

        Returns
        -------
        self
            The fitted ranker.

        Raises
        ------
        ValueError
            When a parameter is out of range, the data are not finite, ``y`` has not two classes, a part of
            the cross-validation lacks one of them, or a score is not a number.
        TypeError
            When a parameter has the wrong type, or weights are given to an estimator or a scorer that takes
            none.

        Warns
        -----
        ConvergenceWarning
            When solutions of linear rankers stopped early; the message says how many, or which.
        """
        self._choose(X, y, sample_weight, groups, time)
        return self

    @abstractmethod
    def _choose(
        self, X: MatrixLike, y: ArrayLike, sample_weight: PerRow, groups: PerRow, time: PerRow
    ) -> None:
        """Choose, and set what was learned."""

    def decision_function(self, X: MatrixLike) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        %(array_of_rows)s
            The scores of ``best_estimator_`` less ``threshold_``, or ``X @ coef_ + intercept_``.
        """
        if not hasattr(self, "best_estimator_"):
            return super().decision_function(X)
        scores: NDArray[np.floating] = model_scores(self.best_estimator_, X) - self.threshold_
        return scores

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's routing: weights stay here, groups go to the splitter ``cv``."""
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=check_cv(self.cv), method_mapping=to_split)

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, after a fit for a budget, the candidates of the choice."""
        diagram: str = super()._html_repr()
        if not hasattr(self, "candidates_"):
            return diagram
        return diagram + candidates_table(self.candidates_, self.best_params_, measure_name(self))


class Fold(NamedTuple):
    """A fold's number, the numbers of its rows to learn from, and of its rows held out."""

    number: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


class Member(NamedTuple):
    """A member on a fold: its parameters, its scores of the rows held out, and what may start another fit."""

    params: dict[str, Any]
    scores: NDArray[np.floating]
    threshold: float = 0.0
    solution: Any = None


Measure = Callable[[Fold, Member], tuple[float, float]]
"""How good a member is on a fold, the higher the better, and a second measure to decide between equals."""


class Results(NamedTuple):
    """Members x folds."""

    # `values` has the measure of each member on each fold, and `overall` the second measure. `solutions` are
    # by fold and member.

    params: list[dict[str, Any]]
    values: Floats
    overall: Floats
    solutions: list[list[Any]]

    def set_fitted(self, ranker: Any, best: int) -> None:
        """Set the attributes that every search has, for the member chosen."""
        ranker.cv_results_ = results_table(self.params, self.values)
        ranker.best_index_, ranker.best_params_ = best, self.params[best]
        ranker.best_score_ = float(self.values[best].mean())
        ranker.n_splits_ = self.values.shape[1]


class Search(NamedTuple):
    """Folds of rows for a ranker with ``selection``, ``n_jobs`` and ``verbose``, and members on them."""

    ranker: Any
    target: Target
    folds: list[Fold]
    times: GenericArray | None = None

    @classmethod
    def of_rows(cls, ranker: Any, X: Any, target: Target, groups: PerRow, time: PerRow) -> Self:
        """Return the search on the folds of the ranker's ``cv``, which alone the groups are for."""
        times = None if time is None else check_times(time, target.sample.n_rows)
        if time is None and groups is None and isinstance(ranker.cv, int | None):
            warn_of_random_folds(X)
        cv, by_time = splitter_of(ranker.cv, times)
        codes, all_rows = np.asarray(target.codes).astype(np.intp), np.arange(target.sample.n_rows)
        if groups is not None:
            group_numbers(groups, len(codes), "groups")
        params = {} if groups is None else {"groups": groups}
        # Under metadata routing the splitter has to ask for groups.
        if params and get_config()["enable_metadata_routing"]:
            params = dict(process_routing(ranker, "fit", **params).splitter.split)
        splits = [
            # Masks and negative numbers become numbers.
            (all_rows[np.asarray(train)], all_rows[np.asarray(test)])
            for train, test in check_cv(cv, codes, classifier=True).split(X, codes, **params, **by_time)
        ]
        if not splits:
            raise ValueError(
                f"cv={ranker.cv!r} gives no split of the rows; give a number of folds, or at least one split."
            )
        check_parts(splits, codes > 0, target.weights)
        return cls(ranker, target, [Fold(number, *split) for number, split in enumerate(splits)], times)

    @classmethod
    def of_unchecked_rows(
        cls, ranker: Any, X: Any, y: ArrayLike, sample_weight: PerRow, groups: PerRow, time: PerRow
    ) -> tuple[Any, GenericArray, Self]:
        """Return rows that the estimators will check, their labels, and the search on their folds."""
        refuse_masked(X, "X")
        # Here only the names and the number of the columns are recorded.
        validate_data(ranker, X, skip_check_array=True)
        (X,), labels = indexable(X), column_or_1d(plain_labels(y), warn=True)
        check_consistent_length(X, labels)
        target = two_class_target(ranker, labels, sample_weight)
        return X, labels, cls.of_rows(ranker, X, target, groups, time)

    def run(
        self,
        path: Callable[[Fold], Iterable[Member]],
        measure: Measure,
        n_members: int,
        *,
        screen: Callable[[list[dict[str, Any]], Floats], None] | None = None,
    ) -> Results:
        """Return all members on all folds; ``path`` yields those of a fold, in the same order in each."""
        # `screen` is called with the members and their measures on the first two of more folds. Members that
        # `path` yields no longer after it have no measures on the other folds, but NaN.
        check_choice("selection", self.ranker.selection, SELECTIONS)
        params: list[dict[str, Any]] = []
        solutions: list[list[Any]] = [[] for _ in self.folds]
        solved = count(1)
        values, overall = both = np.full((2, n_members, len(self.folds)), np.nan)

        def measured(fold: Fold) -> Iterator[tuple[Fold, Member, tuple[float, float]]]:
            for member in path(fold):
                measures = measure(fold, member)
                if callback is not None:
                    callback(next(solved), score=measures[0])
                # The scores of all members of a fold would be large.
                yield fold, member._replace(scores=np.empty(0)), measures

        n_first = len(self.folds) if screen is None else min(N_SCREENING, len(self.folds))
        with progress_bar(self.ranker, n_members * len(self.folds), is_exact=screen is None) as callback:
            for start, folds in ((0, self.folds[:n_first]), (n_first, self.folds[n_first:])):
                if screen is not None and start and folds:
                    screen(params, values[:, :start])
                for fold, member, measures in fit_paths(measured, folds, self.ranker.n_jobs, in_threads=True):
                    if fold.number == 0:
                        params.append(member.params)
                    both[:, params.index(member.params), fold.number] = measures
                    solutions[fold.number].append(member.solution)
        return Results(params, values, overall, solutions)


def choose_for_budget(
    ranker: Any,
    results: Results,
    families: Sequence[str],
    complexity: Mapping[str, float],
    hit: float,
) -> int:
    """Choose among the best members of all families, and set the attributes of a search for a budget."""
    means_overall = np.nanmean(results.overall, axis=1)
    members = best_of_families(results.values, means_overall, families, hit)
    names, values, overall = [families[m] for m in members], results.values[members], means_overall[members]
    chosen = choose(values, overall, [complexity[name] for name in names], ranker.selection)
    results.set_fitted(ranker, members[chosen])
    ranker.cv_results_["mean_average_precision"] = means_overall
    gaps, errors = below_best(values, overall)
    columns = {"candidate": names, "params": [results.params[member] for member in members]}
    columns |= {measure_name(ranker): np.nanmean(values, axis=1).tolist()}
    columns |= {"standard_error": standard_errors(values).tolist(), "average_precision": overall.tolist()}
    columns |= {"below_best": gaps.tolist(), "below_best_standard_error": errors.tolist()}
    ranker.candidates_ = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return members[chosen]


def measure_name(ranker: Any) -> str:
    """Return what the measure of a search is in ``candidates_``."""
    return "precision" if getattr(ranker, "scoring", None) is None else "score"


def choose(values: Floats, overall: Floats, complexity: Sequence[float], selection: str) -> int:
    """Return the number of the best member, or of the simplest within one standard error of the best."""
    gaps, errors = below_best(values, overall)
    near = gaps <= (errors if selection == "one_standard_error" else 0.0)
    means, eligible = values.mean(axis=1), np.flatnonzero(near & ~np.isnan(values).any(axis=1)).tolist()
    return min(eligible, key=lambda member: (complexity[member], -means[member], -overall[member]))


def below_best(values: Floats, overall: Floats) -> tuple[Floats, Floats]:
    """Return by how much the best member exceeds each, on its folds, and the standard errors of that."""
    means = values.mean(axis=1)
    complete = np.flatnonzero(~np.isnan(means))
    best = max(complete, key=lambda member: (means[member], overall[member]))
    return np.nanmean(values[best] - values, axis=1), standard_errors(values[best] - values)


def standard_errors(values: Floats) -> Floats:
    """Return the standard error of each member's mean over its folds; zero for a single fold."""
    n_folds = np.sum(~np.isnan(values), axis=1)
    errors: Floats = np.nanstd(values, axis=1) / np.sqrt(np.maximum(n_folds - 1, 1))
    return errors


def best_of_families(values: Floats, overall: Floats, families: Sequence[str], hit: float) -> list[int]:
    """Return each family's best member: among those within a hit of the best, the best overall."""
    means, best = np.nanmean(values, axis=1), []
    is_complete = np.asarray(~np.isnan(values).any(axis=1))
    for name in dict.fromkeys(families):
        members = np.flatnonzero(np.array(families) == name)
        # A member that was measured on all folds comes before others.
        members = members[is_complete[members] == is_complete[members].max()]
        # Rounding may part means that differ by exactly one hit.
        equals = members[means[members] >= means[members].max() - hit * (1.0 + 1e-9)]
        best.append(int(equals[np.argmax(overall[equals])]))
    return best


def scorer_of_folds(scoring: Any, X: Any, target: Target, folds: Sequence[Fold]) -> Measure:
    """Return a scorer as the measure of a search."""
    classes, codes = np.asarray(target.classes), np.asarray(target.codes).astype(np.intp)
    weights = [None if target.weights is None else target.weights[fold.test] for fold in folds]
    labels = [classes[codes[fold.test]] for fold in folds]
    # A scorer has the current scores as its state, so that folds in threads need a scorer each.
    scorers = [HeldOutScorer(scoring, classes, *parts) for parts in zip(labels, weights, strict=True)]

    def measure(fold: Fold, member: Member) -> tuple[float, float]:
        scores, threshold = member.scores.astype(np.float64), np.array([member.threshold])
        return scorers[fold.number].score(_safe_indexing(X, fold.test), scores, threshold), 0.0

    return measure


def measure_of(search: Search, X: Any, at_budget: PrecisionAtBudget) -> tuple[Measure, float]:
    """Return the measure that members are chosen by, and by how much those of equals may differ."""
    if measure_name(search.ranker) == "precision":
        return at_budget, at_budget.one_hit(search.folds)
    by_scorer = scorer_of_folds(search.ranker.scoring, X, search.target, search.folds)
    return lambda fold, member: (by_scorer(fold, member)[0], at_budget(fold, member)[1]), 0.0


class PrecisionAtBudget:
    """The precision at the budget as the measure of a search, and the average precision between equals."""

    # The budget is the same share of the rows, or of the positives, in every fold, or of every period, whose
    # rows are then ranked apart. `kept` is how many rows can be acted on over the number of positives.

    def __init__(self, ranker: Any, target: Target, times: NDArray[Any] | None = None) -> None:
        self.is_positive = np.asarray(target.codes, dtype=bool)
        self.weights = np.ones(len(self.is_positive)) if target.weights is None else target.weights
        self._is_weighted = target.weights is not None
        self._periods: Periods | None = None
        self._labelled: dict[int, Ranking] = {}
        if isinstance(budget := ranker.budget, Budget):
            if times is None:
                raise ValueError(f"a budget of {budget.words} needs the time of every row: pass time=.")
            self._periods, self._n = budget.periods(times), budget.n
        self._depth = budget_depth(ranker, float(self.weights.sum()), self._periods)
        per_row = float(self.weights.sum() / self.weights[self.is_positive].sum())
        self.kept: float = self._depth.get("fraction_of_positives") or self._depth["fraction"] * per_row

    def __call__(self, fold: Fold, member: Member) -> tuple[float, float]:
        """Return the precision at the budget and the average precision of a member."""
        # Labels and weights are checked with the first member of a fold.
        scores = self.within_periods(fold.test, member.scores)
        if (labelled := self._labelled.get(fold.number)) is None:
            # Without weights the first rows are selected, which is faster than to sort all.
            weights = self.weights[fold.test] if self._is_weighted else None
            labelled = self._labelled[fold.number] = Ranking(self.is_positive[fold.test], scores, weights)
        ranking: Any = labelled.with_scores(scores)
        precision = float(precision_at_k(ranking.is_positive, ranking, **self._depth))
        return precision, float(average_precision(ranking.is_positive, ranking))

    def within_periods(self, rows: NDArray[np.intp], scores: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return scores by which the best rows of every period come first."""
        if self._periods is None:
            return scores
        return -self._periods.depths(scores.astype(np.float64), self._n, rows)

    def hopeless(self, values: Floats, folds: Sequence[Fold]) -> NDArray[np.bool_]:
        """Return which members are below the best by more than chance explains."""
        weights = self.weights[np.concatenate([fold.test for fold in folds])]
        n = float(weights.sum() / (weights**2).sum()) / self.one_hit(folds)
        shares = (n * values.mean(axis=1) + 1.0) / (n + 2.0)
        variances, best = shares * (1.0 - shares) / (n + 2.0), np.argmax(shares)
        # Members act on much the same rows, so that these errors, as of independent samples, are too large.
        errors = np.sqrt(variances + variances[best])
        return np.asarray(shares[best] - shares > BEYOND_CHANCE * errors)

    def one_hit(self, folds: Sequence[Fold]) -> float:
        """Return the change of the mean precision by another hit in a fold."""
        positives = sum(self.weights[fold.test][self.is_positive[fold.test]].sum() for fold in folds)
        return float(1.0 / max(1.0, self.kept * positives))


def budget_depth(ranker: Any, total_weight: float, periods: Periods | None = None) -> dict[str, Any]:
    """Return the number of rows that can be acted on, as a share that is the same in every fold."""
    given = {name: getattr(ranker, name) for name in BUDGETS if getattr(ranker, name) is not None}
    if len(given) > 1 or (given and periods is None):
        check_depth(*map(given.get, BUDGETS), name_of_k="budget")
    if (budget := given.get("budget")) is None:
        return given or {"fraction_of_positives": DEFAULT_FRACTION}
    if periods is not None:
        return {"fraction": budget.spent(periods) / len(periods.codes)}
    if budget > total_weight:
        raise ValueError(f"budget={budget} is more than the {total_weight:g} rows of X.")
    return {"fraction": budget / total_weight}


def results_table(params: Sequence[dict[str, Any]], values: Floats) -> dict[str, Any]:
    """Return ``cv_results_`` with the keys of scikit-learn's searches, masked where a row has no value."""
    table: dict[str, Any] = {"params": list(params)}
    for name in dict.fromkeys(name for chosen in params for name in chosen):
        # Members of different families have different parameters: absent ones are masked, as in GridSearchCV.
        column = np.ma.masked_all(len(params), dtype=object)
        for row, chosen in enumerate(params):
            if name in chosen:
                column[row] = chosen[name]
        table[f"param_{name}"] = column
    table |= {f"split{fold}_test_score": column for fold, column in enumerate(values.T)}
    means = values.mean(axis=1)
    # A member that is not measured on all folds has no mean, and comes last.
    ranks = rankdata(np.where(np.isnan(means), np.inf, -means), method="min").astype(np.int32)
    return table | {"mean_test_score": means, "std_test_score": values.std(axis=1), "rank_test_score": ranks}


def draw_seed(random_state: Any) -> int:
    """Return a seed for all members: the same draws make their differences those of their parameters."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_numbers(name: str, values: Any, **limits: Any) -> None:
    """Raise unless a parameter is a list of at least one number within limits."""
    if np.ndim(values) != 1 or len(values) == 0:
        raise ValueError(f"{name} must be a list of at least one number, got {values!r}.")
    for value in values:
        check_number(name, value, **limits)


def candidates_table(candidates: list[dict[str, Any]], chosen: dict[str, Any], measure: str) -> str:
    """Return the candidates of a search for a budget as a table with pictures, for notebooks."""
    means, errors, overall = (
        [row[name] for row in candidates] for name in (measure, "standard_error", "average_precision")
    )
    lows, highs = np.subtract(means, errors).tolist(), np.add(means, errors).tolist()
    rows = [
        [
            ", ".join(v if name == "candidate" else f"{name}={v}" for name, v in row["params"].items()),
            picture,
            f"{mean:.3f} ± {error:.3f}",
            f"{precision:.3f}",
            "chosen" if row["params"] == chosen else "",
        ]
        for row, picture, mean, error, precision in zip(
            candidates, interval_pictures(means, lows, highs), means, errors, overall, strict=True
        )
    ]
    what = "precision at the budget" if measure == "precision" else measure
    caption = f"The best of each family: {what} over the folds, ± standard errors"
    return html_table(["family", "", measure, "average precision", ""], rows, caption)
