"""``pushrank report``: a comparison to show around."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pushrank.cli.compare import run
from pushrank.cli.comparison_report import check_report_kind, write_comparison_report
from pushrank.cli.design import POWERS, Design
from pushrank.cli.errors import check_can_write
from pushrank.cli.labelled import Labelled
from pushrank.cli.options import (
    Alpha,
    Budget,
    Data,
    Decimal,
    Encoding,
    Exclude,
    Folds,
    Label,
    Nested,
    Positive,
    Powers,
    Repeats,
    Seed,
    Separator,
    Thousands,
)
from pushrank.cli.text_format import TextFormat
from pushrank.report import sentences


def report(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the report (.html).")],
    label: Label = None,
    positive: Positive = None,
    exclude: Exclude = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    budget: Budget = None,
    p: Powers = None,
    alpha: Alpha = None,
    folds: Folds = 5,
    repeats: Repeats = 1,
    seed: Seed = 0,
    nested: Nested = False,
) -> None:
    """Compare models and write one HTML file that opens anywhere, offline.

    It says which model is best at the top and whether the difference is more than chance, shows the curves,
    the top rows and the rows that the models disagree on. All figures are of rows that a model had not seen.
    With --nested it says, too, what choosing the model achieves on rows that had no say in the choice.

    Example: pushrank report data.csv --label fraud --budget 100 -o report.html
    """
    check_can_write(output)
    check_report_kind(output)
    rows = Labelled.read(data, label, positive, exclude, TextFormat(separator, encoding, decimal, thousands))
    design = Design(p or POWERS, alpha, folds, repeats, seed, budget, nested)
    comparison = run(rows.features, rows.y, rows.numeric, rows.categorical, design)
    findings = write_comparison_report(output, rows, comparison, design)
    console = Console(soft_wrap=True)
    console.print(" ".join(sentences(findings)), markup=False, highlight=False)
    console.print(f"The report is in {output}.", markup=False, highlight=False)
