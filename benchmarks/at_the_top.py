"""Who is best at the top of real lists, our rankers or the usual classifiers, all with their defaults?

    pip install -e ".[benchmark]"
    PUSHRANK_DATA=folder python benchmarks/at_the_top.py > benchmarks/at_the_top.txt

Means and standard errors over random stratified splits in 70 % and 30 %, the same for all models. Nobody
is tuned: every model has the defaults of its library, but for 100 rounds of boosted stumps. CPU seconds
are those of one fit on one thread, as a median over the splits; the first fit of each model, which
compiles, is not counted. Real data are found through PUSHRANK_DATA, or fetched from OpenML.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pushrank import PNormPush, PushBoost, RankBoost, TopRankerCV, TrimmedPush, datasets, metrics

ROUNDS = 100
QUERY = 5_000  # LightGBM's lambdarank takes lists of at most 10,000 rows


class LambdaRank:
    """LightGBM's lambdarank of stumps, fed random lists of up to 5,000 rows."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> LambdaRank:
        """Fit to rows in a random order, cut into lists of almost one length."""
        from lightgbm import LGBMRanker

        order = np.random.default_rng(0).permutation(len(y))
        sizes = [len(part) for part in np.array_split(order, -(-len(y) // QUERY))]
        ranker = LGBMRanker(num_leaves=2, max_bin=255, n_estimators=ROUNDS, n_jobs=1, verbose=-1)
        self.ranker_ = ranker.fit(X[order], y[order], group=sizes)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the scores."""
        return self.ranker_.predict(X)


def models() -> dict[str, object]:
    """Return the models by name, all on one thread."""
    from lightgbm import LGBMClassifier

    stumps = {"num_leaves": 2, "max_bin": 255, "n_estimators": ROUNDS}
    return {
        "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "PNormPush(64), linear": make_pipeline(StandardScaler(), PNormPush(64)),
        "TrimmedPush(), linear": make_pipeline(StandardScaler(), TrimmedPush()),
        "TopRankerCV(), linear": make_pipeline(StandardScaler(), TopRankerCV(random_state=0)),
        "RankBoost": RankBoost(n_estimators=ROUNDS, n_jobs=1),
        **{f"PushBoost({p})": PushBoost(p, n_estimators=ROUNDS, n_jobs=1) for p in (4, 16, 64)},
        "LightGBM, stumps (num_leaves=2)": LGBMClassifier(**stumps, n_jobs=1, verbose=-1),
        "LightGBM lambdarank, stumps": LambdaRank(),
        "LightGBM, default": LGBMClassifier(n_jobs=1, verbose=-1),
        "HistGradientBoosting, default": HistGradientBoostingClassifier(random_state=0),
        "RandomForest, default": RandomForestClassifier(random_state=0, n_jobs=1),
    }


def almost_linear() -> tuple[np.ndarray, np.ndarray]:
    """Return 60 normal features of 20,000 rows, and labels whose log odds are linear in them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 60))
    log_odds = X @ rng.standard_normal(60) / np.sqrt(60) * 1.5 - 5.0
    return X, (rng.random(len(X)) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)


DATA: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "MAGIC": lambda: datasets.load_dataset("magic", return_X_y=True),
    "spambase": lambda: datasets.load_dataset("spambase", return_X_y=True),
    "letter H": lambda: datasets.load_dataset("letter", positive="H", return_X_y=True),
    "KDD Cup 1999, smtp": lambda: datasets.load_dataset("kddcup99_smtp", return_X_y=True),
    "generated, almost linear": almost_linear,
    "ijcnn1": lambda: datasets.load_dataset("ijcnn1", return_X_y=True),
}


def scores_of(model: object, X: np.ndarray) -> np.ndarray:
    """Return a model's scores, the higher the more likely positive."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]  # type: ignore[attr-defined]


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--models", nargs="+", choices=models(), default=list(models()))
    options = parser.parse_args()
    n_splits = options.splits
    import lightgbm

    # LightGBM keeps no names of columns, and sklearn asks for them where there were some
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    warnings.filterwarnings("ignore", category=sklearn.exceptions.ConvergenceWarning)
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}, "
        f"LightGBM {lightgbm.__version__}"
    )
    y = np.arange(200) % 5 == 0
    X = np.random.default_rng(0).standard_normal((200, 3)) + y[:, None]
    for name in options.models:
        model = models()[name]
        model.fit(X, y.astype(int))  # type: ignore[attr-defined]
    for title in options.data:
        X, y = (np.asarray(part) for part in DATA[title]())
        print(f"\n{title}: {len(X):,} x {X.shape[1]}, {y.mean():.2%} positive, {n_splits} splits")
        print(
            f"  {'':32s}{'positives at top':>20s}{'precision at 100':>18s}"
            f"{'average precision':>19s}{'CPU seconds':>13s}"
        )
        for name in options.models:
            model, found, seconds = models()[name], [], []
            for seed in range(n_splits):
                train, test = train_test_split(
                    np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed
                )
                start = time.process_time()
                model.fit(X[train], y[train])  # type: ignore[attr-defined]
                seconds.append(time.process_time() - start)
                scores = scores_of(model, X[test])
                found.append(
                    (
                        metrics.positives_at_top(y[test], scores),
                        metrics.precision_at_k(y[test], scores, 100, ties="half"),
                        metrics.average_precision(y[test], scores),
                    )
                )
            mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(n_splits)
            print(
                f"  {name:32s}{mean[0]:10.1f} ± {error[0]:7.1f}{mean[1]:10.3f} ± {error[1]:.3f}"
                f"{mean[2]:11.4f} ± {error[2]:.4f}{np.median(seconds):13.2f}",
                flush=True,
            )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
