"""``pushrank export``: a saved model as a Python file that needs numpy alone."""

from pathlib import Path
from typing import Annotated

import typer

from pushrank.cli import options
from pushrank.cli.errors import refusing, say
from pushrank.cli.model import SavedModel
from pushrank.cli.write import PROGRAMS_WRITTEN, check_output, writing
from pushrank.interop.numpy import export_numpy


def export(
    model: Annotated[Path, typer.Argument(help="A model that pushrank fit or pushrank.save saved.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to: .py.")],
    force: options.Force = False,
) -> None:
    """Write a saved model as a Python file that needs numpy alone, for machines without pushrank.

    Its decision_function and predict take a data frame, a dict of columns, or an array with the columns of
    the training data, and do all that the model does to them. Scores of ALERT_THRESHOLD or more are the
    alerts of the budget that the model was fitted with. Models that are sums of trees cannot be written so.

    Example: pushrank export model.skops -o scoring.py
    """
    check_output(output, PROGRAMS_WRITTEN, [model], force=force)
    saved = SavedModel.load(model)
    alert_threshold = None if saved.alert is None else saved.alert.threshold
    with refusing(f"{model}: "), writing(output):
        export_numpy(saved.pipeline, output, alert_threshold=alert_threshold)
    left = "" if saved.calibrator is None else ", without its probabilities"
    say(f"{saved.name} with {saved.n_features:,} columns{left}, to be imported from {output}.")
