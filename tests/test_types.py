"""A user's mistakes are found by a type checker, and what is right is not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pushrank

pytestmark = pytest.mark.nightly

RIGHT = """
import numpy as np
from numpy.typing import NDArray

from pushrank import PNormPush, TopRankerCV, TrimmedPush, load_scorer, save
from pushrank.monitoring import AlertThreshold
from pushrank.budgets import Budget
from pushrank.metrics import auc, measure, precision_at_k
from pushrank.model_selection import compare_rankers

X, y = np.zeros((3, 2)), [0, 0, 1]
ranker: PNormPush = PNormPush(p=8, alpha=0.1, solver="newton-cg").fit(X, y, sample_weight=[1.0, 2.0, 1.0])
scores: NDArray[np.floating] = ranker.decision_function(X)
TopRankerCV(budget=Budget(30, "day"))
AlertThreshold(Budget(30, "day"), "state.db")
compare_rankers({"a": PNormPush()}, X, y, budget=30)
measure(y, {"a": scores}, k=2)
area: float = auc(y, scores)
"""
WRONG = """
PNormPush(pp=3)
PNormPush(p="3")
PNormPush(solver="sgd")
TrimmedPush(k=None)
TopRankerCV(budget="30/day")
AlertThreshold("30/day")
Budget("30", "day")
compare_rankers({}, X, y, budget="30/day")
measure(y, {"a": scores}, k="3")
precision_at_k(y, scores, k="2")
ranker.fit(X, y, weights=y)
auc(y)
load_scorer(3)
save(ranker, 3)
"""


def test_mypy_finds_what_is_wrong_and_nothing_else(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(RIGHT + WRONG.lstrip(), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "user.py"]
    sources = {"MYPYPATH": str(Path(pushrank.__file__).parents[1])}
    run = subprocess.run(command, cwd=tmp_path, env=os.environ | sources, capture_output=True, text=True)
    first, n_wrong = RIGHT.count("\n") + 1, WRONG.count("\n") - 1
    found = {int(line) for line in re.findall(r"(?m)^user\.py:(\d+): error", run.stdout)}
    assert found == {*range(first, first + n_wrong)}, run.stdout
