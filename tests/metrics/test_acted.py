"""A list that makes its own labels: figures by hand, coverage by all draws, and what is refused."""

import json
from itertools import combinations, product

import numpy as np
import pytest

from pushrank import metrics
from pushrank.budgets import Budget

pytestmark = pytest.mark.fast

# Two days of unequal size: a list of two rows each, and two and one drawn of those below.
DAY = np.repeat([0, 1], [7, 6])
LISTED = np.isin(np.arange(13), [0, 1, 7, 8])
CHANCE = np.where(LISTED, np.nan, np.where(DAY == 0, 2 / 5, 1 / 4))
BY_DAY = {"time": DAY, "budget": Budget(2, "batch")}


def all_draws():
    for first, second in product(combinations(range(2, 7), 2), range(9, 13)):
        yield np.where(LISTED, "list", np.where(np.isin(np.arange(13), [*first, second]), "audit", ""))


@pytest.mark.parametrize("seed", range(6))
def test_over_all_draws_bounds_and_intervals_hold_at_their_level(seed):
    rng = np.random.default_rng(seed)
    y, has_label = rng.random(13) < rng.choice([0.2, 0.5, 0.9]), rng.random(13) < rng.choice([0.7, 1.0])
    scores, held = np.where(rng.random(13) < 0.3, 9.0, rng.permutation(13)), []
    for acted in all_draws():
        known = np.where(has_label & (acted != ""), y, np.nan)
        options = {"scores": scores, "confidence_level": 0.7, "random_state": 0} | BY_DAY
        measured = metrics.measure_acted(known, acted, CHANCE, **options)
        shuffled = np.random.RandomState(0).permutation(13)
        order = shuffled[np.argsort(-scores[shuffled], kind="stable")]
        on_list = np.concatenate([[row for row in order if DAY[row] == day][:2] for day in (0, 1)])
        hits, of, other = y[on_list].sum(), measured.total, measured.scores["scores"]
        assert other["shared"] == LISTED[on_list].sum()
        held.append([
            y[~LISTED].sum() <= of["hits_below_at_most"],
            y[LISTED].sum() >= of["recall_at_least"] * y.sum() if y.any() else True,
            other["hits_low"] <= hits <= other["hits_high"],
            other["difference_low"] <= hits - y[LISTED].sum() <= other["difference_high"],
            *(y[~LISTED & (int(day) == DAY)].sum() <= part["hits_below_at_most"]
              for day, part in measured.by_period.items()),
        ])  # fmt: skip
    assert (np.mean(held, axis=0) >= 0.7).all()


def test_figures_are_those_of_hand_and_of_the_bound():
    y = np.full(13, None)
    y[[0, 1, 7, 2, 9]] = 1, 0, 1, 1, 0
    acted = np.where(LISTED, "list", np.where(np.isin(np.arange(13), [2, 3, 9]), "audit", ""))
    chance = np.where(np.arange(13) == 12, 0.0, CHANCE)
    found = metrics.measure_acted(y, acted, chance, looks=5, **BY_DAY)
    most = metrics.audit_bound(2, 1 / 4, n_unknown=1, n_rows=9, confidence_level=0.99)
    counts = {"rows": 13, "listed": 4, "hits": 2, "listed_unlabelled": 1, "audited": 3, "audit_hits": 1}
    counts |= {
        "audited_unlabelled": 1,
        "never_drawn": 1,
        "hits_elsewhere": 0,
        "hits_below_at_most": most,
        "hits_below_estimate": 2.5,
    }
    counts |= {"recall_at_least": 2 / (2 + most), "recall_estimate": 2 / 4.5}
    counts |= {"recall_acted_at_least": 3 / (2 + most), "recall_acted_estimate": 3 / 4.5}
    assert found.total == pytest.approx(counts)
    assert found.to_frame()["hits"].tolist() == [1, 1]
    assert json.loads(json.dumps(found.summary()))["sentences"] == str(found).splitlines()
    assert "1 listed rows have no label" in str(found)
    assert "at all 5 looks together" in str(found)
    # A truth value has its meaning by the chance, and no positive at all is no recall.
    same = metrics.measure_acted(y, acted != "", np.where(LISTED, 1.0, chance), looks=5, **BY_DAY)
    assert same == found
    assert metrics.measure_acted([0, 0], ["list", ""], [1.0, 0.0]).total["recall_at_least"] == 0.0


def test_of_the_rows_acted_on_alone_the_list_is_measured():
    """Nothing is known of the number of other rows, nor of a period without an audited row."""
    acted = np.where(LISTED, "list", np.where(np.isin(np.arange(13), [2, 3]), "audit", ""))
    at, y = np.flatnonzero(acted != ""), np.arange(13) % 2
    of = {"scores": np.arange(len(at)), "time": DAY[at], "budget": BY_DAY["budget"]}
    found = metrics.measure_acted(y[at], acted[at], CHANCE[at], **of)
    assert found.total["hits_below_at_most"] == metrics.audit_bound(1, 2 / 5)
    assert found.by_period["1"]["hits_below_at_most"] is found.by_period["1"]["recall_at_least"] is None
    assert found.scores == {}
    assert "These are the rows acted on alone" in str(found)


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("chance is 0 of an audited row in row 2;", {"chance": np.where(CHANCE > 0.3, 0.0, CHANCE)}),
        ("chance is missing below the list in row 2;", {"chance": np.where(CHANCE > 0.3, np.nan, CHANCE)}),
        ("chance is not between 0 and 1 in row 9;", {"chance": np.where(CHANCE < 0.3, -1.0, CHANCE)}),
        ("all rows were listed: no audit", {"rows": [0, 1, 7]}),
        ("3 rows were audited, where .* say 0.0", {"chance": np.full(13, 0.0005)}),
        ("chance is missing below the list in row 0;", {"acted": np.ones(13), "chance": np.full(13, np.nan)}),
        ("chances differ, and rows that nobody", {"rows": [0, 2, 3, 9]}),
        ("time and budget go together", {"time": DAY}),
        ("looks must be finite and >= 1", {"looks": 0}),
        ("inconsistent numbers of samples", {"scores": [1.0, 2.0]}),
    ],
)
def test_what_is_no_audit_is_refused(message, wrong):
    acted = np.where(LISTED, "list", np.where(np.isin(np.arange(13), [2, 3, 9]), "audit", ""))
    given = {"y_true": np.arange(13) % 2, "acted": acted, "chance": CHANCE} | wrong
    rows = given.pop("rows", np.arange(13))
    given |= {name: given[name][rows] for name in ("y_true", "acted", "chance")}
    with pytest.raises(ValueError, match=message):
        metrics.measure_acted(**given)
