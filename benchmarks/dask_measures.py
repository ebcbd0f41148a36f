"""Are measures of dask arrays those of arrays in memory, how long do they take, and what travels?

    python benchmarks/dask_measures.py > benchmarks/dask_measures.txt

Worker processes of one thread each hold the scores in chunks, which each draw their rows; a tenth of the rows
are positive. The client's memory is the growth of its peak while it
measures, before any scores are gathered to measure them in memory. Bytes are what workers sent to one another
and what they sent to the client.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import dask.array as da
import numpy as np

import distributed
import pushrank.distributed
from pushrank import metrics

CHUNK = 1_000_000
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("auc", {}),
    ("auc", {"ties": "pessimistic"}),
    ("average_precision", {}),
    ("average_precision", {"ties": "optimistic"}),
    ("precision_at_k", {"k": 10_000}),
    ("precision_at_k", {"fraction_of_positives": 0.25}),
    ("positives_at_top", {}),
]


def table(start: int, stop: int, decimals: int | None) -> np.ndarray:
    """Return labels and scores of some rows, shape (n, 2)."""
    rng = np.random.default_rng(start)
    y = rng.random(stop - start) < 0.1
    scores = rng.normal(size=stop - start) + 1.5 * y
    return np.column_stack([y, scores if decimals is None else scores.round(decimals)])


def arrays(n: int, decimals: int | None) -> tuple[Any, Any]:
    """Return labels and scores, drawn where they are."""
    rows = da.map_blocks(
        lambda block_info=None: table(*block_info[None]["array-location"][0], decimals),
        chunks=(tuple(np.diff([*range(0, n, CHUNK), n]).tolist()), (2,)),
        dtype=float,
    ).persist()
    distributed.wait(rows)
    return rows[:, 0] > 0.0, rows[:, 1]


def bytes_of_worker(dask_worker: Any) -> tuple[int, int]:
    """Return what a worker received from others, and what it sent to whomever."""
    received = sum(transfer["total"] for transfer in dask_worker.transfer_incoming_log)
    return received, dask_worker.transfer_outgoing_bytes_total


def sent(client: Any) -> np.ndarray:
    """Return the megabytes that workers sent to one another and to the client so far."""
    received, out = np.sum(list(client.run(bytes_of_worker).values()), axis=0)
    return np.array([received, out - received]) / 1e6


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print a line for each measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    kinds = [(n, decimals) for n in options.rows for decimals in (None, 2)]
    names = {
        f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})": (name, parameters)
        for name, parameters in CALLS
    }
    found = {}
    print(f"{options.workers} workers of one thread, chunks of {CHUNK:,}; seconds, and MB sent\n")
    head = f"{'rows':>10} {'scores':>10} {'measure':<47} {'time':>6}"
    print(f"{head} {'between':>8} {'to client':>9} {'client grew':>11}")
    options = {"n_workers": options.workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.run(warm)
        for name, parameters in CALLS:
            getattr(pushrank.distributed, name)(*arrays(CHUNK, None), **parameters)
        for n, decimals in kinds:
            there = arrays(n, decimals)
            for said, (name, parameters) in names.items():
                before, memory, start = sent(client), peak(), time.perf_counter()
                found[n, decimals, said] = getattr(pushrank.distributed, name)(*there, **parameters)
                taken = time.perf_counter() - start
                between, to_client = sent(client) - before
                line = f"{n:>10,} {'two digits' if decimals else 'distinct':>10} {said:<47} {taken:>6.2f}"
                print(f"{line} {between:>8.1f} {to_client:>9.2f} {peak() - memory:>11.1f}", flush=True)
            del there
    print("\nIn memory, of the same rows gathered, in two threads:")
    for n, decimals in kinds:
        rows = np.concatenate([table(a, min(a + CHUNK, n), decimals) for a in range(0, n, CHUNK)])
        y, scores = rows[:, 0] > 0.0, rows[:, 1].copy()
        for said, (name, parameters) in names.items():
            start = time.perf_counter()
            value = getattr(metrics, name)(y, scores, **parameters)
            taken = time.perf_counter() - start
            error = value - found[n, decimals, said]
            line = f"{n:>10,} {'two digits' if decimals else 'distinct':>10} {said:<47} {taken:>6.2f}"
            print(f"{line} {value!r:>20} {'the same float' if error == 0.0 else f'DIFFERS by {error:g}'}")


def warm() -> None:
    """Load what measures load, on a worker."""
    metrics.auc([0, 1], [0.0, 1.0])


if __name__ == "__main__":
    main()
