"""The results of a comparison of rankers: their measures on every fold, differences, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
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
from pushrank.metrics.periods import COMING, MIN_PERIODS
from pushrank.model_selection.errors import (
    AUC,
    AVERAGE_PRECISION,
    HITS,
    PRECISION,
    SCORERS,
    WEIGHT,
    Errors,
)
from pushrank.model_selection.folds import on_one_scale
from pushrank.model_selection.verdict import ROUNDING, may_be_best, quantiles

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CHOSEN", "CONFIDENCE", "POSITIVES_AT_TOP", "TOGETHER", "Difference", "RankerComparison"]

POSITIVES_AT_TOP = "positives at top"
CHOSEN = "best of the above, chosen inside"
TOGETHER = "ensemble"
CONFIDENCE = 0.95
# Measures are of the order of 1, with rounding errors of about 1e-15.
N_DIGITS = 9
# Equal differences in all folds have no spread for Student's t, so that a sign test stands in for it: the
# same sign in six folds has a two-sided probability below 5 %, 2 / 2^6.
MIN_EQUAL_FOLDS = 6
# A sentence names this many models; the table marks all of them.
MAX_NAMED = 4
Choice = Literal["most", "single", "simplest"]
CHOICES: tuple[Choice, ...] = ("most", "single", "simplest")
# The rank of an ensemble in ``simplicity``. It costs a fit of each member, and its reasons are sampled: it is
# not taken where this much more average precision can be ruled out.
MANY, LEAST_GAIN = 4, 0.01


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


class Expectation(NamedTuple):
    """What the chosen model is expected to reach by the criterion on as many rows to come.

    Parameters
    ----------
    mean : float
        The expected value.
    low, high : float
        The ends of an interval for the value on one list to come, at 95 %.

    Examples
    --------
    >>> Expectation(60.5, 48.0, 73.0).low
    48.0
    """

    mean: float
    low: float
    high: float


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
    in_use : dict of str to dict of str to ndarray
        Of an ensemble, the measures of every fold with weights from all folds, as it will have them.
    indifference : float, default=0.0
        Differences of the criterion below it make no difference to the user.
    choose : {"most", "single", "simplest"}, default="most"
        Which model to take: the one that is expected to find most, the best that is no ensemble, or the
        simplest that may be the best. See :meth:`taken`.
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
    Take b: it has the highest AUC on rows held out, 0.800. a, the simplest that may be the best, has 0.200
    less (95 % interval of the difference -0.193 to +0.593), which may be luck. Both may be the best: this
    file cannot tell them apart.
    >>> comparison.may_be_best_, comparison.chosen_, comparison.taken("simplest")
    (['a', 'b'], 'b', 'a')
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
    in_use: dict[str, dict[str, NDArray[np.float64]]] = field(default_factory=dict)
    indifference: float = 0.0
    choose: Choice = "most"
    times: GenericArray | None = None
    days: PeriodMeasurement | None = None
    estimators: dict[str, list[Estimator]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice("choose", self.choose, CHOICES)

    def __repr__(self) -> str:
        folds = f"{self.n_folds} folds" + f", {self.n_repeats} times" * (self.n_repeats > 1)
        return f"{type(self).__name__}({len(self._models)} models, {folds})\n{self.verdict()}"

    def _repr_html_(self) -> str:
        """Return the verdict, the means of all measures, and the chosen model's differences as pictures."""
        chosen, by = self.chosen_, self.name_of(self.criterion)
        measures = sorted(self.measures[chosen], key=lambda name: name != self.criterion)
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
        caption = f"{chosen} against the others, by {by}, with 95 % intervals of all together"
        return page + html_table(["against", "", "difference", "low", "high"], rows, caption)

    @property
    def _models(self) -> list[str]:
        return [model for model in self.measures if model != CHOSEN]

    @property
    def n_folds(self) -> int:
        """The number of test parts of a repetition."""
        return len(self.measures[self.baseline_][self.criterion]) // self.n_repeats

    @property
    def baseline_(self) -> str:
        """The first model, the choice without the others."""
        return next(iter(self.measures))

    @property
    def differences_(self) -> dict[str, Difference]:
        """By how much the chosen model exceeds every other one by the criterion."""
        chosen = self.chosen_
        others = (model for model in self._models if model != chosen)
        return {model: self.difference(chosen, model) for model in others}

    @cached_property
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
        """The model to take, by ``choose``."""
        return self.taken(self.choose)

    @property
    def expected_(self) -> Expectation:
        """What the chosen model is expected to reach by the criterion on as many rows to come.

        The best of several models shows more than it will reach: the mean of every part by the model that
        the other parts choose is expected of it. An ensemble shows less, since the weights of each part come
        from fewer rows: what it has with the weights of all is expected. The interval allows for the rows
        tested and for those to come. With a budget by period it is of the mean over the next 7 periods.
        """
        chosen, criterion = self.chosen_, self.criterion
        mean = self.mean(chosen, criterion)
        if chosen in self.in_use:
            mean += float(np.mean(self.in_use[chosen][criterion] - self.measures[chosen][criterion]))
        elif self.choose != "simplest" and not self._is_ensemble(chosen):
            mean += self._less_for_choosing(criterion)
        error, freedom = self.standard_error(chosen, criterion), self.errors_of(criterion).freedom
        # Hits of rows to come vary as draws do, other measures as much as the mean over the rows tested.
        of_rows = error
        if criterion == HITS and not isinstance(self.budget, Budget | None):
            of_rows = np.sqrt(max(mean * (1.0 - mean / self.budget), 0.0))
        below = above = float(t.ppf(0.5 + CONFIDENCE / 2.0, freedom)) * float(np.hypot(error, of_rows))
        if criterion == HITS and self.days is not None:
            low, high, of_days, _ = (number / COMING for number in self.days.coming()[chosen])
            below, above = of_days - low, high - of_days
        least, most = self._range(criterion)
        return Expectation(mean, max(mean - below, least), min(mean + above, most))

    @property
    def order_(self) -> str:
        """The measure by which a model is taken: average precision, or the criterion if it is your own."""
        by_average = (
            self.criterion in (HITS, PRECISION) and AVERAGE_PRECISION in self.measures[self.baseline_]
        )
        return AVERAGE_PRECISION if by_average else self.criterion

    def taken(self, choose: Choice) -> str:
        """Return the model that is taken of those that may be the best.

        ``"single"`` is the model, ensembles aside, that ranks hits highest over the whole list: that with the
        highest mean average precision, with a budget by period within periods, or of your own scorer. Few
        hits in a budget say less of what the next budget holds. ``"most"`` is an ensemble where .01 more
        average precision, or by your own scorer any gain, lies within the 95 % interval of its difference
        from ``"single"``: on 53 sets ensembles had .009 more in the mean, and few hits show no more than
        that. ``"simplest"`` is the simplest. Of equals the first is taken. See experiments/choice.
        """
        if choose == "simplest":
            return self.may_be_best_[0]
        single = max(self._singles, key=self._in_order)
        ensembles = [model for model in self.may_be_best_ if self._is_ensemble(model)]
        if choose == "single" or not ensembles or single in ensembles:
            return single
        ensemble = max(ensembles, key=self._in_order)
        errors, models = self.errors_of(self.order_), self._models
        error = errors.differences[models.index(single), models.index(ensemble)]
        most = self._in_order(ensemble) - self._in_order(single)
        if np.isfinite(error):
            most += float(t.ppf(0.5 + CONFIDENCE / 2.0, errors.freedom)) * error
        is_average = SCORERS.get(self.order_, self.order_) == AVERAGE_PRECISION
        return ensemble if most >= (LEAST_GAIN if is_average else 0.0) else single

    @cached_property
    def _singles(self) -> list[str]:
        """The models to take one of that is no ensemble, in their order."""
        of_one = [model for model in self._models if not self._is_ensemble(model)] or self._models
        return [model for model in of_one if model in self.may_be_best_] or of_one

    def _is_ensemble(self, model: str) -> bool:
        return self.simplicity.get(model, 0) >= MANY

    def _in_order(self, model: str) -> float:
        # Means that differ by rounding are equal.
        return round(self.mean(model, self.order_), N_DIGITS)

    def _less_for_choosing(self, measure: str) -> float:
        """Return the mean by the model that the other parts choose, less that by the one that all choose."""
        order, values = (
            np.array([self.measures[model][of] for model in self._singles]).reshape(
                -1, self.n_repeats, self.n_folds
            )
            for of in (self.order_, measure)
        )
        # The other parts are those of the same repetition: other repetitions hold the rows of this part.
        others = np.round(order.sum(axis=2, keepdims=True) - order, N_DIGITS).argmax(axis=0)
        best = max(range(len(order)), key=lambda number: self._in_order(self._singles[number]))
        return float(np.mean(np.take_along_axis(values, others[np.newaxis], axis=0) - values[best]))

    def standing(self, model: str) -> str:
        """Return whether a model may be the best, and whether it is the one to take, for a table."""
        if model == CHOSEN:
            return ""
        return "chosen" if model == self.chosen_ else "yes" if model in self.may_be_best_ else "no"

    @property
    def equivalent_(self) -> list[str]:
        """The chosen model and those that differ from it by less than ``indifference``, at 95 %."""
        near = (m for m, gap in self.differences_.items() if max(gap.high, -gap.low) < self.indifference)
        return self._simplest_first([self.chosen_, *near])

    def _simplest_first(self, models: Iterable[str]) -> list[str]:
        return sorted(models, key=lambda model: (self.simplicity.get(model, 0), self._models.index(model)))

    @property
    def optimism_(self) -> Difference | None:
        """By how much the chosen model's mean exceeds that of the choice inside every training part."""
        return self.difference(self.chosen_, CHOSEN) if CHOSEN in self.measures else None

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
        most = max(abs(mean), self._range(self.criterion)[1])
        return Difference(mean, error, max(mean - reach, -most), min(mean + reach, most), beyond)

    def _range(self, measure: str) -> tuple[float, float]:
        """Return the least and the largest value of a measure."""
        if measure == HITS and self.days is not None:
            return 0.0, float(self.days.looked_at.mean())
        if measure == HITS and not isinstance(self.budget, Budget | None):
            return 0.0, float(min(self.budget, self.n_positives or self.budget))
        # A loss of scikit-learn's scorers is negative; no measure here is.
        least = 0.0 if all(of[measure].min() >= 0.0 for of in self.measures.values()) else -np.inf
        return least, 1.0 if measure in (PRECISION, AVERAGE_PRECISION, AUC) else np.inf

    def name_of(self, measure: str) -> str:
        """Return a measure's name for readers, with the number of rows that it counts."""
        if measure == PRECISION and self.n_positives is not None:
            n_rows = max(1, round(self.n_positives / 4))
            return f"precision in {n_rows:,} row{'s' * (n_rows > 1)}"
        names, budget = {HITS: "hits", WEIGHT: "weight found"}, self.budget
        if measure == AVERAGE_PRECISION and isinstance(budget, Budget):
            return f"{measure} within {budget.several}"
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
            figure = self.mean_and_error(CHOSEN, self.criterion)
            inside = "the figure of choosing a single model inside every training part"
            if self._is_ensemble(self.chosen_):
                return f"{sentences} For a single model report {figure}, {inside}."
            sentences += (
                f" Report {figure}, {inside}; the chosen model's own differs by "
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

        Its keys are ``chosen``, ``choices`` (by ``choose``), ``expected``, ``may_be_best`` and
        ``equivalent`` (the simplest first), ``criterion``, ``verdict``, ``differences``, ``models``, with a
        budget by period ``days`` and, after a nested choice, ``optimism``. What is not known is None.
        """
        summary: dict[str, object] = {
            "chosen": self.chosen_,
            "choices": {choose: self.taken(choose) for choose in CHOICES},
            "expected": _known(self.expected_._asdict()),
            "may_be_best": self.may_be_best_,
            "equivalent": self.equivalent_,
            "criterion": self.criterion,
            "verdict": self.verdict(),
            "differences": {
                model: _known({**gap._asdict(), "confidence": CONFIDENCE})
                for model, gap in self.differences_.items()
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


def _known(figures: dict[str, Any]) -> dict[str, Any]:
    """Return figures with None in place of those that are not finite, which JSON does not have."""
    return {name: value if np.isfinite(value) else None for name, value in figures.items()}


def _sentences(comparison: RankerComparison) -> str:
    """Return in sentences which model to take, what it is expected to find, and how sure its lead is."""
    chosen, candidates = comparison.chosen_, comparison.may_be_best_
    by, digits = comparison.name_of(comparison.criterion), comparison.digits(comparison.criterion)
    mean = f"{comparison.mean(chosen, comparison.criterion):.{digits}f}"
    if len(comparison._models) == 1:
        return f"{chosen} alone was measured, by {by}: {mean}."
    if max(_spread(comparison, measure) for measure in (comparison.criterion, comparison.order_)) <= ROUNDING:
        return (
            f"No model is better at the top than another, by {by}: each has {mean}. Take {chosen}, the "
            f"{'simplest' if comparison.choose == 'simplest' else 'first'}."
        )
    said = [f"Take {chosen}: {_why(comparison)}."]
    if comparison.criterion in (HITS, PRECISION):
        found = f"It found {mean} {by}" if comparison.criterion == HITS else f"Its {by} is {mean}"
        expected, *ends = (f"{value:.{digits}f}" for value in comparison.expected_)
        is_known = np.isfinite(comparison.expected_).all() and ends[0] != ends[1]
        between = f" ({ends[0]} to {ends[1]})" * bool(is_known)
        days = comparison.days
        coming = "as many rows to come" if days is None else f"the next {COMING} {days.budget.several}"
        said.append(f"{found}; expect {expected}{between} in {coming}.")
    said += [_gap(comparison, other, role) for other, role in _not_taken(comparison).items()]
    n_models = len(comparison._models)
    if len(candidates) > 1:
        all_of = "Both" if n_models == 2 else f"All {n_models} models"
        which = all_of if len(candidates) == n_models else f"{len(candidates)} of {n_models} models"
        named = "" if len(candidates) == n_models else f" ({_named(candidates)})"
        said.append(f"{which} may be the best{named}{_positives_needed(comparison) or '.'}")
    if len(equal := comparison.equivalent_) > 1:
        said.append(
            f"Equivalent: {_named(equal)}, which differ by less than your {comparison.indifference:g}."
        )
    return " ".join(said)


def _spread(comparison: RankerComparison, measure: str) -> float:
    """Return by how much the means of a measure differ."""
    return float(np.ptp([comparison.mean(model, measure) for model in comparison._models]))


def _why(comparison: RankerComparison) -> str:
    """Return the reason for which the chosen model is taken."""
    chosen, candidates = comparison.chosen_, comparison.may_be_best_
    if comparison.choose == "simplest":
        if len(candidates) > 1:
            return f"this file cannot tell {len(candidates)} models apart, and it is the simplest of them"
        return "with 95 % confidence no other model is better"
    order, digits = comparison.order_, comparison.digits(comparison.order_)
    value, by = f"{comparison.mean(chosen, order):.{digits}f}", comparison.name_of(order)
    if chosen not in comparison._singles:
        single = comparison.taken("single")
        alone = f"{comparison.mean(single, order):.{digits}f}"
        return (
            "one list of several models mostly ranks hits higher than each of them, and may do so here "
            f"({by} {value} on rows held out; {single} {alone})"
        )
    alone = "of the models that are no ensemble " * (comparison.choose == "single")
    if comparison.order_ != AVERAGE_PRECISION:
        return f"{alone}it has the highest {by} on rows held out, {value}"
    budget = comparison.budget
    where = f"within {budget.several}" if isinstance(budget, Budget) else "over the whole list"
    return f"{alone}it ranks hits highest {where} (average precision {value} on rows held out)"


def _not_taken(comparison: RankerComparison) -> dict[str, str]:
    """Return the models that a reader may have taken instead, and what they are."""
    chosen, criterion = comparison.chosen_, comparison.criterion
    roles: dict[Choice, str] = {
        "most": "the choice by default",
        "single": "the best that is no ensemble",
        "simplest": "the simplest that may be the best",
    }
    others: dict[str, str] = {}
    for choose, role in roles.items():
        model = comparison.taken(choose)
        # The model of the default is said to be just that.
        if choose == "most" or model not in (chosen, comparison.taken("most")):
            others[model] = f"{others[model]} and {role}" if model in others else role
    others.setdefault(comparison.baseline_, "the baseline")
    by_criterion = sorted(comparison._models, key=lambda model: -comparison.mean(model, criterion))
    first = next(model for model in by_criterion if model != chosen)
    if comparison.mean(first, criterion) > comparison.mean(chosen, criterion) + ROUNDING:
        others.setdefault(first, "the first by this measure alone")
    elif chosen == comparison.baseline_:
        others.setdefault(first, "the next best")
    others.pop(chosen, None)
    return others


def _gap(comparison: RankerComparison, other: str, role: str) -> str:
    """Return a sentence that says how far another model is behind the chosen one, and if that may be luck."""
    gap = comparison.difference(comparison.chosen_, other)
    is_hits, digits = comparison.criterion == HITS, comparison.digits(comparison.criterion)
    by, size = comparison.name_of(comparison.criterion), f"{abs(gap.mean):.{digits}f}"
    if float(size) == 0.0:
        said = f"{other}, {role}, {'found as many' if is_hits else f'has the same {by}'}"
    else:
        more = "more" if gap.mean < 0.0 else "fewer" if is_hits else "less"
        said = f"{other}, {role}, {'found' if is_hits else 'has'} {size} {more}"
    if gap.high - gap.low <= ROUNDING or np.isinf(gap.standard_error):
        if abs(gap.mean) <= ROUNDING:
            return f"{said}."
        few = ", which are too few to tell" * bool(gap.standard_error)
        said += f" (the same difference in all test parts{few})"
    else:
        said += f" (95 % interval of the difference {gap.low:+.{digits}f} to {gap.high:+.{digits}f})"
    if gap.more_than_chance:
        return f"{said}: more than luck explains."
    # Whether a model may be the best is another question, which a narrower interval answers.
    is_luck = float(size) != 0.0 and {comparison.chosen_, other} <= {*comparison.may_be_best_}
    if other not in comparison.may_be_best_:
        return f"{said}: with 95 % confidence it is not the best."
    return f"{said}, which may be luck." if is_luck else f"{said}."


def _positives_needed(comparison: RankerComparison) -> str:
    """Return what of a file of these positives can be told where all models may be the best."""
    if len(comparison.may_be_best_) < len(comparison._models):
        return ""
    n_positives = comparison.n_positives
    of = "this file" if n_positives is None else f"{n_positives:,} positives"
    said = f": {of} cannot tell them apart."
    gap = comparison.difference(comparison.chosen_, comparison.taken("simplest"))
    # Errors fall with the square root of the rows. Of less than a hit, or by parts, this would say nothing.
    reach = gap.mean - gap.low
    by_rows = comparison.criterion == HITS and np.isinf(comparison.errors_of(HITS).freedom)
    if n_positives is None or gap.mean < 1.0 or not (by_rows and np.isfinite(reach)):
        return said
    needed = float(f"{n_positives * (reach / gap.mean) ** 2:.1g}")
    return f"{said} A lead of {gap.mean:.1f} hits takes some {needed:,.0f} positives to tell from luck."


def _named(models: list[str]) -> str:
    """Return names joined by "or"; of many the first ones."""
    # Names such as "P-Norm Push, p = 4" hold the comma that would separate them.
    comma = "; " if any("," in model for model in models) else ", "
    if len(models) <= MAX_NAMED:
        return f"{comma.join(models[:-1])} or {models[-1]}"
    return f"{comma.join(models[: MAX_NAMED - 1])}{comma}..."
