"""Every picture of the docs is made by the script of its name, and runs."""

from __future__ import annotations

import os
import re
import runpy
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parent.parent
SHOWN = re.findall(r"!\[[^\]]+\]\(pictures/(\w+)\.png\)", (ROOT / "docs" / "pictures.md").read_text())
SCRIPTS = [ROOT / "examples" / f"{name}.py" for name in sorted(SHOWN)]


def test_every_picture_of_the_docs_is_there_and_has_its_script():
    assert len(SHOWN) > 5
    assert all(script.exists() for script in SCRIPTS)
    for name in SHOWN:
        assert (ROOT / "docs" / "pictures" / f"{name}.png").stat().st_size < 100_000


mpl.use("Agg")


def run(script: Path, *arguments: str) -> None:
    """Run a script in this interpreter, as if it were called with these arguments."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(script), *arguments])
        patch.setattr(sys, "path", [str(script.parent), *sys.path])
        runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_says_what_it_needs_before_it_works(script, capsys, monkeypatch):
    monkeypatch.setenv("PUSHRANK_DATA", os.devnull)
    with pytest.raises(SystemExit, match="2"):
        run(script)
    assert "the following arguments are required: picture" in capsys.readouterr().err


def test_every_example_is_told_of():
    told = (ROOT / "docs" / "pictures.md").read_text() + (ROOT / "examples" / "README.md").read_text()
    for script in (ROOT / "examples").glob("*.py"):
        assert script.stem in told


@pytest.mark.skipif("PUSHRANK_DATA" not in os.environ, reason="PUSHRANK_DATA is not set")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_examples_run_without_a_warning(script, tmp_path):
    picture = tmp_path / "picture.png"
    run(script, str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
