"""The open door: a ranker for any loss, price and side."""

from __future__ import annotations

from typing import Any, Literal, Self

from sklearn.exceptions import ConvergenceWarning

from pushrank import losses, prices
from pushrank.estimators._linear import AnyLinearModel, LinearRanker
from pushrank.estimators._target import Target
from pushrank.estimators._warnings import warn
from pushrank.losses import Loss
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective, SmoothedObjective
from pushrank.objectives.push import Scale, Side
from pushrank.pairs import ACCURACY, Sample
from pushrank.prices import Price
from pushrank.solvers import Result, Watcher, lbfgs
from pushrank.solvers.infinite_push import infinite_push, is_infinite_push
from pushrank.solvers.smoothing import smoothing

HEAVIEST = 1e100  # the square of a sum of losses with these weights is a number
LEARNED_BY_KINKED = ("primal_objective_", "dual_objective_", "dual_gap_")


class PushRanker(LinearRanker):
    r"""Rank by any pair loss under any price: the whole framework as one estimator.

    Minimises :math:`F(Xw) + \frac{\alpha}{2} \|w\|^2`, where F has the minimisers of

    .. math::

        \sum_k g\Bigl(\sum_i \ell(f(x_i) - f(\tilde x_k))\Bigr)

    on a scale that does not overflow: the logarithm for the exponential loss and for the exponential price,
    the power mean for another loss with a power price, the largest mean loss with the maximum, and the mean
    otherwise (see the scales of :class:`pushrank.PushObjective`). Twice the rows leave the best coefficients
    as they are, under the same ``alpha``, but for two prices that are no powers: :math:`\ln(1 + h)`, by
    little, and :math:`e^h`, whose logarithm grows as the inner sums h do.

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
        The L2 strength, at least 0; positive for the hinge and the maximum.
    solver : {"lbfgs", "newton-cg", "coordinate"}, default="lbfgs"
        How to minimise. The hinge and the maximum, which have kinks, are approached by smooth objectives,
        each minimised by L-BFGS; but the maximum of the hinge or its square, of two classes, is the problem
        of :class:`InfinitePush`, and solved as there.
    accuracy : float, default=1e-10
        The relative error of an analytic loss's sums over pairs, from 1e-13 to 0.1.
    tol : float, default=1e-4
        Converged when no entry of the gradient exceeds this, in units of one over the feature's standard
        deviation within the classes; for the hinge and the maximum, when the relative duality gap is at most
        this. L-BFGS goes on beyond it as for :class:`PNormPush`.
    max_iter : int, default=1000
        The most iterations, or rounds.
    warm_start : bool, default=False
        Start from the last fit's coefficients; the features must be its own.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, classes_, threshold_, n_iter_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`. Where kinks are smoothed the path is that of the smoothed objectives.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Where there are more than two grades: the break-even thresholds between them.
    primal_objective_, dual_objective_ : float
        With the hinge or the maximum: the objective at the answer, and the bound below which no answer is
        (minus infinity where the loss or the price is not convex).
    dual_gap_ : float
        Their difference, relative to the first.

    Notes
    -----
    An iteration reads the data twice, O(nnz). No pairs are formed: the exponential loss adds nothing, the
    hinge, its square and other piecewise polynomials a sort of the scores, analytic losses a few passes over
    them. A loss or price of your own joins by subclassing :class:`pushrank.losses.Loss` or
    :class:`pushrank.prices.Price`. The sigmoid losses, and the price ``LogOnePlus`` with a loss other than
    the exponential, are not convex: the answer is then a local minimum.

    No sampling of pairs is needed for any of this. A sample of them, passed as ``pairs``, is of use for a
    loss whose sums have no fast way, or where the pairs themselves are the data.

    Arrays of other libraries are taken for two classes and at most 1,024 features, by the solvers
    ``"lbfgs"`` and ``"newton-cg"``, with losses and prices without kinks.

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
        *,
        side: Side = "push",
        bottom_weight: float = 1.0,
        alpha: float = 1e-3,
        solver: Literal["lbfgs", "newton-cg", "coordinate"] = "lbfgs",
        accuracy: float = ACCURACY,
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
        self.accuracy = accuracy
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def _solve(self, objective: PushObjective, X: Any, target: Target) -> Self:
        _check_total_weight(objective, target.sample)
        self._forget(LEARNED_BY_KINKED)
        return super()._solve(objective, X, target)

    def _objective(self) -> PushObjective:
        loss, price = losses.resolve(self.loss), prices.resolve(self.price)
        return PushObjective(
            loss, price, self.side, scale_for(loss, price), self.bottom_weight, self.accuracy
        )

    def _check_solver_can(self, objective: PushObjective) -> None:
        super()._check_solver_can(objective)
        if objective.differentiable:
            return
        SmoothedObjective.check(objective)
        if self._solver != "lbfgs":
            raise ValueError(
                f"loss={objective.loss} with price={objective.price} has kinks, which "
                f"solver={self._solver!r} cannot take; use solver='lbfgs'."
            )
        if self.alpha == 0.0:
            raise ValueError(
                f"loss={objective.loss} with price={objective.price} needs alpha > 0, without which nothing "
                "bounds its optimum."
            )

    def _optimise(
        self,
        objective: PushObjective,
        model: AnyLinearModel,
        sample: Sample,
        alpha: float,
        watcher: Watcher | None,
    ) -> Result:
        if objective.differentiable or not isinstance(model, LinearModel):
            return super()._optimise(objective, model, sample, alpha, watcher)
        tol, max_iter = float(self.tol), int(self.max_iter)
        if is_infinite_push(objective, sample):
            found = infinite_push(objective, model, sample, alpha, tol, max_iter, watcher)
        else:
            start = self._start(model.n_features)
            found = smoothing(objective, model, sample, alpha, lbfgs, start, tol, max_iter, watcher)
        certificate = found.certificate
        self.primal_objective_, self.dual_objective_ = certificate.primal, certificate.dual
        self.dual_gap_ = certificate.gap
        if found.collapsed:
            warn(
                f"{type(self).__name__} collapsed: zero coefficients are optimal (objective "
                f"{found.at_zero:g} there, at least {certificate.dual:g} anywhere). Push less: use "
                "Power(p), whose p can be chosen, in place of Maximum, or lower alpha.",
                ConvergenceWarning,
            )
        return found.result


def _check_total_weight(objective: PushObjective, sample: Sample) -> None:
    """Raise where a price that is no power, and takes sums of losses as they are, would overflow."""
    if prices.resolve(objective.price).homogeneous:
        return
    total = max(sample.class_weights)
    if total > HEAVIEST:
        raise ValueError(
            f"sample_weight adds up to {total:.1e} in a class, and price={objective.price} takes at most "
            f"{HEAVIEST:g}; divide the weights."
        )


def scale_for(loss: Loss, price: Price) -> Scale:
    """Return the scale that is finite, convex and, where there is one, independent of the number of rows."""
    if price.log_divisor is None or not price.smooth:
        return "mean"
    return "mean" if price.homogeneous and not loss.factorises else "log"
