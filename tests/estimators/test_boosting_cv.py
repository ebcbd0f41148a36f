"""PushBoost for a budget: the choice is the one made by hand, on arrays and on frames with words and gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from pushrank import PushBoost, PushBoostCV
from pushrank.datasets import make_hidden_positives
from pushrank.metrics import average_precision, precision_at_k

SMALL = {"ps": (1.0, 16.0), "learning_rates": (0.5, 1.0), "n_estimators": (8, 2)}


def test_the_choice_is_the_one_made_by_hand():
    X, y = make_hidden_positives(300, random_state=0, return_X_y=True)
    cv = StratifiedKFold(3)
    ranker = PushBoostCV(fraction=0.1, cv=cv, selection="best", random_state=0, **SMALL).fit(X, y)
    results = ranker.cv_results_
    assert len(results["params"]) == 8
    for place in (5,):
        for fold, (train, test) in enumerate(cv.split(X, y)):
            alone = PushBoost(**results["params"][place]).fit(X[train], y[train])
            precision = precision_at_k(y[test], alone.decision_function(X[test]), fraction=0.1)
            assert results[f"split{fold}_test_score"][place] == pytest.approx(precision)
    means, hit = results["mean_test_score"], 1.0 / 30.0
    best = max(one["precision"] for one in ranker.candidates_)
    assert means.max() - hit - 1e-9 <= best == ranker.best_score_ == means[ranker.best_index_]
    alone = PushBoost(**ranker.best_params_, random_state=0).fit(X, y)
    np.testing.assert_allclose(ranker.decision_function(X), alone.decision_function(X))
    assert ranker.n_iter_ == ranker.best_params_["n_estimators"]


def test_the_smallest_push_within_one_standard_error_is_taken():
    X, y = make_hidden_positives(300, random_state=1, return_X_y=True)
    ranker = PushBoostCV(30, cv=4, random_state=0, **SMALL).fit(X, y)
    eligible = [one["p"] for one in ranker.candidates_
                if one["below_best"] <= one["below_best_standard_error"]]  # fmt: skip
    assert ranker.best_params_["p"] == min(eligible)


def test_frames_with_words_and_gaps_are_taken():
    rng = np.random.default_rng(0)
    y = rng.random(120) < 0.3
    colour = pd.Series(np.where(y, "red", rng.choice(["red", "blue"], 120)), dtype="category")
    frame = pd.DataFrame(
        {"colour": colour, "size": np.where(rng.random(120) < 0.2, np.nan, y + rng.random(120))}
    )
    one = {"ps": [4.0], "learning_rates": [1.0], "n_estimators": [5], "cv": 2}
    ranker = PushBoostCV(**one).fit(frame, y)
    assert average_precision(y, ranker.decision_function(frame)) > 0.8
    assert list(ranker.feature_names_in_) == ["colour", "size"]
    np.testing.assert_allclose(
        list(ranker.staged_decision_function(frame))[-1], ranker.decision_function(frame)
    )


def test_what_is_out_of_range_is_said():
    X, y = make_hidden_positives(60, random_state=2, return_X_y=True)
    for options, message in (
        ({"ps": []}, "ps must be a list"),
        ({"ps": [0.5]}, "ps must"),
        ({"learning_rates": [2.0]}, "learning_rates must"),
        ({"n_estimators": [0]}, "n_estimators must"),
        ({"alpha": -1.0}, "alpha must"),
        ({"selection": "any"}, "selection must"),
        ({"budget": 61}, "more than the 60 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            PushBoostCV(**options).fit(X, y)
