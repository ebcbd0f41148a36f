"""Scores of any models, from a file: each measured, and each compared with the first."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from combinations import by_day
from pushrank import metrics
from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.report.context import with_minus_signs
from tests.cli.runner import call


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("pushrank.metrics._bootstrap.DEFAULT_RESAMPLES", 200)


@pytest.fixture
def scored(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.2
    frame = pd.DataFrame({"good": y + rng.normal(size=300), "tied": np.round(y + 2 * rng.normal(size=300))})
    frame["double"] = 2 * frame["good"]
    frame["cost"], frame["found"] = -frame["good"], np.where(y, "yes", "no")
    frame["amount"] = rng.gamma(2.0, 50.0, 300).round(2)
    frame["most"] = np.minimum(np.arange(300), 1)
    frame["customer"] = [f"c{row % 40}" for row in range(300)]
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv", y, frame


def measured(path, *names, more=()):
    columns = [word for name in names for word in ("--score", name)]
    return call("measure", path, "--label", "found", "--budget", 30, *columns, *more)


@pytest.mark.parametrize(
    ("names", "more", "options"),
    [
        (["good", "tied", "double"], [], {}),
        (["good", "tied"], ["--group", "customer", "--seed", 1], {"groups": "customer", "random_state": 1}),
        (["good"], ["--all", "--no-intervals"], {"every": True, "confidence_level": None}),
        (["good"], ["--value", "amount"], {"value": "amount"}),
        (["good"], ["--weight", "amount"], {"sample_weight": "amount"}),
    ],
)
def test_columns_of_scores_are_measured_as_the_library_measures_them(scored, names, more, options):
    path, y, frame = scored
    found = json.loads(measured(path, *names, more=[*more, "--json"]).stdout)
    given = {name: frame.get(value, value) for name, value in options.items()}
    expected = metrics.measure(y, frame[names], k=30, **{"random_state": 0} | given)
    assert found == json.loads(json.dumps(expected.summary()))
    counted = float if "sample_weight" in given else int
    assert {type(found[name]) for name in ("rows", "positives")} == {counted}


def test_groups_are_told_and_all_measures_need_whole_weights(scored):
    shown = measured(scored[0], "good", more=["--group", "customer"]).stdout
    assert "Intervals take the 40 groups by customer to be independent of each other." in shown
    columns = ["--label", "found", "--score", "good", "--all", "--weight", "amount"]
    assert "--weight must be whole numbers" in call("measure", scored[0], *columns, code=2).stderr


def test_what_is_printed_of_own_scores_fits_eighty_columns(scored, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path, _, frame = scored
    longest = "score_of_[bold]_boosting"  # which is no markup
    frame.rename(columns={"tied": longest}).to_csv(path, index=False)
    shown = measured(path, "good", longest, "double").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.count(longest) > 10  # never cut short
    said = " ".join(shown.split())
    assert f"{longest} against good: -" in said
    assert "(of all 2 differences together)" in said
    assert "double against good: as many hits in the first 30 rows." in said
    assert "found by double" in said  # what the tenths hold
    alone = measured(path, "good", more=["--no-intervals", "--all"]).stdout
    assert max(map(len, alone.splitlines())) <= 80
    assert "against" not in alone
    assert "interval" not in alone.lower()
    assert "positives_below" in alone
    assert "share found" in alone
    monkeypatch.setenv("COLUMNS", "120")
    assert "share of all positives that is among" in measured(path, "good", "double").stdout


def test_a_report_holds_the_same_figures(scored, monkeypatch):
    path, y, frame = scored
    frame["found"] = np.where(y, "<i>yes</i>", "no")
    frame.to_csv(path, index=False)
    monkeypatch.setattr("pushrank.report.pictures.pictures", lambda _: [])
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda uri: not opened.append(uri))
    more = ["--positive", "<i>yes</i>", "-o", path.with_name("r.html"), "--open", "--show", "amount"]
    shown = " ".join(measured(path, "good", "tied", more=more).stdout.split())
    page = path.with_name("r.html").read_text(encoding="utf-8")
    assert opened == [path.with_name("r.html").resolve().as_uri()]
    assert "<i>yes" not in page
    hits = round(30 * metrics.precision_at_k(y, frame["good"], 30))
    assert f"Of the 30 rows that good ranks first, {hits} are hits, 95 % interval" in page
    said = re.search(r"tied against good: [^.]*\.\d[^.]*\.\d[^.]*\.\d[^.]*\.", shown)[0]
    assert f"<p>{with_minus_signs(said)}</p>" in page
    auc = metrics.confidence_interval(y, frame["good"], "auc", random_state=0)
    assert f'{auc.estimate:.3f}<br><span class="quiet">{auc.low:.3f} to {auc.high:.3f}<' in page
    assert "rank by tied" in page
    assert "amount</th>" in page
    assert "double</th>" not in page
    alone = measured(path, "good", more=[*more[:4], "--no-intervals", "--json"]).stdout
    assert json.loads(alone)["confidence_level"] is None
    page = path.with_name("r.html").read_text(encoding="utf-8")
    assert "rank by good" in page
    for text in ("interval", "Disagreements", " against ", "None", "nan"):
        assert text not in page, text


def test_a_report_that_cannot_be_is_told_before_any_work(scored):
    path, *_ = scored
    for said, more in {
        "--show and --open are for a report": ["--open"],
        "leave --weight or the report out": ["--weight", "amount", "-o", path.with_name("r.html")],
        "is written as .html": ["-o", path.with_name("r.pdf")],
        "--show 'x' is no column": ["--show", "x", "--no-intervals", "-o", path.with_name("r.html")],
    }.items():
        columns = ["--label", "found", "--score", "good"]
        assert said in call("measure", path, *columns, *more, code=2).stderr
    assert not path.with_name("r.html").exists()


def test_scores_that_are_the_better_the_lower_are_told(scored):
    warned = measured(scored[0], "good", "cost", more=["--no-intervals"]).stderr
    assert "column 'cost'" in warned
    assert "worse than a random order" in warned
    assert "'good'" not in warned


def test_columns_that_are_no_scores_are_refused(scored):
    path, _, frame = scored
    holes = frame.assign(tied=frame["tied"].where(frame.index != 6))
    holes.to_csv(path.with_name("holes.csv"), index=False)
    (path.with_name("data.libsvm")).write_text("1 1:0.5\n0 1:0.2\n")
    for message, arguments in {
        "--score 'best' is no column of": [path, "--score", "best"],
        "csv is empty: fill it, or leave such rows out.": [path.with_name("holes.csv"), "--score", "tied"],
        "must hold a number in every row; row 1 of": [path, "--score", "found"],
        "--score 'good' is for named columns": [path.with_name("data.libsvm"), "--score", "good"],
        "--score 'good' is given twice": [path, "--score", "good", "--score", "good"],
        "--budget 301 exceeds the 300 rows": [path, "--score", "good", "--budget", 301],
        "--budget 300 exceeds the 299 rows": [path, "--score", "good", "--budget", 300, "--weight", "most"],
        "--group 'x' is no column": [path, "--score", "good", "--group", "x"],
        "--value 'x' is no column": [path, "--score", "good", "--value", "x"],
        "--weight 'good' must hold a number of at least 0": [path, "--score", "good", "--weight", "good"],
    }.items():
        refused = call("measure", *arguments, "--label", "found", code=2).stderr
        assert message in refused, refused


def test_figures_are_without_the_noise_of_rounding(tmp_path):
    # 7 of 25: 25 * (7 / 25) is 7.000000000000001
    y = np.repeat([1, 0, 1], [7, 18, 5])
    pd.DataFrame({"y": y, "s": -np.arange(30)}).to_csv(tmp_path / "s.csv", index=False)
    own = ["measure", tmp_path / "s.csv", "--label", "y", "--score", "s", "--budget", 25]
    found = call(*own, "--json").stdout
    assert '"estimate": 7.0,' in found
    assert "0000000" not in found
    assert "7.0000" not in call(*own).stdout


def test_what_is_promised_of_lists_to_come(scored):
    path, y, frame = scored
    more = ["--promise", 0.9, "--new-rows", 500, "--no-intervals"]
    found = json.loads(measured(path, "good", more=[*more, "--json"]).stdout)["promise"]
    known = metrics.guarantee(y, frame["good"], k=30, n_new=500, together=False, confidence_level=0.9)
    assert found["hits"] == {"good": known.hits_at(30)}
    assert known.sentence(30) in " ".join(measured(path, "good", more=more).stdout.split())
    said = " ".join(measured(path, "good", "tied", more=more).stdout.split())
    for name in ("good", "tied"):  # each at 95 %, both together at 90 %
        alone = metrics.guarantee(y, frame[name], k=30, n_new=500, together=False, confidence_level=0.95)
        hits = alone.hits_at(30)
        start = f"{name}: With 90 % confidence, of the next 500 rows"
        assert f"{start} the first 30 hold at least {hits} h" in said
    assert "All of these promises hold together. This holds if no model has learnt from the labelled" in said
    call("measure", path, "--label", "found", "--score", "good", *more, "-o", path.with_suffix(".html"))
    page = path.with_suffix(".html").read_text(encoding="utf-8")
    of_all = metrics.guarantee(y, frame["good"], n_new=500, confidence_level=0.9)
    assert f"<p>{of_all.sentence(round(y.sum() / 4))}</p>\n<p>This holds if" in page
    # The depth of no budget is known from the labels: all depths are promised.
    columns = ["--label", "found", "--score", "good", "--promise", 0.95, "--no-intervals"]
    depth = round(y.sum() / 4)
    sentence = metrics.guarantee(y, frame["good"]).sentence(depth)
    assert sentence in " ".join(call("measure", path, *columns).stdout.split())
    assert "of the next 5 rows the first 5 are not" in call("measure", path, *columns, "--new-rows", 5).stdout
    for message, refused in {
        "nothing is promised of weighted rows: leave --weight out": ["--promise", 0.95, "--weight", "most"],
        "nothing is promised of rows in groups: keep": ["--require", "hits@30>=1", "--group", "customer"],
        "--new-rows is for --promise": ["--new-rows", 30],
        "there is no row 30 to come; --new-rows": ["--promise", 0.95, "--new-rows", 20],
    }.items():
        assert message in judged(path, 2, *refused).stderr


def judged(path, code, *more):
    columns = ["--label", "found", "--score", "good", "--budget", 30, "--no-intervals"]
    return call("measure", path, *columns, *more, code=code)


def test_what_is_required_decides_the_exit_code(scored):
    path, y, frame = scored
    known = metrics.guarantee(y, frame["good"], k=[20, 30], together=False)
    hits, first = (int(known.hits_at(depth)) for depth in (30, 20))
    assert 1 < first < hits
    exact = ["--require", f"hits@30 >= {hits}", "--require", f"precision@20>={first / 20}"]
    kept = judged(path, 0, *exact)
    assert f"precision@20>={first / 20} is reached: it takes {first} hits. With 95 %" in kept.stdout
    assert known.sentence(30) in kept.stdout
    assert "reached" not in kept.stderr
    failed = judged(path, 1, *exact[2:], "--require", f"hits@30>={hits + 1}", "--json")
    [line] = failed.stderr.splitlines()
    assert line == f"hits@30>={hits + 1} is not reached: it takes {hits + 1} hits. {known.sentence(30)}"
    required = json.loads(failed.stdout)["promise"]["required"]
    assert required[f"hits@30>={hits + 1}"] == {"hits": hits, "takes": hits + 1}
    # 7 % of 100 rows are 7 hits, not the 8 that floating-point numbers would make of them.
    assert "it takes 7 hits" in judged(path, 0, "--require", "precision@100>=0.07").stdout
    assert "reached" in judged(path, 1, "--require", "precision@30>=1").stderr


def test_requirements_that_cannot_be_judged_are_refused(scored):
    path = scored[0]
    for text in ["precision@30>=1.2", "hits@30>=31", "hits@30>=0", "precision@0>=1", "recall@9>=.5", "hits"]:
        assert f"--require '{text}' is not understood" in judged(path, 2, "--require", text).stderr
    columns = ["--label", "found", "--score", "good", "--score", "tied", "--require", "hits@9>=1"]
    assert "--require judges one list" in call("measure", path, *columns, code=2).stderr


def test_the_words_of_what_promises_little_or_nothing(tmp_path):
    y, scores = np.arange(400) < 40, -np.arange(400.0)
    twins = np.arange(400) // 2
    nothing = "are not promised a single hit by"
    for said, same, labels, values, options in [
        (f"the first 20 {nothing} 400 labelled rows, nor would 1,000,000", True, scores > -1, scores, {}),
        (f"the first 2 {nothing} 5 labelled rows, nor would", True, y[38:43], scores[:5], {}),
        (f"the first 20 {nothing} 400 labelled rows, about", True, np.arange(400) % 5 == 2, scores, {}),
        ("Rows of both are needed.", "holds one class only", y & False, scores, {}),
        ("Rows of both are needed.", "holds one class only", y | True, scores, {}),
        ("found nan in row 7", "row 8 of", y, np.where(np.arange(400) == 7, np.nan, scores), {}),
        ("leave sample_weight out", "leave --weight out", y, scores, {"sample_weight": twins}),
        ("of rows in groups: keep one row of each", True, y, scores, {"groups": twins}),
        ("of training rows, which promise nothing", None, y, scores, {"training_scores": scores}),
    ]:
        depth = min(20, len(labels) // 2)
        try:
            words = metrics.guarantee(labels, values, k=depth, together=False, **options).sentence(depth)
        except ValueError as error:
            words = str(error)
        assert said in words
        if same:
            columns = {"y": labels.astype(int), "s": values, **options}
            pd.DataFrame(columns).to_csv(tmp_path / "s.csv", index=False)
            given = {"sample_weight": ["--weight", "sample_weight"], "groups": ["--group", "groups"]}
            more = [part for name in options for part in given[name]]
            how = ["--label", "y", "--score", "s", "--budget", depth, "--no-intervals", "--promise", 0.95]
            shown = call("measure", tmp_path / "s.csv", *how, *more, code=0 if nothing in words else 2)
            assert (said if same is True else same) in " ".join(shown.output.split())


PAPER = ["--fraction", ".01,.02", "--fraction", ".05", "--bedroc", "20,80.5", "--pairs"]


def test_the_table_of_a_paper_is_printed_and_saved(scored):
    path, y, frame = scored
    table, tex = path.with_name("t.csv"), path.with_name("t.tex")
    for output in (table, tex, table):  # what pushrank wrote it replaces
        shown = measured(path, "good", "tied", "double", more=[*PAPER, "-o", output]).stdout
    assert "enrichment factor at 5 %" in shown
    assert "tied − good" in shown
    assert "double − tied" in shown
    assert f"The table is in {table}." in shown.replace("\n", "")
    saved, blank = pd.read_csv(table, dtype={"note": str}), {"against": "", "note": ""}
    asked = {"at": {"enrichment_factor": [0.01, 0.02, 0.05], "bedroc": [20.0, 80.5]}, "pairs": "all"}
    scores = frame[["good", "tied", "double"]]
    expected = metrics.measure(y, scores, k=30, **asked, random_state=0).to_paper()
    pd.testing.assert_frame_equal(saved.fillna(blank), expected.reset_index(drop=True), check_dtype=False)
    text = tex.read_text(encoding="utf-8")
    assert text.startswith("% written by pushrank ")
    assert text.count(r"\\") == 1 + 5 * 6
    assert r"enrichment factor at 2 \% & good &" in text
    assert "double $-$ tied" in text
    assert r"\toprule" in text
    assert "−" not in text
    foreign = path.with_name("own.tex")
    foreign.write_text("my paper")
    refused = call("measure", path, "--label", "found", "--score", "good", "-o", foreign, code=2)
    assert "was not written by pushrank" in refused.stderr


@pytest.mark.parametrize(
    ("kind", "start"), by_day([("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")], 1)
)
def test_the_enrichment_is_drawn_for_print(scored, monkeypatch, kind, start):
    path, y, frame = scored
    drawn = []
    from pushrank.plots import curves

    original = curves.enrichment_figure
    monkeypatch.setattr(curves, "enrichment_figure", lambda *args: drawn.append(original(*args)) or drawn[-1])
    for _ in range(2):  # what pushrank drew it replaces
        measured(path, "good", "tied", "cost", more=[*PAPER, "--figure", path.with_name(f"e.{kind}")])
        assert path.with_name(f"e.{kind}").read_bytes().startswith(start)
    [ax] = drawn[0].axes
    curves_drawn = [line for line in ax.get_lines() if line.get_gid() == "pushrank curve"]
    assert [line.get_label() for line in curves_drawn] == ["good", "tied", "cost"]
    assert len({line.get_linestyle() for line in curves_drawn}) == 3
    assert len({line.get_marker() for line in curves_drawn}) == 3
    assert ax.get_xlim() == (0.001, 1.0)
    assert len(ax.collections) == 2  # bands of the best two
    for line, name in zip(curves_drawn, ("good", "tied", "cost"), strict=True):
        x, found = line.get_data()
        for share, recall in list(zip(x, found, strict=True))[:: len(x) // 7]:
            k = round(share * 300)
            assert recall == pytest.approx(metrics.recall_at_k(y, frame[name], k))
    # The band is that of the interval, here at the first of its shares.
    options = {"fraction": 0.001, "random_state": 0}
    low, high, *_ = metrics.confidence_interval(y, frame["good"], "recall_at_k", **options)
    band = ax.collections[0].get_paths()[0].vertices
    ends = band[np.isclose(band[:, 0], 0.001), 1]
    assert (ends.min(), ends.max()) == pytest.approx((low, high))


def test_shares_and_figures_that_cannot_be_are_refused(scored):
    path = scored[0]
    for said, more in {
        "--fraction .1,x must be numbers": ["--fraction", ".1,x"],
        "fraction must be": ["--fraction", "1.5"],
        "alpha must be": ["--bedroc", "0"],
        "is written as .pdf, .svg or .png": ["--figure", path.with_name("e.html")],
        "--fraction is for a budget of the whole file": ["--budget", "5/day", "--time", "most", *PAPER],
    }.items():
        refused = call("measure", path, "--label", "found", "--score", "good", *more, code=2)
        assert said in refused.stderr, refused.stderr


@pytest.fixture(scope="module")
def acted_on(tmp_path_factory):
    """Rows of 20 days, of which a list of ten a day was looked at, and most of these have a label."""
    stream = make_stream(20, 60, random_state=0)
    frame = pd.DataFrame({"day": stream.day, "fraud": stream.target, "rule": stream.data[:, 0]})
    frame["model"] = stream.data[:, :3].sum(axis=1)
    listed = frame.groupby("day")["model"].rank(ascending=False) <= 10
    frame["acted"] = np.where(listed, "list", "")
    frame["fraud"] = frame["fraud"].where(listed & (frame.index % 9 > 0)).astype("Int64")
    path = tmp_path_factory.mktemp("acted") / "acted.csv"
    frame.to_csv(path, index=False)
    return path, frame


@pytest.mark.parametrize("by_day", [True, False])
def test_a_list_is_cut_from_all_rows_though_few_have_a_label(acted_on, by_day):
    path, frame = acted_on
    budget = ["--budget", "10/batch", "--time", "day"] if by_day else ["--budget", 200]
    words = ["measure", path, "--label", "fraud", "--score", "rule", "--score", "model", *budget]
    found = json.loads(call(*words, "--acted", "acted", "--json").stdout)
    for name, of in found["scores"].items():
        groups = frame.groupby("day")[name] if by_day else frame[name]
        on_list = frame[groups.rank(ascending=False) <= (10 if by_day else 200)]
        known = on_list["fraud"].dropna()
        shown = [of[key] for key in ("rows", "looked_at", "labelled", "hits", "hits_at_most")]
        n_acted, hits = (on_list["acted"] == "list").sum(), known.sum()
        assert shown == [200, n_acted, len(known), hits, hits + 200 - len(known)]
        assert of["precision"] == pytest.approx(known.mean())
        assert len(of["by_period"]) == (20 if by_day else 1)
    known, n_others = frame["fraud"].dropna(), (frame["acted"] == "").sum()
    said = f"200 looked at, {len(known)} labelled: {known.sum()} hits with fraud = 1; of {n_others:,} others"
    shown = " ".join(call(*words, "--acted", "acted").stdout.split())
    assert f"{said} nothing is known." in shown
    assert re.search(r"Labels are missing for \d+ % of the rows, mostly of low scores: somebody chose", shown)
    assert "Recall, lift, areas, average precision and intervals need the labels of all rows" in shown
    whole = [path.with_name("whole.csv"), *words[2:], "--acted", "acted"]
    frame.assign(fraud=np.arange(len(frame)) % 2).to_csv(whole[0], index=False)
    assert "Without --acted all measures are shown: every row has a label." in call("measure", *whole).stdout
    alone = " ".join(call(*words).stdout.split())
    assert f"{len(known)} looked at, {len(known)} labelled" in alone
    assert "labels that are late are not told from those that never come" in alone


@pytest.fixture(scope="module")
def audited(acted_on):
    """The same rows, of which three a day are drawn from those below the list, with the truth of these."""
    path, frame = acted_on
    frame = frame.assign(chance=1.0)
    for _, rows in frame[frame["acted"] == ""].groupby("day"):
        drawn = rows.sample(3, random_state=0).index
        frame.loc[rows.index, "chance"], frame.loc[drawn, "acted"] = 3 / len(rows), "audit"
        frame.loc[drawn, "fraud"] = make_stream(20, 60, random_state=0).target[drawn]
    path = path.with_name("audited.csv")
    frame.to_csv(path, index=False)
    return path, frame


def test_an_audit_says_what_a_list_and_another_one_miss(audited):
    path, frame = audited
    words = ["measure", path, "--label", "fraud", "--score", "model", "--score", "rule", "--acted", "acted"]
    words += ["--chance", "chance", "--budget", "10/batch", "--time", "day", "--looks", 3]
    found = json.loads(call(*words, "--json").stdout)
    scores, y = {name: frame[name] for name in ("model", "rule")}, frame["fraud"].astype(float)
    of = {"time": frame["day"], "budget": Budget(10, "batch"), "looks": 3, "scores": scores}
    expected = metrics.measure_acted(y, frame["acted"], frame["chance"], **of)
    assert found == json.loads(json.dumps(expected.summary()))
    shown = " ".join(call(*words).stdout.split())
    assert all(" ".join(sentence.split()) in shown for sentence in expected.sentences())
    assert "batches, the last 20 of 20" in shown


@pytest.mark.parametrize(
    ("cell", "more", "says"),
    [
        (0.0, [], r"--chance 'chance': chance is 0 of an audited row in row \d+ of .*audited_wrong.csv"),
        (1.5, [], r"--chance 'chance': chance is not between 0 and 1 in row \d+ of"),
        (None, [], r"--chance 'chance': chance is missing below the list in row \d+ of"),
        ("often", [], r"--chance 'chance' must hold a number .*; row \d+ of .* holds 'often'"),
        (0.1, ["--budget", 30], "leave --budget out, or say 30/day"),
        (0.1, ["--all"], "--all is not for --chance"),
    ],
)
def test_wrong_chances_are_refused_by_row_and_column(audited, cell, more, says):
    path, frame = audited
    chance = frame["chance"].astype(object).where(frame["acted"] != "audit", cell)
    frame.assign(chance=chance).to_csv(path.with_name("audited_wrong.csv"), index=False)
    words = ["measure", path.with_name("audited_wrong.csv"), "--label", "fraud", "--score", "model"]
    words += ["--acted", "acted", "--chance", "chance", *more]
    assert re.search(says, " ".join(call(*words, code=2).stderr.split()))
    for option in ("--chance", "--looks"):
        alone = call(*words[:6], option, 3, code=2).stderr
        assert f"{option} goes with" in alone or f"{option} '3' is no column" in alone


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--promise", 0.95], "nothing is promised: labels are missing for .*: pushrank score --a"),
        (["--require", "hits@9>=1"], "somebody chose which rows got one"),
        (["--fraction", 0.1], "--fraction needs a label in every row"),
        (["--all"], "--all needs a label in every row"),
        (["--acted", "looked"], "--acted 'looked' is no column"),
        (["--drop-unlabelled"], "No such option"),
    ],
)
def test_what_needs_the_labels_of_all_rows_is_refused(acted_on, more, says):
    words = ["measure", acted_on[0], "--label", "fraud", "--score", "model", "--budget", 30, *more]
    assert re.search(says, " ".join(call(*words, code=2).stderr.split()))
    assert "say how long the list is, --budget N" in call(*words[:6], code=2).stderr
