"""The loop that fits models to parts of rows: how many threads a fit has, what it keeps, what it hands on."""

import io
import os
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import version

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: F401  # it loads OpenMP
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from pushrank import PNormPush, StackingRanker
from pushrank.held_out import Rows, fit_parts, fits


class Recorder(BaseEstimator):
    """A model that keeps how many threads the libraries may use while it is fitted, and warns."""

    def fit(self, X, y):  # noqa: ARG002
        self.threads_ = {pool["user_api"]: pool["num_threads"] for pool in threadpool_info()}
        warnings.warn("few rows", UserWarning, stacklevel=1)
        return self

    def decision_function(self, X):
        return X[:, 0]


def rows(n=40):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return Rows.checked(rng.normal(size=(n, 3)) + y[:, None], y)


def halves(table):
    first, second = np.arange(20), np.arange(20, 40)
    return [(table.part(first), [table.part(second)]), (table.part(second), [table.part(first)])]


def threads():
    return {pool["user_api"]: pool["num_threads"] for pool in threadpool_info()}


@pytest.mark.parametrize("few", [True, False])
def test_few_rows_are_fitted_on_one_thread_and_many_on_those_that_there_are(few, monkeypatch):
    monkeypatch.setattr(fits, "MIN_ROWS_OF_THREADS", 21 if few else 20)
    with threadpool_limits(3):
        before = threads()
        [fit, _] = fit_parts({"recorder": Recorder()}, halves(rows()), keep=True)
        assert threads() == before
    assert fit.model.threads_["openmp"] == (1 if few else 3)
    # Sums of one thread of BLAS have one order.
    assert fit.model.threads_["blas"] == 1


def test_a_fit_brings_its_scores_its_warnings_and_what_was_asked_of_it():
    table = rows()
    models = {"push": PNormPush(4), "recorder": Recorder()}
    done = list(
        fit_parts(models, halves(table), look=lambda model, tests: (type(model).__name__, len(tests)))
    )
    # The last model is fitted first.
    expected = [("recorder", 0), ("push", 0), ("recorder", 1), ("push", 1)]
    assert [(fit.name, fit.number) for fit in done] == expected
    assert done[0].seen == ("Recorder", 1)
    assert str(done[0].warned[0][0]) == "few rows"
    assert done[0].model is None
    alone = PNormPush(4).fit(table.X[:20], table.y[:20]).decision_function(table.X[20:])
    np.testing.assert_array_equal(done[1].scores[0], alone)
    with pytest.warns(UserWarning, match="few rows"):
        list(fit_parts({"recorder": Recorder()}, halves(table), record=False))


def test_pipelines_that_hold_the_same_transformer_share_its_output():
    class Counted(StandardScaler):
        n_fits = 0

        def fit(self, X, y=None, sample_weight=None):
            type(self).n_fits += 1
            return super().fit(X, y, sample_weight)

    table, scaler = rows(), Counted()
    models = {"a": make_pipeline(scaler, LogisticRegression()), "b": make_pipeline(scaler, PNormPush(4))}
    done = list(fit_parts(models, halves(table), keep=True))
    assert Counted.n_fits == 2
    # What is kept is the whole pipeline.
    np.testing.assert_allclose(done[0].model.decision_function(table.X[20:]), done[0].scores[0])


def test_kept_fits_are_read_again_and_broken_files_are_said(tmp_path):
    table, models = rows(), {"push": PNormPush(4)}
    path_of = lambda name, number: tmp_path / f"{name}{number}.joblib"  # noqa: E731
    first = [fit.scores[0] for fit in fit_parts(models, halves(table), path_of=path_of, keep=True)]
    never = {"push": PNormPush(p=-1.0)}  # it is not fitted again, or it would raise
    again = [fit.scores[0] for fit in fit_parts(never, halves(table), path_of=path_of, keep=True)]
    np.testing.assert_array_equal(first, again)
    whole = path_of("push", 0).read_bytes()
    for broken in (b"broken", path_of("push", 1).read_bytes()):
        path_of("push", 0).write_bytes(broken)
        with pytest.raises(ValueError, match=r"push0.* in cache_dir cannot be read"):
            list(fit_parts(models, halves(table), path_of=path_of))
    for foreign in ({"x": 1}, (1, 2, 3, 4, 5, 6), joblib.load(io.BytesIO(whole))[1:]):
        joblib.dump(foreign, path_of("push", 0))
        with pytest.raises(ValueError, match=r"push0.* in cache_dir cannot be read"):
            list(fit_parts(models, halves(table), path_of=path_of))


def test_a_key_is_the_same_in_every_process_and_another_for_other_parameters():
    ask = """if True:
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler
    from pushrank import PNormPush, PushBoost
    from pushrank.held_out import Rows, fits
    import numpy as np
    rows = Rows.checked(np.arange(12.0).reshape(6, 2), np.arange(6) % 2)
    models = {
        "push": make_pipeline(StandardScaler(), PNormPush(4)),
        "other": make_pipeline(StandardScaler(), PNormPush(8)),
        "boost": PushBoost(random_state=np.random.RandomState(0)), "trees": ExtraTreesClassifier(),
        "function": FunctionTransformer(np.log1p, kw_args={"where": {"b", "a", "c"}}),
    }
    path_of = fits.kept_in(FOLDER, rows, models, [(0, 1)])
    print(*(path_of(name, 0).name for name in models))
    """
    found = set()
    for seed in "12":
        env = {**os.environ, "PYTHONHASHSEED": seed}
        with tempfile.TemporaryDirectory() as folder:
            code = ask.replace("FOLDER", repr(folder))
            found.add(subprocess.check_output([sys.executable, "-c", code], env=env, text=True))
    [names] = found
    assert len(set(names.split())) == 5


def test_kept_fits_serve_models_of_other_names_and_parts_in_another_order(tmp_path):
    table = rows(36)
    folds = list(KFold(3).split(table.X))
    for names, cv in (("ab", folds), ("ba", folds), ("cd", folds[::-1])):
        members = [(names[0], PNormPush()), (names[1], LogisticRegression()), ("same", PNormPush())]
        stacks = [StackingRanker(members, cv=cv, cache_dir=folder) for folder in (tmp_path, None)]
        kept, alone = (stack.fit(table.X, table.y) for stack in stacks)
        assert kept.weights_ == alone.weights_
        np.testing.assert_array_equal(kept.held_out_scores_, alone.held_out_scores_)


def test_a_fit_is_kept_for_the_versions_that_made_it_and_partial_files_go(tmp_path, monkeypatch):
    def name():
        return fits.kept_in(tmp_path, rows(), {"push": PNormPush(4)}, [(0, 1)])("push", 0).name

    first = name()
    for package in ("numpy", "lightgbm", "xgboost", "pushrank"):
        with monkeypatch.context() as patch:
            patch.setattr(fits, "version", lambda of, new=package: "9" if of == new else version(of))
            assert name() != first
    assert name() == first
    old, new = tmp_path / ".a.joblib.x.partial.joblib", tmp_path / ".b.joblib.y.partial.joblib"
    old.touch()
    os.utime(old, (0, 0))
    new.touch()
    assert name() == first
    assert not old.exists()
    assert new.exists()
