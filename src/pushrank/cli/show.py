"""``pushrank show``: what a saved model holds."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table as Grid
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from pushrank import StackingRanker
from pushrank.cli.alerts import Alert
from pushrank.cli.model import SavedModel
from pushrank.cli.screen import console
from pushrank.persistence import written_by

MAX_SHOWN = 10
"""Weights, and names of columns, that are printed; JSON has all."""


def show(
    model: Annotated[Path, typer.Argument(help="A model that pushrank fit or pushrank.save saved.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all weights.")] = False,
) -> None:
    """Print what a saved model holds: its parameters, what it was fitted on, and its largest weights.

    What cross-validation chose, such as p and alpha of pnorm-push-cv, is among it. Weights are those of a
    linear model, the largest first, of the columns as it sees them: numbers are scaled, so that weights can
    be compared, and a text column is a column for each value. Boosted models have importances in their place,
    an ensemble the weights of its members.

    Example: pushrank show model.skops
    """
    saved = SavedModel.load(model)
    ranker, is_ensemble = saved.ranker, isinstance(saved.ranker, StackingRanker)
    weights, is_linear = weights_by_column(saved, ranker), hasattr(ranker, "coef_") or is_ensemble
    kind, sign = ("weight", "+") if is_linear else ("importance", "")
    facts = {
        "model": saved.name,
        "pushrank": written_by(model.read_bytes()),
        "parameters": ranker.get_params(deep=False),
        "chosen": getattr(ranker, "best_params_", {"final": ranker.final_} if is_ensemble else {}),
        "candidates": getattr(ranker, "candidates_", []),
        "label": saved.label,
        "positive": saved.positive,
        "training": saved.training,
        "numeric": saved.numeric,
        "categorical": saved.categorical,
        "n_features": saved.n_features,
        "probability": saved.calibrator is not None,
        "alert": None if saved.alert is None else vars(saved.alert),
        "promised": None if saved.reference is None else saved.reference.facts(),
        "weights": weights if is_linear else {},
        "importances": {} if is_linear else weights,
    }
    if as_json:
        typer.echo(
            json.dumps(facts, indent=2, default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v))
        )
        return
    screen = console()
    for name, text in _lines(facts, ranker).items():
        if text:
            screen.print(f"{name}: {text}")
    if facts["candidates"]:
        screen.print(_candidates_grid(facts["candidates"]))
    if weights:
        grid = Grid()
        grid.add_column("member" if is_ensemble else "column", overflow="fold")
        grid.add_column(kind, justify="right", no_wrap=True)
        for name, weight in list(weights.items())[:MAX_SHOWN]:
            grid.add_row(name, f"{weight:{sign}.4f}")
        screen.print(grid)
    if len(weights) > MAX_SHOWN:
        screen.print(f"The {MAX_SHOWN} largest of {len(weights):,} {kind}s; --json has all.")


def _lines(facts: dict[str, Any], ranker: Any) -> dict[str, str]:
    """Return what is printed of a model, by the name of its line; an empty text is not."""
    chosen = {
        name: f"{value:g}" if isinstance(value, float) else value for name, value in facts["chosen"].items()
    }
    if isinstance(ranker, StackingRanker):
        # Its members are named below, and each would fill the screen.
        ranker = clone(ranker).set_params(estimators=None)
    columns = [
        f"{len(names):,} {kind} ({', '.join(names[:MAX_SHOWN])}{', ...' * (len(names) > MAX_SHOWN)})"
        for names, kind in ((facts["numeric"], "numeric"), (facts["categorical"], "of text"))
        if names
    ]
    training = "{file}, {rows:,} rows, {positives:,} positive"
    return {
        "model": f"{facts['model']}, written by pushrank {facts['pushrank']}",
        "parameters": " ".join(repr(ranker).split()),
        "chosen": ", ".join(f"{name} = {value}" for name, value in chosen.items()),
        "positive": f"{facts['label']} = {facts['positive']}" if facts["label"] else "",
        "fitted on": training.format_map(facts["training"]) if facts["training"] else "",
        "columns": "; ".join(columns) or f"{facts['n_features']:,} features without names",
        "probabilities": "calibrated" if facts["probability"] else "",
        "promised": facts["promised"]["sentence"] if facts["promised"] else "",
        "alert threshold": Alert(**facts["alert"]).sentence() if facts["alert"] else "",
    }


def _candidates_grid(candidates: list[dict[str, Any]]) -> Grid:
    """Return the table of what a search has chosen among, by rows that it held out."""
    grid = Grid()
    grid.add_column("candidate", overflow="fold")
    for column in ("precision at the budget", "below the best", "average precision"):
        grid.add_column(column, justify="right")
    for found in candidates:
        precision, error = found["precision"], found["standard_error"]
        gap, gap_error = found["below_best"], found["below_best_standard_error"]
        figures = f"{precision:.4f} ± {error:.4f}", f"{gap:.4f} ± {gap_error:.4f}"
        grid.add_row(found["candidate"], *figures, f"{found['average_precision']:.4f}")
    return grid


def weights_by_column(saved: SavedModel, ranker: Any) -> dict[str, float]:
    """Return the weights of a linear model, or what others rest on, by column, the largest first; or none."""
    if isinstance(ranker, StackingRanker):
        return dict(sorted(ranker.weights_.items(), key=lambda pair: -abs(pair[1])))
    coef = getattr(ranker, "coef_", getattr(ranker, "feature_importances_", None))
    if coef is None:
        return {}
    weights = np.ravel(np.asarray(coef, dtype=np.float64))
    names = [str(number) for number in range(1, len(weights) + 1)]
    if not saved.sparse:
        steps = saved.pipeline[:-1] if isinstance(saved.pipeline, Pipeline) else None
        # A step that the user wrote may not name its columns: these keep their numbers.
        with suppress(AttributeError):
            names = saved.numeric if steps is None else steps.get_feature_names_out()
        names = [str(name) for name in names]
        if saved.label:
            # The name of a column, of a gap in it, or of a value of it, without what the steps add.
            names = [
                re.sub("^missingindicator_(.*)", r"\1 missing", name.partition("__")[2]) for name in names
            ]
    return {names[place]: float(weights[place]) for place in np.argsort(-np.abs(weights), kind="stable")}
