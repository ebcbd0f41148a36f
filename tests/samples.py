"""Rows and problems that several files of tests learn from."""

from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from pushrank import IRPush, PNormPush, PushRanker
from pushrank.models import LinearModel
from pushrank.pairs import BipartiteSample
from pushrank.rows import MemoryRows
from pushrank.solvers import linear_problem

PULL, BOTH = partial(PNormPush, side="pull"), partial(PNormPush, side="both")
PUSH_RANKERS = [PNormPush, PULL, BOTH, IRPush, PushRanker]


def overlapping(n=200, d=4, seed=0):
    """Return rows of two classes that no column parts, a quarter of them positive."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


def scaled_cancer():
    """Return scikit-learn's breast cancer data, whose classes a linear score parts, in standard units."""
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def first_positive(seed, n, d, part):
    """Return rows of which the first are positive, one in ``part``, told best by the first column."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n // part
    return rng.normal(size=(n, d)) + np.outer(y, np.linspace(1.0, 0.0, d)), y.astype(int)


def linear_labels(n=300, d=4, seed=0, noise=0.4, above=1.0):
    """Return rows, and labels of one where a linear function of the row and noise exceed a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) + noise * rng.normal(size=n) > above).astype(int)


def by_first_column(n, d, above, noise=1.0, seed=0):
    """Return rows, and labels of one where the first column and noise exceed a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + noise * rng.normal(size=n) > above).astype(int)


def noisy_cancer():
    """Return classes that overlap: ten columns of scikit-learn's breast cancer data, with noise."""
    X, y = scaled_cancer()
    return X[:, :10] + 0.5 * np.random.default_rng(0).normal(size=(len(y), 10)), y


def shuffled_cancer():
    """Return scikit-learn's breast cancer data in a random order, in standard units."""
    X, y = scaled_cancer()
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def graded(n=300, seed=0, groups=12):
    """Return rows, grades from 0 to 3, and numbers of queries."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    relevance = np.digitize(X @ [1, 1, 0, -1] + rng.normal(size=n), [-1, 0.5, 2])
    return X, relevance, rng.integers(0, groups, n)


def small_problem(seed, shift, most_rows=18, most_columns=5):
    """Return a few rows of two classes, with ties and duplicated rows, and the weight C of a loss."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, most_rows)), int(rng.integers(1, most_columns))
    X = np.round(rng.normal(size=(n, d)) * 2) / 2
    y = np.zeros(n, dtype=int)
    y[: max(1, int(rng.integers(1, n - 1)))] = 1
    X += shift * y[:, None]
    if seed % 3 == 0:
        X[1] = X[0]
    return X, rng.permutation(y) if seed % 5 == 0 else y, float(10.0 ** rng.integers(-1, 3))


def shifted_scores(n_positives=60, n_negatives=80, seed=0):
    """Return labels, and scores higher by one for positives."""
    y = np.arange(n_positives + n_negatives) < n_positives
    return y, np.random.default_rng(seed).normal(size=len(y)) + y


def tied_scores(rng, n=60, share=0.4, levels=20, shift=0.3):
    """Return labels of both classes and scores of so many levels, higher for positives."""
    y = np.append([True, False], rng.random(n - 2) < share)
    return y, rng.integers(0, levels, n) / levels + shift * y


def problem_of(X, y, objective, alpha=0.0, w=None):
    """Return the problem of linear scores of rows in memory."""
    return linear_problem(objective, MemoryRows(LinearModel(X), BipartiteSample.from_labels(y, w)), alpha)


def variances_within(model, factors, class_codes):
    """Return the sums of weighted squares of the columns, within classes."""
    return model.class_moments(factors, class_codes).variances


def covariance_within(model, factors, class_codes):
    """Return the sums of weighted products of columns, within classes."""
    return model.class_moments(factors, class_codes, columns=False, whole=True).covariance


def separable_votes(seed, n=40, n_rankers=10):
    """Binary weak rankers, with a vote that ranks all pairs in the right order."""
    rng = np.random.default_rng(seed)
    H = (rng.random((n, n_rankers)) < 0.5).astype(float)
    scores = H @ (rng.random(n_rankers) * rng.choice([-1, 1], n_rankers))
    order = np.argsort(scores)
    gap = np.argmax(np.diff(scores[order])[n // 4 : 3 * n // 4]) + n // 4
    y = np.zeros(n, dtype=int)
    y[order[gap + 1 :]] = 1
    return H, y


def overlapping_votes(seed=0, n=150, n_rankers=6, share=0.3):
    """Binary weak rankers none of whose votes separates the classes."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return (rng.random((n, n_rankers)) < 0.35 + 0.25 * y[:, None]).astype(float), y
