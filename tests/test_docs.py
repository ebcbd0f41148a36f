"""The guides' code runs and prints what they say, and they leave no public name out."""

from __future__ import annotations

import ast
import doctest
import inspect
import pkgutil
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import pushrank
from pushrank import plots
from test_quality import PUBLIC, public, public_names

ROOT = Path(__file__).parent.parent
PAPERS = sorted((ROOT / "docs" / "papers").glob("*.md"))
DOCS = [*sorted((ROOT / "docs").glob("*.md")), *PAPERS]
TEXTS = [*DOCS, ROOT / "README.md"]
GUIDES = [path for path in TEXTS if ">>>" in path.read_text(encoding="utf-8")]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guides_code_runs(guide):
    found = doctest.testfile(str(guide), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert found.attempted > 0
    assert found.failed == 0


def test_the_tutorials_classes_keep_the_laws():
    """The classes of the tutorial itself, summed fast and pair by pair."""
    import numpy as np

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
        for found, expected in zip(fast.adjoint_product(z), slow.adjoint_product(z), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
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
    [("virtual_screening", "rdkit", "1.0 "), ("deploy", "onnxruntime", "True")],
)
def test_code_runs_that_needs_a_package_beyond_the_tests(name, package, printed, capsys):
    pytest.importorskip(package)
    guide = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    exec(re.search(r"^```python\n([^>].*?)^```", guide, re.MULTILINE | re.DOTALL)[1], {})  # noqa: S102
    assert capsys.readouterr().out.startswith(printed)


def test_the_guide_to_measures_prints_what_it_shows(capsys):
    """But for the numbers, whose last digits are the machine's."""
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
    assert set(PUBLIC) <= set((ROOT / "docs" / "api.md").read_text(encoding="utf-8").split())


def test_the_readme_quotes_the_demo():
    """Whose output the guide to the command line keeps."""
    readme, guide = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/command_line.md")
    )
    assert re.search(r"^```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[1] in guide
    assert len(readme.splitlines()) <= 90


@pytest.mark.nightly
def test_the_site_is_built_without_a_warning(tmp_path):
    """With every example of the gallery; by the command that CONTRIBUTING says."""
    pytest.importorskip("sphinx_gallery")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "docs"]
    assert "python " + " ".join(command[1:]) in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    built = subprocess.run([*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pictures = (tmp_path / "_images").glob("sphx_glr_plot_*_001.png")
    assert len(list(pictures)) == len(list((ROOT / "examples").glob("*/plot_*.py")))


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_links_lead_somewhere(text):
    content = text.read_text(encoding="utf-8")
    for target, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", content):
        page = text.parent / target if target else text
        assert page.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.+)", page.read_text(encoding="utf-8").lower(), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", said).replace(" ", "-") for said in headings], heading


@cache
def vocabulary():
    """Return the parameters and docstrings of the public members by name, and the words they are known by."""
    members, words = {}, {"better", "fit", "math", "monotonic", "pushrank", "scores", "worse", "y", "_"}
    for name in public_names():
        member, text = public(name), inspect.getdoc(public(name)) or ""
        is_error = inspect.isclass(member) and issubclass(member, Exception)
        takes = {} if is_error else inspect.signature(member).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in takes.values()):
            members.setdefault(name.rpartition(".")[2], []).append((set(takes), text))
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
            continue  # shell, or mathematics
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and hasattr(pushrank, ast.unparse(node).partition(".")[0]):
                pkgutil.resolve_name(f"pushrank.{ast.unparse(node)}")
            elif isinstance(node, ast.Call):
                for takes, doc in members.get(ast.unparse(node.func).rpartition(".")[2], []):
                    assert {keyword.arg for keyword in node.keywords} <= takes, span
                    settings = (getattr(keyword.value, "value", None) for keyword in node.keywords)
                    assert all(f'"{said}"' in doc for said in settings if isinstance(said, str)), span
            elif isinstance(node, ast.Name) and (node.id.endswith("_") or text in PAPERS):
                assert node.id in words or hasattr(pushrank, node.id), (node.id, span)


def test_every_display_is_in_the_gallery():
    scripts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*/plot_*.py"))
    assert set(plots.__all__) <= set(re.findall(r"\w+Display", scripts))


def measured():
    """Return positives at the top and average precision, by data set and model, of the benchmark."""
    found, data = {}, ""
    for line in (ROOT / "benchmarks" / "at_the_top.txt").read_text(encoding="utf-8").splitlines():
        if re.search(r", [\d.]+% positive, ", line):
            data = line.split(": ")[0]
        elif row := re.match(r"  (\S.*?) +([\d.]+) ± +[\d.]+ +[\d.]+ ± [\d.]+ +([\d.]+) ± ", line):
            found[data, row[1]] = float(row[2]), float(row[3])
    return found


@pytest.mark.parametrize("name", ["README.md", "docs/measured.md"])
def test_the_quality_that_is_claimed_is_what_was_measured(name):
    """With the defaults that people use beside our own, not their stumps alone."""
    text = (ROOT / name).read_text(encoding="utf-8")
    head, _, *rows = re.search(r"^\| positives above (?:.*\|\n)+", text, re.MULTILINE)[0].splitlines()
    _, *data_sets = [cell.strip() for cell in head.strip("| ").split(" | ")]
    figures, shown = measured(), set()
    for row in rows:
        model, *cells = row.strip("| ").replace("`", "").split(" | ")
        shown.add(model)
        for data, cell in zip(data_sets, cells, strict=True):
            at_top, precision = figures[data, model]
            said = cell.split(", ")
            assert float(said[0].split(" ")[0]) == pytest.approx(at_top, abs=0.51), (model, data)
            assert float(said[1]) == pytest.approx(precision, abs=0.00051), (model, data)
    assert {"LightGBM, stumps (num_leaves=2)", "LightGBM, default", "RandomForest, default"} <= shown


SETS_OF_THE_GUIDE = {
    "MAGIC": "magic",
    "MAGIC, a fifth of the labels drawn anew": "magic (relabelled)",
    "adult": "adult_a9a",
    "housing, whose test parts have 10 positives": "housing",
    "made, with hidden positives": "hidden positives",
}


def test_the_choice_of_the_objective_is_quoted_as_kept():
    guide = (ROOT / "docs" / "which_ranker.md").read_text(encoding="utf-8").replace("**", "")
    kept = (ROOT / "experiments" / "choosing_the_push" / "results.txt").read_text(encoding="utf-8").strip()
    measures = re.compile(r"(precision at n\+/4|average precision|AUC): means")
    parts = [part for part in kept.split("\n\n") if measures.match(part)]
    block = (
        r"^  (\S.*), \d+ splits: \w+ (.+)\n    TopRankerCV, n\+/4 +(\S+)(?:.*\n    .+)*?\n    LightGBM +(\S+)"
    )
    found = [{name: figures for name, *figures in re.findall(block, part, re.MULTILINE)} for part in parts]
    rows = re.findall(
        r"^\| (.+?) \| (.+) → (.+) \| (.+) → (.+) \| (.+) → (.+) \| (.+) \|$", guide, re.MULTILINE
    )
    assert len(rows) == 8
    for said, *quoted in rows:
        name = SETS_OF_THE_GUIDE.get(said, said)
        figures = [figure for part in found for figure in part[name][:2]] + [found[0][name][2]]
        assert list(map(float, quoted)) == list(map(float, figures)), said


def test_the_measures_of_all_rankers_are_quoted_as_kept():
    guide = (ROOT / "docs" / "which_ranker.md").read_text(encoding="utf-8")
    kept = (ROOT / "benchmarks" / "which_ranker.txt").read_text(encoding="utf-8")
    row = r"  [\d.]+ +([\d.]+) +[\d.]+ +([\d.]+) +[\d.]+$"
    of_sets = [re.findall(row, part, re.MULTILINE) for part in kept.split(" to learn from")[1:]]
    found = {tuple(map(float, sum(figures, ()))) for figures in zip(*of_sets, strict=True)}
    quoted = re.findall(r"^\| `.+? \| ([\d.]+(?: \| [\d.]+){5}) \|$", guide, re.MULTILINE)
    assert len(quoted) == 14
    assert {tuple(map(float, figures.split(" | "))) for figures in quoted} <= found


def test_the_differences_of_exports_are_quoted_as_kept():
    """The largest of all data sets, rounded up; no row changed its class."""
    guide = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    kept = (ROOT / "benchmarks" / "exports.txt").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+).* \| (\S+) \| (\S+) \| (\S+) \|$", guide, re.MULTILINE)
    assert len(rows) == 3
    for kind, *quoted in rows:
        figures = rf"  (?:rbf )?{kind} +(\S+)  0 +(\S+)  0 +(\S+)  0$"
        found = re.findall(figures, kept, re.MULTILINE)
        assert len(found) == int(re.search(r"On (\d+) data sets", guide)[1])
        for said, of_sets in zip(quoted, zip(*found, strict=True), strict=True):
            largest = max(map(float, of_sets))
            assert largest <= float(said) <= 1.35 * largest, (kind, said)


def numbers(text):
    return {float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?|\.\d+", text)}


def test_figures_beside_the_papers_are_those_kept():
    """Of each page, in the results of the experiments that it links and the benchmarks that it names."""
    checked = 0
    for page in PAPERS:
        text = page.read_text(encoding="utf-8")
        folders = re.findall(r"\.\./experiments/(\w+)/README", text)
        files = [file for name in folders for file in (ROOT / "experiments" / name).glob("*.txt")]
        files += [ROOT / name for name in re.findall(r"`(benchmarks/\w+\.txt)`", text)]
        kept = numbers("\n".join(file.read_text(encoding="utf-8") for file in files))
        of_ours = re.sub(r"\(\d\.\d\d\)", "", text.partition("## Slips")[0])
        for figure in re.findall(r"\b\d+,\d{3}\b|\d*\.\d{2,}\b", of_ours):
            places = len(figure.partition(".")[2])
            close = (abs(float(figure.replace(",", "")) - number) <= 0.501 * 10.0**-places for number in kept)
            assert any(close), (page.stem, figure)
            checked += 1
    assert checked > 20
