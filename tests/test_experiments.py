"""The protocol that the experiments share."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from experiments.protocol import MEASURES, Method, against_printed, all_splits, table
from pushrank import RankSVM

METHODS = [
    Method("RankSVM", RankSVM(), "C", [1e-3, 1.0]),
    Method("logistic", LogisticRegression(), "C", [1e-9, 1.0]),
]


def rows(criteria=("AP", "AUC"), n_splits=2):
    X, y = load_breast_cancer(return_X_y=True)
    return all_splits(X, y, METHODS, StandardScaler(), criteria, n_splits, n_jobs=1)


def test_every_split_method_and_criterion_has_its_row():
    found = rows()
    assert len(found) == 2 * 2 * 2
    assert not found.duplicated(["split", "chosen by", "method"]).any()
    assert (found["AP"] > 0.95).all()
    assert (found["chosen"] > 0.5).all()  # the other values hardly move from zero coefficients
    np.testing.assert_array_equal(found["share at top"] <= 1.0, True)
    assert found.loc[found["method"] == "RankSVM", "gap"].max() <= 1e-4
    assert rows().equals(found)


def test_differences_are_paired():
    found = rows(["AP"])
    text = table(found, list(MEASURES), "logistic")
    by_split = found.pivot_table(index="split", columns="method", values="AP")
    difference = (by_split["RankSVM"] - by_split["logistic"]).mean()
    last = text.splitlines()[-1]
    assert last.startswith("RankSVM")
    assert float(last.split()[7]) == pytest.approx(difference, abs=6e-4)


EXPERIMENTS = Path(__file__).parent.parent / "experiments"
QUICK = [
    path.parent.name
    for path in sorted(EXPERIMENTS.glob("*/__main__.py"))
    if "options.quick" in path.read_text()
]


def test_printed_numbers_are_held_against_one_repeat():
    measured = pd.DataFrame({"measure": ["a"] * 3 + ["b"] * 3, "value": [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]})
    printed = pd.DataFrame({"measure": ["a", "b"], "printed": [3.9, 4.1]})
    found = against_printed(measured, printed)
    assert found["mean"].tolist() == [2.0, 2.0]
    assert found["sd"].tolist() == [1.0, 1.0]
    assert found["within"].tolist() == [True, False]


@pytest.mark.nightly
@pytest.mark.skipif("PUSHRANK_DATA" not in os.environ, reason="PUSHRANK_DATA is not set")
@pytest.mark.parametrize("name", QUICK)
def test_an_experiment_runs_quickly(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--quick", "--folder", str(tmp_path)])
    runpy.run_module(f"experiments.{name}", run_name="__main__")
    assert capsys.readouterr().out.strip() in (tmp_path / "results.txt").read_text(encoding="utf-8")


def test_every_experiment_is_run_alike_and_says_what_was_seen():
    folders = [path for path in EXPERIMENTS.iterdir() if path.is_dir()]
    for folder in folders:
        if folder.name != "__pycache__":
            command = f"python -m experiments.{folder.name}"
            for name in ("__main__.py", "README.md"):
                assert command in (folder / name).read_text(encoding="utf-8"), folder / name
