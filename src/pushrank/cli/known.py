"""Lists of rows of which only some have a label: what is known of hits, and whether a list chose them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from scipy.stats import mannwhitneyu

from pushrank._base.files import read_facts
from pushrank._base.user_types import Floats
from pushrank.budgets import Budget, Periods, chances_of_list
from pushrank.cli.errors import InputError, refusing, say
from pushrank.cli.features import SPANS, words_of_span
from pushrank.cli.forms import MeasureOptions
from pushrank.cli.options import refuse_given
from pushrank.cli.saved import Alert
from pushrank.cli.screen import count_text, print_json, print_table
from pushrank.cli.source.labels import AUDIT, LabelledRows, is_acted_on
from pushrank.cli.source.open import listed
from pushrank.cli.source.table import Kind
from pushrank.exceptions import BadRowError
from pushrank.metrics import measure_acted

LEVEL = 0.01
"""The chance to say that labels are missing by choice where they are missing at random."""
MAX_PERIODS, MAX_LISTS, MIN_WAITING = 31, 10, 5
COUNTED = ["listed", "hits", "audited", "audit_hits", "hits_below_at_most", "hits_below_estimate"]
"""What a table by period shows, of its last ones; JSON has all."""
LISTED = ["rows", "looked_at", "labelled", "hits", "hits_at_most"]
"""What is counted of each list: hits at most are those if each row without a label were one."""
CHOSEN = "somebody chose which rows got one"
NOT_SHOWN = (
    "Recall, lift, areas, average precision and intervals need the labels of all rows, or of rows drawn at "
    "random, and are not shown. A precision is that of the labelled rows, which another list may have chosen."
)
NOT_ACTED = (
    "Without --acted COLUMN, labelled rows count as looked at; late and missing labels cannot be told apart."
)
NEED_ALL = ["screening", "every", "value", "weight", "group", "output", "figure", "at_most", "at_least"]


def missing_with(values: list[tuple[str, Any, Any]], share: float) -> str:
    """Return which rows lack a label, a share of all, by scores or times of those that have one or none."""
    mostly = {}
    for name, labelled, others in values:
        # Dates, and names of batches, are compared by their order.
        order, n = np.unique(np.concatenate([labelled, others]), return_inverse=True)[1], len(labelled)
        found = mannwhitneyu(order[:n], order[n:], method="asymptotic") if n and len(others) else None
        if found is not None and found.pvalue <= LEVEL / len(values):
            lack = ("early", "late") if name == "times" else ("low", "high")
            mostly[f"of {lack[int(found.statistic < n * len(others) / 2.0)]} {name}"] = name
    if not mostly:
        return ""
    why = CHOSEN if "scores" in mostly.values() else "they are not known yet, or were not kept"
    return f"labels are missing for {100.0 * share:.0f} % of the rows, mostly {' and '.join(mostly)}: {why}"


def waiting(
    times: Any, known: Any, name: Any = "", y: Any = False, scores: Any = (), judged: Any = True, gap: Any = 0
) -> tuple[str, str, bool]:
    """Return since when labels wait, if no list chose some; --labels-after; and if others are missing."""
    moments, codes = np.unique(times, return_inverse=True)
    rows, lacking = np.bincount(codes), np.bincount(codes, ~known)
    # Rows wait from where the excess of missing labels over the usual share, summed from the end, is largest:
    # labels of one class may come later than the other's. The usual share is thrice that of the first half.
    # Where labels lack there, too, the latest beginning is taken whose excess is at most one label smaller.
    half = 2 * rows.cumsum() <= len(known)
    usual = 0.005 + 3.0 * (lacking[half].sum() + 1.0) / (rows[half].sum() + 1.0)
    excess = np.cumsum((lacking - usual * rows)[::-1])[::-1]
    first = np.flatnonzero(excess >= excess.max() - lacking[half].any())[-1]
    late, length = codes >= first, moments[-1] - moments[first]
    # Labels come early by their class: of a class, their rows have the scores of rows just before, unless a
    # list chose them. Nor may a list have chosen before.
    early = ~late & (times >= moments[first] - length)
    pairs = [(known & judged & late & of, known & judged & early & of) for of in (y, np.logical_not(y))]
    pairs.append((known & judged & ~late, ~known & ~late))
    by = [("scores", values[some], values[others]) for values in scores for some, others in pairs]
    last = codes >= first + (len(moments) - first) * 9 // 10
    if excess.max() < MIN_WAITING or known[last].mean() > 0.5 or missing_with(by, 0.0):
        return "", "", False
    length, digits = length + gap, 3 * (moments.dtype.kind == "f")
    if moments.dtype.kind == "M":
        whole = (unit for unit in "wd" if not (np.diff(moments) % SPANS[unit]).any())
        unit = next(whole, "d" if length >= 2 * SPANS["d"] else "h")
        span = f"{length // SPANS[unit] + 1}{unit}"
    else:
        span = f"{(length * 10**digits // 1 + 1) / 10**digits:.{digits}f}"
    n = known[late].sum()
    some = f"labels in only {n:,} of {late.sum():,} rows" if n else "no labels"
    have = "has" if span in ("1h", "1d", "1w") else "have"
    return f"the last {words_of_span(span, name)} {have} {some}", span, not known[~late].all()


def measure_audited(rows: LabelledRows, scores: Mapping[str, Floats], config: MeasureOptions) -> None:
    """Print what a list found and what it misses, by an audit of rows that were drawn from those below it."""
    refuse_given(vars(config), (*NEED_ALL, "promise", "require"), "is not for --chance: leave it out.")
    if not config.intervals:
        raise InputError("--no-intervals is not for --chance: its bounds are what is measured; leave it out.")
    table, budget = rows.table, config.budget if isinstance(config.budget, Budget) else None
    acted = table.column(str(config.acted), Kind.TEXT).values.to_numpy(dtype=object)
    chance = table.numbers(str(config.chance), "chance", 0.0, may_lack=True)
    y = rows.y if rows.known is None else np.where(rows.known, rows.y, np.nan)
    time = None if budget is None else table.times(str(config.time), may_be_text=budget.per == "batch")
    how: dict[str, Any] = {"looks": config.looks or 1, "random_state": config.seed}
    with refusing():
        try:
            measured = measure_acted(y, acted, chance, scores=scores, time=time, budget=budget, **how)
        except BadRowError as error:
            column = table.column(str(config.chance), Kind.NUMBER)
            row = f"row {column.row_number(error.row)} of {table.path}"
            raise InputError(f"--chance {config.chance!r}: {error.message_for(row)}") from error
    if config.as_json:
        print_json({"file": table.path.name, **measured.summary()})
        return
    say(f"{', '.join(scores)} on {table.path.name}, hits with {rows.label_meaning}:")
    if budget is not None:
        frame = measured.to_frame().set_index("period")
        last = frame[COUNTED].tail(MAX_PERIODS)
        # Of the rows acted on alone, a period without an audited one says nothing of those below the list.
        cells = [
            [period, *("–" if number != number or number is None else f"{number:,.0f}" for number in of)]
            for period, *of in last.itertuples()
        ]
        title = f"{budget.several}, the last {len(last)} of {len(frame):,}"
        print_table([budget.per, *(name.replace("_", " ") for name in COUNTED)], cells, title)
    for sentence in measured.sentences():
        say(sentence)


def check_new(name: str, model: Path, rows: LabelledRows, config: MeasureOptions) -> None:
    """Raise InputError where a model has learnt from rows of the time of a file, as far as its own tells."""
    expected = (read_facts(model).get("facts") or {}).get("expected")
    if not expected or config.time is None:
        return
    budget = Budget.parse(expected["budget"])
    with refusing():
        times = budget.periods(rows.table.times(config.time, may_be_text=budget.per == "batch")).labels
    # Dates are texts in ISO 8601, whose order is that of time; names of batches have no such order.
    if budget.per != "batch" and (first := str(times[0])) <= expected["until"]:
        raise InputError(
            f"{name} was fitted to rows up to {expected['until']}, and those of {rows.table.path} begin on "
            f"{first}: its list is measured by an audit of rows that are new to it; leave earlier ones out."
        )


def measure_known(
    rows: LabelledRows,
    scores: Mapping[str, Floats],
    config: MeasureOptions,
    alert: Alert | None = None,
    verdict: str = "",
) -> None:
    """Print what is known of lists that are cut from all rows, of which some have no label."""
    known = np.ones(len(rows.y), dtype=bool) if rows.known is None else rows.known
    acted, periods, chosen = _checked(rows, known, scores, config, is_compared=bool(verdict))
    facts, cells = _counted(rows, known, acted, periods, scores, config)
    said = [f"{chosen[:1].upper()}{chosen[1:]}."] * bool(chosen)
    said += [verdict or NOT_ACTED] * (config.acted is None)
    said += _by_list(rows, known, acted, config.acted)
    said.append(
        "Without --acted all measures are shown: every row has a label." if known.all() else NOT_SHOWN
    )
    said += [] if alert is None else [alert.count(next(iter(scores.values())))]
    counts = _counts(rows, known, acted)
    if config.as_json:
        of_alert = {} if alert is None else {"alert": alert.facts(next(iter(scores.values())))}
        named = {"file": rows.table.path.name, **counts, "share_missing": float(np.mean(~known))}
        print_json(named | {"sentences": said, "scores": facts, **of_alert})
    else:
        say(f"{', '.join(scores)} on {rows.table.path.name}: {_of_all(counts, rows.label_meaning)}.")
        budget = config.budget
        of = f"the first {budget:,} rows" if isinstance(budget, int) else ""
        if isinstance(budget, Budget):
            of = f"means of a {budget.per}, the first {budget.n:,} rows"
        print_table(["", *(name.replace("_", " ") for name in LISTED), "precision"], cells, of)
        for sentence in said:
            say(sentence)
    if all(of_list["precision"] is None for of_list in facts.values()):
        raise typer.Exit(3)


def _checked(
    rows: LabelledRows, known: Any, scores: Mapping[str, Floats], config: MeasureOptions, *, is_compared: bool
) -> tuple[Any, Periods, str]:
    """Return which rows were looked at, the periods, and which rows lack a label, or refuse the rows."""
    budget, lacking = config.budget, f"{np.sum(~known):,} rows of {rows.table.path} have none"
    refuse_given(vars(config), NEED_ALL, f"needs a label in every row, and {lacking}.")
    by_labels = [("scores", values[known], values[~known]) for values in scores.values()]
    chosen, times, late = missing_with(by_labels, float(np.mean(~known))), None, ""
    if isinstance(budget, Budget):
        times = rows.table.times(str(config.time), may_be_text=budget.per == "batch")
        if not is_compared and times.dtype != object:
            late = waiting(times, known, config.time, rows.y, [*scores.values()])[0]
    chosen = f"{late}: leave their rows out of the file" if late else chosen
    if config.promise or config.require:
        way = f"; {AUDIT}" * (not late)
        raise InputError(f"nothing is promised: {chosen or f'of labels, {lacking}'}{way}.")
    if budget is None:
        raise InputError(f"say how long the list is, --budget N: of labels, {lacking}.")
    periods = Periods(np.array(["all"]), np.zeros(len(known), dtype=np.int64))
    if isinstance(budget, Budget):
        with refusing():
            periods = budget.periods(times)
    elif budget > len(known):
        raise InputError(f"--budget {budget} exceeds the {len(known)} rows of the data.")
    return known if config.acted is None else is_acted_on(rows.table, config.acted), periods, chosen


def _counted(
    rows: LabelledRows,
    known: Any,
    acted: Any,
    periods: Periods,
    scores: Mapping[str, Floats],
    config: MeasureOptions,
) -> tuple[dict[str, Any], list[list[str]]]:
    """Return what each list holds, in all and by period, and the cells of its means."""
    # Rows without a label are none of the hits, or all.
    of_rows = [np.ones(len(known)), acted, known, known & rows.y, ~known | rows.y]
    n: Any = config.budget.n if isinstance(config.budget, Budget) else config.budget
    facts, cells = {}, []
    for name, values in scores.items():
        # Tied rows count by their chance to be on the list.
        on_list, size = chances_of_list(values, periods, n), len(periods.labels)
        sums = {
            of: np.bincount(periods.codes, on_list * x, size) for of, x in zip(LISTED, of_rows, strict=True)
        }
        by_period = pd.DataFrame(sums, index=periods.labels.astype(str))
        total = by_period.sum().to_dict()
        precision = total["hits"] / total["labelled"] if total["labelled"] else None
        means = by_period.mean()
        facts[name] = total | {"precision": precision, "means": means.to_dict()}
        facts[name]["by_period"] = by_period.to_dict("index")
        shown = "–" if precision is None else f"{100.0 * precision:.0f} %"
        cells.append([name, *map(count_text, means), shown])
    return facts, cells


def _counts(rows: LabelledRows, known: Any, acted: Any) -> dict[str, int]:
    """Return how many rows were looked at, have a label, and are hits, and how many of the others."""
    counted = {
        "rows": np.ones(len(known), dtype=bool),
        "looked_at": acted,
        "labelled": acted & known,
        "hits": acted & known & rows.y,
        "others_without_label": ~acted & ~known,
        "others_labelled": ~acted & known,
        "others_hits": ~acted & known & rows.y,
    }
    return {name: int(of.sum()) for name, of in counted.items()}


def _of_all(counts: Mapping[str, int], label_meaning: str) -> str:
    """Return how many rows were looked at, have a label, and are hits, in words."""
    n = {name: f"{count:,}" for name, count in counts.items()}
    said = f"{n['rows']} rows, {n['looked_at']} looked at, {n['labelled']} labelled: {n['hits']} hits with "
    said += f"{label_meaning}; {n['others_without_label']} others have no label"
    if counts["others_labelled"]:
        said += f", and {n['others_labelled']} have one though nobody looked: {n['others_hits']} hits"
    return said


def _by_list(rows: LabelledRows, known: Any, acted: Any, column: str | None) -> list[str]:
    """Return a sentence on the lists that looked at rows, where their column names several."""
    if column is None:
        return []
    # A column may name the list that looked at a row: of a champion, then of its heir, or of an audit.
    names = rows.table.column(column, Kind.TEXT).values[acted].to_numpy()
    by = pd.Series(rows.y & known)[acted].groupby(names)
    if not 1 < by.ngroups <= MAX_LISTS:
        return []
    lists = listed(f"{name} ({len(of):,} rows, {of.sum():,} known hits)" for name, of in by)
    return [f"Looked at by {lists}."]
