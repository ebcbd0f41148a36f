"""Files that version 0.1.0 wrote are read for ever, and give the same figures.

``python -m tests.golden.test_kept_files`` wrote them. Once 0.1.0 is released they are not written again:
files of later formats are kept beside them.
"""

import json
import re
import runpy
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.utils.fixes import parse_version

from pushrank import PNormPush, export_numpy, load, load_scorer, save
from pushrank._base.files import VERSION_FILE
from pushrank.budgets import Budget
from pushrank.monitoring import AlertThreshold, Duel
from tests.cli import runner

# A later scikit-learn says of its scalers that an earlier one fitted them.
pytestmark = [
    pytest.mark.fast, pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning"),
]  # fmt: skip

FILES = Path(__file__).parent / "files_0.1.0"
HOURS = np.arange("2020-01-01", "2020-01-06", dtype="datetime64[h]")
NAMES = np.array([f"row {number}" for number in range(len(HOURS))])
PAST, DAY = slice(None, -24), slice(-24, None)


def columns():
    """Return scores of two models for each hour, and its label."""
    scores = np.random.default_rng(0).normal(size=(2, len(HOURS))).round(3)
    return *scores, (scores[0] > 1.0).astype(float)


def pack(path):
    """Compress an archive that is kept, as model files are not."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def write(folder):
    """Write a file of each kind."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(24, 2)).round(2), columns=["a", "b"])
    rows = rows.assign(text=["u", "v", "w"] * 8, y=(rows["a"] + rng.normal(size=24) > 0.5).astype(int))
    rows.to_csv(folder / "rows.csv", index=False)
    ranker = PNormPush(p=4).fit(rows[["a", "b"]].to_numpy(), rows["y"])
    save(ranker, folder / "ranker.skops")
    export_numpy(ranker, folder / "scoring.txt")
    runner.call("fit", folder / "rows.csv", "--label", "y", "-o", folder / "fitted.skops")
    pack(folder / "fitted.skops")
    score, other, y = columns()
    with closing(AlertThreshold(Budget(5), folder / "alerts.db")) as alert:
        # The second half of the last day is to come.
        alert.fit(score[PAST], HOURS[PAST]).decide(score[-24:-12], HOURS[-24:-12], NAMES[-24:-12])
    with closing(Duel(Budget(3), folder / "duel.db", secret="kept")) as duel:  # noqa: S106
        duel.assign(score[PAST], other[PAST], HOURS[PAST], NAMES[PAST])
        duel.credit(y[PAST], HOURS[PAST], NAMES[PAST])


def figures(made):
    """Return what the files give, as values of JSON; what changes or is written lies in another folder."""
    ranker, fitted, rows = FILES / "ranker.skops", FILES / "fitted.skops", pd.read_csv(FILES / "rows.csv")
    X, (score, other, _) = rows[["a", "b"]].to_numpy(), columns()
    runner.call("score", fitted, FILES / "rows.csv", "-o", made / "ranked.csv")
    for state in ("alerts.db", "duel.db"):
        shutil.copy(FILES / state, made / state)
    with closing(AlertThreshold.open(made / "alerts.db")) as alert:
        threshold = alert.threshold_
        acted = alert.decide(score[DAY], HOURS[DAY], NAMES[DAY])
    with closing(Duel.open(made / "duel.db")) as duel:
        verdict = duel.verdict()
        owners = duel.assign(score[DAY], other[DAY], HOURS[DAY], NAMES[DAY])
    return {
        "load": load(ranker).decision_function(X).tolist(),
        "load_scorer": load_scorer(ranker).decision_function(X).tolist(),
        "load of fit": load(fitted).decision_function(rows[["a", "b", "text"]]).tolist(),
        "pushrank score": pd.read_csv(made / "ranked.csv")[["score", "a"]].to_numpy().ravel().tolist(),
        "pushrank show": [*json.loads(runner.call("show", fitted, "--json").stdout)["weights"].values()],
        "export": runpy.run_path(str(FILES / "scoring.txt"))["decision_function"](X).tolist(),
        "alert": [threshold, *np.flatnonzero(acted).tolist()],
        "duel": [verdict.days, verdict.hits, verdict.difference, verdict.low, verdict.high, verdict.evidence],
        "owners": [("", "both", "champion", "challenger").index(owner) for owner in owners],
    }


# What an earlier scikit-learn makes of its pipelines nobody has promised.
@pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.9"), reason="1.9 wrote the files")
def test_kept_files_give_the_same_figures(tmp_path):
    kept = json.loads((FILES / "figures.json").read_text(encoding="utf-8"))
    found = figures(tmp_path)
    assert found.keys() == kept.keys()
    for name, values in kept.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-12, err_msg=name)


def test_kept_files_name_the_version_that_wrote_them():
    named = "^0\\.1\\.0"
    for file in ("ranker.skops", "fitted.skops"):
        with zipfile.ZipFile(FILES / file) as archive:
            assert re.match(named, archive.read(VERSION_FILE).decode())
    for file in ("alerts.db", "duel.db"):
        with closing(sqlite3.connect(FILES / file)) as connection:
            [[head]] = connection.execute("SELECT content FROM head")
        assert re.match(named, json.loads(head)["pushrank"])
    assert "written by pushrank 0.1.0" in (FILES / "scoring.txt").read_text(encoding="utf-8").split("\n")[0]


if __name__ == "__main__":
    write(FILES)
    with TemporaryDirectory() as folder:
        text = json.dumps(figures(Path(folder)), indent=1)
    (FILES / "figures.json").write_text(f"{text}\n", encoding="utf-8")
