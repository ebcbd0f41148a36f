"""Ranking objectives as functions of the score vector."""

from pushrank.objectives.linearisation import ByClass, Linearisation, Push
from pushrank.objectives.push import PushObjective

__all__ = ["ByClass", "Linearisation", "Push", "PushObjective"]
