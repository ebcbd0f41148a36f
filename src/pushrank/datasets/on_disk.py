"""Rows of two classes in a file, for fits to more of them than memory holds."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from pushrank._numeric import Floats
from pushrank._optional import import_optional
from pushrank._validation import (
    BadRowError,
    check_number,
    check_ordered_categorical,
    checked_weights,
    column,
    distinct,
    not_two_classes,
)
from pushrank.datasets.parquet import CHUNK_BYTES, ParquetBatches

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FORMAT = 1  # of the files; another number is written anew
MEMORY_BUDGET = 1 << 30
MIN_BUDGET = 1 << 20
BATCHES_IN_BUDGET = 8  # a batch that is converted lies in memory about four times, beside its row group
N_CLASSES = 2
MAX_LABELS = 5  # that a message tells


class DiskRows:
    """Keep rows of two classes on disk in the form that a fit reads, pass after pass, block by block.

    They are read once from where they come, checked, and written as plain numbers. Fits to them, which take
    this for ``X``, hold blocks of rows in memory, whatever the number of rows.

    Parameters
    ----------
    X : str, Path, list of such, pyarrow dataset, or iterable of blocks
        Parquet files, those of a dataset without columns from folder names and without a filter; or an
        iterable of ``(X, y)`` or ``(X, y, sample_weight)``, dense rows with their labels and weights, read
        once.
    y : str or array-like of shape (n_rows,), optional
        Of Parquet files the column of the labels, or the labels themselves; None for blocks. The larger of
        the two labels is the positive class.
    sample_weight : str or array-like of shape (n_rows,), optional
        Of Parquet files the column of non-negative weights, or the weights themselves.
    features : list of str, default=None
        Of Parquet files the columns of features, as in :class:`ParquetBatches`.
    dtype : {"float32", "float64"}, default=None
        The type of the features in the file, and of coefficients. None is float32 where all columns (the
        first block) have it, otherwise float64.
    cache_dir : str or Path, default=None
        The folder of a file that is kept until you remove it. Another fit to the same Parquet files, as told
        by their names, sizes and times of change, reads it instead of them. One process writes in a folder at
        a time, and removes what one that was killed has left (not on Windows, where nothing is locked).
        None, and for blocks, stands for a nameless file beside the first Parquet file (blocks: in the folder
        for temporary files, or in ``cache_dir``), which is gone when this object is closed or the process
        ends, however it ends.
    memory_budget : int, default=1073741824
        About how many bytes of rows are held while Parquet files are read, and in a block that iterating
        yields, at least 1048576; a row group is held beside it, and blocks are held as they come. A fit holds
        some megabytes for each thread and up to 64 matrices of features by features, whatever this is.

    Attributes
    ----------
    n_rows, n_features : int
        How many there are.
    classes : ndarray of shape (2,)
        The two labels, sorted.
    class_weights : tuple of float
        The total weight of the positives and of the negatives.
    feature_names : list of str or None
        The columns, where they have names.
    dtype : dtype
        That of the features.

    Raises
    ------
    ValueError
        When there are not two classes with a weight, a value is missing, infinite or no number, or a block
        has other columns than the first.
    TypeError
        When blocks are not what they should be, or a parameter has the wrong type.
    OSError
        When the disk has not enough room, or a file changes while it is read.

    Notes
    -----
    A row takes ``n_features * dtype.itemsize + 1`` bytes, 8 more with weights. Iterating over the object
    yields blocks as it takes them, so that ``fit_stream`` of :class:`pushrank.PerceptronAtK` and
    :class:`pushrank.SGDAtK` reads it too. Parquet keeps the rows of a group compressed together, for which
    pyarrow takes memory of its own: write groups of at most some hundred megabytes.

    Examples
    --------
    >>> import numpy as np
    >>> from pushrank import PNormPush
    >>> rng = np.random.default_rng(0)
    >>> def blocks():
    ...     for _ in range(10):
    ...         X = rng.normal(size=(1000, 3))
    ...         yield X, X[:, 0] > 1
    >>> with DiskRows(blocks()) as rows:
    ...     ranker = PNormPush(p=8).fit(rows)
    >>> rows.n_rows, ranker.converged_
    (10000, True)
    """

    def __init__(
        self,
        X: Any,
        y: str | ArrayLike | None = None,
        sample_weight: str | ArrayLike | None = None,
        *,
        features: Sequence[str] | None = None,
        dtype: Any = None,
        cache_dir: str | Path | None = None,
        memory_budget: int = MEMORY_BUDGET,
    ) -> None:
        check_number("memory_budget", memory_budget, MIN_BUDGET, integer=True)
        if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32, float64 or None, got {dtype!r}.")
        self.memory_budget, self._lock = int(memory_budget), Lock()
        paths = parquet_paths(X)
        if paths is None:
            if y is not None or sample_weight is not None or features is not None:
                raise ValueError(
                    "y, sample_weight and features are for Parquet files: an iterable yields blocks (X, y) "
                    "or (X, y, sample_weight)."
                )
            folder = Path(cache_dir or tempfile.gettempdir())
            with _told_where(folder):
                folder.mkdir(parents=True, exist_ok=True)
            self._write_temporary(_Blocks(X, None if dtype is None else np.dtype(dtype)), folder)
            return
        batches = ParquetBatches(
            paths,
            y if isinstance(y, str) else None,
            features=features,
            weight=sample_weight if isinstance(sample_weight, str) else None,
            dtype=dtype,
        )
        batch_bytes = min(CHUNK_BYTES, self.memory_budget // BATCHES_IN_BUDGET)
        batches.chunk_rows = max(1, batch_bytes // (batches.dtype.itemsize * len(batches.feature_names)))
        labels = None if y is None or isinstance(y, str) else column(y, "y")
        weights = None
        if not (sample_weight is None or isinstance(sample_weight, str)):
            weights = checked_weights(sample_weight, batches.n_rows)
        if labels is None and not isinstance(y, str):
            raise ValueError('y is missing: name the column of labels, as in fit("train.parquet", "label").')
        if labels is not None and len(labels) != batches.n_rows:
            raise ValueError(f"y has {len(labels)} entries for {batches.n_rows} rows; they must agree.")
        if isinstance(y, str) and len(batches.classes) != N_CLASSES:
            raise ValueError(not_two_classes(batches.classes))
        blocks = _Blocks(_with_columns(batches, labels, weights), batches.dtype, batches.n_rows)
        blocks.feature_names = batches.feature_names
        before = _fingerprint(paths, batches, labels, weights)
        if cache_dir is None:
            self._write_temporary(blocks, paths[0].parent)
        elif self._opened(folder := Path(cache_dir) / f"pushrank-{before}"):
            return
        else:
            with _told_where(folder.parent):
                folder.parent.mkdir(parents=True, exist_ok=True)
            with _one_writer(folder.parent):
                if not self._opened(folder):
                    self._write_kept(blocks, folder)
        if _fingerprint(paths, batches, labels, weights) != before:
            self.close()
            if cache_dir is not None:
                shutil.rmtree(folder)
            raise OSError(f"a file of {[str(path) for path in paths]} changed while it was read; fit again.")

    def __enter__(self) -> Self:
        """Return the rows, which are closed at the end of the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the files."""
        self.close()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield blocks of ``(X, y)`` or ``(X, y, sample_weight)``."""
        height = max(1, min(CHUNK_BYTES, self.memory_budget // 2) // (self.dtype.itemsize * self.n_features))
        for start in range(0, self.n_rows, height):
            n = min(height, self.n_rows - start)
            X, codes = np.empty((n, self.n_features), self.dtype), np.empty(n, np.uint8)
            weights = np.empty(n if self.weighted else 0)
            self.read(start, X, codes, weights)
            yield X, self.classes[codes], *([weights] if self.weighted else [])

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Refuse: all rows would be taken into memory, and functions that split rows ask for that."""
        raise TypeError(
            "rows on disk are not taken into memory: choose parameters on a sample of the rows, and iterate "
            "over DiskRows for blocks of them."
        )

    def __getstate__(self) -> Any:
        """Refuse: files without a name belong to a process."""
        raise TypeError(
            "DiskRows stay in one process: pass the Parquet files and a cache_dir to each, which makes its "
            "own of them, or let threads share these."
        )

    def close(self) -> None:
        """Close the files; a file without a name is gone then."""
        for file in self._files:
            file.close()

    def read(self, start: int, X: NDArray[Any], codes: NDArray[np.uint8], weights: Floats) -> None:
        """Read rows from ``start`` on into arrays: features, one for a positive, weights if there are any.

        Threads may read side by side. The interpreter lock is free meanwhile.
        """
        if self._files[0].closed:
            raise ValueError("the DiskRows are closed: fit inside of their with block, or make them anew.")
        for file, out in zip(self._files, list[NDArray[Any]]([X, codes, weights]), strict=True):
            if out.size:
                self._read_bytes(file, out.data.cast("B"), start * (out.nbytes // len(out)))
        if self._flipped:
            np.subtract(1, codes, out=codes)

    def _read_bytes(self, file: Any, out: memoryview, offset: int) -> None:
        while len(out):
            if hasattr(os, "preadv"):
                n = os.preadv(file.fileno(), [out], offset)
            else:  # Windows: one file position for all threads
                with self._lock:
                    file.seek(offset)
                    n = file.readinto(out)
            if not n:
                raise OSError(f"the file of {self.n_rows} rows was cut short by others; fit again.")
            out, offset = out[n:], offset + n

    def _write_temporary(self, blocks: _Blocks, folder: Path) -> None:
        check_room(blocks, folder)
        with _told_where(folder):
            files = [tempfile.TemporaryFile(dir=folder, prefix="pushrank-") for _ in range(3)]  # noqa: SIM115
        self._fill(files, blocks, folder)

    def _write_kept(self, blocks: _Blocks, folder: Path) -> None:
        """Write files beside, and rename their folder when they are whole: a killed writer leaves none."""
        check_room(blocks, folder.parent)
        beside = Path(tempfile.mkdtemp(prefix=".pushrank-", suffix=".partial", dir=folder.parent))
        try:
            files = [(beside / name).open("w+b") for name in ("rows", "codes", "weights")]
            self._fill(files, blocks, folder.parent)
            with _told_where(folder.parent):
                for file in files:
                    os.fsync(file.fileno())
            self.close()  # Windows moves no open files
            (beside / "rows.json").write_text(json.dumps(self._manifest))
            if not self._opened(folder):  # by one that was first, where nothing is locked
                shutil.rmtree(folder, ignore_errors=True)  # of another format, or cut short
                beside.rename(folder)
                self._opened(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def _opened(self, folder: Path) -> bool:
        """Open files that another fit has kept; return whether there are such, whole."""
        try:
            manifest = json.loads((folder / "rows.json").read_text())
            self._files = [(folder / name).open("rb") for name in ("rows", "codes", "weights")]
        except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError):
            return False
        sizes = [os.fstat(file.fileno()).st_size for file in self._files]
        if manifest["format"] != FORMAT or manifest["sizes"] != sizes:
            self.close()
            return False
        self._set(manifest)
        return True

    def _fill(self, files: list[Any], blocks: _Blocks, folder: Path) -> None:
        self._files = files
        try:
            for parts in blocks:
                with _told_where(folder):
                    for file, part in zip(files, parts, strict=True):
                        file.write(part)
            with _told_where(folder):
                for file in files:
                    file.flush()
            self._manifest = blocks.manifest() | {"sizes": [file.tell() for file in files]}
        except BaseException:
            for file in files:
                with suppress(OSError):  # what is still in its buffer has no room either
                    file.close()
            raise
        self._set(self._manifest)

    def _set(self, manifest: dict[str, Any]) -> None:
        self.n_rows, self.n_features = manifest["n_rows"], manifest["n_features"]
        self.feature_names: list[str] | None = manifest["feature_names"]
        self.dtype, self.weighted = np.dtype(manifest["dtype"]), manifest["weighted"]
        classes, totals = np.array(manifest["classes"]), manifest["class_weights"]
        # codes are in the order in which labels were first seen
        self._flipped = bool(classes[0] > classes[1])
        self.classes: NDArray[Any] = classes[::-1] if self._flipped else classes
        positive = 0 if self._flipped else 1
        self.class_weights = (float(totals[positive]), float(totals[1 - positive]))


class _Blocks:
    """Blocks as they come, checked; what is known of all of them at the end."""

    def __init__(self, blocks: Any, dtype: Any, n_rows: int | None = None) -> None:
        if not isinstance(blocks, Iterable) or hasattr(blocks, "shape"):
            raise TypeError(
                "X must be Parquet files or an iterable of blocks (X, y) or (X, y, sample_weight), found "
                f"{type(blocks).__name__}; rows in memory go to fit as they are, without DiskRows."
            )
        self._blocks, self.dtype, self.expected_rows = blocks, dtype, n_rows
        self.feature_names: list[str] | None = None
        self.n_rows, self.n_features, self.weighted = 0, 0, False
        self._classes: list[Any] = []
        self._totals = np.zeros(2)

    def __iter__(self) -> Iterator[list[NDArray[Any]]]:
        """Yield features, codes in the order in which the labels were first seen, and weights."""
        for number, block in enumerate(self._blocks):
            if not isinstance(block, tuple | list) or len(block) not in (2, 3):
                raise TypeError(
                    f"block {number} must be (X, y) or (X, y, sample_weight), found {type(block).__name__}."
                )
            X = self._features(block[0], number)
            check_ordered_categorical(block[1])
            labels = column(block[1], "y")
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
            counts = np.bincount(codes, weights if self.weighted else None, 2)
            self._totals += counts
            self.n_rows += len(X)
            yield [X, codes, weights]

    def manifest(self) -> dict[str, Any]:
        """Return what describes the rows, checked as a whole."""
        if not self.n_rows:
            raise ValueError(
                "found no rows: the iterable has no blocks, as a generator has none that was read before; "
                "pass one that begins anew, or DiskRows of it to several fits."
            )
        if len(self._classes) != N_CLASSES:
            raise ValueError(not_two_classes(np.array(self._classes)))
        for label, total in zip(self._classes, self._totals, strict=True):
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
            "classes": self._classes,
            "class_weights": self._totals.tolist(),
        }

    def _features(self, X: Any, number: int) -> NDArray[Any]:
        columns = list(getattr(X, "columns", []))
        names = columns if columns and all(isinstance(name, str) for name in columns) else None
        dtypes = [np.float64, np.float32] if self.dtype is None else self.dtype
        try:
            values: NDArray[Any] = check_array(
                X, dtype=dtypes, order="C", ensure_all_finite=False, ensure_min_samples=0, input_name="X"
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
        # a sum is finite where all are, but for an overflow
        with np.errstate(all="ignore"):
            total = values.sum()
        if not np.isfinite(total) and not (finite := np.isfinite(values)).all():
            row, place = np.argwhere(~finite)[0]
            what = "NaN" if np.isnan(values[row, place]) else "infinity"
            name = place if self.feature_names is None else repr(self.feature_names[place])
            raise ValueError(
                f"X contains {what} in row {self.n_rows + row}, column {name}; impute it or leave the row "
                "out."
            )
        return values

    def _weights(self, sample_weight: Any, n_rows: int) -> Floats:
        try:
            return checked_weights(sample_weight, n_rows)
        except BadRowError as error:
            raise ValueError(error.said_of(f"row {self.n_rows + error.row}")) from error

    def _codes(self, labels: NDArray[Any], number: int) -> NDArray[np.uint8]:
        try:
            found = distinct(labels)
            if found.dtype.kind in "OmMSV" and not isinstance(found[0], str):
                raise ValueError(
                    f"labels have dtype {found.dtype}, as of {found[0]!r}; make them numbers or text."
                )
            check_classification_targets(found)
        except (TypeError, ValueError) as error:
            raise type(error)(f"block {number}: {error}") from error
        self._classes += [label for label in found.tolist() if label not in self._classes]
        if len({isinstance(label, str) for label in self._classes}) > 1:
            some = self._classes[:MAX_LABELS]
            raise ValueError(f"block {number}: labels are texts and numbers, {some}; give them one type.")
        if len(self._classes) > N_CLASSES:
            raise ValueError(not_two_classes(np.array(self._classes)))
        return np.asarray(labels != self._classes[0], dtype=np.uint8)


def parquet_paths(X: Any) -> list[Path] | None:
    """Return the Parquet files that a path, a list of paths or a pyarrow dataset names; None for others.

    Raises
    ------
    ValueError
        When a pyarrow dataset is not of Parquet files alone, as they are.
    """
    if isinstance(X, str | Path):
        return [Path(X)]
    if isinstance(X, list | tuple) and X and all(isinstance(path, str | Path) for path in X):
        return [Path(path) for path in X]
    if type(X).__module__.startswith("pyarrow") and hasattr(X, "get_fragments"):
        _check_dataset(X)
        return [Path(path) for path in X.files]
    return None


def _check_dataset(dataset: Any) -> None:
    form = getattr(getattr(dataset, "format", None), "default_extname", None)
    if form != "parquet" or dataset.filesystem.type_name != "local":
        raise ValueError(
            "a pyarrow dataset must be one of Parquet files on this machine; pass an iterable of blocks."
        )
    keys = import_optional("pyarrow.dataset", "io").get_partition_keys
    # of a filtered dataset pyarrow refuses to tell the fragments
    of_folders = {key for part in dataset.get_fragments() for key in keys(part.partition_expression)}
    if of_folders:
        raise ValueError(
            f"columns {sorted(of_folders)} come from the names of folders, and files are read as they are: "
            "pass dataset.files where these columns may be left out, or an iterable of blocks."
        )


def check_room(blocks: Any, folder: Path) -> None:
    """Raise an OSError when a folder's disk has not the room that rows of a known number need."""
    if blocks.expected_rows is None:
        return
    row_bytes = blocks.dtype.itemsize * len(blocks.feature_names) + 9
    needed, free = blocks.expected_rows * row_bytes, shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(
            errno.ENOSPC,
            f"the rows take {needed:.2e} bytes and {folder} has {free:.2e}; name a cache_dir with more room",
        )


def _with_columns(
    batches: ParquetBatches, labels: NDArray[Any] | None, weights: Floats | None
) -> Iterator[tuple[Any, ...]]:
    """Yield the batches with labels and weights that are not columns of theirs."""
    start = 0
    for X, *columns in batches:
        rows = slice(start, start + len(X))
        start += len(X)
        y = columns.pop(0) if labels is None else labels[rows]
        yield X, y, *columns, *([] if weights is None else [weights[rows]])


@contextmanager
def _one_writer(folder: Path) -> Iterator[None]:
    """Wait until no other process writes in a folder, and remove what one that was killed has left."""
    with _told_where(folder):
        lock = (folder / ".pushrank.lock").open("a")
    with lock:
        if fcntl is not None:  # otherwise several may write, each beside the others
            with _told_where(folder):
                fcntl.flock(lock, fcntl.LOCK_EX)
            for beside in folder.glob(".pushrank-*.partial"):
                shutil.rmtree(beside)
        yield


@contextmanager
def _told_where(folder: Path) -> Iterator[None]:
    """Say of an error of writing where that was, and what to do."""
    try:
        yield
    except OSError as error:
        told = f"rows cannot be written in {folder} ({error.strerror}); name another cache_dir"
        raise OSError(error.errno, told) from error


def _fingerprint(
    paths: list[Path], batches: ParquetBatches, labels: NDArray[Any] | None, weights: Floats | None
) -> str:
    """Return what tells files, columns and arrays from others."""
    stats = [path.stat() for path in paths]
    files = [
        (str(path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        for path, stat in zip(paths, stats, strict=True)
    ]
    columns = [FORMAT, batches.feature_names, batches.label, batches.weight, batches.dtype.name]
    return str(joblib.hash([files, columns, labels, weights]))
