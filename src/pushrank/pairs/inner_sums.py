"""What an objective asks of the inner sums of a loss, and the fastest way to have them."""

from __future__ import annotations

from typing import Protocol

from pushrank._numeric import Floats
from pushrank.losses import Loss
from pushrank.pairs.analytic import ACCURACY, SmoothSums
from pushrank.pairs.explicit import CrucialSample, ListedSums
from pushrank.pairs.exponential import FactorisedSums
from pushrank.pairs.graded import GradedSample
from pushrank.pairs.pair_sums import BlockedSums
from pushrank.pairs.piecewise import SortedSums
from pushrank.pairs.samples import BipartiteSample, Sample


class InnerSums(Protocol):
    r"""Log inner sums :math:`l_k = \ln \sum_i w_i \ell(s_i - t_k)` at given scores, with their derivatives.

    ``s`` are the scores of the positives, shape (I,), and ``t`` those of the negatives, shape (K,). An
    objective is a function of ``l``; these four operations give it gradients and Hessian products in the
    scores, whatever way the pairs were summed.
    """

    @property
    def log_sums(self) -> Floats:
        """The ``l_k``, shape (K,)."""

    def jacobian_product(self, positive_direction: Floats, negative_direction: Floats) -> Floats:
        """Return the change of ``l`` when the scores move in the given direction, shape (K,)."""

    def adjoint_product(self, multipliers: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of ``multipliers @ l`` in ``s`` and in ``t``."""

    def curvature_product(
        self, multipliers: Floats, positive_direction: Floats, negative_direction: Floats
    ) -> tuple[Floats, Floats]:
        """Return the Hessian of ``multipliers @ l`` times the given direction, in ``s`` and in ``t``."""

    def diagonal(self, multipliers: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return non-negative weights on which, row by row, the Hessian of an objective rests.

        ``multipliers`` and ``curvature`` are the price's first and second derivatives in ``l``. The weights
        serve to scale coordinates, not as exact second derivatives.
        """

    def majoriser(self, multipliers: Floats, curvature: Floats, coupling: float) -> tuple[Floats, Floats]:
        """Return a diagonal D above the Hessian H of an objective: ``v @ H @ v <= v @ D @ v`` for every v.

        ``multipliers``, ``curvature`` and ``coupling`` say how the price curves in ``l``. The loss must have
        a second derivative.
        """


MAX_BLOCKED_PAIRS = 1 << 13  # up to so many, a loss of each pair of two classes is the fastest way


def log_inner_sums(loss: Loss, sample: Sample, scores: Floats, accuracy: float = ACCURACY) -> InnerSums:
    """Return the inner sums of a loss at finite scores, by the fastest way that its declared form allows.

    The accuracy is the relative error of the sums of an analytic loss; all others are exact but for rounding.

    Raises
    ------
    TypeError
        For a loss that declares none of the forms which sums in near-linear time need.
    """
    positive_scores, negative_scores = sample.gather(scores)
    if loss.factorises:
        return FactorisedSums(sample, positive_scores, negative_scores)
    if isinstance(sample, CrucialSample):
        return ListedSums(loss, sample, positive_scores, negative_scores)
    if not loss.pieces and loss.strip_half_width is None:
        raise TypeError(
            f"{loss} declares no form by which its sums over all pairs can be had in near-linear time: give "
            "it pieces, where it is piecewise polynomial, or a strip_half_width, where it is analytic (see "
            "pushrank.losses.Loss); or rank explicit pairs, which any loss can."
        )
    arguments = (loss, positive_scores, negative_scores, sample.positive_weights)
    few = positive_scores.shape[0] * negative_scores.shape[0] <= MAX_BLOCKED_PAIRS
    if few and type(sample) is BipartiteSample:
        return BlockedSums(*arguments)
    blocks = sample.blocks if isinstance(sample, GradedSample) else None
    if loss.pieces:
        return SortedSums(*arguments, blocks)
    return SmoothSums(*arguments, blocks, accuracy)
