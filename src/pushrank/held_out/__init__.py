"""Rows, and the one loop that fits models to some parts of them and scores what was held out."""

from pushrank.held_out.fits import Fit, fit_params, fit_parts, model_scores, record_warnings, texts_for_user
from pushrank.held_out.rows import Rows

__all__ = ["Fit", "Rows", "fit_params", "fit_parts", "model_scores", "record_warnings", "texts_for_user"]
