"""The comparison that ``compare`` and ``report`` share: which models, on which rows, and on which splits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import Pipeline

from pushrank.cli import options
from pushrank.cli.errors import InputError, refusing, warn
from pushrank.cli.features import FeatureSource, LabelledFeatures, read_features
from pushrank.cli.model import N_INNER_FOLDS, make_model, make_ranking_pipelines
from pushrank.cli.options import option
from pushrank.cli.screen import progress
from pushrank.cli.table import TextFormat
from pushrank.model_selection._folds import check_classes
from pushrank.model_selection.compare import LINEAR_CHOSEN, POWERS, compare_rankers, default_rankers
from pushrank.model_selection.comparison import RankerComparison


@dataclass(frozen=True)
class ComparisonConfig:
    """How models are compared: which, on which splits, and by what."""

    budget: options.Budget = None
    model: list[str] | None = option(
        "A model to compare, by its name in fit or in the table, or lightgbm; may be repeated. By default "
        "linear ones, boosted stumps, gradient boosting and LightGBM (up to 100,000 rows) and, up to 20,000 "
        "rows, a choice among linear ones and a random forest."
    )
    p: list[float] | None = option("A strength of the push; may be repeated.")
    alpha: float | None = option("The L2 strength of the rankers; by default 0.1 on tables.", min=0.0)
    folds: int = option("Parts of the cross-validation.", default=5, min=2)
    repeats: int = option("Repetitions of the cross-validation.", default=1, min=1)
    seed: options.Seed = 0
    nested: bool = option("Also choose the model inside every training part.", "--nested", default=False)
    group: str | None = option("A column whose equal values stay in one part, such as the customer.")
    time: str | None = option(
        "A column of numbers or ISO dates: learn from the past, test on what comes next."
    )
    test: Path | None = option("Labelled rows to test on; all rows of the data are then learnt from.")
    weight: options.Weight = None
    show: options.Show = None

    @property
    def powers(self) -> tuple[float, ...]:
        """The strengths of the push."""
        return tuple(self.p or POWERS)

    def check(self) -> None:
        """Raise InputError when p or alpha is out of range, or ways to split do not go together."""
        for power in self.powers:
            if not 1.0 <= power < np.inf:
                raise InputError(f"--p must be finite and at least 1, got {power:g}.")
        if self.alpha is not None and not 0.0 <= self.alpha < np.inf:
            raise InputError(f"--alpha must be finite and at least 0, got {self.alpha:g}.")
        ways = [f"--{way}" for way in ("group", "time", "test") if getattr(self, way) is not None]
        if len(ways) > 1:
            raise InputError(f"{' and '.join(ways)} split the rows in different ways; choose one.")
        if ways and self.repeats > 1:
            raise InputError(f"--repeats draws other parts, but {ways[0]} says which; leave it out.")
        if self.nested and ways and ways != ["--group"]:
            raise InputError(f"--nested splits at random, not as {ways[0]} does; leave it out.")

    def models(self, y: NDArray[np.bool_], *, dense: bool) -> dict[str, BaseEstimator]:
        """Return the models by name, without preprocessing."""
        if not self.model:
            models = default_rankers(self.powers, dense=dense, n_rows=len(y), budget=self.budget)
            n_rare = min(y.sum(), (~y).sum())
            # A training part has all rows of a class but those of the largest test part.
            for _ in range(1 + self.nested):
                n_rare -= -(-n_rare // self.folds)
            if n_rare < N_INNER_FOLDS and models.pop(LINEAR_CHOSEN, None):
                warn(f"{LINEAR_CHOSEN!r} is left out: too few rows of a class to split training parts again.")
            return models
        rankers = default_rankers(self.powers, dense=dense)
        rankers[LINEAR_CHOSEN].set_params(fraction=None if self.budget is None else self.budget / len(y))
        models = {}
        for name in self.model:
            # A model goes by its name in fit or in the table; the P-Norm Push is one for each p.
            begins = {"pnorm-push": "P-Norm Push, ", "top-ranker-cv": LINEAR_CHOSEN}.get(name, "\0")
            models |= {
                shown: model
                for shown, model in rankers.items()
                if shown.startswith(begins) or name in (shown, shown.lower().replace(" ", "-"))
            } or {name: make_model(name)}
        return models


class Compared(NamedTuple):
    """What was compared: the rows, the models, how rows were split, and the measures."""

    rows: LabelledFeatures
    models: dict[str, Pipeline]
    split: str
    comparison: RankerComparison

    def title(self) -> str:
        """Return what was compared, in one line."""
        rows, n_test = self.rows, len(self.rows.y) - self.rows.n_learnt
        counted = f"{rows.n_learnt:,} rows" + f" and {n_test:,} to test on" * bool(n_test)
        positive = f"{int(rows.y.sum()):,} with {rows.label_meaning}"
        return f"{rows.table.path.name}: {counted}, {positive}; {rows.describe_features()}; {self.split}"


def run_comparison(source: FeatureSource, text_format: TextFormat, config: ComparisonConfig) -> Compared:
    """Read the rows, check the comparison against them, and compare."""
    config.check()
    rows = read_features(
        source, text_format, weight=config.weight, group=config.group, time=config.time, test=config.test
    )
    for name in config.show or ():
        rows.table.check(name, "show")
    tested = rows.y if config.test is None else rows.y[rows.n_learnt :]
    if config.budget is not None and config.budget > len(tested):
        raise InputError(f"--budget {config.budget} exceeds the {len(tested)} rows to test on.")
    if rows.times is None and rows.groups is None:
        # Nested, rows are split to measure, to choose a model, and in one model to choose p and alpha.
        with refusing("--test: " * (config.test is not None)):
            check_classes(tested, config.folds, 3 if config.nested else 1)
    (cv, split), sparse = split_rows(rows, config), rows.table.is_sparse
    rankers = config.models(rows.y, dense=not sparse)
    models = make_ranking_pipelines(
        rankers, rows.numeric, rows.categorical, sparse=sparse, alpha=config.alpha
    )
    with refusing(), progress(config.folds * config.repeats, len(models) + config.nested) as advance:
        comparison = compare_rankers(
            models,
            rows.features,
            rows.y,
            budget=config.budget,
            cv=cv,
            n_repeats=config.repeats,
            nested=config.nested,
            groups=rows.groups,
            sample_weight=rows.weights,
            random_state=config.seed,
            callback=advance,
        )
    return Compared(rows, models, split, comparison)


def split_rows(rows: LabelledFeatures, config: ComparisonConfig) -> tuple[Any, str]:
    """Return how rows are split, as a `cv` and in words: at random, by groups, by time, or by files."""
    folds, n_learnt = config.folds, rows.n_learnt
    draw = {"n_splits": folds, "shuffle": True, "random_state": config.seed}
    if rows.times is not None:
        order = np.argsort(rows.times, kind="stable")
        cv = [(order[train], order[test]) for train, test in TimeSeriesSplit(folds).split(order)]
        return cv, f"{folds} test parts, each after its training part by {config.time}"
    if rows.groups is not None:
        if (n_groups := len(set(rows.groups))) < folds:
            raise InputError(
                f"--group {config.group!r} has {n_groups} values, too few for {folds} parts; choose fewer "
                "--folds."
            )
        return StratifiedGroupKFold(**draw), f"{folds}-fold cross-validation by {config.group}"
    if config.test is not None:
        # Every part of the test rows is a sample to measure on, after a fit to the same rows.
        tested, learnt = rows.y[n_learnt:], np.arange(n_learnt)
        parts = StratifiedKFold(**draw).split(np.zeros(len(tested)), tested)
        return [(learnt, n_learnt + part) for _, part in parts], f"tested on {config.test.name}"
    times = f", {config.repeats} times" if config.repeats > 1 else ""
    return folds, f"{folds}-fold cross-validation{times}"
