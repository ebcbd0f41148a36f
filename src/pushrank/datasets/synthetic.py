r"""A set in which a ranker of the top beats logistic regression, by a margin that can be computed.

Two features matter. Four clusters of rows, boxes with sides parallel to the axes, share them::

    x2
     3  . hidden positives (0, 3)

     0  ===== easy negatives =====.                     . hard negatives (4, 0)
    -1                                      . ordinary positives (2, -1)
        -4                        0         2           4   x1

*Ordinary* positives lie half way between the many easy negatives and the few hard ones: a direction in which
they score higher than the easy negatives puts the hard negatives higher still, or the hidden positives last.
*Hidden* positives have the highest values of x2, and ordinary positives the lowest.

Logistic regression gives all rows the same weight. Most positives are ordinary and most negatives easy, so it
follows x1, and the hard negatives come first. A push makes the highest negatives expensive, so it gives up
the ordinary positives and follows x2, and the hidden positives come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit
from sklearn.utils import Bunch, check_random_state

from pushrank._base.numeric import Floats
from pushrank._base.validation import check_number

__all__ = ["make_hidden_positives"]

# The hidden positives have x2 = 3, and the ordinary ones x2 = -1.
_HIDDEN_HEIGHT = 3.0
_ORDINARY_DEPTH = 1.0
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True)
class _Cluster:
    """A box of equally likely points; ``mass`` is its share of all rows."""

    name: str
    label: int
    mass: float
    centre: tuple[float, float]
    half_width: tuple[float, float]

    def quadrature(self) -> tuple[Floats, Floats]:
        """Return Gauss-Legendre points (256, 2) in the box and weights (256,) that sum to the mass."""
        first, second = np.meshgrid(_NODES, _NODES)
        points = np.column_stack([first.ravel(), second.ravel()]) * self.half_width + self.centre
        return points, np.outer(_NODE_WEIGHTS, _NODE_WEIGHTS).ravel() * self.mass / 4

    def mass_above(self, direction: Floats, threshold: float) -> float:
        """Return the mass of the points x of the box with direction @ x > threshold."""
        # A score is a sum of two uniform variables on [-a, a] and [-b, b], whose distribution function is a
        # second difference of squares. The lower limits of a and b keep the divisor from being zero.
        widths = np.abs(direction) * self.half_width
        a = max(float(widths.max()), 1e-300)
        b = max(float(widths.min()), 1e-6 * a)
        z = float(direction @ np.asarray(self.centre)) - threshold
        corners = np.array([z + a + b, z + a - b, z - a + b, z - a - b])
        squares = np.maximum(corners, 0.0) ** 2
        share = (squares[0] - squares[1] - squares[2] + squares[3]) / (8 * a * b)
        return self.mass * float(np.clip(share, 0.0, 1.0))


def make_hidden_positives(
    n_samples: int = 2000,
    n_features: int = 10,
    *,
    positive_fraction: float = 0.2,
    hidden_fraction: float = 0.4,
    hard_negatives: float = 0.05,
    noise: float = 0.25,
    top: float = 0.25,
    shuffle: bool = True,
    random_state: int | np.random.RandomState | None = None,
    return_X_y: bool = False,
) -> Bunch | tuple[Floats, NDArray[np.int64]]:
    r"""Make a set with hidden positives and hard negatives, and compute its best and its logistic precision.

    The measure is the precision of the first :math:`\kappa I` rows, with I positives and
    :math:`\kappa` = ``top``. Write :math:`\pi` for ``positive_fraction``, h for ``hidden_fraction``,
    :math:`\nu` for ``hard_negatives`` and r for ``noise``.

    *Best.* By x2 the hidden positives score at least 3 - r, and all other rows at most r. As
    :math:`h \ge \kappa`, they fill the top, and the precision is 1.

    *Logistic.* The direction minimises the expected logistic loss, with intercept. Only x1 and x2 have
    weight, since the other features are symmetric and independent of the label. It is computed by quadrature,
    and its precision from the exact distribution of the scores. If that direction puts the hard negatives
    first and then positives only, as at the defaults, the precision is
    :math:`1 - (1 - \pi)\nu / (\kappa\pi)`, or 0 if that is negative; at the defaults it is 0.2.

    *Push.* Along x2 the mean of the positives is outside the convex hull of the negatives by the returned
    ``mean_margin`` :math:`= 3h - (1 - h) - r`, at the defaults 0.35, and the push follows x2. What it does
    where that is negative is on the page :doc:`/models_and_data`, with what fits to samples reach.

    Rudin, C. (2009). The P-Norm Push. JMLR 10, 2233-2271. Kar, P., Narasimhan, H. and Jain, P. (2015).
    Surrogate functions for maximizing precision at the top. ICML.

    Parameters
    ----------
    n_samples : int, default=2000
        The number of rows. Each cluster has its share of them, rounded, so class counts do not vary.
    n_features : int, default=10
        The number of columns, at least 2. Columns after the second are uniform on [-1, 1], and noise.
    positive_fraction : float, default=0.2
        Share of positives among the rows, in (0, 1).
    hidden_fraction : float, default=0.4
        Share of hidden ones among the positives, at least ``top`` and below 1. The smaller, the harder: below
        (1 + ``noise``) / 4 the limit of the convex pushes is the zero ranker.
    hard_negatives : float, default=0.05
        Share of hard ones among the negatives, in (0, 1). The larger, the worse the logistic top, up to about
        0.2 at the defaults, where logistic regression begins to avoid them.
    noise : float, default=0.25
        Half width of the clusters, in (0, 1]; the easy negatives are longer along x1, from -4 to 0.
    top : float, default=0.25
        The :math:`\kappa` of the precisions, a share of the positives, in (0, 1).
    shuffle : bool, default=True
        Whether the rows come in random order; otherwise cluster after cluster, positives first.
    random_state : int, numpy.random.RandomState or None, default=None
        Source of randomness; an int gives the same set every time.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of a Bunch.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        ``data`` (n_samples, n_features) float64; ``target`` (n_samples,) of 0 and 1; ``cluster``
        (n_samples,) of "ordinary", "hidden", "easy", "hard"; ``best_direction`` and ``logistic_direction``
        (n_features,), of length 1; the population values ``best_precision_at_top``,
        ``logistic_precision_at_top`` and ``mean_margin``; ``top``, ``feature_names``, ``target_names``,
        ``DESCR``.

    Raises
    ------
    ValueError
        When a parameter is outside its range, or there are too few rows for each cluster to have one.
    TypeError
        When a parameter is no number, or `n_samples` or `n_features` is no integer.

    Examples
    --------
    >>> from pushrank.datasets import make_hidden_positives
    >>> bunch = make_hidden_positives(random_state=0)
    >>> bunch.data.shape, int(bunch.target.sum())
    ((2000, 10), 400)
    >>> round(bunch.best_precision_at_top, 3), round(bunch.logistic_precision_at_top, 3)
    (1.0, 0.2)
    >>> first = (bunch.data @ bunch.best_direction).argsort()[-100:]
    >>> float(bunch.target[first].mean())
    1.0
    """
    check_number("n_samples", n_samples, integer=True)
    check_number("n_features", n_features, 2, integer=True)
    shares = {"positive_fraction": positive_fraction, "hard_negatives": hard_negatives, "top": top}
    for name, share in shares.items():
        check_number(name, share, above=0.0, below=1.0)
    # Wider clusters would overlap.
    check_number("noise", noise, above=0.0, most=1.0)
    check_number("hidden_fraction", hidden_fraction)
    if not top <= hidden_fraction < 1:
        raise ValueError(
            f"hidden_fraction={hidden_fraction!r} must be at least top={top!r}, so that hidden positives can "
            "fill the top, and below 1."
        )
    clusters = _four_clusters(positive_fraction, hidden_fraction, hard_negatives, noise)
    positives = round(n_samples * positive_fraction)
    hidden, hard = round(positives * hidden_fraction), round((n_samples - positives) * hard_negatives)
    counts = [positives - hidden, hidden, n_samples - positives - hard, hard]
    if min(counts) < 1:
        raise ValueError(
            f"n_samples={n_samples!r} is too small: the four clusters would have {counts} rows, each needs 1."
        )
    rng = check_random_state(random_state)
    data = rng.uniform(-1.0, 1.0, (n_samples, n_features))
    which = np.repeat(np.arange(len(clusters)), counts)
    if shuffle:
        rng.shuffle(which)
    data[:, :2] *= np.array([cluster.half_width for cluster in clusters])[which]
    data[:, :2] += np.array([cluster.centre for cluster in clusters])[which]
    target = np.array([cluster.label for cluster in clusters], dtype=np.int64)[which]
    if return_X_y:
        return data, target

    best, logistic = np.array([0.0, 1.0]), _logistic_direction(clusters)
    rest = np.zeros(n_features - 2)
    return Bunch(
        data=data,
        target=target,
        cluster=np.array([cluster.name for cluster in clusters])[which],
        feature_names=[f"x{column + 1}" for column in range(n_features)],
        target_names=["negative", "positive"],
        best_direction=np.concatenate([best, rest]),
        logistic_direction=np.concatenate([logistic, rest]),
        best_precision_at_top=_precision_at_top(clusters, best, top),
        logistic_precision_at_top=_precision_at_top(clusters, logistic, top),
        mean_margin=_HIDDEN_HEIGHT * hidden_fraction - _ORDINARY_DEPTH * (1 - hidden_fraction) - noise,
        top=top,
        DESCR=__doc__,
    )


def _four_clusters(positive: float, hidden: float, hard: float, noise: float) -> tuple[_Cluster, ...]:
    """Return the clusters by their shares: of all rows, of the positives, and of the negatives."""
    negative, box = 1 - positive, (noise, noise)
    return (
        _Cluster("ordinary", 1, positive * (1 - hidden), (2.0, -_ORDINARY_DEPTH), box),
        _Cluster("hidden", 1, positive * hidden, (0.0, _HIDDEN_HEIGHT), box),
        _Cluster("easy", 0, negative * (1 - hard), (-2.0, 0.0), (2.0 + noise, noise)),
        _Cluster("hard", 0, negative * hard, (4.0, 0.0), box),
    )


def _logistic_direction(clusters: tuple[_Cluster, ...]) -> Floats:
    """Return the direction (2,), of length 1, that minimises the expected logistic loss with intercept."""
    parts = [cluster.quadrature() for cluster in clusters]
    points = np.vstack([points for points, _ in parts])
    design = np.column_stack([points, np.ones(len(points))])
    mass = np.concatenate([weights for _, weights in parts])
    sign = np.repeat([2.0 * cluster.label - 1.0 for cluster in clusters], len(parts[0][1]))

    def loss(coefficients: Floats) -> tuple[float, Floats]:
        margin = sign * (design @ coefficients)
        value = mass @ np.logaddexp(0.0, -margin)
        return float(value), -design.T @ (mass * sign * expit(-margin))

    def hessian(coefficients: Floats) -> Any:
        score = design @ coefficients
        return (design * (mass * expit(score) * expit(-score))[:, None]).T @ design

    options = {"gtol": 1e-10}
    fitted = minimize(loss, np.zeros(3), jac=True, hess=hessian, method="trust-exact", options=options)
    return np.asarray(fitted.x[:2] / np.linalg.norm(fitted.x[:2]))


def _precision_at_top(clusters: tuple[_Cluster, ...], direction: Floats, top: float) -> float:
    """Return the share of positives among the highest-scored rows, as many as ``top`` times the positives."""
    wanted = top * sum(cluster.mass for cluster in clusters if cluster.label == 1)

    def excess(threshold: float) -> float:
        return sum(cluster.mass_above(direction, threshold) for cluster in clusters) - wanted

    threshold = brentq(excess, -100.0, 100.0, xtol=1e-13)
    negative, positive = (
        sum(cluster.mass_above(direction, threshold) for cluster in clusters if cluster.label == label)
        for label in (0, 1)
    )
    return positive / (negative + positive)
