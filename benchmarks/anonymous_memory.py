"""What does a call hold in memory that no file backs?

Scripts import this to measure the anonymous resident memory of Linux: the pages of a memory map, which the
system drops when it needs room, do not count.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def anonymous_memory() -> int:
    """Return the bytes of this process that no file backs."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """Yield a list that ends with the most anonymous memory within the block, less that before it."""
    before, stopped, peak = anonymous_memory(), threading.Event(), [0]

    def watch() -> None:
        while not stopped.wait(0.01):
            peak[-1] = max(peak[-1], anonymous_memory() - before)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        stopped.set()
        thread.join()
