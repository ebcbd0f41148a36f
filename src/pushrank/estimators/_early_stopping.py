"""The part of the training data that says when to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import train_test_split

from pushrank._log_space import Floats
from pushrank.estimators._scoring import PartScorer
from pushrank.estimators._target import Target
from pushrank.pairs import CrucialSample, Sample
from pushrank.solvers.score_problem import ScoreProblem


def parts(target: Target, share: float, random_state: np.random.RandomState) -> tuple[Sample, Sample]:
    """Return the part to train on and the part to validate on, drawn at random.

    Of two classes or grades the same share of each is drawn, of query groups whole groups, of explicit pairs
    the pairs.

    Raises
    ------
    ValueError
        When one of the parts has no pair.
    """
    sample: Any = target.sample
    try:
        if isinstance(sample, CrucialSample):
            drawn = random_state.random_sample(len(sample.better)) < share
            part = sample.only_pairs
        else:
            drawn = _drawn_rows(target, share, random_state)
            part = sample.restricted
        return part(~drawn), part(drawn)
    except ValueError as error:
        raise ValueError(
            f"validation_fraction={share} leaves no pair to train on or none to validate on ({error}); "
            "change it or set early_stopping=False."
        ) from error


def validator(
    problem: ScoreProblem, valid: Sample, scoring: Any, X: Any, y: ArrayLike | None, target: Target
) -> Callable[[Floats], float]:
    """Return a function of all rows' scores that scores the validation part, the higher the better.

    Parameters
    ----------
    problem : ScoreProblem
        The objective on the validation part, which is the score where ``scoring`` is None.
    valid : Sample
        The validation part.
    scoring : str, callable or None
        A scorer of ours by name, or one of scikit-learn's.
    X, y, target
        The training data.

    Raises
    ------
    ValueError
        When a scorer is given without labels, is not known, or is a measure.
    """
    if scoring is None:
        return lambda scores: -problem.at(scores).value
    if y is None:
        raise ValueError("scoring needs labels; with pairs leave scoring=None, which uses the objective.")
    rows = np.unique(np.concatenate([valid.positives, valid.negatives]))
    weights, groups = (None if of is None else of[rows] for of in (target.weights, target.groups))
    part, classes = X[rows], np.asarray(target.classes)
    scorer = PartScorer(scoring, classes, np.asarray(y)[rows], weights, groups)
    return lambda scores: scorer.score(part, scores[rows], target.thresholds(scores))


def _drawn_rows(target: Target, share: float, random_state: np.random.RandomState) -> NDArray[np.bool_]:
    if target.groups is not None:
        left_out: NDArray[np.bool_] = random_state.random_sample(int(target.groups.max()) + 1) < share
        return left_out[target.groups]
    drawn = np.zeros(target.sample.n_rows, dtype=bool)
    options = {"test_size": share, "stratify": target.codes, "random_state": random_state}
    drawn[train_test_split(np.arange(len(drawn)), **options)[1]] = True
    return drawn
