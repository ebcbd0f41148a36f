"""Pictures of the top of the list: displays that store numbers and draw them with matplotlib when asked.

``Display.from_estimator`` and ``Display.from_predictions`` compute and draw; ``Display.compute`` only
computes; ``display.plot(ax)`` draws again, beside the models that ``ax`` holds already. Computing needs no
matplotlib, drawing needs ``pushrank[plot]``.
"""

from pushrank.plots.concentration import ConcentrationDisplay
from pushrank.plots.cumulative_gains import CumulativeGainsDisplay
from pushrank.plots.discounts import DiscountDisplay
from pushrank.plots.objective_path import ObjectivePathDisplay
from pushrank.plots.precision_at_k import PrecisionAtKDisplay
from pushrank.plots.roc_left_edge import RocLeftEdgeDisplay
from pushrank.plots.smooth_margin_path import SmoothMarginPathDisplay
from pushrank.plots.top_reliability import TopReliabilityDisplay

__all__ = [
    "ConcentrationDisplay",
    "CumulativeGainsDisplay",
    "DiscountDisplay",
    "ObjectivePathDisplay",
    "PrecisionAtKDisplay",
    "RocLeftEdgeDisplay",
    "SmoothMarginPathDisplay",
    "TopReliabilityDisplay",
]
