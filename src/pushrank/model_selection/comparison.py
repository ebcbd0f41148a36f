"""The results of a comparison of rankers: their measures on every fold, differences, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from pushrank._base.bounds import decimals
from pushrank._base.html import html_sentences, html_table, interval_pictures
from pushrank._base.optional import import_optional
from pushrank._base.user_types import Estimator, GenericArray
from pushrank._base.validation import check_choice
from pushrank.budgets import Budget
from pushrank.metrics import PeriodMeasurement
from pushrank.metrics.periods import MIN_PERIODS
from pushrank.model_selection.errors import AUC, AVERAGE_PRECISION, HITS, PRECISION, WEIGHT, Errors
from pushrank.model_selection.folds import on_one_scale
from pushrank.model_selection.verdict import ROUNDING, may_be_best, quantiles

if TYPE_CHECKING:
    import pandas as pd

POSITIVES_AT_TOP = "positives at top"
CHOSEN = "best of the above, chosen inside"
TOGETHER = "ensemble"
CONFIDENCE = 0.95
# Equal differences in all folds have no spread for Student's t, so that a sign test stands in for it: the
# same sign in six folds has a two-sided probability below 5 %, 2 / 2^6.
MIN_EQUAL_FOLDS = 6
# A sentence names this many models; the table marks all of them.
MAX_NAMED = 4


class Difference(NamedTuple):
    """By how much one model exceeds another over the folds, and whether that is more than chance.

    Parameters
    ----------
    mean : float
        The mean of the paired differences.
    standard_error : float
        Its standard error.
    low, high : float
        The ends of its interval, which holds at 95 % together with those of all pairs of models compared, and
        so whichever model is the best of them.
    more_than_chance : bool
        Whether the interval leaves out zero.

    Examples
    --------
    >>> Difference(0.1, 0.02, 0.05, 0.15, True).more_than_chance
    True
    """

    mean: float
    standard_error: float
    low: float
    high: float
    more_than_chance: bool


@dataclass(frozen=True, eq=False)
class RankerComparison:
    """The result of :func:`compare_rankers`: the measures of every model on every fold, and their verdict.

    What is estimated is the expected measure of a way to train a model, over training sets of this size and
    rows tested. The variance of a mean, or of the difference of two models, over n rows held out is

    .. math:: \\frac{\\sigma^2}{n} + \\frac{\\min(0.7\\, \\delta^2, \\sigma^2)}{n_{train}},

    with the variance :math:`\\sigma^2` of the influence values of the rows, averaged over repetitions and
    summed over groups, and the variance :math:`\\delta^2` of their change between two fits to disjoint halves
    of a training part. The second term is due to the training rows; Nadeau and Bengio have
    :math:`\\sigma^2` there, as it is here where halves would be too small to fit. The factor 0.7 comes from
    simulations of models that are equal by construction.

    Measures without influence values, such as positives at top or a scorer of your own, and rows judged by
    time have the variance :math:`(1 / V + n_{test} / n_{train}) s^2` of Nadeau and Bengio, by the variance
    :math:`s^2` between the V folds. Hits a period are means over periods; of 21 or more the errors are those
    of :func:`pushrank.metrics.measure_periods`. Nadeau and Bengio, *Inference for the generalization error*,
    Machine Learning 52 (2003); DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988), for the area; Hsu,
    *Simultaneous confidence intervals for all distances from the "best"*, Annals of Statistics 9 (1981).

    Parameters
    ----------
    measures : dict of str to dict of str to ndarray of shape (n_folds * n_repeats,)
        For each model, its measures by name, one value a fold.
    criterion : str
        The measure that models are judged by.
    budget : int, Budget or None, default=None
        How many of all rows are acted on, or of those of every period.
    n_repeats : int, default=1
        The number of repetitions of the cross-validation.
    n_positives : int or None, default=None
        How many of all rows are positive, for names of measures that state a number of rows.
    scores : dict of str to ndarray of shape (n_samples,)
        The score of every row by the fit of the first repetition that had not seen it.
    folds : ndarray of shape (n_samples,)
        The fold of the first repetition that held a row out, -1 for rows that were never held out.
    warnings : dict of str to list of str
        The warnings of each model, as it was fitted and gave scores.
    judged : str, default=""
        A sentence that says on which rows models are judged, such as later ones than those learnt from.
    errors : dict of str to Errors
        The standard errors of means and differences by measure; where there are none, the folds tell.
    quantiles : tuple of float and ndarray, optional
        By how many standard errors equal models may seem to differ: the most of all pairs, and the most of
        the others from each model. By default they are found when needed.
    simplicity : dict of str to int
        The rank of each model, the simplest first: 0 for linear models, 1 for boosted stumps, 2 for trees and
        whatever is none of these, 3 for forests, 4 for ensembles. Equals keep the order of ``measures``.
    indifference : float, default=0.0
        Differences of the criterion below it make no difference to the user.
    choose : {"simplest", "best"}, default="simplest"
        Which model to take of those that may be the best: the simplest, or the one with the highest mean.
    times : ndarray of shape (n_samples,), optional
        With a budget by period, the beginning of each row's period.
    days : PeriodMeasurement, optional
        With a budget by period, the hits of every model in each period of the rows held out.
    estimators : dict of str to list of estimator
        The fitted model of each fold, where they were kept.

    Examples
    --------
    >>> comparison = RankerComparison(
    ...     {"a": {"AUC": np.array([0.5, 0.6, 0.7])}, "b": {"AUC": np.array([0.7, 0.9, 0.8])}}, "AUC"
    ... )
    >>> comparison
    RankerComparison(2 models, 3 folds)
    b has 0.200 more AUC than a (95 % interval -0.193 to +0.593), but that may be luck. Take a: it is the
    simplest of 2 models that may be the best (a or b).
    >>> comparison.may_be_best_, comparison.chosen_
    (['a', 'b'], 'a')
    """

    measures: dict[str, dict[str, NDArray[np.float64]]]
    criterion: str
    budget: int | Budget | None = None
    n_repeats: int = 1
    n_positives: int | None = None
    scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    folds: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    warnings: dict[str, list[str]] = field(default_factory=dict)
    judged: str = ""
    errors: dict[str, Errors] = field(default_factory=dict)
    quantiles: tuple[float, NDArray[np.float64]] | None = None
    simplicity: dict[str, int] = field(default_factory=dict)
    indifference: float = 0.0
    choose: Literal["simplest", "best"] = "simplest"
    times: GenericArray | None = None
    days: PeriodMeasurement | None = None
    estimators: dict[str, list[Estimator]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice("choose", self.choose, ("simplest", "best"))

    def __repr__(self) -> str:
        folds = f"{self.n_folds} folds" + f", {self.n_repeats} times" * (self.n_repeats > 1)
        return f"{type(self).__name__}({len(self._models)} models, {folds})\n{self.verdict()}"

    def _repr_html_(self) -> str:
        """Return the verdict, the means of all measures, and the best model's differences as pictures."""
        best, by = self.best_, self.name_of(self.criterion)
        measures = sorted(self.measures[best], key=lambda name: name != self.criterion)
        shown = [
            [model, self.standing(model), *(self.mean_and_error(model, name) for name in measures)]
            for model in self.measures
        ]
        heads = ["model", "may be the best", *map(self.name_of, measures)]
        page = html_sentences(self.verdict())
        page += html_table(heads, shown, "Means over the test parts ± standard errors")
        if not self.differences_:
            return page
        digits = self.digits(self.criterion)
        means, _, lows, highs, _ = zip(*self.differences_.values(), strict=True)
        pictures = interval_pictures(means, lows, highs, zero=True)
        rows = [
            [model, picture, *(f"{value:+.{digits}f}" for value in interval)]
            for model, picture, *interval in zip(self.differences_, pictures, means, lows, highs, strict=True)
        ]
        caption = f"{best} against the others, by {by}, with 95 % intervals of all together"
        return page + html_table(["against", "", "difference", "low", "high"], rows, caption)

    @property
    def _models(self) -> list[str]:
        return [model for model in self.measures if model != CHOSEN]

    @property
    def n_folds(self) -> int:
        """The number of test parts of a repetition."""
        return len(self.measures[self.baseline_][self.criterion]) // self.n_repeats

    @property
    def best_(self) -> str:
        """The model with the highest mean of the criterion; the average precision decides between equals."""
        measured = self.measures[self.baseline_]
        judges = [name for name in (self.criterion, AVERAGE_PRECISION) if name in measured]
        return max(self._models, key=lambda model: [self.mean(model, measure) for measure in judges])

    @property
    def baseline_(self) -> str:
        """The first model, the choice without the others."""
        return next(iter(self.measures))

    @property
    def runner_up_(self) -> str:
        """The model that the best is compared with: the baseline, or the next best where that is the best."""
        if self.best_ != self.baseline_ or not self.differences_:
            return self.baseline_
        return min(self.differences_, key=lambda model: self.differences_[model].mean)

    @property
    def differences_(self) -> dict[str, Difference]:
        """By how much the best model exceeds every other one by the criterion."""
        best = self.best_
        return {model: self.difference(best, model) for model in self.measures if model not in (best, CHOSEN)}

    @property
    def may_be_best_(self) -> list[str]:
        """The models that no other exceeds by more than chance, the simplest first.

        The model with the highest expected measure is among them in at least 95 % of samples (Hsu 1981).
        Intervals of differences promise more and are wider: one may hold zero for a model that is left out.
        """
        means = np.array([self.mean(model, self.criterion) for model in self._models])
        which = may_be_best(means, self.errors_of(self.criterion), self._quantiles()[1])
        return self._simplest_first(model for model, may in zip(self._models, which, strict=True) if may)

    @property
    def chosen_(self) -> str:
        """The model to take: the simplest that may be the best, or the best where ``choose`` says so."""
        return self.best_ if self.choose == "best" else self.may_be_best_[0]

    def standing(self, model: str) -> str:
        """Return whether a model may be the best, and whether it is the one to take, for a table."""
        if model == CHOSEN:
            return ""
        return "chosen" if model == self.chosen_ else "yes" if model in self.may_be_best_ else "no"

    @property
    def equivalent_(self) -> list[str]:
        """The best and those that it exceeds by less than ``indifference``, at 95 %, the simplest first."""
        near = (model for model, gap in self.differences_.items() if gap.high < self.indifference)
        return self._simplest_first([self.best_, *near])

    def _simplest_first(self, models: Iterable[str]) -> list[str]:
        return sorted(models, key=lambda model: (self.simplicity.get(model, 0), self._models.index(model)))

    @property
    def equals_(self) -> list[str]:
        """The other models that are exactly as good as the best by the criterion, on average."""
        return [model for model, gap in self.differences_.items() if abs(gap.mean) <= ROUNDING]

    @property
    def all_equal_(self) -> bool:
        """Whether all models are exactly as good by the criterion, so that the best is one of equals."""
        return len(self.equals_) == len(self.differences_) > 0

    @property
    def optimism_(self) -> Difference | None:
        """By how much the best model's mean exceeds that of the choice inside every training part."""
        return self.difference(self.best_, CHOSEN) if CHOSEN in self.measures else None

    @property
    def held_out_(self) -> dict[str, NDArray[np.float64]]:
        """One order of all rows for each model, the higher the better, by their ranks within their folds.

        With a budget by period it is by ranks within their periods, in budgets: first the rows looked at.
        """
        held_out, orders = self.folds >= 0, {}
        for model, scores in self.scores.items():
            ranks = None
            if isinstance(self.budget, Budget):
                ranks = np.full(len(scores), np.nan)
                periods = self.budget.periods(self.times)
                ranks[held_out] = -periods.depths(scores[held_out], self.budget.n, held_out)
            if model != CHOSEN:
                orders[model] = on_one_scale(scores, self.folds, ranks)
        return orders

    def of_held_out_rows(self) -> RankerComparison:
        """Return the comparison without the rows that no fold held out, such as the past of a time split."""
        held_out = self.folds >= 0
        scores = {model: values[held_out] for model, values in self.scores.items()}
        times = None if self.times is None else self.times[held_out]
        return replace(self, scores=scores, folds=self.folds[held_out], times=times)

    def mean(self, model: str, measure: str) -> float:
        """Return the mean of a model's measure over the folds, or of hits a period over the periods."""
        # Few periods, too, are averaged themselves: a mean over parts would be a second figure for one thing.
        by_period = self.by_period(measure, at_least=1)
        return float(np.mean(by_period.get(model, self.measures[model][measure])))

    def by_period(self, measure: str, at_least: int = MIN_PERIODS) -> dict[str, NDArray[np.float64]]:
        """Return hits or their weight by model in each period held out, of this many at least; else none."""
        days = self.days
        if days is None or len(days.sizes) < at_least:
            return {}
        return {HITS: days.hits, WEIGHT: days.values}.get(measure, {})

    def standard_error(self, model: str, measure: str) -> float:
        """Return the standard error of a model's mean, over rows and training sets."""
        if model == CHOSEN:
            return float(self._errors_among([model], measure).means[0])
        return float(self.errors_of(measure).means[self._models.index(model)])

    def interval(self, model: str, measure: str) -> tuple[float, float]:
        """Return the 95 % interval of the mean of a model's measure, NaN where nothing tells it."""
        if measure == HITS and self.days is not None:
            return self.days.means[model][:2]
        mean, error = self.mean(model, measure), self.standard_error(model, measure)
        if not error > 0.0:
            return np.nan, np.nan
        reach = float(t.ppf(0.5 + CONFIDENCE / 2.0, self.errors_of(measure).freedom)) * error
        return max(mean - reach, 0.0), min(mean + reach, self._largest_value(measure))

    def errors_of(self, measure: str) -> Errors:
        """Return the errors of a measure of all models, from the folds unless those of rows are known."""
        # The error of a difference that is the same in all of fewer than six folds is infinite.
        means = [self.mean(model, measure) for model in self._models]
        errors = self.errors.get(measure) or self._errors_among(self._models, measure)
        gaps = np.abs(np.subtract.outer(means, means))
        if self.n_folds < MIN_EQUAL_FOLDS and ((errors.differences == 0.0) & (gaps > ROUNDING)).any():
            known = (errors.differences > 0.0) | (gaps <= ROUNDING)
            return errors._replace(differences=np.where(known, errors.differences, np.inf))
        return errors

    def _errors_among(self, models: list[str], measure: str) -> Errors:
        """Return the errors of some models from periods or, where these do not tell, from the folds."""
        if by_period := self.by_period(measure):
            return Errors.by_periods(np.array([by_period[model] for model in models]))
        return Errors.by_folds(np.array([self.measures[model][measure] for model in models]), self.n_repeats)

    def _quantiles(self) -> tuple[float, NDArray[np.float64]]:
        # With a fixed seed the verdict is the same each time that it is asked for.
        return self.quantiles or quantiles(self.errors_of(self.criterion), CONFIDENCE, seed=0)

    def difference(self, model: str, other: str) -> Difference:
        """Return by how much a model exceeds another by the criterion, and whether that is beyond chance."""
        mean = self.mean(model, self.criterion) - self.mean(other, self.criterion)
        # The choice inside may be another model in each part: its errors come from the parts, not from rows.
        if CHOSEN in (model, other):
            errors = self._errors_among([model, other], self.criterion)
            (joint, _), (row, column) = quantiles(errors, CONFIDENCE, seed=0), (0, 1)
        else:
            errors, (joint, _) = self.errors_of(self.criterion), self._quantiles()
            row, column = self._models.index(model), self._models.index(other)
        error = float(errors.differences[row, column])
        reach = joint * error
        beyond = abs(mean) > max(reach, ROUNDING)
        # No difference exceeds the largest value of its measure.
        most = max(abs(mean), self._largest_value(self.criterion))
        return Difference(mean, error, max(mean - reach, -most), min(mean + reach, most), beyond)

    def _largest_value(self, measure: str) -> float:
        if measure == HITS and self.days is not None:
            return float(self.days.looked_at.mean())
        if measure == HITS and not isinstance(self.budget, Budget | None):
            return float(min(self.budget, self.n_positives or self.budget))
        return 1.0 if measure in (PRECISION, AVERAGE_PRECISION, AUC) else np.inf

    def name_of(self, measure: str) -> str:
        """Return a measure's name for readers, with the number of rows that it counts."""
        if measure == PRECISION and self.n_positives is not None:
            n_rows = max(1, round(self.n_positives / 4))
            return f"precision in {n_rows:,} row{'s' * (n_rows > 1)}"
        names, budget = {HITS: "hits", WEIGHT: "weight found"}, self.budget
        if measure not in names or budget is None:
            return measure
        each, n = (f" {budget.each}", budget.n) if isinstance(budget, Budget) else ("", budget)
        return f"{names[measure]}{each} in {n:,} row{'s' * (n != 1)}"

    def digits(self, measure: str) -> int:
        """Return how many decimals of a measure to show: 1 for counts of rows, 2 a period, else 3."""
        by_period = measure in (HITS, WEIGHT) and isinstance(self.budget, Budget)
        return 2 if by_period else 1 if measure in (POSITIVES_AT_TOP, HITS, WEIGHT) else 3

    def mean_and_error(self, model: str, measure: str) -> str:
        """Return the mean of a measure and its standard error, to two digits of it, such as ``88 ± 12``."""
        error = self.standard_error(model, measure)
        digits = decimals(error, self.digits(measure))
        return f"{self.mean(model, measure):.{digits}f} ± {error:.{digits}f}"

    def verdict(self) -> str:
        """Return which model to take, whether it is better by more than luck, and what to expect of it."""
        sentences = f"{_sentences(self)} {self.judged}".rstrip()
        if (days := self.days) is not None:
            few = f"So few {days.budget.several} tell little: intervals are from the test parts."
            caveat = days.caveat if len(days.sizes) >= MIN_PERIODS else few
            sentences += f" Parts are of whole {days.budget.several}, {len(days.sizes):,} in all. {caveat}"
        if self.optimism_ is not None:
            sentences += (
                f" Report {self.mean_and_error(CHOSEN, self.criterion)}, the figure of choosing inside every "
                "training part; the best line's own differs by "
                f"{self.optimism_.mean:+.{self.digits(self.criterion)}f}, part of which is the choice."
            )
        return sentences

    def to_frame(self) -> pd.DataFrame:
        """Return a row for every measure of every fold: ``model``, ``measure``, ``part`` and ``value``."""
        pd = import_optional("pandas", "io")
        rows = [
            (model, measure, part, float(value))
            for model, measures in self.measures.items()
            for measure, values in measures.items()
            for part, value in enumerate(values)
        ]
        return pd.DataFrame(rows, columns=["model", "measure", "part", "value"])

    def summary(self) -> dict[str, Any]:
        """Return the means, the differences and the verdict as a dict of plain values, for JSON.

        Its keys are ``best``, ``chosen``, ``may_be_best`` and ``equivalent`` (the simplest
        first), ``equally_good``, ``criterion``, ``verdict``, ``differences``, ``models``, with a budget by
        period ``days`` and, after a nested choice, ``optimism``.
        """
        summary: dict[str, object] = {
            "best": self.best_,
            "chosen": self.chosen_,
            "may_be_best": self.may_be_best_,
            "equivalent": self.equivalent_,
            "equally_good": self.equals_,
            "criterion": self.criterion,
            "verdict": self.verdict(),
            "differences": {
                model: {**gap._asdict(), "confidence": CONFIDENCE} for model, gap in self.differences_.items()
            },
            "models": {
                model: {
                    name: {"mean": self.mean(model, name), "standard_error": self.standard_error(model, name)}
                    for name in measures
                }
                for model, measures in self.measures.items()
            },
        }
        if self.days is not None:
            summary["days"] = self.days.summary()
        if (optimism := self.optimism_) is not None:
            summary["optimism"] = {"mean": optimism.mean, "standard_error": optimism.standard_error}
        return summary


def _sentences(comparison: RankerComparison) -> str:
    """Return in sentences by how much the best model exceeds the one to take, and why that is taken."""
    best, chosen, candidates = comparison.best_, comparison.chosen_, comparison.may_be_best_
    by, digits = comparison.name_of(comparison.criterion), comparison.digits(comparison.criterion)
    each = f"{comparison.mean(best, comparison.criterion):.{digits}f}"
    if not comparison.differences_:
        return f"{best} alone was measured, by {by}: {each}."
    against = ""
    if comparison.all_equal_:
        lead = f"No model is better at the top than another, by {by}: each has {each}."
    else:
        lead = _difference(comparison, best, comparison.runner_up_ if chosen == best else chosen)
        if len({best, chosen, comparison.baseline_}) == 3:
            gap = comparison.difference(chosen, comparison.baseline_)
            mean, low, high = (f"{value:+.{digits}f}" for value in gap[:1] + gap[2:4])
            against = f", {mean} against {comparison.baseline_} ({low} to {high})"
    simplest = f"the simplest of {len(candidates)} models that may be the best ({_named(candidates)})"
    if len(candidates) > 1:
        is_simplest = chosen == candidates[0]
        why = (
            f"it is {simplest}" if is_simplest else f"it has the highest mean. {candidates[0]} is {simplest}"
        )
    else:
        why = "with 95 % confidence no other model is better"
        # Intervals hold for all differences together, which the set of candidates does not.
        if not all(gap.more_than_chance for gap in comparison.differences_.values()):
            why += ". An interval may still include 0, since intervals are the stricter test"
    lead += f" Take {chosen}{against}: {why}."
    equal = comparison.equivalent_
    if len(equal) > 1:
        reach = max(comparison.differences_[model].high for model in equal if model != best)
        lead += (
            f" Equivalent: {_named(equal)}. The best has at most {max(reach, 0.0):.{digits}f} "
            f"more, which is less than your {comparison.indifference:g}."
        )
    return lead


def _difference(comparison: RankerComparison, model: str, other: str) -> str:
    """Return a sentence that says by how much a model exceeds another, and whether that may be luck."""
    gap, n_others = comparison.difference(model, other), len(comparison.differences_)
    is_hits = comparison.criterion == HITS
    by, digits = comparison.name_of(comparison.criterion), comparison.digits(comparison.criterion)
    size = f"{abs(gap.mean):.{digits}f}"
    if float(size) == 0.0:
        said = f"{model} and {other} " + (f"found the same number of {by}" if is_hits else f"have equal {by}")
    else:
        more = "more" if gap.mean > 0.0 else "fewer" if is_hits else "less"
        said = f"{model} {'found' if is_hits else 'has'} {size} {more} {by} than {other}"
        said += ", the next best" * (model == comparison.chosen_ and other != comparison.baseline_)
    if gap.high - gap.low <= ROUNDING or np.isinf(gap.standard_error):
        said += (
            " (the same in all test parts" + ", which are too few to tell" * bool(gap.standard_error) + ")"
        )
    else:
        said += f" (95 % interval {gap.low:+.{digits}f} to {gap.high:+.{digits}f}"
        said += f", of all {n_others} differences together)" if n_others > 1 else ")"
    if gap.more_than_chance:
        return f"{said}: more than luck explains."
    # Whether a model may be the best is another question, which a narrower interval answers.
    is_luck = float(size) != 0.0 and {model, other} <= {*comparison.may_be_best_}
    return f"{said}, but that may be luck." if is_luck else f"{said}."


def _named(models: list[str]) -> str:
    """Return names joined by "or"; of many the first ones."""
    # Names such as "P-Norm Push, p = 4" hold the comma that would separate them.
    comma = "; " if any("," in model for model in models) else ", "
    if len(models) <= MAX_NAMED:
        return f"{comma.join(models[:-1])} or {models[-1]}"
    return f"{comma.join(models[: MAX_NAMED - 1])}{comma}..."
