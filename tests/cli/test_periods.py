"""Budgets by period on the command line."""

from __future__ import annotations

import pytest

from tests.cli.runner import LABEL, call

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("budget", ["0", "many", "1.5", "0/day", "3/fortnight", "3 a day"])
def test_a_budget_is_a_number_of_rows_in_all_or_in_every_period(files, budget):
    data = files / "data.csv"
    for command in (
        ["compare", data],
        ["measure", data, "--score", "radius"],
        ["fit", data, "-o", "m.skops"],
    ):
        said = call(*command, *LABEL, "--budget", budget, code=2).stderr
        assert "'--budget'" in said
        assert repr(budget) in said
        assert "such as 150/day" in said


def test_commands_without_periods_refuse_a_budget_by_period(files):
    data = files / "data.csv"
    for command in (
        ["compare", data],
        ["report", data, "-o", files / "r.html"],
        ["fit", data, "-o", "m.skops"],
    ):
        said = call(*command, *LABEL, "--budget", "3/day", code=2).stderr
        assert said.startswith("Error: --budget 3/day is of every day, which this command does not take")
