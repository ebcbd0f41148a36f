"""Warnings that point at the line of the user's code, whatever path led to them."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

LIBRARY = f"{Path(__file__).parents[1]}{os.sep}"


def warn(message: str, category: type[Warning]) -> None:
    """Warn as if at the innermost line that is not of this library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(LIBRARY):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
