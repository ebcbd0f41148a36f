"""Categorical columns of data frames, as numbers that weak rankers can bin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import OrdinalEncoder

from pushrank.weak_rankers import Stumps


def in_pandas(X: Any) -> Any:
    """Return a data frame of another library, such as polars, as one of pandas; anything else as it is."""
    return X.to_pandas() if hasattr(X, "to_pandas") else X


def categorical_numbers(family: Stumps, X: Any) -> list[int]:
    """Return the numbers of the features that ``categorical_features`` names.

    Raises
    ------
    ValueError
        When a name is not a column of the frame, or names are given without a frame.
    """
    chosen: Any = family.categorical_features
    is_frame = isinstance(X, pd.DataFrame)
    if isinstance(chosen, str):
        if chosen != "from_dtype" or not is_frame:
            return []
        return [number for number, dtype in enumerate(X.dtypes) if _is_category(dtype)]
    chosen = list(chosen)
    if not any(isinstance(feature, str) for feature in chosen):
        marks = np.asarray(chosen)
        return [int(number) for number in (np.flatnonzero(marks) if marks.dtype == bool else marks)]
    names = list(X.columns) if is_frame else []
    strangers = [feature for feature in chosen if feature not in names]
    if strangers:
        raise ValueError(
            f"categorical_features names {strangers[:5]}, which X has no column of; its columns are "
            f"{names[:10] if is_frame else 'unnamed: pass a data frame, or numbers of features'}."
        )
    return [names.index(feature) for feature in chosen]


def fitted_encoder(X: Any, numbers: list[int]) -> OrdinalEncoder | None:
    """Return an encoder of the frame's categorical columns; None where there is nothing to encode.

    Raises
    ------
    ValueError
        When a column that is no number is not among the categorical features.
    TypeError
        When the categories of a column have no order, or columns no names that are text.
    """
    if not isinstance(X, pd.DataFrame):
        return None
    names = [X.columns[number] for number in numbers]
    names += [name for name, dtype in X.dtypes.items() if _is_category(dtype) and name not in names]
    if len(names) > len(numbers):
        raise ValueError(
            f"columns {names[len(numbers) :][:5]} are categorical or text; name them in "
            "categorical_features, or encode them first."
        )
    if not names:
        return None
    if not all(isinstance(name, str) for name in X.columns):
        raise TypeError(
            "columns of categories are found again by their names, and a frame's names must then all be "
            "text: X.columns = X.columns.astype(str)."
        )
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
    )
    values = _objects(X, names)
    try:
        return encoder.fit(values)
    except TypeError as error:
        kinds = {name: sorted({type(value).__name__ for value in X[name].dropna()}) for name in names}
        mixed = {name: found for name, found in kinds.items() if len(found) > 1} or kinds
        raise TypeError(
            f"categories of one column must have an order, and those of {mixed} have none; make each column "
            "one type, for example by astype(str)."
        ) from error


def encoded(X: Any, encoder: OrdinalEncoder | None) -> Any:
    """Return the frame with its categorical columns as numbers; anything else as it is."""
    if encoder is None:
        return X
    X = in_pandas(X)
    if not isinstance(X, pd.DataFrame):
        return X
    names = list(encoder.feature_names_in_)
    missing = [name for name in names if name not in X.columns]
    if missing:
        return X  # the check of feature names will say it
    codes: NDArray[np.float64] = encoder.transform(_objects(X, names))
    return X.assign(**dict(zip(names, codes.T, strict=True)))


def _objects(X: pd.DataFrame, names: list[Any]) -> pd.DataFrame:
    """Return columns as objects, of whatever dtype a batch gives them, with NaN wherever one is missing."""
    values = {name: X[name].to_numpy(dtype=object, na_value=np.nan) for name in names}
    return pd.DataFrame(values, dtype=object)


def _is_category(dtype: Any) -> bool:
    return (
        isinstance(dtype, pd.CategoricalDtype)
        or pd.api.types.is_object_dtype(dtype)
        or (pd.api.types.is_string_dtype(dtype))
    )
