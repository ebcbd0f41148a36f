"""The page of a model that is watched: whole, safe, and true to its numbers."""

import base64
import hashlib
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.monitoring import Reference, watch
from pushrank.report import WatchData, render, write_report
from pushrank.report.watching import evidence_text
from tests.report.hostile import ATTACK
from tests.report.test_page import Document

pytestmark = pytest.mark.fast


def page_of(drift, known=True, name="x2", n_days=90):
    """Return the page of a stream that drifts, or whose rows do, from day 80 on."""
    stream = make_stream(150, 150, drift_day=80, drift=drift, random_state=1)
    scores, first = stream.data[:, :3] @ [1.5, 1.0, 0.7], stream.day < 60
    new = ~first & (stream.day < 60 + n_days)
    names = ["x1", name, "x3", "x4", "x5", "x6"]
    X = pd.DataFrame(stream.data, columns=names)
    reference = Reference.of(Budget(15), stream.time[first], scores[first], stream.target[first], X[first])
    y = stream.target[new] if known else None
    watched = watch(reference, scores[new], stream.time[new], X[new], y)
    return WatchData(watched, "new.csv", reference.sentence, {"Model": "m.skops"})


@pytest.fixture(scope="module")
def dropped():
    return page_of("label")


def test_the_sentence_comes_first_and_the_page_is_whole(dropped):
    text = render(dropped)
    document = Document(text)
    [verdict] = re.findall(r'class="verdict" aria-label="Verdict">\n<p>(.*)</p>', text)
    assert verdict.lower() == dropped.watched.sentence.lower() + "."
    assert verdict.startswith("Fewer hits than expected since ")
    assert [name for name, _, _ in document.elements if name in ("script", "link", "img", "iframe")] == []
    style = re.search("<style>(.*?)</style>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in text
    ids = [attributes["id"] for _, attributes, _ in document.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = [attributes["href"][1:] for attributes in document.all("a")]
    assert set(links) <= set(ids)
    assert render(dropped) == text


def test_the_table_and_the_pictures_hold_what_was_watched(dropped):
    unit, lines = dropped.watched.folded()
    header, cells = dropped.by_period
    assert (unit, header[:2]) == ("week", ["week", "days"])
    assert len(cells) == len(lines)
    for line, cell in zip(lines, cells, strict=True):
        assert cell[6] == f"{line['hits'] / line['known']:,.1f}"
        assert cell[8] == evidence_text(line["evidence"])
    hits, evidence = dropped.pictures()
    assert [line.name for line in hits.lines] == ["hits", "expected"]
    of = ("hits", "expected")
    assert hits.numbers[0][1] == [f"{lines[0][name] / lines[0]['known']:.2f}" for name in of]
    assert evidence.numbers[-1][1] == ["1,000,000", "40.0"]
    assert dropped.watched.table[-1]["evidence"] > 1e6
    text = render(dropped)
    for title in ("Hits a day, found and expected", "Evidence that there are fewer hits"):
        assert title in text


def test_a_column_that_moved_is_shown_in_parts():
    page = page_of("rows")
    text = render(page)
    record = next(record for record in page.watched.moved if record["column"] == "x2")
    assert "Where the scores l" in text
    _, _, of_column = text.partition("Where x2 lay from ")
    chosen = re.search(r'class="chosen"><th scope="row">(.*?)</th><td class="number">(.*?)</td>', of_column)
    assert chosen[1] == record["part"]
    assert chosen[2] == f"{100 * record['share_before']:.1f} %"


def test_without_labels_there_are_no_pictures_of_hits():
    page = page_of("label", known=False, n_days=5)
    text = render(page)
    Document(text)
    assert page.pictures() == []
    assert "<figure" not in text
    assert {tuple(cells[3:]) for cells in page.by_period[1]} == {("–",) * 5}


def test_texts_of_the_data_are_escaped():
    page = page_of("rows", name=ATTACK)
    page = replace(page, title=ATTACK, settings={"Model": ATTACK})
    text = render(page)
    assert ATTACK not in text
    assert [name for name, _, _ in Document(text).elements if name == "script"] == []


def test_evidence_beyond_doubt_is_no_long_number():
    assert [evidence_text(value) for value in (0.01234, 80.0, 1e9)] == ["0.0123", "80", "> 1,000,000"]


def test_a_failed_write_leaves_the_page_that_was_there(dropped, tmp_path, monkeypatch):
    write_report(dropped, tmp_path / "page.html")
    before = (tmp_path / "page.html").read_bytes()
    monkeypatch.setattr("pathlib.Path.write_text", lambda *_, **__: np.zeros(1)[1])
    with pytest.raises(IndexError):
        write_report(dropped, tmp_path / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_bytes() == before
