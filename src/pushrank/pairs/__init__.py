"""Which rows are compared with which, and the ways to sum a loss over all pairs of them."""

from __future__ import annotations

from pushrank._log_space import Floats
from pushrank.losses import Loss
from pushrank.pairs.blocked import BlockedSums
from pushrank.pairs.crucial import CrucialSample
from pushrank.pairs.factorised import FactorisedSums
from pushrank.pairs.graded import GradedSample
from pushrank.pairs.inner_sums import InnerSums
from pushrank.pairs.sample import BipartiteSample, Mixture, Sample, checked_weights
from pushrank.pairs.sorted import SortedSums

__all__ = [
    "BipartiteSample",
    "BlockedSums",
    "CrucialSample",
    "FactorisedSums",
    "GradedSample",
    "InnerSums",
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
        For a loss that does not factorise beyond two classes.
    """
    of_positives, of_negatives = sample.split(scores)
    if loss.factorises:
        return FactorisedSums(sample, of_positives, of_negatives)
    if not isinstance(sample, BipartiteSample):
        raise TypeError(
            f"{loss} can be summed over two classes only; grades, query groups and explicit pairs need the "
            "exponential loss."
        )
    kind = SortedSums if loss.hinge_power else BlockedSums
    return kind(loss, of_positives, of_negatives, sample.positive_weights)
