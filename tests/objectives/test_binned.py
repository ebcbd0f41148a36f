"""Few rows stand for many: value, gradient and diagonals are those of all rows, to the accuracy asked."""

import numba
import numpy as np
import pytest

from combinations import each_and_some
from pushrank import PushObjective, losses
from pushrank.objectives.binned import BinnedEvaluation
from pushrank.pairs import BipartiteSample
from pushrank.prices import ExponentialPrice, LogOnePlus, Power, Price

LOSSES = [getattr(losses, name)() for name in losses.__all__]
SMOOTH = [loss for loss in LOSSES if loss.twice_differentiable and not loss.pieces]


@pytest.fixture(autouse=True)
def always_few_rows(monkeypatch):
    monkeypatch.setattr("pushrank.objectives.binned.MIN_COMPRESSION", 0)


def rows(spread, n=300, with_weights=True):
    """Ties, single rows in bins, and bins of many rows, some of which differ in the last digits."""
    rng = np.random.default_rng(0)
    scores = spread * rng.normal(size=n)
    scores[: n // 4] = np.round(scores[: n // 4])
    scores[n // 4 : n // 2] = scores[-1] + 1e-3 * rng.normal(size=n // 2 - n // 4) ** 3
    scores[:9] = scores[0] + 1e-9 * rng.normal(size=9)
    weights = 10.0 ** rng.uniform(-3.0, 1.0, n) if with_weights else None
    return BipartiteSample.from_mask(rng.random(n) < 0.3, weights), scores


@pytest.mark.parametrize(
    ("loss", "price", "side", "spread", "accuracy"),
    each_and_some(
        SMOOTH,
        [Power(1.0), Power(4.0), Power(16.0), LogOnePlus(), ExponentialPrice()],
        ["push", "pull", "both"],
        [0.0, 1.0, 5.0],
        [1e-5, 1e-7, 1e-10],
        n_random=5,
    ),
    ids=repr,
)
def test_few_rows_stand_for_all(loss, price, side, spread, accuracy):
    for scale in ("log", "mean") if price.homogeneous else ("mean",):
        objective = PushObjective(loss, price, side, scale, 0.7, 1e-12)
        for with_weights in (False, True):
            sample, scores = rows(spread, with_weights=with_weights)
            scores /= 5.0 if isinstance(price, ExponentialPrice) else 1.0
            with np.errstate(over="ignore", invalid="ignore"):
                found = objective.evaluation_within(sample, scores, accuracy)
                expected = objective._evaluation(sample, scores)
            if not expected.value < 1e250:  # the gradient may overflow
                continue
            if not isinstance(price, ExponentialPrice):
                assert isinstance(found, BinnedEvaluation)
            unit = max(1.0, abs(expected.value))
            assert found.value == pytest.approx(expected.value, abs=accuracy * unit)
            assert found.euler_derivative == pytest.approx(expected.euler_derivative, rel=2.0 * accuracy)
            for name in ("gradient", "diagonal", "majoriser"):
                for few, all_rows in zip(getattr(found, name)(), getattr(expected, name)(), strict=True):
                    atol = 1e-11 * np.abs(all_rows).max()
                    np.testing.assert_allclose(few, all_rows, rtol=4.0 * accuracy, atol=atol)


@pytest.mark.parametrize("price", [Power(1.0), Power(4.0)], ids=repr)
def test_many_kinks_make_a_slope(price):
    rng = np.random.default_rng(0)
    sample = BipartiteSample.from_mask(np.arange(20_000) % 2 == 0)
    scores = rng.uniform(-2.0, 2.0, size=20_000)
    objective = PushObjective("squared_hinge", price, "both", "mean")
    found = objective.evaluation_within(sample, scores, 1e-6)
    assert isinstance(found, BinnedEvaluation)
    expected = objective.evaluation(sample, scores)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    for name, tolerance in (("gradient", 1e-5), ("majoriser", 0.02)):
        for few, all_rows in zip(getattr(found, name)(), getattr(expected, name)(), strict=True):
            atol = tolerance * np.abs(all_rows).mean()
            np.testing.assert_allclose(few, all_rows, rtol=tolerance, atol=atol)


def test_few_kinks_make_none():
    rng = np.random.default_rng(0)
    sample, scores = BipartiteSample.from_mask(np.arange(2000) < 5), rng.normal(size=2000)
    found = PushObjective("squared_hinge").evaluation_within(sample, scores, 1e-6)
    assert not isinstance(found, BinnedEvaluation)


def test_an_objective_steeper_than_declared_takes_all_rows():
    class Steep(Price):
        """Almost a power, which does not tell its exponent."""

        def value(self, inner_sum):
            return inner_sum**40 + inner_sum

        def derivative(self, inner_sum):
            return 40.0 * inner_sum**39 + 1.0

        def second_derivative(self, inner_sum):
            return 1560.0 * inner_sum**38

    sample, scores = rows(1.0, with_weights=False)
    found = PushObjective("logistic", Steep()).evaluation(sample, scores)
    assert not isinstance(found, BinnedEvaluation)


def test_scores_that_are_no_numbers_or_lie_anywhere():
    sample, scores = rows(1.0)
    objective = PushObjective("logistic", Power(4.0), scale="log")
    expected = objective._evaluation(sample, 1e300 * np.ones(300)).value
    assert objective.evaluation(sample, 1e300 * np.ones(300)).value == pytest.approx(expected, rel=1e-9)
    scores[3] = np.nan
    with np.errstate(invalid="ignore"):
        objective = PushObjective(price=Power(4.0), scale="log")
        assert np.isnan(objective.evaluation_within(sample, scores, 1e-7).value)


def test_hessian_products_are_those_of_all_rows():
    sample, scores = rows(1.0)
    objective, direction = PushObjective("logistic", Power(4.0), scale="log"), sample.gather(scores**2)
    found, expected = objective.evaluation(sample, scores), objective._evaluation(sample, scores)
    assert isinstance(found, BinnedEvaluation)
    for few, all_rows in zip(*(at.hessian_product(direction) for at in (found, expected)), strict=True):
        np.testing.assert_array_equal(few, all_rows)


def test_threads_change_no_digit(monkeypatch):
    monkeypatch.setattr("pushrank._base.parallel.CHUNK_ELEMENTS", 128)
    objective = PushObjective("logistic", Power(4.0), scale="log")
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        found.append(objective.evaluation(*rows(1.0)).gradient().negatives)
    np.testing.assert_array_equal(*found)
