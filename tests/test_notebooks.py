"""What notebooks show: links to the documentation, tables and pictures of results, all texts escaped."""

import numpy as np
import pytest

from pushrank import PNormPush, PushBoostCV, TopRankerCV, estimators
from pushrank._base.html import html_sentences, html_table, interval_pictures
from pushrank.estimators import _base
from pushrank.model_selection import RankerComparison

SITE = "https://site.example/en"


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setattr(_base, "documentation", lambda: SITE)


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("name", estimators.__all__)
def test_an_estimator_leads_to_its_page(name):
    ranker = getattr(estimators, name)()
    assert ranker._get_doc_link() == f"{SITE}/generated/api/pushrank.{name}.html"


def test_the_diagram_has_the_link_where_there_is_a_site(monkeypatch):
    monkeypatch.setattr(_base, "documentation", lambda: "")
    assert PNormPush()._get_doc_link() == ""
    assert "PNormPush.html" not in PNormPush()._repr_html_()
    monkeypatch.setattr(_base, "documentation", lambda: SITE)
    assert f'href="{SITE}/generated/api/pushrank.PNormPush.html"' in PNormPush()._repr_html_()


def test_the_site_is_that_of_the_metadata(monkeypatch):
    urls = {"Project-URL": ["Source, https://source.example", f"Documentation, {SITE}/"]}

    class Metadata:
        get_all = staticmethod(lambda name, _: urls[name])

    monkeypatch.setattr(_base, "metadata", lambda _: Metadata)
    assert _base.documentation.__wrapped__() == SITE


FOUND = [(TopRankerCV(), {"candidate": "<b>"}), (PushBoostCV(), {"p": 4.0})]


@pytest.mark.parametrize(("search", "params"), FOUND)
def test_a_search_shows_what_it_chose_from(search, params):
    figures = {"standard_error": 0.01, "average_precision": 0.75}
    others = [{"params": {"p": 2.0}, "precision": 0.25}, {"params": params, "precision": 0.5}]
    search.candidates_, search.best_params_ = [figures | one for one in others], params
    table = search._repr_html_().rpartition("<table>")[2]
    assert "&lt;b&gt;" in table or "<td>p=4.0</td>" in table
    assert "<b>" not in table
    assert table.count("<svg") == 2
    assert "<td>0.500 ± 0.010</td><td>0.750</td><td>chosen</td>" in table


def test_a_comparison_shows_its_verdict_means_and_differences():
    measures = {"a": [0.5, 0.6, 0.7], "<b>": [0.7, 0.9, 0.8], "c": [0.5, 0.5, 0.5]}
    arrays = {name: {"AUC": np.array(values)} for name, values in measures.items()}
    comparison = RankerComparison(arrays, "AUC")
    page = comparison._repr_html_()
    assert page.startswith("<p>Take &lt;b&gt;: it has the highest AUC on rows held out, 0.800. a, the sim")
    assert "All 3 models may be the best: this file cannot tell them apart." in page
    assert "<b>" not in page
    assert "<td>a</td><td>yes</td><td>0.600 ± 0.091</td>" in page
    assert page.count("<svg") == page.count("<circle") == 2
    assert "<td>+0.200</td>" in page
    alone = RankerComparison({"a": {"AUC": np.array([0.5, 0.6])}}, "AUC")._repr_html_()
    assert "a alone was measured" in alone
    assert "svg" not in alone


pytestmark = pytest.mark.fast


def test_texts_are_escaped():
    assert html_sentences("a < b") == "<p>a &lt; b</p>"
    table = html_table(["model"], [["<b>"]])
    assert table == (
        "<table><thead><tr><th>model</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>"
    )


def test_intervals_are_drawn_on_one_scale():
    _, second = interval_pictures([1.0, 2.0], [0.0, 1.5], [2.0, 2.5])
    assert 'cx="92.4"' in second
