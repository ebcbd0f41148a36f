"""What can be proved about a ranking: margins, and bounds on the errors of new data."""

from pushrank.theory.covering_number import log_covering_number
from pushrank.theory.infinite_push_bound import TopBound, infinite_push_bound
from pushrank.theory.margin_bound import margin_ranking_bound
from pushrank.theory.max_margin import MaxMargin, max_margin, weak_ranker_matrix
from pushrank.theory.p_norm_bound import SampleSize, p_norm_push_bound, sample_size
from pushrank.theory.precision_bound import precision_at_k_bound

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
    "weak_ranker_matrix",
]
