"""Protocols as data, methods with the grids of the papers, and the loop that measures them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from pushrank import estimators as ours
from pushrank import metrics
from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.scores import model_scores
from pushrank._base.user_types import Estimator, GenericArray, MatrixLike
from pushrank._base.validation import check_choice, plain_labels, two_classes, warn
from pushrank.benchmark.results import Results
from pushrank.datasets import load_dataset
from pushrank.held_out.fits import fit_parts, kept_in, texts_for_user
from pushrank.held_out.plan import Rows

Source: TypeAlias = str | tuple[MatrixLike, ArrayLike] | Callable[[], tuple[MatrixLike, ArrayLike]]
Measure: TypeAlias = Callable[[GenericArray, Floats], float]
Row: TypeAlias = dict[str, Any]
Tuned: TypeAlias = tuple[Estimator, str, Sequence[Any]]
"""A method, the parameter that is chosen of it, and its values; without any it is taken as it is."""

KEPT = Path(__file__).with_name("small.csv")
MIN_POSITIVES = 200
MEASURES: dict[str, Measure] = {
    "positives at top": metrics.positives_at_top,
    "precision at 1 %": partial(metrics.precision_at_k, fraction=0.01),
    "precision at n+/4": partial(metrics.precision_at_k, fraction_of_positives=0.25),
    "AP": metrics.average_precision,
    "AUC": metrics.auc,
    "DCG": metrics.discounted_cumulative_gain,
}
BASELINES = (
    "logistic regression", "PNormPushCV", "PushBoost", "InfinitePush", "RankSVM", "SVMMAP",
    "StructSVM, prbep", "SGDAtK",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Protocol:
    """How methods are compared: on random splits, stratified and the same for all, of scaled columns.

    Parameters
    ----------
    sets : dict of str to source
        The sets by name: names of :func:`pushrank.datasets.load_dataset`, pairs (X, y), or functions that
        return such a pair. Columns of text become indicators.
    n_splits : int, default=5
        The number of splits.
    test_share : float, default=0.3
        The share of the rows that are tested.
    max_rows : int or None, default=4000
        Larger sets are cut to this many rows, once; of rare positives 200 are kept, or all.
    n_folds : int, default=3
        The folds of the training part by which parameters are chosen.
    criterion : str, default="AP"
        The measure by which they are chosen, of `measures` or of its default.
    measures : dict of str to callable, optional
        Functions of labels and scores, the greater the better, such as ``partial(precision_at_k, k=100)``. By
        default ``"positives at top"``, ``"precision at 1 %"``, the precision among a quarter as many rows as
        positives (``"precision at n+/4"``), average precision (``"AP"``), ``"AUC"`` and ``"DCG"``.
    grids : dict of str to sequence, optional
        Values to choose from by parameter, such as ``"C"``, in place of those of the papers' methods.
    scaler : transformer, default=StandardScaler()
        What scales columns, by the rows learnt from.
    seed : int, default=0
        The seed of the first split and of its folds; the next split has the next number.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from pushrank.benchmark import SMALL
    >>> replace(SMALL, n_splits=10).n_splits, list(SMALL.sets)
    (10, ['ionosphere', 'spambase', 'magic'])
    """

    sets: Mapping[str, Source]
    n_splits: int = 5
    test_share: float = 0.3
    max_rows: int | None = 4000
    n_folds: int = 3
    criterion: str = "AP"
    measures: Mapping[str, Measure] = field(default_factory=MEASURES.copy)
    grids: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    scaler: TransformerMixin = field(default_factory=StandardScaler)
    seed: int = 0


SMALL = Protocol({name: name for name in ("ionosphere", "spambase", "magic")})
PAPERS = Protocol(
    {name: name for name in ("ionosphere", "housing", "spambase", "magic", "abalone")}
    | {f"letter {of}": partial(load_dataset, "letter", positive=of, return_X_y=True) for of in "AH"}
    | {name: name for name in ("adult_a9a", "ijcnn1", "cover_odds", "kddcup99_http", "kddcup99_smtp")}
)


def paper_methods(protocol: Protocol = PAPERS) -> dict[str, Tuned]:
    """Return the methods of the papers, and logistic regression, each with what is chosen of it."""

    def grid(parameter: str, *values: float) -> tuple[str, Sequence[Any]]:
        return parameter, tuple(protocol.grids.get(parameter, values))

    p, C, k = grid("p", 1.0, 4.0, 16.0), grid("C", 1.0, 10.0, 100.0), grid("k", 0.25, 0.5, 1.0)
    alpha, rounds = grid("alpha", 1.0, 0.1, 0.01), grid("n_estimators", 25, 50, 100)
    cv, by = protocol.n_folds, "average_precision"
    push = ours.PNormPushCV(list(p[1]), alphas=list(alpha[1]), scoring=by, cv=cv)
    return {
        "logistic regression": (LogisticRegression(max_iter=300), *grid("C", 0.01, 1.0, 100.0)),
        "PNormPush": (ours.PNormPush(alpha=0.01), *p),
        "PNormPush(4)": (ours.PNormPush(4.0), *alpha),
        "PNormPushCV": (push, "scoring", [by]),
        "IRPush": (ours.IRPush(), *grid("alpha", 0.1, 0.01, 0.001)),
        "PushBoost": (ours.PushBoost(n_estimators=100, weak_rankers="stumps"), *p),
        "RankBoost": (ours.RankBoost(), *rounds),
        "SmoothMarginRanking": (ours.SmoothMarginRanking("warn"), *rounds),
        "InfinitePush": (ours.InfinitePush(), *C),
        "RankSVM": (ours.RankSVM(), *C),
        "SVMMAP": (ours.SVMMAP(), *C),
        "StructSVM, prbep": (ours.StructSVM(measure="prbep"), *C),
        "RampAtK": (ours.RampAtK(random_state=0), *C),
        "TrimmedPush": (ours.TrimmedPush(), *k),
        "PerceptronAtK": (ours.PerceptronAtK(random_state=0), *k),
        "SGDAtK": (ours.SGDAtK(random_state=0), *k),
        "TopRankerCV": (ours.TopRankerCV(cv=cv, random_state=0), "fraction_of_positives", [0.25]),
    }


def cut_rows(X: Any, y: ArrayLike, max_rows: int | None) -> tuple[Any, GenericArray]:
    """Return a set cut to this many rows, with labels 0 and 1; of rare positives 200 are kept, or all."""
    y = two_classes(np.asarray(plain_labels(y)))[1].astype(int)
    if max_rows is None or len(y) <= max_rows:
        return X, y
    rng, n_positive = np.random.default_rng(0), min(y.sum(), max(MIN_POSITIVES, round(max_rows * y.mean())))
    draws = ((1, n_positive), (0, max_rows - n_positive))
    kept = np.sort(np.concatenate([rng.choice(np.flatnonzero(y == c), n, replace=False) for c, n in draws]))
    return (X.iloc[kept] if hasattr(X, "iloc") else X[kept]), y[kept]


def features_and_labels(source: Source, max_rows: int | None) -> tuple[Floats, GenericArray]:
    """Return a set as dense numbers and labels 0 and 1, cut to this many rows."""
    if isinstance(source, str):
        source = load_dataset(source, return_X_y=True, as_frame=True)
    X, y = source() if callable(source) else source
    X, labels = cut_rows(X if hasattr(X, "shape") else np.asarray(X), y, max_rows)
    if len(X.shape) != 2:
        raise ValueError(f"X must have rows and columns, got the shape {X.shape}: pass features as (X, y).")
    X = import_optional("pandas", "io").get_dummies(X) if hasattr(X, "iloc") else X
    return np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64), labels


def run(
    methods: Mapping[str, Estimator | Tuned],
    sets: Sequence[str] | Mapping[str, Source] | None = None,
    protocol: Protocol | None = None,
    *,
    peers: Sequence[str] | Literal["papers"] = BASELINES,
    cache_dir: str | Path | None = None,
    n_jobs: int | None = None,
    rerun: bool = False,
) -> Results:
    """Measure methods, and those of the papers, on the same splits of the same sets.

    Parameters
    ----------
    methods : dict of str to estimator or tuple
        Methods by name, with ``decision_function`` or ``predict_proba``, as they are, or with a parameter and
        the values to choose from, such as ``(LogisticRegression(), "C", [0.1, 1.0])``. An error of one is
        recorded, and the others go on.
    sets : sequence of str or dict of str to source, optional
        Names of the protocol's sets or of data sets, or sources by name as `Protocol` takes them.
    protocol : Protocol, optional
        The sets unless others are passed, the splits, the choice of parameters and the measures; by default
        ``SMALL``.
    peers : sequence of str, optional
        Methods of the papers by name, or ``"papers"`` for all; by default eight. Their results on the sets of
        ``SMALL`` come with the library, and are taken for the same rows, splits and parameters.
    cache_dir : path-like, optional
        A folder that keeps each fit's scores, so that a stopped run goes on. Other rows or splits, other
        parameters of a method, or other versions of packages are fitted again, and so are failures; an edit
        of a method's code is not noticed, and needs another folder.
    n_jobs : int or None, default=None
        The number of methods to fit at a time, in processes.
    rerun : bool, default=False
        Whether to make the results that come with the library again.

    Returns
    -------
    Results
        The measures of all methods on all splits, and their tests.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> sets = {"cancer": load_breast_cancer(return_X_y=True)}
    >>> run({"mine": (LogisticRegression(), "C", [0.1, 1.0])}, sets, peers=[]).means("AUC").shape
    (1, 1)
    """
    protocol, pd = protocol or SMALL, import_optional("pandas", "io")
    theirs = paper_methods(protocol)
    peers = list(theirs) if peers == "papers" else peers
    if strangers := [name for name in peers if name not in theirs]:
        raise ValueError(f"peers must name some of {list(theirs)}, got {strangers}.")
    named = {name: theirs[name] for name in peers}
    named |= {name: new if isinstance(new, tuple) else (new, "", ()) for name, new in methods.items()}
    if not isinstance(sets, Mapping):
        sets = {name: protocol.sets.get(name, name) for name in sets or protocol.sets}
    data = {name: features_and_labels(source, protocol.max_rows) for name, source in sets.items()}
    measures = MEASURES | dict(protocol.measures)
    check_choice("criterion", protocol.criterion, list(measures))
    kept, rows = {} if rerun else _kept(protocol), list[Row]()
    # All sets get their first split before a second.
    for split, (name, (X, y)) in product(range(protocol.n_splits), data.items()):
        seed, numbers, share = protocol.seed + split, np.arange(len(y)), protocol.test_share
        train, test = train_test_split(numbers, test_size=share, stratify=y, random_state=seed)
        chooser = protocol.scaler, StratifiedKFold(protocol.n_folds, shuffle=True, random_state=seed)
        # The texts are the same whatever the versions, and the results that come with us say theirs.
        about = *chooser, protocol.criterion, sha256(X.tobytes() + y.tobytes() + train.tobytes()).hexdigest()
        texts = {method: repr((*tuned, *about)) for method, tuned in named.items()}
        keys = {method: sha256(text.encode()).hexdigest()[:12] for method, text in texts.items()}
        new = [method for method, key in keys.items() if key not in kept or method in methods]
        trials = {method: _Trial(named[method], *chooser, measures[protocol.criterion]) for method in new}
        made = _made(trials, Rows(X, y, y == 1), (train, test), protocol, cache_dir, n_jobs)
        row = {"set": name, "split": seed, "rows": len(y), "positives": int(y.sum())}
        for method, key in keys.items():
            rows.append(row | {"method": method, "key": key} | (made.get(method) or kept[key]))
    results = Results(pd.DataFrame(rows), list(protocol.measures), protocol.test_share)
    if len(failures := results.failures):
        names = ", ".join(failures["method"].unique())
        warn(f"{len(failures)} of {len(rows)} results failed, of {names}: see Results.failures.")
    return results


def _kept(protocol: Protocol) -> dict[str, Row]:
    """Return the results that come with the library by their key, none where measures are others."""
    if any(MEASURES.get(name) is not measure for name, measure in protocol.measures.items()):
        return {}
    frame = import_optional("pandas", "io").read_csv(KEPT, dtype={"chosen": str})
    frame = frame.drop(columns=["set", "split", "method"]).assign(run="kept", error="")
    return {row.pop("key"): row for row in frame.assign(made=frame["made"].ffill()).to_dict("records")}


def _made(
    trials: Mapping[str, _Trial],
    rows: Rows,
    parts: tuple[NDArray[np.intp], NDArray[np.intp]],
    protocol: Protocol,
    cache_dir: str | Path | None,
    n_jobs: int | None,
) -> dict[str, Row]:
    """Return the results of trials on a split by name, fitted here or before in this folder."""
    packages = ("pushrank", "scikit-learn", "numpy", "scipy")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    train, test = rows.part(parts[0]), rows.part(parts[1])
    path_of, made = kept_in(cache_dir, rows, trials, [parts]), {}
    work: dict[str, Any] = {"n_jobs": n_jobs, "look": lambda trial, _: trial.about_, "path_of": path_of}
    for fit in fit_parts(trials, [(train, [test])], **work):
        row = {"run": "here", "made": versions, **fit.seen, "warnings": texts_for_user(fit.warned)}
        if not row["error"]:
            measures = protocol.measures.items()
            row |= {name: float(measure(test.y, fit.scores[0])) for name, measure in measures}
        elif file := path_of(fit.name, 0):
            file.unlink()
        made[fit.name] = row
    return made


@dataclass(eq=False, repr=False)
class _Trial(BaseEstimator):  # type: ignore[misc]
    """A method on scaled columns, after the choice of its parameter; an error takes the place of scores."""

    method: Tuned
    scaler: TransformerMixin
    cv: StratifiedKFold
    measure: Measure

    def fit(self, X: Floats, y: GenericArray) -> Self:
        """Choose the parameter by cross-validation, the first of equals, and fit to all rows."""
        self.about_: Row = {"error": "", "chosen": ""}
        grid, start = self.method[2], time.process_time()
        try:
            means = np.zeros(max(len(grid), 1))
            for train, test in self.cv.split(X, y) if len(grid) > 1 else ():
                scaler, models = self._fitted(X[train], y[train], grid)
                scored = [model_scores(model, scaler.transform(X[test])) for model in models]
                means += [self.measure(y[test], scores) / self.cv.n_splits for scores in scored]
            chosen = grid[int(means.argmax())] if grid else ""
            self.scaler_, (self.model_,) = self._fitted(X, y, [chosen])
            self.about_["chosen"] = str(chosen)
        except Exception as error:
            self.about_["error"] = f"{type(error).__name__}: {error}"
        self.about_["seconds"] = time.process_time() - start
        return self

    def _fitted(self, X: Floats, y: GenericArray, values: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        """Return the scaler and a fitted model for each value; a ranker goes along the path that it has."""
        scaler, (model, parameter, grid) = clone(self.scaler).fit(X), self.method
        X = scaler.transform(X)
        along = "k" if isinstance(model, ours.TrimmedPush) else "C"
        # Estimators of other libraries may have a path of another kind.
        if parameter == along and hasattr(model, "path") and hasattr(model, "_is_our_ranker"):
            return scaler, model.path(X, y, *([[model.k]] if isinstance(model, ours.RampAtK) else []), values)
        params = [{parameter: value} if grid else {} for value in values]
        return scaler, [clone(model).set_params(**chosen).fit(X, y) for chosen in params]

    def decision_function(self, X: Floats) -> Floats:
        """Return the scores of rows, NaN after an error."""
        try:
            scores = model_scores(self.model_, self.scaler_.transform(X))
            if not np.isfinite(scores).all():
                raise ValueError("some scores are NaN or infinite")
        except Exception as error:
            self.about_["error"] = self.about_["error"] or f"{type(error).__name__}: {error}"
            return np.full(len(X), np.nan)
        return scores
