"""Parameters of tests of which the suite runs a part, and the nightly suite the rest."""

import itertools
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def by_day(values: Iterable[Any], n: int) -> list[Any]:
    """Return values of a parameter, or tuples of several, of which the suite runs the first ``n``."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if number < n else pytest.mark.nightly,
        )
        for number, value in enumerate(values)
    ]


def each_and_some(*factors: Sequence[Any], n_random: int = 5, seed: int = 0) -> list[Any]:
    """Return the product of some factors, as parameters of a test.

    Every value of every factor is in at least one combination that the suite runs, and ``n_random`` more are
    drawn; all others are marked nightly.
    """
    rng = random.Random(seed)  # noqa: S311
    counts = [range(len(factor)) for factor in factors]
    shuffled = [rng.sample(numbers, len(numbers)) for numbers in counts]
    rows = range(max(len(numbers) for numbers in counts))
    chosen = {tuple(numbers[row % len(numbers)] for numbers in shuffled) for row in rows}
    everything = list(itertools.product(*counts))
    chosen.update(rng.sample(everything, min(n_random, len(everything))))
    return [
        pytest.param(
            *(factor[i] for factor, i in zip(factors, numbers, strict=True)),
            marks=() if numbers in chosen else pytest.mark.nightly,
        )
        for numbers in everything
    ]
