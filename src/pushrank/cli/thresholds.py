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
from pushrank._base.user_types import Floats
from pushrank.cli.errors import warn
from pushrank.cli.saved import Alert
from pushrank.held_out import Rows, fit_parts, model_scores, record_warnings
from pushrank.metrics.thresholds import AtBudget, threshold_for

FEW = 1000
"""With fewer rows of the rarer class scores change more with the rows learnt from, and fits cost less."""
UNLIKE = 0.01
"""Parts are taken to differ by more than chance where chance alone differs so in one of a hundred files."""


class HeldOutScores(NamedTuple):
    """The scores of all rows by fits that had not seen them, and the part in which each was held out."""

    scores: Floats
    parts: NDArray[np.intp]

    @classmethod
    def of(cls, fitted: Pipeline, rows: Rows, n_parts: int) -> HeldOutScores:
        """Fit a model again to all parts but one."""
        parts = parts_of(rows, n_parts)
        models, stack = {"": clone(fitted)}, None
        if isinstance(fitted[-1], StackingRanker):
            # With other weights or scales the parts would be those of other lists.
            stack, rows = fitted[-1], rows._replace(X=fitted[:-1].transform(rows.X))
            models = {name: clone(kept[0]) for name, kept in stack.named_estimators_.items()}
        scores = {name: np.empty(len(parts)) for name in models}
        of_parts = (
            (rows.part(np.flatnonzero(parts != part)), [rows.part(np.flatnonzero(parts == part))])
            for part in range(n_parts)
        )
        # The fit to all rows has printed the warnings already.
        with record_warnings([]):
            for fit in fit_parts(models, of_parts, score=model_scores if stack is None else stack._score):
                scores[fit.name][parts == fit.number] = fit.scores[0]
        return cls(scores[""] if stack is None else stack._combined(scores, len(parts)), parts)

    def reaching(self, thresholds: Any) -> NDArray[np.intp]:
        """Return how many rows reach each threshold."""
        return np.asarray(len(self.scores) - np.searchsorted(np.sort(self.scores), thresholds))


def alert_of(y: NDArray[np.bool_], scores: Floats, budget: int, of_rows: int) -> Alert | None:
    """Return the alert threshold by a model's scores of rows that it has not seen."""
    # As a share the budget holds for rows that are fewer than those that it is of.
    return _alert(y, scores, AtBudget(fraction=budget / of_rows), budget, of_rows)


def alert_of_fit(fitted: Pipeline, rows: Rows, budget: int, of_rows: int) -> tuple[Alert | None, Floats]:
    """Return the alert threshold of a model by fits to parts of its rows, and the scores of most of them."""
    n_rare = int(min(rows.positive.sum(), (~rows.positive).sum()))
    n_coarse, n_fine = (5, 20) if n_rare < FEW else (3, 10)
    n_fine = min(n_fine, n_rare if rows.groups is None else len(np.unique(rows.groups)))
    n_coarse = max(2, min(n_coarse, (n_fine + 1) // 2))
    order = np.arange(len(rows.y))
    if rows.times is None:
        # A file may be in order of a column, by which parts would differ.
        order = np.random.default_rng(0).permutation(order)
        rows = rows.part(order)
    coarse, fine = HeldOutScores.of(fitted, rows, n_coarse), HeldOutScores.of(fitted, rows, n_fine)
    scores = np.empty(len(order))
    scores[order] = fine.scores
    return alert_of_parts(rows.positive, coarse, fine, budget, of_rows), scores


def alert_of_parts(
    y: NDArray[np.bool_], coarse: HeldOutScores, fine: HeldOutScores, budget: int, of_rows: int
) -> Alert | None:
    """Return the alert threshold of a fit to all rows by scores of fits to fewer of them, and to more."""
    # With more rows a fit's scores are more extreme, or less, and more rows reach a threshold, or fewer. What
    # changes between the two is carried on, in proportion to the logarithm of the rows learnt from.
    n_rows, (n_coarse, n_fine) = len(y), (held.parts.max() + 1 for held in (coarse, fine))
    learnt_coarse, learnt_fine = np.log([1.0 - 1.0 / n_coarse, 1.0 - 1.0 / n_fine])
    step = -learnt_fine / (learnt_fine - learnt_coarse) if n_fine > n_coarse else 0.0
    listed = max(1, round(n_rows * budget / of_rows))
    thresholds = np.sort(fine.scores)[::-1]
    reaching = fine.reaching(thresholds)
    at_all = reaching + step * (reaching - coarse.reaching(thresholds))
    # So many thresholds keep the budget; none where more rows than it tie at the top, which is refused.
    aim = AtBudget(int(np.count_nonzero(at_all <= listed + 0.5)) or listed)
    alert = _alert(y, fine.scores, aim, budget, of_rows)
    if alert is None:
        return None
    variance = max(between_fits(coarse, fine, listed), between_parts(fine, listed))
    by_all = float(np.clip(at_all[alert.n_reaching - 1], 1.0, n_rows))
    return replace(alert, by_all=by_all, spread=float(np.sqrt(max(variance, 0.0))))


def parts_of(rows: Rows, n_parts: int) -> NDArray[np.intp]:
    """Return the number of each row's part: by time parts follow each other, and groups stay together."""
    order = np.arange(len(rows.y)) if rows.times is None else np.argsort(rows.times, kind="stable")
    splitter = StratifiedKFold(n_parts) if rows.groups is None else StratifiedGroupKFold(n_parts)
    groups, parts = None if rows.groups is None else rows.groups[order], np.empty(len(order), np.intp)
    for number, (_, test) in enumerate(splitter.split(order, rows.positive[order], groups)):
        parts[order[test]] = number
    return parts


def between_fits(coarse: HeldOutScores, fine: HeldOutScores, listed: int) -> float:
    """Return the variance of the share of rows that reach a threshold, from one fit to another like it."""
    # Both list equally many rows in all, each by its own threshold. In a pair of parts, of two fits that have
    # not seen these rows, the squared difference of their counts holds the draw of the rows, which is the
    # number of rows they differ in; a variance for each fit; and what fits to fewer rows differ by as such.
    # The product of two pairs that share the fit to fewer rows has all this but the other fit's variance.
    first, second = (held.scores >= np.sort(held.scores)[-listed] for held in (coarse, fine))
    differ = first.astype(np.intp) - second
    pair = coarse.parts * len(coarse.parts) + fine.parts
    numbers, pairs, sizes = np.unique(pair, return_inverse=True, return_counts=True)
    sums, alone, shared = (
        np.bincount(pairs, differ),
        np.bincount(pairs, differ**2),
        numbers // len(coarse.parts),
    )
    whole, size = np.bincount(shared, sums), np.bincount(shared, sizes)
    square = (sums**2 - alone).sum() / (sizes * (sizes - 1.0)).sum()
    product = (whole**2).sum() - (sums**2).sum(), (size**2).sum() - (sizes**2.0).sum()
    return float(square - product[0] / product[1]) if product[1] > 0.0 else float(square / 2.0)


def between_parts(held: HeldOutScores, listed: int) -> float:
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
