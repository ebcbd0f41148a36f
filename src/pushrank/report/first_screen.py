"""The figures that a report shows first: hits to expect, by which model, and how sure its lead is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import t

from pushrank._base.bounds import decimals
from pushrank._base.user_types import GenericArray
from pushrank.budgets import Budget
from pushrank.model_selection.comparison import CHOSEN, CONFIDENCE, RankerComparison
from pushrank.model_selection.errors import HITS, PRECISION
from pushrank.monitoring.watching import date_words
from pushrank.report.lists import RankedLists
from pushrank.report.words import rounded, row_count


@dataclass(frozen=True)
class FirstScreen:
    """The first screen of a report: all its figures are those of the chosen model, but for the picture."""

    comparison: RankerComparison
    lists: RankedLists
    times: GenericArray | None

    @property
    def is_count(self) -> bool:
        """Whether the models are judged by hits, and not by a measure of the user's own."""
        return self.comparison.criterion in (HITS, PRECISION)

    @property
    def factor(self) -> float:
        """What makes a count of the criterion, which without a budget is a share of the first rows."""
        return float(self.lists.depth) if self.comparison.criterion == PRECISION else 1.0

    @property
    def period(self) -> str:
        """From when to when the rows are, where they have times."""
        times, budget = self.comparison.times if self.times is None else self.times, self.comparison.budget
        if times is None or not len(times):
            return ""
        if isinstance(budget, Budget) and budget.per == "batch":
            return f" in {len(np.unique(times)):,} batches"
        first, last = np.min(times), np.max(times)
        if np.asarray(times).dtype.kind != "M":
            return f" from {first:,.6g} to {last:,.6g}"
        first_day, last_day = str(first)[:10], str(last)[:10]
        return f" from {date_words(first_day, 'day', last_day)} to {date_words(last_day, 'day', '')}"

    @cached_property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The 95 % interval of each model's mean over the rows held out."""
        comparison, days = self.comparison, self.comparison.days
        errors, intervals = comparison.errors_of(comparison.criterion), {}
        for model in filter(lambda model: model != CHOSEN, comparison.measures):
            error = self.factor * comparison.standard_error(model, comparison.criterion)
            reach, mean = float(t.ppf(0.5 + CONFIDENCE / 2.0, errors.freedom)) * error, self.mean(model)
            low, high = mean - reach, mean + reach
            if self.is_count:
                most = self.lists.depth if days is None else float(days.looked_at.mean())
                low, high = max(low, 0.0), min(high, most)
            if days is not None and self.is_count and np.isfinite(days.means[model].low):
                low, high, *_ = days.means[model]
            intervals[model] = low, high
        return intervals

    def mean(self, model: str) -> float:
        """Return the mean of a model over the rows held out."""
        return self.factor * self.comparison.mean(model, self.comparison.criterion)

    def texts(self, mean: float, low: float = np.nan, high: float = np.nan, *, sign: str = "") -> list[str]:
        """Return a mean and its interval, empty if there is none, with the decimals that count."""
        # They are those that the chosen model's interval supports, so that all figures have the same.
        width = float(abs(np.subtract(*self.intervals[self.lists.main])))
        has_width, is_known = 0.0 < width < np.inf, bool(np.isfinite([low, high]).all() and low < high)
        digits = decimals(width / 2.0) if has_width else 3
        interval = f"{rounded(low, digits, sign)} to {rounded(high, digits, sign)}" * is_known
        return [rounded(mean, digits) if has_width or not self.is_count else row_count(mean), interval]

    @property
    def found(self) -> list[str]:
        """The hits to expect of the chosen model or, judged by another measure, those it has found."""
        if self.is_count:
            mean, low, high = self.comparison.expected_
            return self.texts(self.factor * mean, self.factor * low, self.factor * high)
        days, model = self.comparison.days, self.lists.main
        return [row_count(self.lists.hits(model) if days is None else days.means[model].estimate), ""]

    @property
    def average(self) -> str:
        """The interval of the chosen model's mean hits in the long run, empty if there is none."""
        return self.texts(self.mean(self.lists.main), *self.intervals[self.lists.main])[1]

    @property
    def chance(self) -> float:
        """How many hits a random choice of as many rows would find, with a budget by period in each."""
        if (days := self.comparison.days) is not None:
            return float(np.mean(days.looked_at * days.positives / days.sizes))
        return self.lists.depth * self.lists.base_rate

    @property
    def next_best(self) -> str:
        """The best of the other models by the criterion, or none."""
        return max(self.comparison.differences_, key=self.mean, default="")

    @property
    def lead(self) -> list[str]:
        """By how much the chosen model exceeds the best of the others."""
        gap, factor = self.comparison.differences_[self.next_best], self.factor
        return self.texts(factor * abs(gap.mean), factor * gap.low, factor * gap.high, sign="+")

    def dots(self) -> tuple[list[str], list[dict[str, Any]]]:
        """Return the ends of a scale, and on it the models, best first, and the random choice."""
        by_mean = sorted(self.intervals, key=lambda model: -self.mean(model))
        figures = {model: [self.mean(model), *self.intervals[model]] for model in by_mean}
        figures |= {"random choice": [self.chance]} if self.is_count else {}
        ends = np.array([*[0.0] * self.is_count, *(value for of in figures.values() for value in of)])
        start, end = (float(bound(ends[np.isfinite(ends)])) for bound in (np.min, np.max))
        kinds = dict.fromkeys(self.comparison.may_be_best_, "likely")
        kinds |= {self.lists.main: "chosen", "random choice": "random"}
        dots = []
        for model, of in figures.items():
            shares = (np.array(of)[np.isfinite(of)] - start) / max(end - start, 1e-9)
            # Dots at the ends of the scale are not cut.
            dot = {"model": model, "kind": kinds.get(model, "open"), "places": [*(4.0 + 92.0 * shares)]}
            dots.append({**dot, "texts": self.texts(*of)})
        return [self.texts(value)[0] if value else "0" for value in (start, end)], dots
