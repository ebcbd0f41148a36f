"""Covering numbers of a class of score functions, and what every bound takes from them.

A bound that holds for all functions of a class at once takes a margin theta. A function f of the class is
within some part of theta of a member g of the cover; for g a concentration inequality holds, and a union over
the cover carries it to f. Training errors are measured with the positives' scores lowered by theta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics._ranking import Ranking

LogCovering = float | Callable[[float], float]

PARAGRAPHS = {
    "y_true": "Labels of two values, of the training rows.",
    "training_scores": "Their finite scores, by a function of the class that the covering number counts.",
    "theta": "The positive margin, in units of the scores, chosen before the data are seen.",
    "log_covering_number": """The natural logarithm of the covering number of the class as a function of
the scale, such as ``functools.partial(log_covering_number, d, radius)`` for linear scores; a number where
it is the same at every scale, as of a finite class, whose covering numbers are at most its size. Where it
is infinite nothing is bounded.""",
    "delta": "The chance that the bound fails, in (0, 1).",
    "pos_label": """The positive class; by default the larger of two numbers, yes of yes and no, true of
true and false. Of other texts it must be given.""",
    "errors": """Raises
------
TypeError
    When a parameter is not a number of its kind.
ValueError
    When there are not two classes, a score is not finite, or a parameter is out of range.""",
    "error_bound": """Returns
-------
ErrorBound
    A named tuple: ``bound``, ``training_error`` and ``excess``, the :math:`\\varepsilon` that is their
    difference.""",
}

shared_docs = shared_docs_from(PARAGRAPHS)


class ErrorBound(NamedTuple):
    """A bound on the error of new data, and what it is made of.

    Parameters
    ----------
    bound : float
        The sum of the other two; a value of 1 or more says nothing.
    training_error : float
        The error of the training rows, with the margin.
    excess : float
        By how much the error of new data may exceed it.

    Examples
    --------
    >>> ErrorBound(0.3, 0.1, 0.2).excess
    0.2
    """

    bound: float
    training_error: float
    excess: float


class TrainingMargins:
    """The checked training rows, and how far chance may take their means from those of the population."""

    def __init__(
        self,
        y_true: ArrayLike,
        scores: ArrayLike,
        theta: float,
        log_covering_number: LogCovering,
        delta: float,
        pos_label: Any = None,
    ) -> None:
        check_number("theta", theta, above=0.0)
        check_number("delta", delta, above=0.0, below=1.0)
        ranking = Ranking(y_true, scores, None, pos_label)
        self.is_positive = ranking.is_positive
        self.scores = ranking.scores
        self.lowered_scores: Floats = ranking.scores - theta * ranking.is_positive
        self.n_positive = len(ranking.positive_scores)
        self.n_negative = len(ranking.negative_scores)
        self._log_covering_number, self._delta = log_size(log_covering_number, theta / 4.0), delta

    def log_failure(self, n_events: int = 1) -> float:
        """Return ln(delta / (n_events N)): what chance of failure is left for one event and one function."""
        return -self._log_covering_number - math.log(n_events / self._delta)

    def deviation(self, n_rows: int, n_events: int = 1) -> float:
        """Return by how much means of so many rows in [0, 1] may differ (Hoeffding, Massart)."""
        return math.sqrt(-self.log_failure(n_events) / (2.0 * n_rows))


def log_covering_number(n_features: int, radius: float, scale: float) -> float:
    r"""Return the logarithm of a bound on the covering number of the bounded linear scores.

    .. math:: \ln N(F, \varepsilon) \le d \ln\Bigl(1 + \frac{2 R}{\varepsilon}\Bigr) , \quad
        F = \{x \mapsto w \cdot x : \|w\| \|x\|_* \le R\}

    Parameters
    ----------
    n_features : int
        The number d of features, at least 1.
    radius : float
        The positive bound R on the norm of the coefficients times the dual norm of the features: 2-norms for
        a penalised ranker; for boosting, the 1-norm of the weights times the largest value of a weak ranker.
    scale : float
        The positive distance :math:`\varepsilon`, in units of the scores, within which every score function
        has a member of the cover at every point.

    Returns
    -------
    float
        In natural logarithms, at least 0; 0 where one function will do.

    Raises
    ------
    TypeError
        When a parameter is not a number, or ``n_features`` is not an integer.
    ValueError
        When a number is out of range.

    Notes
    -----
    Proof: functions differ at a point by at most :math:`\|w - w'\| \|x\|_*`, so a cover of the ball of
    coefficients is one of F. A largest set of points of a ball of radius r that are more than e apart covers
    it, and the balls of radius e / 2 around them are disjoint and lie in one of radius r + e / 2: comparing
    volumes, they are at most :math:`(1 + 2 r / e)^d`.

    References
    ----------
    Cucker and Smale, *On the mathematical foundations of learning*, Bulletin AMS 39 (2001), proposition 5,
    for a bound of this kind.

    Examples
    --------
    >>> round(log_covering_number(10, radius=1.0, scale=0.1), 2)
    30.45
    """
    check_number("n_features", n_features, 1, integer=True)
    check_number("radius", radius, above=0.0)
    check_number("scale", scale, above=0.0)
    if scale >= radius:
        return 0.0
    return float(n_features * np.log1p(2.0 * radius / scale)) if math.isfinite(radius / scale) else math.inf


def log_size(log_covering_number: LogCovering, scale: float) -> float:
    """Return the logarithm of the covering number at a scale, a number from 0 on or infinity, checked."""
    found = log_covering_number(scale) if callable(log_covering_number) else log_covering_number
    if not (isinstance(found, float) and found == math.inf):
        check_number("log_covering_number", found, 0.0)
    return float(found)


SMALLEST_EXCESS, LARGEST_EXCESS = 2.0**-40, 2.0**10
"""Excesses that are sought; below the first, more rows than floats can count would be needed."""


def smallest_excess(log_failure: Callable[[float], float], delta: float) -> float:
    r"""Return the least :math:`\varepsilon` at which a theorem fails with a chance of at most delta.

    The logarithm of the chance falls as epsilon grows, perhaps in steps, as covering numbers do: a bisection,
    of which the safe side is returned; infinity where no excess will do.
    """
    check_number("delta", delta, above=0.0, below=1.0)
    high = 1.0
    while log_failure(high) > math.log(delta):
        high *= 2.0
        if high > LARGEST_EXCESS:
            return math.inf
    low = high / 2.0
    while low > SMALLEST_EXCESS and log_failure(low) <= math.log(delta):
        low, high = low / 2.0, low
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if log_failure(middle) <= math.log(delta) else (middle, high)
    return high
