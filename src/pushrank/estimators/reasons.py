"""What a score is made of, by the columns that a user knows, and what raises a row above others."""

from copy import copy
from functools import partial
from importlib import import_module
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
from sklearn.utils.validation import _num_samples, check_is_fitted

from pushrank._base.numeric import Floats
from pushrank._base.user_types import MatrixLike, Seed
from pushrank.estimators.shapley import blocks, sampled_parts, stacked, taken
from pushrank.held_out.fits import model_scores

__all__ = ["explain", "has_exact_parts", "leaving", "parts_over", "reason_texts"]

BLOCK_ROWS = 1000
"""Rows whose parts are in memory at once for a mean: encoded texts may have many columns."""

BOOSTED = {"LGBMClassifier", "XGBClassifier"}
"""Known by their names, since their libraries may not be installed."""


def explain(
    model: Any, X: Any, *, over: Any = None, random_state: Seed = 0, return_error: bool = False
) -> Any:
    """Return what each column adds to the score of each row, and the base that it is added to.

    The parts of a row add up to ``decision_function``, or to the log-odds of ``predict_proba``, up to
    rounding: coefficients times features, of stumps the values of a step function of each feature, and of
    boosters the library's TreeSHAP values. Of a pipeline they are by the columns that it takes: what encoders
    make of one is added up. Of other scores, such as those of forests and a ``StackingRanker``, they are
    Shapley values by sampling: what a score rises in the mean as the cells of a row take the places of those
    of another one by one, in random orders. These need `over`, without which they are a TypeError.

    Parameters
    ----------
    model : estimator
        A fitted pipeline, ranker or classifier of two classes.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows with the features of ``fit``. Sparse rows have dense parts: explain few of them.
    over : array-like, sparse matrix or data frame of shape (n_others, n_features), optional
        Rows to compare with: a single one, to say why rows stand above it, or many. Each part is then what it
        is beyond its mean over these rows, whose mean score is the base. By sampling they are 100 of these at
        most, drawn, or 20 where features are many, and a row is scored some thousand times.
    random_state : int, RandomState or None, default=0
        The seed of what is drawn.
    return_error : bool, default=False
        Whether to return the standard errors of sampling, too.

    Returns
    -------
    parts : ndarray of shape (n_samples, n_features + 1), or DataFrame
        The base comes last. Of a pandas frame it is a frame with the names of ``fit``, and ``"base"``.
    errors : ndarray of shape (n_samples, n_features + 1), or DataFrame
        Zeros where parts are not sampled. Only with `return_error`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pushrank import PNormPush
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> parts = explain(make_pipeline(StandardScaler(), PNormPush()).fit(X, y == 0), X)
    >>> parts.columns[-2:].tolist()
    ['worst fractal dimension', 'base']
    """
    check_is_fitted(model)
    if hasattr(model, "feature_names_in_"):
        # Columns are known by their names, in any order, and parts are in that of the fit.
        for of in (X, over):
            if lacking := {*model.feature_names_in_} - {*of.columns} if hasattr(of, "iloc") else ():
                raise ValueError(f"rows lack features of the fit: columns {sorted(lacking)}.")
        X, over = (of[[*model.feature_names_in_]] if hasattr(of, "iloc") else of for of in (X, over))
    found = parts_over(model, X, over, random_state)
    if hasattr(X, "iloc"):
        found = tuple(type(X)(each, index=X.index, columns=[*X.columns, "base"]) for each in found)
    return found if return_error else found[0]


def score_parts(model: Any, X: Any) -> Floats:
    """Return the parts by columns that a fitted model's scores, or their log-odds, are sums of, base last."""
    if isinstance(model, Pipeline) and len(model.steps) == 1:
        return score_parts(model[-1], X)
    if isinstance(model, Pipeline):
        parts = score_parts(model[-1], model[:-1].transform(X))
        columns = sources(model[:-1], np.arange(X.shape[1]))
        if len(columns) + 1 != parts.shape[1]:
            raise no_parts(model)
        sums = np.zeros((len(parts), X.shape[1] + 1))
        np.add.at(sums.T, np.append(columns, X.shape[1]), parts.T)
        return sums
    if hasattr(model, "_parts"):
        return np.asarray(model._parts(X))
    # LightGBM has no TreeSHAP values of trees with linear leaves.
    has_shap = type(model).__name__ in BOOSTED and not getattr(model, "linear_tree", False)
    if has_shap and len(getattr(model, "classes_", ())) == 2:
        return booster_parts(model, X)
    if hasattr(model, "coef_") and len(getattr(model, "classes_", ())) == 2:
        return linear_parts(model, np.asarray(X) if hasattr(X, "iloc") else X)
    raise no_parts(model)


def booster_parts(model: Any, X: Any) -> Floats:
    """Return the TreeSHAP values of the log-odds, by the library that grew the trees, and the base last."""
    if type(model).__name__ == "LGBMClassifier":
        parts = model.predict(X, pred_contrib=True)
    else:
        rounds = 0, getattr(model, "best_iteration", -1) + 1
        matrix = import_module("xgboost").DMatrix(
            X, missing=model.missing, nthread=model.n_jobs, enable_categorical=True
        )
        parts = model.get_booster().predict(matrix, pred_contribs=True, iteration_range=rounds)
    return np.asarray(parts.toarray() if sp.issparse(parts) else parts, dtype=np.float64)


def linear_parts(model: Any, X: Any) -> Floats:
    """Return coefficients times features, and the intercept last."""
    products = (X.toarray() if sp.issparse(X) else X) * np.ravel(np.asarray(model.coef_)).astype(np.float64)
    return np.column_stack([products, np.full(len(products), np.ravel(model.intercept_)[0])])


class NotASumError(TypeError):
    """Scores that are no sum over columns, and can be explained by sampling alone."""


def no_parts(model: BaseEstimator) -> NotASumError:
    """Return the error of a model whose scores cannot be taken apart."""
    return NotASumError(
        f"the scores of {type(model).__name__} are no sum over features: pass over=, rows to compare with."
    )


def has_exact_parts(model: Any, X: Any) -> bool:
    """Return whether a model's scores are sums over columns, by some rows."""
    try:
        score_parts(model, X)
    except NotASumError:
        return False
    return True


def parts_over(model: Any, X: Any, over: Any, random_state: Seed = 0) -> tuple[Floats, Floats]:
    """Return what columns add to scores beyond other rows, the base last, and standard errors of samples."""
    if over is not None and not has_exact_parts(model, _safe_indexing(X, slice(0, 1))):
        return sampled_parts(partial(model_scores, model), X, over, random_state)
    parts = score_parts(model, X)
    if over is not None:
        mean = mean_parts(model, over)
        parts[:, :-1] -= mean
        parts[:, -1] += mean.sum()
    return parts, np.zeros_like(parts)


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


def shown(value: Any) -> str:
    """Return a cell in words."""
    if isinstance(value, str):
        return value
    return "missing" if value != value else f"{float(value):,.{'6g' if abs(value) < 1e6 else '0f'}}"


def cell(X: Any, row: int, column: int) -> Any:
    """Return a cell of a frame, an array or a sparse matrix."""
    value = X.iloc[row, column] if hasattr(X, "iloc") else X[row, column]
    return np.nan if type(value).__name__ in ("NoneType", "NAType") else value


def reason_texts(X: Any, parts: Floats, errors: Floats, n: int) -> list[list[str]]:
    """Return the n columns that raise each row's score most by its parts, in words."""
    names = getattr(X, "columns", np.arange(X.shape[1]) + 1)

    def text(row: int, column: int) -> str:
        part, error = parts[row, column], errors[row, column]
        number = f"{part:+.2g}" if abs(part) < 100.0 else f"{part:+,.0f}"
        # Columns that stand in few orders, of which all were drawn, are off by rounding alone.
        stated = f" ± {error:.1g}" if error > 1e-6 * part else ""
        return f"{names[column]} {shown(cell(X, row, column))}: {number}{stated}"

    first = np.argsort(-parts[:, :-1], axis=1, kind="stable")[:, :n]
    return [[text(row, at) for at in chosen if parts[row, at] > 0.0] for row, chosen in enumerate(first)]


def leaving(model: Any, X: Any, over: Any, parts: Floats, n: int, cut: float) -> list[str]:
    """Return how one of the n columns that raise a row most would alone take its score below the cut."""
    # Its cell takes the place of those of other rows. A number leaves by all smaller or all larger values
    # beyond one of them, a text by all others.
    names, both, n_columns = getattr(X, "columns", np.arange(X.shape[1]) + 1), stacked(X, over), X.shape[1]
    first = np.argsort(-parts[:, :-1], axis=1, kind="stable")[:, :n]
    trials = [(row, at) for row, chosen in enumerate(first) for at in chosen if parts[row, at] > 0.0]
    others = np.arange(len(parts), both.shape[0])
    texts = [""] * len(parts)

    def rows_of_trial(trial: tuple[int, int]) -> NDArray[np.intp]:
        numbers = np.full((len(others), n_columns), trial[0])
        numbers[:, trial[1]] = others
        return numbers

    for block in blocks(iter(trials), lambda _: len(others) * n_columns):
        scores = taken(both, np.concatenate([*map(rows_of_trial, block)]), partial(model_scores, model))
        for (row, at), of_trial in zip(block, scores.reshape(len(block), -1), strict=True):
            values = np.array([cell(both, other, at) for other in others], dtype=object)
            if not texts[row] and (words := _leaves_by(cell(X, row, at), values, of_trial < cut)):
                texts[row] = f"{names[at]} {words}"
    return texts


def _leaves_by(cell: Any, values: NDArray[Any], leaves: NDArray[np.bool_]) -> str:
    """Return for which values a row would leave the list, in words; nothing where not for all beyond one."""
    if isinstance(cell, str) or cell != cell:
        # Gaps are equal to each other, though they are not as numbers.
        differ = values == values if cell != cell else values != cell
        return f"not {shown(cell)}" if leaves[differ].any() and leaves[differ].all() else ""
    values = values.astype(np.float64)
    for words, sign in (("at most", 1.0), ("at least", -1.0)):
        beyond = sign * values < sign * cell
        stay = beyond & ~leaves
        # No value that stays may lie beyond the limit.
        limit = np.min(sign * values[stay], initial=np.inf)
        passing = sign * values[beyond & (sign * values < limit)]
        if len(passing):
            return f"{words} {shown(sign * passing.max())}"
    return ""
