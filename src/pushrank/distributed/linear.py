"""The linear push rankers on Dask collections, whose rows stay where they are.

The objectives, the method and the solutions are those of :mod:`pushrank.estimators.push`: L-BFGS and its
preconditioner run on the client, and the workers return sums over their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

from sklearn.base import clone

from pushrank.distributed._base import DaskRankerMixin, shared_docs
from pushrank.distributed._sums import load_rows
from pushrank.estimators import IRPush, PNormPush, PushRanker, TrimmedPush
from pushrank.estimators.push import check_by_sums, fit_by_sums
from pushrank.estimators.trimmed_push import checked_surrogates, fit_trimmed_by_sums
from pushrank.objectives import PushObjective


@shared_docs
class DaskLinearPushMixin(DaskRankerMixin):
    """Learning linear scores by the objective of an estimator's ``_pair_objective``."""

    _pair_objective: Callable[[], PushObjective]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the coefficients from two classes.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            %(X_to_load)s
        y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
            %(y_dask)s
        sample_weight : dask.array.Array or dask.dataframe.Series of shape (n_samples,), optional
            %(sample_weight_dask)s

        %(fitted_dask)s
        """
        fit_on_dask(self, self._pair_objective(), X, y, sample_weight)
        return self


@shared_docs
@dataclass(eq=False, repr=False)
class DaskPNormPush(DaskLinearPushMixin, PNormPush):  # type: ignore[misc]
    r"""Rank rows of a Dask cluster so that the worst-placed negatives are pushed down: the P-Norm Push.

    The objective is that of :class:`pushrank.PNormPush`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2 ,

    and so are the coefficients, but for the rounding of sums.

    Parameters
    ----------
    p : float
        %(p)s
    side : {"push", "pull", "both"}
        %(side)s
    bottom_weight : float
        %(bottom_weight)s
    alpha : float
        %(alpha)s
    solver : {"lbfgs"}
        %(solver_dask)s
    tol : float
        %(tol_gap_gradient)s
    max_iter : int
        %(max_iter)s
    warm_start : bool
        %(warm_start)s
    verbose : bool
        %(verbose)s
    client : distributed.Client or None, default=None
        %(client)s

    Attributes
    ----------
    %(coef_ classes_ threshold_ thresholds_ n_iter_ objective_path_ converged_gap_gradient_)s
    %(primal_dual_penalty_ dual_gap_log_ features_)s

    Notes
    -----
    %(dask_cost)s

    An iteration is one round, or two with ``side="both"``.

    References
    ----------
    Rudin, JMLR 10 (2009), section 5, and section 7 for the bottom and both ends.

    Examples
    --------
    %(data_on_dask)s
    >>> ranker = DaskPNormPush(p=8).fit(X, y)  # doctest: +SKIP
    >>> ranker.converged_, ranker.decision_function(X)  # doctest: +SKIP
    (True, dask.array<...>)
    """

    _: KW_ONLY
    client: Any = None
    local_class: ClassVar[type] = PNormPush


@shared_docs
@dataclass(eq=False, repr=False)
class DaskIRPush(DaskLinearPushMixin, IRPush):  # type: ignore[misc]
    r"""Rank rows of a Dask cluster so that many positives come very early, as search does: the IR Push.

    The objective is that of :class:`pushrank.IRPush`,

    .. math::

        \frac{1}{I} \sum_i \ln\Bigl(1 + \sum_k e^{-(f(x_i) - f(\tilde x_k))}\Bigr)
        + \frac{\alpha}{2} \|w\|^2 ,

    and so are the coefficients, but for the rounding of sums.

    Parameters
    ----------
    discount : {"reverse_height"}, default="reverse_height"
        What the logarithm is of; that of the ranker in memory has another choice.
    alpha : float
        %(alpha)s
    solver : {"lbfgs"}
        %(solver_dask)s
    tol : float
        %(tol_gap_gradient)s
    max_iter : int
        %(max_iter)s
    warm_start : bool
        %(warm_start)s
    verbose : bool
        %(verbose)s
    client : distributed.Client or None, default=None
        %(client)s

    Attributes
    ----------
    %(coef_ classes_ threshold_ thresholds_ n_iter_ objective_path_ converged_gap_gradient_)s
    %(primal_dual_penalty_ dual_gap_ features_)s

    Notes
    -----
    %(dask_cost)s

    An iteration is two rounds.

    References
    ----------
    Rudin, JMLR 10 (2009), section 7.

    Examples
    --------
    %(data_on_dask)s
    >>> DaskIRPush().fit(X, y).to_local()  # doctest: +SKIP
    IRPush()
    """

    _: KW_ONLY
    client: Any = None
    local_class: ClassVar[type] = IRPush


@shared_docs
@dataclass(eq=False, repr=False)
class DaskPushRanker(DaskLinearPushMixin, PushRanker):  # type: ignore[misc]
    r"""Rank rows of a Dask cluster by the exponential loss under any price that is summed over rows.

    The objective is that of :class:`pushrank.PushRanker`, which has the minimisers of

    .. math::

        \sum_k g\Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)
        + \frac{\alpha}{2} \|w\|^2 ,

    and so are the coefficients, but for the rounding of sums.

    Parameters
    ----------
    loss : {"exponential"}, default="exponential"
        The pair loss. Others are for rows in memory: their sums over pairs need the scores of all rows.
    price : Price or str, default="identity"
        The price, or its name in :mod:`pushrank.prices`, such as ``Power(8)``; not the maximum.
    side : {"push", "pull", "both"}
        %(side)s
    bottom_weight : float
        %(bottom_weight)s
    alpha : float
        %(alpha)s
    solver : {"lbfgs"}
        %(solver_dask)s
    accuracy : float
        %(accuracy)s
    tol : float
        %(tol_gap_gradient)s
    max_iter : int
        %(max_iter)s
    warm_start : bool
        %(warm_start)s
    verbose : bool
        %(verbose)s
    client : distributed.Client or None, default=None
        %(client)s

    Attributes
    ----------
    %(coef_ classes_ threshold_ thresholds_ n_iter_ objective_path_ converged_gap_gradient_)s
    %(primal_dual_penalty_ dual_gap_ features_)s

    Notes
    -----
    %(dask_cost)s

    An iteration is one round under a power, and two under another price; twice that with ``side="both"``.

    References
    ----------
    Rudin, JMLR 10 (2009), sections 2 and 7.

    Examples
    --------
    %(data_on_dask)s
    >>> DaskPushRanker(price="log_one_plus").fit(X, y).to_local()  # doctest: +SKIP
    PushRanker(price='log_one_plus')
    """

    _: KW_ONLY
    client: Any = None
    local_class: ClassVar[type] = PushRanker


def fit_on_dask(ranker: Any, objective: PushObjective, X: Any, y: Any, sample_weight: Any) -> None:
    """Load, minimise, set the fitted attributes, warn: the whole fit of a linear push ranker on a cluster."""
    check_by_sums(ranker, objective, "on Dask collections")
    continues = ranker.warm_start and hasattr(ranker, "coef_")
    fit_by_sums(ranker, objective, load_rows(ranker, X, y, sample_weight, reset=not continues))


@shared_docs
@dataclass(eq=False, repr=False)
class DaskTrimmedPush(DaskRankerMixin, TrimmedPush):
    r"""Rank rows of a Dask cluster so that the first k are hits, giving up on positives in no one's reach.

    The objective is that of :class:`pushrank.TrimmedPush`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_{i \in S} e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2 ,

    S any k positives, and so is the way to a local minimum, but for the rounding of sums.

    Parameters
    ----------
    k : int or float, default=0.25
        How many positives count. An int is a number of rows, at most that of the positives; a float in
        (0, 1] the fraction of the positives, rounded to a number between 1 and theirs.
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
        %(verbose)s
    client : distributed.Client or None, default=None
        %(client)s

    Attributes
    ----------
    %(coef_)s
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The objective with k positives at the start and after every convex problem; it never rises.
    n_iter_ : int
        The convex problems solved with k positives.
    converged_ : bool
        Whether the same positives were chosen again, and the last problem was solved to ``tol``.
    %(classes_ threshold_ features_)s

    Notes
    -----
    %(dask_cost)s

    The k highest positives are found by six rounds of counts. A fit takes some 50 steps of about ten rounds,
    so that it pays on many rows alone. Which positives count is not told: they are as many as rows.

    References
    ----------
    Rudin, JMLR 10 (2009), section 5; Kar, Narasimhan and Jain, ICML 2015, section 3.2.

    Examples
    --------
    %(data_on_dask)s
    >>> DaskTrimmedPush(k=0.9, alpha=0.1).fit(X, y).to_local()  # doctest: +SKIP
    TrimmedPush(alpha=0.1, k=0.9)
    """

    _: KW_ONLY
    client: Any = None
    local_class: ClassVar[type] = TrimmedPush

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn the coefficients from two classes.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            %(X_to_load)s
        y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
            %(y_dask)s
        sample_weight : dask.array.Array or dask.dataframe.Series of shape (n_samples,), optional
            %(sample_weight_dask)s

        %(fitted_dask)s
        """
        fit_trimmed_on_dask([self], X, y, sample_weight)
        return self

    def path(self, X: Any, y: Any, ks: Iterable[float], sample_weight: Any = None) -> list[Self]:
        """Fit one ranker for each k, in the order given, each from where the one of the next larger k ended.

        The arguments are those of ``fit``, and some k; this ranker is not changed.
        """
        rankers = [clone(self).set_params(k=k) for k in ks]
        if not rankers:
            raise ValueError("ks must hold at least one number, got none.")
        fit_trimmed_on_dask(rankers, X, y, sample_weight)
        return rankers


def fit_trimmed_on_dask(rankers: list[Any], X: Any, y: Any, sample_weight: Any) -> None:
    """Load, descend from the largest k to the smallest, set the fitted attributes, warn."""
    checked_surrogates(rankers)
    fit_trimmed_by_sums(rankers, load_rows(rankers[0], X, y, sample_weight))
