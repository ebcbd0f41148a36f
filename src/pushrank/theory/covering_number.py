"""How many scoring functions stand for all linear ones."""

from __future__ import annotations

import math

import numpy as np

from pushrank._checks import check_number


def log_covering_number(n_features: int, radius: float, scale: float) -> float:
    r"""Return the logarithm of a bound on the covering number of the bounded linear scores.

    .. math:: \ln N(F, \varepsilon) \le d \ln\Bigl(1 + \frac{2 R}{\varepsilon}\Bigr) , \quad
        F = \{x \mapsto w \cdot x : \|w\| \|x\|_* \le R\}

    Parameters
    ----------
    n_features : int
        The number d of features, at least 1.
    radius : float
        The positive bound R on the norm of the coefficients times the dual norm of the features: 2-norms for
        a penalised ranker; for boosting, the 1-norm of the weights times the largest value of a weak ranker.
    scale : float
        The positive distance :math:`\varepsilon`, in units of the scores, within which every score function
        has a member of the cover at every point.

    Returns
    -------
    float
        In natural logarithms, at least 0; 0 where one function will do.

    Raises
    ------
    TypeError
        When a parameter is not a number, or ``n_features`` is not an integer.
    ValueError
        When a number is out of range.

    Notes
    -----
    Proof: functions differ at a point by at most :math:`\|w - w'\| \|x\|_*`, so a cover of the ball of
    coefficients is one of F. A largest set of points of a ball of radius r that are more than e apart covers
    it, and the balls of radius e / 2 around them are disjoint and lie in one of radius r + e / 2: comparing
    volumes, they are at most :math:`(1 + 2 r / e)^d`.

    References
    ----------
    Cucker and Smale, *On the mathematical foundations of learning*, Bulletin AMS 39 (2001), proposition 5,
    for a bound of this kind.

    Examples
    --------
    >>> round(log_covering_number(10, radius=1.0, scale=0.1), 2)
    30.45
    """
    check_number("n_features", n_features, 1, integer=True)
    check_number("radius", radius, above=0.0)
    check_number("scale", scale, above=0.0)
    if scale >= radius:
        return 0.0
    return float(n_features * np.log1p(2.0 * radius / scale)) if math.isfinite(radius / scale) else math.inf
