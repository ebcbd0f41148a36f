"""The inner sums of a loss as an objective needs them, and the choice of the fastest way to compute them."""

from typing import Protocol

from pushrank._numeric import Floats
from pushrank.losses import Loss
from pushrank.pairs import tolerances
from pushrank.pairs.analytic import SmoothSums
from pushrank.pairs.explicit import CrucialSample, ListedSums
from pushrank.pairs.exponential import FactorisedSums
from pushrank.pairs.graded import GradedSample
from pushrank.pairs.pair_sums import BlockedSums
from pushrank.pairs.piecewise import SortedSums
from pushrank.pairs.samples import BipartiteSample, Sample


class InnerSums(Protocol):
    r"""Log inner sums :math:`l_k = \ln \sum_i w_i \ell(s_i - t_k)` at some scores, with their derivatives."""

    # `s` are the scores of the positives, shape (I,), and `t` those of the negatives, shape (K,).

    @property
    def log_sums(self) -> Floats:
        """The ``l_k``, shape (K,)."""

    def jacobian_product(self, positive_direction: Floats, negative_direction: Floats) -> Floats:
        """Return the change of ``l`` when the scores move in a direction, shape (K,)."""

    def adjoint_product(self, multipliers: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of ``multipliers @ l`` in ``s`` and in ``t``."""

    def curvature_product(
        self, multipliers: Floats, positive_direction: Floats, negative_direction: Floats
    ) -> tuple[Floats, Floats]:
        """Return the Hessian of ``multipliers @ l`` times a direction, in ``s`` and in ``t``."""

    def diagonal(self, multipliers: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return each row's weight in the Hessian, for the price's first and second derivatives in ``l``."""

    def majoriser(self, multipliers: Floats, curvature: Floats, coupling: float) -> tuple[Floats, Floats]:
        """Return a diagonal D above the Hessian H of an objective: ``v @ H @ v <= v @ D @ v`` for every v."""


def log_inner_sums(
    loss: Loss, sample: Sample, scores: Floats, accuracy: float = tolerances.ACCURACY
) -> InnerSums:
    """Return the inner sums of a loss at finite scores, by the fastest way that its declared form allows."""
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
    # Each of the ways below takes what the loss declares: pieces, or a strip in which it is analytic. Few
    # pairs are summed one by one, without bins or sorting.
    arguments = (loss, positive_scores, negative_scores, sample.positive_weights)
    few = positive_scores.shape[0] * negative_scores.shape[0] <= tolerances.MAX_BLOCKED_PAIRS
    if few and type(sample) is BipartiteSample:
        return BlockedSums(*arguments)
    blocks = sample.blocks if isinstance(sample, GradedSample) else None
    if loss.pieces:
        return SortedSums(*arguments, blocks)
    return SmoothSums(*arguments, blocks, accuracy)
