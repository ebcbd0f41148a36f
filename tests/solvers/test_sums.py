"""Sums over blocks of rows are what scores of all rows give, at any cut of the rows."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import ExponentialPrice, LogOnePlus, Power
from pushrank.solvers import LinearProblem
from pushrank.solvers.problem import BlockProblem
from pushrank.solvers.sums import ArrayRows

N_ROWS, N_FEATURES = 300, 5


class PartedRows:
    """Rows in parts, each of a model of its own, to which functions and from which sums go as bytes."""

    def __init__(self, X, is_positive, weights, edges):
        self.n_rows, self.n_features = X.shape
        with np.errstate(divide="ignore"):
            log_weights = None if weights is None else np.log(weights)
        whole = LinearModel(X)
        parts = [slice(*edge) for edge in pairwise(edges)]
        self.class_weights = BipartiteSample.from_mask(is_positive, weights).class_weights
        self.parts = [
            ArrayRows(
                LinearModel(X[part], reference=whole.references),
                is_positive[part].astype(np.uint8),
                None if log_weights is None else log_weights[part],
                self.class_weights,
            )
            for part in parts
        ]

    def map(self, function):
        sent = pickle.dumps(function)
        return [
            pickle.loads(pickle.dumps(pickle.loads(sent)(part.blocks(0, part.n_rows))))  # noqa: S301
            for part in self.parts
        ]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("side", ["push", "pull", "both"])
@pytest.mark.parametrize(
    ("price", "scale"),
    [
        (Power(1), "log"),
        (Power(16), "log"),
        (Power(2), "mean"),
        (LogOnePlus(), "mean"),
        (LogOnePlus(), "raw"),
        (ExponentialPrice(), "log"),
    ],
)
def test_sums_of_parts_are_those_of_all_scores(price, scale, side, weighted):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) + 100.0
    is_positive = np.sort(rng.random(N_ROWS)) > 0.7  # the first parts hold one class alone
    weights = rng.integers(0, 3, N_ROWS).astype(float) if weighted else None
    objective = PushObjective(price=price, side=side, scale=scale, bottom_weight=0.3)
    sample = BipartiteSample.from_mask(is_positive, weights)
    # the same objective, which does not tell that it is one of two sums: of all scores at once
    expected = LinearProblem(objective, LinearModel(X), sample, 0.1)
    expected.powers = None
    rows = PartedRows(X, is_positive, weights, [0, 7, 100, 300])
    in_memory = LinearProblem(objective, LinearModel(X), sample, 0.1)
    for problem in (BlockProblem(objective, rows, 0.1), in_memory):
        for coef in (np.zeros(N_FEATURES), 0.3 * rng.normal(size=N_FEATURES)):
            value, gradient = problem.value_and_gradient(coef)
            assert value == pytest.approx(expected.value_and_gradient(coef)[0], rel=1e-12)
            np.testing.assert_allclose(gradient, expected.value_and_gradient(coef)[1], rtol=1e-9, atol=1e-12)
            assert problem.margin(coef) == pytest.approx(expected.margin(coef), abs=1e-11)
            found, known = problem.moments(coef, whole=True), expected.moments(coef, whole=True)
            for ours, theirs in zip(found, known, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10 * np.abs(theirs).max())


def test_a_price_of_all_inner_sums_at_once_is_refused():
    for objective in (PushObjective(price="maximum"), PushObjective("logistic")):
        with pytest.raises(ValueError, match="needs the scores of all rows at once"):
            BlockProblem.check(objective)
    BlockProblem.check(PushObjective(price="log_one_plus"))
