"""The compiled steps of sequential minimal optimisation."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled

CHECKED = 32  # steps between two looks at the gap
FLAT = 1e-12


@compiled()
def smo_steps(
    variables,
    scores,
    signs,
    upper,
    bend,
    costs,
    diagonal,
    kept,
    slots,
    last_used,
    tol,
    most,
    step,
    squared,
    objectives,
):
    """Move pairs of variables; return the row whose kernel column is wanted, or -1 at the end, and the steps.

    The pressure of a row is how fast the dual rises with its signed variable. The row of highest pressure
    that can grow and the one that promises the largest gain among those that can shrink move together.
    """
    n = len(variables)
    clock = last_used.max()
    while True:
        if step % CHECKED == 0:
            _measure(variables, scores, signs, bend, costs, squared, objectives)
            if objectives[0] - objectives[1] <= 0.999 * tol * objectives[0]:
                return -1, step
        if step >= most:
            return -1, step
        grows, highest = -1, -np.inf
        for i in range(n):
            if signs[i] > 0:
                if variables[i] < upper[i]:
                    pressure = 1.0 - scores[i] - bend[i] * variables[i]
                    if pressure > highest:
                        grows, highest = i, pressure
            elif signs[i] < 0 and variables[i] > 0.0 and -scores[i] > highest:
                grows, highest = i, -scores[i]
        if grows < 0:
            return -1, step
        if slots[grows] < 0:
            return grows, step
        clock += 1
        last_used[slots[grows]] = clock
        of_grows = kept[slots[grows]]
        shrinks, best, lowest = -1, 0.0, np.inf
        for j in range(n):
            if signs[j] < 0:
                pressure = -scores[j]
            elif signs[j] > 0 and variables[j] > 0.0:
                pressure = 1.0 - scores[j] - bend[j] * variables[j]
            else:
                continue
            lowest = min(lowest, pressure)
            difference = highest - pressure
            if difference > 0.0:
                curved = diagonal[grows] + diagonal[j] - 2.0 * of_grows[j] + bend[grows] + bend[j]
                gain = difference * difference / max(curved, FLAT)
                if gain > best:
                    shrinks, best = j, gain
        # a pressure is a difference of a score from one: rounding leaves no less
        if shrinks < 0 or highest - lowest <= 1e-15 * (1.0 + abs(highest)):
            return -1, step
        if slots[shrinks] < 0:
            return shrinks, step
        last_used[slots[shrinks]] = clock
        of_shrinks = kept[slots[shrinks]]
        pressure = -scores[shrinks]
        if signs[shrinks] > 0:
            pressure += 1.0 - bend[shrinks] * variables[shrinks]
        curved = diagonal[grows] + diagonal[shrinks] - 2.0 * of_grows[shrinks]
        length = (highest - pressure) / max(curved + bend[grows] + bend[shrinks], FLAT)
        room = upper[grows] - variables[grows] if signs[grows] > 0 else variables[grows]
        length = min(length, room)
        if signs[shrinks] > 0:
            length = min(length, variables[shrinks])
        if not length < np.inf:
            return -1, step
        _move(variables, upper, signs, grows, length)
        _move(variables, upper, signs, shrinks, -length)
        for i in range(n):
            scores[i] += length * (of_grows[i] - of_shrinks[i])
        step += 1


@compiled()
def _move(variables, upper, signs, row, length):
    """Change a signed variable; within rounding of a bound it is at the bound."""
    value = variables[row] + length if signs[row] > 0 else variables[row] - length
    if value <= 1e-14 * abs(length):
        value = 0.0
    elif value >= upper[row] * (1.0 - 1e-14):
        value = upper[row]
    variables[row] = value


@compiled()
def _measure(variables, scores, signs, bend, costs, squared, objectives):
    """Set the primal and the dual objective."""
    worst, total, norm = -np.inf, 0.0, 0.0
    for i in range(len(variables)):
        if signs[i] < 0:
            worst = max(worst, scores[i])
            norm -= variables[i] * scores[i]
        elif signs[i] > 0:
            norm += variables[i] * scores[i]
            total += variables[i] - 0.5 * bend[i] * variables[i] * variables[i]
    loss = 0.0
    for i in range(len(variables)):
        if signs[i] > 0:
            shortfall = max(1.0 - scores[i] + worst, 0.0)
            loss += costs[i] * (shortfall * shortfall if squared else shortfall)
    objectives[0] = 0.5 * norm + loss
    objectives[1] = total - 0.5 * norm
