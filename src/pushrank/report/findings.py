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
from pushrank._log_space import Floats
from pushrank.metrics.ranks import Ranking

CONFIDENCE = 0.95
RESAMPLES = 2000


class Measured(NamedTuple):
    """A measure over the test parts of a cross-validation."""

    mean: float
    standard_error: float


class Difference(NamedTuple):
    """How many more hits the best model has among the first rows than another, with what chance explains.

    The interval covers, and the p-value errs, as promised for all models together (Bonferroni).
    """

    model: str
    difference: float
    low: float
    high: float
    p_value: float

    @property
    def is_real(self) -> bool:
        """Whether it is more than chance explains."""
        return self.low > 0.0 or self.high < 0.0


class Places(NamedTuple):
    """For every row, the first and the last place of those that tie with it, from 1 at the top."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True)
class Findings:
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
    chosen_inside : tuple of str and Measured, optional
        A measure, and its value where the model is chosen anew inside every training part.
    seed : int, default=0
        The seed of the resampling.
    equals : sequence of str, default=()
        The other models that are exactly as good as the best one by the measure it was chosen by.
    """

    title: str
    y: NDArray[np.bool_]
    held_out: Mapping[str, Floats]
    scores: Mapping[str, Floats]
    best: str
    baseline: str
    rival: str
    depth: int
    measures: Mapping[str, Mapping[str, Measured]]
    rows: pd.DataFrame
    settings: Mapping[str, str]
    meaning: str
    warnings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    chosen_inside: tuple[str, Measured] | None = None
    seed: int = 0
    equals: Sequence[str] = ()

    @property
    def none_is_better(self) -> bool:
        """Whether every other model is exactly as good as the best."""
        return set(self.equals) >= set(self.held_out) - {self.best}

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
    def differences(self) -> list[Difference]:
        """The best model against every other, most different first."""
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
                Difference(model, k * difference, k * low, k * high, min(1.0, p_value * len(others)))
            )
        return sorted(found, key=lambda difference: -difference.difference)

    @property
    def against_rival(self) -> Difference:
        """The difference that the verdict is about."""
        return next(difference for difference in self.differences if difference.model == self.rival)

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
