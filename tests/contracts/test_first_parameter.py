"""Rankers take without a keyword what docs/which_ranker.md says, and a value out of range is named."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from pushrank import estimators

PAGE = Path(__file__).parents[2] / "docs" / "which_ranker.md"
OUT_OF_RANGE = {"p": 0.5, "ps": (0.5,), "k": 0.0, "tau": 5.0, "C": -1.0, "budget": -1, "candidates": []}
OUT_OF_RANGE |= {"loss": "none", "variant": "none", "not_separable": "none", "estimators": []}
OUT_OF_RANGE |= {"constant_ranker": 50}


def documented():
    """The first parameters of the table, by ranker."""
    section = PAGE.read_text(encoding="utf-8").split("## The first parameter")[1].split("\n## ")[0]
    for names, rankers in re.findall(r"^\| (.+) \| (.+) \|$", section, flags=re.MULTILINE)[1:]:
        parameters, classes = (re.findall(r"`(\w+)`", cell) for cell in (names, rankers))
        # Where a row has as many parameters as rankers, each belongs to one.
        for place, ranker in enumerate(classes):
            one_each = len(parameters) == len(classes) > 1
            yield ranker, parameters[place : place + 1] if one_each else parameters


def test_every_ranker_is_in_the_table_and_takes_all_else_by_keyword():
    taken = {
        name: [p.name for p in inspect.signature(kind).parameters.values() if p.kind is not p.KEYWORD_ONLY]
        for name, kind in ((name, getattr(estimators, name)) for name in estimators.__all__)
    }
    assert dict(documented()) == taken


@pytest.mark.parametrize(("name", "parameters"), sorted(documented()))
def test_a_value_out_of_range_is_an_error_that_names_the_parameter(name, parameters):
    if not parameters or parameters[0] not in OUT_OF_RANGE:
        return
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    with pytest.raises(ValueError, match=rf"\b{parameters[0]}\b"):
        getattr(estimators, name)(OUT_OF_RANGE[parameters[0]]).fit(X, y)
