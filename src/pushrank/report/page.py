"""The whole page: one file, complete in itself."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from pushrank._io import atomic_write
from pushrank.report.chart import how_to_read
from pushrank.report.context import ReportData
from pushrank.report.curves import curves
from pushrank.report.markup import Markup, tag, together
from pushrank.report.model_tables import differences, list_differences, measures, verdict
from pushrank.report.row_tables import disagreements, top_rows

SECTIONS = {
    "models": "Models compared",
    "curves": "Curves",
    "top": "Top rows",
    "disagree": "Disagreements",
    "settings": "Data and settings",
}


def write_report(findings: ReportData, path: Path) -> None:
    """Write the report, whole or not at all.

    Raises
    ------
    OSError
        When the file cannot be written; nothing is left in its place.
    """
    page = render(findings)
    with atomic_write(path) as beside:
        beside.write_text(page, encoding="utf-8")


def render(findings: ReportData) -> Markup:
    """Return the report as an HTML page; equal findings give equal pages."""
    style, script = _asset("page.css"), _asset("charts.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        # whatever a cell may hold, no request leaves the page and no other script runs
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{findings.title}: which model is best at the top?"),
        tag("style", style),
    )
    body = tag(
        "body",
        tag("a", "To the findings", href="#main", class_="skip"),
        tag(
            "header",
            tag("h1", f"{findings.title}: which model is best at the top?"),
            tag(
                "p",
                f"{len(findings.y):,} rows, {int(findings.y.sum()):,} of them hits ({findings.meaning}).",
                class_="quiet",
            ),
            tag(
                "nav",
                tag("ul", *(tag("li", tag("a", name, href=f"#{key}")) for key, name in SECTIONS.items())),
                aria_label="Sections",
            ),
        ),
        tag("main", *_main(findings), id="main"),
        tag("script", script),
    )
    return together(Markup("<!DOCTYPE html>\n"), tag("html", head, body, lang="en"), Markup("\n"))


def _main(findings: ReportData) -> list[Markup]:
    charts = (chart.render() for chart in curves(findings))
    return [
        verdict(findings),
        tag(
            "section",
            tag("h2", "The models compared", id="models"),
            measures(findings),
            differences(findings),
            list_differences(findings),
        ),
        tag("section", tag("h2", "Curves", id="curves"), how_to_read(), *charts),
        tag("section", top_rows(findings)),
        tag("section", disagreements(findings)),
        tag("section", _settings(findings)),
    ]


def _settings(findings: ReportData) -> Markup:
    entries = [
        part for name, value in findings.settings.items() for part in (tag("dt", name), tag("dd", value))
    ]
    warned = [
        tag("li", f"{model}: {line}")
        for model, lines in findings.warnings.items()
        for line in dict.fromkeys(lines)
    ]
    return together(
        tag("h2", "Data and settings", id="settings"),
        tag("dl", *entries),
        *([tag("h3", "Warnings of the fits"), tag("ul", *warned)] if warned else []),
    )


def _asset(name: str) -> Markup:
    return Markup("\n" + files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _policy(style: str, script: str) -> str:
    hashed = (
        base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        for text in (style, script)
    )
    of_style, of_script = hashed
    return f"default-src 'none'; style-src 'sha256-{of_style}'; script-src 'sha256-{of_script}'"
