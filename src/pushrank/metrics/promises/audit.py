"""How many positives are below a list, by an audit: rows drawn at random from those not listed."""

from __future__ import annotations

from typing import Literal

from scipy.special import betainc, betaincc

from pushrank.metrics.promises.bounds import least
from pushrank.validation import check_number

# Numbers of rows beyond it are no floats, by which chances are computed.
MAX_ROWS = 2**53


def audit_bound(
    n_positive: int, chance: float, *, chance_max: float | None = None, n_unknown: int = 0,
    n_rows: int | None = None, confidence_level: float = 0.95,
    side: Literal["upper", "lower", "two-sided"] = "upper",
) -> int | tuple[int, int]:  # fmt: skip
    r"""Return how many positives are below a list at most, by rows drawn at random from those below it.

    .. math:: \max \{M : P(B_{M, c} \le x) > \alpha \text{ or } x > c M - 1\} + n_0

    for x positives among the rows that were drawn (audited), the least chance c with which a positive below
    the list was drawn, a binomial variable :math:`B_{M, c}` and a level of :math:`1 - \alpha`.

    The chances are the auditor's, so that the bound needs no model and holds under any drift: a number of
    positives drawn independently, or without replacement within periods, is a sum of independent Bernoulli
    variables (Vatutin and Mikhailov) with a mean of at least c M, and up to one below the mean its lower tail
    is at most the binomial one (Hoeffding). Rows and lists must be fixed without a look at what the audit
    found, and the level is that of one look. O(log M).

    Parameters
    ----------
    n_positive : int
        The positives x among the audited rows. Audited rows without a label may all be positive: for the
        upper bound count them as positives, and for the lower one as negatives.
    chance : float
        The least chance of a row below the list to be audited, above 0 and at most 1, which may be 1.
    chance_max : float, optional
        The greatest such chance, which the lower bound needs.
    n_unknown : int, default=0
        The number :math:`n_0` of rows below the list that could not be drawn: all may be positive, or none.
    n_rows : int, optional
        The number of all rows below the list, which is an upper bound, too.
    confidence_level : float, default=0.95
        The chance, before the draw, that the bound will hold, or both bounds.
    side : {"upper", "lower", "two-sided"}
        Which bound; each of two takes half of what is left of the level.

    Returns
    -------
    int or tuple of int
        The bound, or the lower and the upper one.

    Raises
    ------
    TypeError, ValueError
        When a count is no integer or negative, a chance or the level is out of range, `n_rows` is less than
        the positives and unknown rows, or `chance_max` or, for a tiny chance, `n_rows` is missing.

    References
    ----------
    Hoeffding, *On the distribution of the number of successes in independent trials*, Annals of Mathematical
    Statistics 27 (1956), theorem 4. Vatutin and Mikhailov, *Limit theorems for the number of empty cells in
    an equiprobable scheme for group allocation of particles*, Theory of Probability and Its Applications 27
    (1982).

    Examples
    --------
    >>> audit_bound(13, 3 / 850, n_rows=156_400)
    5852
    >>> audit_bound(13, 3 / 850, chance_max=3 / 800, side="two-sided")
    (1849, 6293)
    """
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    for name, count in (("n_positive", n_positive), ("n_unknown", n_unknown)):
        check_number(name, count, 0, MAX_ROWS, integer=True)
    check_number("chance", chance, above=0.0, most=1.0)
    if n_rows is not None:
        check_number("n_rows", n_rows, n_positive + n_unknown, MAX_ROWS, integer=True)
    if side not in ("upper", "lower", "two-sided"):
        raise ValueError(f"side must be 'upper', 'lower' or 'two-sided', got {side!r}.")
    x, n_unknown = int(n_positive), int(n_unknown)
    miss = (1.0 - confidence_level) / (2.0 if side == "two-sided" else 1.0)
    most = MAX_ROWS if n_rows is None else int(n_rows) - n_unknown

    def is_excluded(n: int) -> bool:
        return x <= chance * n - 1.0 and bool(betaincc(x + 1.0, float(n - x), chance) <= miss)

    high = most
    if is_excluded(most):
        high = least(is_excluded, x + 1, most, "rows") - 1
    elif n_rows is None:
        raise ValueError(f"with a chance of {chance:g} no number is too large: give n_rows, or audit more.")
    if side == "upper":
        return high + n_unknown
    if chance_max is None:
        raise ValueError("a lower bound needs chance_max, the greatest chance of a row to be audited.")
    check_number("chance_max", chance_max, chance, 1.0)

    def is_credible(n: int) -> bool:
        return x < chance_max * n + 1.0 or bool(betainc(float(x), n - x + 1.0, chance_max) > miss)

    low = min(least(is_credible, x, MAX_ROWS, "rows"), most)
    return low if side == "lower" else (low, high + n_unknown)
