"""Smooth Margin Ranking against RankBoost, and AdaBoost against RankBoost, after Rudin et al. (COLT 2005).

    python -m experiments.rudin_2005

Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, print no experiment;
what is measured here are its claims. On data that thresholds of features separate: how near the margin of
either algorithm comes to the largest there is, what that gives on other rows, and in how many rounds the
printed bound of a round's progress (Lemma 1) and the one that holds are broken. On data that the features do
not separate: how many rounds RankBoost, AdaBoost with a constant among its weak rankers, and AdaBoost
without, take to come near their last AUC, and near the least RankBoost loss.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from scipy.special import rel_entr
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from experiments.protocol import arguments, versions
from pushrank import AdaBoostRanker, PNormPush, RankBoost, SmoothMarginRanking, metrics
from pushrank.datasets import load_dataset
from pushrank.theory import max_margin
from pushrank.weak_rankers import Stumps

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
N_TRAIN = 400
MAX_BINS = 16
CHECKPOINTS = (100, 300, 1000, 3000)
NEAR = 1e-3
ROUNDING = 1e-9
SEPARABLE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "ionosphere": lambda: load_dataset("ionosphere", return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "housing": lambda: load_dataset("housing", return_X_y=True),
}
NOT_SEPARABLE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "MAGIC": lambda: load_dataset("magic", return_X_y=True),
    "ionosphere, last 5": lambda: _first(load_dataset("ionosphere", positive="b", return_X_y=True), -5),
    "housing": lambda: load_dataset("housing", return_X_y=True),
}


def _first(rows: tuple[Any, Any], start: int) -> tuple[Any, Any]:
    X, y = rows
    return X[:, start:], y


def halves(X: Any, y: Any, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return the training and test features and labels; the training part is two thirds, at most 400 rows."""
    n_train = min(N_TRAIN, 2 * len(y) // 3)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=n_train, stratify=y, random_state=seed
    )
    return X_train, X_test, y_train, y_test


def scores_by_round(ranker: Any, X: Any) -> Any:
    """Return the scores after every round."""
    own = ranker.estimator_index_ >= 0  # the constant of AdaBoost moves all rows alike
    chosen, column = np.unique(ranker.estimator_index_[own], return_inverse=True)
    values = np.array([ranker.weak_rankers_.values(X, int(index)) for index in chosen], dtype=float)
    steps = np.zeros((len(own), len(X)))
    steps[own] = values[column] * ranker.estimator_weights_[own, None]
    return np.cumsum(steps, axis=0)


def progress(ranker: SmoothMarginRanking) -> dict[str, float]:
    """Return the rounds after separation, and how many break the printed bound and the one that holds.

    Rounds that take a weak ranker's weight back are left out: the norm is then no sum of the steps.
    """
    g, steps, edges = ranker.smooth_margin_path_, np.abs(ranker.estimator_weights_), np.abs(ranker.edges_)
    with np.errstate(invalid="ignore"):
        norms = -ranker.objective_path_ / g
    separated = (g[:-1] > 0.0) & np.isclose(np.diff(norms), steps)
    risen, g, steps, edges, norms = (
        values[separated] for values in (np.diff(g), g[:-1], steps, edges, norms[1:])
    )
    printed = steps * (edges - g) / (2.0 * norms)
    u, v = (1.0 + g) / 2.0, (1.0 + edges) / 2.0
    holds = (rel_entr(u, v) + rel_entr(1.0 - u, 1.0 - v)) / norms
    return {
        "rounds": len(risen),
        "break the printed": int(np.sum(risen < printed - ROUNDING)),
        "break the other": int(np.sum(risen < holds - ROUNDING)),
    }


def margins(X: Any, y: Any, seed: int, n_rounds: int) -> Iterator[dict[str, Any]]:
    """Yield, for either algorithm at every checkpoint, its part of the largest margin and its test AUC."""
    X_train, X_test, y_train, y_test = halves(X, y, seed)
    options: dict[str, Any] = {"weak_rankers": Stumps(MAX_BINS), "n_estimators": n_rounds}
    algorithms = {"RankBoost": RankBoost(**options), "Smooth Margin": SmoothMarginRanking("warn", **options)}
    for name, ranker in algorithms.items():
        ranker.fit(X_train, y_train)
        if name == "RankBoost":
            largest = max_margin(ranker.weak_rankers_.value_matrix(X_train), y_train).value
        on_train, on_test = scores_by_round(ranker, X_train), scores_by_round(ranker, X_test)
        extra = progress(ranker) if isinstance(ranker, SmoothMarginRanking) else {}
        for t in (t for t in CHECKPOINTS if t <= n_rounds):
            coef = np.bincount(ranker.estimator_index_[:t], ranker.estimator_weights_[:t])
            margin = metrics.margin(y_train, on_train[t - 1], norm=np.abs(coef).sum())
            auc = metrics.auc(y_test, on_test[t - 1])
            row = {"algorithm": name, "after": t, "part of the largest": margin / largest, "test AUC": auc}
            yield row | (extra if t == n_rounds else {})


def rates(X: Any, y: Any, seed: int, n_rounds: int) -> Iterator[dict[str, Any]]:
    """Yield how many rounds every algorithm takes to come near its last AUC and the least RankBoost loss."""
    X_train, X_test, y_train, y_test = halves(minmax_scale(X), y, seed)
    least = PNormPush(1, alpha=0.0, solver="newton-cg").fit(X_train, y_train).objective_path_[-1]
    options: dict[str, Any] = {"weak_rankers": "columns", "n_estimators": n_rounds}
    algorithms = {
        "RankBoost": RankBoost(**options),
        "AdaBoost, with a constant": AdaBoostRanker(**options),
        "AdaBoost, without": AdaBoostRanker(constant_ranker=False, **options),
    }
    for name, ranker in algorithms.items():
        ranker.fit(X_train, y_train)
        is_ada = isinstance(ranker, AdaBoostRanker)
        above = (np.log(ranker.rank_loss_path_) if is_ada else ranker.objective_path_)[1:] - least
        aucs = metrics.auc(y_train, scores_by_round(ranker, X_train))
        skew = abs(ranker.f_skew_path_[-1]) / np.exp(ranker.objective_path_[-1]) if is_ada else np.nan
        yield {
            "algorithm": name,
            "rounds to the AUC": _rounds_until(np.abs(aucs - aucs[-1]) <= NEAR),
            "rounds to the loss": _rounds_until(above <= NEAR),
            "loss above the least": above[-1],
            "F-skew": skew,
            "training AUC": aucs[-1],
            "test AUC": metrics.auc(y_test, ranker.decision_function(X_test)),
        }


def _rounds_until(near: Any) -> float:
    """Return the first round from which on all are near; infinity where the last is not."""
    far = np.flatnonzero(~near)
    first = far[-1] + 2 if len(far) else 1
    return float(first) if first <= len(near) else np.inf


def run(
    sets: dict[str, Callable[[], tuple[Any, Any]]], measured: Callable[..., Any], *options: Any
) -> pd.DataFrame:
    """Return the rows of all repeats of all sets."""
    n_repeats, n_rounds = options
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # all run for as many rounds
        for name, data in sets.items():
            X, y = data()
            for seed in range(n_repeats):
                found = measured(X, y, seed, n_rounds)
                rows += [{"set": name, "repeat": seed, **row} for row in found]
    return pd.DataFrame(rows)


def text(separable: pd.DataFrame, not_separable: pd.DataFrame, quick: bool) -> str:
    """Return the tables: means and standard deviations of one repeat."""
    lines = ["separable: margin over the largest, and AUC of the test part (mean, sd of one repeat)"]
    for (name, algorithm, after), rows in separable.groupby(["set", "algorithm", "after"], sort=False):
        part, auc = rows["part of the largest"], rows["test AUC"]
        lines.append(
            f"  {name:14s}{algorithm:15s}{after:5d} rounds{part.mean():9.3f} {part.std():.3f}"
            f"{auc.mean():10.4f} {auc.std():.4f}"
        )
    last = separable[separable["after"] == separable["after"].max()]
    for name, rows in last.groupby("set", sort=False):
        aucs = rows.pivot_table(index="repeat", columns="algorithm", values="test AUC")
        gain = aucs["Smooth Margin"] - aucs["RankBoost"]
        lines.append(
            f"  {name}: AUC of Smooth Margin less RankBoost's {gain.mean():+.4f}, sd {gain.std():.4f}"
        )
    counts = last[["rounds", "break the printed", "break the other"]].sum().astype(int)
    if not quick:
        lines.append(
            f"  {counts['rounds']} rounds after separation: {counts['break the printed']} rise by less than "
            f"Lemma 1 prints, {counts['break the other']} by less than the relative entropy"
        )
    lines += ["", f"not separable: median rounds until within {NEAR:g} of the last AUC, of the least loss;"]
    lines.append("loss above the least at the end, F-skew over F, AUC in training and of the test part (sd)")
    for (name, algorithm), rows in not_separable.groupby(["set", "algorithm"], sort=False):
        to_auc, to_loss = rows[["rounds to the AUC", "rounds to the loss"]].median()
        left, skew, on_train, on_test = rows[
            ["loss above the least", "F-skew", "training AUC", "test AUC"]
        ].mean()
        lines.append(
            f"  {name:20s}{algorithm:27s}{to_auc:6.0f}{to_loss:6.0f}{left:10.1e}{skew:10.1e}"
            f"{on_train:9.4f}{on_test:9.4f} ({rows['test AUC'].std():.4f})"
        )
    return "\n".join(lines)


def draw(separable: pd.DataFrame, path: Path) -> None:
    """Draw the margins over the rounds."""
    names = list(dict.fromkeys(separable["set"]))
    figure, axes = plt.subplots(1, len(names), figsize=(4 * len(names), 3.4), layout="constrained")
    for ax, name in zip(axes, names, strict=True):
        for (algorithm, rows), style in zip(
            separable[separable["set"] == name].groupby("algorithm", sort=False), ("-o", "--s"), strict=True
        ):
            parts = rows.groupby("after")["part of the largest"].agg(["mean", "std"])
            ax.errorbar(parts.index, parts["mean"], parts["std"], fmt=style, label=algorithm, capsize=3)
        ax.set(title=name, xscale="log", xlabel="rounds", ylabel="margin / largest margin")
    axes[0].legend()
    figure.savefig(path, dpi=80)
    plt.close(figure)


def main() -> None:
    """Run, and write the tables and the picture beside this file."""
    options = arguments(__doc__, HERE, 10)
    start = time.process_time()
    separable = run(SEPARABLE, margins, options.repeats, CHECKPOINTS[1 if options.quick else -1])
    not_separable = run(NOT_SEPARABLE, rates, options.repeats, 100 if options.quick else CHECKPOINTS[-1])
    rows = pd.concat([separable, not_separable])
    rows.to_csv(options.folder / "results.csv", index=False, float_format="%.6g")
    seconds = time.process_time() - start
    written = f"{versions()}; {options.repeats} repeats\n\n{text(separable, not_separable, options.quick)}"
    written += f"\n\n{seconds:.0f} s of one core"
    (options.folder / "results.txt").write_text(f"python -m experiments.rudin_2005\n\n{written}\n")
    print(written)
    draw(separable, options.folder / "margins.png")


if __name__ == "__main__":
    main()
