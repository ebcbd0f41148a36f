"""The one check of how sharp a smooth loss may be."""

from __future__ import annotations

from numbers import Real
from typing import Any, Protocol

import numpy as np


class _Sharp(Protocol):
    @property
    def sharpness(self) -> Any: ...


def checked_sharpness(loss: _Sharp) -> None:
    """Raise unless the sharpness of a loss is a positive finite number.

    Raises
    ------
    ValueError
        When it is not.
    """
    given = loss.sharpness
    if isinstance(given, bool) or not isinstance(given, Real) or not 0.0 < float(given) < np.inf:
        raise ValueError(f"{type(loss).__name__} needs a positive, finite sharpness, got {given!r}.")
