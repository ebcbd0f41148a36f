"""Pictures of the top of the list: displays store numbers, and draw them with matplotlib on request.

``Display.from_estimator`` and ``Display.from_predictions`` compute and draw; ``Display.compute`` only
computes; ``display.plot(ax)`` draws again, next to the models that are in ``ax`` already. Computing needs no
matplotlib, drawing needs ``pushrank[plot]``.
"""

from pushrank.plots.curves import GuaranteeDisplay, RocLeftEdgeDisplay, TopCurveDisplay
from pushrank.plots.decision_curve import DecisionCurveDisplay
from pushrank.plots.weights import ConcentrationDisplay, DiscountDisplay

__all__ = [
    "ConcentrationDisplay", "DecisionCurveDisplay", "DiscountDisplay", "GuaranteeDisplay",
    "RocLeftEdgeDisplay", "TopCurveDisplay",
]  # fmt: skip
