"""Stochastic gradient descent on surrogates of precision at k.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pushrank._checks import check_number
from pushrank.estimators._passes import PassingRanker
from pushrank.objectives.precision_at_k import RULES, Surrogate, check_surrogate, is_count
from pushrank.solvers.stream import Rule


class SGDAtK(PassingRanker):
    r"""Rank so that the first k are hits, by gradient steps on batches: SGD@k-avg and -max.

    For the t-th batch, with a surrogate L of the negatives among its first k,

    .. math:: w \leftarrow \Pi\Bigl[w - \frac{\eta_0}{\sqrt t} \frac{1}{k_t} \partial L(w)\Bigr]

    where :math:`\Pi` is the projection onto the ball of the given radius.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PerceptronAtK`.
    surrogate : {"avg", "max", "ramp", "struct"}, default="avg"
        The L, see :class:`pushrank.objectives.PrecisionAtK`. ramp is the tightest bound and not convex,
        struct no bound.
    radius : float or None, default=None
        The largest norm of the weights, positive; None for any. struct needs one: where k is below the number
        of positives it has no minimum.
    eta0 : float, default=1.0
        The first step, positive.
    batch_size : int, default=500
        As for :class:`PerceptronAtK`.
    max_iter : int, default=50
        The passes of ``fit``, at least 1.
    average : bool, default=True
        As for :class:`PerceptronAtK`.
    shuffle : bool, default=True
        As for :class:`PerceptronAtK`.
    early_stopping : bool, default=False
        As for :class:`PerceptronAtK`.
    validation_fraction : float, default=0.1
        As for :class:`PerceptronAtK`.
    n_iter_no_change : int, default=5
        As for :class:`PerceptronAtK`.
    random_state : int, RandomState or None, default=None
        Of the orders and the validation part.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, n_mistakes_, mistakes_path_, mistake_rate_, weak_margin_, margin_, strong_margin_
        As for :class:`PerceptronAtK`.
    validation_path_, best_iter_, n_iter_, n_batches_, classes_, threshold_
        As for :class:`PerceptronAtK`.
    n_features_in_, feature_names_in_
        As for :class:`PerceptronAtK`.

    Notes
    -----
    Cost and ties are those of :class:`PerceptronAtK`. Where most of the highest negatives cannot be told from
    positives by a linear score, the convex surrogates are least at zero weights; ramp is not, and is then
    much better.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, algorithms 3 and 4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SGDAtK(random_state=0).fit(scale(X), y).score(scale(X), y) > 0.95
    True
    """

    def __init__(
        self,
        k: float = 0.25,
        surrogate: Surrogate = "avg",
        *,
        radius: float | None = None,
        eta0: float = 1.0,
        batch_size: int = 500,
        max_iter: int = 50,
        average: bool = True,
        shuffle: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.surrogate = surrogate
        self.radius = radius
        self.eta0 = eta0
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.average = average
        self.shuffle = shuffle
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> Rule:
        radius = np.inf if self.radius is None else float(self.radius)
        code = RULES[self.surrogate]
        return Rule(code, float(self.k), is_count(self.k), float(self.eta0), radius)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_surrogate(self.surrogate)
        check_number("eta0", self.eta0, above=0.0)
        if self.radius is not None:
            check_number("radius", self.radius, above=0.0)
        elif self.surrogate == "struct":
            raise ValueError("surrogate='struct' has no minimum without a bound on the weights: set radius.")
