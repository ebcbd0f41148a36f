"""The course of a fit: the objective after every iteration, or the smooth margin after every round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank.plots._axes import axes_or_new, count_ticks, curve_style, draw_reference
from pushrank.plots._display import Display, Options, estimator_name, final_step

Quantity = Literal["objective", "smooth_margin"]
KEEPERS = {"objective": "the push rankers and boosting do", "smooth_margin": "SmoothMarginRanking does"}


@shared_docs_from({
    "keywords": """Parameters
----------
estimator : estimator or Pipeline
    Fitted, with ``objective_path_`` or ``smooth_margin_path_``.
quantity : {"objective", "smooth_margin"}
    Which of the two to take.
bound : float, optional
    The largest possible margin, drawn as a line to compare with.
name : str, optional""",
})  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class TrainingPathDisplay(Display):
    r"""The objective, or the smooth margin, at the start of a fit and after every iteration or round.

    .. math:: t \mapsto R(\lambda_t) \qquad \text{or} \qquad
              t \mapsto \tilde G(\lambda_t) = \frac{-\ln F(\lambda_t)}{\|\lambda_t\|_1} \le \mu(\lambda_t)

    Parameters
    ----------
    path : ndarray of float64, shape (n_iter + 1,)
        The objective, on the scale of the fit, or the smooth margin, ``-inf`` before the first step.
    quantity : {"objective", "smooth_margin"}, default="objective"
        The quantity of the path.
    margin : float, optional
        The margin that the last round reached.
    bound : float, optional
        The largest possible margin, as of ``pushrank.theory.max_margin``, drawn as a line to compare with.
    name : str, optional

    Attributes
    ----------
    line_ : matplotlib artist
        The curve, after ``plot``.
    %(where_drawn)s

    Notes
    -----
    Objectives of different rankers have different units. To compare how fast solvers of one objective
    converge, use ``plot(above=lowest)`` with the lowest value that any of them reached.

    While pairs are misranked the smooth margin is negative and large. The curve is drawn where it is at most
    as far below zero as the ends of the path are above.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 5; Rudin, Cortes, Mohri and Schapire, *Margin-based
    ranking meets boosting in the middle*, COLT 2005.

    Examples
    --------
    >>> from pushrank import PNormPush
    >>> ranker = PNormPush().fit([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    >>> display = TrainingPathDisplay.compute(ranker)
    >>> len(display.path) == ranker.n_iter_ + 1, display.name
    (True, 'PNormPush')
    """

    path: Floats
    quantity: Quantity = "objective"
    margin: float | None = None
    bound: float | None = None
    name: str | None = None

    @classmethod
    def compute(
        cls, estimator: Any, *, quantity: Quantity = "objective", bound: float | None = None,
        name: str | None = None,
    ) -> Self:  # fmt: skip
        """Take the path of a fitted ranker without drawing it.

        %(keywords)s

        Returns
        -------
        display
            With the numbers, not drawn yet.

        Raises
        ------
        TypeError
            When the estimator keeps no such path.
        ValueError
            When ``quantity`` is not known.
        """
        if quantity not in KEEPERS:
            raise ValueError(f"quantity must be one of {list(KEEPERS)}, got {quantity!r}.")
        ranker = final_step(estimator)
        ranker = getattr(ranker, "best_estimator_", ranker)
        check_is_fitted(ranker)
        path = getattr(ranker, f"{quantity}_path_", None)
        if path is None:
            raise TypeError(f"{estimator_name(estimator)} keeps no {quantity}_path_; {KEEPERS[quantity]}.")
        return cls(
            path=np.asarray(path, dtype=np.float64),
            quantity=quantity,
            margin=float(ranker.margin_) if quantity == "smooth_margin" else None,
            bound=bound,
            name=name or estimator_name(estimator),
        )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, quantity: Quantity = "objective", bound: float | None = None,
        name: str | None = None, ax: Any = None, curve_kwargs: Options = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """Take the path of a fitted ranker and draw it.

        %(keywords)s
        %(drawing)s

        %(drawn)s
        """
        display = cls.compute(estimator, quantity=quantity, bound=bound, name=name)
        return display.plot(ax, **{"curve_kwargs": curve_kwargs, **(plot_kwargs or {})})

    def plot(
        self, ax: Any = None, *, name: str | None = None, above: float | None = None,
        curve_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """Draw the path, a smooth margin on a logarithmic axis of rounds.

        %(axes)s
        above : float, optional
            Draw how far the objective was above this value, such as its minimum, on a logarithmic axis. It is
            not for a smooth margin.
        curve_kwargs : dict, optional

        %(drawn)s
        """
        if above is not None and self.quantity != "objective":
            raise ValueError("above is for an objective, which comes down; a smooth margin rises.")
        ax = axes_or_new(ax)
        style = curve_style(ax, name or self.name, curve_kwargs)
        if self.quantity == "objective":
            iterations, path = np.arange(len(self.path)), self.path
            if above is not None:
                path = path - above
                iterations, path = iterations[path > 0.0], path[path > 0.0]
                ax.set_yscale("log")
            (self.line_,) = ax.plot(iterations, path, **style)
            ax.set(xlabel="iteration", ylabel="objective" if above is None else "objective above its minimum")
            return self._finished(ax)
        ends = [self.path[-1], self.margin, self.bound]
        # The first smooth margins are hugely negative and would flatten the rest of the curve.
        rounds = np.flatnonzero(self.path >= -max(abs(end) for end in ends if end is not None))
        (self.line_,) = ax.plot(rounds, self.path[rounds], **style)
        if self.margin is not None:
            ax.plot(rounds[-1:], [self.margin], "o", color=style["color"], label="margin reached")
        if self.bound is not None:
            draw_reference(ax, rounds[[0, -1]], [self.bound] * 2, "largest possible margin")
        ax.set(xscale="log", xlabel="rounds", ylabel="smooth margin")
        count_ticks(ax.xaxis)
        return self._finished(ax, "lower right")
