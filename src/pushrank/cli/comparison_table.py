"""A comparison in print: a table, and in one sentence what it says."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import Progress
from rich.table import Table as Grid

from pushrank.cli.comparison import BASELINE, CHOSEN, HITS, Comparison


def progress_bar() -> Progress:
    """Return a progress bar on standard error, silent where that is no terminal."""
    return Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())


def print_comparison(comparison: Comparison, title: str) -> None:
    """Print the table, the verdict and the warnings."""
    console = Console(width=None if Console().is_terminal else 140)
    grid = Grid(title=title)
    grid.add_column("model")
    first, *_ = comparison.values.values()
    for measure in first:
        name = f"hits in {comparison.budget} rows" if measure == HITS else measure
        grid.add_column(name, justify="right", no_wrap=True)
    best = comparison.best()
    for model, measures in comparison.values.items():
        cells = [
            f"{comparison.mean(model, m):.{3 if m not in ('positives at top', HITS) else 1}f} ± "
            f"{comparison.standard_error(model, m):.{3 if m not in ('positives at top', HITS) else 1}f}"
            for m in measures
        ]
        grid.add_row(model, *cells, style="bold" if model == best else None)
    console.print(grid)
    console.print(verdict(comparison), highlight=False)
    for model, lines in comparison.warned.items():
        if lines:
            stderr = Console(stderr=True, soft_wrap=True)
            stderr.print(f"warning: {model}, in {len(lines)} fits: {lines[0]}", markup=False, highlight=False)


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
    best = comparison.best()
    by = f"hits in {comparison.budget} rows" if comparison.budget else comparison.criterion
    digits = 1 if comparison.budget else 3
    said = f"Best at the top, by {by}: {best}"
    rival = comparison.rival()
    gain, error = comparison.difference(best, rival)
    versus = rival if rival == BASELINE else f"{rival}, the next best"
    said += f", {gain:+.{digits}f} ± {error:.{digits}f} against {versus}"
    if gain > 2.0 * error:
        return f"{said}: more than two standard errors."
    return f"{said}: within two standard errors, so these data do not tell them apart."
