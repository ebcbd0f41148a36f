"""Ranking objectives as functions of the score vector."""

from pushrank.objectives.partial_auc import PartialAUC
from pushrank.objectives.precision_at_k import PrecisionAtK
from pushrank.objectives.push import PushObjective

__all__ = ["PartialAUC", "PrecisionAtK", "PushObjective"]
