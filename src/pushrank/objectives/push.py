"""The push, the pull and their sum: one functional of the scores for any loss and price."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from pushrank import losses, prices
from pushrank._base.docstrings import shared_docs
from pushrank._base.user_types import Floats
from pushrank._base.validation import check_choice, check_number
from pushrank.losses import Loss
from pushrank.objectives.binned import KINK_STEEPNESS, binned_evaluation
from pushrank.objectives.evaluation import (
    Mirrored,
    ObjectiveEvaluation,
    PushEvaluation,
    log_sum,
    power_mean,
    weighted_sum,
)
from pushrank.pairs import ACCURACY, BipartiteSample, Sample, log_inner_sums, tolerances
from pushrank.prices import Price

Side = Literal["push", "pull", "both"]
SIDES = get_args(Side)
Scale = Literal["raw", "log", "mean"]


@shared_docs
@dataclass(frozen=True)
class PushObjective:
    r"""A ranking objective of the score vector, for any pair loss and any price.

    .. math::

        R = \sum_k w_k\, g\Bigl(\sum_i w_i\, \ell(s_i - t_k)\Bigr) \quad\text{(push)}, \qquad
        R' = \sum_i w_i\, g\Bigl(\sum_k w_k\, \ell(s_i - t_k)\Bigr) \quad\text{(pull)}

    with :math:`s_i` the scores of the positives, :math:`t_k` those of the negatives, and the sum
    :math:`R + c R'` for ``side="both"``.

    The P-Norm Push is the push of the exponential loss under the price ``Power(p)``, the IR Push the pull
    of the exponential loss under ``LogOnePlus()``, and the Infinite Push the push of the hinge under
    ``Maximum()``.

    Losses are summed pair by pair only over few rows and explicit pairs. The exponential loss costs O(n) for
    every price, in log space: any finite score and any p give a finite log scale, while the raw scale
    overflows to infinity if R exceeds the largest float. Piecewise polynomial losses (the hinge, its square
    and the zero-one loss) cost sorting, O(n log n); analytic ones (the logistic, the sigmoids, the smoothed
    hinge) O(n), by fast summation, where a sum below the smallest float counts as zero. Tied pairs have the
    loss of margin zero.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), sections 2 and 7.

    Parameters
    ----------
    loss : Loss or str, default="exponential"
        The pair loss, or its name: ``"exponential"``, ``"logistic"``, ``"hinge"``, ``"squared_hinge"``,
        ``"smoothed_hinge"``, ``"sigmoid"``, ``"zero_one"`` (values only).
    price : Price or str, default="identity"
        The price, or its name: ``"identity"``, ``"power"``, ``"exponential_price"``, ``"log_one_plus"``,
        ``"maximum"``.
    side : {"push", "pull", "both"}, default="push"
        Push the negatives down, pull the positives up, or both.
    scale : {"raw", "log", "mean"}, default="raw"
        ``R`` itself; ``(1/m) ln R`` with m = p for a power and 1 otherwise; or a mean that is convex if R is:
        for a power or the maximum the power mean over k of the mean loss of each k, for another price R over
        the number of terms. All three have the same minimisers. :doc:`/objectives` has their formulas.
    bottom_weight : float, default=1.0
        The positive weight c of the pull when ``side="both"``.
    accuracy : float, default=1e-10
        The relative error allowed in the inner sums of an analytic loss, from 1e-13 to 0.1; those of other
        losses are exact up to rounding.

    Raises
    ------
    TypeError
        When the weight or the accuracy is not a number.
    ValueError
        When a name, the scale, the weight or the accuracy is not valid, or the price has no log scale.

    Examples
    --------
    >>> from pushrank.prices import Power
    >>> objective = PushObjective(price=Power(2.0), scale="log")
    >>> value, gradient = objective.evaluate([0, 1, 1], [0.5, 1.0, 2.0])
    >>> round(value, 4), gradient.round(4).tolist()
    (-0.1867, [1.0, -0.7311, -0.2689])
    """

    loss: Loss | str = "exponential"
    price: Price | str = "identity"
    side: Side = "push"
    scale: Scale = "raw"
    bottom_weight: float = 1.0
    accuracy: float = ACCURACY

    def __post_init__(self) -> None:
        # The class is frozen, so that equal objectives can share what is computed from a loss.
        object.__setattr__(self, "loss", losses.resolve(self.loss))
        object.__setattr__(self, "price", prices.resolve(self.price))
        check_choice("side", self.side, SIDES)
        check_choice("scale", self.scale, get_args(Scale))
        check_number("bottom_weight", self.bottom_weight, above=0.0)
        check_number("accuracy", self.accuracy, tolerances.MIN_ACCURACY, tolerances.MAX_ACCURACY)
        if self.scale == "log":
            self._price.total(np.zeros(1), 1.0, "log")  # a ValueError where the price has no such scale

    @property
    def _loss(self) -> Loss:
        return losses.resolve(self.loss)

    @property
    def _price(self) -> Price:
        return prices.resolve(self.price)

    @property
    def differentiable(self) -> bool:
        """Whether the objective has a gradient everywhere, which gradient solvers need."""
        return self._loss.differentiable and self._price.smooth

    @property
    def twice_differentiable(self) -> bool:
        """Whether Hessian-vector products exist, which Newton's method needs."""
        return self._loss.twice_differentiable and self._price.smooth

    @property
    def convex(self) -> bool:
        """Whether the objective is known to be convex in the scores, which bounds from below need."""
        # A convex loss under a convex price is convex, but in general not its logarithm. The logarithm of a
        # sum of exponentials is: of the exponential loss under a power, and of a convex loss under
        # `ExponentialPrice`. So is ln(1 + h) of a sum h of exponential losses.
        loss, price = self._loss, self._price
        if self.scale == "log" and not isinstance(price, prices.ExponentialPrice):
            return loss.factorises and price.homogeneous
        if isinstance(price, prices.LogOnePlus):
            return loss.factorises
        return loss.convex and price.convex

    @property
    def powers(self) -> tuple[float, float] | None:
        """The powers c and d of the two-sum form, or None if the objective has no such form."""
        # On the log scale the exponential loss with a power price is, up to a constant,
        # ln(sum_i w_i e^(-c s_i)) / c + ln(sum_k w_k e^(d t_k)) / d, with (1, p) for the push and (p, 1) for
        # the pull, so that value and gradient need a single reading of the scores.
        if self.scale != "log" or not self._loss.factorises or self.side == "both":
            return None
        if (p := prices.unit_power(self._price)) is None:
            return None
        return (1.0, p) if self.side == "push" else (p, 1.0)

    def evaluation(self, sample: Sample, scores: Floats) -> ObjectiveEvaluation:
        """Return the objective at checked scores of all rows: its value, gradient and Hessian products."""
        # Losses that are not analytic are exact unless their caller accepts an error.
        if self._loss.strip_half_width is None:
            return self._evaluation(sample, scores)
        return self.evaluation_within(sample, scores, self.accuracy)

    def evaluation_within(self, sample: Sample, scores: Floats, accuracy: float) -> ObjectiveEvaluation:
        """Return the objective at some scores, with a relative error in each part if that saves time."""
        # For many rows and a piecewise polynomial loss, the errors of the gradient are a few times the
        # accuracy relative to its mean, and those of the diagonals some per cent where the second derivative
        # jumps.
        # No term of the objective grows faster than e^(steepness d) over a distance d of the scores.
        loss, p = self._loss, max(1.0, self._price.log_divisor or 1.0)
        rate = max(np.pi / (loss.strip_half_width or np.pi), loss.tails.rate if loss.tails else 0.0)
        steepness = max(KINK_STEEPNESS, p) if loss.pieces else p * rate
        binned = binned_evaluation(self._evaluation, sample, scores, steepness, accuracy, not loss.pieces)
        return self._evaluation(sample, scores) if binned is None else binned

    def plane(self, sample: Sample, scores: Floats) -> tuple[float, Floats, float]:
        """Return the objective, a subgradient in the scores, and the value of their plane at zero scores."""
        # The last is without the rounding of a difference for a push of the hinge, on the scale of the mean,
        # under a price that weighs the inner sums: the identity and the maximum.
        at_point = self.evaluation(sample, scores)
        gradient = at_point.gradient()
        slope = sample.scatter(*gradient)
        weighs = isinstance(self.price, prices.Identity | prices.Maximum)
        if isinstance(self.loss, losses.Hinge) and weighs and (self.side, self.scale) == ("push", "mean"):
            # A pair within its margin adds one to the plane at zero, and to the slope of its worse row.
            return at_point.value, slope, float(gradient.negatives.sum())
        return at_point.value, slope, at_point.value - float(slope @ scores)

    def _evaluation(self, sample: Sample, scores: Floats) -> ObjectiveEvaluation:
        return self.composed(partial(self._push, sample, scores), sample)

    def composed(self, push: Callable[..., ObjectiveEvaluation], sample: Sample) -> ObjectiveEvaluation:
        """Return the objective that the scale and the side make of pushes."""
        # `push(scale, swapped)` returns the push on the scale "raw" or "log", with exchanged classes and
        # negated scores if `swapped`. The sample may be of other rows with the same weights of the classes.
        if self.scale != "mean":
            return self._on_scale(push, self.scale)
        # A homogeneous price has a log scale that is finite wherever scores are, so that its power mean
        # cannot overflow on the way.
        if self._price.homogeneous:
            return power_mean(self._on_scale(push, "log"), self.log_unit(sample))
        inner, outer = self._pushed(sample).class_weights
        terms = outer + self.bottom_weight * inner if self.side == "both" else outer
        return weighted_sum([self._on_scale(push, "raw")], [1.0 / terms])

    def log_unit(self, sample: Sample) -> float:
        """Return the unit of a power mean: the log scale of the push if every pair has a loss of one."""
        return self._price.total(*self._pushed(sample).totals, "log").value

    def _pushed(self, sample: Sample) -> Sample:
        return sample if self.side != "pull" else sample.swapped()

    def _on_scale(
        self, push_on: Callable[..., ObjectiveEvaluation], scale: Literal["raw", "log"]
    ) -> ObjectiveEvaluation:
        if self.side == "push":
            return push_on(scale, False)
        pull = Mirrored(push_on(scale, True))
        if self.side == "pull":
            return pull
        push = push_on(scale, False)
        # On the log scale of both sides the sum is under the logarithm.
        divisor = self._price.log_divisor
        if scale == "raw" or divisor is None:
            return weighted_sum([push, pull], [1.0, self.bottom_weight])
        return log_sum([push, pull], [1.0, self.bottom_weight], divisor)

    def _push(
        self, sample: Sample, scores: Floats, scale: Literal["raw", "log"], swapped: bool
    ) -> PushEvaluation:
        if swapped:
            sample, scores = sample.swapped(), -scores
        sums = log_inner_sums(self._loss, sample, scores, float(self.accuracy))
        weights: Any = 1.0 if sample.log_weights[1] is None else sample.negative_weights
        total = self._price.total(sums.log_sums, weights, scale)
        # No derivative asks for these, which are a number a row.
        del sums.log_sums
        return PushEvaluation(sums, total)

    def value(self, y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the objective alone, also for the zero-one loss, which has no gradient.

        Arguments and errors are those of ``evaluate``, but an objective that overflows is infinite.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.evaluation(*self.checked(y, scores, sample_weight)).value
        # A difference of infinities is NaN.
        return value if value < np.inf else np.inf

    def evaluate(
        self, y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[float, Floats]:
        """Return the objective and its gradient with respect to the scores.

        %(score_vector)s

        Returns
        -------
        value : float
            The objective on its scale.
        gradient : ndarray of float64, shape (n,)
            In the order of the rows; a subgradient for the hinge loss and the maximum.

        Raises
        ------
        ValueError
            When ``y`` has not exactly two classes, a score or weight is not finite, lengths differ, or the
            objective overflows and has no gradient; ``value`` is infinite then.
        TypeError
            For the zero-one loss, which has no gradient.
        """
        sample, checked = self.checked(y, scores, sample_weight)
        # An overflow becomes the error below, which says what to do.
        with np.errstate(over="ignore", invalid="ignore"):
            at_point = self.evaluation(sample, checked)
        if not at_point.value < np.inf:
            raise ValueError(
                f"the objective overflows on the scale {self.scale!r} and has no gradient; use scale='log' "
                "or 'mean', or smaller scores."
            )
        return at_point.value, sample.scatter(*at_point.gradient())

    @staticmethod
    def checked(y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Sample, Floats]:
        """Return the sample of labels and the scores of its rows; a ValueError where they are no such."""
        return checked_rows(y, scores, sample_weight)


@shared_docs
class ScoreSurrogate(ABC):
    """A function of the scores of two classes that has subgradients alone."""

    @abstractmethod
    def evaluation(self, sample: Sample, scores: Floats) -> tuple[float, Floats]:
        """Return value and subgradient for a sample of two classes and checked scores."""

    def value(self, y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the surrogate alone; arguments and errors are those of ``evaluate``."""
        return self.evaluate(y, scores, sample_weight)[0]

    def evaluate(
        self, y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[float, Floats]:
        """Return the surrogate and a subgradient with respect to the scores.

        %(score_vector)s

        Returns
        -------
        value : float
            The surrogate.
        subgradient : ndarray of float64, shape (n,)
            In the order of the rows. It is the gradient wherever there is one; of a surrogate that is not
            convex it is that of an active piece.

        Raises
        ------
        ValueError
            When ``y`` has not exactly two classes, k is above the weight of the rows that it counts, a score
            or weight is not finite, or lengths differ.
        """
        return self.evaluation(*checked_rows(y, scores, sample_weight))


def checked_rows(
    y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[BipartiteSample, Floats]:
    """Return the sample of labels and the scores of its rows."""
    checked: Floats = check_array(scores, dtype=np.float64, ensure_2d=False, input_name="scores")
    if checked.ndim != 1:
        raise ValueError(f"scores must be one-dimensional, got shape {checked.shape}.")
    sample = BipartiteSample.from_labels(y, sample_weight)
    if sample.n_rows != len(checked):
        raise ValueError(f"y has {sample.n_rows} rows but scores has shape {checked.shape}.")
    return sample, checked
