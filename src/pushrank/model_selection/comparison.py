"""The results of a comparison of rankers: their measures on every fold, differences, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t

from pushrank._html import html_sentences, html_table, interval_pictures
from pushrank._optional import import_optional
from pushrank.model_selection._folds import on_one_scale

if TYPE_CHECKING:
    import pandas as pd

POSITIVES_AT_TOP = "positives at top"
HITS = "hits in budget"
PRECISION = "precision at 1/4"
AVERAGE_PRECISION = "average precision"
WEIGHT = "weight in budget"
CHOSEN = "best of the above, chosen inside"
CONFIDENCE = 0.95
# Measures are of the order of 1, with rounding errors of about 1e-15.
ROUNDING = 1e-9
# Equal differences in all folds have no spread for Student's t, so that a sign test stands in for it: the
# same sign in six folds has a two-sided probability below 5 %, 2 / 2^6.
MIN_EQUAL_FOLDS = 6


class Difference(NamedTuple):
    """By how much one model exceeds another over the folds, and whether that is more than chance.

    Parameters
    ----------
    mean : float
        The mean of the paired differences.
    standard_error : float
        Its standard error.
    low, high : float
        The ends of its interval, which holds at 95 % together with those of all other models compared.
    more_than_chance : bool or None
        Whether the interval leaves out zero; None where there are too few folds for an answer.

    Examples
    --------
    >>> Difference(0.1, 0.02, 0.05, 0.15, True).more_than_chance
    True
    """

    mean: float
    standard_error: float
    low: float
    high: float
    more_than_chance: bool | None


@dataclass
class RankerComparison:
    """The result of :func:`compare_rankers`: the measures of every model on every fold, and their verdict.

    Parameters
    ----------
    measures : dict of str to dict of str to ndarray of shape (n_folds * n_repeats,)
        For each model, its measures by name, one value a fold.
    criterion : str
        The measure that models are judged by.
    budget : int or None, default=None
        How many of all rows are acted on.
    n_repeats : int, default=1
        The number of repetitions of the cross-validation.
    n_positives : int or None, default=None
        How many of all rows are positive, for names of measures that state a number of rows.
    scores : dict of str to ndarray of shape (n_samples,)
        The score of every row by the fit of the first repetition that had not seen it.
    folds : ndarray of shape (n_samples,)
        The fold of the first repetition that held a row out, -1 for rows that were never held out.
    warnings : dict of str to list of str
        The warnings of the fits of each model.
    judged : str, default=""
        A sentence that says on which rows models are judged, such as later ones than those learnt from.

    Notes
    -----
    The standard error of a mean over the :math:`V` folds of :math:`R` repetitions is

    .. math:: \\hat\\sigma / \\sqrt V, \\qquad \\hat\\sigma^2 = \\frac 1R \\sum_r s_r^2,

    where :math:`s_r` is the standard deviation over the folds of a repetition.

    Examples
    --------
    >>> comparison = RankerComparison(
    ...     {"a": {"AUC": np.array([0.5, 0.6, 0.7])}, "b": {"AUC": np.array([0.7, 0.9, 0.8])}}, "AUC"
    ... )
    >>> comparison
    RankerComparison(2 models, 3 folds)
    No clear winner. Highest AUC: b, +0.200 against a, 95 % interval -0.048 to +0.448, which chance alone may
    explain.
    >>> comparison.summary()["best"]
    'b'
    """

    measures: dict[str, dict[str, NDArray[np.float64]]]
    criterion: str
    budget: int | None = None
    n_repeats: int = 1
    n_positives: int | None = None
    scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    folds: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    warnings: dict[str, list[str]] = field(default_factory=dict)
    judged: str = ""

    def __repr__(self) -> str:
        folds = f"{self.n_folds} folds" + f", {self.n_repeats} times" * (self.n_repeats > 1)
        return f"{type(self).__name__}({self._n_models} models, {folds})\n{self.verdict()}"

    def _repr_html_(self) -> str:
        """Return the verdict, the means of all measures, and the best model's differences as pictures."""
        best, by = self.best_, self.name_of(self.criterion)
        measures = sorted(self.measures[best], key=lambda name: name != self.criterion)
        shown = [[model, *(self.mean_and_error(model, name) for name in measures)] for model in self.measures]
        page = html_sentences(self.verdict()) + html_table(
            ["model", *map(self.name_of, measures)], shown, "Means over the test parts ± standard errors"
        )
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
    def _n_models(self) -> int:
        return len(self.measures) - (CHOSEN in self.measures)

    @property
    def n_folds(self) -> int:
        """The number of test parts of a repetition."""
        return len(self.measures[self.baseline_][self.criterion]) // self.n_repeats

    @property
    def best_(self) -> str:
        """The model with the highest mean of the criterion; the average precision decides between equals."""
        judges = [
            name for name in (self.criterion, AVERAGE_PRECISION) if name in self.measures[self.baseline_]
        ]
        models = (model for model in self.measures if model != CHOSEN)
        return max(models, key=lambda model: [self.mean(model, measure) for measure in judges])

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
    def equals_(self) -> list[str]:
        """The other models that are exactly as good as the best by the criterion, on average."""
        return [model for model, gap in self.differences_.items() if abs(gap.mean) <= ROUNDING]

    @property
    def none_is_better_(self) -> bool:
        """Whether all models are exactly as good by the criterion, so that the best is one of equals."""
        return len(self.equals_) == len(self.differences_) > 0

    @property
    def optimism_(self) -> Difference | None:
        """By how much the best model's mean exceeds that of the choice inside every training part."""
        return self.difference(self.best_, CHOSEN) if CHOSEN in self.measures else None

    @property
    def held_out_(self) -> dict[str, NDArray[np.float64]]:
        """One order of all rows for each model, the higher the better, by their ranks within their folds."""
        return {
            model: on_one_scale(scores, self.folds)
            for model, scores in self.scores.items()
            if model != CHOSEN
        }

    def of_held_out_rows(self) -> RankerComparison:
        """Return the comparison without the rows that no fold held out, such as the past of a time split."""
        held_out = self.folds >= 0
        scores = {model: values[held_out] for model, values in self.scores.items()}
        return replace(self, scores=scores, folds=self.folds[held_out])

    def mean(self, model: str, measure: str) -> float:
        """Return the mean of a model's measure over the folds."""
        return float(np.mean(self.measures[model][measure]))

    def standard_error(self, model: str, measure: str) -> float:
        """Return the standard error of a model's mean over the folds, that of one repetition."""
        return self._error_of_mean(self.measures[model][measure])

    def _error_of_mean(self, values: ArrayLike) -> float:
        # Repetitions measure the same rows again: they add no independent folds to the error.
        repetitions = np.reshape(values, (self.n_repeats, -1))
        variance = np.mean(np.var(repetitions, axis=1, ddof=1))
        return float(np.sqrt(variance) / np.sqrt(repetitions.shape[1]))

    def difference(self, model: str, other: str) -> Difference:
        """Return by how much a model exceeds another by the criterion, and whether that is beyond chance.

        The folds decide: their differences vary with the rows measured on and with those trained on, as they
        do for anybody who trains a model and uses it. A bootstrap of the rows would keep the fits fixed. An
        interval without zero is more than chance explains, and so is the same difference in at least six
        folds; with fewer there is no answer (None). Intervals allow for as many comparisons as there are
        other models.
        """
        gains = np.subtract(*(self.measures[name][self.criterion] for name in (model, other)))
        mean, error = float(np.mean(gains)), self._error_of_mean(gains)
        level = 1.0 - (1.0 - CONFIDENCE) / max(1, self._n_models - 1)
        reach = float(t.ppf(0.5 + level / 2.0, self.n_folds - 1)) * error
        beyond: bool | None = abs(mean) > max(reach, ROUNDING)
        if beyond and 2.0 * reach <= ROUNDING and self.n_folds < MIN_EQUAL_FOLDS:
            beyond = None
        return Difference(mean, error, mean - reach, mean + reach, beyond)

    def name_of(self, measure: str) -> str:
        """Return a measure's name for readers, with the number of rows that it counts."""
        if measure == PRECISION and self.n_positives is not None:
            n_rows = max(1, round(self.n_positives / 4))
            return f"precision in {n_rows:,} row{'s' * (n_rows > 1)}"
        names = {HITS: "hits", WEIGHT: "weight found"}
        return (
            f"{names[measure]} in {self.budget:,} row{'s' * (self.budget != 1)}"
            if measure in names
            else measure
        )

    def digits(self, measure: str) -> int:
        """Return how many decimals of a measure to show: 1 for counts of rows, else 3."""
        return 1 if measure in (POSITIVES_AT_TOP, HITS, WEIGHT) else 3

    def mean_and_error(self, model: str, measure: str) -> str:
        """Return the mean of a measure and its standard error as text, such as ``0.625 ± 0.125``."""
        digits = self.digits(measure)
        return f"{self.mean(model, measure):.{digits}f} ± {self.standard_error(model, measure):.{digits}f}"

    def verdict(self) -> str:
        """Return which model is best at the top, whether by more than chance, and what to expect of it."""
        verdict = f"{self._best_and_chance()} {self.judged}".rstrip()
        if self.optimism_ is not None:
            verdict += (
                f" Report {self.mean_and_error(CHOSEN, self.criterion)}, the figure of choosing inside every "
                "training part; the best line's own differs by "
                f"{self.optimism_.mean:+.{self.digits(self.criterion)}f}, part of which is the choice."
            )
        return verdict

    def _best_and_chance(self) -> str:
        best, other, by = self.best_, self.runner_up_, self.name_of(self.criterion)
        digits = self.digits(self.criterion)
        each = f"{self.mean(best, self.criterion):.{digits}f}"
        if best == other:
            return f"{best} alone was measured, by {by}: {each}."
        if self.none_is_better_:
            return f"No model is better at the top than another, by {by}: each has {each}."
        if other in self.equals_:
            return (
                f"No clear winner by {by}: {best} is no better than {other}; average precision decides "
                "between equals."
            )
        gain, _, low, high, beyond = self.difference(best, other)
        gap = f"{best}, {gain:+.{digits}f} against {other}" + ", the next best" * (other != self.baseline_)
        if high - low <= ROUNDING:
            gap += f", the same in each of {self.n_folds * self.n_repeats} test parts"
        else:
            gap += f", 95 % interval {low:+.{digits}f} to {high:+.{digits}f}"
            gap += f" (of all {self._n_models - 1} differences together)" * (self._n_models > 2)
        if beyond:
            return f"Best at the top, by {by}: {gap}: more than chance explains."
        gap = f"No clear winner. {'Most' if self.criterion == HITS else 'Highest'} {by}: {gap}"
        if beyond is None:
            return f"{gap}, too few to know what chance alone would do; take more folds."
        return f"{gap}, which chance alone may explain."

    def to_frame(self) -> pd.DataFrame:
        """Return a row for every measure of every fold: ``model``, ``measure``, ``part`` and ``value``."""
        pd = import_optional("pandas", "io")
        return pd.DataFrame(
            [
                {"model": model, "measure": measure, "part": part, "value": float(value)}
                for model, measures in self.measures.items()
                for measure, values in measures.items()
                for part, value in enumerate(values)
            ]
        )

    def summary(self) -> dict[str, Any]:
        """Return the means, the differences and the verdict as a dict of plain values, for JSON.

        Its keys are ``best``, ``equally_good``, ``criterion``, ``verdict``, ``differences``, ``models`` and,
        after a nested choice, ``optimism``.
        """
        summary = {
            "best": self.best_,
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
        if self.optimism_ is None:
            return summary
        mean, error, *_ = self.optimism_
        return {**summary, "optimism": {"mean": mean, "standard_error": error}}
