"""A cascade of rankers: each re-ranks the rows that the one before it put on top.

Heng Ji, Cynthia Rudin, Ralph Grishman, *Re-Ranking Algorithms for Name Tagging*, HLT-NAACL Workshop on
Computationally Hard Problems and Joint Inference in Speech and Language Processing, 2006, 49-56, cited by
Cynthia Rudin, *The P-Norm Push*, Journal of Machine Learning Research 10 (2009), 2233-2271.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from pushrank._docstrings import shared_docs
from pushrank._numeric import Floats, midway
from pushrank._validation import weight_keyword
from pushrank.estimators._base import RankerMixin, set_classes, tags_of_all, warn
from pushrank.estimators._target import DTYPES, FORMATS, check_on_host, checked_data, two_class_target
from pushrank.estimators.push import PNormPush
from pushrank.held_out import model_scores


@shared_docs
@dataclass(eq=False, repr=False)
class CascadeRanker(RankerMixin, BaseEstimator):
    r"""Rank all rows, cut, and let the next ranker order the survivors.

    The rows that stage j scores above its cut go to stage j + 1, in training and later. A row that survives
    :math:`l` cuts, with the score :math:`s` of the last stage that it reaches, has the score

    .. math::

        l + \frac{1}{3} \, \frac{a}{1 + |a|}, \qquad a = \operatorname{arsinh} \frac{s - m_l}{d_l} ,

    where :math:`m_l` and :math:`d_l` are the median and the interquartile range of that stage's training
    scores. Rows that survive more cuts stand above the others, and within a level the stage's order holds.

    Parameters
    ----------
    stages : list of estimators, default=None
        Rankers, classifiers or pipelines with a ``decision_function``. None stands for
        ``[PNormPush(p=1), PNormPush(p=16)]``.
    keep : list of int or float, default=None
        Rows passed to the next stage: an int >= 2, or a fraction in (0, 1] of the training rows. One entry
        for each stage but the last, non-increasing. None stands for 0.25, 0.125 and so on.

    Attributes
    ----------
    stages_ : list of estimators
        The fitted stages.
    cuts_ : ndarray of shape (n_stages_ - 1,)
        The thresholds of the stages' scores: rows above pass. Minus infinity if all training rows pass.
    n_stages_ : int
        The number of fitted stages; smaller than that of `stages` if survivors were all of one class.
    n_kept_ : ndarray of shape (n_stages_ - 1,)
        The number of training rows that survived each cut.
    centres_, spreads_ : ndarray of shape (n_stages_,)
        The median m and the interquartile range d of each stage's training scores; if d would be zero it is
        their range, or 1.
    %(classes_ threshold_ features_)s

    Notes
    -----
    The cost is that of the stages, each on its survivors, whose rows are copied. A cut lies midway between
    two training scores; rows that tie at a cut all survive, so more rows than ``keep`` may pass. Rows count
    by their weights. Scores of a stage that differ by less than about 1e-14 of :math:`d_l`, or for scores far
    from :math:`m_l` by less than about 1e-11 of their distance from it, may tie.

    Ji, Rudin, Grishman, HLT-NAACL 2006, on multi-stage re-ranking; Rudin, JMLR 10 (2009).

    Examples
    --------
    >>> from pushrank import PNormPush
    %(scaled_breast_cancer)s
    >>> ranker = CascadeRanker([PNormPush(p=1), PNormPush(p=16)], keep=[0.75]).fit(scale(X), y)
    >>> ranker.n_kept_.tolist(), bool(y[ranker.rank(scale(X))[:300]].all())
    ([427], True)
    """

    stages: Sequence[Any] | None = None
    _: KW_ONLY
    keep: Sequence[int | float] | None = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the first stage to all rows and each later one to the survivors of the cut before it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features; data frames reach the stages as frames. NaN where the stages take it.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights, passed to every stage (of a pipeline, to its last step). Rows of weight zero
            belong to neither class.

        %(fitted_or_value_error)s
            When ``stages`` is empty, ``keep`` does not fit it or is out of range, ``y`` has not two classes,
            or a stage refuses the data.
        TypeError
            When a stage is no estimator with a ``decision_function``, or takes no weights and there are some,
            or ``keep`` contains anything but numbers.

        Warns
        -----
        UserWarning
            When the survivors of a cut are all of one class, so that the cascade ends.
        """
        stages = _checked_stages(self.stages)
        keep = _checked_keep(self.keep, len(stages) - 1)
        check_consistent_length(X, y)
        target = two_class_target(self, y, sample_weight)
        weights, n_rows = target.weights, target.sample.n_rows
        sizes = _cut_sizes(keep, n_rows if weights is None else float(weights.sum()))
        keywords = [None if weights is None else _weight_keyword(stage) for stage in stages]
        X = self._rows(X, reset=True)
        codes = np.asarray(target.codes, dtype=np.intp)
        labels = np.asarray(target.classes)[codes]
        rows, training_scores = np.arange(n_rows), np.zeros(n_rows)
        fitted, cuts, kept, scales = [], [], [], []
        for level, (stage, keyword) in enumerate(zip(stages, keywords, strict=True)):
            part = X if len(rows) == n_rows else _safe_indexing(X, rows)
            part_weights = None if weights is None else weights[rows]
            fit_weights = {} if keyword is None else {keyword: part_weights}
            with warnings.catch_warnings():
                # The cascade itself has warned about which of two texts is the positive class.
                warnings.filterwarnings("ignore", ".* the later of two texts in sorted order")
                fitted.append(clone(stage).fit(part, labels[rows], **fit_weights))
            scores = model_scores(fitted[-1], part)
            scales.append(_centre_and_spread(scores, part_weights))
            training_scores[rows] = _placed(level, scores, *scales[-1])
            if level == len(sizes):
                break
            cut = _cut(scores, part_weights, sizes[level])
            survivors = rows[scores > cut]
            # Survivors of weight zero cannot be learned from.
            counted = survivors if weights is None else survivors[weights[survivors] > 0.0]
            if len(np.unique(codes[counted])) < 2:
                warn(
                    f"CascadeRanker ends after stage {level + 1} of {len(stages)}: the survivors of cut "
                    f"{level + 1} are all of class {labels[counted[0]]!s}, so the next stage has nothing to "
                    f"learn. Raise keep[{level}] to let rows of both classes through, or leave later stages "
                    "out.",
                    UserWarning,
                )
                break
            cuts.append(cut)
            kept.append(len(survivors))
            rows = survivors
        self.stages_, self.n_stages_ = fitted, len(fitted)
        self.cuts_, self.n_kept_ = np.array(cuts), np.array(kept, dtype=np.intp)
        self.centres_, self.spreads_ = np.array(scales).T
        set_classes(self, target, training_scores)
        return self

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        %(array_of_rows)s
            The number of cuts that the row survives, plus or minus less than a third by the score of its
            last stage, less ``threshold_``. It depends on no other row.
        """
        check_is_fitted(self, "stages_")
        X = self._rows(X, reset=False)
        rows = np.arange(_num_samples(X))
        placed: Floats = np.zeros(len(rows))
        for level, stage in enumerate(self.stages_):
            part = X if len(rows) == len(placed) else _safe_indexing(X, rows)
            scores = model_scores(stage, part)
            placed[rows] = _placed(level, scores, self.centres_[level], self.spreads_[level])
            if level == len(self.cuts_):
                break
            rows = rows[scores > self.cuts_[level]]
            if not len(rows):
                break
        placed -= self.threshold_
        return placed

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Return data frames unchanged, and other X as an array or a sparse matrix."""
        if hasattr(X, "columns"):
            return validate_data(self, X, skip_check_array=True, reset=reset)
        check_on_host(self, X=X)
        # The first stage gets every row and checks whether NaN is allowed.
        return checked_data(
            self, X, accept_sparse=FORMATS, dtype=DTYPES, ensure_all_finite=False, reset=reset
        )

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: sparse data and NaN are allowed if all stages allow them."""
        return tags_of_all(super().__sklearn_tags__(), _checked_stages(self.stages))


def _checked_stages(stages: Any) -> list[Any]:
    """Return the stages, none of them fitted."""
    if stages is None:
        return [PNormPush(p=1.0), PNormPush(p=16.0)]
    if not isinstance(stages, list | tuple):
        raise TypeError(
            f"stages must be a list of estimators or None, got {type(stages).__name__}; one stage is a list "
            "of one."
        )
    if not stages:
        raise ValueError("stages must hold at least one estimator, found none; None stands for two.")
    for number, stage in enumerate(stages):
        if isinstance(stage, type):
            raise TypeError(f"stages[{number}] is the class {stage.__name__}: pass an instance of it.")
        missing = [name for name in ("get_params", "fit", "decision_function") if not hasattr(stage, name)]
        if missing:
            raise TypeError(
                f"stages[{number}], {type(stage).__name__}, has no {' and no '.join(missing)}: pass a "
                "scikit-learn estimator with a decision_function, such as PNormPush."
            )
    return list(stages)


def _checked_keep(keep: Any, n_cuts: int) -> list[Any]:
    """Return the counts and fractions of the rows that the cuts pass."""
    if keep is None:
        return [0.25 * 0.5**cut for cut in range(n_cuts)]
    if not isinstance(keep, list | tuple | np.ndarray):
        raise TypeError(f"keep must be a list of numbers or None, got {keep!r}; one cut is [0.25].")
    if len(keep) != n_cuts:
        raise ValueError(
            f"keep must have one entry for each stage but the last, {n_cuts} here; found {len(keep)}: "
            f"{list(keep)[:10]}."
        )
    for number, entry in enumerate(keep):
        if isinstance(entry, bool) or not isinstance(entry, Real):
            raise TypeError(f"keep[{number}] must be an integer or a float, got {entry!r}.")
        if isinstance(entry, Integral) and entry < 2:
            raise ValueError(
                f"keep[{number}] must be a count of at least 2, one row of each class, or a fraction, of "
                f"which 1.0 is all rows; got {entry!r}."
            )
        if not (isinstance(entry, Integral) or 0.0 < float(entry) <= 1.0):
            raise ValueError(
                f"keep[{number}] must be a fraction in (0, 1], or a count as an integer; got {entry!r}."
            )
    return list(keep)


def _cut_sizes(keep: list[Any], n_rows: float) -> list[float]:
    """Return the number of rows, by weight, that each cut passes, at least 2."""
    sizes = [float(entry) * (1 if isinstance(entry, Integral) else n_rows) for entry in keep]
    for number in range(1, len(sizes)):
        if sizes[number] > sizes[number - 1]:
            raise ValueError(
                f"keep must not grow from cut to cut: of {n_rows:g} rows, keep[{number}]={keep[number]!r} is "
                f"more than keep[{number - 1}]={keep[number - 1]!r}; order it from the largest."
            )
    return [float(max(2, round(size))) for size in sizes]


def _weight_keyword(stage: Any) -> str:
    """Return the name of the argument of the stage's ``fit`` for sample weights."""
    keyword = weight_keyword(stage)
    if keyword is None:
        raise TypeError(
            f"{stage!r} in stages takes no sample_weight; fit without weights, or use one that takes them."
        )
    return keyword


def _cut(scores: Floats, weights: Floats | None, count: float) -> float:
    """Return a threshold below the ``count`` highest scores, by weight, and those that tie with them."""
    descending = np.argsort(-scores, kind="stable")
    counted = np.arange(1.0, len(scores) + 1.0) if weights is None else np.cumsum(weights[descending])
    # The sum of weights may miss a whole count by rounding, so slightly less is enough.
    n_above = int(np.searchsorted(counted, count * (1.0 - 1e-12)))
    if n_above >= len(scores):
        return -np.inf
    last = scores[descending[n_above]]
    # Rows of weight zero must not change the cut, as if they were not there.
    weighted = scores if weights is None else scores[weights > 0.0]
    below = np.max(weighted, where=weighted < last, initial=-np.inf)
    return midway(float(below), float(last), scores)


def _centre_and_spread(scores: Floats, weights: Floats | None) -> tuple[float, float]:
    if weights is not None:
        scores, weights = scores[weights > 0.0], weights[weights > 0.0]
    quarters = np.quantile(scores, [0.25, 0.5, 0.75], weights=weights, method="inverted_cdf")
    return float(quarters[1]), float((quarters[2] - quarters[0]) or np.ptp(scores) or 1.0)


def _placed(level: int, scores: Floats, centre: float, spread: float) -> Floats:
    """Return scores within a third of the level's number, in the order of the stage's scores."""
    # The squashing alone would tie all scores far from the centre, where arsinh keeps relative differences.
    distances = np.arcsinh((scores - centre) / spread)
    placed: Floats = level + np.copysign(1.0 - 1.0 / (1.0 + np.abs(distances)), distances) / 3.0
    return placed
