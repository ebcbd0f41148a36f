"""Data sets: real ones by name, one with a known truth, Parquet files as a stream, and rows on disk."""

from pushrank.datasets.load import list_datasets, load_dataset
from pushrank.datasets.on_disk import DiskRows
from pushrank.datasets.parquet import ParquetBatches
from pushrank.datasets.stream import make_stream
from pushrank.datasets.synthetic import make_hidden_positives

__all__ = [
    "DiskRows", "ParquetBatches", "list_datasets", "load_dataset", "make_hidden_positives", "make_stream",
]  # fmt: skip
