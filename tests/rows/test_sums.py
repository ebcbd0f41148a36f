"""Sums over blocks of rows are what scores of all rows give, at any cut of the rows."""

import gc
import pickle
import weakref
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

from pushrank import IRPush, PNormPush, PushRanker, TrimmedPush
from pushrank.distributed import DaskRows
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import ExponentialPrice, LogOnePlus, Power
from pushrank.rows import MemoryRows
from pushrank.rows.memory import cut_blocks
from pushrank.rows.order_statistics import break_even_threshold
from pushrank.solvers.problem import ScoresProblem, SumsProblem, linear_problem

N_ROWS, N_FEATURES = 300, 5


class PartedRows(DaskRows):
    """Rows in parts, each of a model of its own, to which functions and from which sums go as bytes."""

    def __init__(self, X, is_positive, weights, edges):
        self.n_rows, self.n_features = X.shape
        self.dtype, self.feature_names, self.classes = X.dtype, None, np.arange(2)
        with np.errstate(divide="ignore"):
            self.log_weights = None if weights is None else np.log(weights)
        self.codes, self.reference = is_positive.astype(np.uint8), LinearModel(X).references
        self.class_weights = BipartiteSample.from_mask(is_positive, weights).class_weights
        self.X, self.parts = X, [slice(*edge) for edge in pairwise(edges)]

    def blocks(self, part):
        model = LinearModel(self.X[part], reference=self.reference)
        weights = None if self.log_weights is None else self.log_weights[part]
        return cut_blocks(model, 0, model.n_rows, self.codes[part], weights)

    def map_all(self, function):
        sent = pickle.dumps(function)
        return [
            pickle.loads(pickle.dumps(pickle.loads(sent)(self.blocks(part))))  # noqa: S301
            for part in self.parts
        ]

    def value_parts(self, method, coef):
        blocks = [block for part in self.parts for block in self.blocks(part)]

        class Parts:
            def map(self, function, *arguments):
                return [function(method(block, coef), *arguments) for block in blocks]

        return Parts()


def log_weights_of(blocks):
    return np.concatenate([block.log_weights for block in blocks])


PRICES = [Power(1), Power(16), Power(2), LogOnePlus(), LogOnePlus(), ExponentialPrice()]
SCALES = ["log", "log", "mean", "mean", "raw", "log"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("side", ["push", "pull", "both"])
@pytest.mark.parametrize(("price", "scale"), list(zip(PRICES, SCALES, strict=True)))
def test_sums_of_parts_are_those_of_all_scores(price, scale, side, weighted):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) + 100.0
    is_positive = np.sort(rng.random(N_ROWS)) > 0.7  # the first parts hold one class alone
    weights = rng.integers(0, 3, N_ROWS).astype(float) if weighted else None
    objective = PushObjective(price=price, side=side, scale=scale, bottom_weight=0.3)
    sample = BipartiteSample.from_mask(is_positive, weights)
    in_memory = MemoryRows(LinearModel(X), sample)
    expected = ScoresProblem(objective, in_memory, 0.1)
    for rows in (PartedRows(X, is_positive, weights, [0, 7, 100, 300]), in_memory):
        problem = SumsProblem(objective, rows, 0.1)
        for coef in (np.zeros(N_FEATURES), 0.3 * rng.normal(size=N_FEATURES)):
            value, gradient = problem.value_and_gradient(coef)
            assert value == pytest.approx(expected.value_and_gradient(coef)[0], rel=1e-12)
            np.testing.assert_allclose(gradient, expected.value_and_gradient(coef)[1], rtol=1e-9, atol=1e-12)
            assert problem.margin(coef) == pytest.approx(expected.margin(coef), abs=1e-11)
            both = problem.moments(coef, whole=True), expected.moments(coef, whole=True)
            for ours, theirs in zip(*both, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_and_memory_agree_on_the_highest_positives_and_the_threshold(weighted):
    rng = np.random.default_rng(4)
    X = np.round(rng.normal(size=(N_ROWS, N_FEATURES)), 1)
    is_positive = rng.random(N_ROWS) > 0.7
    weights = rng.integers(0, 3, N_ROWS).astype(float) if weighted else None
    in_memory = MemoryRows(LinearModel(X), BipartiteSample.from_mask(is_positive, weights))
    parted = PartedRows(X, is_positive, weights, [0, 7, 100, 300])
    # scores in units of 0.1 tie
    coef = np.eye(N_FEATURES)[0]
    half = 0.5 * in_memory.class_weights[0]
    chosen = [rows.highest_positives(coef, half) for rows in (in_memory, parted)]
    assert [rows.class_weights[0] for rows in chosen] == pytest.approx([half, half])
    with np.errstate(divide="ignore"):
        kept_weights = np.log(chosen[0].sample.row_weights)
    np.testing.assert_allclose(np.concatenate(chosen[1].map(log_weights_of)), kept_weights, rtol=1e-12)
    assert chosen[1].trimmed_positives() is None
    for rows, kept in zip((in_memory, parted), chosen, strict=True):
        assert kept.same_positives(rows.highest_positives(2.0 * coef, half))
        assert not kept.same_positives(rows)
    both = ((rows.score_parts(coef), coef, rows.class_weights[1]) for rows in (in_memory, parted))
    thresholds = [break_even_threshold(*of_rows) for of_rows in both]
    assert thresholds[0] == thresholds[1]


@pytest.mark.parametrize("many", [False, True], ids=["from zero", "from some of the rows"])
@pytest.mark.parametrize(
    "ranker",
    [
        PNormPush(p=8.0, positive=True),
        IRPush(positive=True),
        TrimmedPush(0.5, alpha=0.1, positive=True),
        PNormPush(4.0, alpha=0.0),
        PushRanker(alpha=0.0),
        IRPush(alpha=0.0),
    ],
    ids=repr,
)
def test_a_fit_to_parts_is_that_in_memory(ranker, many, monkeypatch):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(12_000, 4)) * [1.0, 2.0, 0.5, 1.0], rng.integers(0, 3, 12_000) + 0.0
    y = X @ [1.0, 0.5, 0.0, -1.0] + rng.logistic(size=len(X)) > 2.0
    X[:, 1] *= -1.0
    monkeypatch.setattr("pushrank.solvers.tolerances.MANY_ROWS", 10_000 if many else 20_000)
    ranker.set_params(tol=1e-6)
    here = clone(ranker).fit(X, y.astype(int), weights)
    there = clone(ranker).fit(PartedRows(X, y, weights, [0, 100, 7000, 12_000]))
    # A part of the rows is solved to the tolerance, which leaves the coefficients where it is reached.
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-5 if many else 1e-8)
    assert there.threshold_ == pytest.approx(here.threshold_, rel=1e-4)
    assert there.converged_
    if ranker.positive:
        assert there.coef_.min() == there.coef_[1] == 0.0
    elif isinstance(ranker, IRPush):
        # Without a penalty its Hessian, which is not that of two sums, needs the scores of all rows.
        assert there.dual_gap_ == np.inf
    else:
        assert there.dual_gap_ < 1e-9
        assert there.dual_objective_ == pytest.approx(here.dual_objective_, rel=1e-9)


def test_the_problem_is_chosen_by_what_the_objective_needs():
    rows = MemoryRows(LinearModel(np.eye(4)), BipartiteSample.from_labels([0, 1, 0, 1]))
    elsewhere = PartedRows(np.eye(4), np.array([0, 1, 0, 1]) == 1, None, [0, 4])
    for objective in (PushObjective(price="maximum"), PushObjective("logistic")):
        assert isinstance(linear_problem(objective, rows, 0.1), ScoresProblem)
        with pytest.raises(ValueError, match="needs the scores of all rows at once"):
            linear_problem(objective, elsewhere, 0.1)
    assert isinstance(linear_problem(PushObjective(price="log_one_plus"), elsewhere, 0.1), SumsProblem)
    assert isinstance(linear_problem(PushObjective(price=Power(2), scale="log"), rows, 0.1), SumsProblem)


def test_rows_are_freed_with_the_last_that_refers_to_them():
    """Rows that referred to themselves would stay until cycles are collected, with all their features."""
    is_positive = np.arange(20) % 2 == 0
    rows = MemoryRows(LinearModel(np.ones((20, 2))), BipartiteSample.from_mask(is_positive))
    assert len(rows.trimmed_positives()) == 0
    reference = weakref.ref(rows)
    gc.disable()
    try:
        del rows
        assert reference() is None
    finally:
        gc.enable()
