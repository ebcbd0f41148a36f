"""``pushrank compare``: which model is best at the top of the list?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table as Grid
from sklearn.base import BaseEstimator

from pushrank.cli import options
from pushrank.cli.columns import LabelledSource, read_labelled
from pushrank.cli.errors import InputError, warn
from pushrank.cli.model import make_preprocessor, make_ranking_pipeline
from pushrank.cli.read import TextFormat
from pushrank.cli.write import REPORTS_WRITTEN, TABLES_WRITTEN, check_output, write_table
from pushrank.model_selection import (
    ALPHAS,
    CHOOSING_PUSH,
    POWERS,
    RankerComparison,
    check_classes,
    choosing_push,
    compare_rankers,
    default_rankers,
)


@dataclass(frozen=True)
class ComparisonConfig:
    """How models are compared: which, on which splits, and by what."""

    powers: tuple[float, ...] = POWERS
    alpha: float | None = None
    folds: int = 5
    repeats: int = 1
    seed: int = 0
    budget: int | None = None
    nested: bool = False

    @property
    def alphas(self) -> tuple[float, ...]:
        """The L2 strengths that a nested choice is made of."""
        return ALPHAS if self.alpha is None else (self.alpha,)

    def check(self, y: NDArray[np.bool_]) -> None:
        """Raise InputError when p, alpha or the budget is out of range, or a class too small to split."""
        for power in self.powers:
            if not 1.0 <= power < np.inf:
                raise InputError(f"--p must be finite and at least 1, got {power:g}.")
        if self.alpha is not None and not 0.0 <= self.alpha < np.inf:
            raise InputError(f"--alpha must be finite and at least 0, got {self.alpha:g}.")
        if self.budget is not None and self.budget > len(y):
            raise InputError(f"--budget {self.budget} exceeds the {len(y)} rows of the data.")
        try:  # nested, rows are split to measure, to choose a model, and for one of them p and alpha
            check_classes(y, self.folds, 3 if self.nested else 1)
        except ValueError as error:
            raise InputError(str(error)) from error

    def models(self, *, dense: bool, n_rows: int) -> dict[str, BaseEstimator]:
        """Return the models by name, without preprocessing."""
        models = default_rankers(self.powers, dense=dense)
        if self.nested:
            models[CHOOSING_PUSH] = choosing_push(
                self.powers, self.alphas, cv=self.folds, budget=self.budget, n_rows=n_rows
            )
        return models

    def pipelines(self, X: Any, numeric: list[str], categorical: list[str]) -> dict[str, BaseEstimator]:
        """Return the models by name, behind the preprocessing of the columns."""
        sparse = not hasattr(X, "iloc")
        preprocessor = make_preprocessor(numeric, categorical, sparse=sparse)
        return {
            name: make_ranking_pipeline(model, preprocessor, sparse=sparse, alpha=self.alpha)
            for name, model in self.models(dense=not sparse, n_rows=X.shape[0]).items()
        }


def compare(
    source: LabelledSource,
    written: TextFormat,
    budget: options.Budget = None,
    p: options.Powers = None,
    alpha: options.Alpha = None,
    folds: options.Folds = 5,
    repeats: options.Repeats = 1,
    seed: options.Seed = 0,
    nested: options.Nested = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also save the measures of every test part here.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also save a report with curves and rows here (.html).")
    ] = None,
    force: options.Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare models under the same cross-validation and say which is best at the top.

    Logistic regression, RankBoost's objective, the P-Norm Push at several p, the IR Push and, on tables,
    boosted stumps get the same splits and the same preprocessing. A figure is the mean over the test
    parts with its standard error. With --budget N, models are judged by how many of the N rows that you can
    act on are hits; otherwise by the precision among the first rows, a quarter as many as there are
    positives. Ties count as their expected value.

    The best of several figures is too good, because it was chosen on the rows that it is measured on. With
    --nested, a P-Norm Push that chooses its p and alpha joins, and the last line is what the whole choice
    achieves on rows that had no part in it. With V folds this takes about V times as long.

    With --json, "differences" holds by how much the best model exceeds every other one by the criterion, with
    a 95 % interval; "more_than_chance" is null where the test parts are too few to tell.

    Example: pushrank compare data.csv --label fraud --budget 100
    """
    from pushrank.cli.report import write_comparison_report

    if output is not None:
        check_output(output, TABLES_WRITTEN, [source.data], force=force)
    if report is not None:
        check_output(report, REPORTS_WRITTEN, [source.data], force=force)
    rows = read_labelled(source, written)
    config = ComparisonConfig(tuple(p or POWERS), alpha, folds, repeats, seed, budget, nested)
    comparison = run(rows.features, rows.y, rows.numeric, rows.categorical, config)
    if output is not None:
        write_table(comparison.to_frame(), output)
    if report is not None:
        write_comparison_report(report, rows, comparison, config)
    if as_json:
        typer.echo(json.dumps(comparison.summary(), indent=2))
        return
    print_comparison(
        comparison,
        f"{source.data.name}: {len(rows.y):,} rows, {int(rows.y.sum()):,} with {rows.label_meaning}; "
        f"{rows.describe_features()}; {folds}-fold cross-validation"
        + (f", {repeats} times" if repeats > 1 else ""),
    )


def run(
    X: Any, y: NDArray[np.bool_], numeric: list[str], categorical: list[str], config: ComparisonConfig
) -> RankerComparison:
    """Check the comparison against the data, and compare models behind the preprocessing of the columns."""
    config.check(y)
    models = config.pipelines(X, numeric, categorical)
    with progress(config.folds * config.repeats, len(models) + config.nested) as advance:
        try:
            return compare_rankers(
                models,
                X,
                y,
                budget=config.budget,
                cv=config.folds,
                n_repeats=config.repeats,
                nested=config.nested,
                random_state=config.seed,
                callback=advance,
            )
        except (ValueError, TypeError) as error:
            raise InputError(str(error)) from error


@contextmanager
def progress(n_parts: int, n_models: int) -> Iterator[Callable[[], None]]:
    """Yield what to call after a fit: a bar on standard error, a line a part where that is no terminal."""
    fits = count(1)

    def print_parts() -> None:
        part, rest = divmod(next(fits), n_models)
        if rest == 0:
            typer.echo(f"{part} of {n_parts} parts compared", err=True)

    if not sys.stderr.isatty():
        yield print_parts
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("comparing", total=n_parts * n_models)
        yield lambda: bar.advance(task)


def print_comparison(comparison: RankerComparison, title: str) -> None:
    """Print the table, the verdict and the warnings."""
    console = Console(width=None if Console().is_terminal else 140)
    grid = Grid(title=title)
    grid.add_column("model")
    for measure in comparison.measures[comparison.baseline_]:
        grid.add_column(comparison.name_of(measure), justify="right", no_wrap=True)
    for model, measures in comparison.measures.items():
        cells = [comparison.mean_and_error(model, measure) for measure in measures]
        is_best = model == comparison.best_ and not comparison.none_is_better_
        grid.add_row(model, *cells, style="bold" if is_best else None)
    console.print(grid)
    console.print(comparison.verdict(), highlight=False)
    for model, lines in comparison.warnings.items():
        if lines:
            warn(f"{model}, in {len(lines)} fits: {lines[0]}")
