"""What a fit shows of itself: the numbers that it learns by, under their names."""

import re

import numpy as np
import pytest

from pushrank import (
    SVMMAP,
    AdaBoostRanker,
    InfinitePush,
    IRPush,
    PatMat,
    PerceptronAtK,
    PNormPush,
    PNormPushCV,
    PushBoost,
    PushRanker,
    RampAtK,
    RankBoost,
    RankSVM,
    SGDAtK,
    SmoothMarginRanking,
    StructSVM,
    TrimmedPush,
)

GRADIENT = ["objective", "gradient"]
GAP = ["objective", "gap"]
MISTAKES = ["mistakes in pass", "mistake rate"]
KINDS = {
    "push": (PNormPush(), GRADIENT),
    "push, newton": (PNormPush(solver="newton-cg"), GRADIENT),
    "push, coordinate": (PNormPush(solver="coordinate"), GRADIENT),
    "discount": (IRPush(), GRADIENT),
    "bottom": (PNormPush(side="pull"), GRADIENT),
    "both ends": (PNormPush(side="both"), GRADIENT),
    "pairs": (PushRanker("logistic"), GRADIENT),
    "pairs, smoothed": (PushRanker("hinge"), GRADIENT),
    "pairs, maximum": (PushRanker("hinge", "maximum"), GAP),
    "boosting push": (PushBoost(n_estimators=9), GRADIENT),
    "boosting": (RankBoost(n_estimators=9), GRADIENT),
    "smooth margin": (SmoothMarginRanking(not_separable="warn", n_estimators=9), GRADIENT),
    "adaboost": (AdaBoostRanker(n_estimators=9), GRADIENT),
    "ranksvm": (RankSVM(10.0), GRADIENT),
    "ranksvm, hinge": (RankSVM(10.0, loss="hinge"), GAP),
    "ranksvm, kernel": (RankSVM(10.0, kernel="rbf"), GAP),
    "infinite push": (InfinitePush(10.0), GAP),
    "infinite push, wide": (InfinitePush(10.0, solver="semismooth-newton"), GAP),
    "infinite push, kernel": (InfinitePush(10.0, kernel="rbf"), GAP),
    "svmmap": (SVMMAP(10.0), GAP),
    "structural": (StructSVM(), GAP),
    "share": (PatMat(C=10.0, tol=1e-6), GRADIENT),
    "ramp": (RampAtK(init="perceptron", random_state=0), ["objective", "fall"]),
    "trimmed": (TrimmedPush(), ["objective", "kept"]),
    "perceptron": (PerceptronAtK(max_iter=3), MISTAKES),
    "descent": (SGDAtK(max_iter=3), MISTAKES),
    "one pass": (SGDAtK(surrogate="struct", radius=10.0, max_iter=1), MISTAKES),
}


def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 4))
    return X, X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=120) > 0.7


def last_line(text):
    """Return the count, and the numbers by name, of a finished bar."""
    found = re.search(r" (\d+)/\d+ (.*?) +\d+:\d\d:\d\d", text.splitlines()[-1])
    named = re.findall(r"([a-z][a-z ]*?) (-?[\d.]+(?:e[+-]\d+)?)", found[2])
    return int(found[1]), {name: float(value) for name, value in named}


def test_a_search_shows_its_solutions(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    ranker, (X, y) = PNormPushCV((1, 4), alphas=(0.1, 1.0), cv=3), data()
    ranker.fit(X, y)
    assert capsys.readouterr() == ("", "")
    ranker.set_params(verbose=True).fit(X, y)
    count, shown = last_line(capsys.readouterr().err)
    assert count == len(ranker.cv_results_["params"]) * ranker.n_splits_
    assert list(shown) == ["score"]
    assert shown["score"] <= ranker.cv_results_["mean_test_score"].max() * ranker.n_splits_


@pytest.mark.filterwarnings("ignore::UserWarning")  # of fits cut short
@pytest.mark.parametrize("kind", KINDS)
def test_a_ranker_shows_what_it_learns_by(kind, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    ranker, names = KINDS[kind]
    ranker.set_params(verbose=True).fit(*data())
    count, shown = last_line(capsys.readouterr().err)
    assert list(shown) == names
    assert count == ranker.n_iter_
    if names == MISTAKES:
        assert shown["mistake rate"] == pytest.approx(ranker.mistake_rate_, rel=1e-3)
        assert shown["mistakes in pass"] <= ranker.n_mistakes_
        return
    expected = ranker.objective_path_[-1] if hasattr(ranker, "objective_path_") else ranker.primal_objective_
    assert shown["objective"] == pytest.approx(expected, rel=1e-3)
    if names == GAP:
        assert shown["gap"] == pytest.approx(ranker.dual_gap_, rel=1e-3, abs=1e-9)
