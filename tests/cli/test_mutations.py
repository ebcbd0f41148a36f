"""Tables and option lines damaged at random: read or refused in a line, and nothing is overwritten."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pushrank.cli import app
from pushrank.cli.errors import InputError
from tests.cli.runner import features

N_ROWS = 40
BITS = [b",", b";", b"\n", b"\r", b'"', b"'", b"\x00", b"\xff", b"\t", b" ", b"1e999", b"NaN", b"y", b"sep=;"]
ODD = ["", "0", "-1", "1e400", "nan", "x", "y", "a,b", "'", "\u2028", "--", "-", "data.csv", "tab", "1" * 11]
ODD += ["decimal=x", "decimal=comma", "thousands=.", "skip=1", "skip=-", "missing=1", "header=no", "sheet=x"]
ODD += ["p=2", "k=0", "solver=x", "pnorm-push", "20%", "7d", "5/day"]
OPTIONS = "--label --positive --exclude --read --set --model --seed --hold-out --budget --time -o".split()  # noqa: SIM905
WRITTEN = {
    "data.csv": lambda frame: frame.to_csv(index=False).encode(),
    "data.parquet": lambda frame: frame.to_parquet(),
}
FLAGS = ["--read", "--nonsense", "-h"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=N_ROWS).round(3)
    y = (x + rng.normal(size=N_ROWS) > 0).astype(int)
    kind = rng.choice(["a", "b"], N_ROWS)
    return pd.DataFrame({"x": x, "kind": kind, "n": rng.integers(0, 9, N_ROWS), "y": y})


def mutated(text, rng):
    """Return a file with a piece cut out, doubled or overwritten."""
    start, length = rng.integers(len(text)), rng.integers(1, 30)
    piece = [b"", 2 * text[start : start + length], BITS[rng.integers(len(BITS))]][rng.integers(3)]
    return text[:start] + piece + text[start + length * rng.integers(2) :]


@pytest.mark.parametrize("n_files", [10, pytest.param(333, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", WRITTEN)
def test_a_damaged_table_is_read_or_refused(tmp_path, frame, name, n_files, capsys):
    rng = np.random.default_rng(len(name))
    path = tmp_path / name
    whole, n_read = WRITTEN[name](frame), 0
    for _ in range(n_files):
        path.write_bytes(mutated(whole, rng))
        try:
            rows = features(path)
        except InputError:
            continue
        n_read += 1
        assert len(rows.y) == len(rows.rows.X) <= 2 * N_ROWS
        assert 0 < rows.y.sum() < len(rows.y)
        assert not np.isinf(rows.rows.X[rows.numeric].to_numpy()).any()
    assert n_files < 100 or 0 < n_read < n_files
    capsys.readouterr()


@pytest.mark.parametrize("n_lines", [10, pytest.param(200, marks=pytest.mark.nightly)])
def test_a_damaged_line_of_options_runs_or_is_refused(tmp_path, frame, n_lines, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(n_lines)
    frame.to_csv("data.csv", index=False)
    data = (tmp_path / "data.csv").read_bytes()
    for _ in range(n_lines):
        line = ["fit", "data.csv", "--label", "y", "-o", "m.skops"]
        for _ in range(rng.integers(1, 4)):
            place = rng.integers(1, len(line) + 1)
            kinds = [[str(rng.choice(FLAGS))], [str(rng.choice(OPTIONS)), str(rng.choice(ODD))]]
            new = kinds[rng.integers(2)]
            line[place : place + rng.integers(2)] = new
        shown = CliRunner().invoke(app, line, input=frame.to_csv(index=False))
        assert shown.exit_code in (0, 2), (line, shown.exception)
        assert isinstance(shown.exception, SystemExit | None), line
        assert "Traceback" not in shown.stderr
        assert (tmp_path / "data.csv").read_bytes() == data, line
