"""The open door: a ranker for any loss, price and side."""

from __future__ import annotations

from typing import Literal

from pushrank import losses, prices
from pushrank.estimators._linear import LinearRanker
from pushrank.estimators._validation import check_number
from pushrank.losses import Loss
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Scale, Side
from pushrank.prices import Price


class PushRanker(LinearRanker):
    r"""Rank by any pair loss under any price: the whole framework as one estimator.

    Minimises :math:`F(Xw) + \frac{\alpha}{2} \|w\|^2`, where F has the minimisers of

    .. math::

        \sum_k g\Bigl(\sum_i \ell(f(x_i) - f(\tilde x_k))\Bigr)

    on a scale that neither overflows nor grows with the number of rows: the logarithm for the exponential
    loss and for the exponential price, the power mean for another loss with a power price, and the mean
    otherwise (see the scales of :class:`pushrank.PushObjective`).

    Parameters
    ----------
    loss : Loss or str, default="exponential"
        The pair loss, or its name in :mod:`pushrank.losses`.
    price : Price or str, default="identity"
        The price, or its name in :mod:`pushrank.prices`, such as ``Power(8)``.
    side : {"push", "pull", "both"}, default="push"
        Push negatives down, pull positives up, or both.
    bottom_weight : float, default=1.0
        The positive weight of the pull when ``side="both"``.
    alpha : float, default=1e-3
        The L2 strength, at least 0.
    solver : {"lbfgs", "newton-cg", "coordinate"}, default="lbfgs"
        How to minimise.
    tol : float, default=1e-4
        Converged when no entry of the gradient exceeds this, in units of one over the feature's standard
        deviation within the classes.
    max_iter : int, default=1000
        The most iterations, or rounds.
    warm_start : bool, default=False
        Start from the last fit's coefficients.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, classes_, threshold_, n_iter_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`.

    Notes
    -----
    An iteration reads the data twice. With the exponential loss it costs O(nnz); with another loss it adds
    a pass over all pairs, in blocks of bounded memory.

    References
    ----------
    Rudin, JMLR 10 (2009), equation (1) and section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pushrank.prices import Power
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushRanker(loss="logistic", price=Power(4)).fit(scale(X), y)
    >>> bool(y[ranker.rank(scale(X))[:300]].all())
    True
    """

    def __init__(
        self,
        loss: Loss | str = "exponential",
        price: Price | str = "identity",
        side: Side = "push",
        *,
        bottom_weight: float = 1.0,
        alpha: float = 1e-3,
        solver: Literal["lbfgs", "newton-cg", "coordinate"] = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.price = price
        self.side = side
        self.bottom_weight = bottom_weight
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def _objective(self) -> PushObjective:
        check_number("bottom_weight", self.bottom_weight, 0.0, exclusive=True)
        loss, price = losses.resolve(self.loss), prices.resolve(self.price)
        return PushObjective(loss, price, self.side, scale_for(loss, price), self.bottom_weight)


def scale_for(loss: Loss, price: Price) -> Scale:
    """Return the scale on which an objective is finite, convex and independent of the number of rows."""
    if price.log_divisor is None:
        return "mean"
    return "mean" if price.homogeneous and not loss.factorises else "log"
