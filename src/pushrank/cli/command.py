"""How the options of commands are declared, read from a line and a file, and shown in panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from pushrank.cli import config_files
from pushrank.cli.errors import InputError, shell_word
from pushrank.cli.source.format import stated
from pushrank.cli.source.open import normal

PANELS = {
    "Rows and label": "label positive labels labelled past exclude keep date id",
    "Budget and time": "budget top time labels-after at-most at-least missing-group audit begin until",
    "Models": "model score set choose ensemble weight probability",
    "How sure": "folds group shuffle test hold-out acted chance looks promise new-rows require intervals "
    "level seed",
    "Output": "output save report figure columns reasons value screening table all json jobs quiet force",
    "File": "read config write-config state",
}
"""The panels of every help, with the long names of their options in the order to show them."""
ADD_UP = ("read", "parameters", "exclude", "keep", "date")
"""Options of which a line and a file may each say a part, as a format, or columns to leave out."""


def option(text: str, *names: str, default: Any = None, **more: Any) -> Any:
    """Return a field that is an option, with its help, and its names where they are not the field's."""
    return field(default=default, metadata={"typer": typer.Option(*names, help=text, **more)})


def long_name(parameter: Any) -> str:
    """Return the name of an option without its dashes, as files of options have it."""
    return str(max(parameter.opts, key=len)).lstrip("-")


class Command(TyperCommand):
    """A command whose options may come from a file, and whose help shows them in panels."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a line; of a format and of parameters a file may say another part."""
        rest = list(super().parse_args(ctx, args))
        file = ctx.default_map or {}
        for name in ADD_UP:
            if name in file and _source(ctx, name) == "COMMANDLINE":
                ctx.params[name] = [*file[name], *ctx.params[name]]
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and write the options that were given to the file of --write-config."""
        options = {long_name(of): of.name for of in self.params if of.param_type_name == "option"}
        given = {
            name: ctx.params[of]
            for name, of in options.items()
            if _source(ctx, of) in ("COMMANDLINE", "DEFAULT_MAP")
        }
        file = ctx.params.get("write_config")
        try:
            super().invoke(ctx)
        except (typer.Exit, InputError, BrokenPipeError) as ended:
            # An alarm, a choice that cannot be made, or a reader such as head that has seen enough is a
            # result: the options were good.
            if getattr(ended, "code", getattr(ended, "exit_code", 0)) != 2:
                config_files.write(given, file)
            raise
        config_files.write(given, file)

    def panels(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Return the names and texts of all options by panel."""
        options: dict[str, Any] = {
            long_name(of): of for of in self.get_params(ctx) if of.param_type_name == "option"
        }
        shown = {
            panel: [options.pop(name) for name in names.split() if name in options]
            for panel, names in PANELS.items()
        }
        shown["File"] += options.values()
        return {panel: [(_names(of, ctx), of.help) for of in several] for panel, several in shown.items()}

    def format_help_text(self, _context: Any, formatter: Any) -> None:
        """Write the first paragraph; what comes after it, an example, follows the options."""
        formatter.write_paragraph()
        formatter.write_text((self.help or "").partition("\n\n")[0])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options in their panels."""
        for name, records in self.panels(ctx).items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records, col_max=26, col_spacing=1)

    def format_epilog(self, _context: Any, formatter: Any) -> None:
        """Write the example."""
        if example := (self.help or "").partition("\n\n")[2]:
            formatter.write_paragraph()
            formatter.write_text(example)


def _source(ctx: Any, name: str) -> str:
    """Return where the value of an option comes from."""
    source = ctx.get_parameter_source(name)
    return "" if source is None else str(source.name)


def _names(parameter: Any, ctx: Any) -> str:
    """Return the names of an option and of its value, as help shows them."""
    names = ", ".join(sorted(parameter.opts, key=len))
    if parameter.secondary_opts:
        return f"--[no-]{long_name(parameter)}"
    return names if parameter.is_flag else f"{names} {parameter.metavar or parameter.make_metavar(ctx)}"


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Return the words of a command that give options these values: each as often as it has any, or not."""
    words = []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is True:
                words.append(f"--{name}")
            elif one is not None and one is not False:
                words += ["-o" if name == "output" else f"--{name}", str(one)]
    return words


def name_of(field_name: str) -> str:
    """Return the long name of the option of a field."""
    names = {"parameters": "set", "as_json": "json", "every": "all"}
    return names.get(field_name, field_name).replace("_", "-")


def options_of(group: Any) -> dict[str, Any]:
    """Return the options of a group that were given, by their long names."""
    return {name_of(name): value for name, value in stated(group).items() if name != "data"}


def command_line(
    name: str, data: Path, given: Mapping[str, Any], file: Path | None, kept: Mapping[str, Any]
) -> str:
    """Return a command with options by their long names, but for those that a file of options keeps."""
    told = {of: value for of, value in given.items() if not config_files.same(of, kept.get(of), value)}
    for of in ADD_UP:
        if of != "read" and isinstance(of_file := kept.get(of), list) and of in told:
            # The file's part is added to that of the line.
            told[of] = [one for one in told[of] if one not in of_file]
    words = words_of(told)
    return " ".join(map(shell_word, ["pushrank", name, str(data), *words_of({"config": file}), *words]))


def expand_dataclasses(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the fields of its dataclasses as options: Typer has no groups of options."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name]))
            continue
        field_hints = get_type_hints(groups[name], include_extras=True)
        for part in fields(groups[name]):
            hint = field_hints[part.name]
            if "typer" in part.metadata:
                hint = Annotated[hint, part.metadata["typer"]]
            default = Parameter.empty if part.default is MISSING else part.default
            parameters.append(parameter.replace(name=part.name, default=default, annotation=hint))

    @wraps(command)
    def expanded(**options: Any) -> None:
        values = {name: normal(value) for name, value in options.items()}
        for name, group in groups.items():
            values[name] = group(**{part.name: values.pop(part.name) for part in fields(group)})
        command(**values)

    # Keywords may come in any order: an output, which has no default, after options that have one.
    parameters = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    expanded.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded
