"""Functions of exponentials that neither overflow nor lose small terms.

SciPy and scikit-learn have general versions. These are the one-dimensional cases that every objective calls
in its inner loop, without the cost of their dispatch, and for arrays of any library.
"""

import numpy as np

from pushrank._array import Floats as Floats
from pushrank._array import namespace


def softmax_and_log_sum(exponents: Floats, out: Floats | None = None) -> tuple[Floats, float]:
    """Return ``e_i / sum(e)`` and ``ln sum(e)`` for ``e = exp(exponents)``."""
    # An empty or all `-inf` input has the logarithm `-inf` and a softmax of zeros. The softmax is written to
    # `out`, if that is not None; it may be `exponents` itself.
    xp = namespace(exponents)
    largest = float(xp.max(exponents)) if exponents.shape[0] else -np.inf
    if largest == -np.inf:
        return xp.zeros_like(exponents), -np.inf
    if largest == np.inf:
        infinite = xp.astype(exponents == np.inf, exponents.dtype)
        return infinite / xp.sum(infinite), np.inf
    # Relative to the largest, no exponential overflows and the sum is at least one.
    if xp is np:
        softmax = np.subtract(exponents, largest, out=out)
        # A user may have asked NumPy for errors, and terms that vanish beside the largest are none.
        with np.errstate(under="ignore"):
            np.exp(softmax, out=softmax)
    else:
        softmax = xp.exp(exponents - largest)
    total = float(xp.sum(softmax))
    softmax /= total
    return softmax, largest + float(np.log(total))


def softplus(x: Floats) -> Floats:
    """Return ``ln(1 + exp(x))`` without overflow."""
    xp = namespace(x)
    softened: Floats = np.logaddexp(0.0, x) if xp is np else xp.logaddexp(xp.zeros_like(x), x)
    return softened


def sigmoid(x: Floats) -> Floats:
    """Return ``1 / (1 + exp(-x))`` without overflow."""
    xp = namespace(x)
    # The exponential is at most one on either side of zero.
    small = xp.exp(-xp.abs(x))
    one = 1.0 if xp is np else xp.ones_like(x)
    probabilities: Floats = xp.where(x >= 0.0, one, small) / (1.0 + small)
    return probabilities
