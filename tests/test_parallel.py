"""Threads: whoever ends last lifts the limits of a process, and compiled functions keep their mathematics."""

import os
import threading

import numpy as np
import pytest
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from pushrank import PNormPush
from pushrank._parallel import compiled, one_blas_thread
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
