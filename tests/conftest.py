"""Tests import the brute-force oracle as a module; property tests take few examples, and many at night."""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from pushrank.exceptions import SHOWN

# Test processes side by side, each with as many BLAS and OpenMP threads as there are processors, spend many
# times the work on waiting. NumPy reads this when it is loaded. Our compiled loops keep their threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("default", max_examples=12, deadline=None)
settings.register_profile("nightly", max_examples=500, deadline=None)
settings.load_profile("default")


def pytest_configure(config):
    """Leave out the tests of the night, and those of guides by day, unless ``-m`` names them."""
    chosen = config.option.markexpr
    left_out = [] if "nightly" in chosen else ["nightly"] if "docs" in chosen else ["nightly", "docs"]
    chosen = [f"({chosen})"] * bool(chosen)
    config.option.markexpr = " and ".join(chosen + [f"not {kind}" for kind in left_out])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the examples of docstrings as fast."""
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            item.add_marker("fast")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the million objects that collecting makes out of every later garbage collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def nothing_was_said_before():
    """Let every test see the warnings that are shown once."""
    SHOWN.clear()


@pytest.fixture(autouse=True)
def no_stated_width(monkeypatch):
    """Let commands print as wide as where nobody says how wide: pytest-xdist says 80 columns."""
    monkeypatch.delenv("COLUMNS", raising=False)
