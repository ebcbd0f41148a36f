"""Grades, query groups and explicit pairs: every sum equals the sum over the pairs laid out one by one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import each_and_some
from pushrank import PushObjective, losses
from pushrank.pairs import BipartiteSample, CrucialSample, GradedSample, log_inner_sums
from pushrank.pairs.graded import grade_blocks
from pushrank.prices import Identity, LogOnePlus, Power

pytestmark = pytest.mark.fast

OBJECTIVES = [
    PushObjective(price=price, side=side, scale=scale)
    for price, scale in ((Identity(), "log"), (Power(3.0), "log"), (Power(2.0), "raw"), (LogOnePlus(), "raw"))
    for side in ("push", "pull")
]
OTHERS = [
    PushObjective(loss, price, side, scale)
    for loss in ("hinge", "squared_hinge", "logistic", "sigmoid")
    for price in (Identity(), Power(3.0), LogOnePlus())
    for side in ("push", "pull")
    for scale in ("raw", "mean")
]


def name(value):
    if not isinstance(value, PushObjective):
        return getattr(value, "__name__", None)
    return f"{value.loss}-{value.price}-{value.side}-{value.scale}"


def graded(seed=0, n=17, weighted=True):
    """A sample, its pairs (i, k, pi) and the weights of its rows."""
    rng = np.random.default_rng(seed)
    grades, groups = rng.integers(0, 4, n).astype(float), rng.integers(0, 3, n)
    weights = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    pairs = [
        (i, k, 1.0)
        for i in range(n)
        for k in range(n)
        if groups[i] == groups[k] and grades[i] > grades[k] and weights[i] * weights[k] > 0
    ]
    return GradedSample.from_grades(grades, groups, weights if weighted else None), pairs, weights


def crucial(seed=0, n=9, weighted=True):
    """The same for explicit pairs, some repeated, some contradicting each other."""
    rng = np.random.default_rng(seed)
    better, worse = rng.integers(0, n, 20), rng.integers(0, n - 1, 20)
    worse += worse >= better
    pi = rng.integers(0, 3, 20).astype(float)
    weights = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    pairs = [(i, k, p) for i, k, p in zip(better, worse, pi, strict=True) if p * weights[i] * weights[k] > 0]
    return CrucialSample.from_pairs(n, better, worse, pi, weights if weighted else None), pairs, weights


def brute_force(objective, pairs, weights, scores):
    """The objective as a loop over pairs."""
    sums = np.zeros(len(scores))
    for i, k, pi in pairs:
        inner, outer = (i, k) if objective.side == "push" else (k, i)
        sums[outer] += pi * weights[inner] * objective.loss.value(scores[i] - scores[k])
    rows = np.unique([pair[objective.side == "push"] for pair in pairs])
    total = float(weights[rows] @ objective.price.value(sums[rows]))
    return total if objective.scale == "raw" else np.log(total) / objective.price.log_divisor


@pytest.mark.parametrize(
    ("make", "objective", "weighted"),
    each_and_some([graded, crucial], OBJECTIVES, [False, True], n_random=2),
    ids=name,
)
def test_value_gradient_and_hessian_of_crucial_pairs(make, objective, weighted):
    for seed in range(5):
        sample, pairs, weights = make(seed, weighted=weighted)
        scores = np.random.default_rng(seed).normal(size=sample.n_rows)

        def value(s, pairs=pairs, weights=weights):
            return brute_force(objective, pairs, weights, s)

        at_point = objective.evaluation(sample, scores)
        assert at_point.value == pytest.approx(value(scores), rel=1e-12)
        gradient = sample.scatter(*at_point.gradient())
        unit = np.eye(sample.n_rows) * 1e-5
        numeric = [(value(scores + e) - value(scores - e)) / 2e-5 for e in unit]
        np.testing.assert_allclose(gradient, numeric, rtol=2e-7, atol=2e-8 * (1.0 + np.abs(gradient).max()))
        direction = np.random.default_rng(seed + 1).normal(size=sample.n_rows)
        product = sample.scatter(*at_point.hessian_product(sample.gather(direction)))
        ahead, behind = (
            sample.scatter(*objective.evaluation(sample, scores + e * direction).gradient())
            for e in (1e-5, -1e-5)
        )
        numeric = (ahead - behind) / 2e-5
        np.testing.assert_allclose(product, numeric, rtol=2e-6, atol=1e-7 * (1.0 + np.abs(product).max()))


@pytest.mark.parametrize("make", [graded, crucial])
def test_margin_and_mirror_and_restriction(make):
    for seed in range(20):
        sample, pairs, _ = make(seed)
        scores = np.random.default_rng(seed).integers(-3, 4, sample.n_rows).astype(float)
        least = min(scores[i] - scores[k] for i, k, _ in pairs)
        assert sample.least_margin(scores) == least
        assert sample.swapped().least_margin(-scores) == least
        kept = np.random.default_rng(seed).random(sample.n_rows) < 0.7
        left = [scores[i] - scores[k] for i, k, _ in pairs if kept[i] and kept[k]]
        if left:
            assert sample.subset(kept).least_margin(scores) == min(left)
        else:
            with pytest.raises(ValueError, match="pair"):
                sample.subset(kept)


@given(st.integers(0, 10_000), st.sampled_from([1.0, 30.0, 1e4]))
def test_two_grades_in_one_group_are_two_classes(seed, spread):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(12) < rng.integers(1, 12))
    scores, w = spread * rng.normal(size=12), rng.random(12)
    for objective in OBJECTIVES[:4]:
        two = BipartiteSample.from_mask(y, w)
        steps = GradedSample.from_grades(y.astype(float), np.zeros(12, dtype=np.intp), w)
        rows, worse = np.nonzero(np.greater.outer(y, y))
        listed = CrucialSample.from_pairs(12, rows, worse, None, w)
        expected = objective.evaluation(two, scores)
        for sample in (steps, listed):
            found = objective.evaluation(sample, scores)
            assert found.value == pytest.approx(expected.value, rel=1e-12)
            np.testing.assert_allclose(
                sample.scatter(*found.gradient()), two.scatter(*expected.gradient()), rtol=1e-9, atol=1e-14
            )


@pytest.mark.parametrize("make", [graded, crucial])
def test_extreme_scores_stay_finite(make):
    sample, _, _ = make(3)
    scores = np.random.default_rng(0).normal(size=sample.n_rows) * 1e6
    at_point = PushObjective(price=Power(64), scale="log").evaluation(sample, scores)
    assert np.isfinite(at_point.value)
    assert np.isfinite(sample.scatter(*at_point.gradient())).all()


def test_contradictory_pairs_weigh_against_each_other():
    """Sylvia prefers a to b, b to c and c to a: no row is better than another."""
    sample = CrucialSample.from_pairs(3, np.array([0, 1, 2]), np.array([1, 2, 0]))
    at_point = PushObjective(scale="log").evaluation(sample, np.zeros(3))
    assert at_point.value == pytest.approx(np.log(3.0))
    np.testing.assert_allclose(sample.scatter(*at_point.gradient()), 0.0, atol=1e-15)


def test_a_group_without_two_grades_takes_no_part():
    grades, groups = np.array([1.0, 1.0, 0.0, 2.0]), np.array([0, 0, 1, 1])
    sample = GradedSample.from_grades(grades, groups)
    assert sample.positives.tolist() == [3]
    assert sample.negatives.tolist() == [2]
    with pytest.raises(ValueError, match="no pair to rank"):
        GradedSample.from_grades(grades, np.arange(4))


class Undeclared(losses.Loss):
    """A loss of which nothing is known."""

    def value(self, margin):
        return np.exp(-np.abs(margin)) - np.minimum(margin, 0.0)

    def derivative(self, margin):
        return -np.sign(margin) * np.exp(-np.abs(margin)) - (margin < 0.0)


def test_a_loss_that_declares_no_form_is_for_explicit_pairs():
    for sample in (graded()[0], BipartiteSample.from_labels([0, 1])):
        with pytest.raises(TypeError, match="give it pieces, where it is piecewise"):
            log_inner_sums(Undeclared(), sample, np.zeros(sample.n_rows))
    sample, pairs, weights = crucial()
    scores = np.linspace(-1.0, 1.0, sample.n_rows)
    objective = PushObjective(Undeclared())
    expected = brute_force(objective, pairs, weights, scores)
    assert objective.evaluation(sample, scores).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "objective", "seed"), each_and_some([graded, crucial], OTHERS, range(4), n_random=4), ids=name
)
def test_other_losses_of_crucial_pairs(make, objective, seed):
    sample, pairs, weights = make(seed, weighted=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=sample.n_rows)
    scores[:3] = scores[3]
    tolerance = 1e-12 if objective.loss.strip_half_width is None else 1e-9  # that of fast summation, cubed
    raw = replace(objective, scale="raw")
    unit = brute_force(raw, pairs, weights, scores)
    value = objective.evaluation(sample, scores).value
    if objective.scale == "mean":
        ones = brute_force(replace(raw, loss=_One()), pairs, weights, scores)
        if objective.price.homogeneous:
            expected = (unit / ones) ** (1.0 / objective.price.log_divisor)
        else:
            own = sample.negative_weights if objective.side == "push" else sample.positive_weights
            count = len(sample.negatives if objective.side == "push" else sample.positives)
            expected = unit / (count if own is None else own.sum())
        assert value == pytest.approx(expected, rel=tolerance)
        return
    assert value == pytest.approx(unit, rel=tolerance)
    # away from kinks
    scores = rng.normal(size=sample.n_rows)
    gradient = sample.scatter(*objective.evaluation(sample, scores).gradient())
    for row in range(sample.n_rows):
        moved = np.arange(sample.n_rows) == row
        ends = [brute_force(raw, pairs, weights, scores + sign * 1e-7 * moved) for sign in (1, -1)]
        assert gradient[row] == pytest.approx((ends[0] - ends[1]) / 2e-7, rel=1e-4, abs=1e-4)


class _One(losses.Hinge):
    """A loss of one for every pair."""

    def value(self, margin):
        return np.ones_like(np.asarray(margin, dtype=float))


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 5))
def test_splits_hold_every_pair_once(seed, n, n_groups):
    rng = np.random.default_rng(seed)
    grades, groups = rng.integers(0, 9, n).astype(float), rng.integers(0, n_groups, n)
    counts = np.zeros((n, n), dtype=int)
    for split in grade_blocks(grades, groups, grades, groups):
        of_sources, of_targets = (
            np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
            for bounds in (split.source_starts, split.target_starts)
        )
        together = of_sources[:, None] == of_targets[None]
        np.add.at(counts, np.ix_(split.sources, split.targets), together)
    expected = (grades[:, None] > grades[None]) & (groups[:, None] == groups[None])
    np.testing.assert_array_equal(counts, expected)


def test_what_graded_samples_hold_is_linear_in_rows():
    """Counted in the elements that a sample holds: four times the rows, four times the elements."""

    def held(n):
        sample = GradedSample.from_grades(np.arange(n) % 5.0, np.arange(n) // 100)
        of_splits = sum(len(split.sources) + len(split.targets) for split in sample.blocks)
        return len(sample.positives) + len(sample.negatives) + len(sample.starts_group) + of_splits

    assert held(4000) == 4 * held(1000)
