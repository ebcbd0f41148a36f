"""Do tables 3 to 5 have the constant steps that explain Agarwal's table 3?

    python -m experiments.rudin_2009.steps > experiments/rudin_2009/steps.txt

The P-Norm Push by figure 2 with steps of .01, and with a search that stops where it starts, in place of the
root of equation (1); both as in experiments/agarwal_2011/readings.py, by the absolute choice of section 5, if
nothing else is said. The search starts at .01 even where only a negative step lowers the objective, and
constant steps do not. The IR Push has no steps.
"""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd

from experiments.agarwal_2011.readings import AS_SECTION_6, CONSTANT, STOPPED, Figure2
from experiments.protocol import versions
from experiments.rudin_2009.__main__ import STUDIES, P, compared, repeats

N_REPEATS = 20
READINGS = {
    "signed choice": AS_SECTION_6,
    "steps of .01, signed choice": CONSTANT,
    "steps of .01": CONSTANT._replace(signed=False),
    "a search that stops where it starts": STOPPED._replace(signed=False),
}


def counts(rows: pd.DataFrame) -> str:
    """Return how many printed numbers are within two standard deviations, over all p and at each."""
    rows = rows[rows["ranker"] != "IR"]
    by_p = rows.groupby("ranker", sort=False)["within"].sum()
    return f"{rows['within'].sum():2d} of {len(rows)}: " + ", ".join(f"{p} {n}" for p, n in by_p.items())


def main() -> None:
    """Print the counts of every table by the kept reading and by those of constant steps."""
    start = time.process_time()
    print(f"python -m experiments.rudin_2009.steps\n\n{versions()}; {N_REPEATS} repeats\n")
    kept = pd.read_csv(Path(__file__).with_name("results.csv"))
    for name, study in STUDIES.items():
        if not study.figure:
            continue
        print(f"table {name}: within two sd of one repeat, and of the seven at each p")
        print(f"  {'root of equation (1), as kept':40s}{counts(kept[kept['table'] == name])}")
        for reading, of in READINGS.items():
            found = repeats(study, N_REPEATS, {f"p={p}": Figure2(p, of) for p in P})
            print(f"  {reading:40s}{counts(compared(name, found))}", flush=True)
    print(f"\n{time.process_time() - start:.0f} s of one core")


if __name__ == "__main__":
    main()
