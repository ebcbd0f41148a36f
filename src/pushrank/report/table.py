"""Tables that a screen reader can read and a phone can scroll."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pushrank.report.markup import Markup, tag


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table in a region of its own; a row's first entry is its header.

    Entries are cells (as of ``number``) or texts.

    Examples
    --------
    >>> table("Hits", ["model", "hits"], [["<b>", number("3")]]).count("&lt;b&gt;")
    1
    """
    made = tag(
        "table",
        tag("caption", tag("span", caption)),
        tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head))),
        tag("tbody", *(_row(*row) for row in rows)),
    )
    return tag("div", made, class_="scroll", tabindex="0", role="region", aria_label=caption)


def number(text: object) -> Markup:
    """Return a cell that lines up with other numbers."""
    return tag("td", text, class_="number")


def _row(header: object, *entries: object) -> Markup:
    cells = (entry if isinstance(entry, Markup) else tag("td", entry) for entry in entries)
    return tag("tr", tag("th", header, scope="row"), *cells)
