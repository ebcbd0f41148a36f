"""What commands show in a terminal: sentences, tables that fit it, and how far long work has come."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any
from unicodedata import combining, east_asian_width

import typer

from pushrank.cli.errors import in_option_names, say, visible, warn

WIDTH = 140
"""The width of what is printed where neither a terminal nor COLUMNS says how wide it may be."""
HEAD_WIDTH = 8
"""Heads of columns are broken, at blanks, where they are longer than this and than the cells."""


def screen_width() -> int:
    """Return how wide a table may be."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return shutil.get_terminal_size().columns
    return WIDTH


def say_sentence(text: str) -> None:
    """Print a sentence; where the width is known, lines end at blanks and not within a word."""
    width = screen_width()
    lines = (
        [text]
        if width == WIDTH
        else textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    )
    say("\n".join(lines))


def count_text(number: float) -> str:
    """Return a count in three digits at most: 387, 66, 9.5, 0.25."""
    size = abs(number)
    if size >= 9.95 or number == round(number):
        return f"{number:,.0f}"
    return f"{number:.1f}" if size >= 0.995 else f"{number:.2g}"


def cell_len(text: str) -> int:
    """Return how many columns of a terminal a text takes: letters of East Asia take two, accents none."""
    return sum(0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text)


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]], width: int = 0) -> list[str]:
    """Return a table in lines, names to the left and figures to the right, or on its side if too wide."""
    cells, header = (
        [[visible(cell) for cell in row] for row in rows],
        [name.replace("\n", " ") for name in header],
    )
    for head_width, gap in ((HEAD_WIDTH, 2), (1, 2), (1, 1)):
        columns = [_column(name, [row[at] for row in cells], head_width) for at, name in enumerate(header)]
        n_heads = max(len(column) for column in columns) - len(cells)
        columns = [[""] * (n_heads + len(cells) - len(column)) + column for column in columns]
        widths = [max(map(cell_len, column)) for column in columns]
        if 2 + sum(widths) + gap * (len(widths) - 1) <= (width or screen_width()):
            break
    else:
        return _on_its_side(header, cells)
    # A column of words is read from the left, as the names in the first are.
    is_words = [not any(cell[:1].isdigit() for cell in column[n_heads:]) for column in columns]
    is_words[0] = True
    lines = []
    for texts in zip(*columns, strict=True):
        padded = []
        for text, room, is_left in zip(texts, widths, is_words, strict=True):
            fill = " " * (room - cell_len(text))
            padded.append(text + fill if is_left else fill + text)
        lines.append(f"  {(' ' * gap).join(padded)}".rstrip())
    return lines


def _column(name: str, cells: list[str], head_width: int) -> list[str]:
    """Return a column in lines; its head is broken at blanks where it is wider than this and the cells."""
    room = max([head_width, *map(cell_len, cells)])
    return [*textwrap.wrap(name, room, break_long_words=False), *cells]


def _on_its_side(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table with a line for each figure, under the name of its row."""
    side, lines = max(map(cell_len, header[1:]), default=0), []
    for name, *figures in rows:
        lines.append(f"  {name}")
        lines += [
            f"    {head}{' ' * (side - cell_len(head))}  {cell}"
            for head, cell in zip(header[1:], figures, strict=True)
            if cell
        ]
    return lines


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table between two empty lines, after its title."""
    typer.echo("\n".join(["", *filter(None, [title]), *table_lines(header, rows), ""]))


def print_json(facts: Mapping[str, Any]) -> None:
    """Print facts for other programs."""
    typer.echo(json.dumps(facts, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    """Return a value of NumPy, a path or a budget as JSON holds it."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def warn_of_fits(warnings: Mapping[str, Sequence[str]]) -> None:
    """Warn of what happened in the fits of each model, once."""
    for model, lines in warnings.items():
        if lines:
            warn(f"{model}, in {len(lines)} fits: {in_option_names(lines[0])}")


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
            say(f"{part} of {n_parts} parts compared", err=True)

    # A bar is drawn again and again, which would fill the file of a log.
    if not sys.stderr.isatty():
        yield print_parts
        return
    from rich.console import Console
    from rich.progress import Progress

    # Another program may read standard output, so that bars are drawn on standard error.
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("comparing", total=n_parts * n_models)
        yield lambda: bar.advance(task)


@contextmanager
def fitting(model: str, *, quiet: bool) -> Iterator[None]:
    """Show for how long a model is being fitted, where somebody looks."""
    # What writes rows need not wait for Rich, nor have it.
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    shown = (SpinnerColumn(), TextColumn("fitting {task.description}"), TimeElapsedColumn())
    is_hidden = quiet or not sys.stderr.isatty()
    with Progress(*shown, console=Console(stderr=True), transient=True, disable=is_hidden) as bar:
        bar.add_task(model, total=None)
        yield
