"""How many hits are among the first 100 held-out rows, by logistic regression and by the P-Norm Push?

    python benchmarks/first_rows.py > benchmarks/first_rows.txt

Both models are linear and have the defaults of their libraries, on the five splits of ``at_the_top.py``.
The script also draws docs/pictures/first_rows.png, the picture of the README: the first rows of the split
whose difference is the median of the five. It takes seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush, datasets

BUDGET = 100
N_SPLITS = 5
BELOW = 30
"""The rows that the picture shows below the line."""
A_LINE = 10
"""The rows in a line of the picture."""
# Shapes differ as colours do, for readers who do not tell the colours apart.
HIT: dict[str, Any] = {"marker": "s", "color": "#7fb2e5"}
MISS: dict[str, Any] = {"marker": "X", "color": "#b3261e"}
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "first_rows.png"
MODELS = {
    "Logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "P-Norm Push, p = 64": make_pipeline(StandardScaler(), PNormPush(64)),
}
Lists = dict[str, NDArray[np.bool_]]


def ranked_lists(X: NDArray[np.float64], y: NDArray[np.bool_], seed: int) -> Lists:
    """Return for each model which held-out rows are hits, best score first."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    lists = {}
    for name, model in MODELS.items():
        scores = model.fit(X_train, y_train).decision_function(X_test)
        lists[name] = y_test[np.argsort(-scores, kind="stable")]
    return lists


def draw(lists: Lists, path: Path) -> None:
    """Draw the first rows of each list as squares, with a line below the rows that can be acted on."""
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(lists), figsize=(7.2, 6.6), layout="constrained")
    row = np.arange(BUDGET + BELOW)
    line = BUDGET / A_LINE - 0.5
    for ax, (name, is_hit) in zip(axes, lists.items(), strict=True):
        shown = is_hit[: len(row)]
        for kind, style in ((shown, HIT), (~shown, MISS)):
            ax.scatter(row[kind] % A_LINE, row[kind] // A_LINE, s=230, **style)
        ax.axhspan(line, line + 4, color="white", alpha=0.6, zorder=2)
        ax.axhline(line, color="black", linewidth=3)
        ax.set_title(f"{name}\n{is_hit[:BUDGET].sum()} hits in {BUDGET} rows", fontsize=17, weight="bold")
        ax.set(xlim=(-0.7, A_LINE - 0.3), ylim=(len(row) / A_LINE - 0.3, -0.7), aspect="equal")
        ax.axis("off")
    key = [axes[0].scatter([], [], s=200, **style) for style in (HIT, MISS)]
    figure.legend(
        key,
        ["hit", "miss"],
        title=f"Above the line: the {BUDGET} rows that you can act on",
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=16,
        title_fontsize=16,
    )
    figure.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close(figure)


def main() -> None:
    """Print the hits on each split and their means, and draw the split of the median difference."""
    X, y = datasets.load_dataset("magic", return_X_y=True)
    splits = [ranked_lists(X, y == 1, seed) for seed in range(N_SPLITS)]
    hits = np.array([[is_hit[:BUDGET].sum() for is_hit in lists.values()] for lists in splits])
    n_rows = len(splits[0]["Logistic regression"])
    print(f"MAGIC: hits in the first {BUDGET} of {n_rows:,} held-out rows, {y.mean():.1%} of all are hits")
    gains = hits[:, 1] - hits[:, 0]
    for column, name in enumerate(MODELS):
        of_splits = " ".join(f"{count:4d}" for count in hits[:, column])
        print(f"{name:22s} splits {of_splits}   mean {hits[:, column].mean():.1f}")
    shown = int(np.argsort(gains, kind="stable")[N_SPLITS // 2])
    print(f"The picture shows split {shown}, of the median difference: {gains[shown]}")
    draw(splits[shown], PICTURE)


if __name__ == "__main__":
    main()
