"""Ratios of times that CI compares."""

from __future__ import annotations

import json

from benchmarks.compare_runs import compare, keep


def test_the_least_ratio_is_kept_and_one_that_is_a_fifth_worse_is_named(tmp_path, capsys):
    path = tmp_path / "before.json"
    keep(path, {"a": 2.0, "b": 1.0})
    keep(path, {"a": 1.0, "b": 3.0, "c": 5.0})
    before = json.loads(path.read_text(encoding="utf-8"))
    assert before == {"a": 1.0, "b": 1.0, "c": 5.0}
    assert compare(before, {"a": 1.19, "b": 1.21, "new": 9.0}) == ["b"]
    assert "x 1.21" in capsys.readouterr().out
