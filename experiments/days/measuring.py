"""Hits a day: do the intervals hold, whom do random folds mislead, and what yesterday's best model costs.

    python -m experiments.days.measuring > experiments/days/results_measuring.txt
    python -m experiments.days.measuring --quick    # 40 streams, few rows of real data

Intervals: streams of 364 days with weeks and storms, of which the first 21 to 364 days are measured; the
truth is the mean over all streams. Beside the interval of measure_periods (cosines) stand the symmetric one
with as many cosines as was proposed (plain), that of independent days (days alone), and the bootstrap of
blocks of days, by percentiles and by Student's t; the last column is of the share of days with two hits. Real
data: five models on flights (every sixth row) and calls of a bank, each row scored by a model fitted to
earlier rows, and by one of five random folds, on the same rows.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pushrank import PNormPush
from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.metrics import measure_periods
from pushrank.metrics.periods import mean_interval, share_interval
from pushrank.model_selection import TimeSplit

Floats = NDArray[np.float64]
LENGTHS = (21, 30, 60, 120, 364)
METHODS = ("cosines", "plain", "days alone", "blocks", "blocks, t", "share")
N_RESAMPLES = 499


def block_length(x: Floats) -> int:
    """Return the length of blocks for the circular bootstrap.

    Politis and White (2004), corrected by Patton, Politis and White (2009).
    """
    n, centred = len(x), x - x.mean()
    run = max(5, int(np.ceil(np.sqrt(np.log10(n)))))
    lags = min(int(np.ceil(np.sqrt(n))) + run, n - 1)
    cov = np.array([centred[k:] @ centred[: n - k] for k in range(lags + 1)]) / n
    if cov[0] == 0.0:
        return 1
    is_small = np.abs(cov / cov[0]) < 2.0 * np.sqrt(np.log10(n) / n)
    first = next((k for k in range(lags) if is_small[k + 1 : k + 1 + run].all()), lags)
    widest = max(1, min(2 * first, lags))
    k = np.arange(-widest, widest + 1)
    window = np.clip(2.0 * (1.0 - np.abs(k) / widest), 0.0, 1.0) * cov[np.abs(k)]
    curve, level = np.sum(np.abs(k) * window), np.sum(window)
    length = (2.0 * curve**2 / (4.0 / 3.0 * level**2)) ** (1 / 3) * n ** (1 / 3)
    return int(np.clip(np.ceil(length), 1, np.ceil(min(3.0 * np.sqrt(n), n / 3.0))))


def block_intervals(x: Floats, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Return the percentiles of the circular block bootstrap, and its standard error times Student's t."""
    n, length = len(x), block_length(x)
    n_blocks = -(-n // length)
    lengths = np.full(n_blocks, length)
    lengths[-1] -= n_blocks * length - n
    sums = np.append(0.0, np.cumsum(np.tile(x, 2)))
    starts = rng.integers(n, size=(N_RESAMPLES, n_blocks))
    means = np.sum(sums[starts + lengths] - sums[starts], axis=1) / n
    low, high = np.quantile(means, [0.025, 0.975])
    half = student.ppf(0.975, max(n_blocks - 1, 1)) * means.std()
    return [(float(low), float(high)), (float(x.mean() - half), float(x.mean() + half))]


def plain_cosines(x: Floats) -> tuple[float, float]:
    """Return the symmetric interval with as many cosines as Lazarus, Lewis, Stock and Watson propose."""
    n = len(x)
    nu = int(0.4 * n ** (2 / 3))
    angles = np.pi * np.outer(np.arange(1, nu + 1), np.arange(n) + 0.5) / n
    error = np.sqrt(2.0 * np.mean((np.cos(angles) @ (x - x.mean())) ** 2)) / n
    half = student.ppf(0.975, nu) * error
    return float(x.mean() - half), float(x.mean() + half)


def hits_of_stream(seed: int, storms: float, at_the_top: float) -> Floats:
    """Return the hits of ten rows a day, by scores with an error."""
    stream = make_stream(364, 100, 3, positive_fraction=at_the_top, storms=storms, random_state=seed)
    noise = np.random.default_rng(seed).normal(size=len(stream.day))
    scores = stream.data @ [1.5, 1.0, 0.7] + noise
    return measure_periods(stream.target, scores, budget=Budget(10), time=stream.time).hits["scores"]


def coverage(n_streams: int) -> None:
    """Print how often intervals of 95 % hold the mean, over streams."""
    error = 100 * np.sqrt(0.95 * 0.05 / n_streams)
    print(
        f"Coverage of intervals at 95 %, in per cent of {n_streams} streams (standard error {error:.1f}), "
        "and the mean width of the first"
    )
    print(f"{'storms':>6} {'mean':>5} {'days':>5}", *(f"{method:>11}" for method in METHODS), f"{'width':>7}")
    for storms in (0.0, 0.5, 1.0):
        for fraction in (0.002, 0.02):
            streams = [hits_of_stream(seed, storms, fraction) for seed in range(n_streams)]
            truth, share = np.mean(streams), np.mean(np.array(streams) >= 2.0)
            for n_days in LENGTHS:
                held, widths = np.zeros(len(METHODS)), []
                for seed, stream in enumerate(streams):
                    hits = stream[:n_days]
                    found = mean_interval(hits, 0.95, 10.0)
                    intervals = [found[:2], plain_cosines(hits)]
                    half = student.ppf(0.975, n_days - 1) * hits.std(ddof=1) / np.sqrt(n_days)
                    intervals.append((hits.mean() - half, hits.mean() + half))
                    intervals += block_intervals(hits, np.random.default_rng(seed))
                    held[:5] += [low <= truth <= high for low, high in intervals]
                    low, high, *_ = share_interval(hits, 2.0, 0.95)
                    held[5] += low <= share <= high
                    widths.append(found.high - found.low)
                shown = " ".join(f"{100 * count / n_streams:11.1f}" for count in held)
                print(f"{storms:6} {truth:5.2f} {n_days:5} {shown} {np.nanmean(widths):7.2f}", flush=True)


def models() -> dict[str, BaseEstimator]:
    """Return the five models, unfitted."""
    return {
        "logistic regression": LogisticRegression(max_iter=1000),
        "P-Norm Push, p = 16": PNormPush(p=16.0, alpha=0.1),
        "gradient boosting": HistGradientBoostingClassifier(random_state=0),
        "random forest": RandomForestClassifier(min_samples_leaf=3, random_state=0, n_jobs=2),
        "extra trees": ExtraTreesClassifier(min_samples_leaf=3, random_state=0, n_jobs=2),
    }


def scores_by(splits: Any, model: BaseEstimator, X: pd.DataFrame, y: NDArray[np.int64]) -> Floats:
    """Return the scores of the rows that splits test, NaN of others."""
    texts = make_column_selector(dtype_exclude="number")
    numbers = make_column_selector(dtype_include="number")
    one_hot = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=20, sparse_output=False)
    columns = make_column_transformer(
        (one_hot, texts),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
    )
    scores = np.full(len(y), np.nan)
    for train, test in splits:
        fitted = make_pipeline(columns, clone(model)).fit(X.iloc[train], y[train])
        rows = X.iloc[test]
        has_chances = hasattr(model, "predict_proba")
        scores[test] = fitted.predict_proba(rows)[:, 1] if has_chances else fitted.decision_function(rows)
    return scores


def judged(name: str, time: str, left_out: list[str], every: int, budget: Budget) -> None:
    """Print hits a day of five models by time and by random folds, and the regret of yesterday's best."""
    frame = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / f"{name}.parquet")
    frame = frame.sort_values(time, kind="stable").iloc[::every].reset_index(drop=True)
    y, when = frame["label"].to_numpy(), frame[time]
    X = frame.drop(columns=["label", time, *left_out])
    days = when.to_numpy().astype("datetime64[D]")
    by_time = list(TimeSplit(5).split(X, time=days))
    random = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    tested = np.concatenate([test for _, test in by_time])
    found: dict[str, dict[str, Floats]] = {"by time": {}, "random": {}}
    for model_name, model in models().items():
        for how, splits in (("by time", by_time), ("random", random)):
            found[how][model_name] = scores_by(splits, model, X, y)[tested]
    measured = {
        how: measure_periods(y[tested], scores, budget=budget, time=days[tested])
        for how, scores in found.items()
    }
    fair = measured["by time"]
    print(f"\n{name}, every row of {every}: {fair.title().partition(' on ')[2]}")
    print(fair.sentences()[0])
    print(f"{'':22}{'by time':>24}{'random folds':>24}{'too much by':>28}{'place':>8}{'overlap':>9}")
    places = [
        np.argsort(np.argsort([-m.estimate for m in of.means.values()])) + 1 for of in measured.values()
    ]
    for at, model in enumerate(found["random"]):
        means = [of.means[model] for of in measured.values()]
        shown = [f"{mean.estimate:.2f} ({mean.low:.2f} to {mean.high:.2f})" for mean in means]
        both = {how: scores[model] for how, scores in found.items()}
        pair = measure_periods(y[tested], both, budget=budget, time=days[tested])
        low, high, more, _ = pair.differences["random"]
        shown += [f"{more:+.2f} ({low:+.2f} to {high:+.2f})", f"{places[0][at]} / {places[1][at]}"]
        alike = pair.overlap["by time"]["random"]
        print(f"{model:22}{shown[0]:>24}{shown[1]:>24}{shown[2]:>28}{shown[3]:>8}{alike:9.2f}", flush=True)
    for how, of in measured.items():
        print(f"{how}:", *(said for said in of.sentences() if " against " in said), sep="\n  ")
    for rows, per in ((budget.n, "day"), (7 * budget.n, "week")):
        of = measure_periods(y[tested], found["by time"], budget=Budget(rows, per), time=days[tested])
        hits, best, of_always = of.regret()
        print(
            f"Best of the last {per} ({of.budget.words}): {hits:.2f} hits; best of each "
            f"{best.estimate:+.2f} ({best.low:.2f} to {best.high:.2f}); always:"
        )
        for model, always in of_always.items():
            print(f"  {model:22}{always.difference:+.2f} ({always.low:+.2f} to {always.high:+.2f})")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="40 streams, few rows of real data")
    is_quick = parser.parse_args().quick
    warnings.simplefilter("ignore", ConvergenceWarning)
    coverage(40 if is_quick else 500)
    left_out = ["minutes_late", "tailnum", "flight"]
    judged("flights", "scheduled", left_out, 60 if is_quick else 6, Budget(1 if is_quick else 5))
    judged("bank_marketing", "contacted", ["duration"], 6 if is_quick else 1, Budget(2 if is_quick else 10))


if __name__ == "__main__":
    main()
