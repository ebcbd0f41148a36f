"""Models fitted once, compared, weighed and cut from their scores of the rows held out."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from pushrank import PushBoost, StackingRanker, metrics
from pushrank.budgets import Budget
from pushrank.model_selection import compare_rankers, fit_held_out
from pushrank.model_selection.comparison import TOGETHER

MODELS = {"logistic": LogisticRegression(), "bayes": GaussianNB(), "stumps": PushBoost(4, n_estimators=10)}
BUDGET = 30
BY_TIME = {"cv": 4, "time": np.arange(160)}


class CountedRegression(LogisticRegression):
    """Logistic regression that counts its fits."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).n_fits += 1
        return super().fit(X, y, sample_weight)


def data(n_rows=160, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows) > 1.2).astype(int)


def assert_same_comparison(got, expected):
    assert got.verdict() == expected.verdict()
    assert got.to_frame().equals(expected.to_frame())
    assert got.summary() == expected.summary()
    for model in expected.measures:
        np.testing.assert_array_equal(got.scores[model], expected.scores[model])


@pytest.mark.parametrize(
    "options",
    [{"n_repeats": 2}, {"cv": GroupKFold(4), "groups": np.arange(160) // 4}, BY_TIME],
    ids=["repeated", "groups", "time"],
)
def test_compare_gives_what_compare_rankers_gives(options):
    X, y = data()
    held_out = fit_held_out(MODELS, X, y, budget=BUDGET, random_state=0, **options)
    expected = compare_rankers(MODELS, X, y, budget=BUDGET, random_state=0, **options)
    assert_same_comparison(held_out.compare(), expected)
    with_all = held_out.compare(together=["bayes", "stumps"])
    assert list(with_all.measures) == [*MODELS, TOGETHER]


def test_compare_by_a_scorer_uses_the_models_of_the_parts():
    X, y = data()
    held_out = fit_held_out(MODELS, X, y, budget=BUDGET, random_state=0)
    expected = compare_rankers(MODELS, X, y, budget=BUDGET, random_state=0, scoring="average_precision")
    assert_same_comparison(held_out.compare(scoring="average_precision"), expected)


@pytest.mark.parametrize("by_time", [False, True])
@pytest.mark.parametrize("names", [None, ["stumps", "logistic"]])
def test_stack_is_the_stacking_ranker_of_the_same_parts(by_time, names):
    X, y = data()
    options = {"time": np.arange(160), "cv": 4} if by_time else {"cv": StratifiedKFold(4)}
    held_out = fit_held_out(MODELS, X, y, budget=BUDGET, random_state=0, **options)
    stack = held_out.stack(names, calibration="sigmoid")
    members = [(name, clone(MODELS[name])) for name in names or MODELS]
    expected = StackingRanker(members, cv=options["cv"], calibration="sigmoid")
    expected.fit(X, y, **({"time": options["time"]} if by_time else {}))
    assert stack.weights_ == expected.weights_
    np.testing.assert_array_equal(stack.held_out_scores_, expected.held_out_scores_)
    np.testing.assert_array_equal(stack.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(stack.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(stack.predict(X), expected.predict(X))


def test_nothing_is_fitted_after_the_table():
    X, y = data()
    models = MODELS | {"logistic": CountedRegression()}
    CountedRegression.n_fits = 0
    held_out = fit_held_out(models, X, y, budget=BUDGET, random_state=0)
    # One fit to each of five training parts, and two to the halves of one.
    n_fits = CountedRegression.n_fits
    assert n_fits == 7
    held_out.compare()
    held_out.compare(scoring="roc_auc")
    held_out.measure()
    held_out.threshold("logistic")
    stack = held_out.stack()
    assert CountedRegression.n_fits == n_fits
    stack.predict(X)
    held_out.stack(refit=True)
    assert CountedRegression.n_fits == n_fits + (stack.weights_["logistic"] > 0)


def test_scores_of_a_row_are_those_of_the_part_that_held_it_out():
    X, y = data()
    held_out = fit_held_out(MODELS, X, np.where(y, "bad", "good"), pos_label="bad", cv=StratifiedKFold(4))
    frame = held_out.scores()
    assert list(frame) == ["positive", "part", *MODELS]
    np.testing.assert_array_equal(frame["positive"], y == 1)
    for part, (train, test) in enumerate(StratifiedKFold(4).split(X, y)):
        assert (frame["part"].to_numpy()[test] == part).all()
        model = clone(MODELS["logistic"]).fit(X[train], y[train])
        np.testing.assert_array_equal(frame["logistic"].to_numpy()[test], model.decision_function(X[test]))


def test_rows_before_the_first_test_part_have_no_scores():
    X, y = data()
    held_out = fit_held_out(MODELS, X, y, time=np.arange(160), cv=4, budget=BUDGET)
    frame = held_out.scores()
    unseen = frame["part"] == -1
    assert unseen.any()
    assert frame.loc[unseen, list(MODELS)].isna().all(axis=None)
    assert frame.loc[~unseen, list(MODELS)].notna().all(axis=None)
    assert held_out.threshold("bayes").threshold > 0.0


def test_threshold_is_that_of_the_held_out_scores():
    X, y = data()
    held_out = fit_held_out(MODELS, X, y, budget=BUDGET, random_state=0)
    scores = held_out.scores()
    expected = metrics.threshold_for(
        y, scores["bayes"], metrics.AtBudget(fraction=BUDGET / len(y)), random_state=0
    )
    assert held_out.threshold("bayes").threshold == expected.threshold
    best = held_out.compare().chosen_
    assert held_out.threshold().threshold == held_out.threshold(best).threshold
    by_precision = held_out.threshold("bayes", metrics.AtPrecision(0.5))
    expected = metrics.threshold_for(y, scores["bayes"], metrics.AtPrecision(0.5))
    assert by_precision.threshold == expected.threshold
    # About as many rows as the budget are listed, by the scores that the threshold came from.
    stack = held_out.stack()
    listed = (stack.held_out_scores_ >= held_out.threshold(stack).threshold).sum()
    assert listed == BUDGET


def test_measures_are_of_one_order_of_the_rows_held_out():
    X, y = data()
    held_out = fit_held_out(MODELS, X, y, budget=BUDGET, random_state=0)
    frame = held_out.measure().to_frame()
    assert set(frame["model"]) == set(MODELS)
    hits = frame[frame["measure"] == "hits"].set_index("model")["estimate"]
    for name, order in held_out.compare().held_out_.items():
        assert hits[name] == pytest.approx(BUDGET * metrics.precision_at_k(y, order, k=BUDGET))


def test_a_killed_run_goes_on_from_the_fits_that_were_kept(tmp_path):
    X, y = data()
    models = {"logistic": CountedRegression(), "bayes": GaussianNB()}
    options = {"cv": 4, "random_state": 0, "budget": BUDGET, "cache_dir": tmp_path / "fits"}
    first = fit_held_out(models, X, y, **options)
    assert len(list((tmp_path / "fits").iterdir())) == 2 * 4
    CountedRegression.n_fits = 0
    again = fit_held_out(models, X, y, **options)
    # Only fits to halves, which are not kept, were done again.
    assert CountedRegression.n_fits == 2
    assert again.scores().equals(first.scores())
    assert again.compare().verdict() == first.compare().verdict()


def test_held_out_scores_promise_nothing():
    X, y = data()
    held_out = fit_held_out(MODELS, X, y, budget=BUDGET)
    with pytest.raises(ValueError, match=r"promise nothing of rows to come.*guarantee_fraction=0\.2"):
        held_out.guarantee("bayes")


@pytest.mark.parametrize(
    "options", [{}, {"random_state": 1}, {"n_resamples": 100}, {"confidence_level": 0.9}, {"every": True}]
)
def test_options_keep_the_budget_of_the_fit(options):
    X, y = data()
    held_out = fit_held_out(MODELS, X, y, budget=BUDGET, random_state=0, guarantee_fraction=0.3)
    assert held_out.measure(**options).depth == held_out.plan.budget
    assert held_out.measure(**options, k=7).depth == 7
    assert held_out.measure(**options, fraction=0.1).depth == np.ceil(0.1 * len(held_out.plan.rows.y))
    assert held_out.measure().sentences()[-1].endswith("compare() allows for other training rows, too.")
    for given in ({}, {"random_state": 1}, {"confidence_level": 0.9}):
        promised = held_out.guarantee("bayes", **given)
        assert promised.n_new == len(y)
        assert BUDGET in promised.depth
    assert held_out.guarantee("bayes", n_new=300).n_new == 300
    assert BUDGET in held_out.guarantee("bayes", n_new=300).depth
    assert 9 in held_out.guarantee("bayes", k=9).depth


@pytest.mark.parametrize("by_time", [False, True])
def test_rows_kept_from_all_fits_promise_hits(by_time):
    X, y = data(2000)
    times = np.random.default_rng(1).permutation(2000) if by_time else None
    options = {"cv": 3, "time": times, "random_state": 0, "guarantee_fraction": 0.25}
    held_out = fit_held_out(MODELS, X, y, budget=200, **options)
    kept = held_out.kept
    assert (len(kept.y), len(held_out.plan.rows.y), held_out.plan.budget) == (500, 1500, 150)
    if by_time:
        assert kept.times.min() > held_out.plan.rows.times.max()
    else:
        assert kept.y.sum() == round(y.sum() / 4)
    assert not set(map(tuple, kept.X)) & set(map(tuple, held_out.plan.rows.X))
    stack = held_out.stack()
    promised = held_out.guarantee(stack)
    scores = stack.decision_function(kept.X)
    expected = metrics.guarantee(kept.positive, scores, k=200, n_new=2000)
    np.testing.assert_array_equal(promised.hits, expected.hits)
    assert 100 < promised.hits_at(200) < 200
    model = GaussianNB().fit(held_out.plan.rows.X, held_out.plan.rows.y)
    of_name, of_fitted = (held_out.guarantee(of, k=10, n_new=500) for of in ("bayes", model))
    np.testing.assert_array_equal(of_name.hits, of_fitted.hits)


def test_rows_that_cannot_be_kept_are_refused():
    X, y = data()
    for options in (
        {"groups": np.arange(160) // 4},
        {"budget": Budget(2, "batch"), "time": np.arange(160) // 8},
        {"cv": [(np.arange(80), np.arange(80, 160)), (np.arange(80, 160), np.arange(80))]},
    ):
        with pytest.raises(ValueError, match="guarantee_fraction keeps single rows"):
            fit_held_out(MODELS, X, y, guarantee_fraction=0.2, **options)
    for fraction in (0.0, 1.0):
        with pytest.raises(ValueError, match="guarantee_fraction must be"):
            fit_held_out(MODELS, X, y, guarantee_fraction=fraction)
    for options in ({"guarantee_fraction": 0.001}, {"guarantee_fraction": 0.999}, {"time": np.ones(160)}):
        with pytest.raises(ValueError, match=r"keeps \d+ of 160 rows, .*needs two rows on either side"):
            fit_held_out(MODELS, X, y, **{"guarantee_fraction": 0.2} | options)
    with pytest.raises(ValueError, match="the 16 rows kept are of one class"):
        fit_held_out(MODELS, X, np.arange(160) < 80, time=np.arange(160), guarantee_fraction=0.1)
    with pytest.raises(ValueError, match="budget must be"):
        fit_held_out(MODELS, X, y, guarantee_fraction=0.2, budget=0)
    kept = fit_held_out(MODELS, X, y, guarantee_fraction=0.5, cv=2)
    with pytest.raises(ValueError, match="model must be one of"):
        kept.guarantee("trees")


def test_what_is_asked_wrongly_is_said():
    X, y = data()
    held_out = fit_held_out(MODELS, X, y, random_state=0)
    with pytest.raises(ValueError, match="model must be one of"):
        held_out.threshold("trees", metrics.AtBudget(fraction=0.1))
    with pytest.raises(ValueError, match="say what the threshold is for"):
        held_out.threshold("bayes")
    for names in (["trees", "bayes"], "bayes", []):
        with pytest.raises(ValueError, match="models must be a list of names among"):
            held_out.stack(names)
    with pytest.raises(ValueError, match="calibration must be one of"):
        held_out.stack(calibration="platt")
    options = {"time": np.arange(160) // 8, "cv": 3, "random_state": 0}
    daily = fit_held_out(MODELS, X, y, budget=Budget(2, "batch"), **options)
    with pytest.raises(ValueError, match="AlertThreshold"):
        daily.threshold()
    n_rows = 0.1 * daily.scores()["bayes"].count()
    assert daily.threshold("bayes", metrics.AtBudget(fraction=0.1)).n_rows == pytest.approx(n_rows, abs=1)


def test_it_shows_itself():
    X, y = data()
    held_out = fit_held_out(MODELS, X, y, budget=BUDGET)
    assert repr(held_out) == f"HeldOut(3 models, 5 parts, 160 rows, {y.sum()} positive)"
    page = held_out._repr_html_()
    assert all(name in page for name in MODELS)
