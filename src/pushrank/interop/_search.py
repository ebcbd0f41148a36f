"""The push of a booster, its parameters and rounds for the rows that one can act on, by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from pushrank.estimators._budget import BudgetSearch, Member, check_selection
from pushrank.estimators._scoring import Fold
from pushrank.estimators.boosting_cv import check_numbers
from pushrank.interop._ranker import BINARY, push_objective, shared_docs, subset, training, validate_table
from pushrank.pairs import BipartiteSample

IR_PUSH = "log_one_plus"  # the price with which a pull is the IR Push


def complexity(p: Any) -> float:
    """Return the place of an objective from simple to complex: log loss, IR Push, push by strength."""
    return {BINARY: -1.0, IR_PUSH: 0.0}[p] if isinstance(p, str) else float(p)


def of_objective(p: Any) -> dict[str, Any]:
    """Return the parameters of a ranker that stand for an objective."""
    return {"price": p, "side": "pull"} if p == IR_PUSH else {"p": p}


def objective_of(params: Mapping[str, Any]) -> Any:
    """Return the objective that parameters of a ranker stand for."""
    return params.get("price", params.get("p"))


def init_search(
    self: Any,
    budget: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ps: Sequence[float | str] = (BINARY, IR_PUSH, 1.0, 4.0, 16.0),
    n_estimators: Sequence[int] = (50, 100, 200),
    param_grid: Mapping[str, Sequence[Any]] | None = None,
    cv: Any = 5,
    selection: Literal["one_standard_error", "best"] = "one_standard_error",
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
    **booster_params: Any,
) -> None:
    """Take the parameters of a search, and those of its booster."""
    self.budget = budget
    self.fraction = fraction
    self.fraction_of_positives = fraction_of_positives
    self.ps = ps
    self.n_estimators = n_estimators
    self.param_grid = param_grid
    self.cv = cv
    self.selection = selection
    self.n_jobs = n_jobs
    self.random_state = random_state
    self.verbose = verbose
    self._booster_params = booster_params


@shared_docs
def fit_search(
    self: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
) -> Any:
    """Choose the push and the rounds by cross-validation, and learn with them.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        %(X_of_booster)s
    y : array-like of shape (n_samples,)
        %(y_two_classes)s
    sample_weight : array-like of shape (n_samples,), optional
        %(sample_weight_cv)s
    groups : array-like of shape (n_samples,), optional
        %(groups)s

    Returns
    -------
    %(self)s

    Raises
    ------
    %(search_value_error)s
    TypeError
        When a parameter has the wrong type.
    """
    pushes, grid = list(self.ps), dict(self.param_grid or {})
    names = [p for p in pushes if isinstance(p, str)]
    if not pushes or not set(names) <= {BINARY, IR_PUSH}:
        raise ValueError(f"ps must be numbers of at least 1, {BINARY!r} or {IR_PUSH!r}, got {self.ps!r}.")
    check_numbers("ps", [p for p in pushes if p not in names] or [1.0], least=1.0)
    check_numbers("n_estimators", self.n_estimators, least=1, integer=True)
    check_selection(self.selection)
    _check_others(self._booster_params, grid)
    X, target = validate_table(self, X, y, sample_weight)
    if not isinstance(target.sample, BipartiteSample):
        raise ValueError(
            "Only binary classification is supported: a budget needs two classes in y, and "
            f"{len(np.asarray(target.classes))} were found; rank one against the rest, by y == c."
        )
    shared = BudgetSearch(self, X, target, groups)
    rounds = sorted({int(number) for number in self.n_estimators})
    ranker = self._ranker(n_jobs=self.n_jobs, random_state=shared.seed, **self._booster_params)

    def solve(fold: Fold) -> list[Member]:
        """Return all members."""
        mask = np.zeros(len(shared.is_positive), dtype=bool)
        mask[fold.train] = True
        rows, part = np.flatnonzero(mask), subset(target, mask)
        test = _safe_indexing(X, fold.test)
        found: list[Member] = []
        for p, *values in product(pushes, *grid.values()):
            chosen = of_objective(p) | dict(zip(grid, values, strict=True))
            member = clone(ranker).set_params(**chosen)
            params = self._engine.params(member, int(member.random_state))
            booster, _ = self._engine.train(
                params, training(X, rows, part, push_objective(member), rounds[-1]), None
            )
            scores, start = np.zeros(len(fold.test)), 0
            for stop in rounds:
                # a booster that found no more splits has fewer
                stop, n_rounds = min(stop, self._engine.n_rounds(booster)), stop
                if stop > start:
                    scores, start = scores + self._engine.scores(booster, test, start, stop), stop
                found.append(shared.member({**chosen, "n_estimators": n_rounds}, fold, scores))
        return found

    found = shared.choose(solve, "p", complexity, objective_of)
    final = ranker.set_params(**found["best_params_"]).fit(X, y, sample_weight)
    learned = ("booster_", "n_iter_", "classes_", "threshold_", "thresholds_")
    for name, value in (found | {name: getattr(final, name) for name in learned}).items():
        setattr(self, name, value)
    return self


def _check_others(params: Mapping[str, Any], grid: Mapping[str, Sequence[Any]]) -> None:
    chosen = {"p", "price", "n_estimators", "early_stopping"} & {*params, *grid}
    if chosen:
        raise ValueError(
            f"{', '.join(sorted(chosen))}: objectives are chosen from ps, rounds from n_estimators."
        )
    for name, values in grid.items():
        if isinstance(values, str) or np.ndim(values) != 1 or len(values) == 0:
            raise ValueError(f"param_grid[{name!r}] must be a list of at least one value, got {values!r}.")
