"""How other estimators are given sample weights."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter


def weight_keyword(estimator: Any) -> str | None:
    """Return the name under which ``fit`` takes sample weights, of a pipeline its last step's; None for none.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> weight_keyword(Ridge()), weight_keyword(make_pipeline(Ridge()))
    ('sample_weight', 'ridge__sample_weight')
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        keyword = weight_keyword(last)
        return keyword and f"{name}__{keyword}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None
