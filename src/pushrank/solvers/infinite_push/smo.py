r"""The dual of the Infinite Push by sequential minimal optimisation, two variables at a time, for kernels.

With the sign :math:`y_i` of a row's variable :math:`z_i` in the scores, the dual rises with :math:`y_i z_i`
at the rate :math:`g_i = y_i \, \partial D / \partial z_i`: :math:`1 - f(x_i) - q_i \alpha_i` for a positive,
:math:`-f(\tilde x_k)` for a negative. Because the signed variables add up to zero, one of them goes up and
another one down by the same length. The variable of the largest rate goes up. The one that goes down promises
the largest gain to second order, :math:`(g_i - g_j)^2 / 2 (K_{ii} + K_{jj} - 2 K_{ij} + q_i + q_j)`.

Fan, Chen and Lin, *Working set selection using second order information*, JMLR 6 (2005), 1889-1918.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pushrank._base.parallel import compiled, read_only
from pushrank.models import KernelModel
from pushrank.solvers.infinite_push import tolerances
from pushrank.solvers.infinite_push.dual import DualSolution, InfinitePushDual
from pushrank.solvers.result import Callback, Certificate


def smo(
    dual: InfinitePushDual, tol: float, max_iter: int, callback: Callback | None, start: DualSolution | None
) -> tuple[DualSolution, int]:
    """Return dual variables of a relative gap of at most ``tol``, and the iterations, of n steps in O(n)."""
    model = dual.model
    if not isinstance(model, KernelModel):
        raise TypeError("smo works on kernels; use the interior point method for a linear model.")
    solution = dual.zero() if start is None else start
    columns, n_steps, max_steps = _ColumnCache(model), 0, max_iter * model.n_rows
    # Rounding in the updates of the scores can keep the gap from closing: a restart computes them afresh.
    for _ in range(tolerances.MAX_RESTARTS):
        state = _State(dual, model, solution)
        before = n_steps
        while True:
            missing, n_steps = state.run(columns, tol, max_steps, n_steps)
            if callback is not None:
                last = state.certificate
                callback(-(-n_steps // model.n_rows), objective=last.primal, gap=last.gap)
            if missing < 0:
                break
            columns.make(missing, state.most_violating(columns.worth_making()))
        solution = dual.solution(*dual.sample.gather(state.variables))
        if solution.certificate.gap <= tol or n_steps >= max_steps or n_steps == before:
            break
    return solution, -(-n_steps // model.n_rows)


class _State:
    """Dual variables of all rows, with their scores."""

    def __init__(self, dual: InfinitePushDual, model: KernelModel, start: DualSolution) -> None:
        self._dual, self._diagonal = dual, model.diagonal
        self._rows = dual.row_constraints()
        self.variables = dual.sample.scatter(start.alpha, start.beta)
        self._scores = model.scores(start.coef)
        self._objectives = np.array([start.certificate.primal, start.certificate.dual])

    @property
    def certificate(self) -> Certificate:
        """Both objectives when the gap was last computed."""
        primal, dual = self._objectives
        return Certificate(float(primal), float(dual))

    def run(self, columns: _ColumnCache, tol: float, max_steps: int, n_steps: int) -> tuple[int, int]:
        """Step until the gap is small; return -1, or the row whose column is missing, and the steps."""
        cache = read_only(columns.values), columns.slots, columns.last_used
        state = self.variables, self._scores, self._rows, self._diagonal, *cache
        missing, n_steps = smo_steps(*state, tol, max_steps, n_steps, self._dual.squared, self._objectives)
        return int(missing), int(n_steps)

    def most_violating(self, among: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the rows of a set whose signed variables promise most by rising, and by falling."""
        positive, negative = self._rows.sign > 0, self._rows.sign < 0
        rates = positive - self._scores - self._rows.quadratic * self.variables
        can_rise = positive & (self.variables < self._rows.upper_bound)
        can_rise |= negative & (self.variables > 0.0)
        can_fall = negative | (positive & (self.variables > 0.0))
        can_rise, can_fall = can_rise & among, can_fall & among
        last = min(tolerances.BLOCK // 2, len(rates)) - 1
        highest = np.argpartition(np.where(can_rise, -rates, np.inf), last)[: last + 1]
        lowest = np.argpartition(np.where(can_fall, rates, np.inf), last)[: last + 1]
        rows: NDArray[np.intp] = np.unique(np.concatenate([highest, lowest]))
        return rows[can_rise[rows] | can_fall[rows]]


class _ColumnCache:
    """Kernel columns of some rows: those of the model if it can keep all, else those used last."""

    # The column of a row is `values[slots[row]]`; the slot is -1 if it is missing.

    def __init__(self, model: KernelModel) -> None:
        self._model = model
        n_rows = model.n_rows
        self._keeps_all = model.kept is not None
        if model.kept is not None:
            self.values, self.slots = model.kept, np.where(model.made, np.arange(n_rows), -1)
        else:
            n_slots = int(min(n_rows, max(model.memory // (8 * n_rows), tolerances.MIN_COLUMNS)))
            self.values, self.slots = np.empty((n_slots, n_rows)), np.full(n_rows, -1)
        self._n_filled = 0
        self.last_used = np.zeros(len(self.values), dtype=np.int64)
        self._rows = np.full(len(self.values), -1)

    def worth_making(self) -> NDArray[np.bool_]:
        """Return which rows' columns may be made together with a missing one."""
        # While there is free room these are the rows whose columns are missing, since larger blocks are
        # faster. In a full cache they are all rows, so that only those needed soon replace others.
        return (self.slots < 0) | (self._n_filled == len(self.values))

    def make(self, missing: int, others: NDArray[np.intp]) -> None:
        """Make the missing column of a row, and those of other rows that are missing too."""
        rows = np.append(missing, others[(self.slots[others] < 0) & (others != missing)])[: tolerances.BLOCK]
        if self._keeps_all:
            self._model.make(rows)
            self.slots[rows] = rows
            return
        free = np.arange(self._n_filled, min(self._n_filled + len(rows), len(self.values)))
        self._n_filled += len(free)
        n_leaving = len(rows) - len(free)
        if n_leaving:
            # The least recently used columns leave.
            candidates = np.argpartition(self.last_used[: self._n_filled - len(free)], n_leaving - 1)
            free = np.append(free, candidates[:n_leaving])
        leaving = self._rows[free]
        self.slots[leaving[leaving >= 0]] = -1
        self.values[free] = self._model.columns(rows)
        self._rows[free], self.slots[rows] = rows, free
        self.last_used[free] = self.last_used.max() + 1


@compiled()
def smo_steps(
    variables, scores, rows, diagonal, columns, slots, last_used, tol, max_steps, n_steps, squared, objectives
):
    """Move pairs of variables; return the row whose kernel column is missing, or -1, and the steps."""
    sign, upper_bound, quadratic, _ = rows
    clock = last_used.max()
    while True:
        if n_steps % tolerances.GAP_STEPS == 0:
            _set_objectives(variables, scores, rows, squared, objectives)
            if objectives[0] - objectives[1] <= tolerances.UPDATED_GAP * tol * objectives[0]:
                return -1, n_steps
        if n_steps >= max_steps:
            return -1, n_steps
        up, highest = _choose_up(variables, scores, rows)
        if up < 0:
            return -1, n_steps
        # Compiled code cannot make a column: the caller does, and calls again.
        if slots[up] < 0:
            return up, n_steps
        clock += 1
        last_used[slots[up]] = clock
        up_column = columns[slots[up]]
        down, lowest = _choose_down(variables, scores, rows, diagonal, up, highest, up_column)
        if down < 0 or highest - lowest <= tolerances.RATE_ROUNDING * (1.0 + abs(highest)):
            return -1, n_steps
        if slots[down] < 0:
            return down, n_steps
        last_used[slots[down]] = clock
        down_column = columns[slots[down]]
        rate = -scores[down]
        if sign[down] > 0:
            rate += 1.0 - quadratic[down] * variables[down]
        curvature = diagonal[up] + diagonal[down] - 2.0 * up_column[down]
        # The gain along the direction is a parabola; the bounds of both variables may end the step before.
        length = (highest - rate) / max(curvature + quadratic[up] + quadratic[down], tolerances.MIN_CURVATURE)
        room = upper_bound[up] - variables[up] if sign[up] > 0 else variables[up]
        length = min(length, room)
        if sign[down] > 0:
            length = min(length, variables[down])
        if not length < np.inf:
            return -1, n_steps
        _move(variables, upper_bound, sign, up, length)
        _move(variables, upper_bound, sign, down, -length)
        for i in range(len(variables)):
            scores[i] += length * (up_column[i] - down_column[i])
        n_steps += 1


@compiled()
def _choose_up(variables, scores, rows):
    """Return the row of the largest rate among the signed variables that can rise, or -1, and the rate."""
    sign, upper_bound, quadratic, _ = rows
    # A positive's signed variable rises below its bound, a negative's by falling towards zero.
    up, highest = -1, -np.inf
    for i in range(len(variables)):
        if sign[i] > 0:
            if variables[i] < upper_bound[i]:
                rate = 1.0 - scores[i] - quadratic[i] * variables[i]
                if rate > highest:
                    up, highest = i, rate
        elif sign[i] < 0 and variables[i] > 0.0 and -scores[i] > highest:
            up, highest = i, -scores[i]
    return up, highest


@compiled()
def _choose_down(variables, scores, rows, diagonal, up, highest, up_column):
    """Return the row that promises the largest gain by falling while ``up`` rises, and the lowest rate."""
    sign, _, quadratic, _ = rows
    down, best_gain, lowest = -1, 0.0, np.inf
    for j in range(len(variables)):
        if sign[j] < 0:
            rate = -scores[j]
        elif sign[j] > 0 and variables[j] > 0.0:
            rate = 1.0 - scores[j] - quadratic[j] * variables[j]
        else:
            continue
        lowest = min(lowest, rate)
        difference = highest - rate
        if difference > 0.0:
            curvature = diagonal[up] + diagonal[j] - 2.0 * up_column[j] + quadratic[up] + quadratic[j]
            gain = difference * difference / max(curvature, tolerances.MIN_CURVATURE)
            if gain > best_gain:
                down, best_gain = j, gain
    return down, lowest


@compiled()
def _move(variables, upper_bound, sign, row, length):
    """Change a signed variable; one within rounding of a bound is set to the bound."""
    value = variables[row] + length if sign[row] > 0 else variables[row] - length
    if value <= tolerances.BOUND_ROUNDING * abs(length):
        value = 0.0
    elif value >= upper_bound[row] * (1.0 - tolerances.BOUND_ROUNDING):
        value = upper_bound[row]
    variables[row] = value


@compiled()
def _set_objectives(variables, scores, rows, squared, objectives):
    """Set the primal and the dual objective."""
    sign, _, quadratic, sample_C = rows
    # The squared norm of the function is the sum of the signed variables times their scores.
    highest_negative, total, norm = -np.inf, 0.0, 0.0
    for i in range(len(variables)):
        if sign[i] < 0:
            highest_negative = max(highest_negative, scores[i])
            norm -= variables[i] * scores[i]
        elif sign[i] > 0:
            norm += variables[i] * scores[i]
            total += variables[i] - 0.5 * quadratic[i] * variables[i] * variables[i]
    loss = 0.0
    for i in range(len(variables)):
        if sign[i] > 0:
            shortfall = max(1.0 - scores[i] + highest_negative, 0.0)
            loss += sample_C[i] * (shortfall * shortfall if squared else shortfall)
    objectives[0] = 0.5 * norm + loss
    objectives[1] = total - 0.5 * norm
