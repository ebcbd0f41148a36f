"""Threads leave no limit behind, compiled functions keep their mathematics, and where they are compiled."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from pushrank import PNormPush
from pushrank._base.parallel import compiled, one_blas_thread
from pushrank.solvers import SOLVERS
from samples import overlapping

pytestmark = pytest.mark.fast


X, Y = overlapping()


@pytest.fixture
def two_blas_threads():
    """Let BLAS use two threads, as in a process where nobody has limited them."""
    disown = getattr(OpenBLASController, "clear_controlling_thread", lambda **_: None)  # threadpoolctl 3.8
    with threadpool_limits(2):
        disown(force=True)
        yield
        disown(force=True)


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.skipif(os.cpu_count() == 1, reason="one processor has one thread anyway")
@pytest.mark.usefixtures("two_blas_threads")
def test_fits_that_overlap_leave_the_process_its_threads(monkeypatch):
    first_inside, second_inside, first_done = (threading.Event() for _ in range(3))
    solve = SOLVERS["lbfgs"]
    inside = []

    def in_turn(*arguments):
        inside.append(blas_threads())
        if threading.current_thread().name == "first":
            first_inside.set()
            second_inside.wait(30)
        else:
            second_inside.set()
            first_done.wait(30)
            inside.append(blas_threads())
        return solve(*arguments)

    monkeypatch.setitem(SOLVERS, "lbfgs", in_turn)
    before = blas_threads()
    assert min(before) == 2
    fit, names = PNormPush().fit, ("first", "second")
    first, second = (threading.Thread(target=fit, args=(X, Y), name=name) for name in names)
    first.start()
    first_inside.wait(30)
    second.start()
    first.join()
    first_done.set()
    second.join()
    assert inside == [[1] * len(before)] * 3
    assert blas_threads() == before


@pytest.mark.skipif(os.cpu_count() == 1, reason="one processor has one thread anyway")
@pytest.mark.usefixtures("two_blas_threads")
def test_the_last_thread_lifts_the_limit_while_the_first_lives():
    first_in, second_in, first_out, done = (threading.Event() for _ in range(4))

    def first():
        with one_blas_thread():
            first_in.set()
            second_in.wait(30)
        first_out.set()
        done.wait(30)

    def second():
        first_in.wait(30)
        with one_blas_thread():
            second_in.set()
            first_out.wait(30)

    before = blas_threads()
    assert min(before) == 2
    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    threads[1].join()
    found = blas_threads()
    done.set()
    threads[0].join()
    assert found == before


@compiled()
def overflows(values):
    total = 0.0
    for value in values:
        total += value
    return not np.isfinite(total)


@compiled(fastmath=True)
def fast_caller(values):
    return overflows(values)


def test_a_function_keeps_its_mathematics_where_a_fast_one_compiles_it():
    values = np.full(4, 1e308)
    # This function may assume that nothing overflows, and compiles the other one.
    fast_caller(values)
    assert overflows(values)


LOOP = """
from pushrank._base.parallel import compiled

@compiled()
def double(a):
    return a + a
"""
RUN = """
import contextlib, io, json, os, sys, tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pushrank._base import parallel as _parallel

for line in sys.stdin:
    source, os.environ["HOME"], tempfile.tempdir, _parallel.config.CACHE_DIR, cpu = json.loads(line)
    _parallel.config.CPU_NAME = cpu
    # As in a fresh process, whose imports would take longer than all of this.
    _parallel._temporary_folder.cache_clear()
    _parallel._Announcement.is_made = False
    spec = spec_from_file_location("pushrank.loops", source)
    loops = sys.modules["pushrank.loops"] = module_from_spec(spec)
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        spec.loader.exec_module(loops)
        result = loops.double(1.5)
    print(json.dumps([result, loops.double.stats.cache_path, errors.getvalue().splitlines()]), flush=True)
"""


@pytest.fixture(scope="module")
def process():
    """Yield a process that compiles a loop for each line that it reads, and writes where modes allow it."""
    if os.name == "nt":
        pytest.skip("modes of folders are those of POSIX")
    # The superuser may write everywhere, but for one without this capability.
    as_user = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    if as_user and not shutil.which("setpriv"):
        pytest.skip("the superuser can write everywhere")
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("NUMBA", "XDG"))}
    command = [*as_user, sys.executable, "-c", RUN]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def loops(process, tmp_path):
    """Return a function that runs a loop of a folder which cannot be written to, with its cache and log."""
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    for folder in (home, temporary):
        folder.mkdir()
    source = home / "loops.py"
    source.write_text(LOOP)
    home.chmod(0o555)

    def run(named="", temporary=temporary, cpu=None):
        process.stdin.write(json.dumps([*map(str, (source, home, temporary, named)), cpu]) + "\n")
        process.stdin.flush()
        result, folder, lines = json.loads(process.stdout.readline())
        assert result == 3.0
        return folder, lines

    yield run
    for path in (tmp_path, *tmp_path.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)


def test_without_a_folder_that_can_be_written_to_one_line_says_where_loops_are_compiled(loops, tmp_path):
    folder, [line] = loops()
    assert folder.startswith(f"{tmp_path}/temporary/pushrank-compiled-{os.getuid()}-")
    assert line.startswith(f"Compiling pushrank.loops.double, and more as is needed, in {tmp_path}")
    assert "numba's own folders cannot be written to. Set NUMBA_CACHE_DIR" in line
    # The next process finds what this one has compiled.
    assert loops() == (folder, [])


def test_a_named_folder_is_read_though_it_cannot_be_written_to(loops, tmp_path):
    shipped = tmp_path / "shipped"
    assert loops(shipped)[1] == []
    files = sorted(path.name for path in shipped.rglob("*.nb?"))
    assert len(files) == 2
    for path in (shipped, *shipped.iterdir()):
        path.chmod(0o555)
    # The home can be written to, where numba would compile the loop again.
    (tmp_path / "home").chmod(0o755)
    folder, lines = loops(shipped)
    assert folder.startswith(f"{tmp_path}/temporary/pushrank-compiled-")
    assert lines == []
    for lines in (1, 0):
        found = loops(shipped, cpu="generic")
        assert found[0] == folder
        assert len(found[1]) == lines
        assert not lines or f"{shipped} has no such code for this processor, and cannot be" in found[1][0]
    assert sorted(path.name for path in shipped.rglob("*.nb?")) == files


def test_code_is_not_taken_from_a_folder_that_others_may_write_to(loops):
    folder, _ = loops()
    shared = Path(folder).parent
    shared.chmod(0o770)
    other, [line] = loops()
    assert not other.startswith(str(shared))
    assert str(Path(other).parent) in line


def test_where_nothing_can_be_written_to_the_line_says_that_all_is_compiled_again(loops, tmp_path):
    folder, [line] = loops(temporary=tmp_path / "nosuch")
    assert folder is None
    assert "for this process alone: numba's own folders cannot be written to." in line
