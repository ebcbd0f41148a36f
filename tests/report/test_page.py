"""The report as a document: whole, safe, accessible, and true to its numbers."""

import ast
import base64
import hashlib
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
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
from pushrank.plots.axes import OKABE_ITO
from pushrank.report import ReportData, render, sentences, write_report
from pushrank.report.pictures import pictures
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


@pytest.fixture
def without_pictures(monkeypatch):
    """Leave them out of what is told in words and tables: they take most of the time."""
    monkeypatch.setattr("pushrank.report.pictures.pictures", lambda _: [])


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
    assert "url(" not in page.replace('clip-path="url(#', "")
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
    assert len(document.all("caption")) == len(document.all("table")) == 10
    assert all(th.get("scope") in ("col", "row") for th in document.all("th"))
    ids = [a["id"] for _, a, _ in document.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes, _ in document.elements:
        for name in ("href", "clip-path", "aria-labelledby"):
            if name in attributes:
                assert attributes[name].removeprefix("url(").removesuffix(")").removeprefix("#") in ids
    assert all("figure" in path for name, _, path in document.elements if name == "figcaption")
    # whatever scrolls sideways can be reached and is named
    scrolling = [a for _, a, _ in document.elements if a.get("class") == "scroll"]
    assert len(scrolling) == 10
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in scrolling)
    for svg in document.all("svg"):
        assert svg.get("aria-hidden") == "true" or (svg["role"] == "img" and svg["aria-labelledby"])
    levels = [int(name[1]) for name, *_ in document.elements if re.fullmatch("h[1-6]", name)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_chosen_the_best_and_the_baseline_have_curves_of_their_own_and_others_are_grey(document):
    """At most three curves are named, whose numbers stand below, however many models there are."""
    legends = [text for owner, text in document.text if owner == "span" and text in ("good", "baseline")]
    assert legends == ["good", "baseline"] * 3
    bands = [a for a in document.all("use") if "fill-opacity" in a]
    assert len(bands) == 2  # of the two models compared, in the picture of precision
    for picture in pictures(hostile_data(n_rows=40, n_models=12).lists):
        looks = {tuple(curve.look.items()) for curve in picture.legend}
        assert len(looks) == len(picture.legend) == 3 + 2
        assert all(f'stroke="{curve.look["stroke"]}"' in picture.svg for curve in picture.legend)
        assert [curve.name for curve in picture.legend][:3] == [*picture.models, "other models (10)"]
        assert picture.svg.count('stroke="#bbbbbb"') == 10


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(("choose", "chosen"), [("simplest", "baseline"), ("most", "good")])
def test_the_page_is_about_the_chosen_model(data, choose, chosen):
    """The first screen has at most 40 words beside the title, and all else is folded."""
    measures = {
        m: {
            "hits in budget": np.array([20.0, 6.0, 16.0]) + 4.0 * (m == "good"),
            "average precision": np.array([0.5, 0.4, 0.6]) + 0.1 * (m == "good"),
        }
        for m in ("baseline", "third", "good")
    }
    scores = dict(
        zip(measures, map(data.comparison.scores.get, ("baseline", data.lists.names[2], "good")), strict=True)
    )
    found = replace(
        data.comparison, measures=measures, scores=scores, criterion="hits in budget", choose=choose
    )
    shown = replace(data, title="Letters", comparison=replace(found, simplicity=dict.fromkeys(measures, 0)))
    named = [chosen, "good" if chosen == "baseline" else "baseline"]
    assert (shown.lists.main, shown.lists.named) == (chosen, named)
    document = Document(render(shown))
    _, first = [text for owner, text in document.text if owner == "p"][:2]
    assert first.startswith(f"{chosen} finds ")
    assert len(first.split()) <= 40
    folded = [
        path for name, _, path in document.elements if name in ("p", "table", "dl") and "details" in path
    ]
    assert len(folded) == len([name for name, *_ in document.elements if name in ("p", "table", "dl")]) - 2
    texts = [text for _, text in document.text]
    for text in (
        f"Had you looked at more or fewer rows by {chosen}",
        f"{chosen} against the others over the test parts",
    ):
        assert any(said.startswith(text) for said in texts), text
    assert any(said.startswith(f"The first 50 rows by {chosen}") for said in texts)


def test_names_of_models_are_no_mathematics_and_none_is_hidden(data):
    names = {"good": "_$x_1$ \\frac", "baseline": "$"}
    scores = {names.get(model, model): values for model, values in data.comparison.scores.items()}
    measures = {names.get(model, model): values for model, values in data.comparison.measures.items()}
    changed = replace(data, comparison=replace(data.comparison, scores=scores, measures=measures))
    for picture in pictures(changed.lists):
        assert [curve.name for curve in picture.legend][:2] == [names["good"], "$"]


def texts_of(data):
    return [text for _, text in Document(render(data)).text if text.strip()]


def row_of(texts, caption, model):
    """The cells of a model's row in the table of a caption."""
    start = next(place for place, text in enumerate(texts) if text.startswith(caption))
    first = texts.index(model, start + 1)
    return texts[first + 1 : first + 4]


def test_the_verdict_is_the_one_it_was_given_and_the_hits_are_those_of_the_metrics(data):
    given, found = sentences(data)
    assert given == data.comparison.verdict()
    hits = {
        model: 40 * metrics.precision_at_k(data.y, data.lists.scores[model], 40, ties="half")
        for model in ("good", "baseline")
    }
    assert f"Of the 40 rows that good ranks first, {hits['good']:.0f} are hits" in found
    assert f"by baseline, {hits['baseline']:.0f} are" in found


@pytest.mark.usefixtures("without_pictures")
def test_what_is_more_than_chance_is_told_as_given(data, monkeypatch):
    for beyond, answer in ((True, "yes"), (False, "no")):
        given = {"baseline": Difference(2.0, 1.0, -0.7804, 4.7804, beyond)}
        monkeypatch.setattr(RankerComparison, "differences_", given)
        texts = texts_of(data)
        assert row_of(texts, "good against the others over the test parts", "baseline") == [
            "+2.000",
            "−0.780 to +4.780",
            answer,
        ]
    assert "real" not in " ".join(texts)
    assert "each comparison by itself" not in " ".join(texts)  # intervals allow for all models compared


@pytest.mark.usefixtures("without_pictures")
def test_a_measure_has_the_same_digits_for_every_model(data):
    rows = ([1.0, 2.0, 2.0], [1.0, 2.0, 4.0], [1.0, 2.0, 2.0])
    measures = {
        model: {"hits in budget": np.array(values), "share": np.array([0.49, 0.5, 0.51])}
        for model, values in zip(data.lists.names, rows, strict=True)
    }
    changed = replace(data.comparison, measures=measures, criterion="hits in budget")
    page = render(replace(data, comparison=changed))
    assert page.count("1.7 ± 0.5") == 2
    assert page.count("2.3 ± 1.4") == 1
    assert page.count("0.500 ± 0.009") == 3


def test_the_rows_are_those_of_the_lists(data, document):
    texts = [text for _, text in document.text]
    order = np.argsort(-data.lists.scores["good"])
    start = next(i for i, text in enumerate(texts) if text.startswith("The first 50 rows by good"))
    rows = [t for owner, t in document.text[start:] if owner == "th"][14:64]
    assert [int(row.replace(",", "")) - 1 for row in rows] == order[:50].tolist()
    assert "Of 14 columns the first 10 are shown." in "".join(texts)
    assert "missing" in texts
    assert "x" * 80 + "…" in texts
    in_good = set(order[:40])
    in_baseline = set(np.argsort(-data.lists.scores["baseline"])[:40])
    shared = in_good & in_baseline
    place = texts.index("good and baseline")
    assert texts[place + 1 : place + 3] == [str(len(shared)), str(int(data.y[list(shared)].sum()))]


@pytest.mark.usefixtures("without_pictures")
def test_ties_are_told_and_counted_alike_everywhere(data):
    """Scores in steps: verdict, measures of the list and disagreements give one number of hits."""
    assert not any(data.lists.tied_at(model, 40) for model in data.lists.names)
    assert "tie" not in "".join(sentences(data))
    steps = {model: np.round(scores) for model, scores in data.comparison.scores.items()}
    tied = replace(data, comparison=replace(data.comparison, scores=steps, budget=60))
    texts = [text for _, text in Document(render(tied)).text]
    in_first = partial(metrics.precision_at_k, k=60, ties="half")
    expected = {model: 60 * in_first(data.y, steps[model]) for model in ("good", "baseline")}
    counts = {}
    for name in ("good and baseline", "good only", "baseline only"):
        place = texts.index(name)
        counts[name] = np.array([float(text) for text in texts[place + 1 : place + 3]])
    for model, hits in expected.items():
        assert tied.lists.hits(model) == pytest.approx(hits)
        assert tied.lists.chances(model)[data.y].sum() == pytest.approx(hits)
        found = counts["good and baseline"] + counts[f"{model} only"]
        np.testing.assert_allclose(found, [60, hits], atol=0.11)
        assert f"{tied.lists.tied_at(model, 60):,} by {model}" in sentences(tied)[1]
    for model, scores in steps.items():
        at_cut = scores == np.sort(scores)[::-1][59]
        assert tied.lists.tied_at(model, 60) == at_cut.sum()
        first, last = tied.lists.ranks[model]
        np.testing.assert_array_equal(first, 1 + (scores[:, None] < scores).sum(axis=1))
        np.testing.assert_array_equal(last, (scores[:, None] <= scores).sum(axis=1))
    assert any("Rows that share ranks, such as 3–5, tie" in text for text in texts)
    said = "Rows more likely among the first 60 of good than of baseline"
    assert any(text.startswith(said) for text in texts)


@pytest.mark.usefixtures("without_pictures")
def test_no_model_is_called_best_of_equals(data):
    equal = {model: {"AUC": np.full(3, 0.5)} for model in data.lists.names}
    page = render(replace(data, comparison=replace(data.comparison, measures=equal, criterion="AUC")))
    assert "<dd>AUC; counted below are hits among the first 40 rows (the budget)</dd>" in page
    assert "No model is better at the top than another" in page
    assert "expect a little less of the best" not in page


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
    """WCAG 2.2: 4.5 for text, 3 for what is drawn."""
    css = files("pushrank.report").joinpath("style.css").read_text()
    blocks = [dict(re.findall(r"(--\w+): (#\w{6})", block)) for block in css.split(":root")[1:]]
    assert len(blocks) == 3
    for colours in blocks:
        for text in ("--ink", "--quiet", "--link"):
            for ground in ("--paper", "--wash"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        for m in range(len(OKABE_ITO)):
            assert contrast(colours[f"--m{m}"], colours["--paper"]) >= 3.0, m
    for colour in OKABE_ITO:  # whatever our displays draw in has its own colour by day and by night
        assert f'[stroke="{colour.lower()}"]' in css


def test_without_its_extra_it_says_what_to_install(data, tmp_path, monkeypatch):
    for module in ("jinja2", "matplotlib.style"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, module, None)
            without.delitem(sys.modules, "pushrank.report.pictures", raising=False)
            with pytest.raises(ImportError, match=re.escape('pip install "pushrank[report]"')):
                write_report(data, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["pushrank.plots", "pushrank.report"])
def test_what_draws_and_writes_pages_is_imported_when_needed(package):
    """The picture of a report is drawn in a module that is itself imported then."""
    for module in files(package).iterdir():
        if module.name.endswith(".py") and module.name != "pictures.py":
            for statement in ast.parse(module.read_text(encoding="utf-8")).body:
                if isinstance(statement, ast.Import | ast.ImportFrom):
                    names = [alias.name for alias in statement.names] + [getattr(statement, "module", "")]
                    assert not {name.split(".")[0] for name in names} & {"matplotlib", "jinja2", "pandas"}
                    assert "pushrank.report.pictures" not in names


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


def test_what_a_random_pick_finds_has_decimals(small):
    """Finding 52: 28 of 400 rows, 8 of them hits, are 0.56 hits, neither 1 nor 0."""
    assert sentences(small)[1].endswith(" A random pick would find 0.56.")


@pytest.mark.usefixtures("without_pictures")
def test_budgets_around_the_one_given(small):
    """Finding 54: hits, precision and share found, had one looked at more or fewer rows."""
    texts = texts_of(small)
    start = next(n for n, text in enumerate(texts) if text.startswith("Had you looked at"))
    held_out = small.lists.scores["a"]
    found = texts[texts.index("random pick", start) + 1 :]
    for place, rows in enumerate((7, 14, 28, 42, 56, 140)):
        hits = rows * metrics.precision_at_k(small.y, held_out, rows, ties="half")
        cells = found[6 * place : 6 * place + 6]
        assert cells[0].startswith(str(rows))
        assert cells[1:4] == [f"{hits:.0f}", f"{100 * hits / rows:.1f} %", f"{100 * hits / 8:.1f} %"]
        assert float(cells[5]) == pytest.approx(rows / 50, abs=0.05)
    assert found[12].endswith("(the budget)")


def test_the_budget_is_a_line_in_every_picture(small):
    """Finding 54: on the left edge, where false alarms and hits add up to the budget."""
    for picture in pictures(small.lists):
        assert [curve.name for curve in picture.legend].count("the first 28 rows") == 1


@pytest.mark.usefixtures("without_pictures")
def test_models_are_told_in_a_sentence_and_what_drives_the_best_is_named(small):
    """Finding 53: a shuffled column that decides costs hits, one that does not costs none."""
    texts = texts_of(small)
    assert any(text.startswith("Scores that are a column of the rows") for text in texts)
    start = next(n for n, text in enumerate(texts) if text.startswith("Hits lost among the first 28"))
    first = texts.index("decides", start)
    assert float(texts[first + 1]) > 3.0
    assert "noise" not in texts[start : texts.index("Curves", start)]
    page = render(replace(small, X=None, models={}))
    assert "Hits lost among" not in page


@pytest.mark.usefixtures("without_pictures")
def test_a_report_of_one_model_compares_it_with_none(small):
    comparison = small.comparison
    alone = replace(
        comparison,
        measures={"a": comparison.measures["a"]},
        scores={"a": comparison.scores["a"]},
        errors={},
        quantiles=None,
    )
    page = render(replace(small, comparison=alone))
    assert "Of the 28 rows that a ranks first" in page
    for text in ("expect a little less", "against", "disagree", "rank by chance", "hits by"):
        assert text not in page, text


@pytest.mark.usefixtures("without_pictures")
def test_columns_that_cost_too_much_to_shuffle_are_left_out_aloud(small, monkeypatch):
    monkeypatch.setattr("pushrank.report.models.MAX_CELLS", 10)
    assert "2 columns on 400 rows would take too long" in render(small)


@pytest.mark.usefixtures("without_pictures")
def test_the_measure_that_decides_is_the_first_column(small):
    """Finding 56: on a phone others are off to the right."""
    texts = texts_of(small)
    start = next(n for n, text in enumerate(texts) if text.startswith("Means over the test parts"))
    assert texts[start + 1 : start + 4] == ["model", "may be the best", "hits in 28 rows"]


@pytest.mark.usefixtures("without_pictures")
def test_differences_are_folded_away_and_long_names_are_cut(small, monkeypatch):
    """Findings 57 to 60: differences are folded twice, names wrap, rows are data rows, minus signs are."""
    long_name = "amount_" * 24
    changed = replace(small, rows=small.rows.rename(columns={"noise": long_name}))
    document = Document(render(changed))
    (folded,) = [
        path
        for name, attributes, path in document.elements
        if name == "div" and "against the others over the test parts" in attributes.get("aria-label", "")
    ]
    assert folded.count("details") == 2
    headers = [a for a in document.all("th") if a.get("title") == long_name]
    assert headers
    texts = [text for _, text in document.text]
    assert long_name not in texts
    assert "data row" in texts
    monkeypatch.setattr(RankerComparison, "verdict", lambda _: "-4.1 against p-1, -8.0 to (-0.2)")
    assert "<p>−4.1 against p-1, −8.0 to (−0.2)</p>" in render(small)
