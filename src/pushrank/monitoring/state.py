"""Files of rows that are only ever added to: what was decided, so that no answer is lost or given twice."""

import errno
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import finalize

from pushrank._base.files import atomic_write

__all__ = ["State"]

FORMAT = 2
"""The format of the file; 1 was lines of JSON."""
TABLES = """PRAGMA journal_mode = MEMORY; BEGIN; CREATE TABLE facts (content TEXT);
CREATE TABLE head (content TEXT, digest TEXT);
CREATE TABLE rows (number INTEGER PRIMARY KEY, part INTEGER, content TEXT, digest TEXT);
CREATE INDEX parts ON rows (part); INSERT INTO facts VALUES (''); INSERT INTO head VALUES ('', ''); COMMIT"""
# The database alone holds what was committed, so that a journal that is lost is no loss of rows. One that
# persists is overwritten in place: no length of a file changes, which would be slow to bring to the disk.
# The lock comes first: of two processes that both read before, one would be refused at once.
SETTINGS = """BEGIN EXCLUSIVE; PRAGMA locking_mode = EXCLUSIVE; COMMIT; PRAGMA journal_mode = PERSIST;
PRAGMA synchronous = EXTRA"""
FAILURES = {"FULL": errno.ENOSPC, "READONLY": errno.EACCES, "CANTOPEN": errno.EACCES, "IOERR": errno.EIO}
"""Errors of SQLite that say nothing of what a file holds."""
SECONDS = 10.0
"""How long to wait for a process that decides by the same file; most have ended by then."""


class State:
    r"""Rows in a file, to which more are added: each time all of them, or none.

    Parameters
    ----------
    path : path-like or None
        The file; None keeps the rows in memory.
    kind : str
        What the rows are of, such as "an alert threshold"; a file of another kind is refused.
    facts : object, default=None
        What is known apart from the rows, of which JSON can be made: a new file begins with it, and replaces
        one that is there. None opens the file that is there.

    Raises
    ------
    ValueError
        When the file is damaged, of another format, or no state of this kind.
    OSError
        When there is none, it cannot be written, or another process holds it.

    Notes
    -----
    The file is an SQLite database: rows are on disk when :meth:`append` returns. Each row has a digest of
    itself and of the digest before, and the head has their number and the last digest, so that a file with
    rows lost, changed or moved is refused. Opening reads all rows.

    Until :meth:`close` a lock of the database keeps other processes out, by whatever name they open it, and a
    forked copy is refused. (On POSIX systems a process that itself opens and closes the file, such as to copy
    it, lets go of all its locks: leave that to another program.)

    Examples
    --------
    >>> state = State(None, "a list", {"k": 2})
    >>> state.append([(1, "a"), (1, "b"), (2, "c")])
    >>> state.append([], facts={"k": 3}, forget_before=2)
    >>> state.facts(), state.rows(1), state.rows(2)
    ({'k': 3}, [], ['c'])
    """

    _way_out = "Restore the file, or begin a new one, which does not know what was decided."

    def __init__(self, path: str | os.PathLike[str] | None, kind: str, facts: Any = None) -> None:
        self.path = None if path is None else Path(path).resolve()
        self.kind, self._process = kind, os.getpid()
        # A connection has one transaction: threads add rows one after the other.
        self._lock = RLock()
        if self.path is None:
            self._fill(":memory:", facts)
            return
        if facts is not None:
            if self.path.exists():
                # What is there may be damaged, or no state, but not in use.
                with suppress(ValueError):
                    State(self.path, kind).close()
            with atomic_write(self.path) as draft:
                self._fill(draft.as_uri(), facts)
                self._connection.close()
                # A journal that a killed process left belongs to the file that goes.
                self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
        self._inode = self.path.stat().st_ino
        with self._refusing():
            self._connect(f"{self.path.as_uri()}?mode=rw")
            try:
                self._connection.executescript(SETTINGS)
                self._check_rows(self.path)
                self.check()
            except BaseException:
                self._connection.close()
                raise

    def facts(self) -> Any:
        """Return what is known apart from the rows."""
        return json.loads(self._one("SELECT content FROM facts"))

    def rows(self, part: int) -> list[Any]:
        """Return the rows of a part, such as a day, in the order in which they were added."""
        query = "SELECT content FROM rows WHERE part = ? ORDER BY number"
        with self._lock:
            return [json.loads(content) for (content,) in self._connection.execute(query, [part])]

    def append(
        self, rows: Iterable[tuple[int, Any]], *, facts: Any = None, forget_before: int | None = None
    ) -> None:
        """Add rows, each with its part: all are on disk when this returns, and none after an exception.

        Facts take the place of what was known. Rows that were added before all those of the part
        ``forget_before`` and of later ones are removed.
        """
        contents = [(part, json.dumps(row)) for part, row in rows]
        execute = self._connection.execute
        with self._lock, self._refusing(), self._connection:
            self.check()
            execute("BEGIN IMMEDIATE")
            head = json.loads(self._one("SELECT content FROM head"))
            for part, content in contents:
                head["last"], head["end"] = _digest(head["last"], part, content), head["end"] + 1
                execute("INSERT INTO rows VALUES (?, ?, ?, ?)", (head["end"], part, content, head["last"]))
            if forget_before is not None:
                kept = self._one("SELECT min(number) FROM rows WHERE part >= ?", forget_before)
                start = head["end"] if kept is None else kept - 1
                if start > head["start"]:
                    first = self._one("SELECT digest FROM rows WHERE number = ?", start)
                    execute("DELETE FROM rows WHERE number <= ?", [start])
                    head |= {"start": start, "first": first}
            self._write_head(head, facts)

    def check(self) -> None:
        """Raise RuntimeError in a fork, or where the file was replaced; undo what was left unfinished."""
        if os.getpid() != self._process:
            raise RuntimeError("another process, which this one is a fork of, holds the state; open it here.")
        if self.path is not None and not (self.path.exists() and self.path.stat().st_ino == self._inode):
            raise RuntimeError(f"{self.path} was removed or replaced while it was in use; open it again.")
        with self._lock:
            if self._connection.in_transaction:
                self._connection.rollback()

    def close(self) -> None:
        """Let go of the file, so that another process can open it."""
        if os.getpid() == self._process:
            # The journal is empty; where it cannot be removed it does no harm.
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    def _one(self, query: str, *values: Any) -> Any:
        """Return the first value of the first row that a query finds."""
        with self._lock:
            return self._connection.execute(query, values).fetchone()[0]

    def _connect(self, name: str) -> None:
        """Open a database, in which no transaction begins by itself."""
        options: dict[str, Any] = {"uri": True, "timeout": SECONDS, "isolation_level": None}
        self._connection = sqlite3.connect(name, **options, check_same_thread=False)
        # Python warns of connections that nobody closes, such as those of states in memory.
        finalize(self, self._connection.close)

    def _fill(self, name: str, facts: Any) -> None:
        """Write a state without rows to an empty database."""
        with self._refusing():
            self._connect(name)
            self._connection.executescript(TABLES)
            head = {"kind": self.kind, "format": FORMAT, "pushrank": version("pushrank")}
            self._write_head(head | {"start": 0, "end": 0, "first": "", "last": ""}, facts)

    def _write_head(self, head: dict[str, Any], facts: Any) -> None:
        """Write which rows there are, and facts where they are given."""
        if facts is not None:
            content = json.dumps(facts)
            head["facts"] = _digest(content)
            self._connection.execute("UPDATE facts SET content = ?", [content])
        content = json.dumps(head)
        self._connection.execute("UPDATE head SET content = ?, digest = ?", [content, _digest(content)])

    def _check_rows(self, path: Path) -> None:
        """Raise ValueError unless all is there as it was written."""
        # SQLite's check is of how a database is built, and lets changed rows through.
        if (found := self._one("PRAGMA integrity_check")) != "ok":
            raise ValueError(found)
        content, digest = self._connection.execute("SELECT content, digest FROM head").fetchone()
        head = json.loads(content)
        if head["format"] > FORMAT:
            self._way_out = f"It was written by pushrank {head['pushrank']}: install that version or later."
        if (head["kind"], head["format"]) != (self.kind, FORMAT):
            raise ValueError(f"it is of kind {head['kind']!r} and format {head['format']}")
        if digest != _digest(content) or head["facts"] != _digest(self._one("SELECT content FROM facts")):
            raise ValueError("its head is not as it was written")
        last, end = head["first"], head["start"]
        for number, part, content, digest in self._connection.execute("SELECT * FROM rows ORDER BY number"):
            last, end = _digest(last, part, content), end + 1
            if (number, digest) != (end, last):
                raise ValueError(f"row {number} is not as it was written")
        if (end, last) != (head["end"], head["last"]):
            raise ValueError(f"it ends with row {end}, and row {head['end']} was written")
        if path.stat().st_nlink > 1:
            # By another name nobody would find the journal that a killed process has left.
            raise ValueError("it has several names (hard links), and must have one")

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Raise OSError or ValueError, which name the file, for errors of SQLite and what it holds."""
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, LookupError) as error:
            name = getattr(error, "sqlite_errorname", "_").split("_")[1]
            if name == "BUSY":
                reason = "another process decides by this state; wait for its end, or split the budget"
                raise BlockingIOError(errno.EAGAIN, reason, str(self.path)) from error
            if name in FAILURES:
                raise OSError(FAILURES[name], os.strerror(FAILURES[name]), str(self.path)) from error
            reason = str(error)
            if name == "NOTADB" and self.path is not None and self.path.read_bytes()[:1] == b"{":
                reason = "it is of format 1, lines of JSON, or no state at all"
            raise ValueError(
                f"{self.path} is no whole state of {self.kind}: {reason}. {self._way_out}"
            ) from error


def _digest(*parts: object) -> str:
    """Return a checksum of values, which is of all rows before where the first is theirs."""
    return blake2b("\n".join(map(str, parts)).encode(), digest_size=16).hexdigest()
