"""Scores of linear models by what their files note, without the import of what they were fitted with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank._io import read_facts
from pushrank.cli.columns import check_magnitudes, feature_matrix
from pushrank.cli.read import read_rows
from pushrank.cli.table import Table, TextFormat
from pushrank.models import linear_scores


@dataclass(frozen=True)
class LinearScorer:
    """A linear model of scaled numbers, whose gaps take the mean and are marked in columns ``gaps``.

    Its methods are those of a ``SavedModel``, and its scores the same to the last bit.
    """

    numeric: list[str]
    mean: list[float]
    scale: list[float]
    gaps: list[int]
    coef: list[float]
    threshold: float
    alert: None = None

    @classmethod
    def load(cls, path: Path) -> LinearScorer | None:
        """Return what a file notes of a model, if that is linear and takes numbers alone."""
        facts = read_facts(path)
        return cls(**facts["linear"]) if facts and facts["linear"] else None

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
        return np.asarray(linear_scores(numbers, np.array(self.coef)) - self.threshold)
