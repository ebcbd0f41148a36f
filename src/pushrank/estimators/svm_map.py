"""SVM-MAP.

Yisong Yue, Thomas Finley, Filip Radlinski, Thorsten Joachims, *A support vector method for optimizing average
precision*, SIGIR 2007.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pushrank._log_space import Floats
from pushrank.estimators._certified import CertifiedRanker, Solution
from pushrank.models import Model
from pushrank.objectives.mean_average_precision import average_precision_hinge
from pushrank.pairs import Sample
from pushrank.solvers import Watcher
from pushrank.solvers.cutting_plane import cutting_plane


class SVMMAP(CertifiedRanker):
    r"""Rank so that the average precision is high: SVM-MAP, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac12 \|w\|^2 + C \max_{\hat y} \Bigl[ 1 - AP(\hat y)
        + \frac{1}{m n} \sum_{i, k} (\hat y_{ik} - 1) (f(x_i) - f(\tilde x_k)) \Bigr] ,

    over all orders :math:`\hat y` of the m positives among the n negatives. Sample weights are copies
    of rows, and must be whole numbers, of at most 10 million in a class; the time grows with their sum.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss against the norm, positive and at most 1e30.
    class_weight : dict, "balanced" or None, default=None
        C is multiplied by the product of the classes' weights; ``"balanced"`` is n / (2 n_c) for n_c rows of
        a class. Moves ``threshold_``.
    tol : float, default=1e-4
        Converged when the relative duality gap is at most this.
    max_iter : int, default=1000
        The most planes.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, primal_objective_, dual_objective_, dual_gap_, n_iter_, converged_, classes_, threshold_
        As for :class:`RankSVM`.
    n_features_in_, feature_names_in_
        As for :class:`RankSVM`.

    Notes
    -----
    One-slack cutting planes; a plane costs two readings of the data and about ten searches of the worst
    order, each O(n log n). Ties count as errors in the worst order.

    References
    ----------
    Yue et al., SIGIR 2007, optimisation problem 1; Agarwal, SDM 2011, section 6, where it is a baseline.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = SVMMAP(C=100.0).fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.99
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _optimise(
        self, model: Model, sample: Sample, C: float, watcher: Watcher | None, state: Any
    ) -> Solution:
        risk = partial(average_precision_hinge, sample)
        found = cutting_plane(risk, model, C, float(self.tol), int(self.max_iter), watcher, state)
        return Solution(found.coef, found.certificate, found.n_iter, found.planes)

    def _loss(self, sample: Sample, scores: Floats) -> float:
        return average_precision_hinge(sample, scores)[0]
