"""Fit models once to the parts of a cross-validation: which is best at the top, and is that beyond chance?"""

from pushrank.model_selection.compare import compare_rankers, default_rankers
from pushrank.model_selection.comparison import Difference, RankerComparison
from pushrank.model_selection.held_out import HeldOut, fit_held_out
from pushrank.times import TimeSplit

__all__ = [
    "Difference",
    "HeldOut",
    "RankerComparison",
    "TimeSplit",
    "compare_rankers",
    "default_rankers",
    "fit_held_out",
]
