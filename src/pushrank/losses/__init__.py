"""Pair losses: how much a pair hurts, as a function of its margin."""

from __future__ import annotations

from pushrank import _registry
from pushrank.losses.base import Loss as Loss
from pushrank.losses.base import Piece as Piece
from pushrank.losses.exponential import Exponential
from pushrank.losses.hinge import Hinge
from pushrank.losses.logistic import Logistic
from pushrank.losses.sigmoid import Sigmoid
from pushrank.losses.smoothed_hinge import SmoothedHinge
from pushrank.losses.squared_hinge import SquaredHinge
from pushrank.losses.squared_sigmoid import SquaredSigmoid
from pushrank.losses.zero_one import ZeroOne

__all__ = [
    "Exponential",
    "Hinge",
    "Logistic",
    "Sigmoid",
    "SmoothedHinge",
    "SquaredHinge",
    "SquaredSigmoid",
    "ZeroOne",
]


def resolve(loss: Loss | str) -> Loss:
    """Return the loss that a name such as ``"squared_hinge"`` stands for; an instance passes through.

    Examples
    --------
    >>> resolve("logistic")
    Logistic()
    """
    members = [globals()[name] for name in __all__]
    resolved: Loss = _registry.resolve_name(loss, Loss, members, "loss")
    return resolved
