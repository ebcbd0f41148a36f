"""Write the results that come with the library: those of the default methods on the three small sets.

    PUSHRANK_DATA=... python -m experiments.across_papers.kept FOLDER

The folder keeps the scores of each fit, so that a run that was stopped goes on.
"""

from __future__ import annotations

import sys

from pushrank.benchmark import run
from pushrank.benchmark.protocol import KEPT, MEASURES


def main() -> None:
    """Fit, and write one line for each set, split and method."""
    frame = run({}, rerun=True, cache_dir=sys.argv[1]).frame
    if (frame["error"] != "").any():
        raise RuntimeError(frame.loc[frame["error"] != "", ["set", "split", "method", "error"]].to_string())
    # The first line says for all which versions they were made with.
    frame["made"] = frame["made"].mask(frame["made"].duplicated())
    columns = ["key", "set", "split", "method", *MEASURES, "seconds", "chosen", "made"]
    frame.to_csv(KEPT, columns=columns, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
