"""The push at the bottom of the list (Rudin, JMLR 10 (2009), section 7)."""

from __future__ import annotations

from typing import Literal

from pushrank.estimators._base import BasePushRanker
from pushrank.estimators._validation import check_number
from pushrank.objectives import PushObjective
from pushrank.prices import Power


class BottomPush(BasePushRanker):
    r"""Rank so that the worst-placed positives are pulled up: few positives at the bottom of the list.

    Minimises

    .. math::

        \frac{1}{p} \ln \sum_i \Bigl(\sum_k e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2 ,

    the P-Norm Push of the exchanged classes at negated scores: use it where what lies at the bottom will be
    discarded unseen.

    Parameters
    ----------
    p : float, default=4.0
        The strength of the pull, any finite number of at least 1.
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
    An iteration reads the data once, O(nnz).

    References
    ----------
    Rudin, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = BottomPush(p=8).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[-150:]].any())
    (True, False)
    """

    def __init__(
        self,
        p: float = 4.0,
        *,
        alpha: float = 1e-3,
        solver: Literal["lbfgs", "newton-cg", "coordinate"] = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.p = p
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def _objective(self) -> PushObjective:
        check_number("p", self.p, 1.0)
        return PushObjective(price=Power(float(self.p)), side="pull", scale="log")
