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


def fit(files, *more, data="data.csv"):
    """Return a model that ``fit`` writes now."""
    model = files / "model.skops"
    label = [] if data.endswith("libsvm") else LABEL
    call("fit", files / data, *label, "-o", model, *more)
    return model


STORE = {}
"""The files of models that this session has fitted, by rows and arguments."""


def fitted(data, *arguments):
    """Return a model in the folder of its data, for tests that only need one: a session fits each once."""
    arguments = arguments or LABEL
    path, key = data.with_name("model.skops"), (data.name, data.read_bytes(), *map(str, arguments))
    if key in STORE:
        path.write_bytes(STORE[key])
    else:
        call("fit", data, *arguments, "-o", path)
        STORE[key] = path.read_bytes()
    return path
