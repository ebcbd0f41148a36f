"""Rows of two classes in the partitions of Dask collections, checked, as a source of sums for the solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from sys import getsizeof
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.user_types import GenericArray, Label
from pushrank._base.validation import checked_entries, distinct, plain_labels, two_classes
from pushrank.distributed._partitions import Partitions
from pushrank.estimators._target import row_weights
from pushrank.models import LinearModel
from pushrank.models.linear import ClassCodes, check_column_range, median_row
from pushrank.pairs.samples import check_both_classes
from pushrank.rows import RowSource
from pushrank.rows.memory import cut_blocks
from pushrank.rows.order_statistics import Cut, Mapped, ValueParts, Values, highest_cut
from pushrank.rows.source import Block, Blocks

if TYPE_CHECKING:
    from dask.array import Array
    from dask.dataframe import DataFrame, Series
    from dask.delayed import Delayed

    from distributed import Client

    Collection: TypeAlias = Array | DataFrame | Series

# A partition with more than two labels reports this number of them.
MAX_LABELS = 10


@dataclass(frozen=True, eq=False)
class PartitionRows:
    """The checked rows of a partition: features, dense or CSR, labels, and weights where there are any."""

    X: Any
    labels: GenericArray
    weights: Floats | None

    def __sizeof__(self) -> int:
        """Return the memory of the arrays, for Dask's decisions about moving and spilling."""
        X = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        arrays = (*X, self.labels) if self.weights is None else (*X, self.labels, self.weights)
        return sum(getsizeof(array) if array.base is None else array.nbytes for array in arrays)


class PartitionTarget(NamedTuple):
    """Class codes of a partition's rows, and the logarithms of their weights, or None without weights."""

    class_codes: ClassCodes
    log_weights: Floats | None


class Trimming(NamedTuple):
    """Which positives count: those above a cut of their scores by some coefficients."""

    coef: Floats
    cut: Cut


class DaskRows(RowSource):
    """Rows of two classes on the workers of a Dask cluster, for fits to more rows than one machine holds.

    :class:`pushrank.PNormPush`, :class:`pushrank.IRPush`, :class:`pushrank.PushRanker` (with the exponential
    loss) and :class:`pushrank.TrimmedPush` take this for ``X``. Their coefficients equal those of a
    fit in memory up to the rounding of sums, from 50,000 rows on up to ``tol``.

    A fit runs on the client and asks the workers for sums in rounds, of 16 bytes per feature and partition
    whatever the number of rows; :doc:`/scale` has the rounds and the bytes of every step. The same partitions
    give the same coefficients to the last bit on any number of workers, even if workers are lost. There
    should be at least as many partitions as threads. Wide data are not transformed to the space of their
    rows. A trimmed push takes a few hundred rounds, so it pays only with many rows.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Finite features; chunks of arrays may be CSR. Partitions are loaded once and kept by the workers as
        long as this object lives; if they are persisted before, workers may hold them twice.
    y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        Labels of two classes, in the partitions of X; the larger in sorted order is the positive one.
    sample_weight : dask.array.Array or dask.dataframe.Series of shape (n_samples,), optional
        Non-negative weights, in the partitions of X; an integer weight equals that many copies of the row.
    client : distributed.Client, optional
        The client of the cluster; by default the latest one.

    Attributes
    ----------
    n_rows, n_features : int
        The numbers of rows and of features.
    classes : ndarray of shape (2,)
        The two labels, sorted; the larger is the positive class.
    class_weights : tuple of float
        The total weight of the positives and of the negatives.
    feature_names : list of str or None
        The names of the features, where they have names.
    dtype : dtype
        The data type of the features and of the coefficients.

    Raises
    ------
    ValueError
        When partitions do not match, the data are not finite or lack a class, or there is no client.
    TypeError
        When an argument is no Dask collection.
    LostPartitionsError
        When data were lost with a worker and cannot be loaded again, or no worker is left. Fits raise it too.

    Warns
    -----
    UserWarning
        When a worker was lost and its partitions were loaded again. Fits warn too.

    Examples
    --------
    >>> import dask.array as da
    >>> from pushrank import PNormPush
    >>> from pushrank.distributed import decision_function
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = da.from_array(scale(X), chunks=(200, -1)), da.from_array(y, chunks=200)
    >>> rows = DaskRows(X, y)  # doctest: +SKIP
    >>> ranker = PNormPush(p=8).fit(rows)  # doctest: +SKIP
    >>> ranker.converged_, decision_function(ranker, X)  # doctest: +SKIP
    (True, dask.array<...>)
    """

    # Which positives are trimmed is not written anywhere: blocks are scored again whenever they are read.
    trimming: Trimming | None = None

    def __init__(
        self,
        X: Collection,
        y: Collection,
        sample_weight: Collection | None = None,
        *,
        client: Client | None = None,
    ) -> None:
        connected = find_client(client)
        collections = {"X": X, "y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
        for argument, collection in collections.items():
            check_collection(argument, collection)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, found {X.ndim}.")
        self.dtype, self.n_features = float_type(X), int(X.shape[1])
        columns = list(X.columns) if hasattr(X, "columns") else []
        are_names = bool(columns) and all(isinstance(name, str) for name in columns)
        self.feature_names = columns if are_names else None
        parts = aligned_parts(collections)
        delayed = import_optional("dask", "dask").delayed(checked_rows, pure=False)
        expected = columns or self.n_features
        self.partitions = Partitions.from_delayed(
            connected, [delayed(number, self.dtype, expected, *part) for number, part in enumerate(parts)]
        )
        lengths, labels, medians = zip(*self.partitions.map(_summary), strict=True)
        self.n_rows = sum(lengths)
        filled = [median for median in medians if median is not None]
        self.reference = np.median(filled, axis=0) if filled else np.zeros(self.n_features)
        self.classes, _ = two_classes(joined_labels(labels))
        self.targets = self.partitions.derive(_target, self.classes[1])
        weights = np.sum(self.targets.map(class_weights), axis=0)
        check_both_classes(*(int(weight > 0.0) for weight in weights))
        self.class_weights = float(weights[0]), float(weights[1])

    def map(self, function: Callable[[Blocks], Mapped]) -> list[Mapped]:
        """Return the function's value for the blocks of each partition, in one round."""
        # Only the function goes to the rows, and the cut with it: two numbers and the coefficients.
        if self.trimming is not None:
            function = partial(map_trimmed, function=function, trimming=self.trimming)
        return self.map_all(function)

    def map_all(self, function: Callable[[Blocks], Mapped]) -> list[Mapped]:
        """Return the function's value for the blocks of each partition, whichever positives are trimmed."""
        return self.partitions.map(on_blocks, self.targets, self.reference, function)

    def value_parts(self, method: Callable[..., Values], coef: NDArray[np.floating]) -> ValueParts:
        """Return what a method of ``Block`` returns for coefficients, such as scores, kept on the workers."""
        return self.partitions.derive(on_block, self.targets, self.reference, method, coef)

    def score_parts(self, coef: NDArray[np.floating]) -> ValueParts:
        """Return the scores by coefficients of the features, in their dtype, with the rows' weights."""
        return self.value_parts(Block.raw_scores, coef)

    def highest_positives(self, coef: Floats, total: Any, scores: Floats | None = None) -> Self:  # noqa: ARG002
        """Return the rows with no positives but the highest, of a total weight; ties share it equally."""
        chosen = copy(self)
        negated_scores = self.value_parts(Block.negated_positive_scores, coef)
        chosen.trimming = Trimming(coef, highest_cut(negated_scores, total))
        chosen.class_weights = (total, self.class_weights[1])
        return chosen

    def same_positives(self, other: Self) -> bool:
        """Return whether the same positives have the same weights."""
        same = partial(are_trimmed_equally, trimming=self.trimming, other=other.trimming)
        return all(self.map_all(same))

    def trimmed_positives(self) -> None:
        """Return None: the indices, as many as there are rows, would have to travel to the client."""

    def check_range(self) -> None:
        """Raise a ValueError when a column's squares are no normal floats."""
        parts = self.map(partial(column_sums, n_features=self.n_features))
        check_column_range(np.sum(parts, axis=0))

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse: all rows would be taken into memory, and functions that split rows ask for that."""
        raise TypeError("DaskRows are not taken into memory: choose parameters on a sample of the rows.")


def map_trimmed(blocks: Blocks, function: Callable[[Blocks], Mapped], trimming: Trimming) -> Mapped:
    """Return a function of trimmed blocks."""
    return function(block.trimmed(*trimming) for block in blocks)


def are_trimmed_equally(blocks: Blocks, trimming: Trimming | None, other: Trimming | None) -> bool:
    """Return whether two trimmings leave the same weights."""
    both = ((full_log_weights(block, trimming), full_log_weights(block, other)) for block in blocks)
    return all(np.array_equal(mine, others) for mine, others in both)


def full_log_weights(block: Block, trimming: Trimming | None) -> Floats:
    """Return the logarithms of the weights that trimming leaves, zeros where all rows weigh one."""
    if trimming is not None:
        block = block.trimmed(*trimming)
    return np.zeros(len(block.class_codes)) if block.log_weights is None else block.log_weights


def column_sums(blocks: Blocks, n_features: int) -> Floats:
    """Return the sums of the columns and of their squares, shape (2, n_features)."""
    sums = np.zeros((2, n_features))
    for block in blocks:
        sums += block.model.column_sums(block.first, block.last)
    return sums


def on_blocks(
    rows: PartitionRows, target: PartitionTarget, reference: Floats, function: Callable[[Blocks], Mapped]
) -> Mapped:
    """Return a function of the blocks of a partition's rows."""
    n_rows = rows.X.shape[0]
    if not n_rows:
        return function(())
    return function(cut_blocks(LinearModel(rows.X, reference=reference), 0, n_rows, *target))


def on_block(
    rows: PartitionRows, target: PartitionTarget, reference: Floats, method: Callable[..., Values],
    coef: NDArray[np.floating],
) -> Values:  # fmt: skip
    """Return the result of a method of ``Block`` for all rows of a partition."""
    n_rows = rows.X.shape[0]
    # The sums of a sparse matrix count entries per row, and need at least one row.
    X = rows.X if n_rows else np.zeros(rows.X.shape)
    return method(Block(LinearModel(X, reference=reference), 0, n_rows, *target), coef)


def find_client(client: Client | None) -> Client:
    """Return a connected client: the given one, or for None the latest."""
    distributed = import_optional("distributed", "dask")
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "found no client of a Dask cluster: make one by distributed.Client(), or pass it as client."
            ) from error
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client must be None or a distributed.Client, got {client!r}; pass Client(it).")
    if client.status != "running" or client.asynchronous:
        state = "asynchronous" if client.asynchronous else client.status
        raise ValueError(f"client must be connected and synchronous, and is {state}; make another one.")
    # A task gives its thread back to the worker, which needs it for the tasks of the fit. Outside of tasks,
    # and in a task that has already seceded, there is no thread to give back.
    with suppress(ValueError, KeyError):
        distributed.secede()
    return client


def check_collection(name: str, collection: Collection) -> None:
    """Raise unless an argument is a Dask array or data frame."""
    # Bags and delayed values do not declare the type of their contents.
    if not (import_optional("dask", "dask").is_dask_collection(collection) and hasattr(collection, "_meta")):
        raise TypeError(
            f"{name} must be a Dask array or data frame, and is {type(collection).__name__}: convert it, for "
            "example by dask.array.from_array, or use arrays in memory without Dask."
        )


def aligned_parts(collections: dict[str, Collection]) -> list[tuple[Delayed, ...]]:
    """Return, for each partition of the first of some collections, the delayed partitions of all."""
    first = next(iter(collections))
    first_lengths = chunk_lengths(collections[first])
    matched = []
    for name, collection in collections.items():
        lengths = chunk_lengths(collection)
        if first_lengths and lengths and sum(lengths) != sum(first_lengths):
            raise ValueError(
                f"{name} has {sum(lengths)} rows for {sum(first_lengths)} of {first}; they must agree."
            )
        if hasattr(collection, "chunks"):
            by_row = {0: first_lengths or lengths} if lengths else {}
            collection = collection.rechunk(by_row | ({1: -1} if collection.ndim == 2 else {}))
        matched.append(collection)
    delayed = _delayed_parts(matched)
    counts = [len(parts) for parts in delayed]
    if len(set(counts)) > 1:
        numbers = ", ".join(f"{count} of {name}" for name, count in zip(collections, counts, strict=True))
        raise ValueError(
            f"found {numbers} partitions, which must match row by row: repartition them in the same way. "
            "Dask may join several Parquet files in a partition of few columns: take these from a persisted "
            "table."
        )
    return list(zip(*delayed, strict=True))


def _delayed_parts(collections: list[Collection]) -> list[list[Delayed]]:
    # Arrays share one graph, so that their common inputs are loaded once; dask.optimize would load them for
    # each. Frames are only simplified, because the optimiser would join the files of those of few columns.
    array, core = import_optional("dask.array", "dask"), import_optional("dask.core", "dask")
    delayed = import_optional("dask.delayed", "dask").Delayed
    merge = import_optional("dask.highlevelgraph", "dask").HighLevelGraph.merge
    arrays = [c for c in collections if hasattr(c, "chunks")]
    keys = [one.__dask_keys__() for one in arrays]
    merged = merge(*(one.dask for one in arrays))
    graph = dict(array.optimization.optimize(merged, keys))
    array_parts = iter([[delayed(key, graph) for key in core.flatten(nested)] for nested in keys])
    return [
        next(array_parts) if hasattr(c, "chunks") else c.simplify().to_delayed(optimize_graph=False)
        for c in collections
    ]


def chunk_lengths(collection: Collection) -> tuple[int, ...]:
    """Return the numbers of rows in the chunks of an array; nothing where Dask does not know them."""
    chunks: tuple[int, ...] = getattr(collection, "chunks", ((),))[0]
    return () if np.isnan(chunks).any() else chunks


def float_type(X: Collection) -> np.dtype[np.floating]:
    """Return float32 if all columns of a collection are float32, else float64."""
    types = dict(X.dtypes) if hasattr(X, "dtypes") else {"": X.dtype}
    for name, dtype in types.items():
        if name != "" and not import_optional("pandas", "dask").api.types.is_numeric_dtype(dtype):
            raise ValueError(
                f"column {name!r} of X holds {dtype}, and features must be numbers: encode it, for example "
                "by dask.dataframe.get_dummies, or leave it out."
            )
    is_plain = all(isinstance(dtype, np.dtype) for dtype in types.values())
    is_single = is_plain and np.result_type(*types.values()) == np.float32
    return np.dtype(np.float32 if is_single else np.float64)


def checked_rows(
    number: int, dtype: DTypeLike, columns: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> PartitionRows:
    """Return the checked rows of a partition; its number and the expected columns are for messages."""
    try:
        present = list(X.columns) if isinstance(columns, list) else X.shape[1]
        if present != columns:
            raise ValueError(f"found the columns {present}, but the collection X has {columns}.")
        X = checked_entries(X)
        X = check_array(X, accept_sparse="csr", dtype=dtype, ensure_min_samples=0, input_name="X")
        labels = checked_labels(y)
        check_consistent_length(X, labels)
        return PartitionRows(X, labels, row_weights(sample_weight, len(labels)))
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error


def checked_labels(y: ArrayLike) -> GenericArray:
    labels: GenericArray = column_or_1d(np.asarray(plain_labels(y)))
    if len(labels):
        # A missing label is an error here.
        some = distinct(labels)[0]
        if labels.dtype.kind in "OV" and not isinstance(some, str):
            raise ValueError(
                f"y has dtype {labels.dtype}, with values such as {some!r}; make it numbers or text."
            )
    return labels


def joined_labels(parts: Iterable[GenericArray]) -> GenericArray:
    """Return the distinct labels of all partitions, concatenated."""
    filled = [labels for labels in parts if len(labels)]
    # NumPy would turn numbers among texts into texts.
    if len({isinstance(labels[0], str) for labels in filled}) > 1:
        raise ValueError("y holds texts in some partitions and numbers in others; give it one type.")
    return np.concatenate(filled or [np.zeros(0)])


def _summary(rows: PartitionRows) -> tuple[int, GenericArray, Floats | None]:
    """Return the number of rows, the distinct labels, and the median of a few dense rows."""
    n_rows = len(rows.labels)
    if not n_rows:
        return 0, rows.labels, None
    return n_rows, distinct(rows.labels)[:MAX_LABELS], None if sp.issparse(rows.X) else median_row(rows.X)


def _target(rows: PartitionRows, positive: Label) -> PartitionTarget:
    """Return the class codes and weights of a partition."""
    with np.errstate(divide="ignore"):
        log_weights = None if rows.weights is None else np.log(rows.weights)
    return PartitionTarget((rows.labels == positive).astype(np.uint8), log_weights)


def class_weights(target: PartitionTarget) -> Floats:
    """Return the weight of a partition's positives and negatives."""
    weights = None if target.log_weights is None else np.exp(target.log_weights)
    return np.bincount(target.class_codes, weights, 2)[::-1].astype(np.float64)
