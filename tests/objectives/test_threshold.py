"""ThresholdObjective equals the formulas of TopPushK, TopMean and Pat&Mat, with slopes to match."""

import numpy as np
import pytest
from scipy.optimize import brentq

from combinations import each_and_some
from pushrank.objectives import ThresholdObjective
from pushrank.pairs import BipartiteSample

HINGE = lambda z: np.maximum(0.0, 1.0 + z)  # noqa: E731
LOSSES = {"hinge": HINGE, "squared_hinge": lambda z: HINGE(z) ** 2}
OF, BETAS, KS = ["negatives", "all"], [None, 0.01, 1.0, 30.0], [1, 0.03, 0.4, 1.0]
PROBLEMS = each_and_some(OF, BETAS, list(LOSSES), KS)


def sample(seed, *, ties):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    y = rng.permutation(np.arange(n) < max(1, round(n * rng.uniform(0.1, 0.8))))
    scores = rng.integers(-3, 4, n) / 2 if ties else rng.normal(size=n)
    return y, scores.astype(float), rng.integers(1, 4, n).astype(float)


def total_of(objective, y, w):
    rows = w if objective.of == "all" else w[~y]
    return float(objective.k) if isinstance(objective.k, int) else objective.k * rows.sum()


def plain(objective, y, scores, w):
    """The value as the papers write it: a sort for the mean, a search of the root for Pat&Mat."""
    counted = y >= 0 if objective.of == "all" else ~y
    s, of_rows, total = scores[counted], w[counted], total_of(objective, y, w)
    loss = LOSSES[objective.loss]
    if objective.beta is None:
        order = np.argsort(-s)
        parts = np.diff(np.minimum(np.cumsum(of_rows[order]), total), prepend=0.0)
        threshold = parts @ s[order] / total
    else:
        low = s.min() - 2.0 - (1.0 + of_rows.sum()) * (1.0 + total) / objective.beta
        high = s.max() + 2.0 / objective.beta
        threshold = brentq(
            lambda t: of_rows @ loss(objective.beta * (s - t)) - total, low, high, xtol=1e-13, maxiter=500
        )
    return w[y] @ loss(threshold - scores[y]) / w[y].sum()


@pytest.mark.parametrize(("of", "beta", "loss", "k"), PROBLEMS)
def test_the_value_is_that_of_the_formula_and_the_slope_a_subgradient(of, beta, loss, k):
    objective = ThresholdObjective(k, of, beta, loss)
    for seed in range(20):
        y, scores, w = sample(seed, ties=seed % 2 == 0)
        value, slope = objective.evaluate(y, scores, w)
        assert value == pytest.approx(plain(objective, y, scores, w), rel=1e-9, abs=1e-12)
        assert slope.sum() == pytest.approx(0.0, abs=1e-9)
        for move in np.random.default_rng(seed).normal(size=(5, len(y))):
            assert objective.value(y, scores + move, w) >= value + slope @ move - 1e-9 * (1.0 + value)
        weighed = BipartiteSample.from_labels(y, w)
        plane = objective.at(weighed, scores, objective.total(weighed))
        assert plane.offset == pytest.approx(value - slope @ scores, rel=1e-8, abs=1e-8 * (1.0 + value))


@pytest.mark.parametrize(("of", "beta", "loss", "k"), PROBLEMS)
@pytest.mark.parametrize("width", [0.3, 0.02])
def test_the_rounded_objective_has_a_gradient_and_its_plane_is_below_the_objective(of, beta, loss, k, width):
    objective, step = ThresholdObjective(k, of, beta, loss), 1e-4 * width
    for seed in range(10):
        y, scores, w = sample(seed, ties=False)
        weighed = BipartiteSample.from_labels(y, w)
        total = objective.total(weighed)
        at_point = objective.at(weighed, scores, total, width)
        numeric = [
            (
                objective.at(weighed, scores + move, total, width).value
                - objective.at(weighed, scores - move, total, width).value
            )
            / (2.0 * step)
            for move in step * np.eye(len(y))
        ]
        size = 1.0 + np.abs(at_point.slopes).max()
        np.testing.assert_allclose(at_point.slopes, numeric, atol=1e-3 * size)
        sizes = np.array([0.01, 0.1, 1.0, 3.0, 10.0])[:, None]
        for move in sizes * np.random.default_rng(seed).normal(size=(5, len(y))):
            value = objective.value(y, scores + move, w)
            assert value >= at_point.offset + at_point.slopes @ (scores + move) - 1e-9 * (1.0 + value)


@pytest.mark.parametrize(("of", "beta", "loss", "k"), PROBLEMS)
def test_weights_are_copies_and_zero_is_removal(of, beta, loss, k):
    objective = ThresholdObjective(k, of, beta, loss)
    for seed in range(5):
        y, scores, w = sample(seed, ties=True)
        copies = np.repeat(np.arange(len(y)), w.astype(int))
        copied = objective.value(y[copies], scores[copies])
        assert objective.value(y, scores, w) == pytest.approx(copied, rel=1e-12)
        longer = np.append(scores, 99.0), np.append(y, False), np.append(w, 0.0)
        value, slope = objective.evaluate(longer[1], longer[0], longer[2])
        assert value == pytest.approx(objective.value(y, scores, w), rel=1e-12)
        assert slope[-1] == 0.0


@pytest.mark.parametrize("beta", [None, 1.0])
def test_a_constant_and_the_size_of_scores_keep_the_digits(beta):
    y, scores, w = sample(3, ties=False)
    objective = ThresholdObjective(0.3, "all", beta, "squared_hinge")
    value = objective.value(y, scores, w)
    assert objective.value(y, scores + 2.0**30, w) == pytest.approx(value, rel=1e-6)
    assert objective.value(y, 0.0 * scores + 5.0, w) == pytest.approx(plain(objective, y, 0.0 * scores, w))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k must be an int of at least 1"),
        ({"k": 1.5}, "a fraction of the rows that the threshold is of"),
        ({"of": "positives"}, "of must be one of"),
        ({"beta": 0.0}, "beta must be"),
        ({"loss": "logistic"}, "loss must be one of"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ThresholdObjective(**parameters)


def test_a_k_above_the_number_of_rows_and_bad_scores_are_errors():
    with pytest.raises(ValueError, match="k=3 is above the number of rows that the threshold is of, 2"):
        ThresholdObjective(3).evaluate([1, 0, 0], [0.0, 1.0, 2.0])
    assert ThresholdObjective(3, "all").value([1, 0, 0], [0.0, 0.0, 0.0]) == 1.0
    with pytest.raises(ValueError, match="y has 3 rows but scores has shape"):
        ThresholdObjective().evaluate([1, 0, 0], [0.0, 1.0])
    with pytest.raises(ValueError, match="NaN"):
        ThresholdObjective().evaluate([1, 0, 0], [0.0, 1.0, np.nan])
