"""Rankers fitted by boosting: what RankBoost and all its relatives share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from pushrank import weak_rankers
from pushrank._checks import check_number
from pushrank._log_space import Floats
from pushrank._threads import one_blas_thread
from pushrank.estimators import _checkpoint
from pushrank.estimators._additive import LEARNED, AdditiveRanker
from pushrank.estimators._base import linear_scores
from pushrank.estimators._comparing import ComparingRanker
from pushrank.estimators._early_stopping import parts, validator
from pushrank.estimators._frames import categorical_numbers, encoded, fitted_encoder, in_pandas
from pushrank.estimators._progress import watching
from pushrank.estimators._row_draws import row_drawer
from pushrank.estimators._target import Target
from pushrank.estimators._validation import ranking_data
from pushrank.estimators._warnings import warn
from pushrank.estimators._weight_bounds import weight_bounds
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers.boosting import Draw, History, Plan, Run
from pushrank.solvers.coordinate_descent import Choice, CoordinateDescent
from pushrank.solvers.score_problem import ScoreProblem, score_problem
from pushrank.solvers.step_rules import ExactStep, StepRule
from pushrank.weak_rankers import Columns, Stumps
from pushrank.weak_rankers.base import Pool, WeakRankers


class BoostedRanker(AdditiveRanker, ComparingRanker):
    """A ranker made of weak rankers, one more (or one weighted anew) in each round.

    A subclass has the constructor parameters ``weak_rankers``, ``max_rounds``, ``learning_rate``, ``signed``,
    ``monotonic_cst``, ``subsample``, ``max_features``, ``early_stopping``, ``scoring``,
    ``validation_fraction``, ``n_iter_no_change``, ``tol``, ``warm_start``, ``checkpoint``,
    ``checkpoint_every``, ``n_jobs``, ``random_state`` and ``verbose``, and names its objective.
    """

    def _learn(self, X: Any, y: ArrayLike | None, *of_rows: Any) -> Self:
        self._check_parameters()
        objective = self._objective()
        family = clone(weak_rankers.resolve(self.weak_rankers))
        X, encoder = self._encoded(family, X)
        X, target = ranking_data(self, X, y, *of_rows, allow_missing=family.takes_missing)
        self._check_target(target)
        if self._adds_rounds:
            self._check_last_rounds(family, X)
        with one_blas_thread():
            self._boost(objective, family, X, target, y)
        if encoder is not None:
            self._encoder = encoder
        return self

    def _check_parameters(self) -> None:
        self._check_rounds()
        for name in ("learning_rate", "subsample", "max_features"):
            check_number(name, getattr(self, name), above=0.0, most=1.0)
        check_number("tol", self.tol, 0.0)
        if self.early_stopping:
            check_number("validation_fraction", self.validation_fraction, above=0.0, below=1.0)
            check_number("n_iter_no_change", self.n_iter_no_change, 1, integer=True)
        check_number("checkpoint_every", self.checkpoint_every, 1, integer=True)
        if self.n_jobs is not None and (isinstance(self.n_jobs, bool) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None, -1 or a number of threads, got {self.n_jobs!r}.")

    def _check_rounds(self) -> None:
        """Raise where the ranker is not told how many rounds to run."""
        check_number("max_rounds", self.max_rounds, 1, integer=True)

    def _check_target(self, target: Target) -> None:
        """Raise where this ranker cannot learn from such a target."""

    def _check_run(self, run: Run) -> None:
        """Raise or warn where a finished run did not bring what was asked for."""

    @property
    def _choice(self) -> Choice:
        """How a round chooses its weak ranker."""
        return "steepest"

    def _rule(self, sample: Sample) -> StepRule:  # noqa: ARG002
        """Return how far a round steps."""
        return ExactStep()

    def _score_problem(self, objective: PushObjective, sample: Sample) -> ScoreProblem:
        """Return the objective on the training rows."""
        return score_problem(objective, sample, self._n_threads)

    def _training_pool(self, pool: Pool) -> Pool:
        """Return the weak rankers as this algorithm sees them."""
        return pool

    def _weights_in_family(self, run: Run) -> tuple[NDArray[np.intp], Floats]:
        """Return the rounds' rankers and steps in terms of values in [0, 1].

        A round that moved no ranker of the family, but the constant, has the number -1.
        """
        return np.array(run.history.rankers, dtype=np.intp), np.array(run.history.steps)

    @property
    def _n_threads(self) -> int | None:
        return None if self.n_jobs is None or self.n_jobs < 0 else int(self.n_jobs)

    @property
    def _max_rounds(self) -> int:
        return int(self.max_rounds)

    @property
    def _penalty(self) -> float:
        return 0.0

    def _encoded(self, family: WeakRankers, X: Any) -> tuple[Any, Any]:
        if not isinstance(family, Stumps):
            return X, None
        X = in_pandas(X)
        numbers = categorical_numbers(family, X)
        encoder = getattr(self, "_encoder", None) if self._adds_rounds else fitted_encoder(X, numbers)
        family.set_params(categorical_features=numbers or "from_dtype")
        return encoded(X, encoder), encoder

    def _boost(
        self, objective: PushObjective, family: WeakRankers, X: Any, target: Target, y: ArrayLike | None
    ) -> None:
        random_state = check_random_state(self.random_state)
        first_state = _checkpoint.random_state_arrays(random_state)
        keeper, state = _checkpoint.keeper_of(self, family, X, target, self._max_rounds)
        if state is not None:
            first_state = state["first_state"]
            random_state = _checkpoint.random_state_from(first_state)
        going_on = self._adds_rounds
        train, valid = target.sample, None
        if self.early_stopping:
            train, valid = parts(target, float(self.validation_fraction), random_state)
        takes_part = np.zeros(X.shape[0])
        takes_part[train.positives] = takes_part[train.negatives] = 1.0
        row_weights = takes_part if target.weights is None else takes_part * target.weights
        family = self.weak_rankers_ if going_on else family
        if not going_on:
            family.fit(X, None if row_weights.all() and target.weights is None else row_weights, random_state)
        run = self._run(objective, family, X, train, random_state)
        if going_on:
            self._go_on(run)
        if state is not None:
            self._restore(run, family, state)
        plan = Plan(
            self._max_rounds,
            float(self.tol),
            self._row_drawer(target, train),
            self._feature_drawer(X.shape[1]),
            None
            if valid is None
            else validator(self._score_problem(objective, valid), valid, self.scoring, X, y, target),
            int(self.n_iter_no_change) if self.early_stopping else 0,
        )

        def after_round(run: Run) -> None:
            if keeper is not None and run.history.n_rounds % keeper.every == 0:
                keeper.write(run, family, first_state)

        with watching(type(self).__name__, plan.max_rounds, verbose=bool(self.verbose)) as watcher:
            run.go(plan, watcher, after_round)
        if keeper is not None:
            keeper.write(run, family, first_state)
        self._check_run(run)
        self._keep_rounds(family, X, target, train, run)

    def _run(
        self,
        objective: PushObjective,
        family: WeakRankers,
        X: Any,
        train: Sample,
        random_state: np.random.RandomState,
    ) -> Run:
        """Return a run at its beginning."""
        pool = self._training_pool(family.pool(X, self._n_threads))
        lower, upper = self._bounds(family, X.shape[1], pool.n_rankers)
        ridge: Floats | float = self._penalty
        scales: Floats | float = 1.0
        scores, weights = np.zeros(X.shape[0]), np.zeros(pool.n_rankers)
        if isinstance(family, Columns):
            ridge = self._penalty * family.units_**2 if self._penalty > 0.0 else 0.0
            scales = self._column_scales(objective, X, train, family.units_)
            start = self._initial_coef(X.shape[1])
            if start is not None:
                scores, weights = LinearModel(X).scores(start), start * family.ranges_
        descent = CoordinateDescent(
            self._score_problem(objective, train),
            pool,
            self._rule(train),
            scores,
            weights,
            choice=self._choice,
            ridge=ridge,
            scales=scales,
            lower=lower,
            upper=upper,
            learning_rate=float(self.learning_rate),
        )
        return Run(descent, History(), random_state)

    def _column_scales(self, *_: Any) -> Floats | float:
        """Return the units in which slopes of columns are compared with the tolerance."""
        return 1.0

    def _initial_coef(self, n_features: int) -> Floats | None:  # noqa: ARG002
        """Return the coefficients to start from, or None for zeros."""
        return None

    @property
    def _adds_rounds(self) -> bool:
        """Whether this fit adds rounds to those of the last."""
        return bool(self.warm_start) and self.max_rounds is not None and hasattr(self, "steps_")

    def _check_last_rounds(self, family: WeakRankers, X: Any) -> None:
        """Raise where rounds cannot be added to those of the last fit."""
        if not _checkpoint.alike(family, self.weak_rankers_, X):
            raise ValueError(
                f"warm_start=True adds rounds to the last fit, whose weak rankers were {self.weak_rankers_}, "
                f"and weak_rankers={self.weak_rankers!r} are others: set them back, or warm_start=False to "
                "start anew."
            )
        if len(self.steps_) > self._max_rounds:
            raise ValueError(
                f"max_rounds={self._max_rounds} must be at least the {len(self.steps_)} rounds already run, "
                "when warm_start=True."
            )

    def _go_on(self, run: Run) -> None:
        """Put a run where the last fit ended."""
        history = History.from_arrays(self._history)
        pool, scores, weights = run.descent.pool, run.descent.scores, run.descent.weights
        np.add.at(weights, np.array(history.rankers, dtype=np.intp), history.steps)
        # a value at a time, as the rounds did it
        for ranker, step in zip(history.rankers, history.steps, strict=True):
            values = pool.values(ranker)
            scores += step * (np.where(values, 1.0, pool.low) if values.dtype == bool else values)
        run.history = history
        run.descent.start(scores, weights)

    def _restore(self, run: Run, family: WeakRankers, state: dict[str, Any]) -> None:
        for name, value in state["rankers"].items():
            setattr(family, name, value)
        run.history, scores, weights, run.best_scores = _checkpoint.restored(state)
        run.descent.start(scores, weights)
        run.random_state = _checkpoint.random_state_from(state["random_state"])

    def _row_drawer(self, target: Target, train: Sample) -> Draw | None:
        if self.subsample == 1.0:
            return None
        part = Target(train, target.weights, target.classes, target.codes, target.groups)
        return row_drawer(part, float(self.subsample))

    def _feature_drawer(self, n_features: int) -> Any:
        if self.max_features == 1.0:
            return None
        count = max(1, round(float(self.max_features) * n_features))
        return lambda random_state: np.sort(random_state.permutation(n_features)[:count])

    def _bounds(
        self,
        family: WeakRankers,
        n_features: int,
        n_rankers: int,  # noqa: ARG002
    ) -> tuple[Floats | float, Floats | float]:
        """Return the bounds of all weights, from ``signed`` and the monotonic constraints."""
        names = list(getattr(self, "feature_names_in_", []))
        return weight_bounds(family, n_features, bool(self.signed), self.monotonic_cst, names)

    def _keep_rounds(self, family: WeakRankers, X: Any, target: Target, train: Sample, run: Run) -> None:
        history = run.history
        scores: NDArray[np.floating] = run.descent.scores
        start = self._initial_coef(X.shape[1])
        self._forget(LEARNED)
        self.converged_ = run.converged
        if self.early_stopping:
            self.converged_ = run.converged and history.rounds_since_best == 0
            self.validation_path_ = np.array(history.validation)
            self.best_round_ = history.best_round
            history.cut()
            scores = scores if run.best_scores is None else run.best_scores
        self._history = history.arrays()
        self.weak_rankers_ = family
        self.rankers_, self.steps_ = self._weights_in_family(run)
        self.edge_path_ = np.array(history.edges)
        self.objective_path_ = np.array(history.objectives)
        self.n_iter_ = history.n_rounds
        if isinstance(family, Columns):
            self._first_coef = np.zeros(X.shape[1]) if start is None else start
            own = self.rankers_ >= 0
            coef = self._first_coef + family.coef(self.rankers_[own], self.steps_[own])
            self.coef_ = coef.astype(X.dtype)
            scores = linear_scores(X, self.coef_)
        self.margin_ = self._margin(family, train, scores)
        self._keep_classes(target, scores)
        if self.max_rounds is None and not (run.converged or run.stopped_early):
            if self._penalty == 0.0 and self.margin_ > 0.0:
                advice = (
                    "the training data are separable and alpha=0, so the objective has no minimum: set "
                    "alpha > 0 for a unique solution, or max_rounds to choose the number of rounds."
                )
            else:
                advice = (
                    f"the largest entry of the scaled gradient is {run.gradient_size:.1e}: raise "
                    "max_iter or tol, set max_rounds to choose the number of rounds, or use solver='lbfgs'."
                )
            warn(
                f"{type(self).__name__} did not converge in max_iter={self._max_rounds} rounds; {advice}",
                ConvergenceWarning,
            )
