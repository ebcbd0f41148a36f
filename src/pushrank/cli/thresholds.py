"""The alert threshold of a model that is fitted to all rows, by fits to two shares of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from pushrank import StackingRanker
from pushrank.cli.errors import warn
from pushrank.cli.saved import Alert
from pushrank.estimators._combination import raw_scores
from pushrank.held_out import Rows, fit_parts, model_scores, record_warnings
from pushrank.metrics.thresholds import AtBudget, threshold_for
from pushrank.user_types import Floats

FEW = 1000
"""With fewer rows of the rarer class scores change much from fits to four fifths of the rows to all."""
UNLIKE = 0.01
"""Parts are taken to differ by more than chance where chance alone differs so in one of a hundred files."""


class HeldOut(NamedTuple):
    """The scores of all rows by fits that had not seen them, and the part in which each was held out."""

    scores: Floats
    parts: NDArray[np.intp]

    @classmethod
    def of(cls, fitted: Pipeline, rows: Rows, n_parts: int) -> HeldOut:
        """Fit a model again to all parts but one; by time parts follow each other."""
        order = np.arange(len(rows.y)) if rows.times is None else np.argsort(rows.times, kind="stable")
        splitter, labels = StratifiedKFold(n_parts), rows.positive[order]
        groups = None if rows.groups is None else rows.groups[order]
        if groups is not None:
            splitter = StratifiedGroupKFold(n_parts)
        splits = [(order[train], order[test]) for train, test in splitter.split(order, labels, groups)]
        models, stack = {"": clone(fitted)}, None
        if isinstance(fitted[-1], StackingRanker):
            # With other weights or scales the parts would be those of other lists.
            stack, rows = fitted[-1], rows._replace(X=fitted[:-1].transform(rows.X))
            models = {name: clone(kept[0]) for name, kept in stack.named_estimators_.items()}
        parts, scores = np.empty(len(rows.y), np.intp), {name: np.empty(len(rows.y)) for name in models}
        of_parts = ((rows.part(train), [rows.part(test)]) for train, test in splits)
        # The fit to all rows has printed the warnings already.
        with record_warnings([]):
            for fit in fit_parts(models, of_parts, score=model_scores if stack is None else raw_scores):
                test = splits[fit.number][1]
                parts[test], scores[fit.name][test] = fit.number, fit.scores[0]
        return cls(scores[""] if stack is None else stack._combined(scores, len(parts)), parts)

    def reaching(self, thresholds: Any) -> NDArray[np.intp]:
        """Return how many rows reach each threshold."""
        return np.asarray(len(self.scores) - np.searchsorted(np.sort(self.scores), thresholds))


def alert_of(y: NDArray[np.bool_], scores: Floats, budget: int, of_rows: int) -> Alert | None:
    """Return the alert threshold by a model's scores of rows that it has not seen."""
    # As a share the budget holds for rows that are fewer than those that it is of.
    return _alert(y, scores, AtBudget(fraction=budget / of_rows), budget, of_rows)


def alert_of_fit(fitted: Pipeline, rows: Rows, budget: int, of_rows: int) -> tuple[Alert | None, Floats]:
    """Return the alert threshold of a model by fits to parts of its rows, and the scores of most of them.

    With more rows a fit's scores are more extreme, or less: more rows reach a threshold, or fewer. What
    changes between fits that leave out two shares of the rows is carried on to one that leaves out none, in
    proportion to the logarithm of the rows learnt from.
    """
    n_rare = int(min(rows.positive.sum(), (~rows.positive).sum()))
    n_few, n_more = (5, 20) if n_rare < FEW else (2, 5)
    n_more = min(n_more, n_rare if rows.groups is None else len(np.unique(rows.groups)))
    n_few = max(2, min(n_few, n_more // 2))
    few, more = HeldOut.of(fitted, rows, n_few), HeldOut.of(fitted, rows, n_more)
    rows_learnt = np.log([1.0 - 1.0 / n_few, 1.0 - 1.0 / n_more])
    step = -rows_learnt[1] / (rows_learnt[1] - rows_learnt[0]) if n_more > n_few else 0.0
    listed = max(1, round(len(rows.y) * budget / of_rows))
    thresholds = np.sort(more.scores)[::-1]
    reaching = more.reaching(thresholds)
    at_all = reaching + step * (reaching - few.reaching(thresholds))
    # So many thresholds keep the budget; none where more rows than it tie at the top, which is refused.
    aim = AtBudget(np.count_nonzero(at_all <= listed + 0.5) or listed)
    alert = _alert(rows.positive, more.scores, aim, budget, of_rows)
    if alert is not None:
        variance = between_fits(few, more, listed) + between_parts(more, listed)
        by_all = float(np.clip(at_all[alert.n_reaching - 1], 1.0, len(rows.y)))
        alert = replace(alert, by_all=by_all, spread=float(np.sqrt(max(variance, 0.0))))
    return alert, more.scores


def between_fits(few: HeldOut, more: HeldOut, listed: int) -> float:
    """Return the variance of the share of rows that reach a threshold, from one fit to another."""
    # Two fits that have seen none of these rows list equally many in all, each by a threshold of its own. Of
    # the squared difference of their counts, what the draw of the rows explains is the rows they differ in.
    first, second = (held.scores >= np.sort(held.scores)[-listed] for held in (few, more))
    differ = first.astype(np.intp) - second
    both = few.parts * len(few.parts) + more.parts
    _, pairs, sizes = np.unique(both, return_inverse=True, return_counts=True)
    sums, alone = np.bincount(pairs, differ), np.bincount(pairs, differ**2)
    return float((sums**2 - alone).sum() / (2.0 * (sizes * (sizes - 1.0)).sum()))


def between_parts(held: HeldOut, listed: int) -> float:
    """Return the variance of that share from part to part beyond chance, 0 where chance may explain all."""
    share, sizes = listed / len(held.scores), np.bincount(held.parts)
    reaching = np.bincount(held.parts, held.scores >= np.sort(held.scores)[-listed])
    squares = ((reaching - sizes * share) ** 2 / sizes).sum() / (len(sizes) - 1)
    by_chance = share * (1.0 - share)
    if chi2.sf(squares / max(by_chance, 1e-12) * (len(sizes) - 1), len(sizes) - 1) > UNLIKE:
        return 0.0
    return float((squares - by_chance) / sizes.mean())


def _alert(y: NDArray[np.bool_], scores: Floats, aim: AtBudget, budget: int, of_rows: int) -> Alert | None:
    """Return the alert of a list, or warn that there is none."""
    try:
        found = threshold_for(y, scores, aim, random_state=0)
    except ValueError as error:
        # A model without a threshold still ranks rows, so that its fit is not lost to an error.
        warn(f"no alert threshold: {error}")
        return None
    limits = float(found.threshold), float(found.low), float(found.high)
    return Alert(budget, of_rows, *limits, len(scores), int(found.n_rows))
