"""How far a round of boosting steps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pushrank._base.numeric import Floats
from pushrank.solvers.boosting.objective import (
    Evaluation,
    PairFractions,
    ScoreObjective,
    TwoSumEvaluation,
    TwoSumObjective,
)
from pushrank.solvers.line_search import bracketed_root, exact_step, root_beyond
from pushrank.solvers.tolerances import MACHINE_ROUNDING, MAX_FLOAT, TINY, ZERO_SLOPE
from pushrank.weak_rankers.base import Values


@dataclass(frozen=True, eq=False)
class Direction:
    """A weak ranker to step along."""

    # `values` are those on the training rows, bool where there are only two; `weight` w is its weight before
    # the step, whose penalty is `ridge` * w^2 / 2; `norm` is |lambda|_1.

    values: Values
    weight: float = 0.0
    ridge: float = 0.0
    norm: float = 0.0


StepRule = Callable[[ScoreObjective, Evaluation, Floats, Direction], float]
"""Returns the step along a ranker; a negative one steps along its mirror."""


def best_step(objective: ScoreObjective, evaluation: Evaluation, scores: Floats, along: Direction) -> float:
    """Return the step to the least penalised objective."""
    # For a ranker in {0, 1} and no penalty it is ln(d_+ / d_-) / c, with c = p + 1 for the P-Norm Push and 2
    # for RankBoost and AdaBoost; in other cases it is searched for, however far it is.
    # Where no pair is against the ranker, d_- = 0, the best step is infinite. The one taken is that of a
    # sample with one more pair of each kind: ln(1 + I K d_+) / c for a ranker in {0, 1}, and ln(1 + I K) / c
    # for others, as if all pairs were ordered rightly. So is a step too long for a float.
    # Rudin, *The P-Norm Push*, JMLR 10 (2009), figure 2; the closed form at p = 1 is the paper's.
    if along.values.dtype == bool and along.ridge == 0.0:
        fractions = evaluation.pair_fractions(along.values)
        if fractions is not None and not _underflows(objective, fractions, along.values):
            # RankBoost implementations smooth by one over the number of pairs, too. It is done in logarithms,
            # because with small sample weights one pair may weigh many times as much as all of them.
            smoothing = -objective.log_n_pairs if 0.0 in fractions[:2] else -np.inf
            with np.errstate(divide="ignore"):
                log_plus, log_minus = np.logaddexp(np.log(fractions[:2]), smoothing)
            return float(log_plus - log_minus) / objective.power_sum
    return _searched_step(objective, evaluation, scores, along, push_out=0.0)


def smooth_margin(objective: ScoreObjective, value: float, norm: float) -> float:
    r"""Return :math:`G = -\ln F(\lambda) / \|\lambda\|_1`, minus infinity where no step was taken."""
    # If a pair weighs less than one, all weights are taken relative to the smallest.
    # Weights of at least one keep G a lower bound of the margin: a larger weight of a pair only lowers G.
    return (min(0.0, objective.sample.least_log_weight) - value) / norm if norm > 0.0 else -np.inf


def smooth_margin_step(
    objective: ScoreObjective, evaluation: Evaluation, scores: Floats, along: Direction
) -> float:
    """Return the step of approximate coordinate ascent on the smooth margin G: equation (6) of the paper."""
    # With g the smooth margin before the step it solves -F'(a) = g F(a); for a ranker in {0, 1} that is the
    # quadratic (1 - g) d_+ e^-a - (1 + g) d_- e^a - g d_0 = 0. As long as G is not positive, the step is
    # RankBoost's. Rudin, Cortes, Mohri and Schapire, COLT 2005, section 4.2.
    g = smooth_margin(objective, evaluation.value, along.norm)
    if g <= 0.0:
        return best_step(objective, evaluation, scores, along)
    fractions = evaluation.pair_fractions(along.values) if along.values.dtype == bool else None
    if fractions is None:
        return _searched_step(objective, evaluation, scores, along, push_out=g)
    sign, (gain, loss) = 1.0, fractions[:2]
    if gain < loss:
        sign, gain, loss = -1.0, loss, gain
    middle = g * fractions.d_zero
    # This form of the quadratic's root does not cancel digits, whatever the size of its terms.
    denominator = middle + np.sqrt(middle**2 + 4.0 * (1.0 - g) * (1.0 + g) * gain * loss)
    if denominator == 0.0:
        # A ranker that orders all pairs rightly reaches its margin of one at an infinite step only.
        return sign * _longest_step(objective)
    # Rounding may put the root slightly on the other side of zero.
    return sign * max(float(np.log(2.0 * (1.0 - g) * gain / denominator)), 0.0)


def exact_smooth_margin_step(
    objective: ScoreObjective, evaluation: Evaluation, scores: Floats, along: Direction
) -> float:
    """Return the step of coordinate ascent on the smooth margin G: to the largest G along a ranker."""
    # It solves G(lambda + alpha e_j) = -F'(alpha) / F(alpha) where the ranker's weight grows; the paper,
    # Rudin et al., COLT 2005, section 4.2, prints F(0) in the denominator, a slip. As long as G is not
    # positive, the step is RankBoost's.
    g = smooth_margin(objective, evaluation.value, along.norm)
    if g <= 0.0:
        return best_step(objective, evaluation, scores, along)
    fractions = evaluation.pair_fractions(along.values) if along.values.dtype == bool else None
    direction = along.values.astype(np.float64)

    def log_loss(step: float) -> tuple[float, float, float]:
        """Return the change of ln F by a step, and its first and second derivative there."""
        if fractions is None:
            moved = objective.evaluate(scores + step * direction)
            return moved.value - evaluation.value, *moved.derivatives(direction)
        right, wrong = fractions.d_plus * np.exp(-step), fractions.d_minus * np.exp(step)
        total = right + wrong + fractions.d_zero
        first = (wrong - right) / total
        return float(np.log(total)), float(first), float((right + wrong) / total - first**2)

    sign = -1.0 if log_loss(0.0)[1] > 0.0 else 1.0

    # Minus the derivative of G times the squared norm rises all along, even where the weight first shrinks to
    # zero, because -ln F is concave and the norm convex. So the search is for its only zero.
    def slope(length: float) -> tuple[float, float]:
        change, first, second = log_loss(sign * length)
        weight = along.weight + sign * length
        norm = along.norm - abs(along.weight) + abs(weight)
        growth = -1.0 if sign * weight < 0.0 else 1.0
        return sign * first * norm + growth * (g * along.norm - change), second * norm

    if slope(0.0)[0] >= 0.0:
        return 0.0
    longest = _longest_step(objective)
    length = exact_step(slope, longest)
    if length < longest:
        return sign * length

    def distant_slope(length: float) -> float:
        norm = along.norm + length
        # Where ln F is a line the slope is a constant, which must not seem positive by rounding.
        return slope(length)[0] - 8.0 * MACHINE_ROUNDING * norm

    # The exponentials of the closed form overflow beyond 700; its slope has changed its sign long before.
    limit = longest / MACHINE_ROUNDING if fractions is None else 700.0
    far = root_beyond(distant_slope, longest, limit)
    return sign * (longest if far is None else far)


def _longest_step(objective: ScoreObjective) -> float:
    """Return the step that is taken in place of an infinite one, that of ``best_step`` with one more pair."""
    return float(np.logaddexp(0.0, objective.log_n_pairs)) / objective.power_sum


def _underflows(objective: ScoreObjective, fractions: PairFractions, values: Values) -> bool:
    """Return whether some pairs are against a ranker in {0, 1}, but weigh too little for a float."""
    if min(fractions[:2]) >= TINY:
        return False
    sign = 1.0 if fractions.d_plus >= fractions.d_minus else -1.0
    return _is_finite(objective, sign * values.astype(np.float64))


def _is_finite(objective: ScoreObjective, direction: Floats, push_out: float = 0.0) -> bool:
    """Return whether the slope along a direction, plus ``push_out``, has a zero."""
    if isinstance(objective, TwoSumObjective) and objective.joint:
        up, down = objective.sample.gather(direction)
        return bool(min(up.min(), -down.max()) < push_out)
    # The logarithm of the sum falls, after a long step, by the least margin of a pair.
    return objective.sample.least_margin(direction) < push_out


def _searched_step(
    objective: ScoreObjective, evaluation: Evaluation, scores: Floats, along: Direction, push_out: float
) -> float:
    """Return the zero of the slope along a ranker plus ``push_out`` in the direction of the step."""
    slope_along = None
    if along.values.dtype == bool and isinstance(evaluation, TwoSumEvaluation):
        # Each trial step then costs O(1) instead of a pass over the rows.
        slope_along = evaluation.slope_along(along.values)
    direction = along.values.astype(np.float64) if slope_along is None else np.zeros(0)

    def penalised_slope(step: float) -> tuple[float, float]:
        if slope_along is not None:
            first, second = slope_along(step)
        else:
            at_step = evaluation if step == 0.0 else objective.evaluate(scores + step * direction)
            first, second = at_step.derivatives(direction)
        return first + along.ridge * (along.weight + step), second + along.ridge

    sign = -1.0 if penalised_slope(0.0)[0] > 0.0 else 1.0

    def slope(step: float) -> tuple[float, float]:
        first, second = penalised_slope(step)
        return first + sign * push_out, second

    if sign * slope(0.0)[0] >= 0.0:
        return 0.0
    # With a penalty the minimum is finite, so the step needs no other bound.
    if along.ridge > 0.0:
        return exact_step(slope, np.inf)
    longest = _longest_step(objective)
    step = exact_step(slope, longest)
    if abs(step) < longest:
        return step
    outward = sign * along.values.astype(np.float64)
    if not _is_finite(objective, outward, push_out):
        return step
    distant_slope = objective.slope_of_length(scores, outward, push_out)
    at_longest = distant_slope(longest)
    if abs(at_longest) <= ZERO_SLOPE or distant_slope(0.0) >= 0.0:
        return step
    if at_longest > 0.0:
        # The root is nearer, where all pairs that are not tied weigh too little for the slope itself.
        return sign * bracketed_root(distant_slope, 0.0, longest)
    far = root_beyond(distant_slope, longest, MAX_FLOAT / (4.0 * objective.power_sum))
    return step if far is None else sign * far
