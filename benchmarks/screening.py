"""Few known actives: which ranker finds the others among thousands of molecules?

    pip install -e ".[benchmark,nightly,plot]"
    PUSHRANK_DATA=folder python benchmarks/screening.py > benchmarks/screening.txt

The first eight targets of DUD by name, Morgan fingerprints of 2,048 bits. A random tenth of the molecules is
known, the others are ranked; means over three stratified splits. Models have the defaults of their libraries.
Also draws docs/top_of_the_list.png.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from lightgbm import LGBMClassifier
from rdkit import Chem, RDLogger
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

from pushrank import PNormPush, metrics
from pushrank.datasets import load_dataset

TARGETS = ("ace", "ache", "ar", "cdk2", "cox2", "dhfr", "egfr", "er_agonist")
MODELS = {
    "PNormPush(16)": (PNormPush(16), "#0072b2", "-"),
    "LogisticRegression": (LogisticRegression(max_iter=1000), "#777777", "--"),
    "RandomForest, default": (RandomForestClassifier(random_state=0), "#009e73", "-."),
    "LightGBM, default": (LGBMClassifier(n_jobs=1, verbose=-1), "#d55e00", ":"),
}
DEPTH = 100


def fingerprints(smiles: np.ndarray, y: np.ndarray) -> tuple[csr_matrix, np.ndarray]:
    """Return the bits and labels of the molecules that rdkit can read, which is nearly all."""
    morgan = GetMorganGenerator(radius=2, fpSize=2048)
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    known = np.array([molecule is not None for molecule in molecules])
    bits = [morgan.GetFingerprintAsNumPy(molecule) for molecule in molecules if molecule is not None]
    return csr_matrix(np.array(bits, dtype=float)), y[known]


def main() -> None:
    """Print a row for each target and model, and draw the mean precision of the first rows."""
    RDLogger.DisableLog("rdApp.*")
    precision: dict[str, list[np.ndarray]] = {name: [] for name in MODELS}
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in MODELS}
    head = f"{'positives at top':>18s}{'precision at 100':>18s}{'average precision':>19s}{'BEDROC':>9s}"
    print(f"{'':34s}{head}")
    for target in TARGETS:
        data = load_dataset("dud", target=target)
        X, y = fingerprints(np.asarray(data.data).ravel(), np.asarray(data.target))
        for name, (model, *_) in MODELS.items():
            splits = StratifiedShuffleSplit(3, train_size=0.1, random_state=0).split(X, y)
            values = []
            for known, others in splits:
                model.fit(X[known], y[known])
                scored = getattr(model, "decision_function", None) or (lambda X: model.predict_proba(X)[:, 1])  # noqa: B023
                scores, hits = scored(X[others]), y[others]
                k = np.arange(1, DEPTH + 1)
                precision[name].append(
                    [metrics.precision_at_k(hits, scores, int(first), ties="half") for first in k]
                )
                values.append(
                    (
                        metrics.positives_at_top(hits, scores),
                        precision[name][-1][-1],
                        metrics.average_precision(hits, scores),
                        metrics.bedroc(hits, scores),
                    )
                )
            found[name].append(tuple(np.mean(values, axis=0)))
            print_row(f"{target} ({y.sum()} actives)", name, found[name][-1])
    for name in MODELS:
        print_row("mean", name, tuple(np.mean(found[name], axis=0)))
    draw(precision)


def print_row(target: str, name: str, values: tuple[float, ...]) -> None:
    """Print the measures of a model on a target."""
    top, at_100, average, bedroc = values
    start = f"{target:24s}{name:22s}"
    print(f"{start}{top:6.1f}{at_100:18.3f}{average:19.3f}{bedroc:9.3f}", flush=True)


def draw(precision: dict[str, list[np.ndarray]]) -> None:
    """Draw the mean over targets and splits, every line with its name at its end."""
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for name, (_, colour, line) in MODELS.items():
        mean = np.mean(precision[name], axis=0)
        axes.plot(np.arange(1, DEPTH + 1), mean, line, color=colour, lw=2.2, label=name)
    axes.set(xlabel="molecules looked at, from the top of the list", ylabel="share that are active")
    axes.set_xlim(1, DEPTH)
    axes.set_title("Few known actives: mean over eight targets of DUD", fontsize=11)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).parents[1] / "docs" / "top_of_the_list.png", dpi=110)


if __name__ == "__main__":
    main()
