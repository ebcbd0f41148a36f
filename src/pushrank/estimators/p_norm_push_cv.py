"""The P-Norm Push with its push and penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from pushrank._checks import check_number
from pushrank.estimators._push_cv import PushCV
from pushrank.objectives import PushObjective
from pushrank.prices import Power


class PNormPushCV(PushCV):
    r"""The P-Norm Push, with p and alpha chosen by cross-validation along a path.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2

    for every p and :math:`\alpha` of the grid, on the training rows of every fold, and again on all rows with
    those that scored best.

    Parameters
    ----------
    ps : sequence of float, default=(1, 2, 4, 8, 16, 64)
        The strengths of the push, each at least 1.
    alphas : sequence of float, default=(1e-4, 1e-3, 1e-2, 1e-1)
        The L2 strengths, each at least 0.
    scoring : str or callable, default="positives_at_top"
        The name of a scorer in :mod:`pushrank.metrics.scorers` or of scikit-learn's, or a scorer. A measure
        of few rows, such as the default, moves by chance, which ``selection="one_standard_error"`` allows
        for.
    cv : int, splitter or iterable, default=5
        The folds, stratified and in the order of the rows where it is a number.
    selection : {"best", "one_standard_error"}, default="best"
        Take the best mean score, the first of equals in the order of `alphas` and then `ps`; or the largest
        alpha, and with it the first of `ps`, whose mean is within one standard error of the best.
    tol : float, default=1e-4
        As for :class:`PNormPush`.
    max_iter : int, default=1000
        The most iterations of a solution.
    n_jobs : int or None, default=None
        How many folds to solve at a time, in threads, each with its rows copied; None is one, or what
        ``joblib.parallel_config`` says, and -1 all processors. It changes no result.
    verbose : bool, default=False
        Show a progress bar, of the solutions in the folds.

    Attributes
    ----------
    p_ : float
        The chosen strength of the push.
    alpha_ : float
        The chosen L2 strength.
    best_params_ : dict
        Both, by name.
    best_score_ : float
        Their mean score over the folds. It is optimistic, as the best of many: for a figure to report, put
        the whole estimator in ``cross_val_score``.
    best_index_ : int
        Their place in ``cv_results_``.
    cv_results_ : dict of str to array
        As of scikit-learn's ``GridSearchCV``, with ``mean_n_iter`` in place of times: a solution
        starts from its neighbours', so that what it took by the clock is not its own.
    n_splits_ : int
        The number of folds.
    n_iter_ : int
        Iterations of all solutions together.
    coef_, classes_, threshold_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`, of the fit to all rows.

    Notes
    -----
    A solution starts from its neighbours on the grid, and with up to 1,024 features takes a few Newton steps,
    each O(n_samples * n_features^2); one with more features takes L-BFGS iterations of O(nnz). A fold's rows
    are copied, of `n_jobs` folds at a time.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), equation (5); Friedman, Hastie and Tibshirani, *Regularization
    paths for generalized linear models via coordinate descent*, J. Stat. Software 33 (2010), for warm starts.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PNormPushCV(ps=(1, 4), alphas=(0.01, 0.1), scoring="average_precision").fit(scale(X), y)
    >>> ranker.best_params_
    {'alpha': 0.1, 'p': 1.0}
    """

    _push = "p"

    def __init__(
        self,
        ps: Sequence[float] = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0),
        alphas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1),
        *,
        scoring: str | Callable[..., float] = "positives_at_top",
        cv: Any = 5,
        selection: Literal["best", "one_standard_error"] = "best",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.ps = ps
        self.alphas = alphas
        self.scoring = scoring
        self.cv = cv
        self.selection = selection
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _pushes(self) -> list[float]:
        ps: Any = self.ps
        if np.ndim(ps) != 1 or len(ps) == 0:
            raise ValueError(f"ps must be a list of at least one number, got {ps!r}.")
        for p in ps:
            check_number("ps", p, 1.0)
        return [float(p) for p in ps]

    def _objective_of(self, push: float) -> PushObjective:
        return PushObjective(price=Power(push), scale="log")
