"""What ``pushrank show`` says of a model: noted in its file, so that it is read without loading the model."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from pushrank import StackingRanker
from pushrank.cli.saved import NOTED

MAX_SHOWN = 10
"""Names of columns that are printed; JSON has all."""


def facts_of(saved: Any, written_by: str) -> dict[str, Any]:
    """Return what a model holds as values of JSON, and the lines to print of it by their names."""
    ranker, is_ensemble = saved.ranker, isinstance(saved.ranker, StackingRanker)
    weights, is_linear = weights_by_column(saved, ranker), hasattr(ranker, "coef_") or is_ensemble
    facts = {
        "model": saved.name,
        "pushrank": written_by,
        "parameters": ranker.get_params(deep=False),
        "chosen": getattr(ranker, "best_params_", {"final": ranker.final_} if is_ensemble else {}),
        "candidates": getattr(ranker, "candidates_", []),
        **{name: getattr(saved, name) for name in NOTED},
        "probability": saved.calibrator is not None,
        "alert": None if saved.alert is None else vars(saved.alert),
        "promised": None if saved.reference is None else saved.reference.facts(),
        "weights": weights if is_linear else {},
        "importances": {} if is_linear else weights,
    }
    # Facts are noted in a file as JSON, which holds no arrays and no numbers of numpy.
    facts = json.loads(json.dumps(facts, default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v)))
    return {"facts": facts, "lines": _lines(facts, saved), "is_ensemble": is_ensemble}


def _lines(facts: dict[str, Any], saved: Any) -> dict[str, str]:
    """Return what is printed of a model, by the name of its line; an empty text is not."""
    chosen = {
        name: f"{value:g}" if isinstance(value, float) else value for name, value in facts["chosen"].items()
    }
    ranker = saved.ranker
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
        "alert threshold": saved.alert.sentence() if saved.alert else "",
    }


def weights_by_column(saved: Any, ranker: Any) -> dict[str, float]:
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
