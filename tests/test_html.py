"""Tables and pictures of the HTML that notebooks show."""

import pytest

from pushrank._html import html_sentences, html_table, interval_pictures

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
