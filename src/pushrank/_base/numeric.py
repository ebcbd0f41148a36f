"""Functions of exponentials that neither overflow nor lose small terms.

SciPy and scikit-learn have general versions. These are the one-dimensional cases that every objective calls
in its inner loop, without the cost of their dispatch.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._base.user_types import Floats as Floats


def softmax_and_log_sum(exponents: Floats, out: Floats | None = None) -> tuple[Floats, float]:
    """Return ``e_i / sum(e)`` and ``ln sum(e)`` for ``e = exp(exponents)``."""
    # An empty or all `-inf` input has the logarithm `-inf` and a softmax of zeros. The softmax is written to
    # `out`, if that is not None; it may be `exponents` itself.
    largest = float(np.max(exponents)) if exponents.shape[0] else -np.inf
    if largest == -np.inf:
        return np.zeros_like(exponents), -np.inf
    if largest == np.inf:
        infinite = (exponents == np.inf).astype(exponents.dtype)
        return infinite / np.sum(infinite), np.inf
    # Relative to the largest, no exponential overflows and the sum is at least one.
    softmax = np.subtract(exponents, largest, out=out)
    # A user may have asked NumPy for errors, and terms that vanish next to the largest are none.
    with np.errstate(under="ignore"):
        np.exp(softmax, out=softmax)
    total = float(np.sum(softmax))
    softmax /= total
    return softmax, largest + float(np.log(total))


def softplus(x: Floats) -> Floats:
    """Return ``ln(1 + exp(x))`` without overflow."""
    softened: Floats = np.logaddexp(0.0, x)
    return softened


def sigmoid(x: Floats) -> Floats:
    """Return ``1 / (1 + exp(-x))`` without overflow."""
    # The exponential is at most one on either side of zero.
    small = np.exp(-np.abs(x))
    probabilities: Floats = np.where(x >= 0.0, 1.0, small) / (1.0 + small)
    return probabilities


def next_above(values: Any, scores: Floats) -> Floats:
    """Return for each value the least number above it, of the shortest floats that hold all scores.

    Scores are compared in their own type, beside whose spacing a step of float64 would be lost.
    """
    with np.errstate(over="ignore"):
        kinds = (kind for kind in (np.float16, np.float32) if (scores.astype(kind) == scores).all())
        kind: Any = next(kinds, np.float64)
    return np.asarray(np.nextafter(np.asarray(values, dtype=kind), kind(np.inf)), dtype=np.float64)


def in_dtype(values: NDArray[np.floating], dtype: Any) -> Any:
    """Return values in a type, or as they are where it has no such numbers, as float32 has no 1e-50."""
    sizes, kind = np.abs(values), np.finfo(dtype)
    fits = (sizes <= kind.max) & ((sizes >= kind.tiny) | (sizes == 0.0))
    return values.astype(dtype, copy=False) if fits.all() else values


def type_of_scores(coef: NDArray[np.floating]) -> Any:
    """Return the type of scores of coefficients: their own, or float64 where float32 may not hold scores."""
    largest = float(np.abs(coef).max(initial=0.0))
    return coef.dtype if largest == 0.0 or 1e-15 <= largest <= 1e15 else np.dtype(np.float64)
