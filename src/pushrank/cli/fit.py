"""``pushrank fit``: learn to rank from a file and save the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushrank.cli import options
from pushrank.cli.columns import LabelledSource, read_labelled
from pushrank.cli.errors import InputError, warn
from pushrank.cli.model import (
    MODELS,
    SavedModel,
    make_model,
    make_preprocessor,
    make_ranking_pipeline,
    models_with,
)
from pushrank.cli.read import TextFormat
from pushrank.cli.write import MODELS_WRITTEN, check_output, writing
from pushrank.model_selection import record_warnings


def rows_or_share(text: str) -> float:
    """Return a number of rows as an int and a share as a float, as the models tell them apart."""
    return int(text) if text.isdecimal() else float(text)


def fit(
    source: LabelledSource,
    written: TextFormat,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model (.skops).")],
    force: options.Force = False,
    model: Annotated[str, typer.Option(help=f"One of: {', '.join(sorted(MODELS))}.")] = "pnorm-push",
    p: Annotated[
        float | None, typer.Option(help=f"The strength of the push, at least 1, for {models_with('p')}.")
    ] = None,
    k: Annotated[
        float | None,
        typer.Option(
            parser=rows_or_share,
            metavar="K",
            help="The top: a number of rows (1, 2, ...) or a share of the positives (0.25, 1.0), "
            f"for {models_with('k')}.",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="The L2 strength, at least 0, by default 0.1 on the standardised columns of a table, "
            f"for {models_with('alpha')}."
        ),
    ] = None,
    C: Annotated[
        float | None, typer.Option("--C", help=f"The weight of the loss, positive, for {models_with('C')}.")
    ] = None,
    bottom_weight: Annotated[
        float | None, typer.Option(help=f"The weight of the bottom, for {models_with('bottom_weight')}.")
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help="lbfgs, newton-cg, coordinate or another solver of the model; by default the one that the "
            f"other options need. For {models_with('solver')}."
        ),
    ] = None,
    weak_rankers: Annotated[
        str | None, typer.Option(help="What to boost: columns, stumps or regressors.")
    ] = None,
    n_estimators: Annotated[int | None, typer.Option(help="The number of boosting rounds.")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="The factor of each boosting step, in (0, 1].")
    ] = None,
    seed: options.Seed = 0,
) -> None:
    """Learn to rank from a file and save the model.

    Text columns are one-hot encoded (99 most frequent values; the rest share one column), missing values are
    filled in and numbers are scaled. All of this is saved with the model, so scoring needs nothing else.
    Columns of dates, and of numbers with other marks, are rejected: the message says what to type. You are
    warned about columns that look like identifiers or give the label away: leave them out with --exclude.

    Example: pushrank fit data.csv --label fraud --positive yes --p 8 -o model.skops
    """
    check_output(output, MODELS_WRITTEN, [source.data], force=force)
    boosting = {"weak_rankers": weak_rankers, "n_estimators": n_estimators, "learning_rate": learning_rate}
    ranker = make_model(
        model, seed, p=p, k=k, C=C, alpha=alpha, bottom_weight=bottom_weight, solver=solver, **boosting
    )
    rows = read_labelled(source, written)
    sparse, n_features = rows.table.is_sparse, rows.features.shape[1]
    preprocessor = make_preprocessor(rows.numeric, rows.categorical, sparse=sparse)
    pipeline = make_ranking_pipeline(ranker, preprocessor, sparse=sparse, alpha=alpha)
    warned: list[str] = []
    try:
        with record_warnings(warned):
            pipeline.fit(rows.features, rows.y)
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from error
    saved = SavedModel(
        pipeline, model, rows.label, rows.positive, rows.numeric, rows.categorical, sparse, n_features
    )
    with writing(output):
        saved.save(output)
    for line in warned:
        warn(line)
    typer.echo(
        f"{model} fitted on {len(rows.y):,} rows ({int(rows.y.sum()):,} with {rows.label_meaning}) using "
        f"{rows.describe_features()}; saved as {output}."
    )
