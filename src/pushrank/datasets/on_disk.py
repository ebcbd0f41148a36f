"""Rows of two classes on disk, for fits to more of them than memory holds."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Self
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.utils import _safe_indexing, check_array, check_consistent_length

from pushrank._numeric import Floats
from pushrank.datasets.parquet import CHUNK_BYTES, ParquetBatches
from pushrank.user_types import GenericArray, Label, MatrixLike
from pushrank.validation import (
    BadRowError,
    checked_entries,
    checked_weights,
    column,
    distinct,
    not_two_classes,
    plain_labels,
)

FORMAT = 1
FILES = ("rows", "codes", "weights")
MANIFEST = "rows.json"
N_CLASSES = 2


class DiskRows:
    """Rows of two classes in a folder, as plain numbers that a fit reads block by block, pass after pass.

    :meth:`write` checks rows and writes the folder, once; ``DiskRows(path)`` opens it. Fits take this for
    ``X`` and hold blocks of rows in memory, whatever the number of rows.

    A row takes ``n_features * dtype.itemsize + 1`` bytes, 8 more with a weight. Iterating over the object
    yields blocks of ``(X, y)`` or ``(X, y, sample_weight)``, so that ``fit_stream`` of
    :class:`pushrank.PerceptronAtK` and :class:`pushrank.SGDAtK` takes it too. Files are opened for each read:
    there is nothing to close, and several threads and processes may fit to the same folder.

    Parameters
    ----------
    path : str or Path
        A folder that :meth:`write` has written.

    Attributes
    ----------
    path : Path
        The folder. Remove it when it is no longer needed.
    n_rows, n_features : int
        The numbers of rows and of features.
    classes : ndarray of shape (2,)
        The two labels, sorted; the larger is the positive class.
    class_weights : tuple of float
        The total weight of the positives and of the negatives.
    feature_names : list of str or None
        The names of the features, where they have names.
    dtype : dtype
        The type of the features.
    weighted : bool
        Whether the rows have sample weights.

    Raises
    ------
    FileNotFoundError
        When the folder holds no rows.
    ValueError
        When another version has written them, or a file is not as long as it was.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pushrank import PNormPush
    >>> rng = np.random.default_rng(0)
    >>> def blocks():
    ...     for _ in range(10):
    ...         X = rng.normal(size=(1000, 3))
    ...         yield X, X[:, 0] > 1
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = DiskRows.write(f"{folder}/rows", blocks())
    ...     ranker = PNormPush(p=8).fit(rows)
    >>> rows.n_rows, ranker.converged_
    (10000, True)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            manifest = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(
                f"{path} holds no rows: write them first, by DiskRows.write({str(path)!r}, X, y)."
            ) from None
        if manifest["format"] != FORMAT:
            raise ValueError(f"{path} was written by another version of pushrank: write the rows again.")
        self.n_rows, self.n_features = manifest["n_rows"], manifest["n_features"]
        self.feature_names: list[str] | None = manifest["feature_names"]
        self.dtype, self.weighted = np.dtype(manifest["dtype"]), manifest["weighted"]
        # Codes count the labels in the order in which writing met them; reading flips them where that is not
        # the sorted order.
        labels, totals = np.array(manifest["labels"]), manifest["totals"]
        self._flipped = bool(labels[0] > labels[1])
        self.classes: GenericArray = np.sort(labels)
        positive = 0 if self._flipped else 1
        self.class_weights = (float(totals[positive]), float(totals[1 - positive]))
        sizes = [(self.path / name).stat().st_size for name in FILES]
        if sizes != manifest["sizes"]:
            raise ValueError(f"the files in {path} are not as long as they were: write the rows again.")

    @classmethod
    def write(
        cls,
        path: str | Path,
        X: str | Path | MatrixLike | Iterable[Sequence[MatrixLike]],
        y: str | ArrayLike | None = None,
        sample_weight: str | ArrayLike | None = None,
        *,
        features: Sequence[str] | None = None,
        dtype: DTypeLike | None = None,
    ) -> Self:
        """Check rows, write them to a new folder, and return them.

        Beside a block, which for Parquet files is 32 MiB, memory holds what Parquet keeps compressed
        together, a row group: write groups of at most some hundred megabytes. Rows are written to a hidden
        folder beside ``path``, which is then renamed; a process that is killed leaves it behind.

        Parameters
        ----------
        path : str or Path
            The folder, which must not exist. It appears when all rows are written.
        X : str, Path, list of such, array-like of shape (n_rows, n_features), or iterable of blocks
            Parquet files; or dense rows, such as a memory map or a data frame; or an iterable of ``(X, y)``
            or ``(X, y, sample_weight)``, dense rows with their labels and weights, which is read once.
        y : str or array-like of shape (n_rows,), optional
            The column of Parquet files that holds the labels, or those of an array.
        sample_weight : str or array-like of shape (n_rows,), optional
            The column of Parquet files that holds non-negative weights, or those of an array.
        features : list of str, optional
            The columns of Parquet files that are features, as in :class:`ParquetBatches`.
        dtype : {"float32", "float64"}, optional
            The type of the features on disk, and of coefficients. None is float32 where all columns of
            Parquet files, or the first block, have it, otherwise float64.

        Returns
        -------
        DiskRows
            The rows in the folder.

        Raises
        ------
        ValueError
            When there are not two classes with a weight, a value is missing, infinite or no number, or a
            block has other columns than the first.
        TypeError
            When X or a block has the wrong type.
        FileExistsError
            When the folder exists.
        OSError
            When the disk has not enough room, or a file cannot be read or written.
        """
        folder = Path(path)
        if folder.exists():
            raise FileExistsError(f"{folder} exists: open it by DiskRows({str(path)!r}), or remove it first.")
        if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32, float64 or None, got {dtype!r}.")
        blocks = _checked_blocks(X, y, sample_weight, features, dtype)
        # Rows that are not whole must not be taken for rows: the folder gets its name at the end.
        beside = folder.with_name(f".{folder.name}-{uuid4().hex}")
        try:
            with _naming(folder.parent):
                beside.mkdir(parents=True)
            free = shutil.disk_usage(beside).free
            if blocks.n_bytes > free:
                needed = f"the rows take {blocks.n_bytes:.2e} bytes and {folder.parent} has {free:.2e}"
                raise OSError(errno.ENOSPC, f"{needed}; name a folder with room")
            _write_files(beside, blocks)
            with _naming(folder.parent):
                beside.rename(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        return cls(folder)

    def __iter__(self) -> Iterator[tuple[GenericArray, ...]]:
        """Yield blocks of ``(X, y)`` or ``(X, y, sample_weight)``."""
        height = max(1, CHUNK_BYTES // (self.dtype.itemsize * self.n_features))
        for start in range(0, self.n_rows, height):
            n = min(height, self.n_rows - start)
            X, codes = np.empty((n, self.n_features), self.dtype), np.empty(n, np.uint8)
            weights = np.empty(n if self.weighted else 0)
            self.read(start, X, codes, weights)
            yield X, self.classes[codes], *([weights] if self.weighted else [])

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse: all rows would be taken into memory, and functions that split rows ask for that."""
        raise TypeError(
            "rows on disk are not taken into memory: choose parameters on a sample of the rows, and iterate "
            "over DiskRows for blocks of them."
        )

    def read(self, start: int, X: GenericArray, codes: NDArray[np.uint8], weights: Floats) -> None:
        """Read rows from ``start`` on into arrays: features, one for a positive, weights if there are any."""
        # Threads may read side by side; the interpreter lock is free meanwhile.
        for name, out in zip(FILES, list[GenericArray]([X, codes, weights]), strict=True):
            if not out.size:
                continue
            # The files are read explicitly: the pages of a memory map count as memory of the process.
            with (self.path / name).open("rb") as file:
                file.seek(start * (out.nbytes // len(out)))
                if file.readinto(out.data.cast("B")) < out.nbytes:
                    raise OSError(f"{self.path / name} was cut short: write the rows again.")
        if self._flipped:
            np.subtract(1, codes, out=codes)


@dataclass
class _Blocks:
    """Checked blocks of rows, and what they add up to once all have been read."""

    blocks: Iterable[Sequence[MatrixLike]]
    dtype: DTypeLike | None
    feature_names: list[str] | None = None
    n_bytes: int = 0
    n_rows: int = 0
    n_features: int = 0
    weighted: bool = False
    labels: list[Label] = field(default_factory=list)
    totals: Floats = field(default_factory=lambda: np.zeros(N_CLASSES))

    def __iter__(self) -> Iterator[list[GenericArray]]:
        """Yield features, codes in the order in which the labels were first met, and weights."""
        for number, block in enumerate(self.blocks):
            if not isinstance(block, tuple | list) or len(block) not in (2, 3):
                raise TypeError(
                    f"block {number} must be (X, y) or (X, y, sample_weight), found {type(block).__name__}."
                )
            X = self._features(block[0], number)
            labels = column(plain_labels(block[1]), "y")
            if len(labels) != len(X):
                raise ValueError(
                    f"block {number} has {len(X)} rows and {len(labels)} labels; they must agree."
                )
            if self.n_rows and (len(block) == 3) != self.weighted:
                raise ValueError(f"block {number}: either all blocks have sample weights or none has.")
            self.weighted = len(block) == 3
            if not len(X):
                continue
            codes = self._codes(labels, number)
            weights = self._weights(block[2], len(X)) if self.weighted else np.zeros(0)
            self.totals += np.bincount(codes, weights if self.weighted else None, N_CLASSES)
            self.n_rows += len(X)
            yield [X, codes, weights]

    def manifest(self) -> dict[str, object]:
        """Return what describes the rows, checked as a whole."""
        if not self.n_rows:
            raise ValueError(
                "found no rows: the iterable has no blocks, as a generator has none that was read before; "
                "pass one that has not been read."
            )
        if len(self.labels) != N_CLASSES:
            raise ValueError(not_two_classes(np.array(self.labels)))
        for label, total in zip(self.labels, self.totals, strict=True):
            if not total > 0.0:
                raise ValueError(
                    f"no row of class {label!r} has a sample_weight above zero; ranking needs at least one "
                    "of each class."
                )
        return {
            "format": FORMAT,
            "n_rows": self.n_rows,
            "n_features": self.n_features,
            "feature_names": self.feature_names,
            "dtype": np.dtype(self.dtype).name,
            "weighted": self.weighted,
            "labels": self.labels,
            "totals": self.totals.tolist(),
        }

    def _features(self, X: MatrixLike, number: int) -> GenericArray:
        columns = list(getattr(X, "columns", []))
        names = columns if columns and all(isinstance(name, str) for name in columns) else None
        dtypes = [np.float64, np.float32] if self.dtype is None else self.dtype
        try:
            values: GenericArray = check_array(
                checked_entries(X),
                dtype=dtypes,
                order="C",
                ensure_all_finite=False,
                ensure_min_samples=0,
                input_name="X",
            )
        except (TypeError, ValueError) as error:
            raise type(error)(f"block {number}: {error}") from error
        self.dtype = values.dtype
        if not self.n_features:
            self.n_features = values.shape[1]
            if self.feature_names is None:
                self.feature_names = names
        if values.shape[1] != self.n_features or (names or self.feature_names) != self.feature_names:
            found = f"{values.shape[1]} columns" if names is None else f"the columns {names}"
            raise ValueError(
                f"block {number} has {found}, and the first one {self.feature_names or self.n_features}; "
                "they must be alike."
            )
        # One sum is quicker than a test of every value. It is finite where all values are, but it may also
        # overflow, so that the values are tested where it is not.
        with np.errstate(all="ignore"):
            total = values.sum()
        if np.isfinite(total) or (finite := np.isfinite(values)).all():
            return values
        row, j = np.argwhere(~finite)[0]
        what = "NaN" if np.isnan(values[row, j]) else "infinity"
        name = j if self.feature_names is None else repr(self.feature_names[j])
        raise ValueError(
            f"X contains {what} in row {self.n_rows + row}, column {name}; impute it or leave the row out."
        )

    def _weights(self, sample_weight: ArrayLike, n_rows: int) -> Floats:
        try:
            return checked_weights(sample_weight, n_rows)
        except BadRowError as error:
            raise ValueError(error.message_for(f"row {self.n_rows + error.row}")) from error

    def _codes(self, labels: GenericArray, number: int) -> NDArray[np.uint8]:
        try:
            classes = distinct(labels)
            if classes.dtype.kind in "OmMSV" and not isinstance(classes[0], str):
                raise ValueError(
                    f"labels have dtype {classes.dtype}, as of {classes[0]!r}; make them numbers or text."
                )
        except (TypeError, ValueError) as error:
            raise type(error)(f"block {number}: {error}") from error
        self.labels += [label for label in classes.tolist() if label not in self.labels]
        if len({isinstance(label, str) for label in self.labels}) > 1:
            some = self.labels[:5]
            raise ValueError(f"block {number}: labels are texts and numbers, {some}; give them one type.")
        if len(self.labels) > N_CLASSES:
            raise ValueError(not_two_classes(np.array(self.labels)))
        return np.asarray(labels != self.labels[0], dtype=np.uint8)


def _checked_blocks(
    X: Any,
    y: str | ArrayLike | None,
    sample_weight: str | ArrayLike | None,
    features: Sequence[str] | None,
    dtype: DTypeLike | None,
) -> _Blocks:
    """Return the blocks that X stands for: those of Parquet files, of an array, or its own."""
    dtype = None if dtype is None else np.dtype(dtype)
    if isinstance(X, str | Path) or (isinstance(X, list) and X and isinstance(X[0], str | Path)):
        if not (isinstance(y, str) and isinstance(sample_weight, str | None)):
            raise ValueError(
                "y is missing: name the column of labels, and one of weights where there is one, as in "
                'write(folder, files, "label", "weight").'
            )
        batches = ParquetBatches(X, y, features=features, weight=sample_weight, dtype=dtype)
        if len(batches.classes) != N_CLASSES:
            raise ValueError(not_two_classes(batches.classes))
        row_bytes = batches.dtype.itemsize * len(batches.feature_names) + 1 + 8 * (sample_weight is not None)
        return _Blocks(batches, batches.dtype, batches.feature_names, batches.n_rows * row_bytes)
    if hasattr(X, "shape"):
        if y is None:
            raise ValueError("y is missing: pass the labels of the rows.")
        return _Blocks(_slices(X, y, sample_weight), dtype)
    if y is not None or sample_weight is not None:
        raise ValueError(
            "y and sample_weight are for Parquet files and arrays: an iterable yields blocks (X, y) or "
            "(X, y, sample_weight)."
        )
    if not isinstance(X, Iterable):
        raise TypeError(
            "X must be Parquet files, an array, or an iterable of blocks (X, y) or (X, y, sample_weight), "
            f"found {type(X).__name__}; pass the files of a pyarrow dataset."
        )
    return _Blocks(X, dtype)


def _slices(*arrays: Any) -> Iterator[tuple[MatrixLike, ...]]:
    """Yield slices of arrays of one length, some of which may be None."""
    check_consistent_length(*arrays)
    some = [array for array in arrays if array is not None]
    n_rows, n_columns = some[0].shape
    height = max(1, CHUNK_BYTES // (8 * max(1, n_columns)))
    for start in range(0, n_rows, height):
        yield tuple(_safe_indexing(array, slice(start, start + height)) for array in some)


def _write_files(folder: Path, blocks: _Blocks) -> None:
    """Write the files of a folder, the manifest last."""
    files = [folder / name for name in FILES]
    for parts in blocks:
        with _naming(folder.parent):
            for path, part in zip(files, parts, strict=True):
                with path.open("ab") as file:
                    file.write(part.data)
    manifest = blocks.manifest()
    with _naming(folder.parent):
        for path in files:
            with path.open("ab") as file:
                # After a crash of the machine a folder must not look whole and hold zeros.
                os.fsync(file.fileno())
        manifest["sizes"] = [path.stat().st_size for path in files]
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


@contextmanager
def _naming(folder: Path) -> Iterator[None]:
    """Add the folder and a hint to an error of writing there."""
    try:
        yield
    except OSError as error:
        message = f"rows cannot be written in {folder} ({error.strerror}); name another folder"
        raise OSError(error.errno, message) from error
