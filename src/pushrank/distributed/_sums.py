"""Rows of two classes in the partitions of Dask collections, checked, and sums over them for the solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from sys import getsizeof
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from pushrank._numeric import Floats
from pushrank._optional import import_optional
from pushrank._validation import check_ordered_categorical, distinct, two_classes
from pushrank.distributed._partitions import Partitions
from pushrank.estimators._target import row_weights
from pushrank.models import LinearModel
from pushrank.models.linear import ClassCodes, median_row
from pushrank.pairs.samples import check_both_classes
from pushrank.solvers.order_statistics import Values, break_even_threshold, order_statistic
from pushrank.solvers.sums import ArrayRows, Blocks

Part = TypeVar("Part")
MAX_LABELS = 10  # of a partition that are told where there are more than two


@dataclass(frozen=True, eq=False)
class Rows:
    """The checked rows of a partition: features, dense or CSR, labels, and weights where there are any."""

    X: Any
    labels: NDArray[Any]
    weights: Floats | None

    def __sizeof__(self) -> int:
        """Return the memory of the arrays, which Dask asks before it moves or spills something."""
        X = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        arrays = (*X, self.labels) if self.weights is None else (*X, self.labels, self.weights)
        return sum(getsizeof(array) if array.base is None else array.nbytes for array in arrays)


class Target(NamedTuple):
    """Class codes of a partition's rows, and logarithms of their weights; None where all weigh one."""

    class_codes: ClassCodes
    log_weights: Floats | None


@dataclass(eq=False)
class DaskRows:
    """Rows of two classes on the workers of a cluster: a ``RowSource``, of which a chunk is a partition."""

    rows: Partitions  # of Rows
    targets: Partitions  # of Target
    classes: NDArray[Any]
    reference: Floats
    n_rows: int
    n_features: int
    dtype: Any
    class_weights: tuple[float, float]  # of the positives and of the negatives

    def map(self, function: Callable[[Blocks], Part]) -> list[Part]:
        """Return the function of the blocks of each partition, in order: one round."""
        return self.rows.map(of_blocks, self.targets, self.reference, function)

    def highest_positives(self, coef: Floats, total: float) -> DaskRows:
        """Return the rows with no other positives than the highest, of a total weight; ties share alike."""
        scores = self.rows.derive(negated_positives, self.targets, self.reference, coef)
        cut, above, tied = order_statistic(scores, np.float64, total * (1.0 - 1e-12))
        share = min(1.0, (total - above) / tied)
        targets = self.rows.derive(kept_target, self.targets, self.reference, coef, -cut, share)
        return replace(self, targets=targets, class_weights=(total, self.class_weights[1]))

    def left_out(self) -> None:
        """Return nothing: rows on workers have no numbers that would be of use."""

    def same_positives(self, other: DaskRows) -> bool:
        """Return whether the same positives have the same weights."""
        return all(self.targets.map(is_same_target, other.targets))

    def break_even_threshold(self, coef: NDArray[np.floating]) -> float:
        """Return the threshold above which as much weight is predicted positive as is positive.

        As :func:`pushrank.estimators._target.break_even_threshold`, by threshold counts.
        """
        scores = self.rows.derive(scored, self.targets, coef)
        return break_even_threshold(scores, coef, self.class_weights[1])


def of_blocks(rows: Rows, target: Target, reference: Floats, function: Callable[[Blocks], Part]) -> Part:
    """Return a function of the blocks of a partition's rows."""
    n_rows = rows.X.shape[0]
    if not n_rows:
        return function(())
    model = LinearModel(rows.X, reference=reference)
    return function(ArrayRows(model, *target, (0.0, 0.0)).blocks(0, n_rows))


def model_scores(rows: Rows, reference: Floats, coef: Floats) -> Floats:
    """Return the scores of a partition's rows less the reference."""
    scores = np.empty(rows.X.shape[0])
    if len(scores):
        LinearModel(rows.X, reference=reference).block_scores(0, len(scores), coef, scores)
    return scores


def negated_positives(rows: Rows, target: Target, reference: Floats, coef: Floats) -> Values:
    """Return the scores of the positives that have a weight, times -1, so that the highest come first."""
    scores, positive = model_scores(rows, reference, coef), target.class_codes == 1
    if target.log_weights is None:
        return Values(-scores[positive])
    positive &= target.log_weights > -np.inf
    return Values(-scores[positive], np.exp(target.log_weights[positive]))


def kept_target(
    rows: Rows, target: Target, reference: Floats, coef: Floats, cut: float, share: float
) -> Target:
    """Return the target of positives above a score, and of a share of those at it, and of all negatives."""
    scores, positive = model_scores(rows, reference, coef), target.class_codes == 1
    log_weights = np.zeros(len(scores)) if target.log_weights is None else target.log_weights.copy()
    log_weights[positive & (scores == cut)] += np.log(share)
    log_weights[positive & (scores < cut)] = -np.inf
    return Target(target.class_codes, log_weights)


def is_same_target(target: Target, other: Target) -> bool:
    """Return whether the rows weigh the same."""
    if target.log_weights is None or other.log_weights is None:
        return target.log_weights is other.log_weights
    return np.array_equal(target.log_weights, other.log_weights)


def scored(rows: Rows, target: Target, coef: NDArray[np.floating]) -> Values:
    """Return the scores of a partition's rows in the dtype of the coefficients, with their weights."""
    scores = model_scores(rows, np.zeros(len(coef)), coef.astype(np.float64))
    weights = None if target.log_weights is None else np.exp(target.log_weights)
    return Values(scores.astype(coef.dtype), weights)


def features_of(X: Any, ranker: str) -> Any:
    """Return something of the columns of a collection and of few rows, for checks of names and numbers.

    Raises
    ------
    TypeError
        When it is no Dask collection.
    ValueError
        When it has other than two dimensions.
    """
    check_collection("X", X, ranker)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, found {X.ndim}.")
    return X._meta if hasattr(X, "columns") else np.empty((1, X.shape[1]))


def load_rows(ranker: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool = True) -> DaskRows:
    """Return the rows of collections, checked and kept on the workers.

    The features' names are set on the ranker, or if not ``reset`` compared with those that it has.

    Raises
    ------
    TypeError
        When something is no Dask collection.
    ValueError
        When partitions do not match, a value is not finite, or ``y`` has not two classes of positive weight.
    """
    client = find_client(ranker)
    given = {"X": X, "y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    name = type(ranker).__name__
    for argument, collection in given.items():
        check_collection(argument, collection, name)
    validate_data(ranker, features_of(X, name), reset=reset, skip_check_array=True)  # the columns alone
    dtype, parts = float_type(X), aligned_parts(given)
    delayed = import_optional("dask", "dask").delayed(checked_rows, pure=False)
    columns = list(X.columns) if hasattr(X, "columns") else X.shape[1]
    rows = Partitions.of_delayed(client, [delayed(i, dtype, columns, *part) for i, part in enumerate(parts)])
    lengths, labels, medians = zip(*rows.map(_summary), strict=True)
    n_features = int(ranker.n_features_in_)
    reference = np.zeros(n_features)
    if any(median is not None for median in medians):
        reference = np.median([median for median in medians if median is not None], axis=0)
    classes, _ = two_classes(joined_labels(labels), ranker=name)
    targets = rows.derive(_target, classes[1])
    weights = np.sum(targets.map(class_weights), axis=0)
    check_both_classes(*(int(weight > 0.0) for weight in weights))
    found = float(weights[0]), float(weights[1])
    return DaskRows(rows, targets, classes, reference, sum(lengths), n_features, dtype, found)


def find_client(ranker: Any) -> Any:
    """Return the ranker's client, or the one that was made last.

    A task that asks leaves its thread to those that the client is going to send.

    Raises
    ------
    TypeError
        When it is something else.
    ValueError
        When there is none, or it cannot be waited for.
    """
    distributed = import_optional("distributed", "dask")
    client = ranker.client
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "found no client of a Dask cluster: make one first by distributed.Client(), or pass it as "
                "client."
            ) from error
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client must be None or a distributed.Client, got {client!r}; pass Client(it).")
    if client.status != "running" or client.asynchronous:
        state = "asynchronous" if client.asynchronous else client.status
        raise ValueError(f"client must be connected and wait for answers, and is {state}; make another one.")
    with suppress(ValueError, KeyError):  # in no task, or in one that has done so
        distributed.secede()
    return client


def check_collection(name: str, collection: Any, ranker: str) -> None:
    """Raise unless an argument of a ranker is a Dask array or data frame.

    Raises
    ------
    TypeError
        When it is something else.
    """
    # bags and delayed values have no type of what is in them
    if not (import_optional("dask", "dask").is_dask_collection(collection) and hasattr(collection, "_meta")):
        raise TypeError(
            f"{ranker} takes Dask arrays and data frames, and {name} is {type(collection).__name__}: convert "
            "it, for example by dask.array.from_array, or use the ranker without Dask."
        )


def aligned_parts(given: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return, for each partition of the first of some collections, the delayed partitions of all.

    Raises
    ------
    ValueError
        When their partitions do not match.
    """
    first = next(iter(given))
    lengths = known_lengths(given[first])
    matched = []
    for name, collection in given.items():
        own = known_lengths(collection)
        if lengths and own and sum(own) != sum(lengths):
            raise ValueError(f"{name} has {sum(own)} rows for {sum(lengths)} of {first}; they must agree.")
        if hasattr(collection, "chunks"):
            by_row = {0: lengths or own} if own else {}
            collection = collection.rechunk(by_row | ({1: -1} if collection.ndim == 2 else {}))
        matched.append(collection)
    delayed = _delayed_parts(matched)
    counts = [len(parts) for parts in delayed]
    if len(set(counts)) > 1:
        found = ", ".join(f"{count} of {name}" for name, count in zip(given, counts, strict=True))
        raise ValueError(
            f"found {found} partitions, which must match row by row: repartition them alike. Columns of "
            "Parquet files, several of which Dask may join in a partition, take from a persisted table."
        )
    return list(zip(*delayed, strict=True))


def _delayed_parts(collections: list[Any]) -> list[list[Any]]:
    """Return the delayed partitions of each collection.

    Those of arrays are of one graph, so that what they share is loaded once, which dask.optimize would load
    for each; frames read their own columns. They are simplified only: optimized, those of few columns would
    have several files in a partition.
    """
    array, core = import_optional("dask.array", "dask"), import_optional("dask.core", "dask")
    delayed = import_optional("dask.delayed", "dask").Delayed
    merge = import_optional("dask.highlevelgraph", "dask").HighLevelGraph.merge
    arrays = [c for c in collections if hasattr(c, "chunks")]
    keys = [own.__dask_keys__() for own in arrays]
    merged = merge(*(own.dask for own in arrays))
    graph = dict(array.optimization.optimize(merged, keys))
    of_arrays = iter([[delayed(key, graph) for key in core.flatten(own)] for own in keys])
    return [
        next(of_arrays) if hasattr(c, "chunks") else c.simplify().to_delayed(optimize_graph=False)
        for c in collections
    ]


def known_lengths(collection: Any) -> tuple[int, ...]:
    """Return the rows of each chunk of an array; none where they are not known, as those of frames are."""
    chunks: tuple[int, ...] = getattr(collection, "chunks", ((),))[0]
    return () if np.isnan(chunks).any() else chunks


def float_type(X: Any) -> Any:
    """Return float32 where all of a collection's columns have it, else float64.

    Raises
    ------
    ValueError
        When a column of a frame holds no numbers.
    """
    types = dict(X.dtypes) if hasattr(X, "dtypes") else {"": X.dtype}
    for name, found in types.items():
        if name != "" and not import_optional("pandas", "dask").api.types.is_numeric_dtype(found):
            raise ValueError(
                f"column {name!r} of X holds {found}, and features must be numbers: encode it, for example "
                "by dask.dataframe.get_dummies, or leave it out."
            )
    is_plain = all(isinstance(found, np.dtype) for found in types.values())
    is_single = is_plain and np.result_type(*types.values()) == np.float32
    return np.dtype(np.float32 if is_single else np.float64)


def checked_rows(place: int, dtype: Any, columns: Any, X: Any, y: Any, sample_weight: Any = None) -> Rows:
    """Return the checked rows of a partition, by its number."""
    try:
        found = list(X.columns) if isinstance(columns, list) else X.shape[1]
        if found != columns:
            raise ValueError(f"found the columns {found} for {columns} of X, which the collection tells.")
        X = check_array(X, accept_sparse="csr", dtype=dtype, ensure_min_samples=0, input_name="X")
        labels = checked_labels(y)
        check_consistent_length(X, labels)
        if sp.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return Rows(X, labels, row_weights(sample_weight, len(labels)))
    except ValueError as error:
        raise ValueError(f"partition {place}: {error}") from error


def checked_labels(y: Any) -> NDArray[Any]:
    """Return the checked labels of a partition."""
    check_ordered_categorical(y)
    labels: NDArray[Any] = column_or_1d(np.asarray(y))
    if len(labels):
        found = distinct(labels)  # none is missing
        if labels.dtype.kind in "OV" and not isinstance(found[0], str):
            raise ValueError(f"y has dtype {labels.dtype}, as of {found[0]!r}; make it numbers or text.")
        check_classification_targets(labels)
    return labels


def joined_labels(found: Iterable[NDArray[Any]], name: str = "y") -> NDArray[Any]:
    """Return the distinct labels of each partition, one after the other.

    Raises
    ------
    ValueError
        When some are texts and some numbers, of which NumPy would make texts that no number equals.
    """
    known = [labels for labels in found if len(labels)]
    if len({isinstance(labels[0], str) for labels in known}) > 1:
        raise ValueError(f"{name} holds texts in some partitions and numbers in others; give it one type.")
    return np.concatenate(known or [np.zeros(0)])


def _summary(rows: Rows) -> tuple[int, NDArray[Any], Floats | None]:
    """Return how many rows there are, their distinct labels, and the median of a few dense rows."""
    n_rows = len(rows.labels)
    if not n_rows:
        return 0, rows.labels, None
    return n_rows, distinct(rows.labels)[:MAX_LABELS], None if sp.issparse(rows.X) else median_row(rows.X)


def _target(rows: Rows, positive: Any) -> Target:
    """Return what the solvers ask about the rows beside the features."""
    with np.errstate(divide="ignore"):
        log_weights = None if rows.weights is None else np.log(rows.weights)
    return Target((rows.labels == positive).astype(np.uint8), log_weights)


def class_weights(target: Target) -> Floats:
    """Return the weight of a partition's positives and negatives."""
    weights = None if target.log_weights is None else np.exp(target.log_weights)
    return np.bincount(target.class_codes, weights, 2)[::-1].astype(np.float64)
