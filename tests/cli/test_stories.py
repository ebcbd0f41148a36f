"""The stories: each of their commands runs on real data, and prints what the page says."""

import doctest
import os
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from matplotlib import pyplot
from typer.testing import CliRunner

from pushrank.cli import app
from tests.cli.runner import FEW

pytestmark = pytest.mark.docs
DATA = os.environ.get("PUSHRANK_DATA")
PAGES = sorted((Path(__file__).parents[2] / "docs" / "stories").glob("*.md"))
STORIES = [*(page for page in PAGES if page.stem != "index"), PAGES[0].parents[1] / "plate_after_plate.md"]
SIMILAR = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# By day large files are cut to every so many rows, of which other figures are printed.
EVERY = {"calls": 5, "crew": 4}


def steps(page):
    """Return the blocks of a story in order: Python, or a command, each with the text that it prints."""
    found = []
    for kind, block in re.findall(r"^```(python|console|text)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if kind == "python":
            found.append([kind, block, ""])
        elif kind == "text":
            found[-1][2] = block
        else:
            whole_lines = block.replace("\\\n", "")
            parts = re.split(r"^\$ pushrank ", whole_lines, flags=re.MULTILINE)[1:]
            found += [["command", *part.split("\n", 1)] for part in parts]
    return found


def by_day(arguments):
    """Compare few models."""
    return [*arguments, *map(str, FEW)] if arguments[0] == "compare" else arguments


@pytest.mark.skipif(DATA is None, reason="PUSHRANK_DATA does not name a folder with the stories' data")
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.stem)
def test_each_command_of_a_story_runs_and_prints_what_the_page_says(
    story, whole, tmp_path, monkeypatch, capsys
):
    """By day with few models, whose comparison is not checked, and in part on few rows."""
    page = story.read_text(encoding="utf-8")
    if "rdkit" in page:
        pytest.importorskip("rdkit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    every = 1 if whole else EVERY.get(story.stem, 1)
    for name in set(re.findall(r'read_parquet\("(\w+\.parquet)"\)', page)):
        if (Path(DATA) / name).exists():
            pd.read_parquet(Path(DATA) / name)[::every].to_parquet(name)
    names, commands = {}, []
    for kind, code, expected in steps(page):
        if kind == "python":
            exec(code, names)  # noqa: S102
            printed, checked = capsys.readouterr().out, every == 1
        else:
            arguments = shlex.split(code)
            few = arguments if whole or "--model" in arguments else by_day(arguments)
            result = CliRunner().invoke(app, few)
            capsys.readouterr()
            printed, checked = result.stdout, every == 1 and few == arguments
            commands.append(arguments[0])
            last = printed.splitlines()[-1]
            may_warn = arguments[0] == "watch" and last.startswith("the rows have changed")
            assert result.exit_code == may_warn, result.output
            assert printed
        if checked:
            same = doctest.OutputChecker().check_output(expected, printed, SIMILAR)
            assert same, f"{code}\nprints\n{printed}"
    pyplot.close("all")
    assert len(commands) >= 3
