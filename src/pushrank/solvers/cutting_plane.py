r"""A regularised convex risk of the scores by cutting planes, for losses with kinks.

Minimise :math:`P(w) = \tfrac12 \|w\|^2 + C R(Xw)`. Every subgradient gives a plane below R; the highest of
the planes found so far is minimised by a small quadratic program, whose value bounds P from below. The next
plane is taken near the best point known, found by a line search, and not where the planes alone would lead.

Thorsten Joachims, *Training linear SVMs in linear time*, KDD 2006; Vojtěch Franc, Soeren Sonnenburg,
*Optimized cutting plane algorithm for support vector machines*, ICML 2008, for the line search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pushrank._compiled import compiled
from pushrank._log_space import Floats
from pushrank.models import LinearModel
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.result import Watcher

Risk = Callable[[Floats], tuple[float, Floats]]
"""A convex, non-negative function of the scores of all rows, with a subgradient."""

AHEAD = 0.1  # how far from the best point towards the planes' own minimiser the next plane is taken
NARROW = 1e-2  # of the way to the planes' minimiser, and the line search ends
MOST_EXCHANGES = 100_000


class CutResult(NamedTuple):
    """The end of a run: coefficients, the bounds on the optimum, and the number of planes."""

    coef: Floats
    certificate: Certificate
    n_iter: int


def cutting_plane(
    risk: Risk, model: LinearModel, C: float, tol: float, max_iter: int, watcher: Watcher | None = None
) -> CutResult:
    """Minimise until the relative gap of the bounds is at most ``tol``.

    Parameters
    ----------
    risk : callable
        The R.
    model : LinearModel
        The data.
    C : float
        The weight of the risk.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most planes.
    watcher : callable, optional
        Called after every plane with its number, the objective and the gap.

    Notes
    -----
    A plane costs two readings of the data and about ten evaluations of the risk.
    """
    n_features = model.n_features
    planes = np.zeros((1, n_features))  # the risk is never below zero
    offsets, shares = np.zeros(1), np.full(1, float(C))
    best, best_scores = np.zeros(n_features), np.zeros(model.n_rows)
    value, slope = risk(best_scores)
    primal, cut_at, at_scores = C * value, best, best_scores
    for iteration in range(1, max_iter + 1):
        normal = model.pull_back(slope)
        planes = np.vstack([planes, normal])
        offsets = np.append(offsets, value - float(normal @ cut_at))
        shares = np.append(shares, 0.0)
        _exchange(planes @ planes.T, offsets, shares, 0.01 * tol * primal / C, MOST_EXCHANGES)
        trial = -(shares @ planes)
        dual = float(shares @ offsets - 0.5 * (trial @ trial))
        trial_scores = model.scores(trial)
        share, primal = _search(risk, C, best, best_scores, trial, trial_scores)
        best = best + share * (trial - best)
        best_scores = best_scores + share * (trial_scores - best_scores)
        certificate = Certificate(primal, dual)
        if watcher is not None:
            watcher(iteration, primal, certificate.gap)
        if certificate.gap <= tol:
            break
        cut_at = best + AHEAD * (trial - best)
        at_scores = best_scores + AHEAD * (trial_scores - best_scores)
        value, slope = risk(at_scores)
        kept = shares > 0.0
        kept[0] = True
        planes, offsets, shares = planes[kept], offsets[kept], shares[kept]
    return CutResult(best, certificate, iteration)


def _search(
    risk: Risk, C: float, best: Floats, best_scores: Floats, trial: Floats, trial_scores: Floats
) -> tuple[float, float]:
    """Return the share of the way to the trial that minimises the objective, and the objective there."""
    move, along = trial - best, trial_scores - best_scores

    def at(share: float) -> tuple[float, float]:
        value, slope = risk(best_scores + share * along)
        coef = best + share * move
        return 0.5 * float(coef @ coef) + C * value, float(coef @ move) + C * float(slope @ along)

    least, falling = at(0.0)
    value, rising = at(1.0)
    where = 0.0
    if value < least:
        least, where = value, 1.0
    low, high = 0.0, 1.0
    while rising > 0.0 and high - low > NARROW:
        # halfway between where the slopes point and the middle: neither end stays put for long
        share = 0.5 * (low - falling * (high - low) / (rising - falling)) + 0.25 * (low + high)
        value, slope = at(share)
        if value < least:
            least, where = value, share
        if slope < 0.0:
            low, falling = share, slope
        else:
            high, rising = share, slope
        if slope == 0.0:
            break
    return where, least


@compiled()
def _exchange(gram, offsets, shares, tol, most):
    """Move shares between planes until no exchange raises the bound by more than ``tol`` for a unit share."""
    slopes = gram @ shares - offsets
    for _ in range(most):
        gains = 0
        for j in range(len(shares)):
            if slopes[j] < slopes[gains]:
                gains = j
        loses = -1
        for j in range(len(shares)):
            if shares[j] > 0.0 and (loses < 0 or slopes[j] > slopes[loses]):
                loses = j
        difference = slopes[loses] - slopes[gains]
        if difference <= tol:
            break
        bend = gram[gains, gains] + gram[loses, loses] - 2.0 * gram[gains, loses]
        step = shares[loses]
        if bend > 0.0:
            step = min(step, difference / bend)
        shares[gains] += step
        shares[loses] -= step
        for j in range(len(shares)):
            slopes[j] += step * (gram[j, gains] - gram[j, loses])
