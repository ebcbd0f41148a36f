"""Models as files that can be loaded safely."""

from __future__ import annotations

import copy
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from inspect import isabstract, isclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.utils
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from pushrank._base.files import (
    FACTS_FILE,
    FACTS_FORMAT,
    TRUSTED_TYPES,
    VERSION_FILE,
    atomic_write,
    digest,
    is_later,
    written_by,
)
from pushrank._base.optional import import_optional
from pushrank.exceptions import ModelFileError, warn

__all__ = ["load", "load_content", "model_digest", "save", "save_with_facts"]

FOREIGN_TYPES = {
    *(f"{kind.__module__}.{kind.__qualname__}" for kind in (sp.csr_array, sp.csr_matrix)),
    # The nodes of trees are checked after loading, since prediction follows them without a check.
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    # A scorer calls a function, which has to be trusted itself.
    "sklearn.metrics._scorer._Scorer",
    # The folds of an encoder of texts only hold numbers.
    "sklearn.model_selection._split.StratifiedKFold",
    # The type of the values that an imputer fills in only names a kind of number.
    "numpy.dtype",
    # Histogram boosting checks columns by this function, which is handed options, where it knows categories.
    "functools.partial",
    "sklearn.utils.validation.check_array",
    # Classifiers of LightGBM keep the measures of their rounds so.
    "collections.OrderedDict",
    # A network keeps how it was fitted, in numbers and arrays.
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "pushrank.persistence.BoostedClassifier",
}
"""Types that a file may hold with ``TRUSTED_TYPES``, and those of scikit-learn and numpy of skops."""
BOOSTED = {"lightgbm.sklearn.LGBMClassifier", "xgboost.sklearn.XGBClassifier"}
"""Classifiers that are saved with the text of their booster."""
NAMES_SAVED = "Give parameters by name; kernel='precomputed' takes the values of any kernel."
BOOSTERS_SAVED = "A booster that was fitted to a push is saved as its library does: by save_model."
MEMBERS_SAVED = (
    "Models of scikit-learn, LGBMClassifier, XGBClassifier and pushrank's rankers can be saved: take one of "
    "them, or pickle the model for those who trust you."
)


@dataclass
class BoostedClassifier:
    """What a file holds of a classifier of LightGBM or XGBoost: its attributes, the booster as a text."""

    kind: str
    attributes: dict[str, Any]

    @classmethod
    def of(cls, model: Any) -> BoostedClassifier:
        kind, attributes = type_name(type(model)), dict(vars(model))
        # LightGBM has None before the fit, and XGBoost no such attribute.
        if attributes.get("_Booster") is not None:
            attributes["_Booster"] = text_of(model._Booster)
        return cls(kind, attributes)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # skops hands an object its state, and keeps the object. Were the library's classes trusted instead,
        # a file could have their constructors called, which read the files that they are given.
        kind, attributes = state["kind"], state["attributes"]
        if kind not in BOOSTED:
            raise ValueError(f"{kind} has no booster that is kept as a text.")
        library, _, name = kind.partition(".sklearn.")
        self.__class__ = getattr(import_optional(library, library), name)
        vars(self).update(attributes)
        if isinstance(attributes.get("_Booster"), str):
            vars(self)["_Booster"] = booster_of(library, attributes["_Booster"])


def type_name(named: Any) -> str:
    """Return the whole name of a type or function."""
    return f"{named.__module__}.{named.__name__}"


def text_of(booster: Any) -> str:
    """Return a booster in the text format of LightGBM or XGBoost."""
    as_text = getattr(booster, "model_to_string", None)
    return str(as_text() if as_text else bytes(booster.save_raw("json")).decode())


def booster_of(library: str, text: str) -> Any:
    """Return the booster of a text."""
    boosters = import_module(library)
    if library == "lightgbm":
        return boosters.Booster(model_str=text)
    return boosters.Booster(model_file=bytearray(text.encode()))


def save(model: object, path: str | Path) -> None:
    """Write a fitted model, or a dict that holds one, to a skops file.

    The file is written under another name and renamed.

    The skops format: a zip of a JSON schema and numpy arrays, without pickles. Pipelines and stacks may hold
    models of scikit-learn, ``LGBMClassifier`` and ``XGBClassifier``, whose boosters are written as the texts
    of their libraries. A model that cannot be saved is refused before its fit, too: save it once unfitted
    where the fit takes long.

    Parameters
    ----------
    model : object
        A ranker, a pipeline or a stack, or a dict of such and of plain values.
    path : str or Path
        Where to; an existing file is replaced, whole or not at all.

    Raises
    ------
    ImportError
        When skops is not installed: it comes with ``pip install "pushrank[io]"``.
    OSError
        When the file cannot be written; nothing is left in its place.
    TypeError
        When the model holds what could not be loaded again: a function, such as a callable kernel, an
        object of a type that is not trusted, such as a model of another library, or an array of a library
        that skops does not support.

    Examples
    --------
    >>> import tempfile
    >>> from pushrank import PNormPush, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(PNormPush(p=8), Path(folder) / "model.skops")
    ...     load(Path(folder) / "model.skops")
    PNormPush(p=8)
    """
    save_with_facts(model, Path(path), {})


def save_with_facts(model: object, path: Path, facts: dict[str, object]) -> None:
    """Write a model as :func:`save` does, and facts for JSON, which are read without loading it."""
    # What describes rankers imports all of them, which a file of other models is loaded without.
    from pushrank.interop._scores import description_of

    try:
        members = _members(model)
    except RuntimeError as error:
        # PyTorch raises it for a tensor that skops builds without its numbers.
        raise TypeError(
            f"{type(model).__name__} holds what a skops file cannot ({error}). After a fit to tensors, "
            "first turn coef_ and classes_ into NumPy arrays with numpy.asarray."
        ) from error
    fitted = model["pipeline"] if isinstance(model, dict) and "pipeline" in model else model
    facts |= {"format": FACTS_FORMAT, "scoring": description_of(fitted), "digest": model_digest(fitted)}
    members[FACTS_FILE] = json.dumps(facts).encode()
    with atomic_write(path) as draft:
        with zipfile.ZipFile(draft, "w") as archive:
            for name, content in members.items():
                # A fixed date: the same fit has the same file.
                archive.writestr(zipfile.ZipInfo(name), content)
            archive.writestr(zipfile.ZipInfo(VERSION_FILE), f"{version('pushrank')}\n{digest(archive)}")
        strangers = _strangers(draft.read_bytes())
        if strangers:
            raise _refusal(model, strangers)


def model_digest(fitted: object) -> str:
    """Return a digest of the code and the numbers of a fitted model, by which a state knows its scores."""
    return sha256(b"".join(_members(fitted).values())).hexdigest()


def _members(model: object) -> dict[str, bytes]:
    """Return the parts of a model's file by name, without the addresses that objects had in memory.

    The same fit, or a model that was loaded, has the same parts.
    """
    numbers: dict[str, str] = {}
    with zipfile.ZipFile(BytesIO(skops_io().dumps(_as_saved(model)))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = re.sub(
        r'("(?:__id__|file)": "?)(\d+)',
        lambda at: at[1] + numbers.setdefault(at[2], str(len(numbers))),
        parts.pop("schema.json").decode(),
    )
    members = {}
    for name, content in parts.items():
        number, dot, kind = name.partition(".")
        array = np.load(BytesIO(content), allow_pickle=False) if kind == "npy" else None
        if array is not None and array.dtype.names:
            # Between the fields of records there are bytes that nobody has set.
            records = np.zeros(array.shape, array.dtype)
            for field in array.dtype.names:
                records[field] = array[field]
            np.save(filled := BytesIO(), records)
            content = filled.getvalue()
        members[numbers.get(number, number) + dot + kind] = content
    return {"schema.json": schema.encode(), **dict(sorted(members.items()))}


def _as_saved(model: object) -> object:
    """Return a model with its boosters as their own texts."""
    # What is to be copied already has its copy, by which the classifiers are replaced.
    boosted = {
        id(item): BoostedClassifier.of(item) for item in _parts(model) if type_name(type(item)) in BOOSTED
    }
    return copy.deepcopy(model, boosted) if boosted else model


def load(path: str | Path) -> Any:
    """Read a model that :func:`save` or ``pushrank fit`` wrote.

    A file whose parts were exchanged, or would inflate to far more than the file holds, counts as damaged.
    Only registered types are built: pushrank's estimators, losses, prices, weak rankers, measures and the
    state of streams, and those of scikit-learn, numpy and scipy that skops trusts by itself. Nothing else in
    the file is imported or run. The text of a booster is read by LightGBM or XGBoost, which do not look for
    nodes that point out of a tree: load boosters of people that you trust.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    object
        What was saved; for a file of ``pushrank fit`` the pipeline from columns to scores.

    Raises
    ------
    ModelFileError
        When it holds untrusted types or models of a later scikit-learn, is damaged, or no model file at all.
    ImportError
        When skops is not installed: it comes with ``pip install "pushrank[io]"``.
    OSError
        When the file cannot be read.

    Warns
    -----
    UserWarning
        When a later version of pushrank wrote the file.

    Examples
    --------
    >>> from pushrank import load
    >>> load("no such file")
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no such file'
    """
    content = load_content(path)
    return content["pipeline"] if isinstance(content, dict) and "pipeline" in content else content


def load_content(path: str | Path) -> Any:
    """Return all that a model file holds, for ``pushrank fit`` a dict, as :func:`load` does."""
    io, strangers = skops_io(), list[str]()
    data, later, way_out = Path(path).read_bytes(), "", "fit the model again"
    try:
        if is_later(by_version := written_by(data), version("pushrank")):
            later = f"was written by pushrank {by_version}, which is later than this, {version('pushrank')}"
            way_out = f"it {later}: install that version"
        if not (by_sklearn := _later_sklearn(data)):
            model = io.loads(data, trusted=_trusted_in(data))
            _check_trees(model)
    except io.exceptions.UntrustedTypesFoundException as error:
        strangers = _strangers(data)
        if not strangers:
            raise ModelFileError(f"{path} holds types that are not trusted: {error}") from error
    except ImportError as error:
        raise ModelFileError(f"{path} holds a model of another library. {error}") from error
    except Exception as error:
        # skops, zipfile, json and numpy raise all kinds of exceptions for damaged files.
        raise ModelFileError(
            f"{path} is not a model file of pushrank, or is damaged ({str(error) or type(error).__name__}); "
            f"{way_out}."
        ) from error
    if by_sklearn:
        raise ModelFileError(
            f"{path} was written with scikit-learn {by_sklearn}, which is later than what is installed, "
            f"{sklearn.__version__}: install that version, or fit the model again."
        )
    if strangers:
        raise ModelFileError(
            f"{path} holds types that are not trusted: {', '.join(strangers)}. Only files that pushrank "
            f"saved can be loaded; {way_out}."
        )
    if later:
        warn(f"{path} {later}: scores may differ. Install that version.")
    return model


@cache
def skops_io() -> Any:
    """Return ``skops.io``, imported without other libraries that scikit-learn can work with."""
    # skops asks scikit-learn for all its estimators, which imports torch and dask where they are installed.
    whole, sklearn.utils.all_estimators = sklearn.utils.all_estimators, lambda: [*_estimators(sklearn)]
    try:
        return import_optional("skops.io", "io")
    finally:
        sklearn.utils.all_estimators = whole


def _estimators(module: ModuleType) -> Iterator[tuple[str, type]]:
    """Yield the estimators of a public module of scikit-learn, and of those within it, by name."""
    for name in dir(module):
        member = None if name.startswith("_") else getattr(module, name)
        if isinstance(member, ModuleType) and name in getattr(module, "__all__", ()):
            yield from _estimators(member)
        elif isclass(member) and BaseEstimator in member.__mro__[1:] and not isabstract(member):
            yield name, member


def _later_sklearn(data: bytes) -> str:
    """Return the version of scikit-learn that a file's estimators name, where it is later than this one."""
    # Each of its estimators names it. A version with another third number has the same attributes.
    schema = zipfile.Path(BytesIO(data), "schema.json").read_text("utf-8")
    named = re.findall(r'"_sklearn_version": {[^}]*"content": "\\"([^"\\]+)', schema)
    return next((text for text in named if is_later(text, sklearn.__version__, 2)), "")


def _trusted_in(data: bytes) -> list[str]:
    """Return those of the trusted types that a file may hold by the names in it."""
    schema = zipfile.Path(BytesIO(data), "schema.json").read_text("utf-8")
    names = set(re.findall(r'"__(?:class|module)__": "([^"]+)"', schema))
    # A module of pushrank registers its trusted types on import. A type of another version, or a made-up one,
    # stays a stranger.
    for module in names:
        if module.startswith("pushrank."):
            with suppress(ImportError):
                import_module(module)
    return [name for name in TRUSTED_TYPES | FOREIGN_TYPES if name.rpartition(".")[2] in names]


def _strangers(data: bytes) -> list[str]:
    """Return the types and functions in a file's bytes that are not trusted."""
    return sorted({*skops_io().get_untrusted_types(data=data)}.difference(_trusted_in(data)))


def _refusal(model: object, strangers: list[str]) -> TypeError:
    """Return the error of a model that holds strangers: which parameters, and the way out."""
    parameters, ways = [], set()
    for holder in model.values() if isinstance(model, dict) else [model]:
        for name, value in holder.get_params().items() if hasattr(holder, "get_params") else ():
            stranger = type_name(value if hasattr(value, "__name__") else type(value))
            if stranger in strangers:
                parameters.append(f"{name} is {stranger}")
                by_library = stranger.startswith("pushrank.interop.")
                ways.add(
                    MEMBERS_SAVED if hasattr(value, "fit") else BOOSTERS_SAVED if by_library else NAMES_SAVED
                )
    return TypeError(
        f"{type(model).__name__} cannot be saved: "
        f"{', '.join(parameters) or 'it holds ' + ', '.join(strangers)}, and a file must be loaded without "
        f"running what it holds. {' '.join(sorted(ways) or [NAMES_SAVED])}"
    )


def _parts(whole: object) -> Iterator[Any]:
    """Yield an object and all within it, each once."""
    seen: set[int] = set()
    waiting = [whole]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, str | bytes | int | float | type | ModuleType):
            continue
        seen.add(id(item))
        yield item
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list | tuple | set):
            waiting += item
        elif isinstance(item, np.ndarray):
            waiting += item.ravel().tolist() if item.dtype == object else []
        elif hasattr(item, "__dict__"):
            waiting += vars(item).values()


def _check_trees(loaded: object) -> None:
    """Raise ModelFileError unless every tree within an object is one that prediction can walk safely."""
    # The children and the feature of every node must be in range, and children come after their parent.
    for item in _parts(loaded):
        if isinstance(item, Tree):
            is_inner = item.children_left != -1
            children = np.stack([item.children_left[is_inner], item.children_right[is_inner]])
            _check_nodes(is_inner, children, item.feature[is_inner], item.n_features)
        elif isinstance(item, BaseForest | BaseGradientBoosting | BaseDecisionTree):
            # The rows are checked once, by what the model says, and the trees then take their word.
            for tree in np.ravel(getattr(item, "estimators_", item)):
                if hasattr(tree, "tree_") and tree.tree_.n_features != item.n_features_in_:
                    raise ModelFileError("the file holds a tree of other features than its model.")
        elif isinstance(item, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
            # Members of an ensemble are held before the fit, too.
            for predictor in chain.from_iterable(getattr(item, "_predictors", ())):
                is_inner = predictor.nodes["is_leaf"] == 0
                inner = predictor.nodes[is_inner]
                children = np.stack([inner["left"], inner["right"]])
                _check_nodes(is_inner, children, inner["feature_idx"], item.n_features_in_)
                # Splits by category point into bit sets outside the tree, eight words for each split.
                split = inner[inner["is_categorical"] != 0]
                bit_sets, is_categorical = predictor.raw_left_cat_bitsets, item._bin_mapper.is_categorical_
                is_held = np.shape(is_categorical) == (item.n_features_in_,) and bit_sets.shape[1] == 8
                is_held = is_held and np.all(split["bitset_idx"] < len(bit_sets))
                if not is_held or not np.all(is_categorical[split["feature_idx"]]):
                    raise ModelFileError("the file holds a tree whose categories point out of it.")


def _check_nodes(
    is_inner: NDArray[np.bool_], children: NDArray[Any], features: NDArray[Any], n_features: int
) -> None:
    """Raise ModelFileError unless children come after their parents, and features exist."""
    # A crafted file may give the numbers of nodes any type.
    children = children.astype(np.int64)
    is_ordered = np.all((children > np.flatnonzero(is_inner)) & (children < len(is_inner)))
    if not is_ordered or np.any((features < 0) | (features >= n_features)):
        raise ModelFileError("the file holds a tree whose nodes point out of it; fit the model again.")
