"""Rankers that learn from rows to be compared: two classes, grades, query groups or explicit pairs."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike

from pushrank.estimators._base import BaseRanker
from pushrank.objectives import PushObjective


class ComparingRanker(BaseRanker):
    """A ranker of pairs of rows, whichever way they are named."""

    @abstractmethod
    def _objective(self) -> PushObjective:
        """Return the sum over pairs that the checked constructor parameters stand for."""

    @abstractmethod
    def _learn(self, X: Any, y: ArrayLike | None, *of_rows: Any) -> Self:
        """Fit the ranker to what ``fit`` was given, unchecked, in the order of ``fit``."""

    def _pair_objective(self) -> PushObjective | None:
        return self._objective()

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pairs: Any = None,
    ) -> Self:
        """Learn a ranking from two classes, from grades of relevance, or from explicit pairs.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite features; boosted stumps take NaN as missing, and categorical columns of data frames.
            float32 and float64 arrays, dense, CSR or CSC, are used where they lie, without a copy. Under
            ``sklearn.set_config(array_api_dispatch=True)`` the gradient solvers of push rankers take arrays
            of another library that keeps the array API standard, such as torch tensors on any device, too;
            coefficients and scores are then of that library, on that device.
        y : array-like of shape (n_samples,), optional
            Labels of two classes, the larger in sorted order to be ranked at the top; or grades of
            relevance, numbers of which a higher one should stand above every lower one. None with ``pairs``.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; an integer weight equals that many copies of the row.
        group : array-like, optional
            Query groups: a label for each row, or the sizes of consecutive groups. Rows are compared within
            their group only.
        qid : array-like of shape (n_samples,), optional
            The same as labels of rows, in any order.
        pairs : (better, worse) or (better, worse, weight), optional
            Explicit crucial pairs: row ``better[m]`` of ``X`` should stand above row ``worse[m]``. An array
            with two or three columns serves too. Pairs may contradict each other.

        Returns
        -------
        self
            The fitted ranker.

        Raises
        ------
        ValueError
            When a parameter is out of range, the data are not finite, or there is nothing to rank.
        TypeError
            When a parameter has the wrong type, or the loss or the price cannot be learned by.
        ModelFileError
            When ``checkpoint`` names a file of another run, or no checkpoint.

        Warns
        -----
        ConvergenceWarning
            When the answer is not the optimum that was asked for; the message says what to do.
        """
        return self._learn(X, y, sample_weight, group, qid, pairs)
