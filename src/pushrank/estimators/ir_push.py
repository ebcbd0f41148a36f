"""The push for information retrieval (Rudin, JMLR 10 (2009), section 7)."""

from __future__ import annotations

from typing import Literal

from pushrank.estimators._base import BasePushRanker
from pushrank.objectives import PushObjective


class IRPush(BasePushRanker):
    r"""Rank so that many positives come very early, as search does: the IR Push.

    Minimises

    .. math::

        \frac{1}{I} \sum_i \ln\Bigl(1 + \sum_k e^{-(f(x_i) - f(\tilde x_k))}\Bigr)
        + \frac{\alpha}{2} \|w\|^2 ,

    a convex stand-in for the discounted gains of the positives: one misplaced positive costs the logarithm of
    its reverse height only.

    Parameters
    ----------
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
    An iteration reads the data twice, O(nnz). The paper's objective is the sum; the mean has the same
    minimisers without a penalty, and makes ``alpha`` independent of the number of positives.

    References
    ----------
    Rudin, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = IRPush().fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
    """

    def __init__(
        self,
        *,
        alpha: float = 1e-3,
        solver: Literal["lbfgs", "newton-cg", "coordinate"] = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def _objective(self) -> PushObjective:
        return PushObjective(price="log_one_plus", side="pull", scale="mean")
