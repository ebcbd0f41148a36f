"""Where the rows come from, without data and without a network: folders, OpenML, and what can go wrong."""

from __future__ import annotations

import sys
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from pushrank import datasets
from pushrank.datasets import _source
from pushrank.datasets._catalogue import CATALOGUE, WHOLE
from pushrank.exceptions import DatasetFormatError, DatasetNotFoundError

# Parameters that select something, so that a loader must look before it can read.
UNKNOWN = [
    (datasets.load_ionosphere, {"positive": "good"}, r"'good' is not a label .* \['b', 'g'\]"),
    (datasets.load_letter, {"positive": "a"}, "'a' is not a label"),
    (datasets.load_adult, {"split": "valid"}, r"split='valid' .* \['train', 'test', None\]"),
    (datasets.load_lambdarank_example, {"split": "valid"}, "split='valid'"),
    (datasets.load_abalone, {"threshold": 29}, "threshold=29 leaves a class empty"),
    (datasets.load_abalone, {"threshold": float("nan")}, "threshold=nan"),
    (datasets.load_tox21, {"assay": "p53"}, r"assay='p53' is not known; use one of \['NR-AR'"),
]
ON_OPENML = [name for name, record in CATALOGUE.items() if record.openml is not None]


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No data folder, no network."""

    def refuse(**_):
        raise URLError("no route to host")

    monkeypatch.delenv("PUSHRANK_DATA", raising=False)
    monkeypatch.setattr(_source, "fetch_openml", refuse)


def load(name, **parameters):
    return getattr(datasets, f"load_{name}")(**parameters)


def label_column(record):
    """Labels as the catalogue counts them, split after split; numbers from 1 to 29 where it does not."""
    if record.numeric_label:
        return np.resize(np.arange(1, 30), record.rows)
    return np.concatenate(
        [np.repeat(list(counts), list(counts.values())) for counts in record.counts.values()]
    )


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
    """What fetch_openml gives: categories for labels and for text, and OpenML's own order of the splits."""
    features, label = feature_columns(record), label_column(record)
    if record.openml_blocks:
        offsets = np.cumsum([0, *(sum(record.counts[split].values()) for split in record.splits)])
        where = {split: np.arange(*offsets[i : i + 2]) for i, split in enumerate(record.splits)}
        order = np.concatenate([where[split] for split, _ in record.openml_blocks])
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


def test_every_set_has_a_loader_and_every_loader_a_set():
    loaders = {name for name in datasets.__all__ if name.startswith("load_")}
    assert loaders == {f"load_{name}" for name in CATALOGUE}
    for name in loaders:
        assert name in sys.modules[getattr(datasets, name).__module__].__all__


@pytest.mark.parametrize("record", CATALOGUE.values(), ids=CATALOGUE)
def test_the_catalogue_agrees_with_itself(record):
    counted = sum(sum(counts.values()) for counts in record.counts.values())
    assert counted in (0, record.rows)
    assert len(set(record.features)) == len(record.features)
    assert set(record.text) <= set(record.features)
    assert record.splits == () or WHOLE not in record.counts
    if record.openml_blocks:
        assert dict(record.openml_blocks) == {s: sum(record.counts[s].values()) for s in record.splits}


@pytest.mark.parametrize("name", CATALOGUE)
def test_with_no_source_the_error_says_what_to_do(name):
    record = CATALOGUE[name]
    with pytest.raises(DatasetNotFoundError) as caught:
        load(name)
    message = str(caught.value)
    assert repr(name) in message
    assert "the environment variable PUSHRANK_DATA is not set" in message
    assert f"set PUSHRANK_DATA to a folder that holds {record.file}" in message
    if record.openml is None:
        assert "OpenML has no copy" in message
        assert "internet" not in message
    else:
        assert f"OpenML's data set {record.openml} could not be fetched" in message
        assert "no route to host" in message
        assert "connect to the internet" in message


@pytest.mark.parametrize(("folder", "reason"), [("", "no ionosphere.parquet in it"), ("x", "no such folder")])
def test_the_error_names_the_folder(tmp_path, monkeypatch, folder, reason):
    monkeypatch.setenv("PUSHRANK_DATA", str(tmp_path / folder))
    with pytest.raises(DatasetNotFoundError, match=f"PUSHRANK_DATA is .*{reason}"):
        datasets.load_ionosphere()
    with pytest.raises(DatasetNotFoundError, match=f"data_home is .*{reason}"):
        datasets.load_ionosphere(data_home=tmp_path / folder)


@pytest.mark.parametrize("name", ON_OPENML)
def test_file_and_openml_give_the_same(name, tmp_path, monkeypatch):
    record = CATALOGUE[name]
    asked = {}

    def answer(**parameters):
        asked.update(parameters)
        return openml_answer(record)

    monkeypatch.setattr(_source, "fetch_openml", answer)
    fetched = load(name, as_frame=True)
    assert asked["data_id"] == record.openml
    assert asked["data_home"] is None
    assert fetched.source == f"https://www.openml.org/d/{record.openml}"

    path = write_file(record, tmp_path)
    local = load(name, as_frame=True, data_home=tmp_path)
    assert local.source == str(path)
    pd.testing.assert_frame_equal(fetched.frame, local.frame)
    assert fetched.target_names == local.target_names
    if record.splits:
        np.testing.assert_array_equal(fetched.split, local.split)
        train = load(name, split="train")
        assert train.target.sum() == record.counts["train"][record.positive]


def test_the_folder_comes_before_openml_and_data_home_before_the_folder(tmp_path, monkeypatch):
    record = CATALOGUE["ionosphere"]
    for place in ("environment", "argument"):
        (tmp_path / place).mkdir()
        write_file(record, tmp_path / place)
    monkeypatch.setenv("PUSHRANK_DATA", str(tmp_path / "environment"))
    assert datasets.load_ionosphere().source == str(tmp_path / "environment" / record.file)
    home = tmp_path / "argument"
    assert datasets.load_ionosphere(data_home=str(home)).source == str(home / record.file)


def test_data_home_is_openmls_cache(tmp_path, monkeypatch):
    asked = {}

    def answer(**parameters):
        asked.update(parameters)
        return openml_answer(CATALOGUE["ionosphere"])

    monkeypatch.setattr(_source, "fetch_openml", answer)
    datasets.load_ionosphere(data_home=tmp_path)
    assert asked["data_home"] == tmp_path


def test_a_row_id_of_openml_is_no_feature(monkeypatch):
    record = CATALOGUE["magic"]
    answer = openml_answer(record)
    answer.data.insert(0, "ID", np.arange(record.rows))
    monkeypatch.setattr(_source, "fetch_openml", lambda **_: answer)
    assert datasets.load_magic().data.shape == (19020, 10)


def test_another_version_on_openml_is_refused(monkeypatch):
    record = CATALOGUE["ionosphere"]
    answer = openml_answer(record)
    monkeypatch.setattr(_source, "fetch_openml", lambda **_: answer)
    answer.target = answer.target.cat.rename_categories({"b": "g", "g": "b"})
    with pytest.raises(DatasetFormatError, match="d/59 has the label counts"):
        datasets.load_ionosphere()
    answer.data = answer.data.iloc[:, 1:]
    with pytest.raises(DatasetFormatError, match="33 feature columns, the data set 'ionosphere' has 34"):
        datasets.load_ionosphere()


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[: len(raw) // 2], lambda _: b"", lambda _: b"not parquet"]
)
def test_a_damaged_file_is_named(tmp_path, damage):
    path = write_file(CATALOGUE["ionosphere"], tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(
        DatasetFormatError, match=r"ionosphere\.parquet cannot be read as a Parquet file"
    ) as caught:
        datasets.load_ionosphere(data_home=tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="label"), r"has no column \['label'\]"),
        (lambda frame: frame.drop(columns="column 3"), "33 feature columns"),
        (lambda frame: frame.iloc[:-1], "350 rows, the data set 'ionosphere' has 351"),
        (lambda frame: frame.assign(label="g"), "label counts"),
        (
            lambda frame: frame.assign(**{"column 3": "text"}),
            "text where the data set 'ionosphere' has numbers",
        ),
    ],
)
def test_a_file_with_other_contents_is_refused(tmp_path, change, message):
    path = write_file(CATALOGUE["ionosphere"], tmp_path)
    change(pd.read_parquet(path)).to_parquet(path)
    with pytest.raises(DatasetFormatError, match=message):
        datasets.load_ionosphere(data_home=tmp_path)


@pytest.mark.parametrize(("loader", "parameters", "message"), UNKNOWN)
def test_a_wrong_choice_is_refused_before_anything_is_read(loader, parameters, message):
    with pytest.raises(ValueError, match=message):
        loader(**parameters)
