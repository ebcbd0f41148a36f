"""ONNX: converters for skl2onnx, so that a pipeline with a ranker at its end converts as any other."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from pushrank import estimators
from pushrank._base.optional import import_optional
from pushrank._base.user_types import GenericArray
from pushrank._base.validation import warn
from pushrank.interop import _scores

if TYPE_CHECKING:
    from skl2onnx.common._topology import Operator, Scope, Variable

__all__ = ["register_converters"]

ALIAS = "PushrankRanker"
SINGLE = float(np.finfo(np.float32).eps)
# The rounding of a feature, as a share of its spread or of a score's unit, that changes a list.
MAX_ROUNDING = 0.02
# Labels of any other kind of dtype are texts.
LABEL_TYPES = {"b": "Boolean", "i": "Int64", "u": "Int64", "f": "Double"}
WIDEST = {"i": np.int64, "u": np.int64, "f": np.float64}


def register_converters() -> None:
    r"""Teach skl2onnx all rankers whose scores are linear, sums of stumps, or those of a kernel.

    ``skl2onnx.to_onnx(model, X[:1])`` then converts a ranker, a pipeline, a search or a
    ``CalibratedClassifierCV`` that holds one. A ranker has the outputs ``label``, as ``predict``, and
    ``scores``, as ``decision_function``: :math:`f(x) - \theta`, shape (n_rows,); without classes, after a fit
    to pairs, ``scores`` alone.

    Scores are summed in float64, as ``decision_function`` does, whatever the inputs are: a threshold is
    compared with a float32 that comes in, and rounding makes no ties. Missing values are taken where the
    ranker takes them; where the ranker would refuse them, the graph returns NaN. Stumps cost a comparison for
    each threshold used, kernels a product with all ``support_vectors_``. Conversion raises TypeError for what
    cannot be exported: stacks of models, weak rankers that are estimators or functions, kernels that are
    functions, and columns of text that stumps encode themselves (encode them in a ``ColumnTransformer``). It
    warns where the graph takes float32, of 7 digits, and the ranker was fitted to columns of more, such as
    times in seconds.

    The ONNX operators of the default domain, from opset 13 on.

    Raises
    ------
    ImportError
        When skl2onnx is not installed: it comes with ``pip install "pushrank[onnx]"``.

    Examples
    --------
    >>> import skl2onnx
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pushrank import PNormPush
    >>> from pushrank.interop.onnx import register_converters
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), PNormPush()).fit(X, y)
    >>> register_converters()
    >>> graph = skl2onnx.to_onnx(pipeline, X[:1])
    >>> [output.name for output in graph.graph.output]
    ['label', 'scores']
    """
    skl2onnx = import_optional("skl2onnx", "onnx")
    rankers = [getattr(estimators, name) for name in estimators.__all__]
    for ranker in rankers:
        options = {"raw_scores": [False, True], "zipmap": [True, False]}
        skl2onnx.update_registered_converter(
            ranker, ALIAS, _set_shapes, _convert, parser=_parse, options=options
        )


def _tensor(kind: str, shape: list[int | None] | None = None) -> Any:
    """Return a type of skl2onnx."""
    types = import_module("skl2onnx.common.data_types")
    return getattr(types, f"{kind}TensorType")(shape)


def _label_type(ranker: BaseEstimator, shape: list[int | None] | None = None) -> Any:
    return _tensor(LABEL_TYPES.get(_classes(ranker).dtype.kind, "String"), shape)


def _classes(ranker: BaseEstimator) -> GenericArray:
    """Return the classes of a ranker in the type of the label."""
    classes = np.asarray(ranker.classes_)
    return classes.astype(WIDEST.get(classes.dtype.kind, classes.dtype))


def _parse(scope: Scope, ranker: BaseEstimator, inputs: list[Variable], custom_parsers: Any = None) -> Any:  # noqa: ARG001
    """Declare the outputs of a ranker."""
    scores = _scores.fitted_scores(_scores.final_ranker(ranker))
    operator = scope.declare_local_operator(ALIAS, ranker)
    operator.inputs = inputs
    if _scores.label_cuts(_scores.final_ranker(ranker)) is not None:
        operator.outputs.append(scope.declare_local_variable("label", _label_type(ranker)))
    is_single = isinstance(scores, _scores.LinearScores) and scores.coef.dtype == np.float32
    kind = "Float" if is_single else "Double"
    operator.outputs.append(scope.declare_local_variable("scores", _tensor(kind)))
    return operator.outputs


def _set_shapes(operator: Operator) -> None:
    """Set the shapes of a ranker's outputs, and the type of its labels."""
    ranker, n_rows = _scores.final_ranker(operator.raw_operator), operator.inputs[0].get_first_dimension()
    operator.outputs[-1].type.shape = [n_rows]
    if len(operator.outputs) == 2:
        operator.outputs[0].set_type(_label_type(ranker, [n_rows]))


def _convert(scope: Any, operator: Operator, container: Any) -> None:
    """Add the nodes of a ranker to the graph."""
    nodes, types = import_module("skl2onnx.algebra.onnx_ops"), import_module("onnx").TensorProto
    ranker, outputs = _scores.final_ranker(operator.raw_operator), operator.outputs

    def node(name: str, *inputs: Any, **attributes: Any) -> Any:
        return getattr(nodes, f"Onnx{name}")(*inputs, op_version=container.target_opset, **attributes)

    def add(name: str, *inputs: Any, output: Any, **attributes: Any) -> None:
        node(name, *inputs, output_names=[output.full_name], **attributes).add_to(scope, container)

    to_double = partial(node, "Cast", to=types.DOUBLE)
    widths = [variable.type.shape[1] for variable in operator.inputs if len(variable.type.shape) == 2]
    if len(widths) == len(operator.inputs) and all(widths) and sum(widths) != ranker.n_features_in_:
        raise RuntimeError(
            f"{type(ranker).__name__} was fitted to {ranker.n_features_in_} features, and {sum(widths)} come "
            "in: give the graph rows of all columns, and mind that of the steps before skl2onnx overlooks "
            "SimpleImputer(add_indicator=True) and OneHotEncoder(max_categories=...)."
        )
    if _loses_digits(ranker, operator.inputs):
        warn(
            f"{type(ranker).__name__} tells values apart that are equal in float32, which the graph takes, "
            "such as times in seconds: give to_onnx rows of float64, or subtract a constant from the column."
        )
    X = node("Concat", *(to_double(variable) for variable in operator.inputs), axis=1)
    formula = _scores.fitted_scores(ranker)
    dtype: Any = formula.coef.dtype.type if isinstance(formula, _scores.LinearScores) else np.float64
    kind = types.FLOAT if dtype is np.float32 else types.DOUBLE
    scores = node("Cast", _sums(formula, X, node, to_double), to=kind)
    scores = node("Sub", scores, np.array([ranker.threshold_], dtype=dtype))
    column = node("ReshapeApi13", scores, np.array([-1, 1]))
    cuts = _scores.label_cuts(ranker)
    if cuts is not None:
        is_above = to_double(node("Greater", column, cuts[None].astype(dtype)))
        n_below = node("MatMul", is_above, np.ones(len(cuts)))
        add("Gather", _classes(ranker), node("Cast", n_below, to=types.INT64), output=outputs[0])
    # Calibration asks for raw scores.
    asked = (container.options or {}).values()
    if container.get_options(operator.raw_operator, {"raw_scores": False})["raw_scores"]:
        scores = node("MatMul", column, np.array([[-1.0, 1.0]], dtype=dtype))
    elif any(isinstance(options, dict) and options.get("raw_scores") for options in asked):
        # Calibration asked a pipeline, which does not hand it on: a row's score would pass for probabilities.
        raise RuntimeError(
            "skl2onnx takes no pipeline into CalibratedClassifierCV: put the calibration last, as in "
            f"make_pipeline(StandardScaler(), CalibratedClassifierCV({type(ranker).__name__}()))."
        )
    add("Cast", scores, to=outputs[-1].type._get_element_onnx_type(), output=outputs[-1])


def _loses_digits(ranker: Any, inputs: list[Variable]) -> bool:
    """Return whether features come as float32, whose rounding moves scores by much."""
    if all(type(variable.type).__name__ != "FloatTensorType" for variable in inputs):
        return False
    # The operator before, where it is a scaler, shows the size of columns that it has made small.
    scaler: Any = getattr(getattr(inputs[0], "_parent", None), "raw_operator", None)
    centre = getattr(scaler, "mean_", getattr(scaler, "center_", None))
    if centre is not None and getattr(scaler, "scale_", None) is not None:
        return bool(np.any(np.abs(centre) * SINGLE > MAX_ROUNDING * scaler.scale_))
    if hasattr(ranker, "coef_"):
        is_double = ranker.coef_.dtype == np.float64
        return bool(is_double and abs(ranker.threshold_) * SINGLE > MAX_ROUNDING)
    thresholds = getattr(getattr(ranker, "weak_rankers_", None), "thresholds_", [])
    return any(np.abs(of).max() * SINGLE > 0.5 * np.median(np.diff(of)) for of in thresholds if len(of) > 1)


def _sums(formula: _scores.Scores, X: Any, node: Any, to_double: Any) -> Any:
    """Return the node of the scores before the threshold, shape (n_rows,)."""
    if isinstance(formula, _scores.LinearScores):
        return node("MatMul", X, formula.coef.astype(np.float64))
    if isinstance(formula, _scores.KernelScores):
        kernel, vectors = formula.kernel, formula.vectors
        products = node("MatMul", X, vectors.T)
        if kernel.kind == "poly":
            values = node("Add", node("Mul", products, np.array([kernel.gamma])), np.array([kernel.coef0]))
            values = node("Pow", values, np.array([float(kernel.degree)]))
        else:
            norms = node("MatMul", node("Mul", X, X), np.ones((vectors.shape[1], 1)))
            squares = node("Sub", norms, node("Mul", products, np.array([2.0])))
            squares = node("Add", squares, np.square(vectors).sum(axis=1)[None])
            # Rounding makes small squares negative.
            squares = node("Max", squares, np.zeros(1))
            values = node("Exp", node("Mul", squares, np.array([-kernel.gamma])))
        return node("MatMul", values, formula.weights)
    constant = formula.intercept
    # No row passes the first test; it gives the sum its shape where there is no other test.
    tests: dict[str, list[Any]] = {"Greater": [(0, np.inf, 0.0)], "Equal": [], "IsNaN": []}
    for feature, thresholds, values, categories in formula.functions:
        if categories is None:
            steps = np.diff(values[:-1])
            tests["Greater"] += [(feature, *step) for step in zip(thresholds, steps, strict=True)]
            tests["IsNaN"] += [(feature, np.nan, values[-1])] * bool(values[-1])
        else:
            constant += values[-1]
            gains = values[:-1] - values[-1]
            tests["Equal"] += [(feature, *gain) for gain in zip(categories, gains, strict=True)]
    total = np.array([constant])
    for name, rows in tests.items():
        if rows:
            features, compared, weights = (np.array(column) for column in zip(*rows, strict=True))
            entries = node("Gather", X, features.astype(np.int64), axis=1)
            outcome = node(name, entries) if name == "IsNaN" else node(name, entries, compared[None])
            total = node("Add", node("MatMul", to_double(outcome), weights), total)
    return total
