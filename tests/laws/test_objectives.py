"""Every loss with every price, side and scale equals the sum over all pairs, and so do its derivatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import each_and_some
from growth import held
from oracle import objective as brute_force
from pushrank import PushObjective, losses, prices
from pushrank.losses import Loss
from pushrank.pairs import BipartiteSample, BlockedSums, FactorisedSums, SortedSums
from pushrank.prices import Power
from users_own import Quadratic

pytestmark = pytest.mark.fast

LOSSES = [getattr(losses, name)() for name in losses.__all__]
PRICES = [getattr(prices, name)() for name in prices.__all__]
PRICES += [Power(1.5), Power(8)]
SMOOTH = [loss for loss in LOSSES if loss.twice_differentiable]
SIDES = ["push", "pull", "both"]


def sample(seed=0, n=14, ties=True):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) < max(2, n // 3))
    scores = rng.integers(-4, 5, n) / 4 if ties else rng.normal(size=n)
    return y, scores.astype(float), rng.integers(1, 4, n).astype(float)


def brute(objective, y, scores, w):
    p = getattr(objective.price, "p", getattr(objective.price, "share", None))
    names = type(objective.loss).__name__, type(objective.price).__name__
    return brute_force(y, scores, w, *names, p, objective.side, objective.bottom_weight)


def numeric_gradient(objective, y, scores, w, step=1e-5):
    gradient = np.zeros_like(scores)
    for i in range(len(scores)):
        move = np.zeros_like(scores)
        move[i] = step
        up, down = (objective.value(y, scores + m, w) for m in (move, -move))
        gradient[i] = (up - down) / (2 * step)
    return gradient


@pytest.mark.parametrize(("loss", "price", "side"), each_and_some(LOSSES, PRICES, SIDES), ids=repr)
def test_value_is_the_sum_over_pairs(loss, price, side):
    for seed in range(3):
        y, scores, w = sample(seed)
        objective = PushObjective(loss, price, side, bottom_weight=0.7)
        expected = brute(objective, y, scores, w)
        assert objective.value(y, scores, w) == pytest.approx(expected, rel=1e-12)
        if price.log_divisor is not None:
            log = PushObjective(loss, price, side, scale="log", bottom_weight=0.7)
            if isinstance(price, prices.Maximum) and side == "both":
                continue  # a sum of two maxima
            assert log.value(y, scores, w) == pytest.approx(np.log(expected) / price.log_divisor, abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "price", "side", "scale"),
    each_and_some(SMOOTH, [price for price in PRICES if price.smooth], SIDES, ["raw", "log", "mean"]),
    ids=repr,
)
def test_gradient_and_hessian(loss, price, side, scale):
    if scale == "log" and price.log_divisor is None:
        with pytest.raises(ValueError, match="no log scale"):
            PushObjective(loss, price, side, scale)
        return
    y, scores, w = sample(1, n=9, ties=False)
    objective = PushObjective(loss, price, side, scale, bottom_weight=0.7)
    value, gradient = objective.evaluate(y, 0.3 * scores, w)
    assert value == objective.value(y, 0.3 * scores, w)
    size = np.abs(gradient).max()
    slopes = numeric_gradient(objective, y, 0.3 * scores, w)
    np.testing.assert_allclose(gradient, slopes, atol=1e-6 * size, rtol=1e-4)
    assert gradient.sum() == pytest.approx(0, abs=1e-9 * size)  # pairs ignore a constant
    direction = np.random.default_rng(2).normal(size=len(y))
    rows, checked = objective.checked(y, 0.3 * scores, w)
    product = rows.scatter(*objective.evaluation(rows, checked).hessian_product(rows.gather(direction)))
    up, down = (objective.evaluate(y, 0.3 * scores + s * direction, w)[1] for s in (1e-5, -1e-5))
    np.testing.assert_allclose(product, (up - down) / 2e-5, atol=1e-5 * np.abs(product).max(), rtol=1e-4)


@pytest.mark.parametrize(("loss", "price", "side"), each_and_some(LOSSES, PRICES, SIDES, seed=1), ids=repr)
def test_weights_are_copies_and_zero_is_removal(loss, price, side):
    y, scores, w = sample(4)
    objective = PushObjective(loss, price, side)
    copies = np.repeat(np.arange(len(y)), w.astype(int))
    whole = objective.value(y[copies], scores[copies])
    if not isinstance(price, prices.Maximum):
        assert objective.value(y, scores, w) == pytest.approx(whole, rel=1e-12)
    kept = np.arange(len(y)) != np.flatnonzero(y)[0]
    assert objective.value(y, scores, w * kept) == pytest.approx(
        objective.value(y[kept], scores[kept], w[kept]), rel=1e-12
    )
    if loss.differentiable and price.smooth:
        assert objective.evaluate(y, scores, w * kept)[1][~kept] == 0


@pytest.mark.parametrize("scale", ["raw", "log", "mean"])
def test_pull_is_push_with_the_classes_exchanged(scale):
    y, scores, w = sample(5)
    for loss in SMOOTH:
        push = PushObjective(loss, Power(3), "push", scale)
        pull = PushObjective(loss, Power(3), "pull", scale)
        value, gradient = push.evaluate(y, scores, w)
        mirrored, mirrored_gradient = pull.evaluate(~y, -scores, w)
        assert mirrored == pytest.approx(value)
        np.testing.assert_allclose(mirrored_gradient, -gradient)


@given(
    scores=st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=12),
    shift=st.floats(-1e3, 1e3),
    p=st.sampled_from([1.0, 4.0, 64.0, 1000.0]),
)
def test_exponential_loss_is_finite_on_the_log_scale(scores, shift, p):
    scores = np.array(scores)
    y = np.arange(len(scores)) % 2
    for side in SIDES:
        objective = PushObjective(price=Power(p), side=side, scale="log")
        value, gradient = objective.evaluate(y, scores)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
        assert objective.value(y, scores + shift) == pytest.approx(value, rel=1e-9, abs=1e-8)
        assert np.abs(gradient[y == 1]).sum() == pytest.approx(np.abs(gradient[y == 0]).sum())


def test_factorised_sums_are_blocked_sums():
    rng = np.random.default_rng(6)
    s, t, w = rng.normal(size=7), rng.normal(size=11), rng.random(7)
    two_classes = BipartiteSample.from_labels(np.repeat([1, 0], [7, 11]), np.append(w, np.ones(11)))
    fast, slow = FactorisedSums(two_classes, s, t), BlockedSums(losses.Exponential(), s, t, w)
    np.testing.assert_allclose(fast.log_sums, slow.log_sums, rtol=1e-13)
    us, ut, z = rng.normal(size=7), rng.normal(size=11), rng.random(11)
    np.testing.assert_allclose(fast.jacobian_product(us, ut), slow.jacobian_product(us, ut))
    for a, b in zip(fast.adjoint_product(z), slow.adjoint_product(z), strict=True):
        np.testing.assert_allclose(a, b)
    pairs = zip(fast.curvature_product(z, us, ut), slow.curvature_product(z, us, ut), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, atol=1e-13)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.SquaredHinge()], ids=str)
@pytest.mark.parametrize("spread", [0.3, 5.0, 1e6])
def test_sorted_sums_are_blocked_sums(loss, spread):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        s, t = (np.round(spread * rng.normal(size=n), 1) for n in (9, 13))
        w = rng.random(9) if seed % 2 else None
        fast, slow = SortedSums(loss, s, t, w), BlockedSums(loss, s, t, w)
        np.testing.assert_allclose(np.exp(fast.log_sums), np.exp(slow.log_sums), rtol=1e-12, atol=1e-300)
        us, ut, z = rng.normal(size=9), rng.normal(size=13), rng.normal(size=13)
        product = slow.jacobian_product(us, ut)
        np.testing.assert_allclose(fast.jacobian_product(us, ut), product, rtol=1e-9, atol=1e-11)
        products = [(fast.adjoint_product(z), slow.adjoint_product(z))]
        if loss.twice_differentiable:
            products.append((fast.curvature_product(z, us, ut), slow.curvature_product(z, us, ut)))
            products.append((fast.diagonal(z, z), slow.diagonal(z, z)))
        for found, expected in products:
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * np.abs(b).max())


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_of_any_size_give_the_same(monkeypatch, block):
    y, scores, w = sample(7, n=30)
    objective = PushObjective("logistic", Power(4))
    value, gradient = objective.evaluate(y, scores, w)
    monkeypatch.setattr("pushrank.pairs.tolerances.BLOCK_PAIRS", block)
    again, gradient_again = objective.evaluate(y, scores, w)
    assert again == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(gradient_again, gradient, rtol=1e-11)


def test_blocked_memory_is_bounded():
    rng = np.random.default_rng(8)
    y, scores = np.arange(8000) % 2, rng.normal(size=8000)
    # The first evaluation compiles functions, whose memory is not that of the pairs.
    PushObjective("logistic").evaluate(y, scores)
    peak = held(lambda: PushObjective("logistic").evaluate(y, scores))
    assert peak < 0.3 * 4000 * 4000 * 8  # all pairs at once would take 128 MB


def test_exponential_work_is_linear():
    """Counted in elements of the arrays that numpy's exponential sees."""
    seen = []
    for n in (1000, 4000):
        sums = FactorisedSums(BipartiteSample.from_labels(np.repeat([1, 0], n)), np.zeros(n), np.zeros(n))
        seen.append(sums.log_sums.size + sums.adjoint_product(np.ones(n))[0].size)
    assert seen[1] == 4 * seen[0]


class Cubic(Loss):
    """A user's own loss."""

    pieces = (losses.Piece(1.0, (0.0, 0.0, 0.0, 1.0)),)

    def value(self, margin):
        return np.maximum(0, 1 - margin) ** 3

    def derivative(self, margin):
        return -3 * np.maximum(0, 1 - margin) ** 2

    def second_derivative(self, margin):
        return 6 * np.maximum(0, 1 - margin)


def test_losses_and_prices_of_users():
    y, scores, w = sample(9, ties=False)
    objective = PushObjective(Cubic(), Quadratic(), "both")
    margins = scores[y][:, None] - scores[~y][None, :]
    each = np.maximum(0, 1 - margins) ** 3
    push, pull = w[y] @ each, each @ w[~y]
    expected = w[~y] @ (push + push**2) + w[y] @ (pull + pull**2)
    assert objective.value(y, scores, w) == pytest.approx(expected)
    gradient = objective.evaluate(y, scores, w)[1]
    np.testing.assert_allclose(gradient, numeric_gradient(objective, y, scores, w), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, 0, 0]}, "exactly 2 classes, found 1"),
        ({"y": [0, 1, 2]}, "exactly 2 classes, found 3"),
        ({"scores": [0.0, np.nan, 1.0]}, "NaN"),
        ({"scores": [0.0, np.inf, 1.0]}, "infinity"),
        ({"scores": [0.0, 1.0]}, "y has 3 rows but scores has shape"),
        ({"scores": [[0.0], [1.0], [2.0]]}, "one-dimensional"),
        ({"sample_weight": [1, -1, 1]}, "must not be negative"),
        ({"sample_weight": [0, 1, 0]}, "no negative example"),
    ],
)
def test_bad_input(change, message):
    arguments = {"y": [0, 1, 0], "scores": [0.0, 1.0, 2.0], **change}
    with pytest.raises(ValueError, match=message):
        PushObjective().evaluate(**arguments)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"side": "up"}, "side must be one of"),
        ({"scale": "ln"}, "scale must be one of"),
        ({"bottom_weight": 0}, "bottom_weight must be"),
        ({"loss": "l2"}, "loss='l2' is not known"),
        ({"price": "cubic"}, "price='cubic' is not known"),
        ({"price": "log_one_plus", "scale": "log"}, "LogOnePlus has no log scale"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        PushObjective(**parameters)


def test_losses_without_derivatives_are_errors():
    with pytest.raises(TypeError, match="ZeroOne has no derivative"):
        PushObjective("zero_one").evaluate([0, 1], [0.0, 1.0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("loss", ["exponential", "hinge", "logistic"])
@pytest.mark.parametrize("side", ["push", "pull"])
def test_an_objective_that_overflows_is_infinite_and_has_no_gradient(loss, side):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=60)
    y = (rng.random(60) < 0.3).astype(int)
    raw = PushObjective(loss, Power(1000), side)
    assert raw.value(y, scores) == np.inf
    with pytest.raises(ValueError, match="overflows on the scale 'raw' and has no gradient; use scale='log'"):
        raw.evaluate(y, scores)
    assert np.isfinite(PushObjective(loss, Power(1000), side, "log").evaluate(y, scores)[1]).all()
