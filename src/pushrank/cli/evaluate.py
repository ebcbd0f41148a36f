"""``pushrank evaluate``: measure a saved model on labelled rows, with 95 % intervals."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table as Grid

from pushrank import metrics
from pushrank.cli import options
from pushrank.cli.columns import feature_frame, label_column, labelled_rows
from pushrank.cli.errors import InputError, warn
from pushrank.cli.model import SavedModel, fingerprint
from pushrank.cli.read import TextFormat
from pushrank.metrics._bootstrap import default_n_resamples
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.intervals import ranking_intervals

CONFIDENCE_LEVEL = 0.95

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


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model that pushrank fit saved.")],
    data: Annotated[Path, typer.Argument(help="Labelled rows that the model has not seen.")],
    written: TextFormat,
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

    The first four measures count hits in the first N rows of --budget N, by default a quarter as many as
    there are positives. Ties count as their expected value.

    The intervals come from the bootstrap (BCa) and assume independent rows: if rows come in clusters, such as
    the visits of one patient, they are too narrow. Where all or none of the first rows are hits, the interval
    is that of Clopper and Pearson. The number of positives at the top has no interval, because resampling
    says nothing about an extreme; nor has a measure that no resample changes. With a million rows the
    intervals take from some seconds to a minute; --no-intervals leaves them out.

    --json prints all figures, not rounded.

    Example: pushrank evaluate model.skops test.csv --budget 100
    """
    saved = SavedModel.load(model)
    table = saved.read(data, written)
    column = label_column(table, label or saved.label or None)
    table, y, _ = labelled_rows(table, column, positive or saved.positive, drop_unlabelled=drop_unlabelled)
    if budget is not None and budget > len(y):
        raise InputError(f"--budget {budget} exceeds the {len(y)} rows of the data.")
    scores, n_positive = saved.scores(table), int(y.sum())
    features = feature_frame(table, saved.numeric, saved.categorical)
    if saved.training.get("fingerprint") == fingerprint(features):
        warn(f"{saved.name} was fitted to these very rows: measures of rows that it has seen flatter it.")
    depth = budget or max(1, round(n_positive / 4))
    measures = measures_at(depth)
    estimates = {function: function(y, scores) for _, function, _ in measures.values()}
    values = {name: factor * estimates[function] for name, (_, function, factor) in measures.items()}
    every_value = metrics.top_of_list(y, scores)
    other_values = {name: every_value[name] for name in OTHER_MEANINGS}
    n_resamples = default_n_resamples(len(y))
    ends = find_intervals(Ranking(y, scores), measures, n_resamples, seed) if intervals else {}
    if as_json:
        summary: dict[str, Any] = {"rows": len(y), "positives": n_positive, "budget": depth}
        for name, value in {**values, **other_values}.items():
            # an error of zero has no logarithm, and JSON has no infinities
            summary[name] = value if value > float("-inf") else None
        if intervals:
            summary |= {"confidence_level": CONFIDENCE_LEVEL, "n_resamples": n_resamples}
            summary["intervals"] = {name: {"low": low, "high": high} for name, (low, high) in ends.items()}
        typer.echo(json.dumps(summary, indent=2))
        return
    grid = Grid(title=f"{saved.name} on {data.name}: {len(y):,} rows, {n_positive:,} positive")
    grid.add_column("measure")
    grid.add_column("value", justify="right")
    if intervals:
        grid.add_column("95 % interval", justify="right")
    grid.add_column("meaning")
    meanings = {name: measure.meaning for name, measure in measures.items()} | OTHER_MEANINGS
    for name, value in (values | other_values if every else values).items():
        interval = " to ".join(map(_number, ends[name])) if name in ends else "–"
        grid.add_row(name, _number(value), *[interval] * intervals, meanings[name])
    console = Console(width=None if Console().is_terminal else 140)
    console.print(grid)
    if intervals:
        console.print("Intervals take the rows to be independent of each other.", highlight=False)


def _number(value: float) -> str:
    """Return a number with four decimals, but a whole one with none, as far as they show."""
    return f"{value:.4f}".removesuffix(".0000")
