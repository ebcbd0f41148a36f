"""Any pair loss, with its price and penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from pushrank.estimators._push_cv import PushCV
from pushrank.estimators.push_ranker import PushRanker
from pushrank.losses import Loss
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Side
from pushrank.pairs import ACCURACY
from pushrank.prices import Power, Price


class PushRankerCV(PushCV):
    r"""A push ranker of any pair loss, with price and alpha chosen by cross-validation along a path.

    Minimises the objective of :class:`PushRanker`,

    .. math:: \sum_k g\Bigl(\sum_i \ell(f(x_i) - f(\tilde x_k))\Bigr)

    on its scale and with the penalty :math:`\frac{\alpha}{2} \|w\|^2`, for every price g and :math:`\alpha`
    of the grid, on the training rows of every fold, and again on all rows with those that scored best.

    Parameters
    ----------
    loss : Loss or str, default="exponential"
        The pair loss, or its name in :mod:`pushrank.losses`.
    prices : sequence of Price or str, default=("identity", Power(4), Power(16))
        The prices, from mild to strong, or their names in :mod:`pushrank.prices`. A start of each is the
        solution of the one before.
    alphas : sequence of float, default=(1e-4, 1e-3, 1e-2, 1e-1)
        The L2 strengths, each at least 0.
    side : {"push", "pull", "both"}, default="push"
        Push negatives down, pull positives up, or both.
    bottom_weight : float, default=1.0
        The positive weight of the pull when ``side="both"``.
    accuracy : float, default=1e-10
        As for :class:`PushRanker`.
    scoring : str or callable, default="positives_at_top"
        As for :class:`PNormPushCV`.
    cv : int, splitter or iterable, default=5
        The folds, stratified and in the order of the rows where it is a number.
    selection : {"best", "one_standard_error"}, default="best"
        As for :class:`PNormPushCV`; the first of `prices` counts as the simplest.
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
    price_ : Price or str
        The chosen price.
    alpha_, best_params_, best_score_, best_index_, cv_results_, n_splits_
        As for :class:`PNormPushCV`.
    n_iter_ : int
        Iterations of all solutions together.
    coef_, classes_, threshold_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`, of the fit to all rows.

    Notes
    -----
    As for :class:`PNormPushCV`; losses other than the exponential take L-BFGS iterations.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), equation (1) and section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushRankerCV("logistic", prices=("identity", "log_one_plus"), alphas=(0.01, 0.1), cv=3)
    >>> ranker.fit(scale(X), y).n_splits_
    3
    """

    _push = "price"

    def __init__(
        self,
        loss: Loss | str = "exponential",
        prices: Sequence[Price | str] = ("identity", Power(4.0), Power(16.0)),
        *,
        alphas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1),
        side: Side = "push",
        bottom_weight: float = 1.0,
        accuracy: float = ACCURACY,
        scoring: str | Callable[..., float] = "positives_at_top",
        cv: Any = 5,
        selection: Literal["best", "one_standard_error"] = "best",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.prices = prices
        self.alphas = alphas
        self.side = side
        self.bottom_weight = bottom_weight
        self.accuracy = accuracy
        self.scoring = scoring
        self.cv = cv
        self.selection = selection
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _pushes(self) -> list[Price | str]:
        given: Any = self.prices
        if np.ndim(given) != 1 or len(given) == 0:
            raise ValueError(f"prices must be a list of at least one price, got {self.prices!r}.")
        return list(given)

    def _objective_of(self, push: Price | str) -> PushObjective:
        ranker = PushRanker(
            self.loss, push, side=self.side, bottom_weight=self.bottom_weight, accuracy=self.accuracy
        )
        objective = ranker._objective()
        if not objective.differentiable:
            raise ValueError(
                f"loss={objective.loss} with price={objective.price} is not differentiable, which the path "
                "needs. Use SquaredHinge or Logistic in place of a loss with a kink, and Power(p) with a "
                "large p, such as 1000, in place of Maximum."
            )
        return objective
