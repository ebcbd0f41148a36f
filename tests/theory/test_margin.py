"""The largest margin of votes: the value of the game, and its proof."""

import numpy as np
import pytest

from pushrank.theory import max_margin
from samples import overlapping_votes, separable_votes


class TestMaxMargin:
    """The value of the game, and its proof."""

    @pytest.mark.parametrize("positive", [False, True])
    def test_primal_and_dual_agree(self, positive):
        for seed in range(5):
            H, y = separable_votes(seed)
            found = max_margin(H, y, positive=positive)
            assert found.value == pytest.approx(found.bound, abs=1e-9)
            assert np.abs(found.weights).sum() <= 1 + 1e-9
            assert found.net_row_weights.sum() == pytest.approx(0.0, abs=1e-12)
            assert np.abs(found.net_row_weights).sum() == pytest.approx(2.0)
            if positive:
                assert (found.weights >= 0).all()

    def test_explicit_pairs_and_grades_are_the_same_game(self):
        H, y = separable_votes(0)
        better, worse = np.nonzero(np.greater.outer(y, y))
        assert max_margin(H, pairs=(better, worse)).value == pytest.approx(max_margin(H, y).value)
        rng = np.random.default_rng(0)
        for _ in range(10):
            H, grades, qid = rng.random((12, 9)), rng.integers(0, 3, 12), rng.integers(0, 2, 12)
            same = np.equal.outer(qid, qid) & np.greater.outer(grades, grades)
            one = max_margin(H, grades, qid=qid)
            other = max_margin(H, pairs=np.nonzero(same))
            assert one.value == pytest.approx(other.value, abs=1e-9)
            assert one.value == pytest.approx(one.bound, abs=1e-9)

    def test_no_vote_that_ranks_rightly_has_value_zero(self):
        found = max_margin(*overlapping_votes())
        assert found.value == 0.0
        assert found.bound == pytest.approx(0.0, abs=1e-9)

    def test_pairs_of_weight_zero_do_not_count(self):
        H = np.array([[1.0], [0.0], [2.0]])
        assert max_margin(H, pairs=([0, 0], [1, 2])).value == 0.0
        assert max_margin(H, pairs=([0, 0], [1, 2], [1.0, 0.0])).value == 1.0

    @pytest.mark.parametrize(
        ("given", "error", "message"),
        [
            ({}, ValueError, "either y or pairs"),
            ({"pairs": ([0], [3])}, ValueError, "row numbers must be from 0 to 2; pair 0 has 3"),
            ({"pairs": ([1.9], [0.2])}, TypeError, "must be row numbers, integers"),
            ({"pairs": ([0], [0])}, ValueError, "pair 0 ranks row 0 above itself"),
            ({"pairs": ([0, 1], [2])}, ValueError, "inconsistent"),
            ({"pairs": ([], [])}, ValueError, "at least one pair"),
            ({"pairs": ([0], [1]), "qid": [0, 0, 0]}, ValueError, "qid must be None"),
            ({"pairs": ([0], [1]), "y": [0, 0, 1]}, ValueError, "y must be None"),
            ({"y": [0.0, np.nan, 1.0]}, ValueError, "y contains NaN"),
            ({"y": ["a", "b", "c"]}, ValueError, "grades of relevance, which must be numbers"),
            ({"y": [1, 1, 1]}, ValueError, "exactly 2 classes, found 1 class"),
            ({"y": [0, 1]}, ValueError, "y has 2 entries for 3 rows"),
            ({"y": [0, 1, 1], "qid": [None, 1, 1]}, ValueError, "qid has no entry in row 0"),
            ({"y": [0, 1, 1], "qid": [1, 1]}, ValueError, "found 2 entries for 3 rows"),
            ({"y": [0, 1, 1], "qid": [0, 1, 1]}, ValueError, "no pair to rank"),
        ],
    )
    def test_bad_input_is_refused_as_the_rankers_refuse_it(self, given, error, message):
        with pytest.raises(error, match=message):
            max_margin(np.eye(3), **given)
