"""Results in notebooks: HTML that needs no style sheet, script or network."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

# The width of the picture of an interval, and its margins, in pixels.
WIDTH, MARGIN = 120, 6


class Picture(str):
    """HTML that is written here, and not escaped."""

    __slots__ = ()


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table of texts, which are escaped, and of pictures, which are not."""
    # A header of no words would be read out as one: an empty cell is none.
    head = "".join(f"<th>{escape(cell)}</th>" if cell else "<td></td>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{c if isinstance(c, Picture) else escape(c)}</td>" for c in row) + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_sentences(*sentences: str) -> str:
    """Return paragraphs of escaped text."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def interval_pictures(
    values: Sequence[float], lows: Sequence[float], highs: Sequence[float], *, zero: bool = False
) -> list[Picture]:
    """Return a point in its interval for each value, all on one scale, which may hold a line at zero."""
    ends = np.array([*lows, *highs, *values, *([0.0] if zero else [])])
    # A measure without an interval has NaN for its ends, and gets a point alone.
    ends = ends[np.isfinite(ends)]
    start, reach = ends.min(initial=np.inf), np.ptp(ends) if len(ends) else 0.0

    def x(value: float) -> str:
        share = (value - start) / reach if reach > 0.0 else 0.5
        return f"{MARGIN + (WIDTH - 2 * MARGIN) * share:.1f}"

    pictures = []
    for value, low, high in zip(values, lows, highs, strict=True):
        marks = f'<path d="M{x(0.0)} 0V16" stroke="currentColor" stroke-dasharray="2 2"/>' * zero
        if np.isfinite([low, high]).all():
            marks += f'<path d="M{x(low)} 8H{x(high)}" stroke="currentColor" stroke-width="2"/>'
        if np.isfinite(value):
            marks += f'<circle cx="{x(value)}" cy="8" r="4" fill="currentColor"/>'
        svg = f'<svg width="{WIDTH}" height="16" viewBox="0 0 {WIDTH} 16" aria-hidden="true">{marks}</svg>'
        pictures.append(Picture(svg))
    return pictures
