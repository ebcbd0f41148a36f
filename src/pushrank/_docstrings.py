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

PARAGRAPHS = {
    # Displays. What the keywords of one display say is its "keywords".
    "y_true": "Labels of two values.",
    "scores": "Finite scores, the higher the better.",
    "sample_weight": "Non-negative weights; an integer weight equals that many copies of the row.",
    "pos_label": """The positive class; by default the larger of two numbers, yes of yes and no, true of
true and false. Of other texts it must be given.""",
    "confidence_level": "The nominal coverage, strictly between 0 and 1.",
    "name : str, optional": """The name in the legend, or the title of the picture; of an estimator by default
its class.""",
    "ax": "Where to draw; axes that hold a display already get one more curve. By default a new figure.",
    "curve_kwargs": "Keywords of matplotlib's ``plot``.",
    "plot_kwargs": "Keywords of ``plot``.",
    "drawing": """ax : matplotlib Axes, optional
curve_kwargs : dict, optional
plot_kwargs : dict, optional""",
    "ax_and_plot": """ax : matplotlib Axes, optional
plot_kwargs : dict, optional""",
    "computed": """Parameters
----------
y_true : array-like of shape (n,)
scores : array-like of shape (n,)
%(keywords)s
pos_label : label, optional
name : str, optional

Returns
-------
display
    With the numbers, not drawn yet.

Raises
------
TypeError
    When a parameter has the wrong type.
ValueError
    When there are not two classes, a score is not finite, lengths differ, a weight is negative, or a
    parameter is out of range.""",
    "drawn_from_predictions": """Parameters
----------
y_true : array-like of shape (n,)
scores : array-like of shape (n,)
%(keywords)s
pos_label : label, optional
name : str, optional
%(drawing)s

%(drawn)s
ValueError
    When the data or a parameter is refused, or an estimator has not exactly two classes.""",
    "drawn_from_estimator": """Parameters
----------
estimator : estimator or Pipeline
    Fitted, with ``decision_function`` or ``predict_proba``.
X : array-like, sparse matrix or data frame of shape (n, n_features)
    Rows, preferably rows that the estimator has not seen.
y : array-like of shape (n,)
    Their labels, of two values.
response_method : {"auto", "decision_function", "predict_proba"}
    The source of the scores; "auto" is the decision function, or if there is none the probability.
%(keywords)s
pos_label : label, optional
name : str, optional
%(drawing)s

%(drawn)s
ValueError
    When the data or a parameter is refused, or an estimator has not exactly two classes.""",
    "drawn": """Returns
-------
display
    With the numbers, and the matplotlib objects as ``ax_`` and ``figure_``.

Raises
------
ImportError
    When matplotlib is not installed.
TypeError
    When ``ax`` is not one Axes, or an estimator has nothing of what is drawn.""",
    "axes": """Parameters
----------
ax : matplotlib Axes, optional
name : str, optional""",
    "curve_plotted": """%(axes)s
band : bool
    Whether to shade the interval.
curve_kwargs : dict, optional

%(drawn)s""",
    "where_drawn": """ax_, figure_ : matplotlib Axes and Figure
    Where it was drawn.""",
    "curve_drawn": """name : str, optional

Attributes
----------
line_, band_ : matplotlib artists
    The curve and its interval, after ``plot``.
%(where_drawn)s""",
}


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

    paragraphs = {**PARAGRAPHS, **paragraphs}

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
        functions = (getattr(method, "__func__", method) for method in methods)
        for item in (documented, *filter(inspect.isfunction, functions)):
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
