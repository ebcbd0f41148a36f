"""Fits run where the data are, in arrays of any library, and find what those of NumPy's arrays do."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pushrank

# Without torch its parameters are left out: tests/interop/test_torch.py says once that it is not installed.
LIBRARIES = ["array_api_strict", *(["torch"] if find_spec("torch") else [])]

FITS = """
from functools import partial
import numpy as np
import pytest
import sklearn
from pushrank import InfinitePush, IRPush, RankerSearchCV
from pushrank import PNormPush, PushBoost, PushRanker, RankBoost
from pushrank.prices import Power

library = __import__(name)
asarray, host = library.asarray, np.asarray
if name == "array_api_strict":  # on a device of which NumPy knows nothing, where results must stay
    asarray, host = partial(asarray, device=library.Device("device1")), np.from_dlpack
rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 6))
y = (X @ rng.normal(size=6) + rng.normal(size=1500) > 1.5).astype(int)
w = rng.integers(0, 3, 1500).astype(float)
rankers = [
    PushRanker("logistic", Power(4)),
    PushRanker("squared_hinge", "log_one_plus", side="pull"),
    PushRanker("exponential", Power(2), solver="newton-cg"),
    PNormPush(2.0, side="both"),
    PNormPush(2.0, solver="newton-cg"),
    IRPush(),
    PNormPush(2.0, side="pull"),
    PNormPush(2.0, positive=True),
    IRPush(positive=True),
]
sklearn.set_config(array_api_dispatch=True)
for ranker in rankers:
    for dtype, digits, weights in ((np.float64, 1e-3, w), (np.float32, 1e-2, None)):
        here = X.astype(dtype)
        expected = ranker.fit(here, y, weights)
        coef, threshold, ranks = expected.coef_, expected.threshold_, expected.rank(here)
        labels, score = expected.predict(here), expected.score(here, y)
        there = asarray(here)
        found = ranker.fit(there, asarray(y), None if weights is None else asarray(w))
        assert type(found.coef_) is type(there) and found.coef_.dtype == there.dtype
        assert found.converged_
        np.testing.assert_allclose(host(found.coef_), coef, atol=digits * np.abs(coef).max())
        assert abs(found.threshold_ - threshold) < 10 * digits * np.abs(coef).max()
        assert type(found.decision_function(there)) is type(there)
        assert np.mean(host(found.predict(there)) == labels) > 0.995
        assert abs(found.score(there, asarray(y)) - score) < 1e-3
        assert host(found.rank(there)).shape == ranks.shape
        with pytest.raises(TypeError, match="library that it was fitted to"):
            found.decision_function(here)
        scores = found.decision_function(asarray(X, dtype=library.float64))
        assert scores.dtype == there.dtype
        shown = found.decision_function(asarray(X, dtype=library.float32))
        assert shown.dtype == there.dtype
        np.testing.assert_allclose(host(scores), host(shown), atol=1e-5 * np.abs(coef).max())

low = np.float32(1.6369617)  # the middle of its score and the next rounds to the upper one
neighbours = np.array([[low], [np.nextafter(low, np.float32(2.0))]])
pair = asarray(neighbours), asarray(np.array([0, 1]))
assert host(PushRanker(alpha=1e-9, tol=1e-9).fit(*pair).predict(pair[0])).tolist() == [0, 1]

there, labels = asarray(X), asarray(y)
for ranker, message in (
    (PushRanker("hinge"), "prices without kinks"),
    (PushRanker(solver="coordinate"), "solver='lbfgs' and 'newton-cg' alone"),
    (PushRanker(), "exactly 2 classes"),
    (PushBoost(n_estimators=5), "and X is .*: convert it. PushRanker, PNormPush and IRPush take"),
    (InfinitePush(), "takes NumPy arrays and sparse matrices only"),
):
    with pytest.raises((TypeError, ValueError), match=message):
        ranker.fit(there, labels if "classes" not in message else asarray(np.arange(1500) % 3))
search = RankerSearchCV([("push", PNormPush(), {"p": [1.0]})], cv=2)
for ranker in (PushRanker(), search, RankBoost(n_estimators=5)):
    for arguments, name in (((X, labels), "y"), ((X, y, asarray(w)), "sample_weight")):
        with pytest.raises(TypeError, match=f"only here, and {name} is"):
            ranker.fit(*arguments)
    with pytest.raises(TypeError, match="fitted to ndarray|only here, and X is"):
        ranker.fit(X, y).decision_function(there)
with pytest.raises(ValueError, match="query groups are taken with NumPy"):
    PushRanker().fit(there, labels, qid=np.zeros(1500))
if name == "torch":
    expected = PushRanker("logistic").fit(there, labels).coef_
    found = PushRanker("logistic").fit(there.clone().requires_grad_(True), labels).coef_
    assert not found.requires_grad and bool((found == expected).all())
print(library.__name__)
"""

IN_TURN = """
import sys
for name in sys.argv[2:]:
    exec(sys.argv[1], {"name": name})
"""


def test_fits_run_where_the_data_are():
    """In a process of its own: SciPy reads its switch for arrays of other libraries when it is imported."""
    source = str(Path(pushrank.__file__).parents[1])
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": source}
    command = [sys.executable, "-c", IN_TURN, FITS, *LIBRARIES]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == LIBRARIES
