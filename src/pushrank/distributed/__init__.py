"""Rows and scores on the Dask collections of a cluster."""

from pushrank.distributed.rows import DaskRows
from pushrank.distributed.scores import decision_function, predict

__all__ = ["DaskRows", "decision_function", "predict"]
