"""The guide to the command line: every command is in it, and its examples print what they say."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from pushrank import TrimmedPush, cli
from pushrank.cli import app

GUIDE = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `pushrank (\w+)`\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL))
SIMILAR = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def test_there_is_a_section_for_every_command():
    assert list(SECTIONS) == list(cli.COMMANDS)


EXAMPLES = re.findall(r"^```console\n\$ pushrank (.*?)\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def test_every_command_has_an_example():
    assert {arguments.split()[0] for arguments, _ in EXAMPLES} == set(cli.COMMANDS)


@pytest.mark.parametrize("demo", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_the_examples_print_what_they_say(tmp_path, monkeypatch, demo):
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)[1], {})  # noqa: S102
    for arguments, expected in EXAMPLES:
        if (arguments == "demo") != demo:
            continue
        result = CliRunner().invoke(app, shlex.split(arguments))
        assert result.exit_code == 0, result.output
        assert "\x1b[" not in result.output  # no colour where nobody looks
        same = doctest.OutputChecker().check_output(expected, result.stdout, SIMILAR)
        assert same, f"pushrank {arguments} prints\n{result.stdout}"


def test_the_demo_runs(monkeypatch):
    """On few rows: the example of the guide is checked at night."""
    monkeypatch.setattr("pushrank.cli.demo.N_SHOWERS", 300)
    monkeypatch.setattr("pushrank.cli.demo.BUDGET", 30)
    monkeypatch.setattr("pushrank.cli.demo.default_rankers", lambda *_, **__: {
        "logistic regression": LogisticRegression(), "random forest": None, "trimmed push": TrimmedPush()
    })  # fmt: skip
    shown = CliRunner().invoke(app, ["demo"])
    assert shown.exit_code == 0, shown.output
    assert "Which of 300 showers are gamma rays?" in shown.stdout
