"""The columns that drive the best ranking, and what a report of few days says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from pushrank.budgets import Budget
from pushrank.cli.model import table_rankers
from pushrank.datasets import make_stream
from pushrank.model_selection import compare_rankers
from pushrank.model_selection.comparison import TOGETHER
from pushrank.report import ReportData
from pushrank.report.lists import RankedLists
from pushrank.report.models import SENTENCES, find_drivers
from pushrank.report.page import render
from pushrank.report.pictures import hits_curve

pytestmark = pytest.mark.fast


def report_of(n_days, **options):
    """Return what a report shows of a budget a day."""
    stream = make_stream(n_days, 40, random_state=0)
    models = {"best": LogisticRegression(), "constant": LogisticRegression(C=1e-9, fit_intercept=False)}
    options = {"return_estimators": True} | options
    options |= {"budget": Budget(4), "cv": 3, "time": stream.time}
    found = compare_rankers(models, stream.data, stream.target, **options)
    assert found.chosen_ == "best"
    frame = pd.DataFrame(stream.data[found.folds >= 0], columns=stream.feature_names)
    shown = found.of_held_out_rows(), stream.target[found.folds >= 0] == 1, frame
    return ReportData(*shown, title="days", meaning="y = 1", models=models, X=frame)


def test_every_model_of_a_comparison_has_a_sentence():
    assert {type(model).__name__ for model in table_rankers().values()} <= SENTENCES.keys()


def test_columns_are_told_by_the_models_of_the_parts():
    drivers = report_of(24).context()["drivers"]
    assert drivers.importances[0].column == "x1"
    none = report_of(24, return_estimators=False).context()["drivers"]
    assert none.importances == []
    assert none.why_none.endswith("return_estimators=True) keeps them.")


def test_a_list_of_all_models_says_which_column_raises_a_row():
    n_rows = 600
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["line", "curve", "noise"])
    y = X["line"] + np.abs(X["curve"]) + rng.normal(size=n_rows) > 2.0
    models = {"linear": LogisticRegression(), "bayes": GaussianNB()}
    options = {"together": True, "return_estimators": True, "random_state": 0}
    found = compare_rankers(models, X, y, budget=n_rows // 10, **options)
    name = next(name for name in found.measures if name.startswith(TOGETHER))
    lists = RankedLists(y.to_numpy(), found.held_out_, n_rows // 10, [name, "linear"])
    drivers = find_drivers(found, lists, X, 0)
    assert {drivers.importances[0].column, drivers.importances[1].column} == {"line", "curve"}
    assert set(drivers.reasons) == set(lists.first_rows(name, 50))
    raised = [text for text in drivers.reasons.values() if text]
    assert all(text.startswith(("line ", "curve ", "noise ")) for text in raised)
    for part, model in enumerate(found.estimators[name]):
        test = np.flatnonzero(found.folds == part)
        scores = model.decision_function(X.iloc[test])
        np.testing.assert_allclose(scores, found.scores[name][test], rtol=1e-12, atol=1e-12)


def test_the_first_screen_of_a_budget_a_day_and_what_its_intervals_allow_for():
    few, many = render(report_of(12)), report_of(40)
    assert "They come from the differences between the test parts." in few
    assert "There are no intervals, which take 21 days; found " in few
    page, days = render(many), many.comparison.days
    assert "How many hits (y = 1) do 4 checks a day find?" in page
    mean, low, high = many.comparison.expected_
    assert f"{mean:.2f} hits a day</strong> expected on the next 7 days" in page
    assert "on average</span>, over such days" in page
    assert f"95 % interval {low:.2f} to {high:.2f}" in page
    assert (
        f"{np.mean(4 * days.positives / days.sizes):.2f} hits a day</strong> if 4 rows a day were picked"
        in page
    )
    assert page.count("neighbouring days that resemble each other") == 2
    curve = hits_curve(many.lists, many.comparison)
    assert curve.point[1] * float(curve.y_ticks[-1][1]) / curve.y_ticks[-1][0] == pytest.approx(
        days.means["best"].estimate
    )


def test_the_top_rows_say_what_raises_them_beyond_their_part():
    data = report_of(24)
    raised = data.context()["drivers"].reasons
    top = data.lists.first_rows("best", 50)
    folds = data.comparison.folds
    assert set(raised) == set(top)
    row = next(row for row in top if raised[row])
    part = np.flatnonzero(folds == folds[row])
    model = data.comparison.estimators["best"][folds[row]]
    more = model.coef_[0] * (data.X.iloc[row] - data.X.iloc[part].mean())
    first, *_ = raised[row].split("; ")
    assert first.startswith(f"{more.idxmax()} ")
    assert first.endswith(f": {more.max():+.2g}")
    page = render(data)
    assert "What raises a row: the columns that add most to its score" in page
    assert f"<td>{raised[row]}" in page.replace(' class="value"', "")
