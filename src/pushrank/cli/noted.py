"""Scores of models by what their files note, without the import of what they were fitted with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank._io import read_facts
from pushrank.cli.alerts import Alert
from pushrank.cli.columns import check_magnitudes, feature_matrix
from pushrank.cli.read import read_rows
from pushrank.cli.table import Table, TextFormat


@dataclass(frozen=True, kw_only=True)
class NotedScorer:
    """A model of scaled numbers, whose gaps take the mean and are marked in columns ``gaps``.

    Its methods are those of a ``SavedModel``, and its scores the same to the last bit.
    """

    numeric: list[str]
    mean: list[float]
    scale: list[float]
    gaps: list[int]
    threshold: float
    alert: Alert | None

    @classmethod
    def load(cls, path: Path) -> NotedScorer | None:
        """Return what a file notes of a model to score by, or None where it notes nothing."""
        noted = read_facts(path)
        if not noted or not (numbers := noted["scoring"]):
            return None
        alert = noted["facts"]["alert"] and Alert(**noted["facts"]["alert"])
        return (LinearScorer if "coef" in numbers else StumpScorer)(**numbers, alert=alert)

    def read(self, path: Path, text_format: TextFormat, *, may_be_empty: bool) -> Table:
        """Read rows of the kind that the model was fitted on."""
        return read_rows(path, text_format, None, sparse=False, may_be_empty=may_be_empty)

    def features(self, table: Table) -> Any:
        """Return the columns that the model was fitted on."""
        columns = table.model_columns(self.numeric, [])
        check_magnitudes(columns)
        return feature_matrix(table, columns)

    def scores(self, features: pd.DataFrame) -> NDArray[np.float64]:
        """Return the score of every row, the higher the better."""
        if not len(features):
            return np.empty(0)
        numbers = (features.to_numpy() - self.mean) / self.scale
        is_missing = np.isnan(numbers)
        numbers = np.ascontiguousarray(np.where(is_missing, 0.0, numbers))
        # The pipeline joins marks of gaps to columns, and a sum over a row may round by how it lies.
        if self.gaps:
            numbers = np.asfortranarray(np.hstack([numbers, is_missing[:, self.gaps]]))
        return self.totals(numbers) - self.threshold

    def totals(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of rows, before the threshold is subtracted."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LinearScorer(NotedScorer):
    """A linear model."""

    coef: list[float]

    def totals(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of rows, before the threshold is subtracted."""
        # Stumps do without these compiled sums.
        from pushrank.models import linear_scores

        return np.asarray(linear_scores(numbers, np.array(self.coef)))


@dataclass(frozen=True, kw_only=True)
class StumpScorer(NotedScorer):
    """Boosted stumps: a constant, and the thresholds of each column used with the values between them."""

    constant: float
    steps: list[tuple[int, list[float], list[float]]]

    def totals(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of rows, before the threshold is subtracted."""
        totals = np.zeros(len(numbers))
        for column, thresholds, values in self.steps:
            totals += np.array(values)[np.searchsorted(thresholds, numbers[:, column])]
        return totals + self.constant
