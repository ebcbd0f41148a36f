"""The row of all models together in a comparison."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold

from pushrank import PNormPush, PushBoost, StackingRanker, metrics
from pushrank.estimators._combination import OutOfFold, combine_apart
from pushrank.estimators._target import two_class_target
from pushrank.held_out import Plan
from pushrank.model_selection import TimeSplit, compare_rankers, table
from pushrank.model_selection.comparison import TOGETHER

MODELS = {"linear": LogisticRegression(), "push": PNormPush(4), "stumps": PushBoost(n_estimators=10)}


def rows(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n_rows) > 2.0


@pytest.fixture(scope="module")
def many():
    X, y = rows(3000)
    return X, y, compare_rankers(MODELS, X, y, budget=300, together=True, random_state=0)


def test_many_rows_are_not_nested_and_cost_no_fit(many):
    X, y, comparison = many
    alone = compare_rankers(MODELS, X, y, budget=300, random_state=0)
    assert list(comparison.measures) == [*MODELS, TOGETHER]
    for model in MODELS:
        for measure, values in alone.measures[model].items():
            np.testing.assert_array_equal(comparison.measures[model][measure], values)
            error = alone.standard_error(model, measure)
            assert comparison.standard_error(model, measure) == pytest.approx(error)
    assert comparison.simplicity[TOGETHER] == 4
    assert comparison.mean(TOGETHER, "AUC") > max(comparison.mean(m, "AUC") for m in MODELS) - 0.01
    assert 0.0 < comparison.standard_error(TOGETHER, "AUC") < 0.05
    held_out = comparison.scores[TOGETHER]
    for fold, value in enumerate(comparison.measures[TOGETHER]["AUC"]):
        part = comparison.folds == fold
        assert metrics.auc(y[part], held_out[part]) == pytest.approx(value)


def test_few_rows_are_nested():
    X, y = rows(300)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    comparison = compare_rankers(MODELS, X, y, budget=60, cv=cv, together=True, random_state=0)
    assert list(comparison.measures) == [*MODELS, TOGETHER]
    for number, (train, test) in enumerate(cv.split(X, y)):
        whole = StackingRanker(list(MODELS.items()), random_state=0).fit(X[train], y[train])
        expected = metrics.auc(y[test], whole.decision_function(X[test]))
        assert comparison.measures[TOGETHER]["AUC"][number] == pytest.approx(expected)


class Counted(LogisticRegression):
    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def test_weights_of_few_rows_come_from_fits_to_the_rows_outside_two_parts():
    X, y = rows(300)
    models, called = {"counted": Counted(), "push": PNormPush(4)}, []
    options = {"budget": 60, "together": True, "random_state": 0, "callback": lambda: called.append(0)}
    comparison = compare_rankers(models, X, y, **options)
    # Five parts, ten pairs of them, and two halves for the errors.
    assert Counted.fits == 5 + 10 + 2
    assert len(called) == 5 * 3
    assert "not nested" not in comparison.judged
    # No weight knows the rows that it is for: those of a part may have any labels where scores stay.
    parts = comparison.folds
    changed = y.copy()
    changed[parts == 0] = np.random.default_rng(0).permutation(y[parts == 0])
    splits = [(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in range(5)]
    found = []
    for labels in (y, changed):
        plan = Plan.of(X, labels, budget=60, cv=StratifiedKFold(5), random_state=0)._replace(splits=splits)
        held_out = table.HeldOutTable.fit(models, plan)
        found.append(table.add_up(held_out, models, table.paired_scores(models, plan))[0])
    assert found[0].final == found[1].final
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
    # Fits to the others of each pair are those of a fit by hand.
    learnt = parts > 1
    of_first = table.paired_scores(models, plan)[0]
    by_hand = PNormPush(4).fit(X[learnt], changed[learnt]).decision_function(X[parts == 1])
    np.testing.assert_allclose(of_first[1, parts == 1], by_hand)
    assert np.isnan(of_first[:, parts == 0]).all()


def parts_of(n_parts, n_rows):
    return np.array_split(np.arange(n_rows), n_parts)


@pytest.mark.parametrize("by_time", [False, True])
def test_weights_of_a_part_do_not_come_from_its_labels_nor_from_later_ones(by_time):
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.3
    scores = rng.normal(size=(3, 2000)) + y * np.array([[2.0], [1.0], [0.5]])
    ranker, parts = StackingRanker(), parts_of(4, 2000)
    found = combine_apart(OutOfFold(scores, parts, by_time), two_class_target(ranker, y, None))
    assert len(found) == 4
    for number, part in enumerate(parts):
        changed = y.copy()
        unseen = np.concatenate(parts[number:]) if by_time else part
        changed[unseen] = rng.permutation(y[unseen])
        held_out = OutOfFold(scores, parts, by_time)
        again = combine_apart(held_out, two_class_target(ranker, changed, None))
        np.testing.assert_array_equal(again[number].weights, found[number].weights)
    if by_time:
        np.testing.assert_allclose(found[0].weights, 1.0 / 3.0)


def test_by_time_a_part_is_on_the_scale_of_the_one_before():
    X, y = rows(3000)
    comparison = compare_rankers(MODELS, X, y, cv=TimeSplit(4), time=np.arange(3000), together=True)
    assert TOGETHER in comparison.measures
    assert comparison.mean(TOGETHER, "AUC") > 0.75
    drifting = X + 3.0 * (np.arange(3000) // 600)[:, None]
    drifted = compare_rankers(MODELS, drifting, y, cv=TimeSplit(4), time=np.arange(3000), together=True)
    assert np.isfinite(drifted.mean(TOGETHER, "AUC"))


@pytest.mark.nightly
@pytest.mark.parametrize("cv", [3, 5])
def test_noise_together_is_noise(cv):
    """Nested, as 400 rows are: the weights would otherwise know the rows by way of the models."""
    rng = np.random.default_rng(0)
    areas = []
    for _ in range(6):
        X, y = rng.normal(size=(400, 10)), rng.random(400) < 0.3
        models = {"linear": LogisticRegression(), "stumps": PushBoost(n_estimators=5)}
        areas.append(
            compare_rankers(models, X, y, cv=cv, together=True, random_state=0).mean(TOGETHER, "AUC")
        )
    assert abs(np.mean(areas) - 0.5) < 0.05


def test_repeats_scorers_weights_and_groups():
    X, y = rows(2400)
    weights, groups = np.random.default_rng(1).random(2400) + 0.5, np.arange(2400) // 4
    scorer = make_scorer(roc_auc_score, response_method="decision_function")
    models = {name: MODELS[name] for name in ("linear", "push")}
    compared = compare_rankers(
        models, X, y, cv=3, n_repeats=2, scoring=scorer, sample_weight=weights, together=True, random_state=0
    )
    values = compared.measures[TOGETHER]
    np.testing.assert_allclose(values[compared.criterion], values["AUC"])
    assert len(values["AUC"]) == 6
    of_groups = compare_rankers(models, X, y, cv=GroupKFold(3), groups=groups, together=True, random_state=0)
    assert TOGETHER in of_groups.measures


def test_the_choice_inside_is_among_single_models():
    X, y = rows(300)
    models = {name: MODELS[name] for name in ("linear", "push")}
    comparison = compare_rankers(models, X, y, cv=3, nested=True, together=True, random_state=0)
    assert comparison.optimism_ is not None
    assert list(comparison.measures) == [*models, TOGETHER, "best of the above, chosen inside"]


def test_a_model_may_not_have_the_name_of_the_row_of_all():
    with pytest.raises(ValueError, match="adds a row named 'ensemble': give the model of that name another"):
        compare_rankers({"ensemble": DummyClassifier()}, np.eye(20), np.arange(20) % 2, together=True)
