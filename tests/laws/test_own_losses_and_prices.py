"""A loss, a price or weak rankers of a user's own are refused by fit where they are not what they declare."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from pushrank import PushBoost, PushRanker, losses
from pushrank.losses import Piece
from pushrank.prices import Price
from pushrank.weak_rankers import Columns
from users_own import Huberised, Quadratic

pytestmark = pytest.mark.fast

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + np.random.default_rng(1).normal(size=60) > 0.5


@dataclass(frozen=True)
class Hump(Price):
    """A price that rises to an inner sum and falls beyond it."""

    top: float = 40.0
    convex = False

    def value(self, inner_sum):
        return np.exp(-(((inner_sum - self.top) / 20.0) ** 2) / 2.0)

    def derivative(self, inner_sum):
        return -(inner_sum - self.top) / 400.0 * self.value(inner_sum)

    def second_derivative(self, inner_sum):
        return ((inner_sum - self.top) ** 2 / 160_000.0 - 1.0 / 400.0) * self.value(inner_sum)


class Portion(Hump):
    """The same price, which declares that it falls."""

    monotonic = False


def changed(base, **attributes):
    return type("Changed", (base,), attributes)()


PRICES = {
    r"must not fall, and falls from 39\.": Hump(),
    r"declares convex = True, and is not convex": changed(
        Quadratic,
        value=lambda _, h: np.log1p(h),
        derivative=lambda _, h: 1 / (1 + h),
        second_derivative=lambda _, h: -((1 + h) ** -2.0),
    ),
    r"has a derivative at .* that is not that of its value": changed(
        Quadratic, derivative=lambda _, h: 1.0 + h
    ),
    r"second derivative at .* not that of its derivative": changed(
        Quadratic, second_derivative=lambda _, h: 0.0 * h
    ),
    r"at least zero, and is not at 0\.001": changed(Quadratic, value=lambda _, h: h + h**2 - 1.0),
    r"a value for each argument, got shape \(\)": changed(Quadratic, value=lambda _, h: (h + h**2).sum()),
    r"monotonic = False, .* make no convex objective: declare convex = False": changed(Portion, convex=True),
    r"an attribute smoth, which means nothing; is smooth meant": changed(Quadratic, smoth=False),
}
LOSSES = {
    r"must not rise with the margin, and rises from -1": changed(
        Huberised, value=lambda _, r: Huberised().value(-r)
    ),
    r"has a kink at 1, and does not declare it": changed(
        Huberised,
        pieces=(Piece(1.0, (0.0, 1.0)),),
        value=lambda _, r: np.maximum(0.0, 1.0 - r),
        derivative=lambda _, r: -(r < 1.0).astype(float),
        second_derivative=lambda _, r: 0.0 * r,
    ),
    r"not what its pieces say: at -8 its value is 32, not 28": changed(
        Huberised, pieces=(Piece(-1.0, (0.0, 4.0)), Piece(1.0, (0.0, 0.0, 1.0)))
    ),
    r"not what its factorises = True say": changed(Huberised, pieces=(), factorises=True),
    r"an attribute diferentiable": changed(Huberised, diferentiable=False),
}


@pytest.mark.parametrize("message", PRICES)
def test_a_price_whose_traits_are_false_is_refused(message):
    for ranker in (PushRanker(price=PRICES[message]), PushBoost(PRICES[message])):
        with pytest.raises(ValueError, match=message):
            ranker.fit(X, Y)


@pytest.mark.parametrize("message", LOSSES)
def test_a_loss_whose_traits_are_false_is_refused(message):
    with pytest.raises(ValueError, match=message):
        PushRanker(LOSSES[message]).fit(X, Y)


@pytest.mark.parametrize(
    ("loss", "side", "solver"),
    [
        ("exponential", "push", "lbfgs"),
        ("exponential", "pull", "newton-cg"),
        ("logistic", "push", "newton-cg"),
        ("sigmoid", "pull", "lbfgs"),
        ("hinge", "push", "lbfgs"),
    ],
)
def test_a_price_that_falls_is_descended_to_a_stationary_point(loss, side, solver):
    """Zero coefficients were taken for its minimum, without a step."""
    price = Portion(float(Y.sum() if side == "push" else (~Y).sum()) + 10.0)
    ranker = PushRanker(loss, price, side=side, alpha=0.1, solver=solver).fit(X, Y)

    def objective(w):
        margins = (X[Y] @ w)[:, None] - X[~Y] @ w
        sums = losses.resolve(loss).value(margins).sum(axis=0 if side == "push" else 1)
        return price.value(sums).mean() + 0.05 * w @ w

    at = ranker.coef_
    assert ranker.converged_
    assert ranker.dual_objective_ == -np.inf
    assert objective(at) < 0.999 * objective(np.zeros(3))
    assert ranker.objective_path_[-1] == pytest.approx(objective(at), rel=1e-4)
    slopes = [(objective(at + step) - objective(at - step)) / 2e-5 for step in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(slopes, 0.0, atol=2e-3)


def test_what_cannot_take_a_price_that_falls_says_so():
    for ranker in (PushRanker(price=Portion(), solver="coordinate"), PushBoost(Portion())):
        with pytest.raises(ValueError, match=r"Portion.* falls somewhere.*PushRanker\(solver='lbfgs'\)"):
            ranker.fit(X, Y)
    assert PushRanker(price=changed(Portion, log_divisor=1.0))._pair_objective().scale == "mean"
    flat = PushRanker("logistic", Portion(float(Y.sum()) * np.log(2)), alpha=0.1)
    with pytest.warns(ConvergenceWarning, match="no slope where all scores are equal"):
        assert not flat.fit(X, Y).coef_.any()


def test_true_ones_are_taken():
    assert PushRanker(Huberised(), Quadratic(), alpha=0.1).fit(X, Y).converged_
    assert PushRanker("logistic", changed(Quadratic, convex=False), alpha=0.1).fit(X, Y).converged_


class Doubled(Columns):
    """Columns whose values on new rows are not those in training."""

    def values(self, X, index):
        return 2.0 * super().values(X, index)


class Shifted(Columns):
    """Columns in [1, 2]."""

    def training_outputs(self, X, n_threads=None):
        outputs = super().training_outputs(X, n_threads)
        values = outputs.values
        outputs.values = lambda index: values(index) + 1.0
        return outputs


class Turned(Columns):
    """Columns whose edges have the wrong sign."""

    def training_outputs(self, X, n_threads=None):
        outputs = super().training_outputs(X, n_threads)
        edges = outputs.edges
        outputs.edges = lambda row_weights: -edges(row_weights)
        return outputs


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (Doubled, r"weak ranker 0 of Doubled\(\) has other values in training"),
        (Shifted, r"must have values in \[0, 1\], and has 1\."),
        (Turned, "has an edge of .* where its values make"),
    ],
)
def test_weak_rankers_that_are_not_what_they_say_are_refused(family, message):
    with pytest.raises(ValueError, match=message):
        PushBoost(weak_rankers=family(), n_estimators=3).fit(X, Y)
