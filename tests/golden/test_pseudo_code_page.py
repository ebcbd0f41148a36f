"""The functions of docs/papers/pseudo_code.md give the library's numbers on other data, too."""

import doctest
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pushrank import InfinitePush, PerceptronAtK, PushBoost, RankBoost, RankSVM, SGDAtK, SmoothMarginRanking

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "pseudo_code.md"
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
COLUMNS = {"weak_rankers": "columns", "choice": "signed", "tol": 0}
STREAM = {"batch_size": 20, "max_iter": 3, "shuffle": False}


@cache
def page() -> dict[str, Any]:
    """The names that the page defines, but for its data and results."""
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        if example.source.startswith(("import numpy", "from", "def")):
            exec(example.source, names)  # noqa: S102
    return names


def data(seed):
    """A table with a binary and a skewed column, and labels that it tells with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 5))
    X[:, 3], X[:, 4] = X[:, 3] > 0.4, np.exp(2.0 * X[:, 4])
    y = (X[:, 0] + 0.7 * X[:, 3] + rng.normal(size=80) > 0.8).astype(int)
    return X, y


@pytest.mark.parametrize("seed", range(4))
def test_the_page_and_the_library_agree(seed):
    X, y = data(seed)
    H, B = (X - X.min(axis=0)) / np.ptp(X, axis=0), (np.median(X, axis=0) < X).astype(float)
    equal = page()["equal"]
    assert equal(RankBoost(**COLUMNS, n_estimators=30).fit(B, y).coef_, page()["rank_boost"](B, y, 30))
    votes = B @ np.array([2.0, 2.1, 2.3, 2.7, 3.1])
    z = (votes > np.median(votes)).astype(int)
    smooth = SmoothMarginRanking(**COLUMNS, n_estimators=100, not_separable="warn").fit(B, z)
    assert equal(smooth.coef_, page()["rank_boost"](B, z, 100, smooth=True))
    for p in (1, 4, 64):
        push = PushBoost(p, **COLUMNS, n_estimators=15, alpha=0).fit(H, y)
        assert equal(push.coef_, page()["p_norm_push"](H, y, p, 15))
    options = {"C": 5.0, "solver": "gradient-projection", "eta0": 1e-3, "max_iter": 40}
    for kind in (InfinitePush, RankSVM):
        ranker = kind(loss="hinge", **options).fit(X, y)
        printed = page()["gradient_projection"](X, y, 5.0, 1e-3, 40, kind is InfinitePush)
        assert equal(ranker.coef_, printed)
    for variant in ("avg", "max"):
        perceptron = PerceptronAtK(0.4, variant=variant, average=False, **STREAM).fit(X, y)
        assert equal(perceptron.coef_, page()["perceptron_at_k"](X, y, 0.4, 20, 3, variant))
    descent = SGDAtK(0.4, surrogate="avg", radius=2.0, eta0=0.5, **STREAM).fit(X, y)
    assert equal(descent.coef_, page()["sgd_at_k"](X, y, 0.4, 20, 3, 0.5, 2.0))
