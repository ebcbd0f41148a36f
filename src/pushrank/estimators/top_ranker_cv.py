"""A linear ranker for the rows that can be acted on, whose objective is chosen by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats, in_dtype
from pushrank._base.parallel import one_blas_thread
from pushrank._base.user_types import CrossValidation, Matrix, MatrixLike, PerRow, Seed
from pushrank.budgets import Budget
from pushrank.estimators import _search
from pushrank.estimators._base import BaseEstimator, linear_scores, set_classes, warn
from pushrank.estimators._search import Selection
from pushrank.estimators._streaming import batch_rows, epoch_orders, run_epochs
from pushrank.estimators._target import sample_threshold, validate_two_classes
from pushrank.estimators.precision_at_k import PerceptronAtK
from pushrank.estimators.ramp_at_k import RampAtK, ramp_path
from pushrank.models import LinearModel, in_row_space
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import LogOnePlus, Power
from pushrank.solvers.path import RegularisationPath
from pushrank.solvers.problem import SumsProblem
from pushrank.solvers.streaming.learner import StreamLearner
from pushrank.solvers.streaming.updates import PERCEPTRON_MAX, StreamState, UpdateRule
from pushrank.solvers.tolerances import MAX_SOLVER_ITERATIONS
from pushrank.solvers.trimming import trimmed_path

# Objectives that give up on more than 95 % of the positives learn from too few of them.
MIN_KEPT = 0.05
# In the folds only the order of the rows is used, which settles long before the coefficients do.
SEARCH_TOL, PATH_TOL, FINAL_TOL = 1e-3, 3e-2, 1e-4
SEARCH_TRIMMING, MAX_TRIMMING = 2, 100
# Perceptrons see about this number of rows in all: few rows take more passes to give as many updates.
PERCEPTRON_ROWS = 400_000
MIN_PASSES, MAX_PASSES = 5, 20
RAMP_TOL, MAX_RAMP_PROBLEMS = 1e-2, 20


@dataclass
class FoldRows:
    """The rows of positive weight among the rows of X, which are not copied."""

    # The model is that of X, in the row space of wide data. `seed` is for rankers that draw orders of the
    # rows, and `is_final` says that the coefficients are those of all rows, not of a fold.

    X: Matrix
    model: LinearModel
    is_positive: NDArray[np.bool_]
    weights: Floats
    seed: int
    is_final: bool = False

    @cached_property
    def path(self) -> RegularisationPath:
        """The solver of penalised objectives on these rows."""
        sample = BipartiteSample.from_mask(self.is_positive, self.weights)
        tol, rough = FINAL_TOL if self.is_final else PATH_TOL, not self.is_final
        return RegularisationPath(self.model, sample, tol, MAX_SOLVER_ITERATIONS, rough=rough)

    @property
    def tol(self) -> float:
        """The tolerance of solvers."""
        return FINAL_TOL if self.is_final else SEARCH_TOL


Grid = Mapping[str, Sequence[Any]]


class Solution(NamedTuple):
    """Coefficients, their parameters, and whether the solver converged."""

    params: dict[str, object]
    coef: NDArray[np.floating]
    converged: bool


def logistic_regressions(rows: FoldRows, grid: Grid) -> list[Solution]:
    """Return logistic regressions from the largest penalty to the smallest, each from the one before."""
    model = LogisticRegression(warm_start=True, max_iter=MAX_SOLVER_ITERATIONS, tol=rows.tol)
    solutions = []
    for alpha in sorted(grid["alpha"], reverse=True):
        model.set_params(C=1.0 / (alpha * rows.weights.sum()))
        # The rows were checked once for all.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            model.fit(rows.X, rows.is_positive, sample_weight=rows.weights)
        converged = bool(model.n_iter_[0] < MAX_SOLVER_ITERATIONS)
        solutions.append(Solution({"alpha": alpha}, model.coef_[0].copy(), converged))
    return solutions


def p_norm_pushes(rows: FoldRows, grid: Grid) -> list[Solution]:
    """Return P-Norm Pushes along paths of p and of the penalty."""
    objectives = [PushObjective(price=Power(float(p)), scale="log") for p in grid["p"]]
    return push_path(rows, [{"p": p} for p in grid["p"]], objectives, grid["alpha"])


def ir_pushes(rows: FoldRows, grid: Grid) -> list[Solution]:
    """Return IR Pushes along a path of the penalty."""
    objective = PushObjective(price=LogOnePlus(), side="pull", scale="mean")
    return push_path(rows, [{}], [objective], grid["alpha"])


def push_path(
    rows: FoldRows, params: list[dict[str, Any]], objectives: list[PushObjective], alphas: Sequence[float]
) -> list[Solution]:
    """Return the solutions for every objective, labelled by its parameters, and every penalty."""
    solved = rows.path.solve_grid(objectives, alphas)
    return [
        Solution(label | {"alpha": alpha}, result.coef, result.converged)
        for label, results in zip(params, solved, strict=True)
        for alpha, result in zip(alphas, results, strict=True)
    ]


def trimmed_pushes(rows: FoldRows, grid: Grid) -> list[Solution]:
    """Return trimmed pushes along paths of the number of positives that count."""
    n_positive = float(rows.weights[rows.is_positive].sum())
    ks = sorted(grid["k"], reverse=True)
    totals = [max(1.0, k * n_positive) for k in ks]
    max_trimming = MAX_TRIMMING if rows.is_final else SEARCH_TRIMMING
    solutions = []
    for p, alpha in product(grid["p"], grid["alpha"]):
        objective = PushObjective(price=Power(float(p)), scale="log")
        problem = SumsProblem(objective, rows.path.rows, alpha)
        # All positives count in a P-Norm Push of the same p, which may have been solved.
        start = None if rows.is_final else rows.path.solve_grid([objective], [alpha])[0][0].coef
        path = trimmed_path(problem, totals, rows.tol, max_trimming, exact=rows.is_final, start=start)
        solutions += [
            Solution({"k": k, "p": p, "alpha": alpha}, rows.path.rows.lift(trimmed.coef), trimmed.converged)
            for k, trimmed in zip(ks, path, strict=True)
        ]
    return solutions


def perceptrons(rows: FoldRows, grid: Grid) -> list[Solution]:
    """Return averaged Perceptron@k-max rankers."""
    data, counted = batch_rows(rows.X, rows.is_positive, rows.weights), np.flatnonzero(rows.weights)
    n_epochs = min(MAX_PASSES, max(MIN_PASSES, PERCEPTRON_ROWS // len(counted)))
    orders = [counted[order] for order in epoch_orders(len(counted), rows.seed, True, n_epochs)]
    solutions = []
    for k in grid["k"]:
        ranker = PerceptronAtK(k)
        rule = UpdateRule(PERCEPTRON_MAX, k, False, ranker.batch_size)
        # Unlike PerceptronAtK's fit this needs no sample of rows for a threshold, and no margins.
        learner = StreamLearner(rule, StreamState.zero(data.X.shape[1]), sampling=False)
        coef = run_epochs(ranker, learner, data, None, orders, None).coef
        solutions.append(Solution({"k": k}, coef, True))
    return solutions


def ramps(rows: FoldRows, grid: Grid) -> list[Solution]:
    """Return ramps along paths of the number of positives that count and of C."""
    model, n_positive = rows.model, float(rows.weights[rows.is_positive].sum())
    totals = {k: max(1.0, k * n_positive) for k in grid["k"]}
    ranker = RampAtK(tol=RAMP_TOL, max_iter=MAX_RAMP_PROBLEMS, random_state=rows.seed)
    labelled = batch_rows(model.data, rows.is_positive, rows.weights)
    ends = ramp_path(ranker, labelled, model, totals.values(), grid["C"])
    solutions = []
    for k, C in product(grid["k"], grid["C"]):
        _, end = ends[totals[k], C]
        solutions.append(Solution({"k": k, "C": C}, model.lift(end.coef), end.converged))
    return solutions


class Family(NamedTuple):
    """Rankers with one objective: how complex the family is, how it is solved, and its grid for a budget."""

    complexity: float
    solve: Callable[[FoldRows, Grid], list[Solution]]
    grid: Callable[[float], Grid]


def falling_ks(k: float) -> list[float]:
    """Return shares of the positives to keep, down to the share that the budget has room for."""
    lowest = min(_search.DEFAULT_FRACTION, max(MIN_KEPT, k))
    return [float(round(lowest ** (step / 5), 4)) for step in range(1, 6)]


# In trials on eight sets other values were never better by more than their standard error.
ALPHAS = (1e-3, 1e-2, 1e-1)
FAMILIES = {
    "logistic-regression": Family(0, logistic_regressions, lambda _: {"alpha": (1e-6, 1e-5, 1e-4, *ALPHAS)}),
    "p-norm-push": Family(1, p_norm_pushes, lambda _: {"p": (4.0, 16.0, 64.0), "alpha": ALPHAS}),
    "ir-push": Family(1, ir_pushes, lambda _: {"alpha": ALPHAS}),
    "trimmed-push": Family(
        2, trimmed_pushes, lambda k: {"k": falling_ks(k), "p": (4.0, 64.0), "alpha": (1e-3,)}
    ),
    "perceptron-at-k": Family(2, perceptrons, lambda k: {"k": falling_ks(k)[::2]}),
    "ramp-at-k": Family(2, ramps, lambda k: {"k": falling_ks(k)[::2], "C": (1.0, 10.0, 100.0)}),
}
# The ramp takes longer than the trimmed push, and hardly changed a choice on five sets.
DEFAULT_CANDIDATES = tuple(name for name in FAMILIES if name != "ramp-at-k")


def reduce_grids(grids: dict[str, Grid], left: list[dict[str, Any]]) -> None:
    """Leave the families and values of the members that are left."""
    for name, grid in list(grids.items()):
        of_family = [params for params in left if params["candidate"] == name]
        # The grid stays one: a value goes when all members with it do.
        found = {key: {params[key] for params in of_family} for key in grid}
        grids[name] = {key: [v for v in values if v in found[key]] for key, values in grid.items()}
        if not of_family:
            del grids[name]


@shared_docs
@dataclass(eq=False, repr=False)
class TopRankerCV(_search.SearchMixin, BaseEstimator):
    r"""The linear ranker for the first rows that you can act on, chosen by cross-validation.

    Of several families of objectives, each over its own parameters, it takes the one with the best precision
    at your budget,

    %(precision_at_budget)s

    The families are:

    ``"logistic-regression"``
        that of scikit-learn, over the penalty.
    ``"p-norm-push"``, ``"ir-push"``
        :class:`PNormPush` over p and the penalty, :class:`IRPush` over the penalty: convex objectives.
    ``"trimmed-push"``, ``"perceptron-at-k"``
        :class:`TrimmedPush` and :class:`PerceptronAtK`, which give up on positives that no linear score can
        bring to the top, over how many they keep.
    ``"ramp-at-k"``
        :class:`RampAtK`, over k and C, which is tried only where `candidates` has it.

    %(equals_of_a_candidate)s

    Columns should have similar scales. Solutions start from their neighbours' along paths of the parameters,
    so that the 155 of them cost three to six runs of ``LogisticRegressionCV``. Those of folds are rough,
    and of more than 100 rows a column and class some stand for the curvature of all; the last is exact. The
    rows to learn from are not copied, except for perceptrons from CSC or Fortran order.

    Where `cv` is a number and rows have no time, members that cannot win are dropped after two folds
    (:doc:`/which_ranker`). In ``cv_results_`` they are NaN on the other folds, and in ``candidates_`` a
    family that was dropped has the precision of two.

    A gain at the budget often costs something further down the list: ``candidates_`` shows the average
    precision with the precision.

    Parameters
    ----------
    %(budget_search_parameters scoring_of_a_search)s
    candidates : sequence of str, default=None
        The families to choose from; None takes all but the ramp, which hardly changed a choice on five sets
        (``benchmarks/at_k_families.txt``) and takes longer than the trimmed push, and
        Pat&Mat, which was chosen in 4 of 138 searches (``experiments/heirs``).
    selection : {"one_standard_error", "best"}
        Take the simplest family whose best member is within one standard error of the best of all, logistic
        regression being simpler than the convex pushes, and these simpler than those that give up on
        positives; or the best. The standard error is that of the difference, fold by fold.
    random_state : int, RandomState or None

    Attributes
    ----------
    candidate_ : str
        The family that was chosen.
    %(best_params_candidate budget_search_ coef_ classes_ threshold_ features_)s

    Examples
    --------
    >>> from pushrank.datasets import make_hidden_positives
    >>> X, y = make_hidden_positives(600, random_state=0, return_X_y=True)
    >>> ranker = TopRankerCV(budget=30, candidates=["logistic-regression", "trimmed-push"]).fit(X, y)
    >>> ranker.candidate_, int(y[ranker.rank(X)[:30]].sum())
    ('trimmed-push', 30)
    """

    budget: int | Budget | None = None
    _: KW_ONLY
    fraction: float | None = None
    fraction_of_positives: float | None = None
    cv: CrossValidation = 5
    n_jobs: int | None = None
    verbose: bool = False
    scoring: str | Callable[..., float] | None = None
    candidates: Sequence[str] | None = None
    selection: Selection = "one_standard_error"
    random_state: Seed = None

    def _choose(
        self, X: MatrixLike, y: ArrayLike, sample_weight: PerRow, groups: PerRow, time: PerRow
    ) -> None:
        names = list(dict.fromkeys(DEFAULT_CANDIDATES if self.candidates is None else self.candidates))
        if not names or not set(names) <= set(FAMILIES):
            raise ValueError(f"candidates must be some of {list(FAMILIES)}, got {self.candidates!r}.")
        frame, (X, target) = X, validate_two_classes(self, X, y, sample_weight)
        search = _search.Search.of_rows(self, frame, target, groups, time)
        at_budget = _search.PrecisionAtBudget(self, target, search.times)
        measure, one_hit = _search.measure_of(search, X, at_budget)
        # Folds by time and those of a caller may differ by more than chance, which only hits are known by.
        is_screened = isinstance(self.cv, int | None) and time is None and self.scoring is None
        seed = _search.draw_seed(self.random_state)
        grids = {name: FAMILIES[name].grid(at_budget.kept) for name in names}

        def path(fold: _search.Fold) -> Iterator[_search.Member]:
            # A row may be in a training part more than once.
            counts = np.bincount(fold.train, minlength=len(at_budget.weights))
            rows = FoldRows(X, model, at_budget.is_positive, counts * at_budget.weights, seed)
            test = X[fold.test]
            for name, grid in grids.items():
                for solution in FAMILIES[name].solve(rows, grid):
                    coef, threshold = in_dtype(solution.coef, X.dtype), 0.0
                    if self.scoring is not None:
                        sample = BipartiteSample.from_mask(rows.is_positive, rows.weights)
                        threshold = sample_threshold(linear_scores(X, coef), sample)
                    member = {"candidate": name, **solution.params}
                    yield _search.Member(member, linear_scores(test, coef), threshold)

        def screen(params: list[dict[str, Any]], values: Floats) -> None:
            is_lost = at_budget.hopeless(values, search.folds[: values.shape[1]])
            reduce_grids(grids, [of for of, lost in zip(params, is_lost, strict=True) if not lost])

        with one_blas_thread(), warnings.catch_warnings():
            # Single candidates may warn as they like; the last solution is warned of below.
            warnings.simplefilter("ignore", UserWarning)
            model = in_row_space(LinearModel(X))
            n_members = sum(prod(map(len, grid.values())) for grid in grids.values())
            results = search.run(path, measure, n_members, screen=screen if is_screened else None)
            families = [params["candidate"] for params in results.params]
            complexity = {name: FAMILIES[name].complexity for name in names}
            _search.choose_for_budget(self, results, families, complexity, one_hit)
            self.candidate_ = self.best_params_["candidate"]
            grid: Grid = {name: [value] for name, value in self.best_params_.items() if name != "candidate"}
            rows = FoldRows(X, model, at_budget.is_positive, at_budget.weights, seed, is_final=True)
            (final,) = FAMILIES[self.candidate_].solve(rows, grid)
        self.coef_ = in_dtype(final.coef, X.dtype)
        set_classes(self, target, linear_scores(X, self.coef_))
        if not final.converged:
            warn(
                f"TopRankerCV: the solution with {self.best_params_} did not converge; scale the features.",
                ConvergenceWarning,
            )
