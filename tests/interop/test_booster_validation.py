"""Rows of one's own that a booster is validated on, its callbacks, and what it makes of few rows."""

import subprocess
import sys

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone

from pushrank import metrics
from pushrank.interop.lightgbm import PushLGBMRanker
from pushrank.interop.xgboost import PushXGBRanker

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat([0, 0, 1], 60))
X = RNG.normal(size=(180, 4)) + 0.8 * Y[:, None] * (RNG.random((180, 1)) < 0.7)
LATER_Y = RNG.permutation(np.repeat([0, 0, 1], 40))
LATER = RNG.normal(size=(120, 4)) + 0.8 * LATER_Y[:, None] * (RNG.random((120, 1)) < 0.7)

SMALL = {"n_estimators": 30, "n_jobs": 1, "random_state": 0}
LGBM = PushLGBMRanker(num_leaves=7, min_child_samples=5, **SMALL)
XGB = PushXGBRanker(max_depth=3, **SMALL)
BOTH = pytest.mark.parametrize("ranker", [LGBM, XGB], ids=["lightgbm", "xgboost"])


@BOTH
@pytest.mark.parametrize("p", [4.0, "binary"])
def test_rows_of_ones_own_are_scored_after_every_round(ranker, p):
    names = np.array(["no", "yes"])
    fitted = clone(ranker).set_params(p=p).fit(X, names[Y], eval_set=[(LATER, names[LATER_Y]), (X, names[Y])])
    for number, (rows, y) in enumerate([(LATER, LATER_Y), (X, Y)]):
        stages = [metrics.average_precision(y, s) for s in fitted.staged_decision_function(rows)]
        np.testing.assert_allclose(fitted.evals_result_[f"valid_{number}"]["score"], stages, rtol=1e-6)
    # They are looked at, and change nothing.
    alone = clone(ranker).set_params(p=p).fit(X, names[Y])
    np.testing.assert_array_equal(fitted.decision_function(LATER), alone.decision_function(LATER))
    assert alone.evals_result_ == {}


@BOTH
def test_early_stopping_takes_the_given_rows_and_all_others_to_train_on(ranker):
    stopped = clone(ranker).set_params(early_stopping=True, n_iter_no_change=3)
    stopped.fit(X, Y, eval_set=(LATER, LATER_Y))
    path = stopped.evals_result_["valid_0"]["score"]
    assert stopped.best_round_ == 1 + int(np.argmax(path)) < 30
    np.testing.assert_array_equal(stopped.validation_path_, path)
    all_rows = clone(ranker).set_params(n_estimators=stopped.best_round_).fit(X, Y)
    np.testing.assert_array_equal(stopped.decision_function(X), all_rows.decision_function(X))


@BOTH
def test_callbacks_of_the_library_stop_as_early_stopping_does(ranker):
    of_xgboost = xgboost.callback.EarlyStopping(rounds=3)
    stop = lightgbm.early_stopping(3, verbose=False) if ranker is LGBM else of_xgboost
    own = clone(ranker).fit(X, Y, eval_set=[(LATER, LATER_Y)], callbacks=[stop])
    ours = clone(ranker).set_params(early_stopping=True, n_iter_no_change=3)
    ours.fit(X, Y, eval_set=[(LATER, LATER_Y)])
    assert own.best_round_ == ours.best_round_ < 30
    np.testing.assert_array_equal(own.decision_function(X), ours.decision_function(X))


@BOTH
def test_weights_of_given_rows_are_copies_of_them(ranker):
    times = RNG.integers(0, 4, len(LATER_Y))
    weighted = clone(ranker).fit(X, Y, eval_set=[(LATER, LATER_Y)], eval_sample_weight=[times])
    copies = clone(ranker).fit(X, Y, eval_set=[(np.repeat(LATER, times, axis=0), np.repeat(LATER_Y, times))])
    np.testing.assert_allclose(
        weighted.evals_result_["valid_0"]["score"], copies.evals_result_["valid_0"]["score"], rtol=1e-12
    )


@BOTH
def test_frames_grades_and_groups_are_validated_on(ranker):
    frame, later = (pd.DataFrame(part, columns=list("abcd")) for part in (X, LATER))
    grades, later_grades = Y * 1.5 + (X[:, 0] > 0), LATER_Y * 1.5
    fitted = clone(ranker).set_params(scoring="average_precision")
    later_rows = {"eval_set": [(later, later_grades)], "eval_qid": [np.arange(120) // 40]}
    fitted.fit(frame, grades, qid=np.arange(180) // 30, **later_rows)
    assert len(fitted.evals_result_["valid_0"]["score"]) == 30


@BOTH
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eval_set": [(LATER, LATER_Y + 5)]}, r"eval_set\[0\] holds the labels \[5, 6\].*fit has \[0, 1\]"),
        ({"eval_set": [(LATER, LATER_Y[:-1])]}, "inconsistent numbers of samples"),
        ({"eval_set": [(LATER[:, :2], LATER_Y)]}, "2 features"),
        ({"eval_set": [LATER]}, r"eval_set must be a list of \(X, y\)"),
        ({"eval_set": [(LATER, LATER_Y)], "eval_sample_weight": [None, None]}, "sample_weight has 2 entries"),
        ({"eval_sample_weight": [None]}, "eval_sample_weight has 1 entries for 0"),
    ],
)
def test_bad_rows_to_validate_on_are_refused(ranker, options, message):
    with pytest.raises(ValueError, match=message):
        clone(ranker).fit(X, Y, **options)


@BOTH
@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_scorer_that_is_not_known_is_refused(ranker, early_stopping):
    with pytest.raises(ValueError, match=r"scoring='aucc' is not known; use one of .*'auc'"):
        clone(ranker).set_params(scoring="aucc", early_stopping=early_stopping).fit(X, Y)


@BOTH
def test_rounds_of_early_stopping_are_named_as_here(ranker):
    with pytest.raises(ValueError, match=r"early_stopping=True, n_iter_no_change=20"):
        clone(ranker).set_params(early_stopping_rounds=20).fit(X, Y)


def test_lightgbm_learns_from_few_rows_and_keeps_its_limit_with_many():
    few = PushLGBMRanker(n_jobs=1).fit(X[:30], Y[:30])
    assert metrics.auc(Y[:30], few.decision_function(X[:30])) > 0.9
    for given in ({}, {"min_child_samples": 20}, {"min_data_in_leaf": 20}):
        many = PushLGBMRanker(n_jobs=1, **given).fit(np.tile(X, (3, 1)), np.tile(Y, 3))
        assert "[min_data_in_leaf: 20]" in many.booster_.model_to_string()
    with pytest.raises(ValueError, match="no split of the 30 training rows"):
        PushLGBMRanker(n_jobs=1, min_child_samples=20).fit(X[:30], Y[:30])


def test_xgboost_learns_from_two_positives_and_keeps_its_limit_with_many():
    rows = np.r_[np.flatnonzero(Y == 1)[:2], np.flatnonzero(Y == 0)[:46]]
    few = PushXGBRanker("binary", n_jobs=1).fit(X[rows], Y[rows])
    assert metrics.auc(Y[rows], few.decision_function(X[rows])) > 0.9
    for given, kept in (({}, "1"), ({"min_child_weight": 3}, "3")):
        many = PushXGBRanker("binary", n_jobs=1, **given).fit(X, Y)
        assert f'"min_child_weight":"{kept}"' in many.booster_.save_config()
    with pytest.raises(ValueError, match="no split of the 48 training rows"):
        PushXGBRanker("binary", n_jobs=1, min_child_weight=1).fit(X[rows], Y[rows])


def test_a_library_that_cannot_be_loaded_is_named_and_ends_nothing_else(tmp_path):
    package = tmp_path / "lightgbm"
    package.mkdir()
    (package / "__init__.py").write_text("raise OSError('libgomp.so.1: cannot open shared object file')")
    code = (
        "from pushrank.cli.model import make_model\n"
        "print(make_model('pnorm-push'))\n"
        "import pushrank.interop.lightgbm"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "PNormPush" in done.stdout, done.stderr
    assert "Warning" not in done.stderr
    assert "ImportError: lightgbm is installed, and cannot be loaded: libgomp.so.1" in done.stderr
