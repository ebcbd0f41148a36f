"""Scikit-learn's own tests of measures that have the same names here, with pushrank's in their place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn.metrics.tests.test_ranking")

pytestmark = pytest.mark.nightly


def test_measures_pass_the_tests_of_scikit_learn(tmp_path):
    touched = tmp_path / "touched.txt"
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "ours_in_place", "--pyargs"]
    chosen = ["sklearn.metrics.tests.test_ranking", "-k", "roc_auc or average_precision or dcg or max_fpr"]
    done = subprocess.run(
        [sys.executable, *command, *chosen],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PEERS_TOUCHED": str(touched), "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stdout[-5000:]
    # Tests that never reach pushrank would pass whatever it does.
    assert len(touched.read_text().splitlines()) >= 20
