"""How a file is written, as --read KEY=VALUE, a table of a config file and a saved model say it."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Literal

from pushrank.cli.errors import InputError

SEPARATORS = {".csv": ",", ".tsv": "\t"}
TEXT_FILES = {*SEPARATORS, ".txt"}
SHEETS = {".xlsx"}
READABLE = {*TEXT_FILES, *SHEETS, ".parquet"}
CHARACTERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "point": ".", "space": " ",
              "apostrophe": "'"}  # fmt: skip
"""Names for characters that a shell or an eye would mistake."""
NAMES = {character: name for name, character in CHARACTERS.items()}
SERVED = {
    **dict.fromkeys(("separator", "encoding"), ("CSV, TSV and other text files", TEXT_FILES)),
    **dict.fromkeys(("skip", "header"), ("CSV, TSV and Excel files", TEXT_FILES | SHEETS)),
    "sheet": ("Excel files", SHEETS),
}
"""Which files a key is for that is not for all."""


def stated(options: Any) -> dict[str, Any]:
    """Return the options of a group that were given, by the names of their fields."""
    # What an object has kept beside its fields is no option.
    values = ((part.name, getattr(options, part.name), part.default) for part in fields(options))
    return {name: value for name, value, default in values if value not in (default, [], "")}


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is the same but for case and blanks, or else the most similar one."""
    by_fold = {other.strip().casefold(): other for other in map(str, names)}
    wanted = name.strip().casefold()
    close = [wanted] if wanted in by_fold else get_close_matches(wanted, by_fold, n=1)
    return by_fold[close[0]] if close else None


@dataclass(frozen=True)
class TextFormat:
    """How a file is written, where not in UTF-8, with decimal points, and names in the first line."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: tuple[str, ...] = ()
    dates: Literal["dmy", "mdy"] | None = None
    skip: int = 0
    header: bool = True
    sheet: str | None = None

    @classmethod
    def parse(cls, texts: Sequence[str]) -> "TextFormat":
        """Return the format that texts such as decimal=comma say, of which the last of a key counts."""
        given: dict[str, Any] = {}
        for text in texts:
            key, _, value = text.partition("=")
            if key not in KEYS:
                meant = f"; did you mean {near}?" if (near := nearest(key, KEYS)) else "."
                takes = f"It takes KEY=VALUE of {', '.join(KEYS)}"
                raise InputError(f"--read {text!r} is not understood{meant} {takes}.")
            read = _value(key, value)
            given[key] = (*given.get(key, ()), read) if key == "missing" else read
        found = cls(**given)
        if found.thousands == (found.decimal or "."):
            mark = NAMES.get(found.thousands, found.thousands)
            how = f"say what that is: --read decimal={'comma' if mark == 'point' else 'point'}"
            raise InputError(f"--read thousands={mark} is the decimal mark, too; {how}.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what is stated as a table of texts, numbers and truth values, which TOML and JSON hold."""
        table = stated(self)
        for key in {"separator", "decimal", "thousands"} & table.keys():
            table[key] = NAMES.get(table[key], table[key])
        return {key: list(value) if key == "missing" else value for key, value in table.items()}

    def texts(self) -> list[str]:
        """Return the texts that parse to this format."""
        table = ((key, of if key == "missing" else [of]) for key, of in self.to_dict().items())
        return [f"{key}={'no' if one is False else one}" for key, several in table for one in several]

    def words(self) -> list[str]:
        """Return the words of a command line that state this format."""
        return [word for text in self.texts() for word in ("--read", text)]

    def over(self, base: "TextFormat") -> "TextFormat":
        """Return the format of what is stated here, and for the rest of what another states."""
        given = stated(self)
        # A mark of one and a mark of the other may contradict each other.
        if {"decimal", "thousands"} & given.keys():
            given |= {"decimal": self.decimal, "thousands": self.thousands}
        return replace(base, **given)

    def for_kind(self, kind: str) -> "TextFormat":
        """Return what of the format applies to files of a kind, such as .parquet."""
        given = stated(self)
        return TextFormat(**{k: v for k, v in given.items() if k not in SERVED or kind in SERVED[k][1]})

    def check_kind(self, kind: str, path: Any) -> None:
        """Raise InputError for a key that is for files of other kinds."""
        for key in stated(self):
            if key in SERVED and kind not in SERVED[key][1]:
                raise InputError(f"--read {key} is for {SERVED[key][0]}, not for {path}.")

    @property
    def marks(self) -> dict[str, Any]:
        """How numbers in text are written, as far as the format states it."""
        return {key: of for key, of in stated(self).items() if key in ("decimal", "thousands", "missing")}


KEYS = [part.name for part in fields(TextFormat)]
DEFAULT_FORMAT = TextFormat()


def _value(key: str, text: str) -> Any:
    """Return the value that a key has by a text, or raise InputError where it can have none such."""
    must = f"one character or its name ({', '.join(CHARACTERS)})"
    value: Any = None
    if key == "skip":
        must = "how many lines stand above the names, such as skip=2"
        value = int(text) if text.isdecimal() else None
    elif key == "header":
        must, value = "yes or no", {"yes": True, "no": False}.get(text)
    elif key == "dates":
        must = "dmy, the day first, or mdy, the month first"
        value = text if text in ("dmy", "mdy") else None
    elif key == "encoding":
        must = "known; utf-8, latin-1, cp1252 and utf-16 are"
        with suppress(LookupError, ValueError):
            "".encode(text)
            value = text
    elif key in ("missing", "sheet"):
        must = "a text; empty cells are missing anyway" if key == "missing" else "the name of a sheet"
        value = text if text.strip() else None
    elif len(character := CHARACTERS.get(text, text)) == 1:
        value = character
    if value is None:
        raise InputError(f"--read {key}={text} must be {must}.")
    return value
