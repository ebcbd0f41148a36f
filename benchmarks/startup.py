"""What do an import and a help text cost, in imports that users of scikit-learn or pandas pay anyway?

    python benchmarks/startup.py > benchmarks/startup.txt

Every command runs in a fresh interpreter, in turn with the others, and the best of the repetitions counts.
The first round does not, as it may read from disk and compile to bytecode.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import time

import numba
import pandas
import sklearn

REPEATS = 10
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


def seconds(command: list[str]) -> float:
    """Return how long a command runs."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


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


if __name__ == "__main__":
    main()
