"""Resampling of a ranked list.

Resamples of labelled rows, drawn with replacement within each class: a stratified bootstrap.

A resample is how often each row was drawn. Rows are sorted once; a measure of the order then reads the counts
at the places of the list, and no row is copied or sorted again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import pairwise
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from sklearn.utils import check_random_state

from pushrank._numeric import Floats
from pushrank._parallel import compiled, map_chunks, one_blas_thread
from pushrank._validation import check_number
from pushrank.metrics._ranking import NUMBER_MEASURES, ORDER_MEASURES, Ranking, Tally
from pushrank.metrics.roc import auc

_compiled = compiled()

# Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
SECOND_MIX = np.uint64(0x94D049BB133111EB)
LOW_HALF = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@_compiled
def draw_counts(seed, counts):
    """Draw as many rows as there are, with replacement, and write how often each was drawn.

    A byte holds every count: none exceeds the number of rows, and with more than 255 of them one above 255
    has a chance below n / 256!, which is 1e-500. A row number is the upper half of a product (Lemire, *Fast
    random integer generation in an interval*, 2019); products that would favour some rows are drawn again.
    """
    n = np.uint64(len(counts))
    unfair = (LOW_HALF - n + np.uint64(1)) % n
    counts[:] = 0
    state = np.uint64(seed)
    drawn = 0
    while drawn < len(counts):
        state += GOLDEN
        bits = state
        bits = (bits ^ (bits >> np.uint64(30))) * FIRST_MIX
        bits = (bits ^ (bits >> np.uint64(27))) * SECOND_MIX
        bits = bits ^ (bits >> np.uint64(31))
        for product in ((bits & LOW_HALF) * n, (bits >> HALF) * n):
            if (product & LOW_HALF) >= unfair and drawn < len(counts):
                counts[product >> HALF] += np.uint8(1)
                drawn += 1


@_compiled
def sum_in_order(counts, ends, sums):
    """Write the sum of the counts of each run of rows; a run ends before the row ``ends``."""
    row = 0
    for run in range(len(ends)):
        total = 0
        while row < ends[run]:
            total += counts[row]
            row += 1
        sums[run] = total


@_compiled
def sum_by_rows(counts, rows, weights, ends, sums):
    """Write the weighted sum of the counts of each run of a list of rows."""
    place = 0
    for run in range(len(ends)):
        total = 0.0
        while place < ends[run]:
            row = rows[place]
            total += counts[row] * (weights[row] if len(weights) else 1.0)
            place += 1
        sums[run] = total


RESAMPLES_PER_TASK = 16  # enough work for a thread, few enough that all threads end together
JACKKNIFE_BLOCKS = 200
"""Blocks of rows, in each class, that count twice in turn; with fewer rows each is a block."""

Counts = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Resample(Tally):
    """The tally of a ranking whose rows were drawn again, levels without a row included."""

    _positives_at: Floats
    _negatives_in: Floats
    _counts_rows: bool
    _has_whole_places: bool

    @property
    def positives_at(self) -> Floats:
        """The weight of the drawn positives at each level."""
        return self._positives_at

    @property
    def negatives_in(self) -> Floats:
        """The weight of the drawn negatives in each cell."""
        return self._negatives_in

    @property
    def total_positive(self) -> float:
        """The weight of all drawn positives."""
        return float(self._positives_at.sum())

    @property
    def total_negative(self) -> float:
        """The weight of all drawn negatives."""
        return float(self._negatives_in.sum())

    @property
    def counts_rows(self) -> bool:
        """Whether rows weigh one each."""
        return self._counts_rows

    @property
    def has_whole_places(self) -> bool:
        """Whether rows weigh whole numbers."""
        return self._has_whole_places


class Places:
    """Where the rows of one class stand in a list, sorted by place once.

    Parameters
    ----------
    places : ndarray of int, shape (n,)
        The place of each row of the class.
    n_places : int
        How many places there are.
    weights : ndarray of shape (n,) or None
        The weights of the rows.
    """

    def __init__(self, places: NDArray[np.int64], n_places: int, weights: Floats | None) -> None:
        self.ends = np.cumsum(np.bincount(places, minlength=n_places))
        self.rows = np.argsort(places, kind="stable")
        self.weights = np.empty(0) if weights is None else weights

    def tally(self, counts: Counts) -> Floats:
        """Return the weight at each place of rows drawn so often."""
        sums = np.empty(len(self.ends))
        sum_by_rows(counts, self.rows, self.weights, self.ends, sums)
        return sums


class SortedPlaces:
    """As :class:`Places` for rows that are alike but for their places, and may be numbered in their order."""

    def __init__(self, counts: Floats) -> None:
        self.ends = np.cumsum(counts.astype(np.int64))

    def tally(self, counts: Counts) -> Floats:
        """Return the number of rows at each place."""
        sums = np.empty(len(self.ends))
        sum_in_order(counts, self.ends, sums)
        return sums


class Resampler:
    """Rankings of the same rows, to be measured on resamples that they share.

    Parameters
    ----------
    rankings : sequence of Ranking
        Rankings of the same labelled and weighted rows.
    *metrics : callable
        Each ``metric(y_true, scores)``, or with weights ``metric(y_true, scores, sample_weight=...)``;
        measures of :mod:`pushrank.metrics`, and ``functools.partial`` of them, take no copies of rows.

    Notes
    -----
    What is measured has a column for each metric of the first ranking, then of the next.
    """

    def __init__(self, rankings: Sequence[Ranking], *metrics: Callable[..., Any]) -> None:
        self.rankings = rankings
        self.metrics = metrics
        self.n_columns = len(rankings) * len(metrics)
        first = rankings[0]
        self.n_positive = int(np.count_nonzero(first.is_positive))
        self.n_negative = len(first.is_positive) - self.n_positive
        if all(_measures_order(metric) for metric in metrics):
            alike = len(rankings) == 1 and first.weights is None
            self._places = [_places(ranking, alike=alike) for ranking in rankings]

    def on_data(self) -> list[float]:
        """Return the measures of every ranking on the rows themselves."""
        return self.on_counts(*(np.ones(n, dtype=np.uint8) for n in (self.n_positive, self.n_negative)))

    def on_resamples(self, n_resamples: int, random_state: Any) -> Floats:
        """Return the measures on every resample, shape (n_resamples, n_columns).

        Resamples have seeds of their own, so that the threads' number changes nothing.
        """
        largest = np.iinfo(np.uint64).max
        seeds = check_random_state(random_state).randint(largest, size=(n_resamples, 2), dtype=np.uint64)

        def task(start: int, stop: int) -> Floats:
            positive = np.empty(self.n_positive, dtype=np.uint8)
            negative = np.empty(self.n_negative, dtype=np.uint8)
            values = np.empty((stop - start, self.n_columns))
            for resample in range(start, stop):
                draw_counts(seeds[resample, 0], positive)
                draw_counts(seeds[resample, 1], negative)
                values[resample - start] = self.on_counts(positive, negative)
            return values

        cuts = [*range(0, n_resamples, RESAMPLES_PER_TASK), n_resamples]
        with one_blas_thread():  # its threads would fight ours
            return np.concatenate(map_chunks(task, list(pairwise(cuts))))

    def with_blocks_twice(self, random_state: Any) -> list[Floats]:
        """Return the measures with each block of positives counted twice, and with each block of negatives.

        Blocks are random and of nearly equal size, so that a long list costs as much as a short one. Each
        array has the shape (n_blocks, n_columns). No rows are left out, so that what can be measured on the
        list can be measured here: one positive, or the precision at its last place.
        """
        random = check_random_state(random_state)
        ones = [np.ones(n, dtype=np.uint8) for n in (self.n_positive, self.n_negative)]
        found = []
        for side, n_rows in enumerate((self.n_positive, self.n_negative)):
            blocks = np.array_split(random.permutation(n_rows), min(n_rows, JACKKNIFE_BLOCKS))
            values = np.empty((len(blocks), self.n_columns))
            for b, block in enumerate(blocks):
                counts = [count.copy() if c == side else count for c, count in enumerate(ones)]
                counts[side][block] = 2
                values[b] = self.on_counts(*counts)
            found.append(values)
        return found

    def on_counts(self, positive: Counts, negative: Counts) -> list[float]:
        """Return the measures of every ranking on rows drawn so often."""
        first = self.rankings[0]
        if hasattr(self, "_places"):
            kind = first.counts_rows, first.has_whole_places
            tallies = (
                Resample(at.tally(positive), within.tally(negative), *kind) for at, within in self._places
            )
            return [metric(None, tally) for tally in tallies for metric in self.metrics]
        counts = np.empty(len(first.is_positive), dtype=np.uint8)
        counts[first.is_positive], counts[~first.is_positive] = positive, negative
        rows = np.repeat(np.arange(len(counts)), counts)
        weights = {} if first.weights is None else {"sample_weight": first.weights[rows]}
        return [
            _one_number(metric(first.is_positive[rows], ranking.scores[rows], **weights), metric)
            for ranking in self.rankings
            for metric in self.metrics
        ]


def measure_named(metric: Any) -> Callable[..., Any]:
    """Return a measure, or the one of :mod:`pushrank.metrics` that a name stands for.

    Raises
    ------
    ValueError
        When there is no measure of that name, it needs a parameter that a name cannot give, or a partial sets
        what belongs to the rows.
    TypeError
        When it is neither a name nor callable.
    """
    if isinstance(metric, str):
        if metric not in NUMBER_MEASURES:
            raise ValueError(
                f"metric={metric!r} is not known; use one of {sorted(NUMBER_MEASURES)}, "
                "or a callable metric(y_true, scores)."
            )
        metric = NUMBER_MEASURES[metric]
    if not callable(metric):
        raise TypeError(
            f"metric must be callable or one of {sorted(NUMBER_MEASURES)}, got {type(metric).__name__}."
        )
    measure: Callable[..., Any] = metric
    if _innermost(measure) in NUMBER_MEASURES.values():
        _check_fits_resamples(measure)
    return measure


def _check_fits_resamples(measure: Callable[..., Any]) -> None:
    """Raise where a measure of this module, or a partial of one, cannot be called on labels and scores."""
    name = _innermost(measure).__name__
    parameters = signature(measure).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.name not in ("y_true", "scores")]
    if needed:
        raise ValueError(
            f"metric={name!r} needs {needed[0]}: pass functools.partial(pushrank.metrics.{name}, "
            f"{needed[0]}=...)."
        )
    given = measure.keywords if isinstance(measure, partial) else {}  # those of partials within it as well
    for of_rows in ("pos_label", "sample_weight"):
        if given.get(of_rows) is not None:
            raise ValueError(
                f"the partial of {name} sets {of_rows}, which is a parameter of confidence_interval and "
                "compare: give it there."
            )
    if given.get("qid") is not None:
        raise ValueError(
            f"the partial of {name} sets qid, which is of the rows in the order given; resamples draw rows, "
            "not queries, and have no interval for it."
        )


def _innermost(measure: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(measure, partial):
        measure = measure.func
    return measure


def _measures_order(metric: Callable[..., Any]) -> bool:
    return _innermost(metric) in ORDER_MEASURES


def _one_number(value: Any, metric: Callable[..., Any]) -> float:
    """Return what a measure gave as a float.

    Raises
    ------
    TypeError
        When it is not one number.
    """
    if isinstance(value, Real) or (hasattr(value, "__float__") and getattr(value, "ndim", None) == 0):
        return float(value)
    name = getattr(_innermost(metric), "__name__", type(metric).__name__)
    what = type(value).__name__
    if getattr(value, "ndim", 0):
        what += f" of shape {tuple(value.shape)}"
    raise TypeError(f"a metric must return one number for one ranking; {name} returned {what}.")


def _places(ranking: Ranking, *, alike: bool) -> tuple[Places | SortedPlaces, Places | SortedPlaces]:
    if alike:
        return SortedPlaces(ranking.positives_at), SortedPlaces(ranking.negatives_in)
    n_levels = len(ranking.levels)
    return (
        Places(ranking.positive_levels, n_levels, ranking.weights_of(ranking.is_positive)),
        Places(ranking.negative_cells, 2 * n_levels + 1, ranking.weights_of(~ranking.is_positive)),
    )


def checked_rankings(
    y_true: ArrayLike,
    all_scores: Sequence[ArrayLike],
    sample_weight: ArrayLike | None,
    pos_label: Any,
) -> list[Ranking]:
    """Return the rankings of the same rows by several scores, checked, without rows of weight zero."""
    first = Ranking(y_true, all_scores[0], sample_weight, pos_label)
    rankings = [first, *(first.of_same_rows(scores) for scores in all_scores[1:])]
    if first.weights is None or first.weights.all():
        return rankings
    counted = first.weights > 0.0
    labels, weights = first.is_positive[counted], first.weights[counted]
    return [Ranking(labels, ranking.scores[counted], weights) for ranking in rankings]


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


Method = Literal["bootstrap", "bca", "delong"]
METHODS = ("bootstrap", "bca", "delong")
FEWEST_RESAMPLES = 10
BOOTSTRAP_ROUNDING = 1e-12
"""The part of a measure below which a difference is that of the order of a sum, and not of rankings."""


def bootstrap(
    resampler: Resampler,
    contrasts: ArrayLike,
    estimates: Sequence[float],
    method: Method,
    n_resamples: int,
    random_state: Any,
) -> list[Percentiles]:
    """Return the resampled values of ``contrast @ measures`` for each contrast, from which to read intervals.

    Values that differ from the estimate by rounding alone are equal to it, so that they count as ties.

    Raises
    ------
    ValueError
        When the measure is not a number on some resamples.
    """
    values = resampler.on_resamples(n_resamples, random_state)
    twice = resampler.with_blocks_twice(random_state) if method == "bca" else []
    fewest = min(resampler.n_positive, resampler.n_negative)
    found = []
    for contrast, estimate in zip(np.atleast_2d(contrasts), estimates, strict=True):
        drawn = contrasted(values, contrast, estimate)
        missing = int(np.count_nonzero(np.isnan(drawn)))
        if missing:
            raise ValueError(
                f"the metric is not a number on {missing} of {n_resamples} resamples; use more rows, or a "
                "metric that is defined on all of them."
            )
        if method == "bootstrap":
            found.append(Percentiles(drawn))
        else:
            jackknifed = [contrasted(blocks, contrast, estimate) for blocks in twice]
            found.append(CorrectedPercentiles(drawn, estimate, jackknifed, fewest))
    return found


def contrasted(measures: ArrayLike, contrast: ArrayLike, estimate: float = 0.0) -> Floats:
    """Return ``measures @ contrast``, with what is zero or the estimate but for rounding put right.

    Examples
    --------
    >>> contrasted([[0.3, 0.1 + 0.2], [0.7, 0.5]], [1.0, -1.0]).round(3).tolist()
    [0.0, 0.2]
    """
    table, signs = np.asarray(measures, dtype=np.float64), np.asarray(contrast, dtype=np.float64)
    table, signs = table[..., signs != 0.0], signs[signs != 0.0]  # others may be infinite
    values: Floats = table @ signs
    rounding = BOOTSTRAP_ROUNDING * (np.abs(table) @ np.abs(signs))
    for exact in (0.0, estimate):
        values = np.where(np.abs(values - exact) < rounding, exact, values)
    return values


def check_method(method: Any, measure: Callable[..., Any], n_resamples: Any) -> None:
    """Raise where a method is not known, or is DeLong's for another measure than the area with half ties.

    Raises
    ------
    ValueError
        When the method does not fit, or there are too few resamples.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}.")
    check_number("n_resamples", n_resamples, FEWEST_RESAMPLES, integer=True)
    is_area = measure is auc
    if isinstance(measure, partial) and measure.func is auc:
        is_area = (
            not measure.args
            and measure.keywords.get("ties", "half") == "half"
            and set(measure.keywords) <= {"ties"}
        )
    if method == "delong" and not is_area:
        raise ValueError("method='delong' is for metric='auc' with ties='half'; use 'bootstrap' or 'bca'.")


def auc_covariance(rankings: Sequence[Ranking]) -> Floats:
    r"""Return the covariance of the areas of rankings of the same rows, shape (n_rankings, n_rankings).

    The area is the mean of the placements of the positives :math:`V_i = 1 - \mathrm{rHeight}(i) / W_-`, and
    of those of the negatives :math:`V_k = 1 - \mathrm{Height}(k) / W_+`, ties counting one half. Its
    covariance is estimated by the sum over both classes of that of the placements over the number of rows;
    with weights, by that of their weighted mean.

    Raises
    ------
    ValueError
        When a class has a single row of a weight that is not zero.

    Notes
    -----
    O(n log n), in place of O(positives x negatives) (Sun and Xu, IEEE Signal Processing Letters 21, 2014).

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, *Comparing the areas under two or more correlated receiver operating
    characteristic curves*, Biometrics 44 (1988).
    """
    first = rankings[0]
    positives = [1.0 - r.negatives_above("half")[r.positive_levels] / r.total_negative for r in rankings]
    negatives = [1.0 - r.positives_below("half")[r.negative_cells] / r.total_positive for r in rankings]
    covariance: Floats = sum(
        _covariance_of_means(np.stack(placements), first.weights_of(mask))
        for placements, mask in ((positives, first.is_positive), (negatives, ~first.is_positive))
    )  # type: ignore[assignment]
    return covariance


def _covariance_of_means(placements: Floats, weights: Floats | None) -> Floats:
    """Return the covariance of the weighted means of rows that were drawn independently."""
    shares = np.full(placements.shape[1], 1.0) if weights is None else weights / weights.max()
    n_rows = np.count_nonzero(shares)
    if n_rows < 2:
        raise ValueError("DeLong's variance needs at least 2 rows of each class, found 1 of a class.")
    shares = shares / shares.sum()
    deviations = shares * (placements - (placements @ shares)[:, None])
    covariance: Floats = deviations @ deviations.T * (n_rows / (n_rows - 1))
    return covariance
