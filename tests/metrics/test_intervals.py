"""Intervals and comparisons: known formulas, coverage, and bad input."""

import itertools
from functools import partial
from inspect import signature

import numba
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from combinations import by_day
from pushrank import metrics
from pushrank.metrics._proportions import newcombe
from pushrank.metrics._ranking import Ranking
from pushrank.metrics._registry import METRICS, bind_metric
from pushrank.metrics._sampling import Sampling, contrast_intervals, influence_covariance
from samples import tied_scores


@pytest.mark.parametrize("method", ["bca", "bootstrap"])
def test_copies_of_rows_that_are_named_as_groups_say_no_more_than_the_rows(rows, method):
    y, a, b = rows
    options = {"metric": "auc", "method": method, "n_resamples": 200, "random_state": 0}
    once = metrics.compare(y, a, b, **options)
    y4, a4, b4 = (np.repeat(values, 4) for values in rows)
    names = np.repeat([f"customer {place:03}" for place in range(80)], 4)
    assert metrics.compare(y4, a4, b4, groups=names, **options) == pytest.approx(once)
    as_if_independent = metrics.compare(y4, a4, b4, **options)
    assert as_if_independent.high - as_if_independent.low < 0.7 * (once.high - once.low)


def test_bounds_of_proportions_are_of_the_groups():
    """Ten hits of ten rows, of five customers: as certain as five of five."""
    y, scores = np.repeat([1, 0], 40), np.arange(80.0)[::-1]
    groups = np.arange(80) // 2
    found = metrics.confidence_interval(y, scores, "precision_at_k", k=10, groups=groups, random_state=0)
    alone = metrics.confidence_interval(y[::2], scores[::2], "precision_at_k", k=5, random_state=0)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
    weights = np.tile([1.0, 0.0], 40)
    weighted = metrics.confidence_interval(
        y, scores, "precision_at_k", k=5, groups=groups, sample_weight=weights, random_state=0
    )
    assert weighted.low == pytest.approx(alone.low)


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_a_missing_group_is_no_group(rows, missing):
    y, a, _ = rows
    groups = np.array(["a", "b"] * 40, dtype=object)
    groups[7] = missing
    with pytest.raises(ValueError, match=r"groups has no entry in row 7"):
        metrics.confidence_interval(y, a, groups=groups)


def test_groups_that_cannot_be_drawn_are_refused(rows):
    y, a, _ = rows
    with pytest.raises(ValueError, match="groups are all the same"):
        metrics.confidence_interval(y, a, groups=np.zeros(80))
    with pytest.raises(ValueError, match="of groups take 'bootstrap' or 'bca'"):
        metrics.confidence_interval(y, a, "auc", method="delong", groups=np.arange(80))
    with pytest.raises(ValueError, match="groups must hold one entry a row"):
        metrics.confidence_interval(y, a, groups=np.arange(79))


def covered(n_sets, with_groups):
    """How many of so many sets of clustered rows have an interval that holds the area of the population."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(60), 5)

    def draw(n_groups):
        y = np.repeat(rng.random(n_groups) < 0.4, 5)
        return y, y + np.repeat(rng.normal(size=n_groups), 5) + 0.3 * rng.normal(size=5 * n_groups)

    truth = metrics.auc(*draw(200_000))
    ends = [
        metrics.confidence_interval(
            *draw(60), "auc", n_resamples=400, random_state=0, groups=groups if with_groups else None
        )
        for _ in range(n_sets)
    ]
    return sum(low <= truth <= high for low, high, *_ in ends) / n_sets


@pytest.mark.nightly
def test_intervals_of_clusters_cover_what_they_say():
    assert covered(400, with_groups=False) < 0.75
    assert 0.925 <= covered(400, with_groups=True) <= 0.98


# The values of value_at_k are drawn with their rows: tests/metrics/test_bootstrap.py.
MEASURES = {
    name: partial(spec.function, fraction_of_positives=0.5) if spec.takes_depth else spec.function
    for name, spec in sorted(METRICS.items())
    if not spec.uses_scores and "value" not in spec.parameters
}
WHOLE_WEIGHTS = ("average_reciprocal_rank", "discounted_cumulative_gain", "rank_error")


@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_seed_gives_the_same_interval_with_any_number_of_threads(monkeypatch, threads):
    y, scores = tied_scores(np.random.default_rng(1), n=300)
    found = metrics.confidence_interval(y, scores, "average_precision", n_resamples=100, random_state=7)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
    again = metrics.confidence_interval(y, scores, "average_precision", n_resamples=100, random_state=7)
    assert found == again


def test_delong_is_its_formula_over_all_pairs():
    rng = np.random.default_rng(2)
    y, a = tied_scores(rng)
    b = a + rng.integers(-3, 4, len(y)) / 10
    wins = [np.heaviside(np.subtract.outer(s[y], s[~y]).round(9), 0.5) for s in (a, b)]
    placements = [np.stack([w.mean(axis=axis) for w in wins]) for axis in (1, 0)]
    expected = sum(np.cov(p) / p.shape[1] for p in placements)
    rankings, area = [Ranking(y, s.round(9)) for s in (a, b)], bind_metric("auc")
    np.testing.assert_allclose(influence_covariance(rankings, area), expected, rtol=1e-10)
    weights = np.full(len(y), 3.0)
    weighted = [Ranking(y, s.round(9), weights) for s in (a, b)]
    np.testing.assert_allclose(influence_covariance(weighted, area), expected, rtol=1e-10)


@pytest.mark.parametrize("method", ["bootstrap", "bca"])
def test_intervals_are_scipys(method):
    """scipy resamples both samples alike; what is left is the chance of the resamples.

    The level at which it is asked is that of the reach that 25 rows of a class call for.
    """
    rng = np.random.default_rng(3)
    y, scores = np.repeat([True, False], [25, 40]), rng.exponential(size=65)

    def difference(y, s):
        return s[y].mean() / s[~y].mean()

    sampling = Sampling(0.95, 10_000, 0, method)
    # The intervals of so few rows that `confidence_interval` gives are wider.
    *_, [found] = contrast_intervals([Ranking(y, scores)], [bind_metric(difference)], [1.0], sampling)
    low, high = found.limits(0.95)
    reach = np.sqrt(25 / 24) * stats.t(24).ppf(0.975)
    expected = stats.bootstrap(
        (scores[y], scores[~y]),
        lambda a, b, axis: a.mean(axis) / b.mean(axis),
        method="percentile" if method == "bootstrap" else "BCa",
        confidence_level=0.95 if method == "bootstrap" else 2 * stats.norm.cdf(reach) - 1,
        n_resamples=10_000,
        random_state=1,
    )
    assert low == pytest.approx(expected.confidence_interval.low, abs=0.02)
    assert high == pytest.approx(expected.confidence_interval.high, abs=0.02)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=0.03)


@pytest.mark.parametrize(
    ("n_sets", "least", "most"),
    [(120, 0.90, 0.992), pytest.param(300, 0.91, 0.985, marks=pytest.mark.nightly)],
)
@pytest.mark.parametrize("method", by_day(["bootstrap", "delong", "bca"], 2))
def test_intervals_cover_the_truth(method, n_sets, least, most):
    """Normal scores one apart: the area is Phi(1 / sqrt 2). Of 300 sets the standard error is 1.3 %."""
    rng = np.random.default_rng(4)
    truth = stats.norm.cdf(1 / np.sqrt(2))
    y = np.repeat([True, False], [60, 120])
    inside = 0
    for seed in range(n_sets):
        low, high, *_ = metrics.confidence_interval(
            y, rng.normal(size=180) + y, "auc", method=method, n_resamples=300, random_state=seed
        )
        inside += low <= truth <= high
    assert least <= inside / n_sets <= most


@pytest.mark.parametrize("n_sets", [80, pytest.param(200, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("method", by_day(["bca", "delong", "bootstrap"], 2))
def test_equal_rankings_differ_rarely(method, n_sets):
    rng = np.random.default_rng(5)
    y = np.repeat([True, False], [50, 100])
    p_values = []
    for seed in range(n_sets):
        shared = rng.normal(size=150) + y
        a, b = (shared + 0.7 * rng.normal(size=150) for _ in range(2))
        found = metrics.compare(y, a, b, "auc", method=method, n_resamples=300, random_state=seed)
        assert found.low <= found.difference <= found.high
        p_values.append(found.p_value)
    assert 0.01 <= np.mean(np.array(p_values) < 0.05) <= 0.10
    assert 0.4 < np.mean(p_values) < 0.6


@pytest.mark.parametrize("method", ["bootstrap", "bca", "delong"])
def test_a_clear_difference_is_found_and_none_is_none(method):
    rng = np.random.default_rng(6)
    y, good = tied_scores(rng, n=300, levels=10**6, shift=1.0)
    found = metrics.compare(y, good, rng.random(300), "auc", method=method, random_state=0)
    assert found.low > 0.2
    assert found.p_value < 0.01
    swapped = metrics.compare(y, good, good, "auc", method=method, random_state=0)
    assert swapped == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.filterwarnings("ignore:.* on every resample")
@pytest.mark.parametrize(
    ("metric", "method"),
    [*itertools.product(["auc", "partial_auc"], ["bootstrap", "bca"]), ("auc", "delong")],
)
@pytest.mark.parametrize("n_seeds", by_day([5, 20], 1))
def test_rankings_that_differ_by_the_order_of_a_sum_are_equal(metric, method, n_seeds):
    rng = np.random.default_rng(10)
    y = np.repeat([False, True, False, True], 25)
    for seed in range(n_seeds):
        # rows change places within a run of one class: no area sees it, its floating-point sum may
        scores = np.arange(100.0).reshape(4, 25)
        swapped = rng.permuted(scores, axis=1)
        options = {"method": method, "n_resamples": 50, "random_state": seed}
        options["sample_weight"] = rng.random(100)
        found = metrics.compare(y, scores.ravel(), swapped.ravel(), metric, **options)
        assert found.difference == 0.0
        assert found.p_value == pytest.approx(1.0)
        assert not found.low > 0.0
        assert not found.high < 0.0


def test_a_certain_difference_is_certain_whatever_the_rounding():
    y, rng = np.tile([False, True], 10), np.random.default_rng(0)
    perfect, worst = rng.random((2, 20)) + np.array([[100.0], [-100.0]]) * y
    for method in ("bootstrap", "bca"):
        options = {"method": method, "sample_weight": 1.0 + rng.random(20), "random_state": 0}
        found = metrics.compare(y, perfect, worst, "auc", **options)
        assert found.high == pytest.approx(1.0)
        assert 0.2 < found.low < 0.5
        assert found.p_value < 0.01


def clopper_pearson(hits, rows, level=0.95):
    interval = stats.binomtest(hits, rows).proportion_ci(level)
    return pytest.approx((interval.low, interval.high))


AT_BOUNDS = [  # the first 40 of 100 rows are the positives
    ("precision_at_k", {"k": 10}, 10, 10, 1.0), ("precision_at_k", {"fraction": 0.1}, 10, 10, 1.0),
    ("lift", {"k": 10}, 10, 10, 2.5), ("recall_at_k", {"fraction_of_positives": 1.0}, 40, 40, 1.0),
    ("positives_at_top", {}, 40, 40, 40.0), ("positives_at_top", {"normalize": True}, 40, 40, 1.0),
    ("recall_at_k", {"k": 10}, 10, 10, 0.25), ("r_max", {}, 0, 40, 40.0), ("auc", {}, 40, 40, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameters", "hits", "rows", "unit"), AT_BOUNDS)
def test_a_proportion_at_its_bound_has_an_interval(name, parameters, hits, rows, unit):
    """Ten hits of ten gave 1 to 1 at 95 %."""
    scores = np.arange(100.0)[::-1]
    for y, count in ((scores >= 60, hits), (scores < 40, rows - hits)):
        for method in ("bootstrap", "bca") + ("delong",) * (name == "auc"):
            found = metrics.confidence_interval(
                y, scores, name, method=method, n_resamples=20, random_state=0, **parameters
            )
            assert (found.low / unit, found.high / unit) == clopper_pearson(count, rows)
            assert found.estimate == pytest.approx(unit * count / rows)
    by_weight = metrics.confidence_interval(
        y, scores, name, sample_weight=np.full(100, 3.0), n_resamples=20, random_state=0, **scaled(parameters)
    )
    weighed = 3.0 if unit == 40.0 else 1.0
    assert (by_weight.low, by_weight.high) == pytest.approx((weighed * found.low, weighed * found.high))


def scaled(parameters):
    return {name: 3 * value if name == "k" else value for name, value in parameters.items()}


def test_an_interval_allows_for_the_number_of_rows_that_are_all_hits():
    """Twelve hits of twelve, the 18th row a miss: resamples said 0.92 to 1."""
    y, scores = np.r_[np.ones(17), np.zeros(40), np.ones(33), np.zeros(507)] == 1, -np.arange(597.0)
    found = metrics.confidence_interval(y, scores, "precision_at_k", k=12, random_state=0)
    assert found.low <= 0.7354
    assert found.high == 1.0
    assert found.standard_error > 0.0
    nothing = metrics.confidence_interval(scores < -90, scores, "precision_at_k", k=50, random_state=0)
    assert (nothing.low, nothing.high) == clopper_pearson(0, 50)


@pytest.mark.nightly
@pytest.mark.parametrize("truth", [0.9, 0.97])
def test_the_interval_at_the_bound_covers(truth):
    rng, inside, n_bounds = np.random.default_rng(0), 0, 0
    for seed in range(400):
        y = np.r_[rng.random(20) < truth, rng.random(380) < 0.1]
        found = metrics.confidence_interval(
            y, -np.arange(400.0), "precision_at_k", k=20, n_resamples=100, random_state=seed
        )
        n_bounds += found.estimate == 1.0
        inside += found.estimate < 1.0 or found.low <= truth <= found.high
    assert n_bounds > 10
    assert inside / 400 >= 0.95


@pytest.mark.parametrize("name", ["average_precision", "partial_auc", "bedroc"])
def test_a_metric_that_no_resample_changes_has_no_interval_unless_it_is_a_proportion(name):
    scores = np.arange(150.0)
    y = scores >= 90
    with pytest.warns(UserWarning, match=f"{name} is 1 on every resample, .* no interval, NaN"):
        found = metrics.confidence_interval(y, scores, name, n_resamples=20, random_state=0)
    assert np.isnan(found[:2]).all()
    assert found.estimate == pytest.approx(1.0)
    other = np.where(y, -scores + 249, scores)
    with pytest.warns(UserWarning, match=f"{name} is 0 on every resample"):
        found = metrics.compare(y, scores, other, name, n_resamples=20, random_state=0)
    assert np.isnan([found.low, found.high]).all()
    assert found[2:] == (0.0, 1.0)


@pytest.mark.parametrize("method", ["bootstrap", "bca", "delong"])
def test_a_difference_that_no_resample_changes_has_an_interval(method):
    scores = np.arange(50.0)
    y = scores >= 40
    settings = {"method": method, "n_resamples": 20, "random_state": 0}
    other = np.where(y, -scores + 99, scores)  # another order, and as perfect
    found = metrics.compare(y, scores, other, "auc", **settings)
    reach = 1.0 - stats.binomtest(10, 10).proportion_ci(0.975).low
    assert found == pytest.approx((-reach, reach, 0.0, 1.0))
    reversed_ = metrics.compare(y, scores, -scores, "auc", **settings)
    assert (reversed_.low, reversed_.high) == pytest.approx((1.0 - 2.0 * reach, 1.0))
    assert reversed_.p_value == pytest.approx(4 * 0.5**10)  # where both intervals end at one half
    assert metrics.compare(y, scores, 3.0 * scores, "auc", **settings) == (0.0, 0.0, 0.0, 1.0)


def test_parameters_of_the_measure_are_passed_on():
    y, scores = tied_scores(np.random.default_rng(8), n=200)
    other = scores[::-1]
    whole = partial(metrics.precision_at_k, k=100)
    by_name = metrics.confidence_interval(y, scores, "precision_at_k", k=100, random_state=0)
    assert by_name == metrics.confidence_interval(y, scores, whole, random_state=0)
    assert by_name.estimate == metrics.precision_at_k(y, scores, k=100)
    found = metrics.compare(y, scores, other, "precision_at_k", k=100, random_state=0)
    assert found == metrics.compare(y, scores, other, whole, random_state=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        metrics.confidence_interval(y, scores, "auc", k=100)


def test_both_take_what_they_measure_in_one_order_with_one_default():
    functions = metrics.confidence_interval, metrics.compare
    one, two = (list(signature(function).parameters.values()) for function in functions)
    names = [p.name.replace("scores_a", "scores") for p in two if p.name != "scores_b"]
    assert [p.name for p in one] == names
    assert [p.default for p in one] == [p.default for p in two if p.name != "scores_b"]
    y, scores = tied_scores(np.random.default_rng(8))
    default = metrics.confidence_interval(y, scores, random_state=0)
    assert default == metrics.confidence_interval(y, scores, n_resamples=2000, random_state=0)


@pytest.mark.filterwarnings("ignore:.* on every resample", "ignore:.* it takes [35] positives, found 1")
@pytest.mark.parametrize("name", sorted(MEASURES))
@pytest.mark.parametrize("method", ["bootstrap", "bca"])
@pytest.mark.parametrize("n_kept", [1, 8])
def test_rows_of_weight_zero_are_as_good_as_absent(name, method, n_kept):
    rng = np.random.default_rng(11)
    y, scores = tied_scores(rng)
    w = np.where(rng.random(len(y)) < 0.5, 0.0, rng.random(len(y)) + 0.5)
    w[np.flatnonzero(y)[n_kept:]] = 0.0  # if one positive is left, resamples must not miss it
    w[np.flatnonzero(y)[:n_kept]] = 40.0
    w = np.ceil(w) if name in WHOLE_WEIGHTS else w
    kept = w > 0.0
    settings = {"method": method, "n_resamples": 40, "random_state": 0}
    found, expected = (
        metrics.confidence_interval(y[rows], scores[rows], MEASURES[name], sample_weight=w[rows], **settings)
        for rows in (np.ones(len(y), dtype=bool), kept)
    )
    np.testing.assert_equal(found, expected)
    assert not found.low > found.estimate or method == "bca"
    assert not found.estimate > found.high or method == "bca"


@pytest.mark.filterwarnings("ignore:.* on every resample")
@pytest.mark.parametrize("name", MEASURES)
def test_a_single_row_of_a_class_is_never_left_out(name):
    y, scores = np.arange(12) == 8, np.arange(12.0)
    metric = bind_metric(MEASURES[name])
    for labels in (y, ~y):
        ranking, sampling = Ranking(labels, scores), Sampling(0.95, 50, 0)
        _, [estimate], [found] = contrast_intervals([ranking], [metric], [1.0], sampling)
        assert np.isfinite([estimate, *found.values, *found.limits(0.95)]).all()


@pytest.mark.parametrize("n_seeds", by_day([6, 20], 1))
@pytest.mark.parametrize("n_positive", [5, 10, 40])
def test_the_p_value_agrees_with_the_interval(n_positive, n_seeds):
    rng = np.random.default_rng(7)
    y = np.repeat([True, False], [n_positive, 90 - n_positive])
    for method in ("bootstrap", "bca"):
        for seed in range(n_seeds):
            a, b = rng.normal(size=(2, 90)) + np.array([1.9, 0.8])[:, None] * y
            options = {"method": method, "n_resamples": 199, "random_state": seed}
            found = metrics.compare(y, a, b, "average_precision", **options)
            if not 0.03 < found.p_value < 0.07:  # quantiles are read between resamples
                assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)


@pytest.mark.parametrize("metric", ["auc", "average_precision", "bedroc"])
def test_a_difference_takes_five_rows_or_groups_of_each_class(metric):
    """Of two models alike with two positives one was better beyond chance in 28 % of samples."""
    a, b = np.random.default_rng(0).normal(size=(2, 40))
    for y in (np.arange(40) < 4, np.arange(40) >= 4):
        with pytest.warns(UserWarning, match="a difference takes 5 positives and negatives, found 4"):
            found = metrics.compare(y, a, b, metric, n_resamples=20, random_state=0)
        assert np.isnan([found.low, found.high, found.p_value]).all()
        assert np.isfinite(found.difference)
    with pytest.warns(UserWarning, match="takes 5 groups of positives and of others, found 4"):
        metrics.compare(np.arange(40) < 8, a, b, metric, groups=np.arange(40) // 2, n_resamples=20)
    with pytest.warns(UserWarning, match="takes 15 positives and negatives, found 14"):
        metrics.compare(np.arange(40) < 14, a, b, share_of_high, n_resamples=20, random_state=0)
    metrics.compare(np.arange(40) < 3, a, b, "precision_at_k", k=5, n_resamples=20, random_state=0)


def test_the_p_value_of_few_rows_is_the_share_of_swaps_that_differ_as_much():
    """Against all 2^10 swaps of the rows of two lists, for a difference that resamples take for real."""
    rng, y = np.random.default_rng(4), np.arange(10) < 5
    a, b = rng.permutation(10) + 3.0 * y, rng.permutation(10) * 2.0
    ranks, differences = [stats.rankdata(a), stats.rankdata(b)], []
    for swaps in itertools.product((False, True), repeat=10):
        both = np.where(swaps, *ranks), np.where(swaps, *ranks[::-1])
        differences.append(np.subtract(*(metrics.auc(y, of) for of in both)))
    found = metrics.compare(y, a, b, "auc", random_state=0)
    exact = np.mean(np.abs(differences) >= abs(found.difference) - 1e-9)
    assert found.p_value == pytest.approx(exact, abs=3 * np.sqrt(exact * (1 - exact) / 499) + 0.002)
    assert found.low <= 0.0 <= found.high
    # Scales of the scores do not count, and groups swap as one.
    same = metrics.compare(y, np.exp(a), b, "auc", random_state=0)
    assert same == found
    alone = metrics.compare(y, a, b, "auc", random_state=0, groups=np.arange(10))
    assert alone.p_value == pytest.approx(found.p_value, abs=0.05)


def share_of_high(y, scores):
    return np.mean(scores[y] > 0.5)


FEW = [("auc", 3, {}), ("precision_at_k", 3, {"k": 4}), ("average_precision", 5, {}), ("bedroc", 5, {}),
       ("lift", 5, {"fraction": 0.1}), ("recall_at_k", 5, {"k": 4}), ("partial_auc", 5, {}),
       ("ndcg_at_k", 5, {"k": 4}), ("positives_at_top", 5, {}), (share_of_high, 5, {})]  # fmt: skip


@pytest.mark.parametrize("method", ["bca", "bootstrap", "delong"])
@pytest.mark.parametrize(("metric", "least", "parameters"), FEW)
def test_an_interval_takes_so_many_positives(metric, least, parameters, method):
    """Those of AUC by one, two, three and five positives held the truth in 22, 66, 82 and 90 % of samples."""
    if method == "delong" and metric != "auc":
        return
    scores = np.r_[np.linspace(0.9, 0.1, 7), np.linspace(0.8, 0.0, 33)]
    options = {"method": method, "n_resamples": 40, "random_state": 0, **parameters}
    for n_positive in (least - 1, least):
        y = np.arange(40) < n_positive
        if n_positive < least:
            message = f"no interval, NaN: it takes {least} positives, found {n_positive}"
            with pytest.warns(UserWarning, match=message):
                found = metrics.confidence_interval(y, scores, metric, **options)
            assert np.isnan([found.low, found.high, found.standard_error]).all()
        else:
            found = metrics.confidence_interval(y, scores, metric, **options)
            assert found.low <= found.estimate <= found.high
            assert found.low < found.high
            assert found == metrics.confidence_interval(y, scores, metric, **options)


@pytest.mark.parametrize(("metric", "least", "parameters"), FEW)
def test_a_perfect_and_a_reversed_list_of_few_positives_are_not_certain(metric, least, parameters):
    y = np.arange(40) < least
    options = {"n_resamples": 40, "random_state": 0, **parameters}
    best, worst = (
        metrics.confidence_interval(y, sign * np.linspace(1, -1, 40), metric, **options) for sign in (1, -1)
    )
    assert best.low < best.estimate - 0.1
    assert best.high == pytest.approx(best.estimate)
    assert worst.low <= worst.estimate < worst.high - 0.02


def test_rows_that_count_as_few_are_groups_effective_weights_and_negatives():
    y, scores = np.arange(40) < 6, np.random.default_rng(0).normal(size=40)
    options = {"metric": "bedroc", "n_resamples": 20, "random_state": 0}
    groups = np.where(y, np.arange(40) % 2, np.arange(40))
    weights = np.where(np.arange(40) < 1, 50.0, 1.0)
    for y_true, rows, message in (
        (y, {"groups": groups}, "it takes 5 groups with a positive, found 2"),
        (y, {"sample_weight": weights}, "it takes 5 positives, found 1.21 by weight"),
        (~y & (np.arange(40) != 9) | (np.arange(40) < 3), {}, "it takes 5 negatives, found 4"),
    ):
        with pytest.warns(UserWarning, match=message):
            assert np.isnan(metrics.confidence_interval(y_true, scores, **options, **rows).low)


@pytest.mark.parametrize("seed", range(5))
def test_shares_of_few_groups_stay_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    y, groups = np.arange(120) < 30, rng.integers(0, 12, 120)
    of = {"n_resamples": 20, "random_state": 0, "groups": groups}
    scores = y + 0.3 * rng.normal(size=120)
    assert metrics.confidence_interval(y, scores, metrics.recall_at_k, k=40, **of).high == 1.0
    assert metrics.confidence_interval(y, scores, metrics.precision_at_k, k=40, **of).high == 0.75


@pytest.mark.parametrize(("n_hits", "ends"), [(5, (0.4, 1.0)), (0, (0.0, 0.6)), (2, (0.0, 1.0))])
def test_the_limits_of_few_rows_are_binomial(n_hits, ends):
    """Each of five draws is the row beyond them with chance 1/6: three or more are in 3.5 % of resamples."""
    y = np.arange(90) < 5
    scores = np.where((np.arange(90) < n_hits) | (np.arange(90) == 60), 1.0, 0.0)
    found = metrics.confidence_interval(y, scores, share_of_high, n_resamples=4000, random_state=0)
    assert found[:2] == pytest.approx(ends)


@pytest.mark.parametrize(("area", "n_positive", "n_negative"), [(0.9, 3, 197), (0.5, 10, 20), (1.0, 5, 40)])
def test_newcombes_ends_are_z_standard_errors_from_the_area(area, n_positive, n_negative):
    z = stats.norm.ppf(0.975)
    for end in newcombe(area, n_positive, n_negative, 0.95):
        n, q1, q2 = (n_positive + n_negative) / 2, end / (2 - end), 2 * end**2 / (1 + end)
        variance = end * (1 - end) + (n - 1) * (q1 + q2 - 2 * end**2)
        error = np.sqrt(variance / (n_positive * n_negative))
        assert abs(area - end) == pytest.approx(z * error, abs=1e-9)
    low, high = newcombe(area, n_positive, n_negative, 0.95)
    assert newcombe(1.0 - area, n_negative, n_positive, 0.95) == pytest.approx((1.0 - high, 1.0 - low))


@pytest.mark.parametrize("k", [1, 12])
def test_precision_at_every_place_has_an_interval(k):
    y, scores = np.arange(12) % 3 == 0, np.arange(12.0)
    found = metrics.confidence_interval(y, scores, partial(metrics.precision_at_k, k=k), random_state=0)
    assert found.low <= found.estimate <= found.high


def test_the_interval_of_two_rows_of_a_class_is_that_of_all_resamples():
    """Student's quantile with one degree of freedom reaches beyond every resample, and no pole turns it."""
    y, scores = np.arange(30) >= 28, np.random.default_rng(0).normal(size=30)
    found, widest = (
        contrast_intervals([Ranking(y, scores)], [bind_metric("auc")], [1.0], Sampling(0.95, 500, 0, method))
        for method in ("bca", "bootstrap")
    )
    assert found[2][0].limits(0.95) == pytest.approx(widest[2][0].limits(1 - 1e-12))


def test_names_callables_and_partials_are_one():
    y, scores = tied_scores(np.random.default_rng(8), n=200)
    by_name = metrics.confidence_interval(y, scores, "auc", random_state=0)
    assert metrics.confidence_interval(y, scores, metrics.auc, random_state=0) == by_name
    half = partial(metrics.auc, ties="half")
    assert metrics.confidence_interval(y, scores, half, random_state=0) == by_name
    labels = np.where(y, "bad", "good")
    assert metrics.confidence_interval(labels, scores, "auc", pos_label="bad", random_state=0) == by_name


def test_a_metric_of_the_user_need_not_be_hashable():
    class DifferenceOfMeans:
        __hash__ = None

        def __call__(self, y_true, scores):
            return scores[y_true].mean() - scores[~y_true].mean()

    y, scores = np.arange(10) % 2, np.arange(10.0)
    assert metrics.confidence_interval(y, scores, DifferenceOfMeans(), random_state=0).estimate == 1.0


def test_weights_of_one_change_the_numbers_of_the_rows_alone():
    y, scores = tied_scores(np.random.default_rng(9), n=500)
    plain = metrics.confidence_interval(y, scores, "average_precision", random_state=0)
    ones = np.ones(500)
    weighted = metrics.confidence_interval(y, scores, "average_precision", sample_weight=ones, random_state=0)
    assert weighted.estimate == plain.estimate
    assert weighted.standard_error == pytest.approx(plain.standard_error, rel=0.1)


WEIGHTED = partial(partial(metrics.margin, sample_weight=np.ones(60)), norm=2.0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metric": "accuracy"}, ValueError, "metric='accuracy' is not known"),
        ({"metric": "precision_at_k"}, ValueError, r"one of k \(rows\), .* got none of them"),
        ({"metric": 3}, TypeError, "metric must be callable"),
        ({"method": "jackknife"}, ValueError, "method must be one of"),
        ({"metric": "average_precision", "method": "delong"}, ValueError, "method='delong' is for"),
        ({"metric": partial(metrics.auc, ties="optimistic"), "method": "delong"}, ValueError, "' is for"),
        ({"confidence_level": 1.0}, ValueError, "confidence_level must"),
        ({"confidence_level": "0.95"}, TypeError, "confidence_level must"),
        ({"n_resamples": 5}, ValueError, "n_resamples must"),
        ({"metric": partial(metrics.auc, pos_label=0)}, ValueError, "sets pos_label, .* of confidence_int"),
        ({"metric": WEIGHTED}, ValueError, "sets sample_weight, which is a parameter of confidence_interval"),
        ({"metric": partial(metrics.ndcg_at_k, qid=np.arange(60))}, ValueError, "with qid has no interval"),
        ({"metric": "ndcg_at_k", "qid": np.arange(60)}, ValueError, "ndcg_at_k with qid has no interval"),
        ({"metric": metrics.recall_at_k}, ValueError, r"one of k \(rows\), .* got none of them"),
        ({"metric": "height"}, ValueError, "metric='height' is not known"),
        ({"metric": metrics.height}, TypeError, r"one number for one ranking; height returned ndarray of sh"),
        ({"metric": partial(metrics.top_of_list)}, TypeError, "top_of_list returned dict"),
        ({"metric": lambda *_: None}, TypeError, "<lambda> returned NoneType"),
        ({"metric": lambda *_: "0.5"}, TypeError, "<lambda> returned str"),
        ({"metric": "rank_error", "sample_weight": np.full(60, 0.5)}, ValueError, "whole numbers"),
        ({"metric": lambda *_: np.nan}, ValueError, "not a number on"),
        ({"sample_weight": 1.0 * (np.arange(60) < 2), "method": "delong"}, ValueError, "at least 2 rows"),
    ],
)
def test_bad_arguments(arguments, error, message):
    y, scores = tied_scores(np.random.default_rng(10))
    with pytest.raises(error, match=message):
        metrics.confidence_interval(**{"metric": "auc", **arguments}, y_true=y, scores=scores)
