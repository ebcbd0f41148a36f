"""Boosting in factorised form is the papers' algorithms, pair by pair."""

import numpy as np
import pytest
from scipy.optimize import brentq

from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, CrucialSample, GradedSample
from pushrank.prices import Power
from pushrank.solvers.boosting.loop import BoostingProblem, BoostingState, boosting_round
from pushrank.solvers.boosting.objective import PairwiseObjective, score_objective
from pushrank.solvers.boosting.steps import smooth_margin, smooth_margin_step
from pushrank.theory.rudin_2005 import smooth_margin_progress
from pushrank.weak_rankers import Columns, Stumps

pytestmark = pytest.mark.fast

ROUNDS = 50


def data(kind, seed=0, n=60, n_rankers=8):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n // 3
    H = rng.random((n, n_rankers)) + 0.2 * y[:, None] * (np.arange(n_rankers) % 3 != 0)
    if kind == "binary":
        H = (H > 0.55).astype(float)
    return (H - H.min(axis=0)) / np.ptp(H, axis=0), y


def boosting(objective, H, family=Columns, **options):
    problem = BoostingProblem(objective, family().fit(H).training_outputs(H), **options)
    return problem, BoostingState.start(problem, np.random.RandomState(0))


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
    objective = score_objective(PushObjective(price=Power(p), scale="log"), sample)
    run = _, state = boosting(objective, H)
    rounds = explicit_rounds(M, p, kind == "binary")
    worst = 0.0
    for _ in range(ROUNDS):
        d, j, step = next(rounds)
        s, t = sample.gather(state.scores)
        a, b = np.exp(-s), np.exp(t)
        worst = max(worst, float(np.abs(np.outer(a / a.sum(), b / b.sum()) - d).max()))
        done = boosting_round(*run, 0.0)
        assert done.chosen == j
        assert done.step == pytest.approx(step, rel=1e-9, abs=1e-12)
    print(f"{kind} p={p}: largest difference of a weight over {ROUNDS} rounds {worst:.1e}")
    assert worst < 1e-12


def test_positives_have_the_code_one_and_rows_outside_the_sample_the_code_two():
    kept = np.arange(60) % 4 > 0
    sample = BipartiteSample.from_mask(data("real")[1]).subset(kept)
    objective = score_objective(PushObjective(scale="log"), sample)
    np.testing.assert_array_equal(objective.class_codes, np.where(kept, sample.class_codes, 2))
    np.testing.assert_array_equal(objective.evaluate(np.zeros(60)).gradient[~kept], 0.0)


@pytest.mark.parametrize("kind", ["binary", "real"])
def test_any_pairs_give_the_rounds_of_two_classes(kind):
    """The general form and the form of two classes agree, and so do lists of pairs and grades."""
    H, y = data(kind, seed=1)
    better, worse = np.nonzero(np.greater.outer(y, y))
    objective = PushObjective(scale="log")
    groups = np.zeros(len(y), dtype=np.intp)
    objectives = [
        score_objective(objective, BipartiteSample.from_mask(y)),
        PairwiseObjective(objective, BipartiteSample.from_mask(y)),
        score_objective(objective, GradedSample.from_grades(y.astype(float), groups)),
        score_objective(objective, CrucialSample.from_pairs(len(y), better, worse)),
    ]
    runs = []
    for one in objectives:
        run = boosting(one, H)
        runs.append([boosting_round(*run, 0.0) for _ in range(20)])
    for run in runs[1:]:
        assert [done.chosen for done in run] == [done.chosen for done in runs[0]]
        steps, first = ([done.step for done in of] for of in (run, runs[0]))
        np.testing.assert_allclose(steps, first, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose([done.edge for done in run], [done.edge for done in runs[0]], atol=1e-11)


@pytest.mark.parametrize("target", ["grades and groups", "crucial pairs"])
def test_freund_takes_the_least_loss_of_any_pairs(target):
    H, y = data("binary", seed=2)
    rng, groups = np.random.default_rng(3), np.arange(len(y)) % 3
    grades, row_weights = (y + rng.integers(0, 2, len(y))).astype(float), rng.random(len(y))
    sample = GradedSample.from_grades(grades, groups, row_weights)
    better, worse = np.nonzero((grades[:, None] > grades) & (groups[:, None] == groups))
    weights = row_weights[better] * row_weights[worse]
    if target == "crucial pairs":
        better, worse, weights = better[::23], worse[::23], weights[::23]
        sample = CrucialSample.from_pairs(len(y), better, worse, weights)
    objective = score_objective(PushObjective(scale="log"), sample)
    run = problem, state = boosting(objective, H, Stumps, choice="lowest")
    for _ in range(8):
        lost = np.exp(-(state.scores[better] - state.scores[worse])) * weights
        after = []
        for j in range(problem.outputs.n_rankers):
            values = problem.outputs.values(j).astype(float)
            way = values[better] - values[worse]
            right, wrong, neither = (lost[way == sign].sum() for sign in (1.0, -1.0, 0.0))
            after.append(neither + 2.0 * np.sqrt(right * wrong))
        assert boosting_round(*run, 0.0).chosen == int(np.argmin(after))
        assert state.evaluation.value == pytest.approx(np.log(min(after)), rel=1e-9)


def test_freund_takes_the_ranker_with_the_least_loss_after_its_step():
    for kind in ("binary", "real"):
        H, y = data(kind, seed=3)
        objective = score_objective(PushObjective(scale="log"), BipartiteSample.from_mask(y))
        run = _, state = boosting(objective, H, choice="lowest")
        for _ in range(15):
            before = state.scores.copy()
            value = state.evaluation.value
            done = boosting_round(*run, 0.0)
            after = []
            for j in range(H.shape[1]):
                column = H[:, j]

                def slope(step, before=before, column=column, objective=objective):
                    return objective.evaluate(before + step * column).derivatives(column)[0]

                after.append(objective.evaluate(before + brentq(slope, -20, 20, xtol=1e-14) * column).value)
            assert state.evaluation.value == pytest.approx(min(after), abs=1e-9)
            assert state.evaluation.value <= value
            assert done.chosen == int(np.argmin(np.round(after, 12)))


def test_the_smooth_margin_grows_as_is_proved_and_not_as_is_printed():
    """Lemma 1 of Rudin et al. (2005) fails in some of these rounds; the corrected bound fails in none."""
    rng = np.random.default_rng(1)
    y = np.arange(40) < 13
    H = (rng.random((40, 60)) + 0.2 * y[:, None] > 0.8).astype(float)
    objective = score_objective(PushObjective(scale="log"), BipartiteSample.from_mask(y))
    run = _, state = boosting(objective, H, step_rule=smooth_margin_step)
    norm, n_below_printed = 0.0, 0
    for _ in range(100):
        before = smooth_margin(objective, state.evaluation.value, norm)
        done = boosting_round(*run, 0.0)
        edge, norm = abs(done.edge), float(np.abs(state.weights).sum())
        if before > 0.0:
            progress = smooth_margin(objective, state.evaluation.value, norm) - before
            assert progress >= smooth_margin_progress(before, edge, norm) - 1e-12
            n_below_printed += progress < abs(done.step) * (edge - before) / (2 * norm)
    assert n_below_printed > 0
