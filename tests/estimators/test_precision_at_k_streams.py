"""Rankers that learn from batches: a stream in any chunks teaches what one pass over the rows does."""

import copy
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from pushrank import PerceptronAtK, SGDAtK
from pushrank.exceptions import StreamError
from pushrank.metrics import precision_at_k
from pushrank.persistence import load, save
from samples import by_first_column, shuffled_cancer
from tests.estimators.streams import ONE_PASS, same

RANKERS = {
    "perceptron avg": lambda **o: PerceptronAtK(variant="avg", **ONE_PASS, **o),
    "perceptron max": lambda **o: PerceptronAtK(variant="max", average=False, **ONE_PASS, **o),
    "sgd avg": lambda **o: SGDAtK(surrogate="avg", **ONE_PASS, **o),
    "sgd max in a ball": lambda **o: SGDAtK(surrogate="max", radius=0.5, **ONE_PASS, **o),
    "sgd ramp": lambda **o: SGDAtK(surrogate="ramp", average=False, **ONE_PASS, **o),
    "1pmb": lambda **o: SGDAtK(surrogate="struct", radius=0.1, **ONE_PASS, **o),
}


@pytest.fixture(scope="module")
def data():
    return shuffled_cancer()


@given(
    name=st.sampled_from(sorted(RANKERS)),
    n=st.integers(2, 60),
    size=st.integers(1, 25),
    k=st.one_of(st.integers(1, 40), st.floats(0.05, 1.0)),
    cuts=st.lists(st.integers(0, 60), max_size=12),
    kind=st.sampled_from(["dense", "csr", "float32"]),
    share=st.floats(0.0, 1.0),
    weighted=st.booleans(),
    bad=st.one_of(st.none(), st.integers(0, 59)),
    seed=st.integers(0, 2**16),
)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_chunks_do_not_matter_and_bad_rows_change_nothing(
    name, n, size, k, cuts, kind, share, weighted, bad, seed
):
    """Batches of one class, k above a batch's positives, short batches, any chunks, NaN in the middle."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    X = {"dense": X, "csr": sp.csr_array(X), "float32": X.astype(np.float32)}[kind]
    y = (rng.random(n) < share).astype(int)
    y[0], y[-1] = 0, 1
    weights = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    weights[0] = weights[-1] = 1.0
    whole = RANKERS[name](k=k, batch_size=size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # most batches may lack a class
        whole.fit(X, y, weights)
    cut = RANKERS[name](k=k, batch_size=size)
    edges = [0, *sorted({c for c in cuts if 0 < c < n}), n]
    for start, stop in pairwise(edges):
        if bad is not None and start <= bad < stop:
            broken = X.toarray() if kind == "csr" else X.copy()
            broken[bad, 1] = np.nan
            before = copy.deepcopy(cut)
            spoilt = broken[start:stop] if kind != "csr" else sp.csr_array(broken[start:stop])
            with pytest.raises(StreamError, match=rf"row {bad - start} .*contains NaN in column 1"):
                cut.partial_fit(spoilt, y[start:stop], [0, 1], weights[start:stop])
            if start:
                same(cut, before)
            else:
                assert not hasattr(cut, "coef_")
        cut.partial_fit(X[start:stop], y[start:stop], [0, 1], weights[start:stop])
        so_far = RANKERS[name](k=k, batch_size=size).partial_fit(X[:stop], y[:stop], [0, 1], weights[:stop])
        same(cut, so_far)
    same(cut, whole)
    assert np.isfinite(whole.coef_).all()
    assert np.isfinite(whole.threshold_)


@pytest.mark.parametrize("name", RANKERS)
def test_sparse_is_dense(name, data):
    X, y = data
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = RANKERS[name](batch_size=40).fit(X, y)
    sparse = RANKERS[name](batch_size=40).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-8, atol=1e-10)
    fortran = RANKERS[name](batch_size=40).fit(np.asfortranarray(X), y)
    np.testing.assert_array_equal(fortran.coef_, dense.coef_)
    single = RANKERS[name](batch_size=40).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32


def test_the_average_is_that_of_all_iterates(data):
    """The lazily kept mean, through projections that shrink the scale, against one kept step by step."""
    X, y = data
    options = {"surrogate": "max", "radius": 0.01, "eta0": 5.0, "batch_size": 30, **ONE_PASS}
    iterates, stepwise = [], SGDAtK(average=False, **options)
    for start in range(0, len(y), 30):
        stepwise.partial_fit(X[start : start + 30], y[start : start + 30], [0, 1])
        iterates.append(stepwise.coef_)
    averaged = SGDAtK(**options).fit(X, y)
    np.testing.assert_allclose(averaged.coef_, np.mean(iterates, axis=0), rtol=1e-9, atol=1e-14)
    assert max(np.linalg.norm(w) for w in iterates) <= 0.01 * (1 + 1e-12)


def test_one_batch_by_hand():
    X, y = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]]), np.array([0, 1, 1])
    first = PerceptronAtK(1, variant="avg", **ONE_PASS, average=False).fit(X, y)
    # all scores tie at zero, negatives first: one mistake, both positives missed, each is added by half
    np.testing.assert_allclose(first.coef_, -X[0] + 0.5 * (X[1] + X[2]))
    assert first.n_mistakes_ == 1.0
    top = PerceptronAtK(1, variant="max", **ONE_PASS, average=False).partial_fit(X, y, [0, 1])
    assert any(np.array_equal(top.coef_, x - X[0]) for x in X[1:])
    step = SGDAtK(1, surrogate="avg", eta0=0.5, **ONE_PASS, average=False).fit(X, y)
    np.testing.assert_allclose(step.coef_, 0.5 * first.coef_)


def test_streams_of_frames_and_of_arrays(data):
    X, y = data
    names = [f"x{j}" for j in range(X.shape[1])]
    table = pd.DataFrame(X, columns=names)
    batches = [(table[i : i + 77], y[i : i + 77], np.ones(len(y[i : i + 77]))) for i in range(0, 569, 77)]
    whole = PerceptronAtK(k=1.0, max_iter=3, shuffle=False, batch_size=50).fit(X, y)
    from_frames = PerceptronAtK(k=1.0, max_iter=3, batch_size=50).fit_stream(batches, [0, 1])
    same(from_frames, whole)
    assert from_frames.feature_names_in_.tolist() == names
    assert from_frames.n_iter_ == whole.n_iter_ == 3
    chunks = ((X[i : i + 9], y[i : i + 9]) for i in [0, 600, *range(9, 569, 9)])  # the second is empty
    once = PerceptronAtK(batch_size=50).fit_stream(chunks, [0, 1])
    same(once, PerceptronAtK(batch_size=50, **ONE_PASS).fit(X, y))
    with pytest.raises(ValueError, match="the stream is empty"):
        PerceptronAtK().fit_stream([], [0, 1])
    with pytest.raises(ValueError, match="early_stopping needs the data at hand"):
        PerceptronAtK(early_stopping=True).fit_stream(batches, [0, 1])


@pytest.mark.parametrize(
    ("stream", "classes", "error", "message"),
    [
        (lambda X, _: [X], [0, 1], TypeError, r"chunk 0 of .* found ndarray of shape \(569, 30\)"),
        (lambda X, _: [X[:2]], [0, 1], TypeError, r"chunk 0 of .* found ndarray of shape \(2, 30\)"),
        (lambda X, _: X, [0, 1], TypeError, r"found ndarray of shape \(569, 30\): use fit"),
        (lambda X, _: sp.csr_array(X), [0, 1], TypeError, r"found csr_array of shape .*: use fit"),
        (lambda X, _: pd.DataFrame(X), [0, 1], TypeError, r"found DataFrame of shape .*: use fit"),
        (lambda X, y: [(X, y), (X, y, y, y)], [0, 1], TypeError, "chunk 1 of .* found tuple of length 4"),
        (lambda X, _: iter([(X,)]), [0, 1], TypeError, "chunk 0 of .* found tuple of length 1"),
        (lambda *_: [3], [0, 1], TypeError, "chunk 0 of .* found int"),
        (lambda *_: 3, [0, 1], TypeError, "must be an iterable of chunks .* found int"),
        (lambda X, y: [(X, y)], None, ValueError, "classes must be two"),
        (lambda X, y: [(X, y)], [0, 1, 2], ValueError, "classes must be two"),
        (lambda X, y: [(X, y)], 3, ValueError, "classes must be two"),
        (lambda X, y: [(X, y)], [0, None], ValueError, "two labels of one kind"),
        (lambda _, y: [(1.0, y)], [0, 1], ValueError, "Expected 2D array"),
    ],
)
def test_other_things_than_streams_are_errors(stream, classes, error, message, data):
    X, y = data
    with pytest.raises(error, match=message):
        PerceptronAtK(batch_size=50).fit_stream(stream(X, y), classes)


@pytest.mark.parametrize("name", ["early_stopping", "average", "shuffle"])
def test_switches_are_true_or_false(name, data):
    for ranker in (SGDAtK(**{name: "yes"}), PerceptronAtK(**{name: 1})):
        with pytest.raises(TypeError, match=f"{name} must be True or False, got"):
            ranker.fit(*data)


def test_the_sample_of_sparse_rows_is_bounded_in_bytes(monkeypatch):
    from pushrank.solvers.streaming import learner

    X = sp.random(4000, 50, density=0.3, random_state=0, format="csr")
    y = np.arange(4000) % 2
    whole = PerceptronAtK(batch_size=100, **ONE_PASS).partial_fit(X, y, [0, 1])
    assert whole._learner.current_sample.rows.n_rows == 4000
    monkeypatch.setattr(learner, "MAX_SAMPLE_BYTES", 50_000)
    one = PerceptronAtK(batch_size=100, **ONE_PASS).partial_fit(X, y, [0, 1])
    assert 0 < one._learner.current_sample.rows.nbytes < 60_000
    cut = PerceptronAtK(batch_size=100, **ONE_PASS)
    for start in range(0, 4000, 333):
        cut.partial_fit(X[start : start + 333], y[start : start + 333], [0, 1])
    same(cut, one)


def test_what_only_a_fit_measures_is_none_after_chunks(data):
    X, y = data
    measured = ["weak_margin_", "margin_", "strong_margin_", "mistake_bound_"]
    ranker = PerceptronAtK(batch_size=50, max_iter=2, random_state=0).fit(X, y)
    assert all(np.isfinite(getattr(ranker, name)) for name in measured)
    assert ranker.validation_path_ is None
    for go_on in (lambda: ranker.partial_fit(X, y), lambda: ranker.fit_stream([(X, y)], [0, 1])):
        go_on()
        assert all(getattr(ranker, name) is None for name in [*measured, "validation_path_", "best_iter_"])


def test_errors_name_the_row_of_the_stream(data):
    X, y = data
    ranker = SGDAtK(batch_size=50).partial_fit(X[:120], y[:120], [0, 1])
    broken = X[120:200].copy()
    broken[33, 4] = np.inf
    with pytest.raises(StreamError, match=r"row 33 \(row 153 of the stream\) contains infinity in column 4"):
        ranker.partial_fit(broken, y[120:200])
    with pytest.raises(StreamError, match=r"row 2 \(row 122 of the stream\) has the label 7, .* of \[0, 1\]"):
        ranker.partial_fit(X[:3], [0, 1, 7])
    with pytest.raises(StreamError, match=r"found nan in row 2 \(row 122 of the stream\)"):
        ranker.partial_fit(X[:3], [0, 1, 1], sample_weight=[1.0, 1.0, np.nan])
    with pytest.raises(ValueError, match="not the same as on last call"):
        ranker.partial_fit(X[:3], [0, 1, 1], classes=[0, 2])
    with pytest.raises(ValueError, match="beyond the range of floats"):
        SGDAtK(batch_size=10).partial_fit(np.repeat([[1e200], [-1e200]], 20, axis=0), [0, 1] * 20, [0, 1])
    ranker.set_params(k=0.5)
    with pytest.raises(ValueError, match="parameters have changed"):
        ranker.partial_fit(X[:3], [0, 1, 1])


@pytest.mark.parametrize("first", ["fit", "fit_stream", "partial_fit"])
def test_a_fit_that_fails_or_is_interrupted_leaves_the_ranker_as_it_was(data, first):
    X, y = data
    ranker = PerceptronAtK(batch_size=50, max_iter=3)
    begin = {
        "fit": lambda: ranker.fit(X, y),
        "fit_stream": lambda: ranker.fit_stream([(X, y)], [0, 1]),
        "partial_fit": lambda: ranker.partial_fit(X, y, [0, 1]),
    }
    before = copy.deepcopy(vars(begin[first]()))
    broken = np.where(np.arange(len(y))[:, None] == 3, np.nan, X)

    def interrupted():
        yield X[:100, :5], y[:100]
        raise KeyboardInterrupt

    for fails, error in (
        (lambda: ranker.fit_stream([(X, y), (broken, y)], [0, 1]), StreamError),
        (lambda: ranker.fit_stream([(X, 2 * y)], [0, 2, 4]), ValueError),
        (lambda: ranker.fit_stream(iter([]), [0, 1]), ValueError),
        (lambda: ranker.fit_stream([(X, y), X], [0, 1]), TypeError),
        (lambda: ranker.fit_stream(interrupted(), [0, 1]), KeyboardInterrupt),
        (lambda: ranker.fit(np.where(y[:, None] == 1, 1e200, X), y), StreamError),
        (lambda: ranker.fit(X[:, :5], 0 * y), ValueError),
    ):
        with pytest.raises(error):
            fails()
        assert vars(ranker).keys() == before.keys()
        np.testing.assert_array_equal(ranker.coef_, before["coef_"])
        assert ranker.n_features_in_ == X.shape[1]
    untouched = PerceptronAtK(batch_size=50, max_iter=3)
    untouched.__dict__.update(before)
    same(ranker.partial_fit(X, y), untouched.partial_fit(X, y))


def test_nothing_is_known_before_the_first_batch():
    with pytest.raises(ValueError, match="classes must be passed"):
        PerceptronAtK().partial_fit([[1.0]], [1])
    with pytest.raises(AttributeError, match="has not learned"):
        _ = PerceptronAtK().n_mistakes_
    with pytest.raises(NotFittedError):
        PerceptronAtK().decision_function([[1.0]])
    one_class = PerceptronAtK().partial_fit([[1.0], [2.0]], [1, 1], classes=[0, 1])
    assert one_class.coef_.tolist() == [0.0]
    assert one_class.predict([[1.0]]).tolist() == [1]


def test_sorted_rows_are_warned_of(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    with pytest.warns(UserWarning, match="learned nothing from .* batches"):
        PerceptronAtK(batch_size=20, shuffle=False).fit(X[order], y[order])


def test_going_on_after_saving(data, tmp_path):
    X, y = data
    ranker = PerceptronAtK(batch_size=50, **ONE_PASS).partial_fit(X[:130], y[:130], [0, 1])
    save(ranker, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    loaded.partial_fit(X[130:], y[130:])
    same(loaded, PerceptronAtK(batch_size=50, **ONE_PASS).fit(X, y))


def test_the_threshold_comes_from_a_sample_of_bounded_size():
    X, y = by_first_column(60_000, 2, 1.3, 0.5)
    ranker = PerceptronAtK(**ONE_PASS).fit(X, y)
    assert ranker._learner.sample.batches == []  # rows are not kept where no more are expected
    assert ranker.predict(X).mean() == pytest.approx(y.mean(), rel=0.1)
    cut = PerceptronAtK(**ONE_PASS)
    for start in range(0, 60_000, 7919):
        cut.partial_fit(X[start : start + 7919], y[start : start + 7919], [0, 1])
    assert cut._learner.sample.rows.n_rows == 10_000
    same(cut, ranker)
    assert precision_at_k(y, ranker.decision_function(X), fraction_of_positives=0.25) > 0.9


def test_sparse_rows_are_saved_and_loaded(data, tmp_path):
    X, y = data
    for kind in (sp.csr_array, sp.csr_matrix):
        ranker = PerceptronAtK(batch_size=50).partial_fit(kind(X), y, [0, 1])
        save(ranker, tmp_path / "model.skops")
        same(load(tmp_path / "model.skops"), ranker)


@pytest.mark.parametrize("passes", [1, 4])
def test_passes_over_a_stream_count_a_row_once_in_the_threshold(passes):
    X, y = by_first_column(9500, 3, 2)
    whole = SGDAtK(max_iter=passes, shuffle=False).fit(X, y)
    stream = SGDAtK(max_iter=passes, shuffle=False).fit_stream([(X, y)], [0, 1])
    same(stream, whole)


def test_a_batch_larger_than_memory_is_a_batch_of_all_rows(data):
    X, y = data
    same(
        PerceptronAtK(batch_size=10**12, **ONE_PASS).fit(X, y),
        PerceptronAtK(batch_size=len(y), **ONE_PASS).partial_fit(X, y, [0, 1]),
    )
