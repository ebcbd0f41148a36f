"""Laws of every metric: its formula, its weights, its ties, its scorer, and its sampling error."""

import inspect
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold, cross_validate
from sklearn.naive_bayes import GaussianNB

from oracle import METRIC_PARAMETERS, metric_formula
from pushrank import metrics
from pushrank.metrics import scorers
from pushrank.metrics._bootstrap import StratifiedBootstrap
from pushrank.metrics._ranking import Ranking
from pushrank.metrics._registry import METRICS, bind_metric
from samples import tied_scores
from strategies import LISTS

TIES = ("pessimistic", "half", "optimistic")
SHORT_LISTS = LISTS.filter(lambda case: len(case[0]) <= 6)
OF_QUERIES = [name for name, spec in METRICS.items() if "qid" in spec.parameters]
OF_ROWS = [name for name in METRICS if name not in OF_QUERIES]


def tie_rules(name):
    """The rules that a metric takes, as keywords."""
    parameter = inspect.signature(METRICS[name].function).parameters.get("ties")
    more = ("min", "max") if parameter is not None and parameter.annotation == "RankTies" else ()
    return [{}] if parameter is None else [{"ties": rule} for rule in (*TIES, *more)]


def calls(name):
    """Every combination of parameters and tie rules that the laws try."""
    return [p | ties for p in METRIC_PARAMETERS.get(name, [{}]) for ties in tie_rules(name)]


def values(name, y, weights=None):
    """The values of the rows where a metric takes some, and their weights."""
    rows = {"value": np.arange(1.0, len(y) + 1) ** 2} if "value" in METRICS[name].parameters else {}
    return rows if weights is None else rows | {"sample_weight": weights}


@pytest.mark.parametrize("name", METRICS)
@given(case=SHORT_LISTS, data=st.data())
def test_a_metric_is_its_formula(name, case, data):
    y, scores, _ = case
    rows = values(name, y)
    parameters = data.draw(st.sampled_from(calls(name)))
    expected = metric_formula(name)(y, scores, **parameters, **rows)
    found = METRICS[name].function(y.astype(float), scores, **parameters, **rows)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_metric_without_a_formula_is_named():
    with pytest.raises(LookupError, match="no formula for the metric 'new_metric': write it out"):
        metric_formula("new_metric")


@pytest.mark.parametrize("name", OF_ROWS)
@given(case=LISTS, data=st.data())
def test_whole_weights_are_numbers_of_copies(name, case, data):
    y, scores, w = case
    parameters = data.draw(st.sampled_from(calls(name)))
    metric = partial(METRICS[name].function, **parameters)
    weighted = metric(y, scores, **values(name, y, w))
    rows = np.repeat(np.arange(len(y)), w.astype(int))
    copied = metric(y[rows], scores[rows], **{key: v[rows] for key, v in values(name, y).items()})
    assert weighted == pytest.approx(copied, rel=1e-12)
    of_ones = metric(y, scores, **values(name, y, np.ones(len(y))))
    assert of_ones == pytest.approx(metric(y, scores, **values(name, y)), rel=1e-12, abs=1e-15)
    kept = np.arange(len(y)) != data.draw(st.integers(0, len(y) - 1))
    if 0 < y[kept].sum() < kept.sum() and parameters.get("k", 0) <= w[kept].sum():
        removed = metric(y[kept], scores[kept], **{k: v[kept] for k, v in values(name, y, w).items()})
        assert metric(y, scores, **values(name, y, np.where(kept, w, 0.0))) == pytest.approx(removed)


def tied_lists():
    """A few lists of labels, tied scores and weights."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.append([True, False], rng.random(2 * seed) < 0.4)
        yield y, rng.integers(-3, 4, len(y)).astype(float), rng.integers(1, 4, len(y)).astype(float)


@pytest.mark.parametrize("name", METRICS)
def test_many_rankings_are_measured_as_one_by_one(name):
    for y, scores, w in tied_lists():
        table = np.stack([scores, scores[::-1], np.round(scores / 2)])
        parameters = METRIC_PARAMETERS.get(name, [{}])[0] | values(name, y, w)
        one_by_one = [METRICS[name].function(y, row, **parameters) for row in table]
        np.testing.assert_array_equal(METRICS[name].function(y, table, **parameters), one_by_one)


@pytest.mark.parametrize("name", sorted(set(METRICS) - {"margin", "margin_error", "smooth_margin"}))
def test_increasing_maps_change_nothing(name):
    for y, scores, _ in tied_lists():
        for parameters in calls(name):
            metric = partial(METRICS[name].function, y, **parameters, **values(name, y))
            assert metric(np.exp(3 * scores) - 7) == metric(scores)


@pytest.mark.parametrize("name", [name for name in METRICS if tie_rules(name) != [{}]])
def test_by_default_ties_count_by_their_expectation_and_in_pairs_as_errors(name):
    """Errors in pairs are defined so in the papers; half ties are those of scikit-learn for two metrics."""
    in_pairs = ("margin_error", "positives_at_top", "r_max", "rg_error", "rp_error")
    rule = "pessimistic" if name in in_pairs else "half"
    for y, scores, _ in tied_lists():
        parameters = METRIC_PARAMETERS.get(name, [{}])[0] | values(name, y)
        metric = partial(METRICS[name].function, y, scores, **parameters)
        assert metric() == metric(ties=rule)


@pytest.mark.parametrize("name", [name for name, spec in METRICS.items() if not spec.uses_scores])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rankings", [1, 2])
def test_a_resample_is_measured_like_its_copied_rows(name, weighted, n_rankings):
    if name == "value_at_k":
        return  # resamples draw values with their rows: test_a_resample_has_the_values_of_its_copied_rows
    rng = np.random.default_rng(0)
    y, scores = tied_scores(rng)
    whole = "RankTies" in str(inspect.signature(METRICS[name].function))
    w = rng.integers(1, 4, len(y)) / (1 if whole else 2) if weighted else None
    call = partial(METRICS[name].function, **METRIC_PARAMETERS.get(name, [{}])[-1])
    rankings = [Ranking(y, s, w) for s in (scores, rng.permutation(scores))[:n_rankings]]
    if n_rankings == 1 and not weighted:  # rows are numbered in the order of the scores
        order = np.argsort(scores, kind="stable")
        rankings[0] = Ranking(y[order], scores[order])
    as_users_own = bind_metric(lambda *rows, **weights: call(*rows, **weights))
    by_counts, by_rows = (
        StratifiedBootstrap(rankings, [metric]).evaluate_resamples(50, 3)
        for metric in (bind_metric(call), as_users_own)
    )
    np.testing.assert_allclose(by_counts, by_rows, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.* on every resample")
@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_an_interval_by_its_name(name):
    y, scores = tied_scores(np.random.default_rng(8))
    parameters = METRIC_PARAMETERS.get(name, [{}])[0]
    rows = values(name, y)
    settings = {"n_resamples": 50, "random_state": 0, **rows}
    interval = metrics.confidence_interval(y, scores, name, **settings, **parameters)
    assert interval.estimate == METRICS[name].function(y, scores, **parameters, **rows)
    assert not interval.low > interval.high
    comparison = metrics.compare(y, scores, scores, name, **settings, **parameters)
    assert comparison.p_value == 1.0


@pytest.mark.parametrize("name", METRICS)
def test_the_trials_of_a_proportion_bound_it(name):
    y, scores = tied_scores(np.random.default_rng(8))
    for parameters in METRIC_PARAMETERS.get(name, [{}]):
        estimate = METRICS[name].function(y, scores, **parameters, **values(name, y))
        for n, unit in METRICS[name].error.trials(Ranking(y, scores), **parameters):
            assert 1 <= n <= len(y)
            assert 0 <= estimate <= unit * (1 + 1e-12)


INFLUENTIAL = [name for name, spec in METRICS.items() if spec.error.influence_values is not None]


@pytest.mark.parametrize("name", INFLUENTIAL)
@pytest.mark.parametrize("weighted", [False, True])
def test_influence_values_are_derivatives_by_the_weights_of_the_rows(name, weighted):
    rng = np.random.default_rng(5)
    y, scores = tied_scores(rng)
    w = rng.random(len(y)) + 0.5 if weighted else np.ones(len(y))
    spec, ranking = METRICS[name], Ranking(y, scores, w)
    step = 1e-6
    for mask, influence in zip((y, ~y), spec.error.influence_values(ranking), strict=True):
        centred = influence - np.average(influence, weights=w[mask])
        for row, expected in zip(np.flatnonzero(mask), centred / w[mask].sum(), strict=True):
            raised, lowered = (
                spec.function(y, scores, sample_weight=w + sign * step * (np.arange(len(y)) == row))
                for sign in (1, -1)
            )
            assert (raised - lowered) / (2 * step) == pytest.approx(expected, abs=1e-8)


def test_only_metrics_that_are_resampled_have_an_interval_in_the_table():
    y, scores = tied_scores(np.random.default_rng(8))
    found = metrics.measure(y, scores, n_resamples=20, every=True, random_state=0).measures["scores"]
    shown = {figure.name: spec for spec in METRICS.values() for figure in spec.figures}
    assert set(found) == {name for name, spec in shown.items() if "value" not in spec.parameters}
    for name, interval in found.items():
        assert np.isnan(interval.low) != shown[name].error.resampled, name


def test_every_function_of_the_module_that_returns_a_number_is_a_metric():
    others = {
        "Measurement", "compare", "confidence_interval", "gains_table", "height", "make_top_scorer",
        "measure", "reverse_height", "threshold_for", "top_of_list",
        "AtBudget", "AtPrecision", "AtRecall", "Guaranteed",
        "HitsPromise", "audit_bound", "guarantee", "guarantee_days", "sample_size_for",
        "PeriodMeasurement", "Regret", "measure_periods", "ActedMeasurement", "measure_acted",
    }  # fmt: skip
    assert set(METRICS) == set(metrics.__all__) - others


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_declares_its_scorers(name):
    for scorer_name, parameters in METRICS[name].scorers.items():
        scorer = pickle.loads(pickle.dumps(getattr(scorers, scorer_name)))  # noqa: S301
        assert scorer._sign == (1 if METRICS[name].greater_is_better else -1)
        assert scorer_name.startswith("neg_") != METRICS[name].greater_is_better
        assert scorer._kwargs == parameters
        assert scorers.SCORERS[scorer_name] is getattr(scorers, scorer_name)


@pytest.mark.parametrize("name", METRICS)
def test_scikit_learns_make_scorer_takes_every_metric(name):
    """Of a classifier that is none of ours, with weights and other rows routed through cross-validation."""
    metric, rng = METRICS[name].function, np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 3 == 0
    options = {"k": 3} if METRICS[name].takes_depth else {}
    rows = {"sample_weight": 1.0 + y, "value": rng.random(60), "qid": np.arange(60) // 20}
    routed = {key: column for key, column in rows.items() if key in METRICS[name].parameters}
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(metric, response_method=("decision_function", "predict_proba"), **options)
        scorer.set_score_request(**dict.fromkeys(routed, True))
        model = GaussianNB().set_fit_request(sample_weight=True)
        settings = {"cv": KFold(2), "error_score": "raise", "return_estimator": True}
        found = cross_validate(model, X, y, scoring=scorer, params=routed, **settings)
    folds = KFold(2).split(X), found["estimator"], found["test_score"]
    for (_, test), fitted, score in zip(*folds, strict=True):
        rows_of_fold = {key: column[test] for key, column in routed.items()}
        assert score == metric(y[test], fitted.predict_proba(X[test])[:, 1], **options, **rows_of_fold)
