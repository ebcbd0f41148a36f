"""What a ranker refuses, and what is left of it when a fit fails."""

from __future__ import annotations

import copy
import inspect
import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from pushrank import (
    CascadeRanker,
    InfinitePush,
    IRPush,
    PerceptronAtK,
    PNormPush,
    PushBoost,
    PushRanker,
    RampAtK,
    RankBoost,
    RankSVM,
    estimators,
    prices,
)
from pushrank._parallel import one_blas_thread
from pushrank.estimators._rows import TrainingRows
from pushrank.estimators._target import Target
from pushrank.solvers import SOLVERS

pytestmark = pytest.mark.fast

PULL, BOTH = partial(PNormPush, side="pull"), partial(PNormPush, side="both")
RANKERS = [PNormPush, PULL, BOTH, IRPush, PushRanker]


def overlapping(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


X, Y = overlapping()


class Untouchable:
    """Data that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"the data were looked at: {name}")


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"alpha": -1e-9}, ValueError),
        ({"alpha": np.nan}, ValueError),
        ({"alpha": "1"}, TypeError),
        ({"solver": "sgd"}, ValueError),
        ({"solver": None}, ValueError),
        ({"solver": ["lbfgs"]}, (TypeError, ValueError)),
        ({"tol": 0}, ValueError),
        ({"tol": -1.0}, ValueError),
        ({"tol": np.inf}, ValueError),
        ({"max_iter": 0}, ValueError),
        ({"max_iter": 1.5}, TypeError),
        ({"max_iter": True}, TypeError),
        ({"max_iter": None}, TypeError),
    ],
)
def test_shared_parameters_are_checked_first(ranker, parameters, error):
    (name,) = parameters
    estimator = ranker(**parameters)
    with pytest.raises(error, match=f"^{name} must be"):
        estimator.fit(Untouchable(), Untouchable())
    assert vars(estimator) == vars(ranker(**parameters))


@pytest.mark.parametrize("ranker", [PNormPush, PULL, BOTH])
@pytest.mark.parametrize(
    ("p", "error"),
    [
        (0.5, ValueError),
        (0, ValueError),
        (-np.inf, ValueError),
        (np.nan, ValueError),
        (None, TypeError),
        ("4", TypeError),
        (True, TypeError),
        (2 + 0j, TypeError),
        ([2.0], TypeError),
    ],
)
def test_p_is_checked_first(ranker, p, error):
    with pytest.raises(error, match=r"^p must be"):
        ranker(p=p).fit(Untouchable(), Untouchable())


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"loss": "sgd"}, ValueError),
        ({"loss": None}, TypeError),
        ({"price": "free"}, ValueError),
        ({"price": prices.Power}, TypeError),
        ({"side": "left"}, ValueError),
        ({"side": None}, ValueError),
        ({"bottom_weight": 0}, ValueError),
        ({"bottom_weight": -1.0}, ValueError),
        ({"bottom_weight": np.inf}, ValueError),
        ({"bottom_weight": "1"}, TypeError),
    ],
)
def test_the_open_doors_parameters_are_checked_first(parameters, error):
    (name,) = parameters
    with pytest.raises(error, match=f"^{name}"):
        PushRanker(**parameters).fit(Untouchable(), Untouchable())


@pytest.mark.parametrize("value", [np.float32(2.0), np.int64(2), np.float64(2.0), 2])
def test_numbers_of_any_type_serve_as_parameters(value):
    ranker = PNormPush(p=value, alpha=np.float32(0.5), max_iter=np.int32(100)).fit(X, Y)
    np.testing.assert_allclose(ranker.coef_, PNormPush(p=2.0, alpha=0.5).fit(X, Y).coef_)
    assert ranker.p is value


@pytest.mark.parametrize("ranker", RANKERS)
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


def test_a_refused_fit_leaves_the_ranker_unfitted():
    ranker = PNormPush()
    with pytest.raises(ValueError, match="exactly 2 classes"):
        ranker.fit(X, np.zeros(len(Y)))
    with pytest.raises(NotFittedError):
        ranker.rank(X)


@pytest.fixture
def two_blas_threads():
    """Let BLAS use two threads, as in a process where nobody has limited them."""
    disown = getattr(OpenBLASController, "clear_controlling_thread", lambda **_: None)  # threadpoolctl 3.8
    with threadpool_limits(2):
        disown(force=True)
        yield
        disown(force=True)


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.skipif(os.cpu_count() == 1, reason="one processor has one thread anyway")
@pytest.mark.usefixtures("two_blas_threads")
def test_fits_that_overlap_leave_the_process_its_threads(monkeypatch):
    first_inside, second_inside, first_done = (threading.Event() for _ in range(3))
    solve = SOLVERS["lbfgs"]
    inside = []

    def in_turn(*arguments):
        inside.append(blas_threads())
        if threading.current_thread().name == "first":
            first_inside.set()
            second_inside.wait(30)
        else:
            second_inside.set()
            first_done.wait(30)
            inside.append(blas_threads())
        return solve(*arguments)

    monkeypatch.setitem(SOLVERS, "lbfgs", in_turn)
    before = blas_threads()
    assert min(before) == 2
    first, second = (
        threading.Thread(target=PNormPush().fit, args=(X, Y), name=n) for n in ("first", "second")
    )
    first.start()
    first_inside.wait(30)
    second.start()
    first.join()
    first_done.set()
    second.join()
    assert inside == [[1] * len(before)] * 3
    assert blas_threads() == before


@pytest.mark.skipif(os.cpu_count() == 1, reason="one processor has one thread anyway")
@pytest.mark.usefixtures("two_blas_threads")
def test_the_last_thread_lifts_the_limit_while_the_first_lives():
    first_in, second_in, first_out, done = (threading.Event() for _ in range(4))

    def first():
        with one_blas_thread():
            first_in.set()
            second_in.wait(30)
        first_out.set()
        done.wait(30)

    def second():
        first_in.wait(30)
        with one_blas_thread():
            second_in.set()
            first_out.wait(30)

    before = blas_threads()
    assert min(before) == 2
    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    threads[1].join()
    found = blas_threads()
    done.set()
    threads[0].join()
    assert found == before


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


@pytest.mark.parametrize(
    "ranker",
    [*(ranker() for ranker in RANKERS), PNormPush(solver="coordinate"), PushBoost(n_estimators=9)]
    + [RankBoost(n_estimators=9, weak_rankers=kind) for kind in ("stumps", "columns", "regressors")],
    ids=str,
)
def test_a_warm_start_is_held_to_the_features_of_the_last_fit(ranker):
    ranker = clone(ranker).set_params(warm_start=True)
    with pytest.raises(ValueError, match="classes"):
        ranker.fit(X[:, :2], np.zeros(len(Y)))
    expected = ranker.fit(X, Y).decision_function(X)
    for features in (X[:, :2], np.column_stack([X, X])):
        with pytest.raises(ValueError, match=rf"X has {features.shape[1]} features.*is expecting 4 features"):
            ranker.fit(features, Y)
    np.testing.assert_array_equal(ranker.decision_function(X), expected)
    ranker.set_params(warm_start=False).fit(X[:, :2], Y)
    assert ranker.decision_function(X[:, :2]).shape == Y.shape


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("factor", [1e6, -1e6, 1e-6])
def test_a_warm_start_from_afar_still_converges(solver, factor):
    cold = PNormPush(solver=solver).fit(X, Y)
    warm = PNormPush(solver=solver, warm_start=True).fit(X, Y)
    warm.coef_ = factor * warm.coef_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warm.fit(X, Y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-3)


@pytest.mark.parametrize(
    "ranker",
    [PNormPush(), PNormPush(solver="coordinate"), IRPush(), PushRanker("hinge"), PushRanker()],
    ids=str,
)
def test_every_fitted_attribute_exists_whatever_was_fitted(ranker):
    rows = np.arange(20)
    fits = [
        clone(ranker).fit(X, Y),
        clone(ranker).fit(X, Y + (X[:, 0] > 1.0)),
        clone(ranker).fit(X, pairs=(rows, rows + 20)),
    ]
    assert len({frozenset(vars(fitted)) for fitted in fits}) == 1
    assert [len(fitted.thresholds_) for fitted in fits] == [1, 2, 1]
    assert fits[2].classes_ is None
    with pytest.raises(ValueError, match="fitted to pairs"):
        fits[2].predict(X)


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_paragraph_is_filled_in(name):
    ranker = getattr(estimators, name)
    for member in (ranker, *dict(inspect.getmembers(ranker, inspect.isfunction)).values()):
        assert "%(" not in (member.__doc__ or ""), member


@pytest.mark.parametrize("name", estimators.__all__)
def test_at_most_two_classes_of_ours_stand_above_an_estimator(name):
    above = [c for c in getattr(estimators, name).__mro__[1:] if c.__module__.startswith("pushrank")]
    assert len(above) <= 2, above


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_method_is_written_in_the_class_that_has_it(name):
    """An editor finds it there: no function of elsewhere, or of another class, is assigned as a method."""
    for cls in getattr(estimators, name).__mro__:
        if cls.__module__.startswith("pushrank"):
            methods = {key: value for key, value in vars(cls).items() if inspect.isfunction(value)}
            assert {value.__qualname__ for value in methods.values()} == {
                f"{cls.__name__}.{key}" for key in methods
            }


@pytest.mark.parametrize(
    "ranker",
    [PNormPush(), RankBoost(), PerceptronAtK(), RankSVM(), RampAtK(), CascadeRanker([PNormPush()])],
    ids=str,
)
def test_text_in_the_features_is_named(ranker):
    words = np.column_stack([np.arange(4).astype(str), ["a", "b", "c", "d"]])
    for table, where in (
        (words, "column 1 holds text such as 'a'"),
        (words.astype(object), "column 1 holds text such as 'a'"),
        (pd.DataFrame(words, columns=["u", "v"]), r"column 1 \('v'\) holds text such as 'a'"),
    ):
        if isinstance(table, pd.DataFrame) and isinstance(ranker, RankBoost):
            continue  # whose stumps take text
        with pytest.raises(ValueError, match=rf"X must hold numbers, and {where}: encode it"):
            ranker.fit(table, [0, 1, 0, 1])
    ranker = clone(ranker).fit(X, Y)
    with pytest.raises(ValueError, match="column 0 holds text such as 'a'"):
        ranker.predict([["a", "1", "2", "3"]])


def test_probabilities_are_said_to_be_had_by_calibration():
    ranker = PNormPush().fit(X, Y)
    with pytest.raises(
        AttributeError, match=r"calibrate them by sklearn\.calibration\.CalibratedClassifierCV"
    ):
        ranker.predict_proba(X)
    assert not hasattr(ranker, "predict_proba")
    shares = CalibratedClassifierCV(PNormPush(), cv=3).fit(X, Y).predict_proba(X)
    assert shares.shape == (len(Y), 2)


@pytest.mark.filterwarnings("ignore:InfinitePush collapsed")
@pytest.mark.parametrize("ranker", [PNormPush(), RankSVM(), InfinitePush(), RampAtK()], ids=str)
def test_a_later_fit_interrupted_near_its_end_leaves_the_earlier_one_whole(monkeypatch, ranker):
    expected = ranker.fit(X, Y).predict(X)
    for part in (Target, TrainingRows):
        monkeypatch.setattr(part, "thresholds", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X + np.arange(4), 1 - Y)
    np.testing.assert_array_equal(ranker.predict(X), expected)


def test_threads_score_by_one_fitted_ranker():
    rankers = [PNormPush().fit(X, Y), PushBoost(n_estimators=5).fit(X, Y), RankSVM(kernel="rbf").fit(X, Y)]
    for ranker in rankers:
        expected = ranker.decision_function(X)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(ranker.decision_function, [X] * 32))
        for scores in found:
            np.testing.assert_array_equal(scores, expected)
