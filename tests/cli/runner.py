"""Run the command line within this process."""

import json

from typer.testing import CliRunner

from pushrank.cli import app

FEW = ["--model", "logistic-regression", "--model", "pnorm-push", "--p", 4, "--no-together"]
"""Compare three models, which are fitted at once: with all defaults a comparison takes seconds."""


def call(*arguments, code=0):
    """Return what a command printed, after checking its exit code; ``fit`` takes a quick model by default."""
    if arguments[0] == "fit" and not {"--model", "--help"} & set(arguments):
        arguments = (*arguments, "--model", "pnorm-push")
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def auc(model, data):
    """Return the area under the ROC curve of a saved model's list."""
    [found] = json.loads(call("evaluate", model, data, "--no-intervals", "--json").stdout)["scores"].values()
    return found["auc"]["estimate"]


TWO = ["--model", "logistic-regression", "--model", "IR Push", "--no-together"]
LABEL = ["--label", "class", "--positive", "malignant"]


def fitted(files, *more, data="data.csv"):
    model = files / "model.skops"
    label = [] if data.endswith("libsvm") else LABEL
    call("fit", files / data, *label, "-o", model, *more)
    return model
