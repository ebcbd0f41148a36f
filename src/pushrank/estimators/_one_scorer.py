"""What a search may choose by: one scorer, not several and not a measure."""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any

from pushrank.metrics import scorers


def check_one_scorer(scoring: Any) -> None:
    """Raise unless ``scoring`` is a name, a callable of an estimator, rows and labels, or None.

    Raises
    ------
    TypeError
        When it is several scorers, a measure of labels and scores, or no scorer at all.
    """
    if scoring is None or isinstance(scoring, str):
        return
    if not callable(scoring):
        found = f"{type(scoring).__name__} {scoring!r}"
        raise TypeError(
            f"scoring must be one scorer, to choose by, got the {found}; pass one of "
            f"{scorers.__all__}, one of scikit-learn's names, or a scorer."
        )
    if not _takes_an_estimator(scoring):
        name = getattr(_innermost(scoring), "__name__", type(scoring).__name__)
        named = f"scoring={name!r}, or " if name in scorers.__all__ else ""
        raise TypeError(
            f"scoring must be a scorer, called with an estimator, rows and labels; {name} is a measure of "
            f"labels and scores: pass {named}sklearn.metrics.make_scorer({name}, "
            "response_method='decision_function'), with greater_is_better=False for an error."
        )


def _takes_an_estimator(function: Any) -> bool:
    """Return whether a callable is not one of our measures, and can be called with three things."""
    if getattr(_innermost(function), "__module__", "").startswith("pushrank.metrics."):
        return False
    try:
        signature(function).bind("estimator", "X", "y")
    except TypeError:
        return False
    except ValueError:
        return True  # compiled functions may not say what they take
    return True


def _innermost(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function
