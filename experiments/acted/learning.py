"""What to learn from where the list makes its own labels: hits a day by rule, for three models.

    python -m experiments.acted.learning > experiments/acted/learning.txt
    python -m experiments.acted.learning --quick    # two seeds of the stream, logistic regression

A model is fitted to rows that all have labels, and again at the end of every month (of every 30 days) to what
has a label by then. From then on only rows that were acted on get one: the first 30 - a of each day by the
model's own score, and a audited ones, drawn at random from those below. Each rule makes its own labels, and
lives with what it learns from them. Flights: January to June, then July to December. Stream: 60 days, then
180, of which the last 120 have drifted. Audited rows are weighted by inverse chances, all others by 1.

The mean of two models is that of Dal Pozzolo, Boracchi, Caelen, Alippi and Bontempi, *Credit card fraud
detection and concept-drift adaptation with delayed supervised information*, IJCNN 2015: one is fitted to the
feedback on listed rows, and one to all other labels, here those of the beginning and the audited ones. Their
chances are not on one scale, so that ranks within the day are averaged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from experiments.acted.streams import LEARNT, WATCHED, Floats, K, Whole, places, read
from experiments.days.spending import LEFT_OUT
from experiments.days.spending import models as pipelines
from pushrank import PNormPush
from pushrank.datasets import make_stream

CAP = 10.0
MODELS: dict[str, Callable[[int], Any]] = {
    "logistic regression": lambda _: LogisticRegression(max_iter=300),
    "P-Norm Push, p = 4": lambda _: PNormPush(p=4.0),
    "gradient boosting": lambda seed: HistGradientBoostingClassifier(learning_rate=0.06, random_state=seed),
}


class Rule(NamedTuple):
    """How many rows are audited, and what is learnt how."""

    n_audited: int
    how: str

    def __str__(self) -> str:
        """Return the name of the rule."""
        return f"{self.n_audited} audited, {self.how}" if self.n_audited else self.how


BASE = Rule(0, "acted-on alone")
RULES = [Rule(0, "all labels"), BASE]
RULES += [Rule(a, how) for how in ("unweighted", "weighted", "capped") for a in (1, 3, 5)]
RULES += [Rule(3, "two models")]


class Rows(NamedTuple):
    """Features for linear models and for trees, labels, days from 0, and months: 0 is the beginning."""

    X: dict[bool, NDArray[Any]]
    y: Whole
    day: Whole
    month: Whole


def flights() -> Rows:
    """Return the flights of the year, encoded by what their first half holds."""
    frame = read("flights")
    X, month = frame.drop(columns=LEFT_OUT), np.maximum(frame["month"].to_numpy() - 6, 0)
    steps = {name: model[:-1].fit(X[month == 0]) for name, model in pipelines().items()}
    linear = steps["logistic regression"].transform(X).toarray()
    day = np.unique(frame["scheduled"].to_numpy().astype("datetime64[D]"), return_inverse=True)[1]
    of_trees = steps["gradient boosting"].transform(X).astype(np.float64)
    return Rows({False: linear, True: of_trees}, frame["label"].to_numpy(), day, month)


def drifting(seed: int) -> Rows:
    """Return a stream whose strongest feature tells nothing any more from the 60th day after the fit on."""
    drift_day = LEARNT + WATCHED // 3
    s = make_stream(LEARNT + WATCHED, 900, positive_fraction=0.01, drift_day=drift_day, random_state=seed)
    return Rows({False: s.data, True: s.data}, s.target, s.day, np.maximum(s.day - LEARNT, -30) // 30 + 1)


def path(rows: Rows, name: str, rule: Rule, seed: int, first: Any) -> Floats:
    """Return the hits of each day among all 30 rows acted on, and among the first 30 by score."""
    X, coins = rows.X[name == "gradient boosting"], np.random.default_rng(seed).random(len(rows.y))
    k = K - rule.n_audited
    # What is known of each row: nothing, or that it is of the beginning, listed, audited or labelled anyhow.
    known, weight = np.where(rows.month == 0, "late", ""), np.ones(len(rows.y))
    per_day = []

    def fitted(which: NDArray[np.bool_]) -> Any:
        # Without weights none are passed, so that no solver for weighted rows is taken.
        weights = {} if np.ptp(weight[which]) == 0.0 else {"sample_weight": weight[which]}
        return MODELS[name](seed).fit(X[which], rows.y[which], **weights)

    for month in range(1, int(rows.month.max()) + 1):
        at = np.flatnonzero(rows.month == month)
        day = rows.day[at] - rows.day[at[0]]
        is_split = rule.how == "two models" and month > 1
        model = first if month == 1 else fitted(known == "late" if is_split else known != "")
        place = places(model.decision_function(X[at]), day)
        if is_split:
            of_feedback = places(fitted(known == "list").decision_function(X[at]), day)
            place = places(-(place + of_feedback).astype(float), day)
        below = np.where(place < k, np.inf, coins[at])
        is_listed, is_audited = place < k, places(-below, day) < rule.n_audited
        acted = rows.y[at] * (is_listed | is_audited)
        per_day.append([np.bincount(day, acted), np.bincount(day, rows.y[at] * (place < K))])
        known[at[is_listed]], known[at[is_audited]] = "list", "late"
        if rule.how == "all labels":
            known[at] = "late"
        inverse = np.bincount(day, ~is_listed)[day] / max(rule.n_audited, 1)
        most = {"weighted": np.inf, "capped": CAP}.get(rule.how, 1.0)
        weight[at[is_audited]] = np.minimum(inverse, most)[is_audited]
    return np.concatenate(per_day, axis=1)


def compared(hits: Floats, base: Floats) -> str:
    """Return mean and deviation over seeds, the difference to a base, and its errors by seeds and weeks."""
    more = hits - base
    n_weeks = more.shape[1] // 7
    of_weeks = more.mean(axis=0)[: 7 * n_weeks].reshape(n_weeks, 7).mean(axis=1)
    errors = [of.std(ddof=1) / np.sqrt(len(of)) for of in (more.mean(axis=1), of_weeks)]
    reach = max(
        student.ppf(0.975, n - 1) * error for n, error in zip((len(more), n_weeks), errors, strict=True)
    )
    mark = "*" if abs(more.mean()) > reach else " "
    level, spread = hits.mean(), hits.mean(axis=1).std(ddof=1)
    return f"{level:8.2f} ± {spread:4.2f} {more.mean():+6.2f}{mark} ({errors[0]:.2f}, {errors[1]:.2f})"


def table(of_seed: Callable[[int], Rows], name: str, n_seeds: int, *, is_one: bool) -> None:
    """Print the hits of every rule; one path stands for all seeds where nothing is drawn."""
    found: dict[Rule, list[Floats]] = {rule: [] for rule in RULES}
    for seed in range(n_seeds):
        rows = of_seed(seed)
        start = rows.month == 0
        first = MODELS[name](seed).fit(rows.X[name == "gradient boosting"][start], rows.y[start])
        for rule, paths in found.items():
            is_same = is_one and name != "gradient boosting" and not rule.n_audited and seed
            paths.append(paths[0] if is_same else path(rows, name, rule, seed, first))
    print(f"{name:24s}{'found by all 30 acted on':>27}{'the first 30 by score':>36}")
    hits = {rule: np.array(paths) for rule, paths in found.items()}
    for rule, of in hits.items():
        cells = (compared(of[:, part], hits[BASE][:, part]) for part in (0, 1))
        print(f"  {rule!s:22s}" + "".join(cells))
    print(flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two seeds of the stream, logistic regression")
    quick = parser.parse_args().quick
    n_seeds = 2 if quick else 5
    print(
        f"Hits a day: mean and standard deviation over {n_seeds} seeds, and the difference to labels of rows"
    )
    print("acted on alone, without an audit; in brackets its standard errors, by seeds and by weeks")
    print(f"*: beyond chance by both, at 95 % each; capped: no weight is above {CAP:g}\n")
    names = list(MODELS)[:1] if quick else list(MODELS)
    print("A stream with a drift, another one for each seed")
    for name in names:
        table(drifting, name, n_seeds, is_one=False)
    if quick:
        return
    print("Flights; seeds are of the audit and of the fit")
    rows = flights()
    for name in names:
        table(lambda _: rows, name, n_seeds, is_one=True)


if __name__ == "__main__":
    main()
