"""Rows, plans to split them, and the one loop that fits models to some parts and scores what was held out."""

from pushrank.held_out.fits import fit_params, fit_parts, model_scores, record_warnings
from pushrank.held_out.plan import Plan, Rows, can_split, check_classes, part_of_budget, whole_periods

__all__ = [
    "Plan", "Rows", "can_split", "check_classes", "fit_params", "fit_parts", "model_scores",
    "part_of_budget", "record_warnings", "whole_periods",
]  # fmt: skip
