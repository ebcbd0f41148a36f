"""Comparisons of rankers: differences beyond chance, and the verdict in words."""

from __future__ import annotations

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
    assert "+0.250 against logistic, the same in each of 2 test parts, too few to know" in same
    # The mean of two parts is 3 standard errors, and Student's t for two parts is 12.7.
    few = compared(logistic=logistic, push=[0.7, 0.6]).verdict()
    assert "95 % interval -0.485 to +0.785, which chance alone may explain" in few
    assert few.startswith("No clear winner. Highest precision at 1/4: push")
    many = compared(logistic=logistic * 3, push=[0.7, 0.6] * 3).verdict()
    reach = stats.t.ppf(0.975, 5) * np.std([0.7, 0.6] * 3, ddof=1) / np.sqrt(6)
    assert f"interval {0.15 - reach:+.3f} to {0.15 + reach:+.3f}: more than chance explains" in many
    always = compared(logistic=logistic * 3, push=[0.75] * 6).verdict()
    assert "the same in each of 6 test parts: more than chance explains" in always


def test_the_verdict_names_no_best_of_equals():
    equal = compared(logistic=[0.5, 0.7], push=[0.7, 0.5], other=[0.6, 0.6])
    assert "No model is better" in equal.verdict()
    assert "each has 0.600" in equal.verdict()
    assert equal.equals_ == ["push", "other"]
    two = compared(logistic=[0.5, 0.7], push=[0.7, 0.5], other=[0.1, 0.2])
    two.measures["push"]["average precision"] = np.array([0.9, 0.9])
    assert "push is no better than logistic" in two.verdict()
    assert "next best" in compared(logistic=[0.9, 0.7], push=[0.7, 0.5]).verdict()
    assert "alone" in compared(push=[0.7, 0.5]).verdict()


def test_what_is_more_than_chance():
    for parts, expected in (
        ([0.75] * 3, None),
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
    assert "in each of 10 test parts, too few to know" in same.verdict()


def test_intervals_allow_for_all_models_compared():
    """Two differences hold together at 95 % if each holds at 97.5 %."""
    comparison = compared(logistic=[0.5] * 6, push=[0.7, 0.6] * 3, other=[0.5, 0.6] * 3)
    reach = stats.t.ppf(1.0 - 0.05 / 4, 5) * np.std([0.7, 0.6] * 3, ddof=1) / np.sqrt(6)
    assert comparison.difference("push", "logistic").high == pytest.approx(0.15 + reach)
    assert "(of all 2 differences together)" in comparison.verdict()
