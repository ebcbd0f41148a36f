"""RankSVM.

Ralf Herbrich, Thore Graepel, Klaus Obermayer, *Large margin rank boundaries for ordinal regression*, 2000;
Thorsten Joachims, *Optimizing search engines using clickthrough data*, KDD 2002.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pushrank._log_space import Floats
from pushrank.estimators._certified import CertifiedRanker
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers import SOLVERS, Problem, Watcher
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.cutting_plane import cutting_plane

LOSSES = ("hinge", "squared_hinge")
TIGHTER = 0.1


class RankSVM(CertifiedRanker):
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {list(LOSSES)}, got {self.loss!r}.")

    def _optimise(
        self, model: LinearModel, sample: Sample, watcher: Watcher | None
    ) -> tuple[Floats, Certificate, int]:
        solve = self._by_planes if self.loss == "hinge" else self._by_gradients
        return solve(model, sample, watcher)

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
