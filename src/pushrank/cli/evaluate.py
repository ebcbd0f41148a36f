"""``pushrank evaluate``: measure a saved model, or scores of any other, with 95 % intervals."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table as Grid

from pushrank import metrics
from pushrank.cli import options
from pushrank.cli.columns import feature_frame, label_column, labelled_rows, numbers_in
from pushrank.cli.errors import InputError, warn
from pushrank.cli.model import SavedModel, fingerprint
from pushrank.cli.read import Table, TextFormat, read_table
from pushrank.cli.screen import console
from pushrank.metrics._bootstrap import default_n_resamples
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.intervals import ranking_intervals

CONFIDENCE_LEVEL = 0.95
CRITERION = "hits"  # the measure by which columns of scores are compared, as compare does with a budget
MIN_WIDTH_OF_MEANINGS = 120

OTHER_MEANINGS = {
    "precision_at_quarter": "precision among the first 1/4 as many rows as positives",
    "precision_at_positives": "precision among as many rows as positives",
    "discounted_cumulative_gain": "discounted cumulative gain (log2)",
    "discounted_cumulative_gain_natural": "discounted cumulative gain (natural log)",
    "average_reciprocal_rank": "sum of reciprocal ranks",
    "r_max": "positives below the best negative",
    "log_r4": "(1/4) ln of the 4-norm error",
}
"""The measures of :func:`pushrank.metrics.top_of_list` that are not of the short table, and what they are."""


class Measure(NamedTuple):
    """A figure of the top of a list: what it is, and what it is computed from, up to a factor."""

    meaning: str
    function: Callable[..., float]
    factor: float = 1.0


def measures_at(depth: int) -> dict[str, Measure]:
    """Return the measures of a list whose first rows are looked at; these count ties by their expectation."""
    first = f"the first {depth:,} rows" if depth > 1 else "the first row"
    precision, recall = partial(metrics.precision_at_k, k=depth), partial(metrics.recall_at_k, k=depth)
    lift = partial(metrics.lift, fraction=0.01)
    return {
        "hits": Measure(f"positives among {first}", precision, depth),
        "precision": Measure(f"share of positives among {first}", precision),
        "recall": Measure(f"share of all positives that is among {first}", recall),
        "lift": Measure(
            f"precision among {first} over that of a random order", partial(metrics.lift, k=depth)
        ),
        "positives_at_top": Measure("positives above every negative", metrics.positives_at_top),
        "average_precision": Measure("average precision", metrics.average_precision),
        "auc": Measure("area under the ROC curve", metrics.auc),
        "partial_auc": Measure(
            "the same up to 10 % of the negatives; 0.5 for a random order", metrics.partial_auc
        ),
        "enrichment_factor": Measure("lift of the first 1 % of the rows", lift),
        "bedroc": Measure("early recognition: BEDROC, alpha = 20", metrics.bedroc),
    }


def find_intervals(
    ranking: Ranking, measures: dict[str, Measure], n_resamples: int, seed: int
) -> dict[str, tuple[float, float]]:
    """Return the ends of the intervals of the bias-corrected bootstrap, all from the same resamples.

    The number of positives at the top is an extreme, for which resampling promises no coverage: it has no
    interval, and neither has a measure that is no proportion and the same in every resample.
    """
    functions = dict.fromkeys(measure.function for measure in measures.values())
    del functions[metrics.positives_at_top]
    found = ranking_intervals(ranking, list(functions), "bca", CONFIDENCE_LEVEL, n_resamples, seed)
    ends = dict(zip(functions, found, strict=True))
    return {
        name: (factor * ends[function].low, factor * ends[function].high)
        for name, (_, function, factor) in measures.items()
        if function in ends and ends[function].low < ends[function].high
    }


class Evaluation(NamedTuple):
    """The measures of one ranking, and the intervals of those that have one."""

    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]

    def summary(self) -> dict[str, Any]:
        """Return the figures as plain values, for JSON: without the noise of rounding, and no infinities."""
        found: dict[str, Any] = {
            # an error of zero has no logarithm
            name: _significant(value) if value > float("-inf") else None
            for name, value in self.values.items()
        }
        if self.intervals:
            found["intervals"] = {
                name: {"low": _significant(low), "high": _significant(high)}
                for name, (low, high) in self.intervals.items()
            }
        return found


def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="A model that pushrank fit saved, and labelled rows that it has not seen; with --scores the "
            "rows alone."
        ),
    ],
    written: TextFormat,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            help="Without a model: a column of scores, the higher the better; may be repeated, then each is "
            "compared with the first."
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The label's column, where it differs from the training data's.")
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="The positive label, where it differs from the training data's."),
    ] = None,
    drop_unlabelled: options.DropUnlabelled = False,
    budget: options.Budget = None,
    every: Annotated[bool, typer.Option("--all", help="Also show the other measures.")] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals/--no-intervals", help="Show 95 % confidence intervals.")
    ] = True,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the resampling.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print how good the top of the list is, with 95 % intervals.

    The list is a saved model's, or, with --scores, that of a column of scores of any model. Of several
    columns each is compared with the first by its hits, on the same resamples, with intervals that hold
    together at 95 %.

    The first four measures count hits in the first N rows of --budget N, by default a quarter as many as
    there are positives. Ties count as their expected value.

    The intervals come from the bootstrap (BCa) and assume independent rows: if rows come in clusters, such as
    the visits of one patient, they are too narrow. Where all or none of the first rows are hits, the interval
    is that of Clopper and Pearson. The number of positives at the top has no interval, because resampling
    says nothing about an extreme; nor has a measure that no resample changes. With a million rows the
    intervals take from some seconds to a minute; --no-intervals leaves them out.

    --json prints all measures, to twelve digits.

    Example: pushrank evaluate model.skops test.csv --budget 100

    Example: pushrank evaluate scores.csv --label fraud --scores lightgbm --scores push --budget 100
    """
    if scores and len(files) != 1:
        raise InputError("--scores takes the place of the model; give the rows alone.")
    if not scores and len(files) != 2:
        raise InputError("give a model and labelled rows, or labelled rows with --scores COLUMN.")
    saved = None if scores else SavedModel.load(files[0])
    table = read_table(files[-1], written) if saved is None else saved.read(files[-1], written)
    if saved is not None:
        label, positive = label or saved.label or None, positive or saved.positive
    column = label_column(table, label)
    table, y, positive = labelled_rows(table, column, positive, drop_unlabelled=drop_unlabelled)
    n_positive = int(y.sum())
    if budget is not None and budget > len(y):
        raise InputError(f"--budget {budget} exceeds the {len(y)} rows of the data.")
    if saved is None:
        all_scores = scores_in(table, scores or [], y)
    else:
        all_scores = {saved.name: saved.scores(table)}
        if saved.training.get("fingerprint") == fingerprint(
            feature_frame(table, saved.numeric, saved.categorical)
        ):
            warn(f"{saved.name} was fitted to these very rows: measures of rows that it has seen flatter it.")
    depth = budget or max(1, round(n_positive / 4))
    measures, n_resamples = measures_at(depth), default_n_resamples(len(y))
    found = {}
    for name, values in all_scores.items():
        estimates = {function: function(y, values) for _, function, _ in measures.values()}
        own = {which: factor * estimates[function] for which, (_, function, factor) in measures.items()}
        others = metrics.top_of_list(y, values) if every or as_json else {}
        ends = find_intervals(Ranking(y, values), measures, n_resamples, seed) if intervals else {}
        found[name] = Evaluation(own | {which: others[which] for which in OTHER_MEANINGS if others}, ends)
    differences = differences_from_first(y, all_scores, depth, seed) if intervals else {}
    if as_json:
        summary: dict[str, Any] = {"rows": len(y), "positives": n_positive, "budget": depth}
        if intervals:
            summary |= {"confidence_level": CONFIDENCE_LEVEL, "n_resamples": n_resamples}
        if saved is not None:
            summary |= found[saved.name].summary()
        else:
            summary["scores"] = {name: one.summary() for name, one in found.items()}
            summary["differences"] = differences
        typer.echo(json.dumps(summary, indent=2))
        return
    rows = f"{len(y):,} rows, {n_positive:,} with {column} = {positive}"
    meanings = {name: measure.meaning for name, measure in measures.items()} | OTHER_MEANINGS
    screen = console()
    screen.print(f"{', '.join(found)} on {table.path.name}: {rows}", highlight=False)
    screen.print(evaluation_grid(found, meanings, screen.width, intervals=intervals))
    for name, difference in differences.items():
        screen.print(describe_difference(name, difference, depth, len(differences)), highlight=False)
    if intervals:
        screen.print("Intervals take the rows to be independent of each other.", highlight=False)


def scores_in(table: Table, names: list[str], y: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    """Return columns of scores by name, and warn of those that rank the wrong way round."""
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"--scores {twice[0]!r} is given twice; name each column once.")
    found = {name: numbers_in(table, name, "scores") for name in names}
    for name, values in found.items():
        area = metrics.auc(y, values)
        if area < 0.5:
            warn(
                f"column {name!r} of {table.path} ranks worse than a random order (auc {area:.4f}): a higher "
                "score must be better; if a lower one is, change its sign."
            )
    return found


def differences_from_first(
    y: NDArray[np.bool_], all_scores: dict[str, NDArray[np.float64]], depth: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Return by how many hits every ranking exceeds the first, with intervals that hold together."""
    (first, baseline), *others = all_scores.items()
    level = 1.0 - (1.0 - CONFIDENCE_LEVEL) / max(1, len(others))  # Bonferroni, as in compare
    differences = {}
    for name, values in others:
        low, high, difference, p_value = metrics.compare(
            y,
            values,
            baseline,
            "precision_at_k",
            k=depth,
            confidence_level=level,
            random_state=seed,
        )
        differences[name] = {
            "against": first,
            "criterion": CRITERION,
            "difference": _significant(depth * difference),
            "low": _significant(depth * low),
            "high": _significant(depth * high),
            "confidence": CONFIDENCE_LEVEL,
            "p_value": min(1.0, len(others) * p_value),
            "more_than_chance": bool(low > 0.0 or high < 0.0),
        }
    return differences


def describe_difference(name: str, found: dict[str, Any], depth: int, n_differences: int) -> str:
    """Return a difference and whether it is more than chance, in one sentence."""
    against = f"{name} against {found['against']}: "
    if found["low"] == found["high"] == 0.0:
        return f"{against}as many hits in the first {depth:,} rows."
    together = f" (of all {n_differences} differences together)" * (n_differences > 1)
    beyond = found["more_than_chance"]
    return (
        f"{against}{found['difference']:+.1f} hits in the first {depth:,} rows, 95 % interval "
        f"{found['low']:+.1f} to {found['high']:+.1f}{together}"
        + (": more than chance explains." if beyond else ", which chance alone may explain.")
    )


def evaluation_grid(
    found: dict[str, Evaluation], meanings: dict[str, str], width: int, *, intervals: bool
) -> Grid:
    """Return the table: for every measure a row a ranking; what measures mean where there is room."""
    several = len(found) > 1
    with_meanings = not several or width >= MIN_WIDTH_OF_MEANINGS
    grid = Grid()
    grid.add_column("measure", no_wrap=True)
    if several:
        grid.add_column("scores", overflow="fold")
    grid.add_column("value", justify="right", no_wrap=True)
    if intervals:
        grid.add_column("95 % interval", justify="right", no_wrap=True)
    if with_meanings:
        grid.add_column("meaning")
    for measure in next(iter(found.values())).values:
        if several and grid.row_count:
            grid.add_section()
        for place, (name, (values, ends)) in enumerate(found.items()):
            interval = " to ".join(map(_number, ends[measure])) if measure in ends else "–"
            grid.add_row(
                *[measure if place == 0 else ""],
                *[name] * several,
                _number(values[measure]),
                *[interval] * intervals,
                *[meanings[measure] if place == 0 else ""] * with_meanings,
            )
    return grid


def _significant(value: float) -> float:
    """Return a number without the noise of rounding: 7.0 for 7.000000000000001."""
    return float(f"{value:.12g}")


def _number(value: float) -> str:
    """Return a number with four decimals, but a whole one with none, as far as they show."""
    return f"{round(value, 4) + 0.0:.4f}".removesuffix(".0000")  # plus zero: never -0
