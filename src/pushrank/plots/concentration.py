"""The contribution of each pair of a positive and a negative to an objective."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank import losses, prices
from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics._ranking import Ranking
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, log_inner_sums
from pushrank.plots._axes import axes_or_new
from pushrank.plots._display import (
    Display,
    Options,
    ResponseMethod,
    estimator_name,
    estimator_scores,
    final_step,
)
from pushrank.prices import Power, Price

# Cells below this part of the average weight have the same colour.
MIN_WEIGHT = 1e-3


@shared_docs_from({
    "drawing": "%(ax_and_plot)s",
    "keywords": """objective : PushObjective or float
    The objective; a number is the p of the P-Norm Push. By default it is that of the estimator, where there
    is one.
bins : int
    The number of groups of positives and of negatives, at least 1.""",
})  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class ConcentrationDisplay(Display):
    r"""The contribution of every pair to an objective, positives and negatives in ranked order.

    .. math:: c_{ik} = \frac{g(h_k)}{R} \cdot \frac{\ell_{ik}}{h_k}, \qquad
        \ell_{ik} = \ell(s_i - t_k), \quad h_k = \sum_i \ell_{ik}, \quad R = \sum_k g(h_k)

    the share of the pair in the contribution of the negative: the larger p, the more the highest negatives
    contribute. With a pull the contributions are those of the positives,
    :math:`\ln(1 + h_i)\, \ell_{ik} / h_i` for the IR Push. For powers and the maximum :math:`c_{ik}` is also
    the share of the pair in the derivative by :math:`\ln \ell_{ik}`.

    Parameters
    ----------
    shares : ndarray of float64, shape (a, b)
        The sum of the contributions of the pairs of each cell; all cells sum to one.
    positive_edges : ndarray of int, shape (a + 1,)
        The first positive of each row of cells, best first, and the end of the last.
    negative_edges : ndarray of int, shape (b + 1,)
        The same for the columns, among the negatives.
    name : str, optional

    Attributes
    ----------
    mesh_ : matplotlib artist
        The cells, after ``plot``.
    %(where_drawn)s

    Notes
    -----
    ``compute`` bins the ranked rows, by default into 40 by 40 cells, and costs as many evaluations of the
    inner sums as there are rows of cells: O(n) each with the exponential loss and analytic ones such as the
    logistic, O(n log n) with the hinge and its square. Memory is O(n). Where no pair contributes, as to
    the zero-one loss of a ranking without errors, there is a ValueError.

    References
    ----------
    After Rudin, *The P-Norm Push*, JMLR 10 (2009), figures 1 and 4.

    Examples
    --------
    >>> display = ConcentrationDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], objective=2)
    >>> display.shares.round(3).tolist()
    [[0.117, 0.002], [0.865, 0.016]]
    >>> round(display.share_of_highest_negatives(0.5), 3)
    0.982
    """

    shares: Floats
    positive_edges: NDArray[np.int64]
    negative_edges: NDArray[np.int64]
    name: str | None = None

    def share_of_highest_negatives(self, part: float) -> float:
        """Return the share of the objective that the highest ``part`` of the negatives contributes."""
        by_negatives = np.concatenate([[0.0], np.cumsum(self.shares.sum(axis=0))])
        return float(np.interp(part * self.negative_edges[-1], self.negative_edges, by_negatives))

    @classmethod
    def compute(
        cls, y_true: ArrayLike, scores: ArrayLike, *, objective: PushObjective | float = 4.0, bins: int = 40,
        pos_label: Any = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """Compute the contributions without drawing them.

        %(computed)s
        """
        check_number("bins", bins, 1, integer=True)
        if not isinstance(objective, PushObjective):
            objective = PushObjective(price=Power(float(objective)), scale="log")
        ranking = Ranking(y_true, scores, None, pos_label)
        positives, negatives = -np.sort(-ranking.positive_scores), -np.sort(-ranking.negative_scores)
        edges = _edges(len(positives), bins), _edges(len(negatives), bins)
        parts = []
        if objective.side != "pull":
            parts.append(_push_cells(objective, positives, negatives, *edges))
        if objective.side != "push":
            shares, log_total = _push_cells(objective, -negatives, -positives, *edges[::-1])
            weight = objective.bottom_weight if objective.side == "both" else 1.0
            parts.append((shares.T, log_total + float(np.log(weight))))
        # Totals of large powers exceed the floats, so the two sides are weighed by their logarithms.
        largest = max(log_total for _, log_total in parts)
        if largest == -np.inf:
            raise ValueError("no pair contributes: this ranking has no error that the objective counts.")
        total = sum(np.exp(log_total - largest) * shares for shares, log_total in parts)
        return cls(shares=total / total.sum(), positive_edges=edges[0], negative_edges=edges[1], name=name)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, scores: ArrayLike, *, objective: PushObjective | float = 4.0, bins: int = 40,
        pos_label: Any = None, name: str | None = None, ax: Any = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """Compute and draw from labels and scores.

        %(drawn_from_predictions)s
        """
        display = cls.compute(y_true, scores, objective=objective, bins=bins, pos_label=pos_label, name=name)
        return display.plot(ax, **(plot_kwargs or {}))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, response_method: ResponseMethod = "auto",
        objective: PushObjective | float | None = None, bins: int = 40, pos_label: Any = None,
        name: str | None = None, ax: Any = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """Compute and draw for a fitted ranker, by default for the sum over pairs that it minimises.

        Push rankers, `RankBoost`, `SmoothMarginRanking`, `RankSVM` and `InfinitePush` minimise such a sum;
        for others give an ``objective``.

        %(drawn_from_estimator)s
        """
        if objective is None:
            ranker = final_step(estimator)
            objective = ranker._pair_objective() if hasattr(ranker, "_pair_objective") else None
        if objective is None:
            raise TypeError(
                f"{estimator_name(estimator)} minimises no sum over pairs; say whose to draw: objective=4.0 "
                "for the P-Norm Push, or a PushObjective."
            )
        scores = estimator_scores(estimator, X, pos_label, response_method)
        return cls.from_predictions(
            y, scores, objective=objective, bins=bins, pos_label=pos_label,
            name=name or estimator_name(estimator), ax=ax, plot_kwargs=plot_kwargs,
        )  # fmt: skip

    def plot(self, ax: Any = None, *, name: str | None = None, mesh_kwargs: Options = None) -> Self:
        """Draw the cells, coloured by the weight of a pair relative to the average.

        Axes hold one display of this kind.

        %(axes)s
        mesh_kwargs : dict, optional
            Keywords of matplotlib's ``pcolormesh``.

        %(drawn)s
        """
        ax = axes_or_new(ax, figsize=(5.6, 4.8))
        # The module must be importable without matplotlib.
        from matplotlib.colors import LogNorm

        heights, widths = np.diff(self.positive_edges), np.diff(self.negative_edges)
        pairs = np.outer(heights, widths)
        times_average = self.shares * pairs.sum() / pairs
        drawn = np.maximum(times_average, MIN_WEIGHT)
        self.mesh_ = ax.pcolormesh(
            self.negative_edges,
            self.positive_edges,
            drawn,
            **{"cmap": "cividis", "norm": LogNorm(MIN_WEIGHT, max(drawn.max(), 1.0)), **(mesh_kwargs or {})},
        )
        ax.figure.colorbar(self.mesh_, ax=ax, label="weight of a pair, 1 = the average")
        ax.invert_yaxis()
        heavy = f"the highest 10 % of negatives contribute {100 * self.share_of_highest_negatives(0.1):.0f} %"
        title = name or self.name
        ax.set_title(f"{title}\n{heavy}" if title else heavy, fontsize="medium")
        ax.set(xlabel="negatives, highest first", ylabel="positives, highest first")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _edges(count: int, bins: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, count, bins + 1).round().astype(np.int64))


def _push_cells(
    objective: PushObjective,
    highs: Floats,
    lows: Floats,
    high_edges: NDArray[np.int64],
    low_edges: NDArray[np.int64],
) -> tuple[Floats, float]:
    """Return the cells of a push of ``lows`` below ``highs``, which sum to one, and its logarithm."""
    price: Price = prices.resolve(objective.price)
    log_sums = _log_sums(objective, highs, lows)
    total = price.total(log_sums, 1.0, "raw" if price.log_divisor is None else "log")
    if price.log_divisor is None:
        log_total = float(np.log(total.value)) if total.value > 0.0 else -np.inf
    else:
        log_total = total.value * price.log_divisor
    cells = np.zeros((len(high_edges) - 1, len(low_edges) - 1))
    if log_total == -np.inf:
        return cells, log_total
    parts_of_lows = total.gradient if price.homogeneous else price.terms(log_sums).value
    low_fractions = parts_of_lows / parts_of_lows.sum()
    # A low without any loss has the logarithm -inf, and must not become -inf minus -inf.
    unit = np.where(np.isfinite(log_sums), log_sums, 0.0)
    for b, (start, stop) in enumerate(pairwise(high_edges)):
        # One group of highs at a time: memory for all pairs would be too much.
        parts = np.exp(_log_sums(objective, highs[start:stop], lows) - unit)
        cells[b] = np.add.reduceat(low_fractions * parts, low_edges[:-1])
    return cells, log_total


def _log_sums(objective: PushObjective, highs: Floats, lows: Floats) -> Floats:
    sample = BipartiteSample.from_mask(np.arange(len(highs) + len(lows)) < len(highs))
    return log_inner_sums(losses.resolve(objective.loss), sample, np.concatenate([highs, lows])).log_sums
