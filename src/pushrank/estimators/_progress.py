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
        TextColumn("objective {task.fields[objective]:.6g}  gradient {task.fields[gradient]:.1e}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=max_iter, objective=float("nan"), gradient=float("nan"))

        def watch(iteration: int, objective: float, gradient: float) -> None:
            bar.update(task, completed=iteration, objective=objective, gradient=gradient)

        yield watch
        # a fit that converged early is complete, whatever it was allowed
        bar.update(task, total=bar.tasks[0].completed)
