"""How ``compare`` and ``report`` split rows: at random, by groups, by time, or into those of two files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, TimeSeriesSplit

from pushrank.cli.columns import LabelledTable, feature_frame, groups_in, label_column, labelled_rows
from pushrank.cli.errors import InputError, refusing
from pushrank.cli.read import Table, TextFormat, read_table
from pushrank.model_selection._folds import check_classes

if TYPE_CHECKING:
    from pushrank.cli.compare import ComparisonConfig


class Split(NamedTuple):
    """How rows are split: what :func:`compare_rankers` takes as `cv` and `groups`, and in words."""

    cv: Any
    groups: Any
    description: str


def with_test_rows(
    rows: LabelledTable, path: Path, written: TextFormat, *, drop_unlabelled: bool
) -> LabelledTable:
    """Return labelled rows followed by those of a test file."""
    table = read_table(path, written, rows.features.shape[1] if rows.table.is_sparse else None)
    if table.is_sparse != rows.table.is_sparse:
        raise InputError(f"{path} is not of the kind of {rows.table.path}; give --test rows of that kind.")
    column = label_column(table, rows.label)
    table, y, _ = labelled_rows(table, column, rows.positive, drop_unlabelled=drop_unlabelled)
    frame = pd.concat([rows.table.frame, table.frame], ignore_index=True)
    parts = [rows.features, feature_frame(table, rows.numeric, rows.categorical)]
    sparse = sp.csr_matrix(sp.vstack(parts)) if table.is_sparse else None
    return replace(
        rows,
        table=replace(rows.table, frame=frame, features=sparse),
        y=np.concatenate([rows.y, y]),
        features=pd.concat(parts, ignore_index=True) if sparse is None else sparse,
    )


def split_of(rows: LabelledTable, n_learnt: int, config: ComparisonConfig) -> Split:
    """Return how the rows are split."""
    folds, n_rows = config.folds, len(rows.y)
    draw = {"n_splits": folds, "shuffle": True, "random_state": config.seed}
    if config.test is not None:
        with refusing("--test: "):
            check_classes(rows.y[n_learnt:], folds)
        learnt = np.arange(n_learnt)
        parts = StratifiedKFold(**draw).split(np.zeros(n_rows - n_learnt), rows.y[n_learnt:])
        return Split([(learnt, n_learnt + part) for _, part in parts], None, f"tested on {config.test.name}")
    if config.time is not None:
        order = np.argsort(times_in(rows.table, config.time), kind="stable")
        parts = TimeSeriesSplit(folds).split(order)
        cv = [(order[train], order[test]) for train, test in parts]
        return Split(cv, None, f"{folds} test parts, each after its training part by {config.time}")
    if config.group is not None:
        groups = groups_in(rows.table, config.group)
        if len(set(groups)) < folds:
            raise InputError(
                f"--group {config.group!r} has {len(set(groups))} values, too few for {folds} parts; choose "
                "fewer --folds."
            )
        return Split(StratifiedGroupKFold(**draw), groups, f"{folds}-fold cross-validation by {config.group}")
    # nested, rows are split to measure, to choose a model, and for one of them p and alpha
    with refusing():
        check_classes(rows.y, folds, 3 if config.nested else 1)
    times = f", {config.repeats} times" if config.repeats > 1 else ""
    return Split(folds, None, f"{folds}-fold cross-validation{times}")


def times_in(table: Table, name: str) -> NDArray[Any]:
    """Return the numbers or dates of a column, as what can be put in order."""
    if table.is_numeric(name):
        times = pd.Series(table.numbers(name))
    else:
        times = pd.to_datetime(table.texts(name), format="ISO8601", errors="coerce", utc=True)
    if times.isna().any():
        row = int(np.argmax(times.isna()))
        raise InputError(
            f"--time {name!r} must hold numbers or dates such as 2024-12-31 in every row; row "
            f"{table.frame.index[row] + 1} of {table.path} holds {table.frame[name].iloc[row]!r}."
        )
    return np.asarray(times)
