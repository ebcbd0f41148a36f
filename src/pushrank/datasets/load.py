"""Real data sets by name, from a Parquet file in a folder or from OpenML, checked against the catalogue."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from pushrank._optional import import_optional
from pushrank.datasets._catalogue import WHOLE, DataSet, catalogue
from pushrank.exceptions import DatasetFormatError, DatasetNotFoundError
from pushrank.validation import check_number

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["list_datasets", "load_dataset"]

DATA_VARIABLE = "PUSHRANK_DATA"
DataHome = str | os.PathLike[str] | None

BUNDLED = Path(__file__).with_name("bundled")


def list_datasets() -> dict[str, str]:
    """List the names that `load_dataset` knows, each with its title.

    Returns
    -------
    dict of str to str
        The title of each data set by its name, in alphabetical order.

    Examples
    --------
    >>> from pushrank.datasets import list_datasets
    >>> list_datasets()["magic"]
    'MAGIC gamma telescope: showers of gamma rays against hadrons'
    """
    return {name: data_set.title for name, data_set in sorted(catalogue().items())}


def load_dataset(
    name: str,
    *,
    positive: str | None = None,
    split: str | None = None,
    target: str | int | None = None,
    threshold: float | None = None,
    medv: bool | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load a real data set by its name.

    The set is read from its Parquet file in the folder ``data_home``, or in the folder that the environment
    variable ``PUSHRANK_DATA`` names. Without the file, ``"magic"`` is read from a copy in the library, and
    the same rows of other sets are fetched from OpenML, if it has them, through scikit-learn's cache. The
    columns are the same in all cases, and the numbers of rows and labels are checked. Class 1 is the positive
    class, which belongs at the top.

    Parameters
    ----------
    name : str
        The data set, one of the names in the notes.
    positive : str or None, default=None
        The original label that is class 1; None for the default in the notes. All other labels are class 0.
    split : {"train", "test", None}, default=None
        One of the two parts of a set that has parts, or all rows, training rows first.
    target : str, int or None, default=None
        The target or assay of a set of molecules; None for the default in the notes. The error for a wrong
        one lists all. ``"tox21"`` has only the compounds that were tested in the assay, and ``"chembl"`` the
        same decoys for every target.
    threshold : float or None, default=None
        Rings above which an abalone is class 1, at least 1 and below 29; None for 10.
    medv : bool or None, default=None
        Whether the median value of houses, the target of the original regression, is a feature of
        ``"housing"``; None for True.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects in place of arrays; the Bunch then also has ``frame``.
    data_home : path-like or None, default=None
        The folder of Parquet files, and of the cache for OpenML; None for the folder that ``PUSHRANK_DATA``
        names, and scikit-learn's default cache.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        ``data`` (n_samples, n_features): float64, or object if some columns are text, with missing values
        NaN; for molecules (n_samples,) SMILES strings, from which a fingerprint makes features. ``target``
        (n_samples,) int64: 0 and 1, or grades, the highest the most relevant. ``feature_names``,
        ``target_names`` (one for each class), ``frame``, ``DESCR`` and ``source``. Some sets also have one
        value for each row: ``split``; ``label``, the letter; ``rings``; ``qid``, the query, whose rows are
        consecutive; ``compound_ids``.

    Raises
    ------
    ValueError
        When there is no such set, the set has no such option, or the option no such value.
    TypeError
        When ``threshold`` is not a number.
    DatasetNotFoundError
        When there is no file, and OpenML has no such set or cannot be reached.
    DatasetFormatError
        When the file is damaged, or it contains another set.
    ImportError
        When pandas or, for a file, pyarrow is missing.

    Notes
    -----
    ======================  =======  ========  =========  ===========================================
    name                       rows  features  positives  options and their defaults
    ======================  =======  ========  =========  ===========================================
    ``abalone``                4177         8       1447  threshold=10
    ``adult``                 48842        14      11687  positive=">50K", split=None
    ``adult_a9a``             48842       123      11687  positive="1", split=None
    ``chembl``                10100    SMILES        100  target="100126" (of 80), positive="active"
    ``cod_rna``              488565         8     162855  positive="1"
    ``cover_odds``           286048        10       2747  positive="1"
    ``dud``                    2117    SMILES         47  target="cdk2" (of 21), positive="active"
    ``housing``                 506        13         35  medv=True
    ``ijcnn1``               141691        22      13565  positive="1", split=None
    ``ionosphere``              351        34        225  positive="g"
    ``kddcup99_http``        567498         3       2211  positive="1"
    ``kddcup99_smtp``         95156         3         30  positive="1"
    ``lambdarank_example``     3773       300     graded  split=None
    ``letter``                20000        16        734  positive="H" ("A" to "Z")
    ``magic``                 19020        10      12332  positive="g"
    ``muv``                   15030    SMILES         30  target="466" (of 17), positive="active"
    ``spambase``               4601        57       1813  positive="1"
    ``tox21``                  6549    SMILES        768  target="NR-AhR" (of 12)
    ======================  =======  ========  =========  ===========================================

    The ``DESCR`` of each set has the meaning of a positive, remarks, the reference and the licence.

    Kelly, M., Longjohn, R. and Nottingham, K. The UCI Machine Learning Repository. Vanschoren, J. et al.
    (2013). OpenML: networked science in machine learning. SIGKDD Explorations 15(2), 49-60.

    Examples
    --------
    >>> from pushrank.datasets import load_dataset
    >>> X, y = load_dataset("magic", return_X_y=True)
    >>> X.shape, int(y.sum())
    ((19020, 10), 12332)
    >>> load_dataset("magic", positive="h").target_names
    ['g', 'h']
    """
    data_sets = catalogue()
    if name not in data_sets:
        closest = get_close_matches(str(name), data_sets, n=len(data_sets), cutoff=0.5)
        names = [*closest, *(other for other in sorted(data_sets) if other not in closest)]
        raise ValueError(f"name={name!r} is no data set; use one of {names}.")
    record = data_sets[name]
    passed = {"positive": positive, "split": split, "target": target, "threshold": threshold, "medv": medv}
    options = _check_options(record, {option: value for option, value in passed.items() if value is not None})
    frame, source = _read(record, data_home)
    if options.get("split") is not None:
        frame = frame[frame["split"] == options["split"]]
    task = record.prepare(frame, options)
    data, table = task.rows[list(task.features)].reset_index(drop=True), None
    labels = task.target.to_numpy().astype(np.int64)
    if len(task.features) == 1:
        data = data[task.features[0]]
    if as_frame:
        pd = import_optional("pandas", "io")
        labels = pd.Series(labels, name="target")
        table = pd.concat([data, labels], axis=1)
    else:
        data = data.to_numpy()
    if return_X_y:
        return data, labels
    columns = {"split": "split", **record.shown} if record.splits else record.shown
    return Bunch(
        data=data,
        target=labels,
        feature_names=list(task.features),
        target_names=task.target_names,
        frame=table,
        DESCR=_describe(record, source),
        source=source,
        **{key: task.rows[column].to_numpy() for key, column in columns.items()},
    )


def _check_options(record: DataSet, passed: Mapping[str, object]) -> dict[str, object]:
    """Return all options of a set, with the defaults of those that were not passed."""
    for option, value in passed.items():
        if option not in record.options:
            raise ValueError(
                f"the data set {record.name!r} has no option {option}={value!r}; "
                f"its options are {list(record.options)}."
            )
        if option == "threshold":
            # Abalones have 1 to 29 rings: any other threshold would leave a class empty.
            check_number(option, value, 1, below=29)
        elif option == "medv":
            if not isinstance(value, bool):
                raise ValueError(f"medv={value!r} is not known for {record.name!r}; use True or False.")
        else:
            choices = {"positive": record.labels, "split": record.splits, "target": record.targets}[option]
            if str(value) not in choices:
                raise ValueError(
                    f"{option}={value!r} is not known for {record.name!r}; use one of {list(choices)}."
                )
    return {**record.options, **passed}


def _describe(record: DataSet, source: str) -> str:
    counts = "; ".join(
        f"{split}: " + ", ".join(f"{label} {count}" for label, count in labels.items())
        for split, labels in record.counts.items()
    )
    facts = {
        "Original labels": counts,
        "Positive": record.meaning,
        "Options": record.options,
        "Remarks": record.notes,
        "Reference": record.reference,
        "Licence": record.licence,
        "Read from": source,
    }
    lines = (f"{name}: {fact}" for name, fact in facts.items() if fact)
    return "\n".join([record.title, "", f"Rows: {record.rows}; features: {len(record.features)}", *lines])


def _read(record: DataSet, data_home: DataHome) -> tuple[pd.DataFrame, str]:
    """Return the rows of a data set in canonical form, and the file or address that they were read from."""
    # The frame has the features of the record (float64, or object with strings and NaN), `label` (strings, or
    # float64 if the label is a number), `split` if the source has one, and the extra columns.
    import_optional("pandas", "io")
    name, folder = "data_home", data_home
    if folder is None:
        name, folder = DATA_VARIABLE, os.environ.get(DATA_VARIABLE) or None
    looked_in = f"the environment variable {DATA_VARIABLE} is not set"
    if folder is not None:
        path = Path(folder).expanduser() / record.file
        missing = f"no {path.name} in it" if path.parent.is_dir() else "no such folder"
        looked_in = f"{name} is {path.parent} ({missing})"
    if folder is not None and path.is_file():
        frame, source = _from_parquet(record, path), str(path)
    elif record.bundled_decimals is not None:
        frame = _from_parquet(record, BUNDLED / record.file).round(record.bundled_decimals)
        source = "the copy that comes with pushrank"
    else:
        frame = _from_openml(record, data_home, looked_in)
        source = f"https://www.openml.org/d/{record.openml}"
    _check_counts(record, frame, source)
    return frame, source


def _from_parquet(record: DataSet, path: Path) -> pd.DataFrame:
    pd, pa = import_optional("pandas", "io"), import_optional("pyarrow", "io")
    try:
        raw = pd.read_parquet(path, engine="pyarrow").reset_index(drop=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DatasetFormatError(
            f"{path} cannot be read as a Parquet file ({_one_line(error)}). The file is damaged, cut short "
            "or not readable: copy it again, or remove it to have the set from OpenML where OpenML has it."
        ) from error
    others = [*(("split",) if record.splits else ()), *record.extra]
    named = [*(("label",) if record.labelled else ()), *others]
    absent = [column for column in named if column not in raw.columns]
    if absent:
        raise DatasetFormatError(
            f"{path} has no column {absent}; it is not the data set {record.name!r}. Its columns begin "
            f"{list(map(str, raw.columns[:5]))}."
        )
    # A file whose origin has no header numbers its columns: they are renamed by position.
    complete = set(record.features) <= set(raw.columns)
    features = raw[list(record.features)] if complete else raw.drop(columns=named)
    label = raw["label"] if record.labelled else None
    return _canonical(record, features, label, str(path)).assign(**{name: raw[name] for name in others})


def _from_openml(record: DataSet, data_home: DataHome, looked_in: str) -> pd.DataFrame:
    pd = import_optional("pandas", "io")
    todo = f"set {DATA_VARIABLE} to a folder that holds {record.file}"
    if record.openml is None:
        raise DatasetNotFoundError(
            f"Data set {record.name!r} was not found: {looked_in}, and OpenML has no copy of it that agrees "
            f"with {record.file}. What to do: {todo}. Origin: {record.reference}"
        )
    try:
        fetched = fetch_openml(
            data_id=record.openml, data_home=data_home, as_frame=not record.openml_sparse, parser="auto"
        )
    except (OSError, ValueError, HTTPException) as error:
        raise DatasetNotFoundError(
            f"Data set {record.name!r} was not found: {looked_in}, and OpenML's data set {record.openml} "
            f"could not be fetched ({_one_line(error)}). What to do: {todo}, or connect to the internet."
        ) from error
    data, label = fetched.data, fetched.target
    if record.openml_sparse:
        data, label = pd.DataFrame(data.toarray()), pd.Series(label)
    # OpenML counts a row id among the columns of some versions of a set.
    features = data.drop(columns=["ID", "id"], errors="ignore")
    frame = _canonical(record, features, label, f"OpenML's data set {record.openml}")
    if record.openml_order and len(frame) == record.rows:
        sizes = [sum(record.counts[split].values()) for split in record.openml_order]
        frame["split"] = np.repeat(record.openml_order, sizes)
        # The files have the training rows first, and so does this frame.
        frame = pd.concat([frame[frame["split"] == split] for split in record.splits], ignore_index=True)
    return frame


def _canonical(record: DataSet, features: pd.DataFrame, label: pd.Series | None, where: str) -> pd.DataFrame:
    """Rename the features by position; make numbers float64, and text object with NaN for missing values."""
    pd = import_optional("pandas", "io")
    if features.shape[1] != len(record.features):
        raise DatasetFormatError(
            f"{where} has {features.shape[1]} feature columns, the data set {record.name!r} has "
            f"{len(record.features)}; it is another version or another set."
        )
    frame = features.set_axis(list(record.features), axis=1).reset_index(drop=True)
    if label is not None:
        frame = pd.concat([frame, pd.Series(label.to_numpy(), name="label")], axis=1)
    columns = {}
    try:
        for name in frame.columns:
            if name == "label" and record.labels:
                # Adult's test labels end with a full stop.
                names = {value: str(value).strip().rstrip(".") for value in frame[name].unique()}
                columns[name] = frame[name].map(names).astype(object)
            elif name in record.text:
                text = frame[name].astype(object)
                columns[name] = text.where(text.notna() & (text != "?"), np.nan)
            else:
                columns[name] = pd.to_numeric(frame[name]).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DatasetFormatError(
            f"{where} has text where the data set {record.name!r} has numbers ({_one_line(error)})."
        ) from error
    return pd.DataFrame(columns)


def _check_counts(record: DataSet, frame: pd.DataFrame, source: str) -> None:
    """Compare the numbers of rows and labels with the catalogue, so that all sources have the same set."""
    if len(frame) != record.rows:
        raise DatasetFormatError(
            f"{source} has {len(frame)} rows, the data set {record.name!r} has {record.rows}; it is another "
            "version or was cut short."
        )
    for split, expected in record.counts.items():
        rows = frame if split == WHOLE else frame[frame["split"] == split]
        counts = rows["label"].value_counts().to_dict()
        if counts != dict(expected):
            part = "" if split == WHOLE else f" in split {split!r}"
            raise DatasetFormatError(
                f"{source} has the label counts {counts}{part}, the data set {record.name!r} has "
                f"{dict(expected)}; it is another version or another set."
            )


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
