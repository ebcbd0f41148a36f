"""What each member of an ensemble finds, and what no other does."""

import numpy as np
import pytest

from pushrank.cli.members import hits_of_members

pytestmark = pytest.mark.fast


def test_hits_of_a_member_and_those_that_no_other_has():
    y = np.array([1, 1, 1, 0, 0, 0], dtype=bool)
    members = {
        "first": (0.2, np.array([3.0, 2.0, 0.0, 1.0, 0.0, 0.0])),  # rows 0 and 1
        "second": (0.5, np.array([3.0, 0.0, 2.0, 0.0, 1.0, 0.0])),  # rows 0 and 2
        "third": (0.3, np.array([0.0, 0.0, 0.0, 3.0, 2.0, 1.0])),  # no hit
    }
    found = hits_of_members(y, 2, members)
    assert [member.name for member in found] == ["second", "third", "first"]
    assert {member.name: (member.hits, member.alone) for member in found} == {
        "first": (2.0, 1.0),
        "second": (2.0, 1.0),
        "third": (0.0, 0.0),
    }


def test_tied_rows_count_by_their_chance_and_come_in_the_same_order_in_all_lists():
    y = np.array([1, 1, 0, 0], dtype=bool)
    tied = np.array([1.0, 1.0, 1.0, 1.0])
    members = {"sure": (0.6, np.array([2.0, 1.0, 0.0, 0.0])), "chance": (0.4, tied)}
    [sure, chance] = hits_of_members(y, 2, members)
    assert (sure.hits, sure.alone) == (2.0, 1.0)
    assert (chance.hits, chance.alone) == (1.0, 0.0)
    alike = hits_of_members(y, 2, {"a": (0.5, tied), "b": (0.5, tied)})
    assert [member.alone for member in alike] == [0.0, 0.0]
    assert hits_of_members(y, 2, {"a": (1.0, tied)})[0].alone == 1.0
