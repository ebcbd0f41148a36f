"""An analyst's way, from a messy file to a threshold: every command does what the one before it said."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from pushrank.cli.model import SavedModel
from tests.cli.runner import call

N_ROWS, N_DUPLICATES, N_CUSTOMERS = 60_000, 300, 21_000
BUDGET = 750


def messy(n_rows: int, seed: int) -> pd.DataFrame:
    """Card payments of 20 days, about 0.6 % of which are fraud.

    They have identifiers, dates, codes with leading zeros, gaps, two ways to write a channel, a country whose
    code is NA, an amount that is only known after a fraud, and rows that were written twice.
    """
    rng = np.random.default_rng(seed)
    n_rows -= N_DUPLICATES
    booked = np.sort(rng.random(n_rows)) * 20.0
    table = pd.DataFrame(
        {
            "txn_id": [f"T{seed}{number:07d}" for number in range(n_rows)],
            "customer_id": rng.integers(100_000, 100_000 + N_CUSTOMERS, n_rows),
            "booked_at": (pd.Timestamp("2025-03-01") + pd.to_timedelta((booked * 86_400).round(), unit="s")),
            "amount": rng.lognormal(3.5, 1.1, n_rows).round(2),
            "card_bin": [f"0{code}" for code in rng.integers(40_000, 40_060, n_rows)],
            "channel": rng.choice(
                ["web", "WEB", "pos", "POS", "app"], n_rows, p=[0.3, 0.02, 0.4, 0.03, 0.25]
            ),
            "country": rng.choice(["DE", "FR", "NA", "US", "NL"], n_rows, p=[0.6, 0.15, 0.01, 0.04, 0.2]),
            "device_age": rng.exponential(200.0, n_rows).round(),
            "n_last_day": rng.poisson(1.5, n_rows),
            "distance": rng.lognormal(2.0, 1.2, n_rows).round(1),
        }
    )
    is_night = (booked % 1.0) < 0.25
    is_new = table["device_age"] < 5
    odds = (
        0.9 * np.log(table["amount"]) + 1.4 * is_night + 2.0 * is_new + 0.35 * table["n_last_day"]
        + 1.0 * table["channel"].str.lower().eq("web") + 1.5 * table["country"].isin(["NA", "US"]) - 10.6
    )  # fmt: skip
    fraud = rng.logistic(size=n_rows) < odds
    table["chargeback_amount"] = np.where(fraud, table["amount"], 0.0)
    table.loc[rng.random(n_rows) < 0.08, "device_age"] = np.nan
    table.loc[rng.random(n_rows) < 0.03, "country"] = None
    table["fraud"] = np.where(fraud, "yes", "no")
    twice = table.sample(N_DUPLICATES, random_state=seed)
    return pd.concat([table, twice]).sort_values("booked_at", kind="stable").reset_index(drop=True)


@pytest.mark.nightly
def test_from_a_messy_file_to_a_threshold_that_holds_in_the_days_to_come(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    messy(N_ROWS, 0).to_csv("payments.csv", index=False)
    later = messy(N_ROWS, 1)
    later["booked_at"] += pd.Timedelta(days=20)
    later.to_csv("later.csv", index=False)
    arguments = ["compare", "payments.csv", "--label", "fraud", "--budget", BUDGET]
    first = call(*arguments)
    for doubtful in (
        "txn_id",
        "customer_id",
        "card_bin",
        "chargeback_amount",
        "300 of the 60,000 rows",
        "'WEB'",
    ):
        assert doubtful in first.stderr
    assert "All this rests on 'chargeback_amount'" in first.stdout
    exclude = shlex.split(re.search("to leave all of these columns out: (.*)", first.stderr)[1])
    second = call(*arguments, *exclude)
    assert "Judged by time" in " ".join(second.stdout.split())
    assert "--model 'random forest'" in second.stderr  # left out, and named
    command = shlex.split(re.search("To fit the best on all rows: pushrank (.*)", second.stdout)[1])
    assert "Alert threshold" in call(*command).stdout
    told = call("score", "model.skops", "later.csv", "-o", "ranked.csv", "--top", BUDGET).output
    assert "were to be expected." in told  # no more and no fewer than that
    alert = SavedModel.load(tmp_path / "model.skops").alert
    assert alert.budget == BUDGET
    low, high = alert.expected(N_ROWS)
    assert low < BUDGET < high
