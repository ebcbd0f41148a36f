"""The push at both ends of the list (Rudin, JMLR 10 (2009), section 7)."""

from __future__ import annotations

from typing import Literal

from pushrank.estimators._linear import LinearRanker
from pushrank.objectives import PushObjective
from pushrank.prices import Power


class TopBottomPush(LinearRanker):
    r"""Rank so that both ends of the list are right: few negatives on top, few positives at the bottom.

    Minimises

    .. math::

        \frac{1}{p} \ln \Bigl[ \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + c \sum_i \Bigl(\sum_k e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p \Bigr] + \frac{\alpha}{2} \|w\|^2 .

    Parameters
    ----------
    p : float, default=4.0
        The strength of both pushes, any finite number of at least 1.
    bottom_weight : float, default=1.0
        The weight c of the bottom's part, positive.
    alpha : float, default=1e-3
        The L2 strength, at least 0.
    solver : {"lbfgs", "newton-cg", "coordinate"}, default="lbfgs"
        How to minimise.
    tol : float, default=1e-4
        Converged when no entry of the gradient exceeds this, in units of one over the feature's standard
        deviation within the classes. L-BFGS goes on beyond it where n_samples * n_features ** 2 is at most
        2 ** 26, as far as the objective shows descent.
    max_iter : int, default=1000
        The most iterations, or rounds.
    warm_start : bool, default=False
        Start from the last fit's coefficients; the features must be its own.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, classes_, threshold_, n_iter_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Where there are more than two grades: the break-even thresholds between them.

    Notes
    -----
    An iteration reads the data twice, O(nnz); otherwise a fit costs as much as :class:`PNormPush`'s. The
    logarithm of the paper's sum is convex too, has its minimisers, and stays finite for every p. With classes
    of very different size the parts differ in size by the ratio to the power p - 1, which ``bottom_weight``
    can offset.

    References
    ----------
    Rudin, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = TopBottomPush(p=4).fit(scale(X), y)
    >>> order = ranker.rank(scale(X))
    >>> bool(y[order[:300]].all()), bool(y[order[-150:]].any())
    (True, False)
    """

    def __init__(
        self,
        p: float = 4.0,
        bottom_weight: float = 1.0,
        *,
        alpha: float = 1e-3,
        solver: Literal["lbfgs", "newton-cg", "coordinate"] = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.p = p
        self.bottom_weight = bottom_weight
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def _objective(self) -> PushObjective:
        return PushObjective(price=Power(self.p), side="both", scale="log", bottom_weight=self.bottom_weight)
