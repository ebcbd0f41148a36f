"""Rankers for precision at k.

Perceptrons for precision at k.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015.

Stochastic gradient descent on surrogates of precision at k.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015.

One pass of mini-batch gradient steps on the structural surrogate of precision at k.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Online and stochastic gradient methods for
non-decomposable loss functions*, NIPS 2014.

The ramp surrogate of precision at k, by the concave-convex procedure.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015, for the surrogate; Alan Yuille, Anand Rangarajan, *The concave-convex procedure*, Neural
Computation 15 (2003).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from pushrank._numeric import Floats
from pushrank._parallel import one_blas_thread
from pushrank._validation import check_k, check_number, is_count
from pushrank.estimators._base import (
    CoefficientRanker,
    finite_scores,
    linear_scores,
    progress_bar,
    warn,
    warn_of_light_weights,
)
from pushrank.estimators._certified import MAX_C
from pushrank.estimators._streaming import PassingRanker
from pushrank.estimators._target import training_data
from pushrank.models import LinearModel
from pushrank.objectives.precision_at_k import (
    AVG,
    MAX,
    PERCEPTRON_AVG,
    PERCEPTRON_MAX,
    RULES,
    STRUCT,
    PrecisionAtK,
    Surrogate,
    check_surrogate,
)
from pushrank.solvers.cutting_plane import Ramp, concave_convex
from pushrank.solvers.streaming.mistake_bound import mistake_bound
from pushrank.solvers.streaming.updates import Rows, Rule

VARIANTS = {
    "avg": (PERCEPTRON_AVG, AVG),
    "max": (PERCEPTRON_MAX, MAX),
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
        return Rule(STRUCT, float(self.k), counted, float(self.eta0), float(self.radius))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("eta0", self.eta0, above=0.0)
        check_number("radius", self.radius, above=0.0)


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
            with progress_bar(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as callback:
                runs = {
                    name: concave_convex(ramp, model, C, tol, most, scores, callback)
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
        check_number("C", self.C, above=0.0, most=MAX_C)
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
