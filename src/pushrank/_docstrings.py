"""Shared paragraphs, filled into docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from textwrap import indent
from typing import Any

PLACEHOLDER = re.compile(r"^( *)%\((\w+)\)s$", re.MULTILINE)
UNSTATED = re.compile(r"^(\w+) : (?!.*(?:default=|optional)).*$", re.MULTILINE)


def fill_docstring(
    item: Any, paragraphs: Mapping[str, str], parameters: Mapping[str, inspect.Parameter]
) -> None:
    r"""Fill shared paragraphs into the docstring of a class or function.

    A line ``%(alpha)s`` stands for the paragraph ``"alpha"``. To the entry of a parameter its default is
    added, so that it cannot differ from the signature.

    Raises
    ------
    KeyError
        When a line names no paragraph.

    Examples
    --------
    >>> def fit(verbose=False):
    ...     '''Fit.
    ...
    ...     %(verbose)s
    ...     '''
    >>> fill_docstring(fit, {"verbose": "verbose : bool\n    Talk."}, inspect.signature(fit).parameters)
    >>> print(inspect.getdoc(fit))
    Fit.
    <BLANKLINE>
    verbose : bool, default=False
        Talk.
    """

    def with_default(entry: re.Match[str]) -> str:
        default = parameters[entry[1]].default if entry[1] in parameters else inspect.Parameter.empty
        if default is inspect.Parameter.empty:
            return entry[0]
        shown = f'"{default}"' if isinstance(default, str) else default
        return f"{entry[0]}, default={shown}"

    def paragraph(line: re.Match[str]) -> str:
        return indent(UNSTATED.sub(with_default, paragraphs[line[2]]), line[1])

    if item.__doc__:  # which python -OO leaves out
        item.__doc__ = PLACEHOLDER.sub(paragraph, item.__doc__)
