"""The list of six models beside that of the twelve it had before: what it finds, and what it costs.

    python -m experiments.choice.members --cache /a/folder > experiments/choice/members.txt

Average precision and precision in a quarter as many rows as positives are of the later rows of twelve sets
and three training sets each, as ``columns.py`` kept them. Seconds, bytes and seconds a row are of lists that
are fitted anew to 1,500 and 6,000 rows of three sets, as ``pushrank fit --model ensemble`` fits them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from experiments.choice.columns import TWELVE, drawn, loaded, models_of, path_of
from experiments.choice.measured import DEFAULT, Case, found_later
from experiments.protocol import versions
from pushrank import StackingRanker, save
from pushrank.held_out import model_scores

SETS = (
    "magic", "spambase", "ijcnn1", "adult", "cover_odds", "letter H", "abalone", "churn_tv", "give_me_credit",
    "stroke", "hypothyroid", "flights, machines",
)  # fmt: skip
LISTS = {"twelve": TWELVE, "six": DEFAULT}
FITTED = (("magic", 1_500), ("magic", 6_000), ("adult", 6_000), ("ijcnn1", 6_000))
N_SCORED = 1_000


def of_lists(cached: Path) -> None:
    """Print what both lists find among later rows."""
    rows = []
    for name in SETS:
        large = [draw for draw in (3, 4) if path_of(cached, name, draw).exists()]
        for draw in [*large, 0, 1, 2][:3]:
            case = Case.read(path_of(cached, name, draw), name, draw)
            for label, wanted in LISTS.items():
                members = [model for model in wanted if model in case.models]
                found = found_later(case.kept["y_test"], case.list_of(members)[0])
                rows.append({"set": name, "draw": draw, "list": label, **found})
    table = pd.DataFrame(rows).groupby(["set", "list"])[["average precision", "precision at n+/4"]].mean()
    print(table.unstack().to_string(float_format=lambda value: f"{value:.4f}"))
    for measure in table:
        of = table[measure].unstack()
        gains = of["six"] - of["twelve"]
        print(
            f"{measure}, six less twelve: {gains.mean():+.4f} ({gains.sem():.4f}), {(gains > 0).sum()} sets "
            f"above, {(gains < 0).sum()} below, p = {wilcoxon(gains.round(9)).pvalue:.3f}"
        )


def of_fits() -> None:
    """Print what a fit of both lists costs."""
    print(f"\n{'set':14s}{'rows':>6s}  {'list':8s}  fit, s      MB  1 row, ms  1,000 rows, s")
    for name, n_rows in FITTED:
        table = loaded(name)
        rows = drawn(np.arange(len(table.y)), table.y, n_rows, 0)
        X, y = table.X.iloc[rows].reset_index(drop=True), table.y[rows]
        models = models_of(table, n_rows)
        for label, wanted in LISTS.items():
            members = [(model, models[model]) for model in wanted if model in models]
            ranker = StackingRanker(members, refit=True, random_state=0)
            start = time.process_time()
            ranker.fit(X, y)
            fitted = time.process_time() - start
            with tempfile.TemporaryDirectory() as folder:
                save(ranker, path := Path(folder) / "list.skops")
                size = path.stat().st_size / 1e6
            some = X.iloc[:N_SCORED]
            model_scores(ranker, some)
            one, many = (min(seconds(ranker, part) for _ in range(5)) for part in (some.iloc[:1], some))
            print(
                f"{name:14s}{n_rows:6d}  {label:8s}{fitted:8.1f}{size:8.2f}{1000 * one:11.1f}{many:15.3f}",
                flush=True,
            )


def seconds(ranker: StackingRanker, X: pd.DataFrame) -> float:
    """Return the processor time to score rows."""
    start = time.process_time()
    model_scores(ranker, X)
    return time.process_time() - start


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="the folder that columns.py wrote")
    arguments = parser.parse_args()
    print(versions())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_lists(arguments.cache)
        of_fits()


if __name__ == "__main__":
    main()
