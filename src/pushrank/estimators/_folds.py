"""Parts of the training data to learn from and to score, and the choice that follows from the scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.model_selection import check_cv

from pushrank._log_space import Floats
from pushrank.estimators._base import linear_scores
from pushrank.estimators._scoring import PartScorer
from pushrank.estimators._target import Target, break_even_threshold
from pushrank.pairs import BipartiteSample


class Fold:
    """Rows to learn from, rows to score, and a scorer.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Checked features.
    target : Target
        The two classes.
    train, test : ndarray of int
        The numbers of the rows.
    scoring : str, callable or None
        A scorer of ours by name, or one of scikit-learn's.
    """

    def __init__(
        self, X: Any, target: Target, train: NDArray[np.intp], test: NDArray[np.intp], scoring: Any
    ) -> None:
        codes, classes = np.asarray(target.codes), np.asarray(target.classes)
        train_weights, test_weights = (
            None if target.weights is None else target.weights[rows] for rows in (train, test)
        )
        self._X, self._train, self._test = X, train, test
        self.sample = BipartiteSample.from_mask(codes[train], train_weights)
        self._scorer = PartScorer(scoring, classes, classes[codes[test].astype(np.intp)], test_weights)

    @property
    def train_rows(self) -> Any:
        """The rows to learn from, copied."""
        return self._X[self._train]

    def score(self, coef: NDArray[np.floating]) -> float:
        """Return the score of coefficients on the rows to score; classes part at the others' threshold.

        Raises
        ------
        TypeError
            When there are weights and the scorer takes none.
        ValueError
            When the scorer asks for probabilities, or gives no number.
        """
        scores = linear_scores(self._X, coef)
        threshold = break_even_threshold(scores[self._train], self.sample)
        return self._scorer.score(
            self._X[self._test], scores[self._test].astype(np.float64), np.array([threshold])
        )


def stratified_folds(
    cv: Any, scoring: Any, X: Any, target: Target, split_params: dict[str, Any]
) -> list[Fold]:
    """Return the folds of a number, splitter or iterable, with a scorer of ours, or one of scikit-learn's.

    Raises
    ------
    ValueError
        When there are no folds, a fold lacks a class in one of its parts, or the scorer is not known.
    """
    codes = np.asarray(target.codes).astype(np.intp)
    folds = []
    splits = check_cv(cv, codes, classifier=True).split(X, codes, **split_params)
    for number, (train, test) in enumerate(splits):
        for part, rows in (("train", train), ("score", test)):
            counted = codes[rows] if target.weights is None else codes[rows][target.weights[rows] > 0.0]
            if len(np.unique(counted)) < 2:
                raise ValueError(
                    f"fold {number} of the cross-validation has rows of one class alone to {part} on; use "
                    "fewer folds, or a splitter that stratifies."
                )
        folds.append(Fold(X, target, np.asarray(train), np.asarray(test), scoring))
    if not folds:
        raise ValueError(
            f"cv={cv!r} gives no split of the rows; give a number of folds, or at least one split."
        )
    return folds


def results_table(params: Sequence[dict[str, Any]], scores: Floats, n_iter: Floats) -> dict[str, Any]:
    """Return ``cv_results_`` with the keys of scikit-learn's grid searches, and the mean iterations."""
    table: dict[str, Any] = {"params": list(params), "mean_n_iter": n_iter.mean(axis=1)}
    for name in params[0]:
        column = np.ma.masked_all(len(params), dtype=object)
        for row, chosen in enumerate(params):
            column[row] = chosen[name]
        table[f"param_{name}"] = column
    for fold, of_fold in enumerate(scores.T):
        table[f"split{fold}_test_score"] = of_fold
    means = scores.mean(axis=1)
    table["mean_test_score"] = means
    table["std_test_score"] = scores.std(axis=1)
    table["rank_test_score"] = rankdata(-means, method="min").astype(np.int32)
    return table


def choose(scores: Floats, simplest_first: Sequence[int] | None) -> int:
    """Return the number of the best mean score, the first of equals.

    With an order of simplicity, it is the simplest whose mean is within one standard error of the best.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, *Classification and regression trees* (1984), section 3.4.3: the rule
    of one standard error.
    """
    means = scores.mean(axis=1)
    best = int(np.argmax(means))
    if simplest_first is None:
        return best
    n_folds = scores.shape[1]
    error = float(scores[best].std(ddof=1)) / np.sqrt(n_folds) if n_folds > 1 else 0.0
    return next(number for number in simplest_first if means[number] >= means[best] - error)
