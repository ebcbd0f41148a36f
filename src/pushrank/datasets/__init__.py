"""Data sets: real ones by name, one with a known truth, and Parquet files as a stream."""

from __future__ import annotations

from pushrank.datasets.load import list_datasets, load_dataset
from pushrank.datasets.parquet import ParquetBatches
from pushrank.datasets.synthetic import make_hidden_positives

__all__ = ["ParquetBatches", "list_datasets", "load_dataset", "make_hidden_positives"]
