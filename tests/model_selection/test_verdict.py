"""Quantiles of several differences at once, and the set of models that may be the best."""

import numpy as np
import pytest
from scipy.stats import norm, studentized_range, t

from pushrank.model_selection.errors import Errors, variances_of_differences
from pushrank.model_selection.verdict import may_be_best, quantiles


def errors_of(covariance, freedom=np.inf):
    differences = np.sqrt(variances_of_differences(covariance))
    return Errors(np.sqrt(np.diag(covariance)), differences, covariance, freedom)


def test_two_models_have_the_quantiles_of_one_difference():
    two, from_each = quantiles(errors_of(np.eye(2), 4.0), 0.95, 0)
    assert two == pytest.approx(t.ppf(0.975, 4))
    np.testing.assert_allclose(from_each, t.ppf(0.95, 4))


@pytest.mark.parametrize("freedom", [4.0, np.inf])
@pytest.mark.parametrize("n_models", [3, 8])
def test_independent_models_have_tukeys_quantile(n_models, freedom):
    two, from_each = quantiles(errors_of(np.eye(n_models), freedom), 0.95, 0)
    expected = studentized_range.ppf(0.95, n_models, min(freedom, 1e6)) / np.sqrt(2.0)
    assert two == pytest.approx(expected, rel=0.03)
    assert (from_each < two).all()


def test_the_quantile_from_one_model_is_dunnetts():
    """1.92 is in Dunnett's table for two models against a control, many rows and one side."""
    _, from_each = quantiles(errors_of(np.eye(3)), 0.95, 0)
    np.testing.assert_allclose(from_each, 1.916, atol=0.03)


def test_identical_models_ask_for_no_wider_intervals():
    """Three models of which two are the same are two models."""
    same = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    two, _ = quantiles(errors_of(same), 0.95, 0)
    assert two == pytest.approx(norm.ppf(0.975), abs=0.03)


@pytest.mark.parametrize("n_models", [2, 6, 10])
def test_the_best_is_among_the_candidates_and_all_differences_hold_together(n_models):
    """Of equal models, each is the best, and the one that seems so is chosen by the same draw."""
    rng = np.random.default_rng(n_models)
    root = rng.normal(size=(n_models, 2 * n_models))
    covariance = root @ root.T / n_models + np.eye(n_models)
    errors = errors_of(covariance)
    two, from_each = quantiles(errors, 0.95, 0)
    draws = rng.multivariate_normal(np.zeros(n_models), covariance, size=4000)
    held = np.mean([may_be_best(means, errors, from_each) for means in draws], axis=0)
    assert (held >= 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / 4000)).all()
    best = draws.argmax(axis=1)
    gaps = draws.max(axis=1, keepdims=True) - draws
    assert np.mean((gaps <= two * errors.differences[best]).all(axis=1)) >= 0.95 - 2.5 * 0.0035
    assert [may_be_best(means, errors, from_each)[one] for means, one in zip(draws[:99], best, strict=False)]


def test_a_model_far_ahead_is_the_only_candidate():
    errors = errors_of(np.eye(3) / 100.0)
    _, from_each = quantiles(errors, 0.95, 0)
    assert may_be_best(np.array([0.0, 1.0, 0.1]), errors, from_each).tolist() == [False, True, False]
