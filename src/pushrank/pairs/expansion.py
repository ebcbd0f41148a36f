r"""An analytic loss of two boxes of scores: interpolation where they are near, its tails where they are far.

On the real axis a loss without a singularity within a distance a is interpolated in q Chebyshev nodes, over
boxes of width h, to an error of about :math:`\rho^{-q}`, :math:`\rho = x + \sqrt{x^2 + 1}`, :math:`x = 2a/h`.
So a box of sources acts on a box of targets as q weighted nodes do. Far on the left a loss that falls with
the margin is mostly a polynomial, far on the right an exponential; both are summed over any number of boxes
by running sums. Where the tails begin, what they are, and how many nodes do, is found by trial and checked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.losses import Loss
from pushrank.pairs.blocked import derivative_of

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
