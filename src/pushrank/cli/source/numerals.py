"""Numbers as people write them: read by the marks of a format, and the marks that would read them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pushrank.cli.source.format import TextFormat

TEXT = pd.ArrowDtype(pa.string())
MISSING = ["#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "n/a", "na",
           "nan", "none", "null"]  # fmt: skip
"""The cells that are missing numbers, as in pandas.read_csv. Beside text they are text: NA is Namibia."""
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""A number with a decimal point; Python would also take 1_000, and digits of other scripts."""
INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
"""Marks around a number that no screen shows, as spreadsheets copy them along."""
NEARLY_ALL = 0.9
"""A column is what at least this share of its values are: the others may be mistakes."""
CODE = r"EUR|USD|GBP|CHF|JPY|CAD|AUD|INR|CNY|SEK|NOK|DKK|PLN|BRL|R\$|kr|Rs\.?"
DASHES = "‐‑‒–—﹣－"
"""Signs that stand for a minus or for a range: no format reads them."""
SIGNS = rf"(?:[$€£¥₹₽₩₺¢₪₫₴₦฿%‰<>≤≥~≈±=*'’\"()°−{DASHES}-]|{CODE}|\s)*"
WORD = r"\s*°?[^\W\d_][^\d\s,;]*\s*"
AMOUNT = (
    rf"(?P<before>\s*[-+]?{SIGNS}[-+]?)"
    r"(?P<number>[1-9]\d{0,2}(?P<mark>[.,'’_\s])\d{3}(?:(?P=mark)\d{3})*(?:[.,]\d+)?"
    r"|[1-9]\d?(?:,\d\d)+,\d{3}(?:\.\d+)?|\d+[.,]?|\d*[.,]\d+)"
    r"(?:[eE][-+]?\d+|[dD][-+]\d+|\s*[x×*·]\s*10(?:\^[-+]?\d+|[⁺⁻]?[⁰¹²³⁴-⁹]+))?"
    rf"(?P<after>{SIGNS}(?:{WORD})?)"
)
"""A text that is meant as a number, whether it is read as one or not."""
MAX_UNITS = 3
"""Words behind numbers that are units: of more words they are names, and so they are behind few numbers."""
MIN_AMOUNTS = 6
MAGNITUDES = frozenset("kmbgt")
"""Letters right behind numbers that are no codes, as 12A beside 12B and house 7a beside house 8 are."""
MARKED = (
    r"(?!\d+(?:\.\d+){2,}$)[\W\d_]*\d[\W\d_]*"
    r"|\s*(?:\d+\s*(?:d|h|hrs?|m|min|s|sec|lbs?|oz|ft|in)[\s,.]*){2,}"
)
"""Numbers and marks alone, as 12:30, 12-17 and 120/80, but no versions and addresses; or 6h 30m."""


def plain(texts: Any, text_format: TextFormat) -> Any:
    """Return Arrow texts whose numbers have a decimal point, and no marks of thousands."""
    texts = pc.utf8_trim_whitespace(pc.utf8_trim(pc.utf8_trim_whitespace(texts), INVISIBLE))
    # The minus sign of typesetters can mean nothing else.
    texts = pc.replace_substring(texts, "\u2212", "-")
    if text_format.thousands:
        # A space stands for spaces of all kinds, such as the narrow ones of French numbers.
        mark = r"\s\pZ" if text_format.thousands.isspace() else re.escape(text_format.thousands)
        # Marks count where three digits follow: 1,25 and 1.5,250 are no 125 and no 1.525. In 2,146e5 the
        # comma is a decimal mark.
        grouped = rf"^[-+]?[1-9][0-9]{{0,2}}(?:[{mark}][0-9]{{3}})+(?:[^0-9eE{mark}][^{mark}]*)?$"
        joined = pc.replace_substring_regex(texts, f"[{mark}]", "")
        texts = pc.if_else(pc.match_substring_regex(texts, grouped), joined, texts)
    if text_format.decimal not in (None, "."):
        # Where the mark is a comma, 1.5 is no number.
        texts = pc.replace_substring(pc.replace_substring(texts, ".", "\0"), text_format.decimal, ".")
    return texts


def numbers_of(cells: pd.Series, text_format: TextFormat) -> tuple[NDArray[np.float64], bool]:
    """Return texts as floats, NaN where they are missing or no numbers, and whether some are none."""
    cells = cells.astype(TEXT)
    # Arrow reads the numbers of most files at once, which spares several passes over the texts.
    if not text_format.marks:
        try:
            return np.asarray(pa.array(cells.array).cast(pa.float64())), False
        except pa.ArrowInvalid:
            pass
    texts, nothing = pc.utf8_trim_whitespace(pa.array(cells.array)), pa.scalar(None, pa.string())
    stated = pa.array(["", *map(str.strip, text_format.missing)])
    is_missing = pc.or_(pc.is_in(texts, stated), pc.is_in(pc.utf8_lower(texts), pa.array(MISSING)))
    texts = plain(pc.if_else(is_missing, nothing, texts), text_format)
    lower = pc.utf8_lower(texts)
    is_truth = pc.is_in(lower, pa.array(["true", "false"]))
    if 0 < len(texts) - texts.null_count == pc.sum(is_truth).as_py():
        texts = pc.if_else(is_truth, pc.if_else(pc.equal(lower, "true"), "1", "0"), nothing)
    is_number = pc.match_substring_regex(texts, rf"^(?:{NUMBER}|[-+]?(?i:inf|infinity))$")
    numbers = pc.if_else(is_number, texts, nothing).cast(pa.float64())
    return np.asarray(numbers), pc.any(pc.invert(is_number)).as_py() or False


def units_of(texts: pd.Index) -> pd.Series | None:
    """Return the unit of each text, NaN where it is no amount; None where words name things, not units."""
    parts = texts.astype(object).str.extract(rf"^{AMOUNT}\Z").set_index(texts)
    around = parts["before"] + parts["after"]
    units = around.str.replace(rf"[-+\s()<>≤≥~≈±=*'’\"−{DASHES}]", "", regex=True)
    words = units[units.str.contains(r"[^\W\d_]", na=False) & ~units.str.fullmatch(CODE, na=False)]
    is_named = len(words) and (units.notna().sum() < MIN_AMOUNTS or words.nunique() > MAX_UNITS)
    letters = {*words[words.index.str.fullmatch(r".*\d[^\W\d_]\s*")].str.lower()}
    are_codes = not letters <= MAGNITUDES and (len(letters) > 1 or len(words) < units.notna().sum())
    return None if is_named or are_codes else units


def format_that_reads(
    several: Mapping[str, pd.Index], missing: Sequence[str], stated: TextFormat
) -> tuple[TextFormat, list[str]]:
    """Return what to state besides so that the texts of most columns are numbers, and the columns left."""
    # Three digits behind a mark are thousands, unless other numbers show that it is a decimal mark.
    best, left = TextFormat(missing=tuple(missing)), list(several)
    texts = {name: pd.Series(of, dtype=TEXT) for name, of in several.items()}
    for decimal, thousands in product(".,", ["", *",. '’_"]):
        given: dict[str, Any] = {"decimal": decimal} if decimal != (stated.decimal or ".") else {}
        given |= {"thousands": thousands} if thousands else {}
        read = replace(stated, **given, missing=(*stated.missing, *missing))
        if read.thousands == (read.decimal or "."):
            continue
        unread = [name for name, of in texts.items() if numbers_of(of, read)[1]]
        if len(unread) < len(left):
            best, left = TextFormat(**given, missing=tuple(missing)), unread
        if not unread:
            break
    return best, left
