"""What can be refused by the words of a command alone, before it imports for seconds what it works with."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pushrank
from pushrank._bounds import check_number
from pushrank.cli.errors import InputError, check_exists, refusing
from pushrank.cli.header import read_header
from pushrank.cli.text_format import DEFAULT_FORMAT

FILES = ("fit", "measure", "compare", "report")
"""The commands whose options stand where they learn: their first argument is a file."""
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


def check_words(command: str, *words: str) -> None:
    """Raise InputError for a missing file, and for an option that the model or the data cannot have.

    What is not recognised here is left to the command, which checks all again.
    """
    if {"-h", "--help"} & {*words}:
        return
    file = None
    if command in FILES and words and not words[0].startswith("-"):
        check_exists(file := Path(words[0]))
    options = _options(words)
    if command == "fit":
        name = options.get("model", "")
        # The names that compare prints are not written so.
        if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and name not in (*model_names(), "lightgbm"):
            raise unknown_model(name)
        for option, bounds in BOUNDS.items():
            _check_bounds(f"--{option}", options.get(option, ""), bounds)
    named = [option for option in COLUMNS.get(command, ()) if option in options]
    # The command reads files that come after options, and those that are written in another way.
    if file is None or not named or TEXT_FORMAT & {*options}:
        return
    if (header := read_header(file, DEFAULT_FORMAT)) is None:
        return
    for option in named:
        header.check(options[option], option)


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
