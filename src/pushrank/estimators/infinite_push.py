"""The Infinite Push.

Shivani Agarwal, *The Infinite Push: A New Support Vector Ranking Algorithm that Directly Optimizes Accuracy
at the Absolute Top of the List*, SIAM International Conference on Data Mining 2011; Nan Li, Rong Jin, Zhi-Hua
Zhou, *Top Rank Optimization in Linear Time*, NIPS 2014, for the squared hinge (TopPush).
"""

from __future__ import annotations

from typing import Any, Literal

from pushrank._log_space import Floats
from pushrank.estimators._certified import Solution
from pushrank.estimators._kernels import LOSSES, OF_THE_PAPER, KernelRanker
from pushrank.estimators._validation import check_solver
from pushrank.models import Model
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.prices import Maximum
from pushrank.solvers import Watcher
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.gradient_projection import gradient_projection
from pushrank.solvers.infinite_push import METHODS, quickest
from pushrank.solvers.projections import within_budget
from pushrank.solvers.worst_negative import DualPoint, WorstNegative, shared_costs


class InfinitePush(KernelRanker):
    r"""Rank so that as many positives as possible stand above every negative: the Infinite Push, certified.

    Minimises, over linear scores :math:`f(x) = w \cdot x` or those of a kernel,

    .. math::

        \frac12 \|f\|^2 + \frac{C}{I} \sum_i \ell\bigl(1 - f(x_i) + \max_k f(\tilde x_k)\bigr) ,

    i over the I positives and k over the negatives, with the hinge :math:`\ell(z) = z_+` or its square. Since
    the hinge falls with the margin, the maximum over negatives of Agarwal's objective is at the
    highest-scored one.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss against the norm, positive and at most 1e30.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        The space of the scores: linear ones, or those of a kernel, by name or as a function of two sets of
        rows to the matrix of its values, which must be positive semi-definite; a ranker that holds a
        function cannot be saved. ``"precomputed"`` takes that matrix in place of ``X``.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Agarwal's loss, or TopPush's.
    solver : {"auto", "interior-point", "semismooth-newton", "projected-dual", "smo", "gradient-projection"}
        ``"auto"``, the default, takes an interior point method on a working set of rows for dense or small
        data; Newton's method on proximal points of the dual for sparse data and more than 1,000 features,
        with the interior point method after 300 iterations where there are at most 3,000; sequential minimal
        optimisation for kernels. ``"projected-dual"`` is accelerated projected
        gradients on the dual, of any scores; the Newton method starts with 64 of its iterations.
        ``"gradient-projection"`` is the algorithm of Agarwal's figure 2, with a variable for each pair, for
        reproduction: it takes unweighted rows and the hinge, and hardly ever reaches ``tol``.
    gamma : {"scale", "auto"} or float, default="scale"
        The :math:`\gamma` of ``"rbf"`` :math:`e^{-\gamma \|x - z\|^2}` and ``"poly"``
        :math:`(\gamma x \cdot z + c)^d`: ``"scale"`` is 1 / (n_features * X.var()), ``"auto"`` is
        1 / n_features.
    degree : int, default=3
        The d of ``"poly"``, at least 1.
    coef0 : float, default=0.0
        The c of ``"poly"``, at least zero.
    cache_size : float, default=1000.0
        Megabytes of kernel values that may be kept.
    class_weight : dict, "balanced" or None, default=None
        A pair weighs the product of its classes' weights; ``"balanced"`` is n / (2 n_c) for n_c rows of a
        class. For two classes that is a factor of C, and moves ``threshold_``.
    tol : float, default=1e-4
        Converged when the relative duality gap is at most this.
    max_iter : int, default=10000
        The most iterations; of ``"smo"`` each is as many steps as there are rows.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Of linear scores: the coefficients, in the dtype of the training data.
    support_ : ndarray of int
        The training rows with a dual variable that is not zero.
    dual_coef_ : ndarray of shape (n_support,)
        Their dual variables :math:`\alpha_i` and :math:`-\beta_k`; ``coef_`` is the sum of these rows so
        weighted, the score with a kernel the sum of its values at them.
    support_vectors_ : array of shape (n_support, n_features)
        With a kernel, unless precomputed: those rows.
    gamma_ : float
        With a kernel, unless precomputed: its :math:`\gamma`.
    primal_objective_, dual_objective_ : float
        The objective at the answer, as rounded to the dtype of ``coef_``, and the bound below which no answer
        is.
    dual_gap_ : float
        Their difference, relative to the first.
    n_iter_ : int
        Iterations run.
    converged_ : bool
        Whether the gap came down to ``tol``.
    classes_ : ndarray of shape (2,)
        The negative and the positive class.
    threshold_ : float
        The break-even point of the training scores: as many rows score above it as are positive.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had names that are all strings.

    Notes
    -----
    An interior point iteration costs O((I + J) d^2), J a few times the number of features d; a projected
    gradient iteration two readings of the data, and a semismooth Newton iteration some tens of readings of
    the rows that matter. Where the mean of the positives lies within the convex hull of the negatives,
    :math:`w = 0` is optimal: the fit then warns that the ranker says nothing, and what to do. Sample weights
    are those of the positives' losses, relative to their sum; a negative counts where its weight is not zero.
    Ties with the highest negative count as errors.

    References
    ----------
    Agarwal, SDM 2011, equations (3.4) and (3.9); Li, Jin and Zhou, NIPS 2014, equation (4).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = InfinitePush(C=100.0).fit(scale(X), y)
    >>> ranker.converged_, bool(y[ranker.rank(scale(X))[:300]].all())
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        kernel: Any = "linear",
        *,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        solver: Literal[
            "auto", "interior-point", "semismooth-newton", "projected-dual", "smo", "gradient-projection"
        ] = "auto",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_size: float = 1000.0,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.loss = loss
        self.solver = solver
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _optimise(self, model: Model, sample: Any, C: float, watcher: Watcher | None, state: Any) -> Solution:
        problem = WorstNegative(model, sample, shared_costs(sample, C), self.loss)
        tol, max_iter = float(self.tol), int(self.max_iter)
        if self.solver == OF_THE_PAPER:
            point, n_iter = self._by_pairs(problem, C, watcher)
        else:
            start = None if state is None else problem.nearby(state)
            solve = quickest if self.solver == "auto" else METHODS[str(self.solver)]
            point, n_iter = solve(problem, tol, max_iter, watcher, start)
        return Solution(point.coef, point.certificate, n_iter, point, sample.join(point.alpha, -point.beta))

    def _loss(self, sample: Sample, scores: Floats) -> float:
        return PushObjective(self.loss, Maximum(), scale="mean").linearise(sample, scores).value

    def _by_pairs(self, problem: WorstNegative, C: float, watcher: Watcher | None) -> tuple[DualPoint, int]:
        """Run the paper's algorithm."""
        sample: Any = problem.sample
        if sample.positive_weights is not None:
            raise ValueError("solver='gradient-projection' takes no sample_weight; use solver='auto'.")
        budget = C / len(sample.positives)

        def certify(pairs: Floats, coef: Floats, scores: Floats) -> Certificate:
            return problem.certificate(pairs.sum(axis=1), coef, scores)

        found, n_iter = gradient_projection(
            lambda pairs: within_budget(pairs, budget),
            certify,
            problem.model,
            sample,
            float(self.tol),
            int(self.max_iter),
            watcher,
        )
        return problem.at(found.variables.sum(axis=1), found.variables.sum(axis=0)), n_iter

    def _what_went_wrong(self, cost: float) -> str:
        # every loss is one at zero, so that the objective there is the cost
        if not Certificate(self.primal_objective_, self.dual_objective_).proves_collapse(cost, self.tol):
            return super()._what_went_wrong(cost)
        return (
            f"collapsed: zero coefficients are optimal to within tol (objective {cost:g} at zero, at least "
            f"{self.dual_objective_:g} anywhere): the positives' mean lies among the negatives, or C is too "
            "small to matter. Push less, by PNormPush, whose p can be chosen, or raise C."
        )

    def _pair_objective(self) -> PushObjective:
        return PushObjective(self.loss, "maximum", scale="mean")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {list(LOSSES)}, got {self.loss!r}.")
        check_solver(self.solver, ("auto", *METHODS, OF_THE_PAPER))
        if self.solver in (("smo",) if self._is_linear else ("interior-point", "semismooth-newton")):
            kinds = "kernels" if self._is_linear else "linear scores"
            raise ValueError(
                f"solver={self.solver!r} is for {kinds}, not kernel={self.kernel!r}; use solver='auto'."
            )
        if self.solver == OF_THE_PAPER and self.loss != "hinge":
            raise ValueError("solver='gradient-projection' is for loss='hinge'; use solver='auto'.")
