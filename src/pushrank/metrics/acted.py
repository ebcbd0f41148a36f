"""Figures of a list that makes its own labels, and a bound of what it misses, by an audit of the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, gammainc, gammaincc
from sklearn.utils import check_consistent_length

from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.user_types import Label, Seed
from pushrank._base.validation import (
    BadRowError,
    are_missing,
    as_numbers,
    check_number,
    checked_scores,
    marks_of,
    two_classes,
)
from pushrank._base.validation import column as checked_column
from pushrank.budgets import Budget, Periods, check_by_period
from pushrank.metrics._ranking import scores_by_name
from pushrank.metrics.promises.bounds import least
from pushrank.metrics.promises.lists import random_order

if TYPE_CHECKING:
    import pandas as pd

# Files lack rows, or chances are wrong, where this many audited rows are as unlikely as this.
IMPLAUSIBLE = 1e-4
# Numbers of rows beyond it are no floats, by which chances are computed.
MAX_ROWS = 2**53
NOT_KNOWN = {
    "listed_unlabelled": "listed rows have no label, and count as no hits: there may be more.",
    "audited_unlabelled": "audited rows have no label: the bound counts them as hits.",
    "hits_elsewhere": "rows below the list are known hits that nobody drew: the estimate lacks them.",
    "never_drawn": "rows below the list could not be drawn: the bound counts them as hits.",
}
Figures = dict[str, Any]


class AuditedRows(NamedTuple):
    """For each row whether it was listed or audited, its chance to be, and whether it is known, and a hit."""

    listed: NDArray[np.bool_]
    audited: NDArray[np.bool_]
    chance: Floats
    known: NDArray[np.bool_]
    hit: NDArray[np.bool_]

    def part(self, at: Any) -> AuditedRows:
        """Return some of the rows."""
        return AuditedRows(*(values[at] for values in self))


@dataclass(frozen=True)
class ActedMeasurement:
    """The result of :func:`measure_acted`: what a list found, and what it may have missed.

    Parameters
    ----------
    total : dict of str to float
        Numbers of ``rows``, of those ``listed`` and ``audited``, of their ``hits`` and ``audit_hits``, of
        those of them that are ``listed_unlabelled`` and ``audited_unlabelled``, and of rows ``never_drawn``,
        whose chance is 0; ``hits_below_at_most`` and ``hits_below_estimate``; and ends ``at_least`` and
        ``estimate`` of ``recall`` by the list and ``recall_acted`` with the audit, None without a hit.
    by_period : dict of str to dict of str to float
        The same of each period; empty without a budget.
    scores : dict of str to dict of str to float
        For the list of each of other scores its ``rows``, those ``shared`` with the list in use, and the ends
        ``low``, ``high`` and ``estimate`` of its ``hits``, ``precision``, and ``difference`` of hits from
        those of the list in use.
    confidence_level : float
        The chance that a statement holds, at all looks together.
    looks : int
        The number of looks that share the chance to fail.

    Examples
    --------
    >>> measured = measure_acted([1, 0, None, None], ["list", "audit", "", ""], [1.0, 1 / 3, 1 / 3, 1 / 3])
    >>> measured.total["hits"], measured.total["hits_below_at_most"]
    (1, 3)
    """

    total: Figures
    by_period: dict[str, Figures]
    scores: dict[str, Figures]
    confidence_level: float
    looks: int

    def sentences(self) -> list[str]:
        """Return what was found and missed, what of it is not known, and what the figures rest on."""
        of = self.total
        level, some = f"{100.0 * self.confidence_level:g} % confidence", of["hits_below_estimate"]
        some = "" if some is None else f" (estimate {some:,.0f})"
        said = [
            f"{of['listed']:,} of {of['rows']:,} rows were listed: {of['hits']:,} known hits.",
            f"Hits below the list: at most {of['hits_below_at_most']:,} with {level}{some}; "
            f"the audit of {of['audited']:,} rows found {of['audit_hits']:,} of them.",
            f"Recall of the list: {recall_text(of, 'recall')}; of the list and the audit together: "
            f"{recall_text(of, 'recall_acted')}.",
        ]
        for name, what in NOT_KNOWN.items():
            said += [f"{of[name]:,} {what}"] * bool(of[name])
        if of["listed"] + of["audited"] == of["rows"]:
            said.append("These are the rows acted on alone: lists of other scores need the others, too.")
        said += ["The bound of each period holds by itself, not all together."] * bool(self.by_period)
        if self.looks > 1:
            said.append(f"The bounds hold at all {self.looks} looks together.")
        said.append("Bounds need rows and lists that were fixed without a look at what the audit found.")
        compared: list[str] = []
        for name, of in self.scores.items():
            if of["shared"] == of["rows"] and not (of["difference_low"] or of["difference_high"]):
                said.append(f"{name}: its list is the list in use.")
                continue
            low, high = (100.0 * of[f"precision_{end}"] for end in ("low", "high"))
            compared.append(
                f"{name}: of the {of['rows']:,} rows on its list {of['shared']:,} were listed. It has "
                f"{of['hits_low']:,} to {of['hits_high']:,} hits (estimate {of['hits_estimate']:,.0f}; "
                f"precision {low:.1f} to {high:.1f} %), {of['difference_low']:+,} to "
                f"{of['difference_high']:+,} compared with the list in use."
            )
        fixed = (
            f"Each of these intervals holds with {level}, for scores that were fixed before these rows and "
            "labels were seen; of a model that has learnt from them it is false."
        )
        return said + compared + [fixed] * bool(compared)

    def __str__(self) -> str:
        """Return the sentences, each on a line."""
        return "\n".join(self.sentences())

    def to_frame(self) -> pd.DataFrame:
        """Return the figures by period as a pandas data frame, a row for each period."""
        records = [{"period": period, **figures} for period, figures in self.by_period.items()]
        return import_optional("pandas", "io").DataFrame(records)

    def summary(self) -> dict[str, object]:
        """Return everything as a dict of plain values, for JSON."""
        return asdict(self) | {"sentences": self.sentences()}


def audit_bound(
    n_positive: int, chance: float, *, chance_max: float | None = None, n_unknown: int = 0,
    n_rows: int | None = None, confidence_level: float = 0.95,
    side: Literal["upper", "lower", "two-sided"] = "upper",
) -> int | tuple[int, int]:  # fmt: skip
    r"""Return how many positives are below a list at most, by rows drawn at random from those below it.

    .. math:: \max \{M : P(B_{M, c} \le x) > \alpha \text{ or } x > c M - 1\} + n_0

    for x positives among the rows that were drawn (audited), the least chance c with which a positive below
    the list was drawn, a binomial variable :math:`B_{M, c}` and a level of :math:`1 - \alpha`.

    The chances are the auditor's, so that the bound needs no model and holds under any drift: a number of
    positives drawn independently, or without replacement within periods, is a sum of independent Bernoulli
    variables (Vatutin and Mikhailov) with a mean of at least c M, and up to one below the mean its lower tail
    is at most the binomial one (Hoeffding). Rows and lists must be fixed without a look at what the audit
    found, and the level is that of one look. O(log M).

    Parameters
    ----------
    n_positive : int
        The positives x among the audited rows. Audited rows without a label may all be positive: for the
        upper bound count them as positives, and for the lower one as negatives.
    chance : float
        The least chance of a row below the list to be audited, above 0 and at most 1, which may be 1.
    chance_max : float, optional
        The greatest such chance, which the lower bound needs.
    n_unknown : int, default=0
        The number :math:`n_0` of rows below the list that could not be drawn: all may be positive, or none.
    n_rows : int, optional
        The number of all rows below the list, which is an upper bound, too.
    confidence_level : float, default=0.95
        The chance, before the draw, that the bound will hold, or both bounds.
    side : {"upper", "lower", "two-sided"}
        Which bound; each of two takes half of what is left of the level.

    Returns
    -------
    int or tuple of int
        The bound, or the lower and the upper one.

    Raises
    ------
    TypeError, ValueError
        When a count is no integer or negative, a chance or the level is out of range, `n_rows` is less than
        the positives and unknown rows, or `chance_max` or, for a tiny chance, `n_rows` is missing.

    References
    ----------
    Hoeffding, *On the distribution of the number of successes in independent trials*, Annals of Mathematical
    Statistics 27 (1956), theorem 4. Vatutin and Mikhailov, *Limit theorems for the number of empty cells in
    an equiprobable scheme for group allocation of particles*, Theory of Probability and Its Applications 27
    (1982).

    Examples
    --------
    >>> audit_bound(13, 3 / 850, n_rows=156_400)
    5852
    >>> audit_bound(13, 3 / 850, chance_max=3 / 800, side="two-sided")
    (1849, 6293)
    """
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    for name, count in (("n_positive", n_positive), ("n_unknown", n_unknown)):
        check_number(name, count, 0, MAX_ROWS, integer=True)
    check_number("chance", chance, above=0.0, most=1.0)
    if n_rows is not None:
        check_number("n_rows", n_rows, n_positive + n_unknown, MAX_ROWS, integer=True)
    if side not in ("upper", "lower", "two-sided"):
        raise ValueError(f"side must be 'upper', 'lower' or 'two-sided', got {side!r}.")
    x, n_unknown = int(n_positive), int(n_unknown)
    miss = (1.0 - confidence_level) / (2.0 if side == "two-sided" else 1.0)
    most = MAX_ROWS if n_rows is None else int(n_rows) - n_unknown

    def is_excluded(n: int) -> bool:
        return x <= chance * n - 1.0 and bool(betaincc(x + 1.0, float(n - x), chance) <= miss)

    high = most
    if is_excluded(most):
        high = least(is_excluded, x + 1, most, "rows") - 1
    elif n_rows is None:
        raise ValueError(f"with a chance of {chance:g} no number is too large: give n_rows, or audit more.")
    if side == "upper":
        return high + n_unknown
    if chance_max is None:
        raise ValueError("a lower bound needs chance_max, the greatest chance of a row to be audited.")
    check_number("chance_max", chance_max, chance, 1.0)

    def is_credible(n: int) -> bool:
        return x < chance_max * n + 1.0 or bool(betainc(float(x), n - x + 1.0, chance_max) > miss)

    low = min(least(is_credible, x, MAX_ROWS, "rows"), most)
    return low if side == "lower" else (low, high + n_unknown)


def measure_acted(
    y_true: ArrayLike, acted: ArrayLike, chance: ArrayLike, *,
    scores: Mapping[str, ArrayLike] | ArrayLike | None = None, time: ArrayLike | None = None,
    budget: Budget | None = None, looks: int = 1, confidence_level: float = 0.95,
    pos_label: Label | None = None, random_state: Seed = 0,
) -> ActedMeasurement:  # fmt: skip
    r"""Measure a list whose rows alone got labels, by an audit of rows that were drawn from those below it.

    .. math:: \frac{H}{H + \bar M}, \quad \frac{H + x}{H + \bar M}, \quad \hat M = \sum_{i} \frac{1}{c_i}

    for H known hits on the list, x positives among the audited rows, the sum over these by their chances
    :math:`c_i` (Horvitz and Thompson), and the bound :math:`\bar M` of :func:`audit_bound`. Rows are all that
    could be acted on; of those that were acted on alone the list is measured, but no list of other scores.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values, NaN or None where they are not known.
    acted : array-like of shape (n,)
        "list" or "audit" as :func:`pushrank.monitoring.draw_audit` has them; empty, 0, False or "no" of rows
        that nobody looked at. Of any other value, such as True, a chance below 1 says that a row was audited.
    chance : array-like of shape (n,)
        The chance of each row below the list to be audited; that of a listed row may be NaN.
    scores : dict of str to array-like of shape (n,), DataFrame, or array-like of shape (n,), optional
        Scores of other models, by their names, that were fixed before these rows and labels were seen.
    time : array-like of shape (n,), optional
        Dates, or the batch of each row, for a budget.
    budget : Budget, optional
        The period to measure by. Its number of rows is not used: the list is what was listed.
    looks : int, default=1
        How often bounds are looked at while rows come: each is at the level :math:`1 - \alpha / L` of L.
    confidence_level : float, default=0.95
        The chance :math:`1 - \alpha`, before the draw, that a statement will hold.
    pos_label : label, optional
        The positive one of the labels; by default 1 of 0 and 1, or as in other metrics.
    random_state : int, RandomState or None, default=0
        The seed of the random order of rows whose scores tie.

    Returns
    -------
    ActedMeasurement
        Hits and recalls, in all and by period, and intervals for the lists of other scores.

    Raises
    ------
    TypeError, ValueError
        When lengths differ, a chance is missing below the list, out of range, or 0 of an audited row, all
        rows were listed, chances make the number of audited rows incredible or, among the rows acted on
        alone, differ within a period, a parameter is out of range, or only one of `time` and `budget` is
        given.

    Notes
    -----
    The list of other scores has as many rows in each period, or in all, as were listed there. Hits on both
    lists are known, and the bounds of :func:`audit_bound` on both sides hold for its other rows, each with
    half of what is left of the level: these rows are fixed before the draw, so that the positives found among
    them are a sum of independent Bernoulli variables, too. Listed rows without a label count as 0 and as 1.
    O(n log n) for each of the scores.

    Examples
    --------
    >>> from pushrank.monitoring.audits import draw_audit
    >>> rng, rows = np.random.default_rng(0), np.arange(5000)
    >>> y = rng.random(5000) < 0.05
    >>> acted, chance = draw_audit(y + rng.normal(size=5000), 500, 99, row_id=rows, secret="a longer one")
    >>> print(measure_acted(np.where(acted != "", y, np.nan), acted, chance).sentences()[1])
    Hits below the list: at most 218 with 95 % confidence (estimate 46); the audit of 99 rows found 1 of them.
    """
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    check_number("looks", looks, 1, integer=True)
    if (time is None) != (budget is None):
        raise ValueError("time and budget go together: measure by the periods of a budget, or in all.")
    level, rows = 1.0 - (1.0 - confidence_level) / looks, checked_rows(y_true, acted, chance, pos_label)
    periods = Periods(np.array(["all"]), np.zeros(len(rows.hit), dtype=np.int64))
    if budget is not None and time is not None:
        check_by_period(budget)
        check_consistent_length(rows.hit, time)
        periods = budget.periods(time)
    sizes, others = np.bincount(periods.codes, rows.listed, len(periods.labels)), {}
    is_whole = not (rows.listed | rows.audited).all()
    if not is_whole:
        check_known_chances(rows, periods)
    # Without the rows that nobody looked at no other list can be cut.
    for name, values in scores_by_name(scores).items() if scores is not None and is_whole else ():
        check_consistent_length(rows.hit, values)
        on_list = periods.first(random_order(checked_scores(values), random_state), sizes)
        others[name] = figures_of_other(rows, on_list, level)
    parts = () if budget is None else zip(periods.labels, periods.rows, strict=True)
    figures = {str(of): figures_of_list(rows.part(at), level, is_whole=is_whole) for of, at in parts}
    total = figures_of_list(rows, level, is_whole=is_whole)
    return ActedMeasurement(total, figures, others, float(confidence_level), int(looks))


def checked_rows(y_true: Any, acted: Any, chance: Any, pos_label: Label | None) -> AuditedRows:
    """Return rows whose labels and chances are those of a list and an audit, or raise ValueError."""
    (words, is_acted), labels = marks_of(acted), checked_column(y_true, "y_true")
    chances = checked_column(chance, "chance")
    check_consistent_length(labels, words, chances)
    numbers, known = as_numbers(chances, "chance"), ~are_missing(labels)
    audited = is_acted & (words != "list") & ((words == "audit") | (numbers < 1.0))
    listed = is_acted & ~audited
    for is_wrong, before, after in (
        (np.isnan(numbers) & (words != "list"), "is missing below the list", "give the chance to be audited"),
        ((numbers < 0.0) | (numbers > 1.0), "is not between 0 and 1", "a chance is a share"),
        (audited & (numbers == 0.0), "is 0 of an audited row", "it was drawn, so that it had a chance"),
    ):
        if is_wrong.any():
            raise BadRowError(int(np.argmax(is_wrong)), f"chance {before} in ", f"; {after}.")
    hit = np.zeros(len(labels), dtype=bool)
    if pos_label is None and set(labels[known].tolist()) <= {0, 1}:
        hit[known] = labels[known] == 1
    else:
        hit[known] = two_classes(labels[known], "y_true", pos_label)[1]
    if listed.all():
        raise ValueError("all rows were listed: no audit, and no row below the list, says what it misses.")
    n_audited, expected = int(audited.sum()), float(np.sum(numbers[~listed]))
    # Poisson's tails are beyond those of the number of audited rows.
    odds = gammaincc(n_audited + 1, expected), gammainc(n_audited, expected) if n_audited else 1.0
    if min(odds) < IMPLAUSIBLE and not is_acted.all():
        raise ValueError(
            f"{n_audited:,} rows were audited, where the chances of those below the list say {expected:.3g}: "
            "pass all rows with the chance of each, as a share, or the rows that were acted on alone."
        )
    return AuditedRows(listed, audited, numbers, known, hit)


def check_known_chances(rows: AuditedRows, periods: Periods) -> None:
    """Raise ValueError unless the rows acted on alone tell the chance of those that nobody looked at."""
    drawn, of = rows.chance[rows.audited], periods.codes[rows.audited]
    low, high = np.full(len(periods.labels), np.inf), np.zeros(len(periods.labels))
    np.minimum.at(low, of, drawn)
    np.maximum.at(high, of, drawn)
    if len(drawn) and np.ptp(drawn) > 0.0 and (low != high).any():
        raise ValueError(
            "chances differ, and rows that nobody looked at may have had smaller ones: pass all rows, or "
            "time and budget by whose periods each has one chance and an audited row."
        )


def hits_by_audit(rows: AuditedRows, level: float, *, is_whole: bool = True) -> tuple[int, Any, float]:
    """Return the lower and the upper bound of the hits among rows below a list, each at a level, and some."""
    drawable, found = rows.chance > 0.0, rows.audited & rows.hit
    n, n_drawable, n_found = len(drawable), int(drawable.sum()), int(found.sum())
    if not n_drawable:
        return 0, n if is_whole else None, 0.0
    least, most = float(rows.chance[drawable].min()), float(rows.chance[drawable].max())
    of: Figures = {"n_unknown": n - n_drawable, "confidence_level": level} | (
        {"n_rows": n} if is_whole else {}
    )
    # Audited rows without a label may be hits or not.
    low: Any = audit_bound(n_found, least, chance_max=most, side="lower", **of)
    high: Any = audit_bound(n_found + int(np.sum(rows.audited & ~rows.known)), least, **of)
    # Where chances differ the sum of a few rows may exceed the number of rows.
    some = float(np.sum(1.0 / rows.chance[found]))
    return low, high, min(some, float(n_drawable)) if is_whole else some


def figures_of_list(rows: AuditedRows, level: float, *, is_whole: bool) -> Figures:
    """Return the hits and the recall of the rows that were listed, and of all that were acted on."""
    _, high, some = hits_by_audit(rows.part(~rows.listed), level, is_whole=is_whole)
    listed, audited, _, known, hit = rows
    counted = {"listed": listed, "hits": listed & hit, "listed_unlabelled": listed & ~known}
    counted |= {"audited": audited, "audit_hits": audited & hit, "audited_unlabelled": audited & ~known}
    counted["hits_elsewhere"] = ~listed & ~audited & hit
    counted["never_drawn"] = ~listed & (rows.chance == 0.0)
    found: Figures = {"rows": len(hit)} | {name: int(of.sum()) for name, of in counted.items()}
    # An audit without a label tells of no number, and hits that are known by other ways are there.
    estimate = some if (audited & known).any() else None
    high = high if high is None else max(high, found["audit_hits"] + found["hits_elsewhere"])
    found |= {"hits_below_at_most": high, "hits_below_estimate": estimate}
    for name, n_found in (("recall", found["hits"]), ("recall_acted", found["hits"] + found["audit_hits"])):
        for end, missed in (("at_least", high), ("estimate", estimate)):
            n = found["hits"] + (missed or 0)
            found[f"{name}_{end}"] = n_found / n if n and missed is not None else None
    return found


def figures_of_other(rows: AuditedRows, on_list: NDArray[np.bool_], level: float) -> Figures:
    """Return bounds of the hits of another list, and of their difference to those of the list in use."""
    low, high, some = hits_by_audit(rows.part(on_list & ~rows.listed), 0.5 + level / 2.0)
    both, left = on_list & rows.listed, rows.listed & ~on_list
    shared, lost = int(np.sum(both & rows.hit)), int(np.sum(left & rows.hit))
    n, may_be_more = int(on_list.sum()), int(np.sum(both & ~rows.known))
    found: Figures = {"rows": n, "shared": int(both.sum())}
    # Rows that were listed may be hits or not where they have no label.
    for end, hits, difference in (
        ("low", shared + low, low - lost - int(np.sum(left & ~rows.known))),
        ("high", shared + may_be_more + high, high - lost),
        ("estimate", shared + some, some - lost),
    ):
        found |= {f"hits_{end}": hits, f"precision_{end}": hits / max(n, 1), f"difference_{end}": difference}
    return found


def recall_text(figures: Figures, name: str) -> str:
    """Return a recall in a sentence, its bound rounded down."""
    bound, some = figures[f"{name}_at_least"], figures[f"{name}_estimate"]
    at_least = "not known" if bound is None else f"at least {math.floor(1000.0 * bound) / 10.0:.1f} %"
    return at_least if some is None else f"{at_least} (estimate {100.0 * some:.1f} %)"
