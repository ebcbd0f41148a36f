"""Where the rows come from, without data and without a network: folders, OpenML, and what can go wrong."""

import sys
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from pushrank.datasets import list_datasets, load, load_dataset
from pushrank.datasets._catalogue import WHOLE, catalogue
from pushrank.exceptions import DatasetNotFoundError

pytestmark = pytest.mark.fast

# Wrong choices are refused before anything is read.
UNKNOWN = [
    ("ionosphere", {"positive": "good"}, ValueError, r"positive='good' is not known .* \['b', 'g'\]"),
    ("letter", {"positive": "a"}, ValueError, "positive='a' is not known"),
    ("adult", {"split": "valid"}, ValueError, r"split='valid' .* \['train', 'test'\]"),
    ("lambdarank_example", {"split": "valid"}, ValueError, "split='valid'"),
    ("abalone", {"threshold": 29}, ValueError, "threshold must be >= 1 and < 29, got 29"),
    ("abalone", {"threshold": float("nan")}, ValueError, "threshold must be .* got nan"),
    ("abalone", {"threshold": "ten"}, TypeError, "threshold must be a number, got 'ten'"),
    ("housing", {"medv": "no"}, ValueError, "medv='no' is not known .* use True or False"),
    ("tox21", {"target": "p53"}, ValueError, r"target='p53' is not known .* use one of \['NR-AR'"),
    *(
        (name, {"target": "nothing"}, ValueError, r"target='nothing' is not known .* use one of \[")
        for name in ("dud", "muv", "chembl")
    ),
    ("magic", {"split": "train"}, ValueError, r"'magic' .* no option split='train'; .* \['positive'\]"),
    ("tox21", {"positive": "1"}, ValueError, "no option positive='1'"),
    ("magik", {}, ValueError, r"name='magik' is no data set; use one of \['magic', .*'abalone', "),
    (None, {}, ValueError, r"name=None is no data set; use one of \["),
]
CATALOGUE = catalogue()
ON_OPENML = [name for name, record in CATALOGUE.items() if record.openml is not None]


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No data folder, no network."""

    def refuse(**_):
        raise URLError("no route to host")

    monkeypatch.delenv("PUSHRANK_DATA", raising=False)
    monkeypatch.setattr(load, "fetch_openml", refuse)


def label_column(record):
    """Labels as the catalogue counts them, split after split; numbers from 1 to 29 where it does not."""
    if record.uncounted:
        return np.resize(np.arange(1, 30), record.rows)
    counts = record.counts.values()
    return np.concatenate([np.repeat(list(split), list(split.values())) for split in counts])


def feature_columns(record):
    """One made-up value a cell: row number times column number, or a letter for text."""
    rows = np.arange(record.rows)
    return pd.DataFrame(
        {
            f"column {j}": np.resize(["M", "F", "I"], record.rows)
            if name in record.text
            else (rows % 2 if name == "CHAS" else rows * (j + 1) / 8)
            for j, name in enumerate(record.features)
        }
    )


def openml_answer(record):
    """An answer of fetch_openml: categories for labels and text, and the splits in OpenML's order."""
    features, label = feature_columns(record), label_column(record)
    if record.openml_order:
        offsets = np.cumsum([0, *(sum(record.counts[split].values()) for split in record.splits)])
        where = {split: np.arange(*offsets[i : i + 2]) for i, split in enumerate(record.splits)}
        order = np.concatenate([where[split] for split in record.openml_order])
        features, label = features.iloc[order].reset_index(drop=True), label[order]
    for column, name in zip(features.columns, record.features, strict=True):
        if name in record.text or name == "CHAS":
            features[column] = features[column].astype(str).astype("category")
    if record.openml_sparse:
        return Bunch(data=sp.csr_matrix(features.to_numpy(dtype=float)), target=label.astype(str))
    return Bunch(data=features, target=pd.Series(label.astype(str), name="class:", dtype="category"))


def write_file(record, folder):
    frame = feature_columns(record).assign(label=label_column(record))
    if record.splits:
        frame["split"] = np.repeat(record.splits, [sum(c.values()) for c in record.counts.values()])
    frame.to_parquet(folder / record.file)
    return folder / record.file


def test_the_list_and_the_documentation_have_every_set():
    assert list(list_datasets()) == sorted(CATALOGUE)
    for name, record in CATALOGUE.items():
        row = next(line for line in load_dataset.__doc__.splitlines() if f"``{name}`` " in line)
        for option, default in record.options.items():
            shown = str(default) if option in ("split", "threshold", "medv") else f'"{default}"'
            assert f"{option}={shown}" in row
        assert row.split()[2] == ("SMILES" if record.features == ("SMILES",) else str(len(record.features)))
        assert record.targets == () or f"(of {len(record.targets)})" in row


@pytest.mark.parametrize("missing", ["pandas", "pyarrow"])
def test_what_is_missing_is_named_with_its_extra(missing, tmp_path, monkeypatch):
    write_file(CATALOGUE["ionosphere"], tmp_path)
    monkeypatch.setenv("PUSHRANK_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf'{missing} is not installed; .* "pushrank\[io\]"'):
        load_dataset("ionosphere")


@pytest.mark.parametrize("record", CATALOGUE.values(), ids=CATALOGUE)
def test_the_catalogue_agrees_with_itself(record):
    assert bool(record.uncounted) != bool(record.counts)
    assert len(set(record.features)) == len(record.features)
    assert record.splits == () or WHOLE not in record.counts
    assert set(record.openml_order) <= set(record.splits)
    assert set(record.text) <= set(record.features)
    assert str(record.options.get("positive", "")) in ("", *record.labels)
    assert str(record.options.get("target", "")) in ("", *record.targets)


@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - {"magic"}))
def test_with_no_source_the_error_says_what_to_do(name):
    record = CATALOGUE[name]
    with pytest.raises(DatasetNotFoundError) as caught:
        load_dataset(name)
    message = str(caught.value)
    assert repr(name) in message
    assert "PUSHRANK_DATA" in message
    assert record.file in message
    if record.openml is None:
        assert "is not on OpenML" in message
        assert f"take the rows from their origin, {record.reference}" in message
        assert f'``"{name}"``' in load_dataset.__doc__
    else:
        assert f"OpenML's {record.openml}, could not be fetched (URLError" in message
        assert "no route to host" in message
        assert "connect to the internet" in message


def test_magic_comes_with_the_library(monkeypatch):
    """Its numbers are those of the original file, digit for digit."""
    monkeypatch.delenv("PUSHRANK_DATA", raising=False)
    monkeypatch.setattr(load, "fetch_openml", lambda **_: pytest.fail("no network is needed"))
    rows = load_dataset("magic")
    first = "28.7967 16.0021 2.6449 0.3918 0.1982 27.7004 22.011 -8.2027 40.092 81.8828"
    assert rows.data[0].tolist() == [float(number) for number in first.split()]
    assert (rows.data * 10_000).round().sum() == 58_349_247_890


@pytest.mark.parametrize("name", ON_OPENML)
def test_file_and_openml_give_the_same(name, tmp_path, monkeypatch):
    record = CATALOGUE[name]
    asked = {}

    def answer(**parameters):
        asked.update(parameters)
        return openml_answer(record)

    monkeypatch.setattr(load, "fetch_openml", answer)
    fetched = load_dataset(name, as_frame=True)
    assert asked["data_id"] == record.openml
    assert fetched.source == f"https://www.openml.org/d/{record.openml}"

    path = write_file(record, tmp_path)
    monkeypatch.setenv("PUSHRANK_DATA", str(tmp_path))
    local = load_dataset(name, as_frame=True)
    assert local.source == str(path)
    pd.testing.assert_frame_equal(fetched.frame, local.frame)
    assert fetched.target_names == local.target_names
    if record.splits:
        np.testing.assert_array_equal(fetched.split, local.split)
        train = load_dataset(name, split="train")
        assert train.target.sum() == record.counts["train"][record.options["positive"]]


def test_a_row_id_of_openml_is_no_feature(monkeypatch):
    record = CATALOGUE["magic"]
    answer = openml_answer(record)
    answer.data.insert(0, "ID", np.arange(record.rows))
    monkeypatch.setattr(load, "fetch_openml", lambda **_: answer)
    assert load_dataset("magic").data.shape == (19020, 10)


@pytest.mark.parametrize(("name", "options", "error", "message"), UNKNOWN)
def test_a_wrong_choice_is_refused_before_anything_is_read(name, options, error, message):
    with pytest.raises(error, match=message):
        load_dataset(name, **options)
