"""What has become faster or slower since another checkout, every figure of speed in one sitting?

    python benchmarks/before_after.py OTHER/src > benchmarks/before_after.txt
    python benchmarks/before_after.py OTHER/src wide trees    # some groups; with --quick on few rows

Each group of figures runs in fresh interpreters, with the other library, this one and this one again in turn:
what differs between the last two is chance. The scripts beside this one say what is measured. Figures are
ratios of the least processor time of all runs, on one thread, after a run that compiles; a yardstick that
both sides share, such as scikit-learn's, counts once.
A comparison is in the sum of its own fits, and memory is the largest that is held beside the data.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import boosters
import boosting
import compare
import numpy as np
import startup
import streams
import svm
import top_ranker_cv
import wide
from freed_memory import keep_freed_memory
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import growth
import pushrank
from pushrank import InfinitePush, PNormPush, PushBoost, RankSVM, TopRankerCV, metrics
from pushrank.model_selection import compare_rankers

QUICK = "--quick" in sys.argv
RUNS, ENOUGH = (1, 0.0) if QUICK else (5, 0.5)
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
MIB = 2.0**20
AIMS = {
    "dense": "1.2", "fingerprints": "1.5", "nearly separable": "2.5", "overlapping": "",
    "float64": "0.25", "float32": "0.35",
}  # fmt: skip


@dataclass
class Figure:
    """Seconds, or MiB, that are given by those of a yardstick, if there is one."""

    label: str
    unit: str
    cost: float | None
    yardstick: float | None = None
    aim: str = ""
    shared: bool = True
    error: str = ""


def size(n_rows: int) -> int:
    """Return a number of rows, or that of a quick look."""
    return max(n_rows // 50, 400) if QUICK else n_rows


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def timed(
    unit: str,
    aim: str,
    yardstick: Callable[[], object],
    calls: dict[str, Callable[[], object]],
    compiled: bool = False,
    shared: bool = True,
) -> Iterator[Figure]:
    """Yield the least seconds of calls that run in turn with their yardstick."""
    times: dict[str, list[float]] = {label: [] for label in ("", *calls)}
    errors: dict[str, str] = {}
    for run in range(RUNS + 1 - compiled):
        for label, call in {"": yardstick, **calls}.items():
            if label in errors or sum(times[label]) > ENOUGH:
                continue
            try:
                taken = seconds(call)
            except Exception as error:  # what the library says is the result
                errors[label] = f"{type(error).__name__}: {error}"
                continue
            if run or compiled:
                times[label].append(taken)
    for label in calls:
        least = min(times[label], default=None)
        yield Figure(label, unit, least, min(times[""]), aim, shared, errors.get(label, ""))


def fits(
    aim: str, yardstick: Any, rankers: dict[str, Any], X: Any, y: Any, **options: Any
) -> Iterator[Figure]:
    """Yield the seconds of fits, in those of a classifier's fit to the same rows."""
    calls = {label: partial(ranker.fit, X, y) for label, ranker in rankers.items()}
    yield from timed(f"of {type(yardstick).__name__}", aim, partial(yardstick.fit, X, y), calls, **options)


def starting() -> Iterator[Figure]:
    """Yield the costs of imports, errors, small commands and demos."""
    took = {
        name: min(startup.seconds(command) for _ in range(2)) for name, command in startup.COMMANDS.items()
    }
    for name, reference, bound in startup.RATIOS:
        yield Figure(name, f"of {reference}", took[name], took[reference], f"{bound or ''}")
    aims = {
        "show of a linear model": "1.0", "score of 1,000 rows": "1.2", "first less second": "8.0",
        "second demo": "10.0", "compare of 600 rows x 4": "15.0",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        startup.write_rows(folder)
        source = os.environ["PYTHONPATH"]
        startup.seconds(startup.FIT, folder)
        for name, cost in startup.command_seconds(source, folder, demos=not QUICK).items():
            aim = aims.get(name, "" if name.endswith("demo") else "0.6")
            yield Figure(name, "seconds", cost, aim=aim)


def comparing() -> Iterator[Figure]:
    """Yield the cost of a comparison of all default models."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, threadpool_limits(1):
        compare.against_plain_fits()
    found = re.findall(r"^(?:sum of the|compare_rankers) .* ([\d.]+) s$", printed.getvalue(), re.MULTILINE)
    total, cost = map(float, found)
    yield Figure("compare_rankers, calls of a bank", "of its fits alone", cost, total, "1.15", shared=False)


def processes() -> Iterator[Figure]:
    """Yield how much sooner two processes end a comparison, by the clock."""
    models, X, y, options = compare.bank_calls()
    os.sched_setaffinity(0, range(os.cpu_count() or 1))

    def clock(n_jobs: int) -> float:
        start = time.perf_counter()
        compare_rankers(models, X, y, budget=1000, n_jobs=n_jobs, **options)
        return time.perf_counter() - start

    label, unit = "clock of compare_rankers, n_jobs=1", "of that with n_jobs=2"
    try:
        yield Figure(label, unit, clock(1), clock(2), "1.7", shared=False)
    except TypeError as error:
        yield Figure(label, unit, None, error=str(error))


def searching() -> Iterator[Figure]:
    """Yield the costs of a search by cross-validation."""
    models = LogisticRegressionCV(Cs=10, cv=5), TopRankerCV(random_state=0)
    for model in models:
        model.fit(*top_ranker_cv.made(500, 5))
    for name, X, y in top_ranker_cv.cases():
        few = slice(size(len(y)))
        rankers = {f"TopRankerCV, {name} {X[few].shape[0]:,} x {X.shape[1]}": models[1]}
        yield from fits("4.0", models[0], rankers, X[few], y[few], compiled=True)


def widening() -> Iterator[Figure]:
    """Yield the costs of fits to words and to more columns than most."""
    for name, (X, y) in (
        ("words", svm.word_counts(size(8_000), 5_000)),
        ("sparse", svm.sparse(size(20_000), 20_000)),
    ):
        for C in (10.0, 1000.0):
            rankers = {"InfinitePush": InfinitePush(C, tol=svm.GAP), "RankSVM": RankSVM(C, tol=svm.GAP)}
            titled = {
                f"{key}, {name} {X.shape[0]:,} x {X.shape[1]:,}, C = {C:g}": r for key, r in rankers.items()
            }
            yield from fits("1.2", LinearSVC(C=C / y.sum(), max_iter=10_000), titled, X, y)
    rng = np.random.default_rng(0)
    dense = wide.dense(size(1_000), 20_000, rng)
    words = wide.fingerprints(size(4_000), 2_048, rng)
    for name, alphas, powers, X, y in (
        ("dense", (0.1, 0.001), (4, 16), dense, wide.labels(dense @ rng.normal(size=20_000), 0.3, rng)),
        (
            "fingerprints",
            (0.1, 0.001),
            (4, 16),
            words,
            wide.labels(words @ rng.normal(size=2_048), 0.05, rng),
        ),
        ("nearly separable", (0.001,), (4,), *growth.rows(size(4_000), 1_500)),
        ("overlapping", (0.001,), (4, 16), *growth.rows(size(20_000), 400)),
    ):
        rankers = {
            f"PNormPush({p}), {name} {X.shape[0]:,} x {X.shape[1]:,}, alpha {alpha:g}": PNormPush(
                p, alpha=alpha
            )
            for alpha in alphas
            for p in powers
        }
        yield from fits(AIMS[name], LogisticRegression(max_iter=1000), rankers, X, y)


def streaming() -> Iterator[Figure]:
    """Yield the costs of a pass over batches."""
    for kind in ("float64", "float32", "CSR"):
        X, y = streams.rows(size(1_000_000), kind)
        values = X.data if kind == "CSR" else X
        calls = {
            f"{name}, {kind}": partial(streams.whole, make, X, y) for name, make in streams.RANKERS.items()
        }
        yield from timed("of numpy.sum", "1.7", values.sum, calls)


def rounds(library: str) -> Iterator[Figure]:
    """Yield the costs of a round of a booster, a tenth of what 12 rounds take more than 2."""
    models = [model for model in boosters.MODELS if library in model and "rank" not in model]
    X, y = boosters.rows(size(1_000_000), 50)
    trainer = boosters.lightgbm_trainer if library == "LightGBM" else boosters.xgboost_trainer
    trains = {model: trainer(model.split(", ", 1)[1], X, y) for model in models}
    for train in trains.values():
        train(1)
    times = [
        {(model, n): seconds(partial(train, n)) for model, train in trains.items() for n in (2, 12)}
        for _ in range(2)
    ]
    least = {key: min(taken[key] for taken in times) for key in times[0]}
    costs = {model: (least[model, 12] - least[model, 2]) / 10 for model in models}
    for model in models[1:]:
        yield Figure(f"{model}, a round", "of one under log loss", costs[model], costs[models[0]], "1.2")


def trees() -> Iterator[Figure]:
    """Yield the costs of 100 trees of 31 leaves."""
    X, y = boosting.generated(size(5_000), np.float64)
    common = {"n_estimators": boosting.ROUNDS, "learning_rate": 0.1, "n_jobs": 1}
    weak = {'"lightgbm"': "lightgbm", "scikit-learn's trees": DecisionTreeRegressor(max_leaf_nodes=31)}
    rankers = {f"PushBoost, {name}": PushBoost(4, weak_rankers=w, **common) for name, w in weak.items()}
    yield from fits("", LGBMClassifier(num_leaves=31, verbose=-1, **common), rankers, X, y)


def growing() -> Iterator[Figure]:
    """Yield the costs of linear fits and measures, and how fits grow from a quarter of the rows."""
    X, y = growth.rows(size(128_000), 20)
    X_few, y_few = X[: len(y) // 4], y[: len(y) // 4]
    for name in growth.LINEAR:
        ranker = getattr(pushrank, name)(**growth.SETTINGS.get(name, {}))
        label, call = f"{name}, {len(y):,} x 20", partial(ranker.fit, X, y)
        calls = {label: call, "few": partial(ranker.fit, X_few, y_few)}
        whole, few = timed("of LogisticRegression", "", partial(LogisticRegression().fit, X, y), calls)
        yield whole
        unit = f"of that of {len(y_few):,}"
        yield Figure(f"{label}, growth", unit, whole.cost, few.cost, "4.6", shared=False)
    X, y = growth.rows(size(1_000_000), 10)
    scores = X.sum(axis=1)
    calls = {
        f"metrics.{name}, {len(y):,} scores": partial(getattr(metrics, name), y, scores, **parameters)
        for name, parameters in growth.MEASURES.items()
    }
    yield from timed("of numpy.argsort", "", partial(np.argsort, scores), calls)


def memory() -> Iterator[Figure]:
    """Yield the most that linear fits hold."""
    for dtype in (np.float64, np.float32):
        X, y = growth.rows(size(100_000), 50)
        X = X.astype(dtype)
        for name in growth.LINEAR:
            ranker = getattr(pushrank, name)(**growth.SETTINGS.get(name, {}))
            ranker.fit(X[:4_000], y[:4_000])
            held = growth.peak(partial(ranker.fit, X, y))
            label = f"memory of {name}, {len(y):,} x 50 {dtype.__name__}"
            yield Figure(label, "of the data", held / MIB, X.nbytes / MIB, AIMS[dtype.__name__])


GROUPS: dict[str, tuple[Callable[[], Iterable[Figure]], int]] = {
    "starting": (starting, 2),
    "searching": (searching, 2),
    "wide": (widening, 2),
    "lightgbm": (partial(rounds, "LightGBM"), 1),
    "xgboost": (partial(rounds, "XGBoost"), 1),
    "comparing": (comparing, 1),
    "processes": (processes, 1),
    "streaming": (streaming, 2),
    "trees": (trees, 1),
    "memory": (memory, 1),
    "growing": (growing, 1),
}


def run(group: str, source: str) -> Iterator[dict[str, Any]]:
    """Yield the figures of a group in a fresh interpreter, and why it ended if it did so early."""
    command = [sys.executable, __file__, "--child", group, *(["--quick"] if QUICK else [])]
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": source}
    # Compiled bytecode is kept, as it is where nobody asks for something else.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    yield from (json.loads(line) for line in found.stdout.splitlines() if line.startswith("{"))
    if found.returncode:
        reason = (found.stderr.strip().splitlines() or ["no word"])[-1]
        yield asdict(Figure(f"the rest of {group}", "", None, error=reason))


def child(group: str) -> None:
    """Print the figures of a group with the library that is on the path."""
    assert Path(pushrank.__file__).is_relative_to(Path(os.environ["PYTHONPATH"]).resolve())
    warnings.simplefilter("ignore")
    keep_freed_memory()
    for figure in GROUPS[group][0]():
        print(json.dumps(asdict(figure)), flush=True)


def least(costs: Iterable[float | None]) -> float | None:
    """Return the least of the costs that there are."""
    return min((cost for cost in costs if cost is not None), default=None)


def shown(figures: list[dict[str, Any]], yardsticks: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the ratio and the cost of the runs of a side, by the least of each."""
    cost = least(figure["cost"] for figure in figures)
    yardstick = least(figure["yardstick"] for figure in yardsticks)
    if cost is None:
        return "-", "-"
    return f"{cost / yardstick if yardstick else cost:.2f}", f"{cost:.3f}"


def print_group(group: str, sources: dict[str, str]) -> None:
    """Print the figures of a group, before, now and once more in turn."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for _ in range(1 if QUICK else GROUPS[group][1]):
        for side, source in sources.items():
            for figure in run(group, source):
                found.setdefault(figure["label"], {side: [] for side in sources})[side].append(figure)
    for label, sides in found.items():
        every = [figure for figures in sides.values() for figure in figures]
        last = every[-1]
        cells = [shown(figures, every if last["shared"] else figures) for figures in sides.values()]
        ratios, costs = zip(*cells, strict=True)
        print(f"{label:58s}{last['unit']:32s}", *(f"{ratio:>8s}" for ratio in ratios), end="")
        print(f"{last['aim']:>7s}  ", *(f"{cost:>9s}" for cost in costs[:2]))
        for side, figures in sides.items():
            for error in sorted({figure["error"] for figure in figures} - {""}):
                print(f"    {side}: {error[:150]}")
    print(flush=True)


def main() -> None:
    """Print the table, group by group."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if "--child" in sys.argv:
        child(*words)
        return
    other, *groups = words
    now = str(Path(__file__).resolve().parents[1] / "src")
    sources = {"before": str(Path(other).resolve()), "now": now, "again": now}
    git = shutil.which("git") or "git"
    commits = [
        subprocess.check_output([git, "-C", source, "rev-parse", "--short", "HEAD"], text=True).strip()
        for source in (other, now)
    ]
    mine = sorted(os.sched_getaffinity(0))
    print(
        f"before {commits[0]}, now {commits[1]}; Python {platform.python_version()}, numpy {np.__version__}; "
        f"processor {', '.join(map(str, mine))} of {os.cpu_count()}, load {os.getloadavg()[0]:.1f}\n"
    )
    print(
        f"{'figure':58s}{'unit':33s}{'before':>8s}{'now':>9s}{'again':>9s}{'aim':>7s}     seconds or MiB",
        flush=True,
    )
    for group in groups or GROUPS:
        print_group(group, sources)


if __name__ == "__main__":
    main()
