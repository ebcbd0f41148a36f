"""A bound on the precision at the top of a new list."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank._checks import check_number
from pushrank.metrics.precision_at_k import precision_at_k
from pushrank.theory.bound_inputs import Margins


def precision_at_k_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int,
    theta: float,
    log_covering_number: float,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> float:
    r"""Return a lower bound on the precision, in the population, of the share of rows that the first k are.

    With :math:`\lambda = k / n` chosen before the data are seen, with probability at least
    :math:`1 - \delta`, for all f of the class at once,

    .. math::

        \mathrm{prec}_\lambda(f) \ge \widehat{\mathrm{prec}}_{@k}(f - \theta y)
        - \frac{2}{\lambda} \sqrt{\frac{\ln N(F, \theta / 4) + \ln(2 / \delta)}{2 n}} ,

    the precision on the training rows being taken with the scores of the positives lowered by the margin.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values, of the training rows.
    scores : array-like of shape (n,)
        Their finite scores, by a function of the class that the covering number counts.
    k : int
        The length of the list, from 1 to n.
    theta : float
        The positive margin, in units of the scores, chosen before the data are seen.
    log_covering_number : float
        The natural logarithm of the covering number of the class at the scale ``theta / 4``, such as
        :func:`log_covering_number` bounds for linear scores; for a finite class the logarithm of its size.
    delta : float, default=0.05
        The chance that the bound fails, in (0, 1).
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float
        At most 1; a value of 0 or less says nothing.

    Raises
    ------
    TypeError
        When a parameter is not a number, or ``k`` is not an integer.
    ValueError
        When there are not two classes, a score is not finite, or a parameter is out of range.

    Notes
    -----
    Derived here, for rows drawn independently and scores without ties. It is a uniform convergence bound of
    the kind that Kar et al. prove for prec@k and its surrogates; its statement and constants are those of
    this proof, and their Theorems 7, 9 and 13 themselves are not implemented. Raising positives, or lowering
    negatives, never lowers the precision of a list. So for the member g of the cover within
    :math:`\theta / 4` of f, :math:`\mathrm{prec}_\lambda(f) \ge \mathrm{prec}_\lambda(g')` with
    :math:`g' = g - \theta y / 2`, and on the training rows that of :math:`f - \theta y` is at most that of
    g'. For each g', let t be the k-th highest training score less any amount that passes no other. By
    Massart's inequality, but for a chance of :math:`e^{-2 n \varepsilon^2}` each, the share of all rows
    above t is at most
    :math:`\lambda + \varepsilon`, and that of the positives above t at least
    :math:`\lambda\, \widehat{\mathrm{prec}} - \varepsilon`; cutting the list back to the share
    :math:`\lambda` loses at most :math:`\varepsilon` more. O(n).

    References
    ----------
    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015; Massart,
    Annals of Probability 18 (1990).

    Examples
    --------
    >>> y = [0] * 50_000 + [1] * 50_000
    >>> scores = [i / 1e6 for i in range(50_000)] + [1.0 + i / 1e6 for i in range(50_000)]
    >>> round(precision_at_k_bound(y, scores, 25_000, 0.5, log_covering_number=20.0), 3)
    0.913
    """
    check_number("k", k, 1, integer=True)
    margins = Margins(y_true, scores, theta, log_covering_number, delta, pos_label)
    found = float(precision_at_k(margins.is_positive, margins.lowered, k))
    n_rows = len(margins.scores)
    return found - 2.0 * n_rows / k * margins.room(n_rows, 2)
