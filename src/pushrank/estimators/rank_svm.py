"""RankSVM.

Ralf Herbrich, Thore Graepel, Klaus Obermayer, *Large margin rank boundaries for ordinal regression*, 2000;
Thorsten Joachims, *Optimizing search engines using clickthrough data*, KDD 2002.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from pushrank._log_space import Floats
from pushrank.estimators._certified import Solution
from pushrank.estimators._comparing import ComparingRanker
from pushrank.estimators._kernels import LOSSES, OF_THE_PAPER, KernelRanker
from pushrank.estimators._validation import check_solver, ranking_data
from pushrank.models import LinearModel, Model
from pushrank.objectives import PushObjective
from pushrank.objectives.mean_hinge import mean_hinge
from pushrank.pairs import BipartiteSample, Sample
from pushrank.solvers import Watcher
from pushrank.solvers.certificate import Certificate, squared_hinge_certificate
from pushrank.solvers.certified_lbfgs import certified_lbfgs
from pushrank.solvers.cutting_plane import cutting_plane
from pushrank.solvers.functional_newton import functional_newton
from pushrank.solvers.gradient_projection import gradient_projection


class RankSVM(ComparingRanker, KernelRanker):
    r"""Rank so that as few pairs as possible are misordered, with a margin: RankSVM, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x` or those of a kernel,

    .. math::

        \frac12 \|f\|^2 + \frac{C}{I K} \sum_i \sum_k \ell\bigl(1 - f(x_i) + f(\tilde x_k)\bigr) ,

    i over the I positives and k over the K negatives, with :math:`\ell(z) = z_+` or its square; for grades,
    query groups and explicit pairs the mean is that of all pairs to be compared.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the mean loss against the norm, positive and at most 1e30.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        The space of the scores: linear ones, or those of a kernel, by name or as a function of two sets of
        rows to the matrix of its values, which must be positive semi-definite; a ranker that holds a
        function cannot be saved. ``"precomputed"`` takes that matrix in place of ``X``.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        The loss of a pair.
    solver : {"auto", "gradient-projection"}, default="auto"
        ``"auto"`` takes cutting planes for the hinge, L-BFGS for the squared hinge of linear scores and
        Newton's method for that of kernels. ``"gradient-projection"`` is the algorithm of Agarwal's figure
        3, with a variable for each pair, for reproduction: it takes two classes, unweighted, and the hinge.
    gamma : {"scale", "auto"} or float, default="scale"
        The :math:`\gamma` of ``"rbf"`` :math:`e^{-\gamma \|x - z\|^2}` and ``"poly"``
        :math:`(\gamma x \cdot z + c)^d`: ``"scale"`` is 1 / (n_features * X.var()), ``"auto"`` is
        1 / n_features.
    degree : int, default=3
        The d of ``"poly"``, at least 1.
    coef0 : float, default=0.0
        The c of ``"poly"``, at least zero.
    cache_size : float, default=1000.0
        Megabytes of kernel values that may be kept.
    class_weight : dict, "balanced" or None, default=None
        A pair weighs the product of its classes' weights; ``"balanced"`` is n / (2 n_c) for n_c rows of a
        class. For two classes that is a factor of C, and moves ``threshold_``.
    tol : float, default=1e-4
        Converged when the relative duality gap is at most this.
    max_iter : int, default=1000
        The most iterations: of L-BFGS or Newton's method for the squared hinge, planes for the hinge.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Of linear scores: the coefficients, in the dtype of the training data.
    support_ : ndarray of int
        With a kernel: the training rows that the scores are a sum over.
    dual_coef_ : ndarray of shape (n_support,)
        With a kernel: their weights.
    support_vectors_ : array of shape (n_support, n_features)
        With a kernel, unless precomputed: those rows.
    gamma_ : float
        With a kernel, unless precomputed: its :math:`\gamma`.
    primal_objective_, dual_objective_ : float
        The objective at the answer, as rounded to the dtype of ``coef_``, and a bound below which no answer
        is.
    dual_gap_ : float
        Their difference, relative to the first.
    n_iter_ : int
        Iterations run.
    converged_ : bool
        Whether the gap came down to ``tol``.
    classes_ : ndarray
        The two classes, or the grades, ascending; absent after a fit to pairs.
    threshold_ : float
        The break-even point of the training scores: as many rows score above it as are positive.
    thresholds_ : ndarray of shape (n_grades - 1,)
        With grades: the break-even point above each grade but the highest.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had names that are all strings.

    Notes
    -----
    An iteration costs two readings of the data and sorting the scores, however many pairs there are; grades
    cost a sort for each binary digit of their number, explicit pairs time linear in theirs. With a kernel an
    iteration costs a few products with the kernel matrix. Pairs with equal scores have the loss of margin
    zero.

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
        kernel: Any = "linear",
        *,
        loss: Literal["hinge", "squared_hinge"] = "squared_hinge",
        solver: Literal["auto", "gradient-projection"] = "auto",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_size: float = 1000.0,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.loss = loss
        self.solver = solver
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _learn(self, X: Any, y: ArrayLike | None, *of_rows: Any) -> Self:
        return self._fit_path([self], ranking_data, X, y, *of_rows)[0]

    def path(
        self,
        X: Any,
        y: ArrayLike | None,
        Cs: Iterable[float],
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pairs: Any = None,
    ) -> list[Self]:
        """Fit one ranker for each C, each from where the one before ended.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            As for ``fit``.
        y : array-like of shape (n_samples,), or None
            As for ``fit``.
        Cs : iterable of float
            The positive weights of the loss, in the order to go; rising is fastest.
        sample_weight, group, qid : array-like of shape (n_samples,), optional
            As for ``fit``.
        pairs : array-like of shape (n_pairs, 2) or (n_pairs, 3), or pair of arrays, optional
            As for ``fit``.

        Returns
        -------
        list
            A fitted ranker for each C, with this one's other parameters; this one is not changed.

        Raises
        ------
        ValueError
            As for ``fit``, and when there is no C.
        TypeError
            As for ``fit``.

        Warns
        -----
        ConvergenceWarning
            When the gap of one of them is above ``tol``.
        """
        return self._fit_path(self._for_each(Cs), ranking_data, X, y, sample_weight, group, qid, pairs)

    def _objective(self) -> PushObjective:
        return PushObjective(self.loss, scale="mean")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {list(LOSSES)}, got {self.loss!r}.")
        check_solver(self.solver, ("auto", OF_THE_PAPER))
        if self.solver == OF_THE_PAPER and self.loss != "hinge":
            raise ValueError("solver='gradient-projection' is for loss='hinge'; use solver='auto'.")

    def _optimise(
        self, model: Model, sample: Sample, C: float, watcher: Watcher | None, state: Any
    ) -> Solution:
        if self.solver == OF_THE_PAPER:
            return self._by_pairs(model, sample, C, watcher)
        if self.loss == "hinge":
            risk = partial(mean_hinge, sample)
            found = cutting_plane(risk, model, C, float(self.tol), int(self.max_iter), watcher, state)
            return Solution(found.coef, found.certificate, found.n_iter, found.planes)
        objective, certify = self._objective(), partial(squared_hinge_certificate, model, sample, C)
        solve: Any = certified_lbfgs if isinstance(model, LinearModel) else functional_newton
        most = int(self.max_iter)
        coef, certificate, n_iter = solve(
            objective, model, sample, C, certify, float(self.tol), most, watcher, state
        )
        return Solution(coef, certificate, n_iter, coef)

    def _loss(self, sample: Sample, scores: Floats) -> float:
        return self._objective().linearise(sample, scores).value

    def _by_pairs(self, model: Model, sample: Sample, C: float, watcher: Watcher | None) -> Solution:
        """Run the paper's algorithm."""
        if not isinstance(sample, BipartiteSample) or sample.positive_weights is not None:
            raise ValueError(
                "solver='gradient-projection' takes two classes without sample_weight; use solver='auto'."
            )
        highest = C / sample.pair_weight

        def certify(pairs: Floats, coef: Floats, scores: Floats) -> Certificate:
            penalty = 0.5 * model.squared_norm(coef, scores)
            loss = mean_hinge(sample, scores)[0]
            return Certificate(penalty + C * loss, float(pairs.sum()) - penalty)

        found, n_iter = gradient_projection(
            lambda pairs: np.clip(pairs, 0.0, highest),
            certify,
            model,
            sample,
            float(self.tol),
            int(self.max_iter),
            watcher,
        )
        return Solution(found.coef, found.certificate, n_iter, None)
