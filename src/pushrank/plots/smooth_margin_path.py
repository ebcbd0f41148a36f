"""How the smooth margin rose towards the largest margin there is."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pushrank.plots._axes import axes_or_new, count_ticks, curve_style, draw_reference, finish
from pushrank.plots._display import final_step, name_of, with_curve


class SmoothMarginPathDisplay:
    r"""The smooth margin before the first round of boosting and after each, with the margin it bounds.

    .. math:: \tilde G(\lambda_t) = \frac{-\ln F(\lambda_t)}{\|\lambda_t\|_1} \le \mu(\lambda_t)

    Parameters
    ----------
    path : array-like of shape (n_rounds + 1,)
        The smooth margin; ``-inf`` before the first step.
    margin : float, optional
        The margin that the last round reached.
    bound : float, optional
        The largest margin there is, as of ``pushrank.theory.max_margin``.
    name : str, optional
        What the curve is called in the legend.

    Attributes
    ----------
    line_ : matplotlib artist
        The curve, after ``plot``.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is.

    Notes
    -----
    While pairs are still misranked the smooth margin is negative and large: the curve is drawn where it is
    above zero, or no farther below than it ends above.

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005.

    Examples
    --------
    >>> display = SmoothMarginPathDisplay(path=[-float("inf"), -0.5, 0.1, 0.2], margin=0.25)
    >>> display.path[-1].item(), display.margin
    (0.2, 0.25)
    """

    def __init__(
        self,
        *,
        path: ArrayLike,
        margin: float | None = None,
        bound: float | None = None,
        name: str | None = None,
    ) -> None:
        self.path = np.asarray(path, dtype=np.float64)
        self.margin = margin
        self.bound = bound
        self.name = name

    @classmethod
    def compute(cls, estimator: Any, *, bound: float | None = None, name: str | None = None) -> Self:
        """Take the path of a fitted ranker without drawing it.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``smooth_margin_path_``.
        bound : float, optional
            The largest margin there is.
        name : str, optional
            What the curve is called; by default the estimator's class.

        Raises
        ------
        TypeError
            When the estimator keeps no path.
        """
        ranker = final_step(estimator)
        check_is_fitted(ranker)
        if not hasattr(ranker, "smooth_margin_path_"):
            raise TypeError(f"{name_of(estimator)} keeps no smooth_margin_path_; SmoothMarginRanking does.")
        return cls(
            path=ranker.smooth_margin_path_,
            margin=float(ranker.margin_),
            bound=bound,
            name=name or name_of(estimator),
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        bound: float | None = None,
        ax: Any = None,
        name: str | None = None,
        curve_kwargs: dict[str, Any] | None = None,
        plot_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Take the path of a fitted ranker and draw it.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``smooth_margin_path_``.
        bound : float, optional
            The largest margin there is, drawn as a line to compare with.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        name : str, optional
            What the curve is called; by default the estimator's class.
        curve_kwargs : dict, optional
            Keywords of matplotlib's ``plot``.
        plot_kwargs : dict, optional
            Keywords of ``plot``.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        TypeError
            When the estimator keeps no path.
        """
        return cls.compute(estimator, bound=bound, name=name).plot(
            ax, **with_curve(plot_kwargs, curve_kwargs)
        )

    def plot(
        self, ax: Any = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None
    ) -> Self:
        """Draw the path on a logarithmic axis of rounds.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        name : str, optional
            What to call the curve in place of ``self.name``.
        curve_kwargs : dict, optional
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        SmoothMarginPathDisplay
            This display.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        """
        ax = axes_or_new(ax)
        size = max(abs(value) for value in (self.path[-1], self.margin, self.bound) if value is not None)
        rounds = np.flatnonzero(self.path >= -size)
        style = curve_style(ax, name or self.name, curve_kwargs)
        (self.line_,) = ax.plot(rounds, self.path[rounds], **style)
        if self.margin is not None:
            ax.plot(rounds[-1:], [self.margin], "o", color=style["color"], label="margin reached")
        if self.bound is not None:
            draw_reference(ax, rounds[[0, -1]], [self.bound] * 2, "largest margin there is")
        ax.set(xscale="log", xlabel="rounds", ylabel="smooth margin")
        count_ticks(ax.xaxis)
        finish(ax, legend="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self
