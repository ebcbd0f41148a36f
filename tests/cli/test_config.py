"""``--config`` and ``--write-config``, what help shows of each option, and the nearest of mistyped names."""

import re
import shlex
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
import typer

from pushrank.cli import COMMANDS, Commands
from pushrank.cli.command import PANELS, Command, long_name
from pushrank.cli.compare import fit_command
from pushrank.cli.errors import InputError
from pushrank.cli.forms import CompareOptions, FitOptions
from pushrank.cli.model import SavedModel
from pushrank.cli.options import FeatureSource, Folds
from tests.cli.runner import TWO, call, fitted

pytestmark = pytest.mark.fast
ASIDE = ["--exclude", "customer", "--exclude", "day", "--exclude", "amount"]


@pytest.fixture
def asked(visits, monkeypatch):
    """Return a function that returns what a line and its files ask for; nothing is compared or fitted."""
    work = Mock()
    for command in ("compare.compare_models", "fit.fit_model", "measure.measure_file"):
        monkeypatch.setattr(f"pushrank.cli.{command}", work)
    monkeypatch.chdir(visits.parent)

    def asked(*words):
        call(*words)
        # Between both measure has the file that is read.
        source, *_, config = work.call_args.args
        return {name: value for of in (source, config) for name, value in vars(of).items() if name != "rows"}

    asked.work = work
    return asked


FILE = """
label = "fraud"
exclude = ["customer", "day"]
keep = "b"
model = ["ir-push", "P-Norm Push, p = 4"]
budget = 10
folds = "4x2"
seed = 7
ensemble = false
shuffle = true
state = "a name of alert and duel.db"
at-most = ["2:customer"]
[read]
header = true
missing = ["-", "NA"]
[set]
p = 8
is_fast = true
"""


def test_the_line_goes_before_a_file_and_a_file_before_nothing(asked):
    Path("o.toml").write_text(FILE, "utf-8-sig")
    words = ["compare", "visits.csv", "--config", "o.toml"]
    line = ["--model", "ir-push", "--seed", 0, "--ensemble", "--read", "missing=?", "--set", "p=4"]
    found = asked(*words, *line)
    assert (found["label"], found["exclude"], found["keep"]) == ("fraud", ["customer", "day"], ["b"])
    assert (found["budget"], found["folds"], found["shuffle"]) == (10, Folds(4, 2), True)
    assert (found["model"], found["seed"], found["ensemble"]) == (["ir-push"], 0, True)
    # Of a format and of parameters each says a part.
    assert found["read"] == ["header=yes", "missing=-", "missing=NA", "missing=?"]
    assert found["parameters"] == ["p=8", "is_fast=True", "p=4"]
    assert found["choose"] == "most"
    Path("o.toml").write_text(FILE.partition("[set]")[0])
    assert (asked(*words)["seed"], asked(*words)["ensemble"]) == (7, False)
    measured = asked("measure", "visits.csv", "--score", "a", "--config", "o.toml", "--model", "o.toml")
    assert (measured["label"], measured["at_most"], measured["budget"]) == ("fraud", ["2:customer"], 10)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('lable = "fraud"', "o.toml has 'lable'; did you mean 'label'?"),
        ("labels_after = 7", "o.toml has 'labels_after'; did you mean 'labels-after'?"),
        ("stat = 1", "o.toml has 'stat'; did you mean 'state'?"),
        ("help = true", "o.toml has 'help', which is no option of any command."),
        *[
            (f'{name} = "x"', f"{name} is never taken from a file; say --{name} in the line.")
            for name in ("output", "save", "report", "force", "config", "write-config", "json")
        ],
        ('read = "decimal=comma"', "read must be a table: [read], got 'decimal=comma'."),
        ("[label]\na = 1", "label must be a value or a list, got {'a': 1}."),
        ('label = ["a", "b"]', "label takes one value, got ['a', 'b']."),
        ("label =", "o.toml is no TOML file: "),
        ("budget = true", "budget takes a value, got true."),
        ("[set]\np = [4, 8]", "set.p takes one value, got [4, 8]."),
        ('[read]\ndecimal = [",", "."]', "read.decimal takes one value, got [',', '.']."),
        ('label = "a"\nlabel = "b"', "o.toml is no TOML file: "),
        ('label = "\udcff"', "o.toml is no TOML file: "),
        ('label = "fruad"', "--label 'fruad' is no column of visits.csv; did you mean 'fraud'?"),
        ("folds = 1", "'--folds': 1 is no number of parts"),
        ("seed = 1.5", "'--seed'"),
        ('shuffle = "perhaps"', "'--shuffle'"),
        ("[read]\ndecimel = 1", "'decimel=1' is not understood; did you mean decimal?"),
    ],
)
def test_what_a_file_says_wrongly_is_refused(asked, text, says):
    Path("o.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert says in call("compare", "visits.csv", "--config", "o.toml", code=2).stderr
    assert not asked.work.called


@pytest.mark.parametrize("name", ["gone.toml", "damaged.skops", "folder"])
def test_a_file_that_cannot_be_read_is_named(asked, name):
    Path("damaged.skops").write_text("PK")
    Path("folder").mkdir()
    [line] = call("compare", "visits.csv", "--config", name, code=2).stderr.splitlines()
    assert line.startswith("Error: ")
    assert name in line
    assert not asked.work.called


def test_paths_of_a_file_are_relative_to_it(asked):
    Path("sub").mkdir()
    Path("sub/new.csv").write_text("a,fraud\n1,1\n")
    Path("sub/o.toml").write_text('test = "new.csv"')
    found = asked("compare", "visits.csv", "--config", "sub/o.toml", "--write-config", "here.toml")
    assert found["test"] == Path("sub/new.csv")
    assert asked("compare", "visits.csv", "--config", "here.toml")["test"] == Path("sub/new.csv")


def test_a_model_is_a_file_of_options_as_it_was_fitted(visits, monkeypatch):
    cells = (("-" if row % 9 == 0 else row, row, "yes" if row % 3 == 0 else "no") for row in range(60))
    rows = [f"{1 + row % 28:02}.01.2024;{a};{a},5;{b};{y}" for row, (a, b, y) in enumerate(cells)]
    for name in ("old.csv", "new.csv"):
        visits.with_name(name).write_text("\n".join(["day;a;b;code;fraud", *rows]))
    given = ["--label", "fraud", "--positive", "no", "--time", "day", "--exclude", "code"]
    for text in ("separator=semicolon", "decimal=comma", "missing=-", "dates=dmy"):
        given += ["--read", text]
    model = fitted(
        visits.with_name("old.csv"), *given, "--labels-after", "1d", "--model", "logistic-regression"
    )
    monkeypatch.chdir(visits.parent)
    monkeypatch.setattr("pushrank.cli.compare.compare_models", work := Mock())
    call("compare", "new.csv", "--config", model.name)
    source, config = work.call_args.args
    assert (source.label, source.positive, source.exclude) == ("fraud", "no", ["code"])
    assert (config.time, config.labels_after) == ("day", "1d")
    assert source.read == given[9::2]
    # The line that is printed leaves out what the model knows.
    fit = FitOptions(output=Path("m.skops"), model=["ir-push"], time="day", labels_after="1d", budget=5)
    command = fit_command(source, config, fit)
    assert command == "pushrank fit new.csv --config model.skops --budget 5 --model ir-push -o m.skops"


HOSTILE = 'a "b" \\ #=[x]\x7f ü'


WORDS = """--positive 1 --exclude day --exclude customer --keep a --read decimal=comma --read decimal=point
--read missing=- --read header=yes --budget 3/week --labels-after 7d --folds 3x2 --shuffle --no-ensemble
--seed 0 --model ir-push --set alpha=0.5 --set solver=lbfgs --hold-out 20% --quiet"""


def test_what_is_written_is_read_back_as_the_same_call(asked, visits):
    visits.write_text(visits.read_text().replace("fraud", '"' + HOSTILE.replace('"', '""') + '"', 1))
    words = ["--label", HOSTILE, *WORDS.split()]
    words += ["--save", "m.skops", "--report", "r.html", "-o", "p.csv", "--force", "--json"]
    once = asked("compare", "visits.csv", *words, "--write-config", "c.toml")
    written = Path("c.toml").read_text("utf-8")
    assert written.startswith("# written by pushrank\n")
    again = asked("compare", "visits.csv", "--config", "c.toml", "--write-config", "c.toml")
    assert Path("c.toml").read_text("utf-8") == written
    differ = {name for name, value in once.items() if value != again[name]}
    assert differ == {"config", "save", "report", "output", "force", "as_json", "read"}
    assert again["read"] == ["decimal=point", "missing=-", "header=yes"]
    assert (
        asked("fit", "visits.csv", "--config", "c.toml", "--time", "day", "-o", "m.skops")["hold_out"]
        == "20%"
    )


@pytest.mark.parametrize(
    ("ends", "code", "is_written"),
    [(None, 0, True), (typer.Exit(3), 3, True), (InputError("no"), 2, False), (OSError("no"), 2, False)],
)
def test_options_are_written_of_calls_that_were_not_refused(asked, ends, code, is_written):
    asked.work.side_effect = ends
    call("compare", "visits.csv", "--label", "fraud", "--write-config", "c.toml", code=code)
    assert Path("c.toml").exists() == is_written


def test_options_never_replace_a_foreign_file(asked):
    words = ["compare", "visits.csv", "--label", "fraud", "--write-config"]
    Path("c.toml").write_text('label = "mine"')
    for name, says in {
        "c.toml": "c.toml exists and was not written by pushrank",
        "visits.csv": "written as .toml; choose such a name",
        "gone/c.toml": "the folder gone does not exist",
    }.items():
        assert says in call(*words, name, code=2).stderr
    assert Path("c.toml").read_text() == 'label = "mine"'
    assert not asked.work.called


def test_the_next_command_runs_as_it_is_printed(visits, monkeypatch):
    monkeypatch.chdir(visits.parent)
    Path("o.toml").write_text(
        'label = "fraud"\nexclude = ["customer", "day", "amount"]\nbudget = 10\nfolds = 2\n'
    )
    words = ["compare", "visits.csv", "--config", "o.toml", *TWO[2:]]
    [command] = [line for line in call(*words).stdout.splitlines() if line.startswith("Next: ")]
    assert command == "Next: pushrank fit visits.csv --config o.toml --model 'IR Push' -o model.skops"
    shown = call(*shlex.split(command)[2:]).stdout
    assert shown.startswith("model.skops: IR Push, fitted to 60 rows")
    scored = shlex.split(shown.splitlines()[-1].replace("NEW", "visits"))
    assert shlex.join(scored) == "Next: pushrank score model.skops visits.csv --top 10 -o list.csv"
    call(*scored[2:])
    assert len(Path("list.csv").read_text().splitlines()) == 11
    assert SavedModel.load(Path("model.skops")).as_fitted["budget"] == "10"
    Path("o.toml").write_text('label = "fraud"\nseed = 7\njobs = 2\nmodel = ["ir-push", "pnorm-push"]')
    source = FeatureSource(Path("visits.csv"), "fraud", config=Path("o.toml"))
    fit = FitOptions(output=Path("m.skops"), model=["IR Push"])
    alone = fit_command(source, CompareOptions(jobs=2), fit)
    expected = "pushrank fit visits.csv --config o.toml --model 'IR Push' -o m.skops --seed 0 --jobs 1"
    assert alone == expected
    of_both = replace(fit, model=["ir-push", "pnorm-push"], seed=7, jobs=2)
    assert (
        fit_command(source, CompareOptions(), of_both) == "pushrank fit visits.csv --config o.toml -o m.skops"
    )


MANY_LINES, MANY_ENTRIES = {"compare": 60, "measure": 60}, {"compare": 30}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_every_option_has_a_place_in_it(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = call(name, "--help").stdout
    assert len(shown.rstrip().splitlines()) <= MANY_LINES.get(name, 45)
    assert max(map(len, shown.splitlines())) <= 80
    assert f"Example: pushrank {name}" in shown
    command = Commands().get_command(None, name)
    context = typer.Context(command, info_name=name)
    first = shown.split("\n\n")[1]
    assert len(first.split()) <= 40
    panels = command.panels(context)
    options = [of for of in command.get_params(context) if of.param_type_name == "option"]
    assert len(options) - 1 <= MANY_ENTRIES.get(name, 45)
    homes = {of for texts in PANELS.values() for of in texts.split()}
    assert {long_name(of) for of in options} - homes == {"help"}
    assert sum(map(len, panels.values())) == len(options)
    for of in options:
        assert 0 < len(of.help) <= 60, of.name
        assert of.is_flag or of.metavar.isupper() or "|" in of.metavar, of.name
        assert f"--{long_name(of)}" in shown or of.secondary_opts


def test_all_commands_together_have_few_options():
    commands = [Commands().get_command(None, name) for name in COMMANDS]
    assert all(isinstance(command, Command) for command in commands)
    n_options = [sum(of.param_type_name == "option" for of in command.params) for command in commands]
    assert sum(n_options) <= 145


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("compar visits.csv", "there is no command 'compar'; did you mean compare?"),
        ("evaluate", "there is no command 'evaluate'. There are demo, compare, "),
        ("compare visits.csv --label Fruad", "did you mean 'fraud'? It has 'a', 'b', 'fraud'"),
        (
            "compare visits.csv --label fraud --time dya",
            "--time 'dya' is no column of visits.csv; did you mean 'day'",
        ),
    ],
)
def test_the_nearest_name_comes_first(asked, typed, nearest):
    [line] = call(*typed.split(), code=2).stderr.splitlines()
    assert nearest in line
    assert not asked.work.called


def test_the_line_to_run_instead_runs(visits, monkeypatch):
    """A column gives the label away: nothing is chosen, and the line that is printed leaves it out."""
    monkeypatch.chdir(visits.parent)
    rows = visits.read_text().splitlines()
    place = rows[0].split(",").index("fraud")
    leak = ["leak", *(row.split(",")[place] for row in rows[1:])]
    visits.write_text("\n".join(f"{row},{cell}" for row, cell in zip(rows, leak, strict=True)))
    words = ["compare", "visits.csv", "--label", "fraud", *ASIDE, "--folds", "2", *TWO[:2], "--budget", "10"]
    shown = call(*words, code=3)
    why, command = shown.stderr.splitlines()[-2:]
    assert why.startswith("No model is chosen: all this rests on 'leak'")
    assert not re.search("chosen|best", shown.stdout)
    typed = shlex.split(command.removeprefix("To run it so: "))
    assert typed == ["pushrank", *words, "--exclude", "leak"]
    assert "Chosen: logistic regression" in call(*typed[1:]).stdout


def test_columns_to_leave_out_add_up(asked):
    Path("o.toml").write_text('label = "fraud"\nexclude = ["day"]\n')
    found = asked("compare", "visits.csv", "--config", "o.toml", "--exclude", "customer")
    assert found["exclude"] == ["day", "customer"]
