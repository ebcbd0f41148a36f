"""Regressors or classifiers fitted a round each, such as small trees."""

from __future__ import annotations

import re
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pushrank._numeric import Floats
from pushrank._validation import column, weight_keyword
from pushrank.weak_rankers.base import Numbers, Values, WeakRankers

MAX_SEED = np.iinfo(np.int32).max
SEED = re.compile(r"(^|__)random_state$")  # an estimator's own, or that of a part of it


class Regressors(WeakRankers):
    r"""Every round fits a regressor to the objective's gradient, and its output is a weak ranker.

    The target of a row is its Newton step :math:`-g_i / H_i` and its weight the curvature :math:`H_i`: a
    regressor of least squares then descends the objective's second-order expansion. For RankBoost targets are
    +1 and -1 and weights :math:`|g_i|`. Outputs are scaled by the range that they had in training.
    A round costs one fit to all rows and their outputs.

    Parameters
    ----------
    estimator : scikit-learn regressor, default=None
        The base learner, or a pipeline that ends in it, which must accept ``sample_weight``. None stands for
        ``DecisionTreeRegressor(max_depth=3)``.

    Attributes
    ----------
    regressors_ : list of fitted regressors
        One for each round.
    subsets_ : list of (ndarray of int or None)
        The features that each was given; None for all.
    offsets_, ranges_ : list of float
        The least output of each on the training rows and how far the largest is above it.

    References
    ----------
    Mason, Baxter, Bartlett and Frean, *Boosting algorithms as gradient descent*, NIPS 1999; Friedman, Hastie
    and Tibshirani, *Additive logistic regression*, Annals of Statistics 28 (2000), for the Newton targets.

    Examples
    --------
    >>> from pushrank import RankBoost
    >>> from sklearn.datasets import load_breast_cancer
    >>> ranker = RankBoost(weak_rankers=Regressors(), n_estimators=5, random_state=0)
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker.fit(X, y).score(X, y) > 0.99
    True
    """

    _kind = "regressor"

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(
        self,
        X: Any,
        row_weights: Floats | None = None,  # noqa: ARG002
        random_state: np.random.RandomState | None = None,  # noqa: ARG002
    ) -> Self:
        """Forget all regressors.

        Raises
        ------
        TypeError
            When the base learner is no regressor that accepts sample weights.
        """
        base = self._base()
        if not hasattr(base, "predict") or weight_keyword(base) is None:
            raise TypeError(
                f"the base learner must be a {self._kind}, or a pipeline that ends in one, whose fit accepts "
                f"sample_weight, got {base!r}."
            )
        self._n_features = X.shape[1]
        self.regressors_: list[Any] = []
        self.subsets_: list[Numbers | None] = []
        self.offsets_: list[float] = []
        self.ranges_: list[float] = []
        return self

    def training_outputs(self, X: Any, n_threads: int | None = None) -> RegressorOutputs:  # noqa: ARG002
        """Return the rankers of the training rows, ready to grow."""
        return RegressorOutputs(self, X)

    def fit_next(
        self,
        X: Any,
        targets: Floats,
        weights: Floats,
        features: Numbers | None,
        random_state: np.random.RandomState,
    ) -> Values:
        """Fit one more regressor and return its values on the rows."""
        regressor = clone(self._base())
        seed_names = [name for name in regressor.get_params() if SEED.search(name)]
        regressor.set_params(**{name: int(random_state.randint(MAX_SEED)) for name in seed_names})
        given = X if features is None else X[:, features]
        rows = weights > 0.0
        fit_weights = {str(weight_keyword(regressor)): weights[rows] / weights.sum()}
        regressor.fit(given[rows], targets[rows], **fit_weights)
        output = _predicted(regressor, given)
        low, high = float(output[rows].min()), float(output[rows].max())
        self.regressors_.append(regressor)
        self.subsets_.append(features)
        self.offsets_.append(low)
        self.ranges_.append(high - low)
        return self._scaled(output, -1)

    def values(self, X: Any, index: int) -> Values:
        """Return a regressor's output in units of its range."""
        features = self.subsets_[index]
        output = _predicted(self.regressors_[index], X if features is None else X[:, features])
        return self._scaled(output, index)

    def scores(self, X: Any, indices: Numbers, weights: Floats) -> Floats:
        """Return the weighted sums of rankers."""
        total = np.zeros(X.shape[0])
        for index, weight in zip(indices, weights, strict=True):
            total += weight * self.values(X, int(index))
        return total

    def importances(self, indices: Numbers, gains: Floats) -> Floats:
        """Return the gains of each feature, shared as the regressors' own importances say.

        Raises
        ------
        AttributeError
            When the base learner has no ``feature_importances_``.
        """
        total = np.zeros(self._n_features)
        for index, gain in zip(indices, gains, strict=True):
            features = self.subsets_[index]
            own = self.regressors_[index].feature_importances_
            total[slice(None) if features is None else features] += gain * own
        return total

    def truncate(self, n_rounds: int) -> None:
        """Forget the regressors of later rounds, of which each made one."""
        for fitted in (self.regressors_, self.subsets_, self.offsets_, self.ranges_):
            del fitted[n_rounds:]

    def _scaled(self, output: Floats, index: int) -> Values:
        unit = 1.0 / self.ranges_[index] if self.ranges_[index] > 0.0 else 0.0
        return (output - self.offsets_[index]) * unit

    def _base(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator


class Classifiers(Regressors):
    r"""Every round fits a classifier of two classes, and the class it predicts is a weak ranker in {0, 1}.

    With the objective's gradient g in the scores a row's class is the sign of :math:`-g_i` and its weight
    :math:`|g_i|`, as in AdaBoost: the error of a classifier in these weights is then its edge, but for
    constants. The best step has a closed form for RankBoost, AdaBoost and the P-Norm Push without penalty.
    A round costs one fit to all rows and their classes.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None
        The base learner, or a pipeline that ends in it, which must accept ``sample_weight``. None stands for
        ``DecisionTreeClassifier(max_depth=3)``.

    Attributes
    ----------
    regressors_ : list of fitted classifiers
        One for each round.
    subsets_ : list of (ndarray of int or None)
        The features that each was given; None for all.
    offsets_, ranges_ : list of float
        The least class that each predicts on the training rows, 0 or 1, and how far the largest is above it.

    References
    ----------
    Freund and Schapire, *A decision-theoretic generalization of on-line learning and an application to
    boosting*, JCSS 55 (1997); Rudin et al., COLT 2005, section 5.

    Examples
    --------
    >>> from pushrank import PushBoost
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> PushBoost(weak_rankers=GaussianNB(), n_estimators=20).fit(X, y).score(X, y) > 0.98
    True
    """

    _kind = "classifier"

    def fit_next(
        self,
        X: Any,
        targets: Floats,
        weights: Floats,
        features: Numbers | None,
        random_state: np.random.RandomState,
    ) -> Values:
        """Fit one more classifier and return its values on the rows."""
        # targets are -g_i / H_i and weights H_i
        return super().fit_next(
            X, (targets > 0.0).astype(np.intp), np.abs(targets * weights), features, random_state
        )

    def _scaled(self, output: Floats, index: int) -> Values:
        return super()._scaled(output, index) > 0.5  # bool: values of two kinds have closed-form steps

    def _base(self) -> Any:
        return DecisionTreeClassifier(max_depth=3) if self.estimator is None else self.estimator


def _predicted(estimator: Any, X: Any) -> Floats:
    output = column(estimator.predict(X), "what a weak ranker predicts").astype(np.float64)
    if not np.isfinite(output).all():
        raise ValueError(f"the weak ranker {estimator!r} predicts what is not finite.")
    return output


class RegressorOutputs:
    """The regressors at work on the training rows."""

    offset = 0.0

    def __init__(self, regressors: Regressors, X: Any) -> None:
        self._regressors, self._X = regressors, X
        self.n_rows: int = X.shape[0]
        # a round reads the newest ranker's values several times: they are predicted once
        self._last: tuple[int, Values] = (-1, np.zeros(0))

    @property
    def n_rankers(self) -> int:
        """How many there are so far."""
        return len(self._regressors.regressors_)

    @property
    def features(self) -> Numbers:
        """No regressor reads a single feature."""
        return np.full(self.n_rankers, -1)

    @property
    def real_valued(self) -> NDArray[np.bool_]:
        """All are taken to be."""
        return np.ones(self.n_rankers, dtype=bool)

    def fit_next(
        self, targets: Floats, weights: Floats, features: Numbers | None, random_state: np.random.RandomState
    ) -> int:
        """Fit a new regressor and return its number."""
        values = self._regressors.fit_next(self._X, targets, weights, features, random_state)
        newest = self.n_rankers - 1
        self._last = (newest, values)
        return newest

    def edges(self, row_weights: Floats) -> Floats:
        """Return the edge of the newest regressor; earlier ones are not looked at again."""
        edges = np.zeros(self.n_rankers)
        if self.n_rankers:
            edges[-1] = row_weights @ self.values(self.n_rankers - 1)
        return edges

    def values(self, index: int) -> Values:
        """Return a regressor's output on the training rows."""
        if self._last[0] != index:
            self._last = (index, self._regressors.values(self._X, index))
        return self._last[1]
