"""How far are the scores of an exported ranker from its own, on every data set?

    PUSHRANK_DATA=... python benchmarks/exports.py > benchmarks/exports.txt

Differences are in units of the standard deviation of the scores; beside them, how many of the rows have
another class by predict. ONNX graphs run in onnxruntime, of float64 rows and of float32 rows, beside
decision_function of the same rows. Linear scores and kernels come after a StandardScaler, which works in the
type of the rows; stumps take the rows as they are. Text is one-hot encoded.
"""

from __future__ import annotations

import argparse
import platform
import runpy
import tempfile
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import skl2onnx
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pushrank import InfinitePush, PNormPush, PushBoost, export_numpy
from pushrank.datasets import list_datasets, load_dataset
from pushrank.exceptions import DatasetNotFoundError
from pushrank.interop.onnx import register_converters

MODELS = {
    "linear": PNormPush(4.0),
    "stumps": PushBoost(n_estimators=100),
    "rbf kernel": InfinitePush(kernel="rbf"),
}
MAX_KERNEL_ROWS, MAX_SCORED = 1000, 20_000
WITHOUT_TABLE = {"chembl", "dud", "muv", "tox21"}  # molecules as text
Scoring = Callable[[pd.DataFrame], tuple[np.ndarray, np.ndarray]]


def table(name: str) -> tuple[pd.DataFrame, np.ndarray, list[str]]:
    """Return the columns of a data set, which rows are positive, and which columns are text."""
    data = load_dataset(name, as_frame=True)
    frame = data.data.copy()
    frame.columns = [f"c{number}" for number in range(frame.shape[1])]
    text = [column for column, dtype in frame.dtypes.items() if dtype.kind not in "biuf"]
    y = np.asarray(data.target)
    y = y == y.max() if y.dtype.kind in "biuf" else y == np.unique(y)[-1]
    frame = frame.astype({column: "float64" for column in frame.columns if column not in text})
    return frame.astype(dict.fromkeys(text, object)), y, text


def file_scoring(model: Any, folder: Path) -> Scoring:
    """Return the scores and classes of the exported file of numpy."""
    export_numpy(model, folder / "scoring.py")
    names = runpy.run_path(str(folder / "scoring.py"))
    return lambda rows: (names["decision_function"](rows), names["predict"](rows))


def graph_scoring(model: Any, rows: pd.DataFrame) -> Scoring:
    """Return the scores and classes of the ONNX graph for rows of such types."""
    graph = skl2onnx.to_onnx(model, rows[:1]).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])

    def scoring(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        label, scores = session.run(None, {column: rows[[column]].to_numpy() for column in rows})
        return scores, label

    return scoring


def difference(model: Any, scoring: Scoring, rows: pd.DataFrame) -> str:
    """Return the largest difference of a score, and how many classes differ."""
    expected = model.decision_function(rows)
    scores, label = scoring(rows)
    n_others = int((label != model.predict(rows)).sum())
    return f"{np.abs(scores - expected).max() / expected.std():.1e} {n_others:>2}"


def main() -> None:
    """Print a line for each data set and kind of scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=None)
    names = parser.parse_args().sets or [name for name in list_datasets() if name not in WITHOUT_TABLE]
    packages = ", ".join(f"{package} {version(package)}" for package in ("numpy", "onnxruntime", "skl2onnx"))
    print(f"Python {platform.python_version()}, {packages}\n")
    head = f"{'data set':<20}{'rows scored':>12}{'columns':>9}  {'scores':<12}"
    print(head + "".join(f"{way:>15}" for way in ("numpy file", "ONNX float64", "ONNX float32")))
    register_converters()
    warnings.simplefilter("ignore")  # of convergence: any coefficients will do
    for name in names:
        try:
            frame, y, text = table(name)
        except DatasetNotFoundError:
            print(f"{name:<20}{'not there':>12}", flush=True)
            continue
        rng = np.random.default_rng(0)
        scored = frame.iloc[rng.permutation(len(frame))[:MAX_SCORED]]
        single = scored.astype({column: "float32" for column in frame.columns if column not in text})
        for kind, ranker in MODELS.items():
            numbers = [column for column in frame.columns if column not in text]
            scale = "passthrough" if kind == "stumps" else StandardScaler()
            steps = make_column_transformer(
                (scale, numbers), (OneHotEncoder(handle_unknown="ignore", sparse_output=False), text)
            )
            learned = np.arange(len(frame))
            if kind == "rbf kernel":
                learned = np.sort(
                    np.concatenate(
                        [
                            rng.permutation(np.flatnonzero(y == c))[: MAX_KERNEL_ROWS // 2]
                            for c in (False, True)
                        ]
                    )
                )
            model = make_pipeline(steps, clone(ranker)).fit(frame.iloc[learned], y[learned])
            with tempfile.TemporaryDirectory() as folder:
                found = [
                    difference(model, file_scoring(model, Path(folder)), scored),
                    difference(model, graph_scoring(model, scored), scored),
                    difference(model, graph_scoring(model, single), single),
                ]
            head = f"{name:<20}{len(scored):>12,}{frame.shape[1]:>9}  {kind:<12}"
            print(head + "".join(f"{said:>15}" for said in found), flush=True)


if __name__ == "__main__":
    main()
