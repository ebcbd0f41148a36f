"""What each member of an ensemble finds, and what no other member does."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._base.user_types import Floats
from pushrank.report.lists import RankedLists


class MemberHits(NamedTuple):
    """A member of an ensemble: its weight, and hits among its first rows, in all and in no other's."""

    name: str
    weight: float
    hits: float
    alone: float


def hits_of_members(
    y: NDArray[np.bool_], depth: int, members: Mapping[str, tuple[float, Floats]]
) -> list[MemberHits]:
    """Return what the members of an ensemble find, of their weights and scores, the largest weight first."""
    lists = RankedLists(y, {name: scores for name, (_, scores) in members.items()}, depth, [])
    # Tied rows come in the same random order in all lists.
    chances, found = {name: lists.chances(name) for name in members}, []
    for name, (weight, _) in members.items():
        others = np.max([chances[other] for other in members if other != name], axis=0, initial=0.0)
        alone = float(np.maximum(0.0, chances[name] - others)[y].sum())
        found.append(MemberHits(name, weight, lists.hits(name), alone))
    return sorted(found, key=lambda member: -member.weight)
