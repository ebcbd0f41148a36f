"""What the bounds need of scores and of confidence, checked."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from pushrank._checks import check_number
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
        check_number("theta", theta, above=0.0)
        check_number("delta", delta, above=0.0, below=1.0)
        check_number("log_covering_number", log_covering_number, 0.0)
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
