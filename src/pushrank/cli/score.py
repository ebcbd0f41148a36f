"""``pushrank score``: rank new rows, best first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from pushrank.cli import options
from pushrank.cli.alerts import OneByOne
from pushrank.cli.errors import InputError, refusing, say
from pushrank.cli.header import STANDARD_STREAM, file_kind
from pushrank.cli.saved import RowScorer, load_model, load_whole
from pushrank.cli.table import DEFAULT_FORMAT, Table, TextFormat
from pushrank.cli.write import TABLES_WRITTEN, check_output, write_table

if TYPE_CHECKING:
    from pushrank.cli.promises import Promises


def score(
    model: Annotated[Path, typer.Argument(help="A model that pushrank fit saved.")],
    data: Annotated[Path, typer.Argument(help="Rows to rank, with the columns of the training data.")],
    text_format: TextFormat,
    one_by_one: OneByOne,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to: .csv, .tsv, .parquet or .xlsx; - prints.")
    ] = STANDARD_STREAM,
    top: Annotated[int | None, typer.Option(min=1, help="Write only so many rows.")] = None,
    columns: Annotated[
        list[str] | None, typer.Option(help="A column to write beside score and rank; may be repeated.")
    ] = None,
    probability: Annotated[
        bool,
        typer.Option("--probability", help="Also write probabilities: of models fitted with --probability."),
    ] = False,
    reasons: Annotated[
        int | None,
        typer.Option(min=1, help="Also write so many columns that raise each row's score most, with values."),
    ] = None,
    promise: Annotated[
        float | None,
        typer.Option(min=0.5, max=0.999, help="Also write what the list to each row holds at least."),
    ] = None,
    labelled: Annotated[
        Path | None, typer.Option(help="Labelled rows that the model has not seen, to promise by.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Their label's column, where it differs from the training data's.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Write the rows best first, after their rank and score.

    Every cell is written as it was read, whether the model uses it or not. Only when text becomes
    .parquet or .xlsx are the model's numbers written as numbers. A text file keeps the separator, encoding
    and decimal mark that it was read with. Rows with equal scores keep their order. Columns named score or
    rank in the data are kept; the new ones are then called pushrank_score and pushrank_rank. Rows of a
    libsvm file are named by their number, from 1.

    --reasons 3 writes the three columns that raise a row's score most beyond their mean over all rows of the
    file, such as "amount 4,120: +1.3", of linear models, boosted stumps and LightGBM; of an ensemble members.

    --promise 0.95 --labelled held_out.csv writes promised_hits beside each row: so many hits the list down to
    it holds at least, with this probability for all rows together; the list of --top N is promised most. Rows
    that tie count as if negatives came first. Labelled rows must be new to the model and drawn as the others
    are; if their scores differ beyond chance, a warning says so.

    --alert state.json --id COLUMN --time COLUMN writes also whether to act on each row, and the threshold of
    its moment: never more than the budget, and nearly all of it. What was decided is on disk before it is
    written; --budget 30/day begins that file with past rows, which the model must not have learnt from.

    Example: pushrank score model.skops new.parquet -o ranked.csv --top 100
    """
    one_by_one.check(force=force)
    if (promise is None) != (labelled is None):
        raise InputError("--promise 0.95 and --labelled FILE, rows that the model has not seen, go together.")
    check_output(output, TABLES_WRITTEN, [model, data, labelled, one_by_one.alert], force=force)
    whole = load_whole(model) if probability or reasons else None
    saved = whole or load_model(model)
    table = saved.read(data, text_format, may_be_empty=one_by_one.budget is None)
    features = saved.features(table)
    scores = saved.scores(features)
    if one_by_one.budget is not None:
        one_by_one.begin(one_by_one.budget, table, scores)
        return
    order = np.argsort(-scores, kind="stable")[:top]
    piped = output == STANDARD_STREAM
    becomes_numbers = table.is_text and output.suffix.lower() in (".parquet", ".xlsx")
    rows = _cells(table, order, features[saved.numeric] if becomes_numbers else None, columns, data)
    results: dict[str, Any] = {"rank": np.arange(1, len(order) + 1), "score": scores[order]}
    if one_by_one.alert is not None:
        decided = one_by_one.decide(one_by_one.alert, table, scores, piped=piped)
        results |= {name: values[order] for name, values in decided.items()}
    promises = None
    if whole is not None and probability:
        results["probability"] = whole.probabilities(scores)[order]
    if whole is not None and reasons:
        results |= _reasons(whole.pipeline, features, order, reasons)
    if promise and labelled and len(table):
        named = {len(order)} if top else set()
        promises = _promises(saved, scores, promise, named, labelled, label, text_format)
    if promise:
        # An empty file has the column, too.
        hits_at = promises.of_lists[""].hits_at if promises else np.asarray
        results["promised_hits"] = hits_at(results["rank"])
    is_same_kind = file_kind(output) == file_kind(table.path)
    write_table(_beside(results, rows), output, table.text_format if is_same_kind else DEFAULT_FORMAT)
    where = "on standard output" if piped else f"in {output}"
    say(f"{len(order):,} of {len(table):,} rows, best first, {where}.", err=piped)
    if saved.alert is not None and one_by_one.alert is None:
        say(saved.alert.count(scores), err=piped)
    for sentence in promises.sentences(len(order)) if promises else ():
        say(sentence, err=piped)


def _cells(
    table: Table,
    order: NDArray[np.intp],
    numbers: pd.DataFrame | None,
    columns: list[str] | None,
    data: Path,
) -> pd.DataFrame:
    """Return the cells to write of the rows, best first, with the model's numbers in place of their texts."""
    # Rows of a libsvm file have no cells to write: their number, from 1, says which they are.
    rows = pd.DataFrame({"row": order + 1}) if table.is_sparse else table.frame.iloc[order]
    if numbers is not None:
        rows = rows.assign(**numbers.iloc[order])
    if not columns:
        return rows
    if unknown := [name for name in columns if name not in rows.columns]:
        raise InputError(f"--columns {unknown[0]!r} is not in {data}; it has {table.header}.")
    return rows[list(dict.fromkeys(columns))]


def _reasons(pipeline: Any, features: Any, order: NDArray[np.intp], n: int) -> dict[str, list[str]]:
    """Return the columns of what raises each row's score most."""
    from sklearn.utils import _safe_indexing

    from pushrank.estimators._reasons import reasons

    with refusing():
        found = reasons(pipeline, _safe_indexing(features, order), features, n)
    return {f"reason_{at + 1}": [texts[at] if at < len(texts) else "" for texts in found] for at in range(n)}


def _promises(
    saved: RowScorer,
    scores: NDArray[np.float64],
    level: float,
    named: set[int],
    labelled: Path,
    label: str | None,
    text_format: TextFormat,
) -> Promises:
    """Return what the list of these scores holds at least, by labelled rows."""
    from pushrank.cli.promises import SEEN, promises_of

    known, of_known, seen = saved.read_labelled(labelled, text_format, label, None)
    if seen:
        raise InputError(SEEN.format(saved.name, labelled))
    lists = {"": saved.scores(of_known)}
    new = {"n_new": len(scores), "scores_new": scores, "ties": "pessimistic"}
    return promises_of(known.y, lists, level, named, [], **new)


def _beside(results: dict[str, Any], rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows after their results, whose names are never those of columns in the data."""
    named = {}
    for name, values in results.items():
        while name in rows.columns:
            name = f"pushrank_{name}"
        named[name] = values
    # Joined at once: pandas warns of a frame that grows by many single columns.
    return pd.concat([pd.DataFrame(named, index=rows.index), rows], axis=1)
