"""Flights, calls of a bank and made streams, period by period, with scores of a model that stays as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from experiments.days.spending import LEFT_OUT, models
from pushrank.datasets import make_stream

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

K = 30
"""Rows that are acted on in every period."""
N_LOOKS = 6
FIRST_CALLS = 20_011
"""The calls that the bank's model learns from: those left are 84 whole batches."""
BATCH = 300
LEARNT, WATCHED = 60, 180


class Stream(NamedTuple):
    """Rows after the fit: labels, scores by model, the number of the period, and of the look at its end."""

    y: Whole
    scores: dict[str, Floats]
    period: Whole
    look_of_period: Whole


def read(name: str) -> pd.DataFrame:
    """Return a data set in the order of time."""
    return pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / f"{name}.parquet")


def places(scores: Floats, period: Whole, seed: int = 0) -> Whole:
    """Return the place of each row in the list of its period, from 0; ties are broken at random."""
    coins = np.random.default_rng(seed).random(len(scores))
    order = np.lexsort((coins, -scores, period))
    sizes = np.bincount(period)
    place = np.empty(len(scores), dtype=np.int64)
    place[order] = np.arange(len(scores)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return place


def flights(names: tuple[str, ...] = ("logistic regression",)) -> Stream:
    """Return July to December by models of January to June, with a look at every month's end."""
    frame = read("flights")
    y, X = frame["label"].to_numpy(), frame.drop(columns=LEFT_OUT)
    month, date = frame["month"].to_numpy(), frame["scheduled"].to_numpy().astype("datetime64[D]")
    new = month > 6
    fitted = {name: models()[name].fit(X[~new], y[~new]) for name in names}
    scores = {name: model.decision_function(X[new]) for name, model in fitted.items()}
    days, period = np.unique(date[new], return_inverse=True)
    return Stream(y[new], scores, period, days.astype("datetime64[M]").astype(int) % 12 - 6)


def calls() -> Stream:
    """Return the bank's later calls in batches of one size, by a model of its first ones."""
    frame = read("bank_marketing")
    # The duration is known only after the call, and the first calls are of a few months only.
    X = frame.drop(columns=["label", "contacted", "duration", "month"])
    y, new = frame["label"].to_numpy(), np.arange(len(frame)) >= FIRST_CALLS
    model = models()["logistic regression"].fit(X[~new], y[~new])
    period = np.arange(new.sum()) // BATCH
    n_periods = int(period[-1]) + 1
    looks = np.arange(n_periods) * N_LOOKS // n_periods
    return Stream(y[new], {"logistic regression": model.decision_function(X[new])}, period, looks)


def made(kind: str, seed: int = 0) -> Stream:
    """Return 180 days of a made stream, by a model of the 60 days before, with a look every 30 days."""
    usual: dict[str, Any] = {"rows_per_day": 900, "positive_fraction": 0.01}
    if kind == "rising":
        # Six months, each a stream by itself; the chance of a positive on a quiet day grows from .01 to .04.
        parts = [make_stream(LEARNT, random_state=seed, **usual)]
        for month, fraction in enumerate(np.geomspace(0.01, 0.04, N_LOOKS)):
            more = {**usual, "positive_fraction": float(fraction)}
            parts.append(make_stream(WATCHED // N_LOOKS, random_state=1000 * (seed + 1) + month, **more))
        starts = np.cumsum([0] + [int(part.day[-1]) + 1 for part in parts[:-1]])
        day = np.concatenate([part.day + start for part, start in zip(parts, starts, strict=True)])
        X = np.concatenate([part.data for part in parts])
        y = np.concatenate([part.target for part in parts])
    else:
        special = {"drift": {"drift_day": LEARNT + WATCHED // 2}, "storms": {"storms": 1.5}}[kind]
        stream = make_stream(LEARNT + WATCHED, random_state=seed, **usual, **special)
        day, X, y = stream.day, stream.data, stream.target
    new = day >= LEARNT
    model = LogisticRegression().fit(X[~new], y[~new])
    scores = {"logistic regression": model.decision_function(X[new])}
    return Stream(y[new], scores, day[new] - LEARNT, np.arange(WATCHED) * N_LOOKS // WATCHED)
