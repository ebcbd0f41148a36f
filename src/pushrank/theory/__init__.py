"""What can be proved about a ranking: margins, and bounds on the errors of new data."""

from pushrank.theory.bounds import (
    SampleSize,
    TopBound,
    infinite_push_bound,
    log_covering_number,
    margin_ranking_bound,
    p_norm_push_bound,
    precision_at_k_bound,
    sample_size,
)
from pushrank.theory.margin import MaxMargin, max_margin

__all__ = [
    "MaxMargin",
    "SampleSize",
    "TopBound",
    "infinite_push_bound",
    "log_covering_number",
    "margin_ranking_bound",
    "max_margin",
    "p_norm_push_bound",
    "precision_at_k_bound",
    "sample_size",
]
