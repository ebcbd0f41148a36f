"""The same calls every day, or moved between the days of a week: what is found, and when moving loses.

    PUSHRANK_DATA=... python -m experiments.moving_budget > experiments/moving_budget/results.txt
    python -m experiments.moving_budget --quick    # few simulated days, no data

Flights from July on, by models of January to March and of January to June; calls of a bank by day, by a model
of the days before; and simulated days of 400 rows of which a day's level rises in storms. Every rule sees the
labels of the rows that it acted on, from the day after. The first 28 days are its past, and are not counted.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from scipy.special import expit
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from experiments.protocol import versions
from pushrank.budgets import Budget
from pushrank.moving import PAST_DAYS, means_of_blocks, replayed, span_of

LEFT_OUT = ["label", "minutes_late", "tailnum", "flight", "scheduled", "month"]
N_SIMULATED, N_DAYS, N_ROWS = 20, 168, 400
# How strong storms are, what share of them scores see, and what share of what scores see is real.
KINDS = {
    "calm": (0.0, 1.0, 1.0), "mild storms": (0.5, 1.0, 1.0), "strong storms": (1.5, 1.0, 1.0),
    "rare storms": (3.0, 1.0, 1.0), "storms that scores do not see": (1.5, 0.0, 1.0),
    "false storms": (1.5, 1.0, 0.0), "storms that turn false": (1.5, 1.0, -1.0),
}  # fmt: skip
Values = Any


class Stream(NamedTuple):
    """Rows as they come: the day of each, its score and whether it is a hit; calls a day."""

    day: Values
    scores: Values
    hits: Values
    calls: int


def models() -> dict[str, Any]:
    """Return a linear model and LightGBM of tables."""
    numbers, words = (
        make_column_selector(dtype_include="number"),
        make_column_selector(dtype_exclude="number"),
    )
    scaled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    dummies = OneHotEncoder(handle_unknown="ignore", min_frequency=50)
    return {
        "logistic": make_pipeline(
            make_column_transformer((scaled, numbers), (dummies, words)), LogisticRegression(max_iter=300)
        ),
        "LightGBM": make_pipeline(
            make_column_transformer((codes, words), remainder="passthrough"),
            LGBMClassifier(n_jobs=1, verbose=-1, random_state=0),
        ),
    }


def flights() -> Iterator[tuple[str, Stream]]:
    """Yield late flights from June on, by the models of the months before."""
    frame = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / "flights.parquet")
    y, day = frame["label"].to_numpy(), frame["scheduled"].to_numpy().astype("datetime64[D]")
    X = frame.drop(columns=LEFT_OUT)
    new = (day >= np.datetime64("2013-06-03")) & (day < np.datetime64("2013-12-30"))
    for until, (name, model) in (
        (m, pair) for m in ("2013-04-01", "2013-06-03") for pair in models().items()
    ):
        past = day < np.datetime64(until)
        model.fit(X[past], y[past])
        scores = model.predict_proba(X[new])[:, 1]
        yield f"flights, {name}, to {until}", Stream(day[new], scores, y[new], 30)


def simulated(kind: str, seed: int, n_days: int = N_DAYS) -> Stream:
    """Return days whose chances have a level: a storm lasts some days, and scores see a part of it."""
    strength, seen, real = KINDS[kind]
    rng = np.random.default_rng(seed)
    storm, level = np.zeros(n_days), 0.0
    rare = kind.startswith("rare")
    for at in range(n_days):
        level = 0.7 * level + (
            strength * rng.exponential() if rng.random() < (0.03 if rare else 0.15) else 0.0
        )
        storm[at] = level
    storm -= storm.mean()
    truth = np.full(n_days, max(real, 0.0)) if real >= 0.0 else (np.arange(n_days) < n_days // 2) * 1.0
    x = rng.normal(size=(n_days, N_ROWS))
    hits = rng.random((n_days, N_ROWS)) < expit(1.2 * x - 4.3 + (truth * storm)[:, None])
    scores = expit(1.2 * x - 4.3 + (seen * storm)[:, None])
    day = np.repeat(np.datetime64("2026-01-05") + np.arange(n_days), N_ROWS)
    return Stream(day, scores.ravel(), hits.ravel(), 30)


def hindsight(stream: Stream, days: Any, budget: Budget) -> Values:
    """Return the calls of each day by the highest scores of its whole span, known beforehand."""
    calls, rows = np.zeros(len(days.labels), dtype=int), days.rows
    spans = np.array([span_of(budget, date)[0] for date in days.labels])
    for span in np.unique(spans):
        inside = np.flatnonzero(spans == span)
        first = [np.sort(stream.scores[rows[at]])[::-1][: budget.daily_cap] for at in inside]
        of = np.repeat(inside, [len(scores) for scores in first])
        n = round(budget.n * sum(span_of(budget, days.labels[inside[0]])[1:2]) / span_of(budget, span)[2])
        best = np.argsort(-np.concatenate(first), kind="stable")[:n]
        calls += np.bincount(of[best], minlength=len(calls))
    return calls


def found(stream: Stream, days: Any, calls: Values) -> Values:
    """Return the hits of every day after the first 28, with so many calls each."""
    order = np.argsort(-stream.scores, kind="stable")
    return np.bincount(days.codes, days.first(order, calls) * stream.hits, len(days.labels))[PAST_DAYS:]


def judged(stream: Stream) -> dict[str, Any]:
    """Return the hits a day of the fixed quota, of the rule and of hindsight, by the week and the month."""
    days, n = Budget(1).periods(stream.day), stream.calls
    fixed = found(stream, days, n)
    row: dict[str, Any] = {"fixed": fixed}
    for per, of_span in (("week", 7 * n), ("month", 30 * n)):
        budget = Budget(of_span, per, 2 * n)
        spending, calls = replayed(stream.scores, stream.hits, days, budget)
        row[per], row[f"calls, {per}"] = found(stream, days, calls), calls[PAST_DAYS:]
        row[f"hindsight, {per}"] = found(stream, days, hindsight(stream, days, budget))
        row["share"] = spending.share(days.labels[-1] + 1)
    return row


def line(name: str, row: dict[str, Any]) -> str:
    """Return the figures of a stream as text."""
    fixed = row["fixed"]
    cells = [f"{name:36s} fixed {fixed.mean():5.2f}"]
    for per in ("week", "month"):
        more = (row[per] - fixed).astype(float)
        low, high = np.quantile(means_of_blocks(more), [0.025, 0.975])
        of = more.sum() / max((row[f"hindsight, {per}"] - fixed).sum(), 1e-9)
        worst = np.convolve(more, np.ones(28), "valid").min() / 28 if len(more) >= 28 else np.nan
        cells.append(
            f"{per} {row[per].mean():5.2f} ({row[f'calls, {per}'].mean():4.1f} calls, most "
            f"{row[f'calls, {per}'].max()}) {more.mean():+.2f} [{low:+.2f}, {high:+.2f}], {100 * of:4.0f} % "
            f"of hindsight, worst 28 days {worst:+.2f}"
        )
    return "; ".join(cells) + f"; level {row['share']:.2f}"


def shuffled(stream: Stream, seed: int) -> Stream:
    """Return the rows of a stream in a random order, so that no day has a level."""
    order = np.random.default_rng(seed).permutation(len(stream.day))
    return stream._replace(scores=stream.scores[order], hits=stream.hits[order])


def main() -> None:
    """Print a line for each stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few simulated days, no data")
    quick = parser.parse_args().quick
    print(f"python -m experiments.moving_budget\n\n{versions()}\n")
    print("hits a day; 95 % intervals by blocks of 7 days\n")
    for name, stream in flights() if not quick else ():
        print(line(name, judged(stream)), flush=True)
        rows = [judged(shuffled(stream, seed)) for seed in range(5)]
        mean = np.mean([row["week"].mean() - row["fixed"].mean() for row in rows])
        print(f"  the same with rows shuffled over days, 5 orders: {mean:+.2f} by the week", flush=True)
    for kind in KINDS:
        rows = [
            judged(simulated(kind, seed, 84 if quick else N_DAYS))
            for seed in range(1 if quick else N_SIMULATED)
        ]
        more = {per: [np.mean(row[per] - row["fixed"]) for row in rows] for per in ("week", "month")}
        fixed, share = (np.mean([np.mean(row[of]) for row in rows]) for of in ("fixed", "share"))
        told = ", ".join(
            f"{per} {np.mean(of):+.2f} ± {np.std(of) / max(len(of) - 1, 1) ** 0.5:.2f}"
            for per, of in more.items()
        )
        print(f"{kind:36s} fixed {fixed:5.2f}; {told}; level {share:.2f}", flush=True)


if __name__ == "__main__":
    main()
