"""Other people's programs around our rankers, each as its users would write it in ten lines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from skops import io

from pushrank import PNormPush
from samples import overlapping

pytestmark = [
    pytest.mark.nightly,
    # Warnings of other libraries are theirs.
    pytest.mark.filterwarnings("ignore::Warning"),
]


@pytest.fixture(scope="module")
def rows():
    return overlapping(900)


def test_optuna_searches_parameters(rows):
    optuna = pytest.importorskip("optuna")
    X, y = rows

    def precision(trial):
        p = trial.suggest_float("p", 1, 64, log=True)
        ranker = PNormPush(p, alpha=trial.suggest_float("alpha", 1e-4, 1, log=True))
        return cross_val_score(ranker, X, y, scoring="average_precision", cv=3).mean()

    sampler = optuna.samplers.TPESampler(seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(precision, n_trials=5)
    assert study.best_value == max(trial.value for trial in study.trials)
    assert PNormPush(**study.best_params).fit(X, y).p == study.best_params["p"]


def test_mlflow_logs_a_pipeline_and_loads_it(rows, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("top of the list")
    numbers, y = rows
    words = np.where(numbers[:, 0] > 0, "up", "down")
    X = pd.DataFrame(numbers, columns=list("abcd")).assign(word=words)
    numeric = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer((OneHotEncoder(), ["word"]), (numeric, list("abcd")))
    model = make_pipeline(columns, PNormPush()).fit(X, y)
    with mlflow.start_run():
        mlflow.log_params(model[-1].get_params())
        # MLflow reads files of types that it is told to trust alone.
        trusted = io.get_untrusted_types(data=io.dumps(model))
        info = mlflow.sklearn.log_model(model, name="top", skops_trusted_types=trusted)
    loaded = mlflow.sklearn.load_model(info.model_uri)
    scores = loaded.decision_function(X)
    np.testing.assert_array_equal(scores, model.decision_function(X))
    generic = mlflow.pyfunc.load_model(info.model_uri)
    np.testing.assert_array_equal(generic.predict(X), model.predict(X))


def test_skore_reports_on_rankers(rows):
    skore = pytest.importorskip("skore")
    X, y = rows
    report = skore.EstimatorReport(
        PNormPush(), X_train=X[:600], y_train=y[:600], X_test=X[600:], y_test=y[600:]
    )
    scores = PNormPush().fit(X[:600], y[:600]).decision_function(X[600:])
    assert report.metrics.roc_auc() == pytest.approx(roc_auc_score(y[600:], scores))


def test_mapie_makes_sets_of_calibrated_probabilities(rows):
    mapie = pytest.importorskip("mapie.classification")
    X, y = rows
    model = CalibratedClassifierCV(PNormPush()).fit(X[:300], y[:300])
    conformal = mapie.SplitConformalClassifier(model, confidence_level=0.9, prefit=True)
    labels, sets = conformal.conformalize(X[300:600], y[300:600]).predict_set(X[600:])
    held = sets[np.arange(len(labels)), y[600:].astype(int), 0]
    assert held.mean() == pytest.approx(0.9, abs=0.06)


def test_pipelines_of_imbalanced_learn_resample_before_a_ranker(rows):
    pipeline = pytest.importorskip("imblearn.pipeline")
    sampling = pytest.importorskip("imblearn.over_sampling")
    X, y = rows
    resampler, powers = sampling.RandomOverSampler(random_state=0), [1, 4, 16]
    steps, judged = pipeline.make_pipeline(resampler, PNormPush()), "average_precision"
    search = GridSearchCV(steps, {"pnormpush__p": powers}, scoring=judged, cv=3).fit(X, y)
    # Copies of positives are weights, of which a push reads the share alone.
    plain = GridSearchCV(PNormPush(), {"p": powers}, scoring=judged, cv=3).fit(X, y)
    assert search.best_score_ == pytest.approx(plain.best_score_, abs=0.02)
