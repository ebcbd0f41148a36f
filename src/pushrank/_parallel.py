"""Work in threads: on fixed ranges of rows, by compiled loops that release the interpreter lock, beside BLAS.

The ranges depend on the data alone and partial results are combined in their order, so a result is the
same to the last bit whatever the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, wraps
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray
from threadpoolctl import OpenBLASController, ThreadpoolController

from pushrank._array import Floats

Part = TypeVar("Part")

CHUNK_ELEMENTS = 1 << 19  # below this a chunk's work is shorter than handing it to a thread
MAX_CHUNKS = 64  # each may hold a matrix of its own until all are added up


def row_chunks(n_rows: int, elements_per_row: float) -> list[tuple[int, int]]:
    """Cut ``range(n_rows)`` into at most 64 ranges of at least half a million stored elements.

    Examples
    --------
    >>> row_chunks(10, 5)
    [(0, 10)]
    >>> len(row_chunks(1_000_000, 50))
    64
    """
    n_chunks = int(min(MAX_CHUNKS, max(1.0, n_rows * elements_per_row / CHUNK_ELEMENTS)))
    edges = [n_rows * c // n_chunks for c in range(n_chunks + 1)]
    return [(start, stop) for start, stop in pairwise(edges) if stop > start]


def map_chunks(
    function: Callable[[int, int], Part], chunks: Sequence[tuple[int, int]], n_threads: int | None = None
) -> list[Part]:
    """Return ``[function(start, stop) for start, stop in chunks]``, computed in threads.

    The number of threads is by default ``NUMBA_NUM_THREADS`` (the processors this process may use).

    Examples
    --------
    >>> map_chunks(lambda start, stop: stop - start, [(0, 3), (3, 5)])
    [3, 2]
    """
    n_threads = min(n_threads or int(config.NUMBA_NUM_THREADS), len(chunks))
    if n_threads <= 1:
        return [function(start, stop) for start, stop in chunks]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda chunk: function(*chunk), chunks))


def sum_chunks(
    function: Callable[[int, int], Floats], chunks: Sequence[tuple[int, int]], n_threads: int | None = None
) -> Floats:
    """Return the sum of ``function(start, stop)`` over the chunks, computed in threads.

    It is added up in order, so that rounding does not depend on which part was finished first.
    """
    total, *others = map_chunks(function, chunks, n_threads)
    for part in others:
        total += part
    return total


def side_by_side(*functions: Callable[[], Part], many: bool) -> list[Part]:
    """Return what functions of no argument return, in threads where there is much to do.

    Examples
    --------
    >>> side_by_side(lambda: 1, lambda: 2, many=False)
    [1, 2]
    """
    calls = [(number, number + 1) for number in range(len(functions))]
    return map_chunks(lambda number, _: functions[number](), calls, None if many else 1)


class _Limit:
    """The limit of the whole process: on from the first thread that takes it to the last one that lets go."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._holders = 0
        self._limiter: Any = None

    def take(self) -> None:
        with self._changing:
            if self._holders == 0:
                self._limiter = _controller().limit(limits=1, user_api="blas")
            self._holders += 1

    def let_go(self) -> None:
        with self._changing:
            self._holders -= 1
            if self._holders == 0:
                # from threadpoolctl 3.8 on, nothing happens where a thread lifts the limit of another's
                disown = getattr(OpenBLASController, "clear_controlling_thread", lambda **_: None)
                disown(force=True)
                self._limiter.restore_original_limits()
                disown(force=True)


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


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written to; loops are compiled anew for arrays that can and cannot."""
    view = array.view()
    view.flags.writeable = False
    return view


def compiled_pointer(signature: str) -> Callable[[Callable[..., Any]], Callable[[], int]]:
    """Return a decorator that makes of a function one of no argument: the address of its code, compiled once.

    The address is an argument of compiled functions, which call it by :func:`pointer_call`. A function that
    is called by name is compiled anew as a part of each of its callers, for each kind of array they take.
    """

    def decorate(function: Callable[..., Any]) -> Callable[[], int]:
        @cache
        def code() -> Any:
            try:
                return numba.cfunc(signature, cache=True, error_model="numpy")(function)
            except RuntimeError:  # numba found no folder for its cache
                return numba.cfunc(signature, error_model="numpy")(function)

        @wraps(function)
        def address() -> int:
            return int(code().address)

        return address

    return decorate


def pointer_call(signature: str) -> Any:
    """Return a function for compiled code: it calls the code at an address with a tuple of arguments.

    Numba takes compiled functions as arguments too, but spends more time on their types than a batch takes.
    """
    argument_types, return_type = numba.core.sigutils.normalize_signature(signature)

    @intrinsic  # type: ignore[untyped-decorator]
    def call(_typing: Any, _address: Any, _arguments: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            llvm_type = ir.FunctionType(
                context.get_value_type(return_type), [context.get_value_type(t) for t in argument_types]
            )
            function = builder.inttoptr(values[0], llvm_type.as_pointer())
            return builder.call(function, cgutils.unpack_tuple(builder, values[1]))

        return return_type(types.intp, types.Tuple(argument_types)), generate

    return call
