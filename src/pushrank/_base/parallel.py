"""Work in threads, on fixed ranges of rows, by compiled loops that release the interpreter lock.

The ranges depend on the data alone and partial results are combined in their order, so that a result is the
same to the last bit with any number of threads.
"""

import logging
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from functools import cache, lru_cache, partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from threading import Lock
from typing import Any, TypeVar

import numba
from numba import config
from numba.core import event
from threadpoolctl import OpenBLASController, ThreadpoolController

from pushrank._base.user_types import Floats, GenericArray

Result = TypeVar("Result")

# The work on fewer elements is shorter than handing it to a thread.
CHUNK_ELEMENTS = 1 << 19
# Every chunk may hold a matrix until all are added up.
MAX_CHUNKS = 64
LOG = logging.getLogger("pushrank")
# The names of temporary folders of machine code begin so.
TEMPORARY = "pushrank-compiled-"


def row_chunks(n_rows: int, elements_per_row: float) -> list[tuple[int, int]]:
    """Cut ``range(n_rows)`` into at most 64 ranges of at least half a million stored elements."""
    n_chunks = int(min(MAX_CHUNKS, max(1.0, n_rows * elements_per_row / CHUNK_ELEMENTS)))
    edges = [n_rows * c // n_chunks for c in range(n_chunks + 1)]
    return [(start, stop) for start, stop in pairwise(edges) if stop > start]


def map_chunks(
    function: Callable[[int, int], Result], chunks: Sequence[tuple[int, int]], n_threads: int | None = None
) -> list[Result]:
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


def side_by_side(*functions: Callable[[], Result], many: bool) -> list[Result]:
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
    """Return the control of the libraries that n modules loaded, which takes milliseconds to find."""
    return ThreadpoolController()


def _replace_limits() -> None:
    """Begin with new limits in a forked process, which has none of the threads that hold the old ones."""
    _limits.update({user_api: _OneThread(user_api) for user_api in ("blas", None)})


_limits: dict[str | None, _OneThread] = {}
_replace_limits()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_limits)


@cache
def _temporary_folder(named: str) -> str:
    """Return a temporary folder for machine code, with links to what a named folder holds; "" for none."""
    try:
        shipped = sorted(Path(named).absolute().glob("*/*.nb[ci]")) if named else []
        state = sha256(repr([(str(file), file.stat().st_mtime_ns) for file in shipped]).encode()).hexdigest()
        user = getattr(os, "getuid", lambda: -1)()
        folder = Path(gettempdir(), f"{TEMPORARY}{user}-{state[:12]}")
        folder.mkdir(mode=0o700, exist_ok=True)
        # Code that others may write would be run: a folder of theirs by this name, or a link, is not taken.
        if (found := folder.lstat()).st_uid != user or found.st_mode & 0o077:
            folder = Path(mkdtemp(prefix=TEMPORARY))
        for file in shipped:
            (folder / file.parent.name).mkdir(exist_ok=True)
            # Another process may have linked it. What numba writes takes the place of the link.
            with suppress(FileExistsError):
                (folder / file.parent.name / file.name).symlink_to(file)
        return str(folder)
    except OSError:
        return ""


class _Announcement(event.Listener):  # type: ignore[misc]
    """A line of the log on the first loop that is compiled: which, where, and for how long."""

    is_made = False

    def on_start(self, started: Any) -> None:
        loop = started.data["dispatcher"]
        if self.is_made or not str(loop.py_func.__module__).startswith("pushrank."):
            return
        _Announcement.is_made = True
        folder, named = Path(loop.stats.cache_path or ""), config.CACHE_DIR
        if folder.name and not folder.parent.name.startswith(TEMPORARY):
            level = logging.WARNING if sys.stderr.isatty() else logging.INFO
            LOG.log(level, f"Compiling the loops for the first time, in {folder}: later runs start at once.")
            return
        where = f"in {folder.parent}" if folder.name else "for this process alone"
        why = f"{named} has no such code for this processor, and" if named else "numba's own folders"
        LOG.warning(
            f"Compiling {loop.py_func.__module__}.{loop.py_func.__name__}, and more as is needed, {where}: "
            f"{why} cannot be written to. Set NUMBA_CACHE_DIR to a folder that is kept to compile once."
        )

    # Numba asks for this method too; by the end of a compilation the line has been written.
    on_end = on_start


event.register("numba:compile", _Announcement())


def compiled(**options: object) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function, free of the interpreter lock."""
    # Without this a function inherits fast mathematics from whichever caller compiles it first.
    options.setdefault("fastmath", False)
    make = partial(numba.njit, nogil=True, error_model="numpy", **options)

    def decorate(function: Callable[..., Any]) -> Any:
        named = config.CACHE_DIR
        with suppress(RuntimeError):
            loop = make(cache=True)(function)
            # Numba takes another folder, in silence, where it cannot write to the one that is named.
            if not named or config.DISABLE_JIT or loop.stats.cache_path.startswith(named):
                return loop
        try:
            config.CACHE_DIR = _temporary_folder(named)
            return make(cache=bool(config.CACHE_DIR))(function)
        finally:
            config.CACHE_DIR = named

    return decorate


def read_only(array: GenericArray) -> GenericArray:
    """Return a view that cannot be written to, so that no loop is compiled for both kinds of arrays."""
    view = array.view()
    view.flags.writeable = False
    return view
