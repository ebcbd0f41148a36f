"""What notebooks show: tables and pictures of results, all texts escaped."""

import numpy as np
import pytest

from pushrank import PNormPush, PushBoostCV, TopRankerCV
from pushrank._base.html import html_sentences, html_table, interval_pictures
from pushrank.model_selection import RankerComparison


def test_the_diagram_of_an_estimator_leads_to_no_page_of_others():
    assert PNormPush()._get_doc_link() == ""
    assert "PNormPush.html" not in PNormPush()._repr_html_()


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
