"""Compiled functions compute what they say, whoever compiles them first."""

import numpy as np

from pushrank._parallel import compiled


@compiled()
def overflows(values):
    total = 0.0
    for value in values:
        total += value
    return not np.isfinite(total)


@compiled(fastmath=True)
def fast_caller(values):
    return overflows(values)


def test_a_function_keeps_its_mathematics_where_a_fast_one_compiles_it():
    values = np.full(4, 1e308)
    # This function may assume that nothing overflows, and compiles the other one.
    fast_caller(values)
    assert overflows(values)
