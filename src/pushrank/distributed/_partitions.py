"""Values on the workers of a Dask cluster, one for each partition, and functions that are mapped over them.

To map a function the client sends one message to every worker, which answers with the results for its
partitions. The caller adds results up in the order of the partitions, so that a sum is the same to the last
bit wherever these lie. While all are in place, workers are asked directly, which is several times as fast as
a task. If one is lost, tasks do the same work: the scheduler computes it again on another worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pushrank._base.optional import import_optional
from pushrank._base.parallel import map_chunks, one_blas_thread
from pushrank._base.validation import warn
from pushrank.exceptions import LostPartitionsError
from pushrank.rows.order_statistics import Mapped

if TYPE_CHECKING:
    from dask.delayed import Delayed

    from distributed import Client, Future, Worker

Address = TypeVar("Address", bound=str | None)
# Larger arrays are scattered to the workers once; smaller ones travel with each message.
MAX_INLINE_BYTES = 1 << 16
# The time between two checks that there is still a worker to wait for.
CHECK_SECONDS = 5.0
# A cluster may be without workers for this long: a nanny restarts a worker within a few seconds.
PATIENCE_SECONDS = 60.0


class Partitions:
    """Values on workers, one for each partition; ``holders`` are the addresses of their workers."""

    def __init__(self, client: Client, futures: list[Future], holders: list[str]) -> None:
        self.client, self.futures, self.holders = client, futures, holders

    @classmethod
    def from_delayed(cls, client: Client, parts: Sequence[Delayed]) -> Partitions:
        """Compute delayed values on the workers that hold their inputs, or else in equal shares."""
        groups = _places_by_address(_where_inputs_lie(client, parts) or _shares(client, len(parts)))
        futures: list[Future] = [None] * len(parts)
        for address, places in groups.items():
            workers = None if address is None else [address]
            some = [parts[i] for i in places]
            found = client.compute(some, workers=workers, allow_other_workers=workers is not None)
            for place, future in zip(places, found, strict=True):
                futures[place] = future
        _wait(client, futures)
        return cls(client, futures, _holders(client, futures))

    def map(self, function: Callable[..., Mapped], *arguments: object) -> list[Mapped]:
        """Return ``function(value, *arguments)`` by partition, with its values of other ``Partitions``."""
        groups = _places_by_address(self.holders)
        answers = self._asked(groups, function, [self, *arguments])
        if answers is None:
            answers = self._by_tasks(groups, function, [self, *self._sent(arguments)])
        values: list[Any] = [None] * len(self.futures)
        for places, found in zip(groups.values(), answers, strict=True):
            for place, value in zip(places, found, strict=True):
                values[place] = value
        return values

    def _asked(
        self, groups: dict[str, list[int]], function: Callable[..., Mapped], arguments: list[object]
    ) -> list[list[Mapped]] | None:
        """Return the answers of the workers, or None if a worker is gone, lacks a partition, or fails."""
        differ = [isinstance(a, Partitions) for a in arguments]
        parts = [a.futures for a in arguments if isinstance(a, Partitions)]
        is_there = all(future.status == "finished" for futures in parts for future in futures)
        if not (is_there and set(groups) <= set(self.client.nthreads())):
            return None
        shared = [None if own else a for own, a in zip(differ, arguments, strict=True)]
        keys = {}
        for address, places in groups.items():
            keys[address] = [[futures[i].key for i in places] for futures in parts]
        asked = {"workers": list(groups), "on_error": "return"}
        answers = self.client.run(_held_values, function, differ, keys, shared, **asked)
        found = [answers[address] for address in groups]
        return found if all(isinstance(answer, list) for answer in found) else None

    def _by_tasks(
        self, groups: dict[str, list[int]], function: Callable[..., Mapped], arguments: list[object]
    ) -> list[list[Mapped]]:
        """Return the results of tasks, which may run on other workers after a loss."""
        differ = [isinstance(a, Partitions) for a in arguments]
        tasks = []
        for address, places in groups.items():
            own = [[a.futures[i] for i in places] if isinstance(a, Partitions) else a for a in arguments]
            tasks.append(self._submit(address, _task_values, function, differ, *own))
        _wait(self.client, tasks)
        answers = self.client.gather(tasks)
        if list(groups) != [found_at for found_at, _ in answers]:
            self.holders[:] = _holders(self.client, self.futures)
            if lost := sorted(set(groups).difference(self.client.nthreads())):
                text = f"lost {', '.join(lost)}; its partitions were computed again on other workers."
                warn(text, UserWarning)
        return [found for _, found in answers]

    def derive(self, function: Callable[..., object], *arguments: object) -> Partitions:
        """Return ``function(value, *arguments)`` for every partition, kept on the same worker."""
        sent = [self, *self._sent(arguments)]
        futures = []
        for i, address in enumerate(self.holders):
            own = [a.futures[i] if isinstance(a, Partitions) else a for a in sent]
            futures.append(self._submit(address, function, *own))
        return Partitions(self.client, futures, self.holders)

    def _submit(self, address: str, function: Callable[..., object], *arguments: object) -> Future:
        # If the worker is lost, the task may run on another one.
        options = {"workers": [address], "allow_other_workers": True, "pure": False}
        return self.client.submit(function, *arguments, **options)

    def _sent(self, arguments: Sequence[object]) -> list[object]:
        """Return arguments for tasks, in which large arrays are replaced by futures on all workers."""
        return [
            self.client.scatter([argument], broadcast=True, hash=False)[0]
            if getattr(argument, "nbytes", 0) > MAX_INLINE_BYTES
            else argument
            for argument in arguments
        ]


def _places_by_address(addresses: Sequence[Address]) -> dict[Address, list[int]]:
    groups: dict[Address, list[int]] = {}
    for place, address in enumerate(addresses):
        groups.setdefault(address, []).append(place)
    return groups


async def _held_values(
    function: Callable[..., Mapped],
    differ: list[bool],
    keys: dict[str, list[list[Any]]],
    shared: list[object],
    dask_worker: Worker,
) -> list[Mapped] | None:
    """Return the function's results for the requested partitions, or None if this worker lacks one."""
    own = keys[dask_worker.contact_address]
    if not all(key in dask_worker.data for names in own for key in names):
        return None
    held = iter([dask_worker.data[key] for key in names] for names in own)
    arguments = [next(held) if is_own else a for is_own, a in zip(differ, shared, strict=True)]
    # In a thread, so that the worker can answer other messages meanwhile.
    return await asyncio.to_thread(_values, dask_worker.state.nthreads, function, differ, arguments)


def _task_values(
    function: Callable[..., Mapped], differ: list[bool], *arguments: Any
) -> tuple[str, list[Mapped]]:
    """Return the address of this task's worker, and the function's results for its partitions."""
    worker = import_optional("distributed", "dask").get_worker()
    return worker.address, _values(worker.state.nthreads, function, differ, arguments)


def _values(
    n_threads: int, function: Callable[..., Mapped], differ: list[bool], arguments: Sequence[Any]
) -> list[Mapped]:
    """Return the function's results; ``differ`` says which arguments have a value for each partition."""

    def value(place: int, _: int) -> Mapped:
        return function(*(a[place] if own else a for own, a in zip(differ, arguments, strict=True)))

    places = [(place, place + 1) for place in range(len(arguments[0]))]
    with one_blas_thread():
        return map_chunks(value, places, n_threads)


def _where_inputs_lie(client: Client, parts: Sequence[Delayed]) -> list[str | None]:
    """Return for each part the worker that holds its largest input, which the scheduler might overlook."""
    dask, distributed = import_optional("dask", "dask"), import_optional("distributed", "dask")
    # The parts share one graph once they are optimised together.
    graph, inputs = dict(dask.optimize(*parts)[0].__dask_graph__()), []
    for part in parts:
        keys, new = set(), {part.key}
        while new:
            keys |= new
            # A persisted value may be in the graph by its key only.
            new = {made_of for key in new for made_of in getattr(graph.get(key), "dependencies", ())} - keys
        inputs.append([distributed.Future(key, client) for key in keys & client.futures.keys()])
    everything = [future for futures in inputs for future in futures]
    if not everything:
        return []
    _wait(client, everything)
    held, sizes = client.who_has(everything), client.nbytes(summary=False)
    addresses: list[str | None] = []
    for futures in inputs:
        by_size = sorted(futures, key=lambda future: -sizes.get(future.key, 0))
        holders = [address for future in by_size for address in held.get(future.key, ())]
        addresses.append(holders[0] if holders else None)
    return addresses


def _shares(client: Client, n_parts: int) -> list[str | None]:
    """Return the address of a worker for every part, such that all threads get equal shares."""
    threads = sorted(client.nthreads().items())
    # An adaptive cluster has no workers until there is work.
    ends = n_parts * np.cumsum([n for _, n in threads]) / max(1, sum(n for _, n in threads))
    return [threads[np.searchsorted(ends, i + 0.5)][0] if threads else None for i in range(n_parts)]


def _holders(client: Client, futures: list[Future]) -> list[str]:
    """Return for each future the address of a holder: of several, the one with the fewest futures so far."""
    held, holders = client.who_has(futures), []
    counts: dict[str, int] = {}
    for future in futures:
        known = held.get(future.key, ()) or client.nthreads()
        # Without any worker the address is empty until one comes back.
        address = min(known, key=lambda a: counts.get(a, 0), default="")
        counts[address] = counts.get(address, 0) + 1
        holders.append(address)
    return holders


def _wait(client: Client, futures: list[Future]) -> None:
    """Wait for all futures; raise the error of a task, or ``LostPartitionsError`` if waiting is useless."""
    distributed = import_optional("distributed", "dask")
    patience = PATIENCE_SECONDS
    while True:
        try:
            with client.as_current():
                distributed.wait(futures, timeout=CHECK_SECONDS)
            break
        except TimeoutError:
            patience = PATIENCE_SECONDS if client.nthreads() else patience - CHECK_SECONDS
            if patience <= 0.0:
                raise LostPartitionsError(
                    f"the cluster has had no worker for {PATIENCE_SECONDS:.0f} s; start some and fit again."
                ) from None
        except distributed.CancelledError as error:
            raise LostPartitionsError(
                "partitions were lost with a worker and cannot be computed again: scattered data, and "
                "persisted data whose source was deleted, lie on one worker only. Load the data by tasks, as "
                "dask.array.from_delayed and dask.dataframe.read_parquet do, and fit again."
            ) from error
    failed = next((future for future in futures if future.status == "error"), None)
    if failed is not None:
        raised, trace = failed.exception(), failed.traceback()
        for future in futures:
            # The client keeps the error with its future, and its traceback would keep the caller's variables.
            future.release()
        raise raised.with_traceback(trace)
