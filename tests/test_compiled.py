"""Compiled functions compute what they say, whoever compiles them first."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
import numpy as np
from pushrank import SGDAtK
from pushrank.objectives import precision_kernels as kernels

rng = np.random.default_rng(0)
SGDAtK().fit(rng.normal(size=(2000, 5)), rng.random(2000) < 0.1)  # a fast pass over batches
y, s, mass = rng.random(500) < 0.3, rng.normal(size=500), np.full(500, 1e300)
value, _ = kernels.slopes(kernels.AVG, s, y, mass, kernels.place(0.25, False, mass[y].sum()), np.empty(500))
assert np.isfinite(value), value
"""


def test_a_function_keeps_its_mathematics_where_a_fast_one_compiles_it(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
