"""On which scale should columns be, by the number of positives? And may weights be negative?

    python -m experiments.ensemble.scales --cache /a/folder > experiments/ensemble/scales.txt

From the columns that ``columns.py`` keeps, each final on each scale: average precision less that of the
member that the folds choose, means over splits and then over the sets of a range of positives.
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
from scipy.special import ndtri
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
    "ranks, normal": partial(ranks, link=ndtri),
    "ranks, log": partial(ranks, link=from_the_top),
    "ranks in fold": partial(ranks, within="fold"),
    "ranks in period": partial(ranks, within="batch"),
}
VALUES: dict[str, Callable[[np.ndarray, np.ndarray], Value]] = {
    "IR": reversed_value,
    **{f"p = {p:g}": partial(power_value, p=p) for p in (1.0, 4.0, 16.0)},
}
RANGES = {"< 60": 60, "< 200": 200, "< 600": 600, ">= 600": np.inf}


def differences(of: Stack, alphas: list[float], measure: Callable[..., float]) -> Iterator[dict[str, object]]:
    """Yield by final, scale, penalty and sign the measure less that of the chosen member."""
    reference = measure(of.y_test, natural(of)[:, chosen(of, measure)])
    for name, scale in SCALES.items():
        if name == "ranks in period" and not of.by_time:
            continue
        columns, new = scale(of)
        line = {"scale": name, "penalty": "", "weights": "any"}
        weights = LogisticRegression(max_iter=1000).fit(columns, of.y).coef_[0]
        yield line | {"final": "logistic", "gain": measure(of.y_test, new @ weights) - reference}
        for final, alpha, positive in product(VALUES, alphas, (True, False)):
            weights = least(VALUES[final](columns, of.y), columns.shape[1], alpha, positive=positive)
            yield {
                "scale": name,
                "penalty": f"{alpha:g}",
                "weights": ">= 0" if positive else "any",
                "final": final,
                "gain": measure(of.y_test, new @ weights) - reference,
            }


def main() -> None:
    """Print a line for each final, scale, penalty and sign."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="the folder that columns.py wrote")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--measure", choices=list(MEASURES), default="average precision")
    parser.add_argument("--alphas", type=float, nargs="+", default=[1e-2])
    arguments = parser.parse_args()
    lines = []
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")  # of finals that end before their optimum
        for name, split in product(SETS, range(arguments.splits)):
            path = path_of(arguments.cache, name, split)
            if path.exists():
                of = stack(path)
                range_of = next(label for label, most in RANGES.items() if of.y.sum() < most)
                base = {"set": name, "range": "by time" if name in BY_TIME else range_of}
                lines += [
                    base | line for line in differences(of, arguments.alphas, MEASURES[arguments.measure])
                ]
    table = pd.DataFrame(lines)
    keys = ["final", "weights", "penalty", "scale"]
    by_set = table.groupby([*keys, "range", "set"], sort=False)["gain"].mean()
    means = by_set.groupby([*keys, "range"], sort=False).mean().unstack()
    order = [label for label in [*RANGES, "by time"] if label in means]
    random = by_set[by_set.index.get_level_values("range") != "by time"]
    means.insert(0, "random folds", random.groupby(keys, sort=False).mean())
    counts = by_set.reset_index().groupby("range")["set"].nunique()
    print(
        f"{arguments.measure} less the chosen member's; sets: {', '.join(f'{k} {counts[k]}' for k in order)}"
    )
    with pd.option_context("display.width", 200, "display.max_rows", None):
        print(means[["random folds", *order]].round(4).to_string())


if __name__ == "__main__":
    main()
