"""What each command says of files of every kind in which some rows have no label.

    python -m experiments.acted.files > experiments/acted/files.txt

A stream of 150 rows a day, of which 15 are looked at: labels empty, written as NaN or ?, late, only of the
listed rows, of none; chances of an audit that are wrong; and a champion that changed halfway.
"""

from __future__ import annotations

import contextlib
import os
import tempfile

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from pushrank.cli import app
from pushrank.datasets import make_stream
from pushrank.monitoring import draw_audit

MODEL = ["--model", "logistic-regression"]
DAYS, LEARNT, LOOKED_AT, N_AUDITED = 130, 60, 15, 3
SHOWN, TABLE = 9, "  "
"""Lines of an answer that are shown, and how those of tables begin."""


def rows() -> pd.DataFrame:
    """Return rows of all days with scores of two models, and an audit of the list of the first of these."""
    stream = make_stream(DAYS, 150, random_state=3)
    frame = pd.DataFrame(stream.data, columns=stream.feature_names)
    frame = frame.assign(came=stream.time, hit=stream.target, day=stream.day)
    frame["id"] = [f"r{number}" for number in range(len(frame))]
    frame["score"], frame["other"] = frame["x1"] + 0.7 * frame["x2"], frame["x1"] + 0.7 * frame["x3"]
    frame["acted"], frame["chance"] = "", 1.0
    for day, of in frame.groupby("day"):
        drawn = draw_audit(of["score"], LOOKED_AT, N_AUDITED, row_id=of["id"], secret=f"of day {day}")
        frame.loc[of.index, "acted"], frame.loc[of.index, "chance"] = drawn
    return frame


def files(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return files of every kind, by what is odd in them."""
    place = {name: frame.groupby("day")[name].rank(ascending=False) for name in ("score", "other")}
    listed, acted = place["score"] <= LOOKED_AT, frame["acted"] != ""
    known, late = frame["hit"].where(acted), frame["day"] >= DAYS - 5
    slow = late & (np.arange(len(frame)) % 2 == 0)
    half = frame["day"] < (LEARNT + DAYS) // 2
    lists = np.where(half & listed, "old", np.where(~half & (place["other"] <= LOOKED_AT), "new", ""))
    is_audit, last = frame["acted"] == "audit", frame.index == frame.index[-1]
    changed = {
        "every row has a label": {},
        "labels of listed rows alone, others empty": {"hit": frame["hit"].where(listed)},
        "the same, written as NaN": {"hit": frame["hit"].where(listed).astype(object).fillna("NaN")},
        "the same, written as ?": {"hit": frame["hit"].where(listed).astype(object).fillna("?")},
        "the same, written as -1": {"hit": frame["hit"].where(listed, -1)},
        "labels of listed and audited rows": {"hit": known},
        "the same, late in the last five days": {"hit": known.where(~slow)},
        "all labels, late in the last five days": {"hit": frame["hit"].where(~slow)},
        "labels of none": {"hit": np.nan},
        "labels missing at random": {"hit": frame["hit"].where(np.arange(len(frame)) % 3 > 0)},
        "chance 0 of audited rows": {"hit": known, "chance": frame["chance"].where(~is_audit, 0.0)},
        "a chance above 1": {"hit": known, "chance": frame["chance"].where(~last, 7.0)},
        "a chance that is missing": {"hit": known, "chance": frame["chance"].where(~last)},
        "a chance that is a text": {
            "hit": known,
            "chance": frame["chance"].astype(object).where(~last, "few"),
        },
        "a champion that changed": {"hit": frame["hit"].where(lists != ""), "acted": lists},
    }
    new = frame["day"] >= LEARNT
    return {name: frame.assign(**columns)[new].drop(columns="day") for name, columns in changed.items()}


def commands(name: str) -> list[list[str]]:
    """Return what is asked of a file."""
    by_day = ["--budget", f"{LOOKED_AT}/day", "--time", "came"]
    measure = [
        "measure",
        "rows.csv",
        "--label",
        "hit",
        "--positive",
        "1",
        "--score",
        "score",
        "--score",
        "other",
    ]
    watch = ["watch", "m.skops", "rows.csv", "--time", "came"]
    if "chance" in name:
        return [[*measure, "--acted", "acted", "--chance", "chance"]]
    if "champion" in name:
        return [[*measure, *by_day, "--acted", "acted"], [*watch, "--acted", "acted"]]
    if "written" in name:
        return [[*measure, *by_day], watch]
    if "late" in name:
        return [watch, [*watch, "--labels-after", "5d"], [*watch, "--acted", "acted"]]
    if "audited" in name:
        audit = [*measure, *by_day, "--acted", "acted", "--chance", "chance"]
        return [[*measure, *by_day, "--acted", "acted"], audit, [*watch, "--acted", "acted"]]
    others = ["--exclude", "id", "--exclude", "acted", "--exclude", "chance", "--exclude", "score"]
    others += ["--exclude", "other", "--exclude", "came"]
    fit = ["fit", "rows.csv", "--label", "hit", "--positive", "1", *MODEL, *others, "-o", "n.skops"]
    compare = ["compare", "rows.csv", "--label", "hit", "--positive", "1", *MODEL, *others, "--budget", "100"]
    return [[*measure, *by_day], ["measure", "rows.csv", "--model", "m.skops", *by_day], watch, fit, compare]


def answer(command: list[str]) -> str:
    """Return the exit code of a command and the first lines of what it says, without tables."""
    result = CliRunner().invoke(app, command, env={"COLUMNS": "100"})
    lines = [line.rstrip() for line in f"{result.stderr}\n{result.stdout}".splitlines()]
    lines = [line for line in lines if line and not line.startswith(TABLE) and "parts compared" not in line]
    shown = lines if len(lines) <= SHOWN else [*lines[: SHOWN - 1], "...", lines[-1]]
    return "\n".join([f"$ pushrank {' '.join(command)}", *shown, f"exit code {result.exit_code}"])


def main() -> None:
    """Print what is said of each file."""
    frame = rows()
    options = ["--label", "hit", "--budget", f"{LOOKED_AT}/day", "--time", "came"]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        of_model = frame.drop(columns=["day", "id", "score", "other", "acted", "chance"])
        of_model[frame["day"] < LEARNT].to_csv("learnt.csv", index=False)
        print(answer(["fit", "learnt.csv", *options, *MODEL, "-o", "m.skops"]))
        for name, file in files(frame).items():
            file.to_csv("rows.csv", index=False)
            print(f"\n\n{name.upper()}")
            for command in commands(name):
                print(f"\n{answer(command)}", flush=True)


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    main()
