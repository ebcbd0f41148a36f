r"""Inner sums of analytic losses in linear time, by a fast multipole method in one dimension.

Scores are sorted into bins of a width h. A loss without a singularity within a distance a of the real axis is
interpolated at q Chebyshev nodes of a bin with an error of about :math:`\rho^{-q}`, where
:math:`\rho = x + \sqrt{x^2 + 1}` and :math:`x = 2a/h`. So q weighted nodes replace all sources in a bin, and
three steps give all sums: the moments of every source bin, the sums over source bins at the nodes of every
target bin, and the interpolation from the nodes to the targets.

For near bins the second step multiplies by a table of the loss between nodes. For far bins the loss equals
its declared :class:`~pushrank.losses.Tails`, a polynomial on the left and an exponential on the right.
Running sums add up both over any number of bins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled, map_chunks, row_chunks, sum_chunks
from pushrank.losses import Loss
from pushrank.pairs import tolerances
from pushrank.pairs.graded import Block, Indices, mirrored, one_block, scatter_add
from pushrank.pairs.pair_sums import VALUE, PairSums, derivative_of, polynomial_derivative


class Expansion:
    """The nodes, the far field and the tables of an analytic loss at some accuracy."""

    # The accuracy is the largest error, relative to the sum of the loss and its scaled derivatives at the
    # same margin. A loss not as declared is a ValueError: 40 nodes do not reach it, or its tails differ.
    # `from_moments` maps sums of Chebyshev polynomials over a bin to weights of the nodes on [-1, 1]; its
    # transpose maps values at the nodes to coefficients. The rows of `left` are the left tails of the loss
    # and its derivatives, in powers of minus the margin; the right is `exp(log_size - rate * margin)`.

    def __init__(self, loss: Loss, accuracy: float) -> None:
        half_width = loss.strip_half_width
        if half_width is None or not 0.0 < float(half_width) < np.inf:
            raise ValueError(
                f"{loss} has strip_half_width={half_width!r}, where a positive finite number is needed."
            )
        self._loss, self._unit = loss, float(half_width)
        # No sum is more accurate than the margins about the centre, whose rounding a sharp loss multiplies.
        rounding = tolerances.MARGIN_ROUNDING * abs(float(loss.expansion_centre)) / self._unit
        self._accuracy = accuracy = max(accuracy, min(rounding, tolerances.MAX_ROUNDING))
        self._orders = range(3 if loss.twice_differentiable else 2)
        # Scores divide exactly by a power of two.
        self.width = 2.0 ** math.floor(math.log2(tolerances.MAX_BIN_WIDTH * self._unit))
        self._centre = round(float(loss.expansion_centre) / self.width)
        tails = loss.tails
        # The difference of a function of e^r from its tails falls by e^pi for every half-width of its strip.
        distance = self._unit / math.pi * math.log(tolerances.TAIL_CONSTANT / accuracy)
        self._radius = tolerances.MAX_BINS if tails is None else math.ceil(distance / self.width)
        self.left = np.zeros((3, 3))
        self.log_size, self.rate = -math.inf, 0.0
        # Far in the tails a loss may leave the range of floats.
        with np.errstate(all="ignore"):
            at_centre = float(np.abs(self._derivatives(self._margins_at(np.zeros(1)))).sum())
            vanishes = tails is None or tails.log_size == -math.inf
            self._floor = tolerances.LOSS_ROUNDING * at_centre if vanishes else tolerances.UNDERFLOW
            if tails is not None:
                if len(tails.left) > 3:
                    raise ValueError(f"the left tail of {loss} must be of degree 2 at most, got {tails}.")
                self.left[0, : len(tails.left)] = tails.left
                for order in (1, 2):
                    self.left[order, :-order] = polynomial_derivative(self.left[0], order)
                self.log_size, self.rate = float(tails.log_size), float(tails.rate)
                self._check_tails()
            self.nodes, self.from_moments = self._find_nodes()
        self._tables: dict[tuple[int, int, int], Floats] = {}

    def near_field(self, span: float) -> tuple[int, int]:
        """Return the smallest and the largest offset of a near source bin, for scores that span some bins."""
        if self._loss.tails is not None:
            return self._centre - self._radius, self._centre + self._radius
        if span > tolerances.MAX_BINS:
            most = tolerances.MAX_BINS * self.width
            raise ValueError(
                f"the scores span {span * self.width:.3g}, which is too far for {self._loss}: it declares no "
                f"tails, a polynomial and an exponential, so they may span {most:.3g}. Scale the scores (or "
                "raise alpha), or use another loss."
            )
        # Rounded up to a power of two, so that all evaluations of a fit share a few tables.
        reach = 1 << max(int(span) - 1, 0).bit_length()
        return -reach, reach

    def table(self, order: int, near_field: tuple[int, int]) -> Floats:
        """Return the loss or a derivative between nodes, shape (offsets, q of sources, q of targets)."""
        key = (order, *near_field)
        if key not in self._tables:
            offsets = np.arange(near_field[0], near_field[1] + 1)
            # The loss may overflow for offsets that no two bins have.
            with np.errstate(all="ignore"):
                self._tables[key] = self._kernel(order, offsets, self.nodes)
        return self._tables[key]

    def _kernel(self, order: int, offsets: NDArray[np.intp], local: Floats) -> Floats:
        apart = offsets[:, None, None] + 0.5 * np.subtract.outer(local, local)
        return np.asarray(derivative_of(self._loss, order)(self.width * apart), dtype=np.float64)

    def _margins_at(self, bins: Floats) -> Floats:
        """Return the margins at a number of bins off the centre."""
        return self.width * (self._centre + bins)

    def _derivatives(self, margins: Floats) -> Floats:
        """Return the loss and its derivatives, in units of the strip, along a first axis."""
        values = [self._unit**m * derivative_of(self._loss, m)(margins) for m in self._orders]
        return np.asarray(values, dtype=np.float64)

    def _allowed(self, exact: Floats) -> Floats:
        return np.asarray(self._accuracy * np.abs(exact).sum(axis=0) + self._floor)

    def _check_tails(self) -> None:
        """Raise unless the declared tails are those of the loss outside the near field."""
        units = self._unit ** np.arange(len(self._orders))[:, None]
        for side, sign in (("left", -1.0), ("right", 1.0)):
            # The error of a tail is largest where it begins; farther out a wrong rate or degree shows.
            margins = self._margins_at(sign * self._radius * np.array([1.0, 1.3, 2.0, 10.0]))
            exact = self._derivatives(margins)
            if sign < 0.0:
                declared = self.left[: len(exact)] @ (-margins) ** np.arange(3)[:, None]
            else:
                slopes = np.power(-self.rate, np.arange(len(exact), dtype=np.float64))[:, None]
                declared = slopes * np.exp(self.log_size - self.rate * margins)
            # The tails may take a quarter of the accuracy, and the rounding of their logarithm.
            rounding = tolerances.TAIL_ROUNDING * self.rate * np.abs(margins)
            allowed = 0.25 * self._allowed(exact) + rounding * np.abs(exact).sum(0)
            if not (np.abs(units * declared - exact) <= allowed).all():
                raise ValueError(
                    f"{self._loss} does not have the {side} tail that it declares, {self._loss.tails}, at "
                    f"margins of {margins[0]:.3g} and beyond. Declare the tail that it has, or a narrower "
                    "strip, which tails may be as slow to reach as it is wide, or no tails. If the tail is "
                    "right, the loss or a derivative loses its digits there: write it without a difference "
                    "of nearly equal terms, such as 1 - tanh(r)."
                )

    def _find_nodes(self) -> tuple[Floats, Floats]:
        """Return the smallest set of nodes that interpolates the loss between near bins, and its matrix."""
        probes = np.linspace(-1.0, 1.0, 11)
        radius = min(self._radius, tolerances.MAX_BINS_CHECKED)
        offsets = self._centre + np.arange(-radius, radius + 1)
        exact = np.stack([self._unit**m * self._kernel(m, offsets, probes) for m in self._orders])
        # The tails take a quarter of the accuracy, and margins between the probes another.
        allowed = 0.5 * self._allowed(exact)
        for q in range(4, tolerances.MAX_NODES + 1):
            nodes: Floats = np.cos(np.pi * (np.arange(q) + 0.5) / q)
            vandermonde = np.polynomial.chebyshev.chebvander(nodes, q - 1)
            from_moments = np.asarray(2.0 / q * vandermonde.T, np.float64)
            from_moments[0] *= 0.5
            basis = np.polynomial.chebyshev.chebvander(probes, q - 1) @ from_moments
            between = np.stack([self._unit**m * self._kernel(m, offsets, nodes) for m in self._orders])
            if (np.abs(basis @ between @ basis.T - exact) <= allowed).all():
                return nodes, from_moments
        raise ValueError(
            f"{self._loss} is not as smooth as strip_half_width={self._unit:g} says: {tolerances.MAX_NODES} "
            f"nodes on bins of width {self.width:g} do not give {self._accuracy:g}. Declare the distance of "
            "its nearest singularity from the real axis, or raise accuracy."
        )


# The expansion of a loss, which is computed once.
expansion = lru_cache(maxsize=64)(Expansion)


@compiled()
def assign(scores, per_width, lowest, bins, local, used):
    """Write the bin of each score, counted from the lowest, and its local coordinate; mark the bins used."""
    for i in range(len(scores)):
        scaled = scores[i] * per_width
        number = np.rint(scaled)
        index = np.int32(number - lowest)
        bins[i], local[i] = index, 2.0 * (scaled - number)
        used[index] = True


@compiled(fastmath={"contract"})
def add_moments(bins, local, weights, start, stop, moments):
    """Add the weighted Chebyshev polynomials of some points to their bins' moments, shape (bins, q > 1)."""
    q = moments.shape[1]
    for i in range(start, stop):
        bin_, x, weight = bins[i], local[i], weights[i]
        twice = 2.0 * x
        before, term = weight, weight * x
        moments[bin_, 0] += before
        moments[bin_, 1] += term
        for j in range(2, q):
            before, term = term, twice * term - before
            moments[bin_, j] += term


@compiled(fastmath={"contract"})
def evaluate(bins, local, coefficients, start, stop, out):
    """Write the Chebyshev series of their bins at the points from start to stop."""
    # In the forward recurrence all terms are at most one, and the additions are independent, in contrast to
    # those of Clenshaw's algorithm.
    q = coefficients.shape[1]
    for i in range(start, stop):
        bin_, x = bins[i], local[i]
        twice = 2.0 * x
        before, term = 1.0, x
        total = coefficients[bin_, 0] + coefficients[bin_, 1] * x
        for j in range(2, q):
            before, term = term, twice * term - before
            total += coefficients[bin_, j] * term
        out[i] = total


@compiled()
def near_sums(table, low, in_sources, weights, in_targets):
    """Return the sums at the nodes of the target bins over the near source bins of the same segment."""
    # Sources and targets are pairs of bin centres, in widths and ascending in every segment, and of segment
    # starts. The first axis of the table runs over the differences of centres, from `low`.
    (sources, source_starts), (targets, target_starts) = in_sources, in_targets
    q = weights.shape[1]
    high = low + len(table) - 1
    sums = np.zeros((len(targets), q))
    for segment in range(len(target_starts) - 1):
        first, last = source_starts[segment], source_starts[segment + 1]
        for k in range(target_starts[segment], target_starts[segment + 1]):
            while first < last and sources[first] - targets[k] < low:
                first += 1
            for j in range(first, last):
                apart = sources[j] - targets[k]
                if apart > high:
                    break
                between = table[int(apart - low)]
                for c in range(q):
                    weight = weights[j, c]
                    for a in range(q):
                        sums[k, a] += weight * between[c, a]
    return sums


@compiled()
def add_left_tail(coefficients, low, node_offsets, width, in_sources, weights, in_targets, sums):
    """Add the sums over source bins further below than ``low``, where the loss is a polynomial."""
    (sources, source_starts), (targets, target_starts) = in_sources, in_targets
    zeroth_factor, first_factor, second_factor = coefficients
    q = len(node_offsets)
    for segment in range(len(target_starts) - 1):
        j, last = source_starts[segment], source_starts[segment + 1]
        zeroth = first = second = 0.0
        for k in range(target_starts[segment], target_starts[segment + 1]):
            # Moments about the next target follow from those about the last by non-negative sums.
            if k > target_starts[segment]:
                rise = width * (targets[k] - targets[k - 1])
                second += rise * (2.0 * first + rise * zeroth)
                first += rise * zeroth
            while j < last and sources[j] - targets[k] < low:
                apart = width * (targets[k] - sources[j])
                for c in range(q):
                    weight, distance = weights[j, c], apart - node_offsets[c]
                    zeroth += weight
                    first += weight * distance
                    second += weight * distance * distance
                j += 1
            for a in range(q):
                offset, total = node_offsets[a], zeroth_factor * zeroth
                # A sum of squares of far scores may be infinite, and would make NaN with a factor of zero.
                if first_factor != 0.0:
                    total += first_factor * (first + offset * zeroth)
                if second_factor != 0.0:
                    total += second_factor * (second + offset * (2.0 * first + offset * zeroth))
                sums[k, a] += total


@compiled()
def add_right_tail(log_size, rate, factor, high, node_offsets, width, in_sources, weights, in_targets, sums):
    """Add the sums over source bins above ``high``: ``factor * exp(log_size - rate * margin)``."""
    (sources, source_starts), (targets, target_starts) = in_sources, in_targets
    q = len(node_offsets)
    fall = rate * width
    for segment in range(len(target_starts) - 1):
        first, j = source_starts[segment], source_starts[segment + 1] - 1
        # The sum runs downwards, so that every source enters it at its first and closest target: factors of
        # exp(-fall) then only shrink it.
        total = 0.0
        for k in range(target_starts[segment + 1] - 1, target_starts[segment] - 1, -1):
            if k < target_starts[segment + 1] - 1:
                total *= np.exp(-fall * (targets[k + 1] - targets[k]))
            while j >= first and sources[j] - targets[k] > high:
                at_centre = 0.0
                for c in range(q):
                    at_centre += weights[j, c] * np.exp(-rate * node_offsets[c])
                total += at_centre * np.exp(log_size - fall * (sources[j] - targets[k]))
                j -= 1
            for a in range(q):
                sums[k, a] += factor * total * np.exp(rate * node_offsets[a])


@dataclass(frozen=True, eq=False)
class Bins:
    """Points, segment by segment, in bins about the multiples of a width."""

    # Only bins with a point are numbered. Their `centres`, in widths, ascend in every segment; `starts` has
    # the first bin of each segment, and the end of the last. `local` coordinates run from -1 to 1 in a bin.

    bin_of_point: NDArray[np.int32]
    local: Floats
    centres: Floats
    starts: Indices

    @classmethod
    def from_scores(cls, scores: Floats, starts: Indices, width: float) -> Bins:
        """Sort scores, segment by segment, into bins: O(n) where one segment spans few, else O(n log n)."""
        per_width = 1.0 / width
        # A table of all bins between the ends numbers them without sorting.
        if len(starts) == 2:
            lowest, highest = np.rint(scores.min() * per_width), np.rint(scores.max() * per_width)
            if highest - lowest < 4 * len(scores) + tolerances.MIN_TABLE_BINS:
                codes, local = np.empty(len(scores), dtype=np.int32), np.empty(len(scores))
                used = np.zeros(int(highest - lowest) + 1, dtype=bool)
                assign(scores, per_width, lowest, codes, local, used)
                if not used.all():
                    codes = (np.cumsum(used, dtype=np.int32) - 1)[codes]
                present = np.flatnonzero(used)
                return cls(codes, local, lowest + present, np.array([0, len(present)]))
        # The product is exact, as the width is a power of two.
        local = scores * per_width
        multiples = np.rint(local)
        local -= multiples
        local *= 2.0
        segments = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((multiples, segments))
        in_order, segments = multiples[order], segments[order]
        starts_bin = np.ones(len(order), dtype=bool)
        starts_bin[1:] = (in_order[1:] != in_order[:-1]) | (segments[1:] != segments[:-1])
        bin_of_point = np.empty(len(order), dtype=np.int32)
        bin_of_point[order] = np.cumsum(starts_bin, dtype=np.int32) - 1
        bin_starts = np.searchsorted(segments[starts_bin], np.arange(len(starts)))
        return cls(bin_of_point, local, in_order[starts_bin], bin_starts)

    @property
    def layout(self) -> tuple[Floats, Indices]:
        """The centres of the bins, and the starts of the segments."""
        return self.centres, self.starts

    def moments(self, weights: Floats, q: int) -> Floats:
        """Return the weighted sums of the first q Chebyshev polynomials over each bin, shape (n_bins, q)."""
        n_points, n_bins = len(self.local), len(self.centres)
        # Every chunk has its own moments, which should not take longer to add up than the points.
        chunks = row_chunks(n_points, q)
        if n_bins * len(chunks) > n_points:
            chunks = [(0, n_points)]

        def chunk_moments(start: int, stop: int) -> Floats:
            moments = np.zeros((n_bins, q))
            add_moments(self.bin_of_point, self.local, weights, start, stop, moments)
            return moments

        return sum_chunks(chunk_moments, chunks)

    def evaluate(self, coefficients: Floats) -> Floats:
        """Return the Chebyshev series of each point's bin at the point, shape (n,)."""
        values = np.empty(len(self.local))
        map_chunks(
            lambda start, stop: evaluate(self.bin_of_point, self.local, coefficients, start, stop, values),
            row_chunks(len(values), coefficients.shape[1]),
        )
        return values


class SmoothSums(PairSums):
    """Log inner sums of an analytic loss in O(I + K), to a given accuracy."""

    # With a the half-width of the loss's strip, the error of a sum is at most `accuracy` times the same sum
    # of loss + a |loss'| + a^2 |loss''|: for the losses of this package that is a few times the loss, so that
    # small sums are as accurate as large ones.
    # Fong and Darve, *The black-box fast multipole method*, J. Comput. Phys. 228 (2009), section 2, the
    # interpolation in Chebyshev nodes.

    def __init__(
        self,
        loss: Loss,
        positive_scores: Floats,
        negative_scores: Floats,
        weights: Floats | None,
        blocks: Sequence[Block] | None = None,
        accuracy: float = tolerances.ACCURACY,
    ) -> None:
        between = expansion(loss, accuracy)
        if blocks is None:
            blocks = one_block(positive_scores.shape[0], negative_scores.shape[0])
        self._blocks = [_BinnedBlock(between, block, positive_scores, negative_scores) for block in blocks]
        super().__init__(loss, positive_scores, negative_scores, weights)

    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        weights = self._weighted(factors)
        parts = [block.over_sources(order, weights, keep=factors is None) for block in self._blocks]
        sums = scatter_add([block.targets for block in self._blocks], parts, self._negatives.shape[0])
        # Rounding may leave a sum of numbers near the smallest float below zero.
        return np.maximum(sums, 0.0) if order == VALUE and factors is None else sums

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        parts = [block.over_targets(order, factors) for block in self._blocks]
        sums = scatter_add([block.sources for block in self._blocks], parts, self._positives.shape[0])
        sums *= self._weights
        return sums


class _BinnedBlock:
    """A block of pairs with both sides in bins."""

    def __init__(
        self, between: Expansion, block: Block, positive_scores: Floats, negative_scores: Floats
    ) -> None:
        self._expansion = between
        self.sources = _indices_or_all(block.sources, positive_scores)
        self.targets = _indices_or_all(block.targets, negative_scores)
        sources, targets = positive_scores[self.sources], negative_scores[self.targets]
        self._source_bins = Bins.from_scores(sources, block.source_starts, between.width)
        self._target_bins = Bins.from_scores(targets, block.target_starts, between.width)
        centres = np.concatenate([self._source_bins.centres, self._target_bins.centres])
        self._near_field = between.near_field(float(centres.max() - centres.min()))
        self._kept: Floats | None = None

    def over_sources(self, order: int, weights: Floats, keep: bool) -> Floats:
        """Return the sums over the sources at the targets; ``keep`` the nodes' weights for other orders."""
        if self._kept is None or not keep:
            moments = self._source_bins.moments(weights[self.sources], len(self._expansion.nodes))
            node_weights = moments @ self._expansion.from_moments
            if keep:
                self._kept = node_weights
        else:
            node_weights = self._kept
        sources, targets = self._source_bins.layout, self._target_bins.layout
        at_nodes = self._at_nodes(order, sources, node_weights, targets)
        return self._target_bins.evaluate(at_nodes @ self._expansion.from_moments.T)

    def over_targets(self, order: int, weights: Floats) -> Floats:
        """Return the sums over the targets at the sources, with both sides mirrored."""
        moments = self._target_bins.moments(weights[self.targets], len(self._expansion.nodes))
        # In mirrored scores both the bins and the nodes within them are in reverse order.
        node_weights = np.ascontiguousarray((moments @ self._expansion.from_moments)[::-1, ::-1])
        sources, targets = mirrored(*self._target_bins.layout), mirrored(*self._source_bins.layout)
        at_nodes = self._at_nodes(order, sources, node_weights, targets)[::-1, ::-1]
        return self._source_bins.evaluate(at_nodes @ self._expansion.from_moments.T)

    def _at_nodes(
        self, order: int, sources: tuple[Floats, Indices], weights: Floats, targets: tuple[Floats, Indices]
    ) -> Floats:
        """Return the sums over the source bins' nodes at those of the target bins."""
        low, high = self._near_field
        between = self._expansion
        sums: Floats = near_sums(between.table(order, self._near_field), low, sources, weights, targets)
        bins = (0.5 * between.width * between.nodes, between.width, sources, weights, targets, sums)
        add_left_tail(between.left[order], low, *bins)
        add_right_tail(between.log_size, between.rate, (-between.rate) ** order, high, *bins)
        return sums


def _indices_or_all(indices: Indices, scores: Floats) -> Indices | slice:
    """Return the indices, or a slice if they are all in order, which spares a copy of the scores."""
    everything = len(indices) == scores.shape[0] and indices[0] == 0 and bool((np.diff(indices) == 1).all())
    return slice(None) if everything else indices
