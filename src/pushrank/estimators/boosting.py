"""Boosting: RankBoost, the P-Norm Push of weak rankers, Smooth Margin Ranking and AdaBoost as rankers.

RankBoost.

Cynthia Rudin, Corinna Cortes, Mehryar Mohri, Robert Schapire, *Margin-based ranking meets boosting in the
middle*, COLT 2005; Yoav Freund, Raj Iyer, Robert Schapire, Yoram Singer, *An efficient boosting algorithm for
combining preferences*, Journal of Machine Learning Research 4 (2003), 933-969.

Smooth Margin Ranking.

Cynthia Rudin, Corinna Cortes, Mehryar Mohri, Robert Schapire, *Margin-based ranking meets boosting in the
middle*, COLT 2005.

AdaBoost as a ranker.

Cynthia Rudin, Corinna Cortes, Mehryar Mohri, Robert Schapire, *Margin-based ranking meets boosting in the
middle*, COLT 2005, on the equivalence of AdaBoost and RankBoost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from pushrank import prices
from pushrank._numeric import Floats
from pushrank.estimators._base import warn
from pushrank.estimators._boosting import BoostedRanker
from pushrank.estimators._target import Target, check_alpha
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Side
from pushrank.pairs import BipartiteSample, Sample
from pushrank.prices import Power, Price
from pushrank.solvers import LinearProblem
from pushrank.solvers.boosting.loop import Choice, Run, slope_units
from pushrank.solvers.boosting.objective import ClassProblem, ScoreProblem
from pushrank.solvers.boosting.steps import SmoothMarginStep
from pushrank.weak_rankers import Columns, Regressors
from pushrank.weak_rankers.base import GrowingPlusMinus, GrowingPool, PlusMinus, Pool, WeakRankers

VARIANTS = ("coordinate", "freund")


class RankBoost(BoostedRanker):
    r"""Rank by a weighted vote of weak rankers, boosted on the pairs that are ranked wrongly: RankBoost.

    Each round adds to the weight of one weak ranker :math:`h_j(x) \in [0, 1]` so as to lower

    .. math::

        \ln F(\lambda) = \ln \sum_{(i, k)} \pi_{ik}\, e^{-(f(x_i) - f(x_k))}, \qquad
        f = \sum_j \lambda_j h_j ,

    over the pairs in which row i should stand above row k.

    Parameters
    ----------
    variant : {"coordinate", "freund"}, default="coordinate"
        How a round chooses: the ranker with the largest edge :math:`|r_j| = |d_+ - d_-|`, as coordinate
        descent does, or the one that lowers F most, :math:`d_0 + 2 \sqrt{d_+ d_-}`, as Freund et al. do.
        ``"freund"`` is for two classes.
    weak_rankers : {"stumps", "columns", "regressors"}, WeakRankers, regressor or list, default="stumps"
        Thresholds of binned features; the features themselves; a small regression tree, or a regressor of
        scikit-learn, in each round; or a list of functions of the rows.
    n_estimators : int, default=100
        The number of rounds, at least 1.
    learning_rate : float, default=1.0
        The part of each step that is taken, in (0, 1].
    positive : bool, default=False
        Whether all weights are at least 0, the paper's convex combinations: scores then rise with every
        feature. Otherwise a ranker and its mirror :math:`1 - h` are one.
    monotonic_cst : array-like of shape (n_features,) or dict of str to int, default=None
        For stumps and columns: 1 where scores may only rise with a feature, -1 where they may only fall, 0
        where they are free, as those of categories must be.
    subsample : float, default=1.0
        The part of the rows, of each class or grade (of the query groups where there are such), that a round
        chooses and steps by, in (0, 1].
    max_features : float, default=1.0
        The part of the features that a round chooses from, in (0, 1].
    early_stopping : bool, default=False
        Whether to stop when the score of a validation part stops rising, and go back to its best round.
    scoring : str or callable, default=None
        A scorer for the validation part: the name of one of :mod:`pushrank.metrics.scorers`, or what
        scikit-learn takes; None takes minus the objective there. Of query groups, measures that take
        ``qid``, such as ``"ndcg_at_10"``, measure each by itself, and others all rows as one list. Of grades,
        measures of two classes take rows of any but the lowest as positive, as ``score`` does.
    validation_fraction : float, default=0.1
        The part of the rows (of the query groups, of the explicit pairs) to validate on, in (0, 1).
    n_iter_no_change : int, default=10
        Stop after so many rounds without a better score.
    tol : float, default=1e-10
        Stop when no ranker's edge exceeds this, at least 0.
    warm_start : bool, default=False
        Add rounds to the last fit, up to ``n_estimators`` in all; features and weak rankers must be its own.
    checkpoint : str or Path, default=None
        A file in which the run is kept. A fit with the same data and parameters goes on from it, and ends
        with the same model to the last bit as if never stopped; it may have a larger ``n_estimators``.
    checkpoint_every : int, default=100
        Write the file after every so many rounds, and at the end.
    n_jobs : int, default=None
        Threads; None or -1 for all that numba may use. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        The source of all that is drawn: subsets, the validation part, rows for quantiles beyond 200,000.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    weak_rankers_ : WeakRankers
        The fitted weak rankers.
    rankers_ : ndarray of int, shape (n_iter_,)
        The number of the weak ranker that each round moved.
    steps_ : ndarray of shape (n_iter_,)
        How far.
    coef_ : ndarray of shape (n_features,)
        With ``weak_rankers="columns"``: the coefficients, in the dtype of the training data.
    margin_ : float
        The ranking margin: the least :math:`f(x_i) - f(x_k)` of a training pair over
        :math:`\|\lambda\|_1`, at most 1; positive where all pairs are ranked rightly.
    edge_path_ : ndarray of shape (n_iter_,)
        The edges :math:`r_t` of the chosen rankers, signed.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        :math:`\ln F` before the first round and after each.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the fall of the objective.
    validation_path_ : ndarray
        With ``early_stopping``: the scores of the validation part, before the first round and after each,
        also after those beyond the best, which are not kept and which a warm start runs anew.
    best_round_ : int
        With ``early_stopping``: the number of rounds kept.
    n_iter_ : int
        The number of rounds.
    converged_ : bool
        Whether no edge exceeded ``tol`` after the last round kept.
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
    A round costs one reading of the (binned) data and a few of the scores. Classes, grades and query groups
    cost time linear in the rows, explicit pairs in the pairs. Rows with equal scores have the loss of margin
    zero. Where a ranker orders all pairs rightly its best step is infinite; it is then that of a sample with
    one more pair of each kind.

    References
    ----------
    Rudin et al., COLT 2005, section 3; Freund et al., JMLR 4 (2003), figure 1 and section 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = RankBoost(n_estimators=50).fit(X, y)
    >>> ranker.n_iter_, ranker.score(X, y) > 0.99
    (50, True)
    """

    def __init__(
        self,
        variant: Literal["coordinate", "freund"] = "coordinate",
        *,
        weak_rankers: Any = "stumps",
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        positive: bool = False,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        subsample: float = 1.0,
        max_features: float = 1.0,
        early_stopping: bool = False,
        scoring: str | Callable[..., float] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-10,
        warm_start: bool = False,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.variant = variant
        self.weak_rankers = weak_rankers
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.positive = positive
        self.monotonic_cst = monotonic_cst
        self.subsample = subsample
        self.max_features = max_features
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _objective(self) -> PushObjective:
        return PushObjective(scale="log")

    @property
    def _choice(self) -> Choice:
        return "steepest" if self.variant == "coordinate" else "lowest"

    def _check_parameters(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"variant must be one of {list(VARIANTS)}, got {self.variant!r}.")
        super()._check_parameters()

    def _check_target(self, target: Target) -> None:
        if self.variant == "freund" and not isinstance(target.sample, BipartiteSample):
            raise ValueError(
                "variant='freund' chooses rankers by sums over two classes; for grades, query groups and "
                "explicit pairs use variant='coordinate'."
            )


class PushBoost(BoostedRanker):
    r"""Rank by a weighted vote of weak rankers, boosted so that the worst-placed negatives are pushed down.

    Each round adds to the weight of one weak ranker :math:`h_j(x) \in [0, 1]` so as to lower

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|\lambda\|^2 , \qquad f = \sum_j \lambda_j h_j ,

    i over the positives and k over the negatives: the algorithm of the P-Norm Push on any weak rankers. The
    larger p, the more the objective looks at the negatives near the top alone; p = 1 is :class:`RankBoost`.

    Parameters
    ----------
    p : float, Price or str, default=4.0
        The strength of the push, any finite number of at least 1; or a smooth price, or its name in
        :mod:`pushrank.prices`: ``"log_one_plus"`` with ``side="pull"`` is the objective of the IR Push.
    side : {"push", "pull", "both"}, default="push"
        Push the worst-placed negatives down, pull the worst-placed positives up, or both.
    bottom_weight : float, default=1.0
        The positive weight of the pull when ``side="both"``.
    weak_rankers : {"stumps", "columns", "regressors"}, WeakRankers, regressor or list, default="stumps"
        Thresholds of binned features; the features themselves; a small regression tree, or a regressor of
        scikit-learn, in each round; or a list of functions of the rows.
    n_estimators : int, default=100
        The number of rounds, the paper's :math:`t_{max}`, at least 1.
    alpha : float, default=1e-3
        The L2 strength :math:`\alpha`, at least 0, on the weights of the weak rankers; with columns, on the
        coefficients.
    learning_rate : float, default=1.0
        The part of each step that is taken, in (0, 1].
    positive : bool, default=False
        Whether all weights are at least 0, so that scores rise with every weak ranker.
    monotonic_cst : array-like of shape (n_features,) or dict of str to int, default=None
        For stumps and columns: 1 where scores may only rise with a feature, -1 where they may only fall, 0
        where they are free, as those of categories must be.
    subsample : float, default=1.0
        The part of the rows, of each class or grade (of the query groups where there are such), that a round
        chooses and steps by, in (0, 1].
    max_features : float, default=1.0
        The part of the features that a round chooses from, in (0, 1].
    early_stopping : bool, default=False
        Whether to stop when the score of a validation part stops rising, and go back to its best round.
    scoring : str or callable, default=None
        A scorer for the validation part: the name of one of :mod:`pushrank.metrics.scorers`, or what
        scikit-learn takes; None takes minus the objective there.
    validation_fraction : float, default=0.1
        The part of the rows (of the query groups, of the explicit pairs) to validate on, in (0, 1).
    n_iter_no_change : int, default=10
        Stop after so many rounds without a better score.
    tol : float, default=1e-4
        Stop when no ranker's edge exceeds this, at least 0; those of columns are measured in units of one
        over the feature's standard deviation within the classes.
    warm_start : bool, default=False
        Add rounds to the last fit, up to ``n_estimators`` in all; features and weak rankers must be its own.
    n_jobs : int, default=None
        Threads; None or -1 for all that numba may use. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        The source of all that is drawn: subsets, the validation part, rows for quantiles beyond 200,000.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    weak_rankers_, rankers_, steps_, coef_, margin_, edge_path_, feature_importances_
        As for :class:`RankBoost`.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The objective before the first round and after each.
    validation_path_, best_round_, n_iter_, converged_, classes_, threshold_, thresholds_
        As for :class:`RankBoost`.
    n_features_in_, feature_names_in_
        As for :class:`RankBoost`.

    Notes
    -----
    For weak rankers in {0, 1} the best step has the closed form :math:`\ln(d_+ / d_-) / (p + 1)` where
    ``alpha`` is 0 and ``side`` is no ``"both"``. Two classes cost time linear in the rows.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), figure 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushBoost(16, n_estimators=50).fit(X, y)
    >>> bool(y[ranker.rank(X)[:340]].all())
    True
    """

    def __init__(
        self,
        p: float | Price | str = 4.0,
        *,
        side: Side = "push",
        bottom_weight: float = 1.0,
        weak_rankers: Any = "stumps",
        n_estimators: int = 100,
        alpha: float = 1e-3,
        learning_rate: float = 1.0,
        positive: bool = False,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        subsample: float = 1.0,
        max_features: float = 1.0,
        early_stopping: bool = False,
        scoring: str | Callable[..., float] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.p = p
        self.side = side
        self.bottom_weight = bottom_weight
        self.weak_rankers = weak_rankers
        self.n_estimators = n_estimators
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.positive = positive
        self.monotonic_cst = monotonic_cst
        self.subsample = subsample
        self.max_features = max_features
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    checkpoint = None
    checkpoint_every = 1

    def _objective(self) -> PushObjective:
        price = prices.resolve(self.p) if isinstance(self.p, str | Price) else Power(self.p)
        objective = PushObjective(
            price=price,
            side=self.side,
            scale="mean" if price.log_divisor is None else "log",
            bottom_weight=self.bottom_weight,
        )
        if not objective.differentiable:
            raise ValueError(f"price={price} has kinks, which boosting cannot take; use a smooth price.")
        return objective

    def _check_parameters(self) -> None:
        check_alpha("alpha", self.alpha)
        super()._check_parameters()

    @property
    def _penalty(self) -> float:
        return float(self.alpha)

    def _column_scales(
        self, objective: PushObjective, X: Any, train: Sample, units: Floats
    ) -> Floats | float:
        return slope_units(LinearProblem(objective, LinearModel(X), train, self._penalty), units)


ANSWERS = ("raise", "warn")


class SmoothMarginRanking(BoostedRanker):
    r"""Rank separable data so that the least margin of a pair is as large as it can be.

    Coordinate ascent on the smooth margin

    .. math::

        G(\lambda) = \frac{-\ln F(\lambda)}{\|\lambda\|_1}, \qquad
        F(\lambda) = \sum_{(i, k)} e^{-(f(x_i) - f(x_k))} ,

    which lies below the ranking margin and rises with every round, towards the largest margin :math:`\rho`
    there is. Rounds are RankBoost's until G is positive.

    Parameters
    ----------
    not_separable : {"raise", "warn"}, default="raise"
        What to do where G is still not positive after ``n_estimators``, or cannot become so: raise an error,
        or warn and keep RankBoost's answer.
    weak_rankers : {"stumps", "columns", "regressors"}, WeakRankers, regressor or list, default="stumps"
        As for :class:`RankBoost`.
    n_estimators : int, default=1000
        The number of rounds, at least 1.
    learning_rate : float, default=1.0
        The part of each step that is taken, in (0, 1].
    positive : bool, default=False
        Whether all weights are at least 0.
    monotonic_cst : array-like of shape (n_features,) or dict of str to int, default=None
        As for :class:`RankBoost`.
    subsample, max_features : float, default=1.0
        As for :class:`RankBoost`.
    early_stopping : bool, default=False
        As for :class:`RankBoost`.
    scoring : str or callable, default=None
        As for :class:`RankBoost`.
    validation_fraction : float, default=0.1
        As for :class:`RankBoost`.
    n_iter_no_change : int, default=10
        As for :class:`RankBoost`.
    tol : float, default=1e-10
        Stop when no ranker's edge exceeds this, at least 0.
    warm_start : bool, default=False
        Add rounds to the last fit, up to ``n_estimators`` in all; features and weak rankers must be its own.
    checkpoint : str or Path, default=None
        As for :class:`RankBoost`.
    checkpoint_every : int, default=100
        As for :class:`RankBoost`.
    n_jobs : int, default=None
        As for :class:`RankBoost`.
    random_state : int, RandomState or None, default=None
        As for :class:`RankBoost`.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    smooth_margin_path_ : ndarray of shape (n_iter_ + 1,)
        G before the first round (minus infinity) and after each; it never falls once positive. Where a
        pair weighs less than one, all count relative to the least.
    margin_ : float
        The ranking margin, never below the last G; :func:`pushrank.theory.max_margin` gives its bound.
    weak_rankers_, rankers_, steps_, coef_, edge_path_, objective_path_, feature_importances_
        As for :class:`RankBoost`.
    validation_path_, best_round_, n_iter_, converged_, classes_, threshold_, thresholds_
        As for :class:`RankBoost`.
    n_features_in_, feature_names_in_
        As for :class:`RankBoost`.

    Notes
    -----
    A round costs as much as RankBoost's. With ``learning_rate`` below 1 G still rises.

    References
    ----------
    Rudin et al., COLT 2005, section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = SmoothMarginRanking(n_estimators=200).fit(X, y)
    >>> bool(0 < ranker.smooth_margin_path_[-1] <= ranker.margin_)
    True
    """

    def __init__(
        self,
        not_separable: Literal["raise", "warn"] = "raise",
        *,
        weak_rankers: Any = "stumps",
        n_estimators: int = 1000,
        learning_rate: float = 1.0,
        positive: bool = False,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        subsample: float = 1.0,
        max_features: float = 1.0,
        early_stopping: bool = False,
        scoring: str | Callable[..., float] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-10,
        warm_start: bool = False,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.not_separable = not_separable
        self.weak_rankers = weak_rankers
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.positive = positive
        self.monotonic_cst = monotonic_cst
        self.subsample = subsample
        self.max_features = max_features
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _objective(self) -> PushObjective:
        return PushObjective(scale="log")

    def _rule(self, sample: Sample) -> SmoothMarginStep:
        # a pair that weighs more than one only lowers G, which then still bounds the margin
        return SmoothMarginStep(min(0.0, sample.least_log_weight))

    def _check_parameters(self) -> None:
        if self.not_separable not in ANSWERS:
            raise ValueError(f"not_separable must be one of {list(ANSWERS)}, got {self.not_separable!r}.")
        super()._check_parameters()

    def _check_run(self, run: Run) -> None:
        if _smooth_margins(run)[-1] > 0.0:
            return
        if run.converged:
            why = "the training data are not separable by these weak rankers"
        else:
            why = f"no separation was found in {run.history.n_rounds} rounds (raise n_estimators to go on)"
        message = f"the smooth margin is not positive: {why}."
        if self.not_separable == "raise":
            raise ValueError(
                f"{message} Use RankBoost, richer weak_rankers, or not_separable='warn' for RankBoost's "
                "answer."
            )
        warn(f"{message} This is RankBoost's answer.", ConvergenceWarning)

    def _keep_rounds(self, family: WeakRankers, X: Any, target: Target, train: Sample, run: Run) -> None:
        super()._keep_rounds(family, X, target, train, run)
        self.smooth_margin_path_ = np.array(_smooth_margins(run))


def _smooth_margins(run: Run) -> list[float]:
    """Return the smooth margin before the first round and after each."""
    rule: Any = run.descent.rule
    return [rule.smooth_margin(*at) for at in zip(run.history.values, run.history.norms, strict=True)]


class AdaBoostRanker(BoostedRanker):
    r"""Rank by the scores of AdaBoost, which with a constant among its weak rankers is as good as RankBoost.

    Coordinate descent on

    .. math::

        \ln F = \ln (F_+ + F_-), \qquad F_+ = \sum_i e^{-f(x_i)}, \quad F_- = \sum_k e^{f(\tilde x_k)} ,
        \qquad f = \lambda_0 + \sum_j \lambda_j (2 h_j - 1) .

    The step along the constant makes the F-skew :math:`F_+ - F_-` vanish, and with it the RankBoost loss
    :math:`F_+ F_-` comes down to its infimum.

    Parameters
    ----------
    constant_ranker : bool, default=True
        Whether a constant is among the weak rankers.
    weak_rankers : {"stumps", "columns", "regressors"}, WeakRankers, regressor or list, default="stumps"
        As for :class:`RankBoost`.
    n_estimators : int, default=100
        The number of rounds, at least 1.
    learning_rate : float, default=1.0
        The part of each step that is taken, in (0, 1].
    positive : bool, default=False
        Whether all weights are at least 0.
    monotonic_cst : array-like of shape (n_features,) or dict of str to int, default=None
        As for :class:`RankBoost`.
    subsample, max_features : float, default=1.0
        As for :class:`RankBoost`.
    early_stopping : bool, default=False
        As for :class:`RankBoost`.
    scoring : str or callable, default=None
        As for :class:`RankBoost`.
    validation_fraction : float, default=0.1
        As for :class:`RankBoost`.
    n_iter_no_change : int, default=10
        As for :class:`RankBoost`.
    tol : float, default=1e-10
        Stop when no ranker's edge exceeds this, at least 0.
    warm_start : bool, default=False
        Add rounds to the last fit, up to ``n_estimators`` in all; features and weak rankers must be its own.
    checkpoint : str or Path, default=None
        As for :class:`RankBoost`.
    checkpoint_every : int, default=100
        As for :class:`RankBoost`.
    n_jobs : int, default=None
        As for :class:`RankBoost`.
    random_state : int, RandomState or None, default=None
        As for :class:`RankBoost`.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    f_skew_path_ : ndarray of shape (n_iter_ + 1,)
        :math:`F_+ - F_-` before the first round and after each.
    rank_loss_path_ : ndarray of shape (n_iter_ + 1,)
        RankBoost's loss :math:`F_+ F_-` of the same scores.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        :math:`\ln F`.
    intercept_ : float
        What the constant and the shifts of the rankers add to every score; absent with columns, where
        ``threshold_`` takes it up.
    weak_rankers_, rankers_, steps_, coef_, edge_path_, feature_importances_, margin_
        As for :class:`RankBoost`, in terms of :math:`h_j \in [0, 1]`; -1 stands for the constant.
    validation_path_, best_round_, n_iter_, converged_, classes_, threshold_
        As for :class:`RankBoost`.
    n_features_in_, feature_names_in_
        As for :class:`RankBoost`.

    Notes
    -----
    A round costs as much as RankBoost's. AdaBoost is for two classes; grades, groups and pairs are refused.

    References
    ----------
    Rudin et al., COLT 2005, section 5; Rudin and Schapire, *Margin-based ranking and an equivalence between
    AdaBoost and RankBoost*, JMLR 10 (2009).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = AdaBoostRanker(n_estimators=50).fit(X, y)
    >>> ranker.score(X, y) > 0.99
    True
    """

    def __init__(
        self,
        constant_ranker: bool = True,
        *,
        weak_rankers: Any = "stumps",
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        positive: bool = False,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        subsample: float = 1.0,
        max_features: float = 1.0,
        early_stopping: bool = False,
        scoring: str | Callable[..., float] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-10,
        warm_start: bool = False,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.constant_ranker = constant_ranker
        self.weak_rankers = weak_rankers
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.positive = positive
        self.monotonic_cst = monotonic_cst
        self.subsample = subsample
        self.max_features = max_features
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def f_skew_path_(self) -> Floats:
        """The F-skew before the first round and after each, shape (n_iter_ + 1,)."""
        skew: Floats = np.subtract(*self._class_losses)
        return skew

    @property
    def rank_loss_path_(self) -> Floats:
        """RankBoost's loss before the first round and after each, shape (n_iter_ + 1,)."""
        loss: Floats = np.multiply(*self._class_losses)
        return loss

    @property
    def _class_losses(self) -> Floats:
        if not hasattr(self, "steps_"):
            raise AttributeError("the paths of the losses need a fitted ranker.")
        losses: Floats = np.exp(np.array(self._history["log_sums"])).T
        return losses

    def _objective(self) -> PushObjective:
        return PushObjective(scale="log")

    def _pair_objective(self) -> None:
        """Return None: F+ + F- is summed over rows."""

    def _check_target(self, target: Target) -> None:
        if not isinstance(target.sample, BipartiteSample):
            raise ValueError(
                "Only binary classification is supported: AdaBoostRanker ranks two classes in one list; for "
                "grades, query groups and explicit pairs use RankBoost."
            )

    def _score_problem(self, objective: PushObjective, sample: Sample) -> ScoreProblem:  # noqa: ARG002
        if not isinstance(sample, BipartiteSample):
            raise TypeError(f"AdaBoost needs two classes, got {type(sample).__name__}.")
        return ClassProblem(sample, (1.0, 1.0), joint=True, n_threads=self._n_threads)

    def _training_pool(self, pool: Pool) -> Pool:
        if isinstance(pool, GrowingPool):
            return GrowingPlusMinus(pool, constant=bool(self.constant_ranker))
        return PlusMinus(pool, constant=bool(self.constant_ranker))

    def _check_last_rounds(self, family: WeakRankers, X: Any) -> None:
        super()._check_last_rounds(family, X)
        shifts = set(self._history["rankers"] - self.rankers_)
        if shifts - {int(self.constant_ranker)}:
            raise ValueError(
                f"warm_start=True adds rounds to the last fit, and constant_ranker={self.constant_ranker!r} "
                "is not what it was: set it back, or warm_start=False to start anew."
            )

    def _bounds(
        self, family: WeakRankers, n_features: int, n_rankers: int
    ) -> tuple[Floats | float, Floats | float]:
        lower, upper = super()._bounds(family, n_features, n_rankers)
        if not self.constant_ranker or (np.isneginf(lower).all() and np.isposinf(upper).all()):
            return lower, upper
        if isinstance(family, Regressors):
            raise ValueError(
                "positive=True needs constant_ranker=False where the weak rankers are regressors."
            )
        # the constant, number 0, is free
        n_own = n_rankers - 1
        return (
            np.append(-np.inf, np.broadcast_to(lower, n_own)),
            np.append(np.inf, np.broadcast_to(upper, n_own)),
        )

    def _weights_in_family(self, run: Run) -> tuple[NDArray[np.intp], Floats]:
        rankers = np.array(run.history.rankers, dtype=np.intp) - int(self.constant_ranker)
        return rankers, np.where(rankers < 0, 1.0, 2.0) * np.array(run.history.steps)

    def _keep_rounds(self, family: WeakRankers, X: Any, target: Target, train: Sample, run: Run) -> None:
        super()._keep_rounds(family, X, target, train, run)
        if not isinstance(family, Columns):
            is_constant, steps = self.rankers_ < 0, self._history["steps"]
            self.intercept_ = float(steps[is_constant].sum() - steps[~is_constant].sum())
