"""What an entry of X means: parts add up, zeros are zeros, and masks and dates are no numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import pushrank

RNG = np.random.default_rng(0)
Y = (RNG.random(120) < 0.4).astype(int)
DENSE = np.round(RNG.normal(size=(120, 5)) + 0.7 * Y[:, None], 1) * (RNG.random((120, 5)) < 0.6)

RANKERS = [
    pushrank.PNormPush(p=2.0),
    pushrank.PushBoost(n_estimators=5),
    pushrank.PushBoost(n_estimators=5, weak_rankers="columns"),
    pushrank.RankBoost(n_estimators=5),
    pushrank.AdaBoostRanker(n_estimators=5),
    pushrank.PushBoostCV(n_estimators=[2, 5], cv=3, random_state=0),
    pushrank.RankSVM(kernel="rbf", gamma=0.5, C=10.0),
    pushrank.InfinitePush(kernel="rbf", gamma=0.5, C=10.0),
    pushrank.SGDAtK(max_iter=2, random_state=0),
]


def named(ranker):
    return f"{type(ranker).__name__}-{ranker.get_params().get('kernel', '')}"


def in_parts(kind, dtype=np.float64):
    """Return the rows with every stored entry in two parts that add up to it."""
    whole = kind(DENSE.astype(dtype))
    parts = np.column_stack([0.75 * whole.data, 0.25 * whole.data]).astype(dtype).ravel()
    return kind((parts, np.repeat(whole.indices, 2), 2 * whole.indptr), shape=whole.shape)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("ranker", RANKERS, ids=named)
def test_parts_of_a_sparse_entry_add_up_in_fits_and_scores(ranker, kind):
    whole, parts = kind(DENSE), in_parts(kind)
    before = parts.data.copy()
    expected = ranker.fit(whole, Y).decision_function(whole)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(ranker.decision_function(parts), expected, rtol=0, atol=1e-9 * scale)
    scores = ranker.fit(parts, Y).decision_function(whole)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-6 * scale)
    # The user's matrix stays as it was.
    np.testing.assert_array_equal(parts.data, before)


def test_parts_of_blocks_add_up():
    whole = sp.csr_matrix(DENSE).tobsr((2, 1))
    parts = sp.bsr_matrix(
        (np.repeat(whole.data / 2.0, 2, axis=0), np.repeat(whole.indices, 2), 2 * whole.indptr), whole.shape
    )
    ranker = pushrank.PushBoost(n_estimators=5)
    expected = ranker.fit(DENSE, Y).decision_function(DENSE)
    np.testing.assert_allclose(ranker.fit(parts, Y).decision_function(parts), expected)


@pytest.mark.parametrize("ranker", RANKERS, ids=named)
def test_entries_that_are_not_stored_are_zeros(ranker):
    sparse = sp.csr_matrix(DENSE)
    dense = ranker.fit(DENSE, Y).decision_function(DENSE)
    scale = np.abs(dense).max()
    np.testing.assert_allclose(ranker.decision_function(sparse), dense, rtol=0, atol=1e-6 * scale)
    scores = ranker.fit(sparse, Y).decision_function(DENSE)
    np.testing.assert_allclose(scores, dense, rtol=0, atol=1e-3 * scale)


@pytest.mark.parametrize("ranker", RANKERS, ids=named)
def test_masked_entries_are_refused_and_a_mask_of_none_is_taken(ranker):
    masked = np.ma.masked_array(DENSE, mask=False)
    expected = ranker.fit(DENSE, Y).decision_function(DENSE)
    np.testing.assert_array_equal(ranker.fit(masked, Y).decision_function(masked), expected)
    masked[3, 2] = np.ma.masked
    for use in (lambda: ranker.decision_function(masked), lambda: ranker.fit(masked, Y)):
        with pytest.raises(ValueError, match=r"X is a masked array, and 1 of its.*filled\(np.nan\)"):
            use()


DAYS = np.datetime64("2026-01-01") + np.arange(120)[:, None] * np.timedelta64(1, "D")


@pytest.mark.parametrize(
    "dates",
    [
        DAYS,
        DAYS - DAYS[0],
        pd.DataFrame({"day": DAYS.ravel()}),
        pd.DataFrame({"number": DENSE[:, 0], "day": DAYS.ravel()}),
        pd.DataFrame({"day": DAYS.ravel()}).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame({"number": DENSE[:, 0], "day": DAYS.ravel()}),
    ],
    ids=["dates", "durations", "frame", "mixed", "arrow", "polars"],
)
@pytest.mark.parametrize("ranker", [RANKERS[0], RANKERS[1], RANKERS[-1]], ids=named)
def test_dates_are_refused_with_what_to_make_of_them(ranker, dates):
    with pytest.raises(ValueError, match=r"X must hold numbers, and column [01].*such as days since"):
        ranker.fit(dates, Y)
