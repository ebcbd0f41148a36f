"""The duel of two models inside one budget: who owns a row, what hits are credited to, and what is said."""

import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from pushrank.budgets import Budget
from pushrank.monitoring import AlertThreshold
from pushrank.monitoring.audits import draw_audit
from pushrank.monitoring.duel import Duel, Z, compare_lists, evidence_by_day

pytestmark = pytest.mark.fast

DAY, COINS = "2026-03-02", {"secret": "of these tests"}


def rows_of(n=40, seed=0, day=DAY):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=n), np.full(n, day), np.array([f"r{row}" for row in range(n)])


def test_rows_on_both_lists_are_acted_on_and_of_each_pair_by_place_one():
    champion, challenger, time, names = rows_of()
    owners = Duel(Budget(8), **COINS).assign(champion, challenger, time, names)
    lists = [np.argsort(-scores)[:8] for scores in (champion, challenger)]
    both = np.intersect1d(*lists)
    assert set(np.flatnonzero(owners == "both")) == set(both)
    only = [[row for row in of if row not in both] for of in lists]
    for first, second in zip(*only, strict=True):
        assert sorted([owners[first], owners[second]]) in (["", "challenger"], ["", "champion"])
        assert owners[first] in ("", "champion")
    assert (owners != "").sum() == 8


def test_owners_stay_as_rows_come_and_the_budget_is_never_exceeded(tmp_path):
    champion, challenger, time, names = rows_of()
    order = np.random.default_rng(1).permutation(40)
    duel, owned = Duel(Budget(8), tmp_path / "duel.db"), {}
    for n in (3, 12, 25, 40):
        some = order[:n]
        found = dict(
            zip(
                names[some],
                duel.assign(champion[some], challenger[some], time[some], names[some]),
                strict=True,
            )
        )
        assert {name: found[name] for name in owned} == owned
        owned = {name: owner for name, owner in found.items() if owner}
        assert len(owned) == min(8, n)
        duel.close()
        duel = Duel.open(tmp_path / "duel.db")
    again = duel.assign(champion, challenger, time, names)
    assert {name for name, owner in zip(names, again, strict=True) if owner} == set(owned)


def test_twice_the_difference_of_credits_is_the_difference_of_hits_in_the_mean():
    """Over all coins of three pairs, of which the second has the opposite one of the first."""
    champion, challenger = np.array([9.0, 8, 7, 6, 0, 0, 0]), np.array([9.0, 0, 0, 0, 8, 7, 6])
    y, names = np.array([1, 1, 1, 0, 1, 0, 0]), np.arange(7)
    seen = {}
    for secret in map(str, range(80)):
        duel = Duel(Budget(4), secret=secret)
        owners = duel.assign(champion, challenger, [DAY] * 7, names)
        duel.credit(np.where(owners != "", y, np.nan), [DAY] * 7, names)
        seen[tuple(owners)] = duel.verdict().difference
    assert len(seen) == 4
    assert np.mean(list(seen.values())) == pytest.approx(y[4:].sum() - y[1:4].sum())


@pytest.mark.parametrize("pairs", [(1, 0, 2), (8, 0, 0), (3, 0, 1), (0, 5, 20), (20, 0, 1), (2, 40, 7)])
def test_the_interval_holds_at_its_level_over_all_coins(pairs):
    """For numbers of pairs of which both rows are hits, that of the champion, or that of the challenger."""
    kinds = np.repeat([(1, 1), (1, 0), (0, 1)], pairs, axis=0)
    for seed in range(3):
        rows = np.resize(np.vstack([kinds, (0, 0)]), (len(kinds) + len(kinds) % 2, 2))
        hits = np.random.default_rng(seed).permutation(rows)
        chances = {(0, 0): 1.0}
        for first, second in zip(hits[::2], hits[1::2], strict=True):
            after = {}
            for (champion, challenger), chance in chances.items():
                for one, other in ((first, second), (second, first)):
                    found = champion + one[0], challenger + other[1]
                    after[found] = after.get(found, 0.0) + 0.5 * chance
            chances = after
        truth = pairs[2] - pairs[1]
        held = [
            chance for (champion, challenger), chance in chances.items()
            if abs(2 * (challenger - champion) - truth) <= 2 * Z * np.sqrt(champion + challenger + Z**2 / 2)
        ]  # fmt: skip
        assert sum(held) >= 0.95


def duel_of(differences, **more):
    """Return a duel of days of one pair for each unit of their differences, which are all hits."""
    duel, day = Duel(Budget(40), **COINS, **more), np.datetime64(DAY)
    for number, wanted in enumerate(differences):
        # As many pairs as are needed for the coins to give enough to either.
        names = [f"{number} {row}" for row in range(80)]
        champion, challenger = np.arange(80.0), -np.arange(80.0)
        time = [str(day + np.timedelta64(number, "D"))] * 80
        owners = duel.assign(champion, challenger, time, names)
        winners = np.flatnonzero(owners == ("challenger" if wanted > 0 else "champion"))[: abs(wanted)]
        duel.credit(np.isin(np.arange(80), winners), time, names)
    return duel


def naive_evidence(x):
    """Return the evidence of daily differences as parts of the most that was possible."""
    deviations, spells = x - x.mean(), 0.0
    for lag in range(1, min(14, len(x) - 1) + 1):
        spells += (1 - lag / 15) * np.sum(deviations[lag:] * deviations[:-lag]) / np.sum(deviations**2)
    paths = [
        np.prod(1 + sign * stake * x) * np.exp(-2 * stake**2 * max(spells, 0.0) * np.sum(x**2))
        for sign, stake in itertools.product((-1, 1), (0.2, 0.4, 0.8))
    ]
    return np.mean(paths[:3]), np.mean(paths[3:])


def test_evidence_and_the_t_test_are_those_of_the_days():
    differences = [8, 4, 12, 0, 8, 4, 8, 8, 4, 12, 8, 9]
    found = duel_of(differences).verdict()
    assert found.evidence == pytest.approx(np.mean(naive_evidence(np.array(differences) / 20)))
    assert (found.days, found.credits, found.difference) == (12, (0, 85), pytest.approx(170 / 12))
    assert found.winner == ("challenger" if found.evidence >= 20 else None)
    assert duel_of([-d for d in differences] * 2).verdict().winner == "champion"
    assert duel_of(differences, until=30).verdict().p_value is None
    looked = duel_of([*differences, -9, -9, -9], until=12).verdict()
    assert looked.p_value == pytest.approx(ttest_1samp(differences, 0.0).pvalue)
    assert (looked.winner, looked.days) == ("challenger", 15)
    assert "at the look after 12 days, if independent" in looked.sentences()[1]
    x = np.random.default_rng(0).uniform(-1, 1, 40).round(1)
    by_day = evidence_by_day(4 * x, np.full(40, 4.0))
    assert pytest.approx(np.array([naive_evidence(x[:n]) for n in range(3, 41)])) == by_day[:, 2:].T
    assert evidence_by_day(np.empty(0), np.empty(0)).shape == (2, 0)
    assert evidence_by_day(np.zeros(3), np.zeros(3)).tolist() == [[1.0] * 3] * 2


def test_days_of_few_disputed_rows_count_no_more_than_others():
    """One model finds a hit on the days of many disputed rows, the other on those of few."""
    found = np.random.default_rng(0).random(300) < 0.5
    evidence = evidence_by_day(np.where(np.arange(300) % 2, 1.0, -1.0) * found, np.tile([10.0, 1.0], 150))
    assert evidence.mean(axis=0).max() < 3.0


@pytest.mark.parametrize("ring", [2, 10, 30])
def test_evidence_against_models_that_find_equally_much_is_one_at_most_in_the_mean(ring):
    """One finds a hit on most days, the other as many as a ring has on a day of few."""
    outcomes, chances, mean = np.array([-1.0, ring]), np.array([ring, 1]) / (ring + 1), 0.0
    for days in itertools.product((0, 1), repeat=8):
        evidence = evidence_by_day(outcomes[[*days]], np.full(8, float(ring))).mean(axis=0)
        mean += np.prod(chances[[*days]]) * evidence
    assert (mean <= 1.0 + 1e-12).all()


def test_days_count_in_order_when_their_labels_are_complete_or_late():
    for late, counted in ((None, 0), (timedelta(days=2), 1)):
        duel = Duel(Budget(4), **COINS, labels_after=late)
        for number in range(3):
            champion, challenger, time, names = rows_of(seed=number, day=f"2026-03-0{number + 2}")
            owners = duel.assign(champion, challenger, time, names)
            known = owners != ""
            if number == 0:
                known[np.flatnonzero(known)[0]] = False
            duel.credit(np.where(known, 1.0, np.nan), time, names)
        assert duel.verdict().days == (3 if late else counted)
    duel = Duel(Budget(4), **COINS)
    champion, challenger, time, names = rows_of(3)
    duel.assign(champion, challenger, time, names)
    assert duel.credit(np.zeros(3), time, names).verdict().days == 0
    assert Duel(Budget(4)).verdict().sentences() == [
        "No day has all its labels yet: nothing is known of the duel."
    ]


def test_labels_of_a_month_may_be_late_and_those_of_no_row_that_was_acted_on_warn():
    duel, months = Duel(Budget(1, "month"), labels_after=timedelta(days=40)), ["2026-03-02", "2026-06-02"]
    duel.assign([1.0, 2.0], [1.0, 2.0], months, ["a", "b"])
    assert duel.verdict().days == 1
    with pytest.warns(UserWarning, match="none of the 2 rows was acted on in this duel"):
        duel.credit([1, 0], months, ["b", "a"])


def test_what_was_decided_outlives_a_killed_process(tmp_path):
    code = (
        "import os, signal; import numpy as np; from pushrank.monitoring import Duel; "
        "from pushrank.budgets import Budget; d = Duel(Budget(3), 'duel.db'); "
        "o = d.assign(np.arange(9.), -np.arange(9.), "
        "['2026-03-02'] * 9, range(9)); print(','.join(o), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ},
    )  # fmt: skip
    assert run.returncode == -9
    duel = Duel.open(tmp_path / "duel.db")
    owners = duel.assign(np.arange(9.0), -np.arange(9.0), [DAY] * 9, range(9))
    assert ",".join(owners) == run.stdout.strip()


def test_lists_are_compared_by_the_disputed_rows_alone():
    champion, challenger, time, _ = rows_of()
    y = np.random.default_rng(3).integers(0, 2, 40)
    whole = compare_lists(y, champion, challenger, time, Budget(8))
    lists = [np.argsort(-scores)[:8] for scores in (champion, challenger)]
    assert set(whole.rows) == set(np.setxor1d(*lists))
    assert whole.low == whole.high == y[lists[1]].sum() - y[lists[0]].sum()
    assert whole.n_shared == 8 - len(whole.rows) // 2
    shared = compare_lists(
        np.where(np.isin(range(40), lists[0]), y, np.nan), champion, challenger, time, Budget(8)
    )
    assert set(shared.to_label) == set(lists[1]) - set(lists[0])
    assert shared.low <= whole.low <= shared.high == shared.low + len(shared.to_label)
    assert f"label {len(shared.to_label)} of {len(whole.rows)} disputed rows" in shared.sentence()


def test_lists_with_ties_are_compared_in_any_order_of_them():
    """Against all orders of ties of small lists, and all labels that are not known."""
    rng, batch = np.random.default_rng(1), Budget(2, "batch")
    for _ in range(150):
        n = int(rng.integers(3, 7))
        y, *both = rng.choice([0.0, 1.0, 1.0, np.nan], n), *rng.integers(0, 3, (2, n)).astype(float)
        orders = [*itertools.permutations(range(n))]
        if np.array_equal(*both):
            continue
        champion, challenger = (
            {tuple(sorted(sorted(o, key=lambda r: -of[r])[:2])) for o in orders} for of in both
        )
        found = compare_lists(y, *both, ["a"] * n, batch)
        exact = []
        for labels in itertools.product((0, 1), repeat=int(np.isnan(y).sum())):
            known = y.copy()
            known[np.isnan(y)] = labels
            exact += [sum(known[[*b]]) - sum(known[[*a]]) for a in champion for b in challenger]
        assert found.low <= min(exact) <= max(exact) <= found.high
        assert found.has_ties == (len(champion) > 1 or len(challenger) > 1)
        if not (np.isnan(y).any() and found.has_ties):
            assert (found.low, found.high) == (min(exact), max(exact))
    y, constant = np.arange(100) < 10, np.zeros(100)
    same = compare_lists(y, constant, constant, ["a"] * 100, Budget(10, "batch"))
    assert (same.low, same.high, len(same.rows), same.has_ties) == (0, 0, 0, False)
    found = compare_lists(y, constant, np.arange(100.0), ["a"] * 100, Budget(10, "batch"))
    assert (found.low, found.high) == (-10, 0)
    assert "-10 to +0 (by the order of rows that tie) hits more" in found.sentence()


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("of one length", lambda duel: duel.assign([1.0], [1.0, 2.0], [DAY], ["a"])),
        ("a name comes twice", lambda duel: duel.assign([1.0, 2.0], [1.0, 2.0], [DAY] * 2, ["a", "a"])),
        ("finite", lambda duel: duel.assign([np.nan], [1.0], [DAY], ["a"])),
        ("y must hold 0, 1 or NaN", lambda duel: duel.credit([2.0], [DAY], ["a"])),
        ("labels_after must be a timedelta", lambda _: Duel(Budget(3), labels_after=3)),
        ("until must be", lambda _: Duel(Budget(3), until=1)),
        ("one by period", lambda _: Duel(3)),
    ],
)
def test_what_is_no_duel_is_refused(message, call):
    with pytest.raises((TypeError, ValueError), match=message):
        call(Duel(Budget(3)))


@pytest.mark.parametrize("is_kept", [False, True])
def test_threads_act_on_no_more_than_the_budget_and_lose_nothing(is_kept, tmp_path):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for repeat in range(5):
            duel = Duel(Budget(5, "day"), tmp_path / f"{repeat}.db" if is_kept else None)
            rng = np.random.default_rng(repeat)
            champion, challenger = rng.normal(size=(2, 8, 20))
            names = np.arange(160).reshape(8, 20)
            days = [f"2026-01-{1 + number % 2:02d}" for number in range(8)]

            def ask(number):
                rows = champion[number], challenger[number], [days[number]] * 20, names[number]  # noqa: B023
                owners = duel.assign(*rows)  # noqa: B023
                duel.credit(np.ones(20), [days[number]] * 20, names[number]) if (owners != "").any() else None  # noqa: B023
                return owners

            with ThreadPoolExecutor(8) as pool:
                acted = [int((owners != "").sum()) for owners in pool.map(ask, range(8))]
            assert sum(acted[::2]) == sum(acted[1::2]) == 5
            assert duel.verdict().days == 2
            duel.close()
    finally:
        sys.setswitchinterval(interval)


def test_a_whole_number_has_one_name_whatever_type_holds_it():
    """A column of identifiers that has a gap holds floats."""
    scores, day = ([3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0]), ["2026-01-01"] * 4
    duel = Duel(Budget(2, "day"))
    first = duel.assign(*scores, day, [1, 2, 3, 4])
    for names in ([1.0, 2.0, 3.0, 4.0], ["1", "2", "3", "4"], np.array([1, 2, 3, 4], dtype=np.float32)):
        assert duel.assign(*scores, day, names).tolist() == first.tolist()
    days = np.repeat(np.arange("2026-01-01", "2026-01-11", dtype="M8[D]"), 20)
    alert = AlertThreshold(Budget(3, "day")).fit(np.arange(200.0), days)
    assert alert.decide(1e9, "2026-01-11T10", 1) is alert.decide(1e9, "2026-01-11T10", 1.0)
    assert alert.left_ == 2


def test_a_date_far_ahead_is_refused_and_closes_no_day():
    duel = Duel(Budget(1, "day"), labels_after=timedelta(days=30))
    for day in range(1, 10):
        duel.assign([1.0], [1.0], [f"2026-01-{day:02d}"], ["a"])
    for per in ("day", "week"):
        wrong = duel if per == "day" else Duel(Budget(1, per))
        if per == "week":
            wrong.assign([1.0], [1.0], ["2026-01-05"], ["a"])
        with pytest.raises(
            ValueError, match=r"row 1 is of 2162-.*, ahead of this machine's clock, and skips"
        ):
            wrong.assign([1.0, 2.0], [1.0, 2.0], ["2026-01-12", "2162-03-01"], ["y", "z"])
    assert duel.verdict().days == 0
    # The first row of a duel may be long ago. Batches have no clock.
    Duel(Budget(1, "batch")).assign([1.0], [1.0], [21620301], ["a"])
    assert Duel(Budget(1, "day")).assign([1.0], [1.0], ["1962-03-01"], ["a"]).tolist() == ["both"]
    with pytest.raises(ValueError, match=r"row 0 is of 2162-.*, ahead of this machine's clock"):
        Duel(Budget(1, "day")).assign([1.0], [1.0], ["2162-03-01"], ["a"])


def zoned(days=4, zone="US/Eastern"):
    """Return times of six rows a day, over the beginning of summer time, and their names."""
    hours = (np.arange(days)[:, None] * 24 + [8, 11, 13, 20, 22, 23]).ravel()
    times = pd.Series(pd.Timestamp("2026-03-06") + pd.to_timedelta(hours, "h")).dt.tz_localize(zone)
    return times, [f"r{row}" for row in range(len(times))]


def written(times):
    return times.map(lambda moment: moment.isoformat()).tolist()


@pytest.mark.parametrize(
    "other",
    [
        lambda times: times,
        lambda times: times.dt.tz_convert("UTC"),
        lambda times: times.dt.tz_convert("Asia/Tokyo"),
        lambda times: written(times),
        lambda times: written(times.dt.tz_convert("UTC")),
        lambda times: times.astype(object).to_numpy(),
        lambda times: times.dt.tz_convert("+05:30").tolist(),
    ],
)
def test_labels_of_other_zones_reach_the_days_of_the_duel(other, tmp_path):
    times, names = zoned()
    duel = Duel(Budget(6), tmp_path / "d.db")
    duel.assign(np.arange(24.0), np.arange(24.0), times, names)
    duel.close()
    duel = Duel.open(tmp_path / "d.db")
    verdict = duel.credit(np.ones(24), other(times), names).verdict()
    assert (verdict.days, verdict.hits) == (4, 6.0)
    duel.close()


def test_zones_of_texts_are_offsets_whose_summer_keeps_its_clock():
    times, names = zoned()
    duel = Duel(Budget(6))
    # From -05:00 in winter to -04:00 in summer texts keep their clock; others are taken by that of -05:00.
    duel.assign(np.arange(24.0), np.arange(24.0), written(times), names)
    assert [len(day.owners) for day in duel._days.values()] == [6, 6, 6, 6]
    for other in (times, written(times.dt.tz_convert("UTC"))):
        assert duel.credit(np.ones(24), other, names).verdict().hits == 6.0
    bare = times.dt.tz_localize(None)
    for given in (bare, bare.to_numpy(), bare.astype(str).tolist()):
        with pytest.raises(ValueError, match="row 0 has no zone, and the others have the zone -05:00"):
            duel.credit(np.ones(24), given, names)
    plain = Duel(Budget(6))
    plain.assign(np.arange(24.0), np.arange(24.0), bare, names)
    with pytest.raises(ValueError, match="row 0 has the zone of -5 hours, and the others have none"):
        plain.credit(np.ones(24), times, names)


@pytest.mark.parametrize("kept", ["+01:00", "+02:00", "-05:00"])
def test_universal_time_is_converted_though_it_is_an_hour_apart(kept):
    """Machines write in UTC, which is nobody's summer, beside +01:00 as beside others."""
    hours = (np.arange(12)[:, None] * 24 + [0, 8, 9, 10, 11, 23]).ravel()
    local = (pd.Timestamp("2026-01-05") + pd.to_timedelta(hours, "h")).tz_localize(kept)
    names = [f"r{row}" for row in range(len(local))]
    duel = Duel(Budget(6))
    duel.assign(np.arange(72.0), np.arange(72.0), written(pd.Series(local)), names)
    for universal in (local.tz_convert("UTC"), written(pd.Series(local.tz_convert("UTC")))):
        verdict = duel.credit(np.ones(72), universal, names).verdict()
        assert (verdict.days, verdict.hits) == (12, 6.0)


def test_both_clocks_of_a_place_beside_universal_time_keep_their_own():
    times = pd.Series(pd.date_range("2026-03-25", periods=8 * 24, freq="h", tz="Europe/London"))
    names = [f"r{row}" for row in range(len(times))]
    duel = Duel(Budget(30))
    duel.assign(np.arange(192.0), np.arange(192.0), written(times), names)
    # The day on which summer begins has 23 hours.
    assert [len(day.owners) for day in duel._days.values()] == [24, 24, 24, 24, 23, 24, 24, 24, 1]


def test_a_day_that_was_counted_says_that_it_gets_more_rows():
    days, names = np.repeat(["2026-03-02", "2026-03-03"], 2), ["a", "b", "c", "d"]
    duel = Duel(Budget(3))
    duel.assign([4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0], days, names)
    assert duel.credit([1, 0, 1, 0], days, names).verdict().days == 1
    with pytest.warns(
        UserWarning, match="1 day, the first of them 2026-03-02, had been counted and get more"
    ):
        duel.assign([9.0], [9.0], days[:1], ["e"])
    assert duel.verdict().days == 0
    # The same rows again, rows that are not acted on, and rows of a day that is not over are nothing to tell.
    duel.assign([4.0, 9.0], [4.0, 9.0], days[[0, 2]], ["a", "f"])
    assert duel.credit([1], days[:1], ["e"]).verdict().days == 1
    duel.assign([0.0], [0.0], days[:1], ["g"])


def test_a_period_without_rows_is_one():
    duel = Duel(Budget(2))
    for none in ([], np.empty(0)):
        assert duel.assign(none, none, none, none).tolist() == []
    assert duel.credit([], [], []).verdict().days == 0
    batches = Duel(Budget(2, "batch"))
    assert batches.assign([], [], [], []).tolist() == []
    assert Budget(2).periods([]).rows == []
    assert compare_lists([], [], [], [], Budget(2)).n_periods == 0


@pytest.mark.parametrize("secret", [b"x", 123, ["a"]])
def test_a_secret_is_a_text(secret):
    for call in (
        lambda: Duel(Budget(2), secret=secret),
        lambda: draw_audit([3.0, 2.0, 1.0], 2, 1, row_id=[1, 2, 3], secret=secret),
    ):
        with pytest.raises(TypeError, match="secret must be a text that nobody guesses"):
            call()
    # Half of a character, as old systems write it, is as good as another.
    half = {"secret": "\ud800"}
    assert draw_audit([3.0, 2.0, 1.0], 2, 1, row_id=[1, 2, 3], **half)[1].tolist() == [1, 0.5, 0.5]
    assert Duel(Budget(2), **half).assign([1.0], [2.0], [DAY], ["a"]).tolist() == ["both"]


def test_one_date_for_several_rows_is_refused():
    with pytest.raises(ValueError, match="time must hold a number or a date for each of the 1 rows"):
        Duel(Budget(2)).credit([1], "2026-03-02", ["a"])


def test_a_duel_knows_the_models_whose_scores_it_holds(tmp_path):
    Duel(Budget(2), tmp_path / "d.db", models=("a", "b")).close()
    for models in ((), ("a", "b")):
        Duel.open(tmp_path / "d.db", models).close()
    for models in (("a", "c"), ("b", "a"), ("a",)):
        with pytest.raises(ValueError, match=r"d.db was begun by the scores of another model"):
            Duel.open(tmp_path / "d.db", models)
    Duel(Budget(2), tmp_path / "e.db").close()
    Duel.open(tmp_path / "e.db", ("a", "c")).close()
