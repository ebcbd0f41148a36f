"""Hits in the first rows of every period, with intervals that allow for correlated neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from sklearn.utils import check_consistent_length

from pushrank._base.bounds import as_count
from pushrank._base.docstrings import shared_docs
from pushrank._base.html import html_sentences, html_table
from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.user_types import GenericArray, Label
from pushrank._base.validation import check_number, column, warn
from pushrank.budgets import Budget, Periods, chances_of_list, check_by_period
from pushrank.exceptions import LimitsWarning
from pushrank.limits import LimitedColumn, Limits, best_list, limit_columns
from pushrank.metrics._proportions import clopper_pearson_interval
from pushrank.metrics._ranking import Ranking, checked_rankings, scores_by_name
from pushrank.metrics.intervals import Comparison, ConfidenceInterval
from pushrank.metrics.measurement import aligned_lines, difference_sentence, number_text, plain_figures
from pushrank.metrics.promises.lists import random_order

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COMING", "PeriodMeasurement", "Regret", "interval_texts", "measure_periods"]

# Of fewer periods there is but one cosine, and the interval says nothing.
MIN_PERIODS = 21
# Where storms last days, 0.4 as proposed gives intervals that are a little too short (experiments/days).
COSINES = 0.3
COMING = 7
"""Ranges and promises are of this many periods to come."""
# Hits are sums of shares, which miss a whole number by their rounding.
ROUNDING = 1e-9


def degrees_of_freedom(n_periods: int) -> int:
    """Return the number of cosines whose weights estimate the long-run variance of n periods."""
    return int(COSINES * n_periods ** (2.0 / 3.0))


def covariance_of_means(series: Floats) -> Floats:
    """Return the covariance of the means of series by period, shape (n_series, n_periods)."""
    n = series.shape[1]
    nu = degrees_of_freedom(n)
    angles = np.pi * np.outer(np.arange(1, nu + 1), np.arange(n) + 0.5) / n
    weights = (series - series.mean(axis=1, keepdims=True)) @ np.cos(angles).T
    return np.asarray(2.0 / nu / n**2 * weights @ weights.T)


def mean_interval(series: Floats, level: float | None, most: float | None = None) -> ConfidenceInterval:
    """Return the mean of a series by period and its interval; without one it has NaN."""
    # With `most` the series lies between zero and this bound, and the interval is that of the mean's
    # logarithm: the fewer the hits, the more skewed they are.
    n, mean = len(series), float(series.mean())
    if level is None or n < MIN_PERIODS or np.ptp(series) <= ROUNDING * np.abs(series).max():
        return ConfidenceInterval(np.nan, np.nan, mean, np.nan)
    error = float(np.sqrt(covariance_of_means(series[None])[0, 0]))
    half = float(student.ppf(0.5 + level / 2.0, degrees_of_freedom(n))) * error
    if most is None:
        return ConfidenceInterval(mean - half, mean + half, mean, error)
    factor = float(np.exp(half / mean))
    return ConfidenceInterval(mean / factor, min(mean * factor, most), mean, error)


def mean_difference(series: Floats, level: float | None, n_differences: int) -> Comparison:
    """Return the mean of a series of differences; the intervals of several hold together."""
    together = None if level is None else 1.0 - (1.0 - level) / n_differences
    low, high, mean, error = mean_interval(series, together)
    if not series.any():
        return Comparison(0.0, 0.0, 0.0, 1.0)
    tail = float(student.sf(abs(mean) / error, degrees_of_freedom(len(series)))) if error > 0.0 else np.nan
    return Comparison(low, high, mean, float(np.minimum(1.0, 2.0 * n_differences * tail)))


def independent_periods(series: Floats) -> float:
    """Return how many independent periods tell as much as these, of which neighbours may be alike."""
    error, spread = float(covariance_of_means(series[None])[0, 0]), float(series.var(ddof=1))
    return min(float(len(series)), max(2.0, spread / error)) if error > 0.0 else float(len(series))


def share_interval(hits: Floats, at_least: float, level: float | None) -> ConfidenceInterval:
    """Return the share of the periods with so many hits, and its interval."""
    # It is Clopper and Pearson's, of as many independent periods as tell as much. How alike neighbours are is
    # taken from all hits: few periods without one show it by chance alone, by where they are.
    share = float(np.mean(hits >= at_least - ROUNDING))
    if level is None or len(hits) < MIN_PERIODS:
        return ConfidenceInterval(np.nan, np.nan, share, np.nan)
    n = independent_periods(hits)
    low, high = clopper_pearson_interval(n * share, n, (1.0 - level) / 2.0)
    return ConfidenceInterval(float(low), float(high), share, float(np.sqrt(share * (1.0 - share) / n)))


def coming_interval(series: Floats, level: float | None, n_coming: int, most: float) -> ConfidenceInterval:
    """Return the sum over periods to come, each at most this, and the range in which it will lie."""
    # Student's, with the variance of sums of periods as independent as these tell: neighbours that are alike
    # make the range wider, not narrower.
    mean, spread = float(series.mean()), float(series.var(ddof=1)) if len(series) > 1 else 0.0
    if level is None or len(series) < MIN_PERIODS or spread <= ROUNDING:
        return ConfidenceInterval(np.nan, np.nan, n_coming * mean, np.nan)
    n = independent_periods(series)
    error = n_coming * float(np.sqrt(spread * len(series) / n * (1.0 / n_coming + 1.0 / len(series))))
    half = float(student.ppf(0.5 + level / 2.0, max(1.0, n - 1.0))) * error
    low, high = max(0.0, n_coming * mean - half), min(n_coming * most, n_coming * mean + half)
    return ConfidenceInterval(low, high, n_coming * mean, error)


def carried_over(chances: Floats, ids: NDArray[np.intp], codes: NDArray[np.int64]) -> float:
    """Return the mean share of those on the list of a period who were on that of the one before."""
    n_periods = int(codes.max()) + 1
    # One number more than there are periods, so that the last period of one is no neighbour of another.
    keys, rows = np.unique(ids * (n_periods + 1) + codes, return_inverse=True)
    with np.errstate(divide="ignore"):
        is_on = -np.expm1(np.bincount(rows, np.log1p(-chances)))
    later = np.flatnonzero(np.diff(keys) == 1) + 1
    period = keys % (n_periods + 1)
    both = np.bincount(period[later], is_on[later] * is_on[later - 1], minlength=n_periods)
    return float(np.mean(both[1:] / np.bincount(period, is_on)[1:]))


def check_floors(columns: Sequence[LimitedColumn], periods: Periods) -> None:
    """Raise ValueError where a period has fewer rows of a value than its list must have."""
    for of in columns:
        for value, fewest in of.at_least.items():
            there = np.bincount(periods.codes[of.codes == of.code_of[value]], minlength=len(periods.labels))
            if (n := there.min()) < fewest:
                raise ValueError(
                    f"{periods.labels[np.argmin(there)]} has {n:,} rows of {of.name} {value!r}, and its list "
                    f"must have {fewest:,}: ask for fewer, or leave such a period out."
                )


def limited_lists(scores: Floats, periods: Periods, n: int, columns: Sequence[LimitedColumn]) -> Floats:
    """Return 1 for the rows of each period's best list that keeps limits, and 0 for all others."""
    order, chosen, n_short = random_order(scores, 0), np.zeros(len(scores)), 0
    order = order[np.argsort(periods.codes[order], kind="stable")]
    for period, rows in zip(periods.labels, np.split(order, np.cumsum(periods.sizes)[:-1]), strict=True):
        try:
            of_period = [of._replace(codes=of.codes[rows]) for of in columns]
            best = best_list(scores[rows], np.arange(len(rows)), of_period, n)
        except ValueError as error:
            raise ValueError(f"{period}: {error}" if len(periods.labels) > 1 else str(error)) from error
        chosen[rows[best]] = 1.0
        n_short += len(best) < min(n, len(rows))
    if n_short:
        warn(
            f"the limits allow fewer than {n:,} rows in {n_short:,} of {len(periods.labels):,} periods.",
            LimitsWarning,
        )
    return chosen


class Regret(NamedTuple):
    """What the rule to take the model that was best in the last period costs.

    Parameters
    ----------
    hits : float
        The mean hits of the rule, from the second period on.
    below_best : ConfidenceInterval
        How many more the best model of each period has, which nobody knows beforehand.
    of_always : dict of str to Comparison
        How many more it has to take always the same model, for each of them; all intervals hold together.

    Examples
    --------
    >>> from pushrank.budgets import Budget
    >>> scores = {"a": [2, 1, 1, 2, 2, 1], "b": [1, 2, 2, 1, 2, 1]}
    >>> y, day = [1, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3]
    >>> regret = measure_periods(y, scores, budget=Budget(1, "batch"), time=day).regret()
    >>> regret.hits, {model: more.difference for model, more in regret.of_always.items()}
    (0.5, {'a': 0.0, 'b': 0.5})
    """

    hits: float
    below_best: ConfidenceInterval
    of_always: dict[str, Comparison]


@dataclass(frozen=True, repr=False)
class PeriodMeasurement:
    """The result of :func:`measure_periods`: hits in the first rows of every period, by model.

    Parameters
    ----------
    budget : Budget
        How many rows of every period are looked at.
    labels : ndarray of shape (n_periods,)
        The beginning of each period, or the value of each batch.
    sizes, positives : ndarray of shape (n_periods,)
        The number of its rows, and of positives among them.
    hits : dict of str to ndarray of shape (n_periods,)
        For each model the positives among the rows looked at, tied rows in a random order.
    values : dict of str to ndarray of shape (n_periods,)
        What these are worth; empty without `value`.
    overlap : dict of str to dict of str to float
        For two models the mean share of a period's rows looked at that are on both of their lists.
    carried_over : dict of str to float
        The mean share of those on a period's list who were on that of the period before; empty without `ids`.
    confidence_level : float or None
        The level of the intervals.
    unlimited : dict of str to ndarray of shape (n_periods,)
        The hits of lists that keep no limits; empty where those measured keep none.

    Examples
    --------
    >>> from pushrank.budgets import Budget
    >>> day = ["2026-03-01", "2026-03-01", "2026-03-02", "2026-03-02"]
    >>> measured = measure_periods([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.2], budget=Budget(1), time=day)
    >>> measured.hits["scores"].tolist(), measured.means["scores"].estimate
    ([1.0, 0.0], 0.5)
    """

    budget: Budget
    labels: GenericArray
    sizes: NDArray[np.int64]
    positives: NDArray[np.int64]
    hits: dict[str, Floats]
    values: dict[str, Floats]
    overlap: dict[str, dict[str, float]]
    carried_over: dict[str, float]
    confidence_level: float | None
    unlimited: dict[str, Floats] = field(default_factory=dict)

    @property
    def looked_at(self) -> NDArray[np.int64]:
        """The number of rows of each period that are looked at."""
        return np.minimum(self.budget.n, self.sizes)

    @property
    def first(self) -> str:
        """The first model, with which the others are compared."""
        return next(iter(self.hits))

    @property
    def means(self) -> dict[str, ConfidenceInterval]:
        """For each model its mean hits a period, with their interval."""
        most = float(self.looked_at.mean())
        return {name: mean_interval(x, self.confidence_level, most) for name, x in self.hits.items()}

    @property
    def mean_values(self) -> dict[str, ConfidenceInterval]:
        """For each model the mean value of its hits a period; empty without values."""
        return {
            name: mean_interval(x, self.confidence_level, np.inf if x.min() >= 0.0 else None)
            for name, x in self.values.items()
        }

    @property
    def spreads(self) -> dict[str, float]:
        """For each model the standard deviation of its hits by period; NaN of one period."""
        return {name: float(x.std(ddof=1)) if len(x) > 1 else np.nan for name, x in self.hits.items()}

    @property
    def differences(self) -> dict[str, Comparison]:
        """For each model but the first its mean hits beyond those of the first; all hold together."""
        baseline, others = self.hits[self.first], list(self.hits.items())[1:]
        level = self.confidence_level
        return {name: mean_difference(x - baseline, level, len(others)) for name, x in others}

    @property
    def prices(self) -> dict[str, Comparison]:
        """For each model the mean hits that limits cost; all hold together, and none are without limits."""
        level, n = self.confidence_level, len(self.unlimited)
        return {name: mean_difference(x - self.hits[name], level, n) for name, x in self.unlimited.items()}

    def share_of_periods(self, at_least: float = 1.0) -> dict[str, ConfidenceInterval]:
        """Return for each model the share of the periods with at least this many hits, with its interval."""
        check_number("at_least", at_least, 0.0)
        level = self.confidence_level
        return {name: share_interval(x, at_least, level) for name, x in self.hits.items()}

    def coming(self, n_periods: int = COMING) -> dict[str, ConfidenceInterval]:
        """Return for each model its hits in all of so many periods to come, and the range of them.

        Periods to come are to be such as these; the interval of ``means`` is of their mean in the long run.
        """
        check_number("n_periods", n_periods, 1, integer=True)
        level, most = self.confidence_level, float(self.looked_at.max())
        return {name: coming_interval(x, level, n_periods, most) for name, x in self.hits.items()}

    def regret(self) -> Regret:
        """Return what it costs to take in every period the model with the most hits in the one before.

        Of several with as many it takes one at random. Fewer than two models or periods are a ValueError.
        """
        table, level = np.array(list(self.hits.values())), self.confidence_level
        if min(table.shape) < 2:
            raise ValueError(f"regret needs 2 models and 2 periods, found {len(table)} and {table.shape[1]}.")
        before, later = table[:, :-1], table[:, 1:]
        was_best = before >= before.max(axis=0) - ROUNDING
        rule = np.sum(later * was_best, axis=0) / was_best.sum(axis=0)
        pairs = zip(self.hits, later, strict=True)
        of_always = {name: mean_difference(of_one - rule, level, len(table)) for name, of_one in pairs}
        below_best = mean_interval(later.max(axis=0) - rule, level, np.inf)
        return Regret(float(rule.mean()), below_best, of_always)

    def title(self) -> str:
        """Return a line that says what was measured."""
        rows = f"{self.sizes.sum():,} rows, {self.positives.sum():,} positive"
        of_periods = f"{len(self.sizes):,} {self.budget.several}"
        limits = ", within limits" * bool(self.unlimited)
        return f"{', '.join(self.hits)} on {rows}, {of_periods}; {self.budget.words} looked at{limits}"

    def cells(self, at_least: float = 1.0) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the printed table, as texts: a row for each model."""
        level = f"{100 * (self.confidence_level or 0.0):g} % interval"
        held = f"{self.budget.several} with {at_least:g} hit{'s' * (at_least != 1.0)} or more"
        hits, several = f"hits {self.budget.each}", f"next {COMING} {self.budget.several}"
        header = ["scores", hits, f"average, {level}", several, "spread", held, level]
        shares, coming, rows = self.share_of_periods(at_least), self.coming(), []
        for (name, mean), spread in zip(self.means.items(), self.spreads.values(), strict=True):
            share = interval_texts(ConfidenceInterval(*(100.0 * number for number in shares[name])), " %")
            rows.append([name, *interval_texts(mean), range_text(coming[name]), f"{spread:.2f}", *share])
        for row, value in zip(rows, self.mean_values.values(), strict=False):
            row += interval_texts(value)
        header += [f"value {self.budget.each}", level] * bool(self.values)
        if self.confidence_level is None:
            header, *rows = ([*row[:2], *row[4:6], *row[7:8]] for row in (header, *rows))
        return header, rows

    def sentences(self, *, every: bool = True) -> list[str]:
        """Return what the hits are of, the differences from the first model, and what intervals assume.

        With ``every`` they also say which rows lists share, and what it costs to follow the last best model.
        """
        by_chance, n = float(np.mean(self.looked_at * self.positives / self.sizes)), len(self.sizes)
        said = [
            f"There are {self.positives.mean():,.1f} positives {self.budget.each}; as many random rows as "
            f"are looked at would hold {by_chance:,.2f}."
        ]
        if n_short := int(np.sum(self.sizes < self.budget.n)):
            said.append(
                f"{n_short:,} of {n:,} {self.budget.several} have fewer rows, and are looked at whole."
            )
        level, n_others = self.confidence_level, len(self.hits) - 1
        said += [self.price_sentence(name) for name in self.unlimited]
        said += [
            difference_sentence(f"{name} against {self.first}", found, self.budget.each, level, n_others, 2)
            for name, found in self.differences.items()
        ]
        said += self._of_lists() if every else []
        return said if level is None else [*said, self.caveat]

    def _of_lists(self) -> list[str]:
        """Return which rows lists share, and what it costs to take the last period's best model."""
        level, n_others = self.confidence_level, len(self.hits) - 1
        said = [
            f"{100.0 * share:.0f} % of the rows that {self.first} and {name} look at are the same."
            for name, share in self.overlap[self.first].items()
        ]
        said += [
            f"{100.0 * share:.0f} % of those on the list of {name} were on it the {self.budget.per} before."
            for name, share in self.carried_over.items()
        ]
        if n_others and len(self.sizes) > 1:
            of_always = self.regret().of_always
            best = max(of_always, key=lambda name: of_always[name].difference)
            against = f"always {best} against the best of the last {self.budget.per}"
            said.append(
                difference_sentence(against, of_always[best], self.budget.each, level, n_others + 1, 2)
            )
        return said

    def price_sentence(self, name: str) -> str:
        """Return what the limits cost a model."""
        low, high, cost, _ = self.prices[name]
        level = 100 * (self.confidence_level or 0)
        interval = "" if np.isnan(low) else f" ({level:g} % interval {low:.2f} to {high:.2f})"
        without = f"without them it has {self.unlimited[name].mean():,.2f}"
        return f"The limits cost {name} {cost:,.2f} hits {self.budget.each}{interval}; {without}."

    @property
    def caveat(self) -> str:
        """What intervals assume, or why there are none."""
        if (n := len(self.sizes)) < MIN_PERIODS:
            return f"There are no intervals, which take {MIN_PERIODS} {self.budget.several}; found {n}."
        return (
            f"Intervals allow for neighbouring {self.budget.several} that resemble each other, not for a "
            "trend: coming hits may then lie outside."
        )

    def __str__(self) -> str:
        """Return the table, and the sentences."""
        return "\n".join([self.title(), "", *aligned_lines(*self.cells()), *self.sentences()])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title()})"

    def _repr_html_(self) -> str:
        return html_sentences(self.title()) + html_table(*self.cells()) + html_sentences(*self.sentences())

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each period of each model, for a data frame of any library."""
        columns = self.labels, *(column.tolist() for column in (self.sizes, self.looked_at, self.positives))
        names = ("period", "rows", "looked_at", "positives")
        by_period = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        return [
            {"model": name, **row, "hits": float(hits)}
            | ({"value": float(self.values[name][at])} if self.values else {})
            for name, of_model in self.hits.items()
            for at, (row, hits) in enumerate(zip(by_period, of_model, strict=True))
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return :meth:`records` as a pandas data frame."""
        return import_optional("pandas", "io").DataFrame(self.records())

    def summary(self) -> dict[str, object]:
        """Return everything as a dict of plain values, for JSON, with None in place of NaN."""
        regret = self.regret() if len(self.hits) > 1 < len(self.sizes) else None
        scores: dict[str, dict[str, Any]] = {
            name: {"hits": mean, "share_with_a_hit": self.share_of_periods()[name]}
            | {f"hits_in_next_{COMING}": self.coming()[name]}
            | ({"value": self.mean_values[name]} if self.values else {})
            for name, mean in self.means.items()
        }
        return {
            "budget": str(self.budget),
            "confidence_level": self.confidence_level,
            "periods": {
                "start": [str(label) for label in self.labels],
                "rows": self.sizes.tolist(),
                "looked_at": self.looked_at.tolist(),
                "positives": self.positives.tolist(),
            },
            "scores": {
                name: plain_figures(figures)
                | {"spread": self.spreads[name], "hits_by_period": [*map(as_count, self.hits[name].tolist())]}
                for name, figures in scores.items()
            },
            "differences": {
                name: {"against": self.first, **found}
                for name, found in plain_figures(self.differences).items()
            },
            "limits_cost": plain_figures(self.prices),
            "overlap": self.overlap,
            "carried_over": self.carried_over,
            "regret": regret
            and {
                "hits": regret.hits,
                **plain_figures({"below_best": regret.below_best}),
                "of_always": plain_figures(regret.of_always),
            },
        }


def interval_texts(found: ConfidenceInterval, unit: str = "") -> list[str]:
    """Return a figure and its interval as texts of the table."""
    low, high, estimate, _ = found
    if np.isnan(low):
        # Two decimals of hits, and none of a share of few periods, are as much as they tell.
        return [f"{estimate:,.{0 if unit else 2}f}{unit}", "–"]
    texts = [number_text(number, low, high) + unit for number in (estimate, low, high)]
    return [texts[0], f"{texts[1].removesuffix(unit)} to {texts[2]}"]


def range_text(found: ConfidenceInterval) -> str:
    """Return a range of hits to come in whole numbers, or a dash where there is none."""
    return "–" if np.isnan(found.low) else f"{found.low:,.0f} to {found.high:,.0f}"


@shared_docs
def measure_periods(
    y_true: ArrayLike,
    scores: Mapping[str, ArrayLike] | ArrayLike,
    *,
    budget: Budget,
    time: ArrayLike,
    value: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    limits: Limits | None = None,
    X: Any = None,
    confidence_level: float | None = 0.95,
    pos_label: Label | None = None,
) -> PeriodMeasurement:
    r"""Measure the hits in the first rows of every hour, day, week, month or batch, by the scores of models.

    .. math:: \bar H \exp\Bigl(\pm \frac{t_\nu}{\bar H} \sqrt{\hat\Omega / T}\Bigr), \quad
        \hat\Omega = \frac{2}{\nu T} \sum_{j=1}^{\nu} \Bigl(\sum_{d=1}^{T} (H_d - \bar H)
        \cos \frac{\pi j (d - 1/2)}{T} \Bigr)^2

    for the hits :math:`H_d` of period d of T, and :math:`\nu = \lfloor 0.3\, T^{2/3} \rfloor`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : dict of str to array-like of shape (n,), DataFrame, or array-like of shape (n,)
        Scores by the names of models, finite, the higher the better. The others are compared with the first.
    budget : Budget
        How many rows of every period are looked at; of a shorter one all are.
    time : array-like of shape (n,)
        Dates, or the batch of each row.
    value : array-like of shape (n,), optional
        What each row is worth if it is positive.
    ids : array-like of shape (n,), optional
        Whom or what each row is about, such as its customer, to tell how many stay on the list.
    limits : Limits, optional
        The most and the fewest rows that each list may have of the values of columns.
    X : DataFrame or dict of str to array-like of shape (n,), optional
        The columns of the limits.
    confidence_level : float or None, default=0.95
        The level of the intervals, strictly between 0 and 1; with None there are none.
    pos_label : label, optional

    Returns
    -------
    PeriodMeasurement
        Hits by model and period, which prints as a table.

    %(errors)s

    Notes
    -----
    Lists that keep limits are those of :func:`pushrank.limits.select`, and the hits that the limits cost are
    paired by periods with those of the first rows. With limits rows that tie are in one random order.

    A row counts by its chance to be among the first of its period where tied rows are in a random order, and
    two lists agree as if each drew its own. Periods without rows are none. O(n log n) for each model, and
    O(n) for each two.

    Neighbouring periods may resemble each other, as in storms and weeks: the long-run variance is that of
    equally weighted cosines, with Student's t (Lazarus, Lewis, Stock and Watson, *HAR inference:
    recommendations for practice*, Journal of Business and Economic Statistics 36, 2018). The interval is of
    the mean of a process that goes on as it is: a trend or a drift is not covered. With fewer than 21
    periods, or the same hits in all of them, there is none. That of a difference, or of values of both signs,
    is symmetric; with m models each difference from the first has the level :math:`1 - \delta / (m - 1)`.
    With :math:`T' = \min(T, T s^2 / \hat\Omega)` periods as independent ones, a share of periods has Clopper
    and Pearson's interval of T', and the hits of the next m the range :math:`m \bar H \pm t_{T' - 1}
    \sqrt{m^2 s^2 (T / T') (1 / m + 1 / T)}`, by the variance :math:`s^2` of the hits.

    Examples
    --------
    >>> from pushrank.datasets import make_stream
    >>> stream = make_stream(60, random_state=0)
    >>> scores = {"all": stream.data[:, :3].sum(axis=1), "one": stream.data[:, 1]}
    >>> measured = measure_periods(stream.target, scores, budget=Budget(10), time=stream.time)
    >>> print(measured.sentences()[1].partition(",")[0])
    one against all: -3.05 hits a day
    >>> low, high, hits, _ = measured.means["all"]
    >>> print(f"{hits:.1f} hits a day, {low:.1f} to {high:.1f}")
    5.9 hits a day, 4.7 to 7.4
    """
    named = scores_by_name(scores)
    columns = limit_columns(limits, X, len(column(time, "time")))
    rankings = checked_rankings(y_true, list(named.values()), None, pos_label, value, ids)
    by_name = dict(zip(named, rankings, strict=True))
    return measured_by_period(by_name, budget, time, confidence_level, columns)


def measured_by_period(
    rankings: Mapping[str, Ranking],
    budget: Budget,
    time: ArrayLike,
    level: float | None,
    columns: Sequence[LimitedColumn] = (),
) -> PeriodMeasurement:
    """Return the measurement of :func:`measure_periods` of rankings of the same rows."""
    check_by_period(budget)
    if level is not None:
        check_number("confidence_level", level, above=0.0, below=1.0)
    named, baseline = list(rankings), next(iter(rankings.values()))
    periods, positive = budget.periods(time), baseline.is_positive
    check_consistent_length(positive, periods.codes)
    n_periods, worth = len(periods.labels), baseline.value
    looked_at = np.minimum(budget.n, periods.sizes)

    def by_period(weights: Floats | NDArray[np.bool_] | None) -> Any:
        return np.bincount(periods.codes, weights, minlength=n_periods)

    check_floors(columns, periods)
    chances, hits, unlimited = {}, {}, {}
    for name, ranking in rankings.items():
        by = ranking.scores, periods
        chances[name] = limited_lists(*by, budget.n, columns) if columns else chances_of_list(*by, budget.n)
        hits[name] = chances[name] * positive
        if columns:
            # Both lists have their tied rows in the same random order.
            unlimited[name] = by_period(limited_lists(*by, budget.n, ()) * positive)
    overlap: dict[str, dict[str, float]] = {name: {} for name in named}
    for one, other in combinations(named, 2):
        shared = float(np.mean(by_period(chances[one] * chances[other]) / looked_at))
        overlap[one][other] = overlap[other][one] = shared
    groups = baseline.groups
    return PeriodMeasurement(
        budget,
        periods.labels,
        periods.sizes,
        by_period(positive).astype(np.int64),
        {name: by_period(of_rows) for name, of_rows in hits.items()},
        {} if worth is None else {name: by_period(of_rows * worth) for name, of_rows in hits.items()},
        overlap,
        {}
        if groups is None or n_periods < 2
        else {name: carried_over(chance, groups, periods.codes) for name, chance in chances.items()},
        None if level is None else float(level),
        unlimited,
    )
