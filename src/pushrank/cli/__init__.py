"""The command line: for people with files, not Python. Its arguments and help are in commands.py."""

from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pushrank.cli.errors import exit_on_input_error

__all__ = ["app"]

# Help shows these sentences without an import of the commands, which takes seconds.
COMMANDS = {
    "fit": "Learn to rank from a file and save the model.",
    "show": "Print what a saved model holds.",
    "score": "Write the rows best first, with their score and rank.",
    "export": "Write a saved model as a Python file that needs numpy alone.",
    "evaluate": "Print how good the top of a saved model's list is, with 95 % intervals.",
    "watch": "Say whether a model in use finds the hits expected of it, and whether the rows have changed.",
    "measure": "Print how good the top of lists is, by the scores of any models.",
    "duel": "Try a new model against the one in use, inside one budget.",
    "compare": "Compare models under the same cross-validation.",
    "report": "Compare models and write one HTML file.",
    "demo": "Find gamma rays in a telescope's recordings: no data of your own.",
}
HELP = {"help_option_names": ["-h", "--help"]}


class Commands(TyperGroup):
    """The commands by name. Each is imported when it is called: help need not wait for pandas and numba."""

    def list_commands(self, _context: Any) -> list[str]:
        """Return the names, in the order to show them."""
        return list(COMMANDS)

    # Words are parsed within the guard, since parsers and callbacks of options refuse input, too.
    @exit_on_input_error
    def invoke(self, context: Any) -> None:
        """Read the words of a command and run it."""
        super().invoke(context)

    def get_command(self, _context: Any, name: str) -> Any:
        """Return a command, or None when there is none of this name."""
        if name not in COMMANDS:
            return None
        from pushrank.cli import commands
        from pushrank.cli.options import expand_dataclasses

        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(name, context_settings=HELP)(expand_dataclasses(getattr(commands, name)))
        return typer.main.get_command(alone)

    def format_commands(self, _context: Any, formatter: Any) -> None:
        """Write the names and what they do, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


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
