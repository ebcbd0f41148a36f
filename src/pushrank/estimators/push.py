"""Linear rankers of a push objective: the P-Norm Push, the IR Push, and any loss under any price."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from pushrank import losses, prices
from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import in_dtype
from pushrank._base.parallel import one_blas_thread
from pushrank._base.user_types import Floats, Pairs, PerRow
from pushrank._base.validation import check_choice, check_number
from pushrank.estimators._base import BaseEstimator, RankerMixin, progress_bar, warn, warn_of_zeros
from pushrank.estimators._rows import RowsLike, ranking_rows
from pushrank.estimators._target import check_alpha
from pushrank.losses import Loss
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Scale, Side
from pushrank.pairs import ACCURACY, RankSample, Sample
from pushrank.prices import Power, Price
from pushrank.rows import MemoryRows, RowSource
from pushrank.solvers import SOLVERS, Problem, Result, linear_problem
from pushrank.solvers.newton import nonnegative
from pushrank.solvers.result import Certificate
from pushrank.solvers.smoothing import SmoothedObjective, minimise_kinked
from pushrank.solvers.unpenalised import unpenalised_certificate

# The square of a sum of losses with these weights is still a float.
MAX_TOTAL_WEIGHT = 1e100
# From a larger objective a descent ends in rounding before the penalty counts.
MAX_RAW = 1e20


@shared_docs
@dataclass(eq=False, repr=False, kw_only=True)
class LinearPushMixin(RankerMixin):
    """Linear scores that minimise the objective of an estimator's :meth:`_pair_objective`."""

    # A fit neither draws nor counts rows, so that those of weight zero need not be left out.
    _sums_alone = True

    alpha: float = 1e-3
    solver: Literal["lbfgs", "newton-cg", "coordinate"] = "lbfgs"
    tol: float = 1e-4
    max_iter: int = 1000
    warm_start: bool = False
    verbose: bool = False
    positive: bool = False

    @abstractmethod
    def _pair_objective(self) -> PushObjective:
        """Return the objective that :meth:`fit` minimises, of checked parameters."""

    @property
    def _weights_are_copies(self) -> bool:
        return not self._pair_objective().price.homogeneous  # type: ignore[union-attr]

    def fit(
        self,
        X: RowsLike,
        y: PerRow = None,
        sample_weight: PerRow = None,
        *,
        qid: PerRow = None,
        pairs: Pairs = None,
    ) -> Self:
        """Learn the coefficients from two classes, from grades of relevance, or from explicit pairs.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite features. float32 and float64 arrays, dense, CSR or CSC, are used without a copy.
            A memory map of one of these types need not fit in memory (:doc:`/scale`). Rows on a cluster are
            :class:`pushrank.distributed.DaskRows`, which hold ``y`` and ``sample_weight`` too; they are for
            the exponential loss and ``solver="lbfgs"``.
        %(graded_labels weights_and_pairs fitted)s
        """
        objective, solver = self._pair_objective(), self.solver
        check_solvable(self, objective)
        # Coordinate descent and bounds are for the coefficients of the features, not those of the row space.
        reduced = solver != "coordinate" and not self.positive
        data = {"y": y, "sample_weight": sample_weight, "qid": qid, "pairs": pairs}
        rows = ranking_rows(self, X, self._compared, reduced=reduced, **data)
        source = rows.source
        check_source(self, objective, source)
        problem = linear_problem(objective, source, float(self.alpha), positive=bool(self.positive))
        check_size(problem)
        continues = self.warm_start and hasattr(self, "coef_")
        start = np.asarray(self.coef_).astype(np.float64) if continues else np.zeros(self.n_features_in_)
        if problem.positive:
            start = np.maximum(start, 0.0)
        smooth_solve = nonnegative if problem.positive else SOLVERS[solver]
        solve = smooth_solve if objective.differentiable else minimise_kinked
        with one_blas_thread(), progress_bar(self, self.max_iter) as callback:
            start = source.project(start)
            result: Result = solve(problem, start, float(self.tol), int(self.max_iter), callback)
            exact_coef = source.lift(result.coef)
            coef = in_dtype(exact_coef, rows.coef_like.dtype)
            thresholds = rows.thresholds(coef)
            # Nothing is set before all is known: an interrupted fit leaves the last one as it was.
            self.coef_: NDArray[np.floating] = coef
            self.classes_, self.thresholds_, self.threshold_ = rows.classes, thresholds, float(thresholds[0])
            in_features = linear_problem(
                objective, source.in_features(), problem.alpha, positive=problem.positive
            )
            set_certificate(self, in_features, exact_coef, result.certificate)
        self.n_iter_, self.objective_path_ = result.n_iter, result.objective_path
        self.converged_ = result.converged
        warn_of_result(self, objective, result)
        return self

    def _compared(self, sample: Sample) -> Sample:
        """Return the sample of the rows that are compared, by default that of y or the pairs."""
        return sample


@shared_docs
@dataclass(eq=False, repr=False)
class PNormPush(LinearPushMixin, BaseEstimator):
    r"""Rank so that the worst-placed negatives are pushed down: the P-Norm Push.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2 ,

    i over the positives and k over the negatives. The larger p, the more the objective is decided by the
    negatives near the top; p = 1 is RankBoost's objective. With ``side="pull"`` the roles of i and k are
    exchanged, so that the worst-placed positives are pulled up: use it where the bottom of the list will be
    discarded unseen. ``side="both"`` minimises

    .. math::

        \frac{1}{p} \ln \Bigl[ \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + c \sum_i \Bigl(\sum_k e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p \Bigr] + \frac{\alpha}{2} \|w\|^2 .

    Of 50,000 rows or more some, spread over all, are solved for first, where there is a penalty.
    An iteration reads the data once, O(nnz), or twice with ``side="both"``; the page :doc:`/certificates` has
    what else a fit costs, and the bound that certifies it, which takes one pass over the data. A feature in
    large units makes it a poor bound: scale the features.

    There is no intercept, since pairs ignore it. Positives and negatives with equal scores have the loss of
    margin zero. The logarithm of the papers' sums is convex too, has their minimisers, and stays finite for
    every p. With ``side="both"`` and classes of very different size the two parts differ in size by the ratio
    to the power p - 1, which ``bottom_weight`` can offset. For stumps or trees in place of features see
    :class:`PushBoost`.

    Rudin, *The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of the List*, JMLR
    10 (2009), section 5, figure 2, and section 7 for the bottom and both ends.

    Parameters
    ----------
    p : float
        The strength of the push, any finite number of at least 1. Powers of two from 1 to 64 are a good grid.
    %(linear_push_parameters)s
    side : {"push", "pull", "both"}
    bottom_weight : float

    Attributes
    ----------
    %(coef_ classes_grades_ threshold_ thresholds_ n_iter_ objective_path_ converged_gap_gradient_)s
    %(primal_dual_penalty_ dual_gap_log_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = PNormPush(p=8).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
    >>> ranker = PNormPush(p=8, side="pull").fit(scale(X), y)
    >>> bool(y[ranker.rank(scale(X))[-150:]].any())
    False
    """

    p: float = 4.0
    _: KW_ONLY
    side: Side = "push"
    bottom_weight: float = 1.0

    def _pair_objective(self) -> PushObjective:
        return PushObjective(
            price=Power(self.p), side=self.side, scale="log", bottom_weight=self.bottom_weight
        )


@shared_docs
@dataclass(eq=False, repr=False)
class IRPush(LinearPushMixin, BaseEstimator):
    r"""Rank so that many positives come very early, as search does: the IR Push.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac{1}{I} \sum_i \ln\Bigl(1 + \sum_k e^{-(f(x_i) - f(\tilde x_k))}\Bigr)
        + \frac{\alpha}{2} \|w\|^2 ,

    i over the I positives and k over the negatives: a convex stand-in for the discounted gains of the
    positives, in which one misplaced positive costs the logarithm of its reverse height only.

    An iteration reads the data twice, O(nnz); otherwise a fit costs as much as that of :class:`PNormPush`.
    The paper's objective is the sum. The mean has the same minimisers without a penalty, and makes ``alpha``
    independent of the number of positives.

    Rudin, JMLR 10 (2009), section 7.

    Parameters
    ----------
    %(linear_push_parameters)s
    discount : {"reverse_height", "rank"}, default="reverse_height"
        What the logarithm is of: with ``"rank"`` the sum is over all rows, in place of the negatives, so that
        :math:`1 + \sum_j e^{-(f(x_i) - f(x_j))}` bounds one plus the Rank of a positive, the place by which
        the discounted cumulative gain discounts it. For two classes in one list.

    Attributes
    ----------
    %(coef_ classes_grades_ threshold_ thresholds_ n_iter_ objective_path_ converged_gap_gradient_)s
    %(primal_dual_penalty_ dual_gap_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = IRPush().fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
    """

    _: KW_ONLY
    discount: Literal["reverse_height", "rank"] = "reverse_height"

    def _compared(self, sample: Sample) -> Sample:
        return RankSample.from_classes(sample) if self.discount == "rank" else sample

    def _pair_objective(self) -> PushObjective:
        check_choice("discount", self.discount, ("reverse_height", "rank"))
        return PushObjective(price="log_one_plus", side="pull", scale="mean")


@shared_docs
@dataclass(eq=False, repr=False)
class PushRanker(LinearPushMixin, BaseEstimator):
    r"""Rank by any pair loss under any price: the whole framework as one estimator.

    Minimises :math:`F(Xw) + \frac{\alpha}{2} \|w\|^2`, where F has the minimisers of

    .. math::

        R = \sum_k g\Bigl(\sum_i \ell(f(x_i) - f(\tilde x_k))\Bigr)

    on a ``scale``, which decides what an alpha means: the page :doc:`/objectives` has a table.
    Duplicating every row does not change the solution for a given ``alpha``, except with the price
    ``LogOnePlus`` (slightly) and ``ExponentialPrice`` (whose log-scale objective grows with the inner sums).

    An iteration reads the data twice, O(nnz). No pairs are formed: the exponential loss adds nothing, the
    hinge, its square and other piecewise polynomials a sort of the scores, analytic losses a few passes over
    them. A loss or price of your own joins by subclassing :class:`pushrank.losses.Loss` or
    :class:`pushrank.prices.Price`. The sigmoid loss, the price ``LogOnePlus`` with a loss other than
    the exponential, and prices of your own that are not convex or fall somewhere make objectives that are not
    convex: the answer is a local minimum. ``examples/pictures/plot_6_roc_portion.py`` has a price that falls.

    The hinge and the maximum have kinks: they need a positive alpha, and are approached by smooth objectives,
    of which ``objective_path_`` is, until the duality gap is at most `tol` (:doc:`/certificates`). Objectives
    that are not convex have no bound, and without a penalty only the exponential loss has one, under a power
    on the log scale or ``LogOnePlus``: its proof takes weights of pairs that are never zero, and beyond the
    margin of the squared hinge they are. Without a bound the gradient decides.

    Rudin, JMLR 10 (2009), sections 2 and 7.

    Parameters
    ----------
    loss : Loss or str
    price : Price or str, default="identity"
        The price, or its name in :mod:`pushrank.prices`, such as ``Power(8)``.
    %(linear_push_parameters)s
    side : {"push", "pull", "both"}
    bottom_weight : float
    accuracy : float
        The relative error of an analytic loss's sums over pairs, from 1e-13 to 0.1.
    scale : {"auto", "raw", "log", "mean"}, default="auto"
        F is R itself, which overflows under a steep price; :math:`\frac1m \ln R`; or a mean over k, as of
        :class:`~pushrank.objectives.PushObjective`. ``"auto"`` takes what does not overflow and is convex:
        the logarithm of the exponential loss under a power and of ``ExponentialPrice``, else the mean.

    Attributes
    ----------
    %(coef_ classes_grades_ threshold_ thresholds_ n_iter_ objective_path_ converged_gap_gradient_)s
    %(primal_dual_penalty_ dual_gap_log_ features_)s

    Examples
    --------
    >>> from pushrank.prices import Power
    %(scaled_breast_cancer)s
    >>> ranker = PushRanker(loss="logistic", price=Power(4)).fit(scale(X), y)
    >>> bool(y[ranker.rank(scale(X))[:300]].all())
    True
    """

    loss: Loss | str = "exponential"
    price: Price | str = "identity"
    _: KW_ONLY
    side: Side = "push"
    bottom_weight: float = 1.0
    accuracy: float = ACCURACY
    scale: Literal["auto", "raw", "log", "mean"] = "auto"

    def _pair_objective(self) -> PushObjective:
        """Return the objective on a scale that is finite, convex and, if possible, free of the row number."""
        loss, price = losses.resolve(self.loss), prices.resolve(self.price)
        losses.check_declared(loss)
        prices.check_declared(price)
        check_choice("scale", self.scale, ("auto", *get_args(Scale)))
        # A total that falls may go to zero, of which the logarithm has no bound.
        no_log = price.log_divisor is None or not (price.smooth and price.monotonic)
        by_mean = no_log or (price.homogeneous and not loss.factorises)
        scale: Scale = self.scale if self.scale != "auto" else "mean" if by_mean else "log"
        return PushObjective(loss, price, self.side, scale, self.bottom_weight, self.accuracy)


def warn_of_result(ranker: RankerMixin, objective: PushObjective, result: Result) -> None:
    """Warn where the coefficients are not those that were asked for."""
    name, price = type(ranker).__name__, prices.resolve(objective.price)
    if result.collapse:
        warn(f"{name} collapsed: {result.collapse}", ConvergenceWarning)
    elif not (result.coef.any() or price.convex or isinstance(price, prices.LogOnePlus)):
        warn(
            f"{name} took no step: price={price} has no slope where all scores are equal, which need not be "
            "a minimum; shift the price, or set coef_ and warm_start=True to start elsewhere.",
            ConvergenceWarning,
        )
    elif ranker.positive and not result.coef.any():
        warn_of_zeros(ranker)
    if not result.converged:
        warn(f"{name} did not converge: {result.message}", ConvergenceWarning)


def set_certificate(
    ranker: RankerMixin, problem: Problem, exact_coef: Floats, certificate: Certificate | None = None
) -> None:
    """Set the objective at the ranker's coefficients, and the bound that those before rounding prove."""
    if problem.alpha == 0.0:
        certificate = unpenalised_certificate(problem, exact_coef, *problem.value_and_gradient(exact_coef))
    elif certificate is None:
        certificate = problem.certificate(exact_coef, *problem.value_and_gradient(exact_coef))
    rounded = np.asarray(ranker.coef_).astype(np.float64)
    if not np.array_equal(rounded, exact_coef):
        certificate = replace(certificate, primal=problem.value(rounded))
    ranker.primal_objective_, ranker.dual_objective_ = certificate.primal, certificate.dual
    ranker.dual_gap_ = certificate.gap


def check_solvable(ranker: RankerMixin, objective: PushObjective) -> None:
    """Raise where parameters are out of range, or the solver cannot minimise the objective."""
    check_alpha("alpha", ranker.alpha)
    check_number("tol", ranker.tol, above=0.0)
    check_number("max_iter", ranker.max_iter, 1, integer=True)
    check_choice("solver", ranker.solver, sorted(SOLVERS))
    described = f"loss={objective.loss} with price={objective.price}"
    if ranker.solver == "newton-cg" and not objective.twice_differentiable:
        raise ValueError(
            f"solver='newton-cg' needs second derivatives, which {described} lacks; use solver='lbfgs'."
        )
    if ranker.positive and ranker.solver != "lbfgs":
        raise ValueError(f"positive=True is for solver='lbfgs', got solver={ranker.solver!r}; change one.")
    if ranker.solver == "coordinate":
        prices.check_monotonic(prices.resolve(objective.price))
    if objective.differentiable:
        return
    SmoothedObjective.check(objective)
    if not prices.resolve(objective.price).smooth and objective.scale != "mean":
        raise ValueError(f"{described} is minimised on scale='mean' alone, got scale={objective.scale!r}.")
    if ranker.solver != "lbfgs":
        raise ValueError(
            f"{described} has kinks, which solver={ranker.solver!r} cannot take; use solver='lbfgs'."
        )
    if ranker.alpha == 0.0:
        raise ValueError(f"{described} needs alpha > 0, without which nothing bounds its optimum.")


def check_size(problem: Problem) -> None:
    """Raise where an objective is so large that its descent is lost in rounding."""
    objective = problem.push_objective
    if objective.scale == "raw" and not (at_zero := problem.value(np.zeros(problem.n_features))) <= MAX_RAW:
        raise ValueError(
            f"price={objective.price} makes an objective of {at_zero:.1e} where all scores are equal, and "
            f"scale='raw' takes at most {MAX_RAW:g}; use scale='log' or 'mean', or a flatter price."
        )


def check_source(ranker: RankerMixin, objective: PushObjective, source: RowSource) -> None:
    """Raise where parameters need rows in memory and these lie elsewhere, or weights are too large."""
    for name, only in {"solver": "lbfgs", "discount": "reverse_height"}.items():
        value = getattr(ranker, name, only)
        if not isinstance(source, MemoryRows) and value != only:
            raise ValueError(f"{name} must be {only!r} for rows that are not in memory, got {value!r}.")
    total = max(source.class_weights)
    # A power takes sums of losses in units of the largest; another price takes them as they are.
    if total > MAX_TOTAL_WEIGHT and not prices.resolve(objective.price).homogeneous:
        raise ValueError(
            f"sample_weight adds up to {total:.1e} in a class, and price={objective.price} takes at most "
            f"{MAX_TOTAL_WEIGHT:g}; divide the weights."
        )
