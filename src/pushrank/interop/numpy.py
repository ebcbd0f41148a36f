"""A fitted ranker as a Python file that needs numpy alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from pprint import pformat
from textwrap import indent
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from pushrank._base.files import atomic_write
from pushrank._base.numeric import type_of_scores
from pushrank.interop import _scores

__all__ = ["export_numpy"]

OPERATIONS = {
    **{sign: (f"Z = Z {sign} {{0}}",) for sign in "+-*/"},
    "fill": ("is_missing = np.isnan(Z)", "Z = np.where(is_missing, {0}, Z)"),
    "keep": ("Z = Z[:, {0}]",),
    "mark": ("Z = np.hstack([Z, is_missing[:, {0}]])",),
}
"""The lines of each operation on the matrix Z, by a constant."""

# The parts of the file that is written, each after a line with its name.
TEMPLATE = Path(__file__).with_name("scoring_file.txt").read_text(encoding="utf-8")
PARTS: dict[str, str] = dict(re.findall(r"(?ms)^#%% (\w+)\n(.*?)\n(?=#%%|\Z)", TEMPLATE))


def export_numpy(model: BaseEstimator, path: str | Path, *, alert_threshold: float | None = None) -> None:
    r"""Write a fitted ranker as a Python file that needs numpy alone.

    People can read the file. Its ``decision_function`` returns :math:`f(x) - \theta` and its ``predict`` the
    class, as the ranker's methods do; it holds the names of the features, :math:`\theta`, and the
    coefficients, thresholds of stumps or support vectors.

    Numbers are written with all their digits, and rows are taken as float64. Scores of stumps equal those of
    the ranker to the last bit; others may differ by the order of sums. A kernel's has all vectors.

    Parameters
    ----------
    model : object
        A ranker whose scores are linear, sums of stumps, or those of a kernel, or a pipeline or a search that
        ends in one, after scikit-learn's scalers, ``SimpleImputer`` of numbers, and ``OneHotEncoder`` in a
        ``ColumnTransformer``, such as ``pushrank fit`` saves.
    path : str or Path
        The file, such as ``"score.py"``; an existing one is replaced, whole or not at all.
    alert_threshold : float, optional
        The score from which a row is acted on, such as that of
        :func:`~pushrank.metrics.threshold_for`; the file has it as ``ALERT_THRESHOLD``.

    Raises
    ------
    NotFittedError
        When the model is not fitted.
    TypeError
        When the ranker, or a step before it, cannot be exported.
    OSError
        When the file cannot be written; no part of it is left.

    Examples
    --------
    >>> import runpy, tempfile
    >>> import numpy as np
    >>> from pushrank import PNormPush, export_numpy
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> ranker = PNormPush().fit(X, ["no", "no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_numpy(ranker, Path(folder) / "scoring.py")
    ...     scoring = runpy.run_path(Path(folder) / "scoring.py")
    >>> scoring["predict"](X).tolist()
    ['no', 'no', 'yes']
    """
    text = source(model, alert_threshold)
    with atomic_write(Path(path)) as draft:
        draft.write_text(text, encoding="utf-8")


@dataclass
class Source:
    """The constants and the lines of a file under construction."""

    constants: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def constant(self, name: str, value: object) -> str:
        """Add a constant, and return its name, with a number where the name exists already."""
        numbered = (f"{name}_{number}" for number in count(2))
        name = next(free for free in chain([name], numbered) if free not in self.constants)
        self.constants[name] = literal(value)
        return name


def source(model: BaseEstimator, alert_threshold: float | None = None) -> str:
    """Return the Python file of a model."""
    *steps, ranker = [*_scores.steps_of(model)] or [model]
    scores, first = _scores.fitted_scores(ranker), [*steps, ranker][0]
    features = _scores.features_of(first)
    file = Source()
    # A ranker without names takes the columns of a data frame by their order.
    if not hasattr(first, "feature_names_in_"):
        file.lines.append("X = array(X)")
    file.constant("FEATURES", features)
    cuts, predict = _scores.label_cuts(ranker), ""
    if cuts is not None:
        file.constant("CLASSES", np.asarray(ranker.classes_))
        file.constant("CUTS", cuts)
        predict = PARTS["predict"]
    file.constant("THRESHOLD", float(ranker.threshold_))
    if alert_threshold is not None:
        file.constant("ALERT_THRESHOLD", float(alert_threshold))
    if steps and isinstance(steps[0], ColumnTransformer):
        _write_columns(steps.pop(0), features, file)
    else:
        file.lines.append("Z = numbers(X, FEATURES)")
    for step in steps:
        _write_step(step, file)
    _write_scores(scores, file)
    file.lines.append("return scores")
    constants = "\n".join(f"{name} = {value}" for name, value in file.constants.items())
    # These are the names by which repr writes them.
    if re.search(r"\b(nan|inf)\b", constants):
        constants = f"inf, nan = np.inf, np.nan\n{constants}"
    return PARTS["file"].format(
        name=type(ranker).__name__,
        version=version("pushrank"),
        and_predict=", and predict(X) its class" if predict else "",
        constants=constants,
        body=indent("\n".join(file.lines), "    "),
        predict=predict,
        helpers=PARTS["one_hot"] if any("one_hot(" in line for line in file.lines) else "",
    )


def _write_columns(transformer: ColumnTransformer, features: list[Any], file: Source) -> None:
    """Write the lines that make a matrix Z of the columns of X."""
    file.lines.append("parts = []")
    for steps, columns, weight in _scores.parts_of(transformer, features):
        if steps and isinstance(steps[0], OneHotEncoder):
            _write_one_hot(steps.pop(0), columns, file)
        else:
            file.lines.append(f"Z = numbers(X, {file.constant('NUMBERS', columns)})")
        for later in steps:
            _write_step(later, file)
        file.lines.append("parts.append(Z)" if weight == 1.0 else f"parts.append({weight!r} * Z)")
    file.lines.append("Z = np.hstack(parts)")


def _write_one_hot(encoder: OneHotEncoder, columns: list[str | int], file: Source) -> None:
    """Write the lines that make a matrix Z of zeros and ones of columns."""
    if encoder.drop is not None:
        raise TypeError("OneHotEncoder(drop=...) cannot be exported: leave drop out.")
    infrequent = getattr(encoder, "infrequent_categories_", [None] * len(columns))
    file.lines.append("Z = np.hstack([")
    for column, categories, together in zip(columns, encoder.categories_, infrequent, strict=True):
        rare = [] if together is None else [_plain(value) for value in together]
        frequent = [value for value in map(_plain, categories) if value not in rare]
        categories = f"{file.constant('FREQUENT', frequent)}, {file.constant('RARE', rare)}"
        unknown = encoder.handle_unknown if encoder.handle_unknown in ("error", "ignore") else "rare"
        file.lines.append(f"    one_hot(X, {column!r}, {categories}, {unknown!r}),")
    file.lines.append("])")


def _write_step(step: BaseEstimator, file: Source) -> None:
    """Write what a fitted step does to the matrix Z."""
    for operation, name, value in _scores.operations_of(step):
        constant = file.constant(name, value)
        file.lines += [line.format(constant) for line in OPERATIONS[operation]]


def _write_scores(scores: _scores.Scores, file: Source) -> None:
    """Write the scores of the matrix Z."""
    takes_missing = isinstance(scores, _scores.StepScores)
    wrong, unwanted = ("np.isinf(Z)", "infinity") if takes_missing else ("~np.isfinite(Z)", "NaN or infinity")
    file.lines += [f"if ({wrong}).any():", f'    raise ValueError("X must not hold {unwanted}.")']
    if isinstance(scores, _scores.LinearScores):
        file.constant("COEF", scores.coef.astype(np.float64))
        formula = "Z @ COEF - THRESHOLD"
        # Scores of coefficients in single precision are rounded to it, as the ranker rounds them.
        if type_of_scores(scores.coef) == np.float32:
            formula = "(Z @ COEF).astype(np.float32) - np.float32(THRESHOLD)"
        file.lines.append(f"scores = {formula}")
    elif isinstance(scores, _scores.KernelScores):
        file.constant("GAMMA", float(scores.kernel.gamma))
        if scores.kernel.kind == "poly":
            file.constant("COEF0", scores.kernel.coef0)
            file.constant("DEGREE", scores.kernel.degree)
        file.constant("VECTORS", scores.vectors)
        file.constant("WEIGHTS", scores.weights)
        file.lines += PARTS[str(scores.kernel.kind)].splitlines()
    else:
        steps, categories = [], []
        for function in scores.functions:
            values = function.values.tolist()
            if function.categories is None:
                steps.append((function.feature, function.thresholds.tolist(), values))
            else:
                index = {value: number for number, value in enumerate(function.categories.tolist())}
                categories.append((function.feature, index, values))
        file.constant("STEPS", steps)
        file.constant("CATEGORIES", categories)
        file.constant("INTERCEPT", scores.intercept)
        file.lines += PARTS["stumps"].splitlines()


def _plain(value: object) -> Any:
    """Return a category as Python has it, None for a missing one."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value is None or value != value else value


def literal(value: Any) -> str:
    """Return Python's text of a value, numbers with all their digits."""
    is_array = isinstance(value, np.ndarray)
    # By repr a float has as many digits as tell it from its neighbours.
    text = pformat(value.tolist() if is_array else value, width=96, compact=True, sort_dicts=False)
    text = f"(\n{indent(text, '    ')}\n)" if "\n" in text else f"({text})" if is_array else text
    return f"np.array{text}" if is_array else text
