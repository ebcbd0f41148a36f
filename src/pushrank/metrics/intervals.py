"""Ends of intervals and p-values, from resampled values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from pushrank._log_space import Floats


class Percentiles:
    """Quantiles of resampled values.

    Parameters
    ----------
    values : ndarray of shape (n_resamples,)
        Resampled values.
    """

    def __init__(self, values: Floats) -> None:
        self.values = values

    def ends(self, confidence_level: float) -> tuple[float, float]:
        """Return the quantiles that leave equal tails."""
        tail = 0.5 * (1.0 - confidence_level)
        low, high = np.quantile(self.values, [tail, 1.0 - tail])
        return float(low), float(high)

    def p_value(self) -> float:
        """Return twice the share of the values beyond zero, on the side with fewer of them.

        The estimate counts as one more resample, so that no p-value is zero (Davison and Hinkley 1997,
        section 4.2).
        """
        beyond = min(np.count_nonzero(self.values <= 0.0), np.count_nonzero(self.values >= 0.0))
        return float(min(1.0, 2.0 * (beyond + 1.0) / (len(self.values) + 1.0)))


class CorrectedPercentiles(Percentiles):
    r"""Efron's bias-corrected and accelerated quantiles, expanded for few rows.

    The quantile :math:`\alpha` is read at :math:`\Phi(z_0 + \frac{z_0 + z_\alpha}{1 - a (z_0 + z_\alpha)})`.
    :math:`z_0` is the normal quantile of the share of resampled values below the estimate. As resamples of n
    rows vary by :math:`(n - 1) / n` too little, and by a variance that is itself estimated, :math:`z_\alpha`
    is :math:`\sqrt{n / (n - 1)}` times the quantile of Student's distribution with n - 1 degrees of freedom,
    n being the rows of the smaller class, or 2 where it has one. The acceleration

    .. math:: a = \frac16 \sum_c \frac{1}{n_c^3} \sum_j L_{cj}^3 \Big/
        \Bigl(\sum_c \frac{1}{n_c^2} \sum_j L_{cj}^2\Bigr)^{3/2}

    has the influences :math:`L_{cj} = (n_c + 1) (\theta_{c, +j} - \bar\theta_c)` of the :math:`n_c` blocks of
    class c, each counted twice in turn (the positive jackknife).

    Parameters
    ----------
    values : ndarray of shape (n_resamples,)
        Resampled values.
    estimate : float
        The value on the data.
    twice : sequence of ndarray
        For each class, the values with each of its blocks counted twice.
    fewest : int
        The rows of the smaller class.

    References
    ----------
    Efron, *Better bootstrap confidence intervals*, JASA 82 (1987); Davison and Hinkley, *Bootstrap
    methods and their application* (1997), equation (5.35), for several samples; Hesterberg, *What teachers
    should know about the bootstrap*, The American Statistician 69 (2015), for few rows.
    """

    def __init__(self, values: Floats, estimate: float, twice: Sequence[Floats], fewest: int) -> None:
        super().__init__(values)
        self.freedom = float(max(fewest, 2) - 1)
        self.bias = float(ndtri(_share_below(values, estimate)))
        cubes = squares = 0.0
        for with_block in twice:
            n_blocks = len(with_block)
            changes = with_block - estimate  # exactly zero where a block has no say
            influences = (n_blocks + 1) * (changes - changes.mean())
            squares += float(influences @ influences) / n_blocks**2
            cubes += float(np.sum(influences**3)) / n_blocks**3
        self.acceleration = cubes / (6.0 * squares**1.5) if squares > 0.0 else 0.0

    def ends(self, confidence_level: float) -> tuple[float, float]:
        """Return the corrected quantiles that leave equal tails."""
        reach = self._expansion * float(stdtrit(self.freedom, 0.5 * (1.0 + confidence_level)))
        shifted = self.bias + np.array([-reach, reach])
        corrected = ndtr(self.bias + _stretched(shifted, self.acceleration))
        low, high = np.quantile(self.values, corrected)
        return float(low), float(high)

    def p_value(self) -> float:
        """Return one less the level of the widest interval that does not hold zero.

        It is no less than what as many resamples can tell from nothing, twice one in all and the estimate;
        and that where no resample is beyond zero, as no interval then reaches there.
        """
        least = 2.0 / (len(self.values) + 1.0)
        if (self.values > 0.0).all() or (self.values < 0.0).all():
            return least
        shifted = ndtri(_share_below(self.values, 0.0)) - self.bias
        reach = _stretched(shifted, -self.acceleration) - self.bias
        return max(least, float(2.0 * stdtr(self.freedom, -np.abs(reach) / self._expansion)))

    @property
    def _expansion(self) -> float:
        return float(np.sqrt((self.freedom + 1.0) / self.freedom))


def normal_ends(estimate: float, standard_error: float, confidence_level: float) -> tuple[float, float]:
    """Return the ends of the normal interval around an estimate."""
    reach = float(ndtri(0.5 * (1.0 + confidence_level))) * standard_error
    return estimate - reach, estimate + reach


def normal_p_value(difference: float, standard_error: float) -> float:
    """Return the two-sided p-value of a difference; 1 where it and its error are both zero."""
    if standard_error == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    return float(2.0 * ndtr(-abs(difference) / standard_error))


def _stretched(shifted: Any, acceleration: float) -> Any:
    """Return ``shifted / (1 - acceleration * shifted)``, infinite beyond its pole."""
    room = 1.0 - acceleration * shifted
    return np.where(room > 0.0, shifted / np.where(room > 0.0, room, 1.0), np.copysign(np.inf, shifted))


def _share_below(values: Floats, cut: float) -> float:
    """Return the share of values below a cut, ties counting one half, kept from 0 and 1 by half a value."""
    below = np.count_nonzero(values < cut) + 0.5 * np.count_nonzero(values == cut)
    return float(np.clip(below, 0.5, len(values) - 0.5)) / len(values)
