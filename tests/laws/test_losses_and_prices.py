"""Every loss and every price keeps the laws of its kind; a new member enters by being listed."""

import pickle

import numpy as np
import pytest

import oracle
from pushrank import losses, prices
from pushrank._base.validation import snake_case

pytestmark = pytest.mark.fast

LOSSES = [losses.resolve(snake_case(name)) for name in losses.__all__]
PRICES = [prices.resolve(snake_case(name)) for name in prices.__all__]
PRICES += [prices.Power(p) for p in (1, 1.5, 16, 64)]
SMOOTH_PRICES = [price for price in PRICES if price.smooth]
SMOOTHED_PRICES = [price.smoothed(0.7) for price in PRICES if not price.smooth]
MARGINS = np.array([-3.0, -0.7, -1e-3, 0.4, 0.9, 1.3, 5.0])
LOG_SUMS = np.log([0.3, 1.0, 2.5, 4.0])
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0])


def slope(function, at, step=1e-6):
    return (function(at + step) - function(at - step)) / (2 * step)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
class TestLosses:
    def test_falls_with_the_margin_and_is_not_negative(self, loss):
        values = loss.value(np.linspace(-5, 5, 101))
        assert (values >= 0).all()
        assert (np.diff(values) <= 0).all()

    def test_derivatives_are_derivatives(self, loss):
        if isinstance(loss, losses.ZeroOne):
            with pytest.raises(TypeError, match="no derivative"):
                loss.derivative(MARGINS)
            return
        np.testing.assert_allclose(loss.derivative(MARGINS), slope(loss.value, MARGINS), atol=1e-6, rtol=1e-6)
        if loss.twice_differentiable:
            expected = slope(loss.derivative, MARGINS)
            np.testing.assert_allclose(loss.second_derivative(MARGINS), expected, atol=1e-6, rtol=1e-6)
        else:
            with pytest.raises(TypeError, match="no second derivative"):
                loss.second_derivative(MARGINS)

    def test_bounds_the_error_count(self, loss):
        margins = np.linspace(-5, 5, 101)
        scale = min(1.0, loss.value(np.zeros(1))[0])
        assert (loss.value(margins) >= scale * (margins <= 0)).all()

    def test_extreme_margins(self, loss):
        far = np.array([-500.0, 500.0, 1e30])
        assert not np.isnan(loss.value(far)).any()
        if loss.differentiable:
            assert not np.isnan(loss.derivative(far)).any()

    def test_is_a_value(self, loss):
        assert pickle.loads(pickle.dumps(loss)) == loss  # noqa: S301
        assert hash(loss) == hash(type(loss)())
        with pytest.raises(AttributeError):
            loss.anything = 1


@pytest.mark.parametrize("price", PRICES, ids=repr)
class TestPrices:
    def test_total_is_the_weighted_sum_of_values(self, price):
        sums = np.exp(LOG_SUMS)
        whole = isinstance(price, prices.Maximum)
        expected = oracle.price("Maximum", None)(sums, WEIGHTS) if whole else WEIGHTS @ price.value(sums)
        assert price.total(LOG_SUMS, WEIGHTS, "raw").value == pytest.approx(expected)

    def test_log_scale_is_the_logarithm(self, price):
        divisor = price.log_divisor
        if divisor is None:
            with pytest.raises(ValueError, match="no log scale"):
                price.total(LOG_SUMS, WEIGHTS, "log")
            return
        raw = price.total(LOG_SUMS, WEIGHTS, "raw").value
        assert price.total(LOG_SUMS, WEIGHTS, "log").value == pytest.approx(np.log(raw) / divisor)

    def test_sums_of_zero(self, price):
        zero = np.array([-np.inf, -np.inf])
        raw = price.total(zero, 1.0, "raw")
        assert raw.value == (2.0 if isinstance(price, prices.ExponentialPrice) else 0.0)
        assert (raw.gradient == 0).all()

    def test_is_a_value(self, price):
        assert pickle.loads(pickle.dumps(price)) == price  # noqa: S301


@pytest.mark.parametrize(
    ("price", "scale"),
    [(price, "raw") for price in SMOOTH_PRICES + SMOOTHED_PRICES]
    + [(price, "log") for price in SMOOTH_PRICES if price.log_divisor is not None],
    ids=str,
)
def test_price_derivatives(price, scale):
    total = price.total(LOG_SUMS, WEIGHTS, scale)
    hessian = np.diag(total.curved) - total.coupling * np.outer(total.gradient, total.gradient)
    size = np.abs(total.gradient).max()
    for k in range(len(LOG_SUMS)):
        step = np.zeros(4)
        step[k] = 1e-6  # p = 64 bends on the scale of 1/64
        up, down = (price.total(LOG_SUMS + s, WEIGHTS, scale) for s in (step, -step))
        assert total.gradient[k] == pytest.approx((up.value - down.value) / 2e-6, abs=1e-6 * size, rel=1e-5)
        bend = (up.gradient - down.gradient) / 2e-6
        np.testing.assert_allclose(hessian[k], bend, atol=1e-6 * total.curved.max(), rtol=1e-4)


@pytest.mark.parametrize("p", [64.0, 1000.0])
def test_large_powers_are_finite_on_the_log_scale(p):
    far = np.array([-1e6, 0.0, 1e6])
    total = prices.Power(p).total(far, 1.0, "log")
    assert total.value == pytest.approx(1e6)
    np.testing.assert_allclose(total.gradient, [0, 0, 1])
    assert np.isinf(prices.Power(p).total(far, 1.0, "raw").value)


def test_log_scale_of_powers_falls_to_the_maximum():
    totals = [prices.Power(p).total(LOG_SUMS, 1.0, "log").value for p in (1, 2, 8, 64, 1000)]
    limit = prices.Maximum().total(LOG_SUMS, 1.0, "log").value
    assert (np.diff(totals) < 0).all()
    assert totals[-1] == pytest.approx(limit, abs=2e-3)


SHARP = [losses.Sigmoid, losses.SmoothedHinge]


@pytest.mark.parametrize(
    ("make", "given", "error", "message"),
    [
        *((prices.Power, p, ValueError, "p must be finite and >= 1") for p in (0.99, -1, np.nan, np.inf)),
        *((prices.Power, p, TypeError, "p must be a number") for p in ("4", None, True)),
        *((loss, 0, ValueError, "sharpness must be finite and > 0, got 0") for loss in SHARP),
        *((loss, "high", TypeError, "sharpness must be a number, got 'high'") for loss in SHARP),
        (losses.resolve, "exp", ValueError, r"loss='exp' is not known; use one of \['exponential'"),
        (prices.resolve, 4, TypeError, "price must be one of"),
    ],
)
def test_parameters_and_names_out_of_range_are_refused(make, given, error, message):
    with pytest.raises(error, match=message):
        make(given)


def test_names_stand_for_members():
    assert losses.resolve("squared_hinge") == losses.SquaredHinge()
    assert prices.resolve("log_one_plus") == prices.LogOnePlus()
