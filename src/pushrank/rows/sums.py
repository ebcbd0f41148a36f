"""The exponential loss in sums over blocks of rows, wherever the rows are kept.

A sum is a function of blocks that returns partial sums, and a function that combines these in the order of
the blocks, so that rounding does not depend on which was finished first.

Two classes under the exponential loss take one round where the sums over both classes do not need each other,
which is the two-sum objective (the P-Norm Push at any p), and two under any other price: the inner sum first,
:math:`\\ln A = \\ln \\sum_i w_i e^{-s_i}` over the positives of a push, then the price of
:math:`l_k = \\ln A + t_k` over its negatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from pushrank import losses, prices
from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank.models.linear import ClassMoments
from pushrank.objectives import PushObjective
from pushrank.pairs.samples import BipartiteSample, ByClass
from pushrank.prices import Price, unit_power
from pushrank.rows.source import POSITIVE, Block, Blocks, RowSource

MAX_FLOAT = np.finfo(float).max


class SoftmaxSums(NamedTuple):
    """Sums of ``w exp(c z)`` and of ``w exp(c z) x`` over each class, in units of ``exp(largest)``."""

    # The sums of rows have shape (2, n_features), or (2, 0) where they were not asked for.

    largest: Floats
    totals: Floats
    rows: Floats


@compiled()
def _weigh_block(scores, class_codes, log_weights, powers, largest, totals, factors):
    """Replace scores by their terms in units of the class's running maximum, and move that maximum."""
    previous = largest.copy()
    for i in range(scores.shape[0]):
        power = powers[class_codes[i]]
        exponent = power * scores[i]
        if log_weights.shape[0]:
            exponent += log_weights[i]
        if power == 0.0:
            exponent = -np.inf
        scores[i] = exponent
        if exponent > largest[class_codes[i]]:
            largest[class_codes[i]] = exponent
    for c in range(2):
        # Both are -inf as long as no row of this class has been met.
        factors[c] = 1.0 if previous[c] == largest[c] else np.exp(previous[c] - largest[c])
        totals[c] *= factors[c]
    for i in range(scores.shape[0]):
        below = scores[i] - largest[class_codes[i]]
        # exp underflows below -745. A row without weight, before any that has one, gives -inf less -inf: NaN
        # compares as False, so that its term is zero too.
        term = np.exp(below) if below > -745.0 else 0.0
        scores[i] = term
        totals[class_codes[i]] += term


def softmax_sums(blocks: Blocks, coef: Floats, powers: Floats, with_rows: bool) -> SoftmaxSums:
    """Return the sums over both classes, of their signed powers by class code; zero leaves a class out."""
    rows = np.zeros((2, len(coef) if with_rows else 0))
    sums, factors, none = SoftmaxSums(np.full(2, -np.inf), np.zeros(2), rows), np.ones(2), np.empty(0)
    for model, first, last, codes, log_weights in blocks:
        terms = np.empty(last - first)
        model.block_scores(first, last, coef, terms)
        weights = none if log_weights is None else log_weights
        _weigh_block(terms, codes, weights, powers, sums.largest, sums.totals, factors)
        if with_rows:
            if factors[0] != 1.0 or factors[1] != 1.0:
                np.multiply(rows, factors[:, None], out=rows)
            model.add_block_sums(first, last, terms, codes, rows)
    return sums


def combined_softmax(parts: Sequence[SoftmaxSums]) -> tuple[Floats, Floats]:
    """Return the logarithms of the sums by class code, shape (2,), and the softmax means of the rows."""
    if len(parts) == 1:
        largest, totals, rows = parts[0]
    else:
        largest = np.max([part.largest for part in parts], axis=0)
        # A class that is left out has the maximum -inf, whose difference from itself is NaN.
        finite = np.maximum(largest, -MAX_FLOAT)
        totals, rows = np.zeros(2), np.zeros_like(parts[0].rows)
        for part in parts:
            unit = np.exp(part.largest - finite)
            totals += unit * part.totals
            rows += unit[:, None] * part.rows
    counted = np.where(totals > 0.0, totals, 1.0)
    return largest + np.log(counted), rows / counted[:, None]


class PriceSums(NamedTuple):
    """Sums of a price's terms over the outer rows, in units of ``exp(shift)``."""

    # The totals are those of the value, of the derivative in ln h and of its absolute value; the sum of rows
    # is that of the derivative times the row, or empty.

    shift: float
    totals: Floats
    rows: Floats


def price_sums(
    blocks: Blocks, coef: Floats, price: Price, log_total: float, code: int, with_rows: bool
) -> PriceSums:
    """Return the sums over a class, whose log inner sums are ``log_total`` plus the (negated) score."""
    shift, totals, rows = -np.inf, np.zeros(3), np.zeros((2, len(coef) if with_rows else 0))
    for block in blocks:
        log_sums, weights, outer = _outer_rows(block, block.scores(coef), log_total, code)
        if not len(outer):
            continue
        terms = price.terms(log_sums)
        # Like the running maximum of a softmax: what was added up so far and the terms of this block are
        # brought to the larger of their two units.
        unit = 1.0
        if terms.shift > shift:
            before = np.exp(shift - terms.shift)
            totals *= before
            rows *= before
            shift = terms.shift
        elif terms.shift < shift:
            unit = float(np.exp(terms.shift - shift))
        first = unit * weights * terms.first
        totals[0] += unit * float(np.sum(weights * terms.value))
        totals[1:] += float(first.sum()), float(np.abs(first).sum())
        if with_rows:
            factors = np.zeros(block.last - block.first)
            factors[outer] = first
            block.add_sums(factors, rows)
    return PriceSums(shift, totals, rows[code])


def combined_prices(parts: Sequence[PriceSums]) -> PriceSums:
    """Return the sums of all parts, in the order of the parts."""
    shift = max(part.shift for part in parts)
    totals, rows = np.zeros(3), np.zeros_like(parts[0].rows)
    for part in parts:
        unit = float(np.exp(part.shift - shift))
        totals += unit * part.totals
        rows += unit * part.rows
    return PriceSums(shift, totals, rows)


def _outer_rows(block: Block, scores: Floats, log_total: float, code: int) -> tuple[Floats, Any, Any]:
    """Return the log inner sums and the weights of a class's rows of a block, and the rows' numbers."""
    outer = np.flatnonzero(block.class_codes == code)
    if block.log_weights is not None:
        outer = outer[block.log_weights[outer] > -np.inf]
    weights = 1.0 if block.log_weights is None else np.exp(block.log_weights[outer])
    return log_total + (-scores[outer] if code == POSITIVE else scores[outer]), weights, outer


class SoftmaxWeights(NamedTuple):
    """The softmax weights of a class's rows, whose exponents are a signed power of the score."""

    code: int
    power: float
    log_sum: float

    def row_weights(self, block: Block, scores: Floats) -> Floats:
        """Return the weights of the rows of a block; zero for the other class."""
        exponents = self.power * scores - self.log_sum
        if block.log_weights is not None:
            exponents += block.log_weights
        return np.exp(np.where(block.class_codes == self.code, exponents, -np.inf))


class CurvatureWeights(NamedTuple):
    """The second derivatives of a price in the log inner sums of the outer rows; zero for negative ones."""

    code: int
    price: Price
    log_total: float
    shift: float

    def row_weights(self, block: Block, scores: Floats) -> Floats:
        log_sums, weights, outer = _outer_rows(block, scores, self.log_total, self.code)
        curvatures = np.zeros(len(scores))
        if len(outer):
            terms = self.price.terms(log_sums)
            curvatures[outer] = np.maximum(weights * terms.second, 0.0) * np.exp(terms.shift - self.shift)
        return curvatures


@dataclass(frozen=True)
class RowWeights:
    """Weights of rows by functions of scores, formed block by block; they add and multiply like arrays."""

    terms: tuple[tuple[float, SoftmaxWeights | CurvatureWeights], ...]

    def __add__(self, other: RowWeights) -> RowWeights:
        return RowWeights(self.terms + other.terms)

    def __rmul__(self, factor: float) -> RowWeights:
        return RowWeights(tuple((factor * before, weights) for before, weights in self.terms))

    def row_weights(self, block: Block, scores: Floats) -> Floats:
        total = np.zeros(len(scores))
        for factor, weights in self.terms:
            total += factor * weights.row_weights(block, scores)
        return total


def moment_sums(
    blocks: Blocks, coef: Floats, weights: RowWeights, columns: bool, whole: bool
) -> list[Floats | None]:
    """Return the sums by class code of weights, weighted rows and their squares, and all rows' products."""
    n_features = len(coef)
    totals, sums = np.zeros(2), np.zeros((2, n_features))
    squares = np.zeros((2, n_features)) if columns else None
    products = np.zeros((n_features, n_features)) if whole else None
    for block in blocks:
        factors = weights.row_weights(block, block.scores(coef))
        totals += np.bincount(block.class_codes, factors, 2)
        if products is None:
            block.add_sums(factors, sums)
        else:
            rows = block.first, block.last
            block.model.add_block_moments(*rows, factors, block.class_codes, products, sums)
        if squares is not None:
            block.add_sums(factors, squares, squared=True)
    return [totals, sums, squares, products]


def combined_moments(parts: Iterable[list[Floats | None]]) -> ClassMoments:
    """Return the moments about the classes' means; the arrays of the first part are overwritten."""
    total, *others = parts
    # The parts are added in their order, into the first: a matrix of the features a part is enough memory.
    for part in others:
        for into, more in zip(total, part, strict=True):
            if into is not None and more is not None:
                into += more
    totals, sums, squares, products = total
    return ClassMoments.from_sums(np.asarray(totals), np.asarray(sums), squares, products)


def score_bounds(blocks: Blocks, coef: Floats) -> tuple[float, float]:
    """Return the lowest score of a positive and the highest of a negative, of rows that have a weight."""
    lowest, highest = np.inf, -np.inf
    for block in blocks:
        scores = block.scores(coef)
        lowest = min(lowest, -float(_outer_rows(block, scores, 0.0, POSITIVE)[0].max(initial=-np.inf)))
        highest = max(highest, float(_outer_rows(block, scores, 0.0, 0)[0].max(initial=-np.inf)))
    return lowest, highest


@dataclass(frozen=True, eq=False)
class SummedPush:
    """A push at some coefficients: an evaluation whose sums over the rows have been taken."""

    value: float
    rows: ByClass
    weights: ByClass

    def gradient(self) -> ByClass:
        """Return the gradient in the coefficients: the part of either class."""
        return self.rows

    def diagonal(self) -> ByClass:
        """Return the weights of the rows by which the objective curves, as functions of the scores."""
        return self.weights


def two_sum_push(
    source: RowSource, coef: Floats, powers: tuple[float, float], *, with_rows: bool, swapped: bool = False
) -> SummedPush:
    """Return the two-sum form, which ``PushObjective.powers`` writes out, at coefficients, in one round."""
    # If `swapped`, the classes are exchanged and the scores negated.
    sign = -1.0 if swapped else 1.0
    inner, outer = (0, 1) if swapped else (1, 0)
    signed = np.zeros(2)
    signed[inner], signed[outer] = -sign * powers[0], sign * powers[1]
    sums = partial(softmax_sums, coef=coef, powers=signed, with_rows=with_rows)
    log_sums, means = combined_softmax(source.map(sums))
    by_code = [SoftmaxWeights(code, signed[code], log_sums[code]) for code in (inner, outer)]
    weights: Any = (RowWeights((term,)) for term in zip(powers, by_code, strict=True))
    rows = ByClass(-means[inner], means[outer])
    return SummedPush(float(np.sum(log_sums / np.abs(signed))), rows, ByClass(*weights))


def priced_push(
    source: RowSource, coef: Floats, price: Price, scale: str, *, swapped: bool, with_rows: bool
) -> SummedPush:
    """Return the push of the exponential loss under a price, on the scale "raw" or "log", in two rounds."""
    inner, outer = (0, 1) if swapped else (1, 0)
    powers = np.zeros(2)
    powers[inner] = -1.0 if inner == POSITIVE else 1.0
    sums = partial(softmax_sums, coef=coef, powers=powers, with_rows=with_rows)
    log_sums, means = combined_softmax(source.map(sums))
    log_total = float(log_sums[inner])
    terms = partial(price_sums, coef=coef, price=price, log_total=log_total, code=outer, with_rows=with_rows)
    shift, (value, first, size), rows = combined_prices(source.map(terms))
    divisor = price.log_divisor
    if scale == "log" and divisor is not None:
        # A total of zero has no derivative in the logarithms of the sums.
        unit = 1.0 / (divisor * value) if value > 0.0 else 0.0
        total = (shift + float(np.log(value))) / divisor if value > 0.0 else -np.inf
    else:
        unit = float(np.exp(shift))
        total, shift = unit * value, 0.0
    slopes: Any = RowWeights(((unit * size, SoftmaxWeights(inner, powers[inner], log_total)),))
    curvature = CurvatureWeights(outer, price, log_total, shift)
    curved: Any = RowWeights(((unit if scale == "log" else 1.0, curvature),))
    gradient = ByClass(-unit * first * means[inner], unit * rows)
    return SummedPush(float(total), gradient, ByClass(slopes, curved))


def is_sum(objective: PushObjective) -> bool:
    """Return whether an objective can be had from sums over blocks."""
    loss, price = losses.resolve(objective.loss), prices.resolve(objective.price)
    # A price of another kind, such as the maximum, replaces the method that adds up over the rows.
    return loss.factorises and type(price).total is Price.total


def summed_objective(
    objective: PushObjective, source: RowSource, coef: Floats, *, with_rows: bool = True
) -> Any:
    """Return an exponential-loss objective at some coefficients; ``"both"`` reads as a push and as a pull."""
    if objective.powers is not None:
        return two_sum_push(source, coef, objective.powers, with_rows=with_rows)
    price = prices.resolve(objective.price)

    def push(scale: Literal["raw", "log"], swapped: bool) -> Any:
        if scale == "log" and (power := unit_power(price)):
            return two_sum_push(source, coef, (1.0, power), swapped=swapped, with_rows=with_rows)
        return priced_push(source, coef, price, scale, swapped=swapped, with_rows=with_rows)

    # Scales of an objective depend on total weights of the classes: two rows of these weights stand for all.
    numbers = np.arange(2)
    weights = (np.array([weight]) for weight in source.class_weights)
    return objective.composed(push, BipartiteSample(2, numbers[:1], numbers[1:], *weights))


def summed_moments(
    objective: PushObjective, source: RowSource, coef: Floats, *, columns: bool, whole: bool
) -> ClassMoments:
    """Return how rows vary within the classes, under the weights by which an objective curves."""
    at_coef = summed_objective(objective, source, coef, with_rows=False)
    weights = sum(at_coef.diagonal(), RowWeights(()))
    sums = partial(moment_sums, coef=coef, weights=weights, columns=columns, whole=whole)
    return combined_moments(source.map(sums))
