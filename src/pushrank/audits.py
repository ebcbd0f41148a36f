"""Audits of lists: rows drawn at random from those below a list, so that what it misses can be known."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._numeric import Floats
from pushrank.bounds import check_number
from pushrank.times import check_times
from pushrank.validation import are_missing, checked_scores, column

__all__ = ["Audit", "draw_audit"]


class Audit(NamedTuple):
    """Which rows to act on, and with what chance each row was to be drawn.

    Parameters
    ----------
    acted : ndarray of shape (n,)
        "list" for the first rows by score, "audit" for rows that were drawn from all others, "" for the rest.
    chance : ndarray of shape (n,)
        The chance of each row to be acted on: 1 on the list, and that of the draw below it.

    Examples
    --------
    >>> Audit(np.array(["list", "", "audit"]), np.array([1.0, 0.5, 0.5])).acted.tolist()
    ['list', '', 'audit']
    """

    acted: NDArray[np.str_]
    chance: Floats


def draw_audit(
    scores: ArrayLike,
    k: int,
    n_audited: int,
    *,
    row_id: ArrayLike,
    secret: str,
    time: ArrayLike | None = None,
) -> Audit:
    r"""Return the first rows by score, and some that are drawn at random from all others.

    Of n rows the first :math:`k - a` are the list, and a of the others are drawn without replacement, each
    with the chance

    .. math:: c = a / (n - k + a).

    A row's draw hangs on its name, its time and the secret alone, so that the same rows get the same answers
    when they are asked for again, in any order. Rows that tie are in an order that hangs on the same, and not
    on that of the draw. O(n log n). With the labels of these rows :func:`pushrank.metrics.audit_bound` says
    how many positives the list misses.

    Parameters
    ----------
    scores : array-like of shape (n,)
        By any model.
    k : int
        How many rows can be acted on: all are where there are no more.
    n_audited : int
        How many of them are drawn, at least 1 and less than `k`.
    row_id : array-like of shape (n,)
        What each row is called, as text.
    secret : str
        Whoever knows it can predict the draw: a text such as ``secrets.token_hex()`` makes, kept where those
        who make or score the rows do not read it.
    time : array-like of shape (n,), optional
        When each row came. Without it a name that comes again in another file has the same luck there, and
        the draws of the files are not independent.

    Returns
    -------
    Audit
        The arrays `acted` and `chance`.

    Raises
    ------
    TypeError
        When `k` or `n_audited` is no integer.
    ValueError
        When a number is out of range, a score, name or time is missing, two rows have the same name and time,
        or the secret is empty.

    Examples
    --------
    >>> scores, names = np.arange(100) % 10, np.arange(100)
    >>> drawn = draw_audit(scores, 8, 2, row_id=names, secret="a longer one")
    >>> int((drawn.acted == "list").sum()), np.flatnonzero(drawn.acted == "audit").tolist()
    (6, [65, 81])
    >>> float(drawn.chance.min()) == 2 / 94
    True
    """
    check_number("k", k, 2, integer=True)
    check_number("n_audited", n_audited, 1, k - 1, integer=True)
    values, names = checked_scores(scores), column(row_id, "row_id")
    n = len(values)
    if len(names) != n or (missing := are_missing(names)).any():
        found = f"{len(names)} names" if len(names) != n else f"none in row {int(np.argmax(missing))}"
        raise ValueError(f"row_id must name each of the {n} rows, got {found}.")
    moments: list[Any] = [""] * n
    if time is not None:
        times = check_times(time, n)
        is_dates = times.dtype.kind == "M"
        moments = (times.astype("datetime64[us]").view(np.int64) if is_dates else times + 0.0).tolist()
    keys = [f"{moment}\0{name}" for moment, name in zip(moments, names.tolist(), strict=True)]
    if len(set(keys)) < n:
        first = {key: row for row, key in reversed([*enumerate(keys)])}
        row = next(row for row, key in enumerate(keys) if first[key] != row)
        raise ValueError(
            f"rows {first[keys[row]]} and {row} have the same name ({names[row]}) and time: each row needs "
            "one of its own."
        )
    coins, of_ties = uniform_numbers(keys, secret).T
    order = np.lexsort((of_ties, -values))
    acted, chance = np.full(n, "", dtype="<U5"), np.ones(n)
    listed, below = np.split(order, [k - n_audited])
    acted[listed], acted[below[np.argsort(coins[below])[:n_audited]]] = "list", "audit"
    chance[below] = min(1.0, n_audited / max(len(below), 1))
    return Audit(acted, chance)


def uniform_numbers(keys: Iterable[str], secret: str) -> Floats:
    """Return two independent uniform numbers from 0 to 1, without 1, of each text, by a secret."""
    if not secret:
        raise ValueError("secret must be a text that nobody guesses, such as of secrets.token_hex().")
    seeded = blake2b(key=blake2b(secret.encode()).digest(), digest_size=16)
    digests = []
    for key in keys:
        digest = seeded.copy()
        digest.update(key.encode("utf-8", "surrogatepass"))
        digests.append(digest.digest())
    # Floats have 53 bits, so that more would round to 1.
    return (np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2) >> np.uint64(11)) / 2.0**53
