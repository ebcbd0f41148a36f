"""Rows, plans to split them, and the one loop that fits models to some parts and scores what was held out."""

from pushrank.held_out.fits import (
    Fit,
    fit_params,
    fit_parts,
    fit_paths,
    fit_threads,
    fit_to,
    kept_in,
    model_scores,
    record_warnings,
    texts_for_user,
)
from pushrank.held_out.plan import Plan, can_split, check_classes, check_parts, part_of_budget
from pushrank.held_out.rows import Rows

__all__ = [
    "Fit",
    "Plan",
    "Rows",
    "can_split",
    "check_classes",
    "check_parts",
    "fit_params",
    "fit_parts",
    "fit_paths",
    "fit_threads",
    "fit_to",
    "kept_in",
    "model_scores",
    "part_of_budget",
    "record_warnings",
    "texts_for_user",
]
