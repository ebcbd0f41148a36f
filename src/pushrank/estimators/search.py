"""Any ranker, and PushBoost, for the rows that can be acted on, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.validation import _num_samples

from pushrank._base.docstrings import shared_docs
from pushrank._base.user_types import CrossValidation, Estimator, MatrixLike, Seed
from pushrank.budgets import Budget
from pushrank.estimators import _search
from pushrank.estimators._base import BaseEstimator, RankerMixin, set_classes, tags_of_all
from pushrank.estimators._search import Selection
from pushrank.estimators._target import check_alpha
from pushrank.estimators.boosting import PushBoost
from pushrank.estimators.push import PNormPush
from pushrank.held_out.fits import fit_threads, fit_to, model_scores
from pushrank.held_out.plan import Rows
from pushrank.weak_rankers.base import WeakRankers

ROUNDS = "n_estimators"


class Candidate(NamedTuple):
    """An estimator, values of its parameters to choose from, and a label for the parameters chosen."""

    name: str
    estimator: Estimator
    grid: Mapping[str, Sequence[Any]]
    label: dict[str, object]

    def path(self, rows: Rows, X_test: MatrixLike, whole: bool) -> Iterator[tuple[dict[str, Any], Any, Any]]:
        """Yield the parameters of each member, its scores of the rows held out, and the ``whole`` model."""
        numbers = sorted(self.grid.get(ROUNDS, ()))
        others = {name: values for name, values in self.grid.items() if name != ROUNDS}
        for values in product(*others.values()):
            params = dict(zip(others, values, strict=True))
            # Fewer rounds of a boosting fit are its first ones: one fit scores them all.
            nest = getattr(clone(self.estimator).set_params(**params), "_rounds_nest", False)
            if numbers and nest and not whole:
                model = self.fitted(params | {ROUNDS: numbers[-1]}, rows)
                scores, staged = np.zeros(_num_samples(X_test)), {}
                for n_rounds, scores in enumerate(model.staged_decision_function(X_test), 1):
                    if n_rounds in numbers:
                        staged[n_rounds] = scores
                # A fit that ended before, as nothing was left to add, has no later stages.
                for number in numbers:
                    yield params | {ROUNDS: number}, staged.get(number, scores), None
                continue
            for point in [{ROUNDS: number} for number in numbers] or [{}]:
                model = self.fitted(params | point, rows)
                yield params | point, model_scores(model, X_test), model

    def fitted(self, params: dict[str, object], rows: Rows) -> Any:
        """Return a clone of the estimator with these parameters, fitted to the rows of positive weight."""
        return fit_to(clone(self.estimator).set_params(**params), rows.counted())


@shared_docs
@dataclass(eq=False, repr=False)
class RankerSearchCV(_search.SearchMixin, BaseEstimator):
    r"""Any ranker or classifier for the first rows that you can act on, chosen by cross-validation.

    Of several estimators, each over its own parameters, it takes the one with the best precision at your
    budget,

    %(precision_at_budget)s

    Every member is fitted once a fold. Boosted rankers of pushrank, without early stopping, are fitted once
    for all numbers of rounds (``n_estimators``), for fewer rounds are the first ones of a longer fit; a
    scorer is called with models, of which every number of rounds is then a fit.

    %(equals_of_a_candidate)s

    Rows reach the estimators as they come, a fold's as a copy.

    Parameters
    ----------
    candidates : sequence of (str, estimator, dict), default=None
        Names, estimators and the values of their parameters to choose from, in ascending order of complexity.
        Estimators are rankers, classifiers and pipelines, with ``decision_function`` or ``predict_proba``.
        None takes logistic regression, the P-Norm Push and boosted stumps.
    %(budget_search_parameters scoring_of_a_search)s
    selection : {"one_standard_error", "best"}
        Take the first of `candidates` whose best member is within one standard error of the best of all, or
        the best. The standard error is that of the difference, fold by fold.
    keep_scores : bool
        Whether to keep the scores of the rows that were held out, in ``held_out_scores_``.

    Attributes
    ----------
    candidate_ : str
        The name of the candidate that was chosen.
    best_estimator_ : estimator
        Fitted to all rows.
    %(best_params_candidate budget_search_)s
    held_out_scores_ : ndarray of shape (n_candidates, n_samples)
        The scores of each candidate's best member by the fits that had not seen the row, NaN where no fold
        held it out; only with ``keep_scores``. Scores of different folds may differ in scale.
    %(classes_)s
    threshold_ : float
        The break-even point of the training scores: as many rows score above it as are positive. It is 0 for
        rankers of pushrank, from whose scores the threshold is subtracted already.
    %(features_)s

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pushrank import PushBoost
    %(breast_cancer)s
    >>> scaled = make_pipeline(StandardScaler(), LogisticRegression())
    >>> candidates = [
    ...     ("logistic regression", scaled, {"logisticregression__C": [0.1, 1.0]}),
    ...     ("stumps", PushBoost(), {"p": [4.0, 16.0], "n_estimators": [10, 40]}),
    ... ]
    >>> search = RankerSearchCV(candidates, budget=100).fit(X, y)
    >>> search.candidate_, int(y[search.rank(X)[:100]].sum())
    ('logistic regression', 100)
    """

    candidates: Sequence[tuple[str, Any, Mapping[str, Sequence[Any]]]] | None = None
    _: KW_ONLY
    budget: int | Budget | None = None
    fraction: float | None = None
    fraction_of_positives: float | None = None
    cv: CrossValidation = 5
    n_jobs: int | None = None
    verbose: bool = False
    scoring: str | Callable[..., float] | None = None
    selection: Selection = "one_standard_error"
    keep_scores: bool = False

    def _choose(self, *data: Any) -> None:
        named = check_candidates(self.candidates)
        candidates = [Candidate(*candidate, {"candidate": candidate[0]}) for candidate in named]
        fit_candidates(self, candidates, *data, keep_scores=self.keep_scores)
        self.candidate_ = self.best_params_["candidate"]

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: sparse rows and missing values are taken where all candidates do."""
        candidates = check_candidates(self.candidates)
        return tags_of_all(super().__sklearn_tags__(), (estimator for _, estimator, _ in candidates))


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
        grid = {"learning_rate": self.learning_rates, ROUNDS: self.n_estimators}
        candidates = [Candidate(f"p = {p:g}", ranker, {"p": [p], **grid}, {}) for p in sorted(self.ps)]
        fit_candidates(self, candidates, *data)

    def _ranker(self) -> PushBoost:
        return PushBoost(weak_rankers=self.weak_rankers, alpha=self.alpha)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags; missing values are taken where the weak rankers take them."""
        return tags_of_all(super().__sklearn_tags__(), [self._ranker()])


def fit_candidates(
    ranker: RankerMixin, candidates: Sequence[Candidate], *data: Any, keep_scores: bool = False
) -> None:
    """Choose among estimators, in ascending order of complexity, and fit the chosen one to all rows."""
    X, labels, search = _search.Search.of_unchecked_rows(ranker, *data)
    target = search.target
    rows = Rows(X, labels, np.asarray(target.codes, dtype=bool), target.weights, times=search.times)
    at_budget = _search.PrecisionAtBudget(ranker, target, search.times)
    measure, one_hit = _search.measure_of(search, X, at_budget)
    by_scorer = measure is not at_budget

    def path(fold: _search.Fold) -> Iterator[_search.Member]:
        training, X_test = rows.part(fold.train), _safe_indexing(rows.X, fold.test)
        for candidate in candidates:
            for params, scores, model in candidate.path(training, X_test, whole=by_scorer):
                yield _search.Member(candidate.label | params, scores, model=model)

    n_members = (prod(map(len, candidate.grid.values())) for candidate in candidates)
    families = [of.name for of, n in zip(candidates, n_members, strict=True) for _ in range(n)]
    complexity = {candidate.name: number for number, candidate in enumerate(candidates)}
    # As in the held-out loop: sums have one order, so that the number of jobs changes nothing.
    with fit_threads(len(rows.y)):
        results = search.run(path, measure, len(families), keep_scores=keep_scores)
        best = _search.choose_for_budget(ranker, results, families, complexity, one_hit)
        chosen = candidates[complexity[families[best]]]
        params = {name: value for name, value in results.params[best].items() if name in chosen.grid}
        ranker.best_estimator_ = chosen.fitted(params, rows)
    ranker.classes_, ranker.threshold_ = target.classes, 0.0
    # Rankers of pushrank score rows that they predict positive above zero; others need a threshold.
    if not isinstance(ranker.best_estimator_, RankerMixin):
        set_classes(ranker, target, model_scores(ranker.best_estimator_, rows.X))


def check_candidates(candidates: Any) -> list[tuple[str, Any, Mapping[str, Sequence[Any]]]]:
    """Return the estimators to choose from, with their names and grids."""
    if candidates is None:
        return [
            ("logistic regression", LogisticRegression(max_iter=1000), {"C": [0.01, 1.0, 100.0]}),
            ("P-Norm Push", PNormPush(), {"p": [4.0, 16.0, 64.0]}),
            ("boosted stumps", PushBoost(), {"p": [1.0, 16.0], ROUNDS: [30, 100]}),
        ]
    for given in candidates:
        if not (isinstance(given, tuple | list) and len(given) == 3 and isinstance(given[0], str)):
            raise ValueError(
                f"candidates must be tuples of a name, an estimator and a dict of lists, got {given!r}."
            )
        for name, values in given[2].items():
            if isinstance(values, str) or np.ndim(values) != 1 or len(values) == 0:
                raise ValueError(
                    f"{name} of the candidate {given[0]!r} must be a list of at least one value, got "
                    f"{values!r}."
                )
    names = [name for name, _, _ in candidates]
    if len(set(names)) < max(1, len(names)):
        raise ValueError(f"candidates must be one or more, each with a name of its own, got {names}.")
    return list(candidates)
