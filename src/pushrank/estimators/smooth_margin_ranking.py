"""Smooth Margin Ranking.

Cynthia Rudin, Corinna Cortes, Mehryar Mohri, Robert Schapire, *Margin-based ranking meets boosting in the
middle*, COLT 2005.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from pushrank.estimators._boosting import BoostedRanker
from pushrank.estimators._target import Target
from pushrank.estimators._warnings import warn
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers.boosting import Run
from pushrank.solvers.step_rules import SmoothMarginStep
from pushrank.weak_rankers.base import WeakRankers

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
        What to do where G is still not positive after ``max_rounds``, or cannot become so: raise an error,
        or warn and keep RankBoost's answer.
    weak_rankers : {"stumps", "columns", "regressors"}, WeakRankers, regressor or list, default="stumps"
        As for :class:`RankBoost`.
    max_rounds : int, default=1000
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
    >>> ranker = SmoothMarginRanking(max_rounds=200).fit(X, y)
    >>> bool(0 < ranker.smooth_margin_path_[-1] <= ranker.margin_)
    True
    """

    def __init__(
        self,
        not_separable: Literal["raise", "warn"] = "raise",
        *,
        weak_rankers: Any = "stumps",
        max_rounds: int = 1000,
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
        self.not_separable = not_separable
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
            why = (
                f"no separation was found in {run.history.n_rounds} rounds (raise max_rounds to look further)"
            )
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
