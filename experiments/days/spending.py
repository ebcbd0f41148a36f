"""Thirty flights a day, decided as they come: what is spent, and what is found, in 180 days after the fit.

    python -m experiments.days.spending > experiments/days/results_spending.txt
    python -m experiments.days.spending --quick    # logistic regression, 30 days

A model of the first 180 days stays as it is. The threshold learns from scores of those days by fits without
the week they are of, and then from each day that ends.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from pushrank.budgets import Budget
from pushrank.monitoring import AlertThreshold

N_LEARNT = 180
BUDGETS = Budget(30, "day"), Budget(210, "week"), Budget(900, "month")
# What is known only later, what names a plane, and the month, of which the fit sees but half.
LEFT_OUT = ["label", "minutes_late", "tailnum", "flight", "scheduled", "month"]
Floats = NDArray[np.float64]


def models() -> dict[str, Any]:
    """Return the models, linear and of trees."""
    numbers, texts = (
        make_column_selector(dtype_include="number"),
        make_column_selector(dtype_exclude="number"),
    )
    scaled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore", min_frequency=50)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return {
        "logistic regression": make_pipeline(
            make_column_transformer((scaled, numbers), (words, texts)), LogisticRegression(max_iter=300)
        ),
        "gradient boosting": make_pipeline(
            make_column_transformer((codes, texts), remainder="passthrough"),
            HistGradientBoostingClassifier(learning_rate=0.06, random_state=0),
        ),
    }


def scored(model: Any, X: pd.DataFrame, y: NDArray[Any], day: NDArray[Any]) -> tuple[Floats, Any]:
    """Return scores by fits that had not seen a row's week, and later ones by the fit to all before."""
    past = day < N_LEARNT
    held_out = cross_val_predict(
        model, X[past], y[past], groups=day[past] // 7, cv=GroupKFold(5), method="decision_function"
    )
    model.fit(X[past], y[past])
    return np.r_[held_out, model.decision_function(X[~past])], model


def row(name: str, act: NDArray[Any], y: NDArray[Any], codes: NDArray[Any], n_days: int) -> None:
    """Print what a rule spends in a period and finds in a day."""
    sizes = np.bincount(codes)
    spent = np.bincount(codes, weights=act)[sizes >= 300]
    shares = np.quantile(spent, [0.05, 0.5])
    print(
        f"  {name:<34} {spent.max():6.0f} {shares[0]:6.0f} {shares[1]:6.0f} {spent.mean():7.1f} "
        f"{y[act].sum() / n_days:9.2f}"
    )


def rules(scores: Floats, y: NDArray[Any], times: NDArray[Any], day: NDArray[Any], last: int) -> None:
    """Print every rule on the periods that lie wholly between the fit and the last day."""
    for budget in BUDGETS:
        periods = budget.periods(times)
        inside = np.unique(periods.codes[(day >= N_LEARNT) & (day < last)])
        outside = np.unique(periods.codes[(day < N_LEARNT) | (day >= last)])
        whole = np.setdiff1d(inside, outside)
        if not len(whole):
            continue
        new, past = np.isin(periods.codes, whole), periods.codes < whole[0]
        n_days = len(np.unique(day[new]))
        codes = periods.codes[new] - whole[0]
        s, found = scores[new], y[new]
        late = found.sum() / n_days
        print(f"\n  {budget.words}: {len(whole)} whole periods, {n_days} days, a day {late:.1f} late")
        print(f"  {'a ' + budget.per + ' of 300 flights or more':<34} {'most':>6} {'5 %':>6} {'median':>6} "
              f"{'mean':>7} {'hits a day':>10}")  # fmt: skip
        start = time.perf_counter()
        act = AlertThreshold(budget).fit(scores[past], times[past]).decide(s, times[new])
        took = time.perf_counter() - start
        row("AlertThreshold", act, found, codes, n_days)
        order = np.lexsort((-s, codes))
        place = np.empty(len(s), dtype=int)
        sizes = np.bincount(codes)
        place[order] = np.arange(len(s)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        row("clairvoyant: the first of each", place < budget.n, found, codes, n_days)
        best = np.zeros(len(s), dtype=bool)
        best[np.argsort(-s)[: budget.n * len(whole)]] = True
        row("one threshold, in hindsight", best, found, codes, n_days)
        # The threshold that the last period would have spent its budget at; the first is that of the past.
        before = [np.sort(scores[periods.codes == code - 1])[-budget.n] for code in whole]
        over = s >= np.array(before)[codes]
        row("last period's threshold", over, found, codes, n_days)
        earlier = np.cumsum(over) - over
        at_start = earlier[np.r_[0, np.cumsum(sizes)[:-1]]][codes]
        row(
            "the same until the budget is spent", over & (earlier - at_start < budget.n), found, codes, n_days
        )
        row("first come, first looked at", np.concatenate([np.arange(n) < budget.n for n in sizes]), found,
            codes, n_days)  # fmt: skip
        if budget.per != "day":
            daily = AlertThreshold(BUDGETS[0]).fit(scores[past], times[past]).decide(s, times[new])
            row("AlertThreshold, 30 a day", daily, found, codes, n_days)
        print(f"  fit and {len(s):,} decisions in memory: {took:.1f} s")


def seconds(work: Any, *arguments: Any) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def cost(
    model: Any, X: pd.DataFrame, scores: Floats, times: NDArray[Any], past: NDArray[Any], n: int
) -> None:
    """Print what a decision costs with its state on disk, and rows a second with the model."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state.db"
        alert = AlertThreshold(BUDGETS[0], state).fit(scores[past], times[past])
        in_memory = AlertThreshold(BUDGETS[0]).fit(scores[past], times[past])
        size, rows = state.stat().st_size, np.flatnonzero(~past)[:n]
        with (Path(folder) / "bare").open("w+b", buffering=0) as bare:
            bare.write(bytes(100 * n))
            os.fsync(bare.fileno())
            bare.seek(0)

            def flush(*_: Any) -> None:
                bare.write(b" " * 100)
                getattr(os, "fdatasync", os.fsync)(bare.fileno())

            works = {
                "to decide, in memory": in_memory.decide,
                "to decide, state on disk": alert.decide,
                "to write 100 bytes to disk": flush,
            }
            # Taken in turn, so that whatever else the machine does meets all three alike.
            took = np.array(
                [[seconds(work, scores[i], times[i], i) for work in works.values()] for i in rows]
            )
        alert.close()
        start = time.perf_counter()
        AlertThreshold.open(state).close()
        opened = time.perf_counter() - start
        print(f"\n  ms, row by row, {len(rows):,} rows     median    95 %     most")
        for name, column in zip(works, took.T, strict=True):
            middle, high, most = 1e3 * np.quantile(column, [0.5, 0.95, 1.0])
            print(f"  {name:<26} {middle:9.2f} {high:7.2f} {most:8.0f}")
        print(f"  state of 60 past days: {size / 1e3:.0f} kB, opened in {1e3 * opened:.0f} ms")
        for batch in (1, 100, len(rows)):
            alert = AlertThreshold(BUDGETS[0], Path(folder) / f"{batch}.db").fit(scores[past], times[past])
            start = time.perf_counter()
            done = rows[: min(len(rows), 50 * batch)]
            for first in range(0, len(done), batch):
                part = done[first : first + batch]
                alert.decide(model.decision_function(X.iloc[part]), times[part], part)
            rate = len(done) / (time.perf_counter() - start)
            alert.close()
            print(f"  with the model, {batch:,} at a time: {rate:,.0f} rows a second")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="logistic regression and 30 days")
    quick = parser.parse_args().quick
    frame = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / "flights.parquet")
    y = frame["label"].to_numpy()
    times = frame["scheduled"].to_numpy().astype("datetime64[s]")
    day = (times.astype("datetime64[D]") - times[0].astype("datetime64[D]")).astype(int)
    X = frame.drop(columns=LEFT_OUT)
    last = N_LEARNT + (30 if quick else 180)
    for name, model in list(models().items())[: 1 if quick else 2]:
        print(f"{name}, fitted to the first {N_LEARNT} days")
        scores, model = scored(model, X, y, day)
        rules(scores, y, times, day, last)
        cost(model, X, scores, times, day < N_LEARNT, 300 if quick else 10_000)
        print()


if __name__ == "__main__":
    main()
