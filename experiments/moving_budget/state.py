"""What a state of calls that move keeps through kill -9, two processes, a day in parts, and another model.

    python -m experiments.moving_budget.state > experiments/moving_budget/state.txt

Twelve weeks of 400 rows a day, 210 calls a week and at most 60 a day; labels come the day after.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from pushrank.budgets import Budget
from pushrank.monitoring import MovingList
from pushrank.moving import replayed, span_of

BUDGET, FIRST, N_DAYS, N_ROWS = Budget(210, "week", daily_cap=60), np.datetime64("2026-03-02"), 84, 400
DATES = FIRST + np.arange(N_DAYS)
NAMES = np.arange(N_ROWS).astype(str)


def stream() -> tuple[np.ndarray, np.ndarray]:
    """Return the scores and the labels of days whose levels differ."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(N_DAYS, N_ROWS)) + rng.normal(size=(N_DAYS, 1))
    return scores, rng.random((N_DAYS, N_ROWS)) < 1.0 / (1.0 + np.exp(4.0 - scores))


SCORES, HITS = stream()


def decide(file: Path, days: range, n_parts: int = 1, wait: float = 0.0) -> Iterator[np.ndarray]:
    """Choose the rows of days, each with a state that is opened for it; labels come the day after."""
    for day in days:
        acted = np.zeros(N_ROWS, dtype=bool)
        for rows in np.array_split(np.random.default_rng(day).permutation(N_ROWS), n_parts):
            with closing(MovingList.open(file)) as calls:
                acted[rows] = calls.choose(SCORES[day, rows], DATES[day], NAMES[rows])
            time.sleep(wait)
        with closing(MovingList.open(file)) as calls:
            calls.label(HITS[day, acted], DATES[day], NAMES[acted])
        yield acted


@contextmanager
def child(work: Callable[[], object]) -> Iterator[int]:
    """Fork a process that works, and wait for its end after the block."""
    if not (process := os.fork()):
        try:
            work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    yield process
    os.waitpid(process, 0)


def by_week(acted: list[np.ndarray]) -> np.ndarray:
    """Return the calls of each whole week."""
    return np.array([of.sum() for of in acted]).reshape(-1, 7).sum(axis=1)


def killed(file: Path, expected: list[np.ndarray]) -> None:
    """Kill a process that decides day after day, at random moments, until the last day is decided."""
    rng, n_kills, last = np.random.default_rng(1), 0, 0
    while last < N_DAYS - 1:
        # Each process begins two days back: what was decided is asked for again.
        with child(partial(list, decide(file, range(max(last - 2, 0), N_DAYS)))) as process:
            time.sleep(rng.uniform(0.02, 0.3))
            os.kill(process, signal.SIGKILL)
        n_kills += 1
        with closing(MovingList.open(file)) as calls:
            date = calls.facts["date"]
        last = 0 if date is None else int((np.datetime64(date) - FIRST).astype(int))
    answers = []
    for day in range(N_DAYS):
        with closing(MovingList.open(file)) as calls:
            answers.append(calls.choose(SCORES[day], DATES[day], NAMES))
    same = sum(np.array_equal(of, it) for of, it in zip(answers, expected, strict=True))
    print(
        f"kill -9: {n_kills} processes killed; of {N_DAYS} days {same} have the calls of a process that none"
    )
    print(f"killed, and the weeks have {by_week(answers).min()} to {by_week(answers).max()} calls of 210.\n")


def together(file: Path, expected: list[np.ndarray]) -> None:
    """Let two processes decide the same days at once, each by a state that it opens for every day."""
    with tempfile.TemporaryDirectory() as folder:

        def work(number: int) -> None:
            np.save(f"{folder}/{number}.npy", np.array([*decide(file, range(28), wait=0.05)]))

        with child(partial(work, 0)), child(partial(work, 1)):
            pass
        one, other = (np.load(f"{folder}/{number}.npy") for number in (0, 1))
    n_late = int(np.sum(one != other))
    same = sum(np.array_equal(of, it) for of, it in zip(one, expected[:28], strict=True))
    print(f"Two processes: of 28 days that both decide at once, {n_late} rows have two answers, and {same}")
    print(f"days have the calls of one process; the weeks have {by_week([*one])} calls.\n")


def main() -> None:
    """Print what each of them found."""
    days = Budget(1).periods(np.repeat(DATES, N_ROWS))
    calls_of_rule = replayed(SCORES.ravel(), HITS.ravel(), days, BUDGET)[1]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}.db") for number in range(4)]
        for file in files:
            MovingList(BUDGET, file).close()
        expected = [*decide(files[0], range(N_DAYS))]
        n_same = int(np.sum([of.sum() for of in expected] == calls_of_rule))
        print(f"Whole days: {n_same} of {N_DAYS} have as many calls as the rule, replayed, says.\n")
        killed(files[1], expected)
        together(files[2], expected)
        parts = [*decide(files[3], range(N_DAYS), n_parts=4)]
        n_common = sum(int(np.sum(of & it)) for of, it in zip(parts, expected, strict=True))
        n_most = max(int(of.sum()) for of in parts)
        weeks, n_calls = by_week(parts), sum(int(of.sum()) for of in expected)
        print(f"Days in four parts: {weeks.min()} to {weeks.max()} calls a week, at most {n_most} a day;")
        print(f"{n_common:,} of {n_calls:,} calls are those of whole days.\n")
        with closing(MovingList.open(files[0])) as calls:
            print("A model exchanged on a Wednesday evening, whose scores are a thousand times as large:")
            spent = []
            for at in range(7):
                scores = SCORES[at] * (1000.0 if at > 2 else 1.0)
                spent.append(int(calls.choose(scores, DATES[-1] + 1 + at, NAMES).sum()))
                print(f"    {calls.words}")
                if at == 2:
                    past = np.repeat(DATES[-28:], N_ROWS), np.tile(NAMES, 28)
                    calls.model = "another"
                    calls.fit(1000.0 * SCORES[-28:].ravel(), *past)
            print(
                f"{sum(spent)} calls of 210 in the week; its span began {span_of(BUDGET, DATES[-1] + 1)[0]}."
            )


if __name__ == "__main__":
    main()
