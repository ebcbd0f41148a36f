"""The objectives written out over all pairs: slow, plain, and independent of the package."""

from __future__ import annotations

import numpy as np

LOSSES = {
    "Exponential": lambda r: np.exp(-r),
    "Logistic": lambda r: np.log1p(np.exp(-r)),
    "Hinge": lambda r: np.maximum(0, 1 - r),
    "Sigmoid": lambda r: 1 / (1 + np.exp(r)),
    "SmoothedHinge": lambda r: np.log1p(np.exp(4 * (1 - r))) / 4,
    "SquaredHinge": lambda r: np.maximum(0, 1 - r) ** 2,
    "SquaredSigmoid": lambda r: 1 / (1 + np.exp(r)) ** 2,
    "ZeroOne": lambda r: (r <= 0).astype(float),
}


def price(name: str, p: float):
    """Return g as a function of a vector of inner sums and its weights, totalled."""
    totals = {
        "Identity": lambda h, w: w @ h,
        "Power": lambda h, w: w @ h**p,
        "ExponentialPrice": lambda h, w: w @ np.exp(h),
        "LogOnePlus": lambda h, w: w @ np.log1p(h),
        "Maximum": lambda h, w: h[w > 0].max(),
    }
    return totals[name]


def objective(y, scores, weights, loss: str, price_name: str, p: float, side: str, bottom_weight: float):
    """Return the raw objective."""
    y = np.asarray(y, dtype=bool)
    losses = LOSSES[loss](scores[y][:, None] - scores[~y][None, :])
    total = price(price_name, p)
    positive, negative = weights[y], weights[~y]
    push = total(positive @ losses, negative)
    pull = total(losses @ negative, positive)
    return {"push": push, "pull": pull, "both": push + bottom_weight * pull}[side]
