"""Certified rankers of query groups: the mean of the queries' risks, by cutting planes."""

import numpy as np
import pytest

from combinations import by_day
from pushrank import SVMMAP, InfinitePush, RampAtK, StructSVM, TrimmedPush
from pushrank.metrics import average_precision
from pushrank.objectives import PartialAUC, PrecisionAtK, PushObjective
from pushrank.objectives.average_precision import average_precision_hinge
from pushrank.objectives.queries import mean_infinite_push
from pushrank.pairs import BipartiteSample, GradedSample
from quadratic_programs import PushProgram
from query_lists import both_classes, lists

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANKERS = {
    "infinite push": InfinitePush(3.0),
    "top push": InfinitePush(3.0, loss="squared_hinge"),
    "kernel": InfinitePush(3.0, kernel="rbf"),
    "average precision": SVMMAP(3.0),
    "precision": StructSVM(3.0, k=2),
    "break-even": StructSVM(3.0, measure="prbep"),
    "partial AUC": StructSVM(3.0, measure="partial_auc", min_fpr=0.1, max_fpr=0.6),
}


def risk_of(ranker, y, scores):
    """The risk of one list, as the tests of each ranker alone have it."""
    if isinstance(ranker, InfinitePush):
        return PushObjective(ranker.loss, "maximum", scale="mean").value(y, scores)
    if isinstance(ranker, SVMMAP):
        return average_precision_hinge(BipartiteSample.from_labels(y), scores)[0]
    if ranker.measure == "partial_auc":
        return PartialAUC("hinge", ranker.min_fpr, ranker.max_fpr).value(y, scores)
    k = int(y.sum()) if ranker.measure == "prbep" else min(ranker.k, int(y.sum()))
    return PrecisionAtK(k, "struct").value(y, scores) / k


def mean_risk(ranker, X, y, qid, coef):
    return np.mean([risk_of(ranker, y[rows], (X @ coef)[rows]) for rows in both_classes(y, qid)])


@quiet
@pytest.mark.parametrize("name", [name for name in RANKERS if name != "kernel"])
@pytest.mark.parametrize("seed", by_day(range(3), 1))
def test_the_objective_is_the_mean_of_the_queries_and_nothing_is_below_its_bound(name, seed):
    X, y, qid = lists(seed)
    ranker = RANKERS[name].fit(X, y, qid=qid)
    assert ranker.converged_

    def objective(coef):
        return 0.5 * coef @ coef + ranker.C * mean_risk(ranker, X, y, qid, coef)

    assert ranker.primal_objective_ == pytest.approx(objective(ranker.coef_), rel=1e-9)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(20):
            other = ranker.coef_ + size * rng.normal(size=3)
            assert objective(other) >= ranker.dual_objective_ - 1e-9


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", by_day(range(5), 2))
def test_the_infinite_push_of_all_queries_at_once_is_the_mean_of_their_planes(loss, weighted, seed):
    X, y, qid = lists(seed, n_queries=8)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, len(y)).astype(float) if weighted else None
    scores = np.round(X[:, 0], int(rng.integers(0, 3)))
    queries = GradedSample.from_grades(y.astype(float), qid, weights)
    value, slope, offset = mean_infinite_push(queries, scores, squared=loss == "squared_hinge")
    objective, values, slopes = PushObjective(loss, "maximum", scale="mean"), [], np.zeros(len(y))
    for rows in both_classes(y, qid, weights):
        parts = y[rows], scores[rows], None if weights is None else weights[rows]
        values.append(objective.value(*parts))
        slopes[rows] += objective.evaluate(*parts)[1]
    assert value == pytest.approx(np.mean(values), rel=1e-12)
    assert offset == pytest.approx(value - slope @ scores, rel=1e-9, abs=1e-9)
    # Among tied negatives any may take the slope, so that these are compared in sum.
    for query in np.unique(qid):
        for label in (0, 1):
            rows = (qid == query) & (y == label)
            assert slope[rows].sum() == pytest.approx(slopes[rows].sum() / len(values), abs=1e-12)
    np.testing.assert_allclose(slope[y == 1], slopes[y == 1] / len(values), atol=1e-12)


@quiet
@pytest.mark.parametrize("name", RANKERS)
def test_one_query_is_one_list_and_copies_of_it_too(name):
    X, y, _ = lists(4)
    kernel = name == "kernel"
    alone = RANKERS[name].set_params(tol=1e-6, max_iter=5000).fit(X, y)
    whole = alone.primal_objective_, alone.decision_function(X)
    one = RANKERS[name].fit(X, y, qid=np.zeros(len(y)))
    assert one.primal_objective_ == pytest.approx(whole[0], rel=1e-5)
    if not kernel:
        np.testing.assert_allclose(one.decision_function(X), whole[1], atol=0.02 * np.abs(whole[1]).max())
        # Precision at k below the number of positives depends on a constant added to the scores.
        shift = 0.0 if name == "precision" else 7.0
        twice = RANKERS[name].fit(np.r_[X, X + shift], np.r_[y, y], qid=np.repeat(["a", "b"], len(y)))
        assert twice.primal_objective_ == pytest.approx(whole[0], rel=1e-5)


@quiet
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", by_day(range(5), 2))
def test_the_optimum_of_the_infinite_push_is_that_of_a_cone_solver(loss, seed):
    X, y, qid = lists(seed, n_queries=5, n_features=2)
    C = float(10.0 ** np.random.default_rng(seed).uniform(-1, 2))
    program = PushProgram(X, y, np.ones(len(y)))
    largest = []
    for query in np.unique(qid):
        positives = program.positives[qid[y == 1] == query]
        negatives = program.negatives[qid[y == 0] == query]
        if len(positives) and len(negatives):
            largest.append(program.variable())
            for t in negatives:
                losses = [program.loss(loss, s - t) for s in positives]
                program.at_least(largest[-1], np.mean(losses, axis=0))
    best, _ = program.minimise(np.mean(largest, axis=0), 1 / C)
    ranker = InfinitePush(C, loss=loss, tol=1e-7).fit(X, y, qid=qid)
    assert ranker.converged_
    assert ranker.primal_objective_ == pytest.approx(C * best, rel=1e-6, abs=1e-7)
    assert ranker.dual_objective_ <= C * best * (1 + 1e-7) + 1e-7


def test_queries_are_ranked_better_than_as_one_list():
    """Each query has a level of its own in the first column, which one list would have to fit."""
    rng = np.random.default_rng(1)
    qid = np.repeat(np.arange(40), 10)
    y = (rng.random(400) < 0.3).astype(int)
    level = 10 * y.reshape(40, 10).mean(axis=1)[qid]
    X = np.column_stack([level + 0.1 * rng.normal(size=400), y + 0.8 * rng.normal(size=400)])
    grouped = [q for q in range(40) if 0 < y[qid == q].sum() < 10]
    for name in (SVMMAP(100.0), StructSVM(100.0, measure="prbep")):
        found = [
            np.mean([average_precision(y[qid == q], (X @ coef)[qid == q]) for q in grouped])
            for coef in (name.fit(X, y).coef_, name.fit(X, y, qid=qid).coef_)
        ]
        assert found[1] > found[0]


@pytest.mark.parametrize("ranker", [SVMMAP(), StructSVM(), RampAtK(), TrimmedPush()])
def test_what_queries_need_is_said(ranker):
    X, y, _ = lists()
    with pytest.raises(ValueError, match="no two rows of one group have different grades"):
        ranker.fit(X, y, qid=y)
    with pytest.raises(ValueError, match="qid must hold one entry a row"):
        ranker.fit(X, y, qid=[0, 1])
    with pytest.raises(ValueError, match="query groups take cutting planes"):
        InfinitePush(solver="interior-point").fit(X, y, qid=np.zeros(len(y)))
