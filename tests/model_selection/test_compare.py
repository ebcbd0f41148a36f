"""Rankers compared on the same test parts, with repetitions and nested choice."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import IRPush, PNormPush, PushBoostCV, StackingRanker, TopRankerCV, metrics
from pushrank.held_out import Rows, check_classes
from pushrank.held_out.plan import Plan
from pushrank.model_selection import compare_rankers, default_rankers, fit_held_out
from pushrank.model_selection.compare import checked_models, known_rankers
from pushrank.model_selection.comparison import CHOSEN
from pushrank.monitoring import Reference
from samples import by_first_column

CRITERION = "precision at 1/4"


def rows(n_rows=120, seed=0):
    return by_first_column(n_rows, 3, 0.5, seed=seed)


MODELS = {"logistic": LogisticRegression(), "bayes": GaussianNB(), "push": IRPush()}


def test_models_with_scores_or_probabilities_are_measured_on_the_same_parts():
    X, y = rows()
    called = []
    options = {"budget": 30, "n_repeats": 2, "random_state": 0}
    comparison = compare_rankers(MODELS, X, y, **options, callback=lambda: called.append(0))
    assert comparison.baseline_ == "logistic"
    assert len(called) == 3 * 10
    for model, measures in comparison.measures.items():
        assert {values.shape for values in measures.values()} == {(10,)}
        for fold in range(5):
            within = comparison.folds == fold
            auc = metrics.auc(y[within], comparison.scores[model][within])
            assert auc == pytest.approx(measures["AUC"][fold])
    again = compare_rankers(
        MODELS, sparse.coo_array(X).toarray().tolist(), list(y), budget=30, n_repeats=2, random_state=0
    )
    assert again.summary() == comparison.summary()
    assert comparison.verdict() in repr(comparison)
    frame = comparison.to_frame()
    assert len(frame) == 3 * 10 * 5
    assert list(frame) == ["model", "measure", "part", "value"]
    for model, measures in comparison.measures.items():
        assert comparison.mean(model, "AUC") == pytest.approx(measures["AUC"].mean())


def test_the_positive_of_two_texts_has_to_be_named():
    X, y = rows()
    named, models = np.where(y == 1, "active", "inactive"), {"bayes": GaussianNB()}
    with pytest.raises(ValueError, match="pass pos_label='active' or pos_label='inactive'"):
        compare_rankers(models, X, named, cv=2)
    comparison = compare_rankers(models, X, named, cv=2, pos_label="active", random_state=0)
    assert comparison.summary() == compare_rankers(models, X, y, cv=2, random_state=0).summary()


def test_scored_rows_are_unseen_by_the_fit():
    """With random labels a fit to 60 columns ranks its training rows well, and unseen rows by chance."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(240, 60)), rng.random(240) < 0.5
    comparison = compare_rankers({"a": LogisticRegression(), "b": IRPush()}, X, y, cv=4, random_state=0)
    assert set(comparison.folds) == {0, 1, 2, 3}
    for model, order in comparison.held_out_.items():
        assert 0.35 < metrics.auc(y, order) < 0.65, model


def test_the_criterion_can_be_a_scorer():
    X, y = rows()
    own = lambda m, X, y: m.score(X, y)  # noqa: E731
    for scoring, name in (("bedroc", "bedroc"), ("roc_auc", "roc_auc"), (own, "<lambda>")):
        comparison = compare_rankers(MODELS, X, y, cv=3, scoring=scoring, random_state=0)
        assert comparison.criterion == name
        assert comparison.chosen_ == max(MODELS, key=lambda model: comparison.mean(model, name))
    np.testing.assert_allclose(
        compare_rankers(MODELS, X, y, scoring="roc_auc", random_state=0).measures["push"]["roc_auc"],
        compare_rankers(MODELS, X, y, random_state=0).measures["push"]["AUC"],
    )


def test_groups_stay_together():
    X, y = rows()
    groups = np.repeat(np.arange(24), 5)
    comparison = compare_rankers(MODELS, X, y, cv=GroupKFold(4), groups=groups, nested=True, random_state=0)
    assert all(len(set(comparison.folds[groups == group])) == 1 for group in range(24))
    assert CHOSEN in comparison.measures


def test_the_default_models_are_compared():
    X, y = rows(80)
    comparison = compare_rankers(None, X, y, cv=2, budget=20, random_state=0)
    assert list(comparison.measures) == list(default_rankers(n_rows=80))
    assert known_rankers(n_rows=80, budget=20)["linear, chosen for the top"].fraction == 0.25
    comparison = compare_rankers(None, sparse.csr_array(X), y, cv=2, random_state=0)
    assert list(comparison.measures) == list(default_rankers(dense=False))


def test_the_nested_choice_sees_only_its_training_part():
    """After the fits to three training parts of 60 rows, six fits to 40 of each choose among them."""
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y):
            seen.append(len(y))
            return super().fit(X, y)

    X, y = np.random.default_rng(0).normal(size=(90, 3)), np.arange(90) % 2
    comparison = compare_rankers({"a": Spy(), "b": Spy(C=0.01)}, X, y, cv=3, nested=True, random_state=0)
    # At last both models are fitted to the halves of a training part.
    assert seen == [60] * 6 + [40] * 18 + [30] * 4
    assert comparison.chosen_ in ("a", "b")
    assert comparison.optimism_.mean == pytest.approx(
        comparison.mean(comparison.chosen_, CRITERION) - comparison.mean(CHOSEN, CRITERION)
    )
    assert "the figure of choosing a single model inside every training part" in comparison.verdict()
    assert CHOSEN not in comparison.differences_
    assert CHOSEN not in comparison.held_out_


def test_true_is_no_budget():
    X, y = rows()
    models, time = {"push": PNormPush(), "pull": IRPush()}, np.arange(120)
    for use in (
        lambda: compare_rankers(models, X, y, cv=2, budget=True),
        lambda: fit_held_out(models, X, y, cv=2, budget=True),
        lambda: TopRankerCV(cv=2, budget=True).fit(X, y),
        lambda: metrics.measure_periods(y, {"x": X[:, 0]}, budget=True, time=time),
        lambda: metrics.threshold_for(y, X[:, 0], metrics.AtBudget(True)),
        lambda: Reference.of(True, time, X[:, 0], y),
    ):
        with pytest.raises(TypeError, match=r"must be (an integer|one by period).*, got True"):
            use()


@pytest.mark.parametrize(
    ("ways", "budget"),
    [
        # Shares become rows as they do in measures: of all rows upwards, of 45 positives to the nearest.
        ({"fraction": 0.07}, 9),
        ({"fraction": 0.05}, 6),
        ({"fraction": 0.001}, 1),
        ({"fraction_of_positives": 0.25}, 11),
        ({"fraction_of_positives": 0.001}, 1),
    ],
)
def test_a_budget_may_be_a_share_of_the_rows_or_of_the_positives(ways, budget):
    X, _ = rows()
    y, models = np.arange(120) % 8 < 3, {"bayes": GaussianNB()}
    settings = {"cv": 2, "random_state": 0}
    shared, counted = (compare_rankers(models, X, y, **of, **settings) for of in (ways, {"budget": budget}))
    assert (shared.budget, shared.criterion) == (budget, "hits in budget")
    assert shared.summary() == counted.summary()
    assert fit_held_out(models, X, y, **ways, **settings).plan.budget == budget
    kept = fit_held_out(models, X, y, **ways, guarantee_fraction=0.5, **settings)
    assert (kept.budget, kept.plan.budget) == (budget, max(1, round(0.5 * budget)))


@pytest.mark.parametrize("use", [compare_rankers, fit_held_out, TopRankerCV, PushBoostCV])
@pytest.mark.parametrize(
    ("ways", "message"),
    [
        (
            {"budget": 0.05},
            "budget must be an integer, .*got 0.05; in place of it pass .*fraction_of_positives",
        ),
        ({"budget": 30.0}, "budget must be an integer, .*got 30.0; in place of it pass a share as fraction"),
        ({"budget": "5%"}, "budget must be an integer, got '5%'"),
        ({"fraction": 1.5}, "fraction must be > 0 and <= 1, got 1.5"),
        ({"fraction": "5%"}, "fraction must be a number"),
        ({"fraction_of_positives": 0.0}, "fraction_of_positives must be > 0"),
        (
            {"budget": 6, "fraction": 0.05},
            "one of budget .rows., fraction .of the rows. and fraction_of_positives, got",
        ),
    ],
)
def test_a_budget_that_is_none_is_refused_by_one_sentence_everywhere(use, ways, message):
    X, y = rows()
    by_class = isinstance(use, type)
    call = (lambda: use(**ways).fit(X, y)) if by_class else (lambda: use({"b": GaussianNB()}, X, y, **ways))
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_models_may_be_judged_by_the_longest_list_of_a_precision():
    X, y = rows()
    scoring = metrics.make_top_scorer("recall_at_precision", precision=0.8)
    comparison = compare_rankers(MODELS, X, y, scoring=scoring, cv=3, random_state=0)
    assert comparison.criterion == comparison.order_ == "recall_at_precision"
    for name, scores in comparison.scores.items():
        parts = (comparison.folds == part for part in range(3))
        found = [
            metrics.threshold_for(y[of], scores[of], metrics.AtPrecision(0.8), confidence_level=None)
            for of in parts
        ]
        recalls = [of_part.recall for of_part in found]
        np.testing.assert_allclose(comparison.measures[name]["recall_at_precision"], recalls)
    most = max(MODELS, key=lambda name: comparison.mean(name, "recall_at_precision"))
    assert comparison.chosen_ == most
    assert "recall_at_precision" in comparison.verdict()


def test_warnings_of_the_fits_are_kept_by_model():
    X, y = rows()
    comparison = compare_rankers({"short": LogisticRegression(max_iter=1), "long": IRPush()}, X, y, cv=3)
    assert len(comparison.warnings["short"]) == 3
    assert comparison.warnings["long"] == []


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("at least one ranker", {"models": {}}),
        ("exactly 2 classes", {"y": np.arange(120) % 3}),
        ("one label for each of the 120 rows", {"y": [0, 1]}),
        ("budget must be >= 1 and <= 120, got 121", {"budget": 121}),
        ("cv must be at least 2", {"cv": 1}),
        ("n_repeats must be at least 1", {"n_repeats": 0}),
        ("n_repeats must be 1", {"cv": StratifiedKFold(3), "n_repeats": 2}),
        ("at least 2 test parts", {"cv": [(np.arange(60), np.arange(60, 120))]}),
        ("training part 1 of 2 has rows of one class only", {"y": np.arange(120) < 40, "cv": KFold(2)}),
        ("sample_weight must not be negative", {"sample_weight": np.full(120, -1.0)}),
        ("a number or a splitter", {"cv": [(np.arange(60), np.arange(60, 120))], "nested": True}),
        ("choose at most 45 folds", {"cv": 60}),
    ],
)
def test_bad_input_is_refused_before_any_fit(message, changes):
    class Never(LogisticRegression):
        def fit(self, *_rows):
            raise AssertionError

    X, y = rows()
    arguments = {"models": {"a": Never()}, "X": X, "y": y} | changes
    if "cv" in changes and changes["cv"] == 60:
        arguments["y"] = np.arange(120) < 45
    with pytest.raises(ValueError, match=message):
        compare_rankers(**arguments)


def test_models_without_scores_are_refused():
    from sklearn.svm import SVR

    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        compare_rankers({"a": SVR()}, *rows())
    with pytest.raises(TypeError, match="models must be a dict of rankers by name, got list"):
        compare_rankers([SVR()], *rows())


def test_the_rows_needed_are_those_that_nested_stratified_splits_need():
    def fewest_left(n_rows, folds):
        """The smallest training part of a class, as scikit-learn draws it."""
        y = np.arange(4 * n_rows) < n_rows
        return min(y[train].sum() for train, _ in StratifiedKFold(folds).split(y, y))

    for folds in (2, 3, 4, 5, 7):
        for n_rare in range(folds, 20):
            once = fewest_left(n_rare, folds)
            twice = fewest_left(once, folds) if once >= folds else 0
            y = np.arange(100) < n_rare
            if twice >= folds:
                check_classes(y, folds, 3)
            else:
                with pytest.raises(ValueError, match="need at least") as error:
                    check_classes(y, folds, 3)
                for at_most in re.findall(r"choose at most (\d+) folds, or", str(error.value)):
                    for fewer in range(2, int(at_most) + 1):
                        check_classes(y, fewer, 3)


def test_preprocessing_goes_into_the_models():
    X, y = rows()
    models = {name: make_pipeline(StandardScaler(), model) for name, model in MODELS.items()}
    scaled = compare_rankers(models, 1000.0 * X, y, random_state=0)
    np.testing.assert_allclose(
        scaled.measures["push"]["AUC"], compare_rankers(models, X, y, random_state=0).measures["push"]["AUC"]
    )


def test_preprocessing_that_pipelines_share_is_fitted_once_a_fold():
    """The same transformer objects are fitted once a fold, to the same measures as one for each model."""
    fits = []

    class Counting(StandardScaler):
        def fit(self, X, y=None):
            fits.append(len(X))
            return super().fit(X, y)

    X, y = rows()
    scaler, bare = Counting(), GaussianNB()
    shared = {name: make_pipeline(scaler, model) for name, model in MODELS.items()} | {"bare": bare}
    own = {name: make_pipeline(StandardScaler(), model) for name, model in MODELS.items()} | {"bare": bare}
    for scoring in (None, "roc_auc"):
        fits.clear()
        once = compare_rankers(shared, X, y, cv=3, scoring=scoring, random_state=0)
        # The halves are those of the last training part, for the errors.
        assert fits == [80] * 3 + [40] * 2
        each = compare_rankers(own, X, y, cv=3, scoring=scoring, random_state=0)
        assert once.summary() == each.summary()


def test_rows_before_the_first_test_part_are_not_measured():
    """No split holds these rows out, so the budget is the same share of the other rows."""
    X, y = rows()
    models = {"logistic": LogisticRegression(), "push": IRPush()}
    comparison = compare_rankers(models, X, y, cv=TimeSeriesSplit(3), budget=120, random_state=0)
    assert np.isnan(comparison.scores["push"][:30]).all()
    later = comparison.of_held_out_rows()
    assert later.held_out_["push"].shape == (90,)
    # Every row that is held out is in the budget.
    assert comparison.mean("push", "hits in budget") == pytest.approx(y[30:].mean() * 90, abs=3)
    with pytest.raises(ValueError, match="at most the 90 rows that are held out"):
        compare_rankers(models, X, y, cv=list(TimeSeriesSplit(3).split(X)), budget=91)


def test_test_parts_of_one_training_part_share_a_fit():
    fits = []

    class Spy(LogisticRegression):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    X, y = rows()
    train = np.arange(60)
    folds = [(train, np.arange(60, 90)), (train, np.arange(90, 120))]
    comparison = compare_rankers({"a": Spy()}, X, y, cv=folds)
    assert fits == [60, 30, 30]
    expected = Spy().fit(X[:60], y[:60]).decision_function(X[60:])
    np.testing.assert_array_equal(comparison.scores["a"][60:], expected)


def test_counts_are_of_all_rows_held_out():
    """A perfect ranking has every positive of all rows at the top, not those of a part."""
    _, y = rows()
    models = {"a": LogisticRegression(C=1e6)}
    with pytest.warns(UserWarning, match="columns of X that alone tell the two classes apart: 0. Copies"):
        comparison = compare_rankers(models, y[:, None] * 1.0, y, budget=int(y.sum()), cv=3)
    assert comparison.mean("a", "positives at top") == pytest.approx(y.sum())
    assert comparison.mean("a", "hits in budget") == pytest.approx(y.sum(), rel=0.05)
    assert comparison.name_of("precision at 1/4") == f"precision in {round(y.sum() / 4)} rows"


def test_columns_that_give_the_label_away_are_named():
    X, y = rows()
    frame = pd.DataFrame(X).rename(columns=str)
    texts = np.where(y, "won", "lost")
    leaks = {
        "number": np.where(y, 2.5, -1.0),
        "gaps": np.where(y, X[:, 0], np.nan),
        "nullable": pd.array(np.where(y, 3, 1), dtype="Int64"),
        "texts": texts,
        "category": pd.Categorical(texts),
        "truth": y == 1,
    }
    harmless = {
        "nearly": np.where(y, 2.5, np.where(np.arange(len(y)) % 9, 1.0, 2.5)),
        "of each row": [f"row {row}" for row in range(len(y))],
        "time": pd.Timestamp("2024-01-01") + pd.to_timedelta(y, "D"),
        "lists": [[1, 2]] * len(y),
    }
    assert Rows.checked(frame.assign(**leaks, **harmless), y).leaking_columns() == list(leaks)
    # So few rows of a class, or in all, may be apart by chance; sparse matrices are not looked through.
    assert Rows.checked(frame.assign(**leaks)[:19], y[:19]).leaking_columns() == []
    rare = np.arange(len(y)) < 4
    assert Rows.checked(rare[:, None] * 1.0, rare).leaking_columns() == []
    assert Rows.checked(sparse.csr_matrix(y[:, None] * 1.0), y).leaking_columns() == []


def test_weights_count_in_fits_and_in_the_weight_of_hits():
    X, y = rows()
    weights = np.where(X[:, 1] > 0.0, 10.0, 0.1)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    comparison = compare_rankers({"a": model}, X, y, cv=3, budget=120, sample_weight=weights, random_state=0)
    part = comparison.folds == 0
    expected = make_pipeline(StandardScaler(), LogisticRegression()).fit(
        X[~part], y[~part], logisticregression__sample_weight=weights[~part]
    )
    np.testing.assert_array_equal(comparison.scores["a"][part], expected.decision_function(X[part]))
    assert comparison.mean("a", "weight in budget") == pytest.approx(weights @ y)
    assert comparison.name_of("weight in budget") == "weight found in 120 rows"
    with pytest.raises(TypeError, match="takes no sample_weight"):
        compare_rankers({"a": KNeighborsClassifier()}, X, y, sample_weight=weights)


def test_trees_are_among_the_defaults_where_they_do_not_take_minutes():
    assert {"gradient boosting", "random forest", "LightGBM"} <= set(known_rankers())
    assert "LightGBM" not in known_rankers(n_rows=199)
    assert not {"random forest", "linear, chosen for the top"} & set(known_rankers(n_rows=20_001))
    assert {"gradient boosting", "LightGBM"} <= set(known_rankers(n_rows=3_000_000))
    assert "gradient boosting" not in known_rankers(n_rows=3_000_001)
    assert not {"gradient boosting", "extra trees"} & set(known_rankers(dense=False))


def test_the_defaults_are_six_families_or_those_that_there_are():
    alike = ["logistic regression", "P-Norm Push, p = 16", "boosted stumps, p = 16", "gradient boosting"]
    assert list(default_rankers()) == [*alike, "LightGBM, small steps", "extra trees"]
    assert list(default_rankers(lightgbm=False, n_rows=4_000)) == [*alike, "random forest", "extra trees"]
    assert list(default_rankers(n_rows=199)) == [*alike, "random forest", "extra trees"]
    assert list(default_rankers(n_rows=20_001)) == [*alike, "LightGBM, small steps"]
    assert list(default_rankers(n_rows=20_001, lightgbm=False)) == alike
    assert list(default_rankers(n_rows=3_000_001)) == alike[:3]
    assert list(default_rankers(dense=False)) == [*alike[:2], "IR Push"]


def test_boosters_that_refuse_names_of_columns_are_left_out_with_a_warning():
    X, y = rows(200)
    frame = pd.DataFrame(X).rename(columns=lambda number: f"amount [{number}]")
    with pytest.warns(UserWarning, match=r"LightGBM takes no names of columns with \["):
        models = checked_models(None, Plan.of(frame, y, cv=2))
    assert "random forest" in models
    assert "LightGBM, small steps" not in models
    assert "LightGBM, small steps" in checked_models(None, Plan.of(X, y, cv=2))


def test_processes_change_nothing_but_the_time():
    X, y = rows(400)
    shared = StandardScaler()
    models = {"push": make_pipeline(shared, IRPush()), "weak": make_pipeline(shared, IRPush(max_iter=1))}
    models["alone"] = make_pipeline(StandardScaler(), LogisticRegression())
    called = []
    options = {"budget": 40, "scoring": "roc_auc", "nested": True, "together": ["push", "alone"], "cv": 3}
    options["callback"] = lambda: called.append(0)
    alone, together = (
        compare_rankers(models, X, y, random_state=0, n_jobs=n_jobs, **options) for n_jobs in (None, 2)
    )
    # Three models, all of them together and the choice among them.
    assert len(called) == 2 * 5 * 3
    assert together.warnings == alone.warnings
    assert "max_iter=1" in together.warnings["weak"][0]
    for name, measures in alone.measures.items():
        np.testing.assert_allclose(together.scores[name], alone.scores[name], rtol=1e-12)
        for measure, values in measures.items():
            np.testing.assert_allclose(together.measures[name][measure], values, rtol=1e-12)
    assert together.summary() == alone.summary()


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_a_wrong_number_of_processes_is_refused_before_any_fit(n_jobs):
    with pytest.raises((TypeError, ValueError), match=r"^n_jobs must be .*got"):
        compare_rankers({"no model": None}, *rows(), n_jobs=n_jobs)


def test_processes_keep_the_configuration_and_the_warnings():
    outputs = []

    class Scaler(StandardScaler):
        def transform(self, X, copy=None):
            outputs.append(sklearn.get_config()["transform_output"])
            return super().transform(X, copy)

    class Warner(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            warnings.warn("to the user", UserWarning, stacklevel=2)
            return super().fit(X, y, sample_weight)

        def decision_function(self, X):
            warnings.warn("to the developer", FutureWarning, stacklevel=2)
            return super().decision_function(X)

    shared = Scaler()
    models = {f"C={C}": make_pipeline(shared, Warner(C=C)) for C in (0.01, 1.0)}
    with sklearn.config_context(transform_output="pandas"), pytest.warns(FutureWarning, match="developer"):
        comparison = compare_rankers(models, *rows(), n_jobs=2, random_state=0)
    assert set(outputs) == {"pandas"}
    assert comparison.warnings == dict.fromkeys(models, 5 * ["to the user"])


@pytest.mark.parametrize("fit", [compare_rankers, fit_held_out])
def test_a_choice_by_folds_that_has_too_few_rows_is_refused_before_any_fit(fit):
    X, y = rows()
    few = np.r_[np.flatnonzero(y)[:6], np.flatnonzero(~y.astype(bool))[:30]]

    class Never(IRPush):
        def fit(self, *_, **__):
            raise AssertionError

    for search in (TopRankerCV(), make_pipeline(StandardScaler(), TopRankerCV(cv=4)), StackingRanker()):
        with pytest.raises(ValueError, match=r"'search' chooses by [45] folds of every training part"):
            fit({"never": Never(), "search": search}, X[few], y[few], cv=2)
    if fit is compare_rankers:
        by_group = {"cv": StratifiedGroupKFold(2), "together": True}
        for learnt in (2, 4):
            with pytest.raises(ValueError, match=f"'ensemble' chooses by 5 .* there are {learnt} groups"):
                fit({"never": Never(), "a": IRPush()}, X, y, groups=np.arange(120) % (2 * learnt), **by_group)
        with pytest.raises(ValueError, match="'search' chooses by 5 folds"):
            fit({"never": Never(), "search": TopRankerCV()}, X[few], y[few], cv=2, nested=True)


def test_queries_are_compared_by_folds_of_whole_queries():
    X, y = rows()
    qid = np.arange(len(y)) // 12
    found = compare_rankers({"logistic": LogisticRegression()}, X, y, groups=qid, cv=GroupKFold())
    assert found.n_folds == 5
    for train, test in GroupKFold().split(X, y, qid):
        model = PNormPush().fit(X[train], y[train], qid=qid[train])
        measured = metrics.ndcg_at_k(y[test], model.decision_function(X[test]), 3, qid=qid[test])
        assert 0.0 < measured <= 1.0
