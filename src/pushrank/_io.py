"""Files that are written whole or not at all, and the types that a model file may hold."""

import glob
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, and rename it to ``path`` when the block succeeds.

    Where ``path`` is a link, the file that it points to is replaced. The temporary file is removed where the
    block fails, and one that a killed process left by the next write, once it is an hour old.
    """
    path = path.resolve() if path.is_symlink() else path
    prefix, suffix = f".{path.name}.", f".partial{path.suffix}"
    for left in path.parent.glob(f"{glob.escape(prefix)}*{glob.escape(suffix)}"):
        # Another process may be writing one that is younger than an hour.
        if time.time() - left.stat().st_mtime > 3600.0:
            left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=path.parent)
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        with beside.open("r+b") as finished:
            os.fsync(finished.fileno())
        # Files of mkstemp are private, but a result should be as readable as any other file of its user.
        mask = os.umask(0)
        os.umask(mask)
        beside.chmod(0o666 & ~mask)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


TRUSTED_TYPES: set[str] = set()
"""The names of pushrank's types that a model file may hold. The module that defines a type registers it."""


def trust_in_files(*types: Any) -> None:
    """Let model files hold instances of types, which run nothing of the file when they are built."""
    TRUSTED_TYPES.update(f"{member.__module__}.{member.__qualname__}" for member in types)
