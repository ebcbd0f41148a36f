"""Intervals for metrics of rankings, from resamples or from influence values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Seed
from pushrank._base.validation import check_choice, check_number
from pushrank.metrics._bootstrap import StratifiedBootstrap, default_n_resamples
from pushrank.metrics._ranking import Ranking
from pushrank.metrics._registry import BoundMetric

Method = Literal["bootstrap", "bca", "delong"]
METHODS = ("bootstrap", "bca", "delong")
MIN_RESAMPLES = 10
# A smaller relative difference comes from the order in which a sum was added up, not from the rankings.
BOOTSTRAP_ROUNDING = 1e-12


@dataclass(frozen=True)
class Sampling:
    """How intervals are made: their level, their method, and the resamples of the bootstrap."""

    level: float
    n_resamples: int | None
    random_state: Seed
    method: Method = "bca"
    # Whether a metric that is not a number on some resamples has limits of NaN, or is an error.
    may_be_nan: bool = False

    def __post_init__(self) -> None:
        check_number("confidence_level", self.level, above=0.0, below=1.0)
        if self.n_resamples is not None:
            check_number("n_resamples", self.n_resamples, MIN_RESAMPLES, integer=True)
        check_choice("method", self.method, METHODS)

    def number(self, n_rows: int) -> int:
        """Return how many resamples are drawn of so many rows."""
        return self.n_resamples or default_n_resamples(n_rows)


@dataclass(frozen=True)
class NormalInterval:
    """The normal interval around an estimate, cut off at the bounds of its metric."""

    estimate: float
    standard_error: float
    bounds: tuple[float, float]

    @property
    def is_constant(self) -> bool:
        """Whether the standard error is zero, up to rounding."""
        return self.standard_error < BOOTSTRAP_ROUNDING

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Return the limits that leave equal tails."""
        reach = float(ndtri(0.5 * (1.0 + confidence_level))) * self.standard_error
        return max(self.estimate - reach, self.bounds[0]), min(self.estimate + reach, self.bounds[1])

    def p_value(self) -> float:
        """Return the two-sided p-value of zero; it is 1 if the estimate and its error are both zero."""
        if self.standard_error == 0.0:
            return 1.0 if self.estimate == 0.0 else 0.0
        return float(2.0 * ndtr(-abs(self.estimate) / self.standard_error))


@dataclass
class PercentileInterval:
    """Quantiles of resampled values."""

    values: Floats

    @property
    def is_constant(self) -> bool:
        """Whether all resamples have the same value."""
        return bool((self.values == self.values[0]).all())

    @property
    def standard_error(self) -> float:
        """The standard deviation of the values."""
        return float(np.std(self.values, ddof=1))

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Return the quantiles that leave equal tails."""
        tail = 0.5 * (1.0 - confidence_level)
        low, high = np.quantile(self.values, [tail, 1.0 - tail])
        return float(low), float(high)

    def p_value(self) -> float:
        """Return twice the share of the values beyond zero, on the side with fewer of them."""
        # The estimate counts as one more, so that it is not zero (Davison and Hinkley 1997, section 4.2).
        beyond = min(np.count_nonzero(self.values <= 0.0), np.count_nonzero(self.values >= 0.0))
        return float(min(1.0, 2.0 * (beyond + 1.0) / (len(self.values) + 1.0)))


class BCaInterval(PercentileInterval):
    """Efron's bias-corrected and accelerated quantiles, expanded for few rows."""

    # The quantile alpha is read at Phi(z_0 + (z_0 + z_alpha) / (1 - a (z_0 + z_alpha))), where z_0 is the
    # normal quantile of the share of resampled values below the estimate. Resamples of n rows have the part
    # (n - 1) / n of the variance, which is itself estimated: hence z_alpha is sqrt(n / (n - 1)) times
    # Student's quantile with n - 1 degrees of freedom, for the n rows of the smaller class, at least 2. The
    # acceleration a is a sixth of the skewness of the sum of both classes' mean influences. These are
    # (n_c + 1) (theta_cj - mean), where block j of the n_c blocks of class c counts twice in theta_cj: the
    # jackknife has them.
    # Efron, JASA 82 (1987); Davison and Hinkley (1997), equation (5.35); Hesterberg, *What teachers should
    # know about the bootstrap*, The American Statistician 69 (2015), for few rows.

    def __init__(
        self, values: Floats, estimate: float, jackknife: Sequence[Floats], n_smaller_class: int
    ) -> None:
        super().__init__(values)
        self.freedom = float(max(n_smaller_class, 2) - 1)
        self.expansion = float(np.sqrt((self.freedom + 1.0) / self.freedom))
        self.bias = float(ndtri(_share_below(values, estimate)))
        cubes = squares = 0.0
        for block_values in jackknife:
            n_blocks = len(block_values)
            # A block without influence has a change of exactly zero.
            changes = block_values - estimate
            influences = (n_blocks + 1) * (changes - changes.mean())
            squares += float(influences @ influences) / n_blocks**2
            cubes += float(np.sum(influences**3)) / n_blocks**3
        self.acceleration = cubes / (6.0 * squares**1.5) if squares > 0.0 else 0.0

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Return the corrected quantiles that leave equal tails."""
        reach = self.expansion * float(stdtrit(self.freedom, 0.5 * (1.0 + confidence_level)))
        shifted = self.bias + np.array([-reach, reach])
        low, high = np.quantile(self.values, ndtr(self.bias + _accelerated(shifted, self.acceleration)))
        return float(low), float(high)

    def p_value(self) -> float:
        """Return one minus the level of the widest interval that does not hold zero."""
        # The least p-value is that of PercentileInterval.p_value, since this many resamples resolve no
        # smaller one; it is also the result if no resample is beyond zero, where no interval reaches.
        least = 2.0 / (len(self.values) + 1.0)
        if (self.values > 0.0).all() or (self.values < 0.0).all():
            return least
        shifted = ndtri(_share_below(self.values, 0.0)) - self.bias
        reach = _accelerated(shifted, -self.acceleration) - self.bias
        return max(least, float(2.0 * stdtr(self.freedom, -np.abs(reach) / self.expansion)))


def _accelerated(shifted: Floats, acceleration: float) -> Floats:
    """Return ``shifted / (1 - acceleration * shifted)``, infinite beyond its pole."""
    room = 1.0 - acceleration * shifted
    return np.where(room > 0.0, shifted / np.where(room > 0.0, room, 1.0), np.copysign(np.inf, shifted))


def _share_below(values: Floats, cut: float) -> float:
    """Return the share of values below a cut; ties count half, and half a value keeps it from 0 and 1."""
    below = np.count_nonzero(values < cut) + 0.5 * np.count_nonzero(values == cut)
    return float(np.clip(below, 0.5, len(values) - 0.5)) / len(values)


Interval = NormalInterval | PercentileInterval


def contrast_intervals(
    rankings: Sequence[Ranking],
    metrics: Sequence[BoundMetric],
    contrast: ArrayLike,
    sampling: Sampling,
    not_drawn: Sequence[int] = (0, 0),
) -> tuple[Floats, list[float], list[Interval]]:
    """Return metrics of rankings, (n_rankings, n_metrics), and each one's contrast over them and interval."""
    if sampling.method == "delong":
        estimates = np.array([[ranking.evaluate(metric.call) for metric in metrics] for ranking in rankings])
        values = contrasted(estimates.T, contrast).tolist()
        both = zip(metrics, values, strict=True)
        return estimates, values, [_normal_interval(rankings, of, contrast, value) for of, value in both]
    bootstrap = StratifiedBootstrap(rankings, metrics, not_drawn)
    estimates = np.reshape(bootstrap.evaluate_data(), (len(rankings), len(metrics)))
    values = contrasted(estimates.T, contrast).tolist()
    contrasts = np.kron(np.asarray(contrast), np.eye(len(metrics)))
    return estimates, values, list(bootstrap_intervals(bootstrap, contrasts, values, sampling))


def _normal_interval(
    rankings: Sequence[Ranking], metric: BoundMetric, contrast: ArrayLike, value: float
) -> NormalInterval:
    """Return the normal interval of a contrast, by the influence values of the metric."""
    signs = np.asarray(contrast)
    # Rounding may leave the variance of equal rankings below zero.
    variance = max(signs @ influence_covariance(rankings, metric) @ signs, 0.0)
    trials = metric.spec.error.trials(rankings[0], **metric.parameters)
    most = min((unit for _, unit in trials), default=np.inf)
    least = -most if len(rankings) > 1 else 0.0 if trials else -np.inf
    return NormalInterval(value, float(np.sqrt(variance)), (least, most))


def influence_covariance(rankings: Sequence[Ranking], metric: BoundMetric) -> Floats:
    """Return the covariance of a metric of rankings of the same rows, shape (n_rankings, n_rankings)."""
    # It is the sum over both classes, of two rows or more, of the covariance of the weighted mean of the
    # influence values: with the placements of the AUC, DeLong's.
    influence_values: Any = metric.spec.error.influence_values
    influences = (influence_values(ranking, **metric.parameters) for ranking in rankings)
    weights = rankings[0].positive_weights, rankings[0].negative_weights
    return np.add(*map(_covariance_of_means, map(np.stack, zip(*influences, strict=True)), weights))


def _covariance_of_means(values: Floats, weights: Floats | None) -> Floats:
    """Return the covariance of the weighted means of rows that were drawn independently."""
    shares = np.full(values.shape[1], 1.0) if weights is None else weights / weights.max()
    n_rows = np.count_nonzero(shares)
    if n_rows < 2:
        raise ValueError("DeLong's variance needs at least 2 rows of each class, found 1 of a class.")
    shares = shares / shares.sum()
    deviations = shares * (values - (values @ shares)[:, None])
    return np.asarray(deviations @ deviations.T * (n_rows / (n_rows - 1)))


def bootstrap_intervals(
    bootstrap: StratifiedBootstrap, contrasts: ArrayLike, estimates: Sequence[float], sampling: Sampling
) -> list[PercentileInterval]:
    """Return the interval of ``contrast @ values`` for each contrast."""
    seed = sampling.random_state
    n_resamples = sampling.number(len(bootstrap.rankings[0].scores))
    values = bootstrap.evaluate_resamples(n_resamples, seed)
    jackknife = bootstrap.positive_jackknife(seed) if sampling.method == "bca" else []
    intervals = []
    for contrast, estimate in zip(np.atleast_2d(contrasts), estimates, strict=True):
        drawn = contrasted(values, contrast, estimate)
        missing = int(np.count_nonzero(np.isnan(drawn)))
        if missing and not sampling.may_be_nan:
            raise ValueError(
                f"the metric is not a number on {missing} of {n_resamples} resamples; use more rows, or a "
                "metric that is defined on all of them."
            )
        if sampling.method == "bootstrap":
            intervals.append(PercentileInterval(drawn))
        else:
            blocks = [contrasted(block_values, contrast, estimate) for block_values in jackknife]
            n_smaller_class = min(filter(None, bootstrap.strata))
            intervals.append(BCaInterval(drawn, estimate, blocks, n_smaller_class))
    return intervals


def contrasted(values: ArrayLike, contrast: ArrayLike, estimate: float = 0.0) -> Floats:
    """Return ``values @ contrast``; results within rounding of zero or of the estimate are set to it."""
    table, signs = np.asarray(values, dtype=np.float64), np.asarray(contrast, dtype=np.float64)
    # The columns that do not count may be infinite, and zero times infinity is not a number.
    table, signs = table[..., signs != 0.0], signs[signs != 0.0]
    differences: Floats = table @ signs
    rounding = BOOTSTRAP_ROUNDING * (np.abs(table) @ np.abs(signs))
    for exact in (0.0, estimate):
        differences = np.where(np.abs(differences - exact) < rounding, exact, differences)
    return differences
