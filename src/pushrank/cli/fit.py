"""``pushrank fit``: learn to rank from a file and save the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from pushrank.cli import options
from pushrank.cli.columns import LabelledSource, LabelledTable, numbers_in, read_labelled
from pushrank.cli.errors import InputError, in_option_names, refusing, warn
from pushrank.cli.model import (
    MODELS,
    SavedModel,
    fingerprint,
    make_model,
    make_ranking_pipelines,
    models_with,
)
from pushrank.cli.read import TextFormat
from pushrank.cli.screen import fitting
from pushrank.cli.write import MODELS_WRITTEN, check_output, writing
from pushrank.model_selection._fits import model_scores, record_warnings
from pushrank.model_selection._folds import check_classes

N_CALIBRATION_FOLDS = 5
N_INNER_FOLDS = 5  # of the models that choose by cross-validation


def rows_or_share(text: str) -> float:
    """Return a number of rows as an int and a share as a float, as the models tell them apart."""
    return int(text) if text.isdecimal() else float(text)


def fit(
    source: LabelledSource,
    written: TextFormat,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model (.skops).")],
    force: options.Force = False,
    model: Annotated[
        str, typer.Option(help=f"One of: {', '.join(sorted(MODELS))}; or a name that compare prints.")
    ] = "top-ranker-cv",
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many rows you can act on, of as many rows as the data has: top-ranker-cv is chosen for "
            "these.",
        ),
    ] = None,
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
    max_iter: Annotated[int | None, typer.Option(help="The largest number of iterations.")] = None,
    tol: Annotated[float | None, typer.Option(help="How close to the optimum iterations end.")] = None,
    weight: options.Weight = None,
    probability: Annotated[
        bool,
        typer.Option("--probability", help="Calibrate probabilities, too, by five more fits: for score."),
    ] = False,
    seed: options.Seed = 0,
) -> None:
    """Learn to rank from a file and save the model.

    Text columns are one-hot encoded (99 most frequent values; the rest share one column), missing numbers
    take the mean, and numbers are scaled. All of this is saved with the model, so scoring needs nothing else.
    Columns of dates, and of numbers with other marks, are rejected: the message says what to type. You are
    warned about columns that look like identifiers or give the label away: leave them out with --exclude.

    By default the model is a weighted sum of the columns, and cross-validation chooses how to fit it so that
    most of the --budget rows that you can act on are hits (of the first rows, a quarter as many as there are
    hits, where no budget is given).

    With --probability, scores of rows held out in five parts are calibrated by a logistic curve.

    Example: pushrank fit data.csv --label fraud --positive yes --budget 100 -o model.skops
    """
    check_output(output, MODELS_WRITTEN, [source.data], force=force)
    given = {
        "budget": budget,
        "p": p,
        "k": k,
        "C": C,
        "alpha": alpha,
        "bottom_weight": bottom_weight,
        "solver": solver,
    }
    given |= {"weak_rankers": weak_rankers, "n_estimators": n_estimators, "learning_rate": learning_rate}
    ranker = make_model(model, seed, max_iter=max_iter, tol=tol, **given)
    rows = read_labelled(source, written, {"weight": weight})
    n_rare = min(rows.y.sum(), (~rows.y).sum())
    if "cv" in ranker.get_params() and n_rare < N_INNER_FOLDS:
        raise InputError(
            f"--model {model} chooses by cross-validation and needs {N_INNER_FOLDS} rows of each class, and "
            f"one has {n_rare}; take another, such as --model pnorm-push."
        )
    weights = None if weight is None else numbers_in(rows.table, weight, "weight", 0.0)
    pipeline = make_ranking_pipelines(
        {model: ranker}, rows.numeric, rows.categorical, sparse=rows.table.is_sparse, alpha=alpha
    )[model]
    with fitting(model):
        pipeline = fit_pipeline(pipeline, rows, weights)
        saved = saved_model(pipeline, model, rows)
        if probability:
            saved = replace(saved, calibrator=fit_calibrator(pipeline, rows, weights))
    with writing(output):
        saved.save(output)
    if np.ptp(model_scores(pipeline, rows.features)) == 0.0:
        warn(f"{model} gives every row the same score, so it cannot rank: no column tells rows apart.")
    typer.echo(
        f"{model} fitted on {len(rows.y):,} rows ({int(rows.y.sum()):,} with {rows.label_meaning}) using "
        f"{rows.describe_features()}; saved as {output}."
    )


def fit_pipeline(pipeline: Pipeline, rows: LabelledTable, weights: NDArray[np.float64] | None) -> Pipeline:
    """Return a pipeline fitted to labelled rows, and tell what it warns of in the words of options."""
    warned: list[str] = []
    with refusing(), record_warnings(warned):
        fitted = pipeline.fit(rows.features, rows.y, **_weight_of_rank(pipeline, weights))
    for line in warned:
        warn(in_option_names(line))
    return fitted


def _weight_of_rank(pipeline: Pipeline, weights: NDArray[np.float64] | None) -> dict[str, Any]:
    if weights is None:
        return {}
    if not has_fit_parameter(pipeline.named_steps["rank"], "sample_weight"):
        raise InputError("--weight is not for this model; choose another --model.")
    return {"rank__sample_weight": weights}


def fit_calibrator(pipeline: Pipeline, rows: LabelledTable, weights: NDArray[np.float64] | None) -> Pipeline:
    """Return what turns scores into probabilities: Platt's logistic curve through held-out scores."""
    with refusing("--probability: "):
        check_classes(rows.y, N_CALIBRATION_FOLDS)
    method = "decision_function" if hasattr(pipeline, "decision_function") else "predict_proba"
    with record_warnings([]):  # those of the fit to all rows are told
        held_out = cross_val_predict(
            pipeline,
            rows.features,
            rows.y,
            cv=N_CALIBRATION_FOLDS,
            method=method,
            params=_weight_of_rank(pipeline, weights),
        )
    scores = held_out if held_out.ndim == 1 else held_out[:, 1]
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(scores[:, None], rows.y)


def saved_model(pipeline: Pipeline, name: str, rows: LabelledTable) -> SavedModel:
    """Return a fitted pipeline with all that is to be known of the rows that it learnt from."""
    training = {
        "file": rows.table.path.name,
        "rows": len(rows.y),
        "positives": int(rows.y.sum()),
        "fingerprint": fingerprint(rows.features),
    }
    return SavedModel(
        pipeline,
        name,
        rows.label,
        rows.positive,
        rows.numeric,
        rows.categorical,
        rows.table.is_sparse,
        rows.features.shape[1],
        training,
    )
