"""pushrank evaluate: what is counted, and what is printed."""

import json
import re

import pytest

from pushrank import metrics
from pushrank.cli.model import SavedModel
from tests.cli.runner import LABEL, call, fitted

pytestmark = pytest.mark.fast


def test_an_evaluation_is_the_measurement_of_the_scores_of_the_model(files, monkeypatch):
    monkeypatch.setattr("pushrank.metrics._bootstrap.DEFAULT_RESAMPLES", 200)
    model, data = fitted(files / "data.csv"), files / "data.csv"
    saved = SavedModel.load(model)
    table = saved.read(data)
    y, scores = (table.frame["class"] == "malignant").to_numpy(), {"pnorm-push": saved.scores(table)}
    for more, options in (
        (["--budget", 200], {"k": 200}),
        (["--budget", 200, "--seed", 1], {"k": 200, "random_state": 1}),
        (["--no-intervals", "--all"], {"every": True, "confidence_level": None}),
    ):
        found = json.loads(call("evaluate", model, data, *more, "--json").stdout)
        expected = metrics.measure(y, scores, **{"random_state": 0} | options).summary()
        assert found | json.loads(json.dumps(expected)) == found


def test_an_evaluation_in_print_is_short_unless_all_is_asked_for(files):
    model, data = fitted(files / "data.csv"), files / "data.csv"
    shown = call("evaluate", model, data, "--budget", 30).output
    assert "positives among the first 30 rows" in shown
    assert "Intervals take the rows to be independent" in shown
    assert "bedroc" in shown
    assert "push_error" not in shown
    everything = call("evaluate", model, data, "--all", "--no-intervals").output
    assert "push_error" in everything
    assert "interval" not in everything.lower()


@pytest.mark.parametrize(("n", "n_known"), [(1, 0), (3, 3), (5, 9)])
def test_an_evaluation_of_few_positives(files, frame, n, n_known):
    model = fitted(files / "data.csv")
    some = frame["class"].eq("malignant").cumsum().le(n) | frame["class"].eq("benign")
    frame[some].to_csv(files / "few.csv", index=False)
    found = json.loads(call("evaluate", model, files / "few.csv", "--json").stdout)
    assert (found["positives"], found["depth"]) == (n, 1)
    [measures] = found["scores"].values()
    known = [of for of in measures.values() if of["low"] is not None]
    assert len(known) == n_known
    assert all(of["low"] <= of["estimate"] <= of["high"] for of in known)
    assert (f"bedroc (it takes 5 positives, found {n})" in found["without_interval"]) == (n < 5)


def test_an_evaluation_of_rows_of_which_few_have_a_label(files, frame):
    model = fitted(files / "data.csv", *LABEL, "--budget", 50)
    frame.assign(**{"class": frame["class"].where(frame.index % 5 == 0)}).to_csv(files / "few.csv")
    shown = " ".join(call("evaluate", model, files / "few.csv", "--budget", 30).stdout.split())
    assert "114 looked at, 114 labelled" in shown
    assert "Labels are missing" not in shown
    assert re.search(r"\d+ of 569 rows reach the alert threshold, [-.\d]+; \d+ to", shown)
    held = ["score", model, files / "data.csv", "--promise", 0.95, "--labelled", files / "few.csv"]
    assert "here each row needs one" in call(*held, code=2).stderr
