"""The compiled walk along sorted scores."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled


@compiled()
def moments(sources, weights, targets, order):
    """Return ``sum_i weights_i (1 + t - sources_i) ** order`` over sources below t + 1, for every target t.

    Sources and targets ascend; the order is 0, 1 or 2.
    """
    found = np.empty(len(targets))
    zeroth = first = second = 0.0
    place, n_sources = 0, len(sources)
    for k in range(len(targets)):
        target = targets[k]
        if k:
            rise = target - targets[k - 1]
            second += rise * (2.0 * first + rise * zeroth)
            first += rise * zeroth
        while place < n_sources and sources[place] - target < 1.0:
            reach, weight = 1.0 - (sources[place] - target), weights[place]
            zeroth += weight
            first += weight * reach
            second += weight * reach * reach
            place += 1
        if order == 0:
            found[k] = zeroth
        elif order == 1:
            found[k] = first
        else:
            found[k] = second
    return found


@compiled()
def segment_moments(sources, weights, source_bounds, targets, target_bounds, order):
    """Return the moments of every segment's targets over the sources of the same segment."""
    found = np.empty(len(targets))
    for segment in range(len(target_bounds) - 1):
        first, last = source_bounds[segment], source_bounds[segment + 1]
        start, stop = target_bounds[segment], target_bounds[segment + 1]
        found[start:stop] = moments(sources[first:last], weights[first:last], targets[start:stop], order)
    return found
