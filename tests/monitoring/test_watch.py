"""The watch: evidence that is a supermartingale where hits are as expected, and what moved."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from combinations import by_day
from pushrank import load, save
from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.monitoring import Profile, Reference, watch
from pushrank.monitoring.reference import GRID, PeriodCounts, most_moved, period_counts, profiles_of_rows
from pushrank.monitoring.watching import date_words

BUDGET = Budget(30)
SCORES = "the scores"


def stream(seed=0, n_days=150, **more):
    """Return the rows of the first 60 days and those after, with scores by the true coefficients."""
    rows = make_stream(n_days, random_state=seed, **more)
    scores, first = rows.data[:, :3] @ [1.5, 1.0, 0.7], rows.day < 60
    return [(scores[part], rows.time[part], rows.data[part], rows.target[part]) for part in (first, ~first)]


def reference_of(scores, time, X, y, budget=BUDGET):
    return Reference.of(budget, time, scores, y, X)


def days_of(hits, positives, rows=300):
    """Return rows of days with so many positives each, of which so many are among the first 30."""
    n_days = len(hits)
    y = np.zeros((n_days, rows))
    for day, (found, m) in enumerate(zip(hits, positives, strict=True)):
        y[day, :found] = y[day, 30 : 30 + m - found] = 1.0
    time = np.datetime64("2026-03-02") + np.repeat(np.arange(n_days), rows)
    return np.tile(-np.arange(rows, dtype=float), n_days), time, y.ravel()


@pytest.fixture(scope="module")
def known():
    return reference_of(*stream()[0])


def test_the_promise_is_that_of_lists_drawn_by_the_scores_of_both_classes(known):
    """Hits among the first 30 where the scores of both classes are drawn from their distributions."""
    rng = np.random.default_rng(0)
    for n, m in ((300, 20), (150, 5), (400, 80), (25, 3)):
        hits = []
        for _ in range(400):
            places = np.interp(rng.random(m), known.roc, GRID)
            scores = np.r_[-places, -rng.random(n - m)]
            hits.append((np.argsort(-scores)[: min(30, n)] < m).sum())
        expected = known.expected_hits(PeriodCounts(*np.array([[n], [min(30, n)], [m], [0.0], [0.0]])))[0][0]
        assert expected == pytest.approx(np.mean(hits), abs=0.05 * np.mean(hits) + 0.1)


@pytest.mark.parametrize("is_full", [True, False])
def test_the_evidence_has_a_mean_of_at_most_one_where_hits_are_as_expected(known, is_full):
    rng = np.random.default_rng(1)
    positives, held_out = np.full(25, 20.0), PeriodCounts(*known.counts)
    scores, time, y = days_of([0] * 25, [20] * 25)
    by_scores = known.chance_of(scores[:300], np.arange(300) < 30)[:30].sum()
    counts = PeriodCounts(*np.tile([[300.0], [30.0], [20.0], [0.0], [by_scores]], 25))
    expected, places = known.expected_hits(counts, is_full)
    ratio = held_out.hits.sum() / known.expected_hits(held_out, is_full)[0].sum()
    last = []
    for _ in range(120):
        scores, time, y = days_of(
            rng.binomial(places.astype(int), ratio * expected / places), positives.astype(int) + 10
        )
        y = y if is_full else np.where(np.tile(np.arange(300) < 30, 25), y, np.nan)
        last.append(watch(known, scores, time, y=y).table[-1]["evidence"])
    assert np.mean(last) <= 1.0 + 3.0 * np.std(last) / np.sqrt(len(last))


@pytest.mark.parametrize("is_full", [True, False])
def test_the_evidence_is_the_sum_over_beginnings_of_the_products(known, is_full):
    rng = np.random.default_rng(2)
    positives = rng.poisson(20, 9)
    hits = rng.binomial(positives, 0.3)
    scores, time, y = days_of(hits, positives)
    scores = scores / 10.0
    acted = np.tile((np.arange(300) < 28) | (np.arange(300) == 50), 9)
    if is_full:
        seen = watch(known, scores, time, y=y)
        expected, places = known.expected_hits(
            period_counts(Budget(1).periods(time), y, np.tile(np.arange(300) < 30, 9), y)
        )
    else:
        seen = watch(known, scores, time, y=np.where(acted, y, np.nan), acted=acted)
        listed, below = known.chances
        # Listed rows whose scores no listed row had are expected as rows below the list.
        curves = np.where(
            scores[:28] < listed[0, 0], np.interp(scores[:28], *below), np.interp(scores[:28], *listed)
        )
        chances = curves.sum() + np.interp(scores[50], *below)
        expected, places = np.full(9, chances), np.full(9, 29.0)
        hits = (acted * y).reshape(9, 300).sum(axis=1)
    held_out = PeriodCounts(*known.counts)
    of_held_out, held_out_places = known.expected_hits(held_out, is_full)
    spread, total = known.spread(of_held_out, held_out_places), 1.0 / 10.0
    for first in range(9):
        for tilt in (0.1, 0.2, 0.4, 0.8, 1.6):
            product = 1.0
            for day in range(first, 9):
                before = of_held_out.sum() + expected[:day].sum()
                ratio, c = (held_out.hits.sum() + hits[:day].sum()) / before, places[day]
                p = ratio * expected[day] / c
                fall = np.exp(-tilt * hits[day]) / (1.0 - p + p * np.exp(-tilt)) ** c
                product *= fall ** (1.0 / (spread * (1.0 + expected[day] / before)))
            total += product / 5.0 / ((first + 1) * (first + 2))
    assert seen.table[-1]["evidence"] == pytest.approx(total, rel=1e-9)
    assert [record["hits"] for record in seen.table] == hits.tolist()
    assert [record["labelled"] for record in seen.table] == [30.0 if is_full else 29.0] * 9
    assert [record["positives"] for record in seen.table] == (positives.tolist() if is_full else [None] * 9)
    assert {type(record[name]) for record in seen.table for name in ("rows", "labelled", "hits")} == {int}


def test_labels_of_the_listed_rows_alone_tell_that_hits_fall():
    """Late labels wait where it is known which rows were looked at, or how late labels come."""
    (first, new), n = stream(1, drift_day=100), 30
    days = (new[1] - new[1].min()).astype("timedelta64[D]").astype(int)
    rank = pd.Series(new[0]).groupby(days).rank(ascending=False, method="first").to_numpy()
    acted, known = rank <= n, reference_of(*first)
    y, late = np.where(acted, new[3], np.nan), days > days.max() - 5
    seen = watch(known, new[0], new[1], y=y)
    assert seen.sentence.startswith("fewer hits than expected since")
    assert {record["positives"] for record in seen.table} == {None}
    # The first of a calendar day are others than some of those of 24 hours, and these never get a label.
    y[late & (new[3] == 1.0)] = np.nan
    hours = np.timedelta64(130, "h")
    marks = {"acted": np.where(acted, "list", "")}
    for more, n_tested in (({}, 60), (marks, 85), ({"labels_after": hours}, 84)):
        seen = watch(known, new[0], new[1], y=y, **more)
        assert sum(record["hits"] is not None for record in seen.table) == n_tested
    seen = watch(known, new[0], new[1], y=new[3], acted=acted)
    assert [record["labelled"] for record in seen.table] == [record["looked_at"] for record in seen.table]
    assert watch(known, new[0], new[1], y=np.full(len(y), np.nan), acted=acted).sentence == (
        "nothing is known of hits"
    )


@pytest.mark.parametrize("seed", by_day(range(3), 2))
def test_nothing_is_said_of_calm_days_and_storms(seed):
    first, new = stream(seed, storms=1.0)
    seen = watch(reference_of(*first), new[0], new[1], *new[2:])
    tested = sum(record["looked_at"] for record in seen.table)
    sums = (round(sum(record[name] for record in seen.table)) for name in ("hits", "expected"))
    said = f"as expected: of {tested:,} rows looked at, {tested:,} labelled: {{:,}} hits, {{:,}} expected"
    assert (seen.sentence, seen.alarm) == (said.format(*sums), False)


def test_a_label_that_columns_no_longer_tell_is_fewer_hits():
    first, new = stream(1, drift_day=100)
    seen = watch(reference_of(*first), new[0], new[1], *new[2:])
    alarm = next(record["period"] for record in seen.table if record["evidence"] >= seen.needed)
    assert seen.sentence in {f"fewer hits than expected since {day} April: retrain" for day in range(12, 20)}
    assert "2026-04-15" < alarm < "2026-05-06"
    assert not any(record["has_moved"] for record in seen.moved)
    json.dumps(seen.to_dict(), allow_nan=False)


def test_rows_that_move_are_named_with_what_moved():
    first, new = stream(2, drift_day=100, drift="rows")
    seen = watch(reference_of(*first), new[0], new[1], *new[2:])
    assert seen.sentence == "the rows have changed: column x2"
    assert {record["column"] for record in seen.moved if record["has_moved"]} <= {"x2", SCORES}
    moved = next(record for record in seen.moved if record["column"] == "x2")
    assert moved["since"] < "2026-04-20" < moved["told"]
    assert moved["share_before"] == pytest.approx(0.25, abs=0.03)
    assert abs(moved["share_now"] - 0.25) > 0.1
    json.dumps(seen.to_dict(), allow_nan=False)


def test_texts_and_gaps_are_watched():
    (scores, time, X, y), (new_scores, new_time, new_X, _) = stream()
    rng = np.random.default_rng(0)
    frames = [
        pd.DataFrame({"wind": part[:, 4], "town": rng.choice(["A", "B"], len(part))}) for part in (X, new_X)
    ]
    frames[1].loc[new_time >= np.datetime64("2026-04-20"), "wind"] = np.nan
    known = reference_of(scores, time, frames[0], y)
    seen = watch(known, new_scores, new_time, frames[1])
    assert seen.sentence == "the rows have changed: column wind"
    assert seen.moved[0]["part"] == "missing"
    assert seen.moved[0]["share_now"] > 0.1
    frames[1]["town"] = frames[1]["town"].astype("category").cat.rename_categories({"A": "a"})
    seen = watch(known, new_scores, new_time, frames[1])
    assert {record["column"]: record["part"] in ("A", "others", "missing") for record in seen.moved[:2]} == {
        "town": True, "wind": True
    }  # fmt: skip
    assert watch(known, new_scores, new_time).sentence == "nothing is known of hits"


def test_periods_with_labels_that_are_not_known_yet_are_not_tested(known):
    hits, positives = np.full(30, 3), np.full(30, 20)
    scores, time, y = days_of(hits, positives)
    for row, positives_of, is_tested in ((-1, None, True), (-300, None, False), (-270, None, True)):
        partly = y.copy()
        partly[row] = np.nan
        seen = watch(known, scores, time, y=partly)
        # The first 30 of a day are looked at: others without a label leave its positives open.
        last = seen.table[-1]
        assert (last["evidence"] is not None, last["positives"]) == (is_tested, positives_of)
        assert last["looked_at"] == 30
        assert seen.sentence == "fewer hits than expected since 2 March: retrain"


def test_days_of_many_and_few_rows_are_looked_at_whole_or_cut(known):
    scores, time, y = days_of([3, 4], [3, 6], rows=8 + 30)
    seen = watch(known, scores, time, y=y)
    assert [record["looked_at"] for record in seen.table] == [30, 30]
    seen = watch(known, scores[:8], time[:8], y=y[:8])
    # Where all rows are looked at, positives tell nothing of the list, and scores promise hits.
    assert (seen.table[0]["looked_at"], seen.table[0]["hits"], seen.table[0]["positives"]) == (8, 3.0, None)
    listed, below = known.chances
    chances = np.where(
        scores[:8] < listed[0, 0], np.interp(scores[:8], *below), np.interp(scores[:8], *listed)
    )
    assert seen.table[0]["expected"] == pytest.approx(chances.sum())


def test_ties_count_as_their_expected_hits(known):
    seen = watch(known, np.zeros(60), np.repeat(np.datetime64("2026-03-02"), 60), y=np.arange(60) < 10)
    assert seen.table[0]["hits"] == pytest.approx(5.0)


def test_the_table_is_folded_to_few_lines_of_sums(known):
    scores, time, X, y = stream()[1]
    y = np.where(time >= np.datetime64("2026-06-01"), np.nan, y)
    seen = watch(known, scores, time, X, y)
    assert len(seen.table) == 90
    days = pd.DataFrame(seen.table).assign(start=lambda rows: pd.to_datetime(rows["period"]))
    weeks = days.groupby(days["start"].dt.to_period("W").dt.start_time)
    for most, unit, grouped in (
        (90, "day", days.groupby("start")),
        (20, "week", weeks),
        (5, "month", days.groupby(days["start"].dt.strftime("%Y-%m"))),
    ):
        found, lines = seen.folded(most)
        assert (found, len(lines)) == (unit, len(grouped))
        for line, (start, part) in zip(lines, grouped, strict=True):
            inside = part[part["hits"].notna()]
            assert line["period"] == str(start)[: len(line["period"])]
            assert (line["periods"], line["known"]) == (len(part), len(inside))
            assert (line["rows"], line["looked_at"]) == (part["rows"].sum(), part["looked_at"].sum())
            if len(inside):
                for name in ("positives", "hits", "expected"):
                    assert line[name] == pytest.approx(inside[name].sum())
                assert line["evidence"] == inside["evidence"].iloc[-1]
            else:
                assert line["hits"] is line["evidence"] is None
    assert [line["period"] for line in seen.folded(2)[1]] == ["2026-05", "2026-06"]


def test_batches_are_no_weeks_and_keep_their_order():
    scores, time, X, y = stream()[1]
    batch = (time - time.min()).astype("timedelta64[D]").astype(int)
    reference = reference_of(scores, batch, X, y, Budget(30, "batch"))
    unit, lines = watch(reference, scores, batch, X, y).folded()
    assert (unit, [line["period"] for line in lines]) == ("batch", [str(at) for at in range(70, 90)])


def test_the_parts_of_a_column_are_its_shares_now(known):
    first, new = stream(2, drift_day=100, drift="rows")
    seen = watch(reference_of(*first), new[0], new[1], *new[2:])
    moved = next(record for record in seen.moved if record["column"] == "x2")
    [part] = [part for part in moved["parts"] if part["part"] == moved["part"]]
    assert (part["share_before"], part["share_now"]) == (moved["share_before"], moved["share_now"])
    steady = next(record for record in seen.moved if record["column"] == "x3")
    weeks = new[1] < np.datetime64("2026-03-06") + np.timedelta64(12, "W")
    cuts = np.quantile(first[2][:, 2], [0.25, 0.5, 0.75])
    shares = np.diff([0.0, *(np.mean(new[2][weeks, 2] <= cut) for cut in cuts), 1.0])
    assert [part["share_now"] for part in steady["parts"][:4]] == pytest.approx(shares.tolist(), abs=0.005)
    few = new[1] < np.datetime64("2026-03-10")
    seen = watch(known, *(values[few] for values in new))
    assert {part["share_now"] for record in seen.moved for part in record["parts"]} == {None}


def test_a_reference_is_saved_and_loaded(tmp_path, known):
    save(asdict(known), tmp_path / "reference.skops")
    again = Reference.load(load(tmp_path / "reference.skops"))
    new = stream()[1]
    assert watch(again, new[0], new[1], *new[2:]) == watch(known, new[0], new[1], *new[2:])
    assert (tmp_path / "reference.skops").stat().st_size < 60_000
    assert again.sentence == known.sentence


def test_periods_are_written_as_people_say_them():
    words = {
        ("2026-11-03", "day", "2026-12-01"): "3 November",
        ("2025-11-03", "day", "2026-01-01"): "3 November 2025",
        ("2026-11-02", "week", "2026-11-09"): "the week of 2 November",
        ("2026-11-03T07", "hour", "2026-11-04T00"): "3 November, 07:00",
        ("2026-11", "month", "2026-12"): "November",
        ("17", "batch", "19"): "batch 17",
    }
    assert [date_words(label, per, last) for label, per, last in words] == list(words.values())


def test_a_constant_column_and_one_of_gaps_have_profiles():
    blocks = np.repeat(np.arange(4), 5)
    for values in (np.ones(20), np.full(20, np.nan), np.full(20, None, dtype=object)):
        profile = Profile.of(values, blocks, 4)
        angles, _ = profile.angles(values, blocks, 4)
        assert profile.test(angles[0], 1)[0] == 1.0


def test_what_cannot_be_watched_is_refused(known):
    scores, time, X, y = stream()[1]
    for more, problem in (
        ((scores[1:], time), "a time for each row"),
        ((np.r_[np.nan, scores[1:]], time), "a finite score"),
        ((scores[:0], time), "a finite score and a time"),
        ((scores, time, X[:, :3]), "lacks the column 'x4'"),
        ((scores, time, X, y + 1), "y must hold 0, 1 or NaN"),
        ((scores, np.arange(len(scores))), "needs dates"),
    ):
        with pytest.raises(ValueError, match=problem):
            watch(known, *more)
    for level in (0.0, 1.0):
        with pytest.raises(ValueError, match="level must be"):
            watch(known, scores, time, level=level)
    with pytest.raises(ValueError, match="two held-out periods"):
        Reference.of(BUDGET, time, scores, np.zeros(len(y)))
    with pytest.raises(ValueError, match="of one length"):
        Reference.of(BUDGET, time[1:], scores, y)
    for scores_of, y_of, problem in (
        (np.full(len(y), np.nan), y, "finite, or NaN of some rows"),
        (np.r_[np.inf, scores[1:]], y, "finite, or NaN of some rows"),
        (scores, np.r_[np.nan, y[1:]], "0 or 1 for each row with a score"),
        (scores, y + 1.0, "0 or 1 for each row with a score"),
        (scores, np.where(y == 1, "yes", "no"), "y must be real numbers"),
    ):
        with pytest.raises(ValueError, match=problem):
            Reference.of(BUDGET, time, scores_of, y_of)
    with pytest.raises(ValueError, match="the column 'x1' must be real numbers"):
        watch(known, scores, time, np.where(X > 0, "a", "b"))


def test_the_promise_of_tied_scores_is_that_of_a_random_order():
    """As for scores that are drawn within each score, of which there are many."""
    rng = np.random.default_rng(0)
    time = np.datetime64("2026-03-02") + np.repeat(np.arange(500), 200)
    y = (rng.random(len(time)) < 0.2).astype(float)
    for tied in (np.zeros(len(y)), np.round(y + rng.normal(size=len(y)))):
        counts = PeriodCounts(*np.array([[200.0], [30.0], [40.0], [np.nan], [np.nan]]))
        drawn = Reference.of(BUDGET, time, tied + 0.1 * rng.random(len(y)), y).expected_hits(counts)
        reference = Reference.of(BUDGET, time, tied, y)
        np.testing.assert_allclose(reference.expected_hits(counts), drawn, rtol=0.05)
        assert watch(reference, tied, time, y=y).sentence.startswith(
            "as expected: of 15,000 rows looked at, 15,000 labelled"
        )


def test_columns_of_any_library_are_watched_as_those_of_pandas():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    scores, time, X, y = stream()[0]
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(
        kind=np.where(X[:, 0] > 0, "up", "down"), gap=np.where(X[:, 1] > 0, None, 2.0), yes=X[:, 2] > 0
    )
    expected = Reference.of(BUDGET, time, scores, y, frame.assign(gap=frame["gap"].astype(float))).profiles
    for convert in (polars.from_pandas, pyarrow.Table.from_pandas):
        found = Reference.of(BUDGET, time, scores, y, convert(frame)).profiles
        assert list(found) == list(expected)
        for name, profile in found.items():
            assert (profile.cuts, profile.is_number) == (expected[name].cuts, expected[name].is_number)
            np.testing.assert_array_equal(profile.moments, expected[name].moments)
    for values in (X > 0, X.astype(object)):
        profiles = Reference.of(BUDGET, time, scores, y, values).profiles.values()
        assert all(profile.is_number and profile.cuts for profile in profiles)


def test_held_out_periods_are_those_of_the_calendar_of_the_zone(known):
    scores, time, X, y = stream()[0]
    zoned = pd.Series(time).dt.tz_localize("America/New_York")
    there = Reference.of(BUDGET, zoned, scores, y, X)
    assert there.periods.tolist() == known.periods.tolist()
    np.testing.assert_array_equal(there.counts, known.counts)


def test_columns_of_rows_in_another_order_have_not_moved():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=1000), "b": rng.choice(["x", "y"], 1000)})
    for profiled, asked in ((rows, rows.sort_values("a")), (rows.sort_values("b"), rows)):
        profiles = profiles_of_rows(profiled)
        assert most_moved(profiles, asked) == ""
        assert "'a' is" in most_moved(profiles, asked.assign(a=asked["a"] + 0.5))
    assert most_moved(profiles, rows[:50]) == ""
    assert profiles_of_rows(rows[:250]) == {}


def test_a_date_that_is_wrong_makes_no_labels_due(known):
    """Hits are confirmed after 20 days, misses after 2; a row or two of next month change nothing."""
    scores, time, _, y = stream()[1]
    reference, age = known, time.max() - time
    late = np.where(age < np.where(y == 1.0, np.timedelta64(20, "D"), np.timedelta64(2, "D")), np.nan, y)
    right = watch(reference, scores, time, None, late).table
    for n_wrong in (1, 2):
        wrong = time.copy()
        wrong[np.argsort(age)[:n_wrong]] += np.timedelta64(31, "D")
        seen = watch(reference, scores, wrong, None, np.where(wrong > time, np.nan, late))
        n_tested = [sum(record["hits"] is not None for record in table) for table in (right, seen.table)]
        assert n_tested[0] == n_tested[1] > 0
    far = np.where(np.arange(len(time)) == 3, np.datetime64("2162-01-01"), time)
    with pytest.raises(ValueError, match="ahead of this machine's clock"):
        watch(reference, scores, far, None, late)


def test_rows_of_which_no_hit_is_expected_say_nothing(known):
    """People look at every row, and of 2,000 labelled ones the one that could be tested expects no hit."""
    scores, time, X, _ = stream(seed=1)[1]
    worst = np.argsort(scores)[:5]
    y = np.full(len(scores), np.nan)
    y[worst] = 0.0
    seen = watch(known, scores, time, X, y, acted=np.isin(np.arange(len(scores)), worst))
    tested = [record for record in seen.table if record["hits"] is not None]
    assert sum(record["expected"] for record in tested) < 0.5
    assert seen.sentence == "nothing is known of hits" or seen.sentence.startswith("the rows have changed")
    assert not seen.sentence.startswith("as expected")


DAY = np.timedelta64(1, "D")


class Listed:
    """Days of ten rows, whose first five were looked at and alone have labels, three in ten of them hits."""

    def __init__(self, n_days, chance=0.3, seed=0, n=5):
        self.day = np.repeat(np.arange(n_days), 10)
        self.scores = np.tile(-np.arange(10.0), n_days)
        self.time = np.datetime64("2026-03-02") + self.day * DAY
        self.acted = self.scores > -n
        hits = np.random.default_rng(seed).random(len(self.day)) < chance
        self.y = np.where(self.acted, hits, np.nan)

    def watched(self, known, n_days=None, y=None, **more):
        """Return what is said of the first days, by labels that have come."""
        rows, y = self.day < (n_days or len(self.day)), self.y if y is None else y
        more = {name: of[rows] if isinstance(of, np.ndarray) else of for name, of in more.items()}
        return watch(known, self.scores[rows], self.time[rows], y=y[rows], **more)


@pytest.fixture(scope="module")
def steady():
    rows = Listed(60, seed=9)
    return Reference.of(Budget(5), rows.time, rows.scores, np.nan_to_num(rows.y))


def days_tested(seen):
    return [at for at, record in enumerate(seen.table) if record["hits"] is not None]


@pytest.mark.parametrize(
    ("hits", "misses", "of_all", "fails", "more"),
    [
        # Labels of hits after 10 days and of misses after 2, of the rows looked at alone, as in a report.
        (10, 2, False, False, ""),
        (10, 2, True, False, ""),
        (10, 2, False, False, "acted"),
        (10, 2, False, False, "after"),
        (10, 2, True, False, "acted after"),
        (30, 2, False, False, ""),
        (2, 10, False, False, ""),
        (7, 7, True, False, ""),
        (10, 2, False, True, ""),
        (10, 2, True, True, "acted"),
        (2, 10, False, True, "after"),
    ],
)
def test_labels_that_come_late_are_not_fewer_hits(steady, hits, misses, of_all, fails, more):
    rows = Listed(100, 0.05 if fails else 0.3)
    y = np.where(np.isnan(rows.y) & of_all, 0.0, rows.y)
    comes, late, said = rows.day + np.where(y == 1.0, hits, misses), max(hits, misses), []
    given = {"acted": rows.acted} if "acted" in more else {}
    given |= {"labels_after": late * DAY} if "after" in more else {}
    for n_days in (5, 8, 11, 20, 29, 45, 100):
        labels = np.where(comes < n_days, y, np.nan)
        seen = rows.watched(steady, n_days, labels, **given)
        lacks = np.bincount(rows.day, rows.acted & np.isnan(labels))[:n_days] > 0
        lacks[: max(n_days - 30, 0)] = False
        n_tested = max(n_days - late, 0) if "after" in more else int(np.argmax(np.r_[lacks, True]))
        assert days_tested(seen) == list(range(n_tested))
        final = rows.watched(steady, n_days, y, acted=rows.acted)
        assert [of["hits"] for of in seen.table[:n_tested]] == [of["hits"] for of in final.table[:n_tested]]
        said.append(seen.sentence.split()[0])
        assert (said[-1] == "nothing") == (n_tested == 0)
    assert said[-1] == ("fewer" if fails else "as")
    assert fails or "fewer" not in said


def test_days_without_a_hit_that_have_all_labels_sooner_wait_for_those_before_them(steady):
    """Of short lists days of misses alone are known first: to test these would find fewer hits."""
    rows = Listed(12, n=3)
    rows.y[rows.acted] = np.where(np.arange(36) % 9 == 1, 1.0, 0.0)
    for late, n_tested in (([6], 6), ([0], 0), ([9], 9), ([3, 9], 3), ([], 12), (range(12), 0), ([1], 12)):
        y = np.where(np.isin(rows.day, late) & (rows.y == 1.0), np.nan, rows.y)
        assert days_tested(rows.watched(steady, y=y, acted=rows.acted)) == list(range(n_tested))
        # The first five are the list where nobody says which rows were looked at: days lack two labels each.
        assert days_tested(rows.watched(steady, y=y)) == []
        due = rows.watched(steady, y=y, acted=rows.acted, labels_after=3 * DAY)
        assert days_tested(due) == list(range(9))


def test_labels_that_never_come_are_those_missing_after_a_month(steady):
    rows = Listed(80)
    rows.y[rows.scores == -1.0] = np.nan
    seen = rows.watched(steady)
    hits, expected = (round(sum(of[name] for of in seen.table[:50])) for name in ("hits", "expected"))
    assert seen.sentence == (
        "as expected: of 400 rows looked at, 320 labelled, 200 of them tested, the last 30 days left out: "
        f"{hits} hits, {expected} expected"
    )
    assert days_tested(seen) == list(range(50))
    assert hits == np.nansum(rows.y[rows.day < 50])
    for days, n_tested in ((0, 80), (1, 79), (30, 50), (60, 20)):
        seen = rows.watched(steady, acted=rows.acted, labels_after=days * DAY)
        assert days_tested(seen) == list(range(n_tested))
        assert ("left out" in seen.sentence) == (days > 0)
    assert "the last 1 day left out" in rows.watched(steady, labels_after=DAY).sentence
    assert days_tested(rows.watched(steady, 31)) == [0]
    assert days_tested(rows.watched(steady, 30)) == []


def test_a_young_stream_whose_labels_lack_says_nothing_and_why(steady):
    rows = Listed(12)
    rows.y[rows.scores == -1.0] = np.nan
    nothing, none = "nothing is known of hits", np.full(len(rows.y), np.nan)
    why = f"{nothing}: 12 of 60 rows looked at have no label yet; say how long labels take, labels_after"
    acted_too = f"{why}, or which rows were looked at, acted"
    on_others = np.where(rows.acted, np.nan, 0.0)
    whole = np.where(np.isnan(rows.y) & rows.acted & (rows.day == 0), 0.0, rows.y)
    for y, more, says in (
        (rows.y, {}, acted_too),
        (rows.y, {"acted": rows.acted}, why),
        (rows.y, {"labels_after": 12 * DAY}, f"{nothing}: no day is as old as labels_after"),
        (none, {}, nothing),
        (on_others, {}, nothing),
        (on_others, {"acted": rows.acted, "labels_after": 0}, nothing),
        (rows.y, {"labels_after": 0}, "as expected: of 60 rows looked at, 48 labelled: "),
        (
            whole,
            {},
            "as expected: of 60 rows looked at, 49 labelled, 5 of them tested, the last 11 days left",
        ),
    ):
        seen = rows.watched(steady, y=y, **more)
        assert (seen.sentence if says in (why, acted_too, nothing) else seen.sentence[: len(says)]) == says
        assert not seen.alarm


def test_where_all_rows_are_acted_on_and_few_get_a_label_these_are_tested(steady):
    """A report: people look at everything, and label the best of each day alone; hits fall at day 100."""
    rows = Listed(200)
    rows.y = np.where(rows.day >= 100, np.where(rows.acted, rows.y * (rows.scores < -2.0), np.nan), rows.y)
    for acted in (True, "list", rows.acted, np.where(rows.acted, "list", ""), None):
        for more in ({}, {"labels_after": 7 * DAY}):
            of = np.full(len(rows.y), acted) if isinstance(acted, bool | str) else acted
            seen = rows.watched(steady, acted=of, **more)
            late = 7 if more else 30 if isinstance(acted, bool | str) else 0
            assert days_tested(seen) == list(range(200 - late))
            unless = ", unless labels take more than 30 days" * (late == 30)
            said = {f"fewer hits than expected since {n} June: retrain{unless}" for n in range(7, 14)}
            assert seen.sentence in said
    # The same before the fall is a green light, since hits are as expected.
    all_rows = np.ones(len(rows.y), dtype=bool)
    assert rows.watched(steady, 100, acted=all_rows).sentence.startswith("as expected: of 1,000 rows looked")


def test_labels_of_hits_alone_are_no_green_light(steady):
    rows = Listed(60)
    hits = np.where(rows.y == 1.0, 1.0, np.nan)
    n_hits = int(np.nansum(hits[rows.day < 30]))
    for more in ({}, {"acted": rows.acted}, {"labels_after": 30 * DAY}):
        said = rows.watched(steady, y=hits, **more).sentence
        assert said.startswith(f"nothing is known of hits: all {n_hits} rows tested are hits, ")
        assert said.endswith(" expected; label the others, too")
    one_miss = np.where(np.arange(len(hits)) == int(np.argmax(rows.y == 0.0)), 0.0, hits)
    assert rows.watched(steady, y=one_miss).sentence.startswith("as expected")
    # Two hits of two rows are no surprise, nor are hits alone where all are to be expected.
    few = np.where(rows.day < 1, np.where(rows.scores > -2.0, 1.0, np.nan), np.nan)
    assert rows.watched(steady, y=few).sentence.startswith("as expected: of 300 rows looked at, 2 labelled")
    sure = Reference.of(Budget(5), rows.time, rows.scores, np.where(rows.acted, 1.0, 0.0))
    seen = rows.watched(sure, y=np.where(rows.acted, 1.0, np.nan))
    assert seen.sentence == "as expected: of 300 rows looked at, 300 labelled: 300 hits, 300 expected"


@pytest.mark.parametrize("names", [np.arange(40), np.char.mod("file %02d", np.arange(40))])
def test_batches_have_no_clock(names):
    rows = Listed(40)
    reference = Reference.of(Budget(5, "batch"), names[rows.day], rows.scores, np.nan_to_num(rows.y))
    rows.time = names[rows.day]
    lacks = np.where((rows.day % 9 == 4) & (rows.scores == 0.0), np.nan, rows.y)
    why = "nothing is known of hits: 40 of 200 rows looked at have no label yet; say how long labels take, "
    first = np.where(rows.scores == 0.0, np.nan, rows.y)
    assert rows.watched(reference, y=first, acted=rows.acted).sentence == (
        f"{why}labels_after=0 if none will come"
    )
    for y, more, n_tested in (
        (rows.y, {}, 40),
        (lacks, {}, 4),
        (lacks, {"acted": rows.acted}, 4),
        (lacks, {"labels_after": 0}, 40),
        (first, {"labels_after": 0, "acted": rows.acted}, 40),
        (first, {}, 0),
    ):
        assert days_tested(rows.watched(reference, y=y, **more)) == list(range(n_tested))
    assert ", the last 36 batches left out: " in rows.watched(reference, y=lacks).sentence


def test_of_no_rows_nothing_is_known(known):
    scores, time, X, y = (of[:0] for of in stream()[1])
    for more in ((), (X,), (X, y), (None, y), (X[:, :0], [])):
        seen = watch(known, scores, time, *more, acted=y, labels_after=DAY)
        assert (seen.sentence, seen.alarm, seen.table) == ("nothing is known of hits", False, [])
        json.dumps(seen.to_dict())
    assert watch(known, [], []).sentence == "nothing is known of hits"
