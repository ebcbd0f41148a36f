"""A report as a single HTML file: the template filled in, written, and framed for a notebook."""

from __future__ import annotations

import base64
import hashlib
from abc import ABC, abstractmethod
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushrank._base.files import atomic_write
from pushrank.report.lists import RankedLists

if TYPE_CHECKING:
    from pushrank.report.pictures import Picture


class Page(ABC):
    """What is shown as a page: by default rankings of labelled rows."""

    template = "template.html"

    @abstractmethod
    def context(self) -> dict[str, object]:
        """Return the names that the template uses."""

    def pictures(self) -> list[Picture]:
        """Return the pictures, by default those of the lists of models."""
        from pushrank.report.pictures import pictures

        lists: RankedLists = self.lists  # type: ignore[attr-defined]
        return pictures(lists)

    def _repr_html_(self) -> str:
        # In such a frame of a notebook no script can run, and no link can leave it.
        style = "width: 100%; height: 80vh; border: 0"
        return f'<iframe sandbox srcdoc="{escape(render(self))}" style="{style}" title="report"></iframe>'


def write_report(data: Page, path: Path) -> None:
    """Write the report of a :class:`ReportData` or :class:`MeasurementData`, whole or not at all.

    ImportError is raised when jinja2 or matplotlib is not installed, OSError when the file cannot be written.
    """
    page = render(data)
    with atomic_write(path) as draft:
        draft.write_text(page, encoding="utf-8")


def render(data: Page) -> str:
    """Return the report as an HTML page; equal data give equal pages."""
    # The page holds no script, its policy refuses every request and any style but its own, and all texts of
    # the data are escaped by the template.
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined

        drawn = data.pictures()
    except ImportError as error:
        raise ImportError(
            f'a report needs jinja2 and matplotlib ({error}); get them with: pip install "pushrank[report]".'
        ) from error
    blocks: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    loader = PackageLoader(__package__, "")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, **blocks)
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    # A browser applies only the style with this hash, whatever a cell of the data may smuggle into the page.
    style_hash = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    return environment.get_template(data.template).render(
        **data.context(), pictures=drawn, style=style, style_hash=style_hash
    )
