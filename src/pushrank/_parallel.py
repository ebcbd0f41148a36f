"""Work in threads, on fixed ranges of rows, by compiled loops that release the interpreter lock.

The ranges depend on the data alone and partial results are combined in their order, so that a result is the
same to the last bit with any number of threads.
"""

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

import numba
from numba import config
from threadpoolctl import OpenBLASController, ThreadpoolController

from pushrank._array import Floats
from pushrank.user_types import GenericArray

Part = TypeVar("Part")

# The work on fewer elements is shorter than handing it to a thread.
CHUNK_ELEMENTS = 1 << 19
# Every chunk may hold a matrix of its own until all are added up.
MAX_CHUNKS = 64


def row_chunks(n_rows: int, elements_per_row: float) -> list[tuple[int, int]]:
    """Cut ``range(n_rows)`` into at most 64 ranges of at least half a million stored elements."""
    n_chunks = int(min(MAX_CHUNKS, max(1.0, n_rows * elements_per_row / CHUNK_ELEMENTS)))
    edges = [n_rows * c // n_chunks for c in range(n_chunks + 1)]
    return [(start, stop) for start, stop in pairwise(edges) if stop > start]


def map_chunks(
    function: Callable[[int, int], Part], chunks: Sequence[tuple[int, int]], n_threads: int | None = None
) -> list[Part]:
    """Return ``[function(start, stop) for start, stop in chunks]``, computed in threads."""
    # The number of threads is by default `NUMBA_NUM_THREADS` (the processors this process may use).
    n_threads = min(n_threads or int(config.NUMBA_NUM_THREADS), len(chunks))
    if n_threads <= 1:
        return [function(start, stop) for start, stop in chunks]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda chunk: function(*chunk), chunks))


def sum_chunks(
    function: Callable[[int, int], Floats], chunks: Sequence[tuple[int, int]], n_threads: int | None = None
) -> Floats:
    """Return the sum of ``function(start, stop)`` over the chunks, computed in threads."""
    # It is added up in order, so that rounding does not depend on which part was finished first.
    total, *others = map_chunks(function, chunks, n_threads)
    for part in others:
        total += part
    return total


def side_by_side(*functions: Callable[[], Part], many: bool) -> list[Part]:
    """Return what functions of no argument return, in threads where there is much to do."""
    calls = [(number, number + 1) for number in range(len(functions))]
    return map_chunks(lambda number, _: functions[number](), calls, None if many else 1)


class _OneThread:
    """A limit of the whole process, from the first thread that enters it to the last one that leaves."""

    # Threads that set and lift limits of their own would undo each other's while they overlap. `user_api` is
    # that of threadpoolctl, None for all libraries.

    def __init__(self, user_api: str | None) -> None:
        self._user_api = user_api
        self._lock = Lock()
        self._n_holders = 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_holders == 0:
                self._limiter = _controller(len(sys.modules)).limit(limits=1, user_api=self._user_api)
            self._n_holders += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_holders -= 1
            if self._n_holders == 0:
                # From threadpoolctl 3.8 on a thread cannot lift a limit that another has set, unless the
                # limit is disowned first.
                disown = getattr(OpenBLASController, "clear_controlling_thread", lambda **_: None)
                disown(force=True)
                self._limiter.restore_original_limits()
                disown(force=True)


def one_blas_thread() -> AbstractContextManager[None]:
    """Let BLAS use one thread until the last of all callers has left the block."""
    # The sums of several BLAS threads would differ in their rounding from machine to machine.
    return _limits["blas"]


def one_thread() -> AbstractContextManager[None]:
    """Let BLAS and OpenMP use one thread until the last of all callers has left the block."""
    return _limits[None]


@lru_cache(maxsize=1)
def _controller(_n_modules: int) -> ThreadpoolController:
    """Return the control of the libraries that so many modules loaded, which takes milliseconds to find."""
    return ThreadpoolController()


def _replace_limits() -> None:
    """Begin with new limits in a forked process, which has none of the threads that hold the old ones."""
    _limits.update({user_api: _OneThread(user_api) for user_api in ("blas", None)})


_limits: dict[str | None, _OneThread] = {}
_replace_limits()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_limits)


def compiled(**options: object) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function, free of the interpreter lock."""
    # Machine code is cached beside the source or in the user's cache folder; if neither can be written to,
    # each process compiles it again.
    # Without this a function inherits fast mathematics from whichever caller compiles it first.
    options.setdefault("fastmath", False)

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        except RuntimeError:
            # Numba found no folder for its cache.
            return numba.njit(nogil=True, error_model="numpy", **options)(function)

    return decorate


def read_only(array: GenericArray) -> GenericArray:
    """Return a view that cannot be written to, so that no loop is compiled for both kinds of arrays."""
    view = array.view()
    view.flags.writeable = False
    return view
