"""Decisions on rows that come one by one, of which a budget by period can be acted on."""

from __future__ import annotations

import errno
import heapq
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank.budgets import STEPS, Budget
from pushrank.files import atomic_write
from pushrank.times import check_times
from pushrank.validation import are_missing, as_numbers, column

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["AlertThreshold"]

FORMAT = 1
MOMENT = "datetime64[us]"
CELLS = {"hour": (60, 60), "day": (900, 96), "week": (3600, 168), "month": (3600, 744)}
"""The clock's cells, in seconds, and how many a period has: within a cell the past stays the same."""
MEMORY = 0.02, 10.0
"""The level of the scores is their mean over about this share of a period's rows, and at least ten rows."""
N_PAST = 60
"""So many periods are learnt from."""
ROOM = 1 << 16
"""So many bytes are made ready for lines to come: some thousand rows."""
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


Row = tuple[str | None, int, float, bool, float]
"""The name of a row that was decided, when, its score, the decision and the threshold."""


class Past(NamedTuple):
    """A period that is over: the rows that were among the best of those still to come, best first.

    ``levels`` are those of the scores when each cell of the clock, counted from the end, was over.
    """

    cells: Integers
    scores: Floats
    levels: Floats


class AlertThreshold:
    r"""Decide on rows as they come, within a budget by period, by what came at the same hour in past periods.

    With b rows of the budget left, a row is acted on when its score is at least

    .. math:: \theta = \bar{t} + \max(0, 1 - 1/F)\, \hat{\beta}\, (\ell - \bar{\ell}),

    where :math:`t_d` is the b-th highest score that was still to come in past period d at this time,
    :math:`\ell_d` the level of the scores at that time, a running mean over about 2 % of a period's rows,
    :math:`\hat{\beta}` the slope of :math:`t` on :math:`\ell` over past periods, :math:`F` its F statistic,
    and :math:`\ell` the level now. A stormy morning raises the threshold as far as a stormy rest of the day
    has followed one; budget that is left near the end lowers it.

    Parameters
    ----------
    budget : Budget or int
        The rows that can be acted on in each hour, day, week or month; an int is so many a day.
    state : path-like, default=None
        The file that keeps what was decided, on disk before an answer is given; None keeps it in memory.

    Attributes
    ----------
    threshold_ : float
        The score from which a row would be acted on now; infinite when the budget is spent.
    left_ : int
        How many rows of the current period's budget are left.

    Raises
    ------
    TypeError
        When the budget is neither.
    ValueError
        When the budget is below 1, or one of batches, which have no clock.

    Notes
    -----
    Never more rows than the budget are acted on, whatever comes. The last 60 periods are learnt from: one
    that ends takes the place of the oldest. Where most past periods had fewer than b
    rows still to come, every row is. Time is how long is left of the period, so that months end together.
    A score that equals the threshold reaches it. A decision costs an addition and, with a state, a line
    written through to the disk; where the clock enters another cell, of a quarter of an hour for days,
    also a look at what is kept of the past, some b log n rows a period. Fitting costs a sort of the times.

    The state holds a line of JSON with the past, written beside and renamed when a period begins, one for
    each row decided since, and zero bytes that lines to come take the place of. A line that a killed process
    left unfinished was no answer yet. A file beside it, whose name ends in .lock, keeps a second process out.

    References
    ----------
    Arlotto and Gurvich, *Uniformly bounded regret in the multisecretary problem*, Stochastic Systems 9
    (2019), where the distribution of the scores to come is known and budgets left over are spent as they
    are here.

    Examples
    --------
    >>> hours = np.arange("2026-01-01", "2026-03-02", dtype="datetime64[h]")
    >>> scores = np.random.default_rng(0).normal(size=len(hours))
    >>> alert = AlertThreshold(Budget(3, "day")).fit(scores[:-24], hours[:-24])
    >>> int(alert.decide(scores[-24:], hours[-24:]).sum()), alert.left_
    (3, 0)
    >>> alert.decide(2.5, "2026-03-02 08:00")
    True
    """

    def __init__(self, budget: Budget | int, state: str | os.PathLike[str] | None = None) -> None:
        self.budget = budget if isinstance(budget, Budget) else Budget(budget)
        if self.budget.per == "batch":
            raise ValueError("an alert threshold needs a budget by the clock, got one a batch.")
        self.state = None if state is None else Path(state).resolve()
        self._past: list[Past] = []
        self._answers: dict[str, Any] = {}
        self._levels: list[float] = []
        self._now = 0
        self._line: Any = None
        self._lock: Any = None
        self._file: Any = None
        self._size = 0

    @classmethod
    def open(cls, state: str | os.PathLike[str]) -> AlertThreshold:
        """Return the threshold of a state file, as it was after the last answer.

        Parameters
        ----------
        state : path-like
            A file that :meth:`fit` made.

        Returns
        -------
        AlertThreshold
            It holds the file until :meth:`close`: ``with contextlib.closing(...)``.

        Raises
        ------
        ValueError
            When the file is damaged, or no state.
        OSError
            When there is none, or another process holds it.
        """
        path = Path(state).resolve()
        # A file that is missing is told before a lock is left beside it.
        path.open("rb").close()
        lock, number = _locked(path), 0
        # Zeros are room for lines to come. What a killed process left of a line was no answer yet.
        *lines, torn = (rows := path.read_bytes().partition(b"\0")[0]).split(b"\n")
        try:
            head = json.loads(lines[0])
            if head["format"] != FORMAT:
                raise ValueError(f"its format is {head['format']}, and {FORMAT} is read")
            alert = cls(Budget.parse(head["budget"]), path)
            alert._past = [Past(*map(np.array, parts)) for parts in head["past"]]
            alert._gain, alert._start, alert._answers = head["gain"], head["last_start"], head["last"]
            alert._begin(head["start"], head["level"])
            for line in lines[1:]:
                number += 1
                alert._take(tuple(json.loads(line)))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            lock.close()
            raise ValueError(
                f"{path} is no whole state of an alert threshold, line {number + 1}: {error}. Restore the "
                "file, or begin a new one, which does not know what was decided in this period."
            ) from error
        alert._lock, alert._file = lock, path.open("r+b", buffering=0)
        alert._size = alert._file.truncate(alert._file.seek(len(rows) - len(torn)))
        return alert

    def fit(self, scores: ArrayLike, time: ArrayLike) -> AlertThreshold:
        """Learn from past periods, and begin with the one after the last of them.

        Parameters
        ----------
        scores : array-like of shape (n,)
            By a model that was not fitted to these rows: those that it has learnt score too high.
        time : array-like of shape (n,)
            Their dates, of at least two whole periods; of days, thirty and more are better.

        Returns
        -------
        AlertThreshold
            Itself.

        Raises
        ------
        ValueError
            When a score or date is missing, or there are fewer than two periods.
        OSError
            When the state cannot be written, or another process holds it.
        """
        values, moments, starts = self._rows(scores, time)
        order = np.argsort(moments, kind="stable")
        periods = np.split(order, np.flatnonzero(np.diff(starts[order])) + 1)
        if len(periods) < 2:
            raise ValueError(f"time must hold at least two whole periods, got one {self.budget.per}.")
        if self.state is not None and self._lock is None:
            self._lock = _locked(self.state)
        self._gain = 1.0 / max(MEMORY[1], MEMORY[0] * float(np.median([*map(len, periods)])))
        self._past, level = [], float(values[periods[0]].mean())
        # No row is of a period before the first of all.
        self._start, self._answers = 0, {}
        for rows in periods:
            self._begin(int(starts[rows[0]]), level)
            for moment, score in zip(moments[rows].tolist(), values[rows].tolist(), strict=True):
                self._take((None, moment, score, False, np.inf))
            self._finish()
            level = self._levels[-1]
        self._begin(self._end, level)
        self._write(None)
        return self

    def decide(
        self, score: ArrayLike, time: Any, row_id: Any = None, *, return_threshold: bool = False
    ) -> Any:
        """Say which rows to act on: one, or several in the order of their times.

        Parameters
        ----------
        score : float or array-like of shape (n,)
            The scores, finite.
        time : date or array-like of shape (n,)
            When the rows came. One from before the row decided last is taken to come now.
        row_id : object or array-like of shape (n,), default=None
            What each row is called, as text. One that was decided in its period, the current or the last,
            gets the same answer; without names every row is another.
        return_threshold : bool, default=False
            Whether to return what the scores were compared with, too.

        Returns
        -------
        act : bool or ndarray of shape (n,)
            Whether to act on the row.
        threshold : float or ndarray of shape (n,)
            The threshold of the moment, infinite when the budget was spent. Only with `return_threshold`.

        Raises
        ------
        ValueError
            When a score or date is missing, or a row is of a period that is over and its answer is not
            known. Nothing is decided then.
        RuntimeError
            When the threshold is not fitted, or was closed.
        OSError
            When the state cannot be written. It is closed then; open it again.
        """
        if not self._past or (self.state is not None and self._file is None):
            raise RuntimeError("the threshold is not fitted, or was closed: call fit, or open its state.")
        is_one = np.ndim(score) == 0
        values, moments, starts = self._rows([score] if is_one else score, [time] if is_one else time)
        ids = [row_id] if is_one else row_id
        names = [None] * len(values) if row_id is None else [str(name) for name in ids]
        if len(names) != len(values):
            raise ValueError(f"row_id must name each of the {len(values)} rows, got {len(names)} names.")
        if row_id is not None and (missing := are_missing(np.array([*ids], dtype=object))).any():
            raise ValueError(f"row_id is missing in row {int(np.argmax(missing))}; give each row a name.")
        for row in np.flatnonzero(starts < self._start):
            if starts[row] != self._last_start or names[row] not in self._last:
                raise ValueError(
                    f"row {row} ({names[row]!r}) is of a {self.budget.per} that ended before "
                    f"{np.datetime64(self._start, 'us')}, and was not decided then; leave it out."
                )
        act, threshold = np.zeros(len(values), dtype=bool), np.zeros(len(values))
        n_written: int | None = len(self._current)
        for row in np.argsort(moments, kind="stable"):
            name, start = names[row], int(starts[row])
            if start > self._start:
                self._finish()
                self._begin(start, self._levels[-1])
                n_written = None
            known = self._answers if start == self._start else self._last
            if name is None or name not in known:
                self._now = max(self._now, int(moments[row]))
                limit = self.threshold_
                self._take((name, self._now, float(values[row]), bool(values[row] >= limit), limit))
                act[row], threshold[row] = self._current[-1][3:]
            else:
                act[row], threshold[row] = known[name]
        self._write(n_written)
        answer = (bool(act[0]), float(threshold[0])) if is_one else (act, threshold)
        return answer if return_threshold else answer[0]

    @property
    def left_(self) -> int:
        """How many rows of the current period's budget are left."""
        return self.budget.n - self._spent

    @property
    def threshold_(self) -> float:
        """The score from which a row would be acted on now."""
        if not self.left_:
            return np.inf
        cell = int(self._cells(self._now))
        if self._line is None or self._line[0] != cell:
            self._line = (cell, *self._look_back(cell))
        _, at, slopes, level = self._line
        row = min(self.left_, len(at)) - 1
        return float(at[row] + slopes[row] * (self._levels[-1] - level))

    def close(self) -> None:
        """Let go of the state, so that another process can open it."""
        for held in (self._file, self._lock):
            if held is not None:
                held.close()
        self._file = self._lock = None

    def _rows(self, scores: Any, time: Any) -> tuple[Floats, Integers, Integers]:
        """Return scores, times and the starts of their periods, both in microseconds since 1970."""
        values = as_numbers(column(scores, "score"), "score")
        if not (is_finite := np.isfinite(values)).all():
            row = int(np.argmin(is_finite))
            raise ValueError(f"score must be finite, got {values[row]} in row {row}.")
        times = check_times(time, len(values))
        labels, codes = self.budget.periods(times)
        return values, times.astype(MOMENT).astype(np.int64), labels.astype(MOMENT).astype(np.int64)[codes]

    def _begin(self, start: int, level: float) -> None:
        """Begin a period, and keep the answers of the last one."""
        self._last_start, self._last = self._start, self._answers
        self._start = self._now = start
        self._answers = {}
        step = STEPS[self.budget.per]
        length = np.array(7 if self.budget.per == "week" else 1, step.replace("datetime", "timedelta"))
        end = np.datetime64(start, "us").astype(step) + length
        self._end = int(end.astype(MOMENT).astype(np.int64))
        self._spent, self._levels, self._line = 0, [level], None
        self._current: list[Row] = []

    def _take(self, row: Row) -> None:
        """Count a row that was decided."""
        name, self._now, score, act, threshold = row
        self._current.append(row)
        self._spent += act
        self._levels.append(self._levels[-1] + self._gain * (score - self._levels[-1]))
        if name is not None:
            self._answers[name] = act, threshold

    def _cells(self, moments: Any) -> Any:
        """Return how many whole cells of the clock come after moments until the period's end."""
        seconds, n_cells = CELLS[self.budget.per]
        return np.minimum((self._end - moments) // (seconds * 1_000_000), n_cells - 1)

    def _finish(self) -> None:
        """Add the current period to the past ones."""
        if not self._current:
            return
        _, moments, scores, _, _ = zip(*self._current, strict=True)
        cells = self._cells(np.array(moments))
        best: list[float] = []
        kept = []
        for row in range(len(scores) - 1, -1, -1):
            if len(best) < self.budget.n or scores[row] > best[0]:
                heapq.heappush(best, scores[row])
                kept.append(row)
                if len(best) > self.budget.n:
                    heapq.heappop(best)
        kept.sort(key=scores.__getitem__, reverse=True)
        n_before = np.searchsorted(-cells, -np.arange(CELLS[self.budget.per][1]), side="right")
        self._past.append(Past(cells[kept], np.array(scores)[kept], np.array(self._levels)[n_before]))
        del self._past[:-N_PAST]

    def _look_back(self, cell: int) -> tuple[Floats, Floats, float]:
        """Return means and slopes of past thresholds, by how much budget is left, and the mean level.

        With more left than any past period had rows, all are taken, and so with the last of them.
        """
        longest = max(len(past.scores) for past in self._past)
        tops = np.full((len(self._past), min(self.budget.n, longest + 1)), -np.inf)
        for top, past in zip(tops, self._past, strict=True):
            best = past.scores[past.cells < cell][: len(top)]
            top[: len(best)] = best
        takes_all = np.isneginf(tops).mean(axis=0) > 0.5
        tops = np.maximum(tops, min(past.scores[-1] for past in self._past))
        levels = np.array([past.levels[cell] for past in self._past])
        at, level = tops.mean(axis=0), float(levels.mean())
        tops, levels = tops - at, levels - level
        products, total = levels @ tops, levels @ levels
        # F is the ratio of these two; they are the same, zero, where nothing varies.
        explained = products**2
        noise = (total * np.sum(tops**2, axis=0) - explained) / max(len(levels) - 2, 1)
        has_slope = (explained > noise) & ~takes_all & (len(levels) > 2)
        slopes = np.divide(
            products - noise / np.where(has_slope, products, 1.0),
            total,
            where=has_slope,
            out=np.zeros_like(at),
        )
        return np.where(takes_all, -np.inf, at), slopes, level

    def _write(self, n_written: int | None) -> None:
        """Have the rows after so many on disk, or all of the state where a period has begun."""
        if self.state is None or n_written == len(self._current):
            return
        try:
            if n_written is not None:
                self._append(_lines(self._current[n_written:]))
                return
            if self._file is not None:
                self._file.close()
            head = {"format": FORMAT, "budget": str(self.budget), "gain": self._gain, "start": self._start}
            head |= {"level": self._levels[0], "last_start": self._last_start, "last": self._last}
            head["past"] = [[part.tolist() for part in past] for past in self._past]
            with atomic_write(self.state) as beside:
                beside.write_bytes(_lines([head, *self._current]))
            self._file = self.state.open("r+b", buffering=0)
            self._size = self._file.seek(0, os.SEEK_END)
            if sys.platform != "win32":
                # The new name has to be on disk, too.
                folder = os.open(self.state.resolve().parent, os.O_RDONLY)
                os.fsync(folder)
                os.close(folder)
        except OSError as error:
            self.close()
            error.filename = error.filename or str(self.state)
            raise

    def _append(self, lines: bytes) -> None:
        """Have lines on disk, as a rule in bytes that are there: the file's length need not be written."""
        end = self._file.tell() + len(lines)
        if end > self._size:
            lines += bytes(ROOM)
            self._size = end + ROOM
        while lines:
            lines = lines[self._file.write(lines) :]
        getattr(os, "fdatasync", os.fsync)(self._file.fileno())
        self._file.seek(end)


def _lines(values: Sequence[object]) -> bytes:
    """Return values as lines of JSON."""
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def _locked(state: Path) -> BinaryIO:
    """Return the open lock of a state, which the system lets go when the process ends, or raise OSError."""
    lock = state.with_name(f"{state.name}.lock").open("ab")
    try:
        if sys.platform == "win32":
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        reason = "another process decides by this state; wait for its end, or split the budget between two"
        raise BlockingIOError(errno.EAGAIN, reason, str(state)) from error
    return lock
