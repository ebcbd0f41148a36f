"""What cross-validation says of each model and list on the kept training sets, and what later rows say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from experiments.choice.columns import REPEATS, TWELVE, plan_of
from pushrank import metrics
from pushrank.estimators import StackingRanker
from pushrank.estimators._combination import OutOfFold, combine, to_log_odds
from pushrank.estimators._target import two_class_target
from pushrank.held_out import Plan
from pushrank.model_selection.compare import SMALL_STEPS
from pushrank.model_selection.comparison import CHOICES, TOGETHER, RankerComparison
from pushrank.model_selection.folds import on_one_scale
from pushrank.model_selection.table import Criterion, Halves, HeldOutTable

DEFAULT = (
    "logistic regression", "P-Norm Push, p = 16", "boosted stumps, p = 16", "gradient boosting", SMALL_STEPS,
    "extra trees",
)  # fmt: skip
"""What compare compares by default."""
FIVE = tuple(model for model in DEFAULT if model != "gradient boosting")
LISTS = {"list by default": DEFAULT, "list of five": FIVE, "list of twelve": TWELVE}
PROBABILITIES = ("random forest", "extra trees", "neural network")
"""The models whose scores are probabilities begin with these names."""


class Case(NamedTuple):
    """A training set, as ``columns.py`` kept it."""

    name: str
    draw: int
    kept: dict[str, Any]
    plan: Plan

    @classmethod
    def read(cls, path: Path, name: str, draw: int) -> Case:
        """Return the case of a file."""
        with np.load(path) as arrays:
            kept = {key: arrays[key] for key in arrays.files}
        by = kept["by"] if len(kept["by"]) else None
        return cls(name, draw, kept, plan_of(name, np.zeros((len(kept["y"]), 0)), kept["y"], by))

    @property
    def models(self) -> list[str]:
        """The names of its models."""
        return list(self.kept["models"])

    def table(self, models: Sequence[str]) -> tuple[HeldOutTable, Halves]:
        """Return the table of some models, and their fits to halves."""
        kept, plan = self.kept, self.plan
        sizes = [len(test) for _, test in plan.splits]
        cuts, at = np.cumsum(sizes)[:-1], [self.models.index(model) for model in models]
        scores = {model: np.split(kept["of_parts"][n], cuts) for model, n in zip(models, at, strict=True)}
        n_last = int(kept["n_last"])
        last = np.cumsum(sizes[len(sizes) - n_last :])[:-1]
        halves = None
        if len(kept["halves"]):
            of_halves = [[np.split(half[n], last) for n in at] for half in kept["halves"]]
            halves = [[list(of_part) for of_part in zip(*half, strict=True)] for half in of_halves]
        ranks = {model: int(kept["simplicity"][n]) for model, n in zip(models, at, strict=True)}
        none: dict[str, list[Any]] = {model: [] for model in models}
        stand_ins = {model: stand_in(model) for model in models}
        table = HeldOutTable(plan, stand_ins, scores, {}, ranks, none, none)
        return table, Halves(int(kept["n_halved"]), n_last, halves)

    def compare(self, models: Sequence[str], members: Sequence[str] = ()) -> RankerComparison:
        """Return the comparison of some models, and of the list of members among them."""
        table, halves = self.table(models)
        paired: Any = ()
        if members and len(self.kept["paired"]):
            of_members = list(self.kept["members"])
            paired = list(self.kept["paired"][:, [of_members.index(member) for member in members]])
        return table.compare(
            Criterion.of(None, self.plan.budget),
            {member: table.models[member] for member in members},
            halves=halves,
            paired=paired,
        )

    def of_test(self, model: str) -> np.ndarray:
        """Return the scores of later rows by a fit to all training rows."""
        return self.kept["of_test"][self.models.index(model)]

    def list_of(self, members: Sequence[str], final: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of later rows by the list of members, and the members' weights."""
        table, _ = self.table(members)
        scores = np.array([to_log_odds(table.models[m], self.plan.by_row(table.scores[m])) for m in members])
        parts = [test for _, test in self.plan.splits]
        linear = [table.simplicity[m] == 0 for m in members]
        target = two_class_target(StackingRanker(), self.kept["y"], None)
        combination = combine(OutOfFold(scores, parts, self.plan.by_time, linear), target, final)
        return combination([self.of_test(m) for m in members]), combination.weights


def stand_in(model: str) -> Any:
    """Return an estimator that has probabilities or margins as the model of this name has."""
    return ExtraTreesClassifier() if model.startswith(PROBABILITIES) else LogisticRegression()


def found_later(y: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Return what a list finds among later rows: precision at half and a quarter of the positives, and AP."""
    n = int(y.sum())
    return {
        "precision": metrics.precision_at_k(y, scores, k=max(1, round(n / 2))),
        "average precision": metrics.average_precision(y, scores),
        "precision at n+/4": metrics.precision_at_k(y, scores, k=max(1, round(n / 4))),
    }


def depths(case: Case, scores: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Return the share of hits of each part at half, one and two budgets."""
    found: dict[str, list[float]] = {"half": [], "one": [], "two": []}
    y, share = case.kept["y"], case.plan.budget / len(case.kept["y"])
    for (_, test), of_part in zip(case.plan.splits, scores, strict=True):
        for name, times in (("half", 0.5), ("one", 1.0), ("two", 2.0)):
            k = min(len(test), max(1, round(times * share * len(test))))
            found[name].append(metrics.precision_at_k(y[test], of_part, k=k))
    return {name: np.array(values) for name, values in found.items()}


def pooled(case: Case, scores: np.ndarray) -> tuple[float, float]:
    """Return the average precision and the precision at the budget of all held-out rows in one order."""
    seen = ~np.isnan(scores)
    y = case.kept["y"][seen]
    k = max(1, round(case.plan.budget * seen.mean()))
    return metrics.average_precision(y, scores[seen]), metrics.precision_at_k(y, scores[seen], k=k)


def measure(case: Case) -> dict[str, Any]:
    """Return all that rules may look at, and what later rows say, by model and by list."""
    y_test, found = case.kept["y_test"], {"later": {}, "folds": {}, "pooled": {}, "depths": {}, "choices": {}}
    comparison = case.compare(case.models)
    found["comparison"], found["budget"] = comparison, case.plan.budget
    rows = [(model, model, comparison) for model in case.models]
    for name, wanted in LISTS.items():
        members = [model for model in wanted if model in case.models]
        of_list = case.compare(members, members)
        rows.append((name, TOGETHER, of_list))
        found["later"][name] = found_later(y_test, case.list_of(members)[0])
        for choose in CHOICES:
            chosen = replace(of_list, choose=choose)
            taken = name if chosen.chosen_ == TOGETHER else chosen.chosen_
            found["choices"][name, choose] = taken, *chosen.expected_
    for name, row, of in rows:
        found["folds"][name] = of.measures[row]
        of_rows = of.scores[row]
        by_rank = np.where(np.isnan(of_rows), np.nan, on_one_scale(of_rows, of.folds))
        found["pooled"][name] = (*pooled(case, of_rows), *pooled(case, by_rank))
        found["depths"][name] = depths(case, [of_rows[test] for _, test in case.plan.splits])
        if row != TOGETHER:
            found["later"][name] = found_later(y_test, case.of_test(name))
    found["repeated"] = repeated(case)
    return found


def repeated(case: Case) -> dict[str, tuple[float, float]]:
    """Return the average precision and the share of hits of the six over three repetitions."""
    if not len(case.kept["repeated"]):
        return {}
    y, by = case.kept["y"], case.kept["by"] if len(case.kept["by"]) else None
    plan = plan_of(case.name, np.zeros((len(y), 0)), y, by, n_repeats=REPEATS)
    tests = [test for _, test in plan.splits]
    cuts, share = np.cumsum([len(test) for test in tests])[:-1], plan.budget / len(y)
    found = {}
    for model, scores in zip(case.kept["of_repeated"], case.kept["repeated"], strict=True):
        parts = [(y[test], of) for test, of in zip(tests, np.split(scores, cuts), strict=True)]
        found[str(model)] = (
            float(np.mean([metrics.average_precision(*part) for part in parts])),
            float(np.mean([metrics.precision_at_k(*p, k=max(1, round(share * len(p[0])))) for p in parts])),
        )
    return found
