"""What the push rankers learn, on ordinary data and on data made to break them."""

import itertools
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import scale

from combinations import each_and_some
from pushrank import InfinitePush, IRPush, PNormPush, PushRanker, losses, metrics, prices

pytestmark = pytest.mark.fast

PULL, BOTH = partial(PNormPush, side="pull"), partial(PNormPush, side="both")
RANKERS = [PNormPush, PULL, BOTH, IRPush, PushRanker]
POWERS = [1, 1.5, 2, 4, 16, 64, 256, 1000]


def overlapping(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize(("p", "name"), each_and_some(POWERS, ["overlapping", "cancer", "digits"]))
def test_every_power_converges(p, name, cancer):
    digits = load_digits()
    X, y = {
        "overlapping": overlapping(),
        "cancer": cancer,
        "digits": (digits.data / 16, digits.target == 3),
    }[name]
    ranker = PNormPush(p=p).fit(X, y)
    assert ranker.converged_
    gradient = ranker._pair_objective().evaluate(y, X @ ranker.coef_)[1] @ X + ranker.alpha * ranker.coef_
    deviations = np.sqrt((X[y == 1].var(0) + p * X[y == 0].var(0)) / (1 + p))
    assert np.max(np.abs(gradient)[deviations > 0] / deviations[deviations > 0]) <= 1.01e-4
    assert len(ranker.objective_path_) == ranker.n_iter_ + 1


def test_larger_powers_push_harder():
    X, y = overlapping(2000, seed=1)
    worst = [
        metrics.rp_error(y, PNormPush(p=p).fit(X, y).decision_function(X), 64, scale="log") for p in (1, 64)
    ]
    assert worst[1] < worst[0]
    top = [metrics.r_max(y, PNormPush(p=p).fit(X, y).decision_function(X)) for p in (1, 64)]
    assert top[1] <= top[0]


def test_the_special_rankers_are_cases_of_the_open_door(cancer):
    X, y = cancer
    pairs = [
        (PNormPush(p=8), PushRanker(price=prices.Power(8))),
        (PNormPush(p=1), PushRanker()),
        (IRPush(), PushRanker(price="log_one_plus", side="pull")),
        (PNormPush(p=3, side="pull"), PushRanker(price=prices.Power(3), side="pull")),
        (
            PNormPush(p=2, side="both", bottom_weight=0.5),
            PushRanker(price=prices.Power(2), side="both", bottom_weight=0.5),
        ),
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
    if price in ("Maximum", "LargestShare"):
        # these classes overlap so much that zero is the best push of the very top
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="PushRanker collapsed")
            assert ranker.fit(X, y).converged_
        return
    ranker.fit(X, y)
    assert ranker.converged_
    assert metrics.auc(y, ranker.decision_function(X)) > 0.75


def test_warm_start_along_the_powers():
    X, y = overlapping(2000, 20, seed=2)
    powers = [1, 2, 4, 8, 16, 32, 64]
    warm = PNormPush(warm_start=True)
    cold_total = warm_total = 0
    for p in powers:
        warm.set_params(p=p).fit(X, y)
        cold = PNormPush(p=p).fit(X, y)
        warm_total += warm.n_iter_
        cold_total += cold.n_iter_
        np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-4)
        again = warm.fit(X, y).n_iter_
        assert again <= 1
    assert warm_total < cold_total


def test_layouts_and_precisions_agree(cancer):
    X, y = cancer
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    ranker = PNormPush(p=8).fit(X, y)
    for same in (np.asfortranarray(X), sp.csr_matrix(X), sp.csc_matrix(X), sp.csr_array(X), X.tolist()):
        np.testing.assert_allclose(PNormPush(p=8).fit(same, y).coef_, ranker.coef_, rtol=1e-5, atol=1e-7)
    single = PNormPush(p=8).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == single.decision_function(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.coef_, ranker.coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("ranker", RANKERS)
def test_weights(ranker):
    X, y = overlapping(seed=3)
    w = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    copies = np.repeat(np.arange(len(y)), w.astype(int))
    weighted = ranker().fit(X, y, sample_weight=w)
    repeated = ranker().fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)
    assert weighted.threshold_ == pytest.approx(repeated.threshold_)


@pytest.mark.parametrize("ranker", RANKERS)
class TestExtremes:
    def test_one_positive_or_one_negative(self, ranker):
        X = overlapping(60, seed=4)[0]
        for one in (np.arange(60) == 5, np.arange(60) != 5):
            fitted = ranker(alpha=0.01).fit(X, one)
            assert fitted.converged_
            assert np.isfinite(fitted.decision_function(X)).all()
        pair = ranker(alpha=0.01).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
        assert pair.rank([[0.0, 1.0], [1.0, 0.0]]).tolist() == [1, 0]

    def test_duplicates_and_constants(self, ranker):
        X, y = overlapping(seed=5)
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

    def test_nothing_to_learn_from(self, ranker):
        fitted = ranker().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
        assert (fitted.coef_ == 0).all()

    def test_separable(self, ranker):
        X, y = overlapping(80, 3, seed=6)
        X = X + 10.0 * y[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted = ranker().fit(X, y)
        assert fitted.converged_
        assert metrics.auc(y, fitted.decision_function(X)) == 1.0

    def test_units_do_not_matter_without_a_penalty(self, ranker):
        X, y = overlapping(seed=7)
        units = np.array([1e6, 1e-6, 1.0, 1e3, 1e-3])
        plain = ranker(alpha=0.0).fit(X, y)
        scaled = ranker(alpha=0.0).fit(X * units, y)
        np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-4, atol=1e-5)
        moved = ranker(alpha=0.0).fit(X + 1e6, y)
        np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [4, 1000])
def test_separable_without_a_penalty_says_so(cancer, dtype, p):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match=r"separable and alpha=0.*Set alpha > 0"):
        ranker = PNormPush(p=p, alpha=0.0).fit(X.astype(dtype), y)
    scores = ranker.decision_function(X.astype(dtype))
    assert scores[y == 1].min() > scores[y == 0].max()
    assert not ranker.converged_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_features_and_powers(dtype):
    X, y = overlapping(seed=8)
    X = (X * 1e6).astype(dtype)
    ranker = PNormPush(p=1000).fit(X, y)
    assert ranker.converged_
    assert np.isfinite(ranker.objective_path_).all()
    assert metrics.auc(y, ranker.decision_function(X)) > 0.75


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize("solver", ["lbfgs", "coordinate"])
def test_columns_beyond_the_range_of_floats_are_named(unit, solver):
    X, y = overlapping(seed=8)
    X[:, 2] *= unit
    with pytest.raises(ValueError, match="column 2 holds values whose squares are beyond the range"):
        PNormPush(solver=solver).fit(X, y)


def test_more_columns_than_rows_and_wide_data():
    rng = np.random.default_rng(9)
    for X in (rng.normal(size=(30, 200)), sp.random(100, 3000, 0.02, "csr", random_state=0)):
        y = np.arange(X.shape[0]) % 3 == 0
        ranker = PNormPush(p=4).fit(X, y)
        assert ranker.converged_
        assert metrics.auc(y, ranker.decision_function(X)) == 1.0


def test_stopping_early_warns_with_advice():
    X, y = overlapping(2000, 30, seed=10)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .*raise max_iter"):
        ranker = PNormPush(max_iter=2).fit(X, y)
    assert ranker.n_iter_ == 2
    assert not ranker.converged_


@pytest.mark.parametrize("copies", [1, 3])
def test_threshold_is_the_break_even_point(copies):
    X, y = overlapping(seed=11)
    ranker = PNormPush().fit(X, y, sample_weight=np.full(len(y), float(copies)))
    assert ranker.predict(X).sum() == y.sum()
    np.testing.assert_array_equal(ranker.predict(X) == 1, ranker.decision_function(X) > 0)
    order = ranker.rank(X)
    assert (np.diff(ranker.decision_function(X)[order]) <= 0).all()
    np.testing.assert_allclose(ranker.decision_function(X), X @ ranker.coef_ - ranker.threshold_)


def test_rank_keeps_the_order_of_ties():
    X, y = overlapping(seed=12)
    ranker = PNormPush().fit(X, y)
    assert ranker.rank(np.repeat(X[:1], 5, axis=0)).tolist() == [0, 1, 2, 3, 4]


def test_progress_is_shown_only_when_asked(capsys):
    X, y = overlapping()
    PNormPush().fit(X, y)
    assert capsys.readouterr() == ("", "")
    PNormPush(verbose=True).fit(X, y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "PNormPush" in shown.err


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_memory_above_the_data(layout):
    rng = np.random.default_rng(13)
    X = layout(rng.normal(size=(60_000, 50)) * (rng.random((60_000, 50)) < 0.9))
    y = rng.random(60_000) < 0.1
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes
    PNormPush().fit(X[:500], y[:500])  # compile
    tracemalloc.start()
    PNormPush(p=16).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.25 * size


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


@pytest.mark.parametrize(
    ("parameters", "error", "name"),
    [
        ({"p": 0.5}, ValueError, "p"),
        ({"p": np.nan}, ValueError, "p"),
        ({"p": np.inf}, ValueError, "p"),
        ({"p": "4"}, TypeError, "p"),
        ({"p": True}, TypeError, "p"),
        ({"alpha": -1}, ValueError, "alpha"),
        ({"alpha": None}, TypeError, "alpha"),
        ({"solver": "sgd"}, ValueError, "solver"),
        ({"tol": 0}, ValueError, "tol"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"max_iter": 1.5}, TypeError, "max_iter"),
    ],
)
def test_bad_parameters_are_named_before_any_work(parameters, error, name):
    with pytest.raises(error, match=f"^{name} must be"):
        PNormPush(**parameters).fit(None, None)


def test_bad_data():
    X, y = overlapping(20)
    with pytest.raises(ValueError, match="NaN"):
        PNormPush().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="exactly 2 classes, found 3 classes"):
        InfinitePush().fit(X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="exactly 2 classes, found 1 class"):
        PNormPush().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="no positive example was found whose sample_weight is not zero"):
        PNormPush().fit(X, y, sample_weight=1 - y)
    with pytest.raises(ValueError, match=r"must not be negative, NaN or infinite, found -1\.0 in row 0"):
        PNormPush().fit(X, y, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match="must not be negative, NaN or infinite, found nan in row 0"):
        PNormPush().fit(X, y, sample_weight=np.nan)
    with pytest.raises(ValueError, match="newton-cg' needs second derivatives"):
        PushRanker("hinge", solver="newton-cg").fit(X, y)
    with pytest.raises(NotFittedError):
        PNormPush().rank(X)
    with pytest.raises(ValueError, match="expecting 5 features"):
        PNormPush().fit(X, y).rank(X[:, :3])


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_row_without_a_query_is_told(missing):
    X, y = np.random.default_rng(0).normal(size=(6, 2)), [0, 1, 0, 1, 0, 1]
    qid = np.array([0, 0, 1, 1, missing, missing], dtype=object if missing is None else float)
    with pytest.raises(ValueError, match="qid has no entry in row 4; give every row one"):
        PushRanker().fit(X, y, qid=qid)
