"""What the push rankers refuse, and what is left of them when a fit fails."""

import copy
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError

from pushrank import IRPush, PNormPush, PushRanker, prices
from pushrank.solvers import SOLVERS
from samples import BOTH, PULL, PUSH_RANKERS, overlapping

pytestmark = pytest.mark.fast

X, Y = overlapping()


class Untouchable:
    """Data that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"the data were looked at: {name}")


def wrong(error, **values):
    """Return each value with the name of its parameter, and the error that it is."""
    return [(name, value, error) for name, of in values.items() for value in of]


OF_ALL = wrong(ValueError, alpha=[-1e-9, np.nan], solver=["sgd", None], tol=[0, -1.0, np.inf], max_iter=[0])
OF_ALL += wrong(TypeError, alpha=["1"], max_iter=[1.5, True, None])
OF_ALL += wrong((TypeError, ValueError), solver=[["lbfgs"]])
OF_NORMS = wrong(ValueError, p=[0.5, 0, -np.inf, np.inf, np.nan])
OF_NORMS += wrong(TypeError, p=[None, "4", True, 2 + 0j, [2.0]])
OF_OPEN = wrong(ValueError, loss=["sgd"], price=["free"], side=["left", None])
OF_OPEN += wrong(ValueError, bottom_weight=[0, -1.0, np.inf])
OF_OPEN += wrong(TypeError, loss=[None], price=[prices.Power], bottom_weight=["1"])


@pytest.mark.parametrize(
    ("ranker", "name", "value", "error"),
    [(ranker, *case) for ranker in PUSH_RANKERS for case in OF_ALL]
    + [(ranker, *case) for ranker in (PNormPush, PULL, BOTH) for case in OF_NORMS]
    + [(PushRanker, *case) for case in OF_OPEN],
)
def test_parameters_are_checked_before_the_data(ranker, name, value, error):
    estimator = ranker(**{name: value})
    with pytest.raises(error, match=rf"^{name}( must be|='(sgd|free)' is not known)"):
        estimator.fit(Untouchable(), Untouchable())
    assert vars(estimator) == vars(ranker(**{name: value}))


@pytest.mark.parametrize("value", [np.float32(2.0), np.int64(2), np.float64(2.0), 2])
def test_numbers_of_any_type_serve_as_parameters(value):
    ranker = PNormPush(p=value, alpha=np.float32(0.5), max_iter=np.int32(100)).fit(X, Y)
    np.testing.assert_allclose(ranker.coef_, PNormPush(p=2.0, alpha=0.5).fit(X, Y).coef_)
    assert ranker.p is value


@pytest.mark.parametrize("ranker", PUSH_RANKERS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_fit_changes_no_parameter_and_no_data(ranker, solver):
    estimator = ranker(solver=solver, warm_start=True)
    before = copy.deepcopy(estimator.get_params())
    features, y, w = X.copy(), Y.copy(), np.ones(len(Y))
    estimator.fit(features, y, sample_weight=w).fit(features, y)
    assert estimator.get_params() == before
    np.testing.assert_array_equal(features, X)
    np.testing.assert_array_equal(y, Y)
    assert (w == 1).all()


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("verbose", [False, True])
def test_an_interrupted_first_fit_leaves_the_ranker_unfitted(monkeypatch, verbose):
    monkeypatch.setitem(SOLVERS, "lbfgs", interrupt)
    ranker = PNormPush(verbose=verbose)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, Y)
    for use in (ranker.decision_function, ranker.predict, ranker.rank):
        with pytest.raises(NotFittedError):
            use(X)


def test_an_interrupted_later_fit_leaves_the_earlier_one_whole(monkeypatch):
    ranker = PNormPush().fit(X, np.where(Y, "yes", "no"))
    expected = ranker.predict(X)
    monkeypatch.setitem(SOLVERS, "lbfgs", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, np.where(Y, "true", "false"))
    np.testing.assert_array_equal(ranker.predict(X), expected)


def test_fits_in_threads_agree_with_fits_in_turn():
    found: dict[int, np.ndarray] = {}

    def fit(p):
        found[p] = PNormPush(p=p).fit(X, Y).coef_

    threads = [threading.Thread(target=fit, args=(p,)) for p in (1, 4, 16, 64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for p, coef in found.items():
        np.testing.assert_array_equal(coef, PNormPush(p=p).fit(X, Y).coef_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_progress_goes_to_standard_error_alone(solver, capsys):
    PNormPush(solver=solver).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    PNormPush(solver=solver, verbose=True).fit(X, Y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "PNormPush" in shown.err


def test_a_looser_tolerance_than_the_start_needs_no_iteration():
    ranker = PNormPush(tol=1e6).fit(X, Y)
    assert ranker.n_iter_ == 0
    assert ranker.converged_
    assert ranker.objective_path_.shape == (1,)
    assert (ranker.coef_ == 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("factor", [1e6, -1e6, 1e-6])
def test_a_warm_start_from_afar_still_converges(solver, factor):
    cold = PNormPush(solver=solver).fit(X, Y)
    warm = PNormPush(solver=solver, warm_start=True).fit(X, Y)
    warm.coef_ = factor * warm.coef_
    warm.fit(X, Y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-3)


@pytest.mark.parametrize(
    "ranker",
    [PNormPush(), PNormPush(solver="coordinate"), IRPush(), PushRanker("hinge"), PushRanker()],
    ids=str,
)
def test_every_fitted_attribute_exists_whatever_was_fitted(ranker):
    rows = np.arange(20)
    fits = [clone(ranker).fit(X, y) for y in (Y, Y + (X[:, 0] > 1.0))]
    fits.append(clone(ranker).fit(X, pairs=(rows, rows + 20)))
    assert len({frozenset(vars(fitted)) for fitted in fits}) == 1
    assert [len(fitted.thresholds_) for fitted in fits] == [1, 2, 1]
    assert fits[2].classes_ is None
    with pytest.raises(ValueError, match="fitted to pairs"):
        fits[2].predict(X)


def test_probabilities_are_said_to_be_had_by_calibration():
    ranker = PNormPush().fit(X, Y)
    with pytest.raises(AttributeError, match=r"calibrate them by sklearn\..*\.CalibratedClassifierCV"):
        ranker.predict_proba(X)
    assert not hasattr(ranker, "predict_proba")
    shares = CalibratedClassifierCV(PNormPush(), cv=3).fit(X, Y).predict_proba(X)
    assert shares.shape == (len(Y), 2)
