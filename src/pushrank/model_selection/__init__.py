"""Fit models once to the parts of a cross-validation: which is best at the top, and is that beyond chance?"""

from pushrank.held_out.splits import TimeSplit
from pushrank.model_selection.compare import compare_rankers, default_rankers
from pushrank.model_selection.comparison import Difference, RankerComparison
from pushrank.model_selection.held_out import HeldOut, fit_held_out

__all__ = [
    "Difference", "HeldOut", "RankerComparison", "TimeSplit", "compare_rankers", "default_rankers",
    "fit_held_out",
]  # fmt: skip
