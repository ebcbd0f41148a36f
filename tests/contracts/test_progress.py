"""What a fit shows of itself: the numbers that it learns by, under their names."""

import re

import numpy as np
import pytest

import pushrank

GRADIENT = ["objective", "gradient"]
GAP = ["objective", "gap"]
MISTAKES = ["mistakes in pass", "mistake rate"]
KINDS = {
    "push": (pushrank.PNormPush(), GRADIENT),
    "push, newton": (pushrank.PNormPush(solver="newton-cg"), GRADIENT),
    "push, coordinate": (pushrank.PNormPush(solver="coordinate"), GRADIENT),
    "discount": (pushrank.IRPush(), GRADIENT),
    "bottom": (pushrank.PNormPush(side="pull"), GRADIENT),
    "both ends": (pushrank.PNormPush(side="both"), GRADIENT),
    "pairs": (pushrank.PushRanker("logistic"), GRADIENT),
    "pairs, smoothed": (pushrank.PushRanker("hinge"), GRADIENT),
    "pairs, maximum": (pushrank.PushRanker("hinge", "maximum"), GAP),
    "boosting push": (pushrank.PushBoost(n_estimators=9), GRADIENT),
    "boosting": (pushrank.RankBoost(n_estimators=9), GRADIENT),
    "smooth margin": (pushrank.SmoothMarginRanking(not_separable="warn", n_estimators=9), GRADIENT),
    "adaboost": (pushrank.AdaBoostRanker(n_estimators=9), GRADIENT),
    "ranksvm": (pushrank.RankSVM(10.0), GRADIENT),
    "ranksvm, hinge": (pushrank.RankSVM(10.0, loss="hinge"), GAP),
    "ranksvm, kernel": (pushrank.RankSVM(10.0, kernel="rbf"), GAP),
    "infinite push": (pushrank.InfinitePush(10.0), GAP),
    "infinite push, wide": (pushrank.InfinitePush(10.0, solver="semismooth-newton"), GAP),
    "infinite push, kernel": (pushrank.InfinitePush(10.0, kernel="rbf"), GAP),
    "svmmap": (pushrank.SVMMAP(10.0), GAP),
    "structural": (pushrank.StructSVM(), GAP),
    "ramp": (pushrank.RampAtK(init="perceptron", random_state=0), ["objective", "fall"]),
    "trimmed": (pushrank.TrimmedPush(), ["objective", "kept"]),
    "perceptron": (pushrank.PerceptronAtK(max_iter=3), MISTAKES),
    "descent": (pushrank.SGDAtK(max_iter=3), MISTAKES),
    "one pass": (pushrank.SGDAtK(surrogate="struct", radius=10.0, max_iter=1), MISTAKES),
}


def data(apart=0.0):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=120) > 0.7
    return X + apart * y[:, None], y


def last_line(text):
    """Return the count, and the numbers by name, of a finished bar."""
    found = re.search(r" (\d+)/\d+ (.*?) +\d+:\d\d:\d\d", text.splitlines()[-1])
    named = re.findall(r"([a-z][a-z ]*?) (-?[\d.]+(?:e[+-]\d+)?)", found[2])
    return int(found[1]), {name: float(value) for name, value in named}


def test_a_search_shows_its_solutions(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    ranker, (X, y) = pushrank.PNormPushCV((1, 4), alphas=(0.1, 1.0), cv=3), data()
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
    # Of classes that overlap the infinite push has zero coefficients, and no last step to show.
    ranker.set_params(verbose=True).fit(*data(2.0 * kind.startswith("infinite")))
    count, shown = last_line(capsys.readouterr().err)
    assert list(shown) == names
    assert count == ranker.n_iter_
    if names == MISTAKES:
        assert shown["mistake rate"] == pytest.approx(ranker.mistake_rate_, rel=1e-3)
        assert shown["mistakes in pass"] <= ranker.n_mistakes_
        return
    expected = ranker.objective_path_[-1] if hasattr(ranker, "objective_path_") else ranker.primal_objective_
    assert shown["objective"] == pytest.approx(expected, rel=1e-3)
    if kind == "infinite push, wide":
        # Newton's steps are shown with the gap before them, which the last of them closes.
        assert ranker.dual_gap_ <= shown["gap"]
    elif names == GAP:
        assert shown["gap"] == pytest.approx(ranker.dual_gap_, rel=1e-3, abs=1e-9)
