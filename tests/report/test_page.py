"""The report as a document: whole, safe, accessible, and true to its numbers. No browser is needed."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hostile import ATTACK, hostile_findings

from pushrank import metrics
from pushrank.report import Difference, Measured, render, sentences, write_report
from pushrank.report.axis import places, ticks
from pushrank.report.chart import COLOURS, Chart, Series
from pushrank.report.markup import data, tag, together

VOID = {"meta", "input"}


class Document(HTMLParser):
    """Elements in order, with their attributes and the path to them; unbalanced tags fail."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.text: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, name, attributes):
        assert len(dict(attributes)) == len(attributes)
        self.elements.append((name, dict(attributes), tuple(self._open)))
        if name not in VOID:
            self._open.append(name)

    def handle_endtag(self, name):
        assert self._open.pop() == name

    def handle_data(self, data):
        self.text.append((self._open[-1] if self._open else "", data))

    def all(self, name):
        return [attributes for found, attributes, _ in self.elements if found == name]


@pytest.fixture(scope="module")
def findings():
    return hostile_findings()


@pytest.fixture(scope="module")
def page(findings):
    return str(render(findings))


@pytest.fixture(scope="module")
def document(page):
    return Document(page)


def test_nothing_is_fetched_and_nothing_but_our_own_script_may_run(page, document):
    for _, attributes, _ in document.elements:
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert "style" not in attributes  # which the policy would refuse
        if "href" in attributes:
            assert attributes["href"].startswith("#")
    for text in ("url(", "@import", "http://", "https://", "fetch(", "XMLHttpRequest", "import("):
        assert text not in page.replace("http://www.w3.org/2000/svg", "")
    (policy,) = [m["content"] for m in document.all("meta") if "http-equiv" in m]
    assert policy.startswith("default-src 'none'; ")
    blocks = {name: [t for owner, t in document.text if owner == name] for name in ("style", "script")}
    for name in ("style", "script"):
        hashed = base64.b64encode(hashlib.sha256(blocks[name][-1].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{hashed}'" in policy


def test_what_users_gave_is_text_and_nothing_else(page, document):
    assert ATTACK not in page
    assert document.all("img") == []
    # three charts' data and the one script
    assert [s.get("type") for s in document.all("script")] == ["application/json"] * 3 + [None]
    texts = [text for _, text in document.text]
    for expected in (ATTACK, f"{ATTACK} 0", f"{ATTACK} = 1"):
        assert any(expected in text for text in texts), expected


def test_landmarks_captions_and_headers(document):
    for landmark in ("header", "nav", "main", "h1"):
        assert len(document.all(landmark)) == 1
    assert document.all("html") == [{"lang": "en"}]
    assert len(document.all("caption")) == len(document.all("table")) == 10
    assert all(th.get("scope") in ("col", "row") for th in document.all("th"))
    ids = [a["id"] for _, a, _ in document.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for link in document.all("a"):
        assert link["href"][1:] in ids
    for figure in document.all("figure"):
        assert figure["aria-labelledby"] in ids
    assert all("figure" in path for name, _, path in document.elements if name == "figcaption")
    # whatever scrolls sideways can be reached and is named
    for _, attributes, _ in document.elements:
        if attributes.get("class") == "scroll":
            assert attributes["tabindex"] == "0"
            assert attributes["aria-label"]
    for _, attributes, path in document.elements:
        if "svg" in path:
            assert "tabindex" not in attributes
    assert all(svg.get("aria-hidden") == "true" for svg in document.all("svg"))
    levels = [int(name[1]) for name, *_ in document.elements if re.fullmatch("h[1-6]", name)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_curves_are_drawn_without_any_script(document):
    curves = [p for p in document.all("path") if p["class"].startswith("curve")]
    assert len(curves) == 3 * 3  # charts by models
    looks = {p["class"] for p in curves}
    assert len(looks) == 3
    for path in curves:
        numbers = [float(number) for number in re.findall(r"[\d.]+", path["d"])]
        assert min(numbers) >= 0.0
        assert max(numbers) <= 1000.0
    bands = [p for p in document.all("path") if p["class"].startswith("band")]
    assert len(bands) == 2 * 2  # of the two models compared, in two charts


def texts_of(findings):
    return [text for _, text in Document(str(render(findings))).text]


def row_of(texts, caption, model):
    """The cells of a model's row in the table of a caption."""
    start = next(place for place, text in enumerate(texts) if text.startswith(caption))
    first = texts.index(model, start + 1)
    return texts[first + 1 : first + 4]


def test_the_verdict_is_the_one_it_was_given_and_the_hits_are_those_of_the_metrics(findings):
    given, found = sentences(findings)
    assert given == findings.verdict
    hits = {
        model: 40 * metrics.precision_at_k(findings.y, findings.held_out[model], 40, ties="half")
        for model in ("good", "baseline")
    }
    assert f"Of the 40 rows that good ranks first, {hits['good']:.0f} are hits" in found
    assert f"by baseline, {hits['baseline']:.0f} are" in found


def test_what_is_more_than_chance_is_told_as_given_however_clear_the_bootstrap(findings):
    expected = metrics.compare(
        findings.y,
        findings.held_out["good"],
        findings.held_out["baseline"],
        partial(metrics.precision_at_k, k=40, ties="half"),
        confidence_level=1 - 0.05 / 2,
        n_resamples=2000,
        random_state=3,
    )
    assert expected.low > 0
    for beyond, answer in ((True, "yes"), (False, "no"), (None, "too few test parts to tell")):
        given = Difference(2.0, 1.0, -0.78, 4.78, beyond)
        texts = texts_of(replace(findings, differences={"baseline": given}))
        assert row_of(texts, "good against the others over the test parts", "baseline") == [
            "+2.0",
            "−0.8 to +4.8",
            answer,
        ]
        low, high, difference = (40 * value for value in expected[:3])
        assert row_of(texts, "These lists alone", "baseline")[:2] == [
            f"{difference:+.1f}",
            f"{low:+.1f} to {high:+.1f}",
        ]
    assert "real" not in " ".join(texts)


def test_a_measure_has_the_same_digits_for_every_model(findings):
    few, many = Measured(1.6667, 0.3333), Measured(2.3333, 0.8819)
    share = Measured(0.5, 0.0123)
    values = [few, many, few]
    told = replace(
        findings,
        measures={m: {"rows": v, "share": share} for m, v in zip(findings.measures, values, strict=True)},
        criterion="rows",
    )
    page = render(told)
    assert page.count("1.7 ± 0.3") == 2
    assert page.count("2.3 ± 0.9") == 1
    assert page.count("0.500 ± 0.012") == 3


def test_the_rows_are_those_of_the_lists(findings, document):
    texts = [text for _, text in document.text]
    order = np.argsort(-findings.held_out["good"])
    start = next(i for i, text in enumerate(texts) if text.startswith("The first 50 rows by good"))
    rows = [t for owner, t in document.text[start:] if owner == "th"][15:65]
    assert [int(row.replace(",", "")) - 1 for row in rows] == order[:50].tolist()
    assert "Of 14 columns the first 10 are shown." in "".join(texts)
    assert "missing" in texts
    assert "x" * 80 + "…" in texts
    in_good = set(order[:40])
    in_baseline = set(np.argsort(-findings.held_out["baseline"])[:40])
    shared = in_good & in_baseline
    place = texts.index("good and baseline")
    assert texts[place + 1 : place + 3] == [str(len(shared)), str(int(findings.y[list(shared)].sum()))]


def test_ties_are_told_and_counted_alike_everywhere(findings):
    """Scores in steps: verdict, measures of the list and disagreements give one number of hits."""
    assert not any(findings.tied_at(model, 40) for model in findings.models)
    assert "tie" not in "".join(sentences(findings))
    steps = {model: np.round(scores) for model, scores in findings.held_out.items()}
    tied = replace(findings, held_out=steps, scores=steps, depth=60)
    texts = [text for _, text in Document(str(render(tied))).text]
    expected = {
        model: 60 * metrics.precision_at_k(findings.y, steps[model], 60, ties="half")
        for model in ("good", "baseline")
    }
    counts = {}
    for name in ("good and baseline", "good only", "baseline only"):
        place = texts.index(name)
        counts[name] = np.array([float(text) for text in texts[place + 1 : place + 3]])
    for model, hits in expected.items():
        assert tied.hits(model) == pytest.approx(hits)
        assert tied.chances(model)[findings.y].sum() == pytest.approx(hits)
        found = counts["good and baseline"] + counts[f"{model} only"]
        np.testing.assert_allclose(found, [60, hits], atol=0.11)
        assert f"{tied.tied_at(model, 60):,} by {model}" in sentences(tied)[1]
    for model, scores in steps.items():
        at_cut = scores == np.sort(scores)[::-1][59]
        assert tied.tied_at(model, 60) == at_cut.sum()
        first, last = tied.places(model)
        np.testing.assert_array_equal(first, 1 + (scores[:, None] < scores).sum(axis=1))
        np.testing.assert_array_equal(last, (scores[:, None] <= scores).sum(axis=1))
    assert any("Rows that share ranks, such as 3–5, are tied" in text for text in texts)
    assert any(
        text.startswith("Rows more likely among the first 60 of good than of baseline") for text in texts
    )


def test_no_model_is_called_best_of_equals(findings):
    assert "(best at the top)" in render(findings)
    page = render(replace(findings, none_is_better=True))
    assert "(best at the top)" not in page
    assert "The best of" not in page


def test_equal_findings_give_equal_pages(page):
    assert str(render(hostile_findings())) == page


def test_written_whole_or_not_at_all(findings, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    write_report(findings, target)
    assert target.read_text(encoding="utf-8") == str(render(findings))
    before = target.read_bytes()

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", fail)
    with pytest.raises(OSError, match="No space left"):
        write_report(findings, target)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def luminance(colour):
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_by_day_by_night_and_on_paper():
    """WCAG 2.2: 4.5 for text, 3 for what is drawn."""
    css = files("pushrank.report").joinpath("page.css").read_text()
    blocks = [dict(re.findall(r"(--\w+): (#\w{6})", block)) for block in css.split(":root")[1:]]
    assert len(blocks) == 3
    for colours in blocks:
        for text in ("--ink", "--quiet", "--link"):
            for ground in ("--paper", "--wash"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        for m in range(COLOURS):
            assert contrast(colours[f"--m{m}"], colours["--paper"]) >= 3.0, m


def test_markup_escapes_all_but_itself():
    assert tag("a", "<", tag("b", "&"), title='"<', hidden=True, id=None) == (
        '<a title="&quot;&lt;" hidden>&lt;<b>&amp;</b></a>'
    )
    assert together("<", None, tag("i")) == "&lt;<i></i>"
    assert tag("input", checked=True) == "<input checked>"
    assert "<" not in data({"</script>": "<!--"})[len('<script type="application/json">') : -len("</script>")]
    with pytest.raises(ValueError, match="not JSON compliant"):
        data(float("nan"))


@pytest.mark.parametrize("n_rows", [2, 3, 30, 4601, 10**7])
def test_axes_have_a_few_round_ticks(n_rows):
    for scale, span in (("log", (1.0, n_rows)), ("log1p", (0.0, n_rows)), ("linear", (0.0, 1.0))):
        values = ticks(scale, span)
        assert 1 <= len(values) <= 9
        at = places(np.array(values), scale, span)
        assert ((at >= 0.0) & (at <= 1.0)).all()


def test_two_rows_and_many_models_make_a_chart():
    y = np.array([0.5, 1.0])
    chart = Chart(
        "k", "t", "c", np.array([1, 2]), "log", "x", "y", "{} rows", [Series(str(s), y) for s in range(20)]
    )
    looks = re.findall(r'class="(curve [^"]*)" data-series', chart.render())
    assert len(set(looks)) == 20
