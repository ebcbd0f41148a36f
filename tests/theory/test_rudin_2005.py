"""Theorems of Rudin, Cortes, Mohri and Schapire (2005), in their own numbers."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from pushrank import theory
from pushrank.theory import rudin_2005

pytestmark = pytest.mark.fast

COVER = partial(theory.log_covering_number, 3, 1.0)


@pytest.mark.parametrize("given", ["classes", "grades", "pairs", "queries"])
def test_theorem_1_of_2005_counts_crucial_pairs(given):
    rng = np.random.default_rng(0)
    grades, scores, qid = rng.integers(0, 3, 30), rng.normal(size=30).round(1), np.arange(30) // 10
    y = grades > 1 if given == "classes" else grades
    crucial = np.greater.outer(y, y)
    crucial &= np.equal.outer(qid, qid) if given == "queries" else True
    better, worse = np.nonzero(crucial)
    what = {"pairs": (better, worse)} if given == "pairs" else {"y": y}
    what |= {"qid": qid} if given == "queries" else {}
    found = rudin_2005.theorem_1(scores, **what, theta=0.55, log_covering_number=COVER, delta=0.2)
    assert found.training_error == pytest.approx((scores[better] - scores[worse] <= 0.55).mean())
    share, e = len(better) / (30 * 29), found.excess
    chance = 2 * math.exp(COVER(e * 0.55 / 8) - 30 * (e * share) ** 2 / 8)
    assert chance == pytest.approx(0.2, rel=1e-6)
    finite = rudin_2005.theorem_1(
        scores, **what, theta=0.55, log_covering_number=math.log(9), pair_probability=0.25, delta=0.2
    )
    printed = math.sqrt(8 / 0.25**2 * (math.log(2 * 9) + math.log(1 / 0.2))) / math.sqrt(30)
    assert finite.excess == pytest.approx(printed)


def test_lemma_1_of_2005_is_false_as_printed_and_true_as_stated_here():
    """The numbers of a round of a run on random data."""
    g, d_plus, d_minus = 0.009054, 0.186975, 0.038312
    d_zero, r = 1 - d_plus - d_minus, d_plus - d_minus
    root = math.sqrt((g * d_zero) ** 2 + (1 + g) * (1 - g) * (1 + r - d_zero) * (1 - r - d_zero))
    alpha = math.log((-g * d_zero + root) / ((1 + g) * (1 - r - d_zero)))
    log_tau = math.log(d_plus * math.exp(-alpha) + d_minus * math.exp(alpha) + d_zero)
    progress = -log_tau - alpha * g  # times the norm after the step
    assert progress < 0.98 * alpha * (r - g) / 2  # lemma 1 and theorem 2 as printed
    assert rudin_2005.smooth_margin_progress(g, r, 1.0) <= progress
    assert (r - g) ** 2 / 2 <= rudin_2005.smooth_margin_progress(g, r, 1.0)
