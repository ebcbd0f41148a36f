"""Infinite Push and RankSVM in the space of a kernel: the optimum, the certificate, and what users pass."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import (
    euclidean_distances,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
    sigmoid_kernel,
)
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from combinations import by_day, each_and_some
from pushrank import InfinitePush, RankSVM
from pushrank.models import Kernel, KernelModel
from pushrank.pairs import BipartiteSample
from pushrank.persistence import load, save
from pushrank.solvers.infinite_push.dual import InfinitePushDual, cost_per_positive
from pushrank.solvers.infinite_push.semismooth_newton import accelerated_gradient
from pushrank.solvers.infinite_push.tolerances import BLOCK
from quadratic_programs import infinite_push, pairwise_svm
from samples import by_first_column, scaled_cancer, small_problem

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LOSSES = ("hinge", "squared_hinge")


def cone_optimum(gram, y, C, loss, push):
    """The pairwise primal over features whose inner products are the kernel."""
    values, vectors = np.linalg.eigh(gram)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    if push:
        return infinite_push(features, y, C, loss)[0]
    differences = (features[y == 1][:, None] - features[y == 0][None]).reshape(-1, len(y))
    return pairwise_svm(differences, np.full(len(differences), C / len(differences)), loss)[0]


@quiet
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", by_day(range(30), 6))
def test_the_optimum_is_that_of_all_pairs(seed, loss):
    X, y, C = small_problem(seed, 0.6, most_columns=4)
    gram = rbf_kernel(X, gamma=0.7)
    options = {"loss": loss, "gamma": 0.7, "tol": 1e-8}
    for push, kind, limit in ((True, InfinitePush, 100_000), (False, RankSVM, 3000)):
        value = cone_optimum(gram, y, C, loss, push)
        ranker = kind(C, kernel="rbf", max_iter=limit, **options).fit(X, y)
        assert ranker.primal_objective_ == pytest.approx(value, rel=1e-6, abs=1e-8)
        assert ranker.dual_objective_ <= value * (1 + 1e-6) + 1e-8
    sample, model = BipartiteSample.from_labels(y), KernelModel(gram, Kernel("precomputed"), 1 << 30)
    dual = InfinitePushDual(model, sample, cost_per_positive(sample, C), loss)
    certificate = accelerated_gradient(dual, 1e-8, 100_000)[0].certificate
    assert certificate.primal == pytest.approx(cone_optimum(gram, y, C, loss, True), rel=1e-6, abs=1e-8)


@quiet
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [InfinitePush, RankSVM])
@pytest.mark.parametrize("seed", by_day(range(10), 3))
def test_a_linear_kernel_is_a_linear_ranker(kind, loss, seed):
    X, y, C = small_problem(seed, 0.6, most_columns=4)
    linear = kind(C, loss=loss, tol=1e-10, max_iter=20_000).fit(X, y)
    by_rows = kind(C, kernel="precomputed", loss=loss, tol=1e-10, max_iter=20_000).fit(linear_kernel(X), y)
    for one, other in ((linear, by_rows), (by_rows, linear)):
        assert one.dual_gap_ < 1e-5
        assert one.primal_objective_ >= other.dual_objective_ * (1 - 1e-9) - 1e-12
    new = np.random.default_rng(seed).normal(size=(5, X.shape[1]))
    ours = by_rows.decision_function(linear_kernel(new, X)) + by_rows.threshold_
    theirs = linear.decision_function(new) + linear.threshold_
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), atol=2e-3 * (1 + np.abs(theirs).max()))


@quiet
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", by_day(range(5), 2))
def test_it_is_an_asymmetric_support_vector_machine(seed, kernel):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] ** 2 + 0.5 * rng.normal(size=60) > 1.0).astype(int)
    # LIBSVM goes on without end where zero coefficients are optimal.
    X += y[:, None] * (kernel == "linear") * 2.0
    C = 5.0
    c = C / y.sum()
    machine = SVC(C=1.0, kernel=kernel, gamma=0.3, class_weight={1: 2 * c, 0: 2 * C}, tol=1e-10).fit(X, y)
    ranker = InfinitePush(C, kernel=kernel, gamma=0.3, tol=1e-10).fit(X, y)
    ours, theirs = ranker.decision_function(X), machine.decision_function(X) / 2
    np.testing.assert_allclose(ours - ours.mean(), theirs - theirs.mean(), atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [InfinitePush, RankSVM])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_gap_can_be_recomputed_from_what_is_kept(kind, loss, C):
    X, y = scaled_cancer()
    ranker = kind(C, kernel="rbf", loss=loss).fit(X, y)
    assert ranker.converged_
    gram = rbf_kernel(X, gamma=ranker.gamma_)
    v = np.zeros(len(y))
    v[ranker.support_] = ranker.dual_coef_
    scores, norm = gram @ v, v @ gram @ v
    np.testing.assert_allclose(scores - ranker.threshold_, ranker.decision_function(X), atol=1e-9)
    power = 1 if loss == "hinge" else 2
    if kind is RankSVM:
        short = np.maximum(1 - np.subtract.outer(scores[y == 1], scores[y == 0]), 0)
    else:
        short = np.maximum(1 - scores[y == 1] + scores[y == 0].max(), 0)
    primal = 0.5 * norm + C * (short**power).mean()
    assert ranker.primal_objective_ == pytest.approx(primal, rel=1e-9)
    if kind is InfinitePush:
        alpha, c = v[y == 1], C / (y == 1).sum()
        assert alpha.min() >= 0
        assert v[y == 0].max() <= 0
        assert v.sum() == pytest.approx(0.0, abs=1e-9)
        if loss == "hinge":
            assert alpha.max() <= c * (1 + 1e-12)
        bend = 0.0 if loss == "hinge" else (alpha**2).sum() / (4 * c)
        assert ranker.dual_objective_ == pytest.approx(alpha.sum() - bend - 0.5 * norm, rel=1e-9)
    exact = kind(C, kernel="rbf", loss=loss, tol=1e-7).fit(X, y)
    assert ranker.dual_objective_ <= exact.primal_objective_ * (1 + 1e-9)


@quiet
def test_kernels_of_all_kinds():
    X, y = scaled_cancer()
    expected = InfinitePush(10.0, kernel="rbf", gamma=0.01, tol=1e-6).fit(X, y).decision_function(X)

    def own(A, B):
        return rbf_kernel(A, B, gamma=0.01)

    for kernel, table in ((own, X), ("rbf", sp.csr_array(X)), ("rbf", X.astype(np.float32))):
        found = InfinitePush(10.0, kernel=kernel, gamma=0.01, tol=1e-6).fit(table, y).decision_function(table)
        np.testing.assert_allclose(found, expected, atol=2e-3)
    precomputed = InfinitePush(10.0, kernel="precomputed", tol=1e-6).fit(own(X, X), y)
    np.testing.assert_allclose(precomputed.decision_function(own(X, X)), expected, atol=2e-3)
    assert precomputed.gamma_ is None
    table = sp.csr_matrix(X)
    sparse_values = RankSVM(10.0, kernel=lambda A, B: A @ B.T).fit(
        table, y
    )  # a function may give a sparse matrix
    linear = RankSVM(10.0, tol=1e-6).fit(X, y).decision_function(X)
    np.testing.assert_allclose(sparse_values.decision_function(table), linear, atol=2e-2)
    poly = RankSVM(10.0, kernel="poly", degree=2, coef0=1.0, gamma="auto").fit(X, y)
    gram = polynomial_kernel(X, X[poly.support_], degree=2, coef0=1.0, gamma=1 / 30)
    np.testing.assert_allclose(poly.decision_function(X), gram @ poly.dual_coef_ - poly.threshold_, atol=1e-8)
    assert poly.gamma_ == 1 / 30
    again = poly.set_params(kernel="linear").fit(X, y)
    assert hasattr(again, "coef_")
    assert again.gamma_ is again.support_ is again.dual_coef_ is again.support_vectors_ is None


@quiet
@pytest.mark.parametrize("kind", [InfinitePush, RankSVM])
def test_little_memory_gives_the_same(kind):
    X, y = scaled_cancer()
    much = kind(100.0, kernel="rbf", tol=1e-8).fit(X, y)
    little = kind(100.0, kernel="rbf", tol=1e-8, cache_size=0.1).fit(X, y)
    assert little.primal_objective_ == pytest.approx(much.primal_objective_, rel=1e-7)
    assert little.converged_


@quiet
def test_cross_validation_splits_a_precomputed_kernel_on_both_sides():
    X, y = load_breast_cancer(return_X_y=True)
    gram = rbf_kernel(scale(X), gamma=0.01)
    scores = cross_val_score(
        InfinitePush(10.0, kernel="precomputed"), gram, y, cv=3, scoring="average_precision"
    )
    assert scores.min() > 0.95


@quiet
@pytest.mark.parametrize(
    ("kind", "loss", "C"), each_and_some([InfinitePush, RankSVM], LOSSES, [1e-6, 1e4, 1e10], n_random=1)
)
def test_extremes_give_an_answer_or_a_message(kind, loss, C, recwarn):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    for y in ((X[:, 0] > 0.2).astype(int), np.arange(40) == 0, np.arange(40) != 0, np.arange(40) % 2):
        for table in (X, 1e4 * X, 1e-4 * X, np.zeros_like(X), X.round() * 0.5):
            recwarn.clear()
            ranker = kind(C, kernel="rbf", gamma=1.0, loss=loss, max_iter=200).fit(table, y)
            assert np.isfinite(ranker.decision_function(table)).all()
            assert np.isfinite([ranker.primal_objective_, ranker.dual_objective_]).all()
            assert ranker.converged_ or len(recwarn)


@quiet
def test_a_kernel_that_is_none_is_refused():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[:60], y[:60]
    with pytest.raises(ValueError, match="needs a symmetric"):
        InfinitePush(kernel="precomputed").fit(np.triu(rbf_kernel(X)), y)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        RankSVM(100.0, kernel="precomputed").fit(-rbf_kernel(X), y)
    with pytest.raises(ValueError, match="must return an array of shape"):
        InfinitePush(kernel=lambda A, B: rbf_kernel(A, B)[:, 1:]).fit(X, y)
    with pytest.raises(ValueError, match="dense matrix"):
        InfinitePush(kernel="precomputed").fit(sp.csr_array(rbf_kernel(X)), y)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [InfinitePush, RankSVM])
def test_a_kernel_with_negative_eigenvalues_proves_nothing(kind, loss, C):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[:200, :3], y[:200]
    for kernel, table in ((sigmoid_kernel, X), ("precomputed", sigmoid_kernel(X))):
        with pytest.raises(ValueError, match="not positive semi-definite: its values at training rows"):
            kind(C, kernel=kernel, loss=loss).fit(table, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [InfinitePush, RankSVM])
def test_a_kernel_of_differences_is_enough(kind, loss):
    """Half of minus the squared distance is the linear kernel, up to a constant in the scores."""
    X, y = by_first_column(120, 3, 0.5, 0.1)
    ranker = kind(
        10.0, kernel=lambda A, B: -0.5 * euclidean_distances(A, B, squared=True), loss=loss, tol=1e-9
    )
    linear = kind(10.0, loss=loss, tol=1e-9).fit(X, y)
    scores = ranker.fit(X, y).decision_function(X) - linear.decision_function(X)
    assert np.ptp(scores) < 1e-3
    assert ranker.primal_objective_ == pytest.approx(linear.primal_objective_, rel=1e-6)


@quiet
def test_kernel_rankers_are_saved(tmp_path):
    X, y = scaled_cancer()
    ranker = InfinitePush(10.0, kernel="rbf").fit(X, y)
    save(ranker, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.decision_function(X), ranker.decision_function(X))


def test_free_room_is_filled_with_whole_blocks_of_columns(monkeypatch):
    X, y = by_first_column(600, 10, 0.5)
    made = []
    columns = KernelModel.columns
    monkeypatch.setattr(
        KernelModel, "columns", lambda model, rows: made.append(len(rows)) or columns(model, rows)
    )
    # room for nine tenths of the matrix
    InfinitePush(10.0, kernel="rbf", cache_size=0.9 * 8 * 600**2 / 2**20).fit(X, y)
    assert len(made) <= 2 * 600 / BLOCK
