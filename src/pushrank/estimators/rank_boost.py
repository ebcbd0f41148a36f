"""RankBoost.

Cynthia Rudin, Corinna Cortes, Mehryar Mohri, Robert Schapire, *Margin-based ranking meets boosting in the
middle*, COLT 2005; Yoav Freund, Raj Iyer, Robert Schapire, Yoram Singer, *An efficient boosting algorithm for
combining preferences*, Journal of Machine Learning Research 4 (2003), 933-969.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from pushrank.estimators._boosting import BoostedRanker
from pushrank.estimators._target import Target
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.solvers.coordinate_descent import Choice

VARIANTS = ("coordinate", "freund")


class RankBoost(BoostedRanker):
    r"""Rank by a weighted vote of weak rankers, boosted on the pairs that are ranked wrongly: RankBoost.

    Each round adds to the weight of one weak ranker :math:`h_j(x) \in [0, 1]` so as to lower

    .. math::

        \ln F(\lambda) = \ln \sum_{(i, k)} \pi_{ik}\, e^{-(f(x_i) - f(x_k))}, \qquad
        f = \sum_j \lambda_j h_j ,

    over the pairs in which row i should stand above row k.

    Parameters
    ----------
    variant : {"coordinate", "freund"}, default="coordinate"
        How a round chooses: the ranker with the largest edge :math:`|r_j| = |d_+ - d_-|`, as coordinate
        descent does, or the one that lowers F most, :math:`d_0 + 2 \sqrt{d_+ d_-}`, as Freund et al. do.
        ``"freund"`` is for two classes.
    weak_rankers : {"stumps", "columns", "regressors"}, WeakRankers, regressor or list, default="stumps"
        Thresholds of binned features; the features themselves; a small regression tree, or a regressor of
        scikit-learn, in each round; or a list of functions of the rows.
    max_rounds : int, default=100
        The number of rounds, at least 1.
    learning_rate : float, default=1.0
        The part of each step that is taken, in (0, 1].
    signed : bool, default=True
        Whether weights may be negative, so that a ranker and its mirror :math:`1 - h` are one. With False
        all weights are at least 0, the paper's convex combinations: scores then rise with every feature.
    monotonic_cst : array-like of shape (n_features,) or dict of str to int, default=None
        For stumps and columns: 1 where scores may only rise with a feature, -1 where they may only fall, 0
        where they are free, as those of categories must be.
    subsample : float, default=1.0
        The part of the rows, of each class or grade (of the query groups where there are such), that a round
        chooses and steps by, in (0, 1].
    max_features : float, default=1.0
        The part of the features that a round chooses from, in (0, 1].
    early_stopping : bool, default=False
        Whether to stop when the score of a validation part stops rising, and go back to its best round.
    scoring : str or callable, default=None
        A scorer for the validation part: the name of one of :mod:`pushrank.metrics.scorers`, or what
        scikit-learn takes; None takes minus the objective there. Of query groups, measures that take
        ``qid``, such as ``"ndcg_at_10"``, measure each by itself, and others all rows as one list. Of grades,
        measures of two classes take rows of any but the lowest as positive, as ``score`` does.
    validation_fraction : float, default=0.1
        The part of the rows (of the query groups, of the explicit pairs) to validate on, in (0, 1).
    n_iter_no_change : int, default=10
        Stop after so many rounds without a better score.
    tol : float, default=1e-10
        Stop when no ranker's edge exceeds this, at least 0.
    warm_start : bool, default=False
        Add rounds to the last fit, up to ``max_rounds`` in all; features and weak rankers must be its own.
    checkpoint : str or Path, default=None
        A file in which the run is kept. A fit with the same data and parameters goes on from it, and ends
        with the same model to the last bit as if never stopped; it may have a larger ``max_rounds``.
    checkpoint_every : int, default=100
        Write the file after every so many rounds, and at the end.
    n_jobs : int, default=None
        Threads; None or -1 for all that numba may use. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        The source of all that is drawn: subsets, the validation part, rows for quantiles beyond 200,000.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    weak_rankers_ : WeakRankers
        The fitted weak rankers.
    rankers_ : ndarray of int, shape (n_iter_,)
        The number of the weak ranker that each round moved.
    steps_ : ndarray of shape (n_iter_,)
        How far.
    coef_ : ndarray of shape (n_features,)
        With ``weak_rankers="columns"``: the coefficients, in the dtype of the training data.
    margin_ : float
        The ranking margin: the least :math:`f(x_i) - f(x_k)` of a training pair over
        :math:`\|\lambda\|_1`, at most 1; positive where all pairs are ranked rightly.
    edge_path_ : ndarray of shape (n_iter_,)
        The edges :math:`r_t` of the chosen rankers, signed.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        :math:`\ln F` before the first round and after each.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the fall of the objective.
    validation_path_ : ndarray
        With ``early_stopping``: the scores of the validation part, before the first round and after each,
        also after those beyond the best, which are not kept and which a warm start runs anew.
    best_round_ : int
        With ``early_stopping``: the number of rounds kept.
    n_iter_ : int
        The number of rounds.
    converged_ : bool
        Whether no edge exceeded ``tol`` after the last round kept.
    classes_ : ndarray
        The two classes, or the grades, ascending; absent after a fit to pairs.
    threshold_ : float
        The break-even point of the training scores: as many rows score above it as are positive.
    thresholds_ : ndarray of shape (n_grades - 1,)
        With grades: the break-even point above each grade but the highest.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had names that are all strings.

    Notes
    -----
    A round costs one reading of the (binned) data and a few of the scores. Classes, grades and query groups
    cost time linear in the rows, explicit pairs in the pairs. Rows with equal scores have the loss of margin
    zero. Where a ranker orders all pairs rightly its best step is infinite; it is then that of a sample with
    one more pair of each kind.

    References
    ----------
    Rudin et al., COLT 2005, section 3; Freund et al., JMLR 4 (2003), figure 1 and section 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = RankBoost(max_rounds=50).fit(X, y)
    >>> ranker.n_iter_, ranker.score(X, y) > 0.99
    (50, True)
    """

    def __init__(
        self,
        variant: Literal["coordinate", "freund"] = "coordinate",
        *,
        weak_rankers: Any = "stumps",
        max_rounds: int = 100,
        learning_rate: float = 1.0,
        signed: bool = True,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        subsample: float = 1.0,
        max_features: float = 1.0,
        early_stopping: bool = False,
        scoring: str | Callable[..., float] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-10,
        warm_start: bool = False,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.variant = variant
        self.weak_rankers = weak_rankers
        self.max_rounds = max_rounds
        self.learning_rate = learning_rate
        self.signed = signed
        self.monotonic_cst = monotonic_cst
        self.subsample = subsample
        self.max_features = max_features
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _objective(self) -> PushObjective:
        return PushObjective(scale="log")

    @property
    def _choice(self) -> Choice:
        return "steepest" if self.variant == "coordinate" else "lowest"

    def _check_parameters(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"variant must be one of {list(VARIANTS)}, got {self.variant!r}.")
        super()._check_parameters()

    def _check_target(self, target: Target) -> None:
        if self.variant == "freund" and not isinstance(target.sample, BipartiteSample):
            raise ValueError(
                "variant='freund' chooses rankers by sums over two classes; for grades, query groups and "
                "explicit pairs use variant='coordinate'."
            )
