"""The way of the data through a ranker of batches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import validate_data

from pushrank._numeric import Floats
from pushrank._validation import BadRowError, check_k, check_number, check_ordered_categorical, is_count
from pushrank.estimators._base import (
    CoefficientRanker,
    finite_scores,
    linear_scores,
    progress_bar,
    warn,
    warn_of_light_weights,
)
from pushrank.estimators._target import DTYPES, break_even_threshold, row_weights, training_data
from pushrank.exceptions import StreamError
from pushrank.objectives.precision_at_k import place, wrong_at_top
from pushrank.pairs import BipartiteSample
from pushrank.solvers.streaming.updates import Rows, Rule, Stream


class Margins(NamedTuple):
    r"""The three margins of scores, from the weakest to the strongest; all are at most the one before.

    Attributes
    ----------
    weak : float
        The k-th highest positive less the highest negative: k positives stand that far above all negatives.
    average : float
        The mean of the m - k + 1 lowest of m positives, less the highest negative: any that many positives
        stand so far above all negatives on average.
    strong : float
        The lowest positive less the highest negative.
    """

    weak: float
    average: float
    strong: float


def margins(scores: Floats, positive: NDArray[np.bool_], mass: Floats, k: float) -> Margins:
    """Return the margins of scores, where k is at most the positives' mass.

    Kar, Narasimhan and Jain, ICML 2015, definitions 2, 4 and 5. A row of mass w counts as w copies.
    """
    counted = positive & (mass > 0.0)
    rising = np.sort(scores[counted])
    masses = mass[counted][np.argsort(scores[counted], kind="stable")]
    highest = scores[~positive & (mass > 0.0)].max()
    depth = np.cumsum(masses)
    lowest = depth[-1] - k + min(1.0, k)
    held = np.clip(lowest - (depth - masses), 0.0, masses)
    kth = int(np.searchsorted(depth, (1.0 - 1e-12) * lowest))
    average = float(held @ rising / held.sum())
    return Margins(float(rising[kth] - highest), average - float(highest), float(rising[0] - highest))


OF_WHOLE_DATA = (
    "weak_margin_",
    "margin_",
    "strong_margin_",
    "mistake_bound_",
    "validation_path_",
    "best_iter_",
)
THRESHOLD = ("_threshold", "_threshold_rows")

Ranker = TypeVar("Ranker")
Given = ParamSpec("Given")


def all_or_nothing(
    fit: Callable[Concatenate[Ranker, Given], Ranker],
) -> Callable[Concatenate[Ranker, Given], Ranker]:
    """Return a method of a ranker that leaves it as it was where it fails or is interrupted."""

    @wraps(fit)
    def whole(self: Ranker, /, *given: Given.args, **named: Given.kwargs) -> Ranker:
        before = vars(self).copy()
        try:
            return fit(self, *given, **named)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole


class StreamingRanker(CoefficientRanker):
    """A linear ranker that learns from one batch after another.

    A subclass has the constructor parameters ``k``, ``batch_size``, ``max_iter``, ``average``,
    ``early_stopping`` and ``verbose``, and says what a batch teaches.
    """

    _stream: Stream

    @abstractmethod
    def _rule(self) -> Rule:
        """Return what a batch teaches, from checked parameters."""

    @all_or_nothing
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from the next rows of a stream.

        However the rows are cut into calls, the ranker is the one that ``fit`` learns in one pass over all
        of them in the same order. For ``threshold_`` it keeps up to 10,000 of the rows, of 64 MiB at most (or
        one batch, where that is larger), and saves them with the model. After ``fit``, which keeps no rows,
        it goes on from the last pass, and ``threshold_`` stays as it is until as many rows have come as it
        was taken from.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their labels; one class alone will do.
        classes : array-like of shape (2,), optional
            The two classes; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            As for ``fit``.

        Returns
        -------
        self
            The ranker, as if the stream ended here.

        Raises
        ------
        ValueError
            When a parameter is out of range, the classes are not known or not those of earlier calls, or
            (a ``StreamError``, which names the row) a value, a label or a weight is not as it should be; then
            nothing has changed.
        TypeError
            When a parameter has the wrong type.
        """
        self._check_parameters()
        known = self._known_classes(classes)
        begun = hasattr(self, "_stream")
        with row_errors(self._stream.n_rows if begun else 0):
            X, positive = self._checked_chunk(X, y, known, reset=not begun)
            weights = row_weights(sample_weight, len(positive))
            rows = Rows(by_rows(X), positive, np.ones(len(positive)) if weights is None else weights)
            stream = self._stream if begun else Stream.start(self._rule(), int(self.batch_size), X.shape[1])
            self._check_unchanged(stream)
            stream.feed(rows)
        self._stream = stream
        self.classes_ = known
        self._forget(OF_WHOLE_DATA)
        self.n_iter_ = 1
        self._keep(self._learned(), X.dtype)
        if stream.n_sampled_from >= getattr(self, "_threshold_rows", 0):
            self._forget(THRESHOLD)
        return self

    @all_or_nothing
    def fit_stream(self, stream: Iterable[Any], classes: ArrayLike | None = None) -> Self:
        """Learn from chunks of rows that need not fit in memory together.

        Parameters
        ----------
        stream : iterable of (X, y) or (X, y, sample_weight)
            Chunks of any size, empty ones too, such as :class:`pushrank.datasets.ParquetBatches`. What can
            be iterated anew is read ``max_iter`` times, an iterator once. Nothing is shuffled.
        classes : array-like of shape (2,), optional
            The two classes; needed unless the stream has them as its ``classes``.

        Returns
        -------
        self
            The fitted ranker.

        Raises
        ------
        ValueError
            As for ``partial_fit``, and when the stream is empty or cannot be validated on. Then the ranker is
            the one that it was before, as it is where the stream itself fails.
        TypeError
            When a parameter has the wrong type, or the stream gives something other than such chunks.

        Warns
        -----
        UserWarning
            When most batches lack a class.
        """
        self._check_parameters()
        if self.early_stopping:
            raise ValueError("early_stopping needs the data at hand: use fit, or early_stopping=False.")
        check_iterable(stream)
        classes = getattr(stream, "classes", None) if classes is None else classes
        if classes is None:
            raise ValueError(
                "fit_stream needs the two classes, as a chunk may lack one: pass classes, or a stream that "
                "has them as its classes, as ParquetBatches does."
            )
        known = two_classes(classes)
        self._forget(("_stream", "classes_", "coef_", "n_iter_", *THRESHOLD, *OF_WHOLE_DATA))
        once = isinstance(stream, Iterator)
        passes = 1 if once else int(self.max_iter)
        with progress_bar(type(self).__name__, passes, verbose=bool(self.verbose)) as callback:
            for number in range(1, passes + 1):
                before = self._stream.mistakes if number > 1 else 0.0
                for place, chunk in enumerate(stream):
                    X, y, *weights = parts_of(chunk, place)
                    if np.shape(X)[:1] == (0,):
                        continue
                    self.partial_fit(X, y, known, *weights)
                if not hasattr(self, "_stream"):
                    raise ValueError("the stream is empty: it gave no rows to learn from.")
                self._stream.end()
                made = self._stream.mistakes - before
                if callback is not None:
                    callback(number, mistakes_in_pass=made, mistake_rate=self._stream.mistake_rate)
                if self._at_rest(made):
                    self._stream.rest()
                    break
        self.n_iter_ = number
        self._keep(self._learned(), self.coef_.dtype)
        self._settle()
        self._warn_of_skipped()
        return self

    @property
    def n_mistakes_(self) -> float:
        """The number of negatives among the first k of every batch before it was learned from."""
        return self._begun.mistakes

    @property
    def mistake_rate_(self) -> float:
        """Their mean share of k: the online-to-batch estimate of 1 - precision at k."""
        return self._begun.mistake_rate

    @property
    def mistakes_path_(self) -> Floats:
        """Their number after each batch, cumulated, shape (n_batches,)."""
        return np.cumsum(self._begun.wrong_path)

    @property
    def n_batches_(self) -> int:
        """The number of batches seen, over all passes."""
        return len(self._begun.wrong_path)

    @property
    def threshold_(self) -> float:  # type: ignore[override]
        """The break-even point of the scores of a sample of the rows."""
        if not hasattr(self, "_threshold"):
            self._threshold = self._break_even(self._begun.sample_so_far.rows)
        return float(self._threshold)

    @property
    def _begun(self) -> Stream:
        if not hasattr(self, "_stream"):
            raise AttributeError(f"this {type(self).__name__} has not learned from a batch yet.")
        return self._stream

    def _at_rest(self, made: float) -> bool:
        """Return whether more passes would teach nothing: a perceptron made no mistake in the last one."""
        return made == 0.0 and self._rule().is_perceptron

    def _learned(self) -> Floats:
        return self._stream.ended.mean if self.average else self._stream.ended.iterate

    def _keep(self, coef: Floats, dtype: Any) -> None:
        """Set the coefficients; the threshold follows when it is asked for."""
        self.coef_ = coef.astype(dtype, copy=False)

    def _settle(self) -> None:
        """Fix the threshold, and keep no rows: no more are expected."""
        sample = self._stream.sample_so_far.rows
        self._threshold, self._threshold_rows = self._break_even(sample), sample.n_rows
        self._stream.forget_sample()

    def _break_even(self, sample: Rows) -> float:
        """Return the break-even threshold of a sample of the rows."""
        scores = finite_scores(sample.X, self.coef_)
        counted = sample.mass > 0.0
        if not (counted & sample.positive).any():
            return float(scores.max())
        if (counted <= sample.positive).all():
            return float(np.nextafter(scores.min(), -np.inf))
        weights = None if (sample.mass == 1.0).all() else sample.mass
        return break_even_threshold(scores, BipartiteSample.from_mask(sample.positive, weights))

    def _known_classes(self, classes: ArrayLike | None) -> NDArray[Any]:
        begun = hasattr(self, "_stream")
        if classes is None:
            if not begun:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            known: NDArray[Any] = self.classes_
            return known
        given = two_classes(classes)
        if begun and not np.array_equal(given, self.classes_):
            raise ValueError(f"classes={given!r} is not the same as on last call, {self.classes_!r}.")
        return given

    def _checked_chunk(
        self, X: Any, y: ArrayLike, classes: NDArray[Any], *, reset: bool
    ) -> tuple[Any, NDArray[np.bool_]]:
        # values that are not finite are found on the way, which spares a reading of X
        X = validate_data(
            self, X, accept_sparse="csr", dtype=DTYPES, order="C", ensure_all_finite=False, reset=reset
        )
        check_ordered_categorical(y)
        labels = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        positive: NDArray[np.bool_] = labels == classes[1]
        unknown = ~positive & (labels != classes[0])
        if unknown.any():
            row = int(np.argmax(unknown))
            found, known = labels[row : row + 1].tolist()[0], classes.tolist()
            raise BadRowError(row, "", f" has the label {found!r}, which is none of {known}.")
        return X, positive

    def _check_unchanged(self, stream: Stream) -> None:
        if stream.size != self.batch_size or stream.rule != self._rule():
            raise ValueError(
                "parameters have changed in the middle of a stream: set them back, or start anew with "
                "clone(ranker)."
            )

    def _warn_of_skipped(self) -> None:
        skipped, n_batches = self._stream.skipped, self.n_batches_
        if 2 * skipped > n_batches:
            warn(
                f"{type(self).__name__} learned nothing from {skipped} of {n_batches} batches, which had no "
                "positive or no negative row: raise batch_size, or mix rows that are sorted (shuffle=True).",
                UserWarning,
            )

    def _check_parameters(self) -> None:
        check_k(self.k)
        check_number("batch_size", self.batch_size, 1, integer=True)
        check_number("max_iter", self.max_iter, 1, integer=True)
        check_switch("average", self.average)
        check_switch("early_stopping", self.early_stopping)


def check_switch(name: str, value: Any) -> None:
    """Raise unless a constructor parameter is True or False.

    Raises
    ------
    TypeError
        When it is neither.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")


def two_classes(classes: ArrayLike) -> NDArray[Any]:
    """Return the two classes in sorted order.

    Raises
    ------
    ValueError
        When there are not two, or they have no order.
    """
    try:
        given: NDArray[Any] = np.unique(np.asarray(classes))
    except TypeError as error:
        raise ValueError(f"classes must be two labels of one kind, got {classes!r}.") from error
    if len(given) != 2:
        raise ValueError(f"Only binary classification is supported: classes must be two, got {given!r}.")
    return given


def check_iterable(stream: Any) -> None:
    """Raise where a stream cannot be iterated, or is a table of rows.

    Raises
    ------
    TypeError
        When it is neither an iterator nor something that gives one.
    """
    needed = "the stream must be an iterable of chunks (X, y) or (X, y, sample_weight)"
    if hasattr(stream, "shape"):
        raise TypeError(
            f"{needed}, found {_chunk_text(stream)}: use fit for data at hand, or pass [(X, y)] for a "
            "stream of one chunk."
        )
    if not isinstance(stream, Iterable) and not hasattr(stream, "__getitem__"):
        raise TypeError(f"{needed}, found {_chunk_text(stream)}.")


def parts_of(chunk: Any, place: int) -> Any:
    """Return the X and y of a chunk, and its weights if there are any.

    Raises
    ------
    TypeError
        When the chunk is something else.
    """
    if isinstance(chunk, tuple | list) and len(chunk) in (2, 3):
        return chunk
    raise TypeError(
        f"chunk {place} of the stream must be (X, y) or (X, y, sample_weight), found {_chunk_text(chunk)}."
    )


def _chunk_text(value: Any) -> str:
    """Return what kind of thing a value is, and its size."""
    name = type(value).__name__
    if hasattr(value, "shape"):
        return f"{name} of shape {tuple(value.shape)}"
    return f"{name} of length {len(value)}" if isinstance(value, tuple | list) else name


@contextmanager
def row_errors(n_rows: int) -> Iterator[None]:
    """Turn a bad row into an error that names it, in its chunk and in a stream that has had some rows."""
    try:
        yield
    except BadRowError as error:
        in_stream = f" (row {n_rows + error.row} of the stream)" if n_rows else ""
        raise StreamError(error.said_of(f"row {error.row}{in_stream}")) from error


def by_rows(X: Any) -> Any:
    """Return dense data by rows or CSR, in native form; copied only where they are neither."""
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X.tocsr()


class PassingRanker(StreamingRanker):
    """A streaming ranker that also learns from data at hand, in several passes over them.

    A subclass has the constructor parameters ``shuffle``, ``validation_fraction``, ``n_iter_no_change`` and
    ``random_state`` beside those of :class:`StreamingRanker`.
    """

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from examples of two classes, in ``max_iter`` passes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite features; float32 and float64 arrays, dense by rows or CSR, are used where they lie.
        y : array-like of shape (n_samples,)
            Labels of two classes; the larger in sorted order is the positive one, to be ranked at the top.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights: within its batch a row of weight w counts as w copies.

        Returns
        -------
        self
            The fitted ranker.

        Raises
        ------
        ValueError
            When a parameter is out of range, the data are not finite, or ``y`` has not two classes.
        TypeError
            When a parameter has the wrong type.

        Warns
        -----
        UserWarning
            When most batches lack a class, or the mean weight is below a tenth.
        """
        self._check_parameters()
        X, target = training_data(self, X, y, sample_weight)
        positive = np.asarray(target.codes, dtype=bool)
        mass = np.ones(len(positive)) if target.weights is None else target.weights
        warn_of_light_weights(self, mass)
        rows = Rows(by_rows(X), positive, mass)
        self.classes_ = np.asarray(target.classes)
        self._forget(OF_WHOLE_DATA)
        random_state = check_random_state(self.random_state)
        learned, valid = rows, None
        if self.early_stopping:
            learned, valid = self._parts(rows, random_state)
        seed = random_state.randint(np.iinfo(np.int32).max)
        self._stream = Stream.start(self._rule(), int(self.batch_size), X.shape[1])
        with progress_bar(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as callback:
            best = self._passes(learned, valid, seed, callback)
        self._keep(self._learned() if best is None else best, X.dtype)
        self._settle()
        self._measure(learned, self._unit_scores(learned), seed)
        self._warn_of_skipped()
        return self

    def _passes(self, rows: Rows, valid: Rows | None, seed: int, callback: Any) -> Floats | None:
        """Learn from rows pass by pass, and return the best coefficients on the validation part, if any."""
        best, best_score, self.n_iter_ = None, -np.inf, 0
        path = []
        for order in self._orders(rows.n_rows, seed, int(self.max_iter)):
            before = self._stream.mistakes
            with row_errors(0):
                self._stream.feed_whole(rows, order)
            self.n_iter_ += 1
            made = self._stream.mistakes - before
            if callback is not None:
                callback(self.n_iter_, mistakes_in_pass=made, mistake_rate=self._stream.mistake_rate)
            if valid is not None:
                coef = self._learned()
                path.append(self._precision(valid, coef))
                if path[-1] > best_score:
                    best, best_score, self.best_iter_ = coef, path[-1], self.n_iter_
                if self.n_iter_ - self.best_iter_ >= self.n_iter_no_change:
                    break
            elif self._at_rest(made):
                self._stream.rest()
                break
        if valid is not None:
            self.validation_path_ = np.array(path)
        return best

    def _orders(self, n_rows: int, seed: int, passes: int) -> Iterator[NDArray[np.intp]]:
        """Yield the order of the rows in every pass, the same ones whenever asked."""
        random_state = np.random.RandomState(seed)
        for _ in range(passes):
            yield random_state.permutation(n_rows) if self.shuffle else np.arange(n_rows)

    def _parts(self, rows: Rows, random_state: np.random.RandomState) -> tuple[Rows, Rows]:
        numbers = np.flatnonzero(rows.mass > 0.0)
        try:
            learned, valid = train_test_split(
                numbers,
                test_size=self.validation_fraction,
                stratify=rows.positive[numbers],
                random_state=random_state,
            )
        except ValueError as error:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} leaves a part without a class ({error}); "
                "change it or set early_stopping=False."
            ) from error
        return rows.taken(np.sort(learned)), rows.taken(np.sort(valid))

    def _measure(self, rows: Rows, unit_scores: Floats, seed: int) -> None:  # noqa: ARG002
        """Set the margins of the training rows."""
        self.weak_margin_, self.margin_, self.strong_margin_ = margins(
            unit_scores, rows.positive, rows.mass, self._k_of(rows)
        )

    def _unit_scores(self, rows: Rows) -> Floats:
        """Return the scores by the coefficients scaled to unit length."""
        coef = self.coef_.astype(np.float64)
        length = float(np.linalg.norm(coef))
        return linear_scores(rows.X, coef / length if length > 0.0 else coef).astype(np.float64)

    def _precision(self, rows: Rows, coef: Floats) -> float:
        """Return precision at k, which as a number of rows is that of a batch, for as many batches' rows."""
        scores, k = linear_scores(rows.X, coef), self._k_of(rows)
        if is_count(self.k):
            k = min(max(round(self.k * rows.n_rows / self.batch_size), 1), rows.mass[rows.positive].sum())
        return 1.0 - float(wrong_at_top(scores, rows.positive, rows.mass, k)) / k

    def _k_of(self, rows: Rows) -> float:
        """Return k for a whole set of rows, where a number of rows is at most the positives'."""
        return float(place(float(self.k), is_count(self.k), rows.mass[rows.positive].sum()))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_switch("shuffle", self.shuffle)
        check_number("n_iter_no_change", self.n_iter_no_change, 1, integer=True)
        check_number("validation_fraction", self.validation_fraction, above=0.0, below=1.0)
