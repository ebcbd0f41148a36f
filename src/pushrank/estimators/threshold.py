"""Certified rankers whose threshold is at a share of the rows: TopPushK, TopMean, Pat&Mat and Pat&Mat-NP."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

from pushrank._docstrings import shared_docs
from pushrank.estimators._base import BaseEstimator, RankerMixin
from pushrank.estimators._certified import CertifiedMixin, CertifiedSpec, SolverAndRisk, limits
from pushrank.estimators.svm import structured_planes
from pushrank.models import LinearModel
from pushrank.objectives.threshold import Of, ThresholdLoss, ThresholdObjective
from pushrank.pairs import GradedSample
from pushrank.solvers.threshold import minimise_above_threshold
from pushrank.user_types import PerRow
from pushrank.validation import check_number

TOP_PUSH_COLLAPSE = (
    ": too many negatives are as high as the positives' mean, or C is too small to matter. Take a larger k "
    '(with of="all" one above the number of positives), PatMat with a smaller beta, or raise C.'
)
PAT_MAT_COLLAPSE = (
    ": the means of the classes hardly differ, or C is too small to matter. Raise C, or take a smaller beta."
)


def threshold_solver(
    ranker: RankerMixin, objective: ThresholdObjective, model: LinearModel, sample: Any
) -> SolverAndRisk:
    """Return the solver of an objective and its risk; of queries, for the mean of their objectives."""
    if isinstance(sample, GradedSample):
        return structured_planes(ranker, objective.plane, model, sample)
    solve = partial(minimise_above_threshold, objective, model, sample, **limits(ranker))
    return solve, lambda scores: objective.evaluation(sample, scores)[0]


@shared_docs
@dataclass(eq=False, repr=False)
class TopPushK(CertifiedMixin, BaseEstimator):
    r"""Rank so that the positives stand above the highest negatives, by TopPushK, certified.

    Minimises, over linear scores :math:`s = X w`,

    .. math::

        \frac12 \|w\|^2 + \frac{C}{n_+} \sum_i \ell(t - s_i), \qquad
        t = \frac1K \sum_{j \le K} s_{[j]} ,

    i over the :math:`n_+` positives, :math:`s_{[j]}` the j-th highest score of a negative, or of all rows,
    and :math:`\ell(z) = (1 + z)_+` or its square. ``k=1`` is TopPush, which :class:`InfinitePush` has with
    kernels; ``of="all"`` is TopMean.

    %(threshold_solver)s

    Where the positives' mean is a mixture of negatives with weights of at most 1/K, :math:`w = 0` is optimal:
    so it is for classes that overlap and a small K, of which the fit warns. With ``of="all"`` it is for every
    K up to the number of positives, whatever the features.

    Adam, Mácha, Šmídl and Pevný, *General framework for binary classification on top samples*, Optimization
    Methods and Software 37 (2022); Li, Jin and Zhou, NIPS 2014, for TopPush.

    Parameters
    ----------
    k : int or float, default=0.01
        An int is a number of rows, at least 1; a float in (0, 1] the fraction of the rows that the threshold
        is of, not rounded.
    %(certified_parameters)s
    of : {"negatives", "all"}, default="negatives"
        The rows that the threshold is of.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The :math:`\ell`.

    Attributes
    ----------
    %(coef_ primal_dual_ dual_gap_ n_iter_ converged_gap_ classes_ threshold_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = TopPushK(5, C=10.0).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
    """

    k: float = 0.01
    _: KW_ONLY
    of: Of = "negatives"
    loss: ThresholdLoss = "hinge"

    def _certified_spec(self, qid: PerRow) -> CertifiedSpec:  # noqa: ARG002
        objective = ThresholdObjective(self.k, self.of, None, self.loss)
        return CertifiedSpec(partial(threshold_solver, self, objective), TOP_PUSH_COLLAPSE)


@shared_docs
@dataclass(eq=False, repr=False)
class PatMat(CertifiedMixin, BaseEstimator):
    r"""Rank for a budget that is a share of the rows, by Pat&Mat, certified.

    Minimises, over linear scores :math:`s = X w`,

    .. math::

        \frac12 \|w\|^2 + \frac{C}{n_+} \sum_i \ell(t - s_i), \qquad
        \frac1n \sum_j \ell(\beta (s_j - t)) = \tau ,

    i over the :math:`n_+` positives, j over all n rows, or over the negatives, and
    :math:`\ell(z) = (1 + z)_+` or its square. The threshold t is a convex function above the quantile of the
    scores: at most a share :math:`\tau` of the rows scores above t. Over the negatives it is Pat&Mat-NP, for
    a false-positive rate (Neyman and Pearson).

    %(threshold_solver)s

    Near :math:`w = 0` the threshold is the mean of the scores and a constant, so that zero is optimal only
    where the positives' mean is that of the rows: unlike :class:`TopPushK` it learns where classes overlap.

    Adam, Mácha, Šmídl and Pevný, *General framework for binary classification on top samples*, Optimization
    Methods and Software 37 (2022).

    Parameters
    ----------
    tau : float, default=0.01
        The share of the rows above the threshold, in (0, 1].
    %(certified_parameters)s
    of : {"all", "negatives"}, default="all"
        The rows that the threshold is of.
    beta : float, default=1.0
        The positive :math:`\beta`. The threshold is above the quantile by about :math:`1 / \beta`; the
        smaller beta is, the more rows the threshold depends on.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The :math:`\ell`.

    Attributes
    ----------
    %(coef_ primal_dual_ dual_gap_ n_iter_ converged_gap_ classes_ threshold_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = PatMat(0.1, C=10.0).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:250]].all())
    (True, True)
    """

    tau: float = 0.01
    _: KW_ONLY
    of: Of = "all"
    beta: float = 1.0
    loss: ThresholdLoss = "hinge"

    def _certified_spec(self, qid: PerRow) -> CertifiedSpec:  # noqa: ARG002
        check_number("tau", self.tau, above=0.0, most=1.0)
        check_number("beta", self.beta, above=0.0)
        objective = ThresholdObjective(float(self.tau), self.of, float(self.beta), self.loss)
        return CertifiedSpec(partial(threshold_solver, self, objective), PAT_MAT_COLLAPSE)
