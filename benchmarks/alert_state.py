"""Does the state of alerts lose, change or repeat an answer when things die, and what does a decision cost?

    python benchmarks/alert_state.py > benchmarks/alert_state.txt

Files of decisions are damaged, real timers interrupt decisions, commands are killed, disks are full, and
other processes want the same file. After each fault rows are asked for again: the answers must be those of a
run that nothing disturbed. A file that was damaged must be refused, or hold the same decisions. Times of
decisions stand beside that of writing 100 bytes to the disk, taken in turn, as a busy disk slows down both.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import closing, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pushrank.monitoring import State
from pushrank.monitoring.alerts import KIND, AlertThreshold

HOURS = np.arange("2026-01-01", "2026-03-02", dtype="datetime64[h]")
MARCH = np.datetime64("2026-03-02", "s")
BUDGET = 30
Rows = tuple[np.ndarray, np.ndarray, list[str]]


def fitted(path: Path | None, budget: int = BUDGET) -> AlertThreshold:
    """Return a threshold that has learnt from sixty days."""
    scores = np.random.default_rng(0).normal(size=40 * len(HOURS))
    return AlertThreshold(budget, path).fit(scores, np.repeat(HOURS, 40))


def stream(n_rows: int, n_days: int = 3) -> Rows:
    """Return scores, times and names of rows of some days."""
    rng = np.random.default_rng(1)
    times = MARCH + np.sort(rng.integers(86_400 * n_days, size=n_rows)).astype("timedelta64[s]")
    return rng.normal(size=n_rows), times, [f"row {i}" for i in range(n_rows)]


def on_disk(path: Path) -> dict[str, bool]:
    """Return the decisions that a state holds, by the names of rows."""
    with closing(State(path, KIND)) as state:
        return decisions(state)


def decisions(state: State) -> dict[str, bool]:
    """Return the decisions that an open state holds, by the names of rows."""
    return {row[0]: row[3] for start in state.facts()["starts"] for row in state.rows(start)}


def mutated(data: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """Return a file that is damaged in one of six ways, and which."""
    found, at, page = bytearray(data), int(rng.integers(len(data))), 4096
    length = int(rng.integers(1, 200))
    first, second = (page * int(i) for i in rng.choice(len(data) // page, 2, replace=False))
    kind = str(rng.choice(["cut", "flips", "NUL", "pages moved", "bytes moved", "bytes repeated"]))
    if kind == "cut":
        del found[at:]
    elif kind == "flips":
        for place in rng.integers(len(data), size=int(rng.integers(1, 9))):
            found[place] ^= 1 << int(rng.integers(8))
    elif kind == "NUL":
        found[at : at + length] = bytes(len(found[at : at + length]))
    elif kind == "pages moved":
        found[first : first + page], found[second : second + page] = (
            data[second : second + page],
            data[first : first + page],
        )
    elif kind == "bytes moved":
        found[at:at] = [found.pop(at) for _ in range(min(length, len(found) - at - 1))][::-1]
    else:
        found[at:at] = data[at : at + length]
    return kind, bytes(found)


def mutations(folder: Path, n: int) -> Counter[str]:
    """Open damaged copies of a state: each is refused, or holds the same rows."""
    path, rng, counts = folder / "whole.state", np.random.default_rng(2), Counter[str]()
    scores, times, names = stream(400)
    with closing(fitted(path)) as alert:
        alert.decide(scores, times, names)
        whole = alert.left_, alert.threshold_
    rows, data = on_disk(path), path.read_bytes()
    for number in range(n):
        kind, damaged = mutated(data, rng)
        copy = folder / f"{number}.state"
        copy.write_bytes(damaged)
        try:
            with closing(AlertThreshold.open(copy)) as alert:
                same = (alert.left_, alert.threshold_) == whole
            found = "the same decisions" if same and on_disk(copy) == rows else "OTHER DECISIONS"
        except ValueError:
            found = "refused"
        counts[f"{kind}: {found}"] += 1
        copy.unlink()
    return counts


def timers(folder: Path, n: int) -> Counter[str]:
    """Interrupt decisions by SIGALRM and SIGINT, and ask again for the row until it is answered."""
    path, rng, counts = folder / "timers.state", np.random.default_rng(3), Counter[str]()
    scores, times, names = stream(5 * n)
    expected, _ = fitted(None).decide(scores, times, return_threshold=True)

    def fire(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, fire), signal.signal(signal.SIGINT, signal.default_int_handler)
    answers: list[bool] = []
    took = 0.01
    with closing(fitted(path)) as alert:
        for i, name in enumerate(names):
            kind = "SIGALRM" if i % 2 else "SIGINT"
            delay = float(rng.uniform(1e-5, 1.2 * took))
            sender = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
            is_answered, start = False, time.perf_counter()
            try:
                if kind == "SIGALRM":
                    signal.setitimer(signal.ITIMER_REAL, delay)
                else:
                    sender.start()
                answers.append(alert.decide(scores[i], times[i], name))
                is_answered = True
                # One that has not come yet would come in the next decision.
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                if sender.is_alive():
                    sender.cancel()
                    sender.join()
            except (TimeoutError, KeyboardInterrupt):
                counts[f"{kind} in a decision" if not is_answered else f"{kind} after it"] += 1
            took = 0.9 * took + 0.1 * (time.perf_counter() - start)
            if not is_answered:
                assert alert._state
                counts["of these the decision was on disk"] += name in decisions(alert._state)
                answers.append(alert.decide(scores[i], times[i], name))
            if sum(n_in for name, n_in in counts.items() if name.endswith("in a decision")) == n:
                break
    signal.signal(signal.SIGALRM, before[0])
    signal.signal(signal.SIGINT, before[1])
    counts["answers other than undisturbed"] = int(np.sum(answers != expected[: len(answers)]))
    disk = on_disk(path)
    counts["answers other than on disk"] = sum(disk.get(names[i]) != act for i, act in enumerate(answers))
    counts["answers"] = len(answers)
    return counts


def run_child(work: Callable[[], object], kill_after: float | None = None) -> int:
    """Run work in a fork, which may be killed after some seconds, and return how it ended."""
    with warnings.catch_warnings():
        # Later versions of Python warn of threads, which are those of idle pools here.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        # What the command says is of no interest here.
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            work()
            os._exit(0)
        except SystemExit as ended:
            os._exit(int(ended.code or 0))
        except BaseException:
            os._exit(99)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def limit_files(length: int) -> None:
    """Refuse writing beyond a length of files, as a full disk does."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (length, resource.RLIM_INFINITY))


def command(*words: object) -> Callable[[], object]:
    """Return the command pushrank with these words, to be run in a fork."""
    from pushrank.cli import app

    return lambda: app([str(word) for word in words])


def prepared(folder: Path) -> tuple[Path, Path, bytes]:
    """Write a model, rows of three days, and return both and a state that past rows began."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(1800, 3)), columns=["a", "b", "c"])
    table["y"] = (table["a"] + rng.normal(size=len(table)) > 1).astype(int)
    table["came"] = pd.date_range("2026-01-01", periods=len(table), freq="h").astype(str)
    table["id"] = [f"row {i}" for i in range(len(table))]
    table["note"] = "x" * 300
    table[:1000].to_csv(folder / "known.csv", index=False)
    table[1000:1728].to_csv(folder / "past.csv", index=False)
    table[1728:].to_csv(folder / "new.csv", index=False)
    model, state = folder / "model.skops", folder / "begin.state"
    left_out = [word for name in ("came", "id", "note") for word in ("--exclude", name)]
    fit = command("fit", folder / "known.csv", "--label", "y", *left_out, "--model", "logistic-regression",
                  "-o", model)  # fmt: skip
    assert run_child(fit) == 0
    begin = ["--begin", "--state", state, "--budget", "3/day", "--time", "came"]
    assert run_child(command("alert", model, folder / "past.csv", *begin)) == 0
    return model, folder / "new.csv", state.read_bytes()


def kills(folder: Path, n: int, n_exact: int = 30) -> Counter[str]:
    """Kill ``alert``, n_exact times of n between commit and rename, and run it again."""
    import pushrank._base.files
    import pushrank.cli.score

    model, new, begun = prepared(folder)
    rng, counts = np.random.default_rng(5), Counter[str]()
    state, out = folder / "kill.state", folder / "out.csv"

    def scoring(with_id: bool) -> Callable[[], object]:
        names = ["--id", "id"] if with_id else []
        return command("alert", model, new, "--state", state, *names, "--time", "came", "-o", out)

    def dies(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def dies_before_writing() -> None:
        pushrank.cli.score.write_table = dies
        scoring(True)()

    def dies_before_renaming() -> None:
        Path.replace = dies  # type: ignore[method-assign]
        scoring(True)()

    expected, took = {}, 0.0
    state.write_bytes(begun)
    # After a run in this process, its forks have nothing left to import, and do little but what is killed.
    with suppress(SystemExit), redirect_stdout(StringIO()):
        scoring(True)()
    for with_id in (True, False):
        state.write_bytes(begun)
        start = time.perf_counter()
        assert run_child(scoring(with_id)) == 0
        took = time.perf_counter() - start
        expected[with_id] = out.read_bytes(), sum(on_disk(state).values())
    n_killed = 0
    while n_killed < n:
        state.write_bytes(begun)
        out.unlink(missing_ok=True)
        with_id, when = bool(n_killed % 2), "between commit and rename"
        if n_killed < n_exact:
            with_id = True
            code = run_child([dies_before_writing, dies_before_renaming][n_killed % 2])
        else:
            code = run_child(scoring(with_id), float(rng.uniform(0.1, 1.0) * took))
            n_rows = len(on_disk(state))
            when = "after the commit" if n_rows else "before the commit"
        n_killed += code == -signal.SIGKILL
        counts[f"killed {when}" if code else "ended before the kill"] += 1
        start = time.perf_counter()
        counts["second run failed"] += run_child(scoring(with_id)) != 0
        took = 0.7 * took + 0.3 * (time.perf_counter() - start)
        same = (out.read_bytes(), sum(on_disk(state).values())) == expected[with_id]
        counts["another file or other alerts"] += not same
    return counts


def full_disks(folder: Path, n: int) -> Counter[str]:
    """Decide until the file must not grow, at several lengths, and then go on where it may."""
    counts = Counter[str]()
    scores, times, names = stream(600)
    expected, _ = fitted(None).decide(scores, times, return_threshold=True)
    for number in range(n):
        path, log = folder / f"full{number}.state", folder / "answers.txt"
        fitted(path).close()
        limit = path.stat().st_size + 1024 * 3 * number

        def decides(path: Path = path, log: Path = log, limit: int = limit) -> None:
            limit_files(limit)
            alert = AlertThreshold.open(path)
            with log.open("w", buffering=1) as answers:
                for i, name in enumerate(names):
                    try:
                        answers.write(f"{int(alert.decide(scores[i], times[i], name))}\n")
                    except OSError:
                        sys.exit(3)

        counts["stopped by a full disk"] += run_child(decides) == 3
        answers = [line == "1" for line in log.read_text().split()]
        disk = on_disk(path)
        counts["answers"] += len(answers)
        counts["answers not on disk"] += sum(
            disk.get(names[i]) is not act for i, act in enumerate(answers)
        ) + (len(disk) - len(answers))
        with closing(AlertThreshold.open(path)) as alert:
            again = alert.decide(scores[len(answers) :], times[len(answers) :], names[len(answers) :])
        counts["answers other than undisturbed"] += int(np.sum([*answers, *again] != expected))
    return counts


def full_output(folder: Path) -> Counter[str]:
    """Give the output of ``alert`` no room, then run it again."""
    model, new, begun = prepared(folder)
    state, out = folder / "output.state", folder / "out.csv"
    scoring = command("alert", model, new, "--state", state, "--time", "came", "-o", out)
    state.write_bytes(begun)
    assert run_child(scoring) == 0
    expected = out.read_bytes()
    state.write_bytes(begun)
    out.unlink()

    def without_room() -> None:
        import pushrank.cli.score

        write = pushrank.cli.score.write_table

        def limited(*arguments: Any) -> None:
            limit_files(len(expected) // 2)
            write(*arguments)

        pushrank.cli.score.write_table = limited
        scoring()

    failed, is_there = run_child(without_room), out.exists()
    again = run_child(scoring)
    return Counter({"exit code without room": failed, "half an output": is_there, "exit code again": again,
                    "another file": out.read_bytes() != expected})  # fmt: skip


def others(folder: Path) -> Counter[str]:
    """Open a state that is in use: by another process, by other names, and in a fork."""
    path, counts = folder / "held.state", Counter[str]()
    opens = "import sys; from pushrank.monitoring import AlertThreshold; AlertThreshold.open(sys.argv[1])"
    with closing(fitted(path)) as alert:
        (folder / "link.state").symlink_to(path)
        os.link(path, folder / "hard.state")
        for name in ("held.state", "link.state", "hard.state"):
            second = subprocess.run(
                [sys.executable, "-c", opens, folder / name], stderr=subprocess.PIPE, check=False
            )
            counts[f"a second process by {name}: refused"] += b"another process decides" in second.stderr

        def decides() -> None:
            try:
                alert.decide(9.0, MARCH, "fork")
            except RuntimeError:
                sys.exit(4)

        counts["a fork: refused"] += run_child(decides) == 4
        counts["the first process goes on"] += bool(alert.decide(9.0, MARCH, "parent"))
    (folder / "hard.state").unlink()
    counts["rows on disk"] = len(on_disk(path))
    return counts


def latencies(folder: Path, n: int) -> list[tuple[str, np.ndarray]]:
    """Time decisions row by row, in memory and on disk, and a write of 100 bytes."""
    scores, times, names = stream(n, 1)
    with closing(fitted(folder / "time.state")) as alert, (folder / "bare").open("w+b", buffering=0) as bare:
        in_memory = fitted(None)
        bare.write(bytes(100 * n))
        os.fsync(bare.fileno())
        bare.seek(0)

        def flush(*_: object) -> None:
            bare.write(b" " * 100)
            getattr(os, "fdatasync", os.fsync)(bare.fileno())

        works = {"in memory": in_memory.decide, "on disk": alert.decide, "100 bytes to the disk": flush}
        took = np.empty((n, len(works)))
        for i in range(n):
            for column, work in enumerate(works.values()):
                start = time.perf_counter()
                work(scores[i], times[i], names[i])
                took[i, column] = time.perf_counter() - start
    return list(zip(works, took.T, strict=True))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="where the files are: on the disk to be measured")
    folder = parser.parse_args().folder
    print(f"SQLite {sqlite3.sqlite_version}, Python {sys.version.split()[0]}")
    parts: dict[str, Callable[[Path], Counter[str]]] = {
        "1,000 damaged files": lambda at: mutations(at, 1000),
        "300 signals in decisions": lambda at: timers(at, 300),
        "100 kills of alert": lambda at: kills(at, 100),
        "20 full disks": lambda at: full_disks(at, 20),
        "an output without room": full_output,
        "other processes": others,
    }
    for title, part in parts.items():
        with tempfile.TemporaryDirectory(dir=folder) as at:
            print(f"\n{title}")
            for name, count in sorted(part(Path(at)).items()):
                print(f"  {name:<52} {count:>6,}", flush=True)
    with tempfile.TemporaryDirectory(dir=folder) as at:
        print("\nms from score to decision, 3,000 rows       median    95 %")
        for name, took in latencies(Path(at), 3000):
            print(f"  {name:<40} {1e3 * np.median(took):7.2f} {1e3 * np.quantile(took, 0.95):7.2f}")
        start = time.perf_counter()
        AlertThreshold.open(Path(at) / "time.state").close()
        print(f"  3,000 rows are opened in {1e3 * (time.perf_counter() - start):.0f} ms")


if __name__ == "__main__":
    main()
