"""Perceptron@k on Dask collections: large batches of rows of all partitions, their top found by counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from pushrank._numeric import Floats
from pushrank.distributed._base import DaskRankerMixin, shared_docs
from pushrank.distributed._partitions import Partitions
from pushrank.distributed._sums import DaskRows, Rows, Target, load_rows
from pushrank.estimators import PerceptronAtK
from pushrank.estimators._base import progress_bar
from pushrank.estimators._streaming import learned_coef, warn_of_skipped_batches
from pushrank.objectives.precision_at_k import resolve_k_within
from pushrank.solvers.order_statistics import Values, order_statistic
from pushrank.solvers.streaming.updates import (
    ITERATE_SUM,
    MAX_K,
    MAX_MISTAKES,
    MISTAKE_RATES,
    MISTAKES,
    PERCEPTRON_MAX,
    SKIPPED,
    SQUARED_NORM,
    STEPS,
    State,
    StreamLearner,
)


@shared_docs
@dataclass(eq=False, repr=False)
class DaskPerceptronAtK(DaskRankerMixin, PerceptronAtK):
    r"""Rank rows of a Dask cluster so that the first k are hits, by a perceptron on large batches.

    The updates are those of :class:`pushrank.PerceptronAtK`, Perceptron@k-avg and -max: of every batch the k
    highest rows are predicted positive; if :math:`\Delta` of them are negatives, these are subtracted from
    the weights, and missed positives are added.

    Parameters
    ----------
    k : int or float
        %(k_of_batch)s
    variant : {"avg", "max"}, default="max"
        Which missed positives are added: all, each times :math:`\Delta / (m - k + \Delta)` of m positives, or
        the :math:`\Delta` highest.
    batch_size : int, default=100000
        About the rows of a batch, at least 2: a batch has an equal share of the rows of every partition.
    max_iter : int, default=50
        The largest number of passes of ``fit``, at least 1; a pass without a mistake is the last.
    average : bool
        %(average)s
    shuffle : bool, default=True
        Whether every partition draws a new order of its rows for every pass.
    early_stopping : {False}
        As for streams, there is no validation part.
    validation_fraction, n_iter_no_change : float and int
        Not used.
    random_state : int, RandomState or None
        %(random_state)s
    verbose : bool
        %(verbose)s
    client : distributed.Client or None, default=None
        %(client)s

    Attributes
    ----------
    %(coef_ mistakes_ classes_ threshold_)s
    n_iter_ : int
        The number of passes made.
    n_batches_ : int
        The number of batches seen.
    weak_margin_, margin_, strong_margin_, mistake_bound_, validation_path_, best_iter_ : None
        What the ranker in memory measures on all data at the end.
    %(features_)s

    Notes
    -----
    This differs from the stream on one machine. A batch takes some ten to twenty rounds of messages, so that
    batches are large and few: a pass over 10 million rows makes 100 updates in place of 20,000, and more
    passes are needed. Rows of all partitions are in every batch, not those that came together. Rows that tie
    for the last place of a class share it, in place of the first of them. With the same batches, and without
    ties, the coefficients are those of :class:`pushrank.PerceptronAtK` but for the rounding of sums; to the
    last bit they depend on the partitions and the seed alone, not on the workers. Query groups and
    ``partial_fit`` are for rows at hand: ``to_local()`` returns a ranker that goes on with ``partial_fit``.

    The k highest of a batch are found by six rounds of counts of 16 kB a partition, the :math:`\Delta`
    highest missed positives by six more, and the sums of rows by one, of 8 bytes a feature and partition.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, section 4, algorithm 1.

    Examples
    --------
    %(data_on_dask)s
    >>> DaskPerceptronAtK(k=0.5, max_iter=2).fit(X, y).to_local()  # doctest: +SKIP
    PerceptronAtK(batch_size=100000, k=0.5, max_iter=2)
    """

    _: KW_ONLY
    batch_size: int = 100_000
    client: Any = None
    local_class: ClassVar[type] = PerceptronAtK

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from examples of two classes, in ``max_iter`` passes.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            %(X_to_load)s
        y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
            %(y_dask)s
        sample_weight : dask.array.Array or dask.dataframe.Series of shape (n_samples,), optional
            %(sample_weight_dask)s

        %(fitted_dask)s
        """
        rule = self._update_rule()
        if self.early_stopping:
            raise ValueError("early_stopping must be False on Dask collections; use it with rows at hand.")
        if self.batch_size < 2:
            raise ValueError(f"batch_size must be at least 2 on Dask collections, got {self.batch_size}.")
        rows = load_rows(self, X, y, sample_weight)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        learner = StreamLearner(rule, State.zero(rows.n_features))
        n_batches = max(1, round(rows.n_rows / self.batch_size))
        with progress_bar(self, self.max_iter) as callback:
            for n_iter in range(1, int(self.max_iter) + 1):
                before = learner.n_mistakes
                orders = rows.rows.derive(row_order, (seed, n_iter) if self.shuffle else None)
                mistakes = [
                    learn_batch(rows, orders, (batch, n_batches), rule, learner.state)
                    for batch in range(n_batches)
                ]
                learner.mistakes_by_batch.append(np.array(mistakes))
                learner.n_rows += rows.n_rows
                made = learner.n_mistakes - before
                if callback is not None:
                    callback(n_iter, mistakes_in_pass=made, mistake_rate=learner.mistake_rate)
                if made == 0.0:
                    learner.use_last_as_mean()
                    break
        self.coef_ = learned_coef(self, learner).astype(rows.dtype)
        self._threshold, self._n_threshold_rows = rows.break_even_threshold(self.coef_), rows.n_rows
        self._learner, self.classes_, self.n_iter_ = learner, rows.classes, n_iter
        self._clear_measures()
        warn_of_skipped_batches(self, learner)
        return self


class Batch(NamedTuple):
    """The rows of a partition that are in a batch: their numbers, classes, scores and weights."""

    numbers: NDArray[np.intp]
    positive: NDArray[np.bool_]
    scores: Floats
    weights: Floats


def row_order(rows: Rows, seed: tuple[int, int] | None) -> NDArray[np.intp]:
    """Return the order of a partition's rows in a pass; partitions of one length may have one order."""
    n_rows = len(rows.labels)
    return np.arange(n_rows) if seed is None else np.random.default_rng(seed).permutation(n_rows)


def scored_batch(
    rows: Rows, target: Target, order: NDArray[np.intp], place: tuple[int, int], coef: Floats
) -> Batch:
    """Return the rows of a partition that are in one of so many batches."""
    batch, n_batches = place
    numbers = order[len(order) * batch // n_batches : len(order) * (batch + 1) // n_batches]
    scores = np.asarray(rows.X[numbers] @ coef, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError("a score is beyond the range of floats; scale the features, or divide the weights.")
    weights = np.ones(len(numbers)) if target.log_weights is None else np.exp(target.log_weights[numbers])
    return Batch(numbers, target.class_codes[numbers] == 1, scores, weights)


def class_weights(batch: Batch) -> Floats:
    """Return the weights of the positives and of the negatives."""
    return np.asarray(np.bincount(~batch.positive, batch.weights, 2), dtype=np.float64)


def values(batch: Batch, positives_only: bool) -> Values:
    """Return scores that have a weight, times -1, so that the highest come first."""
    which = batch.weights > 0.0
    if positives_only:
        which &= batch.positive
    return Values(-batch.scores[which], batch.weights[which])


def weights_at(batch: Batch, cut: float) -> Floats:
    """Return the weights of positives and negatives above a score, and of those at it."""
    weights = [np.bincount(~batch.positive[r], batch.weights[r], 2) for r in _sides(batch, cut)]
    return np.concatenate(weights)


def _sides(batch: Batch, cut: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    return batch.scores > cut, batch.scores == cut


class Top(NamedTuple):
    """The first rows of a list: those above a score, and a share of those at it."""

    cut: float
    share: float

    @classmethod
    def of_weight(cls, weight: float, cut: float, above: float, tied: float) -> Top:
        """Return the first rows of some weight, of which so much is above the last score."""
        return cls(cut, min(1.0, max(0.0, (weight - above) / tied)) if tied > 0.0 else 0.0)

    def weights(self, batch: Batch) -> Floats:
        """Return how much of every row is among them."""
        above, tied = _sides(batch, self.cut)
        return batch.weights * (above + self.share * tied)


def update_sums(
    rows: Rows, batch: Batch, negatives: Top, found: Top, added: Top | None, factor: float
) -> Floats:
    """Return the sum of a partition's rows by which the weights move, shape (n_features,).

    Of the positives, which are missed but for those ``found``, those that are ``added`` are, or all.
    """
    positives = batch.weights if added is None else added.weights(batch)
    moves = np.where(batch.positive, factor * (positives - found.weights(batch)), -negatives.weights(batch))
    moved = moves != 0.0
    return np.asarray(rows.X[batch.numbers[moved]].T @ moves[moved], dtype=np.float64)


def learn_batch(rows: DaskRows, orders: Partitions, place: tuple[int, int], rule: Any, state: State) -> float:
    """Move the state by the update of one batch; return the weight of negatives among the first k."""
    batches, counts = rows.rows.derive(scored_batch, rows.targets, orders, place, state.coef), state.counts
    positive_weight, negative_weight = np.sum(batches.map(class_weights), axis=0).tolist()
    if not (positive_weight > 0.0 and negative_weight > 0.0):
        counts[SKIPPED] += 1.0
        return 0.0
    k = float(resolve_k_within(rule.k, rule.counted, positive_weight))
    enough = k * (1.0 - 1e-12)
    cut = -order_statistic(batches.derive(values, False), np.float64, enough).value
    positives, negatives, *tied = np.sum(batches.map(weights_at, cut), axis=0).tolist()
    # ties are broken against the learner: negatives come first
    mistakes = float(min(negatives + tied[1], k - positives))
    counts[MISTAKES] += mistakes
    counts[MAX_MISTAKES] += min(k, negative_weight)
    counts[MISTAKE_RATES] += mistakes / k
    counts[MAX_K] = max(counts[MAX_K], k)
    counts[STEPS] += 1.0
    if mistakes > 0.0:
        top_negatives = Top.of_weight(mistakes, cut, negatives, tied[1])
        found = Top.of_weight(k - mistakes, cut, positives, tied[0])
        added, factor = None, mistakes / (positive_weight - k + mistakes)
        if rule.update == PERCEPTRON_MAX:
            last = order_statistic(batches.derive(values, True), np.float64, enough)
            added, factor = Top.of_weight(k, -last.value, last.below, last.tied), 1.0
        delta = np.sum(rows.rows.map(update_sums, batches, top_negatives, found, added, factor), axis=0)
        state.correction += counts[ITERATE_SUM] * delta
        state.coef += delta
        counts[SQUARED_NORM] = float(state.coef @ state.coef)
    counts[ITERATE_SUM] += 1.0
    return mistakes
