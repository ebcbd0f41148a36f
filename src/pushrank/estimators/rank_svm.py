"""RankSVM.

Ralf Herbrich, Thore Graepel, Klaus Obermayer, *Large margin rank boundaries for ordinal regression*, 2000;
Thorsten Joachims, *Optimizing search engines using clickthrough data*, KDD 2002.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from pushrank._log_space import Floats
from pushrank.estimators._base import BaseRanker, linear_scores
from pushrank.estimators._progress import watching
from pushrank.estimators._validation import DTYPES, FORMATS, check_number, training_data
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers import SOLVERS, Problem, Watcher
from pushrank.solvers.cutting_plane import cutting_plane
from pushrank.solvers.worst_negative import Certificate

LOSSES = ("hinge", "squared_hinge")
TIGHTER = 0.1


class RankSVM(BaseRanker):
    r"""Rank so that as few pairs as possible are misordered, with a margin: RankSVM, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac12 \|w\|^2 + \frac{C}{I K} \sum_i \sum_k \ell\bigl(1 - f(x_i) + f(\tilde x_k)\bigr) ,

    i over the I positives and k over the K negatives, with :math:`\ell(z) = z_+` or its square.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the mean loss against the norm, positive.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        The loss of a pair.
    tol : float, default=1e-4
        Converged when the relative duality gap is at most this.
    max_iter : int, default=1000
        The most iterations: of L-BFGS for the squared hinge, planes for the hinge.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients, in the dtype of the training data.
    primal_objective_, dual_objective_ : float
        The objective at the answer, and a bound below which no answer is.
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
    An iteration costs two readings of the data and sorting the scores, however many pairs there are. Pairs
    with equal scores have the loss of margin zero.

    References
    ----------
    Agarwal, SDM 2011, equation (2.3); Joachims, KDD 2006, for the cutting planes of the hinge.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = RankSVM(C=100.0).fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.99
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Literal["hinge", "squared_hinge"] = "squared_hinge",
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the coefficients from examples of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite features. float32 and float64 arrays, dense, CSR or CSC, are used where they lie, without
            a copy.
        y : array-like of shape (n_samples,)
            Labels of two classes; the larger in sorted order is the positive one, to be ranked at the top.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; a pair weighs the product of its rows' weights.

        Returns
        -------
        self
            The fitted ranker.

        Raises
        ------
        ValueError
            When a parameter is out of range, the data are not finite, or ``y`` has not two classes.
        TypeError
            When a parameter has the wrong type.

        Warns
        -----
        ConvergenceWarning
            When the gap is above ``tol``; the message says what to do.
        """
        check_number("C", self.C, 0.0, exclusive=True)
        check_number("tol", self.tol, 0.0, exclusive=True)
        check_number("max_iter", self.max_iter, 1, integer=True)
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {list(LOSSES)}, got {self.loss!r}.")
        X, target = training_data(self, X, y, sample_weight)
        with threadpool_limits(limits=1, user_api="blas"):
            model = LinearModel(X)
            model.check_range()
            with watching(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as watcher:
                solve = self._by_planes if self.loss == "hinge" else self._by_gradients
                coef, certificate, n_iter = solve(model, target.sample, watcher)
        self.coef_ = coef.astype(X.dtype)
        self.primal_objective_, self.dual_objective_ = certificate.primal, certificate.dual
        self.dual_gap_, self.n_iter_ = certificate.gap, n_iter
        self.converged_ = bool(certificate.gap <= self.tol)
        self._keep_classes(target, linear_scores(X, self.coef_))
        if not self.converged_:
            warnings.warn(
                f"RankSVM did not converge: the relative duality gap is {self.dual_gap_:.1e} after {n_iter} "
                "iterations; raise max_iter or tol, lower C, or scale the features.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``X @ coef_ - threshold_``.
        """
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse=FORMATS, dtype=DTYPES, reset=False)
        scores: NDArray[np.floating] = linear_scores(X, self.coef_) - self.coef_.dtype.type(self.threshold_)
        return scores

    def _by_planes(
        self, model: LinearModel, sample: Sample, watcher: Watcher | None
    ) -> tuple[Floats, Certificate, int]:
        objective = PushObjective("hinge", scale="mean")

        def risk(scores: Floats) -> tuple[float, Floats]:
            at_point = objective.linearise(sample, scores)
            return at_point.value, sample.join(*at_point.gradient())

        return cutting_plane(risk, model, float(self.C), float(self.tol), int(self.max_iter), watcher)

    def _by_gradients(
        self, model: LinearModel, sample: Sample, watcher: Watcher | None
    ) -> tuple[Floats, Certificate, int]:
        """Run L-BFGS to ever smaller gradients until the gap is small."""
        problem = Problem(PushObjective("squared_hinge", scale="mean"), model, sample, 1.0 / self.C)
        coef, n_iter, gradient = np.zeros(model.n_features), 0, 1e-3
        while True:
            found = SOLVERS["lbfgs"](problem, coef, gradient, int(self.max_iter) - n_iter, watcher)
            coef, n_iter = found.coef, n_iter + found.n_iter
            certificate = self._certificate(problem, coef)
            if certificate.gap <= self.tol or n_iter >= self.max_iter or not found.converged:
                return coef, certificate, n_iter
            gradient *= TIGHTER

    def _certificate(self, problem: Problem, coef: Floats) -> Certificate:
        """Return the objective, and the dual at the pairs' variables that the coefficients' margins suggest.

        With :math:`a = 2 C (1 - m)_+ / IK` for a pair of margin m, the dual is the sum of a, less
        :math:`a^2 IK / 4 C`, less half the squared norm of the combination of pairs.
        """
        scores = problem.model.scores(coef)
        squared = problem.objective.linearise(problem.sample, scores)
        hinge = PushObjective("hinge", scale="mean").linearise(problem.sample, scores).value
        combined = -self.C * problem.model.pull_back(problem.sample.join(*squared.gradient()))
        primal = 0.5 * float(coef @ coef) + self.C * squared.value
        dual = self.C * (2.0 * hinge - squared.value) - 0.5 * float(combined @ combined)
        return Certificate(float(primal), float(dual))
