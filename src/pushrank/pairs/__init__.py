"""Which rows are compared with which, and the ways to sum a loss over all pairs of them."""

from __future__ import annotations

from pushrank._numeric import Floats
from pushrank.losses import Loss
from pushrank.pairs.analytic import ACCURACY, SmoothSums
from pushrank.pairs.array_api import ArraySample
from pushrank.pairs.explicit import CrucialSample, ListedSums
from pushrank.pairs.exponential import FactorisedSums
from pushrank.pairs.graded import GradedSample
from pushrank.pairs.inner_sums import BlockedSums, InnerSums
from pushrank.pairs.piecewise import SortedSums
from pushrank.pairs.samples import BipartiteSample, Normaliser, Sample

__all__ = [
    "ACCURACY",
    "ArraySample",
    "BipartiteSample",
    "BlockedSums",
    "CrucialSample",
    "FactorisedSums",
    "GradedSample",
    "InnerSums",
    "ListedSums",
    "Normaliser",
    "Sample",
    "SmoothSums",
    "SortedSums",
    "inner_sums",
]


MAX_BLOCKED_PAIRS = 1 << 13
"""Up to so many, a loss of each pair of two classes is the fastest way."""


def inner_sums(loss: Loss, sample: Sample, scores: Floats, accuracy: float = ACCURACY) -> InnerSums:
    """Return the inner sums of a loss at given scores, by the fastest way its traits allow.

    ``accuracy`` is that of the sums of an analytic loss; all others are exact but for rounding.

    Raises
    ------
    TypeError
        For a loss that declares none of the forms which sums in near-linear time need.
    """
    of_positives, of_negatives = sample.gather(scores)
    if loss.factorises:
        return FactorisedSums(sample, of_positives, of_negatives)
    if isinstance(sample, CrucialSample):
        return ListedSums(loss, sample, of_positives, of_negatives)
    if not loss.pieces and loss.strip is None:
        raise TypeError(
            f"{loss} declares no form by which its sums over all pairs can be had in near-linear time: give "
            "it pieces, where it is piecewise polynomial, or a strip, where it is analytic (see "
            "pushrank.losses.Loss); or rank explicit pairs, which any loss can."
        )
    arguments = (loss, of_positives, of_negatives, sample.positive_weights)
    splits = sample.splits if isinstance(sample, GradedSample) else None
    few = of_positives.shape[0] * of_negatives.shape[0] <= MAX_BLOCKED_PAIRS
    if splits is None and few and isinstance(sample, BipartiteSample):
        return BlockedSums(*arguments)
    if loss.pieces:
        return SortedSums(*arguments, splits)
    return SmoothSums(*arguments, splits, accuracy)
