"""pushrank fit: every model, its seed, the positive value, its probabilities, and labels of some rows."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from pushrank.cli.model import MODELS, SavedModel, make_model
from pushrank.cli.names import model_names
from pushrank.cli.options import BOUNDS
from pushrank.datasets import make_stream
from tests.cli.runner import LABEL, auc, call, fit, fitted

pytestmark = pytest.mark.fast

ROUNDS = {"ada-boost-ranker", "gradient-boosting", "push-boost", "random-forest", "rank-boost"}


def test_large_numbers_up_to_the_bound_are_learnt_from(files, frame):
    frame.assign(area=frame["area"] / frame["area"].max() * 1e150).to_csv(files / "large.csv", index=False)
    model = fit(files, data="large.csv")
    assert auc(model, files / "large.csv") > 0.9


SEARCHES = {"ensemble", "push-boost-cv", "top-ranker-cv"}  # take seconds
# Models that are tried by day are much like these.
ALIKE = {"ada-boost-ranker", "ir-push", "ranker-search-cv", "sgd-at-k",
         "smooth-margin-ranking", "svmmap"}  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [pytest.param(name, marks=[pytest.mark.nightly] * (name in SEARCHES | ALIKE)) for name in sorted(MODELS)],
)
def test_every_model_fits_to_the_same_scores_again(files, model):
    scored = []
    for _ in range(2):
        options = MODELS[model]().get_params()
        few = [("n_estimators", "--n-estimators"), ("max_iter", "--max-iter")] if model in ROUNDS else []
        short = [text for name, option in few if name in options for text in (option, 10)]
        saved = fit(files, "--model", model, *short)
        call("score", saved, files / "data.csv", "-o", files / "ranked.csv")
        scored.append((files / "ranked.csv").read_bytes())
    assert scored[0] == scored[1]
    assert pd.read_csv(files / "ranked.csv")["score"].nunique() > 1


@pytest.mark.parametrize("model", ["pnorm-push", "logistic-regression", "ensemble", "push-boost"])
def test_rows_of_weight_zero_are_no_rows(files, frame, model):
    weights = np.arange(len(frame)) % 4
    numbers = frame.select_dtypes("number") * np.where(weights == 0, 1e6, 1.0)[:, None]
    whole = frame.assign(**numbers, w=weights)
    scored = []
    for name, part in (("whole", whole), ("rest", whole[weights > 0])):
        part.to_csv(files / f"{name}.csv", index=False)
        member = ["--member", "logistic-regression", "--member", "pnorm-push"] if model == "ensemble" else []
        say = call("fit", files / f"{name}.csv", *LABEL, "--model", model, *member, "--weight", "w",
                   "--budget", 50, "-o", files / "m.skops").stdout  # fmt: skip
        assert f"on {sum(weights > 0)} rows" in say
        call("score", files / "m.skops", files / "data.csv", "-o", files / "ranked.csv")
        scored.append((say.replace("whole", "rest"), (files / "ranked.csv").read_bytes()))
    assert scored[0] == scored[1]


def test_another_seed_draws_otherwise(files):
    scored = []
    for seed in (0, 1):
        model = fit(files, "--model", "perceptron-at-k", "--seed", seed)
        call("score", model, files / "data.csv", "-o", files / "ranked.csv")
        scored.append((files / "ranked.csv").read_bytes())
    assert scored[0] != scored[1]


def test_positive_value_and_one_against_the_rest(files, frame):
    model = fit(files, "--positive", "benign")
    assert SavedModel.load(model).positive == "benign"
    frame.assign(digit=np.arange(len(frame)) % 3).to_csv(files / "three.csv", index=False)
    for text in ("1", "1.0"):
        call("fit", files / "three.csv", "--label", "digit", "--positive", text, "-o", files / "m.skops")
        assert SavedModel.load(files / "m.skops").positive == "1"
    call("fit", files / "data.csv", "--label", "checked", "--positive", "true", "-o", files / "m.skops")


def test_probabilities_are_calibrated_on_rows_held_out(files, frame):
    out = files / "ranked.csv"
    model = fit(files, "--probability")
    call("score", model, files / "data.csv", "-o", out, "--probability", "--columns", "class")
    ranked = pd.read_csv(out)
    assert list(ranked) == ["rank", "score", "probability", "class"]
    assert (np.diff(ranked["probability"]) <= 0).all()
    # 30 features leave little to guess: the mean is the share of positives, as of any logistic curve
    share = (frame["class"] == "malignant").mean()
    assert ranked["probability"].mean() == pytest.approx(share, abs=0.02)
    frame[:0].to_csv(files / "none.csv", index=False)
    call("score", model, files / "none.csv", "-o", out, "--probability")
    assert list(pd.read_csv(out)) == ["rank", "score", "probability", *frame]
    for said, options in {
        "fit it with --probability": ["--probability"],
        "--columns 'nobody' is no column of": ["--columns", "nobody"],
    }.items():
        model, data = fitted(files / "data.csv"), files / "data.csv"
        assert said in call("score", model, data, "-o", out, *options, code=2).stderr


def test_names_known_before_the_models_are_imported_are_those_of_the_models():
    assert model_names() == sorted(MODELS)


@pytest.mark.parametrize("option", BOUNDS)
def test_numbers_refused_before_the_models_are_imported_are_refused_by_them(option):
    """By every model that has the option: the next number beyond its bound."""
    bounds = BOUNDS[option]
    out = bounds["least"] - 1 if "least" in bounds else bounds["above"]
    name = option.replace("-", "_")
    # scikit-learn's lets no iterations pass, with a warning that it learnt nothing.
    taking = {"logistic-regression"} if option == "max-iter" else set()
    models = {model for model in MODELS if name in MODELS[model]().get_params()} - {*SEARCHES, *taking}
    assert models
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    for model in sorted(models):
        with pytest.raises((ValueError, TypeError)):
            make_model(model, **{name: out}).fit(X, y)


@pytest.fixture(scope="module")
def missing(tmp_path_factory):
    """40 days of rows whose labels are missing below the list, at random, or of the last days; by name."""
    folder, stream = tmp_path_factory.mktemp("missing"), make_stream(40, 60, random_state=0)
    frame = pd.DataFrame(stream.data, columns=stream.feature_names).assign(
        came=stream.time, late=stream.target, summer=1 * (stream.day >= 20)
    )
    place = pd.Series(stream.data[:, :3].sum(axis=1)).groupby(stream.day).rank(ascending=False)
    known = {
        "chosen": place <= 10,
        "later": (place <= 10) | (stream.day < 20),
        "random": np.random.default_rng(7).random(len(frame)) < 0.5,
        "last": stream.day < 36,
    }
    for name, has_label in known.items():
        frame.assign(late=frame["late"].where(has_label)).to_csv(folder / f"{name}.csv", index=False)
    # The rows without a label score higher than most, by the season, and lower than others of theirs.
    late = (frame["late"] | frame["summer"]).where(known["later"])
    frame.assign(late=late).to_csv(folder / "summer.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("name", "more", "says"),
    [
        (
            "chosen",
            ["--exclude", "came"],
            "81 % of the rows, mostly of low scores: somebody chose which rows got one.",
        ),
        (
            "later",
            ["--time", "came"],
            "mostly of low scores and of late times: somebody chose which rows got one.",
        ),
        (
            "summer",
            ["--time", "came"],
            "mostly of low scores and of late times: somebody chose which rows got one.",
        ),
        ("last", ["--time", "came"], "the last 4 days have no labels: add --labels-after 4d."),
        ("last", ["--time", "came", "--labels-after", "4d"], ""),
        ("random", ["--time", "came"], ""),
    ],
)
def test_a_fit_says_which_rows_lack_a_label(missing, name, more, says):
    words = ["fit", missing / f"{name}.csv", "--label", "late", *more, "-o", missing / "m.skops", "--force"]
    said = call(*words, "--model", "logistic-regression").stderr
    assert ("warning: labels are missing" in said or "warning: the last" in said) == bool(says)
    assert says in said
    assert "have no label in column 'late'" in said


@pytest.mark.parametrize("more", [["--budget", 50], ["--budget", 50, "--hold-out", "20%"], ["--probability"]])
def test_rows_that_somebody_chose_promise_nothing(missing, more):
    words = ["fit", missing / "chosen.csv", "--label", "late", "--exclude", "came", "-o", missing / "m.skops"]
    said = call(*words, "--force", *more, code=2).stderr
    assert f"{more[-2] if len(more) > 3 else more[0]} needs a label in every row" in said
    assert "pushrank score --audit" in said
    call(*words[:1], missing / "random.csv", *words[2:], "--force", *more)


def test_what_is_expected_rests_on_days_with_all_labels(missing):
    words = ["--label", "late", "--budget", "5/day", "--time", "came", "-o", missing / "m.skops", "--force"]
    shown = call("fit", missing / "later.csv", *words).stdout
    # Of the 20 days before the list those that come after the first rows learnt from.
    assert re.search(r"in each of 1\d days held out", shown)
    assert "--budget needs days with all labels" in call("fit", missing / "chosen.csv", *words, code=2).stderr


@pytest.mark.parametrize("more", [["--budget", 200, "--random"], ["--budget", "5/day", "--time", "came"]])
def test_a_comparison_on_labels_of_some_rows_gives_bounds_and_no_verdict(missing, more):
    words = ["compare", missing / "chosen.csv", "--label", "late", *more, "--model", "logistic-regression"]
    found = json.loads(call(*words, "--json", code=3).stdout)
    assert "No verdict" in " ".join(found["sentences"])
    [of] = found["scores"].values()
    assert of["rows"] == pytest.approx(200 if "--random" in more else 5 * 33, abs=10)
    assert of["hits_at_most"] == pytest.approx(of["hits"] + of["rows"] - of["labelled"])
    assert 0 < of["hits"] < of["labelled"] < of["rows"]
    shown = " ".join(call(*words, code=3).stdout.split())
    assert "No verdict: known hits favour the model whose list chose the rows" in shown
    for option in (["--save-best", missing / "best.skops"], ["--repeats", 2]):
        said = call(*words, *option, code=2).stderr
        assert f"{option[0]} needs a label in every row" in said or "--repeats draws other parts" in said
    said = call(*words, "--drop-unlabelled", code=2).stderr
    assert "--drop-unlabelled is for labels that are missing at random, and labels are missing for" in said


def test_labels_that_are_missing_at_random_may_be_left_out(missing):
    words = ["compare", missing / "random.csv", "--label", "late", "--budget", 100, "--random", "--model",
             "logistic-regression", "--model", "IR Push", "--no-together", "--drop-unlabelled"]  # fmt: skip
    assert "To fit" in call(*words).stdout
