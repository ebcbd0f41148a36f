"""An objective with kinks as the limit of smooth ones, each with a bound of it from below."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pushrank import losses, prices
from pushrank._log_space import Floats
from pushrank.objectives.linearisation import Linearisation, Scaled
from pushrank.objectives.push import PushObjective
from pushrank.pairs import Sample


class SmoothedObjective:
    r"""A push objective with the kinks of its loss rounded off and its maximum softened.

    Parameters
    ----------
    kinked : PushObjective
        The objective; under a price without a derivative, on the scale of the mean.
    sample : Sample
        The rows that it will be taken over.
    width : float
        The width of the rounded kinks.
    temperature : float
        That of the soft maximum, in the unit of the objective.

    Raises
    ------
    TypeError
        When the loss or the price has kinks and no smoothed form.

    Notes
    -----
    Let F be the objective, convex, and g the gradient of the smoothed one at scores z. For a price that is no
    maximum the smoothed objective is below F but for the loss, and convex; for a maximum the multipliers
    :math:`\lambda` of its inner sums h, which sum to one, give :math:`\sum_k \lambda_k h_k \le F`. So, for
    all scores s,

    .. math::

        F(s) \ge V - g \cdot z + g \cdot s, \qquad F(s) \ge V - \textstyle\sum_k \lambda_k h_k +
        c \sum_k g_k + g \cdot s ,

    the first for a loss without kinks, the second for a loss that is nowhere below the lines
    :math:`a (c - r)`, k over the negatives, and V the smoothed value, or :math:`\sum_k \lambda_k h_k` for a
    maximum.

    Examples
    --------
    >>> from pushrank.pairs import BipartiteSample
    >>> sample, scores = BipartiteSample.from_labels([1, 0]), np.array([0.5, 0.0])
    >>> smooth = SmoothedObjective(PushObjective("hinge"), sample, 0.1, 0.1)
    >>> level, slopes = smooth.lower_line(sample, scores)
    >>> round(float(level + slopes @ scores), 9), slopes.tolist()  # the hinge itself, away from its kink
    (0.5, [-1.0, 1.0])
    """

    powers = None
    twice_differentiable = True

    def __init__(self, kinked: PushObjective, sample: Sample, width: float, temperature: float) -> None:
        loss, price = losses.resolve(kinked.loss), prices.resolve(kinked.price)
        self._softened = not price.smooth
        self._intercept = None if loss.differentiable else loss.intercept
        self.bounded = loss.convex and price.convex and (loss.differentiable or self._intercept is not None)
        self._unit = np.exp(kinked.log_unit(sample)) if self._softened else 1.0
        scale = "raw" if self._softened else kinked.scale
        self._smooth = replace(
            kinked,
            loss=loss.smoothed(width),
            price=price.smoothed(temperature * self._unit),
            scale=scale,
        )

    @staticmethod
    def check(kinked: PushObjective) -> None:
        """Raise where a smoothed form is wanted and not known.

        Raises
        ------
        TypeError
            When the loss or the price has kinks and no smoothed form.
        """
        losses.resolve(kinked.loss).smoothed(1.0)
        prices.resolve(kinked.price).smoothed(1.0)

    def linearise(self, sample: Sample, scores: Floats) -> Linearisation:
        """Return the smoothed objective at given scores."""
        smooth = self._smooth.linearise(sample, scores)
        return Scaled(smooth, 1.0 / self._unit) if self._softened else smooth

    def lower_line(self, sample: Sample, scores: Floats) -> tuple[float, Floats]:
        """Return d and g, shape (n,): the objective at any scores s is at least ``d + g @ s``."""
        at_point = self.linearise(sample, scores)
        gradient = at_point.gradient()
        level = at_point.elasticity if self._softened else at_point.value
        slopes = sample.join(*gradient)
        if self._intercept is None:
            return level - float(slopes @ scores), slopes
        of_lines = self._intercept * float(gradient.negatives.sum())
        return level - at_point.elasticity + of_lines, slopes
