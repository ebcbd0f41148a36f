"""The risk of the ranking support vector machines."""

from __future__ import annotations

from pushrank._log_space import Floats
from pushrank.objectives.push import PushObjective
from pushrank.pairs import Sample


def mean_hinge(sample: Sample, scores: Floats) -> tuple[float, Floats]:
    """Return the mean hinge of all pairs, and a subgradient in the scores."""
    at_point = PushObjective("hinge", scale="mean").linearise(sample, scores)
    return at_point.value, sample.join(*at_point.gradient())
