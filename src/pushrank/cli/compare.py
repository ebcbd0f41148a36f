"""``pushrank compare``: which model is best at the top of the list?"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table as Grid
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import Pipeline

from pushrank.cli import options
from pushrank.cli.columns import (
    LabelledSource,
    LabelledTable,
    feature_frame,
    label_column,
    labelled_rows,
    numbers_in,
    read_labelled,
)
from pushrank.cli.errors import InputError, warn
from pushrank.cli.fit import fit_pipeline, in_option_names, saved_model
from pushrank.cli.model import make_model, make_ranking_pipelines
from pushrank.cli.read import TextFormat, read_table
from pushrank.cli.write import (
    MODELS_WRITTEN,
    REPORTS_WRITTEN,
    TABLES_WRITTEN,
    check_output,
    write_table,
    writing,
)
from pushrank.model_selection import (
    FOREST,
    HITS,
    LINEAR_CHOSEN,
    POSITIVES_AT_TOP,
    POWERS,
    RankerComparison,
    check_classes,
    compare_rankers,
    default_rankers,
)

WIDTH = 140  # of what is printed where nobody says how wide it may be
LIGHTGBM = "lightgbm"


class Split(NamedTuple):
    """How rows are split: what :func:`compare_rankers` takes as `cv` and `groups`, and in words."""

    cv: Any
    groups: Any
    description: str


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

    def models(self, *, dense: bool, n_rows: int) -> dict[str, BaseEstimator]:
        """Return the models by name, without preprocessing."""
        models = default_rankers(self.powers, dense=dense, n_rows=n_rows, budget=self.budget)
        if self.model:
            fraction = None if self.budget is None else self.budget / n_rows
            known = default_rankers(self.powers, dense=dense)
            known[LINEAR_CHOSEN].set_params(fraction=fraction)
            models = {found: one for name in self.model for found, one in _models_called(name, known).items()}
        return models

    def pipelines(self, rows: LabelledTable) -> dict[str, Pipeline]:
        """Return the models by name, behind the preprocessing of the columns."""
        sparse = rows.table.is_sparse
        models = self.models(dense=not sparse, n_rows=len(rows.y))
        return make_ranking_pipelines(models, rows.numeric, rows.categorical, sparse=sparse, alpha=self.alpha)


def _models_called(name: str, known: dict[str, BaseEstimator]) -> dict[str, BaseEstimator]:
    """Return the models of a name of ``fit`` or of the table: of the P-Norm Push, one for every p."""
    if name == "pnorm-push":
        return {found: model for found, model in known.items() if found.startswith("P-Norm Push")}
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
    save_best: Annotated[
        Path | None, typer.Option(help="Fit the best model to all rows and save it here (.skops).")
    ] = None,
    force: options.Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare models under the same cross-validation and say which is best at the top.

    Logistic regression, the P-Norm Push at several p, the IR Push and, on tables, boosted stumps, gradient
    boosting and a random forest see the same splits; --model chooses among these and all others that fit
    knows. A figure is the mean over the test parts with its standard error. With --budget N, models are
    judged by how many of the N rows acted on are hits; else by the precision among the first rows, a quarter
    as many as there are positives. Counts are of all rows tested on. Ties count as their expected value.

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

    inputs = [source.data, *([config.test] if config.test else [])]
    kinds_written = ((output, TABLES_WRITTEN), (report, REPORTS_WRITTEN), (save_best, MODELS_WRITTEN))
    for path, kinds in kinds_written:
        if path is not None:
            check_output(path, kinds, inputs, force=force)
    compared = run(source, written, config)
    comparison = compared.comparison
    if output is not None:
        write_table(comparison.to_frame(), output)
    if report is not None:
        write_comparison_report(report, compared, config)
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
    with progress(n_parts, len(models) + config.nested) as advance:
        comparison = compare_or_refuse(
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


def compare_or_refuse(*arguments: Any, **keywords: Any) -> RankerComparison:
    """Compare rankers, and turn what is wrong with rows or parameters into an InputError."""
    try:
        return compare_rankers(*arguments, **keywords)
    except (ValueError, TypeError) as error:
        raise InputError(in_option_names(str(error))) from error


def with_test_rows(
    rows: LabelledTable, path: Path, written: TextFormat, *, drop_unlabelled: bool
) -> LabelledTable:
    """Return labelled rows followed by those of a test file."""
    table = read_table(path, written, rows.features.shape[1] if rows.table.is_sparse else None)
    if table.is_sparse != rows.table.is_sparse:
        raise InputError(f"{path} is not of the kind of {rows.table.path}; give --test rows of that kind.")
    column = label_column(table, rows.label)
    table, y, _ = labelled_rows(table, column, rows.positive, drop_unlabelled=drop_unlabelled)
    features = feature_frame(table, rows.numeric, rows.categorical)
    join = sp.vstack if table.is_sparse else concat_rows
    frame = concat_rows([rows.table.frame, table.frame])
    sparse = sp.csr_matrix(join([rows.features, features])) if table.is_sparse else None
    return replace(
        rows,
        table=replace(rows.table, frame=frame, features=sparse),
        y=np.concatenate([rows.y, y]),
        features=join([rows.features, features]) if sparse is None else sparse,
    )


def concat_rows(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return rows one after the other."""
    return pd.concat(frames, ignore_index=True)


def split_of(rows: LabelledTable, n_learnt: int, config: ComparisonConfig) -> Split:
    """Return how the rows are split."""
    folds, n_rows = config.folds, len(rows.y)
    draw = {"n_splits": folds, "shuffle": True, "random_state": config.seed}
    if config.test is not None:
        check_split(rows.y[n_learnt:], folds, 1, "--test: ")
        learnt = np.arange(n_learnt)
        parts = StratifiedKFold(**draw).split(np.zeros(n_rows - n_learnt), rows.y[n_learnt:])
        return Split([(learnt, n_learnt + part) for _, part in parts], None, f"tested on {config.test.name}")
    if config.time is not None:
        order = np.argsort(times_in(rows.table, config.time), kind="stable")
        parts = TimeSeriesSplit(folds).split(order)
        cv = [(order[train], order[test]) for train, test in parts]
        return Split(cv, None, f"{folds} test parts, each after its training part by {config.time}")
    if config.group is not None:
        groups = rows.table.texts(config.group).fillna("").to_numpy(dtype=str)
        if len(set(groups)) < folds:
            raise InputError(
                f"--group {config.group!r} has {len(set(groups))} values, too few for {folds} parts; choose "
                "fewer --folds."
            )
        return Split(StratifiedGroupKFold(**draw), groups, f"{folds}-fold cross-validation by {config.group}")
    # nested, rows are split to measure, to choose a model, and for one of them p and alpha
    check_split(rows.y, folds, 3 if config.nested else 1)
    times = f", {config.repeats} times" if config.repeats > 1 else ""
    return Split(folds, None, f"{folds}-fold cross-validation{times}")


def check_split(y: Any, folds: int, n_splits: int, where: str = "") -> None:
    """Raise InputError when a class is too small to be split."""
    try:
        check_classes(y, folds, n_splits)
    except ValueError as error:
        raise InputError(f"{where}{error}") from error


def times_in(table: Any, name: str) -> Any:
    """Return the numbers or dates of a column, as what can be put in order."""
    if table.is_numeric(name):
        times = pd.Series(table.numbers(name))
    else:
        times = pd.to_datetime(table.texts(name), format="ISO8601", errors="coerce", utc=True)
    if times.isna().any():
        row = int(np.argmax(times.isna()))
        raise InputError(
            f"--time {name!r} must hold numbers or dates such as 2024-12-31 in every row; row {row + 1} of "
            f"{table.path} holds {table.frame[name].iloc[row]!r}."
        )
    return times.to_numpy()


def fit_command(
    source: LabelledSource,
    written: TextFormat,
    config: ComparisonConfig,
    compared: Compared,
    save_best: Path | None,
) -> str:
    """Return the command that fits the best model as it was compared; none for what ``fit`` cannot name."""
    best, rows = compared.comparison.best_, compared.rows
    if best == LIGHTGBM:
        return ""
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
    if best == LIGHTGBM:
        raise InputError("a LightGBM model can be compared, but not saved; save it by LightGBM.")
    learnt = slice(compared.n_learnt)
    rows = replace(compared.rows, y=compared.rows.y[learnt], features=compared.rows.features[learnt])
    weights = None if compared.weights is None else compared.weights[learnt]
    model = fit_pipeline(compared.models[best], rows, weights)
    with writing(path):
        saved_model(model, best, rows).save(path)
    typer.echo(f"{best}, fitted to all {compared.n_learnt:,} rows, is saved as {path}.", err=True)


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


def console() -> Console:
    """Return where tables are printed: as wide as the terminal, or as COLUMNS says."""
    return Console(width=None if Console().is_terminal or "COLUMNS" in os.environ else WIDTH)


def comparison_grid(comparison: RankerComparison, width: int) -> tuple[Grid, list[str]]:
    """Return the table, the deciding measure first, and the measures that there is no room for."""
    baseline = comparison.measures[comparison.baseline_]
    shown = sorted(baseline, key=[comparison.criterion, HITS, POSITIVES_AT_TOP, *baseline].index)
    names = {measure: _in_two_lines(comparison.name_of(measure)) for measure in shown}
    cells = {
        measure: [comparison.mean_and_error(model, measure) for model in comparison.measures]
        for measure in shown
    }
    widths = [
        max(len(line) for line in [*names[measure].split("\n"), *cells[measure]]) + 3 for measure in shown
    ]
    room = width - max(map(len, comparison.measures)) - 4
    # the deciding measure stays, however narrow the terminal
    n_shown = max(1, int((np.cumsum(widths) <= room).sum()))
    grid = Grid()
    grid.add_column("model", no_wrap=True, min_width=max(map(len, comparison.measures)))
    for measure in shown[:n_shown]:
        grid.add_column(names[measure], justify="right", no_wrap=True)
    for row, model in enumerate(comparison.measures):
        is_best = model == comparison.best_ and not comparison.none_is_better_
        grid.add_row(
            model, *(cells[measure][row] for measure in shown[:n_shown]), style="bold" if is_best else None
        )
    return grid, [comparison.name_of(measure) for measure in shown[n_shown:]]


def _in_two_lines(name: str) -> str:
    """Return a name broken at the blank nearest to its middle."""
    blanks = [place for place, letter in enumerate(name) if letter == " "]
    middle = min(blanks, key=lambda place: abs(2 * place - len(name)), default=len(name))
    return f"{name[:middle]}\n{name[middle + 1 :]}".strip()


def print_comparison(comparison: RankerComparison, title: str) -> None:
    """Print the table, the verdict and the warnings."""
    screen = console()
    grid, left_out = comparison_grid(comparison, screen.width)
    screen.print(title, highlight=False)
    screen.print(grid)
    if left_out:
        screen.print(f"A wider terminal shows {', '.join(left_out)}, too.", highlight=False)
    screen.print(comparison.verdict(), highlight=False)
    for model, lines in comparison.warnings.items():
        if lines:
            warn(f"{model}, in {len(lines)} fits: {in_option_names(lines[0])}")
