r"""The surrogates struct, ramp, max and avg of precision at k, with their subgradients in the scores.

The compiled functions select the k highest rows of either class, sort those alone, and walk through them
once. :mod:`pushrank.solvers.streaming.updates` and :mod:`pushrank.solvers.ramp` call them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank._base.validation import check_choice, check_k, is_count, resolve_k
from pushrank.objectives.push import ScoreSurrogate
from pushrank.pairs import Sample

Surrogate = Literal["struct", "ramp", "max", "avg"]
STRUCT, RAMP, MAX, AVG = range(4)
SURROGATES = {"struct": STRUCT, "ramp": RAMP, "max": MAX, "avg": AVG}
# The loops that choose rows call it, and checks of numbers need no numba.
register_jitable(resolve_k)
# The highest negatives are selected from no fewer.
MIN_SELECTED = 64


@register_jitable
def resolve_k_within(k, counted, positive_weight):
    """Return k in rows, itself if ``counted``, else a fraction of a weight; at most that weight."""
    return min(resolve_k(k, counted, positive_weight), positive_weight)


class TopRows(NamedTuple):
    """The rows of a class, with the highest in front; of the negatives, lower ones may be left out."""

    # The first `n_top` of `rows` are the highest, in order. `weights`, shape (n_top,), say how much of each
    # of these counts: all, except for the last one. `class_weight` is the weight of all rows.

    rows: NDArray[np.int64]
    n_top: int
    weights: Floats
    class_weight: float


@compiled(inline="always")
def select_top(scores, positive, sample_weight, k):
    """Return the k highest negatives (or all) and positives, and the weight of negatives in the first k."""
    positives, negatives = np.empty(len(scores), np.int64), np.empty(len(scores), np.int64)
    p = n = 0
    positive_weight = negative_weight = 0.0
    # Most negatives are below k others that came before, and one comparison passes them over. The list of the
    # others is cut to the k highest so far whenever its length reaches the limit.
    lowest, limit = -np.inf, MIN_SELECTED
    for r in range(len(scores)):
        if positive[r]:
            positives[p] = r
            positive_weight += sample_weight[r]
            p += 1
            continue
        negative_weight += sample_weight[r]
        if scores[r] > lowest:
            negatives[n] = r
            n += 1
            if n == limit:
                n = select_highest(scores, sample_weight, negatives[:n], k, 1.0)
                if n < limit:
                    lowest = np.inf
                    for a in range(n):
                        lowest = min(lowest, scores[negatives[a]])
                limit = max(limit, 2 * n)
    positives, negatives = positives[:p], negatives[:n]
    n_count, n_weights = highest(scores, sample_weight, negatives, min(k, negative_weight), 1.0)
    p_count, p_weights = highest(scores, sample_weight, positives, k, 1.0)
    top_negatives = TopRows(negatives, n_count, n_weights, negative_weight)
    top_positives = TopRows(positives, p_count, p_weights, positive_weight)
    return top_negatives, top_positives, _mistakes(scores, top_negatives, top_positives, k)


@compiled()
def evaluate_surrogate(surrogate, scores, positive, sample_weight, k, slope):
    """Write a subgradient; return the surrogate, and the weight of negatives among the first k of all."""
    slope[:] = 0.0
    negatives, positives, mistakes = select_top(scores, positive, sample_weight, k)
    if surrogate == STRUCT:
        value = _struct(scores, sample_weight, slope, negatives, positives, k)
    elif surrogate == RAMP:
        # The highest negative is paired with the lowest of the k highest positives.
        rows, weights = positives.rows[: positives.n_top][::-1].copy(), positives.weights[::-1].copy()
        value = _paired_hinges(scores, slope, negatives, rows, weights, positives.n_top)
    elif surrogate == MAX:
        count, weights = highest(scores, sample_weight, positives.rows, k, -1.0)
        value = _paired_hinges(scores, slope, negatives, positives.rows, weights, count)
    else:
        value = _average(scores, sample_weight, slope, negatives, positives, k)
    return value, mistakes


@compiled()
def highest(scores, sample_weight, rows, target, sign):
    """Bring the highest rows of a weight of ``target`` to the front; return how many, and how much counts."""
    count = select_highest(scores, sample_weight, rows, target, sign)
    _sort_descending(scores, rows[:count], sign)
    weights = np.empty(count)
    left = target
    for a in range(count):
        weights[a] = min(sample_weight[rows[a]], left)
        left -= weights[a]
    return count, weights


@compiled(inline="always")
def _sort_descending(scores, rows, sign):
    """Put rows in the order of falling ``sign * score``; tied rows keep theirs."""
    count = len(rows)
    keys = np.empty(count)
    for a in range(count):
        keys[a] = sign * scores[rows[a]]
    # Runs are merged, and their length doubles. With numpy.argsort a first fit would take 1.2 times as long
    # to compile (benchmarks/sorting.txt). Tied rows keep their order, because it decides which of them are
    # added to the coefficients.
    merged_rows, merged_keys = np.empty_like(rows), np.empty(count)
    width = 1
    while width < count:
        for start in range(0, count, 2 * width):
            middle, end = min(start + width, count), min(start + 2 * width, count)
            a, b = start, middle
            for index in range(start, end):
                from_first = b >= end or (a < middle and keys[a] >= keys[b])
                source = a if from_first else b
                merged_rows[index], merged_keys[index] = rows[source], keys[source]
                a, b = (a + 1, b) if from_first else (a, b + 1)
        for a in range(count):
            rows[a], keys[a] = merged_rows[a], merged_keys[a]
        width *= 2


@compiled()
def select_highest(scores, sample_weight, rows, target, sign):
    """Bring the fewest rows of highest ``sign * score`` that have a weight of ``target`` to the front."""
    # Three-way quickselect takes linear time on average, also with ties. numpy.partition takes no weights.
    low, high = 0, len(rows)
    missing = target
    # Pivots come from a fixed xorshift sequence, so that equal input gives equal output in any thread.
    seed = np.uint64(88172645463325252)
    while low < high:
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
        pivot = sign * scores[rows[low + np.int64(seed % np.uint64(high - low))]]
        above, below, at = low, high, low
        weight_above = weight_at = 0.0
        while at < below:
            row = rows[at]
            key = sign * scores[row]
            if key > pivot:
                rows[at], rows[above] = rows[above], row
                weight_above += sample_weight[row]
                above += 1
                at += 1
            elif key < pivot:
                below -= 1
                rows[at], rows[below] = rows[below], row
            else:
                weight_at += sample_weight[row]
                at += 1
        # The rows above the pivot either suffice, or suffice with tied rows, or all of both are taken.
        if weight_above >= missing:
            high = above
        elif weight_above + weight_at >= missing:
            missing -= weight_above
            while missing > 0.0 and above < below:
                missing -= sample_weight[rows[above]]
                above += 1
            return above
        else:
            missing -= weight_above + weight_at
            low = below
    return low


@compiled(inline="always")
def _mistakes(scores, negatives, positives, k):
    """Return the weight of negatives among the first k of all rows; tied negatives come first."""
    mistakes, left = 0.0, k
    n = p = 0
    while left > 0.0 and n < negatives.n_top:
        if p < positives.n_top and scores[positives.rows[p]] > scores[negatives.rows[n]]:
            left -= positives.weights[p]
            p += 1
        else:
            step = min(negatives.weights[n], left)
            mistakes += step
            left -= step
            n += 1
    return mistakes


@compiled()
def add_between(slope, top, start, stop, factor):
    """Add ``factor`` for each unit of weight between two depths in the list of the highest rows."""
    depth = 0.0
    for a in range(top.n_top):
        within = min(depth + top.weights[a], stop) - max(depth, start)
        if within > 0.0:
            slope[top.rows[a]] += factor * within
        depth += top.weights[a]


@compiled()
def _struct(scores, sample_weight, slope, negatives, positives, k):
    """Return the sum of the k highest of ``s + 1 - y``, less the positives' scores; add its slope."""
    taken, left = 0.0, k
    n = p = 0
    while left > 0.0 and (n < negatives.n_top or p < positives.n_top):
        if n < negatives.n_top and (
            p >= positives.n_top or scores[negatives.rows[n]] + 1.0 >= scores[positives.rows[p]]
        ):
            step = min(negatives.weights[n], left)
            slope[negatives.rows[n]] += step
            taken += step
            n += 1
        else:
            step = min(positives.weights[p], left)
            slope[positives.rows[p]] += step
            p += 1
        left -= step
    # The slope so far is the weight that counts of each row.
    value = taken
    for a in range(n):
        value += slope[negatives.rows[a]] * scores[negatives.rows[a]]
    for row in positives.rows:
        slope[row] -= sample_weight[row]
        value += slope[row] * scores[row]
    return value


@compiled()
def _paired_hinges(scores, slope, negatives, rows, weights, count):
    """Return the sum of hinges of pairs: the negatives from the highest down, and positives in order."""
    value = 0.0
    n = p = 0
    used_n = used_p = 0.0
    while n < negatives.n_top and p < count:
        hinge = 1.0 + scores[negatives.rows[n]] - scores[rows[p]]
        # Negatives fall and positives do not: all further pairs have hinges of zero.
        if hinge <= 0.0:
            break
        step = min(negatives.weights[n] - used_n, weights[p] - used_p)
        value += step * hinge
        slope[negatives.rows[n]] += step
        slope[rows[p]] -= step
        # Both rows are used up by equal weights, so that one of them gives way to the next.
        used_n += step
        used_p += step
        if used_n >= negatives.weights[n]:
            n += 1
            used_n = 0.0
        if used_p >= weights[p]:
            p += 1
            used_p = 0.0
    return value


@compiled()
def _average(scores, sample_weight, slope, negatives, positives, k):
    """Return the maximum over whole q, negatives at the top, against the mean of the lowest positives."""
    largest = min(k, negatives.class_weight)
    # The number of positives that may be missed without a mistake.
    spare = positives.class_weight - k
    low_sum = 0.0
    for a in range(positives.n_top, len(positives.rows)):
        low_sum += sample_weight[positives.rows[a]] * scores[positives.rows[a]]
    # The lowest of the k highest may count in part, and its rest is among the lowest positives.
    if positives.n_top > 0:
        last_row = positives.rows[positives.n_top - 1]
        low_sum += (sample_weight[last_row] - positives.weights[positives.n_top - 1]) * scores[last_row]
    # With no negative at the top the surrogate is zero.
    best, best_q = 0.0, 0.0
    q = high_sum = 0.0
    n, p = 0, positives.n_top - 1
    used_n = used_p = 0.0
    while q < largest and n < negatives.n_top and p >= 0:
        high, low = scores[negatives.rows[n]], scores[positives.rows[p]]
        step = min(largest - q, negatives.weights[n] - used_n, positives.weights[p] - used_p)
        first, last = np.floor(q) + 1.0, np.floor(q + step)
        peak = last
        if first < last and low > high + 1.0:
            # While the two rows stay the same the function is concave in q. Its maximum is at a slope of
            # zero, so that a row takes the same time whatever its weight.
            curvature = max(low * (spare + q) - low_sum, 0.0)
            peak = np.floor(np.sqrt(curvature / (low - high - 1.0)) * np.sqrt(spare) - spare)
        for whole in (peak, peak + 1.0):
            at = min(max(whole, first), last)
            if first <= last:
                added = at - q
                value = at + high_sum + added * high - at * ((low_sum + added * low) / (spare + at))
                if value > best:
                    best, best_q = value, at
        high_sum += step * high
        low_sum += step * low
        q += step
        used_n += step
        used_p += step
        if used_n >= negatives.weights[n]:
            n += 1
            used_n = 0.0
        if used_p >= positives.weights[p]:
            p -= 1
            used_p = 0.0
    if q > 0.0:
        value = q + high_sum - q * (low_sum / (spare + q))
        if value > best:
            best, best_q = value, q
    if best_q > 0.0:
        add_between(slope, negatives, 0.0, best_q, 1.0)
        # The weights add up to k, except for rounding, which has to be that of the rows.
        n_hits = positives.weights.sum() - best_q
        add_missed_positives(slope, sample_weight, positives, n_hits, -best_q / (spare + best_q))
    return best


@compiled(inline="always")
def add_missed_positives(slope, sample_weight, positives, n_hits, factor):
    """Add ``factor`` for each unit of weight of all positives except the ``n_hits`` highest."""
    for row in positives.rows:
        slope[row] += factor * sample_weight[row]
    add_between(slope, positives, 0.0, n_hits, -factor)


@compiled()
def top_positive_weights(scores, positive, sample_weight, k):
    """Return how much of every row's weight is among the k highest positives."""
    positives = np.flatnonzero(positive)
    count, weights = highest(scores, sample_weight, positives, k, 1.0)
    in_top = np.zeros(len(scores))
    for a in range(count):
        in_top[positives[a]] = weights[a]
    return in_top


@compiled()
def ramp_majorant(in_top, scores, positive, sample_weight, k, slope):
    """Write a subgradient of a convex bound of the ramp; return the bound, and its plane's value at zero."""
    # The ramp is the sum of the k highest of `s + 1 - y` less the scores of the k highest positives. The
    # bound subtracts the scores of the fixed positives `in_top`, so it is the ramp if these are the highest.
    keys = np.empty(len(scores))
    for r in range(len(scores)):
        keys[r] = scores[r] if positive[r] else scores[r] + 1.0
        slope[r] = -in_top[r]
    rows = np.arange(len(scores))
    left, offset = k, 0.0
    # The highest need no order among them: selection brings the lowest, which may count in part, to the end.
    for row in rows[: select_highest(keys, sample_weight, rows, k, 1.0)]:
        step = min(sample_weight[row], left)
        left -= step
        slope[row] += step
        if not positive[row]:
            offset += step
    value = offset
    for r in range(len(scores)):
        value += slope[r] * scores[r]
    return value, offset


@compiled()
def mean_ramp_majorant(starts, ks, in_top, scores, positive, sample_weight, slope):
    """Do the work of ``ramp_majorant`` for the mean over consecutive lists of rows, each over its k."""
    value = offset = 0.0
    n_lists = len(ks)
    for j in range(n_lists):
        start, stop, unit = starts[j], starts[j + 1], n_lists * ks[j]
        one_value, one_offset = ramp_majorant(
            in_top[start:stop],
            scores[start:stop],
            positive[start:stop],
            sample_weight[start:stop],
            ks[j],
            slope[start:stop],
        )
        value += one_value / unit
        offset += one_offset / unit
        for r in range(start, stop):
            slope[r] /= unit
    return value, offset


@dataclass(frozen=True)
class PrecisionAtK(ScoreSurrogate):
    r"""A surrogate of the number of negatives among the k highest scores.

    With :math:`t_{(l)}` the l-th highest score of a negative, :math:`s_{(l)}` and :math:`s_{[l]}` the l-th
    highest and lowest of a positive, m positives and K negatives:

    .. math::

        \mathrm{ramp} &= \sum_{l \le \min(k, K)} [1 + t_{(l)} - s_{(k - l + 1)}]_+ \\
        \mathrm{max} &= \sum_{l \le \min(k, K)} [1 + t_{(l)} - s_{[l]}]_+ \\
        \mathrm{avg} &= \max_{q \le \min(k, K)} \; q + \sum_{l \le q} t_{(l)}
        - \frac{q}{m - k + q} \sum_{l \le m - k + q} s_{[l]} \\
        \mathrm{struct} &= \text{the sum of the k highest of } s + 1 - y, \text{ less } \sum_{y = 1} s

    Then ramp :math:`\le` avg :math:`\le` max, and all three bound the number of negatives among the first k
    from above. struct, that of the structural SVM, is no bound, and unbounded below if k < m. All except ramp
    are convex.

    O(n + k log k): no class is sorted as a whole. Tied negatives stand above tied positives. A row of weight
    w counts as w copies.

    Kar, Narasimhan and Jain, ICML 2015, equations (3) to (7), with :math:`\|\hat y\|_1 = k` and the last term
    of (7) zero at k = m.

    Parameters
    ----------
    k : int or float, default=0.25
        An int is a number of rows, from 1 to the number of positives; a float in (0, 1] the fraction of the
        positives, rounded to a number between 1 and theirs, halves to even.
    surrogate : {"struct", "ramp", "max", "avg"}, default="avg"
        Which one: the tightest bound is ramp, which is not convex, and avg the tighter of the convex ones.

    Raises
    ------
    ValueError
        When k or the name is out of range.

    Examples
    --------
    >>> surrogate = PrecisionAtK(2, "max")
    >>> value, slope = surrogate.evaluate([1, 0, 1, 0], [3.0, 2.5, 1.0, 0.0])
    >>> value, slope.tolist()
    (2.5, [0.0, 1.0, -1.0, 0.0])
    """

    k: float = 0.25
    surrogate: Surrogate = "avg"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_choice("surrogate", self.surrogate, SURROGATES)

    def evaluation(self, sample: Sample, scores: Floats) -> tuple[float, Floats]:
        """Return value and subgradient for a sample of two classes and checked scores."""
        positive = np.zeros(sample.n_rows, dtype=bool)
        positive[sample.positives] = True
        weights = sample.row_weights
        sample_weight = np.ones(sample.n_rows) if weights is None else weights
        k = self.count(float(sample_weight[positive].sum()))
        slope = np.empty(sample.n_rows)
        value, _ = evaluate_surrogate(SURROGATES[self.surrogate], scores, positive, sample_weight, k, slope)
        return float(value), slope

    def count(self, n_positive: float, *, capped: bool = False) -> float:
        """Return k as a number of rows; above the weight of all positives an error, or it if ``capped``."""
        counted = is_count(self.k)
        if counted and self.k > n_positive and not capped:
            raise ValueError(
                f"k={self.k} is above the number of positives, {n_positive:g}: the first k cannot all be "
                "hits. Take a smaller k, or a fraction of the positives such as 0.25."
            )
        return float(resolve_k_within(float(self.k), counted, float(n_positive)))
