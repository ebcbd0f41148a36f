"""Categorical columns of data frames as numbers, for stumps."""

from collections.abc import Collection
from contextlib import suppress
from datetime import date, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import OrdinalEncoder

from pushrank._base.user_types import MatrixLike
from pushrank._base.validation import warn
from pushrank.weak_rankers import Stumps
from pushrank.weak_rankers.base import WeakRankers


def encode_categories(
    learner: WeakRankers, X: MatrixLike, last_fit: Any = None
) -> tuple[Any, OrdinalEncoder | None]:
    """Return the rows with categorical columns, which stumps alone take, as numbers, and their encoder."""
    if not isinstance(learner, Stumps):
        return X, None
    X = _to_pandas(X)
    chosen: Any = learner.categorical_features
    X = _with_numbers(X, () if isinstance(chosen, str) else chosen)
    numbers = _categorical_numbers(learner, X)
    # After a warm start each category keeps its number.
    encoder = _fitted_encoder(X, numbers) if last_fit is None else last_fit._encoder
    learner.set_params(categorical_features=numbers or "from_dtype")
    return encode(X, encoder), encoder


def encode(X: Any, encoder: OrdinalEncoder | None) -> MatrixLike:
    """Return a data frame with its categorical columns as numbers, and any other X unchanged."""
    X = _to_pandas(X)
    names = [] if encoder is None else list(encoder.feature_names_in_)
    X = _with_numbers(X, names)
    # The check of feature names that follows has the better error for a column that is missing.
    if encoder is None or not (_is_pandas(X) and set(names) <= set(X.columns)):
        return X
    codes: NDArray[np.float64] = encoder.transform(_objects(X, names))
    return X.assign(**dict(zip(names, codes.T, strict=True)))


def _to_pandas(X: MatrixLike) -> MatrixLike:
    """Return a data frame of another library, such as polars, as one of pandas, and any other X unchanged."""
    return X.to_pandas() if hasattr(X, "to_pandas") else X


def _with_numbers(X: Any, categorical: Collection[Any]) -> Any:
    """Return a data frame with numbers that are held as objects, such as Decimals, as float64."""
    # Categorical columns, by name or number, stay as they are, and so does any other X. Dates that are held
    # as objects are refused, as columns of dates are: each new one would be an unknown category.
    if not _is_pandas(X):
        return X
    frame = X.copy(deep=False)
    for number, (name, dtype) in enumerate(X.dtypes.items()):
        is_chosen = name in categorical or number in categorical
        if is_chosen or not str(dtype).startswith(("object", "decimal")):
            continue
        column = X.iloc[:, number].astype(object)
        kinds = {type(value) for value in column.dropna()}
        if any(issubclass(kind, date | timedelta | np.datetime64 | np.timedelta64) for kind in kinds):
            raise ValueError(
                f"X must hold numbers or text, and column {number} ({name!r}) holds dates: make numbers of "
                "them, such as days since a date, the hour or the weekday."
            )
        if kinds and all(issubclass(kind, Real | Decimal | np.bool_) for kind in kinds):
            frame.isetitem(number, column.where(column.notna(), np.nan).astype(np.float64))
    return frame


def _is_pandas(X: MatrixLike) -> bool:
    # An isinstance check would import pandas, which is an optional dependency.
    return hasattr(X, "iloc") and hasattr(X, "columns")


def _categorical_numbers(stumps: Stumps, X: Any) -> list[int]:
    """Return the numbers of the features that ``categorical_features`` names."""
    chosen: Any = stumps.categorical_features
    is_frame = _is_pandas(X)
    if isinstance(chosen, str):
        if chosen != "from_dtype" or not is_frame:
            return []
        numbers = [number for number, dtype in enumerate(X.dtypes) if _is_category(dtype)]
        for number in numbers:
            _warn_of_numbers(X.iloc[:, number])
        return numbers
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


def _warn_of_numbers(texts: Any) -> None:
    """Warn where all texts of a column are numbers, and those of new rows would be unknown categories."""
    if not hasattr(texts, "cat") and texts.notna().any():
        with suppress(ValueError, TypeError):
            texts.dropna().astype(np.float64)
            warn(
                f"column {texts.name!r} holds numbers as texts, which are taken for categories, and any that "
                "was not fitted to counts as missing: make numbers of them by pandas.to_numeric, or, if "
                "they are codes, categories by astype('category')."
            )


def _fitted_encoder(X: Any, numbers: list[int]) -> OrdinalEncoder | None:
    """Return an encoder of the frame's categorical columns; None where there is nothing to encode."""
    if not _is_pandas(X):
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
            "categorical columns are matched by their names, and a frame's names must then all be text: "
            "X.columns = X.columns.astype(str)."
        )
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
    )
    try:
        return encoder.fit(_objects(X, names))
    except TypeError as error:
        types = {name: sorted({type(value).__name__ for value in X[name].dropna()}) for name in names}
        mixed = {name: several for name, several in types.items() if len(several) > 1} or types
        raise TypeError(
            f"categories of one column must have an order, and those of {mixed} have none; make each column "
            "one type, for example by astype(str)."
        ) from error


def _objects(X: Any, names: list[Any]) -> Any:
    """Return columns of dtype object with NaN for missing values, since the dtype varies between batches."""
    import pandas as pd

    values = {name: X[name].to_numpy(dtype=object, na_value=np.nan) for name in names}
    return pd.DataFrame(values, dtype=object)


def _is_category(dtype: object) -> bool:
    import pandas as pd

    # What pandas takes for texts is objects, too.
    return isinstance(dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(dtype)
