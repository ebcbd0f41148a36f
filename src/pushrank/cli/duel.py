"""``pushrank duel``: two models inside one budget, who brought each row, and who finds more."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import typer

from pushrank.budgets import Budget
from pushrank.cli.errors import InputError, refusing, say
from pushrank.cli.features import span_of
from pushrank.cli.forms import DuelOptions
from pushrank.cli.loading import digest_of, load_model
from pushrank.cli.options import rows_for
from pushrank.cli.score import beside, row_names
from pushrank.cli.screen import print_json
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.labels import label_key, labels_so_far, positive_so_far
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Table
from pushrank.cli.write import write_table
from pushrank.monitoring.duel import NEEDED, WHO, Duel, compare_lists

BEHIND = "A challenger that has learnt from labels of the champion's list starts behind."


def assign_rows(models: list[Path], data: Path, config: DuelOptions) -> None:
    """Write the rows to act on, each with who brought it."""
    scores, tables, positives = [], [], []
    for model in models:
        saved = load_model(model)
        positives.append(saved.positive)
        # A calm day sends names of columns and no rows.
        tables.append(saved.table(rows_for(model, data, config.read), may_be_empty=True))
        scores.append(saved.scores(tables[-1]))
    table, names = tables[0], row_names(config.id, tables[0], needed=True)
    with _duel(config, table, models, positives) as duel:
        with refusing():
            times = _times(table, config, duel.budget, with_zones=True)
            owners = duel.assign(scores[0], scores[1], times, names)
        left = np.flatnonzero(owners != "")
        columns: dict[str, Any] = {"brought_by": owners[left]}
        columns |= {f"{who}_score": of[left] for who, of in zip(WHO, scores, strict=True)}
        rows = beside(columns, table.frame.iloc[left])
        write_table(rows, Path(str(config.output)), table.text_format)
        counts = {who: int(np.sum(owners == who)) for who in ("both", *WHO)}
    if config.as_json:
        print_json({"rows": len(table), "written": len(left), **counts, "output": str(config.output)})
        return
    said = "{:,} rows are on both lists; of the others {:,} are the champion's, and {:,} the challenger's, "
    say(f"{said.format(*counts.values())}by a coin for each pair.")
    say(f"{len(left):,} of {len(table):,} rows in {config.output}. {BEHIND}")


def credit_labels(config: DuelOptions) -> None:
    """Credit the hits of a labelled file, and say who finds more."""
    table = _labelled(config, may_be_empty=True)
    names = row_names(config.id, table, needed=True)
    column = table.labels(config.label)
    with _duel(config, table) as duel, refusing():
        y = labels_so_far(column, positive_so_far(column, config.positive or duel.positive))
        verdict = duel.credit(y, _times(table, config, duel.budget, with_zones=True), names).verdict()
    if config.as_json:
        goal = (
            {"needed": NEEDED} if verdict.until is None else {"to_go": max(verdict.until - verdict.days, 0)}
        )
        print_json(vars(verdict) | goal | {"sentences": verdict.sentences()})
    for sentence in () if config.as_json else [*verdict.sentences(), BEHIND]:
        say(sentence)
    if not verdict.days:
        raise typer.Exit(3)


def compare_columns(config: DuelOptions) -> None:
    """Say how two columns of scores differ in hits, and which rows are to be labelled to decide."""
    if len(config.score or ()) != 2 or config.label is None or not isinstance(config.budget, Budget):
        raise InputError(
            "scores of the past are compared by --labels FILE --label COLUMN --score CHAMPION --score "
            "CHALLENGER --budget 30/day --time COLUMN."
        )
    table = _labelled(config)
    column = table.labels(config.label)
    y = labels_so_far(column, positive_so_far(column, config.positive))
    scores = [table.numbers(name, "score") for name in config.score or ()]
    with refusing():
        times = _times(table, config, config.budget)
        found = compare_lists(y, scores[0], scores[1], times, config.budget)
    if config.output is not None:
        write_table(table.frame.iloc[found.to_label], config.output, table.text_format)
    if config.as_json:
        counts = {name: getattr(found, name) for name in ("n_periods", "n_shared", "low", "high")}
        counts |= {"n_disputed": len(found.rows), "n_to_label": len(found.to_label)}
        print_json(counts | {"sentence": found.sentence()})
        return
    say(f"{found.n_shared:,} rows are on both lists. {found.sentence()}")


def _labelled(config: DuelOptions, *, may_be_empty: bool = False) -> Table:
    """Return the rows of --labels."""
    return Source(Path(str(config.labels)), TextFormat.parse(config.read or ())).table(
        may_be_empty=may_be_empty
    )


def _times(table: Table, config: DuelOptions, budget: Budget, *, with_zones: bool = False) -> Any:
    """Return when rows came."""
    is_batch = budget.per == "batch"
    return table.times(str(config.time), may_be_text=is_batch, with_zones=with_zones)


@contextmanager
def _duel(
    config: DuelOptions, table: Table, models: Sequence[Path] = (), positives: Sequence[str] = ()
) -> Iterator[Duel]:
    """Open the duel of a state, or begin it by its budget."""
    path, digests = Path(str(config.state)), tuple(map(digest_of, models))
    # Files of earlier versions note none.
    digests = digests if all(digests) else ()
    is_new = not path.exists()
    with refusing():
        if not is_new:
            duel = Duel.open(path, digests)
        elif isinstance(config.budget, Budget):
            # A calm day has no times of which it could be seen that they are dates.
            no_times = np.empty(0, dtype="datetime64[us]")
            times = _times(table, config, config.budget) if len(table) else no_times
            late = span_of(config.labels_after, times, config.time)
            late = late.item() if isinstance(late, np.timedelta64) else late and int(late)
            if config.positive is None and len({*map(label_key, positives)}) > 1:
                both = " and ".join(positives)
                raise InputError(f"the models rank {both} at the top; name the label of hits: --positive.")
            of_models: Any = {"models": digests, "positive": config.positive or next(iter(positives), None)}
            duel = Duel(config.budget, path, until=config.until, labels_after=late, **of_models)
        else:
            raise InputError(f"{path} does not exist; begin the duel with --budget 30/day.")
    with closing(duel):
        if config.budget not in (None, duel.budget):
            raise InputError(
                f"{path} is a duel of {duel.budget.words}; leave --budget out, or begin another."
            )
        if config.until not in (None, duel.until):
            raise InputError(
                f"the look of {path} was named when it began, --until {duel.until}; leave it so."
            )
        try:
            yield duel
        except BaseException:
            if is_new:
                # A call that failed has decided nothing, and names no budget and no look.
                path.unlink()
            raise
