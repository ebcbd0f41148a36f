"""Ranking objectives as functions of the score vector."""

from pushrank.objectives.linearisation import ByClass, Linearisation, Push
from pushrank.objectives.mean_average_precision import average_precision_hinge
from pushrank.objectives.precision_at_k import (
    PrecisionAtK,
    prec_at_k_avg,
    prec_at_k_max,
    prec_at_k_ramp,
    prec_at_k_struct,
)
from pushrank.objectives.push import PushObjective
from pushrank.objectives.smoothed import SmoothedObjective

__all__ = [
    "ByClass",
    "Linearisation",
    "PrecisionAtK",
    "Push",
    "PushObjective",
    "SmoothedObjective",
    "average_precision_hinge",
    "prec_at_k_avg",
    "prec_at_k_max",
    "prec_at_k_ramp",
    "prec_at_k_struct",
]
