"""Files of options: a TOML file of the long names of options, or a saved model, as it was fitted."""

import json
import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pushrank._base.files import atomic_write, read_facts
from pushrank.cli.errors import InputError
from pushrank.cli.write import writing

WRITTEN_BY = "# written by pushrank"
FROM_THE_LINE = frozenset({"output", "save", "report", "figure", "force", "config", "write-config", "json"})
"""What is written, and over what, is said in each line: no file of options makes a file."""
TABLES = ("read", "set")
"""Options of the form NAME=VALUE, which are tables of a file."""
OF_FITS = ("model", "group", "weight")
"""Options that mean other things in measure, which does not take them from a file."""
PATHS = ("test", "labelled", "labels", "state")
"""Options whose paths are relative to the file that names them."""


def load(path: Path) -> dict[str, Any]:
    """Return the options of a file by their long names, or raise InputError of one that is damaged."""
    if path.suffix == ".skops":
        if not (facts := read_facts(path).get("facts")):
            raise InputError(f"--config {path} is no model that pushrank fit wrote.")
        return dict(facts["as_fitted"])
    try:
        options = tomllib.loads(path.read_text("utf-8-sig"))
    except ValueError as error:
        raise InputError(f"--config {path} is no TOML file: {error}.") from error
    return {name: _relative_to(path, name, value) for name, value in options.items()}


def defaults_of(path: Path, known: Mapping[str, Any], others: set[str]) -> dict[str, Any]:
    """Return a file's options by the names of a command's parameters, as texts to be read like words.

    ``known`` has the parameters of the command by the long names of their options, and ``others`` the names
    of all options of all commands.
    """
    defaults = {}
    for name, value in load(path).items():
        if name in FROM_THE_LINE:
            raise InputError(f"--config {path}: {name} is never taken from a file; say --{name} in the line.")
        if name not in known and name not in others:
            # The options of this command are meant more often than those of others.
            groups = [sorted(names - FROM_THE_LINE) for names in (set(known), others)]
            near = [match for names in groups for match in get_close_matches(name, names, 1)]
            nearest = f"; did you mean {near[0]!r}?" if near else ", which is no option of any command."
            raise InputError(f"--config {path} has {name!r}{nearest}")
        if name in known:
            words = _as_words(path, name, value)
            if isinstance(value, bool) and not known[name].is_flag:
                raise InputError(f"--config {path}: {name} takes a value, got {str(value).lower()}.")
            if not known[name].multiple and isinstance(words, list):
                raise InputError(f"--config {path}: {name} takes one value, got {value!r}.")
            several = known[name].multiple and not isinstance(words, list)
            defaults[known[name].name] = [words] if several else words
    return defaults


def _as_words(path: Path, name: str, value: Any) -> Any:
    """Return a value as what a line would give."""
    if isinstance(value, dict) != (name in TABLES):
        must = f"a table: [{name}]" if name in TABLES else "a value or a list"
        raise InputError(f"--config {path}: {name} must be {must}, got {value!r}.")
    if isinstance(value, dict):
        several = [
            key for key, of in value.items() if isinstance(of, list) and (name, key) != ("read", "missing")
        ]
        if several:
            raise InputError(
                f"--config {path}: {name}.{several[0]} takes one value, got {value[several[0]]!r}."
            )
        return pairs(name, value)
    if isinstance(value, list):
        return [str(one) for one in value]
    return value if isinstance(value, bool) else str(value)


def pairs(name: str, table: Mapping[str, Any]) -> list[str]:
    """Return a table as texts such as decimal=comma; --read says yes and no, --set what Python does."""
    pairs = [(key, one) for key, of in table.items() for one in (of if isinstance(of, list) else [of])]
    said = {True: "yes", False: "no"} if name == "read" else {}
    return [f"{key}={said[one] if isinstance(one, bool) and said else one}" for key, one in pairs]


def _relative_to(path: Path, name: str, value: Any) -> Any:
    return str(path.parent / value) if name in PATHS and isinstance(value, str) else value


def same(name: str, kept: Any, value: Any) -> bool:
    """Return whether an option of a file has the value that a command would give it."""
    kept = pairs(name, kept) if isinstance(kept, dict) else kept
    several = [[str(one) for one in (of if isinstance(of, list | tuple) else [of])] for of in (kept, value)]
    return several[0] == several[1]


def write(options: Mapping[str, Any], path: Path | None) -> None:
    """Write options by their long names to a TOML file, whole or not at all."""
    if path is None:
        return
    lines, tables = [], []
    for name, value in options.items():
        if name in FROM_THE_LINE:
            continue
        if name in PATHS:
            value = os.path.relpath(value, path.parent)
        if name not in TABLES:
            lines.append(f"{name} = {_toml(value)}")
            continue
        texts: dict[str, Any] = {}
        for key, _, text in (one.partition("=") for one in value):
            # Of a key that a line gives again the last text counts, but there may be several marks of gaps.
            texts[key] = [*texts.get(key, ()), text] if key == "missing" else text
        tables += ["", f"[{name}]", *(f"{key} = {_toml(text)}" for key, text in texts.items())]
    with writing(path), atomic_write(path) as draft:
        draft.write_text("\n".join([WRITTEN_BY, *lines, *tables, ""]), encoding="utf-8")


def _toml(value: Any) -> str:
    """Return a value in TOML, whose texts are those of JSON."""
    # Folds such as 5x3 are a pair, and a text.
    if type(value) in (list, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    text = json.dumps(value if isinstance(value, bool | int | float) else str(value), ensure_ascii=False)
    # JSON leaves this control character as it is, and TOML does not take it.
    return text.replace("\x7f", "\\u007f")
