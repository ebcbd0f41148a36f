"""Regressors or classifiers as weak rankers: one is fitted in each round."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import has_fit_parameter

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Estimator, Matrix
from pushrank._base.validation import column
from pushrank.weak_rankers.base import Numbers, Values, WeakRankers

MAX_SEED = np.iinfo(np.int32).max
# The parameters of this name belong to the estimator itself or, after "__", to a part of it.
SEED = re.compile(r"(^|__)random_state$")


class Regressors(WeakRankers):
    r"""Every round fits a regressor to the objective's gradient, and its output is a weak ranker.

    The target of a row is its Newton step :math:`-g_i / H_i` and its weight the curvature :math:`H_i`: a
    regressor of least squares then descends the objective's second-order expansion. For RankBoost targets are
    +1 and -1 and weights :math:`|g_i|`. Outputs are scaled by the range that they had in training.
    A round costs one fit to all rows and their outputs.

    Mason, Baxter, Bartlett and Frean, *Boosting algorithms as gradient descent*, NIPS 1999; Friedman, Hastie
    and Tibshirani, *Additive logistic regression*, Annals of Statistics 28 (2000), for the Newton targets.

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
        The features that each was fitted to; None for all.
    offsets_, ranges_ : list of float
        The least output of each on the training rows and how far the largest is above it.

    Examples
    --------
    >>> from pushrank import RankBoost
    >>> from sklearn.datasets import load_breast_cancer
    >>> ranker = RankBoost(weak_rankers=Regressors(), n_estimators=5, random_state=0)
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker.fit(X, y).score(X, y) > 0.99
    True
    """

    _kind: ClassVar[str] = "regressor"
    _default: ClassVar[type] = DecisionTreeRegressor

    def __init__(self, estimator: Estimator | None = None) -> None:
        self.estimator = estimator

    def fit(
        self,
        X: Matrix,
        row_weights: Floats | None = None,  # noqa: ARG002
        random_state: np.random.RandomState | None = None,  # noqa: ARG002
    ) -> Self:
        """Check the parameters, and start without regressors."""
        self._check()
        self._n_features = X.shape[1]
        self.regressors_: list[Any] = []
        self.subsets_: list[Numbers | None] = []
        self.offsets_: list[float] = []
        self.ranges_: list[float] = []
        return self

    def _check(self) -> None:
        base = self._base()
        if not hasattr(base, "predict") or weight_keyword(base) is None:
            raise TypeError(
                f"the base learner must be a {self._kind}, or a pipeline that ends in one, whose fit accepts "
                f"sample_weight, got {base!r}."
            )

    def training_outputs(self, X: Matrix, n_threads: int | None = None) -> RegressorOutputs:  # noqa: ARG002
        """Return the outputs of the regressors on the training rows, to which rounds add."""
        return RegressorOutputs(self, X)

    def fit_next(
        self,
        X: Matrix,
        targets: Floats,
        weights: Floats,
        features: Numbers | None,
        random_state: np.random.RandomState,
    ) -> Values:
        """Fit one more regressor and return its values on the rows."""
        regressor = clone(self._base())
        seed_names = [name for name in regressor.get_params() if SEED.search(name)]
        regressor.set_params(**{name: int(random_state.randint(MAX_SEED)) for name in seed_names})
        columns = X if features is None else X[:, features]
        targets, weights = self._task(targets, weights)
        # Rows of weight zero are left out, because not every estimator ignores them.
        rows = weights > 0.0
        # Weights that add up to one do not shrink from round to round as the gradient does: an estimator may
        # compare them with a constant.
        fit_weights = {str(weight_keyword(regressor)): weights[rows] / weights.sum()}
        regressor.fit(columns[rows], targets[rows], **fit_weights)
        output = _predicted(regressor, columns)
        low, high = float(output[rows].min()), float(output[rows].max())
        self.regressors_.append(regressor)
        self.subsets_.append(features)
        self.offsets_.append(low)
        self.ranges_.append(high - low)
        return self._scaled(output, -1)

    def values(self, X: Matrix, index: int) -> Values:
        """Return a regressor's output in units of its range."""
        features = self.subsets_[index]
        output = _predicted(self.regressors_[index], X if features is None else X[:, features])
        return self._scaled(output, index)

    def importances(self, indices: Numbers, gains: Floats) -> Floats:
        """Return the gains of each feature, shared out by the ``feature_importances_`` of the regressors."""
        total = np.zeros(self._n_features)
        for index, gain in zip(indices, gains, strict=True):
            features = self.subsets_[index]
            shares = self.regressors_[index].feature_importances_
            total[slice(None) if features is None else features] += gain * shares
        return total

    def truncate(self, n_rounds: int) -> None:
        """Remove the regressors of later rounds; each round fits one."""
        for fitted in (self.regressors_, self.subsets_, self.offsets_, self.ranges_):
            del fitted[n_rounds:]

    def _scaled(self, output: Floats, index: int) -> Values:
        # A regressor that predicts a constant is the weak ranker zero.
        unit = 1.0 / self.ranges_[index] if self.ranges_[index] > 0.0 else 0.0
        return (output - self.offsets_[index]) * unit

    def _base(self) -> Estimator:
        base: Estimator = self._default(max_depth=3) if self.estimator is None else self.estimator
        return base

    def _task(self, targets: Floats, weights: Floats) -> tuple[Values, Floats]:
        return targets, weights


class Classifiers(Regressors):
    r"""Every round fits a classifier of two classes, and the class it predicts is a weak ranker in {0, 1}.

    With the objective's gradient g in the scores a row's class is the sign of :math:`-g_i` and its weight
    :math:`|g_i|`, as in AdaBoost: the edge of a classifier is then a decreasing linear function of its
    weighted error. The best step has a closed form for RankBoost, AdaBoost and the P-Norm Push without
    penalty. A round costs one fit to all rows and their classes.

    Freund and Schapire, *A decision-theoretic generalization of on-line learning and an application to
    boosting*, JCSS 55 (1997); Rudin et al., COLT 2005, section 5.

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
        The features that each was fitted to; None for all.
    offsets_, ranges_ : list of float
        The least class that each predicts on the training rows, 0 or 1, and how far the largest is above it.

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
    _default = DecisionTreeClassifier

    def _task(self, targets: Floats, weights: Floats) -> tuple[Values, Floats]:
        # Targets are -g_i / H_i and weights H_i, so their product is -g_i.
        return (targets > 0.0).astype(np.intp), np.abs(targets * weights)

    def _scaled(self, output: Floats, index: int) -> Values:
        # Values of type bool have closed-form steps.
        return super()._scaled(output, index) > 0.5


def weight_keyword(estimator: object) -> str | None:
    """Return the name by which ``fit`` takes sample weights, in a pipeline by its last step, or None."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        keyword = weight_keyword(last)
        return keyword and f"{name}__{keyword}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def _predicted(estimator: Any, X: Matrix) -> Floats:
    output = column(estimator.predict(X), "the prediction of a weak ranker").astype(np.float64)
    if not np.isfinite(output).all():
        raise ValueError(f"the weak ranker {estimator!r} predicts values that are not finite.")
    return output


class RegressorOutputs:
    """The regressors on the training rows."""

    offset = 0.0

    def __init__(self, regressors: Regressors, X: Matrix) -> None:
        self._regressors, self._X = regressors, X
        self.n_rows: int = X.shape[0]
        # A round reads the values of its ranker several times, and predicting costs a pass over the rows.
        self._last: tuple[int, Values] = (-1, np.zeros(0))

    @property
    def n_rankers(self) -> int:
        return len(self._regressors.regressors_)

    @property
    def features(self) -> Numbers:
        return np.full(self.n_rankers, -1)

    @property
    def real_valued(self) -> NDArray[np.bool_]:
        # Whether a regressor has two values only is not looked at.
        return np.ones(self.n_rankers, dtype=bool)

    def fit_next(
        self, targets: Floats, weights: Floats, features: Numbers | None, random_state: np.random.RandomState
    ) -> int:
        values = self._regressors.fit_next(self._X, targets, weights, features, random_state)
        self._last = (self.n_rankers - 1, values)
        return self._last[0]

    def edges(self, row_weights: Floats) -> Floats:
        # An earlier regressor has had its best step, and its values would have to be predicted again, so that
        # its edge counts as zero.
        edges = np.zeros(self.n_rankers)
        if self.n_rankers:
            edges[-1] = row_weights @ self.values(self.n_rankers - 1)
        return edges

    def values(self, index: int) -> Values:
        if self._last[0] != index:
            self._last = (index, self._regressors.values(self._X, index))
        return self._last[1]
