"""Labelled rows from files, with the features that models learn from and score, as one matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import typer
from numpy.typing import NDArray

from pushrank.cli import options
from pushrank.cli.column_checks import MIN_ROWS_TO_WARN, check_magnitudes, usable_columns
from pushrank.cli.errors import InputError, warn
from pushrank.cli.options import option
from pushrank.cli.read import read_table
from pushrank.cli.table import (
    Column,
    Kind,
    LabelledRows,
    Table,
    TextFormat,
    feature_columns,
    label_rows,
    model_columns,
    numbers_in,
)


@dataclass(frozen=True)
class LabelledSource:
    """Where labelled rows come from."""

    data: Annotated[
        Path,
        typer.Argument(help="Labelled rows: .csv, .tsv, .txt, .xlsx, .json, .parquet, .libsvm; - is stdin."),
    ]
    label: str | None = option("The column that holds the label.")
    positive: str | None = option(
        "The label to rank at the top. By default 1 of 0 and 1, the larger of two other numbers, yes of "
        "yes and no, and true of true and false; everything else needs it."
    )
    drop_unlabelled: options.DropUnlabelled = False


@dataclass(frozen=True)
class FeatureSource(LabelledSource):
    """Where labelled rows come from, and which of their columns are left out."""

    exclude: list[str] | None = option("A column to leave out, such as an identifier; may be repeated.")


@dataclass(frozen=True)
class LabelledFeatures(LabelledRows):
    """Labelled rows with their features, and what they count for in fits.

    The rows of a test file come after the ``n_learnt`` rows to learn from.
    """

    numeric: list[str]
    categorical: list[str]
    features: Any
    weights: NDArray[np.float64] | None
    n_learnt: int

    @property
    def learnt(self) -> LabelledFeatures:
        """The rows to learn from."""
        part = slice(self.n_learnt)
        weights = None if self.weights is None else self.weights[part]
        return replace(self, y=self.y[part], features=self.features[part], weights=weights)

    def describe_features(self) -> str:
        """Return how the columns were read."""
        if self.table.is_sparse:
            return f"{self.features.shape[1]:,} sparse features"
        numbers = f"{len(self.numeric):,} numeric column{'s' * (len(self.numeric) != 1)}"
        if not self.categorical:
            return numbers
        shown = ", ".join(map(repr, self.categorical[:10])) + ", ..." * (len(self.categorical) > 10)
        texts = f"{len(self.categorical):,} text column{'s' * (len(self.categorical) != 1)}"
        return f"{numbers} and {texts} ({shown})"

    @property
    def rows_to_show(self) -> pd.DataFrame:
        """The rows to show: features of numbers as numbers, all else as it is in the file."""
        frame = self.table.frame.drop(columns=self.label)
        return frame.assign(**{name: self.features[name] for name in self.numeric})

    @property
    def excluded(self) -> list[str]:
        """The columns that were left out."""
        used = {self.label, *self.numeric, *self.categorical}
        return [name for name in self.table.frame if name not in used]


def read_features(
    source: FeatureSource,
    text_format: TextFormat,
    weight: str | None = None,
    set_aside: Mapping[str, str | None] | None = None,
) -> LabelledFeatures:
    """Read a file with labels, refuse columns that cannot be used, and warn of those that are doubtful.

    ``weight`` is the column of what rows count for. Neither it nor those that ``set_aside`` names, by the
    options that name them, are features.
    """
    table = read_table(source.data, text_format)
    rows = label_rows(table, source.label, source.positive, drop_unlabelled=source.drop_unlabelled)
    table, n_rare = rows.table, int(min(rows.y.sum(), (~rows.y).sum()))
    if n_rare < MIN_ROWS_TO_WARN:
        are = "row is" if n_rare == 1 else "rows are"
        warn(f"only {n_rare} {are} of one of the two classes: what is learnt and measured rests on few.")
    aside = {**(set_aside or {}), "weight": weight}
    columns = feature_columns(table, rows.label, source.exclude or [], aside)
    # What options name is refused before all columns are checked, which prints warnings.
    weights = None if weight is None else numbers_in(table, weight, "weight", 0.0)
    columns = usable_columns(table, columns, rows.y)
    return LabelledFeatures(
        **vars(rows),
        numeric=[column.name for column in columns if column.kind is Kind.NUMBER],
        categorical=[column.name for column in columns if column.kind is not Kind.NUMBER],
        features=feature_matrix(table, columns),
        weights=weights,
        n_learnt=len(table),
    )


def with_test_rows(
    rows: LabelledFeatures, path: Path, text_format: TextFormat, weight: str | None, *, drop_unlabelled: bool
) -> LabelledFeatures:
    """Return rows to learn from followed by those of a test file."""
    table = read_table(path, text_format, rows.features.shape[1] if rows.table.is_sparse else None)
    if table.is_sparse != rows.table.is_sparse:
        raise InputError(f"{path} is not of the kind of {rows.table.path}; give --test rows of that kind.")
    test = label_rows(table, rows.label, rows.positive, drop_unlabelled=drop_unlabelled)
    columns = model_columns(test.table, rows.numeric, rows.categorical)
    check_magnitudes(columns)
    parts = [rows.features, feature_matrix(test.table, columns)]
    features = sp.csr_matrix(sp.vstack(parts)) if table.is_sparse else pd.concat(parts, ignore_index=True)
    frame = pd.concat([rows.table.frame, test.table.frame], ignore_index=True)
    weights = None
    if weight is not None:
        weights = np.concatenate([rows.weights, numbers_in(test.table, weight, "weight", 0.0)])
    return replace(
        rows,
        table=replace(rows.table, frame=frame, features=features if table.is_sparse else None),
        y=np.concatenate([rows.y, test.y]),
        features=features,
        weights=weights,
    )


def feature_matrix(table: Table, columns: list[Column]) -> Any:
    """Return columns as a data frame: floats, then texts, with NaN where they are missing."""
    if table.is_sparse:
        return table.features
    numeric = [column for column in columns if column.kind is Kind.NUMBER]
    # A single block of floats: scikit-learn takes it without a copy for each column.
    numbers = np.array([column.values for column in numeric]).reshape(len(numeric), len(table))
    features = pd.DataFrame(numbers.T, index=table.frame.index, columns=[column.name for column in numeric])
    texts = {column.name: column.values for column in columns if column.kind is not Kind.NUMBER}
    return pd.concat([features, pd.DataFrame(texts, index=table.frame.index)], axis=1) if texts else features
