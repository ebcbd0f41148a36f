"""Do two pushes, one for all rows and a harder one for the top of its list, find more than one push?

    PUSHRANK_DATA=folder python benchmarks/two_stages.py > benchmarks/two_stages.txt

Both are linear, on scaled columns, and chosen by precision at a quarter of the positives in three folds of
the training rows: one push by p from 1 to 64, two stages by both p and the share of the list above the cut.
``TopRankerCV``, also linear, chooses among objectives that give up positives, too. Means over random 70/30
splits of at most 10,000 rows, with the error of the difference.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import wilcoxon
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pushrank import PNormPush, TopRankerCV, datasets, metrics
from pushrank.metrics import make_top_scorer

SPLITS = 5
MAX_ROWS = 10_000
SETS = {
    "letter H": ("letter", {"positive": "H"}),
    "MAGIC": ("magic", {}),
    "ijcnn1": ("ijcnn1", {}),
    "spambase": ("spambase", {}),
    "adult": ("adult_a9a", {}),
    "cover": ("cover_odds", {}),
    "housing": ("housing", {}),
    "ionosphere": ("ionosphere", {}),
}
MEASURES = {
    "precision": lambda y, s: metrics.precision_at_k(y, s, fraction_of_positives=0.25),
    "average precision": metrics.average_precision,
    "positives at top": metrics.positives_at_top,
}
NAMES = ("one push", "two stages", "TopRankerCV")


class TwoStage(ClassifierMixin, BaseEstimator):
    """The class of docs/which_ranker.md."""

    def __init__(self, first: object, second: object, share: float = 0.1) -> None:
        self.first, self.second, self.share = first, second, share

    def fit(self, X: np.ndarray, y: np.ndarray) -> TwoStage:
        """Fit the first stage to all rows, and the second to those that it puts above the cut."""
        self.classes_ = np.unique(y)
        self.first_ = self.second_ = clone(self.first).fit(X, y)
        scores = self.first_.decision_function(X)
        self.cut_ = float(np.quantile(scores, 1 - self.share))
        top = scores >= self.cut_
        if len(np.unique(y[top])) == 2:
            self.second_ = clone(self.second).fit(X[top], y[top])
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores, at least zero above the cut."""
        scores = self.first_.decision_function(X) - self.cut_
        top = scores >= 0
        if top.any():
            scores[top] = np.logaddexp(0, self.second_.decision_function(X[top]))
        return scores


GRIDS = (
    (PNormPush(), {"pnormpush__p": [1, 2, 4, 8, 16, 32, 64]}),
    (
        TwoStage(PNormPush(), PNormPush()),
        {
            "twostage__first__p": [1, 2, 4],
            "twostage__second__p": [4, 16, 64],
            "twostage__share": [0.05, 0.1, 0.25, 0.5],
        },
    ),
)


def chosen(model: object, grid: dict[str, list[float]]) -> GridSearchCV:
    """Return the search over a grid, by precision at a quarter of the positives."""
    scorer = make_top_scorer("precision_at_k", fraction_of_positives=0.25)
    return GridSearchCV(make_pipeline(StandardScaler(), model), grid, scoring=scorer, cv=3)


def main() -> None:
    """Print the measures on every set, and the differences over the sets."""
    warnings.simplefilter("ignore")
    overall = []
    print(f"{SPLITS} splits; two stages less one push, and less TopRankerCV, with its standard error")
    for title, (name, options) in SETS.items():
        X, y = datasets.load_dataset(name, **options, return_X_y=True)
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        if len(y) > MAX_ROWS:
            X, _, y, _ = train_test_split(X, y, train_size=MAX_ROWS, stratify=y, random_state=0)
        found = np.empty((SPLITS, len(NAMES), len(MEASURES)))
        taken = []
        for split in range(SPLITS):
            parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=split)
            X_train, X_test, y_train, y_test = parts
            other = make_pipeline(StandardScaler(), TopRankerCV(random_state=0))
            for m, model in enumerate([*(chosen(*grid) for grid in GRIDS), other]):
                scores = model.fit(X_train, y_train).decision_function(X_test)
                found[split, m] = [measure(y_test, scores) for measure in MEASURES.values()]
                if NAMES[m] == "two stages":
                    taken.append(" ".join(str(value) for value in model.best_params_.values()))
        print(f"\n{title}, {len(y):,} rows, {y.mean():.1%} positive; p, p, share chosen: {', '.join(taken)}")
        gains = found[:, [1]] - found[:, [0, 2]]
        errors = gains.std(axis=0, ddof=1) / SPLITS**0.5
        for q, measure in enumerate(MEASURES):
            cells = "  ".join(f"{of} {found[:, m, q].mean():7.3f}" for m, of in enumerate(NAMES))
            less = "  ".join(f"{gains[:, m, q].mean():+7.3f} ± {errors[m, q]:.3f}" for m in range(2))
            print(f"  {measure:18s} {cells}   {less}", flush=True)
        overall.append(found.mean(axis=0))
    print("\nover the sets")
    means = np.array(overall)
    for m in (0, 2):
        for q, measure in enumerate(MEASURES):
            gains = means[:, 1, q] - means[:, m, q]
            counts = f"{(gains > 1e-9).sum()} above, {(gains < -1e-9).sum()} below"
            p_value = f"p = {wilcoxon(gains).pvalue:.3f}"
            print(f"  two stages less {NAMES[m]:11s} {measure:18s} {gains.mean():+.4f}  {counts}, {p_value}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
