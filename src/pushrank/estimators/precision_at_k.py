"""Rankers for precision at k from streams of batches: Perceptron@k, SGD@k and 1PMB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats, in_dtype
from pushrank._base.user_types import MatrixLike, PerRow, Seed
from pushrank._base.validation import check_choice, check_number, group_numbers, is_count
from pushrank.estimators import _streaming
from pushrank.estimators._base import BaseEstimator, RankerMixin, progress_bar, set_features
from pushrank.estimators._scoring import parts
from pushrank.estimators._target import validate_two_classes
from pushrank.objectives.precision_at_k import SURROGATES, Surrogate
from pushrank.solvers.streaming.learner import StreamLearner
from pushrank.solvers.streaming.mistake_bound import mistake_bound
from pushrank.solvers.streaming.updates import PERCEPTRON_AVG, PERCEPTRON_MAX, StreamState, UpdateRule

VARIANTS = {"avg": PERCEPTRON_AVG, "max": PERCEPTRON_MAX}


@shared_docs
@dataclass(eq=False, repr=False)
class StreamRankerMixin(RankerMixin):
    """Learning by an update rule on batches: from all data, from chunks, or from a stream of chunks."""

    # An estimator has `_update_rule`, which checks all parameters and returns the rule. A fit that fails or
    # is interrupted does not change the ranker: data are checked with a copy, and attributes are set last.

    _weights_are_copies = True
    k: float = 0.25
    _: KW_ONLY
    batch_size: int = 500
    max_iter: int = 50
    average: bool = True
    shuffle: bool = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    random_state: Seed = None
    verbose: bool = False

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: PerRow = None,
        *,
        qid: PerRow = None,
        time: PerRow = None,
    ) -> Self:
        """Learn from examples of two classes, in ``max_iter`` passes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite features; float32 and float64 arrays, dense by rows or CSR, are used without a copy.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights: within its batch a row of weight w counts as w copies.
        qid : array-like of shape (n_samples,), optional
            Query groups: a label for each row, in any order. Each query is then a batch, whatever
            ``batch_size``; those of one class are passed over.
        time : array-like of shape (n_samples,), optional
            %(time_stopping)s

        %(fitted_or_raises)s

        Warns
        -----
        UserWarning
            When most batches lack a class, or the mean weight is below a tenth.
        """
        rule, checked = self._update_rule(), copy(self)
        X, target = validate_two_classes(checked, X, y, sample_weight)
        if qid is not None:
            target = replace(target, groups=group_numbers(qid, X.shape[0]))
        rows, valid = _streaming.training_rows(X, target), None
        random_state = check_random_state(self.random_state)
        if self.early_stopping:
            part = partial(_streaming.part_of_rows, rows)
            rows, valid = parts(target.at(time), float(self.validation_fraction), random_state, part)
        seed = random_state.randint(np.iinfo(np.int32).max)
        orders = partial(_streaming.epoch_orders, rows.n_rows, seed, self.shuffle, groups=rows.groups)
        learner = StreamLearner(rule, StreamState.zero(X.shape[1]))
        with progress_bar(self, self.max_iter) as callback:
            epochs = _streaming.run_epochs(self, learner, rows, valid, orders(int(self.max_iter)), callback)
        coef = in_dtype(epochs.coef, X.dtype)
        scores = _streaming.unit_scores(rows, coef)
        measured = _streaming.least_margins(scores, rows, self.k)
        bound = mistake_bound(learner, rows, scores, orders, epochs.n_iter) if rule.is_perceptron else None
        self._set_learned(checked, learner, np.asarray(target.classes), coef, epochs.n_iter)
        self.validation_path_, self.best_iter_ = epochs.validation_path, epochs.best_iter
        self.weak_margin_, self.margin_, self.strong_margin_ = measured
        if rule.is_perceptron:
            self.mistake_bound_ = bound
        _streaming.warn_of_skipped_batches(self, learner, grouped=qid is not None)
        return self

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: PerRow = None, sample_weight: PerRow = None
    ) -> Self:
        """Learn from the next rows of a stream.

        The ranker does not depend on how rows are cut into calls: it is that of one pass of ``fit`` over all
        of them in the same order. For ``threshold_`` it keeps up to 10,000 of the rows, of 64 MiB at most (or
        one batch, if that is larger), and saves them with the model. After ``fit``, which keeps no rows, it
        continues from the last pass, and ``threshold_`` does not change until as many new rows have come as
        it was computed from.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their labels; one class alone will do.
        classes : array-like of shape (2,), optional
            The two classes; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            As for ``fit``.

        Returns
        -------
        self
            The ranker, as if the stream ended here.

        Raises
        ------
        ValueError
            When a parameter is out of range, the classes are missing or not those of earlier calls, or (a
            ``StreamError``, which names the row) a value, a label or a weight is not valid; then nothing has
            changed.
        TypeError
            When a parameter has the wrong type.
        """
        rule = self._update_rule()
        learner: StreamLearner | None = getattr(self, "_learner", None)
        if learner is None and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        learned: Any = getattr(self, "classes_", None)
        both = learned if classes is None else _streaming.check_classes(classes, type(self).__name__)
        if learner is not None and not np.array_equal(both, learned):
            raise ValueError(f"classes={both!r} is not the same as on last call, {learned!r}.")
        if learner is not None and learner.rule != rule:
            raise ValueError(
                "parameters have changed in the middle of a stream: set them back, or take clone(ranker)."
            )
        # Only the first chunk sets the names of the features.
        checked = copy(self) if learner is None else self
        learner, dtype = _streaming.learn_chunk(checked, learner, rule, both, X, y, sample_weight)
        set_features(self, checked)
        self._learner, self.classes_, self.n_iter_ = learner, both, 1
        self.coef_ = in_dtype(_streaming.learned_coef(self, learner), dtype)
        if learner.n_rows_sampled_from >= getattr(self, "_n_threshold_rows", 0):
            # The threshold of the new sample is computed when it is read.
            self._threshold: float | None = None
            self._n_threshold_rows = 0
        self._clear_measures()
        return self

    def fit_stream(self, stream: Iterable[Sequence[MatrixLike]], classes: ArrayLike) -> Self:
        """Learn from chunks of rows that need not fit in memory together.

        Parameters
        ----------
        stream : iterable of (X, y) or (X, y, sample_weight)
            Chunks of any size, also empty. An iterator is read once, and what can be iterated again
            ``max_iter`` times. Nothing is shuffled.
        classes : array-like of shape (2,)
            The two classes, as a chunk may lack one.

        %(fitted_or_value_error)s
            As for ``partial_fit``, and when the stream is empty or cannot be validated on. The ranker is then
            unchanged, also if the stream itself fails.
        TypeError
            When a parameter has the wrong type, or the stream gives something other than such chunks.

        Warns
        -----
        UserWarning
            When most batches lack a class.
        """
        rule, checked = self._update_rule(), copy(self)
        if self.early_stopping:
            raise ValueError("early_stopping needs the data at hand: use fit, or early_stopping=False.")
        _streaming.check_iterable(stream)
        both = _streaming.check_classes(classes, type(self).__name__)
        learner: Any = None
        n_epochs = 1 if isinstance(stream, Iterator) else int(self.max_iter)
        with progress_bar(self, n_epochs) as callback:
            for n_iter in range(1, n_epochs + 1):
                before = 0.0 if learner is None else learner.n_mistakes
                for number, chunk in enumerate(stream):
                    X, y, *weights = _streaming.check_chunk(chunk, number)
                    if np.shape(X)[:1] != (0,):
                        learner, dtype = _streaming.learn_chunk(checked, learner, rule, both, X, y, *weights)
                if learner is None:
                    raise ValueError("the stream is empty: it gave no rows to learn from.")
                learner.end_epoch()
                n_mistakes = learner.n_mistakes - before
                if callback is not None:
                    callback(n_iter, mistakes_in_pass=n_mistakes, mistake_rate=learner.mistake_rate)
                if n_mistakes == 0.0 and rule.is_perceptron:
                    learner.use_last_as_mean()
                    break
        coef = in_dtype(_streaming.learned_coef(self, learner), dtype)
        self._set_learned(checked, learner, both, coef, n_iter)
        _streaming.warn_of_skipped_batches(self, learner)
        return self

    @property
    def n_mistakes_(self) -> float:
        """The number of negatives among the first k of every batch before it was learned from."""
        return self._fitted_learner.n_mistakes

    @property
    def mistake_rate_(self) -> float:
        """The mean share of k of these mistakes: the online-to-batch estimate of 1 - precision at k."""
        return self._fitted_learner.mistake_rate

    @property
    def mistakes_path_(self) -> Floats:
        """The number of mistakes up to each batch, shape (n_batches,)."""
        return np.cumsum(self._fitted_learner.mistakes_path)

    @property
    def n_batches_(self) -> int:
        """The number of batches in all passes."""
        return len(self._fitted_learner.mistakes_path)

    @property
    def threshold_(self) -> float:
        """The break-even point of the scores of a sample of the rows."""
        learner = self._fitted_learner
        if self._threshold is None:
            self._threshold = _streaming.break_even(learner.current_sample.rows, self.coef_)
        return self._threshold

    @property
    def _fitted_learner(self) -> StreamLearner:
        if not hasattr(self, "_learner"):
            raise AttributeError(f"this {type(self).__name__} has not learned from a batch yet.")
        return self._learner

    def _set_learned(
        self, checked: RankerMixin, learner: StreamLearner, classes: Any, coef: Any, n_iter: int
    ) -> None:
        """Set the attributes after a fit, with the threshold of the sample, which is dropped."""
        sample = learner.current_sample.rows
        threshold = _streaming.break_even(sample, coef)
        learner.forget_sample()
        set_features(self, checked)
        self._learner, self.classes_, self.coef_, self.n_iter_ = learner, classes, coef, n_iter
        self._threshold, self._n_threshold_rows = threshold, sample.n_rows
        self._clear_measures()

    def _clear_measures(self) -> None:
        """Set to None the attributes that only ``fit`` computes, from all data."""
        measures = ["weak_margin_", "margin_", "strong_margin_", "validation_path_", "best_iter_"]
        if self._learner.rule.is_perceptron:
            measures.append("mistake_bound_")
        for name in measures:
            setattr(self, name, None)


@shared_docs
@dataclass(eq=False, repr=False)
class PerceptronAtK(StreamRankerMixin, BaseEstimator):
    r"""Rank so that the first k are hits, by a perceptron on batches: Perceptron@k-avg and -max.

    In every batch the k highest rows are predicted positive. If :math:`\Delta` of them are negatives, these
    are subtracted from the coefficients, and missed positives are added:

    - ``"avg"``: all :math:`m - k + \Delta`, each times :math:`\Delta / (m - k + \Delta)`;
    - ``"max"``: the :math:`\Delta` highest.

    A pass reads the data once, and finds and sorts the k highest rows of either class in every batch. Memory
    besides X is a few numbers a row, and at most 64 MiB (or one batch) for a sample of rows, which gives
    ``threshold_``; early stopping copies the data. Ties count as mistakes, so that learning can start from
    zero coefficients. Scale the features: there is no intercept, which a ranking does not need.

    "avg" is the variant with the better bound, but "max", which adds only the positives nearest to the top,
    ranks better there, and worse further down the list: :doc:`/papers/kar_2015` has both on six sets, and how
    rows of several labels are ranked.

    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015, algorithms
    1 and 2; theorems 7 and 9 for the bounds.

    Parameters
    ----------
    k : int or float
    batch_size : int
    max_iter : int, default=50
        The largest number of passes of ``fit``, at least 1; a pass without a mistake is the last.
    average : bool
        %(average)s
        If a full pass makes no mistake the last coefficients are used in any case. The paper's algorithm 1
        returns the last ones, which rank worse if classes overlap (``experiments/kar_2015``).
    %(batch_parameters)s
    variant : {"avg", "max"}, default="max"
        Which missed positives are added.

    Attributes
    ----------
    %(coef_ mistakes_)s
    mistake_bound_ : float or None
        :math:`(\|w\| R \sqrt{4 k} + \sqrt{L(w)})^2`, which ``n_mistakes_`` cannot exceed, for about the best
        multiple w of ``coef_``. R is the largest norm of a row, k the largest of a batch, and L the sum of
        the surrogate avg or max over all batches. None after ``partial_fit`` and ``fit_stream``.
    %(margins_ epochs_ classes_ threshold_of_sample_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = PerceptronAtK(random_state=0).fit(scale(X), y)
    >>> ranker.score(scale(X), y) > 0.95, ranker.n_mistakes_ <= ranker.mistake_bound_
    (True, True)
    """

    _: KW_ONLY
    variant: Literal["avg", "max"] = "max"

    def _update_rule(self) -> UpdateRule:
        _streaming.check_batch_parameters(self)
        check_choice("variant", self.variant, VARIANTS)
        return UpdateRule(VARIANTS[self.variant], float(self.k), is_count(self.k), int(self.batch_size))


@shared_docs
@dataclass(eq=False, repr=False)
class SGDAtK(StreamRankerMixin, BaseEstimator):
    r"""Rank so that the first k are hits, by gradient steps on batches: SGD@k-avg and -max, and 1PMB.

    For the t-th batch of both classes, in all passes, with a surrogate L of the negatives among its first k,

    .. math:: w \leftarrow \Pi\Bigl[w - \frac{\eta_0}{\sqrt t} \frac{1}{k_t} \partial L(w)\Bigr]

    where :math:`\Pi` is the projection onto a ball.

    Cost and ties are those of :class:`PerceptronAtK`. If no linear score separates most of the highest
    negatives from positives, the convex surrogates have their minimum at zero coefficients; ramp has not
    (:doc:`/papers/kar_2015` has six sets).

    1PMB, the one-pass mini-batch method of the NIPS paper and the baseline of the ICML one, is
    ``SGDAtK(surrogate="struct", radius=10, max_iter=1)``.

    Kar, Narasimhan and Jain, ICML 2015, algorithms 3 and 4; *Online and stochastic gradient methods for
    non-decomposable loss functions*, NIPS 2014, algorithm 1PMB.

    Parameters
    ----------
    k : int or float
    batch_size : int
    max_iter : int, default=50
        The number of passes of ``fit``, at least 1.
    average : bool
    %(batch_parameters)s
    surrogate : {"avg", "max", "ramp", "struct"}, default="ramp"
        The L, see :class:`pushrank.objectives.PrecisionAtK`. ramp is the tightest bound and not convex,
        struct is no bound.
    radius : float or None, default=None
        The radius of the ball, positive; None for no bound. struct needs one, as it has no minimum if k is
        below the number of positives.
    eta0 : float, default=1.0
        The :math:`\eta_0` of the steps above, positive.

    Attributes
    ----------
    %(coef_ mistakes_ margins_ epochs_ classes_ threshold_of_sample_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> SGDAtK(random_state=0).fit(scale(X), y).score(scale(X), y) > 0.95
    True
    >>> one_pass = SGDAtK(surrogate="struct", radius=10, max_iter=1, batch_size=100, random_state=0)
    >>> one_pass.fit(scale(X), y).score(scale(X), y) > 0.95
    True
    """

    _: KW_ONLY
    surrogate: Surrogate = "ramp"
    radius: float | None = None
    eta0: float = 1.0

    def _update_rule(self) -> UpdateRule:
        _streaming.check_batch_parameters(self)
        check_choice("surrogate", self.surrogate, SURROGATES)
        check_number("eta0", self.eta0, above=0.0)
        if self.radius is not None:
            check_number("radius", self.radius, above=0.0)
        elif self.surrogate == "struct":
            raise ValueError("surrogate='struct' has no minimum without a bound on the weights: set radius.")
        radius = np.inf if self.radius is None else float(self.radius)
        code, size = SURROGATES[self.surrogate], int(self.batch_size)
        return UpdateRule(code, float(self.k), is_count(self.k), size, float(self.eta0), radius)
