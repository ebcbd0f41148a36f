"""Saved models with their whole pipelines, free of what makes and fits models."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from pushrank import persistence
from pushrank._base.files import MODEL_FORMAT
from pushrank._base.scores import model_scores
from pushrank._base.user_types import Floats
from pushrank.cli.errors import InputError, warn
from pushrank.cli.names import kebab_case
from pushrank.cli.saved import Alert, RowScorer
from pushrank.cli.source.table import Column, Table
from pushrank.exceptions import ModelFileError
from pushrank.monitoring import Reference


@dataclass(frozen=True, kw_only=True)
class SavedModel(RowScorer):
    """A fitted pipeline with the columns it was fitted on and its label."""

    pipeline: Pipeline
    calibrator: Any = None
    reference: Reference | None = None

    @classmethod
    def load(cls, path: Path) -> SavedModel:
        """Read a model, or raise InputError of a file that is missing, damaged, not trusted or no model."""
        try:
            content = persistence.load_content(path)
        except (OSError, ModelFileError) as error:
            raise InputError(str(error)) from error
        if not isinstance(content, dict):
            return cls.from_python(content, path)
        if "format" not in content:
            raise InputError(f"{path} was not written by pushrank fit.")
        if (written := content["format"]) != MODEL_FORMAT:
            way_out = "fit the model again" if written < MODEL_FORMAT else "install that version or later"
            writer = f"pushrank {content['pushrank']} in format {written}"
            raise InputError(f"{path} was written by {writer}, and this reads {MODEL_FORMAT}; {way_out}.")
        fields = {key: value for key, value in content.items() if key not in ("format", "pushrank")}
        alert, reference = fields["alert"], fields.get("reference")
        promised = {"alert": alert and Alert(**alert), "reference": reference and Reference.load(reference)}
        promised["training"] = fields["training"] | {
            "spans": json.loads(fields["training"].get("spans", "{}"))
        }
        return cls(**fields | promised | {"profiles": json.loads(fields.get("profiles", "{}"))})

    @classmethod
    def from_python(cls, model: Any, path: Path) -> SavedModel:
        """Return a model that ``pushrank.save`` wrote, of a data frame."""
        if not hasattr(model, "decision_function") or not hasattr(model, "n_features_in_"):
            raise InputError(f"{path} holds no fitted ranker: save a ranker or pipeline after fit.")
        names = [str(name) for name in getattr(model, "feature_names_in_", [])]
        if not names:
            raise InputError(
                f"{path} was fitted to an array, whose columns have no names: fit it to a data frame, or "
                "score in Python: pushrank.load."
            )
        first, last = (model[0], model[-1]) if isinstance(model, Pipeline) else (None, model)
        parts = [part for _, part, _ in first.transformers_] if isinstance(first, ColumnTransformer) else []
        words = {name for part in parts if hasattr(part, "categories_") for name in part.feature_names_in_}
        return cls(
            pipeline=model,
            name=kebab_case(type(last).__name__),
            label="",
            positive=str(model.classes_[-1]),
            numeric=[name for name in names if name not in words],
            categorical=[name for name in names if name in words],
        )

    def columns(self, table: Table) -> list[Column]:
        """Return the columns that the model was fitted on; warn of values that it does not know."""
        columns = super().columns(table)
        # A pipeline saved in Python, which has no label here, may handle unknown values in another way.
        if self.label and self.categorical:
            parts = self.pipeline.named_steps["columns"].named_transformers_
            encoders = [parts["words"], *(parts["texts"][:1] if "texts" in parts else ())]
            encoded = [known for part in encoders for known in getattr(part, "categories_", ())]
            # Columns of few texts stand before those of many, in the rows as in the encoders.
            for column, known in zip(columns[len(self.numeric) :], encoded, strict=True):
                _warn_of_unknown_values(column, known)
        return columns

    def scores_of(self, features: Any) -> Floats:
        return model_scores(self.pipeline, features)

    def member_scores(self, features: Any) -> dict[str, tuple[float, Floats]]:
        from pushrank import StackingRanker

        if not isinstance(self.ranker, StackingRanker):
            return super().member_scores(features)
        columns = zip(self.ranker.get_feature_names_out(), self.pipeline.transform(features).T, strict=True)
        return {name: (self.ranker.weights_[name], scores) for name, scores in columns}

    @property
    def ranker(self) -> Any:
        """The ranker at the end of the pipeline."""
        return self.pipeline[-1] if isinstance(self.pipeline, Pipeline) else self.pipeline

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities to be positive that were calibrated to scores at fit time."""
        if self.calibrator is None:
            raise InputError("the model gives no probabilities; fit it with --probability.")
        # scikit-learn refuses to predict for no rows, which a quiet day has.
        if not len(scores):
            return scores
        return np.asarray(self.calibrator.predict_proba(scores[:, None])[:, 1], dtype=np.float64)


def _warn_of_unknown_values(column: Column, known: Any) -> None:
    unknown = column.counts[~column.counts.index.isin(known)]
    if len(unknown):
        n_values, n_unknown = column.counts.sum(), unknown.sum()
        shown = ", ".join(map(repr, known[:5])) + ", ..." * (len(known) > 5)
        warn(
            f"{column}: {n_unknown:,} of {n_values:,} values ({100 * n_unknown / n_values:.3g} %) are "
            f"unknown to the model, such as {unknown.index[0]!r}; it knows {shown}. Check that the column is "
            "written as where the model was fitted."
        )
