"""What the support vector rankers share: class weights, paths, limits of iterations, units, certificates."""

import inspect
import itertools

import numpy as np
import pandas as pd
import pytest
import sklearn.utils.validation
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.utils import check_X_y

from combinations import by_day
from pushrank import SVMMAP, InfinitePush, PushRanker, RankSVM, StructSVM
from pushrank.objectives import PrecisionAtK, PushObjective
from pushrank.objectives.average_precision import average_precision_hinge
from pushrank.pairs import BipartiteSample
from quadratic_programs import pairwise_svm

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KINDS = {
    "push": lambda C=1.0, **options: InfinitePush(C, **options),
    "top push": lambda C=1.0, **options: InfinitePush(C, loss="squared_hinge", **options),
    "push, wide": lambda C=1.0, **options: InfinitePush(C, solver="semismooth-newton", **options),
    "push, rbf": lambda C=1.0, **options: InfinitePush(C, kernel="rbf", **options),
    "hinge": lambda C=1.0, **options: RankSVM(C, loss="hinge", **options),
    "squared hinge": lambda C=1.0, **options: RankSVM(C, **options),
    "squared hinge, rbf": lambda C=1.0, **options: RankSVM(C, kernel="rbf", **options),
    "average precision": lambda C=1.0, **options: SVMMAP(C, **options),
}


def breast(every=2):
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[::every], y[::every]


@quiet
@pytest.mark.parametrize("name", KINDS)
def test_class_weights_are_a_factor_of_all_pairs(name):
    X, y = breast()
    named = np.array(["no", "yes"])[y]
    weighted = KINDS[name](2.0, tol=1e-8, class_weight={"yes": 3.0, "no": 0.5}).fit(X, named)
    plain = KINDS[name](3.0, tol=1e-8).fit(X, named)
    assert weighted.primal_objective_ == pytest.approx(plain.primal_objective_, rel=1e-7)
    balanced = KINDS[name](2.0, tol=1e-8, class_weight="balanced").fit(X, y)
    factor = len(y) ** 2 / (4 * y.sum() * (1 - y).sum())
    plain = KINDS[name](2.0 * factor, tol=1e-8).fit(X, y)
    assert balanced.primal_objective_ == pytest.approx(plain.primal_objective_, rel=1e-7)
    # as much weight is predicted positive as there is
    heavy = KINDS[name](2.0, class_weight={1: 5.0}).fit(X, y)
    assert heavy.predict(X).sum() >= y.sum() - 1


@quiet
@pytest.mark.parametrize("name", KINDS)
def test_balanced_classes_count_weights_as_copies(name):
    X, y = breast()
    X, y = X[:120], y[:120]
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    ranker = KINDS[name](2.0, tol=1e-8, class_weight="balanced")
    weighted = ranker.fit(X, y, weights.astype(float)).primal_objective_
    copied = ranker.fit(X.repeat(weights, axis=0), y.repeat(weights)).primal_objective_
    assert weighted == pytest.approx(copied, rel=1e-6)


@quiet
def test_class_weights_of_grades_weigh_their_pairs():
    rng = np.random.default_rng(0)
    X, grades = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    X[:, 0] += grades
    weights = {0: 1.0, 1: 2.0, 2: 0.5}
    of_rows = np.array([weights[grade] for grade in grades])
    ranker = RankSVM(10.0, tol=1e-9, class_weight=weights).fit(X, grades)
    margins = np.subtract.outer(X @ ranker.coef_, X @ ranker.coef_)
    pairs = np.greater.outer(grades, grades)
    loss = (np.outer(of_rows, of_rows) * np.maximum(1 - margins, 0) ** 2)[pairs].sum() / pairs.sum()
    norm = 0.5 * ranker.coef_ @ ranker.coef_
    assert ranker.primal_objective_ == pytest.approx(norm + 10.0 * loss, rel=1e-9)
    with pytest.raises(ValueError, match="pairs have none"):
        RankSVM(class_weight="balanced").fit(X, pairs=([0, 1], [2, 3]))


@quiet
@pytest.mark.parametrize("name", KINDS)
def test_a_path_is_a_fit_for_each_weight(name):
    X, y = breast()
    Cs = [0.1, 1.0, 10.0, 100.0, 1.0]
    ranker = KINDS[name](tol=1e-5)
    path = ranker.path(X, y, Cs)
    assert not hasattr(ranker, "n_iter_")
    assert [one.C for one in path] == Cs
    for C, one in zip(Cs, path, strict=True):
        alone = KINDS[name](C, tol=1e-5).fit(X, y)
        assert one.converged_
        assert one.primal_objective_ == pytest.approx(alone.primal_objective_, rel=2e-5)
        np.testing.assert_array_equal(one.classes_, alone.classes_)
        assert one.n_features_in_ == X.shape[1]
        assert one.score(X, y) == pytest.approx(alone.score(X, y), abs=5e-3)


@quiet
@pytest.mark.parametrize("name", KINDS)
def test_a_path_checks_its_data_once(name, monkeypatch):
    X, y = breast()
    looked_at = []

    def counted(*given, **options):
        looked_at.append(given)
        return check_X_y(*given, **options)

    monkeypatch.setattr(sklearn.utils.validation, "check_X_y", counted)
    frame = pd.DataFrame(X).add_prefix("column ")
    path = KINDS[name]().path(frame, y, [0.1, 1.0, 10.0])
    assert len(looked_at) == 1
    for one in path:
        assert one.n_features_in_ == X.shape[1]
        np.testing.assert_array_equal(one.feature_names_in_, frame.columns)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_path_takes_all_that_a_fit_takes(loss):
    X, _ = breast()
    rng = np.random.default_rng(0)
    grades, queries = rng.integers(0, 4, len(X)), rng.integers(0, 30, len(X))
    ranker = RankSVM(loss=loss, tol=1e-6)
    for y, given in (
        (grades, {}),
        (grades, {"qid": queries}),
        (grades > 1, {"qid": queries}),
        (None, {"pairs": (np.arange(100), np.arange(100, 200))}),
    ):
        weights = rng.integers(1, 3, len(X))
        for one in ranker.path(X, y, [0.1, 10.0], weights, **given):
            alone = RankSVM(one.C, loss=loss, tol=1e-6).fit(X, y, weights, **given)
            assert one.primal_objective_ == pytest.approx(alone.primal_objective_, rel=2e-6)


@pytest.mark.parametrize("name", ["hinge", "average precision", "push, wide", "push, rbf"])
def test_a_path_takes_fewer_iterations_than_its_fits(name):
    X, y = breast()
    Cs = 10.0 ** np.arange(-1, 3, 0.5)
    along = sum(ranker.n_iter_ for ranker in KINDS[name](max_iter=5000).path(X, y, Cs))
    alone = sum(KINDS[name](C, max_iter=5000).fit(X, y).n_iter_ for C in Cs)
    assert along < alone


def test_a_path_needs_numbers():
    X, y = breast()
    with pytest.raises(ValueError, match="at least one number"):
        InfinitePush().path(X, y, [])
    with pytest.raises(ValueError, match="C must be > 0 and <="):
        RankSVM().path(X, y, [1.0, -1.0])


@pytest.mark.parametrize("name", KINDS)
def test_a_path_over_a_single_number_is_an_error(name):
    with pytest.raises(TypeError, match=r"Cs must be a list of numbers, got 3\.0\."):
        KINDS[name]().path(*breast(), 3.0)


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("name", KINDS)
def test_limits_of_iterations_are_kept(name, limit):
    X, y = breast()
    with pytest.warns(ConvergenceWarning, match="did not converge: the relative duality gap is"):
        ranker = KINDS[name](1e5, max_iter=limit, tol=1e-12).fit(X, y)
    assert ranker.n_iter_ <= limit
    assert not ranker.converged_
    assert np.isfinite(ranker.decision_function(X)).all()
    assert ranker.dual_objective_ <= ranker.primal_objective_


@quiet
@pytest.mark.parametrize(
    ("name", "unit"),
    [
        *itertools.product(["push", "top push", "squared hinge"], [1e-6, 1e6]),
        # cutting planes see features through the planes' inner products, which lose more
        *itertools.product(["hinge", "average precision"], [1e-6, 1e2]),
    ],
)
def test_a_column_in_other_units_is_no_obstacle(name, unit):
    """The answer is another, as the norm is, but the certificate still says that it is the best."""
    X, y = breast(every=1)
    X[:, 3] *= unit
    ranker = KINDS[name](10.0).fit(X, y)
    assert ranker.converged_
    moved = KINDS[name](10.0).fit(X + 1e6 * np.abs(X).max(axis=0), y)
    assert moved.primal_objective_ == pytest.approx(ranker.primal_objective_, rel=1e-3)


@quiet
def test_weights_of_svm_map_are_whole_numbers_of_copies():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3 == 0
    X[:, 0] += y
    with pytest.raises(ValueError, match=r"whole numbers as sample_weight.* found 2e\+301 in all"):
        SVMMAP().fit(X, y, np.full(len(y), 1e300))
    with pytest.raises(ValueError, match=r"at most 10,000,000 in a class, and found 2e\+07 in all"):
        SVMMAP().fit(X, y, np.full(len(y), 1e6))
    with pytest.raises(ValueError, match=r"whole numbers as sample_weight.* found 0.5"):
        SVMMAP().fit(X, y, sample_weight=np.full(60, 0.5))


@quiet
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("form", ["grades", "groups", "pairs"])
@pytest.mark.parametrize("seed", by_day(range(5), 2))
def test_ranksvm_of_grades_groups_and_pairs(seed, form, loss):
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.normal(size=(20, 3))) / 2
    grades, groups = rng.integers(0, 4, 20), rng.integers(0, 3, 20)
    weights = rng.integers(0, 3, 20).astype(float)
    X[:, 0] += 0.5 * grades
    if form == "pairs":
        better, worse = rng.integers(0, 20, 30), rng.integers(0, 19, 30)
        worse += worse >= better
        pi = rng.uniform(0.5, 2.0, 30)
        options = {"pairs": (better, worse, pi)}
    else:
        together = np.equal.outer(groups, groups) if form == "groups" else np.ones((20, 20), dtype=bool)
        better, worse = np.nonzero(np.greater.outer(grades, grades) & together)
        pi = np.ones(len(better))
        options = {"y": grades, **({"qid": groups} if form == "groups" else {})}
    shares = pi * weights[better] * weights[worse]
    value, _ = pairwise_svm(X[better] - X[worse], 10.0 * shares / shares.sum(), loss)
    for kernel in ("linear", "precomputed"):
        table = X if kernel == "linear" else X @ X.T
        ranker = RankSVM(10.0, kernel=kernel, loss=loss, tol=1e-9, max_iter=3000)
        ranker.fit(table, sample_weight=weights, **options)
        assert ranker.primal_objective_ == pytest.approx(value, rel=1e-6)
        assert ranker.dual_objective_ <= value * (1 + 1e-6)
    assert (ranker.classes_ is not None) == (form != "pairs")


def test_a_fit_that_converges_does_not_warn():
    X, y = breast()
    for kind in KINDS.values():
        kind(1.0).fit(X, y)


@quiet
def test_equal_planes_share_their_dual_variable():
    """At a gap near rounding a plane joins beside its double, with nothing to give and no way to go."""
    rng = np.random.default_rng(2034)
    n, d = int(rng.integers(3, 20)), int(rng.choice([1, 2]))
    X, y = np.round(rng.normal(size=(n, d)), 1), rng.random(n) < 0.4
    y[:2] = True, False
    ranker = StructSVM(measure="prbep", C=1e6, tol=1e-12).fit(X, y.astype(int))
    assert np.isfinite(ranker.coef_).all()


def test_one_advice_for_gaps_that_stay_wide():
    X, y = breast()
    gap = r"the relative duality gap is \S+ after \d+ iterations; raise max_iter or tol, "
    for ranker, easier in ((RankSVM(1e3, loss="hinge"), "lower C"), (PushRanker("hinge"), "raise alpha")):
        with pytest.warns(ConvergenceWarning, match=f"{gap}{easier}, or scale the features"):
            ranker.set_params(max_iter=3).fit(X, y)


@quiet
@pytest.mark.parametrize("name", KINDS)
def test_a_weight_of_the_loss_beyond_floats_is_refused(name):
    with pytest.raises(ValueError, match=r"C must be > 0 and <= 1e\+30, got 1e\+300"):
        KINDS[name](1e300).fit([[0.0], [1.0]], [0, 1])


def test_another_fit_leaves_no_classes_or_thresholds_behind():
    rng = np.random.default_rng(0)
    X, grades = rng.normal(size=(60, 3)), np.arange(60) % 4
    ranker = RankSVM().fit(X, grades)
    assert len(ranker.thresholds_) == 3
    assert set(ranker.fit(X, grades > 1).predict(X)) <= {False, True}
    assert ranker.thresholds_.tolist() == [ranker.threshold_]
    ranker.fit(X, grades).fit(X, pairs=([0, 1], [2, 3]))
    assert ranker.thresholds_.tolist() == [0.0]
    assert ranker.classes_ is None


@pytest.mark.parametrize("emptied", [0, 1, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}])
def test_grades_without_weight_are_as_if_they_were_not_there(emptied, class_weight):
    rng = np.random.default_rng(0)
    X, grades = rng.normal(size=(80, 3)), rng.integers(0, 4, 80)
    kept = grades != emptied
    if isinstance(class_weight, dict):
        class_weight = {grade: weight for grade, weight in class_weight.items() if grade != emptied}
    weighted = RankSVM(class_weight=class_weight).fit(X, grades, kept.astype(float))
    left_out = RankSVM(class_weight=class_weight).fit(X[kept], grades[kept])
    np.testing.assert_allclose(weighted.coef_, left_out.coef_, atol=1e-12)
    np.testing.assert_allclose(weighted.thresholds_, left_out.thresholds_, atol=1e-12)
    assert weighted.classes_.tolist() == left_out.classes_.tolist()


LINEAR = {
    **{name: make for name, make in KINDS.items() if "rbf" not in name},
    "precision": lambda C=1.0, **options: StructSVM(C, **options),
    "precision of all": lambda C=1.0, **options: StructSVM(C, measure="prbep", **options),
}


@quiet
@pytest.mark.parametrize("name", LINEAR)
def test_the_gap_of_float32_is_that_of_the_rounded_coefficients(name):
    """The loss of float32 coefficients is that of float64 ones which are the same numbers."""
    rng = np.random.default_rng(1)
    y = np.arange(200) % 4 == 0
    X = (rng.normal(size=(200, 4)) + 2.0 * y[:, None]).astype(np.float32)
    ranker = LINEAR[name](100.0, tol=1e-9, max_iter=300).fit(X, y)
    assert ranker.coef_.dtype == np.float32
    coef = ranker.coef_.astype(np.float64)
    sample, scores = BipartiteSample.from_labels(y), X.astype(np.float64) @ coef
    if isinstance(ranker, SVMMAP):
        risk = average_precision_hinge(sample, scores)[0]
    elif isinstance(ranker, StructSVM):
        surrogate = PrecisionAtK(ranker.k if ranker.measure == "precision" else 1.0, "struct")
        risk = surrogate.evaluation(sample, scores)[0] / surrogate.count(y.sum())
    else:
        price = "maximum" if isinstance(ranker, InfinitePush) else "identity"
        risk = PushObjective(ranker.loss, price, scale="mean").evaluation(sample, scores).value
    expected = 0.5 * coef @ coef + 100.0 * risk
    assert ranker.primal_objective_ == pytest.approx(expected, rel=1e-13)
    assert ranker.dual_gap_ == pytest.approx(abs(expected - ranker.dual_objective_) / abs(expected), rel=1e-3)
    precise = LINEAR[name](100.0, tol=1e-9, max_iter=300).fit(X.astype(np.float64), y)
    assert ranker.primal_objective_ >= precise.dual_objective_ - 1e-12 * abs(expected)


@quiet
@pytest.mark.parametrize("name", {**KINDS, **LINEAR})
def test_every_documented_attribute_is_there_after_any_fit(name):
    X, y = breast()
    ranker = {**KINDS, **LINEAR}[name](max_iter=3).fit(pd.DataFrame(X).add_prefix("column "), y)
    from numpydoc import docscrape

    attributes = docscrape.NumpyDocString(inspect.getdoc(type(ranker)))["Attributes"]
    names = {name for attribute in attributes for name in attribute.name.split(", ")}
    # The scores of a kernel are not linear in the columns.
    is_linear = getattr(ranker, "kernel", "linear") == "linear"
    absent = set() if is_linear else {"coef_", "intercept_"}
    assert {name for name in names if not hasattr(ranker, name)} == absent
