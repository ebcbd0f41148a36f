"""The guide to the command line: every command is in it, and its examples print what they say."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from docs import command_reference
from pushrank import IRPush, cli
from pushrank.cli import app

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "command_line.md").read_text(encoding="utf-8")
FILES = (DOCS / "command_line_files.md").read_text(encoding="utf-8")
SIMILAR = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
WIDTH = 88
"""How wide a terminal the guide shows: wider blocks would scroll on the site."""


def test_the_reference_has_the_help_as_it_is():
    page = command_reference.PAGE.read_text(encoding="utf-8")
    assert page == command_reference.page(), "run python docs/command_reference.py"
    assert re.findall(r"^## `pushrank (\w+)`$", page, re.MULTILINE) == list(cli.COMMANDS)


def test_the_reference_has_every_option():
    page = command_reference.PAGE.read_text(encoding="utf-8")
    group = typer.main.get_command(app)
    files, *sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    for name, section in zip(cli.COMMANDS, sections, strict=True):
        shown = section + files * ("(#options-for-files)" in section)
        options = {
            word
            for param in group.get_command(None, name).params
            for word in param.opts
            if word.startswith("-")
        }
        assert options - {"--help", "-h"} <= set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", shown)), name


@pytest.mark.parametrize(
    "page", [GUIDE, FILES, command_reference.page()], ids=["guide", "files", "reference"]
)
def test_no_block_scrolls(page):
    """But for the code that makes the files, which is to be copied."""
    blocks = re.findall(r"^```(?!python).*?^```", page, re.MULTILINE | re.DOTALL)
    assert max((len(line) for block in blocks for line in block.splitlines()), default=0) <= WIDTH


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a folder with the files that the guide writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder := tmp_path_factory.mktemp("guide"))
        exec(re.search(r"^```python\n(.*?)^```", FILES, re.MULTILINE | re.DOTALL)[1], {})  # noqa: S102
    return folder


@pytest.fixture
def files(written, tmp_path, monkeypatch):
    """Work in a folder of its own with these files."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.chdir(shutil.copytree(written, tmp_path, dirs_exist_ok=True))
    return tmp_path


EXAMPLES = [
    (arguments.replace("\\\n", " "), shown)
    for arguments, shown in re.findall(
        r"^```console\n\$ pushrank ((?:[^\n]*\\\n)*[^\n]*)\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL
    )
]


def test_every_command_has_an_example():
    assert {arguments.split()[0] for arguments, _ in EXAMPLES} == set(cli.COMMANDS)


@pytest.mark.parametrize("compares", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.usefixtures("files")
def test_the_examples_print_what_they_say(compares):
    """By day those that compare no models in cross-validation, which takes seconds."""
    for arguments, expected in EXAMPLES:
        if (arguments.split()[0] in ("compare", "report", "demo")) != compares:
            continue
        result = CliRunner().invoke(app, shlex.split(arguments))
        assert result.exit_code == 0, result.output
        assert "\x1b[" not in result.output  # no colour where nobody looks
        same = doctest.OutputChecker().check_output(expected, result.stdout, SIMILAR)
        assert same, f"pushrank {arguments} prints\n{result.stdout}"


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
            command, folder = re.search(r"if pushrank (.*?) >", asked, re.DOTALL)[1], str(files)
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
    *_, first, second, following = shown.stdout.splitlines()
    chosen = re.fullmatch(r"In plain words: (\d+) of 30 showers by (.+) are gamma rays\.", first)
    n_hits, model = chosen.groups()
    assert f" {n_hits}.0 ±" in next(row for row in shown.stdout.splitlines() if f"│ {model} " in row)
    assert re.fullmatch(r"With logistic regression \d+ are, and of 30 showers drawn at random \d+\.", second)
    # What it says to type is a command that there is.
    command = following.removeprefix("Next, with your own table: pushrank ")
    refused = CliRunner().invoke(app, shlex.split(command))
    assert refused.exit_code == 2
    assert "data.csv" in refused.stderr
