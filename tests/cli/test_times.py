"""Files whose rows have times: when they are judged by time, what is said of it, and dates as numbers."""

import itertools
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pushrank.cli.model import SavedModel
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.read import read_table
from pushrank.cli.source.table import Kind
from pushrank.held_out.splits import TimeSplit
from pushrank.metrics import guarantee
from pushrank.times import check_times
from tests.cli.runner import TWO, call

DATA = os.environ.get("PUSHRANK_DATA")


def said(path, *options, code=0):
    """What compare says of times, and the description of the split."""
    shown = call("compare", path, "--label", "fraud", *TWO, "--exclude", "customer", *options, code=code)
    warned = [line for line in shown.stderr.splitlines() if "later rows" in line]
    assert len(warned) <= 1
    return "".join(warned), " ".join(shown.stdout.split())


def test_rows_in_the_order_of_their_only_dates_are_judged_by_time(visits, tmp_path):
    ordered = pd.read_csv(visits).sort_values("day").assign(machine=np.arange(60) // 7)
    for n_path, table in enumerate((ordered, ordered[::-1], ordered.set_index("day"))):
        path = tmp_path / f"ordered{n_path}.parquet"
        table.to_parquet(path, index=table.index.name is not None)
        warned, shown = said(path, "--folds", 2)
        assert "rows follow the times in column 'day'" in warned
        assert "--random" in warned
        assert "2 test parts, each after its training part by day" in shown
        assert "Judged by time, on 2 parts that each come after the rows learnt from." in shown
        assert "--time day" in shown
    by_time = "each after its training part by day"
    for options, says, is_by_time in (
        (["--time", "day"], "", True),
        (["--time", "day", "--group", "machine"], "", True),
        (["--random"], "", False),
        (["--random", "--repeats", 2], "", False),
        (["--exclude", "day"], "rows follow the times in", True),
        (["--group", "machine"], "To test on what comes later: --time day; to keep to random parts", False),
        (["--repeats", 2], "--time day, without --repeats; to keep to random parts: --random", False),
    ):
        warned, shown = said(path, "--folds", 2, *options)
        assert says in warned, options
        assert bool(says) == bool(warned), options
        assert (by_time in shown) == is_by_time, options


def test_dates_in_another_order_or_several_are_warned_of_once(visits, tmp_path):
    warned, shown = said(visits)
    assert "To test on what comes later: --time day; to keep to random parts: --random." in warned
    assert "5-fold cross-validation" in shown
    assert "Judged by 5 random folds." in shown
    ordered = pd.read_csv(visits).sort_values("day")
    ordered.assign(**{"paid on": ordered["day"]}).to_csv(tmp_path / "two.csv", index=False)
    assert "--time day or --time 'paid on'; to keep to" in said(tmp_path / "two.csv")[0]
    # A part without both classes could not be measured.
    ordered.sort_values(["fraud", "day"]).to_csv(tmp_path / "blocks.csv", index=False)
    assert "To test on what comes later: --time day" in said(tmp_path / "blocks.csv")[0]
    ordered.assign(fraud=np.sort(ordered["fraud"])).to_csv(tmp_path / "late.csv", index=False)
    assert "To test on what comes later: --time day" in said(tmp_path / "late.csv")[0]


@pytest.mark.parametrize(
    ("time", "late", "budget"), [("day", "2d", 10), ("day", "36h", "1/day"), ("machine", "3", 10)]
)
def test_rows_whose_labels_come_late_are_not_learnt_from(tmp_path, monkeypatch, time, late, budget):
    path, seen = tmp_path / "late.parquet", []
    rng, number = np.random.default_rng(0), np.arange(1000) // 4
    rows = pd.DataFrame({"a": rng.normal(size=1000), "b": rng.normal(size=1000), "machine": number})
    rows["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(number, "D")
    rows.assign(fraud=rows["a"] + rng.normal(size=1000) > 0.5).to_parquet(path, index=False)
    split = TimeSplit.split

    def watched(self, X, y=None, groups=None, *, time=None):
        for train, test in split(self, X, y, groups, time=time):
            seen.append(np.min(time[test]) - np.max(time[train]))
            yield train, test

    monkeypatch.setattr(TimeSplit, "split", watched)
    gap = {"2d": np.timedelta64(2, "D"), "36h": np.timedelta64(36, "h"), "3": 3.0}[late]
    given = ["--time", time, "--labels-after", late, "--budget", budget]
    of_compare = ["--folds", 2, "--model", "logistic-regression", "--model", "top-ranker-cv", "--no-together"]
    model = tmp_path / "model.skops"
    shown = call("compare", path, "--label", "fraud", *given, *of_compare, "--save-best", model)
    text = " ".join(shown.stdout.split())
    assert f"by {time}, with labels {late} late" in text
    assert f"--labels-after {late}" in text
    fitted = call("fit", path, "--label", "fraud", *given, "--model", "top-ranker-cv", "-o", model, "--force")
    # The threshold is found by fits to rows of every time; what is promised by period is not.
    assert (f", with labels {late} late: " in fitted.stdout) == ("/" in str(budget))
    assert call("score", model, path).stdout
    # Two parts and a choice in each, and a choice in the fit to all rows; fit has five parts.
    assert len(seen) > 2 + 2 * 5 + 5
    assert min(seen) > gap


@pytest.mark.parametrize("by_time", [True, False])
def test_rows_kept_from_fits_and_choice_sign_the_promise_of_the_final_model(tmp_path, by_time):
    rng, path, model = np.random.default_rng(0), tmp_path / "rows.csv", tmp_path / "model.skops"
    rows = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"]).assign(day=rng.permutation(600))
    rows["hit"] = (2 * rows["a"] + rng.normal(size=600) > 1.0).astype(int)
    rows.to_csv(path, index=False)
    split = ["--time", "day"] if by_time else ["--exclude", "day", "--seed", 3]
    given = [path, "--label", "hit", "--budget", 60, "--hold-out", "25%", *split]
    shown = call("compare", *given, *TWO, "--save-best", model)
    assert "150 rows kept for the promise" in " ".join(shown.stdout.split())
    [promise] = [line for line in shown.stdout.splitlines() if line.startswith("Promised: ")]
    saved = SavedModel.load(model)
    is_kept = rows["day"] >= 450 if by_time else np.random.default_rng(3).permutation(600) < 150
    scores = saved.scores_of(rows.loc[is_kept, ["a", "b"]])
    expected = guarantee(rows["hit"][is_kept], scores, k=60, n_new=600).sentence(60)
    assert promise.startswith(f"Promised: {expected[0].lower()}{expected[1:]}")
    assert (saved.training["rows"], saved.alert.n_scored, saved.alert.of_rows) == (450, 150, 600)
    assert saved.alert.n_reaching == (scores >= saved.alert.threshold).sum()
    # The command that is printed keeps the very same rows, and makes the same model.
    command = shown.stdout.split("on all rows: pushrank ")[1].splitlines()[0]
    fitted = call(*shlex.split(command), "--force")
    assert promise in fitted.stdout
    np.testing.assert_array_equal(
        SavedModel.load(model).scores_of(rows[["a", "b"]]), saved.scores_of(rows[["a", "b"]])
    )


def test_rows_kept_by_period_are_of_whole_periods(tmp_path):
    rng, path, model = np.random.default_rng(0), tmp_path / "days.csv", tmp_path / "model.skops"
    rows = pd.DataFrame(rng.normal(size=(1000, 2)), columns=["a", "b"])
    rows["day"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(1000) // 10, "D")).astype(str)
    rows.assign(hit=(rows["a"] + rng.normal(size=1000) > 0.5).astype(int)).to_csv(path, index=False)
    given = [path, "--label", "hit", "--budget", "3/day", "--time", "day", "--hold-out", 395]
    shown = call("fit", *given, "-o", model)
    assert "fitted on 600 rows" in shown.stdout
    assert re.search("Expected: 3 rows a day found on average .* in each of 40 days held out", shown.stdout)
    days = shown.stdout.split("Promised: ")[1]
    assert days.startswith("on at least ")
    compared = call("compare", *given, *TWO, "--save-best", model, "--force")
    assert f"Promised: {days[:40]}" in compared.stdout


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


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--hold-out", "20%"], "--hold-out promises hits of single rows: with --budget"),
        (["--budget", 5, "--hold-out", "60"], "--hold-out 60 leaves no row of a class"),
        (["--budget", 5, "--hold-out", "some"], "'some' is not understood: write a share such as 20%"),
        (["--budget", 5, "--hold-out", "9", "--group", "customer"], "not --group or --test"),
        (["--random", "--labels-after", "7d"], "--labels-after needs the time of every row: --time COLUMN."),
        (["--time", "day", "--labels-after", "7"], "day holds dates: give --labels-after 12h, 7d or 2w."),
        (["--time", "amount", "--labels-after", "7d"], "amount holds numbers: give --labels-after a number."),
        (["--time", "day", "--labels-after", "soon"], "'soon' is not understood: write 12h, 7d"),
    ],
)
def test_labels_come_late_and_rows_are_kept_only_as_is_said(visits, options, why):
    assert why in call("compare", visits, "--label", "fraud", *TWO, *options, code=2).stderr


def test_dates_and_times_of_the_best_model_reach_fit(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=300), "day": pd.date_range("2024-01-01", periods=300)})
    table["fraud"] = (table["a"] + rng.normal(size=300) > 0.0).astype(int)
    data, model = tmp_path / "table.parquet", tmp_path / "m.skops"
    table.sample(frac=1.0, random_state=0).to_parquet(data, index=False)
    shown = call("compare", data, "--label", "fraud", "--model", "pnorm-push-cv", "--folds", 2, "--time",
                 "day", "--date", "day").stdout  # fmt: skip
    command = shlex.split(shown.split(" on all rows: pushrank ")[1])
    assert command[command.index("--date") + 1] == command[command.index("--time") + 1] == "day"
    call(*command[: command.index("-o")], "-o", model)
    saved = SavedModel.load(model)
    assert saved.numeric == ["a", "day (weekday)", "day (days since 1970)"]
    days = pd.read_parquet(data)["day"]
    fit = {"X": saved.features(saved.read(data)), "y": pd.read_parquet(data)["fraud"] == 1}
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


def test_far_dates_are_dates_and_said(dated, tmp_path):
    far = DAYS.astype("datetime64[s]")
    far[:12], far[12], far[13], far[14] = map(
        np.datetime64, ("9999-12-31", "0001-01-01", "1600-02-29", "2300-01-01")
    )
    wanted = far.astype("datetime64[D]").astype(int)
    fit = ["--label", "y", "--model", "pnorm-push", "-o", tmp_path / "m.skops", "--force"]
    for days, name in (
        (far, "d.csv"),
        (far, "d.parquet"),
        (far.astype("datetime64[D]").tolist(), "e.parquet"),
    ):
        path = dated(days, name)
        told = call("fit", path, *fit, "--date", "day").stderr
        assert f"column 'day' of {path}: 1 date of 0001-01-01, 1 date of 1600-02-29, 1 date of 2300" in told
        assert "12 dates of 9999-12-31, read as written" in told
        saved = SavedModel.load(tmp_path / "m.skops")
        features = saved.features(saved.read(path))
        assert (features["day (days since 1970)"] == wanted).all()
        assert features["day (weekday)"].tolist() == [
            day.weekday() for day in far.astype("datetime64[D]").tolist()
        ]
        assert call("score", tmp_path / "m.skops", path).stderr.count("12 dates of 9999-12-31") == 1
        told = call("fit", path, *fit, "--time", "day").stderr
        assert "12 dates of 9999-12-31" in told


@pytest.mark.parametrize(
    ("written", "name", "order"),
    [
        ("%d/%m/%Y", "d.csv", "dmy"),
        ("%d.%m.%Y %H:%M", "d.parquet", "dmy"),
        ("%m/%d/%Y, %H:%M", "d.csv", "mdy"),
        ("%-m/%-d/%Y", "d.parquet", "mdy"),
    ],
)
def test_advice_on_days_and_months_works(dated, tmp_path, written, name, order):
    path = dated(pd.Series(DAYS).dt.strftime(written), name)
    fit = ["--label", "y", "-o", tmp_path / "m.skops"]
    told = call("fit", path, *fit).stderr
    advice = told.split("days since 1970 of them: ")[1].strip().rstrip(".")
    assert advice == f"--date day --date-order {order}"
    call("fit", path, *fit, "--force", *advice.split())
    saved = SavedModel.load(tmp_path / "m.skops")
    days = saved.features(saved.read(path, TextFormat(date_order=order)))["day (days since 1970)"]
    assert days.tolist() == DAYS.astype("datetime64[D]").astype(int).tolist()
    refused = call("score", tmp_path / "m.skops", path, code=2).stderr
    assert f"row 1 holds '{pd.Timestamp(DAYS[0]).strftime(written)}'; dates are read as 2024-12-31" in refused
    assert refused.endswith(f"days and months before the year by --date-order {order}.\n")
    assert "300 of 300 rows" in call("score", tmp_path / "m.skops", path, "--date-order", order).stderr
    compare = ["compare", path, "--label", "y", *TWO, "--folds", 2, "--no-together"]
    told = call(*compare).stderr
    assert f"To test on what comes later: --time day --date-order {order}; to keep to random" in told
    assert (
        "each after its training part by day" in call(*compare, "--time", "day", "--date-order", order).stdout
    )
    assert "rows follow the times in column 'day'" in call(*compare, "--date-order", order).stderr


@pytest.mark.parametrize(
    ("days", "advice"),
    [
        ([f"0{1 + n % 9}/0{1 + n % 8}/2024" for n in range(300)], "--date day --date-order dmy or mdy."),
        ([f"{1 + n % 28}/12/24" for n in range(300)], "Not all can be read: write dates as 2024-12-31, "),
        (pd.to_timedelta(np.arange(300), unit="h"), "and durations as numbers."),
        (np.where(np.arange(300) == 7, "soon", DAYS.astype(str)), "Not all can be read: write dates as"),
    ],
)
def test_what_no_option_reads_gets_no_option(dated, tmp_path, days, advice):
    path = dated(days, "d.parquet")
    told = call("fit", path, "--label", "y", "-o", tmp_path / "m.skops").stderr
    assert "as they hold dates: 'day' (such as " in told
    assert advice in told
    assert ("--date" in told) == ("mdy" in advice)
    told = call("compare", path, "--label", "y", *TWO, "--folds", 2, "--no-together").stderr
    assert ("--time day" in told) == ("mdy" in advice)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("1767225600", "holds '1767225600'; dates are read as 2024-12-31, "),
        ("01:30:00", ", and durations as numbers, of hours say."),
        ("2024-02-30", "holds '2024-02-30'; dates are read as 2024-12-31, "),
        ("NULL", "is missing in row 8 of"),
        (None, "is missing in row 8 of"),
    ],
)
def test_a_time_that_cannot_be_read_is_named(dated, tmp_path, cell, said):
    days = DAYS.astype("datetime64[D]").astype(str).astype(object)
    days[7] = cell
    told = call(
        "fit", dated(days), "--label", "y", "--time", "day", "-o", tmp_path / "m.skops", code=2
    ).stderr
    assert "--time 'day'" in told
    assert "row 8 of" in told
    assert said in told


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
@pytest.mark.parametrize("kind", [int, str])
def test_whole_numbers_that_are_days_are_days(dated, name, kind):
    days = pd.Series(DAYS).dt.strftime("%Y%m%d").astype(kind)
    table = read_table(path := dated(days, name))
    np.testing.assert_array_equal(table.times("day").astype("datetime64[D]"), DAYS.astype("datetime64[D]"))
    measure = ["measure", path, "--label", "y", "--score", "a", "--time", "day", "--budget", "5/month"]
    assert "10 months" in call(*measure).stdout
    # In a batch the numbers stay what they are called.
    assert str(table.times("day", may_be_text=True)[0]) == "20240101"
    days[7] = kind(20240231)
    dated(days, name)
    assert "holds '20240231'; dates are read as" in (told := call(*measure, code=2).stderr)
    assert "row 8 of" in told
    # A single number that can be no day says that all are numbers.
    days[7] = kind(20241301)
    if kind is int:
        assert read_table(dated(days, name)).times("day")[7] == 20241301


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_numbers_since_a_date_are_to_be_converted_for_date(dated, tmp_path, name):
    path = dated(DAYS.astype("datetime64[s]").astype(int), name)
    told = call("fit", path, "--label", "y", "--date", "day", "-o", tmp_path / "m.skops", code=2).stderr
    assert "row 1 holds '1704067200'; dates are read as 2024-12-31" in told
    assert told.endswith("2024-12; convert numbers since a date to one of these.\n")


def test_a_text_among_numbers_is_named_and_missing_dates_are_missing_numbers(dated, tmp_path):
    fit = ["--label", "y", "-o", tmp_path / "m.skops"]
    numbers = np.where(np.arange(300) == 7, "soon", np.arange(300).astype(str))
    told = call("fit", dated(numbers), *fit, "--time", "day", code=2).stderr
    assert "--time 'day' must hold a number in every row; row 8 of" in told
    days = DAYS.astype("datetime64[D]").astype(str).astype(object)
    days[[7, 8, 9]] = "NULL", "N/A", None
    path = dated(days)
    assert told.endswith("holds 'soon'.\n")
    assert "To make hours, weekdays" in call("fit", path, *fit).stderr
    assert np.flatnonzero(np.isnan(read_table(path).column("day (weekday)").values)).tolist() == [7, 8, 9]


def test_a_zone_whose_clock_is_past_the_last_year_is_refused(dated, tmp_path):
    pa = pytest.importorskip("pyarrow")
    last = np.array(["9999-12-31T23:30", *DAYS[1:].astype(str)], dtype="datetime64[us]")
    for zone, option in itertools.product(["Asia/Tokyo", "Europe/Berlin"], ["--date", "--time"]):
        path = dated(pd.Series(last).dt.tz_localize("UTC").dt.tz_convert(zone), "d.parquet")
        told = call("fit", path, "--label", "y", option, "day", "-o", tmp_path / "m.skops", code=2).stderr
        assert "holds '10000-01-01 0" in told
    zoned = pa.array(last[:1]).cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us", "Asia/Tokyo"))
    with pytest.raises(ValueError, match="dates of the years 1 to 9999 by the clock"):
        check_times(zoned, 1)


def test_times_with_zones_are_taken_by_their_clocks(dated):
    table = read_table(
        dated(np.resize(["2024-01-01T00+02", "2024-01-01 00:30:00+0130", "2024-01-01t00:30+01"], 300))
    )
    assert (table.times("day").astype("datetime64[D]") == np.datetime64("2024-01-01")).all()
    assert table.column("day (hour)").values[:3].tolist() == [0.0, 0.5, 0.5]


@pytest.mark.skipif(DATA is None, reason="PUSHRANK_DATA is not set")
def test_of_real_files_only_those_with_times_are_taken_for_such():
    """Rows in blocks of one label, in the order of some measurement or of an identifier have no times."""
    dated = {}
    for path in sorted(Path(DATA).glob("**/*.parquet")):
        table = read_table(path)
        table = table.where(np.arange(len(table)) < 2000)
        dated[path.stem] = [name for name in table.frame if table.column(name).kind is Kind.DATE]
    assert {name: dates for name, dates in dated.items() if dates} == {
        "bank_marketing": ["contacted"],
        "flights": ["scheduled"],
    }
    assert len(dated) > 20
