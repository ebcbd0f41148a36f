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
    same = compared(logistic=logistic, push=[0.75, 0.75]).verdict()
    assert "0.250 more precision at 1/4 than logistic (the same in all test parts, which are too few" in same
    assert same.endswith(
        "Take logistic: it is the simplest of 2 models that may be the best (logistic or push)."
    )
    # Student's t for two parts is 12.7, and the error allows for training parts as large as the test parts.
    few = compared(logistic=logistic, push=[0.7, 0.6])
    reach = stats.t.ppf(0.975, 1) * np.std([0.2, 0.1], ddof=1) * np.sqrt(1 / 2 + 1)
    assert f"95 % interval {0.15 - reach:+.3f} to +1.000" in few.verdict()
    assert few.may_be_best_ == ["logistic", "push"]
    many = compared(logistic=logistic * 3, push=[0.7, 0.6] * 3).verdict()
    reach = stats.t.ppf(0.975, 5) * np.std([0.7, 0.6] * 3, ddof=1) * np.sqrt(1 / 6 + 1 / 5)
    assert many.endswith(
        f"interval {0.15 - reach:+.3f} to {0.15 + reach:+.3f}): more than luck explains. "
        "Take push: with 95 % confidence no other model is better."
    )
    alone = compared(logistic=logistic * 3, push=[0.6, 0.52] * 3)
    assert (alone.may_be_best_, alone.difference("push", "logistic").more_than_chance) == (["push"], False)
    assert alone.verdict().endswith(
        "Take push: with 95 % confidence no other model is better. An interval may still include 0, since "
        "intervals are the stricter test."
    )
    always = compared(logistic=logistic * 3, push=[0.75] * 6).verdict()
    assert "than logistic (the same in all test parts): more than luck explains" in always


def test_the_verdict_names_no_best_of_equals():
    equal = compared(logistic=[0.5, 0.7], push=[0.7, 0.5], other=[0.6, 0.6])
    assert "No model is better" in equal.verdict()
    assert "each has 0.600" in equal.verdict()
    assert equal.equals_ == ["push", "other"]
    assert "next best" in compared(logistic=[0.9, 0.7], push=[0.7, 0.5]).verdict()
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
    assert "the same in all test parts, which are too few" in same.verdict()


def test_candidates_and_equals_are_named_simplest_first():
    comparison = compared(forest=[0.6, 0.5] * 3, linear=[0.55, 0.54] * 3, bad=[0.1, 0.2] * 3)
    comparison = replace(comparison, simplicity={"forest": 3, "linear": 0, "bad": 2})
    assert comparison.best_ == "forest"
    assert comparison.may_be_best_ == ["linear", "forest"]
    assert (
        "Take linear: it is the simplest of 2 models that may be the best (linear or forest)."
        in comparison.verdict()
    )
    assert comparison.equivalent_ == ["forest"]
    comparison = replace(comparison, indifference=0.2)
    assert comparison.equivalent_ == ["linear", "forest"]
    equal = "Equivalent: linear or forest."
    assert equal in comparison.verdict()
    summary = comparison.summary()
    assert (summary["may_be_best"], summary["chosen"]) == (["linear", "forest"], "linear")
    best = replace(comparison, choose="best")
    assert [best.standing(model) for model in best.measures] == ["chosen", "yes", "no"]
    assert "Take forest: it has the highest mean. linear is the simplest" in best.verdict()


def test_a_choice_that_is_none_is_refused():
    measures = {name: {"AUC": np.array([0.5, 0.6])} for name in "ab"}
    with pytest.raises(ValueError, match="choose must be"):
        RankerComparison(measures, "AUC", choose="most")


def test_no_interval_leaves_the_range_of_its_measure():
    comparison = compared(a=[0.0, 1.0, 0.0], b=[1.0, 0.0, 0.9], c=[0.1, 0.8, 0.2])
    for gap in comparison.differences_.values():
        assert -1.0 <= gap.low <= gap.mean <= gap.high <= 1.0
