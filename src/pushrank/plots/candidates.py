"""The candidates of a search for a budget: the precision of every family's best member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pushrank._numeric import Floats
from pushrank.plots._axes import axes_or_new, curve_style
from pushrank.plots._display import FittedDisplay, estimator_name, final_step
from pushrank.plots._docstrings import written_out


@written_out
@dataclass(kw_only=True, eq=False, repr=False)
class CandidatesDisplay(FittedDisplay):
    """The precision at the budget of the families that a search chose from, with standard errors.

    Parameters
    ----------
    labels : sequence of str
        The families.
    precision : ndarray of float64, shape (n_families,)
        The mean precision at the budget of each family's best member over the folds.
    standard_error : ndarray of float64, shape (n_families,)
        The standard errors of these means.
    average_precision : ndarray of float64, shape (n_families,)
        The mean average precision of the same members, which also depends on the rest of the list.
    chosen : int
        The number of the family that was chosen.
    %(title_of_picture)s
    container_ : matplotlib artist
        The points with their errors, after ``plot``.
    %(where_drawn)s

    Notes
    -----
    The errors are those of single means. The search chooses by the errors of differences, fold by fold, which
    are mostly smaller: ``candidates_`` of the search has both.

    Examples
    --------
    >>> from pushrank import TopRankerCV
    >>> from pushrank.datasets import make_hidden_positives
    >>> X, y = make_hidden_positives(600, random_state=0, return_X_y=True)
    >>> ranker = TopRankerCV(30, candidates=["logistic-regression", "trimmed-push"]).fit(X, y)
    >>> display = CandidatesDisplay.compute(ranker)
    >>> display.labels[display.chosen]
    'trimmed-push'
    """

    labels: Sequence[str]
    precision: Floats
    standard_error: Floats
    average_precision: Floats
    chosen: int
    name: str | None = None

    @classmethod
    def compute(cls, estimator: Any, *, name: str | None = None) -> Self:
        """Take the candidates of a fitted search without drawing them.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted ``TopRankerCV``, ``PushBoostCV`` or ``RankerSearchCV``.

        Raises
        ------
        TypeError
            When the estimator has no candidates.
        """
        ranker = final_step(estimator)
        check_is_fitted(ranker)
        candidates = getattr(ranker, "candidates_", None)
        if candidates is None:
            raise TypeError(
                f"{estimator_name(estimator)} has no candidates_; TopRankerCV, PushBoostCV and "
                "RankerSearchCV do."
            )
        precision, errors, overall = (
            np.array([candidate[key] for candidate in candidates])
            for key in ("precision", "standard_error", "average_precision")
        )
        return cls(
            labels=[candidate["candidate"] for candidate in candidates],
            precision=precision,
            standard_error=errors,
            average_precision=overall,
            chosen=[candidate["params"] for candidate in candidates].index(ranker.best_params_),
            name=name or estimator_name(estimator),
        )

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw a point and its standard error for each family, and the average precision beside it."""
        ax = axes_or_new(ax)
        # The axis points up, and the first family belongs at the top.
        rows = np.arange(len(self.labels))[::-1]
        color = curve_style(ax, None, None)["color"]
        point = {"fmt": "o", "color": color, "label": "precision at the budget"}
        self.container_ = ax.errorbar(self.precision, rows, xerr=self.standard_error, **point)
        ax.plot(self.average_precision, rows, "x", color="#767676", label="average precision")
        ring = {"markersize": 13, "fillstyle": "none", "color": color, "label": "chosen"}
        ax.plot(self.precision[self.chosen], rows[self.chosen], "o", **ring)
        ax.set_yticks(rows, self.labels)
        ax.set(xlabel="mean over the folds, ± standard error", title=name or self.name or "")
        return self._finished(ax)
