"""``pushrank alert``: rows are decided on as they come, within a budget."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank.cli.errors import refusing, say, warn
from pushrank.cli.forms import AlertOptions, alert_state
from pushrank.cli.loading import digest_of, load_model
from pushrank.cli.saved import RowScorer, rows_hash
from pushrank.cli.score import Scored, row_names, tell_all, time_column, write_rows
from pushrank.cli.screen import print_json
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Table
from pushrank.monitoring.alerts import AlertThreshold


def begin(model: Path, rows: Source, config: AlertOptions) -> None:
    """Begin the file of what is decided with past rows, which the model must not have learnt from."""
    saved, state = load_model(model), config.state or alert_state(model)
    table = saved.table(rows)
    cap, name = config.cap
    groups = _groups(name, table) if name else None
    features = saved.features(table)
    if saved.training.get("rows_hash") == rows_hash(features):
        warn(f"{saved.name} was fitted to these very rows: their scores, and the threshold, are too high.")
    with refusing():
        alert = AlertThreshold(config.budget or 1, state, audit=config.n_audited, at_most=cap)
        alert.model, alert.group_name = digest_of(model), name
        times = table.times(time_column(saved, config.time), with_zones=True)
        alert.fit(saved.scores(features), times, groups).close()
    if config.as_json:
        print_json({"state": str(state), "past_rows": len(table), **_facts_of(alert)})
        return
    said = f"{state}: alerts for {alert.budget.words}, by {len(table):,} past rows."
    say(f"{state}: {_whole(alert)}" if alert.comes_whole_ else said)
    if alert.audit:
        say(f"Drawn from other rows: {alert.audit:,} of them, each with a chance of {alert.chance_:.3g}.")


def decide(model: Path, rows: Source, config: AlertOptions) -> None:
    """Write the rows with their decisions, which are on disk before."""
    saved, state = load_model(model), config.state or alert_state(model)
    table = saved.table(rows, may_be_empty=True)
    features = saved.features(table)
    scored = Scored(table, features, saved.scores(features))
    # Decisions are on disk before rows are written. Where that fails, the next run gets them from there.
    decided = _decided(state, saved, digest_of(model), scored, config)
    order = scored.ranking
    results = {"rank": np.arange(len(order)) + 1, "score": scored.scores[order]}
    results |= {name: values[order] for name, values in decided.items()}
    write_rows(results, order, saved, scored, config.columns, config.output)
    tell_all(scored, {"rows": len(table)}, config)


def _decided(
    state: Path, saved: RowScorer, digest: str, scored: Scored, config: AlertOptions
) -> dict[str, NDArray[Any]]:
    """Return the threshold of each row's moment, whether to act on it and, with an audit, why."""
    table, scores = scored.table, scored.scores
    # A quiet hour sends names of columns and no rows.
    if not len(table):
        with refusing(), closing(AlertThreshold.open(state, digest)) as alert:
            audited = {"acted": scores.astype(str), "chance": scores} if alert.audit else {}
            scored.facts.update(alerts=0, audited=0, left=int(alert.left_), **_facts_of(alert))
        return {"threshold": scores, "alert": scores.astype(bool)} | audited
    names = row_names(config.id, table)
    # No other command may decide by the same file until it is closed.
    with refusing(), closing(AlertThreshold.open(state, digest)) as alert:
        group = _groups(alert.group_name, table) if alert.at_most else None
        returned = dict.fromkeys(("return_threshold", "return_acted", "return_chance"), True)
        when = time_column(saved, config.time)
        times = table.times(when, with_zones=True)
        act, thresholds, acted, chance = alert.decide(scores, times, names, group=group, **returned)
    decided, drawn, n_drawn = {"threshold": thresholds, "alert": act}, "", 0
    if alert.audit:
        decided |= {"acted": acted, "chance": chance}
        n_drawn = int((acted == "audit").sum())
        drawn = f", {n_drawn:,} of them drawn for the audit"
    # While fewer rows come than the budget has, every row is an alert.
    threshold = float(alert.threshold_) if alert.left_ and np.isfinite(alert.threshold_) else None
    now = "" if threshold is None else f"; the threshold is {threshold:.4g} now"
    n = alert.budget.n - alert.audit
    n_periods = len(alert.budget.periods(table.times(when)).labels)
    latest = f" in the last {alert.budget.per}" * (n_periods > 1)
    scored.tell(
        f"{act.sum():,} of {len(table):,} rows are alerts{drawn}; {alert.left_:,} of {n:,} "
        f"{alert.budget.each} are left{latest}{now}.",
        alerts=int(act.sum()),
        audited=n_drawn,
        left=int(alert.left_),
        threshold=threshold,
        **_facts_of(alert),
    )
    if alert.comes_whole_:
        scored.tell(f"Here {_whole(alert)}")
    return decided


def _facts_of(alert: AlertThreshold) -> dict[str, Any]:
    """Return what a file of alerts was begun with."""
    return {
        "budget": str(alert.budget),
        "by_score": alert.budget.n - alert.audit,
        "audit": alert.audit,
        "chance": alert.chance_ if alert.audit else None,
        "at_most": None if alert.at_most is None else f"{alert.at_most}:{alert.group_name}",
        "whole": alert.comes_whole_,
    }


def _groups(name: str, table: Table) -> NDArray[np.object_]:
    """Return the value of each row in the column of a limit; rows without one are limited by none."""
    groups = table.texts(name, "at-most", "")
    if n_missing := int(np.sum(pd.isna(groups))):
        warn(f"{n_missing:,} rows of {table.path} have no {name}, and are limited by none.")
    return groups


def _whole(alert: AlertThreshold) -> str:
    """Return how rows are decided whose periods come whole."""
    per, n = alert.budget.per, alert.budget.n - alert.audit
    return (
        f"nearly all past rows of a {per} have one time, so that it comes whole: its first {n:,} by score "
        f"are alerts. Give all rows of a {per} in one file."
    )
