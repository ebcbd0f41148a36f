"""Data sets: real ones by name, one with a known truth, and rows that come day by day."""

from pushrank.datasets.load import list_datasets, load_dataset
from pushrank.datasets.stream import make_stream
from pushrank.datasets.synthetic import make_hidden_positives

__all__ = ["list_datasets", "load_dataset", "make_hidden_positives", "make_stream"]
