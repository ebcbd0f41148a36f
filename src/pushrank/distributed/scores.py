"""Scores and predictions of the rows of Dask collections by any fitted ranker, partition by partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils.validation import check_is_fitted, validate_data

from pushrank._base.docstrings import shared_docs_from
from pushrank._base.user_types import Estimator, GenericArray
from pushrank.distributed.rows import check_collection

if TYPE_CHECKING:
    from pushrank.distributed.rows import Collection

ranker_docs = shared_docs_from(
    {
        "ranker_and_rows": """Parameters
----------
ranker : estimator
    A fitted ranker in memory.
X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
    Rows with the features of ``fit``.""",
        "ranker_errors": """Raises
------
TypeError
    When X is no Dask collection.
ValueError
    When X has other features than those of ``fit``.""",
    }
)


@ranker_docs
def decision_function(ranker: Estimator, X: Collection) -> Collection:
    """Return a score for each row, the higher the better, positive where :func:`predict` says positive.

    %(ranker_and_rows)s

    Returns
    -------
    dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        The scores, not computed yet. ``dask.array.argtopk(scores, k)`` gives the numbers of the k best rows;
        an order of all rows would be gathered on one machine.

    %(ranker_errors)s

    Examples
    --------
    >>> import dask.array as da
    >>> from pushrank import PNormPush
    >>> X = np.array([[2.0], [1.0], [0.0]])
    >>> ranker = PNormPush().fit(X, [1, 0, 0])
    >>> scores = decision_function(ranker, da.from_array(X, chunks=2))
    >>> bool(np.all(scores.compute() == ranker.decision_function(X)))
    True
    """
    coef = getattr(ranker, "coef_", None)
    return _by_partition(ranker, X, "decision_function", np.dtype(float) if coef is None else coef.dtype)


@ranker_docs
def predict(ranker: Any, X: Collection) -> Collection:
    """Return the positive class for rows scored above the break-even threshold, else the negative.

    %(ranker_and_rows)s

    Returns
    -------
    dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        Members of the ranker's ``classes_``, not computed yet.

    %(ranker_errors)s

    Examples
    --------
    >>> import dask.array as da
    >>> from pushrank import PNormPush
    >>> X = np.array([[2.0], [1.0], [0.0]])
    >>> ranker = PNormPush().fit(X, ["yes", "no", "no"])
    >>> predict(ranker, da.from_array(X, chunks=2)).compute().tolist()
    ['yes', 'no', 'no']
    """
    check_is_fitted(ranker)
    return _by_partition(ranker, X, "predict", ranker.classes_.dtype)


def _by_partition(ranker: Estimator, X: Collection, method: str, dtype: DTypeLike) -> Collection:
    check_is_fitted(ranker)
    check_collection("X", X)
    # Scikit-learn checks only the columns of a frame without rows and of an array that is not read yet.
    columns = X._meta if hasattr(X, "columns") else np.empty((1, X.shape[1]))
    validate_data(ranker, columns, reset=False, skip_check_array=True)
    if hasattr(X, "chunks"):
        X, meta = X.rechunk({1: -1}), np.empty(0, dtype)
        return X.map_blocks(_values, ranker, method, dtype, drop_axis=1, dtype=dtype, meta=meta)
    return X.map_partitions(_values, ranker, method, dtype, meta=(None, dtype))


def _values(X: Any, ranker: Estimator, method: str, dtype: DTypeLike) -> GenericArray:
    """Return what a method returns for a partition, which may be empty."""
    values: GenericArray = getattr(ranker, method)(X) if X.shape[0] else np.empty(0, dtype)
    return type(X.iloc[:, 0])(values, index=X.index) if hasattr(X, "iloc") else values
