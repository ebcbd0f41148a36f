"""A push of rows that several processes hold: what each knows of its own, added up over all of them.

The exponential loss factorises, so that sums over the rows of each class give all inner sums, and one more
their price. Every process takes part in the same sums in the same order, and finds the gradient of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats, softmax_and_log_sum
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.pairs.samples import SharedNormaliser, weights_of
from pushrank.prices import Price, PriceTotal
from pushrank.prices import Scale as PriceScale


class Collective(Protocol):
    """What all processes do together: an array's entries added up over them, or the largest of each."""

    def sum(self, values: Floats) -> Floats:
        """Return the sums."""

    def max(self, values: Floats) -> Floats:
        """Return the largest."""


def log_sum_of_all(collective: Collective, log_sum: float) -> float:
    """Return the logarithm of the sum over the processes from that of each."""
    largest = float(collective.max(np.array([log_sum]))[0])
    if not np.isfinite(largest):
        return largest + float(collective.sum(np.zeros(1))[0])
    return largest + float(np.log(collective.sum(np.exp([log_sum - largest]))[0]))


class CollectiveNormaliser(SharedNormaliser):
    """Every negative of any process is compared with all positives of all of them."""

    def __init__(self, exponents: Floats, collective: Collective) -> None:
        self._collective = collective
        own, log_total = softmax_and_log_sum(exponents)
        self.log_totals = log_sum_of_all(collective, log_total)
        self._softmax = own * np.exp(log_total - self.log_totals)

    def product(self, positive_values: Floats) -> float:
        """Return the one weighted mean."""
        return float(self._collective.sum(np.array([super().product(positive_values)]))[0])

    def transpose_product(self, negative_values: Floats) -> Floats:
        """Return the total of the values, divided among the positives by the softmax."""
        divided: Floats = self._collective.sum(np.array([negative_values.sum()])) * self._softmax
        return divided


@dataclass(frozen=True, eq=False)
class CollectiveSample(BipartiteSample):
    """The rows of a process, which may lack a class that others have."""

    collective: Any = None

    def normaliser(self, exponents: Floats) -> CollectiveNormaliser:
        """Return the one sum that all negatives share."""
        return CollectiveNormaliser(exponents, self.collective)

    @property
    def class_weights(self) -> tuple[float, float]:
        """The total weight of the positives and of the negatives of all processes."""
        first, second = self.collective.sum(np.array(super().class_weights)).tolist()
        return first, second


@dataclass(frozen=True)
class CollectivePrice(Price):
    """A price, totalled over the inner sums of all processes."""

    price: Price
    collective: Any

    @property
    def log_divisor(self) -> float | None:
        """That of the price."""
        return self.price.log_divisor

    def value(self, inner_sum: Floats) -> Floats:
        """Return that of the price."""
        return self.price.value(inner_sum)

    def derivative(self, inner_sum: Floats) -> Floats:
        """Return that of the price."""
        return self.price.derivative(inner_sum)

    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return that of the price."""
        return self.price.second_derivative(inner_sum)

    def total(self, log_sums: Floats, weights: Floats | float, scale: PriceScale) -> PriceTotal:
        """Return the total over all processes, and its derivatives in the sums of this one."""
        value, gradient, curvature, coupling = self.price.total(log_sums, weights, scale)
        divisor = self.log_divisor
        if scale == "raw" or divisor is None:
            return PriceTotal(float(self.collective.sum(np.array([value]))[0]), gradient, curvature, coupling)
        log_total = log_sum_of_all(self.collective, divisor * value)
        part = np.exp(divisor * value - log_total) if len(gradient) else 1.0
        # that of a power is a multiple of the gradient to the last bit, which its majoriser looks for
        is_multiple = np.array_equal(curvature, coupling * gradient)
        gradient = part * gradient
        curvature = coupling * gradient if is_multiple else part * curvature
        return PriceTotal(log_total / divisor, gradient, curvature, coupling)


def check_collective(objective: PushObjective) -> None:
    """Raise unless a few sums over all rows give every row's gradient.

    Raises
    ------
    ValueError
        When they do not, with what does.
    """
    price: Any = objective.price
    loss: Any = objective.loss
    if not loss.factorises:
        raise ValueError(
            f"{loss} compares every positive with every negative, and the rows are in several processes: "
            "use the exponential loss, of which a few sums are enough."
        )
    mixed = objective.side == "both" and objective.scale == "log"
    if mixed or (objective.scale == "mean" and price.homogeneous):
        raise ValueError(
            f"side={objective.side!r} with {price} on the scale {objective.scale!r} has no bound of its "
            "Hessian by sums over rows in several processes: use scale='log' and side='push' or 'pull'."
        )


def collective_problem(
    objective: PushObjective,
    collective: Collective,
    labels: NDArray[Any],
    weights: Floats | None,
    has_groups: bool,
) -> tuple[PushObjective, CollectiveSample]:
    """Return an objective and a sample whose evaluation has the gradient of this process's rows.

    The larger label of all processes is the positive class.

    Raises
    ------
    ValueError
        In all processes alike, when labels are not of two classes or are missing, a weight is negative, or
        there are query groups.
    """
    check_collective(objective)
    found = labels if weights is None else labels[weights > 0.0]
    wrong = np.isnan(labels).any(), has_groups, weights is not None and not (weights >= 0.0).all()
    ends = (found.max(), -found.min()) if len(found) else (-np.inf, -np.inf)
    high, low, missing, grouped, negative = collective.max(np.array([*ends, *wrong], dtype=np.float64))
    between = collective.sum(np.array([np.count_nonzero((found != high) & (found != -low))], dtype=float))[0]
    for is_wrong, message in (
        (missing, "labels are missing; leave such rows out."),
        (negative, "weights must not be negative or missing."),
        (grouped, "query groups are not ranked by sums over all; give one list without qid."),
        (not high > -low, "ranking needs rows of two labels with positive weight, and found one."),
        (between, "grades of relevance are not ranked by sums over all; give two labels."),
    ):
        if is_wrong:
            raise ValueError(f"the rows are in several processes: {message}")
    counted = np.ones(len(labels), dtype=bool) if weights is None else weights > 0.0
    positives, negatives = (np.flatnonzero(counted & (labels == label)) for label in (high, -low))
    row_weights = weights_of(weights, positives, negatives)
    sample = CollectiveSample(len(labels), positives, negatives, *row_weights, collective)
    price: Any = objective.price
    return replace(objective, price=CollectivePrice(price, collective)), sample
