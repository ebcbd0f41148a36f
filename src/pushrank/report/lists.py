"""Rankings of the same labelled rows by several models: ranks, ties, and hits among the first rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pushrank import metrics
from pushrank._numeric import Floats


class TiedRanks(NamedTuple):
    """For every row, the first and the last rank of those that tie with it, from 1 at the top."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True)
class RankedLists:
    """Rankings, how many of their first rows count, and which two are shown side by side.

    Parameters
    ----------
    y : ndarray of bool, shape (n,)
        Which rows are hits.
    scores : dict of str to ndarray of shape (n,)
        For each model the scores of all rows, the higher the better.
    depth : int
        How many first rows models are judged by.
    best : str
        The model to show first.
    runner_up : str or None
        The model that the best is compared with, if there is another.
    """

    y: NDArray[np.bool_]
    scores: Mapping[str, Floats]
    depth: int
    best: str
    runner_up: str | None

    @property
    def pair(self) -> list[str]:
        """The best model and its runner-up, if it has one."""
        return [self.best] if self.runner_up is None else [self.best, self.runner_up]

    @property
    def names(self) -> list[str]:
        """The names of the models: the best, then the others in the order of the scores."""
        return list(dict.fromkeys([self.best, *self.scores]))

    @property
    def base_rate(self) -> float:
        """The share of hits among all rows."""
        return float(np.mean(self.y))

    def hits(self, model: str, depth: int | None = None) -> float:
        """Return how many of the first rows, by default as many as count, are hits; ties by expectation."""
        depth = depth or self.depth
        return float(depth * metrics.precision_at_k(self.y, self.scores[model], depth))

    def first_rows(self, model: str, count: int) -> NDArray[np.intp]:
        """Return the numbers of a model's first rows, best first; tied rows keep their order."""
        return np.argsort(-self.scores[model], kind="stable")[:count]

    @cached_property
    def _ranks(self) -> dict[str, TiedRanks]:
        return {
            model: TiedRanks(*(rankdata(-scores, method=m).astype(np.int64) for m in ("min", "max")))
            for model, scores in self.scores.items()
        }

    def ranks(self, model: str) -> TiedRanks:
        """Return the ranks of every row in a model's list."""
        return self._ranks[model]

    def tied_at(self, model: str, depth: int) -> int:
        """Return how many rows tie at the end of the first rows, some of them among these and some not."""
        first, last = self.ranks(model)
        return int(((first <= depth) & (depth < last)).sum())

    @property
    def is_cut_tied(self) -> bool:
        """Whether rows tie at the end of the first rows of the best list or its runner-up."""
        return any(self.tied_at(model, self.depth) for model in self.pair)

    def chances(self, model: str) -> NDArray[np.float64]:
        """Return every row's chance to be among the first rows, where tied rows come in a random order."""
        first, last = self.ranks(model)
        return np.clip((self.depth + 1.0 - first) / (last + 1.0 - first), 0.0, 1.0)
