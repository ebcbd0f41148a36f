"""Signatures and docstrings of displays: a parameter is documented once and shown in every method."""

import inspect
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from pushrank._docstrings import shared_docs_from

Documented = TypeVar("Documented", bound=type)

PARAGRAPHS = {
    "name_of_curve": """name : str, optional
    The name of the curve in the legend.""",
    "curve_drawn": """%(name_of_curve)s

Attributes
----------
line_, band_ : matplotlib artists
    The curve and its interval, after ``plot``.
%(where_drawn)s""",
    "where_drawn": """ax_, figure_ : matplotlib Axes and Figure
    Where they were drawn.""",
    "title_of_picture": """name : str, optional
    The title of the picture.

Attributes
----------""",
}

# The keywords that end every signature, in this order.
LAST = ("name", "ax", "curve_kwargs", "plot_kwargs")


def written_out(cls: Documented) -> Documented:
    """Give a display complete signatures and docstrings, so that ``help`` shows every parameter.

    ``**settings`` of a constructor stands for the keywords of ``compute``, and for ``curve_kwargs`` of
    ``plot``. An entry that a docstring lacks (a parameter, a returned value, an error) is taken from the same
    method of the base class, or from ``_compute_and_plot``, ``compute`` or ``plot``.
    """
    shared_docs_from(PARAGRAPHS)(cls)
    compute, plot, both = cls.compute, cls.plot, cls._compute_and_plot  # type: ignore[attr-defined]
    for method in (compute, plot):
        function = getattr(method, "__func__", method)
        function.__doc__ = _whole_docstring(method, inspect.signature(method), [_inherited(cls, method)])
    for name in ("from_predictions", "from_estimator"):
        constructor = getattr(cls, name, None)
        if constructor is not None:
            inherited = _inherited(cls, constructor)
            signature = _whole_signature(constructor, inherited, compute, plot=plot)
            docstring = _whole_docstring(constructor, signature, [inherited, both, compute, plot])
            setattr(cls, name, classmethod(_rewritten(cls, constructor, signature, docstring)))
    return cls


def _inherited(cls: type, method: Any) -> Any:
    return getattr(super(cls, cls), method.__name__, method)


def _whole_signature(constructor: Any, *sources: Any, plot: Any) -> inspect.Signature:
    """Return the signature with the keywords of the sources added; the first source of a keyword decides."""
    signature = inspect.signature(constructor)
    parameters = {
        name: parameter
        for name, parameter in signature.parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }
    for source in sources:
        for name, parameter in inspect.signature(source).parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY:
                parameters.setdefault(name, parameter)
    if "curve_kwargs" in inspect.signature(plot).parameters:
        parameters["curve_kwargs"] = inspect.signature(plot).parameters["curve_kwargs"]
    order = sorted(parameters, key=lambda name: LAST.index(name) if name in LAST else -1)
    return signature.replace(parameters=[parameters[name] for name in order])


def _rewritten(
    cls: type, constructor: Any, signature: inspect.Signature, docstring: str | None
) -> Callable[..., Any]:
    function = constructor.__func__

    @wraps(function)
    def construct(of: type, *args: Any, **keywords: Any) -> Any:
        unknown = [keyword for keyword in keywords if keyword not in signature.parameters]
        if unknown:
            raise TypeError(
                f"{of.__name__}.{function.__name__}() got an unexpected keyword argument {unknown[0]!r}"
            )
        return function(of, *args, **keywords)

    first = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    construct.__signature__ = signature.replace(parameters=[first, *signature.parameters.values()])  # type: ignore[attr-defined]
    construct.__doc__ = docstring
    construct.__module__, construct.__qualname__ = cls.__module__, f"{cls.__qualname__}.{function.__name__}"
    return construct


def _whole_docstring(method: Any, signature: inspect.Signature, inherited: Sequence[Any]) -> str | None:
    """Return a docstring with an entry for each parameter, from the first source to have one."""
    # Under python -OO there are no docstrings.
    if method.__doc__ is None:
        return None
    summary, sections_here = _sections(method.__doc__)
    sections = [sections_here, *(_sections(source.__doc__)[1] for source in inherited)]
    entries = {
        title: {name: text for section in reversed(sections) for name, text in section.get(title, {}).items()}
        for title in ("Parameters", "Returns", "Raises")
    }
    entries["Parameters"] = {
        name: entries["Parameters"][name] for name in signature.parameters if name not in ("self", "cls")
    }
    entries["Raises"] = dict(sorted(entries["Raises"].items()))
    written = (
        "\n".join([title, "-" * len(title), *texts.values()]) for title, texts in entries.items() if texts
    )
    return "\n\n".join([summary, *written]) + "\n"


def _sections(docstring: str) -> tuple[str, dict[str, dict[str, str]]]:
    """Return the text before the first section, and the entries of every section by their names."""
    summary, *parts = re.split(r"^(\w+)\n-+\n", inspect.cleandoc(docstring), flags=re.MULTILINE)
    sections = {}
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
        sections[title] = {re.match(r"\w+", entry)[0]: entry.strip() for entry in entries}  # type: ignore[index]
    return summary.strip(), sections
