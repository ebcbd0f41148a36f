"""Files of rows that are only ever added to: whole, or refused."""

import json
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

from benchmarks.alert_state import mutated, run_child
from pushrank.monitoring import State

pytestmark = pytest.mark.fast


def begun(path, n=3):
    """Return a state with rows of two parts."""
    state = State(path, "a list", {"k": 2})
    state.append([(1, ["a", i]) for i in range(n)])
    state.append([(2, {"ü": None, "x": float("inf")})])
    return state


def content(state):
    return state.facts(), state.rows(1), state.rows(2), state.rows(3)


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_rows_come_back_and_are_forgotten_from_the_front(tmp_path, is_in_memory):
    path = None if is_in_memory else tmp_path / "a state?#%.db"
    state = begun(path)
    assert content(state) == ({"k": 2}, [["a", i] for i in range(3)], [{"ü": None, "x": float("inf")}], [])
    state.append([(2, "late")], forget_before=1)
    assert len(state.rows(1)) == 3
    state.append([(3, "new")], facts={"k": 3}, forget_before=2)
    expected = {"k": 3}, [], [{"ü": None, "x": float("inf")}, "late"], ["new"]
    assert content(state) == expected
    if path:
        state.close()
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
        state = State(path, "a list")
        assert content(state) == expected
    state.append([], forget_before=4)
    assert content(state)[1:] == ([], [], [])
    state.append([(4, 1)])
    assert state.rows(4) == [1]
    state.close()


def test_a_file_takes_the_room_of_what_is_kept(tmp_path):
    with closing(State(tmp_path / "s", "a list", {})) as state:
        sizes = []
        for part in range(40):
            state.append([(part, "x" * 100)] * 200, forget_before=part - 3)
            sizes.append((tmp_path / "s").stat().st_size)
    assert sizes[-1] == sizes[6]


def test_a_damaged_file_is_refused_or_whole(tmp_path):
    begun(tmp_path / "s", 200).close()
    with closing(State(tmp_path / "s", "a list")) as state:
        whole = content(state)
    data, rng, n_refused = (tmp_path / "s").read_bytes(), np.random.default_rng(0), 0
    for _ in range(120):
        (tmp_path / "s").write_bytes(mutated(data, rng)[1])
        try:
            with closing(State(tmp_path / "s", "a list")) as state:
                assert content(state) == whole
        except ValueError:
            n_refused += 1
    assert 60 < n_refused < 120


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM rows WHERE number = 4",
        "DELETE FROM rows WHERE number = 1",
        "DELETE FROM rows WHERE number = 2",
        "DELETE FROM rows",
        "UPDATE rows SET content = '[\"b\", 0]' WHERE number = 1",
        "UPDATE rows SET part = 2 WHERE number = 2",
        "UPDATE rows SET number = 9 WHERE number = 4",
        "UPDATE rows SET digest = (SELECT digest FROM rows WHERE number = 1) WHERE number = 2",
        "UPDATE rows SET content = x'ff' WHERE number = 3",
        "INSERT INTO rows SELECT 5, part, content, digest FROM rows WHERE number = 4",
        "UPDATE facts SET content = '{}'",
        "UPDATE head SET digest = ''",
        "UPDATE head SET content = replace(content, '\"end\": 4', '\"end\": 3')",
        "DELETE FROM head",
        "DROP TABLE facts",
    ],
)
def test_a_database_of_which_sqlite_sees_no_damage_is_refused(tmp_path, change):
    begun(tmp_path / "s").close()
    with closing(sqlite3.connect(tmp_path / "s", isolation_level=None)) as connection:
        connection.execute(change)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with pytest.raises(ValueError, match=r"no whole state of a list: .*Restore the file, or begin a new one"):
        State(tmp_path / "s", "a list")
    # It is not locked, and another may take its place.
    begun(tmp_path / "s").close()


def test_what_is_no_state_is_refused(tmp_path):
    path = tmp_path / "s"
    with pytest.raises(FileNotFoundError, match=r"'.*s'"):
        State(path, "a list")
    begun(path).close()
    with pytest.raises(ValueError, match="of kind 'a list' and format 2"):
        State(path, "audit")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE head SET content = replace(content, 'format\": 2', 'format\": 3')")
    with pytest.raises(ValueError, match=r"and format 3\. It was written by pushrank \d.*: install that ver"):
        State(path, "a list")
    path.write_text(json.dumps({"format": 1}) + "\n")
    with pytest.raises(ValueError, match="of format 1, lines of JSON"):
        State(path, "a list")
    for data in (b"", b"\0" * 5000, b"other", b"[1]"):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="no whole state of a list"):
            State(path, "a list")
    with pytest.raises(OSError, match=r"denied.*test_what"):
        State(tmp_path, "a list")
    begun(path).close()
    (tmp_path / "other").hardlink_to(path)
    with pytest.raises(ValueError, match="several names"):
        State(path, "a list")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no forks and keeps files that are in use")
def test_a_file_in_use_is_for_one_process_and_one_object(tmp_path, monkeypatch):
    monkeypatch.setattr("pushrank.monitoring.state.SECONDS", 0.0)
    path = tmp_path / "s"
    (tmp_path / "link").symlink_to("s")
    with closing(begun(path)) as state:
        (tmp_path / "hard").hardlink_to(path)
        for name in ("s", "link", "hard"):
            for facts in (None, {}):
                with pytest.raises(BlockingIOError, match=r"another process .*(s|hard)'"):
                    State(tmp_path / name, "a list", facts)
        (tmp_path / "hard").unlink()

        def appends():
            with pytest.raises(RuntimeError, match="fork"):
                state.append([(1, "fork")])
            state.close()

        assert run_child(appends) == 0
        state.append([(2, "b")])
        path.rename(tmp_path / "moved")
        for _ in range(2):
            with pytest.raises(RuntimeError, match="was removed or replaced"):
                state.append([(2, "c")])
            path.touch()
    with closing(State(tmp_path / "moved", "a list")) as state:
        assert state.rows(2)[1:] == ["b"]


def test_a_commit_of_which_some_pages_are_written_is_refused_where_its_journal_is_lost(tmp_path):
    path, page = tmp_path / "s", 4096
    with closing(begun(path, 60)) as state:
        old, before = content(state), path.read_bytes()
        state.append([(2, "x")], facts={"k": 3}, forget_before=2)
        new, after = content(state), path.read_bytes()
    places = [at for at in range(0, len(after), page) if before[at : at + page] != after[at : at + page]]
    found = []
    for written in range(2 ** len(places)):
        pages = bytearray(before.ljust(len(after), b"\0"))
        for number, at in enumerate(places):
            if written >> number & 1:
                pages[at : at + page] = after[at : at + page]
        path.write_bytes(pages)
        try:
            with closing(State(path, "a list")) as state:
                found.append(content(state))
        except ValueError:
            found.append(None)
    assert (found[0], found[-1]) == (old, new)
    assert len(found) >= 16
    # The page of SQLite's own head may be either where the length of the file stays the same.
    assert [rows for rows in found[1:-1] if rows not in (None, old, new)] == []


def test_a_file_that_is_begun_anew_is_not_undone_by_a_journal_of_the_one_before(tmp_path):
    with closing(begun(tmp_path / "s", 60)) as state:
        state._connection.execute("PRAGMA cache_size = 1")
        state._connection.execute("BEGIN IMMEDIATE")
        # What does not fit in the memory comes to the disk, after the journal.
        state._connection.executemany(
            "INSERT INTO rows VALUES (?, 3, ?, '')", [(i, "x" * 500) for i in range(99, 999)]
        )
        journal = (tmp_path / "s-journal").read_bytes()
    for path in (tmp_path / "s", tmp_path / "new"):
        path.with_name(f"{path.name}-journal").write_bytes(journal)
        begun(path).close()
        with closing(State(path, "a list")) as state:
            assert len(state.rows(1)) == 3


def test_nothing_is_added_where_the_disk_is_full(tmp_path):
    with closing(begun(tmp_path / "s")) as state:
        before = content(state)
        # A part of the rows finds room.
        state._connection.execute("PRAGMA max_page_count = 8")
        with pytest.raises(OSError, match=r"No space left on device: '.*s'"):
            state.append([(3, "x" * 1000)] * 100, facts={})
        assert content(state) == before
        state._connection.execute("PRAGMA max_page_count = 1000")
        state.append([(3, "x")])
    with closing(State(tmp_path / "s", "a list")) as state:
        assert content(state) == (*before[:3], ["x"])


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_threads_add_rows_one_after_the_other(tmp_path, is_in_memory):
    """Eight threads add, read and look: no row is lost or comes twice, and the digests are whole."""
    path = None if is_in_memory else tmp_path / "state.db"
    state, interval = State(path, "a list", {"k": 0}), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(state.append, [(of, [of, row])]) for of in range(8) for row in range(25)]
            futures += [pool.submit(of) for of in (state.check, state.facts) for _ in range(50)]
            futures += [pool.submit(state.rows, of) for of in range(8)]
        for future in futures:
            future.result()
    finally:
        sys.setswitchinterval(interval)
    found = sorted(row for of in range(8) for row in state.rows(of))
    assert found == [[of, row] for of in range(8) for row in range(25)]
    state.close()
    if path is not None:
        State(path, "a list").close()


OPENS = """
import sys, time
from pushrank.monitoring import State
for _ in range(60):
    state = State(sys.argv[1], "a list")
    state.append([(1, "a row")])
    state.close()
    time.sleep(0.02)
"""


def test_of_two_processes_that_open_at_once_one_waits(tmp_path):
    """Both wait for the lock before they read, so that neither has a lock that the other one needs."""
    file = tmp_path / "state.db"
    State(file, "a list", {}).close()
    both = [subprocess.Popen([sys.executable, "-c", OPENS, str(file)]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    state = State(file, "a list")
    assert len(state.rows(1)) == 120
    state.close()
