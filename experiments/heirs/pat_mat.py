"""Pat&Mat-NP of Adam, Macha, Smidl and Pevny (2022): a threshold at a share of the negatives, certified."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pushrank.estimators._certified import CertifiedMixin, CertifiedSpec
from pushrank.estimators.svm import structured_planes

# A bracket that is narrower than this part of its ends is rounding; bisection gets there within these steps.
ROUNDING, MAX_STEPS = 1e-15, 200


def threshold_above(scores: np.ndarray, weights: np.ndarray, target: float) -> float:
    """Return u with ``weights @ max(scores - u, 0)`` equal to the target, by Newton's method in a bracket."""
    first = int(np.argmax(scores))
    # From there the highest row alone reaches the target.
    at = low = float(scores[first]) - target / float(weights[first])
    high = float(scores[first])
    for _ in range(MAX_STEPS):
        above = scores > at
        total = float(weights[above] @ (scores[above] - at))
        low, high = (at, high) if total >= target else (low, at)
        if total == target or high - low <= ROUNDING * (abs(high) + abs(low)):
            break
        slope = float(weights[above].sum())
        moved = at + (total - target) / slope if slope > 0.0 else np.inf
        if moved == at:
            break
        at = moved if low < moved < high else 0.5 * (low + high)
    return at


def pat_mat_plane(
    tau: float, beta: float, sample: Any, scores: np.ndarray
) -> tuple[float, np.ndarray, float]:
    """Return value, subgradient, and the value at zero scores of the plane that they span.

    The objective is the mean hinge of the positives below the threshold t, the solution of
    ``mean_j max(1 + beta (s_j - t), 0) = tau`` over the negatives j, which is convex in the scores.
    """
    by_class = sample.positive_weights, sample.negative_weights
    s, t = sample.gather(scores)
    shares, weights = (np.ones(len(x)) if w is None else w for x, w in zip((s, t), by_class, strict=True))
    shares = shares / shares.sum()
    # In u = t - 1 / beta the losses are the heights above u times beta.
    target = tau * float(weights.sum()) / beta
    at = threshold_above(t, weights, target)
    threshold = at + 1.0 / beta
    above = weights * (t > at)
    of_negatives = above / above.sum()
    constant = 1.0 / beta - target / float(above.sum())
    violations = np.maximum(1.0 + threshold - s, 0.0)
    pull = shares * (violations > 0.0)
    pulled = float(pull.sum())
    slopes = np.zeros(sample.n_rows)
    slopes[sample.positives], slopes[sample.negatives] = -pull, pulled * of_negatives
    return float(shares @ violations), slopes, pulled * (1.0 + constant)


@dataclass(eq=False, repr=False)
class PatMat(CertifiedMixin, BaseEstimator):
    """Linear scores that minimise ``|w|^2 / 2 + C`` times the objective, by cutting planes with a bound."""

    tau: float = 0.01
    _: KW_ONLY
    beta: float = 1.0

    def _certified_spec(self, qid: Any) -> CertifiedSpec:  # noqa: ARG002
        plane = partial(pat_mat_plane, float(self.tau), float(self.beta))
        return CertifiedSpec(partial(structured_planes, self, plane, non_negative=True))
