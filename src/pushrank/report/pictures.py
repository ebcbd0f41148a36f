"""The pictures of a report: displays drawn as SVG, in colours that the page chooses."""

import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import Any, NamedTuple

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

from pushrank.plots import RocLeftEdgeDisplay, TopCurveDisplay
from pushrank.plots.axes import LINE_STYLES, OKABE_ITO, REFERENCE, count_ticks, finish
from pushrank.report.lists import RankedLists

N_LEADERS = 2
"""Curves that are drawn thick, and with their intervals: those of the two models compared."""
GREY = "#BBBBBB"
"""The curves of models that are not named."""
MAX_TABLE_ROWS, MAX_TICKS = 14, 4
FIGSIZE = (5.2, 3.5)
"""In inches, so that text of 10 points is legible on a phone, where a picture is 360 pixels wide, and not too
large on a desk."""
STYLE = {
    # Text stays text, in the page's fonts and in a quarter of the bytes of its outlines.
    "svg.fonttype": "none",
    "path.simplify_threshold": 0.2,
}
LOOK = ("stroke", "stroke-dasharray", "stroke-width")


class Curve(NamedTuple):
    """The name of a line, and the attributes of SVG that it is drawn with."""

    name: str
    look: dict[str, str]


class Picture(NamedTuple):
    """Curves of all models, with some of their numbers for readers who cannot see them."""

    key: str
    title: str
    caption: str
    svg: str
    legend: list[Curve]
    place: str
    share: str
    models: list[str]
    numbers: list[tuple[str, list[float]]]


def pictures(lists: RankedLists) -> list[Picture]:
    """Return the pictures of all models, of which the legend names those that the page is about."""
    models = lists.names
    budget, n_rows, n_hits = lists.depth, len(lists.y), int(lists.y.sum())
    base_rate = f"{100 * lists.base_rate:.3g} %"
    which = ", for the first two models named" if len(models) > 1 else ""
    precision = {model: TopCurveDisplay.compute(lists.y, lists.scores[model]) for model in models}
    gains = {
        model: TopCurveDisplay.compute(lists.y, lists.scores[model], quantity="recall") for model in models
    }
    edge = {model: RocLeftEdgeDisplay.compute(lists.y, lists.scores[model]) for model in models}
    main_edge = edge[lists.main]
    # On the left edge the budget is a line: all points where false alarms and hits add up to it.
    false_alarms = np.linspace(max(0, budget - n_hits), min(budget, n_rows - n_hits), 200)
    return [
        _picture(
            "precision",
            "How many of the first rows are hits?",
            "Precision at k, for every k: the further right, the further down the list. "
            f"Shaded{which}: 95 % intervals (Wilson's, at each k by itself). On the right every model ends "
            f"at the share of hits among all rows, {base_rate}.",
            precision,
            lists.named,
            [f"{k:,.0f}" for k in precision[lists.main].k],
            "precision",
            (budget, [budget, budget], [0.0, 1.0]),
        ),
        _picture(
            "gains",
            "How much of the list must be looked at to find them all?",
            "Cumulative gains: a list in random order would give a straight line from corner to corner, a "
            f"perfect one would be at the top after {base_rate} of the list.",
            gains,
            lists.named,
            [f"{100 * part:.3g} %" for part in gains[lists.main].fraction],
            "recall",
            (budget, [budget / n_rows] * 2, [0.0, 1.0]),
        ),
        _picture(
            "left-edge",
            "How many hits are found before the first false alarms?",
            "The left edge of the ROC curve: rows that are no hits count as false alarms, here as a share of "
            f"all {main_edge.n_negative:,} such rows. At 0, the hits that stand above all of those.",
            edge,
            lists.named,
            [f"{100 * x:.3g} % ({n:,})" for x, n in zip(main_edge.fpr, main_edge.false_alarms, strict=True)],
            "tpr",
            (budget, false_alarms / (n_rows - n_hits), (budget - false_alarms) / n_hits),
            place="false positive rate (false alarms)",
        ),
    ]


def _picture(
    key: str,
    title: str,
    caption: str,
    displays: Mapping[str, Any],
    named: Sequence[str],
    places: Sequence[str],
    share: str,
    line_at_budget: tuple[int, Any, Any],
    place: str | None = None,
) -> Picture:
    names: dict[str, str] = {}

    def draw(ax: Any) -> None:
        for n, (model, display) in enumerate(displays.items()):
            is_leader = n < N_LEADERS
            look: dict[str, Any] = (
                {"linewidth": 2.0, "zorder": 3} if is_leader else {"linewidth": 1.4, "zorder": 2}
            )
            if n >= len(named):
                look |= {"color": GREY, "linestyle": "-", "zorder": 1.5}
            band = {"band": is_leader} if hasattr(display, "low") else {}
            # The names of the models stand in the legend next to the picture, where long ones wrap.
            display.plot(ax, name=f"curve {n}", curve_kwargs=look, **band)
            if n < len(named):
                names[f"curve {n}"] = model
            elif n == len(named):
                names[f"curve {n}"] = f"other models ({len(displays) - n})"
        budget, x, y = line_at_budget
        label = f"the first {budget:,} rows"
        ax.plot(x, y, color="#767676", linewidth=1.2, label=label, gid=REFERENCE, zorder=1)
        for line in ax.get_lines():
            label = line.get_label()
            if line.get_gid() == REFERENCE and not label.startswith("_"):
                names[label] = label
            line.set_gid(label)
        ax.get_legend().remove()

    ax, svg, looks = _drawn(key, draw)
    shares = [getattr(displays[model], share) for model in named]
    legend = [Curve(name, looks[gid]) for gid, name in names.items()]
    labels = (place or ax.get_xlabel(), ax.get_ylabel())
    return Picture(key, title, caption, svg, legend, *labels, list(named), _numbers(places, shares))


def over_time(
    key: str,
    title: str,
    caption: str,
    periods: Sequence[str],
    lines: Mapping[str, Sequence[float]],
    label: str,
    *,
    is_log: bool = False,
) -> Picture:
    """Return the picture of lines over periods."""

    def draw(ax: Any) -> None:
        for n, values in enumerate(lines.values()):
            look = {"color": OKABE_ITO[n], "linestyle": LINE_STYLES[n], "linewidth": 2.0 - 0.6 * n}
            look["marker"] = "." if len(periods) == 1 else ""
            ax.plot(np.arange(len(periods)), values, gid=f"curve {n}", **look)
        shown = np.unique(np.linspace(0, len(periods) - 1, MAX_TICKS).round().astype(int))
        ax.set_xticks(shown, [periods[at] for at in shown])
        ax.set_ylabel(label)
        if is_log:
            ax.set_yscale("log")
            count_ticks(ax.yaxis)
        else:
            ax.set_ylim(bottom=0.0)
        finish(ax, "best")

    _, svg, looks = _drawn(key, draw)
    legend = [Curve(name, looks[f"curve {n}"]) for n, name in enumerate(lines)]
    numbers = _numbers(periods, list(lines.values()))
    return Picture(key, title, caption, svg, legend, "period", label, list(lines), numbers)


def _numbers(places: Sequence[str], values: Sequence[Sequence[float]]) -> list[tuple[str, list[float]]]:
    """Return some of the values of curves by their places."""
    chosen = np.unique(np.linspace(0, len(places) - 1, MAX_TABLE_ROWS).round().astype(int))
    return [(places[at], [float(of_curve[at]) for of_curve in values]) for at in chosen]


def _drawn(key: str, draw: Callable[[Any], None]) -> tuple[Any, str, dict[str, dict[str, str]]]:
    """Return axes that were drawn in, as an element of a page, and the look of each line by its id."""
    # The key as a salt of matplotlib's hashes gives each picture ids that no other of the page has, and equal
    # data equal bytes.
    with matplotlib.style.context(["default", STYLE, {"svg.hashsalt": key}]):
        figure = Figure(figsize=FIGSIZE, layout="constrained")
        ax: Any = figure.subplots()
        draw(ax)
        drawn = StringIO()
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(drawn, format="svg", transparent=True, metadata=metadata)
    return ax, *_for_page(drawn.getvalue(), key)


def _for_page(drawn: str, key: str) -> tuple[str, dict[str, dict[str, str]]]:
    """Return matplotlib's drawing as an element of a page, and the look of each line by its id."""
    # The style sheet of the page replaces that of the drawing, which ends its first definitions.
    _, _, svg = drawn.partition("</defs>")
    # The policy of the page refuses styles within elements. As attributes they are allowed, and the style
    # sheet can change them, as it does for dark screens.
    svg = re.sub(r' style="([^"]*)"', _as_attributes, svg).replace("xlink:href", "href")
    looks = {
        name: {look: value for look, value in re.findall(r'([\w-]+)="([^"]*)"', path) if look in LOOK}
        for name, path in re.findall(r'<g id="([^"]*)">\s*<path ([^>]*)>', svg)
    }
    # Matplotlib numbers its groups in the same way in every picture; only what is referred to needs an id.
    used = set(re.findall(r"#(\w+)", svg))
    svg = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", svg)
    # A hundredth of a point is finer than any screen.
    svg = re.sub(r"(\.\d\d)\d+", r"\1", re.sub(r"\s*\n\s*", " ", svg))
    width, height = FIGSIZE
    head = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {72 * width:g} {72 * height:g}" role="img"'
    return f'<svg {head} aria-labelledby="{key}-title">{svg}', looks


def _as_attributes(style: re.Match[str]) -> str:
    """Return the attributes that say what a style says, but for the font."""
    said = (declaration.partition(":") for declaration in style[1].split(";"))
    return "".join(f' {name.strip()}="{value.strip()}"' for name, _, value in said if "font" not in name)
