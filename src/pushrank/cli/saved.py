"""Saved models as commands use them: by what a file notes where that is enough, or loaded whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pushrank.cli.alerts import Alert
from pushrank.cli.columns import check_magnitudes, feature_matrix, row_hashes
from pushrank.cli.read import read_rows
from pushrank.cli.table import Column, Table
from pushrank.cli.text_format import DEFAULT_FORMAT, TextFormat
from pushrank.files import read_facts
from pushrank.interop.scorer import Scorer
from pushrank.user_types import Floats

if TYPE_CHECKING:
    from pushrank.cli.labels import LabelledRows
NOTED = ("label", "positive", "training", "numeric", "categorical", "n_features")
"""What a model's file notes of it under the same names."""


def fingerprint(features: Any) -> str:
    """Return a hash that the same rows share, in whatever order they come."""
    return f"{row_hashes(features).sum():016x}"


@dataclass(frozen=True, kw_only=True)
class RowScorer(ABC):
    """A fitted model by its name, the columns it was fitted on, and its label."""

    name: str
    label: str
    positive: str
    numeric: list[str]
    categorical: list[str]
    sparse: bool
    n_features: int
    training: dict[str, Any] = field(default_factory=dict)
    alert: Alert | None = None

    def read(
        self, path: Path, text_format: TextFormat = DEFAULT_FORMAT, *, may_be_empty: bool = False
    ) -> Table:
        """Read rows of the kind that the model was fitted on."""
        n_features = self.n_features if self.sparse else None
        return read_rows(path, text_format, n_features, sparse=self.sparse, may_be_empty=may_be_empty)

    def read_labelled(
        self, path: Path, text_format: TextFormat, label: str | None, positive: str | None, drop: bool = False
    ) -> tuple[LabelledRows, Any, bool]:
        """Return rows with labels, their features, and whether they are the very rows of the fit."""
        from pushrank.cli.labels import label_rows

        table = self.read(path, text_format)
        column = table.labels(label or self.label or None)
        rows = label_rows(table, column, positive or self.positive, drop_unlabelled=drop)
        features = self.features(rows.table)
        return rows, features, self.training.get("fingerprint") == fingerprint(features)

    def columns(self, table: Table) -> list[Column]:
        """Return the columns that the model was fitted on."""
        columns = table.model_columns(self.numeric, self.categorical)
        check_magnitudes(columns)
        return columns

    def features(self, table: Table) -> Any:
        """Return the matrix of the columns that the model was fitted on."""
        return feature_matrix(table, self.columns(table))

    def scores(self, rows: Any) -> Floats:
        """Return the score of every row of a table, or of the features of one, the higher the better."""
        features = self.features(rows) if isinstance(rows, Table) else rows
        # scikit-learn refuses a matrix without rows, which a quiet day has.
        return self.scores_of(features) if features.shape[0] else np.empty(0)

    @abstractmethod
    def scores_of(self, features: Any) -> Floats:
        """Return the score of every row of a matrix that has some."""

    def member_scores(self, _features: Any) -> dict[str, tuple[float, Floats]]:
        """Return the weights and the scores of the members of an ensemble; of other models none."""
        return {}


@dataclass(frozen=True, kw_only=True)
class NotedModel(RowScorer):
    """A model by what its file notes, which spares the import of what it was fitted with."""

    scorer: Scorer

    @classmethod
    def load(cls, path: Path) -> NotedModel | None:
        """Return what a file notes of a model, or None where that is not enough to score by."""
        noted = read_facts(path)
        if not (facts := noted.get("facts")) or not noted["scoring"] or not facts["numeric"]:
            return None
        return cls(
            name=facts["model"],
            sparse=False,
            alert=facts["alert"] and Alert(**facts["alert"]),
            scorer=Scorer(**noted["scoring"]),
            **{name: facts[name] for name in NOTED},
        )

    def scores_of(self, features: Any) -> Floats:
        """Return the score of every row of a matrix that has some."""
        return self.scorer.decision_function(features)
