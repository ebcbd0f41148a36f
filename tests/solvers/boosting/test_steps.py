"""Coordinate descent in its steps: the closed form, the line search, and steps without an end."""

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from pushrank import AdaBoostRanker, PNormPush, PushBoost, RankBoost, SmoothMarginRanking
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, CrucialSample, GradedSample
from pushrank.prices import Power
from pushrank.solvers import coordinate_descent
from pushrank.solvers.boosting.objective import score_objective
from pushrank.solvers.boosting.steps import Direction, exact_smooth_margin_step, smooth_margin_step
from pushrank.solvers.boosting.steps import best_step as best_step_along
from pushrank.weak_rankers import Columns
from samples import overlapping, problem_of


def best_step(problem, scores, column):
    """The step along one column of a linear problem, in units of its coefficient."""
    columns = Columns().fit(column[:, None])
    unit = 1.0 / columns.ranges_[0]
    on_rows = score_objective(problem.objective, problem.rows.sample)
    along = Direction(columns.training_outputs(column[:, None]).values(0), ridge=problem.alpha * unit**2)
    return best_step_along(on_rows, on_rows.evaluate(scores), scores, along) * unit


def push_problem(X, y, p=4.0, alpha=0.0):
    return problem_of(X, y, PushObjective(price=Power(p), scale="log"), alpha)


class TestBoosting:
    """Coordinate descent is the algorithm of Rudin (2009), figure 2."""

    @pytest.mark.parametrize("p", [1.0, 1.5, 4.0, 32.0])
    @pytest.mark.parametrize("values", [(0.0, 1.0), (-1.0, 1.0), (5.0, 5.5), (-1e6, 1e6)])
    def test_two_values_have_a_closed_form_whatever_they_are(self, p, values):
        rng = np.random.default_rng(5)
        y = rng.random(60) < 0.4
        h = rng.random(60) < 0.4
        column = np.where(h, values[1], values[0])
        scores = rng.normal(size=60)
        problem = push_problem(column[:, None], y, p)
        step = best_step(problem, scores, problem.rows.model.column(0))
        a = np.exp(-scores[y]) / np.exp(-scores[y]).sum()
        b = np.exp(p * scores[~y]) / np.exp(p * scores[~y]).sum()
        a1, b1 = a[h[y]].sum(), b[h[~y]].sum()
        expected = np.log(a1 * (1 - b1) / ((1 - a1) * b1)) / (p + 1) / (values[1] - values[0])
        assert step == pytest.approx(expected, rel=1e-9)

    def test_pairs_that_are_all_right_give_a_finite_step_even_with_huge_scores(self):
        y = np.array([True, True, False, False])
        h = np.array([1.0, 1.0, 0.0, 0.0])
        for size in (1.0, 1e3, 1e6):
            step = best_step(push_problem(h[:, None], y), size * (h - 0.5), h)
            assert 0 < step < 100

    def test_scores_do_not_drift(self):
        rng = np.random.default_rng(7)
        X = rng.normal(size=(60, 30))
        X = X + 0.9 * rng.normal(size=(60, 1))
        y = rng.random(60) < 0.4
        problem = push_problem(X, y, 4.0, alpha=1e-3)
        result = coordinate_descent(problem, np.zeros(30), 1e-12, 5000)
        value = problem.value_and_gradient(result.coef)[0]
        assert result.objective_path[-1] == pytest.approx(value, abs=1e-12)
        assert (np.diff(result.objective_path) <= 1e-13).all()

    def test_takes_the_steepest_column_first(self):
        X, y = overlapping(120, 3, seed=6)
        problem = push_problem(X, y, 8.0)
        gradient = problem.value_and_gradient(np.zeros(3))[1] / np.ptp(X, axis=0)
        result = coordinate_descent(problem, np.zeros(3), 1e-6, 1)
        assert np.flatnonzero(result.coef).tolist() == [np.argmax(np.abs(gradient))]

    def test_an_infinite_step_is_capped(self):
        X = np.array([[1.0, 0.3], [1.0, 0.1], [0.0, 0.2], [0.0, 0.0], [0.0, 0.3]])
        y = np.array([True, True, False, False, False])
        problem = push_problem(X, y, 2.0)
        result = coordinate_descent(problem, np.zeros(2), 1e-6, 1)
        epsilon = 1 / 6
        assert result.coef[0] == pytest.approx(np.log((1 + epsilon) / epsilon) / 3)


def equation_1(step, scores, values, y, weights, p):
    """The sum of the terms of equation (1) after a step, and the sum of their sizes, pair by pair."""
    margins = values[y][:, None] - values[~y]
    exponents = np.log(weights[y])[:, None] - scores[y][:, None] + scores[~y] - step * margins
    with np.errstate(divide="ignore"):
        weighted = exponents + np.log(weights[~y]) + np.log(abs(margins))
        sizes = weighted + (p - 1.0) * logsumexp(exponents, axis=0)
    terms = np.sign(margins) * np.exp(sizes - sizes.max())
    return terms.sum(), abs(terms).sum()


def real_valued_case(rng):
    """A weak ranker in [0, 1] on a few rows: spread, with ties, nearly or wholly separating the classes."""
    n_positives, n_negatives = (1 if rng.random() < 0.15 else rng.integers(2, 12) for _ in range(2))
    y = np.repeat([True, False], [n_positives, n_negatives])
    values, kind = rng.random(len(y)), rng.integers(5)
    if kind in (1, 2):
        values = np.round(values, 1)
    values = values**8 if kind == 4 else values
    values = values + y * (0.0, 0.0, 0.3, rng.uniform(0.5, 1.0), 0.9)[kind]
    values = (values - values.min()) / max(np.ptp(values), 1e-3)
    weights = (
        np.ones(len(y)),
        rng.exponential(size=len(y)),
        # a pair of the lightest rows weighs less than the smallest float
        10.0 ** -rng.choice([0.0, 20.0, 170.0, 300.0], len(y)),
    )[rng.integers(3)]
    weights[[0, -1]] = 1.0
    scores = rng.normal(size=len(y)) * rng.choice([0.0, 0.1, 1.0, 10.0, 100.0])
    return float(rng.choice([1, 1.5, 2, 4, 8, 16, 32, 64])), y, values, weights, scores


def push_of(y, weights, p=1.0):
    return score_objective(PushObjective(price=Power(p), scale="log"), BipartiteSample.from_mask(y, weights))


# All but a positive of hardly any weight are within 3 gaps, and one pair in two is wrong.
ONE_IN_TWO = np.array([True, True, False, True]), np.array([100.0, 1.0, 1.0, 1e-30]), np.zeros(4)


def longest_step(objective):
    """The step that stands for an infinite one."""
    return np.logaddexp(0.0, objective.log_n_pairs) / objective.power_sum


class TestStepsOfRealValuedRankers:
    """A step solves equation (1) of figure 2, however far its root is."""

    @pytest.mark.parametrize("seed", range(4))
    def test_the_step_is_the_root_of_equation_1(self, seed):
        rng, n_far, n_infinite = np.random.default_rng(seed), 0, 0
        for _ in range(500):
            p, y, values, weights, scores = real_valued_case(rng)
            objective = push_of(y, weights, p)
            evaluation = objective.evaluate(scores)
            edge = -evaluation.derivatives(values)[0]
            if edge == 0.0:  # a round never steps along such a ranker
                continue
            step = best_step_along(objective, evaluation, scores, Direction(values))
            if np.min(np.sign(edge) * (values[y][:, None] - values[~y])) >= 0.0:
                assert step == pytest.approx(np.sign(edge) * longest_step(objective), rel=1e-15)
                n_infinite += 1
                continue
            n_far += abs(step) > longest_step(objective)
            total, size = equation_1(step, scores, values, y, weights, p)
            below, _ = equation_1(step - 1e-8 * abs(step), scores, values, y, weights, p)
            above, _ = equation_1(step + 1e-8 * abs(step), scores, values, y, weights, p)
            assert abs(total) <= 1e-12 * size or below > 0.0 > above
        assert n_far > 100
        assert n_infinite > 100

    @pytest.mark.parametrize(
        ("p", "root"), [(1, 55.45177448820037), (4, 15.801483403540583), (16, 11.8685233173709)]
    )
    def test_a_root_beyond_the_step_that_stands_for_an_infinite_one_is_taken(self, p, root):
        X = np.array([[1], [1], [1], [0.52], [0], [0.5], [0.525], [0.02]])
        y = [1, 1, 1, 1, 0, 0, 0, 0]
        ranker = PushBoost(p, weak_rankers="columns", n_estimators=1, alpha=0).fit(X, y)
        assert ranker.estimator_weights_ == pytest.approx([root], rel=1e-12)
        mirrored = PushBoost(p, weak_rankers="columns", n_estimators=1, alpha=0).fit(1 - X, y)
        assert mirrored.estimator_weights_ == pytest.approx([-root], rel=1e-12)

    def test_a_root_that_is_the_bound_itself_is_taken(self):
        X, y = [[0.5], [0], [1], [1]], [1, 0, 0, 0]  # the root is -ln 2, and the bound ln(1 + 3) / 2
        for ranker in (
            RankBoost(weak_rankers="columns", n_estimators=1),
            PushBoost(1, weak_rankers="columns", n_estimators=1, alpha=0),
            SmoothMarginRanking("warn", weak_rankers="columns", n_estimators=1),
            PNormPush(1, solver="coordinate", alpha=0, max_iter=1),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                assert ranker.fit(X, y).coef_ == pytest.approx([-np.log(2.0)], rel=1e-12)

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.filterwarnings("ignore:the mean of sample_weight is")
    def test_few_rows_of_few_values_can_be_fitted(self, seed):
        rng = np.random.default_rng(seed)
        options = {"weak_rankers": "columns", "n_estimators": 10}
        for _ in range(40):
            X, y = rng.choice([0.0, 0.5, 1.0], size=(6, 3)), np.r_[0, 1, rng.integers(0, 2, 4)]
            weights = 10.0 ** -rng.choice([0.0, 20.0, 170.0, 300.0], 6)
            for ranker in (
                PushBoost(4, alpha=0, **options),
                AdaBoostRanker(**options),
                SmoothMarginRanking("warn", ascent="exact", **options),
            ):
                for sample_weight in (None, weights):
                    assert np.isfinite(ranker.fit(X, y, sample_weight).coef_).all()

    @pytest.mark.parametrize("gap", [1e-3, 1e-9, 1e-15, 1e-200, 1e-308])
    def test_a_root_is_taken_as_it_is_unless_no_float_holds_it(self, gap):
        y, weights, scores = ONE_IN_TWO
        values, objective = np.array([3 * gap, 0.0, gap, 1.0]), push_of(y, weights)
        step = best_step_along(objective, objective.evaluate(scores), scores, Direction(values))
        root = np.log(200.0) / (3.0 * gap)
        assert step == (longest_step(objective) if gap == 1e-308 else pytest.approx(root, rel=1e-9))

    def test_a_far_root_of_adaboost_is_taken_as_it_is(self):
        """Each class has an exponential of its own, so the descent ends although no pair is wrong."""
        push = PushObjective(price=Power(1.0), scale="log")
        objective = score_objective(push, BipartiteSample.from_mask(np.arange(2) < 1), joint=True)
        scores, along = np.zeros(2), Direction(np.array([1.0, 1e-3]))
        step = best_step_along(objective, objective.evaluate(scores), scores, along)
        assert step == pytest.approx(np.log(1000.0) / 1.001)

    @pytest.mark.parametrize("p", [1.0, 4.0])
    def test_pairs_too_light_for_a_float_keep_the_step_of_a_binary_ranker_finite(self, p):
        # The wrong pair's weight is 1e-400 of the others'.
        y = np.array([True, True, False, False])
        weights = np.array([1.0, 1e-200, 1.0, 1e-200])
        mask = np.array([True, False, False, True])
        objective = push_of(y, weights, p)
        step = best_step_along(objective, objective.evaluate(np.zeros(4)), np.zeros(4), Direction(mask))
        log_negatives = 200.0 * np.log(10.0)  # the price p counts no weight twice
        assert step == pytest.approx((200.0 * np.log(10.0) + log_negatives) / (p + 1.0), rel=1e-9)

    @pytest.mark.parametrize("kind", ["grades", "pairs", "AdaBoost"])
    def test_of_other_samples_and_objectives_too(self, kind):
        rng, n_far = np.random.default_rng(8), 0
        for _ in range(40):
            values = rng.random(12)
            if kind == "pairs":
                better, worse = rng.integers(12, size=(2, 20))
                better, worse = better[better != worse], worse[better != worse]
                sample = CrucialSample.from_pairs(12, better, worse, np.ones(len(better)))
                y = None
            else:
                y = rng.permutation(np.repeat([0, 1, 2] if kind == "grades" else [0, 1, 1], 4))
                better, worse = np.nonzero(y[:, None] > y)
                sample = (
                    GradedSample.from_grades(y.astype(float), np.zeros(12, dtype=np.intp))
                    if kind == "grades"
                    else BipartiteSample.from_labels(y)
                )
            margins = values[better] - values[worse]
            if kind == "AdaBoost":
                values = 2.0 * values - 1.0
                margins = np.where(y == 1, values, -values)
            if margins.sum() < 0.0:
                values, margins = -values, -margins
            # so few and so small margins are wrong that the root is far
            wrong = margins < 0.0
            values = np.where(np.isin(np.arange(12), np.r_[better, worse]), values, 0.0)
            objective = score_objective(PushObjective(scale="log"), sample, joint=kind == "AdaBoost")
            start = np.zeros(12)
            step = best_step_along(objective, objective.evaluate(start), start, Direction(values))
            if not wrong.any():
                assert step == pytest.approx(longest_step(objective))
                continue
            n_far += abs(step) > longest_step(objective)
            terms = margins * np.exp(-step * margins)
            assert abs(terms.sum()) <= 1e-9 * abs(terms).sum()
        assert n_far > 0


class TestSmoothMarginSteps:
    """Steps of the ascent on the smooth margin along real-valued rankers."""

    @staticmethod
    def cases():
        """Separable scores, the norm of their weights, and a ranker that orders a pair wrongly, by little."""
        for seed in range(40):
            rng = np.random.default_rng(seed)
            y = np.repeat([True, False], [4, 5])
            scores = rng.normal(size=9) + 12.0 * y
            values = np.round(rng.random(9), 2) + 0.7 * y
            values[0] = values[4] - rng.choice([0.001, 0.05])
            yield push_of(y, None), scores, values, float(rng.choice([20.0, 400.0, 4000.0])), y

    def test_the_approximate_step_solves_its_equation(self):
        n_far = 0
        for objective, scores, values, norm, y in self.cases():
            evaluation = objective.evaluate(scores)
            step = smooth_margin_step(objective, evaluation, scores, Direction(values, norm=norm))
            margins, before = values[y][:, None] - values[~y], scores[y][:, None] - scores[~y]
            terms = np.exp(-before - step * margins)
            g = -np.log(np.exp(-before).sum()) / norm
            mean = (margins * terms).sum() / terms.sum()
            # A ranker whose edge is below G cannot raise it.
            assert mean == pytest.approx(g, rel=1e-9) if step > 0.0 else abs(mean) <= g
            n_far += step > longest_step(objective)
        assert n_far > 10

    def test_the_exact_step_is_the_top_of_the_smooth_margin(self):
        n_far = 0
        for objective, scores, values, norm, _ in self.cases():
            evaluation = objective.evaluate(scores)
            step = exact_smooth_margin_step(objective, evaluation, scores, Direction(values, norm=norm))
            steps = step * np.array([1.0, 0.0, 0.5, 0.99, 1.01, 2.0, 10.0])
            G = [-objective.evaluate(scores + length * values).value / (norm + length) for length in steps]
            assert max(G) == G[0]
            n_far += step > longest_step(objective)
        assert n_far > 10
