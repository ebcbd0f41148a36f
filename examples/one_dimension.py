"""How sure is the top of a list? One dimension, one threshold, and a probability that is known.

    python examples/one_dimension.py

Negatives are drawn from any continuous distribution of scores, say uniform on [0, 1], and a rule takes what
scores above the best of m training negatives. Whatever the distribution, the rule's false-positive rate
exceeds epsilon exactly where all m fell into the lower 1 - epsilon of it: with probability (1 - epsilon)^m.
So m has to grow as ln(1 / delta) / epsilon before the absolute top can be trusted: what section 10.1 of
Rudin, *The P-Norm Push*, JMLR 10 (2009), illustrates, and what ``pushrank.theory.infinite_push_bound`` turns
into a bound for every function of a class.
"""

from __future__ import annotations

import argparse

import numpy as np

from pushrank import theory


def simulated(m: int, epsilon: float, n_draws: int, rng: np.random.Generator) -> float:
    """Return how often the rule takes more than epsilon of new negatives."""
    best = rng.random((n_draws, m)).max(axis=1)
    return float(np.mean(1.0 - best > epsilon))


def main() -> None:
    """Print the known probability beside the simulated one, and the bound it gives for one function."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20_000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    print("negatives  epsilon  (1 - epsilon)^m  simulated  standard errors apart")
    for m in (10, 50, 200):
        for epsilon in (0.005, 0.02, 0.1):
            known = (1.0 - epsilon) ** m
            found = simulated(m, epsilon, arguments.draws, rng)
            error = np.sqrt(known * (1.0 - known) / arguments.draws)
            print(f"{m:9d}  {epsilon:7.3f}  {known:15.4f}  {found:9.4f}  {(found - known) / error:+.1f}")
    print("\nwith 95 % confidence, for one function, the false-positive rate above the best of m is at most")
    for m in (10, 50, 200, 10_000):
        scores = np.append(rng.random(m), rng.random(m) + 1.0)
        # half of the five per cent is for this rate, half for the misses
        bound = theory.infinite_push_bound(np.repeat([0, 1], m), scores, 1e-9, 0.0, delta=0.05)
        print(f"{m:9d}  {bound.false_positive_rate:.4f}")


if __name__ == "__main__":
    main()
