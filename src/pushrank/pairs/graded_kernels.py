"""Compiled walks over the steps between grades."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled


@compiled()
def recurrence(added, carried):
    """Return ``r_j = added_j + carried_j r_(j-1)``."""
    running = np.empty(len(added))
    total = 0.0
    for j in range(len(added)):
        total = added[j] + carried[j] * total
        running[j] = total
    return running


@compiled()
def running_log_sum(log_added, opens):
    """Return the logarithms of running sums, begun anew where a group opens."""
    running = np.empty(len(log_added))
    total = 0.0
    for j in range(len(log_added)):
        if opens[j]:
            total = log_added[j]
        else:
            larger, smaller = max(total, log_added[j]), min(total, log_added[j])
            total = larger + np.log1p(np.exp(smaller - larger))
        running[j] = total
    return running


@compiled()
def running_minimum(lowest, opens):
    """Return running minima, begun anew where a group opens."""
    running = np.empty(len(lowest))
    least = np.inf
    for j in range(len(lowest)):
        least = lowest[j] if opens[j] else min(least, lowest[j])
        running[j] = least
    return running
