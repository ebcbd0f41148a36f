"""Fits to be killed; a process that is forked after the import of this has all the code that they need."""

import multiprocessing
import sys
import tempfile
from pathlib import Path

import numpy as np

from pushrank import RankBoost, save

RUN = {"subsample": 0.7, "random_state": 5, "early_stopping": True, "n_iter_no_change": 60}


def large():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 10))
    return X, (X @ rng.normal(size=10) + rng.normal(size=4_000) > 1.0).astype(int)


def fit_in_parts(ranker, X, y, file, every, before_part=lambda: None):
    """Fit, saving every so many rounds: what the guide shows."""
    rounds = ranker.n_estimators
    ranker.set_params(warm_start=True)
    for n_estimators in [*range(every, rounds, every), rounds]:
        if getattr(ranker, "n_iter_", 0) < n_estimators:
            before_part()
            save(ranker.set_params(n_estimators=n_estimators).fit(X, y), file)
    return ranker


def fit(file, parent):
    """Fit in a process that is killed, where each part waits for the parent's word."""

    def ask():
        parent.send("ready")
        parent.recv()

    fit_in_parts(RankBoost(**RUN, n_estimators=200), *large(), file, 20, ask)


def started(file):
    """Return a process that will fit, and the connection on which it asks before each part."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    here, there = context.Pipe()
    process = context.Process(target=fit, args=(file, there))
    process.start()
    return process, here


if "pytest" not in sys.modules:
    # This is the process that others are forked from; where tests are collected nothing needs to be fitted.
    with tempfile.TemporaryDirectory() as folder:
        fit_in_parts(RankBoost(**RUN, n_estimators=2), *large(), Path(folder) / "model", 1)
