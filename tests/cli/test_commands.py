"""Every command on every kind of file, and one clear line for every kind of bad input."""

import io
import json
import logging
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from combinations import by_day
from pushrank.__main__ import main
from pushrank._base import parallel as _parallel
from pushrank.cli import COMMANDS
from pushrank.cli.screen import progress
from tests.cli.runner import LABEL, call, fit

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("data", by_day(["data.parquet", "data.csv", "data.tsv", "data.csv.gz"], 1))
def test_fit_score_measure(files, frame, data):
    model = fit(files, "--set", "p=8", data=data)
    shown = call("score", model, files / data, "-o", files / "ranked.csv", "--top", 50)
    assert "50 of 569 rows" in shown.output
    ranked = pd.read_csv(files / "ranked.csv")
    assert ranked["rank"].tolist() == list(range(1, 51))
    assert (np.diff(ranked["score"]) <= 0).all()
    assert list(ranked.columns) == ["rank", "score", *frame.columns]
    assert (ranked["class"] == "malignant").all()  # the larger of the two labels
    measures = json.loads(call("measure", files / data, "--model", model, "--json", "--no-intervals").stdout)
    assert measures["scores"]["pnorm-push"]["average_precision"]["estimate"] > 0.9
    assert measures["positives"] == (frame["class"] == "malignant").sum()


def test_version_help_and_seeds_of_numpy(visits):
    assert call("--version").output.startswith("pushrank ")
    shown = call("--help").stdout
    places = [shown.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    for seed in (-1, 2**32):
        assert "--seed" in call("compare", visits, "--label", "fraud", "--seed", seed, code=2).stderr


BAD = {
    "--label 'klass' is no column of": "fit data.csv --label klass",
    "--label COLUMN": "fit data.csv",
    "one class only (benign (569 rows))": "fit one.csv",
    "holds 3 labels, 0 (190 rows), 1 (190 rows), 2 (189": "fit three.csv --label digit",
    "no label in 1 of 569 rows (1 empty), first in row 4,": "compare data.csv --test missing.csv",
    "holds no 'maybe', but benign (357 rows), malignant (212": "fit data.csv --label class --positive maybe",
    "holds infinity in row 6": "fit infinite.csv",
    "column 'area' of huge.csv holds -1e+300 in row 6, too large": "compare huge.csv",
    "cannot be read as csv": "fit empty.csv",
    "holds no rows": "fit head.csv",
    "more than one column 'a'; give each its own name": "fit twice.parquet",
    "cannot be read as parquet": "fit cut.parquet",
    "ended before the end-of-stream": "fit cut.csv.gz",
    "is no file that pushrank reads": "fit data.docx",
    "does not exist": "fit nothing.csv",
    ". is a folder": "fit data.csv -o .",
    "the folder no does not exist": "fit data.csv -o no/out.skops",
    "p must be finite and >= 1": "fit data.csv --set p=0.5",
    "alpha must be finite and >= 0, got inf": "fit data.csv --set alpha=1e999",
    "--set p=2: ir-push has no such parameter": "fit data.csv --model ir-push --set p=2",
    "--set 'p' is not understood: write the name of a parameter and its value": "fit data.csv --set p",
    "--model 'svm' is not known": "fit data.csv --model svm",
    "no column but the label": "fit bare.csv",
    "exceeds the 569 rows": "compare data.csv --budget 1000",
    "choose at most": "compare data.csv --folds 300",
}  # fmt: skip


@pytest.fixture(scope="module")
def bad(tmp_path_factory, written, frame):
    """The folder of files that cannot be used."""
    folder, odd = tmp_path_factory.mktemp("bad"), np.arange(len(frame)) == 5
    (folder / "data.csv").write_bytes((written / "data.csv").read_bytes())
    for name, table in {
        "one": frame.assign(**{"class": "benign"}),
        "three": frame.assign(digit=np.arange(len(frame)) % 3),
        "missing": frame.assign(**{"class": frame["class"].where(np.arange(len(frame)) != 3)}),
        "infinite": frame.assign(area=np.where(odd, np.inf, 1.0)),
        "huge": frame.assign(area=np.where(odd, -1e300, 1.0)),
        "bare": frame[["class"]],
        "head": frame[["area", "class"]][:0],
    }.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    for name in ("empty.csv", "data.docx"):
        (folder / name).write_text("")
    pq.write_table(pa.table([[0.5], [1.5], ["x"]], names=["a", "a", "class"]), folder / "twice.parquet")
    for name, end in (("parquet", 2000), ("csv.gz", 500)):
        (folder / f"cut.{name}").write_bytes((written / f"data.{name}").read_bytes()[:end])
    return folder


@pytest.mark.parametrize(("says", "words"), BAD.items(), ids=BAD.values())
def test_bad_input_gets_one_line(bad, monkeypatch, says, words):
    monkeypatch.chdir(bad)
    words = words.split()
    words += [] if "--label" in f"{words} {says}" else LABEL
    words += ["-o", "out.skops"] if words[0] == "fit" and "-o" not in words else []
    lines = call(*words, code=2).stderr.splitlines()
    assert says in lines[0], lines
    # A second line is a command to run instead.
    assert all(line.startswith("To run it so: pushrank ") for line in lines[1:])
    assert lines[0].startswith("Error: ")
    assert not (bad / "out.skops").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(files):
    closed = files / "closed"
    closed.mkdir(mode=0o500)
    result = call("fit", files / "data.csv", *LABEL, "-o", closed / "m.skops", code=2)
    assert "cannot be written" in result.stderr


def test_a_write_that_fails_is_one_line(visits, monkeypatch):
    refuse = PermissionError(13, "Permission denied")
    monkeypatch.setattr(
        "pushrank._base.files.tempfile.mkstemp", lambda *_, **__: (_ for _ in ()).throw(refuse)
    )
    words = ["fit", visits, "--label", "fraud", "--exclude", "day", "--exclude", "customer"]
    result = call(*words, "-o", visits.with_name("m.skops"), code=2)
    assert "cannot be written: Permission denied" in result.stderr
    assert not visits.with_name("m.skops").exists()


@pytest.mark.parametrize("in_process", by_day([True, False], 1))
def test_as_a_program(visits, monkeypatch, capsys, in_process):
    """No traceback and the exit code, as a shell sees them; by day in this process."""
    arguments = ["fit", str(visits), "--label", "nothing", "-o", str(visits.with_name("m.skops"))]
    if in_process:
        monkeypatch.setattr(sys, "argv", ["pushrank", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        code, (out, err) = ended.value.code, capsys.readouterr()
    else:
        command = [sys.executable, "-m", "pushrank", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        code, out, err = done.returncode, done.stdout, done.stderr
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("Error: ")


@pytest.fixture
def compile_two(monkeypatch, tmp_path):
    """Return a function that compiles two loops into an empty folder, as the first ones of a process."""
    monkeypatch.setattr(_parallel._Announcement, "is_made", False)
    monkeypatch.setattr(_parallel.config, "CACHE_DIR", str(tmp_path))

    def compile_two():
        def first(a):
            return a + 1.0

        def second(a):
            return a + 2.0

        # The handlers of pytest are not those of a command.
        with monkeypatch.context() as patch:
            patch.setattr(logging.root, "handlers", [])
            for loop in (first, second):
                loop.__module__ = "pushrank.loops"
                _parallel.compiled()(loop)(1.0)

    return compile_two


@pytest.mark.parametrize("looks", [True, False])
def test_the_first_compiled_loop_is_announced_once_where_somebody_looks(
    monkeypatch, capsys, compile_two, looks
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: looks)
    compile_two()
    assert capsys.readouterr().err.count("Compiling the loops for the first time") == looks


def test_the_line_on_compiling_stands_above_a_bar(monkeypatch, compile_two):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress(1, 2) as advance:
        advance()
        compile_two()
    terminal.flush()
    erase_line = "\x1b[2K"
    assert f"{erase_line}Compiling the loops for the first time" in terminal.buffer.getvalue().decode()
