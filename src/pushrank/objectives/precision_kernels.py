"""Compiled surrogates of precision at k: from scores to a value and the slopes of every row.

A row with mass w counts as w copies, in parts if need be. Only the k highest rows of a class are ever sorted;
they are found by selection.
"""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled

STRUCT, RAMP, MAX, AVG, PERCEPTRON_MAX, PERCEPTRON_AVG = range(6)
"""The rules that ``slopes`` knows: the four surrogates, and the two updates that are no subgradients."""

PERCEPTRONS = (PERCEPTRON_MAX, PERCEPTRON_AVG)

FEW = 24  # that insertion sorts faster


@compiled()
def place(k, counted, total_positive):
    """Return how many rows k stands for where the positives have some mass, at most theirs.

    ``counted`` says whether k is a number of rows, or a fraction of the positives.
    """
    rows = k if counted else max(np.round(k * total_positive), 1.0)
    return min(rows, total_positive)


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
