"""What a model file holds, in print and as JSON."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pushrank import PNormPush, save
from tests.cli.runner import FEW, LABEL, call, fitted


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["amount", "b__c"]).round(3)
    frame.loc[::9, "b__c"] = np.nan
    frame["kind"] = rng.choice(["x", "y"], 80)
    found = 3 * frame["amount"] + frame["kind"].eq("x") + rng.normal(size=80) > 1.5
    frame["y"] = np.where(found, "yes", "no")
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def shown(model, *more):
    return " ".join(call("show", model, *more).stdout.split())


def test_a_linear_model_shows_its_weights_by_column(data):
    model = data.with_name("m.skops")
    call("fit", data, "--label", "y", "--model", "pnorm-push", "--p", 8, "-o", model)
    found = json.loads(call("show", model, "--json").stdout)
    assert found["model"] == "pnorm-push"
    assert found["parameters"]["p"] == 8.0
    assert (found["label"], found["positive"]) == ("y", "yes")
    assert found["training"]["file"] == "data.csv"
    assert found["training"]["rows"] == 80
    assert (found["numeric"], found["categorical"]) == (["amount", "b__c"], ["kind"])
    assert found["probability"] is False
    assert found["chosen"] == {}
    weights = found["weights"]
    assert next(iter(weights)) == "amount"
    assert set(weights) == {"amount", "b__c", "b__c missing", "kind_x", "kind_y"}
    assert list(map(abs, weights.values())) == sorted(map(abs, weights.values()), reverse=True)
    text = shown(model).replace("│ ", "")
    parts = ["PNormPush(alpha=0.1, p=8.0)", f"written by pushrank {found['pushrank']}", "y = yes"]
    parts += ["data.csv, 80 rows", "2 numeric (amount, b__c)", "1 of text (kind)"]
    for part in [*parts, f"amount {weights['amount']:+.4f}"]:
        assert part in text, (part, text)


def test_what_cross_validation_chose_is_shown(data):
    model = data.with_name("m.skops")
    call("fit", data, "--label", "y", "--model", "pnorm-push-cv", "-o", model, "--probability")
    found = json.loads(call("show", model, "--json").stdout)
    assert set(found["chosen"]) == {"p", "alpha"}
    assert found["probability"] is True
    assert f"p = {found['chosen']['p']:g}" in shown(model)


def test_models_without_weights_and_without_names_are_shown(data):
    model = data.with_name("m.skops")
    call("fit", data, "--label", "y", "--model", "push-boost", "--n-estimators", 5, "-o", model)
    assert json.loads(call("show", model, "--json").stdout)["weights"] == {}
    assert "weight" not in shown(model)
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    dump_svmlight_file(X, y, str(data.with_name("data.libsvm")), zero_based=False)
    call("fit", data.with_name("data.libsvm"), "--model", "pnorm-push", "-o", model)
    assert list(json.loads(call("show", model, "--json").stdout)["weights"]) == ["1", "2"]
    save(PNormPush().fit(X, y), model)
    found = json.loads(call("show", model, "--json").stdout)
    assert (found["label"], found["training"], set(found["weights"])) == ("", {}, {"1", "2"})
    assert "2 features" in shown(model)
    frame = pd.read_csv(data)[["amount"]]
    save(make_pipeline(FunctionTransformer(), PNormPush()).fit(frame, np.arange(80) % 2), model)
    assert list(json.loads(call("show", model, "--json").stdout)["weights"]) == ["1"]
    assert "does not exist; fit a model first" in call("show", data.with_name("no.skops"), code=2).stderr


def test_names_are_no_markup_and_no_orders_to_the_terminal(data):
    """A name may look like markup, hold the escape that colours a terminal, or turn the text around."""
    frame = pd.read_csv(data)
    odd = ["[/]", ":smile:", "\x1b[31mred", "\u202ebackwards", "[bold]y[/bold]"]
    frame = frame.assign(three=frame["amount"].round()).set_axis([*odd[:3], odd[4], odd[3]], axis=1)
    frame.to_csv(data, index=False)
    model, label = data.with_name("m.skops"), ["--label", odd[4], "--positive", "yes"]
    printed = [
        call("fit", data, *label, "-o", model),
        call("show", model),
        call("evaluate", model, data),
        call("compare", data, *label, *FEW, "--folds", 2),
        call("fit", data, "--label", "\x1b[31m", "-o", model, code=2),
    ]
    for result in printed:
        assert not {"\x1b", "\u202e", "😄"} & set(result.output)
    for name in ("[/]", ":smile:", r"\x1b[31mred", r"\u202ebackwards"):
        assert name in printed[1].output
    assert "[bold]y[/bold] = yes" in printed[3].output


def test_what_a_sum_of_stumps_rests_on_is_shown(files):
    model = fitted(files / "data.csv", *LABEL, "--model", "push-boost")
    found = json.loads(call("show", model, "--json").stdout)
    assert found["weights"] == {}
    assert sum(found["importances"].values()) == pytest.approx(1.0)
    [first, *_] = found["importances"]
    shown = call("show", model).stdout
    assert "importance" in shown
    assert first in shown
