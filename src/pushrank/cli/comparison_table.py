"""A comparison in print: a table, and in one sentence what it says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table as Grid

from pushrank.cli.comparison import BASELINE, CHOSEN, HITS, ROUNDING, Comparison
from pushrank.cli.errors import warn


@contextmanager
def progress(n_parts: int, n_models: int) -> Iterator[Callable[[], None]]:
    """Yield what to call after a fit: a bar on standard error, a line a part where that is no terminal."""
    fits = count(1)

    def tell() -> None:
        part, rest = divmod(next(fits), n_models)
        if rest == 0:
            typer.echo(f"{part} of {n_parts} parts compared", err=True)

    if not sys.stderr.isatty():
        yield tell
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("comparing", total=n_parts * n_models)
        yield lambda: bar.advance(task)


def print_comparison(comparison: Comparison, title: str) -> None:
    """Print the table, the verdict and the warnings."""
    console = Console(width=None if Console().is_terminal else 140)
    grid = Grid(title=title)
    grid.add_column("model")
    first, *_ = comparison.values.values()
    for measure in first:
        grid.add_column(comparison.name_of(measure), justify="right", no_wrap=True)
    best = comparison.best()
    for model, measures in comparison.values.items():
        cells = [
            f"{comparison.mean(model, m):.{3 if m not in ('positives at top', HITS) else 1}f} ± "
            f"{comparison.standard_error(model, m):.{3 if m not in ('positives at top', HITS) else 1}f}"
            for m in measures
        ]
        grid.add_row(model, *cells, style="bold" if model == best and not comparison.none_is_better else None)
    console.print(grid)
    console.print(verdict(comparison), highlight=False)
    for model, lines in comparison.warned.items():
        if lines:
            warn(f"{model}, in {len(lines)} fits: {lines[0]}")


def verdict(comparison: Comparison) -> str:
    """Return which model is best at the top, whether that is more than chance, and what to expect of it."""
    return " ".join([_best_and_chance(comparison), *_expected(comparison)])


def _expected(comparison: Comparison) -> list[str]:
    """Return the figure of a choice inside, where there is one."""
    if comparison.optimism is None:
        return []
    digits = 1 if comparison.budget else 3
    mean = comparison.mean(CHOSEN, comparison.criterion)
    error = comparison.standard_error(CHOSEN, comparison.criterion)
    return [
        f"Report {mean:.{digits}f} ± {error:.{digits}f}, the figure of choosing inside every training part; "
        f"the best line's own differs by {comparison.optimism[0]:+.{digits}f}, part of which is the choice."
    ]


def _best_and_chance(comparison: Comparison) -> str:
    best, rival, equals = comparison.best(), comparison.rival(), comparison.equals()
    by = comparison.name_of(comparison.criterion)
    digits = 1 if comparison.budget else 3
    if comparison.none_is_better:
        each = comparison.mean(best, comparison.criterion)
        return f"No model is better at the top than another, by {by}: each has {each:.{digits}f}."
    said = f"Best at the top, by {by}: {best}"
    if rival in equals:
        return f"{said}, which is no better by it than {rival}; average precision decides between equals."
    gain, _, low, high, beyond = comparison.difference(best, rival)
    versus = rival if rival == BASELINE else f"{rival}, the next best"
    said += f", {gain:+.{digits}f} against {versus}"
    if high - low <= ROUNDING:
        said += f", the same in each of {comparison.n_parts} test parts"
    else:
        said += f", 95 % interval {low:+.{digits}f} to {high:+.{digits}f}"
    if beyond is None:
        return f"{said}, too few to know what chance alone would do; raise --folds."
    if beyond:
        return f"{said}: more than chance explains."
    return f"{said}: chance alone may explain the difference, so these data do not tell them apart."
