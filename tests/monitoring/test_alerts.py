"""Rows that come one by one: the budget is kept, nearly all of it is spent, and no answer is ever lost."""

import copy
import itertools
import os
import pickle
import signal
import subprocess
import sys
from contextlib import closing
from threading import Lock, Thread

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from benchmarks.alert_state import decisions, full_disks, mutations, on_disk, run_child, timers
from combinations import each_and_some
from pushrank.budgets import Budget
from pushrank.monitoring import State
from pushrank.monitoring.alerts import CELLS, KIND, AlertThreshold

pytestmark = pytest.mark.fast

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no forks and no timers")
PAST = np.arange("2026-01-01", "2026-03-01", dtype="datetime64[h]")
MARCH = np.datetime64("2026-03-01", "s")


def past_scores(seed=0):
    """Return scores of days whose levels differ, as those of days with storms."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=len(PAST)) + np.repeat(2.0 * rng.normal(size=len(PAST) // 24), 24)


def fitted(budget=3, state=None, **options):
    return AlertThreshold(budget, state, **options).fit(past_scores(), PAST)


def stream(n_days, per_day, seed=1, storms=2.0):
    """Return scores and times of days of about so many rows, at random moments."""
    rng = np.random.default_rng(seed)
    sizes = rng.poisson(per_day, size=n_days)
    days = np.repeat(np.arange(n_days), sizes)
    times = MARCH + np.sort(days * 86400 + rng.integers(86400, size=len(days))).astype("timedelta64[s]")
    return rng.normal(size=len(days)) + storms * rng.normal(size=n_days)[days], times


def spent(budget, act, times):
    periods = budget.periods(times)
    return np.bincount(periods.codes, weights=act, minlength=len(periods.labels)), periods.sizes


@given(
    rows=st.lists(st.tuples(st.integers(0, 3 * 86400), st.floats(-1e6, 1e6)), min_size=1, max_size=60),
    n=st.integers(1, 5),
    one_by_one=st.booleans(),
)
def test_no_rows_spend_more_than_the_budget(rows, n, one_by_one):
    alert, budget = fitted(n), Budget(n)
    scores = np.array([score for _, score in rows])
    times = MARCH + np.array([second for second, _ in rows]).astype("timedelta64[s]")
    if one_by_one:
        # Within a day rows come in any order.
        order = np.argsort(budget.periods(times).codes, kind="stable")
        scores, times = scores[order], times[order]
        act = [alert.decide(score, time) for score, time in zip(scores, times, strict=True)]
    else:
        act = alert.decide(scores, times)
    assert (spent(budget, act, times)[0] <= n).all()
    assert alert.left_ >= 0


@pytest.mark.parametrize("scores", [np.arange(500.0), -np.arange(500.0), np.zeros(500), np.full(500, 1e300)])
def test_no_order_of_scores_spends_more_than_the_budget(scores):
    times = MARCH + np.linspace(0, 86399, 500).astype("timedelta64[s]")
    assert fitted(7).decide(scores, times).sum() == 7


@pytest.mark.parametrize(
    ("per", "storms"), each_and_some(["hour", "day", "week", "month"], [0.0, 2.0], n_random=0)
)
def test_nearly_all_is_spent_and_on_the_best(per, storms):
    length = {"hour": 1 / 24, "day": 1, "week": 7, "month": 30}[per]
    n_days, budget = {"hour": 4, "day": 60, "week": 160, "month": 700}[per], Budget(15, per)
    scores, times = stream(n_days, 150 / length, storms=storms)
    codes = budget.periods(times).codes
    is_past = codes <= np.median(codes)
    alert = AlertThreshold(budget).fit(scores[is_past], times[is_past])
    act = alert.decide(scores[~is_past], times[~is_past])
    n_spent, sizes = spent(budget, act, times[~is_past])
    whole = sizes >= 75
    assert n_spent.max() <= 15
    assert n_spent[whole].mean() >= 0.93 * 15
    # Of what the best of each period hold above the average row, most is found without seeing its end.
    codes = budget.periods(times[~is_past]).codes
    ranks = np.lexsort((-scores[~is_past], codes))
    place = np.empty(len(codes))
    place[ranks] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    best = scores[~is_past][place < 15].sum() - 15 * len(sizes) * scores.mean()
    assert scores[~is_past][act].sum() - act.sum() * scores.mean() >= 0.75 * best


def test_the_threshold_is_the_mean_of_what_was_still_to_come_where_levels_say_nothing():
    times = np.arange("2026-01-01", "2026-01-04", dtype="datetime64[h]")
    # Three days that begin alike: the second best of the afternoons are 5, 6 and 10.
    scores = np.zeros(72)
    scores[[13, 14, 24 + 13, 24 + 14, 48 + 13, 48 + 14]] = [9, 5, 6, 8, 10, 10]
    alert = AlertThreshold(2).fit(scores, times)
    alert._gain = 0.0
    alert._past = [past._replace(levels=np.zeros_like(past.levels)) for past in alert._past]
    alert._begin(alert._start, 0.0)
    assert alert.decide(7.0, "2026-01-04 12:00", return_threshold=True) == (True, 7.0)
    # One is left, and the best of the afternoons are 9, 8 and 10; after them every row is as good as any.
    assert alert.threshold_ == 9.0
    assert alert.decide(8.9, "2026-01-04 12:05", return_threshold=True) == (False, 9.0)
    assert alert.decide(-5.0, "2026-01-04 23:50", return_threshold=True) == (True, -np.inf)
    assert alert.decide(99.0, "2026-01-04 23:55", return_threshold=True) == (False, np.inf)


def test_a_stormy_morning_raises_the_threshold():
    calm, stormy = fitted(), fitted()
    for hour in range(6):
        calm.decide(-3.0, MARCH + np.timedelta64(hour, "h"))
        stormy.decide(3.0, MARCH + np.timedelta64(hour, "h"))
    both = calm._look_back(60)[1]
    assert (both[:3] > 0.5).all()
    assert calm.threshold_ < -0.5
    assert stormy.threshold_ > 2.0


@pytest.mark.parametrize("n_kept", [1, 2])
def test_the_same_row_gets_the_same_answer_also_after_a_restart(tmp_path, n_kept):
    scores, times = stream(3, 100)
    names = [f"row {i} ü" for i in range(len(scores))]
    whole = fitted(5).decide(scores, times, names, return_threshold=True)
    with closing(fitted(5, tmp_path / "state.db", n_kept=n_kept)):
        pass
    for first in range(0, len(scores), 37):
        with closing(AlertThreshold.open(tmp_path / "state.db")) as alert:
            rows = slice(first, first + 37)
            found = alert.decide(scores[rows], times[rows], names[rows], return_threshold=True)
            np.testing.assert_array_equal(found, [part[rows] for part in whole])
            again = alert.decide(scores[rows], times[rows], names[rows], return_threshold=True)
            np.testing.assert_array_equal(again, found)
    with closing(AlertThreshold.open(tmp_path / "state.db")) as alert:
        # Those of periods before the current one are known, too.
        recent = times >= MARCH + np.timedelta64(2 - n_kept, "D")
        again = alert.decide(scores[recent], times[recent], np.array(names)[recent], return_threshold=True)
        np.testing.assert_array_equal(again, [part[recent] for part in whole])
        if n_kept == 1:
            with pytest.raises(
                ValueError, match=r"row 0 \('row 0 ü'\) is of a day that ended before 2026-03-03"
            ):
                alert.decide(scores, times, names)
        # A name that comes again on another day is another row.
        assert alert.decide(1e9, MARCH + np.timedelta64(3, "D"), names[0])
        assert alert.left_ == 4


def test_a_name_that_comes_twice_at_once_is_one_row():
    alert = fitted(5)
    with pytest.warns(UserWarning, match="1 rows have the name of another of their day, and another score"):
        assert alert.decide([9.0, -9.0], [MARCH, MARCH], [1, 1]).tolist() == [True, True]
    assert alert.left_ == 4
    # The same row twice, or one that was decided and is scored by another model, is nothing to be told.
    assert alert.decide([8.0, 8.0], [MARCH, MARCH], [1, 1]).tolist() == [True, True]
    next_day = MARCH + np.timedelta64(1, "D")
    assert alert.decide([9.0, 7.0], [MARCH, next_day], [1, 1]).tolist() == [True, True]
    assert alert.left_ == 4


LOOP = """
import sys
from pushrank.monitoring import AlertThreshold
alert = AlertThreshold.open(sys.argv[1])
for line in sys.stdin:
    name, score, time = line.split()
    print(name, int(alert.decide(float(score), time, name)), flush=True)
"""


@pytest.mark.parametrize("n_kills", [1, pytest.param(30, marks=pytest.mark.nightly)])
def test_a_killed_process_loses_nothing_and_spends_nothing_twice(tmp_path, n_kills):
    state = tmp_path / "state.db"
    fitted(5, state).close()
    scores, times = stream(12, 100)
    expected = fitted(5).decide(scores, times)
    lines = [f"{i} {scores[i]} {times[i]}\n" for i in range(len(scores))]
    answers: dict[int, int] = {}
    for n_read in np.random.default_rng(0).integers(10, 50, size=n_kills):
        # The last answers are asked for again, too.
        first = max(len(answers) - 10, 0)
        command = [sys.executable, "-c", LOOP, str(state)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write("".join(lines[first : first + 60]))
            process.stdin.flush()
            for _ in range(n_read):
                name, act = map(int, process.stdout.readline().split())
                assert answers.setdefault(name, act) == act
            # The rows that follow lie in its input: some of them are decided, others not.
            process.kill()
    assert list(answers) == list(range(len(answers)))
    with closing(AlertThreshold.open(state)) as alert:
        rest = slice(len(answers), None)
        act = alert.decide(scores[rest], times[rest], np.arange(len(scores))[rest])
    np.testing.assert_array_equal([*answers.values(), *act], expected)


def test_damaged_states_are_refused_or_hold_the_same_decisions(tmp_path):
    counts = mutations(tmp_path, 60)
    assert not [kind for kind in counts if "OTHER" in kind]
    assert 20 < sum(n for kind, n in counts.items() if "refused" in kind) < 60


@forks
def test_signals_in_decisions_lose_nothing_and_repeat_nothing(tmp_path):
    counts = timers(tmp_path, 24)
    assert counts["SIGALRM in a decision"] + counts["SIGINT in a decision"] == 24
    assert counts["answers other than undisturbed"] == counts["answers other than on disk"] == 0


def test_an_exception_anywhere_in_a_decision_leaves_it_decided_or_not():
    """An exception comes out of every other call and return within decisions, one after the other."""
    scores, times = stream(12, 50)
    expected, alert = fitted(5).decide(scores, times), fitted(5)
    at, is_through = 0, False

    def interrupt(frame, _event, called):
        nonlocal n_events
        n_events += bool(n_events) or frame.f_code.co_name == "_decided"
        # Signals come between calls, never in place of letting go of a lock. What comes out of a generator
        # that is thrown away goes nowhere.
        is_lock = isinstance(getattr(called, "__self__", None), type(Lock()))
        if n_events > at and not is_lock and frame.f_code.co_name != "<genexpr>":
            raise KeyboardInterrupt

    for i in range(len(scores)):
        n_events = 0
        try:
            sys.setprofile(interrupt)
            answer = alert.decide(scores[i], times[i], i)
            sys.setprofile(None)
            is_through, at = True, 0
        except KeyboardInterrupt:
            sys.setprofile(None)
            at += 2
            assert alert.left_ >= 0
            answer = alert.decide(scores[i], times[i], i)
        assert answer == expected[i]
    assert is_through
    np.testing.assert_array_equal(
        [alert.decide(*row, i) for i, row in enumerate(zip(scores, times, strict=True))], expected
    )


@forks
def test_a_full_disk_leaves_what_was_answered(tmp_path):
    counts = full_disks(tmp_path, 2)
    assert counts["stopped by a full disk"] == 2
    assert counts["answers not on disk"] == counts["answers other than undisturbed"] == 0


def test_a_decision_that_finds_no_room_is_none_and_can_be_asked_for_again(tmp_path):
    state = tmp_path / "state.db"
    with closing(fitted(5, state)) as alert:
        alert.decide(3.0, MARCH, "a")
        alert._state._connection.execute("PRAGMA max_page_count = 1")
        for day in (0, 1):
            with pytest.raises(OSError, match=r"No space left on device: .*state\.db"):
                alert.decide([3.0] * 200, [MARCH + np.timedelta64(day, "D")] * 200, np.arange(200))
            assert (alert.left_, decisions(alert._state)) == (4, {"a": True})
        alert._state._connection.execute("PRAGMA max_page_count = 1000")
        assert alert.decide([3.0] * 200, [MARCH] * 200, np.arange(200)).sum() == 4
    assert sum(on_disk(state).values()) == 5


def test_a_state_with_more_alerts_than_its_budget_is_refused(tmp_path):
    state = tmp_path / "state.db"
    with closing(fitted(2, state)) as alert:
        start = alert._start
        alert._state.append([(start, [f"{i}", start, 1.0, True, 0.0]) for i in range(3)])
    with pytest.raises(ValueError, match=r"state\.db holds 3 alerts of a budget of 2 a day"):
        AlertThreshold.open(state)


def test_threads_share_the_budget(tmp_path):
    answers = []
    with closing(fitted(5, tmp_path / "state.db")) as alert:
        work = [
            Thread(target=lambda i=i: answers.append(alert.decide(50.0 + i, MARCH, i))) for i in range(20)
        ]
        for thread in work:
            thread.start()
            assert 0 <= alert.left_ <= 5
        for thread in work:
            thread.join()
    assert (len(answers), sum(answers)) == (20, 5)
    assert sum(on_disk(tmp_path / "state.db").values()) == 5


@forks
def test_a_fork_is_refused_and_the_first_process_goes_on(tmp_path):
    def decides():
        with pytest.raises(RuntimeError, match="fork"):
            alert.decide(9.0, MARCH, "fork")

    for state in (None, tmp_path / "state.db"):
        with closing(fitted(2, state)) as alert:
            for name in ("a", "b", "c"):
                assert run_child(decides) == 0
                assert alert.decide(50.0, MARCH, name) == (name != "c")


@pytest.mark.parametrize("copies", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_that_would_spend_the_budget_again_is_refused(copies):
    with pytest.raises(TypeError, match="each copy of an alert threshold would spend its budget"):
        copies(fitted())


@pytest.mark.parametrize("late", ["2062-03-01 10:00", "2027-12-01", "9999-12-31", "2026-05-25"])
def test_a_row_far_ahead_of_the_clock_is_refused_and_harms_nothing(monkeypatch, late):
    now = MARCH + np.timedelta64(9, "h")
    monkeypatch.setattr(
        "pushrank.monitoring.alerts.time_ns", lambda: int(now.astype("datetime64[ns]").astype(int))
    )
    with closing(fitted()) as alert:
        for times in (late, [now, late], [late, now]):
            row = r"row 0 is of" if times == late or times[0] == late else r"row 1 is of"
            with pytest.raises(
                ValueError, match=rf"{row} .*ahead of this machine's clock, and skips .* days"
            ):
                alert.decide(np.zeros(np.shape(times)), times)
        with pytest.raises(ValueError, match="ahead of this machine"):
            AlertThreshold(3).fit(np.r_[past_scores(), 0.0], [*PAST, np.datetime64(late)])
        # After a pause, in a zone that is ahead, and the next periods in their order.
        for days in (0, 1, 2, 3):
            alert.decide(0.0, MARCH + np.timedelta64(24 * days + 23, "h"))
        alert.n_ahead = 10**7
        alert.decide(0.0, late)
    # Neither old rows, nor those of a simulation, are measured by the clock.
    now += np.timedelta64(400, "D")
    with closing(fitted()) as alert:
        alert.decide([0.0, 0.0], ["2026-03-01", "2027-04-05"])
    now -= np.timedelta64(3000, "D")
    with closing(fitted()) as alert:
        alert.decide([0.0, 0.0], ["2026-03-01", "2026-04-30"])
        with pytest.raises(ValueError, match=r"and skips 13,0.. days"):
            alert.decide(0.0, "2062-03-01 10:00")


def test_an_empty_batch_has_empty_answers():
    alert = fitted()
    for rows in (([], []), ([], [], []), (np.empty(0), np.empty(0, dtype="datetime64[s]"), np.empty(0))):
        assert [part.tolist() for part in alert.decide(*rows, return_threshold=True)] == [[], []]
    with pytest.raises(ValueError, match="each of the 0 rows"):
        alert.decide([], [MARCH])
    with pytest.raises(ValueError, match="each of the 0 rows, got 1"):
        alert.decide([], [], ["a"])


def test_what_is_kept_of_past_periods_takes_as_much_room_from_then_on(tmp_path):
    state, sizes = tmp_path / "state.db", []
    scores, times = stream(30, 40)
    with closing(fitted(5, state, n_kept=4)) as alert:
        for day in range(30):
            rows = times.astype("datetime64[D]") == MARCH.astype("datetime64[D]") + np.timedelta64(day, "D")
            alert.decide(scores[rows], times[rows], np.flatnonzero(rows))
            sizes.append(state.stat().st_size)
        assert len(alert._answers) <= 2
    assert sizes[-1] <= 1.1 * sizes[8]
    assert len(on_disk(state)) == np.sum(times >= MARCH + np.timedelta64(25, "D"))


def test_a_second_process_is_kept_out(tmp_path, monkeypatch):
    monkeypatch.setattr("pushrank.monitoring.state.SECONDS", 0.0)
    with closing(fitted(5, tmp_path / "state.db")):
        with pytest.raises(BlockingIOError, match="another process decides by this state"):
            AlertThreshold.open(tmp_path / "state.db")
        with pytest.raises(BlockingIOError, match="another process"):
            fitted(5, tmp_path / "state.db")
    AlertThreshold.open(tmp_path / "state.db").close()
    with pytest.raises(FileNotFoundError):
        AlertThreshold.open(tmp_path / "other.db")
    assert [path.name for path in tmp_path.iterdir()] == ["state.db"]


def test_a_state_is_the_same_by_any_of_its_names(tmp_path, monkeypatch):
    monkeypatch.setattr("pushrank.monitoring.state.SECONDS", 0.0)
    (tmp_path / "link.db").symlink_to("state.db")
    monkeypatch.chdir(tmp_path)
    with closing(fitted(5, "link.db")) as alert:
        with pytest.raises(BlockingIOError, match="another process"):
            AlertThreshold.open("state.db")
        monkeypatch.chdir("/")
        # A new day is written where the file was.
        assert alert.decide(99.0, MARCH + np.timedelta64(1, "D"), "a")
    with closing(AlertThreshold.open(tmp_path / "state.db")) as alert:
        assert alert.left_ == 4
        assert alert.decide(-99.0, MARCH + np.timedelta64(1, "D"), "a")
    assert (tmp_path / "link.db").is_symlink()


def test_a_budget_beyond_all_rows_takes_them_and_costs_no_more():
    scores, times = stream(3, 50)
    alert = fitted(10**11)
    # Past days had 24 rows.
    assert len(alert._look_back(0)[1]) == 25
    assert alert.decide(scores, times).all()
    # One that is just large enough is that of the longest day.
    for n in (24, 25):
        assert fitted(n).threshold_ == -np.inf
    assert fitted(23).decide(scores, times).sum() == 3 * 23


@forks
def test_the_answer_is_on_disk_before_it_is_given(tmp_path):
    """A process that dies at once, without closing anything, has kept its answers."""
    state = tmp_path / "state.db"
    fitted(5, state).close()

    def dies():
        alert = AlertThreshold.open(state)
        for day, name in enumerate("ab"):
            alert.decide(99.0, MARCH + np.timedelta64(day, "D"), name)
        os.kill(os.getpid(), signal.SIGKILL)

    assert run_child(dies) == -signal.SIGKILL
    assert on_disk(state) == {"a": True, "b": True}
    with closing(AlertThreshold.open(state)) as alert:
        assert alert.left_ == 4
    with pytest.raises(RuntimeError, match="was closed"):
        alert.decide(3.0, MARCH)


def test_work_is_additions_within_a_cell(monkeypatch):
    """A look at the past when the clock enters another cell, whatever the number of rows."""
    looks = []
    original = AlertThreshold._look_back
    monkeypatch.setattr(
        AlertThreshold, "_look_back", lambda self, cell: looks.append(cell) or original(self, cell)
    )
    for per_day in (100, 1600):
        looks.clear()
        fitted(2000).decide(*stream(1, per_day))
        assert len(looks) <= CELLS["day"][1]
    # What is kept of a period grows with the logarithm of its rows.
    scores, times = stream(2, 5000, storms=0.0)
    alert = AlertThreshold(10).fit(scores, times)
    assert max(len(past.scores) for past in alert._past) <= 10 * (1 + np.log(500)) * 1.6


def test_times_with_a_zone_are_in_its_calendar():
    import pandas as pd

    times = pd.Series(pd.to_datetime(PAST)).dt.tz_localize("America/New_York")
    alert = AlertThreshold(3).fit(past_scores(), times)
    assert alert._start == MARCH.astype("datetime64[us]").astype(np.int64)
    late = pd.Series(pd.to_datetime(["2026-03-01 23:30"])).dt.tz_localize("America/New_York")
    assert alert.decide([99.0], late)
    # A row by itself is of the same day.
    for moment in (late[0], late[0].to_pydatetime(), late[0].isoformat()):
        alert.decide(-99.0, moment)
        assert alert._start == MARCH.astype("datetime64[us]").astype(np.int64)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: AlertThreshold(0), ValueError, "n must be"),
        (lambda: AlertThreshold("3/day"), TypeError, "n must be an integer"),
        (lambda: AlertThreshold(Budget(3, "batch")), ValueError, "got one a batch"),
        (lambda: AlertThreshold(3).decide(1.0, MARCH), RuntimeError, "not fitted"),
        (lambda: AlertThreshold(3).fit([1.0, 2.0], PAST[:2]), ValueError, "two whole periods, got one day"),
        (lambda: AlertThreshold(3).fit([1.0, np.nan], PAST[[0, 30]]), ValueError, "found nan in row 1"),
        (lambda: fitted().decide([1.0], MARCH + np.arange(2)), ValueError, "each of the 1 rows"),
        (lambda: fitted().decide([1.0, 2.0], [MARCH, MARCH], ["a"]), ValueError, "each of the 2 rows, got 1"),
        (lambda: fitted().decide([1.0] * 2, [MARCH] * 2, ["a", np.nan]), ValueError, "missing in row 1"),
        (lambda: fitted().decide(1.0, MARCH, float("nan")), ValueError, "row_id is missing in row 0"),
        (
            lambda: fitted().decide([1.0] * 2, [MARCH] * 2, ["a", None]),
            ValueError,
            "row_id is missing in row 1",
        ),
        (lambda: fitted().decide([1.0], [MARCH], [None]), ValueError, "row_id is missing in row 0"),
        (lambda: fitted().decide([1.0], [MARCH], iter([None])), ValueError, "row_id is missing in row 0"),
        (
            lambda: fitted().decide([1.0], [MARCH], np.ma.array([1], mask=[1])),
            ValueError,
            "row_id is a masked",
        ),
        (lambda: fitted().decide(1.0, MARCH, group="a"), ValueError, "group and at_most go together"),
        (lambda: fitted(at_most=2), ValueError, "group and at_most go together"),
        (lambda: AlertThreshold(3, n_kept=0), ValueError, "n_kept must be"),
        (lambda: AlertThreshold(3, n_kept=1.5), TypeError, "n_kept must be"),
        (lambda: fitted().decide(1.0, 7), ValueError, "needs dates"),
        (lambda: fitted().decide(np.inf, MARCH), ValueError, "finite, found inf in row 0"),
        (lambda: fitted().decide(1.0, PAST[-1]), ValueError, "row 0 .None. is of a day that ended before"),
    ],
)
def test_what_cannot_be_decided_is_told(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.fixture
def secrets(monkeypatch):
    """Make secrets that are the same in every run."""
    made = map(str, itertools.count())
    monkeypatch.setattr("pushrank.monitoring.alerts.token_hex", lambda: next(made))


@pytest.mark.usefixtures("secrets")
def test_an_audit_draws_rows_below_the_threshold_and_leaves_the_list_as_it_is(tmp_path):
    scores, times = stream(120, 80)
    names = np.arange(len(scores))
    alert = fitted(8, tmp_path / "s.db", audit=3)
    act, threshold, acted = alert.decide(scores, times, names, return_threshold=True, return_acted=True)
    listed, limits = fitted(5).decide(scores, times, names, return_threshold=True)
    np.testing.assert_array_equal(acted == "list", listed)
    np.testing.assert_array_equal(threshold, limits)
    np.testing.assert_array_equal(act, acted != "")
    assert (scores[acted == "audit"] < threshold[acted == "audit"]).all()
    # Past days have 24 rows, of which 19 are below; the draws are independent.
    assert alert.chance_ == 3 / 19
    below = acted[~listed] == "audit"
    assert binomtest(int(below.sum()), len(below), 3 / 19).pvalue > 1e-3
    assert spent(Budget(8), act, times)[0].max() > 8
    # Rows that are asked again keep their answers, whatever they score and from whatever process.
    recent = names >= names[-1] - 300
    for _ in range(2):
        again = alert.decide(scores[recent] + 9.0, times[recent], names[recent], return_acted=True)
        np.testing.assert_array_equal(again[1], acted[recent])
        alert.close()
        alert = AlertThreshold.open(tmp_path / "s.db")
    assert (alert.audit, alert.chance_) == (3, 3 / 19)
    one = alert.decide(-9.0, times[-1] + np.timedelta64(1, "s"), "new", return_acted=True)
    assert alert.decide(99.0, times[-1] + np.timedelta64(2, "s"), "new", return_acted=True) == one
    assert one[0] == (one[1] == "audit")
    alert.close()


def calm_days(state=None):
    """Return a threshold of days that are alike, which scores of -9 do not lower."""
    calm = np.random.default_rng(0).normal(size=len(PAST))
    return AlertThreshold(8, state, audit=3).fit(calm, PAST)


@pytest.mark.usefixtures("secrets")
def test_another_fit_draws_other_rows_and_rows_of_one_moment_have_draws_of_their_own():
    scores, times = np.full(57, -9.0), np.repeat(MARCH + np.timedelta64(12, "h"), 57)
    drawn = [[calm_days().decide(scores, times, ids) for _ in range(40)] for ids in (None, np.arange(57))]
    for acts in drawn:
        assert binomtest(int(np.sum(acts)), 40 * 57, 3 / 19).pvalue > 1e-3
        assert (acts[0] != acts[1]).any()
    # A chance of one, as of rows that were acted on alone, would act on a whole day of many.
    with pytest.raises(
        ValueError, match=r"an audit of 20 would draw every row: the days passed have 1\d rows"
    ):
        fitted(30, audit=20)
    with pytest.raises(ValueError, match="audit must be >= 0 and <= 7"):
        AlertThreshold(8, audit=8)


@pytest.mark.usefixtures("secrets")
def test_a_day_of_very_many_rows_is_drawn_from_with_chances_that_are_bounded_and_known(tmp_path):
    """Past days have 24 rows, of which 19 are below: from the 58th on chances fall; at most 18 are drawn."""
    n, noon = 1500, MARCH + np.timedelta64(12, "h")
    times = noon + np.arange(n).astype("timedelta64[s]")
    answers = []
    for _ in range(20):
        asked = {"return_acted": True, "return_chance": True}
        answers.append(calm_days().decide(np.full(n, -9.0), times, **asked)[1:])
    drawn, chance = np.array([acted == "audit" for acted, _ in answers]), answers[0][1]
    np.testing.assert_allclose(chance[:57], 3 / 19, rtol=1e-15)
    np.testing.assert_allclose(chance[57:], 3 / 19 * (57 / np.arange(58, n + 1)) ** 2, rtol=1e-12)
    assert 17.5 < chance.sum() < 18
    # The sum of independent draws: its mean over twenty days is within four standard errors.
    assert abs(drawn.sum(axis=1).mean() - chance.sum()) < 4.0 * np.sqrt(chance.sum() / 20)
    # A chance is kept with its row, and one on the list has the chance 1.
    with closing(calm_days(tmp_path / "s.db")) as alert:
        asked = np.r_[9.0, np.full(n, -9.0)], np.r_[noon, times], np.arange(n + 1)
        whole = alert.decide(*asked, return_acted=True, return_chance=True)
    assert whole[2][0] == 1.0
    with closing(AlertThreshold.open(tmp_path / "s.db")) as alert:
        again = alert.decide(*(part[-9:] for part in asked), return_acted=True, return_chance=True)
        np.testing.assert_array_equal(again, [part[-9:] for part in whole])


SECONDS = {
    "no times": lambda _, n: np.zeros(n),
    "one moment, another every day": lambda rng, n: np.full(n, rng.integers(86400)),
    "nearly all at one moment": lambda rng, n: np.where(np.arange(n) < n - 3, 0, rng.integers(86400, size=n)),
    "two moments": lambda rng, n: rng.choice([28800, 57600], n),
    "a burst": lambda rng, n: 120 + rng.integers(600, size=n),
    "office hours": lambda rng, n: rng.integers(28800, 61200, size=n),
}


@pytest.mark.parametrize("seconds", SECONDS.values(), ids=SECONDS)
def test_rows_of_one_moment_are_decided_together_best_first(seconds, tmp_path):
    rng = np.random.default_rng(7)
    days = np.repeat(np.arange(40), 60)
    moments = np.concatenate([seconds(rng, 60) for _ in range(40)])
    times = MARCH + (days * 86400 + moments).astype("timedelta64[s]")
    scores, past = rng.normal(size=len(days)), days < 30
    with closing(AlertThreshold(5, tmp_path / "s.db").fit(scores[past], times[past])) as alert:
        act = alert.decide(scores[~past], times[~past], np.flatnonzero(~past))
        whole = alert.comes_whole_
    codes = days[~past] - 30
    best = Budget(5).periods(times[~past]).first(np.argsort(-scores[~past]), 5)
    assert np.bincount(codes, act).max() <= 5
    if whole:
        np.testing.assert_array_equal(act, best)
    # Of what the best rows exceed the mean by, bursts and office hours lose what the end of a day decides.
    assert (
        scores[~past][act].sum()
        > {"a burst": 0.85, "office hours": 0.85}.get(
            next(name for name, of in SECONDS.items() if of is seconds), 0.97
        )
        * scores[~past][best].sum()
    )
    # Day after day, and by another process, the answers are the same, in whatever order the file has.
    with closing(AlertThreshold(5, tmp_path / "t.db").fit(scores[past], times[past])):
        pass
    for day in range(10):
        rows = rng.permutation(np.flatnonzero(codes == day))
        with closing(AlertThreshold.open(tmp_path / "t.db")) as alert:
            assert alert.comes_whole_ == whole
            np.testing.assert_array_equal(
                alert.decide(scores[~past][rows], times[~past][rows], rows), act[rows]
            )


@pytest.mark.parametrize("scale", [2.0**990, 2.0**520, 2.0**-1000])
def test_scores_of_any_size_have_the_answers_of_their_order(scale):
    scores, times = stream(3, 100)
    expected, limits = fitted(5).decide(scores, times, return_threshold=True)
    alert = AlertThreshold(5).fit(past_scores() * scale, PAST)
    act, threshold = alert.decide(scores * scale, times, return_threshold=True)
    np.testing.assert_array_equal(act, expected)
    np.testing.assert_array_equal(threshold, limits * scale)


@pytest.mark.parametrize("is_whole", [lambda day: day % 2, lambda day: day % 7 > 4, lambda day: day < 40])
def test_days_that_come_whole_teach_nothing_of_the_clock(is_whole):
    """Days without times among others with times: both find what they would find alone."""
    rng, days = np.random.default_rng(3), np.repeat(np.arange(100), 40)
    seconds = np.sort(rng.integers(86400, size=(100, 40)), axis=1).ravel()
    whole, scores = np.array([bool(is_whole(day)) for day in days]), rng.normal(size=len(days))
    times = MARCH + (days * 86400 + np.where(whole, 0, seconds)).astype("timedelta64[s]")
    past = days < 60
    alert = AlertThreshold(5).fit(scores[past], times[past])
    assert not alert.comes_whole_
    act = alert.decide(scores[~past], times[~past])
    best = Budget(5).periods(times[~past]).first(np.argsort(-scores[~past]), 5)
    assert np.bincount(days[~past], act).max() <= 5
    new, came_whole = scores[~past], whole[~past]
    np.testing.assert_array_equal(act[came_whole], best[came_whole])
    assert new[act & ~came_whole].sum() > 0.85 * new[best & ~came_whole].sum()


def test_a_fit_that_is_refused_leaves_what_was_fitted():
    alert = AlertThreshold(3).fit(past_scores(), PAST)
    days = np.repeat(["2026-01-01", "2026-01-02"], 30)
    with pytest.raises(ValueError, match="ahead of this machine's clock"):
        alert.fit(np.arange(61.0), [*days, "2162-01-01"])
    assert not alert.comes_whole_
    assert alert.decide(9.0, MARCH)


def test_rows_that_come_after_their_whole_day_are_told():
    days = np.repeat(PAST[::24], 24)
    alert = AlertThreshold(3).fit(past_scores(), days)
    assert alert.comes_whole_
    day = [MARCH + np.timedelta64(9, "h")] * 4
    assert alert.decide([1.0, 4.0, 2.0, 3.0], day, range(4)).tolist() == [False, True, True, True]
    # A file that is asked for again has no new rows.
    assert alert.decide([4.0, 2.0], day[:2], [1, 2]).tolist() == [True, True]
    with pytest.warns(UserWarning, match="2 rows come after 4 of their day were decided as the whole of it"):
        assert alert.decide([9.0, 8.0], day[:2], [7, 8]).tolist() == [False, False]
    # On the next day the rows of all its times are one list.
    later = MARCH + np.array([30, 40, 47]).astype("timedelta64[h]")
    assert alert.decide([1.0, 2.0, 3.0], later).all()


@pytest.mark.parametrize(
    ("per_moment", "n", "whole"),
    # Days that the budget can act on whole say nothing.
    [(24, 3, True), (24, 30, False), (1, 3, False), (12, 3, False), (22, 3, True), (21, 3, False)],
)
def test_which_days_come_whole_is_counted(per_moment, n, whole):
    hour = np.arange(24)
    day = np.where(hour < per_moment, 0, hour) if per_moment > 12 else hour // per_moment * per_moment
    times = np.datetime64("2026-01-01T07", "h") + (np.arange(60)[:, None] * 24 + day // 2).ravel()
    assert AlertThreshold(n).fit(np.arange(60 * 24.0), times).comes_whole_ == whole


EASTERN = pd.Series(pd.date_range("2026-01-01", "2026-03-31", freq="h", tz="US/Eastern"))


@pytest.mark.parametrize(
    "other",
    [
        lambda times: times.dt.tz_convert("UTC"),
        lambda times: pd.DatetimeIndex(times.dt.tz_convert("Asia/Kathmandu")),
        lambda times: times.map(lambda moment: moment.isoformat()).to_numpy(),
        lambda times: times.dt.tz_convert("UTC").dt.strftime("%Y-%m-%d %H:%M:%SZ").tolist(),
        lambda times: times.astype("timestamp[us, tz=UTC][pyarrow]").dt.tz_convert("Europe/Berlin"),
    ],
)
def test_a_state_keeps_its_zone_and_converts_others(other, tmp_path):
    """The days of Eastern time, over the beginning of its summer time, whatever zone the rows come in."""
    scores, is_past = np.random.default_rng(0).normal(size=len(EASTERN)), EASTERN < "2026-03-01"
    new = ~is_past.to_numpy()
    alone = AlertThreshold(3).fit(scores[is_past], EASTERN[is_past])
    expected = alone.decide(scores[new], EASTERN[new])
    with closing(AlertThreshold(3, tmp_path / "s.db").fit(scores[is_past], EASTERN[is_past])):
        pass
    with closing(AlertThreshold.open(tmp_path / "s.db")) as alert:
        np.testing.assert_array_equal(alert.decide(scores[new], other(EASTERN[new])), expected)
        with pytest.raises(ValueError, match="row 0 has no zone, and the others have the zone US/East"):
            alert.decide(0.0, "2026-03-31 10:00")
    plain = fitted()
    with pytest.raises(ValueError, match=r"row 0 has the zone of \+9 hours, and the others have none"):
        plain.decide([0.0], ["2026-03-02T10:00+09:00"])
    with pytest.raises(ValueError, match="row 1 has no zone, and the others have the zone -05:00"):
        AlertThreshold(3).fit([1.0, 2.0], ["2026-03-01T10:00-05:00", "2026-03-02T10:00"])


def test_a_state_knows_the_model_whose_scores_it_holds(tmp_path):
    alert = AlertThreshold(3, tmp_path / "s.db")
    alert.model = "of one"
    alert.fit(past_scores(), PAST).close()
    for model in ("", "of one"):
        with closing(AlertThreshold.open(tmp_path / "s.db", model)) as opened:
            assert opened.model == "of one"
    with pytest.raises(ValueError, match=r"s.db was begun by the scores of another model"):
        AlertThreshold.open(tmp_path / "s.db", "of another")
    # One that was begun without a model's name takes any.
    fitted(3, tmp_path / "t.db").close()
    AlertThreshold.open(tmp_path / "t.db", "of another").close()


@pytest.mark.usefixtures("secrets")
def test_no_customer_has_more_than_its_number_on_the_list_and_what_was_refused_is_learnt(tmp_path):
    (scores, times), path = stream(30, 40), tmp_path / "s.db"
    # A column of whole numbers that has gaps holds floats; a group that is missing is no group.
    before, groups = (np.random.default_rng(5).choice([1, 2, 3, np.nan], n) for n in (len(PAST), len(scores)))
    alert = AlertThreshold(8, path, audit=3, at_most=1).fit(past_scores(), PAST, before)
    answers = []
    for rows in np.array_split(np.arange(len(scores)), 9):
        given = scores[rows], times[rows], rows
        answers += alert.decide(*given, group=groups[rows], return_acted=True)[1].tolist()
        alert.close()
        alert = AlertThreshold.open(path)
        texts = np.where(np.isnan(groups[rows]), "", np.nan_to_num(groups[rows]).astype(int).astype(str))
        assert alert.decide(*given, group=texts, return_acted=True)[1].tolist() == answers[-len(rows) :]
    listed, days = np.array(answers) == "list", times.astype("datetime64[D]").astype(int)
    assert [np.bincount(days[listed & (groups == of)]).max() for of in (1, 2, 3)] == [1, 1, 1]
    assert np.bincount(days[listed & np.isnan(groups)]).max() > 1
    # Rows that a group has no room for leave the budget to others, and are drawn as others are.
    assert listed.sum() > 0.85 * 30 * 5
    assert binomtest(answers.count("audit"), int((~listed).sum()), alert.chance_).pvalue > 1e-3
    # What is learnt is what came, as at the fit, and not what was acted on.
    alert.decide(0.0, times[-1] + np.timedelta64(1, "D"), group="")
    learnt = AlertThreshold(8, audit=3, at_most=1).fit(scores, times, groups)
    assert [of.scores.tolist() for of in alert._past[-30:]] == [of.scores.tolist() for of in learnt._past]
    alert.close()


def test_a_state_from_before_limits_on_groups_opens(tmp_path):
    alert = fitted()
    alert.decide([9.0, -9.0], [MARCH, MARCH], ["a", "b"])
    facts = {name: fact for name, fact in alert._facts().items() if name != "at_most"}
    with closing(State(tmp_path / "s.db", KIND, facts)) as state:
        state.append([(alert._start, row[:5]) for row in alert._current])
    with closing(AlertThreshold.open(tmp_path / "s.db")) as opened:
        assert opened.decide([0.0, 0.0], [MARCH, MARCH], ["a", "b"]).tolist() == [True, False]
