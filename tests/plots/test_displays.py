"""What all displays promise: drawing as a user sees it, keywords, weights, and life without matplotlib."""

import inspect
import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pushrank import PNormPush, RankBoost, plots
from strategies import scores_and_labels

pytestmark = pytest.mark.fast

CURVES = [plots.TopCurveDisplay, plots.RocLeftEdgeDisplay]
RANKING_DISPLAYS = [
    *CURVES,
    plots.GuaranteeDisplay,
    plots.DiscountDisplay,
    plots.ConcentrationDisplay,
]


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
        ) | of_plot | {"ax", "plot_kwargs"}
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


@pytest.mark.parametrize("display", CURVES)
def test_a_curve_is_drawn_as_the_user_says(cancer, display):
    X, y = cancer
    for drawn in (
        display.from_predictions(y, X[:, 0], curve_kwargs={"color": "k"}),
        display.from_estimator(PNormPush().fit(X, y), X, y, curve_kwargs={"color": "k"}),
    ):
        assert drawn.line_.get_color() == "k"


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
