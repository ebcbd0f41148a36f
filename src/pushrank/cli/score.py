"""``pushrank score``: rank new rows, best first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from pushrank.cli import options
from pushrank.cli.errors import InputError
from pushrank.cli.model import SavedModel
from pushrank.cli.read import DEFAULT_FORMAT, STANDARD_STREAM, TextFormat, file_kind
from pushrank.cli.write import TABLES_WRITTEN, check_output, write_table


def score(
    model: Annotated[Path, typer.Argument(help="A model that pushrank fit saved.")],
    data: Annotated[Path, typer.Argument(help="Rows to rank, with the columns of the training data.")],
    written: TextFormat,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to: .csv, .tsv, .parquet or .xlsx.")],
    top: Annotated[int | None, typer.Option(min=1, help="Write only so many rows.")] = None,
    columns: Annotated[
        list[str] | None, typer.Option(help="A column to write beside score and rank; may be repeated.")
    ] = None,
    probability: Annotated[
        bool,
        typer.Option("--probability", help="Also write probabilities: of models fitted with --probability."),
    ] = False,
    force: options.Force = False,
) -> None:
    """Write the rows best first, with their score and rank.

    Every cell is written as it was read, whether the model uses it or not. Only when text becomes
    .parquet or .xlsx are the model's numbers written as numbers. A text file keeps the separator, encoding
    and decimal mark that it was read with. Rows with equal scores keep their order. Columns named score or
    rank in the data are kept; the new ones are then called pushrank_score and pushrank_rank. Rows of a
    libsvm file are named by their number, from 1.

    Example: pushrank score model.skops new.parquet -o ranked.csv --top 100
    """
    check_output(output, TABLES_WRITTEN, [model, data], force=force)
    saved = SavedModel.load(model)
    table = saved.read(data, written, may_be_empty=True)
    scores = saved.scores(table)
    written_last = {"score": scores}
    if probability:
        written_last["probability"] = saved.probabilities(scores)
    order = np.argsort(-scores, kind="stable")[:top]
    # those of a libsvm file by their number, from 1
    rows = pd.DataFrame({"row": order + 1}) if table.is_sparse else table.frame.iloc[order]
    if table.is_text and output.suffix.lower() in (".parquet", ".xlsx"):
        rows = rows.assign(**{name: table.numbers(name)[order] for name in saved.numeric})
    if columns:
        if unknown := [name for name in columns if name not in rows.columns]:
            raise InputError(f"--columns {unknown[0]!r} is not in {data}; it has {table.describe_columns()}.")
        rows = rows[list(dict.fromkeys(columns))]
    new = {name: values[order] for name, values in written_last.items()}
    for name, values in (*new.items(), ("rank", np.arange(1, len(order) + 1))):
        free_name = name
        while free_name in rows.columns:
            free_name = f"pushrank_{free_name}"
        rows = pd.concat([rows, pd.Series(values, rows.index, name=free_name)], axis=1)
    write_table(rows, output, table.written if file_kind(output) == file_kind(table.path) else DEFAULT_FORMAT)
    piped = output == STANDARD_STREAM
    where = "on standard output" if piped else f"in {output}"
    typer.echo(f"{len(order):,} of {len(table):,} rows, best first, {where}.", err=piped)
