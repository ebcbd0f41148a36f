"""Commands print as wide as they do where nobody says how wide: pytest-xdist says 80 columns."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_stated_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
