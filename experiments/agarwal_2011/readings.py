"""Figure 2 of Rudin (JMLR 2009), written from the paper, and the readings of it that are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.base import BaseEstimator

ROUNDS = 100
LONGEST = 1e12  # in units of a feature's range: what is further is taken as infinite
Values = Any


def same(p: float) -> float:
    """Return p."""
    return p


def one(_: float) -> float:
    """Return the power by which d~ is d."""
    return 1.0


class Reading(NamedTuple):
    """A reading of figure 2: what a round chooses by, what its step solves, and in which units features are.

    ``chosen_by`` and ``step_from`` are the powers of the negatives' weights, of d~ (p), d (1) or another;
    ``step_power`` is the p of equation (1). ``infinite`` is the step where no pair is against a feature.
    """

    chosen_by: Callable[[float], float] = same
    step_from: Callable[[float], float] = same
    step_power: Callable[[float], float] = same
    signed: bool = False
    units: str = "training rows"
    infinite: float | None = None
    capped: bool = False
    rounds: int = ROUNDS
    dtype: type = np.float64
    step: Callable[[float], float] | None = None


@dataclass(eq=False, repr=False)
class Figure2(BaseEstimator):
    """The P-Norm Push on features, by figure 2 in one of its readings."""

    p: float = 4.0
    reading: Reading = field(default_factory=Reading)

    def fit(self, X: Values, y: Values) -> Figure2:
        """Run the rounds."""
        self.coef_ = weights(X, y, self.p, self.reading)
        return self

    def decision_function(self, X: Values) -> Values:
        """Return the scores of rows."""
        return X @ self.coef_


def weights(X: Values, y: Values, p: float, reading: Reading) -> Values:
    """Return the weights of the features after the rounds."""
    ranges = np.ptp(X, axis=0) if reading.units == "training rows" else np.ones(X.shape[1])
    units = np.divide(1.0, ranges, out=np.zeros_like(ranges), where=ranges > 0)
    positives, negatives = ((X[y == label] * units).astype(reading.dtype) for label in (1, 0))
    longest = np.log1p(len(positives) * len(negatives)) / (p + 1)
    total = np.zeros(X.shape[1], dtype=reading.dtype)
    for _ in range(reading.rounds):
        s, t = positives @ total, negatives @ total
        edges = softmax(-s) @ positives - softmax(reading.chosen_by(p) * t) @ negatives
        j = int(np.argmax(edges if reading.signed else np.abs(edges)))
        u, v = positives[:, j], negatives[:, j]
        if reading.step is not None:
            total[j] += reading.step(float(edges[j]))
            continue
        step = root(s, reading.step_from(p) * t, u, v, reading.step_power(p))
        if step is None:
            step = np.sign(edges[j]) * (longest if reading.infinite is None else reading.infinite)
        total[j] += np.clip(step, -longest, longest) if reading.capped else step
    return total * units


def root(s: Values, exponents: Values, u: Values, v: Values, power: float) -> float | None:
    """Return the zero of the slope of ln sum e^(-s - a u) + ln sum e^(exponents + p a v) / p, p the power."""

    def slope(step: float) -> float:
        return float(softmax(exponents + power * step * v) @ v - softmax(-s - step * u) @ u)

    sign, length = -1.0 if slope(0.0) > 0 else 1.0, 1.0
    if np.min(sign * u) >= np.max(sign * v):
        return None
    while sign * slope(sign * length) < 0:
        length *= 2.0
        if length > LONGEST:
            return None
    return sign * float(brentq(lambda step: slope(sign * step), 0.0, length))
