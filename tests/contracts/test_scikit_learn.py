"""Rankers are scikit-learn estimators."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pushrank
from combinations import by_day
from contract import check_contract
from pushrank import estimators, metrics
from pushrank.estimators._base import RankerMixin
from pushrank.estimators._search import SELECTIONS, SearchMixin
from pushrank.solvers import SOLVERS
from samples import scaled_cancer

RANKERS = [getattr(estimators, name) for name in estimators.__all__]

AT_K = [ranker for ranker in RANKERS if "k" in ranker().get_params()]
MEMBERS = [("push", pushrank.PNormPush()), ("stumps", pushrank.PushBoost(n_estimators=10))]
# one configuration for each estimator, and for each way through its code
# Of the hinge of pairs two optima agree as far as the gap says, hence its tolerance.
CONFIGURED = [
    pushrank.PNormPush(), pushrank.PNormPush(solver="newton-cg"),
    pushrank.PNormPush(alpha=0.1, solver="coordinate"), pushrank.PNormPush(side="both"), pushrank.IRPush(),
    pushrank.PNormPush(positive=True), pushrank.IRPush(positive=True),
    pushrank.PushRanker("logistic", "power"), pushrank.PushRanker("squared_hinge"),
    pushrank.PNormPushCV((1.0, 4.0), alphas=(0.1,), scoring="average_precision", cv=2),
    *(pushrank.PushBoost(weak_rankers=kind, n_estimators=10) for kind in ("stumps", "columns", "regressors")),
    pushrank.RankBoost(n_estimators=10), pushrank.SmoothMarginRanking("warn", n_estimators=10),
    pushrank.AdaBoostRanker(n_estimators=10), pushrank.InfinitePush(),
    pushrank.InfinitePush(kernel="rbf", tol=1e-14), pushrank.InfinitePush(kernel="precomputed"),
    pushrank.RankSVM(), pushrank.RankSVM(10.0, loss="hinge", tol=1e-14),
    pushrank.RankSVM(kernel="poly", tol=1e-14), pushrank.RankSVM(kernel="rbf", loss="hinge", tol=1e-14),
    pushrank.SVMMAP(), pushrank.StructSVM(10.0, tol=1e-14),
    pushrank.PerceptronAtK(),
    pushrank.SGDAtK(radius=10.0), pushrank.RampAtK(init="logistic", tol=1e-13),
    pushrank.TrimmedPush(0.5, alpha=0.1, tol=1e-8),
    pushrank.TrimmedPush(0.5, alpha=0.1, tol=1e-8, positive=True),
    pushrank.TopRankerCV(candidates=["logistic-regression"], cv=2),
    pushrank.PushBoostCV(ps=[4.0], learning_rates=[1.0], n_estimators=[2, 5], cv=2),
    *(pushrank.StackingRanker(MEMBERS, final_estimator=final, cv=2) for final in ("mean", None)),
]  # fmt: skip
NIGHTLY = [
    *(ranker(solver=solver) for ranker in (pushrank.IRPush, pushrank.PushRanker) for solver in SOLVERS),
    *(pushrank.PNormPush(side=side, solver=solver) for side in ("pull", "both") for solver in SOLVERS),
    pushrank.InfinitePush(10.0, loss="squared_hinge"),
    pushrank.InfinitePush(kernel="rbf", loss="squared_hinge", tol=1e-14),
    pushrank.StructSVM(10.0, measure="prbep", tol=1e-14),
    pushrank.PerceptronAtK(variant="avg", average=False),
    *(pushrank.SGDAtK(surrogate=surrogate, radius=10.0) for surrogate in ("avg", "max", "struct")),
    *(
        ranker(weak_rankers=kind, n_estimators=10)
        for ranker in (pushrank.RankBoost, pushrank.AdaBoostRanker)
        for kind in ("columns", "regressors")
    ),
    *(
        pushrank.SmoothMarginRanking("warn", weak_rankers=kind, n_estimators=10)
        for kind in ("columns", "classifiers")
    ),
]

FIRST = {type(one): one for one in reversed(CONFIGURED)}
OTHERS = [one for one in [*CONFIGURED, *NIGHTLY] if one not in FIRST.values()]


def family(estimator):
    """Return the mixin that an estimator shares with others, or its class if it shares none."""
    mixins = [kind for kind in type(estimator).__mro__ if kind.__name__.endswith("Mixin")]
    return type(estimator) if mixins[0] is RankerMixin else mixins[0]


# The suite checks one estimator of each family, and the night all others.
OF_FAMILY = {family(one): one for one in reversed(CONFIGURED)}
BY_DAY = by_day(
    [*OF_FAMILY.values(), *(one for one in [*CONFIGURED, *NIGHTLY] if one not in OF_FAMILY.values())],
    len(OF_FAMILY),
)

GRADES = "three or more numbers in y are grades, which rankers learn from; scikit-learn has no tag for it"
TREES = "which of equally good splits a tree takes hangs on rounding, and so on the order of the sums"
SEPARATED = "the kernel ranks the training rows without an error: each threshold is that between the classes"
BATCHES = "a batch holds rows whatever they weigh, and which of tied rows come first hangs on their order"
WEIGHTS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
CUT = "a kernel matrix whose entries are cut to whole numbers is not positive semi-definite"


def takes_grades(estimator):
    exact = pushrank.InfinitePush | pushrank.SVMMAP | pushrank.StructSVM
    others = pushrank.AdaBoostRanker | pushrank.PerceptronAtK | pushrank.SGDAtK | pushrank.RampAtK
    two_classes = isinstance(estimator, exact | others | pushrank.TrimmedPush)
    return "qid" in inspect.signature(estimator.fit).parameters and not two_classes


def exceptions(estimator):
    """The checks that an estimator fails, and those that are left out, with the reason for each."""
    failing, left_out = {}, {}
    if takes_grades(estimator):
        left_out["check_classifier_not_supporting_multiclass"] = GRADES
    if getattr(estimator, "weak_rankers", None) in ("regressors", "classifiers"):
        left_out |= dict.fromkeys(WEIGHTS, TREES)
    is_hinge = isinstance(estimator, pushrank.RankSVM) and estimator.loss == "hinge"
    if getattr(estimator, "kernel", "linear") != "linear" and not is_hinge:
        failing["check_class_weight_classifiers"] = SEPARATED
    if getattr(estimator, "kernel", "linear") == "precomputed":
        failing["check_estimators_dtypes"] = CUT
    if hasattr(estimator, "partial_fit"):
        failing |= dict.fromkeys(WEIGHTS, BATCHES)
    return failing, left_out


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:.* the later of two texts:UserWarning")
@pytest.mark.parametrize("estimator", BY_DAY, ids=repr)
@pytest.mark.filterwarnings("ignore:.*no feature ranks better with a positive coefficient:UserWarning")
def test_contract(estimator):
    check_contract(estimator, *exceptions(estimator))


@pytest.fixture(scope="module")
def data():
    return scaled_cancer()


LONG = [pushrank.StackingRanker, pushrank.SmoothMarginRanking, pushrank.TrimmedPush]


@pytest.mark.parametrize(
    "ranker", by_day([*(one for one in RANKERS if one not in LONG), *LONG], len(RANKERS) - len(LONG))
)
def test_in_a_pipeline_and_a_grid(ranker, data):
    X, y = data
    # precision at a quarter of the positives says nothing of the rest of the list
    whole = {"measure": "prbep"} if ranker is pushrank.StructSVM else {"k": 1.0} if ranker in AT_K else {}
    whole |= {"candidates": ["logistic-regression"]} if ranker is pushrank.TopRankerCV else {}
    if ranker is pushrank.PushBoostCV:
        whole |= {"ps": [4.0], "learning_rates": [1.0], "n_estimators": [20]}
    whole |= {"alphas": [0.01, 0.1]} if ranker is pushrank.PNormPushCV else {}
    whole |= {"ps": [1.0, 4.0]} if ranker is pushrank.PNormPushCV else {}
    whole |= {"n_estimators": 500} if ranker is pushrank.SmoothMarginRanking else {}
    whole |= {"cv": 2} if issubclass(ranker, SearchMixin) else {}
    pipeline = make_pipeline(StandardScaler(), ranker(**whole))
    name = ranker.__name__.lower()
    scorers = {"average": "average_precision", "top": metrics.scorers.positives_at_top}
    scores = cross_validate(pipeline, X, y, scoring=scorers, cv=2)
    assert scores["test_average"].min() > 0.95
    assert scores["test_top"].min() >= 0
    grid_of = {"C": [1.0, 10.0]}
    if issubclass(ranker, SearchMixin):
        is_stack = ranker is pushrank.StackingRanker
        grid_of = {"final_estimator": ["mean", None]} if is_stack else {"selection": list(SELECTIONS)}
    elif "learning_rate" in ranker().get_params() and ranker not in AT_K:
        grid_of = {"learning_rate": [0.3, 1.0]}
    elif "alpha" in ranker().get_params():
        grid_of = {"alpha": [0.01, 1.0]}
    if ranker in AT_K:
        grid_of = {"k": [0.5, 1.0]}
    grid = GridSearchCV(pipeline, {f"{name}__{key}": grid_of[key] for key in grid_of}, cv=2).fit(X, y)
    assert grid.best_score_ > 0.95


def fits_of(ranker):
    """Return fits that leave different attributes: of two classes, of grades, stopped early."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=60)
    X = scores[:, None] + rng.normal(size=(60, 3))
    X = pd.DataFrame(X @ X.T, columns=[f"column {number}" for number in range(60)])
    y = (scores > 0.5).astype(int)
    fits = [clone(ranker).fit(X, y)]
    if takes_grades(ranker):
        fits.append(clone(ranker).fit(X, y + (scores > 1.0)))
    parameters = ranker.get_params()
    if "early_stopping" in parameters and parameters.get("solver") not in ("lbfgs", "newton-cg"):
        options = {"early_stopping": True, "validation_fraction": 0.4, "random_state": 0}
        fits.append(clone(ranker).set_params(**options).fit(X, y))
    return fits


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "ranker", by_day([*FIRST.values(), *(one for one in OTHERS if one in CONFIGURED)], len(FIRST)), ids=repr
)
def test_all_that_a_fit_leaves_is_documented(ranker):
    from numpydoc import docscrape

    assert set(map(type, CONFIGURED)) == set(RANKERS)
    fits = fits_of(ranker)
    for fitted in (*fits, *(fit.weak_rankers_ for fit in fits if hasattr(fit, "weak_rankers_"))):
        attributes = docscrape.NumpyDocString(inspect.getdoc(type(fitted)))["Attributes"]
        documented = {name for attribute in attributes for name in attribute.name.split(", ")}
        properties = inspect.getmembers(type(fitted), lambda member: isinstance(member, property))
        present = [name for name in dict(properties) if hasattr(fitted, name)]
        public = {name for name in (*vars(fitted), *present) if re.fullmatch(r"[^_].*_", name)}
        assert public <= documented
