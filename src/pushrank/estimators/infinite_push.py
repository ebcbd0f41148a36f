"""The Infinite Push.

Shivani Agarwal, *The Infinite Push: A New Support Vector Ranking Algorithm that Directly Optimizes Accuracy
at the Absolute Top of the List*, SIAM International Conference on Data Mining 2011; Nan Li, Rong Jin, Zhi-Hua
Zhou, *Top Rank Optimization in Linear Time*, NIPS 2014, for the squared hinge (TopPush).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from pushrank._log_space import Floats
from pushrank.estimators._certified import CertifiedRanker
from pushrank.models import LinearModel
from pushrank.solvers import Watcher
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.interior_point import interior_point
from pushrank.solvers.projected_dual import projected_dual
from pushrank.solvers.worst_negative import WorstNegative

LOSSES = ("hinge", "squared_hinge")
SOLVERS = {"interior-point": interior_point, "projected-dual": projected_dual}
WIDEST = 1000  # columns up to which factoring a matrix of that size is cheap
SMALL = 1 << 22  # entries up to which sparse data are as well taken for dense


class InfinitePush(CertifiedRanker):
    r"""Rank so that as many positives as possible stand above every negative: the Infinite Push, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac12 \|w\|^2 + \frac{C}{I} \sum_i \ell\bigl(1 - f(x_i) + \max_k f(\tilde x_k)\bigr) ,

    i over the I positives and k over the negatives, with the hinge :math:`\ell(z) = z_+` or its square. Since
    the hinge falls with the margin, the maximum over negatives of Agarwal's objective is at the
    highest-scored one.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss against the norm, positive.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Agarwal's loss, or TopPush's.
    solver : {"auto", "interior-point", "projected-dual"}, default="auto"
        An interior point method on a working set of negatives, for dense or small data; accelerated
        projected gradients on the dual, for sparse data and more than 1,000 features; ``"auto"`` takes the
        one or the other by these rules.
    tol : float, default=1e-4
        Converged when the relative duality gap is at most this.
    max_iter : int, default=10000
        The most iterations.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients, in the dtype of the training data.
    support_ : ndarray of int
        The training rows with a dual variable that is not zero.
    dual_coef_ : ndarray of shape (n_support,)
        Their dual variables :math:`\alpha_i` and :math:`-\beta_k`; ``coef_`` is the sum of these rows so
        weighted.
    primal_objective_, dual_objective_ : float
        The objective at the answer, and the bound below which no answer is.
    dual_gap_ : float
        Their difference, relative to the first.
    n_iter_ : int
        Iterations run.
    converged_ : bool
        Whether the gap came down to ``tol``.
    classes_ : ndarray of shape (2,)
        The negative and the positive class.
    threshold_ : float
        The break-even point of the training scores: as many rows score above it as are positive.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had names that are all strings.

    Notes
    -----
    An interior point iteration costs O((I + J) d^2), J a few times the number of features d; a projected
    gradient iteration two readings of the data. Where the mean of the positives lies within the convex hull
    of the negatives, :math:`w = 0` is optimal: the fit then warns that the ranker says nothing, and what to
    do. Sample weights are those of the positives' losses, relative to their sum; a negative counts where its
    weight is not zero. Ties with the highest negative count as errors.

    References
    ----------
    Agarwal, SDM 2011, equations (3.4) and (3.9); Li, Jin and Zhou, NIPS 2014, equation (4).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = InfinitePush(C=100.0).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        solver: Literal["auto", "interior-point", "projected-dual"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 10_000,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _optimise(
        self, model: LinearModel, sample: Any, watcher: Watcher | None
    ) -> tuple[Floats, Certificate, int]:
        weights = (
            np.ones(len(sample.positives)) if sample.positive_weights is None else sample.positive_weights
        )
        problem = WorstNegative(model, sample, float(self.C) * weights / weights.sum(), self.loss)
        solve = SOLVERS[self._solver(model.data)]
        point, n_iter = solve(problem, float(self.tol), int(self.max_iter), watcher)
        dual = sample.join(point.alpha, -point.beta)
        self.support_ = np.flatnonzero(dual)
        self.dual_coef_ = dual[self.support_]
        return point.coef, point.certificate, n_iter

    def _solver(self, X: Any) -> str:
        if self.solver != "auto":
            return str(self.solver)
        few = X.shape[1] <= WIDEST and (not sp.issparse(X) or X.shape[0] * X.shape[1] <= SMALL)
        return "interior-point" if few else "projected-dual"

    def _what_went_wrong(self) -> str:
        # every loss is one at zero, so that the objective there is C
        if self.dual_objective_ < (1.0 - max(self.tol, 1e-12)) * self.C:
            return super()._what_went_wrong()
        return (
            f"collapsed: zero coefficients are optimal (objective {self.C:g} at zero, at least "
            f"{self.dual_objective_:g} anywhere), since the positives' mean lies among the negatives. "
            "Push less: use PNormPush, whose p can be chosen."
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {list(LOSSES)}, got {self.loss!r}.")
        if self.solver != "auto" and self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {['auto', *SOLVERS]}, got {self.solver!r}.")
