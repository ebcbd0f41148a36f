"""How work grows with the rows, by processor time, and what it holds."""

import time
import tracemalloc
from collections.abc import Callable

FACTOR = 16
ATTEMPTS = 4
REPEATS = 3


def growth(work: Callable[[int], Callable[[], object]], n_rows: int) -> float:
    """Return by how much time grows faster than rows: 1 for linear work, 16 for quadratic work.

    ``work(n)`` prepares what is timed, once for ``n_rows`` and once for a sixteenth of them. Linear work
    comes out at up to 2: more rows fit less well into the processor's cache, and a sort takes a logarithm
    longer. Other work on the machine slows both runs, so the least time of several counts, and the least
    ratio of several attempts.
    """
    runs = work(n_rows // FACTOR), work(n_rows)
    # The first run may compile.
    runs[0]()
    ratios = []
    for _ in range(ATTEMPTS):
        least = [float("inf"), float("inf")]
        for _ in range(REPEATS):
            for size, run in enumerate(runs):
                start = time.process_time()
                run()
                least[size] = min(least[size], time.process_time() - start)
        ratios.append(least[1] / least[0] / FACTOR)
        if ratios[-1] < 1.5:
            break
    return min(ratios)


def held(work: Callable[[], object]) -> int:
    """Return the largest number of bytes that work holds beside what was there."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
