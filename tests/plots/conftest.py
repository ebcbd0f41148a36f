"""Pictures are drawn without a screen, and closed after each test."""

import pytest
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

pyplot.switch_backend("Agg")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y
