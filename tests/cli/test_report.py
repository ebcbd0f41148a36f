"""``pushrank report`` and ``compare --report``: from a file to a page, with figures of unseen rows only."""

import json
import os
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer

from pushrank.report.context import with_minus_signs
from tests.cli.runner import FEW, call


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    table = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 2, 30]]
    table["kind <b>"] = np.where(table.index % 3, "plain & simple", None)
    table["target"] = np.where(table["target"], "benign", "<i>malignant</i>")
    path = tmp_path_factory.mktemp("data") / "tumours & more.csv"
    table.to_csv(path, index=False)
    return path


def test_report(data, tmp_path):
    arguments = ["report", data, "--label", "target", "--positive", "<i>malignant</i>", "--budget", 200]
    arguments += ["--folds", 3, *FEW]
    shown = call(*arguments, "-o", tmp_path / "a.html").output
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    said = re.search(r"(Take .* hits in 200 rows; .* Judged by .*?\.) (Of the 200 rows .*? are\.)", shown)
    texts = ["tumours &amp; more.csv", "kind &lt;b&gt;", "plain &amp; simple", "missing"]
    texts += ["Cross-validation</dt><dd>3 parts", "alpha</dt><dd>0.1</dd>"]
    for text in texts + [f"<p>{with_minus_signs(sentence)}" for sentence in said.groups()]:
        assert text in page
    assert not re.search("<i>malignant|kind <b>", page)
    assert str(data.parent) not in page  # a report that is shown around names no folder of its maker
    call(*arguments, "-o", tmp_path / "b.html")
    assert (tmp_path / "b.html").read_bytes() == (tmp_path / "a.html").read_bytes()
    compared = ["compare", *arguments[1:], "--report", tmp_path / "c.html", "--json"]
    summary = json.loads(call(*compared).stdout)
    assert summary["verdict"] in shown
    assert f"<p>{with_minus_signs(summary['verdict'])}</p>" in page
    assert "Hits lost among the first 200 rows" in page
    assert "<dt>logistic regression</dt>" in page
    assert ": mean radius, mean texture, mean perimeter, kind &lt;b&gt;</dd>" in page
    words = {True: "yes", False: "no", None: "too few test parts to tell"}
    for model, found in summary["differences"].items():
        mean, low, high = (f"{found[key]:+.1f}".replace("-", "−") for key in ("mean", "low", "high"))
        numbers = "".join(f'<td class="number">{text}</td>' for text in (mean, f"{low} to {high}"))
        answer = words[found["more_than_chance"]]
        assert f'<th scope="row">{model}</th>{numbers}<td>{answer}</td>' in page
    assert (tmp_path / "c.html").read_bytes() == (tmp_path / "a.html").read_bytes()


def test_a_report_by_time_says_what_drives_the_ranking(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 2)), columns=["decides", "noise"])
    table["y"] = (table["decides"] + 0.3 * rng.normal(size=300) > 1.0).astype(int)
    table.assign(day=range(300)).to_csv(tmp_path / "days.csv", index=False)
    arguments = ["report", tmp_path / "days.csv", "--label", "y", "--time", "day", "--budget", 30, *FEW]
    call(*arguments, "--folds", 3, "-o", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    drivers = page.partition("Hits lost among the first")[2].partition("</table>")[0]
    assert '<th scope="row">decides</th>' in drivers


def test_report_of_sparse_rows_without_a_budget(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    dump_svmlight_file(X[:, :5], 2 * y - 1, str(tmp_path / "data.libsvm"))
    call("report", tmp_path / "data.libsvm", "--folds", 2, "--repeats", 2, *FEW, "-o", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    texts = ["5, sparse", "alpha</dt><dd>0.001</dd>", "hits among the first 89 rows"]
    for text in (*texts, "2 times; curves and rows from the first"):
        assert text in page


def test_bad_input_gets_one_line_before_any_work(data, tmp_path):
    report = ["report", data, "--label", "target", "--positive", "benign", "-o"]
    for message, arguments in {
        "is written as .html": [*report, tmp_path / "a.pdf"],
        "the folder": [*report, tmp_path / "no" / "a.html"],
        "is a folder": [*report, tmp_path],
        "choose at most": [*report, tmp_path / "a.html", "--folds", 300],
        "--show 'x' is no column": [*report, tmp_path / "a.html", "--show", "x"],
    }.items():
        result = call(*arguments, code=2)
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
        assert list(tmp_path.iterdir()) == []
    told = call("compare", data, "--label", "target", "--show", "x", code=2).stderr
    assert "--show and --open are for a report; say where to save it: --report PATH" in told
    result = call("compare", data, "--label", "target", "--report", tmp_path / "a.pdf", code=2)
    assert "is written as .html" in result.stderr


def test_a_folder_that_must_not_be_written_to_is_told_before_any_work(data, tmp_path, monkeypatch):
    monkeypatch.setattr("pushrank.cli.write.os.access", lambda _, mode: not mode & os.W_OK)
    monkeypatch.setattr("pushrank.cli.source.read.read_table", lambda *_: pytest.fail("work has begun"))
    told = call("report", data, "--label", "target", "-o", tmp_path / "r.html", code=2)
    assert "cannot be written to; choose another" in told.output


def test_a_report_of_equal_scores_names_no_best_and_counts_ties_by_one_rule(tmp_path):
    names = [f"row {row}" for row in range(120)]  # of rows that no training part holds
    pd.DataFrame({"plan": names, "y": [1, 0, 0] * 40}).to_csv(tmp_path / "equal.csv", index=False)
    arguments = ["report", tmp_path / "equal.csv", "--label", "y", *FEW, "-o", tmp_path / "a.html"]
    shown = call(*arguments).stdout
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    said = "No model is better at the top than another, by precision in 10 rows: each has 0.333."
    assert shown.startswith(said)
    assert shown.count("3.3") == 3  # of both lists, and of a random pick
    assert re.search(r">0\.333 ± 0\.\d+<", page)  # the criterion in the table of measures
    assert page.count(' only</th><td class="number">0</td><td class="number">0</td>') == 2
    assert "The last 50 shown are of 120 that tie." in page
    assert '<td class="number">1–120</td>' in page
    assert page.count("No row is more likely among the first 10 of ") == 2
