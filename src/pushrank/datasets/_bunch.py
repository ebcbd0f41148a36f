"""From canonical rows to what a loader returns: a Bunch, or the pair (X, y)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import Bunch

from pushrank.datasets._catalogue import CATALOGUE, DataSet
from pushrank.datasets._source import read

DataHome = str | os.PathLike[str] | None


def load_binary(
    name: str,
    *,
    positive: str | None = None,
    rest: str | None = None,
    extra: Mapping[str, str] | None = None,
    split: str | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Return a set whose label has named classes, with ``positive`` as class 1.

    Raises
    ------
    ValueError
        When ``positive`` is not a label of the set, or ``split`` not one of its splits.
    """
    record = CATALOGUE[name]
    positive = record.positive if positive is None else str(positive)
    labels = sorted({label for counts in record.counts.values() for label in counts})
    if positive not in labels:
        raise ValueError(f"positive={positive!r} is not a label of {name!r}; use one of {labels}.")
    check_split(record, split)
    frame, source = read(record, data_home)
    negative = rest if rest is not None else next(label for label in labels if label != positive)
    return bundle(
        record,
        frame,
        target=np.asarray(frame["label"] == positive, dtype=np.int64),
        target_names=[negative, positive],
        source=source,
        split=split,
        extra=extra,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def check_split(record: DataSet, split: str | None) -> None:
    """Refuse a split that the set does not have.

    Raises
    ------
    ValueError
        When ``split`` is neither None nor a split of the set.
    """
    if split is not None and split not in record.splits:
        raise ValueError(
            f"split={split!r} is not known for {record.name!r}; use one of {[*record.splits, None]}."
        )


def bundle(
    record: DataSet,
    frame: pd.DataFrame,
    *,
    target: npt.NDArray[np.int64],
    target_names: list[str],
    source: str,
    features: tuple[str, ...] | None = None,
    split: str | None = None,
    extra: Mapping[str, str] | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Bunch | tuple[Any, Any]:
    """Return the rows of one split as scikit-learn's loaders do.

    ``extra`` maps a name in the Bunch to the column of ``frame`` it shows, one value a row. Without
    ``as_frame`` numbers come as a float64 matrix, mixed columns as an object matrix, and a single text
    column (SMILES) as a one-dimensional object array of strings.
    """
    features = record.features if features is None else features
    keep = np.ones(len(frame), dtype=bool) if split is None else (frame["split"] == split).to_numpy()
    rows = frame[keep].reset_index(drop=True)
    data: Any = rows[list(features)]
    labels: Any = pd.Series(target[keep], name="target")
    table = pd.concat([data, labels], axis=1) if as_frame else None
    if not as_frame:
        text_only = len(features) == 1 and features[0] in record.text
        data = rows[features[0]].to_numpy(dtype=object) if text_only else data.to_numpy()
        labels = labels.to_numpy()
    elif len(features) == 1:
        data = data[features[0]]
    if return_X_y:
        return data, labels
    shown = {"split": "split"} if "split" in rows else {}
    columns = {name: rows[column].to_numpy() for name, column in {**shown, **(extra or {})}.items()}
    return Bunch(
        data=data,
        target=labels,
        feature_names=list(features),
        target_names=target_names,
        frame=table,
        DESCR=describe(record, source),
        source=source,
        **columns,
    )


def describe(record: DataSet, source: str) -> str:
    """Return the text that a Bunch shows as ``DESCR``."""
    counts = "; ".join(
        f"{split}: " + ", ".join(f"{label} {count}" for label, count in labels.items())
        for split, labels in record.counts.items()
        if labels
    )
    lines = [
        record.title,
        "",
        f"Rows: {record.rows}; features: {len(record.features)}",
        *([f"Original labels: {counts}"] if counts else []),
        f"Positive: {record.meaning}",
        f"Reference: {record.reference}",
        f"Licence: {record.licence}",
        f"Read from: {source}",
    ]
    return "\n".join(lines)
