"""Importing pushrank pulls in no edge, and works where nothing can be written."""

from __future__ import annotations

import subprocess
import sys

import pytest

EDGES = (
    "matplotlib",
    "dask",
    "torch",
    "typer",
    "rich",
    "skops",
    "polars",
    "pandas",
    "pyarrow",
    "lightgbm",
    "xgboost",
    "pushrank.cli",
    "pushrank.interop",
    "pushrank.persistence",
    "pushrank.plots",
    "pushrank.report",
)


def modules_after(code: str) -> set[str]:
    """Return the names of the modules that a fresh interpreter holds after running some code."""
    code += "; import sys; print(chr(10).join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import pushrank",
        "import pushrank.datasets, pushrank.metrics.scorers, pushrank.solvers, pushrank.exceptions",
        "import pushrank; pushrank.PNormPush().fit([[0.0], [1.0], [2.0]], [0, 1, 1])",
    ],
    ids=["the face", "the floors", "a fit"],
)
def test_edges_stay_out(code):
    # scikit-learn may itself hold rich; what it loads is not ours
    required = modules_after("import numba, sklearn.linear_model, sklearn.metrics")
    assert not (modules_after(code) - required).intersection(EDGES)


def test_importing_prints_nothing_and_warns_of_nothing():
    run = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:pushrank", "-c", "import pushrank"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (run.stdout, run.stderr) == ("", "")
