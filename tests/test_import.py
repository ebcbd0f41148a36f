"""Importing pushrank pulls in no edge."""

import subprocess
import sys


def test_edges_stay_out():
    code = "import sys, pushrank; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for edge in ("matplotlib", "dask", "torch", "typer", "skops", "polars", "lightgbm", "pushrank.cli"):
        assert edge not in loaded.split(), edge
