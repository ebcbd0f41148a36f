"""How CSV and TSV files are written: what separates columns, how text is coded, and the decimal mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from pushrank.cli.errors import InputError

SEPARATORS = {".csv": ",", ".tsv": "\t"}
OTHER_SEPARATORS = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}


def kind_of_file(path: Path) -> str:
    """Return the extension that says what a file is, without that of compression."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


@dataclass(frozen=True)
class TextFormat:
    """How a CSV or TSV file is written, where not as its extension says, in UTF-8 and with decimal points."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def check(self, path: Path) -> None:
        """Raise when a file cannot be read so.

        Raises
        ------
        InputError
            When the file is no CSV or TSV, the encoding is not known, or a mark is not one character.
        """
        given = {key: value for key, value in vars(self).items() if value is not None}
        for option, value in given.items():
            if kind_of_file(path) not in SEPARATORS:
                raise InputError(f"--{option} is for CSV and TSV files, not for {path}.")
            if option != "encoding" and len(value) != 1:
                raise InputError(f"--{option} must be one character, got {value!r}.")
        if self.decimal is not None and self.decimal == (self.separator or SEPARATORS[kind_of_file(path)]):
            raise InputError(
                f"--decimal {self.decimal!r} separates the columns, too; name another --separator."
            )
        try:
            "".encode(self.encoding or "utf-8")
        except LookupError as error:
            raise InputError(
                f"--encoding {self.encoding!r} is not known; utf-8, latin-1, cp1252 and utf-16 are."
            ) from error

    def read(self, path: Path, text: Sequence[str]) -> pd.DataFrame:
        """Return the rows, with the columns named in ``text`` as they are written.

        Raises
        ------
        InputError
            When the file is coded otherwise.
        """
        try:
            return pd.read_csv(
                path,
                sep=self.separator or SEPARATORS[kind_of_file(path)],
                encoding=self.encoding,
                decimal=self.decimal or ".",
                dtype=dict.fromkeys(text, str),
                low_memory=False,  # else a column may be numbers in some chunks and text in others
            )
        except UnicodeError as error:
            raise InputError(
                f"{path} is not coded as {self.encoding or 'utf-8'} ({error}); say how it is: for example "
                "--encoding latin-1, cp1252 or utf-16."
            ) from error


AS_USUAL = TextFormat()
