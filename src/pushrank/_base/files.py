"""Files that are written whole or not at all, and the types that a model file may hold."""

import glob
import json
import os
import re
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

__all__ = ["MODEL_FORMAT", "atomic_write", "read_facts", "written_by"]


def clear_partial(folder: Path, names: str = "*") -> None:
    """Remove what killed processes left of files whose names match a pattern."""
    for left in folder.glob(f".{names}.*.partial*"):
        # Another process may be writing one that is younger than an hour.
        if time.time() - left.stat().st_mtime > 3600.0:
            left.unlink(missing_ok=True)


@contextmanager
def atomic_write(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path in the same folder, and rename it to ``path`` when the block succeeds."""
    # Where `path` is a link, the file that it points to is replaced. The temporary file is removed where the
    # block fails, and one that a killed process left by the next write, once it is an hour old.
    path = path.resolve() if path.is_symlink() else path
    prefix, suffix = f".{path.name}.", f".partial{path.suffix}"
    clear_partial(path.parent, glob.escape(path.name))
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=path.parent)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        with draft.open("r+b") as finished:
            os.fsync(finished.fileno())
        # Files of mkstemp are private, but a result should be as readable as any other file of its user.
        if not private:
            mask = os.umask(0)
            os.umask(mask)
            draft.chmod(0o666 & ~mask)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


VERSION_FILE = "pushrank.txt"
"""The file in the archive that skops does not write: the version that wrote it, and a digest of the rest."""
FACTS_FILE = "facts.json"
"""The numbers of a model's ``Scorer``, and what ``pushrank show`` prints where ``pushrank fit`` wrote it."""
FACTS_FORMAT = 1
"""The format of these facts. Models with facts of another one are loaded whole."""
TRUSTED_TYPES: set[str] = set()
"""The names of pushrank's types that a model file may hold. The module that defines a type registers it."""


MODEL_FORMAT = 6
"""The format of what ``pushrank fit`` writes; models of another one are refused."""


def trust_in_files(*types: Any) -> None:
    """Let model files hold instances of types, which run nothing of the file when they are built."""
    TRUSTED_TYPES.update(f"{member.__module__}.{member.__qualname__}" for member in types)


def digest(archive: zipfile.ZipFile) -> str:
    """Return a digest of the names, sizes and checksums of all members but that of the version."""
    members = sorted((item.filename, item.file_size, item.CRC) for item in archive.infolist())
    return sha256(repr([member for member in members if member[0] != VERSION_FILE]).encode()).hexdigest()


def written_by(data: bytes) -> str:
    """Return the version that wrote a file, "0" for the first, whose files do not name it."""
    # A ValueError says that members would inflate without measure, or are not those that were saved together.
    with zipfile.ZipFile(BytesIO(data)) as archive:
        # Reading a member ends at the size that the archive states, and compares its checksum. pushrank
        # compresses nothing, and skops makes files of JSON and numbers at most some ten times smaller.
        inflated = sum(member.file_size for member in archive.infolist())
        if inflated > 20 * len(data) + (1 << 24):
            raise ValueError(f"{len(data):,} bytes that would become {inflated:,}")
        is_named = VERSION_FILE in archive.namelist()
        by_version, *digests = archive.read(VERSION_FILE).decode().split("\n") if is_named else ["0"]
        if digests not in ([], [digest(archive)]):
            raise ValueError("its parts are not those that were saved together")
        return by_version


def is_later(by_version: str, installed: str, length: int = 3) -> bool:
    """Return whether the version that wrote a file is later than this; those on the way to one are equal."""
    versions = (re.findall(r"\d+", text)[:length] for text in (by_version, installed))
    wrote, reads = ([*map(int, numbers)] for numbers in versions)
    return wrote > reads


def read_facts(path: Path) -> dict[str, Any]:
    """Return what a model file notes of its model, nothing of damaged files and those of later versions."""
    try:
        data = path.read_bytes()
        later = is_later(written_by(data), version("pushrank"))
        with zipfile.ZipFile(BytesIO(data)) as archive:
            facts = dict(json.loads(archive.read(FACTS_FILE))) if FACTS_FILE in archive.namelist() else {}
        return facts if facts.get("format") == FACTS_FORMAT and not later else {}
    except (OSError, ValueError, zipfile.BadZipFile):
        return {}
