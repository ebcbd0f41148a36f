"""One thread for linear algebra while our own threads, or short products, would only be slowed by more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController


class _Limit:
    """The limit of the whole process: on from the first thread that takes it to the last one that lets go."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._holders = 0
        self._undo = ExitStack()

    def take(self) -> None:
        with self._changing:
            if self._holders == 0:
                self._undo.enter_context(_controller().limit(limits=1, user_api="blas"))
            self._holders += 1

    def let_go(self) -> None:
        with self._changing:
            self._holders -= 1
            if self._holders == 0:
                self._undo.close()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread until the last of all who asked so is done."""
    limit = _limit
    limit.take()
    try:
        yield
    finally:
        limit.let_go()


@cache
def _controller() -> ThreadpoolController:
    """Return the libraries' control; to look for them takes milliseconds, and they are loaded by now."""
    return ThreadpoolController()


def _forget_other_threads() -> None:
    """Start anew in a forked process, which has none of the threads that hold the limit."""
    global _limit
    _limit = _Limit()


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
