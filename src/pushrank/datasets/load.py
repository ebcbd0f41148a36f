"""Real data sets by name, from OpenML, as ranking tasks."""

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

from pushrank._base.optional import import_optional
from pushrank._base.validation import check_number
from pushrank.datasets._catalogue import DataSet, catalogue
from pushrank.exceptions import DatasetNotFoundError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["list_datasets", "load_dataset"]

# The files from which the tests and the experiments read, without a network and also what OpenML lacks.
DATA_VARIABLE = "PUSHRANK_DATA"
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
) -> Bunch | tuple[Any, Any]:
    """Load a real data set by its name.

    ``"magic"`` comes with the library. Other sets are fetched by scikit-learn's ``fetch_openml``, which keeps
    them in its cache. OpenML does not have ``"adult_a9a"``, ``"chembl"``, ``"cover_odds"``, ``"dud"``,
    ``"ijcnn1"``, ``"kddcup99_http"``, ``"kddcup99_smtp"``, ``"lambdarank_example"``, ``"muv"`` and
    ``"tox21"``: they are read as Parquet files from the folder that the environment variable
    ``PUSHRANK_DATA`` names, as every set is that lies there. Class 1 is the positive class, which belongs at
    the top.

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
    frame, source = _read(record)
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


def _read(record: DataSet) -> tuple[pd.DataFrame, str]:
    """Return the rows of a data set in canonical form, and the file or address that they were read from."""
    # The frame has the features of the record (float64, or object with strings and NaN), `label` (strings, or
    # float64 if the label is a number), `split` if the source has one, and the extra columns.
    import_optional("pandas", "io")
    folder = os.environ.get(DATA_VARIABLE)
    if folder and (path := Path(folder).expanduser() / record.file).is_file():
        return _from_parquet(record, path), str(path)
    if record.bundled_decimals is not None:
        bundled = _from_parquet(record, BUNDLED / record.file)
        return bundled.round(record.bundled_decimals), "the copy that comes with pushrank"
    return _from_openml(record), f"https://www.openml.org/d/{record.openml}"


def _from_parquet(record: DataSet, path: Path) -> pd.DataFrame:
    import_optional("pyarrow", "io")
    raw = import_optional("pandas", "io").read_parquet(path, engine="pyarrow").reset_index(drop=True)
    others = [*(("split",) if record.splits else ()), *record.extra]
    # A file whose origin has no header numbers its columns: they are renamed by position.
    complete = set(record.features) <= set(raw.columns)
    features = raw[list(record.features)] if complete else raw.drop(columns=["label", *others])
    label = raw["label"] if record.labelled else None
    return _canonical(record, features, label).assign(**{name: raw[name] for name in others})


def _from_openml(record: DataSet) -> pd.DataFrame:
    pd = import_optional("pandas", "io")
    if record.openml is None:
        raise DatasetNotFoundError(
            f"the data set {record.name!r} is not on OpenML, and {DATA_VARIABLE} names no folder that holds "
            f"{record.file}: take the rows from their origin, {record.reference}"
        )
    try:
        fetched = fetch_openml(data_id=record.openml, as_frame=not record.openml_sparse, parser="auto")
    except (OSError, ValueError, HTTPException) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
        raise DatasetNotFoundError(
            f"the data set {record.name!r}, OpenML's {record.openml}, could not be fetched ({reason}): "
            f"connect to the internet, or set {DATA_VARIABLE} to a folder that holds {record.file}."
        ) from error
    data, label = fetched.data, fetched.target
    if record.openml_sparse:
        data, label = pd.DataFrame(data.toarray()), pd.Series(label)
    # OpenML counts a row id among the columns of some versions of a set.
    frame = _canonical(record, data.drop(columns=["ID", "id"], errors="ignore"), label)
    if record.openml_order:
        sizes = [sum(record.counts[split].values()) for split in record.openml_order]
        frame["split"] = np.repeat(record.openml_order, sizes)
        # The files have the training rows first, and so does this frame.
        frame = pd.concat([frame[frame["split"] == split] for split in record.splits], ignore_index=True)
    return frame


def _canonical(record: DataSet, features: pd.DataFrame, label: pd.Series | None) -> pd.DataFrame:
    """Rename the features by position; make numbers float64, and text object with NaN for missing values."""
    pd = import_optional("pandas", "io")
    frame = features.set_axis(list(record.features), axis=1).reset_index(drop=True)
    if label is not None:
        frame = pd.concat([frame, pd.Series(label.to_numpy(), name="label")], axis=1)
    columns = {}
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
    return pd.DataFrame(columns)
