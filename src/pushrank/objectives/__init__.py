"""Ranking objectives as functions of the score vector."""

from pushrank.objectives.linearisation import ByClass, Linearisation, Push
from pushrank.objectives.mean_average_precision import average_precision_hinge
from pushrank.objectives.push import PushObjective
from pushrank.objectives.smoothed import SmoothedObjective

__all__ = [
    "ByClass",
    "Linearisation",
    "Push",
    "PushObjective",
    "SmoothedObjective",
    "average_precision_hinge",
]
