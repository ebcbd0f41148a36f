"""Files whose rows have times: when they are judged by time, what is said of it, and dates as numbers."""

import itertools
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from pushrank.cli.comparison import how_split, with_times
from pushrank.cli.errors import InputError
from pushrank.cli.forms import CompareOptions, LearnOptions
from pushrank.cli.model import SavedModel
from pushrank.cli.options import Folds
from pushrank.cli.source.columns import warn_of_dates
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Kind, Table
from pushrank.held_out.splits import TimeSplit
from pushrank.metrics import guarantee
from pushrank.times import check_times
from tests.cli.runner import TWO, call, features

DATA = os.environ.get("PUSHRANK_DATA")
BY_TIME = "Rows follow 'day', so that models are tested on later rows; --shuffle draws test rows."


@pytest.fixture
def said(capsys):
    """What compare says of times, and how it splits rows."""

    def said_of(path, label="fraud", written=TextFormat(), **options):  # noqa: B008
        config = CompareOptions(**options)
        data = with_times(features(path, written, label=label, learn=config), config)
        told = [line for line in capsys.readouterr().err.splitlines() if "later rows" in line]
        assert len(told) <= 1
        return "".join(told), how_split(data, config)

    return said_of


def test_rows_in_the_order_of_their_only_dates_are_judged_by_time(visits, tmp_path, said):
    ordered = pd.read_csv(visits).sort_values("day").assign(machine=np.arange(60) // 7)
    for n_path, table in enumerate((ordered, ordered[::-1], ordered.set_index("day"))):
        path = tmp_path / f"ordered{n_path}.parquet"
        table.to_parquet(path, index=table.index.name is not None)
        by_time = "2 test parts, each after its training part by day"
        assert said(path, folds=Folds(2)) == (BY_TIME, by_time)
    at_random = "2-fold cross-validation"
    of_days = "To test on what comes later: --time day"
    for options, says, split in (
        ({"time": "day"}, "", by_time),
        ({"time": "day", "group": "machine"}, "", f"{by_time}, each machine on one side"),
        ({"shuffle": True}, "", at_random),
        ({"shuffle": True, "folds": Folds(2, 2)}, "", f"{at_random}, 2 times"),
        ({"group": "machine"}, f"{of_days}; to keep to random parts", f"{at_random} by machine"),
        ({"folds": Folds(2, 2)}, f"{of_days}, without repeats; to keep", f"{at_random}, 2 times"),
    ):
        warned, shown = said(path, **{"folds": Folds(2), **options})
        assert says in warned, options
        assert (bool(says), shown) == (bool(warned), split)


def test_dates_in_another_order_or_several_are_warned_of_once(visits, tmp_path, said):
    of_days = "To test on what comes later: --time day"
    warned, shown = said(visits)
    assert f"{of_days}; to keep to random parts: --shuffle." in warned
    assert shown == "5-fold cross-validation"
    ordered = pd.read_csv(visits).sort_values("day")
    # A part without both classes could not be measured.
    blocks, late = ordered.sort_values(["fraud", "day"]), ordered.assign(fraud=np.sort(ordered["fraud"]))
    two = ordered.assign(**{"paid on": ordered["day"]}), f"{of_days} or --time 'paid on'; to keep to"
    for rows, says in (two, (blocks, of_days), (late, of_days)):
        rows.to_csv(tmp_path / "rows.csv", index=False)
        assert says in said(tmp_path / "rows.csv")[0]


@pytest.mark.parametrize(("time", "late", "budget"), [("day", "36h", "1/day"), ("machine", "3", 10)])
def test_rows_whose_labels_come_late_are_not_learnt_from(tmp_path, monkeypatch, time, late, budget):
    path, seen = tmp_path / "late.parquet", []
    rng, number = np.random.default_rng(0), np.arange(400) // 4
    rows = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400), "machine": number})
    rows["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(number, "D")
    rows.assign(fraud=rows["a"] + rng.normal(size=400) > 0.5).to_parquet(path, index=False)
    split = TimeSplit.split

    def watched(self, X, y=None, groups=None, *, time=None):
        for train, test in split(self, X, y, groups, time=time):
            seen.append(np.min(time[test]) - np.max(time[train]))
            yield train, test

    monkeypatch.setattr(TimeSplit, "split", watched)
    given = [path, "--label", "fraud", "--time", time, "--labels-after", late, "--budget", budget]
    of_compare = ["--folds", 2, "--model", "logistic-regression", "--model", "pnorm-push-cv", "--no-ensemble"]
    shown = call("compare", *given, *of_compare).stdout
    assert f"by {time}, with labels {late} late" in shown
    assert f"--labels-after {late}" in shown
    model = tmp_path / "model.skops"
    call("fit", *given[: 9 if time == "day" else 7], "--model", "pnorm-push-cv", "-o", model)
    # Two parts and a choice in each; a choice in the fit to all rows has five parts.
    assert len(seen) > 2 + 2 * 5
    assert min(seen) > {"36h": np.timedelta64(36, "h"), "3": 3.0}[late]


@pytest.mark.parametrize("by_time", [True, False])
def test_rows_kept_from_fits_and_choice_sign_the_promise_of_the_final_model(tmp_path, by_time):
    rng, path, model = np.random.default_rng(0), tmp_path / "rows.csv", tmp_path / "model.skops"
    rows = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"]).assign(day=rng.permutation(600))
    rows["hit"] = (2 * rows["a"] + rng.normal(size=600) > 1.0).astype(int)
    rows.to_csv(path, index=False)
    split = ["--time", "day"] if by_time else ["--exclude", "day", "--seed", 3]
    given = [path, "--label", "hit", "--budget", 60, "--hold-out", "25%", *split]
    shown = call("compare", *given, *TWO, "--save", model).stdout
    assert "150 rows kept for the promise" in shown
    [promise] = [line for line in shown.splitlines() if line.startswith("Guaranteed: ")]
    saved = SavedModel.load(model)
    is_kept = rows["day"] >= 450 if by_time else np.random.default_rng(3).permutation(600) < 150
    scores = saved.scores_of(rows.loc[is_kept, ["a", "b"]])
    expected = guarantee(rows["hit"][is_kept], scores, k=60, n_new=600).sentence(60)
    assert promise.startswith(f"Guaranteed: {expected[0].lower()}{expected[1:]}")
    assert (saved.training["rows"], saved.alert.n_scored, saved.alert.of_rows) == (450, 150, 600)
    assert saved.alert.n_reaching == (scores >= saved.alert.threshold).sum()
    # A fit keeps the very same rows, and makes the same model.
    assert promise in call("fit", *given, "--model", saved.name, "-o", model, "--force").stdout
    every = rows[["a", "b"]]
    np.testing.assert_array_equal(SavedModel.load(model).scores_of(every), saved.scores_of(every))


def test_rows_kept_by_period_are_of_whole_periods(tmp_path):
    rng, path, model = np.random.default_rng(0), tmp_path / "days.csv", tmp_path / "model.skops"
    rows = pd.DataFrame(rng.normal(size=(1000, 2)), columns=["a", "b"])
    rows["day"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(1000) // 10, "D")).astype(str)
    rows.assign(hit=(rows["a"] + rng.normal(size=1000) > 0.5).astype(int)).to_csv(path, index=False)
    given = [path, "--label", "hit", "--budget", "3/day", "--time", "day", "--hold-out", 395]
    shown = call("fit", *given, "-o", model).stdout
    assert "fitted to 600 rows" in shown
    [promise] = re.findall(
        r"Guaranteed \(95 %\): at least \d+ of the 21 rows in the next 7 days are hits", shown
    )
    assert SavedModel.load(model).reference.facts()["periods"] == 40
    assert promise in call("compare", *given, *TWO, "--save", model, "--force").stdout


@pytest.mark.parametrize(
    ("command", "budget", "n_periods", "several", "ways"),
    [
        ("fit", "500/month", 3, "months", "take a budget by week"),
        ("compare", "500/month", 3, "months", "take a budget by week or take --folds 2"),
        ("compare", "9/day", 2, "days", "take a budget by hour"),
        ("fit", "9/batch", 1, "batches", "add rows"),
    ],
)
def test_too_few_periods_are_counted_before_the_fit(tmp_path, command, budget, n_periods, several, ways):
    rng, path = np.random.default_rng(0), tmp_path / "a.csv"
    rows = pd.DataFrame({"a": rng.normal(size=180), "y": rng.integers(0, 2, 180)})
    days = np.arange(180) * {"months": 30, "days": 1, "batches": 0}[several] * n_periods / 180
    rows.assign(day=pd.Timestamp("2024-01-01") + pd.to_timedelta(days, "D")).to_csv(path, index=False)
    arguments = [command, path, "--label", "y", "--budget", budget, "--time", "day"]
    told = call(*arguments, *(["-o", tmp_path / "m.skops"] if command == "fit" else TWO), code=2).stderr
    parts = f"6 {several}, 5 to test on and one to learn from before them, and time holds {n_periods}"
    assert told == f"Error: --budget {budget} takes at least {parts}: {ways}.\n"
    if "--folds" in ways:
        call(*arguments, *TWO, "--folds", 2)


def test_labels_come_late_and_rows_are_kept_only_as_is_said(visits):
    for options, why in (
        ("--hold-out 20%", "--hold-out promises hits of single rows: with --budget"),
        ("--budget 5 --hold-out 60", "--hold-out 60 leaves no row of a class"),
        ("--budget 5 --hold-out some", "'some' is not understood: write a share such as 20%"),
        ("--budget 5 --hold-out 9 --group customer", "not --group or --test"),
        ("--shuffle --labels-after 7d", "--labels-after needs the time of every row: --time COLUMN."),
        ("--time day --labels-after 7", "day holds dates: give --labels-after 12h, 7d or 2w."),
        ("--time amount --labels-after 7d", "amount holds numbers: give --labels-after a number."),
        ("--time day --labels-after soon", "'soon' is not understood: write 12h, 7d"),
    ):
        assert why in call("compare", visits, "--label", "fraud", *TWO, *options.split(), code=2).stderr


def test_a_fit_with_times_chooses_by_them_and_keeps_its_dates(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=300), "day": pd.date_range("2024-01-01", periods=300)})
    table["fraud"] = (table["a"] + rng.normal(size=300) > 0.0).astype(int)
    data, model = tmp_path / "table.parquet", tmp_path / "m.skops"
    table.sample(frac=1.0, random_state=0).to_parquet(data, index=False)
    words = ["--label", "fraud", "--model", "pnorm-push-cv", "--time", "day", "--date", "day"]
    call("fit", data, *words, "-o", model)
    saved = SavedModel.load(model)
    assert saved.numeric == ["a", "day (weekday)", "day (days since 1970)"]
    days = pd.read_parquet(data)["day"]
    fit = {"X": saved.features(Source(data).table()), "y": pd.read_parquet(data)["fraud"] == 1}
    by_time = clone(saved.pipeline).fit(**fit, rank__time=days)[-1].cv_results_["mean_test_score"]
    np.testing.assert_array_equal(saved.pipeline[-1].cv_results_["mean_test_score"], by_time)
    at_random = clone(saved.pipeline).fit(**fit)[-1].cv_results_["mean_test_score"]
    assert not np.array_equal(by_time, at_random)


DAYS = pd.date_range("2024-01-01", periods=300).to_numpy()


@pytest.fixture
def dated(tmp_path):
    """Write rows whose days are written in some way, as text or with types."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=300), "y": rng.permutation(300) % 2})

    def write(days, name="d.csv"):
        path = tmp_path / name
        frame = table.assign(day=days)
        frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
        return path

    return write


BY_DAY = LearnOptions(time="day")


def test_far_dates_are_dates_and_said(dated, capsys):
    far = DAYS.astype("datetime64[s]")
    places = "9999-12-31", "0001-01-01", "1600-02-29", "2300-01-01"
    far[:12], far[12], far[13], far[14] = map(np.datetime64, places)
    plain = far.astype("datetime64[D]")
    for days, name in ((far, "d.csv"), (far, "d.parquet"), (plain.tolist(), "e.parquet")):
        path = dated(days, name)
        X = features(path, date=["day"]).rows.X
        told = capsys.readouterr().err
        assert f"column 'day' of {path}: 1 date of 0001-01-01, 1 date of 1600-02-29, 1 date of 2300" in told
        assert told.count("12 dates of 9999-12-31, read as written") == 1
        assert (X["day (days since 1970)"] == plain.astype(int)).all()
        assert X["day (weekday)"].tolist() == [day.weekday() for day in plain.tolist()]
        features(path, learn=BY_DAY)
        assert "12 dates of 9999-12-31" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "name", "order"),
    [
        ("%d/%m/%Y", "d.csv", "dmy"),
        ("%d.%m.%Y %H:%M", "d.parquet", "dmy"),
        ("%m/%d/%Y, %H:%M", "d.csv", "mdy"),
        ("%-m/%-d/%Y", "d.parquet", "mdy"),
    ],
)
def test_advice_on_days_and_months_works(dated, said, capsys, written, name, order):
    path, right = dated(pd.Series(DAYS).dt.strftime(written), name), TextFormat(dates=order)
    rows = features(path)
    warn_of_dates(rows.dates)
    told = capsys.readouterr().err
    assert told.endswith(f"days since 1970 of them: --date day --read dates={order}.\n")
    days = features(path, right, date=["day"]).rows.X["day (days since 1970)"]
    assert days.tolist() == DAYS.astype("datetime64[D]").astype(int).tolist()
    with pytest.raises(InputError) as caught:
        rows.table.column("day (weekday)")
    held = f"row 1 holds '{pd.Timestamp(DAYS[0]).strftime(written)}'; dates are read as 2024-12-31"
    assert held in str(caught.value)
    assert str(caught.value).endswith(f"days and months before the year by --read dates={order}.")
    told, _ = said(path, "y")
    assert f"To test on what comes later: --time day --read dates={order}; to keep to random" in told
    assert said(path, "y", right, time="day") == ("", "5 test parts, each after its training part by day")
    assert said(path, "y", right)[0] == BY_TIME


@pytest.mark.parametrize(
    ("days", "advice"),
    [
        (
            [f"0{1 + n % 9}/0{1 + n % 8}/2024" for n in range(300)],
            "--date day --read dates=dmy or --read dates=mdy.",
        ),
        ([f"{1 + n % 28}/12/24" for n in range(300)], "Not all can be read: write dates as 2024-12-31, "),
        (pd.to_timedelta(np.arange(300), unit="h"), "and durations as numbers."),
        (np.where(np.arange(300) == 7, "soon", DAYS.astype(str)), "Not all can be read: write dates as"),
    ],
)
def test_what_no_option_reads_gets_no_option(dated, said, capsys, days, advice):
    path = dated(days, "d.parquet")
    warn_of_dates(features(path).dates)
    told = capsys.readouterr().err
    assert "as they hold dates: 'day' (such as " in told
    assert advice in told
    assert ("--date" in told) == ("--time day" in said(path, "y")[0]) == ("mdy" in advice)


def test_a_time_that_cannot_be_read_is_named(dated):
    days = DAYS.astype("datetime64[D]").astype(str).astype(object)
    for cell, said in (
        ("1767225600", "holds '1767225600'; dates are read as 2024-12-31, "),
        ("01:30:00", ", and durations as numbers, of hours say."),
        ("2024-02-30", "holds '2024-02-30'; dates are read as 2024-12-31, "),
        ("NULL", "is missing in row 8 of"),
        (None, "is missing in row 8 of"),
    ):
        days[7] = cell
        with pytest.raises(InputError, match=r"--time 'day' .*row 8 of") as caught:
            Source(dated(days)).table().times("day")
        assert said in str(caught.value)


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
@pytest.mark.parametrize("kind", [int, str])
def test_whole_numbers_that_are_days_are_days(dated, name, kind):
    days = pd.Series(DAYS).dt.strftime("%Y%m%d").astype(kind)
    table = Source(dated(days, name)).table()
    np.testing.assert_array_equal(table.times("day").astype("datetime64[D]"), DAYS.astype("datetime64[D]"))
    # In a batch the numbers stay what they are called.
    assert str(table.times("day", may_be_text=True)[0]) == "20240101"
    days[7] = kind(20240231)
    with pytest.raises(InputError, match=r"row 8 of .* holds '20240231'; dates are read as"):
        Source(dated(days, name)).table().times("day")
    # A single number that can be no day says that all are numbers.
    days[7] = kind(20241301)
    if kind is int:
        assert Source(dated(days, name)).table().times("day")[7] == 20241301


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_numbers_since_a_date_are_to_be_converted_for_date(dated, name):
    path = dated(DAYS.astype("datetime64[s]").astype(int), name)
    said = "row 1 holds '1704067200'; dates are read as 2024-12-31.* convert numbers since a date to one of"
    with pytest.raises(InputError, match=said):
        features(path, date=["day"])


def test_a_text_among_numbers_is_named_and_missing_dates_are_missing_numbers(dated, capsys):
    numbers = np.where(np.arange(300) == 7, "soon", np.arange(300).astype(str))
    with pytest.raises(InputError, match=r"must hold a number in every row; row 8 of .* holds 'soon'\."):
        Source(dated(numbers)).table().times("day")
    days = DAYS.astype("datetime64[D]").astype(str).astype(object)
    days[[7, 8, 9]] = "NULL", "N/A", None
    rows = features(dated(days))
    warn_of_dates(rows.dates)
    assert "To make hours, weekdays" in capsys.readouterr().err
    assert np.flatnonzero(np.isnan(rows.table.column("day (weekday)").values)).tolist() == [7, 8, 9]


def test_a_zone_whose_clock_is_past_the_last_year_is_refused(dated):
    last = np.array(["9999-12-31T23:30", *DAYS[1:].astype(str)], dtype="datetime64[us]")
    options = {"learn": BY_DAY}, {"date": ["day"]}
    for zone, option in itertools.product(["Asia/Tokyo", "Europe/Berlin"], options):
        path = dated(pd.Series(last).dt.tz_localize("UTC").dt.tz_convert(zone), "d.parquet")
        with pytest.raises(InputError, match="holds '10000-01-01 0"):
            features(path, **option)
    zoned = pa.array(last[:1]).cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us", "Asia/Tokyo"))
    with pytest.raises(ValueError, match="dates of the years 1 to 9999 by the clock"):
        check_times(zoned, 1)


def test_times_with_zones_are_taken_by_their_clocks(dated):
    times = ["2024-01-01T00+02", "2024-01-01 00:30:00+0130", "2024-01-01t00:30+01"]
    table = Source(dated(np.resize(times, 300))).table()
    assert (table.times("day").astype("datetime64[D]") == np.datetime64("2024-01-01")).all()
    assert table.column("day (hour)").values[:3].tolist() == [0.0, 0.5, 0.5]


@pytest.mark.skipif(DATA is None, reason="PUSHRANK_DATA is not set")
def test_of_real_files_only_those_with_times_are_taken_for_such():
    """Rows in blocks of one label, in the order of some measurement or of an identifier have no times."""
    dated = {}
    for path in sorted(Path(DATA).glob("**/*.parquet")):
        rows = next(pq.ParquetFile(path).iter_batches(2000))
        table = Table(path, rows.to_pandas(types_mapper=pd.ArrowDtype))
        dated[path.stem] = [name for name in table.frame if table.column(name).kind is Kind.DATE]
    assert {name: dates for name, dates in dated.items() if dates} == {
        "bank_marketing": ["contacted"],
        "flights": ["scheduled"],
    }
    assert len(dated) > 20
