"""Model files: what was saved comes back, and nothing else is built."""

import copy
import os
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder, scale
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import all_estimators
from skops import io
from xgboost import XGBClassifier

from model_file_mutations import mutated
from pushrank import (
    PerceptronAtK,
    PNormPush,
    PushBoost,
    PushRanker,
    RankBoost,
    RankSVM,
    StackingRanker,
    TopRankerCV,
    estimators,
    load,
    load_scorer,
    persistence,
    save,
)
from pushrank._base.files import atomic_write, read_facts
from pushrank.exceptions import ModelFileError
from pushrank.interop.lightgbm import LGBMObjective
from pushrank.losses import Logistic
from pushrank.objectives import PushObjective
from pushrank.persistence import BoostedClassifier, model_digest
from pushrank.prices import Power

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("name", estimators.__all__)
def test_what_was_saved_comes_back(tmp_path, name):
    X, y = (part[::2] for part in load_breast_cancer(return_X_y=True))
    quick = {"cv": 2} if "cv" in getattr(estimators, name)().get_params() else {}
    quick |= {"learning_rates": [1.0], "n_estimators": [10]} if name == "PushBoostCV" else {}
    ranker = getattr(estimators, name)(**quick).fit(scale(X), y)
    persistence.save(ranker, tmp_path / "model.skops")
    loaded = persistence.load(tmp_path / "model.skops")
    assert type(loaded) is type(ranker)
    X = scale(X)
    np.testing.assert_array_equal(loaded.decision_function(X), ranker.decision_function(X))
    assert (tmp_path / "model.skops").stat().st_size < 300_000


def test_boosted_pipelines_come_back(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    for base in (Ridge(), DecisionTreeRegressor(max_depth=2, splitter="random")):
        ranker = RankBoost(weak_rankers=make_pipeline(StandardScaler(), base), n_estimators=3, random_state=0)
        persistence.save(ranker.fit(X, y), tmp_path / "model.skops")
        loaded = persistence.load(tmp_path / "model.skops")
        np.testing.assert_array_equal(loaded.decision_function(X), ranker.decision_function(X))


def test_boosted_trees_come_back_and_trees_that_point_out_of_themselves_do_not(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    ranker = RankBoost(weak_rankers="regressors", n_estimators=3, random_state=0).fit(X, y)
    persistence.save(ranker, tmp_path / "model.skops")
    loaded = persistence.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.decision_function(X), ranker.decision_function(X))
    for field, value in (("left_child", 10_000), ("left_child", 0), ("feature", 30)):
        broken = copy.deepcopy(ranker)
        tree = broken.weak_rankers_.regressors_[1].tree_
        state = tree.__getstate__()
        state["nodes"][field][0] = value
        tree.__setstate__(state)
        persistence.save(broken, tmp_path / "broken.skops")
        with pytest.raises(ModelFileError, match="tree whose nodes point out of it"):
            persistence.load(tmp_path / "broken.skops")


@pytest.mark.parametrize("ranker", [PNormPush(), PushBoost(n_estimators=3), TopRankerCV(cv=2)])
def test_skops_names_all_types_of_a_pipeline_and_they_suffice(ranker):
    # So do those who keep models in the formats of others, as MLflow does.
    frame, y = few_rows()
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    words = (OneHotEncoder(), ["word"]), (TargetEncoder(cv=StratifiedKFold(2)), ["word"])
    model = make_pipeline(make_column_transformer(*words, (numbers, ["b", "c"])), ranker).fit(frame, y)
    trusted = io.get_untrusted_types(data=io.dumps(model))
    loaded = io.loads(io.dumps(model), trusted=trusted)
    np.testing.assert_array_equal(loaded.decision_function(frame), model.decision_function(frame))
    assert "numpy.dtype" in trusted
    assert {*trusted} <= persistence.TRUSTED_TYPES | persistence.FOREIGN_TYPES


def test_objects_as_parameters_come_back(tmp_path):
    ranker = PushRanker(Logistic(), Power(8))
    persistence.save({"model": ranker}, tmp_path / "model.skops")
    assert persistence.load(tmp_path / "model.skops")["model"].get_params() == ranker.get_params()


def few_rows(n_rows=200):
    """Return rows of numbers with gaps and of words, and labels that hang on both."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc"))
    frame["word"] = pd.Categorical(rng.choice(list("xyz"), n_rows))
    y = frame["b"] + (frame["word"] == "x") + rng.normal(size=n_rows) > 1.0
    return frame.assign(a=frame["a"].where(frame.index % 7 > 0)), y.to_numpy().astype(int)


def test_stacks_of_every_kind_of_member_come_back(tmp_path):
    frame, y = few_rows()

    def after_words(model):
        words = make_column_transformer((OneHotEncoder(), ["word"]), (StandardScaler(), ["b", "c"]))
        return make_pipeline(words, model)

    few = {"n_estimators": 4, "random_state": 0}
    members = {
        "lgb": LGBMClassifier(**few, verbose=-1),
        "xgb": XGBClassifier(**few, enable_categorical=True),
        "hist": HistGradientBoostingClassifier(max_iter=4, categorical_features="from_dtype"),
        "forest": after_words(RandomForestClassifier(**few)),
        "extra": after_words(ExtraTreesClassifier(**few)),
        "boosting": after_words(GradientBoostingClassifier(**few)),
        "logistic": after_words(LogisticRegression()),
        "push": after_words(PNormPush()),
    }
    path = tmp_path / "model.skops"
    for refit in (False, True):
        stack = StackingRanker(list(members.items()), cv=2, refit=refit)
        persistence.save(stack, path)
        stack = persistence.load(path).fit(frame, y)
        persistence.save(stack, path)
        loaded = persistence.load(path)
        np.testing.assert_array_equal(loaded.decision_function(frame), stack.decision_function(frame))
    for name in ("lgb", "xgb"):
        model = clone(members[name]).fit(frame, y)
        persistence.save(model, path)
        loaded = persistence.load(path)
        assert type(loaded) is type(model)
        np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize("broken", ["bit set", "eight words", "number", "features"])
def test_categories_that_point_out_of_a_tree_are_refused(tmp_path, broken):
    frame, y = few_rows()
    y = frame["word"] == "x"
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype").fit(frame, y)
    [tree] = model._predictors[0]
    assert tree.nodes["is_categorical"].any()
    if broken == "bit set":
        tree.nodes["bitset_idx"] = len(tree.raw_left_cat_bitsets)
    elif broken == "eight words":
        tree.raw_left_cat_bitsets = tree.raw_left_cat_bitsets[:, :4].copy()
    elif broken == "number":
        model._bin_mapper.is_categorical_[:] = False
    else:
        model = RandomForestClassifier(2).fit(frame[["b", "c"]], y)
        model.n_features_in_ = 1
    persistence.save(model, tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match="the file holds a tree"):
        persistence.load(tmp_path / "model.skops")


def test_a_booster_is_of_a_library_that_is_known():
    with pytest.raises(ValueError, match=r"subprocess\.Popen has no booster"):
        BoostedClassifier("", {}).__setstate__({"kind": "subprocess.Popen", "attributes": {}})


@pytest.mark.parametrize("model", [LGBMClassifier(), make_pipeline(StandardScaler(), LGBMRegressor())])
def test_a_push_inside_a_library_is_saved_by_the_library(tmp_path, model):
    objective = LGBMObjective(PushObjective(price=Power(4.0), scale="log"))
    name = next(name for name in model.get_params() if name.endswith("objective"))
    with pytest.raises(TypeError, match=r"objective is .*LGBMObjective, .* is saved .* by save_model"):
        persistence.save(clone(model).set_params(**{name: objective}), tmp_path / "model.skops")


class OwnClassifier(LogisticRegression):
    """A model of the user's own, whose code no file brings along."""


@pytest.mark.parametrize("is_fitted", [False, True])
def test_a_member_that_cannot_be_saved_is_named_with_the_way_out(tmp_path, is_fitted):
    own = make_pipeline(StandardScaler(), OwnClassifier())
    stack = StackingRanker([("mine", own), ("push", PNormPush())], cv=2)
    if is_fitted:
        frame, y = few_rows()
        stack.fit(frame[["b", "c"]], y)
    named = r"mine__ownclassifier is .*OwnClassifier, .* LGBMClassifier, .* can be saved"
    with pytest.raises(TypeError, match=named) as caught:
        persistence.save(stack, tmp_path / "model.skops")
    assert "kernel" not in str(caught.value)


class Stranger:
    """A type that no model of ours holds."""

    def __init__(self):
        self.value = 1


def test_tensors_are_refused_and_their_numbers_come_back(tmp_path):
    torch = pytest.importorskip("torch")
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    ranker = PushRanker("logistic").fit(X, y)
    expected = ranker.decision_function(X)
    ranker.coef_, ranker.classes_ = torch.asarray(ranker.coef_), torch.asarray(ranker.classes_)
    with pytest.raises(TypeError, match="turn coef_ and classes_ into NumPy arrays"):
        persistence.save(ranker, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())
    ranker.coef_, ranker.classes_ = np.asarray(ranker.coef_), np.asarray(ranker.classes_)
    persistence.save(ranker, tmp_path / "model.skops")
    np.testing.assert_array_equal(persistence.load(tmp_path / "model.skops").decision_function(X), expected)


def own_kernel(A, B):
    return A @ B.T


@pytest.mark.parametrize("kernel", [own_kernel, linear_kernel, lambda A, B: A @ B.T])
@pytest.mark.parametrize("wrap", [lambda ranker: ranker, make_pipeline, lambda ranker: {"model": ranker}])
def test_what_could_not_be_loaded_again_is_not_saved(tmp_path, kernel, wrap):
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    model = wrap(RankSVM(kernel=kernel).fit(X, y))
    with pytest.raises(TypeError, match=rf"cannot be saved: .*kernel is .*{kernel.__name__}"):
        persistence.save(model, tmp_path / "model.skops")
    with pytest.raises(TypeError, match=r"cannot be saved: it holds .*Stranger"):
        persistence.save({"format": Stranger()}, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_an_untrusted_type_is_refused(tmp_path):
    io.dump({"format": 1, "pipeline": Stranger()}, tmp_path / "evil.skops")
    with pytest.raises(ModelFileError, match=r"types that are not trusted: .*Stranger"):
        persistence.load(tmp_path / "evil.skops")


@pytest.mark.parametrize("model", [LGBMClassifier(), XGBClassifier()])
def test_a_booster_of_a_library_that_is_missing_names_it(tmp_path, monkeypatch, model):
    persistence.save(model, tmp_path / "model.skops")
    library = type(model).__module__.partition(".")[0]
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        ModelFileError, match=rf'another library. {library} is not .* "pushrank\[{library}\]"'
    ):
        persistence.load(tmp_path / "model.skops")


def test_the_estimators_that_are_trusted_are_all_those_of_scikit_learn():
    assert {*persistence._estimators(sklearn)} == {*all_estimators()}


def test_no_library_is_imported_that_a_model_holds_nothing_of(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    persistence.save(LogisticRegression().fit(scale(X), y), tmp_path / "model.skops")
    for name in ("torch", "cupy"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise AssertionError('imported')")
    loaded = "from pushrank import load; load('model.skops'); import sys; assert 'dask' not in sys.modules"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-c", loaded]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_an_altered_file_is_refused(tmp_path):
    """The type of a saved model, swapped in the schema for one that would run a command."""
    persistence.save(LogisticRegression(), tmp_path / "model.skops")
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    schema = files["schema.json"].replace(b'"LogisticRegression"', b'"Popen"')
    schema = schema.replace(b'"sklearn.linear_model._logistic"', b'"subprocess"')
    assert schema != files["schema.json"]
    del files[persistence.VERSION_FILE]
    with zipfile.ZipFile(tmp_path / "evil.skops", "w") as archive:
        for name, content in {**files, "schema.json": schema}.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match=r"subprocess\.Popen"):
        persistence.load(tmp_path / "evil.skops")


@pytest.mark.parametrize("damage", ["cut", "text", "empty"])
def test_a_damaged_file_is_said_to_be(tmp_path, damage):
    path = tmp_path / "model.skops"
    persistence.save(LogisticRegression(), path)
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[: len(whole) // 2], "text": b"a,b\n1,2\n", "empty": b""}[damage])
    with pytest.raises(ModelFileError, match="not a model file of pushrank, or is damaged"):
        persistence.load(path)


def schema_of(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read("schema.json")


def rewritten(path, **files):
    """Replace or add files in an archive."""
    with zipfile.ZipFile(path) as archive:
        all_files = {name: archive.read(name) for name in archive.namelist()} | files
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in all_files.items():
            archive.writestr(name, content)


def test_a_file_of_a_later_version_is_loaded_with_a_warning(tmp_path):
    path = tmp_path / "model.skops"
    persistence.save(PushRanker(), path)
    persistence.load(path)
    rewritten(path, **{persistence.VERSION_FILE: b"99.9.9"})
    with pytest.warns(UserWarning, match=r"by pushrank 99\.9\.9, which is later than this") as caught:
        persistence.load(path)
    assert caught[0].filename == __file__
    rewritten(path, **{"schema.json": schema_of(path).replace(b"PushRanker", b"NewRanker")})
    with pytest.raises(ModelFileError, match=r"NewRanker.*by pushrank 99\.9\.9, .*: install that version\.$"):
        persistence.load(path)
    with pytest.raises(ModelFileError, match="no scorer"):
        load_scorer(path)


def test_a_file_of_a_later_scikit_learn_is_refused_by_both_versions(tmp_path, monkeypatch):
    path, wrote = tmp_path / "model.skops", sklearn.__version__
    persistence.save(make_pipeline(StandardScaler(), PushRanker()), path)
    # Another patch release has the same attributes.
    monkeypatch.setattr(sklearn, "__version__", ".".join(wrote.split(".")[:2]))
    persistence.load(path)
    monkeypatch.setattr(sklearn, "__version__", "1.0.2")
    versions = rf"scikit-learn {wrote}, which is later than what is installed, 1\.0\.2: install that version"
    with pytest.raises(ModelFileError, match=versions):
        persistence.load(path)
    # A file without its estimators holds nothing that scikit-learn could not read.
    persistence.save(PushRanker(), path)
    persistence.load(path)


def test_a_scorer_is_read_from_files_of_earlier_versions(tmp_path):
    path, X = tmp_path / "model.skops", np.array([[0.0], [1.0], [3.0]])
    ranker = PNormPush().fit(X, [0, 0, 1])
    persistence.save(ranker, path)
    rewritten(path, **{persistence.VERSION_FILE: b"0.0.1"})
    assert np.array_equal(load_scorer(path).decision_function(X), ranker.decision_function(X))
    # Facts of another format may mean something else.
    rewritten(path, **{persistence.FACTS_FILE: b'{"format": 0, "scoring": {}}'})
    with pytest.raises(ModelFileError, match="no scorer"):
        load_scorer(path)


def test_brackets_within_brackets_are_damage(tmp_path):
    path = tmp_path / "model.skops"
    persistence.save(PushRanker(), path)
    rewritten(path, **{"schema.json": b"[" * 100_000 + b"]" * 100_000, persistence.VERSION_FILE: b"0"})
    with pytest.raises(ModelFileError, match=r"or is damaged \(maximum recursion depth exceeded"):
        persistence.load(path)


RUN = {"os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect", "os.remove"}
WATCHED: list[set[str]] = []


def watch(event, _):
    """See what the interpreter does that a model file must not make it do."""
    if WATCHED and event in RUN:
        WATCHED[-1].add(event)


@pytest.mark.filterwarnings("ignore:.* was written by pushrank")  # a mutated version may be a later one
@pytest.mark.parametrize("of_stacks", [False, True])
@pytest.mark.parametrize("seeds", [range(30), pytest.param(range(30, 1030), marks=pytest.mark.nightly)])
def test_a_mutated_file_is_refused_or_loads_and_runs_nothing(tmp_path, seeds, of_stacks):
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = X[:, 0] > 0.3
    few = {"n_estimators": 2, "random_state": 0}
    kinds = [
        LGBMClassifier(**few, min_child_samples=3, verbose=-1),
        XGBClassifier(**few),
        HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3),
        StackingRanker([("lgb", LGBMClassifier(**few, verbose=-1)), ("xgb", XGBClassifier(**few))], cv=2),
    ]
    kinds = (
        kinds
        if of_stacks
        else [
            PushRanker(),
            RankBoost(n_estimators=3, warm_start=True, subsample=0.5, random_state=0),
            RankBoost(weak_rankers="regressors", n_estimators=2, random_state=0),
            make_pipeline(StandardScaler(), PushRanker("logistic", Power(2))),
            PerceptronAtK(batch_size=10, random_state=0),
        ]
    )
    path, whole = tmp_path / "model.skops", []
    for kind in kinds:
        persistence.save(kind.fit(X, y), path)
        whole.append(path.read_bytes())
    sys.addaudithook(watch)
    WATCHED.append(set())
    refused = 0
    try:
        for seed in seeds:
            path.write_bytes(mutated(whole[seed % len(whole)], np.random.default_rng(seed)))
            try:
                persistence.load(path)
            except ModelFileError:
                refused += 1
    finally:
        seen = WATCHED.pop()
    assert not seen
    assert 0.5 * len(seeds) < refused < len(seeds)


def test_arrays_in_each_others_place_are_damage(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    path = tmp_path / "model.skops"
    persistence.save(RankBoost(n_estimators=3).fit(X, X[:, 0] > 0.3), path)
    with zipfile.ZipFile(path) as archive:
        arrays = {name: archive.read(name) for name in archive.namelist() if name.endswith(".npy")}
    one, other = sorted(arrays, key=lambda name: arrays[name])[:2]
    rewritten(path, **{one: arrays[other], other: arrays[one]})
    with pytest.raises(ModelFileError, match="its parts are not those that were saved together"):
        persistence.load(path)


def test_what_would_inflate_without_measure_is_not_read(tmp_path):
    """Zeros are deflated to a thousandth; the file is refused before they are made."""
    path = tmp_path / "model.skops"
    persistence.save(PushRanker().fit([[0.0], [1.0]], [0, 1]), path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in files if name.endswith(".npy"))
    del files[persistence.VERSION_FILE]
    shape = b"{'descr': '<i8', 'fortran_order': False, 'shape': (8000000,), }"
    header = b"\x93NUMPY\x01\x00v\x00" + shape.ljust(117)
    files[name] = header + b"\n" + bytes(64_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    del files
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"bytes that would become 64,\d+,\d+"):
            persistence.load(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_files_of_skops_and_compressed_ones_are_loaded(tmp_path):
    ranker = PushRanker().fit(np.eye(3), [0, 1, 1])
    small = {"compression": zipfile.ZIP_DEFLATED, "compresslevel": 9}
    for name, options in (("plain", {}), ("small", small)):
        io.dump(ranker, tmp_path / name, **options)
        np.testing.assert_array_equal(persistence.load(tmp_path / name).coef_, ranker.coef_)


def test_a_link_stays_one_and_its_target_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.txt", tmp_path / "link.txt"
    for before in ("old", None):
        target.unlink(missing_ok=True)
        if before is not None:
            target.write_text(before)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        with atomic_write(link) as beside:
            beside.write_text("new")
        assert link.is_symlink()
        assert target.read_text() == "new"


def test_what_a_killed_write_left_is_cleared_by_a_later_one(tmp_path):
    path = tmp_path / "odd[1].skops"
    old, young, other = (
        tmp_path / name
        for name in (".odd[1].skops.a.partial.skops", ".odd[1].skops.b.partial.skops", "x.partial.skops")
    )
    for left in (old, young, other):
        left.write_text("half")
    os.utime(old, (0.0, 0.0))
    with atomic_write(path) as beside:
        beside.write_text("whole")
    assert sorted(tmp_path.iterdir()) == sorted([young, other, path])


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def write_half():
        with atomic_write(path) as beside:
            beside.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]  # noqa: PTH208


def test_a_killed_write_leaves_no_file(tmp_path):
    code = """
import sys, time
from pathlib import Path
from pushrank._base.files import atomic_write, read_facts
from pushrank.interop.lightgbm import LGBMObjective
from pushrank.persistence import model_digest
with atomic_write(Path(sys.argv[1])) as beside:
    beside.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""
    path = tmp_path / "model.skops"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
    time.sleep(0.1)
    assert not Path(path).exists()


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(5, random_state=0),
        HistGradientBoostingClassifier(max_iter=5, random_state=0),
        PushBoost(n_estimators=5),
        StackingRanker([("a", LogisticRegression()), ("b", RandomForestClassifier(3))], random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_has_one_digest_fitted_again_and_loaded(model, tmp_path):
    """By it a state of alerts knows whose scores it holds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.normal(size=120) > 0.5
    fitted, again, other = (clone(model).fit(X, of) for of in (y, y, np.roll(y, 1)))
    save(fitted, tmp_path / "m.skops")
    loaded = load(tmp_path / "m.skops")
    save(loaded, tmp_path / "n.skops")
    noted = [read_facts(tmp_path / name)["digest"] for name in ("m.skops", "n.skops")]
    assert {model_digest(of) for of in (fitted, again, loaded)} == {*noted}
    assert model_digest(other) != noted[0]


def test_the_same_fit_has_the_same_file(tmp_path):
    # Between the fields of a tree's nodes, which are records, there are bytes that nobody sets.
    data = load_breast_cancer(return_X_y=True)
    models = [RandomForestClassifier(5, random_state=0).fit(*data) for _ in range(2)]
    for path, model in zip((tmp_path / "a", tmp_path / "b"), models, strict=True):
        save(model, path)
        assert {of.date_time for of in zipfile.ZipFile(path).infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
