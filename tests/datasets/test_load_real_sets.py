"""Every set from its real file: shapes, class counts, what a Bunch holds."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pushrank.datasets import load, load_dataset
from pushrank.datasets._catalogue import catalogue

if not os.environ.get("PUSHRANK_DATA"):
    pytest.skip(
        "PUSHRANK_DATA is not set: it names the folder with the Parquet files of the data sets",
        allow_module_level=True,
    )

CATALOGUE = catalogue()

# The folder need not hold every data set of the catalogue.
FOLDER = Path(os.environ["PUSHRANK_DATA"])
HERE = {name: record for name, record in CATALOGUE.items() if (FOLDER / record.file).exists()}

# name, options, shape of data, positives
BINARY = [
    ("ionosphere", {}, (351, 34), 225),
    ("ionosphere", {"positive": "b"}, (351, 34), 126),
    ("magic", {}, (19020, 10), 12332),
    ("magic", {"positive": "h"}, (19020, 10), 6688),
    ("housing", {}, (506, 13), 35),
    ("housing", {"medv": False}, (506, 12), 35),
    ("spambase", {}, (4601, 57), 1813),
    ("ijcnn1", {}, (141691, 22), 13565),
    ("ijcnn1", {"split": "train"}, (49990, 22), 4853),
    ("ijcnn1", {"split": "test"}, (91701, 22), 8712),
    ("adult", {}, (48842, 14), 11687),
    ("adult", {"split": "train"}, (32561, 14), 7841),
    ("adult", {"split": "test"}, (16281, 14), 3846),
    ("adult", {"split": "test", "positive": "<=50K"}, (16281, 14), 12435),
    ("adult_a9a", {}, (48842, 123), 11687),
    ("adult_a9a", {"split": "train"}, (32561, 123), 7841),
    ("adult_a9a", {"split": "test"}, (16281, 123), 3846),
    ("letter", {}, (20000, 16), 734),
    ("letter", {"positive": "A"}, (20000, 16), 789),
    ("letter", {"positive": "Z"}, (20000, 16), 734),
    ("cover_odds", {}, (286048, 10), 2747),
    ("kddcup99_http", {}, (567498, 3), 2211),
    ("kddcup99_smtp", {}, (95156, 3), 30),
    ("abalone", {}, (4177, 8), 1447),
    ("abalone", {"threshold": 18}, (4177, 8), 94),
    ("abalone", {"threshold": 19}, (4177, 8), 62),
    ("dud", {}, (2117,), 47),
    ("dud", {"target": "egfr"}, (15925,), 365),
    ("dud", {"target": "ace"}, (1842,), 46),
    ("muv", {}, (15030,), 30),
    ("muv", {"target": 859}, (15030,), 30),
    ("chembl", {}, (10100,), 100),
    ("chembl", {"target": 8}, (10100,), 100),
    ("tox21", {}, (6549,), 768),
    ("tox21", {"target": "NR-AR"}, (7265,), 309),
    ("tox21", {"target": "NR-AR-LBD"}, (6758,), 237),
    ("tox21", {"target": "NR-Aromatase"}, (5821,), 300),
    ("tox21", {"target": "NR-ER"}, (6193,), 793),
    ("tox21", {"target": "NR-ER-LBD"}, (6955,), 350),
    ("tox21", {"target": "NR-PPAR-gamma"}, (6450,), 186),
    ("tox21", {"target": "SR-ARE"}, (5832,), 942),
    ("tox21", {"target": "SR-ATAD5"}, (7072,), 264),
    ("tox21", {"target": "SR-HSE"}, (6467,), 372),
    ("tox21", {"target": "SR-MMP"}, (5810,), 918),
    ("tox21", {"target": "SR-p53"}, (6774,), 423),
]


# Every file is read once for all tests, which would notice a data set that changes what was read.
READ = cache(lambda name, _read=load._read: _read(CATALOGUE[name]))


@pytest.fixture(autouse=True)
def read_once(monkeypatch):
    monkeypatch.setattr(load, "_read", lambda record: READ(record.name))


@pytest.mark.parametrize(("name", "options", "shape", "positives"), BINARY)
def test_shape_and_positives(name, options, shape, positives):
    X, y = load_dataset(name, return_X_y=True, **options)
    assert X.shape == shape
    assert y.shape == shape[:1]
    assert y.dtype == np.int64
    assert set(np.unique(y)) == {0, 1}
    assert y.sum() == positives


@pytest.mark.parametrize("name", HERE)
def test_bunch_and_frame_agree(name):
    bunch, framed = load_dataset(name), load_dataset(name, as_frame=True)
    assert bunch.frame is None
    assert framed.frame.shape == (len(bunch.target), len(bunch.feature_names) + 1)
    assert list(framed.frame.columns) == [*bunch.feature_names, "target"]
    pd.testing.assert_series_equal(framed.target, pd.Series(bunch.target, name="target"))
    if bunch.data.ndim == 2:
        assert list(framed.data.columns) == bunch.feature_names
    assert CATALOGUE[name].title in bunch.DESCR
    assert bunch.source in bunch.DESCR
    assert len(bunch.target_names) == bunch.target.max() + 1


@pytest.mark.parametrize("name", [name for name, record in HERE.items() if not record.text])
def test_numbers_come_as_finite_float64(name):
    data = load_dataset(name).data
    assert data.dtype == np.float64
    assert np.isfinite(data).all()


def test_target_names_follow_the_positive_label():
    assert load_dataset("ionosphere").target_names == ["b", "g"]
    assert load_dataset("ionosphere", positive="b").target_names == ["g", "b"]
    assert load_dataset("letter", positive="Q").target_names == ["rest", "Q"]


def test_letter_keeps_the_letters_and_abalone_the_rings():
    letter, abalone = load_dataset("letter", positive="T"), load_dataset("abalone", threshold=10)
    assert "".join(letter.label[:2]) == "TI"
    np.testing.assert_array_equal(letter.target, letter.label == "T")
    np.testing.assert_array_equal(abalone.target, abalone.rings > 10)
    assert set(abalone.data[:, 0]) == {"M", "F", "I"}


def test_housing_takes_chas_out_of_the_features():
    bunch = load_dataset("housing")
    assert "CHAS" not in bunch.feature_names
    assert bunch.feature_names[-1] == "MEDV"
    np.testing.assert_array_equal(bunch.data[:2, -1], [24.0, 21.6])


def test_adult_marks_missing_values_as_nan_and_strips_the_full_stop():
    bunch = load_dataset("adult", as_frame=True)
    assert bunch.target_names == ["<=50K", ">50K"]
    missing = bunch.data.isna().sum()
    assert missing[missing > 0].to_dict() == {"workclass": 2799, "occupation": 2809, "native-country": 857}
    assert bunch.data["age"].dtype == np.float64


def test_split_says_where_each_row_comes_from():
    bunch = load_dataset("adult_a9a")
    assert (bunch.split == "train").sum() == 32561
    tested = load_dataset("adult_a9a", split="test").data
    np.testing.assert_array_equal(bunch.data[bunch.split == "test"], tested)


SPLITS = [("train", 3005, 201), ("test", 768, 50), (None, 3773, 251)]


@pytest.mark.parametrize(("split", "rows", "queries"), SPLITS)
def test_lambdarank_has_grades_and_queries(split, rows, queries):
    bunch = load_dataset("lambdarank_example", split=split)
    assert bunch.data.shape == (rows, 300)
    assert set(np.unique(bunch.target)) == {0, 1, 2, 3, 4}
    assert len(np.unique(bunch.qid)) == queries
    # The rows of a query follow each other.
    assert np.count_nonzero(np.diff(bunch.qid)) == queries - 1


def test_molecules_are_strings_with_names():
    bunch = load_dataset("chembl", target="100126")
    assert bunch.data[0] == "CC(C)(C)c1nc(-c2ccc(Cl)c(O)c2)c(-c2ccncc2)[nH]1"
    assert bunch.compound_ids[0] == "CHEMBL200172"
    assert bunch.feature_names == ["SMILES"]
    assert bunch.target_names == ["decoy", "active"]


@pytest.mark.parametrize(
    "name", [name for name, record in HERE.items() if record.labelled and record.targets]
)
def test_the_catalogue_has_the_targets_of_the_file(name):
    frame, _ = READ(name)
    assert set(frame["target"]) - {"zinc"} == set(CATALOGUE[name].targets)
