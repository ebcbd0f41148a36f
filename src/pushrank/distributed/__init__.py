"""Rows, scores and measures on the Dask collections of a cluster."""

from pushrank.distributed.measures import auc, average_precision, positives_at_top, precision_at_k
from pushrank.distributed.rows import DaskRows
from pushrank.distributed.scores import decision_function, predict

__all__ = [
    "DaskRows", "auc", "average_precision", "decision_function", "positives_at_top", "precision_at_k",
    "predict",
]  # fmt: skip
