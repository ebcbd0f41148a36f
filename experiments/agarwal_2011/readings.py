"""Figure 2 of Rudin (JMLR 2009), written from the paper, and the readings of it that are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator

ROUNDS = 100
LONGEST = 1e12  # in units of a feature's range: what is further is taken as infinite
TRAINING_ROWS, ALL_ROWS = "training rows", "all rows"
Values = Any
Search = Callable[[Values, Values, Values, Values, float], float | None]


def same(p: float) -> float:
    """Return p."""
    return p


def one(_: float) -> float:
    """Return the power by which d~ is d."""
    return 1.0


def root(s: Values, t: Values, u: Values, v: Values, p: float) -> float | None:
    """Return the root of equation (1) along a feature: the zero of the slope of ln R_p, if it has one."""

    def slope(step: float) -> float:
        return float(softmax(p * (t + step * v)) @ v - softmax(-s - step * u) @ u)

    sign, length = -1.0 if slope(0.0) > 0 else 1.0, 1.0
    if np.min(sign * u) >= np.max(sign * v):
        return None
    while sign * slope(sign * length) < 0:
        length *= 2.0
        if length > LONGEST:
            return None
    return sign * float(brentq(lambda step: slope(sign * step), 0.0, length))


def general_minimiser(
    s: Values, t: Values, u: Values, v: Values, p: float, start: float = 0.01, tolerance: float = 1e-6
) -> float:
    """Return where BFGS ends that starts at .01 and stops where the slope is below an absolute tolerance.

    The objective is R_p along a feature in terms of figure 2's d, which sums to one: the sum over the
    negatives of (the sum over positives of d e^(-step M))^p. With K negatives it is of the size of K^(1 - p).
    """
    s, t = s + logsumexp(-s), t - logsumexp(t)

    def value_and_slope(steps: Values) -> tuple[float, Values]:
        ups, downs = -s - steps[0] * u, p * (t + steps[0] * v)
        value = float(np.exp(p * logsumexp(ups) + logsumexp(downs)))
        return value, value * p * np.array([softmax(downs) @ v - softmax(ups) @ u])

    found = minimize(value_and_slope, [start], jac=True, method="BFGS", options={"gtol": tolerance})
    return float(found.x[0])


class Reading(NamedTuple):
    """A reading of figure 2: what a round chooses by, how far it goes, and in which units features are.

    ``chosen_by`` is the power of the negatives' weights: that of d~ is p, that of d is 1. A constant ``step``
    needs no search; ``infinite`` is the step where no pair is against a feature.
    """

    chosen_by: Callable[[float], float] = same
    signed: bool = False
    units: str = TRAINING_ROWS
    rounds: int = ROUNDS
    search: Search = root
    step: float | None = None
    capped: bool = False
    infinite: float | None = None


AS_SECTION_6 = Reading(signed=True, units=ALL_ROWS)
CONSTANT = AS_SECTION_6._replace(step=0.01)
STOPPED = AS_SECTION_6._replace(search=general_minimiser)
"""Features in [0, 1] over all rows and the largest signed edge by d~; with steps of .01, and with a search
that at p = 4, 16 and 64 stops where it starts."""


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
    ranges = np.ptp(X, axis=0) if reading.units == TRAINING_ROWS else np.ones(X.shape[1])
    units = np.divide(1.0, ranges, out=np.zeros_like(ranges), where=ranges > 0)
    positives, negatives = (X[y == label] * units for label in (1, 0))
    longest = np.log1p(len(positives) * len(negatives)) / (p + 1)
    total = np.zeros(X.shape[1])
    for _ in range(reading.rounds):
        s, t = positives @ total, negatives @ total
        edges = softmax(-s) @ positives - softmax(reading.chosen_by(p) * t) @ negatives
        j = int(np.argmax(edges if reading.signed else np.abs(edges)))
        u, v = positives[:, j], negatives[:, j]
        if reading.step is not None:
            total[j] += reading.step if reading.signed else np.sign(edges[j]) * reading.step
            continue
        step = reading.search(s, t, u, v, p)
        if step is None:
            step = np.sign(edges[j]) * (longest if reading.infinite is None else reading.infinite)
        total[j] += np.clip(step, -longest, longest) if reading.capped else step
    return total * units
