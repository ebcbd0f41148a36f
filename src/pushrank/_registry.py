"""Look up a member of a folder by its name: the folder's ``__all__`` is the registry."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def snake_case(name: str) -> str:
    """Return ``SquaredHinge`` as ``squared_hinge``.

    Examples
    --------
    >>> snake_case("LogOnePlus")
    'log_one_plus'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def resolve_name(member: Any, kind: type, registry: Iterable[type], what: str) -> Any:
    """Return ``member`` itself, or a default instance of the registered class that its name stands for.

    Raises
    ------
    ValueError
        When the name is not in the registry.
    TypeError
        When ``member`` is neither a name nor an instance of ``kind``.
    """
    if isinstance(member, kind):
        return member
    names = {snake_case(cls.__name__): cls for cls in registry}
    if isinstance(member, str):
        if member not in names:
            raise ValueError(f"{what}={member!r} is not known; use one of {sorted(names)} or an instance.")
        return names[member]()
    raise TypeError(
        f"{what} must be one of {sorted(names)} or a {kind.__name__} instance, got {type(member).__name__}."
    )
