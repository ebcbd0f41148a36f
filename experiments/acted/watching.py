"""Whether hits among the rows looked at are watched as well as hits among rows that all have labels.

    python -m experiments.acted.watching > experiments/acted/watching.txt
    python -m experiments.acted.watching --quick    # 10 streams of each kind, no flights

A logistic regression of the first 30 days of a stream promises hits by the next 60, and is watched for the
180 after these. Of some 300 rows a day 30 are looked at: the first by score, or 27 of these and 3 drawn from
all others. The watch is given all labels, or only those of the rows looked at.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

from pushrank.budgets import Budget
from pushrank.cli import app
from pushrank.datasets import make_stream
from pushrank.model_selection import TimeSplit
from pushrank.monitoring import Reference, Watch, watch

LEARNT, HELD_OUT, WATCHED, QUIET = 30, 60, 180, 60
BUDGET, N_AUDITED, LEVEL = Budget(30), 3, 0.05
FEWER, FAILS = "half of all positives are none", "the first column tells nothing of labels"
STORMS = (0.0, 0.5, 1.0)
KINDS = ("all labels", "of the first 30", "27 and 3 drawn")


def looked_at(scores: np.ndarray, day: np.ndarray, n_audited: int, seed: int) -> np.ndarray:
    """Return which rows are the first of their day, or drawn from the others."""
    rng, n_listed = np.random.default_rng(seed), BUDGET.n - n_audited
    rows = pd.DataFrame({"score": -scores, "coin": rng.random(len(scores)), "day": day})
    place = rows.groupby("day")["score"].rank(method="first")
    coin = rows["coin"].where(place > n_listed)
    return ((place <= n_listed) | (coin.groupby(rows["day"]).rank() <= n_audited)).to_numpy()


def all_kinds(
    reference: Reference, scores: np.ndarray, time: np.ndarray, y: np.ndarray, seed: int
) -> dict[str, Watch]:
    """Return what is said of rows by each kind of labels."""
    day = time.astype("datetime64[D]")
    first, audited = (looked_at(scores, day, n, seed) for n in (0, N_AUDITED))
    return {
        KINDS[0]: watch(reference, scores, time, y=y, level=LEVEL),
        KINDS[1]: watch(reference, scores, time, y=np.where(first, y, np.nan), level=LEVEL),
        KINDS[2]: watch(reference, scores, time, y=np.where(audited, y, np.nan), level=LEVEL, acted=audited),
    }


def first_alarms(seed: int, storms: float, change: str | None) -> list[float]:
    """Return on which day, from 1, hits raise an alarm by each kind of labels, infinite for never."""
    changed = LEARNT + HELD_OUT + QUIET
    drift: dict[str, Any] = {"drift_day": changed} if change == FAILS else {}
    stream = make_stream(LEARNT + HELD_OUT + WATCHED, storms=storms, random_state=seed, **drift)
    learnt, new = stream.day < LEARNT, stream.day >= LEARNT + HELD_OUT
    held_out, y = ~(learnt | new), stream.target.astype(np.float64)
    if change == FEWER:
        # From then on a half of all positives, drawn at random, are none.
        y[(np.random.default_rng(seed).random(len(y)) < 0.5) & (stream.day >= changed)] = 0.0
    model = LogisticRegression(solver="newton-cholesky").fit(stream.data[learnt], y[learnt])
    scores = model.decision_function(stream.data)
    reference = Reference.of(BUDGET, stream.time[held_out], scores[held_out], y[held_out])
    days = []
    for seen in all_kinds(reference, scores[new], stream.time[new], y[new], seed).values():
        alarms = [at for at, record in enumerate(seen.table, 1) if record["evidence"] >= seen.needed]
        days.append(min(alarms, default=np.inf))
    return days


def false_alarms(n_streams: int, run: Any) -> None:
    """Print how many streams without a change raise an alarm."""
    low, high = 0.01, LEVEL
    ends = [p + sign * 3.0 * np.sqrt(p * (1.0 - p) / n_streams) for p, sign in ((low, -1.0), (high, 1.0))]
    print(
        f"Alarms of hits in {WATCHED} days, {n_streams:,} streams in which nothing changes; level {LEVEL:g}"
    )
    print(f"1 to 5 % within three standard errors is {ends[0]:.4f} to {ends[1]:.4f}\n")
    print("storms  " + "  ".join(f"{kind:>16s}" for kind in KINDS))
    for storms in STORMS:
        jobs = (joblib.delayed(first_alarms)(seed, storms, None) for seed in range(n_streams))
        shares = np.isfinite(np.array(list(run(jobs)))).mean(axis=0)
        print(f"{storms:6.1f}  " + "  ".join(f"{share:16.3f}" for share in shares), flush=True)
    print()


def delays(n_streams: int, change: str, run: Any) -> None:
    """Print how many days after hits fall an alarm comes."""
    print(f"Days until the alarm after {change}, {n_streams} streams each")
    print(f"before: share of streams with an alarm in the {QUIET} days before the fall\n")
    print("storms  labels            before   5 %  median  95 %  never")
    for storms in STORMS:
        jobs = (joblib.delayed(first_alarms)(seed, storms, change) for seed in range(n_streams))
        found = np.array(list(run(jobs))) - QUIET
        for kind, days in zip(KINDS, found.T, strict=True):
            late = days[days > 0]
            low, median, high = np.quantile(late, [0.05, 0.5, 0.95], method="inverted_cdf")
            print(
                f"{storms:6.1f}  {kind:16s}{np.mean(days <= 0):8.3f}{low:6.0f}{median:8.0f}{high:6.0f}"
                f"{np.mean(np.isinf(late)):7.3f}",
                flush=True,
            )
    print()


def nothing_known() -> None:
    """Print what the command says of rows of which none has a label."""
    stream = make_stream(120, random_state=0)
    frame = pd.DataFrame(stream.data, columns=stream.feature_names).assign(came=stream.time)
    with tempfile.TemporaryDirectory() as folder:
        learnt, new, model = (Path(folder) / name for name in ("learnt.csv", "new.csv", "m.skops"))
        frame.assign(hit=stream.target)[stream.day < 60].to_csv(learnt, index=False)
        frame[stream.day >= 60].assign(hit=np.nan).to_csv(new, index=False)
        call = CliRunner().invoke
        options = ["--label", "hit", "--budget", "30/day", "--time", "came"]
        call(app, ["fit", str(learnt), *options, "-o", str(model)])
        result = call(app, ["watch", str(model), str(new), "--time", "came"])
    print(f"No row has a label: {result.stdout.splitlines()[-1]!r}, exit code {result.exit_code}\n")


def flights() -> None:
    """Print what is said of flights at the end of every month, by models of the first half of the year."""
    frame = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / "flights.parquet")
    time, y = frame["scheduled"].to_numpy(), frame["label"].to_numpy().astype(np.float64)
    X = frame.drop(columns=["scheduled", "label", "minutes_late", "tailnum", "flight", "month"])
    numbers = list(X.select_dtypes("number").columns)
    texts = [name for name in X if name not in numbers]
    X = X.assign(**{name: X[name].astype(str) for name in texts})
    X[numbers] = X[numbers].fillna(X[numbers].median())
    codes = X.assign(**{name: X[name].astype("category").cat.codes for name in texts})
    one_hot = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), texts)
    )
    linear = make_pipeline(one_hot, LogisticRegression(max_iter=1000))
    trees = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    months, days = time.astype("datetime64[M]"), time.astype("datetime64[D]")
    learnt = np.flatnonzero(months < months[0] + 6)
    for name, model, rows in (("logistic regression", linear, X), ("gradient boosting", trees, codes)):
        scores = np.full(len(y), np.nan)
        for train, test in TimeSplit(5).split(rows.iloc[learnt], time=days[learnt]):
            fitted = model.fit(rows.iloc[learnt[train]], y[learnt[train]])
            scores[learnt[test]] = fitted.decision_function(rows.iloc[learnt[test]])
        reference = Reference.of(BUDGET, time[learnt], scores[learnt], y[learnt])
        scores = model.fit(rows.iloc[learnt], y[learnt]).decision_function(rows)
        print(f"Flights, {name} of January to June: {reference.sentence}")
        print("end of   labels            labelled  hits  promised  evidence  what is said")
        for month in np.unique(months)[6:]:
            new = (months > months[learnt].max()) & (months <= month)
            for kind, seen in all_kinds(reference, scores[new], time[new], y[new], 0).items():
                sums = [sum(of[name] for of in seen.table) for name in ("labelled", "hits", "promised")]
                shown = "{:10,.0f}{:6,.0f}{:10,.0f}".format(*sums)
                print(
                    f"{month}  {kind:16s}{shown}{seen.table[-1]['evidence']:10.3g}  {seen.sentence}",
                    flush=True,
                )
        print()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 streams of each kind, no flights")
    parser.add_argument("--streams", type=int, default=1000, help="without a fall; with one, .3 times")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    run = joblib.Parallel(n_jobs=arguments.jobs, return_as="generator")
    nothing_known()
    if not arguments.quick:
        flights()
    for change in (FEWER, FAILS):
        delays(10 if arguments.quick else max(10, 3 * arguments.streams // 10), change, run)
    false_alarms(10 if arguments.quick else arguments.streams, run)


if __name__ == "__main__":
    main()
