"""Scikit-learn's checks of an estimator in one test: tests of their own cost as much again."""

from collections.abc import Collection
from contextlib import suppress
from typing import Any
from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def check_contract(estimator: Any, failing: Collection[str] = (), left_out: Collection[str] = ()) -> None:
    """Run every check but those left out; those in ``failing`` must fail."""
    for _, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if name in failing:
            with pytest.raises((AssertionError, ValueError)):
                check(estimator)
        elif name not in left_out:
            # A check of a library that is not installed skips itself.
            with suppress(SkipTest):
                check(estimator)
