"""Promises of coming lists: on every arrangement of few rows, against plain sums, and what is refused."""

import re
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, betabinom, binom, hypergeom

from combinations import by_day
from experiments.acted.coverage import make_case, worst
from pushrank import metrics
from pushrank.metrics import Guaranteed
from pushrank.metrics.promises import bounds
from pushrank.metrics.promises.days import hits_of_coming_days


def rows(n=400, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return y, rng.normal(size=n) + 2.0 * y


def test_chances_far_from_the_mean_keep_their_digits():
    for n, a, b, low in ((30, 0.5, 60.5, 0), (30, 60.5, 0.5, 0), (1000, 3.0, 900.0, 10)):
        x = np.arange(low, n + 1)
        expected = np.exp(betabinom.logpmf(x, n, a, b))
        found = bounds.beta_binomial_chances(low, n, n, a, b)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-280)


@given(st.integers(1, 60), st.floats(0.5, 80.0), st.floats(0.5, 80.0), st.data())
def test_chances_are_those_of_the_beta_binomial(n, a, b, data):
    low = data.draw(st.integers(0, n))
    high = data.draw(st.integers(low, n))
    expected = betabinom.cdf(np.arange(low, high + 1), n, a, b)
    found = [bounds.beta_binomial_cdf(x, n, a, b) for x in range(low, high + 1)]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    chances = bounds.beta_binomial_chances(low, high, n, a, b)
    np.testing.assert_allclose(chances, betabinom.pmf(np.arange(low, high + 1), n, a, b), atol=1e-10)


@given(st.integers(1, 300), st.integers(1, 300), st.floats(1e-4, 0.5), st.data())
def test_the_levels_over_the_edge_add_up_to_the_chance_of_failure(n, n_new, miss, data):
    k = data.draw(st.integers(1, n_new))
    first, last, levels = bounds.edge_cells(n, n_new, k, miss)
    if k == n_new:
        assert (first[0], last[0], levels[0]) == (n, n, miss)
        return
    if levels[0] == 0.0:
        # Nothing can be promised, and a cell without hits says so.
        assert bounds.hits_bound(np.arange(n + 1), n, n_new, k, miss) == 0
        return
    assert (first[1:] == last[:-1] + 1).all()
    inside = betabinom.pmf(np.arange(first[0], last[-1] + 1), n, k + 1, n_new - k)
    failure = inside @ np.repeat(levels, last - first + 1) + 1.0 - inside.sum()
    assert failure <= miss + 1e-9


# Every sequence of labels of all rows, and every choice of those that are labelled: nothing is drawn.
@pytest.mark.parametrize(("n", "n_new", "miss"), by_day([(3, 6, 0.4), (6, 3, 0.2), (5, 4, 0.3)], 1))
def test_no_sequence_of_labels_breaks_the_promise_more_often_than_it_may(n, n_new, miss):
    chosen = np.array([np.isin(np.arange(n + n_new), c) for c in combinations(range(n + n_new), n)])
    worst_alone, worst_together = 0.0, 0.0
    promised = {}
    for labels in product([0, 1], repeat=n + n_new):
        labels = np.array(labels)
        fails = np.zeros((len(chosen), n_new + 1), dtype=bool)
        for number, is_labelled in enumerate(chosen):
            path = tuple(np.append(0, np.cumsum(labels[is_labelled])))
            if path not in promised:
                promised[path] = [
                    [bounds.hits_bound(np.array(path), n, n_new, k, of) for k in range(1, n_new + 1)]
                    for of in (miss, miss / n_new)
                ]
            hits = np.cumsum(labels[~is_labelled])
            fails[number, :-1] = hits < promised[path][0]
            fails[number, -1] = (hits < promised[path][1]).any()
        *alone, together = fails.mean(axis=0)
        worst_alone, worst_together = max(worst_alone, *alone), max(worst_together, together)
    assert worst_alone <= miss
    assert worst_together <= miss
    assert any(any(found[0]) for found in promised.values())


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_floors_of_order_statistics_hold_together_as_often_as_they_must(n):
    floors = bounds.order_statistic_floors(n, 0.2)[1:]
    # P(U_(i) >= l_i for all i) by the volumes of boxes: counts of points below each floor.
    edges = np.concatenate([[0.0], floors, [1.0]])
    chances = {0: 1.0}
    for i, width in enumerate(np.diff(edges)):
        remaining = 1.0 - edges[i]
        step = {}
        for below, chance in chances.items():
            for more in range(n - below + 1):
                # Before floor i + 1 at most i points may lie.
                if i < n and below + more > i:
                    continue
                q = width / remaining
                binomial = np.prod([(n - below - j) / (j + 1) for j in range(more)])
                added = chance * binomial * q**more * (1.0 - q) ** (n - below - more)
                step[below + more] = step.get(below + more, 0.0) + added
        chances = step
    assert chances[n] == pytest.approx(0.8, abs=1e-4)
    assert chances[n] >= 0.8


def test_floors_of_many_order_statistics_take_the_sum_of_the_chances():
    floors = bounds.order_statistic_floors(3000, 0.05)
    assert (np.diff(floors) >= 0.0).all()
    assert 0.0 < beta.cdf(floors[1], 1, 3000) < 0.05


def test_the_promise_of_one_depth_is_larger_and_that_of_others_follows():
    y, scores = rows(2000)
    alone = metrics.guarantee(y, scores, k=100, n_new=1000, together=False)
    both = metrics.guarantee(y, scores, k=100, n_new=1000)
    alike = metrics.guarantee(y, scores, n_new=1000)
    at = [int(found.hits_at(100)) for found in (alone, both, alike)]
    assert at[0] >= at[1] > at[2] > 0
    assert at[1] >= 0.9 * at[0]
    assert alone.depth.tolist() == [100]
    assert alone.hits_at([0, 90, 100, 500]).tolist() == [0, max(at[0] - 10, 0), at[0], at[0]]
    for found in (both, alike):
        path = found.hits_at(np.arange(1001))
        assert (np.diff(path) >= 0).all()
        assert (np.diff(path) <= 1).all()
        assert (found.hits_at(found.depth) >= found.hits).all()
        assert (found.hits <= found.expected_hits).all()


@given(st.integers(20, 300), st.integers(1, 300), st.integers(0, 5), st.data())
def test_promises_keep_within_what_is_possible(n, n_new, digits, data):
    rng = np.random.default_rng(n)
    y = rng.random(n) < 0.3
    y[:2] = [True, False]
    scores = np.round(rng.normal(size=n) + y, digits)
    k = data.draw(st.integers(1, n_new))
    found = metrics.guarantee(y, scores, k=k, n_new=n_new, random_state=0)
    assert (found.hits_at(np.arange(n_new + 1)) <= np.arange(n_new + 1)).all()
    for share, observed in (
        (found.precision, [y[scores >= t].mean() for t in found.threshold if (scores >= t).any()]),
        (found.recall, [y[scores >= t].sum() / y.sum() for t in found.threshold]),
    ):
        assert (share[-len(observed) :] <= np.array(observed) + 1e-12).all()
    rates = [(~y)[scores >= t].sum() / (~y).sum() for t in found.threshold]
    assert (found.false_positive_rate >= np.array(rates) - 1e-12).all()


def test_ties_are_broken_at_random_or_negatives_first():
    y = np.arange(1000) % 2 == 0
    random = metrics.guarantee(y, np.zeros(1000), k=100, n_new=500)
    assert random.hits_at(100) > 20
    assert metrics.guarantee(y, np.zeros(1000), k=100, n_new=500, ties="pessimistic").hits_at(100) == 0
    # The order of the rows says nothing.
    backwards = metrics.guarantee(np.sort(y)[::-1], np.zeros(1000), k=100, n_new=500)
    assert backwards.hits_at(100) < 50


def test_the_edge_of_what_can_be_labelled():
    assert metrics.guarantee([1, 0, 0, 0, 0], [5, 4, 3, 2, 1]).hits.tolist() == [0] * 5
    one_negative = metrics.guarantee(np.arange(500) < 499, -np.arange(500.0), n_new=100)
    assert one_negative.hits_at(100) > 90
    for y in (np.zeros(5), np.ones(5)):
        with pytest.raises(ValueError, match="2 classes"):
            metrics.guarantee(y, np.arange(5))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sample_weight": np.ones(400)}, "weighted rows"),
        ({"groups": np.arange(400)}, "guarantee_days"),
        ({"training_scores": rows()[1]}, "training rows"),
        ({"scores_new": rows()[1]}, "rows to come"),
        ({"scores_new": np.arange(3.0), "n_new": 4}, "leave n_new out"),
        ({"k": 500}, "k must be"),
        ({"k": [3, 500]}, "k must be"),
        ({"together": False}, "give k"),
        ({"ties": "half"}, "ties must be"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"n_new": 0}, "n_new must be"),
        ({"scores_new": [np.nan]}, "finite"),
    ],
)
def test_what_promises_nothing_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        metrics.guarantee(*rows(), **changed)
    with pytest.raises(ValueError, match="finite"):
        metrics.guarantee([0, 1], [np.nan, 1.0])
    with pytest.raises(ValueError, match="depth must be"):
        metrics.guarantee(*rows(), k=3).hits_at(401)


def test_other_scores_are_warned_of():
    y, scores = rows()
    with pytest.warns(UserWarning, match="beyond chance"):
        found = metrics.guarantee(y, scores, scores_new=scores[:300] + 1.0, k=10)
    assert found.n_new == 300
    metrics.guarantee(y, scores, scores_new=rows(300, seed=1)[1], training_scores=rows(seed=2)[1])


def test_days_are_promised_by_their_order_statistics():
    days = np.repeat(np.arange(39), 10)
    hits = np.random.default_rng(0).permutation(39) % 9 + 1
    y = np.concatenate([np.arange(10) < h for h in hits])
    scores = -np.tile(np.arange(10.0), 39)
    # With 39 days the second smallest holds on the next at 1 - 2 / 40.
    assert metrics.guarantee_days(y, scores, days, k=9).hits == np.sort(hits)[1]
    assert metrics.guarantee_days(y, scores, days, k=9, confidence_level=0.5).hits == np.sort(hits)[19]
    with pytest.warns(UserWarning, match=r"10 days promise no hit on a coming day: take more days"):
        assert metrics.guarantee_days(y[:100], scores[:100], days[:100], k=9).hits == 0


def test_promises_are_shown_as_sentences():
    y, scores = np.arange(400) < 60, -np.arange(400.0)
    found = metrics.guarantee(y, scores, k=[40, 20])
    assert repr(found) == str(found) == f"{found.sentence(20)}\n{found.sentence(40)}"
    # Without depths that matter, they are of a twentieth, a quarter and all of the rows.
    found = metrics.guarantee(y, scores, n_new=30)
    assert repr(found).splitlines() == [found.sentence(k) for k in (2, 8, 30)]
    days = np.repeat(np.arange(100), 4)
    for of, sentence in (
        ({}, "first 3 rows hold at least 1 hit on a coming day"),
        ({"n_coming": 2}, "first 3 rows hold at least 2 hits on the next 2 days together"),
    ):
        promise = metrics.guarantee_days(
            np.tile([1, 0, 0, 0], 100), np.tile([4, 3, 2, 1], 100), days, k=3, **of
        )
        assert str(promise) == f"With 95 % confidence, by 100 past days, the {sentence}."
    with pytest.warns(UserWarning, match="promise no hit"):
        promise = metrics.guarantee_days(days < 50, -days, days, k=3)
    assert str(promise).endswith("the first 3 rows promise no hit on a coming day.")


def test_a_threshold_shows_what_is_known_of_it():
    y, scores = np.arange(400) < 60, -np.arange(400.0)
    found = metrics.threshold_for(y, scores, Guaranteed(precision=0.5))
    n = int(found.n_rows)
    shown = f"threshold={found.threshold}, n_rows={n}, precision={60 / n!r}, recall=1.0"
    assert (repr(found), type(found.n_rows)) == (f"Threshold({shown})", int)
    found = metrics.threshold_for(y, scores, metrics.AtBudget(10), random_state=0)
    assert repr(found).startswith(
        f"Threshold(threshold=-9.0, low={found.low!r}, high={found.high!r}, n_rows=10, "
    )
    weights = np.full(400, 0.25)
    assert metrics.threshold_for(y, scores, metrics.AtBudget(10), sample_weight=weights).n_rows == 10
    assert (
        metrics.threshold_for(y, scores, metrics.AtRecall(0.5), sample_weight=weights * 1.5).n_rows == 11.25
    )


@pytest.mark.filterwarnings("ignore:7 days promise no hit")
@pytest.mark.parametrize("hits", [[3, 0, 5, 2, 2, 4, 1], [0] * 6 + [1], [6] * 6 + [5]])
def test_the_total_of_days_is_promised_by_all_draws_of_past_days_and_days_without_a_hit(hits):
    days, y = np.repeat(np.arange(7), 6), np.concatenate([np.arange(6) < h for h in hits])
    scores, sums = -np.tile(np.arange(6.0), 7), [sum(some) for some in combinations([*hits, 0, 0, 0], 3)]
    for level in (0.5, 0.9, 0.95):
        least = min(s for s in range(19) if np.mean(np.array(sums) <= s) > 1.0 - level + 1e-9)
        of = {"k": 6, "n_coming": 3, "confidence_level": level}
        assert metrics.guarantee_days(y, scores, days, **of).hits == least
    assert hits_of_coming_days(np.full(300, 5), 7) == 35 - 5


def test_a_promise_of_no_hit_says_what_would_do():
    days, scores = np.repeat(np.arange(30), 10), np.tile(-np.arange(10.0), 30)
    y = (days >= 1) & (scores > -3)
    with pytest.warns(
        UserWarning, match="30 days promise no hit on a coming day: take more days, or a lower"
    ):
        assert metrics.guarantee_days(y, scores, days, k=3).hits == 0
    y, scores = np.arange(400) < 40, -np.arange(400.0)
    sentence = metrics.guarantee(y, scores, k=3).sentence(3)
    [copies] = re.findall(r"not promised a single hit by 400 labelled rows, about ([\d,]+) would", sentence)
    times = int(copies.replace(",", "")) // 400
    found = [
        metrics.guarantee(np.repeat(y, n), -np.arange(400.0 * n), k=3, n_new=400).hits_at(3)
        for n in (times - 1, times)
    ]
    assert found == [0, 1]


def test_a_guaranteed_threshold_keeps_each_aim_by_its_own_law():
    y, scores = rows(3000, 0.2)
    found = metrics.threshold_for(y, scores, Guaranteed(recall=0.5))
    ascending, m = np.sort(scores[y])[::-1], y.sum()
    i = next(i for i in range(1, m + 1) if beta.cdf(0.5, i, m + 1 - i) <= 0.05)
    assert found.threshold == ascending[i - 1]
    negatives = np.sort(scores[~y])[::-1]
    found = metrics.threshold_for(y, scores, Guaranteed(false_positive_rate=0.1))
    i = max(i for i in range(1, len(negatives)) if beta.sf(0.1, i, len(negatives) + 1 - i) <= 0.05)
    assert found.threshold == np.nextafter(negatives[i - 1], np.inf)
    precise = metrics.threshold_for(y, scores, Guaranteed(precision=0.7))
    assert 0.7 < precise.precision < 0.85
    both = metrics.threshold_for(y, scores, Guaranteed(precision=0.7, recall=0.3))
    assert precise.n_rows >= both.n_rows > 0
    with pytest.raises(ValueError, match=r"guarantee no such list; about .* times as many"):
        metrics.threshold_for(y[:200], scores[:200], Guaranteed(precision=0.7, recall=0.4))
    with pytest.raises(ValueError, match=r"not even .* times as many labelled rows"):
        metrics.threshold_for(y, scores, Guaranteed(precision=0.99, recall=0.9))
    for rows_have in ({"groups": np.arange(3000)}, {"sample_weight": np.ones(3000)}):
        with pytest.raises(ValueError, match="nothing is guaranteed of rows with weights or groups"):
            metrics.threshold_for(y, scores, Guaranteed(recall=0.5), **rows_have)
    with pytest.raises(ValueError, match="a guarantee is of"):
        Guaranteed()
    with pytest.raises(ValueError, match="confidence_level must be"):
        Guaranteed(recall=0.5, confidence_level=0.3)
    with pytest.raises(ValueError, match="recall must be > 0 and <= 1"):
        Guaranteed(recall=0.0)


def test_the_number_of_labels_that_a_promise_takes():
    y, scores = rows(1000, 0.1)
    now = int(metrics.guarantee(y, scores, k=50, n_new=1000, together=False).hits_at(50))
    needed = metrics.sample_size_for(y, scores, k=50, n_new=1000, hits=now)
    # The bound is a whole number and not quite monotone in the number of rows.
    assert needed <= 1100
    assert metrics.sample_size_for(y, scores, k=50, n_new=1000, hits=now + 3) > 1000
    with pytest.raises(ValueError, match="ask for less"):
        metrics.sample_size_for(y, scores, k=50, n_new=1000, hits=50)
    other = scores + np.random.default_rng(1).normal(size=1000)
    for_ten, for_five = (
        metrics.sample_size_for(y, scores, k=50, n_new=1000, difference=d, other_scores=other)
        for d in (10.0, 5.0)
    )
    assert 2 * for_ten < for_five
    with pytest.raises(ValueError, match="ask for hits"):
        metrics.sample_size_for(y, scores, k=50, n_new=1000)


@pytest.mark.filterwarnings("ignore:new scores differ")
@pytest.mark.parametrize("n_new", [2, 8, 20])
@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 0.5, 1.0], [2.0]])
def test_new_scores_of_few_values_are_not_taken_for_the_labelled_ones(values, n_new):
    y, scores = np.arange(20) % 2, np.tile(values, 20)[:20]
    new = np.tile(values, n_new)[:n_new]
    assert metrics.guarantee(y, scores, scores_new=new).n_new == n_new
    distinct = np.random.default_rng(0).permutation(20) + 0.5
    with pytest.raises(ValueError, match="the new scores are those of the labelled rows"):
        metrics.guarantee(y, distinct, scores_new=distinct[::-1])
    # Twice the labelled rows are other rows, however odd.
    metrics.guarantee(y, distinct, scores_new=np.tile(distinct, 2))


@pytest.mark.parametrize("chance", [0.004, 0.05, 0.5, 0.95, 0.999, 1.0])
@pytest.mark.parametrize("x", [0, 1, 4, 17])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_bounds_of_an_audit_are_those_of_brute_force(x, chance, level):
    n, most = np.arange(x, 12_000), 11_000
    upper = n[(binom.cdf(x, n, chance) > 1.0 - level) | (x > chance * n - 1.0)].max()
    lower = n[(binom.sf(x - 1, n, chance) > 1.0 - level) | (x < chance * n + 1.0)].min()
    options = {"chance_max": chance, "confidence_level": level}
    assert metrics.audit_bound(x, chance, **options) == upper < most
    assert metrics.audit_bound(x, chance, side="lower", **options) == lower
    both = {**options, "confidence_level": 2.0 * level - 1.0, "side": "two-sided"}
    assert metrics.audit_bound(x, chance, **both) == (lower, upper)
    assert metrics.audit_bound(x, chance, n_rows=x + 50, n_unknown=30, **options) == 30 + min(upper, x + 20)


def test_the_bound_of_an_audit_grows_with_what_it_found_and_with_the_level_and_falls_with_chance():
    bounds = np.array([
        [[metrics.audit_bound(x, c, confidence_level=level) for level in (0.5, 0.9, 0.95, 0.999)]
         for c in (0.001, 0.02, 0.3, 0.94, 0.96, 0.99, 1.0)] for x in (0, 1, 2, 5, 40, 1000)
    ])  # fmt: skip
    assert (np.diff(bounds, axis=0) > 0).all()
    assert (np.diff(bounds, axis=1) <= 0).all()
    assert (np.diff(bounds, axis=2) >= 0).all()
    assert metrics.audit_bound(0, 1e-9, n_rows=100) == metrics.audit_bound(3, 0.5, n_rows=3) + 97 == 100
    assert metrics.audit_bound(0, 0.1, n_rows=0) == 0


def test_the_bound_of_an_audit_holds_wherever_positives_lie():
    # By the binomial tail alone 5 positives of 48 rows would be excluded when 47 are drawn and 4 found.
    assert binom.cdf(4, 5, 47 / 48) < 0.1 < hypergeom.cdf(4, 48, 5, 47)
    assert metrics.audit_bound(4, 47 / 48, confidence_level=0.9) >= 5
    # One case of each kind: unequal chances, equal ones, fixed numbers by chance, all rows but one.
    for number in (13, 15, 140, 54):
        assert min(chance for chance, _ in worst(make_case(number), number)) >= 0.95 - 1e-8


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("n_positive must be", {"n_positive": -1}),
        ("chance must be > 0", {"chance": 0.0}),
        ("chance must be > 0", {"chance": 1.1}),
        ("chance must be > 0", {"chance": np.nan}),
        ("a lower bound needs chance_max", {"side": "lower"}),
        ("chance_max must be >= 0.1", {"side": "two-sided", "chance_max": 0.05}),
        ("n_rows must be >= 7", {"n_rows": 6, "n_unknown": 5}),
        ("confidence_level must be", {"confidence_level": 1.0}),
        ("side must be 'upper'", {"side": "both"}),
        ("give n_rows", {"chance": 1e-17}),
    ],
)
def test_what_is_no_audit_is_refused(message, wrong):
    with pytest.raises(ValueError, match=message):
        metrics.audit_bound(**{"n_positive": 2, "chance": 0.1} | wrong)
