"""The guides' code runs and prints what they say, they leave no public name out, and examples run."""

import ast
import doctest
import inspect
import os
import pkgutil
import re
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import pushrank
from pushrank import plots
from pushrank.cli import COMMANDS, Commands
from pushrank.monitoring.duel import NEEDED
from test_quality import PUBLIC, SINGLE, public, public_names

ROOT = Path(__file__).parent.parent
PAPERS = sorted((ROOT / "docs" / "papers").glob("*.md"))
STORIES = sorted((ROOT / "docs" / "stories").glob("*.md"))
DOCS = [*sorted((ROOT / "docs").glob("*.md")), *STORIES, *PAPERS]
TEXTS = [*DOCS, ROOT / "README.md"]
# The code of a contributor's day is that of members which the library does not have.
DAY = ROOT / "docs" / "contributing_day.md"
GUIDES = [path for path in TEXTS if ">>>" in path.read_text(encoding="utf-8") and path != DAY]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


# Pages with options of Docker and pip, of the checks of the code, and of scripts of experiments.
OTHER_PROGRAMS = {"deploy", "contributing_day", "experiments"}


def options_of(command):
    """Return the long options of a command."""
    parameters = Commands().get_command(None, command).params
    return {word for of in parameters for word in (*of.opts, *of.secondary_opts)} | {"--help"}


# Each of these fits many models.
LONG = {"instead_of", "report"}


@pytest.mark.docs
@pytest.mark.parametrize(
    "guide",
    [pytest.param(path, marks=[pytest.mark.nightly] * (path.stem in LONG)) for path in GUIDES],
    ids=lambda path: path.stem,
)
def test_a_guides_code_runs(guide):
    if (
        guide in PAPERS
        and "load_dataset" in guide.read_text(encoding="utf-8")
        and not os.environ.get("PUSHRANK_DATA")
    ):
        pytest.skip("PUSHRANK_DATA is not set")
    result = doctest.testfile(str(guide), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0


def test_the_tutorials_classes_keep_the_laws():
    """The classes of the tutorial itself, summed fast and pair by pair."""
    from pushrank import PushObjective
    from pushrank.pairs import BipartiteSample, BlockedSums, SmoothSums, SortedSums

    guide = next(path for path in GUIDES if path.stem == "your_own_loss_and_price")
    names: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples(guide.read_text(encoding="utf-8")):
        if example.source.startswith(("import", "from", "@dataclass")):
            exec(compile(example.source, str(guide), "exec"), names)  # noqa: S102
    rng = np.random.default_rng(0)
    s, t, z = 5.0 * rng.normal(size=40), 5.0 * rng.normal(size=60), rng.random(60)
    for loss, kind in ((names["SquaredLogistic"](), SmoothSums), (names["HuberisedHinge"](), SortedSums)):
        fast, slow = kind(loss, s, t, None), BlockedSums(loss, s, t, None)
        np.testing.assert_allclose(fast.log_sums, slow.log_sums, rtol=1e-9, atol=1e-10)
        for result, expected in zip(fast.adjoint_product(z), slow.adjoint_product(z), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-8, atol=1e-10)
        y = np.arange(30) % 3 == 0
        scores, direction = rng.normal(size=(2, 30))
        objective = PushObjective(loss, names["Quadratic"](), "both", "mean")
        sample = BipartiteSample.from_labels(y)
        value = lambda step: objective.evaluation(sample, scores + step * direction).value  # noqa: B023, E731
        slope = sample.scatter(*objective.evaluation(sample, scores).gradient()) @ direction
        assert slope == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "package", "printed"),
    [("virtual_screening", "rdkit", "1 of 11 molecules cannot be read"), ("deploy", "onnxruntime", "True")],
)
def test_code_runs_that_needs_a_package_beyond_the_tests(name, package, printed, capsys):
    pytest.importorskip(package)
    guide = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for code in re.findall(r"^```python\n([^>].*?)^```", guide, re.MULTILINE | re.DOTALL):
        exec(code, names)  # noqa: S102
    out = capsys.readouterr().out
    assert out.startswith(printed)
    assert "False" not in out


@pytest.mark.docs
def test_the_guide_to_measures_prints_what_it_shows(capsys, monkeypatch):
    """But for the numbers, whose last digits are the machine's, so that few resamples do."""
    monkeypatch.setattr("pushrank.metrics._bootstrap.DEFAULT_RESAMPLES", 200)
    guide = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    assert len(blocks) == guide.count("```python")
    names: dict[str, object] = {}
    for code, shown in blocks:
        exec(code, names)  # noqa: S102
        printed = capsys.readouterr().out
        without_numbers = (re.sub(r"[\s\d.,+–-]+", " ", text).strip() for text in (printed, shown))
        assert next(without_numbers) == next(without_numbers)


def test_the_sites_api_has_every_public_module():
    listed = set((ROOT / "docs" / "api.md").read_text(encoding="utf-8").replace("~", "").split())
    assert {*PUBLIC, *SINGLE} <= listed


@pytest.mark.nightly
def test_the_site_is_built_without_a_warning(tmp_path):
    """With every example of the gallery."""
    pytest.importorskip("sphinx_gallery")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "docs"]
    built = subprocess.run([*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pictures = (tmp_path / "_images").glob("sphx_glr_plot_*_001.png")
    assert len(list(pictures)) == len(list((ROOT / "examples").glob("*/plot_*.py")))


# Its code is that of the library, 110 columns wide.
WIDE_CODE = {"contributing_day"}


@pytest.mark.parametrize(
    "text", [text for text in DOCS if text.stem not in WIDE_CODE], ids=lambda path: path.stem
)
def test_code_and_output_need_no_scrolling(text):
    page = text.read_text(encoding="utf-8")
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for file, name in re.findall(r"\{literalinclude\} (\S+)\n:pyobject: (\w+)", page):
        source = (text.parent / file).read_text(encoding="utf-8")
        [shown] = (node for node in ast.parse(source).body if getattr(node, "name", "") == name)
        blocks.append(ast.get_source_segment(source, shown))
    assert not [line for block in blocks for line in block.splitlines() if len(line) > 92]


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_links_lead_somewhere(text):
    content = text.read_text(encoding="utf-8")
    for target, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", content):
        page = text.parent / target if target else text
        assert page.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.+)", page.read_text(encoding="utf-8").lower(), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in headings], heading


@cache
def vocabulary():
    """Return parameters and docstrings of the public members by name, and all words that name something."""
    members, words = {}, {"better", "fit", "math", "monotonic", "pushrank", "scores", "worse", "y", "_"}
    for name in public_names():
        member, text = public(name), inspect.getdoc(public(name)) or ""
        is_error = inspect.isclass(member) and issubclass(member, Exception)
        takes = {} if is_error else inspect.signature(member).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in takes.values()):
            members.setdefault(name.rpartition(".")[2], []).append((name, set(takes), text))
        words |= {*takes, *dir(member), *re.findall(r"\w+_\b", text)}
        words.add(name.rpartition(".")[2])
    return members, words


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_what_a_guide_names_exists(text):
    """Calls have such parameters and settings; fitted attributes, members of modules and files are there."""
    members, words = vocabulary()
    prose = re.sub(r"^```.*?^```", "", text.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for span in re.findall(r"`([^`\n]+)`", prose):
        if re.fullmatch(r"(benchmarks|examples|experiments|tests)/[\w./]+", span):
            assert (ROOT / span).exists(), span
            continue
        try:
            tree = ast.parse(f"_({span})", mode="eval").body
        except SyntaxError:
            # The span holds a shell command or mathematics.
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and hasattr(pushrank, ast.unparse(node).partition(".")[0]):
                pkgutil.resolve_name(f"pushrank.{ast.unparse(node)}")
            elif isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                namesakes = members.get(called.rpartition(".")[2], [])
                # A name that two modules have is written with its module.
                meant = [member for member in namesakes if member[0].endswith(f".{called}")] or namesakes
                for _, takes, doc in meant:
                    assert {keyword.arg for keyword in node.keywords} <= takes, span
                    settings = (getattr(keyword.value, "value", None) for keyword in node.keywords)
                    assert all(f'"{setting}"' in doc for setting in settings if isinstance(setting, str)), (
                        span
                    )
            elif isinstance(node, ast.Name) and (node.id.endswith("_") or text in PAPERS):
                assert node.id in words or hasattr(pushrank, node.id), (node.id, span)


def test_the_words_about_the_picture_of_the_readme_are_what_was_kept():
    """The means over the splits, and the misses among the first rows of the split that is drawn."""
    kept = (ROOT / "benchmarks" / "first_rows.txt").read_text(encoding="utf-8")
    means = re.findall(r"mean (.+)", kept)
    hits = [list(map(int, row.split())) for row in re.findall(r"splits ([ \d]+)  mean", kept)]
    assert [f"{sum(row) / len(row):.1f}" for row in hits] == means
    drawn, gain = map(int, re.search(r"shows split (\d), of the median difference: (\d+)", kept).groups())
    gains = [after - before for before, after in zip(*hits, strict=True)]
    assert gains[drawn] == gain == sorted(gains)[len(gains) // 2]
    n_rows = re.search(r"first 100 of ([\d,]+) held-out rows", kept)[1]
    misses = {"nine": 9, "two": 2}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    words = r"([\d,]+) held-out rows: (\w+) are misses by logistic regression, (\w+) by the P-Norm Push"
    shown = re.search(words, readme)
    assert shown[1] == n_rows
    assert [misses[word] for word in shown.groups()[1:]] == [100 - row[drawn] for row in hits]
    assert f"hold {means[0]} hits on average by logistic regression and {means[1]} by the push" in readme


def test_the_words_about_the_picture_of_an_audit_are_what_was_kept():
    """The page's own table and truths have the figures that are drawn."""
    kept = (ROOT / "benchmarks" / "audit_by_month.txt").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "acted_on.md").read_text(encoding="utf-8")
    rows = re.findall(r"^(?:2013-\d\d|in all) +(.*)$", kept, re.MULTILINE)
    *months, in_all = [[int(cell.replace(",", "")) for cell in row.split()] for row in rows]
    table = re.findall(r"^ +2013-\d\d +(.*)$", page, re.MULTILINE)
    shown = [[int(cell.replace(",", "")) for cell in row.split()] for row in table]
    assert [[hits, *found] for _, hits, _, *found in shown] == [month[:4] for month in months]
    hits, found, most, estimate, truth = in_all
    assert f"{hits} known hits.\nHits below the list: at most {most:,}" in page
    assert re.search(rf"\(estimate {estimate:,}\); the audit of\s552 rows found {found} of them", page)
    assert f"hits below the list: {truth}, by month {[month[-1] for month in months]}" in page
    ratios = [most / truth for *_, most, _, truth in [*months, in_all]]
    ends = f"{min(ratios[:-1]):.1f} to {max(ratios[:-1]):.1f}"
    assert f"bound by truth: {ends} in a month, {ratios[-1]:.1f} in all" in kept
    assert (
        f"The bound is {ends} times as high as the truth in single months, and {ratios[-1]:.1f} times" in page
    )
    # What the alternative text says: bounds above the truth, and estimates on both sides of it.
    assert min(ratios) > 1.0
    assert {estimate > truth for *_, estimate, truth in months} == {True, False}


def test_the_words_about_the_picture_of_a_duel_are_what_was_kept():
    """The day of the picture is the first whose evidence is enough."""
    kept = (ROOT / "benchmarks" / "duel_by_day.txt").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    n_days, k, n_duels = map(int, re.search(r"(\d+) days, (\d+) a day acted on, (\d+) duels", kept).groups())
    champion, challenger = re.search(r"champion ([\d.]+), challenger ([\d.]+)", kept).groups()
    n_decided, n_right, day = map(
        int,
        re.search(r"decided: (\d+), for the challenger (\d+)\n.* median day: (\d+)", kept).groups(),
    )
    table = re.findall(r"^ *(\d+) +([+-]\d+) +([\d.]+)$", kept, re.MULTILINE)
    by_day = {int(number): (int(score), float(evidence)) for number, score, evidence in table}
    assert by_day[day - 1][1] < NEEDED <= by_day[day][1]
    assert n_decided == n_right
    assert k == 10
    assert f"over {n_days} days: the line leaves a grey band" in page
    assert f"duels of equal models never leave, on day {day}]" in page
    words = (
        f"alone finds {challenger} hits a day meets a champion that finds {champion}, with ten rows a day: "
    )
    assert f"{words}after {day} days it has {by_day[day][0]} hits more from disputed rows" in page
    words = f"Of {n_duels} duels that differ by their coins alone {n_decided} decide within {n_days} days"
    assert f"{words}, all for the challenger" in page


def command_lines(text):
    """Return the commands in the code of a text, each with the options after its name."""
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL))
    blocks = re.findall(r"^ *```(?:console|sh|dockerfile)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    for line in [*spans, *lines]:
        for name, rest in re.findall(r"(?:^|[$&/;] ?|if )pushrank ([a-z]+)\b([^|;&#]*)", line.strip()):
            yield name, re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest)


@pytest.mark.parametrize(
    "text", [*TEXTS, *sorted((ROOT / "examples").glob("*/*.py"))], ids=lambda path: path.stem
)
def test_each_command_and_option_that_a_text_names_exists(text):
    """In a page every option is one of some command, even where no command stands beside it."""
    content = text.read_text(encoding="utf-8")
    options = {name: options_of(name) for name in COMMANDS}
    for name, words in command_lines(content):
        assert name in options, name
        assert set(words) <= options[name], (name, words)
    if text in TEXTS and text.stem not in OTHER_PROGRAMS:
        known = {word for of in options.values() for word in of} | {"--version", "--[no-]ensemble"}
        prose = re.sub(r"^ *```.*?^ *```", "", content, flags=re.MULTILINE | re.DOTALL)
        spans = " ".join(re.findall(r"`([^`\n]+)`", prose))
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", spans)) <= known


def test_every_display_is_in_the_gallery():
    scripts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*/plot_*.py"))
    assert set(plots.__all__) <= set(re.findall(r"\w+Display", scripts))


SCRIPTS = sorted((Path(__file__).parent.parent / "examples").glob("*/plot_*.py"))


def test_there_are_examples():
    assert len(SCRIPTS) > 10


# Each of these takes seconds.
LONG_SCRIPTS = {"plot_1_list_of_100", "plot_2_million_rows", "plot_2_tradeoff_over_p", "plot_5_money"}
LONG_SCRIPTS |= {"plot_8_screening_plate"}


@pytest.mark.docs
@pytest.mark.parametrize(
    "script",
    [pytest.param(script, marks=[pytest.mark.nightly] * (script.stem in LONG_SCRIPTS)) for script in SCRIPTS],
    ids=lambda script: script.stem,
)
def test_an_example_runs_without_a_warning_and_draws(script):
    mpl.use("Agg")
    from matplotlib import pyplot

    try:
        runpy.run_path(str(script), run_name="__main__")
        assert pyplot.get_fignums()
    finally:
        pyplot.close("all")
