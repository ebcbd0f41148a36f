"""Compiled loops over binned features."""

from __future__ import annotations

from pushrank._compiled import compiled


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
    """Add the forces of the rows from start to stop to the sum of their bin, for every feature."""
    for feature in range(bins.shape[0]):
        of_feature = bins[feature]
        into = sums[feature]
        for row in range(start, stop):
            into[of_feature[row]] += forces[row]


@compiled()
def add_table(column, edges, table, out):
    """Add to each row's score the table's entry for its place among the thresholds; the last is for NaN."""
    n_edges = len(edges)
    for row in range(len(column)):
        x = column[row]
        if x != x:
            out[row] += table[n_edges + 1]
            continue
        low, high = 0, n_edges
        while low < high:
            middle = (low + high) // 2
            if edges[middle] < x:
                low = middle + 1
            else:
                high = middle
        out[row] += table[low]
