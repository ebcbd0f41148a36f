"""Models fitted to one training part, with the preprocessing that they share done once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed

from pushrank._numeric import Floats
from pushrank.estimators._scoring import fit_params
from pushrank.estimators._scoring import model_scores as model_scores
from pushrank.model_selection._folds import LabelledRows
from pushrank.model_selection.verdict import simplicity

# Models may refuse fewer rows of a class, and vary in other ways than with all of them.
MIN_ROWS_OF_CLASS = 10
Caught = tuple[Any, type[Warning], str, int]


@contextmanager
def record_warnings(lines: list[str]) -> Iterator[None]:
    """Append the warnings to the user within the block to `lines`; other warnings pass."""
    caught: list[Caught] = []
    with _catch(caught):
        yield
    lines.extend(texts_for_user(caught))


@contextmanager
def _catch(caught: list[Caught]) -> Iterator[None]:
    """Append all warnings within the block to `caught`, as what `warn_explicit` takes."""
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        yield
    caught.extend(
        (warning.message, warning.category, warning.filename, warning.lineno) for warning in recorded
    )


def texts_for_user(caught: list[Caught]) -> list[str]:
    """Return the texts of warnings to the user; other warnings pass, though another process caught them."""
    for warning in caught:
        if not issubclass(warning[1], UserWarning):
            warnings.warn_explicit(*warning)
    return sorted({" ".join(str(text).split()) for text, kind, *_ in caught if issubclass(kind, UserWarning)})


class Fitted(NamedTuple):
    """What a model that was fitted to a training part makes of its test parts."""

    scores: list[Floats]
    judged: list[float]
    simplicity: int
    warned: list[Caught]


def fit_models(
    models: Mapping[str, Any],
    parts: Iterable[tuple[LabelledRows, list[LabelledRows]]],
    scorer: Callable[..., float] | None = None,
    n_jobs: int | None = None,
) -> Iterator[Fitted]:
    """Fit all models to the training part of each pair of it and its test parts, and yield in this order.

    Pipelines that hold the same transformer objects share their output, which this process makes; the rankers
    are fitted and asked for scores in `n_jobs` processes.
    """
    # A task is a whole fit: in batches the last process would have several to go.
    results: Iterator[Fitted] = Parallel(n_jobs, return_as="generator", batch_size=1)(
        _tasks(models, parts, scorer, get_config())
    )
    return results


def _tasks(
    models: Mapping[str, Any],
    parts: Iterable[tuple[LabelledRows, list[LabelledRows]]],
    scorer: Callable[..., float] | None,
    config: Mapping[str, Any],
) -> Iterator[Any]:
    """Yield the fit of each model to each training part, with rows as its last step takes them."""
    ids = [_transformer_ids(model) for model in models.values()]
    for training, tests in parts:
        prepared: dict[tuple[int, ...], tuple[Any, Any, list[Any]]] = {}
        for key, model in zip(ids, models.values(), strict=True):
            # Transformers of one model alone are part of its fit: their output need not be kept.
            if not key or ids.count(key) == 1:
                rows, X_tests, ranker = training, [test.X for test in tests], model
                steps: list[Any] = []
            else:
                if key not in prepared:
                    transformers = clone(model[:-1])
                    # joblib asks for later tasks in another thread, where the configuration is the default.
                    with config_context(**config):
                        X = transformers.fit_transform(training.X, training.y)
                        X_tests = [transformers.transform(test.X) for test in tests]
                    prepared[key] = transformers.steps, training._replace(X=X), X_tests
                (steps, rows, X_tests), ranker = prepared[key], model.steps[-1][1]
            yield delayed(_fitted)(clone(ranker), rows, X_tests, scorer, steps, tests if scorer else [])


def _fitted(
    ranker: Any,
    rows: LabelledRows,
    X_tests: list[Any],
    scorer: Callable[..., float] | None,
    steps: list[Any],
    tests: list[LabelledRows],
) -> Fitted:
    """Return what a ranker makes of test rows, once it is fitted; a scorer takes them as before `steps`."""
    caught: list[Caught] = []
    with _catch(caught):
        ranker.fit(rows.X, rows.y, **fit_params(ranker, rows.weights, rows.times, rows.groups))
        scores = [model_scores(ranker, X) for X in X_tests]
        whole = Pipeline([*steps, ("ranker", ranker)]) if steps else ranker
        judged = (
            [float(scorer(whole, test.X, test.y)) for test in tests] if scorer else [np.nan] * len(scores)
        )
    return Fitted(scores, judged, simplicity(ranker), caught)


def scores_of_halves(
    models: Mapping[str, Any],
    training: LabelledRows,
    tests: list[LabelledRows],
    seed: int,
    n_jobs: int | None = None,
) -> Iterator[list[list[Floats]]] | None:
    """Begin fits to either half of some rows, and return an iterator of scores by half, test part and model.

    Of few rows of a class, or few groups, there are no halves, and the result is None.
    """
    y, groups = training.positive, training.groups
    n_groups = len(y) if groups is None else len(np.unique(groups))
    if min(y.sum(), (~y).sum()) < 2 * MIN_ROWS_OF_CLASS or n_groups < 2 * MIN_ROWS_OF_CLASS:
        return None
    splitter = (StratifiedKFold if groups is None else StratifiedGroupKFold)(
        2, shuffle=True, random_state=seed
    )
    halves = next(splitter.split(np.zeros(len(y)), y, groups))
    if min(min(y[half].sum(), (~y[half]).sum()) for half in halves) < MIN_ROWS_OF_CLASS:
        return None
    fits = fit_models(models, ((training.part(half), tests) for half in halves), n_jobs=n_jobs)
    of_halves = ([next(fits).scores for _ in models] for _ in halves)
    return ([list(of_part) for of_part in zip(*scores, strict=True)] for scores in of_halves)


def _transformer_ids(model: Any) -> tuple[int, ...]:
    """Return which objects come before the last step; a subclass may do more than transform."""
    return tuple(id(step) for _, step in model.steps[:-1]) if type(model) is Pipeline else ()
