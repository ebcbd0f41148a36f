"""What the bounds need of scores and of confidence, checked."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pushrank._log_space import Floats
from pushrank.metrics.ranks import Ranking


class Margins:
    """The scores of both classes, and the room for error that chance leaves.

    Parameters
    ----------
    y_true, scores : array-like of shape (n,)
        The training rows.
    theta : float
        The positive margin.
    log_covering_number : float
        Of the class of score functions at the scale ``theta / 4``, in natural logarithms.
    delta : float
        The chance that a bound may fail, in (0, 1).
    pos_label : label, optional
        The positive class.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        scores: ArrayLike,
        theta: float,
        log_covering_number: float,
        delta: float,
        pos_label: Any = None,
    ) -> None:
        check_positive("theta", theta)
        check_share("delta", delta)
        check_log_count(log_covering_number)
        ranking = Ranking(y_true, scores, None, pos_label)
        self.is_positive = ranking.is_positive
        self.scores = ranking.scores
        self.lowered: Floats = ranking.scores - theta * ranking.is_positive
        self.n_positive = len(ranking.positive_scores)
        self.n_negative = len(ranking.negative_scores)
        self._log_count, self._delta = float(log_covering_number), delta

    def room(self, n_rows: int, n_events: int = 1) -> float:
        """Return what a mean of so many rows in [0, 1] may lack, in none of some events for any function."""
        return math.sqrt((self._log_count + math.log(n_events / self._delta)) / (2.0 * n_rows))

    def log_failure(self, n_events: int = 1) -> float:
        """Return the logarithm of the chance that is left for one event and one function."""
        return -self._log_count - math.log(n_events / self._delta)


def check_positive(name: str, value: Any) -> None:
    """Raise unless a parameter is a positive finite number.

    Raises
    ------
    ValueError
        When it is not.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}.")


def check_share(name: str, value: Any) -> None:
    """Raise unless a parameter lies strictly between 0 and 1.

    Raises
    ------
    ValueError
        When it does not.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.")


def check_count(name: str, value: Any) -> None:
    """Raise unless a parameter is an int of at least 1.

    Raises
    ------
    ValueError
        When it is not.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be an int of at least 1, got {value!r}.")


def check_log_count(log_covering_number: Any) -> None:
    """Raise unless the logarithm of a covering number is finite and at least 0.

    Raises
    ------
    ValueError
        When it is not.
    """
    if not isinstance(log_covering_number, Real) or not 0.0 <= float(log_covering_number) < np.inf:
        raise ValueError(
            f"log_covering_number must be a finite number of at least 0, got {log_covering_number!r}."
        )


def check_power(p: Any) -> None:
    """Raise unless p is a finite number of at least 1.

    Raises
    ------
    ValueError
        When it is not.
    """
    if isinstance(p, bool) or not isinstance(p, Real) or not 1.0 <= float(p) < np.inf:
        raise ValueError(f"p must be a finite number of at least 1, got {p!r}.")
