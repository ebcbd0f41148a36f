"""What does a fit to a memory map hold in memory, and is there an end to one of more bytes than memory?

    python benchmarks/memory_map.py --folder /path/with/room > benchmarks/memory_map.txt

Rows are drawn a block at a time and written to the file that is mapped, with labels of one byte in memory,
about 14 % of them positive. Every fit has a process of its own, and fits few rows before, which compiles.
What it holds is the largest anonymous memory that a thread saw, a hundred times a second, less what the
process held before; bytes a row are those of the rows that the largest file has more than the one before.
Beside them stand the bytes a row that arrays take there, without what the system keeps for them to reuse.
Small maps of other types are converted, and large ones refused. The last part fits rows of more bytes than
the machine has memory, and a fifth of them by the map and in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from anonymous_memory import peak_memory
from sklearn.base import BaseEstimator, clone

from pushrank import IRPush, PNormPush, PushRanker, TrimmedPush
from pushrank.prices import Power

BLOCK = 100_000
RANKERS = {
    "PNormPush(p=4)": PNormPush(p=4),
    "IRPush()": IRPush(),
    "TrimmedPush()": TrimmedPush(),
    'PushRanker("logistic", Power(4))': PushRanker("logistic", Power(4)),
}
OTHER_TYPES = ("float16", "int8", "uint8", "int32")


def write(path: Path, n_rows: int, n_columns: int, dtype: str) -> None:
    """Write normal features, whole numbers in types of these, and their labels."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, "w+", dtype, (n_rows, n_columns))
    y = np.empty(n_rows, np.int8)
    coef = rng.normal(size=n_columns)
    coef *= 2.0 / np.linalg.norm(coef)
    for start in range(0, n_rows, BLOCK):
        part = rng.standard_normal((min(BLOCK, n_rows - start), n_columns), dtype=np.float32)
        y[start : start + BLOCK] = part @ coef - 3.0 + rng.logistic(size=len(part)) > 0
        if np.dtype(dtype).kind in "iu":
            part = np.clip(np.round(20.0 * part + 100.0 * (dtype == "uint8")), -127, 127)
        X[start : start + BLOCK] = part
    X.flush()
    np.save(path.with_suffix(".labels.npy"), y)


def fitted(ranker: BaseEstimator, X: np.ndarray, y: np.ndarray) -> tuple[BaseEstimator, int, float]:
    """Return a fitted copy, the most memory that its fit held, and the seconds that it took."""
    with peak_memory() as peak:
        start = time.perf_counter()
        ranker = clone(ranker).fit(X, y)
        seconds = time.perf_counter() - start
    return ranker, peak[-1], seconds


def child(name: str, path: Path, parts: list[str]) -> None:
    """Print what a fit holds and takes, and whether its coefficients are those of a fit in memory."""
    X, y = np.load(path, mmap_mode="r"), np.load(path.with_suffix(".labels.npy"))
    found: dict[str, object] = {}
    with warnings.catch_warnings():
        # Few rows, and those of whole numbers, may not converge.
        warnings.simplefilter("ignore")
        clone(RANKERS[name]).fit(np.array(X[:3000]), y[:3000])
        if "map" in parts:
            try:
                ranker, found["peak"], found["seconds"] = fitted(RANKERS[name], X, y)
                found |= {"converged": ranker.converged_, "iterations": ranker.n_iter_}
            except ValueError as error:
                found["error"] = str(error)
        if "memory" in parts and "error" not in found:
            in_memory = fitted(RANKERS[name], np.array(X), y)[0]
            found["equal"] = bool(np.array_equal(ranker.coef_, in_memory.coef_))
            tracemalloc.start()
            clone(RANKERS[name]).fit(X, y)
            found["allocated"] = tracemalloc.get_traced_memory()[1]
        if "fifth" in parts:
            fifth = len(y) // 5
            by_map, _, seconds = fitted(RANKERS[name], X[:fifth], y[:fifth])
            in_memory, _, of_memory = fitted(RANKERS[name], np.array(X[:fifth]), y[:fifth])
            found["equal"] = bool(np.array_equal(by_map.coef_, in_memory.coef_))
            found["seconds of a fifth"] = seconds, of_memory
    print(json.dumps(found))


def run(name: str, path: Path, *parts: str) -> dict[str, object]:
    """Return what a child process finds."""
    command = [sys.executable, __file__, "--child", name, str(path), *parts]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def growth(folder: Path, n_rows: int) -> None:
    """Print what fits hold as the rows and the columns grow."""
    sizes = [n_rows, 2 * n_rows, 4 * n_rows]
    heading = " ".join(["MB beside the map".ljust(54), *(f"{size:10,}" for size in sizes)])
    print(f"\n{heading}  bytes a row  in arrays")
    for dtype in ("float32", "float64"):
        for n_columns in (20, 80):
            paths = [folder / f"{size}.npy" for size in sizes]
            for path, size in zip(paths, sizes, strict=True):
                write(path, size, n_columns, dtype)
            for name in RANKERS:
                found = [run(name, path, "map", *["memory"] * (path == paths[-1])) for path in paths]
                peaks = [float(one["peak"]) for one in found]
                row = " ".join(f"{peak / 1e6:10.1f}" for peak in peaks)
                same = "as in memory" if found[-1]["equal"] else "OTHER COEFFICIENTS"
                print(
                    f"{name:33s} {dtype}, {n_columns:2d} columns   {row} "
                    f"{(peaks[2] - peaks[1]) / (sizes[2] - sizes[1]):12.1f} "
                    f"{float(found[-1]['allocated']) / sizes[2]:10.1f}  {same}",
                    flush=True,
                )


def other_types(folder: Path, n_rows: int) -> None:
    """Print what becomes of maps of other types, small and large."""
    print("\nother types, 80 columns")
    for dtype in OTHER_TYPES:
        for size in (n_rows, 4 * n_rows):
            write(folder / "other.npy", size, 80, dtype)
            found = run("PNormPush(p=4)", folder / "other.npy", "map")
            said = found.get("error") or f"{float(found['peak']) / size:.1f} bytes a row"
            print(f"PNormPush(p=4), {dtype}, {size:,} rows: {said}", flush=True)


def beyond(folder: Path, gib: float, n_columns: int) -> None:
    """Print what a fit to more bytes than memory takes."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    n_rows = int(gib * 2**30 / (4 * n_columns))
    write(folder / "large.npy", n_rows, n_columns, "float32")
    size = (folder / "large.npy").stat().st_size
    sizes = f"{size / 2**30:.2f} GiB, in {memory / 2**30:.2f} GiB of memory"
    print(f"\n{n_rows:,} rows of {n_columns} float32: {sizes}", flush=True)
    found = run("PNormPush(p=4)", folder / "large.npy", "map", "fifth")
    seconds, of_memory = found["seconds of a fifth"]
    print(
        f"PNormPush(p=4): {float(found['peak']) / 2**30:.2f} GiB beside the map, "
        f"{float(found['peak']) / n_rows:.1f} bytes a row, {found['seconds']:.0f} s, "
        f"{found['iterations']} iterations, converged {found['converged']}\n"
        f"a fifth of the rows: {seconds:.0f} s by the map and {of_memory:.0f} s in memory, coefficients "
        f"equal: {found['equal']}",
        flush=True,
    )


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=5e5)
    parser.add_argument("--gib", type=float, default=26.0)
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--parts", nargs="+", default=["growth", "types", "beyond"])
    parser.add_argument("--child", nargs="+")
    arguments = parser.parse_args()
    if arguments.child:
        name, path, *parts = arguments.child
        child(name, Path(path), parts)
        return
    print(f"{os.cpu_count()} processors, numpy {np.__version__}")
    calls: dict[str, Callable[[Path], None]] = {
        "growth": lambda folder: growth(folder, int(arguments.rows)),
        "types": lambda folder: other_types(folder, int(arguments.rows)),
        "beyond": lambda folder: beyond(folder, arguments.gib, arguments.columns),
    }
    for part in arguments.parts:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            calls[part](Path(folder))


if __name__ == "__main__":
    main()
