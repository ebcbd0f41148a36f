"""Compare rankers under one cross-validation: which is best at the top, and is that more than chance?"""

from __future__ import annotations

from pushrank._time import TimeSplit
from pushrank.model_selection.compare import compare_rankers, default_rankers
from pushrank.model_selection.comparison import Difference, RankerComparison

__all__ = ["Difference", "RankerComparison", "TimeSplit", "compare_rankers", "default_rankers"]
