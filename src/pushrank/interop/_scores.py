"""The formula of a fitted ranker's scores, for export: coefficients, steps or a kernel."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pushrank._array import to_host
from pushrank._numeric import Floats
from pushrank.estimators._base import RankerMixin
from pushrank.estimators.stacking import StackingRanker
from pushrank.models import Kernel
from pushrank.weak_rankers import Stumps
from pushrank.weak_rankers.stumps import StepFunction


class LinearScores(NamedTuple):
    """Scores ``X @ coef``, summed in float64 and rounded to the dtype of the coefficients."""

    coef: NDArray[np.floating]


class StepScores(NamedTuple):
    """Scores that add up step functions of single features."""

    functions: list[StepFunction]
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


def fitted_scores(ranker: BaseEstimator) -> Scores:
    """Return the formula of a fitted ranker's scores before ``threshold_`` is subtracted."""
    name = type(ranker).__name__
    if not isinstance(ranker, RankerMixin):
        raise TypeError(f"{name} is no ranker of pushrank: export it to ONNX, by skl2onnx.")
    check_is_fitted(ranker, "threshold_")
    if hasattr(ranker, "coef_"):
        return LinearScores(np.asarray(to_host(ranker.coef_)))
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
    if hasattr(ranker, "booster_"):
        raise TypeError(
            f"{name} scores by trees of another library, whose model is ranker.booster_: export that, by its "
            "own save_model or, of XGBoost, by onnxmltools.convert_xgboost, and take ranker.threshold_ from "
            "its scores."
        )
    if isinstance(ranker, StackingRanker):
        raise TypeError(
            f"{name} cannot be exported, for it adds up the ranks or scores of its members "
            f"({'; '.join(ranker.named_estimators_)}) on a scale of its own: score by its saved file, or fit "
            "and export the member that suits you best."
        )
    raise TypeError(f"{name} cannot be exported: linear scores, sums of stumps and kernels can.")


def label_cuts(ranker: BaseEstimator) -> Floats | None:
    """Return the scores that a row must exceed for each class above the lowest; None without classes."""
    if getattr(ranker, "classes_", None) is None:
        return None
    if len(ranker.classes_) == 2:
        return np.zeros(1)
    return np.asarray(ranker.thresholds_ - ranker.threshold_)
