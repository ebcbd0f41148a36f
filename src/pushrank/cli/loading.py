"""Saved models: by what their files note, where that is enough to score by, or whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pushrank._base.files import read_facts
from pushrank.cli.saved import RowScorer, StoredScorer

if TYPE_CHECKING:
    from pushrank.cli.pipelines import SavedModel


def load_model(path: Path) -> RowScorer:
    """Return a model by what its file notes, or whole where that is not enough."""
    return StoredScorer.load(path) or load_whole(path)


def digest_of(path: Path) -> str:
    """Return what a model's file notes as its digest; files of earlier versions have none."""
    return str(read_facts(path).get("digest", ""))


def load_whole(path: Path) -> SavedModel:
    """Return a model with its pipeline, whose libraries take seconds to import."""
    from pushrank.cli.pipelines import SavedModel

    return SavedModel.load(path)
