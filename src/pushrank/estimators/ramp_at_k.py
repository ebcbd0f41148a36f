"""The ramp surrogate of precision at k, by the concave-convex procedure.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015, for the surrogate; Alan Yuille, Anand Rangarajan, *The concave-convex procedure*, Neural
Computation 15 (2003).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from pushrank._checks import check_number
from pushrank._log_space import Floats
from pushrank._threads import one_blas_thread
from pushrank.estimators._base import CoefficientRanker, linear_scores
from pushrank.estimators._certified import MOST_C
from pushrank.estimators._light_weights import warn_of_light_weights
from pushrank.estimators._progress import watching
from pushrank.estimators._score_range import finite_scores
from pushrank.estimators._validation import training_data
from pushrank.estimators._warnings import warn
from pushrank.estimators.perceptron_at_k import PerceptronAtK
from pushrank.models import LinearModel
from pushrank.objectives.precision_at_k import PrecisionAtK, check_k
from pushrank.solvers.concave_convex import Ramp, concave_convex

STARTS = ("perceptron", "logistic")


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
        The weight of the surrogate against the norm, positive and at most 1e30.
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
        ramp = Ramp(positive, mass, k)
        C, tol, most = float(self.C), float(self.tol), int(self.max_iter)
        with one_blas_thread():
            model = LinearModel(X)
            model.check_range()
            with watching(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as watcher:
                runs = {
                    name: concave_convex(ramp, model, C, tol, most, scores, watcher)
                    for name, scores in self._starts(X, ramp)
                }
        self.init_ = min(runs, key=lambda name: runs[name].path[-1])
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
        check_number("C", self.C, above=0.0, most=MOST_C)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, 1, integer=True)
        if not isinstance(self.init, str) or self.init not in ("best", *STARTS):
            raise ValueError(f"init must be one of {['best', *STARTS]}, got {self.init!r}.")

    def _starts(self, X: Any, ramp: Ramp) -> Iterator[tuple[str, Floats]]:
        """Yield the starts by name, as scores of the training rows."""
        for name in STARTS if self.init == "best" else (self.init,):
            if name == "perceptron":
                start: Any = PerceptronAtK(self.k, "max", random_state=self.random_state)
            else:
                start = LogisticRegression(max_iter=100, tol=1e-2)
            with warnings.catch_warnings():
                # any direction will do to start from
                warnings.simplefilter("ignore", UserWarning)
                start.fit(X, ramp.positive, sample_weight=ramp.mass)
            yield name, linear_scores(X, np.ravel(start.coef_)).astype(np.float64)


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
