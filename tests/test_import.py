"""Importing pushrank is light, pulls in no edge, and goes round in no circle; a missing extra is named."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pushrank
from tests.cli import runner

pytestmark = pytest.mark.fast

HEAVY = ("numpy", "scipy", "sklearn", "numba", "pandas", "pyarrow")
EXTRAS = (
    "dask", "distributed", "jinja2", "lightgbm", "matplotlib", "pandas", "pyarrow", "rich", "skops", "typer",
    "xgboost",
)  # fmt: skip

SCRIPT = """
import contextlib, io, json, sys

result = {}
import pushrank
result["loaded"] = [name for name in sys.modules if "." not in name]
result["unknown"] = hasattr(pushrank, "no_such_name")
result["dir"] = dir(pushrank)

class NoPandas:
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")

sys.meta_path.insert(0, NoPandas)
for name in EXTRAS:
    # An import of such a module fails as if it were not installed. scikit-learn 1.7 takes None for pandas.
    if name != "pandas":
        sys.modules[name] = None
ranker = pushrank.PNormPush().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
result["scores"] = ranker.decision_function([[0.0], [1.0]]).tolist()
pushrank.PushBoost(n_estimators=2).fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
result["auc"] = pushrank.metrics.auc([0, 1], [0.0, 1.0])
import pushrank.datasets, pushrank.exceptions, pushrank.metrics.scorers, pushrank.model_selection
import pushrank.plots, pushrank.solvers

for name, call in {
    "verbose": lambda: pushrank.PNormPush(verbose=True).fit([[0.0], [1.0]], [0, 1]),
    "save": lambda: pushrank.save(ranker, "model.skops"),
    "to_frame": lambda: pushrank.model_selection.RankerComparison({}, "AUC").to_frame(),
}.items():
    try:
        call()
    except ImportError as error:
        result[name] = str(error)

from pushrank.__main__ import main
sys.argv = ["pushrank", "demo"]
with contextlib.redirect_stderr(io.StringIO()):
    try:
        main()
    except SystemExit as error:
        result["main"] = error.code
print(json.dumps(result))
"""


@pytest.fixture(scope="module")
def result():
    """What a fresh interpreter finds with every optional package blocked."""
    script, strict = f"EXTRAS = {EXTRAS}\n{SCRIPT}", "error::DeprecationWarning:pushrank"
    command = [sys.executable, "-W", strict, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return json.loads(run.stdout)


def test_importing_loads_nothing_heavy(result):
    assert not set(result["loaded"]).intersection((*HEAVY, *EXTRAS))


def test_names_are_there_before_they_are_imported(result):
    assert not result["unknown"]
    assert set(pushrank.__all__) <= set(result["dir"])
    for name in pushrank.__all__:
        assert getattr(pushrank, name) is not None
    assert pushrank.__version__


def test_models_need_no_extra(result):
    assert result["scores"][1] > result["scores"][0]
    assert result["auc"] == 1.0


def test_what_lacks_its_extra_says_which_to_install(result):
    assert 'rich is not installed; get it with: pip install "pushrank[cli]"' in result["verbose"]
    assert 'pip install "pushrank[io]"' in result["save"]
    assert 'pip install "pushrank[io]"' in result["to_frame"]


def test_the_command_line_says_which_extra_it_needs(result):
    """Text as the code of an exit is printed on standard error, and the code is 1."""
    assert (
        result["main"] == 'The command line needs typer, which is not installed: pip install "pushrank[cli]".'
    )


def test_other_faults_of_imports_are_not_hidden(monkeypatch):
    from pushrank.__main__ import main

    monkeypatch.setitem(sys.modules, "pushrank.cli", None)
    with pytest.raises(ImportError, match=r"pushrank\.cli"):
        main()


def test_the_extra_of_everything_reads_every_type_of_file():
    lists = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    extras = lists["project"]["optional-dependencies"]

    def packages(extra):
        for requirement in extras[extra]:
            name, _, others = re.match(r"([\w-]+)(\[(.*)\])?", requirement).groups()
            ours = others.split(",") if name == "pushrank" else []
            yield from [name, *chain.from_iterable(map(packages, ours))]

    assert {"pandas", "pyarrow", "openpyxl", "skops"} <= set(packages("all"))


MISSING = """
import json, sys
from pushrank.cli import app

codes = []
for words in sys.argv[1:]:
    try:
        app(words.split())
    except SystemExit as error:
        codes.append(error.code)
print(json.dumps([codes, [name for name in sys.modules if "." not in name]]))
"""


def test_a_missing_file_is_named_before_anything_heavy_is_loaded():
    """Commands in one process, which would have loaded what any of them loads."""
    commands = ["fit no.csv --label y", "show no.skops", "compare nor_this.csv", "--help"]
    run = subprocess.run([sys.executable, "-c", MISSING, *commands], capture_output=True, text=True)
    codes, loaded = json.loads(run.stdout.splitlines()[-1])
    assert not {*HEAVY} & {*loaded}
    assert codes == [2, 2, 2, 0]
    for name in ("no.csv", "no.skops", "nor_this.csv"):
        assert f"{name} does not exist" in run.stderr


REFUSED = {
    "fit rows.csv --label Y -o m.skops": "--label 'Y' is no column of rows.csv; did you mean 'y'?",
    "compare rows.csv --label=y --time when": (
        "--time 'when' is no column of rows.csv; it has 'a', 'b', 'y'."
    ),
    "fit rows.csv --label y -o m.skops --model pnrm-push": "--model 'pnrm-push' is not known; choose",
    "fit rows.csv --label y -o m.skops --read decimals=,": "is not understood; did you mean decimal?",
    "fit rows.csv --config m.toml": "m.toml does not exist.",
    "compare rows.csv --label y --weight B": "'B' is no column of rows.csv; did you mean 'b'?",
    "measure rows.csv --label y --score c": "--score 'c' is no column of rows.csv; it has 'a', 'b', 'y'.",
    "measure rows.csv --model model.skops --label Y": "'Y' is no column of rows.csv; did you mean 'y'?",
    "alert model.skops rows.csv --state a.db": "a.db does not exist; begin it with past rows",
    "fti rows.csv": "there is no command 'fti'; did you mean fit?",
    "watch model.skops rows.csv --time when": "--time 'when' is no column of rows.csv; it has 'a', 'b', 'y'.",
    "score model.skops rows.csv --columns c": "--columns 'c' is no column of rows.csv; it has 'a', 'b', 'y'.",
    "score model.skops less.tsv": ("less.tsv lacks the column 'a' that the model was fitted on; it has 'b',"),
}


def test_unknown_options_and_words_for_numbers_are_refused_before_anything_heavy_is_loaded(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,1\n")
    commands = [
        *(f"{name} rows.csv --no-such-option" for name in ("fit", "measure", "compare")),
        *(f"{name} rows.csv rows.csv --no-such-option" for name in ("score", "alert", "watch")),
        *("duel --no-such-option", "show rows.csv --no-such-option", "demo --no-such-option"),
        *("fit rows.csv --seed a", "compare rows.csv --folds 1", "measure rows.csv --budget 5/year"),
    ]
    command = [sys.executable, "-c", MISSING, *commands]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    codes, loaded = json.loads(run.stdout.splitlines()[-1])
    assert not {*HEAVY} & {*loaded}
    assert codes == [2] * len(commands)
    # Some versions of click write the option in quotation marks, and no colon.
    assert len(re.findall(r"No such option:? '?--no-such-option", run.stderr)) == 9
    for option in ("--seed", "--folds", "--budget"):
        assert f"Invalid value for '{option}'" in run.stderr


def test_words_that_cannot_be_are_refused_and_a_model_shown_before_anything_heavy_is_loaded(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,y\n" + "".join(f"{i % 7},{i % 5},{i % 2}\n" for i in range(40)))
    (tmp_path / "less.tsv").write_text("b\tB \n1\t2\n")
    runner.call("fit", tmp_path / "rows.csv", "--label", "y", "-o", tmp_path / "model.skops")
    command = [sys.executable, "-c", MISSING, *REFUSED, "show model.skops"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    codes, loaded = json.loads(run.stdout.splitlines()[-1])
    assert not {*HEAVY} & {*loaded}
    assert codes == [2] * len(REFUSED) + [0]
    said = run.stderr.splitlines()
    assert len(said) == len(REFUSED)
    for line, message in zip(said, REFUSED.values(), strict=True):
        assert message in line
    assert run.stdout.count("PNormPush") == 1
    command[3:] = ["score model.skops rows.csv -o ranked.csv"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert not {"sklearn", "skops"} & {*json.loads(run.stdout.splitlines()[-1])[1]}
    assert (tmp_path / "ranked.csv").exists()


DEPLOY = Path(__file__).parents[1] / "docs" / "deploy.md"
WITHOUT = """
import sys

# An import of such a module fails as if it were not installed.
sys.modules |= dict.fromkeys(sys.argv.pop(1).split(","))
"""
SCORES = (
    WITHOUT
    + """
import json
from pushrank import load_scorer

rows = json.loads(sys.argv[1])
scorers = {name: load_scorer(f"{name}.skops") for name in ("linear", "stumps")}
scores = {name: scorer.decision_function(rows).tolist() for name, scorer in scorers.items()}
try:
    load_scorer("texts.skops")
except ValueError as error:
    print(json.dumps([scores, str(error)]))
"""
)
COMMANDS = (
    WITHOUT
    + """
from pushrank.__main__ import main

for name in ("linear", "stumps", "texts"):
    sys.argv[1:] = ["score", f"{name}.skops", "rows.csv", "-o", f"{name}.csv"]
    try:
        main()
    except SystemExit as error:
        print(error.code)
"""
)


def serving():
    """Return the packages of each small environment of the guide, and what must not be needed there."""
    lists = tomllib.loads((DEPLOY.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = chain.from_iterable(lists["optional-dependencies"].values())
    stated = {text for text in (*lists["dependencies"], *extras) if not text.startswith("pushrank")}
    modules = {"scikit_learn": "sklearn", "xgboost_cpu": "xgboost"}

    def module(requirement):
        name = re.match(r"[\w-]+", requirement)[0].replace("-", "_")
        return modules.get(name, name)

    page = DEPLOY.read_text(encoding="utf-8")
    for steps in re.findall(r'--no-deps "pushrank".*?(?=RUN|```)', page, re.DOTALL):
        needed = set(re.findall(r'"([\w-]+>=[\d.]+)"', steps))
        assert needed
        # The bounds are those of the whole library.
        assert needed <= stated
        yield ",".join(sorted({module(text) for text in stated} - {module(text) for text in needed}))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A folder with models, and the rows that they were fitted on."""
    folder, rng = tmp_path_factory.mktemp("served"), np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(60, 3)).round(4), columns=list("abc")).assign(
        text=["u", "v", "w"] * 20
    )
    rows.assign(y=(rows["a"] + rows["b"] > 0.5).astype(int)).to_csv(folder / "rows.csv", index=False)
    data = [folder / "rows.csv", "--label", "y"]
    runner.call("fit", *data, "--exclude", "text", "--model", "pnorm-push", "-o", folder / "linear.skops")
    runner.call("fit", *data, "--exclude", "text", "--model", "push-boost", "-o", folder / "stumps.skops")
    runner.call("fit", *data, "--model", "pnorm-push", "-o", folder / "texts.skops")
    return folder, rows


def test_rows_are_scored_in_python_where_numpy_alone_is_installed(served):
    folder, rows = served
    X = rows[list("abc")].to_numpy()
    # The first row stands twice.
    command = [sys.executable, "-c", SCORES, next(serving()), json.dumps([*X.tolist(), X[0].tolist()])]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    found, refusal = json.loads(run.stdout)
    for name, rounding in {"linear": 1e-14, "stumps": 0.0}.items():
        scores = pushrank.load_scorer(folder / f"{name}.skops").decision_function(X)
        np.testing.assert_allclose(found[name][:-1], scores, rtol=0.0, atol=rounding)
        assert found[name][0] == found[name][-1]
    assert "texts.skops has no scorer: this version of pushrank saves the numbers of linear models" in refusal


def test_files_are_scored_where_numba_and_scikit_learn_are_not_installed(served):
    folder, _ = served
    _, without = serving()
    assert {"numba", "sklearn", "skops"} <= {*without.split(",")}
    command = [sys.executable, "-c", COMMANDS, without]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    ranked, code, others, another, refusal = run.stdout.splitlines()
    assert [ranked, code, others, another] == [
        "60 of 60 rows, best first, in linear.csv.", "0", "60 of 60 rows, best first, in stumps.csv.", "0",
    ]  # fmt: skip
    assert re.fullmatch(
        r'The command line needs \w+, which is not .*: pip install "pushrank\[cli\]".', refusal
    )
    for name in ("linear", "stumps"):
        runner.call(
            "score", folder / f"{name}.skops", folder / "rows.csv", "-o", folder / "full.csv", "--force"
        )
        assert (folder / f"{name}.csv").read_text() == (folder / "full.csv").read_text()


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


def names_used(path):
    """Yield the module and the name of each import of a file, and of each attribute of a module."""
    nodes, modules = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))], {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("pushrank"):
            for alias in node.names:
                if file_of(member := f"{node.module}.{alias.name}").exists():
                    modules[alias.asname or alias.name] = member
                else:
                    yield node.module, alias.name
    for node in nodes:
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in modules:
            module = modules[node.value.id]
            if not (node.attr.startswith("__") or file_of(f"{module}.{node.attr}").exists()):
                yield module, node.attr


def file_of(module):
    """Return the file of a module, which need not be there."""
    path = SRC.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def listed(module):
    """Return the names in ``__all__`` of a module, which is not imported."""
    for node in ast.parse(file_of(module).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


# The command line and its report are one application.
FLOORS = {"cli": ("cli", "report"), "report": ("cli", "report"), "monitoring": ("monitoring",)}


@pytest.mark.parametrize("floor", FLOORS)
def test_the_application_uses_names_alone_that_are_in_all(floor):
    """Of other floors it uses what their ``__all__`` lists, so that the rest may change."""
    used = {
        (module, name, path.relative_to(SRC).as_posix())
        for path in (SRC / floor).rglob("*.py")
        for module, name in names_used(path)
        if f"{module}.{name}".split(".")[1] not in FLOORS[floor]
    }
    assert used
    names = {module: listed(module) for module, *_ in used}
    others = [f"{file}: {module}.{name}" for module, name, file in used if name not in names[module]]
    assert not others, "\n".join(["these names are in no __all__:", *sorted(others)])
