"""The table of metrics for the scores of any models, with intervals, differences, gains tables and curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, compress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from pushrank._base.bounds import as_count, decimals
from pushrank._base.docstrings import metric_docs
from pushrank._base.html import html_sentences, html_table
from pushrank._base.optional import import_optional
from pushrank._base.user_types import Label, Seed
from pushrank._base.validation import check_choice
from pushrank.metrics._families import metrics_in_order
from pushrank.metrics._ranking import (
    DEPTHS,
    Ranking,
    check_depth,
    checked_rankings,
    depth_in_rows,
    scores_by_name,
)
from pushrank.metrics._registry import BoundMetric, bind_metric
from pushrank.metrics._sampling import Sampling
from pushrank.metrics.discounted import average_reciprocal_rank, discounted_cumulative_gain
from pushrank.metrics.gains import GainsTable, TopCurve, ranking_curve, ranking_gains_table
from pushrank.metrics.intervals import Comparison, ConfidenceInterval, ranking_differences, ranking_intervals
from pushrank.metrics.pairwise import r_max, rp_error
from pushrank.metrics.precision import average_precision, positives_at_top, precision_at_k
from pushrank.metrics.roc import auc

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["VERY_FITS", "Measurement", "measure", "number_text", "top_of_list"]


AT = " at "
"""What follows in the name of a figure is the share of the list, or the rate, that was asked for."""


VERY_FITS = "Differences are of these very fits: {} allows for other training rows, too."


CHOSEN = {"enrichment_factor": "fraction", "bedroc": "alpha"}
"""The figures that are shown at chosen values of a parameter, and this parameter."""


class TableFigure(NamedTuple):
    """A row of the table: its name and meaning, and the metric that it is, up to a factor."""

    name: str
    meaning: str
    metric: BoundMetric
    factor: float


def table_figures(
    rows: float,
    depth: Mapping[str, float | None],
    choices: Mapping[str, Sequence[Mapping[str, float]]],
    *,
    with_value: bool,
    every: bool,
) -> list[TableFigure]:
    """Return the figures that the metrics declare, for a list whose first rows are looked at."""
    # A figure that `choices` names is there once for each of its parameters in `choices`.
    first = first_rows(rows)
    bound: dict[str, BoundMetric] = {}
    figures = []
    for spec in metrics_in_order():
        if "value" in spec.parameters and not with_value:
            continue
        for name, meaning, parameters, per_row, extra in spec.figures:
            for choice in choices.get(name) or ([{}] if every or not extra else []):
                chosen = {**parameters, **choice}
                if spec.takes_depth and not {"fraction", "fraction_of_positives"} & chosen.keys():
                    chosen = {**depth, **chosen}
                # Two figures may be one metric, which is then evaluated once.
                metric = bound.setdefault(f"{spec.name} {chosen}", bind_metric(spec.function, **chosen))
                percent = f"{100.0 * chosen.get('fraction', 0.0):g} %"
                at = percent if "fraction" in choice else f"{choice.get('alpha', 0.0):g}"
                about = meaning.format(rows=first, percent=percent, **chosen)
                figures.append(
                    TableFigure(name + f"{AT}{at}" * bool(choice), about, metric, rows if per_row else 1.0)
                )
    return figures


def why_no_interval(metric: BoundMetric, ranking: Ranking) -> str:
    """Return why a metric has no interval, if it has none."""
    if not metric.spec.error.resampled:
        return "an extreme, of which resamples say nothing"
    return metric.why_too_few(ranking) or "the same in every resample, or undefined in some"


def first_rows(rows: float) -> str:
    """Return what the first rows are called in a sentence."""
    return "the first row" if rows == 1.0 else f"the first {number_text(rows)} rows"


@metric_docs
def top_of_list(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> dict[str, float]:
    r"""Return the main metrics of a ranking, each with its default rule for ties.

    .. math:: \{\mathrm{AUC}, \mathrm{AP}, \mathrm{prec@}\kappa, R_{\max}, \dots\}

    O(n log n): the scores are sorted once. With weights, n is their sum. Rudin, *The P-Norm Push*, JMLR 10
    (2009), section 2; see each measure.

    %(labels_and_scores whole_weights)s

    Returns
    -------
    dict of str to float
        By the name of the measure: ``positives_at_top``, ``precision_at_quarter`` and
        ``precision_at_positives`` (k a quarter of the positives, and all of them), ``average_precision``,
        ``auc``, ``discounted_cumulative_gain`` (log2), ``discounted_cumulative_gain_natural``,
        ``average_reciprocal_rank``, ``r_max``, and ``log_r4`` ((1/4) ln of the 4-norm error).

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


Table = Literal["measures", "differences", "gains", "curves"]


@dataclass(frozen=True, repr=False)
class Measurement:
    """The result of :func:`measure`: a table of metrics for the scores of some models.

    Parameters
    ----------
    measures : dict of str to dict of str to ConfidenceInterval
        For each model its figures by name: ``low``, ``high``, ``estimate`` and ``standard_error``. Without an
        interval, all but the estimate are NaN.
    pairs : dict of (str, str) to dict of str to Comparison
        For each pair of models that is compared, the difference of its first from its second in each figure:
        ``low``, ``high``, ``difference`` and ``p_value``, adjusted for the number of pairs.
    gains : dict of str to GainsTable
        For each model the contents of the tenths of its list.
    curves : dict of str to TopCurve
        For each model precision, recall and lift against the number of rows looked at.
    meanings : dict of str to str
        The meaning of each figure.
    n_rows, n_positives : float
        The number of rows, and of positives; with weights, what they weigh.
    depth : float
        The number of first rows that are looked at.
    confidence_level : float or None
        The coverage of the intervals; None without intervals.
    n_resamples : int
        The number of resamples behind the intervals.
    n_groups : int or None, default=None
        The number of groups that the resamples draw whole; None if they draw rows.
    why_none : dict of str to str
        Why each figure has no interval, if it has none.
    caveat : str, default=""
        What the differences do not allow for.

    Examples
    --------
    >>> measured = measure([1, 0, 1, 0], {"a": [4.0, 3.0, 2.0, 1.0]}, k=2, confidence_level=None)
    >>> measured.measures["a"]["precision"].estimate
    0.5
    >>> measured.summary()["scores"]["a"]["recall"]["estimate"]
    0.5
    """

    measures: dict[str, dict[str, ConfidenceInterval]]
    pairs: dict[tuple[str, str], dict[str, Comparison]]
    gains: dict[str, GainsTable]
    curves: dict[str, TopCurve]
    meanings: dict[str, str]
    n_rows: float
    n_positives: float
    depth: float
    confidence_level: float | None
    n_resamples: int
    n_groups: int | None = None
    why_none: dict[str, str] = field(default_factory=dict)
    caveat: str = ""

    @property
    def first(self) -> str:
        """The first model, with which the others are compared."""
        return next(iter(self.measures))

    @property
    def differences(self) -> dict[str, dict[str, Comparison]]:
        """The ``pairs`` of the first model, by the other model."""
        return {model: found for (model, other), found in self.pairs.items() if other == self.first}

    def sentences(self) -> list[str]:
        """Return how many hits models have beyond others, and whether by chance."""
        where, n = f"in {first_rows(self.depth)}", len(self.pairs)
        said = [
            difference_sentence(f"{model} against {other}", found["hits"], where, self.confidence_level, n)
            for (model, other), found in self.pairs.items()
        ]
        return [*said, self.caveat] if said and self.caveat else said

    def why_no_intervals(self) -> str:
        """Return a sentence on the figures that have no interval; an empty one if all have theirs."""
        reasons: dict[str, list[str]] = {}
        for name in self.meanings if self.confidence_level is not None else ():
            if any(np.isnan(figures[name].low) for figures in self.measures.values()):
                reasons.setdefault(self.why_none[name], []).append(name)
        shown = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
        return f"Without an interval: {shown}." * bool(shown)

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the printed table, as texts: a row for each figure of a model."""
        several, level = len(self.measures) > 1, self.confidence_level
        header = ["measure", "scores", "figure", f"{100 * (level or 0.0):g} % interval", "meaning"]
        shown = [True, several, True, level is not None, not several]
        rows = []
        for name, meaning in self.meanings.items():
            for model, figures in self.measures.items():
                low, high, estimate, _ = figures[name]
                texts = [number_text(number, low, high) for number in (estimate, low, high)]
                interval = "–" if np.isnan(low) else f"{texts[1]} to {texts[2]}"
                first_cell = name if model == self.first else ""
                rows.append([first_cell, model, texts[0], interval, meaning])
        header, *rows = (list(compress(row, shown)) for row in [header, *rows])
        return header, rows

    def title(self) -> str:
        """Return a line that says what was measured."""
        rows = f"{number_text(self.n_rows)} rows, {number_text(self.n_positives)} positive"
        return f"{', '.join(self.measures)} on {rows}; {first_rows(self.depth)} looked at"

    def __str__(self) -> str:
        """Return the table, and the sentences on the differences."""
        lines = [self.title(), "", *aligned_lines(*self.cells()), self.why_no_intervals(), *self.sentences()]
        return "\n".join(line for number, line in enumerate(lines) if line or number == 1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title()})"

    def _repr_html_(self) -> str:
        sentences = html_sentences(*filter(None, [self.why_no_intervals(), *self.sentences()]))
        return html_sentences(self.title()) + html_table(*self.cells()) + sentences

    def records(self, table: Table = "measures") -> list[dict[str, Any]]:
        """Return the rows of a table as dicts, for a data frame of any library.

        Parameters
        ----------
        table : {"measures", "differences", "gains", "curves"}, default="measures"
            A row for each figure of each model; for each difference of two models; for each tenth of each
            list; or for each point of each curve.

        Returns
        -------
        list of dict
            The rows, each with the ``model`` first, and of a difference the model that it is ``against``.

        Raises
        ------
        ValueError
            When there is no such table.
        """
        if table in ("measures", "differences"):
            figures: Mapping[Any, Any] = self.measures if table == "measures" else self.pairs
            return [
                {**_names(of), "measure": name, **figure._asdict()}
                for of, by_name in figures.items()
                for name, figure in by_name.items()
            ]
        if table not in ("gains", "curves"):
            raise ValueError(f"table must be measures, differences, gains or curves, got {table!r}.")
        tables: Mapping[str, Any] = getattr(self, table)
        return [{"model": model, **row} for model, columns in tables.items() for row in _rows(columns)]

    def to_frame(self, table: Table = "measures") -> pd.DataFrame:
        """Return :meth:`records` of a table as a pandas data frame, a row for each record."""
        return import_optional("pandas", "io").DataFrame(self.records(table))

    def to_paper(self) -> pd.DataFrame:
        """Return figures and differences as one frame, measure by measure: those at chosen shares and rates.

        If no shares or rates were chosen it has all figures. ``note`` says why an interval is missing.
        """
        pd = import_optional("pandas", "io")
        figures = self.to_frame().rename(columns={"estimate": "figure"}).assign(against="")
        differences = self.to_frame("differences").rename(columns={"difference": "figure"})
        frame = pd.concat([figures, differences], ignore_index=True)
        names = [name for name in self.meanings if AT in name] or list(self.meanings)
        frame = frame[frame["measure"].isin(names)]
        frame = frame.sort_values("measure", key=lambda column: column.map(names.index), kind="stable")
        has_none = frame["low"].isna() & (self.confidence_level is not None)
        note = frame["measure"].map(self.why_none).where(has_none, "")
        columns = ["model", "against", "measure", "figure", "low", "high", "p_value"]
        return frame.reindex(columns=columns).assign(note=note)

    def summary(self) -> dict[str, object]:
        """Return everything but the curves as a dict of plain values, for JSON, with None in place of NaN."""
        return {
            "rows": as_count(self.n_rows),
            "positives": as_count(self.n_positives),
            "depth": as_count(self.depth),
            "confidence_level": self.confidence_level,
            "n_resamples": self.n_resamples,
            "n_groups": self.n_groups,
            "without_interval": self.why_no_intervals(),
            "scores": {model: plain_figures(figures) for model, figures in self.measures.items()},
            "differences": {
                model: {"against": self.first, **plain_figures(figures)}
                for model, figures in self.differences.items()
            },
            "pairs": [
                {"model": model, "against": against, **plain_figures(figures)}
                for (model, against), figures in self.pairs.items()
                if against != self.first
            ],
            "gains": {model: [_plain(row) for row in _rows(table)] for model, table in self.gains.items()},
        }


@metric_docs
def measure(
    y_true: ArrayLike,
    scores: Mapping[str, ArrayLike] | ArrayLike,
    *,
    k: int | None = None,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    at: Mapping[str, Sequence[float]] | None = None,
    pairs: Literal["first", "all"] = "first",
    every: bool = False,
    value: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float | None = 0.95,
    n_resamples: int | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
    random_state: Seed = None,
) -> Measurement:
    r"""Measure the top of the lists of any models, with intervals, differences, gains tables and curves.

    .. math:: \theta(y, s_a), \quad \theta(y, s_b) - \theta(y, s_a)

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : dict of str to array-like of shape (n,), DataFrame, or array-like of shape (n,)
        The scores of each model by its name, finite, the higher the better; a data frame has a model in each
        column. For one model the scores alone suffice.
    k : int, optional
        %(k)s
        Without any of the three it is a quarter of the number of positives.
    fraction : float, optional
    fraction_of_positives : float, optional
    at : dict of str to sequence of float, optional
        For ``"enrichment_factor"`` shares of the list, in (0, 1], at each of which to show it, in place of
        0.01; and for ``"bedroc"`` positive rates at each of which to show :func:`bedroc`, in place of 20.
    pairs : {"first", "all"}, default="first"
        Whether the others are compared with the first model alone, or all with each other.
    every : bool, default=False
        Whether to show also the discounted gains, the average reciprocal rank, precisions among a quarter as
        many rows as positives and among as many, and the errors of a push.
    value : array-like of shape (n,), optional
        The value of each row if it is positive, such as an amount of money, for :func:`value_at_k`.
    groups : array-like of shape (n,), optional
    confidence_level : float or None, default=0.95
        The nominal coverage of the intervals, strictly between 0 and 1; with None there are no intervals.
    n_resamples : int, optional
    sample_weight : array-like of shape (n,), optional
        %(weight_drawn)s
    pos_label : label, optional
    random_state : int, RandomState or None

    Returns
    -------
    Measurement
        Measures, differences to the first model, gains tables and curves, which print as a table.

    Raises
    ------
    TypeError
        When a parameter is not of its kind.
    ValueError
        When there is no model, the data do not fit, or a parameter is out of range.

    See Also
    --------
    measure_acted : Where only the rows that were listed or audited have a label.

    Notes
    -----
    The measures are ``hits`` (the precision times the number of rows), :func:`precision_at_k`
    (``precision``), :func:`recall_at_k` (``recall``) and :func:`lift` among the first rows, with `value` also
    :func:`value_at_k` (``value``, ``value_share``), then :func:`positives_at_top`, :func:`average_precision`,
    :func:`auc`, :func:`partial_auc`, the lift of the first 1 % (``enrichment_factor``) and :func:`bedroc`,
    each with its default for ties. At chosen shares and rates they are named so: ``"enrichment_factor at
    0.5 %"``, ``"bedroc at 80.5"``.

    Intervals are those of :func:`confidence_interval` and :func:`compare`, by the bias-corrected bootstrap.
    Each of m differences has an interval of level :math:`1 - \delta / m`, so that those of one figure hold
    together (Bonferroni), and p-values are multiplied by m, up to 1. They are not adjusted for the number of
    figures, so decide by one that was named before. The number of positives at the top, an extreme, has no
    interval, nor has the share of a value that is zero on some resamples. A resample of groups or weights
    that is shorter than k is looked at whole. O(n log n) for each model, and O(n) for each resample of a
    model or a difference.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.1
    >>> scores = {"a": 2 * y + rng.normal(size=500), "b": rng.normal(size=500)}
    >>> measured = measure(y, scores, k=20, random_state=0)
    >>> print(*measured.sentences())
    b against a: -17.0 hits in the first 20 rows, 95 % interval -20.0 to -13.0: more than chance explains.
    >>> low, high, estimate, _ = measured.measures["a"]["precision"]
    >>> estimate
    0.95
    >>> [record["positives"] for record in measured.records("gains")][:3]
    [33.0, 7.0, 4.0]
    """
    named_scores = scores_by_name(scores)
    asked = zip(DEPTHS, (k, fraction, fraction_of_positives), strict=True)
    depth: dict[str, Any] = {name: value for name, value in asked if value is not None}
    depth = depth or {"fraction_of_positives": 0.25}
    check_depth(**depth)
    check_choice("pairs", pairs, ("first", "all"))
    shown_at = at or {}
    for name in shown_at:
        check_choice("a name in at", name, CHOSEN)
    # All models share one seed, so that they are compared on the same resamples.
    seed = random_state if isinstance(random_state, int) else check_random_state(random_state).randint(2**31)
    sampling = None
    if confidence_level is not None:
        sampling = Sampling(confidence_level, n_resamples, seed, may_be_nan=True)
    checked = checked_rankings(y_true, list(named_scores.values()), sample_weight, pos_label, value, groups)
    rankings = dict(zip(named_scores, checked, strict=True))
    first, baseline = next(iter(rankings.items()))
    compared = [(b, a) for a, b in combinations(rankings, 2) if a == first or pairs == "all"]
    rows = depth_in_rows(baseline, **depth)
    choices = {name: [{CHOSEN[name]: number} for number in of] for name, of in shown_at.items()}
    figures = table_figures(rows, depth, choices, with_value=value is not None, every=every)
    return Measurement(
        measures={name: _intervals(ranking, figures, sampling) for name, ranking in rankings.items()},
        pairs={
            pair: _differences([rankings[name] for name in pair], figures, len(compared), sampling)
            for pair in compared
        },
        gains={name: ranking_gains_table(ranking, 10) for name, ranking in rankings.items()},
        curves={name: ranking_curve(ranking) for name, ranking in rankings.items()},
        meanings={figure.name: figure.meaning for figure in figures},
        n_rows=baseline.total,
        n_positives=baseline.total_positive,
        depth=rows,
        confidence_level=confidence_level,
        n_resamples=0 if sampling is None else sampling.number(len(baseline.scores)),
        n_groups=None if baseline.groups is None else len(np.unique(baseline.groups)),
        why_none={figure.name: why_no_interval(figure.metric, baseline) for figure in figures},
    )


def _resampled(figures: Sequence[TableFigure]) -> list[BoundMetric]:
    """Return the metrics of the figures that get an interval."""
    return list(dict.fromkeys(f.metric for f in figures if f.metric.spec.error.resampled))


def _intervals(
    ranking: Ranking, figures: Sequence[TableFigure], sampling: Sampling | None
) -> dict[str, ConfidenceInterval]:
    """Return every figure of a ranking, with its interval."""
    by_metric = {}
    if sampling is not None:
        resampled = _resampled(figures)
        by_metric = dict(zip(resampled, ranking_intervals(ranking, resampled, sampling), strict=True))
    table = {}
    for name, _, metric, factor in figures:
        if metric not in by_metric:
            estimate = ranking.evaluate(metric.call)
            by_metric[metric] = ConfidenceInterval(math.nan, math.nan, estimate, math.nan)
        table[name] = ConfidenceInterval(*(factor * number for number in by_metric[metric]))
    return table


def _differences(
    rankings: list[Ranking], figures: Sequence[TableFigure], n_differences: int, sampling: Sampling | None
) -> dict[str, Comparison]:
    """Return the difference of two rankings in every figure; all intervals hold together."""
    by_metric = {}
    if sampling is not None:
        resampled, level = _resampled(figures), 1.0 - (1.0 - sampling.level) / n_differences
        comparisons = ranking_differences(rankings, resampled, replace(sampling, level=level))
        by_metric = dict(zip(resampled, comparisons, strict=True))
    table = {}
    for name, _, metric, factor in figures:
        if metric not in by_metric:
            value, other_value = (ranking.evaluate(metric.call) for ranking in rankings)
            by_metric[metric] = Comparison(math.nan, math.nan, value - other_value, math.nan)
        low, high, difference, p_value = by_metric[metric]
        # np.minimum keeps NaN, unlike min.
        p_value = float(np.minimum(1.0, n_differences * p_value))
        table[name] = Comparison(factor * low, factor * high, factor * difference, p_value)
    return table


def difference_sentence(
    against: str, hits: Comparison, where: str, level: float | None, n_differences: int, digits: int = 1
) -> str:
    """Return how many hits one model has beyond another, and whether by chance; NaN is no interval."""
    if hits.low == hits.high == 0.0 or (level is None and hits.difference == 0.0):
        return f"{against}: as many hits {where}."
    sentence = f"{against}: {hits.difference:+.{digits}f} hits {where}"
    if level is None or math.isnan(hits.low):
        return f"{sentence}."
    together = f" (of all {n_differences} differences together)" * (n_differences > 1)
    sentence += f", {100 * level:g} % interval {hits.low:+.{digits}f} to {hits.high:+.{digits}f}{together}"
    if hits.low > 0.0 or hits.high < 0.0:
        return f"{sentence}: more than chance explains."
    return f"{sentence}, which chance alone may explain."


def aligned_lines(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return the lines of a printed table, of which columns of text begin on the left."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    is_text = [name in ("measure", "scores", "meaning") for name in header]
    return [
        "  ".join(
            f"{cell:<{width}}" if text else f"{cell:>{width}}"
            for cell, width, text in zip(row, widths, is_text, strict=True)
        ).rstrip()
        for row in [header, *rows]
    ]


def _names(of: str | tuple[str, str]) -> dict[str, str]:
    """Return the cells that name a model, or a model and the one that it is compared with."""
    return {"model": of} if isinstance(of, str) else dict(zip(("model", "against"), of, strict=True))


def _rows(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a named tuple of columns."""
    return [type(table)(*row)._asdict() for row in zip(*(column.tolist() for column in table), strict=True)]


def plain_figures(figures: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    return {name: _plain(figure._asdict()) for name, figure in figures.items()}


def _plain(numbers: Mapping[str, Any]) -> dict[str, float | None]:
    """Return numbers for JSON: rounded to twelve digits, and None for NaN."""
    plain = {name: None if np.isnan(number) else float(f"{number:.12g}") for name, number in numbers.items()}
    named = ((name, plain.get(name)) for name in ("rows", "positives"))
    return plain | {name: as_count(number) for name, number in named if number is not None}


def number_text(value: float, low: float = math.nan, high: float = math.nan) -> str:
    """Return a number with commas and the decimals that its interval supports, or with four digits."""
    if high > low:
        # Sums of shares are whole up to rounding.
        is_whole = all(round(number, 9) == round(number) for number in (value, low, high))
        digits = 0 if is_whole else decimals((high - low) / 2.0)
        return f"{round(value, digits) + 0.0:,.{digits}f}"
    digits = max(1, 4 - len(f"{abs(value):.0f}".lstrip("0")))
    # Adding zero makes minus zero zero.
    return f"{round(value, digits) + 0.0:,.{digits}f}".removesuffix(f".{'0' * digits}")
