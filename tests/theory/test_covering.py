"""Covering numbers: a grid that covers has no more points than the bound."""

import math

import numpy as np

from pushrank import theory


def test_the_cover_covers():
    """A grid of the disc that covers it at the scale has no more points than the bound."""
    radius, scale = 1.0, 0.5
    bound = math.exp(theory.log_covering_number(2, radius, scale))
    step = scale * math.sqrt(2)  # each square of a grid lies within the scale of its centre
    cells = np.arange(-radius, radius, step) + step / 2
    centres = [(a, b) for a in cells for b in cells if math.hypot(max(abs(a) - step / 2, 0), max(abs(b) - step / 2, 0)) <= radius]  # fmt: skip  # noqa: E501
    assert len(centres) <= bound
    assert theory.log_covering_number(7, 1.0, 2.0) == 0.0
