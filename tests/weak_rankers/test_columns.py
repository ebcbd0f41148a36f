"""Columns as weak rankers: their unit, and which are binary."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.preprocessing import minmax_scale

from combinations import by_day
from pushrank import PNormPush, PushBoost, load, save
from pushrank.weak_rankers import Columns

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_have_the_unit_of_their_range(layout, dtype):
    X = np.random.default_rng(4).integers(-3, 9, (50, 4)).astype(dtype)
    X[:, 2] = 5
    scaled = np.zeros((50, 4))
    moving = np.array([0, 1, 3])
    scaled[:, moving] = (X[:, moving] - X[:, moving].min(axis=0)) / np.ptp(X[:, moving], axis=0)
    stored = layout(X)
    learner = Columns().fit(stored)
    outputs = learner.training_outputs(stored)
    row_weights = np.random.default_rng(5).normal(size=50)
    np.testing.assert_allclose(outputs.edges(row_weights), scaled.T @ row_weights, atol=1e-6)
    for j in range(4):
        np.testing.assert_allclose(outputs.values(j), scaled[:, j], atol=1e-7)
    steps = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(learner.scores(stored, np.arange(4), steps), scaled @ steps, atol=1e-6)


def test_a_column_of_two_values_is_binary_whatever_they_are():
    X = np.array([[1e6, 0.0], [-1e6, 0.1], [1e6, 0.2]])
    outputs = Columns().fit(X).training_outputs(X)
    assert outputs.values(0).tolist() == [True, False, True]
    assert outputs.real_valued.tolist() == [False, True]


@pytest.mark.parametrize("unit", [1.0, 49.0, 98.0, 103.0, 0.1, 3e7])
def test_a_column_of_two_values_is_binary_whatever_its_range(unit):
    X = np.column_stack([[0.0, unit, unit, 0.0, unit], np.arange(5.0)])
    outputs = Columns().fit(X).training_outputs(X)
    assert outputs.real_valued.tolist() == [False, True]
    assert outputs.values(0).tolist() == [False, True, True, False, True]


def figure_2(X, y, p, rounds, signed):
    """Return the chosen columns and the coefficients by figure 2 of the P-Norm Push, features as they are."""
    positives, negatives = X[y == 1], X[y == 0]
    coef, chosen = np.zeros(X.shape[1]), []
    for _ in range(rounds):
        s, t = positives @ coef, negatives @ coef
        edges = softmax(-s) @ positives - softmax(p * t) @ negatives
        j = int(np.argmax(edges if signed else np.abs(edges)))

        def slope(step, s=s, t=t, u=positives[:, j], v=negatives[:, j]):
            return softmax(p * (t + step * v)) @ v - softmax(-s - step * u) @ u

        sign = np.sign(edges[j])
        infinite = (sign * positives[:, j]).min() >= (sign * negatives[:, j]).max()
        if infinite or sign * edges[j] <= 1e-12 or (signed and sign < 0):
            break  # no pair is against the column, or no step lowers the objective
        end = sign
        while sign * slope(end) < 0:
            end *= 2
        coef[j] += brentq(slope, *sorted((0.0, end)), xtol=1e-15, rtol=1e-15)
        chosen.append(j)
    return chosen, coef


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", by_day(range(100), 16))
def test_figure_2_on_features_in_their_own_units_chooses_and_steps_as_printed(seed, sparse):
    """Features are scaled over all rows, of which some are to test: in training their ranges differ."""
    rng = np.random.default_rng(seed)
    X = minmax_scale(rng.standard_t(2, (40, 5)) + np.arange(40)[:, None] % 2 * rng.random(5))
    train = rng.permutation(40)[:20]
    X, y = X[train], (train % 2 == rng.integers(2)).astype(int)
    X[:, 3] = 0.7  # a constant is never chosen
    p, signed = [1, 2, 4, 16][seed % 4], bool(seed // 4 % 2)
    chosen, coef = figure_2(X, y, p, 5, signed)
    ranker = PushBoost(
        p, weak_rankers=Columns(units="none"), n_estimators=max(len(chosen), 1), alpha=0, tol=0
    )
    ranker.set_params(choice="signed" if signed else "absolute").fit(sp.csr_array(X) if sparse else X, y)
    if chosen:
        assert ranker.estimator_index_.tolist() == chosen
        np.testing.assert_allclose(ranker.coef_, coef, rtol=1e-9, atol=1e-9)
    assert ranker.coef_[3] == 0.0


def test_columns_as_they_come_resume_save_and_penalise_coefficients(tmp_path):
    X = minmax_scale(np.random.default_rng(0).normal(size=(60, 4)))[:40]
    y = (X @ [1.0, -1.0, 0.5, 0.0] + 0.2 * np.random.default_rng(1).normal(size=40) > 0).astype(int)
    options = {"weak_rankers": Columns(units="none"), "alpha": 1e-3}
    whole = PushBoost(4, n_estimators=20, **options).fit(X, y)
    resumed = PushBoost(4, n_estimators=8, warm_start=True, **options).fit(X, y)
    save(resumed, tmp_path / "model.skops")
    resumed = load(tmp_path / "model.skops").set_params(n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)
    assert resumed.weak_rankers_.units == "none"
    with pytest.raises(ValueError, match="weak rankers"):
        resumed.set_params(weak_rankers="columns").fit(X, y)
    # With either unit alpha is that of the coefficients, and the optimum is the same
    for units in ("none", "range"):
        boosted = PushBoost(4, weak_rankers=Columns(units=units), n_estimators=1000, alpha=0.1, tol=1e-8)
        np.testing.assert_allclose(
            boosted.fit(X, y).coef_, PNormPush(4, alpha=0.1, tol=1e-10).fit(X, y).coef_, rtol=1e-4
        )


def test_columns_as_they_come_are_binary_if_they_are_zero_or_one():
    X = np.array([[0.0, 2.0, 0.0], [1.0, 3.0, 0.5], [1.0, 2.0, 0.0]])
    learner = Columns(units="none").fit(X)
    outputs = learner.training_outputs(X)
    assert outputs.real_valued.tolist() == [False, True, True]
    np.testing.assert_allclose(np.column_stack([outputs.values(j) for j in range(3)]), X)
    np.testing.assert_allclose(outputs.edges(np.array([1.0, 2.0, -1.0])), X.T @ [1.0, 2.0, -1.0])
    with pytest.raises(ValueError, match="units must be one of"):
        Columns(units="all rows").fit(X)
