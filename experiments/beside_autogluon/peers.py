"""Fit or score AutoGluon or CatBoost; run by Python of an environment that has them, not pushrank.

python peers.py fit autogluon train.parquet models --limit 600
python peers.py score autogluon models/bagged test.parquet scores.parquet
"""

from __future__ import annotations

import time

START = time.perf_counter()  # before the imports, which are part of a fit

import argparse  # noqa: E402
import json  # noqa: E402
import resource  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import pandas as pd  # noqa: E402

LABEL, TIME = "label", "when"
ONE_CORE = {"ag_args_ensemble": {"fold_fitting_strategy": "sequential_local"}, "num_cpus": 1, "num_gpus": 0}


def rows(path: Path) -> pd.DataFrame:
    """Return the rows of a file without the column of time."""
    return pd.read_parquet(path).drop(columns=TIME, errors="ignore")


def spent() -> dict[str, float]:
    """Return the processor seconds of this process and its children until now, and those on the clock."""
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(each.ru_utime + each.ru_stime for each in used)
    return {"seconds": seconds, "wall": time.perf_counter() - START}


def fit_autogluon(train: pd.DataFrame, models: Path, limit: float) -> dict[str, dict[str, float]]:
    """Fit what good_quality fits, and keep what scores need, before its refit and after it.

    The preset refits in one call and throws the bagged models away; here it is two, to know what each costs.
    """
    from autogluon.tabular import TabularPredictor

    with tempfile.TemporaryDirectory(dir=models) as folder:
        predictor = TabularPredictor(LABEL, eval_metric="average_precision", path=folder, verbosity=0)
        predictor.fit(
            train,
            presets="good_quality",
            time_limit=limit,
            ds_args={"memory_safe_fits": False},
            refit_full=False,
            set_best_to_refit_full=False,
            save_bag_folds=True,
            **ONE_CORE,
        )
        bagged, costs = predictor.model_best, {"bagged": spent()}
        predictor.refit_full(set_best_to_refit_full=bagged, num_cpus=1, num_gpus=0)
        costs["refit"] = spent()
        refit = predictor.model_refit_map()[bagged]
        for name, model in (("bagged", bagged), ("refit", refit)):
            predictor.clone_for_deployment(str(models / name), model=model)
    return costs


def texts_filled(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return rows and the names of text columns; CatBoost takes missing numbers, but no missing texts."""
    texts = list(frame.select_dtypes(exclude=["number", "bool"]).columns)
    return frame.fillna(dict.fromkeys(texts, "missing")), texts


def fit_catboost(train: pd.DataFrame, models: Path) -> dict[str, dict[str, float]]:
    """Fit CatBoost with its defaults and categories as they are."""
    from catboost import CatBoostClassifier

    X, texts = texts_filled(train.drop(columns=LABEL))
    model = CatBoostClassifier(thread_count=1, verbose=False, allow_writing_files=False, cat_features=texts)
    model.fit(X, train[LABEL]).save_model(str(models / "model.cbm"))
    return {"": spent()}


def score(program: str, model: Path, test: pd.DataFrame) -> Any:
    """Return the scores of rows by a saved model."""
    if program == "catboost":
        from catboost import CatBoostClassifier

        return (
            CatBoostClassifier()
            .load_model(str(model))
            .predict(texts_filled(test)[0], prediction_type="RawFormulaVal", thread_count=1)
        )
    from autogluon.tabular import TabularPredictor

    return TabularPredictor.load(str(model), verbosity=0).predict_proba(test)[1].to_numpy()


def main() -> None:
    """Fit or score."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    for step, paths in (("fit", ("train", "models")), ("score", ("model", "test", "scores"))):
        sub = steps.add_parser(step)
        sub.add_argument("program", choices=["autogluon", "catboost"])
        for path in paths:
            sub.add_argument(path, type=Path)
        sub.add_argument("--limit", type=float, help="of AutoGluon's fit, in seconds")
    arguments = parser.parse_args()
    if arguments.step == "score":
        scores = score(arguments.program, arguments.model, rows(arguments.test))
        pd.DataFrame({"score": scores}).to_parquet(arguments.scores)
        return
    arguments.models.mkdir()
    train = rows(arguments.train)
    if arguments.program == "catboost":
        costs = fit_catboost(train, arguments.models)
    else:
        costs = fit_autogluon(train, arguments.models, arguments.limit)
    (arguments.models / "costs.json").write_text(json.dumps(costs), encoding="utf-8")


if __name__ == "__main__":
    main()
