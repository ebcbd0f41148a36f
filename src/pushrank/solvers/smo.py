"""The Infinite Push with kernels by sequential minimal optimisation: two dual variables at a time.

Rong-En Fan, Pai-Hsuan Chen, Chih-Jen Lin, *Working set selection using second order information for training
support vector machines*, Journal of Machine Learning Research 6 (2005), 1889-1918.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.models import KernelModel
from pushrank.solvers import smo_kernels
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.result import Watcher
from pushrank.solvers.worst_negative import DualPoint, WorstNegative

BLOCK = 32  # kernel columns made at a time: those of the rows that violate optimality most
LEAST_COLUMNS = 2 * BLOCK
REFRESHED = 20  # times that the scores are computed afresh, where rounding kept the gap from closing


def smo(
    problem: WorstNegative,
    tol: float,
    max_iter: int,
    watcher: Watcher | None = None,
    start: DualPoint | None = None,
) -> tuple[DualPoint, int]:
    """Return dual variables whose relative gap is at most ``tol``, and the number of iterations.

    Parameters are those of :func:`pushrank.solvers.interior_point.interior_point`; an iteration is as many
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
            if watcher is not None:
                known = state.certificate
                watcher(-(-steps // model.n_rows), objective=known.primal, gap=known.gap)
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
        self._variables = sample.join(point.alpha, point.beta)
        self._upper = sample.join(problem.upper, np.full(len(nothing), np.inf))
        self._bend = sample.join(problem.bend, nothing)
        self._costs = sample.join(problem.costs, nothing)
        self._signs = np.zeros(model.n_rows, dtype=np.int8)  # rows that take no part stay zero
        self._signs[sample.positives], self._signs[sample.negatives] = 1, -1
        self._scores = model.scores(point.coef)
        self._objectives = np.array([point.certificate.primal, point.certificate.dual])

    def go(self, columns: _Columns, tol: float, most: int, steps: int) -> tuple[int, int]:
        """Step until the gap is small, and return -1, or the row whose column is needed; and the steps."""
        model = self._problem.model
        wanted, steps = smo_kernels.smo_steps(
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
        return self._problem.sample.split(self._variables)
