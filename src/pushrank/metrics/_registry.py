"""What is declared of each metric, and the way from a caller's arrays to its value."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from pushrank._base.docstrings import metric_docs
from pushrank._base.numeric import Floats
from pushrank._base.parallel import map_chunks
from pushrank._base.user_types import Label
from pushrank._base.validation import refuse_masked
from pushrank.metrics._counts import RankCounts
from pushrank.metrics._ranking import Ranking

NOTHING: Mapping[str, float] = MappingProxyType({})


class Figure(NamedTuple):
    """A figure in the table of :func:`pushrank.metrics.measure`."""

    # In the meaning `{rows}` stands for the first rows, at whose depth the metric is evaluated unless
    # `parameters` has another, and a name of `parameters` for its value. With `per_row` the figure is
    # multiplied by the number of rows. The table has `extra` figures only when all are asked for.

    name: str
    meaning: str
    parameters: Mapping[str, Any] = NOTHING
    per_row: bool = False
    extra: bool = False


class Trials(NamedTuple):
    """The number of independent trials that a proportion is made of, and its value if all succeed."""

    n: float
    unit: float


@dataclass(frozen=True)
class SamplingError:
    """How the sampling error of a metric is estimated."""

    # The default is resampling. `resampled` is False for an extreme, such as the number of positives above
    # every negative: its resamples promise nothing, so the table of `measure` shows no interval.
    # `influence_values(ranking, **parameters)` returns the influence of each positive and of each negative,
    # up to a constant, whose covariance gives a normal interval: DeLong's for the AUC. `trials(ranking,
    # **parameters)` returns what a proportion is a proportion of, for Clopper and Pearson's interval where
    # resamples say nothing. `hits(ranking, **parameters)` returns, of a metric that adds up hits, the
    # weight of each row that is among the first rows, and what a hit is worth. Fewer positives than
    # `least_positives` have no interval.

    resampled: bool = True
    influence_values: Callable[..., tuple[Floats, Floats]] | None = None
    trials: Callable[..., Sequence[Trials]] = lambda _ranking, **_parameters: ()
    hits: Callable[..., tuple[Floats, float]] | None = None
    least_positives: int = 5


@dataclass(frozen=True, eq=False)
class MetricSpec:
    """A metric, and what is declared of it by :func:`register_metric`."""

    name: str
    function: Callable[..., float]
    family: str = "the caller's"
    error: SamplingError = SamplingError()
    uses_scores: bool = True
    greater_is_better: bool = True
    scorers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    figures: Sequence[Figure] = ()

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters of the function."""
        return list(signature(self.function).parameters)

    @property
    def takes_depth(self) -> bool:
        """Whether the metric is of the first rows, whose number its caller chooses."""
        return "fraction" in self.parameters


METRICS: dict[str, MetricSpec] = {}
"""The metrics that give a ranking one number, by name: those that can be resampled and made scorers."""

MetricFunction = TypeVar("MetricFunction", bound=Callable[..., float])


def register_metric(
    *,
    error: SamplingError = MetricSpec.error,
    uses_scores: bool = False,
    greater_is_better: bool = True,
    scorers: Mapping[str, Mapping[str, object]] | None = None,
    figures: Sequence[Figure] = (),
) -> Callable[[MetricFunction], MetricFunction]:
    """Return a decorator that registers a metric and fills the shared paragraphs of its docstring."""

    # A metric that `uses_scores` depends on more than their order; any other is evaluated on
    # RankCounts. `scorers` has the parameters of each scorer by its name, by default of one with
    # the metric's name and defaults. `figures` are what the table of `measure` shows of the metric.
    def register(function: MetricFunction) -> MetricFunction:
        name, takes_depth = function.__name__, "fraction" in signature(function).parameters
        named = scorers if scorers is not None else {} if takes_depth else {name: {}}
        prefix = "" if greater_is_better else "neg_"
        METRICS[name] = MetricSpec(
            name,
            function,
            function.__module__,
            error,
            uses_scores,
            greater_is_better,
            {prefix + scorer: parameters for scorer, parameters in named.items()},
            figures,
        )
        return metric_docs(function)

    return register


@dataclass(frozen=True, eq=False)
class BoundMetric:
    """A metric with values of its parameters; the spec of a user's function has the defaults alone."""

    spec: MetricSpec
    call: Callable[..., float]
    parameters: Mapping[str, object]

    def why_too_few(self, ranking: Ranking) -> str:
        """Return why rows are too few for an interval; an empty text if they are not."""
        # Hits are proportions of rows and of positives, whatever the number of negatives.
        least = self.spec.error.least_positives
        for n, name in zip(class_sizes(ranking), ("positive", "negative"), strict=True):
            if n < least and not (name == "negative" and self.spec.error.hits):
                rows = f"{name}s" if ranking.groups is None else f"groups with a {name}"
                by_weight = " by weight" * (ranking.weights is not None)
                return f"it takes {least} {rows}, found {n:.3g}{by_weight}"
        return ""


def class_sizes(ranking: Ranking) -> list[float]:
    """Return the effective numbers of positives and of negatives, or of the groups that hold them."""
    # Kish's number of equal weights misses that of the rows by rounding.
    return [round(ranking.effective_number(rows), 9) for rows in (ranking.is_positive, ~ranking.is_positive)]


def bind_metric(metric: str | Callable[..., Any], **parameters: object) -> BoundMetric:
    """Return a metric, or the one of :mod:`pushrank.metrics` that a name stands for, with its parameters."""
    if isinstance(metric, str):
        if metric not in METRICS:
            raise ValueError(
                f"metric={metric!r} is not known; use one of {sorted(METRICS)}, "
                "or a callable metric(y_true, scores)."
            )
        metric = METRICS[metric].function
    if not callable(metric):
        raise TypeError(f"metric must be callable or one of {sorted(METRICS)}, got {type(metric).__name__}.")
    call: Callable[..., float] = partial(metric, **parameters) if parameters else metric
    function = call
    # Python merges a partial of a partial into a single partial with the keywords of both.
    if isinstance(call, partial):
        parameters, function = call.keywords, call.func
    # A user's metric need not be hashable, so it is looked up by its name and compared by identity.
    name = getattr(function, "__name__", type(function).__name__)
    spec = METRICS.get(name)
    if spec is None or spec.function is not function:
        return BoundMetric(MetricSpec(name, function), call, parameters)
    for row_parameter in ("pos_label", "sample_weight", "value"):
        if parameters.get(row_parameter) is not None:
            raise ValueError(
                f"the partial of {name} sets {row_parameter}, which is a parameter of confidence_interval "
                "and compare: give it there."
            )
    if parameters.get("qid") is not None:
        raise ValueError(
            f"{name} with qid has no interval: the queries are of the rows in the order given, and resamples "
            "draw rows, not queries."
        )
    return BoundMetric(spec, call, parameters)


def evaluate(
    metric_of_ranking: Callable[[Any], float],
    y_true: ArrayLike,
    scores: ArrayLike | RankCounts,
    sample_weight: ArrayLike | None,
    pos_label: Label | None,
    most: float = math.inf,
) -> Any:
    """Return a metric of one ranking, also a checked one, or of each row of scores, shape (n_rankings, n)."""
    # Rounding takes none above `most`, its largest value.
    if isinstance(scores, RankCounts):
        if sample_weight is not None or pos_label is not None:
            raise ValueError("rows are checked and weighted already: give sample_weight and pos_label there.")
        return min(metric_of_ranking(scores), most)
    if not are_many_rankings(scores):
        return min(metric_of_ranking(Ranking(y_true, scores, sample_weight, pos_label)), most)
    table = np.asarray(scores)
    if table.ndim == 2 and table.shape[1] != _num_samples(y_true):
        raise ValueError(
            f"scores must hold one for each of {_num_samples(y_true)} rows, or a row for each of several "
            f"rankings, found shape {table.shape}; of predict_proba pass the column [:, 1]."
        )
    # Labels and weights are checked with the first ranking only.
    first = Ranking(y_true, table[0], sample_weight, pos_label)
    rankings = [first, *(first.with_scores(row) for row in table[1:])]
    numbers = [(number, number + 1) for number in range(len(rankings))]
    return np.array(map_chunks(lambda number, _: min(metric_of_ranking(rankings[number]), most), numbers))


def are_many_rankings(scores: ArrayLike) -> bool:
    """Return whether the scores are a table with a row for each ranking; a single column is one ranking."""
    for row in scores if isinstance(scores, list | tuple) else (scores,):
        refuse_masked(row, "scores")
    shape = np.shape(scores)
    return len(shape) == 2 and shape[0] > 0 and shape[1] != 1
