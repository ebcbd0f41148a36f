"""Rankers and measures on the Dask collections of a cluster."""

from __future__ import annotations

from pushrank.distributed.linear import DaskIRPush, DaskPNormPush, DaskPushRanker, DaskTrimmedPush
from pushrank.distributed.measures import auc, average_precision, positives_at_top, precision_at_k

__all__ = [
    "DaskIRPush",
    "DaskPNormPush",
    "DaskPushRanker",
    "DaskTrimmedPush",
    "auc",
    "average_precision",
    "positives_at_top",
    "precision_at_k",
]
