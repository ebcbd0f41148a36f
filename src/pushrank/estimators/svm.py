"""The Infinite Push, RankSVM, SVM-MAP and the structural SVM.

The Infinite Push.

Shivani Agarwal, *The Infinite Push: A New Support Vector Ranking Algorithm that Directly Optimizes Accuracy
at the Absolute Top of the List*, SIAM International Conference on Data Mining 2011; Nan Li, Rong Jin, Zhi-Hua
Zhou, *Top Rank Optimization in Linear Time*, NIPS 2014, for the squared hinge (TopPush).

RankSVM.

Ralf Herbrich, Thore Graepel, Klaus Obermayer, *Large margin rank boundaries for ordinal regression*, 2000;
Thorsten Joachims, *Optimizing search engines using clickthrough data*, KDD 2002.

SVM-MAP.

Yisong Yue, Thomas Finley, Filip Radlinski, Thorsten Joachims, *A support vector method for optimizing average
precision*, SIGIR 2007.

The structural support vector machine for measures of the top.

Thorsten Joachims, *A support vector method for multivariate performance measures*, ICML 2005.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._numeric import Floats
from pushrank._validation import check_k
from pushrank.estimators._base import ComparingRanker, finite_scores
from pushrank.estimators._certified import LOSSES, OF_THE_PAPER, CertifiedRanker, KernelRanker, Solution
from pushrank.estimators._target import Target, check_solver, ranking_data
from pushrank.models import LinearModel, Model
from pushrank.objectives import PushObjective
from pushrank.objectives.average_precision import average_precision_hinge, mean_hinge
from pushrank.objectives.precision_at_k import PrecisionAtK
from pushrank.pairs import Sample
from pushrank.prices import Maximum
from pushrank.solvers import Callback
from pushrank.solvers.cutting_plane import Risk, cutting_plane
from pushrank.solvers.infinite_push import KERNEL_SOLVERS, LINEAR_SOLVERS, SOLVERS, solve_infinite_push
from pushrank.solvers.infinite_push.dual import InfinitePushDual, cost_per_positive
from pushrank.solvers.infinite_push.gradient_projection import rank_svm_by_pairs
from pushrank.solvers.newton import certified_lbfgs, functional_newton
from pushrank.solvers.result import Certificate, squared_hinge_certificate


class InfinitePush(KernelRanker):
    r"""Rank so that as many positives as possible stand above every negative: the Infinite Push, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x` or those of a kernel,

    .. math::

        \frac12 \|f\|^2 + \frac{C}{I} \sum_i \ell\bigl(1 - f(x_i) + \max_k f(\tilde x_k)\bigr) ,

    i over the I positives and k over the negatives, with the hinge :math:`\ell(z) = z_+` or its square. Since
    the hinge falls with the margin, the maximum over negatives of Agarwal's objective is at the
    highest-scored one.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss against the norm, positive and at most 1e30.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        The space of the scores: linear ones, or those of a kernel, by name or as a function of two sets of
        rows to the matrix of its values, which must be positive semi-definite; a ranker that holds a
        function cannot be saved. ``"precomputed"`` takes that matrix in place of ``X``.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Agarwal's loss, or TopPush's.
    solver : {"auto", "interior-point", "semismooth-newton", "smo", "gradient-projection"}, default="auto"
        ``"auto"`` takes an interior point method on a working set of rows for dense or small data; Newton's
        method on proximal points of the dual for sparse data and more than 1,000 features, with the interior
        point method after 300 iterations where there are at most 3,000; sequential minimal optimisation for
        kernels. Those three names force one, each for its kind of scores.
        ``"gradient-projection"`` is the algorithm of Agarwal's figure 2, with a variable for each pair, for
        reproduction: it takes unweighted rows and the hinge, and hardly ever reaches ``tol``.
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
    max_iter : int, default=10000
        The most iterations; of ``"smo"`` each is as many steps as there are rows.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Of linear scores: the coefficients, in the dtype of the training data.
    support_ : ndarray of int
        The training rows with a dual variable that is not zero.
    dual_coef_ : ndarray of shape (n_support,)
        Their dual variables :math:`\alpha_i` and :math:`-\beta_k`; ``coef_`` is the sum of these rows so
        weighted, the score with a kernel the sum of its values at them.
    support_vectors_ : array of shape (n_support, n_features)
        With a kernel, unless precomputed: those rows.
    gamma_ : float
        With a kernel, unless precomputed: its :math:`\gamma`.
    primal_objective_, dual_objective_ : float
        The objective at the answer, as rounded to the dtype of ``coef_``, and the bound below which no answer
        is.
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
    gradient iteration two readings of the data, and a semismooth Newton iteration some tens of readings of
    the rows that matter. Where the mean of the positives lies within the convex hull of the negatives,
    :math:`w = 0` is optimal: the fit then warns that the ranker says nothing, and what to do. Sample weights
    are those of the positives' losses, relative to their sum; a negative counts where its weight is not zero.
    Ties with the highest negative count as errors.

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
        kernel: Any = "linear",
        *,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        solver: Literal["auto", "interior-point", "semismooth-newton", "smo", "gradient-projection"] = "auto",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_size: float = 1000.0,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 10_000,
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

    def _optimise(
        self, model: Model, sample: Any, C: float, callback: Callback | None, state: Any
    ) -> Solution:
        dual = InfinitePushDual(model, sample, cost_per_positive(sample, C), self.loss)
        start = None if state is None else dual.rescaled(state)
        found, n_iter = solve_infinite_push(
            dual, str(self.solver), float(self.tol), int(self.max_iter), callback, start
        )
        return Solution(
            found.coef, found.certificate, n_iter, found, sample.scatter(found.alpha, -found.beta)
        )

    def _loss(self, sample: Sample, scores: Floats) -> float:
        return PushObjective(self.loss, Maximum(), scale="mean").evaluation(sample, scores).value

    def _what_went_wrong(self, cost: float) -> str:
        # every loss is one at zero, so that the objective there is the cost
        if not Certificate(self.primal_objective_, self.dual_objective_).proves_collapse(cost, self.tol):
            return super()._what_went_wrong(cost)
        return (
            f"collapsed: zero coefficients are optimal to within tol (objective {cost:g} at zero, at least "
            f"{self.dual_objective_:g} anywhere): the positives' mean lies among the negatives, or C is too "
            "small to matter. Push less, by PNormPush, whose p can be chosen, or raise C."
        )

    def _pair_objective(self) -> PushObjective:
        return PushObjective(self.loss, "maximum", scale="mean")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {list(LOSSES)}, got {self.loss!r}.")
        check_solver(self.solver, SOLVERS)
        if self.solver in (KERNEL_SOLVERS if self._is_linear else LINEAR_SOLVERS):
            kinds = "kernels" if self._is_linear else "linear scores"
            raise ValueError(
                f"solver={self.solver!r} is for {kinds}, not kernel={self.kernel!r}; use solver='auto'."
            )
        if self.solver == OF_THE_PAPER and self.loss != "hinge":
            raise ValueError("solver='gradient-projection' is for loss='hinge'; use solver='auto'.")


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
        self, model: Model, sample: Sample, C: float, callback: Callback | None, state: Any
    ) -> Solution:
        if self.solver == OF_THE_PAPER:
            by_pairs = rank_svm_by_pairs(model, sample, C, float(self.tol), int(self.max_iter), callback)
            return Solution(by_pairs.coef, by_pairs.certificate, by_pairs.n_iter, None)
        if self.loss == "hinge":
            risk = partial(mean_hinge, sample)
            found = cutting_plane(risk, model, C, float(self.tol), int(self.max_iter), callback, state)
            return Solution(found.coef, found.certificate, found.n_iter, found.planes)
        objective, certify = self._objective(), partial(squared_hinge_certificate, model, sample, C)
        solve: Any = certified_lbfgs if isinstance(model, LinearModel) else functional_newton
        most = int(self.max_iter)
        coef, certificate, n_iter = solve(
            objective, model, sample, C, certify, float(self.tol), most, callback, state
        )
        return Solution(coef, certificate, n_iter, coef)

    def _loss(self, sample: Sample, scores: Floats) -> float:
        return self._objective().evaluation(sample, scores).value


class SVMMAP(CertifiedRanker):
    r"""Rank so that the average precision is high: SVM-MAP, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac12 \|w\|^2 + C \max_{\hat y} \Bigl[ 1 - AP(\hat y)
        + \frac{1}{m n} \sum_{i, k} (\hat y_{ik} - 1) (f(x_i) - f(\tilde x_k)) \Bigr] ,

    over all orders :math:`\hat y` of the m positives among the n negatives. Sample weights are copies
    of rows, and must be whole numbers, of at most 10 million in a class; the time grows with their sum.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss against the norm, positive and at most 1e30.
    class_weight : dict, "balanced" or None, default=None
        C is multiplied by the product of the classes' weights; ``"balanced"`` is n / (2 n_c) for n_c rows of
        a class. Moves ``threshold_``.
    tol : float, default=1e-4
        Converged when the relative duality gap is at most this.
    max_iter : int, default=1000
        The most planes.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, primal_objective_, dual_objective_, dual_gap_, n_iter_, converged_, classes_, threshold_
        As for :class:`RankSVM`.
    n_features_in_, feature_names_in_
        As for :class:`RankSVM`.

    Notes
    -----
    One-slack cutting planes; a plane costs two readings of the data and about ten searches of the worst
    order, each O(n log n). Ties count as errors in the worst order.

    References
    ----------
    Yue et al., SIGIR 2007, optimisation problem 1; Agarwal, SDM 2011, section 6, where it is a baseline.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = SVMMAP(C=100.0).fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.99
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _optimise(
        self, model: Model, sample: Sample, C: float, callback: Callback | None, state: Any
    ) -> Solution:
        risk = partial(average_precision_hinge, sample)
        found = cutting_plane(risk, model, C, float(self.tol), int(self.max_iter), callback, state)
        return Solution(found.coef, found.certificate, found.n_iter, found.planes)

    def _loss(self, sample: Sample, scores: Floats) -> float:
        return average_precision_hinge(sample, scores)[0]


MEASURES = ("precision", "prbep")


class StructSVM(CertifiedRanker):
    r"""Rank for precision at k or the break-even point by a structural SVM: SVMPerf, certified.

    Minimises, over linear scores :math:`s = X w`,

    .. math::

        \frac12 \|w\|^2 + C \max_{\hat y} \Bigl[ \Delta(\hat y)
        + \frac1k \sum_r (\hat y_r - y_r) s_r \Bigr] ,

    over all labelings :math:`\hat y` with k positives, :math:`\Delta` being the share of negatives among
    them.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss against the norm, positive and at most 1e30.
    measure : {"precision", "prbep"}, default="precision"
        Precision at k, or the precision-recall break-even point, which is precision at the number of
        positives. SVMPerf for the AUC is :class:`RankSVM` with ``loss="hinge"``.
    k : int or float, default=0.25
        For ``"precision"``: an int is a number of rows, at most that of the positives; a float in (0, 1] the
        fraction of the positives, rounded to a number between 1 and theirs.
    class_weight : dict, "balanced" or None, default=None
        C is multiplied by the product of the classes' weights; ``"balanced"`` is n / (2 n_c) for n_c rows of
        a class. Moves ``threshold_``.
    tol : float, default=1e-4
        Converged when the relative duality gap is at most this.
    max_iter : int, default=1000
        The most planes.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, primal_objective_, dual_objective_, dual_gap_, n_iter_, converged_, classes_, threshold_
        As for :class:`RankSVM`.
    n_features_in_, feature_names_in_
        As for :class:`RankSVM`.

    Notes
    -----
    One-slack cutting planes; a plane costs two readings of the data and about ten evaluations of the loss,
    O(n + k log k) each. Where k is below the number of positives the loss can be negative, and is no bound on
    the measure; it also falls with a constant added to all scores, so that features are best centred.
    :class:`RampAtK` and :class:`SGDAtK` minimise losses that are.

    References
    ----------
    Joachims, ICML 2005; Kar, Narasimhan and Jain, ICML 2015, section 5, where it is a baseline.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = StructSVM(C=10.0, measure="prbep").fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.98
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        measure: Literal["precision", "prbep"] = "precision",
        k: float = 0.25,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.measure = measure
        self.k = k
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_k(self.k)
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {list(MEASURES)}, got {self.measure!r}.")

    def _what_went_wrong(self, cost: float) -> str:
        # the share of negatives at the top of tied rows is one
        if not Certificate(self.primal_objective_, self.dual_objective_).proves_collapse(cost, self.tol):
            return super()._what_went_wrong(cost)
        return (
            f"collapsed: zero coefficients are optimal (objective {cost:g} at zero, at least "
            f"{self.dual_objective_:g} anywhere). Try RampAtK or PerceptronAtK(variant='max'), which need "
            "only k of the positives, or a smaller k."
        )

    def _keep_function(
        self,
        solution: Solution,
        X: Any,
        model: Model,  # noqa: ARG002
        target: Target,  # noqa: ARG002
    ) -> NDArray[np.floating]:
        # the loss may fall without bound but for the norm, so that coefficients grow with the features
        with np.errstate(over="ignore"):
            self.coef_ = solution.coef.astype(X.dtype)
        return finite_scores(X, self.coef_)

    def _model(self, X: Any, weights: Floats | None) -> Model:  # noqa: ARG002
        # where k is below the number of positives, a constant added to all scores changes the loss
        model = LinearModel(X, centred=self.measure != "precision")
        model.check_range()
        return model

    def _optimise(
        self, model: Model, sample: Sample, C: float, callback: Callback | None, state: Any
    ) -> Solution:
        risk = self._risk(sample)
        found = cutting_plane(
            risk, model, C, float(self.tol), int(self.max_iter), callback, state, non_negative=False
        )
        return Solution(found.coef, found.certificate, found.n_iter, found.planes)

    def _risk(self, sample: Sample) -> Risk:
        """Return the measure's loss and subgradient as a function of the scores."""
        surrogate = PrecisionAtK(1.0 if self.measure == "prbep" else self.k, "struct")
        count = surrogate.count(sample.class_weights[0])
        return partial(_mean_struct, surrogate, count, sample)

    def _loss(self, sample: Sample, scores: Floats) -> float:
        return self._risk(sample)(scores)[0]


def _mean_struct(
    surrogate: PrecisionAtK, count: float, sample: Sample, scores: Floats
) -> tuple[float, Floats]:
    value, slope = surrogate.evaluation(sample, scores)
    return value / count, slope / count
