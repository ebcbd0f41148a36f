"""A duel of two models inside one budget: who finds more, when only rows that are acted on get a label?"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from datetime import timedelta
from secrets import token_hex
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import ttest_1samp

from pushrank._base.user_types import Floats
from pushrank._base.validation import as_numbers, check_number, checked_scores, column, warn
from pushrank.budgets import Budget, Periods, check_by_period
from pushrank.monitoring.alerts import MOMENT, check_model, check_not_ahead, now_in_us
from pushrank.monitoring.audits import check_secret, row_names, uniform_numbers
from pushrank.monitoring.state import State
from pushrank.times import in_zone

__all__ = ["NEEDED", "WHO", "Duel", "ListDifference", "Verdict", "compare_lists"]

KIND = "a duel"
WHO = ("champion", "challenger")
# The parts of the evidence that are at stake each day: small ones suit small differences of noisy days.
STAKES = np.array([0.2, 0.4, 0.8])
# Good days of one model may come in spells of so many.
MAX_LAG = 14
LEVEL, Z = 0.05, 1.959964
NEEDED = 1.0 / LEVEL


@dataclass
class _Day:
    """The rows of a period that were acted on: their owners, the pairs in order, and the labels so far."""

    both: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str, int]] = field(default_factory=list)
    labels: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: list[list[Any]]) -> _Day:
        """Return the period that rows of a state make."""
        day = cls()
        for row in rows:
            day.add(*row)
        return day

    @property
    def owners(self) -> dict[str, str]:
        """Who brought each row that is acted on."""
        return dict.fromkeys(self.both, "both") | {pair[who]: WHO[who] for *pair, who in self.pairs}

    def add(self, kind: str, *values: Any) -> None:
        """Take up what was decided, or learnt."""
        if kind == "label":
            self.labels[values[0]] = values[1]
        elif kind == "both":
            self.both.append(values[0])
        else:
            champion, challenger, winner = values
            self.pairs.append((champion, challenger, winner))


@dataclass(frozen=True)
class Verdict:
    """What a duel has shown so far, on its very days and for days to come.

    Parameters
    ----------
    days : int
        The periods that count: in order, with all labels, or so old that those missing will never come.
    per : str
        What a period is.
    hits : float
        Of the joint list in a period.
    credits : tuple of int
        Hits of disputed rows that the champion brought, and the challenger.
    difference, low, high : float
        How many more hits a period the list of the challenger holds on these very days, and the ends of a
        95 % interval, by the coins.
    evidence : float
        Against the two being equal on days to come, the most that there has been; 20 decides, whenever one
        looks.
    p_value : float or None
        By the t test at the look named beforehand; None before it, or without one.
    until : int or None
        The number of periods of that look.
    winner : {"champion", "challenger"} or None
        On days to come; None while not decided.

    Examples
    --------
    >>> Verdict(2, "day", 3.0, (1, 2), 1.0, -2.0, 3.0, 1.1, None, None, None).sentences()[1]
    'For days to come: not yet decided (evidence 1.1 of 20).'
    """

    days: int
    per: str
    hits: float
    credits: tuple[int, int]
    difference: float
    low: float
    high: float
    evidence: float
    p_value: float | None
    until: int | None
    winner: str | None

    def sentences(self) -> list[str]:
        """Return what is known of these very days, and what of days to come."""
        several = Budget(1, self.per).several
        if not self.days:
            return [f"No {self.per} has all its labels yet: nothing is known of the duel."]
        when = f"these {self.days:,} {several}" if self.days > 1 else f"this {self.per}"
        these = f"On {when} the joint list found {self.hits:.2f} hits a {self.per}; "
        if not sum(self.credits):
            these += "no disputed row is a hit, so that nothing tells the two apart."
        else:
            more = "more" if self.difference >= 0.0 else "fewer"
            ends = f"{self.low:+.2f} to {self.high:+.2f}, 95 % by the coins"
            these += f"the challenger would have found {abs(self.difference):.2f} {more} than the champion "
            these += f"({ends})."
        shown = f"evidence {self.evidence:.2g} of {NEEDED:.0f}"
        if self.until is not None:
            shown = f"{max(self.until - self.days, 0):,} {several} to go until the look"
            if self.p_value is not None:
                shown = f"p = {self.p_value:.2g}, at the look after {self.until:,} {several}, if independent"
        if self.winner is not None:
            spells = "" if self.until is not None else ", unless good ones of a model come in spells"
            return [these, f"For {several} to come{spells}: the {self.winner} finds more ({shown})."]
        undecided = "not yet decided" if self.p_value is None else "not decided"
        return [these, f"For {several} to come: {undecided} ({shown})."]


class Duel:
    r"""Try a new model against the one in use, without paying for two lists.

    In a period of budget k rows on both models' lists are acted on. The others, which are disputed, are
    paired by place, and a fair coin for each pair says whose row is acted on, so that for the credits W of
    hits among these rows

    .. math:: E[2 (W_B - W_A)] = \text{hits@k of B} - \text{hits@k of A}

    whatever the day holds. O(n log n) for n rows.

    Parameters
    ----------
    budget : Budget
        How many rows are acted on in each period.
    state : path-like, optional
        A new file that keeps what was decided and learnt; by default it is kept in memory.
    until : int, optional
        The number of periods of the only look at days to come, named before the first of them; by default
        one may look at any time.
    labels_after : timedelta or int, optional
        How long labels take, or how many batches: after it missing labels count as no hits. By default a
        period waits for all of them.
    secret : str, optional
        What coins hang on; by default it is drawn, and kept in the state alone.
    models : tuple of str, optional
        What the scores of both are by, such as digests of the models; the state keeps it.
    positive : str, optional
        What the label of a hit is called where labels come from files; the state keeps it.

    Raises
    ------
    TypeError, ValueError
        When the budget is not one by period, a number is out of range, or the secret is no text.

    Notes
    -----
    A file that is asked for again gets the same answers. Of one with more rows those that have an owner keep
    it, new ones only fill what is left of the budget, and a row that lost its coin is not offered again but
    where both models list it. The two lists of which the difference is estimated are then those of the first
    rows alone: give a period's rows whole. Rows that tie are in an order by their names and the secret.

    The second of two disputed pairs has the opposite coin of the first, so that each model brings half of
    the rows. *On these very days* chance is in the coins alone. The variance of :math:`W_B - W_A` is at
    most the mean number W of credits, so that the normal interval of half a length :math:`2 z \sqrt{W +
    z^2 / 2}` is conservative, also where credits are few. *For days to come* periods are the unit. With
    :math:`x_d = (W_B - W_A) / m_d` of period d, where no model has brought more than :math:`m_d` disputed
    rows in a period so far, the evidence is the mean over :math:`\lambda` in (.2, .4, .8), and both
    signs, of

    .. math:: \exp\Big(-2 \lambda^2 r \sum_d x_d^2\Big) \prod_d (1 \pm \lambda x_d),

    where r is the sum of the autocorrelations of x up to lag 14 with weights that fall to 0, at least 0.
    Where both models find equally much in the mean, whatever came before, it ever exceeds 20 with a chance
    of 5 % at most, also where one of them finds most of its hits on few days. Where good spells of one
    model last for many days that chance is larger, which the term in r lessens. With `until` it is a t test
    of the differences at 5 %, which takes days to be independent, and none of them to decide alone. Periods
    count in order, since hits that are confirmed sooner for one model would bias an early look. A
    challenger that has learnt from labels of the champion's list starts behind.

    References
    ----------
    Radlinski, Kurup and Joachims, *How does clickthrough data reflect retrieval quality?*, CIKM (2008), for
    lists that share their credit. Waudby-Smith and Ramdas, *Estimating means of bounded random variables by
    betting*, Journal of the Royal Statistical Society B 86 (2024), for the evidence.

    Examples
    --------
    >>> duel = Duel(Budget(2), secret="a longer one")
    >>> day = ["2026-03-02"] * 4
    >>> owners = duel.assign([4.0, 3.0, 2.0, 1.0], [4.0, 1.0, 3.0, 2.0], day, ["a", "b", "c", "d"])
    >>> sorted(owners.tolist()) in (["", "", "both", "champion"], ["", "", "both", "challenger"])
    True
    >>> duel.credit([1, 1, 1, 0], day, ["a", "b", "c", "d"]).verdict().days
    1
    """

    def __init__(
        self,
        budget: Budget,
        state: str | os.PathLike[str] | None = None,
        *,
        until: int | None = None,
        labels_after: timedelta | int | None = None,
        secret: str | None = None,
        models: tuple[str, ...] = (),
        positive: str | None = None,
    ) -> None:
        check_by_period(budget)
        if until is not None:
            check_number("until", until, 2, integer=True)
        if isinstance(labels_after, timedelta) == (budget.per == "batch") and labels_after is not None:
            wanted = "a number of batches" if budget.per == "batch" else "a timedelta"
            raise TypeError(f"labels_after must be {wanted} for {budget.words}, got {labels_after!r}.")
        late = labels_after.total_seconds() if isinstance(labels_after, timedelta) else labels_after
        facts: dict[str, Any] = {"budget": str(budget), "until": until, "labels_after": late}
        facts |= {"secret": check_secret(token_hex() if secret is None else secret), "periods": []}
        facts |= {"models": models, "positive": positive, "zone": None}
        self._begin(State(state, KIND, facts))

    @classmethod
    def open(cls, state: str | os.PathLike[str], models: tuple[str, ...] = ()) -> Duel:
        """Return the duel that a file keeps; ValueError where it was begun by the scores of other models."""
        duel, kept = cls.__new__(cls), State(state, KIND)
        try:
            check_model(kept, kept.facts().get("models", []), [*models])
        except BaseException:
            kept.close()
            raise
        duel._begin(kept)
        return duel

    def _begin(self, state: State) -> None:
        """Take up what was decided and learnt."""
        # One thread at a time reads what is left of a budget and spends it.
        self._lock = Lock()
        self._state, self._facts = state, state.facts()
        self.budget, self.until = Budget.parse(self._facts["budget"]), self._facts["until"]
        # A state of an earlier version does not know it.
        self.positive: str | None = self._facts.get("positive")
        labels = enumerate(self._facts["periods"])
        self._days = {label: _Day.of(state.rows(part)) for part, label in labels}

    def assign(
        self, champion: ArrayLike, challenger: ArrayLike, time: Any, row_id: ArrayLike
    ) -> NDArray[np.str_]:
        """Return who brought each row that is acted on.

        Parameters
        ----------
        champion, challenger : array-like of shape (n,)
            The scores of the model in use and of the new one.
        time : array-like of shape (n,)
            Dates, or the batches of the budget.
        row_id : array-like of shape (n,)
            What each row is called, as text: each name once in a period.

        Returns
        -------
        ndarray of shape (n,)
            "both", "champion" or "challenger", and "" for rows that are not acted on. It is in the state when
            this returns.

        Raises
        ------
        ValueError
            When lengths differ, a score is not finite, a name is missing or comes twice in a period, or a
            date is far ahead of this machine's clock and of the others, or has no zone beside those that
            have one; other zones are taken by the clock of the first.

        Warns
        -----
        UserWarning
            When a period that was counted is given more rows: it waits for their labels.
        """
        scores = [checked_scores(champion), checked_scores(challenger)]
        names = np.array(row_names(row_id, len(scores[0])), dtype=object)
        periods, zone = self._periods(time, len(names))
        if not len(scores[0]) == len(scores[1]) == len(periods.codes):
            raise ValueError("champion, challenger, time and row_id must be of one length.")
        of_ties = uniform_numbers(names, self._facts["secret"])[:, 1] if len(names) else np.empty(0)
        owners, decided = np.full(len(names), "", dtype="<U10"), list[tuple[str, list[Any]]]()
        with self._lock:
            self._check_not_ahead(periods)
            counted = {*self._counted()}
            for label, rows in zip(map(str, periods.labels), periods.rows, strict=True):
                called = names[rows]
                if len(set(called)) < len(called):
                    raise ValueError(f"a name comes twice in {label}: each row needs a different one.")
                day = self._days.get(label, _Day())
                orders = [rows[np.lexsort((of_ties[rows], -of[rows]))][: self.budget.n] for of in scores]
                new = self._filled(label, day, [[str(names[row]) for row in order] for order in orders])
                decided += [(label, row) for row in new]
                acted = day.owners | _Day.of(new).owners
                owners[rows] = [acted.get(name, "") for name in called]
            self._add(decided, zone)
        if more := counted & {label for label, _ in decided}:
            n, per = len(more), self.budget.per
            warn(
                f"{n:,} {self.budget.several if n > 1 else per}, the first of them {min(more)}, had been "
                "counted and get more rows: the verdict waits for their labels."
            )
        return owners

    def _periods(self, time: Any, n_rows: int) -> tuple[Periods, str | None]:
        """Return the periods of rows by the clock of this duel's zone, and the zone."""
        zone = self._facts.get("zone")
        if self.budget.per != "batch":
            time, zone = in_zone(time, n_rows, zone)
        return self.budget.periods(time), zone

    def _check_not_ahead(self, periods: Periods) -> None:
        """Raise ValueError for a date far ahead, whose period would close all others for good."""
        if self.budget.per != "batch" and len(periods.codes):
            starts = periods.labels.astype(MOMENT).astype(np.int64)[periods.codes]
            known = np.array(list(self._days), dtype=MOMENT).astype(np.int64)
            # The first day of a duel may be long ago, but not far ahead.
            check_not_ahead(self.budget, starts, int(max(known, default=min(starts.min(), now_in_us()))))

    def _filled(self, label: str, day: _Day, lists: list[list[str]]) -> list[list[Any]]:
        """Return what fills the rest of the budget of a period: rows of both lists, and disputed pairs."""
        owned, left = day.owners, self.budget.n - len(day.owners)
        offered = owned.keys() | {name for *pair, _ in day.pairs for name in pair}
        shared = set(lists[0]) & set(lists[1])
        both = [name for name in lists[0] if name in shared and name not in owned][:left]
        offered |= shared
        only = ([name for name in of if name not in offered] for of in lists)
        pairs = list(zip(*only, strict=False))[: left - len(both)]
        new: list[list[Any]] = [["both", name] for name in both]
        for number, pair in enumerate(pairs, len(day.pairs)):
            # The second of two pairs has the opposite coin, so that each model brings half of the rows.
            coin = (
                uniform_numbers([f"{label}\0pair {number - number % 2}"], self._facts["secret"])[0, 0] < 0.5
            )
            new.append(["pair", *pair, int(coin) ^ number % 2])
        return new

    def credit(self, y: ArrayLike, time: Any, row_id: ArrayLike) -> Duel:
        """Learn which rows are hits.

        Parameters
        ----------
        y : array-like of shape (n,)
            1 of hits and 0 of others, NaN where that is not known yet.
        time : array-like of shape (n,)
            As rows were assigned.
        row_id : array-like of shape (n,)
            As rows were assigned. Rows that were not acted on are left out; a later label replaces an earlier
            one.

        Returns
        -------
        Duel
            Itself.

        Raises
        ------
        ValueError
            When lengths differ, or a label is none.

        Warns
        -----
        UserWarning
            When no row was acted on.
        """
        labels = as_numbers(column(y, "y"), "y")
        names = row_names(row_id, len(labels))
        if len(labels) != len(names) or not np.isin(labels[~np.isnan(labels)], (0.0, 1.0)).all():
            raise ValueError(f"y must hold 0, 1 or NaN for each of {len(names)} rows, got {len(labels)}.")
        periods, learnt, n_known = self._periods(time, len(names))[0], list[tuple[str, list[Any]]](), 0
        with self._lock:
            owners = {label: day.owners for label, day in self._days.items()}
            of_rows = periods.labels[periods.codes].astype(str).tolist()
            for label, name, of in zip(of_rows, names, labels.tolist(), strict=True):
                day = self._days.get(label)
                is_acted = day is not None and name in owners[label]
                n_known += is_acted
                if day and is_acted and not math.isnan(of) and day.labels.get(name) != of:
                    learnt.append((label, ["label", name, of]))
            self._add(learnt)
        if not n_known and names:
            warn(f"none of the {len(names):,} rows was acted on in this duel: are they called as they were?")
        return self

    def _add(self, rows: list[tuple[str, list[Any]]], zone: str | None = None) -> None:
        """Put rows of periods on disk, then take them up."""
        new = [label for label in dict.fromkeys(label for label, _ in rows) if label not in self._days]
        parts = {label: part for part, label in enumerate([*self._days, *new])}
        facts = self._facts | {"periods": list(parts), "zone": zone} if new else None
        self._state.append([(parts[label], row) for label, row in rows], facts=facts)
        self._facts = facts or self._facts
        for label, row in rows:
            self._days.setdefault(label, _Day()).add(*row)

    def _counted(self) -> list[str]:
        """Return the periods that count, in order: up to the first that waits for labels."""
        labels, late = list(self._days), self._facts["labels_after"]
        if self.budget.per != "batch":
            labels = sorted(labels)
        known: list[str] = []
        for number, label in enumerate(labels):
            age: Any = len(labels) - 1 - number
            if self.budget.per != "batch":
                age = (np.datetime64(labels[-1], "s") - np.datetime64(label, "s")) / np.timedelta64(1, "s")
            day = self._days[label]
            # The last period may not be over.
            is_over = age > 0 or len(day.owners) == self.budget.n
            is_known = day.owners.keys() <= day.labels.keys() or (late is not None and age >= late)
            if not (is_over and is_known):
                break
            known.append(label)
        return known

    def verdict(self) -> Verdict:
        """Return what is known of these very days, and of days to come.

        Returns
        -------
        Verdict
            Differences, evidence and sentences.
        """
        with self._lock:
            days = [self._days[label] for label in self._counted()]
        hits, won, differences, most = 0, [0, 0], np.zeros(len(days)), np.zeros(len(days))
        for number, day in enumerate(days):
            found = [owner for name, owner in day.owners.items() if day.labels.get(name) == 1.0]
            of_day = [found.count(owner) for owner in WHO]
            hits, differences[number] = hits + len(found), of_day[1] - of_day[0]
            brought = sum(winner for *_, winner in day.pairs)
            most[number] = max(brought, len(day.pairs) - brought)
            won = [won[0] + of_day[0], won[1] + of_day[1]]
        n, total, per = max(len(days), 1), sum(won), self.budget.per
        # The variance is at most the mean number of credits. Their number may be below its mean, for which
        # the term in Z allows.
        difference, half = 2.0 * (won[1] - won[0]) / n, 2.0 * Z * math.sqrt(total + 0.5 * Z**2) / n
        low, high = difference - half, difference + half
        paths = evidence_by_day(differences, most)
        total_evidence = paths.mean(axis=0)
        # A verdict once given stands.
        over = np.flatnonzero(total_evidence >= NEEDED)
        winner = WHO[int(np.argmax(paths[:, over[0]]))] if len(over) else None
        evidence = float(total_evidence.max(initial=1.0))
        p_value, until = None, self.until
        if until is not None:
            winner, first = None, differences[:until]
            if len(first) == until:
                p_value = 1.0 if np.ptp(first) == 0.0 else float(ttest_1samp(first, 0.0).pvalue)
                winner = WHO[int(first.sum() > 0.0)] if p_value <= LEVEL else None
        ends, both = (difference, low, high), (won[0], won[1])
        return Verdict(len(days), per, hits / n, both, *ends, evidence, p_value, until, winner)

    def close(self) -> None:
        """Let go of the state, so that another process can open it."""
        self._state.close()


def evidence_by_day(differences: Floats, most: Floats) -> Floats:
    """Return the evidence for the champion, and for the challenger, after each day, shape (2, n_days)."""
    # Bets on a mean of 0, less what spells of days may explain, as :class:`Duel` has it.
    x = differences / np.maximum(np.maximum.accumulate(most), 1.0)
    totals, squares, n = np.cumsum(x), np.cumsum(x * x), np.arange(1.0, len(x) + 1.0)
    mean, covariances = totals / n, np.zeros(len(x))
    for lag in range(1, min(MAX_LAG + 1, len(x))):
        products, later, m = np.cumsum(x[lag:] * x[:-lag]), totals[lag:] - totals[lag - 1], mean[lag:]
        covariance = products - m * (later + totals[:-lag]) + (n[lag:] - lag) * m**2
        covariances[lag:] += (1.0 - lag / (MAX_LAG + 1.0)) * covariance
    variance = squares - n * mean**2
    spells = np.divide(covariances, variance, out=np.zeros(len(x)), where=variance > 1e-12 * squares)
    penalty = 2.0 * np.outer(STAKES**2, np.maximum(spells, 0.0) * squares)
    won = [np.cumsum(np.log1p(sign * np.outer(STAKES, x)), axis=1) for sign in (-1.0, 1.0)]
    # Beyond 700 the exponential has no finite number.
    paths: Floats = np.exp(np.minimum(np.stack(won) - penalty, 700.0)).mean(axis=1)
    return paths


@dataclass(frozen=True)
class ListDifference:
    """How many more hits one list has than another, by the rows that are on one of them alone.

    Parameters
    ----------
    n_periods, n_shared : int
        The number of periods, and of rows on both lists.
    rows : ndarray of shape (n_disputed,)
        The numbers of the rows on one list alone.
    to_label : ndarray of shape (n_to_label,)
        Those of them without a label.
    low, high : int
        How many more hits the challenger's list has at least, and at most: unlabelled rows of the one list
        may be hits, and those of the other none, and rows that tie at the end of a list are in any order.
    has_ties : bool
        Whether rows tie at the end of a list; `rows` are then of lists in the order of the rows.

    Examples
    --------
    >>> found = ListDifference(1, 2, np.array([3, 4]), np.array([4]), -1, 0)
    >>> found.sentence()
    'The challenger has -1 to +0 hits more; label 1 of 2 disputed rows to decide.'
    """

    n_periods: int
    n_shared: int
    rows: NDArray[np.intp]
    to_label: NDArray[np.intp]
    low: int
    high: int
    has_ties: bool = False

    def sentence(self) -> str:
        """Return what is known of the difference, and what is to be labelled."""
        between = f"{self.low:+,}" + f" to {self.high:+,}" * (self.high > self.low)
        between += " (by the order of rows that tie)" * self.has_ties
        rest = "all {1:,} disputed rows have labels" if not len(self.to_label) else ""
        rest = rest or "label {0:,} of {1:,} disputed rows to decide"
        return f"The challenger has {between} hits more; {rest.format(len(self.to_label), len(self.rows))}."


def compare_lists(
    y: ArrayLike, champion: ArrayLike, challenger: ArrayLike, time: Any, budget: Budget
) -> ListDifference:
    """Return how many more hits the list of one model has than that of another, on rows of the past.

    The difference of hits is a sum over the rows on one list alone, so that no other label matters.

    Parameters
    ----------
    y : array-like of shape (n,)
        1 of hits and 0 of others, NaN or None where that is not known.
    champion, challenger : array-like of shape (n,)
        Scores of both models.
    time : array-like of shape (n,)
        Dates, or the batches of the budget.
    budget : Budget
        How many rows are on each list in a period.

    Returns
    -------
    ListDifference
        The difference, or its bounds, and the rows to label. O(n log n).

    Raises
    ------
    TypeError, ValueError
        When the budget is not one by period, lengths differ, or a label or score is none.

    Examples
    --------
    >>> found = compare_lists([1, None, 0], [3, 2, 1], [1, 2, 3], ["a"] * 3, Budget(1, "batch"))
    >>> found.rows.tolist(), found.low, found.high
    ([0, 2], -1, -1)
    """
    check_by_period(budget)
    labels, periods = as_numbers(column(y, "y"), "y"), budget.periods(time)
    scores = checked_scores(champion), checked_scores(challenger)
    if {len(of) for of in scores} | {len(labels)} != {len(periods.codes)}:
        raise ValueError("y, champion, challenger and time must be of one length.")
    if not np.isin(labels[~np.isnan(labels)], (0.0, 1.0)).all():
        raise ValueError("y must hold 0, 1 or NaN.")
    if np.array_equal(*scores):
        # Ties of the same scores are in the same order, whatever it is.
        scores = (np.arange(len(labels), 0.0, -1.0),) * 2
    ends, has_ties, unknown = np.zeros(2, dtype=np.int64), False, np.isnan(labels)
    for rows in periods.rows:
        sure, tied, room = zip(*(_with_ties(of[rows], budget.n) for of in scores), strict=True)
        # An unlabelled row that is on both lists in any order cancels.
        is_hit, may_be = labels[rows] == 1.0, (labels[rows] != 0.0) & ~(unknown[rows] & sure[0] & sure[1])
        fewest = [np.sum(sure[of] & is_hit) + max(0, room[of] - np.sum(tied[of] & ~is_hit)) for of in (0, 1)]
        most = [np.sum(sure[of] & may_be) + min(room[of], np.sum(tied[of] & may_be)) for of in (0, 1)]
        ends += [fewest[1] - most[0], most[1] - fewest[0]]
        has_ties |= any(np.any(of) for of in tied)
    lists = [periods.first(np.argsort(-of, kind="stable"), budget.n) for of in scores]
    rows, shared = np.flatnonzero(lists[0] != lists[1]), int(np.sum(lists[0] & lists[1]))
    low, high = ends.tolist()
    return ListDifference(len(periods.labels), shared, rows, rows[unknown[rows]], low, high, has_ties)


def _with_ties(scores: Floats, k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
    """Return which rows are among the first k in any order of ties, which in some, and the room for these."""
    last = np.partition(scores, -k)[-k] if k < len(scores) else -np.inf
    sure, tied = scores > last, scores == last
    room = k - int(np.sum(sure))
    return (sure | tied, tied & False, 0) if np.sum(tied) <= room else (sure, tied, room)
