"""HTML that is safe by construction: every text is escaped, unless a tag made it."""

from __future__ import annotations

import json
from html import escape
from typing import Any

VOID = {"meta", "input"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; children that are not markup, and all values of attributes, are escaped.

    Parameters
    ----------
    name : str
        The element's name.
    *children : object
        Markup as it is, anything else as escaped text; None is left out.
    **attributes : object
        Underscores stand for hyphens, and one at the end for nothing (``class_``). True gives an attribute
        without a value; False and None leave it out.

    Examples
    --------
    >>> tag("p", "a < b", tag("b", "&"), class_="note", hidden=True)
    '<p class="note" hidden>a &lt; b<b>&amp;</b></p>'
    """
    opened = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{opened}>")
    return Markup(f"<{opened}>{together(*children)}</{name}>")


def together(*children: object) -> Markup:
    """Return markup and texts one after the other, the texts escaped."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else escape(str(child))
            for child in children
            if child is not None
        )
    )


def data(value: Any) -> Markup:
    """Return a script element that holds data as JSON, whatever characters are in it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # inside a script element < is the only character that could end it or begin a comment
    text = text.replace("<", "\\u003c")
    return Markup(f'<script type="application/json">{text}</script>')


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.removesuffix("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
