"""The table of metrics for the scores of any models, with intervals, differences, gains tables and curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from pushrank._html import html_sentences, html_table
from pushrank._numeric import Floats
from pushrank._optional import import_optional
from pushrank._validation import check_number
from pushrank.metrics._bootstrap import MIN_RESAMPLES, default_n_resamples
from pushrank.metrics._depths import ListDepths, log_spaced
from pushrank.metrics._docstrings import shared_docs
from pushrank.metrics._families import metrics_in_order
from pushrank.metrics._ranking import Ranking, check_depth, checked_rankings, depth_in_rows, round_up_to_rows
from pushrank.metrics._registry import BoundMetric, bind_metric
from pushrank.metrics.discounted import average_reciprocal_rank, discounted_cumulative_gain
from pushrank.metrics.intervals import (
    Comparison,
    ConfidenceInterval,
    ranking_differences,
    ranking_intervals,
)
from pushrank.metrics.pairwise import r_max, rp_error
from pushrank.metrics.precision import average_precision, positives_at_top, precision_at_k
from pushrank.metrics.roc import auc

if TYPE_CHECKING:
    import pandas as pd

# The differences in this figure are put into sentences.
HITS = "hits"
N_PARTS = 10


class TableFigure(NamedTuple):
    """A row of the table: its name and meaning, and the metric that it is, up to a factor."""

    name: str
    meaning: str
    metric: BoundMetric
    factor: float


def table_figures(rows: float, depth: Mapping[str, Any], *, with_value: bool) -> list[TableFigure]:
    """Return the figures that the metrics declare, for a list whose first rows are looked at."""
    first = first_rows(rows)
    bound: dict[str, BoundMetric] = {}
    figures = []
    for spec in metrics_in_order():
        if "value" in spec.parameters and not with_value:
            continue
        for name, meaning, parameters, per_row in spec.figures:
            has_depth = not spec.takes_depth or "fraction" in parameters
            chosen = dict(parameters) if has_depth else {**depth, **parameters}
            # Two figures may be one metric, which is then evaluated once.
            metric = bound.setdefault(f"{spec.name} {chosen}", bind_metric(spec.function, **chosen))
            factor = rows if per_row else 1.0
            figures.append(TableFigure(name, meaning.format(rows=first), metric, factor))
    return figures


def first_rows(rows: float) -> str:
    """Return what the first rows are called in a sentence."""
    return "the first row" if rows == 1.0 else f"the first {number_text(rows)} rows"


@shared_docs
def top_of_list(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> dict[str, float]:
    r"""Return the measures of a ranking, each under its own default for ties.

    .. math:: \{\mathrm{AUC}, \mathrm{AP}, \mathrm{prec@}\kappa, R_{\max}, \dots\}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,)
        %(scores)s
    sample_weight : array-like of shape (n,), optional
        %(whole_weight)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    dict of str to float
        By the name of the measure: ``positives_at_top``, ``precision_at_quarter`` and
        ``precision_at_positives`` (k a quarter of the positives, and all of them), ``average_precision``,
        ``auc``, ``discounted_cumulative_gain`` (log2), ``discounted_cumulative_gain_natural``,
        ``average_reciprocal_rank``, ``r_max``, and ``log_r4`` ((1/4) ln of the 4-norm error).

    %(errors)s

    Notes
    -----
    O(n log n): the order of the scores is found once. With weights, n is their sum.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2; see each measure.

    Examples
    --------
    >>> top_of_list([1, 0, 1], [3.0, 2.0, 1.0])["positives_at_top"]
    1.0
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    return {
        "positives_at_top": ranking.evaluate(positives_at_top),
        "precision_at_quarter": ranking.evaluate(precision_at_k, fraction_of_positives=0.25),
        "precision_at_positives": ranking.evaluate(precision_at_k, fraction_of_positives=1.0),
        "average_precision": ranking.evaluate(average_precision),
        "auc": ranking.evaluate(auc),
        "discounted_cumulative_gain": ranking.evaluate(discounted_cumulative_gain),
        "discounted_cumulative_gain_natural": ranking.evaluate(discounted_cumulative_gain, log_base=math.e),
        "average_reciprocal_rank": ranking.evaluate(average_reciprocal_rank),
        "r_max": ranking.evaluate(r_max),
        "log_r4": ranking.evaluate(rp_error, p=4.0, scale="log"),
    }


class GainsTable(NamedTuple):
    """The contents of each part of a list, best part first, and of all rows to its end.

    Parameters
    ----------
    rows : ndarray of shape (n_parts,)
        The number of rows to the end of each part.
    positives : ndarray of shape (n_parts,)
        The number of positives in the part.
    precision, lift : ndarray of shape (n_parts,)
        The share of positives among the rows of the part, and that over the share among all rows.
    recall, cumulative_lift : ndarray of shape (n_parts,)
        The share of all positives to the end of the part, and that over the share of the rows.
    lowest_score : ndarray of shape (n_parts,)
        The score of the last row of each part.

    Examples
    --------
    >>> table = gains_table([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], n_parts=2)
    >>> table.rows.tolist(), table.recall.tolist(), table.lift.tolist()
    ([2.0, 4.0], [1.0, 1.0], [2.0, 0.0])
    """

    rows: Floats
    positives: Floats
    precision: Floats
    lift: Floats
    recall: Floats
    cumulative_lift: Floats
    lowest_score: Floats


class TopCurve(NamedTuple):
    """Precision, recall and lift among the first rows, at numbers of rows that are dense at the start.

    Parameters
    ----------
    k : ndarray of int, shape (m,)
        Numbers of rows, ascending from 1 to all.
    precision, recall, lift : ndarray of shape (m,)
        The measures among so many rows, ties by expectation.

    Examples
    --------
    >>> curve = TopCurve(*np.array([[1, 2], [1.0, 0.5], [1.0, 1.0], [2.0, 1.0]]))
    >>> curve.precision.tolist()
    [1.0, 0.5]
    """

    k: NDArray[np.int64]
    precision: Floats
    recall: Floats
    lift: Floats


@shared_docs
def gains_table(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    n_parts: int = N_PARTS,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> GainsTable:
    r"""Return the contents of each tenth of a list: the gains table, or decile table, of marketing.

    .. math:: G_j = \frac{1}{W_+} \sum_i w_i\, 1[\mathrm{rank}(i) \le \lceil j n / 10 \rceil]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,)
        %(scores)s
    n_parts : int, default=10
        The number of parts of equal size, at least 1, which end after whole rows, as ``fraction`` does in
        :func:`recall_at_k`. With fewer rows than parts, each row is a part.
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    GainsTable
        A named tuple of arrays, one entry a part: ``rows``, ``positives``, ``precision``, ``lift``,
        ``recall``, ``cumulative_lift`` and ``lowest_score``; ``DataFrame(table._asdict())`` is a frame.

    Raises
    ------
    TypeError
        When `n_parts` is not an integer.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `n_parts` is below 1.

    Notes
    -----
    O(n log n). A tie that a part ends in counts by its expectation under a random order.

    References
    ----------
    Ling and Li, *Data mining for direct marketing: problems and solutions*, KDD 1998.

    Examples
    --------
    >>> table = gains_table([1, 0, 1, 0, 0, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], n_parts=3)
    >>> table.positives.tolist(), table.recall.tolist(), table.lowest_score.tolist()
    ([1.0, 1.0, 0.0], [0.5, 1.0, 1.0], [5.0, 3.0, 1.0])
    """
    check_number("n_parts", n_parts, 1, integer=True)
    return ranking_gains_table(Ranking(y_true, scores, sample_weight, pos_label), n_parts)


def ranking_gains_table(ranking: Ranking, n_parts: int) -> GainsTable:
    """Return the gains table of a ranking."""
    depths = ListDepths(ranking)
    ends = np.unique([round_up_to_rows(j / n_parts * depths.total, ranking) for j in range(1, n_parts + 1)])
    ends[-1] = depths.total
    hits = depths.hits_among(ends)
    rows, positives = np.diff(ends, prepend=0.0), np.diff(hits, prepend=0.0)
    recall, precision = hits / depths.total_positive, positives / rows
    return GainsTable(
        ends,
        positives,
        precision,
        precision / depths.base_rate,
        recall,
        recall * depths.total / ends,
        depths.scores_at(ends),
    )


def ranking_curve(ranking: Ranking) -> TopCurve:
    """Return the curve of a ranking; if all rows weigh less than one, it has one point."""
    depths = ListDepths(ranking)
    k = log_spaced(max(1, int(depths.total)))
    hits = depths.hits_among(k)
    return TopCurve(k, hits / k, hits / depths.total_positive, hits / k / depths.base_rate)


Table = Literal["measures", "differences", "gains", "curves"]


@dataclass(frozen=True, repr=False)
class Measurement:
    """What :func:`measure` found of the scores of some models.

    Parameters
    ----------
    measures : dict of str to dict of str to ConfidenceInterval
        For each model its measures by name: ``low``, ``high``, ``estimate`` and ``standard_error``, of which
        all but the estimate are NaN where there is no interval.
    differences : dict of str to dict of str to Comparison
        For each model but the first, by how much it exceeds the first in each measure: ``low``, ``high``,
        ``difference`` and ``p_value``, of all models together.
    gains : dict of str to GainsTable
        For each model what the tenths of its list hold.
    curves : dict of str to TopCurve
        For each model precision, recall and lift against the number of rows looked at.
    meanings : dict of str to str
        What each measure is.
    n_rows, n_positives : float
        How many rows there are, and how many are positive; with weights, what they weigh.
    depth : float
        How many first rows are looked at.
    confidence_level : float or None
        The coverage of the intervals; None where there are none.
    n_resamples : int
        How many resamples they come from.
    n_groups : int or None, default=None
        How many groups of rows were drawn whole; None where rows were drawn.

    Examples
    --------
    >>> found = measure([1, 0, 1, 0], {"a": [4.0, 3.0, 2.0, 1.0]}, k=2, confidence_level=None)
    >>> found.measures["a"]["precision"].estimate
    0.5
    >>> found.summary()["scores"]["a"]["recall"]["estimate"]
    0.5
    """

    measures: dict[str, dict[str, ConfidenceInterval]]
    differences: dict[str, dict[str, Comparison]]
    gains: dict[str, GainsTable]
    curves: dict[str, TopCurve]
    meanings: dict[str, str]
    n_rows: float
    n_positives: float
    depth: float
    confidence_level: float | None
    n_resamples: int
    n_groups: int | None = None

    @property
    def first(self) -> str:
        """The model that the others are held against."""
        return next(iter(self.measures))

    def sentences(self) -> list[str]:
        """Return for each other model how many hits it has more than the first, and whether by chance."""
        return [self._sentence(model, found[HITS]) for model, found in self.differences.items()]

    def _sentence(self, model: str, found: Comparison) -> str:
        against, rows = f"{model} against {self.first}: ", first_rows(self.depth)
        if found.low == found.high == 0.0 or (self.confidence_level is None and found.difference == 0.0):
            return f"{against}as many hits in {rows}."
        said = f"{against}{found.difference:+.1f} hits in {rows}"
        if self.confidence_level is None:
            return f"{said}."
        together = f" (of all {len(self.differences)} differences together)" * (len(self.differences) > 1)
        said += (
            f", {100 * self.confidence_level:g} % interval {found.low:+.1f} to {found.high:+.1f}{together}"
        )
        if found.low > 0.0 or found.high < 0.0:
            return f"{said}: more than chance explains."
        return f"{said}, which chance alone may explain."

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the table that is shown, as texts.

        There is a row for every measure of every model, with what the measure means where there is one model.
        """
        several, with_intervals = len(self.measures) > 1, self.confidence_level is not None
        header = ["measure", *["scores"] * several, "figure"]
        header += [f"{100 * (self.confidence_level or 0.0):g} % interval"] * with_intervals
        rows = []
        for measure, meaning in self.meanings.items():
            for place, (model, found) in enumerate(self.measures.items()):
                low, high, estimate, _ = found[measure]
                interval = "–" if np.isnan(low) else f"{number_text(low)} to {number_text(high)}"
                rows.append(
                    [
                        *[measure if place == 0 else ""],
                        *[model] * several,
                        number_text(estimate),
                        *[interval] * with_intervals,
                        *[meaning] * (not several),
                    ]
                )
        return header + ["meaning"] * (not several), rows

    def title(self) -> str:
        """Return what was measured, in a line."""
        rows = f"{number_text(self.n_rows)} rows, {number_text(self.n_positives)} positive"
        return f"{', '.join(self.measures)} on {rows}; {first_rows(self.depth)} looked at"

    def __str__(self) -> str:
        """Return the table, and in sentences how the models differ."""
        header, rows = self.cells()
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        is_text = [name in ("measure", "scores", "meaning") for name in header]
        lines = (
            "  ".join(
                f"{cell:<{width}}" if text else f"{cell:>{width}}"
                for cell, width, text in zip(row, widths, is_text, strict=True)
            ).rstrip()
            for row in [header, *rows]
        )
        return "\n".join([self.title(), "", *lines, *self.sentences()])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title()})"

    def _repr_html_(self) -> str:
        said = html_sentences(*self.sentences())
        return html_sentences(self.title()) + html_table(*self.cells()) + said

    def records(self, table: Table = "measures") -> list[dict[str, Any]]:
        """Return a table's rows as dicts, for a data frame of any library.

        Parameters
        ----------
        table : {"measures", "differences", "gains", "curves"}, default="measures"
            A row for each measure of each model; for each difference to the first model; for each tenth of
            each list; or for each point of each curve.

        Returns
        -------
        list of dict
            The rows, each with the ``model`` first.

        Raises
        ------
        ValueError
            When there is no such table.
        """
        if table in ("measures", "differences"):
            figures: Mapping[str, Mapping[str, Any]] = getattr(self, table)
            return [
                {"model": model, "measure": name, **found._asdict()}
                for model, by_name in figures.items()
                for name, found in by_name.items()
            ]
        if table not in ("gains", "curves"):
            raise ValueError(f"table must be measures, differences, gains or curves, got {table!r}.")
        columns: Mapping[str, Any] = getattr(self, table)
        return [
            {"model": model, **type(found)(*row)._asdict()}
            for model, found in columns.items()
            for row in zip(*(column.tolist() for column in found), strict=True)
        ]

    def to_frame(self, table: Table = "measures") -> pd.DataFrame:
        """Return :meth:`records` as a pandas data frame.

        Parameters
        ----------
        table : {"measures", "differences", "gains", "curves"}, default="measures"
            Which rows.

        Returns
        -------
        DataFrame
            A row for each record.
        """
        return import_optional("pandas", "io").DataFrame(self.records(table))

    def summary(self) -> dict[str, Any]:
        """Return all but the curves as a dict of plain values, for JSON; what is not a number is None."""
        return {
            "rows": self.n_rows,
            "positives": self.n_positives,
            "depth": self.depth,
            "confidence_level": self.confidence_level,
            "n_resamples": self.n_resamples,
            "n_groups": self.n_groups,
            "scores": {
                model: {name: _plain(found._asdict()) for name, found in by_name.items()}
                for model, by_name in self.measures.items()
            },
            "differences": {
                model: {
                    "against": self.first,
                    **{name: _plain(found._asdict()) for name, found in by_name.items()},
                }
                for model, by_name in self.differences.items()
            },
            "gains": {
                model: [
                    _plain(dict(zip(table._fields, row, strict=True))) for row in zip(*table, strict=True)
                ]
                for model, table in self.gains.items()
            },
        }


@shared_docs
def measure(
    y_true: ArrayLike,
    scores: Mapping[str, ArrayLike] | ArrayLike,
    *,
    k: int | None = None,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    value: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float | None = 0.95,
    n_resamples: int | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> Measurement:
    r"""Measure the top of the lists of any models, with intervals, differences, a gains table and curves.

    .. math:: \theta(y, s_a), \quad \theta(y, s_b) - \theta(y, s_a)

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : dict of str to array-like of shape (n,), DataFrame, or array-like of shape (n,)
        The scores of each model by its name, finite, the higher the better; a data frame has a model in each
        column. The first is what the others are held against. Of one model the scores alone will do.
    k : int, optional
        How many of the first rows are looked at, from 1 to n; with weights, what they weigh. Without it,
        and without the two below, it is a quarter as many as there are positives.
    fraction : float, optional
        In place of k: the share of all rows that is looked at, in (0, 1], rounded up to whole rows.
    fraction_of_positives : float, optional
        In place of k: as many rows as this share of the positives, in (0, 1], rounded to the nearest number
        from 1 on.
    value : array-like of shape (n,), optional
        What each row is worth if it is positive, such as an amount of money, for :func:`value_at_k`.
    groups : array-like of shape (n,), optional
        The cluster that each row belongs to, such as its customer: resamples draw these whole, and not rows.
    confidence_level : float or None, default=0.95
        The coverage of the intervals, strictly between 0 and 1; None leaves all intervals out.
    n_resamples : int, optional
        How many resamples the bootstrap draws, at least 10; by default 2,000, of more than 100,000 rows as
        many as draw 200 million rows in all, and at least 200.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; a row is drawn with its weight, and one of weight zero is left out.
    pos_label : label, optional
        The positive class; by default the larger of two numbers, yes of yes and no, true of true and
        false. Of other texts it must be given.
    random_state : int, RandomState or None, default=None
        The seed of the resamples, which all models share.

    Returns
    -------
    Measurement
        The measures, the differences to the first model, the gains tables and the curves, which prints as a
        table.

    Raises
    ------
    TypeError
        When a parameter is not of its kind.
    ValueError
        When there is no model, the data do not fit, or a parameter is out of range.

    Notes
    -----
    The measures are ``hits``, :func:`precision_at_k` (``precision``), :func:`recall_at_k` (``recall``) and
    :func:`lift` among the first rows, with `value` also :func:`value_at_k` (``value``, ``value_share``), then
    :func:`positives_at_top`, :func:`average_precision`, :func:`auc`, :func:`partial_auc`, the lift of the
    first 1 % (``enrichment_factor``) and :func:`bedroc`, each with its default for ties. Hits are the
    precision times the number of rows.

    Intervals are those of :func:`confidence_interval` and :func:`compare`, by the bias-corrected bootstrap,
    and take the rows, or the groups, to be independent. Of m models each difference to the first holds at a
    level of :math:`1 - \delta / (m - 1)`, so that those of one measure hold together (Bonferroni), and
    p-values are m - 1 times as large, 1 at most; measures are not counted, so decide by one that was named
    before. The number of positives at the top is an extreme, of which resampling promises nothing: it has no
    interval. Nor has the share of a value that some resamples lack, as few positives are worth anything.
    Resamples of groups or weights that are shorter than k are looked at whole.

    O(n log n) for each model, and O(n) for each resample of a model or difference.

    References
    ----------
    Efron and Tibshirani, *An introduction to the bootstrap* (1993); Davison and Hinkley, *Bootstrap methods
    and their application* (1997).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.1
    >>> scores = {"a": 2 * y + rng.normal(size=500), "b": rng.normal(size=500)}
    >>> found = measure(y, scores, k=20, random_state=0)
    >>> print(*found.sentences())
    b against a: -17.0 hits in the first 20 rows, 95 % interval -20.0 to -13.0: more than chance explains.
    >>> low, high, estimate, _ = found.measures["a"]["precision"]
    >>> estimate
    0.95
    >>> [record["positives"] for record in found.records("gains")][:3]
    [33.0, 7.0, 4.0]
    """
    named_scores = _scores_by_name(scores)
    depth = {"k": k, "fraction": fraction, "fraction_of_positives": fraction_of_positives}
    depth = {name: value for name, value in depth.items() if value is not None}
    depth = depth or {"fraction_of_positives": 0.25}
    check_depth(**{name: depth.get(name) for name in ("k", "fraction", "fraction_of_positives")})
    if confidence_level is not None:
        check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    if n_resamples is not None:
        check_number("n_resamples", n_resamples, MIN_RESAMPLES, integer=True)
    seed = random_state if isinstance(random_state, int) else check_random_state(random_state).randint(2**31)
    checked = checked_rankings(y_true, list(named_scores.values()), sample_weight, pos_label, value, groups)
    rankings = dict(zip(named_scores, checked, strict=True))
    (_, baseline), *others = rankings.items()
    rows = depth_in_rows(baseline, **depth)
    n_resamples = n_resamples or default_n_resamples(len(baseline.scores))
    figures = table_figures(rows, depth, with_value=value is not None)
    draws: dict[str, Any] = {"level": confidence_level, "n_resamples": n_resamples, "random_state": seed}
    return Measurement(
        measures={name: _intervals(ranking, figures, **draws) for name, ranking in rankings.items()},
        differences={
            name: _differences([other, baseline], figures, len(others), **draws) for name, other in others
        },
        gains={name: ranking_gains_table(ranking, N_PARTS) for name, ranking in rankings.items()},
        curves={name: ranking_curve(ranking) for name, ranking in rankings.items()},
        meanings={figure.name: figure.meaning for figure in figures},
        n_rows=baseline.total,
        n_positives=baseline.total_positive,
        depth=rows,
        confidence_level=confidence_level,
        n_resamples=0 if confidence_level is None else n_resamples,
        n_groups=None if baseline.groups is None else len(np.unique(baseline.groups)),
    )


def _scores_by_name(scores: Any) -> dict[str, Any]:
    """Return the scores of each model by its name, from a mapping, a data frame or one array."""
    # A series has items too, but these are its rows.
    is_table = getattr(scores, "ndim", 2) == 2 and hasattr(scores, "items")
    pairs = list(scores.items()) if is_table else [("scores", scores)]
    names = [str(name) for name, _ in pairs]
    if not names or len(set(names)) < len(names):
        found = f"found {names}" if names else "found none"
        raise ValueError(f"scores must hold those of at least one model, each by a name of its own, {found}.")
    return dict(zip(names, (values for _, values in pairs), strict=True))


def _resampled(figures: Sequence[TableFigure], level: float | None) -> list[BoundMetric]:
    """Return the metrics of the figures that get an interval."""
    metrics = dict.fromkeys(figure.metric for figure in figures if figure.metric.spec.error.resampled)
    return [] if level is None else list(metrics)


def _intervals(
    ranking: Ranking, figures: Sequence[TableFigure], level: Any, n_resamples: int, random_state: Any
) -> dict[str, ConfidenceInterval]:
    """Return every figure of a ranking, with its interval."""
    resampled = _resampled(figures, level)
    intervals = []
    if resampled:
        draws = (level, n_resamples, random_state)
        intervals = ranking_intervals(ranking, resampled, "bca", *draws, may_be_nan=True)
    by_metric = dict(zip(resampled, intervals, strict=True))
    table = {}
    for name, _, metric, factor in figures:
        if metric not in by_metric:
            estimate = ranking.evaluate(metric.call)
            by_metric[metric] = ConfidenceInterval(math.nan, math.nan, estimate, math.nan)
        table[name] = ConfidenceInterval(*(factor * number for number in by_metric[metric]))
    return table


def _differences(
    rankings: list[Ranking],
    figures: Sequence[TableFigure],
    n_differences: int,
    level: Any,
    n_resamples: int,
    random_state: Any,
) -> dict[str, Comparison]:
    """Return the difference of two rankings in every figure; all intervals hold together."""
    resampled = _resampled(figures, level)
    comparisons = []
    if resampled:
        level = 1.0 - (1.0 - level) / n_differences
        draws = (level, n_resamples, random_state)
        comparisons = ranking_differences(rankings, resampled, "bca", *draws, may_be_nan=True)
    by_metric = dict(zip(resampled, comparisons, strict=True))
    table = {}
    for name, _, metric, factor in figures:
        if metric not in by_metric:
            one, other = (ranking.evaluate(metric.call) for ranking in rankings)
            by_metric[metric] = Comparison(math.nan, math.nan, one - other, math.nan)
        low, high, difference, p_value = by_metric[metric]
        # np.minimum keeps NaN, unlike min.
        p_value = float(np.minimum(1.0, n_differences * p_value))
        table[name] = Comparison(factor * low, factor * high, factor * difference, p_value)
    return table


def _plain(figures: Mapping[str, Any]) -> dict[str, float | None]:
    """Return numbers for JSON: without the noise of rounding, and None for NaN."""
    return {name: None if np.isnan(value) else float(f"{value:.12g}") for name, value in figures.items()}


def number_text(value: float) -> str:
    """Return a number with commas and four decimals, one from 1,000 on; a whole one with none, as they show.

    Examples
    --------
    >>> number_text(0.25), number_text(1234.0), number_text(1234.5678), number_text(-0.00001)
    ('0.2500', '1,234', '1,234.6', '0')
    """
    digits = 4 if abs(value) < 1000.0 else 1
    return f"{round(value, digits) + 0.0:,.{digits}f}".removesuffix(f".{'0' * digits}")  # plus zero: never -0
