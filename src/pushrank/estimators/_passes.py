"""Rankers that pass over a data set, batch by batch, and may keep the pass that ranks a part of it best."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from pushrank._checks import check_number
from pushrank._log_space import Floats
from pushrank.estimators._base import linear_scores
from pushrank.estimators._light_weights import warn_of_light_weights
from pushrank.estimators._margins import margins
from pushrank.estimators._progress import watching
from pushrank.estimators._streaming import (
    OF_WHOLE_DATA,
    StreamingRanker,
    all_or_nothing,
    by_rows,
    check_switch,
    row_errors,
)
from pushrank.estimators._validation import training_data
from pushrank.objectives.precision_at_k import is_count
from pushrank.objectives.precision_kernels import place, wrong_at_top
from pushrank.solvers.rows import Rows
from pushrank.solvers.stream import Stream


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
        with watching(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as watcher:
            best = self._passes(learned, valid, seed, watcher)
        self._keep(self._learned() if best is None else best, X.dtype)
        self._settle()
        self._measure(learned, self._unit_scores(learned), seed)
        self._warn_of_skipped()
        return self

    def _passes(self, rows: Rows, valid: Rows | None, seed: int, watcher: Any) -> Floats | None:
        """Learn from rows pass by pass, and return the best coefficients on the validation part, if any."""
        best, best_score, self.n_iter_ = None, -np.inf, 0
        path = []
        for order in self._orders(rows.n_rows, seed, int(self.max_iter)):
            before = self._stream.mistakes
            with row_errors(0):
                self._stream.feed_whole(rows, order)
            self.n_iter_ += 1
            made = self._stream.mistakes - before
            if watcher is not None:
                watcher(self.n_iter_, mistakes_in_pass=made, mistake_rate=self._stream.mistake_rate)
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
