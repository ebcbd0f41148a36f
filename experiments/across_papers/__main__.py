"""Which ranker should I use? Every ranker here and the usual classifiers, on every data set.

    python -m experiments.across_papers            # fits what results.csv lacks, then tables and a picture
    python -m experiments.across_papers --quick    # two small sets, fast models

Random stratified 70/30 splits, the same for all models; larger sets are first cut, by a draw of their own, to
4,000 rows, molecules to 2,000. Columns are standardised on the training part. All models are tuned alike: one
parameter, three values, the best average precision of the same three folds of the training part; the rest is
as it comes. ``TopRankerCV`` chooses for itself, for a quarter of the positives, and ``PNormPushCV`` among
three p and three alpha. Molecules are Morgan fingerprints of radius 2 in 512 bits. Of the graded set rows of
the two highest grades are positive, and its queries are not told apart; ``adult`` is the raw form of
``adult_a9a``. LibAUC's lines are made where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import xgboost
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import LinearSVC

from experiments import protocol
from experiments.across_papers.libauc_losses import INSTALLED, LibAUCLinear
from experiments.choosing_the_push.__main__ import load
from pushrank import AdaBoostRanker, datasets
from pushrank.benchmark import PAPERS, Results, run
from pushrank.benchmark.protocol import MEASURES, Tuned, cut_rows, features_and_labels, paper_methods
from pushrank.benchmark.results import critical_difference

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
BASELINE, LEVEL = "logistic regression", 0.05
HIGHEST_GRADES, MAX_MOLECULES = 3, 2_000
QUICK_SETS = ("ionosphere", "housing")
QUICK_METHODS = (BASELINE, "LinearSVC", "PNormPush", "IRPush", "RankSVM", "LightGBM")


class LightGBM(LGBMClassifier):
    """LightGBM ranked by its scores: a sigmoid ties the highest."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores before the sigmoid."""
        return self.predict(X, raw_score=True)


class XGBoost(xgboost.XGBClassifier):
    """XGBoost ranked by its scores: a sigmoid in single precision ties the highest."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores before the sigmoid."""
        return self.predict(X, output_margin=True)


def graded() -> tuple[Any, np.ndarray]:
    """Return the graded set with two classes."""
    X, grades = datasets.load_dataset("lambdarank_example", return_X_y=True)
    return X, grades >= HIGHEST_GRADES


MOLECULES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "dud cox2": load("dud", target="cox2"),
    "muv 466": load("muv"),
    "chembl 100126": load("chembl"),
    "tox21 NR-AhR": load("tox21", target="NR-AhR"),
}
SETS = [*PAPERS.sets, "lambdarank", *MOLECULES]


@cache
def rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a set as numbers, cut to 4,000 rows, or 2,000 molecules."""
    if name in MOLECULES:
        X, y = cut_rows(*MOLECULES[name](), MAX_MOLECULES)
        return protocol.fingerprints(protocol.molecules(X), 512), y
    return features_and_labels(PAPERS.sets.get(name, graded), PAPERS.max_rows)


def methods() -> dict[str, Tuned]:
    """Return the methods of the papers and others, each with what is chosen of it."""
    one, leaves, rates = {"n_jobs": 1, "random_state": 0}, [7, 15, 31], [0.01, 0.03, 0.1]
    grown = XGBoost(learning_rate=0.1, max_depth=0, grow_policy="lossguide", **one)
    of_libauc = {"AP": ("APLoss", "SOAP"), "pAUC": ("pAUC_DRO_Loss", "SOPAs")}
    libauc = {f"LibAUC, {name}": (LibAUCLinear(*of), "lr", rates) for name, of in of_libauc.items()}
    return {
        **paper_methods(PAPERS),
        "LinearSVC": (LinearSVC(max_iter=300), "C", [0.001, 0.03, 1.0]),
        "HistGradientBoosting": (HistGradientBoostingClassifier(random_state=0), "max_leaf_nodes", leaves),
        "LightGBM": (LightGBM(verbose=-1, **one), "num_leaves", leaves),
        "XGBoost": (grown, "max_leaves", leaves),
        "PushLGBMRanker": (protocol.PushedLightGBM(), "p", [1.0, 4.0, 16.0]),
        "AdaBoostRanker": (AdaBoostRanker(), "n_estimators", [25, 50, 100]),
        **(libauc if INSTALLED else {}),
    }


def fit_all(results: Path, sets: list[str], models: dict[str, Tuned], splits: int) -> None:
    """Fit and measure what the kept results lack, one line for each model and split."""
    kept = pd.read_csv(results) if results.exists() else pd.DataFrame(columns=["set", "split", "model"])
    done = set(kept[["set", "split", "model"]].itertuples(index=False, name=None))
    for split, name in product(range(splits), sets):  # all sets get their first split before a second
        lacking = {model: of for model, of in models.items() if (name, split, model) not in done}
        if lacking:
            by = replace(PAPERS, n_splits=1, seed=split)
            found = run(lacking, {name: rows(name)}, by, peers=()).frame.rename(columns={"method": "model"})
            lines = found[["set", "split", "rows", "positives", "model", *MEASURES, "seconds", "chosen"]]
            protocol.append(results, lines[found["error"] == ""].to_dict("records"))


def means(results: Results, measure: str) -> list[str]:
    """Return the means of a measure with corrected errors, and verdicts against logistic regression."""
    means, errors, table = results.means(measure), results.standard_errors(measure), results.by_split(measure)
    digits = 1 if measure in ("positives at top", "DCG") else 3
    lines = [
        f"{measure}: means over splits ± standard errors corrected for shared rows",
        " " * 21 + "".join(f"{name:>15s}" for name in means),
    ]
    for model in means.index:
        of_sets = zip(means.loc[model], errors.loc[model], strict=True)
        texts = (f"{mean:.{digits}f}" + f" ±{error:.{digits}f}" * (error >= 0.0) for mean, error in of_sets)
        lines.append(f"{model:21s}" + "".join(f"{text:>15s}" for text in texts))
    lines.append(f"above / even with / below {BASELINE}, at 5 %, of {means.shape[1]} sets")
    for model in means.index.drop(BASELINE):
        differences = ((name, table.loc[name, model] - table.loc[name, BASELINE]) for name in means)
        verdicts = [(protocol.verdict(found.to_numpy()), name) for name, found in differences]
        lines.append(f"{model:21s}{protocol.tally(verdicts)}")
    return [*lines, ""]


def order(results: Results, measure: str) -> list[str]:
    """Return the mean ranks by a measure, with tests."""
    ranks, behind = results.mean_ranks(measure), results.tests(measure).set_index("method")["p_holm"]
    reach = critical_difference(*results.ranks(measure).shape)
    return [
        f"{measure}: mean ranks; Friedman p = {results.friedman(measure):.1g}, "
        f"Nemenyi's critical difference {reach:.1f}",
        ", ".join(f"{m} {rank:.1f}" + "*" * bool(behind.get(m, 1.0) <= LEVEL) for m, rank in ranks.items()),
        "",
    ]


def report(kept: pd.DataFrame) -> str:
    """Return the tables as text."""
    results = Results(kept.rename(columns={"model": "method"}), list(MEASURES), PAPERS.test_share)
    splits = kept.groupby("set", sort=False)["split"].nunique()
    lines = ["sets: " + ", ".join(f"{name} ({number} splits)" for name, number in splits.items()), ""]
    lines += [line for measure in MEASURES for line in means(results, measure)]
    test = "Wilcoxon's signed ranks" if len(splits) > 5 else "t-tests over splits"
    lines += [f"*: behind the first by {test} with Holm's correction, at 5 %"]
    lines += [line for measure in MEASURES for line in order(results, measure)]
    seconds = kept.groupby(["model", "set"])["seconds"].median().groupby("model").mean().sort_values()
    listed = ", ".join(f"{model} {value:.2f}" for model, value in seconds.items())
    return "\n".join([*lines, f"processor seconds of choosing and fitting, means over sets: {listed}"])


def draw(kept: pd.DataFrame, path: Path) -> None:
    """Draw mean ranks; Nemenyi's test tells two models apart where their lines do not overlap."""
    results = Results(kept.rename(columns={"model": "method"}), list(MEASURES), PAPERS.test_share)
    figure, grid = plt.subplots(2, 3, figsize=(15, 10), layout="constrained")
    for axes, measure in zip(grid.flat, MEASURES, strict=True):
        mean, n_sets = results.mean_ranks(measure)[::-1], kept["set"].nunique()
        distance = critical_difference(len(mean), n_sets)
        axes.errorbar(mean, mean.index, xerr=distance / 2.0, fmt="o", markersize=4, linewidth=1)
        axes.axvspan(mean.min() - distance / 2.0, mean.min() + distance / 2.0, alpha=0.1)
        axes.set_title(measure)
        axes.set_xlabel(f"mean rank over {n_sets} sets; critical difference {distance:.1f}")
    figure.savefig(path, dpi=80)
    plt.close(figure)


def main() -> None:
    """Fit what is missing, then report and draw."""
    options = protocol.arguments(__doc__, HERE, PAPERS.n_splits)
    sets, models = SETS, methods()
    if options.quick:
        sets, models = list(QUICK_SETS), {name: models[name] for name in QUICK_METHODS}
    fit_all(options.folder / "results.csv", sets, models, options.repeats)
    kept = pd.read_csv(options.folder / "results.csv")
    found = report(kept)
    (options.folder / "results.txt").write_text(f"{protocol.versions()}\n\n{found}\n", encoding="utf-8")
    print(found)
    draw(kept, options.folder / "ranks.png")


if __name__ == "__main__":
    main()
