"""How often each bound of pushrank.theory fails, against the chance that was asked for.

python -m experiments.bounds > experiments/bounds/results.txt
"""

from __future__ import annotations

import argparse

from experiments.bounds.simulations import SIMULATIONS, simulate

DELTA = 0.2


def main() -> None:
    """Print a line a bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--quick", action="store_true", help="20 draws of each")
    arguments = parser.parse_args()
    n_draws = 20 if arguments.quick else arguments.draws
    print(f"{'function':42s} {'draws':>6s} {'asked':>6s} {'failed':>7s} {'reached':>9s} {'allowed':>9s}")
    for name in SIMULATIONS:
        found = simulate(name, n_draws, DELTA, random_state=0)
        asked = 0.0 if found.is_certain else DELTA
        failed = found.failures / n_draws
        print(
            f"{name:42s} {n_draws:6d} {asked:6.2f} {failed:7.3f} {found.observed:9.4f} {found.allowed:9.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
