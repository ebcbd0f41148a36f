"""The command line: for people with files, not Python. One file a command."""

from __future__ import annotations

from typing import Annotated

import typer

from pushrank import __version__
from pushrank.cli.compare import compare
from pushrank.cli.demo import demo
from pushrank.cli.errors import told_in_one_line
from pushrank.cli.evaluate import evaluate
from pushrank.cli.fit import fit
from pushrank.cli.report import report
from pushrank.cli.score import score

__all__ = ["compare", "demo", "evaluate", "fit", "report", "score"]

app = typer.Typer(
    help="Learn to rank so that the top of the list is right.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (fit, score, evaluate, compare, report, demo):
    app.command()(told_in_one_line(command))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pushrank {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn to rank so that the top of the list is right."""


def main() -> None:
    """Run the command line."""
    app()
