"""How CSV and TSV files are written: what separates columns, how text is coded, and the marks in numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank.cli.errors import InputError

SEPARATORS = {".csv": ",", ".tsv": "\t"}
OTHER_SEPARATORS = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
CHUNK = 100_000
"""So many rows are held as text at once, beside those that are asked for."""


def kind_of_file(path: Path) -> str:
    """Return the extension that says what a file is, without that of compression."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


@dataclass(frozen=True)
class TextFormat:
    """How a CSV or TSV file is written, where not as its extension says, in UTF-8 and with decimal points."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None

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
        if self.thousands == self.point:
            raise InputError(
                f"--thousands {self.thousands!r} is the decimal mark, too; say which that is: --decimal."
            )
        try:
            "".encode(self.encoding or "utf-8")
        except LookupError as error:
            raise InputError(
                f"--encoding {self.encoding!r} is not known; utf-8, latin-1, cp1252 and utf-16 are."
            ) from error

    def separator_of(self, path: Path) -> str:
        """Return what separates the columns of a file."""
        return self.separator or SEPARATORS[kind_of_file(path)]

    def read(self, path: Path, text: Sequence[str]) -> pd.DataFrame:
        """Return the rows, with the columns named in ``text`` as they are written.

        Raises
        ------
        InputError
            When the file is coded otherwise, or rows have more cells than the header has names.
        """
        try:
            frame = self._parsed(
                path,
                decimal=self.point,
                dtype=dict.fromkeys(text, str),
                low_memory=False,  # else a column may be numbers in some chunks and text in others
            )
        except UnicodeError as error:
            raise InputError(
                f"{path} is not coded as {self.encoding or 'utf-8'} ({error}); say how it is: for example "
                "--encoding latin-1, cp1252 or utf-16."
            ) from error
        if not isinstance(frame.index, pd.RangeIndex):
            raise InputError(
                f"{path}: rows have more cells than the first line has names; name every column."
            )
        if self.thousands is not None:
            grouped = [name for name in frame.columns.difference(text) if self._is_grouped(frame[name])]
            frame = frame.assign(**{name: self.numbers(frame[name]) for name in grouped})
        return frame

    def as_written(
        self, path: Path, rows: NDArray[np.intp], columns: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return some rows in the order asked for, every cell as the text that it is in the file.

        Empty cells are missing. The file is read in chunks, so that few rows of many take little memory.
        """
        chunks = self._parsed(
            path,
            usecols=columns,
            dtype="string[pyarrow]",
            keep_default_na=False,
            na_values=[""],
            chunksize=CHUNK,
        )
        kept = pd.concat([chunk[chunk.index.isin(rows)] for chunk in chunks])
        return kept.loc[rows].reset_index(drop=True)

    @property
    def point(self) -> str:
        """The decimal mark."""
        return self.decimal or "."

    def number(self) -> str:
        """Return the regular expression of a number that is written so.

        Examples
        --------
        >>> [bool(re.fullmatch(TextFormat(thousands=",").number(), text)) for text in ("1,025.5", "10,25")]
        [True, False]
        """
        point = re.escape(self.point)
        groups = rf"\d{{1,3}}(?:{self._thousands}\d{{3}})+|" if self.thousands is not None else ""
        return rf"\s*[+-]?(?:(?:{groups}\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?\s*"

    @property
    def _thousands(self) -> str:
        """The mark as a regular expression; a space stands for those that do not break lines, too."""
        mark = self.thousands or ""
        return r"\s" if mark.isspace() else re.escape(mark)

    def _is_grouped(self, column: pd.Series) -> bool:
        return pd.api.types.infer_dtype(column, skipna=True) == "string" and bool(
            column.dropna().str.fullmatch(self.number()).all()
        )

    def numbers(self, column: pd.Series) -> pd.Series:
        """Return the numbers that a column of text holds, written so."""
        plain = column.dropna().str.replace(self._thousands, "", regex=True)
        plain = plain.str.replace(self.point, ".", regex=False)
        return pd.to_numeric(plain.astype(object)).reindex(column.index)

    def _parsed(self, path: Path, **how: Any) -> Any:
        separator = self.separator_of(path)
        return pd.read_csv(path, sep=separator, encoding=self.encoding, **how)


AS_USUAL = TextFormat()
