"""Perceptrons for precision at k.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from pushrank._log_space import Floats
from pushrank.estimators._passes import PassingRanker
from pushrank.objectives import precision_kernels as kernels
from pushrank.objectives.precision_at_k import is_count
from pushrank.solvers.mistake_bound import mistake_bound
from pushrank.solvers.rows import Rows
from pushrank.solvers.stream import Rule

VARIANTS = {
    "avg": (kernels.PERCEPTRON_AVG, kernels.AVG),
    "max": (kernels.PERCEPTRON_MAX, kernels.MAX),
}
"""The update of each variant, and the surrogate in its mistake bound."""


class PerceptronAtK(PassingRanker):
    r"""Rank so that the first k are hits, by a perceptron on batches: Perceptron@k-avg and -max.

    For every batch the k highest rows are predicted positive. Where :math:`\Delta` of them are negatives,
    these are subtracted from the weights, and of the positives that were missed are added

    - ``"avg"``: all :math:`m - k + \Delta`, each times :math:`\Delta / (m - k + \Delta)`;
    - ``"max"``: the :math:`\Delta` highest.

    Parameters
    ----------
    k : int or float, default=0.25
        The rows of a batch to predict positive: a float in (0, 1] is the fraction of the batch's positives,
        rounded to a number between 1 and theirs; an int a number, at most theirs.
    variant : {"avg", "max"}, default="avg"
        Which missed positives are added.
    batch_size : int, default=500
        The rows of a batch, at least 1; the last of a pass may be shorter. Batches without a positive or
        without a negative are passed over.
    max_iter : int, default=50
        The most passes of ``fit``, at least 1; a pass without a mistake is the last.
    average : bool, default=True
        Whether ``coef_`` is the mean of the weights after every batch, or the last ones. The last ones it is
        in any case where a whole pass made no mistake: they have come to rest.
    shuffle : bool, default=True
        Whether ``fit`` draws a new order of the rows for every pass.
    early_stopping : bool, default=False
        Whether ``fit`` sets a part of the rows aside, keeps the weights after the pass with the best
        precision at k on it, and ends when it no longer rises.
    validation_fraction : float, default=0.1
        That part, in (0, 1).
    n_iter_no_change : int, default=5
        The passes without a rise that end ``fit`` where ``early_stopping``, at least 1.
    random_state : int, RandomState or None, default=None
        Of the orders and the validation part.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weight of each feature.
    n_mistakes_ : float
        The negatives among the first k of every batch, before it was learned from, summed over batches.
    mistakes_path_ : ndarray of shape (n_batches_,)
        The same, cumulated.
    mistake_rate_ : float
        The mean over batches of the share of negatives among the first k: an online estimate of 1 -
        precision at k.
    mistake_bound_ : float
        :math:`(\|w\| R \sqrt{4 k} + \sqrt{L(w)})^2`, which ``n_mistakes_`` cannot exceed, for the multiple
        w of ``coef_`` that gives about the least; R is the largest norm of a row, k the largest of a batch, L
        the sum of the surrogate avg or max over all batches. Set by ``fit``.
    weak_margin_, margin_, strong_margin_ : float
        How far, at unit norm of the weights, the k-th highest positive, the mean of the lowest positives but
        k - 1, and the lowest positive are above the highest negative of the training rows. Set by ``fit``.
    validation_path_ : ndarray of shape (n_iter_,)
        Precision at k on the validation part after each pass; only where ``early_stopping``. There a number
        of rows k, which is a batch's, is k times the number of batches that the part would fill.
    best_iter_ : int
        The pass whose weights were kept; only where ``early_stopping``.
    n_iter_ : int
        Passes made; 1 after ``partial_fit``.
    n_batches_ : int
        Batches seen.
    classes_ : ndarray of shape (2,)
        The labels, the positive one last.
    threshold_ : float
        The break-even point of the scores of a random sample of up to 10,000 rows, or of one batch where that
        is larger.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where ``X`` has them.

    Notes
    -----
    A pass reads the data once, and finds and sorts the k highest rows of either class in every batch. Over
    rows of 50 features in their order it takes two to three times as long as adding the data up where 5 % are
    positive, and four to six times where half are; with fewer features more, as sorting takes a larger part.
    ``fit`` draws an order for every pass, which takes longer where the data exceed the processor's
    cache, and goes through the scores once more for every pass, for ``mistake_bound_``. Memory beside X is a
    few numbers a row and 64 MiB at most (or one batch) for a sample of rows, from which ``threshold_`` comes;
    early stopping copies the data. Ties count against the learner, so that it moves away from zero weights.
    Scale the features: there is no intercept, which a ranking does not need.

    "avg" is the variant with the better bound. Where many positives cannot be ranked by a linear score,
    "max", which only pulls those up that are nearest to the top, often does much better.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, algorithms 1 and 2; theorems 7 and 9 for the bounds.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PerceptronAtK(random_state=0).fit(scale(X), y)
    >>> ranker.score(scale(X), y) > 0.95, ranker.n_mistakes_ <= ranker.mistake_bound_
    (True, True)
    """

    def __init__(
        self,
        k: float = 0.25,
        variant: Literal["avg", "max"] = "avg",
        *,
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
        self.variant = variant
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
        return Rule(VARIANTS[self.variant][0], float(self.k), is_count(self.k))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.variant, str) or self.variant not in VARIANTS:
            raise ValueError(f"variant must be one of {list(VARIANTS)}, got {self.variant!r}.")

    def _measure(self, rows: Rows, unit_scores: Floats, seed: int) -> None:
        super()._measure(rows, unit_scores, seed)
        surrogate, orders = VARIANTS[self.variant][1], partial(self._orders, rows.n_rows, seed)
        self.mistake_bound_ = mistake_bound(self._stream, surrogate, rows, unit_scores, orders, self.n_iter_)
