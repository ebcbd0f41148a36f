"""Arrays of other libraries are used where they are, and give what NumPy's give."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import pushrank
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
        n_random=15,
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


FITS = """
from functools import partial
import numpy as np
import pytest
import sklearn
from pushrank import CascadeRanker, InfinitePush, IRPush
from pushrank import PNormPush, PushBoost, PushRanker, RankBoost
from pushrank.prices import Power

library = __import__(name)
asarray, host = library.asarray, np.asarray
if name == "array_api_strict":  # on a device of which NumPy knows nothing, where results must stay
    asarray, host = partial(asarray, device=library.Device("device1")), np.from_dlpack
rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 6))
y = (X @ rng.normal(size=6) + rng.normal(size=1500) > 1.5).astype(int)
w = rng.integers(0, 3, 1500).astype(float)
rankers = [
    PushRanker("logistic", Power(4)),
    PushRanker("squared_hinge", "log_one_plus", side="pull"),
    PushRanker("exponential", Power(2), solver="newton-cg"),
    PNormPush(2.0, side="both"),
    PNormPush(2.0, solver="newton-cg"),
    IRPush(),
    PNormPush(2.0, side="pull"),
]
sklearn.set_config(array_api_dispatch=True)
for ranker in rankers:
    for dtype, digits, weights in ((np.float64, 1e-3, w), (np.float32, 1e-2, None)):
        here = X.astype(dtype)
        expected = ranker.fit(here, y, weights)
        coef, threshold, ranks = expected.coef_, expected.threshold_, expected.rank(here)
        labels, score = expected.predict(here), expected.score(here, y)
        there = asarray(here)
        found = ranker.fit(there, asarray(y), None if weights is None else asarray(w))
        assert type(found.coef_) is type(there) and found.coef_.dtype == there.dtype
        assert found.converged_
        np.testing.assert_allclose(host(found.coef_), coef, atol=digits * np.abs(coef).max())
        assert abs(found.threshold_ - threshold) < 10 * digits * np.abs(coef).max()
        assert type(found.decision_function(there)) is type(there)
        assert np.mean(host(found.predict(there)) == labels) > 0.995
        assert abs(found.score(there, asarray(y)) - score) < 1e-3
        assert host(found.rank(there)).shape == ranks.shape
        with pytest.raises(TypeError, match="library that it was fitted to"):
            found.decision_function(here)
        scores = found.decision_function(asarray(X, dtype=library.float64))
        assert scores.dtype == there.dtype
        shown = found.decision_function(asarray(X, dtype=library.float32))
        assert shown.dtype == there.dtype
        np.testing.assert_allclose(host(scores), host(shown), atol=1e-5 * np.abs(coef).max())

low = np.float32(1.6369617)  # the middle of its score and the next rounds to the upper one
neighbours = np.array([[low], [np.nextafter(low, np.float32(2.0))]])
pair = asarray(neighbours), asarray(np.array([0, 1]))
assert host(PushRanker(alpha=1e-9, tol=1e-9).fit(*pair).predict(pair[0])).tolist() == [0, 1]

there, labels = asarray(X), asarray(y)
for ranker, message in (
    (PushRanker("hinge"), "prices without kinks"),
    (PushRanker(solver="coordinate"), "solver='lbfgs' and 'newton-cg' alone"),
    (PushRanker(), "exactly 2 classes"),
    (PushBoost(n_estimators=5), "and X is .*: convert it. PushRanker, PNormPush and IRPush take"),
    (InfinitePush(), "takes NumPy arrays and sparse matrices only"),
    (CascadeRanker([PushRanker()] * 2), "takes NumPy arrays and sparse matrices only"),
):
    with pytest.raises((TypeError, ValueError), match=message):
        ranker.fit(there, labels if "classes" not in message else asarray(np.arange(1500) % 3))
for ranker in (PushRanker(), CascadeRanker(), RankBoost(n_estimators=5)):
    for arguments, name in (((X, labels), "y"), ((X, y, asarray(w)), "sample_weight")):
        with pytest.raises(TypeError, match=f"only here, and {name} is"):
            ranker.fit(*arguments)
    with pytest.raises(TypeError, match="fitted to ndarray|only here, and X is"):
        ranker.fit(X, y).decision_function(there)
with pytest.raises(ValueError, match="query groups are taken with NumPy"):
    PushRanker().fit(there, labels, qid=np.zeros(1500))
if name == "torch":
    expected = PushRanker("logistic").fit(there, labels).coef_
    found = PushRanker("logistic").fit(there.clone().requires_grad_(True), labels).coef_
    assert not found.requires_grad and bool((found == expected).all())
print(library.__name__)
"""


IN_TURN = """
import sys
for name in sys.argv[2:]:
    exec(sys.argv[1], {"name": name})
"""


def test_fits_run_where_the_data_are():
    """In a process of its own: SciPy reads its switch for arrays of other libraries when it is imported."""
    source = str(Path(pushrank.__file__).parents[1])
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": source}
    command = [sys.executable, "-c", IN_TURN, FITS, *LIBRARIES]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == LIBRARIES


def test_prices_of_zero_sums_on_a_device(asarray):
    """Sums that vanish have neither value nor slope."""
    y, scores = np.array([True, False, False]), np.array([0.0, -9.0, -5.0])
    objective = PushObjective(losses.SquaredHinge(), prices.Power(2.0), scale="log")
    value, gradient = objective.evaluate(asarray(y), asarray(scores))
    assert value == -np.inf
    np.testing.assert_array_equal(to_host(gradient), 0.0)
