"""Which rows are compared with which, and the ways to sum a loss over all pairs of them."""

from __future__ import annotations

from pushrank._log_space import Floats
from pushrank.losses import Loss
from pushrank.pairs.blocked import BlockedSums
from pushrank.pairs.crucial import CrucialSample
from pushrank.pairs.factorised import FactorisedSums
from pushrank.pairs.graded import GradedSample
from pushrank.pairs.inner_sums import InnerSums
from pushrank.pairs.listed import ListedSums
from pushrank.pairs.sample import BipartiteSample, Mixture, Sample, checked_weights
from pushrank.pairs.sorted import SortedSums

__all__ = [
    "BipartiteSample",
    "BlockedSums",
    "CrucialSample",
    "FactorisedSums",
    "GradedSample",
    "InnerSums",
    "ListedSums",
    "Mixture",
    "Sample",
    "SortedSums",
    "checked_weights",
    "inner_sums",
]


def inner_sums(loss: Loss, sample: Sample, scores: Floats) -> InnerSums:
    """Return the inner sums of a loss at given scores, by the fastest way its traits allow.

    Raises
    ------
    TypeError
        For grades of a loss that neither factorises nor is a hinge.
    """
    of_positives, of_negatives = sample.split(scores)
    if loss.factorises:
        return FactorisedSums(sample, of_positives, of_negatives)
    if isinstance(sample, CrucialSample):
        return ListedSums(loss, sample, of_positives, of_negatives)
    if loss.hinge_power:
        splits = sample.splits if isinstance(sample, GradedSample) else None
        return SortedSums(loss, of_positives, of_negatives, sample.positive_weights, splits)
    if isinstance(sample, BipartiteSample):
        return BlockedSums(loss, of_positives, of_negatives, sample.positive_weights)
    raise TypeError(
        f"{loss} can be summed over two classes and explicit pairs only; grades and query groups need the "
        "exponential loss, the hinge or its square."
    )
