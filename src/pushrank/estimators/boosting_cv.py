"""PushBoost for the rows that one can act on, its push, learning rate and rounds by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import UNUSED

from pushrank import weak_rankers
from pushrank._parallel import one_blas_thread
from pushrank._validation import check_number
from pushrank.estimators._boosting import BoostedRankerMixin
from pushrank.estimators._budget import BudgetSearch, Member, check_selection
from pushrank.estimators._categories import encode_categories
from pushrank.estimators._docstrings import shared_docs
from pushrank.estimators._scoring import Fold
from pushrank.estimators._target import check_alpha, validate_two_classes
from pushrank.estimators.boosting import PushBoost
from pushrank.estimators.push_cv import GroupRoutingMixin


@shared_docs
@dataclass(eq=False, repr=False)
class PushBoostCV(BoostedRankerMixin, BaseEstimator):
    r"""PushBoost for the first rows that you can act on, chosen by cross-validation.

    Of :class:`PushBoost` at several strengths p of the push, learning rates and numbers of rounds it takes
    the one with the best precision at your budget,

    .. math:: \frac{1}{k} \sum_i 1[\mathrm{rank}(i) \le k]

    over the positives i, on the parts of a cross-validation that were not learned from.

    Parameters
    ----------
    budget : int, default=None
        %(budget)s
    fraction : float, default=None
        %(fraction)s
    fraction_of_positives : float, default=None
        %(fraction_of_positives)s
    ps : sequence of float, default=(1, 4, 16, 64)
        The strengths of the push, each at least 1; p = 1 is :class:`RankBoost`.
    learning_rates : sequence of float, default=(0.3, 1.0)
        The parts of each step that are taken, in (0, 1].
    n_estimators : sequence of int, default=(30, 100, 300)
        The numbers of rounds, each at least 1.
    weak_rankers : {"stumps", "columns", "regressors", "classifiers"}, or an object
        %(weak_rankers)s
    alpha : float, default=1e-3
        The L2 strength on the weights of the weak rankers, at least 0.
    cv : int, splitter or iterable
        %(cv)s
    selection : {"one_standard_error", "best"}, default="one_standard_error"
        Take the smallest p whose best member is within one standard error of the best of all, or the best.
        The standard error is that of the difference, fold by fold.
    n_jobs : int or None
        %(n_jobs_folds)s
    random_state : int, RandomState or None
        %(random_state)s
    verbose : bool
        %(verbose_cv)s

    Attributes
    ----------
    best_params_ : dict
        The chosen ``"p"``, ``"learning_rate"`` and ``"n_estimators"``.
    %(budget_search_ candidates_by_p)s
    %(weak_rankers_ estimator_index_ estimator_weights_ intercept_zero_ coef_columns_ margin_ edges_)s
    %(objective_path_rounds_ feature_importances_ n_iter_rounds_ converged_edge_)s
    %(classes_grades_ threshold_ thresholds_ features_)s

    Notes
    -----
    A fold costs one fit of the most rounds for each p and learning rate: fewer rounds are its first ones.
    Members whose precision differs by no more than one hit over all folds count as equals, of which the one
    with the best average precision is taken. A fold's rows are copied, of `n_jobs` folds at a time.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, *Classification and regression trees* (1984), section 3.4.3: the rule
    of one standard error.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushBoostCV(100, ps=(1, 16), learning_rates=[1.0], n_estimators=(20, 40)).fit(X, y)
    >>> sorted(ranker.best_params_), int(y[ranker.rank(X)[:100]].sum())
    (['learning_rate', 'n_estimators', 'p'], 100)
    """

    # as of the other searches, without a third class above this one
    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012
    get_metadata_routing = GroupRoutingMixin.get_metadata_routing

    budget: int | None = None
    _: KW_ONLY
    fraction: float | None = None
    fraction_of_positives: float | None = None
    ps: Sequence[float] = (1.0, 4.0, 16.0, 64.0)
    learning_rates: Sequence[float] = (0.3, 1.0)
    n_estimators: Sequence[int] = (30, 100, 300)
    weak_rankers: Any = "stumps"
    alpha: float = 1e-3
    cv: Any = 5
    selection: Literal["one_standard_error", "best"] = "one_standard_error"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the push, the learning rate and the rounds by cross-validation, and learn with them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            %(X)s
        y : array-like of shape (n_samples,)
            %(y_two_classes)s
        sample_weight : array-like of shape (n_samples,), optional
            %(sample_weight_cv)s
        groups : array-like of shape (n_samples,), optional
            %(groups)s

        %(fitted_for_budget)s
        """
        check_numbers("ps", self.ps, least=1.0)
        check_numbers("learning_rates", self.learning_rates, above=0.0, most=1.0)
        check_numbers("n_estimators", self.n_estimators, least=1, integer=True)
        check_alpha("alpha", self.alpha)
        check_selection(self.selection)
        learner = clone(weak_rankers.resolve(self.weak_rankers))
        X, encoder = encode_categories(learner, X)
        X, target = validate_two_classes(self, X, y, sample_weight, allow_missing=learner.takes_missing)
        search = BudgetSearch(self, X, target, groups)
        rounds = sorted({int(number) for number in self.n_estimators})

        def boosted(p: float, learning_rate: float, n_rounds: int) -> PushBoost:
            return PushBoost(
                float(p),
                weak_rankers=learner,
                n_estimators=int(n_rounds),
                alpha=self.alpha,
                learning_rate=float(learning_rate),
                random_state=search.seed,
            )

        def solve(fold: Fold) -> list[Member]:
            """Return all members."""
            train_X, test = fold.train_X, X[fold.test]
            found = []
            for p, learning_rate in product(self.ps, self.learning_rates):
                ranker = boosted(p, learning_rate, rounds[-1])
                ranker.fit(train_X, search.is_positive[fold.train], search.weights[fold.train])
                staged = dict(enumerate(ranker.staged_decision_function(test), 1))
                for n_rounds in rounds:
                    params = {"p": p, "learning_rate": learning_rate, "n_estimators": n_rounds}
                    found.append(search.member(params, fold, staged[min(n_rounds, ranker.n_iter_)]))
            return found

        with one_blas_thread():
            found = search.choose(solve, "p", float)
            final = boosted(*found["best_params_"].values()).fit(X, y, sample_weight)
        unset = {*final.get_params(), "validation_path_", "best_round_"}
        learned = {name: value for name, value in vars(final).items() if name not in unset}
        for name, value in (learned | found | {"_encoder": encoder}).items():
            setattr(self, name, value)
        return self


def check_numbers(name: str, values: Any, **limits: Any) -> None:
    """Raise unless a parameter is a list of at least one number within limits.

    Raises
    ------
    ValueError
        When it is empty, or a number is out of range.
    TypeError
        When one is not a number.
    """
    if np.ndim(values) != 1 or len(values) == 0:
        raise ValueError(f"{name} must be a list of at least one number, got {values!r}.")
    for value in values:
        check_number(name, value, **limits)
