"""The best list that keeps limits, such as at most ten rows of each carrier and fifty from the north."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.utils import check_random_state

from pushrank._base.numeric import Floats
from pushrank._base.validation import (
    are_missing,
    check_choice,
    check_number,
    checked_scores,
    column,
    warn,
)
from pushrank.exceptions import LimitsWarning

__all__ = ["Limits", "select"]

Rows = NDArray[np.intp]

TIME_LIMIT = 60.0
# The solver stops 1e-6 below the best sum, where scores span from 0 to this.
SPAN = 1000.0
INFEASIBLE = 2
"""The status of an integer program without any solution."""


@dataclass(frozen=True)
class Limits:
    """The most and the fewest rows that a list may have of the values of some columns.

    Parameters
    ----------
    at_most : dict of str to int, optional
        For names of columns the most rows of each of their values.
    at_least : dict of str to dict of value to int, optional
        For names of columns the fewest rows of some of their values.
    missing : {"raise", "separate", "together"}, default="raise"
        Rows whose value is None, NaN or an empty text: refuse them, take each as a separate group, or all
        together as one group.

    Raises
    ------
    TypeError
        When limits are not such dicts, or a number is not an integer.
    ValueError
        When a number is below 1, or `missing` is not one of these words.

    Examples
    --------
    >>> Limits(at_most={"carrier": 10}, at_least={"region": {"north": 50}}, missing="separate")
    Limits(at_most={'carrier': 10}, at_least={'region': {'north': 50}}, missing='separate')
    """

    at_most: Mapping[str, int] | None = None
    at_least: Mapping[str, Mapping[Any, int]] | None = None
    missing: str = "raise"

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, ("raise", "separate", "together"))
        most, fewest = self.at_most or {}, self.at_least or {}
        if not all(isinstance(of, Mapping) for of in (most, fewest, *getattr(fewest, "values", list)())):
            raise TypeError(
                "at_most must be a dict of numbers by column, such as {'carrier': 10}, and at_least one of "
                f"dicts by column, such as {{'region': {{'north': 50}}}}; got {most!r} and {fewest!r}."
            )
        for name, number in most.items():
            check_number(f"at_most[{name!r}]", number, 1, integer=True)
        for name, value, number in ((name, *item) for name, of in fewest.items() for item in of.items()):
            check_number(f"at_least[{name!r}][{value!r}]", number, 1, integer=True)


class LimitedColumn(NamedTuple):
    """The groups of rows by the values of a column, the most rows of each, and the fewest of some."""

    name: str
    codes: Rows
    code_of: Mapping[Any, int]
    at_most: int | None
    at_least: Mapping[Any, int]


def select(
    scores: ArrayLike,
    k: int,
    limits: Limits | None = None,
    *,
    X: Any = None,
    short: str = "warn",
    time_limit: float = TIME_LIMIT,
    random_state: int | None = None,
) -> Rows:
    r"""Return the k rows of the highest scores of all lists that keep limits.

    .. math:: \max_B \sum_{i \in B} s_i \quad \text{where} \quad |B| = k, \quad
        |B \cap V| \le c_V, \quad |B \cap W| \ge m_W

    for the rows V of each value of a column in ``at_most``, and W of a value in ``at_least``.

    Limits on one column, or on nested ones (each branch lies in one region), with values of at most one of
    them in ``at_least``, are kept by the order of the scores alone, in O(n log n): first the best rows that
    ``at_least`` asks for, then by score whatever the limits allow. Other limits, such as those on columns
    that cross, are for an integer program, which adds scores up *as they are*: pass calibrated chances, or
    ranks, not scores of an unknown scale. Its list is the best one, too, up to 1e-9 of the span of the
    scores, so that -1e10 for rows that are not wanted hides how others differ; or a warning says how far off
    it may be.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Finite, the higher the better.
    k : int
        How many rows to select.
    limits : Limits, optional
        The most and the fewest rows of the values of columns; by default there are none.
    X : DataFrame or dict of str to array-like of shape (n,), optional
        The columns of the limits.
    short : {"warn", "raise"}, default="warn"
        Where the limits allow fewer than k rows: return as many as they allow and warn, or raise.
    time_limit : float, default=60.0
        The most seconds of each integer program, of which there are at most three.
    random_state : int, optional
        The seed of the order of rows that tie; by default they keep theirs.

    Returns
    -------
    ndarray of shape (k,)
        Numbers of rows, best first. It is shorter where there are fewer rows, or the limits allow fewer.

    Raises
    ------
    TypeError
        When a number is not an integer.
    ValueError
        When limits cannot be kept together: the message names some, none of which can be left out. Also when
        a column is not there, lacks values that must be there, or a parameter is out of range.
    RuntimeError
        When the limit of time ends before any list is found.

    Warns
    -----
    LimitsWarning
        When the list is shorter than k, or the limit of time ends before it is known to be the best one.

    Notes
    -----
    Limits on nested columns are a laminar matroid, whose best list is the greedy one (Schrijver,
    *Combinatorial Optimization*, 2003). Where columns form two families, each nested, the linear program is
    that of a network, so that its solution is whole; with three the integer program may take long.

    Examples
    --------
    >>> scores, airlines = [0.9, 0.8, 0.7, 0.6, 0.5], {"carrier": ["A", "A", "A", "B", "C"]}
    >>> select(scores, 3, Limits(at_most={"carrier": 1}), X=airlines)
    array([0, 3, 4])
    >>> select(scores, 3, Limits(at_least={"carrier": {"C": 1}}), X=airlines)
    array([0, 1, 4])
    """
    check_number("k", k, 1, integer=True)
    check_number("time_limit", time_limit, above=0.0)
    check_choice("short", short, ("warn", "raise"))
    values = checked_scores(scores)
    columns = limit_columns(limits, X, len(values))
    first = np.arange(len(values))
    if random_state is not None:
        first = check_random_state(random_state).permutation(len(values))
    found = best_list(values, first[np.argsort(-values[first], kind="stable")], columns, k, time_limit)
    if len(found) < min(k, len(values)):
        fewer = f"the limits allow {len(found):,} rows, fewer than the {min(k, len(values)):,} of the list"
        if short == "raise":
            raise ValueError(f"{fewer}; short='warn' returns these.")
        warn(f"{fewer}.", LimitsWarning)
    return found


def best_list(
    scores: Floats, order: Rows, columns: list[LimitedColumn], k: int, time_limit: float = TIME_LIMIT
) -> Rows:
    """Return the best k rows that keep limits, or fewer, from rows in the order of their scores."""
    # The finest first: of nested columns each has fewer groups than those that lie in them.
    columns = sorted(columns, key=lambda of: -np.count_nonzero(np.bincount(of.codes)))
    are_nested = all(_is_within(fine.codes, coarse.codes) for fine, coarse in pairwise(columns))
    if are_nested and sum(bool(of.at_least) for of in columns) <= 1:
        found = _by_score(order, columns, min(k, len(order)))
    else:
        found = _by_program(scores, order, columns, min(k, len(order)), time_limit)
    if found is None:
        raise ValueError(_conflict(columns, k))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return order[np.sort(place[found])]


def limit_columns(limits: Limits | None, X: Any, n_rows: int) -> list[LimitedColumn]:
    """Return the columns that limits are on."""
    of = limits or Limits()
    names = dict.fromkeys([*(of.at_most or ()), *(of.at_least or ())])
    return [_column(X, name, of, n_rows) for name in names]


def _column(X: Any, name: str, limits: Limits, n_rows: int) -> LimitedColumn:
    """Return the groups and the limits of a column."""
    if X is None or name not in X:
        raise ValueError(f"a limit is on column {name!r}, and X has none of this name.")
    values = column(X[name], name)
    if len(values) != n_rows:
        raise ValueError(f"column {name!r} has {len(values)} entries for {n_rows} scores; they must agree.")
    if values.dtype.kind in "biufmM":
        distinct, codes = np.unique(values, return_inverse=True)
        code_of = {value: code for code, value in enumerate(distinct.tolist())}
    else:
        # Texts, and values of several kinds, have hashes and need no order.
        code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
        codes = np.fromiter(map(code_of.__getitem__, values), np.intp, n_rows)
    is_missing = are_missing(values) | (codes == code_of.get("", -1))
    if n_missing := int(is_missing.sum()):
        if limits.missing == "raise":
            raise ValueError(
                f"column {name!r} has no value in {n_missing:,} rows, first in row {np.argmax(is_missing)}: "
                "fill it, or pass missing='separate', each is a group, or missing='together', all are one."
            )
        codes[is_missing] = len(code_of) + (np.arange(n_missing) if limits.missing == "separate" else 0)
    at_least = dict((limits.at_least or {}).get(name, {}))
    # A date may be named by a text, or an object of another library or unit.
    for value in [*at_least] * (values.dtype.kind == "M"):
        with suppress(ValueError, TypeError):
            for same in distinct[distinct == np.datetime64(value)].tolist():
                at_least[same] = max(at_least.pop(value), at_least.get(same, 0))
    for value, fewest in at_least.items():
        if (n_there := np.count_nonzero(codes == code_of.get(value))) < fewest:
            limit = f"at least {fewest:,} of {name} {value!r}"
            raise ValueError(f"this limit cannot be kept: {limit}, which {n_there:,} rows have.")
    return LimitedColumn(name, codes, code_of, (limits.at_most or {}).get(name), at_least)


def _is_within(fine: Rows, coarse: Rows) -> bool:
    """Return whether rows that one column puts in the same group are in the same group of the other."""
    of = np.zeros(fine.max(initial=0) + 1, dtype=np.intp)
    of[fine] = coarse
    return np.array_equal(of[fine], coarse)


def _place_in_group(codes: Rows) -> Rows:
    """Return how many earlier rows are of each row's group."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    places = np.empty(len(codes), dtype=np.intp)
    places[order] = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
    return places


def _capped(order: Rows, columns: list[LimitedColumn]) -> Rows:
    """Return the rows that nested columns allow, the finest first, as they are taken one after another."""
    # A row that a finer column has no room for is never taken, whatever a coarser one allows.
    for of in columns:
        if of.at_most is not None:
            order = order[_place_in_group(of.codes[order]) < of.at_most]
    return order


def _by_score(order: Rows, columns: list[LimitedColumn], n: int) -> Rows | None:
    """Return the best rows under limits on nested columns, or None where they cannot be kept."""
    needed, n_needed = order[:0], 0
    for at, of in enumerate(columns):
        allowed = _capped(order, columns[:at]) if of.at_least else needed
        for value, fewest in of.at_least.items():
            best = allowed[of.codes[allowed] == of.code_of[value]][:fewest]
            needed, n_needed = np.r_[needed, best], n_needed + fewest
    is_needed = np.zeros(len(order), dtype=bool)
    is_needed[needed] = True
    order = np.r_[needed, order[~is_needed[order]]]
    # Far fewer rows than all are mostly enough.
    size = 4 * n
    while len(found := _capped(order[:size], columns)) < n and size < len(order):
        size *= 4
    return found[:n] if np.count_nonzero(is_needed[found[:n]]) == n_needed else None


def _by_program(
    scores: Floats, order: Rows, columns: list[LimitedColumn], n: int, time_limit: float
) -> Rows | None:
    """Return the best rows under any limits, or None where they cannot be kept."""
    cells, place = _cells(columns), np.empty(len(order), dtype=np.intp)
    place[order] = _place_in_group(cells[order])
    # Of rows that are equal in all columns no more are ever needed than each column allows.
    rows = order[place[order] < min(n, *(of.at_most or n for of in columns))]
    limits, each = [limit for _, limit in _limits(columns, rows)], np.ones((1, len(rows)))

    def search(gains: Floats, what: str, scale: float, unit: float, fewest: int, most: int) -> Any:
        program: dict[str, Any] = {"constraints": [*limits, LinearConstraint(each, fewest, most)]}
        program["options"] = {"time_limit": time_limit, "mip_rel_gap": 0.0}
        found = milp(-gains * scale, integrality=1, bounds=Bounds(0, 1), **program)
        if found.status == INFEASIBLE:
            return None
        if found.x is None:
            raise RuntimeError(f"no list that keeps the limits in {time_limit:g} s: {found.message}")
        if found.status != 0:
            gap = (found.fun - found.mip_dual_bound) / scale * unit
            warn(f"time_limit={time_limit:g} is over: {what} may be {gap:.2g} below the best.", LimitsWarning)
        return found.x > 0.5

    # Sums and differences of the largest numbers are infinite, and what divides by the smallest.
    unit = np.abs(scores[rows]).max() or 1.0
    gains = scores[rows] / unit - (scores[rows] / unit).min()
    sums = gains, "the sum of scores", SPAN / (gains.max() or 1.0), unit
    if (chosen := search(*sums, n, n)) is None:
        # As many rows as possible, whatever their scores; then the best of that many.
        if (longest := search(each[0], "the number of rows", 1.0, 1.0, 0, n)) is None:
            return None
        n = int(longest.sum())
        chosen = search(*sums, n, n)
    taken = np.bincount(cells[rows[chosen]], minlength=cells.max() + 1)
    return rows[place[rows] < taken[cells[rows]]]


def _cells(columns: list[LimitedColumn]) -> Rows:
    """Return the number of each row's values in all columns together."""
    cells = columns[0].codes
    for of in columns[1:]:
        cells = np.unique(cells * (of.codes.max(initial=0) + 1) + of.codes, return_inverse=True)[1]
    return cells


def _limits(columns: list[LimitedColumn], rows: Rows) -> Iterator[tuple[str, LinearConstraint]]:
    """Yield each limit in words, and as a constraint on how many are taken of these rows."""
    for of in columns:
        groups, codes = np.unique(of.codes[rows], return_inverse=True)
        if of.at_most is not None:
            shape = len(groups), len(rows)
            members = sp.csr_array((np.ones(len(rows)), (codes, np.arange(len(rows)))), shape)
            yield f"at most {of.at_most:,} of each {of.name}", LinearConstraint(members, 0, of.at_most)
        for value, fewest in of.at_least.items():
            members = (of.codes[rows] == of.code_of[value])[None].astype(float)
            yield f"at least {fewest:,} of {of.name} {value!r}", LinearConstraint(members, fewest, np.inf)


def _conflict(columns: list[LimitedColumn], k: int) -> str:
    """Return why limits cannot be kept: some of them, none of which can be left out."""
    _, rows, sizes = np.unique(_cells(columns), return_index=True, return_counts=True)
    limits = [*_limits(columns, rows), (f"{k:,} rows", LinearConstraint(np.ones((1, len(rows))), 0, k))]
    bounds = Bounds(0, sizes)
    for limit in limits[:]:
        others = [other for other in limits if other is not limit]
        constraints = [constraint for _, constraint in others]
        # What the others cannot be kept without either is no part of why.
        if milp(0 * sizes, integrality=1, bounds=bounds, constraints=constraints).status == INFEASIBLE:
            limits = others
    named = "; ".join(words for words, _ in limits)
    if len(limits) == 1:
        return f"this limit cannot be kept: {named}."
    return f"these limits cannot be kept together, and without any one of them the others can: {named}."
