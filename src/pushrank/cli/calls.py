"""``pushrank score --budget 210/week,60/day``: the rows of a day to act on, by a file of what was spent."""

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank.budgets import Budget
from pushrank.cli.alert import time_column
from pushrank.cli.errors import InputError, refusing
from pushrank.cli.forms import ScoreOptions
from pushrank.cli.loading import digest_of
from pushrank.cli.options import rows_for
from pushrank.cli.saved import RowScorer
from pushrank.cli.score import Scored, row_names
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.labels import labels_so_far, positive_so_far
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Table
from pushrank.monitoring import MovingList


def calls_of_today(model: Path, saved: RowScorer, scored: Scored, config: ScoreOptions) -> NDArray[np.bool_]:
    """Return which rows to act on, which are on disk, and tell how many and what is left."""
    table, path = scored.table, config.state or model.with_suffix(".calls.db")
    rows = _named(table, saved, config) if len(table) else ([], [])
    with refusing(), closing(_opened(path, model, saved, scored, config)) as calls:
        if config.labels is not None:
            written = TextFormat.parse(config.read or ())
            labelled = Source(config.labels, written).table(may_be_empty=True)
            if len(labelled):
                calls.label(_labels(labelled, saved, config), *_named(labelled, saved, config))
        chosen = calls.choose(scored.scores, *rows)
        told = calls.words if len(table) else f"No rows, so that no call is spent. Before: {calls.words}"
        scored.tell(told, **calls.facts)
    return chosen


def _opened(path: Path, model: Path, saved: RowScorer, scored: Scored, config: ScoreOptions) -> MovingList:
    """Return what was spent, or begin it: by itself, or for another model or budget by --past."""
    budget, digest, is_new = Budget.parse(str(config.budget)), digest_of(model), not path.exists()
    if is_new:
        # Of two processes that begin one file the second one is refused.
        path.touch(exist_ok=False)
        calls = MovingList(budget, path, model=digest)
        scored.tell(f"{path} begins; calls of days to come are spent by it.")
    else:
        calls = MovingList.open(path)
    is_other = calls.model != digest or calls.budget != budget
    try:
        if is_other and config.past is None:
            of = f"another model, or by --budget {calls.budget}"
            raise InputError(f"{path} was begun by {of}: begin a new span by --past FILE, rows of past days.")
        if config.past is not None:
            if not is_other and calls.facts["date"] is not None:
                raise InputError(f"{path} has begun by this model and budget: leave --past out.")
            past = saved.table(rows_for(model, config.past, config.read))
            has_labels = (config.label or saved.label) in past.header.names
            y = _labels(past, saved, config) if has_labels else None
            calls.budget, calls.model = budget, digest
            calls.fit(saved.scores(saved.features(past)), *_named(past, saved, config), y)
    except BaseException:
        calls.close()
        raise
    return calls


def _named(table: Table, saved: RowScorer, config: ScoreOptions) -> tuple[Any, Any]:
    """Return when rows came, and what they are called."""
    return table.times(time_column(saved, config.time), with_zones=True), row_names(
        config.id, table, needed=True
    )


def _labels(table: Table, saved: RowScorer, config: ScoreOptions) -> Any:
    """Return 1 of hits, 0 of others, and NaN of rows without a label yet."""
    column = table.labels(config.label or saved.label or None)
    return labels_so_far(column, positive_so_far(column, saved.positive))
