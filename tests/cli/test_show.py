"""What a model file holds, in print and as JSON."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pushrank import PNormPush, save
from tests.cli.runner import LABEL, TWO, call, fitted


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


def facts(model):
    return json.loads(call("show", model, "--json").stdout)


def test_a_linear_model_shows_its_weights_by_column(data):
    model = fitted(data, "--label", "y", "--model", "pnorm-push", "--set", "p=8", "--read", "missing=-")
    found = facts(model)
    assert found["model"] == "pnorm-push"
    assert found["parameters"]["p"] == 8.0
    assert (found["label"], found["positive"]) == ("y", "yes")
    assert found["as_fitted"] == {"label": "y", "positive": "yes", "read": {"missing": ["-"]}}
    assert (found["training"]["file"], found["training"]["rows"]) == ("data.csv", 80)
    assert (found["numeric"], found["categorical"]) == (["amount", "b__c"], ["kind"])
    assert found["probability"] is False
    assert found["chosen"] == {}
    weights = found["weights"]
    assert next(iter(weights)) == "amount"
    assert set(weights) == {"amount", "b__c", "b__c missing", "kind_x", "kind_y"}
    assert list(map(abs, weights.values())) == sorted(map(abs, weights.values()), reverse=True)
    text = " ".join(call("show", model).stdout.split())
    parts = [f"PNormPush(alpha=0.1, p={found['parameters']['p']:g}", "y = yes", "data.csv, 80 rows"]
    parts += [f"written by pushrank {found['pushrank']}", "2 numeric (amount, b__c)", "1 of text (kind)"]
    for part in [*parts, f"amount {weights['amount']:+.4f}"]:
        assert part in text, (part, text)


def test_what_cross_validation_chose_is_shown(data):
    model = fitted(data, "--label", "y", "--model", "pnorm-push-cv", "--probability")
    found = facts(model)
    assert set(found["chosen"]) == {"p", "alpha"}
    assert found["probability"] is True
    shown = call("show", model).stdout
    assert f"p = {found['chosen']['p']:g}" in shown
    assert "probabilities: calibrated\n" in shown


def test_models_without_weights_and_of_python_are_shown(files, tmp_path):
    boosted = fitted(files / "data.csv", *LABEL, "--model", "push-boost")
    found, shown = facts(boosted), call("show", boosted).stdout
    assert found["weights"] == {}
    assert sum(found["importances"].values()) == pytest.approx(1.0)
    assert f"  {next(iter(found['importances']))} " in shown
    assert "weight" not in shown
    model, rng = tmp_path / "python.skops", np.random.default_rng(0)
    frame, y = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"]), np.arange(40) % 2
    for ranker, names in (
        (PNormPush(), {"a", "b"}),
        (make_pipeline(FunctionTransformer(), PNormPush()), "12"),
    ):
        save(ranker.fit(frame, y), model)
        found = facts(model)
        assert (found["label"], found["training"], set(found["weights"])) == ("", {}, set(names))
    assert "2 numeric (a, b)" in call("show", model).stdout
    assert "does not exist; fit a model first" in call("show", tmp_path / "no.skops", code=2).stderr


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
        call("measure", data, "--model", model),
        call("compare", data, *label, *TWO, "--folds", 2),
        call("fit", data, "--label", "\x1b[31m", "-o", model, code=2),
    ]
    for result in printed:
        assert not {"\x1b", "\u202e", "😄"} & set(result.output)
    for name in ("[/]", ":smile:", r"\x1b[31mred", r"\u202ebackwards"):
        assert name in printed[1].output
    assert "[bold]y[/bold] = yes" in printed[2].output
