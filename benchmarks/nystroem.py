"""What does a kernel add to a linear push on 100,000 rows, by Nystroem's columns, and what does it cost?

    PUSHRANK_DATA=folder python benchmarks/nystroem.py > benchmarks/nystroem.txt

``PNormPush(4)`` on scaled columns, on the columns of ``Nystroem()`` of the scaled columns, whose kernel is
Gaussian, and LightGBM with its defaults, fitted to 100,000 rows of random splits and measured on all others.
The budget is 1 % of these. Times are CPU seconds of the whole fit of the pipeline on one thread, and the
ratio is the median of those to the linear push of the same split. Means over the splits, with the standard
error of the precision.
"""

from __future__ import annotations

import time

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pushrank import PNormPush, datasets, metrics

N_TRAIN = 100_000
SPLITS = 5
SETS = ("ijcnn1", "cover_odds")
MODELS = {
    "PNormPush(4)": make_pipeline(StandardScaler(), PNormPush(4)),
    **{
        f"Nystroem({n_columns}), alpha={alpha:g}": make_pipeline(
            StandardScaler(), Nystroem(n_components=n_columns), PNormPush(4, alpha=alpha)
        )
        for n_columns in (100, 300)
        for alpha in (1e-3, 1e-5)
    },
    "LGBMClassifier()": LGBMClassifier(n_jobs=1, verbose=-1),
}


def main() -> None:
    """Print times and measures of each model on each set."""
    # A first fit of few rows reads the compiled loops, which is not measured.
    rng = np.random.default_rng(0)
    MODELS["PNormPush(4)"].fit(rng.normal(size=(60_000, 5)), rng.random(60_000) < 0.5)
    for name in SETS:
        X, y = datasets.load_dataset(name, return_X_y=True)
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        found = np.empty((SPLITS, len(MODELS), 4))
        for split in range(SPLITS):
            parts = train_test_split(X, y, train_size=N_TRAIN, stratify=y, random_state=split)
            X_train, X_test, y_train, y_test = parts
            for m, model in enumerate(MODELS.values()):
                if "nystroem" in getattr(model, "named_steps", {}):
                    model.set_params(nystroem__random_state=split)
                began = time.process_time()
                model.fit(X_train, y_train)
                seconds = time.process_time() - began
                rank = getattr(model, "decision_function", None)
                scores = rank(X_test) if rank else model.predict_proba(X_test)[:, 1]
                hits = metrics.precision_at_k(y_test, scores, k=len(y_test) // 100)
                area = metrics.auc(y_test, scores)
                found[split, m] = seconds, hits, metrics.average_precision(y_test, scores), area
        print(f"{name}: {N_TRAIN:,} rows of {X.shape[1]} columns, {y.mean():.1%} positive; "
              f"{len(y_test):,} held out, of which {len(y_test) // 100:,} are listed")  # fmt: skip
        ratios = found[:, :, 0] / found[:, :1, 0]
        errors = found[:, :, 1].std(axis=0, ddof=1) / SPLITS**0.5
        for m, title in enumerate(MODELS):
            seconds, hits, precision, area = found[:, m].mean(axis=0)
            print(f"  {title:28s} fit {seconds:6.2f} s, ratio {np.median(ratios[:, m]):5.1f}   "
                  f"precision {hits:.3f} ± {errors[m]:.3f}   average precision {precision:.3f}   "
                  f"AUC {area:.3f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
