"""Labelled rows as every command that learns reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank.cli.columns import column_kinds, feature_frame
from pushrank.cli.errors import warn
from pushrank.cli.labels import label_column, positive_rows
from pushrank.cli.tables import Table, read_table
from pushrank.cli.text_format import AS_USUAL, TextFormat


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
    def read(
        cls,
        path: Path,
        label: str | None,
        positive: str | None,
        excluded: Sequence[str] | None = None,
        written: TextFormat = AS_USUAL,
    ) -> Self:
        """Read a file, and warn of columns that are doubtful.

        Raises
        ------
        InputError
            When it cannot be read, or its label or a feature cannot be used.
        """
        table = read_table(path, written=written)
        column = label_column(table, label)
        y, positive_value = positive_rows(table, column, positive)
        numeric, categorical, doubts = column_kinds(table, column, excluded or [])
        for doubt in doubts:
            warn(doubt)
        features = feature_frame(table, numeric, categorical)
        return cls(table, column, y, positive_value, numeric, categorical, features)

    @property
    def meaning(self) -> str:
        """What makes a row positive."""
        return f"{self.label} = {self.positive}"

    @property
    def said_of_features(self) -> str:
        """How the columns were read."""
        if self.table.is_sparse:
            return f"{self.features.shape[1]:,} sparse features"
        numbers = f"{len(self.numeric)} numeric column{'s' * (len(self.numeric) != 1)}"
        if not self.categorical:
            return numbers
        shown = ", ".join(map(repr, self.categorical[:10])) + ", ..." * (len(self.categorical) > 10)
        return f"{numbers} and {len(self.categorical)} of text ({shown})"

    @property
    def shown(self) -> pd.DataFrame:
        """The rows to show: features as they were read, what was left out as it is in the file."""
        frame = self.table.frame.drop(columns=self.label)
        if not self.excluded:
            return frame
        return frame.assign(**self.table.as_written(np.arange(len(frame)), self.excluded))

    @property
    def excluded(self) -> list[str]:
        """The columns that were left out."""
        return [
            name for name in self.table.frame if name not in (self.label, *self.numeric, *self.categorical)
        ]
