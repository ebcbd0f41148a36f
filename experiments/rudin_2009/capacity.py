"""Section 9.1: how the effect of p depends on the capacity of the class of functions.

    python -m experiments.rudin_2009.capacity     # fits what capacity.csv lacks, then figure and table

A thousand rows of MAGIC to train, as in table 3, and the others to test. The class is all linear functions
of the ten features and of so many random rectified ones; the P-Norm Push at p = 1 and p = 16 is solved to its
optimum with a small penalty. The effect of p is what p = 16 has more than p = 1, on the rows of training and
on others.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from experiments.protocol import append, missing
from pushrank import PNormPush, metrics
from pushrank.datasets import load_dataset

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
SIZES = (0, 20, 50, 100, 200, 500, 1000)
N_SPLITS, N_TRAIN, ALPHA = 10, 1000, 1e-4
POWERS = (1.0, 16.0)
MEASURES = {
    "AUC": metrics.auc,
    "height": lambda y, scores: metrics.rp_error(y, scores, 16, scale="mean"),
}


def richer(X: Any, n_random: int) -> Any:
    """Return standardised features and so many random rectified ones of them."""
    rng = np.random.default_rng(0)
    directions, shifts = rng.normal(size=(X.shape[1], n_random)), rng.normal(size=n_random)
    return np.hstack([X, np.maximum(X @ directions / np.sqrt(X.shape[1]) + shifts, 0.0)])


def one_fit(X: Any, y: Any, split: int, n_random: int) -> list[dict[str, Any]]:
    """Return the measures of both powers on the rows of training and on the others."""
    train, test = train_test_split(np.arange(len(y)), train_size=N_TRAIN, random_state=split)
    X = richer(StandardScaler().fit(X[train]).transform(X), n_random)
    rows = []
    for p in POWERS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            scores = PNormPush(p, alpha=ALPHA).fit(X[train], y[train]).decision_function(X)
        for part, of in (("train", train), ("test", test)):
            found = {name: measure(y[of], scores[of]) for name, measure in MEASURES.items()}
            rows.append({"set": n_random, "split": split, "p": p, "part": part, **found})
    return rows


def effects(rows: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard error over the splits of each measure at p = 16 less that at p = 1."""
    wide = rows.pivot(index=["part", "set", "split"], columns="p", values=list(MEASURES))
    columns = {name: wide[name][POWERS[1]] - wide[name][POWERS[0]] for name in MEASURES}
    return pd.DataFrame(columns).groupby(["part", "set"]).agg(["mean", "sem"])


def draw(rows: pd.DataFrame) -> None:
    """Draw the measures of both powers, and their difference, against the number of features."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    found = effects(rows)
    for ax, name in zip(axes, MEASURES, strict=True):
        for part, style in (("train", "--"), ("test", "-")):
            of = found.loc[part][name]
            ax.errorbar(of.index + 10, of["mean"], of["sem"], linestyle=style, marker="o", label=part)
        ax.axhline(0.0, color="grey", linewidth=0.8)
        ax.set(xscale="log", xlabel="features", ylabel=f"{name} at p = 16 less that at p = 1")
        ax.legend()
    figure.savefig(HERE / "capacity.png", dpi=110)
    plt.close(figure)


def main() -> None:
    """Fit what is missing, and write the table and the figure beside this file."""
    X, y = load_dataset("magic", return_X_y=True)
    X, y, path = np.asarray(X, dtype=float), np.asarray(y), HERE / "capacity.csv"
    for split, n_random in missing(path, SIZES, N_SPLITS):
        append(path, one_fit(X, y, split, n_random))
    rows = pd.read_csv(path)
    means = rows.groupby(["part", "set", "p"])[list(MEASURES)].mean().unstack()
    text = f"{means.round(4).to_string()}\n\np = 16 less p = 1\n{effects(rows).round(4).to_string()}\n"
    (HERE / "capacity.txt").write_text(f"python -m experiments.rudin_2009.capacity\n\n{text}")
    print(text)
    draw(rows)


if __name__ == "__main__":
    main()
