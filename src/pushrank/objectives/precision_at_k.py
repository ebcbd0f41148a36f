"""The surrogates of precision at k: struct, ramp, max and avg.

Compiled surrogates of precision at k: from scores to a value and the slopes of every row.

A row with mass w counts as w copies, in parts if need be. Only the k highest rows of a class are ever sorted;
they are found by selection.

Surrogates of precision at k, as functions of the score vector.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from pushrank._numeric import Floats
from pushrank._parallel import compiled
from pushrank._validation import check_k, is_count, resolve_k
from pushrank.pairs import BipartiteSample, Sample

STRUCT, RAMP, MAX, AVG, PERCEPTRON_MAX, PERCEPTRON_AVG = range(6)
"""The rules that ``slopes`` knows: the four surrogates, and the two updates that are no subgradients."""

PERCEPTRONS = (PERCEPTRON_MAX, PERCEPTRON_AVG)

FEW = 24  # that insertion sorts faster


@compiled()
def place(k, counted, total_positive):
    """Return how many rows k stands for where the positives have some mass, at most theirs.

    ``counted`` says whether k is a number of rows, or a fraction of the positives.
    """
    return min(resolve_k(k, counted, total_positive), total_positive)


@compiled()
def slopes(rule, scores, positive, mass, k, out):
    """Write the slope of every row and return the rule's value and the mass of negatives among the first k.

    The slopes are a subgradient of the surrogate; for the perceptrons they are the update with its sign
    turned, and the value is the mass of negatives. ``k`` is at most the positives' mass; tied negatives go
    first.
    """
    out[:] = 0.0
    n_positive = 0
    total_positive = total_negative = 0.0
    for r in range(len(scores)):
        if positive[r]:
            n_positive += 1
            total_positive += mass[r]
        else:
            total_negative += mass[r]
    positives = np.empty(n_positive, np.int64)
    negatives = np.empty(len(scores) - n_positive, np.int64)
    p = n = 0
    for r in range(len(scores)):
        if positive[r]:
            positives[p] = r
            p += 1
        else:
            negatives[n] = r
            n += 1
    n_top, top_masses = highest(scores, mass, negatives, min(k, total_negative), 1.0)
    p_top, held_masses = highest(scores, mass, positives, k, 1.0)

    wrong = _wrong(scores, negatives, top_masses, positives, held_masses, n_top, p_top, k)
    if rule in PERCEPTRONS:
        if wrong > 0.0:
            _mark(out, negatives, top_masses, n_top, 0.0, wrong, 1.0)
            if rule == PERCEPTRON_MAX:
                _mark(out, positives, held_masses, p_top, k - wrong, k, -1.0)
            else:
                share = -wrong / (total_positive - k + wrong)
                for p in range(n_positive):
                    out[positives[p]] = share * mass[positives[p]]
                _mark(out, positives, held_masses, p_top, 0.0, k - wrong, -share)
        return wrong, wrong
    if rule == STRUCT:
        value = _struct(scores, mass, out, negatives, top_masses, n_top, positives, held_masses, p_top, k)
    elif rule == RAMP:
        held_masses = held_masses[::-1].copy()
        held = positives[:p_top][::-1].copy()
        value = _paired(scores, out, negatives, top_masses, n_top, held, held_masses, p_top)
    elif rule == MAX:
        p_low, low_masses = highest(scores, mass, positives, k, -1.0)
        value = _paired(scores, out, negatives, top_masses, n_top, positives, low_masses, p_low)
    else:
        most = min(k, total_negative)
        spare = total_positive - k
        value = _average(
            scores, mass, out, negatives, top_masses, n_top, positives, held_masses, p_top, most, spare
        )
    return value, wrong


@compiled()
def highest(scores, mass, rows, target, sign):
    """Bring the rows of highest ``sign * score`` with a mass of ``target`` to the front, the highest first.

    Return how many they are and how much of each counts: all of it, but for the last.
    """
    count = _select(scores, mass, rows, target, sign)
    if count <= FEW:
        for a in range(1, count):
            row = rows[a]
            key = sign * scores[row]
            b = a
            while b > 0 and sign * scores[rows[b - 1]] < key:
                rows[b] = rows[b - 1]
                b -= 1
            rows[b] = row
    else:
        front = rows[:count].copy()
        order = np.argsort(-sign * scores[front], kind="mergesort")
        for a in range(count):
            rows[a] = front[order[a]]
    masses = np.empty(count)
    left = target
    for a in range(count):
        masses[a] = min(mass[rows[a]], left)
        left -= masses[a]
    return count, masses


@compiled()
def _select(scores, mass, rows, target, sign):
    """Bring the fewest rows of highest ``sign * score`` that have a mass of ``target`` to the front.

    Three-way quickselect, linear on average whatever the ties; pivots come from a fixed sequence.
    """
    low, high = 0, len(rows)
    missing = target
    seed = np.uint64(88172645463325252)
    while low < high:
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
        pivot = sign * scores[rows[low + np.int64(seed % np.uint64(high - low))]]
        above, below, at = low, high, low
        mass_above = mass_at = 0.0
        while at < below:
            row = rows[at]
            key = sign * scores[row]
            if key > pivot:
                rows[at], rows[above] = rows[above], row
                mass_above += mass[row]
                above += 1
                at += 1
            elif key < pivot:
                below -= 1
                rows[at], rows[below] = rows[below], row
            else:
                mass_at += mass[row]
                at += 1
        if mass_above >= missing:
            high = above
        elif mass_above + mass_at >= missing:
            missing -= mass_above
            while missing > 0.0 and above < below:
                missing -= mass[rows[above]]
                above += 1
            return above
        else:
            missing -= mass_above + mass_at
            low = below
    return low


@compiled()
def _wrong(scores, negatives, top_masses, positives, held_masses, n_top, p_top, k):
    """Return the mass of negatives among the first k of all rows, tied negatives first."""
    wrong, left = 0.0, k
    n = p = 0
    while left > 0.0 and n < n_top:
        if p < p_top and scores[positives[p]] > scores[negatives[n]]:
            left -= held_masses[p]
            p += 1
        else:
            step = min(top_masses[n], left)
            wrong += step
            left -= step
            n += 1
    return wrong


@compiled()
def _mark(out, rows, masses, count, start, stop, factor):
    """Add ``factor`` for each unit of mass between two depths of a sorted list."""
    depth = 0.0
    for a in range(count):
        counted = min(depth + masses[a], stop) - max(depth, start)
        if counted > 0.0:
            out[rows[a]] += factor * counted
        depth += masses[a]


@compiled()
def _struct(scores, mass, out, negatives, top_masses, n_top, positives, held_masses, p_top, k):
    """Sum the k highest of ``s + 1 - y``, less the positives' scores."""
    taken, left = 0.0, k
    n = p = 0
    while left > 0.0 and (n < n_top or p < p_top):
        if n < n_top and (p >= p_top or scores[negatives[n]] + 1.0 >= scores[positives[p]]):
            step = min(top_masses[n], left)
            out[negatives[n]] += step
            taken += step
            n += 1
        else:
            step = min(held_masses[p], left)
            out[positives[p]] += step
            p += 1
        left -= step
    value = taken
    for a in range(n):
        value += out[negatives[a]] * scores[negatives[a]]
    for a in range(len(positives)):
        row = positives[a]
        out[row] -= mass[row]
        value += out[row] * scores[row]
    return value


@compiled()
def _paired(scores, out, negatives, top_masses, n_top, positives, masses, count):
    """Sum the hinges of negatives from the highest down and positives from the lowest up, in pairs."""
    value = 0.0
    n = p = 0
    used_n = used_p = 0.0
    while n < n_top and p < count:
        hinge = 1.0 + scores[negatives[n]] - scores[positives[p]]
        if hinge <= 0.0:
            break
        step = min(top_masses[n] - used_n, masses[p] - used_p)
        value += step * hinge
        out[negatives[n]] += step
        out[positives[p]] -= step
        used_n += step
        used_p += step
        if used_n >= top_masses[n]:
            n += 1
            used_n = 0.0
        if used_p >= masses[p]:
            p += 1
            used_p = 0.0
    return value


@compiled()
def _average(scores, mass, out, negatives, top_masses, n_top, positives, held_masses, p_top, most, spare):
    """Find the number q of negatives at the top that is worst against the mean of the lowest positives.

    Whole numbers are tried, and the most there can be. A row costs the same whatever its mass.
    """
    low_sum = 0.0
    for a in range(p_top, len(positives)):
        low_sum += mass[positives[a]] * scores[positives[a]]
    if p_top > 0:
        last = positives[p_top - 1]
        low_sum += (mass[last] - held_masses[p_top - 1]) * scores[last]
    best, best_q = 0.0, 0.0
    q = high_sum = 0.0
    n, p = 0, p_top - 1
    used_n = used_p = 0.0
    while q < most and n < n_top and p >= 0:
        high, low = scores[negatives[n]], scores[positives[p]]
        step = min(most - q, top_masses[n] - used_n, held_masses[p] - used_p)
        first, last = np.floor(q) + 1.0, np.floor(q + step)
        peak = last
        if first < last and low > high + 1.0:
            # concave while the two rows stay the same: the slope is zero here
            bend = max(low * (spare + q) - low_sum, 0.0)
            peak = np.floor(np.sqrt(bend / (low - high - 1.0)) * np.sqrt(spare) - spare)
        for whole in (peak, peak + 1.0):
            at = min(max(whole, first), last)
            if first <= last:
                more = at - q
                value = at + high_sum + more * high - at * ((low_sum + more * low) / (spare + at))
                if value > best:
                    best, best_q = value, at
        high_sum += step * high
        low_sum += step * low
        q += step
        used_n += step
        used_p += step
        if used_n >= top_masses[n]:
            n += 1
            used_n = 0.0
        if used_p >= held_masses[p]:
            p -= 1
            used_p = 0.0
    if q > 0.0:
        value = q + high_sum - q * (low_sum / (spare + q))
        if value > best:
            best, best_q = value, q
    if best_q > 0.0:
        _mark(out, negatives, top_masses, n_top, 0.0, best_q, 1.0)
        share = -best_q / (spare + best_q)
        for a in range(len(positives)):
            out[positives[a]] = share * mass[positives[a]]
        held = 0.0
        for a in range(p_top):
            held += held_masses[a]
        _mark(out, positives, held_masses, p_top, 0.0, held - best_q, -share)
    return best


@compiled()
def held_at_top(scores, positive, mass, k):
    """Return how much of every row is among the positives of highest score with a mass of k."""
    positives = np.flatnonzero(positive)
    count, masses = highest(scores, mass, positives, k, 1.0)
    held = np.zeros(len(scores))
    for a in range(count):
        held[positives[a]] = masses[a]
    return held


@compiled()
def wrong_at_top(scores, positive, mass, k):
    """Return the mass of negatives among the first k, tied negatives first."""
    _, wrong = slopes(PERCEPTRON_MAX, scores, positive, mass, k, np.empty(len(scores)))
    return wrong


@compiled()
def slopes_against(held, scores, positive, mass, k, out):
    """Write a subgradient of the sum of the k highest of ``s + 1 - y`` less the held scores; return it."""
    value, _ = slopes(STRUCT, scores, positive, mass, k, out)
    for r in range(len(scores)):
        more = (mass[r] if positive[r] else 0.0) - held[r]
        out[r] += more
        value += more * scores[r]
    return value


Surrogate = Literal["struct", "ramp", "max", "avg"]
RULES = {"struct": STRUCT, "ramp": RAMP, "max": MAX, "avg": AVG}


@dataclass(frozen=True)
class PrecisionAtK:
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
    from above. struct, the structural SVM's, is no bound, and has none below where k < m. All but ramp are
    convex.

    Parameters
    ----------
    k : int or float, default=0.25
        An int is a number of rows, from 1 to the number of positives; a float in (0, 1] the fraction of the
        positives, rounded to a number between 1 and theirs.
    surrogate : {"struct", "ramp", "max", "avg"}, default="avg"
        Which one.

    Raises
    ------
    ValueError
        When k or the name is out of range.

    Notes
    -----
    O(n + k log k): a class is never sorted whole. Ties count against the learner. A row of weight w counts as
    w copies, in parts where w is no whole number.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, equations (3) to (7), with :math:`\|\hat y\|_1 = k` and the last term
    of (7) zero at k = m.

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
        """Check the parameters."""
        check_k(self.k)
        check_surrogate(self.surrogate)

    def value(self, y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the surrogate alone.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels with two distinct values; the larger is the positive class.
        scores : array-like of shape (n,)
            A finite score for each row, in the order of ``y``.
        sample_weight : array-like of shape (n,), optional
            Finite, non-negative weights; an integer weight equals that many copies of the row.

        Returns
        -------
        float
            The surrogate.

        Raises
        ------
        ValueError
            As for ``evaluate``.

        Examples
        --------
        >>> PrecisionAtK(1, "struct").value([0, 1, 1], [0.0, 1.0, 2.0])
        -1.0
        """
        return self.evaluate(y, scores, sample_weight)[0]

    def evaluate(
        self, y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[float, Floats]:
        """Return the surrogate and a subgradient with respect to the scores.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels with two distinct values; the larger is the positive class.
        scores : array-like of shape (n,)
            A finite score for each row, in the order of ``y``.
        sample_weight : array-like of shape (n,), optional
            Finite, non-negative weights; an integer weight equals that many copies of the row.

        Returns
        -------
        value : float
            The surrogate.
        subgradient : ndarray of float64, shape (n,)
            In the rows' order; a gradient wherever the surrogate has one, and for ramp, which is not convex,
            one of a piece that is active.

        Raises
        ------
        ValueError
            When ``y`` has not exactly two classes, k is above the positives' weight, a score or weight is not
            finite, or lengths differ.

        Examples
        --------
        >>> PrecisionAtK(1, "avg").evaluate([0, 1, 1], [0.0, 0.5, 1.0])
        (0.25, array([ 1. , -0.5, -0.5]))
        """
        checked: Floats = check_array(scores, dtype=np.float64, ensure_2d=False, input_name="scores")
        sample = BipartiteSample.from_labels(y, sample_weight)
        if checked.shape != (sample.n_rows,):
            raise ValueError(f"y has {sample.n_rows} rows but scores has shape {checked.shape}.")
        return self.evaluation(sample, checked)

    def evaluation(self, sample: Sample, scores: Floats) -> tuple[float, Floats]:
        """Return value and subgradient for a sample of two classes and scores that are checked.

        Raises
        ------
        ValueError
            When k is above the positives' weight.
        """
        positive = np.zeros(sample.n_rows, dtype=bool)
        positive[sample.positives] = True
        weights = sample.row_weights
        masses = np.ones(sample.n_rows) if weights is None else weights
        count = self.count(float(masses[positive].sum()))
        slope = np.empty(sample.n_rows)
        value, _ = slopes(RULES[self.surrogate], scores, positive, masses, count, slope)
        return float(value), slope

    def count(self, n_positive: float) -> float:
        """Return k as a number of rows, for positives of some total weight.

        Parameters
        ----------
        n_positive : float
            The weight of all positives.

        Returns
        -------
        float
            A whole number of rows, as far as the weight allows.

        Raises
        ------
        ValueError
            When it is above that weight.

        Examples
        --------
        >>> PrecisionAtK(0.25).count(30)
        8.0
        """
        counted = is_count(self.k)
        if counted and self.k > n_positive:
            raise ValueError(
                f"k={self.k} is above the number of positives, {n_positive:g}: the first k cannot all be "
                "hits. Take a smaller k, or a fraction of the positives such as 0.25."
            )
        return float(place(float(self.k), counted, float(n_positive)))


def prec_at_k_struct(k: float = 0.25) -> PrecisionAtK:
    """Return the structural SVM's surrogate of precision at k.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PrecisionAtK`.

    Returns
    -------
    PrecisionAtK
        The convex surrogate ``struct``, which is no upper bound.

    Raises
    ------
    ValueError
        When k is out of range.

    Examples
    --------
    >>> prec_at_k_struct(1).value([0, 1, 1], [0.0, 1.0, 2.0])
    -1.0
    """
    return PrecisionAtK(k, "struct")


def prec_at_k_ramp(k: float = 0.25) -> PrecisionAtK:
    """Return the ramp surrogate of precision at k, the tightest bound, which is not convex.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PrecisionAtK`.

    Returns
    -------
    PrecisionAtK
        The surrogate ``ramp``.

    Raises
    ------
    ValueError
        When k is out of range.

    Examples
    --------
    >>> prec_at_k_ramp(1).value([0, 1, 1], [0.0, -5.0, 2.0])
    0.0
    """
    return PrecisionAtK(k, "ramp")


def prec_at_k_max(k: float = 0.25) -> PrecisionAtK:
    """Return the max surrogate of precision at k, a convex upper bound.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PrecisionAtK`.

    Returns
    -------
    PrecisionAtK
        The surrogate ``max``.

    Raises
    ------
    ValueError
        When k is out of range.

    Examples
    --------
    >>> prec_at_k_max(1).value([0, 1, 1], [0.0, -5.0, 2.0])
    6.0
    """
    return PrecisionAtK(k, "max")


def prec_at_k_avg(k: float = 0.25) -> PrecisionAtK:
    """Return the avg surrogate of precision at k, the tighter of the convex upper bounds.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PrecisionAtK`.

    Returns
    -------
    PrecisionAtK
        The surrogate ``avg``.

    Raises
    ------
    ValueError
        When k is out of range.

    Examples
    --------
    >>> prec_at_k_avg(1).value([0, 1, 1], [0.0, -5.0, 2.0])
    2.5
    """
    return PrecisionAtK(k, "avg")


def check_surrogate(name: Any) -> None:
    """Raise unless there is a surrogate of that name.

    Raises
    ------
    ValueError
        When there is none.
    """
    if not isinstance(name, str) or name not in RULES:
        raise ValueError(f"surrogate must be one of {list(RULES)}, got {name!r}.")
