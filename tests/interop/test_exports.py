"""Rankers written as Python files of numpy alone, and as ONNX graphs, score as they do."""

import ast
import doctest
import runpy
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

from pushrank import (
    AdaBoostRanker,
    InfinitePush,
    PNormPush,
    PushBoost,
    PushBoostCV,
    RankBoost,
    RankSVM,
    StackingRanker,
    export_numpy,
    load_scorer,
    save,
)
from pushrank.exceptions import ModelFileError
from pushrank.interop import onnx
from pushrank.weak_rankers import Stumps

pytestmark = pytest.mark.fast

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(80, 3)), 1)
Y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * RNG.normal(size=80) > 1.0
TEXT, GRADES = np.where(Y, "yes", "no"), Y.astype(int) + (X[:, 0] > 0.9)
GAPS = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
CODES = np.column_stack([X[:, :2], np.where(X[:, 2] > 1.5, np.nan, np.abs(np.round(X[:, 2] * 2)))])
BY_CODE = Stumps(categorical_features=[2], max_bins=4)
MEMBERS = [("line", PNormPush()), ("stumps", PushBoost(n_estimators=2))]
STACK = StackingRanker(MEMBERS, final_estimator="mean", cv=2)
CASES = {
    "linear": (make_pipeline(StandardScaler(), PNormPush()), X, TEXT),
    "grades": (make_pipeline(RobustScaler(), PNormPush()), X, GRADES),
    "single": (PNormPush(), X.astype(np.float32), Y),
    "stumps": (PushBoost(n_estimators=10), X, Y),
    "stumps of float32": (PushBoost(n_estimators=10), X.astype(np.float32), Y),
    "constant": (AdaBoostRanker(n_estimators=10, constant_ranker=True), X, Y),
    "gaps": (PushBoost(n_estimators=20), GAPS, TEXT),
    "categories": (PushBoost(n_estimators=20, weak_rankers=BY_CODE), CODES, Y),
    "columns": (RankBoost(n_estimators=5, weak_rankers="columns"), X, Y.astype(float)),
    "rbf": (make_pipeline(MinMaxScaler(), InfinitePush(kernel="rbf")), X, Y),
    "poly": (make_pipeline(MaxAbsScaler(), RankSVM(kernel="poly", coef0=1.0)), X, TEXT),
    "precomputed": (InfinitePush(kernel="precomputed"), X @ X.T, Y),
    "search": (GridSearchCV(make_pipeline(StandardScaler(), PNormPush()), {"pnormpush__p": [2]}, cv=2), X, Y),
}
OF_STUMPS = ("stumps", "stumps of float32", "constant", "gaps", "categories")
NAME = 'c"""\'\\ \n{name} import os'
WAYS = pytest.mark.parametrize("case", CASES)


def exported(model, folder):
    """Return the names in the exported file of a model, which imports numpy and nothing else."""
    export_numpy(model, folder / "scoring.py")
    text = (folder / "scoring.py").read_text(encoding="utf-8")
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imports] == ["import numpy as np"]
    return runpy.run_path(str(folder / "scoring.py"))


@WAYS
def test_a_file_scores_as_the_ranker(case, tmp_path):
    model, rows, y = CASES[case]
    model.fit(rows, y)
    file = exported(model, tmp_path)
    scores = model.decision_function(rows)
    tolerance = 0.0 if case in OF_STUMPS else 1e-12
    if case == "single":
        tolerance = 2.0 * np.finfo(np.float32).eps
    np.testing.assert_allclose(file["decision_function"](rows), scores, rtol=tolerance, atol=tolerance)
    assert file["decision_function"](rows).dtype == scores.dtype
    assert np.array_equal(file["predict"](rows), model.predict(rows))


WITHOUT_A_SCORER = {"categories", "rbf", "poly", "single"}  # scores of other kinds


@WAYS
def test_a_scorer_scores_as_the_ranker(case, tmp_path):
    model, rows, y = CASES[case]
    model = getattr(model.fit(rows, y), "best_estimator_", model)
    save(model, tmp_path / "model.skops")
    if case in WITHOUT_A_SCORER:
        with pytest.raises(ModelFileError, match=r"has no scorer: .*: pushrank\.load"):
            load_scorer(tmp_path / "model.skops")
        return
    scorer, scores = load_scorer(tmp_path / "model.skops"), model.decision_function(rows)
    tolerance = 0.0 if case in OF_STUMPS else 1e-12
    np.testing.assert_allclose(scorer.decision_function(rows), scores, rtol=tolerance, atol=tolerance)
    assert scorer.decision_function(rows[:0]).shape == (0,)
    with pytest.raises(ValueError, match="columns, got an array of shape"):
        scorer.decision_function(rows[:, 1:])
    with pytest.raises(ValueError, match="must not hold infinity"):
        scorer.decision_function(np.full(rows.shape, np.inf))
    if case not in OF_STUMPS:
        with pytest.raises(ValueError, match="must not hold NaN"):
            scorer.decision_function(np.full(rows.shape, np.nan))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_scorer_of_logistic_regression_scores_to_the_last_bit(fit_intercept, tmp_path):
    model = make_pipeline(StandardScaler(), LogisticRegression(fit_intercept=fit_intercept)).fit(X, TEXT)
    save(model, tmp_path / "model.skops")
    scorer = load_scorer(tmp_path / "model.skops")
    for rows in (X, X[:1], X[:7]):
        assert np.array_equal(scorer.decision_function(rows), model.decision_function(rows))
    for other in (clone(model), clone(model).fit(X, np.arange(len(X)) % 3)):
        save(other, tmp_path / "model.skops")
        with pytest.raises(ModelFileError, match="has no scorer"):
            load_scorer(tmp_path / "model.skops")


@pytest.mark.filterwarnings("ignore:Skipping features:UserWarning")  # of the imputer
def test_a_scorer_takes_columns_by_name_and_does_what_the_steps_before_do(tmp_path):
    frame = pd.DataFrame(GAPS, columns=list("abc")).assign(empty=np.nan)
    gaps = SimpleImputer(add_indicator=True)
    columns = make_column_transformer((gaps, ["c", "empty", "a"]), ("drop", ["b"]), sparse_threshold=0.0)
    model = make_pipeline(columns, RobustScaler(), PNormPush()).fit(frame, Y)
    scores = model.decision_function(frame)
    save(model, tmp_path / "model.skops")
    scorer = load_scorer(str(tmp_path / "model.skops"))
    assert scorer.features == ["c", "empty", "a"]
    for rows in (frame, pl.from_pandas(frame), frame[["c", "empty", "a"]].to_numpy()):
        np.testing.assert_allclose(scorer.decision_function(rows), scores, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match=r"X lacks columns of the model: \['c', 'empty'\]"):
        scorer.decision_function(frame[["a"]])


def test_a_scorer_of_an_array_takes_the_columns_of_a_frame_in_their_order(tmp_path):
    rows = GAPS[~np.isnan(GAPS).any(axis=1)]
    model = PNormPush().fit(rows, np.arange(len(rows)) % 3 == 0)
    save(model, tmp_path / "model.skops")
    scores = load_scorer(tmp_path / "model.skops").decision_function(pd.DataFrame(rows, columns=list("abc")))
    np.testing.assert_allclose(scores, model.decision_function(rows), rtol=1e-12, atol=1e-12)


def test_a_scorer_of_two_parts_of_columns_or_of_no_file_is_refused(with_columns, tmp_path):
    save(with_columns[0], tmp_path / "model.skops")
    (tmp_path / "cut.skops").write_bytes((tmp_path / "model.skops").read_bytes()[:300])
    for name in ("model.skops", "cut.skops"):
        with pytest.raises(ModelFileError, match="has no scorer"):
            load_scorer(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        load_scorer(tmp_path / "no.skops")


@pytest.fixture(scope="module")
def with_columns():
    """A pipeline of numbers with gaps and text with rare and missing values, under names that end strings."""
    frame = pd.DataFrame(GAPS, columns=["a", "b", NAME])
    frame["job"] = np.where(Y, "clerk", "cook")
    frame.loc[::3, "job"], frame.loc[::9, "job"], frame.loc[5::20, "job"] = "vet", None, NAME
    numbers = make_pipeline(
        "passthrough",
        StandardScaler(),
        SimpleImputer(strategy="constant", fill_value=0.0, add_indicator=True),
    )
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3)
    steps = (words, ["job"]), (numbers, [NAME, "a"]), ("drop", ["b"])
    columns = make_column_transformer(*steps, sparse_threshold=0.0)
    return make_pipeline(columns, PNormPush()).fit(frame, TEXT), frame


@pytest.mark.parametrize("unknown", ["infrequent_if_exist", "ignore", "error"])
def test_a_file_does_what_the_steps_before_do(with_columns, unknown, tmp_path):
    model, frame = with_columns
    model[0].named_transformers_["onehotencoder"].handle_unknown = unknown
    file, scores = exported(model, tmp_path), model.decision_function(frame)
    backwards = frame.iloc[:, ::-1]
    by_name = backwards, frame.to_dict("list"), pl.from_pandas(backwards), pa.Table.from_pandas(backwards)
    for rows in (frame, frame.to_numpy(dtype=object), *by_name):
        np.testing.assert_allclose(file["decision_function"](rows), scores, rtol=1e-12)
    strange = frame.assign(job="pilot")
    if unknown == "error":
        with pytest.raises(ValueError, match="job holds 'pilot'"):
            file["decision_function"](strange)
    else:
        expected = model.decision_function(strange)
        np.testing.assert_allclose(file["decision_function"](strange), expected, rtol=1e-12)
    for row in (frame.iloc[3], frame.iloc[3].to_dict()):  # a single one by its names
        np.testing.assert_allclose(file["decision_function"](row), scores[3:4], rtol=1e-12)
    for lacking in (frame.drop(columns="a"), pl.from_pandas(frame).drop("a"), {"job": ["vet"]}):
        with pytest.raises(ValueError, match=r"X lacks the column '.*; it needs \['a', 'b', "):
            file["decision_function"](lacking)
    missing = frame.assign(job=frame["job"].astype("string"))  # pandas' NA for None
    np.testing.assert_allclose(file["decision_function"](missing), scores, rtol=1e-12)


def test_a_file_does_all_that_a_transformer_with_columns_does(tmp_path):
    """What follows an encoder, and the weights of the parts, which were overlooked."""
    frame = pd.DataFrame(X, columns=list("abc")).assign(job=np.where(X[:, 2] > 0, "clerk", "cook"))
    words = make_pipeline(OneHotEncoder(sparse_output=False), StandardScaler())
    columns = ColumnTransformer(
        [("words", words, ["job"]), ("numbers", "passthrough", ["a", "b"])],
        transformer_weights={"numbers": 3},
    )
    model = make_pipeline(columns, PNormPush()).fit(frame, Y)
    scores = exported(model, tmp_path)["decision_function"](frame)
    np.testing.assert_allclose(scores, model.decision_function(frame), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of the scaler
@pytest.mark.filterwarnings("ignore:Skipping features:UserWarning")  # of the imputer
@pytest.mark.parametrize(
    "steps",
    [
        ("passthrough", StandardScaler()),  # the pipeline has no names
        (GridSearchCV(make_pipeline(StandardScaler(), PNormPush()), {"pnormpush__p": [2]}, cv=2),),
        (StandardScaler(), PushBoost(n_estimators=3)),  # the scaler learns nan of a column without values
        (SimpleImputer(add_indicator=True),),  # and the imputer leaves it out
    ],
    ids=["passthrough", "search", "nan", "left out"],
)
def test_files_of_pipelines(steps, tmp_path):
    steps = steps if hasattr(steps[-1], "decision_function") else (*steps, PNormPush())
    frame = pd.DataFrame(X, columns=list("abc"))
    if {"pushboost", "simpleimputer"} & set((model := make_pipeline(*steps)).named_steps):
        frame.insert(1, "empty", np.nan)
    file = exported(model.fit(frame, Y), tmp_path)
    scores = file["decision_function"](frame.iloc[:, ::-1])
    np.testing.assert_allclose(scores, model.decision_function(frame), rtol=1e-12)


def test_a_file_refuses_rows_that_the_ranker_refuses(tmp_path):
    file = exported(PNormPush().fit(X, Y), tmp_path)
    with pytest.raises(ValueError, match="NaN or infinity"):
        file["decision_function"](GAPS)
    with pytest.raises(ValueError, match="must have 3 columns"):
        file["decision_function"](X[:, :2])
    frame = pd.DataFrame(X, columns=list("abc"))  # by their order, as the ranker takes them
    for same in (frame, csr_array(X)):
        assert np.array_equal(file["decision_function"](same), file["decision_function"](X))
    assert "predict" not in exported(PNormPush().fit(X, pairs=[[0, 1], [2, 3]]), tmp_path)


def test_models_that_cannot_be_exported_are_refused(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "job": np.where(Y, "x", "y")})
    for model, rows, said in (
        (PushBoost(weak_rankers="regressors", n_estimators=2), X, "PushBoost cannot be exported"),
        (PushBoost(n_estimators=2), frame, "columns of text"),
        (InfinitePush(kernel=lambda a, b: a @ b.T), X, "kernel that is a function"),
        (LogisticRegression(), X, "no ranker of pushrank"),
        (STACK, X, r"StackingRanker cannot be exported, .* \(line; stumps\)"),
        (make_pipeline(MinMaxScaler(clip=True), PNormPush()), X, r"MinMaxScaler\(clip=True\) before"),
        (make_pipeline(make_column_transformer((OneHotEncoder(drop="first"), [2])), PNormPush()), X, "drop"),
    ):
        with pytest.raises(TypeError, match=said):
            export_numpy(model.fit(rows, Y), tmp_path / "scoring.py")
    with pytest.raises(NotFittedError):
        export_numpy(PNormPush(), tmp_path / "scoring.py")
    text = make_pipeline(TfidfVectorizer(), PNormPush()).fit(["cheap pills", "lunch at noon"], [1, 0])
    with pytest.raises(TypeError, match=r"TfidfVectorizer\(\) before the ranker cannot be exported"):
        export_numpy(text, tmp_path / "scoring.py")
    with pytest.raises(TypeError, match="NoneType is no ranker"):
        export_numpy(None, tmp_path / "scoring.py")
    assert not any(tmp_path.iterdir())


def outputs(model, rows, **options):
    """Return the outputs by name of the ONNX graph of a model."""
    runtime, skl2onnx = pytest.importorskip("onnxruntime"), pytest.importorskip("skl2onnx")
    onnx.register_converters()
    graph = skl2onnx.to_onnx(model, rows[:1], **options).SerializeToString()
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    given = {"X": rows} if isinstance(rows, np.ndarray) else {name: rows[[name]].to_numpy() for name in rows}
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, given), strict=True))


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@WAYS
def test_a_graph_scores_as_the_ranker(case, dtype):
    """But for scalers in float32, and coefficients in it."""
    model, rows, y = CASES[case]
    rows = model.fit(rows, y) and rows.astype(dtype)
    found, scores = outputs(model, rows), model.decision_function(rows)
    is_exact = case in OF_STUMPS or (dtype is np.float64 and case != "single")
    tolerance = 1e-12 if is_exact else 1e-5
    np.testing.assert_allclose(found["scores"], scores, rtol=tolerance, atol=tolerance)
    assert np.array_equal(found["label"], model.predict(rows))
    assert found["scores"].dtype == scores.dtype


@pytest.mark.nightly
def test_graphs_of_thresholds_are_exact_between_neighbouring_floats():
    """A threshold in float64 midway between two neighbours in float32 would be one of them if rounded."""
    low = np.float32(0.1)
    high = np.nextafter(low, np.float32(1.0))
    rows = np.array([[low], [high]] * 20)
    model = RankBoost(n_estimators=1).fit(rows, rows[:, 0] == high)
    for given in (rows, rows.astype(np.float64)):
        assert np.array_equal(outputs(model, given)["label"], rows[:, 0] == high)


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float32, bool, object])
def test_graphs_of_labels_of_any_type(dtype):
    y = TEXT.astype(object) if dtype is object else Y.astype(dtype)
    model = make_pipeline(StandardScaler(), GridSearchCV(PNormPush(), {"p": [2]}, cv=2)).fit(X, y)
    assert outputs(model, X)["label"].tolist() == model.predict(X).tolist()


@pytest.mark.nightly
def test_graphs_of_pairs_frames_and_calibrated_rankers():
    assert list(outputs(PNormPush().fit(X, pairs=[[0, 1], [2, 3]]), X)) == ["scores"]
    frame = pd.DataFrame(X, columns=list("abc"))
    model = PNormPush().fit(frame, TEXT)
    found = outputs(model, frame)
    np.testing.assert_allclose(found["scores"], model.decision_function(frame), rtol=1e-12, atol=1e-12)
    calibrated = CalibratedClassifierCV(PushBoost(n_estimators=3), cv=2).fit(X, TEXT)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
        found = outputs(calibrated, X.astype(dtype), options={"zipmap": False})
        expected = calibrated.predict_proba(X.astype(dtype))
        np.testing.assert_allclose(found["probabilities"], expected, atol=tolerance)
    inside = CalibratedClassifierCV(make_pipeline(StandardScaler(), PNormPush()), cv=2).fit(X, Y)
    with pytest.raises(RuntimeError, match="put the calibration last"):  # one row's score was calibrated
        outputs(inside, X, options={"zipmap": False})


@pytest.mark.nightly
def test_the_docstrings_example_runs():
    pytest.importorskip("skl2onnx")
    found = doctest.testmod(onnx)
    assert (found.attempted, found.failed) == (11, 0)


@pytest.mark.nightly
def test_models_that_cannot_be_a_graph_are_refused():
    with pytest.raises(TypeError, match="StackingRanker cannot be exported"):
        outputs(STACK.fit(X, Y), X)
    imputed = make_pipeline(SimpleImputer(add_indicator=True), PNormPush()).fit(GAPS, Y)
    with pytest.raises(RuntimeError, match=r"6 features, and 3 come in: .*\(add_indicator=True\)"):
        outputs(imputed, GAPS)


@pytest.mark.parametrize("labels", [Y, TEXT], ids=["numbers", "texts"])
def test_the_choice_of_a_search_is_exported(labels, tmp_path):
    search = PushBoostCV(ps=[4.0], learning_rates=[1.0], n_estimators=[3], cv=2).fit(X, labels)
    file = exported(search, tmp_path)
    np.testing.assert_allclose(file["decision_function"](X), search.decision_function(X), rtol=1e-12)
    np.testing.assert_array_equal(file["predict"](X), search.predict(X))


@pytest.mark.nightly
@pytest.mark.parametrize("labels", [Y, TEXT], ids=["numbers", "texts"])
def test_the_choice_of_a_search_becomes_a_graph(labels):
    skl2onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    onnx.register_converters()
    search = PushBoostCV(ps=[4.0], learning_rates=[1.0], n_estimators=[3], cv=2).fit(X, labels)
    graph = skl2onnx.to_onnx(search, X[:1])
    label, scores = runtime.InferenceSession(graph.SerializeToString()).run(None, {"X": X})
    np.testing.assert_allclose(scores, search.decision_function(X), rtol=1e-12)
    np.testing.assert_array_equal(label, search.predict(X))


@pytest.mark.parametrize("scaler", [None, StandardScaler(), RobustScaler()], ids=str)
@pytest.mark.parametrize("ranker", [PushBoost(n_estimators=30), PNormPush()], ids=["stumps", "linear"])
def test_digits_that_float32_does_not_hold_are_warned_of_at_the_export(ranker, scaler):
    skl2onnx = pytest.importorskip("skl2onnx")
    onnx.register_converters()
    model = clone(ranker) if scaler is None else make_pipeline(clone(scaler), clone(ranker))
    rng = np.random.default_rng(0)
    share, other = rng.random((2, 400))
    y = share + other + 0.3 * rng.normal(size=400) > 1.4
    columns = ((1.7e9, 600.0, True), (0.0, 600.0, False), (1.7e9, 3e7, False), (1e-3, 1.0, False))
    for start, span, is_told in columns:
        X = np.column_stack([start + span * share, other])
        model.fit(X, y)
        for dtype in (np.float32, np.float64):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                skl2onnx.to_onnx(model, X[:1].astype(dtype))
            told = any("equal in float32, which the graph takes" in str(one.message) for one in caught)
            assert told == (is_told and dtype is np.float32), (start, span, dtype)
