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
from pushrank.cli.model import SavedModel
from pushrank.cli.screen import progress
from tests.cli.runner import FEW, LABEL, auc, call, fit

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("data", by_day(["data.csv", "data.parquet", "data.tsv", "data.csv.gz"], 2))
def test_fit_score_evaluate(files, frame, data):
    model = fit(files, "--p", 8, data=data)
    shown = call("score", model, files / data, "-o", files / "ranked.csv", "--top", 50)
    assert "50 of 569 rows" in shown.output
    ranked = pd.read_csv(files / "ranked.csv")
    assert ranked["rank"].tolist() == list(range(1, 51))
    assert (np.diff(ranked["score"]) <= 0).all()
    assert list(ranked.columns) == ["rank", "score", *frame.columns]
    assert (ranked["class"] == "malignant").all()  # the larger of the two labels
    measures = json.loads(call("evaluate", model, files / data, "--json").stdout)
    assert measures["scores"]["pnorm-push"]["average_precision"]["estimate"] > 0.9
    assert measures["positives"] == (frame["class"] == "malignant").sum()
    table = call("evaluate", model, files / data).output
    assert "positives_at_top" in table


def test_libsvm_stays_sparse(files):
    model = fit(files, data="data.libsvm")
    saved = SavedModel.load(model)
    assert saved.sparse
    assert [name for name, _ in saved.pipeline.steps] == ["scale", "rank"]
    call("score", model, files / "data.libsvm", "-o", files / "ranked.tsv")
    ranked = pd.read_csv(files / "ranked.tsv", sep="\t")
    assert sorted(ranked["row"]) == list(range(1, 570))
    assert auc(model, files / "data.libsvm") > 0.9
    call("compare", files / "data.libsvm", "--folds", 2, *FEW)


def test_seeds_are_those_of_numpy(files):
    arguments = ["compare", files / "data.csv", *LABEL, "--folds", 2, *FEW, "--seed"]
    call(*arguments, 2**32 - 1)
    assert "--seed" in call(*arguments, 2**32, code=2).stderr


def test_version_and_help():
    assert call("--version").output.startswith("pushrank ")
    for command in ("fit", "show", "score", "evaluate", "measure", "compare", "report", "demo"):
        assert "Example" in call(command, "--help").output or command == "demo"


def bad(files, frame):
    """Bad input, by what is said of it."""
    frame.assign(**{"class": "benign"}).to_csv(files / "one.csv", index=False)
    frame.assign(digit=np.arange(len(frame)) % 3).to_csv(three := files / "three.csv", index=False)
    missing = frame.copy()
    missing.loc[3, "class"] = None
    missing.to_csv(files / "missing.csv", index=False)
    frame.assign(area=np.where(frame.index == 5, np.inf, 1.0)).to_csv(files / "infinite.csv", index=False)
    frame.assign(area=np.where(frame.index == 5, -1e300, 1.0)).to_csv(files / "huge.csv", index=False)
    (files / "empty.csv").write_text("")
    (files / "head.csv").write_text("a,class\n")
    pq.write_table(pa.table([[0.5], [1.5], ["x"]], names=["a", "a", "class"]), files / "twice.parquet")
    (files / "cut.parquet").write_bytes((files / "data.parquet").read_bytes()[:2000])
    (files / "cut.csv.gz").write_bytes((files / "data.csv.gz").read_bytes()[:500])
    (files / "bad.libsvm").write_text("1 1:0.5\n0 what\n")
    (files / "data.docx").write_text("")
    frame[["class"]].to_csv(files / "bare.csv", index=False)
    data, out = files / "data.csv", files / "out.skops"
    fit = ["fit", "-o", out, *LABEL]
    tested = ["compare", files / "data.csv", *LABEL, "--test"]
    compare = ["compare", *LABEL]
    return {
        "--label 'klass' is no column of": ["fit", data, "--label", "klass", "-o", out],
        "--label COLUMN": ["fit", data, "-o", out],
        "one class only (benign (569 rows))": [*fit, files / "one.csv"],
        "holds 3 values, 0 (190 rows), 1 (190 rows), 2 (189 rows)": [*fit[:3], three, "--label", "digit"],
        "no label in 1 of 569 rows (1 empty), first in row 4, and here": [*tested, files / "missing.csv"],
        "the label to rank at the top, 'maybe', does not occur": [*fit, data, "--positive", "maybe"],
        "holds infinity in row 6": [*fit, files / "infinite.csv"],
        "column 'area' of": [*fit, files / "huge.csv"],
        "holds -1e+300 in row 6, too large": [*compare, files / "huge.csv"],
        "cannot be read as csv": [*fit, files / "empty.csv"],
        "holds no rows": [*fit, files / "head.csv"],
        "more than one column 'a'; give each its own name": [*fit, files / "twice.parquet"],
        "cannot be read as parquet": [*fit, files / "cut.parquet"],
        "ended before the end-of-stream": [*fit, files / "cut.csv.gz"],
        "cannot be read as libsvm": ["fit", "-o", out, files / "bad.libsvm"],
        "is no file that pushrank reads": [*fit, files / "data.docx"],
        "does not exist": [*fit, files / "nothing.csv"],
        "is a folder": ["fit", data, *LABEL, "-o", files],
        "the folder": ["fit", data, *LABEL, "-o", files / "no" / "out.skops"],
        "p must be finite and >= 1": [*fit, data, "--p", "0.5"],
        "--p is not an option of --model ir-push": [*fit, data, "--model", "ir-push", "--p", "2"],
        "--model 'svm' is not known": [*fit, data, "--model", "svm"],
        "no column but the label": [*fit, files / "bare.csv"],
        "exceeds the 569 rows": [*compare, data, "--budget", "1000"],
        "choose at most": [*compare, data, "--folds", "300"],
        "at least 1, got 0.5": [*compare, data, "--p", "4", "--p", "0.5"],
        "at least 1, got inf": [*compare, data, "--p", "inf", "--p", "4"],
        "--alpha must be finite and at least 0, got inf": [*compare, data, "--alpha", "inf"],
        "alpha must be finite and >= 0, got inf": [*fit, data, "--alpha", "inf"],
    }


def test_bad_input_gets_one_line(files, frame):
    for message, arguments in bad(files, frame).items():
        result = call(*arguments, code=2)
        lines = [line for line in result.stderr.splitlines() if line]
        assert len(lines) == 1, result.stderr
        assert message in lines[0], (message, lines)
        assert not (files / "out.skops").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(files):
    closed = files / "closed"
    closed.mkdir(mode=0o500)
    result = call("fit", files / "data.csv", *LABEL, "-o", closed / "m.skops", code=2)
    assert "cannot be written" in result.stderr


def test_a_write_that_fails_is_one_line(files, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pushrank._base.files.tempfile.mkstemp", refuse)
    out = files / "m.skops"
    result = call("fit", files / "data.csv", *LABEL, "-o", out, code=2)
    assert "cannot be written: Permission denied" in result.stderr


@pytest.mark.parametrize("in_process", by_day([True, False], 1))
def test_as_a_program(files, monkeypatch, capsys, in_process):
    """No traceback and the exit code, as a shell sees them; by day in this process."""
    arguments = ["fit", str(files / "data.csv"), "--label", "nothing", "-o", str(files / "m.skops")]
    if in_process:
        monkeypatch.setattr(sys, "argv", ["pushrank", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        code, (out, err) = ended.value.code, capsys.readouterr()
    else:
        command = [sys.executable, "-m", "pushrank", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        code, out, err = done.returncode, done.stdout, done.stderr
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
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
