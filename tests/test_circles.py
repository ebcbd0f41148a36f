"""Files of a folder can be read one after the other: none imports what imports it."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import pushrank

pytestmark = pytest.mark.fast

SRC = Path(pushrank.__file__).parent


def imported(path, modules):
    """Return which of some modules a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            members = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {member if member in modules else node.module for member in members}
    return found & set(modules)


@pytest.mark.parametrize("folder", ["cli", "report", "model_selection", "metrics", "plots"])
def test_files_of_a_folder_import_each_other_in_no_circle(folder):
    """Imports inside functions, and those for types alone, count too."""
    package = f"pushrank.{folder}"
    files = {f"{package}.{path.stem}": path for path in (SRC / folder).glob("*.py")}
    files[package] = files.pop(f"{package}.__init__")
    left = {module: imported(path, files) - {module} for module, path in files.items()}
    while done := {module for module, names in left.items() if not names & left.keys()}:
        left = {module: names for module, names in left.items() if module not in done}
    assert left == {}


def test_the_ways_through_enter_functions_that_are_there():
    """Each row of the tables in CONTRIBUTING.md names functions, and the files that hold them."""
    page = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    ways = page.partition("## The ways through")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \d+ \| (.+) \| (.+) \|$", ways, re.MULTILINE)
    assert rows
    for functions, files in rows:
        text = "".join((SRC / file).read_text(encoding="utf-8") for file in re.findall(r"`(.+?)`", files))
        for name in re.findall(r"`(?:\w+\.)?([A-Za-z_]\w*)`", functions):
            assert re.search(rf"\b(?:def|class) {name}\b", text), (name, files)


def test_the_application_is_kept_from_every_private_module():
    """What the command line, reports and the watch need is public, so that they could leave the library."""
    settings = Path(__file__).parents[1] / "pyproject.toml"
    contracts = tomllib.loads(settings.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    [kept_from] = [set(of["forbidden_modules"]) for of in contracts if of["type"] == "forbidden"]
    private = {path.relative_to(SRC.parent).with_suffix("") for path in SRC.rglob("_[a-z]*.py")}
    assert kept_from >= {".".join(path.parts) for path in private}
