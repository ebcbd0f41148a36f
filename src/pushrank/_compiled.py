"""Compile a loop with numba, kept on disk between runs where a folder can be written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function, free of the interpreter lock.

    Machine code is cached beside the source or in the user's cache folder; where neither can be written to,
    each process compiles anew.
    """

    # unless it is told, a function inherits fast mathematics from whichever caller compiles it first
    options.setdefault("fastmath", False)

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        except RuntimeError:  # numba found no folder for its cache
            return numba.njit(nogil=True, error_model="numpy", **options)(function)

    return decorate
