"""Which rows are compared with which, and the ways to sum a loss over all pairs of them."""

from pushrank.pairs.analytic import SmoothSums
from pushrank.pairs.explicit import CrucialSample, ListedSums
from pushrank.pairs.exponential import FactorisedSums
from pushrank.pairs.graded import GradedSample
from pushrank.pairs.inner_sums import InnerSums, log_inner_sums
from pushrank.pairs.pair_sums import BlockedSums
from pushrank.pairs.piecewise import SortedSums
from pushrank.pairs.samples import BipartiteSample, Normaliser, RankSample, Sample
from pushrank.pairs.tolerances import ACCURACY

__all__ = ["ACCURACY", "BipartiteSample", "BlockedSums", "CrucialSample", "FactorisedSums",
           "GradedSample", "InnerSums", "ListedSums", "Normaliser", "RankSample", "Sample", "SmoothSums",
           "SortedSums", "log_inner_sums"]  # fmt: skip
