"""What every ranker on Dask collections does with its scores, and the paragraphs that their texts share."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from pushrank._docstrings import shared_docs_from
from pushrank.distributed._sums import features_of
from pushrank.distributed.measures import average_precision
from pushrank.estimators._docstrings import PARAGRAPHS

OWN_PARAGRAPHS = {
    "client": "The client of the cluster; None takes the one that was made last.",
    "solver_dask": """How to minimise; that of the ranker in memory has other choices, which need the rows
at hand.""",
    "dask_cost": """A round sends the coefficients to every worker, and every worker returns sums, 16 bytes a
feature for each of its partitions, whatever the number of rows; at the start and every 20 to 30 iterations,
with up to 1,024 features, also a matrix of the features. Sums are added up in the order of the partitions:
the same partitions give the same coefficients to the last bit, on any number of workers, and also where some
are lost on the way, whose partitions are made anew. There should be as many partitions as threads at least.
Wide data are not taken to the space of their rows. The break-even threshold takes three rounds for float32,
and six for float64, of 16 kB a partition.""",
    "data_on_dask": """>>> import dask.array as da
>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.preprocessing import scale
>>> X, y = load_breast_cancer(return_X_y=True)
>>> X, y = da.from_array(scale(X), chunks=(200, -1)), da.from_array(y, chunks=200)""",
    "X_dask": "Rows with the features of ``fit``.",
    "X_to_load": """Finite features; chunks of arrays may be CSR. Partitions are loaded once and kept by
the workers as long as the fit takes: better do not persist them first, or they may be held twice.""",
    "y_dask": """Labels of two classes, in the partitions of X; the larger in sorted order is the positive
one.""",
    "sample_weight_dask": """Non-negative weights, likewise; an integer weight equals that many copies of
the row.""",
    "fitted_dask": """Returns
-------
self
    The fitted ranker.

Raises
------
ValueError
    When a parameter is out of range, partitions do not match, the data are not finite or lack a class, or
    there is no client.
TypeError
    When a parameter has the wrong type, or something is no Dask collection.
LostPartitionsError
    When data were lost with a worker and cannot be made anew, or no worker is left.

Warns
-----
ConvergenceWarning
    When the answer is not the optimum that was asked for; the message says what to do.
UserWarning
    When a worker was lost, whose partitions were then made anew.""",
}
shared_docs = shared_docs_from(PARAGRAPHS | OWN_PARAGRAPHS)


@shared_docs
class DaskRankerMixin:
    """Scores and classes of Dask collections, by partition, of an estimator that has one in memory beside it.

    ``local_class`` is that one, whose parameters and fitted attributes it has, and a client.
    """

    local_class: ClassVar[type]
    client: Any
    classes_: NDArray[Any]
    coef_: NDArray[np.floating]
    get_params: Callable[..., dict[str, Any]]

    def to_local(self) -> Any:
        """Return the ranker in memory with these parameters and all that was learned.

        Returns
        -------
        estimator
            The ranker of the same name without Dask.
        """
        check_is_fitted(self)
        params = self.get_params(deep=False)
        learned = {name: value for name, value in vars(self).items() if name not in params}
        del params["client"]
        local = self.local_class(**params)
        vars(local).update(deepcopy(learned))  # that which goes on learning changes what it has
        return local

    def decision_function(self, X: Any) -> Any:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            %(X_dask)s

        Returns
        -------
        dask.array.Array or dask.dataframe.Series of shape (n_samples,)
            The scores, not computed yet.
        """
        check_is_fitted(self)
        return self._by_partition(X, "decision_function", self._score_type)

    def predict(self, X: Any) -> Any:
        """Return the positive class for rows scored above the break-even threshold, else the negative.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            %(X_dask)s

        Returns
        -------
        dask.array.Array or dask.dataframe.Series of shape (n_samples,)
            Members of ``classes_``, not computed yet.
        """
        check_is_fitted(self)
        return self._by_partition(X, "predict", self.classes_.dtype)

    def rank(self, X: Any) -> Any:
        """Refuse: an order of all rows would be gathered on one machine.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            %(X_dask)s

        Raises
        ------
        NotImplementedError
            Always; the message says what to do.
        """
        raise NotImplementedError(
            "an order of all rows is not formed on a cluster: dask.array.argtopk(decision_function(X), k) "
            "gives the numbers of the k best rows, and to_local().rank the order of rows at hand."
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the average precision of the ranking of ``X``, between 0 and 1.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            %(X_dask)s
        y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
            The true classes.
        sample_weight : dask.array.Array or dask.dataframe.Series of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            :func:`pushrank.distributed.average_precision`.
        """
        return average_precision(y, self.decision_function(X), sample_weight=sample_weight)

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy; the client, which cannot be copied, is shared."""
        params = self.get_params(deep=False)
        copies = {name: clone(value, safe=False) for name, value in params.items() if name != "client"}
        cls: Any = type(self)
        copy: Self = cls(**copies, client=self.client)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """Return what is written to files, which is all but the client."""
        return {**vars(self), "client": None}

    @property
    def _score_type(self) -> Any:
        return self.coef_.dtype

    def _by_partition(self, X: Any, method: str, dtype: Any) -> Any:
        local = self.to_local()
        validate_data(self, features_of(X, type(self).__name__), reset=False, skip_check_array=True)
        if hasattr(X, "chunks"):
            X = X.rechunk({1: -1})
            meta = np.empty(0, dtype)
            return X.map_blocks(_of_rows, local, method, dtype, drop_axis=1, dtype=dtype, meta=meta)
        return X.map_partitions(_of_rows, local, method, dtype, meta=(None, dtype))


def _of_rows(X: Any, ranker: Any, method: str, score_type: Any) -> Any:
    """Return what a method returns of a partition, which may be empty."""
    found: NDArray[Any] = getattr(ranker, method)(X) if X.shape[0] else np.empty(0, score_type)
    return type(X.iloc[:, 0])(found, index=X.index) if hasattr(X, "iloc") else found
