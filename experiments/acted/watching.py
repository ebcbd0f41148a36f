"""Whether hits among the rows looked at are watched as well as hits among rows that all have labels.

    python -m experiments.acted.watching > experiments/acted/watching.txt
    python -m experiments.acted.watching --quick    # 10 streams of each kind, no flights

A logistic regression of the first 30 days of a stream promises hits by the next 60, and is watched for the
180 after these. Of some 300 rows a day 30 are looked at: the first by score, or 27 of these and 3 drawn from
all others. The watch is given all labels, or only those of the rows looked at.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from typer.testing import CliRunner

from experiments.days.alarms import BUDGET, LEVEL, QUIET, STORMS, WATCHED, Seen, flown, streamed
from experiments.days.spending import models
from pushrank.cli import app
from pushrank.datasets import make_stream
from pushrank.monitoring import Watch, watch

N_AUDITED = 3
FEWER, FAILS = "half of all positives are none", "the first column tells nothing of labels"
KINDS = ("all labels", "of the first 30", "27 and 3 drawn")


def looked_at(scores: np.ndarray, day: np.ndarray, n_audited: int, seed: int) -> np.ndarray:
    """Return which rows are the first of their day, or drawn from the others."""
    rng, n_listed = np.random.default_rng(seed), BUDGET.n - n_audited
    rows = pd.DataFrame({"score": -scores, "coin": rng.random(len(scores)), "day": day})
    place = rows.groupby("day")["score"].rank(method="first")
    coin = rows["coin"].where(place > n_listed)
    return ((place <= n_listed) | (coin.groupby(rows["day"]).rank() <= n_audited)).to_numpy()


def all_kinds(rows: Seen, seed: int) -> dict[str, Watch]:
    """Return what is said of rows by each kind of labels."""
    day, y = rows.time.astype("datetime64[D]"), rows.y.astype(np.float64)
    first, audited = (looked_at(rows.scores, day, n, seed) for n in (0, N_AUDITED))
    given = [{"y": y}, {"y": np.where(first, y, np.nan)}]
    given.append({"y": np.where(audited, y, np.nan), "acted": audited})
    seen = (watch(rows.reference, rows.scores, rows.time, level=LEVEL, **labels) for labels in given)
    return dict(zip(KINDS, seen, strict=True))


def first_alarms(seed: int, storms: float, change: str | None) -> list[float]:
    """Return on which day, from 1, hits raise an alarm by each kind of labels, infinite for never."""
    rows = streamed(seed, storms, "label" if change == FAILS else None)
    if change == FEWER:
        # From then on a half of all positives, drawn at random, are none.
        late = rows.time >= rows.time.min() + np.timedelta64(QUIET, "D")
        left = np.random.default_rng(seed).random(len(late)) < 0.5
        rows = rows._replace(y=rows.y * (left | ~late))
    days = []
    for seen in all_kinds(rows, seed).values():
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
    for name in ("logistic regression", "gradient boosting"):
        rows, months = flown(6, models()[name])
        print(f"Flights, {name} of January to June: {rows.reference.sentence}")
        print("end of   labels            labelled  hits  expected  evidence  what is said")
        for month in np.unique(months):
            so_far = Seen(rows.reference, *(of[months <= month] for of in rows[1:]))
            for kind, seen in all_kinds(so_far, 0).items():
                sums = [sum(of[name] for of in seen.table) for name in ("labelled", "hits", "expected")]
                shown = "{:10,.0f}{:6,.0f}{:10,.0f}".format(*sums)
                evidence = seen.table[-1]["evidence"]
                print(f"{month}  {kind:16s}{shown}{evidence:10.3g}  {seen.sentence}", flush=True)
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
