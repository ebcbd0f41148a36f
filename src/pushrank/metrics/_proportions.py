"""Confidence intervals of proportions, from the number of hits among n rows."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import beta

from pushrank._base.numeric import Floats
from pushrank._base.validation import check_number

Numbers = float | NDArray[np.floating] | NDArray[np.integer]


def wilson_interval(hits: Floats, rows: Floats, confidence_level: float) -> tuple[Floats, Floats]:
    """Return Wilson's interval for the chance of a hit, of shape (m,); 0 <= hits <= rows, rows > 0."""
    # Wilson, *Probable inference, the law of succession, and statistical inference*, JASA 22 (1927).
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    z = float(ndtri(0.5 + confidence_level / 2.0))
    share = hits / rows
    centre = (share + z * z / (2.0 * rows)) / (1.0 + z * z / rows)
    half = z / (1.0 + z * z / rows) * np.sqrt(share * (1.0 - share) / rows + (z / (2.0 * rows)) ** 2)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def clopper_pearson_interval(hits: Numbers, rows: Numbers, tail: float | Floats) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's interval, which misses the chance on each side by a chance of ``tail``."""
    # Clopper and Pearson, *The use of confidence or fiducial limits*, Biometrika 26 (1934).
    misses = rows - hits
    low = np.where(hits > 0, beta.ppf(tail, np.where(hits > 0, hits, 1.0), misses + 1.0), 0.0)
    high = np.where(misses > 0, beta.ppf(1.0 - tail, hits + 1.0, np.where(misses > 0, misses, 1.0)), 1.0)
    return low, high


def newcombe(area: float, n_positive: float, n_negative: float, level: float) -> tuple[float, float]:
    """Return Newcombe's score interval for the area under an ROC curve, from the area and numbers of rows."""
    # It holds the areas from which the estimate is at most z of their standard errors away, and these are
    # Hanley and McNeil's for exponential scores, with the mean size of both classes. Newcombe, *Confidence
    # intervals for an effect size measure based on the Mann-Whitney statistic, part 2*, Statistics in
    # Medicine 25 (2006), method 5.
    z, n_pairs = float(ndtri(0.5 * (1.0 + level))), n_positive * n_negative

    def excess(at: float, estimate: float) -> float:
        shared = (0.5 * (n_positive + n_negative) - 1.0) * ((1.0 - at) / (2.0 - at) + at / (1.0 + at))
        return (estimate - at) / math.sqrt(at * (1.0 - at) * (1.0 + shared) / n_pairs) - z

    low, mirrored = (
        brentq(excess, 1e-12 * estimate, (1.0 - 1e-12) * estimate, args=estimate) if estimate > 0.0 else 0.0
        for estimate in (area, 1.0 - area)
    )
    return low, 1.0 - mirrored


def difference_of_hits_interval(
    hits: tuple[float, float], rows: tuple[float, float], miss: float
) -> tuple[float, float]:
    """Return an interval for the expected difference of two lists' hits, from rows on one of them alone."""
    # Of the m_a and m_b rows that are on one list only, a and b are hits. With Clopper and Pearson's limits
    # l and u of both, the limits are a - b - sqrt((a - l_a)^2 + (u_b - b)^2) and a - b + sqrt((u_a - a)^2 +
    # (b - l_b)^2) (Zou and Donner, Statistics in Medicine 27, 2008). Where no hit is seen, they are plus and
    # minus m (1 - miss^(1 / m)), the upper bound of 0 in m = m_a + m_b rows. No limit leaves [-m_b, m_a].
    (a, b), (rows_a, rows_b) = hits, rows
    if a + b == 0.0:
        bound = (rows_a + rows_b) * (1.0 - miss ** (1.0 / (rows_a + rows_b)))
        return -min(bound, rows_b), min(bound, rows_a)
    (low_a, high_a), (low_b, high_b) = (
        np.multiply(n, clopper_pearson_interval(h, n, 0.5 * miss)) for h, n in zip(hits, rows, strict=True)
    )
    low = a - b - np.hypot(a - low_a, high_b - b)
    high = a - b + np.hypot(high_a - a, b - low_b)
    return max(float(low), -rows_b), min(float(high), rows_a)
