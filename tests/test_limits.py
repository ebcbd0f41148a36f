"""The best list under limits: against all lists of small cases, and what cannot be kept."""

import datetime
import re
from itertools import combinations
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from pushrank import limits
from pushrank.exceptions import LimitsWarning
from pushrank.limits import Limits, select

pytestmark = pytest.mark.fast

KINDS = ["one column", "nested", "floors on one level", "floors on two levels", "crossing", "three crossing"]


def small_case(kind, rng):
    """Return scores, the length of the list, limits and columns, of at most nine rows."""
    n = int(rng.integers(4, 10))
    branch = rng.integers(0, 5, n)
    X = {"branch": branch, "region": branch // 2, "land": branch // 4}
    if "crossing" in kind:
        X |= {"region": rng.integers(0, 3, n), "land": rng.integers(0, 2, n)}
    names = {"one column": ["branch"], "crossing": ["branch", "region"]}.get(kind, list(X))
    at_most = {name: int(rng.integers(1, 4)) for name in names if rng.random() < 0.8}
    n_floors = {"floors on one level": 1, "floors on two levels": 2, "crossing": 1}.get(kind, 0)
    floored = rng.permutation(names)[:n_floors].tolist()
    at_least = {name: {int(v): int(rng.integers(1, 3)) for v in set(X[name][:2])} for name in floored}
    # Few different scores tie, and some are below zero.
    scores = rng.integers(-3, 6, n) if rng.random() < 0.5 else rng.normal(size=n)
    return scores, int(rng.integers(1, n + 2)), at_most, at_least, X


def keeps(rows, at_most, at_least, X):
    """Return whether rows keep the limits."""
    counts = {name: np.bincount(np.asarray(values)[list(rows)], minlength=9) for name, values in X.items()}
    return all(counts[name].max() <= most for name, most in at_most.items()) and all(
        counts[name][value] >= fewest for name, of in at_least.items() for value, fewest in of.items()
    )


def best_of_all(scores, k, at_most, at_least, X):
    """Return the length of the longest lists that keep the limits and their highest sum, or None."""
    for n in range(min(k, len(scores)), -1, -1):
        lists = [rows for rows in combinations(range(len(scores)), n) if keeps(rows, at_most, at_least, X)]
        if lists:
            return n, max(scores[list(rows)].sum() for rows in lists)
    return None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 400), marks=pytest.mark.nightly)])
def test_the_list_is_the_best_of_all_that_keep_the_limits(kind, seeds):
    n_infeasible = n_short = 0
    for seed in seeds:
        scores, k, at_most, at_least, X = case = small_case(kind, np.random.default_rng(seed))
        named = {"limits": Limits(at_most, at_least), "X": X}
        best, message = best_of_all(*case), r"^th(is|ese) limits? cannot be kept"
        if best is None:
            n_infeasible += 1
            with pytest.raises(ValueError, match=message) as caught:
                select(scores, k, **named)
            said = str(caught.value)
            check_irreducible(said, scores, k, at_most, at_least, X)
            continue
        if best[0] < min(k, len(scores)):
            n_short += 1
            with pytest.warns(LimitsWarning, match=f"the limits allow {best[0]} rows, fewer than the "):
                found = select(scores, k, **named)
            with pytest.raises(ValueError, match=f"the limits allow {best[0]} rows"):
                select(scores, k, **named, short="raise")
        else:
            found = select(scores, k, **named, random_state=seed)
        assert keeps(found, at_most, at_least, X)
        assert len(set(found)) == len(found) == best[0]
        assert scores[found].sum() == pytest.approx(best[1], abs=1e-9)
        assert (np.diff(scores[found]) <= 0).all()
    assert n_short > 0
    assert (n_infeasible > 0) == ("floors" in kind or kind == "crossing")


def check_irreducible(said, scores, k, at_most, at_least, X):
    """Check that the limits of a message cannot be kept together, and without any one of them can."""
    named = [("k", None, None)] * bool(re.search(r"\d rows\.$", said))
    named += [("most", name, None) for name in at_most if f" of each {name}" in said]
    named += [("least", name, v) for name, of in at_least.items() for v in of if f" of {name} {v}" in said]
    assert len(named) == 1 + said.count(";")
    for left_out in (None, *named):
        kept = [limit for limit in named if limit != left_out]
        most = {name: at_most[name] for kind, name, _ in kept if kind == "most"}
        least = {
            name: {v: at_least[name][v] for kind, of, v in kept if (kind, of) == ("least", name)}
            for name in X
        }
        n = k if ("k", None, None) in kept else len(scores)
        assert (best_of_all(scores, n, most, least, X) is None) == (left_out is None)


def test_rows_that_tie_keep_their_order_or_one_that_is_drawn():
    day = {"day": np.repeat([0, 1], 50)}
    assert select(np.zeros(100), 4, Limits({"day": 2}), X=day).tolist() == [0, 1, 50, 51]
    drawn = [select(np.zeros(100), 4, Limits({"day": 2}), X=day, random_state=seed) for seed in (1, 1, 2)]
    assert drawn[0].tolist() == drawn[1].tolist() != drawn[2].tolist()
    assert select([], 3, Limits({"day": 1}), X={"day": []}).tolist() == []
    assert select([1, 3, 2], 2).tolist() == [1, 2]


@pytest.mark.parametrize("empty", [None, np.nan, "", pd.NA, pd.NaT])
def test_rows_without_a_value_are_refused_or_are_groups_as_an_option_says(empty):
    frame, scores = pd.DataFrame({"who": ["a", empty, "a", empty, "b"]}), [5, 4, 3, 2, 1]
    refused, separate, together = (
        Limits({"who": 1}, missing=way) for way in ("raise", "separate", "together")
    )
    for X in (frame, {"who": frame["who"].to_numpy()}):
        with pytest.raises(ValueError, match="column 'who' has no value in 2 rows, first in row 1: fill it"):
            select(scores, 4, refused, X=X)
        assert select(scores, 4, separate, X=X).tolist() == [0, 1, 3, 4]
        with pytest.warns(LimitsWarning, match="allow 3 rows, fewer than the 4 of the list"):
            assert select(scores, 4, together, X=X).tolist() == [0, 1, 4]


def test_rows_without_a_date_are_groups_as_an_option_says():
    X = pd.DataFrame({"day": pd.to_datetime(["2026-01-01", None, None, "2026-01-01", "2026-01-02"])})
    found = select([5, 4, 3, 2, 1], 3, Limits({"day": 1}, missing="separate"), X=X)
    assert found.tolist() == [0, 1, 2]


def test_a_long_list_is_the_best_one_wherever_its_rows_stand():
    rng = np.random.default_rng(0)
    customer, scores = rng.integers(0, 3000, 20_000), rng.random(20_000)
    # Most of the first rows are of one customer.
    customer[np.argsort(-scores)[:15_000]] = 7
    taken, counts = [], dict.fromkeys(range(3000), 0)
    for row in np.argsort(-scores):
        if counts[customer[row]] < 2 and len(taken) < 500:
            taken.append(row)
            counts[customer[row]] += 1
    assert select(scores, 500, Limits({"customer": 2}), X={"customer": customer}).tolist() == taken


@pytest.mark.parametrize(("status", "x"), [(1, np.ones(4)), (1, None)])
def test_the_end_of_time_is_said(monkeypatch, status, x):
    ended = Mock(status=status, x=x, fun=-500.0, mip_dual_bound=-750.0, message="Time limit reached.")
    monkeypatch.setattr(limits, "milp", lambda *_, **__: ended)
    X = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    if x is None:
        with pytest.raises(RuntimeError, match=r"no list that keeps the limits in 60 s: Time limit reached"):
            select([0.0, 1.0, 2.0, 0.5], 4, Limits({"a": 2, "b": 2}), X=X)
        return
    with pytest.warns(LimitsWarning, match=r"time_limit=60 is over: the sum of scores may be 0\.5 below the"):
        assert len(select([0.0, 1.0, 2.0, 0.5], 4, Limits({"a": 2, "b": 2}), X=X)) == 4


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("k must be .*>= 1", {"k": 0}),
        (r"at_most\['a'\] must be .*>= 1", {"at_most": {"a": 0}}),
        (r"at_least\['a'\]\['x'\] must be .*>= 1", {"at_least": {"a": {"x": 0}}}),
        ("a limit is on column 'b', and X has none of this name", {"at_most": {"b": 1}}),
        ("a limit is on column 'a', and X has none of this name", {"X": None}),
        ("column 'a' has 3 entries for 2 scores", {"X": {"a": [1, 2, 3]}}),
        ("cannot be kept: at least 1 of a 'z', which 0 rows have", {"at_least": {"a": {"z": 1}}}),
        ("at_most must be a dict of numbers by column", {"at_most": "4:a"}),
        ("and at_least one of dicts by column", {"at_least": {"a": 1}}),
        ("missing must be one of", {"missing": "none"}),
        ("short must be one of", {"short": "yes"}),
        ("time_limit must be .*> 0", {"time_limit": 0}),
        ("scores must be finite", {"scores": [1.0, np.nan]}),
    ],
)
def test_what_is_no_limit_is_refused(message, wrong):
    given = {"scores": [1.0, 2.0], "k": 1, "at_most": {"a": 1}, "X": {"a": ["x", "y"]}} | wrong
    named = {name: given.pop(name) for name in ("at_most", "at_least", "missing") if name in given}
    with pytest.raises(TypeError if "dict" in message else ValueError, match=message):
        select(**given, limits=Limits(**named))


@pytest.mark.parametrize(
    "named", ["2026-01-02", datetime.date(2026, 1, 2), np.datetime64("2026-01-02"), pd.Timestamp(2026, 1, 2)]
)
@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_a_date_may_be_named_in_any_way(named, unit):
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-02"], f"datetime64[{unit}]")
    assert select([3, 2, 1], 2, Limits(at_least={"day": {named: 2}}), X={"day": days}).tolist() == [1, 2]
    with pytest.raises(ValueError, match="at least 2 of day 'Friday', which 0 rows have"):
        select([3, 2, 1], 2, Limits(at_least={"day": {named: 1, "Friday": 2}}), X={"day": days})


@pytest.mark.parametrize(
    "scores", [np.arange(5.0, 0.0, -1.0) * 5e-324, [1.7e308, 9e307, 0.0, -1.0, -1.7e308]]
)
def test_scores_may_have_any_span(scores):
    crossing = {"a": [1, 1, 2, 2, 3], "b": [1, 2, 1, 2, 3]}
    assert select(scores, 2, Limits(at_most={"a": 1, "b": 1}), X=crossing).tolist() == [0, 3]
