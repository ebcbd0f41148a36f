"""What a score is made of, by the columns that a user knows, and what raises a row above others."""

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from pushrank._array import to_host
from pushrank._numeric import Floats
from pushrank.user_types import MatrixLike

BLOCK_ROWS = 1000
"""Rows whose parts are in memory at once for a mean: encoded texts may have many columns."""


def score_parts(model: Any, X: Any) -> Floats:
    """Return the parts that a fitted model's scores are the sums of, by columns or members, the base last."""
    if isinstance(model, Pipeline):
        parts = score_parts(model[-1], model[:-1].transform(X))
        if hasattr(model[-1], "get_feature_names_out"):
            return parts
        columns = sources(model[:-1], np.arange(X.shape[1]))
        if len(columns) + 1 != parts.shape[1]:
            raise no_parts(model)
        sums = np.zeros((len(parts), X.shape[1] + 1))
        np.add.at(sums.T, np.append(columns, X.shape[1]), parts.T)
        return sums
    if hasattr(model, "_parts"):
        return np.asarray(model._parts(X))
    if hasattr(model, "coef_") and len(getattr(model, "classes_", ())) == 2:
        return linear_parts(model, np.asarray(X) if hasattr(X, "iloc") else X)
    raise no_parts(model)


def linear_parts(model: Any, X: Any) -> Floats:
    """Return coefficients times features, and the intercept last."""
    products = (X.toarray() if sp.issparse(X) else X) * np.ravel(to_host(model.coef_)).astype(np.float64)
    return np.column_stack([products, np.full(len(products), np.ravel(model.intercept_)[0])])


def no_parts(model: BaseEstimator) -> TypeError:
    """Return the error of a model whose scores cannot be taken apart."""
    return TypeError(
        f"the scores of {type(model).__name__} are no sum over features; shap.Explainer(ranker."
        "decision_function, X) explains any scores."
    )


def mean_parts(model: BaseEstimator, X: MatrixLike) -> Floats:
    """Return the means of the parts over rows, but for the base."""
    n_rows = _num_samples(X)
    blocks = (slice(start, start + BLOCK_ROWS) for start in range(0, n_rows, BLOCK_ROWS))
    sums = [score_parts(model, _safe_indexing(X, rows))[:, :-1].sum(axis=0) for rows in blocks]
    return np.asarray(np.sum(sums, axis=0) / n_rows)


def sources(step: object, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the column that each output of a preprocessing step is made of."""
    if isinstance(step, Pipeline):
        for _, part in step.steps:
            columns = sources(part, columns)
        return columns
    if isinstance(step, ColumnTransformer):
        parts = [(part, step._transformer_to_input_indices[name]) for name, part, _ in step.transformers_]
        return np.concatenate(
            [sources(part, columns[at]) for part, at in parts if len(at) and part != "drop"]
        )
    if isinstance(step, OneHotEncoder):
        named = copy(step).set_params(feature_name_combiner=lambda name, _: name).get_feature_names_out()
        names = getattr(step, "feature_names_in_", [f"x{number}" for number in range(len(columns))])
        return columns[[list(names).index(name) for name in named]]
    if isinstance(step, SimpleImputer) and step.add_indicator:
        return np.append(columns, columns[step.indicator_.features_])
    one_to_one = isinstance(step, FunctionTransformer) and step.feature_names_out == "one-to-one"
    if one_to_one or isinstance(step, OneToOneFeatureMixin | SimpleImputer) or step == "passthrough":
        return columns
    raise no_parts(step)


def reasons(model: Any, X: Any, over: Any, n: int) -> list[list[str]]:
    """Return the n columns that raise each row's score most beyond their means over other rows, in words."""
    more = score_parts(model, X)[:, :-1] - mean_parts(model, over)
    last = model[-1] if isinstance(model, Pipeline) else model
    is_of_members = hasattr(last, "get_feature_names_out")
    names = (
        last.get_feature_names_out() if is_of_members else getattr(X, "columns", np.arange(X.shape[1]) + 1)
    )

    def text(row: int, column: int) -> str:
        part = more[row, column]
        shown = f"{part:+.2g}" if abs(part) < 100.0 else f"{part:+,.0f}"
        if is_of_members:
            return f"{names[column]}: {shown}"
        value = X.iloc[row, column] if hasattr(X, "iloc") else X[row, column]
        if not isinstance(value, str):
            value = "missing" if value != value else f"{float(value):,.{'6g' if abs(value) < 1e6 else '0f'}}"
        return f"{names[column]} {value}: {shown}"

    first = np.argsort(-more, axis=1, kind="stable")[:, :n]
    return [[text(row, at) for at in chosen if more[row, at] > 0.0] for row, chosen in enumerate(first)]
