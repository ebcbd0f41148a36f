"""What commands show in a terminal: tables as wide as it is, and how far long work has come."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, count
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid
from rich.text import Text

from pushrank.cli.errors import in_option_names, visible, warn

if TYPE_CHECKING:
    from pushrank.budgets import Budget
    from pushrank.model_selection.comparison import RankerComparison

WIDTH = 140
"""The width of what is printed where neither a terminal nor COLUMNS says how wide it may be."""
STANDING = "may be\nthe best"
"""The head of the column that says of each model whether it may be the best, and which one to take."""


@contextmanager
def progress(n_parts: int, n_models: int, *, quiet: bool = False) -> Iterator[Callable[[], None]]:
    """Yield a callback for each fit: it moves a bar in a terminal, and prints a line a part elsewhere."""
    if quiet:
        yield lambda: None
        return
    fits = count(1)

    def print_parts() -> None:
        part, rest = divmod(next(fits), n_models)
        if rest == 0:
            typer.echo(f"{part} of {n_parts} parts compared", err=True)

    # A bar is drawn again and again, which would fill the file of a log.
    if not sys.stderr.isatty():
        yield print_parts
        return
    # Another program may read standard output, so that bars are drawn on standard error.
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("comparing", total=n_parts * n_models)
        yield lambda: bar.advance(task)


class Screen(Console):
    """A terminal that obeys nothing that a text holds."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text to print, with its control characters written out."""
        return super().render_str(visible(text), **options)


def console() -> Console:
    """Return where tables are printed, every text as it is: as wide as the terminal, or as COLUMNS says."""
    width = None if Console().is_terminal or "COLUMNS" in os.environ else WIDTH
    return Screen(width=width, markup=False, emoji=False, highlight=False)


def grid_of(header: Sequence[str], lines: Sequence[Sequence[str]], title: str | None = None) -> Grid:
    """Return a table whose first column holds names, and the others numbers."""
    grid = Grid(title=title)
    for number, name in enumerate(header):
        grid.add_column(name, justify="right" if number else "left", overflow="fold")
    for line in lines:
        grid.add_row(*line)
    return grid


def share_of_rows(budget: int | Budget | None, n_rows: float) -> str:
    """Return a budget with the rows that it is of, to follow what else is said of them."""
    if isinstance(budget, int):
        return f"; {budget:,} of {n_rows:,.0f} rows ({100 * budget / n_rows:.3g} %)"
    return "" if budget is None else f"; {budget.words}"


def comparison_grid(
    comparison: RankerComparison, width: int, *, is_choice: bool = True
) -> tuple[Grid, list[str]]:
    """Return the table, the deciding measure first, and the measures that there is no room for."""
    from pushrank.model_selection.comparison import POSITIVES_AT_TOP
    from pushrank.model_selection.errors import HITS

    baseline = comparison.measures[comparison.baseline_]
    shown = sorted(baseline, key=[comparison.criterion, HITS, POSITIVES_AT_TOP, *baseline].index)
    names = {measure: _in_two_lines(comparison.name_of(measure)) for measure in shown}
    cells = {m: [comparison.mean_and_error(model, m) for model in comparison.measures] for m in shown}
    # A column takes three characters besides its text: a border and two blanks.
    widths = [max(map(len, [*names[measure].split("\n"), *cells[measure]])) + 3 for measure in shown]
    standings = [comparison.standing(model) for model in comparison.measures]
    if not is_choice:
        standings = [standing.replace("chosen", "yes") for standing in standings]
    width_of_standings = max(map(len, [*STANDING.split("\n"), *standings])) + 3
    # The deciding measure is shown in full, however narrow the terminal: names of models are broken for it.
    room = width - widths[0] - width_of_standings - 4
    width_of_models = max(1, min(max(map(len, comparison.measures)), room))
    room += widths[0] - width_of_models
    n_shown = max(1, sum(width <= room for width in accumulate(widths)))
    grid = Grid()
    grid.add_column("model", min_width=width_of_models)
    grid.add_column(STANDING, no_wrap=True)
    for measure in shown[:n_shown]:
        grid.add_column(names[measure], justify="right", no_wrap=True)
    for row, model in enumerate(comparison.measures):
        style = "bold" if is_choice and model == comparison.chosen_ else None
        grid.add_row(
            model, standings[row], *(cells[measure][row] for measure in shown[:n_shown]), style=style
        )
    return grid, [comparison.name_of(measure) for measure in shown[n_shown:]]


def _in_two_lines(name: str) -> str:
    """Return a name broken at the blank nearest to its middle."""
    blanks = [match.start() for match in re.finditer(" ", name)]
    middle = min(blanks, key=lambda blank: abs(2 * blank - len(name)), default=len(name))
    return f"{name[:middle]}\n{name[middle + 1 :]}".strip()


def print_comparison(comparison: RankerComparison, title: str, *, is_choice: bool = True) -> None:
    """Print the table, the verdict where there is one, and the warnings."""
    screen = console()
    grid, left_out = comparison_grid(comparison, screen.width, is_choice=is_choice)
    screen.print(title)
    screen.print(grid)
    if left_out:
        screen.print(f"A wider terminal shows {', '.join(left_out)}, too.")
    if is_choice:
        screen.print(comparison.verdict())
    for model, lines in comparison.warnings.items():
        if lines:
            warn(f"{model}, in {len(lines)} fits: {in_option_names(lines[0])}")


@contextmanager
def fitting(model: str, *, quiet: bool) -> Iterator[None]:
    """Show for how long a model is being fitted, where somebody looks."""
    shown = (SpinnerColumn(), TextColumn("fitting {task.description}"), TimeElapsedColumn())
    is_hidden = quiet or not sys.stderr.isatty()
    with Progress(*shown, console=Console(stderr=True), transient=True, disable=is_hidden) as bar:
        bar.add_task(model, total=None)
        yield
