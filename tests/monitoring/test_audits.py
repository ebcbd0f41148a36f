"""Rows drawn at random from those below a list: their chances, and the same answers when asked again."""

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom

from pushrank.monitoring import draw_audit

pytestmark = pytest.mark.fast

SCORES, NAMES = np.repeat(np.arange(30.0), 10)[::-1], np.arange(300)
TIMES = np.datetime64("2026-03-01T08:00", "m") + NAMES


def drawn(scores=SCORES, k=35, n_audited=5, **named):
    return draw_audit(scores, k, n_audited, **{"row_id": NAMES, "secret": "s", "time": TIMES} | named)


def test_the_list_is_the_best_rows_and_the_audit_is_of_all_others():
    acted, chance = drawn()
    listed, audited = acted == "list", acted == "audit"
    assert (listed.sum(), audited.sum()) == (30, 5)
    np.testing.assert_array_equal(listed, SCORES >= 27.0)
    np.testing.assert_array_equal(chance, np.where(listed, 1.0, 5 / 270))
    # Rows that tie at the cut are not taken by their place in the file.
    tied = drawn(k=30)[0][20:30] == "list"
    assert tied.sum() == 5
    assert not tied[:5].all()


def test_the_same_rows_get_the_same_answers_in_any_order_and_others_by_another_secret_or_time():
    order, acted = np.random.default_rng(0).permutation(300), drawn()[0]
    again = drawn(SCORES[order], row_id=NAMES[order].astype(str), time=TIMES.astype("datetime64[us]")[order])
    np.testing.assert_array_equal(again[0], acted[order])
    for other in ({"secret": "t"}, {"time": TIMES + np.timedelta64(1, "m")}, {"time": None}):
        assert (drawn(**other)[0] != acted).any()


def test_rows_are_drawn_with_their_chance_wherever_they_stand():
    draws = np.array([drawn(secret=f"secret {i}")[0] == "audit" for i in range(2000)])
    assert (draws.sum(axis=1) == 5).all()
    # The best row below the list, one that ties with it, the last one.
    for row in (30, 33, 299):
        assert binomtest(int(draws[:, row].sum()), 2000, 5 / 270).pvalue > 1e-3
    both_halves = draws[:, 30:165].any(axis=1) & draws[:, 165:].any(axis=1)
    assert binomtest(int(both_halves.sum()), 2000, 1.0 - 2.0 * hypergeom.pmf(5, 270, 135, 5)).pvalue > 1e-3


def test_a_file_of_no_more_rows_than_the_budget_is_acted_on_whole():
    for n in (0, 20, 33, 35):
        acted, chance = drawn(SCORES[:n], row_id=NAMES[:n], time=TIMES[:n])
        assert (acted != "").all()
        assert (chance == 1.0).all()
        assert (acted == "audit").sum() == max(0, n - 30)


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("n_audited must be >= 1 and <= 34", {"n_audited": 35}),
        ("n_audited must be >= 1", {"n_audited": 0}),
        (
            "2 rows have the name '4' and the same time",
            {"row_id": np.where(NAMES == 7, 4, NAMES), "time": None},
        ),
        ("row_id must name each of the 300 rows, got 3 names", {"row_id": NAMES[:3]}),
        (
            "row_id is missing in row 2",
            {"row_id": [0, 1, None, *range(3, 300)]},
        ),
        ("secret must be", {"secret": ""}),
        ("scores", {"scores": np.where(NAMES == 7, np.nan, SCORES)}),
        ("time must hold", {"time": TIMES[:4]}),
    ],
)
def test_what_cannot_be_drawn_from_is_refused(message, wrong):
    with pytest.raises(ValueError, match=message):
        drawn(**wrong)
