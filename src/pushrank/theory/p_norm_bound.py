"""A bound on the P-Norm Push's error on new data, and how many rows make it small."""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from pushrank._checks import check_number
from pushrank.metrics.rp_error import rp_error
from pushrank.theory.bound_inputs import Margins

LARGEST_LOG = math.log(sys.float_info.max)


def p_norm_push_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    p: float,
    theta: float,
    log_covering_number: float,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> float:
    r"""Return a bound on the P-Norm Push's error of new data.

    With probability at least :math:`1 - \delta`, for all f of the class at once,

    .. math::

        R_p(f) &= \Bigl(E_{\tilde x} \bigl[P_x(f(x) \le f(\tilde x))^p\bigr]\Bigr)^{1/p}
        \le \Bigl(\bigl(\hat R_p^\theta(f) + \varepsilon_+\bigr)^p + \varepsilon_-\Bigr)^{1/p}
        \le \hat R_p^\theta(f) + \varepsilon_+ + \varepsilon_-^{1/p} , \\
        \hat R_p^\theta(f) &= \Bigl(\frac1K \sum_k
        \Bigl(\frac1I \sum_i 1[f(x_i) - f(\tilde x_k) \le \theta]\Bigr)^p\Bigr)^{1/p} ,

    :math:`\varepsilon_+ = \sqrt{L / (2 I)}`, :math:`\varepsilon_- = \sqrt{L / (2 K)}` and
    :math:`L = \ln N(F, \theta / 4) + \ln(2 / \delta)`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values, of the training rows.
    scores : array-like of shape (n,)
        Their finite scores, by a function of the class that the covering number counts.
    p : float
        The strength of the push, at least 1.
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
        The first of the two right-hand sides, at least 0; a value of 1 or more says nothing.

    Raises
    ------
    TypeError
        When a parameter is not a number.
    ValueError
        When there are not two classes, a score is not finite, or a parameter is out of range.

    Notes
    -----
    Derived here; it is of the kind of Theorem 2 of the paper, with the same powers of :math:`\varepsilon`
    and p (a chance of :math:`e^{-2 K (\varepsilon/2)^{2p}}` for an excess of :math:`\varepsilon / 2` by the
    negatives), and its constants are those of this proof. For a member g of the cover within
    :math:`\theta / 4` of f, let :math:`h(\tilde x) = P_x(g(x) \le g(\tilde x) + \theta / 2)`, which is at
    least
    :math:`P_x(f(x) \le f(\tilde x))`, and :math:`\hat h` its share of the training positives, at most that
    of f with margin :math:`\theta`.

    - By Hoeffding's inequality :math:`E h^p \le \frac1K \sum_k h(\tilde x_k)^p + \varepsilon_-` but for a
      chance of :math:`e^{-2 K \varepsilon_-^2}`.
    - :math:`h(\tilde x)` is the distribution function of g(x) at :math:`g(\tilde x) + \theta / 2`. By
      Massart's one-sided inequality :math:`h \le \hat h + \varepsilon_+` for all :math:`\tilde x` at once,
      but for a chance of :math:`e^{-2 I \varepsilon_+^2}`, as :math:`\varepsilon_+ \ge \sqrt{\ln 2 / (2I)}`;
      and the power mean of :math:`\hat h + \varepsilon_+` is at most that of :math:`\hat h`, plus
      :math:`\varepsilon_+` (Minkowski).

    Both chances are :math:`\delta / (2 N)`, and the union over the cover gives the bound. For linear scores,
    :func:`log_covering_number` makes it explicit. O(n log n).

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 4; Massart, *The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality*, Annals of Probability 18 (1990).

    Examples
    --------
    >>> y = [0] * 50_000 + [1] * 50_000
    >>> scores = [0.0] * 50_000 + [1.0] * 50_000
    >>> [round(p_norm_push_bound(y, scores, p, 0.5, log_covering_number=20.0), 3) for p in (1, 4)]
    [0.031, 0.352]
    """
    check_number("p", p, 1.0)
    margins = Margins(y_true, scores, theta, log_covering_number, delta, pos_label)
    log_error = float(rp_error(margins.is_positive, margins.lowered, p, scale="log"))
    measured = math.exp(log_error - math.log(margins.n_positive) - math.log(margins.n_negative) / p)
    by_positives, by_negatives = margins.room(margins.n_positive, 2), margins.room(margins.n_negative, 2)
    # ((measured + by_positives)^p + by_negatives)^(1/p), in logarithms: at a large p its powers underflow
    total = np.logaddexp(p * math.log(measured + by_positives), math.log(by_negatives))
    return float(np.exp(total / p))


class SampleSize(NamedTuple):
    """How many rows of each class a bound asks for.

    Parameters
    ----------
    n_positives, n_negatives : int
        Numbers of rows.

    Examples
    --------
    >>> SampleSize(100, 2000).n_negatives
    2000
    """

    n_positives: int
    n_negatives: int


def sample_size(epsilon: float, p: float, log_covering_number: float, *, delta: float = 0.05) -> SampleSize:
    r"""Return how many rows keep the P-Norm Push's error on new data within a distance of that measured.

    .. math:: \min_{\varepsilon_+ + \eta = \varepsilon}\; I + K , \quad
        I = \frac{L}{2 \varepsilon_+^2} , \; K = \frac{L}{2 \eta^{2p}} , \;
        L = \ln N(F, \theta / 4) + \ln(2 / \delta)

    Parameters
    ----------
    epsilon : float
        The distance :math:`R_p - \hat R_p^\theta` that is allowed, in (0, 1).
    p : float
        The strength of the push, at least 1.
    log_covering_number : float
        The natural logarithm of the covering number of the class at a quarter of the margin.
    delta : float, default=0.05
        The chance that the bound fails, in (0, 1).

    Returns
    -------
    SampleSize
        A named tuple: ``n_positives``, ``n_negatives``, the fewest in sum for which the second right-hand
        side of :func:`p_norm_push_bound` holds with `epsilon`.

    Raises
    ------
    TypeError
        When a parameter is not a number.
    ValueError
        When a parameter is out of range, or a float cannot hold the number of rows.

    Notes
    -----
    The negatives needed grow as :math:`\varepsilon^{-2p}`: what a bound costs that looks at the top.

    References
    ----------
    As for :func:`p_norm_push_bound`.

    Examples
    --------
    >>> sample_size(0.1, 1, log_covering_number=20.0), sample_size(0.3, 4, log_covering_number=20.0)
    (SampleSize(n_positives=4738, n_negatives=4738), SampleSize(n_positives=55274, n_negatives=269373))
    """
    check_number("epsilon", epsilon, above=0.0, below=1.0)
    check_number("p", p, 1.0)
    check_number("delta", delta, above=0.0, below=1.0)
    check_number("log_covering_number", log_covering_number, 0.0)
    room = 0.5 * (float(log_covering_number) + math.log(2.0 / delta))

    def log_counts(share: float) -> tuple[float, float]:
        by_positives = math.log(room) - 2.0 * math.log(share * epsilon)
        return by_positives, math.log(room) - 2.0 * p * math.log((1.0 - share) * epsilon)

    best = minimize_scalar(
        lambda share: (
            math.log(sum(math.exp(c - max(log_counts(share))) for c in log_counts(share)))
            + max(log_counts(share))
        ),
        bounds=(1e-6, 1.0 - 1e-6),
        method="bounded",
        options={"xatol": 1e-10},
    )
    counts = log_counts(float(best.x))
    if max(counts) > LARGEST_LOG:
        raise ValueError(
            f"epsilon={epsilon!r} with p={p!r} asks for about 1e{max(counts) / math.log(10.0):.0f} rows, "
            "more than a float holds; choose a larger epsilon or a smaller p."
        )
    n_positives, n_negatives = (math.ceil(math.exp(count)) for count in counts)
    return SampleSize(n_positives, n_negatives)
