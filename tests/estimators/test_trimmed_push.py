"""The trimmed push: laws of its descent, its end by brute force, and what it is for."""

import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from combinations import by_day
from pushrank import PNormPush, TrimmedPush
from pushrank.datasets import make_hidden_positives
from pushrank.metrics import positives_at_top
from samples import first_positive


def objective(X, y, kept, coef, p, alpha):
    """The definition, over all pairs of a kept positive and a negative."""
    scores = X @ coef
    inner = np.exp(scores[y == 0] - scores[kept][:, None]).sum(axis=0)
    return np.log((inner**p).sum()) / p + 0.5 * alpha * coef @ coef


@pytest.mark.parametrize("seed", by_day(range(6), 3))
@pytest.mark.parametrize("p", [1.0, 4.0, 16.0])
def test_the_objective_falls_to_that_of_the_highest_positives(seed, p):
    X, y = first_positive(seed, 60, 3, 3)
    ranker = TrimmedPush(5, p=p, alpha=0.1).fit(X, y)
    assert ranker.converged_
    assert np.diff(ranker.objective_path_).max(initial=0.0) <= 1e-9
    kept = np.setdiff1d(np.flatnonzero(y), ranker.trimmed_)
    assert len(kept) == 5
    scores = ranker.decision_function(X)
    assert scores[kept].min() >= scores[ranker.trimmed_].max()
    value = objective(X, y, kept, ranker.coef_, p, 0.1)
    assert ranker.objective_path_[-1] == pytest.approx(value)
    # at these scores no other set of five, and for this set no other scores, are better
    others = itertools.islice(itertools.combinations(np.flatnonzero(y), 5), 0, None, 97)
    assert all(objective(X, y, np.array(s), ranker.coef_, p, 0.1) >= value - 1e-9 for s in others)
    rng = np.random.default_rng(seed)
    moved = ranker.coef_ + 0.01 * rng.normal(size=(50, 3))
    assert min(objective(X, y, kept, coef, p, 0.1) for coef in moved) >= value - 1e-6


def test_all_positives_are_the_p_norm_push():
    X, y = first_positive(0, 60, 3, 3)
    whole = TrimmedPush(1.0, p=8.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(whole.coef_, PNormPush(8.0, tol=1e-8).fit(X, y).coef_, atol=1e-6)
    assert len(whole.trimmed_) == 0


def test_a_path_is_the_fits_along_it():
    X, y = first_positive(1, 60, 3, 3)
    small, large, alone = (*TrimmedPush().path(X, y, [0.2, 0.6]), TrimmedPush(0.6).fit(X, y))
    assert (small.k, large.k) == (0.2, 0.6)
    np.testing.assert_array_equal(large.coef_, alone.coef_)
    assert set(large.trimmed_) < set(small.trimmed_)
    with pytest.raises(ValueError, match="at least one"):
        TrimmedPush().path(X, y, [])


def test_hidden_positives_are_found():
    rows = make_hidden_positives(3000, random_state=0)
    fresh = make_hidden_positives(5000, random_state=1)
    found, lost = (
        positives_at_top(fresh.target, ranker.fit(rows.data, rows.target).decision_function(fresh.data))
        for ranker in (TrimmedPush(), LogisticRegression())
    )
    assert found > 300
    assert lost < 10


@pytest.mark.parametrize("n_positive", [1, 39])
def test_one_row_of_a_class_and_separable_rows(n_positive):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.arange(40) < n_positive
    ranker = TrimmedPush(0.5).fit(X, y)
    assert np.isfinite(ranker.coef_).all()
    apart = TrimmedPush(0.5).fit(np.c_[np.where(y, 5.0, -5.0)], y)
    assert positives_at_top(y, apart.decision_function(np.c_[np.where(y, 5.0, -5.0)])) == n_positive


def test_what_is_out_of_range_is_said():
    X, y = first_positive(3, 60, 3, 3)
    wrong = {"k": (0, 99), "p": (0.5,), "alpha": (-1.0,), "tol": (0.0,), "max_iter": (0,)}
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match=rf"\b{name}\b"):
                TrimmedPush(**{name: value}).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="did not converge with k=0.3"):
        TrimmedPush(0.3, max_iter=1).fit(X, y)
