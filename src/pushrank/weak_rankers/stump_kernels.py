"""Compiled loops over binned features."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled


@compiled()
def bin_ends(weights, max_bins):
    """Return the last value of each bin but the last, for values in ascending order with these weights.

    A value as heavy as a bin is one; the others share what is left, and as bins fill up unevenly the aim for
    the next is taken anew.
    """
    n_values = len(weights)
    # weights that are counts, in another order of adding, must not move a boundary
    slack = 1.0 - 1e-12
    is_heavy = np.zeros(n_values, dtype=np.bool_)
    rest, bins_left = weights.sum(), max_bins
    found = True
    while found and bins_left > 1:
        found = False
        aim = rest / bins_left * slack
        for i in range(n_values):
            if not is_heavy[i] and weights[i] >= aim and bins_left > 1:
                is_heavy[i] = found = True
                rest -= weights[i]
                bins_left -= 1
    ends = np.empty(max_bins, dtype=np.int64)
    n_ends, filled = 0, 0.0
    for i in range(n_values - 1):
        filled += weights[i]
        if not is_heavy[i]:
            rest -= weights[i]
        aim = (rest + (0.0 if is_heavy[i] else filled)) / bins_left * slack
        if is_heavy[i] or filled >= aim or (is_heavy[i + 1] and filled >= 0.5 * aim):
            ends[n_ends] = i
            n_ends += 1
            if not is_heavy[i]:
                bins_left = max(bins_left - 1, 1)
            filled = 0.0
            if n_ends == max_bins - 1:
                break
    return ends[:n_ends]


@compiled()
def bin_rows(X, edges, start, stop, bins):
    """Write the number of thresholds below each entry, rows from start to stop; 255 for NaN.

    ``edges`` has 256 entries a feature, padded with infinity: eight halvings without a branch find the place.
    """
    for top in range(start, stop, 512):
        bottom = min(top + 512, stop)
        for feature in range(X.shape[1]):
            of_feature = edges[feature]
            for row in range(top, bottom):
                x = X[row, feature]
                place = 0
                for halving in (128, 64, 32, 16, 8, 4, 2, 1):
                    place += halving * (of_feature[place + halving - 1] < x)
                bins[feature, row] = place if x == x else 255


@compiled()
def add_histograms(bins, forces, start, stop, sums):
    """Add the forces of the rows from start to stop to the sum of their bin, for every feature.

    Four features at a time: an addition to one sum need not wait for the last one to the same.
    """
    n_features = bins.shape[0]
    for first in range(0, n_features - 3, 4):
        bins_a, bins_b, bins_c, bins_d = bins[first], bins[first + 1], bins[first + 2], bins[first + 3]
        into_a, into_b, into_c, into_d = sums[first], sums[first + 1], sums[first + 2], sums[first + 3]
        for row in range(start, stop):
            force = forces[row]
            into_a[bins_a[row]] += force
            into_b[bins_b[row]] += force
            into_c[bins_c[row]] += force
            into_d[bins_d[row]] += force
    for feature in range(n_features - n_features % 4, n_features):
        of_feature, into = bins[feature], sums[feature]
        for row in range(start, stop):
            into[of_feature[row]] += forces[row]


@compiled()
def add_tables(X, features, firsts, edges, tables, start, stop, out):
    """Add to the scores of the rows from start to stop what the tables hold for their places.

    Feature ``features[m]`` has the thresholds ``edges[firsts[m] : firsts[m + 1]]``, and in ``tables``, from
    ``firsts[m] + 2 * m`` on, an entry for each place among them and a last one for NaN.
    """
    for top in range(start, stop, 512):
        bottom = min(top + 512, stop)
        for m in range(len(features)):
            of_feature = edges[firsts[m] : firsts[m + 1]]
            table = tables[firsts[m] + 2 * m : firsts[m + 1] + 2 * m + 2]
            for row in range(top, bottom):
                x = X[row, features[m]]
                low, high = 0, len(of_feature)
                if x != x:
                    low = high = len(of_feature) + 1
                while low < high:
                    middle = (low + high) // 2
                    if of_feature[middle] < x:
                        low = middle + 1
                    else:
                        high = middle
                out[row] += table[low]
