"""On which scale should columns be, by the number of positives? And may weights be negative?

    python -m experiments.ensemble.scales --cache /a/folder > experiments/ensemble/scales.txt

From the columns that ``columns.py`` keeps, each final on each scale: measures less those of the member that
the folds choose by average precision, means over splits and then over the sets of a range of positives.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from experiments.ensemble.columns import BY_TIME, SETS, path_of
from experiments.ensemble.finals import (
    MEASURES,
    Columns,
    Stack,
    Value,
    chosen,
    from_the_top,
    least,
    log_odds,
    natural,
    power_value,
    probabilities,
    ranks,
    reversed_value,
    stack,
    standardised,
)

SCALES: dict[str, Callable[[Stack], Columns]] = {
    **{f"log-odds, {clip:g}": partial(log_odds, clip=clip) for clip in (1e-2, 1e-3, 1e-4, 1e-6)},
    "margins, 0.0001": partial(log_odds, clip=1e-4, calibrated=False),
    "probabilities": lambda of: standardised(*probabilities(of)),
    "ranks, logit": ranks,
    "ranks, log": partial(ranks, link=from_the_top),
    "ranks in fold": partial(ranks, within="fold"),
    "ranks in period": partial(ranks, within="batch"),
}
VALUES: dict[str, Callable[[np.ndarray, np.ndarray], Value]] = {
    "IR": reversed_value,
    **{f"p = {p:g}": partial(power_value, p=p) for p in (1.0, 4.0, 16.0)},
}
ALPHA = 1e-2
RANGES = {"< 60": 60, "< 200": 200, "< 600": 600, ">= 600": np.inf}


KEYS = ["final", "weights", "scale"]
FIRST, SECOND = "log-odds, 0.001", "ranks, logit"


def gains(of: Stack) -> Iterator[dict[str, object]]:
    """Yield by final, scale and sign the measures less those of the chosen member."""
    alone = natural(of)[:, chosen(of, MEASURES["average precision"])]
    reference = {name: measure(of.y_test, alone) for name, measure in MEASURES.items()}
    for name, scale in SCALES.items():
        if name == "ranks in period" and not of.by_time:
            continue
        columns, new = scale(of)
        found = {("logistic", "any"): LogisticRegression(max_iter=1000).fit(columns, of.y).coef_[0]}
        for final, positive in product(VALUES, (True, False)):
            value = VALUES[final](columns, of.y)
            weights = least(value, columns.shape[1], ALPHA, positive=positive)
            found[final, ">= 0" if positive else "any"] = weights
        for (final, signs), weights in found.items():
            scores = new @ weights
            less = {m: measure(of.y_test, scores) - reference[m] for m, measure in MEASURES.items()}
            yield {"scale": name, "weights": signs, "final": final, **less}


def report(table: pd.DataFrame) -> str:
    """Return for each measure the means over sets by range of positives, and by set what ranks lose."""
    lines = []
    counts = table.groupby("range")["set"].nunique()
    order = [label for label in [*RANGES, "by time"] if label in counts]
    lines.append("sets: " + ", ".join(f"{label} {counts[label]}" for label in order))
    for measure in MEASURES:
        by_set = table.groupby([*KEYS, "range", "set"], sort=False)[measure].mean()
        means = by_set.groupby([*KEYS, "range"], sort=False).mean().unstack()[order]
        random = by_set[by_set.index.get_level_values("range") != "by time"]
        means.insert(0, "random folds", random.groupby(KEYS, sort=False).mean())
        digits = 4 if "precision" in measure else 2
        lines.append(f"\n{measure} less the chosen member's\n{means.round(digits).to_string()}")
    lines.append(f"\naverage precision by set: {FIRST} less {SECOND}, mean over splits (standard deviation)")
    wide = table.pivot_table(
        index=["positives", "set", "split"], columns=KEYS, values="average precision", sort=True
    )
    for (positives, name), of_set in wide.groupby(level=[0, 1]):
        cells = []
        for final, signs in [("logistic", "any"), *product(VALUES, (">= 0",))]:
            less = of_set[final, signs, FIRST] - of_set[final, signs, SECOND]
            cells.append(f"{final} {less.mean():+.4f} ({less.std():.4f})")
        lines.append(f"  {name:16s}{positives:5d}  " + "  ".join(cells))
    return "\n".join(lines)


def main() -> None:
    """Measure the first splits, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="the folder that columns.py wrote")
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    lines = []
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")  # of finals that end before their optimum
        for name, split in product(SETS, range(arguments.splits)):
            path = path_of(arguments.cache, name, split)
            if path.exists():
                of = stack(path)
                kind = next(label for label, most in RANGES.items() if of.y.sum() < most)
                base = {"set": name, "split": split, "range": "by time" if name in BY_TIME else kind}
                # By time the positives differ from split to split.
                base["positives"] = 0 if name in BY_TIME else int(of.y.sum())
                lines += [base | line for line in gains(of)]
    print(report(pd.DataFrame(lines)))


if __name__ == "__main__":
    main()
