"""Scores by the numbers that a model's file holds, without the import of what the model was fitted with."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._base.files import read_facts
from pushrank.exceptions import ModelFileError

__all__ = ["Scorer", "load_scorer"]

ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """The scores of a linear model or of a sum of stumps, after scaled columns of numbers, by NumPy.

    :func:`load_scorer` reads one from the file of a model.

    Parameters
    ----------
    features : list of str or list of int
        The columns to score by, or their numbers where the model was fitted to an array.
    operations : list of pairs
        What is done to the matrix of these columns, in order: ``"+"``, ``"-"``, ``"*"`` and ``"/"`` with a
        number for each column, ``"fill"`` with what stands for NaN in each, ``"keep"`` with the columns that
        are kept, and ``"mark"`` with the columns whose gaps become columns of zeros and ones.
    threshold : float
        What is subtracted from the scores.
    coef : list of float, optional
        The coefficients of a linear model.
    by_blas : bool, default=False
        Whether linear scores are products by BLAS, as scikit-learn's are to the last bit.
    constant : float, default=0.0
        What stumps add to the score of every row.
    steps : list of tuples, optional
        The step functions that stumps add up to: a column, thresholds, and the values below, between and
        above them and of NaN.

    Examples
    --------
    >>> from pushrank.interop.scorer import Scorer
    >>> scorer = Scorer(features=["a", "b"], operations=[("-", [1.0, 0.0])], threshold=0.5, coef=[2.0, 1.0])
    >>> scorer.decision_function([[1.0, 0.0], [2.0, 3.0]])
    array([-0.5,  4.5])
    """

    features: Sequence[Any]
    operations: Sequence[tuple[str, Any]]
    threshold: float
    coef: Sequence[float] | None = None
    by_blas: bool = False
    constant: float = 0.0
    steps: Sequence[tuple[int, Sequence[float], Sequence[float]]] = ()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Dense rows of numbers with the columns ``features``, in their order or, in a data frame, by their
            names; gaps are NaN. Sparse rows and columns with gaps of another kind take ``pushrank.load``.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores of the model: to the last bit where ``pushrank fit`` wrote the file, and but for
            rounding where the steps before the ranker are others, linear scores lack numba, or those of a
            logistic regression are of an array with gaps.

        Raises
        ------
        ValueError
            When X lacks a column or has another number of them, or holds infinity, or NaN that the model
            cannot take.

        Examples
        --------
        >>> from pushrank.interop.scorer import Scorer
        >>> stump = Scorer(features=[0], operations=[], threshold=0.0, steps=[(0, [1.5], [0.0, 2.0, 1.0])])
        >>> stump.decision_function([[1.0], [2.0], [float("nan")]])
        array([0., 2., 1.])
        """
        # A model that was fitted to an array has numbers for names.
        if hasattr(X, "columns") and all(isinstance(name, str) for name in self.features):
            if lacking := [name for name in self.features if name not in X.columns]:
                raise ValueError(f"X lacks columns of the model: {lacking}.")
            X = X[list(self.features)].to_numpy()
        numbers = np.asarray(X, dtype=np.float64)
        if numbers.ndim != 2 or numbers.shape[1] != len(self.features):
            raise ValueError(
                f"X must have {len(self.features)} columns, got an array of shape {numbers.shape}."
            )
        if np.isinf(numbers).any():
            raise ValueError("X must not hold infinity.")
        numbers = self._transformed(numbers)
        if self.coef is None:
            return self._sums_of_steps(numbers) - self.threshold
        if np.isnan(numbers).any():
            raise ValueError("X must not hold NaN.")
        if self.by_blas:
            return np.asarray((numbers @ np.array([self.coef]).T).ravel() - self.threshold)
        if find_spec("numba") is None:
            # A product with BLAS may give equal rows scores that differ, by where they stand.
            return np.asarray((numbers * np.array(self.coef)).sum(axis=1) - self.threshold)
        # Stumps do without the compiled sums of linear rankers.
        from pushrank.models import linear_scores

        return np.asarray(linear_scores(numbers, np.array(self.coef)) - self.threshold)

    def _transformed(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows after the operations."""
        for operation, value in self.operations:
            if operation in ARITHMETIC:
                numbers = ARITHMETIC[operation](numbers, np.array(value))
            elif operation == "fill":
                is_missing = np.isnan(numbers)
                numbers = np.where(is_missing, value, numbers)
            elif operation == "keep":
                numbers = numbers[:, value]
            else:
                numbers = np.hstack([numbers, is_missing[:, value]])
        # A sum over a row may round by how it lies, and pipelines join marks of gaps to columns.
        is_marked = any(operation == "mark" for operation, _ in self.operations)
        return np.asfortranarray(numbers) if is_marked else np.ascontiguousarray(numbers)

    def _sums_of_steps(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of the step functions and the constant."""
        totals = np.zeros(len(numbers))
        for column, thresholds, values in self.steps:
            entries = numbers[:, column]
            index = np.where(np.isnan(entries), len(thresholds) + 1, np.searchsorted(thresholds, entries))
            totals += np.array(values)[index]
        return totals + self.constant


def load_scorer(path: str | Path) -> Scorer:
    """Read the scorer of a model from the file that ``pushrank.save`` or ``pushrank fit`` wrote.

    It takes a fraction of the time of ``pushrank.load``, which imports scikit-learn and compiled loops.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Scorer
        The columns that the model takes, and its ``decision_function``.

    Raises
    ------
    ModelFileError
        When the file has no scorer: it is damaged, a later version of pushrank wrote it, or the model is
        neither linear nor a sum of stumps after scaled columns of numbers.
    OSError
        When the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pushrank import PNormPush, load_scorer, save
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> ranker = PNormPush().fit(X, ["no", "no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ranker, Path(folder) / "model.skops")
    ...     scorer = load_scorer(Path(folder) / "model.skops")
    >>> np.array_equal(scorer.decision_function(X), ranker.decision_function(X))
    True
    """
    with Path(path).open("rb"):
        noted = read_facts(Path(path))
    if noted.get("scoring") is None:
        raise ModelFileError(
            f"{path} has no scorer: this version of pushrank saves the numbers of linear models and stumps "
            "after scaled columns of numbers. Load the model itself: pushrank.load."
        )
    return Scorer(**noted["scoring"])
