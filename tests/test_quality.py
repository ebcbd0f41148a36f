"""Docstrings are whole, and the project names no machine."""

import ast
import importlib
import inspect
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import pushrank

pytestmark = pytest.mark.fast

ROOT = Path(__file__).parent.parent
NAMES = """benchmark metrics plots losses prices datasets weak_rankers theory
theory.agarwal_2011 theory.kar_2015 theory.rudin_2005 theory.rudin_2009 objectives exceptions distributed
interop.lightgbm interop.onnx interop.xgboost limits model_selection monitoring"""
PUBLIC = ("pushrank", *(f"pushrank.{name}" for name in NAMES.split()))
# Of these modules the application uses names that are not for users.
SINGLE = ("pushrank.budgets.Budget", "pushrank.budgets.Periods", "pushrank.times.read_dates")
# Numpydoc checks for one sentence of summary, every parameter, what is returned, and an example.
DOCUMENTED = {"GL05", "GL07", "GL08", "GL09", "SS01", "SS02", "SS03", "SS05", "PR01", "PR02", "PR03", "PR04",
              "PR06", "PR07", "PR10", "RT01", "RT03", "EX01"}  # fmt: skip


def public_names() -> list[str]:
    names = [*SINGLE]
    for module_name in PUBLIC:
        module = importlib.import_module(module_name)
        of_module = ((name, getattr(module, name)) for name in module.__all__)
        names += [f"{module_name}.{name}" for name, of in of_module if not isinstance(of, type(pushrank))]
    return names


def public_methods() -> list[str]:
    """Return the methods and properties of the public classes, by the class that defines them."""
    methods = set()
    for name in public_names():
        for member, value in inspect.getmembers(public(name)):
            function = value.fget if isinstance(value, property) else value
            is_ours = str(getattr(function, "__module__", "")).startswith("pushrank.")
            if is_ours and inspect.isroutine(function) and not member.startswith("_"):
                methods.add(f"{function.__module__}.{function.__qualname__}")
    return sorted(methods)


def public(name: str) -> Any:
    module_name, _, member = name.rpartition(".")
    return getattr(importlib.import_module(module_name), member)


def faults(name: str, sought: set[str]) -> list[tuple[str, str]]:
    from numpydoc.validate import validate

    return [error for error in validate(name)["errors"] if error[0] in sought]


@pytest.mark.parametrize("name", public_names())
def test_public_name_is_documented(name: str) -> None:
    target = public(name)
    # A protocol is not called, whatever its signature says.
    sought = DOCUMENTED - {"PR01"} if getattr(target, "_is_protocol", False) else DOCUMENTED
    assert faults(f"{target.__module__}.{target.__qualname__}", sought) == []


def test_every_documented_attribute_has_a_name() -> None:
    from numpydoc import docscrape

    for name in public_names():
        for attribute in docscrape.NumpyDocString(inspect.getdoc(public(name)) or "")["Attributes"]:
            assert all(word.isidentifier() for word in attribute.name.split(", ")), (name, attribute)


@pytest.mark.parametrize("name", public_methods())
def test_public_method_is_documented(name: str) -> None:
    """A method that overrides a documented one of a base class may do with a sentence."""
    module_name, class_name, member = name.rsplit(".", 2)
    method = getattr(getattr(importlib.import_module(module_name), class_name), member)
    is_short = not re.search(r"^ *(Parameters|Returns|Examples)$", method.__doc__, re.MULTILINE)
    assert faults(name, DOCUMENTED - {"EX01"} - ({"PR01", "RT01"} if is_short else set())) == []


def test_every_module_says_what_it_is() -> None:
    for path in Path(pushrank.__file__).parent.rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


MAX_CODE_LINES = 60


def test_no_function_is_longer_than_60_lines_of_code() -> None:
    """Docstrings, comments and blank lines do not count; what stands in a function inside counts in both."""
    too_long = []
    for path in Path(pushrank.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = [line.strip() for line in text.splitlines()]
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef):
                continue
            head = node.body[0].lineno - 1
            begin = node.body[0].end_lineno if ast.get_docstring(node) else head
            code = lines[node.lineno - 1 : head] + lines[begin : node.end_lineno]
            n = sum(bool(line) and not line.startswith("#") for line in code)
            if n > MAX_CODE_LINES:
                too_long.append(f"{path.name}: {node.name} has {n} lines of code")
    assert not too_long, "\n".join(sorted(too_long))


def test_losses_of_torch_are_documented() -> None:
    """Apart from the others, as to collect their names would import torch in every process."""
    pytest.importorskip("torch")
    for name in importlib.import_module("pushrank.interop.torch").__all__:
        assert faults(f"pushrank.interop.torch.{name}", DOCUMENTED) == []
        assert faults(f"pushrank.interop.torch.{name}.forward", DOCUMENTED - {"EX01"}) == []


def test_tests_of_an_estimator_are_found_by_the_file_that_it_is_in() -> None:
    tested = {path.stem.strip("_") for path in (ROOT / "src" / "pushrank" / "estimators").glob("*.py")}
    for path in (ROOT / "tests" / "estimators").glob("test_*.py"):
        name = path.stem.removeprefix("test_")
        begins = any(f"{name}_".startswith(f"{file}_") for file in tested)
        why = f"{path} begins with no file of estimators; what several promise is for tests/contracts"
        assert begins, why


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
