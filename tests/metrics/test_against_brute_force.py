"""Every measure under every tie rule equals its definition, written out over all pairs or all orders."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pushrank import metrics
from pushrank.metrics._ranking import METRICS

TIES = {"pessimistic": 1.0, "half": 0.5, "optimistic": 0.0}
RULES = st.sampled_from(sorted(TIES))
LISTS = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        hnp.arrays(bool, n).filter(lambda y: 0 < y.sum() < len(y)),
        hnp.arrays(float, n, elements=st.integers(-3, 3).map(float)),
        hnp.arrays(float, n, elements=st.integers(1, 3).map(float)),
    )
)


WEIGHTED = (
    "auc", "average_precision", "average_reciprocal_rank", "bedroc", "discounted_cumulative_gain",
    "margin_error", "partial_auc", "positives_at_top", "r_max", "rg_error", "robust_initial_enhancement",
    "rp_error",
)  # fmt: skip


PARTS = (0.1, 0.25, 0.4, 0.5, 0.77, 1.0)
DEPTHS = [
    *({"k": k} for k in (1, 2)),
    *({name: part} for name in ("fraction", "fraction_of_positives") for part in PARTS),
]
LENGTHS = {
    **dict.fromkeys(("precision_at_k", "recall_at_k", "lift"), DEPTHS),
    "precision_at_recall": [{"recall": part} for part in PARTS],
    "recall_at_precision": [{"precision": part} for part in PARTS],
}


def pair_errors(y, scores, ties):
    s, t = scores[y][:, None], scores[~y][None, :]
    return (s < t) + TIES[ties] * (s == t)


def orders(y, scores, ties):
    """Labels best first: under half ties, in every order of the tied rows."""
    tied_first = {"pessimistic": y, "optimistic": ~y}
    if ties != "half":
        return [y[np.lexsort((tied_first[ties], -scores))]]
    groups = [y[scores == value] for value in np.unique(scores)[::-1]]
    arrangements = [list(set(itertools.permutations(g.tolist()))) for g in groups]
    return [
        np.array(list(itertools.chain(*choice)), dtype=bool) for choice in itertools.product(*arrangements)
    ]


def short(n=7):
    return LISTS.filter(lambda case: len(case[0]) <= n)


@given(ties=RULES, case=LISTS)
def test_pairwise_measures(ties, case):
    y, scores, w = case
    errors = pair_errors(y, scores, ties)
    wp, wn = w[y], w[~y]
    heights, reverse = wp @ errors, errors @ wn
    given_weights = {"ties": ties, "sample_weight": w}
    np.testing.assert_allclose(metrics.height(y, scores, **given_weights), heights)
    np.testing.assert_allclose(metrics.reverse_height(y, scores, **given_weights), reverse)
    assert metrics.r_max(y, scores, **given_weights) == heights.max()
    assert metrics.positives_at_top(y, scores, **given_weights) == pytest.approx(wp.sum() - heights.max())
    assert metrics.auc(y, scores, **given_weights) == pytest.approx(1 - heights @ wn / (wp.sum() * wn.sum()))
    for p in (1, 2.5, 8):
        total = wn @ heights**p
        assert metrics.rp_error(y, scores, p, **given_weights) == pytest.approx(total)
        log = metrics.rp_error(y, scores, p, scale="log", **given_weights)
        assert log == (pytest.approx(np.log(total) / p, abs=1e-12) if total else -np.inf)
        mean = (total / wn.sum()) ** (1 / p) / wp.sum()
        assert metrics.rp_error(y, scores, p, scale="mean", **given_weights) == pytest.approx(mean)
        of_any_price = metrics.rg_error(y, scores, lambda h, p=p: h**p, scale="mean", **given_weights)
        assert of_any_price == pytest.approx(mean, abs=1e-9)
        within = wp @ pair_errors(y, scores - 2.0 * y, ties) / wp.sum()
        found = metrics.margin_error(y, scores, 2.0, p, **given_weights)
        assert found == pytest.approx((wn @ within**p / wn.sum()) ** (1 / p))
    assert metrics.rg_error(y, scores, np.log1p, **given_weights) == pytest.approx(wn @ np.log1p(heights))


@given(ties=RULES, case=short())
def test_rank_measures_are_the_mean_over_the_orders_of_ties(ties, case):
    y, scores, _ = case
    lists = orders(y, scores, ties)
    ranks = [np.flatnonzero(order) + 1.0 for order in lists]
    expected = np.mean([np.sum(1 / np.log2(1 + r)) for r in ranks])
    assert metrics.discounted_cumulative_gain(y, scores, ties=ties) == pytest.approx(expected)
    expected = np.mean([np.sum(1 / np.log(1 + r)) for r in ranks])
    gain = metrics.discounted_cumulative_gain(y, scores, ties=ties, log_base=math.e)
    assert gain == pytest.approx(expected)
    expected = np.mean([np.sum(1 / r) for r in ranks])
    assert metrics.average_reciprocal_rank(y, scores, ties=ties) == pytest.approx(expected)
    for k in range(1, len(y) + 1):
        expected = np.mean([order[:k].mean() for order in lists])
        assert metrics.precision_at_k(y, scores, k, ties=ties) == pytest.approx(expected)
        expected = np.mean([order[:k].sum() / order.sum() for order in lists])
        assert metrics.recall_at_k(y, scores, k, ties=ties) == pytest.approx(expected)
        assert metrics.recall_at_k(y, scores, fraction=k / len(y), ties=ties) == pytest.approx(expected)
        assert metrics.lift(y, scores, fraction=k / len(y), ties=ties) == pytest.approx(expected * len(y) / k)
    expected = np.mean([1 / r.min() for r in ranks])
    assert metrics.mean_reciprocal_rank(y, scores, ties=ties) == pytest.approx(expected)
    discounts = 1 / np.log2(np.arange(2, len(y) + 2))
    for k in (1, 2, len(y)):
        by_share = metrics.ndcg_at_k(y.astype(float), scores, fraction=k / len(y), ties=ties)
        assert by_share == metrics.ndcg_at_k(y.astype(float), scores, k, ties=ties)
        best = discounts[: min(k, y.sum())].sum()
        expected = np.mean([order[:k] @ discounts[:k] / best for order in lists])
        assert metrics.ndcg_at_k(y.astype(float), scores, k, ties=ties) == pytest.approx(expected)
    for recall in (0.2, 0.5, 1.0):
        if ties != "half":  # half is scikit-learn's rule, tested against it
            needed = math.ceil(recall * y.sum() - 1e-9)
            assert metrics.precision_at_recall(y, scores, recall, ties=ties) == pytest.approx(
                needed / ranks[0][needed - 1]
            )
        if ties == "optimistic":  # the other two end with a tie, tested against scikit-learn
            lengths = [k for k in ranks[0].astype(int) if lists[0][:k].mean() >= recall - 1e-12]
            expected = lists[0][: max(lengths, default=0)].sum() / y.sum()
            assert metrics.recall_at_precision(y, scores, recall, ties=ties) == pytest.approx(expected)
    if ties != "half":  # half is scikit-learn's rule, tested against it
        expected = np.mean(np.arange(1, len(ranks[0]) + 1) / ranks[0])
        assert metrics.average_precision(y, scores, ties=ties) == pytest.approx(expected)


@given(ties=RULES, case=short(5))
def test_the_value_caught_is_the_mean_over_the_orders_of_tied_rows(ties, case):
    y, scores, value = case
    caught = np.where(y, value, 0.0)
    first = {"pessimistic": y, "optimistic": ~y, "half": np.zeros(len(y))}[ties]
    tie_breaks = itertools.permutations(range(len(y)))
    lists = np.array([caught[np.lexsort((tie_break, first, -scores))] for tie_break in tie_breaks])
    expected = lists.mean(axis=0).cumsum()
    for k in range(1, len(y) + 1):
        at = {"value": value, "ties": ties}
        assert metrics.value_at_k(y, scores, k, **at) == pytest.approx(expected[k - 1])
        share = metrics.value_at_k(y, scores, fraction=k / len(y), normalize=True, **at)
        assert share == pytest.approx(expected[k - 1] / caught.sum())
        ones = metrics.value_at_k(y, scores, k, value=np.ones(len(y)), ties=ties)
        assert ones == pytest.approx(k * metrics.precision_at_k(y, scores, k, ties=ties))


@given(case=short())
def test_by_default_ties_count_by_their_expectation_over_all_orders(case):
    """Those of pairs count a tie as an error, as the papers define them, and two measures as scikit-learn."""
    y, scores, _ = case
    for name, metric in METRICS.items():
        depth = {"k": 1} if name in ("precision_at_k", "recall_at_k", "lift", "enrichment_factor") else {}
        if name in ("margin", "smooth_margin", "partial_average_precision"):
            continue
        depth |= {"k": 1, "value": np.arange(len(y))} if name == "value_at_k" else {}
        of_pairs = ("margin_error", "positives_at_top", "r_max", "rg_error", "rp_error")
        rule = "pessimistic" if name in of_pairs else "half"
        assert metric(y, scores, **depth) == metric(y, scores, **depth, ties=rule), name
    top = metrics.top_of_list(y, scores)
    n_positive = int(y.sum())
    expected = np.mean([order[:n_positive].mean() for order in orders(y, scores, "half")])
    assert top["precision_at_positives"] == pytest.approx(expected)
    assert top["positives_at_top"] == np.sum(scores[y] > scores[~y].max())


@given(ties=RULES, case=LISTS)
def test_integer_weights_are_copies(ties, case):
    y, scores, w = case
    copies = np.repeat(np.arange(len(y)), w.astype(int))
    for name in WEIGHTED:
        metric = getattr(metrics, name)
        weighted = metric(y, scores, ties=ties, sample_weight=w)
        assert weighted == pytest.approx(metric(y[copies], scores[copies], ties=ties)), name
    value = np.arange(len(y)) ** 2.0
    weighted = metrics.value_at_k(y, scores, 2, value=value, ties=ties, sample_weight=w)
    copied = metrics.value_at_k(y[copies], scores[copies], 2, value=value[copies], ties=ties)
    assert weighted == pytest.approx(copied)
    of_copies = metrics.top_of_list(y[copies], scores[copies])
    assert metrics.top_of_list(y, scores, sample_weight=w) == pytest.approx(of_copies)
    for name, depths in LENGTHS.items():
        metric = getattr(metrics, name)
        for depth in depths:
            weighted = metric(y, scores, **depth, ties=ties, sample_weight=w)
            copied = metric(y[copies], scores[copies], **depth, ties=ties)
            assert weighted == pytest.approx(copied, rel=1e-12), (name, depth)


@given(case=LISTS, part=st.floats(0.01, 1.0))
def test_weights_of_one_are_no_weights(case, part):
    y, scores, _ = case
    for (name, (*_, last)), ties in itertools.product(LENGTHS.items(), TIES):
        metric, depth = getattr(metrics, name), dict.fromkeys(last, part)
        weighted = metric(y, scores, **depth, ties=ties, sample_weight=np.ones(len(y)))
        assert weighted == pytest.approx(metric(y, scores, **depth, ties=ties), abs=1e-15), (name, ties)


@pytest.mark.parametrize("ties", TIES)
def test_halved_weights_reach_a_recall_as_exactly(ties):
    y, scores = [0, 1, 0, 1], [4.0, 3.0, 2.0, 1.0]
    found = metrics.precision_at_recall(y, scores, 0.5, ties=ties, sample_weight=np.full(4, 0.5))
    assert found == 0.5


@given(ties=RULES, case=LISTS, max_fpr=st.floats(0.01, 1.0), min_tpr=st.floats(0.0, 0.99))
def test_partial_area_is_the_integral_of_the_curve(ties, case, max_fpr, min_tpr):
    y, scores, w = case
    points = [(0.0, 0.0)]
    for value in np.unique(scores)[::-1]:
        here = scores == value
        right = points[-1][0] + w[here & ~y].sum() / w[~y].sum()
        up = points[-1][1] + w[here & y].sum() / w[y].sum()
        corner = {"pessimistic": [(right, points[-1][1])], "optimistic": [(points[-1][0], up)], "half": []}
        points += [*corner[ties], (right, up)]
    # every segment is linear and may cross the floor: the middle of fine cells sums it nearly exactly
    total = 0.0
    for (x, low), (to_x, high) in itertools.pairwise(points):
        if to_x > x and x < max_fpr:
            end = min(to_x, max_fpr)
            middles = x + (end - x) * (np.arange(4000) + 0.5) / 4000
            curve = low + (high - low) * (middles - x) / (to_x - x)
            total += (end - x) * np.maximum(curve - min_tpr, 0.0).mean()
    found = metrics.partial_auc(
        y, scores, max_fpr, min_tpr=min_tpr, standardize=False, ties=ties, sample_weight=w
    )
    assert found == pytest.approx(total, abs=1e-6)


@given(case=LISTS)
def test_margins_are_those_of_all_pairs(case):
    y, scores, w = case
    pairs = scores[y][:, None] - scores[~y][None, :]
    assert metrics.margin(y, scores, norm=2.0) == pytest.approx(pairs.min() / 2)
    smooth = -np.log(w[y] @ np.exp(-pairs) @ w[~y]) / 2
    assert metrics.smooth_margin(y, scores, norm=2.0, sample_weight=w) == pytest.approx(smooth)
    assert metrics.smooth_margin(y, scores) <= pairs.min() + 1e-12


@given(case=LISTS, seed=st.integers(0, 9))
def test_many_rankings_are_measured_as_one_by_one(case, seed):
    y, scores, w = case
    rng = np.random.default_rng(seed)
    table = np.stack([scores, *rng.integers(-2, 3, (3, len(y))).astype(float)])
    for name in (*WEIGHTED, "margin", "smooth_margin", "mean_reciprocal_rank"):
        metric = getattr(metrics, name)
        one_by_one = [metric(y, row, sample_weight=w) for row in table]
        np.testing.assert_array_equal(metric(y, table, sample_weight=w), one_by_one, err_msg=name)
    grades = y.astype(int)
    one_by_one = [metrics.ndcg_at_k(grades, row, 2) for row in table]
    np.testing.assert_array_equal(metrics.ndcg_at_k(grades, table, 2), one_by_one)


@given(case=LISTS, drop=st.integers(0, 11))
def test_weight_zero_is_removal(case, drop):
    y, scores, w = case
    kept = np.arange(len(y)) != drop % len(y)
    if not 0 < y[kept].sum() < kept.sum():
        return
    w = np.where(kept, w, 0.0)
    for name in (*WEIGHTED, "margin", "smooth_margin"):
        metric = getattr(metrics, name)
        removed = metric(y[kept], scores[kept], sample_weight=w[kept])
        assert metric(y, scores, sample_weight=w) == pytest.approx(removed), name
    for depth in ({"k": 1}, {"fraction": 0.3}, {"fraction_of_positives": 0.5}):
        removed = metrics.precision_at_k(y[kept], scores[kept], **depth, sample_weight=w[kept])
        assert metrics.precision_at_k(y, scores, **depth, sample_weight=w) == pytest.approx(removed)


@given(case=LISTS)
def test_increasing_maps_change_nothing(case):
    y, scores, _ = case
    assert metrics.top_of_list(y, scores) == pytest.approx(metrics.top_of_list(y, np.exp(3 * scores) - 7))


def test_both_ways_of_counting_agree():
    rng = np.random.default_rng(0)
    # few positives are looked up, many are sorted: the same list read with the classes' sizes exchanged
    for n_positive in (3, 30, 270, 297):
        y = np.zeros(300, dtype=bool)
        y[rng.permutation(300)[:n_positive]] = True
        scores = rng.integers(0, 50, 300).astype(float)
        for ties in TIES:
            errors = pair_errors(y, scores, ties)
            np.testing.assert_array_equal(metrics.height(y, scores, ties=ties), errors.sum(axis=0))
            np.testing.assert_array_equal(metrics.reverse_height(y, scores, ties=ties), errors.sum(axis=1))
            assert metrics.auc(y, scores, ties=ties) == pytest.approx(1 - errors.mean())
