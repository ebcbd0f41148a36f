"""The only module that imports matplotlib, and the look that all pictures share."""

from collections.abc import Mapping
from typing import Any

__all__ = ["LINE_STYLES", "OKABE_ITO", "REFERENCE", "count_ticks", "finish"]

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours that people with any kind of colour vision can distinguish (Okabe and Ito, 2008)."""

LINE_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
"""Curves differ in their dashes too, so that no two differ in colour alone."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")

# The gid of the lines that have a colour of the cycle.
CURVE = "pushrank curve"
# The gid of the lines to compare with.
REFERENCE = "pushrank reference"


def axes_or_new(ax: Any, *, figsize: tuple[float, float] = (6.4, 4.2)) -> Any:
    """Return the axes to draw in: those of the user, or of a new figure."""
    try:
        from matplotlib.axes import Axes
    except ImportError as error:
        raise ImportError(
            'drawing needs matplotlib, which is not installed; get it with: pip install "pushrank[plot]". '
            "The numbers of a display are there without it: see Display.compute."
        ) from error
    if isinstance(ax, Axes):
        return ax
    if ax is not None:
        several = f"{type(ax).__name__} of {len(ax)}" if hasattr(ax, "__len__") else type(ax).__name__
        raise TypeError(f"ax must be one matplotlib Axes, got {several}; pass one, such as axes[0].")
    # Only a new figure needs pyplot, which chooses a backend when it is imported.
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=figsize, layout="constrained")
    return ax


def curve_style(ax: Any, name: str | None, chosen: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the keywords of the next curve: the next free colour and dash, and what the user chose."""
    number = sum(line.get_gid() == CURVE for line in ax.get_lines())
    # After a round of colours, each colour gets another dash.
    dash = number + number // len(OKABE_ITO)
    long_names = {"c": "color", "ls": "linestyle", "lw": "linewidth"}
    user_style = {long_names.get(key, key): value for key, value in (chosen or {}).items()}
    look = {"color": OKABE_ITO[number % len(OKABE_ITO)], "linestyle": LINE_STYLES[dash % len(LINE_STYLES)]}
    return {**look, "linewidth": 2.0, "label": name, "gid": CURVE, **user_style}


def draw_band(ax: Any, x: Any, low: Any, high: Any, line: Any) -> Any:
    """Shade an interval around a line, in its colour; without an interval, return None."""
    if low is None or high is None:
        return None
    return ax.fill_between(x, low, high, color=line.get_color(), alpha=0.12, linewidth=0.0)


def draw_reference(ax: Any, x: Any, y: Any, label: str) -> None:
    """Draw a thin grey line to compare with, once in each axes; labels that begin with _ are not shown."""
    if not any(line.get_gid() == REFERENCE and line.get_label() == label for line in ax.get_lines()):
        look = {"color": "#767676", "linewidth": 1.0, "linestyle": (0, (2, 2)), "zorder": 1}
        ax.plot(x, y, label=label, gid=REFERENCE, **look)


def finish(ax: Any, legend: str) -> None:
    """Remove the parts of the axes that carry no information, and name the curves."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    handles, labels = ax.get_legend_handles_labels()
    if labels:
        # Curves come before the references that they are compared with.
        references = {line.get_label() for line in ax.get_lines() if line.get_gid() == REFERENCE}
        curves_first = sorted(zip(handles, labels, strict=True), key=lambda pair: pair[1] in references)
        look = {"framealpha": 0.85, "edgecolor": "none", "fontsize": "small"}
        ax.legend(*zip(*curves_first, strict=True), loc=legend, **look)


def count_ticks(axis: Any) -> None:
    """Write the ticks of a logarithmic axis of counts as plain numbers with thousands marked."""
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axis.set_minor_formatter("")


def percent_ticks(*axes: Any) -> None:
    """Write the ticks of axes of shares as percentages."""
    for axis in axes:
        axis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")
