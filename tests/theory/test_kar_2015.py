"""Theorems of Kar, Narasimhan and Jain (2015): mistakes, and what follows from uniform convergence."""

import math
from functools import partial

import numpy as np
import pytest

from combinations import by_day
from pushrank import PerceptronAtK, SGDAtK
from pushrank.objectives import PrecisionAtK
from pushrank.theory import kar_2015

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("variant", ["avg", "max"])
@pytest.mark.parametrize("shift", [0.5, 6.0])
def test_perceptrons_make_no_more_mistakes_than_any_coefficients_allow(variant, shift):
    theorem = partial(kar_2015.theorems_7_and_9, variant=variant)
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    X = rng.normal(size=(200, 2)) + shift * np.outer(y - 0.5, [1.0, 0.5])
    batches = [(X[start : start + 20], y[start : start + 20]) for start in range(0, 200, 20)]
    ranker = PerceptronAtK(k=0.5, variant=variant, batch_size=20, max_iter=1, shuffle=False).fit(X, y)
    w = np.array([1.0, 0.5])
    for length in (0.0, 0.3, 1.0, 3.0):
        assert ranker.n_mistakes_ <= theorem(length * w, batches, 0.5)
    by_margin = kar_2015.corollaries_8_and_10(w, batches, 0.5, variant=variant)
    assert math.isfinite(by_margin) == (shift == 6.0)
    assert ranker.n_mistakes_ <= by_margin
    if math.isfinite(by_margin):  # the theorem at the w that has the margin one
        unit = w / np.linalg.norm(w)
        margin = math.sqrt(4 * 6 * (X**2).sum(axis=1).max() / by_margin)
        longest = max(round(0.5 * labels.sum()) for _, labels in batches)
        assert theorem(unit / margin, batches, 0.5) * 6 / longest == pytest.approx(by_margin)


def test_what_follows_from_uniform_convergence():
    """Chances, not constants, are divided among batches: the bounds depend on T by its logarithm."""
    at = {"batch_size": 10**6, "kappa": 0.5, "base_rate": 0.4}
    epsilon = math.sqrt(math.log(4 / 0.05) / 2e6)
    assert kar_2015.theorem_12(10**6, 0.5, 0.4) == pytest.approx((1.5 * epsilon + 1e-6) / 0.2)
    found = kar_2015.theorem_12(10**6, 0.5, 0.4, largest_score=0.7, log_class_size=math.log(7))
    epsilon = math.sqrt(math.log(4 * 7 / 0.05) / 2e6)
    assert found == pytest.approx(10.0 * (epsilon + 1e-6) / 0.2)
    assert kar_2015.theorem_12(10**6, 0.5, 0.4, replacement=False) > kar_2015.theorem_12(10**6, 0.5, 0.4)
    one = kar_2015.theorem_13(0.1, 9, **at)
    assert one.excess == pytest.approx(kar_2015.theorem_12(10**6, 0.5, 0.4, delta=0.05 / 9))
    assert kar_2015.corollary_14(0.2, 0.0, 1.0, 9, **at) > 0.2
    assert kar_2015.corollary_14(0.2, 1.0, 1.0, 9, 20, 0.5, 0.4) == math.inf
    of_max = kar_2015.corollary_14(0.2, 0.5, 1.0, 9, **at, variant="max")
    assert of_max == kar_2015.corollary_14(0.2, 0.5, 1.0, 9, **at)
    with pytest.raises(ValueError, match="variant must be one of"):
        kar_2015.corollary_14(0.2, 0.5, 1.0, 9, **at, variant="ramp")
    best = kar_2015.theorem_15(2.0, 3.0, 9, **at)
    assert best == pytest.approx(kar_2015.theorem_15(2.0, 3.0, 9, **at, eta0=2 / (math.sqrt(2) * 3)))
    assert best < min(kar_2015.theorem_15(2.0, 3.0, 9, **at, eta0=step) for step in (0.4, 0.5))


@pytest.mark.parametrize("n_batches", by_day([1, 7, 2, 40], 2))
def test_theorem_15_is_of_the_coefficients_that_the_ranker_returns(n_batches):
    """Every batch is the population, so that only the regret and the mean are left of the bound."""
    rng = np.random.default_rng(1)
    y = np.arange(40) < 16
    X = rng.normal(size=(40, 2)) + 0.3 * np.outer(y, [1.0, 0.5])
    X /= np.linalg.norm(X, axis=1).max()
    k, r = 8, 2.0
    eta0 = r / math.sqrt(2)
    ranker = SGDAtK(
        0.5, surrogate="avg", radius=r, eta0=eta0, batch_size=40, max_iter=n_batches, shuffle=False
    )
    returned = ranker.fit(X, y).coef_
    w, before, after = np.zeros(2), [], []
    for t in range(1, n_batches + 1):
        before.append(w)
        w = w - eta0 / math.sqrt(t) / k * (PrecisionAtK(k, "avg").evaluate(y, X @ w)[1] @ X)
        w = w / max(1.0, np.linalg.norm(w) / r)
        after.append(w)
    np.testing.assert_allclose(returned, np.mean(after, axis=0), rtol=1e-12)
    assert np.abs(returned - np.mean(before, axis=0)).max() > 1e-5

    def surrogate(w):
        return PrecisionAtK(k, "avg").value(y, X @ w) / k

    angles = np.linspace(0, 2 * np.pi, 200)
    ball = [s * np.array([np.cos(a), np.sin(a)]) for s in np.linspace(0, r, 20) for a in angles]
    least = min(surrogate(w) for w in ball)
    at = {"batch_size": 10**15, "kappa": 0.5, "base_rate": 0.4}
    for average, coef in (("after", returned), ("before", np.mean(before, axis=0))):
        allowed = kar_2015.theorem_15(r, 1.0, n_batches, **at, average=average)
        assert surrogate(coef) - least <= allowed
    both = [kar_2015.theorem_15(r, 1.0, n_batches, **at, average=average) for average in ("after", "before")]
    assert both[0] - both[1] == pytest.approx(2 * r / n_batches)
    # the step from one mean to the other is no longer than this
    assert abs(surrogate(returned) - surrogate(np.mean(before, axis=0))) <= 2 * r / n_batches
