"""Every example of the gallery runs."""

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

SCRIPTS = sorted((Path(__file__).parent.parent / "examples").glob("*/plot_*.py"))


def test_there_are_examples():
    assert len(SCRIPTS) > 10


# Each of these takes seconds.
LONG = {"plot_1_list_of_100", "plot_2_million_rows", "plot_5_money", "plot_8_screening_plate"}


@pytest.mark.docs
@pytest.mark.parametrize(
    "script",
    [pytest.param(script, marks=[pytest.mark.nightly] * (script.stem in LONG)) for script in SCRIPTS],
    ids=lambda script: script.stem,
)
def test_an_example_runs_without_a_warning_and_draws(script):
    mpl.use("Agg")
    from matplotlib import pyplot

    try:
        runpy.run_path(str(script), run_name="__main__")
        assert pyplot.get_fignums()
    finally:
        pyplot.close("all")
