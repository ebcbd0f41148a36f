"""The surrogates of the partial AUC against every choice of rows and every order, and against differences."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from combinations import by_day
from oracle import LOSSES, largest_share
from pushrank import PushObjective, losses
from pushrank.objectives import PartialAUC
from pushrank.pairs import BipartiteSample


def small(seed, ties=True):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 13))
    y = rng.permutation(np.arange(n) < rng.integers(2, n - 2))
    scores = rng.integers(-4, 5, n) / 4 if ties else rng.normal(size=n)
    weights = rng.integers(1, 4, n).astype(float) if seed % 2 else np.ones(n)
    return y, scores.astype(float), weights, rng


def of_shares(y, scores, weights, loss, max_fpr, min_tpr):
    """The lowest share of the positives' mean losses over the highest share of the negatives."""
    losses_of_pairs = LOSSES[loss](scores[y][:, None] - scores[~y][None])
    of_positives = [largest_share(row, weights[~y], max_fpr) for row in losses_of_pairs]
    return largest_share(np.array(of_positives), weights[y], 1 - min_tpr)


def worst_order(y, scores, min_fpr, max_fpr):
    """The structured hinge over all orders of all choices of negatives, as the definition has it."""
    s, t = scores[y], scores[~y]
    first, last = round(min_fpr * len(t)), round(max_fpr * len(t))
    worst = -np.inf
    for order in itertools.permutations(range(len(t)), last):
        # In a given order of negatives each positive has its own number of them above it.
        total = 0.0
        for positive in s:
            above = np.append(0.0, np.cumsum(t[list(order)] - positive))
            total += max(above[r] + max(r - first, 0) for r in range(last + 1))
        worst = max(worst, total / (len(s) * (last - first)))
    return worst


@pytest.mark.parametrize("loss", ["Exponential", "Hinge", "Logistic", "SquaredHinge"])
@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.nightly)])
def test_the_value_is_that_of_the_lowest_positives_over_the_highest_negatives(loss, seeds):
    for seed in seeds:
        y, scores, weights, rng = small(seed)
        max_fpr, min_tpr = rng.uniform(0.01, 1.0), rng.choice([0.0, rng.uniform(0.0, 0.99)])
        objective = PartialAUC(getattr(losses, loss)(), max_fpr=max_fpr, min_tpr=min_tpr)
        expected = of_shares(y, scores, weights, loss, max_fpr, min_tpr)
        assert objective.value(y, scores, weights) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", by_day(range(200), 20))
def test_the_interval_is_that_of_the_worst_of_all_orders(seed):
    y, scores, _, rng = small(seed, ties=seed % 3 > 0)
    y, scores = y[:7], scores[:7]
    n = int((~y).sum())
    if n < 2 or not y.any():
        return
    first = int(rng.integers(1, n))
    last = int(rng.integers(first + 1, n + 1))
    objective = PartialAUC(min_fpr=first / n, max_fpr=last / n)
    value = objective.value(y, scores)
    assert value == pytest.approx(worst_order(y, scores, first / n, last / n), abs=1e-12)
    # One minus the partial AUC of the interval, every tie counted as an error, is below it.
    ranked = np.sort(scores[~y])[::-1][first:last]
    assert value >= (scores[y][:, None] <= ranked).mean() - 1e-12


@pytest.mark.parametrize("seed", by_day(range(100), 15))
def test_weights_are_copies_of_rows_in_the_interval(seed):
    y, scores, weights, rng = small(2 * seed + 1, ties=False)
    copies = np.repeat(np.arange(len(y)), weights.astype(int))
    low, high = np.sort(rng.uniform(0.0, 1.0, 2))
    objective = PartialAUC(min_fpr=low, max_fpr=high, min_tpr=rng.uniform(0.0, 0.9))
    value, slope = objective.evaluate(y, scores, weights)
    of_copies, slope_of_copies = objective.evaluate(y[copies], scores[copies])
    assert value == pytest.approx(of_copies, rel=1e-9)
    np.testing.assert_allclose(slope, np.bincount(copies, slope_of_copies), atol=1e-9)


@pytest.mark.parametrize("seed", by_day(range(200), 20))
def test_the_slope_is_that_of_differences_and_its_plane_lies_below(seed):
    y, scores, weights, rng = small(seed, ties=False)
    low, high = np.sort(rng.uniform(0.0, 1.0, 2))
    low = low * (seed % 3 > 0)
    loss = ["hinge", "squared_hinge", "logistic", "exponential"][seed % 4] if low == 0.0 else "hinge"
    objective = PartialAUC(loss, low, high, rng.uniform(0.0, 0.9))
    sample = BipartiteSample.from_labels(y, weights)
    value, slope, offset = objective.plane(sample, scores)
    assert offset == pytest.approx(value - slope @ scores, abs=1e-9)
    assert slope.sum() == pytest.approx(0.0, abs=1e-9)
    moves = 1e-6 * np.eye(len(y))
    ends = [[objective.value(y, scores + sign * m, weights) for m in moves] for sign in (1, -1)]
    numeric = np.subtract(*ends) / 2e-6
    np.testing.assert_allclose(slope, numeric, atol=1e-5)
    for other in rng.normal(size=(20, len(y))):
        assert objective.value(y, other, weights) >= offset + slope @ other - 1e-9


def test_the_whole_curve_and_its_part_are_the_hinges_bound_of_the_measure():
    rng = np.random.default_rng(0)
    y, scores = rng.random(400) < 0.3, rng.normal(size=400)
    scores[y] += 1.0
    whole = PartialAUC(max_fpr=1.0).value(y, scores)
    assert whole == pytest.approx(PushObjective("hinge", scale="mean").value(y, scores))
    assert whole >= 1 - roc_auc_score(y, scores)


def test_a_share_may_end_within_a_row():
    """A third of two negatives: the first counts alone, with two thirds of its weight."""
    assert PartialAUC(max_fpr=float(Fraction(1, 3))).value([1, 0, 0], [1.0, 0.5, 0.0]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_fpr": 0.0}, "max_fpr must be > 0 and <= 1"),
        ({"max_fpr": 1.5}, "max_fpr must be"),
        ({"min_fpr": 0.05}, "min_fpr must be below max_fpr"),
        ({"min_tpr": 1.0}, "min_tpr below 1"),
        ({"min_fpr": 0.01, "loss": "logistic"}, "use loss='hinge' or min_fpr=0"),
    ],
)
def test_rates_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PartialAUC(**parameters)
