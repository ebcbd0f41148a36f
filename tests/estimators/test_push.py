"""What the push rankers learn, on ordinary data and on data made to break them."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from combinations import each_and_some
from pushrank import IRPush, PNormPush, PushRanker, losses, metrics, prices
from samples import PUSH_RANKERS, overlapping, scaled_cancer

pytestmark = pytest.mark.fast

POWERS = [1, 1.5, 2, 4, 16, 64, 256, 1000]


@pytest.fixture(scope="module")
def cancer():
    return scaled_cancer()


@pytest.mark.parametrize(("p", "name"), each_and_some(POWERS, ["overlapping", "cancer", "digits"]))
def test_every_power_converges(p, name, cancer):
    digits = load_digits()
    numbers = digits.data / 16, digits.target == 3
    X, y = {"overlapping": overlapping(300, 5), "cancer": cancer, "digits": numbers}[name]
    ranker = PNormPush(p=p).fit(X, y)
    assert ranker.converged_
    gradient = ranker._pair_objective().evaluate(y, X @ ranker.coef_)[1] @ X + ranker.alpha * ranker.coef_
    deviations = np.sqrt((X[y == 1].var(0) + p * X[y == 0].var(0)) / (1 + p))
    assert np.max(np.abs(gradient)[deviations > 0] / deviations[deviations > 0]) <= 1.01e-4
    assert len(ranker.objective_path_) == ranker.n_iter_ + 1


def test_the_special_rankers_are_cases_of_the_open_door(cancer):
    X, y = cancer
    ends = {"side": "both", "bottom_weight": 0.5}
    pairs = [
        (PNormPush(p=8), PushRanker(price=prices.Power(8))),
        (PNormPush(p=1), PushRanker()),
        (IRPush(), PushRanker(price="log_one_plus", side="pull")),
        (PNormPush(p=3, side="pull"), PushRanker(price=prices.Power(3), side="pull")),
        (PNormPush(p=2, **ends), PushRanker(price=prices.Power(2), **ends)),
    ]
    for special, general in pairs:
        np.testing.assert_allclose(special.fit(X, y).coef_, general.fit(X, y).coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("loss", "price", "side"), each_and_some(losses.__all__, prices.__all__, ["push", "pull", "both"])
)
def test_any_loss_with_any_price(loss, price, side):
    X, y = overlapping(120)
    ranker = PushRanker(getattr(losses, loss)(), getattr(prices, price)(), side=side)
    if loss in ("Ramp", "ZeroOne"):
        with pytest.raises(TypeError, match=f"{loss} is not differentiable and has no smoothed form"):
            ranker.fit(X, y)
        return
    if price == "Maximum":
        # these classes overlap so much that zero is the best push of the very top
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="PushRanker collapsed")
            assert ranker.fit(X, y).converged_
        return
    ranker.fit(X, y)
    assert ranker.converged_
    assert metrics.auc(y, ranker.decision_function(X)) > 0.75


@pytest.mark.parametrize("ranker", PUSH_RANKERS)
class TestExtremes:
    def test_duplicates_and_constants(self, ranker):
        X, y = overlapping(300, 5, seed=5)
        fitted = ranker().fit(X, y)
        doubled = ranker().fit(np.vstack([X, X]), np.r_[y, y])
        if ranker is not IRPush:  # whose inner sums, not powers of a scale, double
            np.testing.assert_allclose(doubled.coef_, fitted.coef_, rtol=1e-4)
        constant = np.column_stack([X, np.full(len(y), 7e6), np.zeros(len(y))])
        with_constants = ranker().fit(constant, y)
        np.testing.assert_allclose(with_constants.coef_[:5], fitted.coef_, rtol=1e-5)
        assert (with_constants.coef_[5:] == 0).all()
        twins = ranker(alpha=0.0).fit(np.column_stack([X, X]), y)
        assert twins.converged_
        folded = twins.coef_[:5] + twins.coef_[5:]
        np.testing.assert_allclose(folded, ranker(alpha=0.0).fit(X, y).coef_, rtol=1e-3, atol=1e-3)

    def test_separable(self, ranker):
        X, y = overlapping(80, 3, seed=6)
        X = X + 10.0 * y[:, None]
        fitted = ranker().fit(X, y)
        assert fitted.converged_
        assert metrics.auc(y, fitted.decision_function(X)) == 1.0

    def test_units_do_not_matter_without_a_penalty(self, ranker):
        X, y = overlapping(300, 5, seed=7)
        units = np.array([1e6, 1e-6, 1.0, 1e3, 1e-3])
        plain = ranker(alpha=0.0).fit(X, y)
        scaled = ranker(alpha=0.0).fit(X * units, y)
        np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-4, atol=1e-5)
        moved = ranker(alpha=0.0).fit(X + 1e6, y)
        np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize("solver", ["lbfgs", "coordinate"])
def test_columns_beyond_the_range_of_floats_are_named(unit, solver):
    X, y = overlapping(300, 5, seed=8)
    X[:, 2] *= unit
    with pytest.raises(ValueError, match="column 2 holds values whose squares are beyond the range"):
        PNormPush(solver=solver).fit(X, y)


def test_stopping_early_warns_with_advice():
    X, y = overlapping(2000, 30, seed=10)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .*raise max_iter"):
        ranker = PNormPush(max_iter=2).fit(X, y)
    assert ranker.n_iter_ == 2
    assert not ranker.converged_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("copies", [1, 3])
def test_threshold_is_the_break_even_point(copies, dtype):
    X, y = overlapping(300, 5, seed=11)
    X = X.astype(dtype)
    ranker = PNormPush().fit(X, y, sample_weight=np.full(len(y), float(copies)))
    assert ranker.predict(X).sum() == y.sum()
    np.testing.assert_array_equal(ranker.predict(X) == 1, ranker.decision_function(X) > 0)
    order = ranker.rank(X)
    assert (np.diff(ranker.decision_function(X)[order]) <= 0).all()
    np.testing.assert_allclose(ranker.decision_function(X), X @ ranker.coef_ - ranker.threshold_, rtol=1e-5)


def test_rank_keeps_the_order_of_ties():
    X, y = overlapping(300, 5, seed=12)
    ranker = PNormPush().fit(X, y)
    assert ranker.rank(np.repeat(X[:1], 5, axis=0)).tolist() == [0, 1, 2, 3, 4]


def test_work_of_an_iteration_does_not_grow_with_pairs():
    """Readings of the data: as many for four times the rows."""
    from pushrank.models import LinearModel

    counts = []
    for n in (2000, 8000):
        calls = itertools.count()
        original = LinearModel.block_scores

        def counted(self, start, stop, coef, out, original=original, calls=calls):
            next(calls)
            original(self, start, stop, coef, out)

        X, y = overlapping(n, seed=14)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LinearModel, "block_scores", counted)
            PNormPush().fit(X, y)
        counts.append(next(calls))
    assert counts[1] < 2 * counts[0]


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_row_without_a_query_is_told(missing):
    X, y = np.random.default_rng(0).normal(size=(6, 2)), [0, 1, 0, 1, 0, 1]
    qid = np.array([0, 0, 1, 1, missing, missing], dtype=object if missing is None else float)
    with pytest.raises(ValueError, match="qid has no entry in row 4; give every row one"):
        PushRanker().fit(X, y, qid=qid)
