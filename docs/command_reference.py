"""Write docs/command_line_reference.md, the page of all options: python docs/command_reference.py.

Its texts are those of ``pushrank COMMAND --help``, by the panels in which help shows them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from pushrank.cli import GROUPS, Commands

PAGE = Path(__file__).parent / "command_line_reference.md"
WIDTH = 88
HEAD = """# All commands and options

This page has the help of every command; `pushrank COMMAND --help` prints the same texts.
[The command line](command_line.md) shows them at work, task by task.
`pushrank --version` prints the version, and `python -m pushrank` is the same program as `pushrank`.
A word in capitals, such as COLUMN, stands for what you write in its place."""


def section(name: str) -> Iterator[str]:
    """Yield the paragraphs of a command: what it does, an example, its arguments and its options."""
    command = Commands().get_command(None, name)
    context = command.context_class(command, info_name=name)
    text, _, example = command.help.partition("\n\n")
    yield f"### `pushrank {name}`"
    yield " ".join(text.split())
    words = " ".join(example.removeprefix("Example: ").split())
    lines = textwrap.wrap(words, WIDTH - 2, subsequent_indent="    ", break_on_hyphens=False)
    yield "```sh\n" + " \\\n".join(lines) + "\n```"
    arguments = [of for of in command.params if of.param_type_name == "argument"]
    if arguments:
        yield "\n".join(f"- `{of.metavar}`: {of.help}" for of in arguments)
    for panel, options in command.panels(context).items():
        items = [f"- `{names}`: {text}" for names, text in options if "--help" not in names]
        if items:
            yield f"*{panel}*"
            yield "\n".join(items)


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for title, commands in GROUPS.items():
        parts.append(f"## {title}")
        for name in commands:
            parts += section(name)
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
