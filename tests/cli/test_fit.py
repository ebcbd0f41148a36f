"""pushrank fit: every model, its seed and parameters, its probabilities, and labels of some rows."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pushrank import metrics
from pushrank.cli import model as cli_model
from pushrank.cli.comparison import with_times
from pushrank.cli.errors import InputError
from pushrank.cli.features import read_features
from pushrank.cli.fit import ranker_of
from pushrank.cli.forms import CompareOptions, FitOptions
from pushrank.cli.model import MODELS, fit_pipeline, make_model, make_ranking_pipelines
from pushrank.cli.names import model_names
from pushrank.cli.options import FeatureSource, parameters_of
from pushrank.datasets import make_stream
from pushrank.held_out import Rows, model_scores
from tests.cli.runner import call, fit, fitted

pytestmark = pytest.mark.fast
LEARN = {"output": Path("m.skops")}


@pytest.fixture(scope="module")
def rows():
    """90 rows with texts and gaps, whose classes a column tells apart."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"]).assign(t=rng.choice(["x", "y", None], 90))
    y = (X["a"] > 0.3).to_numpy()
    X.loc[::9, "b"] = np.nan
    return Rows(X, y, y)


def scored(name, rows, seed=0, members=()):
    """The scores of all rows by a model of them, as fit makes it, of few rounds."""
    ranker = ranker_of([*members], FitOptions(**LEARN))[0] if members else make_model(name, seed)
    known = ranker.get_params(deep=False)
    ranker.set_params(
        **{name: 10 for name in ("n_estimators", "max_iter") if isinstance(known.get(name), int)}
    )
    pipeline = make_ranking_pipelines({name: ranker}, ["a", "b"], ["t"])[name]
    return model_scores(fit_pipeline(pipeline, rows), rows.X)


SEARCHES = {"ensemble", "push-boost-cv", "top-ranker-cv", "ranker-search-cv"}  # take seconds


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name in SEARCHES)) for name in sorted(MODELS)]
)
@pytest.mark.filterwarnings("ignore")
def test_every_model_fits_to_the_same_scores_again(rows, name):
    once = scored(name, rows)
    assert len(set(once)) > 1
    np.testing.assert_array_equal(scored(name, rows), once)


@pytest.mark.parametrize("name", ["pnorm-push", "logistic-regression", "ensemble", "push-boost"])
@pytest.mark.filterwarnings("ignore")
def test_rows_of_weight_zero_are_no_rows(rows, name):
    members = ["logistic-regression", "ir-push"] if name == "ensemble" else []
    weights = np.arange(90) % 4
    X = rows.X.assign(a=rows.X["a"] * np.where(weights == 0, 1e6, 1.0))
    whole = rows._replace(X=X, weights=weights.astype(float))
    rest = scored(name, whole.part(np.flatnonzero(weights)), members=members)
    np.testing.assert_array_equal(scored(name, whole, members=members)[weights > 0], rest)


@pytest.mark.filterwarnings("ignore")
def test_another_seed_draws_otherwise(rows):
    assert (scored("perceptron-at-k", rows, seed=0) != scored("perceptron-at-k", rows, seed=1)).any()
    assert make_model("perceptron-at-k", 3, {"random_state": 5}).random_state == 5


def test_large_numbers_up_to_the_bound_are_learnt_from(rows):
    large = rows._replace(X=rows.X.assign(a=rows.X["a"] / rows.X["a"].abs().max() * 1e150))
    assert metrics.auc(rows.y, scored("pnorm-push", large)) > 0.9


def test_parameters_are_those_of_the_model():
    texts = ["p=8", "alpha = 0.5", "solver=lbfgs", "bottom_weight=None"]
    given = parameters_of(texts)
    assert given == {"p": 8, "alpha": 0.5, "solver": "lbfgs", "bottom_weight": None}
    known = make_model("pnorm-push", parameters=given).get_params()
    assert {name: known[name] for name in given} == given
    for name, parameters, says in (
        ("pnorm-push", {"alpa": 1}, "pnorm-push has no such parameter; did you mean alpha\\? It has "),
        ("P-Norm Push, p = 8", {"p": 4}, "says which p; leave --set p out, or take --model pnorm-push."),
        ("ir-push", {"p": 2}, "--set p=2: ir-push has no such parameter"),
    ):
        with pytest.raises(InputError, match=says):
            make_model(name, parameters=parameters)
    several = FitOptions(**LEARN, parameters=["p=8"])
    with pytest.raises(InputError, match="--set is for one model, and an ensemble has several"):
        ranker_of(["ir-push", "pnorm-push"], several)
    with pytest.raises(InputError, match="--jobs is a number of processes, or -1, for --model ensemble"):
        ranker_of(["ir-push"], FitOptions(**LEARN, jobs=2))


def test_names_known_before_the_models_are_imported_are_those_of_the_models():
    assert model_names() == sorted(MODELS)


def test_json_has_what_is_printed_and_the_default_is_boosted_stumps(visits, monkeypatch):
    monkeypatch.chdir(visits.parent)
    words = ["fit", "visits.csv", "--label", "fraud", "--exclude", "customer", "--exclude", "day"]
    words += ["--budget", 10, "--force", "-o", "m.skops"]
    first, threshold, following = call(*words).stdout.splitlines()
    facts = json.loads(call(*words, "--json").stdout)
    assert (
        f"pnorm-push, fitted to 60 rows ({facts['positives']} with fraud = 1) with 3 numeric columns" in first
    )
    expected, alert = r"([\d.]+), which (\d+) to (\d+) of 60 new rows will reach", facts["alert"]
    found = [float(number) for number in re.search(expected, threshold).groups()]
    assert found == pytest.approx([alert["threshold"], *alert["expected_rows"]], abs=0.5)
    assert following == f"Next: {facts['commands'][0]}"
    # The runner takes another model where none is named and no file may name it.
    Path("none.toml").write_text("")
    default = call(*words[:-5], "--config", "none.toml", "--force", "-o", "m.skops", "--json").stdout
    assert json.loads(default)["model"] == "boosted stumps, p = 16"


def test_probabilities_are_calibrated_on_rows_held_out(files, frame):
    out, data = files / "ranked.csv", files / "data.csv"
    model = fit(files, "--probability")
    call("score", model, data, "-o", out, "--probability", "--columns", "class")
    ranked = pd.read_csv(out)
    assert list(ranked) == ["rank", "score", "probability", "class"]
    assert (np.diff(ranked["probability"]) <= 0).all()
    # 30 features leave little to guess: the mean is the share of positives, as of any logistic curve
    share = (frame["class"] == "malignant").mean()
    assert ranked["probability"].mean() == pytest.approx(share, abs=0.02)
    frame[:0].to_csv(files / "none.csv", index=False)
    call("score", model, files / "none.csv", "-o", out, "--probability")
    assert list(pd.read_csv(out)) == ["rank", "score", "probability", *frame]
    refused = call("score", fitted(data), data, "-o", out, "--probability", code=2).stderr
    assert "fit it with --probability" in refused


@pytest.fixture(scope="module")
def missing(tmp_path_factory):
    """40 days of rows whose labels are missing below the list, later below it, or at random; by name."""
    folder, stream = tmp_path_factory.mktemp("missing"), make_stream(40, 60, random_state=0)
    frame = pd.DataFrame(stream.data, columns=stream.feature_names).assign(
        came=stream.time, late=stream.target, summer=1 * (stream.day >= 20)
    )
    place = pd.Series(stream.data[:, :3].sum(axis=1)).groupby(stream.day).rank(ascending=False)
    known = {
        "chosen": place <= 10,
        "later": (place <= 10) | (stream.day < 20),
        "random": np.random.default_rng(7).random(len(frame)) < 0.5,
    }
    for name, has_label in known.items():
        frame.assign(late=frame["late"].where(has_label)).to_csv(folder / f"{name}.csv", index=False)
    # The rows without a label score higher than most, by the season, and lower than others of theirs.
    late = (frame["late"] | frame["summer"]).where(known["later"])
    frame.assign(late=late).to_csv(folder / "summer.csv", index=False)
    return folder


BOTH = "mostly of low scores and of late times: somebody chose which rows got one"


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("chosen", {}, "labels are missing for 81 % of the rows, mostly of low scores: somebody chose which"),
        ("later", {"time": "came"}, BOTH),
        ("summer", {"time": "came"}, BOTH),
        ("random", {"time": "came"}, ""),
    ],
)
def test_a_fit_says_which_rows_lack_a_label(missing, capsys, name, options, says):
    source = FeatureSource(missing / f"{name}.csv", "late", exclude=[] if options else ["came"])
    data = read_features(source, FitOptions(**LEARN, **options))
    found = cli_model.missing_in(data.due(), 0)
    assert (bool(found), says in found) == (bool(says), True)
    assert "have no label in column 'late'" in capsys.readouterr().err


def test_rows_that_somebody_chose_promise_nothing(missing):
    words = ["fit", missing / "chosen.csv", "--label", "late", "--exclude", "came", "-o", missing / "m.skops"]
    for option, *more in (["--budget", 50], ["--hold-out", "20%", "--budget", 50], ["--probability"]):
        said = call(*words, option, *more, code=2).stderr
        assert f"{option} needs a label in every row" in said
        assert "pushrank score --audit" in said
    by_day = ["fit", missing / "chosen.csv", "--label", "late", "--budget", "5/day", "--time", "came"]
    assert "--budget needs days in which all rows" in call(*by_day, "-o", missing / "m.skops", code=2).stderr
    assert not (missing / "m.skops").exists()


def test_what_is_expected_rests_on_days_with_all_labels(missing):
    words = ["--label", "late", "--budget", "5/day", "--time", "came", "-o", missing / "later.skops"]
    found = json.loads(call("fit", missing / "later.csv", *words, "--json").stdout)
    # Of the 20 days before the list those that come after the first rows learnt from.
    assert 10 <= found["expected"]["periods"] < 20
    assert (missing / "later.alert.db").exists()


@pytest.mark.parametrize("more", [["--budget", 200, "--shuffle"], ["--budget", "5/day", "--time", "came"]])
def test_a_comparison_on_labels_of_some_rows_gives_bounds_and_no_verdict(missing, more):
    words = ["compare", missing / "chosen.csv", "--label", "late", *more, "--model", "logistic-regression"]
    found = json.loads(call(*words, "--json", code=3).stdout)
    assert "No verdict" in " ".join(found["sentences"])
    [of] = found["scores"].values()
    assert of["rows"] == pytest.approx(200 if "--shuffle" in more else 5 * 33, abs=10)
    assert of["hits_at_most"] == pytest.approx(of["hits"] + of["rows"] - of["labelled"])
    assert 0 < of["hits"] < of["labelled"] < of["rows"]
    for option in (["--save", missing / "best.skops"], ["--folds", "5x2"], ["--labels-after", "never"]):
        said = call(*words, *option, code=2).stderr
        assert re.search(f"{option[0]}.* (needs a label in every row|draws other parts|is for labels)", said)
    assert not (missing / "best.skops").exists()


def test_labels_that_are_missing_at_random_may_be_left_out(missing):
    source = FeatureSource(missing / "random.csv", "late")
    config = CompareOptions(budget=100, shuffle=True, labels_after="never")
    data = with_times(read_features(source, config), config).due()
    words = ["compare", missing / "random.csv", "--label", "late", "--budget", 100, "--shuffle"]
    shown = call(*words, "--labels-after", "never", "--model", "logistic-regression", "--folds", 2).stdout
    assert f"random.csv: {len(data.labelled.y):,} rows" in shown
    assert "Chosen: logistic regression" in shown
