"""Labelled rows from files, with the features that models learn from and score, as one matrix."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank._base.leakage import MIN_ROWS_TO_WARN
from pushrank.budgets import Budget
from pushrank.cli.errors import InputError, refusing, say, warn
from pushrank.cli.forms import LearnOptions
from pushrank.cli.options import FeatureSource
from pushrank.cli.source.columns import (
    MAX_CATEGORIES,
    check_magnitudes,
    feature_matrix,
    usable_columns,
    warn_of_copies,
    why_ignored,
)
from pushrank.cli.source.labels import LabelledRows, label_rows
from pushrank.cli.source.open import Source
from pushrank.cli.source.problems import check_readable
from pushrank.cli.source.table import Column, Kind, Table
from pushrank.held_out.plan import Rows, whole_periods
from pushrank.held_out.splits import TimeSplit
from pushrank.times import in_zone

SPANS = {"h": np.timedelta64(1, "h"), "d": np.timedelta64(1, "D"), "w": np.timedelta64(1, "W")}


NEVER = "never"
"""What --labels-after says of labels that are missing at random: their rows are left out."""
TOO_SHORT = "The file is too short for that: rows of three times as long a time are needed before these"
"""What is wrong where labels come so late that no row is left to learn from before rows to test on."""


def words_of_span(span: str, name: str | None) -> str:
    """Return how long labels take in words, such as 6 weeks."""
    unit = {"h": "hour", "d": "day", "w": "week"}.get(span[-1])
    return f"{span} of {name}" if unit is None else f"{span[:-1]} {unit}s" if span[:-1] != "1" else unit


def span_of(labels_after: str | None, times: NDArray[Any] | None, name: str | None) -> Any:
    """Return how long labels take, in the unit of the times of a column; None where they come at once."""
    if labels_after in (None, NEVER):
        return None
    if times is None:
        raise InputError("--labels-after needs the time of every row: --time COLUMN.")
    unit = labels_after[-1]
    if (times.dtype.kind == "M") == unit.isdecimal():
        have, take = ("numbers", "a number") if unit.isalpha() else ("dates", "12h, 7d or 2w")
        raise InputError(f"{name} holds {have}: give --labels-after {take}.")
    return float(labels_after) if unit.isdecimal() else int(labels_after[:-1]) * SPANS[unit]


def folds_that_fit(times: NDArray[Any], gap: Any, folds: int) -> int:
    """Return how many test parts, up to ``folds``, leave rows to learn from so long before; 0 if none."""
    for n_folds in range(folds, 1, -1):
        # Before later parts there are more rows than before the first.
        with suppress(ValueError):
            next(TimeSplit(n_folds, gap=gap).split(times[:, None], time=times))
            return n_folds
    return 0


@dataclass(frozen=True)
class LabelledFeatures(LabelledRows):
    """A table and its rows for models, those of a test file last; ``leaking`` tell the classes apart."""

    rows: Rows
    numeric: list[str]
    categorical: list[str]
    time: str | None
    n_learnt: int
    leaking: list[str]
    identifiers: list[str]
    dates: list[Column]
    n_many: int = 0
    labels_after: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    """By which options the rows were read, for a model to keep."""

    @property
    def learnt(self) -> Rows:
        """The rows to learn from."""
        return self.rows if self.n_learnt == len(self.y) else self.rows.part(np.arange(self.n_learnt))

    @property
    def gap(self) -> Any:
        """How long labels take, in the unit of the times; None where they come at once."""
        return span_of(self.labels_after, self.rows.times, self.time)

    @property
    def zone(self) -> str | None:
        """The zone of the times, of which rows keep the clock alone."""
        times = self.table.times(str(self.time), with_zones=True)
        with refusing(f"--time {self.time!r}: "):
            return in_zone(times, len(times), None)[1]

    @property
    def late(self) -> str:
        """How late labels come, in words."""
        return "" if self.labels_after in (None, NEVER) else f", with labels {self.labels_after} late"

    def hold_out(
        self, kept: str | None, budget: int | Budget | None, seed: int
    ) -> tuple[LabelledFeatures, Rows | None]:
        """Return the rows for fits and choice, and those kept from both: the latest, or rows at random."""
        if kept is None:
            return self, None
        if budget is None or self.rows.groups is not None or self.n_learnt < len(self.y):
            raise InputError("--hold-out promises hits of single rows: with --budget, not --group or --test.")
        n_rows, times = len(self.y), self.rows.times
        n_kept = round(n_rows * float(kept[:-1]) / 100.0) if kept.endswith("%") else int(kept)
        is_kept = np.random.default_rng(seed).permutation(n_rows) < n_kept
        learnt = ~is_kept
        if times is not None and 0 < n_kept < n_rows:
            # A period is kept whole, and so are rows of the same time.
            times = whole_periods(budget, times) if isinstance(budget, Budget) else times
            first = np.sort(times)[-n_kept]
            is_kept, learnt = times >= first, times < (first if self.gap is None else first - self.gap)
        if min(len(set(self.y[is_kept])), len(set(self.y[learnt]))) < 2:
            raise InputError(
                f"--hold-out {kept} leaves no row of a class among those that are kept of {n_rows:,}, or "
                "among the others; change it."
            )
        return self.where(learnt), self.rows.part(np.flatnonzero(is_kept)).counted()

    def due(self) -> LabelledFeatures:
        """Return the rows that do not wait for labels: those of others come early by what they say."""
        if self.known is None or self.gap is None:
            return self
        waits = np.asarray(self.rows.times) > np.max(np.asarray(self.rows.times)) - self.gap
        if not (lacking := np.sum(waits & ~self.known)):
            return self
        if len(set(self.y[~waits & self.known])) < 2:
            raise InputError(f"--labels-after {self.labels_after} leaves no two classes; shorten it.")
        span = words_of_span(str(self.labels_after), self.time)
        counted = f"{waits.sum():,} rows of the last {span} wait for their labels, {lacking:,} of them"
        say(f"{counted} without one, and are left out.", err=True)
        return self.where(~waits)

    @property
    def labelled(self) -> LabelledFeatures:
        """The rows that have a label."""
        return self if self.known is None else self.where(self.known)

    def where(self, is_part: NDArray[np.bool_]) -> LabelledFeatures:
        """Return some of the rows, those of a test file among them."""
        n_learnt, rows = int(is_part[: self.n_learnt].sum()), self.rows.part(np.flatnonzero(is_part))
        known = None if self.known is None or self.known[is_part].all() else self.known[is_part]
        table, y = self.table.where(is_part), self.y[is_part]
        return replace(self, table=table, y=y, known=known, n_learnt=n_learnt, rows=rows)

    def describe_features(self) -> str:
        """Return how the columns were read."""
        numbers, texts = (
            f"{len(names):,} {kind} column{'s' * (len(names) != 1)}"
            for names, kind in ((self.numeric, "numeric"), (self.categorical, "text"))
        )
        return f"{numbers} and {texts}" if self.categorical else numbers

    @property
    def kinds(self) -> dict[str, Any]:
        """How pipelines take the columns."""
        return {"numeric": self.numeric, "categorical": self.categorical, "n_many": self.n_many}


def read_features(source: FeatureSource, config: LearnOptions, test: Path | None = None) -> LabelledFeatures:
    """Read a file with labels, refuse columns that cannot be used, and warn of those that are doubtful."""
    weight, time, group = config.weight, config.time, config.group
    learnt, *tested = _read_labelled(source, config, test)
    table, known = learnt.table, slice(None) if learnt.known is None else learnt.known
    # Columns are judged by the rows that have a label.
    judged, y = table.where(learnt.known) if learnt.known is not None else table, learnt.y[known]
    n_rare = int(min(y.sum(), (~y).sum()))
    if not n_rare:
        raise InputError(f"the {len(y):,} labels of {source.data} are of one class; ranking needs two.")
    if n_rare < MIN_ROWS_TO_WARN:
        are = "row is" if n_rare == 1 else "rows are"
        warn(f"only {n_rare} {are} of one of the two classes: what is learnt and measured rests on few.")
    aside = {"group": group, "time": time, "weight": weight}
    columns = judged.feature_columns(learnt.label, source.exclude or [], source.date or [], aside)
    for name in source.keep or ():
        table.check(name, "keep")
    # What options name is refused before all columns are checked, which prints warnings.
    parts = [learnt, *tested]
    weights = None
    if weight is not None:
        weights = np.concatenate([part.table.numbers(weight, "weight", 0.0) for part in parts])
    # --test goes with neither --group nor --time: both are columns of the first file alone.
    groups = None if group is None else table.groups(group)
    times = None if time is None else table.times(time)
    dates = [column for column in columns if column.kind is Kind.DATE and not why_ignored(column)]
    columns, leaking, identifiers = usable_columns(columns, y, source.keep or ())
    # Columns of many texts come last, where the preprocessing expects them.
    columns.sort(key=lambda column: column.kind is Kind.TEXT and len(column.counts) > MAX_CATEGORIES)
    n_many = sum(column.kind is Kind.TEXT and len(column.counts) > MAX_CATEGORIES for column in columns)
    numeric = [column.name for column in columns if column.kind is Kind.NUMBER]
    categorical = [column.name for column in columns if column.kind is not Kind.NUMBER]
    features = feature_matrix(judged, columns)
    warn_of_copies(judged, features, y)
    if judged is not table:
        features = _features(table, numeric, categorical)
    for part in tested:
        both = [features, _features(part.table, numeric, categorical)]
        features = pd.concat(both, ignore_index=True)
        table = replace(table, frame=pd.concat([table.frame, part.table.frame], ignore_index=True))
    y = np.concatenate([part.y for part in parts])
    rows, label = Rows(features, y, y, weights, groups, times), (learnt.label, learnt.positive)
    n = len(learnt.y)
    kept = {name: getattr(source, name) for name in ("exclude", "keep", "date")}
    kept |= {"label": learnt.label, "positive": learnt.positive, "weight": weight, "group": group}
    kept |= {"labels-after": config.labels_after, "read": source.rows.text_format.to_dict()}
    have_label = None if learnt.known is None else np.r_[learnt.known, np.ones(len(y) - n, dtype=bool)]
    return LabelledFeatures(
        table, *label, y, rows, numeric, categorical, time, n, leaking, identifiers, dates, n_many,
        config.labels_after, kept, known=have_label,
    )  # fmt: skip


def _features(table: Table, numeric: list[str], categorical: list[str]) -> Any:
    """Return the matrix of columns of a table, as another table has them."""
    columns = table.model_columns(numeric, categorical)
    check_magnitudes(columns)
    return feature_matrix(table, columns)


def _read_labelled(source: FeatureSource, config: LearnOptions, test: Path | None) -> list[LabelledRows]:
    """Return the rows of a file and of the test file, if there is one, with the same label."""
    table = source.rows.table()
    check_readable(table, source, config)
    lack = "they are not learnt from"
    learnt = label_rows(table, table.labels(source.label), source.positive, may_lack=lack)
    if test is None:
        return [learnt]
    # The test file is read by the label of the first file, though its own rows may suggest another.
    rows = Source(test, source.rows.text_format).table()
    return [learnt, label_rows(rows, rows.labels(learnt.label), learnt.positive)]
