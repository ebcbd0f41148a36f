"""The columns that drive the best ranking, and what a report of few days says."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.model_selection import compare_rankers
from pushrank.report import ReportData, sentences
from pushrank.report.page import render

pytestmark = pytest.mark.fast


class Needy(LogisticRegression):
    """A model that refuses to learn from few rows, as one that splits them again does."""

    def __init__(self, needed=0):
        super().__init__()
        self.needed = needed

    def fit(self, X, y):
        if len(y) < self.needed:
            raise ValueError(f"{self.needed} rows are needed.")
        return super().fit(X, y)


def report_of(n_days, needed=0):
    """Return what a report shows of a budget a day, whose best model learns again from so many rows."""
    stream = make_stream(n_days, 40, random_state=0)
    models = {"needy": Needy(), "constant": LogisticRegression(C=1e-9, fit_intercept=False)}
    found = compare_rankers(models, stream.data, stream.target, budget=Budget(4), cv=3, time=stream.time)
    models["needy"].needed = needed
    assert found.best_ == "needy"
    frame = pd.DataFrame(stream.data[found.folds >= 0], columns=stream.feature_names)
    shown = found.of_held_out_rows(), stream.target[found.folds >= 0] == 1, frame
    return ReportData(*shown, title="days", meaning="y = 1", models=models, X=frame, by_time=True)


def test_columns_are_told_by_the_parts_that_the_best_model_can_learn_for():
    n_first = int(np.sum(report_of(24).comparison.folds == 0))
    some = report_of(24, n_first + 1).context()["drivers"]
    assert some.importances[0].column == "x1"
    assert some != report_of(24).context()["drivers"]
    none = report_of(24, 10**6).context()["drivers"]
    assert none.importances == []
    assert none.why_none.endswith("to the rows before the last part alone: 1000000 rows are needed.")


def test_a_report_of_few_days_promises_no_interval_that_it_does_not_have():
    data = report_of(12)
    assert re.search(r"rows: [\d.]+ by needy and [\d.]+ by constant\. There are", sentences(data)[1])
    page = render(data)
    assert "They allow for neighbouring days" not in page
    assert "They come from the differences between the test parts." in page
    assert "They allow for neighbouring days that are alike" in render(report_of(40))


def test_the_top_rows_say_what_raises_them_beyond_their_part():
    data = report_of(24)
    raised = data.context()["drivers"].reasons
    top = data.lists.first_rows("needy", 50)
    folds = data.comparison.folds
    assert set(raised) == set(top) & set(np.flatnonzero(folds > folds.min()))
    row = next(row for row in top if row in raised)
    part = np.flatnonzero(folds == folds[row])
    model = LogisticRegression().fit(data.X[folds < folds[row]], data.y[folds < folds[row]])
    more = model.coef_[0] * (data.X.iloc[row] - data.X.iloc[part].mean())
    first, *_ = raised[row].split("; ")
    assert first.startswith(f"{more.idxmax()} ")
    assert first.endswith(f": {more.max():+.2g}")
    page = render(data)
    assert "What raises a row: the columns that add most to its score" in page
    assert f"<td>{raised[row]}" in page.replace(' class="value"', "")
