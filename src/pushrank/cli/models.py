"""Models by name, and the preprocessing that is saved with them."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from pushrank import estimators
from pushrank.cli.categories import Categories
from pushrank.cli.errors import InputError


def kebab_case(name: str) -> str:
    """Return ``PNormPush`` as ``pnorm-push`` and ``IRPush`` as ``ir-push``.

    Examples
    --------
    >>> kebab_case("TopBottomPush"), kebab_case("IRPush"), kebab_case("PNormPush")
    ('top-bottom-push', 'ir-push', 'pnorm-push')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])", "-", name).lower()


MODELS: dict[str, type[BaseEstimator]] = {
    **{kebab_case(name): getattr(estimators, name) for name in estimators.__all__},
    "logistic-regression": LogisticRegression,
}


STANDARD_ALPHA = 0.1
"""The penalty on tables: their columns are standardised, so that one strength suits them all."""


def models_with(option: str) -> str:
    """Return the names of the models that have an option."""
    return ", ".join(sorted(name for name, model in MODELS.items() if option in model().get_params()))


def make_model(name: str, seed: int = 0, **options: Any) -> BaseEstimator:
    """Return a model by its name, with the options that are not None, and the seed where it draws at random.

    Raises
    ------
    InputError
        When the name is not known or the model has no such option.
    """
    if name not in MODELS:
        raise InputError(f"--model {name!r} is not known; choose one of {', '.join(sorted(MODELS))}.")
    defaults = {"max_iter": 1000} if MODELS[name] is LogisticRegression else {}
    model = MODELS[name](**defaults)
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in model.get_params():
            raise InputError(f"--{option.replace('_', '-')} is not an option of --model {name}.")
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


def make_ranking_pipeline(
    model: BaseEstimator,
    numeric: list[str],
    categorical: list[str],
    *,
    sparse: bool,
    alpha: float | None = None,
) -> Pipeline:
    """Return a pipeline from raw columns to scores: imputed, scaled, one-hot encoded, ranked."""
    strength = penalty(model, alpha, sparse=sparse)
    if strength is not None:
        model = clone(model).set_params(alpha=strength)
    if sparse:
        return Pipeline([("scale", MaxAbsScaler()), ("rank", model)])
    numbers = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True), StandardScaler()
    )
    words = make_pipeline(Categories(), OneHotEncoder(handle_unknown="ignore"))
    columns = ColumnTransformer([("numbers", numbers, numeric), ("words", words, categorical)])
    return Pipeline([("columns", columns), ("rank", model)])


def fit_quietly(pipeline: Pipeline, X: Any, y: np.ndarray) -> list[str]:
    """Fit, and return the warnings to the user as lines of text.

    Raises
    ------
    InputError
        When the estimator refuses its parameters or the data.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            pipeline.fit(X, y)
        except (ValueError, TypeError) as error:
            raise InputError(str(error)) from error
    for warning in caught:
        if not issubclass(warning.category, UserWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return sorted(
        {
            " ".join(str(warning.message).split())
            for warning in caught
            if issubclass(warning.category, UserWarning)
        }
    )
