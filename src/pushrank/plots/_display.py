"""What displays share: from an estimator to scores, numbers and axes, each parameter documented once."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from pushrank._numeric import Floats

ResponseMethod = Literal["auto", "decision_function", "predict_proba"]
RESPONSES = ("decision_function", "predict_proba")
LAST = ("name", "ax", "curve_kwargs", "plot_kwargs")
"""The keywords that end every signature, in this order."""


class Display(ABC):
    """A picture that stores its numbers and draws them when asked.

    A subclass writes ``compute`` and ``plot`` and is decorated by `written_out`.
    """

    name: str | None

    @classmethod
    @abstractmethod
    def compute(cls, *data: Any, **settings: Any) -> Self:
        """Compute the numbers without drawing them."""

    @abstractmethod
    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the numbers.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        name : str, optional
            What to call the curve in place of ``self.name``.
        curve_kwargs : dict, optional
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        display
            This display, with the matplotlib objects as ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        TypeError
            When ``ax`` is not one Axes.
        """

    @classmethod
    def _compute_and_plot(
        cls, *data: Any, ax: Any, plot_kwargs: Mapping[str, Any] | None, **settings: Any
    ) -> Self:
        curve = {key: settings.pop(key) for key in ("curve_kwargs",) if key in settings}
        return cls.compute(*data, **settings).plot(ax, **{**curve, **(plot_kwargs or {})})

    def _drawn_in(self, ax: Any) -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


class RankingDisplay(Display):
    """A picture of scores against labels."""

    @classmethod
    @abstractmethod
    def compute(
        cls, y_true: ArrayLike, scores: ArrayLike, *, pos_label: Any = None, name: str | None = None
    ) -> Self:
        """Compute the numbers without drawing them.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of two values.
        scores : array-like of shape (n,)
            Finite scores, the higher the better.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a row of whole weight counts as that many copies of itself.
        pos_label : label, optional
            The positive class; by default the larger of the two values.
        name : str, optional
            What the curve is called in the legend.

        Returns
        -------
        display
            With the numbers, not drawn yet.
        """

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        ax: Any = None,
        plot_kwargs: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Self:
        """Compute and draw from labels and scores.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; axes that hold a display already get one curve more. By default a new figure.
        plot_kwargs : dict, optional
            Keywords of ``plot``.

        Returns
        -------
        display
            With the numbers, and the matplotlib objects as ``ax_`` and ``figure_``.
        """
        return cls._compute_and_plot(y_true, scores, ax=ax, plot_kwargs=plot_kwargs, **settings)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        plot_kwargs: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Self:
        """Compute and draw from a fitted estimator and rows, best ones that it has not seen.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``decision_function`` or ``predict_proba``.
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows.
        y : array-like of shape (n,)
            Their labels, of two values.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            What gives the scores; by default the decision function, or where there is none the probability.
        name : str, optional
            What is drawn is called so; by default the estimator's class.
        ax : matplotlib Axes, optional
            Where to draw; axes that hold a display already get one curve more. By default a new figure.
        plot_kwargs : dict, optional
            Keywords of ``plot``.

        Returns
        -------
        display
            With the numbers, and the matplotlib objects as ``ax_`` and ``figure_``.

        Raises
        ------
        TypeError
            When the estimator gives no scores, or ``ax`` is not one Axes.
        ValueError
            When ``compute`` refuses the data, the estimator knows another number of classes than two, or
            ``response_method`` is not known.
        """
        scores = estimator_scores(estimator, X, pos_label, response_method)
        return cls._compute_and_plot(
            y,
            scores,
            pos_label=pos_label,
            name=name or estimator_name(estimator),
            ax=ax,
            plot_kwargs=plot_kwargs,
            **settings,
        )


def final_step(estimator: Any) -> Any:
    """Return the estimator itself, or the last one of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def estimator_name(estimator: Any) -> str:
    """Return what an estimator is called in a legend."""
    return type(final_step(estimator)).__name__


def estimator_scores(estimator: Any, X: Any, pos_label: Any = None, response_method: str = "auto") -> Floats:
    """Return an estimator's scores, the higher the more likely positive.

    Raises
    ------
    TypeError
        When the estimator has neither ``decision_function`` nor ``predict_proba``, or not the one asked for.
    ValueError
        When it knows another number of classes than two, or not ``pos_label``, or ``response_method`` is not
        known.
    """
    if response_method not in ("auto", *RESPONSES):
        raise ValueError(f"response_method must be one of {['auto', *RESPONSES]}, got {response_method!r}.")
    name = estimator_name(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise ValueError(
            f"{name} knows {len(classes)} classes; a ranking of positives above negatives needs 2."
        )
    if pos_label is not None and classes is not None and pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not a class of the estimator: {list(classes)}.")
    lower_is_positive = pos_label is not None and classes is not None and pos_label == classes[0]
    methods = RESPONSES if response_method == "auto" else (response_method,)
    method = next((method for method in methods if hasattr(estimator, method)), None)
    if method is None:
        lacking = "neither decision_function nor predict_proba" if len(methods) > 1 else f"no {methods[0]}"
        raise TypeError(f"{name} has {lacking}; pass scores of your own to from_predictions.")
    scores: Floats = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if method == "predict_proba":
        return scores[:, 0 if lower_is_positive else 1]
    return -scores if lower_is_positive else scores


D = TypeVar("D", bound=Display)


def written_out(cls: type[D]) -> type[D]:
    """Give a display whole signatures and docstrings, so that ``help`` shows what each method takes.

    ``**settings`` of a constructor stands for the keywords of ``compute``, and for ``curve_kwargs`` of
    ``plot``. An entry that a docstring leaves out (a parameter, what is returned, an error) is that of the
    same method of the base class, or of ``compute``, or of ``plot``.
    """
    compute, plot = cls.compute, cls.plot
    for method in (compute, plot):
        function = getattr(method, "__func__", method)
        function.__doc__ = _whole_docstring(method, inspect.signature(method), [_inherited(cls, method)])
    for name in ("from_predictions", "from_estimator"):
        constructor = getattr(cls, name, None)
        if constructor is not None:
            inherited = _inherited(cls, constructor)
            signature = _whole_signature(constructor, inherited, compute, plot=plot)
            docstring = _whole_docstring(constructor, signature, [inherited, compute, plot])
            setattr(cls, name, classmethod(_rewritten(cls, constructor, signature, docstring)))
    return cls


def _inherited(cls: type[Display], method: Any) -> Any:
    return getattr(super(cls, cls), method.__name__, method)


def _whole_signature(constructor: Any, *sources: Any, plot: Any) -> inspect.Signature:
    """Return a constructor's parameters and the keywords of the sources, the first to name one deciding."""
    own = inspect.signature(constructor).parameters
    found = {
        name: parameter for name, parameter in own.items() if parameter.kind is not parameter.VAR_KEYWORD
    }
    for source in sources:
        for name, parameter in inspect.signature(source).parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY:
                found.setdefault(name, parameter)
    of_plot = inspect.signature(plot).parameters
    found.update({name: of_plot[name] for name in ("curve_kwargs",) if name in of_plot})
    order = sorted(found, key=lambda name: LAST.index(name) if name in LAST else -1)
    return inspect.signature(constructor).replace(parameters=[found[name] for name in order])


def _rewritten(
    cls: type[Display], constructor: Any, signature: inspect.Signature, docstring: str | None
) -> Callable[..., Any]:
    function = constructor.__func__

    @wraps(function)
    def construct(of: type[Display], *args: Any, **keywords: Any) -> Any:
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
    if method.__doc__ is None:  # as under python -OO
        return None
    summary, own = _sections(method.__doc__)
    sections = [own, *(_sections(source.__doc__)[1] for source in inherited)]
    entries = {
        title: {name: text for section in reversed(sections) for name, text in section.get(title, {}).items()}
        for title in ("Parameters", "Returns", "Raises")
    }
    entries["Parameters"] = {
        name: entries["Parameters"][name] for name in signature.parameters if name not in ("self", "cls")
    }
    entries["Raises"] = dict(sorted(entries["Raises"].items()))
    written = (
        "\n".join([title, "-" * len(title), *found.values()]) for title, found in entries.items() if found
    )
    return "\n\n".join([summary, *written]) + "\n"


def _sections(docstring: str) -> tuple[str, dict[str, dict[str, str]]]:
    """Return what comes before the first section, and the entries of every section by their names.

    Examples
    --------
    >>> _sections("Do it.\\n\\nRaises\\n------\\nValueError\\n    When it fails.")
    ('Do it.', {'Raises': {'ValueError': 'ValueError\\n    When it fails.'}})
    """
    summary, *parts = re.split(r"^(\w+)\n-+\n", inspect.cleandoc(docstring), flags=re.MULTILINE)
    sections = {}
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
        sections[title] = {re.match(r"\w+", entry)[0]: entry.strip() for entry in entries}  # type: ignore[index]
    return summary.strip(), sections
