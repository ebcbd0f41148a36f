"""The dual by sequential minimal optimisation.

The Infinite Push with kernels by sequential minimal optimisation: two dual variables at a time.

Rong-En Fan, Pai-Hsuan Chen, Chih-Jen Lin, *Working set selection using second order information for training
support vector machines*, Journal of Machine Learning Research 6 (2005), 1889-1918.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank._parallel import compiled
from pushrank.models import KernelModel
from pushrank.solvers.infinite_push.dual import DualPoint, WorstNegative
from pushrank.solvers.result import Callback, Certificate

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


BLOCK = 32  # kernel columns made at a time: those of the rows that violate optimality most
LEAST_COLUMNS = 2 * BLOCK
REFRESHED = 20  # times that the scores are computed afresh, where rounding kept the gap from closing


def smo(
    problem: WorstNegative,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: DualPoint | None = None,
) -> tuple[DualPoint, int]:
    """Return dual variables whose relative gap is at most ``tol``, and the number of iterations.

    Parameters are those of :func:`pushrank.solvers.infinite_push.interior_point.interior_point`; an
    iteration is as many
    steps as there are rows.

    Notes
    -----
    A step costs O(n), and the kernel columns of two rows unless they are kept; columns are made when they
    are first needed, and the least recently used leave where the model's memory is full.
    """
    model, sample = problem.model, problem.sample
    if not isinstance(model, KernelModel):
        raise TypeError("smo works on kernels; use the interior point method for a linear model.")
    if start is None:
        start = problem.at(np.zeros(len(sample.positives)), np.zeros(len(sample.negatives)))
    point, columns, steps = start, _Columns(model), 0
    for _ in range(REFRESHED):
        state = _State(problem, point)
        before = steps
        while True:
            wanted, steps = state.go(columns, tol, max_iter * model.n_rows, steps)
            if callback is not None:
                known = state.certificate
                callback(-(-steps // model.n_rows), objective=known.primal, gap=known.gap)
            if wanted < 0:
                break
            columns.fetch(wanted, state.most_violating(BLOCK, columns.worth_making()))
        point = problem.at(*state.variables())
        if point.certificate.gap <= tol or steps >= max_iter * model.n_rows or steps == before:
            break
    return point, -(-steps // model.n_rows)


class _Columns:
    """Kernel columns of some rows: the model's own where it can keep all, else those used last."""

    def __init__(self, model: KernelModel) -> None:
        self._model = model
        n_rows = model.n_rows
        self._all = model.kept is not None
        if model.kept is not None:
            self.kept, self.slots = model.kept, np.where(model.made, np.arange(n_rows), -1)
        else:
            room = max(model.memory // (8 * n_rows), LEAST_COLUMNS)
            self.kept, self.slots = np.empty((int(min(n_rows, room)), n_rows)), np.full(n_rows, -1)
        self._filled = 0
        self.last_used = np.zeros(len(self.kept), dtype=np.int64)
        self._rows = np.full(len(self.kept), -1)

    def worth_making(self) -> NDArray[np.bool_]:
        """Return which rows' columns could be made beside a wanted one.

        Free room is filled with those that are not there, as larger blocks are quicker made. Where there is
        none any row may be meant, so that only columns that are needed soon push others out.
        """
        return (self.slots < 0) | (self._filled == len(self.kept))

    def fetch(self, wanted: int, others: NDArray[np.intp]) -> None:
        """Make the column of a wanted row, and those of other rows that are not there."""
        rows = np.append(wanted, others[(self.slots[others] < 0) & (others != wanted)])[:BLOCK]
        if self._all:
            self._model.make(rows)
            self.slots[rows] = rows
            return
        free = np.arange(self._filled, min(self._filled + len(rows), len(self.kept)))
        self._filled += len(free)
        n_leaving = len(rows) - len(free)
        if n_leaving:
            candidates = np.argpartition(self.last_used[: self._filled - len(free)], n_leaving - 1)
            free = np.append(free, candidates[:n_leaving])
        leaving = self._rows[free]
        self.slots[leaving[leaving >= 0]] = -1
        self.kept[free] = self._model.columns(rows)
        self._rows[free], self.slots[rows] = rows, free
        self.last_used[free] = self.last_used.max() + 1


class _State:
    """Dual variables of all rows, with their scores."""

    def __init__(self, problem: WorstNegative, point: DualPoint) -> None:
        self._problem = problem
        sample, model = problem.sample, problem.model
        nothing = np.zeros(len(sample.negatives))
        self._variables = sample.scatter(point.alpha, point.beta)
        self._upper = sample.scatter(problem.upper, np.full(len(nothing), np.inf))
        self._bend = sample.scatter(problem.bend, nothing)
        self._costs = sample.scatter(problem.costs, nothing)
        self._signs = np.zeros(model.n_rows, dtype=np.int8)  # rows that take no part stay zero
        self._signs[sample.positives], self._signs[sample.negatives] = 1, -1
        self._scores = model.scores(point.coef)
        self._objectives = np.array([point.certificate.primal, point.certificate.dual])

    def go(self, columns: _Columns, tol: float, most: int, steps: int) -> tuple[int, int]:
        """Step until the gap is small, and return -1, or the row whose column is needed; and the steps."""
        model = self._problem.model
        wanted, steps = smo_steps(
            self._variables,
            self._scores,
            self._signs,
            self._upper,
            self._bend,
            self._costs,
            model.diagonal,  # type: ignore[attr-defined]
            columns.kept,
            columns.slots,
            columns.last_used,
            tol,
            most,
            steps,
            self._problem.squared,
            self._objectives,
        )
        return int(wanted), int(steps)

    def most_violating(self, count: int, among: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the rows of a set whose variables could move furthest, from both ends."""
        pressure = (self._signs > 0) - self._scores - self._bend * self._variables
        can_grow = (self._signs > 0) & (self._variables < self._upper)
        can_grow |= (self._signs < 0) & (self._variables > 0.0)
        can_shrink = (self._signs < 0) | ((self._signs > 0) & (self._variables > 0.0))
        can_grow, can_shrink = can_grow & among, can_shrink & among
        last = min(count // 2, len(pressure)) - 1
        highest = np.argpartition(np.where(can_grow, -pressure, np.inf), last)[: last + 1]
        lowest = np.argpartition(np.where(can_shrink, pressure, np.inf), last)[: last + 1]
        rows: NDArray[np.intp] = np.unique(np.concatenate([highest, lowest]))
        movable: NDArray[np.intp] = rows[can_grow[rows] | can_shrink[rows]]
        return movable

    @property
    def certificate(self) -> Certificate:
        """Both objectives as they are known."""
        primal, dual = self._objectives
        return Certificate(float(primal), float(dual))

    def variables(self) -> tuple[Floats, Floats]:
        """Return the variables of the positives and of the negatives."""
        return self._problem.sample.gather(self._variables)
