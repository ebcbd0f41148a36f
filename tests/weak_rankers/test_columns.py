"""Columns as weak rankers: their unit, and which are binary."""

import numpy as np
import pytest
import scipy.sparse as sp

from pushrank.weak_rankers import Columns

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_have_the_unit_of_their_range(layout, dtype):
    X = np.random.default_rng(4).integers(-3, 9, (50, 4)).astype(dtype)
    X[:, 2] = 5
    scaled = np.zeros((50, 4))
    moving = np.array([0, 1, 3])
    scaled[:, moving] = (X[:, moving] - X[:, moving].min(axis=0)) / np.ptp(X[:, moving], axis=0)
    stored = layout(X)
    learner = Columns().fit(stored)
    outputs = learner.training_outputs(stored)
    row_weights = np.random.default_rng(5).normal(size=50)
    np.testing.assert_allclose(outputs.edges(row_weights), scaled.T @ row_weights, atol=1e-6)
    for j in range(4):
        np.testing.assert_allclose(outputs.values(j), scaled[:, j], atol=1e-7)
    steps = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(learner.scores(stored, np.arange(4), steps), scaled @ steps, atol=1e-6)


def test_a_column_of_two_values_is_binary_whatever_they_are():
    X = np.array([[1e6, 0.0], [-1e6, 0.1], [1e6, 0.2]])
    outputs = Columns().fit(X).training_outputs(X)
    assert outputs.values(0).tolist() == [True, False, True]
    assert outputs.real_valued.tolist() == [False, True]


@pytest.mark.parametrize("unit", [1.0, 49.0, 98.0, 103.0, 0.1, 3e7])
def test_a_column_of_two_values_is_binary_whatever_its_range(unit):
    X = np.column_stack([[0.0, unit, unit, 0.0, unit], np.arange(5.0)])
    outputs = Columns().fit(X).training_outputs(X)
    assert outputs.real_valued.tolist() == [False, True]
    assert outputs.values(0).tolist() == [False, True, True, False, True]
