"""The protocol that the experiments share."""

import os
import runpy
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from experiments.ensemble import picture
from experiments.ensemble.picture import shortfalls
from experiments.protocol import MEASURES, Method, against_printed, all_splits, table
from pushrank import RankSVM

METHODS = [
    Method("RankSVM", RankSVM(), "C", [1e-3, 1.0]),
    Method("logistic", LogisticRegression(), "C", [1e-9, 1.0]),
]

FOLDERS = sorted(path.parent for path in Path(__file__).parents[1].glob("experiments/*/__main__.py"))
QUICK = {
    "across_papers",
    "agarwal_2011",
    "auc_meets_dro_2022",
    "beside_autogluon",
    "boosters",
    "bounds",
    "ensemble",
    "heirs",
    "kar_2015",
    "moving_budget",
    "promises",
    "rudin_2005",
    "rudin_2009",
    "steps",
    "verdicts",
}
NEEDED = {"auc_meets_dro_2022": "rdkit", "torch_rare_class": "torch"}


def rows(criteria=("AP", "AUC"), n_splits=2):
    X, y = load_breast_cancer(return_X_y=True)
    return all_splits(X, y, METHODS, StandardScaler(), criteria, n_splits, n_jobs=1)


def test_every_split_method_and_criterion_has_its_row():
    measured = rows()
    assert len(measured) == 2 * 2 * 2
    assert not measured.duplicated(["split", "chosen by", "method"]).any()
    assert (measured["AP"] > 0.95).all()
    # The other values of the penalty hardly move the coefficients from zero.
    assert (measured["chosen"] > 0.5).all()
    np.testing.assert_array_equal(measured["share at top"] <= 1.0, True)
    assert measured.loc[measured["method"] == "RankSVM", "gap"].max() <= 1e-4
    assert rows().equals(measured)


def test_differences_are_paired():
    measured = rows(["AP"])
    text = table(measured, list(MEASURES), "logistic")
    by_split = measured.pivot_table(index="split", columns="method", values="AP")
    difference = (by_split["RankSVM"] - by_split["logistic"]).mean()
    last = text.splitlines()[-1]
    assert last.startswith("RankSVM")
    assert float(last.split()[7]) == pytest.approx(difference, abs=6e-4)


def test_printed_numbers_are_compared_with_a_single_repeat():
    measured = pd.DataFrame({"measure": ["a"] * 3 + ["b"] * 3, "value": [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]})
    printed = pd.DataFrame({"measure": ["a", "b"], "printed": [3.9, 4.1]})
    comparison = against_printed(measured, printed)
    assert comparison["mean"].tolist() == [2.0, 2.0]
    assert comparison["sd"].tolist() == [1.0, 1.0]
    assert comparison["within"].tolist() == [True, False]


def test_every_experiment_and_its_readme_state_the_command():
    for folder in FOLDERS:
        command = f"python -m experiments.{folder.name}"
        for name in ("__main__.py", "README.md"):
            assert command in (folder / name).read_text(encoding="utf-8"), folder / name


def test_the_picture_of_one_list_shows_what_its_words_say(tmp_path):
    """Each model is below all of them together on every split, by the means that the guide has."""
    below = shortfalls(pd.read_csv(Path(picture.__file__).with_name("results.csv")))
    assert below.shape == (10, 9)
    assert (below < 0.0).all(axis=None)
    means = {name: f"{-below[name].mean():.3f}"[1:] for name in ("tuned LightGBM", "logistic regression")}
    words = ", ".join(f"{name} by {mean}" for name, mean in means.items()).replace(",", " in the mean,")
    assert words in (Path(__file__).parents[1] / "docs" / "which_ranker.md").read_text(encoding="utf-8")
    picture.draw(below, tmp_path / "together.png")
    assert (tmp_path / "together.png").stat().st_size > 10_000


@pytest.mark.nightly
@pytest.mark.filterwarnings("default")
@pytest.mark.skipif("PUSHRANK_DATA" not in os.environ, reason="PUSHRANK_DATA is not set")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_quick_run_prints_a_table_and_leaves_the_results(folder, monkeypatch, tmp_path, capsys):
    pytest.importorskip(NEEDED.get(folder.name, "pushrank"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before, name = results(), f"experiments.{folder.name}"
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module(name, run_name="__main__")
    assert ("--quick" in capsys.readouterr().out) == (folder.name in QUICK)
    if folder.name in QUICK:
        monkeypatch.setattr(sys, "argv", [name, "--quick"])
        runpy.run_module(name, run_name="__main__")
        assert capsys.readouterr().out.count("\n") > 3
    assert results() == before


def results():
    """Return when each file of the experiments was last written."""
    return {path: path.stat().st_mtime for folder in FOLDERS for path in folder.iterdir() if path.is_file()}
