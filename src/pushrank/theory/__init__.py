"""Proved statements about a ranking: margins, and bounds on the errors of new data.

Theorems as the papers print them are functions of :mod:`~pushrank.theory.rudin_2009`,
:mod:`~pushrank.theory.rudin_2005`, :mod:`~pushrank.theory.agarwal_2011` and :mod:`~pushrank.theory.kar_2015`,
named by their numbers. The bounds here are tighter ones, proved on the papers' pages of the documentation.
"""

from pushrank.theory import agarwal_2011, kar_2015, rudin_2005, rudin_2009
from pushrank.theory.agarwal_2011 import TopBound, infinite_push_bound
from pushrank.theory.covering import ErrorBound, log_covering_number
from pushrank.theory.kar_2015 import precision_at_k_bound
from pushrank.theory.margin import MaxMargin, max_margin
from pushrank.theory.rudin_2005 import margin_ranking_bound
from pushrank.theory.rudin_2009 import SampleSize, p_norm_push_bound, sample_size

__all__ = [
    "ErrorBound", "MaxMargin", "SampleSize", "TopBound", "agarwal_2011", "infinite_push_bound", "kar_2015",
    "log_covering_number", "margin_ranking_bound", "max_margin", "p_norm_push_bound",
    "precision_at_k_bound", "rudin_2005", "rudin_2009", "sample_size",
]  # fmt: skip
