"""Labelled rows as every command that learns reads them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pushrank.cli.labels import label_column, positive_rows
from pushrank.cli.models import column_kinds
from pushrank.cli.tables import Table, feature_frame, read_table


@dataclass(frozen=True)
class Labelled:
    """A table, which of its rows are positive, and its features."""

    table: Table
    label: str
    y: NDArray[np.bool_]
    positive: str
    numeric: list[str]
    categorical: list[str]
    features: Any

    @classmethod
    def read(cls, path: Path, label: str | None, positive: str | None) -> Self:
        """Read a file.

        Raises
        ------
        InputError
            When it cannot be read, or its label or a feature cannot be used.
        """
        table = read_table(path)
        column = label_column(table, label)
        y, positive_value = positive_rows(table, column, positive)
        numeric, categorical = column_kinds(table, column)
        features = feature_frame(table, numeric, categorical)
        return cls(table, column, y, positive_value, numeric, categorical, features)

    @property
    def meaning(self) -> str:
        """What makes a row positive."""
        return f"{self.label} = {self.positive}"
