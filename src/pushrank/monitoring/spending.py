"""Calls of a week or a month that move between its days, by a state of what was spent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import astuple
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.user_types import Floats
from pushrank._base.validation import as_numbers, column, finite_numbers
from pushrank.budgets import Budget, Periods
from pushrank.exceptions import BadRowError
from pushrank.monitoring.alerts import MOMENT, check_model, check_not_ahead, now_in_us
from pushrank.monitoring.audits import row_names
from pushrank.monitoring.state import State
from pushrank.moving import ACTED_DAYS, Day, Spending, comparable, span_of
from pushrank.times import in_zone

__all__ = ["MovingList"]

KIND = "calls that move between days"


class MovingList:
    """Choose the rows of each day to act on, within a budget a week or a month that moves between its days.

    How many they are :mod:`pushrank.moving` says, by days before; what is left on the last day of a span is
    spent at any price. The first span begins with as many calls as its days that are left have of it.

    Parameters
    ----------
    budget : Budget
        A budget with a ``daily_cap``.
    state : path-like, default=None
        A new file that keeps what was chosen, which replaces one that is there; None keeps it in memory.
        :meth:`open` goes on with one, and holds it until :meth:`close`.
    model : str, default=""
        What scores are by, such as a digest of the model.

    Examples
    --------
    >>> calls = MovingList(Budget(7, "week", daily_cap=3))
    >>> calls.choose([0.9, 0.2, 0.7], "2026-03-02", ["a", "b", "c"]).tolist()
    [True, False, False]
    >>> calls.words
    'Today 1 call (6 left for 6 days, at most 3 a day).'
    >>> calls.label([1], "2026-03-02", ["a"]).choose([0.9], "2026-03-08", ["d"]).tolist()
    [True]
    >>> calls.words
    'Today 1 call, on the last day of the week (5 left over, at most 3 a day).'
    """

    def __init__(
        self, budget: Budget, state: str | os.PathLike[str] | None = None, *, model: str = ""
    ) -> None:
        if not isinstance(budget, Budget) or budget.daily_cap is None:
            raise ValueError(f"budget must move, as Budget(210, 'week', daily_cap=60) does, got {budget!r}.")
        self.budget, self.model, self._lock = budget, model, Lock()
        facts = {"budget": astuple(budget), "model": model, "zone": None, "span": None, "left": 0}
        self._state = State(state, KIND, facts | {"from": "", "date": None, "calls": 0, "days": {}})

    @classmethod
    def open(cls, state: str | os.PathLike[str], model: str = "") -> MovingList:
        """Return what a file keeps; ValueError where it was begun by the scores of another model."""
        found, kept = cls.__new__(cls), State(state, KIND)
        try:
            facts = kept.facts()
            check_model(kept, facts["model"], model)
            found.budget, found.model = Budget(*facts["budget"]), facts["model"]
        except BaseException:
            kept.close()
            raise
        found._state, found._lock = kept, Lock()
        return found

    def fit(self, score: ArrayLike, time: Any, row_id: Any = None, y: Any = None) -> MovingList:
        """Begin a new span by past days as a model scores them: the first one, or one in place of another.

        Rows are new to the model, and those acted on are known by `row_id`, with their labels. Where `y` has
        labels (NaN: not known), the first ``daily_cap`` rows of a day count as acted on in place of these.
        Set `budget` and `model` before, where they change. The new span has at most what was left of the
        other, and begins after the last of these days and of those that were chosen.
        """
        values = finite_numbers(column(score, "score"), "score")
        names = row_names(range(len(values)) if row_id is None else row_id, len(values))
        hits = None if y is None else checked_labels(y, len(values))
        with self._lock:
            facts = self._facts()
            periods = self._periods(facts, time, len(values))
            known, facts["days"] = facts["days"], {}
            for date, rows in zip(periods.labels.astype(str).tolist(), periods.rows, strict=True):
                rows = rows[np.argsort(-values[rows], kind="stable")]
                first = rows[: self.budget.daily_cap]
                acted = {name: hit for name, (_, hit) in known.get(date, [[], {}])[1].items()}
                if hits is not None:
                    acted = {names[row]: hits[row] for row in first if not np.isnan(hits[row])}
                scored = {names[row]: [values[row], acted[names[row]]] for row in rows if names[row] in acted}
                facts["days"][date] = [values[first].tolist(), scored]
            last = max([*facts["days"], facts["date"] or ""], default="")
            if last:
                after = np.datetime64(last) + 1
                span, n_days, length = span_of(self.budget, after)
                is_same, share = str(span) == facts["span"], round(self.budget.n * n_days / length)
                facts |= {"span": facts["span"] if is_same else None, "left": min(facts["left"], share)}
                facts |= {"from": max(facts["from"], str(after)), "date": None, "calls": 0}
            facts |= {"budget": astuple(self.budget), "model": self.model}
            self._state.append([], facts=facts)
        return self

    def choose(self, score: ArrayLike, time: Any, row_id: ArrayLike) -> NDArray[np.bool_]:
        """Return which rows of a day, or of a part of it, to act on, as it is on disk.

        Scores are of a scale that days have in common; probabilities count by their logits. Of a row that was
        asked for before, by its name and day, the answer is the same. Of others the best are chosen, as many
        as the day, as far as it is known, has calls by what was left before it, less those of its parts.
        ValueError where rows are of several days, of one that is over, or of one far ahead of the clock.
        """
        values = finite_numbers(column(score, "score"), "score")
        names = row_names(row_id, len(values))
        with self._lock:
            facts = self._facts()
            days = self._periods(facts, time, len(values)).labels
            if not len(days):
                return np.zeros(0, dtype=bool)
            if len(days) > 1:
                raise ValueError(
                    f"rows are of {len(days):,} days, {days[0]} to {days[-1]}: pass one at a time."
                )
            if len({*names}) < len(names):
                raise ValueError(f"a name comes twice in {days[0]}: each row needs a different one.")
            answers = dict(pair for part in self._state.rows(int(days[0].astype(int))) for pair in part)
            if new := [row for row, name in enumerate(names) if name not in answers]:
                answers |= self._spent(facts, days[0], values[new], [names[row] for row in new], new[0])
        return np.array([answers[name] for name in names])

    def _spent(
        self, facts: dict[str, Any], day: np.datetime64, values: Floats, names: Sequence[str], row: int
    ) -> dict[str, bool]:
        """Return the answers for new rows of a day, which are on disk."""
        if (date := str(day)) < facts["from"]:
            raise BadRowError(row, "", f" ({names[0]!r}) is of {date}, which is over: leave it out.")
        start = day.astype(MOMENT).astype(np.int64)
        last = facts["from"] and np.datetime64(facts["from"]).astype(MOMENT).astype(np.int64)
        check_not_ahead(self.budget, np.array([start]), int(last or min(start, now_in_us())))
        first, acted = facts["days"].get(date, ([], {}))
        # A part of a day is decided by what was left before the day.
        facts["left"] += len(acted)
        first = -np.sort(-np.r_[first, values])[: self.budget.daily_cap]
        spending, today = spending_of(self.budget, facts, date, first)
        n = spending.calls(day, today)
        best = np.argsort(-values, kind="stable")[: max(n - len(acted), 0)].tolist()
        acted |= {names[of]: [float(values[of]), None] for of in best}
        facts["days"][date] = [first.tolist(), acted]
        oldest = day - ACTED_DAYS
        facts["days"] = {of: kept for of, kept in facts["days"].items() if of >= str(oldest)}
        facts |= {"span": str(spending.span), "left": spending.left + n - len(acted), "from": date}
        answers = [(name, name in acted) for name in names]
        part, forget = int(day.astype(int)), int(oldest.astype(int))
        facts |= {"date": date, "calls": len(acted)}
        self._state.append([(part, answers)], facts=facts, forget_before=forget)
        return dict(answers)

    def label(self, y: ArrayLike, time: Any, row_id: ArrayLike) -> MovingList:
        """Learn which rows acted on are hits: by 1 and 0, NaN where that is not known yet.

        Times and names are those by which rows were chosen. Rows from before the 84 days that are kept are
        left out. ValueError where a row was not acted on or has another label; nothing is learnt then.
        """
        hits = checked_labels(y, len(names := row_names(row_id, len(column(y, "y")))))
        with self._lock:
            facts = self._facts()
            periods = self._periods(facts, time, len(hits))
            dates = periods.labels.astype(str)[periods.codes].tolist()
            for row, (date, name, hit) in enumerate(zip(dates, names, hits.tolist(), strict=True)):
                if np.isnan(hit) or date < min(facts["days"], default=date):
                    continue
                known = facts["days"].get(date, ([], {}))[1].get(name)
                if known is None or known[1] not in (None, hit):
                    why = "was not acted on" if known is None else f"has another label, {known[1]:g}, already"
                    raise BadRowError(row, "", f" ({name!r}) of {date} {why}; leave it out.")
                known[1] = hit
            self._state.append([], facts=facts)
        return self

    @property
    def facts(self) -> dict[str, Any]:
        """The last day, its calls, and those that are left for how many days after it, for JSON."""
        facts = self._facts()
        date = None if facts["date"] is None else np.datetime64(facts["date"])
        n_days = None if date is None else span_of(self.budget, date)[1] - 1
        told = {name: facts[name] for name in ("date", "calls", "left")}
        return {"budget": str(self.budget), **told, "days_left": n_days}

    @property
    def words(self) -> str:
        """The calls of the last day, and what is left, in words."""
        facts, most = self.facts, f"at most {self.budget.daily_cap:,} a day"
        n, left, n_days = (facts[name] for name in ("calls", "left", "days_left"))
        if n_days is None:
            return f"No calls so far ({self.budget.words})."
        today = f"Today {n:,} call{'s' * (n != 1)}"
        if not n_days:
            return f"{today}, on the last day of the {self.budget.per} ({left:,} left over, {most})."
        return f"{today} ({left:,} left for {n_days} day{'s' * (n_days > 1)}, {most})."

    def close(self) -> None:
        """Let go of the state, so that another process can open it."""
        self._state.close()

    def _facts(self) -> dict[str, Any]:
        """Return what is on disk, also after an exception."""
        self._state.check()
        return dict(self._state.facts())

    def _periods(self, facts: dict[str, Any], time: Any, n_rows: int) -> Periods:
        """Return the days of rows by the clock of the state's zone, which is noted."""
        when = [time] * n_rows if np.ndim(time) == 0 else time
        if not n_rows and not len(when):
            return Periods(np.empty(0, dtype="datetime64[D]"), np.empty(0, dtype=np.int64))
        times, facts["zone"] = in_zone(when, n_rows, facts["zone"])
        return Budget(self.budget.n).periods(times)


def spending_of(budget: Budget, facts: dict[str, Any], date: str, today: Floats) -> tuple[Spending, Floats]:
    """Return what was known before a day, and its scores, on a scale on which scores have differences."""
    before = [(of, *day) for of, day in facts["days"].items() if of < date]
    told = [[of for of in acted.values() if of[1] is not None] for *_, acted in before]
    parts = [today, *(first for _, first, _ in before), *([score for score, _ in of] for of in told)]
    ends = np.cumsum([len(part) for part in parts])[:-1]
    today, *scores = np.split(comparable(np.concatenate(parts)), ends)
    spending, n = Spending(budget), len(before)
    spending.days = [
        Day(np.datetime64(of), first, acted, np.array([hit for _, hit in labels], dtype=bool))
        for (of, *_), first, acted, labels in zip(before, scores[:n], scores[n:], told, strict=True)
    ]
    spending.span = None if facts["span"] is None else np.datetime64(facts["span"])
    spending.left = facts["left"]
    return spending, today


def checked_labels(y: Any, n_rows: int) -> Floats:
    """Return labels as numbers, or raise ValueError unless each is 0, 1 or NaN."""
    labels = as_numbers(column(y, "y"), "y")
    if len(labels) != n_rows or not np.isin(labels[~np.isnan(labels)], (0.0, 1.0)).all():
        raise ValueError(f"y must hold 0, 1 or NaN for each of {n_rows} rows, got {len(labels)}.")
    return labels
