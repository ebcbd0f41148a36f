"""One thread for linear algebra while our own threads, or short products, would only be slowed by more."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    """Return the libraries' control; to look for them takes milliseconds, and they are loaded by now."""
    return ThreadpoolController()
