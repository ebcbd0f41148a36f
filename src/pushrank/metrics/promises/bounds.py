"""Chances of hits in rows to come, and the bounds that hold for any number of labelled rows."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaincinv, gammaln, ndtr, ndtri

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled

Counts = NDArray[np.int64]
# Numbers of rows that may lie above the edge of a list are taken together in this many cells; none is left
# out.
MAX_CELLS = 512
# Joint chances of more order statistics take seconds, and a sum of single chances then loses little.
MAX_JOINT = 1000
# What the depths that are named take of the chance of failure; all others share the rest.
NAMED_SHARE = 0.8
DEPTH_RATIO, PRECISION_RATIO = 1.25, 1.1
# Plans go no further than this many labelled rows.
MOST_PLANNED = 10**7
# How many labelled rows or days a hit would take is not looked for beyond this number.
MOST_COPIED = 10**6


@compiled()
def beta_binomial_cdf(x, n, a, b):
    """Return the chance of at most x hits in n draws whose chance has the distribution Beta(a, b)."""
    if x < 0 or x >= n:
        return 1.0 if x >= n else 0.0
    upper = x * (a + b) > n * a
    if upper:
        x, a, b = n - x - 1, b, a
    log_term = math.lgamma(n + 1.0) - math.lgamma(x + 1.0) - math.lgamma(n - x + 1.0)
    log_term += math.lgamma(x + a) + math.lgamma(n - x + b) - math.lgamma(n + a + b)
    term = math.exp(log_term + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))
    total = term
    while x > 0 and term > 1e-17 * total:
        term *= x * (n - x + b) / ((n - x + 1.0) * (x - 1.0 + a))
        x -= 1
        total += term
    return 1.0 - total if upper else total


@compiled()
def beta_binomial_chances(low, high, n, a, b):
    """Return the chances of low, ..., high hits, each from its neighbour nearer to the middle."""
    chances, middle = np.empty(high - low + 1), (low + high) // 2
    # Far from the mean a difference has the digits of the nearer tail only.
    x, c, d = (n - middle, b, a) if middle * (a + b) > n * a else (middle, a, b)
    chances[middle - low] = beta_binomial_cdf(x, n, c, d) - beta_binomial_cdf(x - 1, n, c, d)
    for x in range(middle, high):
        chances[x + 1 - low] = chances[x - low] * ((n - x) * (x + a)) / ((x + 1.0) * (n - x - 1.0 + b))
    for x in range(middle, low, -1):
        chances[x - 1 - low] = chances[x - low] * (x * (n - x + b)) / ((n - x + 1.0) * (x - 1.0 + a))
    return chances


@compiled()
def least_promise(hits, rows, levels, k):
    """Return the most hits h such that fewer in k rows have no greater chance than each cell's level."""
    promised = k
    for cell in range(len(hits)):
        if hits[cell] <= 0.0:
            return 0
        # The first bound that is tried is the one so far, then bisection finds the largest.
        low, high, tried = -1, promised, promised
        while low < high:
            chance = beta_binomial_cdf(tried - 1, k, hits[cell], rows[cell] - hits[cell] + 1.0)
            low, high = (tried, high) if chance <= levels[cell] else (low, tried - 1)
            tried = (low + high + 1) // 2
        promised = low
    return promised


@lru_cache(maxsize=512)
def edge_cells(n_rows: int, n_new: int, k: int, miss: float) -> tuple[Counts, Counts, Floats]:
    """Return cells of the numbers M of labelled rows above the edge of the first k new rows, with levels."""
    # M is beta-binomial. A cell holds the numbers from first to last, and its level is the chance of a wrong
    # bound if M lies there. With x the normal score of M, the bound is wrong beyond a circle of radius z with
    # tangents at 45 degrees, so that about as much is lost whether M or the labels or both err.
    if k == n_new:
        return np.array([n_rows]), np.array([n_rows]), np.array([miss])
    a, b = k + 1.0, float(n_new - k)
    mean = n_rows * a / (a + b)
    deviation = math.sqrt(mean * b / (a + b) * (a + b + n_rows) / (a + b + 1.0))
    low, high = max(0, int(mean - 8.0 * deviation)), min(n_rows, int(mean + 16.0 * deviation) + 1)
    first = np.arange(low, high + 1, 1 + (high - low) // MAX_CELLS)
    chances = np.add.reduceat(beta_binomial_chances(low, high, n_rows, a, b), first - low)
    x = np.abs(ndtri(np.clip(np.cumsum(chances) - 0.5 * chances, 1e-300, 1.0 - 1e-16)))

    def levels(z: float) -> Floats:
        circle = np.sqrt(np.maximum(z * z - x * x, 0.0))
        level = ndtr(-np.where(x * x <= 0.5 * z * z, circle, math.sqrt(2.0) * z - x))
        # So far from the middle that a bound would be a guess, or without a row, any bound may be wrong.
        return np.where((level < 0.5) & (first > 0), level, 1.0)

    def excess(z: float) -> float:
        return float(chances @ levels(z)) + max(1.0 - float(chances.sum()), 0.0) - miss

    least, most = 0.0, 40.0
    if excess(most) > 0.0:
        return np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64), np.zeros(1)
    for _ in range(50):
        z = 0.5 * (least + most)
        least, most = (z, most) if excess(z) > 0.0 else (least, z)
    return first, np.append(first[1:] - 1, high), levels(most)


def hits_bound(hits_above: NDArray[Any], n_rows: int, n_new: int, k: int, miss: float) -> int:
    """Return how many hits the first k of ``n_new`` rows hold, except with a chance of at most ``miss``."""
    first, last, levels = edge_cells(n_rows, n_new, k, miss)
    labelled = len(hits_above) - 1
    # Within a cell the fewest hits and the most rows give the least bound. The lowest levels bind first.
    hits = hits_above[first * labelled // n_rows] * (n_rows / labelled)
    order = np.argsort(levels, kind="stable")[: np.count_nonzero(levels < 1.0)]
    return int(least_promise(hits[order], last[order].astype(np.float64), levels[order], k))


def rows_for_hit(hits_above: NDArray[Any], n_new: int, k: int, miss: float) -> str:
    """Return how many labelled rows like these promise a hit in the first k of ``n_new`` rows, in words."""
    n = len(hits_above) - 1

    def is_enough(times: int) -> bool:
        above = times * np.interp(np.arange(times * n + 1) / times, np.arange(n + 1), hits_above)
        return hits_bound(above, times * n, n_new, k, miss) > 0

    try:
        return f"about {n * least(is_enough, 2, max(2, MOST_COPIED // n), 'times as many rows'):,} would"
    except ValueError:
        return f"nor would {MOST_COPIED:,} like them"


def spread(n: int, ratio: float = DEPTH_RATIO) -> Counts:
    """Return whole numbers from 1 to n, each about this many times the one before, or one more."""
    return np.unique(np.rint(np.geomspace(1, n, 2 + int(math.log(n) / math.log(ratio)))).astype(np.int64))


@lru_cache(maxsize=512)
def order_statistic_floors(n: int, miss: float) -> Floats:
    """Return floors under 0 and the n ascending order statistics of uniform numbers, which hold together."""
    # They are quantiles of Beta(i, n + 1 - i) at one level for a grid of i, and stay level up to the next.
    # The level is found from the exact joint chance, by the steps of a Poisson process with n points; of more
    # than 1,000 it is `miss` over the size of the grid.
    # The import takes a tenth of a second, which other measures need not wait for.
    from scipy.signal import fftconvolve

    some = spread(n, 1.15 if n <= MAX_JOINT else 1.3)
    grid = np.union1d(some, n + 1 - some)

    def excess(log_level: float) -> float:
        floors, state = betaincinv(grid, n + 1.0 - grid, math.exp(log_level)), np.ones(1)
        for most, step in zip(grid, np.diff(floors, prepend=0.0), strict=True):
            new = np.arange(most)
            chances = np.exp(new * math.log(n * step) - n * step - gammaln(new + 1.0))
            state = fftconvolve(state, chances)[:most]
        left, rest = n - np.arange(len(state)), n * (1.0 - floors[-1])
        last = np.exp(left * math.log(rest) - rest - gammaln(left + 1.0))
        return float(state @ last / math.exp(n * math.log(n) - n - math.lgamma(n + 1.0))) - 1.0 + miss

    level = miss / len(grid)
    if 1 < n <= MAX_JOINT:
        # The margin is larger than the rounding of the sums.
        level = math.exp(brentq(excess, math.log(level), math.log(miss))) * (1.0 - 1e-6)
    floors = np.concatenate([[0.0], betaincinv(grid, n + 1.0 - grid, level)])
    return np.repeat(floors, np.diff(grid, prepend=0, append=n + 1))


def divided(named: NDArray[Any], n_new: int, together: bool) -> tuple[Counts, Floats]:
    """Return depths, and what each takes of the chance of failure."""
    others = np.setdiff1d(spread(n_new), named) if together else np.array([])
    depths = np.union1d(named, others).astype(np.int64)
    share = (NAMED_SHARE if len(others) else 1.0) if len(named) else 0.0
    shares = share / max(len(named), 1), (1.0 - share) / max(len(others), 1)
    return depths, np.where(np.isin(depths, named), *shares)


def least(is_enough: Callable[[int], bool], start: int, largest: int, what: str) -> int:
    """Return the smallest number from a start on that is enough, where all larger ones are too."""
    least, most = start - 1, start
    while not is_enough(most):
        if most >= largest:
            raise ValueError(f"not even {most:,} {what} like these are enough: ask for less.")
        least, most = most, min(2 * most, largest)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if is_enough(middle) else (middle, most)
    return most
