"""Plate after plate: which compounds to measure next, by rule, on three targets.

    pip install -e ".[benchmark,nightly]"
    PUSHRANK_DATA=folder python -m experiments.rounds.plates > experiments/rounds/plates.txt
    PUSHRANK_DATA=folder python -m experiments.rounds.plates --quick    # one target, two seeds

Eight plates of 48 compounds are taken from a library. The first is drawn at random, and so are the next ones
until a compound is active; then logistic regression is fitted to all that was measured, and a rule takes the
next plate by its probabilities. A series is a Murcko scaffold, and a compound without a ring is its own.

A secret order of the library, drawn before all else, says which compounds are random: the first plate is its
beginning, and an audit takes the next three that are not measured. The first 48 + 7 x 3 compounds of the
order are measured by the end, whatever was learnt, so that they are a random sample of the whole library,
whose number of actives is fixed. The bound of actives left is the bound of this number, less those found.
The other bound is of one more plate, drawn at random from what is left at the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rdkit import RDLogger
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles
from scipy.sparse import csr_matrix, vstack
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression

from pushrank.datasets import load_dataset
from pushrank.limits import Limits, select
from pushrank.metrics import audit_bound, measure_acted
from pushrank.monitoring import draw_audit

N_PLATES, SIZE, N_AUDITED, N_SEEDS = 8, 48, 3, 6
SAMPLE = SIZE + (N_PLATES - 1) * N_AUDITED
"""The compounds of the secret order that are surely measured by the end."""
TARGETS = (("dud", "egfr"), ("dud", "cox2"), ("tox21", "NR-AhR"))
Whole = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Library(NamedTuple):
    """The bits, labels and series of the compounds."""

    X: Any
    active: Flags
    series: NDArray[np.str_]

    def series_of(self, which: Flags) -> int:
        """Return how many series the actives among some compounds are of."""
        return len(set(self.series[which & self.active]))


class Chances(NamedTuple):
    """What a rule goes by: the chances of the compounds that are left to be active, and their series."""

    chance: NDArray[np.float64]
    series: NDArray[np.str_]
    rng: np.random.Generator


def first(scores: NDArray[np.float64]) -> Whole:
    """Return the compounds of the highest scores."""
    return select(scores, SIZE)


def epsilon(of: Chances) -> Whole:
    """Return the most probable compounds, and a tenth of a plate at random."""
    listed, below = np.split(np.argsort(-of.chance, kind="stable"), [SIZE - round(SIZE / 10)])
    return np.r_[listed, of.rng.choice(below, SIZE - len(listed), replace=False)]


RULES: dict[str, Callable[[Chances], Whole]] = {
    "greedy": lambda of: first(of.chance),
    "epsilon, 10 % random": epsilon,
    "Thompson": lambda of: first(of.chance),
    "uncertainty": lambda of: first(-np.abs(of.chance - 0.5)),
    "at most 2 a series": lambda of: select(of.chance, SIZE, Limits({"s": 2}), X={"s": of.series}),
    "at most 1 a series": lambda of: select(of.chance, SIZE, Limits({"s": 1}), X={"s": of.series}),
    "audit of 3": lambda of: first(of.chance)[: SIZE - N_AUDITED],
}


def library(name: str, target: str) -> Library:
    """Return the compounds of a target that rdkit can read."""
    data = load_dataset(name, target=target)
    morgan = GetMorganGenerator(radius=2, fpSize=1024)
    bits, active, series = [], [], []
    for compound, smiles, label in zip(data.compound_ids, data.data.ravel(), data.target, strict=True):
        if molecule := MolFromSmiles(smiles):
            bits.append(csr_matrix(morgan.GetFingerprintAsNumPy(molecule), dtype=float))
            active.append(label == 1)
            series.append(MurckoScaffoldSmiles(mol=molecule) or compound)
    return Library(vstack(bits, format="csr"), np.array(active), np.array(series))


def next_plate(rows: Library, rule: str, measured: Flags, rng: np.random.Generator) -> Whole:
    """Return the compounds that a rule takes by what is measured."""
    left, known = np.flatnonzero(~measured), np.flatnonzero(measured)
    drawn = known
    if rule == "Thompson":
        # Of each class by itself, so that both are there.
        parts = (known[rows.active[known] == label] for label in (False, True))
        drawn = np.concatenate([rng.choice(part, len(part)) for part in parts])
    model = LogisticRegression(max_iter=1000).fit(rows.X[drawn], rows.active[drawn])
    chance = model.predict_proba(rows.X[left])[:, 1]
    return left[RULES[rule](Chances(chance, rows.series[left], rng))]


def rounds(rows: Library, rule: str, seed: int) -> tuple[NDArray[np.int64], Flags, Whole]:
    """Return actives and series found after each plate, what is measured, and the secret order."""
    rng, n = np.random.default_rng(seed), len(rows.active)
    order = rng.permutation(n)
    measured, found = np.zeros(n, dtype=bool), []
    for _ in range(N_PLATES):
        if rows.active[measured].any():
            measured[next_plate(rows, rule, measured, rng)] = True
        # The rest of the plate is random: all of it, an audit, or nothing.
        rest = SIZE * (len(found) + 1) - measured.sum()
        measured[order[~measured[order]][:rest]] = True
        found.append([(rows.active & measured).sum(), rows.series_of(measured)])
    return np.array(found), measured, order


def bounds(rows: Library, measured: Flags, order: Whole, seed: int) -> list[int]:
    """Return the actives left, and two bounds of them: by the sample, and by one more plate."""
    assert measured[order[:SAMPLE]].all()
    n = len(measured)
    n_found, in_sample = (rows.active & measured).sum(), rows.active[order[:SAMPLE]].sum()
    by_sample = min(audit_bound(int(in_sample), SAMPLE / n, n_rows=n) - n_found, (~measured).sum())
    k = measured.sum() + SIZE
    acted, chance = draw_audit(measured, k, SIZE, row_id=np.arange(n), secret=f"plate {seed}")
    known = np.where(acted == "", np.nan, rows.active)
    by_plate = measure_acted(known, acted, chance).total["hits_below_at_most"]
    return [rows.active.sum() - n_found, by_sample, by_plate]


def compared(values: NDArray[np.int64], base: NDArray[np.int64]) -> str:
    """Return mean and deviation over seeds, and the paired difference to a base with its standard error."""
    more = values - base
    error = more.std(ddof=1) / np.sqrt(len(more))
    mark = "*" if abs(more.mean()) > student.ppf(0.975, len(more) - 1) * error else " "
    cells = f"{values.mean():7.1f} ± {values.std(ddof=1):4.1f}"
    return cells + (f" {more.mean():+7.1f} ({error:4.1f}){mark}" if more.any() else " " * 17)


def table(name: str, target: str, n_seeds: int) -> None:
    """Print what each rule found on a target."""
    rows = library(name, target)
    n, everything = len(rows.active), np.ones(len(rows.active), dtype=bool)
    print(f"{target}: {n:,} compounds, {rows.active.sum()} active, of {rows.series_of(everything)} series")
    head = "".join(f"{what:>14s}{'to greedy':>17s}" for what in ("actives", "series"))
    print(f"  {'':22s}{head}   actives by plate")
    found, ends = {}, []
    for rule in RULES:
        paths = [rounds(rows, rule, seed) for seed in range(n_seeds)]
        found[rule] = np.array([path for path, *_ in paths])
        if rule.startswith("audit"):
            ends = [bounds(rows, *path[1:], seed) for seed, path in enumerate(paths)]
        cells = (compared(found[rule][:, -1, at], found["greedy"][:, -1, at]) for at in (0, 1))
        by_plate = " ".join(f"{mean:.0f}" for mean in found[rule][:, :, 0].mean(axis=0))
        print(f"  {rule:22s}{''.join(cells)}   {by_plate}", flush=True)
    print(f"  audit of 3, actives left: {', '.join(f'{left}' for left, *_ in ends)}")
    print(f"    at most, by {SAMPLE} random compounds: {', '.join(f'{bound}' for _, bound, _ in ends)}")
    print(f"    at most, by one more random plate: {', '.join(f'{bound}' for *_, bound in ends)}\n")


def main() -> None:
    """Print a table for each target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one target, two seeds")
    quick = parser.parse_args().quick
    n_seeds = 2 if quick else N_SEEDS
    RDLogger.DisableLog("rdApp.*")
    print(f"Actives found by {N_PLATES} plates of {SIZE}, and their series: mean and standard deviation")
    print(f"over {n_seeds} first plates, and the paired difference to greedy with its standard error")
    print("*: beyond chance at 95 %, each by itself\n")
    for name, target in TARGETS[1:2] if quick else TARGETS:
        table(name, target, n_seeds)


if __name__ == "__main__":
    main()
