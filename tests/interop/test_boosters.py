"""Pushes as objectives of boosters: gradients, diagonals above the Hessian, and both ways to call them."""

import copy
import itertools
import pickle
import re
import subprocess
import sys
import threading

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from pushrank import PushObjective, StackingRanker, metrics
from pushrank._base.optional import import_optional
from pushrank._base.scores import model_scores
from pushrank.estimators._combination import raw_scores
from pushrank.interop._derivatives import derivatives
from pushrank.interop.lightgbm import LGBMMetric, LGBMObjective
from pushrank.interop.xgboost import XGBMetric, XGBObjective
from pushrank.metrics import AtBudget, make_top_scorer
from pushrank.model_selection import fit_held_out
from pushrank.pairs.targets import sample_of_labels
from pushrank.prices import ExponentialPrice, LogOnePlus, Power, Price

pytestmark = pytest.mark.fast

P_NORM_PUSH = PushObjective(price=Power(4.0), scale="log")
LOSSES = ("exponential", "logistic", "squared_hinge", "smoothed_hinge", "sigmoid")
QUIET = {"verbosity": -1, "num_threads": 1, "num_leaves": 7, "deterministic": True}


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


def samples(rng, n=10):
    """Two classes without and with weights, grades, and query groups of them."""
    weights = rng.random(n) + 0.1
    two = np.array([0, 1] * (n // 2))
    grades = np.arange(n) % 3
    yield sample_of_labels("test", two)[0]
    yield sample_of_labels("test", two, weights)[0]
    yield sample_of_labels("test", grades, weights)[0]
    yield sample_of_labels("test", grades, None, np.arange(n) < 6)[0]


class Hump(Price):
    """Rises up to an inner sum of three, and falls."""

    convex = monotonic = False

    def value(self, inner_sum):
        return np.exp(-((inner_sum - 3.0) ** 2))

    def derivative(self, inner_sum):
        return -2.0 * (inner_sum - 3.0) * self.value(inner_sum)

    def second_derivative(self, inner_sum):
        return (4.0 * (inner_sum - 3.0) ** 2 - 2.0) * self.value(inner_sum)


def objectives_to_bound():
    """Yield price, side and scale; a combination that shows nothing beyond the others is left out."""
    for price in (Power(1.0), Power(4.0), LogOnePlus(), ExponentialPrice(), Hump()):
        for side, scale in itertools.product(["push", "pull", "both"], ["log", "mean", "raw"]):
            shown_by_others = (scale == "raw" and side != "both") or (side == "both" and not price.monotonic)
            has_scale = scale != "log" or price.log_divisor is not None
            if has_scale and not shown_by_others:
                yield pytest.param(price, side, scale, id=f"{type(price).__name__}-{side}-{scale}")


@pytest.mark.parametrize(("price", "side", "scale"), list(objectives_to_bound()))
def test_the_diagonal_is_above_the_hessian_and_the_gradient_the_slope(price, side, scale):
    rng = np.random.default_rng(0)
    for loss in LOSSES:
        objective = PushObjective(loss, price, side, scale, 0.7)
        for sample in samples(rng):
            scores, direction = 0.7 * rng.normal(size=10), rng.normal(size=10)
            at_point = objective.evaluation(sample, scores)
            columns = [sample.scatter(*at_point.hessian_product(sample.gather(row))) for row in np.eye(10)]
            majoriser = sample.scatter(*at_point.majoriser())
            hessian = 0.5 * (np.array(columns) + np.array(columns).T)
            spectrum = np.linalg.eigvalsh(np.diag(majoriser) - hessian)
            assert spectrum[0] >= -1e-9 * majoriser.max(), loss
            gradient, diagonal = derivatives(objective, sample, scores)
            unit = sample.class_weights[0]
            assert (diagonal >= unit * majoriser).all()
            steps = (scores + 1e-6 * direction, scores - 1e-6 * direction)
            ahead, behind = (objective.evaluation(sample, step).value for step in steps)
            assert gradient @ direction == pytest.approx(unit * (ahead - behind) / 2e-6, rel=1e-4, abs=1e-6)


def test_the_p_norm_push_is_two_softmaxes():
    y, scores = np.array([0, 0, 1, 1, 1]), np.array([0.1, -0.4, 0.3, 0.9, -0.2])
    gradient, diagonal = LGBMObjective(P_NORM_PUSH)(y, scores)
    a, b = np.exp(-scores[2:]), np.exp(4.0 * scores[:2])
    a, b = 3.0 * a / a.sum(), 3.0 * b / b.sum()
    np.testing.assert_allclose(gradient, [*b, *-a], rtol=1e-12)
    np.testing.assert_allclose(diagonal, [*(4.0 * b), *a], rtol=1e-12)


@pytest.mark.parametrize("p", [1.0, 64.0])
def test_extreme_scores_leave_numbers_that_single_precision_holds(p):
    y = np.array([0, 1] * 500)
    objective = LGBMObjective(PushObjective(price=Power(p), scale="log"))
    for scores in (1e4 * (2.0 * y - 1.0), 1e4 * (1.0 - 2.0 * y), np.linspace(-1e30, 1e30, 1000)):
        gradient, diagonal = (part.astype(np.float32) for part in objective(y, scores.astype(np.float32)))
        assert np.isfinite(gradient).all()
        assert np.isfinite(diagonal).all()
        assert (diagonal > 0.0).all()
        assert gradient.sum() == pytest.approx(0.0, abs=1e-2)


def test_copies_of_rows_are_weights():
    y, scores, counts = np.array([0, 1, 1, 0]), np.array([0.3, 0.1, -0.5, 0.2]), np.array([1, 3, 1, 2])
    objective = LGBMObjective(P_NORM_PUSH)
    weighted = objective(y, scores, counts.astype(np.float32))
    copied = objective(np.repeat(y, counts), np.repeat(scores, counts))
    for once, often in zip(weighted, copied, strict=True):
        np.testing.assert_allclose(np.repeat(once / counts, counts), often, rtol=1e-6)


def test_one_positive():
    gradient, _ = XGBObjective(P_NORM_PUSH)(np.array([0, 0, 1]), np.zeros(3))
    np.testing.assert_allclose(gradient, [0.5, 0.5, -1.0])


def test_an_objective_minds_new_labels_and_travels_without_the_old_ones():
    objective = LGBMObjective(P_NORM_PUSH)
    labels = np.array([0, 1, 1])
    first, _ = objective(labels, np.zeros(3))
    labels[:] = [1, 0, 0]
    second, _ = objective(labels, np.zeros(3))
    assert first[0] > 0.0 > second[0]
    for other in (copy.deepcopy(objective), pickle.loads(pickle.dumps(objective))):  # noqa: S301
        assert other.objective == P_NORM_PUSH
        assert other._sample is None


def test_kinks_are_refused():
    for objective in (PushObjective("hinge"), PushObjective(price="maximum", scale="log")):
        with pytest.raises(ValueError, match="has kinks: use the loss"):
            LGBMObjective(objective)
    with pytest.raises(TypeError, match="a PushObjective is needed, got str"):
        XGBObjective("logistic")


def test_an_overflow_is_an_error():
    objective = LGBMObjective(PushObjective(scale="raw"))
    with pytest.raises(ValueError, match="overflows on the scale 'raw'"):
        objective(np.array([0, 1]), np.array([1e4, -1e4]))


def test_native_and_scikit_learn_interfaces_of_lightgbm_train_the_same_trees(data):
    X, y = data
    push, weights = LGBMObjective(P_NORM_PUSH), 1.0 + (np.arange(len(y)) % 3)
    native = lightgbm.train(QUIET | {"objective": push}, lightgbm.Dataset(X, y, weight=weights), 10)
    model = lightgbm.LGBMRegressor(n_estimators=10, objective=push, **QUIET).fit(X, y, weights)
    np.testing.assert_array_equal(native.predict(X), model.predict(X))
    groups = np.full(len(y) // 3, 3)
    X, y = X[: groups.sum()], y[: groups.sum()]
    native = lightgbm.train(QUIET | {"objective": push}, lightgbm.Dataset(X, y, group=groups), 5)
    model = lightgbm.LGBMRanker(n_estimators=5, objective=push, **QUIET).fit(X, y, group=groups)
    np.testing.assert_array_equal(native.predict(X), model.predict(X))


def test_native_and_scikit_learn_interfaces_of_xgboost_train_the_same_trees(data):
    X, y = data
    push, weights = XGBObjective(P_NORM_PUSH), 1.0 + (np.arange(len(y)) % 3)
    rows = xgboost.DMatrix(X, y, weight=weights)
    native = xgboost.train({"base_score": 0.0, "nthread": 1, "max_depth": 3}, rows, 10, obj=push)
    model = xgboost.XGBRegressor(objective=push, base_score=0.0, n_jobs=1, n_estimators=10, max_depth=3)
    model.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(native.predict(rows), model.predict(X))


def test_at_p_one_the_logistic_push_has_the_gradient_of_xgboosts_pairs():
    rng = np.random.default_rng(0)
    n = 24
    y, margins = np.arange(n) % 2, rng.normal(size=n)
    rows = xgboost.DMatrix(np.arange(n, dtype=float)[:, None], y, qid=np.zeros(n))
    rows.set_base_margin(margins)
    params = {"objective": "rank:pairwise", "eta": 1.0, "max_depth": 0, "nthread": 1}
    params |= {"grow_policy": "lossguide", "min_child_weight": 0.0, "lambdarank_num_pair_per_sample": n}
    params |= {"lambdarank_normalization": False, "lambdarank_score_normalization": False}
    params |= {"lambdarank_pair_method": "topk", "max_bin": 4 * n}
    # each row has its leaf, -g / (h + lambda); two penalties give g
    leaves = [
        xgboost.train(params | {"reg_lambda": penalty}, rows, 1).predict(rows, output_margin=True) - margins
        for penalty in (0.01, 0.02)
    ]
    theirs = -0.01 / (1.0 / leaves[1] - 1.0 / leaves[0])
    objective = PushObjective("logistic", scale="raw")
    ours, _ = XGBObjective(objective)(y, margins)
    np.testing.assert_allclose(theirs / np.abs(theirs).sum(), ours / np.abs(ours).sum(), rtol=1e-3)


@pytest.mark.parametrize(
    "model",
    [
        lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbosity=-1),
        lightgbm.LGBMClassifier(
            n_estimators=10, n_jobs=1, verbosity=-1, objective=LGBMObjective(P_NORM_PUSH)
        ),
        xgboost.XGBClassifier(n_estimators=10, n_jobs=1),
    ],
)
def test_plain_classifiers_are_held_out_cut_and_added_up(model, data):
    X, y = data
    models = {"trees": model, "logistic": make_pipeline(StandardScaler(), LogisticRegression())}
    held_out = fit_held_out(models, X, np.array(["no", "yes"])[y], budget=200, pos_label="yes", cv=3)
    assert set(held_out.compare().measures) == set(models)
    assert held_out.threshold("trees", AtBudget(300)).n_rows <= 300
    stack = StackingRanker([*models.items()], cv=3).fit(X, y)
    assert y[stack.rank(X)[:200]].all()


def test_a_push_in_a_classifier_has_the_scores_of_the_push(data):
    X, y = data
    model = lightgbm.LGBMClassifier(n_estimators=10, objective=LGBMObjective(P_NORM_PUSH), **QUIET)
    booster = lightgbm.train(QUIET | {"objective": LGBMObjective(P_NORM_PUSH)}, lightgbm.Dataset(X, y), 10)
    model.fit(X, np.array(["no", "yes"])[y])
    np.testing.assert_array_equal(model.decision_function(X), booster.predict(X))
    np.testing.assert_array_equal(model.predict(X, raw_score=True), booster.predict(X))


def test_measures_stop_both_boosters_at_their_best_round(data):
    X, y = data
    train, valid = slice(0, 400), slice(400, None)
    measure = LGBMMetric(make_top_scorer(k=60))
    params = QUIET | {"objective": LGBMObjective(P_NORM_PUSH), "metric": "None", "learning_rate": 0.3}
    rows = lightgbm.Dataset(X[train], y[train])
    path = {}
    booster = lightgbm.train(
        params,
        rows,
        30,
        valid_sets=[rows.create_valid(X[valid], y[valid])],
        feval=measure,
        callbacks=[lightgbm.early_stopping(5, verbose=False), lightgbm.record_evaluation(path)],
    )
    found = path["valid_0"]["pushrank_precision_at_k"]
    assert booster.best_iteration == np.argmax(found) + 1
    scores = booster.predict(X[valid], raw_score=True)
    assert metrics.precision_at_k(y[valid], scores, 60) == max(found)

    stop = xgboost.callback.EarlyStopping(rounds=5, maximize=True)
    model = xgboost.XGBRegressor(
        objective=XGBObjective(P_NORM_PUSH),
        base_score=0.0,
        n_estimators=30,
        n_jobs=1,
        eval_metric=XGBMetric(make_top_scorer(k=60)),
        disable_default_eval_metric=True,
        callbacks=[stop],
    )
    model.fit(X[train], y[train], eval_set=[(X[valid], y[valid])], verbose=False)
    (found,) = model.evals_result()["validation_0"].values()
    assert model.best_iteration == np.argmax(found)
    assert metrics.precision_at_k(y[valid], model.predict(X[valid]), 60) == max(found)


def test_measures_take_weights_groups_and_names():
    y, scores = np.array([0, 1, 0, 1]), np.array([0.4, 0.3, 0.2, 0.1])
    weights = np.array([3.0, 1.0, 1.0, 1.0])
    expected = metrics.average_precision(y, scores, sample_weight=weights)
    assert LGBMMetric("average_precision", "mine")(y, scores, weights) == ("mine", expected, True)
    by_query = metrics.ndcg_at_k(y, scores, 10, qid=[0, 0, 1, 1])
    assert LGBMMetric("ndcg_at_10")(y, scores, None, np.array([2, 2]))[1] == by_query
    measure = pickle.loads(pickle.dumps(XGBMetric("positives_at_top")))  # noqa: S301
    assert measure.__name__ == "pushrank_positives_at_top"
    assert measure(y, scores) == 0.0


def refused(every, push, measure, *args):
    """The objective and the measure each say that every worker or process has its own rows alone."""
    for what, call in (("push", push), ("measure", measure)):
        with pytest.raises(NotImplementedError, match=f"every {every} {what} its own rows alone"):
            call(*args)


@pytest.mark.parametrize("machines", ["10.0.0.1:12400,10.0.0.2:12400", ["10.0.0.1:12400", "10.0.0.2:12400"]])
def test_lightgbms_machines_are_refused(machines):
    """Which Ray, for one, names to ``lightgbm.train``: each has its own rows."""
    data, scores = lightgbm.Dataset(np.eye(2), [0, 1], params=QUIET).construct(), np.zeros(2)
    push, measure = LGBMObjective(PushObjective(scale="log")), LGBMMetric("average_precision")
    data.params = {"machines": "10.0.0.1:12400"}
    push(scores, data), measure(scores, data)
    data.params = {"workers": machines}
    refused("worker", push, measure, scores, data)


def test_lightgbms_dask_workers_are_refused(monkeypatch):
    worker = pytest.importorskip("distributed.worker")
    y, scores = np.array([0, 1]), np.zeros(2)
    push, measure = LGBMObjective(P_NORM_PUSH), LGBMMetric("average_precision")
    monkeypatch.setattr(worker, "thread_state", threading.local())
    worker.thread_state.key = "my_own_task"  # a task that trains in one process has all rows
    push(y, scores), measure(y, scores)
    worker.thread_state.key = "_train_part-0123"
    refused("worker", push, measure, y, scores)


@pytest.fixture
def dask():
    """A client of two workers, and rows and labels that both hold a part of."""
    distributed, array = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    rows = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client, *(array.from_array(part, chunks=100) for part in rows)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::UserWarning:lightgbm")
def test_the_tasks_of_lightgbms_dask_interface_are_those_that_are_refused(dask):
    model = lightgbm.DaskLGBMRegressor(objective=LGBMObjective(P_NORM_PUSH))
    with pytest.raises(NotImplementedError, match="every worker push its own rows alone"):
        model.fit(*dask[1:])


def test_several_processes_of_xgboost_are_refused(monkeypatch):
    """XGBoost has several under Dask, Spark and Ray, and calls the objective in each with its own rows."""
    y, scores = np.array([0, 1]), np.zeros(2)
    push, measure = XGBObjective(P_NORM_PUSH), XGBMetric("average_precision")
    push(y, scores), measure(y, scores)
    monkeypatch.setattr(xgboost.collective, "get_world_size", lambda: 2)
    refused("process", push, measure, y, scores)


@pytest.mark.nightly
def test_xgboosts_dask_interface_has_several_processes(dask):
    dask_xgboost = pytest.importorskip("xgboost.dask")
    rows, push = dask_xgboost.DaskDMatrix(*dask), XGBObjective(P_NORM_PUSH)
    with pytest.raises(NotImplementedError, match="every process push its own rows alone"):
        dask_xgboost.train(dask[0], {"base_score": 0.0}, rows, 2, obj=push)


def test_without_the_library_its_extra_is_named(monkeypatch):
    for name in ("lightgbm", "xgboost"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=re.escape(f'pip install "pushrank[{name}]"')):
            import_optional(name, name)


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


def test_a_push_inside_xgboosts_classifier_is_scored_by_its_margins():
    """Its probabilities in single precision would tie the rows at the top."""
    X, y = load_breast_cancer(return_X_y=True)
    push = XGBObjective(PushObjective(price=Power(4.0), scale="log"))
    model = xgboost.XGBClassifier(n_estimators=300, n_jobs=1, objective=push).fit(X[::2], y[::2])
    margins = model.predict(X[1::2], output_margin=True)
    for scored in (model, make_pipeline(FunctionTransformer(), model)):
        np.testing.assert_array_equal(model_scores(scored, X[1::2]), margins)
        np.testing.assert_array_equal(raw_scores(scored, X[1::2]), margins)
    assert len(np.unique(margins)) > 2 * len(np.unique(model.predict_proba(X[1::2])[:, 1]))
