"""Figures in the tables of the guides come from kept outputs; what else stands there is the writer's."""

import pytest

from docs import tables

PAGE = """# Title

A text with | in it.

<!-- figures: quality -->

| positives above every negative | spambase | MAGIC |
|---|---|---|
| `PushBoost(16)` | | x |
| LightGBM, default | 1, 2 | 79, .981 |

<!-- figures: costs -->

| what | cost |
|---|---|
| the push | <!-- IRPush; StructSVM + RampAtK --> (linear) |
| something else | nothing |
"""
FILLED = (
    PAGE.replace("(16)` | | x |", "(16)` | 84, .960 | 203, .926 |")
    .replace("1, 2 | 79, .981", "79, .981 | 403, .958")
    .replace("<!-- IRPush", "1.6–2.3; 1.6–14.5 <!-- IRPush")
)


def test_floors_are_those_of_the_import_contract(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    contract = '[[tool.importlinter.contracts]]\nlayers = ["cli", "solvers | rows", "_array"]\n'
    (tmp_path / "pyproject.toml").write_text(contract, encoding="utf-8")
    head = "<!-- figures: floors -->\n\n| floor | folders | a file |\n|---|---|---|\n"
    page = tables.filled_page(f"{head}| 9 | `cli` | a command |\n| 8 | `gone` | nothing |\n\nMore.\n")
    rows = "| 3 | `cli` | a command |\n| 2 | `solvers`, `rows` | |\n| 1 | `_array` | |\n"
    assert page == f"{head}{rows}\nMore.\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A repository with one page, no papers and two scripts."""
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    monkeypatch.setattr(tables, "BENCHMARKS", tmp_path / "benchmarks")
    monkeypatch.setattr(tables, "PAGES", ["benchmarks/README.md"])
    (tmp_path / "benchmarks").mkdir()
    for name in ("first", "second"):
        docstring = f'"""What does {name} cost?\n\n    python x.py > benchmarks/{name}.txt\n"""'
        (tmp_path / "benchmarks" / f"{name}.py").write_text(docstring)
        (tmp_path / "benchmarks" / f"{name}.txt").write_text("ratio 0.254")
    return tmp_path


def test_rows_and_columns_are_the_pages_and_figures_the_outputs():
    assert tables.filled_page(PAGE) == FILLED
    assert tables.filled_page(FILLED) == FILLED


def test_a_row_that_no_output_knows_is_an_error():
    with pytest.raises(KeyError, match="PushBoost\\(17\\)"):
        tables.filled_page(PAGE.replace("PushBoost(16)", "PushBoost(17)"))


def test_every_script_gets_a_row_whose_answer_is_in_its_outputs(folder, capsys):
    page = folder / "benchmarks" / "README.md"
    head = "<!-- figures: benchmarks -->\n\n| script | question | kept in | answer |\n|---|---|---|---|\n"
    page.write_text(head + "| [first](first.py) | | | 0.25 of a sort |\n")
    assert tables.main(check=True) == 1
    assert "a table differs from the kept outputs: run python docs/tables.py" in capsys.readouterr().err
    assert tables.main(check=False) == 1
    assert "[second](second.py) has no answer" in capsys.readouterr().err
    text = page.read_text()
    assert "| [second](second.py) | What does second cost? | [second.txt](second.txt) | |\n" in text
    page.write_text(text.replace("(second.txt) | |", "(second.txt) | 0.26 of a sort |"))
    assert tables.main(check=True) == 1
    assert "0.26, in the answer of [second](second.py), is in no output" in capsys.readouterr().err
    page.write_text(page.read_text().replace("0.26", "0.254"))
    assert tables.main(check=True) == 0


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0"), (5.9e-15, "6e-15"), (3e-13, "3e-13"), (9.1e-6, "1e-5")]
)
def test_a_bound_of_one_digit_is_not_below_the_value(value, shown):
    assert tables.rounded_up(value) == shown
    assert float(shown) >= value
