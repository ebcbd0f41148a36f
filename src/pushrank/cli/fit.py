"""``pushrank fit``: learn to rank from a file and save the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pushrank.cli.errors import check_can_write, writing
from pushrank.cli.labels import label_column, positive_rows
from pushrank.cli.models import (
    MODELS,
    column_kinds,
    fit_quietly,
    make_model,
    make_ranking_pipeline,
)
from pushrank.cli.saved_model import SavedModel
from pushrank.cli.tables import feature_frame, read_table


def fit(
    data: Annotated[Path, typer.Argument(help="Rows to learn from: .csv, .tsv, .parquet or .libsvm.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model (.skops).")],
    label: Annotated[str | None, typer.Option(help="The column that holds the label.")] = None,
    positive: Annotated[
        str | None, typer.Option(help="The label to rank at the top; by default the larger of two.")
    ] = None,
    model: Annotated[str, typer.Option(help=f"One of: {', '.join(sorted(MODELS))}.")] = "pnorm-push",
    p: Annotated[float | None, typer.Option(help="The strength of the push, at least 1.")] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="The L2 strength, at least 0; by default 0.1 on the standardised columns of a table."
        ),
    ] = None,
    C: Annotated[
        float | None, typer.Option("--C", help="The weight of the loss, positive, for infinite-push.")
    ] = None,
    bottom_weight: Annotated[
        float | None, typer.Option(help="The weight of the bottom, for top-bottom-push.")
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(help="lbfgs, newton-cg or coordinate; by default what the other options need."),
    ] = None,
    weak_rankers: Annotated[
        str | None, typer.Option(help="What to boost: columns, stumps or regressors.")
    ] = None,
    max_rounds: Annotated[int | None, typer.Option(help="The number of boosting rounds.")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="The part of each boosting step that is taken, in (0, 1].")
    ] = None,
) -> None:
    """Learn to rank from a file and save the model.

    Text columns are one-hot encoded, missing values imputed and numbers scaled; all of that is saved with
    the model, so that scoring needs nothing else.

    Example: pushrank fit data.csv --label fraud --positive yes --p 8 -o model.skops
    """
    check_can_write(output)
    boosting = {"weak_rankers": weak_rankers, "max_rounds": max_rounds, "learning_rate": learning_rate}
    chosen = make_model(model, p=p, C=C, alpha=alpha, bottom_weight=bottom_weight, solver=solver, **boosting)
    table = read_table(data)
    column = label_column(table, label)
    y, positive_value = positive_rows(table, column, positive)
    numeric, categorical = column_kinds(table, column)
    features = feature_frame(table, numeric, categorical)
    pipeline = make_ranking_pipeline(chosen, numeric, categorical, sparse=table.is_sparse, alpha=alpha)
    warned = fit_quietly(pipeline, features, y)
    saved = SavedModel(
        pipeline, model, column, positive_value, numeric, categorical, table.is_sparse, features.shape[1]
    )
    with writing(output):
        saved.save(output)
    for line in warned:
        Console(stderr=True, soft_wrap=True).print(f"warning: {line}", markup=False)
    Console(soft_wrap=True).print(
        f"{model} fitted on {len(table):,} rows, {int(y.sum()):,} of them {column} = {positive_value}; "
        f"saved as {output}.",
        markup=False,
        highlight=False,
    )
