"""Covering numbers of a class of score functions, and the parts that all bounds share.

A bound that holds for all functions of a class at once takes a margin theta. Each function f of the class is
within a part of theta of a member g of the cover. A concentration inequality holds for every g, and a union
bound carries it to every f. Training errors are those of scores that are theta lower for positives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushrank._base.docstrings import shared_docs_from
from pushrank._base.numeric import Floats
from pushrank._base.validation import check_number
from pushrank.metrics._ranking import Ranking

LogCovering = float | Callable[[float], float]

PARAGRAPHS = {
    "y_true": "Labels of two values, of the rows.",
    "scores": """Their finite scores, the higher the better; for a bound, by a function of the class that the
covering number counts.""",
    "y": """Two classes, or grades of relevance, which must be numbers; each row should stand above those
with a lower one.""",
    "qid": "Query groups, within which rows are compared.",
    "theta": "The positive margin, in units of the scores, chosen before the data are seen.",
    "log_covering_number": """The function :math:`e \\mapsto \\ln N(F, e)` of the scale e, N the covering
number of the class, such as ``functools.partial(log_covering_number, d, radius)`` for linear scores; or a
number for every scale, such as that of a finite class. If it is infinite nothing is bounded.""",
    "p": "The strength of the push, at least 1.",
    "delta": "The chance that the bound fails, in (0, 1).",
    "rows": """Parameters
----------
y_true : array-like of shape (n,)
scores : array-like of shape (n,)""",
    "covering_parameters": """theta : float
log_covering_number : callable or float
delta : float
pos_label : label, optional""",
    "chance": """Returns
-------
float
    At least 0; a value of 1 or more says nothing.""",
    "error_bound": """Returns
-------
ErrorBound
    A named tuple: ``bound``, ``training_error`` and ``excess``, the :math:`\\varepsilon` that is their
    difference.""",
    "sample_size": """Returns
-------
SampleSize
    A named tuple: ``n_positives``, ``n_negatives``.""",
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
}

shared_docs = shared_docs_from(PARAGRAPHS, errors="errors")

LIMITS: dict[str, dict[str, Any]] = {
    "n_features n_rows n_positives n_negatives n_batches": {"least": 1, "integer": True},
    "theta radius scale norm eta0": {"above": 0.0},
    "log_covering_number log_class_size largest_score surrogate_loss coef_norm alpha": {"least": 0.0},
    "light_top least_error true_error mistake_rate": {"least": 0.0, "most": 1.0},
    "delta epsilon base_rate": {"above": 0.0, "below": 1.0},
    "p": {"least": 1.0},
    "kappa": {"above": 0.0, "most": 1.0},
}
"""Where the parameters of all bounds lie."""
LIMITS = {name: limits for names, limits in LIMITS.items() for name in names.split()}


def check_numbers(**values: Any) -> None:
    """Raise unless each parameter is within the limits of its name."""
    for name, value in values.items():
        check_number(name, value, **LIMITS[name])


class ErrorBound(NamedTuple):
    """A bound on the error of new data, and its two parts.

    Parameters
    ----------
    bound : float
        The sum of the other two; a value of 1 or more says nothing.
    training_error, excess : float
        The error of the training rows, with the margin, and the most by which that of new data exceeds it.

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
        check_numbers(theta=theta, delta=delta)
        ranking = Ranking(y_true, scores, None, pos_label)
        self.is_positive, self.scores = ranking.is_positive, ranking.scores
        self.lowered_scores: Floats = ranking.scores - theta * ranking.is_positive
        self.n_positive, self.n_negative = len(ranking.positive_scores), len(ranking.negative_scores)
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

    The proof is on the page :doc:`/papers/rudin_2009`.

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
    check_numbers(n_features=n_features, radius=radius, scale=scale)
    if scale >= radius:
        return 0.0
    return float(n_features * np.log1p(2.0 * radius / scale)) if math.isfinite(radius / scale) else math.inf


def log_size(log_covering_number: LogCovering, scale: float) -> float:
    """Return the logarithm of the covering number at a scale: at least 0, perhaps infinite."""
    log_number = log_covering_number(scale) if callable(log_covering_number) else log_covering_number
    if not (isinstance(log_number, float) and log_number == math.inf):
        check_numbers(log_covering_number=log_number)
    return float(log_number)


# A smaller excess would need more rows than a float can count, and a larger one bounds no error rate.
MIN_EXCESS, MAX_EXCESS = 2.0**-40, 2.0**10


def least_bound(
    training_error: float,
    log_chance: Callable[[float], float],
    log_covering_number: LogCovering,
    theta: float,
    delta: float,
) -> ErrorBound:
    """Return the bound with the least excess at which a theorem fails with a chance of at most delta."""
    # The chance is `exp(log_chance(excess))` times the covering number at `excess * theta / 8`. If no excess
    # makes it small enough, the bound is infinite.
    check_numbers(delta=delta)

    def is_enough(excess: float) -> bool:
        log_cover = log_size(log_covering_number, excess * theta / 8.0)
        return log_cover + log_chance(excess) <= math.log(delta)

    # Covering numbers, and with them the chance, may fall in steps: only bisection needs no more than that
    # it falls. The upper end of the last bracket is returned, where the chance is at most delta.
    high = 1.0
    while not is_enough(high):
        high *= 2.0
        if high > MAX_EXCESS:
            return ErrorBound(math.inf, training_error, math.inf)
    low = high / 2.0
    while low > MIN_EXCESS and is_enough(low):
        low, high = low / 2.0, low
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return ErrorBound(training_error + high, training_error, high)
