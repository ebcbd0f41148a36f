"""Any loss under any price: kinks with certificates, grades, query groups and pairs, losses of one's own."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from pushrank import InfinitePush, PNormPush, PushRanker, RankSVM, losses, metrics, prices
from pushrank.losses import Loss, Piece, Tails
from pushrank.prices import Power
from samples import linear_labels

CONVEX = ["exponential", "hinge", "logistic", "smoothed_hinge", "squared_hinge"]
LEARNED = [*CONVEX, "sigmoid"]


def graded(seed=0, n=240):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    grades = np.digitize(X @ rng.normal(size=4) + 0.5 * rng.normal(size=n), [-1.0, 0.5, 1.5])
    return X, grades, rng.integers(0, 12, n)


def penalised(ranker, X, y, w=None):
    """The objective as the oracle of the certificates: from the definition, over all pairs."""
    loss, price = losses.resolve(ranker.loss), prices.resolve(ranker.price)
    scores = X @ ranker.coef_
    w = np.ones(len(y)) if w is None else w
    pairs = loss.value(scores[y == 1][:, None] - scores[y == 0][None])
    push, pull = w[y == 1] @ pairs, pairs @ w[y == 0]
    if isinstance(price, prices.Maximum):
        ends = {"push": push.max(), "pull": pull.max()}
        unit = {"push": w[y == 1].sum(), "pull": w[y == 0].sum()}
        ends["both"] = ends["push"] + ranker.bottom_weight * ends["pull"]
        unit["both"] = unit["push"]
        value = ends[ranker.side] / unit[ranker.side]
    else:  # the identity
        value = (w[y == 1] @ pairs @ w[y == 0]) / (w[y == 1].sum() * w[y == 0].sum())
    return value + 0.5 * ranker.alpha * ranker.coef_ @ ranker.coef_


@pytest.mark.parametrize("alpha", [1.0, 0.05, 1e-3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_maximum_of_the_hinge_is_the_infinite_push(alpha, weighted):
    X, y = linear_labels()
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    ranker = PushRanker("hinge", "maximum", alpha=alpha, tol=1e-5).fit(X, y, w)
    paper = InfinitePush(C=1.0 / alpha, tol=1e-9).fit(X, y, w)
    optimum = alpha * paper.primal_objective_
    assert ranker.converged_
    assert ranker.dual_objective_ <= optimum * (1 + 1e-8)
    assert optimum * (1 - 1e-8) <= ranker.primal_objective_ <= optimum * (1 + 2e-5)
    np.testing.assert_allclose(ranker.coef_, paper.coef_, atol=0.02 * np.abs(paper.coef_).max())
    assert ranker.primal_objective_ == pytest.approx(penalised(ranker, X, y, w), rel=1e-9)


@pytest.mark.parametrize("side", ["push", "pull"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_maximum_of_hinges_is_solved_at_any_alpha(loss, side):
    X, y = linear_labels(seed=7)
    for alpha in (1e-6, 1e-3, 0.1):
        ranker = PushRanker(loss, "maximum", side=side, alpha=alpha, tol=1e-6).fit(X, y)
        assert ranker.converged_
        assert len(ranker.objective_path_) == ranker.n_iter_ + 1
        assert ranker.objective_path_.min() == pytest.approx(ranker.primal_objective_)
        assert ranker.primal_objective_ == pytest.approx(penalised(ranker, X, y), rel=1e-8)


@pytest.mark.parametrize("side", ["push", "pull", "both"])
@pytest.mark.parametrize("loss", CONVEX)
def test_the_maximum_with_every_loss_is_certified(loss, side):
    X, y = linear_labels(seed=2, noise=0.2)
    ranker = PushRanker(loss, "maximum", side=side, alpha=0.01, tol=1e-4).fit(X, y)
    assert ranker.converged_
    assert 0.0 <= ranker.dual_gap_ <= 1e-4
    value = penalised(ranker, X, y)
    assert ranker.primal_objective_ == pytest.approx(value, rel=1e-8)
    # no other coefficients are below the bound, the solver's own least of all
    rng = np.random.default_rng(3)
    coef = ranker.coef_.copy()
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(25):
            ranker.coef_ = coef + size * rng.normal(size=len(coef))
            assert penalised(ranker, X, y) >= ranker.dual_objective_
    ranker.coef_ = coef


def test_the_hinge_under_the_identity_is_rank_svm():
    X, y = linear_labels(seed=4, noise=1.0)
    alpha = 0.01
    ranker = PushRanker("hinge", alpha=alpha, tol=1e-5).fit(X, y)
    paper = RankSVM(C=1.0 / alpha, loss="hinge", tol=1e-8).fit(X, y)
    assert ranker.primal_objective_ == pytest.approx(penalised(ranker, X, y), rel=1e-9)
    assert ranker.dual_gap_ <= 1e-5
    ranker.coef_, found = paper.coef_, ranker.primal_objective_
    assert found <= penalised(ranker, X, y) * (1 + 2e-5)


@pytest.mark.parametrize("price", [Power(4), "exponential_price", "log_one_plus"])
@pytest.mark.parametrize("side", ["push", "pull", "both"])
def test_the_hinge_under_other_prices(price, side):
    X, y = linear_labels(seed=5, noise=1.0)
    ranker = PushRanker("hinge", price, side=side, tol=1e-4).fit(X, y)
    assert ranker.converged_
    assert np.isfinite(ranker.dual_objective_) == (price != "log_one_plus")
    assert metrics.auc(y, X @ ranker.coef_) > 0.8


def test_a_collapse_is_said():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    with pytest.warns(ConvergenceWarning, match=r"collapsed: zero coefficients are optimal \(objective 1"):
        PushRanker("hinge", "maximum").fit(X, y)


def test_too_few_iterations_are_said():
    X, y = linear_labels()
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap is .* after 3 iterations"):
        ranker = PushRanker("hinge", "maximum", max_iter=3).fit(X, y)
    assert ranker.n_iter_ == 3
    assert not ranker.converged_


def test_a_fit_without_convexity_or_of_another_loss_without_a_penalty_has_no_bound():
    X, y = linear_labels()
    logistic = {"loss": "logistic"}
    for parameters in ({"loss": "sigmoid"}, logistic | {"price": "log_one_plus"}, logistic | {"alpha": 0.0}):
        ranker = PushRanker(**parameters).fit(X, y)
        assert (ranker.dual_objective_, ranker.dual_gap_) == (-np.inf, np.inf)
        assert ranker.converged_
        assert ranker.primal_objective_ == pytest.approx(ranker.objective_path_[-1], rel=1e-12)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"loss": "hinge", "solver": "newton-cg"}, ValueError, "newton-cg' needs second derivatives"),
        ({"loss": "hinge", "solver": "coordinate"}, ValueError, "has kinks, which solver='coordinate'"),
        ({"price": "maximum", "alpha": 0.0}, ValueError, "needs alpha > 0"),
        ({"loss": "zero_one"}, TypeError, "ZeroOne is not differentiable and has no smoothed form"),
        ({"accuracy": 0.0}, ValueError, "accuracy must be"),
        ({"accuracy": 1e-20}, ValueError, "accuracy must be"),
    ],
)
def test_what_cannot_be_done_is_said(parameters, error, message):
    X, y = linear_labels()
    with pytest.raises(error, match=message):
        PushRanker(**parameters).fit(X, y)


@pytest.mark.parametrize("price", ["identity", Power(4)])
@pytest.mark.parametrize("loss", LEARNED)
def test_grades_in_query_groups(loss, price):
    X, grades, qid = graded()
    ranker = PushRanker(loss, price).fit(X, grades, qid=qid)
    assert ranker.converged_
    assert len(ranker.thresholds_) == 3
    # sums within a group are those of its pairs
    better, worse = np.nonzero((grades[:, None] > grades[None]) & (qid[:, None] == qid[None]))
    by_pairs = PushRanker(loss, price).fit(X, pairs=(better, worse))
    np.testing.assert_allclose(ranker.coef_, by_pairs.coef_, rtol=1e-2, atol=2e-3)


@pytest.mark.parametrize("target", ["grades", "qid", "pairs"])
def test_a_push_at_both_ends_is_one_of_any_price(target):
    X, grades, qid = graded()
    order = np.argsort(qid, kind="stable")
    pairs = {"pairs": (order[:30], order[30:60])}
    given = {"grades": {"y": grades}, "qid": {"y": grades, "qid": qid}, "pairs": pairs}[target]
    both = PNormPush(4.0, side="both", bottom_weight=0.5).fit(X, **given)
    by_price = PushRanker(price=Power(4.0), side="both", bottom_weight=0.5).fit(X, **given)
    np.testing.assert_array_equal(both.coef_, by_price.coef_)
    assert both.converged_
    two = both.fit(X, grades > 1)
    assert two.thresholds_.tolist() == [two.threshold_]
    assert two.classes_.tolist() == [False, True]


@pytest.mark.parametrize("loss", LEARNED)
def test_two_grades_in_one_group_are_two_classes(loss):
    X, y = linear_labels(seed=7)
    w = np.random.default_rng(8).integers(0, 3, len(y)).astype(float)
    two = PushRanker(loss, Power(3), side="both").fit(X, y, w)
    one_group = PushRanker(loss, Power(3), side="both").fit(X, y, w, qid=np.zeros(len(y)))
    np.testing.assert_allclose(two.coef_, one_group.coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("price", ["exponential_price", "log_one_plus"])
def test_weights_too_large_for_a_price_are_told(price):
    X, y = linear_labels(n=40)
    with pytest.warns(UserWarning, match="the mean of sample_weight is 1e-30"):
        PushRanker("logistic", price, alpha=0.1).fit(X, y, np.full(40, 1e-30))
    with pytest.raises(ValueError, match=r"adds up to .* in a class, and price=.* takes at most 1e\+100"):
        PushRanker("logistic", price).fit(X, y, np.full(40, 1e150))
    PushRanker("logistic", Power(2), alpha=0.1).fit(X, y, np.full(40, 1e150))


def test_the_maximum_over_query_groups():
    X, grades, qid = graded(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PushRanker collapsed")
        ranker = PushRanker("logistic", "maximum").fit(X, grades, qid=qid)
    assert ranker.dual_gap_ <= 1e-4


@dataclass(frozen=True)
class Margin(Loss):
    """A user's own hinge, whose margin is another."""

    differentiable: ClassVar[bool] = False
    twice_differentiable: ClassVar[bool] = False
    pieces: ClassVar[tuple[Piece, ...]] = (Piece(2.0, (0.0, 1.0)),)
    intercept: ClassVar[float] = 2.0

    def value(self, margin):
        return np.maximum(0.0, 2.0 - margin)

    def derivative(self, margin):
        return -(margin < 2.0).astype(float)

    def smoothed(self, width):
        return Rounded(width)


@dataclass(frozen=True)
class Rounded(Loss):
    """The same, smooth and analytic."""

    width: float
    expansion_centre: ClassVar[float] = 2.0

    @property
    def strip_half_width(self):
        return np.pi * self.width

    @property
    def tails(self):
        return Tails((2.0, 1.0), 2.0 / self.width + np.log(self.width), 1.0 / self.width)

    def value(self, margin):
        return self.width * np.logaddexp(0.0, (2.0 - margin) / self.width)

    def derivative(self, margin):
        return -expit((2.0 - margin) / self.width)  # whose tail keeps its digits, unlike that of tanh

    def second_derivative(self, margin):
        return 0.25 / self.width / np.cosh(np.clip(0.5 * (2.0 - margin) / self.width, -300, 300)) ** 2


def test_a_kinked_loss_of_ones_own_is_certified():
    X, y = linear_labels(seed=9)
    found = PushRanker(Margin(), "maximum", alpha=0.1, tol=1e-3).fit(X, y)
    # in units of its margin it is the hinge: l(r) = 2 h(r / 2)
    paper = InfinitePush(C=1.0 / (2.0 * 0.1), tol=1e-8).fit(X, y)
    assert found.dual_gap_ <= 1e-3
    np.testing.assert_allclose(found.coef_ / 2.0, paper.coef_, atol=0.05 * np.abs(paper.coef_).max())
