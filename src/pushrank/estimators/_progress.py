"""A progress bar for long fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pushrank.solvers import Watcher


@contextmanager
def watching(title: str, max_iter: int, *, verbose: bool) -> Iterator[Watcher | None]:
    """Yield a watcher that draws a progress bar on standard error, or None when not verbose."""
    if not verbose:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[shown]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=max_iter, shown="")

        def watch(iteration: int, /, **shown: float) -> None:
            named = (f"{name.replace('_', ' ')} {value:.5g}" for name, value in shown.items())
            bar.update(task, completed=iteration, shown="  ".join(named))

        yield watch
        # a fit that converged early is complete, whatever it was allowed
        bar.update(task, total=bar.tasks[0].completed)
