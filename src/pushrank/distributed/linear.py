"""The linear push rankers on Dask collections, whose rows stay where they are.

The objectives, the method and the solutions are those of :mod:`pushrank.estimators.push`: L-BFGS and its
preconditioner run on the client, and the workers return sums over their rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

from pushrank.distributed._base import DaskRankerMixin, shared_docs
from pushrank.distributed._rows import load_rows
from pushrank.estimators import IRPush, PNormPush, PushRanker
from pushrank.estimators.push import check_by_sums, fit_by_sums
from pushrank.objectives import PushObjective


@shared_docs
class DaskLinearPushMixin(DaskRankerMixin):
    """Learning linear scores by the objective of an estimator's ``_pair_objective``."""

    _pair_objective: Callable[[], PushObjective]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the coefficients from two classes.

        %(fit_dask)s
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
    %(p side bottom_weight alpha solver_dask tol_gap_gradient max_iter warm_start verbose client)s

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
    >>> import dask.array as da
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = da.from_array(scale(X), chunks=(200, -1)), da.from_array(y, chunks=200)
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
    %(alpha solver_dask tol_gap_gradient max_iter warm_start verbose client)s

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
    >>> import dask.array as da
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = da.from_array(scale(X), chunks=(200, -1)), da.from_array(y, chunks=200)
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
    %(side bottom_weight alpha solver_dask accuracy tol_gap_gradient max_iter warm_start verbose client)s

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
    >>> import dask.array as da
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = da.from_array(scale(X), chunks=(200, -1)), da.from_array(y, chunks=200)
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
