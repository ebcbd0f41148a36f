"""PushBoost for the rows that can be acted on, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import Tags, _safe_indexing

from pushrank._base.docstrings import shared_docs
from pushrank._base.user_types import CrossValidation, Estimator, Seed
from pushrank.budgets import Budget
from pushrank.estimators import _search
from pushrank.estimators._base import BaseEstimator, tags_of_all
from pushrank.estimators._search import Selection
from pushrank.estimators._target import check_alpha
from pushrank.estimators.boosting import PushBoost
from pushrank.held_out.fits import fit_threads, fit_to
from pushrank.held_out.plan import Rows
from pushrank.weak_rankers.base import WeakRankers


@shared_docs
@dataclass(eq=False, repr=False)
class PushBoostCV(_search.SearchMixin, BaseEstimator):
    r"""PushBoost for the first rows that you can act on, chosen by cross-validation.

    Of :class:`PushBoost` at several strengths p of the push, learning rates and numbers of rounds it takes
    the one with the best precision at your budget,

    %(precision_at_budget)s

    A fold costs one fit of the most rounds for each p and learning rate: fewer rounds are its first ones. A
    fold's rows are copied, of `n_jobs` folds at a time. Rows are what :class:`PushBoost` takes.

    %(equals_of_a_candidate)s

    Parameters
    ----------
    %(budget_search_parameters)s
    ps : sequence of float, default=(1, 4, 16, 64)
        The strengths of the push, each at least 1; p = 1 is :class:`RankBoost`.
    learning_rates : sequence of float, default=(0.3, 1.0)
        The parts of each step that are taken, in (0, 1].
    n_estimators : sequence of int, default=(30, 100, 300)
        The numbers of rounds, each at least 1.
    weak_rankers : str, object or list of callables
    alpha : float, default=1e-3
        The L2 strength on the weights of the weak rankers, at least 0.
    selection : {"one_standard_error", "best"}
        Take the smallest p whose best member is within one standard error of the best of all, or the best.
        The standard error is that of the difference, fold by fold.
    random_state : int, RandomState or None

    Attributes
    ----------
    best_estimator_ : PushBoost
        Fitted to all rows.
    best_params_ : dict
        The chosen ``"p"``, ``"learning_rate"`` and ``"n_estimators"``.
    %(budget_search_ classes_)s
    threshold_ : float
        Always 0: the scores of ``best_estimator_`` have their threshold subtracted.
    %(features_)s

    Examples
    --------
    %(breast_cancer)s
    >>> ranker = PushBoostCV(100, ps=(1, 16), learning_rates=[1.0], n_estimators=(20, 40)).fit(X, y)
    >>> sorted(ranker.best_params_), int(y[ranker.rank(X)[:100]].sum())
    (['learning_rate', 'n_estimators', 'p'], 100)
    """

    budget: int | Budget | None = None
    _: KW_ONLY
    fraction: float | None = None
    fraction_of_positives: float | None = None
    cv: CrossValidation = 5
    n_jobs: int | None = None
    verbose: bool = False
    ps: Sequence[float] = (1.0, 4.0, 16.0, 64.0)
    learning_rates: Sequence[float] = (0.3, 1.0)
    n_estimators: Sequence[int] = (30, 100, 300)
    weak_rankers: str | WeakRankers | Estimator | Sequence[Callable[..., ArrayLike]] = "stumps"
    alpha: float = 1e-3
    selection: Selection = "one_standard_error"
    random_state: Seed = None

    def _choose(self, *data: Any) -> None:
        _search.check_numbers("ps", self.ps, least=1.0)
        _search.check_numbers("learning_rates", self.learning_rates, above=0.0, most=1.0)
        _search.check_numbers("n_estimators", self.n_estimators, least=1, integer=True)
        check_alpha("alpha", self.alpha)
        ranker = self._ranker().set_params(random_state=_search.draw_seed(self.random_state))
        X, labels, search = _search.Search.of_unchecked_rows(self, *data)
        target, numbers = search.target, sorted(self.n_estimators)
        rows = Rows(X, labels, np.asarray(target.codes, dtype=bool), target.weights, times=search.times)
        at_budget = _search.PrecisionAtBudget(self, target, search.times)
        grid = [{"p": p, "learning_rate": rate} for p in sorted(self.ps) for rate in self.learning_rates]

        def path(fold: _search.Fold) -> Iterator[_search.Member]:
            training, X_test = rows.part(fold.train).counted(), _safe_indexing(rows.X, fold.test)
            for params in grid:
                model = clone(ranker).set_params(**params, n_estimators=numbers[-1])
                scores, staged = np.zeros(len(fold.test)), {}
                for n_rounds, scores in enumerate(
                    fit_to(model, training).staged_decision_function(X_test), 1
                ):
                    if n_rounds in numbers:
                        staged[n_rounds] = scores
                # A fit that ended before, as nothing was left to add, has no later stages.
                for number in numbers:
                    yield _search.Member(params | {"n_estimators": number}, staged.get(number, scores))

        families = [f"p = {params['p']:g}" for params in grid for _ in numbers]
        complexity = {name: number for number, name in enumerate(dict.fromkeys(families))}
        # As in the held-out loop: sums have one order, so that the number of jobs changes nothing.
        with fit_threads(len(rows.y)):
            results = search.run(path, at_budget, len(families))
            one_hit = at_budget.one_hit(search.folds)
            best = _search.choose_for_budget(self, results, families, complexity, one_hit)
            chosen = clone(ranker).set_params(**results.params[best])
            self.best_estimator_ = fit_to(chosen, rows.counted())
        self.classes_, self.threshold_ = target.classes, 0.0

    def _ranker(self) -> PushBoost:
        return PushBoost(weak_rankers=self.weak_rankers, alpha=self.alpha)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags; missing values are taken where the weak rankers take them."""
        return tags_of_all(super().__sklearn_tags__(), [self._ranker()])
