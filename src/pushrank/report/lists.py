"""Rankings of the same labelled rows by several models: ranks, ties, and hits among the first rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pushrank import metrics
from pushrank._base.user_types import Floats

MAX_TOP_ROWS = 50


class TiedRanks(NamedTuple):
    """For every row, the first and the last rank of those that tie with it, from 1 at the top."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True)
class RankedLists:
    """Rankings by the scores of models, which rows are hits, how many first rows count, and whom to name."""

    # The first model named is the one that the page is about, and the second is compared with it in tables.

    y: NDArray[np.bool_]
    scores: Mapping[str, Floats]
    depth: int
    named: Sequence[str]

    @property
    def main(self) -> str:
        """The model that the page is about."""
        return self.named[0]

    @property
    def pair(self) -> Sequence[str]:
        """The model that the page is about and the one that it is compared with, if any."""
        return self.named[:2]

    @property
    def names(self) -> list[str]:
        """The names of the models: those named, then the others in the order of the scores."""
        return list(dict.fromkeys([*self.named, *self.scores]))

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
    def ranks(self) -> dict[str, TiedRanks]:
        """The ranks of every row in each model's list."""
        return {
            model: TiedRanks(*(rankdata(-scores, method=m).astype(np.int64) for m in ("min", "max")))
            for model, scores in self.scores.items()
        }

    def tied_at(self, model: str, depth: int) -> int:
        """Return how many rows tie at the end of the first rows, some of them among these and some not."""
        first, last = self.ranks[model]
        return int(((first <= depth) & (depth < last)).sum())

    def chances(self, model: str) -> NDArray[np.float64]:
        """Return every row's chance to be among the first rows, where tied rows come in a random order."""
        first, last = self.ranks[model]
        return np.clip((self.depth + 1.0 - first) / (last + 1.0 - first), 0.0, 1.0)
