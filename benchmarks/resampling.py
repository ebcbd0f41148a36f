"""How much quicker is our own generator of resamples than NumPy's?

    python benchmarks/resampling.py > benchmarks/resampling.txt

A resample is how often each of n rows was drawn in n draws with replacement. A generator of our own stays in
the library only where NumPy's take at least 1.5 times as long. ``numpy`` draws row numbers and counts them by
``bincount``; ``numpy, compiled`` draws from NumPy's generator within a compiled loop that counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numba
import numpy as np

from pushrank.metrics._bootstrap import draw_counts

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


@numba.njit(nogil=True)
def draw_from(generator, counts):
    """Draw rows by a generator of NumPy's, and count them."""
    n = len(counts)
    counts[:] = 0
    for _ in range(n):
        counts[int(generator.random() * n)] += np.uint8(1)


def best(function: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of several calls, on which other work on the machine has little say."""
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return min(times)


def main() -> None:
    """Compare on every size, by NumPy's quickest generator and by its default."""
    print(f"numpy {np.__version__}; processor time, best of 15 calls, of 3 for ten million")
    print(f"  {'rows':>10s}  {'generator':9s} {'ours':>10s}  numpy / ours   numpy, compiled / ours")
    for n_rows in SIZES:
        counts = np.empty(n_rows, dtype=np.uint8)
        draw_counts(np.uint64(1), counts)  # compile
        repeats = 3 if n_rows > 1_000_000 else 15
        ours = best(lambda: draw_counts(np.uint64(1), counts), repeats)  # noqa: B023
        for bits in (np.random.SFC64, np.random.PCG64):
            generator = np.random.Generator(bits(1))
            draw_from(generator, counts)  # compile
            numpy = best(
                lambda: np.bincount(generator.integers(n_rows, size=n_rows), minlength=n_rows),  # noqa: B023
                repeats,
            )
            compiled = best(lambda: draw_from(generator, counts), repeats)  # noqa: B023
            print(
                f"  {n_rows:10,}  {bits.__name__:9s} {ours:8.6f} s  {numpy / ours:12.2f}   "
                f"{compiled / ours:22.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
