"""Ratios of times that CI compares."""

from __future__ import annotations

import json

from benchmarks.compare_runs import YARDSTICKS, compare, keep


def test_the_least_times_are_kept_and_a_ratio_that_is_a_fifth_worse_is_named(tmp_path, capsys):
    path = tmp_path / "before.json"
    keep(path, dict.fromkeys([*YARDSTICKS, *YARDSTICKS.values()], 2.0))
    keep(path, dict.fromkeys(YARDSTICKS, 1.0) | dict.fromkeys(YARDSTICKS.values(), 3.0))
    before = json.loads(path.read_text(encoding="utf-8"))
    assert before == dict.fromkeys(YARDSTICKS, 1.0) | dict.fromkeys(YARDSTICKS.values(), 2.0)
    yardsticks = dict.fromkeys(YARDSTICKS.values(), 4.0)
    after = before | yardsticks | {"PNormPush": 2.42, "logistic objective": 2.38}
    assert compare(before, after) == ["PNormPush"]
    assert "x 1.21" in capsys.readouterr().out
