"""Comparisons of rankers: differences beyond chance, and the verdict in words."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from pushrank.model_selection import RankerComparison

CRITERION = "precision at 1/4"


def compared(n_repeats=1, **hits):
    """A comparison of models by their precision in every test part."""
    measures = {
        model.replace("_", " "): {CRITERION: np.array(parts), "average precision": np.array(parts)}
        for model, parts in hits.items()
    }
    return RankerComparison(measures, CRITERION, n_repeats=n_repeats)


def test_the_verdict_says_what_few_test_parts_can_show():
    logistic = [0.5, 0.5]
    same = compared(logistic=logistic, push=[0.75, 0.75])
    assert same.verdict() == (
        "Take push: it ranks hits highest over the whole list (average precision 0.750 on rows held out)."
        " Its precision at 1/4 is 0.750; expect 0.750 in as many rows to come. logistic, the simplest that "
        "may be the best, has 0.250 less (the same difference in all test parts, which are too few to tell), "
        "which may be luck. Both may be the best: this file cannot tell them apart."
    )
    # Student's t for two parts is 12.7, and the error allows for training parts as large as the test parts.
    few = compared(logistic=logistic, push=[0.7, 0.6])
    reach = stats.t.ppf(0.975, 1) * np.std([0.2, 0.1], ddof=1) * np.sqrt(1 / 2 + 1)
    assert f"95 % interval of the difference {0.15 - reach:+.3f} to +1.000), which may be" in few.verdict()
    assert few.may_be_best_ == ["logistic", "push"]
    many = compared(logistic=logistic * 3, push=[0.7, 0.6] * 3).verdict()
    reach = stats.t.ppf(0.975, 5) * np.std([0.7, 0.6] * 3, ddof=1) * np.sqrt(1 / 6 + 1 / 5)
    assert many.endswith(
        f"logistic, the baseline, has 0.150 less (95 % interval of the difference {0.15 - reach:+.3f} to "
        f"{0.15 + reach:+.3f}): more than luck explains."
    )
    alone = compared(logistic=logistic * 3, push=[0.6, 0.52] * 3)
    assert (alone.may_be_best_, alone.difference("push", "logistic").more_than_chance) == (["push"], False)
    # The interval, which is the stricter test, includes zero.
    assert alone.verdict().endswith("to +0.128): with 95 % confidence it is not the best.")
    always = compared(logistic=logistic * 3, push=[0.75] * 6).verdict()
    assert "has 0.250 less (the same difference in all test parts): more than luck explains" in always


def test_the_verdict_names_no_best_of_equals():
    equal = compared(logistic=[0.5, 0.7], push=[0.7, 0.5], other=[0.6, 0.6])
    assert equal.verdict() == (
        "No model is better at the top than another, by precision at 1/4: each has 0.600. Take logistic, the "
        "first."
    )
    assert "push, the next best, has 0.200 less" in compared(logistic=[0.9, 0.7], push=[0.7, 0.5]).verdict()
    assert "alone" in compared(push=[0.7, 0.5]).verdict()


def test_what_is_more_than_chance():
    for parts, expected in (
        ([0.75] * 3, False),
        ([0.75] * 6, True),
        ([0.5] * 6, False),
        ([0.7, 0.6] * 3, True),
        ([0.7, 0.3] * 3, False),
    ):
        comparison = compared(logistic=[0.5] * len(parts), push=parts)
        assert comparison.difference("push", "logistic").more_than_chance is expected


def test_repetitions_of_the_same_parts_are_no_more_evidence():
    """Repetitions hold the same rows: counted as evidence, they would put any difference beyond chance."""
    once = compared(logistic=[0.5] * 5, push=[0.7, 0.6, 0.5, 0.4, 0.7])
    often = compared(20, logistic=[0.5] * 100, push=[0.7, 0.6, 0.5, 0.4, 0.7] * 20)
    assert once.difference("push", "logistic").more_than_chance is False
    assert often.difference("push", "logistic") == pytest.approx(once.difference("push", "logistic"))
    assert often.standard_error("push", CRITERION) == pytest.approx(once.standard_error("push", CRITERION))
    same = compared(2, logistic=[0.5] * 10, push=[0.75] * 10)
    assert "the same difference in all test parts, which are too few" in same.verdict()


def test_candidates_and_equals_are_named_simplest_first():
    comparison = compared(forest=[0.6, 0.5] * 3, linear=[0.55, 0.54] * 3, bad=[0.1, 0.2] * 3)
    comparison = replace(comparison, simplicity={"forest": 3, "linear": 0, "bad": 2})
    assert comparison.chosen_ == "forest"
    assert comparison.may_be_best_ == ["linear", "forest"]
    assert "2 of 3 models may be the best (linear or forest)." in comparison.verdict()
    assert comparison.equivalent_ == ["forest"]
    comparison = replace(comparison, indifference=0.2)
    assert comparison.equivalent_ == ["linear", "forest"]
    assert "Equivalent: linear or forest, which differ by less than your 0.2." in comparison.verdict()
    assert [comparison.standing(model) for model in comparison.measures] == ["chosen", "yes", "no"]
    simplest = replace(comparison, choose="simplest")
    assert simplest.verdict().startswith(
        "Take linear: this file cannot tell 2 models apart, and it is the simplest of them."
    )
    assert "forest, the choice by default, has 0.005 more" in simplest.verdict()
    assert simplest.summary()["chosen"] == "linear"
    assert simplest.summary()["choices"] == {"most": "forest", "single": "forest", "simplest": "linear"}


def of_hits(hits, precisions, criterion="hits in budget", **options):
    """A comparison by hits of models that have these hits and average precisions in six parts."""
    spread = {name: 2 * (number % 2) - 1 for number, name in enumerate(hits)}
    measures = {
        name: {
            "hits in budget": hits[name] + np.array([-6.0, 6.0, 1.0, -1.0, *[3.0, -3.0][:: spread[name]]]),
            "average precision": np.array(precisions[name]),
            "own": -np.array(precisions[name]),
        }
        for name in hits
    }
    return RankerComparison(measures, criterion, budget=100, n_positives=60, **options)


def test_hits_over_the_whole_list_decide_and_hits_in_the_budget_are_said_beside():
    comparison = of_hits({"a": 30.0, "b": 29.0}, {"a": [0.5, 0.6] * 3, "b": [0.6, 0.7] * 3})
    assert (comparison.chosen_, comparison.taken("simplest")) == ("b", "a")
    assert "It found 29.0 hits in 100 rows; expect 29.0 (" in comparison.verdict()
    assert "a, the simplest that may be the best, found 1.0 more (95 % interval" in comparison.verdict()
    assert "Both may be the best: 60 positives cannot tell them apart." in comparison.verdict()
    # What a user measures by decides, where it is a measure of the user's own.
    assert of_hits({"a": 30.0, "b": 29.0}, {"a": [0.5] * 6, "b": [0.6] * 6}, "own").chosen_ == "a"


@pytest.mark.parametrize(
    ("gains", "taken"),
    [
        ([0.02, 0.03] * 3, "ensemble"),
        ([0.0, 0.002] * 3, "b"),
        # So uncertain a gain may be .01, as that of ensembles mostly is.
        ([-0.04, 0.03] * 3, "ensemble"),
        ([-0.05, -0.06] * 3, "b"),
    ],
)
def test_an_ensemble_is_taken_unless_a_hundredth_of_average_precision_is_ruled_out(gains, taken):
    hits = dict.fromkeys(("a", "b", "ensemble"), 30.0)
    of_b = np.array([0.6, 0.7] * 3)
    precisions = {"a": of_b - 0.1, "b": of_b, "ensemble": of_b + np.array(gains)}
    comparison = of_hits(hits, precisions, simplicity={"ensemble": 4})
    assert (comparison.chosen_, comparison.taken("single")) == (taken, "b")
    if taken == "ensemble":
        why = f"and may do so here (average precision {0.65 + np.mean(gains):.3f} on rows held out; b 0.650)"
        assert why in comparison.verdict()
        assert "b, the best that is no ensemble, found as many" in comparison.verdict()
    # By a measure of the user's own, whose unit is not known, any gain will do.
    worse = of_hits(hits, precisions, "own", simplicity={"ensemble": 4})
    assert worse.taken("single") == "a"


def test_what_is_expected_of_an_ensemble_has_the_weights_of_all_parts():
    measures = {
        name: {"hits in budget": np.array([6.0, 9.0]), "average precision": np.array([0.5, 0.6])}
        for name in ("a", "ensemble")
    }
    in_use = {"ensemble": {"hits in budget": np.array([7.0, 9.0])}}
    options = {"budget": 20, "n_positives": 20, "simplicity": {"ensemble": 4}, "in_use": in_use}
    comparison = RankerComparison(measures, "hits in budget", **options)
    assert (comparison.chosen_, comparison.expected_.mean) == ("a", 7.5)
    better = measures | {"ensemble": measures["ensemble"] | {"average precision": np.array([0.7, 0.9])}}
    comparison = RankerComparison(better, "hits in budget", **options)
    assert (comparison.chosen_, comparison.expected_.mean) == ("ensemble", 8.0)


def test_what_is_expected_of_the_best_is_what_the_other_parts_choose():
    """In its last part each model is first by a wide margin, so that the other parts choose the other one."""
    precisions = {"a": [0.5, 0.9, 0.5], "b": [0.6, 0.6, 0.6]}
    measures = {
        name: {"hits in budget": 10.0 * np.array(values), "average precision": np.array(values)}
        for name, values in precisions.items()
    }
    comparison = RankerComparison(measures, "hits in budget", budget=20, n_positives=20)
    assert comparison.chosen_ == "a"
    # Without the second part b is ahead, which has 6 hits there; a is without the first or the third.
    shown, by_others = 19.0 / 3.0, (5.0 + 6.0 + 5.0) / 3.0
    expected = comparison.expected_
    assert expected.mean == pytest.approx(by_others)
    # Of several repetitions the others hold the same rows, and have no say.
    twice = {m: {k: np.tile(v, 2) for k, v in of.items()} for m, of in measures.items()}
    assert replace(comparison, measures=twice, n_repeats=2).expected_.mean == pytest.approx(by_others)
    of_rows = by_others * (1.0 - by_others / 20.0)
    reach = stats.t.ppf(0.975, 2) * np.sqrt(comparison.standard_error("a", "hits in budget") ** 2 + of_rows)
    assert (expected.low, expected.high) == (0.0, pytest.approx(min(expected.mean + reach, 20.0)))
    assert replace(comparison, choose="simplest").expected_.mean == pytest.approx(shown)


def test_a_choice_that_is_none_is_refused():
    measures = {name: {"AUC": np.array([0.5, 0.6])} for name in "ab"}
    with pytest.raises(ValueError, match="choose must be one of"):
        RankerComparison(measures, "AUC", choose="best")


def test_no_interval_leaves_the_range_of_its_measure():
    comparison = compared(a=[0.0, 1.0, 0.0], b=[1.0, 0.0, 0.9], c=[0.1, 0.8, 0.2])
    for gap in comparison.differences_.values():
        assert -1.0 <= gap.low <= gap.mean <= gap.high <= 1.0
