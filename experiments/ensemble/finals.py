"""What makes one score of several models' scores: scales of columns, and finals on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from experiments.ensemble.columns import FOLDS, LOG_ODDS, MARGIN, PROBABILITY
from pushrank import metrics

CLIP, ENSEMBLE_SIZE = 1e-3, 25


def hits(y: Any, scores: Any) -> float:
    """Return the positives among the first 1 % of the rows."""
    n_first = max(1, round(0.01 * len(y)))
    return n_first * metrics.precision_at_k(y, scores, n_first)


Measure = Callable[[Any, Any], float]
MEASURES: dict[str, Measure] = {
    "hits in 1 %": hits,
    "precision in n+/4": lambda y, scores: metrics.precision_at_k(y, scores, fraction_of_positives=0.25),
    "average precision": metrics.average_precision,
    "positives at top": metrics.positives_at_top,
}


class Stack(NamedTuple):
    """The scores of one split: of training rows, and of test rows by one model of a member or by five.

    Attributes
    ----------
    raw : ndarray of shape (n_rows, n_members)
        The out-of-fold scores.
    new : ndarray of shape (n_models, n_test_rows, n_members)
        Those of the test rows; by time by one refitted model.
    fold : ndarray of shape (n_rows,)
        The fold, or by time the period, of every training row.
    y, y_test : ndarray
        The labels.
    kinds, members : ndarray of str
        What the scores are, and of whom.
    by_time : bool
        Whether the test rows are the next period.
    """

    raw: np.ndarray
    new: np.ndarray
    fold: np.ndarray
    y: np.ndarray
    y_test: np.ndarray
    kinds: np.ndarray
    members: np.ndarray
    by_time: bool


def stack(path: Path, *, refitted: bool = False) -> Stack:
    """Return a split's scores; rows that by time have none are left out."""
    with np.load(path) as kept:
        scored, by_time = kept["fold"] >= 0, "time" in kept
        new = kept["refitted"][None] if by_time or refitted else kept["of_folds"]
        if np.isnan(new).any():
            raise ValueError(f"{path} has no refitted models.")
        return Stack(
            kept["out_of_fold"][scored],
            new.astype(float),
            kept["fold"][scored],
            kept["y"][scored].astype(int),
            kept["y_test"].astype(int),
            kept["kinds"],
            kept["members"],
            by_time,
        )


def natural(of: Stack) -> np.ndarray:
    """Return the test scores of each member alone, the mean of its models, of shape (n_rows, n_members)."""
    return of.new.mean(axis=0)


Columns = tuple[np.ndarray, np.ndarray]


def platt(of: Stack, j: int) -> tuple[float, float]:
    """Return slope and intercept of the logistic curve through a member's out-of-fold scores."""
    scores = of.raw[:, j : j + 1]
    centre, scale = scores.mean(), scores.std() or 1.0
    curve = LogisticRegression().fit((scores - centre) / scale, of.y)
    slope = curve.coef_[0, 0] / scale
    return slope, curve.intercept_[0] - slope * centre


def log_odds(of: Stack, clip: float = CLIP, *, calibrated: bool = True) -> Columns:
    """Return standardised columns of log-odds of probabilities clipped at both ends.

    Margins become log-odds by a logistic curve through the out-of-fold scores; if not ``calibrated`` they
    stay as they are, without any limit.
    """
    curves = {j: platt(of, j) for j in np.flatnonzero(of.kinds == MARGIN)} if calibrated else {}

    def one(raw: np.ndarray) -> np.ndarray:
        columns, limit = raw.copy(), logit(1.0 - clip)
        for j, kind in enumerate(of.kinds):
            if kind == PROBABILITY:
                columns[..., j] = logit(np.clip(raw[..., j], clip, 1.0 - clip))
            elif kind == LOG_ODDS:
                columns[..., j] = np.clip(raw[..., j], -limit, limit)
            elif calibrated:
                slope, intercept = curves[j]
                columns[..., j] = np.clip(slope * raw[..., j] + intercept, -limit, limit)
        return columns

    return standardised(one(of.raw), one(of.new).mean(axis=0))


def standardised(columns: np.ndarray, new: np.ndarray) -> Columns:
    """Return columns of mean zero and variance one, and those of the test rows by the same measure."""
    mean, scale = columns.mean(axis=0), columns.std(axis=0)
    scale[scale == 0.0] = 1.0
    return (columns - mean) / scale, (new - mean) / scale


def shares(reference: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the share of reference values below each value, ties half, away from 0 and 1, by column."""
    n = len(reference)
    found = np.empty(values.shape)
    for j in range(values.shape[-1]):
        ordered = np.sort(reference[:, j])
        below, up_to = (np.searchsorted(ordered, values[..., j], side) for side in ("left", "right"))
        found[..., j] = (below + up_to) / (2.0 * n)
    return np.clip(found, 0.5 / n, 1.0 - 0.5 / n)


def from_the_top(u: np.ndarray) -> np.ndarray:
    """Return minus the logarithm of the share above."""
    return -np.log1p(-u)


def ranks(of: Stack, link: Callable[[np.ndarray], np.ndarray] = logit, within: str = "") -> Columns:
    """Return columns of ranks among the out-of-fold rows.

    Within a ``"batch"``, training rows have their ranks in their fold or period, and test rows among each
    other; within a ``"fold"``, training rows have them there, and test rows in the fold of the model that
    scores them, or by time in the last period.
    """
    if not within:
        return link(shares(of.raw, of.raw)), link(shares(of.raw, of.new)).mean(axis=0)
    columns = np.empty(of.raw.shape)
    for fold in np.unique(of.fold):
        rows = of.fold == fold
        columns[rows] = shares(of.raw[rows], of.raw[rows])
    if within == "batch":
        new = [shares(values, values) for values in of.new]
    else:
        numbers = range(FOLDS) if len(of.new) == FOLDS else [of.fold.max()]
        new = [
            shares(of.raw[of.fold == number], values) for number, values in zip(numbers, of.new, strict=True)
        ]
    return link(columns), np.mean([link(u) for u in new], axis=0)


def probabilities(of: Stack) -> Columns:
    """Return probabilities; of margins by a logistic curve through the out-of-fold scores."""
    columns, new = of.raw.copy(), of.new.copy()
    for j, kind in enumerate(of.kinds):
        if kind != PROBABILITY:
            slope, intercept = platt(of, j) if kind == MARGIN else (1.0, 0.0)
            columns[:, j] = expit(slope * of.raw[:, j] + intercept)
            new[..., j] = expit(slope * of.new[..., j] + intercept)
    return columns, new.mean(axis=0)


def raw_columns(of: Stack) -> Columns:
    """Return the columns as ``StackingClassifier`` makes them: probabilities, or else margins."""
    columns, new = of.raw.copy(), natural(of)
    for j in np.flatnonzero(of.kinds == LOG_ODDS):
        columns[:, j], new[:, j] = expit(columns[:, j]), expit(of.new[..., j]).mean(axis=0)
    return columns, new


def log_loss(y: np.ndarray, probability: np.ndarray) -> float:
    """Return the mean log likelihood, so that higher is better."""
    p = np.clip(probability, 1e-15, 1.0 - 1e-15)
    return float(np.mean(np.where(y == 1, np.log(p), np.log1p(-p))))


def accuracy(y: np.ndarray, probability: np.ndarray) -> float:
    """Return the share of rows on the right side of one half."""
    return float(np.mean((probability >= 0.5) == (y == 1)))


def greedy(columns: np.ndarray, y: np.ndarray, measure: Measure, seed: int) -> np.ndarray:
    """Return weights by Caruana's selection with replacement, as AutoGluon has it.

    25 rounds each add the member that makes the mean best; of equals one that is in it already, then one by
    lot; the first of the best rounds is the answer. Values are rounded to six digits after the first round.
    """
    rng = np.random.default_rng(seed)
    total, order, values = np.zeros(len(y)), [], []
    for number in range(ENSEMBLE_SIZE):
        found = np.array([measure(y, (total + column) / (number + 1)) for column in columns.T])
        found = found.round(6) if number else found
        best = np.flatnonzero(np.isclose(found, found.max(), rtol=1e-12, atol=0.0))
        known = np.intersect1d(best, order)
        picked = int(rng.choice(known if len(known) and len(best) > 1 else best))
        total += columns[:, picked]
        order.append(picked)
        values.append(round(float(found[picked]), 6))
    order = order[: int(np.argmax(values)) + 1]
    return np.bincount(order, minlength=columns.shape[1]) / len(order)


def judged(of: Stack) -> list[int]:
    """Return the folds with rows of both classes, without which a list cannot be judged."""
    return [fold for fold in np.unique(of.fold) if len(np.unique(of.y[of.fold == fold])) == 2]


def chosen(of: Stack, measure: Measure) -> int:
    """Return the member with the best mean over the folds, of equals by the average precision."""
    means = np.zeros((2, len(of.members)))
    for fold in judged(of):
        rows = of.fold == fold
        for line, value in enumerate((measure, metrics.average_precision)):
            means[line] += [value(of.y[rows], scores) for scores in of.raw[rows].T]
    return int(np.lexsort(means[::-1].round(12))[-1])


Value = Callable[[np.ndarray], tuple[float, np.ndarray]]


def power_value(X: np.ndarray, y: np.ndarray, p: float) -> Value:
    """Return the objective of the P-Norm Push in its log form, with its gradient, of weights."""
    above, below = X[y == 1], X[y == 0]

    def value(weights: np.ndarray) -> tuple[float, np.ndarray]:
        s, t = above @ weights, below @ weights
        gradient = softmax(p * t) @ below - softmax(-s) @ above
        return logsumexp(p * t) / p + logsumexp(-s), gradient

    return value


def reversed_value(X: np.ndarray, y: np.ndarray) -> Value:
    """Return the objective of the IR Push, with its gradient, of weights."""
    above, below = X[y == 1], X[y == 0]

    def value(weights: np.ndarray) -> tuple[float, np.ndarray]:
        s, t = above @ weights, below @ weights
        heights = logsumexp(t) - s
        pulls = expit(heights) / len(s)
        return np.logaddexp(0.0, heights).mean(), pulls.sum() * (softmax(t) @ below) - pulls @ above

    return value


def least(value: Value, n_columns: int, alpha: float, *, positive: bool) -> np.ndarray:
    """Return the weights of the least value with an L2 penalty, none of them negative if ``positive``."""

    def penalised(weights: np.ndarray) -> tuple[float, np.ndarray]:
        found, gradient = value(weights)
        return found + alpha / 2 * weights @ weights, gradient + alpha * weights

    bounds = [(0.0, None)] * n_columns if positive else None
    options = {"maxiter": 2000, "ftol": 1e-12, "gtol": 1e-7}
    return minimize(
        penalised, np.full(n_columns, 0.1), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).x
