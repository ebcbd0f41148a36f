"""How many seconds does each folder of tests take by day?

    python -m pytest -n 2 --junitxml=build/day.xml
    python benchmarks/test_seconds.py build/day.xml > benchmarks/test_seconds.txt

Seconds are those of all tests of a folder together, whatever the number of processes, so that the run takes
about half of their sum on two processors. With ``--check`` nothing is printed, and a folder that takes half
as much again as in the kept output, and five seconds more, is an error: the night runs that.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

KEPT = Path(__file__).with_suffix(".txt")


def seconds_by_folder(report: str) -> Counter[str]:
    """Return the seconds of all tests of each folder, of a report that pytest wrote."""
    seconds: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314
        # A file that is skipped as a whole has its name alone.
        parts = (case.get("classname") or case.get("name", "")).split(".")
        is_deep = len(parts) > 2 and not parts[1].startswith("test_")
        folder = "doctests" if parts[0] == "src" else f"tests/{parts[1]}" if is_deep else "tests"
        seconds[folder] += float(case.get("time", 0.0))
    return seconds


def kept_seconds() -> dict[str, float]:
    """Return the kept seconds of each folder."""
    lines = KEPT.read_text(encoding="utf-8").splitlines()[1:]
    return {folder: float(seconds) for folder, seconds in map(str.split, lines)}


def main() -> None:
    """Print the seconds of each folder, or compare them with those that are kept."""
    seconds = seconds_by_folder(sys.argv[1])
    if "--check" in sys.argv:
        kept = kept_seconds()
        slow = [folder for folder, took in seconds.items() if took > 1.5 * kept.get(folder, 0.0) + 5.0]
        if slow:
            raise SystemExit(f"slower than in {KEPT.name}: {', '.join(sorted(slow))}.")
        return
    print(f"{'all':24}{seconds.total():8.1f}")
    for folder, took in seconds.most_common():
        print(f"{folder:24}{took:8.1f}")


if __name__ == "__main__":
    main()
