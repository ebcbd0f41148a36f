"""Shared paragraphs, filled into docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from textwrap import indent
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

PLACEHOLDER = re.compile(r"^( *)%\(([\w ]+)\)s$", re.MULTILINE)
UNSTATED = re.compile(r"^(\w+) : (?!.*(?:default=|optional)).*$", re.MULTILINE)


def shared_docs_from(paragraphs: Mapping[str, str]) -> Callable[[Documented], Documented]:
    r"""Return a decorator that fills paragraphs into the docstring of a function, or of a class and methods.

    A line ``%(alpha tol)s`` stands for the paragraphs ``"alpha"`` and ``"tol"``, in a paragraph too. To the
    entry of a parameter its default is added, of a class that of its constructor, so that it cannot differ
    from the signature.

    Raises
    ------
    KeyError
        When a line names no paragraph.

    Examples
    --------
    >>> @shared_docs_from({"verbose": "verbose : bool\n    Talk."})
    ... def fit(verbose=False):
    ...     '''Fit.
    ...
    ...     %(verbose)s
    ...     '''
    >>> print(inspect.getdoc(fit))
    Fit.
    <BLANKLINE>
    verbose : bool, default=False
        Talk.
    """

    def fill(documented: Documented) -> Documented:
        parameters = inspect.signature(documented).parameters

        def with_default(entry: re.Match[str]) -> str:
            default = parameters[entry[1]].default if entry[1] in parameters else inspect.Parameter.empty
            if default is inspect.Parameter.empty:
                return entry[0]
            shown = f'"{default}"' if isinstance(default, str) else default
            return f"{entry[0]}, default={shown}"

        def text(line: re.Match[str]) -> str:
            named = "\n".join(paragraphs[name] for name in line[2].split())
            return indent(UNSTATED.sub(with_default, PLACEHOLDER.sub(text, named)), line[1])

        methods = vars(documented).values() if isinstance(documented, type) else ()
        for item in (documented, *filter(inspect.isfunction, methods)):
            if item.__doc__:  # which python -OO leaves out
                item.__doc__ = PLACEHOLDER.sub(text, item.__doc__)
        return documented

    return fill
