"""One pass of mini-batch gradient steps on the structural surrogate of precision at k.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Online and stochastic gradient methods for
non-decomposable loss functions*, NIPS 2014.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pushrank._checks import check_number
from pushrank.estimators._passes import PassingRanker
from pushrank.objectives import precision_kernels as kernels
from pushrank.objectives.precision_at_k import is_count
from pushrank.solvers.stream import Rule


class OnePassMiniBatchAtK(PassingRanker):
    r"""Rank so that the first k are hits, by one pass of structural SVM steps: 1PMB.

    For the t-th batch, with the structural surrogate L of precision at k,

    .. math:: w \leftarrow \Pi\Bigl[w - \frac{\eta_0}{\sqrt t} \frac{1}{k_t} \partial L(w)\Bigr]

    where :math:`\Pi` is the projection onto the ball of the given radius; the mean of all w is learned.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PerceptronAtK`.
    radius : float, default=10.0
        The largest norm of the weights, positive.
    eta0 : float, default=1.0
        The first step, positive.
    batch_size : int, default=500
        As for :class:`PerceptronAtK`.
    average : bool, default=True
        As for :class:`PerceptronAtK`.
    shuffle : bool, default=True
        Whether ``fit`` draws an order of the rows.
    random_state : int, RandomState or None, default=None
        Of that order.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_, n_mistakes_, mistakes_path_, mistake_rate_, weak_margin_, margin_, strong_margin_
        As for :class:`PerceptronAtK`.
    n_iter_, n_batches_, classes_, threshold_, n_features_in_, feature_names_in_
        As for :class:`PerceptronAtK`.

    Notes
    -----
    Cost and ties are those of :class:`PerceptronAtK`. The surrogate is no bound of what it stands for; this
    is a baseline to compare :class:`SGDAtK` with.

    References
    ----------
    Kar, Narasimhan and Jain, NIPS 2014, algorithm 1PMB; ICML 2015, section 5, where it is a baseline.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> OnePassMiniBatchAtK(batch_size=100, random_state=0).fit(scale(X), y).score(scale(X), y) > 0.95
    True
    """

    # one pass leaves nothing to choose
    max_iter: ClassVar[int] = 1
    early_stopping: ClassVar[bool] = False
    validation_fraction: ClassVar[float] = 0.1
    n_iter_no_change: ClassVar[int] = 1

    def __init__(
        self,
        k: float = 0.25,
        *,
        radius: float = 10.0,
        eta0: float = 1.0,
        batch_size: int = 500,
        average: bool = True,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.radius = radius
        self.eta0 = eta0
        self.batch_size = batch_size
        self.average = average
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> Rule:
        counted = is_count(self.k)
        return Rule(kernels.STRUCT, float(self.k), counted, float(self.eta0), float(self.radius))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("eta0", self.eta0, above=0.0)
        check_number("radius", self.radius, above=0.0)
