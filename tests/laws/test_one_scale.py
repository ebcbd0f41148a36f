"""What a push minimises on each scale, and that equal prices make equal models, whoever wrote them."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from pushrank import InfinitePush, IRPush, PNormPush, PushBoost, PushObjective, PushRanker, losses
from pushrank.prices import ExponentialPrice, Identity, LogOnePlus, Maximum, Power, Price

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@dataclass(frozen=True)
class Written(Price):
    """A built-in price as a user writes it: by its values alone."""

    of: Price

    def value(self, inner_sum):
        return self.of.value(inner_sum)

    def derivative(self, inner_sum):
        return self.of.derivative(inner_sum)

    def second_derivative(self, inner_sum):
        return self.of.second_derivative(inner_sum)


class WrittenExponential(Written):
    """An exponential, which declares its log scale."""

    log_divisor = 1.0


class WrittenLogarithm(Written):
    """A price that is not convex."""

    convex = False


@dataclass(frozen=True)
class Times(Price):
    """A power times a number."""

    number: float
    p: float

    def value(self, inner_sum):
        return self.number * inner_sum**self.p

    def derivative(self, inner_sum):
        return self.number * self.p * inner_sum ** (self.p - 1.0)

    def second_derivative(self, inner_sum):
        return self.number * self.p * (self.p - 1.0) * inner_sum ** (self.p - 2.0)


PAIRS = [
    *((price, Written(price)) for price in (Identity(), Power(1.5), Power(2.0), Power(4.0), Power(7.3))),
    (ExponentialPrice(), WrittenExponential(ExponentialPrice())),
    (LogOnePlus(), WrittenLogarithm(LogOnePlus())),
]
LOSSES = ("exponential", "logistic", "squared_hinge")
SCALES = ("auto", "raw", "log", "mean")


def drawn(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(12, 60)), int(rng.integers(1, 5))
    X = rng.normal(size=(n_rows, n_features))
    y = np.arange(n_rows) % int(rng.integers(2, 5)) == 0
    X[y] += rng.uniform(0.0, 0.7)
    weights = None if seed % 3 else rng.uniform(0.5, 2.0, n_rows)
    return X, y, weights, float(10.0 ** rng.uniform(-2, 0)), rng


@quiet
@pytest.mark.parametrize("seeds", [range(28), pytest.param(range(28, 228), marks=pytest.mark.nightly)])
def test_a_price_of_ones_own_is_the_built_in_price_that_it_equals(seeds):
    """Two models came of one price, as their scales were not the same."""
    for seed in seeds:
        (ours, own), scale = PAIRS[seed % len(PAIRS)], SCALES[seed // len(PAIRS) % len(SCALES)]
        X, y, weights, alpha, rng = drawn(seed)
        loss = LOSSES[int(rng.integers(3))]
        side = ("push", "pull", "both")[int(rng.integers(3))]
        if isinstance(ours, LogOnePlus) and scale == "log":
            continue
        objective = PushObjective(loss, ours, side, "raw" if scale == "raw" else "mean")
        if isinstance(ours, ExponentialPrice):
            X, weights = X[:12], None  # whose sums are below the logarithm of the largest float
            y = np.arange(12) < 3
            objective = PushObjective(loss, ours, side, "raw")
        with np.errstate(over="ignore"):
            unit = objective.value(y, np.zeros(len(y)), weights)
        # The larger the objective, the larger is the alpha that shrinks it as much.
        alpha *= unit if scale in ("raw", "mean") else 1.0
        options = {"alpha": alpha, "side": side, "scale": scale, "tol": 1e-6}
        fits = [PushRanker(loss, price, **options).fit(X, y, weights) for price in (ours, own)]
        np.testing.assert_allclose(fits[1].coef_, fits[0].coef_, rtol=1e-8, atol=1e-8, err_msg=f"{seed}")


@quiet
def test_any_price_of_ones_own_is_equal_in_boosting_too():
    X, y, _, alpha, _ = drawn(5)
    for ours, own in PAIRS[:5]:
        fits = [PushBoost(price, alpha=alpha, n_estimators=30).fit(X, y) for price in (ours, own)]
        np.testing.assert_allclose(fits[1].estimator_weights_, fits[0].estimator_weights_, atol=1e-8)


@pytest.mark.fast
def test_powers_are_recognised_by_their_values_and_nothing_else_is():
    for p in (0.5, 1.0, 1.5, 2.0, 4.0, 7.3, 26.0, 35.0, 64.0, 103.0, 1000.0):
        for number in (1e-6, 0.01, 1.0, 1 / 7, 1e6):
            assert Times(number, p).log_divisor == p
            assert Times(number, p).homogeneous
    for price in (LogOnePlus(), ExponentialPrice(), Capped(), Shifted(), Late(), Walled(), Table()):
        assert Written(price).log_divisor is None
        assert not Written(price).homogeneous
    # A class of one's own that stems from Power is what its values say.
    assert Capped().log_divisor is None
    assert (Maximum().log_divisor, ExponentialPrice().log_divisor, LogOnePlus().log_divisor) == (1, 1, None)
    # Sums beyond the floats of a power of them, and sums of zero, whose second derivative is infinite.
    with np.errstate(divide="ignore"):
        log_sums = np.log([0.0, 1.0, 1e40, 1e300])
    for price in (Power(1.5), Power(4.0)):
        ours, own = price.total(log_sums, 1.0, "log"), Written(price).total(log_sums, 1.0, "log")
        np.testing.assert_array_equal(own.gradient, ours.gradient)
        assert own.value == ours.value


@pytest.mark.parametrize("declared", [1.0, None, 3.0])
def test_a_log_scale_that_a_power_declares_is_that_of_its_logarithm(declared):
    """What was declared stood for the power itself, of which the objective was then another."""
    price = type("Declared", (Times,), {"log_divisor": declared})(1.0, 2.0)
    X, y, weights, _, _ = drawn(3)
    scores = X[:, 0]
    raw = PushObjective(price=Power(2.0)).evaluate(y, scores, weights)
    found = PushObjective(price=price).evaluate(y, scores, weights)
    assert found[0] == pytest.approx(raw[0])
    np.testing.assert_allclose(found[1], raw[1], rtol=1e-12)
    n_terms = (~y).sum() if weights is None else weights[~y].sum()
    mean = PushObjective(price=price, scale="mean").value(y, scores, weights)
    assert mean == pytest.approx(raw[0] / n_terms)
    if declared is not None:
        log = PushObjective(price=price, scale="log").value(y, scores, weights)
        assert log == pytest.approx(np.log(raw[0]) / declared)


@quiet
def test_equal_prices_have_equal_certificates():
    X, y, _, _, _ = drawn(2)
    for options in ({"alpha": 0.0}, {"alpha": 0.0, "positive": True}, {"alpha": 0.1}):
        fits = [PushRanker(price=price, **options).fit(X, y) for price in (Power(2.0), Times(1.0, 2.0))]
        assert fits[0].dual_gap_ == fits[1].dual_gap_ < 1e-6


class Capped(Power):
    """A square that grows like a line beyond ten."""

    def value(self, inner_sum):
        return np.where(inner_sum < 10.0, inner_sum**2, 20.0 * inner_sum - 100.0)


class Shifted(Power):
    """A square of one more."""

    def value(self, inner_sum):
        return (1.0 + inner_sum) ** 2


class Late(Power):
    """Nothing up to a sum, and a square from another one on."""

    def value(self, inner_sum):
        return np.where(inner_sum < 30.0, 0.0, np.where(inner_sum < 80.0, inner_sum - 30.0, inner_sum**2))


class Walled(Power):
    """A square that no sum may exceed."""

    def value(self, inner_sum):
        return np.where(inner_sum < 1e5, inner_sum**2, np.inf)


class Table(Power):
    """A square that is known of some sums alone."""

    def value(self, inner_sum):
        if np.max(inner_sum) > 1e6:
            raise ValueError("the table ends at 1e6")
        return inner_sum**2


@quiet
@pytest.mark.fast
def test_the_table_of_scales_is_what_each_ranker_minimises():
    """Rows of the table in docs/objectives.md, pair by pair."""
    X, y, _, alpha, _ = drawn(4)
    p = 3.0

    def sums(w, loss):
        return losses.resolve(loss).value((X[y] @ w)[:, None] - X[~y] @ w)

    def penalised(value, w):
        return value + 0.5 * alpha * w @ w

    def power_mean(pairs):
        return np.mean(np.mean(pairs, axis=0) ** p) ** (1 / p)

    own = Written(LogOnePlus())
    table = {
        PNormPush(p): lambda w: np.log((sums(w, "exponential").sum(axis=0) ** p).sum()) / p,
        PushRanker("exponential", Power(p)): lambda w: (
            np.log((sums(w, "exponential").sum(axis=0) ** p).sum()) / p
        ),
        IRPush(): lambda w: np.log1p(sums(w, "exponential").sum(axis=1)).mean(),
        PushRanker("logistic", Power(p)): lambda w: power_mean(sums(w, "logistic")),
        PushRanker("exponential", Power(p), scale="mean"): lambda w: power_mean(sums(w, "exponential")),
        PushRanker("logistic", Power(p), scale="log"): lambda w: (
            np.log((sums(w, "logistic").sum(axis=0) ** p).sum()) / p
        ),
        PushRanker("logistic", "exponential_price"): lambda w: np.log(
            np.exp(sums(w, "logistic").sum(axis=0)).sum()
        ),
        PushRanker("logistic", "maximum"): lambda w: sums(w, "logistic").mean(axis=0).max(),
        PushRanker("logistic", WrittenLogarithm(own)): lambda w: np.log1p(
            sums(w, "logistic").sum(axis=0)
        ).mean(),
        PushRanker("logistic", Power(p), scale="raw"): lambda w: (sums(w, "logistic").sum(axis=0) ** p).sum(),
    }
    for ranker, objective in table.items():
        fitted = ranker.set_params(alpha=alpha).fit(X, y)
        assert fitted.primal_objective_ == pytest.approx(penalised(objective(fitted.coef_), fitted.coef_))
    top = InfinitePush(C=1 / alpha).fit(X, y)
    worst = sums(top.coef_, "hinge").mean(axis=0).max()
    assert alpha * top.primal_objective_ == pytest.approx(penalised(worst, top.coef_))


@pytest.mark.fast
def test_a_scale_that_cannot_be_had_is_refused_before_the_fit():
    X, y, _, _, _ = drawn(1)
    with pytest.raises(ValueError, match=r"scale must be one of .*'auto', 'raw', 'log', 'mean'.*, got 'sum'"):
        PushRanker(scale="sum").fit(X, y)
    with pytest.raises(ValueError, match="LogOnePlus has no log scale"):
        PushRanker(price="log_one_plus", scale="log").fit(X, y)
    for scale, loss in product(("raw", "log"), ("hinge", "exponential")):
        with pytest.raises(ValueError, match="minimised on scale='mean' alone"):
            PushRanker(loss, "maximum", scale=scale).fit(X, y)
    with pytest.raises(ValueError, match=r"\d\.\de\+\d+ where all scores are equal.*at most 1e\+20"):
        PushRanker(price=Power(64), scale="raw").fit(np.r_[X, X], np.r_[y, y])
