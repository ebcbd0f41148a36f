"""Boosting in factorised form is the papers' algorithms, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, CrucialSample, GradedSample
from pushrank.prices import Power
from pushrank.solvers.boosting.loop import CoordinateDescent
from pushrank.solvers.boosting.objective import PairProblem, score_problem
from pushrank.solvers.boosting.steps import ExactStep
from pushrank.weak_rankers import Columns

ROUNDS = 50


def data(kind, seed=0, n=60, n_rankers=8):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n // 3
    H = rng.random((n, n_rankers)) + 0.2 * y[:, None] * (np.arange(n_rankers) % 3 != 0)
    if kind == "binary":
        H = (H > 0.55).astype(float)
    return (H - H.min(axis=0)) / np.ptp(H, axis=0), y


def descent_of(problem, H, **options):
    pool = Columns().fit(H).pool(H)
    start = np.zeros(len(H)), np.zeros(H.shape[1])
    return CoordinateDescent(problem, pool, ExactStep(), *start, **options)


def explicit_rounds(M, p, binary):
    """Figure 2 of Rudin (2009): a weight d_ik for every pair, yielded before each round with the step."""
    n_positives, n_negatives, _ = M.shape
    d = np.full((n_positives, n_negatives), 1.0 / (n_positives * n_negatives))
    while True:
        pushed = d * d.sum(axis=0) ** (p - 1)
        edges = np.einsum("ik,ikj->j", pushed, M)
        j = int(np.argmax(np.abs(edges)))
        right, wrong = (pushed[M[:, :, j] == sign].sum() for sign in (1.0, -1.0))
        step = 0.5 * np.log(right / wrong) if binary and p == 1 else line_search(d, M[:, :, j], p)
        yield d / d.sum(), j, step
        d = d * np.exp(-step * M[:, :, j])
        d /= d.sum()


def line_search(d, along, p):
    def slope(step):
        moved = d * np.exp(-step * along)
        heights = moved.sum(axis=0)
        falling = (moved * along).sum(axis=0)
        return float(heights ** (p - 1) @ falling) / float((heights**p).sum())

    return brentq(slope, -20, 20, xtol=1e-15, rtol=4 * np.finfo(float).eps, maxiter=500)


@pytest.mark.parametrize("kind", ["binary", "real"])
@pytest.mark.parametrize("p", [1, 2, 8])
def test_weights_of_pairs_are_those_of_the_explicit_loop(kind, p):
    H, y = data(kind)
    M = H[y][:, None, :] - H[~y][None, :, :]
    sample = BipartiteSample.from_mask(y)
    problem = score_problem(PushObjective(price=Power(p), scale="log"), sample)
    descent = descent_of(problem, H)
    rounds = explicit_rounds(M, p, kind == "binary")
    worst = 0.0
    for _ in range(ROUNDS):
        d, j, step = next(rounds)
        s, t = sample.gather(descent.scores)
        a, b = np.exp(-s), np.exp(t)
        worst = max(worst, float(np.abs(np.outer(a / a.sum(), b / b.sum()) - d).max()))
        done = descent.round(0.0)
        assert done.ranker == j
        assert done.step == pytest.approx(step, rel=1e-9, abs=1e-12)
    print(f"{kind} p={p}: largest difference of a weight over {ROUNDS} rounds {worst:.1e}")
    assert worst < 1e-12


def test_positives_have_the_code_one_and_rows_that_take_no_part_one_of_their_own():
    kept = np.arange(60) % 4 > 0
    sample = BipartiteSample.from_mask(data("real")[1]).subset(kept)
    problem = score_problem(PushObjective(scale="log"), sample)
    np.testing.assert_array_equal(problem.class_codes, np.where(kept, sample.class_codes, 2))
    np.testing.assert_array_equal(problem.at(np.zeros(60)).gradient[~kept], 0.0)


@pytest.mark.parametrize("kind", ["binary", "real"])
def test_any_pairs_give_the_rounds_of_two_classes(kind):
    """The general form and the form of two classes agree, and so do lists of pairs and grades."""
    H, y = data(kind, seed=1)
    better, worse = np.nonzero(np.greater.outer(y, y))
    objective = PushObjective(scale="log")
    groups = np.zeros(len(y), dtype=np.intp)
    problems = [
        score_problem(objective, BipartiteSample.from_mask(y)),
        PairProblem(objective, BipartiteSample.from_mask(y)),
        score_problem(objective, GradedSample.from_grades(y.astype(float), groups)),
        score_problem(objective, CrucialSample.from_pairs(len(y), better, worse)),
    ]
    runs = []
    for problem in problems:
        descent = descent_of(problem, H)
        runs.append([descent.round(0.0) for _ in range(20)])
    for run in runs[1:]:
        assert [done.ranker for done in run] == [done.ranker for done in runs[0]]
        np.testing.assert_allclose(
            [done.step for done in run], [done.step for done in runs[0]], rtol=1e-8, atol=1e-12
        )
        np.testing.assert_allclose([done.edge for done in run], [done.edge for done in runs[0]], atol=1e-11)


@pytest.mark.parametrize("p", [1.0, 1.5, 4.0, 64.0])
def test_every_step_is_the_least_objective_along_its_ranker(p):
    for kind in ("binary", "real"):
        H, y = data(kind, seed=2)
        problem = score_problem(PushObjective(price=Power(p), scale="log"), BipartiteSample.from_mask(y))
        descent = descent_of(problem, H)
        for _ in range(10):
            before = descent.scores.copy()
            done = descent.round(0.0)
            column = descent.pool.values(done.ranker).astype(float)
            values = [problem.at(before + (done.step + e) * column).value for e in (-1e-4, 0.0, 1e-4)]
            assert values[1] == min(values)


def test_freund_takes_the_ranker_with_the_least_loss_after_its_step():
    for kind in ("binary", "real"):
        H, y = data(kind, seed=3)
        problem = score_problem(PushObjective(scale="log"), BipartiteSample.from_mask(y))
        descent = descent_of(problem, H, choice="lowest")
        for _ in range(15):
            before = descent.scores.copy()
            point = descent.point
            done = descent.round(0.0)
            after = []
            for j in range(H.shape[1]):
                slope = lambda step, j=j: problem.at(before + step * H[:, j]).slopes(H[:, j])[0]  # noqa: B023,E731
                after.append(problem.at(before + brentq(slope, -20, 20, xtol=1e-14) * H[:, j]).value)
            assert descent.point.value == pytest.approx(min(after), abs=1e-9)
            assert descent.point.value <= point.value
            assert done.ranker == int(np.argmin(np.round(after, 12)))
