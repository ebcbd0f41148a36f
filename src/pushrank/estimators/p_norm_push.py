"""The P-Norm Push.

Cynthia Rudin, *The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of the List*,
Journal of Machine Learning Research 10 (2009), 2233-2271.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from pushrank.estimators._push_family import PushFamilyRanker
from pushrank.objectives import PushObjective
from pushrank.prices import Power


class PNormPush(PushFamilyRanker):
    r"""Rank so that the worst-placed negatives are pushed down: the P-Norm Push.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2 ,

    i over the positives and k over the negatives. The larger p, the more the objective looks at the negatives
    near the top alone; p = 1 is RankBoost's objective.

    Parameters
    ----------
    p : float, default=4.0
        The strength of the push, any finite number of at least 1. Powers of two from 1 to 64 are a good
        grid.
    alpha : float, default=1e-3
        The L2 strength, at least 0. With 0 separable data have no optimum, which is reported.
    solver : {"auto", "lbfgs", "newton-cg", "coordinate"}, default="auto"
        How to minimise. ``"coordinate"`` is the paper's boosting algorithm; ``"auto"`` takes it where
        ``weak_rankers`` or another parameter of boosting is set, and else ``"lbfgs"``.
    tol : float, default=1e-4
        Converged when no entry of the gradient exceeds this, in units of one over the feature's standard
        deviation within the classes. L-BFGS goes on beyond it where n_samples * n_features ** 2 is at most
        2 ** 26, as far as the objective shows descent.
    max_iter : int, default=1000
        The most iterations; for ``"coordinate"`` the paper's number of rounds :math:`t_{max}`.
    warm_start : bool, default=False
        Start from the last fit's coefficients, as when p grows along a path, or with ``max_rounds`` add
        rounds to it; features and weak rankers must be its own.
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
    coef_ : ndarray of shape (n_features,)
        The coefficients, in the dtype of the training data.
    classes_ : ndarray of shape (2,)
        The negative and the positive class.
    threshold_ : float
        The break-even point of the training scores: as many rows score above it as are positive.
    n_iter_ : int
        Iterations run.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The objective at the start and after every iteration.
    converged_ : bool
        Whether the gradient came down to ``tol``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had names that are all strings.

    Notes
    -----
    An iteration reads the data once, O(nnz). Every 20 to 30 iterations a gradient solver also measures how
    the objective curves: with up to 1,024 features in O(n_samples n_features^2) time and O(n_features^2)
    memory, with more from the heaviest rows, in at most a sixteenth of the memory of the data (or 8 MiB).
    Beside that and the data a fit holds about 50 bytes a row.

    There is no intercept, since pairs ignore it. Positives and negatives with equal scores have the loss of
    margin zero.

    References
    ----------
    Rudin, JMLR 10 (2009), equation (5) and figure 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PNormPush(p=8).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
    """

    def __init__(
        self,
        p: float = 4.0,
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
        self.p = p
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
        return PushObjective(price=Power(self.p), scale="log")
