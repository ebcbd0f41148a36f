"""Training rows drawn from populations that are known, and what each bound of the theory says of them.

A simulation returns for one draw how far the population's error is above that of the training rows, and how
far the bound allows it to be: of all functions of the class for the one that comes nearest to a failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from pushrank import PerceptronAtK, SGDAtK, metrics, theory
from pushrank.objectives import PrecisionAtK
from pushrank.prices import Power
from pushrank.theory import agarwal_2011, kar_2015, rudin_2005, rudin_2009

Floats = np.ndarray[Any, np.dtype[np.float64]]
Draw = Callable[[np.random.Generator, float], tuple[float, float]]

ANGLES = np.linspace(0.0, np.pi / 2, 9)
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES)])  # a finite class: nine linear scores
LOG_SIZE = math.log(len(ANGLES))
THETA, SHIFT = 0.1, np.array([2.0, 1.0])
MEANS = SHIFT @ DIRECTIONS  # of the positives' scores; the negatives' is 0, and all have the variance 1
N_POSITIVES, N_NEGATIVES = 300, 500
KAPPA, BASE_RATE = 0.5, 0.4
N_BATCHES, BATCH_SIZE = 20, 500


class Simulated(NamedTuple):
    """How often a bound failed.

    Attributes
    ----------
    n_draws, failures : int
        Numbers of draws.
    observed : float
        The excess that all but a share delta of the draws kept to.
    allowed : float
        The median of the excess that the bound allows.
    is_certain : bool
        Whether no chance is involved, so that the bound may never fail.
    """

    n_draws: int
    failures: int
    observed: float
    allowed: float
    is_certain: bool


SIMULATIONS: dict[str, tuple[Draw, bool]] = {}


def simulation(name: str, *, is_certain: bool = False) -> Callable[[Draw], Draw]:
    """Enter a simulation under the name of its function."""

    def enter(draw: Draw) -> Draw:
        SIMULATIONS[name] = draw, is_certain
        return draw

    return enter


def simulate(name: str, n_draws: int, delta: float, random_state: int) -> Simulated:
    """Return how often a bound failed among so many draws."""
    draw, is_certain = SIMULATIONS[name]
    rng = np.random.default_rng(random_state)
    observed, allowed = np.array([draw(rng, delta) for _ in range(n_draws)]).T
    failures = int(np.sum(observed > allowed))
    reached = float(np.quantile(observed, 1.0 - delta))
    return Simulated(n_draws, failures, reached, float(np.median(allowed)), is_certain)


def nearest(cases: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the pair of observed and allowed that comes nearest to a failure."""
    return max(cases, key=lambda case: case[0] - case[1])


def two_classes(
    rng: np.random.Generator, n: int = N_POSITIVES + N_NEGATIVES, apart: float = 1.0
) -> tuple[Any, Floats]:
    """Return labels, 3 of 8 positive, and the scores of every function."""
    y = np.arange(n) < n * N_POSITIVES // (N_POSITIVES + N_NEGATIVES)
    return y, rng.normal(size=(n, 2)) @ DIRECTIONS + apart * np.outer(y, MEANS)


@cache
def p_norm_errors(p: float, apart: float = 1.0) -> Floats:
    """Return the error of the population for each function: heights at normal scores, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    heights = norm.cdf(nodes[:, None] - apart * MEANS)
    means: Floats = (weights @ heights**p / weights.sum()) ** (1.0 / p)
    return means


def p_norm(bound: Callable[[Any, Floats, float, float], float], p: float, apart: float = 1.0) -> Draw:
    def draw(rng: np.random.Generator, delta: float) -> tuple[float, float]:
        y, scores = two_classes(rng, apart=apart)
        cases = []
        for truth, column in zip(p_norm_errors(p, apart), scores.T, strict=True):
            found = metrics.margin_error(y, column, THETA, p)
            cases.append((truth - found, bound(y, column, p, delta) - found))
        return nearest(cases)

    return draw


for power in (1, 4):
    simulation(f"rudin_2009.theorem_2, p = {power}")(
        p_norm(lambda y, s, p, d: rudin_2009.theorems_2_and_3(y, s, p, THETA, LOG_SIZE, delta=d).bound, power)
    )
    simulation(f"p_norm_push_bound, p = {power}")(
        p_norm(lambda y, s, p, d: theory.p_norm_push_bound(y, s, p, THETA, LOG_SIZE, delta=d), power)
    )
# of classes that are the same no function ranks well, and theorem 3 says more than theorem 2
simulation("rudin_2009.theorem_3, p = 4")(
    p_norm(
        lambda y, s, p, d: (
            rudin_2009.theorems_2_and_3(
                y, s, p, THETA, LOG_SIZE, least_error=float(p_norm_errors(p, 0.0).min()), delta=d
            ).bound
        ),
        4,
        apart=0.0,
    )
)


@simulation("rudin_2009.theorem_1", is_certain=True)
def heights(rng: np.random.Generator, _: float) -> tuple[float, float]:
    """Return the largest ratio of the parts of the theorem that may not exceed one."""
    y = np.append([True, False], rng.random(20) < rng.random())
    found = rudin_2009.theorem_1(y, rng.normal(size=22).round(1) + y, Power(rng.uniform(1.0, 6.0)))
    if found.error == 0.0:
        return 0.0, 1.0
    ratios = found.lower / found.error, found.error / found.upper, found.error / found.surrogate_error
    return max(ratios), 1.0 + 1e-12


@simulation("rudin_2005.theorem_1, two classes")
def crucial_pairs_of_classes(rng: np.random.Generator, delta: float) -> tuple[float, float]:
    """E is estimated by the rows themselves."""
    y = rng.random(400) < BASE_RATE
    scores = rng.normal(size=(400, 2)) @ DIRECTIONS + np.outer(y, MEANS)
    cases = []
    for truth, column in zip(norm.cdf(-MEANS / math.sqrt(2.0)), scores.T, strict=True):
        found = rudin_2005.theorem_1(column, y, theta=THETA, log_covering_number=LOG_SIZE, delta=delta)
        cases.append((truth - found.training_error, found.excess))
    return nearest(cases)


@simulation("rudin_2005.theorem_1, crucial pairs")
def crucial_pairs_of_neighbours(rng: np.random.Generator, delta: float) -> tuple[float, float]:
    """Of three grades only neighbours are compared; E is known."""
    shares = np.array([0.5, 0.3, 0.2])
    grades = rng.choice(3, size=150, p=shares)
    scores = rng.normal(size=(150, 2)) @ DIRECTIONS + np.outer(grades, MEANS)
    pairs = np.nonzero(np.subtract.outer(grades, grades) == 1)
    cases = []
    for truth, column in zip(norm.cdf(-MEANS / math.sqrt(2.0)), scores.T, strict=True):
        found = rudin_2005.theorem_1(
            column,
            pairs=pairs,
            theta=THETA,
            log_covering_number=LOG_SIZE,
            pair_probability=float(shares[:2] @ shares[1:]),
            delta=delta,
        )
        cases.append((truth - found.training_error, found.excess))
    return nearest(cases)


@simulation("margin_ranking_bound")
def margins(rng: np.random.Generator, delta: float) -> tuple[float, float]:
    """As theorem 1, for two classes."""
    y, scores = two_classes(rng)
    cases = []
    for truth, column in zip(norm.cdf(-MEANS / math.sqrt(2.0)), scores.T, strict=True):
        found = metrics.margin_error(y, column, THETA)
        bound = theory.margin_ranking_bound(y, column, THETA, LOG_SIZE, delta=delta)
        cases.append((truth - found, bound - found))
    return nearest(cases)


@simulation("rudin_2005.smooth_margin_progress", is_certain=True)
def progress_of_rounds(rng: np.random.Generator, _: float) -> tuple[float, float]:
    """A round with random shares of pairs, from a random smooth margin below the edge."""
    d_plus, d_minus, d_zero = rng.dirichlet(rng.choice([0.3, 1.0, 3.0], size=3))
    d_plus, d_minus = max(d_plus, d_minus, 1e-9), max(min(d_plus, d_minus), 1e-9)
    r = d_plus - d_minus
    g = r * rng.random()
    # the positive root of the step's quadratic (1 + g) d- z^2 + g d0 z - (1 - g) d+ = 0, z = e^alpha
    b = g * d_zero
    alpha = math.log(2 * (1 - g) * d_plus / (b + math.sqrt(b**2 + 4 * (1 + g) * (1 - g) * d_minus * d_plus)))
    tau = d_plus * math.exp(-alpha) + d_minus * math.exp(alpha) + d_zero
    return rudin_2005.smooth_margin_progress(g, r, 1.0), -math.log(tau) - alpha * g + 1e-8


@simulation("agarwal_2011.theorem_5_1")
def known_top(rng: np.random.Generator, delta: float) -> tuple[float, float]:
    """Three coordinates, positives uniform on [0, 1], negatives on [0, w] less the margin.

    So heights with the margin are uniform on [0, w].
    """
    widths, theta = np.array([0.5, 0.7, 0.9]), 0.01
    y = np.arange(1200) < 1000
    X = np.concatenate([rng.random((1000, 3)), rng.random((200, 3)) * widths - theta])
    cases = []
    for width, column in zip(widths, X.T, strict=True):
        found = agarwal_2011.theorem_5_1(
            y, column, theta, math.log(3), lambda e: max(1.0 - e / widths.max(), 0.0), delta=delta
        )
        cases.append((width - theta - found.training_error, found.excess))
    return nearest(cases)


@simulation("infinite_push_bound")
def both_errors_at_the_top(rng: np.random.Generator, delta: float) -> tuple[float, float]:
    """The rates of new rows above and below the best negative, and the bounds themselves."""
    y, scores = two_classes(rng)
    cases = []
    for mean, column in zip(MEANS, scores.T, strict=True):
        threshold, taken, missed = theory.infinite_push_bound(y, column, THETA, LOG_SIZE, delta=delta)
        cases += [(float(norm.sf(threshold)), taken), (float(norm.cdf(threshold - mean)), missed)]
    return nearest(cases)


@cache
def precisions(share: float) -> Floats:
    """Return the precision of the first rows of the population, for each function."""
    q = N_POSITIVES / (N_POSITIVES + N_NEGATIVES)
    found = []
    for mean in MEANS:

        def excess(t: float, mean: float = mean) -> float:
            return float(q * norm.sf(t - mean) + (1 - q) * norm.sf(t)) - share

        found.append(q * norm.sf(brentq(excess, -9.0, 9.0) - mean) / share)
    return np.array(found)


@simulation("precision_at_k_bound")
def precision_with_margin(rng: np.random.Generator, delta: float) -> tuple[float, float]:
    """By how much precision falls short, of the first quarter of 8,000 rows."""
    y, scores = two_classes(rng, 8000)
    cases = []
    for truth, column in zip(precisions(0.25), scores.T, strict=True):
        found = metrics.precision_at_k(y, column - THETA * y, 2000)
        bound = theory.precision_at_k_bound(y, column, 2000, THETA, LOG_SIZE, delta=delta)
        cases.append((found - truth, found - bound))
    return nearest(cases)


@cache
def population() -> tuple[Floats, Any]:
    """Return 20,000 rows of norm at most one and their classes: the Z of the theorems of 2015."""
    rng = np.random.default_rng(0)
    y = np.arange(20_000) < BASE_RATE * 20_000
    X = rng.normal(size=(len(y), 2)) + np.outer(y, SHIFT)
    X -= X.mean(axis=0)
    return X / np.linalg.norm(X, axis=1).max(), y


def loss(surrogate: str, y: Any, scores: Floats) -> float:
    """Return precision at kappa as a loss, or a surrogate divided by k."""
    k = max(1, round(KAPPA * int(y.sum())))
    if surrogate == "precision":
        return 1.0 - float(metrics.precision_at_k(y, scores, k, ties="pessimistic"))
    return PrecisionAtK(k, surrogate).value(y, scores) / k  # type: ignore[arg-type]


@cache
def population_losses(surrogate: str) -> list[float]:
    X, y = population()
    return [loss(surrogate, y, X @ w) for w in DIRECTIONS.T]


def uniform_convergence(surrogate: str, *, replacement: bool) -> Draw:
    def draw(rng: np.random.Generator, delta: float) -> tuple[float, float]:
        X, y = population()
        drawn = rng.choice(len(y), size=1000, replace=replacement)
        scores = X[drawn] @ DIRECTIONS
        found = [loss(surrogate, y[drawn], column) for column in scores.T]
        allowed = kar_2015.theorem_12(
            1000,
            KAPPA,
            BASE_RATE,
            largest_score=None if surrogate == "precision" else 1.0,
            log_class_size=LOG_SIZE,
            replacement=replacement,
            delta=delta,
        )
        return float(np.abs(np.subtract(found, population_losses(surrogate))).max()), allowed

    return draw


for kind in ("precision", "ramp", "avg", "max"):
    simulation(f"kar_2015.theorem_12, {kind}")(uniform_convergence(kind, replacement=True))
simulation("kar_2015.theorem_12, without replacement")(uniform_convergence("precision", replacement=False))


def batches_of(rng: np.random.Generator) -> list[tuple[Floats, Any]]:
    X, y = population()
    return [(X[rows], y[rows]) for rows in rng.integers(len(y), size=(N_BATCHES, BATCH_SIZE))]


def perceptron_run(rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean loss of the coefficients before each batch, on the population and on the batches."""
    X, y = population()
    ranker = PerceptronAtK(k=KAPPA, batch_size=BATCH_SIZE, average=False)
    w, losses = np.zeros(2), []
    for X_batch, y_batch in batches_of(rng):
        losses.append(loss("precision", y, X @ w))
        w = ranker.partial_fit(X_batch, y_batch, classes=[False, True]).coef_.ravel()
    return float(np.mean(losses)), float(ranker.mistake_rate_)


@simulation("kar_2015.theorem_13")
def online_to_batch(rng: np.random.Generator, delta: float) -> tuple[float, float]:
    """Twenty batches of 500 rows, drawn anew."""
    truth, found = perceptron_run(rng)
    bound = kar_2015.theorem_13(found, N_BATCHES, BATCH_SIZE, KAPPA, BASE_RATE, delta=delta)
    return truth - found, bound.excess


@simulation("kar_2015.corollary_14")
def against_fixed_coefficients(rng: np.random.Generator, delta: float) -> tuple[float, float]:
    """The population's loss, and the bound itself, at the better of two multiples of a direction."""
    truth, _ = perceptron_run(rng)
    X, y = population()
    w = DIRECTIONS[:, 3]
    bounds = [
        kar_2015.corollary_14(
            loss("avg", y, X @ (length * w)),
            length,
            1.0,
            N_BATCHES,
            BATCH_SIZE,
            KAPPA,
            BASE_RATE,
            delta=delta,
        )
        for length in (0.1, 1.0)
    ]
    return truth, min(bounds)


@cache
def least_surrogate(radius: float) -> float:
    """Return the least surrogate avg of the population in a ball, on a grid of it."""
    X, y = population()
    grid = [
        length * np.array([math.cos(a), math.sin(a)])
        for length in radius * np.linspace(0.05, 1.0, 20)
        for a in np.linspace(0.0, 2.0 * np.pi, 60)
    ]
    return min(loss("avg", y, X @ w) for w in grid)


@simulation("kar_2015.theorem_15")
def averaged_descent(rng: np.random.Generator, delta: float) -> tuple[float, float]:
    """SGD@k-avg in the unit ball, with the best first step: the coefficients that the ranker returns."""
    X, y = population()
    ranker = SGDAtK(KAPPA, surrogate="avg", radius=1.0, eta0=math.sqrt(0.5), batch_size=BATCH_SIZE)
    for X_batch, y_batch in batches_of(rng):
        ranker.partial_fit(X_batch, y_batch, classes=[False, True])
    excess = loss("avg", y, X @ ranker.coef_.ravel()) - least_surrogate(1.0)
    return excess, kar_2015.theorem_15(1.0, 1.0, N_BATCHES, BATCH_SIZE, KAPPA, BASE_RATE, delta=delta)


def mistakes(variant: Any, bound: Callable[..., float], shift: float) -> Draw:
    """Ten batches of twenty rows, and coefficients of random length towards the class means."""

    def draw(rng: np.random.Generator, _: float) -> tuple[float, float]:
        y = rng.random(200) < BASE_RATE
        X = rng.normal(size=(200, 2)) + shift * np.outer(y - 0.5, SHIFT)
        ranker = PerceptronAtK(k=KAPPA, variant=variant, batch_size=20)
        ranker.partial_fit(X, y, classes=[False, True])
        batches = [(X[start : start + 20], y[start : start + 20]) for start in range(0, 200, 20)]
        w = rng.exponential() / np.linalg.norm(SHIFT) * SHIFT
        return float(ranker.n_mistakes_), bound(w, batches, KAPPA, variant=variant, pos_label=True)

    return draw


for number, which, theorem, moved in (
    ("theorem_7", "avg", kar_2015.theorems_7_and_9, 1.0),
    ("corollary_8", "avg", kar_2015.corollaries_8_and_10, 4.0),
    ("theorem_9", "max", kar_2015.theorems_7_and_9, 1.0),
    ("corollary_10", "max", kar_2015.corollaries_8_and_10, 4.0),
):
    simulation(f"kar_2015.{number}", is_certain=True)(mistakes(which, theorem, moved))
