"""Arrays of other libraries are converted, also where scikit-learn is set to leave them as they are."""

import os
import subprocess
import sys

import pytest

CODE = """
import numpy as np, sklearn, torch
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from pushrank import InfinitePush, PNormPush, PushBoost
X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
sklearn.set_config(array_api_dispatch=True)
for ranker in (PNormPush(4), InfinitePush(), PushBoost(n_estimators=3)):
    scores = ranker.fit(X, y).decision_function(X)
    there = ranker.fit(torch.tensor(X), torch.tensor(y)).decision_function(torch.tensor(X))
    assert type(there) is np.ndarray
    assert (there == scores).all()
    assert ranker.score(torch.tensor(X), torch.tensor(y)) > 0.9
"""


def test_tensors_are_converted_under_array_api_dispatch():
    """In a process of its own: SciPy reads its switch for arrays of other libraries when it is imported."""
    pytest.importorskip("torch")
    env = {**os.environ, "SCIPY_ARRAY_API": "1"}
    ran = subprocess.run([sys.executable, "-c", CODE], env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
