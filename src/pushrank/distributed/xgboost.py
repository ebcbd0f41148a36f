"""XGBoost's trees on Dask collections, grown by the push of all rows.

Chen and Guestrin, *XGBoost: A Scalable Tree Boosting System*, KDD 2016; Cynthia Rudin, *The P-Norm Push: A
Simple Convex Ranking Algorithm that Concentrates at the Top of the List*, JMLR 10 (2009), 2233-2271.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import (
    _safe_indexing,
    check_array,
    check_consistent_length,
    check_random_state,
)
from sklearn.utils.validation import validate_data

from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank._optional import import_optional
from pushrank._validation import check_number, distinct, two_classes
from pushrank.distributed._base import OWN_PARAGRAPHS as DASK_PARAGRAPHS
from pushrank.distributed._base import DaskRankerMixin
from pushrank.distributed._partitions import Partitions
from pushrank.distributed._sums import (
    MAX_LABELS,
    aligned_parts,
    check_collection,
    checked_labels,
    features_of,
    find_client,
    joined_labels,
)
from pushrank.estimators._docstrings import PARAGRAPHS
from pushrank.estimators._target import DTYPES, row_weights
from pushrank.exceptions import LostPartitionsError
from pushrank.interop._collective import check_collective
from pushrank.interop._ranker import (
    DEFAULT_P,
    OWN_PARAGRAPHS,
    BoosterRankerMixin,
    checked_frame,
    no_split,
    push_objective,
)
from pushrank.interop.xgboost import ENGINE, PushXGBRanker, XGBObjective, xgboost
from pushrank.objectives.push import Side
from pushrank.pairs.samples import check_both_classes
from pushrank.prices import Price
from pushrank.solvers.order_statistics import Values, break_even_threshold

__all__ = ["DaskPushXGBRanker"]

HERE_PARAGRAPHS = {
    "dask_booster_fit": """Parameters
----------
X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
    Features, of which NaN are missing values; chunks of arrays may be CSR, columns of frames categories.
    Partitions are loaded once and kept by the workers as long as the fit takes.
y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
    Labels of two classes, in the partitions of X; the larger in sorted order is the positive one.
sample_weight : dask.array.Array or dask.dataframe.Series of shape (n_samples,), optional
    Non-negative weights, likewise.

Returns
-------
self
    The fitted ranker.

Raises
------
ValueError
    When a parameter is out of range or is not XGBoost's, a few sums over all rows do not give the gradient,
    partitions do not match, the data lack a class, no split meets the limits of a leaf, or there is no
    client.
TypeError
    When a parameter has the wrong type, or something is no Dask collection.
LostPartitionsError
    When a worker was lost while XGBoost trained, or data that cannot be made anew.""",
}
shared_docs = shared_docs_from(PARAGRAPHS | OWN_PARAGRAPHS | DASK_PARAGRAPHS | HERE_PARAGRAPHS)
EARLY_STOPPING = ("early_stopping", "scoring", "validation_fraction", "n_iter_no_change")


class Table(NamedTuple):
    """The checked rows of a partition that weigh anything."""

    X: Any
    labels: NDArray[Any]
    weights: Floats | None


@shared_docs
class DaskPushXGBRanker(DaskRankerMixin, BoosterRankerMixin, BaseEstimator):
    r"""XGBoost's trees on Dask collections, grown so that the worst-placed negatives are pushed down.

    The workers grow one model, by the sums of XGBoost's histograms, and push all rows together: the objective
    is that of :class:`~pushrank.interop.xgboost.PushXGBRanker`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p ,

    i over the positives and k over the negatives of all partitions.

    Parameters
    ----------
    p : float or "binary"
        %(p_of_booster)s
    price : Price, str or None
        A smooth price in place of the power p, or its name in :mod:`pushrank.prices`: ``"log_one_plus"`` with
        ``side="pull"`` is the objective of the IR Push. None is the power p.
    side : {"push", "pull", "both"}
        Push the worst-placed negatives down, pull the worst-placed positives up, or, with the price
        ``"log_one_plus"``, both.
    bottom_weight : float
        %(bottom_weight)s
    loss : {"exponential"}
        The pair loss; that of the ranker in memory has others, which compare all pairs.
    n_estimators : int
        %(n_estimators)s
    n_jobs : int or None
        The number of threads of each worker; None takes as many as Dask gives it.
    random_state : int, RandomState or None
        %(random_state)s
    client : distributed.Client or None, default=None
        %(client)s
    **booster_params
        Any other of XGBoost's parameters, as for the ranker in memory, such as ``learning_rate``,
        ``max_depth`` or ``device``.

    Attributes
    ----------
    %(attributes_of_booster features_)s

    Notes
    -----
    Trees differ from those in memory where a worker's histograms are added up in another order, and where its
    quantiles of a column are merged with others' (XGBoost's bins are approximate): the objective goes down
    alike, and no tree is the same to the last bit. Rows' weights take part in the quantiles, too. A round
    costs eight numbers beside XGBoost's histograms, of the size of the bins, the features and the nodes.

    XGBoost settles which worker holds what when training begins, and does not go on without one: where a
    worker is killed, the fit raises as soon as the others notice, in seconds where its connections close, and
    after XGBoost's own limit of time where a machine falls silent. Fit anew then. There is no early stopping,
    for XGBoost averages measures over workers: choose ``n_estimators`` on a sample, by
    :class:`~pushrank.interop.xgboost.PushXGBRankerCV`. LightGBM's Dask layer has no such ranker, for its
    objectives see the rows of one worker.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009); Chen and Guestrin, *XGBoost*, KDD 2016.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)
    >>> ranker = DaskPushXGBRanker(p=4, max_depth=3).fit(X, y)  # doctest: +SKIP
    >>> ranker.to_local(), ranker.score(X, y)  # doctest: +SKIP
    (PushXGBRanker(max_depth=3, p=4), 1.0)
    """

    _engine = ENGINE
    local_class: ClassVar[type] = PushXGBRanker

    def __init__(
        self,
        p: float | Literal["binary"] = DEFAULT_P,
        *,
        price: Price | str | None = None,
        side: Side = "push",
        bottom_weight: float = 1.0,
        loss: str = "exponential",
        n_estimators: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
        client: Any = None,
        **booster_params: Any,
    ) -> None:
        self.p = p
        self.price = price
        self.side = side
        self.bottom_weight = bottom_weight
        self.loss = loss
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.client = client
        self._booster_params = booster_params

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a ranking from two classes.

        %(dask_booster_fit)s
        """
        objective = push_objective(self)
        if objective is not None:
            check_collective(objective)
        check_number("n_estimators", self.n_estimators, 1, integer=True)
        for name in set(EARLY_STOPPING).intersection(self._booster_params):
            raise ValueError(
                f"{name} cannot be taken: XGBoost would stop by the mean of the workers' measures; choose "
                "n_estimators on a sample of the rows, by PushXGBRankerCV."
            )
        random_state = check_random_state(self.random_state)
        params = ENGINE.params(self, int(random_state.randint(np.iinfo(np.int32).max)))
        client = find_client(self)
        tables = load_tables(self, client, X, y, sample_weight)
        n_rows, labels = zip(*tables.map(_summary), strict=True)
        classes, _ = two_classes(joined_labels(labels), ranker=type(self).__name__)
        class_weights = np.sum(tables.map(_class_weights, classes[1]), axis=0)
        check_both_classes(*(int(weight > 0.0) for weight in class_weights))
        own: dict[str, Any] = {"objective": "binary:logistic"} if objective is None else {"base_score": 0.0}
        push = None if objective is None else XGBObjective(objective)
        engine = import_optional("xgboost.dask", "xgboost")
        try:
            with client.as_current():  # XGBoost asks for the current one, whichever it is given
                matrix = _matrix(client, X, tables, n_rows, classes[1], weighted=sample_weight is not None)
                n_rounds = int(self.n_estimators)
                booster = engine.train(client, params | own, matrix, n_rounds, obj=push)["booster"]
        except xgboost.core.XGBoostError as error:
            lost = set(tables.holders).difference(client.nthreads())
            if not lost:
                raise
            raise LostPartitionsError(
                f"lost {', '.join(sorted(lost))}, and XGBoost goes on with no other worker; fit anew."
            ) from error
        if not booster.get_score():
            raise no_split(sum(n_rows), ENGINE.limits)
        scores = tables.derive(_scored, np.frombuffer(booster.save_raw(), dtype=np.uint8))
        threshold = break_even_threshold(scores, np.empty(0, np.float32), float(class_weights[1]))
        self.booster_, self.n_iter_ = booster, ENGINE.n_rounds(booster)
        self.best_round_, self.validation_path_ = self.n_iter_, np.zeros(0)
        self.classes_, self.threshold_, self.thresholds_ = classes, threshold, np.array([threshold])
        return self

    @property
    def _score_type(self) -> Any:
        return np.dtype(np.float32)


def load_tables(ranker: Any, client: Any, X: Any, y: Any, sample_weight: Any) -> Partitions:
    """Return the rows of collections, checked and kept on the workers; a ``Table`` for each partition."""
    given = {"X": X, "y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    for argument, collection in given.items():
        check_collection(argument, collection, type(ranker).__name__)
    columns = features_of(X, type(ranker).__name__)
    if hasattr(columns, "iloc"):
        checked_frame(ranker, columns)
    else:
        validate_data(ranker, columns, skip_check_array=True)
    delayed = import_optional("dask", "dask").delayed(_checked_table, pure=False)
    return Partitions.of_delayed(client, [delayed(i, *part) for i, part in enumerate(aligned_parts(given))])


def _checked_table(place: int, X: Any, y: Any, sample_weight: Any = None) -> Table:
    """Return the checked rows of a partition, by its number."""
    try:
        if not hasattr(X, "iloc"):
            options: dict[str, Any] = {"ensure_all_finite": False, "ensure_min_samples": 0}
            X = check_array(X, accept_sparse="csr", dtype=DTYPES, input_name="X", **options)
        labels = checked_labels(y)
        check_consistent_length(X, labels)
        weights = row_weights(sample_weight, len(labels))
        if weights is None or weights.all():
            return Table(X, labels, weights)
        kept = np.flatnonzero(weights)  # XGBoost counts rows in bins, whatever they weigh
        return Table(_safe_indexing(X, kept), labels[kept], weights[kept])
    except ValueError as error:
        raise ValueError(f"partition {place}: {error}") from error


def _summary(table: Table) -> tuple[int, NDArray[Any]]:
    """Return how many rows there are, and their distinct labels."""
    if not len(table.labels):
        return 0, table.labels
    return len(table.labels), distinct(table.labels)[:MAX_LABELS]


def _class_weights(table: Table, positive: Any) -> Floats:
    """Return the weight of a partition's positives and negatives."""
    codes = (table.labels != positive).astype(np.intp)
    return np.bincount(codes, table.weights, 2).astype(np.float64)


def _matrix(client: Any, X: Any, tables: Partitions, n_rows: Any, positive: Any, *, weighted: bool) -> Any:
    """Return the rows as XGBoost takes them, where they are."""
    array, dask = import_optional("dask.array", "dask"), import_optional("dask", "dask")
    parts = [dask.delayed(_columns, pure=False, nout=3)(table, positive) for table in tables.futures]

    def joined(column: int, dtype: Any, *width: int) -> Any:
        arrays = [
            array.from_delayed(part[column], (n, *width), dtype)
            for part, n in zip(parts, n_rows, strict=True)
        ]
        return array.concatenate(arrays)

    if hasattr(X, "chunks"):
        data = joined(0, X.dtype, X.shape[1])
    else:
        frames = import_optional("dask.dataframe", "dask")
        data = frames.from_delayed([part[0] for part in parts], meta=X._meta, verify_meta=False)
    weights = joined(2, np.float64) if weighted else None
    engine = import_optional("xgboost.dask", "xgboost")
    return engine.DaskDMatrix(client, data, joined(1, np.float64), weight=weights, enable_categorical=True)


def _columns(table: Table, positive: Any) -> tuple[Any, Floats, Floats | None]:
    """Return features, class codes and weights."""
    return table.X, (table.labels == positive).astype(np.float64), table.weights


def _scored(table: Table, raw: NDArray[np.uint8]) -> Values:
    """Return the scores of a partition's rows by a booster, with their weights."""
    booster = xgboost.Booster()
    booster.load_model(bytearray(raw))
    scores = ENGINE.scores(booster, table.X) if len(table.labels) else np.zeros(0, dtype=np.float32)
    return Values(scores, table.weights)
