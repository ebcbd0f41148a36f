"""Models under the same cross-validation, and which of them is best at the top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, t
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold

from pushrank import IRPush, PNormPush, PushBoost, metrics
from pushrank.cli.design import Design
from pushrank.cli.models import fit_quietly
from pushrank.report import Difference

BASELINE = "logistic regression"
HITS = "hits in budget"
CRITERION = "precision at 1/4"
CONFIDENCE = 0.95
ROUNDING = 1e-9
"""Differences of means below this are errors of rounding."""
ENOUGH_EQUAL_FOLDS = 6
"""With as many, one sign in all of them has a two-sided probability below 5 %: 2 / 2^6."""
CHOSEN = "best of the above, chosen inside"


def contestants(ps: list[float], *, sparse: bool = False) -> dict[str, BaseEstimator]:
    """Return the models of a comparison by name; boosted stumps where the data are not sparse."""
    linear = {
        BASELINE: LogisticRegression(max_iter=1000),
        "RankBoost (p = 1)": PNormPush(p=1.0),
        **{f"P-Norm Push, p = {p:g}": PNormPush(p=p) for p in ps},
        "IR Push": IRPush(),
    }
    stumps = PushBoost(p=16.0, n_estimators=100)
    return linear if sparse else {**linear, "boosted stumps, p = 16": stumps}


@dataclass
class Comparison:
    """The measures of every model on every test part, and its scores of all rows when held out.

    Scores are those of the first repetition: one for each row, by a fit to the parts that it is not in.
    """

    budget: int | None
    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    warned: dict[str, list[str]] = field(default_factory=dict)
    scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    parts: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    repeats: int = 1

    @property
    def criterion(self) -> str:
        """The measure by which models are called better."""
        return CRITERION if self.budget is None else HITS

    def name_of(self, measure: str) -> str:
        """Return a measure's name, with the budget where hits are counted in one."""
        return f"hits in {self.budget:,} rows" if measure == HITS else measure

    @property
    def n_parts(self) -> int:
        """The number of test parts."""
        return len(next(iter(self.values.values()))[self.criterion])

    def mean(self, model: str, measure: str) -> float:
        """Return the mean over the test parts."""
        return float(np.mean(self.values[model][measure]))

    def standard_error(self, model: str, measure: str) -> float:
        """Return the standard error of the mean over the test parts."""
        return self._error_of_mean(self.values[model][measure])

    def _error_of_mean(self, values: ArrayLike) -> float:
        """Return a standard error, as if the test parts of a repetition were independent.

        Those of several are not, for they hold the same rows: repetitions steady the mean, and the error
        stays that of one. Else any two models would differ beyond chance after enough of them.
        """
        of_repetitions = np.reshape(values, (self.repeats, -1))
        variance = np.mean(np.var(of_repetitions, axis=1, ddof=1))
        return float(np.sqrt(variance) / np.sqrt(of_repetitions.shape[1]))

    def best(self) -> str:
        """Return the model that is best at the top; average precision decides between equals."""
        return max(
            (model for model in self.values if model != CHOSEN),
            key=lambda model: (
                self.mean(model, self.criterion),
                self.mean(model, "average precision"),
            ),
        )

    def equals(self) -> list[str]:
        """Return the other models that are exactly as good as the best by the criterion, on average."""
        return [model for model, found in self.differences().items() if abs(found.mean) <= ROUNDING]

    @property
    def none_is_better(self) -> bool:
        """Whether all models are exactly as good by the criterion, so that the best is one of equals."""
        return len(self.equals()) == len(self.differences())

    def rival(self) -> str:
        """Return the model to hold the best against: the baseline, or the next best where it is the best."""
        if self.best() != BASELINE:
            return BASELINE
        differences = self.differences()
        return min(differences, key=lambda model: differences[model].mean)

    @property
    def optimism(self) -> tuple[float, float] | None:
        """How much the best model's mean exceeds that of a choice inside, and the error of that difference.

        None where nothing was chosen inside.
        """
        return self.difference(self.best(), CHOSEN)[:2] if CHOSEN in self.values else None

    def differences(self) -> dict[str, Difference]:
        """Return by how much the best model exceeds every other one by the criterion."""
        best = self.best()
        return {model: self.difference(best, model) for model in self.values if model not in (best, CHOSEN)}

    def difference(self, model: str, other: str) -> Difference:
        """Return the mean paired difference in the criterion, its interval, and whether it is beyond chance.

        This is the one place where that is decided, for the table, the JSON and the report. The test parts
        decide: their differences vary with the rows measured on and with those trained on, as they would for
        whoever trains a model and uses it. A bootstrap of the rows would hold the fits as they are.

        The interval is Student's t's; the fewer the folds, the wider. Beyond chance is one without zero, or
        one and the same difference in many folds; in few, who knows (None).
        """
        of_model, of_other = (np.array(self.values[name][self.criterion]) for name in (model, other))
        mean, error = float(np.mean(of_model - of_other)), self._error_of_mean(of_model - of_other)
        folds = self.n_parts // self.repeats
        reach = float(t.ppf(0.5 + CONFIDENCE / 2.0, folds - 1)) * error
        beyond: bool | None = abs(mean) > max(reach, ROUNDING)
        if beyond and 2.0 * reach <= ROUNDING and folds < ENOUGH_EQUAL_FOLDS:
            beyond = None
        return Difference(mean, error, mean - reach, mean + reach, beyond)


def compare_models(
    X: Any,
    y: NDArray[np.bool_],
    make_pipeline: Callable[[BaseEstimator], BaseEstimator],
    models: dict[str, BaseEstimator],
    design: Design,
    progress: Callable[[], None],
) -> Comparison:
    """Fit and measure every model on every split; all models see the same ones.

    Hits in a budget of N rows are the share of the acted-on rows of a test part that are positive, times N.
    """
    comparison = Comparison(design.budget, parts=np.empty(len(y), dtype=np.intp), repeats=design.repeats)
    splits = RepeatedStratifiedKFold(
        n_splits=design.folds, n_repeats=design.repeats, random_state=design.seed
    )
    for part, (train, test) in enumerate(splits.split(np.zeros(len(y)), y)):
        in_first_repetition = part < design.folds
        if in_first_repetition:
            comparison.parts[test] = part
        for name, model in models.items():
            pipeline = make_pipeline(clone(model))
            warned = fit_quietly(pipeline, _rows(X, train), y[train])
            comparison.warned.setdefault(name, []).extend(warned)
            scores = np.asarray(pipeline.decision_function(_rows(X, test)), dtype=np.float64)
            if in_first_repetition:
                comparison.scores.setdefault(name, np.empty(len(y)))[test] = scores
            for measure, value in _measures(y[test], scores, len(y), design.budget).items():
                comparison.values.setdefault(name, {}).setdefault(measure, []).append(value)
            progress()
    return comparison


def share_of_hits(y: NDArray[np.bool_], scores: NDArray[np.floating], acted_on: int | None) -> float:
    """Return the share of hits among the first rows, a quarter as many as positives where no number is given.

    This is what models are judged by; tied rows count by the expectation over their orders.
    """
    return float(metrics.precision_at_k(y, scores, 0.25 if acted_on is None else acted_on, ties="half"))


def part_of_budget(budget: int, n_part: int, n_rows: int) -> int:
    """Return how many of a part's rows a budget for all rows stands for: in proportion, at least one."""
    return max(1, round(budget * n_part / n_rows))


def on_one_scale(scores: NDArray[np.float64], parts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return one order of all rows, the higher the better, from scores of fits that differ between parts.

    Scores of different fits are not on one scale. A row's place within its own part is, as the parts are
    drawn alike; equal places go to the row farther above its part's mean, in standard deviations. Rows that
    tie within a part stay tied.

    Examples
    --------
    >>> on_one_scale(np.array([1.0, 2.0, 3.0, 10.0, 90.0, 20.0]), np.array([0, 0, 0, 1, 1, 1])).tolist()
    [0.0, 3.0, 4.0, 1.0, 5.0, 2.0]
    """
    place, deviation = np.empty((2, len(scores)))
    for part in np.unique(parts):
        within = parts == part
        own = scores[within]
        place[within] = (rankdata(own) - 0.5) / len(own)
        # the mean of equal scores may be off by rounding, which must not part them
        spread = own.std() if np.ptp(own) > 0.0 else np.inf
        # rounded, so that rows that are equally far above tie whatever the units of their scores
        deviation[within] = np.round((own - own.mean()) / spread, 9)
    _, order = np.unique(np.stack([place, deviation], axis=1), axis=0, return_inverse=True)
    return order.ravel().astype(np.float64)


def _measures(
    y: NDArray[np.bool_], scores: NDArray[np.float64], n_rows: int, budget: int | None
) -> dict[str, float]:
    found = metrics.top_of_list(y, scores)
    measures = {
        "positives at top": found["positives_at_top"],
        CRITERION: share_of_hits(y, scores, None),
        "average precision": found["average_precision"],
        "AUC": found["auc"],
    }
    if budget is not None:
        measures[HITS] = budget * share_of_hits(y, scores, part_of_budget(budget, len(y), n_rows))
    return measures


def _rows(X: Any, rows: NDArray[np.intp]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
