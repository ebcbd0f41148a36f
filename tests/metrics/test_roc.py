"""Areas under the ROC curve, and the band of its left edge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from oracle import TIED_ERROR, metric_formula
from pushrank import metrics
from samples import tied_scores
from strategies import LISTS

RULES = st.sampled_from(sorted(TIED_ERROR))


@given(ties=RULES, case=LISTS, max_fpr=st.floats(0.01, 1.0), min_tpr=st.floats(0.0, 0.99))
def test_partial_area_is_the_integral_of_the_curve(ties, case, max_fpr, min_tpr):
    y, scores, _ = case
    rates = {"max_fpr": max_fpr, "min_tpr": min_tpr, "standardize": False, "ties": ties}
    expected = metric_formula("partial_auc")(y, scores, **rates)
    assert metrics.partial_auc(y, scores, **rates) == pytest.approx(expected, abs=1e-12)


def test_the_band_is_its_definition_written_out():
    rng = np.random.default_rng(11)
    y, scores = tied_scores(rng, n=80, levels=12)
    s, t = scores[y], np.sort(scores[~y])[::-1]
    n, quarter = len(t), 0.05 / 4
    band = metrics.roc_band(y, scores, false_positive_rates=[0.0, 0.05, 0.2, 0.5, 1.0])
    for u, found, low, high in zip(*band, strict=True):
        cdf = stats.binom(n, u).cdf
        above = [np.inf, *t]
        sure = max(k for k in range(n + 1) if k == 0 or cdf(k - 1) <= quarter)
        hits = int((s > above[sure]).sum())
        expected = stats.binomtest(hits, len(s)).proportion_ci(1 - 2 * quarter).low if hits else 0.0
        assert low == pytest.approx(expected, abs=1e-9)
        perhaps = [k for k in range(1, n + 1) if 1 - cdf(k - 1) <= quarter + 1e-15]
        hits = int((s >= t[perhaps[0] - 1]).sum()) if perhaps else len(s)
        expected = stats.binomtest(hits, len(s)).proportion_ci(1 - 2 * quarter).high if hits < len(s) else 1.0
        assert high == pytest.approx(expected, abs=1e-9)
        shares = [(s > cut).mean() for cut in [np.inf, *t, -np.inf] if (t > cut).mean() <= u + 1e-12]
        assert found == max(shares)


@pytest.mark.parametrize("n_sets", [100, pytest.param(400, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("levels", [None, 4])
def test_the_band_holds_the_curve_of_the_population(simultaneous, levels, n_sets):
    """Normal scores 1.5 apart, whole or rounded; the band is conservative, so a hundred sets suffice."""
    rng = np.random.default_rng(12)
    rates = np.array([0.0, 0.005, 0.02, 0.05, 0.1])
    cuts = np.append(np.inf, np.linspace(6, -4, 200_001 if levels is None else 10 * levels + 1))
    below = stats.norm.sf(cuts)
    truth = np.array([stats.norm.sf(cuts - 1.5)[below <= u + 1e-15].max() for u in rates])
    if levels is not None:  # scores are rounded up to the next cut, which is then not exceeded
        step = 1 / levels
    y = np.repeat([True, False], [80, 200])
    inside = []
    for _ in range(n_sets):
        scores = rng.normal(size=280) + 1.5 * y
        if levels is not None:
            scores = np.ceil(np.clip(scores, -4, 6) / step) * step
        band = metrics.roc_band(y, scores, false_positive_rates=rates, simultaneous=simultaneous)
        inside.append((band.low <= truth + 1e-4) & (truth - 1e-4 <= band.high))
    held = np.all(inside, axis=1).mean() if simultaneous else np.mean(inside, axis=0).min()
    assert held >= 0.95


def test_bad_rates():
    y, scores = tied_scores(np.random.default_rng(13))
    with pytest.raises(ValueError, match="max_fpr must be > 0 and <= 1"):
        metrics.roc_band(y, scores, max_fpr=0.0)
    with pytest.raises(ValueError, match="numbers from 0 to 1"):
        metrics.roc_band(y, scores, false_positive_rates=[0.5, 1.5])


@pytest.mark.parametrize("n", [49, 1000, 50_000])
def test_areas_of_reversed_and_perfect_lists_are_exact(n):
    y = np.repeat([0, 1], n)
    scores = np.arange(2.0 * n)
    assert metrics.auc(y, -scores) == 0.0
    assert metrics.auc(y, scores) == 1.0


@given(weights=st.lists(st.floats(1e-3, 1e3), min_size=4, max_size=40), fpr=st.floats(0.01, 1.0))
def test_areas_stay_between_zero_and_one_whatever_the_weights(weights, fpr):
    y = np.arange(len(weights)) < len(weights) // 2
    for scores in (y * 1.0, -1.0 * y, y - np.arange(len(y)) / 1000.0, np.zeros(len(y))):
        for name in ("auc", "partial_auc"):
            options = {"max_fpr": fpr, "standardize": False} if name == "partial_auc" else {}
            area = getattr(metrics, name)(y, scores, sample_weight=np.array(weights), **options)
            assert 0.0 <= area <= options.get("max_fpr", 1.0)
