"""Which models should the list of all models keep: those of its folds, or one of each, fitted again?

    PUSHRANK_DATA=... python -m experiments.beside_autogluon.kept --cache /a/folder \
        --splits 1 > experiments/beside_autogluon/kept.txt

Both have the same members, weights and folds, and differ in what scores new rows: the mean over the five
models of each member, or its refit on all training rows. Sets by time are left out, whose fold models lack
the latest rows, so that they are always fitted again. Files of the splits are those of the cache.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from experiments.beside_autogluon.peers import LABEL
from experiments.beside_autogluon.programs import FULL, ROW, SETS, Setup, size_of
from experiments.ensemble.__main__ import against_over_sets
from experiments.ensemble.columns import BY_TIME
from pushrank import StackingRanker
from pushrank.cli.features import read_features
from pushrank.cli.forms import LearnOptions
from pushrank.cli.model import fit_pipeline, make_ranking_pipelines
from pushrank.cli.options import FeatureSource
from pushrank.metrics import average_precision, precision_at_k
from pushrank.persistence import save


def both(name: str, split: int, setup: Setup) -> dict[str, dict[str, float]]:
    """Return measures and costs of a split by what is kept."""
    files, found = setup.files(name, split), {}
    labels = pd.read_parquet(files / "labels.parquet")[LABEL].to_numpy()
    with tempfile.TemporaryDirectory(dir=setup.cached) as folder:
        tested = Path(folder) / "test.parquet"
        rows = pd.read_parquet(files / "test.parquet").sort_values(ROW)[: len(labels)].drop(columns=ROW)
        rows.assign(**{LABEL: labels}).to_parquet(tested, index=False)
        source = FeatureSource(data=files / "train.parquet", label=LABEL)
        data = read_features(source, LearnOptions(), test=tested)
        test = data.rows.part(np.arange(data.n_learnt, len(data.y)))
        model = StackingRanker(random_state=0, cache_dir=str(Path(folder) / "fits"))
        pipeline = make_ranking_pipelines({"ensemble": model}, **data.kinds, n_rows=data.n_learnt)["ensemble"]
        for kept in ("folds", "refit"):
            fitted = fit_pipeline(pipeline.set_params(rank__refit=kept == "refit"), data.learnt)
            start = time.process_time()
            scores = fitted.decision_function(test.X)
            seconds = time.process_time() - start
            save(fitted, Path(folder) / "model.skops")
            found[kept] = {
                "average precision": average_precision(test.positive, scores),
                "precision in n+/4": precision_at_k(test.positive, scores, fraction_of_positives=0.25),
                "score ms a row": 1000.0 * seconds / len(labels),
                "size MB": size_of(Path(folder) / "model.skops") / 1e6,
            }
    return found


def main() -> None:
    """Print a line for each set, and the differences over sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="the folder of the experiment")
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    setup = Setup(arguments.cache.resolve(), FULL, 0.0, Path(sys.executable), None, None)
    lines = []
    for name in [name for name in SETS if name not in BY_TIME]:
        for split in range(arguments.splits):
            with warnings.catch_warnings(), threadpool_limits(limits=1):
                warnings.simplefilter("ignore")
                for kept, of in both(name, split, setup).items():
                    lines.append({"set": name, "split": split, "kept": kept} | of)
    rows = pd.DataFrame(lines)
    print(f"means over {arguments.splits} splits: models of the folds, and their refit")
    print(rows.groupby(["set", "kept"], sort=False).mean().drop(columns="split").round(4).to_string())
    print("\nrefit less folds: mean difference, sets above and below, signed-rank p-value over sets")
    for measure in ("average precision", "precision in n+/4"):
        wide = rows.pivot_table(index=["set", "split"], columns="kept", values=measure, sort=False)
        print(f"  {measure}: {against_over_sets(wide['refit'], wide['folds'])}")


if __name__ == "__main__":
    main()
