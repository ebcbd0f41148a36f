"""Decisions on rows that come one by one, of which a budget by period can be acted on."""

from __future__ import annotations

import heapq
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from threading import Lock
from time import time_ns
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.user_types import Floats
from pushrank._base.validation import are_missing, check_number, column, finite_numbers, warn
from pushrank.budgets import NEARLY_ALL, STEPS, Budget, check_by_period, comes_whole
from pushrank.exceptions import BadRowError
from pushrank.monitoring.audits import row_names, uniform_numbers, whole
from pushrank.monitoring.state import State
from pushrank.times import in_zone

__all__ = ["N_PAST", "AlertThreshold"]

KIND = "an alert threshold"
MOMENT = "datetime64[us]"
CELLS = {"hour": (60, 60), "day": (900, 96), "week": (3600, 168), "month": (3600, 744)}
"""The clock's cells, in seconds, and how many a period has: within a cell the past stays the same. So many
cells of equal numbers of past rows divide these further, where rows come in bursts."""
MEMORY = 0.02, 10.0
"""The level of the scores is their mean over about this share of a period's rows, and at least ten rows."""
N_PAST = 60
"""So many periods are learnt from."""
DAY = 86_400_000_000
"""In microseconds."""
Integers = NDArray[np.int64]
FilePath = str | os.PathLike[str]

MAX_BELOW = 3.0
"""Where a period has more rows below the list than so many times their mean, chances to be drawn fall."""

Answer = tuple[str, float, float]
"""Why a row is acted on, "list" or "audit", or "" for one that is not, its threshold, and its chance."""


class Row(NamedTuple):
    """A row that was decided; one in no group has the group ""."""

    name: str | None
    moment: int
    score: float
    act: bool
    threshold: float
    group: str = ""
    chance: float = 0.0


class Past(NamedTuple):
    """A period that is over: the rows that were among the best of those still to come, best first."""

    # `levels` are those of the scores when each cell of the clock, counted from the end, was over. Where
    # nearly all rows came at one moment, `n_whole` is their number.

    cells: Integers
    scores: Floats
    levels: Floats
    n_whole: NDArray[np.int64] = np.array(0)


class AlertThreshold:
    r"""Decide on rows as they come, within a budget by period, by what came at the same hour in past periods.

    With b rows of the budget left, a row is acted on when its score is at least

    .. math:: \theta = \bar{t} + \max(0, 1 - 1/F)\, \hat{\beta}\, (\ell - \bar{\ell}),

    where :math:`t_d` is the b-th highest score that was still to come in past period d at this time,
    :math:`\ell_d` the level of the scores at that time, a running mean over about 2 % of a period's rows,
    :math:`\hat{\beta}` the slope of :math:`t` on :math:`\ell` over past periods, :math:`F` its F statistic,
    and :math:`\ell` the level now. A stormy morning raises the threshold as far as a stormy rest of the day
    has followed one; budget that is left near the end lowers it. Rows of one moment are decided together,
    best first. Where nearly all past rows of a period came at one moment, as those of days without times, so
    are all rows of a period: the first b are acted on.

    Parameters
    ----------
    budget : Budget or int
        The rows that can be acted on in each hour, day, week or month; an int is this many a day.
    state : path-like, default=None
        The file that keeps what was decided, on disk before an answer is given; None keeps it in memory.
    n_kept : int, default=60
        The answers of this many periods that are over are kept, and those of the current one.
    audit : int, default=0
        So many rows of the budget, in the mean of the periods, are drawn at random from all below the
        threshold, so that what it misses can be known (:func:`pushrank.metrics.audit_bound`).
    at_most : int, default=None
        Of the rows of a group, such as a customer, at most this many a period are acted on by their scores:
        the threshold of all others is infinite, and the budget goes to other groups. Rows of the audit are
        not limited and do not count, since a limit would make their chances unknown.

    Attributes
    ----------
    threshold_ : float
        The score from which a row would be acted on now; infinite when the budget is spent.
    left_ : int
        How many rows of the current period's budget are left, without those of the audit.
    chance_ : float
        The chance of a row below the threshold to be drawn: `audit` over the mean number m of rows that past
        periods had beyond the rest of the budget. It stays what it was at the fit, but the k-th row below the
        threshold of a period, where k is above 3 m, has this chance times :math:`(3 m / k)^2`.
    comes_whole_ : bool
        Whether the rows of a period come at one moment: nine in ten periods, also of those with more rows
        than the budget, have nine in ten of their rows at one. Times of the day are then left aside. Where
        fewer periods are such, the clock is learnt from the others, and more than half as many rows at one
        moment as such periods have are decided as a whole period.
    group_name, model : str
        What groups are by, such as "customer", and what scores are by, such as a digest of the model, where
        it is said before :meth:`fit`; the state keeps both.
    n_ahead : int
        Rows may be a day and this many periods later than this machine's clock: 1, unless it is set.

    Raises
    ------
    TypeError
        When the budget is neither, or `n_kept`, `audit` or `at_most` is no integer.
    ValueError
        When the budget, `n_kept` or `at_most` is below 1, the audit is the whole budget or negative, or the
        budget is one of batches, which have no clock.

    Notes
    -----
    Never more rows than the budget are acted on, whatever comes, unless there is an audit: of a budget of 30
    with an audit of 3 never more than 27 are acted on by score, and the number drawn varies around 3, without
    a limit, which would make chances unknown; its mean is below 18 however many rows come. Whether a row is
    drawn hangs on its name, its time and a secret in the state, which those who make or score the rows should
    not read. The last 60 periods are learnt from: one that ends takes the place of the oldest. Where most
    past periods had fewer than b rows still to come, every row is acted on. Time is how long is left of the
    period, so that months end together.
    A score that equals the threshold reaches it. A decision costs an addition and, with a state, a
    transaction on disk; where the clock enters another cell, of a quarter of an hour for days, also a look at
    what is kept of the past, some b log n rows a period. Fitting costs a sort of the times.

    The state is a :class:`~pushrank.monitoring.State` with a row for each decision. After an exception, such
    as that of a signal, the rows that it holds are decided, and get their answers when they are asked for
    again.

    A wrong date in the future would end the use of a state for all rows before it. A row that is later than
    this machine's clock by more than a day and `n_ahead` periods is refused where it skips a period; where
    the row before it is as late, as in a simulation, where it skips more than 60.

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

    def __init__(
        self, budget: Budget | int, state: FilePath | None = None, *, n_kept: int = N_PAST, audit: int = 0,
        at_most: int | None = None,
    ) -> None:  # fmt: skip
        self.budget = budget if isinstance(budget, Budget) else Budget(budget)
        check_by_period(self.budget)
        if self.budget.per == "batch":
            raise ValueError("an alert threshold needs a budget by the clock, got one a batch.")
        check_number("n_kept", n_kept, 1, integer=True)
        check_number("audit", audit, 0, self.budget.n - 1, integer=True)
        self.at_most, self._n_of_group = at_most, self.budget.n if at_most is None else at_most
        check_number("at_most", self._n_of_group, 1, integer=True)
        self.state = None if state is None else Path(state).resolve()
        self.n_kept, self.n_ahead, self.group_name, self.model = n_kept, 1, "", ""
        self.audit, self.chance_, self._secret = audit, 0.0, ""
        self._n_listed = self.budget.n - audit
        self._state: State | None = None
        self._is_whole, self._lock, self.comes_whole_ = False, Lock(), False
        self._past: list[Past] = []
        self._answers: dict[int, dict[str, Answer]] = {}
        self._levels: list[float] = []
        self._start = self._now = self._spent = 0
        self._line: Any = None
        self._zone: str | None = None

    @classmethod
    def open(cls, state: FilePath, model: str = "") -> AlertThreshold:
        """Return the threshold of a state file, as it was after the last answer.

        Parameters
        ----------
        state : path-like
            A file that :meth:`fit` made.
        model : str, default=""
            What the scores to come are by, where that is to be compared with what the state keeps.

        Returns
        -------
        AlertThreshold
            It holds the file until :meth:`close`: ``with contextlib.closing(...)``.

        Raises
        ------
        ValueError
            When the file is damaged, no state of alerts, holds more of them than its budget, or was begun by
            the scores of another model.
        OSError
            When there is none, or another process holds it.
        """
        kept = State(state, KIND)
        try:
            facts = kept.facts()
            options = {"audit": facts.get("audit", 0), "at_most": facts.get("at_most")}
            alert = cls(Budget.parse(facts["budget"]), state, n_kept=facts["n_kept"], **options)
            alert.group_name, alert.model = facts.get("group_name", ""), facts.get("model", "")
            check_model(kept, alert.model, model)
            alert._load(kept)
            alert._state = kept
        except BaseException:
            kept.close()
            raise
        return alert

    def fit(
        self, scores: ArrayLike, time: ArrayLike, group: ArrayLike | None = None, *, zone: str | None = None
    ) -> AlertThreshold:
        """Learn from past periods, and begin with the one after the last of them.

        Parameters
        ----------
        scores : array-like of shape (n,)
            By a model that was not fitted to these rows: those that it has learnt score too high.
        time : array-like of shape (n,)
            Their dates, of at least two whole periods; of days, thirty and more are better.
        group : array-like of shape (n,), default=None
            Their groups, as in :meth:`decide`.
        zone : str, default=None
            The zone of the times, where these have lost it: a name such as Europe/Berlin, or +01:00.

        Returns
        -------
        AlertThreshold
            Itself.

        Raises
        ------
        ValueError
            When a score or date is missing, a date is far ahead of this machine's clock and of the others,
            there are fewer than two periods, only one of `group` and `at_most` is given, or the audit would
            draw all rows below the list.
        OSError
            When the state cannot be written, or another process holds it.
        """
        values, moments, starts, own_zone = self._rows(scores, time, None)
        order, groups = np.argsort(moments, kind="stable"), self._groups(group, len(values))
        periods = np.split(order, np.flatnonzero(np.diff(starts[order])) + 1)
        if len(periods) < 2:
            raise ValueError(f"time must hold at least two whole periods, got one {self.budget.per}.")
        check_not_ahead(self.budget, starts, int(starts.min()), self.n_ahead)
        self._is_whole, self._zone = False, zone or own_zone
        self.comes_whole_ = comes_whole(self.budget, moments.astype(MOMENT))
        moments = starts if self.comes_whole_ else moments
        sizes = np.array([*map(len, periods)])
        self._gain = 1.0 / max(MEMORY[1], MEMORY[0] * float(np.median(sizes)))
        self._clock = self._clock_of(moments, starts)
        self._past, level, n_below = [], float(values[periods[0]].mean()), 0
        for rows in periods:
            self._begin(int(starts[rows[0]]), level)
            for row in rows.tolist():
                self._weigh(int(moments[row]), float(values[row]))
                self._take(Row(None, int(moments[row]), float(values[row]), False, np.inf, groups[row]))
            self._finish()
            level = self._levels[-1]
            n_below += len(rows) - min(self._n_listed, len(self._past[-1].scores))
        if self.audit:
            # A chance of one would act on every row of the days to come, however many these have.
            below, several = n_below / len(periods), self.budget.several
            if below <= self.audit:
                raise ValueError(
                    f"an audit of {self.audit} would draw every row: the {several} passed have {below:.3g} "
                    f"rows below the list on average. Pass all rows of past {several}, also those not acted "
                    "on, or take a smaller audit."
                )
            self.chance_, self._secret = self.audit / below, token_hex()
        self._begin(self._end, level)
        # No answer of an earlier period is known.
        self._starts, self._answers = [self._start], {self._start: {}}
        self.close()
        self._state = State(self.state, KIND, self._facts())
        self._is_whole = True
        return self

    def decide(
        self, score: ArrayLike, time: Any, row_id: Any = None, *, group: Any = None,
        return_threshold: bool = False, return_acted: bool = False, return_chance: bool = False,
    ) -> Any:  # fmt: skip
        """Say which rows to act on: one, or several in the order of their times, those of one time together.

        Parameters
        ----------
        score : float or array-like of shape (n,)
            The scores, finite.
        time : date or array-like of shape (n,)
            When the rows came. One from before the row decided last is taken to come now. Times are taken by
            the clock of the zone of those of the fit; where these have no zone, others must have none.
        row_id : object or array-like of shape (n,), default=None
            What each row is called, as text. One that was decided in its period, the current one or one of
            the last `n_kept`, gets the same answer; without names every row is another. Rows of one name
            and period in a batch are one row, and count once: the first one's answer, of one moment the
            highest score's, is that of all, with a warning where their scores differ.
        group : object or array-like of shape (n,), default=None
            The group of each row, such as its customer, as text: with `at_most`, and only then. A row whose
            group is empty, NaN or, in an array, None is in no group.
        return_threshold : bool, default=False
            Whether to return what the scores were compared with, too.
        return_acted, return_chance : bool, default=False
            Whether to return why, too, and with what chance.

        Returns
        -------
        act : bool or ndarray of shape (n,)
            Whether to act on the row.
        threshold : float or ndarray of shape (n,)
            The threshold of the moment, infinite when the budget, or what the row's group can have of it, was
            spent. Only with `return_threshold`.
        acted : str or ndarray of shape (n,)
            "list" for a row that reached it, "audit" for one that was drawn, and "" for one that is not acted
            on. Only with `return_acted`.
        chance : float or ndarray of shape (n,)
            The chance of the row to be acted on: 1 on the list, and of others that to be drawn, which is
            `chance_` or, in a period of very many rows, less. Only with `return_chance`.

        Raises
        ------
        ValueError
            When a score, date or name is missing, a date is far ahead, a row is of a period that is over and
            its answer is not known, or only one of `group` and `at_most` is given. Nothing is decided then.
        RuntimeError
            When the threshold is not fitted or was closed, or this process is a fork of the one that opened
            its state.
        OSError
            When the state cannot be written. Nothing is decided then.

        Warns
        -----
        UserWarning
            When rows of one name have different scores or, where periods come whole, rows come after those of
            their period were decided.
        """
        if self._state is None:
            raise RuntimeError("the threshold is not fitted, or was closed: call fit, or open its state.")
        is_one = np.ndim(score) == 0
        given, when = ([score], [time]) if is_one else (score, time)
        values, moments, starts, self._zone = self._rows(given, when, self._zone)
        moments = starts if self.comes_whole_ else moments
        names: Sequence[str | None] = [None] * len(values)
        if row_id is not None:
            names = row_names([row_id] if is_one else row_id, len(values))
        groups = self._groups([group] if is_one and group is not None else group, len(values))
        with self._lock:
            acted, threshold, chance = self._decided(self._state, values, moments, starts, names, groups)
        asked = [acted != "", *[threshold] * return_threshold, *[acted] * return_acted]
        asked += [chance] * return_chance
        answer = tuple(part[0].item() for part in asked) if is_one else tuple(asked)
        return answer if len(answer) > 1 else answer[0]

    def _decided(
        self, state: State, values: Floats, moments: Integers, starts: Integers, names: Sequence[str | None],
        groups: Sequence[str],
    ) -> tuple[NDArray[np.str_], Floats, Floats]:  # fmt: skip
        """Return why rows are acted on, if they are, their thresholds and chances, as they are on disk."""
        self._load(state)
        self._check_periods(state, starts, names)
        acted, threshold, chance = np.full(len(values), "", dtype="<U5"), *np.zeros((2, len(values)))
        decided: list[tuple[int, Row]] = []
        first_scores: dict[Any, float] = {}
        n_differing, begun, n_begun, self._is_whole = 0, self._start, len(self._current), False
        # A row from before the one decided last comes now. Those of one moment are decided best first.
        moments = np.maximum(moments, self._now)
        order = np.lexsort((-values, moments))
        for batch in np.split(order, np.flatnonzero(np.diff(moments[order])) + 1) if len(order) else ():
            if (start := int(starts[batch].max())) > self._start:
                self._finish()
                self._begin(start, self._levels[-1])
                self._starts = [*self._starts, start][-self.n_kept - 1 :]
            moment = int(moments[batch[0]])
            known = {row: self._known(state, int(starts[row])) for row in batch.tolist()}
            new: dict[Any, float] = {}
            for row in known:
                if names[row] is None or names[row] not in known[row]:
                    new.setdefault(row if names[row] is None else names[row], float(values[row]))
            # All of them are known before the first is decided: its level is that of the others.
            for score in new.values():
                self._now = moment
                self._weigh(moment, score)
            is_whole = len(new) > self._least_whole
            for row, answers in known.items():
                name, score = names[row], float(values[row])
                answer = None if name is None else answers.get(name)
                if answer is None:
                    # Nothing reaches that of a group which has all it can have: its rows may be drawn, as
                    # others.
                    limit = self._limit(groups[row], self._level_of_others(score), is_whole=is_whole)
                    of_audit = self._chance()
                    act = bool(score >= limit) or self._is_drawn(name, moment, of_audit)
                    made = Row(name, moment, score, act, limit, groups[row], of_audit)
                    decided.append((start, made))
                    answer = self._take(made)
                acted[row], threshold[row], chance[row] = answer
                if name is not None:
                    n_differing += first_scores.setdefault((int(starts[row]), name), score) != score
        if self._start > begun:
            state.append(decided, facts=self._facts(), forget_before=self._starts[0])
            self._answers = {start: self._answers[start] for start in (begun, self._start)}
        elif decided:
            state.append(decided)
        self._is_whole = True
        per, n_after = self.budget.per, sum(start == begun for start, _ in decided)
        if n_differing:
            warn(
                f"{n_differing} rows have the name of another of their {per}, and another score; they get "
                "its answer. Give each row a different name."
            )
        if self.comes_whole_ and n_begun and n_after:
            warn(
                f"{n_after} rows come after {n_begun} of their {per} were decided as the whole of it, since "
                f"past {self.budget.several} came whole; decide on all rows of a {per} together."
            )
        return acted, threshold, chance

    def _check_periods(self, state: State, starts: Integers, names: Sequence[str | None]) -> None:
        """Raise BadRowError for a row of a period that is over, whose answer is not known, or far ahead."""
        for row in np.flatnonzero(starts < self._start).tolist():
            if names[row] not in self._known(state, int(starts[row])):
                of = f"is of a {self.budget.per} that ended before {np.datetime64(self._start, 'us')}"
                kept = f"answers are kept for {self.n_kept:,} {self.budget.several}"
                raise BadRowError(
                    row, "", f" ({names[row]!r}) {of}, and its answer is not known: {kept}; leave it out."
                )
        check_not_ahead(self.budget, starts, self._start, self.n_ahead)

    def _chance(self) -> float:
        """Return the chance of the next row below the threshold to be drawn."""
        if not self.audit:
            return 0.0
        # By how many rows there are, not by how many were drawn: draws are independent, and chances known.
        usual = MAX_BELOW * self.audit / self.chance_
        return self.chance_ * min(1.0, usual / (len(self._current) - self._spent + 1)) ** 2

    def _is_drawn(self, name: str | None, moment: int, chance: float) -> bool:
        """Return whether a row below the threshold is drawn."""
        # Rows without names that come at the same moment have draws of their own, by their number.
        key = f"{moment}\0{len(self._current)}\0" if name is None else f"{moment}\0{name}"
        return chance > 0.0 and bool(uniform_numbers([key], self._secret)[0, 0] < chance)

    @property
    def left_(self) -> int:
        """How many rows of the current period's budget are left, without those of the audit."""
        self._mend()
        return self._n_listed - self._spent

    @property
    def threshold_(self) -> float:
        """The score from which a row would be acted on now."""
        self._mend()
        return self._limit()

    def close(self) -> None:
        """Let go of the state, so that another process can open it."""
        if self._state is not None:
            self._state.close()
        self._state = None

    def __reduce__(self) -> NoReturn:
        """Refuse a copy, also one for another process."""
        raise TypeError("each copy of an alert threshold would spend its budget: open its state once.")

    def _mend(self) -> None:
        """Go on from the state after an exception, unless a decision of another thread is under way."""
        if self._state is not None and self._lock.acquire(blocking=False):
            try:
                self._load(self._state)
            finally:
                self._lock.release()

    def _load(self, state: State) -> None:
        """Go on from what a state holds, where this is not it: at first, and after an exception."""
        state.check()
        if self._is_whole:
            return
        facts = state.facts()
        self._past = [Past(*map(np.array, parts)) for parts in facts["past"]]
        self._gain, self._starts, self._answers = facts["gain"], facts["starts"], {}
        self.chance_, self._secret = facts.get("chance", 0.0), facts.get("secret", "")
        self.comes_whole_, self._zone = facts.get("comes_whole", False), facts.get("zone")
        # A state of an earlier version has cells of one length.
        self._clock = np.array(facts.get("clock", self._even_cells()))
        self._begin(self._starts[-1], facts["level"])
        for row in self._kept(state, self._start):
            self._weigh(row.moment, row.score)
            self._take(row)
        if self._spent > self._n_listed:
            raise ValueError(f"{self.state} holds {self._spent} alerts of a budget of {self.budget.words}.")
        self._is_whole = True

    def _facts(self) -> dict[str, Any]:
        """Return what the state holds apart from the rows that were decided."""
        facts = {"budget": str(self.budget), "n_kept": self.n_kept}
        facts |= {"at_most": self.at_most, "group_name": self.group_name, "model": self.model}
        facts |= {"comes_whole": self.comes_whole_, "clock": self._clock.tolist(), "zone": self._zone}
        facts |= {"gain": self._gain, "level": self._levels[0], "starts": self._starts}
        if self.audit:
            facts |= {"audit": self.audit, "chance": self.chance_, "secret": self._secret}
        return facts | {"past": [[part.tolist() for part in past] for past in self._past]}

    def _known(self, state: State, start: int) -> dict[str, Answer]:
        """Return the answers of a period, by the names of its rows."""
        if start in self._starts and start not in self._answers:
            rows = self._kept(state, start)
            self._answers[start] = {row.name: _answer(row) for row in rows if row.name is not None}
        return self._answers.get(start, {})

    def _kept(self, state: State, start: int) -> list[Row]:
        """Return the rows of a period; those of an earlier version had the chance of all."""
        added: dict[str, Any] = {"chance": self.chance_}
        return [Row(*of, **({} if len(of) == len(Row._fields) else added)) for of in state.rows(start)]

    def _level_of_others(self, score: float) -> float:
        """Return the level without a score of this moment."""
        _, level, mean, n = self._of_moment
        others = (n * mean - score) / max(n - 1, 1)
        return level + (1.0 - (1.0 - self._gain) ** (n - 1)) * (others - level)

    def _limit(self, group: str = "", level_now: float | None = None, *, is_whole: bool = False) -> float:
        if self._spent >= self._n_listed or (group and self._n_listed_of[group] >= self._n_of_group):
            return np.inf
        # After a whole period nothing is to come.
        cell = 0 if is_whole else int(self._cells(self._now))
        if self._line is None or self._line[0] != cell:
            self._line = (cell, *self._look_back(cell))
        _, at, slopes, level = self._line
        row = min(self._n_listed - self._spent, len(at)) - 1
        level_now = self._levels[-1] if level_now is None else level_now
        return float(at[row] + slopes[row] * (level_now - level))

    def _rows(
        self, scores: Any, time: Any, zone: str | None
    ) -> tuple[Floats, Integers, Integers, str | None]:
        """Return scores, times and the starts of their periods, in microseconds since 1970, and the zone."""
        values = finite_numbers(column(scores, "score"), "score")
        if not len(values) and not len(time):
            return values, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), zone
        times, zone = in_zone(time, len(values), zone)
        labels, codes = self.budget.periods(times)
        starts = labels.astype(MOMENT).astype(np.int64)[codes]
        return values, times.astype(MOMENT).astype(np.int64), starts, zone

    def _groups(self, group: Any, n_rows: int) -> Sequence[str]:
        """Return the group of each row as text, which is empty for a row in no group."""
        if (group is None) != (self.at_most is None):
            raise ValueError("group and at_most go together; one row without a group has the group ''.")
        values = column([""] * n_rows if group is None else group, "group")
        if len(values) != n_rows:
            raise ValueError(f"group must have one entry for each of the {n_rows} rows, got {len(values)}.")
        names = map(whole, values.tolist())
        return ["" if none else str(of) for none, of in zip(are_missing(values), names, strict=True)]

    def _end_of(self, starts: Any) -> Any:
        """Return when periods end."""
        step = STEPS[self.budget.per]
        length = np.array(7 if self.budget.per == "week" else 1, step.replace("datetime", "timedelta"))
        return (np.asarray(starts).astype(MOMENT).astype(step) + length).astype(MOMENT).astype(np.int64)

    def _begin(self, start: int, level: float) -> None:
        self._start = self._now = start
        self._answers[start] = {}
        self._end = int(self._end_of(start))
        self._spent, self._levels, self._line = 0, [level], None
        self._n_listed_of: Counter[str] = Counter()
        self._current: list[Row] = []
        self._of_moment = start, level, 0.0, 0
        # More than half as many rows of one moment as periods have that came whole are such a period.
        wholes = [int(past.n_whole) for past in self._past if past.n_whole]
        self._least_whole = 0.5 * float(np.median(wholes)) if wholes else np.inf

    def _weigh(self, moment: int, score: float) -> None:
        """Take a score up into the level; those of one moment weigh alike, in whatever order they come."""
        at, level, mean, n = self._of_moment
        if moment != at:
            level, mean, n = self._levels[-1], 0.0, 0
        n += 1
        mean += (score - mean) / n
        self._levels.append(level + (1.0 - (1.0 - self._gain) ** n) * (mean - level))
        self._of_moment = moment, level, mean, n

    def _take(self, row: Row) -> Answer:
        """Count a row that was decided, and return its answer."""
        self._now, answer = row.moment, _answer(row)
        self._current.append(row)
        self._spent += answer[0] == "list"
        self._n_listed_of[row.group] += answer[0] == "list"
        if row.name is not None:
            self._answers[self._start][row.name] = answer
        return answer

    def _even_cells(self) -> Integers:
        """Return where cells of one length begin, counted in microseconds from the end of a period."""
        seconds, n_cells = CELLS[self.budget.per]
        return np.arange(1, n_cells) * (seconds * 1_000_000)

    def _clock_of(self, moments: Integers, starts: Integers) -> Integers:
        """Return where cells of one length and of one number of rows begin, counted from a period's end."""
        shares = np.linspace(0.0, 1.0, CELLS[self.budget.per][1] + 1)[1:-1]
        of_rows = np.quantile(self._end_of(starts) - moments, shares, method="inverted_cdf")
        return np.union1d(self._even_cells(), of_rows.astype(np.int64))

    def _cells(self, moments: Any) -> Any:
        """Return how many whole cells of the clock come after moments until the period's end."""
        return np.searchsorted(self._clock, self._end - moments, side="right")

    def _finish(self) -> None:
        """Add the current period to the past ones."""
        if not self._current:
            return
        _, moments, scores, _, _, groups, _ = zip(*self._current, strict=True)
        cells = self._cells(np.array(moments))
        # Of each group the best rows that the limit allows, whatever was acted on: as many of them reach a
        # constant threshold as are acted on by it. With all rows too much would be asked for, and without
        # those that were refused the past would follow the threshold, which follows the past, ever lower.
        is_allowed, n_better = np.ones(len(scores), dtype=bool), Counter[str]()
        for row in sorted(range(len(scores)), key=scores.__getitem__, reverse=True) if self.at_most else ():
            is_allowed[row] = not groups[row] or n_better[groups[row]] < self._n_of_group
            n_better[groups[row]] += 1
        best: list[float] = []
        kept = []
        for row in np.flatnonzero(is_allowed)[::-1].tolist():
            if len(best) < self._n_listed or scores[row] > best[0]:
                heapq.heappush(best, scores[row])
                kept.append(row)
                if len(best) > self._n_listed:
                    heapq.heappop(best)
        kept.sort(key=scores.__getitem__, reverse=True)
        n_before = np.searchsorted(-cells, -np.arange(len(self._clock) + 1), side="right")
        n_at_once = Counter(moments).most_common(1)[0][1]
        is_whole = n_at_once >= NEARLY_ALL * len(scores) and len(scores) > self._n_listed
        past = Past(cells[kept], np.array(scores)[kept], np.array(self._levels)[n_before])
        past = past._replace(n_whole=np.array(n_at_once * is_whole))
        self._past = [*self._past, past][-N_PAST:]

    def _look_back(self, cell: int) -> tuple[Floats, Floats, float]:
        """Return means and slopes of past thresholds, by how much budget is left, and the mean level."""
        # With more left than any past period had rows, all are taken, and so with the last of them.
        known = [past for past in self._past if not past.n_whole] or self._past
        longest = max(len(past.scores) for past in known)
        tops = np.full((len(known), min(self._n_listed, longest + 1)), -np.inf)
        for top, past in zip(tops, known, strict=True):
            best = past.scores[past.cells < cell][: len(top)]
            top[: len(best)] = best
        takes_all = np.isneginf(tops).mean(axis=0) > 0.5
        tops = np.maximum(tops, min(past.scores[-1] for past in known))
        levels = np.array([past.levels[cell] for past in known])
        at, level = tops.mean(axis=0), float(levels.mean())
        tops, levels = tops - at, levels - level
        # Slopes have no unit: squares of scores near 1e300 are no floats.
        unit = 0.5 ** np.frexp(max(np.abs(tops).max(), np.abs(levels).max()))[1]
        tops, levels = tops * unit, levels * unit
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


def now_in_us() -> int:
    """Return this machine's clock, in microseconds since 1970."""
    return time_ns() // 1000


def check_not_ahead(budget: Budget, starts: Integers, last: int, n_ahead: int | None = None) -> None:
    """Raise ValueError for a row whose period is far ahead of the clock and of those before it."""
    length = 1_000_000 * CELLS[budget.per][0] * CELLS[budget.per][1]
    latest = now_in_us() + DAY + (n_ahead or 1) * length
    for start in np.unique(starts).tolist():
        n_skipped = round((start - last) / length) - 1
        if start > latest and n_skipped > (N_PAST if last > latest else 0):
            way_out = "correct its date"
            if n_ahead is not None:
                way_out += f", or set n_ahead to the number of {budget.several} that rows may be ahead"
            ahead = f" is of {np.datetime64(start, 'us')}, ahead of this machine's clock, and skips "
            ahead += f"{n_skipped:,} {budget.several}; {way_out}."
            raise BadRowError(int(np.argmax(starts == start)), "", ahead)
        last = max(last, start)


def check_model(state: State, begun: Any, model: Any) -> None:
    """Raise ValueError where a state was begun by the scores of another model."""
    if begun and model and begun != model:
        raise ValueError(
            f"{state.path} was begun by the scores of another model, of another scale: begin a new state, or "
            "score by the model that it was begun by."
        )


def _answer(row: Row) -> Answer:
    """Return why a row that was decided is acted on, if it is, its threshold, and its chance."""
    is_listed = row.act and row.score >= row.threshold
    acted = "list" if is_listed else "audit" if row.act else ""
    return acted, row.threshold, 1.0 if is_listed else row.chance
