"""The report as a document: whole, safe, accessible, and true to its numbers."""

import ast
import base64
import hashlib
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier

from pushrank import metrics
from pushrank.model_selection import Difference, RankerComparison, compare_rankers
from pushrank.report import ReportData, render, write_report
from pushrank.report.first_screen import FirstScreen
from pushrank.report.pictures import hits_curve
from pushrank.report.words import cell_text, column_digits, rounded, row_count
from tests.report.hostile import ATTACK, hostile_data

VOID = {"meta"}


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
def data():
    return hostile_data()


@pytest.fixture(scope="module")
def page(data):
    return render(data)


@pytest.fixture(scope="module")
def document(page):
    return Document(page)


def test_nothing_is_fetched_and_no_script_may_run(page, document):
    for _, attributes, _ in document.elements:
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert "style" not in attributes  # which the policy would refuse
        if "href" in attributes:
            assert attributes["href"].startswith("#")
    assert document.all("script") == []
    for text in ("@import", "http://", "https://", "fetch(", "XMLHttpRequest", "import("):
        assert text not in page.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in page
    (policy,) = [m["content"] for m in document.all("meta") if "http-equiv" in m]
    (style,) = [text for owner, text in document.text if owner == "style"]
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'")


def test_what_users_gave_is_text_and_nothing_else(page, document):
    assert ATTACK not in page
    assert document.all("img") == []
    texts = [text for _, text in document.text]
    for expected in (ATTACK, f"{ATTACK} 0", f"{ATTACK} = 1"):
        assert any(expected in text for text in texts), expected


def test_a_notebook_shows_the_page_in_a_frame_that_runs_nothing(data, page, monkeypatch):
    monkeypatch.setattr("pushrank.report.page.render", lambda shown: page if shown is data else None)
    (frame,) = Document(data._repr_html_()).all("iframe")
    assert frame["srcdoc"] == page
    assert frame["sandbox"] is None  # empty: no scripts, no forms, no way out


def test_landmarks_captions_and_headers(document):
    for landmark in ("header", "main", "h1"):
        assert len(document.all(landmark)) == 1
    assert document.all("html") == [{"lang": "en"}]
    assert len(document.all("caption")) == len(document.all("table")) == 8
    assert all(th.get("scope") in ("col", "row") for th in document.all("th"))
    ids = [a["id"] for _, a, _ in document.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes, _ in document.elements:
        for name in ("href", "aria-labelledby"):
            if name in attributes:
                assert attributes[name].removeprefix("#") in ids
    # whatever scrolls sideways can be reached and is named
    scrolling = [a for _, a, _ in document.elements if a.get("class") == "scroll"]
    assert len(scrolling) == 8
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in scrolling)
    for svg in document.all("svg"):
        assert svg.get("aria-hidden") == "true" or (svg["role"] == "img" and svg["aria-labelledby"])
    levels = [int(name[1]) for name, *_ in document.elements if re.fullmatch("h[1-6]", name)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def texts_of(data):
    return texts_in(render(data))


def texts_in(page):
    found = Document(page).text
    return [text.strip() for owner, text in found if text.strip() and owner != "style"]


def after(texts, start, n):
    """The texts that come after the first that begins so."""
    place = next(place for place, text in enumerate(texts) if text.startswith(start))
    return texts[place + 1 : place + 1 + n]


def hits_of(data, model, n_rows):
    return n_rows * metrics.precision_at_k(data.y, data.lists.scores[model], n_rows, ties="half")


@pytest.mark.parametrize(("choose", "chosen"), [("simplest", "baseline"), ("most", "good")])
def test_the_first_screen_answers_in_this_order_of_the_chosen_model_alone(data, choose, chosen):
    measures = {
        model: {
            "hits in budget": np.array([20.0, 6.0, 16.0]) + n,
            "average precision": np.full(3, average),
        }
        for model, n, average in (("baseline", 0.0, 0.5), ("third", 1.0, 0.4), ("good", 4.0, 0.6))
    }
    names = ("baseline", data.lists.names[2], "good")
    scores = dict(zip(measures, map(data.comparison.scores.get, names), strict=True))
    found = replace(data.comparison, measures=measures, scores=scores, criterion="hits in budget")
    found = replace(
        found, choose=choose, simplicity=dict.fromkeys(measures, 0), judged="Judged by 3 parts. More."
    )
    times = np.datetime64("2025-12-30") + np.arange(len(data.y)) // 10
    facts = {"title": "a.csv", "meaning": "y = 1", "times": times, "left_out": ["2 columns (a, b)", "9 rows"]}
    shown = replace(data, comparison=found, **facts)
    document = Document(render(shown))
    first = [text for owner, text in document.text if text.strip() and owner != "style"]
    first = " ".join(" ".join(first[: first.index("Why this model, and what are the others?")]).split())
    mean, low, high = found.expected_
    random, is_first = 40 * data.y.mean(), chosen == "good"
    other, lead = ("third", "3 hits ahead of") if is_first else ("good", "4 hits behind")
    expected = [
        "How many hits (y = 1) do the first 40 rows hold?",
        f"{mean:.0f} hits expected in the first 40 of 400 rows to come,",
        f"95 % interval {low:.0f} to {high:.0f} {random:.0f} hits if 40 rows were picked at random",
        f"400 of a.csv from 30 December 2025 to 7 February 2026, {data.y.sum()} of them hits",
        "Judged by 3 parts.",
        "Left out 2 columns (a, b); 9 rows",
        f"Model {chosen}, {lead} {other}",
        "which may be chance: all 3 may be the best.",
        "Limits All this holds for rows like these",
        "Which model finds most? on rows held out hits 95 % interval 0 40 good",
        f"random choice {random:.0f} –",
        "What if you looked at more rows, or fewer?",
        f"{chosen} random choice the budget: 40 rows",
    ]
    places = [first.find(text) for text in expected]
    assert -1 not in places, (first, [text for text in expected if text not in first])
    assert places == sorted(places)
    assert "pushrank" not in first  # no command
    folded = [path for name, _, path in document.elements if name in ("p", "table") and "details" not in path]
    assert len(folded) == 3


def test_no_sentence_comes_twice(small_page):
    prose = " ".join(text for owner, text in Document(small_page).text if owner in ("p", "dd", "span"))
    said = [sentence for sentence in re.split(r"(?<=[.:?]) ", " ".join(prose.split())) if len(sentence) > 25]
    assert len(said) > 10
    assert sorted(said) == sorted(set(said))


def test_without_a_budget_the_page_says_how_many_rows_are_the_first():
    data = hostile_data()
    page = render(replace(data, comparison=replace(data.comparison, budget=None)))
    assert f"do the first {round(data.y.sum() / 4)} rows hold?" in page
    assert "No budget was given: the first rows are a quarter as many as there are hits." in page


def test_dots_lie_where_their_figures_do(small):
    first = FirstScreen(small.comparison, small.lists, None)
    ends, dots = first.dots()
    assert [dot["kind"] for dot in dots] == ["chosen", "open", "random"]
    means = [dot["places"][0] for dot in dots]
    values = [first.mean("a"), first.mean("chance"), 28 * 8 / 400]
    np.testing.assert_allclose(np.diff(means) / np.diff(means)[0], np.diff(values) / np.diff(values)[0])
    assert ends[0] == "0"
    low, high = first.intervals["a"]
    assert 0.0 <= low < values[0] < high <= 28.0
    assert dots[0]["places"][1] < means[0] < dots[0]["places"][2] <= 96.0


def test_the_curve_has_the_hits_of_the_list_and_the_budget_in_it(small):
    curve = hits_curve(small.lists, small.comparison)
    assert [line.name for line in curve.lines] == ["a", "random choice", "the budget: 28 rows"]
    at, share = curve.point
    assert at == pytest.approx(1 / 3)
    assert share == pytest.approx(hits_of(small, "a", 28) / hits_of(small, "a", 84))
    assert curve.y_ticks[0] == (0.0, "0")


def test_what_is_more_than_chance_is_shown_as_given(data, monkeypatch):
    for beyond, answer in ((True, "yes"), (False, "no")):
        given = {"baseline": Difference(2.0, 1.0, -0.7804, 4.7804, beyond)}
        monkeypatch.setattr(RankerComparison, "differences_", given)
        texts = texts_of(data)
        assert ("more than chance explains" in " ".join(texts)) == beyond
        cells = after(texts, "good against the others over the test parts", 8)
        assert cells[4:] == ["baseline", "+2.000", "−0.780 to +4.780", answer]


def test_the_rows_are_those_of_the_lists_with_the_columns_that_matter(data, document, small_page):
    texts = [text for _, text in document.text]
    order = np.argsort(-data.lists.scores["good"])
    start = next(i for i, text in enumerate(texts) if text.startswith("The first 50 rows by good"))
    rows = [t for owner, t in document.text[start:] if owner == "th"][10:60]
    assert [int(row.replace(",", "")) - 1 for row in rows] == order[:50].tolist()
    assert (
        "Columns that are not shown: more 2, more 3, more 4, more 5, more 6, more 7, more 8, more 9." in texts
    )
    assert "missing" in texts
    assert "x" * 80 + "…" in texts
    firsts = [set(np.argsort(-data.lists.scores[model])[:40]) for model in ("good", "baseline")]
    shared = sorted(set.intersection(*firsts))
    assert after(texts, "good and baseline", 2) == [str(len(shared)), str(int(data.y[shared].sum()))]
    # What drives the ranking stands alone beside a row, and is shown with three digits.
    texts = texts_in(small_page)
    assert after(texts, "rank by chance", 1) == ["decides"]
    assert "Columns that are not shown: noise." in texts


def test_ties_are_marked_and_counted_alike_everywhere(data):
    """Scores in steps: measures of the list and disagreements give one number of hits."""
    assert "tie" not in " ".join(texts_of(data))
    steps = {model: np.round(scores) for model, scores in data.comparison.scores.items()}
    tied = replace(data, comparison=replace(data.comparison, scores=steps, budget=60))
    texts = texts_of(tied)
    counts = {}
    for name in ("good and baseline", "good only", "baseline only"):
        cells = [text for text in after(texts, name, 4) if text != "(ties)"]
        counts[name] = np.array([float(text) for text in cells[:2]])
    for model in ("good", "baseline"):
        assert tied.lists.hits(model) == pytest.approx(hits_of(tied, model, 60))
        assert tied.lists.chances(model)[data.y].sum() == pytest.approx(tied.lists.hits(model))
        found = counts["good and baseline"] + counts[f"{model} only"]
        np.testing.assert_allclose(found, [60, tied.lists.hits(model)], atol=0.11)
        scores = steps[model]
        assert tied.lists.tied_at(model, 60) == (scores == np.sort(scores)[::-1][59]).sum()
        first, last = tied.lists.ranks[model]
        np.testing.assert_array_equal(first, 1 + (scores[:, None] < scores).sum(axis=1))
        np.testing.assert_array_equal(last, (scores[:, None] <= scores).sum(axis=1))
    assert "(ties)" in texts
    assert f"{tied.lists.tied_at('good', 60)} rows tie where the list is cut" in " ".join(texts)
    assert any("Rows more likely among the first 60 of good than of baseline" in text for text in texts)


def test_equal_data_give_equal_pages_written_whole_or_not_at_all(page, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    write_report(hostile_data(), target)
    assert target.read_text(encoding="utf-8") == page
    monkeypatch.setattr("pushrank.report.page.render", lambda _: "another page")

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", fail)
    with pytest.raises(OSError, match="No space left"):
        write_report(hostile_data(), target)
    assert target.read_text(encoding="utf-8") == page
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
    """WCAG 2.2: 4.5 for text, and for what is drawn, of which a part is text, too."""
    css = files("pushrank.report").joinpath("style.css").read_text()
    blocks = [dict(re.findall(r"(--\w+): (#\w{6})", block)) for block in css.split(":root")[1:]]
    assert len(blocks) == 3
    for colours in blocks:
        for text in ("--ink", "--quiet", "--link", "--m0", "--m1"):
            for ground in ("--paper", "--wash"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def test_without_its_extra_it_says_what_to_install(data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=re.escape('pip install "pushrank[report]"')):
        write_report(data, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["pushrank.plots", "pushrank.report"])
def test_what_draws_and_writes_pages_is_imported_when_needed(package):
    for module in files(package).iterdir():
        if module.name.endswith(".py"):
            for statement in ast.parse(module.read_text(encoding="utf-8")).body:
                if isinstance(statement, ast.Import | ast.ImportFrom):
                    names = [alias.name for alias in statement.names] + [getattr(statement, "module", "")]
                    assert not {name.split(".")[0] for name in names} & {"matplotlib", "jinja2", "pandas"}


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_browser_shows_it_in_silence(page, tmp_path):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    done = subprocess.run(
        [CHROMIUM, *options, f"--user-data-dir={tmp_path / 'profile'}", "--window-size=390,2000",
         f"--screenshot={tmp_path / 'page.png'}", (tmp_path / "report.html").as_uri()],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr  # where a refused style or request is told
    assert (tmp_path / "page.png").stat().st_size > 10_000


class Sums(BaseEstimator):
    """Scores that are a column of the rows, whatever was learnt."""

    def fit(self, _X, _y):
        return self

    def decision_function(self, X):
        return X["decides"].to_numpy(dtype=float)


@pytest.fixture(scope="module")
def small():
    """A comparison of two models on 400 rows, one by a column that decides."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 50 == 0
    X = pd.DataFrame({"noise": rng.normal(size=400), "decides": y + 0.3 * rng.normal(size=400)})
    models = {"chance": DummyClassifier(strategy="prior"), "a": Sums()}
    return ReportData(
        compare_rankers(models, X, y, budget=28, cv=4, random_state=0, return_estimators=True),
        y,
        X,
        title="small.csv",
        meaning="y = 1",
        models=models,
        X=X,
    )


@pytest.fixture(scope="module")
def small_page(small):
    return render(small)


def test_budgets_around_the_one_given(small, small_page):
    """Finding 54: hits, precision and share found, had one looked at more or fewer rows."""
    texts = texts_in(small_page)
    texts = [text for text in texts[texts.index("share of all hits found") :] if text != "(ties)"]
    found = after(texts, "random choice", 36)
    for place, rows in enumerate((7, 14, 28, 42, 56, 140)):
        hits = hits_of(small, "a", rows)
        cells = found[6 * place : 6 * place + 6]
        assert cells[0].startswith(str(rows))
        assert cells[1:4] == [f"{hits:.0f}", f"{100 * hits / rows:.1f} %", f"{100 * hits / 8:.1f} %"]
        assert float(cells[5]) == pytest.approx(rows / 50, abs=0.05)
    assert found[12].endswith("(the budget)")


def test_models_have_a_sentence_and_what_drives_the_chosen_one_is_named(small, small_page, monkeypatch):
    """Finding 53: a shuffled column that decides costs hits, one that does not costs none."""
    texts = texts_in(small_page)
    assert any(text.startswith("Scores that are a column of the rows") for text in texts)
    *_, column, lost, _ = after(texts, "Hits lost among the first 28", 5)
    assert column == "decides"
    assert float(lost) > 3.0
    assert "Hits lost among" not in render(replace(small, X=None, models={}))
    monkeypatch.setattr("pushrank.report.models.MAX_CELLS", 10)
    assert "2 columns on 400 rows would take too long" in render(small)


def test_a_report_of_one_model_compares_it_with_none(small):
    comparison = small.comparison
    alone = {"measures": {"a": comparison.measures["a"]}, "scores": {"a": comparison.scores["a"]}}
    page = render(replace(small, comparison=replace(comparison, **alone, errors={}, quantiles=None)))
    assert "a, the only one that was compared." in page
    for text in ("chosen among", "against", "disagree", "rank by chance", "hits by"):
        assert text not in page, text


@pytest.mark.parametrize(
    ("value", "text"),
    [(2024.0, "2024"), (12345.6, "12,300"), (123456, "123,000"), (0.05214, "0.0521"), (-1.116, "-1.12"),
     (None, "missing"), (np.nan, "missing"), (True, "True"), ("a", "a")],
)  # fmt: skip
def test_cells_have_three_digits_and_years_four(value, text):
    assert cell_text(value, column_digits([value])) == text


@pytest.mark.parametrize(
    ("rows", "text"),
    [(12.0, "12"), (5822.0, "5,822"), (35.83, "35.8"), (432.6, "433"), (0.56, "0.56"), (12345.6, "12,300")],
)
def test_counts_have_three_digits(rows, text):
    assert row_count(rows) == text


def test_a_number_is_rounded_once():
    assert [rounded(74.516, 0), rounded(99.96, 2), rounded(-0.001, 1)] == ["75", "100", "0.0"]
