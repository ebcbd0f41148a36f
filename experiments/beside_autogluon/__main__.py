"""The list of all models beside AutoGluon, CatBoost, LightGBM and logistic regression, at one core each.

    python -m experiments.beside_autogluon --cache /a/folder --autogluon /its/bin/python        # resumed
    python -m experiments.beside_autogluon --cache /a/folder --table      # results.csv and results.txt

What the cache has is not run again; a method that failed is run again with ``--retry``. Methods whose Python
is not given are left out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from experiments.beside_autogluon.programs import (
    AUTOGLUON,
    BEFORE,
    ENSEMBLE,
    EQUAL,
    FULL,
    METHODS,
    QUICK,
    SETS,
    SPLITS,
    Setup,
    keep,
)
from experiments.beside_autogluon.tables import write_tables

QUICK_SETS, QUICK_LIMIT = ["stroke", "spambase", "bank_marketing"], 20.0


def run_all(
    setup: Setup, sets: list[str], splits: int, programs: list[str], jobs: int, *, retry: bool
) -> None:
    """Run what the cache lacks, the first split of all sets before the second of any."""
    setup.cached.mkdir(parents=True, exist_ok=True)
    running: dict[tuple[str, int, str], Future[str]] = {}

    def task(name: str, split: int, program: str) -> str:
        ours = running.get((name, split, ENSEMBLE))
        if program == EQUAL and ours is not None:
            ours.result()  # begun before this one, whose limit are its seconds
        return keep(name, split, program, setup)

    lacking = [
        (name, split, program)
        for split in range(splits)
        for program in programs
        for name in sets
        if setup.lacks(name, split, program, retry=retry)
    ]
    for program in (ENSEMBLE, BEFORE):
        if any(program == of for _, _, of in lacking):
            warm(program, setup)
    with ThreadPoolExecutor(jobs) as pool:
        for work in lacking:
            running[work] = pool.submit(task, *work)
        try:
            for future in as_completed(running.values()):
                print(future.result(), flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def warm(program: str, setup: Setup) -> None:
    """Fit a program on few rows, so that no fit that is measured compiles what later ones find compiled."""
    with tempfile.TemporaryDirectory(dir=setup.cached) as folder:
        few = setup._replace(cached=Path(folder), size=QUICK)
        print(f"not measured: {keep(QUICK_SETS[0], 0, program, few)}", flush=True)


def main() -> None:
    """Run what is missing, or make the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, help="a folder outside the repository")
    parser.add_argument("--autogluon", type=Path, help="Python of an environment with AutoGluon and CatBoost")
    parser.add_argument("--before", type=Path, help="Python of an environment with an earlier pushrank")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of AutoGluon's fit")
    parser.add_argument("--splits", type=int, help=f"{SPLITS} by default, 1 with --quick")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET")
    parser.add_argument(
        "--methods", nargs="+", choices=list(METHODS), default=list(METHODS), metavar="METHOD"
    )
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time, each on one core")
    parser.add_argument("--retry", action="store_true", help="run what failed again")
    parser.add_argument("--table", action="store_true", help="only make the tables of what the cache has")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="where the tables go")
    parser.add_argument("--quick", action="store_true", help="all steps on few rows, into a temporary folder")
    arguments = parser.parse_args()
    size = FULL
    if arguments.quick:
        size, arguments.sets, arguments.limit = QUICK, QUICK_SETS, QUICK_LIMIT
        arguments.folder = Path(tempfile.mkdtemp())
        arguments.cache = arguments.cache or arguments.folder
    elif arguments.cache is None:
        parser.error("--cache is needed, or --quick.")
    arguments.splits = arguments.splits or (1 if arguments.quick else SPLITS)
    pythons = {BEFORE: arguments.before}
    pythons |= dict.fromkeys(("catboost", AUTOGLUON, EQUAL), arguments.autogluon)
    programs = [program for program in arguments.methods if pythons.get(program, True)]
    setup = Setup(
        arguments.cache.resolve(),
        size,
        arguments.limit,
        Path(sys.executable),
        arguments.before,
        arguments.autogluon,
    )
    if not arguments.table:
        run_all(setup, arguments.sets, arguments.splits, programs, arguments.jobs, retry=arguments.retry)
    if arguments.table or arguments.quick:
        print(write_tables(setup, arguments.sets, arguments.splits, arguments.folder))


if __name__ == "__main__":
    main()
