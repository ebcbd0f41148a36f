"""What every ranker does with its scores, how linear rankers score, and how fits speak to their users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import isfunction, signature
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import average_precision_score
from sklearn.model_selection import PredefinedSplit
from sklearn.utils import Tags, _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from pushrank._base import validation
from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.user_types import Estimator, GenericArray, Matrix, MatrixLike, PerRow, Seed
from pushrank._base.validation import warn as warn
from pushrank.estimators import _target
from pushrank.estimators.reasons import explain, linear_parts, no_parts, score_parts
from pushrank.models import linear_scores as linear_scores
from pushrank.solvers import Callback

# scikit-learn comes without types, and below a class that it does not know mypy lets parameters of any name
# pass. Of two names it takes the first, even here; pyright and Python take the second alone.
if False:

    class BaseEstimator:  # type: ignore[unreachable]
        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...
        def __getstate__(self) -> Any: ...
        def __setstate__(self, state: Any) -> None: ...
        def __sklearn_tags__(self) -> Any: ...
        def _html_repr(self) -> str: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...

    class ClassifierMixin(BaseEstimator): ...

else:
    from sklearn.base import BaseEstimator as BaseEstimator  # type: ignore[no-redef]
    from sklearn.base import ClassifierMixin  # type: ignore[no-redef]


# Rows of a smaller mean weight, or of a larger total, are not counted: floats hold whole numbers up to 2^53.
MIN_MEAN_WEIGHT, MAX_COPIES = 0.1, 2.0**53
# What is passed to a fit by row.
BY_ROW = ("X", "y", "sample_weight", "qid", "groups", "time")
# What rankers of other libraries call the queries.
QUERIES = {"group", "groups", "group_id", "query"}


def whole_fit(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that fits to the rows of positive weight, or leaves fitted attributes as they were."""

    @wraps(fit)
    def fit_or_restore(ranker: Any, *data: Any, **by_name: Any) -> Any:
        for name, parameter in signature(type(ranker)).parameters.items():
            if isinstance(parameter.default, bool):
                validation.check_flag(name, getattr(ranker, name))
        if "qid" in (taken := signature(fit)).parameters and (queries := QUERIES & by_name.keys()):
            raise TypeError(
                f"{type(ranker).__name__} takes no {min(queries)}=: use qid=, the query of every row. Sizes "
                "of consecutive queries become that by np.repeat(np.arange(len(sizes)), sizes)."
            )
        before, passed = dict(vars(ranker)), taken.bind(ranker, *data, **by_name)
        by_row = {name: passed.arguments[name] for name in BY_ROW if passed.arguments.get(name) is not None}
        numbers = numbers_of_counted(ranker, passed.arguments)
        try:
            if numbers is not None:
                for name, values in by_row.items():
                    # Rows of these formats cannot be taken by their numbers.
                    has_rows = getattr(values, "format", None) not in ("bsr", "coo", "dia")
                    passed.arguments[name] = _safe_indexing(values if has_rows else values.tocsr(), numbers)
            fitted = fit(*passed.args, **passed.kwargs)
            if numbers is not None:
                for each in fitted if isinstance(fitted, list) else [ranker]:
                    each._renumber(numbers, _num_samples(by_row["X"]))
        except BaseException as error:
            if numbers is not None:
                error.add_note("Rows of weight zero were left out, and rows are numbered without them.")
            # An interrupt comes anywhere, such as after the features of the new rows were recorded.
            vars(ranker).clear()
            vars(ranker).update(before)
            raise
        # The fit has checked parameters, which comes before any look at rows.
        validation.warn_of_other_order(**by_row)
        if ranker._weights_are_copies and "sample_weight" in by_row:
            warn_of_scale(ranker, np.asarray(by_row["sample_weight"], dtype=np.float64))
        return fitted

    return fit_or_restore


def numbers_of_counted(ranker: Any, passed: Mapping[str, Any]) -> NDArray[np.intp] | None:
    """Return the numbers of the rows of positive weight, of what a fit is passed; None if all are to stay."""
    # Others would count where rows do: in the folds, the parts of early stopping, batches and leaves.
    X, y, weights, cv = (*map(passed.get, ("X", "y", "sample_weight")), getattr(ranker, "cv", None))
    # A ranker of users may call rows and labels otherwise, and hands them on to the fit that it extends.
    if X is None or y is None or weights is None or isinstance(weights, Real) or _target.lies_elsewhere(X):
        return None
    # Of rows that are read where they lie, as in a memory map, a copy may not fit in memory.
    if getattr(ranker, "_sums_alone", False):
        return None
    # Pairs, the columns of a kernel, and folds that are listed have the numbers of rows as they are passed.
    is_listed = not (isinstance(cv, int | None) or hasattr(cv, "split")) or isinstance(cv, PredefinedSplit)
    if is_listed or passed.get("pairs") is not None or getattr(ranker, "kernel", None) == "precomputed":
        return None
    counted = validation.checked_weights(weights, _num_samples(X)) > 0.0
    if counted.all() or not counted.any():
        return None
    # What has no entry for each row is an error that says so, and so is a class without a weight.
    if any(np.shape(passed[name])[:1] != counted.shape for name in BY_ROW if passed.get(name) is not None):
        return None
    labels = np.asarray(y)[counted]
    return None if (labels == labels[0]).all() else np.flatnonzero(counted)


@shared_docs
class RankerMixin(ClassifierMixin):
    """Scores, classes, ranks and the average precision of an estimator, which may define its own scores."""

    # It has `coef_` for linear scores, `classes_` (None after a fit to pairs), `threshold_` and, where it
    # learns from grades, `thresholds_`.

    # What fits models to parts of rows hands times and groups to these rankers alone.
    _is_our_ranker = True
    # Whether a fit takes a row of weight w for w copies, so that the scale of weights matters.
    _weights_are_copies: Any = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Let every fit check flags, leave out rows of weight zero, and leave the last fit if it fails."""
        super().__init_subclass__(**options)
        for name in {"fit", "path"} & vars(cls).keys():
            if isfunction(vars(cls)[name]):
                setattr(cls, name, whole_fit(vars(cls)[name]))

    def _renumber(self, numbers: NDArray[np.intp], n_rows: int) -> None:
        """Let fitted attributes by row be of all ``n_rows``, after a fit to the rows of some numbers."""

    def decision_function(self, X: MatrixLike) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        %(array_of_rows)s
            ``X @ coef_ + intercept_``.
        """
        check_is_fitted(self, "coef_")
        X = _target.checked_data(self, X, accept_sparse=_target.FORMATS, dtype=_target.DTYPES, reset=False)
        scores: NDArray[np.floating] = linear_scores(X, self.coef_) - float(self.threshold_)
        return scores

    def explain(
        self, X: Any, *, over: MatrixLike | None = None, random_state: Seed = 0, return_error: bool = False
    ) -> Any:
        """Return what each column adds to the score of each row, as :func:`pushrank.explain` does."""
        return explain(self, X, over=over, random_state=random_state, return_error=return_error)

    def _parts(self, X: MatrixLike) -> Floats:
        """Return the parts of linear scores, or of the scores that a search has chosen, the base last."""
        best = getattr(self, "best_estimator_", None)
        if best is not None:
            parts = score_parts(best, X)
            parts[:, -1] -= self.threshold_
            return parts
        if not hasattr(self, "coef_") and hasattr(self, "threshold_"):
            raise no_parts(self)
        check_is_fitted(self, "coef_")
        options = {"accept_sparse": _target.FORMATS, "dtype": _target.DTYPES, "reset": False}
        return linear_parts(self, _target.checked_data(self, X, **options))

    @property
    def intercept_(self) -> float:
        """The constant of linear scores ``X @ coef_ + intercept_``, which is minus ``threshold_``.

        It is an AttributeError where the ranker is not fitted, or its scores are not linear.
        """
        if not hasattr(self, "coef_"):
            raise AttributeError(f"{type(self).__name__} has no intercept_: it has no linear scores.")
        return -float(self.threshold_)

    def predict(self, X: MatrixLike) -> GenericArray:
        """Return the positive class for rows scored above the break-even threshold, else the negative.

        With grades of relevance it is the grade: each threshold has as many training rows above it as are
        better.

        %(array_of_rows)s
            Members of ``classes_``.

        Raises
        ------
        ValueError
            When the ranker was fitted to pairs, which have no classes.
        """
        scores = self.decision_function(X)
        if getattr(self, "classes_", None) is None:
            raise ValueError(
                "predict needs classes, and this ranker was fitted to pairs: use decision_function or rank."
            )
        if self.classes_.shape[0] == 2:
            codes = np.asarray(scores > 0.0, dtype=np.int64)
        else:
            codes = np.searchsorted(self.thresholds_ - self.threshold_, scores)
        predicted: NDArray[Any] = np.take(self.classes_, codes, axis=0)
        return predicted

    @property
    def predict_proba(self) -> Any:
        """No probabilities, but an AttributeError: ``CalibratedClassifierCV(ranker)`` calibrates scores."""
        raise AttributeError(
            f"{type(self).__name__} has scores and no probabilities; calibrate them by "
            f"sklearn.calibration.CalibratedClassifierCV({type(self).__name__}(...))."
        )

    def rank(self, X: MatrixLike) -> NDArray[np.intp]:
        """Return the row numbers best first; tied rows keep their order.

        %(array_of_rows)s
            ``X[ranker.rank(X)[:100]]`` are the hundred rows to look at first.
        """
        scores = self.decision_function(X)
        order: NDArray[np.intp] = np.argsort(-scores, stable=True)
        return order

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: PerRow = None) -> float:
        """Return scikit-learn's ``average_precision_score`` of the ranking of ``X``, between 0 and 1.

        Rows are relevant that are of the positive class, or of any grade but the lowest.
        """
        scores = np.asarray(self.decision_function(X))
        y = np.asarray(np.asarray(validation.plain_labels(y)))
        validation.refuse_masked(sample_weight, "sample_weight")
        learned = getattr(self, "classes_", None)
        classes = np.unique(y) if learned is None else np.asarray(learned)
        relevant = y == classes[1] if len(classes) == 2 else y > classes[0]
        return float(average_precision_score(relevant, scores, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: a binary classifier that takes sparse data."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # Features that fall towards the positives then count for nothing, and classes may stay mixed.
        tags.classifier_tags.poor_score = bool(getattr(self, "positive", False))
        tags.input_tags.sparse = True
        return tags


def finite_scores(X: Matrix, coef: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return ``X @ coef`` in the dtype of ``coef``; a score beyond its range is a ValueError."""
    with np.errstate(over="ignore", invalid="ignore"):
        scores = linear_scores(X, coef)
    if not np.isfinite(scores).all():
        raise ValueError(f"scores are beyond the range of {coef.dtype}; scale the features.")
    return scores


def set_features(ranker: BaseEstimator, checked: RankerMixin) -> None:
    """Set the number and the names of features to those of another ranker, which checks have set."""
    if checked is ranker:
        return
    ranker.n_features_in_ = checked.n_features_in_
    vars(ranker).pop("feature_names_in_", None)
    if hasattr(checked, "feature_names_in_"):
        ranker.feature_names_in_ = checked.feature_names_in_


def set_classes(
    ranker: RankerMixin, target: _target.Target, scores: NDArray[np.floating], *, grades: bool = False
) -> None:
    """Set ``classes_`` and the break-even ``threshold_``, and with ``grades`` all ``thresholds_``."""
    thresholds = target.thresholds(scores)
    ranker.classes_, ranker.threshold_ = target.classes, float(thresholds[0])
    if grades:
        ranker.thresholds_ = thresholds


def tags_of_all(tags: Tags, estimators: Iterable[Estimator]) -> Tags:
    """Return tags that say of rows what all estimators say."""
    inputs = [get_tags(estimator).input_tags for estimator in estimators]
    tags.input_tags.sparse = all(input_tags.sparse for input_tags in inputs)
    tags.input_tags.allow_nan = all(input_tags.allow_nan for input_tags in inputs)
    return tags


def warn_of_scale(ranker: RankerMixin, sample_weight: Floats) -> None:
    """Warn if weights are so small, or so large, that they cannot be meant as numbers of copies."""
    mean = float(sample_weight[sample_weight > 0.0].mean())
    if mean < MIN_MEAN_WEIGHT or mean * sample_weight.size > MAX_COPIES:
        warn(
            f"the mean of sample_weight is {mean:g}. {type(ranker).__name__} takes a row of weight w for "
            "w copies, and learns otherwise from weights of another scale: divide the weights by their mean."
        )


def warn_of_zeros(ranker: RankerMixin) -> None:
    """Warn that no coefficients of at least zero are better than zeros."""
    warn(
        f"{type(ranker).__name__}: no feature ranks better with a positive coefficient than without it, so "
        "all coefficients are 0 and all scores equal; negate features that fall towards the positives, or "
        "set positive=False."
    )


@contextmanager
def progress_bar(ranker: RankerMixin, n_iter: int, *, is_exact: bool = False) -> Iterator[Callback | None]:
    """Yield a callback that draws a bar of this many iterations on standard error; None if not verbose."""
    if not ranker.verbose:
        yield None
        return
    import_optional("rich", "cli")
    from rich import progress
    from rich.console import Console

    # The time left is shown where the number of iterations is exact, and not the most that there may be.
    columns = (
        progress.TextColumn("[bold]{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[shown]}"),
        progress.TimeElapsedColumn(),
        *((progress.TimeRemainingColumn(), progress.TextColumn("left")) if is_exact else ()),
    )
    with progress.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(type(ranker).__name__, total=n_iter, shown="")

        def show(iteration: int, /, **shown: float) -> None:
            named = (f"{name.replace('_', ' ')} {value:.5g}" for name, value in shown.items())
            bar.update(task, completed=iteration, shown="  ".join(named))

        yield show
        # a fit that converged early is complete, whatever it was allowed
        bar.update(task, total=bar.tasks[0].completed)
