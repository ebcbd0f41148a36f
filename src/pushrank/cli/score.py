"""``pushrank score``: rank new rows, best first."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank._base.files import atomic_write
from pushrank._base.user_types import Floats
from pushrank.cli.errors import InputError, refusing, say, warn
from pushrank.cli.loading import digest_of, load_model, load_whole
from pushrank.cli.options import ScoreConfig
from pushrank.cli.saved import RowScorer
from pushrank.cli.source.format import DEFAULT_FORMAT, TextFormat
from pushrank.cli.source.open import file_kind
from pushrank.cli.source.table import Kind, Table
from pushrank.cli.write import CELLS_TYPED, write_table, writing

if TYPE_CHECKING:
    from pushrank.budgets import Budget
    from pushrank.cli.pipelines import SavedModel
    from pushrank.cli.promises import Promises
    from pushrank.monitoring.alerts import AlertThreshold

MAX_SAMPLED = 1000
"""Rows whose reasons are sampled at most: each is scored some thousand times."""
N_TRIED = 60
"""Values of a column that are tried in place of a row's own."""


def write_ranked(model: Path, data: Path, text_format: TextFormat, config: ScoreConfig) -> None:
    """Write the rows best first, after their rank and score."""
    # A file notes how to score, and no more: probabilities and reasons need the pipeline.
    whole = load_whole(model) if config.probability or config.reasons else None
    saved: RowScorer = whole or load_model(model)
    # New rows may be none, as on a quiet day; a file of alerts cannot begin with no past rows.
    table = saved.read(data, text_format, may_be_empty=config.budget is None)
    features = saved.features(table)
    scores = saved.scores(features)
    if config.budget is not None:
        _begin(config.budget, config, table, scores, digest_of(model))
        return
    # Rows with equal scores keep the order of the file.
    ranking, places = np.argsort(-scores, kind="stable"), np.arange(len(scores))[: config.top]
    piped = config.is_piped
    decided: dict[str, NDArray[Any]] = {}
    if config.audit is not None:
        decided = _draw(model, config, table, ranking)
        places = np.flatnonzero(decided["acted"][ranking] != "")
    elif config.is_limited and config.alert is None:
        places = _limited(config, table, scores, ranking)
    order = ranking[places]
    # As texts, numbers in Parquet and Excel could not be computed with.
    becomes_numbers = table.is_text and config.output.suffix.lower() in CELLS_TYPED
    rows = _cells(table, order, features[saved.numeric] if becomes_numbers else None, config.columns)
    results: dict[str, Any] = {"rank": places + 1, "score": scores[order]}
    if config.alert is not None:
        # Decisions are on disk before rows are written. Where that fails, the next run gets them from there.
        decided = _decide(config.alert, config, table, scores, digest_of(model))
    results |= {name: values[order] for name, values in decided.items()}
    if whole is not None and config.probability:
        results["probability"] = whole.probabilities(scores)[order]
    if whole is not None and config.reasons:
        results |= _reasons(whole, features, scores, order, config)
    promises = _promises(saved, scores, text_format, config)
    if config.promise:
        # An empty file has the column, too.
        hits_at = promises.of_lists[""].hits_at if promises else np.asarray
        results["promised_hits"] = hits_at(results["rank"])
    if config.output.suffix.lower() not in CELLS_TYPED:
        # Written scores are on the same side of thresholds, written or printed, as the scores are.
        printed = [] if saved.alert is None else [float(saved.alert.dividing(scores))]
        numbers = {name: results[name] for name in ("score", "threshold", "probability") if name in results}
        results |= zip(numbers, _in_few_digits(*numbers.values(), np.array(printed)), strict=False)
    is_same_kind = file_kind(config.output) == file_kind(table.path)
    write_table(_beside(results, rows), config.output, table.text_format if is_same_kind else DEFAULT_FORMAT)
    where = "on standard output" if piped else f"in {config.output}"
    say(f"{len(order):,} of {len(table):,} rows, best first, {where}.", err=piped)
    if saved.alert is not None and config.alert is None:
        say(saved.count_alerts(features, scores), err=piped)
    for sentence in promises.sentences(min(config.n_listed or len(order), len(order))) if promises else ():
        say(sentence, err=piped)


def _in_few_digits(*columns: Floats) -> list[Floats]:
    """Return numbers in as few digits, six or more, as keep all that differ apart and in their order."""
    different = np.unique(np.concatenate(columns))
    rounded, left = different.copy(), np.arange(len(different))
    # A number that others are rounded to, too, gets a digit more, and by 17 digits all doubles differ.
    for digits in range(6, 18):
        rounded[left] = [float(f"{number:.{digits}g}") for number in different[left]]
        ties = np.diff(rounded[left], prepend=np.nan, append=np.nan) == 0.0
        left = left[ties[1:] | ties[:-1]]
    return [rounded[np.searchsorted(different, column)] for column in columns]


def _begin(budget: int | Budget, config: ScoreConfig, table: Table, scores: Floats, digest: str) -> None:
    """Begin the file of what was decided with past rows."""
    from pushrank.monitoring.alerts import N_PAST, AlertThreshold

    with refusing():
        n_kept, audit = config.n_kept or N_PAST, config.n_audited
        at_most, groups = _cap(config, table)
        alert = AlertThreshold(budget, config.alert, n_kept=n_kept, audit=audit, at_most=at_most)
        alert.n_ahead, alert.model = config.n_ahead or 1, digest
        alert.group_name = next(iter(config.caps), "")
        alert.fit(scores, table.times(str(config.time), with_zones=True), groups).close()
    past = f"{len(table):,} past rows"
    said = f"{config.alert}: {alert.budget.words}, by what came at the same hour in {past}."
    say(f"{config.alert}: {_whole(alert)}" if alert.comes_whole_ else said)
    if audit:
        chance = (
            f"each with a chance of {alert.chance_:.3g}, and {alert.left_:,} are left for the highest scores"
        )
        say(f"{audit:,} of them, in the mean, are drawn from all rows below the threshold, {chance}.")


def _whole(alert: AlertThreshold) -> str:
    """Return how rows are decided whose periods come whole."""
    per, n = alert.budget.per, alert.budget.n - alert.audit
    return (
        f"nearly all past rows of a {per} have one time, so that it comes whole: its first {n:,} by score "
        f"are alerts. Give all rows of a {per} in one file."
    )


def _cap(config: ScoreConfig, table: Table) -> tuple[int | None, NDArray[np.object_] | None]:
    """Return how many rows of a group are alerts at most in a period, and each row's group."""
    name = next(iter(config.caps), None)
    if name is None:
        return None, None
    groups = table.texts(name, "at-most", "")
    if n_missing := int(np.sum(pd.isna(groups))):
        warn(f"{n_missing:,} rows of {table.path} have no {name}, and are limited by none.")
    return config.caps[name], groups


def _limited(
    config: ScoreConfig, table: Table, scores: Floats, ranking: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the places, by score, of the rows of the list that keeps limits."""
    from pushrank.limits import select

    limits = config.limits(table)
    with refusing():
        chosen = select(scores, int(config.top or 0), **limits)
    places = np.flatnonzero(np.isin(ranking, chosen))
    n_others = np.count_nonzero(places >= len(places))
    say(
        f"The limits replaced {n_others:,} of the first {len(places):,} rows by score.",
        err=config.is_piped,
    )
    return places


def _draw(
    model: Path, config: ScoreConfig, table: Table, ranking: NDArray[np.intp]
) -> dict[str, NDArray[Any]]:
    """Return which rows are on the list or drawn for the audit, and with what chance."""
    from pushrank.monitoring.audits import draw_audit

    k, names, places = int(config.top or 0), _names(config, table), np.argsort(ranking)
    times = None if config.time is None else table.times(config.time)
    named = {"row_id": names, "secret": _secret(model), "time": times}
    with refusing():
        acted, chance = draw_audit(-places, k, config.n_audited, **named)
    n_listed, n_drawn = (np.count_nonzero(acted == kind) for kind in ("list", "audit"))
    drawn = f"{n_drawn:,} are drawn from the {len(acted) - n_listed:,} others, each with a chance of "
    drawn += f"{chance.min(initial=1.0):.3g}, in place of those ranked {k - config.n_audited + 1:,} to {k:,}"
    say(f"{n_listed:,} rows are the first by score, and {drawn}.", err=config.is_piped)
    return {"acted": acted, "chance": chance}


def _secret(model: Path) -> str:
    """Return the secret that audits of a model's lists are drawn by; the first of them makes its file."""
    path = model.with_suffix(".audit.key")
    if not path.exists():
        with writing(path), atomic_write(path, private=True) as draft:
            draft.write_text(token_hex(), encoding="ascii")
    return path.read_text(encoding="ascii")


def _names(config: ScoreConfig, table: Table) -> pd.Series:
    """Return what each row is called: by --id, or else by its place in this very file."""
    if config.id is None:
        # The same file again has the same rows, and rows of any other are others, whatever they hold.
        content = table.frame.to_csv(index=False).encode("utf-8", "surrogatepass")
        if table.features is not None:
            content += table.features.data.tobytes() + table.features.indices.tobytes()
        file = sha256(content).hexdigest()[:32]
        return pd.Series([f"{file} {row}" for row in range(len(table))])
    return row_names_of(config.id, table)


def row_names_of(name: str | None, table: Table) -> pd.Series:
    """Return what each row is called by the column of --id."""
    if name is None:
        raise InputError("give --id COLUMN: what each row is called.")
    table.check(name, "id")
    names = table.column(name, Kind.TEXT).values
    if names.isna().any():
        raise InputError(f"--id {name!r} is empty in row {int(np.argmax(names.isna())) + 1}; fill it.")
    # A column of whole numbers that once had gaps is written as 1.0, 2.0 and so on.
    return names.str.replace(r"\.0+$", "", regex=True) if names.str.fullmatch(r"\d+(\.0+)?").all() else names


def _decide(
    state: Path, config: ScoreConfig, table: Table, scores: Floats, digest: str
) -> dict[str, NDArray[Any]]:
    """Return the threshold of each row's moment, whether to act on it and, with an audit, why."""
    from pushrank.monitoring.alerts import AlertThreshold

    # A quiet hour sends names of columns and no rows.
    if not len(table):
        with refusing(), closing(AlertThreshold.open(state, digest)) as alert:
            audited = {"acted": scores.astype(str), "chance": scores} if alert.audit else {}
        return {"threshold": scores, "alert": scores.astype(bool)} | audited
    names = _names(config, table)
    # No other command may decide by the same file until it is closed.
    with refusing(), closing(AlertThreshold.open(state, digest)) as alert:
        at_most, groups = _cap(config, table)
        if (at_most, next(iter(config.caps), "")) != (alert.at_most, alert.group_name):
            begun = (
                f"with --at-most {alert.at_most}:{alert.group_name}" if alert.at_most else "without --at-most"
            )
            raise InputError(f"{state} was begun {begun}; say the same here.")
        alert.n_ahead = config.n_ahead or 1
        returned = dict.fromkeys(("return_threshold", "return_acted", "return_chance"), True)
        times = table.times(str(config.time), with_zones=True)
        act, thresholds, acted, chance = alert.decide(scores, times, names, group=groups, **returned)
    now = f", and the threshold is {alert.threshold_:.6g}" if alert.left_ else ""
    left = f"{alert.left_:,} of {alert.budget.n - alert.audit:,} {alert.budget.each} are left{now}"
    decided, drawn = {"threshold": thresholds, "alert": act}, ""
    if alert.audit:
        decided |= {"acted": acted, "chance": chance}
        drawn = f", {(acted == 'audit').sum():,} of them drawn for the audit"
    say(f"{act.sum():,} of {len(table):,} rows are alerts{drawn}; {left}.", err=config.is_piped)
    if alert.comes_whole_:
        say(f"Here {_whole(alert)}", err=config.is_piped)
    return decided


def _cells(
    table: Table, order: NDArray[np.intp], numbers: pd.DataFrame | None, columns: list[str] | None
) -> pd.DataFrame:
    """Return the cells to write of the rows, best first, with the model's numbers in place of their texts."""
    # Rows of a libsvm file have no cells to write: their number, from 1, says which they are.
    rows = pd.DataFrame({"row": order + 1}) if table.is_sparse else table.frame.iloc[order]
    if numbers is not None:
        rows = rows.assign(**numbers.iloc[order])
    if not columns:
        return rows
    if table.is_sparse:
        named = [name for name in columns if name in table.frame]
        rows = rows.assign(**{name: table.frame[name].to_numpy()[order] for name in named})
    if unknown := [name for name in columns if name not in rows.columns]:
        table.check(unknown[0], "columns")
    return rows[list(dict.fromkeys(columns))]


def _reasons(
    saved: SavedModel, features: Any, scores: Floats, order: NDArray[np.intp], config: ScoreConfig
) -> dict[str, list[str]]:
    """Return the columns of what raises each row's score most, and of what would take it out of the list."""
    from sklearn.utils import _safe_indexing

    from pushrank.estimators.reasons import has_exact_parts, leaving, parts_over, reason_texts
    from pushrank.estimators.shapley import n_compared

    ranking, n = np.argsort(-scores, kind="stable"), int(config.reasons or 0)
    n_listed = min(config.n_listed or len(scores), len(scores))
    if config.top is None and saved.alert is not None:
        n_listed = int((scores >= saved.alert.threshold).sum())
    below = ranking[n_listed : n_listed + n_compared(features.shape[1])]
    found: list[list[str]] = [[] for _ in order]
    leaves = [""] * len(order)
    # An empty file has the columns, too.
    if len(order):
        # Without rows below a cut they are compared with all.
        rows, over = _safe_indexing(features, order), _safe_indexing(features, below if len(below) else order)
        is_exact = has_exact_parts(saved.pipeline, rows[:1])
        if len(order) > MAX_SAMPLED and not is_exact:
            raise InputError(
                f"--reasons of this model score each row some thousand times: write at most {MAX_SAMPLED:,} "
                f"of these {len(order):,} rows, by --top."
            )
        with refusing():
            parts, errors = parts_over(saved.pipeline, rows, over)
            found = reason_texts(rows, parts, errors, n)
            if len(below):
                # Values from the whole of the ranking, and those just below the cut.
                spread = ranking[np.unique(np.linspace(0, len(ranking) - 1, N_TRIED).astype(np.intp))]
                tried, listed = _safe_indexing(features, spread), slice(n_listed)
                cut = (
                    scores[ranking[n_listed]] if config.top or saved.alert is None else saved.alert.threshold
                )
                leaves[listed] = leaving(saved.pipeline, rows[listed], tried, parts[listed], n, float(cut))
        against = f"the {len(below):,} rows just below the cut" if len(below) else "all rows of the file"
        sampled = "" if is_exact else " They are sampled, and shown with their standard errors (±)."
        say(f"Reasons are against {against}.{sampled}", err=config.is_piped)
    texts = {f"reason_{at + 1}": [row[at] if at < len(row) else "" for row in found] for at in range(n)}
    return texts | {"leaves_if": leaves}


def _promises(
    saved: RowScorer, scores: Floats, text_format: TextFormat, config: ScoreConfig
) -> Promises | None:
    """Return what the list of these scores holds at least, by labelled rows, if there are such and scores."""
    if config.promise is None or config.labelled is None or not len(scores):
        return None
    from pushrank.cli.promises import SEEN, promises_of

    known, of_known, seen = saved.read_labelled(config.labelled, text_format, config.label, None)
    if seen:
        raise InputError(SEEN.format(saved.name, config.labelled))
    # A depth that is named beforehand is promised more than each of all depths at once.
    named = {min(config.n_listed, len(scores))} if config.n_listed else set()
    # Rows that tie may be in any order in a file, so that the promise takes negatives to come first.
    new = {"n_new": len(scores), "scores_new": scores, "ties": "pessimistic"}
    return promises_of(known.y, {"": saved.scores(of_known)}, config.promise, named, [], **new)


def _beside(results: dict[str, Any], rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows after their results, whose names are never those of columns in the data."""
    named = {}
    for name, values in results.items():
        while name in rows.columns:
            name = f"pushrank_{name}"
        named[name] = values
    # Joined at once: pandas warns of a frame that grows by many single columns.
    return pd.concat([pd.DataFrame(named, index=rows.index), rows], axis=1)
