"""A report as a single HTML file: the template filled in, written, and framed for a notebook."""

from __future__ import annotations

import base64
import hashlib
from abc import ABC, abstractmethod
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from pushrank._base.files import atomic_write


class Page(ABC):
    """What is shown as a page, by a template."""

    template: str

    @abstractmethod
    def context(self) -> dict[str, object]:
        """Return the names that the template uses."""

    def _repr_html_(self) -> str:
        # In such a frame of a notebook no script can run, and no link can leave it.
        style = "width: 100%; height: 80vh; border: 0"
        return f'<iframe sandbox srcdoc="{escape(render(self))}" style="{style}" title="report"></iframe>'


def write_report(data: Page, path: Path) -> None:
    """Write the page of a :class:`ReportData` or a :class:`WatchData`, whole or not at all.

    ImportError is raised when jinja2 is not installed, OSError when the file cannot be written.
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
    except ImportError as error:
        need = 'a report needs jinja2, which is not installed: pip install "pushrank[report]".'
        raise ImportError(need) from error
    blocks: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    loader = PackageLoader(__package__, "")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, **blocks)
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    # A browser applies only the style with this hash, whatever a cell of the data may smuggle into the page.
    style_hash = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    template = environment.get_template(data.template)
    return template.render(data.context(), style=style, style_hash=style_hash)
