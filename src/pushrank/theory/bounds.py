"""Bounds on the errors of rankers on new data, that hold for all functions of a class at once.

Each takes a margin theta and the covering number of the class at the scale theta / 4. A function f of the
class is within theta / 4 of a member g of the cover; for g a concentration inequality holds, and a union over
the cover carries it to f. Training errors are measured with the positives' scores lowered by theta. The
proofs are in the notes of each function.
"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.pairwise import rp_error
from pushrank.metrics.precision import precision_at_k
from pushrank.metrics.roc import auc

PARAGRAPHS = {
    "training_scores": """y_true : array-like of shape (n,)
    Labels of two values, of the training rows.
scores : array-like of shape (n,)
    Their finite scores, by a function of the class that the covering number counts.""",
    "margin": """theta : float
    The positive margin, in units of the scores, chosen before the data are seen.
log_covering_number : float
    The natural logarithm of the covering number of the class at the scale ``theta / 4``, such as
    :func:`log_covering_number` bounds for linear scores; for a finite class the logarithm of its size.""",
    "delta": """delta : float
    The chance that the bound fails, in (0, 1).""",
    "pos_label": """pos_label : label, optional
    The positive class; by default the larger of two numbers, yes of yes and no, true of true and
    false. Of other texts it must be given.""",
    "errors": """Raises
------
TypeError
    When a parameter is not a number of its kind.
ValueError
    When there are not two classes, a score is not finite, or a parameter is out of range.""",
}

_shared_docs = shared_docs_from(PARAGRAPHS)


class TrainingMargins:
    """The checked training rows, and how far chance may take their means from those of the population."""

    def __init__(
        self,
        y_true: ArrayLike,
        scores: ArrayLike,
        theta: float,
        log_covering_number: float,
        delta: float,
        pos_label: Any = None,
    ) -> None:
        check_number("theta", theta, above=0.0)
        check_number("delta", delta, above=0.0, below=1.0)
        check_number("log_covering_number", log_covering_number, 0.0)
        ranking = Ranking(y_true, scores, None, pos_label)
        self.is_positive = ranking.is_positive
        self.scores = ranking.scores
        self.lowered_scores: Floats = ranking.scores - theta * ranking.is_positive
        self.n_positive = len(ranking.positive_scores)
        self.n_negative = len(ranking.negative_scores)
        self._log_covering_number, self._delta = float(log_covering_number), delta

    def log_failure(self, n_events: int = 1) -> float:
        """Return ln(delta / (n_events N)): what chance of failure is left for one event and one function."""
        return -self._log_covering_number - math.log(n_events / self._delta)

    def deviation(self, n_rows: int, n_events: int = 1) -> float:
        """Return by how much means of so many rows in [0, 1] may differ (Hoeffding, Massart)."""
        return math.sqrt(-self.log_failure(n_events) / (2.0 * n_rows))


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


LOG_MAX_FLOAT = math.log(sys.float_info.max)


@_shared_docs
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
    %(training_scores)s
    p : float
        The strength of the push, at least 1.
    %(margin delta pos_label)s

    Returns
    -------
    float
        The first of the two right-hand sides, at least 0; a value of 1 or more says nothing.

    %(errors)s

    Notes
    -----
    Derived here; it is of the kind of Theorem 2 of the paper, with the same powers of :math:`\varepsilon`
    and p (a chance of :math:`e^{-2 K (\varepsilon/2)^{2p}}` for an excess of :math:`\varepsilon / 2` by the
    negatives), and its constants are those of this proof. For a member g of the cover within
    :math:`\theta / 4` of f, let :math:`h(\tilde x) = P_x(g(x) \le g(\tilde x) + \theta / 2)`, which is at
    least :math:`P_x(f(x) \le f(\tilde x))`, and :math:`\hat h` its share of the training positives, at
    most that of f with margin :math:`\theta`.

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
    margins = TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    log_error = float(rp_error(margins.is_positive, margins.lowered_scores, p, scale="log"))
    training_error = math.exp(log_error - math.log(margins.n_positive) - math.log(margins.n_negative) / p)
    eps_positive = margins.deviation(margins.n_positive, 2)
    eps_negative = margins.deviation(margins.n_negative, 2)
    # ((training_error + eps_positive)^p + eps_negative)^(1/p), in logarithms as powers underflow at a large p
    total = np.logaddexp(p * math.log(training_error + eps_positive), math.log(eps_negative))
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


@_shared_docs
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
    %(delta)s

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
        """Return ln I and ln K if the positives take up this share of epsilon."""
        log_positives = math.log(room) - 2.0 * math.log(share * epsilon)
        return log_positives, math.log(room) - 2.0 * p * math.log((1.0 - share) * epsilon)

    best = minimize_scalar(
        lambda share: np.logaddexp(*log_counts(share)),
        bounds=(1e-6, 1.0 - 1e-6),  # at either end a class would need infinitely many rows
        method="bounded",
        options={"xatol": 1e-10},  # the sum is flat at its minimum, but the count of each class is not
    )
    counts = log_counts(float(best.x))
    if max(counts) > LOG_MAX_FLOAT:
        raise ValueError(
            f"epsilon={epsilon!r} with p={p!r} asks for about 1e{max(counts) / math.log(10.0):.0f} rows, "
            "more than a float holds; choose a larger epsilon or a smaller p."
        )
    n_positives, n_negatives = (math.ceil(math.exp(count)) for count in counts)
    return SampleSize(n_positives, n_negatives)


class TopBound(NamedTuple):
    """Error rates of the rule that takes what scores above the best training negative.

    Parameters
    ----------
    threshold : float
        The score from which the rule takes rows.
    false_positive_rate : float
        A bound on the chance that a new negative is taken.
    miss_rate : float
        A bound on the chance that a new positive is not taken.

    Examples
    --------
    >>> TopBound(1.2, 0.01, 0.3).miss_rate
    0.3
    """

    threshold: float
    false_positive_rate: float
    miss_rate: float


@_shared_docs
def infinite_push_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    log_covering_number: float,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> TopBound:
    r"""Return bounds on the errors, on new data, of taking what scores above the best negative.

    With the training negatives' best score :math:`t = \max_k f(\tilde x_k)`, with probability at least
    :math:`1 - \delta`, for all f of the class at once,

    .. math::

        P(f(\tilde x) > t + \theta / 2) &\le 1 - \Bigl(\frac{\delta}{2 N}\Bigr)^{1/K}
        \le \frac{L}{K} , \\
        P(f(x) \le t + \theta / 2) &\le \frac1I \sum_i 1[f(x_i) \le t + \theta]
        + \sqrt{\frac{L}{2 I}} ,

    where :math:`L = \ln N + \ln(2 / \delta)` and :math:`N = N(F, \theta / 4)`.

    Parameters
    ----------
    %(training_scores margin delta pos_label)s

    Returns
    -------
    TopBound
        A named tuple: ``threshold``, which is :math:`t + \theta / 2`, ``false_positive_rate``, ``miss_rate``;
        a rate of 1 or more says nothing.

    %(errors)s

    Notes
    -----
    Derived here, for what the Infinite Push minimises: the share of positives below the best negative. It is
    of the kind of Theorem 5.1 of Agarwal's paper; its statement and constants are those of this proof. Take
    the member g of the cover within :math:`\theta / 4` of f, and u its best training negative.

    - A negative with :math:`f > t + \theta / 2` has :math:`g > t + \theta / 4 \ge u`. The chance of more than
      :math:`\eta` of the negatives lying above the best of K is at most :math:`(1 - \eta)^K`.
    - A positive with :math:`f \le t + \theta / 2` has :math:`g \le t + 3 \theta / 4`; and those training
      positives have :math:`f \le t + \theta`. By Massart's inequality the shares agree but for
      :math:`\sqrt{L / (2 I)}` at all thresholds at once, so also at the random t.

    The union over the cover and both events gives the bound. O(n).

    References
    ----------
    Agarwal, *The Infinite Push*, SDM 2011, section 5; Massart, Annals of Probability 18 (1990).

    Examples
    --------
    >>> y = [0] * 5000 + [1] * 5000
    >>> scores = [0.0] * 5000 + [1.0] * 5000
    >>> threshold, taken, misses = infinite_push_bound(y, scores, 0.5, log_covering_number=20.0)
    >>> threshold, round(taken, 4), round(misses, 3)
    (0.25, 0.0047, 0.049)
    """
    margins = TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    best = float(margins.scores[~margins.is_positive].max())
    rate = -math.expm1(margins.log_failure(2) / margins.n_negative)
    below = float(np.mean(margins.lowered_scores[margins.is_positive] <= best))
    return TopBound(best + 0.5 * theta, rate, below + margins.deviation(margins.n_positive, 2))


@_shared_docs
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
    %(training_scores)s
    k : int
        The length of the list, from 1 to n.
    %(margin delta pos_label)s

    Returns
    -------
    float
        At most 1; a value of 0 or less says nothing.

    %(errors)s

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
    above t is at most :math:`\lambda + \varepsilon`, and that of the positives above t at least
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
    margins = TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    found = float(precision_at_k(margins.is_positive, margins.lowered_scores, k, ties="pessimistic"))
    n_rows = len(margins.scores)
    return found - 2.0 * n_rows / k * margins.deviation(n_rows, 2)


@_shared_docs
def margin_ranking_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    log_covering_number: float,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> float:
    r"""Return a bound on the chance that a new positive is ranked below a new negative.

    With probability at least :math:`1 - \delta`, for all f of the class at once,

    .. math::

        P(f(x) \le f(\tilde x)) \le \frac{1}{IK} \sum_{i,k} 1[f(x_i) - f(\tilde x_k) \le \theta]
        + \sqrt{\frac{\ln N(F, \theta / 4) + \ln(1 / \delta)}{2 \min(I, K)}} .

    Parameters
    ----------
    %(training_scores margin delta pos_label)s

    Returns
    -------
    float
        At least 0; a value of 1 or more says nothing.

    %(errors)s

    Notes
    -----
    Derived here; it is of the kind of Theorem 1 of the paper, for two classes, and its constants are those of
    this proof. Take the member g of the cover within :math:`\theta / 4` of f: margins of pairs differ by at
    most :math:`\theta / 2`. So a pair that f misranks has a margin of at most :math:`\theta / 2` under g, and
    the pairs with such a margin under g have at most :math:`\theta` under f. For each g, Hoeffding's
    inequality for two-sample U-statistics says that the share of pairs exceeds its mean over the sample by
    :math:`\varepsilon` with a chance of at most :math:`e^{-2 \min(I, K) \varepsilon^2}`; the union over the
    cover gives the bound. O(n log n).

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005,
    theorem 1; Hoeffding, *Probability inequalities for sums of bounded random variables*, JASA 58 (1963),
    section 5b.

    Examples
    --------
    >>> y = [0] * 5000 + [1] * 5000
    >>> scores = [0.0] * 5000 + [1.0] * 5000
    >>> round(margin_ranking_bound(y, scores, 0.5, log_covering_number=20.0), 3)
    0.048
    """
    margins = TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    within = 1.0 - float(auc(margins.is_positive, margins.lowered_scores, ties="pessimistic"))
    return within + margins.deviation(min(margins.n_positive, margins.n_negative))
