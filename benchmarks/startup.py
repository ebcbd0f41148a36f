"""What do an import, a help text, an error, a small command and the first demo cost?

    python benchmarks/startup.py > benchmarks/startup.txt
    python benchmarks/startup.py OTHER/src [--no-demos] > benchmarks/startup.txt

Imports and the help text are compared with imports that users of scikit-learn or pandas pay anyway; the
commands with those of another checkout, where one is given. Every command runs in a fresh interpreter, in
turn with the others, and the least processor time of the repetitions counts. The first round of imports does
not, as it may read from disk and compile to bytecode. A first demo has an empty cache of compiled code.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
import pandas
import sklearn

REPEATS = 5
N_DEMOS = 3
NOTHING = "pass"
HELP = "pushrank --help"
COMMANDS = {
    name: [sys.executable, "-c", name]
    for name in (
        NOTHING,
        "import pandas",
        "import sklearn.linear_model",
        "import numba",
        "import pushrank",
        "from pushrank import PNormPush",
    )
} | {HELP: [sys.executable, "-m", "pushrank", "--help"]}
RATIOS = [
    ("import pushrank", "import sklearn.linear_model", 1.3),
    (HELP, "import pandas", 1.5),
    ("from pushrank import PNormPush", "import sklearn.linear_model", None),
]


PUSHRANK = (sys.executable, "-m", "pushrank")
SMALL = {
    "fit of a missing file": (*PUSHRANK, "fit", "nosuch.csv", "--label", "y", "-o", "no.skops"),
    "fit of an unknown column": (*PUSHRANK, "fit", "rows.csv", "--label", "z", "-o", "no.skops"),
    "fit of an unknown model": (
        *PUSHRANK,
        "fit",
        "rows.csv",
        "--label",
        "y",
        "--model",
        "z",
        "-o",
        "no.skops",
    ),
    "fit of an unknown format": (*PUSHRANK, "fit", "rows.csv", "--read", "decimals=comma", "-o", "no.skops"),
    "score without a column": (*PUSHRANK, "score", "model.skops", "less.csv", "-o", "no.csv"),
    "show of a linear model": (*PUSHRANK, "show", "model.skops"),
    "score of 1,000 rows": (*PUSHRANK, "score", "model.skops", "rows.csv", "-o", "ranked.csv", "--force"),
}
COMPARE = (*PUSHRANK, "compare", "few.csv", "--label", "y", "--keep", "a", "--budget", "60")
FIT = (*PUSHRANK, "fit", "rows.csv", "--label", "y", "--model", "pnorm-push", "-o", "model.skops", "--force")


def seconds(command: tuple[str, ...] | list[str], folder: str | None = None, **environment: str) -> float:
    """Return the processor time of a command, in this process's environment and some more."""
    before = os.times()
    environ = {**os.environ, **environment}
    subprocess.run(command, cwd=folder, env=environ, check=False, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def write_rows(folder: str) -> None:
    """Write the files that the commands read."""
    X = np.random.default_rng(0).normal(size=(1000, 10))
    frame = pandas.DataFrame(X, columns=list("abcdefghij")).assign(y=(X[:, 0] > 1.0).astype(int))
    frame.to_csv(Path(folder) / "rows.csv", index=False)
    frame.drop(columns="a").to_csv(Path(folder) / "less.csv", index=False)
    frame[["a", "b", "c", "d", "y"]][:600].to_csv(Path(folder) / "few.csv", index=False)


def command_seconds(source: str, folder: str, demos: bool = True) -> dict[str, float]:
    """Return the processor time of commands of a checkout, each once, the first demo without a cache."""
    took = {name: seconds(command, folder, PYTHONPATH=source) for name, command in SMALL.items()}
    if not demos:
        return took
    with tempfile.TemporaryDirectory() as cache:
        for name in ("first demo", "second demo"):
            took[name] = seconds([*PUSHRANK, "demo"], folder, PYTHONPATH=source, NUMBA_CACHE_DIR=cache)
    took["first less second"] = took["first demo"] - took["second demo"]
    took["compare of 600 rows x 4"] = seconds(COMPARE, folder, PYTHONPATH=source)
    return took


def compare_commands(sources: dict[str, str]) -> None:
    """Print the least processor time of each command by checkout."""
    with tempfile.TemporaryDirectory() as folder:
        write_rows(folder)
        rounds = []
        for _ in range(N_DEMOS):
            rounds.append({})
            for name, source in sources.items():
                # A checkout reads the model that it wrote.
                seconds(FIT, folder, PYTHONPATH=source)
                rounds[-1][name] = command_seconds(source, folder, "--no-demos" not in sys.argv)
    print(f"\ncommands, the least of {N_DEMOS}:" + "".join(f"{name:>12}" for name in sources))
    for command in rounds[0]["now"]:
        least = (min(took[name][command] for took in rounds) for name in sources)
        print(f"{command:28}" + "".join(f"{took:10.2f} s" for took in least))


def main() -> None:
    """Print the times, and the ratios with their bounds."""
    rounds = [{name: seconds(command) for name, command in COMMANDS.items()} for _ in range(REPEATS + 1)][1:]
    best = {name: min(times[name] for times in rounds) for name in COMMANDS}
    print(
        f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, "
        f"pandas {pandas.__version__}, numba {numba.__version__}; best of {REPEATS}\n"
    )
    for name, took in best.items():
        print(f"{name:35} {took:7.3f} s")
    print()
    for name, reference, bound in RATIOS:
        ratio = best[name] / best[reference]
        print(f"{name} / {reference}: {ratio:.2f}" + (f", at most {bound}" if bound else ""))
        assert bound is None or ratio <= bound
    now = {"now": str(Path(__file__).resolve().parents[1] / "src")}
    others = [word for word in sys.argv[1:] if word != "--no-demos"]
    compare_commands({"before": str(Path(others[0]).resolve()), **now} if others else now)


if __name__ == "__main__":
    main()
