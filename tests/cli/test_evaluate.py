"""pushrank evaluate: what is counted, and what is printed."""

import json

import pytest

from pushrank import metrics
from pushrank.cli.model import SavedModel
from tests.cli.runner import call, fitted

pytestmark = pytest.mark.fast


def test_evaluation_counts_the_first_rows_and_says_what_chance_may_do(files, monkeypatch):
    monkeypatch.setattr("pushrank.metrics._bootstrap.DEFAULT_RESAMPLES", 200)
    model, data = fitted(files), files / "data.csv"
    saved = SavedModel.load(model)
    table = saved.read(data)
    y, scores = (table.frame["class"] == "malignant").to_numpy(), saved.scores(table)
    summary = json.loads(call("evaluate", model, data, "--budget", 200, "--json").stdout)
    [found] = summary["scores"].values()
    precision = metrics.precision_at_k(y, scores, 200)
    assert found["hits"]["estimate"] == pytest.approx(200 * precision)
    first_rows = {"precision": "precision_at_k", "recall": "recall_at_k", "lift": "lift"}
    depths = {**{name: {"k": 200} for name in first_rows}, "enrichment_factor": {"fraction": 0.01}}
    for name in (*depths, "average_precision", "auc", "partial_auc", "bedroc"):
        measure, depth = first_rows.get(name, name), depths.get(name, {})
        interval = metrics.confidence_interval(y, scores, measure, random_state=0, **depth)
        assert found[name] == pytest.approx(interval._asdict())
    assert found["precision"]["low"] < precision < found["precision"]["high"]
    assert found["positives_at_top"]["low"] is None
    bare = json.loads(call("evaluate", model, data, "--json", "--no-intervals", "--all").stdout)
    shown = bare["scores"]["pnorm-push"]
    for name in ("positives_at_top", "average_reciprocal_rank", "discounted_cumulative_gain"):
        assert shown[name]["estimate"] == pytest.approx(getattr(metrics, name)(y, scores))
    assert shown["positives_below_best_negative"]["estimate"] == metrics.r_max(y, scores)
    assert shown["push_error"]["estimate"] == pytest.approx(metrics.rp_error(y, scores, 4.0, scale="mean"))
    assert bare["depth"] == round(y.sum() / 4)
    assert bare["scores"]["pnorm-push"]["auc"]["low"] is None
    other = json.loads(call("evaluate", model, data, "--budget", 200, "--json", "--seed", 1).stdout)
    assert other["scores"]["pnorm-push"]["auc"]["low"] != found["auc"]["low"]
    assert other["scores"]["pnorm-push"]["auc"]["estimate"] == found["auc"]["estimate"]


def test_an_evaluation_in_print_is_short_unless_all_is_asked_for(files):
    model, data = fitted(files), files / "data.csv"
    shown = call("evaluate", model, data, "--budget", 30).output
    assert "positives among the first 30 rows" in shown
    assert "Intervals take the rows to be independent" in shown
    assert "bedroc" in shown
    assert "push_error" not in shown
    everything = call("evaluate", model, data, "--all", "--no-intervals").output
    assert "push_error" in everything
    assert "interval" not in everything.lower()


def test_an_evaluation_of_one_positive(files, frame):
    model = fitted(files)
    one = frame["class"].eq("malignant").cumsum().le(1) | frame["class"].eq("benign")
    frame[one].to_csv(files / "one.csv", index=False)
    found = json.loads(call("evaluate", model, files / "one.csv", "--json").stdout)
    assert (found["positives"], found["depth"]) == (1, 1)
    [measures] = found["scores"].values()
    known = [of for of in measures.values() if of["low"] is not None]
    assert len(known) >= 5
    assert all(of["low"] <= of["estimate"] <= of["high"] for of in known)
