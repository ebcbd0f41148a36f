"""The two classes, and the ways to sum a loss over all pairs of them."""

from __future__ import annotations

from pushrank._log_space import Floats
from pushrank.losses import Loss
from pushrank.pairs.blocked import BlockedSums
from pushrank.pairs.factorised import FactorisedSums
from pushrank.pairs.inner_sums import InnerSums
from pushrank.pairs.sample import BipartiteSample, checked_weights

__all__ = ["BipartiteSample", "BlockedSums", "FactorisedSums", "InnerSums", "checked_weights", "inner_sums"]


def inner_sums(loss: Loss, of_positives: Floats, of_negatives: Floats, weights: Floats | None) -> InnerSums:
    """Return the inner sums of a loss at given scores, by the fastest way its traits allow."""
    if loss.factorises:
        return FactorisedSums(of_positives, of_negatives, weights)
    return BlockedSums(loss, of_positives, of_negatives, weights)
