"""Write docs/command_line_reference.md, the page of all options: python docs/command_reference.py.

The texts are those of ``pushrank COMMAND --help``. They are read from the functions and the groups of options
and not from what typer prints of them, which differs from one version of typer to another.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.models import OptionInfo

from pushrank.cli import COMMANDS, commands
from pushrank.cli.options import COLUMNS, expand_dataclasses
from pushrank.cli.source.format import TextFormat

PAGE = Path(__file__).parent / "command_line_reference.md"
WIDTH = 88
OF_FILES = {part.name for part in fields(TextFormat)}
HEAD = """# All commands and options

This page has the help of every command; `pushrank COMMAND --help` prints the same texts.
[The command line](command_line.md) shows them at work, task by task.
`pushrank --version` prints the version, and `python -m pushrank` is the same program as `pushrank`.
A word in capitals, such as COLUMN, stands for what you write in its place.
"""
FILES = """## Options for files

All commands that read rows have these options.
[Files that it reads](command_line.md#files-that-it-reads) says what happens without them.
"""


def in_markdown(text: str) -> str:
    """Return a text of the help with its options as code, and without what Markdown takes for mathematics."""
    value = (
        r"(?: (?:[A-Z]+\b|(?:best|customer|ensemble)\b|'[^']+'|\.?\d[\w./:=,]*\w|\d|[a-z_]+\.(?:csv|db)))?"
    )
    return re.sub(rf"(?<![\w-])(--?[a-zA-Z][a-z-]*{value})", r"`\1`", text).replace("$", r"\$")


def value_of(name: str, hint: Any, metavar: str | None) -> str:
    """Return the word that stands for the value of an option, which is empty for one that takes none."""
    alternatives = [part for part in get_args(hint) or [hint] if part is not type(None)]
    kind = alternatives[0]
    if get_origin(hint) is Literal:
        return "|".join(alternatives)
    if get_origin(kind) in (Literal, list):
        return value_of(name, kind, metavar)
    if metavar or kind is bool:
        return metavar or ""
    if name in (*COLUMNS, "exclude", "columns", "score"):
        return "COLUMN"
    return {int: "N", float: "NUMBER", Path: "FILE"}.get(kind, "TEXT")


def names_of(name: str, info: OptionInfo) -> str:
    """Return what an option is called, a short name first."""
    # Typer takes the first name for a default where no other default stands beside it.
    stated = [word for word in (info.default, *(info.param_decls or ())) if str(word).startswith("-")]
    return ", ".join(reversed(stated)) or f"--{name.replace('_', '-')}"


def item(parameter: Parameter) -> str:
    """Return the line of an argument or an option: its names, its value, its help, its bounds and default."""
    hint, info = get_args(parameter.annotation)
    text = in_markdown(info.help)
    if not isinstance(info, OptionInfo):
        return f"- `{parameter.name.upper()}`: {text}"
    if info.min is not None:
        text += f" At least {info.min:g}." if info.max is None else f" From {info.min} to {info.max}."
    if parameter.default is Parameter.empty:
        text += " Required."
    elif parameter.default is not None and not isinstance(parameter.default, bool):
        text += f" Default: {parameter.default}."
    value = value_of(parameter.name, hint, info.metavar)
    return f"- `{f'{names_of(parameter.name, info)} {value}'.rstrip()}`: {text}"


def section(name: str) -> Iterator[str]:
    """Yield the paragraphs of a command: what it does, an example, its arguments and its options."""
    command = expand_dataclasses(getattr(commands, name))
    yield f"## `pushrank {name}`"
    for paragraph in (getdoc(command) or "").split("\n\n"):
        if not paragraph.startswith("Example: "):
            yield in_markdown(paragraph)
            continue
        words = " ".join(paragraph.removeprefix("Example: ").split())
        lines = textwrap.wrap(words, WIDTH - 2, subsequent_indent="    ", break_on_hyphens=False)
        yield "```sh\n" + " \\\n".join(lines) + "\n```"
    parameters = signature(command).parameters.values()
    own = [parameter for parameter in parameters if parameter.name not in OF_FILES]
    if own:
        yield "\n".join(map(item, own))
    if len(own) < len(parameters):
        yield "It also has the [options for files](#options-for-files)."


def page() -> str:
    """Return the whole page."""
    shared = [
        parameter
        for parameter in signature(expand_dataclasses(commands.score)).parameters.values()
        if parameter.name in OF_FILES
    ]
    parts = [HEAD.rstrip(), FILES.rstrip(), "\n".join(map(item, shared))]
    for name in COMMANDS:
        parts += section(name)
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
