"""How a fit's objective came down."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pushrank.plots._axes import axes_or_new, curve_style, finish
from pushrank.plots._display import final_step, name_of, with_curve


class ObjectivePathDisplay:
    r"""The objective at the start of a fit and after every iteration or round.

    .. math:: t \mapsto R(\lambda_t)

    Parameters
    ----------
    path : array-like of shape (n_iter + 1,)
        The objective, on whatever scale its fit uses.
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
    Paths of different objectives have different units. How fast solvers of one objective converge shows
    in ``plot(above=lowest)``, with the lowest value that any of them reached.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 5.

    Examples
    --------
    >>> from pushrank import PNormPush
    >>> ranker = PNormPush().fit([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    >>> display = ObjectivePathDisplay.compute(ranker)
    >>> len(display.path) == ranker.n_iter_ + 1, display.name
    (True, 'PNormPush')
    """

    def __init__(self, *, path: ArrayLike, name: str | None = None) -> None:
        self.path = np.asarray(path, dtype=np.float64)
        self.name = name

    @classmethod
    def compute(cls, estimator: Any, *, name: str | None = None) -> Self:
        """Take the path of a fitted ranker without drawing it.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``objective_path_``.
        name : str, optional
            What the curve is called; by default the estimator's class.

        Raises
        ------
        TypeError
            When the estimator keeps no path.
        """
        ranker = final_step(estimator)
        check_is_fitted(ranker)
        if not hasattr(ranker, "objective_path_"):
            raise TypeError(
                f"{name_of(estimator)} keeps no objective_path_; the push rankers and boosting do."
            )
        return cls(path=ranker.objective_path_, name=name or name_of(estimator))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ax: Any = None,
        name: str | None = None,
        curve_kwargs: dict[str, Any] | None = None,
        plot_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Take the path of a fitted ranker and draw it.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``objective_path_``.
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
        return cls.compute(estimator, name=name).plot(ax, **with_curve(plot_kwargs, curve_kwargs))

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        above: float | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        name : str, optional
            What to call the curve in place of ``self.name``.
        above : float, optional
            Draw how far the objective was above this value, such as its minimum, on a logarithmic axis.
        curve_kwargs : dict, optional
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        ObjectivePathDisplay
            This display.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        """
        ax = axes_or_new(ax)
        iterations = np.arange(len(self.path))
        drawn = self.path
        if above is not None:
            drawn = self.path - above
            iterations, drawn = iterations[drawn > 0.0], drawn[drawn > 0.0]
            ax.set_yscale("log")
        (self.line_,) = ax.plot(iterations, drawn, **curve_style(ax, name or self.name, curve_kwargs))
        ax.set(xlabel="iteration", ylabel="objective" if above is None else "objective above its minimum")
        finish(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
