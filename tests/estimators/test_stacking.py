"""One list from several models."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from pushrank import PerceptronAtK, PNormPush, PushBoost, RankSVM, StackingRanker, load, metrics, save
from pushrank._base.scores import model_scores
from pushrank.estimators._combination import Columns, Scale, raw_scores, shrink_to_equal, without_small
from pushrank.model_selection import TimeSplit, compare_rankers


def two_classes(n_rows=400, n_columns=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n_rows) > 1.8
    return X, y.astype(int)


X, Y = two_classes()
MEMBERS = [
    ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
    ("stumps", PushBoost(n_estimators=15)),
    ("trees", ExtraTreesClassifier(15, min_samples_leaf=3)),
]


class Fixed(ClassifierMixin, BaseEstimator):
    """A member whose scores are a column of X, or what a test asks for."""

    def __init__(self, column=0, fault=None):
        self.column, self.fault = column, fault

    def fit(self, _, y):
        if self.fault == "raises":
            raise RuntimeError("out of luck")
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        scores = np.array(X[:, self.column], dtype=float)
        table = np.column_stack([-scores, scores])
        shapes = {"nan": scores * np.nan, "alike": 0.0 * scores, "table": table, "short": scores[1:]}
        return shapes.get(self.fault, scores)


def columns_of(*columns):
    return [(f"column {column}", Fixed(column)) for column in columns]


def test_scores_are_the_weighted_sum_of_the_columns():
    ranker = StackingRanker(MEMBERS, final_estimator=PNormPush(4, positive=True), cv=3, random_state=0)
    ranker.fit(X, Y)
    kept = ranker.get_feature_names_out().tolist()
    assert kept == [name for name, weight in ranker.weights_.items() if weight > 0.0]
    assert list(ranker.named_estimators_) == kept
    assert all(len(models) == 3 for models in ranker.named_estimators_.values())
    weights = np.array([ranker.weights_[name] for name in kept])
    assert weights.sum() == pytest.approx(1.0)
    columns = ranker.transform(X)
    np.testing.assert_allclose(columns @ weights - ranker.threshold_, ranker.decision_function(X), rtol=1e-12)


def test_out_of_fold_scores_are_of_models_that_had_not_seen_the_row():
    """Neighbours know the label of every row that they were fitted to, and nothing of noise otherwise."""
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(300, 3)), np.arange(300) % 3 == 0
    members = [("near", KNeighborsClassifier(1)), ("linear", LogisticRegression())]
    ranker = StackingRanker(members, final_estimator="mean", cv=5).fit(noise, y)
    assert metrics.auc(y, KNeighborsClassifier(1).fit(noise, y).predict_proba(noise)[:, 1]) == 1.0
    assert metrics.auc(y, ranker.held_out_scores_) < 0.6
    # The threshold leaves as many held-out rows above it as are positive, which training scores would not.
    assert (ranker.held_out_scores_ > 0.0).sum() == y.sum()


def test_the_threshold_is_the_break_even_point_of_held_out_rows():
    folds = list(StratifiedKFold(4).split(X, Y))
    ranker = StackingRanker(MEMBERS[:2], final_estimator="mean", cv=folds).fit(X, Y)
    scores = np.full((2, len(Y)), np.nan)
    for train, test in folds:
        for number, (_, member) in enumerate(MEMBERS[:2]):
            scores[number, test] = raw_scores(clone(member).fit(X[train], Y[train]), X[test])
    combined = np.mean([Scale.of(of, Y == 1, np.ones(len(Y)))(of) for of in scores], axis=0)
    assert (combined > ranker.threshold_).sum() == Y.sum()
    np.testing.assert_allclose(ranker.held_out_scores_, combined - ranker.threshold_, atol=1e-12)


def test_columns_are_log_odds_in_which_no_row_is_far_from_all_others():
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.3
    scores = 3.0 * y + rng.normal(3.0, 2.0, size=2000)
    scale = Scale.of(scores, y, np.ones(2000))
    column = scale(scores)
    assert (column.mean(), column.std()) == (pytest.approx(0.0, abs=1e-12), pytest.approx(1.0))
    np.testing.assert_allclose(Scale.of(7.0 * scores - 2.0, y, np.ones(2000))(7.0 * scores - 2.0), column)
    far = np.append(scores, 1e6)
    assert Scale.of(far, np.append(y, True), np.ones(2001))(far)[-1] < 15.0
    grid = np.linspace(-1e4, 1e4, 5001)
    assert (np.diff(scale(grid)) > 0.0).all()
    assert (np.diff(Scale.of(scores, ~y, np.ones(2000))(grid)) > 0.0).all()
    assert np.ptp(Scale.of(np.ones(5), np.arange(5) > 2, np.ones(5))(np.array([0.0, 1.0, 5.0]))) == 0.0


def test_weights_count_as_copies_in_a_column():
    scores, weights = np.array([1.0, 2.0, 2.0, 5.0, 7.0]), np.array([1.0, 2.0, 0.0, 3.0, 1.0])
    copies = np.repeat(scores, weights.astype(int))
    y = np.array([False, True, False, False, True])
    weighted = Scale.of(scores, y, weights)
    copied = Scale.of(copies, np.repeat(y, weights.astype(int)), np.ones(len(copies)))
    np.testing.assert_allclose(weighted(scores), copied(scores), rtol=1e-4)


def test_weights_count_as_copies_in_the_share_of_the_linear_members():
    parts, copies = np.arange(len(X)) % 2, 1 + np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), copies)
    members = [("line", LogisticRegression(tol=1e-10)), ("stumps", PushBoost(n_estimators=5))]
    ranker = StackingRanker(members, cv=LeaveOneGroupOut())
    weighted = clone(ranker).fit(X, Y, copies, groups=parts)
    copied = clone(ranker).fit(X[rows], Y[rows], groups=parts[rows])
    assert "linear members by" in weighted.final_
    assert weighted.final_ == copied.final_
    assert weighted.weights_ == pytest.approx(copied.weights_, rel=1e-6)


def test_probabilities_of_zero_and_one_keep_their_order():
    class Certain(Fixed):
        decision_function = property()

        def predict_proba(self, X):
            return np.column_stack([1.0 - X[:, 0], X[:, 0]])

    shares = np.array([[0.0], [1e-9], [0.5], [1.0 - 1e-9], [1.0]])
    scores = raw_scores(Certain(), shares)
    assert np.isfinite(scores).all()
    assert (np.diff(scores) > 0.0).all()


def test_members_of_noise_get_no_weight_and_copies_share_one():
    totals = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.random(2000) < 0.3
        rows = rng.normal(size=(2000, 4))
        rows[:, 0] += 2.0 * y
        final = PNormPush(4, alpha=1e-2, positive=True)
        ranker = StackingRanker(columns_of(0, 1, 2, 3), final_estimator=final, cv=3).fit(rows, y)
        weights = np.array(list(ranker.weights_.values()))
        assert (weights >= 0.0).all()
        totals.append(weights[1:].sum())
    assert np.mean(totals) < 0.02
    sizes = weights[weights > 0.0]
    assert sizes.min() >= 0.1 * sizes.max()
    rows = np.column_stack([rows[:, 0], rows[:, 0], rows[:, 0] + rng.normal(size=2000)])
    alone = StackingRanker(columns_of(0, 2), final_estimator=final, cv=3).fit(rows, y).weights_
    both = StackingRanker(columns_of(0, 1, 2), final_estimator=final, cv=3).fit(rows, y).weights_
    assert both["column 0"] + both["column 1"] == pytest.approx(alone["column 0"], rel=0.05)


def test_weights_come_from_the_push_by_default():
    rng = np.random.default_rng(0)
    y = rng.random(6000) < 0.3
    rows = rng.normal(size=(6000, 2)) + np.array([1.5, 1.0]) * y[:, None]
    by_default = StackingRanker(columns_of(0, 1), cv=3).fit(rows, y)
    push = PNormPush(1.0, alpha=1e-2, positive=True)
    assert (
        by_default.weights_
        == StackingRanker(columns_of(0, 1), final_estimator=push, cv=3).fit(rows, y).weights_
    )
    assert by_default.final_ == "P-Norm Push, p = 1"
    mean = StackingRanker(columns_of(0, 1), final_estimator="mean", cv=3).fit(rows, y)
    assert (mean.final_, mean.weights_) == ("mean", {"column 0": 0.5, "column 1": 0.5})


@pytest.mark.parametrize(("n_positives", "share"), [(2, 625 / 626), (20, 25 / 29), (50, 0.5), (1000, 0.0)])
def test_few_positives_leave_equal_weights_to_linear_members(n_positives, share):
    is_positive, linear = np.arange(1200) < n_positives, [True, True, False, False]
    part = Columns(np.empty((1200, 4)), is_positive, None, linear)
    learnt = np.array([0.0, 0.0, 1.0, 1.0])
    found, of_linear = shrink_to_equal(learnt, part)
    expected = (1 - share) * np.array([0, 0, 0.5, 0.5]) + share * np.array([0.5, 0.5, 0, 0])
    np.testing.assert_allclose(found, expected, atol=3e-3)
    assert of_linear == pytest.approx(share, abs=3e-3)
    # Without a linear member all have the prior, and where noise alone was found it is all that is left.
    of_all, _ = shrink_to_equal(learnt, part._replace(linear=[False] * 4))
    np.testing.assert_allclose(of_all, (1 - share) * np.array([0, 0, 0.5, 0.5]) + share / 4, atol=3e-3)
    assert shrink_to_equal(np.zeros(4), part)[0].tolist() == [0.5, 0.5, 0.0, 0.0]
    # A positive of weight two counts as two.
    half = np.arange(1200) < n_positives // 2
    assert (
        shrink_to_equal(learnt, part._replace(is_positive=half, weights=np.full(1200, 2.0)))[1] == of_linear
    )


def test_a_list_of_few_positives_keeps_its_linear_member():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), np.zeros(400, dtype=bool)
    y[np.argsort(-(X @ [1.0, 1.0, 1.0, 1.0] + rng.normal(size=400)))[:24]] = True
    members = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    ranker = StackingRanker(members, random_state=0).fit(X, y)
    assert ranker.weights_["line"] >= 1.0 / (1.0 + (24 / 50) ** 2)


def test_few_positives_that_linear_members_do_not_find_are_left_to_others():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 3)), np.zeros(1500, dtype=bool)
    y[np.argsort(-np.abs(X).sum(axis=1))[:30]] = True
    members = [("line", LogisticRegression()), ("forest", ExtraTreesClassifier(50, random_state=0))]
    ranker = StackingRanker(members, random_state=0).fit(X, y)
    assert ranker.weights_ == {"line": 0.0, "forest": 1.0}
    assert "linear members" not in ranker.final_


def test_what_says_more_together_is_put_together():
    """Each column sees another half of the positives; the sum sees all."""
    rng = np.random.default_rng(0)
    y = rng.random(6000) < 0.3
    rows = rng.normal(size=(6000, 2))
    rows += 1.2 * y[:, None]
    ranker = StackingRanker(columns_of(0, 1)).fit(rows, y)
    assert min(ranker.weights_.values()) > 0.3
    kept = StackingRanker(columns_of(0)).fit(rows, y)
    assert list(kept.weights_.values()) == [1.0]


def test_frames_with_text_and_gaps_reach_the_members():
    frame = pd.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])])
    frame.loc[::7, "x3"] = np.nan
    frame["word"] = np.where(X[:, 4] > 0, "blue", "red")
    words = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer((words, ["word"]), remainder=SimpleImputer())
    models = {"linear": LogisticRegression(), "forest": RandomForestClassifier(10)}
    members = [(name, make_pipeline(columns, model)) for name, model in models.items()]
    ranker = StackingRanker(members, final_estimator="mean", cv=3, random_state=0).fit(frame, Y)
    assert metrics.auc(Y, ranker.decision_function(frame)) > 0.85
    assert ranker.feature_names_in_.tolist() == list(frame)


def test_parameters_of_members_are_searched():
    # A copy, for the parameters are set on the members themselves.
    ranker = clone(StackingRanker(MEMBERS, cv=2, random_state=0))
    ranker.set_params(trees__n_estimators=5, linear="drop")
    assert ranker.get_params()["trees"].n_estimators == 5
    assert list(ranker.fit(X, Y).weights_) == ["stumps", "trees"]
    grid = {"final_estimator": [PNormPush(4, positive=True), "mean"], "stumps__n_estimators": [3, 15]}
    search = GridSearchCV(StackingRanker(MEMBERS[:2], cv=2), grid, cv=2, scoring="average_precision")
    assert search.fit(X, Y).best_score_ > 0.6


def test_seeds_make_fits_alike_whatever_the_number_of_jobs():
    first, second = (
        StackingRanker(MEMBERS, final_estimator="mean", cv=2, n_jobs=jobs, random_state=3).fit(X, Y)
        for jobs in (None, 2)
    )
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    other = StackingRanker(MEMBERS, final_estimator="mean", cv=2, random_state=4).fit(X, Y)
    assert (first.decision_function(X) != other.decision_function(X)).any()


def test_refitted_members_score_rows_to_come():
    ranker = StackingRanker(MEMBERS[:2], final_estimator="mean", cv=3, refit=True).fit(X, Y)
    assert [len(models) for models in ranker.named_estimators_.values()] == [1, 1]
    whole, (refitted,) = clone(MEMBERS[0][1]).fit(X, Y), ranker.named_estimators_["linear"]
    np.testing.assert_allclose(refitted.decision_function(X), whole.decision_function(X))


def test_by_time_columns_come_from_the_past_alone():
    time = np.arange(len(Y))
    members = [*columns_of(0, 1), ("stumps", PushBoost(n_estimators=5))]
    ranker = StackingRanker(members, final_estimator="mean", cv=3).fit(X, Y, time=time)
    assert all(len(models) == 1 for models in ranker.named_estimators_.values())
    tested = np.concatenate([test for _, test in TimeSplit(3).split(X, time=time)])
    expected = Scale.of(X[tested, 0], Y[tested] == 1, np.ones(len(tested)))(X[:, 0])
    np.testing.assert_allclose(ranker.transform(X)[:, 0], expected)


def test_a_single_part_in_time_teaches_weights_too():
    for final, name in (("mean", "mean"), (None, "P-Norm Push, p = 1")):
        ranker = StackingRanker(MEMBERS[:2], cv=1, final_estimator=final).fit(X, Y, time=np.arange(len(Y)))
        assert ranker.final_.startswith(name)


def test_groups_stay_together():
    groups = np.repeat(np.arange(40), 10)

    class Watching(Fixed):
        def fit(self, X, y):
            seen.append(set(groups[X[:, -1].astype(int)]))
            return super().fit(X, y)

    seen = []
    rows = np.column_stack([X, np.arange(len(Y))])
    ranker = StackingRanker([("one", Watching())], final_estimator="mean", cv=GroupKFold(4))
    ranker.fit(rows, Y, groups=groups)
    assert [len(of_fit) for of_fit in seen] == [30] * 4


def test_weights_reach_the_members_under_metadata_routing_too():
    weights = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
    members = [("linear", LogisticRegression()), ("stumps", PushBoost(n_estimators=5))]
    plain = StackingRanker(members, final_estimator="mean", cv=2).fit(X, Y, weights)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = [(name, clone(member).set_fit_request(sample_weight=True)) for name, member in members]
        routed = StackingRanker(asking, final_estimator="mean", cv=2).fit(X, Y, weights)
    np.testing.assert_array_equal(plain.decision_function(X), routed.decision_function(X))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_are_asked_for_by_name(method):
    ranker = StackingRanker(MEMBERS[:2], final_estimator="mean", cv=3, calibration=method).fit(X, Y)
    shares = ranker.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert abs(shares[:, 1].mean() - Y.mean()) < 0.05
    order = np.argsort(ranker.decision_function(X))
    assert (np.diff(shares[order, 1]) >= 0.0).all()
    with pytest.raises(AttributeError, match="calibration='sigmoid'"):
        StackingRanker(MEMBERS[:2]).predict_proba  # noqa: B018


def test_a_saved_ranker_scores_to_the_last_bit(tmp_path):
    boosters = {
        "forest": RandomForestClassifier(5),
        "boosting": HistGradientBoostingClassifier(max_iter=3),
        "lightgbm": LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1),
        "xgboost": XGBClassifier(n_estimators=5, n_jobs=1),
    }
    members = [*MEMBERS, *boosters.items()]
    ranker = StackingRanker(members, final_estimator="mean", cv=2, random_state=0, calibration="isotonic")
    ranker.fit(X, Y)
    save(ranker, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.decision_function(X), ranker.decision_function(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), ranker.predict_proba(X))
    assert loaded.weights_ == ranker.weights_


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (Fixed(fault="raises"), "'odd' failed in fold 0: out of luck"),
        (Fixed(fault="nan"), "'odd' failed in fold 0: Fixed scores a row nan"),
        (Fixed(fault="table"), "'odd' failed in fold 0: Fixed must give a score for each of"),
        (Fixed(fault="short"), "'odd' failed in fold 0: Fixed must give a score for each of"),
        (StandardScaler(), "'odd', StandardScaler, needs fit, and decision_function or predict_proba"),
        (LogisticRegression, "the member 'odd' cannot be copied: Cannot clone object"),
        (None, "the member 'odd' cannot be copied: Cannot clone object"),
        ("passthrough", "the member 'odd' cannot be copied: Cannot clone object"),
    ],
)
def test_a_member_that_fails_is_named(member, message):
    with pytest.raises((ValueError, TypeError), match=message):
        StackingRanker([*MEMBERS[:1], ("odd", member)], final_estimator="mean").fit(X, Y)


def test_members_that_ignore_weights_or_score_rows_alike_are_named():
    with pytest.raises(TypeError, match=r"'near' cannot be fitted .*: KNeighborsClassifier takes no sample"):
        StackingRanker([("near", KNeighborsClassifier())]).fit(X, Y, np.ones(len(Y)))
    members, final = [*MEMBERS[:1], ("odd", Fixed(fault="alike"))], PNormPush(4, positive=True)
    with pytest.warns(UserWarning, match="odd scores all rows equally"):
        ranker = StackingRanker(members, final_estimator=final).fit(X, Y)
    assert ranker.weights_["odd"] == 0.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimators": "linear"}, "list of pairs"),
        ({"estimators": []}, "at least one member"),
        ({"estimators": [*MEMBERS[:1], *MEMBERS[:1]]}, "not unique"),
        ({"estimators": [("cv", LogisticRegression())]}, "conflict with constructor arguments"),
        ({"final_estimator": "median"}, "final_estimator must be None, .mean. or"),
        ({"final_estimator": LogisticRegression()}, "linear ranker of pushrank"),
        ({"final_estimator": RankSVM(kernel="rbf")}, "has no coef_"),
        ({"calibration": "platt"}, "calibration must be one of"),
        ({"cv": RepeatedStratifiedKFold(n_splits=2, n_repeats=2)}, "holds a row out 2 times"),
    ],
)
def test_parameters_out_of_range(params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        StackingRanker(**{"estimators": MEMBERS[:1], "cv": 2} | params).fit(X, Y)


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_one_class_in_a_fold():
    rare = np.zeros(len(Y), dtype=int)
    rare[:3] = 1
    with pytest.raises(ValueError, match="one class only"):
        StackingRanker(MEMBERS[:1], cv=StratifiedKFold(5)).fit(X, rare)


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from estimators.test_stacking import MEMBERS, X, Y
from pushrank import StackingRanker
ranker = StackingRanker(MEMBERS, final_estimator="mean", cv=4, random_state=0, cache_dir={folder!r})
print("ready", flush=True)
ranker.fit(X, Y)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_a_killed_fit_goes_on_from_what_is_on_disk(tmp_path):
    unbroken = StackingRanker(MEMBERS, final_estimator="mean", cv=4, random_state=0).fit(X, Y)
    folder = tmp_path / "fits"
    script = KILLED.format(tests=str(Path(__file__).parents[1]), folder=str(folder))
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        while process.poll() is None and len(list(folder.glob("[!.]*.joblib"))) < 3:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("[!.]*.joblib")}
    assert 3 <= len(kept) <= 12
    resumed = clone(unbroken).set_params(cache_dir=str(folder)).fit(X, Y)
    np.testing.assert_array_equal(resumed.decision_function(X), unbroken.decision_function(X))
    assert all(path.stat().st_mtime_ns == written for path, written in kept.items())
    assert len(list(folder.glob("[!.]*.joblib"))) == 12


def test_rows_of_weight_zero_say_nothing_of_a_scale():
    """A member that scores all weighted rows alike adds nothing, whatever it gives to the others."""
    rows, weights = X.copy(), (X[:, 5] > 0.0).astype(float)
    rows[weights > 0.0, 1] = 0.0

    class Weighted(Fixed):
        def fit(self, X, y, sample_weight=None):  # noqa: ARG002
            return super().fit(X, y)

    members = [("good", Weighted(0)), ("alike", Weighted(1))]
    with pytest.warns(UserWarning, match="alike scores all rows equally"):
        ranker = StackingRanker(members, final_estimator="mean", cv=2).fit(rows, Y, weights)
    assert np.isfinite(ranker.decision_function(X)).all()
    assert np.ptp(ranker.transform(X)[:, 1]) == 0.0


def test_a_row_scores_alike_alone_and_among_others():
    ranker = StackingRanker([("stumps", PushBoost(n_estimators=5))], final_estimator="mean", cv=10)
    scores = ranker.fit(X, Y).decision_function(X)
    np.testing.assert_array_equal([ranker.decision_function(row[None])[0] for row in X[:50]], scores[:50])


class Counted(StandardScaler):
    """A step that counts how often it is asked."""

    asked = 0

    def transform(self, X, copy=None):
        Counted.asked += 1
        return super().transform(X, copy)


def test_members_of_equal_steps_share_what_these_make_of_rows():
    forest = RandomForestClassifier(9, random_state=0)
    members = {"linear": LogisticRegression(), "push": PNormPush(4), "forest": forest}
    members = [(name, make_pipeline(Counted(), member)) for name, member in members.items()]
    members.append(("other", make_pipeline(Counted(with_mean=False), LogisticRegression())))
    stack = StackingRanker(members, final_estimator="mean", refit=True, cv=3).fit(X, Y)
    for rows in (X[:1], X[:9]):
        alone = [raw_scores(model, rows) for [model] in stack.named_estimators_.values()]
        Counted.asked = 0
        assert np.array_equal(stack.decision_function(rows), stack._combination(alone) - stack.threshold_)
        assert Counted.asked == 2


def test_a_forest_scores_few_rows_as_many():
    for forest in (
        ExtraTreesClassifier(30, max_depth=5),
        RandomForestClassifier(30, class_weight="balanced"),
    ):
        forest.fit(X, Y)
        few = np.concatenate([raw_scores(forest, X[start : start + 40]) for start in range(0, len(X), 40)])
        assert np.array_equal(few, raw_scores(forest, X))
        assert np.array_equal(model_scores(forest, X), forest.predict_proba(X)[:, 1])


def test_folds_may_be_masks():
    rows = np.arange(len(Y))
    first = rows % 2 == 0
    masks, numbers = [(first, ~first), (~first, first)], [(rows[::2], rows[1::2]), (rows[1::2], rows[::2])]
    ranker, other = (
        StackingRanker(MEMBERS[:2], final_estimator="mean", cv=cv).fit(X, Y) for cv in (masks, numbers)
    )
    np.testing.assert_array_equal(ranker.decision_function(X), other.decision_function(X))
    with pytest.raises(ValueError, match="fold 0 of cv both learns from row 0 and holds it out"):
        StackingRanker(MEMBERS[:2], cv=[(rows, rows[first]), (rows, rows[~first])]).fit(X, Y)


def test_members_need_no_tags():
    class Untagged:
        """Like boosters of other libraries, an estimator by its methods alone."""

        def get_params(self, deep=True):  # noqa: ARG002
            return {}

        def fit(self, X, y):  # noqa: ARG002
            return self

        def predict_proba(self, X):
            share = 1.0 / (1.0 + np.exp(-X[:, 0]))
            return np.column_stack([1.0 - share, share]).astype(np.float32)

    members = [("stumps", PushBoost(n_estimators=5)), ("untagged", Untagged())]
    ranker = StackingRanker(members, final_estimator="mean", cv=2).fit(X, Y)
    assert metrics.auc(Y, ranker.decision_function(X)) > 0.75


def test_members_of_an_unfitted_ranker():
    with pytest.raises(NotFittedError):
        StackingRanker(MEMBERS).named_estimators_  # noqa: B018


def test_a_damaged_file_and_a_member_that_cannot_be_kept_are_named(tmp_path):
    ranker = StackingRanker(MEMBERS[:1], final_estimator="mean", cv=2, cache_dir=tmp_path).fit(X, Y)
    kept = sorted(tmp_path.glob("*.joblib"))
    assert len(kept) == 2
    kept[0].write_bytes(kept[0].read_bytes()[:100])
    with pytest.raises(ValueError, match=f"{kept[0].name} in cache_dir cannot be read .* delete it"):
        ranker.fit(X, Y)
    unnamed = make_pipeline(FunctionTransformer(lambda rows: rows), LogisticRegression())
    with pytest.raises(ValueError, match="the member 'unnamed' cannot be kept in cache_dir"):
        StackingRanker([("unnamed", unnamed)], cv=2, cache_dir=tmp_path).fit(X, Y)


def test_a_bar_shows_the_time_left(capsys):
    StackingRanker(MEMBERS[:1], final_estimator="mean", cv=2, verbose=True).fit(X, Y)
    assert re.search(r"StackingRanker .*2/2.*0:00:00.*left", capsys.readouterr().err)


def test_many_copies_of_a_model_are_not_small_together():
    kept = without_small(np.r_[6.0, np.full(10, 0.5), 0.3, 0.2])
    # A tenth of the sum is left out: the smallest two and one of the copies.
    assert kept.tolist() == [6.0, 0.0, *[0.5] * 9, 0.0, 0.0]


def test_the_seed_is_that_of_the_final_too():
    ranker = StackingRanker(MEMBERS[:2], final_estimator=PerceptronAtK(), cv=2, random_state=1)
    assert clone(ranker).fit(X, Y).weights_ == ranker.fit(X, Y).weights_


class Scaled(LogisticRegression):
    """Logistic regression whose scores are multiplied by a number."""

    def __init__(self, by=1.0):
        super().__init__()
        self.by = by

    def decision_function(self, X):
        return self.by * super().decision_function(X)


@pytest.mark.parametrize("by", [1e307, 1e200, 1e-200, 1e-300, 1e-320])
def test_a_member_of_huge_or_tiny_scores_is_named(by):
    for final in ("mean", None):
        members = [("plain", LogisticRegression()), ("odd", Scaled(by))]
        with pytest.raises(ValueError, match=r"the member 'odd' scores rows from -\d.* to \d.*: multiply"):
            StackingRanker(members, final_estimator=final, cv=2).fit(X, Y)
    with pytest.raises(ValueError, match="the member 'odd' scores rows from"):
        compare_rankers(dict(members), X, Y, cv=2, together=True)
    # Scores of other sizes have the order of the plain ones.
    fitted = StackingRanker([("odd", Scaled(1e150)), ("tiny", Scaled(1e-150))], final_estimator="mean", cv=2)
    assert metrics.auc(Y, fitted.fit(X, Y).decision_function(X)) > 0.7


def test_the_scale_of_many_rows_comes_from_evenly_spaced_ones_of_either_class(monkeypatch):
    y = np.arange(400_000) % 4 == 0  # every fourth row alone would be of one class
    scores, weights = y + np.random.default_rng(0).normal(size=len(y)), np.ones(len(y))
    spaced = Scale.of(scores, y, weights)
    monkeypatch.setattr("pushrank.estimators._combination.ENOUGH_ROWS", len(y) + 1)
    exact = Scale.of(scores, y, weights)
    assert spaced != exact
    np.testing.assert_allclose(spaced(scores[:100]), exact(scores[:100]), atol=0.02)
