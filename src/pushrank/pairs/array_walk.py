"""Piecewise polynomials over scores on another device: running sums between sorted scores."""

from __future__ import annotations

from math import comb
from typing import Any

from pushrank._array import like, namespace
from pushrank._log_space import Floats


class ArrayWalk:
    """All positives compared with all negatives.

    Every piece takes the difference of running sums of powers of the scores, centred; where a piece holds few
    rows that lie far from the middle that loses digits, which the compiled walk does not.
    """

    def __init__(self, of_positives: Any, of_negatives: Any) -> None:
        xp = namespace(of_positives)
        middle = 0.5 * (float(xp.mean(of_positives)) + float(xp.mean(of_negatives)))
        self._positives, self._negatives = of_positives - middle, of_negatives - middle

    def over_sources(self, weights: Any, ends: Floats, coefficients: Floats, closed: bool) -> Any:
        """Return what the sources give to each target."""
        return _sums(self._positives, weights, self._negatives, ends, coefficients, closed)

    def over_targets(self, weights: Any, ends: Floats, coefficients: Floats, closed: bool) -> Any:
        """Return what the targets give to each source: the same, mirrored."""
        return _sums(-self._negatives, weights, -self._positives, ends, coefficients, closed)


def _sums(sources: Any, weights: Any, targets: Any, ends: Floats, coefficients: Floats, closed: bool) -> Any:
    """Return ``sum_i w_i sum_m c_m (u + t - s_i) ** m`` over the pieces, at every target t."""
    xp = namespace(sources)
    order = xp.argsort(sources)
    ascending, in_order = xp.take(sources, order, axis=0), xp.take(weights, order, axis=0)
    powers, term = [], in_order
    for _ in range(coefficients.shape[1]):
        powers.append(xp.concat([like([0.0], term), xp.cumulative_sum(term)]))
        term = -term * ascending
    side = "right" if closed else "left"
    total = xp.zeros_like(targets)
    below: Any = None
    for j in range(coefficients.shape[0]):
        upper = float(ends[j + 1])
        reached = xp.searchsorted(ascending, targets + upper, side=side)
        moved = targets + upper
        for m in range(coefficients.shape[1]):
            factor = float(coefficients[j, m])
            if factor == 0.0:
                continue
            for k in range(m + 1):
                within = xp.take(powers[k], reached, axis=0)
                if below is not None:
                    within = within - xp.take(powers[k], below, axis=0)
                total = total + factor * comb(m, k) * moved ** (m - k) * within
        below = reached
    return total
