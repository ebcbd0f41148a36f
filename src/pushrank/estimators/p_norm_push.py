"""The P-Norm Push.

Cynthia Rudin, *The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of the List*,
Journal of Machine Learning Research 10 (2009), 2233-2271.
"""

from __future__ import annotations

from typing import Literal

from pushrank.estimators._base import BasePushRanker
from pushrank.estimators._validation import check_number
from pushrank.objectives import PushObjective
from pushrank.prices import Power


class PNormPush(BasePushRanker):
    r"""Rank so that the worst-placed negatives are pushed down: the P-Norm Push.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2 ,

    i over the positives and k over the negatives. The larger p, the more the objective looks at the negatives
    near the top alone; p = 1 is RankBoost's objective.

    Parameters
    ----------
    p : float, default=4.0
        The strength of the push, any finite number of at least 1. Powers of two from 1 to 64 are a good
        grid.
    alpha : float, default=1e-3
        The L2 strength, at least 0. With 0 separable data have no optimum, which is reported.
    solver : {"lbfgs", "newton-cg", "coordinate"}, default="lbfgs"
        How to minimise. ``"coordinate"`` is the paper's boosting algorithm, with the features as weak
        rankers.
    tol : float, default=1e-4
        Converged when no entry of the gradient exceeds this, in units of one over the feature's standard
        deviation within the classes.
    max_iter : int, default=1000
        The most iterations; for ``"coordinate"`` the paper's number of rounds :math:`t_{max}`.
    warm_start : bool, default=False
        Start from the last fit's coefficients, as when p grows along a path.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients, in the dtype of the training data.
    classes_ : ndarray of shape (2,)
        The negative and the positive class.
    threshold_ : float
        The break-even point of the training scores: as many rows score above it as are positive.
    n_iter_ : int
        Iterations run.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The objective at the start and after every iteration.
    converged_ : bool
        Whether the gradient came down to ``tol``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had names that are all strings.

    Notes
    -----
    An iteration reads the data once, O(nnz), and needs O(n_features) memory; there is no intercept, since
    pairs ignore it. Positives and negatives with equal scores have the loss of margin zero.

    References
    ----------
    Rudin, JMLR 10 (2009), equation (5) and figure 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PNormPush(p=8).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
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
        return PushObjective(price=Power(float(self.p)), scale="log")
