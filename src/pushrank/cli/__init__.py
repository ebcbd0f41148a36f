"""The command line: for people with files, not Python. Its commands are in commands.py."""

from difflib import get_close_matches
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pushrank.cli.errors import InputError, exit_on_input_error

__all__ = ["app"]

# Help shows these sentences without an import of the commands, which takes longer.
GROUPS = {
    "Find a model and use it": {
        "demo": "See it work on data of its own.",
        "compare": "Which model finds most, and how sure is that?",
        "fit": "Fit one model to a file and save it.",
        "score": "Write the rows best first.",
    },
    "Know how good it is": {
        "measure": "How good is the top of lists, by saved models or any scores?",
        "watch": "Does a model still find the hits expected of it?",
    },
    "Every day": {
        "alert": "Decide on rows as they come, within a budget.",
        "duel": "Try a new model against the one in use, inside one budget.",
    },
    "Look inside": {"show": "Print what a saved model holds."},
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
HELP = {"help_option_names": ["-h", "--help"]}


class Commands(TyperGroup):
    """The commands by name. Each is imported when it is called: help need not wait for what it uses."""

    def list_commands(self, _context: Any) -> list[str]:
        """Return the names, in the order to show them."""
        return list(COMMANDS)

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        """Read the words up to the command, and keep all words for what a refusal prints."""
        self.typed = list(args)
        return list(super().parse_args(context, args))

    # Words are parsed within the guard, since parsers and callbacks of options refuse input, too.
    def invoke(self, context: Any) -> None:
        """Run a command; one that refuses its input says what to add to these words, where it knows."""
        exit_on_input_error(super().invoke, self.typed)(context)

    def get_command(self, _context: Any, name: str) -> Any:
        """Return a command, or None when there is none of this name."""
        if name not in COMMANDS:
            return None
        from pushrank.cli import commands
        from pushrank.cli.command import Command, expand_dataclasses

        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(name, cls=Command, context_settings=HELP)(expand_dataclasses(getattr(commands, name)))
        return typer.main.get_command(alone)

    def all_options(self) -> set[str]:
        """Return the long names of the options of all commands, which a file of options may hold."""
        from pushrank.cli.command import long_name

        commands = (self.get_command(None, name) for name in COMMANDS)
        return {long_name(of) for command in commands for of in command.params if of.opts[0][0] == "-"}

    def resolve_command(self, context: Any, args: list[str]) -> Any:
        """Return the command that the words name, or refuse them with the nearest name first."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, 1)
            nearest = f"; did you mean {near[0]}?" if near else "."
            raise InputError(f"there is no command {args[0]!r}{nearest} There are {', '.join(COMMANDS)}.")
        return super().resolve_command(context, args)

    def format_commands(self, _context: Any, formatter: Any) -> None:
        """Write the names and what they do, without importing them."""
        for name, group in GROUPS.items():
            with formatter.section(name):
                formatter.write_dl(list(group.items()))


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pushrank {version('pushrank')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn to rank so that the top of the list is right.

    Begin with: pushrank compare data.csv --label COLUMN --budget 100. Exit codes are 0 for success, 1 for an
    alarm of watch or an unmet --require, 2 for an error, and 3 where nothing can be told.
    """
