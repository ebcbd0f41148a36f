"""Fits of models to parts of rows, and their scores of the rows held out: the loop of all comparisons."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from pickle import PicklingError
from typing import Any, NamedTuple, TypeVar

import joblib
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from pushrank._base.files import atomic_write, clear_partial
from pushrank._base.numeric import Floats
from pushrank._base.parallel import one_blas_thread, one_thread
from pushrank._base.scores import model_scores as model_scores
from pushrank._base.user_types import Estimator, GenericArray, MatrixLike
from pushrank.held_out.plan import Rows

# Fits to fewer rows have one thread. On a quiet machine two save gradient boosting a tenth of a second there;
# next to another process they take longer than one, since they wait for each other at every split.
MIN_ROWS_OF_THREADS = 20_000
# Kept fits are of these versions. Rankers import some of the packages where they are fitted.
PACKAGES = ("pushrank", "scikit-learn", "numpy", "scipy", "pandas", "numba", "lightgbm", "xgboost")
Split = TypeVar("Split")
Member = TypeVar("Member")
Score = Callable[[Estimator, MatrixLike], Floats]
Look = Callable[[Estimator, list[Rows]], object]
Guard = Callable[[str, int], AbstractContextManager[None]]
Caught = tuple[Any, type[Warning], str, int]
"""A warning as `warn_explicit` takes it."""


class Fit(NamedTuple):
    """A model fitted to a training part, if kept, its scores of test parts, and what ``look`` made of it."""

    name: str
    number: int
    scores: list[Floats]
    model: Estimator | None
    seen: Any
    warned: list[Caught]


class Task(NamedTuple):
    """A model to fit to a training part, whose rows are as its last step takes them, after ``steps``."""

    name: str
    number: int
    ranker: Estimator
    rows: Rows
    X_tests: list[MatrixLike]
    steps: list[Any]
    tests: list[Rows]
    file: Path | None


def fit_paths(
    path: Callable[[Split], Iterable[Member]],
    parts: Iterable[Split],
    n_jobs: int | None = None,
    *,
    in_threads: bool = False,
) -> Iterator[Member]:
    """Begin the fits to all parts, and return the members that ``path`` yields of each, in this order."""
    # Members of a path share starts or rounds; a model by itself is a path of one member. `n_jobs` parts are
    # fitted at a time, in processes, or in threads, which share the rows.
    # A task is a whole path: in batches the last process would have several to go.
    run = Parallel(n_jobs, return_as="generator", batch_size=1, require="sharedmem" if in_threads else None)
    return chain.from_iterable(run(delayed(_members)(path, part) for part in parts))


def _members(path: Callable[[Split], Iterable[Member]], part: Split) -> list[Member]:
    return list(path(part))


def fit_parts(
    models: Mapping[str, Estimator],
    parts: Iterable[tuple[Rows, list[Rows]]],
    *,
    n_jobs: int | None = None,
    score: Score | None = None,
    look: Look | None = None,
    keep: bool = False,
    record: bool = True,
    guard: Guard | None = None,
    path_of: Callable[[str, int], Path | None] = lambda *_: None,
) -> Iterator[Fit]:
    """Fit all models to the training part of each pair of it and its test parts, the last model first."""
    # Pipelines that hold the same transformer objects share their output, which this process makes; the
    # rankers are fitted and asked for scores in `n_jobs` processes, and there `look` takes the fitted model
    # and its test parts. With `record` the warnings of a fit come with it, in place of being issued. A
    # `guard` of a model's name and the part's number stands around the fit, and `path_of` names its file.
    score = score or model_scores
    fitted = partial(_fitted, score=score, look=look, keep=keep, record=record, guard=guard)
    tasks = _tasks(models, parts, path_of, get_config(), with_tests=look is not None)
    return fit_paths(fitted, tasks, n_jobs)


def kept_in(
    folder: str | Path | None,
    rows: Rows,
    models: Mapping[str, Estimator],
    parts: Sequence[tuple[object, object]],
) -> Callable[[str, int], Path | None]:
    """Return a function to the file of a model and part: a hash of rows, model, versions and numbers."""
    if folder is None:
        return lambda *_: None
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    clear_partial(path)
    # This process makes the hashes: another may have arrays as files, whose hash would differ.
    key, of_models = joblib.hash((*rows, versions())), {}
    for name, model in models.items():
        try:
            of_models[name] = joblib.hash(model)
        except PicklingError as error:
            raise ValueError(
                f"the member {name!r} cannot be kept in cache_dir: {error}. Give its functions names in a "
                "module that can be imported, or leave cache_dir out."
            ) from error
    return lambda name, number: path / f"{joblib.hash((key, of_models[name], *parts[number]))}.joblib"


def versions() -> tuple[str, ...]:
    """Return the versions of Python and of what fits depend on, empty where a package is not installed."""

    def installed(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return ""

    return (sys.version, *map(installed, PACKAGES))


def _tasks(
    models: Mapping[str, Any],
    parts: Iterable[tuple[Rows, list[Rows]]],
    path_of: Callable[[str, int], Path | None],
    config: Mapping[str, object],
    *,
    with_tests: bool,
) -> Iterator[Task]:
    """Yield each model with each training part, and with its test parts if what is fitted looks at them."""
    # A subclass of Pipeline may do more than transform before its last step.
    pipelines = {name: model for name, model in models.items() if type(model) is Pipeline}
    ids = {name: tuple(id(step) for _, step in model.steps[:-1]) for name, model in pipelines.items()}
    for number, (training, tests) in enumerate(parts):
        counted = training.counted()
        prepared: dict[tuple[int, ...], tuple[Any, Any, list[Any]]] = {}
        # Models are mostly named from the simplest on. The long fits of a part come first, so that processes
        # which share them out end at nearly the same time.
        for name, model in reversed([*models.items()]):
            steps: list[Any] = []
            rows, X_tests, ranker = counted, [test.X for test in tests], model
            # Transformers of one model alone are part of its fit: their output need not be kept.
            if (key := ids.get(name)) and [*ids.values()].count(key) > 1:
                if key not in prepared:
                    transformers = clone(model[:-1])
                    # joblib asks for later tasks in another thread, where the configuration is the default.
                    with config_context(**config):
                        X = transformers.fit_transform(counted.X, counted.y)
                        X_tests = [transformers.transform(test.X) for test in tests]
                    prepared[key] = transformers.steps, counted._replace(X=X), X_tests
                (steps, rows, X_tests), ranker = prepared[key], model.steps[-1][1]
            looked_at = tests if with_tests else []
            yield Task(name, number, ranker, rows, X_tests, steps, looked_at, path_of(name, number))


def _fitted(
    task: Task, *, score: Score, look: Look | None, keep: bool, record: bool, guard: Guard | None
) -> list[Fit]:
    """Return the path of a model by itself: its fit, from its file if it has been kept there."""
    name, number, ranker, rows, X_tests, steps, tests, file = task
    if file is not None and file.exists():
        # It may have been kept of a model of another name, or as another part.
        return [_read(file)._replace(name=name, number=number)]
    caught: list[Caught] = []
    guarded = nullcontext() if guard is None else guard(name, number)
    with _catch(caught) if record else nullcontext(), guarded, fit_threads(len(rows.y)):
        ranker = fit_to(clone(ranker), rows)
        scores = [score(ranker, X) for X in X_tests]
        # Whoever looks at the model has rows as they came: it needs the shared transformers again.
        whole = Pipeline([*steps, ("ranker", ranker)]) if steps else ranker
        seen = None if look is None else look(whole, tests)
    fit = Fit(name, number, scores, whole if keep else None, seen, caught)
    if file is not None:
        with atomic_write(file) as draft:
            joblib.dump((file.name, *fit), draft)
        # What is read again has forgotten what was shared, such as a column's name: all runs are equal.
        return [_read(file)]
    return [fit]


def _read(path: Path) -> Fit:
    try:
        name, *fit = joblib.load(path)
        if name != path.name:
            raise ValueError(f"it was kept as {name!r}")
        return Fit(*fit)
    except Exception as error:
        raise ValueError(
            f"{path} in cache_dir cannot be read ({type(error).__name__}: {error}); delete it, and its model "
            "is fitted again."
        ) from error


@contextmanager
def fit_threads(n_rows: int) -> Iterator[None]:
    """Let a fit have one thread of BLAS, whose sums then have one order, and of few rows one of OpenMP."""
    with one_thread() if n_rows < MIN_ROWS_OF_THREADS else nullcontext(), one_blas_thread():
        yield


def fit_to(model: Any, rows: Rows) -> Any:
    """Fit a model to rows with what it takes of their weights, times and groups, and return it."""
    return model.fit(rows.X, rows.y, **fit_params(model, rows.weights, rows.times, rows.groups))


def fit_params(
    model: Any, weights: Floats | None, times: GenericArray | None = None, groups: GenericArray | None = None
) -> dict[str, GenericArray]:
    """Return the keywords by which the ``fit`` of a model, or of a pipeline's last step, takes these."""
    # Times go to our rankers where they choose or stop by rows held out, groups to those with a splitter.
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    given: dict[str, GenericArray] = {}
    if weights is not None:
        if not has_fit_parameter(last, "sample_weight"):
            raise TypeError(f"{type(last).__name__} takes no sample_weight; leave it or the weights out.")
        given["sample_weight"] = weights
    is_ours = getattr(last, "_is_our_ranker", False)
    holds_rows_out = is_ours and getattr(last, "early_stopping", True)
    if times is not None and holds_rows_out and has_fit_parameter(last, "time"):
        given["time"] = times
    # Folds given by a number are drawn without regard to groups, which a splitter alone keeps together.
    splits = is_ours and not isinstance(getattr(last, "cv", None), int | None)
    if groups is not None and splits and has_fit_parameter(last, "groups"):
        given["groups"] = groups
    # Under metadata routing a pipeline takes no keyword of a step, and its last step has to ask for them.
    routed = get_config()["enable_metadata_routing"]
    prefix = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) and not routed else ""
    return {f"{prefix}{name}": values for name, values in given.items()}


@contextmanager
def record_warnings(lines: list[str]) -> Iterator[None]:
    """Append the warnings to the user within the block to `lines`; other warnings pass."""
    caught: list[Caught] = []
    with _catch(caught):
        yield
    lines.extend(texts_for_user(caught))


@contextmanager
def _catch(caught: list[Caught]) -> Iterator[None]:
    """Append all warnings within the block to `caught`."""
    with warnings.catch_warnings(record=True) as recorded:
        # By default Python shows a warning once a place in the code: later fits would seem to have none.
        warnings.simplefilter("always")
        # A column of few values has fewer bins than were asked for, and no user needs to act on that.
        warnings.filterwarnings(
            "ignore",
            "Bins whose width|Feature .* is constant and|Stochastic Optimizer: Max",
            UserWarning,
            "sklearn",
        )
        yield
    caught.extend((w.message, w.category, w.filename, w.lineno) for w in recorded)


def texts_for_user(caught: list[Caught]) -> list[str]:
    """Return the texts of warnings to the user, and issue the others, though another process caught them."""
    for warning in caught:
        if not issubclass(warning[1], UserWarning):
            # A worker process has other filters than the user's, where warnings to developers are issued.
            warnings.warn_explicit(*warning)
    return sorted({" ".join(str(text).split()) for text, kind, *_ in caught if issubclass(kind, UserWarning)})
