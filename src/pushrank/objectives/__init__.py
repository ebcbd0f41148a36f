"""Ranking objectives as functions of the score vector."""

from pushrank.objectives.average_precision import average_precision_hinge
from pushrank.objectives.evaluation import ByClass, ObjectiveEvaluation, Push
from pushrank.objectives.precision_at_k import (
    PrecisionAtK,
    prec_at_k_avg,
    prec_at_k_max,
    prec_at_k_ramp,
    prec_at_k_struct,
)
from pushrank.objectives.push import PushObjective

__all__ = [
    "ByClass",
    "ObjectiveEvaluation",
    "PrecisionAtK",
    "Push",
    "PushObjective",
    "average_precision_hinge",
    "prec_at_k_avg",
    "prec_at_k_max",
    "prec_at_k_ramp",
    "prec_at_k_struct",
]
