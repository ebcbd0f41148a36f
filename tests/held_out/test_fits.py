"""The loop that fits models to parts of rows: how many threads a fit has, what it keeps, what it hands on."""

import os
import sys
import warnings
from importlib.metadata import version
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: F401  # it loads OpenMP
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from pushrank import PNormPush
from pushrank.held_out import Rows, fingerprint, fit_parts, fits


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
    models = {"recorder": Recorder(), "push": PNormPush(4)}
    done = list(
        fit_parts(models, halves(table), look=lambda model, tests: (type(model).__name__, len(tests)))
    )
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
    path_of("push", 0).write_bytes(b"broken")
    with pytest.raises(ValueError, match="in cache_dir cannot be read"):
        list(fit_parts(models, halves(table), path_of=path_of))


MEMBER = """
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
import helpers

class Base(BaseEstimator):
    sign = 1.0

    def decision_function(self, X):
        return self.sign * X @ self.coef_

def scaled(X):
    return helpers.of(X) * FACTOR

def doubled(X):
    return 2.0 * X

FACTOR = 1.0

CALLS = 0

class Mine(Base):
    n_fits = 0

    def fit(self, X, y):
        global CALLS
        CALLS += 1
        type(self).n_fits += 1
        self.coef_ = scaled(X)[y == 1].mean(axis=0)
        return self

MODELS = {"class": Mine(), "function": make_pipeline(FunctionTransformer(doubled), LogisticRegression())}
"""
HELPERS = "SHIFT = 0.0\n\ndef of(X):\n    return X - SHIFT\n\ndef other(X):\n    return X\n"


def names_of_kept(folder, monkeypatch, member=MEMBER, helpers=HELPERS):
    for name, source in (("helpers", helpers), ("mine", member)):
        module = ModuleType(name)
        module.__file__ = str(folder / f"{name}.py")
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(source, module.__file__, "exec"), vars(module))  # noqa: S102
    path_of = fits.kept_in(folder, rows(), module.MODELS, [(0, 1)])
    return [path_of(name, 0).name for name in module.MODELS]


def test_a_fit_is_kept_for_the_code_that_made_it(tmp_path, monkeypatch):
    first = names_of_kept(tmp_path, monkeypatch)
    mine = sys.modules["mine"]
    mine.Mine().fit(np.eye(2), np.arange(2))
    again = fits.kept_in(tmp_path, rows(), mine.MODELS, [(0, 1)])
    assert [again(name, 0).name for name in mine.MODELS] == first == names_of_kept(tmp_path, monkeypatch)
    for edited, changed in (
        (("\n# Moved, with a comment.\n" + MEMBER, HELPERS), [False, False]),
        ((MEMBER, HELPERS.replace("return X\n", "return 2 * X\n")), [False, False]),
        ((MEMBER.replace("y == 1", "y == 0"), HELPERS), [True, False]),
        ((MEMBER.replace("sign = 1.0", "sign = -1.0"), HELPERS), [True, False]),
        ((MEMBER.replace("self.sign * X", "X"), HELPERS), [True, False]),
        ((MEMBER.replace("FACTOR = 1.0", "FACTOR = 2.0"), HELPERS), [True, False]),
        ((MEMBER.replace("of(X) * FACTOR", "of(X) / FACTOR"), HELPERS), [True, False]),
        ((MEMBER, HELPERS.replace("X - SHIFT", "X + SHIFT")), [True, False]),
        ((MEMBER, HELPERS.replace("SHIFT = 0.0", "SHIFT = 1.0")), [True, False]),
        ((MEMBER.replace("2.0 * X", "3.0 * X"), HELPERS), [False, True]),
    ):
        assert [
            a != b for a, b in zip(first, names_of_kept(tmp_path, monkeypatch, *edited), strict=True)
        ] == changed


def test_a_fit_is_kept_for_the_versions_that_made_it_and_partial_files_go(tmp_path, monkeypatch):
    def name():
        return fits.kept_in(tmp_path, rows(), {"push": PNormPush(4)}, [(0, 1)])("push", 0).name

    first = name()
    for package in ("numpy", "lightgbm", "xgboost", "pushrank"):
        with monkeypatch.context() as patch:
            patch.setattr(fingerprint, "version", lambda of, new=package: "9" if of == new else version(of))
            assert name() != first
    assert name() == first
    old, new = tmp_path / ".a.joblib.x.partial.joblib", tmp_path / ".b.joblib.y.partial.joblib"
    old.touch()
    os.utime(old, (0, 0))
    new.touch()
    assert name() == first
    assert not old.exists()
    assert new.exists()
