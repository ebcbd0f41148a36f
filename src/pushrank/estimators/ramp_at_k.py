"""The ramp, the tightest surrogate of precision at k, by the concave-convex procedure from several starts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import product
from typing import Any, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats, in_dtype
from pushrank._base.parallel import one_blas_thread
from pushrank._base.user_types import Matrix, MatrixLike, PerRow, Seed
from pushrank._base.validation import check_choice, check_k, check_number, warn
from pushrank.estimators._base import (
    BaseEstimator,
    RankerMixin,
    finite_scores,
    progress_bar,
    set_classes,
    set_features,
)
from pushrank.estimators._certified import MAX_C
from pushrank.estimators._streaming import epoch_orders, training_rows
from pushrank.estimators._target import queries_of, validate_two_classes
from pushrank.metrics._ranking import summable_weights
from pushrank.models import LinearModel, in_row_space
from pushrank.objectives import PrecisionAtK, PushObjective
from pushrank.pairs import BipartiteSample, GradedSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers import Callback
from pushrank.solvers.problem import SumsProblem
from pushrank.solvers.ramp import Descent, QueryRamp, Ramp, Ray, concave_convex
from pushrank.solvers.streaming.learner import LabelledRows, StreamLearner
from pushrank.solvers.streaming.updates import PERCEPTRON_MAX, StreamState, UpdateRule
from pushrank.solvers.trimming import trimmed_path

STARTS = ("trimmed", "perceptron", "logistic")
# A start is a direction, for which a sample of the rows is enough.
MAX_START_ROWS, MAX_LOGISTIC_ROWS = 5_000, 20_000
# The perceptron runs for these multiples of k, since with more positives it leads to other minima.
MULTIPLES = (1.0, 2.0, 4.0)
PERCEPTRON_PASSES, PERCEPTRON_BATCH = 20, 500
# Larger powers of the trimmed push take longer and lead to the same minima.
TRIMMED_P = 4.0
TRIMMED_TOL, MAX_TRIMMED_TURNS = 1e-2, 4
# Two rough convex problems predict the end of a descent far better than its start does.
TRIAL_PROBLEMS, TRIAL_TOL = 2, 0.1


@shared_docs
@dataclass(eq=False, repr=False)
class RampAtK(RankerMixin, BaseEstimator):
    r"""Rank so that the first k are hits by the tightest surrogate, which is not convex.

    Descends, over linear scores :math:`s = X w`, on

    .. math:: \frac12 \|w\|^2 + \frac{C}{k} \, \mathrm{ramp}_k(s)

    with the surrogate ramp of :class:`pushrank.objectives.PrecisionAtK`. Only the k highest positives need to
    stand above the negatives: positives that no linear score separates do no harm.

    A fit solves a few convex problems, each by cutting planes that start from those of the one before, over
    the rows that have come near the first k. The end is a local minimum that depends on the start, and where
    rows tie on the rounding of sums, which is another of sparse rows. Starts see a sample of at most 5,000
    rows, logistic regression of at most 20,000. :doc:`/papers/kar_2015` has how far ends lie apart.

    Ties count against the learner. A row of weight w counts as w copies.

    With query groups the surrogate over k is the mean of the queries', each with its own k: in a query
    with fewer positives than an int it is their number. Starts then see one list, in which each query's rows
    are less their mean if they are dense.

    Kar, Narasimhan and Jain, ICML 2015, equation (4) for the ramp; Yuille and Rangarajan, *The concave-convex
    procedure*, Neural Computation 15 (2003).

    Parameters
    ----------
    k : int or float, default=0.25
        An int is a number of rows, at most that of the positives; a float in (0, 1] the fraction of the
        positives, rounded to a number between 1 and theirs, halves to even, which measures take as
        ``fraction_of_positives``.
    C : float, default=10.0
        The weight of the surrogate against the norm, positive and at most 1e30.
    init : {"best", "trimmed", "perceptron", "logistic", "random"}, default="best"
        Where to start: the trimmed push down to k, the lowest of the averaged Perceptron@k-max for k, 2k and
        4k, logistic regression, or the one of these three that is lowest after two convex problems, solved
        roughly; ``"random"`` starts in `n_random_starts` directions alone.
    n_random_starts : int, default=0
        The number of random directions to start from too. The lowest end of all is kept.
    tol : float, default=1e-2
        Stop when the objective falls by less than this fraction of itself; convex problems are solved to the
        same relative gap.
    max_iter : int, default=50
        The largest number of convex problems from a start, at least 1.
    random_state : int, RandomState or None, default=None
        The source of the rows for the starts, of the perceptron's orders and of random directions.
    verbose : bool

    Attributes
    ----------
    %(coef_)s
    init_ : str
        The start that led to the lowest end; ``"path"`` is a neighbour on a path.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The objective at the start, and after each convex problem; it never rises.
    n_iter_ : int
        The number of convex problems solved.
    converged_ : bool
        Whether ``tol`` was reached.
    %(classes_ threshold_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = RampAtK(k=0.5, random_state=0).fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.95
    (True, True)
    """

    _weights_are_copies = True
    k: float = 0.25
    _: KW_ONLY
    C: float = 10.0
    init: Literal["best", "trimmed", "perceptron", "logistic", "random"] = "best"
    n_random_starts: int = 0
    tol: float = 1e-2
    max_iter: int = 50
    random_state: Seed = None
    verbose: bool = False

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: PerRow = None, *, qid: PerRow = None) -> Self:
        """Learn a ranking from examples of two classes.

        %(two_class_rows fitted_or_raises)s

        Warns
        -----
        UserWarning
            When the mean weight is below a tenth.
        ConvergenceWarning
            When ``max_iter`` was reached first, or a convex problem needs too many cutting planes because C
            or the features are very large; or when no coefficients better than zero were found.
        """
        fit_ramps([self], X, y, sample_weight, qid)
        return self

    def path(
        self,
        X: MatrixLike,
        y: ArrayLike,
        ks: Iterable[float],
        Cs: Iterable[float],
        sample_weight: PerRow = None,
        *,
        qid: PerRow = None,
    ) -> list[Self]:
        """Fit one ranker for each k and C, each also from the ends of its neighbours.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        ks : iterable of int or float
            The values of k, in any order.
        Cs : iterable of float
            The values of C, in any order; for each k the list has a ranker for each C.
        %(weights_and_queries fitted_path)s
        """
        rankers = [clone(self).set_params(k=k, C=C) for k, C in product(ks, Cs)]
        if not rankers:
            raise ValueError("ks and Cs must hold at least one number each, got none.")
        fit_ramps(rankers, X, y, sample_weight, qid)
        return rankers


def fit_ramps(rankers: list[RampAtK], X: Matrix, y: ArrayLike, sample_weight: PerRow, qid: PerRow) -> None:
    """Validate, descend from the largest k to the smallest, set the fitted attributes, warn."""
    first = rankers[0]
    check_parameters(rankers)
    X, target = validate_two_classes(first, X, y, sample_weight)
    for ranker in rankers[1:]:
        set_features(ranker, first)
    positive = np.asarray(target.codes, dtype=bool)
    weights = np.ones(len(positive)) if target.weights is None else target.weights
    summable_weights(weights, len(positive))
    n_positive = float(weights[positive].sum())
    surrogates = [PrecisionAtK(ranker.k) for ranker in rankers]
    queries = None if qid is None else queries_of(target, qid)
    # The k of each query tells one ranker of several from another.
    totals: list[Any] = (
        [surrogate.count(n_positive) for surrogate in surrogates]
        if queries is None
        else [tuple(k.count(weight, capped=True) for weight in queries.upper_weights) for k in surrogates]
    )
    with one_blas_thread(), progress_bar(first, int(first.max_iter)) as callback:
        model = in_row_space(LinearModel(X))
        model.check_range()
        rows, Cs = training_rows(model.data, target), [float(ranker.C) for ranker in rankers]
        solved = ramp_path(first, rows, model, totals, Cs, callback, queries)
    for ranker, total in zip(rankers, totals, strict=True):
        init, (coef, path, converged, _) = solved[total, float(ranker.C)]
        coef = in_dtype(model.lift(coef), X.dtype)
        set_classes(ranker, target, finite_scores(X, coef))
        ranker.coef_, ranker.converged_, ranker.init_ = coef, converged, init
        ranker.objective_path_, ranker.n_iter_ = np.array(path), len(path) - 1
        if not ranker.coef_.any():
            warn(
                f"RampAtK found nothing better than zero coefficients (objective {path[0]:g}), which rank "
                "all rows equally: raise C, take another k, or add features.",
                ConvergenceWarning,
            )
        elif not ranker.converged_:
            warn(
                f"RampAtK did not converge in {ranker.n_iter_} convex problems; raise max_iter or tol, "
                "lower C, or scale the features.",
                ConvergenceWarning,
            )


def check_parameters(rankers: list[RampAtK]) -> None:
    """Raise unless all parameters are in their ranges."""
    first = rankers[0]
    for ranker in rankers:
        check_k(ranker.k)
        check_number("C", ranker.C, above=0.0, most=MAX_C)
    check_number("tol", first.tol, above=0.0)
    check_number("max_iter", first.max_iter, 1, integer=True)
    check_number("n_random_starts", first.n_random_starts, 0, integer=True)
    check_choice("init", first.init, ("best", *STARTS, "random"))
    if first.init == "random" and first.n_random_starts == 0:
        raise ValueError("init='random' needs starts: set n_random_starts to at least 1.")


def ramp_path(
    ranker: RampAtK,
    rows: LabelledRows,
    model: LinearModel,
    totals: Iterable[Any],
    Cs: Iterable[float],
    callback: Callback | None = None,
    queries: GradedSample | None = None,
) -> dict[tuple[Any, float], tuple[str, Descent]]:
    """Return the lowest end and the name of its start, for falling ks and, for each, rising Cs."""
    # The first C of the first k starts from the lowest of a trial of each of the ranker's starts; the others
    # from the lowest of all starts and of the neighbours' ends. In `queries` a k is a tuple of their own.
    tol, max_iter = float(ranker.tol), int(ranker.max_iter)
    random_state = check_random_state(ranker.random_state)
    names = STARTS if ranker.init == "best" else tuple(name for name in STARTS if name == ranker.init)
    Cs = sorted(set(Cs))
    solved: dict[tuple[Any, float], tuple[str, Descent]] = {}
    above: Any = None
    in_one_list = rows if queries is None else levelled(rows, queries)
    for total in sorted(set(totals), reverse=True):
        ramp: Ramp | QueryRamp = Ramp(rows.positive, rows.sample_weight, total)
        if queries is not None:
            ramp = QueryRamp(queries, np.array(total))
        descend = partial(concave_convex, ramp, model)

        def ray(name: str, coef: Floats, ramp: Ramp | QueryRamp = ramp) -> tuple[str, Ray]:
            return name, Ray.along(ramp, model, coef.astype(np.float64))

        directions = random_state.standard_normal((int(ranker.n_random_starts), model.n_features))
        random_starts = [ray("random", direction) for direction in directions]
        fixed_starts = [
            ray(*start) for start in start_coefs(names, in_one_list, float(np.sum(total)), Cs, random_state)
        ]
        last: Descent | None = None
        for C in Cs:
            ends = [(name, descend(C, tol, max_iter, start, callback)) for name, start in random_starts]
            neighbours = [] if last is None else [ray("path", last.coef)]
            neighbours += [] if above is None else [ray("path", solved[above, C][1].coef)]
            ordered = sorted(fixed_starts + neighbours, key=lambda start: start[1].best(C)[0])
            if neighbours and ordered:
                name, start = ordered[0]
                ends.append((name, descend(C, tol, max_iter, start, callback, last and last.state)))
            elif ordered:
                # Later entries replace earlier ones, so that the lowest start of each name remains.
                lowest = dict(reversed(ordered))
                rough = max(tol, TRIAL_TOL), min(TRIAL_PROBLEMS, max_iter)
                # Every end holds a number a row: a better one takes the place of the last.
                trials = ((name, descend(C, *rough, start)) for name, start in lowest.items())
                name, trial = min(trials, key=lambda end: end[1].path[-1])
                ends.append((name, descend(C, tol, max_iter, trial, callback)))
                del trial
            solved[total, C] = min(ends, key=lambda end: end[1].path[-1])
            last = solved[total, C][1]
        above = total
    return solved


def start_coefs(
    names: Sequence[str], rows: LabelledRows, total: float, Cs: Sequence[float], random_state: RandomState
) -> list[tuple[str, Floats]]:
    """Return the coefficients that descents start from, with their names."""
    fraction = total / rows.sample_weight[rows.positive].sum()
    part, starts = draw(rows, MAX_START_ROWS, random_state), []
    if "trimmed" in names:
        # Both objectives, over C, are of the order of 1 + norm^2 / 2 C.
        alpha = 1.0 / np.sqrt(Cs[0] * Cs[-1])
        starts.append(("trimmed", trimmed_coef(part, fraction, alpha)))
    if "perceptron" in names:
        seed = int(random_state.randint(np.iinfo(np.int32).max))
        fractions = sorted({min(1.0, multiple * fraction) for multiple in MULTIPLES})
        starts += [("perceptron", perceptron_coef(part, k, seed)) for k in fractions]
    if "logistic" in names:
        ranker = LogisticRegression(max_iter=100, tol=1e-2)
        del part
        part = draw(rows, MAX_LOGISTIC_ROWS, random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            ranker.fit(part.X, part.positive, sample_weight=part.sample_weight)
        starts.append(("logistic", np.ravel(ranker.coef_)))
    return starts


def levelled(rows: LabelledRows, queries: GradedSample) -> LabelledRows:
    """Return the rows of queries as one list, less each query's mean where they are dense."""
    lists = queries.lists()
    rows = rows.take(np.concatenate(lists))
    if not isinstance(rows.X, np.ndarray):
        return rows
    sizes = np.array([len(members) for members in lists])
    means = np.add.reduceat(rows.X, np.cumsum(sizes) - sizes) / sizes[:, None]
    return rows._replace(X=rows.X - np.repeat(means, sizes, axis=0))


def draw(rows: LabelledRows, max_rows: int, random_state: RandomState) -> LabelledRows:
    """Return a sample of at most ``max_rows`` rows that have a weight, the classes in proportion."""
    counted = rows.sample_weight > 0.0
    fraction = min(1.0, max_rows / counted.sum())
    parts = []
    for is_positive in (False, True):
        members = np.flatnonzero((rows.positive == is_positive) & counted)
        size = max(1, round(fraction * len(members)))
        parts.append(members if fraction == 1.0 else random_state.permutation(members)[:size].copy())
    return rows.take(np.sort(np.concatenate(parts)))


def trimmed_coef(rows: LabelledRows, fraction: float, alpha: float) -> Floats:
    """Return the coefficients of a trimmed push that keeps a fraction of the positives."""
    kept = fraction * float(rows.sample_weight[rows.positive].sum())
    sample = BipartiteSample.from_mask(rows.positive, rows.sample_weight)
    source = MemoryRows(in_row_space(LinearModel(rows.X)), sample)
    objective = PushObjective(price=Power(TRIMMED_P), scale="log")
    problem = SumsProblem(objective, source, float(alpha))
    (solution,) = trimmed_path(problem, [kept], TRIMMED_TOL, MAX_TRIMMED_TURNS, exact=False)
    coef: Floats = source.lift(solution.coef)
    return coef


def perceptron_coef(rows: LabelledRows, k: float, seed: int) -> Floats:
    """Return the coefficients of the averaged Perceptron@k-max, for k as a fraction of the positives."""
    rule = UpdateRule(PERCEPTRON_MAX, k, False, PERCEPTRON_BATCH)
    learner = StreamLearner(rule, StreamState.zero(rows.X.shape[1]), sampling=False)
    for order in epoch_orders(rows.n_rows, seed, True, PERCEPTRON_PASSES):
        before = learner.n_mistakes
        learner.epoch(rows, order)
        if learner.n_mistakes == before:
            return learner.finalized.iterate
    return learner.finalized.mean
