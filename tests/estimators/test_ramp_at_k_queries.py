"""The ramp of query groups: the mean of the queries' surrogates, each over its own k."""

import numpy as np
import pytest

from combinations import by_day
from pushrank import RampAtK
from pushrank.models import LinearModel
from pushrank.objectives import PrecisionAtK
from pushrank.pairs import GradedSample
from pushrank.solvers.ramp import QueryRamp, Ray
from query_lists import both_classes, lists


def k_of(k, total):
    """The k of a query: all of its positives where an int is more."""
    return min(k, total) if isinstance(k, int) else PrecisionAtK(k).count(total)


def mean_ramp(k, y, qid, weights, scores):
    """The mean over queries of the public surrogate over k."""
    values = []
    for rows in both_classes(y, qid, weights):
        one = k_of(k, weights[rows][y[rows] == 1].sum())
        values.append(PrecisionAtK(int(one), "ramp").value(y[rows], scores[rows], weights[rows]) / one)
    return np.mean(values)


@pytest.mark.parametrize("seed", by_day(range(5), 2))
@pytest.mark.parametrize("k", [1, 2, 0.5])
def test_the_mean_ramp_and_its_majorant_are_those_of_each_query(seed, k):
    X, y, qid = lists(seed, n_queries=7, size=10)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(y)).astype(float)
    queries = GradedSample.from_grades(y.astype(float), qid, weights)
    ramp = QueryRamp(queries, np.array([k_of(k, total) for total in queries.upper_weights]))
    for scores in (X[:, 0], np.round(X[:, 1]), rng.normal(size=len(y))):
        assert ramp.value(scores) == pytest.approx(mean_ramp(k, y, qid, weights, scores), abs=1e-12)
        in_top = ramp.in_top(scores)
        value, slope, offset = ramp.majorant(in_top, scores)
        # At the scores of its positives the majorant is the ramp, and elsewhere it is no lower.
        assert value == pytest.approx(ramp.value(scores), abs=1e-12)
        assert offset == pytest.approx(value - slope @ scores, abs=1e-9)
        assert not slope[np.setdiff1d(np.arange(len(y)), np.concatenate(both_classes(y, qid, weights)))].any()
        for _ in range(10):
            other = scores + rng.normal(size=len(y))
            above = ramp.majorant(in_top, other)[0]
            assert above >= ramp.value(other) - 1e-12
            assert above >= offset + slope @ other - 1e-12
    model, coef = LinearModel(X, centred=False), rng.normal(size=3)
    value, multiple = Ray.along(ramp, model, coef).best(4.0)
    best = multiple * coef
    expected = 0.5 * best @ best + 4.0 * mean_ramp(k, y, qid, weights, X @ best)
    assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", by_day(range(3), 2))
@pytest.mark.parametrize("k", [2, 0.5])
def test_a_descent_ends_at_the_objective_of_its_definition_and_never_rises(seed, k):
    X, y, qid = lists(seed, n_queries=9, size=12)
    ranker = RampAtK(k, C=5.0, tol=1e-4, random_state=0).fit(X, y, qid=qid)
    assert ranker.converged_
    assert np.diff(ranker.objective_path_).max(initial=0.0) <= 0.0
    coef = ranker.coef_
    expected = 0.5 * coef @ coef + 5.0 * mean_ramp(k, y, qid, np.ones(len(y)), X @ coef)
    assert ranker.objective_path_[-1] == pytest.approx(expected, rel=1e-6)
    assert expected < 5.0 * mean_ramp(k, y, qid, np.ones(len(y)), np.zeros(len(y)))


def test_one_query_is_one_list_and_copies_of_it_too():
    X, y, _ = lists(4, size=20)
    ranker = RampAtK(0.5, C=5.0, init="logistic", tol=1e-6, random_state=0)
    alone = ranker.fit(X, y).objective_path_[-1], ranker.coef_
    ranker.fit(X, y, qid=np.zeros(len(y)))
    assert ranker.objective_path_[-1] == pytest.approx(alone[0], rel=1e-4)
    np.testing.assert_allclose(ranker.coef_, alone[1], atol=0.02 * np.abs(alone[1]).max())
    # Each query has a level of its own, which compares nothing.
    ranker.fit(np.r_[X, X + 7.0], np.r_[y, y], qid=np.repeat(["a", "b"], len(y)))
    assert ranker.objective_path_[-1] == pytest.approx(alone[0], rel=1e-4)


def test_a_path_of_queries_has_a_ranker_for_each_pair_of_parameters():
    X, y, qid = lists(2, size=12)
    rankers = RampAtK(random_state=0).path(X, y, [2, 0.5], [1.0, 5.0], qid=qid)
    for ranker in rankers:
        coef = ranker.coef_
        expected = ranker.C * mean_ramp(ranker.k, y, qid, np.ones(len(y)), X @ coef) + 0.5 * coef @ coef
        assert ranker.objective_path_[-1] == pytest.approx(expected, rel=1e-6)
