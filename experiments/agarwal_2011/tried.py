"""What else may explain the P-Norm Push of table 3, spambase: other readings of figure 2.

    python -m experiments.agarwal_2011.tried > experiments/agarwal_2011/tried.txt

Each line has the means over the ten trials of the experiment, and how many of the table's four measures are
within two standard deviations of one trial. The first reading is figure 2 as printed: rounds choose by d~,
steps solve equation (1), features are in units of the training rows' range. Others state all in which they
differ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.preprocessing import minmax_scale

from experiments.agarwal_2011 import printed
from experiments.agarwal_2011.readings import Figure2, Reading, one
from experiments.agarwal_2011.trials import MEASURES, TABLES, P, parts
from experiments.protocol import MAX_DEVIATIONS, versions
from pushrank import metrics
from pushrank.datasets import load_dataset
from pushrank.theory.agarwal_2011 import equation_6_26

N_TRIALS = 10
LIMIT = 1 - 1e-6  # of an edge, whose step would be infinite at one
Values = Any


ALL_ROWS = "all rows"
FEATURES: dict[str, Callable[[Values], Values]] = {
    "features as they are": lambda X: X,
    "features over their standard deviation": lambda X: X / X.std(axis=0),
    "logarithms of features": np.log1p,
    "features above zero": lambda X: (X > 0).astype(float),
    "features in reverse order": lambda X: minmax_scale(X[:, ::-1]),
}
"""What stands in the readings of these names in place of features scaled to [0, 1]."""

READINGS = {
    "as printed": Reading(),
    "steps at most ln(1 + IK) / (p + 1)": Reading(capped=True),
    "infinite steps 100": Reading(infinite=100.0),
    "infinite steps 10,000": Reading(infinite=1e4),
    "signed choice": Reading(signed=True),
    "float32": Reading(dtype=np.float32),
    "features in the range of all rows": Reading(units=ALL_ROWS),
    "features in the range of all rows, signed choice": Reading(units=ALL_ROWS, signed=True),
    "features as they are": Reading(units=ALL_ROWS),
    "features over their standard deviation": Reading(units=ALL_ROWS),
    "logarithms of features": Reading(units=ALL_ROWS),
    "features above zero": Reading(),
    "features in reverse order": Reading(),
    "10 rounds": Reading(rounds=10),
    "30 rounds": Reading(rounds=30),
    "1,000 rounds": Reading(rounds=1000),
    "chosen by d": Reading(chosen_by=one),
    "chosen by d, signed choice": Reading(chosen_by=one, signed=True),
    "chosen by d, range of all rows": Reading(chosen_by=one, units=ALL_ROWS),
    "chosen by d, range of all rows, signed choice": Reading(chosen_by=one, units=ALL_ROWS, signed=True),
    "chosen by d, features as they are": Reading(chosen_by=one, units=ALL_ROWS),
    "steps of RankBoost on d~": Reading(step_power=one),
    "steps of RankBoost on d": Reading(step_from=one, step_power=one),
    "d~ in place of d in equation (1)": Reading(step_from=lambda p: p * p),
    "chosen by d, d~ in place of d in equation (1)": Reading(chosen_by=one, step_from=lambda p: p * p),
    "p - 1 in place of p in equation (1)": Reading(
        step_from=lambda p: max(p - 1.0, 1.0), step_power=lambda p: max(p - 1.0, 1.0)
    ),
    "steps ln((1 + r) / (1 - r)) / 2": Reading(
        step=lambda r: float(np.arctanh(np.clip(r, -0.999999, 0.999999)))
    ),
    "steps of 0.1": Reading(step=lambda r: 0.1 * float(np.sign(r))),
}


def trials(name: str, p: float) -> list[tuple[Values, Values]]:
    """Return labels and scores of the test parts of all trials."""
    X, y = load_dataset("spambase", return_X_y=True)
    scaled = next((scale for end, scale in FEATURES.items() if name.endswith(end)), minmax_scale)
    X, tested = scaled(np.asarray(X, dtype=np.float64)), []
    for seed in range(N_TRIALS):
        train, test = parts(y, TABLES["3 spambase"].share, seed)
        fitted = Figure2(p, READINGS[name]).fit(X[train], y[train])
        tested.append((y[test], fitted.decision_function(X[test])))
    return tested


def line(name: str, p: int, values: dict[str, list[float]]) -> str:
    """Return the means of the measures, and how many printed numbers are within two standard deviations."""
    table = printed.as_rows(printed.TABLE_3).set_index(["method", "measure"])["printed"]
    met, cells = 0, []
    for measure, of in values.items():
        mean, deviation = np.mean(of), np.std(of, ddof=1)
        met += abs(table[f"P-Norm Push p={p}", measure] - mean) <= MAX_DEVIATIONS * deviation
        cells.append(f"{mean:8.4g}")
    return f"  {name:52s} p = {p:<3d}" + "".join(cells) + f"   {met} of {len(cells)}"


def main() -> None:
    """Print the measures of all readings, and other measures of the first one."""
    heads = "".join(f"{measure:>8s}" for measure in MEASURES)
    print(f"python -m experiments.agarwal_2011.tried\n\n{versions()}\n\n{'':63s}{heads}")
    table = printed.as_rows(printed.TABLE_3)
    for p in P:
        of = table[table["method"] == f"P-Norm Push p={p}"].set_index("measure")["printed"]
        print(f"  {'printed':52s} p = {p:<3d}" + "".join(f"{of[measure]:8.4g}" for measure in MEASURES))
    for name in READINGS:
        for p in P:
            tested = trials(name, p)
            values = {measure: [of(*rows) for rows in tested] for measure, of in MEASURES.items()}
            print(line(name, p, values), flush=True)
    print("\nother measures of the first reading")
    for p in P:
        tested = trials("as printed", p)
        means = (f"{name} {np.mean([of(*rows) for rows in tested]):.4g}" for name, of in OTHERS.items())
        print(f"  p = {p:<3d}" + ", ".join(means))


OTHERS: dict[str, Callable[..., float]] = {
    "AP by (6.26)": equation_6_26,
    "DCG in base e": partial(metrics.discounted_cumulative_gain, ties="min", log_base=np.e),
    "positives at top, ties against them": metrics.positives_at_top,
    "AUC, ties against the positives": partial(metrics.auc, ties="pessimistic"),
}


if __name__ == "__main__":
    main()
