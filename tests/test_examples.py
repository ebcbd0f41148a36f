"""Every example of the gallery runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

SCRIPTS = sorted((Path(__file__).parent.parent / "examples").glob("*/plot_*.py"))


def test_there_are_examples():
    assert len(SCRIPTS) > 10


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_runs_without_a_warning_and_draws(script):
    mpl.use("Agg")
    from matplotlib import pyplot

    try:
        runpy.run_path(str(script), run_name="__main__")
        assert pyplot.get_fignums()
    finally:
        pyplot.close("all")
