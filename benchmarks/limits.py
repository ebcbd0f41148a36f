"""What do limits on a list cost, in hits and in time?

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    python benchmarks/limits.py > benchmarks/limits.txt

Hits are those of 30 flights a day, from July to December, by logistic regression fitted to the first half
of the year: of the best list within limits, of the plain list, and of the rows of the plain list that are
left once others are struck off. The interval of what limits cost is tried on 500 resamples of the days, whose
mean is known. Times of lists from one column and from nested ones are in stable argsorts of their scores,
least of three; where columns cross, in seconds.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pushrank.budgets import Budget
from pushrank.limits import Limits, select
from pushrank.metrics import measure_periods
from pushrank.metrics.periods import mean_interval

N_LEARNT, N_DAILY, N_RESAMPLES = 181, 30, 500
# What is known only later, what names a plane, and the month, of which the fit sees but half.
LEFT_OUT = ["label", "minutes_late", "tailnum", "flight", "scheduled", "month"]


def seconds(work: Callable[[], Any], n_times: int = 3) -> float:
    """Return the least time of some runs."""
    taken = []
    for _ in range(n_times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def flights() -> tuple[pd.DataFrame, Any]:
    """Return the flights of the second half of the year, and their scores by a model of the first."""
    frame = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / "flights.parquet").sort_values(
        "scheduled", kind="stable"
    )
    day = pd.to_datetime(frame["scheduled"]).dt.day_of_year
    scaled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore", min_frequency=50)
    columns = make_column_transformer(
        (scaled, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=300))
    X, learnt = frame.drop(columns=LEFT_OUT), (day <= N_LEARNT).to_numpy()
    model.fit(X[learnt], frame["label"][learnt])
    return frame[~learnt], model.predict_proba(X[~learnt])[:, 1]


def struck_off(scores: Any, frame: pd.DataFrame, day: Any, column: str, most: int) -> tuple[float, float]:
    """Return the mean rows and hits of a day that are left of the first rows, others struck off."""
    first = pd.DataFrame({"score": scores, "day": day, "y": frame["label"].to_numpy()})
    first["group"] = frame[column].fillna(pd.Series(frame.index.astype(str), frame.index)).to_numpy()
    first = first.sort_values("score", ascending=False, kind="stable").groupby("day").head(N_DAILY)
    left = first[first.groupby(["day", "group"]).cumcount() < most]
    n_days = len(np.unique(day))
    return len(left) / n_days, left["y"].sum() / n_days


def hits() -> None:
    """Print the hits a day by limit."""
    frame, scores = flights()
    times = pd.to_datetime(frame["scheduled"])
    random = np.random.default_rng(0)
    print(f"{len(frame):,} flights of {times.dt.date.nunique()} days, {frame['label'].sum():,} late")
    print("at most           hits  of the best list: cost, 95 % interval   struck off: rows, hits   held in")
    for column, most in (("carrier", 20), ("carrier", 10), ("carrier", 5), ("tailnum", 1)):
        found = measure_periods(
            frame["label"], scores, budget=Budget(N_DAILY), time=times,
            limits=Limits({column: most}, missing="separate"), X={column: frame[column]},
        )  # fmt: skip
        low, high, cost, _ = found.prices["scores"]
        rows, left = struck_off(scores, frame, times.dt.date.to_numpy(), column, most)
        series = found.unlimited["scores"] - found.hits["scores"]
        draws = random.integers(len(series), size=(N_RESAMPLES, len(series)))
        ends = np.array([mean_interval(series[draw], 0.95)[:2] for draw in draws])
        held = np.mean((ends[:, 0] <= cost) & (cost <= ends[:, 1]))
        print(
            f"{most:>2} a {column:<12} {found.hits['scores'].mean():5.2f} {cost:18.2f}  {low:5.2f} to "
            f"{high:4.2f} {rows:22.1f} {left:6.2f} {held:9.3f}"
        )
    print(f"no limit          {found.unlimited['scores'].mean():5.2f}")


def times() -> None:
    """Print the times of lists within limits."""
    random = np.random.default_rng(0)
    scores, k = random.random(1_000_000), 10_000
    group = random.integers(100_000, size=len(scores))
    sort = seconds(lambda: np.argsort(-scores, kind="stable"))
    nested = {"branch": group, "region": group % 500}
    print(f"\n{len(scores):,} rows, k = {k:,}, in argsorts of {sort:.3f} s")
    for name, most in (("one column", {"branch": 1}), ("nested", {"branch": 1, "region": 25})):
        taken = seconds(lambda most=most: select(scores, k, Limits(most), X=nested))
        print(f"{name:<12} {taken / sort:.2f}")
    scores = random.random(100_000)
    X = {name: random.integers(n, size=len(scores)) for name, n in {"a": 1000, "b": 50, "c": 300}.items()}
    print(f"\n{len(scores):,} rows of 1,000, 50 and 300 values of columns that cross: seconds, and warnings")
    for k in (384, 10_000):
        for names in ("ab", "abc"):
            most = {name: int(np.ceil(1.1 * k / len(np.unique(X[name])))) for name in names}
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                taken = seconds(lambda k=k, most=most: select(scores, k, Limits(most), X=X), 1)
            said = [str(of.message) for of in warned] or "gap 0"
            print(f"k = {k:>6,}, {len(names)} columns: {taken:6.1f} s {said}")


if __name__ == "__main__":
    hits()
    times()
