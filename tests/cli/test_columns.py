"""How columns and labels are read: the same in every file, and what is doubtful is warned of."""

import cProfile
import itertools
import json
import pstats
import re
import shlex
import subprocess
import sys
from decimal import Decimal
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from combinations import by_day
from pushrank import PNormPush
from pushrank.cli.features import FeatureSource, read_features
from pushrank.cli.model import SavedModel, make_ranking_pipelines, models_with
from pushrank.cli.names import MODELS_WITH
from pushrank.cli.options import command_of
from pushrank.cli.score import _in_few_digits
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.table import TEXT, Kind, Table
from tests.cli.runner import FEW, auc, call

N_ROWS = 300


@pytest.fixture
def frame():
    """Numbers that tell little and a category of codes that tells much."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 4, N_ROWS)
    y = rng.random(N_ROWS) < np.array([0.05, 0.3, 0.6, 0.95])[code]
    return pd.DataFrame({"x": rng.normal(size=N_ROWS) + 0.2 * y, "code": code, "y": y.astype(int)})


def fitted(folder, frame, *more, code=0):
    frame.to_csv(folder / "train.csv", index=False)
    return call("fit", folder / "train.csv", "--label", "y", "-o", folder / "m.skops", *more, code=code)


@pytest.mark.parametrize("positive", [2**53, 2**53 + 1])
def test_large_labels_are_not_mistaken_for_each_other(tmp_path, frame, positive):
    frame["y"] += 2**53
    fitted(tmp_path, frame, "--positive", positive)
    assert SavedModel.load(tmp_path / "m.skops").positive == str(positive)
    assert auc(tmp_path / "m.skops", tmp_path / "train.csv") > 0.8


@pytest.mark.parametrize(
    "codes", by_day([["01", "02", "03", "X9"], ["TRUE", "False", "1", "x"], ["1", "2", "3", "A"]], 2)
)
def test_categories_are_text_in_every_file(tmp_path, frame, codes):
    frame["code"] = np.array(codes)[frame["code"]]
    fitted(tmp_path, frame)
    model = tmp_path / "m.skops"
    saved = SavedModel.load(model)
    without = frame[frame["code"] != codes[-1]].reset_index(drop=True)
    expected = saved.pipeline.decision_function(without[["x", "code"]])
    gap = without.copy()
    gap.loc[0, "code"] = None
    for new in (without, gap):
        new.to_csv(tmp_path / "new.csv", index=False)
        scores = saved.scores(saved.read(tmp_path / "new.csv"))
        np.testing.assert_array_equal(scores[1:], expected[1:])
    assert call("evaluate", model, tmp_path / "new.csv").stderr == ""


def test_codes_that_are_whole_floats_in_parquet_are_the_same_categories(tmp_path, frame):
    train = frame.assign(code=np.array(["0", "1", "2", "A"])[frame["code"]])
    fitted(tmp_path, train)
    saved = SavedModel.load(tmp_path / "m.skops")
    new = frame[frame["code"] < 3].reset_index(drop=True)
    expected = saved.pipeline.decision_function(new.assign(code=new["code"].astype(str))[["x", "code"]])
    new.astype({"code": float}).to_parquet(tmp_path / "new.parquet")
    np.testing.assert_array_equal(saved.scores(saved.read(tmp_path / "new.parquet")), expected)


def test_unknown_values_are_warned_of(tmp_path, frame):
    fitted(tmp_path, frame.assign(code=frame["code"].map(lambda code: f"kind {code}")))
    frame.assign(code=frame["code"].map(lambda code: f"Kind {code}")).to_csv(tmp_path / "new.csv")
    for command in (["evaluate"], ["score", "-o", tmp_path / "ranked.csv"]):
        shown = call(*command, tmp_path / "m.skops", tmp_path / "new.csv")
        assert "warning: column 'code' of" in shown.stderr
        assert "300 of 300 values (100 %) are unknown to the model, such as 'Kind " in shown.stderr
        assert "it knows 'kind 0', 'kind 1', 'kind 2', 'kind 3'." in shown.stderr


@pytest.mark.parametrize("n_kinds", [4, 150])
def test_a_single_unknown_value_is_warned_of(tmp_path, frame, n_kinds):
    frame["code"] = [f"kind {row % n_kinds}" for row in range(N_ROWS)]
    fitted(tmp_path, frame)
    assert "unknown" not in call("evaluate", tmp_path / "m.skops", tmp_path / "train.csv").stderr
    frame.loc[3, "code"] = "new"
    frame.loc[4, "code"] = None
    frame.to_csv(tmp_path / "new.csv", index=False)
    told = call("evaluate", tmp_path / "m.skops", tmp_path / "new.csv").stderr
    assert "1 of 299 values (0.334 %) are unknown to the model, such as 'new'; it knows 'kind " in told
    assert len(told.splitlines()) == 1


def test_fit_and_compare_say_how_columns_were_read(tmp_path, frame):
    frame["code"] = "code " + frame["code"].astype(str)
    assert "using 1 numeric column and 1 text column ('code')" in fitted(tmp_path, frame).stdout
    shown = call("compare", tmp_path / "train.csv", "--label", "y", "--folds", 2, *FEW).stdout
    assert "1 numeric column and 1 text column ('code')" in " ".join(shown.split())


def test_what_cannot_be_left_out_is_told(tmp_path, frame):
    assert "--exclude 'z' is no column of" in fitted(tmp_path, frame, "--exclude", "z", code=2).stderr
    assert "--exclude 'y' is the label" in fitted(tmp_path, frame, "--exclude", "y", code=2).stderr
    shown = fitted(tmp_path, frame, "--exclude", "x", "--exclude", "code", code=2)
    assert "nothing to rank by" in shown.stderr
    (tmp_path / "a.libsvm").write_text("1 1:0.5\n0 1:1\n")
    shown = call("fit", tmp_path / "a.libsvm", "--exclude", "x", "-o", tmp_path / "m.skops", code=2)
    assert "--exclude 'x' is for named columns" in shown.stderr


def test_a_label_is_the_same_however_its_number_is_written(tmp_path, frame):
    frame["y"] = np.where(frame["y"], np.where(frame["x"] > 0, "1", "1.0"), "0")
    told = fitted(tmp_path, frame)
    assert f"{(frame['y'] != '0').sum()} with y = 1)" in told.stdout


def test_identifiers_are_warned_of_and_can_be_left_out(tmp_path, frame):
    expected = tmp_path / "expected.csv"
    fitted(tmp_path, frame)
    call("score", tmp_path / "m.skops", tmp_path / "train.csv", "-o", expected)
    named = frame.assign(**{"the id": [f"row {row}" for row in range(N_ROWS)]})
    named.to_csv(tmp_path / "named.csv", index=False)
    told = call("fit", tmp_path / "named.csv", "--label", "y", "-o", tmp_path / "m.skops").stderr
    assert "holds 300 different texts in 300 rows, as names of rows do" in told
    assert "--exclude 'the id'" in told
    out = ["--label", "y", "--exclude", "the id"]
    assert call("fit", tmp_path / "named.csv", *out, "-o", tmp_path / "m.skops").stderr == ""
    call("report", tmp_path / "named.csv", *out, "--folds", 2, *FEW, "-o", tmp_path / "r.html")
    call("score", tmp_path / "m.skops", tmp_path / "named.csv", "-o", tmp_path / "ranked.csv")
    ranked = pd.read_csv(tmp_path / "ranked.csv")
    assert "the id" in ranked
    pd.testing.assert_frame_equal(ranked.drop(columns="the id"), pd.read_csv(expected))
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<dt>Columns left out</dt><dd>the id</dd>" in page
    assert "row 17" in page  # what was left out still names the rows


def test_a_constant_column_is_warned_of(tmp_path, frame):
    told = fitted(tmp_path, frame.assign(kind="a", size=1.5, note=np.nan)).stderr
    assert "'kind' (the same in every row), 'size' (the same in every row), 'note' (empty)." in told
    assert SavedModel.load(tmp_path / "m.skops").numeric == ["x", "code"]


@pytest.mark.parametrize("n_cities", [100, 101])
def test_texts_are_columns_of_their_own_up_to_a_hundred(tmp_path, frame, n_cities):
    city = np.char.add("city ", (np.arange(N_ROWS) % n_cities).astype(str))
    fitted(tmp_path, frame.assign(city=city))
    saved = SavedModel.load(tmp_path / "m.skops")
    assert saved.pipeline["rank"].coef_.size == 2 + (n_cities if n_cities <= 100 else 1)
    assert np.isfinite(saved.scores(saved.read(tmp_path / "train.csv"))).all()
    unseen = [frame.iloc[:1].assign(city=[name]).drop(columns="y") for name in ("never seen", "nor this")]
    found = [float(saved.pipeline.decision_function(row)[0]) for row in unseen]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["csv", "parquet", "dates"])
def test_dates_are_left_out_or_become_numbers(tmp_path, frame, kind):
    days = pd.Timestamp("2024-01-30") + pd.to_timedelta(np.arange(N_ROWS) % 5, unit="D")
    table = frame.assign(opened=days.date if kind == "dates" else days)
    data = tmp_path / f"data.{'csv' if kind == 'csv' else 'parquet'}"
    table.to_csv(data, index=False) if kind == "csv" else table.to_parquet(data)
    out = ["-o", tmp_path / "m.skops"]
    told = call("fit", data, "--label", "y", *out).stderr
    assert "as they hold dates: 'opened' (such as 2024-0" in told
    assert told.endswith("days since 1970 of them: --date opened.\n")
    assert call("fit", data, "--label", "y", *out, "--exclude", "opened").stderr == ""
    assert "opened" not in SavedModel.load(tmp_path / "m.skops").numeric
    told = call("fit", data, "--label", "y", *out, "--date", "opened").stderr
    assert "'opened (hour)' (the same in every row)" in told
    saved = SavedModel.load(tmp_path / "m.skops")
    assert saved.numeric[-2:] == ["opened (weekday)", "opened (days since 1970)"]
    features = saved.features(saved.read(data))
    assert (features["opened (weekday)"] == days.day_of_week).all()
    assert (features["opened (days since 1970)"] == (days - pd.Timestamp(0)).days).all()


def test_hours_and_gaps_of_dates(tmp_path, frame):
    opened = pd.Series(pd.Timestamp("2024-01-30 06:30") + pd.to_timedelta(np.arange(N_ROWS) % 5, unit="h"))
    opened[3] = pd.NaT
    fitted(tmp_path, frame.assign(opened=opened), "--date", "opened")
    saved = SavedModel.load(tmp_path / "m.skops")
    features = saved.features(saved.read(tmp_path / "train.csv"))
    np.testing.assert_array_equal(features["opened (hour)"][:5], [6.5, 7.5, 8.5, np.nan, 10.5])
    written = frame.assign(opened=opened.dt.strftime("%d.%m.%Y"))
    told = fitted(tmp_path, written, "--date", "opened", code=2).stderr
    assert "must hold dates such as 2024-12-31; row 1 holds '30.01.2024'" in told
    call("score", tmp_path / "m.skops", tmp_path / "train.csv", "-o", tmp_path / "s.csv", code=2)
    assert "is no column" in fitted(tmp_path, frame, "--date", "opened", code=2).stderr


@pytest.mark.parametrize(
    "written",
    by_day(["%d.%m.%Y", "%m/%d/%y", "%d/%m/%Y, %I:%M %p", "%d/%m/%Y", "%d.%m.%Y %H:%M", "%Y/%m/%d"], 3)
    + by_day(
        ["%Y%m%dT%H%M", "%Y-%m-%d+01:00", "%d-%b-%Y", "%B %d, %Y", "%d%b%Y:%H:%M", "\u200e%Y-%m-%d\xa0%H:%M"],
        3,
    ),
)
def test_dates_are_known_however_they_are_written(tmp_path, frame, written):
    days = pd.Timestamp("2024-01-30") + pd.to_timedelta(np.arange(N_ROWS) % 5, unit="D")
    told = fitted(tmp_path, frame.assign(opened=days.strftime(written))).stderr
    assert "as they hold dates: 'opened' (such as" in told


def test_what_is_like_a_date_is_a_category(tmp_path, frame):
    for texts in (
        ["1.2.3", "1.10.0"],
        ["10.0.0.1", "10.0.0.2"],
        ["1/2", "3/4"],
        ["45.67.8901", "1.2.3333"],
        ["1 mark", "dec 24"],
    ):
        shown = fitted(tmp_path, frame.assign(code=np.array(texts)[frame["code"] % 2]))
        assert "and 1 text column ('code')" in shown.stdout


def warned(folder, frame, capsys, **source):
    """What is said of a table as it is read."""
    frame.to_csv(folder / "a.csv", index=False)
    read_features(FeatureSource(folder / "a.csv", "y", **source), TextFormat())
    return capsys.readouterr().err


RNG = np.random.default_rng(0)
RISING, DRAWN = np.cumsum(RNG.integers(1, 9, N_ROWS)), RNG.permutation(10**6)[:N_ROWS]
CUSTOMERS = RNG.permutation(10_000 + 7 * (np.arange(N_ROWS) // 3))
SHUFFLED = RNG.permutation(N_ROWS)
FIRST = ["Anna", "Jan", "J.", "Maria", "Ömer", "Piet", "Sara", "Tom"]
LAST = ["Bakker", "de Vries", "Jansen", "van den Berg", "O'Neill"]
FULL_NAMES = np.array([f"{first} {last}" for first in FIRST for last in LAST])[np.arange(N_ROWS) % 40]
WIDGETS = np.char.add(np.array(["Blue ", "Red ", "Large "])[SHUFFLED % 3], "Widget")
DOUBTFUL = [
    *(
        ("Unnamed: 0", start + step * np.arange(N_ROWS), "as row numbers and identifiers do")
        for start, step in itertools.product([0, 1, 5000], [1, -1])
    ),
    *((name, column, "identifiers do") for name, column in (("a", RISING), ("b", RISING[::-1]))),
    *((name, column, "identifiers do") for name, column in (("c", SHUFFLED), ("Customer ID", DRAWN))),
    ("customer_id", CUSTOMERS, "holds 100 different whole numbers in 300 rows, as identifiers do"),
    ("customer_id", CUSTOMERS, "--group customer_id), or leave the column out: --exclude customer_id."),
    ("card", 4_000_000_000_000_000 + 10**11 * SHUFFLED, "identifiers do"),
    ("zip", [f"0{1000 + 7 * row % 60}" for row in range(N_ROWS)], "begins with a zero"),
    *(
        (name, np.arange(N_ROWS) % 99, "pandas calls its index")
        for name in ("__index_level_0__", "Unnamed: 0.1", "index")
    ),
    (
        "day",
        20240101 + np.arange(N_ROWS) % 28,
        "to read them as dates: --date day, or leave",
    ),
    ("at", 1_700_000_000 + 977 * SHUFFLED, "as seconds since 1970"),
    *(
        (name, FULL_NAMES, "holds 40 different texts such as 'Anna Bakker', as names of people do")
        for name in ("naam", "Name", "naam_klant", "customer name", "patient", "LastName")
    ),
    ("achternaam", np.char.lower(FULL_NAMES), "as names of people do"),
    (
        "text",
        np.where(np.arange(N_ROWS) == 7, "?", RNG.normal(size=N_ROWS).astype(str)),
        "row 8 holds '?', though 99.67 % of its values are numbers",
    ),
]


@pytest.mark.parametrize(("name", "values", "said"), DOUBTFUL)
def test_what_looks_like_no_number_is_warned_of(tmp_path, frame, name, values, said, capsys):
    told = warned(tmp_path, frame.assign(**{name: values}), capsys)
    assert f"column {name!r} of" in told
    assert said in told
    assert f"--exclude {shlex.quote(name)}." in told


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("paid", DRAWN),
        ("id", DRAWN % 7),
        ("x2", np.sort(DRAWN / 7)),
        # What is called otherwise, has few texts, or other ones, names no people.
        ("product", FULL_NAMES),
        ("street_name", FULL_NAMES),
        ("name", WIDGETS),
        ("surname", np.array(LAST)[SHUFFLED % 5]),
        ("name", np.char.lower(FULL_NAMES)),
        ("name", [f"Model S{row % 40}" for row in range(N_ROWS)]),
    ],
)
def test_what_names_neither_rows_nor_people_is_not_warned_of(tmp_path, frame, name, values, capsys):
    assert warned(tmp_path, frame.assign(**{name: values}), capsys) == ""


def test_numbers_with_another_decimal_mark_are_refused(tmp_path, frame):
    commas = frame["x"].map(lambda x: f"{x:.6f}".replace(".", ","))
    told = fitted(tmp_path, frame.assign(x=commas), code=2).stderr
    assert told.startswith("Error: Read numbers with --decimal ,. ")
    assert told.endswith(f"'x' holds numbers written as {commas[0]!r} in row 1.\n")
    # One advice reads them all, of which five are named.
    many = frame.assign(
        name=[f"name {row}" for row in range(N_ROWS)], x=commas, **{f"x{i}": commas for i in range(6)}
    )
    told = fitted(tmp_path, many, code=2).stderr
    assert "train.csv cannot be used as written: 'name' holds 300 different texts" in told
    assert told.endswith("; and 3 more. Leave out what cannot be used: --exclude name.\n")
    assert (told.count("holds"), told.count("x0")) == (5, 1)


def test_texts_that_differ_in_case_and_copied_rows_are_told(tmp_path, frame, capsys):
    kinds = np.array(["web", "WEB", "pos", "POS ", "phone"])[np.arange(N_ROWS) % 5]
    told = warned(tmp_path, frame.assign(channel=kinds), capsys)
    assert "'web' and 'WEB', 'pos' and 'POS ' differ in case or blanks only" in told
    assert "phone" not in told
    copied = pd.concat([frame, frame.iloc[[4, 9]], frame.iloc[[4]]], ignore_index=True)
    told = warned(tmp_path, copied, capsys)
    assert "3 of the 303 rows of" in told
    of = "row 301 of row 5, row 302 of row 10, row 303 of row 5"
    assert f"such as {of}: they count several times" in told
    of_copied = FeatureSource(tmp_path / "a.csv", "y", drop_copies=True)
    assert len(read_features(of_copied, TextFormat()).y) == N_ROWS
    assert f"such as {of}, and are left out." in capsys.readouterr().err
    (tmp_path / "a.libsvm").write_text("1 1:2\n-1 1:3\n")
    sparse = [tmp_path / "a.libsvm", "-o", tmp_path / "m.skops", "--drop-copies"]
    assert "--drop-copies is for named columns" in call("fit", *sparse, code=2).stderr
    # Rows that differ in a column which is left out are no copies, nor are those that have their like.
    visits = copied.assign(visit=np.random.default_rng(1).permutation(len(copied)))
    assert "copies" not in warned(tmp_path, visits, capsys, exclude=["visit"])
    assert "copies" not in warned(tmp_path, frame[["code", "y"]], capsys)


def test_dates_are_no_numbers_when_scored(tmp_path, frame):
    fitted(tmp_path, frame)
    frame.assign(x=pd.Timestamp("2024-01-30")).to_parquet(tmp_path / "new.parquet")
    shown = call("evaluate", tmp_path / "m.skops", tmp_path / "new.parquet", code=2)
    assert "must hold numbers" in shown.stderr
    assert "row 1 holds '2024-01-30 00:00:00'" in shown.stderr


def test_truth_values_and_decimals_are_numbers_beside_gaps_too(tmp_path, frame):
    known = frame["code"].map(lambda code: None if code == 0 else bool(code > 1)).astype(object)
    price = frame["x"].map(lambda x: Decimal(f"{x:.2f}") if x > 0 else None)
    fitted(tmp_path, frame.assign(known=known))
    assert SavedModel.load(tmp_path / "m.skops").numeric == ["x", "code", "known"]
    frame.assign(known=known, price=price).to_parquet(tmp_path / "data.parquet")
    shown = call("fit", tmp_path / "data.parquet", "--label", "y", "-o", tmp_path / "m.skops").stdout
    assert "using 4 numeric columns; saved as" in shown
    assert auc(tmp_path / "m.skops", tmp_path / "data.parquet") > 0.8


def test_files_that_are_separated_and_coded_otherwise(tmp_path, frame):
    frame["code"] = np.array(["grün", "blau", "rot", "weiß"])[frame["code"]]
    fitted(tmp_path, frame)
    expected = SavedModel.load(tmp_path / "m.skops")
    data = tmp_path / "other.csv"
    frame.to_csv(data, index=False, sep=";", decimal=",", encoding="latin-1")
    out = ["--label", "y", "-o", tmp_path / "o.skops"]
    assert "is not coded as utf-8" in (told := call("fit", data, *out, code=2).stderr)
    assert "--encoding latin-1" in told
    wrong = ["--encoding", "latin-1", "--decimal", ",", "--separator", ","]
    told = call("fit", data, *out, *wrong, code=2).stderr
    assert "row 2 has 2 cells, where the first has 1; " in told
    assert told.endswith("--skip-rows. If ';' separates the columns, say so: --separator ';'.\n")
    otherwise = ["--encoding", "latin-1", "--separator", ";", "--decimal", ","]
    call("fit", data, *out, *otherwise)
    saved = SavedModel.load(tmp_path / "o.skops")
    np.testing.assert_array_equal(
        saved.scores(expected.read(tmp_path / "train.csv")),
        expected.scores(expected.read(tmp_path / "train.csv")),
    )
    call("evaluate", tmp_path / "o.skops", data, *otherwise)
    call("score", tmp_path / "o.skops", data, *otherwise, "-o", tmp_path / "ranked.csv")
    frame.to_csv(tmp_path / "new.csv.gz", index=False, sep=";", decimal=",", encoding="latin-1")
    call("score", tmp_path / "o.skops", tmp_path / "new.csv.gz", *otherwise, "-o", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "ranked.csv").read_bytes()
    call("compare", data, "--label", "y", "--folds", 2, *FEW, *otherwise)
    frame.to_csv(data, index=False, sep="\t")
    call("fit", data, *out, "--separator", "tab")
    call("evaluate", tmp_path / "o.skops", data)
    frame.to_csv(data, index=False, sep=";", decimal=",", encoding="utf-8-sig")
    assert "Read numbers with --decimal ,." in call("fit", data, *out, code=2).stderr
    call("fit", data, *out, "--decimal", ",")
    frame.to_parquet(tmp_path / "data.parquet")
    for arguments, said in (
        ([data, "--separator", ";;"], "--separator must be one character, got ';;'"),
        ([data, "--encoding", "klingon"], "--encoding 'klingon' is not known"),
        ([tmp_path / "data.parquet", "--separator", ";"], "--separator is for CSV, TSV and other text files"),
    ):
        told = call("fit", *arguments, *out, code=2).stderr
        assert said in told
        assert len(told.splitlines()) == 1


@pytest.mark.parametrize("model", ["pnorm-push", "random-forest"])
def test_a_model_reads_numbers_as_they_were_written_where_it_was_fitted(tmp_path, frame, model):
    """Also one whose file says all that it takes to score; options replace all marks at once."""
    data, saved = tmp_path / "comma.csv", tmp_path / "m.skops"
    frame.to_csv(data, index=False, sep=";", decimal=",")
    call("fit", data, "--label", "y", "--model", model, "--decimal", ",", "--thousands", ".", "-o", saved)
    assert "numbers: --decimal , --thousands .\n" in call("show", saved).stdout
    frame.to_csv(tmp_path / "point.csv", index=False)
    frame.to_parquet(tmp_path / "typed.parquet")
    read = [[data], [tmp_path / "point.csv", "--decimal", "."], [tmp_path / "typed.parquet"]]
    ranked = []
    for number, rows in enumerate(read):
        call("score", saved, *rows, "-o", tmp_path / f"{number}.parquet", "--columns", "x")
        ranked.append(pd.read_parquet(tmp_path / f"{number}.parquet"))
    pd.testing.assert_frame_equal(ranked[0], ranked[1])
    pd.testing.assert_frame_equal(ranked[0], ranked[2])
    told = call("score", saved, tmp_path / "point.csv", "-o", tmp_path / "r.csv", code=2).stderr
    assert "say how numbers are written: --decimal" in told


AMOUNTS = np.round(np.random.default_rng(0).gamma(1.0, 2000.0, N_ROWS), 2)


def grouped(values, thousands, decimal):
    marks = str.maketrans({",": thousands, ".": decimal})
    return [f"{value:,.2f}".translate(marks) for value in values]


@pytest.mark.parametrize(
    ("thousands", "decimal"), by_day([(".", ","), ("\u202f", "."), (",", "."), (" ", ","), ("'", ".")], 2)
)
def test_thousands_are_read(tmp_path, frame, thousands, decimal):
    fitted(tmp_path, frame.assign(amount=AMOUNTS))
    plain = SavedModel.load(tmp_path / "m.skops")
    expected = plain.scores(plain.read(tmp_path / "train.csv"))
    parted = frame.assign(amount=grouped(AMOUNTS, thousands, decimal))
    parted["x"] = parted["x"].map(lambda x: repr(x).replace(".", decimal))
    parted.to_csv(tmp_path / "parted.csv", sep=";", index=False)
    options = ["--separator", ";", *(["--decimal", decimal] if decimal != "." else [])]
    out = ["--label", "y", "-o", tmp_path / "p.skops"]
    told = call("fit", tmp_path / "parted.csv", *out, code=2).stderr
    said = [f"--decimal {decimal} "] * (decimal != ".") + [
        f"--thousands {shlex.quote(' ' if thousands.isspace() else thousands)}"
    ]
    assert f"Read numbers with {''.join(said)}." in told
    assert "'amount' holds numbers written as" in told
    told = call("evaluate", tmp_path / "m.skops", tmp_path / "parted.csv", *options, code=2).stderr
    assert "say how numbers are written: --decimal, --thousands" in told
    options += ["--thousands", thousands]
    assert "using 3 numeric columns" in call("fit", tmp_path / "parted.csv", *out, *options).stdout
    call("score", tmp_path / "p.skops", tmp_path / "parted.csv", "-o", tmp_path / "ranked.csv", *options)
    ranked = pd.read_csv(tmp_path / "ranked.csv", sep=";", decimal=decimal)
    np.testing.assert_array_equal(ranked["score"], _in_few_digits(np.sort(expected)[::-1])[0])
    assert sorted(ranked["amount"]) == sorted(parted["amount"])


@pytest.mark.parametrize("odd", ["{} kg", "{}°C", "USD {}", "-€{}"])
@pytest.mark.parametrize("plain_rows", [0, 2])
def test_numbers_with_a_unit_are_refused_with_the_line_that_reads_them(tmp_path, frame, odd, plain_rows):
    numbers = np.arange(N_ROWS) % 19 + 1
    is_odd = (np.arange(N_ROWS) % 3 >= plain_rows) | (plain_rows == 0)
    texts = [odd.format(n) if at else str(n) for n, at in zip(numbers, is_odd, strict=True)]
    told = fitted(tmp_path, frame.assign(n=texts), code=2).stderr
    assert "'n' holds numbers written as " in told
    command = re.search(r"To write the numbers alone: (python -c .*?\)'). Then read ", told)[1]
    subprocess.run([sys.executable, *shlex.split(command)[1:]], check=True, timeout=60)
    read = read_features(FeatureSource(tmp_path / "train.plain.csv", "y"), TextFormat())
    np.testing.assert_array_equal(read.rows.X["n"], np.where(is_odd & odd.startswith("-"), -1, 1) * numbers)


@pytest.mark.parametrize(
    "odd",
    [
        "–{}", "${}|€{}", "{} g|{} kg", "\uff11{}", "{}D+05", "{}×10^3", "{}.5 x 10⁻³", "({})",
        "(${})", "{}-", "'{}", "<{}", "≈ {} %", "{} EUR-", '="{}"', "1,{0:02},000",
    ],
)  # fmt: skip
def test_numbers_that_no_options_read_are_refused_too(tmp_path, frame, odd):
    ways = odd.split("|")
    texts = [ways[row % len(ways)].format(row % 19) for row in range(N_ROWS)]
    told = fitted(tmp_path, frame.assign(n=texts), code=2).stderr
    assert "No options read all numbers: write them as -1234.5" in told
    assert "'n' holds numbers written as " in told


def test_few_numbers_with_a_word_are_categories_with_a_line(tmp_path, frame, capsys):
    terms = np.array(["36 months", "60 months"])[np.arange(N_ROWS) % 2]
    assert "holds texts such as '36 months', each of them a category" in warned(
        tmp_path, frame.assign(term=terms), capsys
    )


@pytest.mark.parametrize(
    ("written", "text", "number"),
    [
        (TextFormat(), ["1.5", " 2 ", "1e3", "-.5"], [1.5, 2.0, 1e3, -0.5]),
        (TextFormat(), ["1,025", "1_000", "0x10", "१"], [np.nan] * 4),
        (TextFormat(thousands=","), ["1,025,000.5", "10,25", "12,5000"], [1025000.5, np.nan, np.nan]),
        (TextFormat(decimal=","), ["1,5", "1.5"], [1.5, np.nan]),
        (TextFormat(decimal=",", thousands="."), ["1.025,5", "1.5"], [1025.5, np.nan]),
        (
            TextFormat(thousands=","),
            ["1,25,000", "1,234,5", "1.5,250", "0,126", "2,146e5", "2,146.5E5"],
            [*[np.nan] * 5, 2146.5e5],
        ),
        (TextFormat(), ["($12)", "(12)", "12-", "$12", "12 EUR", "1E", "-12"], [*[np.nan] * 6, -12.0]),
        (
            TextFormat(),
            ["\u22121.5", "１", "nAn", "0.1234567890123456789", "x"],
            [-1.5, np.nan, np.nan, 0.12345678901234568, np.nan],
        ),
        (TextFormat(thousands=" "), ["1\xa0025", "1\u202f025.5"], [1025.0, 1025.5]),
        (TextFormat(), ["\u200b1", " \ufeff-2 ", "\u200e3\u202c", "4\u200b4"], [1.0, -2.0, 3.0, np.nan]),
        (TextFormat(), ["TRUE", "false", ""], [1.0, 0.0, np.nan]),
        (TextFormat(), ["true", "1", "0"], [np.nan, 1.0, 0.0]),
    ],
)
def test_numbers_are_read_by_their_marks_alone(tmp_path, written, text, number):
    frame = pd.DataFrame({"x": text}, dtype=TEXT)
    table = Table(tmp_path / "a.csv", frame, is_text=True, text_format=written)
    np.testing.assert_array_equal(table.column("x", Kind.NUMBER).values, number)


def test_a_mark_is_not_both(tmp_path, frame):
    told = fitted(tmp_path, frame, "--decimal", ",", "--thousands", ",", code=2).stderr
    assert "--thousands ',' is the decimal mark, too" in told


def test_the_top_of_the_models_at_k(tmp_path, frame):
    for text, k in (("5", 5), ("0.5", 0.5), ("1.0", 1.0), ("1", 1)):
        fitted(tmp_path, frame, "--model", "ramp-at-k", "--k", text)
        found = SavedModel.load(tmp_path / "m.skops").pipeline["rank"].k
        assert (found, type(found)) == (k, type(k))
    assert "k must be" in fitted(tmp_path, frame, "--model", "ramp-at-k", "--k", "-1", code=2).stderr
    assert "--k is not an option" in fitted(tmp_path, frame, "--k", "5", code=2).stderr


def test_the_help_names_the_models_that_have_an_option():
    shown = "".join(call("fit", "--help").stdout.split())  # lines break at hyphens, too
    for option, models in MODELS_WITH.items():
        assert models == models_with(option)
        # Help of --solver begins a sentence by "For".
        assert f"or{models.replace(' ', '')}" in shown
    assert "boosted stumps" in " ".join(call("compare", "--help").stdout.split())


def test_a_column_that_gives_the_label_away_is_named_beside_the_verdict(tmp_path, frame):
    data, columns = tmp_path / "a b.csv", {"paid": frame["y"] * 2.0 + 0.5, "the id": frame.index}
    frame.assign(**columns).to_csv(data, sep="\t", index=False)
    told = ["compare", data, "--label", "y", *FEW, "--folds", 2, "--separator", "tab", "--budget", 20]
    *_, rests, again = call(*told, code=3).stdout.strip().splitlines()
    nothing = "No model is chosen: all this rests on 'paid', which alone tells the classes apart. "
    assert rests.startswith(f"{nothing}What is known beforehand")
    without = ["--exclude", "paid", "--exclude", "the id"]
    program, *words = shlex.split(again)
    assert program == "pushrank"
    # The command runs as it is printed, and has every option that was given.
    shown = call(*words).stdout
    assert shown == call(*told, *without).stdout
    assert "To fit" in shown.strip().splitlines()[-1]
    found = json.loads(call(*told, "--json", code=3).stdout)
    assert (found["leaking_columns"], "fit" in found) == (["paid"], False)
    assert found["chosen"] is found["choices"] is found["expected"] is found["verdict"] is None
    assert "chosen" not in call(*told, code=3).stdout.split("No model is chosen")[0]
    kept = json.loads(call(*told, "--keep", "paid", "--json").stdout)
    assert kept["chosen"] in kept["models"]
    assert sorted(shlex.split(found["compare_again"])) == sorted([program, *words, "--json"])
    for written in (["compare", "--save-best", tmp_path / "m.skops"], ["report", "-o", tmp_path / "r.html"]):
        command = [written[0], *told[1:], *written[1:]]
        refused = call(*command, code=2)
        assert (written[-1].exists(), refused.stdout) == (False, "")
        assert "no model is saved or reported that rests on 'paid', which alone" in refused.stderr
        call(*shlex.split(refused.stderr.rpartition(" of: pushrank ")[2]))
        assert written[-1].exists()
        # What is known beforehand is no giveaway.
        kept = call(*command, "--keep", "paid")
        assert "'paid'" not in kept.stderr
    assert " --keep paid " in call(*told, "--keep", "paid").stdout.splitlines()[-1]
    assert "--keep 'z' is no column of" in call(*told, "--keep", "z", code=2).stderr


def test_a_command_repeats_every_option_that_was_given(tmp_path, monkeypatch):
    (tmp_path / "data.csv").write_text("y,t t,a,b\n1;2;3;4\n")
    monkeypatch.chdir(tmp_path)
    words = "data.csv --label y --exclude a --exclude b --decimal , --budget 30/day --p 4.0"
    words = f"{words} --time 't t' --no-together --report r.html --open --force --json"
    compare = Mock()
    monkeypatch.setattr("pushrank.cli.compare.compare_models", compare)
    call("compare", *shlex.split(words))
    again = command_of("compare", *compare.call_args.args)
    assert sorted(shlex.split(again)) == sorted(shlex.split(f"pushrank compare {words}"))


def test_names_of_columns_are_not_looked_up_one_by_one():
    """Each would be searched for among all: the square of 200,000 is minutes."""
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(4, 500))).rename(columns=str)
    table = numbers.assign(kind=["a", "b", "a", "b"])
    trees = HistGradientBoostingClassifier()
    models = {"push": PNormPush(), "trees": trees}
    pipelines = make_ranking_pipelines(models, list(numbers), ["kind"], sparse=False)
    for pipeline in pipelines.values():
        profile = cProfile.Profile()
        profile.runcall(pipeline[0].fit, table)
        calls = pstats.Stats(profile).stats.items()
        assert sum(counts[1] for name, counts in calls if "'index' of 'list'" in name[2]) < 50


def test_a_model_takes_columns_in_another_order(tmp_path, frame):
    kinds = frame.assign(kind=np.array(["a", "b", "c"])[frame["code"] % 3])
    fitted(tmp_path, kinds)
    for name, order in (("one", list(kinds)), ("other", list(kinds)[::-1])):
        kinds[order].to_csv(tmp_path / f"{name}.csv", index=False)
        call("score", tmp_path / "m.skops", tmp_path / f"{name}.csv", "-o", tmp_path / f"{name}_ranked.csv")
    one, other = (pd.read_csv(tmp_path / f"{name}_ranked.csv") for name in ("one", "other"))
    np.testing.assert_array_equal(one["score"], other["score"])


SMILES = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "C[C@H](N)C(=O)[O-]",
    "O=c1oc2ccccc2cc1Br",
    "CCO",
    "N#Cc1ccccc1",
    "C/C=C\\Cl",
]


def test_molecules_are_left_out_with_a_pointer_to_fingerprints(tmp_path, frame):
    frame["SMILES"] = [SMILES[row % len(SMILES)] + "C" * (row // len(SMILES)) for row in range(N_ROWS)]
    frame["SMILES"] = frame["SMILES"].str.replace("BrC.*", "Br", regex=True)
    warned = " ".join(fitted(tmp_path, frame).stderr.split())
    assert "column 'SMILES' of" in warned
    assert "holds molecules as SMILES, such as" in warned
    assert "virtual screening" in warned
    assert "different texts" not in warned
    assert SavedModel.load(tmp_path / "m.skops").categorical == []
    alone = fitted(tmp_path, frame[["SMILES", "y"]], code=2).stderr
    assert "fingerprints" in alone
    assert "no column but the label that varies" in alone


@pytest.mark.parametrize(
    "texts",
    by_day(
        [["CON", "NO", "SOS"], ["B1", "C2", "N3"], ["Boston", "Paris"], ["(a)", "[b]"], ["1-2", "3=4"]], 2
    ),
)
def test_words_and_codes_are_no_molecules(tmp_path, frame, texts):
    frame["word"] = np.array(texts)[np.arange(N_ROWS) % len(texts)]
    assert "SMILES" not in fitted(tmp_path, frame).stderr


@pytest.fixture
def shops():
    """Rows of 150 shops, in a half of which every fourth row is positive, in the others hardly any."""
    rng = np.random.default_rng(0)
    shop = rng.integers(0, 150, 3000)
    y = rng.random(3000) < np.where(shop < 75, 0.25, 0.01)
    few = rng.choice(["a", "b"], 3000)
    x = rng.normal(size=3000)
    return pd.DataFrame({"shop": [f"s{s}" for s in shop], "x": x, "few": few, "y": y.astype(int)})


@pytest.mark.parametrize("model", by_day(["pnorm-push", "push-boost", "gradient-boosting", "ensemble"], 2))
def test_a_column_of_many_texts_is_encoded_by_mean_labels(tmp_path, shops, model):
    members = ["--member", "pnorm-push", "--member", "gradient-boosting"] if model == "ensemble" else []
    said = fitted(tmp_path, shops[:2000], "--model", model, *members).stderr
    assert "shop: more than 100 different texts, each encoded by its mean label, within each fit." in said
    assert "different texts, as names of rows do" not in said
    new = shops[2000:].reset_index(drop=True)
    new.loc[:9, "shop"] = "unheard of"
    new.to_csv(tmp_path / "new.csv", index=False)
    assert auc(tmp_path / "m.skops", tmp_path / "new.csv") > 0.7  # of 0.77 by the true rates
    saved = SavedModel.load(tmp_path / "m.skops")
    assert saved.categorical == ["few", "shop"]  # many texts come last
    if model in ("pnorm-push", "push-boost"):
        features = saved.features(saved.read(tmp_path / "new.csv"))
        encoder = saved.pipeline[0].named_transformers_["texts"][0]
        encoded = encoder.transform(features[["shop"]])[:, 0]
        rate = shops["y"][:2000].mean()
        np.testing.assert_allclose(encoded[:10], rate)  # unknown texts have the mean of all
        # Empirical Bayes: the mean label of a text is shrunk to that of all, the more the fewer its rows.
        groups = shops[:2000].groupby("shop")["y"].agg(["mean", "size", "var"])
        between = shops["y"][:2000].var(ddof=0)
        spread = groups["var"] * (groups["size"] - 1) / groups["size"]
        weight = groups["size"] * between / (groups["size"] * between + spread)
        expected = (weight * groups["mean"] + (1 - weight) * rate)[features["shop"][10:]]
        np.testing.assert_allclose(encoded[10:], expected, rtol=1e-9)


def test_no_row_learns_its_own_label_by_its_text(tmp_path):
    """Texts that occur twice say nothing: encoded by all labels they would tell the training rows apart."""
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({"text": [f"t{row // 2}" for row in range(800)], "x": rng.normal(size=800)})
    noise["y"] = (rng.random(800) < 0.3).astype(int)
    noise.to_csv(tmp_path / "train.csv", index=False)
    options = ["--label", "y", *FEW, "--folds", 3, "-o", tmp_path / "r.csv", "--force"]
    call("compare", tmp_path / "train.csv", *options)
    found = pd.read_csv(tmp_path / "r.csv")
    for area in found.loc[found["measure"] == "auc", "value"]:
        assert 0.35 < area < 0.65
    fitted(tmp_path, noise, "--model", "pnorm-push")
    features = SavedModel.load(tmp_path / "m.skops").pipeline[-1]
    assert abs(features.coef_[1]) < 0.3  # in units of its standard deviation
