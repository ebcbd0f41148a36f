"""The pages of a year of flights: each of their commands runs, and prints what the page says."""

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

pytestmark = pytest.mark.docs
DATA = os.environ.get("PUSHRANK_DATA")
DOCS = Path(__file__).parents[2] / "docs"
SIMILAR = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# The exit code of watch by its last sentence.
SENTENCES = {
    r"as expected: of .* expected": 0,
    r"fewer hits than expected since .*: retrain": 1,
    r"the rows have changed: (columns? .*|the scores)": 1,
    r"nothing is known of hits": 3,
}
COMMANDS = {
    "every_day": ["compare", "alert", "alert", "watch", "watch", "watch", "measure"],
    "acted_on": ["fit", "score", "measure", "measure", "measure", "watch", "watch", "watch", "fit"],
}
WRITTEN = {
    "every_day": {"late.skops", "late.alert.db", "alerts.parquet", "watch.html", "decision.png"},
    "acted_on": {"late.skops", "late.alert.db", "late.audit.key", "looked_at.parquet", "later.skops"},
}


@pytest.mark.skipif(DATA is None, reason="PUSHRANK_DATA does not name a folder with flights.parquet")
@pytest.mark.parametrize("every", [30, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_runs_and_prints_what_the_page_says(name, every, tmp_path, monkeypatch, capsys):
    """By day of every thirtieth flight, of which other figures are printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    pd.read_parquet(Path(DATA) / "flights.parquet")[::every].to_parquet("flights.parquet")
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    names, printed, commands = {}, "", []
    for kind, block in re.findall(r"^```(python|console|text)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if kind == "python":
            exec(block, names)  # noqa: S102
            printed = capsys.readouterr().out
            continue
        expected = block
        if kind == "console":
            line, expected = block.replace("\\\n", "").split("\n", 1)
            arguments = shlex.split(line.removeprefix("$ pushrank "))
            result = CliRunner().invoke(app, arguments)
            # Warnings are shown where the page is about them.
            printed = result.output if "warning:" in expected else result.stdout
            commands.append(arguments[0])
            if arguments[0] == "watch":
                # A long last sentence goes on in another line.
                last = " ".join(printed.split())
                [code] = (code for sentence, code in SENTENCES.items() if re.search(f"{sentence}$", last))
                assert result.exit_code == code, result.output
            else:
                assert result.exit_code == 0, result.output
        assert printed
        if every == 1:
            assert doctest.OutputChecker().check_output(expected, printed, SIMILAR), printed
    pyplot.close("all")
    assert commands == COMMANDS[name]
    assert {path.name for path in tmp_path.iterdir()} >= WRITTEN[name]
    if name == "every_day":
        alerts = pd.read_parquet("alerts.parquet")
        assert {"rank", "score", "threshold", "alert"} <= set(alerts)
        assert 0 < alerts["alert"].sum() <= 30
