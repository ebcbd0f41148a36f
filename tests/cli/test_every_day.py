"""The page "Every day": each of its commands runs, and prints what the page says."""

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
PAGE = (Path(__file__).parents[2] / "docs" / "every_day.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|console|text)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SIMILAR = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SENTENCE = (
    r"as promised: of .* promised|fewer hits than promised since .*: retrain|"
    r"the rows have changed: (columns? .*|the scores)"
)


@pytest.mark.skipif(DATA is None, reason="PUSHRANK_DATA does not name a folder with flights.parquet")
@pytest.mark.parametrize("every", [30, pytest.param(1, marks=pytest.mark.nightly)])
def test_each_command_runs_and_prints_what_the_page_says(tmp_path, monkeypatch, capsys, every):
    """By day of every thirtieth flight, of which other figures are printed."""
    monkeypatch.chdir(tmp_path)
    pd.read_parquet(Path(DATA) / "flights.parquet")[::every].to_parquet("flights.parquet")
    names, printed, commands = {}, "", []
    for kind, block in BLOCKS:
        if kind == "python":
            exec(block, names)  # noqa: S102
            printed = capsys.readouterr().out
            continue
        if kind == "console":
            line, expected = block.split("\n", 1)
            arguments = shlex.split(line.removeprefix("$ pushrank "))
            result = CliRunner().invoke(app, arguments)
            printed, last = result.stdout, result.stdout.splitlines()[-1]
            commands.append(arguments[0])
            if arguments[0] == "watch":
                assert re.fullmatch(SENTENCE, last)
                assert result.exit_code == (not last.startswith("as promised")), result.output
            else:
                assert result.exit_code == 0, result.output
        else:
            expected = block
        assert printed
        if every == 1:
            assert doctest.OutputChecker().check_output(expected, printed, SIMILAR), printed
    pyplot.close("all")
    assert commands == ["compare", "score", "score", "watch", "watch", "watch", "evaluate"]
    assert {"late.skops", "late.alert.db", "alerts.parquet", "watch.html", "decision.png"} <= {
        path.name for path in tmp_path.iterdir()
    }
    alerts = pd.read_parquet("alerts.parquet")
    assert {"rank", "score", "threshold", "alert"} <= set(alerts)
    assert 0 < alerts["alert"].sum() <= 30
