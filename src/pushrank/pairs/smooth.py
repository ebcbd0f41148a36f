"""Analytic losses: all pairs in linear time, through a few nodes of boxes of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushrank._array import Floats, is_numpy, positive_part
from pushrank.losses import Loss
from pushrank.pairs import smooth_kernels
from pushrank.pairs.array_boxes import ArrayBoxes
from pushrank.pairs.boxes import Boxes
from pushrank.pairs.expansion import Expansion, expansion
from pushrank.pairs.inner_sums import VALUE, PairSums
from pushrank.pairs.splits import Places, Split, joined, whole

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
        sums: Floats = smooth_kernels.near_sums(table, low, *sources, weights, *targets)
        offsets, width = 0.5 * self._between.width * self._between.nodes, self._between.width
        given = (offsets, width, *sources, weights, *targets, sums)
        smooth_kernels.add_left_tail(tails.left[order], low, *given)
        smooth_kernels.add_right_tail(tails.log_size, tails.rate, (-tails.rate) ** order, high, *given)
        return sums


def _boxed(scores: Floats, bounds: Places, width: float) -> Boxes | ArrayBoxes:
    return Boxes.of(scores, bounds, width) if is_numpy(scores) else ArrayBoxes.of(scores, width)


def _taken(places: Places, scores: Floats) -> Places | slice:
    """Return the places, or a slice where they are all of them in order."""
    everything = len(places) == scores.shape[0] and places[0] == 0 and bool((np.diff(places) == 1).all())
    return slice(None) if everything else places
