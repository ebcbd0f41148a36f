"""Tables that a screen reader can read and a phone can scroll."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pushrank.report.markup import Markup, tag

WHOLE = 1e-6
"""Sums of chances nearer to a whole number than this are one."""


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table in a region of its own; a row's first entry is its header.

    Entries are cells (as of ``number``) or texts.

    Examples
    --------
    >>> table("Hits", ["model", "hits"], [["<b>", number("3")]]).count("&lt;b&gt;")
    1
    """
    body = [list(row) for row in rows]
    heads = (
        tag("th", name, scope="col", class_="number" if any(map(_is_number, column)) else None)
        for name, *column in zip(head, *body, strict=True)
    )
    made = tag(
        "table",
        tag("caption", tag("span", caption)),
        tag("thead", tag("tr", *heads)),
        tag("tbody", *(_row(*row) for row in body)),
    )
    return tag("div", made, class_="scroll", tabindex="0", role="region", aria_label=caption)


def number(text: object) -> Markup:
    """Return a cell that lines up with other numbers."""
    return tag("td", text, class_="number")


def count(rows: float) -> str:
    """Return a number of rows, with a decimal where ties make it an average."""
    rounded = round(rows, 1)
    return f"{rounded:,.0f}" if rounded.is_integer() and abs(rows - rounded) < WHOLE else f"{rounded:,.1f}"


def _is_number(entry: object) -> bool:
    return isinstance(entry, Markup) and entry.startswith(number("").removesuffix("</td>"))


def _row(header: object, *entries: object) -> Markup:
    cells = (entry if isinstance(entry, Markup) else tag("td", entry) for entry in entries)
    return tag("tr", tag("th", header, scope="row"), *cells)
