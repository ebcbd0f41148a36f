"""Sums over pairs run where the arrays are, whatever their library, and are those of NumPy's arrays."""

import importlib
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest

from combinations import each_and_some
from pushrank import PushObjective, losses, prices
from pushrank._array import to_host
from pushrank.pairs import ArraySample, BipartiteSample, SmoothSums, SortedSums
from pushrank.prices import Power

# Without torch its parameters are left out: tests/interop/test_torch.py says once that it is not installed.
LIBRARIES = ["array_api_strict", *(["torch"] if find_spec("torch") else [])]
LEARNED = [name for name in losses.__all__ if name != "ZeroOne"]


@pytest.fixture(params=LIBRARIES)
def asarray(request):
    """Put an array where results must stay: array-api-strict has a device that NumPy cannot read."""
    library = importlib.import_module(request.param)
    if request.param == "torch":
        return library.asarray
    return partial(library.asarray, device=library.Device("device1"))


def data(n=120):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return y, rng.normal(size=n) + y, rng.random(n), rng.normal(size=n)


@pytest.mark.parametrize(
    ("loss", "price", "side"),
    each_and_some(
        LEARNED,
        ["identity", Power(4), "exponential_price", "log_one_plus", "maximum"],
        ["push", "pull", "both"],
        n_random=3,
    ),
    ids=str,
)
def test_objectives_are_those_of_numpy(loss, price, side, asarray, monkeypatch):
    monkeypatch.setattr("pushrank.pairs.tolerances.MAX_BLOCKED_PAIRS", 0)
    y, scores, w, direction = data()
    w /= 30  # beyond a sum of 700 the exponential price overflows
    on_device = [asarray(values) for values in (y, scores, w, direction)]
    for scale in ("log", "mean"):
        if scale == "log" and price == "log_one_plus":
            continue
        objective = PushObjective(getattr(losses, loss)(), price, side, scale, bottom_weight=0.7)
        value, gradient = objective.evaluate(y, scores, w)
        found, slopes = objective.evaluate(*on_device[:3])
        assert type(slopes) is type(on_device[1])
        assert found == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(to_host(slopes), gradient, rtol=1e-7, atol=1e-9 * abs(gradient).max())
        if objective.twice_differentiable:
            expected = objective.hessian_vector_product(y, scores, direction, w)
            product = objective.hessian_vector_product(*on_device[:2], on_device[3], on_device[2])
            np.testing.assert_allclose(to_host(product), expected, rtol=1e-6, atol=1e-8 * abs(expected).max())


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.ZeroOne(), losses.Logistic()], ids=str)
def test_sums_of_scores_far_apart(loss, asarray):
    y, scores, w, _ = data()
    scores = np.round(1e4 * scores) / 16
    here, there = BipartiteSample.from_mask(y, w), ArraySample.from_mask(asarray(y), asarray(w))
    kind = SortedSums if loss.pieces else SmoothSums
    expected = kind(loss, *here.gather(scores), here.positive_weights)
    found = kind(loss, *there.gather(asarray(scores)), there.positive_weights)
    sums = np.exp(to_host(found.log_sums))
    np.testing.assert_allclose(sums, np.exp(expected.log_sums), rtol=1e-9, atol=1e-7)


def test_samples_on_a_device(asarray):
    y, scores, w, _ = data(20)
    w[3] = 0.0
    here, there = BipartiteSample.from_mask(y, w), ArraySample.from_mask(asarray(y), asarray(w))
    for one, other, at in ((here, there, scores), (here.swapped(), there.swapped(), -scores)):
        parts = one.gather(at)
        for a, b in zip(parts, other.gather(asarray(at)), strict=True):
            np.testing.assert_array_equal(to_host(b), a)
        np.testing.assert_array_equal(to_host(other.scatter(*map(asarray, parts))), one.scatter(*parts))
        assert other.least_margin(asarray(at)) == one.least_margin(at)
    with pytest.raises(ValueError, match="no negative example"):
        ArraySample.from_mask(asarray(np.ones(3, dtype=bool)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.zeros(3)}, "exactly 2 classes, found 1"),
        ({"scores": np.array([0.0, np.nan, 1.0])}, "NaN or infinity"),
        ({"scores": np.zeros((3, 1))}, "one-dimensional"),
        ({"y": np.array([0, 1])}, "of its shape"),
        ({"sample_weight": np.array([1.0, -1.0, 1.0])}, "must not be negative"),
    ],
)
def test_bad_input(change, message, asarray):
    arguments = {"y": np.array([0, 1, 0]), "scores": np.zeros(3), **change}
    with pytest.raises(ValueError, match=message):
        PushObjective().evaluate(**{name: asarray(value) for name, value in arguments.items()})


def test_arrays_of_two_libraries_are_told(asarray):
    y, scores, w, direction = data(9)
    objective = PushObjective("logistic")
    here = asarray(y), asarray(scores)
    value, _ = objective.evaluate(*here, w)  # weights are put beside the scores, as in fit
    assert value == pytest.approx(objective.evaluate(y, scores, w)[0])
    with pytest.raises(ValueError, match="vector must be an array of the library of scores, got ndarray"):
        objective.hessian_vector_product(*here, direction)


def test_tensors_that_record_gradients_are_taken_as_numbers():
    torch = pytest.importorskip("torch")
    y, scores, _, _ = data(9)
    recording = torch.asarray(scores).requires_grad_(True)
    gradient = PushObjective("logistic").evaluate(torch.asarray(y), recording)[1]
    assert not gradient.requires_grad
    np.testing.assert_allclose(gradient.numpy(), PushObjective("logistic").evaluate(y, scores)[1], atol=1e-12)


def test_prices_of_zero_sums_on_a_device(asarray):
    """Sums that vanish have neither value nor slope."""
    y, scores = np.array([True, False, False]), np.array([0.0, -9.0, -5.0])
    objective = PushObjective(losses.SquaredHinge(), prices.Power(2.0), scale="log")
    value, gradient = objective.evaluate(asarray(y), asarray(scores))
    assert value == -np.inf
    np.testing.assert_array_equal(to_host(gradient), 0.0)
