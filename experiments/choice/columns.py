"""Held-out scores of all models that compare knows, and their scores of later rows, on 57 sets.

    python -m experiments.choice.columns --cache /a/folder --jobs 2    # resumed; about an hour

A file for each set and training set. Half of the rows, drawn at random by class, by group or from the past,
are cut to 1,500 or 6,000 to learn from; the others are the truth. Each file has the scores of the training
rows by fits of five folds, those of fits to halves and to the rows outside each pair of folds as
``compare_rankers`` makes them, the scores of the other rows by a fit to all training rows, and the processor
seconds of that fit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedGroupKFold, train_test_split

from experiments.ensemble.columns import THREADS, file, save
from experiments.protocol import fingerprints, molecules
from pushrank import datasets
from pushrank.cli.model import BINNED, NETWORK, make_ranking_pipelines, table_rankers
from pushrank.estimators._combination import raw_scores
from pushrank.held_out import Plan
from pushrank.held_out.fits import fit_to
from pushrank.held_out.splits import TimeSplit
from pushrank.model_selection.compare import SMALL_STEPS
from pushrank.model_selection.table import Halves, HeldOutTable, paired_scores

SIX = (
    "logistic regression", "P-Norm Push, p = 16", "boosted stumps, p = 16", "gradient boosting", "LightGBM",
    "extra trees",
)  # fmt: skip
TWELVE = (
    "logistic regression", "P-Norm Push, p = 16", BINNED, "boosted stumps, p = 16", SMALL_STEPS, NETWORK,
    "LightGBM", "gradient boosting", "random forest", "extra trees", "XGBoost", "IR Push",
)  # fmt: skip
"""The members of an ensemble before this experiment."""
SMALL, LARGE, TESTED, REPEATS = 1_500, 6_000, 10_000, 3
DRAWS = {0: SMALL, 1: SMALL, 2: SMALL, 3: LARGE, 4: LARGE}
MIN_ROWS_LARGE, LEAST_POSITIVES, PERIODS, N_BITS = 8_000, 12, 15, 256


class Source(NamedTuple):
    """A set: a function that loads its frame, labels and what groups or dates its rows, and its family."""

    load: Callable[[], tuple[Any, Any, Any]]
    family: str
    by: str = ""


def own(name: str, **options: Any) -> tuple[Any, Any, Any]:
    """Return a set of the library's."""
    return *datasets.load_dataset(name, return_X_y=True, as_frame=True, **options), None


def other(
    name: str, without: str = "$^", positive: Any = 1, by: str | None = None, **where: Any
) -> tuple[Any, Any, Any]:
    """Return a set that the library does not have, without the columns of a pattern."""
    frame = file(name)
    for column, value in where.items():
        frame = frame[frame[column] == value]
    columns = frame.columns[~frame.columns.str.fullmatch(f"label|split|{by}|{without}")]
    y = frame["label"] >= positive if name == "lambdarank_lightgbm" else frame["label"] == positive
    if by == "scheduled":
        # Two hours late are some 3 %, and all on a few days: parts by time of few rows would have none.
        y = frame["minutes_late"] > 30
    return frame[columns], y.to_numpy(), None if by is None else frame[by].to_numpy()


def screened(name: str, target: str) -> tuple[Any, Any, Any]:
    """Return the fingerprints of a target's molecules, at most 4,000 of them."""
    smiles, y = datasets.load_dataset(name, target=target, return_X_y=True)
    kept = drawn(np.arange(len(y)), np.asarray(y) == 1, 4_000, 0, 30)
    bits = fingerprints(molecules(np.asarray(smiles)[kept]), N_BITS)
    return pd.DataFrame(bits).add_prefix("bit "), np.asarray(y)[kept] == 1, None


FLIGHTS = partial(other, "flights", "tailnum|flight|minutes_late|origin")
SETS: dict[str, Source] = {
    **{name: Source(partial(own, name), name) for name in ("ionosphere", "magic", "housing", "spambase")},
    **{name: Source(partial(own, name), name) for name in ("ijcnn1", "adult", "cover_odds", "abalone")},
    **{f"letter {of}": Source(partial(own, "letter", positive=of), "letter") for of in "AHOV"},
    "kddcup99_http": Source(partial(own, "kddcup99_http"), "kddcup"),
    "kddcup99_smtp": Source(partial(own, "kddcup99_smtp"), "kddcup"),
    "churn_tv": Source(partial(other, "churn_tv", "C_.*"), "churn_tv"),
    "give_me_credit": Source(partial(other, "give_me_credit"), "give_me_credit"),
    "stroke": Source(partial(other, "stroke"), "stroke"),
    "hypothyroid": Source(partial(other, "hypothyroid", positive="hypothyroid"), "hypothyroid"),
    "queries": Source(partial(other, "lambdarank_lightgbm", positive=3, by="qid"), "queries", "group"),
    **{
        f"flights {origin}": Source(partial(FLIGHTS, by="scheduled", origin=origin), "flights", "time")
        for origin in ("EWR", "JFK", "LGA")
    },
    "flights, machines": Source(
        partial(other, "flights", "flight|minutes_late|scheduled", by="tailnum"), "flights", "group"
    ),
    "bank_marketing": Source(
        partial(other, "bank_marketing", "duration", by="contacted"), "bank_marketing", "time"
    ),
    **{
        f"keel {name}": Source(partial(other, f"keel_rare/{name}"), family)
        for name, family in (
            ("abalone-17_vs_7-8-9-10", "abalone"),
            ("abalone-19_vs_10-11-12-13", "abalone"),
            ("abalone-20_vs_8-9-10", "abalone"),
            ("abalone-21_vs_8", "abalone"),
            ("abalone-3_vs_11", "abalone"),
            ("abalone19", "abalone"),
            ("abalone9-18", "abalone"),
            ("flare-F", "flare"),
            ("kddcup-buffer_overflow_vs_back", "kddcup"),
            ("kddcup-guess_passwd_vs_satan", "kddcup"),
            ("kddcup-land_vs_portsweep", "kddcup"),
            ("kddcup-land_vs_satan", "kddcup"),
            ("kddcup-rootkit-imap_vs_back", "kddcup"),
            ("led7digit-0-2-4-5-6-7-8-9_vs_1", "led7digit"),
            ("poker-8-9_vs_5", "poker"),
            ("poker-8-9_vs_6", "poker"),
            ("poker-8_vs_6", "poker"),
            ("shuttle-2_vs_5", "shuttle"),
        )
    },
    **{
        f"dud {target}": Source(partial(screened, "dud", target), "dud")
        for target in ("egfr", "fxa", "cdk2", "parp")
    },
    **{f"muv {target}": Source(partial(screened, "muv", target), "muv") for target in ("466", "852")},
    **{f"chembl {target}": Source(partial(screened, "chembl", target), "chembl") for target in ("100126",)},
    **{
        f"tox21 {assay}": Source(partial(screened, "tox21", assay), "tox21")
        for assay in ("NR-AR", "NR-ER-LBD", "SR-p53", "SR-MMP")
    },
}


class Table(NamedTuple):
    """A set's frame, whose numbers come first, its labels, and the group or time of each row."""

    X: pd.DataFrame
    y: np.ndarray
    by: np.ndarray | None
    numeric: list[str]
    categorical: list[str]


@cache
def loaded(name: str) -> Table:
    """Return a set; a text that is missing is a text."""
    X, y, by = SETS[name].load()
    numeric = [column for column in X if pd.api.types.is_numeric_dtype(X[column])]
    categorical = [column for column in X if column not in numeric]
    X = X[numeric + categorical].reset_index(drop=True)
    X = X.astype(dict.fromkeys(categorical, object)).fillna(dict.fromkeys(categorical, "missing"))
    if by is not None and SETS[name].by == "time":
        by = np.asarray(by).astype("datetime64[s]").astype(float)
    elif by is not None:
        by = pd.factorize(by, use_na_sentinel=False)[0]
    return Table(X, np.asarray(y) == 1, by, numeric, categorical)


def drawn(rows: np.ndarray, y: np.ndarray, most: int, seed: int, least: int = LEAST_POSITIVES) -> np.ndarray:
    """Return at most so many rows, with positives in proportion, and a few at least where there are."""
    if len(rows) <= most:
        return rows
    positives, negatives = rows[y[rows]], rows[~y[rows]]
    n = min(len(positives), max(least, round(most * len(positives) / len(rows))))
    rng = np.random.default_rng(seed)
    draws = (rng.choice(positives, n, replace=False), rng.choice(negatives, most - n, replace=False))
    return np.sort(np.concatenate(draws))


def parts(name: str, table: Table, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to learn from and the others; by time the past of a period, in its order, and it."""
    numbers, y = np.arange(len(table.y)), table.y
    if SETS[name].by == "time":
        period = (4, 5, 6, 7, 10)[draw]
        train, test = list(TimeSplit(PERIODS - 1).split(y, time=table.by))[period]
    elif SETS[name].by == "group":
        splitter = StratifiedGroupKFold(2, shuffle=True, random_state=draw)
        train, test = next(splitter.split(numbers, y, table.by))
    else:
        train, test = train_test_split(numbers, test_size=0.5, stratify=y, random_state=draw)
    train, test = drawn(train, y, DRAWS[draw], draw), drawn(test, y, TESTED, draw)
    if SETS[name].by == "time":
        train = train[np.argsort(table.by[train], kind="stable")]
    return train, test


def plan_of(name: str, X: Any, y: np.ndarray, by: np.ndarray | None, *, n_repeats: int = 1) -> Plan:
    """Return how compare splits training rows, with a budget of half the positives."""
    given: dict[str, Any] = {"time": by} if SETS[name].by == "time" else {"groups": by}
    cv: Any = 5
    if SETS[name].by == "group":
        cv = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    budget = max(1, round(y.sum() / 2))
    return Plan.of(X, y, budget=budget, cv=cv, n_repeats=n_repeats, random_state=0, **given)


def models_of(table: Table, n_rows: int) -> dict[str, Any]:
    """Return the models that compare knows for so many rows, with their preprocessing."""
    rankers = table_rankers(n_rows=n_rows)
    return make_ranking_pipelines(rankers, table.numeric, table.categorical)


def path_of(cached: Path, name: str, draw: int) -> Path:
    """Return where a training set is kept."""
    return cached / f"{name.replace(' ', '_').replace(',', '')}.{draw}.npz"


def keep(name: str, draw: int, cached: Path) -> str:
    """Fit all models on a training set, keep their scores, and say what it cost."""
    start = time.process_time()
    table = loaded(name)
    train, test = parts(name, table, draw)
    X, y, X_test = table.X.iloc[train].reset_index(drop=True), table.y[train], table.X.iloc[test]
    by = None if table.by is None else table.by[train]
    models = models_of(table, len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = plan_of(name, X, y, by)
        fitted = HeldOutTable.fit(models, plan)
        halves = Halves.fit(models, plan)
        of_halves = [] if halves.scores is None else [*halves.scores]
        repeated = [], []
        six = {model: models[model] for model in SIX if model in models}
        if len(y) <= SMALL and not plan.by_time and SETS[name].by != "group":
            more = HeldOutTable.fit(six, plan_of(name, X, y, by, n_repeats=REPEATS))
            repeated = [np.concatenate(more.scores[model]) for model in six], list(six)
        members = {model: models[model] for model in TWELVE if model in models}
        paired = [] if plan.nesting == "none" or plan.by_time else paired_scores(members, plan)
        seconds, of_test = [], []
        for model in models.values():
            begun = time.process_time()
            last = fit_to(model, plan.rows)
            seconds.append(time.process_time() - begun)
            of_test.append(raw_scores(last, X_test))
    save(
        path_of(cached, name, draw),
        models=np.array(list(models)),
        simplicity=np.array([fitted.simplicity[model] for model in models]),
        y=y,
        y_test=table.y[test],
        by=np.zeros(0) if by is None else by,
        of_parts=np.array([np.concatenate(fitted.scores[model]) for model in models]),
        halves=np.array([[np.concatenate(of) for of in zip(*half, strict=True)] for half in of_halves]),
        n_halved=halves.n_rows,
        n_last=halves.n_parts,
        repeated=np.array(repeated[0]),
        of_repeated=np.array(repeated[1]),
        members=np.array(list(members)),
        paired=np.array(paired),
        of_test=np.array(of_test),
        seconds=np.array(seconds),
        rows=np.array([len(table.y), X.shape[1]]),
    )
    shape = f"{len(y)} rows ({y.sum()} positives), {X.shape[1]} columns, {len(test)} test rows"
    return f"{draw} {name}: {shape}; {plan.nesting}; {time.process_time() - start:.1f} s"


def cases(names: list[str]) -> list[tuple[str, int]]:
    """Return sets and draws, a draw of all sets before the next; large ones of large sets alone."""
    large = {name for name in names if not name.startswith(("keel", "dud", "muv", "chembl", "tox21"))}
    return [
        (name, draw) for draw in (0, 3, 1, 2, 4) for name in names if DRAWS[draw] == SMALL or name in large
    ]


def lacking(cached: Path, names: list[str]) -> list[tuple[str, int]]:
    """Return the cases that the cache lacks; a set of few rows has no large training sets."""
    return [
        (name, draw)
        for name, draw in cases(names)
        if not path_of(cached, name, draw).exists()
        and (DRAWS[draw] == SMALL or len(loaded(name).y) >= MIN_ROWS_LARGE)
    ]


def main() -> None:
    """Fit what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    os.environ.update(THREADS)
    todo = lacking(arguments.cache, arguments.sets)
    with ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("spawn")) as pool:
        tasks = {pool.submit(keep, *task, arguments.cache): task for task in todo}
        for done in as_completed(tasks):
            failed = done.exception()
            print(f"{tasks[done]} FAILED: {failed!r}" if failed else done.result(), flush=True)


if __name__ == "__main__":
    main()
