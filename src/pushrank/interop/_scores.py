"""What a fitted model does to a matrix of numbers, and the formula of its scores: for every export."""

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from pushrank._base.numeric import Floats
from pushrank.estimators._base import RankerMixin
from pushrank.estimators.stacking import StackingRanker
from pushrank.models import Kernel
from pushrank.weak_rankers import Stumps
from pushrank.weak_rankers.stumps import StepFunction

SCALERS: dict[type, tuple[tuple[str, str], ...]] = {
    StandardScaler: (("-", "mean_"), ("/", "scale_")),
    RobustScaler: (("-", "center_"), ("/", "scale_")),
    MinMaxScaler: (("*", "scale_"), ("+", "min_")),
    MaxAbsScaler: (("/", "scale_"),),
}
"""The operations of each scaler on its columns, by fitted attributes; None stands for no operation."""


class LinearScores(NamedTuple):
    """Scores ``X @ coef``, summed in float64 and rounded to the dtype of the coefficients."""

    coef: NDArray[np.floating]


class StepScores(NamedTuple):
    """Scores that add up step functions of single features."""

    functions: Sequence[StepFunction]
    intercept: float


class KernelScores(NamedTuple):
    """Scores ``kernel(X, vectors) @ weights``."""

    kernel: Kernel
    vectors: Floats
    weights: Floats


Scores = LinearScores | StepScores | KernelScores


def final_ranker(model: BaseEstimator) -> Any:
    """Return the estimator that a search has chosen and fitted, and any other model as it is."""
    return getattr(model, "best_estimator_", model)


def steps_of(model: Any) -> Iterator[Any]:
    """Yield the steps of a pipeline, and of pipelines and searches within it, if they do anything."""
    model = final_ranker(model)
    if isinstance(model, Pipeline):
        for _, step in model.steps:
            yield from steps_of(step)
    elif not (model in (None, "passthrough") or (isinstance(model, FunctionTransformer) and not model.func)):
        yield model


def features_of(step: Any) -> list[Any]:
    """Return the names of the columns that a fitted step takes, or their numbers where it knows none."""
    names = getattr(step, "feature_names_in_", None)
    # Steps that read texts have no number of features; they are refused later.
    width = getattr(step, "n_features_in_", 0)
    return [str(name) for name in names] if names is not None else list(range(width))


def operations_of(step: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield what a fitted step does to a matrix of numbers: operations with a name and a value for each."""
    if type(step) in SCALERS and not getattr(step, "clip", False):
        for sign, attribute in SCALERS[type(step)]:
            value = getattr(step, attribute)
            if value is not None and (attribute != "mean_" or step.with_mean):
                yield sign, attribute.rstrip("_").upper(), value
    elif isinstance(step, SimpleImputer) and _is_of_numbers(step):
        fill = step.statistics_.astype(np.float64)
        yield "fill", "FILL", fill
        # SimpleImputer leaves out columns that held no value at all.
        if np.isnan(fill).any():
            yield "keep", "KEPT", np.flatnonzero(~np.isnan(fill))
        if step.indicator_ is not None and len(step.indicator_.features_):
            yield "mark", "GAPS", step.indicator_.features_.tolist()
    else:
        raise TypeError(
            f"{step!r} before the ranker cannot be exported: scalers, SimpleImputer of numbers, and "
            "OneHotEncoder in a ColumnTransformer can; others export to ONNX."
        )


def _is_of_numbers(imputer: SimpleImputer) -> bool:
    """Return whether an imputer fills NaN with numbers."""
    are_numbers = all(isinstance(fill, Real) for fill in imputer.statistics_)
    return are_numbers and imputer.missing_values != imputer.missing_values


def parts_of(
    transformer: ColumnTransformer, features: list[Any]
) -> Iterator[tuple[list[Any], list[Any], float]]:
    """Yield the steps, the columns and the weight of each part of a transformer that makes columns."""
    for name, step, _ in transformer.transformers_:
        columns = [features[number] for number in transformer._transformer_to_input_indices[name]]
        if columns and not (isinstance(step, str) and step == "drop"):
            yield [*steps_of(step)], columns, float((transformer.transformer_weights or {}).get(name, 1.0))


def description_of(model: BaseEstimator) -> dict[str, Any] | None:
    """Return the parameters of the ``Scorer`` of a model as values of JSON; None where it needs more."""
    *steps, ranker = [*steps_of(model)] or [model]
    columns = features_of([*steps, ranker][0])
    try:
        if steps and isinstance(steps[0], ColumnTransformer):
            check_is_fitted(steps[0])
            parts = [*parts_of(steps.pop(0), columns)]
            if len(parts) != 1 or parts[0][2] != 1.0:
                return None
            [(before, columns, _)] = parts
            steps = before + steps
        # More than two classes have several rows of coefficients.
        by_blas = type(ranker) is LogisticRegression and len(getattr(ranker, "coef_", [])) == 1
        formula = LinearScores(ranker.coef_[0]) if by_blas else fitted_scores(ranker)
        operations = [
            (sign, np.asarray(value).tolist()) for step in steps for sign, _, value in operations_of(step)
        ]
    except (TypeError, NotFittedError):
        return None
    threshold = float(-ranker.intercept_[0] if by_blas else ranker.threshold_)
    known = {"features": columns, "operations": operations, "threshold": threshold}
    if isinstance(formula, LinearScores) and formula.coef.dtype == np.float64:
        return known | {"coef": formula.coef.tolist()} | ({"by_blas": True} if by_blas else {})
    if isinstance(formula, StepScores) and all(step.categories is None for step in formula.functions):
        steps = [(step.feature, step.thresholds.tolist(), step.values.tolist()) for step in formula.functions]
        return known | {"constant": formula.intercept, "steps": steps}
    return None


def fitted_scores(ranker: BaseEstimator) -> Scores:
    """Return the formula of a fitted ranker's scores before ``threshold_`` is subtracted."""
    name = type(ranker).__name__
    if not isinstance(ranker, RankerMixin):
        raise TypeError(f"{name} is no ranker of pushrank: export it to ONNX, by skl2onnx.")
    check_is_fitted(ranker, "threshold_")
    if hasattr(ranker, "coef_"):
        return LinearScores(np.asarray(np.asarray(ranker.coef_)))
    if isinstance(getattr(ranker, "weak_rankers_", None), Stumps):
        if ranker._encoder is not None:
            raise TypeError(
                f"{name} was fitted to columns of text, which cannot be exported: encode them by an "
                "OrdinalEncoder in a ColumnTransformer before it, and name them in "
                "Stumps(categorical_features=...) by number."
            )
        # A negative index is the constant, which ``constant_`` holds.
        moved = ranker.estimator_index_ >= 0
        functions = ranker.weak_rankers_.step_functions(
            ranker.estimator_index_[moved], ranker.estimator_weights_[moved]
        )
        return StepScores(functions, float(ranker.constant_))
    if hasattr(ranker, "dual_coef_"):
        if callable(ranker.kernel):
            raise TypeError(f"{name} has a kernel that is a function, which cannot be exported.")
        # Where X holds kernel values, scores are linear in it; without support vectors they are zero.
        if ranker.kernel == "precomputed" or not len(ranker.support_):
            coef = np.zeros(ranker.n_features_in_)
            if ranker.kernel == "precomputed":
                coef[ranker.support_] = ranker.dual_coef_
            return LinearScores(coef)
        vectors = ranker.support_vectors_
        vectors = vectors.toarray() if hasattr(vectors, "toarray") else vectors
        kernel = Kernel(ranker.kernel, ranker.gamma_, int(ranker.degree), float(ranker.coef0))
        return KernelScores(kernel, vectors, ranker.dual_coef_)
    if isinstance(ranker, StackingRanker):
        raise TypeError(
            f"{name} cannot be exported, for it adds up the ranks or scores of its members "
            f"({'; '.join(ranker.named_estimators_)}) on its own scale: score by its "
            "saved file, or fit and export the member that suits you best."
        )
    raise TypeError(f"{name} cannot be exported: linear scores, sums of stumps and kernels can.")


def label_cuts(ranker: BaseEstimator) -> Floats | None:
    """Return the scores that a row must exceed for each class above the lowest; None without classes."""
    if getattr(ranker, "classes_", None) is None:
        return None
    if len(ranker.classes_) == 2:
        return np.zeros(1)
    return np.asarray(ranker.thresholds_ - ranker.threshold_)
