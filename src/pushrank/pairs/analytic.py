r"""Inner sums of analytic losses, by fast summation.

An analytic loss of two boxes of scores: interpolation where they are near, its tails where they are far.

On the real axis a loss without a singularity within a distance a is interpolated in q Chebyshev nodes, over
boxes of width h, to an error of about :math:`\rho^{-q}`, :math:`\rho = x + \sqrt{x^2 + 1}`, :math:`x = 2a/h`.
So a box of sources acts on a box of targets as q weighted nodes do. Far on the left a loss that falls with
the margin is mostly a polynomial, far on the right an exponential; both are summed over any number of boxes
by running sums. Where the tails begin, what they are, and how many nodes do, is found by trial and checked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._array import is_numpy, positive_part
from pushrank._numeric import Floats
from pushrank._parallel import compiled, map_chunks, row_chunks
from pushrank.losses import Loss
from pushrank.pairs.array_api import ArrayBoxes
from pushrank.pairs.graded import Places, Split, joined, whole
from pushrank.pairs.inner_sums import VALUE, PairSums, derivative_of

ORDERS = range(3)
WIDEST = 0.32  # of a box, in units of the strip
MOST_NODES = 40
REACHES = (*range(4, 64, 2), *range(64, 257, 16))  # boxes off the centre, where tails may begin
MOST_BOXES = 4096  # apart, where there is no tail
FURTHER = np.array([1.0, 1.05, 1.1, 1.2, 1.4, 1.7, 2.0, 3.0, 5.0, 10.0, 100.0])  # where tails are checked
PROBES = np.array([-1.0, -0.93, -0.71, -0.4, -0.12, 0.0, 0.27, 0.52, 0.83, 0.97, 1.0])  # and interpolation
ROUNDING = 1e-14
SMALLEST = 1e-290


@dataclass(frozen=True, eq=False)
class Tails:
    """What a loss is far from a margin of zero.

    Attributes
    ----------
    left_reach, right_reach : int or None
        How many boxes off the loss's centre the tails hold; None where there is no such tail.
    left : ndarray of shape (3, 3)
        For the loss and its derivatives, the coefficients of powers of minus the margin.
    log_size, rate : float
        On the right the loss is ``exp(log_size - rate * margin)``; zero where ``log_size`` is ``-inf``.
    """

    left_reach: int | None
    right_reach: int | None
    left: Floats
    log_size: float
    rate: float


class Expansion:
    """The nodes, the tails and the tables of one analytic loss at one accuracy.

    Parameters
    ----------
    loss : Loss
        A loss with a ``strip``.
    accuracy : float
        The largest error, in units of the loss and its scaled derivatives at the same margin. Where a loss
        falls faster than an exponential, or its own rounding is larger, 1e-14 of them at the centre is added.

    Raises
    ------
    ValueError
        When 40 nodes do not reach the accuracy: the loss is not as smooth as its strip says.

    Attributes
    ----------
    width : float
        The width of a box, a power of two, so that scores divide by it exactly.
    centre : int
        The loss's centre, in boxes.
    tails : Tails
        Where they begin and what they are.
    nodes : ndarray of shape (q,)
        The Chebyshev nodes on [-1, 1].
    from_moments : ndarray of shape (q, q)
        Maps sums of Chebyshev polynomials over a box to weights of the nodes; transposed, values at the nodes
        to coefficients.
    """

    def __init__(self, loss: Loss, accuracy: float) -> None:
        if loss.strip is None or not 0.0 < float(loss.strip) < np.inf:
            raise ValueError(f"{loss} has strip={loss.strip!r}, where a positive finite number is needed.")
        self._loss, self._accuracy = loss, accuracy
        self._strip = float(loss.strip)
        self.width = 2.0 ** math.floor(math.log2(WIDEST * self._strip))
        self.centre = round(float(loss.centre) / self.width)
        with np.errstate(all="ignore"):  # far in the tails a loss may leave the range of floats
            at_centre = float(np.abs(self._derivatives(np.array([self._away(0.0)]))).sum())
            for self._floor in (SMALLEST, ROUNDING * at_centre):
                self.tails = self._find_tails()
                found = self._find_nodes()
                if found is not None and self.tails.right_reach is not None:
                    break
        if found is None:
            raise ValueError(
                f"{loss} is not as smooth as strip={self._strip:g} says: {MOST_NODES} nodes on boxes of "
                f"width {self.width:g} do not give {accuracy:g}. Declare the distance of its nearest "
                "singularity from the real axis, or raise accuracy."
            )
        self.nodes, self.from_moments = found
        self._tables: dict[tuple[int, int, int], Floats] = {}

    def window(self, span: float) -> tuple[int, int]:
        """Return from how many to how many boxes above its targets a box of sources is near.

        ``span`` is the number of boxes that the scores span.

        Raises
        ------
        ValueError
            When a loss without a tail is summed over scores that span too many boxes.
        """
        left, right = self.tails.left_reach, self.tails.right_reach
        if (left is None or right is None) and span > MOST_BOXES:
            raise ValueError(
                f"the scores span {span * self.width:.3g}, which is too far for {self._loss}: its tails are "
                f"not a polynomial and an exponential, so they may span {MOST_BOXES * self.width:.3g}. "
                "Scale the scores (or raise alpha), or use another loss."
            )
        furthest = int(min(span, MOST_BOXES))
        return (
            -furthest if left is None else self.centre - left,
            furthest if right is None else self.centre + right,
        )

    def table(self, order: int, window: tuple[int, int]) -> Floats:
        """Return the loss or a derivative between nodes, shape (offsets, q of sources, q of targets).

        The first axis runs over the boxes of the window, from the lowest to the highest.
        """
        key = (order, *window)
        if key not in self._tables:
            self._tables[key] = self._kernel(order, np.arange(window[0], window[1] + 1), self.nodes)
        return self._tables[key]

    def _kernel(self, order: int, offsets: NDArray[np.intp], at: Floats) -> Floats:
        apart = offsets[:, None, None] + 0.5 * np.subtract.outer(at, at)
        return np.asarray(derivative_of(self._loss, order)(self.width * apart), dtype=np.float64)

    @property
    def _orders(self) -> range:
        """The derivatives that there are."""
        return ORDERS if self._loss.twice_differentiable else ORDERS[:2]

    def _derivatives(self, margins: Floats) -> Floats:
        """Return the loss and its derivatives, in units of the strip, along a first axis."""
        found = [self._strip**m * derivative_of(self._loss, m)(margins) for m in self._orders]
        return np.asarray(found, dtype=np.float64)

    def _allowed(self, exact: Floats) -> Floats:
        allowed: Floats = self._accuracy * np.abs(exact).sum(axis=0) + self._floor
        return allowed

    def _find_tails(self) -> Tails:
        left_reach, left = None, np.zeros((3, 3))
        for reach, degree in product(REACHES, ORDERS):
            coefficients = self._polynomial(self._away(-4.0 * reach), degree)
            if self._is_left_tail(self._away(-reach * FURTHER), coefficients):
                left_reach, left = reach, coefficients
                break
        for reach in REACHES:
            log_size, rate = self._exponential(self._away(2.0 * reach))
            if self._is_right_tail(self._away(reach * FURTHER), log_size, rate):
                return Tails(left_reach, reach, left, log_size, rate)
        return Tails(left_reach, None, left, -np.inf, 0.0)

    def _away(self, boxes: Any) -> Any:
        """Return the margin so many boxes off the centre."""
        return self.width * (self.centre + boxes)

    def _polynomial(self, margin: float, degree: int) -> Floats:
        """Return the coefficients, in powers of minus the margin, of the Taylor polynomial at a margin."""
        value, slope, bend = np.append(self._derivatives(np.array([margin]))[:, 0], 0.0)[:3]
        slope = -slope / self._strip if degree else 0.0
        bend = bend / self._strip**2 if degree == 2 else 0.0
        far = -margin
        c0, c1, c2 = value - slope * far + 0.5 * bend * far**2, slope - bend * far, 0.5 * bend
        return np.array([[c0, c1, c2], [-c1, -2.0 * c2, 0.0], [2.0 * c2, 0.0, 0.0]])

    def _is_left_tail(self, margins: Floats, coefficients: Floats) -> bool:
        exact = self._derivatives(margins)
        return self._close(coefficients[: len(exact)] @ (-margins) ** np.arange(3)[:, None], exact)

    def _exponential(self, margin: float) -> tuple[float, float]:
        """Return the logarithm of the size, and the rate, of the exponential that touches at a margin."""
        value, slope = self._derivatives(np.array([margin]))[:2, 0]
        if not value > SMALLEST or not slope < 0.0:
            return -np.inf, 0.0
        rate = -slope / (self._strip * value)
        return float(np.log(value) + rate * margin), float(rate)

    def _is_right_tail(self, margins: Floats, log_size: float, rate: float) -> bool:
        exact = self._derivatives(margins)
        slopes = np.power(-rate, np.arange(len(exact), dtype=np.float64))[:, None]
        return self._close(slopes * np.exp(log_size - rate * margins), exact)

    def _close(self, derivatives: Floats, exact: Floats) -> bool:
        error = np.abs(derivatives * self._strip ** np.arange(len(exact))[:, None] - exact)
        return bool((error <= 0.25 * self._allowed(exact)).all())

    def _find_nodes(self) -> tuple[Floats, Floats] | None:
        low, high = self.window(REACHES[-1])
        offsets = np.arange(low, high + 1)
        exact = np.stack([self._strip**m * self._kernel(m, offsets, PROBES) for m in self._orders])
        allowed = 0.5 * self._allowed(exact)
        for q in range(4, MOST_NODES + 1):
            nodes: Floats = np.cos(np.pi * (np.arange(q) + 0.5) / q)
            from_moments = np.asarray(
                2.0 / q * np.polynomial.chebyshev.chebvander(nodes, q - 1).T, np.float64
            )
            from_moments[0] *= 0.5
            basis = np.polynomial.chebyshev.chebvander(PROBES, q - 1) @ from_moments
            between = np.stack([self._strip**m * self._kernel(m, offsets, nodes) for m in self._orders])
            if (np.abs(basis @ between @ basis.T - exact) <= allowed).all():
                return nodes, from_moments
        return None


@lru_cache(maxsize=64)
def expansion(loss: Loss, accuracy: float) -> Expansion:
    """Return the expansion of a loss, made once."""
    return Expansion(loss, accuracy)


@compiled()
def extent(scores, per_width):
    """Return the lowest and the highest number of a box."""
    lowest, highest = np.inf, -np.inf
    for i in range(len(scores)):
        lowest, highest = min(lowest, scores[i]), max(highest, scores[i])
    return np.rint(lowest * per_width), np.rint(highest * per_width)


@compiled()
def assign(scores, per_width, lowest, boxes, places, used):
    """Write the box of each score, counted from the lowest, and its place in it; mark the boxes used."""
    for i in range(len(scores)):
        scaled = scores[i] * per_width
        number = np.rint(scaled)
        box = np.int32(number - lowest)
        boxes[i], places[i] = box, 2.0 * (scaled - number)
        used[box] = True


@compiled(fastmath={"contract"})
def add_moments(boxes, places, weights, start, stop, moments):
    """Add the weighted Chebyshev polynomials of the points from start to stop to their boxes' moments.

    ``places`` are those within the boxes, from -1 to 1; ``moments`` has shape (boxes, q), q at least 2.
    """
    q = moments.shape[1]
    for i in range(start, stop):
        box, place, weight = boxes[i], places[i], weights[i]
        twice = 2.0 * place
        before, term = weight, weight * place
        moments[box, 0] += before
        moments[box, 1] += term
        for j in range(2, q):
            before, term = term, twice * term - before
            moments[box, j] += term


@compiled(fastmath={"contract"})
def evaluate(boxes, places, coefficients, start, stop, out):
    """Write the Chebyshev series of their boxes at the points from start to stop.

    The forward recurrence keeps its terms within one, and its additions do not wait for one another, as those
    of Clenshaw's do.
    """
    q = coefficients.shape[1]
    for i in range(start, stop):
        box, place = boxes[i], places[i]
        twice = 2.0 * place
        before, term = 1.0, place
        total = coefficients[box, 0] + coefficients[box, 1] * place
        for j in range(2, q):
            before, term = term, twice * term - before
            total += coefficients[box, j] * term
        out[i] = total


@compiled()
def near_sums(table, low, sources, source_bounds, weights, targets, target_bounds):
    """Return the sums at the nodes of the target boxes over the near source boxes of the same segment.

    Sources and targets are numbers of boxes, ascending in every segment; the table's first axis runs over
    their differences, from ``low``.
    """
    q = weights.shape[1]
    high = low + len(table) - 1
    sums = np.zeros((len(targets), q))
    for segment in range(len(target_bounds) - 1):
        first, last = source_bounds[segment], source_bounds[segment + 1]
        for k in range(target_bounds[segment], target_bounds[segment + 1]):
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
def add_left_tail(coefficients, low, offsets, width, sources, source_bounds, weights, targets, bounds, sums):
    """Add the sums over source boxes further below than ``low``, where the loss is a polynomial.

    The polynomial is in minus the margin, which is positive; ``offsets`` are the nodes' from the middle of
    their box.
    """
    zeroth_factor, first_factor, second_factor = coefficients
    q = len(offsets)
    for segment in range(len(bounds) - 1):
        j, last = source_bounds[segment], source_bounds[segment + 1]
        zeroth = first = second = 0.0
        for k in range(bounds[segment], bounds[segment + 1]):
            if k > bounds[segment]:
                rise = width * (targets[k] - targets[k - 1])
                second += rise * (2.0 * first + rise * zeroth)
                first += rise * zeroth
            while j < last and sources[j] - targets[k] < low:
                apart = width * (targets[k] - sources[j])
                for c in range(q):
                    weight, reach = weights[j, c], apart - offsets[c]
                    zeroth += weight
                    first += weight * reach
                    second += weight * reach * reach
                j += 1
            for a in range(q):
                shift, total = offsets[a], zeroth_factor * zeroth
                # a sum of squares of far scores may be infinite: it counts only where it is asked for
                if first_factor != 0.0:
                    total += first_factor * (first + shift * zeroth)
                if second_factor != 0.0:
                    total += second_factor * (second + shift * (2.0 * first + shift * zeroth))
                sums[k, a] += total


@compiled()
def add_right_tail(
    log_size, rate, factor, high, offsets, width, sources, source_bounds, weights, targets, bounds, sums
):
    """Add the sums over source boxes further above than ``high``, where the loss is an exponential.

    It is ``factor * exp(log_size - rate * margin)``.
    """
    q = len(offsets)
    fall = rate * width
    for segment in range(len(bounds) - 1):
        first, j = source_bounds[segment], source_bounds[segment + 1] - 1
        total = 0.0
        for k in range(bounds[segment + 1] - 1, bounds[segment] - 1, -1):
            if k < bounds[segment + 1] - 1:
                total *= np.exp(-fall * (targets[k + 1] - targets[k]))
            while j >= first and sources[j] - targets[k] > high:
                at_middle = 0.0
                for c in range(q):
                    at_middle += weights[j, c] * np.exp(-rate * offsets[c])
                total += at_middle * np.exp(log_size - fall * (sources[j] - targets[k]))
                j -= 1
            for a in range(q):
                sums[k, a] += factor * total * np.exp(rate * offsets[a])


SPARE = 1024  # numbers of boxes that may be counted in a table, beyond four times the points


@dataclass(frozen=True, eq=False)
class Boxes:
    """Points, segment by segment, in boxes about the multiples of a width.

    Attributes
    ----------
    of_points : ndarray of int, shape (n,)
        The box of each point, counted over the boxes that hold any.
    places : ndarray of shape (n,)
        Where it is in its box, from -1 to 1.
    numbers : ndarray of float64, shape (n_boxes,)
        The multiple that each box lies about, ascending in every segment.
    bounds : ndarray of int, shape (n_segments + 1,)
        Where each segment's boxes start, and where the last ones end.
    """

    of_points: NDArray[np.int32]
    places: Floats
    numbers: Floats
    bounds: Places

    @classmethod
    def of(cls, scores: Floats, bounds: Places, width: float) -> Boxes:
        """Sort scores, segment by segment, into boxes.

        O(n) in one segment whose scores span no more boxes than a few times the points, O(n log n) elsewhere.
        """
        per_width = 1.0 / width
        if len(bounds) == 2:
            lowest, highest = extent(scores, per_width)
            if highest - lowest < 4 * len(scores) + SPARE:
                codes, places = np.empty(len(scores), dtype=np.int32), np.empty(len(scores))
                used = np.zeros(int(highest - lowest) + 1, dtype=bool)
                assign(scores, per_width, lowest, codes, places, used)
                if not used.all():
                    codes = (np.cumsum(used, dtype=np.int32) - 1)[codes]
                present = np.flatnonzero(used)
                return cls(codes, places, lowest + present, np.array([0, len(present)]))
        places = scores * per_width  # exact, as the width is a power of two
        numbers = np.rint(places)
        places -= numbers
        places *= 2.0
        segments = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = np.lexsort((numbers, segments))
        in_order, segments = numbers[order], segments[order]
        opens = np.ones(len(order), dtype=bool)
        opens[1:] = (in_order[1:] != in_order[:-1]) | (segments[1:] != segments[:-1])
        of_points = np.empty(len(order), dtype=np.int32)
        of_points[order] = np.cumsum(opens, dtype=np.int32) - 1
        box_bounds = np.searchsorted(segments[opens], np.arange(len(bounds)))
        return cls(of_points, places, in_order[opens], box_bounds)

    def mirrored_numbers(self) -> tuple[Floats, Places]:
        """Return the numbers and bounds of the boxes of the negated scores."""
        return -self.numbers[::-1], len(self.numbers) - self.bounds[::-1]

    def moments(self, weights: Floats, q: int) -> Floats:
        """Return the weighted sums of the first q Chebyshev polynomials over each box, shape (n_boxes, q)."""
        n_points, n_boxes = len(self.places), len(self.numbers)
        chunks = row_chunks(n_points, q)
        if n_boxes * len(chunks) > n_points:
            chunks = [(0, n_points)]

        def chunk_moments(start: int, stop: int) -> Floats:
            found = np.zeros((n_boxes, q))
            add_moments(self.of_points, self.places, weights, start, stop, found)
            return found

        total, *others = map_chunks(chunk_moments, chunks)
        for part in others:
            total += part
        return total

    def evaluate(self, coefficients: Floats) -> Floats:
        """Return the Chebyshev series of each point's box at the point, shape (n,)."""
        values = np.empty(len(self.places))
        map_chunks(
            lambda start, stop: evaluate(self.of_points, self.places, coefficients, start, stop, values),
            row_chunks(len(values), coefficients.shape[1]),
        )
        return values


ACCURACY = 1e-10


class SmoothSums(PairSums):
    r"""Log inner sums of an analytic loss in O(I + K), to a given accuracy.

    The error of a sum is at most ``accuracy`` times the same sum of
    :math:`\ell + a |\ell'| + a^2 |\ell''|`, a the loss's strip, which for the losses of this package is
    a few times :math:`\ell`: small sums are as accurate as large ones.

    Parameters
    ----------
    loss : Loss
        A loss with a ``strip``.
    of_positives : ndarray of shape (I,)
        The scores ``s``.
    of_negatives : ndarray of shape (K,)
        The scores ``t``.
    weights : ndarray of shape (I,) or None
        Weights of the positives.
    splits : list of Split, optional
        Which are compared with which; by default all with all. Each costs as much as two classes.
    accuracy : float, default=1e-10
        The relative error, between 1e-13 and 0.1.

    Notes
    -----
    The scores are sorted into boxes of about a third of the strip. A box of positives is replaced by about
    10 nodes, the sums over all boxes are taken at the nodes of each box of negatives, and interpolated. N
    boxes add the work of N times some 50 small matrices, N at most the number of rows.

    References
    ----------
    Fong and Darve, *The black-box fast multipole method*, J. Comput. Phys. 228 (2009), section 2, the
    interpolation in Chebyshev nodes.

    Examples
    --------
    >>> from pushrank.losses import Logistic
    >>> sums = SmoothSums(Logistic(), np.array([0.0, 2.0]), np.array([0.0, 1e6]), None)
    >>> np.exp(sums.log_sums).round(6).tolist()
    [0.820075, 1999998.0]
    """

    def __init__(
        self,
        loss: Loss,
        of_positives: Floats,
        of_negatives: Floats,
        weights: Floats | None,
        splits: Sequence[Split] | None = None,
        accuracy: float = ACCURACY,
    ) -> None:
        between = expansion(loss, accuracy)
        splits = whole(of_positives.shape[0], of_negatives.shape[0]) if splits is None else splits
        self._parts = [_Part(between, split, of_positives, of_negatives) for split in splits]
        super().__init__(loss, of_positives, of_negatives, weights)

    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        weights = self._weighted(factors)
        parts = [part.over_sources(order, weights, keep=factors is None) for part in self._parts]
        sums = joined([part.places_n for part in self._parts], parts, self._negatives.shape[0])
        if order == VALUE and factors is None:
            # rounding may leave a sum of numbers near the smallest float below zero
            sums = positive_part(sums)
        return sums

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        parts = [part.over_targets(order, factors) for part in self._parts]
        sums = joined([part.places_p for part in self._parts], parts, self._positives.shape[0])
        sums *= self._weights
        return sums


class _Part:
    """A split with both sides in boxes."""

    def __init__(self, between: Expansion, split: Split, of_positives: Floats, of_negatives: Floats) -> None:
        self._between = between
        self.places_p = _taken(split.sources, of_positives)
        self.places_n = _taken(split.targets, of_negatives)
        self._boxes_p = _boxed(of_positives[self.places_p], split.source_bounds, between.width)
        self._boxes_n = _boxed(of_negatives[self.places_n], split.target_bounds, between.width)
        ends = np.concatenate([self._boxes_p.numbers, self._boxes_n.numbers])
        self._window = between.window(float(ends.max() - ends.min()))
        self._kept: Floats | None = None

    def over_sources(self, order: int, weights: Floats, keep: bool) -> Floats:
        """Return the sums over the sources at the targets; ``keep`` their weights for another order."""
        if self._kept is None or not keep:
            moments = self._boxes_p.moments(weights[self.places_p], len(self._between.nodes))
            of_nodes = moments @ self._between.from_moments
            if keep:
                self._kept = of_nodes
        else:
            of_nodes = self._kept
        sources = self._boxes_p.numbers, self._boxes_p.bounds
        targets = self._boxes_n.numbers, self._boxes_n.bounds
        at_nodes = self._at_nodes(order, sources, of_nodes, targets)
        return self._boxes_n.evaluate(at_nodes @ self._between.from_moments.T)

    def over_targets(self, order: int, weights: Floats) -> Floats:
        """Return the sums over the targets at the sources: the same, mirrored."""
        moments = self._boxes_n.moments(weights[self.places_n], len(self._between.nodes))
        of_nodes = (moments @ self._between.from_moments)[::-1, ::-1]
        sources, targets = self._boxes_n.mirrored_numbers(), self._boxes_p.mirrored_numbers()
        at_nodes = self._at_nodes(order, sources, np.ascontiguousarray(of_nodes), targets)[::-1, ::-1]
        return self._boxes_p.evaluate(at_nodes @ self._between.from_moments.T)

    def _at_nodes(
        self, order: int, sources: tuple[Floats, Places], weights: Floats, targets: tuple[Floats, Places]
    ) -> Floats:
        """Return the sums over the source boxes' nodes at those of the target boxes."""
        low, high = self._window
        table, tails = self._between.table(order, self._window), self._between.tails
        sums: Floats = near_sums(table, low, *sources, weights, *targets)
        offsets, width = 0.5 * self._between.width * self._between.nodes, self._between.width
        given = (offsets, width, *sources, weights, *targets, sums)
        add_left_tail(tails.left[order], low, *given)
        add_right_tail(tails.log_size, tails.rate, (-tails.rate) ** order, high, *given)
        return sums


def _boxed(scores: Floats, bounds: Places, width: float) -> Boxes | ArrayBoxes:
    return Boxes.of(scores, bounds, width) if is_numpy(scores) else ArrayBoxes.of(scores, width)


def _taken(places: Places, scores: Floats) -> Places | slice:
    """Return the places, or a slice where they are all of them in order."""
    everything = len(places) == scores.shape[0] and places[0] == 0 and bool((np.diff(places) == 1).all())
    return slice(None) if everything else places
