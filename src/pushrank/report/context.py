"""What a report is made of: rankings of the same rows by models that had not seen them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from pushrank import metrics
from pushrank._numeric import Floats
from pushrank.metrics._ranking import Ranking

CONFIDENCE = 0.95
RESAMPLES = 2000


class Measured(NamedTuple):
    """A measure over the test parts of a cross-validation."""

    mean: float
    standard_error: float


class Difference(NamedTuple):
    """By how much one model exceeds another over the test parts, and whether that is more than chance.

    ``more_than_chance`` is None where the test parts are too few to tell.
    """

    mean: float
    standard_error: float
    low: float
    high: float
    more_than_chance: bool | None


class ListDifference(NamedTuple):
    """How many more hits one list has among its first rows than another, were other rows drawn.

    The interval covers, and the p-value errs, as promised for all models together (Bonferroni). The lists are
    taken as they are: how much the models would change with their training data, neither knows.
    """

    model: str
    difference: float
    low: float
    high: float
    p_value: float


class Places(NamedTuple):
    """For every row, the first and the last place of those that tie with it, from 1 at the top."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True)
class ReportData:
    """A comparison of models, and all that a report shows of it.

    Parameters
    ----------
    title : str
        What was ranked, such as the name of the file.
    y : ndarray of bool, shape (n,)
        Which rows are hits.
    held_out : dict of str to ndarray of shape (n,)
        For each model, its order of all rows, the higher the better, from fits that had not seen them.
    scores : dict of str to ndarray of shape (n,)
        For each model, the scores that those fits gave, as they are.
    best : str
        The model to show first.
    baseline : str
        The model that users would take without this library.
    rival : str
        The model to hold the best one against: the baseline, or the next best where it is the best.
    depth : int
        How many first rows models are judged by.
    verdict : str
        Which model is best at the top, and whether the difference is more than chance.
    criterion : str
        The measure that says so, one of those below.
    differences : dict of str to Difference
        By how much the best model exceeds every other one by the criterion.
    measures : dict of str to dict of str to Measured
        For each model, its measures; models without scores are shown here alone.
    rows : DataFrame of n rows
        The columns to show of the top rows.
    settings : dict of str to str
        What was done, in the order to show it.
    meaning : str
        What a hit is, such as ``"fraud = 1"``.
    warnings : dict of str to sequence of str
        What the fits of each model warned of.
    seed : int, default=0
        The seed of the resampling.
    none_is_better : bool, default=False
        Whether all models are exactly as good by the criterion, so that none is called the best.
    """

    title: str
    y: NDArray[np.bool_]
    held_out: Mapping[str, Floats]
    scores: Mapping[str, Floats]
    best: str
    baseline: str
    rival: str
    depth: int
    verdict: str
    criterion: str
    differences: Mapping[str, Difference]
    measures: Mapping[str, Mapping[str, Measured]]
    rows: pd.DataFrame
    settings: Mapping[str, str]
    meaning: str
    warnings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seed: int = 0
    none_is_better: bool = False

    @property
    def models(self) -> list[str]:
        """The models: the best, the baseline, then the others as they came."""
        first = [self.best, self.baseline]
        return list(dict.fromkeys([*first, *self.held_out]))

    @property
    def base_rate(self) -> float:
        """The share of hits among all rows."""
        return float(np.mean(self.y))

    @cached_property
    def _hits(self) -> dict[str, float]:
        return {
            model: self.depth * metrics.precision_at_k(self.y, scores, self.depth, ties="half")
            for model, scores in self.held_out.items()
        }

    def hits(self, model: str) -> float:
        """Return how many of the first rows are hits; ties count by their expectation."""
        return self._hits[model]

    @cached_property
    def list_differences(self) -> list[ListDifference]:
        """The best model's list against every other."""
        others = [model for model in self.models if model != self.best]
        measure = partial(metrics.precision_at_k, k=self.depth, ties="half")
        found = []
        for model in others:
            low, high, difference, p_value = metrics.compare(
                self.y,
                self.held_out[self.best],
                self.held_out[model],
                measure,
                confidence_level=1.0 - (1.0 - CONFIDENCE) / len(others),
                n_resamples=RESAMPLES,
                random_state=self.seed,
            )
            k = self.depth
            found.append(
                ListDifference(model, k * difference, k * low, k * high, min(1.0, p_value * len(others)))
            )
        return found

    @cached_property
    def _orders(self) -> dict[str, NDArray[np.intp]]:
        return {
            model: np.argsort(-Ranking(self.y, scores).scores, kind="stable")
            for model, scores in self.held_out.items()
        }

    def first_rows(self, model: str, count: int) -> NDArray[np.intp]:
        """Return the numbers of a model's first rows, best first; tied rows keep their order."""
        return self._orders[model][:count]

    @cached_property
    def _places(self) -> dict[str, Places]:
        return {model: _places(-Ranking(self.y, scores).scores) for model, scores in self.held_out.items()}

    def places(self, model: str) -> Places:
        """Return the places of every row in a model's list."""
        return self._places[model]

    def tied_at(self, model: str, depth: int) -> int:
        """Return how many rows tie where a list is cut, some within its first rows and some beyond."""
        first, last = self.places(model)
        return int(((first <= depth) & (depth < last)).sum())

    def chances(self, model: str) -> NDArray[np.float64]:
        """Return every row's chance to be among the first rows, where tied rows come in a random order."""
        first, last = self.places(model)
        return np.clip((self.depth + 1.0 - first) / (last + 1.0 - first), 0.0, 1.0)


def _places(descending: Floats) -> Places:
    first, last = (rankdata(descending, method=method).astype(np.int64) for method in ("min", "max"))
    return Places(first, last)
