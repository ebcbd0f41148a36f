"""Run the command line within this process."""

import json

from typer.testing import CliRunner

from pushrank.cli import app
from pushrank.cli.features import read_features
from pushrank.cli.forms import LearnOptions
from pushrank.cli.options import FeatureSource
from pushrank.cli.source.format import DEFAULT_FORMAT

TWO = ["--model", "logistic-regression", "--model", "IR Push", "--no-ensemble"]
FEW = ["--model", "logistic-regression", "--model", "P-Norm Push, p = 1", "--model", "P-Norm Push, p = 4",
       "--no-ensemble"]  # fmt: skip
"""Compare three models, which are fitted at once: with all defaults a comparison takes seconds."""
LABEL = ["--label", "class", "--positive", "malignant"]


def call(*arguments, code=0):
    """Return what a command printed, after checking its exit code; ``fit`` takes a quick model by default."""
    if arguments[0] == "fit" and not {"--model", "--help", "--config"} & set(arguments):
        arguments = (*arguments, "--model", "pnorm-push")
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def features(path, written=DEFAULT_FORMAT, *, learn=LearnOptions(), **source):  # noqa: B008
    """Return the labelled rows of a file as fit and compare read them, by default with the label y."""
    return read_features(
        FeatureSource(path, **{"label": "y", "read": written.words()[1::2], **source}), learn
    )


def auc(model, data):
    """Return the area under the ROC curve of a saved model's list."""
    [found] = json.loads(call("measure", data, "--model", model, "--no-intervals", "--json").stdout)[
        "scores"
    ].values()
    return found["auc"]["estimate"]


def fit(files, *more, data="data.csv"):
    """Return a model that ``fit`` writes now."""
    model = files / "model.skops"
    call("fit", files / data, *LABEL, "-o", model, *more)
    return model


STORE = {}
"""The files of models, and of alerts that a fit begins, that this session has made, by rows and arguments."""


def fitted(data, *arguments):
    """Return a model in the folder of its data, for tests that only need one: a session fits each once."""
    arguments = arguments or LABEL
    path, key = data.with_name("model.skops"), (data.name, data.read_bytes(), *map(str, arguments))
    files = (path, path.with_suffix(".alert.db"))
    if key not in STORE:
        call("fit", data, *arguments, "-o", path, "--force")
        STORE[key] = [file.read_bytes() if file.exists() else None for file in files]
    for file, content in zip(files, STORE[key], strict=True):
        if content is None:
            file.unlink(missing_ok=True)
        else:
            file.write_bytes(content)
    return path
