"""Promises of lists to come: bounds that hold for any number of labelled rows, by their exchangeability."""

from pushrank.metrics.promises.days import guarantee_days
from pushrank.metrics.promises.lists import Guarantee, guarantee
from pushrank.metrics.promises.sample_size import sample_size_for
from pushrank.metrics.promises.selection import select
from pushrank.metrics.promises.threshold import guaranteed_threshold

__all__ = [
    "Guarantee",
    "guarantee",
    "guarantee_days",
    "guaranteed_threshold",
    "sample_size_for",
    "select",
]
