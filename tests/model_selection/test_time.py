"""Rows in the order of time: parts by time, choices and early stopping by them, and when it is spoken of."""

from datetime import date, datetime, timedelta
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pushrank
from pushrank.model_selection import TimeSplit, compare_rankers
from pushrank.times import in_order
from samples import by_first_column

MODELS = {"logistic": LogisticRegression(), "push": pushrank.PNormPush()}
SEARCHES = {
    "push": pushrank.PNormPushCV(alphas=[0.1, 1.0], ps=[2.0]),
    "families": pushrank.TopRankerCV(candidates=["p-norm-push"], budget=20),
    "boosted": pushrank.PushBoostCV(20, ps=[4.0], learning_rates=[1.0], n_estimators=[5, 10]),
}


def rows(n_rows=120, seed=0):
    """Rows in the order of 40 days of three each."""
    return *by_first_column(n_rows, 3, 0.5, seed=seed), np.datetime64("2024-01-01") + np.arange(n_rows) // 3


@given(
    times=st.lists(st.integers(0, 30), min_size=12, max_size=60).filter(lambda values: len(set(values)) >= 6),
    n_splits=st.integers(1, 5),
)
def test_equal_times_are_in_one_period_and_periods_are_as_even_as_times_allow(times, n_splits):
    times = np.array(times)
    splits = list(TimeSplit(n_splits).split(times, time=times))
    assert len(splits) == TimeSplit(n_splits).get_n_splits() == n_splits
    for train, test in splits:
        assert times[train].max() < times[test].min()
    tested = np.concatenate([test for _, test in splits])
    assert sorted([*splits[0][0], *tested]) == list(range(len(times)))
    # Growing: all of the past is learnt from.
    for (train, test), (later, _) in pairwise(splits):
        assert sorted([*train, *test]) == later.tolist()
    if len(set(times)) == len(times):
        sizes = [len(test) for _, test in splits]
        assert max(sizes) - min(sizes) <= 1


def test_periods_of_many_equal_times_are_never_empty():
    times = np.repeat([1, 2, 3, 4], [1, 1, 1, 97])
    parts = [(len(train), len(test)) for train, test in TimeSplit(3).split(times, time=times)]
    assert parts == [(1, 1), (2, 1), (3, 97)]


def test_the_order_of_rows_does_not_matter():
    *_, time = rows()
    order = np.random.default_rng(0).permutation(len(time))
    sorted_parts = list(TimeSplit(4).split(time, time=time))
    for (train, test), (a, b) in zip(TimeSplit(4).split(time, time=time[order]), sorted_parts, strict=True):
        assert sorted(order[train]) == a.tolist()
        assert sorted(order[test]) == b.tolist()


def test_a_window_and_a_gap_are_lengths_of_time():
    *_, time = rows()
    days = TimeSplit(3, window=timedelta(days=5), gap=np.timedelta64(48, "h"))
    numbers = (time - time[0]).astype(int)
    for (train, test), (a, b) in zip(
        days.split(time, time=time), TimeSplit(3, window=5, gap=2).split(numbers, time=numbers), strict=True
    ):
        assert train.tolist() == a.tolist()
        assert test.tolist() == b.tolist()
        first = numbers[test].min()
        assert set(numbers[train]) == set(range(first - 7, first - 2))


def test_groups_of_a_test_part_are_not_learnt_from():
    _, _, time = rows()
    groups = np.arange(len(time)) // 3 // np.array([1, 10])[np.arange(len(time)) % 2]
    apart, all_of_past = (list(TimeSplit(2).split(time, groups=given, time=time)) for given in (groups, None))
    for (train, test), (past, same) in zip(apart, all_of_past, strict=True):
        assert test.tolist() == same.tolist()
        assert set(train) == {row for row in past if groups[row] not in groups[test]}
        assert 0 < len(train) < len(past)


@pytest.mark.parametrize(
    "as_given",
    [
        list,
        lambda time: time.astype(str).tolist(),
        lambda time: time.astype(date).tolist(),
        lambda time: [datetime(2024, 1, 1) + timedelta(int(n)) for n in (time - time[0]).astype(int)],
        pd.Series,
        lambda time: pd.Series(time).dt.tz_localize("Europe/Berlin"),
        lambda time: pd.Series(time, dtype="datetime64[ns]").astype("timestamp[ns][pyarrow]"),
        lambda time: (time - time[0]).astype(np.uint16),
        lambda time: pd.Series((time - time[0]).astype(int), dtype="Int64"),
    ],
)
def test_times_may_be_numbers_or_dates_of_many_kinds(as_given):
    *_, time = rows()
    parts = TimeSplit(3).split(time, time=as_given(time))
    for (train, test), (a, b) in zip(parts, TimeSplit(3).split(time, time=time), strict=True):
        assert (train.tolist(), test.tolist()) == (a.tolist(), b.tolist())


def test_a_frame_says_its_times_itself():
    X, y, time = rows()
    by_index = pd.DataFrame(X, index=pd.DatetimeIndex(time))
    by_column = pd.DataFrame(X).assign(seen=time)
    for frame in (by_index, by_column):
        splits = TimeSplit(3).split(frame), TimeSplit(3).split(X, time=time)
        for (train, test), (a, b) in zip(*splits, strict=True):
            assert (train.tolist(), test.tolist()) == (a.tolist(), b.tolist())
    scores = cross_validate(LogisticRegression(), by_index, y, cv=TimeSplit(3))["test_score"]
    assert len(scores) == 3


DAYS = np.datetime64("2024-01-01") + np.arange(6)


@pytest.mark.parametrize(
    ("split", "time", "error", "message"),
    [
        ({"n_splits": 0}, DAYS, ValueError, "n_splits must be"),
        ({}, None, ValueError, "TimeSplit needs the time of every row: pass time="),
        ({}, [1.0, 2.0, np.nan, 3.0, 4.0, 5.0], ValueError, "time is missing in row 2; fill it"),
        (
            {},
            np.where(DAYS[4] == DAYS, np.datetime64("NaT", "D"), DAYS),
            ValueError,
            "time is missing in row 4",
        ),
        ({}, ["monday"] * 6, ValueError, "numbers or dates such as 2024-12-31"),
        ({}, np.ones((6, 2)), ValueError, r"for each of the 6 rows, got float64 of the shape \(6, 2\)"),
        ({}, [1, 1, 2, 2, 3, 3], ValueError, "3 different values; 5 test parts and the rows .* at least 6"),
        ({"n_splits": 2, "gap": 30}, DAYS, TypeError, "gap must be a timedelta where time holds dates"),
        ({"n_splits": 2, "window": "3 days"}, np.arange(6), TypeError, "window must be a number where"),
        ({"n_splits": 2, "gap": -1}, np.arange(6), ValueError, "gap must be at least 0, got -1"),
        ({"n_splits": 2, "gap": timedelta(days=-1)}, DAYS, ValueError, "gap must be at least 0"),
        ({"n_splits": 2, "gap": 2}, np.arange(6), ValueError, "no row is left .* before test part 1 of 2"),
    ],
)
def test_what_cannot_be_split_is_refused(split, time, error, message):
    with pytest.raises(error, match=message):
        list(TimeSplit(**split).split(np.zeros((6, 1)), time=time))


def test_models_are_compared_on_what_comes_later():
    X, y, time = rows()
    comparison = compare_rankers(MODELS, X, y, cv=3, time=time, random_state=0)
    wanted = np.full(len(y), -1)
    for number, (_, test) in enumerate(TimeSplit(3).split(X, time=time)):
        wanted[test] = number
    assert comparison.folds.tolist() == wanted.tolist()
    assert "Judged by time, on 3 parts that each come after the rows learnt from." in comparison.verdict()
    given = compare_rankers(MODELS, X, y, cv=list(TimeSplit(3).split(X, time=time)))
    for model in MODELS:
        np.testing.assert_array_equal(comparison.scores[model], given.scores[model])
    frame = pd.DataFrame(X, index=pd.DatetimeIndex(time))
    assert compare_rankers(MODELS, frame, y, cv=TimeSplit(3)).summary() == comparison.summary()
    assert "Judged by 3 random folds." in compare_rankers(MODELS, X, y, cv=3, random_state=0).verdict()


def test_a_budget_is_the_same_share_of_the_rows_that_are_tested():
    X, y, time = rows()
    comparison = compare_rankers(MODELS, X, y, cv=3, time=time, budget=40)
    assert (comparison.folds >= 0).sum() == 90
    assert comparison.budget == 30
    assert comparison.name_of("hits in budget") == "hits in 30 rows"
    assert comparison.verdict().endswith("A budget of 40 of 120 rows is 30 of the 90 tested.")
    # Parts are what the caller made of the rows: a budget is of those that they test on.
    given = compare_rankers(MODELS, X, y, cv=list(TimeSplit(3).split(X, time=time)), budget=40)
    assert given.budget == 40


def test_a_nested_choice_and_choices_inside_models_see_no_later_rows():
    X, y, time = rows(240)
    learnt = []

    class Watched(LogisticRegression):
        def fit(self, X, y):
            learnt.append(X[:, 0])
            return super().fit(X, y)

    column = np.arange(len(y), dtype=float)
    X = np.column_stack([column, X])
    search = pushrank.StackingRanker([("any", Watched())], cv=2)
    compare_rankers({"search": search, "logistic": Watched()}, X, y, cv=2, time=time, nested=True)
    assert len(learnt) > 10
    for seen in learnt:
        assert sorted(seen) == list(range(len(seen)))


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_choose_by_parts_in_the_order_of_time(name):
    X, y, time = rows(240)
    parts = list(TimeSplit(5).split(X, time=time))
    search = SEARCHES[name]
    by_time = type(search)(**search.get_params(deep=False)).fit(X, y, time=time)
    by_parts = type(search)(**search.get_params(deep=False) | {"cv": parts}).fit(X, y)
    found, expected = (search.cv_results_["split4_test_score"] for search in (by_time, by_parts))
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="time needs cv as a number or a splitter such as TimeSplit"):
        type(search)(**search.get_params(deep=False) | {"cv": StratifiedKFold()}).fit(X, y, time=time)
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(StandardScaler(), search).fit(X, y, time=time)
        assert routed[-1].n_splits_ == 5


def test_scikit_learns_searches_route_times():
    X, y, time = rows()
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=TimeSplit(3)).fit(X, y, time=time)
        assert search.n_splits_ == 3
        parts = cross_validate(
            LogisticRegression(), X, y, cv=TimeSplit(3), params={"time": time}, return_indices=True
        )["indices"]
    for found, (_, wanted) in zip(parts["test"], TimeSplit(3).split(X, time=time), strict=True):
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    "ranker",
    [pushrank.PushBoost(5, early_stopping=True), pushrank.SGDAtK(k=5, early_stopping=True, random_state=0)],
)
def test_early_stopping_validates_on_the_latest_rows(ranker):
    """What is learnt does not change with the latest labels, but for the number of rounds."""
    X, y, time = rows(300)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, time = X[order], y[order], time[order]
    is_late = time >= np.sort(time)[270]
    stopped = {"n_iter_no_change": 10**6} if hasattr(ranker, "n_iter_no_change") else {}
    fits = [
        type(ranker)(**ranker.get_params() | stopped).fit(X, labels, time=time)
        for labels in (y, np.where(is_late, 1 - y, y))
    ]
    assert not np.array_equal(fits[0].validation_path_, fits[1].validation_path_)
    if isinstance(ranker, pushrank.PushBoost):
        np.testing.assert_array_equal(*(fit.objective_path_[:1] for fit in fits))
    with pytest.raises(ValueError, match="time is for the rows of one list"):
        type(ranker)(**ranker.get_params()).fit(X, y, qid=np.arange(len(y)) // 10, time=time)


def test_rows_follow_times_up_or_down_but_for_a_few():
    *_, time = rows()
    assert in_order(time)
    assert in_order(time[::-1])
    swapped = time.copy()
    swapped[[3, 20]] = swapped[[20, 3]]
    assert in_order(swapped)
    assert not in_order(np.random.default_rng(0).permutation(time))
    assert not in_order(np.repeat(time[0], 100))
    assert not in_order(time[:10])


def test_random_folds_of_rows_in_the_order_of_time_are_warned_of_once():
    X, y, time = rows()
    frame = pd.DataFrame(X, index=pd.DatetimeIndex(time))
    with pytest.warns(UserWarning, match="rows of X follow the times of X.index.*time=X.index") as told:
        compare_rankers(MODELS, frame, y, random_state=0)
    assert len(told) == 1
    with pytest.warns(UserWarning, match="follow the times of X.index"):
        SEARCHES["families"].fit(frame, y)
    dated = pd.DataFrame(X, columns=list("abc")).assign(seen=time)
    search = pushrank.StackingRanker([("one", make_pipeline(Numbers(), pushrank.PNormPush()))], cv=2)
    with pytest.warns(UserWarning, match=r"times of X\['seen'\].*time=X\['seen'\]"):
        search.fit(dated, y)
    compare_rankers(MODELS, frame, y, cv=KFold(3))
    compare_rankers(MODELS, frame, y, cv=3, time=frame.index)
    compare_rankers(MODELS, frame.sample(frac=1.0, random_state=0), y, cv=3)
    search.fit(dated.assign(paid=time), y)


class Numbers(StandardScaler):
    """The first three columns of a frame."""

    def fit(self, X, y=None):  # noqa: ARG002
        return super().fit(X.iloc[:, :3].to_numpy())

    def transform(self, X):
        return super().transform(X.iloc[:, :3].to_numpy())
