"""AdaBoost as a ranker.

Cynthia Rudin, Corinna Cortes, Mehryar Mohri, Robert Schapire, *Margin-based ranking meets boosting in the
middle*, COLT 2005, on the equivalence of AdaBoost and RankBoost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._log_space import Floats
from pushrank.estimators._boosting import BoostedRanker
from pushrank.estimators._target import Target
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, Sample
from pushrank.solvers.boosting import Run
from pushrank.solvers.score_problem import ClassProblem, ScoreProblem
from pushrank.weak_rankers import Columns, Regressors
from pushrank.weak_rankers.base import GrowingPool, Pool, WeakRankers
from pushrank.weak_rankers.plus_minus import GrowingPlusMinus, PlusMinus


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
    max_rounds : int, default=100
        The number of rounds, at least 1.
    learning_rate : float, default=1.0
        The part of each step that is taken, in (0, 1].
    signed : bool, default=True
        Whether weights may be negative.
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
        Add rounds to the last fit, up to ``max_rounds`` in all; features and weak rankers must be its own.
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
    >>> ranker = AdaBoostRanker(max_rounds=50).fit(X, y)
    >>> ranker.score(X, y) > 0.99
    True
    """

    def __init__(
        self,
        constant_ranker: bool = True,
        *,
        weak_rankers: Any = "stumps",
        max_rounds: int = 100,
        learning_rate: float = 1.0,
        signed: bool = True,
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
        self.max_rounds = max_rounds
        self.learning_rate = learning_rate
        self.signed = signed
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
                "signed=False needs constant_ranker=False where the weak rankers are regressors."
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
