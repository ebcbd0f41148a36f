"""Tests import the brute-force oracle as a module; property tests take few examples, and many at night."""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# before NumPy is loaded: threads of BLAS and OpenMP in processes side by side, each with as many as there are
# processors, spin for many times the work while they wait; our own compiled loops keep their threads
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("default", max_examples=40, deadline=None)
settings.register_profile("nightly", max_examples=500, deadline=None)
settings.load_profile("default")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Spare what collecting makes, a million objects that stay, every later search for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def no_stated_width(monkeypatch):
    """Let commands print as wide as where nobody says how wide: pytest-xdist says 80 columns."""
    monkeypatch.delenv("COLUMNS", raising=False)
