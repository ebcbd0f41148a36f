"""The rows that a round of boosting sees, drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pushrank.estimators._target import Target
from pushrank.pairs import BipartiteSample, CrucialSample
from pushrank.solvers.boosting import Draw


def row_drawer(target: Target, share: float) -> Draw:
    """Return a function that draws a share of the rows for a round, without replacement.

    Of two classes or grades it draws the share of each, of query groups whole groups, and of explicit pairs
    the rows at random; at least two of what it draws from, and again where no pair is left.
    """
    codes, groups = target.codes, target.groups
    if isinstance(target.sample, CrucialSample):
        units = np.arange(target.sample.n_rows)
        strata = np.zeros(len(units), dtype=np.intp)
    elif groups is not None:
        units, strata = groups, np.zeros(int(groups.max()) + 1, dtype=np.intp)
    else:
        units = np.arange(target.sample.n_rows)
        strata = np.asarray(codes, dtype=np.intp)
    counts = np.bincount(strata)
    sure = isinstance(target.sample, BipartiteSample) and target.weights is None
    takes_part = np.zeros(target.sample.n_rows, dtype=bool)
    takes_part[target.sample.positives] = takes_part[target.sample.negatives] = True

    def draw(random_state: np.random.RandomState) -> NDArray[np.bool_]:
        for _ in range(100):
            order = random_state.permutation(len(strata))
            kept = np.zeros(len(strata), dtype=bool)
            for stratum, count in enumerate(counts):
                members = order[strata[order] == stratum]
                kept[members[: max(1, round(share * count))]] = True
            rows = kept[units]
            if sure or _has_pair(target, rows & takes_part):
                return rows
        raise ValueError(
            f"subsample={share} left no pair to rank in 100 draws; raise it, there are too few rows."
        )

    return draw


def _has_pair(target: Target, rows: NDArray[np.bool_]) -> bool:
    try:
        target.sample.restricted(rows)
    except ValueError:
        return False
    return True
