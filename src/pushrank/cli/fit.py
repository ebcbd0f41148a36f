"""``pushrank fit``: learn to rank from a file and save the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pushrank.cli.errors import check_can_write, writing
from pushrank.cli.labelled import Labelled
from pushrank.cli.models import (
    MODELS,
    fit_quietly,
    make_model,
    make_ranking_pipeline,
)
from pushrank.cli.options import Data, Label, Positive
from pushrank.cli.saved_model import SavedModel


def fit(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model (.skops).")],
    label: Label = None,
    positive: Positive = None,
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
    rows = Labelled.read(data, label, positive)
    sparse = rows.table.is_sparse
    pipeline = make_ranking_pipeline(chosen, rows.numeric, rows.categorical, sparse=sparse, alpha=alpha)
    warned = fit_quietly(pipeline, rows.features, rows.y)
    saved = SavedModel(
        pipeline,
        model,
        rows.label,
        rows.positive,
        rows.numeric,
        rows.categorical,
        sparse,
        rows.features.shape[1],
    )
    with writing(output):
        saved.save(output)
    for line in warned:
        Console(stderr=True, soft_wrap=True).print(f"warning: {line}", markup=False)
    Console(soft_wrap=True).print(
        f"{model} fitted on {len(rows.y):,} rows, {int(rows.y.sum()):,} of them {rows.meaning}; "
        f"saved as {output}.",
        markup=False,
        highlight=False,
    )
