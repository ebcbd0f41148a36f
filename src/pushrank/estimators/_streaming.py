"""The steps of a fit to batches: checks of chunks, epochs, validation, thresholds and warnings."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from pushrank._base.bounds import check_number
from pushrank._base.numeric import Floats
from pushrank._base.user_types import GenericArray, Matrix, PerRow
from pushrank._base.validation import check_k, is_count, plain_labels, warn_of_labels, warn_of_other_order
from pushrank.estimators._base import RankerMixin, finite_scores, linear_scores, warn
from pushrank.estimators._target import DTYPES, Target, checked_data, row_weights, sample_threshold
from pushrank.exceptions import BadRowError, StreamError
from pushrank.objectives.precision_at_k import resolve_k_within, select_top
from pushrank.pairs import BipartiteSample
from pushrank.solvers import Callback
from pushrank.solvers.early_stopping import EarlyStopping
from pushrank.solvers.streaming.learner import LabelledRows, StreamLearner
from pushrank.solvers.streaming.mistake_bound import Margins, margins
from pushrank.solvers.streaming.updates import StreamState, UpdateRule


def check_batch_parameters(ranker: RankerMixin) -> None:
    """Raise unless the parameters that all rankers of batches have are in their ranges."""
    check_k(ranker.k)
    for name in ("batch_size", "max_iter", "n_iter_no_change"):
        check_number(name, getattr(ranker, name), 1, integer=True)
    check_number("validation_fraction", ranker.validation_fraction, above=0.0, below=1.0)
    for name in ("average", "shuffle", "early_stopping"):
        value = getattr(ranker, name)
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name} must be True or False, got {value!r}.")


def check_classes(classes: ArrayLike, ranker: str) -> GenericArray:
    """Return the two classes of a stream in sorted order, with a warning if they are texts."""
    try:
        distinct: NDArray[Any] = np.unique(np.asarray(classes))
    except TypeError as error:
        raise ValueError(f"classes must be two labels of one kind, got {classes!r}.") from error
    if len(distinct) != 2:
        raise ValueError(f"Only binary classification is supported: classes must be two, got {distinct!r}.")
    warn_of_labels(distinct, ranker)
    return distinct


def check_iterable(stream: object) -> None:
    """Raise if a stream cannot be iterated, or is a table of rows."""
    needed = "the stream must be an iterable of chunks (X, y) or (X, y, sample_weight)"
    if hasattr(stream, "shape"):
        raise TypeError(
            f"{needed}, found {_kind_of(stream)}: use fit for data at hand, or pass [(X, y)] for a "
            "stream of one chunk."
        )
    if not isinstance(stream, Iterable) and not hasattr(stream, "__getitem__"):
        raise TypeError(f"{needed}, found {_kind_of(stream)}.")


def check_chunk(chunk: object, number: int) -> Any:
    """Return the X and y of a chunk, and its weights if there are any."""
    if isinstance(chunk, tuple | list) and len(chunk) in (2, 3):
        return chunk
    raise TypeError(
        f"chunk {number} of the stream must be (X, y) or (X, y, sample_weight), found {_kind_of(chunk)}."
    )


def _kind_of(value: object) -> str:
    """Return the type of a value and its size."""
    name = type(value).__name__
    if hasattr(value, "shape"):
        return f"{name} of shape {tuple(value.shape)}"
    return f"{name} of length {len(value)}" if isinstance(value, tuple | list) else name


@contextmanager
def row_errors(n_rows: int) -> Iterator[None]:
    """Turn the error of a bad row into one that numbers it in its chunk and in the stream."""
    try:
        yield
    except BadRowError as error:
        in_stream = f" (row {n_rows + error.row} of the stream)" if n_rows else ""
        raise StreamError(error.message_for(f"row {error.row}{in_stream}")) from error


def learn_chunk(
    ranker: RankerMixin,
    learner: StreamLearner | None,
    rule: UpdateRule,
    classes: GenericArray,
    X: Matrix,
    y: ArrayLike,
    sample_weight: PerRow = None,
) -> tuple[StreamLearner, Any]:
    """Learn from a chunk; return the learner, which is new if there was none, and the dtype of X."""
    with row_errors(0 if learner is None else learner.n_rows):
        # The learner finds values that are not finite, so that X need not be read twice.
        options = {"accept_sparse": "csr", "dtype": DTYPES, "order": "C", "ensure_all_finite": False}
        warn_of_other_order(X=X, y=y, sample_weight=sample_weight)
        X = checked_data(ranker, X, reset=learner is None, **options)
        labels = column_or_1d(plain_labels(y), warn=True)
        check_consistent_length(X, labels)
        positive: NDArray[np.bool_] = labels == classes[1]
        if np.count_nonzero(positive) + np.count_nonzero(labels == classes[0]) < len(labels):
            row = int(np.argmin(positive | (labels == classes[0])))
            label = labels[row : row + 1].tolist()[0]
            raise BadRowError(row, "", f" has the label {label!r}, which is none of {classes.tolist()}.")
        if learner is None:
            learner = StreamLearner(rule, StreamState.zero(X.shape[1]))
        learner.partial_fit(batch_rows(X, positive, row_weights(sample_weight, len(positive))))
    return learner, X.dtype


def training_rows(X: Matrix, target: Target) -> LabelledRows:
    """Return checked data of two classes as rows; queries that all lack a class are a ValueError."""
    rows = batch_rows(X, np.asarray(target.codes, dtype=bool), target.weights)._replace(groups=target.groups)
    if rows.groups is not None and not any(True for _ in queries(rows)):
        raise ValueError("no query has both a positive and a negative row; there is nothing to learn from.")
    return rows


def queries(rows: LabelledRows) -> Iterator[tuple[NDArray[np.intp], LabelledRows]]:
    """Yield the row numbers of each query that has both classes, and its labels; else those of all rows."""
    groups = np.zeros(rows.n_rows, dtype=np.intp) if rows.groups is None else rows.groups
    ends = np.cumsum(np.bincount(groups))
    for query in np.split(np.argsort(groups, kind="stable"), ends[:-1]):
        part = LabelledRows(None, rows.positive[query], rows.sample_weight[query])
        counted = part.positive[part.sample_weight > 0.0]
        if counted.any() and not counted.all():
            yield query, part


def least_margins(scores: Floats, rows: LabelledRows, k: float) -> Margins:
    """Return the margins of scores, the least of any query."""
    by_query = [margins(scores[query], part, k_of_rows(k, part)) for query, part in queries(rows)]
    return Margins(*np.min(by_query, axis=0).tolist())


def batch_rows(X: Matrix, positive: NDArray[np.bool_], weights: Floats | None) -> LabelledRows:
    """Return checked data as rows, dense and contiguous or CSR."""
    by_rows = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X.tocsr()
    return LabelledRows(by_rows, positive, np.ones(len(positive)) if weights is None else weights)


def part_of_rows(rows: LabelledRows, mask: NDArray[np.bool_]) -> LabelledRows:
    """Return the rows of a mask that have a weight; if all their queries lack a class it is a ValueError."""
    part = rows.take(np.flatnonzero(mask & (rows.sample_weight > 0.0)))
    if not any(True for _ in queries(part)):
        raise ValueError(f"a part of {part.n_rows} rows has no positive or no negative row")
    return part


def epoch_orders(
    n_rows: int, seed: int, shuffle: bool, n_epochs: int, groups: NDArray[np.intp] | None = None
) -> Iterator[NDArray[np.intp]]:
    """Yield the order of the rows in every epoch, which depends on the seed alone; queries stay together."""
    random_state = np.random.RandomState(seed)
    n_units = n_rows if groups is None else int(groups.max()) + 1
    for _ in range(n_epochs):
        order = random_state.permutation(n_units) if shuffle else np.arange(n_units)
        yield order if groups is None else np.argsort(order[groups], kind="stable")


class Epochs(NamedTuple):
    """The result of epochs; without validation the last two are None."""

    n_iter: int
    coef: Floats
    validation_path: Floats | None
    best_iter: int | None


def run_epochs(
    ranker: RankerMixin,
    learner: StreamLearner,
    rows: LabelledRows,
    valid: LabelledRows | None,
    orders: Iterable[NDArray[np.intp]],
    callback: Callback | None,
) -> Epochs:
    """Learn from rows in every order, until an epoch has no mistakes or validation stops improving."""
    stopping, best = EarlyStopping(), None
    for n_iter, order in enumerate(orders, 1):
        before = learner.n_mistakes
        with row_errors(0):
            learner.epoch(rows, order)
        n_mistakes = learner.n_mistakes - before
        if callback is not None:
            callback(n_iter, mistakes_in_pass=n_mistakes, mistake_rate=learner.mistake_rate)
        if valid is not None:
            coef = learned_coef(ranker, learner)
            if stopping.add_validation(_validation_precision(ranker, valid, coef)):
                best = coef
            elif stopping.n_since_best >= ranker.n_iter_no_change:
                break
        # The iterates before the last separate fewer batches: they are left out of the mean.
        elif n_mistakes == 0.0 and learner.rule.is_perceptron:
            learner.use_last_as_mean()
            break
    if best is None:
        return Epochs(n_iter, learned_coef(ranker, learner), None, None)
    return Epochs(n_iter, best, np.array(stopping.validation), stopping.best_index + 1)


def _validation_precision(ranker: RankerMixin, rows: LabelledRows, coef: Floats) -> float:
    """Return precision at k on validation rows, for queries the mean."""
    scores = linear_scores(rows.X, coef)
    mistake_rates = []
    for query, part in queries(rows):
        k = k_of_rows(ranker.k, part)
        # A number of rows is meant for a batch: without queries it is taken for each batch that fits.
        if rows.groups is None and is_count(ranker.k):
            per_batch = round(ranker.k * rows.n_rows / ranker.batch_size)
            k = min(max(per_batch, 1), part.sample_weight[part.positive].sum())
        _, _, mistakes = select_top(scores[query], part.positive, part.sample_weight, k)
        mistake_rates.append(float(mistakes) / k)
    return 1.0 - float(np.mean(mistake_rates))


def k_of_rows(k: float, rows: LabelledRows) -> float:
    """Return k in rows for a set of rows, at most the weight of its positives."""
    return float(resolve_k_within(float(k), is_count(k), rows.sample_weight[rows.positive].sum()))


def learned_coef(ranker: RankerMixin, learner: StreamLearner) -> Floats:
    """Return the coefficients as if the stream ended here: the mean iterate, or the last."""
    return learner.finalized.mean if ranker.average else learner.finalized.iterate


def unit_scores(rows: LabelledRows, coef: NDArray[np.floating]) -> Floats:
    """Return the scores by coefficients scaled to unit length."""
    double = coef.astype(np.float64)
    length = float(np.linalg.norm(double))
    return linear_scores(rows.X, double / length if length > 0.0 else double).astype(np.float64)


def break_even(sample: LabelledRows, coef: NDArray[np.floating]) -> float:
    """Return the break-even threshold of a sample; rows of one class are all on one side of it."""
    scores = finite_scores(sample.X, coef)
    counted = sample.sample_weight > 0.0
    if not (counted & sample.positive).any():
        return float(scores.max())
    if (counted <= sample.positive).all():
        return float(np.nextafter(scores.min(), -np.inf))
    weights = None if (sample.sample_weight == 1.0).all() else sample.sample_weight
    return sample_threshold(scores, BipartiteSample.from_mask(sample.positive, weights))


def warn_of_skipped_batches(ranker: RankerMixin, learner: StreamLearner, *, grouped: bool = False) -> None:
    """Warn if more than half of the batches, or queries if ``grouped``, lack a class."""
    skipped, n_batches = int(learner.finalized.read("n_skipped")), len(learner.mistakes_path)
    if 2 * skipped > n_batches:
        what, remedy = "batches", "raise batch_size, or mix rows that are sorted (shuffle=True)"
        if grouped:
            what, remedy = "queries", "they can be left out"
        warn(
            f"{type(ranker).__name__} learned nothing from {skipped} of {n_batches} {what}, which had no "
            f"positive or no negative row: {remedy}."
        )
