"""The ramp surrogate of precision at k, by the concave-convex procedure.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015, for the surrogate; Alan Yuille, Anand Rangarajan, *The concave-convex procedure*, Neural
Computation 15 (2003).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from pushrank._checks import check_number
from pushrank._log_space import Floats
from pushrank._threads import one_blas_thread
from pushrank.estimators._base import CoefficientRanker, linear_scores
from pushrank.estimators._light_weights import warn_of_light_weights
from pushrank.estimators._progress import watching
from pushrank.estimators._score_range import finite_scores
from pushrank.estimators._validation import training_data
from pushrank.estimators._warnings import warn
from pushrank.estimators.perceptron_at_k import PerceptronAtK
from pushrank.models import LinearModel
from pushrank.objectives import precision_kernels as kernels
from pushrank.objectives.precision_at_k import PrecisionAtK, check_k
from pushrank.solvers import Watcher
from pushrank.solvers.cutting_plane import cutting_plane

STARTS = ("perceptron", "logistic")
MOST_PLANES = 1000
"""Of a convex problem; one that needs more has so large a C, or features, that the norm hardly counts."""


class _Problem(NamedTuple):
    """The loss of scores: classes, masses and k as a number of rows."""

    positive: NDArray[np.bool_]
    mass: Floats
    k: float

    def ramp(self, scores: Floats) -> float:
        """Return the ramp over k."""
        value, _ = kernels.slopes(
            kernels.RAMP, scores, self.positive, self.mass, self.k, np.empty(len(scores))
        )
        return float(value) / self.k

    def held(self, scores: Floats) -> Floats:
        """Return the positives among whom the k highest are, as masses of rows."""
        held: Floats = kernels.held_at_top(scores, self.positive, self.mass, self.k)
        return held

    def above(self, held: Floats, scores: Floats) -> tuple[float, Floats]:
        """Return a convex function that is never below the ramp over k, and meets it where they are held."""
        slope = np.empty(len(scores))
        value = kernels.slopes_against(held, scores, self.positive, self.mass, self.k, slope)
        return float(value) / self.k, slope / self.k


class RampAtK(CoefficientRanker):
    r"""Rank so that the first k are hits by the tightest surrogate, which is not convex.

    Descends, over linear scores :math:`s = X w`, on

    .. math:: \frac12 \|w\|^2 + \frac{C}{k} \, \mathrm{ramp}_k(s)

    with the surrogate ramp of :class:`pushrank.objectives.PrecisionAtK`: only the k highest positives need to
    stand above the negatives, so that positives no linear score can find do not spoil it.

    Parameters
    ----------
    k : int or float, default=0.25
        An int is a number of rows, at most that of the positives; a float in (0, 1] the fraction of the
        positives, rounded to a number between 1 and theirs.
    C : float, default=10.0
        The weight of the surrogate against the norm, positive.
    init : {"best", "perceptron", "logistic"}, default="best"
        Where to start from: the averaged Perceptron@k-max, logistic regression, or both, keeping the lower
        objective.
    tol : float, default=1e-2
        Ends when the objective falls by less than this share of itself, which is also the relative gap to
        which convex problems are solved.
    max_iter : int, default=50
        The most convex problems from a start, at least 1.
    random_state : int, RandomState or None, default=None
        Of the perceptron's order of rows.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weight of each feature.
    init_ : str
        The start whose end was kept.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The objective at zero weights, and after each convex problem; it never rises.
    n_iter_ : int
        The convex problems solved.
    converged_ : bool
        Whether ``tol`` was reached.
    classes_ : ndarray of shape (2,)
        The labels, the positive one last.
    threshold_ : float
        The break-even point of the training scores.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where ``X`` has them.

    Notes
    -----
    A few convex problems, each solved by cutting planes that go on from those of the one before; the end is a
    local minimum, which depends on the start. Ties count against the learner. A row of weight w counts as w
    copies.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, equation (5) for the ramp.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = RampAtK(k=0.5, random_state=0).fit(scale(X), y)
    >>> ranker.converged_, ranker.score(scale(X), y) > 0.95
    (True, True)
    """

    def __init__(
        self,
        k: float = 0.25,
        *,
        C: float = 10.0,
        init: Literal["best", "perceptron", "logistic"] = "best",
        tol: float = 1e-2,
        max_iter: int = 50,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.C = C
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn a ranking from examples of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite features.
        y : array-like of shape (n_samples,)
            Labels of two classes; the larger in sorted order is the positive one, to be ranked at the top.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; an integer weight equals that many copies of the row.

        Returns
        -------
        self
            The fitted ranker.

        Raises
        ------
        ValueError
            When a parameter is out of range, the data are not finite, or ``y`` has not two classes.
        TypeError
            When a parameter has the wrong type.

        Warns
        -----
        UserWarning
            When the mean weight is below a tenth.
        ConvergenceWarning
            When ``max_iter`` was reached first, or a convex problem needs too many cutting planes because C
            or the features are very large; or when no coefficients better than zero were found.
        """
        self._check_parameters()
        X, target = training_data(self, X, y, sample_weight)
        positive = np.asarray(target.codes, dtype=bool)
        mass = np.ones(len(positive)) if target.weights is None else target.weights
        check_total(mass)
        warn_of_light_weights(self, mass)
        k = PrecisionAtK(self.k).count(float(mass[positive].sum()))
        problem = _Problem(positive, mass, k)
        with one_blas_thread():
            model = LinearModel(X)
            model.check_range()
            with watching(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as watcher:
                runs = {
                    name: self._descend(problem, model, scores, watcher)
                    for name, scores in self._starts(X, problem)
                }
        self.init_ = min(runs, key=lambda name: runs[name][1][-1])
        coef, path, self.converged_ = runs[self.init_]
        self.objective_path_ = np.array(path)
        self.n_iter_ = len(path) - 1
        with np.errstate(over="ignore"):
            self.coef_ = coef.astype(X.dtype)
        self._keep_classes(target, finite_scores(X, self.coef_))
        if not self.coef_.any():
            warn(
                f"RampAtK found nothing better than zero coefficients (objective {path[0]:g}), which rank "
                "all rows alike: raise C, take another k, or add features.",
                ConvergenceWarning,
            )
        elif not self.converged_:
            warn(
                f"RampAtK did not converge in {self.n_iter_} convex problems; raise max_iter or tol, "
                "lower C, or scale the features.",
                ConvergenceWarning,
            )
        return self

    def _check_parameters(self) -> None:
        check_k(self.k)
        check_number("C", self.C, above=0.0)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, 1, integer=True)
        if not isinstance(self.init, str) or self.init not in ("best", *STARTS):
            raise ValueError(f"init must be one of {['best', *STARTS]}, got {self.init!r}.")

    def _starts(self, X: Any, problem: _Problem) -> Iterator[tuple[str, Floats]]:
        """Yield the starts by name, as scores of the training rows."""
        for name in STARTS if self.init == "best" else (self.init,):
            if name == "perceptron":
                start: Any = PerceptronAtK(self.k, "max", random_state=self.random_state)
            else:
                start = LogisticRegression(max_iter=100, tol=1e-2)
            with warnings.catch_warnings():
                # any direction will do to start from
                warnings.simplefilter("ignore", UserWarning)
                start.fit(X, problem.positive, sample_weight=problem.mass)
            yield name, linear_scores(X, np.ravel(start.coef_)).astype(np.float64)

    def _descend(
        self, problem: _Problem, model: LinearModel, scores: Floats, watcher: Watcher | None
    ) -> tuple[Floats, list[float], bool]:
        """Return the coefficients, the objective's path and whether it came to rest."""
        C, tol = float(self.C), float(self.tol)
        coef, path = np.zeros(model.n_features), [C * problem.ramp(np.zeros(len(scores)))]
        held, planes = problem.held(scores), None
        for iteration in range(1, int(self.max_iter) + 1):
            found = cutting_plane(partial(problem.above, held), model, C, tol, MOST_PLANES, start=planes)
            candidate = model.scores(found.coef)
            objective = 0.5 * model.squared_norm(found.coef, candidate) + C * problem.ramp(candidate)
            solved = found.n_iter < MOST_PLANES or found.certificate.gap <= tol
            if objective >= path[-1]:
                return coef, path, solved
            falls = path[-1] - objective
            if watcher is not None:
                watcher(iteration, objective=objective, fall=falls)
            coef, before, held = found.coef, held, problem.held(candidate)
            planes = found.planes.tilted(model.pull_back((before - held) / problem.k))
            path.append(objective)
            if not solved:
                return coef, path, False
            if falls <= tol * objective and iteration > 1:
                return coef, path, True
        return coef, path, False


def check_total(mass: Floats) -> None:
    """Raise where weights add up beyond the range of floats.

    Raises
    ------
    ValueError
        When their sum is infinite.
    """
    with np.errstate(over="ignore"):
        total = mass.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight adds up beyond the range of floats (the largest is {mass.max():g}); divide it by "
            "a constant."
        )
