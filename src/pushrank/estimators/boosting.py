"""Boosting: RankBoost, the P-Norm Push of weak rankers, Smooth Margin Ranking and AdaBoost as rankers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pushrank import prices
from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats
from pushrank._base.validation import check_choice
from pushrank.estimators._base import BaseEstimator, RankerMixin, warn
from pushrank.estimators._boosting import BoostedRankerMixin, BoostingRun, BoostingSpec
from pushrank.estimators._target import check_alpha
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Scale, Side
from pushrank.pairs.exponential import adaboost_threshold
from pushrank.prices import Power, Price
from pushrank.solvers.boosting.loop import Choice
from pushrank.solvers.boosting.steps import exact_smooth_margin_step, smooth_margin, smooth_margin_step

THRESHOLDS: dict[str, Callable[..., float] | None] = {"break-even": None, "adaboost": adaboost_threshold}
CHOICES: dict[str, Choice] = {"absolute": "steepest", "signed": "signed"}
ASCENTS = {"approximate": smooth_margin_step, "exact": exact_smooth_margin_step}


def checked_choice(ranker: RankerMixin) -> Choice:
    """Return the rule of a round by which a ranker chooses its weak ranker."""
    check_choice("choice", ranker.choice, CHOICES)
    return CHOICES[ranker.choice]


@shared_docs
@dataclass(eq=False, repr=False)
class RankBoost(BoostedRankerMixin, BaseEstimator):
    r"""Rank by a weighted vote of weak rankers, boosted on the pairs that are ranked wrongly: RankBoost.

    Each round changes the weight of one weak ranker :math:`h_j(x) \in [0, 1]` to lower

    .. math::

        \ln F(\lambda) = \ln \sum_{(i, k)} \pi_{ik}\, e^{-(f(x_i) - f(x_k))}, \qquad
        f = \sum_j \lambda_j h_j ,

    over the pairs in which row i should stand above row k.

    A round costs one pass over the (binned) data and a few over the scores. Classes, grades and query groups
    cost time linear in the rows, explicit pairs in the pairs; with ``variant="freund"`` samples other than
    two classes cost that time for every weak ranker. Rows with equal scores have the loss of margin zero. If
    no pair is against a ranker its best step is infinite; then the step is that of a sample with one more
    pair of each kind (:doc:`/boosting`).

    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005, section
    4.1; Freund, Iyer, Schapire and Singer, *An efficient boosting algorithm for combining preferences*, JMLR
    4 (2003), figure 1 and section 3.2.

    Parameters
    ----------
    variant : {"coordinate", "freund"}, default="coordinate"
        The choice of a round: the ranker with the largest edge :math:`|r_j| = |d_+ - d_-|`, as in coordinate
        descent, or the one that multiplies F by least, :math:`d_0 + 2 \sqrt{d_+ d_-}`, as in Freund et al.
    %(boosted_parameters)s
    choice : {"absolute", "signed"}
        %(choice)s
        The latter is the rule that the paper of 2005 prints, :math:`\max_j (d^T M)_j`, for
        ``variant="coordinate"``.
    threshold : {"break-even", "adaboost"}, default="break-even"
        Where ``predict`` cuts the scores of two classes: so that as many rows score above ``threshold_`` as
        are positive; or at :math:`-\frac12 \ln (F_+ / F_-)` of the training rows, which classifies as
        AdaBoost does (:func:`pushrank.theory.rudin_2005.adaboost_intercept`).

    Attributes
    ----------
    %(weak_rankers_ estimator_index_ estimator_weights_ constant_zero_ coef_linear_ margin_ edges_)s
    %(objective_path_log_ feature_importances_ validation_path_ best_round_ n_iter_ converged_edge_)s
    %(classes_grades_ threshold_ thresholds_ features_)s

    Examples
    --------
    %(breast_cancer)s
    >>> ranker = RankBoost(n_estimators=50).fit(X, y)
    >>> ranker.n_iter_, ranker.score(X, y) > 0.99
    (50, True)
    """

    _weights_are_copies = True
    variant: Literal["coordinate", "freund"] = "coordinate"
    _: KW_ONLY
    choice: Literal["absolute", "signed"] = "absolute"
    threshold: Literal["break-even", "adaboost"] = "break-even"

    def _boosting_spec(self) -> BoostingSpec:
        check_choice("variant", self.variant, ("coordinate", "freund"))
        check_choice("threshold", self.threshold, THRESHOLDS)
        choice = checked_choice(self)
        if self.variant == "freund":
            if choice == "signed":
                raise ValueError("choice='signed' is for variant='coordinate'; change one of them.")
            choice = "lowest"
        only = (
            "threshold='adaboost' is for two classes in one list; for grades, query groups and explicit "
            "pairs use threshold='break-even'."
        )
        two_classes_only = only if self.threshold == "adaboost" else ""
        threshold = THRESHOLDS[self.threshold]
        return BoostingSpec(choice=choice, threshold=threshold, two_classes_only=two_classes_only)


@shared_docs
@dataclass(eq=False, repr=False)
class PushBoost(BoostedRankerMixin, BaseEstimator):
    r"""Rank by a weighted vote of weak rankers, boosted so that the worst-placed negatives are pushed down.

    Each round changes the weight of one weak ranker :math:`h_j(x) \in [0, 1]` to lower

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|\lambda\|^2 , \qquad f = \sum_j \lambda_j h_j ,

    i over the positives and k over the negatives: the algorithm of the P-Norm Push on any weak rankers. The
    larger p, the more the objective is decided by the negatives near the top; p = 1 is :class:`RankBoost`.

    For weak rankers in {0, 1} the best step has the closed form :math:`\ln(d_+ / d_-) / (p + 1)` if ``alpha``
    is 0 and ``side`` is not ``"both"``; others are searched for. Where no pair is against the ranker it is
    infinite, and :math:`\ln(1 + I K d_+) / (p + 1)` is taken, with :math:`d_+ = 1` for other weak rankers
    (:doc:`/boosting`). Two classes cost time linear in the rows. Edges of columns are compared with ``tol``
    in units of one over the feature's standard deviation within the classes.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 5 and figure 2.

    Parameters
    ----------
    p : float, Price or str, default=4.0
        The strength of the push, any finite number of at least 1; or a smooth price, or its name in
        :mod:`pushrank.prices`: ``"log_one_plus"`` with ``side="pull"`` is the objective of the IR Push.
    %(boosted_parameters)s
    side : {"push", "pull", "both"}
    bottom_weight : float
        The positive weight of the pull when ``side="both"``.
    choice : {"absolute", "signed"}
        %(choice)s
        The former is that of section 5 of the paper, the latter of its figure 2, step 3(a).
    alpha : float, default=1e-3
        The L2 strength :math:`\alpha`, at least 0, on the weights of the weak rankers; with columns, on the
        coefficients.

    Attributes
    ----------
    %(weak_rankers_ estimator_index_ estimator_weights_ constant_zero_ coef_linear_ margin_ edges_)s
    %(objective_path_ feature_importances_ validation_path_ best_round_ n_iter_)s
    %(converged_edge_ classes_grades_ threshold_ thresholds_ features_)s

    Examples
    --------
    %(breast_cancer)s
    >>> ranker = PushBoost(16, n_estimators=50).fit(X, y)
    >>> bool(y[ranker.rank(X)[:340]].all())
    True
    """

    p: float | Price | str = 4.0
    _: KW_ONLY
    side: Side = "push"
    bottom_weight: float = 1.0
    choice: Literal["absolute", "signed"] = "absolute"
    alpha: float = 1e-3
    tol: float = 1e-4

    def _boosting_spec(self) -> BoostingSpec:
        check_alpha("alpha", self.alpha)
        choice = checked_choice(self)
        price = prices.resolve(self.p, "p") if isinstance(self.p, str | Price) else Power(self.p)
        prices.check_declared(price)
        # The logarithm is finite at any p, where the sum itself overflows.
        scale: Scale = "mean" if price.log_divisor is None else "log"
        objective = PushObjective(price=price, side=self.side, scale=scale, bottom_weight=self.bottom_weight)
        if not objective.differentiable:
            raise ValueError(f"p={price} has kinks, which boosting cannot take; use a smooth price.")
        prices.check_monotonic(price)
        return BoostingSpec(objective, alpha=float(self.alpha), scale_slopes=True, choice=choice)


@shared_docs
@dataclass(eq=False, repr=False)
class SmoothMarginRanking(BoostedRankerMixin, BaseEstimator):
    r"""Rank separable data so that the smallest margin of a pair is as large as possible.

    Approximate coordinate ascent, or coordinate ascent, on the smooth margin

    .. math::

        G(\lambda) = \frac{-\ln F(\lambda)}{\|\lambda\|_1}, \qquad
        F(\lambda) = \sum_{(i, k)} e^{-(f(x_i) - f(x_k))} ,

    which is a lower bound of the ranking margin and rises with every round, towards the largest possible
    margin :math:`\rho`. Until G is positive the rounds are those of RankBoost.

    A round costs as much as RankBoost's. With ``learning_rate`` below 1 G still rises.

    Rudin et al., COLT 2005, section 4.2.

    Parameters
    ----------
    not_separable : {"raise", "warn"}, default="raise"
        The response if G is still not positive after ``n_estimators`` rounds, or cannot become so: a
        ValueError, or a ConvergenceWarning and RankBoost's answer.
    %(boosted_parameters)s
    ascent : {"approximate", "exact"}, default="approximate"
        The step of a round: to :math:`-F'(\alpha) = G(\lambda) F(\alpha)`, in closed form for weak rankers in
        {0, 1} (equation (6)); or to the largest G along the ranker, where
        :math:`-F'(\alpha) = G(\lambda + \alpha e_j) F(\alpha)`. Both choose the ranker of the largest edge,
        since :math:`(r_j - G) / \|\lambda\|_1` is the slope of G if the weight grows.
    choice : {"absolute", "signed"}
        %(choice)s
        The latter is the rule that the paper prints, :math:`\max_j (d^T M)_j`.

    Attributes
    ----------
    smooth_margin_path_ : ndarray of shape (n_iter_ + 1,)
        G before the first round (minus infinity) and after each; it never falls once positive. If a pair
        weighs less than one, all weights are taken relative to the smallest.
    %(weak_rankers_ estimator_index_ estimator_weights_ constant_zero_ coef_linear_)s
    margin_ : float
        The ranking margin, never below the last G; :func:`pushrank.theory.max_margin` gives its bound.
    %(edges_ objective_path_log_ feature_importances_ validation_path_ best_round_ n_iter_)s
    %(converged_edge_ classes_grades_ threshold_ thresholds_ features_)s

    Examples
    --------
    %(breast_cancer)s
    >>> ranker = SmoothMarginRanking(n_estimators=200).fit(X, y)
    >>> bool(0 < ranker.smooth_margin_path_[-1] <= ranker.margin_)
    True
    """

    _weights_are_copies = True
    not_separable: Literal["raise", "warn"] = "raise"
    _: KW_ONLY
    ascent: Literal["approximate", "exact"] = "approximate"
    choice: Literal["absolute", "signed"] = "absolute"
    n_estimators: int = 1000

    def _boosting_spec(self) -> BoostingSpec:
        check_choice("not_separable", self.not_separable, ("raise", "warn"))
        check_choice("ascent", self.ascent, ASCENTS)
        return BoostingSpec(
            step_rule=ASCENTS[self.ascent], choice=checked_choice(self), paths=self._smooth_margin_path
        )

    def _smooth_margin_path(self, run: BoostingRun) -> dict[str, Floats]:
        """Return the smooth margin before and after each round; raise or warn where it ends not positive."""
        history = run.state.history
        rounds = zip(history.values, history.norms, strict=True)
        # Validation may choose an earlier round, but separability is judged by the last.
        path = np.array([smooth_margin(run.problem.objective, *value_and_norm) for value_and_norm in rounds])
        if path[-1] <= 0.0:
            why = "the training data are not separable by these weak rankers"
            if not run.result.converged:
                why = f"no separation was found in {history.n_rounds} rounds (raise n_estimators to go on)"
            message = f"the smooth margin is not positive: {why}."
            if self.not_separable == "raise":
                raise ValueError(
                    f"{message} Use RankBoost, richer weak_rankers, or not_separable='warn' for RankBoost's "
                    "answer."
                )
            warn(f"{message} This is RankBoost's answer.", ConvergenceWarning)
        return {"smooth_margin_path_": path}


@shared_docs
@dataclass(eq=False, repr=False)
class AdaBoostRanker(BoostedRankerMixin, BaseEstimator):
    r"""Rank by the scores of AdaBoost, which with a constant among its weak rankers is as good as RankBoost.

    Coordinate descent on

    .. math::

        \ln F = \ln (F_+ + F_-), \qquad F_+ = \sum_i e^{-f(x_i)}, \quad F_- = \sum_k e^{f(\tilde x_k)} ,
        \qquad f = \lambda_0 + \sum_j \lambda_j (2 h_j - 1) .

    The step along the constant makes the F-skew :math:`F_+ - F_-` zero; the RankBoost loss :math:`F_+ F_-`
    then reaches its infimum, too.

    A round costs as much as RankBoost's. AdaBoost is for two classes; grades, groups and pairs are refused.

    Rudin et al., COLT 2005, section 5; Rudin and Schapire, *Margin-based ranking and an equivalence between
    AdaBoost and RankBoost*, JMLR 10 (2009).

    Parameters
    ----------
    constant_ranker : bool, default=True
        Whether a constant is among the weak rankers.
    %(boosted_parameters)s

    Attributes
    ----------
    f_skew_path_ : ndarray of shape (n_iter_ + 1,)
        :math:`F_+ - F_-` before the first round and after each.
    rank_loss_path_ : ndarray of shape (n_iter_ + 1,)
        RankBoost's loss :math:`F_+ F_-` of the same scores.
    %(weak_rankers_)s
    estimator_index_ : ndarray of int, shape (n_iter_,)
        The number of the weak ranker :math:`h_j \in [0, 1]` that each round moved; -1 for the constant.
    %(estimator_weights_)s
    constant_ : float
        The sum of the constant and the shifts of the rankers, in every score; 0 with columns, where
        ``threshold_`` includes it.
    %(coef_linear_ margin_ edges_ objective_path_log_ feature_importances_ validation_path_ best_round_)s
    %(n_iter_ converged_edge_ classes_ threshold_ thresholds_ features_)s

    Examples
    --------
    %(breast_cancer)s
    >>> ranker = AdaBoostRanker(n_estimators=50).fit(X, y)
    >>> ranker.score(X, y) > 0.99
    True
    """

    _weights_are_copies = True
    constant_ranker: bool = True

    def _boosting_spec(self) -> BoostingSpec:
        if not isinstance(self.constant_ranker, bool | np.bool_):
            raise ValueError(f"constant_ranker must be True or False, got {self.constant_ranker!r}.")
        # AdaBoost's objective is a sum over rows, not over pairs, so grades and explicit pairs have none.
        only = (
            "Only binary classification is supported: AdaBoostRanker ranks two classes in one list; for "
            "grades, query groups and explicit pairs use RankBoost."
        )
        constant = bool(self.constant_ranker)
        return BoostingSpec(joint=True, constant=constant, two_classes_only=only, paths=_loss_paths)

    def _pair_objective(self) -> None:
        """Return None, since F+ + F- is a sum over rows."""


def _loss_paths(run: BoostingRun) -> dict[str, Floats]:
    positive_loss, negative_loss = np.exp(np.array(run.state.history.log_sums)).T
    return {"f_skew_path_": positive_loss - negative_loss, "rank_loss_path_": positive_loss * negative_loss}
