"""Rankers for precision at k that learn from batches: what the papers prove, passes, queries, parameters."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Perceptron

from combinations import by_day
from pushrank import PerceptronAtK, RampAtK, SGDAtK, StructSVM
from pushrank.datasets import make_hidden_positives
from pushrank.exceptions import StreamError
from pushrank.metrics import precision_at_k
from pushrank.objectives import PrecisionAtK
from samples import shuffled_cancer
from tests.estimators.streams import ONE_PASS, same


def separable_stream(seed, n=6000, n_features=20, margin=0.05):
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=n_features)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(n, n_features))
    y = (X @ direction > np.quantile(X @ direction, 0.9)).astype(int)
    X += np.outer(np.where(y == 1, margin, -margin), direction)
    return X, y, direction, (X[y == 1] @ direction).min() - (X[y == 0] @ direction).max()


@pytest.mark.parametrize("variant", ["avg", "max"])
def test_mistakes_stay_below_their_bound_on_separable_streams(variant, capsys):
    """Theorems 7 and 9: with a margin the loss of a multiple of the direction is zero."""
    lines = []
    for seed in range(20):
        X, y, _, margin = separable_stream(seed)
        ranker = PerceptronAtK(0.25, variant=variant, batch_size=100, max_iter=1, random_state=seed).fit(X, y)
        radius = np.linalg.norm(X, axis=1).max()
        bound = 4.0 * ranker._learner.finalized.read("max_k") * radius**2 / margin**2
        assert 0 < ranker.n_mistakes_ <= bound
        assert ranker.n_mistakes_ <= ranker.mistake_bound_
        lines.append((ranker.n_mistakes_, bound, ranker.mistake_bound_))
    with capsys.disabled():
        found = np.array(lines)
        of_margin, at_weights = found[:, 0] / found[:, 1], found[:, 0] / found[:, 2]
        print(
            f"\n{variant}, 20 streams: observed / bound of the margin at most {of_margin.max():.1e}, "
            f"observed / bound at the weights {at_weights.min():.3f} to {at_weights.max():.3f}"
        )


@pytest.mark.parametrize("variant", ["avg", "max"])
def test_the_reported_bound_is_the_formula_at_some_multiple(variant):
    X, y, *_ = separable_stream(3, n=2000)
    ranker = PerceptronAtK(0.25, variant=variant, batch_size=100, max_iter=1, shuffle=False).fit(X, y)
    radius = np.linalg.norm(X, axis=1).max()
    reach = radius * np.sqrt(4.0 * ranker._learner.finalized.read("max_k"))
    most = np.inf
    for multiple in [0.0, *np.geomspace(1e-4, 10.0, 120)]:
        w = multiple * ranker.coef_ / np.linalg.norm(ranker.coef_)
        batches = [(y[a : a + 100], X[a : a + 100] @ w) for a in range(0, len(y), 100)]
        loss = sum(PrecisionAtK(0.25, variant).value(*batch) for batch in batches)
        most = min(most, (np.linalg.norm(w) * reach + loss**0.5) ** 2)
    assert most * 0.999 <= ranker.mistake_bound_ <= 1.3 * most


def test_margins_by_hand():
    X = np.array([[3.0], [1.0], [-1.0], [0.0], [-2.0]])
    y = np.array([1, 1, 1, 0, 0])
    ranker = PerceptronAtK(k=2, max_iter=5, random_state=0).fit(X, y)
    assert ranker.coef_[0] > 0
    # the second highest positive, the mean of the two lowest, and the lowest
    assert (ranker.weak_margin_, ranker.margin_, ranker.strong_margin_) == pytest.approx((1.0, 0.0, -1.0))


@pytest.mark.parametrize("hidden_fraction", [0.4, 0.28])
def test_hidden_positives_are_found(hidden_fraction):
    """Where convex surrogates may collapse: logistic regression finds 0.2, the best is 1."""
    rows = make_hidden_positives(4000, hidden_fraction=hidden_fraction, random_state=0)
    fresh = make_hidden_positives(20_000, hidden_fraction=hidden_fraction, random_state=1)
    known = rows.best_precision_at_top - rows.logistic_precision_at_top

    def precision(ranker):
        scores = ranker.fit(rows.data, rows.target).decision_function(fresh.data)
        return precision_at_k(fresh.target, scores, fraction_of_positives=rows.top)

    logistic = precision(LogisticRegression())
    assert logistic == pytest.approx(rows.logistic_precision_at_top, abs=0.03)
    assert precision(RampAtK(random_state=0)) - logistic > 0.9 * known
    assert precision(PerceptronAtK(variant="max", random_state=0)) - logistic > 0.9 * known


@pytest.fixture(scope="module")
def data():
    return shuffled_cancer()


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
    # Scores and bounds beyond float32 are kept in float64.
    larger = PerceptronAtK(**options).fit((1e30 * X).astype(np.float32), y)
    assert larger.mistake_bound_ == pytest.approx(bound, rel=1e-3)
    assert larger.decision_function((1e30 * X).astype(np.float32)).dtype == np.float64


def test_early_stopping_keeps_the_best_pass(data):
    X, y = data
    options = {"early_stopping": True, "validation_fraction": 0.3, "batch_size": 20, "random_state": 3}
    ranker = SGDAtK(k=1.0, eta0=30.0, **options).fit(X, y)
    assert ranker.validation_path_[ranker.best_iter_ - 1] == ranker.validation_path_.max()
    assert len(ranker.validation_path_) == ranker.n_iter_ <= 50
    again = SGDAtK(k=1.0, eta0=30.0, max_iter=ranker.best_iter_, **options).fit(X, y)
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


def test_same_seed_same_ranker(data):
    X, y = data
    one, two = (PerceptronAtK(batch_size=50, random_state=5).fit(X, y) for _ in range(2))
    same(one, two)
    other = PerceptronAtK(batch_size=50, random_state=6).fit(X, y)
    assert not np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("seed", by_day(range(5), 2))
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


def test_a_structural_step_is_taken_where_the_value_is_zero_but_not_the_slope():
    X, y = np.array([[0.0], [0.5], [0.5]] * 2), np.array([0, 1, 1] * 2)
    options = {"batch_size": 3, "average": False, "surrogate": "struct", "radius": 10.0, **ONE_PASS}
    first = SGDAtK(1, **options).fit(X[:3], y[:3]).coef_
    value, slope = PrecisionAtK(1, "struct").evaluate(y[3:], X[3:] @ first)
    assert value == 0.0
    assert slope.any()
    second = SGDAtK(1, **options).fit(X, y).coef_
    np.testing.assert_allclose(second, first - slope @ X[3:] / np.sqrt(2.0))


@pytest.mark.parametrize("ranker", [PerceptronAtK, SGDAtK, RampAtK])
def test_weights_that_add_up_to_one_are_warned_of(ranker, data):
    X, y = data
    with pytest.warns(UserWarning, match=r"mean of sample_weight is 0\.00175.*divide .* by their mean"):
        ranker(random_state=0).fit(X, y, np.full(len(y), 1.0 / len(y)))


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


BAD = [(StructSVM(measure=measure), "measure must be one of") for measure in ("map", "auc")]
BAD += [(kind(k=3000), "k=3000 is above the number of positives, 357") for kind in (StructSVM, RampAtK)]
BAD += [(RampAtK(C=1e31), r"C must be > 0 and .*, got 1e\+31"), (RampAtK(init="zero"), "init must be one of")]
BAD += [(SGDAtK(k=k), "k must be") for k in (0, 1.2)] + [(PerceptronAtK(variant="sum"), "variant")]
BAD += [(SGDAtK(**{name: 0}), name) for name in ("batch_size", "max_iter", "eta0")]
BAD += [(SGDAtK(validation_fraction=1.0), "validation_fraction"), (SGDAtK(radius=-1.0), "radius")]
BAD += [(SGDAtK(surrogate="mean"), "surrogate"), (SGDAtK(surrogate="struct"), "set radius")]
BAD += [(PerceptronAtK(**odd), "must be") for odd in ({"variant": ["avg"]}, {"k": 2**1100}, {"k": np.nan})]


@pytest.mark.parametrize(("ranker", "message"), BAD)
def test_parameters_out_of_range(ranker, message, data):
    with pytest.raises(ValueError, match=message):
        ranker.fit(*data)
