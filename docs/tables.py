"""Fill the figures in the tables of the guides from kept outputs: python docs/tables.py [--check].

A table is filled if the comment ``<!-- figures: NAME -->`` stands above it. Labels and texts stay as the page
has them, and figures are read from the files in ``benchmarks`` and ``experiments``. With ``--check`` nothing
is written, and a page that would change is an error.

The floors in CONTRIBUTING.md are those of the import contract in pyproject.toml. Two texts are checked beside
the tables: figures in ``docs/papers`` must be in the kept outputs of the experiments that the page links, and
those in the answers of ``benchmarks/README.md`` in the script's outputs.
"""

from __future__ import annotations

import ast
import math
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
PAGES = (
    "CONTRIBUTING.md",
    "README.md",
    "benchmarks/README.md",
    "docs/boosters.md",
    "docs/deploy.md",
    "docs/measured.md",
    "docs/virtual_screening.md",
    "docs/which_ranker.md",
)
Row = list[str]

# Names that the guides give to data sets and models, with those of the kept outputs.
DATA_SETS = {
    "MAGIC": "magic",
    "MAGIC, a fifth of the labels at random": "magic (relabelled)",
    "adult": "adult_a9a",
    "housing, whose test parts have 10 positives": "housing",
    "generated, with hidden positives": "hidden positives",
}
RANKERS = {
    "`PNormPush(alpha=0.01)`, p = 4": "PNormPush",
    "`PNormPush(64, alpha=0.01)`": "PNormPush(64)",
    "`IRPush(alpha=0.01)`": "IRPush",
    '`SGDAtK(surrogate="avg")`': "SGDAtK, avg",
    "`PNormPushCV()`": "PNormPushCV",
    "`TopRankerCV(random_state=0)`": "TopRankerCV",
    "`TrimmedPush()`": "TrimmedPush",
    "`RampAtK()`": "RampAtK",
    "`RankBoost()`": "RankBoost",
    '`PushBoost(16, weak_rankers="stumps", n_estimators=100)`': 'PushBoost(16, weak_rankers="stumps")',
}
ROUNDS = {
    "the library's log loss": ("LightGBM, binary", "XGBoost, binary:logistic"),
    "p = 4": ("LightGBM, p = 4", "XGBoost, p = 4"),
    "IR Push": ("LightGBM, IR Push", "XGBoost, IR Push"),
    "p = 4 with the logistic loss, summed over all pairs": (
        "LightGBM, p = 4, logistic loss",
        "XGBoost, p = 4, logistic loss",
    ),
    "the library's own ranker": ("LightGBM, lambdarank", "XGBoost, rank:ndcg"),
}
# Where each ratio of docs/measured.md is kept: the file, the heading of the part, and the figure in its line.
SPEED = {
    "dense": [("fit", "dense float64", r"PNormPush.* ratio ([\d.]+)")],
    "float32": [("fit", "dense float32", r"PNormPush.* ratio ([\d.]+)")],
    "sparse": [("fit", "sparse CSR", r"PNormPush.* ratio ([\d.]+)")],
    "stumps": [("boosting", "1,000,000 x 50", r"(?:PNormPush|RankBoost ).* ratio ([\d.]+)")],
    "InfinitePush": [
        ("svm", "dense, .*: 20,000 x 50", r"InfinitePush .* ratio +([\d.]+)"),
        ("svm", "dense, .*: 200,000 x 50", r"InfinitePush .* ratio +([\d.]+)"),
    ],
    "InfinitePush, sparse": [
        ("svm", "sparse, ", r"InfinitePush .* ratio +([\d.]+)"),
        ("svm", "word counts", r"InfinitePush .* ratio +([\d.]+)"),
    ],
    "RankSVM": [("svm", "dense, .*: 200,000 x 50", r"RankSVM, squared .* ratio +([\d.]+)")],
    "kernels": [
        ("svm", "Gaussian", r"InfinitePush .* ratio +([\d.]+)"),
        ("svm", "Gaussian", r"RankSVM.* ratio +([\d.]+)"),
    ],
    "streams": [
        ("streams", dtype, r"(?:Perceptron@k-\w+|SGD@k-\w+|1PMB)  .* ([\d.]+) sums")
        for dtype in ("float64", "float32", "CSR")
    ],
    "batches": [("streams", "", r"Perceptron@k-avg, a call a batch.* ([\d.]+) of SGDClassifier")],
    "logistic": [("objectives", "1,000,000 scores", r"logistic .* ([\d.]+) x argsort")],
    "PushRanker": [("objectives", "1,000,000 x 50", r"PushRanker.* ratio ([\d.]+)")],
    "PNormPushCV": [("choosing_the_push", "", r"ratio ([\d.]+)")],
    "TopRankerCV": [
        ("top_ranker_cv", name, r"TopRankerCV  .* ratio +([\d.]+)") for name in ("made", "adult", "letter")
    ],
    "TopRankerCV, 1 %": [
        ("top_ranker_cv", name, r"1 % of .* ratio +([\d.]+)") for name in ("made", "adult", "letter")
    ],
    "TopRankerCV, memory": [
        ("top_ranker_cv", name, r"TopRankerCV  .* memory ([\d.]+) of X") for name in ("made", "adult")
    ],
    "PushBoostCV": [("boosting_cv", "", r" s +([\d.]+) +\d")],
    "memory": [("fit", "", r"memory ([\d.]+) of X")],
    "measures": [("metrics", "", r"all measures, one by one.* ([\d.]+)$")],
    "wide": [
        ("wide", "300 x 5,000", r"PNormPush.*lbfgs.* ratio +([\d.]+)"),
        ("wide", "1,000 x 20,000", r"PNormPush.*lbfgs.* ratio +([\d.]+)"),
    ],
    "wide, certified": [
        ("wide", "300 x 5,000", r"(?:RankSVM|InfinitePush).* ratio +([\d.]+)"),
        ("wide", "1,000 x 20,000", r"(?:RankSVM|InfinitePush).* ratio +([\d.]+)"),
    ],
    "fingerprints": [
        ("wide", "fingerprints", rf"PNormPush\({p}, alpha=0.1\), lbfgs.* ratio +([\d.]+)") for p in (4, 16)
    ],
    "fingerprints, alpha = .001": [
        ("wide", "fingerprints", rf"PNormPush\({p}, alpha=0.001\), lbfgs.* ratio +([\d.]+)") for p in (4, 16)
    ],
    "fingerprints, tol = 1e-6": [("wide", "fingerprints", r"LogisticRegression\(tol.* ratio +([\d.]+)")],
}


@cache
def kept(path: Path) -> str:
    """Return the text of a kept output."""
    return path.read_text(encoding="utf-8")


def parts(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the heading and the other lines of each part of a kept output; empty lines separate parts."""
    for part in re.split(r"\n\s*\n", kept(path).strip("\n")):
        heading, *lines = part.split("\n")
        yield heading, lines


def numbers(text: str) -> list[float]:
    """Return the numbers in a text."""
    written = re.findall(r"\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?|\.\d+", text)
    return [float(number.replace(",", "")) for number in written]


def labelled(lines: Iterable[str]) -> dict[str, list[float]]:
    """Return the numbers in each line by its label, which two blanks end."""
    cells = (re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in lines)
    return {label: numbers(rest[0]) for label, *rest in cells if rest}


def decimals(value: float, digits: int) -> str:
    """Return a number, without the zero before its point if it is below one."""
    return f"{value:.{digits}f}".removeprefix("0") if value < 1 else f"{value:.{digits}f}"


def mean_count(value: float) -> tuple[str, int]:
    """Return a mean count, and how many digits after the point it is given."""
    digits = 1 if value < 9.95 else 0
    return f"{value:.{digits}f}", digits


def span(values: Iterable[float]) -> str:
    """Return the least and the largest of some ratios, by two digits each."""
    shown = [f"{v:.2f}" if v < 1 else f"{v:.1f}" if v < 9.95 else f"{v:.0f}" for v in sorted(values)]
    return shown[0] if shown[0] == shown[-1] else f"{shown[0]}–{shown[-1]}"


def rounded_up(value: float) -> str:
    """Return the least number of one digit that is not below a small number."""
    if not value:
        return "0"
    exponent = math.floor(math.log10(value))
    bound = math.ceil(value / 10.0**exponent - 1e-9) * 10.0**exponent
    return f"{bound:.0e}".replace("e-0", "e-")


def refilled(cell: str, value: Callable[[str], str]) -> str:
    """Return a cell with the value that its comment names before the comment, and the text after it."""
    named = re.search(r"<!-- (.*?) -->.*", cell)
    return f"{value(named[1])} {named[0]}" if named else cell


def top_of_lists(data_set: str, label: str) -> list[float]:
    """Return what at_the_top.txt has on a model: each measure with its standard error, then the seconds."""
    figures: dict[str, list[float]] = {}
    # A later run of other models adds parts for the same data sets.
    for heading, lines in parts(BENCHMARKS / "at_the_top.txt"):
        if heading.startswith(f"{data_set}: "):
            figures |= labelled(lines)
    return figures[label.replace("`", "")]


def quality(head: Row, row: Row) -> Row:
    """Fill in positives above every negative and average precision."""
    figures = (top_of_lists(name, row[0]) for name in head[1:])
    return [row[0], *(f"{mean_count(at_top)[0]}, {decimals(ap, 3)}" for at_top, _, _, _, ap, *_ in figures)]


def quality_with_errors(head: Row, row: Row) -> Row:
    """Fill in the same, with the standard errors of the positives above every negative."""
    cells = []
    for name in head[1:]:
        at_top, error, _, _, precision, *_ = top_of_lists(name, row[0])
        shown, digits = mean_count(at_top)
        cells.append(f"{shown} ± {decimals(error, digits)}, {decimals(precision, 3)}")
    return [row[0], *cells]


def seconds_of_fits(head: Row, row: Row) -> Row:
    """Fill in the seconds of a fit."""
    return [row[0], *(f"{top_of_lists(name, row[0])[-1]:.2f}" for name in head[1:])]


def speed(_head: Row, row: Row) -> Row:
    """Fill in the ratios that the comment in a cell names."""
    return [
        *row[:-1],
        refilled(row[-1], lambda name: "; ".join(span(ratios(*source)) for source in SPEED[name])),
    ]


def ratios(file: str, section: str, pattern: str) -> list[float]:
    """Return the figure of every line that has it, in the parts with such a heading."""
    chosen = (part for part in parts(BENCHMARKS / f"{file}.txt") if re.search(section, part[0]))
    hits = (re.search(pattern, line) for heading, lines in chosen for line in (heading, *lines))
    return [float(hit[1]) for hit in hits if hit]


def ranker_measure(column: int) -> dict[str, list[float]]:
    """Return a column of which_ranker.txt by ranker: one figure for each data set."""
    sets = parts(BENCHMARKS / "which_ranker.txt")
    figures = [labelled(lines[1:]) for heading, lines in sets if " to learn from" in heading]
    return {name: [of_set[name][column] for of_set in figures] for name in figures[0]}


def costs(_head: Row, row: Row) -> Row:
    """Fill in the costs of the rankers that the comment in a cell names; a plus joins two to one range."""
    return [*row[:-1], refilled(row[-1], lambda names: "; ".join(map(cost_range, names.split("; "))))]


def cost_range(names: str) -> str:
    """Return the least and the largest cost of rankers on the data sets."""
    values = [cost for name in names.split(" + ") for cost in ranker_measure(0)[name]]
    low, high = (f"{value:.1f}".removesuffix(".0") for value in (min(values), max(values)))
    return high if low == high else f"at most {high}" if low == "0" else f"{low}–{high}"


def quality_of_rankers(_head: Row, row: Row) -> Row:
    """Fill in positives above every negative and average precision of every ranker."""
    name = RANKERS.get(row[0], row[0].replace("`", ""))
    pairs = zip(ranker_measure(1)[name], ranker_measure(3)[name], strict=True)
    return [row[0], *(cell for at_top, ap in pairs for cell in (f"{at_top:.1f}", f"{ap:.3f}"))]


def choice_of_the_objective(_head: Row, row: Row) -> Row:
    """Fill in what the choice changes, with differences beyond chance in bold, and the precision of trees."""
    name, changes, precision_of_trees = DATA_SETS.get(row[0], row[0]), [], ""
    for heading, lines in parts(ROOT / "experiments" / "choosing_the_push" / "results.txt"):
        if not heading.startswith(("precision at n+/4:", "average precision:", "AUC:")):
            continue
        start = next(number for number, line in enumerate(lines) if line.startswith(f"  {name}, "))
        usual = numbers(lines[start].rpartition(":")[2])[0]
        chosen = next(line for line in lines[start:] if line.startswith("    TopRankerCV, n+/4"))
        trees = next(line for line in lines[start:] if line.startswith("    LightGBM"))
        change = f"{decimals(usual, 3)} → {decimals(numbers(chosen)[1], 3)}"
        changes.append(f"**{change}**" if chosen.endswith("*") else change)
        precision_of_trees = precision_of_trees or decimals(numbers(trees)[0], 3)
    return [row[0], *changes, precision_of_trees]


def differences_of_exports(_head: Row, row: Row) -> Row:
    """Fill in the largest differences of exported scores."""
    kind = row[0].split(",")[0]
    lines = kept(BENCHMARKS / "exports.txt").splitlines()
    differences = [
        numbers(line.partition(kind)[2])[::2] for line in lines if re.search(rf"\b{kind} +\d", line)
    ]
    return [row[0], *(rounded_up(max(column)) for column in zip(*differences, strict=True))]


def seconds_of_rounds(_head: Row, row: Row) -> Row:
    """Fill in the seconds of a round of either booster, unless it refuses the rows."""
    figures, cells = labelled(kept(BENCHMARKS / "boosters.txt").splitlines()), []
    for cell, name in zip(row[1:], ROUNDS[row[0]], strict=True):
        remark = cell.partition(" ")[2]
        seconds = "" if "refuses" in cell else decimals(figures[name][0], 3)
        cells.append(f"{seconds} {remark}".strip() if seconds else cell)
    return [row[0], *cells]


def screening(_head: Row, row: Row) -> Row:
    """Fill in the means over the targets."""
    lines = kept(BENCHMARKS / "screening.txt").splitlines()
    means = labelled(line.removeprefix("mean") for line in lines if line.startswith("mean"))
    at_top, *others = means[row[0]]
    return [row[0], f"{at_top:.1f}", *(f"{figure:.3f}" for figure in others)]


FILLED: dict[str, Callable[[Row, Row], Row]] = {
    "quality": quality,
    "quality with errors": quality_with_errors,
    "seconds of a fit": seconds_of_fits,
    "speed": speed,
    "costs": costs,
    "rankers": quality_of_rankers,
    "choice of the objective": choice_of_the_objective,
    "exports": differences_of_exports,
    "seconds of a round": seconds_of_rounds,
    "screening": screening,
}


def benchmark_rows(rows: list[Row]) -> list[Row]:
    """Return a row for every script: its question, its kept outputs, and the answer that the page gives."""
    answers, filled = {row[0]: row[-1] for row in rows}, []
    for script in sorted(BENCHMARKS.glob("*.py")):
        docstring = ast.get_docstring(ast.parse(kept(script))) or ""
        outputs = dict.fromkeys(re.findall(r"> benchmarks/(\w+\.txt)", docstring))
        name = f"[{script.stem}]({script.name})"
        links = ", ".join(f"[{output}]({output})" for output in outputs if (BENCHMARKS / output).exists())
        filled.append([name, docstring.split("\n")[0], links, answers.get(name, "")])
    return filled


def floor_rows(rows: list[Row]) -> list[Row]:
    """Return a row for every floor of the import contract, the lowest last, with the page's text."""
    texts = {row[1]: row[-1] for row in rows}
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    floors = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [", ".join(f"`{name}`" for name in floor.split(" | ")) for floor in floors]
    return [[str(len(names) - n), name, texts.get(name, "")] for n, name in enumerate(names)]


def seconds_of_tests(_rows: list[Row]) -> list[Row]:
    """Return a row for every folder of tests, the slowest first."""
    lines = kept(BENCHMARKS / "test_seconds.txt").splitlines()
    return [
        [f"`{folder}`" if "/" in folder else folder, seconds] for folder, seconds in map(str.split, lines)
    ]


def end_of_demo() -> list[str]:
    """Return the sentences at the end of the demo, as the guide to the command line shows them."""
    guide = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    output = guide.partition("\n$ pushrank demo\n")[2].partition("```")[0]
    return output[output.index("Chosen: ") :].rstrip("\n").split("\n")


GENERATED = {"benchmarks": benchmark_rows, "floors": floor_rows, "test seconds": seconds_of_tests}


def cells_of(line: str) -> Row:
    """Return the cells of a line of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))]


def line_of(cells: Row) -> str:
    """Return a line of a table."""
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def filled_block(name: str, block: list[str]) -> list[str]:
    """Return the lines of a table, or of a text in fences, with its figures."""
    if name == "demo":
        return [block[0], *end_of_demo(), block[-1]]
    head, rule, *lines = block
    rows = [cells_of(line) for line in lines]
    if name in GENERATED:
        filled = GENERATED[name](rows)
    else:
        filled = [FILLED[name](cells_of(head), row) for row in rows]
    return [head, rule, *map(line_of, filled)]


def filled_page(text: str) -> str:
    """Return a page with its figures; empty lines separate a block from its comment and from what follows."""
    paragraphs = text.split("\n\n")
    for number, paragraph in enumerate(paragraphs[:-1]):
        if comment := re.fullmatch(r"<!-- figures: (.+) -->", paragraph):
            following = paragraphs[number + 1]
            block = "\n".join(filled_block(comment[1], following.rstrip("\n").split("\n")))
            paragraphs[number + 1] = block + following[len(following.rstrip("\n")) :]
    return "\n\n".join(paragraphs)


def unkept(text: str, files: Iterable[Path], pattern: str) -> Iterator[str]:
    """Yield the numbers in a text that no output has, to the digits that the text gives."""
    outputs = numbers("\n".join(map(kept, files)))
    for figure in re.findall(pattern, text):
        tolerance = 0.501 * 10.0 ** -len(figure.partition(".")[2])
        if not any(abs(float(figure.replace(",", "")) - output) <= tolerance for output in outputs):
            yield figure


def unkept_in_papers() -> Iterator[str]:
    """Yield the figures on the papers' pages that no output shows."""
    for page in sorted((ROOT / "docs" / "papers").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        folders = re.findall(r"\.\./experiments/(\w+)/README", text)
        files = [file for name in folders for file in (ROOT / "experiments" / name).glob("*.txt")]
        files += [ROOT / name for name in re.findall(r"`(benchmarks/\w+\.txt)`", text)]
        # Numbers of equations, such as (4.17), and the papers' slips are not measured.
        ours = re.sub(r"\(\d\.\d\d\)", "", text.partition("## Slips")[0])
        # Code is run by a test, which compares what it prints.
        ours = re.sub(r"^```python\n.*?^```", "", ours, flags=re.MULTILINE | re.DOTALL)
        for figure in unkept(ours, files, r"\b\d+,\d{3}\b|\d*\.\d{2,}\b"):
            yield f"docs/papers/{page.name}: {figure} is in no kept output of the experiments that it links"


def unkept_in_benchmarks() -> Iterator[str]:
    """Yield the answers of scripts that are missing, or whose figures are in none of their outputs."""
    table = (BENCHMARKS / "README.md").read_text(encoding="utf-8").splitlines()
    for script, _, outputs, answer in (cells_of(line) for line in table if line.startswith("| [")):
        if not answer:
            yield f"benchmarks/README.md: {script} has no answer: say in a sentence what it measured"
        files = [BENCHMARKS / name for name in re.findall(r"\((\w+\.txt)\)", outputs)]
        for figure in unkept(answer, files, r"\d*\.\d+"):
            yield f"benchmarks/README.md: {figure}, in the answer of {script}, is in no output of the script"


def main(check: bool) -> int:
    """Fill in all pages, or say which of them differ."""
    faults = []
    for name in PAGES:
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        try:
            filled = filled_page(text)
        except (KeyError, StopIteration, ValueError) as error:
            faults.append(f"{name}: no kept output has the figures of a row ({error!r}): see docs/tables.py")
            continue
        if filled != text and check:
            faults.append(f"{name}: a table differs from the kept outputs: run python docs/tables.py")
        elif filled != text:
            page.write_text(filled, encoding="utf-8")
    faults += [*unkept_in_papers(), *unkept_in_benchmarks()]
    for fault in faults:
        print(fault, file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--check"]))
