"""How much quicker is a sort of our own than NumPy's, with and without AVX-512?

    python benchmarks/sorting.py > benchmarks/sorting.txt

A sort of our own stays in the library only where it is at least 1.5 times as quick as NumPy's. NumPy's sort
with AVX-512 stores by masks, which is slow on AMD's Zen 4.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from pushrank.pairs.piecewise import MIN_PACKED, ascending

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
# by the names of NumPy from 2.4 on; those that a machine does not have are ignored
WITHOUT_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR"


def best(function: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of several calls, on which other work on the machine has little say."""
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return min(times)


def compare() -> None:
    """Print the times of both sorts, in turn, for every size."""
    rng = np.random.default_rng(0)
    ascending(rng.normal(size=MIN_PACKED))  # compile
    print(f"  {'scores':>10s}  {'kind':10s} {'numpy.argsort':>13s} {'packed keys':>12s}  numpy / packed")
    for n_scores in SIZES:
        normal = rng.normal(size=n_scores)
        single = normal.astype(np.float32).astype(np.float64)
        for kind, scores in (("normal", normal), ("float32", single), ("two digits", normal.round(2))):
            assert np.array_equal(np.sort(scores), scores[ascending(scores)])
            repeats = 2 if n_scores > 1_000_000 else 5
            numpy, own = best(lambda: np.argsort(scores), repeats), best(lambda: ascending(scores), repeats)  # noqa: B023
            print(
                f"  {n_scores:10,}  {kind:10s} {numpy:11.6f} s {own:10.6f} s  {numpy / own:.2f}", flush=True
            )


def main() -> None:
    """Compare with all vector instructions that there are, then without AVX-512."""
    if len(sys.argv) > 1:
        compare()
        return
    print(f"numpy {np.__version__}; processor time, best of several calls", flush=True)
    for said, disabled in (("as NumPy dispatches here", ""), ("AVX-512 disabled", WITHOUT_AVX512)):
        print(f"\n{said}", flush=True)
        environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": disabled}
        subprocess.run([sys.executable, "-W", "ignore", __file__, "compare"], env=environment, check=True)


if __name__ == "__main__":
    main()
