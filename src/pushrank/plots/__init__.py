"""Pictures of the top of the list: displays store numbers, and draw them with matplotlib on request.

``Display.from_estimator`` and ``Display.from_predictions`` compute and draw; ``Display.compute`` only
computes; ``display.plot(ax)`` draws again, beside the models that are in ``ax`` already. Computing needs no
matplotlib, drawing needs ``pushrank[plot]``.
"""

from pushrank.plots.curves import GuaranteeDisplay, RocLeftEdgeDisplay, TopCurveDisplay
from pushrank.plots.probabilities import DecisionCurveDisplay, TopReliabilityDisplay
from pushrank.plots.training import ConcentrationDisplay, DiscountDisplay, TrainingPathDisplay

__all__ = [
    "ConcentrationDisplay", "DecisionCurveDisplay", "DiscountDisplay", "GuaranteeDisplay",
    "RocLeftEdgeDisplay", "TopCurveDisplay", "TopReliabilityDisplay", "TrainingPathDisplay",
]  # fmt: skip
