"""Tests that may be looked at every day: are hits as expected, and are the rows those of the fit?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from pushrank._base.bounds import UNITS, as_count
from pushrank._base.user_types import Floats
from pushrank._base.validation import as_numbers, check_number, column, marks_of
from pushrank.budgets import Budget, Periods, chances_of_list
from pushrank.monitoring.alerts import MOMENT, check_not_ahead
from pushrank.monitoring.reference import (
    BLOCKS,
    SCORES,
    PeriodCounts,
    Profile,
    Reference,
    blocks_of,
    columns_of,
    period_counts,
)
from pushrank.times import as_span, check_times

__all__ = ["NOT_KNOWN", "TESTED", "Watch", "date_words", "watch"]

# Logarithms of how far the odds of a hit may have fallen: to nine tenths, and down to a fifth.
TILTS = np.array([0.1, 0.2, 0.4, 0.8, 1.6])
NOT_KNOWN, LEAST_EXPECTED = "nothing is known of hits", 0.5
# A row that has no label after so long is taken to get none, where nobody says how long labels take.
LATE = np.timedelta64(30, "D")
MAX_NAMED = 3
PART = ("part", "share_before", "share_now")
TESTED = ("labelled", "positives", "hits", "expected", "evidence")


@dataclass(frozen=True)
class Watch:
    """What was seen of a model in use, by period.

    Parameters
    ----------
    sentence : str
        "as expected: of 840 rows looked at, 610 labelled: 176 hits, 181 expected", "nothing is known of
        hits", "fewer hits than expected since 3 November: retrain", or "the rows have changed: column wind".
    alarm : bool
        Whether it is one of the last two.
    table : list of dict
        Of each period its label, ``rows``, ``looked_at``, those of them ``labelled``, all ``positives`` where
        every row has a label, ``hits``, what was ``expected``, and the ``evidence`` up to then that there are
        fewer hits: 1 is none, ``needed`` is an alarm. The last four are None where a period is not tested.
    moved : list of dict
        Of each column its ``p_value`` over all looks and columns, and whether it ``has_moved``; if so,
        ``since`` when, after which period that was ``told``, and the ``part`` of its values whose share of
        the rows moved most, from ``share_before`` to ``share_now``. ``parts`` has the shares of all parts,
        of a column that has not moved those of all complete blocks.
    needed : float
        The evidence at which hits are an alarm.
    level : float
        About the chance of a false alarm, over any number of periods.
    budget : Budget
        How many rows are looked at.

    Examples
    --------
    >>> Watch("nothing is known of hits", False, [], [], 80.0, 0.05, Budget(30)).to_dict()["alarm"]
    False
    """

    sentence: str
    alarm: bool
    table: list[dict[str, Any]]
    moved: list[dict[str, Any]]
    needed: float
    level: float
    budget: Budget

    def folded(self, max_lines: int = 20) -> tuple[str, list[dict[str, Any]]]:
        """Return the table by the shortest of its periods, days, weeks and months that has so few lines.

        Parameters
        ----------
        max_lines : int, default=20
            Where even months, or batches, are more, the last this many are returned.

        Returns
        -------
        unit : str
            What a line is of.
        lines : list of dict
            As in the table, in sums of its periods, with the number of ``periods``, and of those ``known``,
            which are tested: labelled rows, positives, hits and those expected are of these.
        """
        labels, per = [record["period"] for record in self.table], self.budget.per
        for unit in UNITS[UNITS.index(per) : -1] or (per,):
            names, codes = np.array(labels), np.arange(len(labels))
            if unit != per:
                names, codes = Budget(1, unit).periods(names)
            if len(names) <= max_lines:
                break
        lines = []
        for code in range(max(len(names) - max_lines, 0), len(names)):
            part = [self.table[at] for at in np.flatnonzero(codes == code)]
            known = [record for record in part if record["hits"] is not None]
            sums: dict[str, Any] = {name: sum(of[name] for of in part) for name in ("rows", "looked_at")}
            for name in TESTED[:-1]:
                values = [record[name] for record in known]
                sums[name] = sum(values) if values and None not in values else None
            evidence = known[-1]["evidence"] if known else None
            of = {"period": str(names[code]), "periods": len(part), "known": len(known)}
            lines.append(of | sums | {"evidence": evidence})
        return unit, lines

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self) | {"budget": str(self.budget)}


def watch(
    reference: Reference,
    scores: ArrayLike,
    time: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    level: float = 0.05,
    *,
    acted: ArrayLike | None = None,
    labels_after: Any = None,
) -> Watch:
    r"""Say whether a model in use finds what was expected, and whether the rows are still those of the fit.

    .. math:: M_t = \sum_{j \le t} \frac{1}{j (j + 1)} \frac{1}{5} \sum_\lambda \prod_{d=j}^t
        \left(\frac{e^{-\lambda h_d}}{(1 - p_d + p_d e^{-\lambda})^{c_d}}\right)^{1/\kappa} + \frac{1}{t + 1}

    is the evidence after t periods that there are fewer hits h than expected since some period j.

    Parameters
    ----------
    reference : Reference
        What the model carries.
    scores : array-like of shape (n,)
        Of all rows since the fit, in any order.
    time : array-like of shape (n,)
        Their dates, or the batches of the budget.
    X : DataFrame or ndarray of shape (n, n_columns), optional
        The columns that `reference` has.
    y : array-like of shape (n,), optional
        Whether a row is positive, NaN where that is not known.
    level : float, default=0.05
        The chance of a false alarm, in (0, 1), about: over any number of looks and periods.
    acted : array-like of shape (n,), optional
        Which rows were looked at: True, or "list" and "audit"; others are False or empty. By default these
        are the first of each period.
    labels_after : timedelta or number, optional
        How long labels take, in the unit of `time`: later periods wait, and others are tested by the labels
        that they have. By default 30 days, or until the rows looked at of a period and of all before it have
        theirs. Batches have no clock, and 0 says that what they lack never comes.

    Returns
    -------
    Watch
        The sentence, and what it rests on.

    Raises
    ------
    ValueError
        When lengths differ, scores are not finite, or a column is missing.
    TypeError
        When `level` is no number.

    Notes
    -----
    M has a mean of about 1 at most, whenever one looks, and would exceed 2 / `level` with a chance of
    `level` / 2 if the spread :math:`\kappa` of hits were known (Ville). The alarm names the period j of the
    largest product. Periods are tested in order, each by its final labels: those that come late add no alarm.
    Columns are compared in blocks of whole weeks or days; seasons that the fit has not seen are changes. The
    page :doc:`/every_day` has the null hypothesis, the tests of columns, and how many streams without a
    change raised an alarm. O(n log n) for each column.

    References
    ----------
    Shin, Ramdas and Rinaldo, *E-detectors: a nonparametric framework for sequential change detection*, New
    England Journal of Statistics in Data Science (2023), for sums over the beginnings of a change.

    Examples
    --------
    >>> from pushrank.datasets import make_stream
    >>> stream = make_stream(120, drift_day=90, random_state=0)
    >>> scores, first = stream.data[:, :3] @ [1.5, 1.0, 0.7], stream.day < 60
    >>> reference = Reference.of(
    ...     Budget(30), stream.time[first], scores[first], stream.target[first], stream.data[first]
    ... )
    >>> new = scores[~first], stream.time[~first], stream.data[~first], stream.target[~first]
    >>> watch(reference, *new).sentence
    'fewer hits than expected since 5 April: retrain'
    """
    check_number("level", level, above=0.0, below=1.0)
    scores, budget = as_numbers(column(scores, "scores"), "scores"), reference.budget
    if len(scores) != len(time) or not np.isfinite(scores).all():
        raise ValueError(
            f"watch needs a finite score and a time for each row, got {len(scores)} and {len(time)}."
        )
    if not len(scores):
        return Watch(NOT_KNOWN, False, [], [], 2.0 / level, level, budget)
    periods = budget.periods(time)
    labels = [str(label) for label in periods.labels]
    since, on_list = None, chances_of_list(scores, periods, budget.n)
    acted = None if acted is None else marks_of(acted)[1]
    looked_at = on_list if acted is None else acted
    if len(looked_at) != len(scores):
        raise ValueError(f"acted must say of each of the {len(scores)} rows whether somebody looked at it.")
    table: list[dict[str, Any]] = [
        {"period": label, "rows": int(n), "looked_at": round(b)} | dict.fromkeys(TESTED)
        for label, n, b in zip(labels, periods.sizes, np.bincount(periods.codes, looked_at), strict=True)
    ]
    if y is not None:
        y, is_due = _labels(y, len(scores)), _are_due(time, periods, labels_after, budget.per)
        if labels_after is None:
            # Periods that have all labels sooner may be those without a hit: others wait with the first.
            lacking = np.bincount(periods.codes, looked_at * np.isnan(y))
            is_due = np.logical_and.accumulate(is_due | (lacking == 0.0))
        tested = Tested.of(reference, periods, scores, y, acted, is_due)
        for record, n in zip(table, tested.labelled.tolist(), strict=True):
            record["labelled"] = as_count(n)
        since = _watch_hits(reference, tested, table, level)
    moved = _watch_rows(reference, scores, time, X, level)
    names = [record["column"] for record in moved if record["has_moved"]]
    sentence = _sentence_on_hits(table, budget, level, labels_after, are_marked=acted is not None)
    if since is not None:
        when = date_words(labels[since], budget.per, labels[-1])
        sentence = f"fewer hits than expected since {when}: retrain"
        unlabelled = sum(of["looked_at"] - of["labelled"] for of in table if of["hits"] is not None)
        lacks = labels_after is None and round(unlabelled) > 0
        sentence += f", unless labels take more than {LATE.astype(int)} days" * lacks
    elif names:
        shown = [name for name in names if name != SCORES]
        more = f" and {len(shown) - MAX_NAMED} more" * (len(shown) > MAX_NAMED)
        columns = f"column{'s' * (len(shown) > 1)} {', '.join(shown[:MAX_NAMED])}{more}"
        sentence = f"the rows have changed: {columns if shown else SCORES}"
    alarm = since is not None or bool(names)
    return Watch(sentence, alarm, table, moved, 2.0 / level, level, budget)


def _sentence_on_hits(
    table: list[dict[str, Any]], budget: Budget, level: float, labels_after: Any, *, are_marked: bool
) -> str:
    """Return that hits are as expected, or that nothing is known of them and why."""
    known = [at for at, record in enumerate(table) if record["hits"] is not None]
    n_looked_at, n_labelled = (sum(of[name] or 0 for of in table) for name in ("looked_at", "labelled"))
    n, hits, expected = (sum(table[at][name] for at in known) for name in ("labelled", "hits", "expected"))
    if expected >= LEAST_EXPECTED and hits == n and (expected / n) ** n < level:
        return (
            f"{NOT_KNOWN}: all {n:,.0f} rows tested are hits, {expected:,.0f} expected; label the others, too"
        )
    # Of rows of which no hit is expected it says nothing that there is none.
    if expected >= LEAST_EXPECTED:
        of_them = f", {n:,.0f} of them tested" * (round(n) < round(n_labelled))
        if waiting := len(table) - 1 - known[-1]:
            of_them += f", the last {waiting:,} {budget.several if waiting > 1 else budget.per} left out"
        sentence = f"as expected: of {n_looked_at:,} rows looked at, {n_labelled:,.0f} labelled{of_them}: "
        return f"{sentence}{hits:,.0f} hits, {expected:,.0f} expected"
    if not n_labelled or known:
        return NOT_KNOWN
    if labels_after is not None:
        return f"{NOT_KNOWN}: no {budget.per} is as old as labels_after"
    why = (
        f"{n_looked_at - n_labelled:,.0f} of {n_looked_at:,} rows looked at have no label yet; say how long "
    )
    why += "labels take, labels_after" + "=0 if none will come" * (budget.per == "batch")
    return f"{NOT_KNOWN}: {why}" + ", or which rows were looked at, acted" * (not are_marked)


def _labels(y: ArrayLike, n_rows: int) -> Floats:
    """Return labels as 0, 1 and NaN, or raise ValueError."""
    labels = as_numbers(column(y, "y"), "y")
    if len(labels) != n_rows or not np.isin(labels[~np.isnan(labels)], (0.0, 1.0)).all():
        raise ValueError(f"y must hold 0, 1 or NaN for each of the {n_rows} rows, got {len(labels)} labels.")
    return labels


def _are_due(time: Any, periods: Periods, labels_after: Any, per: str) -> NDArray[np.bool_]:
    """Return the periods whose labels have come, if they come at all; batches have no clock: all or none."""
    if per == "batch" and not labels_after:
        return np.full(len(periods.labels), labels_after is not None)
    times = check_times(time, len(periods.codes))
    if per != "batch":
        starts = periods.labels.astype(MOMENT).astype(np.int64)
        check_not_ahead(Budget(1, per), starts, int(starts.min()))
    last = np.array([times[rows].max() for rows in periods.rows])
    span = as_span("labels_after", LATE if labels_after is None else labels_after, times)
    # A date or two that are wrong, such as of the next month, must not make all labels due.
    is_late = periods.sizes[::-1].cumsum()[::-1] <= 1 + len(times) // 1000
    return np.asarray(last <= last[~is_late].max(initial=last[0]) - span)


class Tested(NamedTuple):
    """The periods whose hits are tested, and how many rows looked at have labels in all periods."""

    numbers: NDArray[np.intp]
    counts: PeriodCounts
    is_full: NDArray[np.bool_]
    labelled: Floats

    @classmethod
    def of(
        cls, reference: Reference, periods: Periods, scores: Floats, y: Floats, acted: Any, is_due: Any
    ) -> Self:
        """Return the periods that are due, by all their positives or by the labels of rows looked at."""
        known, on_list = ~np.isnan(y), chances_of_list(scores, periods, reference.budget.n)
        # Where it is told which rows were looked at, these are tested, though all may have labels. Where all
        # rows are looked at, all positives are hits, which tells of nothing.
        is_full = (np.bincount(periods.codes, ~known) == 0.0) & (acted is None)
        is_full &= periods.sizes > reference.budget.n
        looked_at = known * (on_list if acted is None else acted)
        looked_at = np.where(is_full[periods.codes], on_list, looked_at)
        expected = looked_at * reference.chance_of(scores, on_list)
        counts = period_counts(periods, np.nan_to_num(y), looked_at, expected)
        numbers = np.flatnonzero(is_due & (counts.looked_at > 0.0))
        tested = PeriodCounts(*(of[numbers] for of in counts))
        return cls(numbers, tested, is_full[numbers], counts.looked_at)


def _watch_hits(
    reference: Reference, tested: Tested, table: list[dict[str, Any]], level: float
) -> int | None:
    """Write hits and the evidence of fewer than expected into the table; return since when."""
    # The evidence spends half of the level, and looks at the rows the other half.
    counts, needed = tested.counts, math.log(2.0 / level)
    expected, places = reference.expected_hits(counts, tested.is_full)
    chances, spread = np.zeros(len(places)), np.ones(len(places))
    for kind in (True, False):
        at, held_out = tested.is_full == kind, PeriodCounts(*reference.counts)
        of_held_out, held_out_places = reference.expected_hits(held_out, kind)
        # What is expected of a period rests on the periods before it.
        hits = np.cumsum(np.r_[held_out.hits.sum(), counts.hits[at]])[:-1]
        known = np.cumsum(np.r_[max(of_held_out.sum(), 1e-12), expected[at]])[:-1]
        chances[at] = np.minimum(hits / known * expected[at] / np.maximum(places[at], 1.0), 1.0)
        of_kind = reference.spread(of_held_out, held_out_places)
        if reference.of_parts and not kind and at.sum() > 1:
            of_kind = max(of_kind, reference.spread(expected[at], places[at], counts.hits[at]))
        spread[at] = of_kind * (1.0 + expected[at] / known)
        expected[at] *= held_out.hits.sum() / known[:1]
    steps = TILTS * counts.hits[:, None] + places[:, None] * np.log1p(chances[:, None] * np.expm1(-TILTS))
    # Row t holds the logarithms of the products from the first period to the one before t.
    sums = np.vstack([np.zeros(len(TILTS)), np.cumsum(-steps / spread[:, None], axis=0)])
    beginnings = np.arange(1, len(sums))
    weights = np.log(beginnings * (beginnings + 1.0) * len(TILTS))[:, None]
    started = np.logaddexp.accumulate(-sums[:-1] - weights, axis=0)
    # The weights of beginnings sum to one: those after t, whose products are still one, share 1 / (t + 1).
    evidence = logsumexp(np.c_[sums[1:] + started, -np.log(beginnings + 1.0)], axis=1)
    # In double precision the exponential of more than 709 is infinite, which JSON cannot hold.
    found = counts.looked_at, counts.positives, counts.hits, expected, np.exp(np.minimum(evidence, 700.0))
    for number, is_full, values in zip(
        tested.numbers, tested.is_full, np.array(found).T.tolist(), strict=True
    ):
        values[:3] = map(as_count, values[:3])
        table[number] |= dict(zip(TESTED, values, strict=True)) | ({} if is_full else {"positives": None})
    if not (evidence >= needed).any():
        return None
    first = int(np.argmax(evidence >= needed))
    return int(tested.numbers[np.argmax(logsumexp(sums[first + 1] - sums[: first + 1], axis=1))])


class Shift(NamedTuple):
    """The latest blocks of a column that differ most from those of the fit, when this many were complete."""

    p_value: float
    part: int
    window: int
    look: int
    angles: Floats

    @classmethod
    def of(cls, profile: Profile, angles: Floats, look: int) -> Self:
        """Return the shift in the last 1, 2, 4, ... or all of the first blocks, by a test of each window."""
        latest = [(n, angles[look - n : look].mean(axis=0)) for n in windows(look)]
        tests = (cls(*profile.test(mean, n), n, look, mean) for n, mean in latest)
        return min(tests, key=attrgetter("p_value"))


def windows(look: int) -> list[int]:
    """Return the numbers of latest blocks that a look tests."""
    return sorted({look, *(1 << power for power in range(look.bit_length()))})


def adjusted_p_values(shifts: Mapping[str, Shift]) -> dict[str, float]:
    """Return the p-values of a look over all looks, windows and, by Holm's method, columns."""
    adjusted, largest = {}, 0.0
    for rank, (name, shift) in enumerate(sorted(shifts.items(), key=lambda item: item[1].p_value)):
        n_tests = len(windows(shift.look)), len(shifts) - rank, 2 * shift.look, shift.look + 1
        largest = adjusted[name] = max(largest, math.prod(n_tests, start=shift.p_value))
    return adjusted


def _watch_rows(
    reference: Reference, scores: Floats, time: Any, X: Any, level: float
) -> list[dict[str, Any]]:
    """Return for every column, the one that moved most first, its p-value and since when it has moved."""
    periods = reference.budget.periods(time)
    blocks, n_blocks = blocks_of(periods, reference.budget)
    values = dict(columns_of(X)) | {SCORES: scores}
    watched = {name: of for name, of in reference.profiles.items() if X is not None or name == SCORES}
    if missing := [name for name in watched if name not in values]:
        raise ValueError(f"X lacks the column {missing[0]!r} of the reference; it has {', '.join(values)}.")
    angles = {
        name: profile.angles(values[name], blocks, n_blocks, f"the column {name!r}")[0]
        for name, profile in watched.items()
    }
    p_values, moved = dict.fromkeys(watched, 1.0), dict[str, Shift]()
    for look in range(1, n_blocks + 1):
        shifts = {name: Shift.of(profile, angles[name], look) for name, profile in watched.items()}
        for name, p_value in adjusted_p_values(shifts).items():
            p_values[name] = min(p_values[name], p_value)
            if p_value <= level:
                moved.setdefault(name, shifts[name])
    labels, length = [str(label) for label in periods.labels], BLOCKS.get(reference.budget.per, 1)
    records = []
    for name, profile in watched.items():
        shift = moved.get(name)
        parts = _parts(profile, shift.angles if shift else angles[name].mean(axis=0) if n_blocks else None)
        told = dict.fromkeys(("since", "told", *PART))
        if shift:
            since, until = labels[(shift.look - shift.window) * length], labels[shift.look * length - 1]
            told = {"since": since, "told": until, **parts[shift.part]}
        moves = {"column": name, "p_value": p_values[name], "has_moved": name in moved}
        records.append({**moves, **told, "parts": parts})
    return sorted(records, key=lambda record: (not record["has_moved"], record["p_value"]))


def _parts(profile: Profile, angles: Floats | None) -> list[dict[str, Any]]:
    """Return the shares of all parts of a column in the blocks of the fit, and now."""
    before = (np.sin(profile.moments[0]) ** 2).tolist()
    now = [None] * len(before) if angles is None else (np.sin(angles) ** 2).tolist()
    words = map(profile.words, range(len(before)))
    return [dict(zip(PART, part, strict=True)) for part in zip(words, before, now, strict=True)]


def date_words(label: str, per: str, last: str) -> str:
    """Return a period in words, such as 3 November, with the year where it is not that of the last."""
    if per == "batch":
        return f"batch {label}"
    date: Any = np.datetime64(label).item()
    words = {"hour": "%d %B, %H:00", "month": "%B"}.get(per, "%d %B") + " %Y" * (label[:4] != last[:4])
    return "the week of " * (per == "week") + str(date.strftime(words)).lstrip("0")
