"""The weight of each rank of the list, under metrics and pushes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.gains import log_spaced
from pushrank.plots._axes import axes_or_new, count_ticks, curve_style
from pushrank.plots._display import Display, Options, ResponseMethod, estimator_name, estimator_scores

MEASURES: dict[str, Callable[[NDArray[np.int64]], Floats]] = {
    "DCG, 1 / log(1 + rank)": lambda ranks: np.log(2.0) / np.log1p(ranks),
    "reciprocal rank, 1 / rank": lambda ranks: 1.0 / ranks,
}
"""The value of a hit at each rank, in units of the first."""

# The lower end of the axis of weights.
MIN_WEIGHT = 1e-4


@shared_docs_from({
    "drawing": "%(ax_and_plot)s",
    "keywords": """p : sequence of float, default=(1, 4, 16, 64)
    Strengths of the push, each finite and at least 1.""",
})  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class DiscountDisplay(Display):
    r"""Discount factors: the weight of each rank, under several p of the push and under metrics.

    .. math:: d_p(r) = \Bigl(\frac{\mathrm{Height}(r)}{I}\Bigr)^p, \qquad
              d_{\mathrm{DCG}}(r) = \frac{\ln 2}{\ln(1 + r)}, \qquad d_{\mathrm{AveR}}(r) = \frac{1}{r}

    where Height(r) is the number of positives that a negative at rank r would be above. The weight is the
    cost of an error there, in units of its cost at the top. Only differences of the IR Push's
    :math:`-\ln(1 + r)` matter, so it is drawn from 1 at the first rank to 0 at the last:

    .. math:: d_{\mathrm{IR}}(r) = 1 - \frac{\ln(1 + r) - \ln 2}{\ln(1 + n) - \ln 2}

    Parameters
    ----------
    ranks : ndarray of int, shape (m,)
        Ranks, from 1 at the top.
    weights : dict of str to ndarray of shape (m,)
        The weight of each rank by the name of its curve, 1 at the top.
    name : str, optional

    Attributes
    ----------
    lines_ : list of matplotlib artists
        The curves, after ``plot``.
    %(where_drawn)s

    Notes
    -----
    ``compute`` costs O(n log n). With p = 1, for RankBoost's push and the AUC, weights fall as the share of
    positives that are yet to come; the Infinite Push is the limit in which only the first rank counts. Ties
    count by their expectation under a random order.

    References
    ----------
    After Rudin, *The P-Norm Push*, JMLR 10 (2009), section 7 and figure 3.

    Examples
    --------
    >>> display = DiscountDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], p=[2])
    >>> display.weights["push, p = 2"].tolist()
    [1.0, 0.25, 0.25, 0.0]
    """

    ranks: NDArray[np.int64]
    weights: Mapping[str, Floats]
    name: str | None = None

    @classmethod
    def compute(
        cls, y_true: ArrayLike, scores: ArrayLike, *, p: Sequence[float] = (1.0, 4.0, 16.0, 64.0),
        pos_label: Any = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """Compute the weights without drawing them.

        %(computed)s
        """
        for power in p:
            if not 1.0 <= power < np.inf:
                raise ValueError(f"p must be finite and at least 1, got {power!r}.")
        ranking = Ranking(y_true, scores, None, pos_label)
        ranks = log_spaced(ranking.n_rows)
        height = 1.0 - ranking.hits_among(ranks - 1) / ranking.total_positive
        weights = {f"push, p = {power:g}": height**power for power in p}
        weights["IR Push, -log(1 + rank)"] = 1.0 - np.log((1 + ranks) / 2) / np.log((1 + ranking.n_rows) / 2)
        weights |= {measure: worth(ranks) for measure, worth in MEASURES.items()}
        return cls(ranks=ranks, weights=weights, name=name)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, scores: ArrayLike, *, p: Sequence[float] = (1.0, 4.0, 16.0, 64.0),
        pos_label: Any = None, name: str | None = None, ax: Any = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """Compute and draw from labels and scores.

        %(drawn_from_predictions)s
        """
        display = cls.compute(y_true, scores, p=p, pos_label=pos_label, name=name)
        return display.plot(ax, **(plot_kwargs or {}))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, response_method: ResponseMethod = "auto",
        p: Sequence[float] = (1.0, 4.0, 16.0, 64.0), pos_label: Any = None, name: str | None = None,
        ax: Any = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """Compute and draw from a fitted estimator and rows.

        %(drawn_from_estimator)s
        """
        scores = estimator_scores(estimator, X, pos_label, response_method)
        return cls.from_predictions(
            y, scores, p=p, pos_label=pos_label, name=name or estimator_name(estimator), ax=ax,
            plot_kwargs=plot_kwargs,
        )  # fmt: skip

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the curves on two logarithmic axes.

        %(axes)s

        %(drawn)s
        """
        ax = axes_or_new(ax)
        self.lines_ = []
        for curve, weights in self.weights.items():
            # A logarithmic axis has no zero: the curve ends there.
            drawn = np.where(weights > 0.0, weights, np.nan)
            self.lines_ += ax.plot(self.ranks, drawn, **curve_style(ax, curve, None))
        ax.set(
            xscale="log",
            yscale="log",
            ylim=(MIN_WEIGHT, 1.3),
            xlim=(1, self.ranks[-1]),
            xlabel="rank in the list",
            ylabel="weight, 1 = the first rank",
            title=name or self.name or "",
        )
        count_ticks(ax.xaxis)
        return self._finished(ax, "lower left")
