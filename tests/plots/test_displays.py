"""Displays: numbers against brute force, drawing as a user sees it, and life without matplotlib."""

from __future__ import annotations

import inspect
import re
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from oracle import LOSSES
from pushrank import (
    SVMMAP,
    AdaBoostRanker,
    InfinitePush,
    PerceptronAtK,
    PNormPush,
    PNormPushCV,
    PushBoostCV,
    PushObjective,
    PushRankerCV,
    RankBoost,
    RankSVM,
    SmoothMarginRanking,
    metrics,
    plots,
)
from pushrank.metrics._proportions import wilson_interval
from pushrank.prices import LogOnePlus, Maximum, Power

pytestmark = pytest.mark.fast

pyplot.switch_backend("Agg")

CURVES = [plots.TopCurveDisplay, plots.RocLeftEdgeDisplay]
RANKING_DISPLAYS = [*CURVES, plots.TopReliabilityDisplay, plots.DiscountDisplay, plots.ConcentrationDisplay]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def scores_and_labels(distinct=False):
    score = st.integers(-5, 5)
    rows = st.lists(st.tuples(st.booleans(), score), min_size=2, max_size=40)
    both = rows.filter(lambda found: 0 < sum(y for y, _ in found) < len(found))
    return both.map(
        lambda found: (
            np.array([y for y, _ in found], dtype=int),
            np.random.default_rng(0).permutation(len(found)).astype(float)
            if distinct
            else np.array([s for _, s in found], dtype=float),
        )
    )


@settings(deadline=None)
@given(scores_and_labels())
def test_precision_and_gains_are_those_of_the_metric(data):
    y, scores = data
    display = plots.TopCurveDisplay.compute(y, scores)
    assert display.k.tolist() == list(range(1, len(y) + 1))  # short lists are kept whole
    expected = [metrics.precision_at_k(y, scores, int(k), ties="half") for k in display.k]
    np.testing.assert_allclose(display.precision, expected)
    gains = plots.TopCurveDisplay.compute(y, scores, quantity="recall")
    rows = (gains.fraction * len(y)).round().astype(int)
    np.testing.assert_allclose(gains.recall * y.sum(), (np.array(expected) * display.k)[rows - 1])
    lift = plots.TopCurveDisplay.compute(y, scores, quantity="lift")
    np.testing.assert_allclose(lift.fraction, display.k / len(y))
    np.testing.assert_allclose(lift.lift, [metrics.lift(y, scores, int(k)) for k in display.k])


@settings(deadline=None)
@given(scores_and_labels(distinct=True))
def test_left_edge_is_that_of_scikit_learns_roc_curve(data):
    y, scores = data
    display = plots.RocLeftEdgeDisplay.compute(y, scores)
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    expected = [tpr[fpr <= rate + 1e-12].max() for rate in display.fpr]
    np.testing.assert_allclose(display.tpr, expected)
    top = metrics.positives_at_top(y, scores)
    assert display.tpr[0] * y.sum() == pytest.approx(top)


def test_ties_count_by_their_expectation():
    y, scores = [1, 0, 0, 1], [2.0, 1.0, 1.0, 1.0]
    assert plots.TopCurveDisplay.compute(y, scores).precision.tolist() == [
        1.0,
        pytest.approx((1 + 1 / 3) / 2),
        pytest.approx((1 + 2 / 3) / 3),
        0.5,
    ]
    assert plots.RocLeftEdgeDisplay.compute(y, scores).tpr.tolist() == [0.5, 0.75, 1.0]


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_interval_is_wilsons(confidence):
    hits, rows = np.array([0, 1, 7, 10]), np.array([10, 10, 10, 10])
    low, high = wilson_interval(hits.astype(float), rows.astype(float), confidence)
    for place, (found, of) in enumerate(zip(hits, rows, strict=True)):
        expected = binomtest(int(found), int(of)).proportion_ci(confidence, method="wilson")
        assert (low[place], high[place]) == pytest.approx((expected.low, expected.high), abs=1e-12)


OBJECTIVES = {
    "p-norm": PushObjective(price=Power(3.0)),
    "infinite": PushObjective("hinge", Maximum()),
    "ir": PushObjective(price=LogOnePlus(), side="pull"),
    "log_one_plus": PushObjective(price=LogOnePlus()),
    "hinge": PushObjective("hinge", Power(2.0)),
    "logistic": PushObjective("logistic", Power(2.0), scale="mean"),
    "pull": PushObjective(price=Power(3.0), side="pull"),
    "both": PushObjective(price=Power(2.0), side="both", bottom_weight=0.3),
}


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_concentration_is_each_pairs_part_of_the_objective(objective):
    rng = np.random.default_rng(1)
    y, scores = rng.permutation([1] * 5 + [0] * 7), rng.normal(size=12)
    positives, negatives = -np.sort(-scores[y == 1]), -np.sort(-scores[y == 0])
    losses = LOSSES[type(objective.loss).__name__](positives[:, None] - negatives)
    price = {
        "Power": lambda h: h**objective.price.p,
        "LogOnePlus": np.log1p,
        "Maximum": lambda h: np.where(h == h.max(), h, 0.0),
    }[type(objective.price).__name__]
    sums = losses.sum(axis=0), losses.sum(axis=1, keepdims=True)
    push, pull = (price(h) * losses / h for h in sums)
    parts = {"push": push, "pull": pull, "both": push + objective.bottom_weight * pull}[objective.side]
    display = plots.ConcentrationDisplay.compute(y, scores, objective=objective)
    np.testing.assert_allclose(display.shares, parts / parts.sum(), atol=1e-7)
    coarse = plots.ConcentrationDisplay.compute(y, scores, objective=objective, bins=2)
    cut = coarse.positive_edges[:-1], coarse.negative_edges[:-1]
    summed = np.add.reduceat(np.add.reduceat(display.shares, cut[0], axis=0), cut[1], axis=1)
    np.testing.assert_allclose(coarse.shares, summed, atol=1e-12)


def test_concentration_of_large_data_needs_memory_for_its_rows_only():
    rng = np.random.default_rng(0)
    y, scores = np.arange(60_000) % 2, 30 * rng.normal(size=60_000)
    plots.ConcentrationDisplay.compute(y[:100], scores[:100], objective=64)
    tracemalloc.start()
    display = plots.ConcentrationDisplay.compute(y, scores, objective=64)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * scores.nbytes  # the pairs would need 30,000 times as much
    assert display.shares.shape == (40, 40)
    assert display.shares.sum() == pytest.approx(1.0)
    assert display.share_of_highest_negatives(1.0) == pytest.approx(1.0)


def test_concentration_without_errors_is_refused():
    with pytest.raises(ValueError, match="no pair contributes"):
        plots.ConcentrationDisplay.compute([0, 1], [0.0, 1.0], objective=PushObjective("zero_one"))
    for bins, error in ((0, ValueError), (2.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="bins must be"):
            plots.ConcentrationDisplay.compute([0, 1], [0.0, 1.0], bins=bins)
    with pytest.raises(TypeError, match="max_k must be an integer"):
        plots.TopCurveDisplay.compute([0, 1], [0.0, 1.0], max_k=1.0)


@given(scores_and_labels(distinct=True))
def test_discounts_are_heights_to_the_power_p(data):
    y, scores = data
    display = plots.DiscountDisplay.compute(y, scores, p=[1, 3])
    ordered = y[np.argsort(-scores)]
    for place, rank in enumerate(display.ranks):
        height = ordered[rank - 1 :].sum() / y.sum()
        assert display.weights["push, p = 1"][place] == pytest.approx(height)
        assert display.weights["push, p = 3"][place] == pytest.approx(height**3)
    for weights in display.weights.values():
        assert weights[0] == 1.0
    of_ir = display.weights["IR Push, -log(1 + rank)"]
    steps = -np.diff(np.log1p(display.ranks))
    np.testing.assert_allclose(np.diff(of_ir), steps / np.log((1 + len(y)) / 2), atol=1e-12)
    assert of_ir[-1] == pytest.approx(0.0, abs=1e-12)


def test_reliability_holds_shares_against_what_was_predicted():
    rng = np.random.default_rng(0)
    chance = rng.random(3000)
    covered = np.zeros(9)
    for _ in range(100):
        y = (rng.random(3000) < chance).astype(int)
        display = plots.TopReliabilityDisplay.compute(y, chance, probabilities=chance)
        covered += (display.low <= display.predicted) & (display.predicted <= display.high)
    assert (covered >= 88).all()  # of 100 intervals that each cover with a chance of 95 % or more
    display = plots.TopReliabilityDisplay.compute(y, chance, probabilities=chance)
    assert display.edges.tolist() == [0, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000]
    order = np.argsort(-chance)
    np.testing.assert_allclose(display.share[1], y[order][10:20].mean())
    np.testing.assert_allclose(display.predicted[1], chance[order][10:20].mean())
    for probabilities, message in ((2 * chance, "between 0 and 1"), (chance[:5], "shape")):
        with pytest.raises(ValueError, match=message):
            plots.TopReliabilityDisplay.compute(y, chance, probabilities=probabilities)


@pytest.mark.parametrize("display", CURVES)
def test_models_in_one_axes_differ_in_colour_and_in_dash(cancer, display):
    X, y = cancer
    ax = None
    for model in (LogisticRegression(), PNormPush(), RankBoost(n_estimators=5)):
        ax = display.from_estimator(make_pipeline(StandardScaler(), model).fit(X, y), X, y, ax=ax).ax_
    curves = [line for line in ax.get_lines() if line.get_gid() == "pushrank curve"]
    assert len({line.get_color() for line in curves}) == 3
    assert len({str(line.get_linestyle()) for line in curves}) == 3
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend[:3] == ["LogisticRegression", "PNormPush", "RankBoost"]
    assert len(legend) == 4  # and one line to compare with, named once


def test_reliability_of_two_models_stands_side_by_side(cancer):
    X, y = cancer
    first = plots.TopReliabilityDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    second = plots.TopReliabilityDisplay.from_estimator(PNormPush().fit(X, y), X, y, ax=first.ax_)
    assert first.predicted is not None
    assert second.predicted is None
    of_first, of_second = first.bars_.lines[0], second.bars_.lines[0]
    assert of_first.get_color() != of_second.get_color()
    assert of_first.get_marker() != of_second.get_marker()
    assert (of_first.get_xdata() != of_second.get_xdata()).all()


@pytest.mark.parametrize("display", RANKING_DISPLAYS)
def test_every_display_draws_from_predictions_into_axes_of_the_user(cancer, display):
    X, y = cancer
    scores = PNormPush().fit(X, y).decision_function(X)
    _, ax = pyplot.subplots()
    drawn = display.from_predictions(y, scores, ax=ax, name="mine", plot_kwargs={"name": "yours"})
    assert drawn.ax_ is ax
    assert drawn.figure_ is ax.figure
    assert drawn.name == "mine"
    ax.figure.canvas.draw()
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    texts = [
        ax.get_title(),
        *(t.get_text() for t in (ax.get_legend().get_texts() if ax.get_legend() else [])),
    ]
    assert any("yours" in text for text in texts)
    with pytest.raises(ValueError, match="2 classes"):
        display.from_predictions(np.arange(len(y)), scores)
    with pytest.raises(ValueError, match="finite"):
        display.compute(y, np.full(len(y), np.nan))


@pytest.mark.parametrize(
    ("quantity", "references"),
    [
        ("precision", {"all rows"}),
        ("recall", {"best possible; random order", "_random order"}),
        ("lift", {"best possible; random order", "_random order"}),
    ],
)
def test_every_quantity_is_drawn_beside_what_it_is_compared_with(cancer, quantity, references):
    X, y = cancer
    display = plots.TopCurveDisplay.from_predictions(y, X[:, 0], quantity=quantity)
    drawn = display.line_.get_ydata()
    np.testing.assert_array_equal(drawn[-len(display.k) :], getattr(display, quantity))
    assert (display.band_ is None) == (quantity != "precision")
    others = [line for line in display.ax_.get_lines() if line is not display.line_]
    assert {line.get_label() for line in others} == references
    if quantity != "precision":
        best = next(line for line in others if line.get_label().startswith("best"))
        x = display.line_.get_xdata()
        assert (drawn <= np.interp(x, best.get_xdata(), best.get_ydata()) + 0.01).all()


def test_curve_keywords_of_the_user_win(cancer):
    X, y = cancer
    scores = X[:, 0]
    display = plots.TopCurveDisplay.from_predictions(
        y, scores, plot_kwargs={"curve_kwargs": {"c": "red", "ls": ":"}, "band": False}
    )
    assert display.line_.get_color() == "red"
    assert display.line_.get_linestyle() == ":"
    assert display.band_ is None


@pytest.mark.parametrize("display", RANKING_DISPLAYS)
def test_keywords_are_those_of_compute_each_with_its_name(cancer, display):
    X, y = cancer
    of_compute = dict(inspect.signature(display.compute).parameters)
    of_plot = inspect.signature(display.plot).parameters.keys() & {"curve_kwargs"}
    for method, more in (("from_predictions", set()), ("from_estimator", {"estimator", "X", "y"})):
        taken = inspect.signature(getattr(display, method)).parameters
        more = more | {"response_method"} if more else more
        assert taken.keys() - more == of_compute.keys() - (
            {"y_true", "scores"} if more else set()
        ) | of_plot | {
            "ax",
            "plot_kwargs",
        }
        assert not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    ranker = PNormPush().fit(X, y)
    with pytest.raises(TypeError, match=r"from_predictions\(\) got an unexpected keyword argument 'colour'"):
        display.from_predictions(y, X[:, 0], colour="k")
    with pytest.raises(TypeError, match=r"one matplotlib Axes, got ndarray of 2; .* axes\[0\]"):
        display.from_estimator(ranker, X, y, ax=pyplot.subplots(1, 2)[1])
    with pytest.raises(TypeError, match="PNormPush has no predict_proba"):
        display.from_estimator(ranker, X, y, response_method="predict_proba")
    with pytest.raises(ValueError, match="response_method must be one of"):
        display.from_estimator(ranker, X, y, response_method="predict")


@pytest.mark.parametrize("display", [*CURVES, plots.TopReliabilityDisplay])
def test_a_curve_is_drawn_as_the_user_says(cancer, display):
    X, y = cancer
    for drawn in (
        display.from_predictions(y, X[:, 0], curve_kwargs={"color": "k"}),
        display.from_estimator(PNormPush().fit(X, y), X, y, curve_kwargs={"color": "k"}),
    ):
        line = drawn.bars_.lines[0] if hasattr(drawn, "bars_") else drawn.line_
        assert line.get_color() == "k"


def test_the_response_that_is_asked_for_gives_the_scores(cancer):
    X, y = cancer
    model = LogisticRegression().fit(X, y)
    of_concentration = plots.ConcentrationDisplay.from_estimator(
        model, X, y, objective=4.0, response_method="predict_proba"
    )
    expected = plots.ConcentrationDisplay.compute(y, model.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(of_concentration.shares, expected.shares)


@settings(deadline=None)
@given(scores_and_labels(), st.randoms(use_true_random=False))
def test_whole_weights_are_copies_and_their_unit_does_not_matter(data, random):
    y, scores = data
    w = np.array([random.randint(1, 3) for _ in y])
    copies = np.repeat(np.arange(len(y)), w)
    weighted = plots.TopCurveDisplay.compute(y, scores, sample_weight=w)
    copied = plots.TopCurveDisplay.compute(y[copies], scores[copies])
    np.testing.assert_array_equal(weighted.k, copied.k)
    np.testing.assert_allclose(weighted.precision, copied.precision)
    assert weighted.base_rate == copied.base_rate
    assert weighted.low is None
    gains = plots.TopCurveDisplay.compute(y, scores, quantity="recall", sample_weight=0.1 * w)
    copied = plots.TopCurveDisplay.compute(y[copies], scores[copies], quantity="recall")
    expected = np.interp(gains.fraction, np.append(0, copied.fraction), np.append(0, copied.recall))
    np.testing.assert_allclose(gains.recall, expected, atol=1e-9)
    assert gains.base_rate == pytest.approx(copied.base_rate)
    for display in CURVES:
        alike = display.compute(y, scores, sample_weight=np.full(len(y), 0.1))
        plain = display.compute(y, scores)
        for name in ("precision", "recall", "lift") if hasattr(plain, "lift") else ("tpr",):
            np.testing.assert_allclose(getattr(alike, name), getattr(plain, name), atol=1e-9)
    w = 2 * np.ones(len(y))
    w[np.flatnonzero(y)[0]] = 0 if y.sum() > 1 else 2
    left = plots.RocLeftEdgeDisplay.compute(y, scores, sample_weight=w)
    dropped = plots.RocLeftEdgeDisplay.compute(y[w > 0], scores[w > 0])
    np.testing.assert_allclose(left.tpr, dropped.tpr, atol=1e-9)


def test_estimators_of_every_kind(cancer):
    X, y = cancer
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    of_tree = plots.TopCurveDisplay.from_estimator(tree, X, y, quantity="recall")
    expected = plots.TopCurveDisplay.compute(y, tree.predict_proba(X)[:, 1], quantity="recall")
    np.testing.assert_array_equal(of_tree.recall, expected.recall)
    for model in (tree, PNormPush().fit(X, y)):
        turned = plots.TopCurveDisplay.from_estimator(model, X, y, pos_label=0)
        assert turned.precision[0] == 1.0
        assert turned.base_rate == pytest.approx((y == 0).mean())
    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        plots.TopCurveDisplay.from_estimator(LinearRegression().fit(X, y), X, y)
    three = LogisticRegression().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="knows 3 classes"):
        plots.TopCurveDisplay.from_estimator(three, X, y)
    with pytest.raises(ValueError, match="pos_label=7 is not a class"):
        plots.TopCurveDisplay.from_estimator(tree, X, y, pos_label=7)


def test_concentration_of_a_ranker_is_that_of_its_own_objective(cancer):
    X, y = cancer
    ranker = PNormPush(p=16).fit(X, y)
    own = plots.ConcentrationDisplay.from_estimator(ranker, X, y)
    named = plots.ConcentrationDisplay.compute(y, ranker.decision_function(X), objective=16)
    np.testing.assert_allclose(own.shares, named.shares)
    with pytest.raises(TypeError, match="minimises no sum over pairs"):
        plots.ConcentrationDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)


@pytest.mark.parametrize(
    ("ranker", "objective"),
    [
        (RankSVM(), PushObjective("squared_hinge")),
        (RankSVM(loss="hinge"), PushObjective("hinge")),
        (InfinitePush(0.01), PushObjective("hinge", "maximum")),
        (PNormPushCV((4, 8), (0.1,), cv=2), None),
        (PushRankerCV("logistic", (Power(2.0),), alphas=(0.1,), cv=2), PushObjective("logistic", Power(2.0))),
        (SmoothMarginRanking(not_separable="warn", n_estimators=5), PushObjective()),
        (make_pipeline(StandardScaler(), RankBoost(n_estimators=5)), PushObjective()),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # of a margin that is not positive after few rounds
def test_concentration_of_rankers_that_minimise_sums_over_pairs(cancer, ranker, objective):
    X, y = cancer
    ranker.fit(X[:200], y[:200])
    own = plots.ConcentrationDisplay.from_estimator(ranker, X, y)
    scores = ranker.decision_function(X)
    objective = ranker.p_ if objective is None else objective
    named = plots.ConcentrationDisplay.compute(y, scores, objective=objective)
    np.testing.assert_allclose(own.shares, named.shares)


def test_concentration_of_rankers_that_minimise_no_sum_over_pairs(cancer):
    X, y = (part[:200] for part in cancer)
    for ranker in (AdaBoostRanker(n_estimators=5), SVMMAP(), PerceptronAtK()):
        ranker.fit(X, y)
        with pytest.raises(TypeError, match=f"{type(ranker).__name__} minimises no sum over pairs"):
            plots.ConcentrationDisplay.from_estimator(ranker, X, y)
    with pytest.raises(NotFittedError):
        plots.ConcentrationDisplay.from_estimator(PNormPushCV(), X, y)


def test_paths_of_fits(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), PNormPush()).fit(X, y)
    path = plots.TrainingPathDisplay.from_estimator(pipeline, plot_kwargs={"above": 0.0})
    np.testing.assert_array_equal(path.path, pipeline[-1].objective_path_)
    plain = plots.TrainingPathDisplay.from_estimator(pipeline)
    np.testing.assert_array_equal(plain.line_.get_ydata(), path.path)
    with pytest.raises(TypeError, match="keeps no objective_path_"):
        plots.TrainingPathDisplay.from_estimator(LogisticRegression().fit(X, y))
    margin = SmoothMarginRanking(n_estimators=50).fit([[0.0], [1.0]], [0, 1])
    display = plots.TrainingPathDisplay.from_estimator(margin, quantity="smooth_margin", bound=1.0)
    np.testing.assert_array_equal(display.path, margin.smooth_margin_path_)
    assert display.margin == margin.margin_
    with pytest.raises(TypeError, match="keeps no smooth_margin_path_"):
        plots.TrainingPathDisplay.from_estimator(pipeline, quantity="smooth_margin")
    with pytest.raises(ValueError, match="above is for an objective"):
        display.plot(above=0.0)
    with pytest.raises(ValueError, match="quantity must be one of"):
        plots.TrainingPathDisplay.compute(pipeline, quantity="loss")


def test_candidates_of_a_search(cancer):
    X, y = cancer
    options = {"ps": (1.0, 4.0), "learning_rates": [1.0], "n_estimators": [3], "cv": 3}
    ranker = PushBoostCV(20, **options).fit(X, y)
    display = plots.CandidatesDisplay.from_estimator(ranker)
    assert display.labels == ["p = 1", "p = 4"]
    assert display.labels[display.chosen] == f"p = {ranker.best_params_['p']:g}"
    np.testing.assert_array_equal(display.precision, [one["precision"] for one in ranker.candidates_])
    points = display.container_.lines[0]
    np.testing.assert_array_equal(points.get_xdata(), display.precision)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == display.labels
    with pytest.raises(TypeError, match="LogisticRegression has no candidates_"):
        plots.CandidatesDisplay.from_estimator(LogisticRegression().fit(X[:50], y[:50]))


def test_settings_out_of_range():
    y, scores = [0, 1, 1], [0.0, 1.0, 2.0]
    for display, setting in (
        (plots.TopCurveDisplay, {"max_k": 4}),
        (plots.TopCurveDisplay, {"confidence_level": 1.0}),
        (plots.TopCurveDisplay, {"quantity": "hits"}),
        (plots.DiscountDisplay, {"p": [0.5]}),
    ):
        with pytest.raises(ValueError, match=f"^{next(iter(setting))}"):
            display.compute(y, scores, **setting)


def test_without_matplotlib_numbers_are_there_and_the_error_names_the_extra(monkeypatch):
    for module in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    display = plots.TopCurveDisplay.compute([0, 1], [0.0, 1.0])
    assert display.precision.tolist() == [1.0, 0.5]
    with pytest.raises(ImportError, match=re.escape('pip install "pushrank[plot]"')):
        display.plot()


def test_help_shows_every_parameter_of_every_method():
    for name in plots.__all__:
        for method in ("compute", "from_predictions", "from_estimator", "plot"):
            function = getattr(getattr(plots, name), method, None)
            if function is not None:
                documented = re.findall(r"^(\w+) : ", inspect.getdoc(function), re.MULTILINE)
                assert documented == [p for p in inspect.signature(function).parameters if p != "self"]
