"""``pushrank compare``: which model is best at the top of the list?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pushrank.cli.comparison import CHOSEN, Comparison, compare_models, contestants
from pushrank.cli.comparison_table import print_comparison, progress_bar
from pushrank.cli.errors import InputError, check_can_write
from pushrank.cli.labels import label_column, positive_rows
from pushrank.cli.models import column_kinds, make_ranking_pipeline
from pushrank.cli.nested import CHOSEN_PUSH, ChosenModel, choosing_push
from pushrank.cli.tables import check_output_kind, feature_frame, read_table, write_table

POWERS = [4.0, 16.0, 64.0]


def compare(
    data: Annotated[Path, typer.Argument(help="Labelled rows: .csv, .tsv, .parquet or .libsvm.")],
    label: Annotated[str | None, typer.Option(help="The column that holds the label.")] = None,
    positive: Annotated[
        str | None, typer.Option(help="The label to rank at the top; by default the larger of two.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="How many of the rows you can act on: count hits among them.")
    ] = None,
    p: Annotated[list[float] | None, typer.Option(help="A strength of the push; may be repeated.")] = None,
    alpha: Annotated[
        float | None, typer.Option(min=0.0, help="The L2 strength of the rankers; by default 0.1 on tables.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions of the cross-validation.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits.")] = 0,
    nested: Annotated[
        bool,
        typer.Option("--nested", help="Choose p, alpha and the model inside every training part, too."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save every test part's measures here, too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of a table.")] = False,
) -> None:
    """Compare models under the same cross-validation and say which is best at the top.

    Logistic regression, RankBoost's objective, the P-Norm Push at several p and the IR Push see the same
    splits and the same preprocessing. A figure is the mean over the test
    parts with its standard error. With --budget N, models are judged by how many of the N rows acted on are
    hits; else by the precision among the first rows, a quarter as many as there are positives.

    The best of several figures is too good, for it was chosen by the rows it is read from. With --nested,
    a P-Norm Push whose p and alpha are chosen joins, and the last line is what the whole choice achieves on
    rows that had no say in it. It takes about as many times longer as there are folds.

    Example: pushrank compare data.csv --label fraud --budget 100
    """
    if output is not None:
        check_can_write(output)
        check_output_kind(output)
    table = read_table(data)
    column = label_column(table, label)
    y, positive_value = positive_rows(table, column, positive)
    numeric, categorical = column_kinds(table, column)
    X = feature_frame(table, numeric, categorical)
    comparison = run(
        X,
        y,
        numeric,
        categorical,
        p or POWERS,
        alpha=alpha,
        folds=folds,
        repeats=repeats,
        seed=seed,
        budget=budget,
        nested=nested,
    )
    if output is not None:
        write_table(_long_format(comparison), output)
    if as_json:
        typer.echo(json.dumps(_summary(comparison), indent=2))
        return
    print_comparison(
        comparison,
        f"{data.name}: {len(y):,} rows, {int(y.sum()):,} with {column} = {positive_value}; "
        f"{folds}-fold cross-validation" + (f", {repeats} times" if repeats > 1 else ""),
    )


def run(
    X: Any,
    y: NDArray[np.bool_],
    numeric: list[str],
    categorical: list[str],
    ps: list[float],
    *,
    alpha: float | None = None,
    folds: int,
    repeats: int,
    seed: int,
    budget: int | None,
    nested: bool = False,
) -> Comparison:
    """Check the settings against the data, and compare.

    Raises
    ------
    InputError
        When a class has fewer rows than there are folds, p is below 1, or the budget exceeds the rows.
    """
    fewest = int(min(y.sum(), (~y).sum()))
    if fewest < folds:
        raise InputError(
            f"a class has {fewest} rows, fewer than --folds {folds}; choose at most {fewest} folds."
        )
    if any(not 1.0 <= power < np.inf for power in ps):
        raise InputError(f"--p must be finite and at least 1, got {min(ps):g}.")
    if budget is not None and budget > len(y):
        raise InputError(f"--budget {budget} exceeds the {len(y)} rows of the data.")
    sparse = not hasattr(X, "iloc")
    models = contestants(ps, sparse=sparse)

    def make_pipeline(model: BaseEstimator) -> BaseEstimator:
        if isinstance(model, ChosenModel):
            return model
        return make_ranking_pipeline(model, numeric, categorical, sparse=sparse, alpha=alpha)

    if nested:
        left = fewest - -(-fewest // folds)
        if left < folds:
            raise InputError(
                f"a class has {fewest} rows, which leaves {left} to choose by in a training part, fewer than "
                f"--folds {folds}; choose fewer folds or leave out --nested."
            )
        models[CHOSEN_PUSH] = choosing_push(ps, alpha, budget, len(y))
        models[CHOSEN] = ChosenModel(dict(models), make_pipeline, folds, seed, budget, len(y))
    with progress_bar() as bar:
        task = bar.add_task("comparing", total=folds * repeats * len(models))
        return compare_models(
            X,
            y,
            make_pipeline,
            models,
            folds=folds,
            repeats=repeats,
            seed=seed,
            budget=budget,
            progress=lambda: bar.advance(task),
        )


def _long_format(comparison: Comparison) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": model, "measure": measure, "part": part, "value": value}
            for model, measures in comparison.values.items()
            for measure, values in measures.items()
            for part, value in enumerate(values)
        ]
    )


def _summary(comparison: Comparison) -> dict[str, Any]:
    models = {
        model: {
            measure: {
                "mean": comparison.mean(model, measure),
                "standard_error": comparison.standard_error(model, measure),
            }
            for measure in measures
        }
        for model, measures in comparison.values.items()
    }
    summary = {"best": comparison.best(), "criterion": comparison.criterion, "models": models}
    if comparison.optimism is not None:
        difference, error = comparison.optimism
        summary["optimism"] = {"mean": difference, "standard_error": error}
    return summary
