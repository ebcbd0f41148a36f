"""Resamples of labelled rows, drawn with replacement within each class: a stratified bootstrap.

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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from pushrank._chunks import map_chunks
from pushrank._log_space import Floats
from pushrank._threads import one_blas_thread
from pushrank.metrics import resample_kernels
from pushrank.metrics.measured import NUMBER_MEASURES, ORDER_MEASURES
from pushrank.metrics.ranks import Ranking
from pushrank.metrics.tally import Tally

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
        resample_kernels.sum_by_rows(counts, self.rows, self.weights, self.ends, sums)
        return sums


class SortedPlaces:
    """As :class:`Places` for rows that are alike but for their places, and may be numbered in their order."""

    def __init__(self, counts: Floats) -> None:
        self.ends = np.cumsum(counts.astype(np.int64))

    def tally(self, counts: Counts) -> Floats:
        """Return the number of rows at each place."""
        sums = np.empty(len(self.ends))
        resample_kernels.sum_in_order(counts, self.ends, sums)
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
                resample_kernels.draw_counts(seeds[resample, 0], positive)
                resample_kernels.draw_counts(seeds[resample, 1], negative)
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
