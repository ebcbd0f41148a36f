"""The push for information retrieval (Rudin, JMLR 10 (2009), section 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from pushrank.estimators._push_family import PushFamilyRanker
from pushrank.objectives import PushObjective


class IRPush(PushFamilyRanker):
    r"""Rank so that many positives come very early, as search does: the IR Push.

    Minimises

    .. math::

        \frac{1}{I} \sum_i \ln\Bigl(1 + \sum_k e^{-(f(x_i) - f(\tilde x_k))}\Bigr)
        + \frac{\alpha}{2} \|w\|^2 ,

    a convex stand-in for the discounted gains of the positives: one misplaced positive costs the logarithm of
    its reverse height only.

    Parameters
    ----------
    alpha : float, default=1e-3
        The L2 strength, at least 0.
    solver : {"auto", "lbfgs", "newton-cg", "coordinate"}, default="auto"
        How to minimise; ``"auto"`` boosts (``"coordinate"``) where ``weak_rankers`` or another parameter of
        boosting is set, and else takes ``"lbfgs"``.
    tol : float, default=1e-4
        Converged when no entry of the gradient exceeds this, in units of one over the feature's standard
        deviation within the classes. L-BFGS goes on beyond it where n_samples * n_features ** 2 is at most
        2 ** 26, as far as the objective shows descent.
    max_iter : int, default=1000
        The most iterations, or rounds.
    warm_start : bool, default=False
        Start from the last fit's coefficients, or with ``max_rounds`` add rounds to it; features and weak
        rankers must be its own.
    verbose : bool, default=False
        Show a progress bar.
    weak_rankers : {"columns", "stumps", "regressors"}, WeakRankers, regressor or list, default="columns"
        What is boosted, as for :class:`RankBoost`; ``alpha`` then penalises
        the rankers' weights (with columns, the coefficients). The other solvers fit the columns.
    max_rounds : int, default=None
        For boosting: the paper's :math:`t_{max}` as a choice of yours, without a warning when
        it is reached; None stands for ``max_iter`` and a warning.
    learning_rate : float, default=1.0
        For boosting: the part of each step that is taken, in (0, 1].
    signed : bool, default=True
        For boosting: whether weights may be negative.
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
    checkpoint : str or Path, default=None
        As for :class:`RankBoost`.
    checkpoint_every : int, default=100
        As for :class:`RankBoost`.
    n_jobs : int, default=None
        As for :class:`RankBoost`.
    random_state : int, RandomState or None, default=None
        As for :class:`RankBoost`.

    Attributes
    ----------
    weak_rankers_, rankers_, steps_, edge_path_, feature_importances_, margin_, validation_path_
        As for :class:`RankBoost`, after a fit with ``solver="coordinate"``.
    best_round_, thresholds_
        As for :class:`RankBoost`, after such a fit.
    coef_, classes_, threshold_, n_iter_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`.

    Notes
    -----
    An iteration reads the data twice, O(nnz); otherwise a fit costs as much as :class:`PNormPush`'s. The
    paper's objective is the sum; the mean has the same minimisers without a penalty, and makes ``alpha``
    independent of the number of positives.

    References
    ----------
    Rudin, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = IRPush().fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
    """

    def __init__(
        self,
        *,
        alpha: float = 1e-3,
        solver: Literal["auto", "lbfgs", "newton-cg", "coordinate"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: bool = False,
        weak_rankers: Any = "columns",
        max_rounds: int | None = None,
        learning_rate: float = 1.0,
        signed: bool = True,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        subsample: float = 1.0,
        max_features: float = 1.0,
        early_stopping: bool = False,
        scoring: str | Callable[..., float] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
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
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _objective(self) -> PushObjective:
        return PushObjective(price="log_one_plus", side="pull", scale="mean")
