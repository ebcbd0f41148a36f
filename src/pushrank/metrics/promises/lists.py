"""Promises of a list to come: its least hits, and how many labelled rows such a promise takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import ks_2samp
from sklearn.utils import check_random_state

from pushrank._base.docstrings import metric_docs
from pushrank._base.numeric import Floats, next_above
from pushrank._base.validation import check_number, comparable_scores, warn
from pushrank.metrics._proportions import clopper_pearson_interval, difference_of_hits_interval
from pushrank.metrics._ranking import Ranking, refuse_periods
from pushrank.metrics.promises.bounds import (
    MOST_PLANNED,
    Counts,
    divided,
    hits_bound,
    least,
    order_statistic_floors,
    rows_for_hit,
)

Ties = Literal["random", "pessimistic"]
# The two-sample test at this level warns of new scores that differ from the labelled ones.
SHIFT_LEVEL = 0.001


class HitsPromise(NamedTuple):
    """The result of :func:`guarantee`: bounds by depth, the arrays of shape (n_depths,).

    Parameters
    ----------
    depth, hits, expected_hits : ndarray
        Numbers of first rows among those to come, ascending; the hits that they hold at least; and an
        estimate that promises nothing, from the same share of the labelled rows.
    threshold, precision, recall, false_positive_rate : ndarray
        A score above which about that share of the labelled rows lies. Of the population at or above it at
        least such a share are hits; at least such a share of all hits, and at most such a share of all
        negatives, lie there.
    n_new : int
        The number of rows to come.
    confidence_level : float
        The least chance with which each column holds by itself, in all its rows.
    labelled_hits : ndarray of shape (n + 1,)
        The hits of the first 0, 1, ... and n labelled rows.
    chance_of_failure, named : ndarray
        What each depth takes of the chance that a bound of hits fails; and the depths that were asked for.

    Examples
    --------
    >>> found = guarantee(np.arange(400) < 60, -np.arange(400.0), k=20, n_new=200)
    >>> found.hits_at([10, 20, 40]).tolist()
    [5, 15, 15]
    """

    depth: Counts
    hits: Counts
    expected_hits: Floats
    threshold: Floats
    precision: Floats
    recall: Floats
    false_positive_rate: Floats
    n_new: int
    confidence_level: float
    labelled_hits: Counts
    chance_of_failure: Floats
    named: Counts

    def __repr__(self) -> str:
        """Return the promises of the depths that were asked for, or of parts of the list, in sentences."""
        parts = {-(-self.n_new // part) for part in (20, 4, 1)}
        return "\n".join(map(self.sentence, self.named.tolist() or sorted(parts)))

    def hits_at(self, depth: ArrayLike) -> Counts:
        """Return the bound of the first rows, of any number; all hold together with those of the table.

        Hits do not fall with depth and grow by at most one a row, which bounds them between the depths.
        """
        at = np.asarray(depth, dtype=np.int64)
        if at.size and not 0 <= at.min() <= at.max() <= self.n_new:
            raise ValueError(f"depth must be from 0 to the {self.n_new} rows to come, got {depth!r}.")
        from_above = np.append(0, np.maximum.accumulate(self.hits))
        from_below = np.maximum.accumulate(np.append(self.hits - self.depth, -self.n_new)[::-1])[::-1]
        up, down = (np.searchsorted(self.depth, at, side) for side in ("right", "left"))
        return np.asarray(np.maximum(from_above[up], from_below[down] + at))

    def sentence(self, k: int) -> str:
        """Return the promise of the first k rows as a sentence, or how many labelled rows one would take."""
        hits = int(self.hits_at(k))
        promised = f"hold at least {hits:,} hit{'s' * (hits > 1)}."
        if not hits:
            at = max(int(np.searchsorted(self.depth, k, side="right")) - 1, 0)
            settings = self.n_new, int(self.depth[at]), float(self.chance_of_failure[at])
            promised = f"are not promised a single hit by {len(self.labelled_hits) - 1:,} labelled rows, "
            promised += f"{rows_for_hit(self.labelled_hits, *settings)}."
        level = f"With {100.0 * self.confidence_level:g} % confidence"
        return f"{level}, of the next {self.n_new:,} rows the first {k:,} {promised}"


@metric_docs
def guarantee(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: int | Sequence[int] | None = None,
    n_new: int | None = None,
    scores_new: ArrayLike | None = None,
    together: bool = True,
    confidence_level: float = 0.95,
    ties: Ties = "random",
    training_scores: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = 0,
) -> HitsPromise:
    r"""Return how many hits the first rows of a coming list hold at least, for any number of labelled rows.

    .. math:: P(H_k \ge L_k \text{ for all } k) \ge 1 - \delta

    for the hits :math:`H_k` of the first k of N rows to come, and the confidence level :math:`1 - \delta`.

    Labelled rows must be new to the model, and exchangeable with those to come. Out-of-fold scores calibrate
    neither the model fitted to all rows nor the mean of the fold models: they give an estimate. Precision has
    Clopper and Pearson's bound, at the table's thresholds only; recall and false-positive rate have joint
    bands of uniform order statistics, at all thresholds. The proof is on the page :doc:`/promises`.
    O(n log n): the scores are sorted once.

    %(labels_and_scores)s
    k : int or sequence of int, optional
        The depths for which the promise matters, from 1 to N; without them all matter equally.
    n_new : int, optional
        The number N of rows to come; by default as many as have new scores, or as are labelled.
    scores_new : array-like of shape (n_new,), optional
        Their scores, which are compared with the labelled ones.
    together : bool, default=True
        Whether all depths are promised at once, so that one may look and then choose: a fifth of
        :math:`\delta` goes to depths other than `k`. If not, `k` is promised, and what follows from it.
    confidence_level : float, default=0.95
        %(promise_level)s
    ties : {"random", "pessimistic"}, default="random"
        Whether tied rows to come are in a random order, or negatives first.
    training_scores : array-like, optional
        The scores of the rows that the model was fitted to; labelled rows that are among them are refused.
    groups, sample_weight : array-like of shape (n,), optional
        Refused, as nothing is proved of them; :func:`guarantee_days` takes groups as units.
    pos_label : label, optional
    random_state : int, RandomState or None, default=0
        The seed of the order of tied labelled rows.

    Returns
    -------
    HitsPromise
        The table, with :meth:`HitsPromise.hits_at` for any depth and :meth:`HitsPromise.sentence`.

    %(errors)s

    Warns
    -----
    UserWarning
        When new scores differ from the labelled ones in a two-sample test at one in a thousand.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(3000) < 0.05
    >>> guarantee(y, rng.normal(size=3000) + 2.0 * y, k=150).sentence(150)
    'With 95 % confidence, of the next 3,000 rows the first 150 hold at least 67 hits.'
    """
    check_number("confidence_level", confidence_level, 0.5, 0.9999)
    refuse_periods(k, "guarantee_days(y_true, scores, budget.periods(time).codes, k=budget.n)")
    if sample_weight is not None:
        raise ValueError("nothing is promised of weighted rows: leave sample_weight out, and repeat rows.")
    if groups is not None:
        raise ValueError("nothing is promised of rows in groups: keep one of each, or take guarantee_days.")
    ranking = Ranking(y_true, comparable_scores(scores), None, pos_label)
    n, miss = ranking.n_rows, 1.0 - float(confidence_level)
    if training_scores is not None:
        check_unseen(ranking.scores, comparable_scores(training_scores))
    if scores_new is not None:
        n_new = check_new_scores(ranking.scores, comparable_scores(scores_new), n_new)
    n_new = n if n_new is None else n_new
    check_number("n_new", n_new, 1, integer=True)
    named = np.unique([] if k is None else k)
    for depth in named.tolist():
        check_number("k", depth, 1, n_new, integer=True)
    if not len(named) and not together:
        raise ValueError("together=False needs the depths that are promised: give k.")
    depths, shares = divided(named, n_new, together)
    order = tied_order(ranking, ties, random_state)
    hits_above = np.append(0, np.cumsum(ranking.is_positive[order]))
    of_depths = zip(depths.tolist(), (miss * shares).tolist(), strict=True)
    hits = np.array([hits_bound(hits_above, n, n_new, depth, of_depth) for depth, of_depth in of_depths])
    # The rows above a row that is counted from the top are independent draws from what scores higher.
    descending = np.append(-ranking.scores[order], np.inf)
    next_row = np.clip(depths * n // n_new, 1, n)
    above = np.searchsorted(descending, descending[next_row])
    positives, n_positives = hits_above[above], int(hits_above[-1])
    return HitsPromise(
        depths,
        hits,
        np.interp(depths * (n / n_new), np.arange(n + 1), hits_above) * (n_new / n),
        next_above(-descending[next_row], ranking.scores),
        clopper_pearson_interval(positives, above, miss * shares)[0],
        order_statistic_floors(n_positives, miss)[positives],
        1.0 - order_statistic_floors(n - n_positives, miss)[::-1][above - positives],
        n_new,
        float(confidence_level),
        hits_above,
        miss * shares,
        named.astype(np.int64),
    )


@metric_docs
def sample_size_for(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: int,
    n_new: int,
    hits: int | None = None,
    difference: float | None = None,
    other_scores: ArrayLike | None = None,
    confidence_level: float = 0.95,
    pos_label: Any = None,
) -> int:
    r"""Return about how many labelled rows a promise of hits takes, or a difference of two models.

    .. math:: \min \{n : L_k(n) \ge h\}

    The given rows stand for more of them: with hits in the same places of the list, and with as many rows on
    one of the two lists only, whose hits differ as asked. Nothing is promised. O(n log n). The bounds are
    those of :func:`guarantee` and :func:`compare`.

    %(labels_and_scores)s
    k, n_new : int
        The list is the first k of `n_new` rows to come.
    hits : int, optional
        The hits h to be promised for that list alone, from 1 to k.
    difference : float, optional
        In place of them: that many more hits in the list by `scores` than in that by `other_scores`.
    other_scores : array-like of shape (n,), optional
        The scores of the other model.
    confidence_level : float, default=0.95
        %(promise_level)s
    pos_label : label, optional

    Returns
    -------
    int
        So many rows like the given ones give the promise, or put the difference beyond chance, in about half
        of all samples.

    Examples
    --------
    >>> sample_size_for(np.arange(400) % 4 == 0, -np.arange(400.0), k=100, n_new=1000, hits=15)
    2706
    """
    check_number("confidence_level", confidence_level, 0.5, 0.9999)
    check_number("n_new", n_new, 1, integer=True)
    check_number("k", k, 1, n_new, integer=True)
    ranking, miss = Ranking(y_true, comparable_scores(scores), None, pos_label), 1.0 - confidence_level
    n, plan = ranking.n_rows, (1, MOST_PLANNED, "rows")
    if hits is not None and difference is None:
        check_number("hits", hits, 1, k, integer=True)
        hits_above = np.append(0, np.cumsum(ranking.is_positive[tied_order(ranking, "random", 0)]))
        return least(lambda rows: hits_bound(hits_above, rows, n_new, k, miss) >= hits, *plan)
    if hits is not None or difference is None or other_scores is None:
        raise ValueError("ask for hits, or for a difference and other_scores.")
    check_number("difference", difference, above=0.0, most=k)
    depth = max(1.0, k * n / n_new)
    ours, others = (r.shares_in_top(depth) for r in (ranking, ranking.with_scores(other_scores)))
    # Hits and rows on one list only, for each labelled row.
    mean, apart = (0.5 * float(np.abs(ours - others) @ of) / n for of in (ranking.is_positive, np.ones(n)))
    half = 0.5 * difference / n_new
    shares = np.array([mean + half, mean - half]) + max(half - mean, 0.0)

    def is_beyond_chance(rows: int) -> bool:
        of_each = rows * max(apart, float(shares[0]))
        return difference_of_hits_interval(tuple(rows * shares), (of_each, of_each), miss)[0] > 0.0

    return least(is_beyond_chance, *plan)


def tied_order(ranking: Ranking, ties: Ties, random_state: Any) -> Counts:
    """Return the rows from the highest score down, tied ones in a random order or negatives first."""
    if ties == "pessimistic":
        return np.lexsort((ranking.is_positive, -ranking.scores))
    if ties != "random":
        raise ValueError(f"ties must be 'random' or 'pessimistic', got {ties!r}.")
    return random_order(ranking.scores, random_state)


def random_order(scores: Floats, random_state: Any) -> Counts:
    """Return the rows from the highest score down, tied ones in a random order."""
    shuffled = check_random_state(random_state).permutation(len(scores))
    return np.asarray(shuffled[np.argsort(-scores[shuffled], kind="stable")])


def check_unseen(scores: Floats, training_scores: Floats) -> None:
    """Raise ValueError where labelled rows are among those that a model was fitted to."""
    distinct = np.unique(scores)
    known = np.isin(distinct, training_scores).mean()
    # Scores of few values are shared by other rows, and show nothing.
    if len(distinct) > 0.5 * len(scores) and known > 0.5:
        raise ValueError(
            f"{100 * known:.0f} % of the labelled rows' scores are those of training rows, which promise "
            "nothing: pass rows that the model has not seen."
        )


def check_new_scores(scores: Floats, new: Floats, n_new: int | None = None) -> int:
    """Return the number of new scores; warn if their distribution is another."""
    if n_new not in (None, len(new)):
        raise ValueError(f"n_new={n_new}, but there are {len(new)} new scores; leave n_new out.")
    test = ks_2samp(scores, new, method="asymp")
    # Of scores of few values other rows may have the same shares by chance.
    are_distinct = 2 * len(np.unique(scores)) > len(scores)
    if are_distinct and np.array_equal(np.sort(new), np.sort(scores)):
        raise ValueError("the new scores are those of the labelled rows: take those of the rows to come.")
    if test.pvalue < SHIFT_LEVEL:
        warn(
            "new scores differ from the labelled ones beyond chance: their distribution functions by "
            f"{test.statistic:.2f}, p = {test.pvalue:.1g}. The guarantee assumes that both samples are drawn "
            "in the same way."
        )
    return len(new)
