"""How work grows with the rows: the best of several timings, in time of the processor itself."""

from __future__ import annotations

import time
from collections.abc import Callable

ATTEMPTS = 4
REPEATS = 5


def growth(work: Callable[[int], Callable[[], object]], small: int, factor: int = 4) -> float:
    """Return how many times as long ``factor`` times the rows take; ``work(n)`` prepares what is timed.

    One quiet attempt is enough: a busy machine makes work slower, never quicker.
    """
    runs = work(small), work(factor * small)
    runs[0]()  # compiles
    ratios = []
    for _ in range(ATTEMPTS):
        best = [float("inf"), float("inf")]
        for _ in range(REPEATS):
            for place, run in enumerate(runs):
                start = time.process_time()
                run()
                best[place] = min(best[place], time.process_time() - start)
        ratios.append(best[1] / best[0])
        if ratios[-1] < 1.4 * factor:
            break
    return min(ratios)
