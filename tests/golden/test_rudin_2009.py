"""Numbers printed in Rudin, The P-Norm Push, JMLR 10 (2009).

The tables print the exponential and logistic errors of scores that are halved: f(x_i) = i / 2 in Table 1 and
f = +-(14, ..., 1) / 28 in Table 2. The label orders are the only ones of their length that give every figure.
"""

import numpy as np
import pytest

from experiments.rudin_2009.__main__ import constructed
from experiments.rudin_2009.printed import LABELS_2
from pushrank import PushObjective, metrics
from pushrank.prices import ExponentialPrice, Identity, Power, Price

pytestmark = pytest.mark.fast

TABLE_2 = np.array([mark == "+" for mark in LABELS_2])
F1 = np.arange(14, 0, -1) / 28


def raw(loss, p):
    return PushObjective(loss, Power(p))


def test_tables_1_and_2():
    """All 69 values by rounding, but one that is printed cut off: 1.5664e5 as 1.56e5."""
    results = constructed()
    assert len(results) == 69
    differing = results[~results["agrees"]]
    assert differing["printed"].tolist() == ["1.56e5"]
    assert differing["value"].tolist() == [pytest.approx(1.5664e5, rel=1e-4)]


def test_table_2_turns_with_p():
    """f2 has fewer misranked pairs, f1 the better top."""
    assert metrics.rp_error(TABLE_2, F1, 1) == 25
    assert metrics.rp_error(TABLE_2, -F1, 1) == 24
    assert metrics.r_max(TABLE_2, F1) == 5
    assert metrics.r_max(TABLE_2, -F1) == 7
    for p in (4, 6, 8):
        assert metrics.rp_error(TABLE_2, F1, p) < metrics.rp_error(TABLE_2, -F1, p)


class AboveThree(Price):
    """A convex price with a kink, which is zero up to an inner sum of three."""

    smooth = False

    def value(self, inner_sum):
        return np.maximum(inner_sum - 3.0, 0.0)

    def derivative(self, inner_sum):
        return (inner_sum > 3.0).astype(float)

    def second_derivative(self, inner_sum):
        return 0.0 * inner_sum


def at_most(bound):
    """Return a bound that rounding cannot break."""
    return (1 + 1e-9) * bound + 1e-9


CONVEX = [Identity(), Power(2), Power(4.5), Power(16), ExponentialPrice(), AboveThree()]


@pytest.mark.parametrize("price", CONVEX, ids=lambda price: f"{type(price).__name__}{vars(price)}")
def test_theorem_1(price):
    """K g(R_max / K) <= R_{g,1} <= K g(R_max), and R_{g,1} <= R_{g,l}, for convex g and l >= 1[z <= 0].

    The logistic loss is above the zero-one loss once it is divided by ln 2.
    """
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(3, 40))
        y = rng.permutation(np.arange(n) < rng.integers(1, n))
        scores = rng.normal(size=n).round(int(rng.integers(0, 3)))
        n_negative, worst = int((~y).sum()), metrics.r_max(y, scores)
        error = PushObjective("zero_one", price).value(y, scores)
        assert n_negative * price.value(np.array(worst / n_negative)) <= at_most(error)
        assert error <= at_most(n_negative * price.value(np.array(worst)))
        margins = scores[y][:, None] - scores[~y]
        for loss in (np.exp(-margins), np.log1p(np.exp(-margins)) / np.log(2)):
            assert error <= at_most(price.value(loss.sum(axis=0)).sum())


@pytest.mark.parametrize("p", [1, 2, 4, 16])
def test_the_p_norm_error_binds_the_largest_height_and_the_area(p):
    """With heights between 0 and I, R_max^p <= R_p; the rest is by the convexity of h^p.

    K^(1-p) (I K (1 - AUC))^p <= R_p <= I^(p-1) I K (1 - AUC).
    """
    rng = np.random.default_rng(p)
    for _ in range(50):
        n = int(rng.integers(3, 40))
        y = rng.permutation(np.arange(n) < rng.integers(1, n))
        scores = rng.normal(size=n)
        n_positive, n_negative = int(y.sum()), int((~y).sum())
        error, worst = metrics.rp_error(y, scores, p), metrics.r_max(y, scores)
        misranked = n_positive * n_negative * (1 - metrics.auc(y, scores))
        slack = 1 + 1e-9
        assert worst**p <= error * slack
        assert n_negative ** (1 - p) * misranked**p <= error * slack
        assert error <= n_positive ** (p - 1) * misranked * slack + 1e-9
        # The exponential loss bounds the zero-one loss.
        assert error <= raw("exponential", p).value(y, scores) * slack


@pytest.mark.parametrize("p", [1, 4])
def test_figure_1_contributions_of_pairs(p):
    """Figure 1 shows what each pair adds to the objective: its loss times its negative's height^(p-1).

    The gradient in the positives' scores sums these contributions by row, that in the negatives' by column.
    """
    y, scores = TABLE_2, 3 * F1
    losses = np.exp(-(scores[y][:, None] - scores[~y][None, :]))
    contributions = losses * losses.sum(axis=0) ** (p - 1)
    value, gradient = raw("exponential", p).evaluate(y, scores)
    assert contributions.sum() == pytest.approx(value)
    np.testing.assert_allclose(gradient[y], -p * contributions.sum(axis=1))
    np.testing.assert_allclose(gradient[~y], p * contributions.sum(axis=0))


def test_figure_1_larger_powers_look_at_the_top():
    y, scores = TABLE_2, 3 * F1
    share_of_best = []
    for p in (1, 4, 16):
        gradient = PushObjective(price=Power(p), scale="log").evaluate(y, scores)[1]
        share_of_best.append(gradient[~y].max())
    assert share_of_best[0] < share_of_best[1] < share_of_best[2]
