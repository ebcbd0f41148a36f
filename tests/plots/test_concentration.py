"""Concentration: the part of each pair in the objective, against brute force."""

import tracemalloc

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oracle import LOSSES
from pushrank import (
    SVMMAP,
    AdaBoostRanker,
    InfinitePush,
    PerceptronAtK,
    PNormPush,
    PNormPushCV,
    PushObjective,
    RankBoost,
    RankSVM,
    SmoothMarginRanking,
    plots,
)
from pushrank.prices import LogOnePlus, Maximum, Power

pytestmark = pytest.mark.fast

OBJECTIVES = {
    "p-norm": PushObjective(price=Power(3.0)),
    "infinite": PushObjective("hinge", Maximum()),
    "ir": PushObjective(price=LogOnePlus(), side="pull"),
    "log_one_plus": PushObjective(price=LogOnePlus()),
    "hinge": PushObjective("hinge", Power(2.0)),
    "logistic": PushObjective("logistic", Power(2.0), scale="mean"),
    "pull": PushObjective(price=Power(3.0), side="pull"),
    "both": PushObjective(price=Power(2.0), side="both", bottom_weight=0.3),
}


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_concentration_is_each_pairs_part_of_the_objective(objective):
    rng = np.random.default_rng(1)
    y, scores = rng.permutation([1] * 5 + [0] * 7), rng.normal(size=12)
    positives, negatives = -np.sort(-scores[y == 1]), -np.sort(-scores[y == 0])
    losses = LOSSES[type(objective.loss).__name__](positives[:, None] - negatives)
    price = {
        "Power": lambda h: h**objective.price.p,
        "LogOnePlus": np.log1p,
        "Maximum": lambda h: np.where(h == h.max(), h, 0.0),
    }[type(objective.price).__name__]
    sums = losses.sum(axis=0), losses.sum(axis=1, keepdims=True)
    push, pull = (price(h) * losses / h for h in sums)
    parts = {"push": push, "pull": pull, "both": push + objective.bottom_weight * pull}[objective.side]
    display = plots.ConcentrationDisplay.compute(y, scores, objective=objective)
    np.testing.assert_allclose(display.shares, parts / parts.sum(), atol=1e-7)
    coarse = plots.ConcentrationDisplay.compute(y, scores, objective=objective, bins=2)
    cut = coarse.positive_edges[:-1], coarse.negative_edges[:-1]
    summed = np.add.reduceat(np.add.reduceat(display.shares, cut[0], axis=0), cut[1], axis=1)
    np.testing.assert_allclose(coarse.shares, summed, atol=1e-12)


def test_concentration_of_large_data_needs_memory_for_its_rows_only():
    rng = np.random.default_rng(0)
    y, scores = np.arange(60_000) % 2, 30 * rng.normal(size=60_000)
    plots.ConcentrationDisplay.compute(y[:100], scores[:100], objective=64)
    tracemalloc.start()
    display = plots.ConcentrationDisplay.compute(y, scores, objective=64)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * scores.nbytes  # the pairs would need 30,000 times as much
    assert display.shares.shape == (40, 40)
    assert display.shares.sum() == pytest.approx(1.0)
    assert display.share_of_highest_negatives(1.0) == pytest.approx(1.0)


def test_concentration_without_errors_is_refused():
    with pytest.raises(ValueError, match="no pair contributes"):
        plots.ConcentrationDisplay.compute([0, 1], [0.0, 1.0], objective=PushObjective("zero_one"))
    for bins, error in ((0, ValueError), (2.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="bins must be"):
            plots.ConcentrationDisplay.compute([0, 1], [0.0, 1.0], bins=bins)
    with pytest.raises(TypeError, match="max_k must be an integer"):
        plots.TopCurveDisplay.compute([0, 1], [0.0, 1.0], max_k=1.0)


def test_concentration_of_a_ranker_is_that_of_its_own_objective(cancer):
    X, y = cancer
    ranker = PNormPush(p=16).fit(X, y)
    own = plots.ConcentrationDisplay.from_estimator(ranker, X, y)
    named = plots.ConcentrationDisplay.compute(y, ranker.decision_function(X), objective=16)
    np.testing.assert_allclose(own.shares, named.shares)
    with pytest.raises(TypeError, match="minimises no sum over pairs"):
        plots.ConcentrationDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)


@pytest.mark.parametrize(
    ("ranker", "objective"),
    [
        (RankSVM(), PushObjective("squared_hinge")),
        (RankSVM(loss="hinge"), PushObjective("hinge")),
        (InfinitePush(0.01), PushObjective("hinge", "maximum")),
        (PNormPushCV((4, 8), alphas=(0.1,), cv=2), None),
        (SmoothMarginRanking(not_separable="warn", n_estimators=5), PushObjective()),
        (make_pipeline(StandardScaler(), RankBoost(n_estimators=5)), PushObjective()),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # of a margin that is not positive after few rounds
def test_concentration_of_rankers_that_minimise_sums_over_pairs(cancer, ranker, objective):
    X, y = cancer
    ranker.fit(X[:200], y[:200])
    own = plots.ConcentrationDisplay.from_estimator(ranker, X, y)
    scores = ranker.decision_function(X)
    objective = ranker.p_ if objective is None else objective
    named = plots.ConcentrationDisplay.compute(y, scores, objective=objective)
    np.testing.assert_allclose(own.shares, named.shares)


def test_concentration_of_rankers_that_minimise_no_sum_over_pairs(cancer):
    X, y = (part[:200] for part in cancer)
    for ranker in (AdaBoostRanker(n_estimators=5), SVMMAP(), PerceptronAtK()):
        ranker.fit(X, y)
        with pytest.raises(TypeError, match=f"{type(ranker).__name__} minimises no sum over pairs"):
            plots.ConcentrationDisplay.from_estimator(ranker, X, y)
    with pytest.raises(NotFittedError):
        plots.ConcentrationDisplay.from_estimator(PNormPushCV(), X, y)
