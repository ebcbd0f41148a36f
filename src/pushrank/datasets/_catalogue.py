"""The catalogue of data sets, read from ``catalogue.toml``, and how their rows become ranking tasks."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DataSet", "Task", "catalogue"]

FILE = Path(__file__).with_name("catalogue.toml")
WHOLE = "all"
"""The key of ``counts`` for a set without splits."""


class Task(NamedTuple):
    """The rows of a file as a ranking task: the features, the class of each row and the names of classes."""

    rows: pd.DataFrame
    features: tuple[str, ...]
    target: pd.Series
    target_names: list[str]


@dataclass(frozen=True)
class DataSet:
    """A data set, with the fields that ``catalogue.toml`` explains."""

    name: str
    title: str
    reference: str
    features: tuple[str, ...]
    meaning: str
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    uncounted: int = 0
    stem: str = ""
    notes: str = ""
    licence: str = "not stated in the copy; look it up at the origin before redistributing"
    options: Mapping[str, object] = field(default_factory=dict)
    task: str = "labels"
    targets: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    openml: int | None = None
    bundled_decimals: int | None = None
    openml_order: tuple[str, ...] = ()
    openml_sparse: bool = False
    extra: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    labelled: bool = True

    @property
    def file(self) -> str:
        """Name of the Parquet file."""
        return f"{self.stem or self.name}.parquet"

    @property
    def rows(self) -> int:
        """The number of rows in all."""
        return self.uncounted + sum(sum(labels.values()) for labels in self.counts.values())

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, () if the source has none."""
        return tuple(split for split in self.counts if split != WHOLE)

    @property
    def labels(self) -> list[str]:
        """The original labels in alphabetical order, [] if they are numbers."""
        return sorted({label for counts in self.counts.values() for label in counts})

    def prepare(self, rows: pd.DataFrame, options: Mapping[str, object]) -> Task:
        """Return rows of the file as a ranking task."""
        if self.task == "river":
            # CHAS is the target, and MEDV, the label of the file, is a feature on request.
            features = tuple(name for name in self.features if name != "CHAS")
            features += ("MEDV",) if options["medv"] else ()
            rows = rows.rename(columns={"label": "MEDV"})
            return Task(rows, features, rows["CHAS"], ["CHAS = 0", "CHAS = 1"])
        if self.task == "threshold":
            threshold = options["threshold"]
            names = [f"rings <= {threshold}", f"rings > {threshold}"]
            return Task(rows, self.features, rows["label"] > threshold, names)
        if self.task == "grades":
            return Task(rows, self.features, rows["label"], self.labels)
        if self.task == "assay":
            tested = rows[rows[options["target"]].notna()]
            return Task(tested, self.features, tested[options["target"]], ["0", "1"])
        if self.task == "molecules":
            # ChEMBL's decoys have "zinc" in place of a target, and belong to every target.
            rows = rows[rows["target"].isin([str(options["target"]), "zinc"])]
        positive = str(options["positive"])
        others = [label for label in self.labels if label != positive]
        names = [others[0] if len(others) == 1 else "rest", positive]
        return Task(rows, self.features, rows["label"] == positive, names)


@cache
def catalogue() -> Mapping[str, DataSet]:
    """Return all data sets by their names."""
    # The file is read on demand: it would take a part of the time of every import.
    data_sets = {}
    for name, fields in tomllib.loads(FILE.read_text("utf-8")).items():
        if isinstance(fields["features"], int):
            fields["features"] = " ".join(f"f{column}" for column in range(fields["features"]))
        for key in ("features", "text", "extra", "targets", "openml_order"):
            fields[key] = tuple(fields.get(key, "").split())
        data_set = DataSet(name, **fields)
        split = {"split": None} if data_set.splits else {}
        data_sets[name] = replace(data_set, options={**data_set.options, **split})
    return data_sets
