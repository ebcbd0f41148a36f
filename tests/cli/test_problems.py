"""All problems of a file in one refusal, and the words to add with which it is read."""

import io
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from pushrank.cli.config_files import pairs
from pushrank.cli.errors import InputError
from pushrank.cli.forms import LearnOptions
from pushrank.cli.options import FeatureSource
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.numerals import TEXT
from pushrank.cli.source.open import Source
from pushrank.cli.source.problems import check_readable
from pushrank.cli.source.table import Kind, Table
from tests.cli.runner import FEW, call, features

N_ROWS = 300
RNG = np.random.default_rng(0)
AMOUNTS = np.round(RNG.gamma(2.0, 2000.0, N_ROWS), 2)
GERMAN = str.maketrans(",.", ".,")
DAYS = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N_ROWS), "D")
Y = np.where(RNG.random(N_ROWS) < 0.3, "1", "0")


def grouped(values, thousands=".", decimal=","):
    return [f"{value:,.2f}".translate(str.maketrans({",": thousands, ".": decimal})) for value in values]


def table(**columns):
    return Table(Path("a.csv"), pd.DataFrame({"y": Y, **columns}).astype(TEXT), is_text=True)


def check(rows, *, time=None, weight=None, group=None, **source):
    learn = LearnOptions(time=time, weight=weight, group=group)
    check_readable(rows, FeatureSource(rows.path, **{"label": "y", **source}), learn)


def refused(rows, written=TextFormat(), **options):  # noqa: B008
    """What is said of rows, and what is to be added, by which no problem is left of their format."""
    rows = Table(rows.path, rows.frame, is_text=rows.is_text, text_format=written)
    with pytest.raises(InputError) as caught:
        check(rows, **options)
    words = caught.value.add
    read = [word for option, word in zip(words[::2], words[1::2], strict=True) if option == "--read"]
    out = [word for option, word in zip(words[::2], words[1::2], strict=True) if option == "--exclude"]
    again = Table(rows.path, rows.frame, rows.is_text, TextFormat.parse([*written.words()[1::2], *read]))
    check(again, **options | {"exclude": [*options.get("exclude", ()), *out]})
    return str(caught.value), [*words]


def test_the_file_of_a_credit_desk_is_refused_once_and_then_runs(tmp_path):
    """It has semicolons, German numbers and dates, dashes, an identifier, and a column of the future."""
    income, rate = grouped(AMOUNTS), [f"{share:.1f}".replace(".", ",") for share in RNG.random(N_ROWS) * 9]
    defaulted = RNG.random(N_ROWS) < 1.0 / (1.0 + np.exp(AMOUNTS / 2000.0 - 1.0))
    desk = pd.DataFrame({"customer id": [f"K-{row:05}" for row in range(N_ROWS)], "income": income})
    desk = desk.assign(
        rate=rate, children=RNG.integers(0, 4, N_ROWS).astype(str), Größe=grouped(AMOUNTS[::-1])
    )
    desk = desk.assign(region=RNG.choice(["Nord", "Süd", "-"], N_ROWS), opened=DAYS.strftime("%d.%m.%Y"))
    desk = desk.assign(paid_back=np.where(defaulted, "nein", "ja"), fallen=np.where(defaulted, "yes", "no"))
    desk.loc[::9, "income"], desk.loc[5, "children"] = "-", "k.A."
    desk.to_csv(path := tmp_path / "desk.csv", sep=";", index=False)
    typed = ["compare", path, "--label", "fallen", "--time", "opened", *FEW, "--folds", 2]
    assert "cannot be used as it is written" in call(*typed, code=2).stderr
    with pytest.raises(InputError) as caught:
        features(path, label="fallen", learn=LearnOptions(time="opened"))
    assert str(caught.value) == (
        f"{path} cannot be used as it is written: 'income' holds numbers written as '{income[1]}' in row 2, "
        "and so do 'rate', 'Größe'; among the numbers of 'income' stands '-' in row 1; among the numbers of "
        "'children' stands 'k.A.' in row 6; 'opened' holds dates written as '01.01.2024' in row 1; 'customer "
        "id' holds 300 different texts in 300 rows, as names of rows do; 'paid_back' alone tells the two "
        "classes apart, and is to be left out unless it is known beforehand: --keep paid_back."
    )
    assert " ".join(caught.value.add) == (
        "--read decimal=comma --read thousands=point --read missing=- --read missing=k.A. --read dates=dmy "
        "--exclude customer id --exclude paid_back"
    )
    shown = call(*typed, *caught.value.add)
    assert "each after its training part by opened" in shown.stdout
    assert "warning" not in shown.stderr
    read = features(path, TextFormat.parse(caught.value.add[1:10:2]), label="fallen", exclude=["paid_back"])
    assert (read.describe_features(), read.identifiers) == (
        "4 numeric columns and 1 text column",
        [],
    )


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": grouped(AMOUNTS)}, "decimal=comma thousands=point"),
        ({"a": grouped(AMOUNTS, ",", ".")}, "thousands=comma"),
        ({"a": grouped(AMOUNTS, "\u202f", ",")}, "decimal=comma thousands=space"),
        ({"a": grouped(AMOUNTS, "'", ".")}, "thousands=apostrophe"),
        # Three digits behind a point are thousands where other numbers show that a comma is the decimal mark.
        (
            {"a": [f"1.{row % 97:03}" for row in range(N_ROWS)], "b": ["2,5", "3"] * 150},
            "decimal=comma thousands=point",
        ),
        ({"a": [*grouped(AMOUNTS[:-1]), "unknown"]}, "decimal=comma thousands=point missing=unknown"),
        # Words that stand among few numbers may be categories, and so may many words.
        ({"a": grouped(AMOUNTS), "b": [*"123A"] * 75}, "decimal=comma thousands=point"),
        ({"a": [*grouped(AMOUNTS[:-4]), *"wxyz"]}, "decimal=comma thousands=point"),
    ],
)
def test_marks_are_proposed_that_read_all_numbers(columns, words):
    said, add = refused(table(**columns))
    assert add[1::2] == words.split()
    assert f"'a' holds numbers written as {columns['a'][0]!r} in row 1" in said or "'b' holds" in said


def test_marks_go_beside_those_that_are_stated():
    said, add = refused(table(a=grouped(AMOUNTS)), TextFormat(decimal=",", missing=("?",)))
    assert add == ["--read", "thousands=point"]
    assert "'a' holds numbers" in said


@pytest.mark.parametrize("odd", ["{} kg", "{}°C", "USD {}", "-€{}", "{} %"])
def test_numbers_with_a_unit_are_to_be_written_alone(odd):
    unit = odd.replace("{}", "").strip(" -")
    for n_plain in (0, 100):
        rows = table(weight=[("{}" if row < n_plain else odd).format(row % 19) for row in range(N_ROWS)])
        said, add = refused(rows)
        held = f"{rows.frame['weight'][n_plain]!r} in row {n_plain + 1}"
        assert (
            f"'weight' holds numbers with the unit {unit!r}, such as {held} (write numbers alone, or" in said
        )
        assert add == ["--exclude", "weight"]
        with pytest.raises(InputError, match="'weight' holds numbers with the unit") as caught:
            check(rows, weight="weight")
        assert caught.value.add == ()


@pytest.mark.parametrize(
    ("cells", "held"),
    [
        ([f"{row % 40}k" for row in range(N_ROWS)], "numbers with the unit 'k', such as '0k'"),
        ([f"{row % 40}.5K" for row in range(N_ROWS)], "numbers with the unit 'K'"),
        ([f"{row % 40}{'kM'[row % 2]}" for row in range(N_ROWS)], "numbers with the unit 'M', 'k'"),
        ([f"{row % 40}V" for row in range(N_ROWS)], "numbers with the unit 'V'"),
        (["1k"] * 4 + [f"{100 + row % 40}" for row in range(N_ROWS - 4)], "numbers with the unit 'k'"),
        (
            [f"{row % 40}%" if row % 2 else f"0.{row % 40:02}" for row in range(N_ROWS)],
            "numbers with the unit '%'",
        ),
        ([f"{row % 5}:{row % 8:02}" for row in range(N_ROWS)], "numbers with other marks, such as '0:00'"),
        ([f"{row % 40}-{row % 40 + 5}" for row in range(N_ROWS)], "numbers with other marks"),
        ([f"{100 + row % 40}/{row % 40 + 60}" for row in range(N_ROWS)], "numbers with other marks"),
        ([f"{row % 40} lb {row % 16} oz" for row in range(N_ROWS)], "numbers with other marks"),
        ([f"{row % 40}[1]" for row in range(N_ROWS)], "numbers with other marks, such as '0[1]'"),
        ([f"{row % 40} – {row % 40 + 5}" for row in range(N_ROWS)], "numbers with other marks"),
        ([f"{row % 5:02}:{row % 8:02}:00" for row in range(N_ROWS)], "numbers with other marks"),
    ],
)
def test_magnitudes_ranges_and_clocks_are_no_categories(cells, held):
    said, add = refused(table(n=cells))
    assert f"'n' holds {held}" in said
    assert "(write numbers alone, or leave the column out, or --keep n, if these are names)" in said
    assert add == ["--exclude", "n"]
    # They are names where that is said, and names of groups and of periods need not be said.
    check(table(n=cells), keep=["n"])
    check(table(n=cells), group="n")
    check(table(n=cells), time="n")


@pytest.mark.parametrize(
    "several",
    [
        ["0-17", "18-25", "26-40", "41+"],
        ["5a", "5b", "6a", "6b", "7a", "7b", "8a", "8b"],
        [*map(str, range(1, 40)), "12a", "14b", "2c"],
        ["1st", "2nd", "3rd", "4th", "5th", "6th", "7th"],
        ["08:00", "12:00", "16:00"],
        ["3G", "4G", "5G"],
        [f"10.0.{part}.1" for part in range(40)],
        [f"A-{part}" for part in range(40)],
    ],
)
def test_names_with_numbers_are_categories(several):
    check(table(n=np.resize(several, N_ROWS)))


def test_numbers_that_no_marks_read_are_named():
    odd = ["–{}", "${}|€{}", "{} g|{} kg", "\uff11{}", "{}D+05", "{}×10^3", "{}.5 x 10⁻³", "({})", "(${})",
           "{}-", "'{}", "<{}", "≈ {} %", "{} EUR-", '="{}"', "1,{0:02},000"]  # fmt: skip
    for way in odd:
        several = way.split("|")
        said, add = refused(table(n=[several[row % len(several)].format(row % 19) for row in range(N_ROWS)]))
        assert "'n' holds numbers " in said
        assert add == ["--exclude", "n"]


def test_columns_that_contradict_the_others_are_left_out():
    points, commas = ([f"{n:.3f}".replace(".", mark) for n in RNG.normal(size=N_ROWS)] for mark in ".,")
    said, add = refused(table(a=commas, b=points, c=commas))
    assert "'a' holds numbers written as" in said
    assert f"'b' holds numbers such as {points[0]!r} in row 1 (no marks read these and all others:" in said
    assert add == ["--read", "decimal=comma", "--exclude", "b"]


@pytest.mark.parametrize(
    ("form", "days", "way"),
    [("%d.%m.%Y", DAYS, "dmy"), ("%m/%d/%Y", DAYS, "mdy"), ("%d/%m/%Y", DAYS[:9], "dmy")],
)
@pytest.mark.parametrize("option", [{"time": "day"}, {"date": ["day"]}])
def test_dates_of_options_are_to_be_read(form, days, way, option):
    written = np.resize(days.strftime(form), N_ROWS)
    rows = table(day=written, x=RNG.normal(size=N_ROWS).astype(str))
    said, add = refused(rows, **option)
    assert f"'day' holds dates written as {written[0]!r} in row 1" in said
    assert ("dates=mdy may be right" in said) == (len(days) < 20)
    assert add == ["--read", f"dates={way}"]
    # Dates that no option names are left out with a warning.
    check(rows)


def test_of_two_orders_of_dates_that_of_the_times_is_proposed():
    rows = table(a=DAYS.strftime("%d.%m.%Y"), b=DAYS.strftime("%m/%d/%Y"))
    for time, way in (("a", "dmy"), ("b", "mdy")):
        assert refused(rows, time=time)[1] == ["--read", f"dates={way}"]


@pytest.mark.parametrize(
    ("labels", "positive", "words", "said"),
    [
        (np.where(Y == "1", "ja", "nein"), None, ["--positive", "ja"], "holds 2 labels, ja (8"),
        (np.where(Y == "1", "no", "yes"), None, [], ""),
        (np.where(np.arange(N_ROWS) < 4, "fraud", Y), None, ["--positive", "fraud"], "holds 3 labels, 0 ("),
        (np.where(Y == "1", "ja", "nein"), "yes", ["--positive", "ja"], "holds no 'yes', but ja (8"),
        (np.where(Y == "1", "1,0", "0,0"), None, [], ""),
    ],
)
def test_labels_that_are_to_be_named_are_part_of_it(labels, positive, words, said):
    told, add = refused(
        table(a=grouped(AMOUNTS), label=labels, y=Y), label="label", positive=positive, keep=["y"]
    )
    assert [word for word in add if "=" not in word and word != "--read"] == words
    assert said in told


def test_a_file_that_can_be_read_is_not_refused():
    rows = table(name=[f"n{row}" for row in range(N_ROWS)], copy=Y, gap=["-", *"0123456789"] * 27 + ["1"] * 3)
    check(rows)
    # What is left out, set aside or kept is not proposed to be left out.
    other = {"name": rows.frame["name"], "copy": Y, "a": grouped(AMOUNTS)}
    marks = ["--read", "decimal=comma", "--read", "thousands=point"]
    assert refused(table(**other), keep=["copy"], group="name")[1] == marks
    assert refused(table(**other), exclude=["copy,name"])[1] == marks
    check(table(**other), exclude=["a"])


def test_columns_that_a_model_needs_are_refused_at_once():
    rows = table(a=grouped(AMOUNTS), b=["2,5", "-"] * 150, c=["x"] * N_ROWS)
    with pytest.raises(InputError) as caught:
        rows.model_columns(["a", "b"], ["c"])
    assert f"'a' holds '{rows.frame['a'][0]}' in row 1; 'b' holds '2,5' in row 1." in str(caught.value)
    assert caught.value.add[1::2] == ("decimal=comma", "thousands=point", "missing=-")
    read = Table(rows.path, rows.frame, is_text=True, text_format=TextFormat.parse(caught.value.add[1::2]))
    columns = read.model_columns(["a", "b"], ["c"])
    assert [column.kind for column in columns] == [Kind.NUMBER, Kind.NUMBER, Kind.TEXT]
    np.testing.assert_array_equal(columns[0].values, AMOUNTS)


def test_a_format_that_is_not_understood_is_told():
    for text, said in {
        "decimel=,": "--read 'decimel=,' is not understood; did you mean decimal? It takes KEY=VALUE of sep",
        "xyz": "--read 'xyz' is not understood. It takes KEY=VALUE",
        "decimal=,,": "--read decimal=,, must be one character or its name (comma, semicolon, tab,",
        "encoding=klingon": "--read encoding=klingon must be known; utf-8, latin-1, cp1252 and utf-16 are.",
        "skip=-1": "must be how many lines stand above the names",
        "header=maybe": "must be yes or no",
        "dates=ymd": "must be dmy, the day first, or mdy",
        "missing=": "must be a text; empty cells are missing anyway",
        "thousands=point": "is the decimal mark, too; say what that is: --read decimal=",
    }.items():
        with pytest.raises(InputError) as caught:
            TextFormat.parse([text])
        assert said in str(caught.value)


def test_a_format_is_the_same_in_words_tables_and_models():
    words = "separator=; decimal=comma thousands=. missing=- missing=k.A. dates=dmy skip=2 header=no"
    form = TextFormat.parse(["decimal=.", *words.split(), "encoding=cp1252", "sheet=May, all"])
    assert (form.separator, form.decimal, form.thousands, form.missing) == (";", ",", ".", ("-", "k.A."))
    assert TextFormat.parse(form.words()[1::2]) == form == TextFormat.parse(pairs("read", form.to_dict()))
    assert form.to_dict() == {
        "separator": "semicolon", "encoding": "cp1252", "decimal": "comma", "thousands": "point",
        "missing": ["-", "k.A."], "dates": "dmy", "skip": 2, "header": False, "sheet": "May, all",
    }  # fmt: skip
    assert TextFormat().words() == []
    assert list(form.for_kind(".parquet").to_dict()) == ["decimal", "thousands", "missing", "dates"]
    assert list(form.for_kind(".csv").to_dict())[-1] == "header"
    # The marks of numbers go together.
    over = TextFormat(decimal=".").over(form)
    assert (over.decimal, over.thousands, over.dates, over.separator) == (".", None, "dmy", ";")
    assert TextFormat(dates="mdy").over(form).thousands == "."


def test_names_of_columns_are_seen_without_an_import_that_takes_long(tmp_path):
    (path := tmp_path / "a.csv").write_text("x;y\n1;0\n")
    lines = "import sys; from pathlib import Path; from pushrank.cli.source.open import Source"
    heavy = "{'numpy', 'pandas', 'pyarrow'} & sys.modules.keys()"
    command = [sys.executable, "-c", f"{lines}; print(Source(Path({str(path)!r})).header.names, {heavy})"]
    shown = subprocess.run(command, capture_output=True, check=True, text=True)
    assert shown.stdout == "['x', 'y'] set()\n"


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr("sys.stdin", Mock(buffer=io.BytesIO(b"x,y\n1,0\n")))
    source = Source(Path("-"))
    source.header.check("x", "label")
    assert source.table().frame["x"].tolist() == ["1"]
    with pytest.raises(InputError, match="--label 'z' is no column of standard input; it has 'x', 'y'"):
        source.header.check("z", "label")


def test_a_printed_command_with_a_name_of_control_characters_runs(tmp_path):
    name = "a\x1b[31m'\\n \u202e"
    rows = table(**{name: [f"{row % 40} kg" for row in range(N_ROWS)], "x": AMOUNTS.astype(str)})
    rows.frame.to_csv(tmp_path / "a.csv", index=False)
    said = call("fit", tmp_path / "a.csv", "--label", "y", "-o", tmp_path / "m.skops", code=2).stderr
    words = said.split("To run it so: pushrank ")[1]
    shown = subprocess.run(["bash", "-c", f"printf '%s\\0' {words}"], capture_output=True, check=True).stdout
    call(*shown.decode().rstrip("\n\0").split("\0"))
