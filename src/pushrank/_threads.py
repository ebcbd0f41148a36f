"""One thread for linear algebra while our own threads, or short products, would only be slowed by more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """A limit of the whole process, set by the first who asks for it and lifted by the last who leaves."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limit.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread; contexts may overlap in several threads."""
    with _LIMIT:
        yield


@cache
def _controller() -> ThreadpoolController:
    """Return the libraries' control; to look for them takes milliseconds, and they are loaded by now."""
    return ThreadpoolController()
