"""Weights so small that no whole row stands at the top."""

from __future__ import annotations

from typing import Any

from pushrank._log_space import Floats
from pushrank.estimators._warnings import warn

LIGHT = 0.1


def warn_of_light_weights(estimator: Any, mass: Floats) -> None:
    """Warn where rows count for so little that k, which is no less than a row, is most of the positives.

    Warns
    -----
    UserWarning
        When the mean of the positive weights is below a tenth.
    """
    mean = float(mass[mass > 0.0].mean())
    if mean < LIGHT:
        warn(
            f"the mean of sample_weight is {mean:g}. {type(estimator).__name__} takes a row of weight w for "
            "w copies, and k for at least one copy, or all positives where they weigh less: divide the "
            "weights by their mean.",
            UserWarning,
        )
