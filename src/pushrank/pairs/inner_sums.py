"""The inner sums of a loss as an objective needs them, and the choice of the fastest way to compute them."""

from pushrank._base.numeric import Floats
from pushrank.losses import Loss
from pushrank.pairs import tolerances
from pushrank.pairs.analytic import SmoothSums
from pushrank.pairs.explicit import CrucialSample, ListedSums
from pushrank.pairs.exponential import FactorisedSums
from pushrank.pairs.graded import GradedSample
from pushrank.pairs.pair_sums import BlockedSums, PairSums
from pushrank.pairs.piecewise import SortedSums
from pushrank.pairs.samples import BipartiteSample, Sample

InnerSums = FactorisedSums | PairSums
"""Log inner sums of a loss at some scores, with the products by their derivatives."""


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
