"""The synthetic set: its promised precisions against closed forms, samples and fitted models."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from pushrank.datasets import make_hidden_positives

SEEDS = range(10)


def precision_at_top(target, scores, top=0.25):
    """Precision of the first top * positives rows; ties count against the ranker."""
    count = round(top * target.sum())
    return target[np.lexsort((target, -scores))[:count]].mean()


def p_norm_push(X, y, p):
    """Minimise (1/p) ln sum_k (sum_i exp(t_k - s_i))^p over linear rankers, with a trace of L2."""
    positives, negatives = X[y == 1], X[y == 0]

    def objective(w):
        low, high = -positives @ w, p * (negatives @ w)
        low_sum, high_sum = logsumexp(low), logsumexp(high)
        gradient = negatives.T @ np.exp(high - high_sum) - positives.T @ np.exp(low - low_sum)
        return low_sum + high_sum / p + 5e-7 * w @ w, gradient + 1e-6 * w

    return minimize(objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x


def logistic(X, y):
    return LogisticRegression(max_iter=1000).fit(X, y).coef_[0]


@pytest.mark.parametrize(
    ("hard_negatives", "positive_fraction", "expected"),
    [(0.05, 0.2, 0.2), (0.02, 0.2, 0.68), (0.05, 0.5, 0.8), (0.1, 0.2, 0.0)],
)
def test_logistic_precision_is_the_closed_form(hard_negatives, positive_fraction, expected):
    # 1 - (1 - pi) nu / (kappa pi), or 0; the tolerance is that of the root finder, or, in the last case, of
    # the little overlap of the scores of hard negatives and positives.
    bunch = make_hidden_positives(hard_negatives=hard_negatives, positive_fraction=positive_fraction)
    assert bunch.logistic_precision_at_top == pytest.approx(expected, abs=2e-3)
    assert bunch.best_precision_at_top == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("parameters", [{}, {"noise": 1.0}, {"hard_negatives": 0.15}, {"top": 0.35}])
def test_population_precision_is_that_of_a_large_sample(parameters):
    bunch = make_hidden_positives(200_000, 2, random_state=0, **parameters)
    for name in ("best", "logistic"):
        measured = precision_at_top(bunch.target, bunch.data @ bunch[f"{name}_direction"], bunch.top)
        # about 10,000 rows in the top: a standard error of at most 0.005
        assert measured == pytest.approx(bunch[f"{name}_precision_at_top"], abs=0.015)


@pytest.mark.parametrize("parameters", [{}, {"noise": 1.0}, {"hard_negatives": 0.15}])
def test_logistic_direction_is_the_limit_of_logistic_regression(parameters):
    bunch = make_hidden_positives(100_000, 2, random_state=0, **parameters)
    fitted = LogisticRegression(C=1e6, tol=1e-8).fit(bunch.data, bunch.target).coef_[0]
    angles = [np.arctan2(*direction) for direction in (fitted, bunch.logistic_direction)]
    # over seeds the angle of 100,000 rows has mean zero and deviation 0.0007, with noise=1 0.003
    assert angles[0] == pytest.approx(angles[1], abs=0.012)


# products of 2000 rows by 10 columns: more threads than one only wait for each other
@threadpool_limits.wrap(1)
def test_the_push_beats_logistic_regression_by_the_promised_margin():
    measured = {"logistic": [], 1: [], 16: [], 32: [], 64: []}
    for seed in SEEDS:
        train = make_hidden_positives(random_state=seed)
        fresh = make_hidden_positives(20_000, random_state=1000 + seed)
        directions = {p: p_norm_push(train.data, train.target, p) for p in (1, 16, 32, 64)}
        directions["logistic"] = logistic(train.data, train.target)
        for name, direction in directions.items():
            measured[name].append(precision_at_top(fresh.target, fresh.data @ direction))
    promised = {"logistic": fresh.logistic_precision_at_top, 1: 0.2, 16: 1.0, 32: 1.0, 64: 1.0}
    for name, values in measured.items():
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        # Where the clusters do not mix, the spread is zero; 0.005 is then the room for stray rows.
        assert np.mean(values) == pytest.approx(promised[name], abs=3 * error + 0.005), name


def test_balanced_class_weights_do_not_save_logistic_regression():
    train = make_hidden_positives(random_state=0)
    fitted = LogisticRegression(class_weight="balanced").fit(train.data, train.target)
    assert precision_at_top(train.target, train.data @ fitted.coef_[0]) < 0.25


def test_few_hidden_positives_defeat_the_push_but_not_the_direction():
    easy, hard = make_hidden_positives(), make_hidden_positives(hidden_fraction=0.26)
    assert easy.mean_margin == pytest.approx(0.35)
    assert hard.mean_margin == pytest.approx(-0.21)
    assert hard.best_precision_at_top == pytest.approx(1.0)
    train = make_hidden_positives(20_000, hidden_fraction=0.26, random_state=0)
    direction = p_norm_push(train.data, train.target, 16)
    assert precision_at_top(train.target, train.data @ direction) < 0.5


def test_mean_margin_is_the_distance_of_the_mean_from_the_negatives_along_x2():
    bunch = make_hidden_positives(100_000, random_state=0)
    x2 = bunch.data[:, 1]
    measured = x2[bunch.target == 1].mean() - x2[bunch.target == 0].max()
    # the mean of 20,000 values with deviation 2: a standard error of 0.014
    assert measured == pytest.approx(bunch.mean_margin, abs=0.04)


def test_random_state_decides_the_set():
    first, again, other = (make_hidden_positives(200, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.data, again.data)
    np.testing.assert_array_equal(first.target, again.target)
    assert not np.array_equal(first.data, other.data)


def test_shapes_names_and_counts():
    bunch = make_hidden_positives(1000, 5, random_state=0)
    assert bunch.data.shape == (1000, 5)
    assert bunch.target.dtype == np.int64
    assert bunch.feature_names == ["x1", "x2", "x3", "x4", "x5"]
    names, counts = np.unique(bunch.cluster, return_counts=True)
    expected = {"easy": 760, "hard": 40, "hidden": 80, "ordinary": 120}
    assert dict(zip(names, counts.tolist(), strict=True)) == expected
    assert bunch.best_direction.shape == bunch.logistic_direction.shape == (5,)
    X, y = make_hidden_positives(1000, 5, random_state=0, return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)


def test_without_shuffle_positives_come_first():
    _, y = make_hidden_positives(100, shuffle=False, random_state=0, return_X_y=True)
    assert y[:20].all()
    assert not y[20:].any()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_features": 1}, ValueError, "n_features must be .* >= 2, got 1"),
        ({"positive_fraction": 0.0}, ValueError, "positive_fraction must be > 0 and < 1, got 0.0"),
        ({"hard_negatives": 1.0}, ValueError, "hard_negatives must be > 0 and < 1, got 1.0"),
        ({"hard_negatives": float("nan")}, ValueError, "hard_negatives must be > 0 and < 1, got nan"),
        ({"top": 0.0}, ValueError, "top must be > 0 and < 1, got 0.0"),
        ({"noise": 1.5}, ValueError, "noise must be > 0 and <= 1, got 1.5"),
        ({"noise": 0.0}, ValueError, "noise must be > 0"),
        ({"hidden_fraction": 0.2}, ValueError, "at least top=0.25"),
        ({"hidden_fraction": 1.0}, ValueError, "below 1"),
        ({"n_samples": 10}, ValueError, "each needs 1"),
        ({"n_samples": "a"}, TypeError, "n_samples must be an integer, got 'a'"),
        ({"n_samples": 2000.0}, TypeError, "n_samples must be an integer, got 2000.0"),
        ({"n_features": True}, TypeError, "n_features must be an integer, got True"),
        ({"hard_negatives": "a"}, TypeError, "hard_negatives must be a number, got 'a'"),
        ({"hidden_fraction": None}, TypeError, "hidden_fraction must be a number, got None"),
        ({"noise": "a"}, TypeError, "noise must be a number"),
    ],
)
def test_parameters_that_cannot_be_are_named(parameters, error, message):
    with pytest.raises(error, match=message):
        make_hidden_positives(**parameters)
