"""The trimmed push: the P-Norm Push on the positives that a linear score can bring to the top."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import in_dtype
from pushrank._base.parallel import one_blas_thread
from pushrank._base.user_types import PerRow
from pushrank._base.validation import check_number
from pushrank.estimators._base import (
    BaseEstimator,
    RankerMixin,
    progress_bar,
    set_features,
    warn,
    warn_of_zeros,
)
from pushrank.estimators._rows import RowsLike, two_class_rows
from pushrank.estimators._target import check_alpha
from pushrank.objectives import PrecisionAtK, PushObjective
from pushrank.objectives.queries import MeanLogPush
from pushrank.pairs import GradedSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers.problem import linear_problem
from pushrank.solvers.trimming import trimmed_path


@shared_docs
@dataclass(eq=False, repr=False)
class TrimmedPush(RankerMixin, BaseEstimator):
    r"""Rank so that the first k are hits, giving up on positives that no linear score can bring there.

    Minimises, over linear scores :math:`f(x) = w \cdot x` and over sets S of k positives,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_{i \in S} e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2 ,

    k in the sum over the negatives. Where positives hide among the negatives, a convex objective has to make
    room for all of them; this one keeps those that can stand out.

    Choosing the highest positives and solving for them in turns never raises the objective. The end is a
    local minimum, reached along a path from all positives down to k, in steps of up to 25 %: a direct jump
    ends in worse minima. With up to 1,024 features a fit takes some 50 Newton steps, each O(n_samples *
    n_features ** 2). Positives tied for the last place share it. A row of weight w counts as w copies.

    With query groups the objective is the mean of the queries', each with its own highest positives; there
    L-BFGS takes the place of Newton's method. In a query with fewer positives than an int k it is their
    number. (:class:`PNormPush` sums over all queries under one logarithm.)

    What is gained at the top is paid for further down: on overlapping classes the average precision is often
    below that of :class:`PNormPush`.

    This is the counterpart, for the convex push, of the surrogate ramp (:class:`RampAtK`), which fits only
    the k highest positives too; in statistics the like is a trimmed likelihood.

    Rudin, JMLR 10 (2009), section 5; Kar, Narasimhan and Jain, ICML 2015, section 3.2, for the ramp; Hadi
    and Luceño, *Maximum trimmed likelihood estimators: a unified approach, examples, and algorithms*,
    Computational Statistics and Data Analysis 25 (1997), 251-272.

    Parameters
    ----------
    k : int or float, default=0.25
        How many positives count. An int is a number of rows, at most that of the positives; a float in
        (0, 1] the fraction of the positives, rounded to a number between 1 and theirs, halves to even. 1.0 is
        :class:`PNormPush`.
    p : float, default=16.0
        The strength of the push, at least 1.
    alpha : float, default=1e-3
        The L2 strength, at least 0. With 0 separable data have no optimum.
    tol : float, default=1e-4
        A convex problem is solved until :math:`\max_j |g_j| / s_j` is at most this, with g the gradient and
        :math:`s_j` the standard deviation of feature j within the classes.
    max_iter : int, default=100
        How often positives are chosen at most, at least 1.
    verbose : bool
    positive : bool
        Whether all coefficients are at least 0, so that scores fall with no feature. Where no feature ranks
        better with a positive coefficient all are 0, which is warned of.

    Attributes
    ----------
    %(coef_)s
    trimmed_ : ndarray of int
        The training positives, by their row numbers, that do not count in full.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The objective with k positives at the start and after every convex problem; it never rises.
    n_iter_ : int
        The convex problems solved with k positives.
    converged_ : bool
        Whether the same positives were chosen again, and the last problem was solved to ``tol``.
    %(classes_ threshold_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = TrimmedPush(k=0.5, alpha=0.1).fit(scale(X), y)
    >>> ranker.converged_, len(ranker.trimmed_), bool(y[ranker.rank(scale(X))[:178]].all())
    (True, 179, True)
    """

    _weights_are_copies = True
    k: float = 0.25
    _: KW_ONLY
    p: float = 16.0
    alpha: float = 1e-3
    tol: float = 1e-4
    max_iter: int = 100
    verbose: bool = False
    positive: bool = False

    def fit(self, X: RowsLike, y: PerRow = None, sample_weight: PerRow = None, *, qid: PerRow = None) -> Self:
        """Learn a ranking from examples of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            %(X_trimmed)s
        y : array-like of shape (n_samples,)
        %(weights_and_queries fitted)s
        """
        fit_trimmed([self], X, y, sample_weight, qid)
        return self

    def path(
        self, X: RowsLike, y: PerRow, ks: Iterable[float], sample_weight: PerRow = None, *, qid: PerRow = None
    ) -> list[Self]:
        """Fit one ranker for each k, each from where the one of the next larger k ended.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            %(X_trimmed)s
        y : array-like of shape (n_samples,)
        ks : iterable of int or float
            The numbers or fractions of positives to keep, in any order.
        %(weights_and_queries fitted_path)s
        """
        rankers = [clone(self).set_params(k=k) for k in ks]
        if not rankers:
            raise ValueError("ks must hold at least one number, got none.")
        fit_trimmed(rankers, X, y, sample_weight, qid)
        return rankers

    def _renumber(self, numbers: NDArray[np.intp], n_rows: int) -> None:  # noqa: ARG002
        self.trimmed_: NDArray[np.intp] | None
        if self.trimmed_ is not None:
            self.trimmed_ = numbers[self.trimmed_]


def fit_trimmed(rankers: list[TrimmedPush], X: Any, y: PerRow, sample_weight: PerRow, qid: PerRow) -> None:
    """Validate, descend from the largest k to the smallest, set the fitted attributes, warn."""
    first, surrogates = rankers[0], [PrecisionAtK(ranker.k) for ranker in rankers]
    check_number("p", first.p, 1.0)
    check_alpha("alpha", first.alpha)
    check_number("tol", first.tol, above=0.0)
    check_number("max_iter", first.max_iter, 1, integer=True)
    rows = two_class_rows(first, X, y, sample_weight, qid, reduced=not first.positive)
    sample: Any = rows.source.sample if isinstance(rows.source, MemoryRows) else None
    in_queries = isinstance(sample, GradedSample)
    whole: Any = sample.upper_weights if in_queries else rows.source.class_weights[0]
    totals: list[Any] = [
        np.array([k.count(weight, capped=True) for weight in whole]) if in_queries else k.count(whole)
        for k in surrogates
    ]
    downwards = sorted(range(len(rankers)), key=lambda r: -float(np.sum(totals[r])))
    ordered = [totals[r] for r in downwards]
    kind = MeanLogPush if in_queries else PushObjective
    objective = kind(price=Power(float(first.p)), scale="log")
    with one_blas_thread(), progress_bar(first, first.max_iter) as callback:
        problem = linear_problem(objective, rows.source, float(first.alpha), positive=bool(first.positive))
        limits = float(first.tol), int(first.max_iter)
        solutions = trimmed_path(problem, ordered, *limits, callback, whole=whole)
        for r, solution in zip(downwards, solutions, strict=True):
            ranker, coef = rankers[r], rows.source.lift(solution.coef)
            set_features(ranker, first)
            ranker.coef_, ranker.classes_ = in_dtype(coef, rows.coef_like.dtype), rows.classes
            ranker.threshold_ = float(rows.thresholds(ranker.coef_)[0])
            ranker.trimmed_ = solution.rows.trimmed_positives()
            ranker.objective_path_ = np.array(solution.objective_path)
            ranker.n_iter_, ranker.converged_ = len(solution.objective_path) - 1, solution.converged
            if ranker.positive and not coef.any():
                warn_of_zeros(ranker)
            if not solution.converged:
                warn(
                    f"{type(ranker).__name__} did not converge with k={ranker.k}; raise max_iter or alpha, "
                    "or scale the features.",
                    ConvergenceWarning,
                )
