"""How long a watch takes to see a drift, how often it cries wolf, and what it says of flights.

    python -m experiments.days.alarms > experiments/days/results_alarms.txt
    python -m experiments.days.alarms --quick    # 10 streams of each kind, no flights

A logistic regression of the first 30 days of a stream promises hits by the next 60, and is watched for the
180 after these, with 30 of some 300 rows a day looked at.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from experiments.days.spending import models
from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.model_selection import TimeSplit
from pushrank.monitoring import Reference, watch
from pushrank.monitoring.reference import PeriodCounts

LEARNT, HELD_OUT, WATCHED = 30, 60, 180
QUIET = 60
"""Days that are watched before a drift."""
BUDGET = Budget(30)
LEVEL = 0.05
STORMS = (0.0, 0.5, 1.0)


class Seen(NamedTuple):
    """What a model in use promises, and the rows that it has scored since."""

    reference: Reference
    scores: NDArray[np.float64]
    time: NDArray[np.datetime64]
    X: Any
    y: NDArray[np.int64]


def streamed(seed: int, storms: float, drift: str | None) -> Seen:
    """Return the watched days of a stream, whose drift, if any, begins after some of them."""
    kind: dict[str, Any] = {} if drift is None else {"drift": drift, "drift_day": LEARNT + HELD_OUT + QUIET}
    stream = make_stream(LEARNT + HELD_OUT + WATCHED, storms=storms, random_state=seed, **kind)
    learnt, new = stream.day < LEARNT, stream.day >= LEARNT + HELD_OUT
    held_out = ~(learnt | new)
    X, y, time = stream.data, stream.target, stream.time
    model = LogisticRegression(solver="newton-cholesky").fit(X[learnt], y[learnt])
    scores = model.decision_function(X)
    reference = Reference.of(BUDGET, time[held_out], scores[held_out], y[held_out], X[held_out])
    return Seen(reference, scores[new], time[new], X[new], y[new])


def first_alarms(seed: int, storms: float, drift: str | None) -> tuple[float, float, str]:
    """Return on which day, from 1, hits and rows raise an alarm, infinite for never, and what moved most."""
    seen = watch(*streamed(seed, storms, drift), LEVEL)
    days = [record["period"] for record in seen.table]
    alarms = [day for day, record in enumerate(seen.table, 1) if record["evidence"] >= seen.needed]
    moved = [record for record in seen.moved if record["has_moved"]]
    # What moved most of that which was told first.
    first = min(moved, key=lambda record: (record["told"], record["p_value"]), default=None)
    told = np.inf if first is None else days.index(first["told"]) + 1
    return min(alarms, default=np.inf), told, "" if first is None else first["column"]


def false_alarms(n_streams: int, run: Any) -> None:
    """Print how many streams without a drift raise an alarm."""
    print(f"False alarms in {WATCHED} days, {n_streams} streams without a drift, level {LEVEL:g}\n")
    print("storms  of hits  of rows  either  share  at most (level + 2.5 simulation errors)")
    most = LEVEL + 2.5 * np.sqrt(LEVEL * (1.0 - LEVEL) / n_streams)
    for storms in STORMS:
        found = list(run(joblib.delayed(first_alarms)(seed, storms, None) for seed in range(n_streams)))
        hits, rows = (np.isfinite([alarm[kind] for alarm in found]) for kind in (0, 1))
        either = hits | rows
        print(
            f"{storms:6.1f}{hits.sum():9d}{rows.sum():9d}{either.sum():8d}{either.mean():7.3f}  {most:.3f}",
            flush=True,
        )
    print()


def delays(n_streams: int, run: Any) -> None:
    """Print how many days after a drift an alarm comes."""
    print(f"Days from the drift to the alarm, {n_streams} streams each; before: alarms on {QUIET} days\n")
    print("drift  storms  before  5 %  median  95 %  within 14  never  column x2 named")
    for drift, at in (("label", 0), ("rows", 1)):
        for storms in STORMS:
            found = list(run(joblib.delayed(first_alarms)(seed, storms, drift) for seed in range(n_streams)))
            days = np.array([alarm[at] for alarm in found]) - QUIET
            late = days[days > 0]
            low, median, high = np.quantile(late, [0.05, 0.5, 0.95], method="inverted_cdf")
            named = f"{np.mean([alarm[2] == 'x2' for alarm in found]):.3f}" if drift == "rows" else "–"
            print(
                f"{drift:5s}{storms:8.1f}{len(days) - len(late):8d}{low:5.0f}{median:8.0f}{high:6.0f}"
                f"{np.mean(late <= 14):11.3f}{np.isinf(late).sum():7d}  {named}",
                flush=True,
            )
    print()


def flown(n_months: int, model: Any) -> tuple[Seen, NDArray[np.datetime64]]:
    """Return the flights after the first months, scored by a model of these, and the month of each."""
    frame = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / "flights.parquet")
    time, y = frame["scheduled"].to_numpy(), frame["label"].to_numpy()
    X = frame.drop(columns=["scheduled", "label", "minutes_late", "tailnum", "flight", "month"])
    months = time.astype("datetime64[M]")
    end = months[0] + n_months
    learnt = np.flatnonzero(months < end)
    scores = np.full(len(y), np.nan)
    for train, test in TimeSplit(5).split(X.iloc[learnt], time=time[learnt].astype("datetime64[D]")):
        fitted = clone(model).fit(X.iloc[learnt[train]], y[learnt[train]])
        scores[learnt[test]] = fitted.decision_function(X.iloc[learnt[test]])
    reference = Reference.of(BUDGET, time[learnt], scores[learnt], y[learnt], X.iloc[learnt])
    new = months >= end
    scores = clone(model).fit(X.iloc[learnt], y[learnt]).decision_function(X[new])
    return Seen(reference, scores, time[new], X[new], y[new]), months[new]


def flights(n_months: int) -> None:
    """Print what is said of flights at the end of every month, of a model of the first ones."""
    rows, months = flown(n_months, models()["gradient boosting"])
    reference = rows.reference
    print(f"Flights, a model of the first {n_months} months: {reference.sentence}")
    spread = reference.spread(*reference.expected_hits(PeriodCounts(*reference.counts)))
    print(f"Hits spread by up to {spread:.1f} times the binomial variance\n")
    print("end of   positives  hits  expected  (a day)  evidence of 40  what is said; columns moved")
    for month in np.unique(months):
        at = months <= month
        seen = watch(reference, *(of[at] for of in rows[1:]), LEVEL)
        days = [record for record in seen.table if record["period"][:7] == str(month)]
        found = [np.mean([day[name] for day in days]) for name in ("positives", "hits", "expected")]
        moved = [record["column"] for record in seen.moved if record["has_moved"]]
        shown = "  ".join(f"{value:8.1f}" for value in found)
        print(
            f"{month}  {shown}  {seen.table[-1]['evidence']:17.3g}  {seen.sentence}; {', '.join(moved)}",
            flush=True,
        )
    print()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 streams of each kind, no flights")
    parser.add_argument("--streams", type=int, default=1000, help="without a drift; with one, .3 times")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    run = joblib.Parallel(n_jobs=arguments.jobs, return_as="generator")
    if not arguments.quick:
        flights(3)
        flights(6)
    delays(10 if arguments.quick else max(10, 3 * arguments.streams // 10), run)
    false_alarms(10 if arguments.quick else arguments.streams, run)


if __name__ == "__main__":
    main()
