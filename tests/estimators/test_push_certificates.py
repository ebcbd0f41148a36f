"""The duality gap of the push rankers: a bound of what is left to gain, by an independent optimum."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from combinations import each_and_some
from pushrank import IRPush, PNormPush, PNormPushCV, PushRanker
from pushrank.prices import Power
from quadratic_programs import PushProgram
from samples import by_first_column

UNCERTAIN = "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*no feature ranks"
quiet = pytest.mark.filterwarnings(*UNCERTAIN)

POWER = 3.0


def push(program, p):
    return program.log_sum(-program.positives, program.positive_weights) + (
        program.log_sum(p * program.negatives, program.negative_weights) / p
    )


def pull(program, p):
    return program.log_sum(program.negatives, program.negative_weights) + (
        program.log_sum(-p * program.positives, program.positive_weights) / p
    )


def both(program, p):
    positives = program.log_sum(-program.positives, program.positive_weights)
    negatives = program.log_sum(program.negatives, program.negative_weights)
    exponents = [p * (program.negatives + positives), p * (negatives - program.positives)]
    weights = [program.negative_weights, 0.5 * program.positive_weights]
    return program.log_sum(np.concatenate(exponents), np.concatenate(weights)) / p


def ir_push(program):
    weights = np.r_[1.0, program.negative_weights]
    terms = [program.log_sum([0.0 * s, *(program.negatives - s)], weights) for s in program.positives]
    shares = program.positive_weights / program.positive_weights.sum()
    return np.tensordot(shares, terms, 1)


def mean_loss(name):
    def objective(program):
        shares = program.negative_weights / program.negative_weights.sum()
        return np.tensordot(shares, program.mean_losses(name), 1)

    return objective


def power_mean(name):
    return lambda program: program.power_mean(program.mean_losses(name), program.negative_weights, POWER)


def exponential_price(name):
    def objective(program):
        total = program.positive_weights.sum()
        sums = [total * mean for mean in program.mean_losses(name)]
        return program.log_sum(sums, program.negative_weights)

    return objective


PROBLEMS = {
    "push": (PNormPush(POWER), lambda program: push(program, POWER)),
    "hard push": (PNormPush(16.0), lambda program: push(program, 16.0)),
    "pull": (PNormPush(POWER, side="pull"), lambda program: pull(program, POWER)),
    "both": (PNormPush(POWER, side="both", bottom_weight=0.5), lambda program: both(program, POWER)),
    "IR push": (IRPush(), ir_push),
    "logistic": (PushRanker("logistic"), mean_loss("logistic")),
    "logistic, power": (PushRanker("logistic", Power(POWER)), power_mean("logistic")),
    "logistic, exponential price": (
        PushRanker("logistic", "exponential_price"),
        exponential_price("logistic"),
    ),
    "smoothed hinge": (PushRanker("smoothed_hinge"), mean_loss("smoothed_hinge")),
    "smoothed hinge, power": (PushRanker("smoothed_hinge", Power(POWER)), power_mean("smoothed_hinge")),
    "squared hinge": (PushRanker("squared_hinge"), mean_loss("squared_hinge")),
    "squared hinge, power": (PushRanker("squared_hinge", Power(POWER)), power_mean("squared_hinge")),
    "hinge": (PushRanker("hinge"), mean_loss("hinge")),
    "hinge, power": (PushRanker("hinge", Power(POWER)), power_mean("hinge")),
}


def random_problem(seed):
    """A dozen rows, overlapping or not, with weights of one to three half the time, and a penalty."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 15)), int(rng.integers(1, 5))
    y = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, d)) + rng.choice([0.3, 1.0, 3.0]) * y[:, None]
    weights = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    return X, y.astype(int), weights, float(10.0 ** rng.uniform(-3, 1))


def check_gap(ranker, best, iterations, *data):
    """Compare the bounds of fits that end early, and of the last one, which does not, with an optimum."""
    for max_iter in iterations:
        ranker.set_params(max_iter=max_iter).fit(*data)
        # the cone solver is right to 1e-8
        assert ranker.dual_objective_ <= best + 1e-7 * max(1.0, abs(best)), max_iter
        assert ranker.primal_objective_ >= best - 1e-7 * max(1.0, abs(best)), max_iter
    assert ranker.converged_


@quiet
@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 30), marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("name", "positive"), each_and_some(list(PROBLEMS), [False, True], n_random=0))
def test_the_optimum_of_a_cone_solver_is_within_the_gap(name, seeds, positive):
    ranker, objective = PROBLEMS[name]
    for seed in seeds:
        X, y, weights, alpha = random_problem(seed)
        X[:, 0] *= -1.0 if positive else 1.0  # its coefficient would be negative
        program = PushProgram(X, y, weights)
        best, _ = program.minimise(objective(program), alpha, positive=positive)
        ranker = clone(ranker).set_params(alpha=alpha, positive=positive)
        check_gap(ranker, best, (2, 1000), X, y, weights)
        assert ranker.primal_objective_ == pytest.approx(best, rel=1e-4, abs=1e-7)
        assert ranker.dual_gap_ <= ranker.tol


def kinds_of_data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] + rng.normal(size=60) > 0.5).astype(int)
    grades, queries = np.digitize(X[:, 0] + rng.normal(size=60), [-0.5, 0.5]), rng.integers(0, 5, 60)
    pairs = rng.integers(0, 60, (40, 2))
    return {
        "two classes": ((X, y), {}),
        "weights": ((X, y, rng.integers(0, 3, 60)), {}),
        "grades in queries": ((X, grades), {"qid": queries}),
        "pairs": ((X,), {"pairs": pairs[pairs[:, 0] != pairs[:, 1]]}),
        "other units": ((X * [1e-3, 1.0, 1e3, 1e4] + 1e3, y), {}),
        "sparse": ((sp.csc_array(X), y), {}),
        "wide": ((rng.normal(size=(60, 90)), y), {}),
        "single precision": ((X.astype(np.float32) * 1e3, y), {}),
    }


SOLVED = [PNormPush(solver="coordinate"), IRPush(), PushRanker("logistic", solver="newton-cg")]
SOLVED += [clone(ranker).set_params(solver="lbfgs", positive=True) for ranker in SOLVED]


@quiet
@pytest.mark.parametrize("kind", kinds_of_data())
@pytest.mark.parametrize("ranker", SOLVED, ids=lambda ranker: type(ranker).__name__)
def test_bounds_hold_on_all_kinds_of_data(ranker, kind):
    data, options = kinds_of_data()[kind]
    rough = clone(ranker).set_params(max_iter=3).fit(*data, **options)
    exact = clone(ranker).set_params(solver="lbfgs").fit(*data, **options)
    assert exact.converged_
    assert exact.dual_gap_ <= exact.tol
    rounding = 1e-12 * max(1.0, abs(exact.primal_objective_))
    assert rough.dual_objective_ <= exact.primal_objective_ + rounding
    assert exact.dual_objective_ <= rough.primal_objective_ + rounding
    unit = max(abs(rough.primal_objective_), float(isinstance(ranker, PNormPush)))
    assert rough.dual_gap_ == pytest.approx((rough.primal_objective_ - rough.dual_objective_) / unit)


@quiet
@pytest.mark.parametrize("max_iter", [1, 1000])
def test_the_gap_of_the_p_norm_push_is_that_of_the_entropies(max_iter):
    """The formula of the papers' notes, from the coefficients alone."""
    X, y, _, alpha = random_problem(5)
    ranker = PNormPush(POWER, alpha=alpha, max_iter=max_iter).fit(X, y)
    s, t = X[y == 1] @ ranker.coef_, X[y == 0] @ ranker.coef_
    a, b = np.exp(-s) / np.exp(-s).sum(), np.exp(POWER * t) / np.exp(POWER * t).sum()
    combined = X[y == 1].T @ a - X[y == 0].T @ b
    entropies = -(a @ np.log(a)) - (b @ np.log(b)) / POWER
    dual = entropies - combined @ combined / (2 * alpha)
    primal = np.log(np.exp(-s).sum()) + np.log(np.exp(POWER * t).sum()) / POWER
    primal += 0.5 * alpha * ranker.coef_ @ ranker.coef_
    assert ranker.dual_objective_ == pytest.approx(dual, rel=1e-10)
    assert ranker.primal_objective_ == pytest.approx(primal, rel=1e-10)
    assert ranker.dual_gap_ == pytest.approx((primal - dual) / max(1.0, abs(primal)), abs=1e-9)


def test_a_search_certifies_its_solution():
    X, y = kinds_of_data()["two classes"][0]
    search = PNormPushCV((1, 4), alphas=(0.1,), cv=2).fit(X, y)
    ranker = PNormPush(search.p_, alpha=0.1).fit(X, y)
    assert search.dual_gap_ <= 1e-4
    assert search.primal_objective_ == pytest.approx(ranker.primal_objective_, rel=1e-6)


def test_flat_ground_is_no_optimum():
    """Where no pair is within the squared hinge five trial steps in vain passed for convergence."""
    X, y = by_first_column(60, 500, 0)
    ends = [PushRanker("squared_hinge", solver=solver).fit(X, y) for solver in ("lbfgs", "newton-cg")]
    assert ends[0].primal_objective_ == pytest.approx(ends[1].primal_objective_, rel=1e-4)


def test_a_descent_that_stalls_above_the_optimum_has_not_converged():
    """Small gradients alone passed for convergence, of an objective far above its bound."""
    X, y = by_first_column(25, 60, 0.5)
    ranker = PushRanker("squared_hinge", Power(3), alpha=1e-8)
    with pytest.warns(ConvergenceWarning, match="no further descent in floating point"):
        ranker.fit(X, y)
    assert ranker.dual_gap_ > 1e-4
    assert not ranker.converged_


EXPONENTIAL = ["push", "hard push", "pull", "both", "IR push"]


@quiet
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 40), marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", EXPONENTIAL)
def test_without_a_penalty_the_optimum_of_a_cone_solver_is_within_the_gap(name, seeds):
    ranker, objective = PROBLEMS[name]
    for seed in seeds:
        X, y, weights, _ = random_problem(seed)
        X, y, weights = np.r_[X, X[:4]], np.r_[y, 1 - y[:4]], np.r_[weights, weights[:4]]  # nothing separates
        program = PushProgram(X, y, weights)
        best, _ = program.minimise(objective(program), 0.0)
        ranker = clone(ranker).set_params(alpha=0.0, tol=1e-6)
        check_gap(ranker, best, (2, 4, 6, 1000), X, y, weights)
        assert ranker.dual_gap_ <= 1e-9


@quiet
@pytest.mark.parametrize("name", EXPONENTIAL)
def test_without_a_penalty_the_gap_is_at_least_what_is_left_to_gain(name):
    """At every stage of a fit, by an optimum that is right to rounding; near it the gap is twice that."""
    X, y = by_first_column(80, 3, 0.4, seed=3)
    ranker = clone(PROBLEMS[name][0]).set_params(alpha=0.0)
    best = clone(ranker).set_params(tol=1e-9).fit(X, y)
    assert best.dual_gap_ < 1e-13
    ratios = []
    for max_iter in range(1, 9):
        early = clone(ranker).set_params(max_iter=max_iter).fit(X, y)
        left = early.primal_objective_ - best.primal_objective_
        gap = early.primal_objective_ - early.dual_objective_
        assert gap >= left - 1e-14
        ratios += [gap / left] if 1e-8 < left < 1e-4 else []
    assert ratios
    assert 1.9 < ratios[-1] < 2.2


@quiet
@pytest.mark.parametrize(
    ("kind", "solver"),
    each_and_some(
        ["two classes", "weights", "grades in queries", "pairs", "twins", "other units"],
        ["lbfgs", "newton-cg", "coordinate"],
        n_random=2,
    ),
)
def test_a_fit_without_a_penalty_proves_its_optimum_on_all_kinds_of_data(kind, solver):
    data, options = kinds_of_data()["two classes" if kind == "twins" else kind]
    if kind == "twins":
        data = (np.c_[data[0], data[0][:, 0], np.ones(60)], *data[1:])
    for ranker in (PNormPush(4.0), PushRanker(), IRPush()):
        fitted = clone(ranker).set_params(alpha=0.0, solver=solver, tol=1e-7, max_iter=5000)
        fitted.fit(*data, **options)
        assert fitted.converged_
        assert fitted.dual_gap_ < 1e-9
        near = clone(ranker).set_params(alpha=1e-10, tol=1e-7).fit(*data, **options)
        assert fitted.dual_objective_ <= near.primal_objective_ + 1e-12
        assert fitted.primal_objective_ >= near.dual_objective_ - 1e-9


@pytest.mark.parametrize("ranker", [PNormPush(4.0), IRPush(), PushRanker()], ids=repr)
def test_separable_data_have_no_optimum_without_a_penalty_and_the_fit_says_so(ranker):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="separable and alpha=0, so the objective has no minimum"):
        fitted = clone(ranker).set_params(alpha=0.0).fit(X, y)
    assert fitted.dual_objective_ == -np.inf
    assert not fitted.converged_


@quiet
def test_without_a_penalty_other_objectives_have_no_bound():
    data, _ = kinds_of_data()["two classes"]
    for ranker in (
        PushRanker("logistic"),
        PushRanker(price="exponential_price"),
        PushRanker("squared_hinge"),
    ):
        assert clone(ranker).set_params(alpha=0.0).fit(*data).dual_gap_ == np.inf
