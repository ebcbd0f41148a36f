"""The loop that fits models to parts of rows: how many threads a fit has, what it keeps, what it hands on."""

import io
import os
import subprocess
import sys
import warnings
from importlib.metadata import version
from types import ModuleType

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: F401  # it loads OpenMP
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from pushrank import PNormPush, StackingRanker
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


MEMBER = """
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
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


GLOBALS = "def f(X):\n    return P * X + Q - R\n"
DISPATCHED = """
@singledispatch
def k(X): return 1
@k.register
def _(X: int): return 2
def f(X): return k(X)
"""
DECORATED = "@dec\ndef f(X):\n    return X\n"
METHODS = "class C:\n    def {}(self): return 1\n    def {}(self): return 2\ndef f(X): return C().a() * X\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("P, Q, R = 2, 2, 3\n" + GLOBALS, "P, Q, R = 2, 3, 3\n" + GLOBALS),
        (METHODS.format("a", "b"), METHODS.format("b", "a")),
        ("class C:\n    k = 1\n    def g(self): self.k = self.k\ndef f(X): return C.k\n", ("k = 1", "k = 2")),
        ("class M(type):\n    k = 1\nclass C(metaclass=M): pass\ndef f(X): return C.k\n", ("1", "2")),
        ("class C:\n    @cached_property\n    def k(self): return 1\ndef f(X): return C().k\n", ("1", "2")),
        ("def dec(g):\n    def h(X): return g(X)\n    return wraps(g)(h)\n" + DECORATED, ("n g", "n -g")),
        ("def dec(g): return wraps(g)(lambda X: g(X))\n" + DECORATED, ("return X", "return -X")),
        ("@cache\ndef k(): return 1\ndef f(X): return k() * X\n", ("return 1", "return 2")),
        (DISPATCHED, ("2", "3")),
        ("D = {'k': lambda X: X, 'l': [Lock(), 1]}\ndef f(X): return D['k'](X)\n", ("X: X", "X: -X")),
        ("D = {'k': lambda X: X, 'l': [Lock(), 1]}\ndef f(X): return D['k'](X)\n", ("1]", "2]")),
        ("G = partial(lambda k, X: k * X, 2)\ndef f(X): return G(X)\n", ("k * X", "k + X")),
        ("def f(X):\n    import folder.helper\n    return folder.helper.go(X)\n", "helper"),
        ("def f(X):\n    from folder import helper as h\n    return h.go(X)\n", "helper"),
        ("def f(X):\n    from .helper import go\n    return go(X)\n", "helper"),
        ("import folder.helper\ndef f(X):\n    return folder.helper.go(X)\n", "helper"),
    ],
)  # fmt: skip
def test_a_fit_is_kept_for_all_that_its_code_names(tmp_path, monkeypatch, before, after):
    changed = before if after == "helper" else before.replace(*after) if isinstance(after, tuple) else after
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "folder").mkdir()
    if "from" in before:
        (tmp_path / "folder" / "__init__.py").touch()
    helpers = ["def go(X): return X\n", "def go(X): return 2 * X\n"] if after == "helper" else [""] * 2
    found = []
    for member, helper in zip([before, changed] * 2, helpers * 2, strict=True):
        (tmp_path / "folder" / "helper.py").write_text(helper)
        for name in ("folder", "folder.helper", "folder.mine"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        module = ModuleType("folder.mine")
        module.__file__, module.__package__ = str(tmp_path / "folder" / "mine.py"), "folder"
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec("from functools import *\nfrom threading import Lock\n" + member, vars(module))  # noqa: S102
        found.append(fingerprint.fingerprint(FunctionTransformer(module.f)))
    assert found[:2] == found[2:]
    assert found[0] != found[1]


def test_a_key_is_the_same_in_every_process(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numba\nS = frozenset('abcdef')\n@numba.njit\ndef g(x): return x\n"
        "def f(X): return g(X) if 'a' in S or X in {'u', 'v', 'w'} else X\n"
    )
    ask = "import mine, pushrank.held_out.fingerprint as p; print(p.fingerprint(mine.f))"
    found = set()
    for seed in "12":
        path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        found.add(subprocess.check_output([sys.executable, "-c", ask], env=env))
    assert len(found) == 1


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
