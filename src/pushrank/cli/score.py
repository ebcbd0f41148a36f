"""``pushrank score``: new rows, best first."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank._base.files import atomic_write
from pushrank._base.user_types import Floats
from pushrank.cli.errors import InputError, refusing, say
from pushrank.cli.forms import ScoreOptions
from pushrank.cli.loading import digest_of, load_model, load_whole
from pushrank.cli.options import rows_for
from pushrank.cli.saved import RowScorer
from pushrank.cli.screen import print_json
from pushrank.cli.source.format import DEFAULT_FORMAT, TextFormat
from pushrank.cli.source.open import Source, file_kind
from pushrank.cli.source.table import Kind, Table, odd_spelt_out
from pushrank.cli.write import CELLS_TYPED, write_table, writing

if TYPE_CHECKING:
    from pushrank.cli.pipelines import SavedModel
    from pushrank.monitoring import MovingList

MAX_SAMPLED = 1000
"""Rows whose reasons are sampled at most: each is scored some thousand times."""
N_TRIED = 60
"""Values of a column that are tried in place of a row's own."""


@dataclass(frozen=True)
class Scored:
    """Rows with their scores, and the order of these; sentences and facts are what was found of them."""

    table: Table
    features: Any
    scores: Floats
    said: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def ranking(self) -> NDArray[np.intp]:
        """The rows best first; those with equal scores keep the order of the file."""
        return np.argsort(-self.scores, kind="stable")

    def tell(self, sentence: str, **facts: Any) -> None:
        """Keep a sentence to print, and the figures that it holds."""
        self.said.append(sentence)
        self.facts.update(facts)


def write_ranked(model: Path, rows: Source, config: ScoreOptions) -> None:
    """Write the rows best first, after their rank, their score and what else was asked for."""
    # A file notes how to score, and no more: probabilities and reasons need the pipeline.
    whole = load_whole(model) if config.probability or config.reasons else None
    saved: RowScorer = whole or load_model(model)
    table = saved.table(rows, may_be_empty=True)
    features = saved.features(table)
    scored = Scored(table, features, saved.scores(features))
    places, columns = _listed(model, saved, scored, config)
    order = scored.ranking[places]
    results: dict[str, Any] = {"rank": places + 1, "score": scored.scores[order]}
    results |= {name: values[order] for name, values in columns.items()}
    if whole is not None and config.probability:
        results["probability"] = whole.probabilities(scored.scores)[order]
    if whole is not None and config.reasons:
        results |= _reasons(whole, scored, order, config)
    if config.promise is not None:
        results["promised_hits"] = _promised(model, saved, scored, results["rank"], config)
    write_rows(results, order, saved, scored, config.columns, config.output)
    where = "on standard output" if config.is_piped else f"in {config.output}"
    scored.said.insert(0, f"{len(order):,} of {len(table):,} rows, best first, {where}.")
    if saved.alert is not None:
        scored.tell(saved.count_alerts(features, scored.scores), alert=saved.alert.facts(scored.scores))
    tell_all(scored, {"rows": len(table), "written": len(order)}, config)


def tell_all(scored: Scored, facts: dict[str, Any], config: Any) -> None:
    """Print what was found of rows that were written, in sentences or as JSON."""
    if config.as_json:
        print_json({**facts, **scored.facts, "output": str(config.output)})
    for sentence in () if config.as_json else scored.said:
        say(sentence, err=config.is_piped)


def _listed(
    model: Path, saved: RowScorer, scored: Scored, config: ScoreOptions
) -> tuple[NDArray[np.intp], dict[str, NDArray[Any]]]:
    """Return the places, by score, of the rows to write, and the columns that say why they are listed."""
    if config.budget is not None:
        return np.flatnonzero(calls_of_today(model, saved, scored, config)[scored.ranking]), {}
    if config.audit is not None:
        drawn = _drawn(model, scored, config)
        return np.flatnonzero(drawn["acted"][scored.ranking] != ""), drawn
    if not config.is_limited:
        return np.arange(len(scored.scores))[: config.top], {}
    from pushrank.limits import select

    limits = config.limits(scored.table)
    with refusing():
        chosen = select(scored.scores, int(config.top or 0), **limits)
    places = np.flatnonzero(np.isin(scored.ranking, chosen))
    n_others = int(np.count_nonzero(places >= len(places)))
    scored.tell(f"The limits replaced {n_others:,} of the first {len(places):,} rows.", replaced=n_others)
    return places, {}


def _drawn(model: Path, scored: Scored, config: ScoreOptions) -> dict[str, NDArray[Any]]:
    """Return which rows are on the list or drawn for the audit, and with what chance."""
    from pushrank.monitoring.audits import draw_audit

    k, n, table = int(config.top or 0), int(config.audit or 0), scored.table
    names = row_names(config.id, table)
    times = None if config.time is None else table.times(config.time)
    named = {"row_id": names, "secret": _secret(model), "time": times}
    with refusing():
        acted, chance = draw_audit(-np.argsort(scored.ranking), k, n, **named)
    n_listed, n_drawn = (int(np.count_nonzero(acted == kind)) for kind in ("list", "audit"))
    n_others, least = len(acted) - n_listed, float(chance.min(initial=1.0))
    scored.tell(
        f"{n_listed:,} rows are the first by score, and {n_drawn:,} are drawn from the "
        f"{n_others:,} others, each with a chance of {least:.3g}.",
        listed=n_listed,
        audited=n_drawn,
        others=n_others,
        chance=least,
    )
    return {"acted": acted, "chance": chance}


def _secret(model: Path) -> str:
    """Return the secret that audits of a model's lists are drawn by; the first of them makes its file."""
    path = model.with_suffix(".audit.key")
    if not path.exists():
        with writing(path), atomic_write(path, private=True) as draft:
            draft.write_text(token_hex(), encoding="ascii")
    # An editor may have ended the line.
    secret = path.read_text(encoding="ascii", errors="replace").strip()
    if not re.fullmatch("[!-~]+", secret):
        how = "restore it, or remove it: later audits are drawn by a new one"
        raise InputError(f"{path} does not hold the secret, a text without blanks, any more; {how}.")
    return secret


def row_names(name: str | None, table: Table, *, needed: bool = False) -> pd.Series:
    """Return what each row is called: by --id, or else by its place in this very file."""
    if name is None and needed:
        raise InputError("give --id COLUMN: what each row is called.")
    if name is None:
        # The same file again has the same rows, and rows of any other are others, whatever they hold.
        rows = table.frame.assign(**odd_spelt_out(table.frame))
        content = rows.to_csv(index=False).encode("utf-8", "surrogatepass")
        file = sha256(content).hexdigest()[:32]
        return pd.Series([f"{file} {row}" for row in range(len(table))])
    table.check(name, "id")
    names = table.column(name, Kind.TEXT).values
    if names.isna().any():
        raise InputError(f"--id {name!r} is empty in row {int(np.argmax(names.isna())) + 1}; fill it.")
    # A column of whole numbers that once had gaps is written as 1.0, 2.0 and so on.
    return names.str.replace(r"\.0+$", "", regex=True) if names.str.fullmatch(r"\d+(\.0+)?").all() else names


def _reasons(
    saved: SavedModel, scored: Scored, order: NDArray[np.intp], config: ScoreOptions
) -> dict[str, list[str]]:
    """Return the columns of what raises each row's score most, and of what would take it out of the list."""
    n = int(config.reasons or 0)
    found: list[list[str]] = [[] for _ in order]
    leaves = [""] * len(order)
    # An empty file has the columns, too.
    if len(order):
        found, leaves = _texts_of_reasons(saved, scored, order, n, config.n_listed)
    texts = {f"reason_{at + 1}": [row[at] if at < len(row) else "" for row in found] for at in range(n)}
    return texts | {"leaves_if": leaves}


def _texts_of_reasons(
    saved: SavedModel, scored: Scored, order: NDArray[np.intp], n: int, top: int | None
) -> tuple[list[list[str]], list[str]]:
    """Return the n reasons of each row against the rows just below the cut, and what would let it leave."""
    from sklearn.utils import _safe_indexing

    from pushrank.estimators.reasons import has_exact_parts, leaving, parts_over, reason_texts
    from pushrank.estimators.shapley import n_compared

    features, scores, ranking = scored.features, scored.scores, scored.ranking
    n_listed = min(top or len(scores), len(scores))
    cut = saved.alert.threshold if top is None and saved.alert is not None else None
    if cut is not None:
        n_listed = int((scores >= cut).sum())
    below = ranking[n_listed : n_listed + n_compared(features.shape[1])]
    # Without rows below a cut they are compared with all.
    rows, over = _safe_indexing(features, order), _safe_indexing(features, below if len(below) else order)
    is_exact = has_exact_parts(saved.pipeline, rows[:1])
    if len(order) > MAX_SAMPLED and not is_exact:
        raise InputError(
            f"--reasons of this model score each row some thousand times: write at most {MAX_SAMPLED:,} "
            f"of these {len(order):,} rows, by --top."
        )
    leaves = [""] * len(order)
    with refusing():
        parts, errors = parts_over(saved.pipeline, rows, over)
        found = reason_texts(rows, parts, errors, n)
        if len(below):
            # Values from the whole of the ranking, and those just below the cut.
            spread = ranking[np.unique(np.linspace(0, len(ranking) - 1, N_TRIED).astype(np.intp))]
            tried, listed = _safe_indexing(features, spread), slice(n_listed)
            end = float(scores[ranking[n_listed]] if cut is None else cut)
            leaves[listed] = leaving(saved.pipeline, rows[listed], tried, parts[listed], n, end)
    against = f"the {len(below):,} rows just below the cut" if len(below) else "all rows of the file"
    sampled = "" if is_exact else " They are sampled, and shown with their standard errors (±)."
    scored.tell(f"Reasons are against {against}.{sampled}", compared=len(below), sampled=not is_exact)
    return found, leaves


def _promised(model: Path, saved: RowScorer, scored: Scored, ranks: Any, config: ScoreOptions) -> Any:
    """Return how many hits the list down to each rank holds at least, by labelled rows new to the model."""
    # An empty file has the column, too.
    if not len(scored.scores) or config.labelled is None or config.promise is None:
        return np.asarray(ranks)
    from pushrank.cli.promises import SEEN, promises_of
    from pushrank.cli.source.labels import label_rows

    table = rows_for(model, config.labelled, config.read).table()
    known = label_rows(table, table.labels(config.label or saved.label or None), saved.positive)
    of_known, seen = saved.of_labelled(known)
    if seen:
        raise InputError(SEEN.format(saved.name, config.labelled))
    # A depth that is named beforehand is promised more than each of all depths at once.
    n, depth = len(scored.scores), min(config.n_listed or len(ranks), len(ranks))
    named = {min(config.n_listed, n)} if config.n_listed else set()
    # Rows that tie may be in any order in a file, so that the promise takes negatives to come first.
    new = {"n_new": n, "scores_new": scored.scores, "ties": "pessimistic"}
    promises = promises_of(known.y, {"": saved.scores(of_known)}, config.promise, named, [], **new)
    for sentence in promises.sentences(depth):
        scored.tell(sentence, **promises.facts(depth))
    return promises.of_lists[""].hits_at(ranks)


def write_rows(
    results: dict[str, Any],
    order: NDArray[np.intp],
    saved: RowScorer,
    scored: Scored,
    columns: list[str] | None,
    output: Path,
) -> None:
    """Write rows in an order, each after its results, with every cell as it was read."""
    table, is_typed = scored.table, output.suffix.lower() in CELLS_TYPED
    rows = table.frame.iloc[order]
    # As texts, numbers in Parquet and Excel could not be computed with.
    if table.is_text and is_typed:
        rows = rows.assign(**scored.features[saved.numeric].iloc[order])
    if columns:
        if unknown := [name for name in columns if name not in rows.columns]:
            table.check(unknown[0], "columns")
        rows = rows[list(dict.fromkeys(columns))]
    if not is_typed:
        # Written scores are on the same side of thresholds, written or printed, as the scores are.
        printed = [] if saved.alert is None else [float(saved.alert.dividing(scored.scores))]
        numbers = {name: results[name] for name in ("score", "threshold", "probability") if name in results}
        results |= zip(numbers, _in_few_digits(*numbers.values(), np.array(printed)), strict=False)
    is_same_kind = file_kind(output) == file_kind(table.path)
    write_table(beside(results, rows), output, table.text_format if is_same_kind else DEFAULT_FORMAT)


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


def beside(results: dict[str, Any], rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows after their results, whose names are never those of columns in the data."""
    named = {}
    for name, values in results.items():
        while name in rows.columns:
            name = f"pushrank_{name}"
        named[name] = values
    # Joined at once: pandas warns of a frame that grows by many single columns.
    return pd.concat([pd.DataFrame(named, index=rows.index), rows], axis=1)


def time_column(saved: RowScorer, named: str | None) -> str:
    """Return the column of when rows came: the one named, or that of the fit."""
    if (name := named or saved.time) is None:
        raise InputError("give --time COLUMN: when each row came; the model was fitted without one.")
    return name


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
    # What keeps decisions takes long to import, which lists without a budget need not wait for.
    from pushrank.budgets import Budget
    from pushrank.monitoring import MovingList

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
    # Lists of rows without labels are written where scikit-learn is not installed.
    from pushrank.cli.source.labels import labels_so_far, positive_so_far

    column = table.labels(config.label or saved.label or None)
    return labels_so_far(column, positive_so_far(column, saved.positive))
