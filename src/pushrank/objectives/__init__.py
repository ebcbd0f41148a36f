"""Ranking objectives as functions of the score vector."""

from pushrank.objectives.partial_auc import PartialAUC
from pushrank.objectives.precision_at_k import (
    PrecisionAtK,
    prec_at_k_avg,
    prec_at_k_max,
    prec_at_k_ramp,
    prec_at_k_struct,
)
from pushrank.objectives.push import PushObjective

__all__ = [
    "PartialAUC", "PrecisionAtK", "PushObjective", "prec_at_k_avg", "prec_at_k_max",
    "prec_at_k_ramp", "prec_at_k_struct",
]  # fmt: skip
