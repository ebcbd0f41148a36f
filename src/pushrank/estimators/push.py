"""The push rankers.

The P-Norm Push.

Cynthia Rudin, *The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of the List*,
Journal of Machine Learning Research 10 (2009), 2233-2271.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from pushrank import losses, prices
from pushrank._array import is_numpy, like, to_host
from pushrank._numeric import Floats
from pushrank._parallel import one_blas_thread
from pushrank._validation import check_number
from pushrank.estimators._base import CoefficientRanker, ComparingRanker, linear_scores, progress_bar, warn
from pushrank.estimators._boosting import LEARNED, AdditiveRanker, BoostedRanker
from pushrank.estimators._target import Target, check_alpha, check_solver, ranking_data
from pushrank.losses import Loss
from pushrank.models import ArrayLinearModel, LinearModel
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Scale, Side
from pushrank.pairs import ACCURACY, Sample
from pushrank.prices import Power, Price
from pushrank.solvers import SOLVERS, Callback, LinearProblem, Result, lbfgs
from pushrank.solvers.boosting.loop import slope_units
from pushrank.solvers.infinite_push import infinite_push, is_infinite_push
from pushrank.solvers.smoothing import SmoothedObjective, smoothing
from pushrank.weak_rankers.base import WeakRankers

AnyLinearModel = LinearModel | ArrayLinearModel


class LinearRanker(CoefficientRanker, ComparingRanker):
    """A linear ranker that minimises a push objective of its scores.

    A subclass has the constructor parameters ``alpha``, ``solver``, ``tol``, ``max_iter``, ``warm_start``
    and ``verbose`` and names its objective.
    """

    _solvers: ClassVar[tuple[str, ...]] = tuple(SOLVERS)

    def _learn(self, X: Any, y: ArrayLike | None, *of_rows: Any) -> Self:
        self._check_parameters()
        objective = self._objective()
        self._check_solver_can(objective)
        X, target = ranking_data(self, X, y, *of_rows)
        return self._solve(objective, X, target)

    def _solve(self, objective: PushObjective, X: Any, target: Target) -> Self:
        """Fit the coefficients to checked data."""
        self._check_device(X, objective)
        with one_blas_thread():
            model = LinearModel(X) if is_numpy(X) else ArrayLinearModel(X)
            alpha = float(self.alpha)
            with progress_bar(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as callback:
                result = self._optimise(objective, model, target.sample, alpha, callback)
        self._keep_coef(like(result.coef, X, X.dtype), X, target)
        self.n_iter_ = result.n_iter
        self.objective_path_ = result.objective_path
        self.converged_ = result.converged
        if not result.converged:
            warn(f"{type(self).__name__} did not converge: {result.message}", ConvergenceWarning)
        return self

    def _optimise(
        self,
        objective: PushObjective,
        model: AnyLinearModel,
        sample: Sample,
        alpha: float,
        callback: Callback | None,
    ) -> Result:
        """Run the solver on a differentiable objective."""
        problem = LinearProblem(objective, model, sample, alpha)
        return SOLVERS[self._solver](
            problem, self._start(model.n_features), self.tol, self.max_iter, callback
        )

    def _check_device(self, X: Any, objective: PushObjective) -> None:
        """Raise where arrays of another library are asked for what takes NumPy's."""
        if is_numpy(X):
            return
        if self._solver == "coordinate":
            raise ValueError("solver='coordinate' takes NumPy arrays only; use solver='lbfgs' or convert X.")
        if not objective.differentiable:
            raise ValueError(
                f"loss={objective.loss} with price={objective.price} has kinks, which are smoothed for NumPy "
                "arrays only; convert X, or use SquaredHinge and Power(p)."
            )

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: arrays of other libraries are taken where they are."""
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    def _check_parameters(self) -> None:
        check_alpha("alpha", self.alpha)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, 1, integer=True)
        check_solver(self.solver, self._solvers)

    def _check_solver_can(self, objective: PushObjective) -> None:
        if self._solver == "newton-cg" and not objective.twice_differentiable:
            raise ValueError(
                f"solver='newton-cg' needs second derivatives, which loss={objective.loss} with "
                f"price={objective.price} does not have; use solver='lbfgs'."
            )

    @property
    def _solver(self) -> str:
        """The name of the solver to run."""
        return str(self.solver)

    def _start(self, n_features: int) -> NDArray[np.float64]:
        if self.warm_start and hasattr(self, "coef_"):
            return to_host(self.coef_).astype(np.float64)
        return np.zeros(n_features)

    def _keep_coef(self, coef: NDArray[np.floating], X: Any, target: Target) -> None:
        self._forget(("classes_", "thresholds_"))
        self.coef_ = coef
        self._keep_classes(target, linear_scores(X, coef))


OF_BOOSTING = (
    "steps_",
    "rankers_",
    "weak_rankers_",
    "edge_path_",
    "margin_",
    "_history",
    *(name for name in LEARNED if name not in ("classes_", "thresholds_", "coef_")),
)
"""Attributes of a fit by boosting alone."""

FOR_BOOSTING = (
    "weak_rankers",
    "max_rounds",
    "learning_rate",
    "signed",
    "monotonic_cst",
    "subsample",
    "max_features",
    "early_stopping",
    "checkpoint",
)
"""Parameters that change a fit by boosting only."""


class PushFamilyRanker(BoostedRanker, LinearRanker):
    """A push ranker: linear by a gradient solver, or of any weak rankers by boosting."""

    _solvers: ClassVar[tuple[str, ...]] = ("auto", *SOLVERS)

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``X @ coef_ - threshold_``, or the weighted sum of the weak rankers less ``threshold_``.
        """
        kind: type[Any] = AdditiveRanker if hasattr(self, "steps_") else LinearRanker
        scores: NDArray[np.floating] = kind.decision_function(self, X)
        return scores

    def _keep_coef(self, coef: NDArray[np.floating], X: Any, target: Target) -> None:
        self._forget(OF_BOOSTING)
        LinearRanker._keep_coef(self, coef, X, target)

    @property
    def _solver(self) -> str:
        """The name of the solver: ``"auto"`` boosts where a parameter of boosting is set."""
        if self.solver != "auto":
            return super()._solver
        return "coordinate" if self._set_for_boosting() else "lbfgs"

    def _set_for_boosting(self) -> list[str]:
        """Return the parameters of boosting that are not at their defaults."""
        parameters = inspect.signature(type(self)).parameters
        chosen = []
        for name in FOR_BOOSTING:
            value, default = getattr(self, name), parameters[name].default
            is_plain = isinstance(value, str | Real | None)
            if not is_plain or value != default:
                chosen.append(name)
        return chosen

    def _check_only_linear(self) -> None:
        """Raise where a parameter of boosting is set that a gradient solver would ignore."""
        chosen = self._set_for_boosting()
        if chosen:
            given = ", ".join(f"{name}={getattr(self, name)!r}" for name in chosen)
            raise ValueError(
                f"{given}: for boosting only; set solver='coordinate' or 'auto', or leave the default with "
                f"solver={self.solver!r}."
            )

    def _check_parameters(self) -> None:
        LinearRanker._check_parameters(self)
        if self._boosts:
            BoostedRanker._check_parameters(self)
        else:
            self._check_only_linear()

    def _check_rounds(self) -> None:
        # without a number, rounds run until the tolerance is reached
        if self.max_rounds is not None:
            super()._check_rounds()

    def _boost(
        self, objective: PushObjective, family: WeakRankers, X: Any, target: Target, y: ArrayLike | None
    ) -> None:
        if self._boosts:
            super()._boost(objective, family, X, target, y)
        else:
            self._check_solver_can(objective)
            self._solve(objective, X, target)

    @property
    def _boosts(self) -> bool:
        """Whether rounds of boosting fit the ranker, and not a gradient solver."""
        return self._solver == "coordinate"

    @property
    def n_estimators(self) -> int | None:
        """The number of rounds."""
        return self.max_rounds

    @property
    def positive(self) -> bool:
        """Whether all weights are at least 0."""
        return not self.signed

    @property
    def _max_rounds(self) -> int:
        return int(self.max_iter if self.max_rounds is None else self.max_rounds)

    @property
    def _penalty(self) -> float:
        return float(self.alpha)

    def _column_scales(
        self, objective: PushObjective, X: Any, train: Sample, units: Floats
    ) -> Floats | float:
        return slope_units(LinearProblem(objective, LinearModel(X), train, self._penalty), units)

    def _initial_coef(self, n_features: int) -> Floats | None:
        if not self.warm_start:
            return None
        if self._adds_rounds:
            return getattr(self, "_first_coef", None)
        return self._start(n_features) if self.max_rounds is None else None

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: boosted stumps take missing values, gradient solvers other arrays."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan &= self._boosts
        tags.array_api_support = not self._boosts
        return tags


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


class BottomPush(PushFamilyRanker):
    r"""Rank so that the worst-placed positives are pulled up: few positives at the bottom of the list.

    Minimises

    .. math::

        \frac{1}{p} \ln \sum_i \Bigl(\sum_k e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2 ,

    the P-Norm Push of the exchanged classes at negated scores: use it where what lies at the bottom will be
    discarded unseen.

    Parameters
    ----------
    p : float, default=4.0
        The strength of the pull, any finite number of at least 1.
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
    A fit costs as much as :class:`PNormPush`'s.

    References
    ----------
    Rudin, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = BottomPush(p=8).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[-150:]].any())
    (True, False)
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
        return PushObjective(price=Power(self.p), side="pull", scale="log")


class TopBottomPush(LinearRanker):
    r"""Rank so that both ends of the list are right: few negatives on top, few positives at the bottom.

    Minimises

    .. math::

        \frac{1}{p} \ln \Bigl[ \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + c \sum_i \Bigl(\sum_k e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p \Bigr] + \frac{\alpha}{2} \|w\|^2 .

    Parameters
    ----------
    p : float, default=4.0
        The strength of both pushes, any finite number of at least 1.
    bottom_weight : float, default=1.0
        The weight c of the bottom's part, positive.
    alpha : float, default=1e-3
        The L2 strength, at least 0.
    solver : {"lbfgs", "newton-cg", "coordinate"}, default="lbfgs"
        How to minimise.
    tol : float, default=1e-4
        Converged when no entry of the gradient exceeds this, in units of one over the feature's standard
        deviation within the classes. L-BFGS goes on beyond it where n_samples * n_features ** 2 is at most
        2 ** 26, as far as the objective shows descent.
    max_iter : int, default=1000
        The most iterations, or rounds.
    warm_start : bool, default=False
        Start from the last fit's coefficients; the features must be its own.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, classes_, threshold_, n_iter_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Where there are more than two grades: the break-even thresholds between them.

    Notes
    -----
    An iteration reads the data twice, O(nnz); otherwise a fit costs as much as :class:`PNormPush`'s. The
    logarithm of the paper's sum is convex too, has its minimisers, and stays finite for every p. With classes
    of very different size the parts differ in size by the ratio to the power p - 1, which ``bottom_weight``
    can offset.

    References
    ----------
    Rudin, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = TopBottomPush(p=4).fit(scale(X), y)
    >>> order = ranker.rank(scale(X))
    >>> bool(y[order[:300]].all()), bool(y[order[-150:]].any())
    (True, False)
    """

    def __init__(
        self,
        p: float = 4.0,
        bottom_weight: float = 1.0,
        *,
        alpha: float = 1e-3,
        solver: Literal["lbfgs", "newton-cg", "coordinate"] = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.p = p
        self.bottom_weight = bottom_weight
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def _objective(self) -> PushObjective:
        return PushObjective(price=Power(self.p), side="both", scale="log", bottom_weight=self.bottom_weight)


HEAVIEST = 1e100  # the square of a sum of losses with these weights is a number
LEARNED_BY_KINKED = ("primal_objective_", "dual_objective_", "dual_gap_")


class PushRanker(LinearRanker):
    r"""Rank by any pair loss under any price: the whole framework as one estimator.

    Minimises :math:`F(Xw) + \frac{\alpha}{2} \|w\|^2`, where F has the minimisers of

    .. math::

        \sum_k g\Bigl(\sum_i \ell(f(x_i) - f(\tilde x_k))\Bigr)

    on a scale that does not overflow: the logarithm for the exponential loss and for the exponential price,
    the power mean for another loss with a power price, the largest mean loss with the maximum, and the mean
    otherwise (see the scales of :class:`pushrank.PushObjective`). Twice the rows leave the best coefficients
    as they are, under the same ``alpha``, but for two prices that are no powers: :math:`\ln(1 + h)`, by
    little, and :math:`e^h`, whose logarithm grows as the inner sums h do.

    Parameters
    ----------
    loss : Loss or str, default="exponential"
        The pair loss, or its name in :mod:`pushrank.losses`.
    price : Price or str, default="identity"
        The price, or its name in :mod:`pushrank.prices`, such as ``Power(8)``.
    side : {"push", "pull", "both"}, default="push"
        Push negatives down, pull positives up, or both.
    bottom_weight : float, default=1.0
        The positive weight of the pull when ``side="both"``.
    alpha : float, default=1e-3
        The L2 strength, at least 0; positive for the hinge and the maximum.
    solver : {"lbfgs", "newton-cg", "coordinate"}, default="lbfgs"
        How to minimise. The hinge and the maximum, which have kinks, are approached by smooth objectives,
        each minimised by L-BFGS; but the maximum of the hinge or its square, of two classes, is the problem
        of :class:`InfinitePush`, and solved as there.
    accuracy : float, default=1e-10
        The relative error of an analytic loss's sums over pairs, from 1e-13 to 0.1.
    tol : float, default=1e-4
        Converged when no entry of the gradient exceeds this, in units of one over the feature's standard
        deviation within the classes; for the hinge and the maximum, when the relative duality gap is at most
        this. L-BFGS goes on beyond it as for :class:`PNormPush`.
    max_iter : int, default=1000
        The most iterations, or rounds.
    warm_start : bool, default=False
        Start from the last fit's coefficients; the features must be its own.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, classes_, threshold_, n_iter_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`. Where kinks are smoothed the path is that of the smoothed objectives.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Where there are more than two grades: the break-even thresholds between them.
    primal_objective_, dual_objective_ : float
        With the hinge or the maximum: the objective at the answer, and the bound below which no answer is
        (minus infinity where the loss or the price is not convex).
    dual_gap_ : float
        Their difference, relative to the first.

    Notes
    -----
    An iteration reads the data twice, O(nnz). No pairs are formed: the exponential loss adds nothing, the
    hinge, its square and other piecewise polynomials a sort of the scores, analytic losses a few passes over
    them. A loss or price of your own joins by subclassing :class:`pushrank.losses.Loss` or
    :class:`pushrank.prices.Price`. The sigmoid losses, and the price ``LogOnePlus`` with a loss other than
    the exponential, are not convex: the answer is then a local minimum.

    No sampling of pairs is needed for any of this. A sample of them, passed as ``pairs``, is of use for a
    loss whose sums have no fast way, or where the pairs themselves are the data.

    Arrays of other libraries are taken for two classes and at most 1,024 features, by the solvers
    ``"lbfgs"`` and ``"newton-cg"``, with losses and prices without kinks.

    References
    ----------
    Rudin, JMLR 10 (2009), equation (1) and section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pushrank.prices import Power
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushRanker(loss="logistic", price=Power(4)).fit(scale(X), y)
    >>> bool(y[ranker.rank(scale(X))[:300]].all())
    True
    """

    def __init__(
        self,
        loss: Loss | str = "exponential",
        price: Price | str = "identity",
        *,
        side: Side = "push",
        bottom_weight: float = 1.0,
        alpha: float = 1e-3,
        solver: Literal["lbfgs", "newton-cg", "coordinate"] = "lbfgs",
        accuracy: float = ACCURACY,
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.price = price
        self.side = side
        self.bottom_weight = bottom_weight
        self.alpha = alpha
        self.solver = solver
        self.accuracy = accuracy
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def _solve(self, objective: PushObjective, X: Any, target: Target) -> Self:
        _check_total_weight(objective, target.sample)
        self._forget(LEARNED_BY_KINKED)
        return super()._solve(objective, X, target)

    def _objective(self) -> PushObjective:
        loss, price = losses.resolve(self.loss), prices.resolve(self.price)
        return PushObjective(
            loss, price, self.side, scale_for(loss, price), self.bottom_weight, self.accuracy
        )

    def _check_solver_can(self, objective: PushObjective) -> None:
        super()._check_solver_can(objective)
        if objective.differentiable:
            return
        SmoothedObjective.check(objective)
        if self._solver != "lbfgs":
            raise ValueError(
                f"loss={objective.loss} with price={objective.price} has kinks, which "
                f"solver={self._solver!r} cannot take; use solver='lbfgs'."
            )
        if self.alpha == 0.0:
            raise ValueError(
                f"loss={objective.loss} with price={objective.price} needs alpha > 0, without which nothing "
                "bounds its optimum."
            )

    def _optimise(
        self,
        objective: PushObjective,
        model: AnyLinearModel,
        sample: Sample,
        alpha: float,
        callback: Callback | None,
    ) -> Result:
        if objective.differentiable or not isinstance(model, LinearModel):
            return super()._optimise(objective, model, sample, alpha, callback)
        tol, max_iter = float(self.tol), int(self.max_iter)
        if is_infinite_push(objective, sample):
            found = infinite_push(objective, model, sample, alpha, tol, max_iter, callback)
        else:
            start = self._start(model.n_features)
            found = smoothing(objective, model, sample, alpha, lbfgs, start, tol, max_iter, callback)
        certificate = found.certificate
        self.primal_objective_, self.dual_objective_ = certificate.primal, certificate.dual
        self.dual_gap_ = certificate.gap
        if found.collapsed:
            warn(
                f"{type(self).__name__} collapsed: zero coefficients are optimal (objective "
                f"{found.at_zero:g} there, at least {certificate.dual:g} anywhere). Push less: use "
                "Power(p), whose p can be chosen, in place of Maximum, or lower alpha.",
                ConvergenceWarning,
            )
        return found.result


def _check_total_weight(objective: PushObjective, sample: Sample) -> None:
    """Raise where a price that is no power, and takes sums of losses as they are, would overflow."""
    if prices.resolve(objective.price).homogeneous:
        return
    total = max(sample.class_weights)
    if total > HEAVIEST:
        raise ValueError(
            f"sample_weight adds up to {total:.1e} in a class, and price={objective.price} takes at most "
            f"{HEAVIEST:g}; divide the weights."
        )


def scale_for(loss: Loss, price: Price) -> Scale:
    """Return the scale that is finite, convex and, where there is one, independent of the number of rows."""
    if price.log_divisor is None or not price.smooth:
        return "mean"
    return "mean" if price.homogeneous and not loss.factorises else "log"
