"""The rounds of a boosting run: how they go on, what they did, and when they stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.solvers.coordinate_descent import CoordinateDescent, Round
from pushrank.solvers.result import Watcher
from pushrank.solvers.score_problem import ClassPoint
from pushrank.weak_rankers.base import GrowingPool

Draw = Callable[[np.random.RandomState], NDArray[np.bool_]]


@dataclass
class History:
    """What the rounds of a run did.

    Attributes
    ----------
    rankers : list of int
        The weak ranker of each round.
    steps, edges : list of float
        Its change of weight, and its edge.
    objectives, values, norms : list of float
        The penalised objective, the objective alone and the sum of absolute weights, before the first round
        and after each.
    log_sums : list of (float, float)
        The logarithms of the sums of exponentials over positives and over negatives, where there are two
        classes; NaN elsewhere.
    validation : list of float
        The score of the validation part, before the first round and after each.
    best_round, best_score : int and float
        The round after which the validation part scored best, the first of several, and how.
    """

    rankers: list[int] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    log_sums: list[tuple[float, float]] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    best_round: int = 0
    best_score: float = -np.inf

    @property
    def n_rounds(self) -> int:
        """The number of rounds."""
        return len(self.rankers)

    def note(self, descent: CoordinateDescent) -> None:
        """Write down where the descent stands."""
        point = descent.point
        self.objectives.append(descent.objective)
        self.values.append(point.value)
        self.norms.append(descent.norm)
        self.log_sums.append(point.log_sums if isinstance(point, ClassPoint) else (np.nan, np.nan))

    def note_validation(self, score: float) -> None:
        """Write down how the validation part scored."""
        self.validation.append(score)
        if score > self.best_score:
            self.best_round, self.best_score = len(self.validation) - 1, score

    @property
    def rounds_since_best(self) -> int:
        """How many rounds have not improved on the best."""
        return len(self.validation) - 1 - self.best_round

    def cut(self) -> None:
        """Forget the rounds after the best.

        How the best scored is found anew by a run that goes on, on what is then the validation part.
        """
        for name in ("rankers", "steps", "edges", "validation"):
            del getattr(self, name)[self.best_round :]
        for name in ("objectives", "values", "norms", "log_sums"):
            del getattr(self, name)[self.best_round + 1 :]
        self.best_score = -np.inf

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that was written down as arrays."""
        return {name: np.array(values) for name, values in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> History:
        """Return the history that ``arrays`` gave."""
        kept = {name: values.tolist() for name, values in arrays.items()}
        kept["log_sums"] = [tuple(pair) for pair in kept["log_sums"]]
        return cls(**kept)


@dataclass(frozen=True)
class Plan:
    """How a run goes on, and when it stops.

    Attributes
    ----------
    max_rounds : int
        The most rounds in all.
    tol : float
        Stop when no slope exceeds this.
    draw_rows : callable or None
        Draws the rows that a round sees.
    draw_features : callable or None
        Draws the features that a round may use.
    validate : callable or None
        Scores the validation part at given scores of all rows.
    patience : int
        Stop after so many rounds without a better validation score.
    """

    max_rounds: int
    tol: float
    draw_rows: Draw | None = None
    draw_features: Callable[[np.random.RandomState], NDArray[np.intp]] | None = None
    validate: Callable[[Floats], float] | None = None
    patience: int = 0


class Run:
    """A boosting run under way.

    Attributes
    ----------
    descent : CoordinateDescent
        Scores and weights.
    history : History
        The rounds so far.
    random_state : RandomState
        The source of all that is drawn.
    best_scores : ndarray or None
        The scores of the round that validated best.
    gradient_size : float
        The largest slope at the end, in its ranker's unit.
    converged : bool
        Whether it came down to the tolerance, or no step was left.
    stopped_early : bool
        Whether the validation part had waited long enough for a better round.
    """

    def __init__(
        self,
        descent: CoordinateDescent,
        history: History,
        random_state: np.random.RandomState,
        best_scores: Floats | None = None,
    ) -> None:
        self.descent, self.history, self.random_state = descent, history, random_state
        self.best_scores = best_scores
        self.gradient_size, self.converged, self.stopped_early = np.inf, False, False

    def go(
        self, plan: Plan, watcher: Watcher | None = None, after_round: Callable[[Run], None] | None = None
    ) -> None:
        """Run rounds until the plan says stop.

        ``after_round`` is called after every round, when the state is whole.
        """
        if not self.history.values:
            self.history.note(self.descent)
        if len(self.history.validation) < len(self.history.values):
            # rounds of an earlier fit, without a validation part, cannot be the best
            missing = len(self.history.values) - len(self.history.validation) - 1
            self.history.validation += [-np.inf] * missing if plan.validate else []
            self._validate(plan)
        settled = False
        while not settled and self.history.n_rounds < plan.max_rounds and not self._enough(plan):
            rows = None if plan.draw_rows is None else plan.draw_rows(self.random_state)
            features = None if plan.draw_features is None else plan.draw_features(self.random_state)
            done = self.descent.round(plan.tol, rows=rows, features=features, random_state=self.random_state)
            # nothing to gain for a part of the rows or features may be something for another
            settled = done.step == 0.0 and rows is None and features is None
            if not settled:
                self._note(done, plan, watcher)
                if after_round is not None:
                    after_round(self)
        self.gradient_size = self.descent.gradient_size
        # of rankers made to measure the best is known only in the round that makes it
        is_measured = not isinstance(self.descent.pool, GrowingPool)
        self.converged = settled or (is_measured and self.gradient_size <= plan.tol)
        self.stopped_early = self._enough(plan)

    def _note(self, done: Round, plan: Plan, watcher: Watcher | None) -> None:
        self.history.rankers.append(done.ranker)
        self.history.steps.append(done.step)
        self.history.edges.append(done.edge)
        self.history.note(self.descent)
        self._validate(plan)
        if watcher is not None:
            watcher(self.history.n_rounds, objective=self.history.objectives[-1], gradient=done.gradient)

    def _validate(self, plan: Plan) -> None:
        if plan.validate is None:
            return
        self.history.note_validation(plan.validate(self.descent.scores))
        if self.history.rounds_since_best == 0:
            self.best_scores = self.descent.scores.copy()

    def _enough(self, plan: Plan) -> bool:
        return plan.validate is not None and self.history.rounds_since_best >= plan.patience
