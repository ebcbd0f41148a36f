"""Shared paragraphs that are filled into docstrings."""

import inspect
import re
from collections.abc import Callable, Mapping
from textwrap import indent
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

PLACEHOLDER = re.compile(r"^( *)%\(([\w ]+)\)s$", re.MULTILINE)
UNDESCRIBED = re.compile(r"^( *)(\w+) : .*$(?!\n\1 +\S)", re.MULTILINE)
UNSTATED = re.compile(r"^ *(\w+) : (?!.*(?:default=|optional)).*$", re.MULTILINE)


def shared_docs_from(paragraphs: Mapping[str, str]) -> Callable[[Documented], Documented]:
    r"""Return a decorator that fills paragraphs into the docstring of a function, or of a class and methods.

    An entry such as ``alpha : float`` without a description gets the paragraph ``"alpha : float"``, or if
    there is none ``"alpha"``. A line ``%(alpha)s`` stands for the paragraph ``"alpha"``, and
    ``%(coef_ classes_)s`` for two. Paragraphs may hold such entries and lines too. Defaults are added from
    the signature, so that the two cannot differ.

    Examples
    --------
    >>> @shared_docs_from({"verbose": "Show a progress bar."})
    ... def fit(verbose=False):
    ...     '''Fit.
    ...
    ...     verbose : bool
    ...     '''
    >>> print(inspect.getdoc(fit))
    Fit.
    <BLANKLINE>
    verbose : bool, default=False
        Show a progress bar.
    """

    def paragraph(line: re.Match[str]) -> str:
        named = "\n".join(paragraphs[name] for name in line[2].split())
        return indent(filled(named), line[1])

    def described(entry: re.Match[str]) -> str:
        description = paragraphs.get(entry[0].strip(), paragraphs.get(entry[2]))
        return entry[0] if description is None else f"{entry[0]}\n{indent(description, entry[1] + '    ')}"

    def filled(text: str) -> str:
        return PLACEHOLDER.sub(paragraph, UNDESCRIBED.sub(described, text))

    def fill(documented: Documented) -> Documented:
        methods = vars(documented).values() if isinstance(documented, type) else ()
        for item in (documented, *filter(inspect.isfunction, methods)):
            # There are no docstrings under python -OO.
            if item.__doc__:
                item.__doc__ = _with_defaults(filled(item.__doc__), item)
        return documented

    return fill


def _with_defaults(docstring: str, documented: Any) -> str:
    """Return a docstring in which the entries of parameters state their defaults."""
    parameters = inspect.signature(documented).parameters

    def with_default(entry: re.Match[str]) -> str:
        default = parameters[entry[1]].default if entry[1] in parameters else inspect.Parameter.empty
        if default is inspect.Parameter.empty:
            return entry[0]
        shown = f'"{default}"' if isinstance(default, str) else default
        return f"{entry[0]}, default={shown}"

    return UNSTATED.sub(with_default, docstring)
