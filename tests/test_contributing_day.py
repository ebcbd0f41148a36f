"""A contributor's day: what the page says is done to a copy of the library, and its tests are green there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "contributing_day.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^python -m pytest -n 0 (.*)$", PAGE, re.MULTILINE)


def edit(path, *changes):
    """Put each text where the file has its anchor, which it must have."""
    text = path.read_text(encoding="utf-8")
    for anchor, new in changes:
        assert anchor in text, (path, anchor)
        text = text.replace(anchor, new, 1)
    path.write_text(text, encoding="utf-8")


def follow_the_page(folder):
    """Do to a copy what the page says, in its order."""
    dice, dice_formula, root, root_formula, medians, medians_test, push, push_test = BLOCKS
    src, tests = folder / "src" / "pushrank", folder / "tests"
    measure = '@register_metric(error=EXTREME, figures=[Figure("positives_at_top"'
    edit(src / "metrics" / "precision.py", (measure, f"{dice}\n\n{measure}"))
    names = ("    average_precision,\n    lift,", "    average_precision,\n    dice_at_k,\n    lift,")
    listed = ('"discounted_cumulative_gain", ', '"dice_at_k", "discounted_cumulative_gain", ')
    edit(src / "metrics" / "__init__.py", names, listed)
    price, entry = "@dataclass(frozen=True)\nclass ExponentialPrice", '    "discounted_cumulative_gain": '
    edit(src / "prices.py", (price, f"{root}\n\n{price}"), ('"Power"]', '"Power", "SquareRoot"]'))
    shared, first = 'dict.fromkeys(("', '        "LogOnePlus": '
    of_measures = [(entry, dice_formula + entry), (shared, f'{shared}dice_at_k", "')]
    formulas = [(first, root_formula + first), *of_measures]
    edit(tests / "oracle.py", *formulas)
    (src / "weak_rankers" / "medians.py").write_text(medians, encoding="utf-8")
    (tests / "weak_rankers" / "test_medians.py").write_text(medians_test, encoding="utf-8")
    last = "from pushrank.weak_rankers.stumps import Stumps\n"
    imported = f"from pushrank.weak_rankers.medians import Medians\n{last}"
    families = [(last, imported), ('"Regressors", "Stumps"]', '"Medians", "Regressors", "Stumps"]')]
    trusted = ("Regressors, Stumps)\n", "Medians, Regressors, Stumps)\n")
    edit(src / "weak_rankers" / "__init__.py", *families, trusted)
    estimator = "@shared_docs\n@dataclass(eq=False, repr=False)\nclass PushRanker"
    edit(src / "estimators" / "push.py", (estimator, f"{push}\n\n{estimator}"))
    imports = ("import IRPush, PNormPush, PushRanker\n", "import IRPush, PNormPush, PushRanker, RootPush\n")
    listed = ('"SGDAtK", ', '"RootPush", "SGDAtK", ')
    edit(src / "estimators" / "__init__.py", imports, listed)
    edit(src / "__init__.py", listed)
    configured = ("pushrank.IRPush(),", "pushrank.IRPush(), pushrank.RootPush(),")
    edit(tests / "contracts" / "test_scikit_learn.py", configured)
    own = tests / "estimators" / "test_push.py"
    edit(own, ("PushRanker, losses", "PushRanker, RootPush, losses"))
    first = "from sklearn.datasets import load_digits"
    edit(own, (first, f"from scipy.optimize import minimize\n{first}"))
    own.write_text(f"{own.read_text(encoding='utf-8')}\n\n{push_test}", encoding="utf-8")


@pytest.mark.nightly
def test_the_page_leads_from_an_empty_file_to_green_tests(tmp_path):
    """Also the tests of all docstrings and of the contracts, which the page's own commands do not name."""
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    follow_the_page(tmp_path)
    contracts = "tests/contracts/test_scikit_learn.py"
    more = f"tests/weak_rankers/test_medians.py tests/estimators/test_push.py {contracts}"
    documented = "tests/test_quality.py -k 'dice_at_k or SquareRoot or Medians or RootPush'"
    chosen = "-k 'median or root_push or RootPush'"
    docstrings = "--doctest-modules src/pushrank/prices.py src/pushrank/weak_rankers/medians.py"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    assert len(COMMANDS) == 2
    for arguments in (*COMMANDS, f"{more} {chosen}", documented, docstrings):
        command = f"{sys.executable} -m pytest -q -n 0 {arguments}"
        ran = subprocess.run(  # noqa: S602
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
        assert " passed" in ran.stdout
        print(arguments, ran.stdout.splitlines()[-1])
