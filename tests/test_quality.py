"""Style, types, floors and docstrings hold: the checks that other projects run beside their tests."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from numpydoc.validate import validate

import pushrank

ROOT = Path(__file__).parent.parent
TEXTS = (
    *("src", "tests", "benchmarks", "experiments", "examples", "docs"),
    *(path.name for path in ROOT.glob("*.md")),
)
COMMANDS = {
    "style": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "spelling": ["codespell_lib", *TEXTS],
}
PUBLIC = (
    "pushrank",
    "pushrank.metrics",
    "pushrank.plots",
    "pushrank.losses",
    "pushrank.prices",
    "pushrank.datasets",
    "pushrank.weak_rankers",
    "pushrank.theory",
)
# one sentence, the formula, every parameter, returns, raises: what numpydoc can check of it
DOCUMENTED = {"GL05", "GL07", "GL08", "GL09", "SS01", "SS02", "SS03", "SS05", "PR01", "PR02", "PR03", "PR04",
              "PR06", "PR07", "PR10", "RT01", "RT03", "EX01"}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_static_checks_pass(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_floors_import_only_from_lower_floors() -> None:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def public_names() -> list[str]:
    names = []
    for module_name in PUBLIC:
        module = importlib.import_module(module_name)
        names += [
            f"{module_name}.{name}"
            for name in module.__all__
            if not isinstance(getattr(module, name), type(pushrank))
        ]
    return names


@pytest.mark.parametrize("name", public_names())
def test_public_name_is_documented(name: str) -> None:
    module_name, _, member = name.rpartition(".")
    target = getattr(importlib.import_module(module_name), member)
    found = validate(f"{target.__module__}.{target.__qualname__}")["errors"]
    assert [error for error in found if error[0] in DOCUMENTED] == []


def test_every_module_says_what_it_is() -> None:
    for module in pkgutil.walk_packages(pushrank.__path__, "pushrank."):
        assert importlib.import_module(module.name).__doc__, module.name


def test_ci_runs_the_command_that_the_readme_prints() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    command = next(line for line in script.splitlines() if line.startswith("python3 -m venv"))
    assert command in (ROOT / "README.md").read_text()


def test_nothing_names_the_machine_it_was_written_on() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    forbidden = re.compile(r"(?<![\w.])/(?:root|home|work|tmp)/|index-url")
    for name in tracked.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt"} and path != Path(__file__) and path.exists():
            assert not forbidden.search(path.read_text()), name
