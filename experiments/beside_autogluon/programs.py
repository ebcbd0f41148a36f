"""The twelve sets, their files, and the programs that are fitted on them, each as processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.beside_autogluon.peers import LABEL, TIME
from experiments.ensemble.columns import SETS as EARLIER
from experiments.ensemble.columns import THREADS, Size, Table, other, parts, save

SETS: dict[str, Callable[[Path], Table]] = {
    "abalone19": EARLIER["abalone19"],
    "flare-F": other("keel_rare/flare-F"),
    "abalone-17_vs_7-8-9-10": other("keel_rare/abalone-17_vs_7-8-9-10"),
    "hypothyroid": EARLIER["hypothyroid"],
    "flights": EARLIER["flights"],
    "bank_marketing": EARLIER["bank_marketing"],
    "adult": EARLIER["adult"],
    "give_me_credit": EARLIER["give_me_credit"],
    "stroke": EARLIER["stroke"],
    "churn_tv": EARLIER["churn_tv"],
    "spambase": EARLIER["spambase"],
    "letter": EARLIER["letter"],
}
SPLITS = 5
FULL, QUICK = Size(train=8_000), Size(train=300, test=300)
ENSEMBLE, BEFORE = "ensemble", "ensemble before"
AUTOGLUON, EQUAL = "autogluon", "autogluon equal"
SIMPLE = "logistic-regression", "P-Norm Push, p = 16", "logistic regression, binned"
# The methods that one run of a program gives.
METHODS = {
    ENSEMBLE: (ENSEMBLE,),
    BEFORE: (BEFORE,),
    "lightgbm": ("lightgbm",),
    **{name: (name,) for name in SIMPLE},
    "catboost": ("catboost",),
    AUTOGLUON: ("autogluon bagged", "autogluon refit"),
    EQUAL: ("autogluon equal bagged", "autogluon equal refit"),
}
ONE_THREAD = THREADS | {"MKL_NUM_THREADS": "1"}
ROW = "row"  # the column of the test file that says which row a score is of
PEERS = str(Path(__file__).with_name("peers.py"))
LOCK = threading.Lock()


class Setup(NamedTuple):
    """Where things are, and how long AutoGluon may fit."""

    cached: Path
    size: Size
    limit: float
    pushrank: Path
    before: Path | None
    autogluon: Path | None

    def files(self, name: str, split: int) -> Path:
        """Return the folder of the training and test files of a split, which are written once."""
        folder = self.cached / "files" / f"{name}.{split}"
        with LOCK:
            if not folder.exists():
                write(name, split, folder, self)
        return folder

    def kept(self, name: str, split: int, method: str) -> Path:
        """Return where the scores of a method are kept."""
        return self.cached / f"{name}.{split}.{method.replace(' ', '-')}.npz"

    def lacks(self, name: str, split: int, program: str, *, retry: bool) -> bool:
        """Return whether a program is to be run; one that failed only if it is tried again."""
        done = all(self.kept(name, split, method).exists() for method in METHODS[program])
        failed = self.failed(name, split, METHODS[program][0]).exists()
        return not done and (retry or not failed)

    def failed(self, name: str, split: int, method: str) -> Path:
        """Return where it is kept that a method failed."""
        return self.kept(name, split, method).with_suffix(".failed.txt")


class Cost(NamedTuple):
    """Processor seconds with those of children, and seconds on the clock."""

    seconds: float
    wall: float


def write(name: str, split: int, folder: Path, setup: Setup) -> None:
    """Write the files of a split, with gaps and texts as they are.

    Test rows are repeated up to the most there are of any set, so that seconds a row are of many rows.
    """
    X, y, when = SETS[name](setup.cached)
    y = np.asarray(y).astype(int)
    # Of the last ten of fifteen periods every second is judged: the 7th, the 9th, up to the 15th.
    number = split if when is None else 2 * split + 1
    train, test = parts(Table(X, y, when), setup.size, setup.size.train, number)
    frame = pd.DataFrame(X).reset_index(drop=True)
    if when is not None:
        frame[TIME] = when.astype("datetime64[s]")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=setup.cached) as unfinished:
        learnt = frame.iloc[train].assign(**{LABEL: y[train]})
        judged = frame.iloc[np.resize(test, setup.size.test)].assign(**{ROW: np.arange(setup.size.test)})
        files = {"train": learnt, "test": judged, "one": judged[:1], "labels": pd.DataFrame({LABEL: y[test]})}
        for file, of_file in files.items():
            of_file.to_parquet(Path(unfinished, f"{file}.parquet"), index=False)
        Path(unfinished).rename(folder)
        Path(unfinished).mkdir()  # what the context removes


def run(command: Sequence[object], *, inherits: bool) -> Cost:
    """Run a command with one thread and say what it cost.

    Python of another environment does not inherit where this one finds its modules.
    """
    environment = os.environ | ONE_THREAD
    if not inherits:
        environment.pop("PYTHONPATH", None)
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(  # noqa: S603
            [str(word) for word in command], stdout=said, stderr=subprocess.STDOUT, env=environment
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise ChildProcessError(f"exit code {process.returncode}: {said.read()[-2000:].strip()}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - start)


def keep(name: str, split: int, program: str, setup: Setup) -> str:
    """Fit a program, score the test rows, keep both with what they cost, or why it failed, and say so."""
    try:
        with tempfile.TemporaryDirectory(dir=setup.cached) as folder:
            fit_and_score(name, split, program, Path(folder), setup)
    except ChildProcessError as error:
        for method in METHODS[program]:
            setup.failed(name, split, method).write_text(f"{error}\n", encoding="utf-8")
        last = str(error).splitlines()[-1]
        return f"{split} {name}, {program}: FAILED, {last}"
    found = []
    for method in METHODS[program]:
        setup.failed(name, split, method).unlink(missing_ok=True)
        with np.load(setup.kept(name, split, method)) as arrays:
            found.append(f"{method} {arrays['fit'][0]:.1f} s")
    return f"{split} {name}: {', '.join(found)}"


def fit_and_score(name: str, split: int, program: str, folder: Path, setup: Setup) -> None:
    """Fit a program in a folder and keep the scores of its methods."""
    files = setup.files(name, split)
    train = files / "train.parquet"
    if program in ("catboost", AUTOGLUON, EQUAL):
        python, inherits, peer = setup.autogluon, False, program.split()[0]
        models, limit = folder / "models", setup.limit
        if program == EQUAL:
            ours = setup.kept(name, split, ENSEMBLE)
            if not ours.exists():
                raise ChildProcessError("there is no ensemble of this split whose seconds it could have")
            with np.load(ours) as arrays:
                limit = float(arrays["fit"][0])
        run([python, PEERS, "fit", peer, train, models, "--limit", limit], inherits=inherits)
        costs = json.loads((models / "costs.json").read_text(encoding="utf-8"))
        if peer == "catboost":
            saved = {program: (models / "model.cbm", Cost(**costs[""]))}
        else:
            saved = {f"{program} {kind}": (models / kind, Cost(**cost)) for kind, cost in costs.items()}

        def scoring(model: Path, rows: Path, scores: Path) -> list[object]:
            return [python, PEERS, "score", peer, model, rows, scores]

    else:
        python, inherits = (setup.before, False) if program == BEFORE else (setup.pushrank, True)
        model, chosen = folder / "model.skops", ENSEMBLE if program == BEFORE else program
        by_time = ["--time", TIME] if TIME in pd.read_parquet(train).columns else []
        fit = [python, "-m", "pushrank", "fit", train, "--label", LABEL, "--model", chosen, *by_time]
        saved = {program: (model, run([*fit, "-o", model], inherits=inherits))}

        def scoring(model: Path, rows: Path, scores: Path) -> list[object]:
            return [python, "-m", "pushrank", "score", model, rows, "--columns", ROW, "-o", scores, "--force"]

    y_test = pd.read_parquet(files / "labels.parquet")[LABEL].to_numpy()
    for method, (model, cost) in saved.items():
        scored = folder / f"{method}.parquet"
        start = run(scoring(model, files / "one.parquet", folder / "one.parquet"), inherits=inherits)
        score = run(scoring(model, files / "test.parquet", scored), inherits=inherits)
        frame = pd.read_parquet(scored)
        if ROW in frame:
            frame = frame.sort_values(ROW)
        if len(frame) != setup.size.test:
            raise ChildProcessError(f"{len(frame)} of {setup.size.test} rows have a score")
        save(
            setup.kept(name, split, method),
            scores=frame["score"].to_numpy()[: len(y_test)],
            y_test=y_test.astype(np.int8),
            positives=pd.read_parquet(train)[LABEL].sum(),
            fit=np.array(cost),
            score=np.array(score),
            rows_scored=len(frame),
            start=np.array(start),
            size=size_of(model),
        )


def size_of(model: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    files = model.rglob("*") if model.is_dir() else [model]
    return sum(file.stat().st_size for file in files if file.is_file())
