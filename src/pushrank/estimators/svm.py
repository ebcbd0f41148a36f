"""Certified rankers: the Infinite Push, RankSVM, SVM-MAP and structural SVMs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats
from pushrank._base.user_types import MatrixLike, Pairs, PerRow
from pushrank._base.validation import check_choice, check_k, check_number, is_count
from pushrank.estimators._base import BaseEstimator, RankerMixin
from pushrank.estimators._certified import (
    CertifiedMixin,
    CertifiedSpec,
    SolverAndRisk,
    check_kernel,
    is_linear,
    limits,
)
from pushrank.models import LinearModel, Model
from pushrank.objectives import PartialAUC, PushObjective
from pushrank.objectives.average_precision import average_precision_hinge
from pushrank.objectives.precision_at_k import PrecisionAtK
from pushrank.objectives.queries import mean_infinite_push
from pushrank.pairs import BipartiteSample, GradedSample, Sample
from pushrank.solvers.cutting_plane import Risk, cutting_plane
from pushrank.solvers.infinite_push import (
    BY_PAIRS,
    KERNEL_SOLVERS,
    LINEAR_SOLVERS,
    SOLVERS,
    solve_infinite_push,
)
from pushrank.solvers.infinite_push.gradient_projection import infinite_push_by_pairs, rank_svm_by_pairs
from pushrank.solvers.newton import certified_lbfgs, functional_newton
from pushrank.solvers.result import CertifiedSolution

INFINITE_PUSH_COLLAPSE = (
    ": the positives' mean lies among the negatives, or C is too small to matter. Push less, by PNormPush, "
    "whose p can be chosen, or raise C."
)
PRECISION_COLLAPSE = (
    ". Try RampAtK or PerceptronAtK(variant='max'), which need only k of the positives, or a smaller k."
)
PARTIAL_AUC_COLLAPSE = (
    ": the positives' mean lies among the means of the highest negatives, whatever the direction. Push less, "
    "by a larger max_fpr or PNormPush, whose p can be chosen, or raise C."
)
SMALL_COLLAPSE = (
    ". The features are small, or C is: raise C, or scale the features, such as with StandardScaler."
)
"""What to do where zero coefficients are optimal, as warnings say it."""


def pair_risk(objective: PushObjective, sample: Sample, scores: Floats) -> float:
    return objective.evaluation(sample, scores).value


@shared_docs
@dataclass(eq=False, repr=False)
class InfinitePush(CertifiedMixin, BaseEstimator):
    r"""Rank so that as many positives as possible stand above every negative: the Infinite Push, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x` or those of a kernel,

    .. math::

        \frac12 \|f\|^2 + \frac{C}{I} \sum_i \ell\bigl(1 - f(x_i) + \max_k f(\tilde x_k)\bigr) ,

    i over the I positives, the paper's m, and k over the negatives, with the hinge :math:`\ell(z) = z_+` or
    its square. Since the hinge falls with the margin, the maximum over negatives of Agarwal's objective is at
    the highest-scored one. ``PushRanker("hinge", "maximum", alpha=1 / C)`` has the same solution.

    Where the mean of the positives lies within the convex hull of the negatives, :math:`w = 0` is optimal:
    the fit then warns and says what to do. Weights are those of the positives' losses, relative to their sum;
    a negative counts where its weight is not zero. Ties with the highest negative count as errors. With query
    groups the risk is the mean of each query's own push. :doc:`/certificates` has what an iteration costs.

    Agarwal, SDM 2011, equations (3.4) and (3.9); Li, Jin and Zhou, NIPS 2014, equation (4).

    Parameters
    ----------
    %(certified_parameters)s
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Agarwal's loss, or TopPush's.
    solver : {"auto", "interior-point", "semismooth-newton", "smo", "gradient-projection"}, default="auto"
        ``"auto"`` takes an interior point method on a working set of rows for dense or small data; Newton's
        method on proximal points of the dual for sparse data and more than 1,000 features, with the interior
        point method after 300 iterations where there are at most 3,000; sequential minimal optimisation for
        kernels, an iteration of which is as many steps as there are rows. These three names force one of
        them, each for its kind of scores.
        %(gradient_projection)s
    eta0 : float
    %(kernel_parameters)s

    Attributes
    ----------
    %(coef_linear_)s
    support_ : ndarray of shape (n_support,)
        The training rows with a dual variable that is not zero.
    dual_coef_ : ndarray of shape (n_support,)
        Their dual variables :math:`\alpha_i` and :math:`-\beta_k`; ``coef_`` is the sum of these rows so
        weighted, the score with a kernel the sum of its values at them.
    %(support_vectors_ gamma_ primal_dual_ dual_gap_ n_iter_ converged_gap_ classes_ threshold_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = InfinitePush(C=100.0).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
    """

    C: float = 1.0
    _: KW_ONLY
    kernel: str | Callable[..., ArrayLike] = "linear"
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    solver: Literal["auto", "interior-point", "semismooth-newton", "smo", "gradient-projection"] = "auto"
    eta0: float = 1e-4
    gamma: float | Literal["scale", "auto"] = "scale"
    degree: int = 3
    coef0: float = 0.0
    cache_size: float = 1000.0
    max_iter: int = 10_000

    def fit(
        self, X: Any, y: Any = None, sample_weight: PerRow = None, *, qid: PerRow = None, pairs: Pairs = None
    ) -> Self:
        """Learn a ranking from examples of two classes.

        %(two_class_rows)s
        pairs : None
            Refused: ``PushRanker("hinge", "maximum")`` minimises the same risk of pairs and of grades.

        %(fitted)s
        """
        if pairs is not None:
            raise ValueError(
                "InfinitePush takes two classes, and no pairs. For explicit pairs, and for grades, minimise "
                "the same risk by PushRanker('hinge', 'maximum', alpha=1 / C)."
            )
        return super().fit(X, y, sample_weight, qid=qid)

    def _certified_spec(self, qid: PerRow) -> CertifiedSpec:
        check_kernel(self, SOLVERS)
        if qid is not None and self.solver != "auto":
            raise ValueError(
                f"solver={self.solver!r} is for one list; query groups take cutting planes: use "
                "solver='auto'."
            )
        if self.solver in (KERNEL_SOLVERS if is_linear(self) else LINEAR_SOLVERS):
            kinds = "kernels" if is_linear(self) else "linear scores"
            raise ValueError(
                f"solver={self.solver!r} is for {kinds}, not kernel={self.kernel!r}; use solver='auto'."
            )
        return CertifiedSpec(self._solver, INFINITE_PUSH_COLLAPSE)

    def _solver(self, model: Model, sample: Any) -> SolverAndRisk:
        if isinstance(sample, GradedSample):
            plane = partial(mean_infinite_push, sample, squared=self.loss == "squared_hinge")
            return cutting_planes(self, model, plane)
        risk = partial(pair_risk, self._pair_objective(), sample)
        if self.solver == BY_PAIRS:
            return solver_by_pairs(infinite_push_by_pairs, self, model, sample), risk
        options: Any = {"loss": self.loss, "solver": self.solver}
        return partial(solve_infinite_push, model, sample, **limits(self), **options), risk

    def _pair_objective(self) -> PushObjective:
        return PushObjective(self.loss, "maximum", scale="mean")


def solver_by_pairs(
    algorithm: Callable[..., CertifiedSolution], ranker: RankerMixin, model: Model, sample: Sample
) -> Callable[..., CertifiedSolution]:
    """Return an algorithm of Agarwal's paper as a solver, which starts anew for each C."""
    options = {"eta0": float(ranker.eta0), "max_iter": int(ranker.max_iter)}
    return lambda C, *_: algorithm(model, sample, C, **options)


@shared_docs
@dataclass(eq=False, repr=False)
class RankSVM(CertifiedMixin, BaseEstimator):
    r"""Rank so that as few pairs as possible are misordered, with a margin: RankSVM, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x` or those of a kernel,

    .. math::

        \frac12 \|f\|^2 + \frac{C}{I K} \sum_i \sum_k \ell\bigl(1 - f(x_i) + f(\tilde x_k)\bigr) ,

    i over the I positives and k over the K negatives, with :math:`\ell(z) = z_+` or its square; for grades,
    query groups and explicit pairs the mean is that of all pairs to be compared. With the hinge it is also
    SVMPerf for the AUC: the structured hinge of the AUC is the mean hinge of all pairs.

    An iteration costs two passes over the data and sorting the scores, however many pairs there are; grades
    cost a sort for each binary digit of their number, explicit pairs time linear in their number. Pairs with
    equal scores have the loss of margin zero.

    Herbrich, Graepel and Obermayer, *Large margin rank boundaries for ordinal regression*, 2000; Joachims,
    KDD 2002; Agarwal, SDM 2011, equations (4.17) to (4.20); Joachims, KDD 2006, for the cutting planes.

    Parameters
    ----------
    %(certified_parameters)s
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        The loss of a pair.
    solver : {"auto", "gradient-projection"}, default="auto"
        ``"auto"`` takes the solver that suits the loss and the kernel.
        %(gradient_projection)s
    eta0 : float
    %(kernel_parameters)s

    Attributes
    ----------
    %(coef_linear_)s
    support_ : ndarray of shape (n_support,) or None
        With a kernel, the training rows that the scores are sums over; None for linear scores, whose
        solvers have no variable for a row.
    dual_coef_ : ndarray of shape (n_support,) or None
        The weights of these rows; None for linear scores.
    %(support_vectors_ gamma_ primal_dual_ dual_gap_ n_iter_ converged_gap_ classes_grades_ threshold_)s
    %(thresholds_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = RankSVM(C=100.0).fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.99
    (True, True)
    """

    C: float = 1.0
    _: KW_ONLY
    kernel: str | Callable[..., ArrayLike] = "linear"
    loss: Literal["hinge", "squared_hinge"] = "squared_hinge"
    solver: Literal["auto", "gradient-projection"] = "auto"
    eta0: float = 1e-4
    gamma: float | Literal["scale", "auto"] = "scale"
    degree: int = 3
    coef0: float = 0.0
    cache_size: float = 1000.0

    def fit(
        self,
        X: MatrixLike,
        y: PerRow = None,
        sample_weight: PerRow = None,
        *,
        qid: PerRow = None,
        pairs: Pairs = None,
    ) -> Self:
        """Learn a ranking from two classes, from grades of relevance, or from explicit pairs.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        %(graded_labels weights_and_pairs fitted)s
        """
        return self._fit_each([self], X, y, sample_weight, qid, pairs)[0]

    def path(
        self,
        X: MatrixLike,
        y: PerRow,
        Cs: Iterable[float],
        sample_weight: PerRow = None,
        *,
        qid: PerRow = None,
        pairs: Pairs = None,
    ) -> list[Self]:
        """Fit one ranker for each C, each from where the one before ended.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        %(graded_labels)s
        Cs : iterable of float
        %(weights_and_pairs fitted_path)s
        """
        return self._fit_path(Cs, X, y, sample_weight, qid, pairs)

    def _certified_spec(self, qid: PerRow) -> CertifiedSpec:  # noqa: ARG002
        check_kernel(self, ("auto", BY_PAIRS))
        return CertifiedSpec(self._solver, grades=True)

    def _solver(self, model: Model, sample: Sample) -> SolverAndRisk:
        objective = self._pair_objective()
        risk = partial(pair_risk, objective, sample)
        if self.solver == BY_PAIRS:
            if not isinstance(sample, BipartiteSample):
                raise ValueError(
                    f"solver={BY_PAIRS!r} is for two classes in one list; grades, query groups and explicit "
                    "pairs take solver='auto'."
                )
            return solver_by_pairs(rank_svm_by_pairs, self, model, sample), risk
        if self.loss == "hinge":
            return cutting_planes(self, model, partial(objective.plane, sample))[0], risk
        newton: Any = certified_lbfgs if isinstance(model, LinearModel) else functional_newton
        return partial(newton, model, sample, **limits(self)), risk

    def _pair_objective(self) -> PushObjective:
        return PushObjective(self.loss, scale="mean")


Structured = Callable[[Any, Floats], tuple[float, Floats, float]]


def cutting_planes(ranker: RankerMixin, model: Model, plane: Risk, **options: Any) -> SolverAndRisk:
    """Return the solver by cutting planes of a risk with subgradients, and the risk alone."""
    return partial(cutting_plane, plane, model, **limits(ranker), **options), lambda scores: plane(scores)[0]


def structured_planes(
    ranker: RankerMixin, structured: Structured, model: Model, sample: Any, **options: Any
) -> SolverAndRisk:
    """Return the solver of a structured risk and the risk: of queries the mean of theirs."""
    in_queries = isinstance(sample, GradedSample)
    plane = mean_risk(structured, sample) if in_queries else partial(structured, sample)
    return cutting_planes(ranker, model, plane, **options)


def mean_risk(structured: Structured, queries: GradedSample) -> Risk:
    """Return the mean of a risk over queries of two classes."""
    positive, weights = queries.grades > 0.0, queries.row_weights
    lists = [
        (rows, BipartiteSample.from_mask(positive[rows], None if weights is None else weights[rows]))
        for rows in queries.lists()
    ]

    def risk(scores: Floats) -> tuple[float, Floats, float]:
        slope, value, offset = np.zeros(len(scores)), 0.0, 0.0
        for rows, sample in lists:
            one_value, one_slope, one_offset = structured(sample, scores[rows])
            value, offset = value + one_value / len(lists), offset + one_offset / len(lists)
            slope[rows] = one_slope / len(lists)
        return value, slope, offset

    return risk


@shared_docs
@dataclass(eq=False, repr=False)
class SVMMAP(CertifiedMixin, BaseEstimator):
    r"""Rank so that the average precision is high: SVM-MAP, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac12 \|w\|^2 + C \max_{\hat y} \Bigl[ 1 - AP(\hat y)
        + \frac{1}{m n} \sum_{i, k} (\hat y_{ik} - 1) (f(x_i) - f(\tilde x_k)) \Bigr] ,

    over all orders :math:`\hat y` of the m positives among the n negatives. A sample weight is a
    number of copies of a row, so weights must be whole numbers, at most 10 million in a class; the time
    grows with their sum.

    One-slack cutting planes; a plane costs two passes over the data and about ten searches of the worst
    order, each O(n log n). Ties count as errors in the worst order.

    Yue et al., SIGIR 2007, optimisation problem 1; Agarwal, SDM 2011, section 6, where it is a baseline.

    Parameters
    ----------
    %(certified_parameters)s

    Attributes
    ----------
    %(coef_ primal_dual_ dual_gap_ n_iter_ converged_gap_ classes_ threshold_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = SVMMAP(C=100.0).fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.99
    (True, True)
    """

    C: float = 1.0

    def _certified_spec(self, qid: PerRow) -> CertifiedSpec:  # noqa: ARG002
        return CertifiedSpec(partial(structured_planes, self, average_precision_hinge), SMALL_COLLAPSE)


@shared_docs
@dataclass(eq=False, repr=False)
class StructSVM(CertifiedMixin, BaseEstimator):
    r"""Rank for precision at k, the break-even point or the partial AUC by a structural SVM, certified.

    Minimises, over linear scores :math:`s = X w`,

    .. math::

        \frac12 \|w\|^2 + C \max_{\hat y} \Bigl[ \Delta(\hat y)
        + \frac1k \sum_r (\hat y_r - y_r) s_r \Bigr] ,

    over all labelings :math:`\hat y` with k positives, :math:`\Delta` being the share of negatives among
    them (SVMPerf), or in place of this maximum the tight structured hinge of the partial AUC, which
    :class:`~pushrank.objectives.PartialAUC` writes out (SVMpAUC-tight). SVMPerf for the AUC is
    :class:`RankSVM` with ``loss="hinge"``: the same risk by the same cutting planes.

    One-slack cutting planes; a plane costs two passes over the data and about ten evaluations of the loss,
    O(n + k log k) each, with k the counted rows for the partial AUC, whose loss is never negative.
    Where k is below the number of positives the loss of precision can be negative, and is no bound on the
    measure; it also falls with a constant added to all scores, so that features are best centred. A negative
    can then be on top at any C although a linear score separates the classes (:doc:`/papers/kar_2015`).
    :class:`RampAtK` and :class:`SGDAtK` minimise losses that are bounds.

    Joachims, ICML 2005; Narasimhan and Agarwal, KDD 2013; Kar, Narasimhan and Jain, ICML 2015, section 6,
    where it is a baseline.

    Parameters
    ----------
    %(certified_parameters)s
    measure : {"precision", "prbep", "partial_auc"}, default="precision"
        Precision at k; the precision-recall break-even point, which is precision at the number of positives;
        or the partial AUC.
    k : int or float, default=0.25
        For ``"precision"``: an int is a number of rows, at most that of the positives; a float in (0, 1] the
        fraction of the positives, rounded to a number between 1 and theirs, halves to even, which measures
        take as ``fraction_of_positives``. In a query with fewer positives than an int it is their number.
    min_fpr, max_fpr : float, default=0.0 and 0.05
        For ``"partial_auc"``: the false-positive rates that count are above the first, up to the second.
    min_tpr : float, default=0.0
        For ``"partial_auc"``: the true-positive rates that count are above it, the two-way partial AUC.
    max_seconds : float, optional
        The time of a fit, after which it ends with the next plane and warns unless its gap is closed; by
        default as long as it takes. How far it comes then depends on the machine. The paper gave SVMPerf 50
        times as long as the other methods took.

    Attributes
    ----------
    %(coef_ primal_dual_ dual_gap_ n_iter_ converged_gap_ classes_ threshold_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = StructSVM(C=10.0, measure="prbep").fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.98
    (True, True)
    """

    _weights_are_copies = True
    C: float = 1.0
    _: KW_ONLY
    measure: Literal["precision", "prbep", "partial_auc"] = "precision"
    k: float = 0.25
    min_fpr: float = 0.0
    max_fpr: float = 0.05
    min_tpr: float = 0.0
    max_seconds: float | None = None

    def _certified_spec(self, qid: PerRow) -> CertifiedSpec:
        check_k(self.k)
        check_choice("measure", self.measure, ("precision", "prbep", "partial_auc"))
        if self.max_seconds is not None:
            check_number("max_seconds", self.max_seconds, above=0.0)
        max_seconds = np.inf if self.max_seconds is None else float(self.max_seconds)
        is_partial_auc = self.measure == "partial_auc"
        risk: Structured = partial(self._risk, capped=qid is not None)
        if is_partial_auc:
            risk = PartialAUC("hinge", self.min_fpr, self.max_fpr, self.min_tpr).plane
        options: Any = {"max_seconds": max_seconds, "non_negative": is_partial_auc}
        solver = partial(structured_planes, self, risk, **options)
        advice = PARTIAL_AUC_COLLAPSE if is_partial_auc else PRECISION_COLLAPSE
        # With k below the number of positives, a constant added to all scores changes the loss.
        return CertifiedSpec(solver, advice, centred=self.measure != "precision")

    def _risk(self, sample: Sample, scores: Floats, capped: bool) -> tuple[float, Floats, float]:
        """Return the loss over k, a subgradient, and that plane's value at zero scores."""
        surrogate = PrecisionAtK(1.0 if self.measure == "prbep" else self.k, "struct")
        n_positive = sample.class_weights[0]
        if capped and is_count(self.k) and self.k > n_positive:
            # A query may have fewer positives than k rows: all of them are looked for then.
            surrogate = PrecisionAtK(1.0, "struct")
        k = surrogate.count(n_positive)
        value, gradient = surrogate.evaluation(sample, scores)
        return value / k, gradient / k, float(sample.gather(gradient)[1].sum()) / k
