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

import time
import warnings
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import xgboost
from lightgbm import LGBMClassifier
from scipy.optimize import brentq
from scipy.stats import friedmanchisquare, norm, wilcoxon
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from experiments import protocol
from experiments.across_papers.libauc_losses import INSTALLED, LibAUCLinear
from experiments.choosing_the_push.__main__ import SETS as TABLES
from experiments.choosing_the_push.__main__ import load
from experiments.protocol import Method
from pushrank import (
    SVMMAP,
    AdaBoostRanker,
    InfinitePush,
    IRPush,
    PerceptronAtK,
    PNormPush,
    PNormPushCV,
    PushBoost,
    RampAtK,
    RankBoost,
    RankSVM,
    SGDAtK,
    SmoothMarginRanking,
    StructSVM,
    TopRankerCV,
    TrimmedPush,
    datasets,
    metrics,
)
from pushrank.interop.lightgbm import PushLGBMRanker

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
BASELINE, FOLDS, LEVEL = "logistic regression", 3, 0.05
CRITERION, AP = "AP", "average_precision"
HIGHEST_GRADES, MAX_ROWS, MAX_MOLECULES, N_SPLITS = 3, 4_000, 2_000, 5
MEASURES: dict[str, Callable[..., float]] = {
    "positives at top": metrics.positives_at_top,
    "precision at 1 %": lambda y, scores: metrics.precision_at_k(y, scores, fraction=0.01),
    "precision at n+/4": lambda y, scores: metrics.precision_at_k(y, scores, fraction_of_positives=0.25),
    **{name: protocol.MEASURES[name] for name in ("AP", "AUC", "DCG")},
}
NODES = np.linspace(-10.0, 10.0, 2001)
QUICK_SETS = ("ionosphere", "housing")
QUICK_METHODS = (BASELINE, "LinearSVC", "PNormPush", "IRPush", "RankSVM", "LightGBM")


class OfRamp(Method):
    """The ramp's path is over k and C; here C alone is chosen."""

    def fits(self, X: Any, y: Any, values: Any) -> list[Any]:
        """Return a fitted model for each C."""
        return self.model.path(X, y, [self.model.k], values)


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
SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    **{name: TABLES[name] for name in TABLES if "relabelled" not in name and "hidden" not in name},
    "lambdarank": graded,
    **MOLECULES,
}


@cache
def rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a set as numbers, cut to 4,000 rows, or 2,000 molecules."""
    X, y = protocol.cut_rows(SETS[name], MAX_MOLECULES if name in MOLECULES else MAX_ROWS)
    if name in MOLECULES:
        return protocol.fingerprints(protocol.molecules(X), 512), y
    X = pd.get_dummies(X) if hasattr(X, "iloc") else X
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float), y


def methods() -> list[Method]:
    """Return all models, each with what is chosen of it."""
    one, boosted = {"n_jobs": 1, "random_state": 0}, {"n_estimators": 100, "weak_rankers": "stumps"}
    rounds = ("n_estimators", [25, 50, 100])
    strengths, ks, leaves = [1.0, 10.0, 100.0], [0.25, 0.5, 1.0], [7, 15, 31]
    ps, alphas = [1.0, 4.0, 16.0], [1.0, 0.1, 0.01]
    found = [
        Method(BASELINE, LogisticRegression(max_iter=300), "C", [0.01, 1.0, 100.0]),
        Method("LinearSVC", LinearSVC(max_iter=300), "C", [0.001, 0.03, 1.0]),
        Method(
            "HistGradientBoosting", HistGradientBoostingClassifier(random_state=0), "max_leaf_nodes", leaves
        ),
        Method("LightGBM", LGBMClassifier(verbose=-1, **one), "num_leaves", leaves),
        Method(
            "XGBoost",
            xgboost.XGBClassifier(learning_rate=0.1, max_depth=0, grow_policy="lossguide", **one),
            "max_leaves",
            leaves,
        ),
        Method("PushLGBMRanker", PushLGBMRanker(n_jobs=1, random_state=0), "p", ps),
        Method("PNormPush", PNormPush(alpha=0.01), "p", ps),
        Method("PNormPush(4)", PNormPush(4.0), "alpha", alphas),
        Method("PNormPushCV", PNormPushCV(ps, alphas=alphas, scoring=AP, cv=FOLDS), "scoring", [AP]),
        Method("IRPush", IRPush(), "alpha", [0.1, 0.01, 0.001]),
        Method("PushBoost", PushBoost(**boosted), "p", ps),
        Method("RankBoost", RankBoost(), *rounds),
        Method("AdaBoostRanker", AdaBoostRanker(), *rounds),
        Method("SmoothMarginRanking", SmoothMarginRanking("warn"), *rounds),
        Method("InfinitePush", InfinitePush(), "C", strengths),
        Method("RankSVM", RankSVM(), "C", strengths),
        Method("SVMMAP", SVMMAP(), "C", strengths),
        Method("StructSVM, prbep", StructSVM(measure="prbep"), "C", strengths),
        OfRamp("RampAtK", RampAtK(random_state=0), "C", strengths),
        Method("TrimmedPush", TrimmedPush(), "k", ks),
        Method("PerceptronAtK", PerceptronAtK(random_state=0), "k", ks),
        Method("SGDAtK", SGDAtK(random_state=0), "k", ks),
        Method("TopRankerCV", TopRankerCV(cv=FOLDS, random_state=0), "fraction_of_positives", [0.25]),
    ]
    if INSTALLED:
        rates = [0.01, 0.03, 0.1]
        found += [
            Method("LibAUC, AP", LibAUCLinear("APLoss", "SOAP"), "lr", rates),
            Method("LibAUC, pAUC", LibAUCLinear("pAUC_DRO_Loss", "SOPAs"), "lr", rates),
        ]
    return found


def fit_all(results: Path, sets: list[str], models: list[Method], splits: int) -> None:
    """Fit and measure what the kept results lack, one line for each model and split."""
    kept = pd.read_csv(results) if results.exists() else pd.DataFrame(columns=["set", "split", "model"])
    done = set(kept[["set", "split", "model"]].itertuples(index=False, name=None))
    for split, name in product(range(splits), sets):  # all sets get their first split before a second
        lacking = [method for method in models if (name, split, method.name) not in done]
        if not lacking:
            continue
        X, y = rows(name)
        train, test = train_test_split(
            np.arange(len(y)), test_size=protocol.TEST_SHARE, stratify=y, random_state=split
        )
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=split)
        scaler = StandardScaler().fit(X[train])
        for method in lacking:
            with warnings.catch_warnings(), threadpool_limits(limits=1):
                warnings.simplefilter("ignore")  # of an optimum not reached in as many steps as it comes with
                start = time.process_time()
                value = method.grid[0]
                if len(method.grid) > 1:
                    (value,) = protocol.chosen(method, X[train], y[train], scaler, folds, [CRITERION])
                (model,) = method.fits(scaler.transform(X[train]), y[train], [value])
                seconds = time.process_time() - start
                scores = protocol.decision_scores(model, scaler.transform(X[test]))
            found = {measure: of(y[test], scores) for measure, of in MEASURES.items()}
            line = {"set": name, "split": split, "rows": len(y), "positives": int(y.sum())}
            line |= {"model": method.name, **found, "seconds": seconds, "chosen": value}
            protocol.append(results, [line])


def ranks(kept: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the ranks of the models, 1 the best, on each set by the mean over its splits."""
    means = kept.pivot_table(index="set", columns="model", values=measure).dropna(axis="columns")
    return means.rank(axis="columns", ascending=False)


@cache
def critical_difference(n_models: int, n_sets: int) -> float:
    """Return by how much mean ranks must differ, by Nemenyi's test.

    Demsar, *Statistical comparisons of classifiers over multiple data sets*, JMLR 7 (2006), section 3.2.2.
    """

    def excess(width: float) -> float:  # of the range of normals; scipy's studentized_range takes minutes
        inside = (norm.cdf(NODES) - norm.cdf(NODES - width)) ** (n_models - 1)
        return n_models * np.trapezoid(norm.pdf(NODES) * inside, NODES) - 1.0 + LEVEL

    quantile = brentq(excess, 0.1, 20.0) / np.sqrt(2.0)
    return float(quantile * np.sqrt(n_models * (n_models + 1) / (6.0 * n_sets)))


def holm(p_values: pd.Series) -> pd.Series:
    """Return p-values corrected for their number by Holm's steps."""
    ordered = p_values.sort_values()
    return (ordered * np.arange(len(ordered), 0, -1)).cummax().clip(upper=1.0)


def means(kept: pd.DataFrame, measure: str) -> list[str]:
    """Return the means of a measure with corrected errors, and verdicts against logistic regression."""
    table = kept.pivot_table(index=["set", "split"], columns="model", values=measure)
    sets, models = list(dict.fromkeys(kept["set"])), list(dict.fromkeys(kept["model"]))
    digits = 1 if measure in ("positives at top", "DCG") else 3
    lines = [
        f"{measure}: means over splits ± standard errors corrected for shared rows",
        " " * 21 + "".join(f"{name:>15s}" for name in sets),
    ]
    for model in models:
        cells = [table.loc[name, model].dropna().to_numpy() for name in sets]
        errors = (f" ±{protocol.corrected_error(cell):.{digits}f}" if len(cell) > 1 else "" for cell in cells)
        texts = (f"{cell.mean():.{digits}f}{error}" for cell, error in zip(cells, errors, strict=True))
        lines.append(f"{model:21s}" + "".join(f"{text:>15s}" for text in texts))
    lines.append(f"above / even with / below {BASELINE}, at 5 %, of {len(sets)} sets")
    for model in [model for model in models if model != BASELINE]:
        differences = ((name, table.loc[name, model] - table.loc[name, BASELINE]) for name in sets)
        verdicts = [(protocol.verdict(found.dropna().to_numpy()), name) for name, found in differences]
        lines.append(f"{model:21s}{protocol.tally(verdicts)}")
    return [*lines, ""]


def order(kept: pd.DataFrame, measure: str) -> list[str]:
    """Return the mean ranks by a measure, with tests."""
    found = ranks(kept, measure)
    mean = found.mean().sort_values()
    first, *others = mean.index
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of too few sets in a quick run
        p_values = {
            other: wilcoxon(found[first], found[other], method="asymptotic").pvalue for other in others
        }
        friedman = friedmanchisquare(*found.to_numpy().T).pvalue
    behind = holm(pd.Series(p_values))
    return [
        f"{measure}: mean ranks; Friedman p = {friedman:.1g}, "
        f"Nemenyi's critical difference {critical_difference(len(mean), len(found)):.1f}",
        ", ".join(f"{m} {rank:.1f}" + "*" * bool(behind.get(m, 1.0) <= LEVEL) for m, rank in mean.items()),
        "",
    ]


def report(kept: pd.DataFrame) -> str:
    """Return the tables as text."""
    splits = kept.groupby("set", sort=False)["split"].nunique()
    lines = ["sets: " + ", ".join(f"{name} ({number} splits)" for name, number in splits.items()), ""]
    lines += [line for measure in MEASURES for line in means(kept, measure)]
    lines += ["*: behind the first by Wilcoxon's signed ranks with Holm's correction, at 5 %"]
    lines += [line for measure in MEASURES for line in order(kept, measure)]
    seconds = kept.groupby(["model", "set"])["seconds"].median().groupby("model").mean().sort_values()
    listed = ", ".join(f"{model} {value:.2f}" for model, value in seconds.items())
    return "\n".join([*lines, f"processor seconds of choosing and fitting, means over sets: {listed}"])


def draw(kept: pd.DataFrame, path: Path) -> None:
    """Draw mean ranks; Nemenyi's test tells two models apart where their lines do not overlap."""
    figure, grid = plt.subplots(2, 3, figsize=(15, 10), layout="constrained")
    for axes, measure in zip(grid.flat, MEASURES, strict=True):
        found = ranks(kept, measure)
        mean = found.mean().sort_values(ascending=False)
        distance = critical_difference(len(mean), len(found))
        axes.errorbar(mean, mean.index, xerr=distance / 2.0, fmt="o", markersize=4, linewidth=1)
        axes.axvspan(mean.min() - distance / 2.0, mean.min() + distance / 2.0, alpha=0.1)
        axes.set_title(measure)
        axes.set_xlabel(f"mean rank over {len(found)} sets; critical difference {distance:.1f}")
    figure.savefig(path, dpi=80)
    plt.close(figure)


def main() -> None:
    """Fit what is missing, then report and draw."""
    options = protocol.arguments(__doc__, HERE, N_SPLITS)
    sets, models = list(SETS), methods()
    if options.quick:
        sets, models = list(QUICK_SETS), [method for method in models if method.name in QUICK_METHODS]
    fit_all(options.folder / "results.csv", sets, models, options.repeats)
    kept = pd.read_csv(options.folder / "results.csv")
    found = report(kept)
    (options.folder / "results.txt").write_text(f"{protocol.versions()}\n\n{found}\n", encoding="utf-8")
    print(found)
    draw(kept, options.folder / "ranks.png")


if __name__ == "__main__":
    main()
