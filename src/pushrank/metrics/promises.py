"""Promises of lists to come: bounds that hold for any number of labelled rows, by their exchangeability."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.signal import fftconvolve
from scipy.special import betainc, betaincinv, gammaln, ndtr, ndtri
from scipy.stats import ks_2samp
from sklearn.utils import check_random_state

from pushrank._numeric import Floats
from pushrank._parallel import compiled
from pushrank._validation import check_number, warn
from pushrank.metrics._docstrings import shared_docs
from pushrank.metrics._proportions import clopper_pearson_interval, difference_of_hits_interval
from pushrank.metrics._ranking import Ranking, comparable_scores, refuse_periods

Counts = NDArray[np.int64]
Ties = Literal["random", "pessimistic"]
# Numbers of rows that may lie above the edge of a list are taken together in so many cells; none is left out.
MAX_CELLS = 512
# Joint chances of more order statistics take seconds, and a sum of single chances then loses little.
MAX_JOINT = 1000
# What the depths that are named take of the chance of failure; all others share the rest.
NAMED_SHARE = 0.8
DEPTH_RATIO, PRECISION_RATIO = 1.25, 1.1
# The two-sample test at this level warns of new scores that differ from the labelled ones.
SHIFT_LEVEL = 0.001
# Plans go no further than so many labelled rows.
MOST_PLANNED = 10**7


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
    """Return cells of the numbers M of labelled rows above the edge of the first k new rows, with levels.

    M is beta-binomial. A cell holds the numbers from first to last, and its level is the chance of a wrong
    bound if M lies there. With x the normal score of M, the bound is wrong beyond a circle of radius z with
    tangents at 45 degrees, so that about as much is lost whether M or the labels or both err.
    """
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


def spread(n: int, ratio: float = DEPTH_RATIO) -> Counts:
    """Return whole numbers from 1 to n, each about so many times the one before, or one more."""
    return np.unique(np.rint(np.geomspace(1, n, 2 + int(math.log(n) / math.log(ratio)))).astype(np.int64))


@lru_cache(maxsize=512)
def order_statistic_floors(n: int, miss: float) -> Floats:
    """Return floors under 0 and the n ascending order statistics of uniform numbers, which hold together.

    They are quantiles of Beta(i, n + 1 - i) at one level for a grid of i, and stay level up to the next. The
    level is found from the exact joint chance, by the steps of a Poisson process with n points; of more than
    1,000 it is ``miss`` over the size of the grid.
    """
    some = spread(n, 1.15 if n <= MAX_JOINT else 1.3)
    grid = np.union1d(some, n + 1 - some)

    def excess(log_level: float) -> float:
        floors, state = betaincinv(grid, n + 1.0 - grid, math.exp(log_level)), np.ones(1)
        for most, step in zip(grid, np.diff(floors, prepend=0.0), strict=True):
            new = np.arange(most)
            state = fftconvolve(state, np.exp(new * math.log(n * step) - n * step - gammaln(new + 1.0)))[
                :most
            ]
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


class Guarantee(NamedTuple):
    """The result of :func:`guarantee`: bounds by depth, the arrays of shape (n_depths,).

    Parameters
    ----------
    depth, hits, expected_hits : ndarray
        Numbers of first rows among those to come, ascending; the hits that they hold at least; and an
        estimate that promises nothing, from the same share of the labelled rows.
    threshold, precision, recall, false_positive_rate : ndarray
        A score above which about that share of the labelled rows lies. Of the population at or above it at
        least such a share are hits; at least such a share of all hits, and at most such a share of all
        negatives, lie there.
    n_new : int
        The number of rows to come.
    confidence_level : float
        The least chance with which each column holds by itself, in all its rows.

    Examples
    --------
    >>> found = guarantee(np.arange(400) < 60, -np.arange(400.0), k=20, n_new=200)
    >>> found.hits_at([10, 20, 40]).tolist()
    [5, 15, 15]
    """

    depth: Counts
    hits: Counts
    expected_hits: Floats
    threshold: Floats
    precision: Floats
    recall: Floats
    false_positive_rate: Floats
    n_new: int
    confidence_level: float

    def hits_at(self, depth: ArrayLike) -> Counts:
        """Return the bound of the first rows, of any number; all hold together with those of the table.

        Hits do not fall with depth and grow by at most one a row, which bounds them between the depths.
        """
        at = np.asarray(depth, dtype=np.int64)
        if at.size and not 0 <= at.min() <= at.max() <= self.n_new:
            raise ValueError(f"depth must be from 0 to the {self.n_new} rows to come, got {depth!r}.")
        from_above = np.append(0, np.maximum.accumulate(self.hits))
        from_below = np.maximum.accumulate(np.append(self.hits - self.depth, -self.n_new)[::-1])[::-1]
        up, down = (np.searchsorted(self.depth, at, side) for side in ("right", "left"))
        return np.asarray(np.maximum(from_above[up], from_below[down] + at))

    def sentence(self, k: int) -> str:
        """Return the promise of the first k rows as a sentence."""
        hits = int(self.hits_at(k))
        promised = f"hold at least {hits:,} hit{'s' * (hits > 1)}."
        promised = (
            promised if hits else "are not promised a single hit: they, or the labelled rows, are too few."
        )
        level = f"With {100.0 * self.confidence_level:g} % confidence"
        return f"{level}, of the next {self.n_new:,} rows the first {k:,} {promised}"


@shared_docs
def guarantee(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: int | Sequence[int] | None = None,
    n_new: int | None = None,
    scores_new: ArrayLike | None = None,
    together: bool = True,
    confidence_level: float = 0.95,
    ties: Ties = "random",
    training_scores: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = 0,
) -> Guarantee:
    r"""Return how many hits the first rows of a coming list hold at least, for any number of labelled rows.

    .. math:: P(H_k \ge L_k \text{ for all } k) \ge 1 - \delta

    for the hits :math:`H_k` of the first k of N rows to come, and the confidence level :math:`1 - \delta`.

    %(labels_and_scores)s
    k : int or sequence of int, optional
        The depths for which the promise matters, from 1 to N; without them all matter alike.
    n_new : int, optional
        The number N of rows to come; by default as many as have new scores, or as are labelled.
    scores_new : array-like of shape (n_new,), optional
        Their scores, which are compared with the labelled ones.
    together : bool, default=True
        Whether all depths are promised at once, so that one may look and then choose: a fifth of
        :math:`\delta` goes to those beside `k`. If not, `k` is promised, and what follows from it.
    confidence_level : float, default=0.95
        %(promise_level)s
    ties : {"random", "pessimistic"}, default="random"
        Whether tied rows to come are in a random order, or negatives first.
    training_scores : array-like, optional
        The scores of the rows that the model was fitted to; labelled rows that are among them are refused.
    groups, sample_weight : array-like of shape (n,), optional
        Refused, as nothing is proved of them; :func:`guarantee_days` takes groups as units.
    pos_label : label, optional
    random_state : int, RandomState or None, default=0
        The seed of the order of tied labelled rows.

    Returns
    -------
    Guarantee
        The table, with :meth:`Guarantee.hits_at` for any depth and :meth:`Guarantee.sentence`.

    %(errors)s

    Warns
    -----
    UserWarning
        When new scores differ from the labelled ones in a two-sample test at one in a thousand.

    Notes
    -----
    Labelled rows must be new to the model, and exchangeable with those to come. Out-of-fold scores calibrate
    neither the model fitted to all rows nor the mean of the fold models: they give an estimate.

    *Hits*: the number M of labelled rows above the edge of the list has a known law. Given M, a random part
    of the rows above the edge is labelled, so :math:`L_k` is the least over M of the quantiles of k draws
    with the chance :math:`\mathrm{Beta}(Y_M, M + 1 - Y_M)`, for the :math:`Y_M` hits among the first M
    labelled rows. Their levels have the mean :math:`\delta_k` over the law of M, and :math:`\sum_k \delta_k =
    \delta` over the named depths and a grid of others. *Precision*: Clopper and Pearson's bound with the same
    :math:`\delta_k`, at the table's thresholds only. *Recall* and *false-positive rate*: joint bands of
    uniform order statistics, :math:`\delta` for each, at all thresholds. The guide has the proof.

    O(n log n): the scores are sorted once.

    References
    ----------
    Derived here; Clopper and Pearson, Biometrika 26 (1934); Berk and Jones, Zeitschrift fuer
    Wahrscheinlichkeitstheorie 47 (1979); Moscovich and Nadler, Statistics and Probability Letters 123 (2017).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(3000) < 0.05
    >>> guarantee(y, rng.normal(size=3000) + 2.0 * y, k=150).sentence(150)
    'With 95 % confidence, of the next 3,000 rows the first 150 hold at least 67 hits.'
    """
    check_number("confidence_level", confidence_level, 0.5, 0.9999)
    refuse_periods(k, "guarantee_days(y_true, scores, budget.periods(time).codes, k=budget.n)")
    if sample_weight is not None:
        raise ValueError("nothing is promised of weighted rows: leave sample_weight out, and repeat rows.")
    if groups is not None:
        raise ValueError(
            "nothing is promised of rows in groups: keep one row of each, or in Python take groups as units, "
            "by guarantee_days."
        )
    ranking = Ranking(y_true, comparable_scores(scores), None, pos_label)
    n, miss = ranking.n_rows, 1.0 - float(confidence_level)
    if training_scores is not None:
        distinct = np.unique(ranking.scores)
        known = np.isin(distinct, comparable_scores(training_scores)).mean()
        # Scores of few values are shared by other rows, and show nothing.
        if len(distinct) > 0.5 * n and known > 0.5:
            raise ValueError(
                f"{100 * known:.0f} % of the labelled rows' scores are those of training rows, which promise "
                "nothing: pass rows that the model has not seen."
            )
    if scores_new is not None:
        n_new = _check_new_scores(ranking.scores, comparable_scores(scores_new), n_new)
    n_new = n if n_new is None else n_new
    check_number("n_new", n_new, 1, integer=True)
    named = np.unique([] if k is None else k)
    for depth in named.tolist():
        check_number("k", depth, 1, n_new, integer=True)
    if not len(named) and not together:
        raise ValueError("together=False needs the depths that are promised: give k.")
    depths, shares = divided(named, n_new, together)
    order = tied_order(ranking, ties, random_state)
    hits_above = np.append(0, np.cumsum(ranking.is_positive[order]))
    of_depths = zip(depths.tolist(), (miss * shares).tolist(), strict=True)
    hits = np.array([hits_bound(hits_above, n, n_new, depth, of_depth) for depth, of_depth in of_depths])
    # The rows above a row that is counted from the top are independent draws from what scores higher.
    descending = np.append(-ranking.scores[order], np.inf)
    next_row = np.clip(depths * n // n_new, 1, n)
    above = np.searchsorted(descending, descending[next_row])
    positives, n_positives = hits_above[above], int(hits_above[-1])
    return Guarantee(
        depths,
        hits,
        np.interp(depths * (n / n_new), np.arange(n + 1), hits_above) * (n_new / n),
        np.nextafter(-descending[next_row], np.inf),
        clopper_pearson_interval(positives, above, miss * shares)[0],
        order_statistic_floors(n_positives, miss)[positives],
        1.0 - order_statistic_floors(n - n_positives, miss)[::-1][above - positives],
        n_new,
        float(confidence_level),
    )


def tied_order(ranking: Ranking, ties: Ties, random_state: Any) -> Counts:
    """Return the rows from the highest score down, tied ones in a random order or negatives first."""
    if ties == "pessimistic":
        return np.lexsort((ranking.is_positive, -ranking.scores))
    if ties != "random":
        raise ValueError(f"ties must be 'random' or 'pessimistic', got {ties!r}.")
    shuffled = check_random_state(random_state).permutation(ranking.n_rows)
    return np.asarray(shuffled[np.argsort(-ranking.scores[shuffled], kind="stable")])


def _check_new_scores(scores: Floats, new: Floats, n_new: int | None = None) -> int:
    """Return the number of new scores; warn if their distribution is another."""
    if n_new not in (None, len(new)):
        raise ValueError(f"n_new={n_new}, but there are {len(new)} new scores; leave n_new out.")
    test = ks_2samp(scores, new, method="asymp")
    if test.statistic == 0.0 and scores.min() < scores.max():
        raise ValueError("the new scores are those of the labelled rows: take those of the rows to come.")
    if test.pvalue < SHIFT_LEVEL:
        warn(
            "new scores differ from the labelled ones beyond chance: their distribution functions by "
            f"{test.statistic:.2f}, p = {test.pvalue:.1g}. What is promised assumes rows alike.",
            UserWarning,
        )
    return len(new)


@shared_docs
def guarantee_days(
    y_true: ArrayLike,
    scores: ArrayLike,
    days: ArrayLike,
    *,
    k: int,
    n_coming: int = 1,
    n_kept: int | None = None,
    confidence_level: float = 0.95,
    pos_label: Any = None,
) -> int:
    r"""Return how many hits the first k rows of a coming day hold at least, with past days as the units.

    .. math:: P(\text{at least } q \text{ of } m \text{ coming days have } H \ge H_{(r)}) \ge
        P(\mathrm{BetaBinomial}(m, r, D + 1 - r) \le m - q)

    for the r-th fewest hits of D past days; of one coming day it is :math:`1 - r / (D + 1)`.

    %(labels_and_scores)s
    days : array-like of shape (n,)
        The day of each row, or whatever else comes as a whole.
    k : int
        The number of first rows of each day, tied ones in a random order; a day of fewer counts with all.
    n_coming, n_kept : int
        The promise is of at least `n_kept` (by default all) of the next `n_coming` days.
    confidence_level : float, default=0.95
        %(promise_level)s
    pos_label : label, optional

    Returns
    -------
    int
        The hits of the r-th day, for the largest r that the confidence level allows.

    %(errors)s

    Notes
    -----
    Days must be exchangeable, without a trend or the rhythm of a week; the rows of a day may depend on each
    other. Where they do not, :func:`guarantee` for a day's rows promises more. O(n log n).

    References
    ----------
    Wilks, *Determination of sample sizes for setting tolerance limits* (1941), for order statistics.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, days = rng.random(4000) < 0.1, np.repeat(np.arange(40), 100)
    >>> guarantee_days(y, rng.normal(size=4000) + 2 * y, days, k=10)
    3
    """
    n_kept = n_coming if n_kept is None else n_kept
    check_number("confidence_level", confidence_level, 0.5, 0.9999)
    for name, value, most in (("k", k, np.inf), ("n_coming", n_coming, np.inf), ("n_kept", n_kept, n_coming)):
        check_number(name, value, 1, most, integer=True)
    ranking = Ranking(y_true, comparable_scores(scores), None, pos_label).with_groups(days)
    order = tied_order(ranking, "random", 0)
    of_day = np.asarray(ranking.groups)[order]
    order, of_day = order[np.argsort(of_day, kind="stable")], np.sort(of_day)
    places = np.arange(len(order)) - np.searchsorted(of_day, of_day)
    hits = np.sort(np.bincount(of_day, ranking.is_positive[order] & (places < k)))

    def holds(rank: int, n_days: int) -> bool:
        chance = beta_binomial_cdf(n_coming - n_kept, n_coming, float(rank), n_days + 1.0 - rank)
        return bool(chance >= confidence_level * (1.0 - 1e-12))

    n_days = len(hits)
    if not holds(1, n_days):
        needed = _least(lambda n: holds(1, n), n_days, MOST_PLANNED, "days")
        raise ValueError(
            f"{n_days} days promise nothing at {100 * confidence_level:g} %, {needed} days would: take more, "
            "or promise less by n_kept or confidence_level."
        )
    rank = _least(lambda rank: rank == n_days or not holds(rank + 1, n_days), 1, n_days, "days")
    return int(hits[rank - 1])


def _least(is_enough: Callable[[int], bool], start: int, largest: int, what: str) -> int:
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


@shared_docs
def select(
    y_true: ArrayLike, scores: ArrayLike, scores_new: ArrayLike, *, fdr: float = 0.2, pos_label: Any = None
) -> NDArray[np.bool_]:
    r"""Return which new rows to select so that the expected share of negatives among them is bounded.

    .. math:: p_j = \frac{1 + \#\{i : y_i = 0, s_i \ge s_j\}}{n + 1}, \quad \text{selected: } p_j \le q R / N

    for the largest number R of rows for which the rule of Benjamini and Hochberg selects as many.

    %(labels_and_scores)s
    scores_new : array-like of shape (n_new,)
        The scores of the rows to choose from.
    fdr : float, default=0.2
        The false-discovery rate q, strictly between 0 and 1: the mean of the share of negatives among the
        selected, which is 0 if there are none.
    pos_label : label, optional

    Returns
    -------
    ndarray of shape (n_new,)
        Whether each row is selected; tied rows are in or out together.

    %(errors)s

    Notes
    -----
    The rate is a mean over labelled and new rows; one list is bounded by :func:`guarantee`, which says what
    the rows must be, and warns as here. O(n log n).

    References
    ----------
    Jin and Candès, *Selection by prediction with conformal p-values*, JMLR 24 (2023).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, y_new = rng.random((2, 2000)) < 0.1
    >>> chosen = select(y, rng.normal(size=2000) + 3 * y, rng.normal(size=2000) + 3 * y_new)
    >>> int(chosen.sum()), round(float(1 - y_new[chosen].mean()), 2)
    (221, 0.21)
    """
    check_number("fdr", fdr, above=0.0, below=1.0)
    ranking = Ranking(y_true, comparable_scores(scores), None, pos_label)
    new, negatives = comparable_scores(scores_new), np.sort(ranking.negative_scores)
    _check_new_scores(ranking.scores, new)
    p_values = (1.0 + len(negatives) - np.searchsorted(negatives, new)) / (ranking.n_rows + 1.0)
    ascending = np.sort(p_values)
    enough = ascending[ascending <= fdr * np.arange(1, len(new) + 1) / len(new)]
    return np.asarray(p_values <= (enough[-1] if len(enough) else 0.0))


@shared_docs
def sample_size_for(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: int,
    n_new: int,
    hits: int | None = None,
    difference: float | None = None,
    other_scores: ArrayLike | None = None,
    confidence_level: float = 0.95,
    pos_label: Any = None,
) -> int:
    r"""Return about how many labelled rows a promise of hits takes, or a difference of two models.

    .. math:: \min \{n : L_k(n) \ge h\}

    %(labels_and_scores)s
    k, n_new : int
        The list is the first k of `n_new` rows to come.
    hits : int, optional
        The hits h to be promised for that list alone, from 1 to k.
    difference : float, optional
        In place of them: that many more hits in the list by `scores` than in that by `other_scores`.
    other_scores : array-like of shape (n,), optional
        The scores of the other model.
    confidence_level : float, default=0.95
        %(promise_level)s
    pos_label : label, optional

    Returns
    -------
    int
        So many rows like the given ones give the promise, or put the difference beyond chance, in about half
        of all samples.

    %(errors)s

    Notes
    -----
    The given rows stand for more of them: with hits in the same places of the list, and with as many rows on
    one of the two lists only, whose hits differ as asked. Nothing is promised. O(n log n).

    References
    ----------
    The bounds are those of :func:`guarantee` and :func:`compare`.

    Examples
    --------
    >>> sample_size_for(np.arange(400) % 4 == 0, -np.arange(400.0), k=100, n_new=1000, hits=15)
    2706
    """
    check_number("confidence_level", confidence_level, 0.5, 0.9999)
    check_number("n_new", n_new, 1, integer=True)
    check_number("k", k, 1, n_new, integer=True)
    ranking, miss = Ranking(y_true, comparable_scores(scores), None, pos_label), 1.0 - confidence_level
    n, plan = ranking.n_rows, (1, MOST_PLANNED, "rows")
    if hits is not None and difference is None:
        check_number("hits", hits, 1, k, integer=True)
        hits_above = np.append(0, np.cumsum(ranking.is_positive[tied_order(ranking, "random", 0)]))
        return _least(lambda rows: hits_bound(hits_above, rows, n_new, k, miss) >= hits, *plan)
    if hits is not None or difference is None or other_scores is None:
        raise ValueError("ask for hits, or for a difference and other_scores.")
    check_number("difference", difference, above=0.0, most=k)
    depth = max(1.0, k * n / n_new)
    ours, others = (r.shares_in_top(depth) for r in (ranking, ranking.with_scores(other_scores)))
    # Hits and rows on one list only, for each labelled row.
    mean, apart = (0.5 * float(np.abs(ours - others) @ of) / n for of in (ranking.is_positive, np.ones(n)))
    half = 0.5 * difference / n_new
    shares = np.array([mean + half, mean - half]) + max(half - mean, 0.0)

    def is_beyond_chance(rows: int) -> bool:
        of_each = rows * max(apart, float(shares[0]))
        return difference_of_hits_interval(tuple(rows * shares), (of_each, of_each), miss)[0] > 0.0

    return _least(is_beyond_chance, *plan)


def guaranteed_threshold(
    scores: Floats,
    is_positive: NDArray[np.bool_],
    miss: float,
    *,
    precision: float | None = None,
    recall: float | None = None,
    false_positive_rate: float | None = None,
) -> float:
    """Return the threshold whose list keeps to all aims, each for its share of the chance of failure.

    The i-th best positive has a recall, and the i-th best negative a rate, of Beta(i, m + 1 - i). Precisions
    are bounded at a grid of rows counted from the top, each for its share. If there is no such list, an error
    says how many times as many rows would do, if they were like these.
    """
    miss /= sum(aim is not None for aim in (precision, recall, false_positive_rate))
    descending = np.sort(-scores)
    hits_above = np.append(0, np.cumsum(is_positive[np.argsort(-scores)]))
    positives, negatives = np.sort(-scores[is_positive]), np.sort(-scores[~is_positive])

    def threshold(times: int) -> float:
        lowest, highest = np.inf, -np.inf
        if recall is not None:
            i = np.arange(1.0, times * len(positives) + 1.0)
            enough = np.flatnonzero(betainc(i, i[::-1], recall) <= miss)
            highest = positives[enough[0] // times] if len(enough) else np.nan
        if false_positive_rate is not None:
            i = np.arange(1.0, times * len(negatives) + 1.0)
            few = np.count_nonzero(betainc(i[::-1], i, 1.0 - false_positive_rate) <= miss)
            lowest = np.nextafter(negatives[(few - 1) // times], -np.inf) if few else np.nan
        if precision is None:
            fits = np.array([lowest if recall is None else highest])
        else:
            next_row = spread(len(scores), PRECISION_RATIO)
            # Of fewer rows not even hits alone would be enough.
            next_row = next_row[(miss / len(next_row)) ** (1.0 / (times * next_row)) >= precision]
            ends = np.append(descending, np.inf)[next_row]
            above = np.searchsorted(descending, ends)
            shares = clopper_pearson_interval(
                times * hits_above[above], times * above, miss / max(len(next_row), 1)
            )
            fits = np.nextafter(ends[shares[0] >= precision], -np.inf)
        fits = fits[(fits <= lowest) & (fits >= highest)]
        return -float(fits[-1]) if len(fits) else np.nan

    most = max(1, MOST_PLANNED // len(scores))
    times = _least(lambda times: not np.isnan(threshold(times)), 1, most, "times as many labelled rows")
    if times == 1:
        return threshold(1)
    raise ValueError(
        f"{len(scores):,} labelled rows guarantee no such list; about {times} times as many like these, "
        f"{(times - 1) * len(scores):,} more, would."
    )
