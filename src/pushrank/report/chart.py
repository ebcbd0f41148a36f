"""A picture of curves as SVG that stands by itself, with the numbers for the script that makes it move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.report.axis import places, ticks
from pushrank.report.markup import Markup, data, tag
from pushrank.report.table import number, table

SIZE = 1000
"""The plot's own coordinates, across and down."""
LOW, HIGH = -0.02, 1.03
"""The shares at the ends of the upright axis: curves at 0 and at 1 are seen whole."""
COLOURS, DASHES = 8, 7
LEADERS = 2
"""The curves that are drawn thick, and with their intervals."""
TABLE_ROWS = 14
KEYS = (
    "Use the arrow keys to read the curves, Home and End to jump, + and − to zoom, 0 to see the whole. "
    "With a pointer, point to read and drag to zoom."
)


@dataclass(frozen=True)
class Series:
    """A curve of shares between 0 and 1, and an interval for each."""

    name: str
    y: Floats
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True)
class Chart:
    """Curves over the same places.

    Parameters
    ----------
    key : str
        Part of the element's id.
    title, caption : str
        What is seen, in short and at length.
    x : ndarray of shape (m,)
        The places, ascending.
    scale : {"linear", "log", "log1p"}
        The scale of the places.
    x_title, y_title : str
        What the axes are.
    place : str
        What a place is called when it is read, with ``{}`` for its value.
    series : sequence of Series
        The curves, the two that matter first.
    percent : bool, default=False
        Whether the places are shares.
    """

    key: str
    title: str
    caption: str
    x: NDArray[np.generic]
    scale: str
    x_title: str
    y_title: str
    place: str
    series: Sequence[Series]
    percent: bool = False

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last place."""
        return float(self.x[0]), float(self.x[-1])

    def written(self, value: float) -> str:
        """Return a place in words."""
        return f"{100 * value:.3g} %" if self.percent else f"{value:,.6g}"

    def render(self) -> Markup:
        """Return the picture as a figure."""
        heading = f"{self.key}-title"
        return tag(
            "figure",
            tag("h3", self.title, id=heading),
            tag(
                "div",
                *(tag("button", name, type="button") for name in ("Zoom in", "Zoom out", "Show the whole")),
                class_="tools", role="group", aria_label=f"Zoom: {self.title}", hidden=True,
            ),
            tag("p", self.y_title, class_="y-title quiet"),
            tag("div", self._y_axis(), self._area(heading), self._x_axis(), class_="frame"),
            tag("p", self.x_title, class_="x-title quiet"),
            tag("p", class_="place"),
            self._legend(),
            tag("figcaption", self.caption),
            self._table(),
            data(self._numbers()),
            class_="chart", aria_labelledby=heading,
        )  # fmt: skip

    def _area(self, heading: str) -> Markup:
        view = {
            "class_": "plot",
            "viewBox": f"0 {SIZE * (1 - HIGH):g} {SIZE} {SIZE * (HIGH - LOW):g}",
            "preserveAspectRatio": "none",
        }
        drawn = [
            *(self._band(s) for s in reversed(range(min(LEADERS, len(self.series))))),
            *(self._curve(s) for s in reversed(range(len(self.series)))),
        ]
        return tag(
            "div",
            tag("svg", *self._grid(), class_="grid", aria_hidden="true"),
            tag("svg", *drawn, aria_hidden="true", **view),
            tag("svg", class_="cursor", aria_hidden="true"),
            class_="area", role="img", aria_labelledby=heading,
        )  # fmt: skip

    def _points(self, y: Floats) -> list[str]:
        across = SIZE * places(self.x, self.scale, self.span)
        return [f"{u:.1f} {SIZE * (1.0 - v):.1f}" for u, v in zip(across, y, strict=True)]

    def _curve(self, s: int) -> Markup:
        return tag("path", d="M" + "L".join(self._points(self.series[s].y)), class_=_look(s), data_series=s)

    def _band(self, s: int) -> Markup | None:
        series = self.series[s]
        if series.low is None or series.high is None:
            return None
        outline = self._points(series.high) + self._points(series.low)[::-1]
        return tag("path", d="M" + "L".join(outline) + "Z", class_=f"band m{s % COLOURS}", data_series=s)

    def _x_ticks(self) -> list[tuple[float, float]]:
        values = ticks(self.scale, self.span)
        return list(zip(values, places(np.array(values), self.scale, self.span), strict=True))

    def _grid(self) -> list[Markup]:
        upright = [
            tag("line", x1=f"{100 * at:.3f}%", x2=f"{100 * at:.3f}%", y1="0", y2="100%")
            for _, at in self._x_ticks()
        ]
        level = [
            tag("line", x1="0", x2="100%", y1=_down(y), y2=_down(y)) for y in ticks("linear", (0.0, 1.0))
        ]
        return upright + level

    def _x_axis(self) -> Markup:
        texts = (
            tag("text", self.written(value), x=f"{100 * at:.3f}%", y="1.1em") for value, at in self._x_ticks()
        )
        return tag("svg", *texts, class_="axis x-axis", aria_hidden="true")

    def _y_axis(self) -> Markup:
        texts = (tag("text", f"{100 * y:g} %", x="92%", y=_down(y)) for y in ticks("linear", (0.0, 1.0)))
        return tag("svg", *texts, class_="axis y-axis", aria_hidden="true")

    def _legend(self) -> Markup:
        items = (
            tag(
                "li",
                tag(
                    "label",
                    tag("input", type="checkbox", checked=True, disabled=True, hidden=True),
                    tag(
                        "svg",
                        tag("line", x1="0", x2="100%", y1="50%", y2="50%", class_=_look(s)),
                        class_="swatch", aria_hidden="true",
                    ),
                    tag("span", series.name),
                    tag("output", aria_live="off"),
                ),
            )
            for s, series in enumerate(self.series)
        )  # fmt: skip
        return tag("ul", *items, class_="legend", aria_label="Curves")

    def _table(self) -> Markup:
        """Return some of the numbers as a table, for whoever cannot or would not see the curves."""
        chosen = np.unique(np.linspace(0, len(self.x) - 1, TABLE_ROWS).round().astype(int))
        numbers = table(
            f"{self.title} {self.y_title}",
            (self.x_title, *(series.name for series in self.series)),
            (
                (
                    self.written(float(self.x[place])),
                    *(number(f"{100 * series.y[place]:.1f} %") for series in self.series),
                )
                for place in chosen
            ),
        )
        return tag("details", tag("summary", "The numbers of this picture"), numbers)

    def _numbers(self) -> dict[str, object]:
        return {
            "x": [round(float(value), 6) for value in self.x],
            "scale": self.scale,
            "percent": self.percent,
            "place": self.place,
            "low": LOW,
            "high": HIGH,
            "keys": KEYS,
            "series": [
                {"name": s.name, "y": [round(float(y), 4) for y in s.y], "colour": number % COLOURS}
                for number, s in enumerate(self.series)
            ],
        }


def _down(share: float) -> str:
    return f"{100 * (HIGH - share) / (HIGH - LOW):.3f}%"


def _look(s: int) -> str:
    """Return the classes of a curve: no two of the first 56 share colour and dash."""
    look = f"curve m{s % COLOURS} d{(s + s // COLOURS) % DASHES}"
    return f"{look} lead" if s < LEADERS else look


def how_to_read() -> Markup:
    """Return what keys and pointer do."""
    return tag("p", KEYS, class_="quiet keys")
