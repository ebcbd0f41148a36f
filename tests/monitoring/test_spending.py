"""Calls that move between days, by a state: parts, missed days, kills, other models, and what is refused."""

import os
import signal
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from pushrank.budgets import Budget
from pushrank.monitoring import MovingList
from pushrank.moving import replayed, span_of

pytestmark = pytest.mark.fast

FIRST = np.datetime64("2026-03-02")
WEEK = Budget(21, "week", daily_cap=6)


def stream(n_days, seed=0, n=20):
    """Return the scores and labels of days, whose levels differ, of n rows each."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_days, n)) + rng.normal(size=(n_days, 1))
    return scores, rng.random((n_days, n)) < 1.0 / (1.0 + np.exp(1.0 - scores))


def names_of(day, n=20):
    return np.array([f"{day}-{row}" for row in range(n)])


def act(calls, scores, day, rows=slice(None), date=None):
    names = names_of(day, len(scores))
    return calls.choose(scores[rows], FIRST + (day if date is None else date), names[rows])


@pytest.mark.parametrize("budget", [WEEK, Budget(90, "month", 6), Budget(21, "week", 6, 1)])
def test_whole_days_are_those_of_the_rule(tmp_path, budget):
    """Labels come the day after, and the file is opened anew every day."""
    scores, hits = stream(60)
    days = Budget(1).periods(np.repeat(FIRST + np.arange(60), 20))
    expected = replayed(scores.ravel(), hits.ravel(), days, budget)[1]
    MovingList(budget, tmp_path / "calls.db").close()
    for day in range(60):
        with closing(MovingList.open(tmp_path / "calls.db")) as calls:
            chosen = act(calls, scores[day], day)
            assert act(calls, scores[day], day).tolist() == chosen.tolist()
            assert chosen.sum() == expected[day] == calls.facts["calls"]
            assert not chosen.any() or scores[day][chosen].min() >= scores[day][~chosen].max()
            calls.label(hits[day][chosen], FIRST + day, names_of(day)[chosen])


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_spent_twice_or_beyond_cap_and_budget(seed):
    """Days are missed, come in parts of any order, again, without rows, and by other models."""
    rng = np.random.default_rng(seed)
    calls, spent, n_days = MovingList(WEEK), {}, 70
    scores, hits = stream(n_days, seed)
    for day in range(n_days):
        if rng.random() < 0.2:
            continue
        answers = {}
        parts = np.array_split(rng.permutation(20), rng.integers(1, 4))
        for rows in [*parts, parts[0], np.arange(0)]:
            for row, chosen in (
                zip(rows, act(calls, scores[day], day, [*rows]), strict=True) if len(rows) else ()
            ):
                assert answers.setdefault(row, chosen) == chosen
        acted = [row for row, chosen in answers.items() if chosen]
        assert calls.facts["calls"] == len(acted) <= 6
        spent.setdefault(span_of(WEEK, FIRST + day)[0], []).append(len(acted))
        assert calls.facts["left"] <= 21 - sum(spent[span_of(WEEK, FIRST + day)[0]])
        assert act(calls, scores[day], day).tolist() == [answers[row] for row in range(20)]
        calls.label(hits[day][acted], FIRST + day, names_of(day)[acted])
        if rng.random() < 0.1:
            calls.model = f"model {day}"
            past = slice(max(0, day - 28), day + 1)
            dates = np.repeat(FIRST + np.arange(past.start, past.stop), 20)
            calls.fit(3.0 * scores[past].ravel(), dates, np.ravel([*map(names_of, range(n_days)[past])]))
    assert max(map(sum, spent.values())) <= 21


def test_the_words_say_what_is_left_and_that_the_last_day_spends_it():
    calls = MovingList(WEEK)
    assert calls.words == "No calls so far (21 a week, at most 6 a day)."
    scores = stream(1)[0][0]
    assert act(calls, scores, 0, slice(0)).tolist() == []
    assert act(calls, scores, 0).sum() == 3
    assert calls.words == "Today 3 calls (18 left for 6 days, at most 6 a day)."
    assert act(calls, scores, 1, date=5).sum() == 6
    assert calls.words == "Today 6 calls (12 left for 1 day, at most 6 a day)."
    assert act(calls, scores, 2, date=6).sum() == 6
    assert calls.words == "Today 6 calls, on the last day of the week (6 left over, at most 6 a day)."
    assert act(calls, scores, 3, date=7).sum() == 3
    assert calls.facts == {
        "budget": "21/week,6/day", "date": "2026-03-09", "calls": 3, "left": 18, "days_left": 6
    }  # fmt: skip


def test_probabilities_count_by_their_logits():
    scores = stream(40)[0]
    lists = MovingList(WEEK), MovingList(WEEK)
    for day in range(40):
        logits, chances = act(lists[0], scores[day], day), act(lists[1], 1 / (1 + np.exp(-scores[day])), day)
        np.testing.assert_array_equal(logits, chances)


def test_another_model_begins_a_new_span_by_the_past_that_it_scores(tmp_path):
    scores, hits = stream(40)
    file = tmp_path / "calls.db"
    dates, names = np.repeat(FIRST + np.arange(30), 20), np.ravel([*map(names_of, range(30))])
    with closing(
        MovingList(WEEK, file, model="a").fit(scores[:30].ravel(), dates, names, hits[:30].ravel())
    ) as calls:
        # 2026-04-01 is a Wednesday: five of seven days are left of the week.
        assert act(calls, scores[30], 30).sum() + calls.facts["left"] == 15
        chosen = act(calls, scores[31], 31)
        calls.label([1], FIRST + 31, [names_of(31)[np.argmax(chosen)]])
        left = calls.facts["left"]
    with pytest.raises(ValueError, match="begun by the scores of another model"):
        MovingList.open(file, "b")
    with closing(MovingList.open(file)) as calls:
        calls.model = "b"
        dates, names = np.repeat(FIRST + np.arange(4, 32), 20), np.ravel([*map(names_of, range(4, 32))])
        calls.fit(100.0 * scores[4:32].ravel(), dates, names)
        assert calls.words == "No calls so far (21 a week, at most 6 a day)."
    with closing(MovingList.open(file, "b")) as calls:
        # A list that was given stays, and new rows of its day come too late.
        np.testing.assert_array_equal(act(calls, scores[31], 31), chosen)
        with pytest.raises(ValueError, match="2026-04-02, which is over"):
            calls.choose([9.0], FIRST + 31, ["new"])
        days = calls._facts()["days"]
        assert len(days) == 28
        acted = {name: hit for _, of in days.values() for name, (_, hit) in of.items()}
        assert len(acted) >= chosen.sum()
        assert 1.0 in acted.values()
        assert act(calls, 100.0 * scores[32], 32).sum() + calls.facts["left"] == min(left, 9)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda calls: calls.choose([1.0, 2.0], [FIRST, FIRST + 1], "ab"), "of 2 days, 2026-03-02 to"),
        (lambda calls: calls.choose([1.0, 2.0], FIRST + 9, "aa"), "name comes twice"),
        (lambda calls: calls.choose([1.0], FIRST, "z"), "'z'.* is of 2026-03-02, which is over"),
        (lambda calls: calls.choose([np.nan], FIRST + 9, "a"), "score"),
        (lambda calls: calls.choose([1.0], "2999-01-01", "a"), "ahead of this machine's clock"),
        (lambda calls: calls.choose([1.0], "2026-03-11T08:00+01:00", "a"), "zone"),
        (lambda calls: calls.choose([1.0], 12, "a"), "needs dates"),
        (lambda calls: calls.label([1], FIRST, ["0-0"]), "'0-0'.* was not acted on"),
        (lambda calls: calls.label([1], FIRST + 1, ["?"]), "was not acted on"),
        (lambda calls: calls.label([0, 1], [FIRST] * 2, ["0-1"] * 2), "has another label, 0, already"),
        (lambda calls: calls.label([2], FIRST, ["0-1"]), "0, 1 or NaN"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_changes_nothing(change, why):
    calls = MovingList(WEEK)
    act(calls, np.arange(5.0)[[0, 4, 1, 2, 3]], 0)
    act(calls, np.arange(5.0), 1)
    before = calls._facts()
    with pytest.raises(ValueError, match=why):
        change(calls)
    assert calls._facts() == before


def test_labels_may_come_again_late_or_not_yet():
    calls = MovingList(WEEK)
    chosen = names_of(0, 5)[act(calls, np.arange(5.0), 0)]
    calls.label([np.nan, 1.0, 0.0], FIRST, chosen).label([1.0, 1.0, 0.0], [FIRST] * 3, chosen)
    assert [hit for _, hit in calls._facts()["days"]["2026-03-02"][1].values()] == [0.0, 1.0, 1.0]
    act(calls, np.arange(5.0), 1, date=90)
    # The first day is forgotten.
    calls.label([0.0], FIRST, chosen[:1])
    assert list(calls._facts()["days"]) == ["2026-05-31"]


@pytest.mark.parametrize("budget", [Budget(30), Budget(210, "week"), 30, None])
def test_a_budget_that_does_not_move_is_refused(budget):
    with pytest.raises(ValueError, match="budget must move"):
        MovingList(budget)


LOOP = """
import sys
import numpy as np
from pushrank.monitoring import MovingList
calls = MovingList.open(sys.argv[1])
for line in sys.stdin:
    day, part = map(int, line.split())
    scores = np.random.default_rng(day).normal(size=20) + day % 3
    rows = range(10 * part, 10 * part + 10)
    acted = calls.choose(scores[rows], np.datetime64("2026-03-02") + day, [f"{day}-{row}" for row in rows])
    print(day, part, *acted.astype(int), flush=True)
"""


def test_a_killed_process_loses_nothing_and_spends_nothing_twice(tmp_path):
    file, answers = tmp_path / "calls.db", {}
    MovingList(WEEK, file).close()
    asked = [(day, part) for day in range(35) for part in (0, 1)]
    for n_read in (15, 20, 7):
        first = max(len(answers) - 5, 0)
        command = [sys.executable, "-c", LOOP, str(file)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write("".join(f"{day} {part}\n" for day, part in asked[first : first + 30]))
            process.stdin.flush()
            for _ in range(n_read):
                day, part, *acted = map(int, process.stdout.readline().split())
                assert answers.setdefault((day, part), acted) == acted
            # The parts that follow lie in its input: some of them are decided, others not.
            os.kill(process.pid, signal.SIGKILL)
    whole = MovingList(WEEK)
    with closing(MovingList.open(file)) as calls:
        for day, part in asked:
            scores, rows = (
                np.random.default_rng(day).normal(size=20) + day % 3,
                slice(10 * part, 10 * part + 10),
            )
            expected = act(whole, scores, day, rows)
            if (day, part) in answers:
                assert answers[day, part] == expected.tolist()
            else:
                np.testing.assert_array_equal(act(calls, scores, day, rows), expected)


def test_another_process_waits_and_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("pushrank.monitoring.state.SECONDS", 0.1)
    with (
        closing(MovingList(WEEK, tmp_path / "calls.db")),
        pytest.raises(BlockingIOError, match="another process"),
    ):
        MovingList.open(tmp_path / "calls.db")
