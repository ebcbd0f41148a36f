"""BEDROC at any rate, against its definition in exact fractions and fifty digits."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from oracle import orders
from pushrank import metrics

LISTS = {
    "no ties": ([1, 0, 1, 0, 0, 1, 0, 0, 0], [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]),
    "ties": ([1, 0, 1, 0, 0, 1, 0, 0], [3.0, 3.0, 3.0, 2.0, 1.0, 1.0, 0.0, 0.0]),
    "all tied": ([1, 0, 0, 0], [0.0, 0.0, 0.0, 0.0]),
    "perfect": ([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0]),
    "late": ([0] * 30 + [1, 0], list(range(32, 0, -1))),
    "worst": ([0, 0, 1], [3.0, 2.0, 1.0]),
}


def by_definition(y, scores, alpha, ties):
    """The mean over the orders, by the formulas of Truchon and Bayly."""
    with localcontext() as context:
        # what cancels goes with the square of the rate
        context.prec = 50 + 2 * max(0, -int(np.log10(alpha)))
        n, positives = Decimal(len(y)), Decimal(sum(y))
        alpha, share = Decimal(alpha), positives / n
        found = []
        for order in orders(np.array(y, dtype=bool), np.array(scores), ties):
            discounts = [(-alpha * place / n).exp() for place, label in enumerate(order, start=1) if label]
            expected = (1 - (-alpha).exp()) / ((alpha / n).exp() - 1) / n
            found.append(sum(discounts) / positives / expected)
        rie = sum(found) / len(found)
        most = (1 - (-alpha * share).exp()) / (share * (1 - (-alpha).exp()))
        least = (1 - (alpha * share).exp()) / (share * (1 - alpha.exp()))
        return float((rie - least) / (most - least))


@pytest.mark.parametrize("case", LISTS)
@pytest.mark.parametrize("ties", ["pessimistic", "half", "optimistic"])
def test_right_to_rounding_at_any_rate(case, ties):
    y, scores = LISTS[case]
    for alpha in (1e-19, 1e-17, 1e-12, 1e-8, 1e-4, 0.03, 0.9, 1.3, 5.0, 20.0, 160.9, 700.0):
        bedroc = by_definition(y, scores, alpha, ties)
        found = metrics.bedroc(y, scores, alpha, ties=ties)
        assert found == pytest.approx(bedroc, rel=1e-13, abs=1e-30), alpha


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-100, 1e-17])
def test_the_limit_of_small_rates_is_the_area_under_the_roc_curve(alpha):
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 40, 500).astype(float)
    y, weights = rng.random(500) < 0.1, rng.random(500)
    for ties in ("pessimistic", "half", "optimistic"):
        area = metrics.auc(y, scores, ties=ties, sample_weight=weights)
        found = metrics.bedroc(y, scores, alpha, ties=ties, sample_weight=weights)
        assert found == pytest.approx(area, rel=1e-13)
