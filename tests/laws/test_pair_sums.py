"""The fast ways to sum over pairs equal the sums over all pairs, whatever the scores, and cost little."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erfc

from combinations import each_and_some
from growth import growth, held
from oracle import objective as brute_force
from pushrank import PushObjective, losses, prices
from pushrank.losses import Loss, Piece, Tails
from pushrank.pairs import BipartiteSample, BlockedSums, SmoothSums, SortedSums
from pushrank.pairs.analytic import expansion
from pushrank.pairs.graded import grade_blocks
from pushrank.prices import Power
from users_own import Huberised

pytestmark = pytest.mark.fast

BUILT_IN = [getattr(losses, name)() for name in losses.__all__]
SPREADS = [0.0, 1e-9, 0.3, 5.0, 40.0, 1e3, 1e6]


class Ramp(Loss):
    """A user's own: min(1, max(0, 1 - r))."""

    differentiable = twice_differentiable = False
    pieces = (Piece(0.0, (1.0,)), Piece(1.0, (0.0, 1.0)))

    def value(self, margin):
        return np.clip(1.0 - margin, 0.0, 1.0)

    def derivative(self, margin):
        return -((margin >= 0.0) & (margin < 1.0)).astype(float)


class Quartic(Loss):
    """A user's own of high degree."""

    pieces = (Piece(2.0, (0.0, 0.0, 0.0, 0.0, 1.0)),)

    def value(self, margin):
        return np.maximum(0.0, 2.0 - margin) ** 4

    def derivative(self, margin):
        return -4.0 * np.maximum(0.0, 2.0 - margin) ** 3

    def second_derivative(self, margin):
        return 12.0 * np.maximum(0.0, 2.0 - margin) ** 2


class Root(Loss):
    """A user's own whose tails are algebraic: sqrt(1 + r^2) - r."""

    strip_half_width = 1.0

    def value(self, margin):
        root = np.sqrt(1.0 + margin**2)
        return np.where(margin > 0.0, 1.0 / (root + np.abs(margin)), root - margin)

    def derivative(self, margin):
        return -self.value(margin) / np.sqrt(1.0 + margin**2)

    def second_derivative(self, margin):
        return (1.0 + margin**2) ** -1.5


class Gaussian(Loss):
    """A user's own that falls faster than an exponential."""

    strip_half_width = 2.0
    tails = Tails((2.0,))

    def value(self, margin):
        return erfc(margin)

    def derivative(self, margin):
        return -2.0 / np.sqrt(np.pi) * np.exp(-(margin**2))

    def second_derivative(self, margin):
        return 4.0 / np.sqrt(np.pi) * margin * np.exp(-(margin**2))


class Rough(Loss):
    """A loss that claims more smoothness than it has."""

    strip_half_width = 3.0

    def value(self, margin):
        return np.maximum(0.0, 1.0 - margin)

    def derivative(self, margin):
        return -(margin < 1.0).astype(float)

    def second_derivative(self, margin):
        return np.zeros_like(margin)


SORTED = [loss for loss in BUILT_IN if loss.pieces] + [Ramp(), Huberised(), Quartic()]
SMOOTH = [loss for loss in BUILT_IN if loss.strip_half_width]
SMOOTH += [losses.Sigmoid(0.05), losses.SmoothedHinge(300.0)]


def name(loss):
    return repr(loss) if "object" not in repr(loss) else type(loss).__name__


def scores_and_weights(seed, spread, n_positives=40, n_negatives=60):
    rng = np.random.default_rng(seed)
    s, t = (spread * rng.normal(size=n) + 3.0 * rng.integers(-1, 2, n) for n in (n_positives, n_negatives))
    s[: len(s) // 4] = np.round(s[: len(s) // 4])
    t[: len(t) // 4] = np.round(t[: len(t) // 4])
    return s, t, rng.random(n_positives), rng.random(n_negatives)


def orders(loss):
    return 3 if loss.twice_differentiable else 2 if not isinstance(loss, losses.ZeroOne) else 1


def exact(loss, s, t):
    """The loss and its derivatives of all pairs."""
    margins = s[:, None] - t[None, :]
    functions = (loss.value, loss.derivative, loss.second_derivative)[: orders(loss)]
    return [function(margins) for function in functions]


@pytest.mark.parametrize(("loss", "spread"), each_and_some(SORTED, SPREADS, n_random=2), ids=name)
def test_sums_of_piecewise_polynomials_are_exact(loss, spread):
    for seed in range(5):
        s, t, w, z = scores_and_weights(seed, spread)
        sums = SortedSums(loss, s, t, w)
        for order, pairs in enumerate(exact(loss, s, t)):
            # relative to the same sum of absolute values: no digits cancel
            size = np.abs(pairs)
            error = np.abs(sums._over_positives(order) - w @ pairs)
            assert (error <= 1e-12 * (w @ size)).all()
            error = np.abs(sums._over_negatives(order, z) - w * (pairs @ z))
            assert (error <= 1e-12 * w * (size @ z)).all()


@pytest.mark.parametrize(
    ("loss", "spread", "accuracy"), each_and_some(SMOOTH, SPREADS, [1e-4, 1e-10]), ids=name
)
def test_sums_of_analytic_losses_are_as_accurate_as_asked(loss, spread, accuracy):
    for seed in range(3):
        s, t, w, z = scores_and_weights(seed, spread)
        check_accuracy(loss, s, t, w, z, accuracy)


def check_accuracy(loss, s, t, w, z, accuracy, floor=1e-280):
    sums = SmoothSums(loss, s, t, w, None, accuracy)
    pairs = exact(loss, s, t)
    unit = loss.strip_half_width
    size = sum(unit**order * np.abs(values) for order, values in enumerate(pairs)) + floor
    allowed = accuracy + 1e-11 * (np.abs(s).max() + np.abs(t).max() <= 1e4) + 1e-9 * (unit < 0.1)
    for order, values in enumerate(pairs):
        error = unit**order * np.abs(sums._over_positives(order) - w @ values)
        assert (error <= allowed * (w @ size)).all()
        error = unit**order * np.abs(sums._over_negatives(order, z) - w * (values @ z))
        assert (error <= allowed * w * (size @ z)).all()


@given(
    st.sampled_from(SMOOTH[:4]),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
    st.floats(1e-9, 1.0),
)
def test_accuracy_holds_for_any_scores(loss, s, t, scale):
    s, t = scale * np.array(s), scale * np.array(t)
    check_accuracy(loss, s, t, np.ones(len(s)), np.ones(len(t)), 1e-10)


@pytest.mark.parametrize("sharpness", [1e6, 1e12])
def test_a_bend_narrower_than_the_rounding_of_margins_is_summed_as_far_as_margins_tell(sharpness):
    s, t, w, z = scores_and_weights(0, 3.0)
    t[: len(t) // 2] = s[0] - 1.0 + np.linspace(-2.0, 2.0, len(t) // 2) / sharpness
    check_accuracy(losses.SmoothedHinge(sharpness), s, t, w, z, 1e-15 * sharpness)


def test_losses_with_other_tails():
    s, t, w, z = scores_and_weights(0, 20.0)
    check_accuracy(Root(), s, t, w, z, 1e-10)
    check_accuracy(Gaussian(), s, t, w, z, 1e-10, floor=1e-3)  # absolute, beyond what a double holds of 1 - x
    with pytest.raises(ValueError, match=r"too far for .*Root"):
        SmoothSums(Root(), s * 1e3, t, w)
    with pytest.raises(ValueError, match="not as smooth as strip_half_width=3 says"):
        SmoothSums(Rough(), s, t, w)


@pytest.mark.parametrize("accuracy", [0.1, 1e-4, 1e-10, 1e-13])
@pytest.mark.parametrize("loss", SMOOTH, ids=name)
def test_tails_are_those_that_are_declared(loss, accuracy):
    """Beyond the near field a loss and its derivatives are their tails; within it few nodes interpolate."""
    assert len(expansion(loss, accuracy).nodes) <= 15
    tails, tolerance = loss.tails, max(accuracy, 1e-12)
    edge = loss.strip_half_width / np.pi * np.log(100 / accuracy) * np.array([1.0, 1.2, 5.0])
    left, right = loss.expansion_centre - edge, loss.expansion_centre + edge
    expected = np.exp(tails.log_size - tails.rate * right)
    np.testing.assert_allclose(loss.value(right), expected, rtol=tolerance)
    np.testing.assert_allclose(loss.derivative(right), -tails.rate * expected, rtol=tolerance)
    expected = tails.left @ (-left) ** np.arange(len(tails.left))[:, None]
    np.testing.assert_allclose(loss.value(left), expected, rtol=tolerance)


@pytest.mark.parametrize(
    ("tails", "message"),
    [
        (Tails((0.0, 1.1), 0.0, 1.0), "does not have the left tail that it declares"),
        (Tails((0.0, 1.0), 0.1, 1.0), "does not have the right tail that it declares"),
        (Tails((0.0, 1.0), 0.0, 0.9), "does not have the right tail that it declares"),
        (Tails((0.0, 1.0)), "does not have the right tail that it declares"),
        (Tails((0.0, 0.0, 0.0, 1.0)), "of degree 2 at most"),
    ],
)
def test_false_tails_are_detected(tails, message):
    loss = type("Bad", (losses.Logistic,), {"tails": tails})()
    with pytest.raises(ValueError, match=message):
        expansion(loss, 1e-10)


def test_a_tail_without_its_digits_is_detected():
    def derivative(_, margin):
        return -0.5 * (1.0 - np.tanh(0.5 * margin))

    loss = type("Bad", (losses.Logistic,), {"derivative": derivative})()
    with pytest.raises(ValueError, match=r"the right tail .* loses its digits there"):
        expansion(loss, 1e-10)


@pytest.mark.parametrize("strip", [0.0, -1.0, np.inf, np.nan])
def test_a_strip_is_a_positive_number(strip):
    loss = type("Bad", (Root,), {"strip_half_width": strip})()
    with pytest.raises(ValueError, match="a positive finite number is needed"):
        SmoothSums(loss, np.zeros(1), np.zeros(1), None)


def test_pieces_end_at_rising_margins():
    loss = type("Bad", (Ramp,), {"pieces": Ramp.pieces[::-1]})()
    with pytest.raises(ValueError, match="must end at rising finite margins"):
        SortedSums(loss, np.zeros(1), np.zeros(1), None)


@pytest.mark.parametrize(
    ("loss", "price", "side"),
    each_and_some(BUILT_IN, [*prices.__all__, Power(16.0)], ["push", "pull", "both"]),
    ids=repr,
)
def test_every_loss_and_price_without_a_pass_over_pairs(loss, price, side, monkeypatch):
    """What the objective's laws check over few pairs, with the ways that many pairs go."""
    monkeypatch.setattr("pushrank.pairs.tolerances.MAX_BLOCKED_PAIRS", 0)
    price = getattr(prices, price)() if isinstance(price, str) else price
    fast = PushObjective(loss, price, side, bottom_weight=0.7)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(30) < 10)
        scores, w = rng.integers(-9, 10, 30) / 8, rng.integers(1, 4, 30) / 2
        if isinstance(price, prices.ExponentialPrice):
            w = w / 10  # beyond a sum of 700 the price overflows
        p = getattr(price, "p", getattr(price, "share", None))
        names = type(loss).__name__, type(price).__name__
        expected = brute_force(y, scores, w, *names, p, side, 0.7)
        assert fast.value(y, scores, w) == pytest.approx(expected, rel=1e-9)
        if not (loss.differentiable and price.smooth):
            continue
        sample = BipartiteSample.from_labels(y, w)
        at_point = fast.evaluation(sample, scores)
        gradient = sample.scatter(*at_point.gradient())
        direction = rng.normal(size=30)
        product = sample.scatter(*at_point.hessian_product(sample.gather(direction)))
        monkeypatch.setattr("pushrank.pairs.tolerances.MAX_BLOCKED_PAIRS", 1 << 20)
        pair_by_pair = fast.evaluation(sample, scores)
        of_pairs = sample.scatter(*pair_by_pair.gradient())
        np.testing.assert_allclose(gradient, of_pairs, rtol=1e-8, atol=1e-9 * np.abs(of_pairs).max())
        of_pairs = sample.scatter(*pair_by_pair.hessian_product(sample.gather(direction)))
        np.testing.assert_allclose(product, of_pairs, rtol=1e-7, atol=1e-8 * np.abs(of_pairs).max())
        monkeypatch.setattr("pushrank.pairs.tolerances.MAX_BLOCKED_PAIRS", 0)


@pytest.mark.parametrize("loss", [*SORTED[:2], Ramp(), *SMOOTH[:4]], ids=name)
def test_splits_are_summed_apart(loss):
    rng = np.random.default_rng(0)
    n = 300
    grades, groups = rng.integers(0, 4, n).astype(float), rng.integers(0, 12, n)
    scores, w, z = 8.0 * rng.normal(size=n), rng.random(n), rng.random(n)
    blocks = grade_blocks(grades, groups, grades, groups)
    kind = SortedSums if loss.pieces else SmoothSums
    sums = kind(loss, scores, scores, w, blocks)
    compared = (grades[:, None] > grades[None]) & (groups[:, None] == groups[None])
    for order, pairs in enumerate(exact(loss, scores, scores)):
        counted = np.where(compared, pairs, 0.0)
        np.testing.assert_allclose(sums._over_positives(order), w @ counted, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(sums._over_negatives(order, z), w * (counted @ z), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("loss", [*SORTED[:-1], *SMOOTH[:4]], ids=name)
@pytest.mark.parametrize("far", [1e100, 1e154, 1e300])
def test_scores_whose_squares_are_beyond_the_floats_have_their_sums(loss, far):
    rng = np.random.default_rng(0)
    s, t = (far * rng.choice([-1.0, 0.0, 0.5, 1.0], n) + rng.normal(size=n) for n in (60, 70))
    kind = SortedSums if loss.pieces else SmoothSums
    with np.errstate(over="ignore"):  # the squared hinge is beyond the floats itself
        sums, slow = (way(loss, s, t, None) for way in (kind, BlockedSums))
    np.testing.assert_allclose(sums._sums, slow._sums, rtol=1e-9)
    if not isinstance(loss, losses.ZeroOne):
        np.testing.assert_allclose(sums._slopes, slow._slopes, rtol=1e-9, atol=1e-12)
    if loss.twice_differentiable:
        np.testing.assert_allclose(sums._curvatures, slow._curvatures, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "sigmoid"])
def test_no_path_allocates_a_pair_each(loss):
    """A million pairs a row would be 8 GB; what is allocated is a few vectors."""
    rng = np.random.default_rng(0)
    n = 40_000
    y, scores = np.arange(n) % 2 == 0, rng.normal(size=n)
    objective = PushObjective(loss, Power(4), "both", "log")
    objective.evaluate(y, scores)
    assert held(lambda: objective.evaluate(y, scores)) < 60 * 8 * n


@pytest.mark.parametrize(
    ("loss", "spread", "n"), [("hinge", 1.0, 400_000), ("logistic", 1.0, 400_000), ("logistic", 1e6, 100_000)]
)
def test_time_grows_as_the_rows_do(loss, spread, n):

    def work(n):
        rng = np.random.default_rng(0)
        y, scores = np.arange(n) % 4 == 0, spread * rng.normal(size=n)
        return lambda: PushObjective(loss, Power(2), scale="log").evaluate(y, scores)

    assert growth(work, n) < 4


def test_blocks_and_fast_sums_have_one_calculus():
    s, t, w, z = scores_and_weights(3, 1.0)
    us, ut = np.random.default_rng(4).normal(size=len(s)), np.random.default_rng(5).normal(size=len(t))
    for loss in (losses.SquaredHinge(), Huberised(), losses.Logistic()):
        fast = (SortedSums if loss.pieces else SmoothSums)(loss, s, t, w)
        slow = BlockedSums(loss, s, t, w)
        found = [fast.jacobian_product(us, ut), *fast.adjoint_product(z)]
        expected = [slow.jacobian_product(us, ut), *slow.adjoint_product(z)]
        found += [*fast.curvature_product(z, us, ut), *fast.diagonal(z, 2.0 * z)]
        expected += [*slow.curvature_product(z, us, ut), *slow.diagonal(z, 2.0 * z)]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * np.abs(b).max())
