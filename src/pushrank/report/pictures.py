"""The pictures of a report: our displays, drawn as SVG that takes its colours from the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, NamedTuple
from xml.etree import ElementTree

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

from pushrank._numeric import Floats
from pushrank.plots import CumulativeGainsDisplay, PrecisionAtKDisplay, RocLeftEdgeDisplay
from pushrank.plots._axes import REFERENCE
from pushrank.report.lists import RankedLists

N_LEADERS = 2
"""The curves that are drawn thick, and with their intervals: those of the two models compared."""
MAX_TABLE_ROWS = 14
FIGSIZE = (5.2, 3.5)
"""In inches, so that text of 10 points is legible on a phone, where a picture is 360 pixels wide, and not too
large on a desk."""
STYLE = {
    "svg.fonttype": "none",  # text as text: in the page's fonts, and a quarter of the bytes
    "svg.hashsalt": "pushrank",  # equal data, equal bytes
    "path.simplify_threshold": 0.2,
}
SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"


class Curve(NamedTuple):
    """The name of a line and how it is drawn, as attributes of SVG."""

    name: str
    look: dict[str, str]


class Picture(NamedTuple):
    """Curves of all models, with some of their numbers for whoever cannot see them."""

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
    """Return the pictures of all models, the best and its rival first."""
    models = list(dict.fromkeys([*lists.pair, *lists.names]))
    budget, n_rows, n_hits = lists.depth, len(lists.y), int(lists.y.sum())
    # on the left edge the budget is where false alarms and hits add up to it, within the picture
    false_alarms = np.linspace(max(0, budget - n_hits), min(budget, n_rows - n_hits), 200)
    base_rate = f"{100 * lists.base_rate:.3g} %"
    of_two = ", for the two models compared above" if len(models) > 1 else ""
    precision = {model: PrecisionAtKDisplay.compute(lists.y, lists.scores[model]) for model in models}
    gains = {model: CumulativeGainsDisplay.compute(lists.y, lists.scores[model]) for model in models}
    edge = {model: RocLeftEdgeDisplay.compute(lists.y, lists.scores[model]) for model in models}
    return [
        _picture(
            "precision",
            "How many of the first rows are hits?",
            "Precision at k, for every k: the further right, the further down the list. "
            f"Shaded{of_two}: 95 % intervals (Wilson's, at each k by itself). On the right every model ends "
            f"at the share of hits among all rows, {base_rate}.",
            precision,
            [f"{k:,}" for k in precision[lists.best].k],
            {model: display.precision for model, display in precision.items()},
            ([budget, budget], [0.0, 1.0], budget),
        ),
        _picture(
            "gains",
            "How much of the list must be looked at to find them all?",
            "Cumulative gains: a list in random order would give a straight line from corner to corner, a "
            f"perfect one would be at the top after {base_rate} of the list.",
            gains,
            [f"{100 * part:.3g} %" for part in gains[lists.best].fraction],
            {model: display.recall for model, display in gains.items()},
            ([budget / n_rows] * 2, [0.0, 1.0], budget),
        ),
        _picture(
            "left-edge",
            "How many hits are found before the first false alarms?",
            "The left edge of the ROC curve: rows that are no hits count as false alarms, here as a share of "
            f"all {edge[lists.best].n_negative:,} such rows. At 0, the hits that stand above all of those. "
            "Shaded: 95 % intervals, at each place by itself.",
            edge,
            [
                f"{100 * rate:.3g} % ({count:,})"
                for rate, count in zip(edge[lists.best].fpr, edge[lists.best].false_alarms, strict=True)
            ],
            {model: display.tpr for model, display in edge.items()},
            (false_alarms / (n_rows - n_hits), (budget - false_alarms) / n_hits, budget),
            place="false positive rate (false alarms)",
        ),
    ]


def _picture(
    key: str,
    title: str,
    caption: str,
    displays: Mapping[str, Any],
    places: Sequence[str],
    shares: Mapping[str, Floats],
    budget: tuple[Any, Any, int],
    place: str | None = None,
) -> Picture:
    names: dict[str, str] = {}
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=FIGSIZE, layout="constrained")
        ax: Any = figure.subplots()
        for n, (model, display) in enumerate(displays.items()):
            is_leader = n < N_LEADERS
            look = {"linewidth": 2.0, "zorder": 3} if is_leader else {"linewidth": 1.4, "zorder": 2}
            band = {"band": is_leader} if hasattr(display, "low") else {}
            # the models' own names stand beside the picture, where they wrap
            display.plot(ax, name=f"curve {n}", curve_kwargs=look, **band)
            names[f"curve {n}"] = model
        *line_at_budget, rows = budget
        label = f"the first {rows:,} rows"
        ax.plot(*line_at_budget, color="#767676", linewidth=1.2, label=label, gid=REFERENCE, zorder=1)
        for line in ax.get_lines():
            if line.get_gid() == REFERENCE and not line.get_label().startswith("_"):
                names[line.get_label()] = line.get_label()
            line.set_gid(line.get_label())
        ax.get_legend().remove()
        drawn = StringIO()
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg, looks = _for_page(drawn.getvalue(), key)
    chosen = np.unique(np.linspace(0, len(places) - 1, MAX_TABLE_ROWS).round().astype(int))
    return Picture(
        key,
        title,
        caption,
        svg,
        legend=[Curve(name, looks[gid]) for gid, name in names.items()],
        place=place or ax.get_xlabel(),
        share=ax.get_ylabel(),
        models=list(shares),
        numbers=[(places[at], [float(y[at]) for y in shares.values()]) for at in chosen],
    )


def _for_page(drawn: str, key: str) -> tuple[str, dict[str, dict[str, str]]]:
    """Return a drawing as an element of a page, and how the line of each group is drawn.

    A strict policy refuses styles in attributes, so that they become attributes of their own, which the
    page's style sheet may override, as it does by night. Fonts are the page's. Only what is referred to keeps
    an id, one that no other picture of the page has.
    """
    root = ElementTree.fromstring(drawn)  # noqa: S314 (it is matplotlib's, just written)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{SVG}metadata" or child.find(f"{SVG}style") is not None:
                parent.remove(child)
    for element in root.iter():
        for declaration in filter(None, element.attrib.pop("style", "").split(";")):
            name, _, value = declaration.partition(":")
            if not name.strip().startswith("font"):
                element.set(name.strip(), value.strip())
        if f"{XLINK}href" in element.attrib:
            element.set("href", element.attrib.pop(f"{XLINK}href"))
    looks: dict[str, dict[str, str]] = {
        group.attrib["id"]: {
            name: path.attrib[name]
            for name in ("stroke", "stroke-dasharray", "stroke-width")
            if name in path.attrib
        }
        for group in root.iter(f"{SVG}g")
        if "id" in group.attrib and (path := group.find(f"{SVG}path")) is not None
    }
    numbers: dict[str, str] = {}
    for element in root.iter():
        for name in ("href", "clip-path"):
            if found := re.search(r"#(\w+)", element.get(name, "")):
                numbered = numbers.setdefault(found[1], f"{key}-{len(numbers) + 1}")
                element.set(name, element.attrib[name].replace(found[1], numbered))
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in numbers:
            element.set("id", numbers[own])
        if "d" in element.attrib:
            rounded = re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.2f}", element.attrib["d"])
            element.set("d", " ".join(rounded.split()))
        element.text = (element.text or "").strip() or None
        element.tail = None
    for name in ("width", "height", "version"):
        del root.attrib[name]
    root.attrib |= {"role": "img", "aria-labelledby": f"{key}-title"}
    ElementTree.register_namespace("", SVG.strip("{}"))
    return ElementTree.tostring(root, encoding="unicode"), looks
