"""Prices: how much a row's inner sum of losses costs."""

from __future__ import annotations

from pushrank import _registry
from pushrank.prices.base import Price as Price
from pushrank.prices.exponential_price import ExponentialPrice
from pushrank.prices.identity import Identity
from pushrank.prices.log_one_plus import LogOnePlus
from pushrank.prices.maximum import Maximum
from pushrank.prices.power import Power

__all__ = ["ExponentialPrice", "Identity", "LogOnePlus", "Maximum", "Power"]


def resolve(price: Price | str) -> Price:
    """Return the price that a name such as ``"log_one_plus"`` stands for; an instance passes through.

    Examples
    --------
    >>> resolve("power")
    Power(p=4.0)
    """
    members = [globals()[name] for name in __all__]
    resolved: Price = _registry.resolve_name(price, Price, members, "price")
    return resolved
