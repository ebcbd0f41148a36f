"""Every picture of the docs is made by the script of its name, and runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHOWN = re.findall(r"!\[[^\]]+\]\(pictures/(\w+)\.png\)", (ROOT / "docs" / "pictures.md").read_text())
SCRIPTS = [ROOT / "examples" / f"{name}.py" for name in sorted(SHOWN)]


def test_every_picture_of_the_docs_is_there_and_has_its_script():
    assert len(SHOWN) > 5
    assert all(script.exists() for script in SCRIPTS)
    for name in SHOWN:
        assert (ROOT / "docs" / "pictures" / f"{name}.png").stat().st_size < 100_000


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_says_what_it_needs_before_it_works(script):
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False,
                         env={**os.environ, "MPLBACKEND": "Agg", "PUSHRANK_DATA": os.devnull})  # fmt: skip
    assert run.returncode == 2
    assert "the following arguments are required: picture" in run.stderr


def test_every_example_is_told_of():
    told = (ROOT / "docs" / "pictures.md").read_text() + (ROOT / "examples" / "README.md").read_text()
    for script in (ROOT / "examples").glob("*.py"):
        assert script.stem in told


@pytest.mark.skipif("PUSHRANK_DATA" not in os.environ, reason="PUSHRANK_DATA is not set")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_examples_run_without_a_warning(script, tmp_path):
    picture = tmp_path / "picture.png"
    subprocess.run(
        [sys.executable, "-W", "error", str(script), str(picture)],
        check=True, env={**os.environ, "MPLBACKEND": "Agg"},
    )  # fmt: skip
    assert picture.read_bytes().startswith(b"\x89PNG")
