"""Models by name, the preprocessing that is saved with them, and the file that ``pushrank fit`` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from difflib import get_close_matches
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import preprocessing
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.utils.validation import has_fit_parameter

from pushrank import StackingRanker, estimators, persistence
from pushrank._base.files import MODEL_FORMAT
from pushrank._base.user_types import Floats
from pushrank.budgets import Budget
from pushrank.cli.errors import InputError, in_option_names, refusing, warn
from pushrank.cli.features import LabelledFeatures
from pushrank.cli.known import missing_with, waiting
from pushrank.cli.names import ENSEMBLE, kebab_case, unknown_model
from pushrank.cli.pipelines import SavedModel
from pushrank.cli.saved import SCORER_FIELDS, rows_hash, spans_of
from pushrank.cli.write import writing
from pushrank.held_out import Rows, fit_params, model_scores, record_warnings
from pushrank.held_out.splits import TimeSplit
from pushrank.model_selection import compare
from pushrank.monitoring import Reference
from pushrank.monitoring.reference import BLOCK_ROWS, consecutive_parts, in_no_order, profiles_of_rows

N_INNER_FOLDS, N_BINS = 5, 10
"""Folds of the models that choose by cross-validation."""


MODELS: dict[str, type[BaseEstimator]] = {
    **{
        ENSEMBLE if name == StackingRanker.__name__ else kebab_case(name): getattr(estimators, name)
        for name in estimators.__all__
    },
    "logistic-regression": LogisticRegression,
    "gradient-boosting": HistGradientBoostingClassifier,
    "random-forest": RandomForestClassifier,
}
TAKE_RAW_COLUMNS = {"HistGradientBoostingClassifier", "LGBMClassifier"}
"""Trees that handle gaps and categories: a matrix of scaled numbers and a column a word slows them down."""
BINNED = "logistic regression, binned"
"""Logistic regression on the numbers and on ten bins of each, so that a column may act in steps."""
NETWORK = "neural network"
"""Two layers, on numbers spread like a normal distribution, with the penalty of the linear models."""
MIN_NETWORK_ROWS, N_QUANTILES = 1_000, 100
"""With fewer rows a network learns little."""
MAX_PARTS = 20
"""Parts of held-out rows, whose hits and columns show how lists of whole files differ."""
MAX_SHOWN = 10
"""Names of columns that are noted to be printed; JSON has all."""
STANDARD_ALPHA = 0.1
"""The penalty on tables: their columns are standardised, so that one strength suits them all."""


def make_model(name: str, seed: int = 0, parameters: Mapping[str, Any] | None = None) -> BaseEstimator:
    """Return a model by its name, or by that which ``compare`` prints, with the parameters of --set."""
    power = re.fullmatch(r"P-Norm Push, p = (\d+(?:\.\d+)?)", name)
    # A library that cannot be loaded is of no concern to other models.
    with record_warnings([]):
        compared = table_rankers((float(power[1]),) if power else compare.POWERS)
    if name == "lightgbm":
        try:
            model = compare.lightgbm_classifier()
        except ImportError as error:
            raise InputError(f"--model lightgbm: {error}") from error
    elif name in MODELS or name in compared:
        model = compared[name] if name in compared else for_tables({name: MODELS[name]()})[name]
    else:
        raise unknown_model(name)
    if name == "logistic-regression":
        # The default of scikit-learn, 100, is too few for many tables, and fits then end with a warning.
        model.set_params(max_iter=1000)
    known = model.get_params(deep=False)
    for parameter, value in (parameters or {}).items():
        if parameter == "p" and ", p = " in name:
            family = kebab_case(type(model).__name__)
            raise InputError(f"--model {name!r} says which p; leave --set p out, or take --model {family}.")
        if parameter not in known:
            near = get_close_matches(parameter, known, 1)
            meant = f"; did you mean {near[0]}?" if near else "."
            raise InputError(
                f"--set {parameter}={value}: {name} has no such parameter{meant} It has {', '.join(known)}."
            )
    if "random_state" in known:
        model.set_params(random_state=seed)
    return model.set_params(**parameters or {})


def table_rankers(powers: tuple[float, ...] = compare.POWERS, **of: Any) -> dict[str, BaseEstimator]:
    """Return all models that have a name in tables, with those that take columns of a table in their way."""
    rankers, n_rows = compare.known_rankers(powers, **of), of.get("n_rows")
    if n_rows is None or MIN_NETWORK_ROWS <= n_rows <= compare.MAX_SLOW_ROWS:
        rankers[NETWORK] = MLPClassifier(
            (128, 64), batch_size=256, learning_rate_init=0.002, max_iter=40, random_state=0
        )
    rankers[BINNED] = LogisticRegression(C=0.1, max_iter=1000)
    return for_tables(rankers)


def usual_rankers(**of: Any) -> dict[str, BaseEstimator]:
    """Return the models that ``compare`` has by default."""
    return for_tables(compare.default_rankers(**of))


def for_tables(rankers: dict[str, BaseEstimator]) -> dict[str, BaseEstimator]:
    """Return models with the penalty that suits standardised columns."""
    for ranker in rankers.values():
        if ranker.get_params(deep=False).get("alpha") is not None:
            ranker.set_params(alpha=STANDARD_ALPHA)
    return rankers


def ensemble_members(n_rows: int | None, seed: int = 0) -> dict[str, BaseEstimator]:
    """Return the models that ``compare`` has by default for that number of rows."""
    with record_warnings([]):
        usual = usual_rankers(n_rows=n_rows)
    return {name: make_model(name, seed) for name in usual}


def by_kind(
    numbers: Any, words: Any, numeric: list[str], categorical: list[str], n_many: int = 0
) -> ColumnTransformer:
    """Return a transformer of columns of numbers, which come first, of few texts, and of many, the last."""
    # scikit-learn looks each of several names up among all, which takes minutes for 200,000 columns: numbers.
    ends = np.cumsum([0, len(numeric), len(categorical) - n_many, n_many]).tolist()
    # A slice is short in a model file, where a list is written number by number, five times.
    columns: list[Any] = [slice(*part) if part[0] < part[1] else [] for part in pairwise(ends)]
    first, few, many = columns
    # The scores of texts are those of other parts of the rows: no row sees its own label.
    encoder = preprocessing.TargetEncoder(target_type="binary")
    # From scikit-learn 1.9 on the splitter has the seed.
    is_new = encoder.random_state is not None
    seeded = {"cv": StratifiedKFold(shuffle=True, random_state=0)} if is_new else {"random_state": 0}
    texts = make_pipeline(encoder.set_params(**seeded), preprocessing.StandardScaler())
    parts = [("numbers", numbers, first), ("words", words, few)]
    return ColumnTransformer(parts + [("texts", texts, many)] * bool(n_many))


def make_preprocessor(
    numeric: list[str], categorical: list[str], n_many: int = 0, *, of: str = ""
) -> BaseEstimator:
    """Return a transformer of raw columns: numbers scaled, gaps filled and marked, text one-hot encoded.

    For the models ``BINNED`` and ``NETWORK`` numbers are binned, too, or spread like a normal distribution.
    """
    # A missing number takes the mean, which is zero once scaled. The median would need a sort of the column.
    gaps = SimpleImputer(
        strategy="constant", fill_value=0.0, add_indicator=True, keep_empty_features=True, copy=False
    )
    # The scaler makes a copy, in which gaps may be filled without another.
    scaled = preprocessing.StandardScaler()
    if of == NETWORK:
        # A network does not bear numbers far from all others.
        scaled = preprocessing.QuantileTransformer(
            n_quantiles=N_QUANTILES, output_distribution="normal", random_state=0
        )
    numbers = make_pipeline(scaled, gaps)
    if of == BINNED:
        bins = preprocessing.KBinsDiscretizer(N_BINS, quantile_method="averaged_inverted_cdf", random_state=0)
        both = [("numbers", "passthrough"), ("bins", bins)]
        numbers = make_pipeline(numbers, FeatureUnion(both, verbose_feature_names_out=False))
    # A text that is new is none of those known, and a warning names it when rows are scored.
    words = preprocessing.OneHotEncoder(handle_unknown="ignore")
    return by_kind(numbers, words, numeric, categorical, n_many)


def make_ranking_pipelines(
    models: Mapping[str, BaseEstimator],
    numeric: list[str],
    categorical: list[str],
    *,
    n_many: int = 0,
    gap: Any = None,
    n_rows: int | None = None,
) -> dict[str, Pipeline]:
    """Return pipelines from raw columns to scores; an ensemble without members is given the usual ones."""
    # Trees that handle gaps take texts as numbers, and numbers as they are.
    unknown = {"handle_unknown": "use_encoded_value", "unknown_value": np.nan}
    words = preprocessing.OrdinalEncoder(**unknown, encoded_missing_value=np.nan)
    trees = by_kind("passthrough", words, numeric, categorical, n_many)
    # The members of an ensemble encode texts, of which they are given numbers.
    whole = by_kind("passthrough", words, numeric, categorical)
    matrix, of_models = make_preprocessor(numeric, categorical, n_many), dict[str, BaseEstimator]()
    for name in (BINNED, NETWORK) if numeric else ():
        of_models[name] = make_preprocessor(numeric, categorical, n_many, of=name)
    pipelines = {}
    for name, ranker in models.items():
        # Classes are known by their names here, since their libraries may not be installed.
        columns = trees if type(ranker).__name__ in TAKE_RAW_COLUMNS else of_models.get(name, matrix)
        settings: dict[str, Any] = {}
        if isinstance(ranker, StackingRanker):
            members = dict(ranker.estimators or ensemble_members(n_rows))
            of_members = make_ranking_pipelines(members, numeric, categorical, n_many=n_many, gap=gap)
            # One model a member makes a file a fifth as large as those of all folds, with lists as good, and
            # scores that are as far from each other as those of single models by which alerts are set.
            settings, columns = {"estimators": list(of_members.items()), "refit": True}, whole
        if gap is not None and "cv" in ranker.get_params():
            # A model that chooses by rows held out has them as long after those that it learns from.
            settings["cv"] = TimeSplit(N_INNER_FOLDS, gap=gap)
        if name == compare.SMALL_STEPS and len(categorical) > n_many:
            # Texts of many values are numbers; others have their place after the columns of numbers.
            # Of LightGBM's names for this parameter the others bring a warning that they are ignored.
            settings["categorical_column"] = [*range(len(numeric), len(numeric) + len(categorical) - n_many)]
        pipelines[name] = Pipeline([("columns", columns), ("rank", clone(ranker).set_params(**settings))])
    return pipelines


def fit_pipeline(pipeline: Pipeline, rows: Rows) -> Pipeline:
    """Return a pipeline fitted to the rows of positive weight, with its warnings in the words of options."""
    rows = rows.counted()
    if rows.weights is not None and not has_fit_parameter(pipeline.named_steps["rank"], "sample_weight"):
        raise InputError("--weight is not for this model; choose another --model.")
    warned: list[str] = []
    with refusing(), record_warnings(warned):
        fitted = pipeline.fit(rows.X, rows.y, **fit_params(pipeline, rows.weights, rows.times))
    for line in warned:
        warn(in_option_names(line))
    return fitted


def missing_in(data: LabelledFeatures, seed: int) -> str:
    """Return which rows of a file lack a label, or nothing where chance may explain it."""
    if data.known is None:
        return ""
    # A column that gives the label away lacks where the label does, whoever chose.
    X = data.rows.X.assign(**dict.fromkeys(data.leaking, 0.0)) if data.leaking else data.rows.X
    left, known = np.flatnonzero(~data.known), np.flatnonzero(data.known[: data.n_learnt])
    # Rows that a fit has learnt from have other scores than like rows: it learns from a half of each class,
    # to score the other half and the rows without a label.
    rows, drawn = data.rows._replace(X=X), np.random.default_rng(seed).permutation(known)
    drawn = drawn[np.argsort(rows.y[drawn], kind="stable")]
    learnt, like, times, scores = rows.part(drawn[::2]).counted(), drawn[1::2], rows.times, list[Floats]()
    if len(set(learnt.y)) == 2:
        model = make_ranking_pipelines({"": make_model("logistic-regression", seed)}, **data.kinds)[""]
        with refusing(), record_warnings([]):
            scores.append(model_scores(model.fit(learnt.X, learnt.y), rows.X))
    values = list[tuple[str, Any, Any]]()
    if times is not None:
        judged = np.isin(np.arange(len(times)), like)
        late, span, _ = waiting(times, data.known, data.time, rows.y, scores, judged, data.gap or 0)
        if late:
            return f"{late}: add --labels-after {span}"
        # Scores move with the seasons: rows from before labels went missing are not like those without one.
        like = like[times[like] >= np.sort(times[left])[0]]
        values.append(("times", times[known], times[left]))
    values = [*(("scores", of[like], of[left]) for of in scores), *values]
    return missing_with(values, len(left) / (len(known) + len(left)))


def reference_of(budget: Budget, periods: NDArray[np.int64], rows: Rows, scores: Floats) -> Reference:
    """Return what to expect of a model by period, by scores of rows that are NaN where never held out."""
    # The first rows of a part of a day are not those of the day.
    whole = np.where(np.isin(periods, periods[np.isnan(scores)]), np.nan, scores)
    with refusing():
        return Reference.of(budget, rows.times, whole, rows.y, watched(rows.X))


def reference_of_rows(budget: int, of_rows: int, rows: Rows, scores: Floats) -> Reference | None:
    """Return what to expect in one list, by parts of rows held out; None where positives are few."""
    n_parts = max(1, min(MAX_PARTS, len(scores) // BLOCK_ROWS))
    order = in_no_order(rows.X) if rows.times is None else np.argsort(rows.times, kind="stable")
    parts = consecutive_parts(order, n_parts)
    positives, sizes = np.bincount(parts, rows.positive), np.bincount(parts)
    if np.count_nonzero((positives > 0) & (positives < sizes)) < 2:
        return None
    listed = Budget(max(1, round(budget / of_rows * len(scores) / n_parts)), "batch")
    with refusing():
        found = Reference.of(listed, parts, scores, rows.positive, watched(rows.X))
    return replace(found, budget=Budget(budget, "batch"), of_parts=rows.times is None)


def watched(X: Any) -> Any:
    """Return the columns of a table but for those that move with every row, such as the number of a day."""
    return (
        X[[name for name in X if not str(name).endswith(" (days since 1970)")]] if hasattr(X, "iloc") else X
    )


def saved_model(pipeline: Any, name: str, data: LabelledFeatures, **more: Any) -> SavedModel:
    """Return a fitted pipeline with all that it needs to read new rows."""
    rows, y, table = data.learnt, data.learnt.counted().y, data.table
    if isinstance(stack := pipeline[-1], StackingRanker):
        # Members without a weight are not asked, and their libraries need not be there.
        stack.set_params(estimators=[pair for pair in stack.estimators or () if stack.weights_[pair[0]]])
    training = {"file": table.path.name, "rows": len(y), "positives": int(y.sum())}
    # Measures of the very rows of the fit flatter a model: by their hash they are known again.
    training["rows_hash"] = rows_hash(rows.X)
    training["spans"] = spans_of(watched(rows.X))
    # With a budget by period the reference has where columns lie, and watches them.
    if more.get("alert") is not None:
        more["profiles"] = profiles_of_rows(watched(rows.X), rows.times)
    same = {name: getattr(data, name) for name in ("label", "positive", "numeric", "categorical")}
    return SavedModel(pipeline=pipeline, name=name, training=training, **same, **more)


def save_model(saved: SavedModel, path: Path) -> None:
    """Write the model, whole or not at all."""
    # What is made a dict is copied first, and the pipeline may be large.
    # Lists are long in a file of skops, and a text is short.
    fields = asdict(replace(saved, pipeline=Pipeline([]), profiles={}))
    fields["profiles"] = json.dumps(saved.profiles)
    fields["training"] = saved.training | {"spans": json.dumps(saved.training.get("spans", {}))}
    content = {"format": MODEL_FORMAT, "pushrank": version("pushrank"), **fields, "pipeline": saved.pipeline}
    facts = facts_of(saved, version("pushrank"))
    with writing(path):
        persistence.save_with_facts(content, path, facts)


def facts_of(saved: Any, written_by: str) -> dict[str, Any]:
    """Return what a model holds as values of JSON, and the lines to print of it by their names."""
    ranker, is_ensemble = saved.ranker, isinstance(saved.ranker, StackingRanker)
    weights, is_linear = weights_by_column(saved, ranker), hasattr(ranker, "coef_") or is_ensemble
    facts = {
        "model": saved.name,
        "pushrank": written_by,
        "parameters": ranker.get_params(deep=False),
        "chosen": getattr(ranker, "best_params_", {"final": ranker.final_} if is_ensemble else {}),
        "candidates": getattr(ranker, "candidates_", []),
        **{name: getattr(saved, name) for name in SCORER_FIELDS},
        "probability": saved.calibrator is not None,
        "alert": None if saved.alert is None else vars(saved.alert),
        "expected": saved.reference.facts() if saved.reference and saved.alert is None else None,
        "weights": weights if is_linear else {},
        "importances": {} if is_linear else weights,
    }
    # Facts are noted in a file as JSON, which holds no arrays and no numbers of numpy.
    facts = json.loads(json.dumps(facts, default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v)))
    noted = {
        "facts": facts | {"format": MODEL_FORMAT},
        "lines": _lines(facts, saved),
        "is_ensemble": is_ensemble,
    }
    return noted | {"profiles": saved.profiles}


def _lines(facts: dict[str, Any], saved: Any) -> dict[str, str]:
    """Return what is printed of a model, by the name of its line; an empty text is not."""
    chosen = {
        name: f"{value:g}" if isinstance(value, float) else value for name, value in facts["chosen"].items()
    }
    ranker = saved.ranker
    if isinstance(ranker, StackingRanker):
        # Its members are named below, and each would fill the screen.
        ranker = clone(ranker).set_params(estimators=None)
    columns = [
        f"{len(names):,} {kind} ({', '.join(names[:MAX_SHOWN])}{', ...' * (len(names) > MAX_SHOWN)})"
        for names, kind in ((facts["numeric"], "numeric"), (facts["categorical"], "of text"))
        if names
    ]
    training = "{file}, {rows:,} rows, {positives:,} positive"
    return {
        "model": f"{facts['model']}, written by pushrank {facts['pushrank']}",
        "parameters": " ".join(repr(ranker).split()),
        "chosen": ", ".join(f"{name} = {value}" for name, value in chosen.items()),
        "positive": f"{facts['label']} = {facts['positive']}" if facts["label"] else "",
        "fitted on": training.format_map(facts["training"]) if facts["training"] else "",
        "columns": "; ".join(columns),
        "read": ", ".join(f"{key}={value}" for key, value in facts["as_fitted"].get("read", {}).items()),
        "probabilities": "calibrated" if facts["probability"] else "",
        "expected": facts["expected"]["sentence"] if facts["expected"] else "",
        "alert threshold": saved.alert.sentence() if saved.alert else "",
    }


def weights_by_column(saved: Any, ranker: Any) -> dict[str, float]:
    """Return the weights of a linear model, or what others rest on, by column, the largest first; or none."""
    if isinstance(ranker, StackingRanker):
        return dict(sorted(ranker.weights_.items(), key=lambda pair: -abs(pair[1])))
    coef = getattr(ranker, "coef_", getattr(ranker, "feature_importances_", None))
    if coef is None:
        return {}
    weights = np.ravel(np.asarray(coef, dtype=np.float64))
    names = [str(number) for number in range(1, len(weights) + 1)]
    steps = saved.pipeline[:-1] if isinstance(saved.pipeline, Pipeline) else None
    # A step that the user wrote may not name its columns: these keep their numbers.
    with suppress(AttributeError):
        names = list(map(str, saved.numeric if steps is None else steps.get_feature_names_out()))
    if saved.label:
        # The name of a column, of a gap in it, or of a value of it, without what the steps add.
        names = [re.sub("^missingindicator_(.*)", r"\1 missing", of.partition("__")[2]) for of in names]
    return {names[place]: float(weights[place]) for place in np.argsort(-np.abs(weights), kind="stable")}
