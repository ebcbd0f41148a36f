"""``pushrank compare --report``: from a file to a page, with figures of unseen rows only."""

import json
import os
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from tests.cli.runner import FEW, call


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    table = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 2, 30]]
    table["kind <b>"] = np.where(table.index % 3, "plain & simple", None)
    table["same"] = "x"
    table["target"] = np.where(table["target"], "benign", "<i>malignant</i>")
    path = tmp_path_factory.mktemp("data") / "tumours & more.csv"
    table.to_csv(path, index=False)
    return path


def test_report(data, tmp_path):
    arguments = ["compare", data, "--label", "target", "--positive", "<i>malignant</i>", "--budget", 200]
    arguments += ["--folds", 3, *FEW, "--json"]
    found = json.loads(call(*arguments, "--report", tmp_path / "a.html").stdout)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert not re.search("<i>malignant|kind <b>", text)
    assert str(data.parent) not in text  # a report that is shown around names no folder of its maker
    page, expected = unescape(text), found["expected"]
    for said in (
        "How many hits (target = <i>malignant</i>) do the first 200 rows hold?",
        f"<strong>{expected['mean']:.0f} hits</strong> expected in the first 200 of 569 rows to come",
        f"95 % interval {expected['low']:.0f} to {expected['high']:.0f}</span>",
        "<strong>75 hits</strong> if 200 rows were picked at random",
        "569 of tumours & more.csv, 212 of them hits (37.3 %), all held out from the fits. Judged by 3",
        "<dt>Left out</dt><dd>1 column (same)</dd>",
        f"<dt>Model</dt><dd>{found['chosen']}, ",
        "plain & simple",
        "Hits lost among the first 200 rows",
        "<dt>logistic regression</dt>",
        ": mean radius, mean texture, mean perimeter, kind <b></dd>",
        "alpha</dt><dd>0.1</dd>",
    ):
        assert said in page, said
    for model, gap in found["differences"].items():
        mean, low, high = (f"{gap[key]:+.1f}".replace("-", "−") for key in ("mean", "low", "high"))
        numbers = "".join(f'<td class="number">{number}</td>' for number in (mean, f"{low} to {high}"))
        answer = "yes" if gap["more_than_chance"] else "no"
        assert f'<th scope="row">{model}</th>{numbers}<td>{answer}</td>' in page
    call(*arguments, "--report", tmp_path / "b.html")
    assert (tmp_path / "b.html").read_bytes() == (tmp_path / "a.html").read_bytes()


def test_a_report_by_time_has_dates_what_was_left_out_and_what_drives_the_ranking(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 2)), columns=["decides", "noise"])
    table["y"] = (table["decides"] + 0.3 * rng.normal(size=300) > 1.0).astype(int)
    table["day"] = np.datetime64("2025-10-01") + np.arange(300)
    table.to_csv(tmp_path / "days.csv", index=False)
    arguments = ["compare", tmp_path / "days.csv", "--label", "y", "--time", "day", "--budget", 30, *FEW]
    call(*arguments, "--hold-out", "20%", "--folds", 3, "--report", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    drivers = page.partition("Hits lost among the first")[2].partition("</table>")[0]
    assert '<th scope="row">decides</th>' in drivers
    assert "180 of days.csv from 30 November 2025 to 28 May 2026" in page
    left_out = re.search("<dt>Left out</dt><dd>(.*)</dd>", page)[1]
    assert left_out == (
        "1 column (day); 60 rows that were only learnt from; 60 rows kept for the promise; "
        "of the budget of 30 rows, 18 fall to the rows held out"
    )


def test_bad_output_gets_one_line_before_any_work(data, tmp_path, monkeypatch):
    arguments = ["compare", data, "--label", "target", "--positive", "benign", "--report"]
    for message, path in {
        "is written as .html": tmp_path / "a.pdf",
        "the folder": tmp_path / "no" / "a.html",
        "is a folder": tmp_path,
    }.items():
        result = call(*arguments, path, code=2)
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    monkeypatch.setattr("pushrank.cli.write.os.access", lambda _, mode: not mode & os.W_OK)
    monkeypatch.setattr("pushrank.cli.source.read.read_rows", lambda *_: pytest.fail("work has begun"))
    told = call(*arguments, tmp_path / "r.html", code=2)
    assert "cannot be written to; choose another" in told.output
    assert list(tmp_path.iterdir()) == []


def test_a_report_of_equal_scores_names_no_best_and_counts_ties_by_one_rule(tmp_path):
    names = [f"row {row}" for row in range(120)]  # of rows that no training part holds
    pd.DataFrame({"plan": names, "y": [1, 0, 0] * 40}).to_csv(tmp_path / "equal.csv", index=False)
    call(
        "compare",
        tmp_path / "equal.csv",
        "--label",
        "y",
        "--keep",
        "plan",
        *FEW,
        "--report",
        tmp_path / "a.html",
    )
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "No model is better at the top than another, by precision in 10 rows: each has 0.333." in page
    assert "120 rows tie where the list is cut" in page
    assert re.search(r">0\.333 ± 0\.\d+<", page)  # the criterion in the table of measures
    assert page.count(' only</th><td class="number">0</td><td class="number">0</td>') == 2
    assert "as do 120 where the table ends" in page
    assert '<td class="number">1–120</td>' in page
    assert page.count("No row is more likely among the first 10 of ") == 2
