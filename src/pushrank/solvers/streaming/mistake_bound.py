"""The mistake bounds of Perceptron@k.

How many mistakes a perceptron can have made on a stream of batches.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015, theorems 7 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.solvers.streaming.updates import Rows, Stream, largest_squared_norm, total_loss

LENGTHS = 9
"""Lengths of the weights that are tried."""
FOR_LENGTH = 50
"""Batches that they are tried on."""


def mistake_bound(
    stream: Stream,
    surrogate: int,
    rows: Rows,
    unit_scores: Floats,
    orders: Callable[[int], Iterator[NDArray[np.intp]]],
    passes: int,
) -> float:
    r"""Return :math:`(\|w\| R \sqrt{4 k} + \sqrt{L(w)})^2` for about the best multiple w of some weights.

    Parameters
    ----------
    stream : Stream
        What has learned from the rows.
    surrogate : int
        The L that bounds its rule's mistakes, one of the rules of ``precision_kernels``.
    rows : Rows
        The rows.
    unit_scores : ndarray of shape (n_rows,)
        Their scores by the weights scaled to unit length.
    orders : callable
        Gives the orders in which a number of passes learned from the rows.
    passes : int
        The number of passes made.
    """

    def loss(scores: Floats, order: NDArray[np.intp]) -> float:
        """Return the sum of the surrogate over the batches of rows in an order."""
        size = min(stream.size, len(order))
        counts = stream.rule.k, stream.rule.counted
        return float(total_loss(scores, rows.positive, rows.mass, order, size, surrogate, *counts))

    most = stream.most_mistakes  # the bound by zero weights
    reach = _largest_norm(rows) * np.sqrt(4.0 * stream.largest_k)
    if reach == 0.0:
        return most
    # lengths whose part in the bound of a pass is the zero vector's loss, and shares of it
    lengths = np.sqrt(most / passes) / reach * 0.5 ** np.arange(LENGTHS)
    tried = next(orders(1))[: FOR_LENGTH * stream.size]
    weight = rows.n_rows / len(tried)
    of_a_pass = [length * reach + np.sqrt(weight * loss(length * unit_scores, tried)) for length in lengths]
    best = lengths[np.argmin(of_a_pass)]
    total = sum(loss(best * unit_scores, order) for order in orders(passes))
    return min(most, float((best * reach + np.sqrt(total)) ** 2))


def _largest_norm(rows: Rows) -> float:
    if isinstance(rows.X, np.ndarray):
        return float(np.sqrt(np.einsum("ij,ij->i", rows.X, rows.X, dtype=np.float64).max()))
    return float(np.sqrt(largest_squared_norm(rows.X.data, rows.X.indptr)))
