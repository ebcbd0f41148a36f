"""How columns and labels are read: the same in every file, and what is doubtful is warned of."""

import cProfile
import itertools
import pstats
import shlex
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from combinations import by_day
from pushrank import PNormPush
from pushrank.cli.errors import InputError
from pushrank.cli.model import SavedModel, make_ranking_pipelines
from pushrank.cli.source.columns import usable_columns, warn_of_dates
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.numerals import TEXT
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Kind, Table
from tests.cli.runner import FEW, auc, call, features

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


def scores_by(model, path):
    saved = SavedModel.load(model)
    return saved.scores(saved.table(Source(path)))


def read(folder, frame, **source):
    frame.to_csv(folder / "a.csv", index=False)
    return features(folder / "a.csv", **source)


def warned(folder, frame, capsys, **source):
    """What is said of a table as it is read."""
    read(folder, frame, **source)
    return capsys.readouterr().err


def test_large_labels_are_not_mistaken_for_each_other(tmp_path, frame):
    for positive in (0, 1):
        rows = read(tmp_path, frame.assign(y=frame["y"] + 2**53), positive=str(2**53 + positive))
        np.testing.assert_array_equal(rows.y, frame["y"] == positive)


@pytest.mark.parametrize(
    "codes", by_day([["01", "02", "03", "X9"], ["TRUE", "False", "1", "x"], ["1", "2", "3", "A"]], 1)
)
def test_categories_are_text_in_every_file(tmp_path, frame, codes, capsys):
    frame["code"] = np.array(codes)[frame["code"]]
    fitted(tmp_path, frame)
    without = frame[frame["code"] != codes[-1]].reset_index(drop=True)
    pipeline = SavedModel.load(tmp_path / "m.skops").pipeline
    expected = pipeline.decision_function(without[["x", "code"]])
    gap = without.copy()
    gap.loc[0, "code"] = None
    for new in (without, gap):
        new.to_csv(tmp_path / "new.csv", index=False)
        np.testing.assert_array_equal(scores_by(tmp_path / "m.skops", tmp_path / "new.csv")[1:], expected[1:])
    assert capsys.readouterr().err == ""


def test_codes_that_are_whole_floats_in_parquet_are_the_same_categories(tmp_path, frame):
    fitted(tmp_path, frame.assign(code=np.array(["0", "1", "2", "A"])[frame["code"]]))
    new = frame[frame["code"] < 3].reset_index(drop=True)
    new.astype({"code": float}).to_parquet(tmp_path / "new.parquet")
    pipeline = SavedModel.load(tmp_path / "m.skops").pipeline
    expected = pipeline.decision_function(new.assign(code=new["code"].astype(str))[["x", "code"]])
    np.testing.assert_array_equal(scores_by(tmp_path / "m.skops", tmp_path / "new.parquet"), expected)


def test_unknown_values_are_warned_of(tmp_path, frame, capsys):
    model, new = tmp_path / "m.skops", tmp_path / "new.csv"
    fitted(tmp_path, frame.assign(code=frame["code"].map(lambda code: f"kind {code}")))
    frame.assign(code=frame["code"].map(lambda code: f"Kind {code}")).to_csv(new)
    scores_by(model, new)
    said = capsys.readouterr().err
    assert "warning: column 'code' of" in said
    assert "300 of 300 values (100 %) are unknown to the model, such as 'Kind " in said
    assert "it knows 'kind 0', 'kind 1', 'kind 2', 'kind 3'." in said
    for n_kinds in (4, 150):
        frame["code"] = [f"kind {row % n_kinds}" for row in range(N_ROWS)]
        fitted(tmp_path, frame, "--force")
        scores_by(model, tmp_path / "train.csv")
        assert capsys.readouterr().err == ""
        frame["code"] = ["new", None, *frame["code"][2:]]
        frame.to_csv(new, index=False)
        scores_by(model, new)
        [told] = capsys.readouterr().err.splitlines()
        assert "1 of 299 values (0.334 %) are unknown to the model, such as 'new'; it knows 'kind " in told


def test_what_cannot_be_left_out_is_told(tmp_path, frame, capsys):
    for exclude, said in (
        (["z"], "--exclude 'z' is no column of"),
        (["y"], "--exclude 'y' is the label"),
        (["x", "code"], "nothing to rank by"),
    ):
        with pytest.raises(InputError, match=said):
            warned(tmp_path, frame, capsys, exclude=exclude)


def test_a_label_is_the_same_however_its_number_is_written(tmp_path, frame):
    labels = np.where(frame["y"], np.where(frame["x"] > 0, "1", "1.0"), "0")
    rows = read(tmp_path, frame.assign(y=labels, code="code " + frame["code"].astype(str)))
    np.testing.assert_array_equal(rows.y, frame["y"] == 1)
    assert rows.describe_features() == "1 numeric column and 1 text column"


def test_a_column_that_lies_elsewhere_is_named(tmp_path, frame):
    """A column that is empty at last, or of another unit, is named for any model and in files of any size."""
    told = frame.assign(gaps=frame["x"].where(frame["x"] < 0.5), amount=np.exp(3.0 * frame["x"]))
    told = told.assign(word=np.where(frame["x"] < 0.0, "low", "high"))
    for more in ([], ["--model", "gradient-boosting"], ["--budget", "20"]):
        fitted(tmp_path, told, *more, "--force")
        for rows, said in {
            "x": (told.assign(x=np.nan), "'x' is empty, before in 0 % of rows. Check that columns are"),
            "one": (told[:1].assign(x=np.nan), "'x' is empty, before in 0 %"),
            "word": (told.assign(word=""), "'word' is empty, before in 0 % of rows"),
            "cents": (told[:20].assign(x=100.0 * told["x"] + 500.0), "'x' is above 2."),
            "thousands": (told.assign(amount=told["amount"] * 1e-6), "'amount' is below 0.00"),
            "same": (told, ""),
            "ten": (told[:10], ""),
            # 30 % of them were empty before.
            "gap": (told[:2].assign(gaps=np.nan), ""),
            "gaps": (told.assign(gaps=np.nan), "'gaps' is empty, before in 3"),
        }.values():
            rows.to_csv(tmp_path / "new.csv", index=False)
            shown = call(
                "score", tmp_path / "m.skops", tmp_path / "new.csv", "-o", tmp_path / "o.csv", "--force"
            )
            assert ("lies elsewhere than the rows of the fit" in shown.stderr) == bool(said)
            assert said in shown.stderr


def test_one_customer_in_three_spellings_is_named(tmp_path, frame):
    fitted(tmp_path, frame)
    told = frame.assign(who=np.resize(["ACME", "ACME ", "acme", "B", "C  D", "C D"], N_ROWS))
    told = told.assign(when=pd.date_range("2026-01-01", periods=N_ROWS, freq="h").astype(str))
    told.to_csv(path := tmp_path / "new.csv", index=False)
    model, out = tmp_path / "m.skops", ["-o", tmp_path / "o.csv", "--force"]
    for words in (
        ["score", model, path, "--top", "6", "--at-most", "1:who", *out],
        ["score", model, path, "--top", "6", "--at-least", "1:who=B", *out],
        ["measure", path, "--label", "y", "--score", "x", "--budget", "6", "--at-most", "1:who"],
        ["measure", path, "--label", "y", "--score", "x", "--budget", "6", "--group", "who"],
        ["fit", path, "--label", "y", "--group", "who", "-o", tmp_path / "g.skops"],
        ["alert", model, path, "--begin", "--budget", "2/day", "--time", "when", "--at-most", "1:who"],
    ):
        said = call(*words).stderr
        assert (
            said.count("'ACME' and 'ACME ' and 'acme', 'C  D' and 'C D' differ in case or blanks only") == 1
        )


def test_a_name_may_hold_an_equals_sign(tmp_path, frame):
    fitted(tmp_path, frame)
    frame.assign(**{"k": "a", "k=v": np.resize(["u", "w=1"], N_ROWS)}).to_csv(
        path := tmp_path / "a.csv", index=False
    )
    score = ["score", tmp_path / "m.skops", path, "--top", "6", "-o", out := tmp_path / "o.csv", "--force"]
    for limit, n in {"5:k=v=u": 5, "6:k=v=w=1": 0}.items():
        call(*score, "--at-least", limit)
        assert (pd.read_csv(out)["k=v"] == "u").sum() >= n
    assert "'q' is no column" in call(*score, "--at-least", "1:q=v=u", code=2).stderr
    late = [
        "fit",
        path,
        "--label",
        "y",
        "--time",
        "x",
        "--labels-after",
        "99999999999999999999d",
        *score[-3:],
    ]
    assert "is not understood: write 12h" in call(*late, code=2).stderr


def test_identifiers_are_left_out_unless_they_are_kept(tmp_path, frame, capsys):
    fitted(tmp_path, frame)
    named = frame.assign(**{"the id": [f"row {row}" for row in range(N_ROWS)]})
    told = warned(tmp_path, named, capsys)
    assert "column 'the id' of" in told
    assert "is left out: its texts all differ, as names of rows do; to learn from it: --keep 'the id'" in told
    assert warned(tmp_path, named, capsys, exclude=["the id"]) == ""
    kept = read(tmp_path, named, keep=["the id"]).categorical
    assert kept == [*read(tmp_path, named).categorical, "the id"]
    # A name that comes twice may come again, which is said.
    told = warned(tmp_path, named.assign(**{"the id": named["the id"].replace("row 7", "row 8")}), capsys)
    assert "holds 299 different texts in 300 rows, as names of rows do; if they name rows, leave" in told
    # What is left out may stand in the file, and does not matter.
    scores = [scores_by(tmp_path / "m.skops", tmp_path / name) for name in ("train.csv", "a.csv")]
    np.testing.assert_array_equal(*scores)


def test_a_constant_column_is_warned_of(tmp_path, frame, capsys):
    assert read(tmp_path, frame.assign(kind="a", size=1.5, note=np.nan)).numeric == ["x", "code"]
    told = capsys.readouterr().err
    assert "'kind' (the same in every row), 'size' (the same in every row), 'note' (empty)." in told


@pytest.mark.parametrize("n_cities", [100, 101])
def test_texts_are_columns_of_their_own_up_to_a_hundred(tmp_path, frame, n_cities):
    city = np.char.add("city ", (np.arange(N_ROWS) % n_cities).astype(str))
    fitted(tmp_path, frame.assign(city=city))
    saved = SavedModel.load(tmp_path / "m.skops")
    assert saved.pipeline["rank"].coef_.size == 2 + (n_cities if n_cities <= 100 else 1)
    assert np.isfinite(scores_by(tmp_path / "m.skops", tmp_path / "train.csv")).all()
    unseen = [frame.iloc[:1].assign(city=[name]).drop(columns="y") for name in ("never seen", "nor this")]
    found = [float(saved.pipeline.decision_function(row)[0]) for row in unseen]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["csv", "parquet", "dates"])
def test_dates_are_left_out_or_become_numbers(tmp_path, frame, kind, capsys):
    days = pd.Timestamp("2024-01-30") + pd.to_timedelta(np.arange(N_ROWS) % 5, unit="D")
    table = frame.assign(opened=days.date if kind == "dates" else days)
    data = tmp_path / f"data.{'csv' if kind == 'csv' else 'parquet'}"
    table.to_csv(data, index=False) if kind == "csv" else table.to_parquet(data)
    warn_of_dates(features(data).dates)
    told = capsys.readouterr().err
    assert "as they hold dates: 'opened' (such as 2024-0" in told
    assert told.endswith("days since 1970 of them: --date opened.\n")
    assert features(data, exclude=["opened"]).dates == []
    rows = features(data, date=["opened"])
    assert "'opened (hour)' (the same in every row)" in capsys.readouterr().err
    assert rows.numeric[-2:] == ["opened (weekday)", "opened (days since 1970)"]
    assert (rows.rows.X["opened (weekday)"] == days.day_of_week).all()
    assert (rows.rows.X["opened (days since 1970)"] == (days - pd.Timestamp(0)).days).all()


def test_hours_and_gaps_of_dates(tmp_path, frame):
    opened = pd.Series(pd.Timestamp("2024-01-30 06:30") + pd.to_timedelta(np.arange(N_ROWS) % 5, unit="h"))
    opened[3] = pd.NaT
    X = read(tmp_path, frame.assign(opened=opened), date=["opened"]).rows.X
    np.testing.assert_array_equal(X["opened (hour)"][:5], [6.5, 7.5, 8.5, np.nan, 10.5])
    written = frame.assign(opened=opened.dt.strftime("%d.%m.%Y"))
    for table, said in ((written, "holds dates written as '30.01.2024' in row 1"), (frame, "is no column")):
        with pytest.raises(InputError, match=said):
            read(tmp_path, table, date=["opened"])


def test_dates_are_known_however_they_are_written_and_what_is_like_a_date_is_a_category(tmp_path, frame):
    forms = ["%d.%m.%Y", "%m/%d/%y", "%d/%m/%Y, %I:%M %p", "%d/%m/%Y", "%d.%m.%Y %H:%M", "%Y/%m/%d"]
    forms += ["%Y%m%dT%H%M", "%Y-%m-%d+01:00", "%d-%b-%Y", "%B %d, %Y", "%d%b%Y:%H:%M"]
    days = pd.Timestamp("2024-01-30") + pd.to_timedelta(np.arange(N_ROWS) % 5, unit="D")
    dates = {form: days.strftime(form) for form in [*forms, "\u200e%Y-%m-%d\xa0%H:%M"]}
    codes = ["1.2.3 1.10.0", "10.0.0.1 10.0.0.2", "1/2 3/4", "45.67.8901 1.2.3333"]
    texts = {text: np.array(text.split())[frame["code"] % 2] for text in codes}
    texts["words"] = np.array(["1 mark", "dec 24"])[frame["code"] % 2]
    rows = read(tmp_path, frame.assign(**dates, **texts))
    assert ([column.name for column in rows.dates], rows.categorical) == ([*dates], [*texts])


RNG = np.random.default_rng(0)
RISING, DRAWN = np.cumsum(RNG.integers(1, 9, N_ROWS)), RNG.permutation(10**6)[:N_ROWS]
CUSTOMERS = RNG.permutation(10_000 + 7 * (np.arange(N_ROWS) // 3))
SHUFFLED = RNG.permutation(N_ROWS)
FULL_NAMES = np.array(["Anna Bakker", "J. de Vries", "Ömer O'Neill"])[np.arange(N_ROWS) % 3]
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
    ("day", 20240101 + np.arange(N_ROWS) % 28, "to read them as dates: --date day, or leave"),
    ("at", 1_700_000_000 + 977 * SHUFFLED, "as seconds since 1970"),
    (
        "text",
        np.where(np.arange(N_ROWS) == 7, "?", RNG.normal(size=N_ROWS).astype(str)),
        "row 8 holds '?', though 99.67 % of its values are numbers",
    ),
]


def doubts(capsys, name, values):
    """What is said of a column of texts beside a label that is drawn."""
    frame = pd.DataFrame({name: values}).astype(str).astype(TEXT)
    column = Table(Path("a.csv"), frame, is_text=True).column(name)
    usable_columns([column], np.random.default_rng(0).random(N_ROWS) < 0.4, ())
    return capsys.readouterr().err


def test_what_looks_like_no_number_is_warned_of(capsys):
    for name, values, said in DOUBTFUL:
        told = doubts(capsys, name, values)
        assert f"column {name!r} of" in told
        assert said in told
        assert f"--exclude {shlex.quote(name)}." in told


def test_what_names_no_rows_is_not_warned_of(capsys):
    for name, values in [
        ("paid", DRAWN),
        ("id", DRAWN % 7),
        ("x2", np.sort(DRAWN / 7)),
        ("name", FULL_NAMES),
        ("term", np.array(["36 months", "60 months"])[np.arange(N_ROWS) % 2]),
    ]:
        assert doubts(capsys, name, values) == ""


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
    assert "leave them out: drop_duplicates of pandas does." in told
    # Rows that differ in a column which is left out are no copies, nor are those that have their like.
    visits = copied.assign(visit=np.random.default_rng(1).permutation(len(copied)))
    assert "copies" not in warned(tmp_path, visits, capsys, exclude=["visit"])
    assert "copies" not in warned(tmp_path, frame[["code", "y"]], capsys)


def test_dates_are_no_numbers_when_scored(tmp_path, frame):
    fitted(tmp_path, frame)
    frame.assign(x=pd.Timestamp("2024-01-30")).to_parquet(tmp_path / "new.parquet")
    said = "must hold numbers, as where the model was fitted: 'x' holds '2024-01-30 00:00:00' in row 1"
    with pytest.raises(InputError, match=said):
        scores_by(tmp_path / "m.skops", tmp_path / "new.parquet")


def test_truth_values_and_decimals_are_numbers_beside_gaps_too(tmp_path, frame):
    known = frame["code"].map(lambda code: None if code == 0 else bool(code > 1)).astype(object)
    price = frame["x"].map(lambda x: Decimal(f"{x:.2f}") if x > 0 else None)
    assert read(tmp_path, frame.assign(known=known)).numeric == ["x", "code", "known"]
    frame.assign(known=known, price=price).to_parquet(tmp_path / "data.parquet")
    rows = features(tmp_path / "data.parquet")
    assert rows.numeric == ["x", "code", "known", "price"]
    np.testing.assert_array_equal(rows.rows.X["price"], price.astype(float))


def test_files_that_are_separated_and_coded_otherwise(tmp_path, frame):
    frame["code"] = np.array(["grün", "blau", "rot", "weiß"])[frame["code"]]
    expected = read(tmp_path, frame).rows.X
    data = tmp_path / "other.csv"
    frame.to_csv(data, index=False, sep=";", decimal=",", encoding="latin-1")
    comma = TextFormat(encoding="latin-1", separator=",", decimal=",")
    for written, said in (
        (TextFormat(), "is not coded as utf-8 .* --read encoding=cp1252, or latin-1, or utf-16"),
        (comma, "row 2 has 2 cells, where the first has 1; .* --read skip=N. If a semicolon separates the"),
    ):
        with pytest.raises(InputError, match=said):
            Source(data, written).table()
    with pytest.raises(InputError, match="separates the columns, say so: --read separator=semicolon"):
        Source(data, comma).header.check("y", "label")
    wanted = TextFormat(encoding="latin-1", decimal=",")
    for name, written, how in (
        ("other.csv", wanted, {"sep": ";", "decimal": ",", "encoding": "latin-1"}),
        ("other.csv.gz", wanted, {"sep": ";", "decimal": ",", "encoding": "latin-1"}),
        ("tabs.csv", TextFormat(separator="\t"), {"sep": "\t"}),
        ("bom.csv", TextFormat(decimal=","), {"sep": ";", "decimal": ",", "encoding": "utf-8-sig"}),
    ):
        frame.to_csv(tmp_path / name, index=False, **how)
        found = features(tmp_path / name, written).rows.X
        pd.testing.assert_frame_equal(found, expected)
    frame.to_parquet(tmp_path / "data.parquet")
    with pytest.raises(InputError, match="--read separator is for CSV, TSV and other text files, not for"):
        Source(tmp_path / "data.parquet", TextFormat(separator=";"))


@pytest.mark.parametrize("model", ["pnorm-push", "random-forest"])
def test_a_model_reads_and_writes_numbers_as_they_were_where_it_was_fitted(tmp_path, frame, model):
    """Also one whose file says all that it takes to score; options replace all marks at once."""
    data, saved, frame = tmp_path / "comma.csv", tmp_path / "m.skops", frame[:60]
    comma = ["--read", "decimal=comma", "--read", "thousands=point"]
    frame.to_csv(data, index=False, sep=";", decimal=",")
    call("fit", data, "--label", "y", "--model", model, *comma, "-o", saved)
    frame.to_csv(tmp_path / "point.csv", index=False)
    frame.to_parquet(tmp_path / "typed.parquet")
    read = [[data], [tmp_path / "point.csv", "--read", "decimal=point"], [tmp_path / "typed.parquet"]]
    ranked = []
    for number, rows in enumerate(read):
        call("score", saved, *rows, "-o", tmp_path / f"{number}.csv", "--columns", "x")
        how = {} if number else {"sep": ";", "decimal": ","}
        ranked.append(pd.read_csv(tmp_path / f"{number}.csv", **how))
    pd.testing.assert_frame_equal(ranked[0], ranked[1])
    pd.testing.assert_frame_equal(ranked[0], ranked[2])
    assert sorted(ranked[0]["x"]) == sorted(frame["x"])
    told = call("score", saved, tmp_path / "point.csv", "-o", tmp_path / "r.csv", code=2).stderr
    assert "Say how numbers are written." in told


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


def test_no_model_is_saved_by_a_column_that_gives_the_label_away(tmp_path, frame):
    data, saved = tmp_path / "a b.csv", tmp_path / "m.skops"
    frame.assign(paid=frame["y"] * 2.0 + 0.5, **{"the id": frame.index}).to_csv(data, sep="\t", index=False)
    typed = ["compare", data, "--label", "y", *FEW, "--folds", 2, "--read", "separator=tab", "--save", saved]
    refused = call(*typed, code=2)
    assert (saved.exists(), refused.stdout) == (False, "")
    assert "no model is saved or reported that rests on 'paid', which alone" in refused.stderr
    # The command runs as it is printed, and has every option that was given.
    program, *again = shlex.split(refused.stderr.rpartition("To run it so: ")[2])
    assert (program, again[-4:]) == ("pushrank", ["--exclude", "paid", "--exclude", "the id"])
    call(*again)
    assert saved.exists()
    # What is known beforehand is no giveaway.
    kept = call(*typed, "--keep", "paid", "--force")
    assert "'paid'" not in kept.stderr
    assert "--keep 'z' is no column of" in call(*typed, "--keep", "z", "--force", code=2).stderr


def test_names_of_columns_are_not_looked_up_one_by_one():
    """Each would be searched for among all: the square of 200,000 is minutes."""
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(4, 500))).rename(columns=str)
    table = numbers.assign(kind=["a", "b", "a", "b"])
    trees = HistGradientBoostingClassifier()
    models = {"push": PNormPush(), "trees": trees}
    pipelines = make_ranking_pipelines(models, list(numbers), ["kind"])
    for pipeline in pipelines.values():
        profile = cProfile.Profile()
        profile.runcall(pipeline[0].fit, table)
        calls = pstats.Stats(profile).stats.items()
        assert sum(counts[1] for name, counts in calls if "'index' of 'list'" in name[2]) < 50


def test_a_model_takes_columns_in_another_order(tmp_path, frame):
    kinds = frame.assign(kind=np.array(["a", "b", "c"])[frame["code"] % 3])
    fitted(tmp_path, kinds)
    kinds[list(kinds)[::-1]].to_csv(tmp_path / "other.csv", index=False)
    scores = [scores_by(tmp_path / "m.skops", tmp_path / name) for name in ("train.csv", "other.csv")]
    np.testing.assert_array_equal(*scores)


SMILES = ["CC(=O)Oc1ccccc1C(=O)O", "C[C@H](N)C(=O)[O-]", "O=c1oc2ccccc2cc1Br", "CCO", "N#Cc1ccccc1",
          "C/C=C\\Cl"]  # fmt: skip


def test_molecules_are_left_out_with_a_pointer_to_fingerprints(tmp_path, frame, capsys):
    frame["SMILES"] = [SMILES[row % len(SMILES)] + "C" * (row // len(SMILES)) for row in range(N_ROWS)]
    frame["SMILES"] = frame["SMILES"].str.replace("BrC.*", "Br", regex=True)
    assert read(tmp_path, frame).categorical == []
    told = capsys.readouterr().err
    assert "column 'SMILES' of" in told
    assert "holds molecules as SMILES, such as" in told
    assert "virtual screening" in told
    assert "different texts" not in told
    with pytest.raises(InputError, match="no column but the label that varies"):
        read(tmp_path, frame[["SMILES", "y"]])
    assert "fingerprints" in capsys.readouterr().err


def test_words_and_codes_are_no_molecules(capsys):
    for texts in ("CON NO SOS", "B1 C2 N3", "Boston Paris", "(a) [b]", "1-2 3=4"):
        words = np.resize(texts.split(), N_ROWS)
        assert "SMILES" not in doubts(capsys, "word", words)


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
    models = ["pnorm-push", "gradient-boosting"] if model == "ensemble" else [model]
    said = fitted(tmp_path, shops[:2000], *(word for name in models for word in ("--model", name))).stderr
    assert "different texts, as names of rows do" not in said
    new = shops[2000:].reset_index(drop=True)
    new.loc[:9, "shop"] = "unheard of"
    new.to_csv(tmp_path / "new.csv", index=False)
    assert auc(tmp_path / "m.skops", tmp_path / "new.csv") > 0.7  # of 0.77 by the true rates
    saved = SavedModel.load(tmp_path / "m.skops")
    assert saved.categorical == ["few", "shop"]  # many texts come last
    if model in ("pnorm-push", "push-boost"):
        X = saved.features(saved.table(Source(tmp_path / "new.csv")))
        encoder = saved.pipeline[0].named_transformers_["texts"][0]
        encoded = encoder.transform(X[["shop"]])[:, 0]
        rate = shops["y"][:2000].mean()
        np.testing.assert_allclose(encoded[:10], rate)  # unknown texts have the mean of all
        # Empirical Bayes: the mean label of a text is shrunk to that of all, the more the fewer its rows.
        groups = shops[:2000].groupby("shop")["y"].agg(["mean", "size", "var"])
        between = shops["y"][:2000].var(ddof=0)
        spread = groups["var"] * (groups["size"] - 1) / groups["size"]
        weight = groups["size"] * between / (groups["size"] * between + spread)
        expected = (weight * groups["mean"] + (1 - weight) * rate)[X["shop"][10:]]
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
    ranker = SavedModel.load(tmp_path / "m.skops").pipeline[-1]
    assert abs(ranker.coef_[1]) < 0.3  # in units of its standard deviation
