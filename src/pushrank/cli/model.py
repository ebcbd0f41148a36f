"""Models by name, the preprocessing that is saved with them, and the file that ``pushrank fit`` writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

from pushrank import estimators, persistence
from pushrank.cli.columns import feature_frame
from pushrank.cli.errors import InputError, warn
from pushrank.cli.read import DEFAULT_FORMAT, Table, TextFormat, read_table
from pushrank.exceptions import ModelFileError
from pushrank.model_selection._fits import model_scores
from pushrank.model_selection.compare import POWERS, default_rankers

FORMAT = 3
MAX_CATEGORIES = 100  # one-hot columns of a text column: its rarest values share the last of them


def kebab_case(name: str) -> str:
    """Return ``PNormPush`` as ``pnorm-push``, ``IRPush`` as ``ir-push``, ``RankBoost`` as ``rank-boost``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])", "-", name).lower()


MODELS: dict[str, type[BaseEstimator]] = {
    **{kebab_case(name): getattr(estimators, name) for name in estimators.__all__},
    "logistic-regression": LogisticRegression,
    "gradient-boosting": HistGradientBoostingClassifier,
    "random-forest": RandomForestClassifier,
}
KNOW_GAPS = {"HistGradientBoostingClassifier", "LGBMClassifier", "PushLGBMRanker"}
"""Models that split columns as they are: a matrix without gaps, one column a word, only slows them down."""
STANDARD_ALPHA = 0.1
"""The penalty on tables: their columns are standardised, so that one strength suits them all."""


def models_with(option: str) -> str:
    """Return the names of the models that have an option."""
    return ", ".join(sorted(name for name, model in MODELS.items() if option in model().get_params()))


def make_model(name: str, seed: int = 0, **options: Any) -> BaseEstimator:
    """Return a model by its name, with the options that are not None, and a seed where it draws.

    Names that ``compare`` prints are known, too, such as "P-Norm Push, p = 8".
    """
    power = re.fullmatch(r"P-Norm Push, p = (\d+(?:\.\d+)?)", name)
    compared = default_rankers((float(power[1]),) if power else POWERS)
    if name == "lightgbm":
        try:
            model = import_module("pushrank.interop.lightgbm").PushLGBMRanker("binary")
        except ImportError as error:
            raise InputError(f"--model lightgbm: {error}") from error
    elif name in MODELS or name in compared:
        model = compared[name] if name in compared else MODELS[name]()
    else:
        raise InputError(
            f"--model {name!r} is not known; choose one of {', '.join(sorted(MODELS))}, lightgbm, or a name "
            "that compare prints, such as 'boosted stumps, p = 16'."
        )
    if name == "logistic-regression":
        model.set_params(max_iter=1000)
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in model.get_params():
            raise InputError(
                f"--{option.replace('_', '-')} is not an option of --model {name}, but of "
                f"{models_with(option)}."
            )
    if "random_state" in model.get_params():
        given["random_state"] = seed
    return model.set_params(**given)


def penalty(model: BaseEstimator, alpha: float | None, *, sparse: bool) -> float | None:
    """Return the L2 strength that a model is fitted with, or None where it has none.

    Where ``alpha`` is None, rankers take 0.1 on tables and their own default on libsvm files.
    """
    own: float | None = model.get_params().get("alpha")
    if own is None or (alpha is None and sparse):
        return own
    return STANDARD_ALPHA if alpha is None else alpha


def make_tree_preprocessor(numeric: list[str], categorical: list[str]) -> BaseEstimator:
    """Return what makes raw columns a matrix for trees that know gaps: text as numbers, nothing scaled."""
    words = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        encoded_missing_value=np.nan,
        max_categories=MAX_CATEGORIES,
    )
    return ColumnTransformer([("numbers", "passthrough", numeric), ("words", words, categorical)])


def make_preprocessor(numeric: list[str], categorical: list[str], *, sparse: bool) -> BaseEstimator:
    """Return what makes raw columns a matrix: numbers scaled, gaps filled, text one-hot encoded.

    A missing number takes the mean, which is zero once scaled and needs no sorting of the column as the
    median does, and columns with gaps get an indicator.
    """
    if sparse:
        return MaxAbsScaler()
    numbers = make_pipeline(
        StandardScaler(),
        SimpleImputer(
            strategy="constant", fill_value=0.0, add_indicator=True, keep_empty_features=True, copy=False
        ),
    )
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES)
    return ColumnTransformer([("numbers", numbers, numeric), ("words", words, categorical)])


def make_ranking_pipelines(
    models: Mapping[str, BaseEstimator],
    numeric: list[str],
    categorical: list[str],
    *,
    sparse: bool,
    alpha: float | None = None,
) -> dict[str, Pipeline]:
    """Return pipelines from raw columns to scores, those of a kind with one and the same preprocessing."""
    matrix = make_preprocessor(numeric, categorical, sparse=sparse)
    trees = matrix if sparse else make_tree_preprocessor(numeric, categorical)
    pipelines = {}
    for name, model in models.items():
        strength = penalty(model, alpha, sparse=sparse)
        ranker = model if strength is None else clone(model).set_params(alpha=strength)
        columns = trees if type(model).__name__ in KNOW_GAPS else matrix
        pipelines[name] = Pipeline([("scale" if sparse else "columns", columns), ("rank", ranker)])
    return pipelines


def fingerprint(features: Any) -> str:
    """Return what the same rows have in common, in whatever order they come."""
    if sp.issparse(features):
        features = pd.DataFrame({"sum": features @ np.arange(1.0, features.shape[1] + 1.0)})
    return f"{pd.util.hash_pandas_object(features, index=False).to_numpy().sum():016x}"


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
    training: dict[str, Any] = field(default_factory=dict)
    calibrator: Any = None

    def save(self, path: Path) -> None:
        """Write the model, whole or not at all."""
        fields = {key: value for key, value in asdict(self).items() if key != "pipeline"}
        content = {"format": FORMAT, "pushrank": version("pushrank"), **fields, "pipeline": self.pipeline}
        persistence.save(content, path)

    @classmethod
    def load(cls, path: Path) -> SavedModel:
        """Read a model, or raise InputError of a file that is missing, damaged, not trusted or no model."""
        try:
            content = persistence.load_content(path)
        except FileNotFoundError as error:
            raise InputError(f"{path} does not exist; fit a model first: pushrank fit.") from error
        except (OSError, ModelFileError) as error:
            raise InputError(str(error)) from error
        if not isinstance(content, dict):
            return cls.from_python(content, path)
        if "format" not in content:
            raise InputError(f"{path} was not written by pushrank fit.")
        if content["format"] < FORMAT:
            raise InputError(f"{path} was written by an earlier pushrank; fit the model again.")
        if content["format"] > FORMAT:
            raise InputError(
                f"{path} was written by pushrank {content['pushrank']}; install that version or later."
            )
        return cls(**{key: value for key, value in content.items() if key not in ("format", "pushrank")})

    @classmethod
    def from_python(cls, model: Any, path: Path) -> SavedModel:
        """Return a model that ``pushrank.save`` wrote; without column names it takes libsvm files."""
        if not hasattr(model, "decision_function") or not hasattr(model, "n_features_in_"):
            raise InputError(f"{path} holds no fitted ranker: save a ranker or pipeline after fit.")
        names = [str(name) for name in getattr(model, "feature_names_in_", [])]
        first = model[0] if isinstance(model, Pipeline) else None
        encoders = (
            [part for _, part, _ in first.transformers_] if isinstance(first, ColumnTransformer) else []
        )
        words = {name for part in encoders if hasattr(part, "categories_") for name in part.feature_names_in_}
        return cls(
            model,
            kebab_case(type(model[-1] if isinstance(model, Pipeline) else model).__name__),
            label="",
            positive=str(model.classes_[-1]),
            numeric=[name for name in names if name not in words],
            categorical=[name for name in names if name in words],
            sparse=not names,
            n_features=int(model.n_features_in_),
        )

    def read(self, path: Path, written: TextFormat = DEFAULT_FORMAT, *, may_be_empty: bool = False) -> Table:
        """Read rows of the kind that the model was fitted on."""
        n_features = self.n_features if self.sparse else None
        table = read_table(path, written, n_features, may_be_empty=may_be_empty)
        if table.is_sparse != self.sparse:
            wanted = "a libsvm file" if self.sparse else "a table with named columns"
            raise InputError(f"{path}: the model was fitted on {wanted}; give it rows of that kind.")
        return table

    def scores(self, table: Table) -> NDArray[np.float64]:
        """Return the score of every row, the higher the better; warn of columns whose values are unknown."""
        features: Any = feature_frame(table, self.numeric, self.categorical)
        if not len(table):
            return np.empty(0)
        for place, name in enumerate(self.categorical if self.label else ()):  # of a pipeline of our own
            self._warn_of_unknown_values(table, name, features[name].dropna(), place)
        return model_scores(self.pipeline, features)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities to be positive that were calibrated to scores at fit time."""
        if self.calibrator is None:
            raise InputError("the model gives no probabilities; fit it with --probability.")
        if not len(scores):
            return scores
        return np.asarray(self.calibrator.predict_proba(scores[:, None])[:, 1], dtype=np.float64)

    def _warn_of_unknown_values(self, table: Table, name: str, values: Any, place: int) -> None:
        known = self.pipeline.named_steps["columns"].named_transformers_["words"].categories_[place]
        unknown = values[~values.isin(known)]
        if len(unknown):
            warn(
                f"column {name!r} of {table.path}: {len(unknown):,} of {len(values):,} values "
                f"({100 * len(unknown) / len(values):.3g} %) are unknown to the model, such as "
                f"{unknown.iloc[0]!r}; it knows {', '.join(map(repr, known[:5]))}"
                + ", ..." * (len(known) > 5)
                + ". Check that the column is written as where the model was fitted."
            )
