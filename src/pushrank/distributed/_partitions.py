"""Values on the workers of a Dask cluster, one a partition, and functions of all of them.

A function of all partitions is one message to every worker, which takes its partitions in their order; what
it returns of each comes back in one message. Sums are added up by the caller in the order of the partitions,
so that a result is the same to the last bit wherever these lie and however many workers there are. Workers
are asked directly, several times as quick as by a task, where all partitions are there. Where some are not,
or a worker is lost, the same is done by tasks: these depend on their partitions alone, and the scheduler
makes what is lost anew from what it was made of, elsewhere, and runs the task there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pushrank._optional import import_optional
from pushrank._parallel import map_chunks, one_blas_thread
from pushrank._validation import warn
from pushrank.exceptions import LostPartitionsError

MAX_INLINE_BYTES = 1 << 16  # of arrays in the message to every worker; longer ones are sent to them once
CHECK_SECONDS = 5.0  # between two looks at whether there is anybody to wait for
PATIENCE_SECONDS = 60.0  # without a worker; a nanny restarts one within a few seconds


class Partitions:
    """Values on workers, one a partition; ``holders`` has the address where each lies."""

    def __init__(self, client: Any, futures: list[Any], holders: list[str]) -> None:
        self.client, self.futures, self.holders = client, futures, holders

    @classmethod
    def from_delayed(cls, client: Any, parts: Sequence[Any]) -> Partitions:
        """Return delayed values, computed and kept on workers: where their data lie, or in equal shares.

        Raises
        ------
        LostPartitionsError
            When there is no worker, or what they are made of is lost for good.
        """
        groups: dict[str | None, list[int]] = {}
        for place, address in enumerate(_where_inputs_lie(client, parts) or _shares(client, len(parts))):
            groups.setdefault(address, []).append(place)
        futures: list[Any] = [None] * len(parts)
        for address, places in groups.items():
            workers = None if address is None else [address]
            some = [parts[i] for i in places]
            found = client.compute(some, workers=workers, allow_other_workers=workers is not None)
            for place, future in zip(places, found, strict=True):
                futures[place] = future
        _wait(client, futures)
        return cls(client, futures, _holders(client, futures))

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return ``function(value, *arguments)`` for every partition, in their order.

        Arguments may be other partitions, of which each call gets its own. One message goes to every worker,
        and one comes back.

        Raises
        ------
        LostPartitionsError
            When partitions or all workers are lost for good.

        Warns
        -----
        UserWarning
            When a worker was lost, and its partitions were made anew elsewhere.
        """
        groups: dict[str, list[int]] = {}
        for place, address in enumerate(self.holders):
            groups.setdefault(address, []).append(place)
        answers = self._asked(groups, function, [self, *arguments])
        if answers is None:
            answers = self._by_tasks(groups, function, [self, *self._sent(arguments)])
        values: list[Any] = [None] * len(self.futures)
        for places, found in zip(groups.values(), answers, strict=True):
            for place, value in zip(places, found, strict=True):
                values[place] = value
        return values

    def _asked(
        self, groups: dict[str, list[int]], function: Callable[..., Any], arguments: list[Any]
    ) -> list[list[Any]] | None:
        """Return what every worker answers at once; None where one is gone, lacks a partition, or fails."""
        differ = [isinstance(a, Partitions) for a in arguments]
        parts = [a.futures for a in arguments if isinstance(a, Partitions)]
        is_there = all(future.status == "finished" for futures in parts for future in futures)
        if not (is_there and set(groups) <= set(self.client.nthreads())):
            return None
        shared = [None if own else a for own, a in zip(differ, arguments, strict=True)]
        keys = {
            address: [[futures[i].key for i in places] for futures in parts]
            for address, places in groups.items()
        }
        answers = self.client.run(
            _held_values, function, differ, keys, shared, workers=list(groups), on_error="return"
        )
        found = [answers[address] for address in groups]
        return found if all(isinstance(answer, list) for answer in found) else None

    def _by_tasks(
        self, groups: dict[str, list[int]], function: Callable[..., Any], arguments: list[Any]
    ) -> list[list[Any]]:
        """Return what a task on every worker returns, or one elsewhere, of partitions made anew."""
        differ = [isinstance(a, Partitions) for a in arguments]
        tasks = []
        for address, places in groups.items():
            own = [[a.futures[i] for i in places] if isinstance(a, Partitions) else a for a in arguments]
            tasks.append(self._submit(address, _task_values, function, differ, *own))
        _wait(self.client, tasks)
        answers = self.client.gather(tasks)
        if list(groups) != [found_at for found_at, _ in answers]:
            self.holders[:] = _holders(self.client, self.futures)
            lost = sorted(set(groups).difference(self.client.nthreads()))
            if lost:
                warn(f"lost {', '.join(lost)}; its partitions were made anew on other workers.", UserWarning)
        return [found for _, found in answers]

    def derive(self, function: Callable[..., Any], *arguments: Any) -> Partitions:
        """Return ``function(value, *arguments)`` of every partition, kept on the workers beside it."""
        sent = [self, *self._sent(arguments)]
        futures = []
        for i, address in enumerate(self.holders):
            own = [a.futures[i] if isinstance(a, Partitions) else a for a in sent]
            futures.append(self._submit(address, function, *own))
        return Partitions(self.client, futures, self.holders)

    def _submit(self, address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        # elsewhere where that worker is lost
        return self.client.submit(
            function, *arguments, workers=[address], allow_other_workers=True, pure=False
        )

    def _sent(self, arguments: Sequence[Any]) -> list[Any]:
        """Return arguments for tasks, of which long arrays are on all workers by then."""
        return [
            self.client.scatter([argument], broadcast=True, hash=False)[0]
            if getattr(argument, "nbytes", 0) > MAX_INLINE_BYTES
            else argument
            for argument in arguments
        ]


async def _held_values(
    function: Callable[..., Any],
    differ: list[bool],
    keys: dict[str, list[list[Any]]],
    shared: list[Any],
    dask_worker: Any,
) -> list[Any] | None:
    """Return a function of each partition that a worker was asked for; None where it does not hold one."""
    own = keys[dask_worker.contact_address]
    if not all(key in dask_worker.data for names in own for key in names):
        return None
    held = iter([dask_worker.data[key] for key in names] for names in own)
    arguments = [next(held) if is_own else a for is_own, a in zip(differ, shared, strict=True)]
    # in a thread, for meanwhile the worker goes on answering others
    return await asyncio.to_thread(_values, dask_worker.state.nthreads, function, differ, arguments)


def _task_values(function: Callable[..., Any], differ: list[bool], *arguments: Any) -> tuple[str, list[Any]]:
    """Return where this task runs, and a function of each partition."""
    worker = import_optional("distributed", "dask").get_worker()
    return worker.address, _values(worker.state.nthreads, function, differ, arguments)


def _values(
    n_threads: int, function: Callable[..., Any], differ: list[bool], arguments: Sequence[Any]
) -> list[Any]:
    """Return a function of each partition; ``differ`` says which of the arguments do."""

    def value(place: int, _: int) -> Any:
        return function(*(a[place] if own else a for own, a in zip(differ, arguments, strict=True)))

    places = [(place, place + 1) for place in range(len(arguments[0]))]
    with one_blas_thread():
        return map_chunks(value, places, n_threads)


def _where_inputs_lie(client: Any, parts: Sequence[Any]) -> list[str | None]:
    """Return the address of the worker that holds the most of what each part is made of; none if none does.

    Left to itself the scheduler would rather move rows to a worker that has less to do.
    """
    dask, distributed = import_optional("dask", "dask"), import_optional("distributed", "dask")
    graph, inputs = dict(dask.optimize(*parts)[0].__dask_graph__()), []  # of all parts at once
    for part in parts:
        keys, new = set(), {part.key}
        while new:
            keys |= new
            # what was persisted may have left no more than its key
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


def _shares(client: Any, n_parts: int) -> list[str | None]:
    """Return the address of a worker for every part, equal shares for every thread."""
    threads = sorted(client.nthreads().items())
    # none where a cluster grows when there is work
    ends = n_parts * np.cumsum([n for _, n in threads]) / max(1, sum(n for _, n in threads))
    return [threads[np.searchsorted(ends, i + 0.5)][0] if threads else None for i in range(n_parts)]


def _holders(client: Any, futures: list[Any]) -> list[str]:
    """Return the address of a worker that holds each; of several the one with the fewest so far."""
    held, holders = client.who_has(futures), []
    counts: dict[str, int] = {}
    for future in futures:
        known = held.get(future.key, ()) or client.nthreads()
        address = min(known, key=lambda a: counts.get(a, 0), default="")  # none, who may come back
        counts[address] = counts.get(address, 0) + 1
        holders.append(address)
    return holders


def _wait(client: Any, futures: list[Any]) -> None:
    """Wait until all are there; raise what a task raised, or that there is nothing to wait for."""
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
                    f"the cluster has had no worker for {PATIENCE_SECONDS:.0f} s; start some and fit anew."
                ) from None
        except distributed.CancelledError as error:
            raise LostPartitionsError(
                "partitions were lost with a worker and cannot be made anew: data that were scattered, or "
                "persisted and then deleted at their source, lie on that worker alone. Make them by tasks, "
                "as dask.array.from_delayed and dask.dataframe.read_parquet do, and fit anew."
            ) from error
    failed = next((future for future in futures if future.status == "error"), None)
    if failed is not None:
        raised, trace = failed.exception(), failed.traceback()
        for future in futures:
            # the client keeps an error with its future, and the error all that the caller holds
            future.release()
        raise raised.with_traceback(trace)
