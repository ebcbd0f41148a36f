"""Draw docs/pictures/together.png, the picture of docs/which_ranker.md, from results.csv.

    python -m experiments.ensemble.picture

Average precision of each single model on abalone (which animals are older than ten rings?), less that of all
of them together, on ten splits of the rows.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pandas as pd

DATA_SET = "abalone"
MEASURE = "average precision"
TOGETHER = "StackingRanker"
HERE = Path(__file__).parent
PICTURE = HERE.parents[1] / "docs" / "pictures" / "together.png"
# The members of the list, by the names that a reader knows.
MODELS = {
    "tuned LightGBM": "LightGBM, tuned",
    "extra trees": "extra trees",
    "random forest": "random forest",
    "logistic regression": "logistic regression",
    "LightGBM": "LightGBM",
    "PushLGBMRanker": "LightGBM with the P-Norm Push",
    "PNormPush(16)": "P-Norm Push",
    "PushBoost(16)": "boosted stumps",
    "15 neighbours": "15 nearest neighbours",
}


def shortfalls(results: pd.DataFrame) -> pd.DataFrame:
    """Return by how much each model is below all of them together, a row a split, the best model first."""
    of_set = results[results["set"] == DATA_SET]
    figures = of_set.pivot_table(index="split", columns="method", values=MEASURE)
    differences = figures[list(MODELS)].sub(figures[TOGETHER], axis=0)
    return differences[differences.mean().sort_values(ascending=False).index]


def draw(differences: pd.DataFrame, path: Path) -> None:
    """Draw a row a model: its splits as circles, and their mean as a bar, without a colour."""
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(8.0, 4.1), layout="constrained")
    n_models = differences.shape[1]
    for row, name in enumerate(differences):
        ax.plot(differences[name], [row] * len(differences), "o", mfc="none", mec="0.35", ms=6, clip_on=False)
        ax.plot(differences[name].mean(), row, "|", color="black", ms=18, mew=3)
    ax.axvline(0.0, color="black", linewidth=1.5)
    ax.text(0.0, -0.9, "all nine together ", ha="right", va="center", weight="bold")
    ax.set(
        yticks=range(n_models),
        yticklabels=[MODELS[name] for name in differences],
        ylim=(n_models - 0.4, -1.5),
        xlabel="average precision, less that of all nine together\n"
        "circles: ten splits of the rows; bars: their means",
    )
    figure.suptitle("Which abalones are old? One list of nine models beats each of the nine")
    ax.grid(axis="x", color="0.85")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    draw(shortfalls(pd.read_csv(HERE / "results.csv")), PICTURE)
