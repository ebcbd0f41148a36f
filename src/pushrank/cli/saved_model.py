"""What ``pushrank fit`` saves: the pipeline, and how to read the rows it wants."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

import pushrank
from pushrank import persistence
from pushrank.cli.columns import feature_frame
from pushrank.cli.errors import InputError, warn
from pushrank.cli.marks import doubts_of_marks
from pushrank.cli.tables import Table, read_table
from pushrank.cli.text_format import AS_USUAL, TextFormat
from pushrank.exceptions import ModelFileError

FORMAT = 2


@dataclass(frozen=True)
class SavedModel:
    """A fitted pipeline with the columns it was fitted on and its label."""

    pipeline: Pipeline
    name: str
    label: str
    positive: str
    numeric: list[str]
    categorical: list[str]
    sparse: bool
    n_features: int

    def save(self, path: Path) -> None:
        """Write the model, whole or not at all."""
        fields = {key: value for key, value in asdict(self).items() if key != "pipeline"}
        content = {"format": FORMAT, "pushrank": pushrank.__version__, **fields, "pipeline": self.pipeline}
        persistence.save(content, path)

    @classmethod
    def load(cls, path: Path) -> SavedModel:
        """Read a model.

        Raises
        ------
        InputError
            When the file is missing, damaged, not trusted, or of another format.
        """
        try:
            content = persistence.load(path)
        except FileNotFoundError as error:
            raise InputError(f"{path} does not exist; fit a model first: pushrank fit.") from error
        except (OSError, ModelFileError) as error:
            raise InputError(str(error)) from error
        if not isinstance(content, dict) or "format" not in content:
            raise InputError(f"{path} was not written by pushrank fit.")
        if content["format"] < FORMAT:
            raise InputError(f"{path} was written by an earlier pushrank; fit the model again.")
        if content["format"] > FORMAT:
            raise InputError(
                f"{path} was written by pushrank {content['pushrank']}; install that version or later."
            )
        return cls(**{key: value for key, value in content.items() if key not in ("format", "pushrank")})

    def read(self, path: Path, written: TextFormat = AS_USUAL) -> Table:
        """Read rows of the kind that the model was fitted on; its text columns are text in every file.

        Raises
        ------
        InputError
            When they cannot be read, or are of the other kind.
        """
        table = read_table(path, self.n_features if self.sparse else None, self.categorical, written)
        if table.is_sparse != self.sparse:
            wanted = "a libsvm file" if self.sparse else "a table with named columns"
            raise InputError(f"{path}: the model was fitted on {wanted}; give it rows of that kind.")
        return table

    def scores(self, table: Table) -> NDArray[np.float64]:
        """Return the score of every row, the higher the better; warn of columns whose values are unknown."""
        features: Any = feature_frame(table, self.numeric, self.categorical)
        for doubt in doubts_of_marks(table, self.numeric):
            warn(doubt)
        self._warn_of_unknown_values(table.path, features)
        return np.asarray(self.pipeline.decision_function(features), dtype=np.float64)

    def _warn_of_unknown_values(self, path: Path, features: Any) -> None:
        if not self.categorical:
            return
        categories = self.pipeline.named_steps["columns"].named_transformers_["words"][0]
        for place, name in enumerate(self.categorical):
            values = features[name].dropna()
            unknown = values[~categories.is_known(place, values)]
            if len(unknown):
                known = categories.kept_[place]
                warn(
                    f"column {name!r} of {path}: {len(unknown):,} of {len(values):,} values "
                    f"({100 * len(unknown) / len(values):.3g} %) are unknown to the model, such as "
                    f"{unknown.iloc[0]!r}; it knows {', '.join(map(repr, known[:5]))}"
                    + ", ..." * (len(categories.known_[place]) > 5)
                    + ". Check that the column is written as where the model was fitted."
                )
