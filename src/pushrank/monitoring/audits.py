"""Audits of lists: rows drawn at random from those below a list, so that what it misses can be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.bounds import check_number
from pushrank._base.user_types import Floats
from pushrank._base.validation import are_missing, checked_scores, refuse_masked
from pushrank.times import check_times

__all__ = ["draw_audit"]


def draw_audit(
    scores: ArrayLike,
    k: int,
    n_audited: int,
    *,
    row_id: ArrayLike,
    secret: str,
    time: ArrayLike | None = None,
) -> tuple[NDArray[np.str_], Floats]:
    r"""Return the first rows by score, and some that are drawn at random from all others.

    Of n rows the first :math:`k - a` are the list, and a of the others are drawn without replacement, each
    with the chance

    .. math:: c = a / (n - k + a).

    The draw of a row hangs on its name, its time and the secret alone, so that the same rows get the same
    answers when they are asked for again, in any order; so does the order of rows that tie. O(n log n). Once
    labels are known :func:`pushrank.metrics.audit_bound` says how many positives the list misses.

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
        Whoever knows it can predict the draw: a text such as of ``secrets.token_hex()``, kept where those who
        make or score the rows do not read it.
    time : array-like of shape (n,), optional
        When each row came. Without it a name that comes again in another file has the same luck there, and
        the draws of the files are not independent.

    Returns
    -------
    acted : ndarray of shape (n,)
        "list" for the first rows, "audit" for those that were drawn, "" for the rest.
    chance : ndarray of shape (n,)
        The chance of each row to be acted on: 1 on the list, and c below it.

    Raises
    ------
    TypeError, ValueError
        When `k` or `n_audited` is no integer or out of range, a score, name or time is missing, two rows have
        the same name and time, or the secret is empty.

    Examples
    --------
    >>> acted, chance = draw_audit(np.arange(100), 8, 2, row_id=np.arange(100), secret="a longer one")
    >>> int((acted == "list").sum()), np.flatnonzero(acted == "audit").tolist(), float(chance[0]) == 2 / 94
    (6, [35, 46], True)
    """
    check_number("k", k, 2, integer=True)
    check_number("n_audited", n_audited, 1, k - 1, integer=True)
    check_secret(secret)
    values = checked_scores(scores)
    keys = row_names(row_id, len(values))
    if time is not None:
        times = check_times(time, len(values))
        moments = times.astype(np.float64 if times.dtype.kind != "M" else "datetime64[us]").astype(str)
        keys = [f"{moment}\0{name}" for moment, name in zip(moments, keys, strict=True)]
    if len(set(keys)) < len(keys):
        key, n = Counter(keys).most_common(1)[0]
        name = key.rpartition("\0")[2]
        raise ValueError(f"{n} rows have the name {name!r} and the same time: each needs a different one.")
    coins, of_ties = uniform_numbers(keys, secret).T
    listed, below = np.split(np.lexsort((of_ties, -values)), [k - n_audited])
    acted, chance = np.full(len(values), "", dtype="<U5"), np.ones(len(values))
    acted[listed], acted[below[np.argsort(coins[below])[:n_audited]]] = "list", "audit"
    chance[below] = n_audited / max(len(below), n_audited)
    return acted, chance


def check_secret(secret: Any) -> str:
    """Return a secret, or raise TypeError or ValueError for one that is no text or empty."""
    if not isinstance(secret, str) or not secret:
        wanted = "secret must be a text that nobody guesses, such as of secrets.token_hex()"
        raise (ValueError if secret == "" else TypeError)(f"{wanted}, got {type(secret).__name__}.")
    return secret


def row_names(row_id: Any, n_rows: int) -> list[str]:
    """Return what each row is called, as text, or raise ValueError where one has no name."""
    refuse_masked(row_id, "row_id")
    names = [*row_id]
    if len(names) != n_rows:
        raise ValueError(f"row_id must name each of the {n_rows} rows, got {len(names)} names.")
    if (missing := are_missing(np.array(names, dtype=object))).any():
        raise ValueError(f"row_id is missing in row {int(np.argmax(missing))}; give each row a name.")
    return [str(whole(name)) for name in names]


def whole(name: Any) -> Any:
    """Return a name as it is, or as a whole number: a column of these that has gaps holds floats."""
    return int(name) if isinstance(name, float | np.floating) and float(name).is_integer() else name


def uniform_numbers(texts: Iterable[str], secret: str) -> Floats:
    """Return two independent uniform numbers from 0 to 1, without 1, of each text, by a secret."""
    key, *coded = (text.encode("utf-8", "surrogatepass") for text in (secret, *texts))
    key = blake2b(key).digest()
    digests = b"".join(blake2b(text, key=key, digest_size=16).digest() for text in coded)
    # Floats have 53 bits, so that more would round to 1.
    return (np.frombuffer(digests, dtype="<u8").reshape(-1, 2) >> np.uint64(11)) / 2.0**53
