"""The papers' pseudo-code against the estimators that run it, and the functions of its page on other data."""

import doctest
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

from pushrank import (
    InfinitePush,
    IRPush,
    PerceptronAtK,
    PushBoost,
    RankBoost,
    RankSVM,
    SGDAtK,
    SmoothMarginRanking,
)

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def gradient_projection(differences, start, project, eta0, t_max):
    """Agarwal (2011), figures 2 and 3: return the coefficients of the iterate of the lowest Q, and Q."""
    a, iterates = start, []
    for t in range(1, t_max + 2):
        w = np.tensordot(a, differences, axes=a.ndim)
        iterates.append((w @ w / 2 - a.sum(), w))
        a = project(a - eta0 / np.sqrt(t) * (differences @ w - 1))
    best = min(range(len(iterates)), key=lambda t: iterates[t][0])
    return iterates[best][1], iterates[best][0], best


def l1_inf_ball(a, radius):
    """Quattoni et al. (2009): all columns lose theta or all they have, by bisection."""
    size = np.abs(a)
    if size.max(axis=0).sum() <= radius:
        return a
    totals = np.cumsum(-np.sort(-size, axis=0), axis=0)
    low, high = 0.0, totals[-1].max()
    for _ in range(80):
        theta = (low + high) / 2
        heights = np.maximum(((totals - theta) / np.arange(1, len(a) + 1)[:, None]).max(axis=0), 0)
        low, high = (theta, high) if heights.sum() > radius else (low, theta)
    return np.sign(a) * np.minimum(size, heights)


def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 3))
    return X, (X[:, 0] + rng.normal(size=24) > 0.4).astype(int), rng


def by_pairs(ranker, X, y, eta0, t_max, sample_weight=None):
    """The ranker by the paper's algorithm, whose gap is far above tol."""
    ranker.set_params(solver="gradient-projection", eta0=eta0, max_iter=t_max)
    with pytest.warns(ConvergenceWarning, match="gap is .* use solver='auto'"):
        return ranker.fit(X, y, sample_weight)


@pytest.mark.parametrize(("eta0", "best"), [(0.02, 60), (0.05, 22)])
def test_the_infinite_push_by_figure_2(eta0, best):
    X, y, _ = rows()
    C, t_max = 10.0, 60
    differences = X[y == 1][:, None] - X[y == 0][None]
    m, n = differences.shape[:2]
    start = np.full((m, n), C / (1000 * m * n))
    w, Q, t = gradient_projection(
        differences, start, lambda a: np.maximum(l1_inf_ball(a, C / m), 0), eta0, t_max
    )
    assert t == best  # too long a step never gets far below the start
    printed = by_pairs(InfinitePush(C), X, y, eta0, t_max)
    np.testing.assert_allclose(printed.coef_, w, rtol=1e-7)
    assert printed.dual_objective_ == pytest.approx(-Q, rel=1e-9)
    exact = InfinitePush(C, tol=1e-8).fit(X, y)
    assert printed.dual_objective_ <= exact.primal_objective_ <= printed.primal_objective_
    # The linear kernel, given as numbers, has the same scores.
    kernel = by_pairs(InfinitePush(C, kernel="precomputed"), X @ X.T, y, eta0, t_max)
    scores = printed.decision_function(X), kernel.decision_function(X @ X.T)
    np.testing.assert_allclose(*map(np.diff, scores), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_ranksvm_by_figure_3(weighted):
    X, y, rng = rows()
    C, t_max = 10.0, 60
    sample_weight = rng.integers(0, 3, 24).astype(float) if weighted else np.ones(24)
    better, worse = np.nonzero(y[:, None] > y)
    weights = sample_weight[better] * sample_weight[worse]
    upper = C * weights / weights.sum()
    onto = partial(np.clip, a_min=0, a_max=upper)
    w, Q, _ = gradient_projection(X[better] - X[worse], upper / 1000, onto, 0.02, t_max)
    printed = by_pairs(RankSVM(C, loss="hinge"), X, y, 0.02, t_max, sample_weight)
    np.testing.assert_allclose(printed.coef_, w, rtol=1e-9)
    assert printed.dual_objective_ == pytest.approx(-Q, rel=1e-9)
    exact = RankSVM(C, loss="hinge", tol=1e-8).fit(X, y, sample_weight)
    long = by_pairs(RankSVM(C, loss="hinge"), X, y, 0.02, 1000, sample_weight)
    assert long.dual_objective_ <= exact.primal_objective_ * (1 + 1e-9)
    assert long.primal_objective_ == pytest.approx(exact.primal_objective_, rel=5e-3)


def binary(seed, n=40, n_rankers=8):
    """Weak rankers in {0, 1} with a positive vote that separates the classes."""
    rng = np.random.default_rng(seed)
    H = (rng.random((n, n_rankers)) < 0.5).astype(float)
    scores = H @ rng.random(n_rankers)
    return H, (scores > np.median(scores)).astype(int)


def margins_of_pairs(H, y):
    """The matrix M of the papers: a row for each pair, a column for each weak ranker."""
    return (H[y == 1][:, None] - H[y == 0][None]).reshape(-1, H.shape[1])


def test_coordinate_ascent_on_the_smooth_margin():
    """Rudin et al. (COLT 2005), section 4.2: the step to the largest G; RankBoost's until G is positive."""
    H, y = binary(11, 24, 6)
    M, weights, path = margins_of_pairs(H, y), np.zeros(H.shape[1]), []

    def smooth_margin(weights):
        return -np.log(np.exp(-M @ weights).sum()) / np.abs(weights).sum()

    for _ in range(25):
        d = np.exp(-M @ weights)
        edges = d @ M / d.sum()
        j = np.argmax(np.where((edges > 0) | (weights > 0), np.abs(edges), 0))
        if weights.any() and smooth_margin(weights) > 0:
            along = lambda step, j=j: -smooth_margin(weights + step * np.eye(len(weights))[j])  # noqa: E731
            options = {"bounds": (-weights[j], 20), "method": "bounded", "options": {"xatol": 1e-10}}
            step = minimize_scalar(along, **options).x
        else:
            step = max(np.log(d[M[:, j] > 0].sum() / d[M[:, j] < 0].sum()) / 2, -weights[j])
        weights[j] += step
        path.append(smooth_margin(weights))
    options = {"weak_rankers": "columns", "positive": True, "n_estimators": 25}
    exact = SmoothMarginRanking(ascent="exact", **options).fit(H, y)
    np.testing.assert_allclose(exact.smooth_margin_path_[1:], path, rtol=1e-6)
    np.testing.assert_allclose(exact.coef_, weights, rtol=1e-3)
    # at the new point, not the old, the slope of ln F along the ranker is -G: the denominator is F there
    d = np.exp(-M @ exact.coef_)
    edge = (d @ M / d.sum())[exact.estimator_index_[-1]]
    assert edge == pytest.approx(exact.smooth_margin_path_[-1], rel=1e-6)
    approximate = SmoothMarginRanking(**options).fit(H, y)
    assert np.abs(approximate.smooth_margin_path_[1:] - path).max() > 1e-3
    # values of features that are not binary take the search that evaluates all rows
    squashed = SmoothMarginRanking(ascent="exact", **options).fit(np.tanh(H + 1e-9 * H[::-1]), y)
    np.testing.assert_allclose(squashed.smooth_margin_path_, exact.smooth_margin_path_, rtol=1e-4)


def test_bounds_at_zero_alone_are_not_the_printed_choice():
    """With ``positive=True`` rounds step back, too; the paper's steps are all positive."""
    rng = np.random.default_rng(48)
    H = (rng.random((24, 5)) < 0.5).astype(float)
    H[:, 0] = 1 - H[:, 0]
    scores = H @ (rng.random(5) - 0.2)
    y = (scores > np.median(scores)).astype(int)
    weights = page()["rank_boost"](H, y, 120)
    options = {"weak_rankers": "columns", "n_estimators": 120}
    np.testing.assert_allclose(RankBoost(choice="signed", **options).fit(H, y).coef_, weights, rtol=1e-9)
    positive = RankBoost(positive=True, **options).fit(H, y)
    assert positive.estimator_weights_.min() < 0
    assert np.abs(positive.coef_ - weights).max() > 0.01


@pytest.mark.parametrize("p", [1, 4])
def test_any_classifier_is_a_weak_ranker(p):
    """A round's labels are the signs and its weights the sizes of d; the step is ln(d+ / d-) / (p + 1)."""
    X, y, _ = rows()
    scores = np.zeros(24)
    options = {"weak_rankers": GaussianNB(), "n_estimators": 6}
    ranker = RankBoost(**options) if p == 1 else PushBoost(p, alpha=0.0, **options)
    ranker.fit(X, y)
    for weight in ranker.estimator_weights_:
        d = np.exp(-np.subtract.outer(scores[y == 1], scores[y == 0]))
        d *= d.sum(axis=0) ** (p - 1)
        d /= d.sum()
        of_rows = np.zeros(24)
        of_rows[y == 1], of_rows[y == 0] = d.sum(axis=1), d.sum(axis=0)
        h = GaussianNB().fit(X, y, sample_weight=of_rows / 2).predict(X)
        difference = np.subtract.outer(h[y == 1], h[y == 0])
        step = np.log(d[difference > 0].sum() / d[difference < 0].sum()) / (p + 1)
        assert weight == pytest.approx(step, rel=1e-8)
        scores += step * h
    np.testing.assert_allclose(ranker.decision_function(X) + ranker.threshold_, scores, rtol=1e-8)


class Undecided(GaussianNB):
    def predict(self, X):
        return np.full(len(X), np.nan)


def test_a_weak_ranker_gives_each_row_a_finite_number():
    X, y, _ = rows()
    with pytest.raises(ValueError, match=r"Undecided\(\) predicts values that are not finite"):
        PushBoost(weak_rankers=Undecided()).fit(X, y)


def test_the_ir_push_of_the_rank_counts_all_rows():
    """Rudin (2009), section 7: the Rank is over all rows, a positive itself among them."""
    X, y, rng = rows()
    alpha, weights = 0.1, rng.integers(0, 3, 24)
    every, labels = X.repeat(weights, axis=0), y.repeat(weights)

    def objective(w):
        differences = every[labels == 1] @ w - (every @ w)[:, None]
        return np.log1p(np.exp(-differences).sum(axis=0)).mean() + alpha / 2 * w @ w

    best = minimize(objective, np.zeros(3), options={"gtol": 1e-8})
    for solver in ("lbfgs", "newton-cg", "coordinate"):
        ranker = IRPush(discount="rank", alpha=alpha, solver=solver, tol=1e-8).fit(X, y, weights)
        np.testing.assert_allclose(ranker.coef_, best.x, atol=1e-5)
        assert ranker.primal_objective_ == pytest.approx(best.fun, rel=1e-9)
        assert best.fun * (1 - 1e-6) <= ranker.dual_objective_ <= best.fun * (1 + 1e-9)
    copies = IRPush(discount="rank", alpha=alpha, tol=1e-8).fit(every, labels)
    np.testing.assert_allclose(ranker.coef_, copies.coef_, atol=1e-6)
    assert np.abs(IRPush(alpha=alpha).fit(X, y, weights).coef_ - ranker.coef_).max() > 0.01
    scores = every @ best.x
    ranks = [(scores >= score).sum() for score in scores[labels == 1]]
    assert np.log1p(ranks).mean() <= best.fun
    with pytest.raises(ValueError, match="of two classes in one list"):
        IRPush(discount="rank").fit(X, np.arange(24) % 3)
    with pytest.raises(ValueError, match="discount must be one of"):
        IRPush(discount="place").fit(X, y)


PAGE = Path(__file__).parents[2] / "docs" / "papers" / "pseudo_code.md"
COLUMNS = {"weak_rankers": "columns", "choice": "signed", "tol": 0}
STREAM = {"batch_size": 20, "max_iter": 3, "shuffle": False}


@cache
def page() -> dict[str, Any]:
    """The names that the page defines, but for its data and results."""
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        if example.source.startswith(("import numpy", "from", "def")):
            exec(example.source, names)  # noqa: S102
    return names


def data(seed):
    """A table with a binary and a skewed column, and labels that it tells with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 5))
    X[:, 3], X[:, 4] = X[:, 3] > 0.4, np.exp(2.0 * X[:, 4])
    y = (X[:, 0] + 0.7 * X[:, 3] + rng.normal(size=80) > 0.8).astype(int)
    return X, y


@quiet
@pytest.mark.parametrize("seed", range(4))
def test_the_page_and_the_library_agree(seed):
    X, y = data(seed)
    H, B = (X - X.min(axis=0)) / np.ptp(X, axis=0), (np.median(X, axis=0) < X).astype(float)
    equal = page()["equal"]
    assert equal(RankBoost(**COLUMNS, n_estimators=30).fit(B, y).coef_, page()["rank_boost"](B, y, 30))
    votes = B @ np.array([2.0, 2.1, 2.3, 2.7, 3.1])
    z = (votes > np.median(votes)).astype(int)
    smooth = SmoothMarginRanking(**COLUMNS, n_estimators=100, not_separable="warn").fit(B, z)
    assert equal(smooth.coef_, page()["rank_boost"](B, z, 100, smooth=True))
    for p in (1, 4, 64):
        push = PushBoost(p, **COLUMNS, n_estimators=15, alpha=0).fit(H, y)
        assert equal(push.coef_, page()["p_norm_push"](H, y, p, 15))
    options = {"C": 5.0, "solver": "gradient-projection", "eta0": 1e-3, "max_iter": 40}
    for kind in (InfinitePush, RankSVM):
        ranker = kind(loss="hinge", **options).fit(X, y)
        printed = page()["gradient_projection"](X, y, 5.0, 1e-3, 40, kind is InfinitePush)
        assert equal(ranker.coef_, printed)
    for variant in ("avg", "max"):
        perceptron = PerceptronAtK(0.4, variant=variant, average=False, **STREAM).fit(X, y)
        assert equal(perceptron.coef_, page()["perceptron_at_k"](X, y, 0.4, 20, 3, variant))
    descent = SGDAtK(0.4, surrogate="avg", radius=2.0, eta0=0.5, **STREAM).fit(X, y)
    assert equal(descent.coef_, page()["sgd_at_k"](X, y, 0.4, 20, 3, 0.5, 2.0))
