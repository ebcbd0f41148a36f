"""The structural support vector machine for measures of the top.

Thorsten Joachims, *A support vector method for multivariate performance measures*, ICML 2005.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.estimators._certified import CertifiedRanker, Solution
from pushrank.estimators._score_range import finite_scores
from pushrank.estimators._target import Target
from pushrank.models import LinearModel, Model
from pushrank.objectives.mean_hinge import mean_hinge
from pushrank.objectives.precision_at_k import PrecisionAtK, check_k
from pushrank.pairs import Sample
from pushrank.solvers import Watcher
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.cutting_plane import Risk, cutting_plane

MEASURES = ("precision", "prbep", "auc")


class StructSVMAtK(CertifiedRanker):
    r"""Rank for precision at k, the break-even point or the AUC by a structural SVM: SVMPerf, certified.

    Minimises, over linear scores :math:`s = X w`,

    .. math::

        \frac12 \|w\|^2 + C \max_{\hat y} \Bigl[ \Delta(\hat y)
        + \frac1k \sum_r (\hat y_r - y_r) s_r \Bigr] ,

    over all labelings :math:`\hat y` with k positives, :math:`\Delta` being the share of negatives among
    them.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss against the norm, positive and at most 1e30.
    measure : {"precision", "prbep", "auc"}, default="precision"
        Precision at k; the precision-recall break-even point, which is precision at the number of positives;
        or the AUC, the loss of which is the mean hinge of all pairs.
    k : int or float, default=0.25
        For ``"precision"``: an int is a number of rows, at most that of the positives; a float in (0, 1] the
        fraction of the positives, rounded to a number between 1 and theirs.
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
    One-slack cutting planes; a plane costs two readings of the data and about ten evaluations of the loss,
    O(n + k log k) each. Where k is below the number of positives the loss can be negative, and is no bound on
    the measure; it also falls with a constant added to all scores, so that features are best centred.
    :class:`RampAtK` and :class:`SGDAtK` minimise losses that are.

    References
    ----------
    Joachims, ICML 2005; Kar, Narasimhan and Jain, ICML 2015, section 5, where it is a baseline.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = StructSVMAtK(C=10.0, measure="prbep").fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.98
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        measure: Literal["precision", "prbep", "auc"] = "precision",
        k: float = 0.25,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.measure = measure
        self.k = k
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_k(self.k)
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {list(MEASURES)}, got {self.measure!r}.")

    def _what_went_wrong(self, cost: float) -> str:
        # the share of negatives at the top of tied rows, and the loss of a pair at zero, are one
        if not Certificate(self.primal_objective_, self.dual_objective_).proves_collapse(cost, self.tol):
            return super()._what_went_wrong(cost)
        return (
            f"collapsed: zero coefficients are optimal (objective {cost:g} at zero, at least "
            f"{self.dual_objective_:g} anywhere). Try RampAtK or PerceptronAtK(variant='max'), which need "
            "only k of the positives, or a smaller k."
        )

    def _keep_function(
        self,
        solution: Solution,
        X: Any,
        model: Model,  # noqa: ARG002
        target: Target,  # noqa: ARG002
    ) -> NDArray[np.floating]:
        # the loss may fall without bound but for the norm, so that coefficients grow with the features
        with np.errstate(over="ignore"):
            self.coef_ = solution.coef.astype(X.dtype)
        return finite_scores(X, self.coef_)

    def _model(self, X: Any, weights: Floats | None) -> Model:  # noqa: ARG002
        # where k is below the number of positives, a constant added to all scores changes the loss
        model = LinearModel(X, centred=self.measure != "precision")
        model.check_range()
        return model

    def _optimise(
        self, model: Model, sample: Sample, C: float, watcher: Watcher | None, state: Any
    ) -> Solution:
        risk = self._risk(sample)
        found = cutting_plane(
            risk, model, C, float(self.tol), int(self.max_iter), watcher, state, non_negative=False
        )
        return Solution(found.coef, found.certificate, found.n_iter, found.planes)

    def _risk(self, sample: Sample) -> Risk:
        """Return the measure's loss and subgradient as a function of the scores."""
        if self.measure == "auc":
            return partial(mean_hinge, sample)
        surrogate = PrecisionAtK(1.0 if self.measure == "prbep" else self.k, "struct")
        count = surrogate.count(sample.class_weights[0])
        return partial(_mean_struct, surrogate, count, sample)

    def _loss(self, sample: Sample, scores: Floats) -> float:
        return self._risk(sample)(scores)[0]


def _mean_struct(
    surrogate: PrecisionAtK, count: float, sample: Sample, scores: Floats
) -> tuple[float, Floats]:
    value, slope = surrogate.linearise(sample, scores)
    return value / count, slope / count
