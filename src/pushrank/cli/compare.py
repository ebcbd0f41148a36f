"""``pushrank compare``: which model is best at the top of the list?"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from pushrank.cli import options
from pushrank.cli.columns import LabelledSource, LabelledTable, check_column, numbers_in, read_labelled
from pushrank.cli.errors import InputError, refusing, warn
from pushrank.cli.fit import N_INNER_FOLDS, fit_pipeline, saved_model
from pushrank.cli.model import make_model, make_ranking_pipelines
from pushrank.cli.read import TextFormat
from pushrank.cli.screen import print_comparison, progress
from pushrank.cli.splits import Split, split_of, with_test_rows
from pushrank.cli.write import (
    MODELS_WRITTEN,
    REPORTS_WRITTEN,
    TABLES_WRITTEN,
    check_output,
    write_table,
    writing,
)
from pushrank.model_selection.compare import (
    FOREST,
    LINEAR_CHOSEN,
    POWERS,
    compare_rankers,
    default_rankers,
)
from pushrank.model_selection.comparison import RankerComparison


@dataclass(frozen=True)
class ComparisonConfig:
    """How models are compared: which, on which splits, and by what."""

    budget: options.Budget = None
    model: options.Models = None
    p: options.Powers = None
    alpha: options.Alpha = None
    folds: options.Folds = 5
    repeats: options.Repeats = 1
    seed: options.Seed = 0
    nested: options.Nested = False
    group: options.Group = None
    time: options.Time = None
    test: options.Test = None
    weight: options.Weight = None
    show: options.Show = None

    @property
    def powers(self) -> tuple[float, ...]:
        """The strengths of the push."""
        return tuple(self.p or POWERS)

    def check(self) -> None:
        """Raise InputError when p or alpha is out of range, or ways to split do not go together."""
        for power in self.powers:
            if not 1.0 <= power < np.inf:
                raise InputError(f"--p must be finite and at least 1, got {power:g}.")
        if self.alpha is not None and not 0.0 <= self.alpha < np.inf:
            raise InputError(f"--alpha must be finite and at least 0, got {self.alpha:g}.")
        ways = [f"--{way}" for way in ("group", "time", "test") if getattr(self, way) is not None]
        if len(ways) > 1:
            raise InputError(f"{' and '.join(ways)} split the rows in different ways; choose one.")
        if ways and self.repeats > 1:
            raise InputError(f"--repeats draws other parts, but {ways[0]} says which; leave it out.")
        if self.nested and ways and ways != ["--group"]:
            raise InputError(f"--nested splits at random, not as {ways[0]} does; leave it out.")

    def models(self, y: NDArray[np.bool_], *, dense: bool) -> dict[str, BaseEstimator]:
        """Return the models by name, without preprocessing."""
        if not self.model:
            models = default_rankers(self.powers, dense=dense, n_rows=len(y), budget=self.budget)
            n_rare = min(y.sum(), (~y).sum())
            for _ in range(1 + self.nested):
                n_rare -= -(-n_rare // self.folds)
            if n_rare < N_INNER_FOLDS and models.pop(LINEAR_CHOSEN, None):
                warn(f"{LINEAR_CHOSEN!r} is left out: too few rows of a class to split training parts again.")
            return models
        known = default_rankers(self.powers, dense=dense)
        known[LINEAR_CHOSEN].set_params(fraction=None if self.budget is None else self.budget / len(y))
        return {found: one for name in self.model for found, one in _models_called(name, known).items()}

    def pipelines(self, rows: LabelledTable) -> dict[str, Pipeline]:
        """Return the models by name, behind the preprocessing of the columns."""
        sparse = rows.table.is_sparse
        models = self.models(rows.y, dense=not sparse)
        return make_ranking_pipelines(models, rows.numeric, rows.categorical, sparse=sparse, alpha=self.alpha)


def _models_called(name: str, known: dict[str, BaseEstimator]) -> dict[str, BaseEstimator]:
    """Return the models of a name of ``fit`` or of the table: of the P-Norm Push, one for every p."""
    if name == "pnorm-push":
        return {found: model for found, model in known.items() if found.startswith("P-Norm Push")}
    if name == "top-ranker-cv":
        return {LINEAR_CHOSEN: known[LINEAR_CHOSEN]}
    for found, model in known.items():
        if name in (found, found.lower().replace(" ", "-")):
            return {found: model}
    return {name: make_model(name)}


class Compared(NamedTuple):
    """What was compared: the rows, the models, how rows were split, and what was found."""

    rows: LabelledTable
    models: dict[str, Pipeline]
    n_learnt: int
    """Of the rows, those that come before the rows of --test."""
    split: Split
    weights: Any
    comparison: RankerComparison

    def title(self) -> str:
        """Return what was compared, in one line."""
        rows, n_test = self.rows, len(self.rows.y) - self.n_learnt
        tested = f" and {n_test:,} to test on" if n_test else ""
        return (
            f"{rows.table.path.name}: {self.n_learnt:,} rows{tested}, {int(rows.y.sum()):,} with "
            f"{rows.label_meaning}; {rows.describe_features()}; {self.split.description}"
        )


def compare(
    source: LabelledSource,
    written: TextFormat,
    config: ComparisonConfig,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also save the measures of every test part here.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also save a report with curves and rows here (.html).")
    ] = None,
    opened: options.Open = False,
    save_best: Annotated[
        Path | None, typer.Option(help="Fit the best model to all rows and save it here (.skops).")
    ] = None,
    force: options.Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare models under the same cross-validation and say which is best at the top.

    Logistic regression, the P-Norm Push at several p, the IR Push and, on tables, boosted stumps, gradient
    boosting, a random forest and LightGBM, where it is installed, see the same splits; --model chooses among
    these and all others that fit knows. A figure is the mean over the test parts with its standard error.
    With --budget N, models are judged by how many of the N rows acted on are hits; else by the precision
    among the first rows, a quarter as many as there are positives. Counts are of all rows tested on. Ties
    count as their expected value.

    Parts are drawn at random. Where rows of one customer, machine or batch resemble each other, say --group
    COLUMN; where the model will be used on later rows, --time COLUMN; where you have test rows, --test FILE.

    The best of several figures is too good, because it was chosen on the rows that it is measured on. With
    --nested, the last row of the table is what the whole choice achieves on rows that had no part in it.
    With V folds this takes about V times as long.

    The last line is the command that fits the best model as it was compared; --save-best does it at once.

    With --json, "differences" holds by how much the best model exceeds every other one by the criterion, with
    intervals that hold together at 95 %; "more_than_chance" is null where the test parts are too few to tell.

    Example: pushrank compare data.csv --label fraud --budget 100
    """
    from pushrank.cli.report import write_comparison_report

    kinds_written = ((output, TABLES_WRITTEN), (report, REPORTS_WRITTEN), (save_best, MODELS_WRITTEN))
    for path, kinds in kinds_written:
        if path is not None:
            check_output(path, kinds, [source.data, config.test], force=force)
    if report is None and (config.show or opened):
        raise InputError("--show and --open are for a report; say where to save it: --report PATH.")
    compared = run(source, written, config)
    comparison = compared.comparison
    if output is not None:
        write_table(comparison.to_frame(), output)
    if report is not None:
        write_comparison_report(report, compared, config, opened=opened)
    command = fit_command(source, written, config, compared, save_best)
    if as_json:
        typer.echo(json.dumps(comparison.summary() | {"fit": command}, indent=2))
    else:
        print_comparison(comparison, compared.title())
        if config.model is None and not compared.rows.table.is_sparse and FOREST not in comparison.measures:
            typer.echo(f"A {FOREST} takes minutes on so many rows: --model random-forest compares it alone.")
        typer.echo(f"To fit the best on all rows: {command}" if command else "")
    if save_best is not None:
        save_fit_of_best(save_best, compared)


def run(source: LabelledSource, written: TextFormat, config: ComparisonConfig) -> Compared:
    """Read the rows, check the comparison against them, and compare."""
    config.check()
    aside = {"group": config.group, "time": config.time, "weight": config.weight}
    rows = read_labelled(source, written, aside)
    for name in config.show or ():
        check_column(rows.table, name, "show")
    n_learnt = len(rows.y)
    if config.test is not None:
        rows = with_test_rows(rows, config.test, written, drop_unlabelled=source.drop_unlabelled)
    n_tested = len(rows.y) - n_learnt or n_learnt
    if config.budget is not None and config.budget > n_tested:
        raise InputError(f"--budget {config.budget} exceeds the {n_tested} rows to test on.")
    split = split_of(rows, n_learnt, config)
    weights = None if config.weight is None else numbers_in(rows.table, config.weight, "weight", 0.0)
    models = config.pipelines(rows)
    n_parts = config.folds * config.repeats
    with refusing(), progress(n_parts, len(models) + config.nested) as advance:
        comparison = compare_rankers(
            models,
            rows.features,
            rows.y,
            budget=config.budget,
            cv=split.cv,
            n_repeats=config.repeats,
            nested=config.nested,
            groups=split.groups,
            sample_weight=weights,
            random_state=config.seed,
            callback=advance,
        )
    return Compared(rows, models, n_learnt, split, weights, comparison)


def fit_command(
    source: LabelledSource,
    written: TextFormat,
    config: ComparisonConfig,
    compared: Compared,
    save_best: Path | None,
) -> str:
    """Return the command that fits the best model as it was compared."""
    best, rows = compared.comparison.best_, compared.rows
    has_alpha = "alpha" in compared.models[best].named_steps["rank"].get_params()
    given = {
        "label": None if rows.table.is_sparse else rows.label,
        "positive": rows.positive,
        "drop_unlabelled": source.drop_unlabelled or None,
        **{option: value or None for option, value in vars(written).items()},
        "exclude": [name for name in [*(source.exclude or []), config.group, config.time] if name],
        "weight": config.weight,
        "model": best,
        "budget": config.budget if best == LINEAR_CHOSEN else None,
        "alpha": config.alpha if has_alpha else None,
    }
    words = ["pushrank", "fit", str(source.data)]
    for option, value in given.items():
        words += option_words(f"--{option.replace('_', '-')}", value)
    return shlex.join([*words, "-o", str(save_best or "model.skops")])


def option_words(option: str, value: Any) -> list[str]:
    """Return how an option is given: once, as often as it has values, or not at all."""
    if value is True:
        return [option]
    values = [] if value is None else value if isinstance(value, list | tuple) else [value]
    return [word for one in values for word in (option, "tab" if one == "\t" else str(one))]


def save_fit_of_best(path: Path, compared: Compared) -> None:
    """Fit the best model to all rows, but those of --test, and save it."""
    best = compared.comparison.best_
    learnt = slice(compared.n_learnt)
    rows = replace(compared.rows, y=compared.rows.y[learnt], features=compared.rows.features[learnt])
    weights = None if compared.weights is None else compared.weights[learnt]
    model = fit_pipeline(compared.models[best], rows, weights)
    with writing(path):
        saved_model(model, best, rows).save(path)
    typer.echo(f"{best}, fitted to all {compared.n_learnt:,} rows, is saved as {path}.", err=True)
