"""``pushrank show``: what a saved model holds."""

import json
from pathlib import Path
from typing import Any

import typer
from rich.table import Table as Grid

from pushrank._io import read_facts, written_by
from pushrank.cli.screen import console

MAX_SHOWN = 10
"""Weights that are printed; JSON has all."""


def print_model(model: Path, *, as_json: bool) -> None:
    """Print what a saved model holds: its parameters, what it was fitted on, and its largest weights."""
    known = read_facts(model)
    if "facts" not in known:
        # Another version of pushrank, or pushrank.save, wrote the file.
        from pushrank.cli.facts import facts_of
        from pushrank.cli.model import SavedModel

        known = facts_of(SavedModel.load(model), written_by(model.read_bytes()))
    facts, is_ensemble = known["facts"], known["is_ensemble"]
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    weights = facts["weights"] or facts["importances"]
    kind, sign = ("weight", "+") if facts["weights"] else ("importance", "")
    screen = console()
    for name, text in known["lines"].items():
        if text:
            screen.print(f"{name}: {text}")
    if facts["candidates"]:
        screen.print(_candidates_grid(facts["candidates"]))
    if weights:
        grid = Grid()
        grid.add_column("member" if is_ensemble else "column", overflow="fold")
        grid.add_column(kind, justify="right", no_wrap=True)
        for name, weight in list(weights.items())[:MAX_SHOWN]:
            grid.add_row(name, f"{weight:{sign}.4f}")
        screen.print(grid)
    if len(weights) > MAX_SHOWN:
        screen.print(f"The {MAX_SHOWN} largest of {len(weights):,} {kind}s; --json has all.")


def _candidates_grid(candidates: list[dict[str, Any]]) -> Grid:
    """Return the table of what a search has chosen among, by rows that it held out."""
    grid = Grid()
    grid.add_column("candidate", overflow="fold")
    for column in ("precision at the budget", "below the best", "average precision"):
        grid.add_column(column, justify="right")
    for found in candidates:
        precision, error = found["precision"], found["standard_error"]
        gap, gap_error = found["below_best"], found["below_best_standard_error"]
        figures = f"{precision:.4f} ± {error:.4f}", f"{gap:.4f} ± {gap_error:.4f}"
        grid.add_row(found["candidate"], *figures, f"{found['average_precision']:.4f}")
    return grid
