"""``pushrank fit``: learn to rank from a file and save the model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank.cli import options
from pushrank.cli.errors import InputError, refusing, say, warn
from pushrank.cli.features import FeatureSource, LabelledFeatures, read_features
from pushrank.cli.model import (
    MODELS,
    N_INNER_FOLDS,
    SavedModel,
    fit_parameters,
    fit_pipeline,
    make_model,
    make_ranking_pipelines,
    models_with,
)
from pushrank.cli.options import option
from pushrank.cli.screen import fitting
from pushrank.cli.table import TextFormat
from pushrank.cli.write import MODELS_WRITTEN, check_output
from pushrank.model_selection._fits import model_scores, record_warnings
from pushrank.model_selection._folds import check_classes

N_CALIBRATION_FOLDS = 5


def rows_or_share(text: str) -> float:
    """Return a number of rows as an int and a share as a float, which models take for different things."""
    return int(text) if text.isdecimal() else float(text)


def option_of_models(name: str, text: str, *names: str, **more: Any) -> Any:
    """Return an option whose help names the models that have it."""
    return option(f"{text}, for {models_with(name)}.", *names, **more)


@dataclass(frozen=True)
class FitConfig:
    """What is fitted, with what in place of a model's own defaults, and where it is saved."""

    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model (.skops).")]
    force: options.Force = False
    model: Annotated[
        str, typer.Option(help=f"One of: {', '.join(sorted(MODELS))}; or a name that compare prints.")
    ] = "top-ranker-cv"
    budget: int | None = option(
        "How many rows you can act on, of as many rows as the data has: top-ranker-cv is chosen for these.",
        min=1,
    )
    p: float | None = option_of_models("p", "The strength of the push, at least 1")
    k: float | None = option_of_models(
        "k",
        "The top: a number of rows (1, 2, ...) or a share of the positives (0.25, 1.0)",
        parser=rows_or_share,
        metavar="K",
    )
    alpha: float | None = option_of_models(
        "alpha", "The L2 strength, at least 0, by default 0.1 on the standardised columns of a table"
    )
    C: float | None = option_of_models("C", "The weight of the loss, positive", "--C")
    bottom_weight: float | None = option_of_models("bottom_weight", "The weight of the bottom")
    solver: str | None = option(
        "lbfgs, newton-cg, coordinate or another solver of the model; by default the one that the other "
        f"options need. For {models_with('solver')}."
    )
    weak_rankers: str | None = option("What to boost: columns, stumps or regressors.")
    n_estimators: int | None = option("The number of boosting rounds.")
    learning_rate: float | None = option("The factor of each boosting step, in (0, 1].")
    max_iter: int | None = option("The largest number of iterations.")
    tol: float | None = option("How close to the optimum iterations end.")
    weight: options.Weight = None
    time: str | None = option(
        "A column of numbers or ISO dates: a model that chooses by cross-validation tests on what comes next."
    )
    probability: bool = option(
        "Calibrate probabilities, too, by five more fits: for score.", "--probability", default=False
    )
    seed: options.Seed = 0

    def ranker(self) -> BaseEstimator:
        """Return the model, with the options that are its parameters."""
        others = {"output", "force", "model", "weight", "time", "probability", "seed"}
        parameters = {name: value for name, value in vars(self).items() if name not in others}
        return make_model(self.model, self.seed, **parameters)


def fit(source: FeatureSource, text_format: TextFormat, config: FitConfig) -> None:
    """Learn to rank from a file and save the model.

    Text columns are one-hot encoded (99 most frequent values; the rest share one column), missing numbers
    take the mean, and numbers are scaled. All of this is saved with the model, so scoring needs nothing else.
    Columns of numbers with other marks are rejected: the message says what to type. Columns of dates are left
    out unless --date makes numbers of them. You are warned about columns that look like identifiers or give
    the label away: leave them out with --exclude.

    By default the model is a weighted sum of the columns, and cross-validation chooses how to fit it so that
    most of the --budget rows that you can act on are hits (of the first rows, a quarter as many as there are
    hits, where no budget is given).

    With --probability, scores of rows held out in five parts are calibrated by a logistic curve.

    Example: pushrank fit data.csv --label fraud --positive yes --budget 100 -o model.skops
    """
    check_output(config.output, MODELS_WRITTEN, [source.data], force=config.force)
    name, ranker = config.model, config.ranker()
    rows = read_features(source, text_format, weight=config.weight, time=config.time)
    n_rare = min(rows.y.sum(), (~rows.y).sum())
    if "cv" in ranker.get_params() and n_rare < N_INNER_FOLDS:
        raise InputError(
            f"--model {name} chooses by cross-validation and needs {N_INNER_FOLDS} rows of each class, and "
            f"one has {n_rare}; take another, such as --model pnorm-push."
        )
    sparse = rows.table.is_sparse
    pipelines = make_ranking_pipelines(
        {name: ranker}, rows.numeric, rows.categorical, sparse=sparse, alpha=config.alpha
    )
    with fitting(name):
        pipeline = fit_pipeline(pipelines[name], rows)
        calibrator = fit_calibrator(pipeline, rows) if config.probability else None
        saved = SavedModel.from_fit(pipeline, name, rows, calibrator)
    saved.save(config.output)
    if np.ptp(model_scores(pipeline, rows.features)) == 0.0:
        warn(f"{name} gives every row the same score, so it cannot rank: no column tells rows apart.")
    say(
        f"{name} fitted on {len(rows.y):,} rows ({int(rows.y.sum()):,} with {rows.label_meaning}) using "
        f"{rows.describe_features()}; saved as {config.output}."
    )


def fit_calibrator(pipeline: Pipeline, rows: LabelledFeatures) -> Pipeline:
    """Return what turns scores into probabilities: Platt's logistic curve through held-out scores."""
    with refusing("--probability: "):
        check_classes(rows.y, N_CALIBRATION_FOLDS)
    method = "decision_function" if hasattr(pipeline, "decision_function") else "predict_proba"
    # The fit to all rows has printed the warnings already.
    with record_warnings([]):
        given = {"method": method, "params": fit_parameters(pipeline, rows)}
        held_out = cross_val_predict(pipeline, rows.features, rows.y, cv=N_CALIBRATION_FOLDS, **given)
    scores = held_out if held_out.ndim == 1 else held_out[:, 1]
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(scores[:, None], rows.y)
