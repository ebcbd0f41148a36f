"""Saved models and their alerts as commands use them: by what a file notes where that is enough, or whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank._base.bounds import decimals
from pushrank._base.files import MODEL_FORMAT, read_facts
from pushrank._base.user_types import Floats
from pushrank.cli.errors import warn
from pushrank.cli.source.columns import check_magnitudes, feature_matrix, row_hashes
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Column, Table
from pushrank.interop.scorer import Scorer

if TYPE_CHECKING:
    from pushrank.cli.source.labels import LabelledRows
BEYOND = 0.01
"""The share of values beyond each end of a column, and how seldom a file like the fit's is warned of."""
SCORER_FIELDS = ("label", "positive", "training", "numeric", "categorical", "as_fitted")
"""What a model's file notes of it under the same names."""


def rows_hash(features: Any) -> str:
    """Return a hash that the same rows share, in whatever order they come."""
    return f"{row_hashes(features).sum():016x}"


def spans_of(X: Any) -> dict[str, list[float]]:
    """Return the share of gaps in each column and, of numbers, between which all but 2 % of them lie."""
    spans = {}
    for name, values in ((name, X[name].to_numpy()) for name in X if hasattr(X, "columns")):
        known = values[~pd.isna(values)]
        ends = np.quantile(known, (BEYOND, 1.0 - BEYOND)) if values.dtype.kind == "f" and len(known) else ()
        spans[str(name)] = [1.0 - len(known) / max(len(values), 1), *map(float, ends)]
    return spans


@dataclass(frozen=True)
class Alert:
    """The score that a budget's share of rows reach, its range, and how many of ``n_scored`` held out do."""

    # These are `n_reaching` by fits to other rows, and `by_all` as far as is known by one to all rows. From
    # fit to fit the share of rows varies by `spread` beyond what their draw explains, a standard deviation.

    budget: int
    of_rows: int
    threshold: float
    low: float
    high: float
    n_scored: int
    n_reaching: int
    by_all: float | None = None
    spread: float = 0.0

    def text(self, score: float) -> str:
        """Return a score with as many digits as the interval of the threshold supports."""
        # Beyond 15 digits the decimals of a double say nothing.
        width = self.high - self.low
        return f"{score:.{decimals(width / 2.0, most=15)}f}" if width > 0.0 else f"{score:.6g}"

    def dividing(self, scores: Floats) -> str:
        """Return the threshold with as many digits as its interval supports, or as divide these scores."""
        reach = scores >= self.threshold
        texts = self.text(self.threshold), *(f"{self.threshold:.{digits}g}" for digits in range(6, 18))
        return next(text for text in texts if np.array_equal(scores >= float(text), reach))

    def expected(self, n_rows: int) -> tuple[int, int]:
        """Return how many of a number of new rows will reach the threshold, an interval of 95 %."""
        # scipy.stats takes long to import, which models without a threshold need not wait for.
        from scipy.stats import betabinom

        # The share of any continuous distribution above the k-th largest of n scores follows the beta
        # distribution with parameters k and n - k + 1, whose variance is mean (1 - mean) / (n + 2); new rows
        # are drawn by it. Fits that differ make it wider.
        of_rows = self.n_scored + 1.0
        mean = (self.by_all or self.n_reaching) / of_rows
        size = mean * (1.0 - mean) / (mean * (1.0 - mean) / (of_rows + 1.0) + self.spread**2) - 1.0
        size = max(size, 1.0)
        chances = betabinom(n_rows, mean * size, (1.0 - mean) * size)
        up_to = np.cumsum(chances.pmf(np.arange(n_rows + 1)))
        low, high = np.searchsorted(up_to, [0.025, 0.975])
        return int(low), int(min(high, n_rows))

    def sentence(self) -> str:
        """Return the threshold, and how many new rows will reach it."""
        low, high = self.expected(self.of_rows)
        return (
            f"{self.text(self.threshold)}, which {low:,} to {high:,} of {self.of_rows:,} new rows will reach "
            f"(95 %), for a budget of {self.budget:,}"
        )

    def facts(self, scores: Floats, y: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        """Return how many rows with these scores, and positives, reach the threshold, for JSON."""
        alerts = scores >= self.threshold
        found = {"rows": int(alerts.sum()), "expected_rows": list(self.expected(len(scores)))}
        return asdict(self) | found | ({} if y is None else {"hits": int(alerts[y].sum())})

    def count(self, scores: Floats, y: NDArray[np.bool_] | None = None, moved: str = "") -> str:
        """Return how many rows with these scores reach the threshold, how many should, and what moved."""
        found = self.facts(scores, y)
        n_alerts, (low, high) = found["rows"], found["expected_rows"]
        hits = "" if y is None else f", {found['hits']:,} of them hits"
        said = f"{n_alerts:,} of {len(scores):,} rows reach the alert threshold, {self.dividing(scores)}"
        said += f"{hits}; {low:,} to {high:,} were to be expected"
        if moved:
            said += f". The rows differ from those of the fit: {moved}. Measure the model, or fit it again"
        elif not low <= n_alerts <= high:
            # Neither the draw of rows nor fits that differ make this likely; that rows changed is not shown.
            few = "fewer" if n_alerts < low else "more"
            said += f": {few} than in 19 of 20 files like that of the fit. Measure the model by new labels"
        return f"{said}."


@dataclass(frozen=True, kw_only=True)
class RowScorer(ABC):
    """A fitted model by its name, the columns it was fitted on, and its label."""

    name: str
    label: str
    positive: str
    numeric: list[str]
    categorical: list[str]
    as_fitted: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    alert: Alert | None = None
    profiles: dict[str, Any] = field(default_factory=dict)

    @property
    def time(self) -> str | None:
        """The column of times that the model was fitted by."""
        return self.as_fitted.get("time")

    def table(self, rows: Source, *, may_be_empty: bool = False) -> Table:
        """Return the rows of a file with the columns of the model."""
        # What was fitted in Python, without a label's column here, knows texts as they were in its table.
        return replace(rows.table(may_be_empty=may_be_empty), is_normal=bool(self.label))

    def of_labelled(self, rows: LabelledRows) -> tuple[Any, bool]:
        """Return the features of labelled rows, and whether these are the very rows of the fit."""
        features, known = self.features(replace(rows.table, is_normal=bool(self.label))), rows.known
        # A fit learns from the rows with a label alone.
        learnt = [features] if known is None else [features, features[known]]
        return features, self.training.get("rows_hash") in [*map(rows_hash, learnt)]

    def columns(self, table: Table) -> list[Column]:
        """Return the columns that the model was fitted on."""
        columns = table.model_columns(self.numeric, self.categorical)
        check_magnitudes(columns)
        return columns

    def features(self, table: Table) -> Any:
        """Return the matrix of the columns that the model was fitted on; warn of those that lie elsewhere."""
        features, spans = feature_matrix(table, self.columns(table)), self.training.get("spans", {})
        if moved := [*_moved(features, spans, self.training.get("rows", 1))]:
            how = "Check that columns are written as where the model was fitted"
            warn(f"{table.path} lies elsewhere than the rows of the fit: {'; '.join(moved)}. {how}.")
        return features

    def scores(self, rows: Any) -> Floats:
        """Return the score of every row of a table, or of the features of one, the higher the better."""
        features = self.features(rows) if isinstance(rows, Table) else rows
        # scikit-learn refuses a matrix without rows, which a quiet day has.
        return self.scores_of(features) if features.shape[0] else np.empty(0)

    def count_alerts(self, features: Any, scores: Floats) -> str:
        """Return how many rows reach the threshold, if there is one, and which column moved since the fit."""
        # What compares columns takes long to import, which models without a threshold need not wait for.
        from pushrank.monitoring.reference import most_moved

        return self.alert.count(scores, moved=most_moved(self.profiles, features)) if self.alert else ""

    @abstractmethod
    def scores_of(self, features: Any) -> Floats:
        """Return the score of every row of a matrix that has some."""

    def member_scores(self, _features: Any) -> dict[str, tuple[float, Floats]]:
        """Return the weights and the scores of the members of an ensemble; of other models none."""
        return {}


def _moved(features: Any, spans: dict[str, list[float]], n_fitted: int) -> Iterator[str]:
    """Yield which columns became empty, or lie mostly where hardly a row of the fit did."""
    least, share = BEYOND / max(len(spans), 1), BEYOND + 1.0 / n_fitted
    for name, (gaps, *ends) in spans.items() if len(features) else ():
        values = features[name].to_numpy()
        n = int(np.sum(~pd.isna(values)))
        if not n and (gaps == 0.0 or gaps ** len(values) < least):
            yield f"{name!r} is empty, before in {100.0 * gaps:.3g} % of rows"
        # By Chernoff's bound, half of n values are as seldom beyond an end.
        if n and ends and 2.0 * (4.0 * share * (1.0 - share)) ** (n / 2.0) < least:
            low, high = ends
            for side, end, is_beyond in (("below", low, values < low), ("above", high, values > high)):
                if 2 * np.sum(is_beyond) > n:
                    rows = f"{100.0 * np.mean(is_beyond):.0f} % of rows"
                    yield f"{name!r} is {side} {end:.4g} in {rows}, before in 1 %"


@dataclass(frozen=True, kw_only=True)
class StoredScorer(RowScorer):
    """A model by what its file notes, which spares the import of what it was fitted with."""

    scorer: Scorer

    @classmethod
    def load(cls, path: Path) -> StoredScorer | None:
        """Return what a file notes of a model, or None where that is not enough to score by."""
        noted = read_facts(path)
        if not (facts := noted.get("facts")) or not noted["scoring"] or not facts["numeric"]:
            return None
        if facts.get("format") != MODEL_FORMAT:
            return None
        return cls(
            name=facts["model"],
            alert=facts["alert"] and Alert(**facts["alert"]),
            scorer=Scorer(**noted["scoring"]),
            profiles=noted["profiles"],
            **{name: facts[name] for name in SCORER_FIELDS},
        )

    def scores_of(self, features: Any) -> Floats:
        return self.scorer.decision_function(features)
