"""The push of a booster, its parameters and rounds for the rows that one can act on, by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from pushrank.estimators._budget import BudgetSearch, Member, check_selection
from pushrank.estimators._scoring import Fold
from pushrank.estimators.boosting_cv import check_numbers
from pushrank.interop._ranker import BINARY, Engine, push_objective, subset, training, validate_table
from pushrank.pairs import BipartiteSample

IR_PUSH = "log_one_plus"  # the price with which a pull is the IR Push


def complexity(p: Any) -> float:
    """Return the place of an objective from simple to complex: log loss, IR Push, push by strength."""
    return {BINARY: -1.0, IR_PUSH: 0.0}[p] if isinstance(p, str) else float(p)


def of_objective(p: Any) -> dict[str, Any]:
    """Return the parameters that stand for an objective."""
    return {"p": p, "side": "pull"} if p == IR_PUSH else {"p": p}


def fit_search(
    search: Any,
    ranker: Any,
    engine: Engine,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> Any:
    """Choose by cross-validation, set what was chosen from, and return a ranker fitted with it to all rows.

    Numbers of rounds come along a single fit for each push and each value of the grid.
    """
    pushes, grid = list(search.ps), dict(search.param_grid or {})
    names = [p for p in pushes if isinstance(p, str)]
    if not pushes or not set(names) <= {BINARY, IR_PUSH}:
        raise ValueError(f"ps must be numbers of at least 1, {BINARY!r} or {IR_PUSH!r}, got {search.ps!r}.")
    check_numbers("ps", [p for p in pushes if p not in names] or [1.0], least=1.0)
    check_numbers("n_estimators", search.n_estimators, least=1, integer=True)
    check_selection(search.selection)
    _check_grid(grid)
    X, target = validate_table(search, X, y, sample_weight)
    if not isinstance(target.sample, BipartiteSample):
        raise ValueError(
            "Only binary classification is supported: a budget needs two classes in y, and "
            f"{len(np.asarray(target.classes))} were found; rank one against the rest, by y == c."
        )
    shared = BudgetSearch(search, X, target, groups)
    rounds = sorted({int(number) for number in search.n_estimators})
    ranker.set_params(random_state=shared.seed)

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
            params = engine.params(member, int(member.random_state))
            booster, _ = engine.train(
                params, training(X, rows, part, push_objective(member), rounds[-1]), None
            )
            scores, start = np.zeros(len(fold.test)), 0
            for stop in rounds:
                # a booster that found no more splits has fewer
                stop, n_rounds = min(stop, engine.n_rounds(booster)), stop
                if stop > start:
                    scores, start = scores + engine.scores(booster, test, start, stop), stop
                found.append(shared.member({**chosen, "n_estimators": n_rounds}, fold, scores))
        return found

    found = shared.choose(solve, "p", complexity)
    for name, value in found.items():
        setattr(search, name, value)
    return ranker.set_params(**search.best_params_).fit(X, y, sample_weight)


def _check_grid(grid: Mapping[str, Sequence[Any]]) -> None:
    for name, values in grid.items():
        if isinstance(values, str) or np.ndim(values) != 1 or len(values) == 0:
            raise ValueError(f"param_grid[{name!r}] must be a list of at least one value, got {values!r}.")
