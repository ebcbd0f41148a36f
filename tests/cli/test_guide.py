"""The guide to the command line: every command is in it, and its examples print what they say."""

import doctest
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from docs import command_reference
from pushrank import IRPush, cli
from pushrank.cli import app

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "command_line.md").read_text(encoding="utf-8")
FILES = DOCS / "command_line_files.py"
SIMILAR = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
WIDTH = 88
"""How wide a terminal the guide shows: wider blocks would scroll on the site."""


def test_the_reference_has_the_help_as_it_is():
    page = command_reference.PAGE.read_text(encoding="utf-8")
    assert page == command_reference.page(), "run python docs/command_reference.py"
    assert re.findall(r"^### `pushrank (\w+)`$", page, re.MULTILINE) == list(cli.COMMANDS)


@pytest.mark.parametrize("page", [GUIDE, command_reference.page()], ids=["guide", "reference"])
def test_no_block_scrolls(page):
    blocks = re.findall(r"^```.*?^```", page, re.MULTILINE | re.DOTALL)
    assert max((len(line) for block in blocks for line in block.splitlines()), default=0) <= WIDTH


@pytest.mark.usefixtures("files")
def test_the_guide_names_every_figure_of_json_that_is_printed():
    """The stable names of the commands that take no comparison."""
    rows = re.findall(r"^\| `(\w+)` \| (`.*) \|$", GUIDE.partition("`--json`")[2], re.MULTILINE)
    names = {command: set(re.findall(r"`(\w+)`", cells)) for command, cells in rows}
    assert set(names) == set(cli.COMMANDS) - {"demo"}
    calls = [
        "fit digits.csv --label digit --positive 8 --model pnorm-push --budget 120 -o model.skops",
        "score model.skops today.csv --top 30 --audit 3 -o acted.csv",
        "measure new.csv --model model.skops",
        "alert model.skops february.csv --begin --budget 8/day --time came",
        "alert model.skops one_day.csv --id id --time came -o decided.csv",
        "duel model.skops model.skops one_day.csv --budget 8/day --time came --id id --state d.db -o s.csv",
        "show model.skops",
    ]
    for line in calls:
        shown = CliRunner().invoke(app, [*line.split(), "--json"])
        assert shown.exit_code == 0, shown.output
        assert set(json.loads(shown.stdout)) <= names[line.split()[0]], line


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a folder with the files that the guide writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder := tmp_path_factory.mktemp("guide"))
        runpy.run_path(str(FILES))
    return folder


@pytest.fixture
def files(written, tmp_path, monkeypatch):
    """Work in a folder of its own with these files."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.chdir(shutil.copytree(written, tmp_path, dirs_exist_ok=True))
    return tmp_path


EXAMPLES = [
    (arguments.replace("\\\n", " "), shown)
    for block in re.findall(r"^```console\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    for arguments, shown in re.findall(
        r"^\$ pushrank ((?:[^\n]*\\\n)*[^\n]*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE
    )
]


def test_every_command_has_an_example():
    assert {arguments.split()[0] for arguments, _ in EXAMPLES} == set(cli.COMMANDS)


@pytest.mark.parametrize("compares", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.usefixtures("files")
def test_the_examples_print_what_they_say(compares):
    """By day those that compare no models in cross-validation, which takes seconds."""
    for arguments, expected in EXAMPLES:
        if (arguments.split()[0] in ("compare", "demo")) != compares:
            continue
        result = CliRunner().invoke(app, shlex.split(arguments))
        is_refused = expected.startswith("Error: ")
        assert result.exit_code == 2 * is_refused, result.output
        assert "\x1b[" not in result.output  # no colour where nobody looks
        printed = result.stderr if is_refused else result.stdout
        same = doctest.OutputChecker().check_output(expected, printed, SIMILAR)
        assert same, f"pushrank {arguments} prints\n{printed}"


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell")
@pytest.mark.parametrize("in_process", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_shell_script_lets_a_list_through_by_what_it_promises(files, in_process):
    """Processes take seconds to start: but at night the shell is told what the command did in this one."""
    fit = next(arguments for arguments, _ in EXAMPLES if arguments.startswith("fit digits.csv"))
    assert CliRunner().invoke(app, shlex.split(fit)).exit_code == 0
    script = re.search(r"^```sh\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)[1]
    folder = str(Path(sys.executable).parent)
    for required, code in ((">=0.8", 1), (">=0.3", 0)):
        asked = script.replace(">=0.3", required)
        if in_process:
            command, folder = re.search(r"if pushrank (.*?) > measured", asked, re.DOTALL)[1], str(files)
            command = command.replace("\\\n", " ")
            said = CliRunner().invoke(app, shlex.split(command))
            Path("said").write_text(said.stderr, encoding="utf-8")
            told = f"[ $1 = score ] && : > today_ranked.csv && exit\ncat said >&2\nexit {said.exit_code}"
            Path("pushrank").write_text(f"#!/bin/sh\n{told}", encoding="utf-8")
            Path("pushrank").chmod(0o700)
        path = os.pathsep.join([folder, os.environ["PATH"]])
        done = subprocess.run(
            ["sh", "-c", asked], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        assert ("precision@30>=0.8 is not reached: it takes 24 hits." in done.stderr) == code
        assert ("today is not ranked, exit code 1:" in done.stderr) == code
        assert Path("today_ranked.csv").exists() != code


def test_the_demo_runs(monkeypatch):
    """On few rows: the example of the guide is checked at night."""
    monkeypatch.setattr("pushrank.cli.demo.N_SHOWERS", 300)
    monkeypatch.setattr("pushrank.cli.demo.BUDGET", 30)
    monkeypatch.setattr("pushrank.cli.demo.compare.default_rankers", lambda *_, **__: {
        "logistic regression": LogisticRegression(), "IR Push": IRPush()
    })  # fmt: skip
    shown = CliRunner().invoke(app, ["demo"])
    assert shown.exit_code == 0, shown.output
    assert "Which of 300 showers are gamma rays?" in shown.stdout
    *_, following = shown.stdout.splitlines()
    model, n_hits = re.search(r"^Chosen: (.+), which finds (\d+) hits", shown.stdout, re.MULTILINE).groups()
    assert re.search(rf"^  {re.escape(model)} +{n_hits} .*chosen$", shown.stdout, re.MULTILINE)
    # What it says to type is a command that there is.
    command = following.removeprefix("With your own table: pushrank ")
    refused = CliRunner().invoke(app, shlex.split(command))
    assert refused.exit_code == 2
    assert "data.csv" in refused.stderr
