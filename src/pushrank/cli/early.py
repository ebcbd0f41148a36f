"""What can be refused by the words of a command alone, before it imports for seconds what it works with."""

import csv
import lzma
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pushrank
from pushrank._bounds import check_number
from pushrank._io import read_facts
from pushrank.cli.errors import FIT_FIRST, InputError, check_exists, exit_on_input_error, refusing
from pushrank.cli.header import TEXT_FILES, Header, file_kind, open_file, read_head

FILES = {
    **dict.fromkeys(("fit", "measure", "compare", "report"), ("",)),
    **dict.fromkeys(("show", "export"), (FIT_FIRST,)),
    **dict.fromkeys(("score", "evaluate", "watch"), (FIT_FIRST, "")),
}
"""What to do where an argument of a command, a file, does not exist."""
COLUMNS = dict.fromkeys(("fit", "compare", "report"), ("label", "group", "time", "weight"))
"""The options of a command that name a column of its first file, in the order in which they are checked."""
TEXT_FORMAT = {"separator", "encoding", "skip-rows", "no-header"}
BOUNDS: dict[str, dict[str, Any]] = {
    "p": {"least": 1.0},
    "alpha": {"least": 0.0},
    "C": {"above": 0.0},
    "bottom-weight": {"above": 0.0},
    "n-estimators": {"least": 1},
    "learning-rate": {"above": 0.0, "most": 1.0},
    "max-iter": {"least": 1},
}
"""Bounds of the options of ``fit``, which hold for every model that has them."""
ENSEMBLE = "ensemble"


def kebab_case(name: str) -> str:
    """Return ``PNormPush`` as ``pnorm-push``, ``IRPush`` as ``ir-push``, ``RankBoost`` as ``rank-boost``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])", "-", name).lower()


def model_names() -> list[str]:
    """Return the names of the models of ``fit``."""
    ours = (name for name in pushrank.__all__ if name[0].isupper() and name not in pushrank.HOMES)
    others = {ENSEMBLE, "logistic-regression", "gradient-boosting", "random-forest"}
    return sorted(others.union(*[map(kebab_case, ours)]) - {"stacking-ranker"})


def unknown_model(name: str) -> InputError:
    """Return what to raise for a name that is no model's."""
    return InputError(
        f"--model {name!r} is not known; choose one of {', '.join(model_names())}, lightgbm, or a name "
        "that compare prints, such as 'boosted stumps, p = 16'."
    )


@exit_on_input_error
def check_words(command: str, *words: str) -> None:
    """Raise InputError for a missing file, and for an option that the model or the data cannot have.

    What is not recognised here is left to the command, which checks all again.
    """
    if {"-h", "--help"} & {*words}:
        return
    files = []
    for word, what_to_do in zip(words, FILES.get(command, ()), strict=False):
        if word.startswith("-"):
            break
        check_exists(Path(word), what_to_do)
        files.append(Path(word))
    options = _options(words)
    if command == "fit":
        name = options.get("model", "")
        # The names that compare prints are not written so.
        if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and name not in (*model_names(), "lightgbm"):
            raise unknown_model(name)
        for option, bounds in BOUNDS.items():
            _check_bounds(f"--{option}", options.get(option, ""), bounds)
    named = [option for option in COLUMNS.get(command, ()) if option in options]
    saved = read_facts(files[0]) if command == "score" and len(files) > 1 else {}
    # The command reads files that come after options, and those that are written in another way.
    if not files or not (named or "facts" in saved) or TEXT_FORMAT & {*options}:
        return
    if (header := _header(files[-1])) is None:
        return
    for option in named:
        header.check(options[option], option)
    if "facts" in saved:
        header.check_model_columns(saved["facts"]["numeric"] + saved["facts"]["categorical"])


def _header(path: Path) -> Header | None:
    """Return the names of a file's columns, if it is text or Parquet that can be read."""
    kind = file_kind(path)
    # A damaged file is refused by the command, in the words of what it was to be.
    with suppress(OSError, EOFError, ValueError, csv.Error, zlib.error, lzma.LZMAError, zipfile.BadZipFile):
        if kind in TEXT_FILES:
            with open_file(path) as stream:
                return Header(path, read_head(stream, path).names, is_text=True)
        if kind == ".parquet" and path.is_file():
            from pyarrow.parquet import read_schema

            return Header(path, read_schema(path).names, is_text=False)
    return None


def _check_bounds(option: str, text: str, bounds: Mapping[str, Any]) -> None:
    """Raise InputError where a text is a number out of bounds; Typer refuses what is none."""
    with suppress(ValueError):
        number = int(text) if text.lstrip("-").isdecimal() else float(text)
        with refusing():
            check_number(option, number, **bounds)


def _options(words: Sequence[str]) -> dict[str, str]:
    """Return the last value of each option by its name: the word that follows it."""
    options = {}
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if word.startswith("--"):
            name, is_joined, value = word[2:].partition("=")
            options[name] = value if is_joined else following
    return options
