"""Covering numbers of a class of score functions, and the parts that all bounds share.

A bound that holds for all functions of a class at once takes a margin theta. Each function f of the class is
within a part of theta of a member g of the cover. A concentration inequality holds for every g, and a union
bound over the cover carries it to every f. Training errors are measured with the scores of the positives
lowered by theta.
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
    "scores": "Their finite scores, by a function of the class that the covering number counts.",
    "theta": "The positive margin, in units of the scores, chosen before the data are seen.",
    "log_covering_number": """The natural logarithm of the covering number of the class as a function of
the scale, such as ``functools.partial(log_covering_number, d, radius)`` for linear scores; or a number that
holds at every scale, such as the logarithm of the size of a finite class. If it is infinite nothing is
bounded.""",
    "p": "The strength of the push, at least 1.",
    "delta": "The chance that the bound fails, in (0, 1).",
    "covering_parameters": """theta : float
log_covering_number : callable or float
delta : float
pos_label : label, optional""",
    "number_errors": """Raises
------
TypeError
    When a parameter is not a number of its kind.
ValueError""",
    "errors": """%(number_errors)s
    When there are not two classes, a score is not finite, or a parameter is out of range.""",
    "range_errors": """%(number_errors)s
    When a parameter is out of range.""",
    "count_errors": """%(number_errors)s
    When a parameter is out of range, or a float cannot hold the number of rows.""",
    "error_bound": """Returns
-------
ErrorBound
    A named tuple: ``bound``, ``training_error`` and ``excess``, the :math:`\\varepsilon` that is their
    difference.""",
}

shared_docs = shared_docs_from(PARAGRAPHS)


class ErrorBound(NamedTuple):
    """A bound on the error of new data, and its two parts.

    Parameters
    ----------
    bound : float
        The sum of the other two; a value of 1 or more says nothing.
    training_error : float
        The error of the training rows, with the margin.
    excess : float
        The largest difference between the error of new data and that of the training rows.

    Examples
    --------
    >>> ErrorBound(0.3, 0.1, 0.2).excess
    0.2
    """

    bound: float
    training_error: float
    excess: float


class TrainingMargins:
    """Checked training rows, and bounds on the differences between their means and the population's."""

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
        """Return ln(delta / (n_events N)), the chance of failure of one event for one member of the cover."""
        return -self._log_covering_number - math.log(n_events / self._delta)

    def deviation(self, n_rows: int, n_events: int = 1) -> float:
        """Return a bound on the deviation of a mean of ``n_rows`` values in [0, 1] (Hoeffding, Massart)."""
        return math.sqrt(-self.log_failure(n_events) / (2.0 * n_rows))


@shared_docs
def log_covering_number(n_features: int, radius: float, scale: float) -> float:
    r"""Return the logarithm of a bound on the covering number of the bounded linear scores.

    .. math:: \ln N(F, \varepsilon) \le d \ln\Bigl(1 + \frac{2 R}{\varepsilon}\Bigr) , \quad
        F = \{x \mapsto w \cdot x : \|w\| \|x\|_* \le R\}

    Cucker and Smale, *On the mathematical foundations of learning*, Bulletin AMS 39 (2001), proposition 5,
    for a bound of this kind; proved on the page :doc:`/papers/rudin_2009`.

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
        In natural logarithms, at least 0; 0 if one function covers the class.

    %(range_errors)s

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
    """Return the logarithm of the covering number at a scale: at least 0, perhaps infinite."""
    log_number = log_covering_number(scale) if callable(log_covering_number) else log_covering_number
    if not (isinstance(log_number, float) and log_number == math.inf):
        check_number("log_covering_number", log_number, 0.0)
    return float(log_number)


# A smaller excess would need more rows than a float can count, and a larger one bounds no error rate.
MIN_EXCESS, MAX_EXCESS = 2.0**-40, 2.0**10


def smallest_excess(log_failure: Callable[[float], float], delta: float) -> float:
    r"""Return the least :math:`\varepsilon` at which a theorem fails with a chance of at most delta.

    ``log_failure`` returns the logarithm of the chance. If no excess is large enough, the result is infinite.
    """
    # Covering numbers, and with them the chance, may fall in steps: only bisection needs no more than that
    # it falls. The upper end of the last bracket is returned, where the chance is at most delta.
    check_number("delta", delta, above=0.0, below=1.0)
    high = 1.0
    while log_failure(high) > math.log(delta):
        high *= 2.0
        if high > MAX_EXCESS:
            return math.inf
    low = high / 2.0
    while low > MIN_EXCESS and log_failure(low) <= math.log(delta):
        low, high = low / 2.0, low
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if log_failure(middle) <= math.log(delta) else (middle, high)
    return high
