"""The search for what ranks best within a budget: members of families, scored on the same folds."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.estimators._base import progress_bar
from pushrank.estimators._scoring import Fold, results_table, stratified_folds
from pushrank.estimators._target import Target
from pushrank.estimators.push_cv import SELECTIONS, split_params
from pushrank.metrics import average_precision, precision_at_k

DEFAULT_FRACTION = 0.25  # of the positives
Member = tuple[dict[str, Any], float, float]
"""Parameters, and their precision and average precision on a fold."""


class BudgetSearch:
    """Checked rows of two classes, the folds, and the budget as a share, which is the same in every fold.

    Parameters
    ----------
    ranker : estimator
        With the parameters that all searches for a budget have.
    X, target
        The checked data.
    groups : array-like or None
        What the splitter is told.

    Raises
    ------
    ValueError
        When the budget is out of range, or there are no folds of two classes.
    """

    def __init__(self, ranker: Any, X: Any, target: Target, groups: ArrayLike | None) -> None:
        self._ranker = ranker
        self.is_positive: NDArray[np.bool_] = np.asarray(target.codes, dtype=bool)
        self.weights = np.ones(len(self.is_positive)) if target.weights is None else target.weights
        self._depth = budget_depth(ranker, float(self.weights.sum()))
        per_row = float(self.weights.sum() / self.weights[self.is_positive].sum())
        # the rows that can be acted on as a share of the number of positives
        self.kept: float = self._depth.get("fraction_of_positives") or self._depth["fraction"] * per_row
        told = split_params(ranker, groups)
        self._folds = stratified_folds(ranker.cv, "average_precision", X, target, told)
        self.seed = int(check_random_state(ranker.random_state).randint(np.iinfo(np.int32).max))

    def member(self, params: dict[str, Any], fold: Fold, scores: NDArray[np.floating]) -> Member:
        """Return how good scores of the rows of a fold are."""
        labels, weights = self.is_positive[fold.test], self.weights[fold.test]
        precision = precision_at_k(labels, scores, **self._depth, sample_weight=weights)
        return params, precision, average_precision(labels, scores, sample_weight=weights)

    def choose(
        self,
        solve: Callable[[Fold], list[Member]],
        family: str,
        complexity: Callable[[Any], float],
        family_of: Callable[[dict[str, Any]], Any] | None = None,
    ) -> dict[str, Any]:
        """Return the attributes of a search: what was chosen, and what it was chosen from.

        ``solve`` returns all members on a fold; ``family`` is the parameter by which they are of a family,
        unless ``family_of`` tells it of all parameters.
        """
        ranker, folds = self._ranker, self._folds
        by_fold: list[list[Member]] = []
        with progress_bar(ranker, len(folds)) as callback:
            solved = Parallel(ranker.n_jobs, require="sharedmem", return_as="generator")(
                delayed(solve)(fold) for fold in folds
            )
            for number, members in enumerate(solved, 1):
                by_fold.append(members)
                if callback is not None:
                    callback(number, precision=max(precision for _, precision, _ in members))
        params = [one[0] for one in by_fold[0]]
        precisions, overall = (np.array([[one[m] for one in fold] for fold in by_fold]).T for m in (1, 2))
        means = overall.mean(axis=1)
        n_hits = sum(self.kept * self.weights[fold.test][self.is_positive[fold.test]].sum() for fold in folds)
        hit = float(1.0 / max(1.0, n_hits))  # by how much one in one fold changes the mean precision
        candidates = best_members(params, precisions, means, hit, family, family_of)
        chosen = choose_family(candidates, ranker.selection, family, complexity)
        return {
            "candidates_": candidates,
            "best_params_": chosen["params"],
            "best_score_": chosen["precision"],
            "best_index_": params.index(chosen["params"]),
            "cv_results_": results_table(params, precisions) | {"mean_average_precision": means},
            "n_splits_": len(folds),
        }


def check_selection(selection: Any) -> None:
    """Raise unless there is such a rule.

    Raises
    ------
    ValueError
        When there is not.
    """
    if selection not in SELECTIONS:
        raise ValueError(f"selection must be one of {list(SELECTIONS)}, got {selection!r}.")


def budget_depth(ranker: Any, total_weight: float) -> dict[str, Any]:
    """Return the rows that can be acted on as a share, which is the same in every fold.

    Raises
    ------
    ValueError
        When two of the parameters are given, one is out of range, or there are not so many rows.
    """
    names = ("budget", "fraction", "fraction_of_positives")
    given = {name: getattr(ranker, name) for name in names if getattr(ranker, name) is not None}
    if len(given) > 1:
        raise ValueError(f"give one of {', '.join(names)}, got {given}.")
    for name, share in given.items():
        if name == "budget":
            check_number(name, share, 1, integer=True)
            if share > total_weight:
                raise ValueError(f"budget={share} is more than the {total_weight:g} rows of X.")
            return {"fraction": share / total_weight}
        check_number(name, share, above=0.0, most=1.0)
    return given or {"fraction_of_positives": DEFAULT_FRACTION}


def best_members(
    params: list[dict[str, Any]],
    precisions: Floats,
    overall: Floats,
    hit: float,
    family: str = "candidate",
    family_of: Callable[[dict[str, Any]], Any] | None = None,
) -> list[dict[str, Any]]:
    """Return each family's best member: of those within one hit of the best, the best average precision."""
    means, n_folds = precisions.mean(axis=1), precisions.shape[1]
    families = list(map(family_of or itemgetter(family), params))

    def standard_error(values: Floats) -> float:
        return float(values.std(ddof=1) / np.sqrt(n_folds)) if n_folds > 1 else 0.0

    members: dict[Any, int] = {}
    for name in dict.fromkeys(families):
        places = np.array([place for place, one in enumerate(families) if one == name])
        equals = places[means[places] >= means[places].max() - hit * (1.0 + 1e-9)]
        members[name] = int(equals[np.argmax(overall[equals])])
    best = max(members.values(), key=lambda place: (means[place], overall[place]))
    return [
        {
            family: name,
            "params": params[place],
            "precision": float(means[place]),
            "standard_error": standard_error(precisions[place]),
            "average_precision": float(overall[place]),
            "below_best": float(means[best] - means[place]),
            "below_best_standard_error": standard_error(precisions[best] - precisions[place]),
        }
        for name, place in members.items()
    ]


def choose_family(
    candidates: list[dict[str, Any]], selection: str, family: str, complexity: Callable[[Any], float]
) -> dict[str, Any]:
    """Return the best family, or the simplest within one standard error; the better of two as simple."""

    def is_eligible(one: dict[str, Any]) -> bool:
        allowed = one["below_best_standard_error"] if selection == "one_standard_error" else 0.0
        return bool(one["below_best"] <= allowed)

    def order(one: dict[str, Any]) -> tuple[float, float, float]:
        return complexity(one[family]), -one["precision"], -one["average_precision"]

    return min(filter(is_eligible, candidates), key=order)
