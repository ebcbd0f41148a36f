"""pushrank: learn to rank so that the top of the list is right."""

from importlib.metadata import version

from pushrank import losses, metrics, objectives, prices
from pushrank.estimators import BottomPush, IRPush, PNormPush, PushRanker, TopBottomPush
from pushrank.objectives import PushObjective

__all__ = [
    "BottomPush",
    "IRPush",
    "PNormPush",
    "PushObjective",
    "PushRanker",
    "TopBottomPush",
    "losses",
    "metrics",
    "objectives",
    "prices",
]

__version__ = version("pushrank")
