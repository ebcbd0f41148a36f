"""Rankers that learn from batches: a stream in any chunks teaches what one pass over the rows does."""

from __future__ import annotations

import copy
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron
from sklearn.preprocessing import scale

from pushrank import PerceptronAtK, RampAtK, SGDAtK
from pushrank.datasets import ParquetBatches, make_hidden_positives
from pushrank.exceptions import StreamError
from pushrank.metrics import precision_at_k
from pushrank.objectives import prec_at_k_struct
from pushrank.persistence import load, save
from pushrank.solvers.streaming.learner import BatchSample, LabelledRows

ONE_PASS = {"max_iter": 1, "shuffle": False}
RANKERS = {
    "perceptron avg": lambda **o: PerceptronAtK(variant="avg", **ONE_PASS, **o),
    "perceptron max": lambda **o: PerceptronAtK(variant="max", average=False, **ONE_PASS, **o),
    "sgd avg": lambda **o: SGDAtK(surrogate="avg", **ONE_PASS, **o),
    "sgd max in a ball": lambda **o: SGDAtK(surrogate="max", radius=0.5, **ONE_PASS, **o),
    "sgd ramp": lambda **o: SGDAtK(surrogate="ramp", average=False, **ONE_PASS, **o),
    "1pmb": lambda **o: SGDAtK(surrogate="struct", radius=0.1, **ONE_PASS, **o),
}


def same(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.mistakes_path_, other.mistakes_path_)
    assert one.threshold_ == other.threshold_
    assert one.n_batches_ == other.n_batches_


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return scale(X)[order], y[order]


CASES = st.fixed_dictionaries(
    {
        "name": st.sampled_from(sorted(RANKERS)),
        "n": st.integers(2, 60),
        "size": st.integers(1, 25),
        "k": st.one_of(st.integers(1, 40), st.floats(0.05, 1.0)),
        "cuts": st.lists(st.integers(0, 60), max_size=12),
        "kind": st.sampled_from(["dense", "csr", "float32"]),
        "share": st.floats(0.0, 1.0),
        "weighted": st.booleans(),
        "bad": st.one_of(st.none(), st.integers(0, 59)),
        "seed": st.integers(0, 2**16),
    }
)


@given(case=CASES)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_chunks_do_not_matter_and_bad_rows_change_nothing(case):
    check_chunks(**case)


@pytest.mark.nightly
@given(case=CASES)
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_chunks_do_not_matter_in_a_thousand_cases(case):
    check_chunks(**case)


def check_chunks(name, n, size, k, cuts, kind, share, weighted, bad, seed):
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
    first = PerceptronAtK(1, "avg", **ONE_PASS, average=False).fit(X, y)
    # all scores tie at zero, negatives first: one mistake, both positives missed, each is added by half
    np.testing.assert_allclose(first.coef_, -X[0] + 0.5 * (X[1] + X[2]))
    assert first.n_mistakes_ == 1.0
    top = PerceptronAtK(1, "max", **ONE_PASS, average=False).partial_fit(X, y, [0, 1])
    assert any(np.array_equal(top.coef_, x - X[0]) for x in X[1:])
    step = SGDAtK(1, "avg", eta0=0.5, **ONE_PASS, average=False).fit(X, y)
    np.testing.assert_allclose(step.coef_, 0.5 * first.coef_)


def test_streams_of_files_and_of_chunks(data, tmp_path):
    X, y = data
    names = [f"x{j}" for j in range(X.shape[1])]
    table = pd.DataFrame(X, columns=names).assign(label=y, weight=1.0)
    table[:300].to_parquet(tmp_path / "a.parquet")
    table[300:].to_parquet(tmp_path / "b.parquet", row_group_size=50)
    batches = ParquetBatches(
        [tmp_path / "a.parquet", tmp_path / "b.parquet"], "label", weight="weight", chunk_rows=77
    )
    assert batches.n_rows == len(y)
    assert batches.feature_names == names
    whole = PerceptronAtK(k=1.0, max_iter=3, shuffle=False, batch_size=50).fit(X, y)
    from_files = PerceptronAtK(k=1.0, max_iter=3, batch_size=50).fit_stream(batches)
    same(from_files, whole)
    assert from_files.feature_names_in_.tolist() == names
    assert from_files.n_iter_ == whole.n_iter_ == 3
    chunks = ((X[i : i + 9], y[i : i + 9]) for i in [0, 600, *range(9, 569, 9)])  # the second is empty
    once = PerceptronAtK(batch_size=50).fit_stream(chunks, [0, 1])
    same(once, PerceptronAtK(batch_size=50, **ONE_PASS).fit(X, y))
    with pytest.raises(ValueError, match="the stream is empty"):
        PerceptronAtK().fit_stream([], [0, 1])
    with pytest.raises(ValueError, match="early_stopping needs the data at hand"):
        PerceptronAtK(early_stopping=True).fit_stream(batches)


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
        (lambda X, y: [(X, y)], None, ValueError, "fit_stream needs the two classes"),
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


def test_going_on_after_fit(data):
    X, y = data
    ranker = PerceptronAtK(batch_size=50, random_state=0).fit(X[:400], y[:400])
    before = ranker.coef_.copy()
    ranker.partial_fit(-X[400:], y[400:])
    assert not np.array_equal(ranker.coef_, before)
    assert np.isfinite(ranker.threshold_)


def test_errors_name_the_row_of_the_stream(data):
    X, y = data
    ranker = SGDAtK(batch_size=50).partial_fit(X[:120], y[:120], [0, 1])
    broken = X[120:200].copy()
    broken[33, 4] = np.inf
    with pytest.raises(StreamError, match=r"row 33 \(row 153 of the stream\) contains infinity in column 4"):
        ranker.partial_fit(broken, y[120:200])
    with pytest.raises(
        StreamError, match=r"row 2 \(row 122 of the stream\) has the label 7, which is none of \[0, 1\]"
    ):
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


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_weights_beyond_the_range_of_floats(kind):
    rng = np.random.default_rng(0)
    X, y = kind(1e307 * rng.uniform(1.0, 9.0, size=(40, 2))), np.arange(40) % 2
    ranker = PerceptronAtK(batch_size=40)
    with pytest.raises(StreamError, match="leads to a weight, beyond the range of floats"):
        ranker.partial_fit(X, y, [0, 1])
    assert not hasattr(ranker, "coef_")
    with pytest.raises(ValueError, match="beyond the range of floats"):
        ranker.fit(X, y)


def test_an_overflow_names_its_cause(data):
    X, y = data
    for ranker in (PerceptronAtK(), RampAtK()):
        with pytest.raises(ValueError, match=r"sample_weight reaches 1e\+300: divide it by a constant"):
            ranker.fit(X, y, np.full(len(y), 1e300))
    with pytest.raises(StreamError, match="scale the features"):
        PerceptronAtK(batch_size=50).fit(1e200 * X, y)


def test_the_bound_of_large_single_precision_features(data):
    X, y = data
    options = {"batch_size": 50, "random_state": 0, "max_iter": 1}
    bound = PerceptronAtK(**options).fit(X, y).mistake_bound_
    large = PerceptronAtK(**options).fit((1e17 * X).astype(np.float32), y)
    assert large.mistake_bound_ == pytest.approx(bound, rel=1e-3)
    with pytest.raises(ValueError, match="beyond the range of float32; scale"):
        PerceptronAtK(**options).fit((1e30 * X).astype(np.float32), y)


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


def test_early_stopping_keeps_the_best_pass(data):
    X, y = data
    ranker = SGDAtK(
        k=1.0, early_stopping=True, validation_fraction=0.3, batch_size=20, eta0=30.0, random_state=3
    ).fit(X, y)
    assert ranker.validation_path_[ranker.best_iter_ - 1] == ranker.validation_path_.max()
    assert len(ranker.validation_path_) == ranker.n_iter_ <= 50
    again = SGDAtK(
        k=1.0, early_stopping=True, validation_fraction=0.3, batch_size=20, eta0=30.0, random_state=3,
        max_iter=ranker.best_iter_,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_array_equal(again.coef_, ranker.coef_)
    with pytest.raises(ValueError, match="validation_fraction"):
        PerceptronAtK(early_stopping=True).fit(X[:4], [0, 0, 0, 1])


def test_the_validation_part_knows_weights(data):
    """Rows without weight do not choose the pass."""
    X, y = data
    options = {"early_stopping": True, "validation_fraction": 0.3, "batch_size": 20, "random_state": 3}
    spoilt = np.random.default_rng(0).random(len(y)) < 0.3
    weights = np.where(spoilt, 0.0, 1.0)
    ranker = SGDAtK(k=1.0, **options)
    path = ranker.fit(X, y, weights).validation_path_
    moved = np.where(spoilt[:, None], -3.0 * X, X)
    np.testing.assert_allclose(ranker.fit(moved, y, weights).validation_path_, path, rtol=1e-12)


def test_a_number_of_rows_where_the_positives_weigh_less(data):
    X, y = data
    with pytest.warns(UserWarning, match="mean of sample_weight is 1e-06"):
        tiny = PerceptronAtK(k=3, random_state=0, average=False).fit(X, y, np.full(len(y), 1e-6))
    assert 0.0 < tiny.n_mistakes_ <= tiny.mistake_bound_
    assert tiny.score(X, y) > 0.9


def test_a_perceptron_without_a_mistake_rests():
    X = np.array([[1.0, 0.0], [0.9, 0.1], [-1.0, 0.3], [-0.8, 0.0]])
    ranker = PerceptronAtK(k=1.0, max_iter=100).fit(X, [1, 1, 0, 0])
    assert ranker.n_iter_ < 10
    assert ranker.strong_margin_ > 0


def test_going_on_after_saving(data, tmp_path):
    X, y = data
    ranker = PerceptronAtK(batch_size=50, **ONE_PASS).partial_fit(X[:130], y[:130], [0, 1])
    save(ranker, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    loaded.partial_fit(X[130:], y[130:])
    same(loaded, PerceptronAtK(batch_size=50, **ONE_PASS).fit(X, y))


def test_the_threshold_comes_from_a_sample_of_bounded_size():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=60_000) > 1.3).astype(int)
    ranker = PerceptronAtK(**ONE_PASS).fit(X, y)
    assert ranker._learner.sample.batches == []  # rows are not kept where no more are expected
    assert ranker.predict(X).mean() == pytest.approx(y.mean(), rel=0.1)
    cut = PerceptronAtK(**ONE_PASS)
    for start in range(0, 60_000, 7919):
        cut.partial_fit(X[start : start + 7919], y[start : start + 7919], [0, 1])
    assert cut._learner.sample.rows.n_rows == 10_000
    same(cut, ranker)
    assert precision_at_k(y, ranker.decision_function(X), fraction_of_positives=0.25) > 0.9


def test_same_seed_same_ranker(data):
    X, y = data
    one, two = (PerceptronAtK(batch_size=50, random_state=5).fit(X, y) for _ in range(2))
    same(one, two)
    other = PerceptronAtK(batch_size=50, random_state=6).fit(X, y)
    assert not np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 1.2}, "k must be"),
        ({"batch_size": 0}, "batch_size"),
        ({"max_iter": 0}, "max_iter"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"eta0": 0.0}, "eta0"),
        ({"radius": -1.0}, "radius"),
        ({"surrogate": "mean"}, "surrogate"),
        ({"surrogate": "struct"}, "set radius"),
    ],
)
def test_parameters_out_of_range(options, message, data):
    with pytest.raises(ValueError, match=message):
        SGDAtK(**options).fit(*data)
    with pytest.raises(ValueError, match="variant"):
        PerceptronAtK(variant="sum").fit(*data)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("average", [True, False])
def test_at_rest_the_last_weights_are_the_model(seed, average):
    """A mean of few passes is far from where they came to rest."""
    rows = make_hidden_positives(2000, random_state=seed)
    ranker = PerceptronAtK(variant="max", average=average, random_state=0).fit(rows.data, rows.target)
    assert ranker.n_iter_ < 50
    assert precision_at_k(rows.target, ranker.decision_function(rows.data), fraction_of_positives=0.25) > 0.95
    chunks = PerceptronAtK(variant="max", average=average)
    chunks.fit_stream([(rows.data, rows.target)], [0, 1])
    assert precision_at_k(rows.target, chunks.decision_function(rows.data), fraction_of_positives=0.25) > 0.95
    np.testing.assert_allclose(chunks._learner.state.mean, chunks._learner.state.iterate, rtol=1e-12)


def test_sparse_rows_are_saved_and_loaded(data, tmp_path):
    X, y = data
    for kind in (sp.csr_array, sp.csr_matrix):
        ranker = PerceptronAtK(batch_size=50).partial_fit(kind(X), y, [0, 1])
        save(ranker, tmp_path / "model.skops")
        same(load(tmp_path / "model.skops"), ranker)


def test_few_rows_after_fit_leave_the_threshold(data):
    X, y = data
    ranker = PerceptronAtK(batch_size=50, random_state=0).fit(X, y)
    before = ranker.threshold_
    ranker.partial_fit(X[:1], y[:1])
    assert ranker.threshold_ == before
    for start in range(0, len(y), 100):
        ranker.partial_fit(-X[start : start + 100], y[start : start + 100])
    assert ranker.threshold_ != before


def test_early_stopping_leaves_rows_without_weight_out(data):
    X, y = data
    weights = np.ones(len(y))
    weights[np.flatnonzero(y)[20:]] = 0.0
    ranker = PerceptronAtK(early_stopping=True, random_state=0).fit(X, y, weights)
    assert np.isfinite(ranker.validation_path_).all()
    weights[np.flatnonzero(y)[1:]] = 0.0
    with pytest.raises(ValueError, match=r"validation_fraction=0\.1 leaves"):
        PerceptronAtK(early_stopping=True, random_state=0).fit(X, y, weights)


def test_early_stopping_refuses_a_validation_part_without_positives(data):
    X, y = data
    few = np.concatenate([np.flatnonzero(y)[:3], np.flatnonzero(y == 0)])
    with pytest.raises(ValueError, match=r"validation_fraction=0\.1 leaves.*no positive"):
        PerceptronAtK(early_stopping=True, random_state=0).fit(X[few], y[few])


@pytest.mark.parametrize("passes", [1, 4])
def test_passes_over_a_stream_count_a_row_once_in_the_threshold(passes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9500, 3))
    y = (X[:, 0] + rng.normal(size=9500) > 2).astype(int)
    whole = SGDAtK(max_iter=passes, shuffle=False).fit(X, y)
    stream = SGDAtK(max_iter=passes, shuffle=False).fit_stream([(X, y)], [0, 1])
    same(stream, whole)


def test_small_batches_are_sampled_in_linear_time():
    """The work is counted: an offered batch is taken in at most once, and sorted out by a heap."""
    taken = []

    class Counted(LabelledRows):
        def take(self, numbers):
            taken.append(len(numbers))
            return super().take(numbers)

    X = np.zeros((30_000, 1))
    rows = Counted(X, np.zeros(30_000, dtype=bool), np.ones(30_000))
    sample = BatchSample(2)
    sample.offer(rows, np.arange(30_000))
    assert len(taken) <= 5001
    assert sample.rows.n_rows == 10_000
    one_by_one = BatchSample(2)
    for start in range(0, 30_000, 2):
        one_by_one.offer(rows, np.arange(start, start + 2))
    assert [key for key, _ in sorted(one_by_one.batches, key=lambda batch: batch[0])] == [
        key for key, _ in sorted(sample.batches, key=lambda batch: batch[0])
    ]


def test_a_structural_step_is_taken_where_the_value_is_zero_but_not_the_slope():
    X, y = np.array([[0.0], [0.5], [0.5]] * 2), np.array([0, 1, 1] * 2)
    options = {"batch_size": 3, "average": False, "surrogate": "struct", "radius": 10.0, **ONE_PASS}
    first = SGDAtK(1, **options).fit(X[:3], y[:3]).coef_
    value, slope = prec_at_k_struct(1).evaluate(y[3:], X[3:] @ first)
    assert value == 0.0
    assert slope.any()
    second = SGDAtK(1, **options).fit(X, y).coef_
    np.testing.assert_allclose(second, first - slope @ X[3:] / np.sqrt(2.0))


def test_a_batch_larger_than_memory_is_a_batch_of_all_rows(data):
    X, y = data
    same(
        PerceptronAtK(batch_size=10**12, **ONE_PASS).fit(X, y),
        PerceptronAtK(batch_size=len(y), **ONE_PASS).partial_fit(X, y, [0, 1]),
    )


@pytest.mark.parametrize("ranker", [PerceptronAtK, SGDAtK, RampAtK])
def test_weights_that_add_up_to_one_are_warned_of(ranker, data):
    X, y = data
    with pytest.warns(
        UserWarning, match=r"mean of sample_weight is 0\.00175.*divide the weights by their mean"
    ):
        ranker(random_state=0).fit(X, y, np.full(len(y), 1.0 / len(y)))


@pytest.mark.parametrize("options", [{"variant": ["avg"]}, {"k": 2**1100}, {"k": float("nan")}])
def test_odd_parameters_are_errors(options, data):
    with pytest.raises(ValueError, match="must be"):
        PerceptronAtK(**options).fit(*data)


@pytest.mark.parametrize("variant", ["avg", "max"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_batches_of_one_row_make_the_classical_perceptron(variant, make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X @ rng.normal(size=5) + rng.normal(size=300) > 0
    options = {"shuffle": False, "max_iter": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # no batch is passed over
        ranker = PerceptronAtK(k=1, variant=variant, batch_size=1, average=False, **options).fit(make(X), y)
    classical = Perceptron(fit_intercept=False, tol=None, **options).fit(X, y)
    np.testing.assert_allclose(ranker.coef_, classical.coef_[0], rtol=1e-12)
    assert 0 < ranker.n_mistakes_ <= ranker.mistake_bound_
    parts = PerceptronAtK(k=1, variant=variant, batch_size=1, average=False)
    for chunk in np.array_split(np.arange(300), [1, 2, 50]):
        parts.partial_fit(make(X[chunk]), y[chunk], classes=[False, True])
    once = classical.set_params(max_iter=1).fit(X, y)
    np.testing.assert_allclose(parts.coef_, once.coef_[0], rtol=1e-12)


@pytest.mark.parametrize("surrogate", ["ramp", "max", "avg"])
def test_batches_of_one_row_make_the_gradient_descent_of_the_hinge(surrogate):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X @ rng.normal(size=3) + rng.normal(size=100) > 0
    w = np.zeros(3)
    for step, (x, sign) in enumerate(zip(X, np.where(y, 1.0, -1.0), strict=True), start=1):
        if sign * (w @ x) < 1.0:
            w += 0.5 / np.sqrt(step) * sign * x
    options = {"shuffle": False, "max_iter": 1, "average": False, "radius": None, "eta0": 0.5}
    ranker = SGDAtK(k=1, surrogate=surrogate, batch_size=1, **options).fit(X, y)
    np.testing.assert_allclose(ranker.coef_, w, rtol=1e-12)


@pytest.mark.parametrize("variant", ["avg", "max"])
def test_a_query_is_a_batch(variant):
    """Against the paper's algorithms by hand; queries of one class are passed over."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(30), np.append(2, rng.integers(1, 9, 29)))
    X = rng.normal(size=(len(qid), 4))
    y = X[:, 0] + rng.normal(size=len(qid)) > 0.3
    y[:2] = True, False  # all scores tie at first, so that there should be no choice
    w, mistakes = np.zeros(4), []
    for q in range(30):
        rows, positive, score = X[qid == q], y[qid == q], X[qid == q] @ w
        mistakes.append(0)
        if positive.all() or not positive.any():
            continue
        k = min(2, positive.sum())
        top = np.lexsort((positive, -score))[:k]
        found = np.isin(np.arange(len(rows)), top)
        missed = np.flatnonzero(positive & ~found)
        mistakes[-1] = wrong = int((~positive[top]).sum())
        if variant == "max":
            added = rows[missed[np.argsort(-score[missed], kind="stable")][:wrong]].sum(axis=0)
        else:
            added = wrong / max(len(missed), 1) * rows[missed].sum(axis=0)
        w = w + added - rows[found & ~positive].sum(axis=0)
    scattered = rng.permutation(len(qid))
    options = {"k": 2, "variant": variant, "average": False, "max_iter": 1, "shuffle": False}
    for make in (np.asarray, sp.csr_array):
        ranker = PerceptronAtK(**options, batch_size=1)
        ranker.fit(make(X[scattered]), y[scattered], qid=qid[scattered])
        np.testing.assert_allclose(ranker.coef_, w, rtol=1e-9)
        np.testing.assert_array_equal(ranker.mistakes_path_, np.cumsum(mistakes))
        assert ranker.n_mistakes_ <= ranker.mistake_bound_


def test_queries_are_separated_and_validated_whole():
    rng = np.random.default_rng(1)
    qid, far = np.repeat(np.arange(40), 10), rng.normal(size=40) * 100.0
    X = rng.normal(size=(400, 3))
    y = np.zeros(400, dtype=bool)
    for q in range(40):
        y[10 * q + np.argsort(-X[10 * q : 10 * q + 10, 0])[:3]] = True
    X = np.column_stack([X[:, 0] + 0.3 * y, X[:, 1:], far[qid]])  # a column that tells queries apart alone
    ranker = PerceptronAtK(k=1.0, max_iter=200, random_state=0).fit(X, y, qid=qid)
    assert ranker.mistakes_path_[-40:].max() == ranker.mistakes_path_[-40:].min()
    scores = ranker.decision_function(X).reshape(40, 10)
    worst = np.where(y.reshape(40, 10), scores, np.inf).min(axis=1)
    best = np.where(y.reshape(40, 10), -np.inf, scores).max(axis=1)
    assert ranker.strong_margin_ == pytest.approx((worst - best).min() / np.linalg.norm(ranker.coef_))
    assert ranker.strong_margin_ > 0.0
    stopped = SGDAtK(k=3, early_stopping=True, random_state=0, max_iter=20).fit(X, y, qid=qid)
    assert stopped.validation_path_.max() > 0.9
    with pytest.raises(ValueError, match="no query has both a positive and a negative row"):
        PerceptronAtK().fit(X, y, qid=np.arange(400))
    mostly_single = np.where(qid < 3, qid, 100 + np.arange(400))
    with pytest.raises(ValueError, match="none to validate on"):
        SGDAtK(early_stopping=True, random_state=0).fit(X, y, qid=mostly_single)
    with pytest.warns(UserWarning, match="9 of 10 queries, which had no positive or no negative row"):
        PerceptronAtK(max_iter=1, random_state=0).fit(X[:100], y[:100] & (qid[:100] == 0), qid=qid[:100])


def test_labels_of_a_row_are_a_query():
    """Multi-label rows: k of each row's labels, with coefficients for each label."""
    rng = np.random.default_rng(2)
    X, W = rng.normal(size=(60, 3)), rng.normal(size=(3, 5))
    Y = np.sort(X @ W, axis=1)[:, [-2]] <= X @ W
    pairs = sp.kron(sp.csr_array(X), sp.eye_array(5), format="csr")
    ranker = PerceptronAtK(k=2, max_iter=300, random_state=0)
    ranker.fit(pairs, Y.ravel(), qid=np.repeat(np.arange(60), 5))
    predicted = X @ ranker.coef_.reshape(3, 5)
    top = np.argsort(-predicted, axis=1)[:, :2]
    assert np.take_along_axis(Y, top, axis=1).all()
