"""Pairs of grades within query groups, held in little memory."""

import numpy as np


def test_many_small_groups_cost_little():
    """The work is linear in the rows: counted in what the splits hold."""
    from pushrank.pairs import GradedSample

    def held(n):
        sample = GradedSample.from_grades(np.arange(n) % 5.0, np.arange(n) // 10)
        return sum(len(split.sources) + len(split.targets) for split in sample.blocks)

    assert held(40_000) == 4 * held(10_000)
