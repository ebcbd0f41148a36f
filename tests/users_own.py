"""A loss and a price as users write them."""

import numpy as np

from pushrank.losses import Loss, Piece
from pushrank.prices import Price


class Quadratic(Price):
    """A price that keeps its promises."""

    def value(self, inner_sum):
        return inner_sum + inner_sum**2

    def derivative(self, inner_sum):
        return 1.0 + 2.0 * inner_sum

    def second_derivative(self, inner_sum):
        return np.full_like(inner_sum, 2.0)


class Huberised(Loss):
    """The squared hinge, growing no faster than a line."""

    pieces = (Piece(-1.0, (4.0, 4.0)), Piece(1.0, (0.0, 0.0, 1.0)))

    def value(self, margin):
        return np.where(margin <= -1.0, -4.0 * margin, np.square(np.maximum(0.0, 1.0 - margin)))

    def derivative(self, margin):
        return np.where(margin < -1.0, -4.0, -2.0 * np.maximum(0.0, 1.0 - margin))

    def second_derivative(self, margin):
        return np.where((margin >= -1.0) & (margin < 1.0), 2.0, 0.0)
