"""Out-of-fold scores of nine models on eighteen sets, kept outside the repository.

    python -m experiments.ensemble.columns --cache /a/folder --splits 10 --jobs 2    # resumed

A file for each set and split; the first split of all sets comes before the second of any. Each holds the raw
scores of the training rows by models that have not seen them, those of the test rows by each fold's model and
by a refit on all training rows (always by time, else in the first splits), labels, folds, times, and the
processor seconds of every fit and scoring. Logistic regression's and LightGBM's scores are log-odds without
any limit, so that their probabilities can be had exactly; forests and neighbours give probabilities.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, early_stopping
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from experiments.protocol import FOLDS, TEST_SHARE, PushedLightGBM, fingerprints, molecules
from pushrank import PNormPush, PushBoost, datasets
from pushrank.metrics import average_precision
from pushrank.model_selection import TimeSplit

N_BITS, PERIODS, TIME_SPLITS = 1024, 15, 10
WITH_REFIT = 3  # splits of which the sets without time have refitted models, too
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
LOG_ODDS, PROBABILITY, MARGIN = "log-odds", "probability", "margin"


class Size(NamedTuple):
    """How much is drawn and fitted."""

    train: int = 6_000
    molecules: int = 3_000
    test: int = 10_000
    trees: int = 300
    settings: int = 8
    rounds: int = 300


FULL, QUICK = Size(), Size(600, 200, 500, 10, 2, 20)


class Table(NamedTuple):
    """A set's rows, numbers or a frame with text, their labels, and when they were."""

    X: Any
    y: np.ndarray
    time: np.ndarray | None = None


def file(name: str) -> pd.DataFrame:
    """Return a Parquet file of the data folder."""
    return pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / f"{name}.parquet")


def own(name: str, **options: Any) -> Callable[[Path], Table]:
    """Return a function that loads a set of the library's."""
    return lambda _: Table(*datasets.load_dataset(name, return_X_y=True, as_frame=True, **options))


def other(
    name: str, *, without: str = "$^", positive: Any = 1, when: str | None = None
) -> Callable[[Path], Table]:
    """Return a function that loads a set the library does not have, without the columns of a pattern."""

    def load(_: Path) -> Table:
        frame = file(name)
        # A file's order of equal times is kept: TimeSplit does not part them.
        time = None if when is None else frame[when].to_numpy().astype("datetime64[s]").astype(float)
        columns = frame.columns[~frame.columns.str.fullmatch(f"label|{when}|{without}")]
        return Table(frame[columns], (frame["label"] == positive).to_numpy(), time)

    return load


def screened(name: str, target: str) -> Callable[[Path], Table]:
    """Return a function that loads the fingerprints of a target's molecules, or those in the cache."""

    def load(cached: Path) -> Table:
        kept = cached / f"{name}.fingerprints.npz"
        if not kept.exists():
            smiles, y = datasets.load_dataset(name, target=target, return_X_y=True)
            bits = fingerprints(molecules(smiles), N_BITS).astype(bool)
            save(kept, bits=np.packbits(bits, axis=1), y=y)
        with np.load(kept) as arrays:
            return Table(np.unpackbits(arrays["bits"], axis=1).astype(float), arrays["y"])

    return load


SETS: dict[str, Callable[[Path], Table]] = {
    "adult": own("adult"),
    "letter": own("letter", positive="H"),
    "magic": own("magic"),
    "spambase": own("spambase"),
    "ijcnn1": own("ijcnn1"),
    "cover_odds": own("cover_odds"),
    "abalone": own("abalone"),
    "tox21": screened("tox21", "NR-AR"),
    "churn_tv": other("churn_tv", without="C_.*"),
    "give_me_credit": other("give_me_credit"),
    "stroke": other("stroke"),
    "hypothyroid": other("hypothyroid", positive="hypothyroid"),
    "dud": screened("dud", "egfr"),
    "chembl": screened("chembl", "100126"),
    "abalone19": other("keel_rare/abalone19"),
    "shuttle-2_vs_5": other("keel_rare/shuttle-2_vs_5"),
    "flights": other("flights", without="tailnum|flight|minutes_late", when="scheduled"),
    "bank_marketing": other("bank_marketing", without="duration", when="contacted"),
}
MOLECULES, BY_TIME = ("tox21", "dud", "chembl"), ("flights", "bank_marketing")


class TunedLightGBM(BaseEstimator):
    """LightGBM, of random settings the one with the best average precision of a fifth held out.

    Rounds end by log loss on the fifth, which by time is the last of each class; then all rows are fitted.
    """

    def __init__(self, settings: int, rounds: int, *, by_time: bool, seed: int) -> None:
        self.settings, self.rounds, self.by_time, self.seed = settings, rounds, by_time, seed

    def fit(self, X: Any, y: Any) -> TunedLightGBM:
        """Choose the setting and fit it; by time rows come in their order."""
        rng = np.random.default_rng(self.seed)
        if self.by_time:
            later = np.concatenate(
                [rows[-max(1, len(rows) // 5) :] for rows in map(np.flatnonzero, (y, 1 - y))]
            )
            held = np.isin(np.arange(len(y)), later)
            learnt = ~held
        else:
            learnt, held = train_test_split(
                np.arange(len(y)), test_size=0.2, stratify=y, random_state=self.seed
            )
        best = -np.inf
        for _ in range(self.settings):
            setting = {
                "num_leaves": int(rng.choice([4, 8, 16, 31, 63])),
                "min_child_samples": int(rng.choice([5, 20, 50, 100])),
                "learning_rate": float(rng.choice([0.03, 0.06, 0.1])),
                "colsample_bytree": float(rng.choice([0.3, 0.6, 1.0])),
                "reg_lambda": float(10.0 ** rng.uniform(-2, 1.5)),
            }
            common = {**setting, "n_jobs": 1, "random_state": self.seed, "verbose": -1}
            model = LGBMClassifier(n_estimators=self.rounds, **common)
            stop = early_stopping(20, verbose=False)
            model.fit(X[learnt], y[learnt], eval_X=X[held], eval_y=y[held], callbacks=[stop])
            found = average_precision(y[held], model.predict(X[held], raw_score=True))
            if found > best:
                best, rounds, self.params_ = found, max(1, model.best_iteration_), common
        self.model_ = LGBMClassifier(n_estimators=rounds, **self.params_).fit(X, y)
        return self

    def predict(self, X: Any, *, raw_score: bool) -> Any:
        """Return the log-odds."""
        return self.model_.predict(X, raw_score=raw_score)


class Member(NamedTuple):
    """A model that is one column, and what its scores are."""

    make: Callable[[Size, int, bool], Any]
    kind: str

    def score(self, model: Any, X: Any) -> np.ndarray:
        """Return scores of rows."""
        if self.kind == PROBABILITY:
            return model.predict_proba(X)[:, 1]
        if hasattr(model, "decision_function"):
            return model.decision_function(X)
        return model.predict(X, raw_score=True)


def scaled(model: Any) -> Any:
    """Return a model of standardised columns without gaps."""
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(filled, StandardScaler(), model)


MEMBERS = {
    "logistic regression": Member(lambda *_: scaled(LogisticRegression(max_iter=1000)), LOG_ODDS),
    "PNormPush(16)": Member(lambda *_: scaled(PNormPush(p=16)), MARGIN),
    "PushBoost(16)": Member(lambda *_: PushBoost(p=16), MARGIN),
    "LightGBM": Member(lambda _, seed, __: LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1), LOG_ODDS),
    "PushLGBMRanker": Member(lambda _, seed, __: PushedLightGBM(seed=seed), MARGIN),
    "random forest": Member(
        lambda size, seed, _: RandomForestClassifier(size.trees, random_state=seed), PROBABILITY
    ),
    "extra trees": Member(
        lambda size, seed, _: ExtraTreesClassifier(size.trees, random_state=seed), PROBABILITY
    ),
    "15 neighbours": Member(lambda *_: scaled(KNeighborsClassifier(15)), PROBABILITY),
    "tuned LightGBM": Member(
        lambda size, seed, by_time: TunedLightGBM(size.settings, size.rounds, by_time=by_time, seed=seed),
        LOG_ODDS,
    ),
}


def save(path: Path, **arrays: Any) -> None:
    """Write arrays at once or not at all."""
    unfinished = path.with_name(f".{path.stem}.{os.getpid()}.npz")
    np.savez_compressed(unfinished, **arrays)
    unfinished.replace(path)


@cache
def loaded(name: str, cached: Path) -> Table:
    """Return a set with text for missing text."""
    X, y, when = SETS[name](cached)
    if hasattr(X, "columns"):
        text = X.select_dtypes(exclude="number").columns
        X = X.astype(dict.fromkeys(text, object)).fillna(dict.fromkeys(text, "missing"))
    return Table(X, np.asarray(y).astype(int), when)


def drawn(rows: np.ndarray, y: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Return at most so many rows, with positives in proportion."""
    if len(rows) <= most:
        return rows
    return np.sort(train_test_split(rows, train_size=most, stratify=y[rows], random_state=seed)[0])


def parts(table: Table, size: Size, most: int, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and the test rows; by time the past of a period, in its order, and the period."""
    if table.time is None:
        train, test = train_test_split(
            np.arange(len(table.y)), test_size=TEST_SHARE, stratify=table.y, random_state=split
        )
    else:
        split += PERIODS - 1 - TIME_SPLITS
        train, test = list(TimeSplit(PERIODS - 1).split(table.y, time=table.time))[split]
    train, test = (drawn(rows, table.y, n, split) for rows, n in ((train, most), (test, size.test)))
    if table.time is not None:
        train = train[np.argsort(table.time[train], kind="stable")]
    return train, test


def encoded(X: Any, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers: texts of at least 1 % of the training rows have a column each, the others one."""
    if not hasattr(X, "iloc"):
        return X[train], X[test]
    one_hot = OneHotEncoder(min_frequency=0.01, handle_unknown="infrequent_if_exist", sparse_output=False)
    encoder = make_column_transformer(
        (one_hot, make_column_selector(dtype_include=object)), remainder="passthrough"
    )
    return (
        encoder.fit_transform(X.iloc[train]).astype(float),
        encoder.transform(X.iloc[test]).astype(float),
    )


def folds_of(y: np.ndarray, when: np.ndarray | None, split: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return the folds of the training rows; by time each is scored by its past."""
    if when is None:
        return StratifiedKFold(FOLDS, shuffle=True, random_state=split).split(y, y)
    return TimeSplit(FOLDS).split(y, time=when)


def path_of(cached: Path, name: str, split: int) -> Path:
    """Return where a set's split is kept."""
    return cached / f"{name}.{split}.npz"


def keep(name: str, split: int, cached: Path, size: Size) -> str:
    """Fit all members on a set's split, keep their scores, and say what it cost."""
    table = loaded(name, cached)
    most = size.molecules if name in MOLECULES else size.train
    train, test = parts(table, size, most, split)
    X, X_test = encoded(table.X, train, test)
    y, when = table.y[train], None if table.time is None else table.time[train]
    by_time = when is not None
    out_of_fold = np.full((len(y), len(MEMBERS)), np.nan)
    of_folds = np.full((FOLDS, len(test), len(MEMBERS)), np.nan, dtype=np.float32)
    refitted = np.full(of_folds.shape[1:], np.nan, dtype=np.float32)
    seconds = np.full((len(MEMBERS), FOLDS + 1, 2), np.nan)
    fold_numbers = np.full(len(y), -1)
    pairs = list(folds_of(y, when, split))
    for number, (_, held) in enumerate(pairs):
        fold_numbers[held] = number
    if by_time or split < WITH_REFIT:
        pairs.append((np.arange(len(y)), np.arange(0)))
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        for column, member in enumerate(MEMBERS.values()):
            for number, (learnt, held) in enumerate(pairs):
                start = time.process_time()
                model = member.make(size, split, by_time).fit(X[learnt], y[learnt])
                fitted = time.process_time()
                scores = member.score(model, np.concatenate([X[held], X_test]))
                seconds[column, number] = fitted - start, time.process_time() - fitted
                target = refitted if number == FOLDS else of_folds[number]
                target[:, column] = scores[len(held) :]
                out_of_fold[held, column] = scores[: len(held)]
    save(
        path_of(cached, name, split),
        out_of_fold=out_of_fold,
        of_folds=of_folds,
        refitted=refitted,
        fold=fold_numbers.astype(np.int8),
        y=y.astype(np.int8),
        y_test=table.y[test].astype(np.int8),
        members=np.array(list(MEMBERS)),
        kinds=np.array([member.kind for member in MEMBERS.values()]),
        seconds=seconds,
        rows=np.array([len(table.y), X.shape[1]]),
        **({"time": when, "time_test": table.time[test]} if by_time else {}),
    )
    each = ", ".join(
        f"{name} {value:.1f}" for name, value in zip(MEMBERS, np.nansum(seconds, (1, 2)), strict=True)
    )
    shape = f"{len(y)} rows ({y.sum()} positives), {X.shape[1]} columns, {len(test)} test rows"
    return f"{split} {name}: {shape}; {np.nansum(seconds):.1f} s: {each}"


def keep_all(cached: Path, sets: list[str], splits: int, size: Size, jobs: int) -> None:
    """Fit what the cache lacks, one split of all sets after another."""
    cached.mkdir(parents=True, exist_ok=True)
    lacking = [
        (name, split) for split in range(splits) for name in sets if not path_of(cached, name, split).exists()
    ]
    if jobs == 1:
        for name, split in lacking:
            print(keep(name, split, cached, size), flush=True)
        return
    os.environ.update(THREADS)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        tasks = {pool.submit(keep, *task, cached, size): task for task in lacking}
        for done in as_completed(tasks):
            failed = done.exception()
            print(f"{tasks[done]} FAILED: {failed!r}" if failed else done.result(), flush=True)


def main() -> None:
    """Fit what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET")
    arguments = parser.parse_args()
    keep_all(arguments.cache, arguments.sets, arguments.splits, FULL, arguments.jobs)


if __name__ == "__main__":
    main()
