"""A table of two classes, in every kind of file."""

import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer


@pytest.fixture(scope="module")
def frame():
    data = load_breast_cancer(as_frame=True)
    table = data.frame.iloc[:, :6].rename(columns=lambda name: name.replace("mean ", ""))
    rng = np.random.default_rng(0)
    table["größe in cm"] = rng.choice(["small", "large", None], len(table))
    table["checked"] = rng.random(len(table)) < 0.5
    table.loc[::7, "radius"] = np.nan
    table["class"] = np.where(data.target, "benign", "malignant")
    return table


@pytest.fixture(scope="module")
def written(tmp_path_factory, frame):
    folder = tmp_path_factory.mktemp("written")
    frame.to_csv(folder / "data.csv", index=False)
    frame.to_csv(folder / "data.tsv", index=False, sep="\t")
    frame.to_csv(folder / "data.csv.gz", index=False)
    frame.to_parquet(folder / "data.parquet")
    return folder


@pytest.fixture(scope="session")
def told_by_x():
    """60 rows whose label hangs on x."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    return pd.DataFrame({"x": x, "y": (x + rng.normal(size=60) > 0).astype(int)})


@pytest.fixture
def visits(tmp_path):
    """60 rows of 15 customers on as many days, out of order, with amounts; the label hangs on a."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    table["fraud"] = (table["a"] + rng.normal(size=60) > 0.5).astype(int)
    table["customer"] = [f"c{row % 15}" for row in range(60)]
    table["day"] = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    table["amount"] = rng.gamma(2.0, 10.0, 60).round(2)
    table.sample(frac=1.0, random_state=0).to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


@pytest.fixture
def files(tmp_path, written):
    return shutil.copytree(written, tmp_path, dirs_exist_ok=True)
