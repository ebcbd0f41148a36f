"""Scores of any models, measured: what is shown is what the metrics, intervals and comparisons give."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from oracle import metric_formula, orders
from pushrank import metrics
from pushrank._base.bounds import decimals
from pushrank.metrics.measurement import aligned_lines, number_text
from strategies import LISTS


@given(case=LISTS.filter(lambda case: len(case[0]) <= 7))
def test_the_summary_of_a_list_is_of_its_metrics(case):
    y, scores, w = case
    top = metrics.top_of_list(y, scores)
    expected = np.mean([order[: y.sum()].mean() for order in orders(y, scores, "half")])
    assert top["precision_at_positives"] == pytest.approx(expected)
    assert top["positives_at_top"] == np.sum(scores[y] > scores[~y].max())
    assert top == pytest.approx(metrics.top_of_list(y, np.exp(3 * scores) - 7))
    copies = np.repeat(np.arange(len(y)), w.astype(int))
    of_copies = metrics.top_of_list(y[copies], scores[copies])
    assert metrics.top_of_list(y, scores, sample_weight=w) == pytest.approx(of_copies)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.2
    good, tied = y + rng.normal(size=300), np.round(y + 2 * rng.normal(size=300))
    return y, {"good": good, "tied": tied, "double": 2 * good}, rng.lognormal(4, 1, 300)


def test_every_figure_is_that_of_the_metric_its_interval_and_its_comparison(rows):
    y, scores, value = rows
    found = metrics.measure(y, scores, k=30, value=value, n_resamples=100, random_state=0)
    at = {"k": 30}
    for name, metric, options, factor in (
        ("hits", "precision_at_k", at, 30),
        ("precision", "precision_at_k", at, 1),
        ("recall", "recall_at_k", at, 1),
        ("lift", "lift", at, 1),
        ("value", "value_at_k", {**at, "value": value}, 1),
        ("value_share", "value_at_k", {**at, "value": value, "normalize": True}, 1),
        ("average_precision", "average_precision", {}, 1),
        ("auc", "auc", {}, 1),
        ("partial_auc", "partial_auc", {}, 1),
        ("enrichment_factor", "lift", {"fraction": 0.01}, 1),
        ("bedroc", "bedroc", {}, 1),
    ):
        metric = partial(getattr(metrics, metric), **options)
        draws = {"n_resamples": 100, "random_state": 0, "value": options.pop("value", None)}
        by_name = metric.func.__name__
        for model in scores:
            shown = found.measures[model][name]
            assert shown.estimate == pytest.approx(factor * metric(y, scores[model]))
            expected = metrics.confidence_interval(y, scores[model], by_name, **draws, **options)
            assert shown == pytest.approx(tuple(factor * number for number in expected), nan_ok=True)
        shown = found.differences["tied"][name]
        lists = y, scores["tied"], scores["good"]
        expected = metrics.compare(*lists, by_name, confidence_level=0.975, **draws, **options)
        assert shown[:3] == pytest.approx(tuple(factor * number for number in expected[:3]))
        assert shown.p_value == pytest.approx(min(1.0, 2 * expected.p_value))  # of two comparisons
        assert found.differences["double"][name] == (0.0, 0.0, 0.0, 1.0)
    top = found.measures["good"]["positives_at_top"]
    assert top.estimate == metrics.positives_at_top(y, scores["good"])
    assert np.isnan(top.low)
    assert list(found.measures["good"]) == list(found.meanings) == list(found.differences["tied"])


def test_columns_of_a_printed_table_are_as_wide_as_their_longest_cell():
    assert aligned_lines(["measure", "n"], [["AUC of all", "700"]]) == ["measure       n", "AUC of all  700"]


def test_what_is_printed_says_who_is_better_and_whether_by_chance(rows):
    y, scores, _ = rows
    found = metrics.measure(y, scores, k=30, n_resamples=50, random_state=0)
    shown = str(found)
    rows = f"300 rows, {y.sum()} positive"
    assert shown.startswith(f"good, tied, double on {rows}; the first 30 rows looked at")
    assert "tied against good: -" in shown
    assert "(of all 2 differences together)" in shown
    assert "double against good: as many hits in the first 30 rows." in shown
    precision = found.measures["good"]["precision"]
    assert 0.0355 < (precision.high - precision.low) / 2.0 < 0.995  # an error of two decimals
    line = f"precision good {precision.estimate:.2f} {precision.low:.2f} to {precision.high:.2f} tied"
    assert line in " ".join(shown.split())
    assert repr(found) == f"Measurement({shown.splitlines()[0]})"
    renamed = metrics.measure(y, {"<b>": scores["good"]}, k=1, confidence_level=None)
    assert "the first row looked at" in str(renamed)
    assert "area under the ROC curve" in str(renamed)  # of one model there is room to say what measures are
    assert "interval" not in str(renamed)
    assert "&lt;b&gt;" in renamed._repr_html_()
    assert "<b>" not in renamed._repr_html_()


def test_without_intervals_there_are_none_but_differences(rows):
    y, scores, _ = rows
    found = metrics.measure(y, scores, k=30, confidence_level=None)
    tied, good = (metrics.precision_at_k(y, scores[name], 30) for name in ("tied", "good"))
    expected = 30 * (tied - good)
    assert found.differences["tied"]["hits"].difference == pytest.approx(expected)
    assert np.isnan(found.differences["tied"]["hits"].low)
    assert found.sentences() == [
        f"tied against good: {expected:+.1f} hits in the first 30 rows.",
        "double against good: as many hits in the first 30 rows.",
    ]
    figures = found.summary()["scores"]["tied"]["auc"]
    assert (figures["low"], figures["estimate"]) == (None, pytest.approx(metrics.auc(y, scores["tied"])))
    assert json.loads(json.dumps(found.summary(), allow_nan=False)) == found.summary()


def test_tables_are_frames(rows):
    y, scores, _ = rows
    found = metrics.measure(y, pd.DataFrame(scores), n_resamples=10, random_state=0)
    assert found.depth == round(y.sum() / 4)
    measures = found.to_frame().set_index(["model", "measure"])
    assert measures.loc[("tied", "auc"), "estimate"] == pytest.approx(metrics.auc(y, scores["tied"]))
    assert set(found.to_frame("differences")["model"]) == {"tied", "double"}
    gains = found.to_frame("gains")
    assert len(gains) == 30
    assert gains.loc[0, "positives"] == 30 * metrics.precision_at_k(y, scores["good"], fraction=0.1)
    curves = found.to_frame("curves")
    at_ten = curves[(curves.model == "tied") & (curves.k == 10)]
    assert at_ten["precision"].item() == pytest.approx(metrics.precision_at_k(y, scores["tied"], 10))
    assert at_ten["lift"].item() == pytest.approx(metrics.lift(y, scores["tied"], 10))
    with pytest.raises(ValueError, match="table must be measures"):
        found.records("rows")


def test_a_paper_has_the_shares_and_rates_that_were_asked_for_of_lists_and_of_pairs(rows):
    y, _, _ = rows
    rng = np.random.default_rng(1)
    scores = {name: strength * y + rng.normal(size=300) for name, strength in (("a", 2), ("b", 1), ("c", 0))}
    asked = {"at": {"enrichment_factor": [0.02, 0.1], "bedroc": [20.0, 80.5]}, "pairs": "all"}
    options = {"n_resamples": 50, "random_state": 0}
    found = metrics.measure(y, scores, **asked, **options)
    paper = found.to_paper()
    assert paper["measure"].drop_duplicates().tolist() == [
        *(f"enrichment_factor at {share}" for share in ("2 %", "10 %")),
        *(f"bedroc at {alpha}" for alpha in ("20", "80.5")),
    ]
    figures = [("enrichment_factor", "lift", {"fraction": share}) for share in (0.02, 0.1)]
    figures += [("bedroc", "bedroc", {"alpha": alpha}) for alpha in (20.0, 80.5)]
    pairs = [("b", "a"), ("c", "a"), ("c", "b")]
    for (plain, metric, how), (_, part) in zip(figures, paper.groupby("measure", sort=False), strict=True):
        lists = list(zip(part["model"], part["against"], strict=True))
        assert lists == [("a", ""), ("b", ""), ("c", ""), *pairs]
        values = {name: metric_formula(plain)(y, scores[name], "half", **how) for name in scores}
        expected = [*values.values(), *(values[one] - values[other] for one, other in pairs)]
        assert part["figure"].tolist() == pytest.approx(expected, abs=1e-12)
        for row, (one, other) in zip(part.iloc[3:].itertuples(), pairs, strict=True):
            level = {"confidence_level": 1.0 - 0.05 / 3}
            compared = metrics.compare(y, scores[one], scores[other], metric, **level, **how, **options)
            assert (row.low, row.high) == pytest.approx(compared[:2])
            assert row.p_value == pytest.approx(min(1.0, 3 * compared.p_value))
    assert set(found.differences) == {"b", "c"}  # those from the first alone
    assert len(found.sentences()) == 3
    assert [(pair["model"], pair["against"]) for pair in found.summary()["pairs"]] == [("c", "b")]
    assert "enrichment_factor" not in found.meanings  # the default share is replaced
    default = metrics.measure(y, scores, **options)
    assert set(default.pairs) == {("b", "a"), ("c", "a")}
    assert len(default.to_paper()) == 5 * len(default.meanings)


def test_a_figure_without_an_interval_says_why():
    y, perfect = np.arange(200) < 60, -np.arange(200.0)
    found = metrics.measure(y, perfect, n_resamples=20, every=True, random_state=0)
    why = found.why_no_intervals()
    assert "positives_at_top, positives_below_best_negative (an extreme" in why
    assert "average_precision" in why.partition("(an extreme")[2]
    assert "the same in every resample" in why
    assert why in str(found)
    notes = found.to_paper().set_index("measure")["note"]
    assert "extreme" in notes["positives_at_top"]
    assert "resample" in notes["average_precision"]
    assert notes["precision"] == ""
    without = metrics.measure(y, perfect, confidence_level=None)
    assert without.why_no_intervals() == ""
    assert not without.to_paper()["note"].any()


def test_figures_of_few_positives_say_how_many_an_interval_takes():
    y, scores = np.arange(60) < 4, np.random.default_rng(0).normal(size=60)
    found = metrics.measure(y, scores, k=5, n_resamples=20, random_state=0)
    why = found.why_no_intervals()
    assert "average_precision, partial_auc, enrichment_factor, bedroc (it takes 5 positives, found 4)" in why
    assert found.summary()["without_interval"] == why
    assert found.to_paper().set_index("measure")["note"]["bedroc"] == "it takes 5 positives, found 4"
    given = {name for name, interval in found.measures["scores"].items() if not np.isnan(interval.low)}
    assert given == {"hits", "precision", "auc"}


def test_weights_are_copies_and_values_add_up():
    rng = np.random.default_rng(0)
    y, scores, value = rng.random(40) < 0.4, rng.integers(0, 9, 40), rng.integers(1, 99, 40)
    w = rng.integers(1, 4, 40)
    copies = np.repeat(np.arange(40), w)
    one = metrics.measure(y, scores, k=12, value=value, sample_weight=w, confidence_level=None)
    other = metrics.measure(y[copies], scores[copies], k=12, value=value[copies], confidence_level=None)
    assert one.n_rows == other.n_rows == len(copies)
    for name, found in one.measures["scores"].items():
        assert found.estimate == pytest.approx(other.measures["scores"][name].estimate), name


def test_a_series_is_one_model(rows):
    y, scores, _ = rows
    options = {"confidence_level": None}
    found = metrics.measure(y, pd.Series(scores["good"]), **options)
    assert found.summary() == metrics.measure(y, scores["good"], **options).summary()


def test_a_share_of_the_value_that_resamples_lack_has_no_interval(rows):
    """Two of the positives are worth anything: one resample in seven has neither."""
    y, scores, _ = rows
    value = np.zeros(300)
    value[np.flatnonzero(y)[:2]] = 100.0
    found = metrics.measure(y, scores, k=100, value=value, n_resamples=50, random_state=0)
    share, worth = (found.measures["good"][name] for name in ("value_share", "value"))
    assert np.isnan(share.low)
    assert share.estimate == worth.estimate / 200.0
    assert worth.low <= worth.estimate <= worth.high
    assert np.isnan(found.differences["tied"]["value_share"].p_value)
    with pytest.raises(ValueError, match="the value of all positives is 0"):
        metrics.measure(y, scores, value=0.0 * value)


def test_two_lists_at_opposite_bounds_are_not_apart_for_certain():
    """Three hits of three against none of three: resamples hardly differ, and yet say little."""
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.2
    good, bad = y + rng.normal(size=300), np.where(y, -1.0, rng.normal(size=300))
    found = metrics.compare(y, good, bad, "precision_at_k", k=3, random_state=0)
    assert found.difference == 1.0
    assert found.low < 0.9


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({}, {}, "at least one model, each by a different name, found none"),
        (pd.DataFrame([[1.0, 2.0]] * 3, columns=["a", "a"]), {}, r"found \['a', 'a'\]"),
        ({"a": [1.0, 2.0]}, {}, "inconsistent numbers of samples"),
        ({"a": np.eye(3)[:, :2]}, {}, r"found shape \(3, 2\); .* predict_proba pass the column \[:, 1\]"),
        ({"a": [1.0, 2.0, np.nan]}, {}, "finite, found nan in row 2"),
        ({"a": [1.0, 2.0, 3.0]}, {"k": 4}, "k=4 must lie between 1 and"),
        ({"a": [1.0, 2.0, 3.0]}, {"k": 1, "fraction": 0.5}, "one of k"),
        ({"a": [1.0, 2.0, 3.0]}, {"value": [1.0, 2.0]}, "inconsistent numbers of samples"),
        ({"a": [1.0, 2.0, 3.0]}, {"value": [1.0, 2.0, np.inf]}, "value must be finite, found inf in row 2"),
        ({"a": [1.0, 2.0, 3.0]}, {"confidence_level": 1.0}, "confidence_level must be"),
        ({"a": [1.0, 2.0, 3.0]}, {"at": {"enrichment_factor": [0.1, 1.5]}}, "fraction must be"),
        ({"a": [1.0, 2.0, 3.0]}, {"at": {"bedroc": [0.0]}}, "alpha must be"),
        ({"a": [1.0, 2.0, 3.0]}, {"pairs": "some"}, "pairs must be one of .'first', 'all'., got 'some'"),
        (
            {"a": [1.0, 2.0, 3.0]},
            {"at": {"auc": [0.5]}},
            "a name in at must be one of .'enrichment_factor', 'bedroc'.",
        ),
        ({"a": [1.0, 2.0, 3.0]}, {"n_resamples": 1}, "n_resamples must be"),
    ],
)
def test_what_cannot_be_measured_is_refused(scores, options, message):
    with pytest.raises(ValueError, match=message):
        metrics.measure([0, 1, 0], scores, **options)


def test_numbers_have_the_decimals_that_their_intervals_support():
    assert [decimals(error) for error in (12.3, 4.1, 0.012, 0.0)] == [0, 1, 3, 4]
    plain = [number_text(number) for number in (0.25, 1234.0, 1234.5678, -0.00001)]
    assert plain == ["0.2500", "1,234", "1,234.6", "0"]
    assert number_text(141.37, 129.2, 153.5) == "141"
    assert number_text(0.9, 0.85, 0.93) == "0.900"
    assert number_text(52.0, 47.0, 56.0) == "52"
