"""Shapley values by sampling: what each column adds to a score that is no sum over columns."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Seed

__all__ = ["n_compared"]

Integers = NDArray[np.intp]
Score = Callable[[Any], Floats]

BLOCK_CELLS = 1_000_000
"""So many cells are mixed of the rows and scored at once."""


class Walk(NamedTuple):
    """Orders of columns, in which the cells of one row take the places of those of another."""

    row: int
    other: int
    orders: Integers

    def mixed(self, n_columns: int) -> NDArray[np.bool_]:
        """Return which cells are of the row after each step but the last, by orders and steps."""
        n_orders, n_steps = self.orders.shape
        at = np.zeros((n_orders, n_columns), dtype=np.intp)
        np.put_along_axis(at, self.orders, np.arange(n_steps), axis=1)
        taken = at[:, np.newaxis] < np.arange(1, n_steps)[:, np.newaxis]
        return taken.reshape(n_orders * (n_steps - 1), n_columns)


def n_compared(n_columns: int) -> int:
    """Return how many other rows each row is compared with: fewer where columns make each of them dear."""
    return int(np.clip(2000 // max(1, n_columns), 20, 100))


def sampled_parts(score: Score, X: Any, over: Any, random_state: Seed) -> tuple[Floats, Floats]:
    """Return Shapley values of each row's columns, the base last, and their standard errors."""
    # Cells of a row take the places of those of another one by one, in a random order and then in its
    # reverse, since the two err in opposite directions. A column's value is the mean rise of the score with
    # its cell. In every order all columns raise the score by the difference of both rows': parts add up.
    rng = check_random_state(random_state)
    n_rows, n_columns = X.shape
    n_others = min(_num_samples(over), n_compared(n_columns))
    if n_others < _num_samples(over):
        over = _safe_indexing(over, np.sort(rng.choice(_num_samples(over), n_others, replace=False)))
    # Six orders for each other row, or more where these are few, tell how far their mean may be off.
    n_orders = -(-6 * n_compared(n_columns) // n_others)
    both = stacked(X, over)
    codes, scores = comparable(both), score(both)
    parts, variances = np.zeros((2, n_rows, n_columns + 1))

    def walks() -> Iterator[Walk]:
        for row, other in product(range(n_rows), range(n_rows, n_rows + n_others)):
            # Gaps of both rows are equal, though they are not as numbers.
            are_gaps = (codes[row] != codes[row]) & (codes[other] != codes[other])
            if len(changed := np.flatnonzero((codes[row] != codes[other]) & ~are_gaps)):
                yield Walk(row, other, changed[rng.random_sample((n_orders, len(changed))).argsort(axis=1)])

    for block in blocks(walks(), lambda walk: 2 * walk.orders.size * n_columns):
        masks = [walk.mixed(n_columns) for walk in block]
        # After this many steps of the reverse order the other cells are the row's.
        numbers = [
            np.concatenate([np.where(mask, walk.row, walk.other), np.where(mask, walk.other, walk.row)])
            for walk, mask in zip(block, masks, strict=True)
        ]
        found = np.split(taken(both, np.concatenate(numbers), score), np.cumsum([*map(len, numbers)])[:-1])
        for (row, other, orders), of_mixed in zip(block, found, strict=True):
            forward, backward = of_mixed.reshape(2, n_orders, orders.shape[1] - 1)
            whole = np.full((n_orders, 1), scores[row] - scores[other])
            rises = np.zeros((n_orders, n_columns))
            steps = np.diff(np.hstack([-whole, forward - backward, whole]), axis=1) / 2.0
            np.put_along_axis(rises, orders, steps, axis=1)
            parts[row, :-1] += rises.mean(axis=0) / n_others
            variances[row, :-1] += rises.var(axis=0, ddof=1) / n_orders / n_others**2
    parts[:, -1] = scores[n_rows:].mean()
    return parts, np.sqrt(variances)


def blocks(items: Iterator[Any], cells: Callable[[Any], int]) -> Iterator[list[Any]]:
    """Yield items together until they have as many cells as fit into memory."""
    block: list[Any] = []
    n_cells = 0
    for item in items:
        block.append(item)
        n_cells += cells(item)
        if n_cells >= BLOCK_CELLS:
            yield block
            block, n_cells = [], 0
    if block:
        yield block


def stacked(X: Any, over: Any) -> Any:
    """Return rows above others, as a frame, an array or a sparse matrix whose cells can be taken."""
    if hasattr(X, "iloc"):
        from pandas import concat

        return concat([X, over], ignore_index=True)
    return sp.vstack([X, over], format="csr") if sp.issparse(X) else np.concatenate([X, over])


def comparable(rows: Any) -> NDArray[Any]:
    """Return an array whose cells are equal where those of rows are."""
    if hasattr(rows, "iloc"):
        return np.column_stack([rows.iloc[:, at].factorize()[0] for at in range(rows.shape[1])])
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows)


def taken(rows: Any, numbers: Integers, score: Score) -> Floats:
    """Return the scores of mixed rows: ``numbers`` say for each of their cells which row it is of."""
    columns = range(rows.shape[1])
    # Rows that differ in one column have no steps between.
    if not len(numbers):
        return np.empty(0)
    if not hasattr(rows, "iloc"):
        return score(rows[numbers, np.array(columns)])
    # Frames are made of whole columns, which keep their types.
    cells = [rows.iloc[:, at].take(numbers[:, at]).reset_index(drop=True) for at in columns]
    from pandas import concat

    return score(concat(cells, axis=1))
