"""Ratios of times that CI compares, and what scripts import."""

import ast
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from benchmarks.compare_runs import YARDSTICKS, compare, keep

ROOT = Path(__file__).parent.parent
SCRIPTS = ("benchmarks", "experiments", "examples")


def test_the_least_times_are_kept_and_a_ratio_that_is_a_fifth_worse_is_named(tmp_path, capsys):
    path = tmp_path / "before.json"
    keep(path, dict.fromkeys([*YARDSTICKS, *YARDSTICKS.values()], 2.0))
    keep(path, dict.fromkeys(YARDSTICKS, 1.0) | dict.fromkeys(YARDSTICKS.values(), 3.0))
    before = json.loads(path.read_text(encoding="utf-8"))
    assert before == dict.fromkeys(YARDSTICKS, 1.0) | dict.fromkeys(YARDSTICKS.values(), 2.0)
    yardsticks = dict.fromkeys(YARDSTICKS.values(), 4.0)
    after = before | yardsticks | {"PNormPush": 2.42, "logistic objective": 2.38}
    assert compare(before, after) == ["PNormPush"]
    assert "x 1.21" in capsys.readouterr().out


def test_scripts_import_what_there_is():
    """The scripts run for minutes, and a name that has moved would be missed when they are run again."""
    missing = []
    for script in (path for folder in SCRIPTS for path in sorted((ROOT / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("pushrank"):
                continue
            try:
                module = import_module(str(node.module))
            except ImportError as error:
                # An optional library may not be installed.
                if str(error.name).startswith("pushrank"):
                    missing.append((script.name, node.module))
                continue
            missing += [
                (script.name, name.name)
                for name in node.names
                if not hasattr(module, name.name)
                and not (hasattr(module, "__path__") and find_spec(f"{node.module}.{name.name}"))
            ]
    assert missing == []
