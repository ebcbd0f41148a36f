"""Comparisons of rankers as a library function: differences beyond chance, repetitions and nested choice."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import IRPush, metrics
from pushrank.model_selection import RankerComparison, compare_rankers, default_rankers
from pushrank.model_selection._folds import check_classes, on_one_scale
from pushrank.model_selection.comparison import CHOSEN

CRITERION = "precision at 1/4"


def compared(n_repeats=1, **hits):
    """A comparison of models by their precision in every test part."""
    measures = {
        model.replace("_", " "): {CRITERION: np.array(parts), "average precision": np.array(parts)}
        for model, parts in hits.items()
    }
    return RankerComparison(measures, CRITERION, n_repeats=n_repeats)


def rows(n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0.5).astype(int)


MODELS = {"logistic": LogisticRegression(), "bayes": GaussianNB(), "push": IRPush()}


def test_models_with_scores_or_probabilities_are_measured_on_the_same_parts():
    X, y = rows()
    called = []
    comparison = compare_rankers(
        MODELS, X, y, budget=30, n_repeats=2, random_state=0, callback=lambda: called.append(0)
    )
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
    for scoring, name in (
        ("bedroc", "bedroc"),
        ("roc_auc", "roc_auc"),
        (lambda m, X, y: m.score(X, y), "<lambda>"),
    ):
        comparison = compare_rankers(MODELS, X, y, cv=3, scoring=scoring, random_state=0)
        assert comparison.criterion == name
        assert comparison.best_ == max(MODELS, key=lambda model: comparison.mean(model, name))
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
    assert default_rankers(n_rows=80, budget=20)["linear, chosen for the top"].fraction == 0.25
    comparison = compare_rankers(None, sparse.csr_array(X), y, cv=2, random_state=0)
    assert list(comparison.measures) == list(default_rankers(dense=False))


def test_the_nested_choice_sees_only_its_training_part():
    """In each of three training parts of 60 rows six fits to 40 choose; then come models and choice."""
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y):
            seen.append(len(y))
            return super().fit(X, y)

    X, y = np.random.default_rng(0).normal(size=(90, 3)), np.arange(90) % 2
    comparison = compare_rankers({"a": Spy(), "b": Spy(C=0.01)}, X, y, cv=3, nested=True, random_state=0)
    assert seen == 3 * ([40] * 6 + [60] * 3)
    assert comparison.best_ in ("a", "b")
    assert comparison.optimism_.mean == pytest.approx(
        comparison.mean(comparison.best_, CRITERION) - comparison.mean(CHOSEN, CRITERION)
    )
    assert "the figure of choosing inside every training part" in comparison.verdict()
    assert CHOSEN not in comparison.differences_
    assert CHOSEN not in comparison.held_out_


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
        ("at most the 120 rows", {"budget": 121}),
        ("cv must be at least 2", {"cv": 1}),
        ("n_repeats must be at least 1", {"n_repeats": 0}),
        ("n_repeats must be 1", {"cv": StratifiedKFold(3), "n_repeats": 2}),
        ("at least 2 test parts", {"cv": [(np.arange(60), np.arange(60, 120))]}),
        ("training part 1 of 2 has rows of one class only", {"y": np.arange(120) < 40, "cv": KFold(2)}),
        ("finite numbers of at least 0", {"sample_weight": np.full(120, -1.0)}),
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


def test_the_verdict_says_what_few_test_parts_can_show():
    logistic = [0.5, 0.5]
    same = compared(logistic=logistic, push=[0.75, 0.75]).verdict()
    assert "+0.250 against logistic, the same in each of 2 test parts, too few to know" in same
    # The mean of two parts is 3 standard errors, and Student's t for two parts is 12.7.
    few = compared(logistic=logistic, push=[0.7, 0.6]).verdict()
    assert "95 % interval -0.485 to +0.785, which chance alone may explain" in few
    assert few.startswith("No clear winner. Highest precision at 1/4: push")
    many = compared(logistic=logistic * 3, push=[0.7, 0.6] * 3).verdict()
    reach = stats.t.ppf(0.975, 5) * np.std([0.7, 0.6] * 3, ddof=1) / np.sqrt(6)
    assert f"interval {0.15 - reach:+.3f} to {0.15 + reach:+.3f}: more than chance explains" in many
    always = compared(logistic=logistic * 3, push=[0.75] * 6).verdict()
    assert "the same in each of 6 test parts: more than chance explains" in always


def test_the_verdict_names_no_best_of_equals():
    equal = compared(logistic=[0.5, 0.7], push=[0.7, 0.5], other=[0.6, 0.6])
    assert "No model is better" in equal.verdict()
    assert "each has 0.600" in equal.verdict()
    assert equal.equals_ == ["push", "other"]
    two = compared(logistic=[0.5, 0.7], push=[0.7, 0.5], other=[0.1, 0.2])
    two.measures["push"]["average precision"] = np.array([0.9, 0.9])
    assert "push is no better than logistic" in two.verdict()
    assert "next best" in compared(logistic=[0.9, 0.7], push=[0.7, 0.5]).verdict()
    assert "alone" in compared(push=[0.7, 0.5]).verdict()


def test_what_is_more_than_chance():
    for parts, expected in (
        ([0.75] * 3, None),
        ([0.75] * 6, True),
        ([0.5] * 6, False),
        ([0.7, 0.6] * 3, True),
        ([0.7, 0.3] * 3, False),
    ):
        comparison = compared(logistic=[0.5] * len(parts), push=parts)
        assert comparison.difference("push", "logistic").more_than_chance is expected


def test_repetitions_of_the_same_parts_are_no_more_evidence():
    """Repetitions hold the same rows: counted as evidence, they would put any difference beyond chance."""
    once = compared(logistic=[0.5] * 5, push=[0.7, 0.6, 0.5, 0.4, 0.7])
    often = compared(20, logistic=[0.5] * 100, push=[0.7, 0.6, 0.5, 0.4, 0.7] * 20)
    assert once.difference("push", "logistic").more_than_chance is False
    assert often.difference("push", "logistic") == pytest.approx(once.difference("push", "logistic"))
    assert often.standard_error("push", CRITERION) == pytest.approx(once.standard_error("push", CRITERION))
    same = compared(2, logistic=[0.5] * 10, push=[0.75] * 10)
    assert "in each of 10 test parts, too few to know" in same.verdict()


def test_equal_scores_stay_tied_on_one_scale():
    """The mean of seven times 0.1 is not 0.1 in floating point."""
    scores, folds = np.repeat([0.1, 0.7, -1.453], [7, 6, 97]), np.repeat([0, 1, 2], [7, 6, 97])
    assert len(set(on_one_scale(scores, folds))) == 1


@given(st.lists(st.integers(-5, 5), min_size=4, max_size=30), st.integers(1, 3))
def test_one_scale_keeps_the_order_within_a_part_and_depends_on_no_units(values, n_folds):
    scores = np.array(values, dtype=float)
    folds = np.arange(len(scores)) % n_folds
    order = on_one_scale(scores, folds)
    for fold in range(n_folds):
        own, placed = scores[folds == fold], order[folds == fold]
        np.testing.assert_array_equal(np.sign(own[:, None] - own), np.sign(placed[:, None] - placed))
    stretched = np.where(folds == 0, 2.0**3 * scores + 2.0**6, scores)
    np.testing.assert_array_equal(on_one_scale(stretched, folds), order)


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
        assert fits == [80] * 3
        each = compare_rankers(own, X, y, cv=3, scoring=scoring, random_state=0)
        assert once.summary() == each.summary()


def test_intervals_allow_for_all_models_compared():
    """Two differences hold together at 95 % if each holds at 97.5 %."""
    comparison = compared(logistic=[0.5] * 6, push=[0.7, 0.6] * 3, other=[0.5, 0.6] * 3)
    reach = stats.t.ppf(1.0 - 0.05 / 4, 5) * np.std([0.7, 0.6] * 3, ddof=1) / np.sqrt(6)
    assert comparison.difference("push", "logistic").high == pytest.approx(0.15 + reach)
    assert "(of all 2 differences together)" in comparison.verdict()


def test_rows_before_the_first_test_part_are_not_measured():
    """No split holds these rows out, so the budget is of the other rows."""
    X, y = rows()
    models = {"logistic": LogisticRegression(), "push": IRPush()}
    comparison = compare_rankers(models, X, y, cv=TimeSeriesSplit(3), budget=90, random_state=0)
    assert np.isnan(comparison.scores["push"][:30]).all()
    later = comparison.of_held_out_rows()
    assert later.held_out_["push"].shape == (90,)
    # Every row that is held out is in the budget.
    assert comparison.mean("push", "hits in budget") == pytest.approx(y[30:].mean() * 90, abs=3)
    with pytest.raises(ValueError, match="at most the 90 rows that are held out"):
        compare_rankers(models, X, y, cv=TimeSeriesSplit(3), budget=91)


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
    assert fits == [60]
    expected = Spy().fit(X[:60], y[:60]).decision_function(X[60:])
    np.testing.assert_array_equal(comparison.scores["a"][60:], expected)


def test_counts_are_of_all_rows_held_out():
    """A perfect ranking has every positive of all rows at the top, not those of a part."""
    _, y = rows()
    models = {"a": LogisticRegression(C=1e6)}
    comparison = compare_rankers(models, y[:, None] * 1.0, y, budget=int(y.sum()), cv=3)
    assert comparison.mean("a", "positives at top") == pytest.approx(y.sum())
    assert comparison.mean("a", "hits in budget") == pytest.approx(y.sum(), rel=0.05)
    assert comparison.name_of("precision at 1/4") == f"precision in {round(y.sum() / 4)} rows"


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
    assert {"gradient boosting", "random forest", "LightGBM"} <= set(default_rankers())
    assert "LightGBM" not in default_rankers(n_rows=199)
    assert not {"random forest", "linear, chosen for the top"} & set(default_rankers(n_rows=20_001))
    assert "gradient boosting" not in default_rankers(n_rows=100_001)
    assert "gradient boosting" not in default_rankers(dense=False)
